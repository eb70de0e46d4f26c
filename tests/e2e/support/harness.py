"""Harness of all end-to-end tests: starts a torqued of its own, connects clients to it (peers.py), and asserts on
numbers.

The server is build/torqued, or the binary that TORQUED_BIN names, such as a sanitizer build. The server listens on a
port that the system chooses, logs into a temporary folder and must end cleanly on SIGTERM: a test class whose server
crashed, leaked memory or left a sanitizer's report fails. TORQUED_TARGET, which `make test TARGET=...` sets, selects
its kernels."""
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from arrays import flatten, shape
from peers import Client, RawSocket

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BINARY = os.path.abspath(os.environ.get("TORQUED_BIN", os.path.join(ROOT, "build", "torqued")))
SANITIZED = "TORQUED_BIN" in os.environ  # TORQUED_BIN names a sanitizer build, which is slower
# build/torqued finds the folder of bundled models by itself, a sanitizer build in another folder does not
MODELS = ("--models", os.path.join(ROOT, "models")) if SANITIZED else ()
QUEUE = ("--queue", "10")  # s that a request may wait for a worker; longer than the default, since other tests load the machine at the same time
PATIENCE = 180 if SANITIZED else 60  # s, timeout for events that take well under a second, or a few on a machine that does other work
# Temporary folders of tests lie in memory where possible, so that fsync costs nothing: the tests' stores need not survive a crash of the
# machine.
MEMORY = "/dev/shm" if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) else None
# Under nohup SIGHUP is ignored, and servers would inherit that. A handler is reset to the default in child processes.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
REPORTS = re.compile(r"(AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:).*")


class Server:
    """A running torqued. `arguments` follow the harness's own, and a repeated flag overrides these. `command` is put
    before the binary, such as `taskset`."""

    def __init__(self, *arguments, environment=None, wait=True, command=(), context=None):
        """`context` is the SSLContext of the clients, if the server speaks TLS."""
        self.context = context
        if not os.access(BINARY, os.X_OK):
            raise FileNotFoundError(f"there is no {BINARY}; make builds it")
        self.folder = tempfile.mkdtemp(prefix="torqued-e2e-", dir=MEMORY)
        self.log_path = os.path.join(self.folder, "log")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TORQUED_") or k == "TORQUED_TARGET"}
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*command, BINARY, "--listen", "127.0.0.1:0", "--store", "store", *QUEUE, *MODELS, *arguments], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env={**inherited, **(environment or {})})
        try:
            self.port = self._find_port()
            if wait:
                self.wait_ready()
        except BaseException:
            self.kill()
            raise

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def events(self):
        """Returns the events of the log. Skips a last line without its end, which the log's thread is still writing."""
        return [json.loads(line) for line in self.log().splitlines(keepends=True) if line.endswith("\n")]

    def await_log(self, text):
        """Waits until the log contains the text: the log is written some milliseconds after the answer."""
        give_up = time.monotonic() + PATIENCE
        while text not in self.log():
            if time.monotonic() > give_up:
                raise AssertionError(f"{text!r} is not in the log:\n{self.log()}")
            time.sleep(0.01)

    def _find_port(self):
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            found = re.search(r'"event":"listening","address":"127\.0\.0\.1:([1-9][0-9]*)"', self.log())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise RuntimeError(f"{BINARY} did not say where it listens:\n{self.log()}")

    def wait_ready(self):
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            try:
                if self.client().get("/readyz").status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError(f"not ready after {PATIENCE} s:\n{self.log()}")

    def client(self, timeout=PATIENCE):
        return Client(self.port, timeout, self.context)

    def socket(self, timeout=PATIENCE):
        return RawSocket(self.port, timeout, self.context)

    def url(self, path=""):
        return f"http{'s' if self.context else ''}://127.0.0.1:{self.port}{path}"

    def reload(self):
        """Sends SIGHUP and waits until the server has read its files again."""
        before = self.log().count('"event":"reloaded"') + self.log().count('"event":"not-reloaded"')
        self.process.send_signal(signal.SIGHUP)
        give_up = time.monotonic() + PATIENCE
        while self.log().count('"event":"reloaded"') + self.log().count('"event":"not-reloaded"') == before:
            if time.monotonic() > give_up:
                raise AssertionError(f"not reloaded:\n{self.log()[-2000:]}")
            time.sleep(0.01)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=PATIENCE):
        return self.process.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        """Stops the server by SIGTERM. Returns a description of a failure at its end, or None."""
        try:
            if self.process.poll() is not None:
                return f"ended by itself with status {self.process.returncode}:\n{self.log()[-4000:]}"
            self.terminate()
            try:
                status = self.wait(2 * PATIENCE)
            except subprocess.TimeoutExpired:
                return f"still running {2 * PATIENCE} s after SIGTERM:\n{self.log()[-4000:]}"
            log = self.log()
            report = REPORTS.search(log)
            if report:
                return f"sanitizer report:\n{log[report.start():report.start() + 6000]}"
            return None if status == 0 else f"exit status {status} after SIGTERM:\n{log[-4000:]}"
        finally:
            self.kill()


