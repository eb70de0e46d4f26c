"""Build the requests of the API and read its answers. Both clients send what is built here."""
from __future__ import annotations

import email.utils
import json
import os
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import cbor
from .errors import BadAnswer, DeadlinePassed, Problem
from .http import http1

JSON, XML, CBOR, TEXT = "application/json", "application/xml", "application/cbor", "text/plain"
CBOR_OF_ARRAYS = CBOR + "; arrays=multidimensional"
ZIP, TAR, GZIP = "application/zip", "application/x-tar", "application/gzip"
Source = Union[str, "os.PathLike[str]", bytes, Mapping[str, Any]]
Locked = Mapping[str, Union[float, Sequence[float]]]    # position of each joint that is held


@dataclass
class Call:
    """One request. `repeatable`: sending it twice has the effect of sending it once."""

    method: str
    path: str
    repeatable: bool
    fields: dict[str, str] = field(default_factory=dict)
    body: Optional[list[cbor.Buffer]] = None

    def buffers(self, prefix: str, common: Mapping[str, str]) -> list[cbor.Buffer]:
        """The request as it is sent; fields of its own override the common ones."""
        length = None if self.body is None else sum(len(part) for part in self.body)
        head = http1.request_head(self.method, prefix + self.path, {**common, **self.fields}, length)
        return [head, *(self.body or ())]


class Changes:
    """The last change that a client has made in a store that several servers share. The client sends its number with its
    next requests for models, so that they see the change at every server. Several threads may use one object."""

    def __init__(self) -> None:
        self._number, self._lock = 0, threading.Lock()

    def add_to(self, call: Call) -> None:
        if self._number and call.path.startswith("/v1/models/"):
            call.fields.setdefault("Model-Change", str(self._number))

    def note(self, response: http1.Response) -> None:
        text = response.field("Model-Change") or ""
        if text.isascii() and text.isdigit():
            with self._lock:
                self._number = max(self._number, int(text))


def model_path(name: str, *below: str) -> str:
    return "/".join(("/v1/models", urllib.parse.quote(name, safe=""), *below))


def problem_path(code: str) -> str:
    return "/problems/" + urllib.parse.quote(code, safe="")


def get(path: str, accept: str = JSON) -> Call:
    return Call("GET", path, True, {"Accept": accept})


def probe(path: str) -> Call:
    """A question about this moment, which is not asked again."""
    return Call("GET", path, False, {"Accept": JSON})


def evaluation(name: str, operation: str, request: Mapping[str, Any], revision: Optional[str] = None,
               deadline: Optional[float] = None) -> Call:
    """An operation on a model; fields that are None are left out. `revision`: the only one that may be evaluated."""
    sent = {key: value for key, value in request.items() if value is not None}
    fields = {"Content-Type": CBOR, "Accept": CBOR_OF_ARRAYS}
    if revision is not None:
        fields["If-Match"] = f'"{revision}"'
    if deadline is not None:
        fields["Request-Timeout"] = repr(float(deadline))
    return Call("POST", model_path(name, operation), True, fields, cbor.encode(sent))


def change(method: str, name: str, *, if_match: Optional[str], if_absent: bool = False, query: Mapping[str, Optional[str]],
           body: Optional[bytes] = None, media_type: Optional[str] = None) -> Call:
    """PUT or DELETE of a model. A conditional call may be repeated, since its second arrival is refused."""
    fields = {"Accept": JSON}
    if media_type:
        fields["Content-Type"] = media_type
    if if_match is not None:
        fields["If-Match"] = f'"{if_match}"'
    if if_absent:
        fields["If-None-Match"] = "*"
    given = {key: value for key, value in query.items() if value is not None}
    path = model_path(name) + ("?" + urllib.parse.urlencode(given) if given else "")
    return Call(method, path, if_match is not None or if_absent, fields, None if body is None else [body])


def locked_text(locked: Optional[Locked]) -> Optional[str]:
    """The query parameter `locked`: elbow:1.57,ball:0:0:0:1."""
    if locked is None:
        return None
    numbers = ((name, [value] if isinstance(value, (int, float)) else value) for name, value in locked.items())
    return ",".join(":".join((name, *(repr(float(x)) for x in values))) for name, values in numbers)


def model_source(source: Source) -> tuple[bytes, str]:
    """Bytes and media type of a robot: a document as a mapping, a text or bytes that begin with { or <, an archive as bytes,
    or a file."""
    if isinstance(source, Mapping):
        return json.dumps(source, allow_nan=False, default=_plain).encode(), JSON
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "<"):
        source = source.encode()
    if not isinstance(source, bytes):
        with open(source, "rb") as file:
            source = file.read()
    if source.startswith(b"PK"):
        return source, ZIP
    if source.startswith(b"\x1f\x8b"):
        return source, GZIP
    if source[257:262] == b"ustar":
        return source, TAR
    return source, JSON if source.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else XML


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays in a document."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a document has numbers, texts, arrays and mappings, not {type(value).__name__}")


def value_of(response: http1.Response) -> Any:
    """The answer in a response, or None if it has no body. Raises the problem that it reports instead."""
    media_type = (response.field("Content-Type") or "").partition(";")[0].strip().lower()
    if response.status >= 300:
        raise _problem(response, media_type)
    if not len(response.body):
        return None
    if media_type == CBOR:
        return cbor.decode(response.body)
    if media_type == JSON:
        try:
            return json.loads(bytes(response.body))
        except ValueError as error:
            raise BadAnswer(f"the answer is no JSON: {error}") from error
    if media_type == TEXT:
        return bytes(response.body).decode("utf-8", "replace")
    raise BadAnswer(f"the answer has the type {media_type or 'none'}, not that of an answer of torqued")


def _problem(response: http1.Response, media_type: str) -> Problem:
    fields: Any = None
    if media_type in ("application/problem+json", JSON):
        try:
            fields = json.loads(bytes(response.body))
        except ValueError:
            pass
    if not isinstance(fields, dict) or "code" not in fields:
        fields = {"title": response.reason, "detail": bytes(response.body[:200]).decode("utf-8", "replace")}
    kind = DeadlinePassed if fields.get("code") == "deadline-passed" else Problem
    return kind(response.status, fields, response.field("Request-Id"), retry_after(response))


def retry_after(response: http1.Response) -> Optional[float]:
    """Seconds to wait as the field Retry-After says: a number, or a date."""
    text = response.field("Retry-After")
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None
