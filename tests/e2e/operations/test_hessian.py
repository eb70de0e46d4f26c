"""Tests hessian and forward-hessian: contracted and full second derivatives against extrapolated differences of first
derivatives, for arms, elastic joints and floating bases under loads; batches; refusals."""
import copy

import numpy as np
import tap
from actuated import FLYER
from floating import moved
from harness import ServerCase
from samples import chain

INVERSE = {"hessian_q_q": ("dtau_dq", "q"), "hessian_q_qd": ("dtau_dq", "qd"), "hessian_q_qdd": ("dtau_dq", "qdd"),
           "hessian_qd_qd": ("dtau_dqd", "qd")}
FORWARD = {"hessian_q_q": ("dqdd_dq", "q"), "hessian_q_qd": ("dqdd_dq", "qd"), "hessian_q_tau": ("dqdd_dq", "tau"),
           "hessian_qd_qd": ("dqdd_dqd", "qd")}
TENSORS = {"hessian": ["d2tau_dq_dq", "d2tau_dq_dqd", "d2tau_dq_dqdd", "d2tau_dqd_dqd"],
           "forward-hessian": ["d2qdd_dq_dq", "d2qdd_dq_dqd", "d2qdd_dq_dtau", "d2qdd_dqd_dqd"]}
CASES = {"hessian": ("sensitivity", INVERSE, "qdd"), "forward-hessian": ("forward-sensitivity", FORWARD, "tau")}
LOADS = {"two_link": {},
         "panda": {"gravity": [1, -2, -9], "payload": {"link": "panda_link7", "mass": 2, "com": [0, 0, 0.1]},
                   "wrenches": [{"link": "panda_link6", "force": [3, -2, 5], "torque": [1, 0, -1], "point": [0.1, 0, 0]},
                                {"link": "panda_link4", "frame": "link", "force": [30, -2, 5]}]},
         "hua": {"payload": {"link": "link3", "mass": 1, "com": [0.3, 0, 0]}},
         "solo12": {"wrenches": [{"link": "FR_FOOT", "force": [1, 2, 9]}]},
         "smooth": {}}
STEP = 2e-4
# tolerance of differences of fourth order, relative to the largest entry
TOLERANCE = 1e-8


