"""Tests rates, sensitivities, Coriolis matrix and regressor: against published figures, a published experiment, and
identities between operations."""
import math

import tap
from arrays import add, dot, flatten, matmul, matvec, transpose
from harness import ServerCase
from oracle import FORWARD
from samples import QN, branched, chain, states

# The tip of three_link acts on its surroundings with the wrench (1,1,1,1,1,1); the surroundings act with the opposite
# on the tip.
TIP = {"link": "link3", "frame": "link", "point": [0, 0, 0.14225], "force": [-1, -1, -1], "torque": [-1, -1, -1]}
THREE = {"q": [0.1, 0.1, 0.1], "qd": [0.1, 0.2, 0.3], "qdd": [2, 1.5, 1], "wrenches": [TIP]}


class Published(ServerCase):
    def test_three_link_sensitivity(self):
        answer = self.ask("three_link", "sensitivity", THREE)
        for row, text in zip(answer["dtau_dq"], ("166.412510174, 22.4182803674, 1.85647789174",
                                                 "3.33605595641, 4.92877092668, 1.33573280349",
                                                 "0.434497429922, 1.10171037691, 1.077055878")):
            self.assertPrinted(row, text, 12)
        for row, text in zip(answer["dtau_dqd"][:2], ("2.47167007418, 1.15772905472, .167831809093",
                                                      "-1.00032106275, -.0143871861482, -.0239786435804")):
            self.assertPrinted(row, text, 12)
        self.assertPrinted(answer["dtau_dqd"][2][:2], "-.157009316229, .00959145743215", 12)
        self.assertAlmostEqual(answer["dtau_dqd"][2][2], 0, delta=1e-14)

    def test_three_link_rate(self):
        answer = self.ask("three_link", "torque-derivative", {**THREE, "qddd": [0.5, -0.4, 0.3]})
        self.assertPrinted(answer["tau"], "74.6961615529, -33.0676601585, -3.2305731379", 12)
        self.assertPrinted(answer["tau_dot"], "39.9219884382, -1.1374509594, .168311313445", 11)

    def test_puma_rate(self):
        answer = self.ask("puma560", "torque-derivative", {"q": QN, "qd": [1] * 6, "qdd": [1] * 6, "qddd": [0.5] * 6})
        self.assertPrinted(answer["tau_dot"],
                           "-.2791756974, 2.505165072, 16.59369151, .5092464377, .5223768729, .3133993539", 10)


class BackwardDifferences(ServerCase):
    """The experiment of Guarino Lo Bianco: the Stanford arm moves along rest-to-rest quintics for 2 s. The error of
    joint 1's torque rate by backward differences is proportional to the sampling time; the analytical rate has no such
    error."""
    START = (math.pi / 2, 0, 0, math.pi / 2, math.pi / 4, math.pi / 2)
    END = (math.pi / 4, math.pi / 2, 2, math.pi / 4, math.pi / 2, 0)
    T = 2
    # max |analytical rate - backward difference| by sampling time in s
    LARGEST = {1e-2: "2.402", 1e-3: ".2402", 1e-4: ".02402"}

    def motion(self, samples):
        """Returns q = start + (end - start) (10 s^3 - 15 s^4 + 6 s^5), s = t / T, and its derivatives."""
        shapes = {"q": lambda s: s**3 * (10 - 15 * s + 6 * s * s), "qd": lambda s: 30 * s * s * (1 - s)**2,
                  "qdd": lambda s: 60 * s * (1 - 3 * s + 2 * s * s), "qddd": lambda s: 60 * (1 - 6 * s + 6 * s * s)}
        return {name: [[(a if order == 0 else 0) + (b - a) * shape(k / samples) / self.T**order
                        for a, b in zip(self.START, self.END)] for k in range(samples + 1)]
                for order, (name, shape) in enumerate(shapes.items())}

    def test_table(self):
        for Ts, expected in self.LARGEST.items():
            answer = self.ask("stanford", "torque-derivative", self.motion(round(self.T / Ts)))
            tau, rate = ([row[0] for row in answer[name]] for name in ("tau", "tau_dot"))
            largest = max(abs(rate[k] - (tau[k] - tau[k - 1]) / Ts) for k in range(1, len(tau)))
            self.assertPrinted([largest], expected, 4, f"Ts = {Ts}")


