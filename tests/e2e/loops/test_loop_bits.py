"""Tests that a state of a mechanism with closed loops has the same bits in a request of one state and in any batch, in each encoding and vector
width, and whichever other operations are evaluated."""
import struct

import cbor2
import numpy as np
import tap
from cbor2 import CBORTag
from closed import MOTION, Closed, loads, only
from harness import Server


class Bits(Closed):
    OPERATIONS = {"inverse-dynamics": (MOTION, ["tau", "joint_wrenches", "full"]), "forward-dynamics": (("q", "qd", "tau"), ["qdd"]),
                  "mass-matrix": (("q",), ["mass_matrix", "inverse"]), "torque-derivative": ((*MOTION, "qddd"), ["tau_dot"]),
                  "sensitivity": (MOTION, ["dtau_dq", "dtau_dqd", "dtau_dqdd"]), "coriolis": (("q", "qd"), ["coriolis_matrix"]),
                  "forward-sensitivity": (("q", "qd", "tau"), ["dqdd_dq", "dqdd_dqd"]),
                  "step": (("q", "qd", "tau"), ["q_after", "qd_after", "state_matrix", "input_matrix"]),
                  "path": ((*MOTION, "qddd"), ["tau_a", "tau_d", "dtau_a_ds", "dtau_c_ds"])}

    OPTIONS = {"step": {"step": 0.002, "integrator": "rk4"}}

    def row(self, value, r):
        if isinstance(value, dict):
            return {name: part if name.endswith("_names") else self.row(part, r) for name, part in value.items()}
        return value[r]

    def test_alone_and_in_batches(self):
        for model in self.MODELS:
            s = self.states(model, 100, 41)
            for operation, (fields, outputs) in self.OPERATIONS.items():
                request = {**loads(model, operation), **self.OPTIONS.get(operation, {}), "outputs": outputs}
                whole = self.ask_texts(model, operation, {**only(s, *fields), **request})
                some = self.ask_texts(model, operation, {**{n: s[n][90:97] for n in fields}, **request})
                one = self.ask_texts(model, operation, {**{n: s[n][93:94] for n in fields}, **request})
                alone = self.ask_texts(model, operation, {**{n: s[n][93] for n in fields}, **request})
                self.assertEqual(alone, self.row(whole, 93), f"{model} {operation}")
                self.assertEqual(self.row(some, 3), alone, f"{model} {operation}")
                self.assertEqual(self.row(one, 0), alone, f"{model} {operation}")

    def test_outputs_alone(self):
        """Every output that models with loops have gets the same bits whether only this output or all are selected, in a batch of several
        blocks."""
        schemas = self.client.get("/openapi.json").json()["components"]["schemas"]
        pull = {"wrenches": [{"link": "platform", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4]}]}
        s = self.states("stewart", 40, 45)
        for operation, fields in (("inverse-dynamics", MOTION), ("forward-dynamics", ("q", "qd", "tau")), ("mass-matrix", ("q",)),
                                  ("bias", ("q", "qd")), ("kinematics", (*MOTION, "qddd")), ("energy", ("q", "qd")),
                                  ("torque-derivative", (*MOTION, "qddd")), ("sensitivity", MOTION),
                                  ("forward-sensitivity", ("q", "qd", "tau")), ("coriolis", ("q", "qd")), ("task-space", ("q", "qd")),
                                  ("regressor", MOTION), ("path", (*MOTION, "qddd"))):
            request = only(s, *fields)
            if operation in ("kinematics", "task-space"):
                request["frame"] = "centre"
            if operation == "kinematics":
                request["points"] = [{"frame": "centre"}, {"link": "platform", "point": [0.1, 0, 0.2]}]
            elif operation in ("inverse-dynamics", "forward-dynamics", "sensitivity", "forward-sensitivity"):
                request.update(pull)
            known = schemas["".join(map(str.capitalize, operation.split("-"))) + "Request"]["properties"]["outputs"]["items"]["enum"]
            alone = {}
            for output in known:
                answer = self.client.post(f"/v1/models/stewart/{operation}", {**request, "outputs": [output]})
                if answer.status == 200:
                    alone[output] = answer.texts()[output]
                else:
                    self.assertIn(self.assertProblem(answer, 422)["code"], ("not-for-loops", "bad-value"), f"{operation} {output}")
            self.assertGreater(len(alone), 0, operation)
            self.assertEqual(self.ask_texts("stewart", operation, {**request, "outputs": list(alone)}), alone, operation)

    def test_torques_of_free_coordinates_alone(self):
        s = only(self.states("five_bar", 40, 46), "q", "qd")
        names = self.ok(self.client.get("/v1/models/five_bar"))["velocity_names"]
        request = {**s, "free": names[1:], "tau": [0, 0.3]}
        both = self.ask_texts("five_bar", "inverse-dynamics", request)
        alone = self.ask_texts("five_bar", "inverse-dynamics", {**request, "outputs": ["tau"]})
        self.assertEqual(alone["tau"], both["tau"])

    def test_targets(self):
        """All targets of one arithmetic class give the same bits, on a worker and on an event loop. The reference positions of the models do not
        depend on the class."""
        requests = [(model, operation, {**only(self.states(model, 21, 44), *fields), **self.OPTIONS.get(operation, {}), "outputs": outputs})
                    for model in self.MODELS for operation, (fields, outputs) in self.OPERATIONS.items()]
        answers = {}
        models = [self.client.get(f"/v1/models/{model}").body for model in self.MODELS]
        for arguments in ((), ("--target", "scalar"), ("--target", "sse2"), ("--target", "fma"), ("--target", "avx2"),
                          ("--target", "scalar_unfused"), ("--target", "sse2_unfused"), ("--inline-limit", "0")):
            try:
                server = Server(*arguments)
            except RuntimeError:
                continue  # this machine does not support the target
            client = server.client()
            self.assertEqual([client.get(f"/v1/models/{model}").body for model in self.MODELS], models, arguments)
            for index, (model, operation, request) in enumerate(requests):
                given = client.post(f"/v1/models/{model}/{operation}", request)
                expected = answers.setdefault((given.headers["Arithmetic"], index), given.texts())
                self.assertEqual(given.texts(), expected, f"{arguments} {model} {operation}")
            client.close()
            self.assertIsNone(server.stop())

    def test_encodings(self):
        for model in self.MODELS:
            s = self.states(model, 7, 42)
            n = len(s["q"][0])
            packed = {name: CBORTag(40, [[7, n], CBORTag(86, struct.pack(f"<{7 * n}d", *np.ravel(s[name])))]) for name in MOTION}
            answer = self.client.post(f"/v1/models/{model}/inverse-dynamics", cbor2.dumps(packed), Content_Type="application/cbor")
            shape, values = cbor2.loads(answer.body)["tau"].value
            self.assertEqual(shape, [7, n])
            plain = self.ask(model, "inverse-dynamics", only(s, *MOTION))["tau"]
            self.assertEqual(list(struct.unpack(f"<{7 * n}d", values.value)), [x for row in plain for x in row], model)

    def test_beside_one_another(self):
        for model in self.MODELS:
            s = self.states(model, 5, 43)
            answer = self.ask_texts(model, "evaluate", {**only(s, *MOTION, "tau"), "operations": {
                name: {**self.OPTIONS.get(name, {}), "outputs": outputs} for name, (fields, outputs) in self.OPERATIONS.items() if "qddd" not in fields}})
            for name, (fields, outputs) in self.OPERATIONS.items():
                if "qddd" not in fields:
                    alone = self.ask_texts(model, name, {**only(s, *fields), **self.OPTIONS.get(name, {}), "outputs": outputs})
                    self.assertEqual(answer[name], alone, f"{model} {name}")


if __name__ == "__main__":
    tap.main()
