"""Tests steps and rollouts in which sharp Coulomb friction stops joints: Coulomb's conditions, Jacobians, batches,
problems."""
import numpy as np
import tap
import test_stiction
from harness import ServerCase
from samples import body
from test_stiction import STICK, chain

H = 0.01
MATRICES = ["q_after", "qd_after", "state_matrix", "input_matrix"]
EULER = ("explicit_euler", "semi_implicit_euler")


class StepFriction(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        document = chain(np.random.default_rng(8), 7)
        cls.LIMITS = test_stiction.Stiction.limits(document)
        assert cls.client.put("/v1/models/chain", document).status == 201
        floating = {**chain(np.random.default_rng(9), 2), "base": {"type": "floating", "link": "base", "inertial": body(2)}}
        assert cls.client.put("/v1/models/floating", floating).status == 201
        cls.WHEEL = {"gravity": [0, 0, 0], "links": [{"name": "wheel", "parent": "base", "joint": {
            "name": "axle", "type": "revolute", "axis": [0, 0, 1], "friction": {"coulomb": {"positive": 3, "negative": 2}}},
            "inertial": body(1)}]}
        assert cls.client.put("/v1/models/wheel", cls.WHEEL).status == 201

    def states(self, n, seed):
        """Draws slow and fast joints, so that within a step some joints stop, some slide on and some reverse."""
        rng = np.random.default_rng(seed)
        nv = len(self.LIMITS)
        q = rng.uniform(-1.5, 1.5, (n, nv))
        qd = rng.uniform(-1, 1, (n, nv)) * rng.choice([0, 0.02, 1], (n, nv))
        g = np.array(self.ask("chain", "bias", {"q": q.tolist(), "outputs": ["gravity"]})["gravity"])
        return {"q": q.tolist(), "qd": qd.tolist(), "tau": (g + rng.uniform(-4, 4, (n, nv))).tolist()}

    def test_conditions_of_friction(self):
        """M (qd+ - qd) / h + bias = tau - f, where f is within its limits, and at the limit against the motion if the
        joint moves."""
        s = self.states(200, 3)
        low, high = self.LIMITS.T
        smooth = low == high
        for integrator in EULER:
            a = self.ask("chain", "step", {**s, **STICK, "step": H, "integrator": integrator})
            after, sticking = np.array(a["qd_after"]), np.array(a["sticking"])
            tau = self.ask("chain", "inverse-dynamics", {"q": s["q"], "qd": s["qd"], "qdd": ((after - s["qd"]) / H).tolist()})["tau"]
            moving = np.array(self.ask("chain", "bias", {"q": s["q"], "qd": s["qd"], "outputs": ["friction"]})["friction"])
            sharp = np.where(np.array(s["qd"]) > 0, high, np.where(np.array(s["qd"]) < 0, low, 0))
            f = np.array(s["tau"]) - np.array(tau) + sharp
            self.assertLess(np.abs(f[:, smooth]).max(), 1e-9)
            self.assertTrue(((f >= low - 1e-9) & (f <= high + 1e-9)).all())
            self.assertTrue((after[sticking == 1] == 0).all())
            slides = (sticking == 0) & ~smooth
            self.assertLess(np.abs(f - np.where(after > 0, high, low))[slides].max(), 1e-9)
            self.assertFalse(sticking[:, smooth].any())
            stopped = (sticking == 1) & (np.array(s["qd"]) != 0)
            self.assertGreater(stopped.sum(), 20)
            self.assertGreater((slides & (np.array(s["qd"]) == 0)).sum(), 20)
            self.assertEqual(moving.shape, f.shape)

    def test_jacobians(self):
        """Compares Jacobians with differences between rows in which the same joints stick; the rows of sticking joints must be zero."""
        several = 0
        s = self.states(12, 4)
        nv = len(self.LIMITS)
        for qd in s["qd"]:
            qd[2] += np.copysign(0.1, qd[2])  # the smoothed friction of this joint has a kink at rest, where differences would be wrong
        for row in range(12):
            x = np.concatenate([s["q"][row], s["qd"][row], s["tau"][row]])
            rows = np.array([x + d * e for e in np.eye(3 * nv) for d in (1e-4, -1e-4, 2e-4, -2e-4)])
            ask = lambda x, **more: self.ask("chain", "step", {"q": x[..., :nv].tolist(), "qd": x[..., nv:2 * nv].tolist(),
                                                               "tau": x[..., 2 * nv:].tolist(), **STICK, "step": H, **more})
            for integrator in EULER:
                a, b = ask(x, integrator=integrator), ask(rows, integrator=integrator, outputs=["q_after", "qd_after", "sticking"])
                if any(other != a["sticking"] for other in b["sticking"]) or (np.abs(x[nv:2 * nv][a["sticking"] == 0]) < 3e-4).any():
                    continue
                moved = np.hstack([b["q_after"], b["qd_after"]]).reshape(3 * nv, 4, 2 * nv)
                expected = ((8 * (moved[:, 0] - moved[:, 1]) - (moved[:, 2] - moved[:, 3])) / 12e-4).T
                got = np.hstack([a["state_matrix"], a["input_matrix"]])
                self.assertClose(got.tolist(), expected.tolist(), 1e-8)
                self.assertFalse(got[nv:][np.array(a["sticking"]) == 1].any())
                several += sum(a["sticking"]) >= 2
        self.assertGreater(several, 5)

    def test_floating_base(self):
        """A floating base is pushed while its joints stick: the matrices are those of a rigid body, except for the rows
        of the joints."""
        s = {"q": [0, 0, 0, 0, 0, 0, 1, 0.3, -0.4], "qd": [0] * 8, "tau": [0] * 8, "gravity": [0, 0, 0], "step": H}
        push = {"wrenches": [{"link": "base", "force": [0.1, 0, 0.2]}]}
        a = self.ask("floating", "step", {**s, **push, **STICK})
        self.assertEqual(a["sticking"], [0] * 6 + [1, 1])
        self.assertEqual(a["qd_after"][6:], [0, 0])
        A, B = np.array(a["state_matrix"]), np.array(a["input_matrix"])
        self.assertFalse(A[14:].any() or B[14:].any() or B[:, 6:].round(15).any())
        self.assertGreater(np.abs(B[8:14, :6]).min(axis=1).max(), 0)
        M = np.array(self.ask("floating", "mass-matrix", {"q": s["q"]})["mass_matrix"])
        # the robot acts as one rigid body
        self.assertClose((H * np.linalg.inv(M[:6, :6])).tolist(), B[8:14, :6].tolist(), 1e-12)

    def test_a_wheel_stops(self):
        a = self.ask("wheel", "rollout", {"q": [0], "qd": [1], "torques": [[0]] * 6, "step": 0.004, **STICK, "outputs": [*MATRICES, "sticking"]})
        self.assertClose(a["qd_after"], [[0.7], [0.4], [0.1], [0], [0], [0]], 1e-12)
        self.assertEqual(a["sticking"], [[0], [0], [0], [1], [1], [1]])
        self.assertEqual(a["q_after"][3], a["q_after"][5])
        self.assertEqual(a["state_matrix"][4], [[1, 0], [0, 0]])
        self.assertEqual(a["input_matrix"][4], [[0], [0]])
        without = self.ask("wheel", "rollout", {"q": [0], "qd": [1], "torques": [[0]] * 6, "step": 0.004})
        self.assertLess(without["qd_after"][3][0], 0)  # without `stick` friction reverses the motion
        self.assertNotIn("sticking", without)

    def test_same_bits(self):
        """A row has the same bits in a request of one row and in a batch; node n of a rollout is the result of `step` from node n - 1."""
        s = self.states(11, 7)
        outputs = [*MATRICES, "sticking", "parameter_matrix"]
        for integrator in EULER:
            settings = {**STICK, "step": H, "integrator": integrator}
            batch = self.ask_texts("chain", "step", {**s, **settings, "outputs": outputs})
            short = self.ask_texts("chain", "step", {**s, **settings, "outputs": ["qd_after"]})
            one = self.ask_texts("chain", "step", {**{k: v[9] for k, v in s.items()}, **settings, "outputs": outputs})
            for name in outputs:
                self.assertEqual(batch[name][9], one[name], name)
            self.assertEqual(short["qd_after"], batch["qd_after"])
            rollout = {"q": s["q"][0], "qd": s["qd"][0], "torques": [s["tau"][0]] * 5, **settings, "outputs": outputs}
            texts, values = self.ask_texts("chain", "rollout", rollout), self.ask("chain", "rollout", rollout)
            step = self.ask_texts("chain", "step", {"q": values["q_after"][3], "qd": values["qd_after"][3], "tau": s["tau"][0], **settings,
                                                    "outputs": outputs})
            for name in outputs:
                self.assertEqual(texts[name][4], step[name], name)
        both = self.ask("chain", "evaluate", {**s, "operations": {"step": {**STICK, "step": H}, "energy": {}}})
        self.assertEqual(both["step"], self.ask("chain", "step", {**s, **STICK, "step": H}))

    def test_problems(self):
        s = {"q": [0.3], "tau": [0], "step": H, **STICK}
        post = lambda request, model="wheel", operation="step": self.client.post(f"/v1/models/{model}/{operation}", request)
        self.assertProblem(post({**s, "friction_at_rest": "glue"}), 422, "/friction_at_rest")
        self.assertProblem(post({**s, "friction": False}), 422, "/friction")
        for more in ({"integrator": "rk4"}, {"integrator": "implicit_euler"}, {"held": [{"frame": "wheel"}], "impact": True}):
            self.assertEqual(self.assertProblem(post({**s, **more}), 422, "/friction_at_rest")["code"], "not-supported")
        self.assertProblem(post({"q": [0.3], "tau": [0], "step": H, "outputs": ["sticking"]}), 422, "/outputs/0")


if __name__ == "__main__":
    tap.main()
