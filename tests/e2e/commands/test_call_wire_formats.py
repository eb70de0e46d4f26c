"""Tests `torqued call` with bodies in CBOR and MessagePack: --to requests the answer in a format and writes its bytes unchanged, --from sends
the bytes of a body unchanged. The numbers have the bits of JSON."""
import json
import struct

import cbor2
import tap
from msgpack_bytes import pack, unpack
from test_command_line import Case, as_csv, states

DECODE = {"cbor": cbor2.loads, "msgpack": unpack}
ENCODE = {"cbor": cbor2.dumps, "msgpack": pack}


class Formats(Case):
    def setUp(self):
        super().setUp()
        self.made = {name: values.tolist() for name, values in states(3).items()}
        self.expected = self.client.post("/v1/models/panda/inverse-dynamics", self.made).json()["tau"]

    def same(self, rows):
        self.assertEqual([struct.pack("<7d", *row) for row in rows], [struct.pack("<7d", *row) for row in self.expected])

    def test_answers(self):
        """Files of every kind, also of more rows than --chunk, are sent in one request, since two answers could not be written as one body."""
        files = [self.path("s.json", json.dumps(self.made)), self.path("s.csv", as_csv(states(3)))]
        for form, decode in DECODE.items():
            for path in files:
                for more in ((), ("--chunk", "7")):
                    answer = decode(self.said("call", "panda", "inverse-dynamics", path, "--to", form, *more))
                    self.same(answer["tau"])
            out = self.path(f"out.{form}")
            self.assertEqual(self.said("call", "panda", "inverse-dynamics", files[0], "--output", out), b"")
            with open(out, "rb") as file:
                self.same(decode(file.read())["tau"])
            alone = decode(self.said("call", "two_link", "mass-matrix", "q=[0,0.5]", "--to", form))
            self.assertEqual(json.loads(self.said("call", "two_link", "mass-matrix", "q=[0,0.5]")), alone)

    def test_requests(self):
        for form, encode in ENCODE.items():
            body = encode(self.made)
            path = self.path(f"s.{form}", body)
            self.same(json.loads(self.said("call", "panda", "inverse-dynamics", path, "--to", "json"))["tau"])
            self.same(DECODE[form](self.said("call", "panda", "inverse-dynamics", "--from", form, given=body))["tau"])
            for other, decode in DECODE.items():
                self.same(decode(self.said("call", "panda", "inverse-dynamics", path, "--to", other))["tau"])

    def test_refusals(self):
        path = self.path("s.msgpack", pack({"q": self.made["q"]}))
        for arguments in ((path, "gravity=[0,0,0]", "--to", "json"), (path, "--fields", "q", "--to", "json")):
            self.assertIn("leave out FIELD=JSON and --fields", self.refused("call", "panda", "bias", *arguments))
        for form in ("csv", "npz", "npy", "jsonl"):
            self.assertIn("--to json, cbor or msgpack", self.refused("call", "panda", "bias", path, "--to", form))
        self.assertIn("--to json, cbor or msgpack", self.refused("plot", "panda", "bias", path, "--output", self.path("x.svg")))
        wrong = self.path("wrong.msgpack", pack({"q": [[0.5] * 6]}))
        self.assertIn("at /q/0 of the request", self.refused("call", "panda", "bias", wrong))
        self.assertIn("(bad-msgpack, status 400)", self.refused("call", "panda", "bias", self.path("cut.msgpack", b"\x81\xa1q")))


if __name__ == "__main__":
    tap.main()
