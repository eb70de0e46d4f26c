"""Tests inverse dynamics with free coordinates (given efforts, unknown accelerations) and driven ones: against the partitioned equation of
motion, which for a moving base is Khalil's (83)-(88), and against forward dynamics."""
import tap
from arrays import add, matvec
from samples import branched, mimicking, pendulum, states
from harness import ServerCase

BASE = ["base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz"]


def solve(M, y):
    """Solves M x = y by elimination with row exchanges."""
    rows = [[*row, value] for row, value in zip(M, y)]
    n = len(rows)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            rows[i] = add(rows[i], rows[k], -rows[i][k] / rows[k][k])
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


class Free(ServerCase):
    MODELS = (("arm", 4), ("flying", 10), ("mimicking", 3), ("puma560", 6))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("arm", branched()), ("flying", branched("floating")), ("mimicking", mimicking()),
                               ("pendulum", pendulum())):
            cls.client.put("/v1/models/" + name, document)

    def names(self, model):
        return self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]

    def request(self, model, nv, free, rows=3, seed=1):
        """Returns a batch with a wrench that makes these coordinates free, and their indices."""
        s = states(rows, nv, model == "flying", seed)
        names = self.names(model)
        chosen = list(range(6)) if free == "base" else [names.index(name) for name in free]
        link = self.ok(self.client.get(f"/v1/models/{model}"))["links"][-1]
        given = {"q": s["q"], "qd": s["qd"], "wrenches": [{"link": link, "force": [3, -2, 5], "point": [0.1, 0, 0.2]}],
                 "qdd": [[0 if v in chosen else x for v, x in enumerate(row)] for row in s["qdd"]],
                 "tau": [[x if v in chosen else 0 for v, x in enumerate(row)] for row in s["tau"]]}
        return given, chosen

    def cases(self):
        for model, nv in self.MODELS:
            names = self.names(model)
            for free in (names, names[::2], names[-1:], names[:1], []):
                yield model, nv, free
        yield "flying", 10, "base"
        # all coordinates but those of the base are free
        yield "flying", 10, [name for name in self.names("flying") if name not in BASE]
        yield "flying", 10, ["base.wy", "hip", "base.vx"]

    def test_against_the_partition(self):
        """M_ff qdd_f = tau_f - h_f - M_fd qdd_d; for a floating base these are Khalil's (83)-(88)."""
        for model, nv, free in self.cases():
            given, chosen = self.request(model, nv, free)
            answer = self.ask(model, "inverse-dynamics", {**given, "free": free})
            state = {name: given[name] for name in ("q", "qd", "wrenches")}
            M = self.ask(model, "mass-matrix", {"q": given["q"]})["mass_matrix"]
            bias = self.ask(model, "bias", state)["bias"]
            for r, row in enumerate(M):
                needed = add(matvec(row, given["qdd"][r]), bias[r])
                found = solve([[row[i][j] for j in chosen] for i in chosen],
                              [given["tau"][r][i] - needed[i] for i in chosen])
                qdd = list(given["qdd"][r])
                for i, value in zip(chosen, found):
                    qdd[i] = value
                what = f"{model} {free}"
                self.assertClose(answer["qdd"][r], qdd, 1e-9, what=what)
                self.assertClose(answer["tau"][r], add(matvec(row, qdd), bias[r]), 1e-9, what=what)
                for i in range(nv):
                    kept = "tau" if i in chosen else "qdd"
                    self.assertEqual(answer[kept][r][i], given[kept][r][i], what)

    def test_all_free_is_forward_and_none_inverse_dynamics(self):
        for model, nv in self.MODELS:
            given, _ = self.request(model, nv, self.names(model))
            forward = {k: v for k, v in given.items() if k != "qdd"}
            self.assertEqual(self.ask_texts(model, "inverse-dynamics", {**given, "free": self.names(model)})["qdd"],
                             self.ask_texts(model, "forward-dynamics", forward)["qdd"])
            given, _ = self.request(model, nv, [])
            del given["tau"]
            outputs = {"outputs": ["tau", "joint_wrenches"]}
            self.assertEqual(self.ask_texts(model, "inverse-dynamics", {**given, **outputs, "free": []}),
                             self.ask_texts(model, "inverse-dynamics", {**given, **outputs}))

    def test_moving_base(self):
        """The accelerations of a free floating base are those of forward dynamics with zero effort on the base."""
        given, _ = self.request("flying", 10, "base", rows=20)
        del given["tau"]
        answer = self.ask("flying", "inverse-dynamics", {**given, "free": "base"})
        self.assertEqual(list(answer), ["tau", "qdd", "base_acceleration"])
        self.assertEqual(answer["base_acceleration"], [row[:6] for row in answer["qdd"]])
        self.assertEqual([row[:6] for row in answer["tau"]], [[0] * 6] * 20)
        self.assertEqual(answer, self.ask("flying", "inverse-dynamics", {**given, "free": BASE}))
        forward = {**{k: v for k, v in given.items() if k != "qdd"}, "tau": answer["tau"]}
        self.assertClose(self.ask("flying", "forward-dynamics", forward)["qdd"], answer["qdd"], 1e-10)

    def test_joint_wrenches(self):
        """Joint wrenches are those of inverse dynamics without free coordinates, at the accelerations of the answer."""
        for model, nv, free in self.cases():
            given, _ = self.request(model, nv, free)
            answer = self.ask_texts(model, "inverse-dynamics",
                                    {**given, "free": free, "outputs": ["qdd", "joint_wrenches"]})
            motion = {**{k: v for k, v in given.items() if k != "tau"}, "outputs": ["joint_wrenches"]}
            motion["qdd"] = [[float(x) for x in row] for row in answer["qdd"]]
            self.assertEqual(self.ask_texts(model, "inverse-dynamics", motion)["joint_wrenches"],
                             answer["joint_wrenches"], f"{model} {free}")

    def test_outputs(self):
        q = {"q": [0.1, 0.2, 0.3, 0.4], "free": ["hip"]}
        self.assertEqual(list(self.ask("arm", "inverse-dynamics", q)), ["tau", "qdd"])
        for output in ("tau", "qdd", "joint_wrenches"):
            self.assertEqual(list(self.ask("arm", "inverse-dynamics", {**q, "outputs": [output]})), [output])
        flying = {"q": [0] * 6 + [1] + q["q"], "free": "base", "outputs": ["base_acceleration"]}
        self.assertEqual(list(self.ask("flying", "inverse-dynamics", flying)), ["base_acceleration"])

    def test_same_bits_alone_and_in_a_batch(self):
        for model, nv, free in self.cases():
            given, _ = self.request(model, nv, free, rows=11)
            everything = {"outputs": ["tau", "qdd", "joint_wrenches"], "free": free}
            batch = self.ask_texts(model, "inverse-dynamics", {**given, **everything})
            one = {k: v if k == "wrenches" else v[7] for k, v in given.items()}
            alone = self.ask_texts(model, "inverse-dynamics", {**one, **everything})
            self.assertEqual(alone, {name: value[7] for name, value in batch.items()}, f"{model} {free}")

    def test_order_and_names(self):
        names = self.names("arm")
        order = [names[i] for i in (2, 0, 3, 1)]
        q, qdd = [0.1, 0.2, 0.3, 0.4], [1, 0, 2, 3]
        plain = self.ask("arm", "inverse-dynamics", {"q": q, "qdd": qdd, "free": [names[1]]})
        turned = self.ask("arm", "inverse-dynamics", {
            "q": [q[names.index(n)] for n in order], "qdd": [qdd[names.index(n)] for n in order], "joints": order,
            "free": [names[1]]})
        named = self.ask("arm", "inverse-dynamics", {"q": dict(zip(names, q)), "qdd": dict(zip(names, qdd)),
                                                     "free": [names[1]]})
        self.assertEqual(named, plain)
        self.assertEqual(turned, {k: [v[names.index(n)] for n in order] for k, v in plain.items()})

    def test_beside_other_operations(self):
        """In evaluate, all operations share tau and qdd of the request, and `free` is an option of inverse-dynamics only."""
        given, _ = self.request("arm", 4, ["hip"])
        answer = self.ask("arm", "evaluate", {**given, "operations": {
            "inverse-dynamics": {"free": ["hip"]}, "torque-derivative": {}}})
        self.assertEqual(answer["inverse-dynamics"],
                         self.ask("arm", "inverse-dynamics", {**given, "free": ["hip"]}))
        state = {"q": given["q"], "qdd": given["qdd"], "tau": given["tau"]}
        both = self.ask("arm", "evaluate", {**state, "operations": {"inverse-dynamics": {}, "forward-dynamics": {}}})
        self.assertEqual(list(both["inverse-dynamics"]), ["tau"])

    def test_passive_pendulum(self):
        """A passive pendulum with a point mass: qdd = -g/l sin q."""
        answer = self.ask("pendulum", "inverse-dynamics", {"q": [[1.5707963267948966], [0]], "free": ["pivot"]})
        self.assertClose(answer["qdd"], [[-9.81 / 0.5], [0]], 1e-14)
        self.assertEqual(answer["tau"], [[0], [0]])


if __name__ == "__main__":
    tap.main()
