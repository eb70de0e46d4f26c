"""Tests `torqued certificate`: a server with its certificate answers by the names and addresses of this machine, to
clients that check them, and refuses other names."""
import os
import shutil
import socket
import ssl
import stat
import subprocess
import tempfile
import unittest

import tap
from access import Tokens
from harness import BINARY, PATIENCE, Server

FURTHER = ("robots.example", "192.0.2.7", "2001:db8::7")


def certificate(folder, *arguments):
    return subprocess.run([BINARY, "certificate", *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)


class Certificate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="torqued-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.made = certificate(cls.folder, *FURTHER)
        cls.tokens = Tokens(cls.folder)
        cls.context = ssl.create_default_context(cafile=os.path.join(cls.folder, "certificate.pem"))
        cls.context.verify_flags |= ssl.VERIFY_X509_STRICT
        cls.server = Server("--tokens", cls.tokens.path, "--tls-certificate", f"{cls.folder}/certificate.pem", "--tls-key",
                            f"{cls.folder}/key.pem", context=cls.context)
        cls.addClassCleanup(cls.server.kill)

    def ask(self, name, host=None):
        """Returns the status of a request by a client that wants the name in the certificate and writes it in Host."""
        plain = socket.create_connection(("127.0.0.1", self.server.port), PATIENCE)
        with self.context.wrap_socket(plain, server_hostname=name) as tls:
            host = host or (f"[{name}]" if ":" in name else name)
            tls.sendall(f"GET /v1 HTTP/1.1\r\nHost: {host}:{self.server.port}\r\nAuthorization: {self.tokens.header('boss')['Authorization']}"
                        "\r\nConnection: close\r\n\r\n".encode())
            return int(tls.recv(100).split()[1])

    def test_each_name_reaches_the_server(self):
        self.assertEqual((self.made.returncode, self.made.stderr), (0, ""))
        names = [line.strip() for line in self.made.stdout.splitlines()[1:]]
        for name in (*FURTHER, "localhost", "127.0.0.1", "::1"):
            self.assertIn(name, names)
        for name in names:
            with self.subTest(name=name):
                self.assertEqual(self.ask(name), 200)
        self.assertEqual(self.ask("localhost", "Robots.Example."), 200)

    def test_other_names_are_refused(self):
        """A web site whose name resolves to this machine (DNS rebinding) must not reach the server, not even with a forged Host header."""
        for host in ("evil.example", "robots.example.evil.example", "xrobots.example", "example"):
            self.assertEqual(self.ask("localhost", host), 421, host)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.ask("evil.example")

    def test_the_key_is_private_and_nothing_is_overwritten(self):
        key = os.path.join(self.folder, "key.pem")
        self.assertEqual(stat.S_IMODE(os.stat(key).st_mode), 0o600)
        with open(key, encoding="utf-8") as file:
            before = file.read()
        again = certificate(self.folder)
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        self.assertIn("key.pem exists", again.stderr)
        again = certificate(self.folder, "--key", "other.pem")
        self.assertIn("certificate.pem exists", again.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "other.pem")))
        with open(key, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    def test_what_is_no_name_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a_b", "-a", "a-", "a..b", ".a", "1.2.3", "1.2.3.256", "x" * 64, "a b", "*.example", "fe80::1%eth0"):
                done = certificate(folder, "--", name)
                self.assertEqual((done.returncode, done.stdout, os.listdir(folder)), (2, "", []), name)
            for days in ("0", "1.5", "x", "36501"):
                self.assertEqual(certificate(folder, "--days", days).returncode, 2, days)


if __name__ == "__main__":
    tap.main()
