"""Tests the Python client of api/clients/python against a server: numbers, names, batches, problems, private servers."""
import gzip
import io
import json
import math
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile

import numpy as np
import tap
from harness import BINARY, PATIENCE, ROOT, ServerCase
from python_client import SOURCE, torqued
from samples import branched, pendulum



def states(count, *, seed=1, width=7, parts=4):
    return np.random.default_rng(seed).uniform(-1, 1, (parts, count, width))


class Python(ServerCase):
    arguments = ("--max-rows", "1000")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torqued = torqued.Client(cls.server.url(), timeout=PATIENCE)
        cls.panda = cls.torqued.model("panda")

    @classmethod
    def tearDownClass(cls):
        cls.torqued.close()
        super().tearDownClass()

    def assertRaisesProblem(self, code, call, *arguments, **fields):
        with self.assertRaises(torqued.Problem) as caught:
            call(*arguments, **fields)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    # --- numbers

    def test_one_state_and_a_batch(self):
        q, qd, qdd, _ = states(50)
        request = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist()}
        expected = self.ask("panda", "inverse-dynamics", request)["tau"]
        answer = self.panda.inverse_dynamics(q, qd=qd, qdd=qdd)
        self.assertEqual(answer.tau.tolist(), expected)
        self.assertEqual(self.panda.inverse_dynamics(q[7], qd=qd[7], qdd=qdd[7])["tau"].tolist(), expected[7])
        self.assertEqual(self.panda.inverse_dynamics(q.tolist(), qd=qd[0].tolist()).tau.shape, (50, 7))
        self.assertEqual((list(answer), len(answer), "tau" in answer), (["tau"], 1, True))
        self.assertEqual(answer.head.revision, self.panda.revision)
        self.assertRegex(answer.head.request_id, "^[0-9a-f]+$")

    def test_arrays_of_every_kind(self):
        """Layout and type of an array do not matter, except that single precision is sent as such."""
        q = states(300)[0]
        expected = self.panda.mass_matrix(q).mass_matrix
        self.assertEqual(expected.shape, (300, 7, 7))
        for kind, array in (("Fortran", np.asfortranarray(q)), ("reversed", q[::-1][::-1]), ("strided", np.repeat(q, 2, 0)[::2]),
                            ("big-endian", q.astype(">f8")), ("read-only", np.broadcast_to(q, q.shape)), ("list", q.tolist()),
                            ("tuple of arrays", tuple(q))):
            self.assertTrue((self.panda.mass_matrix(array).mass_matrix == expected).all(), kind)
        single = q.astype(np.float32)
        self.assertTrue((self.panda.mass_matrix(single).mass_matrix == self.panda.mass_matrix(single.astype(float)).mass_matrix).all())
        integers = np.eye(7, dtype=int)
        self.assertTrue((self.panda.mass_matrix(integers).mass_matrix == self.panda.mass_matrix(np.eye(7)).mass_matrix).all())

    def test_arrays_of_an_answer(self):
        """Arrays of an answer are aligned and writable; those of the first output are not copied."""
        q, qd, qdd, qddd = states(1000)
        answer = self.panda.torque_derivative(q, qd=qd, qdd=qdd, qddd=qddd)
        for array in answer.values():
            self.assertTrue(array.flags.aligned and array.flags.writeable and array.flags.c_contiguous)
        self.assertIsInstance(answer.tau.base.base, memoryview)
        answer.tau[:] *= 2
        energy = self.panda.energy(q[0], outputs=["kinetic", "com"])
        self.assertIsInstance(energy.kinetic, float)
        self.assertEqual(energy.com.shape, (3,))

    def test_an_output_that_was_not_asked_for(self):
        answer = self.panda.inverse_dynamics(np.zeros(7))
        with self.assertRaisesRegex(AttributeError, "the answer has tau, not joint_wrenches; `outputs` chooses"):
            answer.joint_wrenches
        with self.assertRaises(KeyError):
            answer["joint_wrenches"]
        again = pickle.loads(pickle.dumps(answer))
        self.assertEqual(again.tau.tolist(), answer.tau.tolist())
        self.assertIn("tau", dir(answer))
        self.assertEqual(repr(self.panda.inverse_dynamics(np.zeros((9, 7)))), "InverseDynamicsAnswer(tau=<9 × 7 numbers>)")

    def test_evaluate(self):
        q, qd, tau, _ = states(20)
        answer = self.panda.evaluate(q, qd=qd, tau=tau, operations={
            "forward-dynamics": {}, "kinematics": {"frames": ["panda_link7"]}, "energy": {"outputs": ["com"]}})
        self.assertTrue((answer.forward_dynamics.qdd == self.panda.forward_dynamics(q, qd=qd, tau=tau).qdd).all())
        self.assertEqual(answer["kinematics"].poses["panda_link7"]["orientation"].shape, (20, 4))
        self.assertEqual(answer.energy.com.shape, (20, 3))

    def test_values_that_are_refused(self):
        problem = self.assertRaisesProblem("wrong-shape", self.panda.inverse_dynamics, [0.0, 1.0])
        self.assertEqual((problem.status, problem.pointer), (422, "/q"))
        self.assertIn("7 expected", problem.detail)
        self.assertRegex(problem.request_id, "^[0-9a-f]+$")
        q = states(30)[0]
        q[17, 3] = 1e9
        problem = self.assertRaisesProblem("angle-too-large", self.panda.inverse_dynamics, q)
        self.assertEqual((problem.row, problem.pointer), (17, "/q/17/3"))
        self.assertIn("422 angle-too-large (row 17, /q/17/3)", str(problem))
        self.assertEqual(pickle.loads(pickle.dumps(problem)).row, 17)
        q[17, 3] = math.nan
        self.assertEqual(self.assertRaisesProblem("non-finite", self.panda.inverse_dynamics, q).row, 17)
        answer = self.panda.inverse_dynamics(q, on_error="row")
        self.assertEqual([error["row"] for error in answer.errors], [17])
        self.assertTrue(np.isnan(answer.tau[17]).all() and np.isfinite(np.delete(answer.tau, 17, 0)).all())
        self.assertRaisesProblem("wrong-shape", self.panda.inverse_dynamics, [[0.0] * 7, [0.0] * 6])
        self.assertRaisesProblem("no-such-model", self.torqued.model, "nobody")
        self.assertRaisesProblem("no-such-path", self.torqued.model, "a/b?c")
        self.assertRaisesProblem("unknown-name", self.panda.kinematics, np.zeros(7), frames=["nowhere"])
        with self.assertRaises(TypeError):
            self.panda.inverse_dynamics(np.zeros(7), speed=1)
        for wrong in (np.zeros(7, complex), object(), {"joint1": 1 + 2j}):
            with self.assertRaises(TypeError):
                self.panda.inverse_dynamics(wrong)

    def test_degrees(self):
        """Values that look like degrees are used as radians; the client warns at the caller's line."""
        with self.assertWarnsRegex(torqued.SuspiciousFigures, "/q/1: .* at 90 rad") as caught:
            answer = self.panda.inverse_dynamics([0, 90, 0, 0, 0, 0, 0])
        self.assertEqual((caught.filename, answer.warnings[0]["where"]), (__file__, "/q/1"))

    def test_deadline(self):
        q = np.zeros((1000, 7))
        with self.assertRaises(torqued.TimedOut):  # either the client's timeout or the server's deadline comes first
            self.panda.simulate(q[:500], duration=1000, step=1e-3, samples=2, timeout=0.3)
        call = torqued.calls.evaluation("panda", "simulate", {"q": q[:500], "duration": 1000, "step": 1e-3, "samples": 2}, None, 0.1)
        with self.assertRaises(torqued.TimedOut) as caught:
            torqued.calls.value_of(self.torqued.send(call))
        self.assertEqual((caught.exception.code, caught.exception.status), ("deadline-passed", 504))
        self.assertIsInstance(pickle.loads(pickle.dumps(caught.exception)), torqued.Problem)

    # --- names

    def test_names(self):
        values = {name: 0.1 * i for i, name in enumerate(self.panda.position_names)}
        shuffled = dict(sorted(values.items(), key=lambda item: -item[1]))
        q = self.panda.positions(shuffled)
        self.assertEqual(q.tolist(), list(values.values()))
        self.assertEqual(self.panda.named_positions(q), values)
        tau = self.panda.inverse_dynamics(shuffled).tau  # the server accepts names, too
        self.assertEqual(tau.tolist(), self.panda.inverse_dynamics(q).tau.tolist())
        first, last = self.panda.velocity_names[0], self.panda.velocity_names[-1]
        columns = self.panda.velocities({last: [1, 2, 3], first: 5}, default=0)
        self.assertEqual(columns.tolist(), [[5, 0, 0, 0, 0, 0, 1], [5, 0, 0, 0, 0, 0, 2], [5, 0, 0, 0, 0, 0, 3]])
        self.assertEqual(self.panda.named_velocities(columns)[last].tolist(), [1, 2, 3])
        with self.assertRaisesRegex(KeyError, "unknown: elbow; missing: "):
            self.panda.positions({"elbow": 1})
        with self.assertRaisesRegex(ValueError, "7 entries"):
            self.panda.named_velocities(np.zeros((2, 6)))

    def test_limits(self):
        self.assertEqual(self.panda.limits("effort").tolist(), [87, 87, 87, 87, 12, 12, 12])
        self.assertEqual(self.panda.limits("position").shape, (7, 2))
        self.torqued.put("free", pendulum())
        self.assertEqual(self.torqued.model("free").limits("position").tolist(), [[-math.inf, math.inf]])

    # --- batches

    def test_batch(self):
        """If a batch has more rows than the server accepts, the client divides it into halves until each is accepted."""
        q, qd, qdd, qddd = states(2500)
        seen = []
        whole = self.panda.batch(self.panda.torque_derivative, q=q, qd=qd, qdd=qdd[0], qddd=qddd, size=1600,
                                 progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen, [(800, 2500), (1600, 2500), (2400, 2500), (2500, 2500)])
        for rows in (slice(0, 800), slice(700, 1700), slice(2400, 2500)):
            part = self.panda.torque_derivative(q[rows], qd=qd[rows], qdd=qdd[0], qddd=qddd[rows])
            self.assertTrue((whole.tau[rows] == part.tau).all() and (whole.tau_dot[rows] == part.tau_dot).all())
        with self.assertRaisesRegex(ValueError, "different numbers of rows: 2499, 2500"):
            self.panda.batch(self.panda.inverse_dynamics, q=q, qd=qd[1:])
        with self.assertRaisesRegex(ValueError, "no array of rows"):
            self.panda.batch(self.panda.inverse_dynamics, q=q[0])
        with self.assertRaisesRegex(ValueError, "row by row"):
            self.panda.batch(self.panda.identify, q=q, qd=qd, qdd=qdd, tau=q)
        with self.assertRaisesRegex(TypeError, "'energy': expected a method of a model"):
            self.panda.batch("energy", q=q)
        with self.assertRaisesRegex(ValueError, "no rows"):
            self.panda.batch(self.panda.inverse_dynamics, q=np.zeros((0, 7)))

    def test_batch_of_everything(self):
        """A batch with wrenches by row, nested operations, poses by frame, and fields that all rows share."""
        q, qd, _, _ = states(700)
        force = states(700, width=3)[0]
        fields = {"q": q, "qd": qd, "wrenches": [{"link": "panda_link5", "force": force, "point": [0, 0, 0.1]}, {"link": "panda_link3"}]}
        evaluate = {"operations": {"inverse-dynamics": {}, "kinematics": {"frames": ["panda_link7", "panda_link2"]},
                                   "regressor": {"outputs": ["base_regressor", "base_parameters"]}}}
        whole = self.panda.batch(self.panda.evaluate, size=300, **fields, **evaluate)
        at_once = self.panda.evaluate(**fields, **evaluate)
        self.assertTrue((whole.inverse_dynamics.tau == at_once.inverse_dynamics.tau).all())
        self.assertTrue((whole.kinematics.poses["panda_link2"]["position"] == at_once.kinematics.poses["panda_link2"]["position"]).all())
        self.assertEqual(whole.regressor.base_parameters, at_once.regressor.base_parameters)
        self.assertEqual(whole.regressor.base_regressor.shape, at_once.regressor.base_regressor.shape)

    def test_batch_of_fields_with_rows(self):
        """When a batch is divided, all batched fields are divided at the same rows as q, and lists in the answers with an entry for each row are
        concatenated."""
        n, choose = 11, np.random.default_rng(4)
        q = states(n)[0]
        place = self.panda.kinematics(q, frames=["panda_flange"]).poses["panda_flange"]["position"]
        some = lambda *shape: choose.uniform(0.1, 1, (n, *shape))
        body = [3, 0, 0, 0.1, 0.1, 0, 0.1, 0, 0, 0.1]
        for operation, fields in (
                (self.panda.inverse_dynamics, {"gravity": some(3).tolist(), "payload": {"link": "panda_flange", "mass": some().tolist(), "inertia": {"xx": 1, "yy": 1, "zz": 0.5 * some()}},
                                               "parameters": {"panda_link3": [body] * n}}),
                (self.panda.inverse_dynamics, {"payload": [{"link": "panda_flange", "mass": 1}, {"link": "panda_link4", "mass": some(), "com": some(3)}]}),
                (self.panda.inverse_kinematics, {"frame": "panda_flange", "position": place, "outputs": ["q", "at_limits"]}),
                (self.panda.inverse_kinematics, {"tasks": [{"frame": "panda_flange", "position": place.tolist()}, {"com": [0, 0, 0.4], "priority": 1}]}),
                (self.panda.differential_inverse_kinematics, {"tasks": [{"frame": "panda_flange", "velocity": some(6)}], "step": 0.01}),
                (self.panda.configuration, {"q_target": some(7), "fraction": some(), "outputs": ["interpolated"]}),
                (self.panda.evaluate, {"multipliers": some(7), "operations": {"gradient": {"directions": {"q": some(2, 7)}, "outputs": ["hessian_products_q"]}}}),
                (self.panda.rollout_gradient, {"torques": some(2, 7), "step": 0.01, "cost": {"q": some(7), "tau_weights": [np.eye(7)] * n, "q_reference": some(1, 7)},
                                               "directions": {"torques": some(3, 2, 7)}, "outputs": ["gradient_q", "hessian_products_q"]})):
            whole, pieces = operation(q, **fields), self.panda.batch(operation, size=4, q=q, **fields)
            self.assertEqual(str(whole._outputs), str(pieces._outputs), operation.__name__)

    def test_batch_whose_rows_depend_on_each_other(self):
        q, task = states(5)[0], {"frame": "panda_flange", "position": [0.4, 0, 0.5]}
        for operation, fields in ((self.panda.margins, {"outputs": ["margins", "least"]}), (self.panda.evaluate, {"operations": {"margins": {"outputs": ["least_gradients"]}}}),
                                  (self.panda.inverse_kinematics, {"tasks": [task], "sequence": True}), (self.panda.external_wrench, {"tau": q, "gain": 20, "step": 0.01}),
                                  (self.panda.configuration, {"seed": 3}), (self.panda.configuration, {"outputs": ["random"]}), (self.panda.path, {}),
                                  (self.panda.evaluate, {"operations": {"path": {"outputs": ["jumps"]}}}), (self.panda.path_timing, {})):
            with self.assertRaisesRegex(ValueError, "with the whole request"):
                self.panda.batch(operation, q=q, size=2, **fields)

    def test_rows_of_a_batch_that_fail(self):
        q = states(900)[0]
        q[[5, 450, 899], 2] = 1e9
        answer = self.panda.batch(self.panda.inverse_dynamics, q=q, size=200, on_error="row")
        self.assertEqual([(error["row"], error["pointer"]) for error in answer.errors],
                         [(5, "/q/5/2"), (450, "/q/450/2"), (899, "/q/899/2")])
        self.assertEqual(np.isnan(answer.tau).any(1).nonzero()[0].tolist(), [5, 450, 899])
        q[5, 2] = 0
        problem = self.assertRaisesProblem("angle-too-large", self.panda.batch, self.panda.inverse_dynamics, q=q, size=200)
        self.assertEqual((problem.row, problem.pointer), (450, "/q/450/2"))
        task = {"frame": "panda_flange", "position": [[0.4, 0, 0.5]] * 3 + [[9, 9, 9], [0.4, 0, 0.5]]}
        answer = self.panda.batch(self.panda.inverse_kinematics, q=states(5)[0], tasks=[{"com": [0, 0, 0.4], "priority": 1}, task], size=2, on_error="row")
        self.assertEqual([(error["row"], error["pointer"]) for error in answer.errors], [(3, "/tasks/1/position/3")])
        q[450, 2] = 50
        with self.assertWarns(torqued.SuspiciousFigures):
            answer = self.panda.batch(self.panda.inverse_dynamics, q=q[:800], size=200)
        self.assertEqual([warning["where"] for warning in answer.warnings], ["/q/450/2"])

    def test_supports_in_pieces(self):
        """When a batch is divided, `supports` is divided at the same rows."""
        robot = self.torqued.model("humanoid")
        q, supports = np.tile([0, 0, 0.9275, 0, 0, 0, 1] + [0] * 33, (5, 1)), ["both", "first", "second", "first", "both"]
        request = {"q": q, "feet": [{"frame": "left_sole"}, {"frame": "right_sole"}], "supports": supports}
        whole = robot.ground_reaction(**request)
        pieces = robot.batch(robot.ground_reaction, size=2, **request)
        self.assertTrue((pieces.foot_wrenches == whole.foot_wrenches).all())
        self.assertEqual(np.count_nonzero(whole.foot_wrenches[1][1]), 0)

    def test_every_field_in_pieces(self):
        """When a batch is divided, each batched field is divided at the same rows, whichever other fields the request has."""
        draws, panda, springy = np.random.default_rng(8), self.panda, self.torqued.model("hua")
        rows = lambda n: draws.uniform(-1, 1, (10, n))
        motion = {"q": rows(7), "qd": rows(7), "qdd": rows(7)}
        for operation, request, output in (
                (panda.inverse_dynamics, motion, "tau"), (panda.torque_derivative, {**motion, "qddd": rows(7)}, "tau_dot"),
                (panda.forward_dynamics, {"q": rows(7), "qd": rows(7), "tau": rows(7)}, "qdd"),
                (panda.hessian, {**motion, "multipliers": rows(7)}, "hessian_q_q"), (panda.hessian, {**motion, "multipliers": rows(7)[0]}, "hessian_q_q"),
                (panda.inverse_dynamics, {"q": rows(7), "qd": rows(7), "qd_reference": rows(7), "qdd_reference": rows(7)}, "tau"),
                (springy.feed_forward, {name: rows(4) for name in ("q", "qd", "qdd", "qddd", "qdddd")}, "tau")):
            whole = operation(**request)
            pieces = self.panda.batch(operation, size=3, **request)
            self.assertTrue((pieces[output] == whole[output]).all(), (operation.__name__, sorted(request)))

    def test_higher_derivatives_in_pieces(self):
        """When a batch is divided, each vector of `higher_derivatives` is divided at the same rows, unless all rows share it."""
        robot, q = self.torqued.model("hua"), np.linspace(-1, 1, 20).reshape(5, 4)
        request = {"q": q, "qdddd": 100 * q, "higher_derivatives": [q + 1, q[0], (2 * q).tolist()]}
        whole = robot.feed_forward(**request)
        self.assertTrue((robot.batch(robot.feed_forward, size=2, **request).tau == whole.tau).all())

    def test_pieces_one_by_one(self):
        q = states(10)[0]
        pieces = [(rows, answer.tau) for rows, answer in self.panda.chunks(self.panda.inverse_dynamics, q=q, size=4)]
        self.assertEqual([rows for rows, _ in pieces], [slice(0, 4), slice(4, 8), slice(8, 10)])
        self.assertTrue((np.concatenate([tau for _, tau in pieces]) == self.panda.inverse_dynamics(q).tau).all())

    def test_platform_by_row(self):
        stewart = self.torqued.model("stewart")
        heights = np.linspace(0.85, 0.95, 30)
        platform = {"frame": "centre", "position": np.stack([0 * heights, 0 * heights, heights], 1), "orientation": [0, 0, 0, 1]}
        whole = stewart.batch(stewart.inverse_dynamics, platform=platform, size=7)
        self.assertTrue((whole.q == stewart.inverse_dynamics(platform=platform).q).all())

    # --- models

    def test_models(self):
        listed = [entry["name"] for entry in self.torqued.models()]
        self.assertLessEqual({"panda", "puma560"}, set(listed))
        arm = self.torqued.put("python-arm", branched(), if_absent=True)
        self.assertEqual((arm.name, arm.document()["name"]), ("python-arm", "python-arm"))
        self.assertRaisesProblem("precondition-failed", self.torqued.put, "python-arm", branched(), if_absent=True)
        self.assertRaisesProblem("precondition-failed", self.torqued.put, "python-arm", branched(), if_match="0" * 32)
        pinned = self.torqued.model("python-arm", pinned=True)
        q = np.zeros(pinned.nq)
        before = pinned.inverse_dynamics(q).tau
        document = self.torqued.document("python-arm")
        document["gravity"] = np.array([0, 0, -1.5])
        other = self.torqued.put("python-arm", document, if_match=arm.revision)
        self.assertNotEqual(other.revision, arm.revision)
        self.assertFalse((other.inverse_dynamics(q).tau == before).all())
        self.assertRaisesProblem("precondition-failed", pinned.inverse_dynamics, q)
        self.assertRaisesProblem("precondition-failed", arm.delete)
        other.delete()
        self.assertNotIn("python-arm", [entry["name"] for entry in self.torqued.models()])

    def test_archives(self):
        """A robot of two files is put as the bytes of a zip, tar or tar.gz file; `main` selects the robot's file in the archive."""
        one = "<mujoco><worldbody><body name='{}'><joint/><geom size='0.1'/></body></worldbody></mujoco>"
        files = {"a.xml": one.format("a"), "b.xml": one.format("b")}
        packed, plain = io.BytesIO(), io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        with tarfile.open(fileobj=plain, mode="w") as archive:
            for name, text in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        for body in (packed.getvalue(), plain.getvalue(), gzip.compress(plain.getvalue())):
            self.assertRaisesProblem("bad-archive", self.torqued.put, "two", body)
            self.assertEqual(self.torqued.put("two", body, main="b.xml").document()["links"][0]["name"], "b")

    def test_joints_that_are_held_for_good(self):
        names = self.torqued.put("whole", branched()).position_names
        arm = self.torqued.put("held", branched(), locked={names[0]: 0.25})
        self.assertEqual(list(arm.position_names), list(names)[1:])
        self.assertRaisesProblem("unknown-name", self.torqued.put, "held", branched(), locked={"nobody": [0, 0, 0, 1]})

    def test_sources_of_a_model(self):
        urdf = ('<robot name="r"><link name="base"/><link name="rod"><inertial><mass value="2"/><origin xyz="0 0 -0.5"/>'
                '<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge" '
                'type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rod.urdf")
            with open(path, "w", encoding="utf-8") as file:
                file.write(urdf)
            revisions = {self.torqued.put("rod", source).revision for source in (urdf, urdf.encode(), "\n" + urdf, path)}
            self.assertEqual(len(revisions), 1)
            document = self.torqued.document("rod")
            self.assertEqual(self.torqued.put("rod", json.dumps(document)).revision, revisions.pop())
            with self.assertRaises(FileNotFoundError):
                self.torqued.put("rod", path + ".none")
        floating = self.torqued.put("rod", urdf, base="floating")
        self.assertEqual((floating.nq, floating.nv), (8, 7))
        self.assertEqual(floating.report[0]["severity"], "info")
        self.assertRaisesProblem("bad-xml", self.torqued.put, "rod", "<robot")
        with self.assertRaises(ValueError):
            self.torqued.put("rod", {"gravity": [0, 0, math.nan]})

    def test_service(self):
        service = self.torqued.service()
        self.assertEqual((service["name"], service["limits"]["rows"]), ("torqued", 1000))
        self.assertEqual(service["version"], torqued.__version__)
        self.assertTrue(self.torqued.live() and self.torqued.ready())
        self.assertEqual(self.torqued.readiness()["status"], "ready")
        self.assertIn("# TYPE torqued_connections gauge", self.torqued.metrics())
        self.assertEqual(self.torqued.contract()["info"]["title"], "torqued")
        self.assertEqual(self.torqued.problem("wrong-shape")["status"], 422)
        self.assertFalse(torqued.Client("http://127.0.0.1:1", retries=0).live())

    # --- threads and processes

    def test_threads_share_a_client(self):
        q = states(200)[0]
        expected = self.panda.inverse_dynamics(q).tau
        wrong = []

        def work(i):
            for j in range(i, 200, 8):
                if self.panda.inverse_dynamics(q[j]).tau.tolist() != expected[j].tolist():
                    wrong.append(j)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(wrong, [])

    def test_a_fork_uses_its_own_connections(self):
        self.panda.inverse_dynamics(np.zeros(7))
        child = os.fork()
        if not child:
            same = all(self.panda.inverse_dynamics(np.full(7, 0.1)).tau[1] for _ in range(20))
            os._exit(0 if same else 1)
        for _ in range(50):
            self.assertEqual(self.panda.inverse_dynamics(np.zeros(7)).tau[0], 0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Tokens(ServerCase):
    """Tests a server with access control."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "tokens")
        cls.tokens = {}
        with open(path, "w", encoding="utf-8") as file:
            for name, role in (("planner", "evaluate"), ("operator", "evaluate,admin")):
                done = subprocess.run([BINARY, "token", name, role], capture_output=True, text=True, check=True)
                file.write(done.stdout)
                cls.tokens[name] = re.search(r"\S{20,}", done.stderr)[0]
        os.chmod(path, 0o600)
        cls.arguments = ("--tokens", path)
        super().setUpClass()

    def test_tokens(self):
        with torqued.Client(self.server.url(), token=self.tokens["planner"]) as planner:
            self.assertEqual(planner.model("panda").inverse_dynamics(np.zeros(7)).tau.shape, (7,))
            with self.assertRaises(torqued.Problem) as caught:
                planner.put("mine", pendulum())
            self.assertEqual(caught.exception.status, 403)
        with torqued.Client(self.server.url(), token=self.tokens["operator"]) as operator:
            operator.put("mine", pendulum()).delete()
        for token in (None, "unknown"):
            with torqued.Client(self.server.url(), token=token) as stranger, self.assertRaises(torqued.Problem) as caught:
                stranger.models()
            self.assertEqual(caught.exception.status, 401)
        self.assertNotIn(self.tokens["planner"], self.server.log())


class Private(ServerCase):
    """Tests serve(), which starts private servers without the harness."""

    def test_serve(self):
        with torqued.serve(BINARY) as server:
            self.assertTrue(server.ready())
            arm = server.put("arm", pendulum())
            self.assertEqual(arm.inverse_dynamics([0.0], qdd=[1.0]).tau.shape, (1,))
            folder, process = server.folder, server.process
            self.assertTrue(os.path.isdir(folder))
            self.assertIn("listen", server.log())
        self.assertEqual(process.returncode, 0)
        self.assertFalse(os.path.exists(folder))
        server.close()  # a second close has no effect

    def test_what_goes_wrong_is_said(self):
        with self.assertRaisesRegex(torqued.ServerFailed, "(?s)status 2.*no-such-flag"):
            torqued.serve(BINARY, arguments=["--no-such-flag"])
        with self.assertRaisesRegex(FileNotFoundError, "there is no program /nowhere/torqued"):
            torqued.serve("/nowhere/torqued")
        server = torqued.serve(BINARY)
        server.process.kill()
        with self.assertRaisesRegex(torqued.ServerFailed, "status -9"):
            server.close()
        self.assertFalse(os.path.exists(server.folder))

    def test_it_ends_with_its_process(self):
        """A private server ends with the Python process that started it, even if that process is killed and cannot clean up."""
        program = (f"import sys; sys.path.insert(0, {SOURCE!r}); import torqued, time\n"
                   f"server = torqued.serve({BINARY!r})\n"
                   "print(server.process.pid, server.folder, flush=True); time.sleep(60)")
        owner = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, text=True)
        pid, folder = owner.stdout.readline().split()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        owner.stdout.close()
        give_up = time.monotonic() + PATIENCE
        while os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().split()[2] != "Z":
            self.assertLess(time.monotonic(), give_up, "the server outlives its owner")
            time.sleep(0.02)
        subprocess.run(["rm", "-r", folder], check=True)

    def test_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            with torqued.serve(BINARY, listen=f"unix:{path}") as server:
                self.assertTrue(server.ready())
                with torqued.Client(f"unix:{path}") as other:
                    self.assertIn("panda", [entry["name"] for entry in other.models()])


if __name__ == "__main__":
    tap.main()
