"""Define the exceptions of the package. Every one of them is an Error."""
from __future__ import annotations

from typing import Any, Mapping, Optional


class Error(Exception):
    """Base class of all exceptions of this package."""


class ConnectionFailed(Error, ConnectionError):
    """No connection could be opened, or it ended before the answer was complete."""


class TimedOut(Error, TimeoutError):
    """The answer was not complete within `timeout` seconds."""


class BadAnswer(Error):
    """The bytes of the answer are neither what HTTP nor what the contract of torqued allows."""


class MixedArithmetic(Error):
    """Pieces of a batch were evaluated in different arithmetic classes, so that a state may have other bits in one than in another."""


class Problem(Error):
    """The server refused a request (RFC 9457).

    `code` names the kind of problem, `detail` says what was found and what was expected, `pointer` (RFC 6901) names the
    entry of the request, `row` the state of a batch. `fields` has every member of the answer. An answer without a
    problem document, as of a proxy, has the code "".
    """

    def __init__(self, status: int, fields: Mapping[str, Any], request_id: Optional[str] = None,
                 retry_after: Optional[float] = None) -> None:
        super().__init__(status, fields, request_id, retry_after)      # all arguments: a problem can be pickled
        self.status = status
        self.fields = dict(fields)
        self.request_id = request_id
        self.retry_after = retry_after
        self.code: str = fields.get("code", "")
        self.title: str = fields.get("title", "")
        self.detail: str = fields.get("detail", "")
        self.pointer: Optional[str] = fields.get("pointer")
        self.row: Optional[int] = fields.get("row")
        self.offset: Optional[int] = fields.get("offset")
        self.fraction: Optional[float] = fields.get("fraction")
        self.time: Optional[float] = fields.get("time")
        self.reasons: list[str] = list(fields.get("reasons", ()))

    def __str__(self) -> str:
        place = [f"row {self.row}"] if self.row is not None else []
        place += [self.pointer] if self.pointer else []
        where = f" ({', '.join(place)})" if place else ""
        return f"{self.status} {self.code or self.title}{where}: {self.detail}"


class DeadlinePassed(Problem, TimedOut):
    """The server gave up at the deadline of the request: the problem with the code deadline-passed."""


OBJECTS = ("wrenches", "payload", "tasks", "feet", "held", "frames")    # fields that are lists of objects


def in_whole_batch(problem: Problem, first_row: int) -> Problem:
    """The problem of a chunk that begins at `first_row`, with the row and the pointer of the whole batch."""
    if problem.row is None:
        return problem
    fields = dict(problem.fields, row=problem.row + first_row)
    if problem.pointer is not None:
        fields["pointer"] = shifted_pointer(problem.pointer, problem.row, first_row)
    return type(problem)(problem.status, fields, problem.request_id, problem.retry_after)


def shifted_pointer(pointer: str, row: int, first_row: int) -> str:
    """`pointer` with the first part that is the number `row` moved by `first_row`. Places in lists of objects are no rows."""
    parts = pointer.split("/")
    for i, part in enumerate(parts):
        if part == str(row) and parts[i - 1] not in OBJECTS:
            parts[i] = str(row + first_row)
            break
    return "/".join(parts)