class ServerCase(unittest.TestCase):
    """A test class with one server for all its tests."""
    arguments = ()
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.arguments)
        cls.addClassCleanup(cls.server.kill)    # tearDownClass does not run if setUpClass of a subclass fails
        cls.client = cls.server.client()
        cls.addClassCleanup(cls.client.close)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        wrong = cls.server.stop()
        if wrong:
            raise AssertionError(wrong)

    def ok(self, answer, status=200):
        self.assertEqual(answer.status, status, answer)
        return answer.json() if answer.body else None

    def put_model(self, name, document):
        answer = self.client.put(f"/v1/models/{name}", document)
        self.assertIn(answer.status, (200, 201), answer)
        return answer.json()

    def ask(self, model, operation, request):
        return self.ok(self.client.post(f"/v1/models/{model}/{operation}", request))

    def ask_texts(self, model, operation, request):
        answer = self.client.post(f"/v1/models/{model}/{operation}", request)
        self.assertEqual(answer.status, 200, answer)
        return answer.texts()

    def assertProblem(self, answer, status, pointer=None, row=None):
        """Checks that the answer is a complete RFC 9457 problem with that status, and returns the problem."""
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers.get_content_type(), "application/problem+json", answer)
        problem = answer.json()
        self.assertEqual(problem["status"], status)
        self.assertRegex(problem["code"], r"^[a-z0-9]+(-[a-z0-9]+)*$")
        self.assertEqual(problem["type"], "/problems/" + problem["code"])
        for member in ("title", "detail"):
            self.assertTrue(problem[member], f"{member} of {problem}")
        self.assertTrue(answer.headers.get("Request-Id"), answer.headers)
        if pointer is not None:
            self.assertEqual(problem.get("pointer"), pointer, problem)
        if row is not None:
            self.assertEqual(problem.get("row"), row, problem)
        return problem

    def assertClose(self, actual, expected, tolerance=1e-12, scale=None, what=""):
        """Checks that shapes are equal and no entry is off by more than tolerance x the largest expected entry (or
        `scale`)."""
        self.assertEqual(shape(actual), shape(expected), what)
        a, e = flatten(actual), flatten(expected)
        size = scale if scale is not None else max(map(abs, e), default=0)
        errors = [abs(x - y) for x, y in zip(a, e)]
        if all(error <= tolerance * size for error in errors):  # max() would skip a NaN that is not first
            return
        worst = math.nan if any(map(math.isnan, errors)) else max(errors)
        self.fail(f"{what}: off by {worst:.3g}, {worst / size if size else math.inf:.3g} of the largest entry "
                  f"(allowed {tolerance:g})\nactual   {actual}\nexpected {expected}")

    def assertPrinted(self, actual, expected, digits, what=""):
        """Checks that numbers agree with a published text to the last of its significant digits; dropped zeros count as
        printed."""
        texts = [text.strip() for text in expected.strip("[] ").split(",")]
        self.assertEqual(len(actual), len(texts), what)
        size = max(abs(float(text)) for text in texts)
        for i, (value, text) in enumerate(zip(actual, texts)):
            figure = float(text)
            unit = 10.0 ** (math.floor(math.log10(abs(figure))) + 1 - digits) if figure else 10.0 ** -digits * size
            self.assertTrue(abs(value - figure) <= 0.5001 * unit, f"{what}[{i}]: {value!r}, published {text}")
