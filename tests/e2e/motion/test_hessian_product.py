"""Tests Hessian-vector products of gradient and forward-gradient, and gradients by the entries of q: products of the matrices
of hessian and forward-hessian, differences of gradients and of values, the same bits in batches, and refusals."""
import cbor2
import numpy as np
import tap
from harness import ServerCase

CBOR = {"Content_Type": "application/cbor", "Accept": "application/json"}
THIRD = {"gradient": "qdd", "forward-gradient": "tau"}
MATRICES = {"gradient": ("hessian", "hessian_q_q", "hessian_q_qd", "hessian_q_qdd", "hessian_qd_qd"),
            "forward-gradient": ("forward-hessian", "hessian_q_q", "hessian_q_qd", "hessian_q_tau", "hessian_qd_qd")}
LOADS = {"panda": {"gravity": [1, -2, -9], "payload": {"link": "panda_link7", "mass": 2, "com": [0, 0, 0.1]}},
         "solo12": {"wrenches": [{"link": "FR_FOOT", "frame": "world", "force": [1, 2, 9], "torque": [0.3, 0, 0.2], "point": [0, 0.1, 0]}]},
         "hua": {}, "prismatic_revolute": {}}
BALL = {"gravity": [0, 0, -9.81], "base": {"type": "fixed", "link": "base"}, "links": [
    {"name": "arm", "parent": "base", "joint": {"name": "ball", "type": "spherical"},
     "inertial": {"mass": 1.5, "com": [0.1, 0.05, 0.3], "inertia": {"xx": 0.1, "yy": 0.12, "zz": 0.05, "xy": 0.01, "xz": 0.02, "yz": 0.005}}}]}


