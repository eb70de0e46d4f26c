"""Tests that the division of batches into windows of rows, evaluated by several threads, does not change the answer.
Errors in the request's numbers are reported before errors in results."""
import json
import struct
import unittest

import cbor2
import tap
from cbor2 import CBORTag
from harness import Server, ServerCase
from samples import branched, chain, everything, states

SIZES = (1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1537)
CBOR = {"Content_Type": "application/cbor", "Accept": "application/cbor; arrays=multidimensional"}


def typed(rows, number="d"):
    """Returns CBOR tag 40 over tag 86 (doubles) or 85 (single precision)."""
    flat = [x for row in rows for x in row]
    return CBORTag(40, [[len(rows), len(rows[0])],
                        CBORTag({"d": 86, "f": 85}[number], struct.pack(f"<{len(flat)}{number}", *flat))])


def with_types(request):
    return {name: typed(value) if isinstance(value, list) and isinstance(value[0], list) else value
            for name, value in request.items()}


def numbers(value):
    """Converts a CBOR answer to nested lists."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if not isinstance(value, CBORTag):
        return value
    shape, array = value.value if value.tag == 40 else (None, value)
    flat = list(struct.unpack(f"<{len(array.value) // 8}d", array.value))
    for extent in reversed(shape[1:] if shape else []):
        flat = [flat[i:i + extent] for i in range(0, len(flat), extent)]
    return flat


def row_of(value, row):
    if isinstance(value, dict):
        return {key: row_of(item, row) for key, item in value.items()}
    return value[row]


def cut(request, rows):
    """Returns the first rows of a batch, with wrenches; some fields of the wrenches are batched too."""
    wrenches = [{"link": "fore", "force": [5, 3, 1], "point": [row[:3] for row in request["qd"][:rows]]},
                {"link": "thigh", "frame": "link", "torque": [row[1:] for row in request["qdd"][:rows]]}]
    return {**{name: value[:rows] if isinstance(value, list) else value for name, value in request.items()},
            "wrenches": wrenches}


class Windows(unittest.TestCase):
    def serve(self, *arguments):
        server = Server(*arguments)
        self.addCleanup(server.kill)
        server.client().put("/v1/models/branched", branched())
        return server

    def test_sizes_encodings_and_workers(self):
        """Each state has the same bits in a single request and in batches of any size, in both encodings, with one thread and with several."""
        whole = everything(states(max(SIZES)))
        alone = {}
        for workers in ("1", "3"):
            server = self.serve("--workers", workers)
            client = server.client(120)
            for size in SIZES:
                request = cut(whole, size)
                text = client.post("/v1/models/branched/evaluate", json.dumps(request))
                self.assertEqual(text.status, 200, text)
                binary = client.post("/v1/models/branched/evaluate", cbor2.dumps(with_types(request)), **CBOR)
                self.assertEqual(binary.status, 200, binary)
                answer = json.loads(text.body)
                self.assertEqual(numbers(cbor2.loads(binary.body)), answer)
                for row in {0, size // 2, size - 1}:
                    one = alone.setdefault(row, row_of(answer, row))
                    self.assertEqual(row_of(answer, row), one, (size, row))
            self.assertIsNone(server.stop())

    def test_zeros_of_other_branches(self):
        """Structural zeros of the mass matrix, between branches, are zero in every window."""
        whole = states(600)
        asked = {"mass-matrix": {}, "sensitivity": {"outputs": ["dtau_dq", "dtau_dqdd"]}}
        for workers in ("1", "3"):
            client = self.serve("--workers", workers).client(120)

            def ask(state):
                request = {**state, "operations": asked}
                return client.post("/v1/models/branched/evaluate", json.dumps(request)).json()

            batch = ask({name: whole[name] for name in ("q", "qd", "qdd")})
            zeros = sum(x == 0 for line in batch["mass-matrix"]["mass_matrix"][0] for x in line)
            self.assertGreater(zeros, 0)
            for row in (0, 7, 8, 300, 511, 512, 599):
                alone = {name: whole[name][row] for name in ("q", "qd", "qdd")}
                self.assertEqual({name: row_of(answer, row) for name, answer in batch.items()},
                                 ask(alone), (workers, row))

    def test_many_frames_in_another_order(self):
        """If a CBOR map gets more members than the head reserved for it can express, the answer is moved to make room, with all arrays
        inside."""
        server = self.serve("--workers", "2")
        client = server.client(120)
        client.put("/v1/models/long", chain(40))
        names = client.get("/v1/models/long").json()["velocity_names"]
        rows = [[0.01 * (i + 1) * ((7 * k) % 11 - 5) for k in range(40)] for i in range(70)]
        request = {"q": rows, "qd": rows, "joints": names[::-1],
                   "operations": {"kinematics": {}, "coriolis": {}, "energy": {"outputs": ["kinetic", "com_jacobian"]}}}
        text = client.post("/v1/models/long/evaluate", json.dumps(request))
        self.assertEqual(text.status, 200, text)
        turned = json.loads(text.body)
        self.assertGreater(len(turned["kinematics"]["poses"]), 24)
        binary = client.post("/v1/models/long/evaluate", cbor2.dumps(with_types(request)), **CBOR)
        self.assertEqual(numbers(cbor2.loads(binary.body)), turned)
        del request["joints"]
        request["q"] = request["qd"] = [row[::-1] for row in rows]
        plain = json.loads(client.post("/v1/models/long/evaluate", json.dumps(request)).body)
        self.assertEqual(turned["kinematics"], plain["kinematics"])
        self.assertEqual(turned["coriolis"]["coriolis_matrix"],
                         [[line[::-1] for line in matrix[::-1]] for matrix in plain["coriolis"]["coriolis_matrix"]])
        self.assertEqual(turned["energy"]["com_jacobian"],
                         [[line[::-1] for line in matrix] for matrix in plain["energy"]["com_jacobian"]])
        self.assertIsNone(server.stop())


class Order(ServerCase):
    """Requests with two errors each: tests which one is reported."""
    arguments = ("--workers", "2")
    ROWS = 1600

    def rows(self, row=None, entry=None, value=None):
        rows = [[0.1] * 7 for _ in range(self.ROWS)]
        if row is not None:
            rows[row][entry] = value
        return rows

    def refused(self, request, code, pointer, row, operation="inverse-dynamics", raw=None):
        body = raw or cbor2.dumps(with_types(request))
        problem = self.assertProblem(self.client.post(f"/v1/models/panda/{operation}", body, **CBOR), 422, pointer, row)
        self.assertEqual(problem["code"], code, problem)

    def test_the_first_field_speaks(self):
        far = self.rows(1555, 3, 1e9)
        self.refused({"q": far, "qd": [[0.1] * 6] * self.ROWS}, "angle-too-large", "/q/1555/3", 1555)
        # the number of rows is checked first
        self.refused({"q": far, "qd": [[0.1] * 7] * 3}, "wrong-shape", "/qd", None)

    def test_numbers_before_results(self):
        """The result of row 2 is not finite, and two later rows have bad numbers: the problem names the first of the two later rows.
        """
        far = self.rows(1555, 3, 1e9)
        far[1590][0] = 1e7
        self.refused({"q": far, "qd": self.rows(2, 1, 1e300)}, "angle-too-large", "/q/1555/3", 1555)
        self.refused({"q": self.rows(), "qd": self.rows(1402, 1, 1e300)}, "result-not-finite", None, 1402)
        twice = self.rows(1402, 1, 1e300)
        twice[700][1] = 1e300
        self.refused({"q": self.rows(), "qd": twice}, "result-not-finite", None, 700)

    def test_not_finite_before_all_else(self):
        for number in "df":
            nan = typed(self.rows(1203, 6, float("nan")), number)
            for rest in ({"x": 1}, {"qd": typed(self.rows(5, 0, float("inf")))}, {"qdd": typed([[0.1] * 6] * self.ROWS)},
                         {"outputs": ["none"]}, {"gravity": [0, 0]}):
                self.refused({"q": nan, **rest}, "non-finite", "/q/1203/6", 1203)
            self.refused({"qd": typed(self.rows(5, 0, float("inf"))), "q": nan}, "non-finite", "/qd/5/0", 5)
            self.refused({"q": typed(self.rows(9, 0, 1e9), number), "qdd": nan}, "non-finite", "/qdd/1203/6", 1203)
            body = cbor2.dumps({"q": nan, "qd": typed(self.rows())})
            for raw in (body + b"\x00", body[:-1], b"\xa3" + body[1:] + b"\x61q\xf6", b"\xa3" + body[1:] + b"\x61x\xff"):
                self.refused({}, "non-finite", "/q/1203/6", 1203, raw=raw)

    def test_operations_that_hold_all_states(self):
        nan = self.rows(1203, 6, float("nan"))
        self.refused({"q": self.rows(9, 0, 1e9), "qd": nan, "qdd": self.rows(), "tau": self.rows()}, "non-finite",
                     "/qd/1203/6", 1203, "identify")
        self.refused({"q": self.rows(9, 0, 1e9), "qd": self.rows(), "qdd": self.rows(), "tau": self.rows()},
                     "angle-too-large", "/q/9/0", 9, "identify")


if __name__ == "__main__":
    tap.main()
