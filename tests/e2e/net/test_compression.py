"""Tests compressed answers: curl, zlib and the zstd program recover the plain bytes; HEAD, error answers, short
answers, and the headers that caches need."""
import gzip
import json
import subprocess

import tap
from harness import PATIENCE, ServerCase
from samples import branched, states

LONG = "/v1/models/arm/kinematics"


class Compression(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_model(cls(), "arm", branched())
        cls.request = {"q": states(200)["q"]}
        cls.plain = cls.client.post(LONG, cls.request).body

    def unpacked(self, answer):
        coding = answer.headers["Content-Encoding"]
        if coding == "zstd":
            done = subprocess.run(["zstd", "-dc"], input=answer.body, capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        return gzip.decompress(answer.body) if coding == "gzip" else answer.body

    def test_what_is_taken_is_sent(self):
        for accept, coding in (("gzip", "gzip"), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"),
                               ("gzip;q=1, zstd;q=0.5", "gzip"), ("*", None), ("*, identity;q=0.1", "zstd"),
                               ("identity", None), ("", None), ("gzip;q=0", None), ("br", None)):
            answer = self.client.post(LONG, self.request, Accept_Encoding=accept)
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.headers["Content-Encoding"], coding, accept)
            self.assertEqual(self.unpacked(answer), self.plain, accept)
            if coding:
                self.assertLess(len(answer.body), 0.6 * len(self.plain))
                self.assertIn("Accept-Encoding", answer.headers["Vary"])

    def test_curl(self):
        done = subprocess.run(
            ["curl", "-sS", "--compressed", self.server.url(LONG), "-H", "Content-Type: application/json",
             "--data-binary", "@-"], input=json.dumps(self.request).encode(), capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.plain)

    def test_large_ones(self):
        """Answers of more than half a megabyte, computed by a worker, several of them on one connection."""
        request = {"q": states(2000)["q"], "frames": ["tool", "fore", "upper"]}
        plain = self.client.post(LONG, request).body
        self.assertGreater(len(plain), 1 << 19)
        for coding in "gzip", "zstd", "gzip":
            answer = self.client.post(LONG, request, Accept_Encoding=coding)
            self.assertEqual(self.unpacked(answer), plain)

    def test_get_and_head(self):
        for path in "/openapi.json", "/v1/models", "/v1":
            plain, coded = self.client.get(path), self.client.get(path, Accept_Encoding="gzip")
            self.assertEqual(coded.headers["Content-Encoding"], "gzip")
            self.assertEqual(self.unpacked(coded), plain.body)
            for answer in plain, coded:
                self.assertIn("Accept-Encoding", answer.headers["Vary"])
            head = self.client.request("HEAD", path, headers={"Accept-Encoding": "gzip"})
            for name in "Content-Length", "Content-Encoding", "Vary", "Content-Type":
                self.assertEqual(head.headers[name], coded.headers[name], name)

    def test_the_tag_stays_the_revision(self):
        for path in "/v1/models/arm", "/v1/models/arm/document":
            answer = self.client.get(path, Accept_Encoding="gzip")
            self.assertGreater(len(answer.body), 1024)
            self.assertIsNone(answer.headers["Content-Encoding"])
            self.assertEqual(answer.headers["ETag"].strip('"'), answer.headers["Model-Revision"])
            self.assertEqual(self.client.get(path, Accept_Encoding="gzip", If_None_Match=answer.headers["ETag"]).status, 304)

    def test_the_contract_is_compressed_once(self):
        """The contract, like the console's pages, is a static file: compressed when the server was built, with a tag for each coding."""
        plain, coded = (self.client.get("/openapi.json", Accept_Encoding=coding) for coding in ("zstd", "gzip"))
        self.assertIsNone(plain.headers["Content-Encoding"])
        self.assertEqual(coded.headers["ETag"], plain.headers["ETag"][:-1] + '-gzip"')
        for answer, coding in ((plain, "identity"), (coded, "gzip")):
            again = self.client.get("/openapi.json", Accept_Encoding=coding, If_None_Match=answer.headers["ETag"])
            self.assertEqual((again.status, again.body), (304, b""))

    def test_left_as_they_are(self):
        for method, path, request in (("GET", "/livez", None), ("GET", "/nowhere", None),
                                      ("POST", "/v1/models/arm/bias", {"q": [0] * 4}),
                                      ("POST", "/v1/models/arm/bias", {"q": [0] * 40})):
            answer = self.client.request(method, path, request, {"Accept-Encoding": "gzip"})
            self.assertIsNone(answer.headers["Content-Encoding"], path)
        answer = self.client.post(LONG, self.request, Accept_Encoding="gzip", Accept="application/cbor")
        self.assertIsNone(answer.headers["Content-Encoding"], "CBOR is as short as it gets")

    def test_a_get_with_a_body(self):
        """The server reads and ignores the body of a GET, whether it compresses the answer or not."""
        answer = self.client.request("GET", "/openapi.json", b"x" * 5000, {"Accept-Encoding": "gzip"})
        self.assertEqual(answer.status, 200)
        self.assertEqual(self.unpacked(answer), self.client.get("/openapi.json").body)


if __name__ == "__main__":
    tap.main()
