"""Tests TLS and client certificates: the bytes on the wire, access by certificates, and replacement of certificates and
tokens under load."""
import http.client
import json
import shutil
import socket
import ssl
import tempfile
import threading
import time
import unittest
import warnings

import tap
from access import ADMIN, EVALUATE, MATRIX, OBSERVE, PENDULUM, PUBLIC, Certificates, Tokens, statuses
from harness import PATIENCE, Server, ServerCase
from samples import ASK, PUMA, QN


def setUpModule():
    if not shutil.which("openssl"):
        raise unittest.SkipTest("no openssl here")


class Relay:
    """A wire tap between a client and the server, which forwards and records everything."""

    def __init__(self, port):
        self.server_port, self.seen = port, bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source, sink):
        try:
            while data := source.recv(65536):
                self.seen += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


class TlsCase(ServerCase):
    """A server with TLS, tokens and an authority of client certificates."""
    more = ()

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.certificates = Certificates(folder)
        cls.tokens = Tokens(folder, "robot evaluate certificate:robot.example\n", "chief admin certificate:chief\n",
                            "probe observe certificate:probe\n", "gone admin certificate:gone expires=2020-01-01T00:00:00Z\n")
        cls.server = Server("--tokens", cls.tokens.path, *cls.certificates.arguments("ca.pem"), *cls.more,
                            context=cls.certificates.context())
        cls.addClassCleanup(cls.server.kill)
        cls.client = cls.server.client()

    def with_certificate(self, name):
        return type(self.client)(self.server.port, PATIENCE, self.certificates.context(name))


class Encrypted(TlsCase):
    more = ("--read-deadline", "1", "--max-body", "1M")

    def test_nothing_is_readable_on_the_wire(self):
        """Requests, answers and tokens are encrypted, and so are the answers 408 and 413, which the server writes to the connection without
        libmicrohttpd."""
        relay = Relay(self.server.port)
        boss = self.tokens.header("boss")
        client = type(self.client)(relay.port, PATIENCE, self.certificates.context())
        self.assertEqual(client.request("PUT", "/v1/models/wire-secret", PENDULUM, boss).status, 201)
        self.assertIn("wire-secret", client.request("GET", "/v1/models", None, boss).text)
        client.close()
        context = self.certificates.context()
        for head, status in (("Content-Length: 100", 408), ("Transfer-Encoding: chunked", 413)):
            raw = context.wrap_socket(socket.create_connection(("127.0.0.1", relay.port), PATIENCE), server_hostname="127.0.0.1")
            raw.sendall(f"PUT /v1/models/wire-secret HTTP/1.1\r\nHost: localhost\r\nAuthorization: {boss['Authorization']}\r\n"
                        f"Content-Type: application/json\r\n{head}\r\n\r\n".encode())
            if status == 413:
                for _ in range(20):
                    raw.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
            answer = http.client.HTTPResponse(raw)
            answer.begin()
            self.assertEqual(answer.status, status)
            self.assertIn("/problems/", answer.read().decode())
            raw.close()
        relay.close()
        self.assertGreater(len(relay.seen), 1 << 20)
        for text in (b"HTTP/1.1", b"wire-secret", b"torqued", b"Bearer", b"problems", b"Content-Type", b"application/json"):
            self.assertNotIn(text, bytes(relay.seen), text)

    def test_versions(self):
        for version, good in ((ssl.TLSVersion.TLSv1_3, True), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_1, False)):
            context = self.certificates.context()
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings(action="ignore"):  # Python warns that TLS 1.1 is deprecated
                context.minimum_version = context.maximum_version = version
            client = type(self.client)(self.server.port, PATIENCE, context)
            if good:
                self.assertEqual(client.get("/livez").status, 200)
                self.assertRegex(client.connection.sock.cipher()[0], "GCM|CHACHA20")
            else:
                self.assertRaises(OSError, client.get, "/livez")
            client.close()

    def test_plain_http_gets_nothing(self):
        raw = socket.create_connection(("127.0.0.1", self.server.port), PATIENCE)
        raw.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        try:
            while data := raw.recv(65536):
                received += data
        except OSError:
            pass
        self.assertNotIn(b"HTTP", received)

    def test_a_rebinding_host_is_refused(self):
        for host, status in (("evil.example", 421), ("localhost", 200), ("127.0.0.1", 200)):
            answer = self.client.request("GET", "/v1", None, {**self.tokens.header("boss"), "Host": host})
            self.assertEqual(answer.status, status)
            self.assertEqual(self.client.get("/livez", Host=host).status, status)

    def test_requests_in_one_record(self):
        raw = self.server.socket()
        one = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
        raw.send(one * 40)
        for _ in range(40):
            self.assertEqual(raw.answer().status, 200)
        raw.close()

    def test_a_request_byte_by_byte(self):
        raw = self.server.socket()
        for byte in "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n":
            raw.send(byte)
        self.assertEqual(raw.answer().status, 200)
        raw.close()

    def test_large_and_heavy(self):
        """Bodies and answers of many TLS records have the bytes that a connection without TLS carries, on the event loop and on workers."""
        plain = Server("--max-body", "1M")
        body = {"q": [QN] * 8000}
        expected = plain.client().post(ASK, body).body
        self.assertGreater(len(expected), 1 << 19)
        for _ in range(5):
            answer = self.client.request("POST", ASK, body, self.tokens.header("planner"))
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.body, expected)
        self.assertIsNone(plain.stop())

    def test_a_silent_connection_is_closed(self):
        raw = socket.create_connection(("127.0.0.1", self.server.port), PATIENCE)
        began = time.monotonic()
        self.assertEqual(raw.recv(1), b"")
        self.assertLess(time.monotonic() - began, PATIENCE)


