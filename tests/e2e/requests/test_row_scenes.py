"""Tests gravity and payloads that differ from row to row: every row has the bits of a request with its values for all
rows, in every operation that takes these fields; other operations refuse them by name."""
import copy

import cbor2
import numpy as np
import tap
from combination_requests import OPERATIONS, request_of
from combination_trials import CBOR, plain, same
from combinations import ROWS, Case, document
from harness import ServerCase

GRAVITY = [[0.3, -0.5, -9.1], [1.2, 0.4, -7.9], [-2.1, 3.3, -5.7]]
PAYLOAD = [{"link": "hand", "mass": [0.7, 1.1, 0.2], "com": [[0.03, -0.02, 0.11], [0.1, 0.05, 0.02], [-0.04, 0.07, 0.01]],
            "inertia": {"xx": [0.011, 0.013, 0.017], "yy": 0.012, "zz": [0.014, 0.015, 0.016], "xy": 0.001}},
           {"link": "fore", "mass": 0.4, "com": [[0.01, 0.02, 0.03], [0.04, 0.05, 0.06], [0.07, 0.08, 0.09]]}]
CASES = [("batch",), ("batch", "floating", "viscous", "wrenches"), ("batch", "loop", "coulomb"), ("batch", "elastic", "transmission", "permuted"),
         ("batch", "mimic", "smooth", "load"), ("batch", "floating", "free"), ("batch", "held", "mimic"), ("failing", "stribeck")]
REFUSED = {"identify", "kinematics", "inverse-kinematics", "ground-reaction", "path", "rollout", "simulate"}


def of_row(value, row):
    """Returns a payload with the figures of a row."""
    if isinstance(value, dict):
        return {name: of_row(entry, row) for name, entry in value.items()}
    if isinstance(value, list):
        return value[row]
    return value


def row_of(value, row):
    """Returns a row of an answer."""
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
                        ("payload", {"payload": PAYLOAD}, lambda row: {"payload": [of_row(body, row) for body in PAYLOAD]}),
                        ("both", {"gravity": GRAVITY, "payload": PAYLOAD[0]}, lambda row: {"gravity": GRAVITY[row], "payload": of_row(PAYLOAD[0], row)})):
                    if self.client.post(f"/v1/models/robot/{operation}", {**request, **rows(0)}).status == 422:
                        print("#skip", operation, features, name)
                        continue
                    with self.subTest(operation=operation, features=features, rows=name):
                        problem = self.compare(case, operation, request, rows, fields)
                        if problem:
                            refused.setdefault(operation, []).append((features, problem["detail"]))
                        else:
                            answered[operation] = answered.get(operation, 0) + 1
        print("# refused", refused)
        print("# answered", answered, set(OPERATIONS) - set(answered))


if __name__ == "__main__":
    tap.main()
