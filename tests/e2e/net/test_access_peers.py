"""Tests how the server identifies a peer: users of a Unix socket, clients behind proxies, and clients behind nginx with
the configuration of deploy/."""
import http.client
import os
import socket
import ssl
import struct
import tempfile
import time
import unittest

import tap
from access import ADMIN, EVALUATE, MATRIX, OBSERVE, PUBLIC, ROLES, Certificates, Tokens, statuses
from deploy import need
from harness import PATIENCE, Server
from peers import Answer, Client
from test_proxy import Proxy, TlsClient


class UnixClient(Client):
    """A client of a Unix socket that opens one connection for each request."""

    def __init__(self, path):
        super().__init__(0, PATIENCE)
        self.connection.connect = self._connect
        self.path = path

    def _connect(self):
        self.connection.sock = socket.socket(socket.AF_UNIX)
        self.connection.sock.settimeout(PATIENCE)
        self.connection.sock.connect(self.path)


def run_matrix(test, client, credential, roles, known=True):
    """Sends every request of MATRIX as a client with these roles; an unknown client must get 401."""
    for method, path, body, allowed, with_role in MATRIX:
        with test.subTest(method=method, path=path, roles=roles, known=known):
            answer = client.request(method, path, body, dict(credential))
            if not known:
                test.assertEqual(answer.status, 401, answer)
            elif roles & allowed:
                test.assertIn(answer.status, statuses(with_role), answer)
            else:
                test.assertEqual(answer.status, 403, answer)


class SocketPeers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tokens = Tokens(self.folder.name, "nobody admin uid:12345\n", "none admin gid:12345\n")
        self.server = Server("--listen", f"127.0.0.1:0,unix:{self.folder.name}/s", "--tokens", self.tokens.path)
        self.client = UnixClient(f"{self.folder.name}/s")

    def tearDown(self):
        self.client.close()
        self.assertIsNone(self.server.stop())
        self.folder.cleanup()

    def give(self, line):
        self.tokens.lines = [old for old in self.tokens.lines if not old.startswith("me ")] + [line] * bool(line)
        self.tokens.write()
        self.server.reload()

    def test_matrix(self):
        run_matrix(self, self.client, {}, 0, known=False)
        for name, role in (("evaluate", EVALUATE), ("admin", ADMIN), ("observe", OBSERVE)):
            self.give(f"me {name} uid:{os.getuid()}\n")
            run_matrix(self, self.client, {}, role)
        self.give(f"me evaluate gid:{os.getgid()}\n")
        run_matrix(self, self.client, {}, EVALUATE)
        self.give(f"me admin uid:{os.getuid()} expires=2020-01-01T00:00:00Z\n")
        run_matrix(self, self.client, {}, 0, known=False)
        self.give("")
        run_matrix(self, self.client, {}, 0, known=False)
        for who, role in ROLES.items():
            run_matrix(self, self.client, self.tokens.header(who), role)
        for path in PUBLIC:
            self.assertEqual(self.client.get(path).status, 200)

    def test_a_token_goes_first_and_the_port_has_no_user(self):
        self.give(f"me admin uid:{os.getuid()}\n")
        self.assertEqual(self.client.request("DELETE", "/v1/models/nobody").status, 404)
        self.server.await_log(f'"client":"me","from":"uid:{os.getuid()}"')
        self.assertEqual(self.client.request("DELETE", "/v1/models/nobody", None, self.tokens.header("planner")).status, 403)
        self.assertEqual(self.client.request("GET", "/v1", None, self.tokens.header("unknown")).status, 401)
        self.assertEqual(self.server.client().get("/v1").status, 401)

    def test_a_proxy_does_not_lend_its_right(self):
        """A proxy at the Unix socket has the rights of its user; a request that it forwards for a client does not have these rights."""
        self.give(f"me admin uid:{os.getuid()}\n")
        self.assertEqual(self.client.get("/v1").status, 200)
        for name in ("X-Forwarded-For", "Forwarded"):
            self.assertEqual(self.client.request("GET", "/v1", None, {name: "for=192.0.2.7"}).status, 401)

    def test_the_number_of_all_unknown_users_is_refused(self):
        self.give("me admin uid:65534\n")
        self.assertIn('\\"uid:65534\\" where it needs', self.server.log())


