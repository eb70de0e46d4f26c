"""Tests requests in CBOR, encoded by cbor2: every legal form of numbers gives, byte for byte, the answer to the same
doubles in JSON; malformed requests are refused."""
import math
import random
import struct

import cbor2
import tap
from cbor2 import CBORTag
from harness import ServerCase
from samples import branched, everything, slider, states

CBOR = {"Content_Type": "application/cbor", "Accept": "application/json"}
OPTIONS = {
    "kinematics": {"frame": "tool", "outputs": ["poses", "jacobian", "velocity", "acceleration", "jerk"]},
    "impact": {"held": [{"frame": "tool", "axes": ["x", "rz"]}], "restitution": 0.5},
    "step": {"step": 0.01, "held": [{"frame": "tool", "axes": ["x", "rz"]}], "impact": True},
    "rollout": {"step": 0.01, "torques": [[0.5, -1, 0.25, 0], [0, 1, 0.1, -0.5]],
                "phases": [{"steps": 1}, {"steps": 1, "held": [{"frame": "tool", "axes": ["x", "rz"]}]}]},
    "hessian": {"multipliers": [1, -0.5, 0.25, 2]}, "forward-hessian": {"multipliers": [1, -0.5, 0.25, 2]},
    "gradient": {"multipliers": [1, -0.5, 0.25, 2]}, "forward-gradient": {"multipliers": [1, -0.5, 0.25, 2]},
    "directional": {"directions": {"q": [[1, -0.5, 0.25, 2]], "qdd": [[0.3, 0.1, -0.4, 0.2]]}},
    "forward-directional": {"directions": {"qd": [[1, -0.5, 0.25, 2]], "tau": [[0.3, 0.1, -0.4, 0.2]]}},
    "rollout-gradient": {"step": 0.01, "torques": [[0.5, -1, 0.25, 0], [0, 1, 0.1, -0.5]], "cost": {"qd": [1, 2, 3, 4]},
                         "multipliers_q": [[0.3, 0.1, -0.4, 0.2]]},
    "sensors": {"force_torque": [{"frame": "tool"}], "inertial": ["tool"]},
    "task-space": {"frame": "tool", "axes": ["x", "rz"], "damping": 0.01},
    "differential-inverse-kinematics": {"step": 0.01, "tasks": [{"frame": "tool", "velocity": [0.1, -0.2, 0.3]}]}}
# Operations that need more fields than those of a state.
OTHERS = {"evaluate", "ground-reaction", "inverse-kinematics", "margins", "identify", "simulate", "trajectory",
          "trajectory-hessian", "path-timing"}


def doubles(row):
    return CBORTag(86, struct.pack(f"<{len(row)}d", *row))


def floats(row):
    return CBORTag(85, struct.pack(f"<{len(row)}f", *row))


def extents(value):
    return [len(value)] + extents(value[0]) if isinstance(value, list) else []


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def is_numbers(value):
    return isinstance(value, list) and bool(value) and all(isinstance(x, (int, float)) for x in flat(value))


def by_columns(value):
    """Returns the numbers in the order in which the first index runs fastest."""
    if not isinstance(value[0], list):
        return value
    rows = [by_columns(row) for row in value]
    return [row[i] for i in range(len(rows[0])) for row in rows]


def forms_of(value):
    """Yields the CBOR forms that an array of numbers may have instead of plain arrays of 64-bit floats."""
    yield doubles(value) if len(extents(value)) == 1 else CBORTag(40, [extents(value), doubles(flat(value))])
    yield CBORTag(40, [extents(value), doubles(flat(value))])
    yield CBORTag(40, [extents(value), flat(value)])
    yield CBORTag(40, [extents(value), Indefinite(flat(value))])
    yield CBORTag(40, [extents(value), CBORTag(82, struct.pack(f">{len(flat(value))}d", *flat(value)))])
    yield CBORTag(1040, [extents(value), doubles(by_columns(value))])
    yield CBORTag(1040, [extents(value), by_columns(value)])
    yield Indefinite([Indefinite(row) if isinstance(row, list) else row for row in value])
    if len(extents(value)) == 2:
        yield [doubles(row) for row in value]
        yield [doubles(row) if i % 2 else row for i, row in enumerate(value)]


class Indefinite(list):
    """A list that is encoded with indefinite length."""


