"""Tests first attempts at CBOR and MessagePack as libraries write them by default, and bodies of other formats under
their names: each is refused, and the detail names the remedy."""
import base64
import datetime
import decimal
import fractions
import gzip
import io
import json
import math
import pickle
import struct
import zipfile

import cbor2
import tap
from harness import ServerCase
from msgpack_bytes import ext, pack

Q = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]
REQUEST = {"q": Q, "qd": [1.0] * 6, "qdd": [1.0] * 6}
PATH = "/v1/models/puma560/inverse-dynamics"
TEXT = json.dumps(REQUEST).encode()
PACKED = {"cbor": cbor2.dumps(REQUEST), "msgpack": pack(REQUEST)}
NAMES = {"cbor": "CBOR", "msgpack": "MessagePack"}
DOUBLES = struct.pack("<6d", *Q)
NPY = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }".ljust(127) + b"\n" + DOUBLES


def npz(**arrays):
    """Returns a file as numpy.savez writes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
    return file.getvalue()


def through_text(body, errors="replace"):
    """Bytes that were decoded as a text and encoded again, as a client does that takes a body for a string."""
    return body.decode("latin-1" if errors == "latin-1" else "utf-8", "replace").encode()


def with_q(value):
    return {**REQUEST, "q": value}


# Bodies of other formats: body and words of the detail.
OTHERS = {
    "JSON": (TEXT, "application/json"), "JSON behind blanks": (b"\n  " + TEXT, "application/json"),
    "JSON behind a byte order mark": (b"\xef\xbb\xbf" + TEXT, "application/json"),
    "XML": (b"<robot name='x'/>", "application/xml"), "gzip": (gzip.compress(TEXT), "Content-Encoding: gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd\x00", "Content-Encoding: zstd"), "npy": (NPY, "torqued call"),
    "npz": (npz(q=NPY, qd=NPY, qdd=NPY), "torqued call"), "zip": (b"PK\x03\x04" + bytes(40), "by PUT"),
    "the name of a file": (b"@request.bin", "--data-binary @FILE"), "a form": (b"--x\r\n\r\n--x--", "--data-binary"),
    "base64 of CBOR": (base64.b64encode(PACKED["cbor"]), "send the bytes"),
    "base64 of MessagePack": (base64.b64encode(PACKED["msgpack"]), "send the bytes"),
    "hexadecimal digits of CBOR": (PACKED["cbor"].hex().encode(), "send the bytes"),
    "hexadecimal digits of MessagePack": (PACKED["msgpack"].hex().encode(), "send the bytes"),
    "CBOR as a string": (through_text(PACKED["cbor"]), "not a string"),
    "MessagePack as a string": (through_text(PACKED["msgpack"]), "not a string"),
    "CBOR as Latin-1": (through_text(PACKED["cbor"], "latin-1"), "not a string"),
    "MessagePack as Latin-1": (through_text(PACKED["msgpack"], "latin-1"), "not a string"),
    "nothing": (b"", "the body is empty"),
    "pickle": (pickle.dumps(REQUEST), "serialises it"), "the first pickle": (pickle.dumps(REQUEST, 0), "serialises it"),
    "Java": (b"\xac\xed\x00\x05sr\x00\x11java.util.HashMap", "serialises it"), "PHP": (b'a:1:{s:1:"q";a:1:{i:0;d:0.1;}}', "serialises it"),
    "R": (b"X\n\x00\x00\x00\x03\x00\x04\x02\x02", "serialises it"), "Ruby": (b"\x04\x08{\x06:\x06q[\x06f", "serialises it"),
    "Erlang": (b"\x83t\x00\x00\x00\x01w\x01q", "serialises it"), "a file of MATLAB": (b"MATLAB 5.0 MAT-file, Platform", "a file of data"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "a file of data"), "YAML": (b"---\nq: [0.1, 0.2]\n", "YAML"), "YAML without its line": (b"q: [0.1]\n", "YAML"),
    "TOML": (b"q = [0.1, 0.2]\n", "TOML"), "CSV": (b"q1,q2\n0.1,0.2\n", "a table"), "CSV without names": (b"0.1;0.2\r\n", "a table"),
}

# Requests as libraries of CBOR write them, by default or by an option: request, status, pointer, words of the detail.
CBOR = {
    "decimals": (with_q([decimal.Decimal("0.5")] * 6), 422, "/q/0", "as a float"),
    "fractions": (with_q([fractions.Fraction(1, 2)] * 6), 422, "/q/0", "as a float"),
    "big integers": (with_q([2**70] * 6), 422, "/q/0", "as a float"),
    "dates": (with_q([datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)]), 422, "/q/0", "time as a number"),
    "a set of names": ({**REQUEST, "outputs": {"tau"}}, 422, "/outputs", "set as an array"),
    "bytes of NumPy's tobytes": (with_q(DOUBLES), 422, "/q", "86"),
    "floats of 128 bits": (with_q(cbor2.CBORTag(87, bytes(96))), 422, "/q", "64-bit floats"),
    "complex numbers": (with_q(cbor2.CBORTag(43000, [0.5, 0.0])), 422, "/q", "40, 1040"),
    "NaN": (with_q([math.nan] * 6), 422, "/q/0", "not finite"),
    "numbers as keys": (with_q(dict(enumerate(Q))), 400, "/q", "send an array"),
    "texts of digits as keys": (with_q({str(i): v for i, v in enumerate(Q)}), 422, "/q", "send an array"),
    "null in an array": (with_q([None] * 6), 422, "/q/0", "a number expected"),
    "numbers as texts": (with_q([str(v) for v in Q]), 422, "/q/0", "without quotes"),
    "a text of JSON": (TEXT.decode(), 422, None, "encoded twice"),
    "fields in an array": ([Q, Q, Q], 422, None, "an object expected"),
}

MSGPACK = {
    "bytes of NumPy's tobytes": (with_q(DOUBLES), 422, "/q", "array of floats"),
    "a timestamp": (with_q([ext(-1, bytes(4))] * 6), 422, "/q/0", "send times as numbers"),
    "an ext of another program": (with_q(ext(5, b"abc")), 422, "/q", "arrays of floats"),
    "a record of msgpackr": (ext(0x72, b"\x40"), 422, None, "useRecords: false"),
    "numbers as keys": (with_q(dict(enumerate(Q))), 400, "/q", "send an array"),
    "texts of digits as keys": (with_q({str(i): v for i, v in enumerate(Q)}), 422, "/q", "send an array"),
    "nil in an array": (with_q([None] * 6), 422, "/q/0", "a number expected"),
    "numbers as texts": (with_q([str(v) for v in Q]), 422, "/q/0", "without quotes"),
    "a text of JSON": (TEXT.decode(), 422, None, "encoded twice"),
}


class BinaryAttempts(ServerCase):
    def send(self, body, media):
        return self.client.request("POST", PATH, body, {"Content-Type": "application/" + media})

    def refused(self, name, body, media, status, pointer, words):
        with self.subTest(name, media=media):
            problem = self.assertProblem(self.send(body, media), status)
            self.assertIn(words, problem["detail"])
            self.assertEqual(problem.get("pointer") or None, pointer, problem)

    def test_bodies_of_other_formats(self):
        for name, (body, words) in OTHERS.items():
            for media in PACKED:
                self.refused(name, body, media, 400, None, words)
        for name in ("npy", "npz", "zip", "CBOR as a string", "MessagePack as a string", *list(OTHERS)[list(OTHERS).index("pickle"):]):
            self.refused(name, OTHERS[name][0], "json", 400, None, OTHERS[name][1])

    def test_one_format_under_the_name_of_another(self):
        for media, body in PACKED.items():
            for other in {*PACKED, "json"} - {media}:
                words = "application/" + ("cbor" if media == "cbor" else "vnd.msgpack")
                self.refused(f"{NAMES[media]} of 3 fields", body, other, 400, None, words)
        for body in (b"\xd9\xd9\xf7" + PACKED["cbor"], b"\xbf" + PACKED["cbor"][1:] + b"\xff", b"\xb8\x03" + PACKED["cbor"][1:],
                     b"\xb9\x00\x03" + PACKED["cbor"][1:]):
            self.assertEqual(self.send(body, "cbor").status, 200)
            self.refused("other heads of CBOR", body, "msgpack", 400, None, "application/cbor")
        for body in (b"\xde\x00\x03" + PACKED["msgpack"][1:], b"\xdf\x00\x00\x00\x03" + PACKED["msgpack"][1:]):
            self.assertEqual(self.send(body, "msgpack").status, 200)
            self.refused("other heads of MessagePack", body, "cbor", 400, None, "application/vnd.msgpack")

    def test_values_of_cbor_libraries(self):
        for name, (request, *expected) in CBOR.items():
            self.refused(name, cbor2.dumps(request), "cbor", *expected)
        shared = cbor2.dumps(with_q(Q), value_sharing=True)
        self.refused("references to values", shared, "cbor", 422, None, "value_sharing=False")

    def test_values_of_messagepack_libraries(self):
        for name, (request, *expected) in MSGPACK.items():
            self.refused(name, pack(request), "msgpack", *expected)

    def test_bodies_too_long_or_too_short(self):
        for media, body in PACKED.items():
            self.refused("a line end", body + b"\n", media, 400, None, "no line end follows")
            self.refused("two bodies", body * 2, media, 400, None, "rows of its arrays")
            self.refused("a body cut short", body[:-5], media, 400, None, "cut short")

    def test_a_request_is_never_taken_for_another_format(self):
        """A request with a fault of its own keeps the place and the reason of this fault."""
        for media, dump in (("cbor", cbor2.dumps), ("msgpack", pack)):
            for key in ("q", "zz", "A", "x" * 31):
                self.refused(key, dump({key: b"\x00"}), media, 422, "/" + key, "given, a value that JSON can hold")


if __name__ == "__main__":
    tap.main()
