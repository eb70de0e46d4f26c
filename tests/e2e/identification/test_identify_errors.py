"""Tests identify with data that do not determine the parameters, and refusals."""
import json

import tap
from identification import Identify, fourier, pick
from samples import chain, states


class Refused(Identify):
    def setUp(self):
        self.rows = self.simulated("puma560", fourier(6, 60, 2))

    def test_too_few_rows(self):
        detail = self.refused("puma560", pick(self.rows, range(6)), "rank-deficient")
        self.assertIn("36 base parameters", detail)
        self.assertIn("7 states", detail)
        self.refused("puma560", {name: field[0] for name, field in self.rows.items()}, "rank-deficient")
        self.refused("puma560", {**self.rows, "weights": [1, 0, 0, 0, 0, 0]}, "rank-deficient")
        detail = self.refused("two_link", {**{name: [[0.1, 0.2]] * 9 for name in self.rows}, "weights": [[0, 1]] + [[0, 0]] * 8},
                              "rank-deficient", "/weights")
        self.assertIn("only 1 rows", detail)

    def test_data_that_do_not_tell(self):
        constant = {name: [field[0]] * 60 for name, field in self.rows.items()}
        self.assertIn("of the 36", self.refused("puma560", constant, "rank-deficient"))
        still = {**constant, "qd": [[0] * 6] * 60, "qdd": [[0] * 6] * 60}
        self.assertIn("move", self.refused("puma560", still, "rank-deficient"))
        zero = {name: [[0] * 6] * 60 for name in self.rows}
        self.assertIn("move", self.refused("puma560", zero, "rank-deficient"))

    def test_a_joint_that_stands_still(self):
        for name in ("qd", "qdd"):
            for row in self.rows[name]:
                row[5] = 0
        detail = self.refused("puma560", {**self.rows, **self.ALL}, "rank-deficient")
        for parameter in ("joint6.viscous", "joint6.coulomb_positive", "joint6.rotor_inertia"):
            self.assertIn(parameter, detail)
        self.assertNotIn("joint1.", detail)
        for row in self.rows["q"]:
            row[5] = 0.3
        self.ask("puma560", "identify", self.rows)  # the torque of a joint at rest still shows the weight that the joint carries
        detail = self.refused("puma560", {**self.rows, "weights": [1, 1, 1, 1, 1, 0]}, "rank-deficient")
        self.assertIn("16 of the 36", detail)
        self.assertIn("link5.Ixx", detail)

    def test_one_direction_only(self):
        rows = {**self.rows, "qd": [[abs(x) for x in row] for row in self.rows["qd"]]}
        detail = self.refused("puma560", {**rows, "friction": True}, "rank-deficient")
        self.assertIn("6 of the 54", detail)
        self.assertIn("joint3.coulomb_negative", detail)
        self.assertIn("both ways, or leave \"friction\"", detail)
        self.ask("puma560", "identify", self.simulated("puma560", rows))
        for unknown in (["friction"], ["friction", "stribeck"]):
            detail = self.refused("puma560", {**rows, "unknown": unknown}, "rank-deficient")
            self.assertRegex(detail, "both ways.*, or list less in \"unknown\"")
            self.assertNotIn("leave", detail)

    def test_the_request(self):
        for field in ("q", "qd", "qdd", "tau"):
            self.refused("puma560", {name: rows for name, rows in self.rows.items() if name != field}, "missing-field", f"/{field}")
        for change, code, pointer, row in (
                ({"weights": [1, 2, 3]}, "wrong-shape", "/weights", None),
                ({"weights": [1, 2, 3, -1e-9, 5, 6]}, "bad-value", "/weights/3", None),
                ({"weights": [[1] * 6] * 59 + [[1, -1, 1, 1, 1, 1]]}, "bad-value", "/weights/59/1", 59),
                ({"weights": [[1] * 6] * 59}, "wrong-shape", "/weights", None),
                ({"weights": 1}, "wrong-type", "/weights", None),
                ({"tau": self.rows["tau"][:-1]}, "wrong-shape", "/tau", None),
                ({"tau": self.rows["tau"][:-1] + [[1] * 5]}, "wrong-shape", "/tau/59", 59),
                ({"tau": self.rows["tau"][:-1] + [[1] * 5 + [None]]}, "wrong-type", "/tau/59/5", 59),
                ({"rotor": 1}, "wrong-type", "/rotor", None),
                ({"friction": "yes"}, "wrong-type", "/friction", None),
                ({"consistent": "yes"}, "wrong-type", "/consistent", None),
                ({"gravity": [0, 0, -1.62]}, "bad-value", "/gravity", None),
                ({"outputs": ["tau"]}, "unknown-name", "/outputs/0", None),
                ({"qddd": self.rows["qdd"]}, "unknown-field", "/qddd", None)):
            with self.subTest(change=next(iter(change))):
                self.refused("puma560", {**self.rows, **change}, code, pointer, row)
        text = json.dumps(self.rows)
        self.assertProblem(self.client.post("/v1/models/puma560/identify", text.replace(str(self.rows["tau"][3][2]), "NaN"),
                                            Content_Type="application/json"), 400)
        self.ask("puma560", "identify", {**self.rows, "gravity": [0, 0, -9.81]})

    def test_figures_too_large(self):
        for name, size in (("tau", 1e200), ("qd", 1e160), ("qdd", 1e307), ("weights", 1e300)):
            rows = {**self.rows, "weights": [1] * 6}
            rows[name] = [[size * x for x in row] for row in self.rows["tau" if name == "weights" else name]]
            if name == "weights":
                rows[name] = [[abs(x) for x in row] for row in rows[name]]
            with self.subTest(field=name):
                self.refused("puma560", rows, "result-not-finite")

    def test_not_in_evaluate(self):
        answer = self.client.post("/v1/models/puma560/evaluate", {"q": [0] * 6, "operations": {"identify": {}}})
        problem = self.assertProblem(answer, 422, "/operations/identify")
        self.assertIn("identify", problem["detail"])

    def test_too_many_bodies(self):
        self.put_model("long", chain(101))
        rows = {name: [[0] * 101] for name in ("q", "qd", "qdd", "tau")}
        self.assertIn("100", self.refused("long", rows, "not-supported"))

    def test_the_deadline_holds(self):
        rows = self.simulated("humanoid", states(900, 39, True, 1))
        answer = self.client.request("POST", "/v1/models/humanoid/identify", {**rows, **self.ALL}, {"Request-Timeout": "0.2"})
        self.assertEqual(answer.status, 504, answer)


if __name__ == "__main__":
    tap.main()
