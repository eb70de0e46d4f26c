"""Tests MessagePack: every operation answers with the bits of its JSON answer, whatever the encoding of the request;
every form of an object is read; malformed requests are refused with the offset, others with the field and the
remedy."""
import json
import math
import struct

import tap
from harness import ServerCase
from msgpack_bytes import Raw, ext, pack, unpack
from samples import body, branched, chain, everything, states

MSGPACK = "application/vnd.msgpack"
NAMES = (MSGPACK, "application/msgpack", "application/x-msgpack", "Application/VND.MsgPack; charset=utf-8")


def numbers(body):
    """Decodes JSON with all numbers as doubles, so that -0 keeps its sign."""
    return json.loads(body, parse_int=float)


def bits(value):
    """Returns the JSON value with each double replaced by its bytes, so that a comparison distinguishes 0 and -0."""
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [bits(entry) for entry in value]
    return struct.pack("<d", value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


class MsgpackCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_model(cls(), "arm", branched())
        cls.put_model(cls(), "free", branched("floating"))
        cls.put_model(cls(), "chain", chain(6))
        cls.put_model(cls(), "brick", {"base": {"type": "floating", "link": "brick", "inertial": body(2)}, "links": []})

    def ask(self, path, request, content=MSGPACK, accept=MSGPACK):
        encoded = request if isinstance(request, bytes) else pack(request)
        return self.client.request("POST", path, encoded, {"Content-Type": content, "Accept": accept})

    def same(self, path, request):
        """Sends the request for an answer in JSON and for one in MessagePack, compares the answers, and returns the JSON answer."""
        plain = self.client.request("POST", path, request, {"Accept": "application/json"})
        self.assertEqual(plain.status, 200, plain)
        for answer in (self.ask(path, request), self.client.request("POST", path, request, {"Accept": MSGPACK})):
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.headers["Content-Type"], MSGPACK)
            self.assertEqual(list(unpack(answer.body)), list(plain.json()))
            self.assertEqual(bits(unpack(answer.body)), bits(numbers(plain.body)), path)
            self.assertEqual(pack(unpack(answer.body)), answer.body, "shortest heads, 64-bit floats")
        self.assertEqual(self.ask(path, request, accept="application/json").body, plain.body)
        return plain.json()


class SameBits(MsgpackCase):
    def test_every_example_of_the_contract(self):
        asked = set()
        for path, item in self.client.get("/openapi.json").json()["paths"].items():
            for name, example in item.get("post", {}).get("requestBody", {"content": {}})["content"].get(
                    "application/json", {"examples": {}})["examples"].items():
                self.same(path.replace("{model}", name.split("-")[0]), example["value"])
                asked.add(path.rsplit("/", 1)[1])
        self.assertEqual(asked, {o["name"] for o in self.client.get("/v1").json()["operations"]})

    def test_states_and_batches(self):
        for model, nv in (("arm", 4), ("free", 10)):
            rows = states(23, nv=nv, floating=model == "free")
            self.same(f"/v1/models/{model}/evaluate", everything(rows))
            self.same(f"/v1/models/{model}/evaluate", everything({name: values[7] for name, values in rows.items()}))

    def test_a_large_batch(self):
        rows = states(20000, nv=6)
        many = self.same("/v1/models/chain/inverse-dynamics", {"q": rows["q"], "qd": rows["qd"], "qdd": rows["qdd"]})
        alone = self.same("/v1/models/chain/inverse-dynamics", {name: rows[name][19999] for name in ("q", "qd", "qdd")})
        self.assertEqual(bits(many["tau"][19999]), bits(alone["tau"]))

    def test_failed_rows_are_nil(self):
        q = [[0.1] * 6, [1e300] * 6, [0.2] * 6]
        answer = self.same("/v1/models/chain/inverse-dynamics", {"q": q, "qd": [[1e200] * 6] * 2 + [[1] * 6],
                                                                 "on_error": "row"})
        self.assertIn(None, answer["tau"])
        self.assertTrue(answer["errors"])

    def test_models_and_the_service(self):
        for path in ("/v1", "/v1/models", "/v1/models/arm", "/v1/models/arm/document"):
            plain, packed = (self.client.request("GET", path, None, {"Accept": kind})
                             for kind in ("application/json", MSGPACK))
            self.assertEqual(packed.status, 200, packed)
            self.assertEqual(bits(unpack(packed.body)), bits(plain.json()), path)
            if "ETag" in packed.headers:
                self.assertNotEqual(packed.headers["ETag"], plain.headers["ETag"])
                again = self.client.request("GET", path, None,
                                            {"Accept": MSGPACK, "If-None-Match": packed.headers["ETag"]})
                self.assertEqual(again.status, 304)


