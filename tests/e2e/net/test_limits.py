"""Tests the configured limits: the server enforces each limit, names it in the refusal and publishes it at GET /v1."""
import http.client
import json
import tempfile
import unittest

import tap
from errors import ErrorCase, seen, whole_run_shows
from harness import Server
from samples import chain, pendulum


def tearDownModule():
    whole_run_shows("test_limits.py")


class Limits(ErrorCase):
    arguments = ("--max-body", "200K", "--max-rows", "100", "--max-answer", "20K", "--max-models", "24",
                 "--max-links", "50", "--max-nesting", "8")

    def test_rows(self):
        self.assertEqual(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [[0]] * 100}).status, 200)
        self.refused("/v1/models/slider/inverse-dynamics", {"q": [[0]] * 101}, 413, says=("100", "101"))

    def test_answer(self):
        """An answer beyond the limit is refused before it is computed; the number of rows that the problem names does
        fit."""
        q = [[0.123456789] * 4] * 90
        problem = self.refused("/v1/models/arm/mass-matrix", {"q": q}, 413)
        numbers = [int(word.strip(".,;:()")) for word in problem["detail"].split() if word.strip(".,;:()").isdigit()]
        fitting = [n for n in numbers if 1 <= n < 90]
        self.assertTrue(fitting, problem)
        self.assertEqual(self.client.post("/v1/models/arm/mass-matrix", {"q": q[:min(fitting)]}).status, 200)

    def test_body(self):
        big = '{"q":[0]' + " " * 300_000 + "}"
        for method, path in (("POST", "/v1/models/slider/inverse-dynamics"), ("PUT", "/v1/models/x")):
            try:
                answer = self.client.request(method, path, big)
                self.assertProblem(answer, 413)
            except (ConnectionError, http.client.HTTPException):
                pass  # the server refused the head and closed while the client was sending the body

    def test_body_announced(self):
        """The announced length is refused after the head."""
        raw = self.server.socket()
        raw.send("POST /v1/models/slider/inverse-dynamics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        self.assertProblem(raw.answer(), 413)
        raw.close()

    def test_body_in_chunks(self):
        raw = self.server.socket()
        raw.send("POST /v1/models/slider/inverse-dynamics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(40):
                raw.send(b"2000\r\n" + b" " * 8192 + b"\r\n")
            raw.send(b"0\r\n\r\n")
        except ConnectionError:
            pass
        try:
            self.assertEqual(raw.answer().status, 413)
        except ConnectionError:
            pass
        raw.close()

    def test_nesting(self):
        self.refused("/v1/models/arm/mass-matrix", '{"q":[[[[[[[[1]]]]]]]]}', 400)

    def test_links(self):
        self.assertIn(self.client.put("/v1/models/x", chain(49)).status, (200, 201))
        self.refused("/v1/models/x", chain(60), 413, method="PUT")

    def test_models(self):
        held = len(self.client.get("/v1/models").json()["models"])
        answers = [self.client.put(f"/v1/models/more{i}", pendulum()) for i in range(20)]
        self.assertEqual([answer.status for answer in answers[:24 - held]], [201] * (24 - held))
        for answer in answers[24 - held:]:
            self.assertProblem(answer, 507)
        for i in range(20):
            self.client.delete(f"/v1/models/more{i}")

    def test_published(self):
        limits = json.dumps(self.client.get("/v1").json()["limits"])
        for figure in ("204800", "20480", "100"):
            self.assertIn(figure, limits)


class ModelMemory(unittest.TestCase):
    """Tests the limit of the memory of all models, beyond which PUT answers 507. Started with a smaller limit, the server leaves records beyond
    the limit unread, and /readyz names them."""

    def serve(self, limit):
        server = Server("--store", self.store, "--model-memory", limit)
        self.addCleanup(server.kill)
        return server

    def put(self, client, i, links=400):
        return client.put(f"/v1/models/long{i}", chain(links))

    def test_memory(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = folder.name
        server = self.serve("16M")
        client, n = server.client(), 0
        while (answer := self.put(client, n)).status == 201:
            n += 1
            self.assertLess(n, 500, "models of 400 links took no memory")
        self.assertEqual((answer.status, answer.json()["code"]), (507, "insufficient-storage"))
        seen.add(answer.json()["code"])
        self.assertGreater(n, 1)
        self.assertEqual(client.get(f"/v1/models/long{n}").status, 404)
        client.delete("/v1/models/long0")
        for status in (201, 200):  # the first PUT takes the place of a deleted model, the second replaces it
            self.assertEqual(self.put(client, n, 390).status, status)
        metrics = client.get("/metrics").text
        self.assertIn("torqued_model_limit_bytes 16777216", metrics)
        self.assertIsNone(server.stop())

        server = self.serve("8M")
        client = server.client()
        held = [i for i in range(1, n + 1) if client.get(f"/v1/models/long{i}").status == 200]
        self.assertTrue(0 < len(held) < n, held)
        ready = client.get("/readyz")
        self.assertEqual(ready.status, 200)
        for i in range(1, n + 1):
            self.assertEqual(f"long{i}.json" in ready.text, i not in held, ready.text)
        self.assertIsNone(server.stop())

        server = self.serve("32M")  # all records survived
        for i in range(1, n + 1):
            self.assertEqual(server.client().get(f"/v1/models/long{i}").status, 200)
        self.assertIsNone(server.stop())


class Memory(ErrorCase):
    """A single request beyond the memory of all requests gets 413, not 503: a retry would not help."""
    arguments = ("--memory", "1398102")  # three quarters of it, the most that one client may use, are 1 MiB
    ASK = "/v1/models/slider/inverse-dynamics"

    def refused_for_good(self, answer, code):
        self.assertEqual(self.assertProblem(answer, 413)["code"], code)
        self.assertIsNone(answer.headers["Retry-After"])

    def test_limits_are_within(self):
        limits = self.client.get("/v1").json()["limits"]
        self.assertEqual([limits[name] for name in ("memory", "body", "answer")], [1398102, 1 << 20, 1 << 20])

    def test_body_announced(self):
        raw = self.server.socket()
        raw.send(f"POST {self.ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2 << 20}\r\n\r\n")
        self.refused_for_good(raw.answer(), "body-too-large")
        raw.close()

    def test_body_in_chunks(self):
        raw = self.server.socket()
        raw.send(f"POST {self.ASK} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(140):
                raw.send(b"2000\r\n" + b" " * 8192 + b"\r\n")
        except ConnectionError:
            pass
        self.refused_for_good(raw.answer(), "body-too-large")
        raw.close()

    def test_decoded(self):
        """A body of 0.8 MB is accepted, but its decoded values or its answer exceed the memory."""
        self.refused_for_good(self.client.post(self.ASK, {"q": [[0]] * 131_000}), "too-much-memory")
        self.refused_for_good(self.client.post(self.ASK, {"q": [[0.123]] * 90_000}), "too-much-memory")

    def test_answer(self):
        answer = self.client.post("/v1/models/arm/mass-matrix", {"q": [[0.1] * 4] * 5000})
        self.refused_for_good(answer, "answer-too-large")
        self.assertRegex(answer.json()["detail"], r"[0-9]+ rows fit")

    def test_model(self):
        self.refused_for_good(self.client.put("/v1/models/x", {"links": [[0]] * 150_000}), "too-much-memory")

    def test_compressed_answer(self):
        """If there is no memory for compression, the answer is sent uncompressed."""
        request = {"q": [[0.1] * 4] * 1700, "outputs": ["mass_matrix"]}
        plain = self.client.post("/v1/models/arm/mass-matrix", request)
        self.assertEqual(plain.status, 200, plain)
        self.assertGreater(len(plain.body), 300_000)
        for coding in ("gzip", "zstd"):
            answer = self.client.post("/v1/models/arm/mass-matrix", request, Accept_Encoding=coding)
            self.assertEqual((answer.status, answer.headers["Content-Encoding"]), (200, None))
            self.assertEqual(answer.body, plain.body)


if __name__ == "__main__":
    tap.main()
