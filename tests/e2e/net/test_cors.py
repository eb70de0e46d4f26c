"""Tests cross-origin requests: preflights and headers for the origins of --allow-origin, and none without this setting.
"""
import os
import re
import subprocess

import tap
from harness import BINARY, ROOT, ServerCase
from samples import slider

ONE, OTHER = "http://localhost:5173", "https://planner.example"
HEADERS = ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Methods",
           "Access-Control-Allow-Headers", "Access-Control-Max-Age", "Access-Control-Allow-Credentials")
HOSTILE = ("http://evil.example", "http://localhost:51730", "http://localhost:517", "https://localhost:5173", "http://localhost",
           "http://localhost:5173.evil.example", "http://localhost:5173@evil.example", "null", "", "*", "http://localhost:5173/",
           "http://localhost:5173,https://planner.example", "http://localhost:5173 ,x", "http://xlocalhost:5173", ",", "x" * 4000,
           "https://planner.example.", "http://localhost:5173, http://localhost:5173", "\xe9\xff", "https://evil.example?https://planner.example")


# Headers that the server reads, less those that browsers set themselves (Fetch, "forbidden request-header") or proxies.
with open(os.path.join(ROOT, "server", "net", "request_head.c"), encoding="utf-8") as source:
    WANTED = {name for name in re.findall(r'WANTED\("([\w-]+)"', source.read())
              if not re.match(r"Accept-Encoding|Access-Control-|Forwarded|Host|Origin|Sec-|X-Forwarded-For", name)}


def words(text):
    return set(re.split(r",\s*", text or ""))


class CorsCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/slider", slider())

    def preflight(self, origin, path="/v1/models/slider", method="PUT", headers="content-type,if-match"):
        return self.client.request("OPTIONS", path, headers={
            "Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers})

    def assertNothingAllowed(self, answer):
        for name in HEADERS:
            self.assertIsNone(answer.headers[name], name)


class Listed(CorsCase):
    arguments = ("--allow-origin", f"{ONE},{OTHER}")

    def test_preflight(self):
        """Every path answers preflights, so that pages can read error answers, too."""
        for path in ("/v1/models/slider", "/v1/models/none", "/v1/models/slider/inverse-dynamics", "/nowhere", "/"):
            for origin in (ONE, OTHER):
                for method in ("GET", "PUT", "POST", "DELETE"):
                    answer = self.preflight(origin, path, method)
                    self.assertEqual((answer.status, answer.body), (204, b""), path)
                    self.assertEqual(answer.headers["Access-Control-Allow-Origin"], origin)
                    self.assertIn(method, words(answer.headers["Access-Control-Allow-Methods"]))
                    self.assertEqual(WANTED - words(answer.headers["Access-Control-Allow-Headers"]), set(),
                                     "the server reads these headers: add them to Access-Control-Allow-Headers in host_and_origin.c")
                    self.assertGreater(int(answer.headers["Access-Control-Max-Age"]), 0)
                    self.assertIn("Origin", words(answer.headers["Vary"]))
                    self.assertIsNone(answer.headers["Access-Control-Allow-Credentials"])

    def test_answers(self):
        """Answers carry the headers for success and errors, with a body or without."""
        tag = self.client.get("/v1/models/slider").headers["ETag"]
        for method, path, body, more, status in (
                ("GET", "/v1/models/slider", None, {}, 200), ("GET", "/v1/models/slider", None, {"If-None-Match": tag}, 304),
                ("HEAD", "/v1/models", None, {}, 200), ("GET", "/nowhere", None, {}, 404), ("POST", "/v1", {}, {}, 405),
                ("POST", "/v1/models/slider/inverse-dynamics", {"q": [0], "qdd": [2]}, {}, 200), ("BREW", "/v1", None, {}, 501),
                ("POST", "/v1/models/slider/inverse-dynamics", "{", {}, 400), ("GET", "/v1/", None, {}, 308),
                ("GET", "/openapi.json", None, {"Accept-Encoding": "gzip"}, 200), ("GET", "/", None, {"Accept": "text/html"}, 200),
                ("PUT", "/v1/models/slider", slider(), {}, 200), ("OPTIONS", "/v1", None, {}, 204)):
            answer = self.client.request(method, path, body, {"Origin": ONE, **more})
            with self.subTest(method=method, path=path, status=status):
                self.assertEqual(answer.status, status, answer)
                self.assertEqual(answer.headers.get_all("Access-Control-Allow-Origin"), [ONE])
                self.assertEqual(words(answer.headers["Access-Control-Expose-Headers"]),
                                 {"Arithmetic", "ETag", "Model-Change", "Model-Revision", "Retry-After", "Request-Id", "Server-Timing", "traceparent"})
                self.assertEqual(len(answer.headers.get_all("Vary")), 1)
                self.assertIn("Origin", words(answer.headers["Vary"]))

    def test_caches_are_told(self):
        """Answers carry Vary even without Origin: a cache must not give such an answer to a page of another origin."""
        for origin in ({}, {"Origin": "http://evil.example"}):
            for path, also in (("/v1/models", {"Accept", "Accept-Encoding"}), ("/livez", {"Accept-Encoding"}), ("/nowhere", {"Accept"})):
                answer = self.client.request("GET", path, headers=origin)
                self.assertEqual(words(answer.headers["Vary"]), {"Origin"} | also, path)
                self.assertNothingAllowed(answer)
        answer = self.client.post("/v1/models/slider/bias", {"q": [0]})
        self.assertEqual(words(answer.headers["Vary"]), {"Origin"})

    def test_hostile_origins(self):
        for origin in HOSTILE:
            with self.subTest(origin=origin[:80]):
                raw = self.server.socket()
                raw.send(f"GET /v1 HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\n\r\n")
                answer = raw.answer()
                self.assertEqual(answer.status, 200)
                self.assertNothingAllowed(answer)
                raw.send(f"OPTIONS /v1 HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: GET\r\n\r\n")
                answer = raw.answer()
                self.assertEqual((answer.status, answer.headers["Allow"]), (204, "GET, HEAD, OPTIONS"))
                self.assertNothingAllowed(answer)
                raw.close()

    def test_two_origins_are_none(self):
        raw = self.server.socket()
        raw.send(f"GET /v1 HTTP/1.1\r\nHost: localhost\r\nOrigin: {ONE}\r\nOrigin: {ONE}\r\n\r\n")
        self.assertNothingAllowed(raw.answer())
        raw.close()

    def test_options_that_are_no_preflight(self):
        answer = self.client.request("OPTIONS", "/v1", headers={"Origin": ONE})
        self.assertEqual((answer.status, answer.headers["Allow"]), (204, "GET, HEAD, OPTIONS"))
        self.assertIsNone(answer.headers["Access-Control-Allow-Methods"])


class Off(CorsCase):
    def test_by_default(self):
        for origin in (ONE, self.server.url(), "null"):
            for answer in (self.client.get("/v1", Origin=origin), self.preflight(origin), self.preflight(origin, "/v1", "GET")):
                self.assertNothingAllowed(answer)
                self.assertNotIn("Origin", words(answer.headers["Vary"]))
        self.assertEqual(self.preflight(ONE, "/nowhere").status, 404)


class All(CorsCase):
    arguments = ("--allow-origin", "*")

    def test_any_origin(self):
        for origin in (ONE, "null", "http://evil.example"):
            for answer in (self.client.get("/v1", Origin=origin), self.preflight(origin)):
                self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "*")
        self.assertNothingAllowed(self.client.get("/v1"))


class Setting(tap.unittest.TestCase):
    def test_lists_that_are_refused(self):
        for origins in ("localhost", "http://", "http://a/", "http://a/b", "http://a,", ",http://a", "http://a, http://b", "null", "**",
                        "http://a,*", "*,http://a", "http://a:", "http://a:x", "http://u@a", "://a", "http://a b", "http://[::1", "http:a",
                        "http://[x]", "http://" + "a" * 300):
            done = subprocess.run([BINARY, "--allow-origin", origins], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, 2, origins)
            self.assertIn("--allow-origin is ", done.stderr)


if __name__ == "__main__":
    tap.main()
