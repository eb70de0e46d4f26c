#!/usr/bin/python3
"""Tests the export of models over HTTP: the files of `torqued convert`, the report of what the format cannot express, and the robot that the
server reads back from them."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cbor2
import tap
from harness import BINARY, ROOT, ServerCase

FORMATS = ("urdf", "mjcf", "sdf")


class Export(ServerCase):
    def test_files_are_those_of_convert(self):
        for name in ("panda", "five_bar"):
            for form in FORMATS:
                answer = self.ok(self.client.get(f"/v1/models/{name}/export/{form}"))
                done = subprocess.run([BINARY, "convert", "--to", form, os.path.join(ROOT, "models", f"{name}.json")], capture_output=True, text=True)
                self.assertEqual(answer["text"].rstrip("\n"), done.stdout.rstrip("\n"), (name, form))
                lost = [entry["text"] for entry in answer["report"] if entry["code"] == "not-held"]
                for text in lost:
                    self.assertIn(text, done.stderr, (name, form))
                self.assertEqual(len(lost) > 0, "not-held" in done.stderr)

    def test_the_file_gives_the_robot_again(self):
        state = {"q": [0.3, 0.5, 0, -1.5, 0, 1.6, 0], "qd": [1, -1, 0.5, 0, 1, 0, 2], "qdd": [1, 2, 3, 4, 5, 6, 7]}
        tau = self.ok(self.client.post("/v1/models/panda/inverse-dynamics", state))["tau"]
        for form in FORMATS:
            text = self.ok(self.client.get(f"/v1/models/panda/export/{form}"))["text"]
            put = self.client.request("PUT", f"/v1/models/again_{form}", text.encode(), {"Content-Type": f"application/{form}+xml"})
            self.assertIn(put.status, (200, 201), put)
            for a, b in zip(tau, self.ok(self.client.post(f"/v1/models/again_{form}/inverse-dynamics", state))["tau"]):
                self.assertAlmostEqual(a, b, delta=1e-9 * (1 + abs(a)))

    def test_other_formats_and_models(self):
        for path, code in (("panda/export/document", "no-such-path"), ("panda/export/step", "no-such-path"), ("nobody/export/urdf", "no-such-model")):
            answer = self.client.get(f"/v1/models/{path}")
            self.assertEqual((answer.status, answer.json()["code"]), (404, code), path)

    def test_a_cache_keeps_its_copy(self):
        path = "/v1/models/stewart/export/sdf"
        first, head = self.client.get(path), self.client.request("HEAD", path)
        self.assertEqual((head.status, head.headers["Content-Length"]), (200, str(len(first.body))))
        again = self.client.get(path, **{"If-None-Match": first.headers["ETag"]})
        self.assertEqual((again.status, again.body), (304, b""))

    def test_cbor_and_revision(self):
        answer = self.client.get("/v1/models/panda/export/mjcf", Accept="application/cbor")
        self.assertEqual(cbor2.loads(answer.body), self.ok(self.client.get("/v1/models/panda/export/mjcf")))
        self.assertEqual(answer.headers["Model-Revision"], self.ok(self.client.get("/v1/models/panda"))["revision"])


tap.main()
