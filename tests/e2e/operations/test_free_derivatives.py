"""Tests derivatives of inverse dynamics with free coordinates: against the implicit equation with the derivatives at
constant accelerations, against differences, and in the limits of no free and only free coordinates."""
import numpy as np
import tap
from harness import ServerCase
from samples import states

MODELS = {"panda": ["panda_joint2", "panda_joint5"], "solo12": "base", "hua": None}
MATRICES = ["dtau_dq", "dtau_dqd", "dtau_dqdd", "dqdd_dq", "dqdd_dqd", "dqdd_dqdd"]
MORE = ["tau", "qdd", "dtau_dwrench", "dtau_dgravity", "dtau_dparameters", "dqdd_dtau",
        "d_joint_wrenches_dq", "d_joint_wrenches_dqd", "d_joint_wrenches_dqdd"]


class FreeDerivatives(ServerCase):
    def request(self, model, seed, rows=1):
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        names, free = about["velocity_names"], MODELS[model]
        if free is None:
            free = names[::2]
        mask = np.array([i < 6 if free == "base" else name in free for i, name in enumerate(names)])
        s = states(rows, len(names), model == "solo12", seed)
        tau = np.array(s["tau"]) * mask
        request = {"q": s["q"], "qd": s["qd"], "qdd": (np.array(s["qdd"]) * ~mask).tolist(), "tau": tau.tolist(), "free": free,
                   "wrenches": [{"link": about["bodies"][-1], "force": [1, 2, -3], "torque": [0.1, 0, 0.2]}]}
        return request, mask

    @staticmethod
    def plain(request):
        """Returns the state without free coordinates."""
        return {name: value for name, value in request.items() if name not in ("free", "tau")}

    def test_implicit_equation(self):
        for model in MODELS:
            request, mask = self.request(model, 3, rows=5)
            F = np.flatnonzero(mask)
            a = {k: np.array(v) for k, v in self.ask(model, "sensitivity", {**request, "outputs": [*MATRICES, *MORE]}).items()}
            motion = self.ask(model, "inverse-dynamics", request)
            self.assertEqual([motion["qdd"], motion["tau"]], [a["qdd"].tolist(), a["tau"].tolist()])
            outputs = [name for name in [*MATRICES, *MORE] if "qdd" not in name[:4]]
            given = self.ask(model, "sensitivity", {**self.plain(request), "qdd": a["qdd"].tolist(), "outputs": outputs})
            p = {k: np.array(v) for k, v in given.items()}
            for row in range(5):
                M = p["dtau_dqdd"][row]
                inverse = np.linalg.inv(M[np.ix_(F, F)])
                chain = lambda by: -inverse @ by[F]
                total = lambda by: np.where(mask[:, None], 0, by + M[:, F] @ chain(by))
                X = {x: chain(p[f"dtau_d{x}"][row]) for x in ("q", "qd", "qdd")}
                X["qdd"][:, F] = 0
                for x, change in X.items():
                    expected = total(p[f"dtau_d{x}"][row])
                    rows = np.zeros_like(M) if x != "qdd" else np.diag((~mask).astype(float))
                    rows[F] = change
                    wrenches = p[f"d_joint_wrenches_d{x}"][row] + p["d_joint_wrenches_dqdd"][row][:, :, F] @ change
                    if x == "qdd":
                        expected[:, F] = wrenches[:, :, F] = 0
                    self.close(a[f"dtau_d{x}"][row], expected, p[f"dtau_d{x}"][row])
                    self.close(a[f"dqdd_d{x}"][row], rows)
                    self.close(a[f"d_joint_wrenches_d{x}"][row], wrenches, p[f"d_joint_wrenches_d{x}"][row])
                for name in ("dtau_dgravity", "dtau_dparameters"):
                    self.close(a[name][row], total(p[name][row]), p[name][row])
                self.close(a["dtau_dwrench"][row][0], total(p["dtau_dwrench"][row][0]), p["dtau_dwrench"][row])
                by_tau = np.zeros_like(M)
                by_tau[np.ix_(F, F)] = inverse
                self.close(a["dqdd_dtau"][row], by_tau)

    def close(self, got, expected, given=0):
        """Compares relative to the largest entry, also of the derivatives at constant accelerations: these may cancel."""
        size = max(np.abs(expected).max(), np.abs(given).max())
        self.assertLess(np.abs(got - expected).max(), 1e-11 * size)

    def test_differences(self):
        """Compares columns with extrapolated differences of inverse-dynamics with the same free coordinates."""
        for model in ("panda", "hua"):
            request, mask = self.request(model, 4)
            one = {k: v[0] if k in ("q", "qd", "qdd", "tau") else v for k, v in request.items()}
            a = self.ask(model, "sensitivity", {**one, "outputs": MATRICES})
            n = len(mask)
            for x, name in (("q", "dq"), ("qd", "dqd"), ("qdd", "dqdd")):
                change = np.kron(np.eye(n) * ~mask if x == "qdd" else np.eye(n), np.array([[1], [-1], [2], [-2]]) * 1e-4)
                rows = {k: np.tile(one[k], (4 * n, 1)) + (change if k == x else 0) for k in ("q", "qd", "qdd", "tau")}
                b = self.ask(model, "inverse-dynamics", {**one, **{k: v.tolist() for k, v in rows.items()}, "outputs": ["tau", "qdd"]})
                for y in ("tau", "qdd"):
                    f = np.array(b[y]).reshape(n, 4, n)
                    expected = ((8 * (f[:, 0] - f[:, 1]) - (f[:, 2] - f[:, 3])) / 12e-4).T
                    self.assertClose(a[f"d{y}_{name}"], expected.tolist(), 1e-8)

    def test_all_free(self):
        """With only free coordinates, the derivatives of the accelerations are those of forward-sensitivity."""
        for model in ("panda", "solo12"):
            request, mask = self.request(model, 5, rows=4)
            names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
            tau = np.random.default_rng(2).normal(size=(4, len(names))).tolist()
            state = {k: request[k] for k in ("q", "qd", "wrenches")}
            a = self.ask(model, "sensitivity", {**state, "tau": tau, "free": names, "outputs": ["dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dtau_dq"]})
            b = self.ask(model, "forward-sensitivity", {**state, "tau": tau})
            for name, value in b.items():
                self.assertClose(a[name], value, 1e-11)
            self.assertFalse(np.any(a["dtau_dq"]))

    def test_torque_derivative(self):
        """tau_dot belongs to the motion with the resulting accelerations and jerks; tau of free coordinates is
        constant."""
        for model in MODELS:
            request, mask = self.request(model, 6, rows=5)
            request["qddd"] = (np.random.default_rng(4).normal(size=(5, len(mask))) * ~mask).tolist()
            outputs = ["tau", "tau_dot", "joint_wrenches", "joint_wrench_rates"]
            a = self.ask(model, "torque-derivative", {**request, "outputs": [*outputs, "qdd", "qddd"]})
            b = self.ask(model, "torque-derivative", {**self.plain(request), "qdd": a["qdd"], "qddd": a["qddd"], "outputs": outputs})
            self.assertFalse(np.array(a["tau_dot"])[:, mask].any())
            self.assertEqual(np.array(a["tau"])[:, mask].tolist(), np.array(request["tau"])[:, mask].tolist())
            self.assertEqual(np.array(a["qddd"])[:, ~mask].tolist(), np.array(request["qddd"])[:, ~mask].tolist())
            for name in outputs:
                self.assertClose(a[name], b[name], 1e-11)
            self.assertEqual(list(self.ask(model, "torque-derivative", request)), ["tau", "tau_dot", "qdd", "qddd"])

    def test_jerk_by_differences(self):
        """Compares qddd with differences of qdd along the motion."""
        request, mask = self.request("panda", 7)
        one = {k: v[0] if k in ("q", "qd", "qdd", "tau") else v for k, v in request.items()}
        jerk = np.random.default_rng(5).normal(size=7) * ~mask
        a = self.ask("panda", "torque-derivative", {**one, "qddd": jerk.tolist()})
        q, qd, qdd, d = (np.array(x) for x in (one["q"], one["qd"], a["qdd"], a["qddd"]))
        t = np.array([1, -1, 2, -2])[:, None] * 1e-4
        rows = {"q": q + qd * t + qdd * t**2 / 2 + d * t**3 / 6, "qd": qd + qdd * t + d * t**2 / 2, "qdd": np.array(one["qdd"]) + jerk * t}
        f = np.array(self.ask("panda", "inverse-dynamics", {**one, **{k: v.tolist() for k, v in rows.items()}, "tau": [one["tau"]] * 4})["qdd"])
        self.assertClose(((8 * (f[0] - f[1]) - (f[2] - f[3])) / 12e-4).tolist(), a["qddd"], 1e-8)

    def test_same_bits_alone(self):
        for model in MODELS:
            request, _ = self.request(model, 8, rows=11)
            for operation, outputs in (("sensitivity", [*MATRICES, *MORE]), ("torque-derivative", ["tau", "tau_dot", "qdd", "qddd"])):
                batch = self.ask_texts(model, operation, {**request, "outputs": outputs})
                one = {k: v[9] if k in ("q", "qd", "qdd", "tau") else v for k, v in request.items()}
                alone = self.ask_texts(model, operation, {**one, "outputs": outputs})
                for name in outputs:
                    self.assertEqual(batch[name][9], alone[name], f"{model} {name}")
                few = self.ask_texts(model, operation, {**request, "outputs": outputs[-1:]})
                self.assertEqual(few[outputs[-1]], batch[outputs[-1]])

    def test_evaluate(self):
        request, _ = self.request("panda", 9, rows=3)
        free = request.pop("free")
        operations = {"sensitivity": {"free": free}, "torque-derivative": {"free": free}, "inverse-dynamics": {"free": free}}
        answer = self.ask("panda", "evaluate", {**request, "operations": operations})
        for operation in operations:
            self.assertEqual(answer[operation], self.ask("panda", operation, {**request, "free": free}), operation)

    def test_problems(self):
        post = lambda operation, more: self.client.post(f"/v1/models/two_link/{operation}", {"q": [0.3, 0.5], **more})
        for operation, output in (("sensitivity", "dqdd_dq"), ("sensitivity", "qdd"), ("torque-derivative", "qddd")):
            self.assertProblem(post(operation, {"outputs": [output]}), 422, "/outputs/0")
            self.assertProblem(post(operation, {"tau": [1, 0]}), 422, "/tau")
            self.assertProblem(post(operation, {"free": ["joint9"]}), 422, "/free/0")
            self.assertProblem(post(operation, {"free": "base"}), 422, "/free")


if __name__ == "__main__":
    tap.main()
