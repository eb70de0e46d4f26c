"""Tests quaternions with four digits: refused with the remedy, and accepted with "normalise" in every operation and
field."""
import math

import cbor2
import numpy as np
import tap
from closed import Closed
from samples import branched, states

DIGITS = [0.7071, 0, -0.7071, 0.0001]
LENGTH = math.sqrt(sum(x * x for x in DIGITS))
EXACT = [x / LENGTH for x in DIGITS]


def with_turn(q, turn):
    return [*q[:3], *turn, *q[7:]]


class Normalise(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/flying", branched("floating"))
        ball = branched()
        ball["links"][0]["joint"]["type"] = "spherical"
        ball["links"][0]["joint"] = {k: v for k, v in ball["links"][0]["joint"].items() if k in ("name", "type", "origin")}
        cls.client.put("/v1/models/ball", ball)

    def request(self, operation):
        """Returns a request without q."""
        nv = self.ok(self.client.get("/v1/models/flying"))["nv"]
        s = {name: rows[0] for name, rows in states(1, nv, False).items() if name != "q"}
        motion, forward = {n: s[n] for n in ("qd", "qdd")}, {n: s[n] for n in ("qd", "tau")}
        control = [[0.1 * i * (-1) ** k for i in range(nv)] for k in range(5)]
        return {
            "inverse-dynamics": motion, "forward-dynamics": forward, "mass-matrix": {}, "bias": {"qd": s["qd"]}, "kinematics": {"frames": ["tool"]},
            "energy": {"qd": s["qd"]}, "torque-derivative": {**motion, "qddd": s["qddd"]}, "sensitivity": motion,
            "forward-sensitivity": forward, "hessian": {**motion, "multipliers": s["tau"]},
            "forward-hessian": {**forward, "multipliers": s["qdd"]},
            "gradient": {**motion, "multipliers": s["tau"]}, "forward-gradient": {**forward, "multipliers": s["qdd"]},
            "directional": {**motion, "directions": {"q": [s["qd"]], "qd": [s["qdd"]]}},
            "forward-directional": {**forward, "directions": {"q": [s["qdd"]], "tau": [s["qd"]]}},
            "rollout-gradient": {"qd": s["qd"], "torques": [s["tau"]] * 2, "step": 0.01, "cost": {"qd": 2}, "multipliers_q": [s["qdd"]]}, "coriolis": {"qd": s["qd"]}, "regressor": motion,
            "task-space": {"frame": "tool", "axes": ["x"]}, "ground-reaction": {**motion, "outputs": ["resultant"]}, "margins": {"qd": s["qd"]},
            "impact": {"qd": s["qd"], "held": [{"frame": "tool", "axes": ["x"]}]}, "step": {**forward, "step": 0.01},
            "rollout": {"qd": s["qd"], "torques": [s["tau"]] * 2, "step": 0.01},
            "configuration": {"displacement": s["qd"]}, "sensors": {**motion, "force_torque": [{"frame": "tool"}], "inertial": ["tool"]},
            "external-wrench": {**forward, "frame": "tool"},
            "simulate": {"qd": s["qd"], "duration": 0.01, "step": 0.005, "samples": 2},
        }[operation], control

    def near_answer(self, a, b, what):
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b))
            for name in a:
                self.near_answer(a[name], b[name], f"{what} {name}")
        elif a and isinstance(a, list) and isinstance(a[0], (dict, str)):
            self.assertEqual(len(a), len(b))
        elif isinstance(a, (list, float, int)):
            self.near(a, b, 1e-10, what, least=1)

    def test_every_operation(self):
        """One state and a batch: the answer is that for the normalised quaternion."""
        for operation in ("inverse-dynamics", "forward-dynamics", "mass-matrix", "bias", "kinematics", "energy", "torque-derivative",
                          "sensitivity", "forward-sensitivity", "hessian", "forward-hessian", "gradient", "forward-gradient", "directional", "forward-directional",
                          "rollout-gradient",
                          "coriolis", "regressor", "task-space",
                          "ground-reaction", "margins", "impact", "step", "rollout", "simulate", "configuration", "sensors", "external-wrench"):
            more, _ = self.request(operation)
            nq = self.ok(self.client.get("/v1/models/flying"))["nq"]
            q = [0.3, -0.2, 0.5] + [0] * 4 + [0.1 * i for i in range(nq - 7)]
            with self.subTest(operation=operation):
                refused = self.client.post(f"/v1/models/flying/{operation}", {**more, "q": with_turn(q, DIGITS)})
                problem = self.assertProblem(refused, 422, "/q/3")
                self.assertEqual(problem["code"], "bad-quaternion")
                self.assertIn('"normalise": true', problem["detail"])
                exact = self.ask("flying", operation, {**more, "q": with_turn(q, EXACT)})
                for turn in (DIGITS, [10 * x for x in DIGITS], [1e-3 * x for x in DIGITS]):
                    got = self.ask("flying", operation, {**more, "q": with_turn(q, turn), "normalise": True})
                    self.near_answer(got, exact, operation)
                rows = [with_turn(q, turn) for turn in (DIGITS, EXACT, [5 * x for x in DIGITS])]
                batch = self.ask("flying", operation, {**more, "q": rows, "normalise": True})
                alone = self.ask("flying", operation, {**more, "q": rows[2], "normalise": True})
                for name in alone:
                    if name != "limits":
                        self.assertEqual(self.row(batch[name], 2), alone[name], f"{operation} {name}")

    def row(self, value, i):
        return {k: self.row(v, i) for k, v in value.items()} if isinstance(value, dict) else value[i]

    def test_evaluate_cbor_and_ball_joints(self):
        nq = self.ok(self.client.get("/v1/models/ball"))["nq"]
        q = [*DIGITS, *[0.2] * (nq - 4)]
        self.assertEqual(self.assertProblem(self.client.post("/v1/models/ball/mass-matrix", {"q": q}), 422, "/q/0")["code"], "bad-quaternion")
        exact = self.ask("ball", "mass-matrix", {"q": [*EXACT, *q[4:]]})["mass_matrix"]
        both = self.ask("ball", "evaluate", {"q": [q, q], "normalise": True, "operations": {"mass-matrix": {}, "energy": {}}})
        self.near(both["mass-matrix"]["mass_matrix"][1], exact, 1e-12, "evaluate")
        answer = self.client.post("/v1/models/ball/mass-matrix", cbor2.dumps({"q": q, "normalise": True}), Content_Type="application/cbor",
                                  Accept="application/cbor")
        self.assertEqual(answer.status, 200)

    def test_guess_platform_and_orientation(self):
        """Quaternions in guess, platform and orientation."""
        still = {"frame": "centre", "position": [0, 0, 0.6], "orientation": [0.02, 0.01, 0, 0.999]}
        size = np.linalg.norm(still["orientation"])
        unit = {**still, "orientation": [x / size for x in still["orientation"]]}
        self.assertProblem(self.client.post("/v1/models/stewart/mass-matrix", {"platform": still}), 422)
        exact = self.client.post("/v1/models/stewart/mass-matrix", {"platform": unit})
        got = self.client.post("/v1/models/stewart/mass-matrix", {"platform": still, "normalise": True})
        self.near(self.ok(got)["mass_matrix"], self.ok(exact)["mass_matrix"], 1e-9, "platform")
        pose = self.ask("panda", "kinematics", {"q": [0.3, 0.4, -0.2, -1.5, 0.2, 1.9, 0.5], "frames": ["panda_link7"]})["poses"]["panda_link7"]
        pose = {"frame": "panda_link7", "position": pose["position"], "orientation": [1.001 * x for x in pose["orientation"]]}
        self.assertProblem(self.client.post("/v1/models/panda/inverse-kinematics", pose), 422)
        self.assertEqual(self.client.post("/v1/models/panda/inverse-kinematics", {**pose, "normalise": True}).status, 200)
        passive = {"q": self.ok(self.client.get("/v1/models/stewart"))["reference"]["q"]}
        model = self.ok(self.client.get("/v1/models/stewart"))
        guess = model["reference"]["passive"]
        places = [i for i, name in enumerate(model["passive_names"]) if name.endswith("qx")]
        self.assertTrue(places)
        for i in places:
            guess[i:i + 4] = [1.01 * x for x in guess[i:i + 4]]
        self.assertProblem(self.client.post("/v1/models/stewart/mass-matrix", {**passive, "guess": guess}), 422)
        self.ask("stewart", "mass-matrix", {**passive, "guess": guess, "normalise": True})

    def test_what_is_refused(self):
        nq = self.ok(self.client.get("/v1/models/flying"))["nq"]
        q = [0] * 7 + [0.1] * (nq - 7)
        for turn in ([0, 0, 0, 0], [1e-200, 0, 0, 0], [1e300, 1e300, 0, 0]):
            answer = self.client.post("/v1/models/flying/mass-matrix", {"q": with_turn(q, turn), "normalise": True})
            self.assertIn("cannot be normalised", self.assertProblem(answer, 422, "/q/3")["detail"])
        rows = self.ask("flying", "energy", {"q": [with_turn(q, EXACT), q, with_turn(q, DIGITS)], "normalise": True, "on_error": "row"})
        self.assertEqual([e["row"] for e in rows["errors"]], [1])
        answer = self.client.post("/v1/models/flying/mass-matrix", {"q": with_turn(q, EXACT), "normalise": 1})
        self.assertEqual(self.assertProblem(answer, 422, "/normalise")["code"], "wrong-type")


if __name__ == "__main__":
    tap.main()
