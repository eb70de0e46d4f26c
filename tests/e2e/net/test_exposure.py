"""Tests that the server refuses to listen beyond this machine without TLS and access control, unless the operator
insists."""
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import unittest

import tap
from access import Certificates, Tokens
from harness import BINARY, MODELS, ROOT, Server


def start(*arguments):
    """Runs a server that must refuse to start."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([BINARY, "--store", folder, *MODELS, *arguments], capture_output=True, text=True, timeout=30)


class Refused(unittest.TestCase):
    def test_nothing_protects(self):
        for listen in ("0.0.0.0:0", "[::]:0", "127.0.0.1:0,0.0.0.0:0"):
            with self.subTest(listen=listen):
                done = start("--listen", listen)
                self.assertEqual(done.returncode, 1)
                for text in ("no --tokens", "no --tls-certificate", "torqued token", "torqued certificate", "--tls-key", "--insecure"):
                    self.assertIn(text, done.stderr)
                self.assertNotIn('"event":"ready"', done.stderr)

    def test_tokens_without_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            done = start("--listen", "0.0.0.0:0", "--tokens", Tokens(folder).path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no --tls-certificate", done.stderr)
        self.assertNotIn("no --tokens", done.stderr)

    def test_a_plain_listener_beside_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl here")
        with tempfile.TemporaryDirectory() as folder:
            done = start("--listen", "127.0.0.1:0,0.0.0.0:0+plain", "--tokens", Tokens(folder).path,
                         *Certificates(folder).arguments())
        self.assertEqual(done.returncode, 1)
        self.assertIn("on the way (+plain)", done.stderr)

    def test_half_of_tls(self):
        for arguments in (("--tls-key", "k"), ("--tls-certificate", "c"), ("--tls-client-ca", "c"),
                          ("--tls-client-ca", "c", "--tls-key", "k")):
            done = start(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("needs --tls-certificate FILE and --tls-key FILE", done.stderr)


class Insisted(unittest.TestCase):
    def run_insecure(self, *arguments, **environment):
        server = Server("--listen", "0.0.0.0:0,127.0.0.1:0", *arguments, environment=environment)
        try:
            warnings = [line["message"] for line in server.events() if line["event"] == "insecure"]
            self.assertEqual(len(warnings), 1)
            self.assertRegex(warnings[0], r"0\.0\.0\.0:\d+, where every client may do everything .* --insecure allows it")
        finally:
            self.assertIsNone(server.stop())

    def test_the_log_repeats_it(self):
        self.run_insecure("--insecure")
        self.run_insecure("--insecure=yes")
        self.run_insecure(TORQUED_INSECURE="yes")

    def test_loopback_needs_nothing(self):
        server = Server("--listen", "127.0.0.1:0,[::ffff:127.0.0.1]:0,unix:s")
        self.assertNotIn('"event":"insecure"', server.log())
        self.assertIsNone(server.stop())

    def test_the_switch(self):
        done = subprocess.run([BINARY, "serve", "--insecure", "--listen", "x"], capture_output=True, text=True, timeout=30)
        self.assertIn('--listen is "x"', done.stderr)
        done = start("--insecure=maybe")
        self.assertIn('--insecure is "maybe"; expected one of no|yes', done.stderr)


class ThreeCommands(unittest.TestCase):
    """Runs the three commands by which README.md makes the server available to other machines."""

    def test_they_do_as_printed(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl here")
        with open(os.path.join(ROOT, "README.md")) as file:
            block = re.search(r"## On your network.*?^```\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)[1]
        make_token, make_certificate, serve = block.strip().splitlines()
        with tempfile.TemporaryDirectory() as folder:
            ways = {"cwd": folder, "shell": True, "check": True, "capture_output": True, "text": True,
                    "env": {**os.environ, "PATH": os.path.dirname(BINARY) + os.pathsep + os.environ["PATH"]}}
            token = subprocess.run(make_token, **ways).stderr.strip()
            subprocess.run(make_certificate, **ways)
            arguments = serve.split()[1:]
            self.assertEqual(arguments[:2], ["--listen", "0.0.0.0:8088"])
            files = [os.path.join(folder, word) if word in os.listdir(folder) else word for word in arguments[2:]]
            context = ssl.create_default_context(cafile=os.path.join(folder, "certificate.pem"))
            context.check_hostname = False  # the certificate names this machine's host name, not 127.0.0.1
            server = Server("--listen", "127.0.0.1:0,0.0.0.0:0", *files, context=context)
            self.assertEqual(server.client().get("/v1/models").status, 401)
            self.assertEqual(server.client().get("/v1/models", Authorization=f"Bearer {token}").status, 200)
            self.assertNotIn('"event":"insecure"', server.log())
            self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
