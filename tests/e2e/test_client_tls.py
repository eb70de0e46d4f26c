"""The clients of api/clients against a server with TLS that wants credentials: a token in Python, C, Go, Java and Octave, a client
certificate in Python and C. Each gives the torques of the server; without a credential, or without trust in the server's certificate,
each fails."""
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

WITH_CERTIFICATE = r"""
#include "torqued.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
    torqued_server  server = {.url = arguments[1], .ca_file = getenv("CA"), .token_file = getenv("TOKEN_FILE"),
                              .certificate_file = getenv("CERTIFICATE"), .key_file = getenv("KEY")};
    torqued_client *client = torqued_open(&server, NULL);
    double          q[6] = {0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0}, rates[6] = {1, 1, 1, 1, 1, 1}, tau[6];
    torqued_input   in[] = {{"q", q, {6}}, {"qd", rates, {6}}, {"qdd", rates, {6}}};
    torqued_output  out  = {"tau", tau, 6};
    torqued_call    call = {"puma560", "inverse-dynamics", NULL, in, 3, &out, 1};
    (void)count;
    if (torqued_evaluate(client, &call) != TORQUED_OK) {
        fprintf(stderr, "%s: %s\n", torqued_last_problem(client)->code, torqued_last_problem(client)->detail);
        return 1;
    }
    for (int i = 0; i < 6; i++)
        printf("%.17g%c", tau[i], i < 5 ? ',' : '\n');
    torqued_close(client);
}
"""


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
        cls.token_file = os.path.join(cls.folder, "token")
        with open(cls.token_file, "w") as file:
            file.write(cls.tokens.token["planner"] + "\n")

    def run_program(self, *command, cwd, **environment):
        inherited = {name: value for name, value in os.environ.items() if name != "TORQUED_TOKEN"}
        return subprocess.run(command, cwd=cwd, env={**inherited, **environment}, capture_output=True, text=True,
                              timeout=6 * PATIENCE)

    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout[-1000:] + done.stderr[-3000:])
        self.assertEqual([float(text) for text in done.stdout.split(",")], self.expected)

    def check_sample(self, *command, cwd, **trust):
        """A sample that takes its token from the environment."""
        token = {"TORQUED_TOKEN": self.tokens.token["planner"], "TORQUED_URL": self.server.url()}
        self.check(self.run_program(*command, cwd=cwd, **trust, **token))
        self.assertNotEqual(self.run_program(*command, cwd=cwd, **trust, TORQUED_URL=self.server.url()).returncode, 0)
        self.assertNotEqual(self.run_program(*command, cwd=cwd, **token).returncode, 0)

    def copy(self, language):
        folder = os.path.join(tempfile.mkdtemp(dir=self.folder), "clients")
        for name in {language, "c"}:
            shutil.copytree(os.path.join(CLIENTS, name), os.path.join(folder, name))
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

    def test_c(self):
        folder = self.copy("c")
        with open(os.path.join(folder, "certificate.c"), "w") as file:
            file.write(WITH_CERTIFICATE)
        subprocess.run(["cc", "-o", "ask", "certificate.c", "torqued.c", "-lcurl", "-lpthread"], cwd=folder, check=True)
        ask = ("./ask", self.server.url())
        self.check(self.run_program(*ask, cwd=folder, CA=self.trusted, TOKEN_FILE=self.token_file))
        self.check(self.run_program(*ask, cwd=folder, CA=self.trusted, CERTIFICATE=self.certificates.path("robot.pem"),
                                    KEY=self.certificates.path("robot.key")))
        self.assertIn("unauthorized", self.run_program(*ask, cwd=folder, CA=self.trusted).stderr)
        self.assertEqual(self.run_program(*ask, cwd=folder, TOKEN_FILE=self.token_file).returncode, 1)

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