class Negotiation(MsgpackCase):
    PATH, REQUEST = "/v1/models/chain/energy", {"q": [0.5] * 6}

    def kind(self, accept, content=MSGPACK):
        encoded = json.dumps(self.REQUEST).encode() if content == "application/json" else pack(self.REQUEST)
        headers = {"Content-Type": content, **({"Accept": accept} if accept else {})}
        return self.client.request("POST", self.PATH, encoded, headers)

    def test_names(self):
        """The answer has the media type that the client names, in Accept or else in Content-Type."""
        for name in NAMES:
            registered = name.lower().split(";")[0]
            for answer in (self.ask(self.PATH, self.REQUEST, name, registered), self.kind(None, name), self.kind("*/*", name)):
                self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, registered), name)
            other = NAMES[1] if registered != NAMES[1] else NAMES[2]
            self.assertEqual(self.ask(self.PATH, self.REQUEST, name, other).headers["Content-Type"], other)
            self.assertEqual(self.kind("application/json", name).headers["Content-Type"], "application/json")
        self.assertProblem(self.ask(self.PATH, {"q": [0.5]}, NAMES[1], NAMES[1]), 422)

    def test_accept(self):
        for accept, kind in ((None, MSGPACK), ("*/*", MSGPACK), ("application/*", MSGPACK), ("application/json", "json"),
                             ("application/json, application/msgpack", "application/msgpack"), ("application/cbor", "cbor"),
                             ("application/x-msgpack;q=0.5, application/json;q=0.4", "application/x-msgpack"),
                             ("application/msgpack;q=0.5, application/cbor;q=0.6", "cbor")):
            self.assertIn(kind, self.kind(accept).headers["Content-Type"], accept)
        for accept, kind in ((None, "json"), ("*/*", "json"), ("application/msgpack, application/cbor", "cbor"),
                             ("application/json;q=0, */*", "cbor"),
                             ("application/json;q=0, application/cbor;q=0, */*", MSGPACK)):
            self.assertIn(kind, self.kind(accept, "application/json").headers["Content-Type"], accept)

    def test_refusals_name_it(self):
        problem = self.assertProblem(self.kind("text/csv"), 406)
        self.assertIn(MSGPACK, problem["detail"])
        problem = self.assertProblem(self.kind(None, "application/msgpack-seq"), 415)
        self.assertIn(MSGPACK, problem["detail"])


