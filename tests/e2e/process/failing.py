"""Runs torqued with a malloc that fails on demand (failing_malloc.c), and lists the requests to send to it."""
import gzip
import http.client
import json
import mmap
import os
import struct
import tempfile
import time
import unittest

import cbor2
from harness import PATIENCE, ROOT, SANITIZED, Server

BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
LIBRARY = os.path.join(BUILD, "tests", "e2e", "failing_malloc.so")
EVERY = "EVERY_ALLOCATION" in os.environ
FIELDS = ("armed", "at_main", "wait", "sticky", "count", "failures", "blocks")  # in the order of failing_malloc.c
JSON = {"Content-Type": "application/json"}
STEP = 2  # step of numbers(), which chooses the allocations of a request that fail


class Control:
    """The shared memory that controls failing_malloc.c in another process."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(8 * len(FIELDS)))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8 * len(FIELDS))
        self.environment = {"LD_PRELOAD": LIBRARY, "FAILING_MALLOC": path}

    def set(self, field, value):
        struct.pack_into("q", self.map, 8 * FIELDS.index(field), value)

    def get(self, field):
        return struct.unpack_from("q", self.map, 8 * FIELDS.index(field))[0]

    def prepare(self, k, sticky):
        for field, value in (("armed", 0), ("wait", k), ("sticky", sticky), ("count", 0), ("failures", 0)):
            self.set(field, value)


def numbers(step):
    """Yields the numbers k of the allocations to fail: 1, 2, 3 ... with EVERY_ALLOCATION, otherwise at distances that grow as 1 + k/step."""
    k = 1
    while True:
        yield k
        k += 1 if EVERY else 1 + k // step


def model_of(example, models):
    """Returns the model of an example: the longest model name that is the example's name or its beginning before a
    dash."""
    fitting = [name for name in models if example == name or example.startswith(name + "-")]
    return max(fitting, key=len, default="puma560")


def examples(contract, models):
    """Yields (method, target, headers, body) of every example of an operation in the contract."""
    for path, item in contract["paths"].items():
        media = item.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, example in media.get("examples", {}).items():
            yield ("POST", path.replace("{model}", model_of(name, models)), JSON, json.dumps(example["value"]))


def coded(questions):
    """Yields one request of each operation, in compressed CBOR, which asks for an answer in compressed CBOR."""
    headers = {"Content-Type": "application/cbor", "Content-Encoding": "gzip",
               "Accept": "application/cbor", "Accept-Encoding": "zstd"}
    first = {target.rsplit("/", 1)[1]: (method, target, body) for method, target, _, body in reversed(list(questions))}
    for method, target, body in first.values():
        yield method, target, headers, gzip.compress(cbor2.dumps(json.loads(body)))


def pages(contract):
    """Yields (method, target, headers, body) of every resource that GET reads, in several media types."""
    for path, item in contract["paths"].items():
        if "get" not in item:
            continue
        target = path.replace("{model}", "humanoid").replace("{code}", "memory-full").replace("{format}", "mjcf")
        for accept in ("application/json", "application/cbor", "text/html", "*/*"):
            yield "GET", target, {"Accept": accept, "Accept-Encoding": "gzip"}, None
    for path in ("/", "/docs", "/nothing", "/v1/models/none", "/v1/models/panda/none"):
        yield "GET", path, {"Accept": "text/html"}, None
        yield "GET", path, {}, None
    yield "HEAD", "/v1/models", {}, None
    yield "OPTIONS", "/v1/models/panda", {}, None


def files():
    """Yields (method, target, headers, body) of models in every format."""
    for path, kind in (("models/puma560.json", "application/json"), ("models/delta.json", "application/json"),
                       ("api/clients/python/samples/arm.urdf", "application/xml"),
                       ("tests/data/mjcf/arm.xml", "application/xml"),
                       ("tests/data/sdf/arm.sdf", "application/xml")):
        with open(os.path.join(ROOT, path)) as file:
            yield "PUT", "/v1/models/changed", {"Content-Type": kind}, file.read()


@unittest.skipIf(SANITIZED, "no failing malloc here")
class RequestCase(unittest.TestCase):
    """Sends requests over a connection that was opened before allocations fail."""
    arguments = ()
    shortages = b"memory-full",  # problem codes of status 503

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="torqued-failing-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.control = Control(os.path.join(cls.folder.name, "control"))
        cls.server = Server("--workers", "1", "--log-level", "info", *cls.arguments, environment=cls.control.environment)
        cls.addClassCleanup(cls.server.kill)

    @classmethod
    def tearDownClass(cls):
        wrong = cls.server.stop()
        if wrong:
            raise AssertionError(wrong)

    def connect(self, address="127.0.0.1"):
        """Opens a connection from the loopback address `address`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE, source_address=(address, 0))
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection, question):
        """Returns status and body of the answer."""
        method, target, headers, body = question
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, text

    def usual(self, connection, question):
        self.restore(connection, question)
        return self.ask(connection, question)[0]

    def restore(self, connection, question):
        """Opens the connection by a harmless request: puts back the model that the question deletes, or asks for
        /livez."""
        if question[0] == "DELETE":
            self.ask(connection, ("PUT", question[1], JSON, '{"links":[]}'))
        else:
            self.ask(connection, ("GET", "/livez", {}, None))

    def try_once(self, connection, question, usual, k, sticky):
        """Sends the question (method, target, headers, body) while allocation `k` fails. Returns a description of the error in the answer, or
        None."""
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
        return self.wrong_answer(question, usual, status, text)

    def wrong_answer(self, question, usual, status, text):
        """Returns a description of the error in the answer, or None if the answer is the usual one or a 503 that reports a lack of memory."""
        if status == usual:
            return None
        if status != 503:
            return f"{status} {text[:200]}"
        is_shortage = question[0] == "HEAD" or any(code in text for code in self.shortages)
        return None if is_shortage else f"503 without its problem: {text[:200]}"

    def await_blocks(self, most):
        """Waits until at most `most` blocks are allocated: the server frees connections a little after they close.
        Returns the excess."""
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
            for _ in range(3 if tries else 20):  # the first answers fill the server's caches, one of them at its tenth request
                usual = self.usual(connection, question)
            before = self.control.get("blocks")
            for sticky in (0, 1):
                for k in numbers(STEP):
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
