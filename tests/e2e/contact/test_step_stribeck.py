"""Tests steps in which sharp friction with a Stribeck curve stops joints, and steps of mechanisms with loops whose
actuated joints stick: conditions of friction, Jacobians, bits and problems."""
import copy

import numpy as np
import tap
from closed import Closed
from test_stiction import STICK, chain

H = 0.01
EULER = ("explicit_euler", "semi_implicit_euler")
MATRICES = ["q_after", "qd_after", "state_matrix", "input_matrix"]


def gripping(document):
    """Returns the document with a breakaway friction above Coulomb's, falling off within about 0.3 rad/s."""
    document = copy.deepcopy(document)
    for i, joint in enumerate(link["joint"] for link in document["links"]):
        if "friction" in joint:
            coulomb = joint["friction"]["coulomb"]
            joint["friction"] |= {"breakaway": {side: 1.6 * coulomb[side] for side in coulomb}, "stribeck_velocity": 0.3 + 0.05 * i}
    return document


def curve(document, qd):
    """Returns the limits of sharp friction of each coordinate, [against negative, against positive motion], at the
    rates qd."""
    limits, order = {}, []
    for joint in (link["joint"] for link in document["links"]):
        f, mimic = joint.get("friction"), joint.get("mimic", {"joint": joint["name"], "multiplier": 1})
        if mimic["joint"] not in order:
            order.append(mimic["joint"])
        if not f or f.get("coulomb_velocity"):
            continue
        r = mimic["multiplier"]
        rate = r * qd[order.index(mimic["joint"])] / f.get("stribeck_velocity", np.inf)
        ends = [f["coulomb"][side] + (f.get("breakaway", f["coulomb"])[side] - f["coulomb"][side]) * np.exp(-rate * rate)
                for side in ("negative", "positive")]
        low, high = sorted((-r * ends[0], r * ends[1]))
        a, b = limits.get(mimic["joint"], (0, 0))
        limits[mimic["joint"]] = (a + low, b + high)
    return np.array([limits.get(name, (0, 0)) for name in order])