class ClientCertificates(TlsCase):
    def make(self, *arguments, **keywords):
        self.certificates.make_client(*arguments, **keywords)

    def test_matrix(self):
        """Checks the access of clients with a certificate of each role, and of clients whose certificate has no line in the file of clients, has
        an expired line, was signed by another authority, has expired, or is for servers only."""
        self.certificates.make_authority("other")
        self.make("robot.example", "robot")
        self.make("chief", "chief")
        self.make("probe", "probe")
        self.make("unlisted", "unlisted")
        self.make("gone", "gone")
        self.make("chief", "foreign", "other")
        self.certificates._self_signed("chief", "self")
        with open(self.certificates.path("purpose"), "w") as file:
            file.write("extendedKeyUsage=serverAuth\n")
        self.make("chief", "wrong-purpose", "ca", "-extfile", "purpose")
        roles = {"robot": EVALUATE, "chief": ADMIN, "probe": OBSERVE, "unlisted": 0}
        for name in (*roles, None, "gone", "foreign", "self", "wrong-purpose"):
            client = self.with_certificate(name) if name else self.server.client()
            for method, path, body, allowed, with_role in MATRIX:
                with self.subTest(method=method, path=path, certificate=name):
                    answer = client.request(method, path, body)
                    if name not in roles:
                        self.assertEqual(answer.status, 401)
                    elif roles[name] & allowed:
                        self.assertIn(answer.status, statuses(with_role))
                    else:
                        self.assertEqual(answer.status, 403)
            for path in PUBLIC:
                self.assertEqual(client.get(path).status, 200, (path, name))
            client.close()

    def test_a_token_goes_first(self):
        self.make("chief", "chief2")
        client = self.with_certificate("chief2")
        self.assertEqual(client.request("DELETE", "/v1/models/nobody", None, self.tokens.header("planner")).status, 403)
        self.assertEqual(client.request("DELETE", "/v1/models/nobody", None, self.tokens.header("unknown")).status, 401)
        self.assertEqual(client.request("DELETE", "/v1/models/nobody").status, 404)
        client.close()

    def test_without_a_file_of_clients(self):
        """Without a file of clients, every certificate of the authority may do everything, and clients without one
        nothing."""
        self.make("anybody", "anybody")
        server = Server(*self.certificates.arguments("ca.pem"), context=self.certificates.context())
        client = type(self.client)(server.port, PATIENCE, self.certificates.context("anybody"))
        self.assertEqual(client.put("/v1/models/mine", PENDULUM).status, 201)
        server.await_log('"event":"change","method":"PUT","target":"/v1/models/mine","status":201,"client":"anybody"')
        self.assertEqual(server.client().get("/v1").status, 401)
        self.assertIsNone(server.stop())


