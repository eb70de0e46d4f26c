"""Tests that an allocation may fail anywhere in the process: in the server, the api or a library. The request is then
answered as usual or with 503, the process lives, and nothing leaks. Commands without a server end as usual or report
that memory is short.

`make failing-memory` lets every allocation fail in turn; a normal run tries a part of them."""
import http.client
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import failing
import tap
from harness import BINARY, PATIENCE, ROOT, SANITIZED
from samples import pendulum

COMMAND_STEP = 1  # step of numbers(), which chooses the allocations of a command that fail


class Requests(failing.RequestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        client = cls.server.client()
        cls.contract = client.get("/openapi.json").json()
        cls.models = [model["name"] for model in client.get("/v1/models").json()["models"]]
        client.put("/v1/models/changed", pendulum())
        client.close()

    def test_pages(self):
        self.try_all(failing.pages(self.contract))

    def test_examples(self):
        self.try_all(failing.examples(self.contract, self.models))

    def test_coded_examples(self):
        self.try_all(failing.coded(failing.examples(self.contract, self.models)))

    def test_models(self):
        self.try_all([*failing.files(), ("DELETE", "/v1/models/changed", {}, None)])

    def test_connections(self):
        """A connection may be closed without an answer if its memory is short; the next one is served. Each connection
        comes from a new address, so that the server has to allocate an account for it."""
        unanswered = 0
        for sticky in (0, 1):
            for k in failing.numbers(failing.STEP):
                connection = self.connect(f"127.0.{1 + sticky}.{1 + k % 250}")
                self.control.prepare(k, sticky)
                self.control.set("armed", 1)
                try:
                    status, text = self.ask(connection, ("GET", "/v1", {}, None))
                    self.assertIn(status, (200, 503), text)
                except (OSError, http.client.HTTPException):
                    unanswered += 1
                finally:
                    self.control.set("armed", 0)
                    connection.close()
                if self.control.get("failures") == 0:
                    break
        print(f"# {unanswered} connections closed without an answer")
        self.assertEqual(self.ask(self.connect(), ("GET", "/v1", {}, None))[0], 200)


class Refusals(failing.RequestCase):
    """Requests beyond the rate limit of their client. If the limit has recovered meanwhile, the request is served."""
    arguments = ("--client-rate", "1")
    question = "POST", "/v1/models/puma560/bias", failing.JSON, '{"q": [0, 0, 0, 0, 0, 0]}'

    def usual(self, connection, question):
        self.restore(connection, question)
        return 429

    def restore(self, connection, question):
        """Sends requests until the rate limit is reached."""
        for _ in range(100):
            if self.ask(connection, question)[0] == 429:
                return

    def wrong_answer(self, question, usual, status, text):
        return None if status == 200 else super().wrong_answer(question, usual, status, text)

    def test_refusals(self):
        self.try_all([self.question])


STATE = '{"q": [[0.1, 0.2], [0.3, 0.4]]}'
# Commands with their standard input. STORE and ARCHIVE stand for names in the test's folder.
COMMANDS = (
    (["check", "models/delta.json", "api/clients/python/samples/arm.urdf", "tests/data/mjcf/arm.xml"], ""),
    (["convert", "--to", "urdf", "models/puma560.json"], ""),
    (["convert", "--to", "mjcf", "tests/data/sdf/arm.sdf"], ""),
    (["eval", "models/two_link.json", "mass-matrix", "--models", "EMPTY"], STATE),
    (["eval", "models/two_link.json", "simulate", "--models", "EMPTY"],
     '{"q": [0, 0.5], "duration": 0.2, "samples": 3, "tolerance": 1e-6}'),
    (["backup", "-", "--store", "STORE", "--models", "EMPTY"], ""),
    (["verify", "--store", "STORE", "--models", "EMPTY"], ""),
    (["verify", "ARCHIVE", "--unverified", "--models", "EMPTY"], ""),
    (["restore", "ARCHIVE", "--unverified", "--store", "OTHER", "--models", "EMPTY"], ""),
    (["token", "cell", "admin"], ""),
)


@unittest.skipIf(SANITIZED, "no failing malloc here")
class Commands(unittest.TestCase):
    """Lets the allocations of a command fail from the start of main on."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-failing-"))
        self.control = failing.Control(self.place("control"))
        os.mkdir(self.place("EMPTY"))
        with open(os.path.join(ROOT, "models", "two_link.json")) as file:
            document = file.read()
        with open(self.place("ARCHIVE"), "w") as file:
            file.write('{"format": "torqued-archive", "version": 1, "models": {"mine": {"version": 1, "document": %s, "report": []}}}' % document)
        done = self.run_command(["restore", "ARCHIVE", "--unverified", "--store", "STORE", "--models", "EMPTY"], "", {})
        self.assertEqual(done.returncode, 0, done.stderr)

    def place(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, arguments, given, environment):
        here = [self.place(word) if word.isupper() else word for word in arguments]
        shutil.rmtree(self.place("OTHER"), ignore_errors=True)
        return subprocess.run([BINARY, *here], input=given, capture_output=True, text=True, timeout=3 * PATIENCE, cwd=ROOT,
                              env={**os.environ, **environment})

    @staticmethod
    def without_time(text):
        """Returns an output without the time at which an archive was made, and without the digest of that archive."""
        return re.sub(r'"made":"[^"]*"|"sha256":"[^"]*"}\s*$', "", text)

    def what_is_wrong(self, done, usual):
        """Returns a description of the error, or None if a command whose allocation failed ended as usual or reported a lack of memory."""
        said = done.stderr + done.stdout
        if done.returncode < 0:
            return f"killed by signal {-done.returncode}: {said[-300:]}"
        if done.returncode == usual.returncode:
            same = self.without_time(done.stdout) == self.without_time(usual.stdout) or "token" in usual.args
            return None if same else f"another output: {done.stdout[:200]}"
        if "memory" not in said and "Memory" not in said:
            return f"status {done.returncode}, which says nothing of memory: {said[-300:]}"
        return None

    def test_commands(self):
        wrong, tries = [], 0
        for arguments, given in COMMANDS:
            usual = self.run_command(arguments, given, {})
            self.assertEqual(usual.returncode, 4 if arguments[0] == "check" else 0, usual.stderr)
            for sticky in (0, 1):
                for k in failing.numbers(COMMAND_STEP):
                    self.control.prepare(k, sticky)
                    self.control.set("at_main", 1)
                    found = self.what_is_wrong(self.run_command(arguments, given, self.control.environment), usual)
                    tries += 1
                    if found:
                        wrong.append(f"{' '.join(arguments[:3])}: allocation {k}{' and all later' if sticky else ''}: {found}")
                    if self.control.get("failures") == 0 or len(wrong) > 20:
                        break
        print(f"# {tries} tries")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    tap.main()
