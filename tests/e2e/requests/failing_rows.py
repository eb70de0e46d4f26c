"""Sends batches in which single rows fail without failing the request ("on_error": "row"). Rows that cannot be evaluated are null (NaN in CBOR)
and listed in `errors` with the code and detail that a request with only this row gets. All other rows have the bits of a batch without the
failing rows."""
import json
import math
import random
import struct

import cbor2
from cbor2 import CBORTag
from harness import ServerCase
from samples import branched, states

CBOR = "application/cbor"
SHAPED = "application/cbor; arrays=multidimensional"


def same(a, b):
    """Compares bits: -0 differs from 0."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return struct.pack("<d", a) == struct.pack("<d", b)
    return a == b


def leaves(value, where=""):
    """Yields the arrays of an answer with their paths; skips `errors` and the lists of names in `full`."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key not in ("errors", "position_names", "velocity_names"):
                yield from leaves(entry, f"{where}/{key}")
    else:
        yield where, value


def numbers(value):
    return [x for part in value for x in numbers(part)] if isinstance(value, list) else [value]


def decode(value):
    """Converts CBOR's typed arrays to lists."""
    if isinstance(value, CBORTag) and value.tag == 86:
        return list(struct.unpack(f"<{len(value.value) // 8}d", value.value))
    if isinstance(value, CBORTag):
        extents, flat = value.value[0], decode(value.value[1])
        for n in reversed(extents[1:]):
            flat = [flat[i:i + n] for i in range(0, len(flat), n)]
        return flat
    if isinstance(value, dict):
        return {key: decode(entry) for key, entry in value.items()}
    return [decode(entry) for entry in value] if isinstance(value, list) else value


def typed(rows):
    flat = numbers(rows)
    return CBORTag(40, [[len(rows), len(rows[0])], CBORTag(86, struct.pack(f"<{len(flat)}d", *flat))])


def massless():
    """Two links, the first without mass: in the stretched position the mass matrix is singular."""
    joint = {"type": "revolute", "axis": [0, 0, 1]}
    return {"links": [{"name": "a", "parent": "base", "joint": {"name": "shoulder", **joint}},
                      {"name": "b", "parent": "a", "joint": {"name": "elbow", **joint, "origin": {"xyz": [1, 0, 0]}},
                       "inertial": {"mass": 1, "com": [1, 0, 0]}}]}


class FailingRowsCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_model(cls(), "arm", branched())
        cls.put_model(cls(), "free", branched("floating"))
        cls.put_model(cls(), "massless", massless())
        apart = cls.client.get("/v1/models/five_bar/document").json()
        apart.pop("name", None)
        for link in apart["links"]:
            if link["name"] == "right_crank":
                link["joint"]["origin"]["xyz"] = [0.35, 0, 0]  # m, distance of the two motors: so large that the rods do not reach all positions
        cls.put_model(cls(), "apart", apart)

    def post(self, model, operation, request, **headers):
        return self.client.request("POST", f"/v1/models/{model}/{operation}", request, headers)

    def ok(self, answer, status=200):
        super().ok(answer, status)
        return json.loads(answer.body, parse_int=float)  # json.loads would make the integer 0 of "-0"

    def choose(self, rows, bad, seed=5):
        return sorted(random.Random(seed).sample(range(rows), bad))

    def check(self, model, operation, shared, rows, bad, parts=None):
        """Compares the answer to a batch with failing rows with the answers to requests of one row each. `rows` are batched fields, `bad` maps a
        row to its code, `parts` are the operations of evaluate that fail, by default all."""
        n, kept = len(next(iter(rows.values()))), None
        good = [i for i in range(n) if i not in bad]
        request = {**shared, **rows, "on_error": "row"}
        plain = self.ok(self.post(model, operation, request))
        kept = self.ask(model, operation, {**shared, **{name: [v[i] for i in good] for name, v in rows.items()}})
        self.assertEqual(sorted({e["row"] for e in plain["errors"]}), sorted(bad))
        self.assertEqual([e["row"] for e in plain["errors"]], sorted(e["row"] for e in plain["errors"]))
        self.check_arrays(plain, kept, good, bad, parts)
        for form in "multidimensional", "typed":
            coded = self.post(model, operation, request, Accept=f"{CBOR}; arrays={form}")
            self.check_coded(decode(cbor2.loads(self.body_of(coded))), plain)
        coded = self.post(model, operation, request, Accept=CBOR)
        self.assertTrue(same(cbor2.loads(self.body_of(coded)), plain), "plain arrays hold what JSON holds")
        for i in list(bad)[:3]:
            self.check_alone(model, operation, {**shared, **{name: v[i] for name, v in rows.items()}},
                             [e for e in plain["errors"] if e["row"] == i], bad[i])
        return plain

    def body_of(self, answer):
        self.assertEqual(answer.status, 200, answer)
        return answer.body

    def check_arrays(self, plain, kept, good, bad, parts):
        expected = dict(leaves(kept))
        self.assertEqual([where for where, _ in leaves(plain)], list(expected))
        for where, array in leaves(plain):
            fails = parts is None or where.split("/")[1] in parts
            self.assertEqual([i for i, row in enumerate(array) if row is None], sorted(bad) if fails else [], where)
            self.assertTrue(same([array[i] for i in good], expected[where]), where)

    def check_coded(self, coded, plain):
        """Checks that typed arrays have NaN where JSON has null, and otherwise the same bits."""
        self.assertEqual(coded["errors"], plain["errors"])
        arrays = dict(leaves(coded))
        for where, array in leaves(plain):
            for row, other in zip(array, arrays[where]):
                if where == "/limits":  # lists of objects, not arrays of numbers
                    self.assertTrue(same(row, other), where)
                elif row is None:
                    self.assertTrue(all(math.isnan(x) for x in numbers(other)) and numbers(other), where)
                else:
                    self.assertTrue(same(row, other), where)

    def check_alone(self, model, operation, request, errors, code):
        problem = self.assertProblem(self.post(model, operation, request), 422)
        self.assertEqual((errors[0]["code"], errors[0]["detail"]), (problem["code"], problem["detail"]))
        if code:
            self.assertEqual(problem["code"], code)
        alone = self.ok(self.post(model, operation, {**request, "on_error": "row"}))
        self.assertEqual([(e["row"], e["code"], e["detail"]) for e in alone["errors"]][:1],
                         [(0, problem["code"], problem["detail"])])
        for where, value in leaves(alone):
            if "operation" not in errors[0] or where.split("/")[1] == errors[0]["operation"]:
                self.assertIsNone(value, where)

    def arm_rows(self, n=1000, floating=False):
        return states(n, 10 if floating else 4, floating)

    def bars(self, n=100):
        """Returns q and qd for the model `apart`, and the rows whose loop cannot close."""
        rng = random.Random(3)
        bad = self.choose(n, 10)
        q = [[1.9 + rng.uniform(-0.2, 0.2), 1.3 + rng.uniform(-0.2, 0.2)] for _ in range(n)]
        for i in bad:
            q[i] = [3.1, 0]
        return q, [[rng.uniform(-1, 1) for _ in range(2)] for _ in range(n)], dict.fromkeys(bad)
