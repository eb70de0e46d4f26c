"""Steps of integration and rollouts: equations, Jacobians against extrapolated differences, batches, and problems."""
import numpy as np
import tap
from harness import ServerCase
from samples import states

INTEGRATORS = ("explicit_euler", "semi_implicit_euler", "rk4", "implicit_euler")
MODELS = ("two_link", "panda", "hua", "solo12")
H = 0.004
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
MATRICES = ["q_after", "qd_after", "state_matrix", "input_matrix"]


def product(a, b):
    """Of two quaternions x y z w."""
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(v, a[3] * b[3] - a[:3] @ b[:3])


def rotated(r, v):
    t = 2 * np.cross(r[:3], v)
    return v + r[3] * t + np.cross(r[:3], t)


class Steps(ServerCase):
    def state(self, model, seed, rows=1):
        nv = self.ok(self.client.get(f"/v1/models/{model}"))["nv"]
        s = states(rows, nv, model == "solo12", seed)
        return {name: np.array(s[name]) for name in ("q", "qd", "tau")}

    def moved(self, model, q, e):
        """The position q moved by e on its tangent space; solo12 has a floating base."""
        if model != "solo12":
            return q + e
        angle = np.linalg.norm(e[3:6])
        turn = np.append(0.5 * np.sinc(angle / 2 / np.pi) * e[3:6], np.cos(angle / 2))
        return np.concatenate([q[:3] + rotated(q[3:7], e[:3]), product(q[3:7], turn), q[7:] + e[6:]])

    def tangent(self, model, q, to):
        """The first-order change of position from q to a position nearby."""
        if model != "solo12":
            return to - q
        back = q[3:7] * [-1, -1, -1, 1]
        turn = product(back, to[3:7])
        return np.concatenate([rotated(back, to[:3] - q[:3]), 2 * turn[:3] * np.sign(turn[3]), to[7:] - q[7:]])

    def test_jacobians(self):
        """Each column against central differences over two distances, extrapolated."""
        for model in MODELS:
            for integrator in INTEGRATORS:
                with self.subTest(model=model, integrator=integrator):
                    self.check_jacobians(model, integrator)

    HELD = {"panda": [[{"frame": "panda_link7", "axes": ["x", "z"]}],
                      [{"frame": "panda_link5", "axes": ["y", "rx"], "reference": "frame"}]],
            "solo12": [[{"frame": foot, "axes": ["x", "y", "z"]} for foot in FEET],
                       [{"frame": FEET[0], "reference": "frame"}, {"frame": FEET[1], "axes": ["z", "rz"]}]]}

    def test_jacobians_with_held_frames(self):
        for model, cases in self.HELD.items():
            for held in cases:
                for integrator in INTEGRATORS:
                    with self.subTest(model=model, integrator=integrator, held=held):
                        self.check_jacobians(model, integrator, held=held)

    def test_held_equations(self):
        """qd+ = qd + h qdd of forward-dynamics with the same frames; dependent directions change nothing."""
        for model, cases in self.HELD.items():
            s = {name: list(value[0]) for name, value in self.state(model, 9).items()}
            for held in [*cases, cases[0] * 2]:
                qdd = np.array(self.ask(model, "forward-dynamics", {**s, "held": held})["qdd"])
                for outputs in (MATRICES, ["qd_after"]):
                    answer = self.ask(model, "step", {**s, "step": H, "held": held, "outputs": outputs})
                    change = (np.array(answer["qd_after"]) - s["qd"]) / H
                    self.assertClose(change.tolist(), qdd.tolist(), 1e-9)

    def check_jacobians(self, model, integrator, **more):
        s, settings = self.state(model, 5), {"step": H, "integrator": integrator, **more}
        q, qd, tau = (s[name][0] for name in ("q", "qd", "tau"))
        nv = len(qd)
        answer = self.ask(model, "step", {"q": list(q), "qd": list(qd), "tau": list(tau), **settings})
        after = np.array(answer["q_after"])
        rows, distances = {"q": [], "qd": [], "tau": []}, (1e-4, -1e-4, 2e-4, -2e-4)
        for column in range(3 * nv):
            for distance in distances:
                change = np.zeros(3 * nv)
                change[column] = distance
                rows["q"].append(list(self.moved(model, q, change[:nv])))
                rows["qd"].append(list(qd + change[nv:2 * nv]))
                rows["tau"].append(list(tau + change[2 * nv:]))
        batch = self.ask(model, "step", {**rows, **settings, "outputs": ["q_after", "qd_after"]})
        got = np.hstack([answer["state_matrix"], answer["input_matrix"]])
        expected = np.empty_like(got)
        for column in range(3 * nv):
            x = [np.concatenate([self.tangent(model, after, np.array(batch["q_after"][4 * column + i])),
                                 batch["qd_after"][4 * column + i]]) for i in range(4)]
            expected[:, column] = (8 * (x[0] - x[1]) - (x[2] - x[3])) / 12e-4
        self.assertClose(got.tolist(), expected.tolist(), 1e-8)

    def test_euler_equations(self):
        """qd+ = qd + h qdd of forward-dynamics; joints of one coordinate move by h qd, or h qd+."""
        for model in ("two_link", "panda"):
            s = {name: list(value[0]) for name, value in self.state(model, 6).items()}
            qdd = np.array(self.ask(model, "forward-dynamics", s)["qdd"])
            for integrator, weight in (("explicit_euler", 0), ("semi_implicit_euler", 1)):
                answer = self.ask(model, "step", {**s, "step": H, "integrator": integrator})
                after = np.array(s["qd"]) + H * qdd
                self.assertClose(answer["qd_after"], after.tolist(), 1e-14)
                used = after if weight else np.array(s["qd"])
                self.assertClose(answer["q_after"], (np.array(s["q"]) + H * used).tolist(), 1e-14)

    def test_batches(self):
        """A row has the same bits alone, in a batch, and whatever is computed beside it."""
        for model in MODELS:
            for integrator in INTEGRATORS:
                s = {name: value.tolist() for name, value in self.state(model, 7, rows=11).items()}
                settings = {"step": H, "integrator": integrator}
                batch = self.ask_texts(model, "step", {**s, **settings, "outputs": MATRICES})
                short = self.ask_texts(model, "step", {**s, **settings, "outputs": ["q_after", "qd_after"]})
                one = self.ask_texts(model, "step", {**{k: v[9] for k, v in s.items()}, **settings})
                for name in MATRICES:
                    self.assertEqual(batch[name][9], one[name], f"{model} {integrator} {name}")
                for name in short:
                    self.assertEqual(short[name], batch[name], f"{model} {integrator} {name}")

    def test_rollout_is_a_chain_of_steps(self):
        """Node n of a rollout has the bits of a step from the state after node n - 1."""
        for model in ("two_link", "solo12"):
            for integrator in ("semi_implicit_euler", "rk4"):
                s, settings = self.state(model, 8, rows=3), {"step": H, "integrator": integrator}
                torques = np.tile(s["tau"][:, None, :], (1, 5, 1)) * np.arange(1, 6)[:, None]
                answer = self.ask_texts(model, "rollout", {
                    "q": s["q"].tolist(), "qd": s["qd"].tolist(), "torques": torques.tolist(), **settings})
                values = self.ask(model, "rollout", {
                    "q": s["q"].tolist(), "qd": s["qd"].tolist(), "torques": torques.tolist(), **settings})
                for row in (0, 2):
                    q, qd = s["q"][row].tolist(), s["qd"][row].tolist()
                    for n in range(5):
                        step = self.ask_texts(model, "step", {"q": q, "qd": qd, "tau": torques[row, n].tolist(), **settings})
                        for name in MATRICES:
                            self.assertEqual(answer[name][row][n], step[name], f"{model} {integrator} {row} {n} {name}")
                        q, qd = values["q_after"][row][n], values["qd_after"][row][n]

    def test_rollouts_share(self):
        """Torques of all rows, of one row, and a missing qd."""
        torques = [[1, 0.1], [0.5, 0], [0, 0.2]]
        several = self.ask("two_link", "rollout", {"q": [[0.3, 0.5], [1, 0.5]], "torques": torques, "step": H})
        one = self.ask("two_link", "rollout", {"q": [1, 0.5], "qd": [0, 0], "torques": torques, "step": H})
        given = self.ask("two_link", "rollout", {"q": [1, 0.5], "torques": [torques] * 2, "step": H})
        for name in MATRICES:
            self.assertEqual(several[name][1], one[name])
            self.assertEqual(given[name], [one[name]] * 2)

    def test_joints(self):
        """The order of `joints` holds for both halves of the matrices, and for the torques of a rollout."""
        s = {"q": [0.3, 0.5], "qd": [1, -1], "tau": [1, 0.2], "step": H}
        turned = {**s, **{k: s[k][::-1] for k in ("q", "qd", "tau")}, "joints": ["joint2", "joint1"]}
        a, b = self.ask("two_link", "step", s), self.ask("two_link", "step", turned)
        order = [1, 0, 3, 2]
        self.assertEqual(np.array(a["state_matrix"])[np.ix_(order, order)].tolist(), b["state_matrix"])
        self.assertEqual(np.array(a["input_matrix"])[np.ix_(order, order[:2])].tolist(), b["input_matrix"])
        tau = turned.pop("tau")
        c = self.ask("two_link", "rollout", {**turned, "torques": [tau]})
        self.assertEqual([b[name] for name in MATRICES], [c[name][0] for name in MATRICES])

    def test_evaluate(self):
        s = {"q": [0.3, 0.5], "qd": [1, -1], "tau": [1, 0.2]}
        both = self.ask("two_link", "evaluate", {**s, "operations": {"step": {"step": H}, "forward-dynamics": {}}})
        self.assertEqual(both["step"], self.ask("two_link", "step", {**s, "step": H}))

    def test_problems(self):
        s = {"q": [0.3, 0.5], "tau": [1, 0.2]}
        post = lambda operation, request: self.client.post(f"/v1/models/two_link/{operation}", request)
        self.assertProblem(post("step", s), 422, "/step")
        for step in (0, -1):
            self.assertProblem(post("step", {**s, "step": step}), 422, "/step")
        self.assertProblem(post("step", {**s, "step": H, "integrator": "rk5"}), 422, "/integrator")
        self.assertProblem(post("rollout", {"q": s["q"], "step": H}), 422, "/torques")
        self.assertProblem(post("rollout", {"q": s["q"], "step": H, "torques": []}), 422, "/torques")
        self.assertProblem(post("rollout", {"q": s["q"], "step": H, "torques": [[1, 2, 3]]}), 422, "/torques/0")
        loops = self.ok(self.client.get("/v1/models/five_bar"))
        problem = self.assertProblem(self.client.post("/v1/models/five_bar/step", {
            "q": [0] * loops["nq"], "tau": [0] * loops["nv"], "step": H}), 422)
        self.assertEqual(problem["code"], "not-for-loops")

    def test_rows_that_fail(self):
        """A row whose motion leaves the range of angles fails alone, and the problem names the node."""
        request = {"q": [[0, 0], [9.9e4, 0]], "qd": [[0, 0], [1e5, 0]], "torques": [[0, 0]] * 4, "step": 0.004}
        problem = self.assertProblem(self.client.post("/v1/models/two_link/rollout", request), 422, row=1)
        self.assertEqual(problem["code"], "angle-too-large")
        self.assertRegex(problem["detail"], r"^step [0-3]: ")
        answer = self.ask("two_link", "rollout", {**request, "on_error": "row"})
        self.assertEqual([error["row"] for error in answer["errors"]], [1])
        self.assertIsNone(answer["q_after"][1])
        good = self.ask("two_link", "rollout", {**request, "q": [0, 0], "qd": [0, 0]})
        self.assertEqual(answer["state_matrix"][0], good["state_matrix"])


if __name__ == "__main__":
    tap.main()
