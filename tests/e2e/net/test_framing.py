"""Tests requests whose end different programs may see at different bytes (request smuggling): the shapes of
tests/data/framing_shapes are sent directly, pipelined, cut into segments, and through nginx and HAProxy. No shape makes
the server run two requests where one was sent."""
import json
import os
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import tap
from access import Certificates
from deploy import PATH, need
from framing import HIDDEN, shapes
from harness import PATIENCE, Server, ServerCase
from peers import RawSocket
from samples import slider
from test_proxy import Proxy

SHAPES = shapes()
LAST = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
AHEAD = b"GET /v1/models/victim HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n"


def exchange(raw, pieces):
    """Sends the pieces and returns all answers until the server closes. The server may close before it has read
    everything."""
    raw.cut = False
    try:
        for piece in pieces:
            raw.send(piece)
    except OSError:
        raw.cut = True
    answers = []
    try:
        while True:
            answers.append(raw.answer())
    except (ConnectionResetError, ssl.SSLError):
        raw.cut = True
    except ConnectionError:
        pass
    raw.close()
    return answers


class Victim(ServerCase):
    """Starts a server with the model `victim`, which the second request hidden in a shape would delete."""

    def setUp(self):
        self.assertIn(self.client.put("/v1/models/victim", slider()).status, (200, 201))

    def tearDown(self):
        self.assertEqual(self.client.get("/v1/models/victim").status, 200, "a hidden request ran")
        self.assertNotIn("unchecked-request", self.server.log())

    def expect(self, shape, answers, before=0):
        """Checks that the shape gets one answer, and that this is the last one if the shape is refused."""
        statuses = [answer.status for answer in answers]
        self.assertEqual(statuses, [200] * before + ([200, 200] if shape.good else [shape.status]), shape.name)
        if shape.good:
            return
        answer = answers[-1]
        problem = answer.json()
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json", shape.name)
        self.assertEqual((problem["status"], answer.headers["Connection"]), (shape.status, "close"), shape.name)
        self.assertTrue(problem["detail"] and answer.headers["Request-Id"], shape.name)
        self.assertEqual(len(answer.headers.get_all("Date")), 1, shape.name)


