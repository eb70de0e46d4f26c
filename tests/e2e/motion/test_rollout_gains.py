"""Tests the backward pass of rollout: gains against a Riccati recursion written here and against SciPy's Riccati equation, costs, damping,
batches, feedback, and refusals."""
import numpy as np
import tap
from harness import ServerCase
from scipy.linalg import expm, solve_discrete_are

OUTPUTS = ["q_after", "qd_after", "state_matrix", "input_matrix", "gains", "feed_forward", "value_gradient", "value_hessian",
           "expected_changes", "damping", "costs", "tau"]


def start(about, choose, rows=None):
    q = choose.uniform(-1, 1, (rows or 1, about["nq"]))
    if about["nq"] != about["nv"]:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    return (q if rows else q[0]).tolist()


def recursion(A, B, Q, R, by_x, by_u, damping, driven):
    """Runs the backward pass over the nodes; the cost of a state is added after its step. Returns (K, k, V_x, V_xx, changes) of every node."""
    nx, nv = A.shape[1], B.shape[2]
    V_x, V_xx, nodes = np.zeros(nx), np.zeros((nx, nx)), []
    for n in reversed(range(len(A))):
        V_x, V_xx, b = V_x + by_x[n], V_xx + Q[n], B[n][:, driven]
        Q_x, Q_u = A[n].T @ V_x, by_u[n][driven] + b.T @ V_x
        of_torques = np.diag(R[driven]) if R.ndim == 1 else R[np.ix_(driven, driven)]
        Q_xx, Q_ux, Q_uu = A[n].T @ V_xx @ A[n], b.T @ V_xx @ A[n], of_torques + b.T @ V_xx @ b
        inverse = np.linalg.inv(Q_uu + damping * np.eye(len(driven)))
        K, k = np.zeros((nv, nx)), np.zeros(nv)
        K[driven], k[driven] = -inverse @ Q_ux, -inverse @ Q_u
        low, short = K[driven], k[driven]
        V_x = Q_x + low.T @ Q_uu @ short + low.T @ Q_u + Q_ux.T @ short
        V_xx = Q_xx + low.T @ Q_uu @ low + low.T @ Q_ux + Q_ux.T @ low
        nodes.insert(0, (K, k, V_x, V_xx, [short @ Q_u, 0.5 * short @ Q_uu @ short]))
    return [np.array(column) for column in zip(*nodes)]