class Identities(ServerCase):
    """Identities on a branched robot with friction, a rotor, a spring and wrenches, with fixed and floating base."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for base in ("fixed", "floating"):
            cls.client.put(f"/v1/models/{base}", branched(base))

    WRENCHES = [{"link": "gripper", "force": [3, -2, 5], "torque": [0.3, 0.2, -0.1], "point": [0.1, 0, 0.2]},
                {"link": "thigh", "force": [1, 2, 3], "torque": [-0.2, 0.1, 0.4], "frame": "link"}]
    RATES = [{"force_rate": [5, -7, 2], "torque_rate": [0.4, 0.1, -0.3]}, {"force_rate": [-3, 1, 4]}]

    def cases(self, count=4):
        for model, nv, floating in (("fixed", 4, False), ("floating", 10, True)):
            rows = states(count, nv, floating)
            for i in range(count):
                yield model, {name: field[i] for name, field in rows.items()}

    @staticmethod
    def pick(state, *names):
        return {name: state[name] for name in names}

    def test_rates_are_the_chain_rule_of_sensitivities(self):
        changing = [{**wrench, **rate} for wrench, rate in zip(self.WRENCHES, self.RATES)]
        for model, s in self.cases():
            motion = self.pick(s, "q", "qd", "qdd")
            d = self.ask(model, "sensitivity", {**motion, "wrenches": self.WRENCHES, "outputs": [
                "dtau_dq", "dtau_dqd", "dtau_dqdd", "dtau_dwrench", "tau", "joint_wrenches", "d_joint_wrenches_dq",
                "d_joint_wrenches_dqd", "d_joint_wrenches_dqdd"]})
            rate = self.ask(model, "torque-derivative", {**motion, "qddd": s["qddd"], "wrenches": changing, "outputs": [
                "tau", "tau_dot", "joint_wrenches", "joint_wrench_rates"]})
            expected = [dot(a, s["qd"]) + dot(b, s["qdd"]) + dot(c, s["qddd"])
                        for a, b, c in zip(d["dtau_dq"], d["dtau_dqd"], d["dtau_dqdd"])]
            for by_wrench, change in zip(d["dtau_dwrench"], self.RATES):
                expected = add(expected, matvec(by_wrench, change["force_rate"] + change.get("torque_rate", [0] * 3)))
            self.assertClose(rate["tau_dot"], expected, 1e-13, what=f"{model} tau_dot")
            self.assertClose(d["tau"], rate["tau"], 1e-14)
            self.assertClose(d["joint_wrenches"], rate["joint_wrenches"], 1e-14)
            steady = self.ask(model, "torque-derivative", {**motion, "qddd": s["qddd"], "wrenches": self.WRENCHES,
                                                           "outputs": ["joint_wrench_rates"]})["joint_wrench_rates"]
            expected = [[dot(x, s["qd"]) + dot(y, s["qdd"]) + dot(z, s["qddd"]) for x, y, z in zip(a, b, c)]
                        for a, b, c in zip(*(d[f"d_joint_wrenches_{by}"] for by in ("dq", "dqd", "dqdd")))]
            self.assertClose(steady, expected, 1e-13, what=f"{model} joint_wrench_rates")

    def test_torques_are_linear_in_wrenches_gravity_and_parameters(self):
        for model, s in self.cases():
            motion = self.pick(s, "q", "qd", "qdd")
            d = self.ask(model, "sensitivity", {**motion, "wrenches": self.WRENCHES, "outputs": [
                "dtau_dwrench", "dtau_dgravity", "dtau_dparameters", "tau"]})
            bare = self.ask(model, "inverse-dynamics", motion)["tau"]
            for by_wrench, wrench in zip(d["dtau_dwrench"], self.WRENCHES):
                bare = add(bare, matvec(by_wrench, wrench["force"] + wrench["torque"]))
            self.assertClose(bare, d["tau"], 1e-13, what="wrenches")
            without = self.ask(model, "inverse-dynamics", {**motion, "wrenches": self.WRENCHES, "gravity": [0, 0, 0]})
            pull = matvec(d["dtau_dgravity"], [0, 0, -9.81])
            self.assertClose(add(without["tau"], pull), d["tau"], 1e-13, what="gravity")
            self.assertEqual(d["dtau_dparameters"], self.ask(model, "regressor", motion)["regressor"])
            mass = self.ask(model, "inverse-dynamics", {**motion, "wrenches": self.WRENCHES,
                                                        "payload": {"link": "finger", "mass": 0.5}})["tau"]
            column = 10 * self.ok(self.client.get(f"/v1/models/{model}"))["bodies"].index("finger")
            heavier = [0.5 * row[column] for row in d["dtau_dparameters"]]
            self.assertClose(add(mass, heavier, -1), d["tau"], 1e-13, what="a point mass at the finger's origin")

    def test_forward_is_the_inverse_of_inverse(self):
        for model, s in self.cases():
            request = {**self.pick(s, "q", "qd", "tau"), "wrenches": self.WRENCHES}
            f = self.ask(model, "forward-sensitivity", {**request, "outputs": [
                "qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dqdd_dwrench"]})
            self.assertClose(f["qdd"], self.ask(model, "forward-dynamics", request)["qdd"], 1e-12)
            self.assertClose(f["dqdd_dtau"], self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["inverse"]})["inverse"],
                             1e-12)
            d = self.ask(model, "sensitivity", {**self.pick(s, "q", "qd"), "qdd": f["qdd"], "wrenches": self.WRENCHES,
                                                "outputs": ["dtau_dq", "dtau_dqd", "dtau_dqdd", "dtau_dwrench"]})
            for by in ("dq", "dqd"):
                self.assertClose([[-x for x in row] for row in matmul(d["dtau_dqdd"], f[f"dqdd_{by}"])], d[f"dtau_{by}"],
                                 FORWARD, what=by)
            for a, b in zip(f["dqdd_dwrench"], d["dtau_dwrench"]):
                self.assertClose([[-x for x in row] for row in matmul(d["dtau_dqdd"], a)], b, FORWARD)

    def test_coriolis_matrix(self):
        for model, s in self.cases():
            answer = self.ask(model, "coriolis", {**self.pick(s, "q", "qd"), "outputs": ["coriolis_matrix", "christoffel"]})
            C = answer["coriolis_matrix"]
            vector = self.ask(model, "bias", {**self.pick(s, "q", "qd"), "outputs": ["coriolis"]})["coriolis"]
            self.assertClose(matvec(C, s["qd"]), vector, 1e-13)
            self.assertClose([matvec(plane, s["qd"]) for plane in answer["christoffel"]], C, 1e-13)
            # dM/dt = C + C^T, and dM/dt a = d(M a)/dq qd; the spring's part of dtau/dq is subtracted
            d = self.ask(model, "sensitivity", {"q": s["q"], "qdd": s["tau"], "gravity": [0, 0, 0], "outputs": ["dtau_dq"]})
            rate = matvec(add_matrices(C, transpose(C)), s["tau"])
            spring = self.ask(model, "sensitivity", {"q": s["q"], "gravity": [0, 0, 0], "outputs": ["dtau_dq"]})["dtau_dq"]
            self.assertClose(matvec(add_matrices(d["dtau_dq"], spring, -1), s["qd"]), rate, 1e-12)

    def test_regressor_has_the_joint_parameters(self):
        """joint_regressor has the columns rotor_inertia, viscous and coulomb of each joint."""
        for model, s in self.cases():
            motion = self.pick(s, "q", "qd", "qdd")
            Y = self.ask(model, "regressor", {**motion, "outputs": ["joint_regressor"]})["joint_regressor"]
            joints = [joint["name"] for joint in self.ok(self.client.get(f"/v1/models/{model}"))["joints"]]
            nv, base = len(s["qd"]), len(s["qd"]) - len(joints)
            expected = [[0] * (3 * len(joints)) for _ in range(nv)]
            for j in range(len(joints)):
                row = base + j
                expected[row][3 * j:3 * j + 3] = [s["qdd"][row], s["qd"][row], math.copysign(1, s["qd"][row])]
            self.assertEqual(Y, expected)


def add_matrices(a, b, factor=1.0):
    return [add(x, y, factor) for x, y in zip(a, b)]


OPERATIONS = {
    "torque-derivative": ["tau", "tau_dot", "joint_wrenches", "joint_wrench_rates", "dtau_dot_dparameters"],
    "sensitivity": ["dtau_dq", "dtau_dqd", "dtau_dqdd", "tau", "joint_wrenches", "d_joint_wrenches_dq",
                    "d_joint_wrenches_dqd", "d_joint_wrenches_dqdd", "dtau_dwrench", "dtau_dgravity", "dtau_dparameters"],
    "forward-sensitivity": ["dqdd_dq", "dqdd_dqd", "dqdd_dtau", "qdd", "dqdd_dwrench", "dqdd_dparameters"],
    "coriolis": ["coriolis_matrix", "christoffel"],
    "task-space": ["inertia", "jacobian", "jacobian_dot_qd", "jacobian_inverse", "bias", "ellipsoid", "condition"],
    "regressor": ["regressor", "joint_regressor", "base_regressor"]}
OPTIONS = {"task-space": {"frame": "finger", "axes": ["z", "x", "ry"]}}
# The axes of length nv of each output, which the field `joints` permutes.
TURNED = {"tau": [0], "tau_dot": [0], "qdd": [0], "dtau_dq": [0, 1], "dtau_dqd": [0, 1], "dtau_dqdd": [0, 1],
          "dqdd_dq": [0, 1], "dqdd_dqd": [0, 1], "dqdd_dtau": [0, 1], "d_joint_wrenches_dq": [2],
          "d_joint_wrenches_dqd": [2], "d_joint_wrenches_dqdd": [2], "dtau_dwrench": [1], "dqdd_dwrench": [1],
          "dtau_dgravity": [0], "dtau_dparameters": [0], "dqdd_dparameters": [0], "dtau_dot_dparameters": [0], "coriolis_matrix": [0, 1], "christoffel": [0, 1, 2],
          "regressor": [0], "joint_regressor": [0], "base_regressor": [0], "joint_wrenches": [], "joint_wrench_rates": [], "inertia": [],
          "jacobian": [1], "jacobian_dot_qd": [], "jacobian_inverse": [0], "bias": [], "ellipsoid": [], "condition": []}


def turned(value, axes, order, axis=0):
    if not isinstance(value, list):
        return value
    value = [turned(part, axes, order, axis + 1) for part in value]
    return [value[i] for i in order] if axis in axes else value


class Requests(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/fixed", branched())
        cls.names = cls.client.get("/v1/models/fixed").json()["velocity_names"]

    def everything(self, state, **more):
        return {**state, "wrenches": [{"link": "gripper", "force": [1, 2, 3], "force_rate": [4, 5, 6]}], **more,
                "operations": {name: {**OPTIONS.get(name, {}), "outputs": outputs} for name, outputs in OPERATIONS.items()}}

    def test_outputs_have_their_axes(self):
        one = {name: field[0] for name, field in states(1).items()}
        answer = self.ask("fixed", "evaluate", self.everything(one))
        extents = {"tau": [4], "d_joint_wrenches_dq": [4, 6, 4], "dtau_dwrench": [1, 4, 6], "dtau_dgravity": [4, 3],
                   "dtau_dparameters": [4, 40], "joint_regressor": [4, 12], "christoffel": [4, 4, 4]}
        for name, outputs in OPERATIONS.items():
            self.assertEqual(list(answer[name]), outputs)
            for output in outputs:
                if output in extents:
                    count = len(flatten(answer[name][output]))
                    self.assertEqual(count, math.prod(extents[output]), output)

    def test_a_state_alone_and_in_a_batch(self):
        rows = states(11)
        batch = self.ask_texts("fixed", "evaluate", self.everything(rows))
        for i in (0, 4, 10):
            one = self.ask_texts("fixed", "evaluate", self.everything({name: field[i] for name, field in rows.items()}))
            for name, outputs in OPERATIONS.items():
                for output in outputs:
                    self.assertEqual(one[name][output], batch[name][output][i], f"{output} of row {i}")

    def test_outputs_alone(self):
        """An output has the same bits whether the request selects only this output or others too."""
        one = {name: field[0] for name, field in states(1).items()}
        wrenches = self.everything(one)["wrenches"]
        together = self.ask_texts("fixed", "evaluate", self.everything(one))
        for name, outputs in OPERATIONS.items():
            fields = {"torque-derivative": ("q", "qd", "qdd", "qddd"), "forward-sensitivity": ("q", "qd", "tau"),
                      "coriolis": ("q", "qd"), "task-space": ("q", "qd")}.get(name, ("q", "qd", "qdd"))
            for output in outputs:
                request = {field: one[field] for field in fields}
                request.update(OPTIONS.get(name, {}), outputs=[output])
                if name not in ("coriolis", "regressor"):
                    request["wrenches"] = [dict(wrenches[0])]
                    if name != "torque-derivative":
                        del request["wrenches"][0]["force_rate"]
                self.assertEqual(self.ask_texts("fixed", name, request), {output: together[name][output]})

    def test_joints_turn_every_axis_of_their_length(self):
        one = {name: field[0] for name, field in states(1).items()}
        order = [2, 0, 3, 1]
        plain = self.ask_texts("fixed", "evaluate", self.everything(one))
        state = {name: [field[i] for i in order] for name, field in one.items()}
        answer = self.ask_texts("fixed", "evaluate", self.everything(state, joints=[self.names[i] for i in order]))
        for name, outputs in OPERATIONS.items():
            for output in outputs:
                self.assertEqual(answer[name][output], turned(plain[name][output], TURNED[output], order), output)

    def test_no_wrenches(self):
        answer = self.ask("fixed", "sensitivity", {"q": [0] * 4, "outputs": ["dtau_dwrench"]})
        self.assertEqual(answer, {"dtau_dwrench": []})
        answer = self.ask("fixed", "sensitivity", {"q": [[0] * 4] * 2, "wrenches": [], "outputs": ["dtau_dwrench"]})
        self.assertEqual(answer, {"dtau_dwrench": [[], []]})

    def test_batched_rates(self):
        wrench = {"link": "gripper", "force": [1, 2, 3]}
        rates = [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
        batch = self.ask_texts("fixed", "torque-derivative", {"q": [0.3] * 4, "wrenches": [{**wrench, "force_rate": rates}]})
        for i, rate in enumerate(rates):
            one = self.ask_texts("fixed", "torque-derivative", {"q": [0.3] * 4, "wrenches": [{**wrench, "force_rate": rate}]})
            self.assertEqual(one, {name: value[i] for name, value in batch.items()})

    def test_refusals(self):
        post = lambda operation, request: self.client.post(f"/v1/models/fixed/{operation}", request)
        q = [0] * 4
        rated = [{"link": "gripper", "force_rate": [1, 2, 3]}]
        self.assertProblem(post("sensitivity", {"q": q, "wrenches": rated}), 422, "/wrenches/0/force_rate")
        self.assertProblem(post("evaluate", {"q": q, "wrenches": rated, "operations": {"sensitivity": {}}}), 422,
                           "/wrenches/0/force_rate")
        self.assertProblem(post("torque-derivative", {"q": q, "wrenches": [{"link": "gripper", "torque_rate": [1, 2]}]}),
                           422, "/wrenches/0/torque_rate")
        self.assertProblem(post("coriolis", {"q": q}), 422, "/qd")
        self.assertProblem(post("forward-sensitivity", {"q": q}), 422, "/tau")
        self.assertProblem(post("regressor", {"q": q, "payload": []}), 422, "/payload")
        problem = self.assertProblem(post("sensitivity", {"q": q, "outputs": ["dtau_dt"]}), 422, "/outputs/0")
        self.assertIn("dtau_dgravity", problem["detail"])

    def test_a_singular_mass_matrix(self):
        massless = branched()
        for link in massless["links"]:
            if link["name"] == "thigh":
                del link["inertial"]
        self.put_model("massless", massless)
        problem = self.assertProblem(self.client.post("/v1/models/massless/forward-sensitivity", {
            "q": [[0.1] * 4] * 3, "tau": [0] * 4}), 422, "/q/0", 0)
        self.assertEqual(problem["code"], "singular-mass-matrix")
        self.assertIn("hip", problem["detail"])

    def test_answers_too_large_are_not_computed(self):
        self.put_model("long", chain(100))
        request = {"q": [[0] * 100] * 20, "qd": [0] * 100, "outputs": ["christoffel"]}
        problem = self.assertProblem(self.client.post("/v1/models/long/coriolis", request), 413)
        self.assertRegex(problem["detail"], r"[1-9][0-9]* rows fit")


if __name__ == "__main__":
    tap.main()