class OnTheWire(Victim):
    arguments = ("--log-refusals", "100000")  # the log leaves out no refusal

    def test_whole(self):
        for shape in SHAPES:
            with self.subTest(shape=shape.name):
                self.expect(shape, exchange(self.server.socket(), [shape.bytes + LAST]))

    def test_behind_other_requests(self):
        """Valid requests that arrive in the same segment, before the bytes of a shape (tests/data/framing_shapes), are answered in order."""
        for shape in SHAPES:
            with self.subTest(shape=shape.name):
                self.expect(shape, exchange(self.server.socket(), [AHEAD * 3 + shape.bytes + LAST]), before=3)

    def test_cut(self):
        """Sends each shape in two segments, cut at several places."""
        for shape in SHAPES:
            with self.subTest(shape=shape.name):
                for at in {1, 5, len(shape.bytes) // 3, len(shape.bytes) // 2, len(shape.bytes) - 1}:
                    raw = self.server.socket()
                    raw.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    try:
                        raw.send(shape.bytes[:at])
                        time.sleep(0.002)
                    except ConnectionError:
                        pass
                    self.expect(shape, exchange(raw, [shape.bytes[at:] + LAST]))

    def test_byte_by_byte(self):
        for shape in SHAPES:
            if len(shape.bytes) > 300:
                continue
            with self.subTest(shape=shape.name):
                raw = self.server.socket()
                raw.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.expect(shape, exchange(raw, [bytes([byte]) for byte in shape.bytes] + [LAST]))

    def test_in_a_body_that_is_wanted(self):
        """Sends the malformed shapes that have a chunked body as a POST to an operation, whose body the server reads, in place of GET /livez."""
        for shape in SHAPES:
            if b"Transfer-Encoding: chunked\r\n\r\n" not in shape.bytes or shape.good:
                continue
            with self.subTest(shape=shape.name):
                data = shape.bytes.replace(b"GET /livez", b"POST /v1/models/victim/bias")
                self.expect(shape, exchange(self.server.socket(), [data + LAST]))

    def test_behind_a_request_at_work(self):
        """The refusal of a malformed request is sent after the answer to the request before it."""
        body = json.dumps({"q": [[0]] * 20_000, "qd": [0]}).encode()
        heavy = b"POST /v1/models/victim/bias HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        for shape in SHAPES:
            if shape.good or len(shape.bytes) > 2000:
                continue
            with self.subTest(shape=shape.name):
                self.expect(shape, exchange(self.server.socket(), [heavy + shape.bytes + LAST]), before=1)

    def test_the_request_id_of_a_refused_request(self):
        raw = self.server.socket()
        raw.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nRequest-Id: mine\r\nX Y: z\r\n\r\n")
        self.assertEqual(raw.answer().headers["Request-Id"], "mine")
        raw.close()

    def test_the_log(self):
        """The log has one line for the refusal, and none for the request that replaces the malformed one inside the
        server."""
        raw = self.server.socket()
        raw.send(b"GET /a HTTP/1.1\r\nHost: localhost\r\nRequest-Id: malformed-one\r\n: x\r\n" + HIDDEN)
        self.assertEqual(raw.answer().status, 400)
        raw.close()
        self.server.await_log('malformed-one')
        line = next(event for event in self.server.events() if event.get("id") == "malformed-one")
        self.assertEqual((line["status"], line["problem"], line.get("target"), line.get("method")), (400, "bad-request", None, None))


class OverTls(Victim):
    """Repeats the tests over TLS, where libmicrohttpd receives plaintext from GnuTLS."""

    @classmethod
    def setUpClass(cls):
        need("openssl")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        certificates = Certificates(cls.folder.name)
        cls.server = Server(*certificates.arguments(), context=certificates.context())
        cls.addClassCleanup(cls.server.kill)
        cls.client = cls.server.client()

    def test_whole_and_cut(self):
        for shape in SHAPES:
            with self.subTest(shape=shape.name):
                self.expect(shape, exchange(self.server.socket(), [AHEAD + shape.bytes + LAST]), before=1)
                if len(shape.bytes) < 2000:
                    at = len(shape.bytes) // 2
                    self.expect(shape, exchange(self.server.socket(), [shape.bytes[:at], shape.bytes[at:] + LAST]))

    def test_byte_by_byte(self):
        """Sends each byte in a TLS record of its own, for every fifth shape only, since handshakes are slow."""
        for shape in SHAPES[::5]:
            if len(shape.bytes) < 200:
                with self.subTest(shape=shape.name):
                    self.expect(shape, exchange(self.server.socket(), [bytes([byte]) for byte in shape.bytes] + [LAST]))


class Endless(ServerCase):
    """Lines that never end (request line, header field, chunk extension) cost neither processor time nor memory."""
    arguments = ("--read-deadline", "1")

    def test_a_line_that_does_not_end(self):
        for start in (b"GET /" + b"a" * 100, b"GET /livez HTTP/1.1\r\nX-A: " + b"a" * 100,
                      b"GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"a" * 100):
            raw = self.server.socket()
            raw.send(start)
            self.assertTrue(raw.closed(PATIENCE))
            raw.close()

    def test_no_turn_of_the_loop_for_an_open_line(self):
        """The event loop sleeps while the end of a chunk line has not arrived."""
        raws = [self.server.socket() for _ in range(20)]
        before = self.processor_time()
        for raw in raws:
            raw.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"a" * 200)
        time.sleep(0.5)
        self.assertLess(self.processor_time() - before, 0.3)
        for raw in raws:
            raw.close()

    def processor_time(self):
        with open(f"/proc/{self.server.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Through(unittest.TestCase):
    """Sends the shapes through a proxy, which refuses, repairs or forwards them."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))

    def serve(self):
        self.server = Server("--listen", f"127.0.0.1:0,unix:{self.folder}/socket", "--max-body", "8M", "--read-deadline", "2")
        self.addCleanup(self.server.kill)
        self.server.client().put("/v1/models/victim", slider())

    def check(self, connect):
        """Checks that the server answers no request that the proxy has not seen: each of the server's answers must come
        out of the proxy. nginx and HAProxy accept a bare LF as a line end; only for requests with one does the proxy
        itself see the hidden request."""
        passed = 0
        for shape in SHAPES:
            with self.subTest(shape=shape.name):
                raw = connect()
                raw.sock.settimeout(PATIENCE)
                answers = exchange(raw, [shape.bytes + LAST])
                passed += sum("Arithmetic" in answer.headers for answer in answers)
                passed += 2 * raw.cut  # after a reset of the connection up to two answers may be lost
                passed += shape.name == "no-version" and not answers  # an HTTP/0.9 answer has no head
                if "-lf" not in shape.name and "lf-" not in shape.name:
                    self.assertLessEqual(len(answers), 2)
                    self.assertEqual(self.server.client().get("/v1/models/victim").status, 200, "a hidden request ran")
                elif len(answers) > 2:
                    self.assertNotEqual(self.server.client().put("/v1/models/victim", slider()).status, 400)
        self.server.terminate()
        self.assertEqual(self.server.wait(2 * PATIENCE), 0, self.server.log()[-4000:])
        self.assertLessEqual(self.answered(), passed)
        self.assertNotIn("unchecked-request", self.server.log())

    def answered(self):
        """Returns the number of requests from the proxy, which connects through the Unix socket, that the server has answered. The log is
        complete only after the server's end."""
        return sum(event["event"] == "request" and "ended" not in event and event["from"].startswith("uid:")
                   for event in self.server.events())

    def test_nginx(self):
        need("nginx", "openssl")
        proxy = Proxy(self.folder)
        self.serve()
        proxy.start()
        self.addCleanup(proxy.stop)
        context = ssl.create_default_context(cafile=proxy.certificate)

        def connect():
            raw = RawSocket(proxy.port, PATIENCE)
            raw.sock = context.wrap_socket(raw.sock, server_hostname="localhost")
            return raw
        self.check(connect)

    def test_haproxy(self):
        need("haproxy")
        self.serve()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        path = os.path.join(self.folder, "haproxy.cfg")
        with open(path, "w") as file:
            file.write(f"defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\n"
                       f"frontend f\n bind 127.0.0.1:{port}\n default_backend b\n"
                       f"backend b\n http-reuse always\n server s unix@{self.folder}/socket\n")
        process = subprocess.Popen(["haproxy", "-db", "-q", "-f", path], env={**os.environ, "PATH": PATH})
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.terminate)
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                self.assertLess(time.monotonic(), give_up)
                time.sleep(0.02)
        self.check(lambda: RawSocket(port, PATIENCE))


if __name__ == "__main__":
    tap.main()