class Reload(TlsCase):
    def test_a_kept_connection_loses_its_right(self):
        """A removed token, and a certificate whose authority was replaced, lose access on kept connections."""
        self.certificates.make_client("chief", "chief")
        client = self.with_certificate("chief")
        header = self.tokens.header("cell")
        self.assertEqual(client.get("/v1").status, 200)
        self.assertEqual(self.client.request("GET", "/v1", None, header).status, 200)
        shutil.copy(self.certificates.path("ca.pem"), self.certificates.path("old.pem"))
        self.certificates.make_authority("ca")
        self.tokens.remove("cell")
        self.tokens.write()
        before = client.connection.sock
        self.server.reload()
        self.assertIs(client.connection.sock, before)
        answer = client.get("/v1")
        # the client may reconnect with another certificate
        self.assertEqual((answer.status, answer.headers["Connection"]), (401, "close"))
        self.assertEqual(self.client.request("GET", "/v1", None, header).status, 401)
        self.certificates.make_client("chief", "chief")
        fresh = self.with_certificate("chief")
        self.assertEqual(fresh.get("/v1").status, 200)
        fresh.close()
        client.close()

    def test_a_bad_file_changes_nothing(self):
        for path in (self.tokens.path, self.certificates.path("server.key"), self.certificates.path("ca.pem")):
            with open(path) as file:
                good = file.read()
            with open(path, "w") as file:
                file.write("rubbish\n")
            self.server.reload()
            with open(path, "w") as file:
                file.write(good)
            event = [line for line in self.server.events() if line["event"] in ("reloaded", "not-reloaded")][-1]
            self.assertEqual((event["event"], event["level"]), ("not-reloaded", "error"))
            self.assertIn(path, event["message"])
            fresh = self.server.client()
            self.assertEqual(fresh.request("GET", "/v1", None, self.tokens.header("boss")).status, 200)
            fresh.close()

    def test_rotation_under_load_loses_no_request(self):
        """Eight clients send requests without pause, on kept and new connections, while certificate, authority and tokens are replaced ten
        times. Between two replacements both the client's old and its new token are valid, as operators should do it."""
        certificates, tokens = self.certificates, self.tokens
        stop, wrong, count, served = threading.Event(), [], [0] * 8, set()
        valid = {"token": tokens.token["planner"]}
        body = json.dumps(PUMA)

        def context():
            trusting = ssl.create_default_context()
            # the server's certificate changes all the time
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            return trusting

        def work(index):
            client = None
            while not stop.is_set():
                if client is None or (index % 2 and count[index] % 7 == 0):
                    if client:
                        client.close()
                    client = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=PATIENCE, context=context())
                try:
                    client.request("POST", ASK, body, {"Authorization": f"Bearer {valid['token']}"})
                    answer = client.getresponse()
                    answer.read()
                    served.add(client.sock.getpeercert(True) if client.sock else None)
                    if answer.status != 200:
                        wrong.append(answer.status)
                except (OSError, http.client.HTTPException) as error:
                    wrong.append(repr(error))
                    client = None
                count[index] += 1

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                certificates.make_server()
                certificates.make_authority("ca")
                kept = [line for line in tokens.lines if line.startswith("planner ")][-1:]
                tokens.remove("planner")
                tokens.lines += kept
                tokens.add("planner", "evaluate")
                tokens.write()
                self.server.reload()
                valid["token"] = tokens.token["planner"]
                time.sleep(0.1)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(min(count), 50)
        self.assertGreater(len(served - {None}), 8, "new connections got new certificates")


if __name__ == "__main__":
    tap.main()
