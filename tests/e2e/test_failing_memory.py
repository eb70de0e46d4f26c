"""An allocation fails anywhere in the process: in the server, the api or a library. Then the request is answered as usual or
with 503, the process lives, and nothing leaks. Commands without a server end as usual, or say that memory is short.

`make failing-memory` lets every allocation fail in turn; here it is a part of them."""
import http.client
import os
import shutil
import subprocess
import tempfile
import time
import unittest

import failing
import tap
from harness import BINARY, PATIENCE, ROOT, SANITIZED, Server
from samples import pendulum

STEP, COMMAND_STEP = 2, 1       # of k among the allocations of a request and of a command


@unittest.skipIf(SANITIZED, "no failing malloc here")
class Requests(unittest.TestCase):
    """Requests over a connection that is open before memory is short."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="torqued-failing-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.control = failing.Control(os.path.join(cls.folder.name, "control"))
        cls.server = Server("--workers", "1", "--log-level", "info", environment=cls.control.environment)
        cls.addClassCleanup(cls.server.kill)
        client = cls.server.client()
        cls.contract = client.get("/openapi.json").json()
        cls.models = [model["name"] for model in client.get("/v1/models").json()["models"]]
        client.put("/v1/models/changed", pendulum())
        client.close()

    @classmethod
    def tearDownClass(cls):
        wrong = cls.server.stop()
        if wrong:
            raise AssertionError(wrong)

    def connect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection, question):
        """The answer's status, problem code and body."""
        method, target, headers, body = question
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, text

    def usual(self, connection, question):
        self.restore(connection, question)
        return self.ask(connection, question)[0]

    def restore(self, connection, question):
        """Brings back what a question deletes, and opens the connection."""
        if question[0] == "DELETE":
            self.ask(connection, ("PUT", question[1], failing.JSON, '{"links":[]}'))
        else:
            self.ask(connection, ("GET", "/livez", {}, None))

    def try_once(self, connection, question, usual, k, sticky):
        """What is wrong with the answer when allocation `k` fails; None: nothing."""
        self.restore(connection, question)
        self.control.prepare(k, sticky)
        self.control.set("armed", 1)
        try:
            status, text = self.ask(connection, question)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return f"no answer: {error!r}"
        finally:
            self.control.set("armed", 0)
        if status == usual:
            return None
        if status != 503:
            return f"{status} {text[:200]}"
        return None if question[0] == "HEAD" or b"memory-full" in text else f"503 without its problem: {text[:200]}"

    def await_blocks(self, most):
        """Waits until no more blocks are allocated than before: connections are freed a little later."""
        give_up = time.monotonic() + PATIENCE
        while self.control.get("blocks") > most:
            if time.monotonic() > give_up:
                return self.control.get("blocks") - most
            time.sleep(0.01)
        return 0

    def try_all(self, questions):
        wrong, tries = [], 0
        for question in questions:
            what = " ".join(question[:2])
            connection = self.connect()
            for _ in range(3):      # fill the caches before an allocation fails
                usual = self.usual(connection, question)
            before = self.control.get("blocks")
            for sticky in (0, 1):
                for k in failing.numbers(STEP):
                    found = self.try_once(connection, question, usual, k, sticky)
                    tries += 1
                    if found:
                        wrong.append(f"{what}: allocation {k}{' and all later' if sticky else ''}: {found}")
                    if self.control.get("failures") == 0 or len(wrong) > 20:
                        break
            self.assertEqual(self.usual(connection, question), usual, what)
            self.usual(connection, question)
            left = self.await_blocks(before)
            if left:
                wrong.append(f"{what}: {left} blocks left")
            connection.close()
        print(f"# {tries} tries")
        self.assertEqual(wrong[:20], [])

    def test_pages(self):
        self.try_all(failing.pages(self.contract))

    def test_examples(self):
        self.try_all(failing.examples(self.contract, self.models))

    def test_models(self):
        self.try_all([*failing.files(), ("DELETE", "/v1/models/changed", {}, None)])

    def test_connections(self):
        """A connection that cannot be opened may close without an answer; the next one is served."""
        unanswered = 0
        for sticky in (0, 1):
            for k in failing.numbers(STEP):
                connection = self.connect()
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


STATE = '{"q": [[0.1, 0.2], [0.3, 0.4]]}'
# What is run, with its standard input. STORE and ARCHIVE are names of the test's folder.
COMMANDS = (
    (["check", "models/delta.json", "api/clients/python/samples/arm.urdf", "tests/data/mjcf/arm.xml"], ""),
    (["convert", "--to", "urdf", "models/puma560.json"], ""),
    (["convert", "--to", "mjcf", "tests/data/sdf/arm.sdf"], ""),
    (["eval", "models/two_link.json", "mass-matrix", "--models", "EMPTY"], STATE),
    (["eval", "models/two_link.json", "simulate", "--models", "EMPTY"],
     '{"q": [0, 0.5], "duration": 0.2, "samples": 3, "tolerance": 1e-6}'),
    (["export", "--store", "STORE", "--models", "EMPTY"], ""),
    (["import", "ARCHIVE", "--store", "OTHER", "--models", "EMPTY"], ""),
    (["token", "cell", "admin"], ""),
)


@unittest.skipIf(SANITIZED, "no failing malloc here")
class Commands(unittest.TestCase):
    """The allocations of a command fail from the begin of main on."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-failing-"))
        self.control = failing.Control(self.place("control"))
        os.mkdir(self.place("EMPTY"))
        with open(os.path.join(ROOT, "models", "two_link.json")) as file:
            document = file.read()
        with open(self.place("ARCHIVE"), "w") as file:
            file.write('{"format": "torqued-archive", "version": 1, "models": {"mine": {"version": 1, "document": %s, "report": []}}}' % document)
        done = self.run_command(["import", "ARCHIVE", "--store", "STORE", "--models", "EMPTY"], "", {})
        self.assertEqual(done.returncode, 0, done.stderr)

    def place(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, arguments, given, environment):
        here = [self.place(word) if word.isupper() else word for word in arguments]
        shutil.rmtree(self.place("OTHER"), ignore_errors=True)
        return subprocess.run([BINARY, *here], input=given, capture_output=True, text=True, timeout=3 * PATIENCE, cwd=ROOT,
                              env={**os.environ, **environment})

    def what_is_wrong(self, done, usual):
        """What is wrong with the end of a command when an allocation failed; None: nothing."""
        said = done.stderr + done.stdout
        if done.returncode < 0:
            return f"killed by signal {-done.returncode}: {said[-300:]}"
        if done.returncode == 0:
            same = done.stdout == usual.stdout or "token" in usual.args
            return None if same else f"another output: {done.stdout[:200]}"
        if "memory" not in said and "Memory" not in said:
            return f"status {done.returncode}, which says nothing of memory: {said[-300:]}"
        return None

    def test_commands(self):
        wrong, tries = [], 0
        for arguments, given in COMMANDS:
            usual = self.run_command(arguments, given, {})
            self.assertEqual(usual.returncode, 0, usual.stderr)
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
