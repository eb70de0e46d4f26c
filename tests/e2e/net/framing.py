"""Reads the file tests/data/framing_shapes, whose head describes its format, and returns the malformed or ambiguous requests in it ("shapes") as
bytes."""
import os
import re

from harness import ROOT

HIDDEN = b"DELETE /v1/models/victim HTTP/1.1\r\nHost: localhost\r\nX-A: 12345678901234\r\nX-B: c\r\n\r\n"


class Shape:
    def __init__(self, line):
        head, text = line.split(": ", 1)
        status, self.name = head.split(" ", 1)
        self.status, self.good = int(status[:3]), len(status) > 3
        self.bytes = expand(text)


def unescape(text):
    return text.replace("HIDDEN", HIDDEN.decode()).encode("latin-1").decode("unicode_escape").encode("latin-1")


def expand(text):
    """Expands repetitions {n*text} from the inside out, then escapes. Braces have no other meaning."""
    while found := re.search(r"\{(\d+)\*([^{}]*)\}", text):
        text = text[:found.start()] + found[2] * int(found[1]) + text[found.end():]
    return unescape(text)


def shapes():
    with open(os.path.join(ROOT, "tests", "data", "framing_shapes"), encoding="ascii") as file:
        return [Shape(line.rstrip("\n")) for line in file if line.strip() and not line.startswith("#")]
