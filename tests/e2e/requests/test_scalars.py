"""Tests that a model with one coordinate accepts a number instead of an array of one number, since MATLAB's jsonencode sends it, and gives
the same answer. Batches stay batches."""
import cbor2
import tap
from harness import ServerCase
from samples import pendulum


class Scalars(ServerCase):
    REQUESTS = {
        "inverse-dynamics": {"q": 0.3, "qd": -1.5, "qdd": 2.0},
        "forward-dynamics": {"q": 0.3, "qd": -1.5, "tau": 0.7},
        "torque-derivative": {"q": 0.3, "qd": -1.5, "qdd": 2.0, "qddd": 0.1},
        "mass-matrix": {"q": 0.3},
        "evaluate": {"q": 0.3, "qd": -1.5, "tau": 0.7, "operations": {"forward-dynamics": {}, "energy": {}, "bias": {}}}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/one", pendulum()).status == 201

    def same(self, model, operation, scalar, listed):
        answers = [self.client.post(f"/v1/models/{model}/{operation}", request) for request in (scalar, listed)]
        self.assertEqual([answer.status for answer in answers], [200, 200], answers)
        self.assertEqual(answers[0].body, answers[1].body, operation)

    def test_a_number_is_a_state(self):
        for operation, request in self.REQUESTS.items():
            listed = {key: [value] if isinstance(value, float) else value for key, value in request.items()}
            self.same("one", operation, request, listed)
            self.same("one", operation, {**listed, "q": request["q"]}, listed)
            self.same("one", operation, {**request, "joints": ["pivot"]}, listed)

    def test_in_cbor(self):
        answer = self.client.request("POST", "/v1/models/one/bias", cbor2.dumps({"q": 0.3, "qd": 1}),
                                     {"Content-Type": "application/cbor", "Accept": "application/json"})
        self.assertEqual(self.ok(answer), self.ask("one", "bias", {"q": [0.3], "qd": [1]}))

    def test_shared_by_a_batch(self):
        self.same("one", "inverse-dynamics", {"q": [[0.1], [0.2]], "qd": 1, "qdd": 0.5},
                  {"q": [[0.1], [0.2]], "qd": [1], "qdd": [0.5]})

    def test_of_loops(self):
        """A model with loops: the crank of a four-bar."""
        self.same("four_bar", "inverse-dynamics", {"q": 0.4, "qd": 1, "qdd": 2}, {"q": [0.4], "qd": [1], "qdd": [2]})

    def test_signals(self):
        fall = {"q": 0.1, "qd": 0.2, "duration": 0.1, "step": 0.01, "samples": 3}
        for scalar, listed in ((3, [3]), ({"amplitude": 2, "angular_frequency": 5, "phase": 0.1},
                                          {"amplitude": [2], "angular_frequency": [5], "phase": [0.1]})):
            self.same("one", "simulate", {**fall, "input": {"tau": scalar}}, {**fall, "input": {"tau": listed}})

    def test_rows_stay_rows(self):
        """An array of numbers is one state, whatever its length; rows of a batch must be arrays."""
        def refused(request, pointer, code, model="one", row=None):
            problem = self.assertProblem(self.client.post(f"/v1/models/{model}/bias", request), 422, pointer, row)
            self.assertEqual(problem["code"], code)
        refused({"q": [1, 2, 3]}, "/q", "wrong-shape")
        refused({"q": [[1], 2]}, "/q/1", "wrong-type", row=1)
        refused({"q": "1"}, "/q", "wrong-type")
        refused({"q": 1e9}, "/q", "angle-too-large")
        refused({"q": 0.5}, "/q", "wrong-type", model="two_link")
        self.assertEqual(len(self.ask("one", "bias", {"q": [[1], [2], [3]]})["bias"]), 3)


if __name__ == "__main__":
    tap.main()
