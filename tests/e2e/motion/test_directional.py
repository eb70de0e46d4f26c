"""Tests directional and forward-directional: products of matrices and directions with wrenches and payloads, batches, evaluate,
and refusals."""
import numpy as np
import tap
from harness import ServerCase

MATRICES = {"directional": ("sensitivity", "dtau", "qdd", "tau"), "forward-directional": ("forward-sensitivity", "dqdd", "tau", "qdd")}


class Directional(ServerCase):
    def state(self, model, choose, third, rows=None):
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        q = choose.uniform(-1, 1, (rows or 1, about["nq"]))
        if about["nq"] != about["nv"]:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        draw = lambda: choose.normal(size=(rows or 1, about["nv"]))
        state = {"q": q, "qd": draw(), third: draw()}
        return about, {name: (x if rows else x[0]).tolist() for name, x in state.items()}

    def test_rates_are_products_of_the_matrices_and_the_directions(self):
        """Three directions of a robot that is pushed and carries a payload. The operation's own outputs have the same bits with directions as
        without."""
        choose = np.random.default_rng(1)
        for model in ("panda", "solo12"):
            for operation, (matrices, name, third, value) in MATRICES.items():
                about, state = self.state(model, choose, third)
                link = about["bodies"][-1]
                state |= {"wrenches": [{"link": link, "force": [1, -2, 3], "torque": [0.3, 0.1, -0.2], "point": [0.1, 0.2, 0]},
                                       {"link": link, "frame": "world", "force": [-3, 1, 2], "torque": [0.1, 0.4, 0.2], "point": [0, 0.2, 0.1]}],
                          "payload": [{"link": link, "mass": 0.4, "com": [0.1, 0, 0.05]}]}
                along = {part: choose.normal(size=(3, about["nv"])) for part in ("q", "qd", third)}
                got = self.ask(model, operation, {**state, "directions": {part: x.tolist() for part, x in along.items()}, "outputs": ["rates", value]})
                given = self.ask(model, matrices, {**state, "outputs": [f"{name}_d{part}" for part in along]})
                expected = sum(x @ np.array(given[f"{name}_d{part}"]).T for part, x in along.items())
                self.assertLess(abs(np.array(got["rates"]) - expected).max() / abs(expected).max(), 1e-12, (model, operation))
                plain = {"directional": "inverse-dynamics", "forward-directional": "forward-dynamics"}[operation]
                self.assertEqual(got[value], self.ask(model, plain, {**state, "outputs": [value]})[value])
                one = self.ask(model, operation, {**state, "directions": {"qd": along["qd"][1:2].tolist()}})
                self.assertLess(abs(np.array(one["rates"][0]) - np.array(given[f"{name}_dqd"]) @ along["qd"][1]).max(), 1e-9)

    def test_rows_have_the_bits_of_single_requests_and_of_evaluate(self):
        choose = np.random.default_rng(2)
        for operation, (_, _, third, _) in MATRICES.items():
            about, state = self.state("solo12", choose, third, 11)
            own, shared = choose.normal(size=(11, 2, 18)), choose.normal(size=(2, 18)).tolist()
            request = {**state, "directions": {"q": own.tolist(), third: shared}}
            batch = self.ask("solo12", operation, request)["rates"]
            for row in (0, 6, 10):
                one = {**{name: x[row] for name, x in state.items()}, "directions": {"q": own[row].tolist(), third: shared}}
                self.assertEqual(self.ask("solo12", operation, one)["rates"], batch[row])
            both = self.ask("solo12", "evaluate", {**state, "operations": {operation: {"directions": request["directions"]}}})
            self.assertEqual(both[operation]["rates"], batch)

    def test_refusals_name_the_field(self):
        q = {"q": [0.1, 0.2]}
        refuse = lambda r, pointer, operation="directional", model="two_link": self.assertProblem(
            self.client.post(f"/v1/models/{model}/{operation}", r), 422, pointer)
        refuse(q, None)
        refuse({**q, "directions": {}}, "/directions")
        refuse({**q, "directions": {"tau": [[1, 2]]}}, "/directions/tau")
        refuse({**q, "directions": {"q": [[1, 2, 3]]}}, "/directions/q/0")
        refuse({**q, "directions": {"q": [1, 2]}}, "/directions/q/0")
        refuse({**q, "directions": {"q": [[1, 2]], "qd": [[1, 2]] * 2}}, "/directions/qd")
        refuse({**q, "tau": [0, 0], "directions": {"qdd": [[1, 2]]}}, "/directions/qdd", "forward-directional")
        refuse({**q, "directions": {"q": [[1, 2]]}}, None, "forward-directional")


if __name__ == "__main__":
    tap.main()
