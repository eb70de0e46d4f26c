"""Tests rollout-gradient: products of the matrices of rollout, a cost by differences, batches, and refusals."""
import numpy as np
import tap
from harness import ServerCase

INTEGRATORS = ("explicit_euler", "semi_implicit_euler", "rk4", "implicit_euler")


def start(about, choose, rows=None):
    q = choose.uniform(-1, 1, (rows or 1, about["nq"]))
    if about["nq"] != about["nv"]:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    return (q if rows else q[0]).tolist()


class RolloutGradient(ServerCase):
    def test_gradients_are_products_of_the_matrices_of_rollout(self):
        """Compares the gradients for multipliers of q at every node and of qd at the last node. Gradients by wrenches and parameters are
        compared likewise."""
        choose, steps = np.random.default_rng(1), 4
        for model in ("panda", "solo12"):
            about = self.ok(self.client.get(f"/v1/models/{model}"))
            nv, link = about["nv"], about["bodies"][-1]
            for integrator in INTEGRATORS:
                request = {"q": start(about, choose), "qd": choose.normal(size=nv).tolist(), "torques": choose.normal(size=(steps, nv)).tolist(),
                           "step": 0.002, "integrator": integrator, "wrenches": [{"link": link, "force": [1, -2, 3], "point": [0.1, 0, 0]}]}
                by_q, by_qd = choose.normal(size=(steps, nv)), choose.normal(size=(1, nv))
                outputs = ["gradient_torques", "gradient_q", "gradient_qd", "gradient_parameters", "gradient_wrenches", "q_after", "qd_after"]
                got = self.ask(model, "rollout-gradient", {**request, "multipliers_q": by_q.tolist(), "multipliers_qd": by_qd.tolist(), "outputs": outputs})
                nodes = self.ask(model, "rollout", {**request, "outputs": ["q_after", "qd_after", "state_matrix", "input_matrix", "wrench_matrix",
                                                                           "parameter_matrix"]})
                self.assertEqual((got["q_after"], got["qd_after"]), (nodes["q_after"][-1], nodes["qd_after"][-1]))
                by_x, torques, wrench, parameters = np.zeros(2 * nv), [], 0, 0
                by_x[nv:] = by_qd[0]
                for n in reversed(range(steps)):
                    by_x[:nv] += by_q[n]
                    torques.insert(0, by_x @ np.array(nodes["input_matrix"][n]))
                    wrench = wrench + by_x @ np.array(nodes["wrench_matrix"][n][0])
                    parameters = parameters + by_x @ np.array(nodes["parameter_matrix"][n])
                    by_x = by_x @ np.array(nodes["state_matrix"][n])
                for name, value, expected in (("torques", got["gradient_torques"], torques), ("x", got["gradient_q"] + got["gradient_qd"], by_x),
                                              ("wrench", got["gradient_wrenches"][0], wrench), ("parameters", got["gradient_parameters"], parameters)):
                    error = abs(np.array(value) - np.array(expected)).max() / abs(np.array(expected)).max()
                    self.assertLess(error, 1e-11, (model, integrator, name))

    def test_the_gradient_of_a_cost_is_its_difference(self):
        choose, steps = np.random.default_rng(2), 3
        cost = {"q": choose.uniform(0, 2, 7).tolist(), "qd": 0.3, "tau": 0.01, "final_q": 5, "final_qd": choose.uniform(0, 1, 7).tolist(),
                "q_reference": choose.normal(size=(steps, 7)).tolist(), "tau_reference": choose.normal(size=(1, 7)).tolist()}
        request = {"q": choose.normal(size=7).tolist(), "torques": choose.normal(size=(steps, 7)).tolist(), "step": 0.01, "cost": cost}
        answer = self.ask("panda", "rollout-gradient", request)
        direction, h = choose.normal(size=(steps, 7)), 1e-4
        moved = [{**request, "torques": (np.array(request["torques"]) + s * h * direction).tolist(), "outputs": ["cost"]} for s in (1, -1)]
        plus, minus = (self.ask("panda", "rollout-gradient", r)["cost"] for r in moved)
        slope = float((np.array(answer["gradient_torques"]) * direction).sum())
        self.assertLess(abs((plus - minus) / (2 * h) - slope), 1e-7 * abs(slope))
        # the cost of the states that rollout answers
        nodes = self.ask("panda", "rollout", {n: request[n] for n in ("q", "torques", "step")} | {"outputs": ["q_after", "qd_after"]})
        q, qd, tau = (np.array(x) for x in (nodes["q_after"], nodes["qd_after"], request["torques"]))
        away = q - np.array(cost["q_reference"])
        value = 0.5 * ((np.array(cost["q"]) * away**2).sum() + 0.3 * (qd**2).sum() + 0.01 * ((tau - np.array(cost["tau_reference"]))**2).sum()
                       + 5 * (away[-1]**2).sum() + (np.array(cost["final_qd"]) * qd[-1]**2).sum())
        self.assertLess(abs(answer["cost"] - value), 1e-13 * value)

    def test_the_gradient_of_a_cost_of_rotations_is_its_difference(self):
        """Floating base: weights of the difference on the tangent space, at every node and at the end."""
        choose, steps = np.random.default_rng(6), 3
        about = self.ok(self.client.get("/v1/models/solo12"))
        cost = {"q": choose.uniform(0, 2, 18).tolist(), "final_q": choose.uniform(0, 2, 18).tolist(), "q_reference": start(about, choose, steps)}
        request = {"q": start(about, choose), "qd": choose.normal(size=18).tolist(), "torques": choose.normal(size=(steps, 18)).tolist(),
                   "step": 0.01, "cost": cost}
        answer = self.ask("solo12", "rollout-gradient", request)
        direction, h = choose.normal(size=(steps, 18)), 1e-4
        moved = [{**request, "torques": (np.array(request["torques"]) + s * h * direction).tolist(), "outputs": ["cost"]} for s in (1, -1)]
        plus, minus = (self.ask("solo12", "rollout-gradient", r)["cost"] for r in moved)
        slope = float((np.array(answer["gradient_torques"]) * direction).sum())
        self.assertLess(abs((plus - minus) / (2 * h) - slope), 1e-6 * abs(slope))
        # the reference is the same pose by default and with the opposite sign of its quaternion, which is the same rotation
        home = [[0] * 6 + [-1] + [0] * 12]
        plain, other = ({**request, "cost": {"q": 1, **more}} for more in ({}, {"q_reference": home}))
        self.assertEqual(self.ask("solo12", "rollout-gradient", plain), self.ask("solo12", "rollout-gradient", other))

    def test_rows_have_the_bits_of_single_requests(self):
        choose = np.random.default_rng(3)
        about = self.ok(self.client.get("/v1/models/solo12"))
        q, torques = start(about, choose, 11), choose.normal(size=(11, 3, 18)).tolist()
        weights = choose.uniform(0, 1, (11, 18)).tolist()
        one = lambda r: {"q": q[r], "torques": torques[r], "step": 0.005, "integrator": "rk4", "cost": {"qd": weights[r]}}
        batch = self.ask("solo12", "rollout-gradient", {"q": q, "torques": torques, "step": 0.005, "integrator": "rk4", "cost": {"qd": weights}})
        for row in (0, 5, 10):
            for name, value in self.ask("solo12", "rollout-gradient", one(row)).items():
                self.assertEqual(value, batch[name][row], name)

    def test_refusals_name_the_field(self):
        request = {"q": [0] * 7, "torques": [[0] * 7] * 3, "step": 0.01}
        refuse = lambda model, r, pointer: self.assertProblem(self.client.post(f"/v1/models/{model}/rollout-gradient", r), 422, pointer)
        refuse("panda", request, None)
        refuse("panda", {**request, "cost": {}}, "/cost")
        refuse("panda", {**request, "cost": {"q": 1, "tau_reference": [[0] * 7]}}, "/cost/tau_reference")
        refuse("panda", {**request, "cost": {"q": 1, "q_reference": [[0] * 7] * 2}}, "/cost/q_reference")
        refuse("panda", {**request, "cost": {"q": 1, "distance": 2}}, "/cost/distance")
        refuse("panda", {**request, "multipliers_q": [[1] * 7] * 2}, "/multipliers_q")
        refuse("panda", {**request, "multipliers_q": [[1] * 7], "outputs": ["cost"]}, "/outputs/0")
        refuse("panda", {**request, "multipliers_q": [[1] * 7], "held": []}, "/held")
        floating = {"q": [0, 0, 0, 0, 0, 0, 1] + [0] * 12, "torques": [[0] * 18], "step": 0.01}
        turned = [[0, 0, 0, 0, 0.6, 0, 0.8] + [0] * 12]
        problem = refuse("solo12", {**floating, "cost": {"final_q": 1, "q_reference": [[0] * 18]}}, "/cost/q_reference")    # no quaternion
        self.assertEqual(problem["code"], "wrong-shape")
        refuse("solo12", {**floating, "cost": {"final_q": 1, "q_reference": [[0] * 20]}}, "/cost/q_reference/0")
        problem = refuse("solo12", {**floating, "cost": {"final_q": 1, "q_reference": (2 * np.array(turned)).tolist()}}, "/cost/q_reference")
        self.assertEqual(problem["code"], "bad-quaternion")
        self.ask("solo12", "rollout-gradient", {**floating, "cost": {"final_q": 1, "q_reference": turned}})
        self.ask("solo12", "rollout-gradient", {**floating, "cost": {"final_q": [0] * 6 + [1] * 12, "q_reference": [[0.1] * 18]}})
        # below only the last row has a nonzero weight of a rotation
        rows = {**floating, "q": [floating["q"]] * 3, "torques": [floating["torques"]] * 3}
        weights = np.array([[0] * 6 + [1] * 12] * 3)
        for term in ("q", "final_q"):
            self.ask("solo12", "rollout-gradient", {**rows, "cost": {term: weights.tolist(), "q_reference": [[0.1] * 18]}})
            last = weights + np.outer([0, 0, 1], [0] * 5 + [0.2] + [0] * 12)
            problem = refuse("solo12", {**rows, "cost": {term: last.tolist(), "q_reference": [[0.1] * 18]}}, "/cost/q_reference")
            self.assertEqual(problem["code"], "wrong-shape")


if __name__ == "__main__":
    tap.main()