def encode(value):
    if isinstance(value, Indefinite):
        return b"\x9f" + b"".join(map(encode, value)) + b"\xff"
    if isinstance(value, CBORTag):
        head = cbor2.dumps(CBORTag(value.tag, 0))[:-1]
        return head + encode(value.value)
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(encode, value))
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(cbor2.dumps(k) + encode(v) for k, v in value.items())
    return cbor2.dumps(value)


def _head(major, count):
    return bytes([major << 5]) if count == 0 else bytes([cbor2.dumps(count)[0] | major << 5]) + cbor2.dumps(count)[1:]


def replaced(value, form):
    """Returns the request with every array of numbers in its form number `form`, modulo the number of its forms."""
    if is_numbers(value):
        forms = list(forms_of(value))
        return forms[form % len(forms)]
    if isinstance(value, dict):
        return {key: replaced(part, form) for key, part in value.items()}
    if isinstance(value, list):
        return [replaced(part, form) for part in value]
    return value


class SameBits(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, base in (("arm", "fixed"), ("free", "floating")):
            cls.put_model(cls(), name, branched(base))
        cls.operations = [o["name"] for o in cls.client.get("/v1").json()["operations"]]

    def takes(self, operation):
        """Returns the fields of a state that the operation accepts, found by a request with each field."""
        fields = {}
        for name, (row,) in states(1).items():
            answer = self.client.post(f"/v1/models/arm/{operation}", {"q": [0, 0, 0, 0], name: row, **OPTIONS.get(operation, {})})
            if answer.json().get("code") != "unknown-field":
                fields[name] = row
        return fields

    def same(self, path, request):
        expected = self.client.post(path, request)
        self.assertEqual(expected.status, 200, expected)
        for form in range(8):
            body = encode(replaced(request, form)) if form < 7 else b"\xd9\xd9\xf7" + cbor2.dumps(request)
            answer = self.client.post(path, body, **CBOR)
            self.assertEqual(answer.status, 200, (path, form, answer))
            self.assertEqual(answer.body, expected.body, (path, form))

    def test_every_operation(self):
        plain = [o for o in self.operations if o not in OTHERS]
        self.assertGreater(len(plain), 11)
        for operation in plain:
            fields = self.takes(operation)
            self.assertIn("q", fields, operation)
            options = OPTIONS.get(operation, {})
            self.same(f"/v1/models/arm/{operation}", {**fields, **options})
            batch = {name: rows for name, rows in states(11, seed=7).items() if name in fields}
            self.same(f"/v1/models/arm/{operation}", {**batch, **options})
            self.same(f"/v1/models/arm/{operation}", {**batch, "q": fields["q"], **options})

    def test_evaluate_with_surroundings(self):
        request = everything(states(9, floating=True, nv=10))
        request["gravity"] = [0.5, -1, -9]
        request["payload"] = {"link": "gripper", "mass": 0.5, "com": [0, 0.1, 0], "inertia": {"xx": 0.01, "yy": 0.01}}
        request["wrenches"] = [{"link": "fore", "force": [[i, 1, 2] for i in range(9)], "torque": [0.1, 0.2, 0.3]},
                               {"link": "upper", "force": [1, 0, 0], "point": [0, 0, 0.1], "frame": "link"}]
        self.same("/v1/models/free/evaluate", request)

    def test_operations_that_stand_alone(self):
        rows = {name: part for name, part in states(30).items() if name != "qddd"}
        self.same("/v1/models/arm/identify", {**rows, "weights": [1, 2, 0.5, 3], "friction": True})
        control_points = [[[0.1 * (i + 2 * k - j) for j in range(4)] for k in range(6)] for i in range(2)]
        self.same("/v1/models/arm/trajectory", {
            "degree": 2, "duration": [1, 2], "control_points": control_points, "times": [0, 0.25, 1],
            "knots": [0, 0, 0, 0.3, 0.5, 0.7, 1, 1, 1], "outputs": ["times", "tau_dot", "dtau_dcontrol_points"]})
        self.same("/v1/models/arm/simulate", {
            "q": rows["q"][:3], "qd": rows["qd"][0], "duration": 0.01, "step": 0.001, "samples": 3})

    def test_gains_of_a_batch(self):
        """Arrays of four dimensions: rows, steps, and a matrix of gains."""
        rng = random.Random(11)
        gains = [[[[rng.uniform(-1, 1) for _ in range(8)] for _ in range(4)] for _ in range(3)] for _ in range(2)]
        rows = states(2)
        self.same("/v1/models/arm/rollout", {
            "q": rows["q"], "qd": rows["qd"], "step": 0.01, "torques": [[1, 0.5, 0.2, 0]] * 3,
            "feedback": {"gains": gains, "q": [rows["q"][1]] * 3, "qd": [rows["qd"][1]] * 3}})

    def test_names_instead_of_order(self):
        names = self.client.get("/v1/models/arm").json()["velocity_names"]
        q = dict(zip(names, states(1)["q"][0]))
        self.same("/v1/models/arm/inverse-dynamics", {"q": q, "qd": [1, 2, 3, 4]})
        self.same("/v1/models/arm/inverse-dynamics", {"q": states(3)["q"], "joints": names[::-1]})

    def test_floats_are_widened_exactly(self):
        rng = random.Random(5)
        rows = [[struct.unpack("<f", struct.pack("<f", rng.uniform(-2, 2)))[0] for _ in range(4)] for _ in range(20)]
        rows[3] = [1e-45, -0.0, 3.4028234663852886e38 * 0, 1.17549435e-38 / 2]
        rows[3] = [struct.unpack("<f", struct.pack("<f", x))[0] for x in rows[3]]
        path, expected = "/v1/models/arm/inverse-dynamics", {"q": rows[0], "qd": rows}
        answer = self.client.post(path, expected)
        for qd in (CBORTag(40, [[20, 4], floats(flat(rows))]), [floats(row) for row in rows],
                   [floats(row) if i % 3 else doubles(row) for i, row in enumerate(rows)]):
            given = self.client.post(path, encode({"q": floats(rows[0]), "qd": qd}), **CBOR)
            self.assertEqual(given.body, answer.body)


    def test_integers_and_halves_are_read_exactly(self):
        rows = [[k - 3 + i for i in range(4)] for k in range(5)]
        path, given = "/v1/models/arm/inverse-dynamics", {"q": [0.5, 1.0, -0.25, 2.0], "qd": rows}
        expected = self.client.post(path, given).body
        halves = [CBORTag(tag, struct.pack(f"{order}4e", *given["q"])) for tag, order in ((80, ">"), (84, "<"))]
        for tag, form in ((72, "b"), (73, ">h"), (77, "<h"), (74, ">i"), (78, "<i"), (75, ">q"), (79, "<q"), (80, ">e"), (84, "<e"),
                          (81, ">f"), (82, ">d")):
            order, letter = form[:-1] or "<", form[-1]
            packed = [CBORTag(tag, struct.pack(f"{order}4{letter}", *row)) for row in rows]
            whole = CBORTag(40, [[5, 4], CBORTag(tag, struct.pack(f"{order}20{letter}", *flat(rows)))])
            turned = CBORTag(1040, [[5, 4], CBORTag(tag, struct.pack(f"{order}20{letter}", *by_columns(rows)))])
            for qd in packed, whole, turned:
                answer = self.client.post(path, encode({"q": halves[tag % 2], "qd": qd}), **CBOR)
                self.assertEqual(answer.body, expected, tag)

    def test_references_to_strings(self):
        """cbor2 writes repeated keys, names and typed arrays as references."""
        rows = states(3)
        request = {"q": doubles(rows["q"][0]), "qd": doubles(rows["q"][0]),
                   "operations": {"bias": {"outputs": ["coriolis"]}, "kinematics": {"frame": "tool", "outputs": ["velocity"]}}}
        body = cbor2.dumps(request, string_referencing=True)
        self.assertLess(len(body), len(cbor2.dumps(request)))
        path = "/v1/models/arm/evaluate"
        self.assertEqual(self.client.post(path, body, **CBOR).body, self.client.post(path, cbor2.dumps(request), **CBOR).body)
        self.assertEqual(self.client.post(path, body, **CBOR).status, 200)


class Numbers(ServerCase):
    """Tests that the server reads each number exactly: for a slider of 1 kg, tau has the bits of the qdd that was sent."""

    def setUp(self):
        self.put_model("slider", slider())

    def read(self, item):
        answer = self.client.post("/v1/models/slider/inverse-dynamics", b"\xa2\x61q\x81\x00\x63qdd\x81" + item, **CBOR)
        self.assertEqual(answer.status, 200, (item, answer))
        return float(answer.texts()["tau"][0])

    def test_every_width(self):
        for item, value in (("00", 0), ("17", 23), ("1818", 24), ("1903e8", 1000), ("1a000f4240", 1000000),
                            ("1bfffffffffffff800", 2.0**64 - 2.0**11), ("1b0020000000000000", 2.0**53),
                            ("1b0020000000000002", 2.0**53 + 2), ("20", -1), ("3903e7", -1000),
                            ("3bffffffffffffffff", -2.0**64), ("3b7fffffffffffffff", -2.0**63),
                            ("f93c00", 1.0), ("f90001", 2.0**-24), ("f97bff", 65504.0), ("f98000", -0.0),
                            ("fa47c35000", 100000.0), ("fa00000001", 2.0**-149), ("fb3ff199999999999a", 1.1),
                            ("fb0000000000000001", 5e-324), ("fb8000000000000000", -0.0),
                            ("d9d9f7f93c00", 1.0)):
            self.assertEqual(self.read(bytes.fromhex(item)), value, item)


class Refused(ServerCase):
    PATH = "/v1/models/puma560/inverse-dynamics"

    def refused(self, body, status, code, pointer=None, row=None, offset=None):
        answer = self.client.post(self.PATH, body if isinstance(body, bytes) else encode(body), **CBOR)
        problem = self.assertProblem(answer, status, pointer, row)
        self.assertEqual(problem["code"], code, problem)
        if status == 400:
            self.assertIsNotNone(problem.get("offset"), problem)
        if offset is not None:
            self.assertEqual(problem["offset"], offset, problem)

    def test_malformed(self):
        good = encode({"q": [0.5] * 6})
        for body, offset in ((b"", 0), (b"\xff", 0), (b"\x1c", 0), (b"\x7f\x00\xff", 1),
                             (b"\xa1\x61q", 3), (b"\xa1\x61q\x9f\x00", 5), (b"\xf8\x10", 0), (b"\xa1\x61q\xff", 3),
                             (good + b"\x00", len(good)), (good + good, len(good)), (b"\xa1\x61\xff\x00", 1),
                             (b"\xa1\x62\xc3\x28\x00", 1), (b"\xa1\x63\xed\xa0\x80\x00", 1),
                             (b"\xa1\x00\x00", 1), (b"\xa1\xf6\x00", 1), (b"\xa1\x41\xff\x00", 1), (b"\xa1\xc1\x61q\x00", 1),
                             (b"\xa1\x61q\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x00", 3), (b"\xbb\x00\x00\x00\x01" + b"\0" * 12, 0),
                             (b"\xa1\x61q\xd8\x56\x5b\x7f\xff\xff\xff\xff\xff\xff\xff\x00", 5), (b"\x9f\xd8\x56\xff", 3),
                             (b"\xbf\x61q\xff", 3)):
            self.refused(body, 400, "bad-cbor", offset=offset)
        for cut in range(len(good)):
            self.refused(good[:cut], 400, "bad-cbor")

    def test_duplicate_keys(self):
        self.refused(b"\xa2\x61q\x80\x61q\x80", 400, "duplicate-key", offset=4)
        self.refused(b"\xbf\x61q\x80\x7f\x61q\x60\xff\x80\xff", 400, "duplicate-key", offset=4)
        many = b"".join(cbor2.dumps(f"k{i}") + b"\x00" for i in range(1000)) + b"\x62k7\x00\xff"
        self.refused(b"\xbf" + many, 400, "duplicate-key", offset=1 + len(many) - 5)

    def test_depth(self):
        limit = self.client.get("/v1").json()["limits"]["nesting"]
        self.refused(b"\x81" * (limit + 1) + b"\x00", 400, "too-deep", offset=limit)
        self.refused(b"\x81" * limit + b"\x00", 422, "wrong-type")
        self.refused(b"\x81" * 1000000, 400, "too-deep")
        self.refused(b"\xd9\xd9\xf7" * 1000 + b"\x80", 422, "wrong-type")

    def test_tags(self):
        q = [0.5] * 6
        self.refused({"q": CBORTag(40, [[2, 5], doubles(q + q)])}, 422, "wrong-shape", "/q")
        self.refused({"q": CBORTag(40, [[2, 6], q + q[1:]])}, 422, "wrong-shape", "/q/1/5")
        self.refused({"q": CBORTag(40, [[2, 6], q + q + [1]])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[1 << 31, 1 << 33], b""])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[2, 1 << 63], doubles([])])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[1 << 31, 1 << 31, 4], doubles([])])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[2] * 5, doubles([0] * 32)])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[2, 0], doubles([])])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[1, 0], doubles([])])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[], doubles([])])}, 422, "wrong-shape")
        self.refused({"q": CBORTag(40, [[-1], doubles([])])}, 422, "wrong-type")
        self.refused({"q": CBORTag(40, q)}, 422, "wrong-type")
        self.refused({"q": CBORTag(40, [[6], q, 1])}, 422, "wrong-type")
        self.refused({"q": CBORTag(86, b"1234567")}, 422, "wrong-shape", "/q")
        self.refused({"q": CBORTag(86, q)}, 422, "wrong-type", "/q")
        self.refused({"q": b"12345678"}, 422, "wrong-type", "/q")
        for tag in (0, 1, 2, 3, 4, 25, 63, 76, 83, 87, 88, 105, 256, 57343, 57344, 1 << 40):
            self.refused({"q": [0] * 5 + [CBORTag(tag, b"\x01")]}, 422, "wrong-type", "/q/5")
        self.refused({"q": 1 << 70}, 422, "wrong-type", "/q")
        self.refused({"q": CBORTag(67, struct.pack(">6Q", 0, 0, 0, 0, 0, 2**53 + 1))}, 422, "bad-value", "/q")

    def test_what_is_no_number(self):
        self.refused({"q": [0.5] * 5 + [None]}, 422, "wrong-type", "/q/5")
        self.refused({"q": [0.5] * 5 + [cbor2.undefined]}, 422, "wrong-type", "/q/5")
        self.refused(b"\xa1\x61q\x86\x00\x00\x00\x00\x00\xf0", 422, "wrong-type", "/q/5")
        self.refused(b"\xa1\x61q\x86\x00\x00\x00\x00\x00\xf8\xff", 422, "wrong-type", "/q/5")
        self.refused({"q": None}, 422, "missing-field", "/q")
        self.refused({"q": "1"}, 422, "wrong-type", "/q")
        self.refused(b"\xa1\x63a\x00b\x00", 422, "bad-value")
        self.refused({"q": "a\0b"}, 422, "bad-value", "/q")

    def test_not_finite(self):
        rows = [[0.5] * 6 for _ in range(100)]
        for bad in (math.inf, -math.inf, math.nan):
            rows[70][3] = bad
            for form in list(forms_of(rows)) + [CBORTag(40, [[100, 6], floats(flat(rows))]), [floats(r) for r in rows]]:
                self.refused({"q": form}, 422, "non-finite", "/q/70/3", 70)
                # with bad numbers in q and in gravity, the problem names the one in q
                self.refused({"q": form, "gravity": [0, 0, bad]}, 422, "non-finite", "/q/70/3", 70)
            self.refused({"q": doubles(rows[70])}, 422, "non-finite", "/q/3")
            self.refused({"q": [0.5] * 6, "gravity": [0, 0, bad]}, 422, "non-finite", "/gravity/2")
        for half in (b"\xf9\x7c\x00", b"\xf9\xfc\x00", b"\xf9\x7e\x00", b"\xfa\x7f\x80\x00\x00"):
            self.refused(b"\xa1\x61q" + half, 422, "non-finite", "/q")

    def test_only_requests(self):
        answer = self.client.put("/v1/models/x", cbor2.dumps(branched()), **CBOR)
        self.assertProblem(answer, 415)

    def test_errors_of_the_request(self):
        self.refused({"q": doubles([0.5] * 5)}, 422, "wrong-shape", "/q")
        self.refused({"q": CBORTag(40, [[3, 5], doubles([0.5] * 15)])}, 422, "wrong-shape", "/q/0", 0)
        self.refused({"q": [doubles([0.5] * 6), doubles([0.5] * 5)]}, 422, "wrong-shape", "/q/1", 1)
        self.refused({"q": doubles([0.5] * 5 + [1e300])}, 422, "angle-too-large", "/q/5")
        self.refused({"q": doubles([0.5] * 6), "x": 1}, 422, "unknown-field", "/x")
        self.refused([], 422, "wrong-type", "")


if __name__ == "__main__":
    tap.main()
