"""Tests torques for a reference velocity: M qdd_reference + C qd_reference + g with the matrices of other operations,
for trees, a floating base and closed loops; the regressor with the same reference; refusals."""
import numpy as np
import tap
from closed import LOADS, Closed, only

REFERENCE = ("qd_reference", "qdd_reference")


class ReferenceVelocity(Closed):
    def with_reference(self, model, s, seed):
        choose = np.random.default_rng(seed)
        n = len(s["qd"])
        return {**only(s, "q", "qd"), **{name: choose.uniform(-1, 1, n).tolist() for name in REFERENCE}}

    def expected(self, model, s):
        M = np.array(self.ask(model, "mass-matrix", only(s, "q"))["mass_matrix"])
        C = np.array(self.ask(model, "coriolis", only(s, "q", "qd"))["coriolis_matrix"])
        rest = self.ask(model, "bias", {"q": s["q"], "qd": s["qd_reference"], "outputs": ["gravity", "friction"]})
        return M @ s["qdd_reference"] + C @ s["qd_reference"] + rest["gravity"] + rest["friction"]

    def test_matrices(self):
        """Friction is evaluated at qd_reference. Springs do not occur in the bundled trees, so they are not compared."""
        for model in ("panda", "solo12", "puma560"):
            document = self.ok(self.client.get(f"/v1/models/{model}"))
            choose = np.random.default_rng(3)
            q, nv = choose.uniform(-1, 1, document["nq"]), document["nv"]
            if model == "solo12":
                q[3:7] /= np.linalg.norm(q[3:7])
            s = self.with_reference(model, {"q": q.tolist(), "qd": choose.uniform(-2, 2, nv).tolist()}, 4)
            tau = self.ask(model, "inverse-dynamics", s)["tau"]
            self.near(tau, self.expected(model, s), 1e-12, model)

    def test_loops(self):
        for model in self.MODELS:
            s = self.with_reference(model, self.state(model, 51), 52)
            self.near(self.ask(model, "inverse-dynamics", s)["tau"], self.expected(model, s), 1e-10, model)

    def test_own_velocity_is_inverse_dynamics(self):
        for model in self.MODELS:
            s = self.state(model, 53)
            own = {**only(s, "q", "qd"), "qd_reference": s["qd"], "qdd_reference": s["qdd"], **LOADS[model]}
            usual = {**only(s, "q", "qd", "qdd"), **LOADS[model]}
            self.near(self.ask(model, "inverse-dynamics", own)["tau"],
                      self.ask(model, "inverse-dynamics", usual)["tau"], 1e-11, model)

    def test_regressor(self):
        """The regressor's columns of one body are the change of tau by a payload on it."""
        for model, link in (("puma560", "link6"), ("four_bar", "coupler"), ("five_bar", "right2")):
            document = self.ok(self.client.get(f"/v1/models/{model}"))
            link = link if link in document["bodies"] else document["bodies"][-1]
            if model == "puma560":
                s = self.with_reference(model, {"q": [0.1, 0.7, 2.9, 0.2, 0.7, 0.3], "qd": [1, -1, 0.5, 2, -1, 1]}, 5)
            else:
                s = self.with_reference(model, self.state(model, 54), 55)
            mass, com = 0.7, np.array([0.1, -0.2, 0.3])
            own = mass * (com @ com * np.eye(3) - np.outer(com, com))
            p = np.array([mass, *(mass * com), own[0, 0], own[0, 1], own[1, 1], own[0, 2], own[1, 2], own[2, 2]])
            Y = np.array(self.ask(model, "regressor", s)["regressor"])
            first = 10 * document["bodies"].index(link)
            payload = {"payload": {"link": link, "mass": mass, "com": com.tolist()}}
            change = np.subtract(self.ask(model, "inverse-dynamics", {**s, **payload})["tau"],
                                 self.ask(model, "inverse-dynamics", s)["tau"])
            self.near(Y[:, first:first + 10] @ p, change, 1e-9, model)

    def test_batches_and_evaluate(self):
        rows = [self.with_reference("four_bar", self.state("four_bar", seed), seed) for seed in range(5)]
        batch = {name: [row[name] for row in rows] for name in rows[0]}
        together = self.ask("four_bar", "evaluate", {**batch, "operations": {"inverse-dynamics": {}, "regressor": {}}})
        for i, row in enumerate(rows):
            self.assertEqual(together["inverse-dynamics"]["tau"][i], self.ask("four_bar", "inverse-dynamics", row)["tau"])
            self.assertEqual(together["regressor"]["regressor"][i], self.ask("four_bar", "regressor", row)["regressor"])
        # torque-derivative uses qdd, so that evaluate accepts qdd together with qd_reference
        qdd = {"qdd": rows[0]["qdd_reference"]}
        self.ask("four_bar", "evaluate", {**rows[0], **qdd, "operations": {"inverse-dynamics": {}, "torque-derivative": {}}})

    def test_refusals(self):
        s = {"q": [0.1, 0.2], "qd_reference": [1, 1]}
        for change, code, pointer in (
                ({"qdd": [1, 1]}, "unknown-field", "/qdd"),
                ({"free": ["joint2"]}, "bad-value", "/qd_reference"),
                ({"outputs": ["joint_wrenches"]}, "bad-value", "/qd_reference"),
                ({"qd_reference": [1]}, "wrong-shape", "/qd_reference"),
                ({"qdd_reference": [[1, 1], [1, 1], [1]]}, "wrong-shape", "/qdd_reference/2")):
            answer = self.client.post("/v1/models/two_link/inverse-dynamics", {**s, **change})
            problem = self.assertProblem(answer, 422, pointer, 2 if pointer.endswith("/2") else None)
            self.assertEqual(problem["code"], code, problem)
        problem = self.assertProblem(self.client.post("/v1/models/two_link/bias", s), 422, "/qd_reference")
        self.assertEqual(problem["code"], "unknown-field")


if __name__ == "__main__":
    tap.main()
