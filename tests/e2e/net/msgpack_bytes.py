"""Writes and reads MessagePack as its specification says
(https://github.com/msgpack/msgpack/blob/master/spec.md), in every form of each object."""
import struct


def sized(fixed, most, codes, length):
    """Returns the head of an object with a length. Lengths up to `most` are added to the first byte `fixed`; for longer ones, rows (code,
    bytes) give the first byte and the size of the length."""
    if length <= most:
        return bytes([fixed | length])
    code, width = next((code, width) for code, width in codes if length < 1 << 8 * width)
    return bytes([code]) + length.to_bytes(width, "big")


def integer(value):
    if -32 <= value < 128:
        return struct.pack(">b", value)
    for first, signed in ((0xCC, False), (0xD0, True)):
        for i in range(4):
            try:
                return bytes([first + i]) + value.to_bytes(1 << i, "big", signed=signed)
            except OverflowError:
                continue
    raise OverflowError(value)


def pack(value):
    """Returns a value in its shortest form, and floats in 64 bits."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return sized(0xA0, 31, ((0xD9, 1), (0xDA, 2), (0xDB, 4)), len(text)) + text
    if isinstance(value, bytes):
        return sized(0, -1, ((0xC4, 1), (0xC5, 2), (0xC6, 4)), len(value)) + value
    if isinstance(value, list):
        return sized(0x90, 15, ((0xDC, 2), (0xDD, 4)), len(value)) + b"".join(map(pack, value))
    if isinstance(value, Raw):
        return value.encoded
    members = b"".join(pack(key) + pack(entry) for key, entry in value.items())
    return sized(0x80, 15, ((0xDE, 2), (0xDF, 4)), len(value)) + members


class Raw:
    """An object that is already encoded."""

    def __init__(self, encoded):
        self.encoded = encoded


def ext(kind, content):
    fixed = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}.get(len(content))
    head = bytes([fixed]) if fixed else sized(0, -1, ((0xC7, 1), (0xC8, 2), (0xC9, 4)), len(content))
    return Raw(head + struct.pack(">b", kind) + content)


class Reader:
    """Reads the types that answers contain: all but bin and ext."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, n):
        self.at += n
        assert self.at <= len(self.body), "the body ends early"
        return self.body[self.at - n:self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]

    def value(self):
        first = self.take(1)[0]
        if first < 0x80 or first >= 0xE0:
            return first if first < 0x80 else first - 256
        if first < 0xC0:
            n, kind = (first & 31, "s") if first >= 0xA0 else (first & 15, "a" if first >= 0x90 else "m")
            return self.sized(kind, n)
        single = {0xC0: None, 0xC2: False, 0xC3: True}
        if first in single:
            return single[first]
        forms = dict(zip(range(0xCA, 0xD4), "fdBHIQbhiq"))
        if first in forms:
            return self.number(forms[first])
        kind, form = {0xD9: "sB", 0xDA: "sH", 0xDB: "sI", 0xDC: "aH", 0xDD: "aI", 0xDE: "mH", 0xDF: "mI"}[first]
        return self.sized(kind, self.number(form))

    def sized(self, kind, n):
        if kind == "s":
            return self.take(n).decode()
        if kind == "a":
            return [self.value() for _ in range(n)]
        members = [(self.value(), self.value()) for _ in range(n)]
        assert len(dict(members)) == n, "keys differ"
        return dict(members)


def unpack(body):
    reader = Reader(body)
    value = reader.value()
    assert reader.at == len(body), "bytes follow"
    return value
