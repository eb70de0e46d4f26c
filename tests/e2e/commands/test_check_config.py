"""Tests `torqued check-config`: it prints every setting with its origin, and reports settings with which a server would not start, without
disturbing a running server."""
import os
import re
import subprocess
import tempfile
import unittest

import tap
from access import Certificates, Tokens
from harness import BINARY, MODELS, PATIENCE, Server


def variables():
    """Returns the environment without settings of a server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TORQUED_")}


class CheckCase(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.store = os.path.join(self.folder, "store")

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def run_command(self, command, *arguments, **environment):
        return subprocess.run([BINARY, command, *MODELS, "--store", self.store, *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, env=variables() | environment)

    def check(self, *arguments, **environment):
        return self.run_command("check-config", *arguments, **environment)

    def settings(self, done):
        """Returns {variable: (value, origin)}."""
        lines = done.stdout.split("\n\n")[0].splitlines()
        return {line.split()[0]: (line.split()[1], " ".join(line.split()[2:])) for line in lines}


class Origins(CheckCase):
    def test_every_setting_has_its_value_and_origin(self):
        file = self.path("settings", "# a comment\n; another\n\nTORQUED_MAX_ROWS=11\n TORQUED_QUEUE=2.5 \nTORQUED_HOST='a.example,b.example'\r\n"
                                     "TORQUED_LOG_LEVEL=\"debug\"\nTORQUED_ORIGIN_LESS=\n".replace("TORQUED_ORIGIN_LESS", "TORQUED_ALLOW_ORIGIN"))
        done = self.check("--config", file, "--queue", "3", TORQUED_TIMEOUT="7", TORQUED_MAX_ROWS="9")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.settings(done)
        listed = re.findall(r"`(TORQUED_\w+)`", subprocess.run([BINARY, "--settings-table"], capture_output=True, text=True).stdout)
        self.assertEqual(list(found), listed)
        self.assertEqual(found["TORQUED_MAX_ROWS"], ("11", f"{file}, line 4"))
        self.assertEqual(found["TORQUED_QUEUE"], ("3", "flag --queue"))
        self.assertEqual(found["TORQUED_HOST"], ("a.example,b.example", f"{file}, line 6"))
        self.assertEqual(found["TORQUED_LOG_LEVEL"], ("debug", f"{file}, line 7"))
        self.assertEqual(found["TORQUED_ALLOW_ORIGIN"], ("-", "default"))
        self.assertEqual(found["TORQUED_TIMEOUT"], ("7", "environment"))
        self.assertEqual(found["TORQUED_MAX_BODY"], ("256M", "default"))
        self.assertEqual(found["TORQUED_STORE"], (self.store, "flag --store"))
        self.assertIn("the variable TORQUED_MAX_ROWS of the environment has no effect: line 4 of the file overrides it", done.stderr)
        self.assertTrue(done.stdout.endswith("\n0 errors, 1 warnings\n"), done.stdout)

    def test_passwords_are_hidden(self):
        done = self.check("--store", "postgresql://user:hunter2@127.0.0.1:1/none", TORQUED_MAX_ROWS="5")
        self.assertNotIn("hunter2", done.stdout + done.stderr)
        self.assertIn("postgresql://user:***@127.0.0.1:1/none", done.stdout)
        if done.returncode == 0:    # this machine has libpq
            done = self.check("--store", "postgresql://user:hunter2@127.0.0.1:1/none", "--database")
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot use the database of --store", done.stderr)
            self.assertNotIn("hunter2", done.stdout + done.stderr)

    def test_defaults_follow_the_limits_that_contain_them(self):
        found = self.settings(self.check("--memory", "64M"))
        self.assertEqual((found["TORQUED_MAX_BODY"][0], found["TORQUED_MAX_ANSWER"][0]), ("48M", "48M"))


class Errors(CheckCase):
    def agree(self, said, *arguments, **environment):
        """Checks that the command refuses the settings with this message, and that a server does not start with them."""
        done = self.check(*arguments, **environment)
        self.assertEqual(done.returncode, 1, (arguments, done.stdout))
        self.assertIn(said, done.stderr, arguments)
        started = self.run_command("serve", *arguments, **environment)
        self.assertIn(started.returncode, (1, 2), arguments)
        self.assertIn(said, started.stderr, arguments)

    def test_what_keeps_a_server_from_starting_is_found(self):
        local = ("--listen", "127.0.0.1:0")
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        empty, damaged = self.path("empty", ""), self.path("damaged", "boss root sha256:00\n")
        for said, *arguments in (
                ("--timeout is \"soon\"", "--timeout", "soon"),
                ("--max-body 3G is above --memory 2G (default)", "--max-body", "3G"),
                (f"{empty} of --tokens: it names no client", *local, "--tokens", empty),
                (f"{fifo} of --tokens: it is a FIFO", *local, "--tokens", fifo),
                (f"{self.folder} of --tokens: it is a folder", *local, "--tokens", self.folder),
                ("line 1 has \"root\" where it needs roles", *local, "--tokens", damaged),
                (f"{fifo} of --tls-certificate: it is a FIFO", *local, "--tls-certificate", fifo, "--tls-key", fifo),
                (f"{empty} of --tls-certificate", *local, "--tls-certificate", empty, "--tls-key", empty),
                ("of --audit-log: it is neither a regular file nor a FIFO", *local, "--audit-log", "/dev/null"),
                ("of --audit-log: No such file", *local, "--audit-log", "/nowhere/log"),
                (f"{fifo} of --config: it is a FIFO", "--config", fifo),
                ("/nowhere of --config: No such file", "--config", "/nowhere"),
                ("this machine has no target \"none\"", *local, "--target", "none"),
                ("--listen names the host no.such.host.invalid", "--listen", "no.such.host.invalid:0"),
                ("other machines can reach 0.0.0.0:", "--listen", "0.0.0.0:0")):
            with self.subTest(said):
                self.agree(said, *arguments)
        self.agree("TORQUED_MAX_ROW, which is no setting of torqued (did you mean TORQUED_MAX_ROWS?)", TORQUED_MAX_ROW="5")

    def test_lines_that_readers_take_differently_are_refused(self):
        for line, said in (("TORQUED_MAX_ROWS", "expected KEY=VALUE"), ("TORQUED_MAX_ROWS =1", "expected KEY=VALUE"), ("=1", "expected KEY=VALUE"),
                           ("export TORQUED_MAX_ROWS=1", "export TORQUED_MAX_ROWS is no setting"),
                           ("TORQUED_HOST=a\\", "without backslashes"), ("TORQUED_HOST=\"a", "quotes around the whole value"),
                           ("TORQUED_HOST='a' 'b'", "quotes around the whole value"), ("TORQUED_HOST=\"", "quotes around the whole value"),
                           ("TORQUED_MAX_ROWS=1\nTORQUED_MAX_ROWS=1", "TORQUED_MAX_ROWS is in line 1, too"),
                           ("PGPASSWORD=x", "other variables belong into the environment"), ("TORQUED_URL=x", "TORQUED_URL is no setting"),
                           ("TORQUED_CONFIG=x", "cannot be in the file itself"), ("TORQUED_MAX_ROWS=0", "1 to 1000000000"),
                           ("TORQUED_MAX_ROWS=1\0", "NUL byte"), ("#" + "x" * (1 << 20), "larger than 1 MiB")):
            with self.subTest(line[:40]):
                self.agree(said, "--config", self.path("settings", line + "\n"))

    def test_a_file_that_others_may_write_is_refused(self):
        file = self.path("settings", "TORQUED_MAX_ROWS=5\n")
        os.chmod(file, 0o666)
        self.agree("only its owner or group can write", "--config", file)

    def test_folders(self):
        done = self.check("--models", "/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read the folder /nowhere of --models: No such file or directory", done.stderr)
        file = self.path("file", "x")
        for store in (file, file + "/below"):
            done = self.check("--store", store)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f"cannot write the folder {store} of --store", done.stderr)

    def test_all_errors_of_files_are_named_at_once(self):
        done = self.check("--tokens", "/nowhere", "--audit-log", "/nowhere/x", "--models", "/nowhere/y")
        self.assertEqual(done.stderr.count("torqued: cannot "), 3, done.stderr)
        self.assertIn("3 errors", done.stdout)


class Warnings(CheckCase):
    def test_settings_without_effect(self):
        done = self.check("--socket-mode", "666", "--trusted-proxy", "unix", "--log-slow", "1", "--client-connections", "1025")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("socket-mode", "trusted-proxy", "log-slow", "client-connections"):
            self.assertIn(f"warning: --{name} has no effect: ", done.stderr)
        done = self.check("--listen", f"unix:{self.path('socket')}", "--socket-mode", "666", "--trusted-proxy", "unix")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_quiet(self):
        done = self.check("--quiet", "--socket-mode", "666")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertRegex(done.stderr, r"^torqued: warning: --socket-mode has no effect: [^\n]*\n$")

    def test_clients_that_nobody_can_be(self):
        tokens = Tokens(self.folder, "user admin uid:1000", "cert admin certificate:boss.example")
        done = self.check("--tokens", tokens.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, reason in (("former", "the token has expired"), ("user", "--listen has no unix:PATH"), ("cert", "--tls-client-ca")):
            self.assertRegex(done.stderr, f"a line of the client {name} in --tokens has no effect: .*{reason}")
        self.assertIn("0 errors, 3 warnings", done.stdout)

    def test_a_certificate_that_ends_soon(self):
        certificates = Certificates(self.folder)
        self.assertEqual(self.check(*certificates.arguments()).stderr, "")
        certificates._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3", "-subj",
                              "/CN=localhost", "-keyout", "server.key", "-out", "server.pem")
        done = self.check(*certificates.arguments())
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"server\.pem of --tls-certificate ends soon: 20")


class Running(CheckCase):
    def test_a_running_server_is_not_disturbed(self):
        """The command takes no lock, no port and no FIFO of the server, and creates no file."""
        self.assertEqual(self.check().returncode, 0)
        self.assertFalse(os.path.exists(self.store))
        audit = self.path("audit")
        server = Server("--store", self.store, "--audit-log", audit)
        self.addCleanup(server.kill)
        before = sorted(os.listdir(self.store))
        done = self.check("--listen", f"127.0.0.1:{server.port}", "--audit-log", audit)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.store)), before)
        client = server.client()
        self.assertEqual(client.get("/readyz").json(), {"status": "ready", "reasons": []})
        client.close()
        self.assertIsNone(server.stop())

    def test_an_argument_of_another_kind_is_a_misuse(self):
        done = subprocess.run([BINARY, "check-config", "extra"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    tap.main()
