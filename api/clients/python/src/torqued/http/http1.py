"""Write requests and read responses of HTTP/1.1 (RFC 9112) without doing any input or output.

Both clients drive this: the blocking one by recv_into, the other by asyncio. The body of a response is received into the
memory in which it stays.
"""
from __future__ import annotations

import re
from typing import Mapping, Optional

import numpy as np

from .. import cbor
from ..errors import BadAnswer

LARGEST_HEAD = 65536    # bytes
FIELD = re.compile(r"\r\n([!#-'*+.^-`|~\w-]+):[ \t]*([^\r\n]*?)[ \t]*(?=\r\n|\Z)", re.ASCII)


def request_head(method: str, target: str, fields: Mapping[str, str], length: Optional[int]) -> bytes:
    """Request line and fields, each as one line; `length` of the body, None if there is none."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    for line in lines:
        if "\r" in line or "\n" in line:
            raise ValueError(f"{line!r} has a line break")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Response:
    """A complete response. `body` may be written to; the arrays of an answer are views on it."""

    def __init__(self, status: int, reason: str, fields: dict[str, str], body: memoryview, reusable: bool) -> None:
        self.status, self.reason, self.fields, self.body = status, reason, fields, body
        self.reusable = reusable        # True if the connection takes another request

    def field(self, name: str) -> Optional[str]:
        return self.fields.get(name.lower())


class ResponseReader:
    """Reads the response to one request: receive into space(), then say how much came by received().

    The response is there as soon as `response` is not None.
    """

    def __init__(self, method: str, scratch: bytearray) -> None:
        self.method = method
        self.response: Optional[Response] = None
        self.started = False            # True once any byte has come
        self._buffer = scratch          # LARGEST_HEAD bytes of the connection, for heads and for bodies of unknown length
        self._filled = 0
        self._head: Optional[tuple[int, str, dict[str, str]]] = None
        self._body: Optional[memoryview] = None     # body of known length, filled as bytes arrive
        self._missing = 0
        self._chunks: Optional[_Chunks] = None
        self._until_end: Optional[bytearray] = None

    def space(self) -> memoryview:
        """Memory for the next bytes; never empty while the response is incomplete."""
        if self._body is not None:
            return self._body[len(self._body) - self._missing:]
        return memoryview(self._buffer)[self._filled:]

    def received(self, count: int) -> None:
        """`count` bytes were written into the beginning of space()."""
        self.started = True
        if self._body is not None:
            self._missing -= count
            if not self._missing:
                self._finish(self._body)
            return
        self._filled += count
        if self._head is None:
            self._read_heads()
        else:
            self._take(self._drained())

    def ended(self) -> None:
        """The peer has closed the connection. Completes a response whose length is that of the connection."""
        if self._until_end is not None and self.response is None:
            self._finish(memoryview(self._until_end), reusable=False)

    def _drained(self) -> bytes:
        data = bytes(memoryview(self._buffer)[:self._filled])
        self._filled = 0
        return data

    def _read_heads(self) -> None:
        """The head of the response, after those of interim responses (1xx)."""
        while self._head is None:
            end = self._buffer.find(b"\r\n\r\n", 0, self._filled)
            if end < 0:
                if self._filled == LARGEST_HEAD:
                    raise BadAnswer(f"the head of the answer has more than {LARGEST_HEAD} bytes")
                return
            head = _parse_head(bytes(memoryview(self._buffer)[:end]))
            rest = bytes(memoryview(self._buffer)[end + 4:self._filled])
            self._buffer[:len(rest)] = rest
            self._filled = len(rest)
            if head[0] == 101 or head[0] >= 200:
                self._head = head
        self._begin_body(self._drained())

    def _begin_body(self, start: bytes) -> None:
        assert self._head is not None
        status, _, fields = self._head
        if self.method == "HEAD" or status in (204, 304):
            self._take_all(start, 0)
        elif "transfer-encoding" in fields:
            if fields["transfer-encoding"].strip().lower() != "chunked":
                raise BadAnswer(f"transfer coding {fields['transfer-encoding']}")
            self._chunks = _Chunks()
            self._take(start)
        elif "content-length" in fields:
            length = fields["content-length"]
            if not (length.isascii() and length.isdigit() and len(length) < 19):
                raise BadAnswer(f"Content-Length: {length}")
            self._take_all(start, int(length))
        else:
            self._until_end = bytearray()
            self._take(start)

    def _take_all(self, start: bytes, length: int) -> None:
        """A body of `length` bytes, of which `start` has come with the head."""
        if len(start) > length:
            raise BadAnswer(f"{len(start) - length} bytes follow the answer")
        free = cbor.alignment(start)
        body = np.empty(free + length, np.uint8).data[free:]    # aligned; NumPy writes nothing into it
        body[:len(start)] = start
        self._body, self._missing = body, length - len(start)
        if not self._missing:
            self._finish(body)

    def _take(self, data: bytes) -> None:
        """Bytes of a body whose length is not known ahead."""
        if self._chunks is not None:
            self._chunks.feed(data)
            if self._chunks.complete:
                self._finish(memoryview(self._chunks.body))
        elif self._until_end is not None:
            self._until_end += data

    def _finish(self, body: memoryview, reusable: bool = True) -> None:
        assert self._head is not None
        status, reason, fields = self._head
        closing = "connection" in fields and "close" in re.split(r"[ \t,]+", fields["connection"].lower())
        self.response = Response(status, reason, fields, body, reusable and not closing)


class _Chunks:
    """A body in the transfer coding chunked (RFC 9112, section 7.1)."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.complete = False
        self._pending = b""
        self._left = 0          # bytes of the chunk, and of the line break behind it
        self._trailer = False

    def feed(self, data: bytes) -> None:
        self._pending += data
        while self._pending and not self.complete:
            if self._left:
                self._data()
            else:
                line, found, rest = self._pending.partition(b"\r\n")
                if not found:
                    if len(self._pending) > LARGEST_HEAD:
                        raise BadAnswer("a line between the chunks of the answer is too long")
                    return
                self._pending = rest
                self._line(line)

    def _data(self) -> None:
        taken = self._pending[:self._left]
        self._pending = self._pending[len(taken):]
        self.body += taken[:max(self._left - 2, 0)]
        self._left -= len(taken)

    def _line(self, line: bytes) -> None:
        if self._trailer:
            self.complete = not line
            return
        digits = line.partition(b";")[0].strip()
        try:
            size = int(digits, 16)
        except ValueError as error:
            raise BadAnswer(f"{digits!r} is no length of a chunk") from error
        if size:
            self._left = size + 2
        else:
            self._trailer = True


def _parse_head(data: bytes) -> tuple[int, str, dict[str, str]]:
    """Status, reason and fields; names in lower case, a repeated field as a list with commas."""
    text = data.decode("latin-1")
    first = text.partition("\r\n")[0]
    version, _, rest = first.partition(" ")
    status, _, reason = rest.partition(" ")
    if not version.startswith("HTTP/1.") or len(status) != 3 or not (status.isascii() and status.isdigit()):
        raise BadAnswer(f"{first[:100]!r} is no status line of HTTP/1.1")
    found = FIELD.findall(text)
    if len(found) != text.count("\n"):
        raise BadAnswer("the head of the answer has a line that is no field")
    fields = {name.lower(): value for name, value in found}
    if len(fields) != len(found):       # a repeated field is a list
        fields = {key: ", ".join(value for name, value in found if name.lower() == key) for key in fields}
    if version == "HTTP/1.0":
        fields.setdefault("connection", "close")
    return int(status), reason, fields