class HessianProduct(ServerCase):
    def state(self, model, operation, seed, rows=None):
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        choose = np.random.default_rng(seed)
        third = THIRD[operation]
        s = {name: choose.uniform(-1, 1, (rows or 1, about["nq" if name == "q" else "nv"])) for name in ("q", "qd", third, "multipliers")}
        if about["nq"] != about["nv"]:
            s["q"][:, 3:7] /= np.linalg.norm(s["q"][:, 3:7], axis=1)[:, None]
        along = {name: choose.normal(size=(2, about["nv"])) for name in ("q", "qd", third)}
        return {name: (x if rows else x[0]).tolist() for name, x in s.items()}, along

    def test_products_are_those_of_matrices_and_directions(self):
        for seed, (model, load) in enumerate(LOADS.items()):
            for operation, third in THIRD.items():
                with self.subTest(model=model, operation=operation):
                    s, along = self.state(model, operation, seed)
                    names = [f"hessian_products_{x}" for x in ("q", "qd", third)]
                    got = self.ask(model, operation, {**s, **load, "directions": {name: x.tolist() for name, x in along.items()}})
                    self.assertEqual(set(got), {f"gradient_{x}" for x in along} | set(names))
                    matrices, *outputs = MATRICES[operation]
                    given = self.ask(model, matrices, {**s, **load, "outputs": outputs})
                    qq, qv, qx, vv = (np.array(given[name]) for name in outputs)
                    q, v, x = along.values()
                    expected = (q @ qq.T + v @ qv.T + x @ qx.T, q @ qv + v @ vv.T, q @ qx)
                    for name, product in zip(names, expected):
                        self.assertLess(abs(np.array(got[name]) - product).max(), 1e-9 * abs(expected[0]).max(), name)

    def test_products_are_differences_of_gradients(self):
        """Compares with central differences of the server's gradients, with steps of 1e-5."""
        h = 1e-5
        for model in ("panda", "hua"):
            for operation, third in THIRD.items():
                s, along = self.state(model, operation, 7)
                got = self.ask(model, operation, {**s, "directions": {name: x.tolist() for name, x in along.items()}})
                for i in range(2):
                    shifted = {name: [(np.array(s[name]) + sign * h * x[i]).tolist() for sign in (1, -1)] for name, x in along.items()}
                    ends = self.ask(model, operation, {**shifted, "multipliers": s["multipliers"]})
                    size = max(abs(np.array(got[f"hessian_products_{name}"][i])).max() for name in along)
                    for name in along:
                        plus, minus = np.array(ends[f"gradient_{name}"])
                        self.assertLess(abs(np.array(got[f"hessian_products_{name}"][i]) - (plus - minus) / (2 * h)).max() / size, 1e-8, (model, name))

    def test_rates_have_the_bits_of_directional(self):
        for operation, other in (("gradient", "directional"), ("forward-gradient", "forward-directional")):
            s, along = self.state("solo12", operation, 3)
            directions = {name: x.tolist() for name, x in along.items()}
            plain = {name: x for name, x in s.items() if name != "multipliers"}
            rates = self.ask("solo12", operation, {**s, "directions": directions, "outputs": ["rates"]})["rates"]
            self.assertEqual(rates, self.ask("solo12", other, {**plain, "directions": directions})["rates"])

    def test_rows_have_the_bits_of_single_requests(self):
        for operation in THIRD:
            s, along = self.state("solo12", operation, 5, 19)
            directions = {name: x.tolist() for name, x in along.items()}
            batch = self.ask("solo12", operation, {**s, "directions": directions})
            for row in (0, 7, 18):
                one = self.ask("solo12", operation, {**{n: x[row] for n, x in s.items()}, "directions": directions})
                for name, value in one.items():
                    self.assertEqual(value, batch[name][row], (operation, name, row))
            reply = self.client.post(f"/v1/models/solo12/{operation}", cbor2.dumps({**s, "directions": directions}), **CBOR)
            self.assertEqual(self.ok(reply), batch)
            both = self.ask("solo12", "evaluate", {**s, "operations": {operation: {"directions": directions}}})
            self.assertEqual(both[operation], batch)

    def entries(self, model, q, request, value):
        """Returns differences of value(q / |q|) by each entry of q, since the server normalises the quaternion."""
        h, n = 1e-6, len(q)
        shifted = np.repeat([q], 2 * n, 0)
        shifted[np.arange(n), np.arange(n)] += h
        shifted[n + np.arange(n), np.arange(n)] -= h
        answer = self.ask(model, *request({"q": shifted.tolist(), "normalise": True}))
        values = value(answer)
        return (values[:n] - values[n:]) / (2 * h)

    def test_gradients_by_entries_differentiate_the_normalised_quaternion(self):
        self.ok(self.client.put("/v1/models/ball", BALL), 201)
        for model, operation, plain, third, output in (("solo12", "gradient", "inverse-dynamics", "qdd", "tau"), ("ball", "gradient", "inverse-dynamics", "qdd", "tau"),
                                                       ("solo12", "forward-gradient", "forward-dynamics", "tau", "qdd")):
            s, _ = self.state_of(model, operation)
            load = LOADS.get(model, {})
            outputs = ["gradient_q", "gradient_q_entries"]
            got = self.ask(model, operation, {**s, **load, "outputs": outputs})
            motion = {name: s[name] for name in ("qd", third)}
            expected = self.entries(model, np.array(s["q"]), lambda q: (plain, {**motion, **load, **q}),
                                    lambda answer: np.array(answer[output]) @ np.array(s["multipliers"]))
            self.assertLess(abs(np.array(got["gradient_q_entries"]) - expected).max(), 1e-7 * abs(expected).max(), (model, operation))
            first = len(s["q"]) - 4 if model == "ball" else 3
            quaternion = slice(first, first + 4)
            self.assertLess(abs(np.dot(s["q"][quaternion], got["gradient_q_entries"][quaternion])), 1e-13 * abs(expected).max())

    def state_of(self, model, operation):
        if model != "ball":
            return self.state(model, operation, 9)
        q = np.array([0.3, -0.5, 0.2, 0.6])
        return {"q": (q / np.linalg.norm(q)).tolist(), "qd": [0.3, -0.2, 0.5], "qdd": [1, 2, -1], "multipliers": [0.7, -0.4, 0.9]}, None

    def test_entries_of_rollouts(self):
        s, _ = self.state("solo12", "forward-gradient", 2)
        s["qd"] = (0.1 * np.array(s["qd"])).tolist()
        motion = {"qd": s["qd"], "torques": [[0] * 6 + [0.3] * 12] * 3, "step": 0.01, "cost": {"final_qd": 1}}
        got = self.ask("solo12", "rollout-gradient", {**motion, "q": s["q"], "outputs": ["gradient_q", "gradient_q_entries"]})
        expected = self.entries("solo12", np.array(s["q"]), lambda q: ("rollout-gradient", {**motion, **q, "outputs": ["cost"]}),
                                lambda answer: np.array(answer["cost"]))
        self.assertLess(abs(np.array(got["gradient_q_entries"]) - expected).max(), 1e-6 * max(abs(expected).max(), 1))

    def test_refusals(self):
        s, along = self.state("panda", "gradient", 2)
        directions = {"directions": {"q": along["q"].tolist()}}
        refuse = lambda operation, request, pointer: self.assertProblem(self.client.post(f"/v1/models/panda/{operation}", request), 422, pointer)
        refuse("gradient", {**s, "outputs": ["hessian_products_q"]}, "/outputs/0")
        refuse("gradient", {**s, "outputs": ["gradient_q", "rates"]}, "/outputs/1")
        refuse("gradient", {**s, **directions, "outputs": ["gradient_q"]}, "/directions")
        refuse("gradient", {**s, "directions": {"tau": along["q"].tolist()}}, "/directions/tau")
        refuse("gradient", {**s, "directions": {}}, "/directions")
        refuse("gradient", {"q": s["q"], "qd": s["qd"], "multipliers": s["multipliers"], "free": ["panda_joint1"], **directions}, "/directions")
        forced, _ = self.state("panda", "forward-gradient", 2)
        refuse("forward-gradient", {**forced, "directions": {"qdd": along["q"].tolist()}}, "/directions/qdd")


if __name__ == "__main__":
    tap.main()
