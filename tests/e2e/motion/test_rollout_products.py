"""Tests Hessian-vector products of rollout-gradient: differences of gradients, symmetry and its defect along the axes of quaternions,
rates of the states, the same bits in batches and encodings, and refusals."""
import cbor2
import numpy as np
import tap
from harness import ServerCase

CBOR = {"Content_Type": "application/cbor", "Accept": "application/json"}
INTEGRATORS = ("explicit_euler", "semi_implicit_euler", "rk4")
PARTS = ("torques", "q", "qd")
BALL = {"gravity": [0, 0, -9.81], "base": {"type": "fixed", "link": "base"}, "links": [
    {"name": "arm", "parent": "base", "joint": {"name": "ball", "type": "spherical"},
     "inertial": {"mass": 1.5, "com": [0.1, 0.05, 0.3], "inertia": {"xx": 0.1, "yy": 0.12, "zz": 0.05, "xy": 0.01, "xz": 0.02, "yz": 0.005}}},
    {"name": "hand", "parent": "arm", "joint": {"name": "wrist", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0, 0, 0.6]}},
     "inertial": {"mass": 0.7, "com": [0.05, 0.02, 0.1], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.015, "xy": 0, "xz": 0.001, "yz": 0}}}]}


def turned(quaternions, w):
    """Returns the product of each quaternion in the rows of r with the quaternion of the rotation vector in w."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    x = w * np.sinc(angle / (2 * np.pi)) / 2
    real = np.cos(angle / 2)
    v, s = quaternions[..., :3], quaternions[..., 3:]
    return np.concatenate([s * x + real * v + np.cross(v, x), s * real - (v * x).sum(-1, keepdims=True)], -1)


def rotated(r, x):
    return x + 2 * np.cross(r[:3], np.cross(r[:3], x) + r[3] * x)


def bracket(a, b):
    """Returns the Lie bracket [a, b] of two twists (v, w)."""
    return np.concatenate([np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:]), np.cross(a[3:], b[3:])])


class RolloutProducts(ServerCase):
    def setUp(self):
        super().setUp()
        self.choose = np.random.default_rng(5)

    def case(self, model, integrator, steps=4, step=0.02):
        """Returns a request with all terms of the cost and two directions."""
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        nq, nv, choose = about["nq"], about["nv"], self.choose
        q = self.positions(model, nq)
        root, rows = choose.normal(size=(2 * nv, 2 * nv)), lambda n, size: choose.normal(size=(n, size)).tolist()
        torques = choose.normal(size=(nv, nv))
        cost = {"q": choose.uniform(0, 2, nv).tolist(), "qd": 0.3, "tau": choose.uniform(0, 0.1, nv).tolist(), "final_q": 3.0,
                "final_qd": choose.uniform(0, 1, nv).tolist(), "state_weights": (root @ root.T / nv).tolist(),
                "tau_weights": (0.1 * torques @ torques.T).tolist(), "final_state_weights": (root.T @ root).tolist(),
                "q_reference": [self.positions(model, nq).tolist() for _ in range(steps)], "qd_reference": rows(1, nv), "tau_reference": rows(steps, nv)}
        request = {"q": q.tolist(), "qd": (0.5 * choose.normal(size=nv)).tolist(), "torques": rows(steps, nv), "step": step,
                   "integrator": integrator, "cost": cost}
        along = {"torques": choose.normal(size=(2, steps, nv)), "q": choose.normal(size=(2, nv)), "qd": choose.normal(size=(2, nv))}
        return request, along

    def positions(self, model, nq):
        q = self.choose.uniform(-1, 1, nq)
        if model != "panda":
            q[self.quaternion(model)] /= np.linalg.norm(q[self.quaternion(model)])
        return q

    def quaternion(self, model):
        return slice(3, 7) if model == "solo12" else slice(0, 4)

    def moved(self, model, q, e):
        """Returns q displaced by each row of e, which has nv entries, on the tangent space."""
        e, to = np.atleast_2d(e), np.repeat([q], len(np.atleast_2d(e)), 0)
        if model == "panda":
            return to + e
        at = self.quaternion(model)
        first = at.start
        if first:
            to[:, :3] += [rotated(q[at], x) for x in e[:, :3]]
        to[:, at] = turned(to[:, at], e[:, first:first + 3])
        to[:, at.stop:] += e[:, first + 3:]
        return to

    def differences(self, model, request, along, i):
        """Richardson's extrapolation of central differences of the gradients along direction i: the error is of order h⁴."""
        h = np.array([1, -1, 0.5, -0.5]) * 2e-5
        rows = {**request, "q": self.moved(model, np.array(request["q"]), np.outer(h, along["q"][i])).tolist(),
                "qd": (np.array(request["qd"]) + np.outer(h, along["qd"][i])).tolist(),
                "torques": (np.array(request["torques"]) + np.multiply.outer(h, along["torques"][i])).tolist(), "normalise": True}
        answer = self.ask(model, "rollout-gradient", rows)
        of = lambda name: np.array(answer[f"gradient_{name}"])
        return {name: (4 * (of(name)[2] - of(name)[3]) - 0.5 * (of(name)[0] - of(name)[1])) / 3 / 2e-5 for name in PARTS}

    def products(self, model, request, along, **more):
        return self.ask(model, "rollout-gradient", {**request, "directions": {n: x.tolist() for n, x in along.items()}, **more})

    def models(self):
        self.assertIn(self.client.put("/v1/models/ball", BALL).status, (200, 201))
        return "panda", "solo12", "ball"

    def test_products_are_differences_of_gradients(self):
        for model in self.models():
            for integrator in INTEGRATORS:
                request, along = self.case(model, integrator)
                got = self.products(model, request, along)
                plain = self.ask(model, "rollout-gradient", request)
                self.assertEqual({n: got[n] for n in plain}, plain)       # directions change no bit of the gradient
                self.assertEqual(set(got) - set(plain), {f"hessian_products_{n}" for n in PARTS})
                for i in range(2):
                    expected = self.differences(model, request, along, i)
                    size = max(abs(x).max() for x in expected.values())
                    for name in PARTS:
                        error = abs(np.array(got[f"hessian_products_{name}"][i]) - expected[name]).max() / size
                        self.assertLess(error, 1e-8, (model, integrator, name))

    def test_products_of_long_steps(self):
        """Joints with quaternions rotate by more than one radian in a step, where the kernels use closed forms instead of series."""
        self.models()
        for integrator in INTEGRATORS:
            request, along = self.case("ball", integrator, 2, 0.3)
            request["qd"] = [4, -3, 2, 1]
            got = self.products("ball", request, along)
            expected = self.differences("ball", request, along, 1)
            size = max(abs(x).max() for x in expected.values())
            for name in PARTS:
                self.assertLess(abs(np.array(got[f"hessian_products_{name}"][1]) - expected[name]).max() / size, 1e-6, (integrator, name))

    def twists(self, model, x):
        """Returns the entries of x along the axes of the joint with a quaternion."""
        return x[:6] if model == "solo12" else np.concatenate([np.zeros(3), x[:3]])

    def test_products_are_symmetric_but_for_brackets(self):
        """<a, H b> - <b, H a> = <g, [b, a]>, which is zero without quaternions. If only the last state has multipliers λ, the scalar is <λ, x>
        along axes that rotate with the body: minus <λ, [b+, a+]> with the rates of the last state (Maurer-Cartan)."""
        for model in self.models():
            for integrator in INTEGRATORS:
                request, along = self.case(model, integrator)
                nv = len(along["q"][0])
                multipliers = self.choose.normal(size=(1, nv))
                forced = {n: x for n, x in request.items() if n != "cost"} | {"multipliers_q": multipliers.tolist()}
                for given, at_end in ((request, 0), (forced, 1)):
                    got = self.products(model, given, along, outputs=["gradient_q", *(f"hessian_products_{n}" for n in PARTS), "rates_q"])
                    pair = lambda i, j: sum((along[n][i] * np.array(got[f"hessian_products_{n}"][j])).sum() for n in PARTS)
                    size = max(abs(along[n][i] * np.array(got[f"hessian_products_{n}"][1 - i])).sum() for n in PARTS for i in range(2))
                    defect = 0
                    if model != "panda":
                        of = lambda x: self.twists(model, np.array(x))
                        defect = of(got["gradient_q"]) @ bracket(of(along["q"][1]), of(along["q"][0]))
                        rates = np.array(got["rates_q"])[:, -1]
                        defect -= at_end * of(multipliers[0]) @ bracket(of(rates[1]), of(rates[0]))
                    self.assertLess(abs(pair(0, 1) - pair(1, 0) - defect), 1e-12 * max(size, abs(defect)), (model, integrator, at_end))

    def test_rates_of_the_states_are_products_of_the_matrices_of_rollout(self):
        for model in self.models():
            for integrator in INTEGRATORS:
                request, along = self.case(model, integrator)
                motion = {n: request[n] for n in ("q", "qd", "torques", "step", "integrator")}
                nodes = self.ask(model, "rollout", {**motion, "outputs": ["state_matrix", "input_matrix"]})
                got = self.products(model, request, along, outputs=["rates_q", "rates_qd"])
                self.assertEqual(set(got), {"rates_q", "rates_qd"})
                for i in range(2):
                    x = np.concatenate([along["q"][i], along["qd"][i]])
                    for n, (A, B) in enumerate(zip(nodes["state_matrix"], nodes["input_matrix"])):
                        x = np.array(A) @ x + np.array(B) @ along["torques"][i][n]
                        rates = np.concatenate([got["rates_q"][i][n], got["rates_qd"][i][n]])
                        self.assertLess(abs(rates - x).max(), 1e-11 * abs(x).max(), (model, integrator))

    def test_rows_have_the_bits_of_single_requests(self):
        rows, steps, choose = 11, 3, self.choose
        one, _ = self.case("solo12", "rk4", steps)
        q = [self.positions("solo12", 19).tolist() for _ in range(rows)]
        torques = choose.normal(size=(rows, steps, 18)).tolist()
        matrices = choose.normal(size=(rows, 36, 36))
        cost = {"state_weights": (matrices @ matrices.transpose(0, 2, 1)).tolist(), "q_reference": one["cost"]["q_reference"]}
        directions = {"torques": choose.normal(size=(rows, 2, steps, 18)).tolist(), "q": choose.normal(size=(rows, 2, 18)).tolist(),
                      "qd": choose.normal(size=(2, 18)).tolist()}
        common = {"qd": one["qd"], "step": 0.005, "integrator": "rk4"}
        batch_request = {**common, "q": q, "torques": torques, "cost": cost, "directions": directions}
        batch = self.ask("solo12", "rollout-gradient", batch_request)
        for row in (0, 5, 10):
            single = {**common, "q": q[row], "torques": torques[row], "cost": {**cost, "state_weights": cost["state_weights"][row]},
                      "directions": {"torques": directions["torques"][row], "q": directions["q"][row], "qd": directions["qd"]}}
            for name, value in self.ask("solo12", "rollout-gradient", single).items():
                self.assertEqual(value, batch[name][row], (name, row))
        reply = self.client.post("/v1/models/solo12/rollout-gradient", cbor2.dumps(batch_request), **CBOR)
        self.assertEqual(self.ok(reply), batch)

    def test_joints_of_the_request_order_directions_and_matrices(self):
        request, along = self.case("panda", "semi_implicit_euler", 3)
        about = self.ok(self.client.get("/v1/models/panda"))
        got = self.products("panda", request, along)
        order = [3, 0, 6, 2, 5, 1, 4]
        both = [*order, *(7 + i for i in order)]
        cost, turn = dict(request["cost"]), lambda x: np.array(x)[..., order].tolist()
        for name in ("q", "tau", "final_qd", "q_reference", "qd_reference", "tau_reference"):
            cost[name] = turn(cost[name])
        for name in ("state_weights", "final_state_weights"):
            cost[name] = np.array(cost[name])[np.ix_(both, both)].tolist()
        cost["tau_weights"] = np.array(cost["tau_weights"])[np.ix_(order, order)].tolist()
        ordered = {**request, **{n: turn(request[n]) for n in ("q", "qd", "torques")}, "cost": cost, "joints": [about["velocity_names"][i] for i in order]}
        other = self.products("panda", ordered, {n: x[..., order] for n, x in along.items()})
        for name in got:
            x = np.array(got[name]) if name == "cost" else np.array(got[name])[..., order]
            self.assertLess(abs(np.array(other[name]) - x).max(), 1e-13 * abs(x).max(), name)

    def test_refusals(self):
        request, along = self.case("panda", "rk4", 3)
        q = along["q"].tolist()
        refuse = lambda r, pointer: self.assertProblem(self.client.post("/v1/models/panda/rollout-gradient", r), 422, pointer)
        refuse({**request, "outputs": ["hessian_products_q"]}, "/outputs/0")
        refuse({**request, "outputs": ["gradient_q", "rates_qd"]}, "/outputs/1")
        refuse({**request, "directions": {"q": q}, "outputs": ["gradient_q"]}, "/directions")
        refuse({**request, "directions": {}}, "/directions")
        refuse({**request, "directions": {"parameters": q}}, "/directions/parameters")
        refuse({**request, "directions": {"q": q, "qd": q[:1]}}, "/directions/qd")
        refuse({**request, "directions": {"q": q, "torques": along["torques"][:, :2].tolist()}}, "/directions/torques/0")
        refuse({**request, "directions": {"torques": q}}, "/directions/torques/0/0")
        refuse({**request, "directions": {"torques": []}}, "/directions/torques")
        problem = refuse({**request, "integrator": "implicit_euler", "directions": {"q": q}}, "/directions")
        self.assertIn("semi_implicit_euler", problem["detail"])


if __name__ == "__main__":
    tap.main()
