"""Tests request bodies with a content coding: gzip and zstd bodies give the bits of the plain body, and bodies that are damaged
or expand too much are refused before memory is taken for them."""
import gzip
import json
import os
import random
import re
import subprocess
import zlib

import cbor2
import tap
from harness import ServerCase
from samples import branched

PATH = "/v1/models/arm/inverse-dynamics"
REQUEST = {"q": [0.1, 0.2, 0.3, 0.4], "qd": [1, 2, 3, 4], "qdd": [4, 3, 2, 1]}
TEXT = json.dumps(REQUEST).encode()
RATIO, SMALL, MOST = 200, 1 << 20, 4 << 20


def zstd(body, *options):
    """Compresses with the program zstd, which writes frames with or without the length of the content; without options the length is unknown, as
    from a pipe."""
    return subprocess.run(["zstd", "-q", "-c", *options], input=body, capture_output=True, check=True).stdout


def batch(rows):
    draw = random.Random(rows)
    return {key: [[draw.uniform(-1, 1) for _ in range(4)] for _ in range(rows)] for key in ("q", "qd", "qdd")}


class CodedBodies(ServerCase):
    arguments = ("--max-body", str(MOST))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/arm", branched()).status == 201

    def send(self, body, coding, media="application/json", path=PATH, method="POST"):
        headers = {"Content-Type": media, "Accept": "application/json", "Content-Encoding": coding}
        return self.client.request(method, path, body, headers)

    def test_same_bits(self):
        for request in (REQUEST, batch(3), batch(2000)):
            for encode, media in ((lambda r: json.dumps(r).encode(), "application/json"), (cbor2.dumps, "application/cbor")):
                body = encode(request)
                plain = self.send(body, "identity", media)
                self.assertEqual(plain.status, 200, plain)
                for coding, coded in (("gzip", gzip.compress(body, 9)), ("x-gzip", gzip.compress(body, 1)), ("GZIP", gzip.compress(body, 0)),
                                      ("zstd", zstd(body)), ("zstd", zstd(body, "-19", "--no-check"))):
                    with self.subTest(coding, media=media, bytes=len(body)):
                        answer = self.send(coded, coding, media)
                        self.assertEqual((answer.status, answer.body), (200, plain.body))

    def test_several_members(self):
        """A gzip file may have several members, a zstd file several frames; empty and skippable frames have no bytes."""
        plain = self.send(TEXT, "identity").body
        half = len(TEXT) // 2
        skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
        for coding, coded in (("gzip", gzip.compress(TEXT[:half]) + gzip.compress(b"") + gzip.compress(TEXT[half:])),
                              ("zstd", zstd(TEXT[:half]) + zstd(b"") + skippable + zstd(TEXT[half:]))):
            self.assertEqual(self.send(coded, coding).body, plain, coding)

    def test_documents(self):
        document = json.dumps(branched()).encode()
        revision = self.client.get("/v1/models/arm").json()["revision"]
        for coding, coded in (("gzip", gzip.compress(document)), ("zstd", zstd(document))):
            answer = self.send(coded, coding, path=f"/v1/models/{coding}", method="PUT")
            self.assertEqual(self.ok(answer, 201)["revision"], revision)

    def test_damaged_bodies(self):
        packed, frame = gzip.compress(TEXT), zstd(TEXT, "--check")
        cases = [("gzip", packed[:n]) for n in range(len(packed))] + [("zstd", frame[:n]) for n in range(len(frame))]
        cases += [("gzip", TEXT), ("zstd", TEXT), ("gzip", frame), ("zstd", packed), ("gzip", packed + b"x"), ("zstd", frame + b"x"),
                  ("gzip", zlib.compress(TEXT)), ("gzip", packed + b"\0\0"), ("gzip", b""), ("zstd", b"")]
        for coding, body in cases:
            problem = self.assertProblem(self.send(body, coding), 400)
            self.assertEqual(problem["code"], "bad-coding", (coding, body))
            self.assertIn(coding, problem["detail"])

    def test_every_byte_replaced(self):
        """Checksums find every changed byte of the contents. The answer must be that to the plain body, or a refusal."""
        right = self.send(TEXT, "identity").body
        for coding, coded in (("gzip", gzip.compress(TEXT)), ("zstd", zstd(TEXT, "--check"))):
            for i in range(len(coded)):
                for flip in (0x01, 0x80, 0xFF):
                    answer = self.send(coded[:i] + bytes([coded[i] ^ flip]) + coded[i + 1:], coding)
                    self.assertIn(answer.status, (200, 400, 413), answer)
                    if answer.status == 200:
                        self.assertEqual(answer.body, right)

    def test_other_codings(self):
        for coding in ("br", "deflate", "compress", "gzip, gzip", "identity, gzip", "gzip;q=1", "*", "zstd zstd"):
            answer = self.send(TEXT, coding)
            problem = self.assertProblem(answer, 415)
            self.assertEqual(problem["code"], "unsupported-media-type")
            self.assertIn("gzip, zstd and identity", problem["detail"])
            self.assertEqual(answer.headers["Accept-Encoding"], "gzip, zstd")

    def peak(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s*(\d+) kB", status.read()).group(1)) << 10

    def test_bombs_take_no_memory(self):
        """1 MiB that expands to 1 GiB, and zeros compressed at the greatest ratio: the server's peak memory does not grow."""
        self.send(gzip.compress(json.dumps(batch(100)).encode()), "gzip")
        packer = zlib.compressobj(9, wbits=31)
        zeros = bytes(16 << 20)
        bomb = b"".join(packer.compress(zeros) for _ in range(64)) + packer.flush()
        self.assertLess(len(bomb), 1.1 * (1 << 20))
        frame = zstd(zeros * 4)
        nested = (frame * (1 + (1 << 20) // len(frame)))
        before = self.peak()
        for coding, body in (("gzip", bomb), ("zstd", frame), ("zstd", nested)):
            problem = self.assertProblem(self.send(body, coding), 413)
            self.assertEqual(problem["code"], "body-too-large")
        self.assertLess(self.peak() - before, 16 << 20, "less than the window of zstd twice")

    def test_the_limits(self):
        blank = b" " * (SMALL - len(TEXT))
        self.assertEqual(self.send(gzip.compress(TEXT + blank), "gzip").status, 200, "1 MiB expands at any ratio")
        problem = self.assertProblem(self.send(gzip.compress(TEXT + blank + b" "), "gzip"), 413)
        self.assertIn(f"{RATIO} times", problem["detail"])
        # the field x is unknown: a body that the server reads completely gets 422
        body = json.dumps({**REQUEST, "x": os.urandom(1 << 15).hex()}).encode()
        for more, status in ((0, 422), (1, 413)):
            large = body + b" " * (MOST - len(body) + more)
            for coding, packed in (("gzip", gzip.compress(large)), ("zstd", zstd(large))):
                problem = self.assertProblem(self.send(packed, coding), status)
                self.assertIn("limit of this server" if more else "x", problem["detail"])

    def test_a_window_above_8_mib(self):
        body = TEXT + os.urandom(1 << 10).hex().encode()
        problem = self.assertProblem(self.send(zstd(body, "--long=27"), "zstd"), 400)
        self.assertIn("8 MiB", problem["detail"])


if __name__ == "__main__":
    tap.main()