class Forwarded(unittest.TestCase):
    def addresses(self, server, **headers):
        """Sends a request with these headers and returns the fields `from` and `via` of its log line."""
        client = server.client()
        number = f"/problems/{time.monotonic_ns()}"
        client.request("GET", number, None, {name.replace("_", "-"): value for name, value in headers.items()})
        client.close()
        server.await_log(number)
        line = [line for line in server.events() if line.get("target") == number][0]
        return line["from"].rsplit(":", 1)[0] if "via" not in line else line["from"], "via" in line

    def test_trusted(self):
        server = Server("--trusted-proxy", "127.0.0.1,10.0.0.0/8")
        self.assertEqual(self.addresses(server), ("127.0.0.1", False))
        self.assertEqual(self.addresses(server, X_Forwarded_For="203.0.113.9, 192.0.2.7, 10.1.1.1"), ("192.0.2.7", True))
        self.assertEqual(self.addresses(server, Forwarded='for="[2001:db8::7]:80"'), ("2001:db8::7", True))
        self.assertEqual(self.addresses(server, Forwarded="for=192.0.2.7", X_Forwarded_For="192.0.2.8"), ("127.0.0.1", False))
        self.assertEqual(self.addresses(server, X_Forwarded_For="rubbish"), ("127.0.0.1", False))
        self.assertIsNone(server.stop())

    def test_not_trusted(self):
        server = Server("--trusted-proxy", "192.0.2.0/24")
        self.assertEqual(self.addresses(server, X_Forwarded_For="203.0.113.9"), ("127.0.0.1", False))
        self.assertIsNone(server.stop())


V2 = b"\r\n\r\n\0\r\nQUIT\n"


def v2(source, command=0x21):
    addresses = socket.inet_aton(source) + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 40000, 443)
    extra = b"\x04\x00\x05extra"  # a type-length-value field of the PROXY protocol that the server does not know
    return V2 + struct.pack(">BBH", command, 0x11, len(addresses) + len(extra)) + addresses + extra