class RolloutGains(ServerCase):
    def assertNear(self, got, expected, tolerance, *about):
        error = abs(np.array(got) - np.array(expected)).max() / max(abs(np.array(expected)).max(), 1e-300)
        self.assertLess(error, tolerance, about)

    def request(self, model, choose, steps, **more):
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        nv = about["nv"]
        return about, {"q": start(about, choose), "qd": choose.normal(size=nv).tolist(), "step": 0.01, "outputs": OUTPUTS,
                       "torques": choose.normal(size=(steps, nv)).tolist(), **more}

    def test_gains_are_those_of_a_riccati_recursion(self):
        """Compares the backward pass for a cost with a reference at every node, a weight for each coordinate, and damping."""
        choose, steps = np.random.default_rng(1), 5
        for model, integrator in (("two_link", "rk4"), ("panda", "semi_implicit_euler"), ("panda", "implicit_euler")):
            about, request = self.request(model, choose, steps, integrator=integrator, damping=0.07)
            nv = about["nv"]
            w = {n: choose.uniform(0.1, 3, nv) for n in ("q", "qd", "tau", "final_q", "final_qd")}
            r = {n: choose.normal(size=(steps, nv)) for n in ("q_reference", "qd_reference", "tau_reference")}
            request["cost"] = {n: x.tolist() for n, x in (w | r).items()}
            got = {n: np.array(x) for n, x in self.ask(model, "rollout", request).items()}
            last, tau = np.arange(steps)[:, None] == steps - 1, np.array(request["torques"])
            weights = np.hstack([w["q"] + last * w["final_q"], w["qd"] + last * w["final_qd"]])
            away = np.hstack([got["q_after"] - r["q_reference"], got["qd_after"] - r["qd_reference"]])
            by_u = w["tau"] * (tau - r["tau_reference"])
            expected = recursion(got["state_matrix"], got["input_matrix"], [np.diag(x) for x in weights], w["tau"], weights * away,
                                 by_u, 0.07, list(range(nv)))
            for name, value in zip(("gains", "feed_forward", "value_gradient", "value_hessian", "expected_changes"), expected):
                self.assertNear(got[name], value, 1e-10, model, name)
            self.assertNear(got["costs"], 0.5 * ((weights * away**2).sum(1) + (by_u * (tau - r["tau_reference"])).sum(1)), 1e-14)
            self.assertEqual(set(got["damping"]), {0.07})

    def test_matrices_of_weights_beside_weights_of_coordinates(self):
        """Q of the state with products of q and qd, R of the torques; on the tangent space of a floating base JᵀQJ."""
        choose, steps = np.random.default_rng(11), 4
        for model, integrator in (("two_link", "rk4"), ("panda", "semi_implicit_euler"), ("solo12", "rk4")):
            about, request = self.request(model, choose, steps, integrator=integrator, damping=0.03)
            nv = about["nv"]
            square = lambda n: (lambda x: x @ x.T / n)(choose.normal(size=(n, n)))
            Q, Q_end, R, w = square(2 * nv), square(2 * nv), square(nv) + 0.1 * np.eye(nv), choose.uniform(0.1, 3, (2, nv))
            reference = np.array(start(about, choose, steps))
            request["cost"] = {"state_weights": Q.tolist(), "final_state_weights": Q_end.tolist(), "tau_weights": R.tolist(),
                               "qd": w[0].tolist(), "tau": w[1].tolist(), "q_reference": reference.tolist()}
            got = {n: np.array(x) for n, x in self.ask(model, "rollout", request).items()}
            dx = [x - r for r, x in zip(reference, got["q_after"])] if model != "solo12" else [change(*pair) for pair in zip(reference, got["q_after"])]
            J = [np.eye(2 * nv) for _ in range(steps)]
            for x, j in zip(dx, J):
                if model == "solo12":
                    j[:nv, :nv] = derivative(x)
            dx = [np.concatenate([x, v]) for x, v in zip(dx, got["qd_after"])]
            of_node = [Q + (n == steps - 1) * Q_end + np.diag(np.r_[np.zeros(nv), w[0]]) for n in range(steps)]
            tau, both = np.array(request["torques"]), R + np.diag(w[1])
            expected = recursion(got["state_matrix"], got["input_matrix"], [j.T @ x @ j for j, x in zip(J, of_node)], both,
                                 [j.T @ x @ d for j, x, d in zip(J, of_node, dx)], tau @ both, 0.03, list(range(nv)))
            for name, value in zip(("gains", "feed_forward", "value_gradient", "value_hessian", "expected_changes"), expected):
                self.assertNear(got[name], value, 1e-9, model, name)
            self.assertNear(got["costs"], [0.5 * (d @ x @ d + u @ both @ u) for d, x, u in zip(dx, of_node, tau)], 1e-13, model)

    def test_diagonal_matrices_are_weights(self):
        choose, steps = np.random.default_rng(12), 3
        _, request = self.request("panda", choose, steps)
        w = choose.uniform(0.1, 2, (3, 7))
        request["outputs"] = ["gains", "feed_forward", "costs"]
        plain = self.ask("panda", "rollout", {**request, "cost": {"q": w[0].tolist(), "qd": w[1].tolist(), "tau": w[2].tolist()}})
        other = self.ask("panda", "rollout", {**request, "cost": {"state_weights": np.diag(w[:2].ravel()).tolist(), "tau_weights": np.diag(w[2]).tolist()}})
        for name, value in plain.items():
            self.assertNear(other[name], value, 1e-14, name)

    def test_refusals_of_matrices(self):
        choose = np.random.default_rng(13)
        _, request = self.request("two_link", choose, 2)
        refuse = lambda cost, pointer, code: self.assertEqual(self.assertProblem(self.client.post("/v1/models/two_link/rollout", {**request, "cost": cost}), 422, pointer)["code"], code)
        refuse({"state_weights": np.eye(2).tolist()}, "/cost/state_weights/0", "wrong-shape")
        refuse({"state_weights": np.eye(4)[:3].tolist()}, "/cost/state_weights", "wrong-shape")
        refuse({"tau_weights": [[1, 0.1], [0, 1]]}, "/cost/tau_weights", "bad-value")
        refuse({"tau_weights": [1, 2]}, "/cost/tau_weights/0", "wrong-type")
        refuse({"tau_weights": [[1, 0], [0, 1]], "q_reference": [[1, 0]]}, "/cost/q_reference", "unknown-field")
        about, floating = self.request("solo12", choose, 2)
        matrix = np.zeros((36, 36))
        matrix[3, 3] = 1
        for name in ("state_weights", "final_state_weights"):
            problem = self.assertProblem(self.client.post("/v1/models/solo12/rollout", {**floating, "cost": {name: matrix.tolist(), "q_reference": [[0] * 18]}}), 422, "/cost/q_reference")
            self.assertEqual(problem["code"], "wrong-shape")
            self.ask("solo12", "rollout", {**floating, "cost": {name: matrix.tolist(), "tau": 1, "q_reference": [floating["q"]]}})

    def test_gains_of_a_pendulum_at_rest_are_stationary(self):
        """Far from the end the gains at an equilibrium solve the discrete algebraic Riccati equation."""
        nv, steps = 2, 400
        request = {"q": [-np.pi / 2, 0], "step": 0.02, "torques": np.zeros((steps, nv)).tolist(), "outputs": OUTPUTS,
                   "cost": {"q": [1, 2], "qd": [0.3, 0.1], "tau": [0.5, 0.2], "q_reference": [[-np.pi / 2, 0]]}}
        got = self.ask("two_link", "rollout", request)
        A, B = np.array(got["state_matrix"][0]), np.array(got["input_matrix"][0])
        Q, R = np.diag([1, 2, 0.3, 0.1]), np.diag([0.5, 0.2])
        P = solve_discrete_are(A, B, Q, R)
        self.assertNear(got["gains"][0], -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), 1e-10)
        self.assertNear(got["value_hessian"][0], P - Q, 1e-10)    # the value at a node, without the cost Q of the node's own state

    def test_free_coordinates_have_no_gains_on_a_manifold(self):
        """The base of a quadruped has no motors: its state is the tangent, with held feet and without."""
        choose, steps, nv = np.random.default_rng(2), 3, 18
        for more in ({}, {"held": [{"frame": "FL_FOOT", "axes": ["x", "y", "z"]}]}):
            _, request = self.request("solo12", choose, steps, free="base", **more)
            request["cost"] = {"qd": 2, "tau": 0.1, "final_q": [0] * 6 + [3] * 12, "final_qd": 1}
            request["torques"] = np.hstack([np.zeros((steps, 6)), choose.normal(size=(steps, 12))]).tolist()
            got = {n: np.array(x) for n, x in self.ask("solo12", "rollout", request).items()}
            weights = np.zeros((steps, 36))
            weights[:, 18:] = 2
            weights[-1] += np.repeat([0, 3, 1], [6, 12, 18])
            away = np.hstack([np.zeros((steps, 6)), got["q_after"][:, 7:], got["qd_after"]])
            expected = recursion(got["state_matrix"], got["input_matrix"], [np.diag(x) for x in weights], np.full(nv, 0.1), weights * away,
                                 0.1 * np.array(request["torques"]), 0, list(range(6, nv)))
            for name, value in zip(("gains", "feed_forward", "value_gradient", "value_hessian", "expected_changes"), expected):
                self.assertNear(got[name], value, 1e-10, name)
            self.assertFalse(got["gains"][:, :6].any() or got["feed_forward"][:, :6].any())

    def test_weights_of_a_floating_base_are_those_of_its_tangent(self):
        """The difference of a rotation is log(R_ref^T R); its derivative gives the gradient and a Gauss-Newton Hessian."""
        choose, steps, nv = np.random.default_rng(8), 3, 18
        about, request = self.request("solo12", choose, steps, free="base")
        w, reference = choose.uniform(0.5, 2, nv), np.array(start(about, choose, steps))
        request["cost"] = {"q": w.tolist(), "q_reference": reference.tolist(), "tau": 0.1}
        got = {n: np.array(x) for n, x in self.ask("solo12", "rollout", request).items()}
        dx = [change(*pair) for pair in zip(reference, got["q_after"])]
        J = [derivative(x) for x in dx]
        by_x = [np.concatenate([j.T @ (w * x), np.zeros(nv)]) for j, x in zip(J, dx)]
        Q = [np.pad(j.T @ np.diag(w) @ j, (0, nv)) for j in J]
        tau = np.array(request["torques"])
        expected = recursion(got["state_matrix"], got["input_matrix"], Q, np.full(nv, 0.1), by_x, 0.1 * tau, 0, list(range(6, nv)))
        for name, value in zip(("gains", "feed_forward", "value_gradient", "value_hessian"), expected):
            self.assertNear(got[name], value, 1e-9, name)
        self.assertNear(got["costs"], [0.5 * (w @ x**2 + 0.1 * u @ u) for x, u in zip(dx, tau)], 1e-12)

    def test_feedback_adds_the_gains_times_the_change_on_the_tangent(self):
        """A rollout with feedback from another start: tau and the states must be those of a client that computes the feedback and calls
        `step`."""
        choose, steps = np.random.default_rng(3), 4
        about, request = self.request("solo12", choose, steps)
        gains = 0.1 * choose.normal(size=(steps, 18, 36))
        request["torques"] = (0.1 * np.array(request["torques"])).tolist()
        reference = {"q": start(about, choose, steps), "qd": choose.normal(size=(steps, 18)).tolist()}
        request |= {"feedback": {"gains": gains.tolist(), **reference}, "outputs": ["q_after", "qd_after", "tau"]}
        got = self.ask("solo12", "rollout", request)
        q, qd = np.array(request["q"]), np.array(request["qd"])
        for n in range(steps):
            dx = np.concatenate([change(np.array(reference["q"][n]), q), qd - reference["qd"][n]])
            self.assertNear(got["tau"][n], request["torques"][n] + gains[n] @ dx, 1e-12, n)
            q, qd = np.array(got["q_after"][n]), np.array(got["qd_after"][n])
        open_loop = {**{n: request[n] for n in ("q", "qd", "step")}, "torques": got["tau"], "outputs": ["q_after", "qd_after", "tau"]}
        self.assertEqual(self.ask("solo12", "rollout", open_loop), got)

    def test_rows_have_the_same_bits_alone_and_in_every_encoding(self):
        choose, steps, rows = np.random.default_rng(4), 3, 11
        about, request = self.request("solo12", choose, steps, free="base", damping=1e-3)
        q, torques, weights = start(about, choose, rows), choose.normal(size=(rows, steps, 18)), choose.uniform(0.1, 1, (rows, 18))
        request |= {"q": q, "torques": torques.tolist(), "cost": {"qd": weights.tolist(), "tau": 0.2}}
        batch = self.ask("solo12", "rollout", request)
        for row in (0, 6, 10):
            alone = {**request, "q": q[row], "torques": torques[row].tolist(), "cost": {"qd": weights[row].tolist(), "tau": 0.2}}
            for name, value in self.ask("solo12", "rollout", alone).items():
                self.assertEqual(value, batch[name][row], name)
        follow = {"gains": 0.1 * choose.normal(size=(rows, steps, 18, 36)), "qd": choose.normal(size=(rows, steps, 18)),
                  "q": np.array([start(about, choose, steps) for _ in range(rows)])}
        followed = {**{n: request[n] for n in ("q", "qd", "step", "torques")}, "outputs": ["q_after", "tau"]}
        together = self.ask("solo12", "rollout", {**followed, "feedback": {n: x.tolist() for n, x in follow.items()}})
        for row in (1, 8, 10):
            alone = {**followed, "q": q[row], "torques": torques[row].tolist(), "feedback": {n: x[row].tolist() for n, x in follow.items()}}
            self.assertEqual(self.ask("solo12", "rollout", alone), {n: x[row] for n, x in together.items()})
        packed = self.ask_cbor("solo12", "rollout", request) if hasattr(self, "ask_cbor") else None
        if packed:
            self.assertEqual(packed, batch)

    def test_an_indefinite_cost_is_damped_by_the_stated_rule(self):
        """Negative weights: the damping grows from 1e-8 of the largest entry tenfold until all pivots are positive, whatever sign the
        largest entry has."""
        _, request = self.request("two_link", np.random.default_rng(5), 2)
        for weights in ([-0.5, 2], [-3.1, 2], [-0.7, -0.2]):
            request["cost"] = {"tau": weights, "qd": 0.01}
            got = self.ask("two_link", "rollout", request)
            used = got["damping"][0]
            Q = np.diag(weights) + 0.01 * np.array(got["input_matrix"][-1])[2:].T @ np.array(got["input_matrix"][-1])[2:]
            self.assertEqual(set(got["damping"]), {used})
            growths = np.log10(used / (1e-8 * max(abs(np.diag(Q)))))
            self.assertAlmostEqual(growths, round(growths), delta=1e-9)
            self.assertGreater(np.linalg.eigvalsh(Q + used * np.eye(2))[0], 0)
            self.assertLess(np.linalg.eigvalsh(Q + used / 10 * np.eye(2))[0], 0)

    def test_refusals_name_the_field(self):
        _, request = self.request("two_link", np.random.default_rng(6), 2)
        cost = {"tau": 1}
        feedback = {"gains": np.zeros((2, 2, 4)).tolist(), "q": [[0, 0]] * 2, "qd": [[0, 0]] * 2}
        refuse = lambda more, pointer: self.assertProblem(self.client.post("/v1/models/two_link/rollout", {**request, **more}), 422, pointer)
        refuse({}, "/outputs/4")                                                            # the output of gains without a cost
        refuse({"cost": cost, "outputs": ["q_after"]}, "/cost")                             # a cost without an output that uses it
        refuse({"cost": cost, "outputs": ["costs"], "damping": 1}, "/damping")
        refuse({"cost": cost, "outputs": ["costs"], "free": ["joint1"]}, "/free")
        refuse({"cost": cost, "damping": -1}, "/damping")
        refuse({"cost": cost, "free": ["joint1", "joint2"]}, "/free")
        refuse({"cost": {"q_reference": [[1, 2]], "tau": 1}}, "/cost/q_reference")
        refuse({"cost": {"tau": 0}}, "/cost")                                               # a cost in which torques have no effect
        for name in feedback:
            refuse({"cost": cost, "feedback": {n: x for n, x in feedback.items() if n != name}}, "/feedback")
        refuse({"cost": cost, "feedback": {**feedback, "gains": np.zeros((2, 2, 3)).tolist()}}, "/feedback/gains/0/0")
        refuse({"cost": cost, "feedback": {**feedback, "gains": np.zeros((1, 2, 4)).tolist()}}, "/feedback/gains")
        refuse({"cost": cost, "feedback": {**feedback, "qd": [[0, 0]]}}, "/feedback/qd")

    def test_a_row_whose_gains_fail_is_null(self):
        _, request = self.request("two_link", np.random.default_rng(7), 2, on_error="row")
        request |= {"q": [[0.1, 0.2], [0.3, 0.4]], "cost": {"tau": [[0, 0], [1, 1]]}, "outputs": ["gains", "costs"]}
        got = self.ask("two_link", "rollout", request)
        self.assertEqual((got["gains"][0], [e["row"] for e in got["errors"]]), (None, [0]))
        alone = self.ask("two_link", "rollout", {**request, "q": [0.3, 0.4], "cost": {"tau": [1, 1]}})
        self.assertEqual(got["gains"][1], alone["gains"])


