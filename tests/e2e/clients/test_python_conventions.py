"""Tests the Python client's conversions from the conventions of other libraries: against MuJoCo itself, and against
identities that any change of coordinates satisfies."""
import os
import unittest

import mujoco
import numpy as np
import tap
from harness import ROOT, ServerCase
from python_client import torqued

from torqued import conventions  # isort: skip

MODELS = os.path.join(ROOT, "tests", "data", "mjcf")


class Conventions(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torqued = torqued.Client(cls.server.url())

    @classmethod
    def tearDownClass(cls):
        cls.torqued.close()
        super().tearDownClass()

    @unittest.skipIf(mujoco.SKIP, mujoco.SKIP)
    def test_mujoco(self):
        """Converts MuJoCo's states, and compares the converted torques with MuJoCo's generalized forces, for models with free and spherical
        joints."""
        for name in ("biped.xml", "quadruped.xml", "global.xml"):
            reference = mujoco.Model(os.path.join(MODELS, name))
            model = self.torqued.put("converted", os.path.join(MODELS, name), equality="independent")
            drawn = mujoco.states(reference, 20, 3)
            qpos, qvel, qacc = (np.array([state[i] for state in drawn]) for i in range(3))
            state = conventions.from_mujoco(model, qpos, qvel, qacc)
            tau = model.inverse_dynamics(**state).tau
            forces = conventions.to_mujoco_forces(model, state["q"], tau)
            expected = np.array([answer["inverse"] for answer in reference.answer(drawn)])
            # MuJoCo's result leaves out dry friction, so it is added here
            expected += np.array(reference.about["frictionloss"]) * np.sign(qvel)
            self.assertLess(np.abs(forces - expected).max() / np.abs(expected).max(), 1e-10, name)
            print(f"# {name}: {np.abs(forces - expected).max() / np.abs(expected).max():.1e} of the largest force")
            alone = conventions.from_mujoco(model, qpos[3], qvel[3], qacc[3])
            self.assertEqual([part.tolist() for part in alone.values()], [part[3].tolist() for part in state.values()])

    def solo12(self):
        model, draw = self.torqued.model("solo12"), np.random.default_rng(4)
        q = draw.normal(size=(30, model.nq))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        return model, q, *draw.normal(size=(2, 30, model.nv))

    def test_drake(self):
        """Compares a motion in Drake's coordinates: derivatives of world quantities by differences, and the power of
        the forces."""
        model, q, qd, qdd = self.solo12()
        turn = conventions.rotation(q[:, 3:7])
        world = lambda part: np.einsum("nij,nj->ni", turn, part)
        v, w = qd[:, :3], qd[:, 3:6]
        drake_q = np.hstack([conventions.wxyz(q[:, 3:7]), q[:, :3], q[:, 7:]])
        drake_v = np.hstack([world(w), world(v), qd[:, 6:]])
        a = qdd[:, :3] + np.cross(w, v)  # acceleration of the origin in the base's axes
        drake_vdot = np.hstack([world(qdd[:, 3:6]), world(a), qdd[:, 6:]])
        state = conventions.from_drake(model, drake_q, drake_v, drake_vdot)
        for name, expected in (("q", q), ("qd", qd), ("qdd", qdd)):
            np.testing.assert_allclose(state[name], expected, atol=1e-13)
        tau = model.inverse_dynamics(q, qd=qd, qdd=qdd).tau
        forces = conventions.to_drake_forces(model, q, tau)
        np.testing.assert_allclose((forces * drake_v).sum(1), (tau * qd).sum(1), atol=1e-10)
        np.testing.assert_allclose(forces[:, 3:6], world(tau[:, :3]), atol=1e-12)

    def test_accelerations_are_derivatives(self):
        """In both conversions, qdd is the difference quotient of qd along a motion."""
        model, q, qd, qdd = self.solo12()
        h = 1e-5
        for convert, linear, angular in ((conventions.from_mujoco, slice(0, 3), slice(3, 6)),
                                         (conventions.from_drake, slice(3, 6), slice(0, 3))):
            def along(t):
                """Returns a state of a base that turns at a constant rate about its own axis and accelerates linearly
                in world axes."""
                axis, rate = np.array([0.6, 0, 0.8]), 1.7
                spin = np.concatenate([[np.cos(rate * t / 2)], axis * np.sin(rate * t / 2)])
                place, velocity = np.array([1, 2, 3.0]), np.array([0.3, -1, 0.5]) + t * np.array([2, 1, -1])
                speeds = np.zeros(18)
                speeds[linear], speeds[angular] = velocity, axis * rate
                position = np.concatenate([place, spin] if linear.start == 0 else [spin, place])
                return np.concatenate([position, np.zeros(12)]), speeds
            change = np.zeros(18)
            change[linear] = [2, 1, -1]
            exact = convert(model, *along(0.4), change)["qdd"]
            before, after = (convert(model, *along(0.4 + step))["qd"] for step in (-h, h))
            np.testing.assert_allclose(exact, (after - before) / (2 * h), atol=1e-8)

    def test_fixed_bases_pass(self):
        model = self.torqued.model("panda")
        state = conventions.from_mujoco(model, np.ones(7), np.ones(7) * 2, np.ones(7) * 3)
        self.assertEqual([part[0] for part in state.values()], [1, 2, 3])
        self.assertEqual(list(conventions.from_drake(model, np.ones(7))), ["q"])
        self.assertEqual(conventions.to_drake_forces(model, np.ones(7), np.arange(7)).tolist(), list(range(7)))
        self.assertEqual(conventions.xyzw([1, 2, 3, 4]).tolist(), [2, 3, 4, 1])
        self.assertEqual(conventions.wxyz([2, 3, 4, 1]).tolist(), [1, 2, 3, 4])
        with self.assertRaisesRegex(ValueError, "needs the velocity"):
            conventions.from_drake(self.torqued.model("solo12"), np.ones(19), None, np.ones(18))


if __name__ == "__main__":
    tap.main()