class ProxyProtocol(unittest.TestCase):
    GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Mark: 1\r\n\r\n"

    def start(self, *arguments, listen="127.0.0.1:0+proxy", trusted="127.0.0.1", **keywords):
        return Server("--listen", listen, "--trusted-proxy", trusted, "--read-deadline", "1", *arguments, wait=False, **keywords)

    def ask(self, server, *pieces):
        """Sends the pieces one after the other and returns the answer; None if the server closes the connection."""
        raw = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        try:
            for piece in pieces:
                raw.sendall(piece)
                time.sleep(0.01)
            response = http.client.HTTPResponse(raw)
            response.begin()
            return Answer(response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            raw.close()

    def test_both_versions(self):
        server = self.start()
        for header, source in ((b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 443\r\n", "192.0.2.7:40000"),
                               (b"PROXY TCP6 2001:db8::7 2001:db8::1 40000 443\r\n", "[2001:db8::7]:40000"),
                               (b"PROXY UNKNOWN\r\n", "127.0.0.1:"), (v2("192.0.2.8"), "192.0.2.8:40000"),
                               (v2("192.0.2.9", 0x20), "127.0.0.1:")):
            with self.subTest(header=header):
                self.assertEqual(self.ask(server, header + self.GET).status, 200)
                server.await_log(f'"from":"{source}')
                split = [bytes([byte]) for byte in header] + [self.GET]
                self.assertEqual(self.ask(server, *split).status, 200)
        self.assertIsNone(server.stop())

    def test_refused(self):
        server = self.start()
        for bytes_sent in (self.GET, b"PROXY TCP4 192.0.2.7\n" + self.GET, b"PROXY " + b"x" * 200, V2 + b"\x31\x11\0\0" + self.GET,
                           V2 + b"\x21\x11\xff\xff" + b"x" * 1000, b"", b"PROX", v2("192.0.2.7")[:20]):
            with self.subTest(sent=bytes_sent):
                self.assertIsNone(self.ask(server, bytes_sent))
        self.assertEqual(self.ask(server, b"PROXY UNKNOWN\r\n" + self.GET).status, 200)
        self.assertIsNone(server.stop())

    def test_only_trusted_proxies(self):
        server = self.start(trusted="192.0.2.0/24")
        self.assertIsNone(self.ask(server, b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n" + self.GET))
        self.assertIsNone(server.stop())

    def test_silent_connections_do_not_stop_the_end(self):
        server = self.start("--read-deadline", "60")
        silent = [socket.create_connection(("127.0.0.1", server.port), PATIENCE) for _ in range(20)]
        self.assertEqual(self.ask(server, b"PROXY UNKNOWN\r\n" + self.GET).status, 200)
        self.assertIsNone(server.stop())
        for raw in silent:
            self.assertEqual(raw.recv(1), b"")
            raw.close()

    def test_before_tls(self):
        need("openssl")
        with tempfile.TemporaryDirectory() as folder:
            certificates = Certificates(folder)
            server = self.start(*certificates.arguments())
            raw = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
            raw.sendall(b"PROXY TCP4 192.0.2.77 192.0.2.1 40000 443\r\n")
            wrapped = certificates.context().wrap_socket(raw, server_hostname="localhost")
            wrapped.sendall(self.GET)
            response = http.client.HTTPResponse(wrapped)
            response.begin()
            self.assertEqual(response.status, 200)
            wrapped.close()
            server.await_log('"from":"192.0.2.77:40000"')
            self.assertIsNone(server.stop())


class BehindNginx(unittest.TestCase):
    """Sends the requests of MATRIX through nginx with the configuration of deploy/."""

    def test_matrix(self):
        need("nginx", "openssl")
        with tempfile.TemporaryDirectory() as folder:
            # requests through nginx must not inherit the rights of nginx's own user
            tokens = Tokens(folder, f"proxy admin uid:{os.getuid()}\n")
            server = Server("--listen", f"127.0.0.1:0,unix:{folder}/socket", "--tokens", tokens.path, "--trusted-proxy", "unix")
            proxy = Proxy(folder)
            proxy.start()
            try:
                client = TlsClient(proxy.port, ssl.create_default_context(cafile=proxy.certificate))
                for who in (None, "unknown", "expired"):
                    run_matrix(self, client, tokens.header(who), 0, known=False)
                for who, role in ROLES.items():
                    run_matrix(self, client, tokens.header(who), role)
                for path in PUBLIC:
                    self.assertEqual(client.get(path).status, 200)
                spoofed = {**tokens.header("boss"), "X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"}
                self.assertEqual(client.request("DELETE", "/v1/models/nobody", None, spoofed).status, 404)
                client.close()
            finally:
                proxy.stop()
            server.await_log('"client":"boss","from":"127.0.0.1","via":"uid:')
            self.assertNotIn('"from":"203.0.113.9"', server.log())
            self.assertIsNone(server.stop())

    def test_a_rebinding_host_is_refused(self):
        """nginx forwards the host that a client names, so that --host of the server can refuse it."""
        need("nginx", "openssl")
        with tempfile.TemporaryDirectory() as folder:
            server = Server("--listen", f"127.0.0.1:0,unix:{folder}/socket", "--trusted-proxy", "unix", "--host", "robots.example")
            self.addCleanup(server.kill)
            proxy = Proxy(folder)
            self.addCleanup(proxy.stop)
            proxy.start()
            client = TlsClient(proxy.port, ssl.create_default_context(cafile=proxy.certificate))
            for host, status in (("evil.example", 421), ("robots.example", 200), ("robots.example.evil.example", 421)):
                self.assertEqual(client.get("/v1", Host=host).status, status, host)
            client.close()
            self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