def change(reference, q):
    """Returns the difference of two positions of a floating robot on the tangent space, by the logarithm of the rotation matrix between them."""
    R, S = matrix(reference[3:7]), matrix(q[3:7])
    turn = R.T @ S
    angle = np.arccos((np.trace(turn) - 1) / 2)
    axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / (2 * np.sin(angle))
    cross = lambda x: np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    assert abs(expm(cross(angle * axis)) - turn).max() < 1e-10
    return np.concatenate([R.T @ (q[:3] - reference[:3]), angle * axis, q[7:] - reference[7:]])


def derivative(dx):
    """Returns the derivative of change() by e in p += R e_v, R <- R exp(e_w): exp(dx_w) for the position, and the inverse of the right Jacobian
    of rotations."""
    x = np.array([[0, -dx[5], dx[4]], [dx[5], 0, -dx[3]], [-dx[4], dx[3], 0]])
    right = sum((-1) ** k * np.linalg.matrix_power(x, k) / np.prod(np.arange(1.0, k + 2)) for k in range(25))
    J = np.eye(len(dx))
    J[:3, :3], J[3:6, 3:6] = expm(x), np.linalg.inv(right)
    return J


def matrix(r):
    x, y, z, w = r / np.linalg.norm(r)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


if __name__ == "__main__":
    tap.main()