class Reading(MsgpackCase):
    PATH = "/v1/models/chain/energy"

    def answer(self, request):
        answer = self.ask(self.PATH, request, accept="application/json")
        self.assertEqual(answer.status, 200, answer)
        return answer.body

    def refused(self, request, status, code, pointer=None, offset=None, says=""):
        problem = self.assertProblem(self.ask(self.PATH, request), status, pointer)
        self.assertEqual(problem["code"], code, problem)
        self.assertIn(says, problem["detail"])
        if offset is not None:
            self.assertEqual(problem["offset"], offset, problem)

    def test_every_form_of_a_number(self):
        forms = {1.0: ("01", "cc01", "cd0001", "ce00000001", "cf0000000000000001", "d001", "d10001", "d200000001",
                       "d30000000000000001", "ca3f800000", "cb3ff0000000000000"),
                 -1.0: ("ff", "d0ff", "d1ffff", "d2ffffffff", "d3ffffffffffffffff"), -32.0: ("e0",), 127.0: ("7f",),
                 128.0: ("cc80",), -128.0: ("d080",), -32768.0: ("d18000",), 65535.0: ("cdffff",),
                 2.0**53: ("cf0020000000000000",), -2.0**63: ("d38000000000000000",), 2.0**63: ("cf8000000000000000",)}
        path, state = "/v1/models/chain/inverse-dynamics", {"q": [0.5] * 6, "qd": [0] * 6}
        for number, texts in forms.items():
            expected = self.ask(path, {**state, "qdd": [number] + [0.5] * 5})
            self.assertEqual(expected.status, 200, expected)
            for text in texts:
                answer = self.ask(path, {**state, "qdd": [Raw(bytes.fromhex(text))] + [0.5] * 5})
                self.assertEqual(answer.body, expected.body, text)
                self.refused({"q": Raw(bytes.fromhex(text))}, 422, "wrong-type", "/q")

    def test_every_form_of_arrays_maps_and_strings(self):
        q = b"".join(pack(x) for x in [0.5] * 6)
        expected = self.answer({"q": [0.5] * 6})
        for head in ("96", "dc0006", "dd00000006"):
            for key in ("a171", "d90171", "da000171", "db0000000171", "c40171", "c5000171", "c60000000171"):
                for map_head in ("81", "de0001", "df00000001"):
                    self.assertEqual(self.answer(bytes.fromhex(map_head + key + head) + q), expected, key)

    def test_nil_is_absent(self):
        self.assertEqual(self.answer({"q": [0.5] * 6, "gravity": None}), self.answer({"q": [0.5] * 6}))
        self.refused({"q": [0.5] * 5 + [None]}, 422, "wrong-type", "/q/5")

    def test_typed_arrays_of_msgpackr(self):
        q = [0.5, -0.25, 0.1, 1e-3, 2, 3]
        expected = self.answer({"q": [q, q]})
        row = ext(0x74, b"\x08" + struct.pack("<6d", *q))
        for rows in ([row, row], [row, q], [q, row]):
            self.assertEqual(self.answer({"q": rows}), expected)
        single = [struct.unpack("<f", struct.pack("<f", x))[0] for x in q]
        self.assertEqual(self.answer({"q": ext(0x74, b"\x07" + struct.pack("<6f", *q))}), self.answer({"q": single}))
        self.refused({"q": ext(0x74, b"\x08" + bytes(47))}, 422, "wrong-shape", "/q", says="multiple of 8")
        self.refused({"q": ext(0x74, b"\x03" + bytes(12))}, 422, "wrong-type", "/q", says="Float64Array")
        self.refused({"q": ext(0x74, b"\x08" + struct.pack("<6d", 0, math.nan, 0, 0, 0, 0))}, 422, "non-finite", "/q/1")
        self.refused({"q": ext(0x74, b"")}, 422, "wrong-type", "/q")

    def test_arrays_of_numpy(self):
        """Arrays in the form of the Python package msgpack_numpy: all types of integers and floats, big-endian ones too, batches and rows."""
        rows = [[0.5, -0.25, 1, -3, 2, 7], [1.5, 0, -1, 2, 3, -4]]
        whole = [[int(x) for x in row] for row in rows]

        def numpy(kind, values, shape, form="<6d"):
            data = b"".join(struct.pack(form, *row) for row in values)
            return {b"nd": True, b"type": kind, b"kind": b"", b"shape": shape, b"data": data}

        for kind, form in (("<f8", "<6d"), (">f8", ">6d"), ("<f4", "<6f"), (">f4", ">6f"), ("<f2", "<6e"), (">f2", ">6e")):
            self.assertEqual(self.answer({"q": numpy(kind, rows, [2, 6], form)}), self.answer({"q": rows}), kind)
            self.assertEqual(self.answer({"q": [numpy(kind, [row], [6], form) for row in rows]}), self.answer({"q": rows}), kind)
        for kind, form in (("|i1", "6b"), ("<i2", "<6h"), (">i4", ">6i"), ("<i8", "<6q"), (">i8", ">6q")):
            self.assertEqual(self.answer({"q": numpy(kind, whole, [2, 6], form)}), self.answer({"q": whole}), kind)
        self.assertEqual(self.answer({"q": numpy("<f8", [], [0, 6])}), self.answer({"q": []}))
        self.assertEqual(self.answer({"q": [{"nd": False, "type": "<f8", "data": struct.pack("<d", x)} for x in rows[0]]}),
                         self.answer({"q": rows[0]}))
        good = numpy("<f8", rows, [2, 6])
        for change, code in (({b"type": "<c8"}, "wrong-type"), ({b"type": "|b1"}, "wrong-type"), ({b"type": "|f8"}, "wrong-type"),
                             ({b"type": "<f16"}, "wrong-type"), ({b"type": [["x", "<f8"]]}, "wrong-type"), ({b"kind": b"V"}, "wrong-type"),
                             ({b"shape": [3, 6]}, "wrong-shape"), ({b"shape": []}, "wrong-shape"), ({b"shape": [2, 0]}, "wrong-shape"),
                             ({b"shape": [1, 1, 1, 2, 6]}, "wrong-shape"), ({b"shape": [2**32, 2**32]}, "wrong-shape"),
                             ({b"shape": [-2, 6]}, "wrong-shape"), ({b"data": "x" * 96}, "wrong-type"), ({b"data": bytes(95)}, "wrong-shape"),
                             ({b"nd": 1}, "wrong-type"), ({b"nd": False}, "wrong-type"), ({"other": 1}, "wrong-type")):
            self.refused({"q": {**good, **change}}, 422, code, "/q")
        self.refused({"q": numpy("<f8", [[math.inf] * 6], [1, 6])}, 422, "non-finite", "/q/0/0")
        self.refused({"q": numpy("<u8", [[0] * 5 + [2**64 - 1]], [6], "<6Q")}, 422, "bad-value", "/q", says=str(2**64 - 1))
        self.refused(b"\x81\xa1q\x83\xc4\x02nd\xc3\xc4\x02nd\xc3\xa4type\xa3<f8", 400, "bad-msgpack", offset=9, says="twice")

    def test_what_json_cannot_hold(self):
        q = [0.5] * 6
        self.refused({"q": struct.pack("<6d", *q)}, 422, "wrong-type", "/q", says="x.tolist()")
        self.refused({"q": {b"nd": True, b"type": "<f8", b"data": struct.pack("<6d", *q)}}, 422, "wrong-type", "/q", says="shape")
        self.refused({"q": {b"data": struct.pack("<6d", *q)}}, 422, "wrong-type", "/q/data", says="tolist")
        self.refused({"q": q, "x": ext(-1, bytes(4))}, 422, "wrong-type", "/x", says="timestamp")
        self.refused({"q": q, "x": ext(0x72, b"\0")}, 422, "wrong-type", "/x", says="useRecords: false")
        for n in (1, 2, 4, 8, 16, 3, 300, 70000):
            self.refused({"q": q, "x": ext(5, bytes(n))}, 422, "wrong-type", "/x", says="type 5")
        for number in (2**53 + 1, -2**53 - 1, 2**64 - 1, 2**63 - 1, -2**63 + 1):
            self.refused({"q": q[1:] + [number]}, 422, "bad-value", "/q/5", says=str(number))
        for number in (math.inf, -math.inf, math.nan):
            self.refused({"q": q[1:] + [number]}, 422, "non-finite", "/q/5")
        self.refused({"q": q, "a\0b": 1}, 422, "bad-value", "")
        self.refused({"q": q, "frame": "a\0b"}, 422, "bad-value", "/frame")

    def test_malformed(self):
        good = pack({"q": [0.5] * 6, "gravity": [0, 0, -9.81]})
        for encoded, offset in ((b"", 0), (b"\xc1", 0), (b"\x81\xa1q", 3), (good + b"\0", len(good)), (good * 2, len(good)),
                                (b"\x81\xa1\xff\0", 1), (b"\x81\xa2\xc3\x28\0", 1), (b"\x81\x01\0", 1), (b"\x81\xc0\0", 1),
                                (b"\x81\xc4\1\xff\0", 1), (b"\x81\xa1q\xdd\xff\xff\xff\xff\0", 3), (b"\xdf\xff\xff\xff\xff\0", 0),
                                (b"\x81\xa1q\xc6\xff\xff\xff\xff\0", 3), (b"\x81\xa1q\xc9\xff\xff\xff\xff\0", 3),
                                (b'{"q": [0]}', 0), (b"[0]", 0)):
            self.refused(encoded, 400, "bad-msgpack", offset=offset)
        for cut in range(len(good)):
            self.refused(good[:cut], 400, "bad-msgpack")

    def test_keys_and_depth(self):
        self.refused(b"\x82\xa1q\x90\xc4\1q\x90", 400, "duplicate-key", offset=4)
        self.refused(b"\x82\xa1q\xc0\xa1q\x90", 400, "duplicate-key", offset=4)
        limit = self.client.get("/v1").json()["limits"]["nesting"]
        self.refused(b"\x91" * (limit + 1) + b"\0", 400, "too-deep", offset=limit)
        self.refused(b"\x91" * limit + b"\0", 422, "wrong-type")
        self.refused(b"\x91" * 1000000, 400, "too-deep")
        self.refused(b"\0", 422, "wrong-type")


class Library(MsgpackCase):
    def test_a_library(self):
        try:
            import msgpack
        except ImportError:
            self.skipTest("no python3-msgpack here")
        rows = states(50, nv=6)
        request = {"q": rows["q"], "qd": rows["qd"]}
        plain = self.client.request("POST", "/v1/models/chain/bias", request, {"Accept": "application/json"})
        packed = self.ask("/v1/models/chain/bias", msgpack.packb(request))
        self.assertEqual(bits(msgpack.unpackb(packed.body)), bits(plain.json()))


if __name__ == "__main__":
    tap.main()
