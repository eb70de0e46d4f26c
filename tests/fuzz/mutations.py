"""Changes valid requests at random: members and entries of the JSON tree, its numbers and names, its bytes, and its encoding.
Requests come from the examples of the contract, which has some for every operation, and from the models of the tree."""
import copy
import glob
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "net"))
import msgpack_bytes

NUMBERS = (0, -0.0, 1, -1, 2, 0.5, 1e-3, -1e-9, 3.141592653589793, 1e3, 1e6, 1e9, 1e16, 2**31, 2**53 + 1, 2**64, 10**30, 1e100, -1e200,
           1e308, -1e308, 5e-324, 1e-300)
TEXTS = ("1e999", "-1e999", "NaN", "Infinity", "-0", "1E+2", "0x10", "01", "1.", ".5", "1e", "null", "true")  # texts that replace a number
VALUES = (None, True, False, "", "x", "\x00", "é\U0001f916", "a" * 300, [], {}, [[]], [None], {"x": 1}, [1, [2]])
MOST = 1 << 16  # most bytes of a mutated request
MEDIA = {"json": "application/json", "cbor": "application/cbor", "msgpack": "application/vnd.msgpack"}


class Request:
    """A valid request: its operation, the model that it is for, and its body as a tree or, with a media type, as bytes."""

    def __init__(self, method, path, tree=None, body=None, media=MEDIA["json"]):
        self.method, self.path, self.tree, self.body, self.media = method, path, tree, body, media


def examples(contract):
    """Returns the requests of the examples of all operations; the name of an example begins with that of its model."""
    found = []
    for path, item in contract["paths"].items():
        if "post" in item:
            for name, example in item["post"]["requestBody"]["content"]["application/json"]["examples"].items():
                found.append(Request("POST", path.replace("{model}", name.split("-")[0]), example["value"]))
    return found


def files(root):
    """Returns the documents of models, and as bytes the seeds of the fuzzers of robots' files."""
    found = []
    for path in sorted(glob.glob(os.path.join(root, "models", "*.json"))):
        with open(path, encoding="utf-8") as file:
            found.append(Request("PUT", "", json.load(file)))
    for kind, media in (("urdf", "application/xml"), ("mjcf", "application/xml"), ("sdf", "application/xml"), ("archive_file", "application/zip")):
        for path in sorted(glob.glob(os.path.join(root, "tests", "fuzz", "seeds", kind, "*"))):
            with open(path, "rb") as file:
                found.append(Request("PUT", "", body=file.read(), media=media))
    return found


def cbor(value):
    """Encodes a tree as CBOR (RFC 8949)."""
    def head(major, count):
        if count >> 64:
            raise OverflowError(count)
        size = next(i for i in range(5) if i == 0 and count < 24 or i and count < 1 << (8 << (i - 1)))
        return bytes([major << 5 | (23 + size if size else count)]) + (count.to_bytes(1 << (size - 1), "big") if size else b"")
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(key) + cbor(entry) for key, entry in value.items())


def encode(tree, kind):
    """Returns the bytes of a tree; JSON where the format cannot hold a number of it."""
    try:
        return {"json": lambda t: json.dumps(t).encode(), "cbor": cbor, "msgpack": msgpack_bytes.pack}[kind](tree), MEDIA[kind]
    except OverflowError:
        return json.dumps(tree).encode(), MEDIA["json"]


def places(value, path=()):
    """Yields the containers of a tree with the key of each member."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in members:
        yield value, key
        yield from places(child)


class Mutator:
    """Draws mutated requests from valid ones. `random`: a random.Random."""

    def __init__(self, random, requests):
        self.random, self.requests = random, requests
        self.members, self.names = [], set()
        for request in requests:
            for container, key in places(request.tree):
                if isinstance(container, dict):
                    self.members.append((key, container[key]))
                if isinstance(container[key], str):
                    self.names.add(container[key])
        self.names = sorted(self.names)

    def number(self, old):
        drawn = self.random.random()
        if drawn < 0.3:
            return self.random.choice(NUMBERS)
        if drawn < 0.6:
            return self.random.uniform(-3, 3)
        return old * self.random.choice((-1, 0.5, 2, 1 + 1e-12, 1e-8, 1e8)) if abs(old) < 1e290 else 0

    def value(self, old):
        """Returns another value for `old`, mostly of its type."""
        if self.random.random() < 0.12:
            return copy.deepcopy(self.random.choice(VALUES))
        if isinstance(old, bool):
            return not old
        if isinstance(old, (int, float)):
            return self.number(old)
        if isinstance(old, str):
            return self.random.choice(self.names)
        if isinstance(old, list):
            return self.array(old)
        return old

    def array(self, old):
        choice = self.random.randrange(5)
        i = self.random.randrange(len(old) + 1)
        if choice == 0:
            return old[:i]
        if choice == 1:
            return old + old[:max(i, 1)]
        if choice == 2:
            return [copy.deepcopy(old) for _ in range(self.random.choice((1, 2, 3, 9, 17)))]
        if choice == 3:
            return old[:i] + old[i + 1:]
        return [self.value(entry) for entry in old]

    def change(self, tree):
        """Changes one member or entry of the tree in place."""
        found = list(places(tree))
        if not found or self.random.random() < 0.25:
            key, value = self.random.choice(self.members)
            target = tree
            if found and self.random.random() < 0.3:
                container, inner = self.random.choice(found)
                target = container[inner] if isinstance(container[inner], dict) else tree
            if isinstance(target, dict):
                target[key] = copy.deepcopy(value)
            return
        container, key = self.random.choice(found)
        drawn = self.random.random()
        if drawn < 0.15:
            del container[key]
        elif drawn < 0.25:
            container[key] = copy.deepcopy(self.random.choice(self.members)[1])
        else:
            container[key] = self.value(container[key])

    def bytes_of(self, body):
        """Changes bytes: flips, cuts, repeats, or puts a text in place of a number."""
        body, choice = bytearray(body), self.random.randrange(5)
        i, j = sorted(self.random.randrange(len(body) + 1) for _ in range(2))
        if choice == 0:
            for _ in range(self.random.randrange(1, 4)):
                body[self.random.randrange(len(body))] ^= 1 << self.random.randrange(8)
        elif choice == 1:
            del body[i:j]
        elif choice == 2:
            body[i:i] = body[i:j]
        elif choice == 3:
            del body[i:]
        else:
            digits = [k for k, byte in enumerate(body) if 48 <= byte < 58]
            k = self.random.choice(digits) if digits else i
            body[k:k + 1] = self.random.choice(TEXTS).encode()
        return bytes(body)

    def draw(self):
        """Returns a valid request and a mutated body of it with its media type."""
        request = self.random.choice(self.requests)
        body, media = request.body, request.media
        if request.tree is not None:
            tree = copy.deepcopy(request.tree)
            for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3, 5))):
                self.change(tree)
            body, media = encode(tree, self.random.choices(("json", "cbor", "msgpack"), (8, 1, 1))[0])
        if body and (request.tree is None or self.random.random() < 0.1):
            body = self.bytes_of(body)
        return request, body[:MOST], media