class Hessian(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        smooth = copy.deepcopy(FLYER)
        joint = smooth["links"][1]["joint"]
        joint.update(elastic={"stiffness": 300}, rotor_inertia=0.05)
        joint["friction"] = {"viscous": 0.1, "coulomb": 2, "coulomb_velocity": 0.5}
        answer = cls.client.put("/v1/models/smooth", smooth)
        assert answer.status == 201, answer

    def state(self, model, seed, rows=None):
        document = self.ok(self.client.get(f"/v1/models/{model}"))
        choose = np.random.default_rng(seed)
        s = {name: choose.uniform(-1, 1, (rows or 1, document["nq" if name == "q" else "nv"]))
             for name in ("q", "qd", "qdd", "tau", "multipliers")}
        for first in {"solo12": (3,), "smooth": (3, 7 + 2)}.get(model, ()):
            s["q"][:, first:first + 4] /= np.linalg.norm(s["q"][:, first:first + 4], axis=1)[:, None]
        return {name: (x if rows else x[0]).tolist() for name, x in s.items()}

    def request(self, operation, model, s):
        _, _, third = CASES[operation]
        return {**{name: s[name] for name in ("q", "qd", third, "multipliers")}, **LOADS[model]}

    def change(self, model, q, i, step, document):
        """Moves the position q along velocity coordinate i. The model `smooth` has a spherical joint and a floating base."""
        e = np.zeros(document["nv"])
        e[i] = step
        if model != "smooth":
            return moved(q, e)
        base, ball = moved(q[:7], e[:6]), moved([0, 0, 0, *q[9:13]], [0, 0, 0, *e[8:11]])[3:]
        return [*base, *(np.array(q[7:9]) + e[6:8]), *ball, *(np.array(q[13:]) + e[11:])]

    def rows(self, model, s, part):
        """Returns rows of the state with each coordinate of `part` moved by four distances."""
        document = self.ok(self.client.get(f"/v1/models/{model}"))
        changed = []
        for i in range(document["nv"]):
            for d in (1, -1, 2, -2):
                if part == "q":
                    changed.append(self.change(model, s["q"], i, d * STEP, document))
                else:
                    changed.append([x + (d * STEP if i == k else 0) for k, x in enumerate(s[part])])
        return changed

    def differences(self, operation, model, s, of, by):
        """Returns [i][j][k]: the derivative of entry i, j of the output `of` by coordinate k of `by`."""
        first, _, third = CASES[operation]
        state = {name: s[name] for name in ("q", "qd", third)}
        answer = self.ask(model, first, {**state, by: self.rows(model, s, by), **LOADS[model], "outputs": [of]})[of]
        x = np.array(answer).reshape(-1, 4, *np.shape(answer)[1:])
        slope = (8 * (x[:, 0] - x[:, 1]) - (x[:, 2] - x[:, 3])) / (12 * STEP)
        return np.moveaxis(slope, 0, 2)

    def near(self, got, expected, tolerance, what):
        size = max(1, np.abs(expected).max())
        self.assertLess(np.abs(np.subtract(got, expected)).max(), tolerance * size, what)

    def test_differences(self):
        """Compares with differences; hua has elastic joints, smooth also a spherical joint and smoothed friction."""
        for operation, (_, results, _) in CASES.items():
            for model in LOADS:
                s = self.state(model, 3)
                answer = self.ask(model, operation, self.request(operation, model, s))
                self.assertEqual(set(answer), set(results))
                for name, (of, by) in results.items():
                    expected = np.einsum("i,ijk->jk", s["multipliers"], self.differences(operation, model, s, of, by))
                    self.near(answer[name], expected, TOLERANCE, f"{operation} {model} {name}")

    def test_tensors(self):
        """Full tensors contracted with the multipliers are the contracted outputs; names of outputs match."""
        for operation, (_, results, _) in CASES.items():
            for model in ("panda", "smooth"):
                s = self.state(model, 4)
                request = self.request(operation, model, s)
                contracted = self.ask(model, operation, request)
                del request["multipliers"]
                full = self.ask(model, operation, {**request, "outputs": TENSORS[operation]})
                for name, tensor in zip(sorted(results), sorted(TENSORS[operation])):
                    self.assertEqual(name.split("_")[1:], tensor.replace("d2tau", "").replace("d2qdd", "").replace("_d", "_")
                                     .split("_")[1:])
                    expected = np.einsum("i,ijk->jk", s["multipliers"], np.array(full[tensor]))
                    self.near(contracted[name], expected, 1e-12, f"{operation} {model} {name}")
                both = self.ask(model, operation, {**request, "multipliers": s["multipliers"],
                                                   "outputs": [*results, *TENSORS[operation]]})
                self.assertEqual(both, {**contracted, **full})

    def test_symmetry(self):
        """The Hessian is symmetric for joints with one coordinate; derivatives along the axes of a floating base do not
        commute."""
        for operation in CASES:
            s = self.state("panda", 5)
            H = np.array(self.ask("panda", operation, self.request(operation, "panda", s))["hessian_q_q"])
            self.near(H, H.T, 1e-12, operation)
            s = self.state("solo12", 5)
            H = np.array(self.ask("solo12", operation, self.request(operation, "solo12", s))["hessian_q_q"])
            self.near(H[6:], H.T[6:], 1e-12, operation)
            self.assertGreater(np.abs(H - H.T)[:6, :6].max(), 1e-3)

    def test_batches_and_evaluate(self):
        """A state gets the same bits in a single request, in a batch and in evaluate, for rows that differ in all fields or in the multipliers
        only."""
        for operation, (_, results, third) in CASES.items():
            for model in ("panda", "solo12"):
                s = self.state(model, 6, rows=9)
                request = self.request(operation, model, s)
                whole = self.ask(model, operation, request)
                combined = self.ask(model, "evaluate", {**request, "operations": {operation: {}}})[operation]
                self.assertEqual(combined, whole)
                shared = {**request, **{name: s[name][0] for name in ("q", "qd", third)}}
                by_multipliers = self.ask(model, operation, shared)
                for i in range(9):
                    row = {**request, **{name: s[name][i] for name in ("q", "qd", third, "multipliers")}}
                    alone = self.ask(model, operation, row)
                    same = self.ask(model, operation, {**row, **{name: s[name][0] for name in ("q", "qd", third)}})
                    for name in results:
                        self.assertEqual(alone[name], whole[name][i])
                        self.assertEqual(same[name], by_multipliers[name][i])

    def test_order_of_joints(self):
        joints = ["joint2", "joint1"]
        for operation, (_, _, third) in CASES.items():
            s = self.state("two_link", 7)
            answer = self.ask("two_link", operation, self.request(operation, "two_link", s))
            turned = {name: s[name][::-1] for name in ("q", "qd", third, "multipliers")}
            other = self.ask("two_link", operation, {**turned, "joints": joints})
            for name, matrix in answer.items():
                self.assertEqual(other[name], [row[::-1] for row in matrix[::-1]])

    def refused(self, model, operation, request, pointer, code):
        problem = self.assertProblem(self.client.post(f"/v1/models/{model}/{operation}", request), 422, pointer)
        self.assertEqual(problem["code"], code, problem)

    def test_the_deadline_holds(self):
        """The deadline also ends the computation of the tensors of one state, which would take seconds."""
        self.put_model("long", chain(200))
        state = {"q": [0.1] * 200, "tau": [0] * 200, "outputs": ["d2qdd_dq_dq"]}
        answer = self.client.request("POST", "/v1/models/long/forward-hessian", state, {"Request-Timeout": "0.05"})
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")

    def test_refusals(self):
        for operation, (_, results, third) in CASES.items():
            s = self.request(operation, "two_link", self.state("two_link", 8))
            without = {name: x for name, x in s.items() if name != "multipliers"}
            for outputs in ({}, {"outputs": [*TENSORS[operation][:1], *list(results)[:1]]}):
                self.refused("two_link", operation, {**without, **outputs}, "/multipliers", "missing-field")
            self.refused("two_link", operation, {**s, "multipliers": [1]}, "/multipliers", "wrong-shape")
            self.refused("two_link", operation, {**s, "held": []}, "/held", "unknown-field")
            self.refused("two_link", operation, {**s, "outputs": ["hessian_qdd_qdd"]}, "/outputs/0", "unknown-name")
            loop = {"q": [0.3], third: [0], "multipliers": [1]}
            self.refused("four_bar", operation, loop, None, "not-for-loops")
        self.refused("two_link", "bias", {"q": [0, 0], "multipliers": [1, 1]}, "/multipliers", "unknown-field")


if __name__ == "__main__":
    tap.main()
