"""Tests the C client of api/clients/c: compiled with the project's warnings, against a server (c_client.c), under the
sanitizers against answers that no correct server sends, and with TLS, tokens and Unix sockets (c_probe.c)."""
import contextlib
import http.server
import json
import os
import random
import re
import shutil
import socketserver
import struct
import subprocess
import tempfile
import threading
import unittest

import cbor2
import tap
from access import Certificates, Tokens
from harness import PATIENCE, ROOT, Server, ServerCase

FOLDER = os.path.dirname(os.path.abspath(__file__))
CLIENT = os.path.join(ROOT, "api", "clients", "c")
LIBRARIES = ("-lcurl", "-lpthread", "-lcmocka", "-lm")
SANITIZERS = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
OK, REFUSED, UNREACHABLE, BAD_ANSWER, BAD_ARGUMENT, NO_MEMORY = range(6)


def warnings():
    with open(os.path.join(ROOT, "Makefile")) as file:
        return re.search(r"^WARNINGS := (.*)", file.read(), re.MULTILINE)[1].split()


def build(folder, name, *flags):
    program = os.path.join(folder, name)
    done = subprocess.run(
        ["gcc", "-std=gnu11", *warnings(), "-Wno-unused-parameter", *flags, "-iquote", ROOT, "-o", program,
         os.path.join(FOLDER, name + ".c"), os.path.join(CLIENT, "torqued.c"), *LIBRARIES], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return program


def run(program, *arguments, **environment):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=6 * PATIENCE,
                          env={**os.environ, "http_proxy": "http://127.0.0.1:9", **environment})


class Real(ServerCase):
    def passes(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            done = run(build(folder, "c_client", *flags), TORQUED_URL=self.server.url(), CMOCKA_MESSAGE_OUTPUT="STDOUT")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"PASSED  \] 1[0-9] test")

    def test_without_allocation_in_the_steady_state(self):
        self.passes("-O2", "-DCOUNT_ALLOCATIONS")

    def test_under_sanitizers(self):
        self.passes(*SANITIZERS)


