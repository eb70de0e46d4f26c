"""Tests gravity and payloads that differ from row to row: every row has the bits of a request with its values for all
rows, in every operation that takes these fields; other operations refuse them by name."""
import cbor2
import numpy as np
import tap
from combination_requests import OPERATIONS, request_of
from combination_trials import CBOR, plain, same
from combinations import ROWS, Case, document
from harness import ServerCase
from samples import body

GRAVITY = [[0.3, -0.5, -9.1], [1.2, 0.4, -7.9], [-2.1, 3.3, -5.7]]
PAYLOAD = [{"link": "hand", "mass": [0.7, 1.1, 0.2], "com": [[0.03, -0.02, 0.11], [0.1, 0.05, 0.02], [-0.04, 0.07, 0.01]],
            "inertia": {"xx": [0.011, 0.013, 0.017], "yy": 0.012, "zz": [0.014, 0.015, 0.016], "xy": 0.001}},
           {"link": "fore", "mass": 0.4, "com": [[0.01, 0.02, 0.03], [0.04, 0.05, 0.06], [0.07, 0.08, 0.09]]}]
CASES = [("batch",), ("batch", "floating", "viscous", "wrenches"), ("batch", "loop", "coulomb"), ("batch", "elastic", "transmission", "permuted"),
         ("batch", "mimic", "smooth", "load"), ("batch", "floating", "free"), ("batch", "held", "mimic"), ("failing", "stribeck")]


def ten(inertial):
    """Returns the ten parameters of an inertial, about the origin of the link."""
    m, c, about = inertial["mass"], np.array(inertial["com"]), inertial["inertia"]
    I = np.array([[about["".join(sorted(a + b))] for b in "xyz"] for a in "xyz"]) + m * (c @ c * np.eye(3) - np.outer(c, c))
    return [m, *(m * c).tolist(), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]


def of_row(value, row):
    """Returns a payload with the figures of a row."""
    if isinstance(value, dict):
        return {name: of_row(entry, row) for name, entry in value.items()}
    if isinstance(value, list):
        return value[row]
    return value


def row_of(value, row):
    """Returns one row of a batched answer."""
    return {name: row_of(entry, row) for name, entry in value.items()} if isinstance(value, dict) else value[row] if isinstance(value, list) else value


