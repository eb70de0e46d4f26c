"""The limits that are configured: each is held, told and published."""
import http.client
import json

import tap
from errors import ErrorCase, whole_run_shows
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
        """Refused before it is computed, and the rows it says would fit do."""
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
                pass        # refused on the head and closed while the body was still on its way

    def test_body_announced(self):
        """Refused on the head alone."""
        raw = self.server.socket()
        raw.send("POST /v1/models/slider/inverse-dynamics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
        self.assertProblem(raw.answer(), 413)
        raw.close()

    def test_body_in_chunks(self):
        raw = self.server.socket()
        raw.send("POST /v1/models/slider/inverse-dynamics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
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


if __name__ == "__main__":
    tap.main()