class Fake:
    """An HTTP server that records requests and sends the status, head and body that `answer` returns."""

    def __init__(self, answer):
        requests = self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # buffer all, so that head and body leave in one segment

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                requests.append((self.command, self.path, self.headers, body))
                status, head, answer_body = answer(len(requests))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(answer_body)), **head}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer_body)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one

            def log_message(self, *_):
                pass

        class Threads(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Threads(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def typed(values, *shape):
    array = cbor2.CBORTag(86, struct.pack(f"<{len(values)}d", *values))
    return cbor2.CBORTag(40, [list(shape), array]) if shape else array


TAU = typed([1, 2, 3, 4, 5, 6], 2, 3)
GOOD = cbor2.dumps({"tau": TAU})


class Probed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.program = build(cls.folder, "c_probe", *SANITIZERS)

    def probe(self, url, *arguments, rounds=1):
        """Runs c_probe and returns its report as {name: value}."""
        done = run(self.program, url, str(rounds), *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
        self.assertEqual(set(found), {"status", "http", "row", "retry_after", "code", "pointer", "detail", "request_id"})
        return {**found, "status": int(found["status"]), "http": int(found["http"]), "row": int(found["row"])}

    @contextlib.contextmanager
    def fake(self, answer=lambda number: (200, {}, GOOD)):
        fake = Fake(answer)
        try:
            yield fake, f"http://127.0.0.1:{fake.port}"
        finally:
            fake.close()


class Requests(Probed):
    def test_arrays_and_options_as_cbor(self):
        options = {"a": [1, -1, 0, 23, 24, 255, 256, 65536, 4294967296, 9007199254740991, -9007199254740991],
                   "b": [0.1, -0.0, 1e300, 1.0, 1e22, 5e-324, 9007199254740993.0], "c": {"d": {}, "e": [], "f": None},
                   "g": [True, False], 'h"\\/\b\f\n\r\t': "é€😀\u0001", "": "x" * 300}
        for ascii_only in (True, False):
            text = json.dumps(options, ensure_ascii=ascii_only)
            with self.fake() as (fake, url):
                found = self.probe(url, "options", text[:-1] + ', "$f": "$f", "w" : [ { "force":$f } ] }')
                self.assertEqual((found["status"], found["detail"]), (OK, ""))
                method, path, head, body = fake.requests[0]
            self.assertEqual((method, path), ("POST", "/v1/models/a%20model/inverse-dynamics"))
            self.assertEqual(head["Content-Type"], "application/cbor")
            self.assertEqual(head["Accept"], "application/cbor; arrays=multidimensional")
            self.assertNotIn("Expect", head)
            self.assertNotIn("Authorization", head)
            sent = cbor2.loads(body)
            q = [0.1, 0.2, 0.3, 1, -2, 1e-300]
            self.assertEqual(sent.pop("q"), typed(q, 2, 3))
            self.assertEqual(sent.pop("qd"), typed(q[:3]))
            self.assertEqual(sent.pop("w"), [{"force": typed(q, 1, 2, 3)}])
            self.assertEqual(sent.pop("$f"), "$f")
            self.assertEqual(repr(sent), repr(options))

    def test_the_connection_is_kept_and_opened_again(self):
        def answer(number):
            return 200, {"Connection": "close"} if number % 3 == 0 else {}, GOOD
        with self.fake(answer) as (fake, url):
            self.assertEqual(self.probe(url, rounds=10)["status"], OK)
            self.assertEqual(len(fake.requests), 10)

    def test_tokens(self):
        token = "tq1_abcDEF-._~+/="
        path = os.path.join(self.folder, "token")
        with open(path, "w") as file:
            file.write(token + "\n")
        for arguments in (("token", token), ("token_file", path)):
            with self.fake() as (fake, url):
                self.assertEqual(self.probe(url, *arguments)["status"], OK)
                _, target, head, _ = fake.requests[0]
            self.assertEqual(head["Authorization"], "Bearer " + token)
            self.assertNotIn(token, target)
        for bad in ("two words", "x" * 5000, "é"):
            found = self.probe(url, "token", bad)
            self.assertEqual(found["status"], BAD_ARGUMENT)
            self.assertNotIn(bad, found["detail"])


class Problems(Probed):
    def answered(self, status, body, head=None):
        with self.fake(lambda _: (status, head or {}, body)) as (_, url):
            return self.probe(url, "retries", "-1")

    def test_every_part(self):
        problem = {"type": "/problems/x", "code": "busy", "title": "t", "status": 503, "detail": "naïve \"x\"",
                   "pointer": "/a~1b/3", "row": 41, "reasons": ["a", {"b": 1e5}]}
        found = self.answered(503, json.dumps(problem).encode(), {"Retry-After": "7", "Request-Id": "abc"})
        self.assertEqual(found, {"status": REFUSED, "http": 503, "row": 41, "retry_after": "7", "code": "busy",
                                 "pointer": "/a~1b/3", "detail": 'naïve "x"', "request_id": "abc"})

    def test_other_bodies(self):
        for body in (b"", b"<html>", b"{", b"[]", b'{"row": 1e99, "code": 3}', b'{"row": -4}', b"\xff\xfe", b"[" * 1000, b"$f"):
            found = self.answered(502, body)
            self.assertEqual((found["status"], found["http"], found["row"]), (REFUSED, 502, -1))
            self.assertEqual(found["detail"], "HTTP status 502 without a problem document")
        long = self.answered(422, json.dumps({"detail": "x" * 9999, "code": "y" * 999, "pointer": "/" * 999}).encode())
        self.assertEqual([len(long[name]) for name in ("detail", "code", "pointer")], [511, 63, 255])
        self.assertEqual(self.answered(302, b"", {"Location": "/elsewhere"})["status"], REFUSED)


class Busy(Probed):
    """A server that answers 503 always, or to the first `times` requests; `pause` is the value of Retry-After."""

    def ask(self, *arguments, status=503, times=99, pause="0"):
        with self.fake(lambda number: (status, {"Retry-After": pause}, b"") if number <= times else (200, {}, GOOD)) as (fake, url):
            found = self.probe(url, *arguments)
            return found["status"], found["http"], len(fake.requests)

    def test_evaluations_are_repeated(self):
        for status in (429, 503):
            self.assertEqual(self.ask(status=status, times=1), (OK, 0, 2))
            self.assertEqual(self.ask(status=status, times=2), (OK, 0, 3))
            self.assertEqual(self.ask(status=status), (REFUSED, status, 3))
            self.assertEqual(self.ask("retries", "5", status=status), (REFUSED, status, 6))
        self.assertEqual(self.ask(times=1, pause="soon"), (OK, 0, 2))

    def test_what_is_sent_once(self):
        self.assertEqual(self.ask("retries", "-1"), (REFUSED, 503, 1))
        self.assertEqual(self.ask("put", "{}"), (REFUSED, 503, 1))
        self.assertEqual(self.ask("timeout", "60", pause="61"), (REFUSED, 503, 1))
        for status in (404, 500):
            self.assertEqual(self.ask(status=status), (REFUSED, status, 1))


class Answers(Probed):
    def status(self, *bodies):
        with self.fake(lambda number: (200, {}, bodies[(number - 1) % len(bodies)])) as (fake, url):
            found = self.probe(url, rounds=len(bodies))
            self.assertGreaterEqual(len(fake.requests), len(bodies))
            return found["status"]

    def test_forms_of_six_numbers(self):
        flat = typed([1, 2, 3, 4, 5, 6])
        for tau in (TAU, flat, [flat], [typed([1, 2, 3]), [4, -5, 6.5]], [[1, 2, 3], [4, 5, 6]]):
            self.assertEqual(self.status(cbor2.dumps({"x": {"tau": 1}, "y": [{}, "tau"], "tau": tau})), OK, tau)

    def test_what_has_not_six_numbers(self):
        for body in (b"", b"\xa0", cbor2.dumps([TAU]), cbor2.dumps({"tau": [1] * 5}), cbor2.dumps({"tau": ["1"] * 6}),
                     cbor2.dumps({"tau": [None] * 6}), cbor2.dumps({"tau": cbor2.CBORTag(85, b"1234" * 6)}),
                     cbor2.dumps({"tau": cbor2.CBORTag(86, b"1" * 47)}), cbor2.dumps({"ta": TAU, "tau2": TAU}),
                     cbor2.dumps({1: 2, "tau": TAU}), b"\xa1\x63tau\xd8\x56\x5b" + b"\xff" * 8, b"\xa1\x7b" + b"\xff" * 8,
                     b"\xbb" + b"\xff" * 8, b"\xa1\x63tau" + b"\x81" * 100000, b"\xa1\x63tau\xd8\x28" * 100,
                     b"\xd9" * 100000, b"\x9f", b"\xbf\x63tau", b"\xa1\x63tau\xff", b"{}"):
            self.assertEqual(self.status(body), BAD_ANSWER, body[:20])

    def test_damaged_answers(self):
        """Answers with every byte cut off or changed must cause no invalid read, which the sanitizers report."""
        rng = random.Random(3)
        whole = cbor2.dumps({"name": "a robot", "errors": [{"row": 3, "code": "x"}], "poses": {"tip": {"position": typed([1, 2, 3])}},
                             "nq": 3, "nv": 3, "revision": "0" * 32, "tau": TAU})
        bodies = [whole[:cut] for cut in range(len(whole))]
        for _ in range(1500):
            body = bytearray(whole)
            for _ in range(rng.choice((1, 1, 2, 5))):
                body[rng.randrange(len(body))] = rng.choice((rng.randrange(256), 0xff, 0x5b, 0x9f, 0xbb, 0xd8))
            bodies.append(bytes(body))
        self.status(*bodies)


class Memory(Probed):
    def test_every_allocation_may_fail(self):
        """Lets the k-th allocation fail, for each k, and then all from the k-th on: the client returns a status and does not crash. The run ends
        with the first round in which nothing failed."""
        program = build(self.folder, "c_probe", "-O1", "-DFAILING_ALLOCATION")
        seen = set()
        with self.fake() as (_, url):
            for sticky in ({}, {"STICKY": "1"}):
                for number in range(1, 2000):
                    done = run(program, url, "2", "options", '{"outputs": ["tau"]}', FAIL=str(number), **sticky)
                    self.assertEqual(done.returncode, 0, (number, sticky, done.stderr))
                    status = int(re.match(r"status ([0-9]+)", done.stdout)[1])
                    if status == 99:
                        break
                    seen.add(status)
                self.assertGreater(number, 50)
                self.assertEqual(status, 99)
        self.assertLessEqual({OK, NO_MEMORY}, seen)
        self.assertLessEqual(seen, {OK, NO_MEMORY, UNREACHABLE}, "libcurl reports some as failed connections")


class Sockets(Probed):
    def test_unix(self):
        server = Server("--listen", "unix:socket,127.0.0.1:0")
        self.addCleanup(server.kill)
        found = self.probe("http://localhost", "unix_socket", os.path.join(server.folder, "socket"))
        self.assertEqual((found["status"], found["http"]), (REFUSED, 404))  # the server has no model "a model"
        self.assertEqual(self.probe("http://localhost", "unix_socket", "/no/such")["status"], UNREACHABLE)

    def test_a_server_that_asks_for_a_token(self):
        tokens = Tokens(self.folder)
        server = Server("--tokens", tokens.path)
        self.addCleanup(server.kill)
        found = self.probe(server.url(), "token", tokens.token["planner"])
        self.assertEqual((found["status"], found["code"]), (REFUSED, "no-such-model"))
        for name in ("expired", "unknown"):
            found = self.probe(server.url(), "token", tokens.token[name])
            self.assertEqual((found["http"], found["code"]), (401, "unauthorized"))
        self.assertEqual(self.probe(server.url())["http"], 401)

    def test_no_answer_in_time(self):
        stuck = threading.Event()
        self.addCleanup(stuck.set)
        with self.fake(lambda _: stuck.wait() or (200, {}, GOOD)) as (_, url):
            found = self.probe(url, "timeout", "0.2")
            stuck.set()
        self.assertEqual(found["status"], UNREACHABLE)
        self.assertIn("imeout", found["detail"])

    def test_tls(self):
        """The client checks the server's certificate, and the server checks the client's."""
        if not shutil.which("openssl"):
            self.skipTest("no openssl here")
        certificates = Certificates(self.folder)
        certificates.make_client("robot", "robot")
        tokens = Tokens(self.folder, "robot evaluate certificate:robot\n")
        server = Server("--tokens", tokens.path, *certificates.arguments("ca.pem"), context=certificates.context())
        self.addCleanup(server.kill)
        trust = ("ca_file", certificates.path("server.pem"))
        own = ("certificate_file", certificates.path("robot.pem"), "key_file", certificates.path("robot.key"))
        for credential in (("token", tokens.token["planner"]), own):
            found = self.probe(server.url(), *trust, *credential, rounds=3)
            self.assertEqual((found["status"], found["code"]), (REFUSED, "no-such-model"))
        self.assertEqual(self.probe(server.url(), *trust)["code"], "unauthorized")
        for url, arguments in ((server.url(), own), (server.url(), ("ca_file", certificates.path("ca.pem"))),
                               (server.url().replace("127.0.0.1", "127.0.0.2"), trust), (server.url().replace("https", "http"), ())):
            found = self.probe(url, *arguments, "token", tokens.token["planner"])
            self.assertEqual((found["status"], found["http"]), (UNREACHABLE, 0), (url, arguments))


if __name__ == "__main__":
    tap.main()
