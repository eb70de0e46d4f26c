"""Tests trajectories and simulations of a batch that fail without failing the request ("on_error": "row"): a motion that fails at one sample is
null as a whole."""
import math
import random

import cbor2
import tap
from failing_rows import SHAPED, FailingRowsCase, decode, numbers


class FailingMotions(FailingRowsCase):
    def test_trajectories(self):
        """A motion with one failing sample is null as a whole."""
        rng = random.Random(5)
        points = [[[rng.uniform(-1, 1) for _ in range(4)] for _ in range(6)] for _ in range(30)]
        bad = {}
        for k, i in enumerate(self.choose(30, 6)):
            points[i][2 + k % 3][(0, 1, 3)[k % 3]] = (1e7, 1e200)[k % 2]
            bad[i] = "angle-too-large"
        outputs = ["times", "q", "tau", "tau_dot", "dtau_dcontrol_points", "dtau_dduration", "joint_wrenches"]
        shared = {"degree": 4, "duration": 1.5, "samples": 70, "outputs": outputs}
        self.check("arm", "trajectory", shared, {"control_points": points}, bad)

    def test_trajectories_of_any_duration(self):
        points = [[[0.1 * k * (i % 3)] * 4 for k in range(6)] for i in range(12)]
        durations = [1 + 0.1 * i for i in range(12)]
        durations[0], durations[7], durations[9] = -1, 0, 1e-200
        shared = {"degree": 4, "control_points": points[1]}
        for how in ({"samples": 9}, {"times": [0, 0.3, 1.1]}):
            answer = self.check("arm", "trajectory", {"degree": 4, **how}, {"control_points": points, "duration": durations},
                                dict.fromkeys((0, 7, 9), None))
            self.assertEqual([(e["code"], e["detail"]) for e in answer["errors"]], [
                ("bad-value", detail) for detail in (
                    "-1 given, a time in s greater than 0 expected", "0 given, a time in s greater than 0 expected",
                    "1e-200 s given: so short a motion has derivatives too large to compute with")])
            self.assertEqual(answer["errors"][1]["pointer"], "/duration/7")
            none = self.ask("arm", "trajectory", {**shared, **how, "duration": [-1, -2], "on_error": "row"})
            self.assertEqual((none["q"], len(none["errors"])), ([None, None], 2))

    def test_trajectories_of_loops(self):
        points = [[[2.1 + 0.02 * k * (i % 3), 1.05 - 0.01 * k] for k in range(6)] for i in range(8)]
        for i in (3, 5):
            points[i][-1] = [3.1, -0.1]
        self.check("apart", "trajectory", {"degree": 4, "duration": 1, "samples": 25}, {"control_points": points},
                   {3: None, 5: None})

    def test_simulations(self):
        """Simulations with fixed steps run side by side in lanes: one diverges, and the others have the bits of requests of one row."""
        rows = self.arm_rows(21)
        rows = {"q": rows["q"], "qd": rows["qd"]}
        rows["qd"][4] = [1e60] * 4
        rows["qd"][12] = [3e99] * 4
        rows["q"][20] = [1e8] * 4
        outputs = ["times", "q", "qd", "qdd", "tau", "kinetic", "potential", "friction_work", "steps"]
        for method in ({"step": 0.01}, {"tolerance": 1e-6}, {"tolerance": 1e-6, "stiff": True}):
            with self.subTest(**method):
                self.check("arm", "simulate", {"duration": 0.1, "samples": 5, "outputs": outputs, **method}, rows,
                           {4: None, 12: None, 20: "angle-too-large"})

    def test_simulations_with_prescribed_motion(self):
        """A row that does not start at the position of the prescribed motion fails."""
        q = [[0, 0.1 * i] for i in range(7)]
        q[2][0], q[5][0] = 0.3, 1e9
        motion = {"amplitude": [0.5], "angular_frequency": [4]}
        shared = {"duration": 0.1, "step": 0.01, "samples": 3, "prescribed": {"coordinates": ["joint1"], "motion": motion}}
        answer = self.check("two_link", "simulate", shared, {"q": q}, {2: "bad-value", 5: "angle-too-large"})
        self.assertEqual([e["pointer"] for e in answer["errors"]], ["/q/2", "/q/5/0"])
        q[5][0] = 0
        self.assertProblem(self.post("two_link", "simulate", {**shared, "q": q}), 422, "/q/2", 2)

    def test_simulations_of_loops(self):
        q, qd, bad = self.bars(20)
        self.check("apart", "simulate", {"duration": 0.02, "step": 0.005, "samples": 3}, {"q": q, "qd": qd}, bad)

    def test_one_motion_alone(self):
        request = {"q": [0] * 4, "qd": [1e90] * 4, "duration": 1, "step": 0.01, "samples": 4, "on_error": "row"}
        answer = self.ask("arm", "simulate", request)
        self.assertEqual([e["row"] for e in answer.pop("errors")], [0])
        self.assertEqual(set(answer.values()), {None})
        coded = decode(cbor2.loads(self.post("arm", "simulate", request, Accept=SHAPED).body))
        self.assertTrue(all(math.isnan(x) for x in numbers(coded["q"])))
        self.assertEqual([len(coded["q"]), len(coded["q"][0])], [4, 4])

if __name__ == "__main__":
    tap.main()