class StepStribeck(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.CHAIN = gripping(chain(np.random.default_rng(8), 7))
        assert cls.client.put("/v1/models/chain", cls.CHAIN).status == 201
        cls.FIVE = copy.deepcopy(cls.documents["five_bar"])
        for link in cls.FIVE["links"]:
            if link["joint"].get("actuated", True):
                link["joint"]["friction"] = {"coulomb": {"positive": 1.5, "negative": 1}, "viscous": 0.2}
        cls.FIVE["links"][0]["joint"]["friction"] |= {"breakaway": {"positive": 3, "negative": 2}, "stribeck_velocity": 0.4}
        assert cls.client.put("/v1/models/rough", cls.FIVE).status == 201

    def states(self, model, n, seed, push=4):
        """Draws slow and fast joints, so that within a step some joints stop, some slide on and some reverse."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.5, 1.5, (n, 6)) if model == "chain" else np.array([2, 1.1]) + rng.uniform(-0.3, 0.3, (n, 2))
        qd = rng.uniform(-1, 1, q.shape) * rng.choice([0, 0.03, 1], q.shape)
        if model == "chain":
            qd[:, 2] += np.copysign(0.1, qd[:, 2])  # the smoothed friction of this joint has a kink at rest, where differences would be wrong
        g = np.array(self.ask(model, "bias", {"q": q.tolist(), "outputs": ["gravity"]})["gravity"])
        return {"q": q.tolist(), "qd": qd.tolist(), "tau": (g + rng.uniform(-push, push, q.shape)).tolist()}

    def check_conditions(self, model, document, s, least):
        """Checks that f is within the limits at the rate before the step, and at the limit against the motion if the
        joint moves."""
        qd = np.array(s["qd"])
        limits = np.array([curve(document, row) for row in qd])
        low, high = limits[..., 0], limits[..., 1]
        for integrator in EULER:
            a = self.ask(model, "step", {**s, **STICK, "step": H, "integrator": integrator})
            after, sticking = np.array(a["qd_after"]), np.array(a["sticking"])
            tau = self.ask(model, "inverse-dynamics", {"q": s["q"], "qd": s["qd"], "qdd": ((after - qd) / H).tolist()})["tau"]
            f = np.array(s["tau"]) - np.array(tau) + np.where(qd > 0, high, np.where(qd < 0, low, 0))
            self.assertTrue(((f >= low - 1e-9) & (f <= high + 1e-9)).all())
            self.assertTrue((after[sticking == 1] == 0).all())
            slides = (sticking == 0) & (high > low)
            self.assertLess(np.abs(f - np.where(after > 0, high, low))[slides].max(), 1e-9)
            for kind in ((sticking == 1) & (qd != 0), (sticking == 1) & (qd == 0), slides & (qd == 0), slides & (qd * after < 0)):
                self.assertGreaterEqual(kind.sum(), least)

    def test_conditions_of_friction(self):
        self.check_conditions("chain", self.CHAIN, self.states("chain", 300, 3), 10)
        actuated = {"links": [link for link in self.FIVE["links"] if link["joint"].get("actuated", True)]}
        self.check_conditions("rough", actuated, self.states("rough", 400, 3), 10)

    def check_jacobians(self, model, s, rows):
        """Compares Jacobians with differences over rows in which the same joints stick and all others keep their
        direction. Returns how many joints reverse and how many stick."""
        turning = stuck = 0
        n = len(s["q"][0])
        for row in range(rows):
            x = np.concatenate([s["q"][row], s["qd"][row], s["tau"][row]])
            moved = np.array([x + d * e for e in np.eye(3 * n) for d in (1e-4, -1e-4, 2e-4, -2e-4)])
            ask = lambda x, **more: self.ask(model, "step", {"q": x[..., :n].tolist(), "qd": x[..., n:2 * n].tolist(),
                                                             "tau": x[..., 2 * n:].tolist(), **STICK, "step": H, **more})
            for integrator in EULER:
                a, b = ask(x, integrator=integrator), ask(moved, integrator=integrator, outputs=["q_after", "qd_after", "sticking"])
                if any(other != a["sticking"] for other in b["sticking"]) or (np.sign(b["qd_after"]) != np.sign(a["qd_after"])).any():
                    continue
                ends = np.hstack([b["q_after"], b["qd_after"]]).reshape(3 * n, 4, 2 * n)
                expected = ((8 * (ends[:, 0] - ends[:, 1]) - (ends[:, 2] - ends[:, 3])) / 12e-4).T
                got = np.hstack([a["state_matrix"], a["input_matrix"]])
                self.near(got, expected, 1e-8, f"{model} {row} {integrator}")
                self.assertFalse(got[n:][np.array(a["sticking"]) == 1].any())
                turning += int((x[n:2 * n] * a["qd_after"] < 0).sum())
                stuck += sum(a["sticking"])
        return turning, stuck

    def test_jacobians(self):
        for model, rows in (("chain", 25), ("rough", 40)):
            turning, stuck = self.check_jacobians(model, self.states(model, rows, 4), rows)
            self.assertGreaterEqual(min(turning, stuck), 3, model)

    def test_a_wheel_slips(self):
        """At rest the breakaway friction holds a wheel. Once it slides, friction falls along the curve, whose slope is
        part of A."""
        wheel = {"gravity": [0, 0, 0], "links": [{"name": "wheel", "parent": "base", "inertial": {
            "mass": 1, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 0.5}}, "joint": {
                "name": "axle", "type": "revolute", "axis": [0, 0, 1],
                "friction": {"coulomb": 1, "breakaway": 2, "stribeck_velocity": 0.2}}}]}
        self.put_model("wheel", wheel)
        ask = lambda qd, tau: self.ask("wheel", "step", {"q": [0], "qd": [qd], "tau": [tau], "step": H, **STICK})
        held, slips = ask(0, 1.999), ask(0, 2.001)
        self.assertEqual((held["qd_after"], held["sticking"]), ([0], [1]))
        self.near(slips["qd_after"], [0.001 * H / 0.5], 1e-9)
        self.near(slips["state_matrix"], [[1, H], [0, 1]], 1e-12)
        slides = ask(0.1, 1.9)
        bend = np.exp(-0.25)
        self.near(slides["qd_after"], [0.1 + (1.9 - 1 - bend) * H / 0.5], 1e-12)
        self.near(slides["state_matrix"][1][1:], [1 + 2 * 0.5 / 0.2 * bend * H / 0.5], 1e-12)
        back = ask(0.01, -9)  # the motion reverses, where the slope has the opposite sign
        grip = np.exp(-(0.01 / 0.2) ** 2)
        self.near(back["qd_after"], [0.01 + (-9 + 1 + grip) * H / 0.5], 1e-12)
        self.near(back["state_matrix"][1][1:], [1 - 2 * 0.05 / 0.2 * grip * H / 0.5], 1e-12)

    def test_same_bits(self):
        """A row has the same bits in a request of one row and in a batch; node n of a rollout is the result of `step` from node n - 1."""
        for model in ("chain", "rough"):
            s = self.states(model, 11, 7)
            outputs = [*MATRICES, "sticking", "parameter_matrix"]
            for integrator in EULER:
                settings = {**STICK, "step": H, "integrator": integrator}
                batch = self.ask_texts(model, "step", {**s, **settings, "outputs": outputs})
                one = self.ask_texts(model, "step", {**{k: v[9] for k, v in s.items()}, **settings, "outputs": outputs})
                for name in outputs:
                    self.assertEqual(batch[name][9], one[name], name)
            rollout = {"q": s["q"][0], "qd": s["qd"][0], "torques": [s["tau"][0]] * 5, **settings, "outputs": [*MATRICES, "sticking"]}
            texts, values = self.ask_texts(model, "rollout", rollout), self.ask(model, "rollout", rollout)
            again = {"q": values["q_after"][0], "qd": values["qd_after"][0], "tau": s["tau"][0]}
            if model == "rough":
                full = self.full(model, {"q": s["q"][0]})
                active = self.ok(self.client.get("/v1/models/rough"))["position_names"]
                again["guess"] = [x for name, x in zip(full["position_names"], full["q"]) if name not in active]
            step = self.ask_texts(model, "step", {**again, **settings, "outputs": [*MATRICES, "sticking"]})
            for name in step:
                self.assertEqual(texts[name][1], step[name], name)

    def test_loops_at_rest(self):
        """Joints of a mechanism at rest stick in forward dynamics as in a step."""
        s = self.states("rough", 40, 8, 6)
        s["qd"] = np.zeros((40, 2)).tolist()
        a = self.ask("rough", "forward-dynamics", {**s, **STICK})
        b = self.ask("rough", "step", {**s, **STICK, "step": H})
        self.near(b["qd_after"], np.array(a["qdd"]) * H, 1e-11)
        sticking = np.array(b["sticking"])
        self.assertFalse(np.array(a["qdd"])[sticking == 1].any())
        self.assertEqual({tuple(row) for row in sticking.tolist()}, {(0, 0), (0, 1), (1, 0), (1, 1)})
        tau = self.ask("rough", "inverse-dynamics", {"q": s["q"], "qdd": a["qdd"]})["tau"]
        self.near(np.add(tau, a["friction"]), s["tau"], 1e-11)

    def test_problems(self):
        passive = copy.deepcopy(self.FIVE)
        name = next(link["joint"]["name"] for link in passive["links"] if not link["joint"].get("actuated", True))
        for link in passive["links"]:
            if link["joint"]["name"] == name:
                link["joint"]["friction"] = {"coulomb": 1}
        self.put_model("passive", passive)
        answer = self.client.post("/v1/models/passive/step", {"q": [2, 1.1], "tau": [0, 0], **STICK, "step": H})
        self.assertIn(name, self.refused(answer, "not-supported", "/friction_at_rest"))


if __name__ == "__main__":
    tap.main()
