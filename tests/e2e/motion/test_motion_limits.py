"""Tests limits of acceleration and jerk: in documents and URDF, in margins and along trajectories with gradients that
central differences confirm, and in path-timing."""
import json

import numpy as np
import tap
from harness import ServerCase
from samples import body

LIMITS = {"shoulder": {"acceleration": 4, "jerk": 30}, "elbow": {"acceleration": 7, "velocity": 3}, "finger": {"jerk": 11}}
KINDS = ["acceleration", "jerk"]


def document():
    joint = lambda name, axis, **more: {"name": name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.3, 0, 0.1]},
                                        "limits": dict(LIMITS[name]), **more}
    return {"links": [
        {"name": "upper", "parent": "base", "inertial": body(3, (0.1, 0, 0)), "joint": joint("shoulder", [0, 0, 1])},
        {"name": "fore", "parent": "upper", "inertial": body(2, (0.2, 0, 0)), "joint": joint("elbow", [0, 1, 0])},
        {"name": "tip", "parent": "fore", "inertial": body(0.5, (0.1, 0, 0)),
         "joint": joint("finger", [0, 1, 0], mimic={"joint": "elbow", "multiplier": -0.6, "offset": 0.1})}]}


class MotionLimits(ServerCase):
    def setUp(self):
        self.put_model("limited", document())

    def test_documents(self):
        """The description of a model lists limits of acceleration and jerk, and values that are not greater than 0 are refused."""
        joints = self.ok(self.client.get("/v1/models/limited"))["joints"]
        self.assertEqual({joint["name"]: joint["limits"] for joint in joints}, LIMITS)
        for name in KINDS:
            for value in (0, -2):
                bad = document()
                bad["links"][1]["joint"]["limits"][name] = value
                answer = self.client.request("PUT", "/v1/models/bad", json.dumps(bad), {"Content-Type": "application/json"})
                self.assertProblem(answer, 422, f"/links/1/joint/limits/{name}")

    def test_margins(self):
        """A mimic joint has the multiple of its leader's acceleration and jerk."""
        state = {"q": [[0.3, -0.5], [0.1, 0.7]], "qd": [1, -2], "qdd": [[3.5, -6], [-5, 2]], "qddd": [[20, 15], [-3, -19]]}
        answer = self.ask("limited", "margins", {**state, "kinds": KINDS, "outputs": [
            "limits", "margins", "dmargins_dq", "dmargins_dqd", "dmargins_dqdd", "dmargins_dqddd", "least"]})
        self.assertEqual([(limit["joint"], limit["kind"], limit["upper"]) for limit in answer["limits"]], [
            ("shoulder", "acceleration", 4), ("shoulder", "jerk", 30), ("elbow", "acceleration", 7), ("finger", "jerk", 11)])
        self.assertClose(answer["margins"], [[0.5, 10, 1, 2], [-1, 27, 5, -0.4]], 1e-14)
        for row, sides in enumerate([[-1, -1, 1, -0.6 * 1], [1, 1, -1, 0.6]]):
            expected = {"dqdd": [[sides[0], 0], [0, 0], [0, sides[2]], [0, 0]], "dqddd": [[0, 0], [sides[1], 0], [0, 0], [0, sides[3]]]}
            for by in ("dq", "dqd", "dqdd", "dqddd"):
                given = np.array(answer[f"dmargins_{by}"][row])
                self.assertEqual(np.abs(given).tolist(), np.abs(expected.get(by, np.zeros((4, 2)))).tolist(), by)
        h = 1e-3
        for by, name in (("qdd", "dmargins_dqdd"), ("qddd", "dmargins_dqddd")):
            for v in range(2):
                forth, back = (self.ask("limited", "margins", {**state, "kinds": KINDS, "outputs": ["margins"], by: [
                    [x + d * (i == v) for i, x in enumerate(row)] for row in state[by]]})["margins"] for d in (h, -h))
                self.assertClose(((np.array(forth) - back) / (2 * h)).tolist(), np.array(answer[name])[:, :, v].tolist(), 1e-9)

    def test_trajectory(self):
        """Compares the margins of every sample with the limits, and their derivatives by control points and duration with differences."""
        points = np.random.default_rng(3).uniform(-1, 1, (6, 2))
        request = {"degree": 4, "duration": 1.3, "samples": 9, "control_points": points.tolist(), "kinds": KINDS, "dense": True,
                   "outputs": ["qdd", "qddd", "margins", "dmargins_dcontrol_points", "dmargins_dduration"]}
        answer = self.ask("limited", "trajectory", request)
        qdd, qddd = np.array(answer["qdd"]), np.array(answer["qddd"])
        x = np.stack([qdd[:, 0], qddd[:, 0], qdd[:, 1], -0.6 * qddd[:, 1]], axis=1)
        self.assertClose(answer["margins"], ([4, 30, 7, 11] - np.abs(x)).tolist(), 1e-11)
        moved = lambda **change: np.array(self.ask("limited", "trajectory", {**request, "outputs": ["margins"], **change})["margins"])
        h = 1e-6
        for k, v in ((0, 0), (2, 1), (5, 0)):
            step = h * (np.arange(12).reshape(6, 2) == 2 * k + v)
            difference = (moved(control_points=(points + step).tolist()) - moved(control_points=(points - step).tolist())) / (2 * h)
            given = np.array(answer["dmargins_dcontrol_points"])[:, :, k, v]
            self.assertLess(np.abs(given - difference).max(), 1e-6 * np.abs(given).max() + 1e-6)
        difference = (moved(duration=1.3 + h) - moved(duration=1.3 - h)) / (2 * h)
        self.assertLess(np.abs(np.array(answer["dmargins_dduration"]) - difference).max(), 1e-4)

    def test_path_timing(self):
        """The limits of the model, those of a mimic joint included, hold along the path."""
        found = self.ask("limited", "path-timing", {"degree": 1, "control_points": [[0, 0], [1, 1.5]], "samples": 1001})
        qdd, qddd = np.array(found["qdd"]), np.array(found["qddd"])
        load = np.stack([np.abs(qdd[:, 0]) / 4, np.abs(qddd[:, 0]) / 30, np.abs(qdd[:, 1]) / 7, 0.6 * np.abs(qddd[:, 1]) / 11], axis=1)
        self.assertLess(load.max(), 1)
        self.assertGreater(load.max(), 0.9999)

    def test_refusals(self):
        """Margins of acceleration and jerk are refused for models with loops, and their gradients for free coordinates."""
        with open("models/five_bar.json", encoding="utf-8") as file:
            looped = json.load(file)
        looped["links"][0]["joint"]["limits"] = {"acceleration": 3}
        self.put_model("looped", looped)
        nv = self.ok(self.client.get("/v1/models/looped"))["nv"]
        answer = self.client.post("/v1/models/looped/margins", {"q": [0] * nv, "kinds": ["acceleration"]})
        self.assertEqual(self.assertProblem(answer, 422)["code"], "not-for-loops")
        request = {"degree": 3, "duration": 1, "samples": 3, "control_points": [[0, 0]] * 5, "free": ["elbow"], "kinds": KINDS}
        self.ask("limited", "trajectory", {**request, "outputs": ["margins"]})
        self.assertProblem(self.client.post("/v1/models/limited/trajectory", {**request, "outputs": ["dmargins_dduration"]}), 422, "/kinds")


if __name__ == "__main__":
    tap.main()
