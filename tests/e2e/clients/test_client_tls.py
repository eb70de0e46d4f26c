"""Tests the clients of api/clients against a server with TLS and access control: a token in Python, Go, Java and
Octave, a client certificate in Python. Each prints the server's torques; without a credential or without trust in the
server's certificate each fails. C is tested in test_c_client.py, TypeScript in test_typescript.py."""
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest

import tap
from access import Certificates, Tokens
from client_samples import CLIENTS
from harness import PATIENCE, Server
from samples import ASK, PUMA

sys.path.insert(0, os.path.join(CLIENTS, "python", "src"))
import torqued  # noqa: E402

def needs(program):
    return unittest.skipUnless(shutil.which(program), f"no {program} here")


@needs("openssl")
class OverTls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.certificates = Certificates(cls.folder)
        cls.certificates.make_client("robot", "robot")
        cls.tokens = Tokens(cls.folder, "robot evaluate certificate:robot\n")
        cls.server = Server("--tokens", cls.tokens.path, *cls.certificates.arguments("ca.pem"), context=cls.certificates.context())
        cls.addClassCleanup(cls.server.kill)
        cls.expected = cls.server.client().request("POST", ASK, PUMA, cls.tokens.header("planner")).json()["tau"]
        cls.trusted = cls.certificates.path("server.pem")

    def run_program(self, *command, cwd, **environment):
        inherited = {name: value for name, value in os.environ.items() if name != "TORQUED_TOKEN"}
        return subprocess.run(command, cwd=cwd, env={**inherited, **environment}, capture_output=True, text=True,
                              timeout=6 * PATIENCE)

    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout[-1000:] + done.stderr[-3000:])
        self.assertEqual([float(text) for text in done.stdout.split(",")], self.expected)

    def check_sample(self, *command, cwd, **trust):
        """Runs a sample with its token in the environment, and once more without the token, which must fail."""
        token = {"TORQUED_TOKEN": self.tokens.token["planner"], "TORQUED_URL": self.server.url()}
        self.check(self.run_program(*command, cwd=cwd, **trust, **token))
        self.assertNotEqual(self.run_program(*command, cwd=cwd, **trust, TORQUED_URL=self.server.url()).returncode, 0)
        self.assertNotEqual(self.run_program(*command, cwd=cwd, **token).returncode, 0)

    def copy(self, language):
        folder = os.path.join(tempfile.mkdtemp(dir=self.folder), "clients")
        shutil.copytree(os.path.join(CLIENTS, language), os.path.join(folder, language))
        return os.path.join(folder, language)

    def test_python(self):
        for options in ({"token": self.tokens.token["planner"], "ssl_context": self.certificates.context()},
                        {"ssl_context": self.certificates.context("robot")}):
            with torqued.Client(self.server.url(), **options) as client:
                self.assertEqual(list(client.model("puma560").inverse_dynamics(**PUMA).tau), self.expected)
        with torqued.Client(self.server.url(), ssl_context=self.certificates.context()) as client:
            with self.assertRaisesRegex(torqued.Error, "credential"):
                client.model("puma560")
        with torqued.Client(self.server.url(), token=self.tokens.token["planner"], ssl_context=ssl.create_default_context()) as client:
            with self.assertRaises(torqued.Error):
                client.model("puma560")

    @needs("go")
    def test_go(self):
        folder = self.copy("go")
        offline = {"GOCACHE": os.path.join(self.folder, "cache"), "GOPROXY": "off", "GOTOOLCHAIN": "local"}
        built = self.run_program("go", "build", "-o", "ask", "./one", cwd=folder, **offline)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.check_sample("./ask", self.server.url(), cwd=folder, SSL_CERT_FILE=self.trusted)

    @needs("javac")
    def test_java(self):
        folder = self.copy("java")
        subprocess.run(["javac", "Torqued.java", "One.java"], cwd=folder, check=True)
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "server", "-file", self.trusted, "-keystore", "trust",
                        "-storepass", "changeit"], cwd=folder, check=True, capture_output=True)
        self.check_sample("java", "One", self.server.url(), cwd=folder,
                          JDK_JAVA_OPTIONS="-Djavax.net.ssl.trustStore=trust -Djavax.net.ssl.trustStorePassword=changeit")

    @needs("octave")
    def test_octave(self):
        self.check_sample("octave", "--no-gui", "--quiet", "one.m", cwd=self.copy("octave"), CURL_CA_BUNDLE=self.trusted)


if __name__ == "__main__":
    tap.main()
