"""Tests simulations of robots with held frames: against models with joints in place of the held frames, against
invariants, and against balances of forces and energy."""
import math

import numpy as np
import tap
from arrays import rotation
from harness import ServerCase
from samples import body, branched

G = 9.81
METHODS = {"step": 1e-3}, {"tolerance": 1e-9}, {"tolerance": 1e-8, "stiff": True}
# A pendulum in the plane x-z: once on a hinge, once as a free body whose end is held.
ROD = {"mass": 2, "com": [0, 0, -0.5], "inertia": {"xx": 0.2, "yy": 0.17, "zz": 0.01}}
HINGED = {"links": [{"name": "rod", "parent": "base", "inertial": ROD,
                     "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]}}]}
LOOSE = {"base": {"type": "floating", "link": "rod", "inertial": ROD}, "links": [],
         "frames": [{"name": "foot", "link": "rod", "xyz": [0, 0, -1]}]}
SLED = {"base": {"type": "floating", "link": "sled", "inertial": body(3, (0, 0, 0), 0.1, 0.1, 0.2, 0, 0, 0)}, "links": []}


def turned(angle):
    """Returns the quaternion of a rotation about y."""
    return [0, math.sin(angle / 2), 0, math.cos(angle / 2)]


class HeldSimulation(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("hinged", HINGED), ("loose", LOOSE), ("sled", SLED), ("arm", branched()),
                               ("flying", branched("floating"))):
            cls.client.put("/v1/models/" + name, document)

    def simulate(self, model, request, *outputs, **more):
        return self.ask(model, "simulate", {**request, **({"outputs": list(outputs)} if outputs else {}), **more})

    def test_a_loose_rod_held_at_its_end_is_a_pendulum(self):
        for how in METHODS:
            a = self.simulate("hinged", {"q": [1.2], "duration": 3, "samples": 7, **how}, "q", "qd", "kinetic")
            b = self.simulate("loose", {"q": [0, 0, 0, *turned(1.2)], "duration": 3, "samples": 7, "held": [
                {"frame": "rod", "axes": ["x", "y", "z"]}], **how}, "q", "qd", "kinetic", "contact_wrenches")
            for angle, speed, q, qd in zip(a["q"], a["qd"], b["q"], b["qd"]):
                self.assertClose(q[:3], [0.0] * 3, 1e-12, 1, str(how))
                self.assertClose(rotation(q[3:]), rotation(turned(angle[0])), 1e-6)
                self.assertClose(qd, [0, 0, 0, 0, speed[0], 0], 1e-5, 1)
            force = np.array(b["contact_wrenches"])[0, 0]
            # The contact force at rest by hand: gravity and the acceleration of the rod about its end.
            swing = -2 * G * 0.5 * math.sin(1.2) / (0.17 + 2 * 0.25)
            expected = [2 * 0.5 * swing * -math.cos(1.2), 0, 2 * G + 2 * 0.5 * swing * math.sin(1.2), 0, 0, 0]
            self.assertClose(list(force), expected, 1e-11)

    def test_nothing_drifts(self):
        """A humanoid collapses while both feet are held: after seconds the feet have moved by rounding errors only."""
        held = [{"frame": "left_sole"}, {"frame": "right_sole"}]
        nv = self.ok(self.client.get("/v1/models/humanoid"))["nv"]
        q = [0, 0, 0, 0, 0, 0, 1] + [0.3 * math.sin(i) for i in range(nv - 6)]
        for how in ({"step": 2e-3}, {"tolerance": 1e-6}):
            a = self.simulate("humanoid", {"q": q, "duration": 0.4, "samples": 5, "held": held, "gravity": [0, 0, -2],
                                           **how}, "q", "qd", "kinetic", "potential")
            poses = self.ask("humanoid", "kinematics", {"q": a["q"], "frames": ["left_sole", "right_sole"]})["poses"]
            for pose in poses.values():
                self.assertClose(pose["position"], [pose["position"][0]] * 5, 1e-12, 1)
                self.assertClose(pose["orientation"], [pose["orientation"][0]] * 5, 1e-12, 1)
            for frame in poses:
                velocity = self.ask("humanoid", "kinematics", {"q": a["q"], "qd": a["qd"], "frame": frame,
                                                               "outputs": ["velocity"]})["velocity"]
                self.assertClose(velocity, [[0.0] * 6] * 5, 1e-11, 1)
            energy = np.add(a["kinetic"], a["potential"])
            self.assertGreater(a["kinetic"][-1], 1)
            self.assertClose(energy.tolist(), [energy[0]] * 5, 1e-6)

    def test_energy_and_redundancy(self):
        """Held frames do no work. Holding a frame twice halves its wrenches and changes nothing else."""
        request = {"q": [0.3, -0.4, 0.1, 0.6], "duration": 1, "samples": 5,
                   "input": {"tau": {"amplitude": [3, 4, 1, 2], "angular_frequency": [5, 6, 7, 8]}}}
        once = [{"frame": "tool", "axes": ["z"]}]
        for how in ({"step": 5e-4}, *METHODS[1:]):
            a = self.simulate("arm", {**request, **how, "friction": False}, "q", "qd", "kinetic", "potential", "actuator_work",
                              "friction_work", "contact_wrenches", held=once)
            energy = np.add(a["kinetic"], a["potential"])
            work = np.add(a["actuator_work"], a["friction_work"])
            self.assertClose((energy - energy[0]).tolist(), work.tolist(), 1e-6, np.abs(energy).max(), str(how))
            twice = self.simulate("arm", {**request, **how, "friction": False}, "q", "contact_wrenches", held=once + once)
            self.assertClose(twice["q"], a["q"], 1e-6)
            half = np.array(a["contact_wrenches"]) / 2
            self.assertClose(twice["contact_wrenches"], np.concatenate([half, half], axis=1).tolist(), 1e-4)
            self.assertGreater(np.abs(half).max(), 0.1)
            last = {"q": a["q"][-1], "qd": a["qd"][-1], "tau": [A * math.sin(w) for A, w in zip((3, 4, 1, 2), (5, 6, 7, 8))]}
            now = self.ask("arm", "forward-dynamics", {**last, "friction": False, "held": once})
            self.assertClose(a["contact_wrenches"][-1], now["contact_wrenches"], 1e-9)

    def test_a_skate_gets_anywhere(self):
        """A sled that is held across its own axis moves along its edge, in a circle at constant turning rate."""
        v, w, T = 2.0, 1.5, 3.0
        for how in METHODS:
            a = self.simulate("sled", {"q": [0, 0, 0, 0, 0, 0, 1], "qd": [v, 0, 0, 0, 0, w], "duration": T, "samples": 4,
                                       "gravity": [0, 0, 0], "held": [{"frame": "sled", "axes": ["y"], "reference": "frame"}],
                                       **how}, "times", "q", "qd", "contact_wrenches")
            for t, q, qd, wrench in zip(a["times"], a["q"], a["qd"], a["contact_wrenches"]):
                expected = [v / w * math.sin(w * t), v / w * (1 - math.cos(w * t)), 0]
                self.assertClose(q[:3], expected, 1e-6, 1, str(how))
                self.assertClose(qd, [v, 0, 0, 0, 0, w], 1e-9)
                self.assertClose(wrench[0], [0, 3 * v * w, 0, 0, 0, 0], 1e-9)

    def test_contacts_that_depend_on_each_other(self):
        """Two held frames on one body, which are redundant, give the motion with one held frame, also with long steps, in whose stages the
        constraints of the two frames are not exactly consistent."""
        request = {"q": [0, 0, 0, 0, 0, 0, 1] + [0.2] * 33, "duration": 0.2, "samples": 3, "gravity": [0, 0, -3]}
        held = [{"frame": "left_sole"}, {"frame": "right_sole"}]
        for how in ({"step": 1e-2}, {"tolerance": 1e-4}):
            a, b = (self.simulate("humanoid", {**request, **how, "held": frames}, "q")
                    for frames in (held, held + [{"frame": "left_foot"}, {"frame": "right_foot", "axes": ["x", "rz"]}]))
            self.assertClose(b["q"], a["q"], 1e-3)

    def test_same_bits_alone(self):
        rows = [[0, 0, 1, *turned(0.1 * i), 0.1 * i, 0.2, -0.3, 0.4] for i in range(11)]
        held = [{"frame": "torso", "axes": ["x", "z"]}, {"frame": "thigh", "axes": ["y", "rx", "ry", "rz"]}]
        for how in ({"step": 5e-3}, {"tolerance": 1e-5}, {"tolerance": 1e-4, "stiff": True}):
            request = {"duration": 0.1, "samples": 3, "held": held, **how}
            batch = self.simulate("flying", {**request, "q": rows})
            self.assertEqual(list(batch), ["times", "q", "qd", "tau", "kinetic", "potential", "contact_wrenches", "limits"])
            for i in (0, 7, 10):
                self.assertEqual(self.simulate("flying", {**request, "q": rows[i]}),
                                 {name: value[i] for name, value in batch.items()}, str(how))

    def test_refusals(self):
        def refused(pointer, code, model="loose", row=None, **changes):
            request = {"q": [0, 0, 0, 0, 0, 0, 1], "duration": 1, "step": 0.01, "samples": 2,
                       "held": [{"frame": "rod", "axes": ["x", "y", "z"]}], **changes}
            answer = self.client.post(f"/v1/models/{model}/simulate", {k: v for k, v in request.items() if v is not None})
            problem = self.assertProblem(answer, 422, pointer, row)
            self.assertEqual(problem["code"], code, problem)
            return problem["detail"]
        for how in ({}, {"step": None, "tolerance": 1e-6}):
            self.assertIn("impact", refused(None, "contradictory-contacts", qd=[1, 0, 0, 0, 0, 0], **how))
            refused(None, "contradictory-contacts", row=1, qd=[[0] * 6, [0, 0, 1, 0, 0, 0], [0] * 6], **how)
        refused("/held", "wrong-shape", held=[{"frame": "rod"}] * 33)
        refused("/held/0/axes/0", "unknown-name", held=[{"frame": "rod", "axes": ["w"]}])
        refused("/outputs/0", "bad-value", held=None, outputs=["contact_wrenches"])
        # The rod slides along its own axis and turns about it. The two held points lie on this axis and have no
        # velocity along x.
        pinned = [{"frame": "rod", "axes": ["x"]}, {"frame": "foot", "axes": ["x"]}]
        self.ask("loose", "simulate", {"q": [0, 0, 0, 0, 0, 0, 1], "qd": [0, 0, 1, 0, 0, 2], "duration": 0.1, "step": 0.01,
                                       "samples": 2, "held": pinned})


if __name__ == "__main__":
    tap.main()
