"""Runs torqued with a malloc that fails when the test says so (failing_malloc.c), and lists what to ask it."""
import json
import mmap
import os
import struct

import tap
from harness import ROOT

BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
LIBRARY = os.path.join(BUILD, "tests", "e2e", "failing_malloc.so")
EVERY = "EVERY_ALLOCATION" in os.environ
FIELDS = ("armed", "at_main", "wait", "sticky", "count", "failures", "blocks")     # as in failing_malloc.c
JSON = {"Content-Type": "application/json"}


class Control:
    """The control of a process whose allocations fail."""

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
    """1, 2, 3 ...: which allocation fails. All of them with EVERY_ALLOCATION, else ever fewer: the distance grows by 1/step."""
    k = 1
    while True:
        yield k
        k += 1 if EVERY else 1 + k // step


def model_of(example, models):
    """The longest name of a model that begins an example's name and is followed by its end or a dash."""
    fitting = [name for name in models if example == name or example.startswith(name + "-")]
    return max(fitting, key=len, default="puma560")


def examples(contract, models):
    """(method, target, headers, body) of every example of an operation in the contract."""
    for path, item in contract["paths"].items():
        media = item.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, example in media.get("examples", {}).items():
            yield ("POST", path.replace("{model}", model_of(name, models)), JSON, json.dumps(example["value"]))


def pages(contract):
    """(method, target, headers, body) of everything that can be read, in several forms."""
    for path, item in contract["paths"].items():
        if "get" not in item:
            continue
        target = path.replace("{model}", "humanoid").replace("{code}", "memory-full")
        for accept in ("application/json", "application/cbor", "text/html", "*/*"):
            yield "GET", target, {"Accept": accept, "Accept-Encoding": "gzip"}, None
    for path in ("/", "/docs", "/nothing", "/v1/models/none", "/v1/models/panda/none"):
        yield "GET", path, {"Accept": "text/html"}, None
        yield "GET", path, {}, None
    yield "HEAD", "/v1/models", {}, None
    yield "OPTIONS", "/v1/models/panda", {}, None


def files():
    """(method, target, headers, body) of models in every format."""
    for path, kind in (("models/puma560.json", "application/json"), ("models/delta.json", "application/json"),
                       ("api/clients/python/samples/arm.urdf", "application/xml"),
                       ("tests/data/mjcf/arm.xml", "application/xml"),
                       ("tests/data/sdf/arm.sdf", "application/xml")):
        with open(os.path.join(ROOT, path)) as file:
            yield "PUT", "/v1/models/changed", {"Content-Type": kind}, file.read()