class RowScenes(ServerCase):
    def compare(self, case, operation, request, rows, fields):
        path = f"/v1/models/{case.name}/{operation}"
        answer = self.client.post(path, {**request, **fields})
        if answer.status == 422:
            return answer.json()
        given = self.ok(answer)
        binary = self.client.request("POST", path, cbor2.dumps({**request, **fields}), CBOR)
        self.assertTrue(same(given, plain(cbor2.loads(binary.body))), "JSON and CBOR differ")
        for row in range(ROWS):
            expected = self.ok(self.client.post(path, {**request, **rows(row)}))
            for name in set(given) - {"warnings", "errors", "limits", "smooth_friction"}:
                self.assertEqual(row_of(given[name], row), row_of(expected[name], row), f"{operation} {name} row {row}")
        return None

    def test_rows_have_the_bits_of_single_values(self):
        answered, refused = {}, {}
        for features in CASES:
            self.put_model("robot", document(features))
            case = Case("robot", features, self.ok(self.client.get("/v1/models/robot"))["velocity_names"])
            for operation in OPERATIONS:
                request = request_of(operation, case)
                for name, fields, rows in (
                        ("gravity", {"gravity": GRAVITY}, lambda row: {"gravity": GRAVITY[row]}),
                        ("payload", {"payload": PAYLOAD}, lambda row: {"payload": [of_row(one, row) for one in PAYLOAD]}),
                        ("both", {"gravity": GRAVITY, "payload": PAYLOAD[0]}, lambda row: {"gravity": GRAVITY[row], "payload": of_row(PAYLOAD[0], row)})):
                    if self.client.post(f"/v1/models/robot/{operation}", {**request, **rows(0)}).status == 422:
                        continue  # a request of one row is refused as well: the operation does not support the feature or the field
                    with self.subTest(operation=operation, features=features, rows=name):
                        problem = self.compare(case, operation, request, rows, fields)
                        if problem:
                            self.assertEqual(problem["code"], "not-supported")
                            self.assertIn(problem["pointer"], ("/gravity", "/payload"))
                            refused[operation] = problem["detail"]
                        else:
                            answered[operation] = answered.get(operation, 0) + 1
        one_value = {"identify", "ground-reaction", "sensors", "external-wrench", "path-timing"}
        self.assertEqual(set(refused), one_value | {"margins", "path"}, refused)
        self.assertEqual(set(OPERATIONS) - set(answered), one_value | {"kinematics", "inverse-kinematics", "differential-inverse-kinematics", "configuration"})

    def test_held_frames_bear_each_row(self):
        about = self.ok(self.client.get("/v1/models/solo12"))
        feet = [frame["name"] for frame in about["frames"] if "foot" in frame["name"].lower()][:4]
        self.assertEqual(len(feet), 4)
        legs = np.linspace(0.3, 0.9, about["nq"] - 7).tolist()
        state = {"q": [0, 0, 0.3, 0, 0, 0, 1, *legs], "held": [{"frame": foot, "axes": ["x", "y", "z"]} for foot in feet]}
        payload = lambda mass: {"link": about["links"][0], "mass": mass}
        for operation, more in (("inverse-dynamics", {"outputs": ["tau", "contact_wrenches"]}),
                                ("torque-derivative", {"outputs": ["tau_dot", "contact_wrench_rates"]}),
                                ("sensitivity", {"outputs": ["tau", "dtau_dq", "d_contact_wrenches_dq"]})):
            given = self.ask("solo12", operation, {**state, **more, "gravity": GRAVITY, "payload": payload([1.5, 0.5, 2.5])})
            for row, mass in enumerate((1.5, 0.5, 2.5)):
                expected = self.ask("solo12", operation, {**state, **more, "gravity": GRAVITY[row], "payload": payload(mass)})
                self.assertEqual(row_of(given, row), expected, operation)

    def test_refusals_name_the_row(self):
        state = {"q": [[0.1] * 6, [0.2] * 6]}
        for fields, code, pointer in (({"gravity": GRAVITY}, "wrong-shape", "/gravity"), ({"gravity": [[1, 2], [3, 4]]}, "wrong-shape", "/gravity/0"),
                                      ({"gravity": [[1, 2, 3], "x"]}, "wrong-type", "/gravity/1"),
                                      ({"payload": {"link": "link6", "mass": [1, 2, 3]}}, "wrong-shape", "/payload/mass"),
                                      ({"payload": {"link": "link6", "mass": [1, "x"]}}, "wrong-type", "/payload/mass/1"),
                                      ({"payload": {"link": "link6", "mass": 1, "com": [[1, 2, 3], [1, 2]]}}, "wrong-shape", "/payload/com/1"),
                                      ({"payload": [{"link": "link6", "mass": [1, -2]}]}, "bad-inertia", "/payload/0"),
                                      ({"payload": {"link": "link6", "mass": 1, "inertia": {"xx": [1, 2, 3]}}}, "wrong-shape", "/payload/inertia/xx")):
            problem = self.assertProblem(self.client.post("/v1/models/puma560/bias", {**state, **fields}), 422, pointer)
            self.assertEqual(problem["code"], code)
        self.assertIn("in row 1", self.assertProblem(self.client.post("/v1/models/puma560/bias", {**state, "payload": [{"link": "link6", "mass": [1, -2]}]}), 422)["detail"])
        self.assertEqual(self.ask("puma560", "bias", {"q": [], "gravity": [], "payload": {"link": "link6", "mass": []}})["bias"], [])

    def test_refusals_of_rows_name_the_field_that_has_them(self):
        # With the Coulomb friction of puma560, path refuses fields that differ from row to row and names such a field: `parameters`, not a
        # payload for all rows.
        state, bodies = {"q": [[0.1] * 6, [0.2] * 6], "qd": [0.3] * 6}, {"link5": [[2, 0.1, 0, 0.2, 0.4, 0, 0.5, 0, 0, 0.3], [3, 0, 0.2, 0, 0.4, 0, 0.5, 0, 0, 0.3]]}
        one, rows = {"link": "link6", "mass": 1.5}, {"link": "link6", "mass": [1.5, 2.5]}
        for fields, name in (({"parameters": bodies}, "parameters"), ({"payload": one, "parameters": bodies}, "parameters"),
                             ({"payload": rows}, "payload"), ({"payload": rows, "parameters": bodies}, "payload")):
            problem = self.assertProblem(self.client.post("/v1/models/puma560/path", {**state, **fields}), 422, f"/{name}")
            self.assertIn(f"a path with Coulomb friction takes no {name} that differs", problem["detail"])
        frictionless = self.ask("puma560", "path", {**state, "payload": one, "parameters": bodies, "friction": False})
        for row in range(2):
            single = {"q": state["q"][row], "qd": state["qd"], "payload": one, "parameters": {"link5": bodies["link5"][row]}, "friction": False}
            self.assertEqual(frictionless["tau_c"][row], self.ask("puma560", "path", single)["tau_c"])

    def test_parameters_replace_those_of_bodies(self):
        # A row with `parameters` must equal the answer of a document with these inertias, and in every operation that of a single request.
        robot = document(["floating", "mimic"])
        self.put_model("robot", robot)
        case = Case("robot", ("batch", "floating", "mimic"), self.ok(self.client.get("/v1/models/robot"))["velocity_names"])
        inertials = [body(1.3, (0.05, -0.02, 0.11)), body(2.1, (-0.03, 0.07, 0.02)), body(0.8, (0.01, 0.02, 0.03))]
        rows = [ten(inertial) for inertial in inertials]
        field = lambda row: {"parameters": {"fore": rows[row], "trunk": ten(body(9, (0.01, 0.02, 0.1), 0.2, 0.3, 0.25))}}
        for operation in OPERATIONS:
            request = request_of(operation, case)
            if self.client.post(f"/v1/models/robot/{operation}", {**request, **field(0)}).status == 422:
                continue
            problem = self.compare(case, operation, request, field, {"parameters": {**field(0)["parameters"], "fore": rows}})
            self.assertIn(operation, ("margins",) if problem else OPERATIONS, problem)
        state = {"q": case.q.tolist(), "qd": case.qd.tolist(), "qdd": case.qdd.tolist()}
        given = self.ask("robot", "inverse-dynamics", {**state, "parameters": {"fore": rows}})["tau"]
        for row, inertial in enumerate(inertials):
            changed = {**robot, "links": [{**link, "inertial": inertial} if link["name"] == "fore" else link for link in robot["links"]]}
            self.put_model("changed", changed)
            self.assertClose(given[row], self.ask("changed", "inverse-dynamics", state)["tau"][row], 1e-13, 100)
        for parameters, code, pointer in (({"nolink": rows[0]}, "unknown-name", "/parameters/nolink"), ({"fore": rows[0][:9]}, "wrong-shape", "/parameters/fore"),
                                          ({"fore": rows[:2]}, "wrong-shape", "/parameters/fore"), ({"fore": [rows[0], rows[1], [-1] * 10]}, "bad-inertia", "/parameters/fore/2"),
                                          ({"tool": rows[0]}, "unknown-name", "/parameters/tool"), ({"fore": [0, 1] + [0] * 8}, "bad-inertia", "/parameters/fore"), ([1], "wrong-type", "/parameters")):
            problem = self.assertProblem(self.client.post("/v1/models/robot/inverse-dynamics", {**state, "parameters": parameters}), 422, pointer)
            self.assertEqual(problem["code"], code)

    def test_one_state_in_several_gravities(self):
        # A robot that is mounted in three ways feels gravity in three directions. The bias must be that of single requests, and linear in
        # gravity.
        state = {"q": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
        rows = self.ask("puma560", "bias", {**state, "gravity": GRAVITY})["bias"]
        self.assertEqual(rows, [self.ask("puma560", "bias", {**state, "gravity": g})["bias"] for g in GRAVITY])
        double = self.ask("puma560", "bias", {**state, "gravity": [[2 * x for x in g] for g in GRAVITY]})["bias"]
        self.assertClose(double, (2 * np.array(rows)).tolist(), 1e-13)


if __name__ == "__main__":
    tap.main()
