"""Tests trajectory-hessian: the Hessian by control points against extrapolated differences of trajectory's gradients,
and against second derivatives of single states; batches of motions; refusals."""
import numpy as np
import tap
from harness import ServerCase
from samples import chain

LOADS = {"two_link": {}, "panda": {"payload": {"link": "panda_link7", "mass": 2, "com": [0, 0, 0.1]},
                                   "wrenches": [{"link": "panda_link6", "force": [3, -2, 5]}]}, "hua": {}}
STEP = 1e-3
KNOTS = [0, 0, 0, 0, 0.3, 0.7, 1, 1, 1, 1]
POINTS = 6


class TrajectoryHessian(ServerCase):
    def motion(self, model, seed, rows=None, samples=5):
        choose = np.random.default_rng(seed)
        nv = self.ok(self.client.get(f"/v1/models/{model}"))["nv"]
        shape = (rows,) if rows else ()
        return {"degree": 3, "knots": KNOTS, "duration": 0.8, "samples": samples, **LOADS[model],
                "control_points": choose.uniform(-0.5, 0.5, (*shape, POINTS, nv)).tolist(),
                "torque_multipliers": choose.uniform(-1, 1, (*shape, samples, nv)).tolist()}

    def hessian(self, model, motion):
        return np.array(self.ask(model, "trajectory-hessian", motion)["hessian_control_points"])

    def near(self, got, expected, tolerance, what):
        self.assertEqual(np.shape(got), np.shape(expected), what)
        self.assertLess(np.abs(got - expected).max(), tolerance * max(1, np.abs(expected).max()), what)

    def test_differences(self):
        """Differences of the gradient, which is the sum over samples of the multipliers times dtau_dcontrol_points."""
        for model in LOADS:
            motion = self.motion(model, 1)
            points, multipliers = np.array(motion["control_points"]), np.array(motion.pop("torque_multipliers"))
            moved = [points + d * STEP * (np.arange(points.size) == i).reshape(points.shape)
                     for i in range(points.size) for d in (1, -1, 2, -2)]
            answer = self.ask(model, "trajectory", {**motion, "dense": True, "outputs": ["dtau_dcontrol_points"],
                                                    "control_points": [x.tolist() for x in moved]})
            gradient = np.einsum("ni,bnikj->bkj", multipliers, np.array(answer["dtau_dcontrol_points"]))
            x = gradient.reshape(-1, 4, *points.shape)
            expected = ((8 * (x[:, 0] - x[:, 1]) - (x[:, 2] - x[:, 3])) / (12 * STEP)).reshape(*points.shape, *points.shape)
            got = self.hessian(model, {**motion, "torque_multipliers": multipliers.tolist()})
            self.near(got, expected, 1e-7, model)

    def test_the_deadline_holds(self):
        """The deadline also ends a computation of few samples, each of which takes milliseconds."""
        self.put_model("long", chain(200))
        motion = {"degree": 5, "duration": 1, "control_points": [[0.1] * 200] * 8, "samples": 500,
                  "torque_multipliers": [[1] * 200] * 500}
        answer = self.client.request("POST", "/v1/models/long/trajectory-hessian", motion, {"Request-Timeout": "0.05"})
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")

    def test_sum_over_samples(self):
        """The Hessian is the sum over samples of second derivatives of single states, contracted with trajectory's
        basis, at given times, one of them twice."""
        motion = self.motion("panda", 2, samples=4)
        del motion["samples"]
        motion["times"] = [0.1, 0.8, 0, 0.1]
        multipliers = motion.pop("torque_multipliers")
        names = ["q", "qd", "qdd", "basis"]
        along = self.ask("panda", "trajectory", {**motion, "dense": True, "outputs": names})
        H = self.ask("panda", "hessian", {**{name: along[name] for name in names[:3]}, **LOADS["panda"],
                                          "multipliers": multipliers})
        H = {name.removeprefix("hessian_"): np.array(x) for name, x in H.items()}
        b = np.array(along["basis"])
        expected = np.zeros((POINTS, 7, POINTS, 7))
        for (r, s), blocks in {(0, 0): H["q_q"], (1, 1): H["qd_qd"], (0, 1): H["q_qd"], (0, 2): H["q_qdd"]}.items():
            part = np.einsum("nk,nl,nij->kilj", b[:, r], b[:, s], blocks)
            expected += part + (part.transpose(2, 3, 0, 1) if r != s else 0)
        got = self.hessian("panda", {**motion, "torque_multipliers": multipliers})
        self.near(got, expected, 1e-13, "panda")
        self.assertTrue(np.array_equal(got, got.transpose(2, 3, 0, 1)) or np.abs(got - got.transpose(2, 3, 0, 1)).max() < 1e-12)

    def test_batches(self):
        """A motion has the same bits in a request of its own and in a batch with other durations, and with any order of joints."""
        for model in ("two_link", "panda"):
            batch = {**self.motion(model, 3, rows=9), "duration": [0.5 + 0.1 * i for i in range(9)]}
            batch.pop("samples")
            for how in ({"samples": 5}, {"times": [0, 0.1, 0.2, 0.45, 0.5]}):
                whole = self.ask(model, "trajectory-hessian", {**batch, **how})["hessian_control_points"]
                for i in range(9):
                    row = {**batch, **how, **{name: batch[name][i] for name in ("duration", "control_points", "torque_multipliers")}}
                    alone = self.ask(model, "trajectory-hessian", row)["hessian_control_points"]
                    self.assertEqual(alone, whole[i])
        motion = self.motion("two_link", 4)
        turned = {**motion, "joints": ["joint2", "joint1"],
                  **{name: [row[::-1] for row in motion[name]] for name in ("control_points", "torque_multipliers")}}
        self.assertTrue(np.array_equal(self.hessian("two_link", turned)[:, ::-1, :, ::-1], self.hessian("two_link", motion)))

    def test_rows_that_fail(self):
        batch = self.motion("two_link", 5, rows=3)
        batch["control_points"][1][2][0] = 1e9
        problem = self.assertProblem(self.client.post("/v1/models/two_link/trajectory-hessian", batch), 422, "/control_points/1", 1)
        self.assertEqual(problem["code"], "angle-too-large")
        answer = self.ask("two_link", "trajectory-hessian", {**batch, "on_error": "row"})
        self.assertEqual([(e["row"], e["code"]) for e in answer["errors"]], [(1, "angle-too-large")])
        self.assertIsNone(answer["hessian_control_points"][1])
        for i in (0, 2):
            row = {**batch, **{name: batch[name][i] for name in ("control_points", "torque_multipliers")}}
            self.assertEqual(answer["hessian_control_points"][i],
                             self.ask("two_link", "trajectory-hessian", row)["hessian_control_points"])

    def refused(self, model, request, pointer, code):
        problem = self.assertProblem(self.client.post(f"/v1/models/{model}/trajectory-hessian", request), 422, pointer)
        self.assertEqual(problem["code"], code, problem)

    def test_refusals(self):
        motion = self.motion("two_link", 6)
        self.refused("two_link", {**motion, "torque_multipliers": motion["torque_multipliers"][:4]}, "/torque_multipliers",
                     "wrong-shape")
        self.refused("two_link", {**motion, "torque_multipliers": [[1]] * 5}, "/torque_multipliers/0", "wrong-shape")
        self.refused("two_link", {**motion, "dense": True}, "/dense", "unknown-field")
        self.refused("two_link", {**motion, "times": [0]}, "/times", "bad-value")
        signal = {"wrenches": [{"link": "link2", "force": {"values": [[0, 0, 0], [1, 0, 0]]}}]}
        self.refused("two_link", {**motion, **signal}, "/wrenches/0/force", "wrong-type")
        del motion["torque_multipliers"]
        self.refused("two_link", motion, "/torque_multipliers", "missing-field")
        free = {"degree": 1, "duration": 1, "samples": 2}
        self.refused("solo12", {**free, "control_points": [[0] * 18] * 2, "torque_multipliers": [[0] * 18] * 2},
                     "/control_points", "not-supported")
        self.refused("four_bar", {**free, "control_points": [[0], [1]], "torque_multipliers": [[0], [1]]}, None, "not-for-loops")


if __name__ == "__main__":
    tap.main()
