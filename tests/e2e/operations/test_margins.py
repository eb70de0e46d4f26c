"""Tests margins: distances to limits against the operations that compute the limited quantities; gradients against
differences; elastic joints, floating bases, refusals."""
import numpy as np
import tap
from closed import Closed

STATE = ("q", "qd", "qdd", "qddd")
LIMITS = {"position": [-1, 1.5], "velocity": 2, "effort": 40, "effort_rate": 300}
GRADIENTS = ["dmargins_dq", "dmargins_dqd", "dmargins_dqdd", "dmargins_dqddd"]


class Margins(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        document = cls.client.get("/v1/models/ur5/document").json()
        for link in document["links"]:
            if link["joint"]["type"] != "fixed":
                link["joint"]["limits"] = LIMITS
        answer = cls.client.put("/v1/models/limited", {**document, "name": "limited"})
        assert answer.status in (200, 201), answer

    def motion(self, seed=1, rows=None):
        choose = np.random.default_rng(seed)
        return {name: choose.uniform(-1, 1, (rows, 6) if rows else 6).tolist() for name in STATE}

    def test_margins(self):
        s = self.motion(1, 7)
        answer = self.ask("limited", "margins", s)
        self.assertEqual(len(answer["limits"]), 24)
        rates = self.ask("limited", "torque-derivative", s)
        values = {"position": s["q"], "velocity": s["qd"], "effort": rates["tau"], "effort_rate": rates["tau_dot"]}
        joints = [j["name"] for j in self.ok(self.client.get("/v1/models/limited"))["joints"]]
        for i, limit in enumerate(answer["limits"]):
            x = np.array(values[limit["kind"]])[:, joints.index(limit["joint"])]
            own = LIMITS[limit["kind"]]
            self.assertEqual([limit["lower"], limit["upper"]], own if limit["kind"] == "position" else [-own, own])
            self.near(np.array(answer["margins"])[:, i], np.minimum(x - limit["lower"], limit["upper"] - x), 1e-13, limit)
        for row in range(7):
            alone = self.ask("limited", "margins", {name: s[name][row] for name in STATE})
            self.assertEqual(alone, {"limits": answer["limits"], "margins": answer["margins"][row]})

    def test_least(self):
        s = self.motion(5, 700)
        answer = self.ask("limited", "margins", {**s, "outputs": ["limits", "margins", "least"]})
        margins = np.array(answer["margins"])
        self.assertEqual([(one["joint"], one["kind"]) for one in answer["least"]],
                         [(one["joint"], one["kind"]) for one in answer["limits"]])
        self.assertEqual([one["row"] for one in answer["least"]], margins.argmin(axis=0).tolist())
        self.assertEqual([one["margin"] for one in answer["least"]], margins.min(axis=0).tolist())
        self.assertEqual(self.ask("limited", "margins", {**s, "outputs": ["least"]})["least"], answer["least"])
        first = answer["least"][0]["row"]
        s["q"][first] = [1e9] * 6
        rest = self.ask("limited", "margins", {**s, "on_error": "row", "outputs": ["least"]})
        margins[first] = np.inf
        self.assertEqual([one["row"] for one in rest["least"]], margins.argmin(axis=0).tolist())
        alone = self.ask("limited", "margins", {**{name: s[name][first + 1] for name in STATE}, "outputs": ["least"]})["least"]
        self.assertEqual([one["row"] for one in alone], [0] * 24)
        failed = self.client.post("/v1/models/limited/margins", {"q": [[1e9] * 6], "on_error": "row", "outputs": ["least"]})
        self.assertEqual(failed.json()["least"], None)

    def test_gradients(self):
        s, h = self.motion(2), 1e-6
        loads = {"payload": {"link": "wrist_3_link", "mass": 2, "com": [0, 0, 0.1]},
                 "wrenches": [{"link": "forearm_link", "force": [3, -2, 5], "point": [0.1, 0, 0]}]}
        given = self.ask("limited", "margins", {**s, **loads, "outputs": GRADIENTS})
        self.assertEqual(list(given), GRADIENTS)
        for name, gradient in zip(STATE, GRADIENTS):
            rows = {other: [s[other]] * 12 for other in STATE}
            rows[name] = [(np.array(s[name]) + sign * h * np.eye(6)[k]).tolist() for k in range(6) for sign in (1, -1)]
            margins = np.array(self.ask("limited", "margins", {**rows, **loads, "outputs": ["margins"]})["margins"])
            self.near(given[gradient], (margins[0::2] - margins[1::2]).T / (2 * h), 1e-7, name)

    def test_least_gradients(self):
        """`least_gradients` are the gradients of the row with the smallest margin, in the order of `joints`."""
        s = self.motion(6, 300)
        loads = {"payload": {"link": "wrist_3_link", "mass": 2, "com": [0, 0, 0.1]}}
        answer = self.ask("limited", "margins", {**s, **loads, "outputs": ["least", "least_gradients"]})
        for one, gradients in zip(answer["least"], answer["least_gradients"], strict=True):
            row = one["row"]
            self.assertEqual(gradients["row"], row)
            alone = self.ask("limited", "margins", {**{name: s[name][row] for name in STATE}, **loads, "outputs": ["limits", *GRADIENTS]})
            at = [(limit["joint"], limit["kind"]) for limit in alone["limits"]].index((one["joint"], one["kind"]))
            self.assertEqual([gradients[name] for name in ("dq", "dqd", "dqdd", "dqddd")], [alone[name][at] for name in GRADIENTS])
        names = self.ok(self.client.get("/v1/models/limited"))["velocity_names"]
        turned = {name: np.array(s[name])[:, ::-1].tolist() for name in STATE}
        back = self.ask("limited", "margins", {**turned, **loads, "joints": names[::-1], "outputs": ["least_gradients"]})
        self.assertEqual([[x for name in STATE for x in one["d" + name][::-1]] for one in back["least_gradients"]],
                         [[x for name in STATE for x in one["d" + name]] for one in answer["least_gradients"]])
        cut = {name: rows[:1] for name, rows in s.items()}
        single = self.ask("limited", "margins", {**cut, **loads, "outputs": ["least_gradients", *GRADIENTS]})
        for name, gradient in zip(STATE, GRADIENTS):
            self.assertEqual([one["d" + name] for one in single["least_gradients"]], single[gradient][0])

    def test_least_gradients_of_rows_with_their_own_scenes(self):
        """Where each row has its own gravity, payload and parameters, the gradients of a least margin are those at the values of its row."""
        s, n = self.motion(13, rows=5), range(5)
        for scene in ({"gravity": [[3 * i - 5, 2, 7 - 4 * i] for i in n]}, {"payload": {"link": "tool0", "mass": [5, 1, 4, 0.5, 3]}},
                      {"parameters": {"forearm_link": [[i + 1, 0.2, 0, 0.1, 0.4, 0, 0.4, 0, 0, 0.4] for i in n]}}):
            answer = self.ask("limited", "margins", {**s, **scene, "outputs": ["least", "least_gradients", *GRADIENTS]})
            for k, (one, gradients) in enumerate(zip(answer["least"], answer["least_gradients"], strict=True)):
                for name, gradient in zip(STATE, GRADIENTS):
                    self.assertEqual(gradients["d" + name], answer[gradient][one["row"]][k], (scene, one))

    def test_gradients_on_both_sides(self):
        """Tries limits on both sides of zero and on one side, with positions in the whole range and beyond: near a limit, and near the
        middle, where the nearer limit changes."""
        document = self.client.get("/v1/models/ur5/document").json()
        ranges = [(-1, 1.5), (0.5, 2), (-3, -1), (-0.2, 3), (-2, 0.1), (-1, 1)]
        moving = [link["joint"] for link in document["links"] if link["joint"]["type"] != "fixed"]
        for joint, bounds in zip(moving, ranges, strict=True):
            joint["limits"] = {"position": bounds}
        self.put_model("uneven", {**document, "name": "uneven"})
        lower, upper = np.array(ranges).T
        outputs = ["margins", "dmargins_dq", "least", "least_gradients"]
        for fraction in (-0.3, 0.01, 0.2, 0.35, 0.45, 0.49, 0.51, 0.55, 0.65, 0.8, 0.99, 1.3):
            q = lower + fraction * (upper - lower)
            slope = np.eye(6) * (1 if fraction < 0.5 else -1)
            # a position farther from the limits, so that in a batch the row with q has the least margins
            other = lower + (0.52 if abs(fraction - 0.5) > 0.02 else 0.5) * (upper - lower)
            for rows, least in ((q.tolist(), 0), ([q.tolist()], 0), ([other.tolist(), q.tolist()], 1)):
                got = self.ask("uneven", "margins", {"q": rows, "outputs": outputs})
                self.near(np.array(got["margins"]).reshape(-1, 6)[-1], min(fraction, 1 - fraction) * (upper - lower), 1e-12)
                self.assertEqual(np.array(got["dmargins_dq"]).reshape(-1, 6, 6)[-1].tolist(), slope.tolist(), fraction)
                self.assertEqual([one["row"] for one in got["least_gradients"]], [least] * 6)
                self.assertEqual([one["dq"] for one in got["least_gradients"]], slope.tolist(), fraction)

    def test_least_gradients_of_ties_and_failing_rows(self):
        """Among rows with equal margins the first counts; failed rows do not count."""
        one = {name: values for name, values in self.motion(7).items()}
        rows = {name: [[1e9] * 6 if name == "q" and i == 0 else one[name] for i in range(9)] for name in STATE}
        answer = self.ask("limited", "margins", {**rows, "on_error": "row", "outputs": ["least_gradients"]})
        alone = self.ask("limited", "margins", {**one, "outputs": GRADIENTS})
        self.assertEqual([gradients["row"] for gradients in answer["least_gradients"]], [1] * 24)
        self.assertEqual([gradients["dqdd"] for gradients in answer["least_gradients"]], alone["dmargins_dqdd"])
        failed = self.client.post("/v1/models/limited/margins", {"q": [[1e9] * 6], "on_error": "row", "outputs": ["least_gradients"]})
        self.assertEqual(failed.json()["least_gradients"], None)
        turning = {"q": [0, 0, 0.3, 0, 0, 0, 1] + [0] * 12, "outputs": ["least_gradients"]}
        document = self.ok(self.client.get("/v1/models/solo12/document"))
        for link in document["links"]:
            if link["joint"]["type"] != "fixed":
                link["joint"]["limits"] = {"effort": 3, "effort_rate": 10}
        self.put_model("walker", {**document, "name": "walker"})
        problem = self.assertProblem(self.client.post("/v1/models/walker/margins", turning), 422, "/kinds")
        self.assertEqual(problem["code"], "not-supported")
        efforts = self.ask("walker", "margins", {**turning, "kinds": ["effort"], "outputs": ["least_gradients", "dmargins_dq"]})
        self.assertEqual([gradients["dq"] for gradients in efforts["least_gradients"]], efforts["dmargins_dq"])

    def test_overflow(self):
        """A request whose margins or gradients overflow is refused."""
        s = {"q": [[0.1] * 6] * 3, "qd": [[1e200] * 6] * 3}
        for outputs in (["least"], ["least_gradients"], ["least", "margins"]):
            problem = self.assertProblem(self.client.post("/v1/models/limited/margins", {**s, "outputs": outputs}), 422)
            self.assertEqual(problem["code"], "result-not-finite", outputs)

    def test_kinds(self):
        s = {"q": self.motion(3)["q"]}
        answer = self.ask("limited", "margins", {**s, "kinds": ["velocity", "position"], "outputs": ["limits", *GRADIENTS]})
        self.assertEqual({limit["kind"] for limit in answer["limits"]}, {"position", "velocity"})
        self.assertEqual(np.abs(answer["dmargins_dqdd"]).max(), 0)
        self.assertEqual(np.abs(answer["dmargins_dq"]).sum(), 6)
        combined = self.ask("limited", "evaluate", {**s, "operations": {"margins": {"kinds": ["effort"]}, "inverse-dynamics": {}}})
        self.near(combined["margins"]["margins"], 40 - np.abs(combined["inverse-dynamics"]["tau"]), 1e-12)

    def test_floating_base(self):
        q = [0, 0, 0.3, 0, 0, 0, 1] + [0.1, 0.7, -1.4] * 4
        document = self.ok(self.client.get("/v1/models/solo12/document"))
        for link in document["links"]:
            if link["joint"]["type"] != "fixed":
                link["joint"]["limits"] = {"effort": 3, "velocity": 10}
        self.put_model("walker", {**document, "name": "walker"})
        answer = self.ask("walker", "margins", {"q": q, "outputs": ["limits", "margins", "dmargins_dq"]})
        self.assertEqual(np.array(answer["dmargins_dq"]).shape, (24, 18))
        tau = np.array(self.ask("walker", "inverse-dynamics", {"q": q})["tau"])[6:]
        efforts = [m for limit, m in zip(answer["limits"], answer["margins"]) if limit["kind"] == "effort"]
        self.near(efforts, 3 - np.abs(tau), 1e-12)

    def test_refusals(self):
        s = {"q": [0] * 6}
        for model, change, code, pointer in (
                ("limited", {"kinds": []}, "wrong-shape", "/kinds"), ("limited", {"kinds": ["power"]}, "unknown-name", "/kinds/0"),
                ("limited", {"kinds": ["effort", "effort"]}, "duplicate-name", "/kinds/1"),
                ("limited", {"kinds": "power"}, "unknown-name", "/kinds"), ("limited", {"kinds": 1}, "wrong-type", "/kinds")):
            problem = self.assertProblem(self.client.post(f"/v1/models/{model}/margins", {**s, **change}), 422, pointer)
            self.assertEqual(problem["code"], code, (change, problem))


if __name__ == "__main__":
    tap.main()
