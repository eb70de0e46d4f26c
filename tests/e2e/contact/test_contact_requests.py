"""Tests requests with held frames or with impacts at frames: the same bits in batches and both encodings, and refusals."""
import cbor2
import tap
from contacts import ContactCase
from samples import branched, states


class Requests(ContactCase):
    HELD = [{"frame": "tool", "axes": ["x", "z"]}, {"frame": "thigh", "axes": ["rz"], "reference": "frame"}]
    ALL = {"forward-dynamics": ["qdd", "joint_wrenches", "contact_wrenches"],
           "impact": ["qd_after", "contact_impulses", "energy_loss"]}

    def requests(self, rows=11, model="flying"):
        s = states(rows, 10 if model == "flying" else 4, model == "flying", 6)
        wrenches = [{"link": "fore", "force": [[1, 2, float(i)] for i in range(rows)]}]
        yield "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": s["tau"], "wrenches": wrenches}
        yield "impact", {"q": s["q"], "qd": s["qd"]}

    def test_same_bits_alone_and_in_a_batch(self):
        for operation, given in self.requests():
            options = {"held": self.HELD, "outputs": self.ALL[operation]}
            batch = self.ask_texts("flying", operation, {**given, **options})
            for row in (0, 7, 10):
                one = {k: v[row] for k, v in given.items() if k != "wrenches"}
                if "wrenches" in given:
                    one["wrenches"] = [{"link": "fore", "force": [1, 2, row]}]
                self.assertEqual(self.ask_texts("flying", operation, {**one, **options}),
                                 {name: value[row] for name, value in batch.items()})

    def test_cbor(self):
        for operation, given in self.requests(3):
            request = {**given, "held": self.HELD, "outputs": self.ALL[operation]}
            answer = self.client.post(f"/v1/models/flying/{operation}", cbor2.dumps(request),
                                      Content_Type="application/cbor", Accept="application/json")
            self.assertEqual(self.ok(answer), self.ask("flying", operation, request))

    def test_order_of_joints(self):
        names = self.ok(self.client.get("/v1/models/arm"))["velocity_names"]
        order = [2, 0, 3, 1]
        for operation, given in self.requests(2, "arm"):
            given.pop("wrenches", None)
            plain = self.ask("arm", operation, {**given, "held": self.HELD})
            turned = self.ask("arm", operation, {
                **{k: [[row[i] for i in order] for row in v] for k, v in given.items()}, "held": self.HELD,
                "joints": [names[i] for i in order]})
            for name, value in plain.items():
                expected = [[row[i] for i in order] for row in value] if name.startswith("q") else value
                self.assertEqual(turned[name], expected, name)

    def test_beside_other_operations(self):
        _, given = next(self.requests(3))
        given = {k: v for k, v in given.items() if k != "wrenches"}
        answer = self.ask("flying", "evaluate", {**given, "operations": {
            "forward-dynamics": {"held": self.HELD}, "impact": {"held": self.HELD, "restitution": 0.5}, "bias": {}}})
        self.assertEqual(answer["forward-dynamics"], self.ask("flying", "forward-dynamics", {**given, "held": self.HELD}))
        self.assertEqual(answer["impact"], self.ask("flying", "impact", {
            "q": given["q"], "qd": given["qd"], "held": self.HELD, "restitution": 0.5}))

    def refused(self, request, pointer, code, operation="forward-dynamics", says=""):
        state = {"q": [0.1] * 4, "qd": [0] * 4, **({"tau": [0] * 4} if operation == "forward-dynamics" else {})}
        problem = self.assertProblem(self.client.post(f"/v1/models/arm/{operation}", {**state, **request}), 422, pointer)
        self.assertEqual(problem["code"], code, problem)
        self.assertIn(says, problem["detail"])

    def test_an_empty_list(self):
        """An empty list `held` is the same as no field: in every operation that accepts it, in batches, in evaluate,
        and in phases."""
        about = self.client.get("/v1/models/flying").json()
        nq, nv = len(about["position_names"]), len(about["velocity_names"])
        q, rows = [0, 0, 0, 0, 0, 0, 1] + [0.1] * (nq - 7), [[0.2] * nv, [-0.1] * nv]
        tau = {"q": q, "qd": [0.1] * nv, "tau": rows}
        for operation, request in (("forward-dynamics", tau), ("forward-sensitivity", tau), ("step", {**tau, "step": 0.01}),
                                   ("simulate", {"q": [q, q], "duration": 0.1, "step": 0.05, "samples": 2}),
                                   ("rollout", {"q": q, "torques": rows, "step": 0.01})):
            self.assertEqual(self.ask("flying", operation, {**request, "held": []}), self.ask("flying", operation, request), operation)
        both = {"forward-dynamics": {"held": []}, "forward-sensitivity": {"held": []}}
        self.assertEqual(self.ask("flying", "evaluate", {**tau, "operations": both}),
                         self.ask("flying", "evaluate", {**tau, "operations": {name: {} for name in both}}))
        phases = {"q": q, "torques": rows, "step": 0.01, "phases": [{"steps": 1, "held": []}, {"steps": 1}]}
        self.assertEqual(self.ask("flying", "rollout", {**phases, "held": []}), self.ask("flying", "rollout", {**phases, "phases": [{"steps": 2}]}))
        self.refused({"held": []}, "/held", "missing-field", "impact", "impact")
        self.refused({"held": [], "outputs": ["contact_wrenches"]}, "/outputs/0", "bad-value", says="held")
        self.assertProblem(self.client.post("/v1/models/flying/step", {**tau, "step": 0.01, "held": [], "impact": True}), 422, "/impact")

    def test_refusals(self):
        for operation in self.ALL:
            def bad(held, pointer, code, says=""):
                self.refused({"held": held}, pointer, code, operation, says)
            bad(3, "/held", "wrong-type", "array")
            bad([{"frame": "tool"}] * 33, "/held", "wrong-shape", "33")
            state = {name: [0.1] * 4 for name in ("q", "tau" if operation == "forward-dynamics" else "qd")}
            self.assertEqual(len(self.ask("arm", operation, {**state, "held": [{"frame": "tool", "axes": ["x"]}] * 32}).popitem()[1]), 32)
            bad(["tool"], "/held/0", "wrong-type", "object")
            bad([{"frame": "tool"}, {}], "/held/1/frame", "missing-field")
            bad([{"frame": "hand"}], "/held/0/frame", "unknown-name", "hand")
            bad([{"frame": 1}], "/held/0/frame", "wrong-type")
            bad([{"frame": "tool", "axis": "x"}], "/held/0/axis", "unknown-field", "axes")
            bad([{"frame": "tool", "axes": []}], "/held/0/axes", "wrong-shape")
            bad([{"frame": "tool", "axes": "w"}], "/held/0/axes", "unknown-name")
            bad([{"frame": "tool", "axes": 1}], "/held/0/axes", "wrong-type")
            bad([{"frame": "tool", "axes": ["x", "u"]}], "/held/0/axes/1", "unknown-name", "rx")
            bad([{"frame": "tool", "axes": ["x", "y", "x"]}], "/held/0/axes/2", "duplicate-name")
            bad([{"frame": "tool", "reference": "link"}], "/held/0/reference", "bad-value", "world")
        self.refused({"outputs": ["qdd", "contact_wrenches"]}, "/outputs/1", "bad-value", says="held")
        self.refused({"restitution": 0.5}, "/restitution", "unknown-field")
        self.refused({}, "/held", "missing-field", "impact")
        for value in (-0.1, 1.1):
            self.refused({"held": self.HELD, "restitution": value}, "/restitution", "bad-value", "impact")
        self.refused({"held": self.HELD, "restitution": "half"}, "/restitution", "wrong-type", "impact")
        self.refused({"held": self.HELD, "gravity": [0, 0, 0]}, "/gravity", "unknown-field", "impact")
        limp = branched()
        limp["links"][-1].pop("inertial")
        self.put_model("limp", limp)
        for operation, given in self.requests(3, "arm"):
            given.pop("wrenches", None)
            problem = self.assertProblem(self.client.post(f"/v1/models/limp/{operation}", {**given, "held": self.HELD}), 422, row=0)
            self.assertEqual(problem["code"], "singular-mass-matrix")

    def test_figures_that_are_too_large(self):
        for operation in self.ALL:
            given = {"q": [0.1] * 4, "qd": [1e200] * 4, "held": self.HELD, "outputs": self.ALL[operation],
                     **({"tau": [0] * 4} if operation != "impact" else {})}
            problem = self.assertProblem(self.client.post(f"/v1/models/arm/{operation}", given), 422)
            self.assertIn(problem["code"], ("result-not-finite", "contradictory-contacts"))


if __name__ == "__main__":
    tap.main()
