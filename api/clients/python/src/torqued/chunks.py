"""Cut a large batch into pieces, and put the answers of the pieces together."""
from __future__ import annotations

import copy
from types import TracebackType
from typing import Any, Callable, Generic, Iterable, Mapping, Optional, Type, Union

import numpy as np

from .answers import A, Answer
from .described import Described
from .errors import MixedArithmetic, Problem, in_whole_batch, shifted_pointer
from .rows import cut, refuse_dependent, row_counts, with_arrays

CHUNK = 8192            # rows: the time between two requests is then 1 % of that of a request or less
Progress = Callable[[int, int], None]       # rows done, rows in all
LISTS_BY_ROWS = ("at_limits",)     # outputs that are lists with an entry for each row
TOO_LARGE = ("body-too-large", "too-many-rows", "answer-too-large", "too-much-memory")


class Chunks:
    """The pieces of one batch, in order. A piece that is too large for the server is halved, with all that follow."""

    def __init__(self, operation: Callable[..., Any], fields: Mapping[str, Any], size: int,
                 progress: Union[bool, Progress]) -> None:
        if not callable(operation):
            raise TypeError(f"{operation!r}: expected a method of a model, such as model.inverse_dynamics")
        refuse_dependent(getattr(operation, "__name__", "").replace("_", "-"), fields)
        if size < 1:
            raise ValueError(f"size {size}: a piece has at least one row")
        self.operation = operation
        self.revision: Optional[str] = None     # revision of the model, from the answer to the first piece
        self.fields = {name: with_arrays(name, value) for name, value in fields.items()}
        counts = set(row_counts(self.fields))
        if len(counts) != 1:
            raise ValueError("the batch has no array of rows" if not counts
                             else f"the arrays have different numbers of rows: {', '.join(map(str, sorted(counts)))}")
        self.total = counts.pop()
        self.start, self.size, self.done = 0, size, 0
        self._progress = progress
        self._bar: Any = None

    def __enter__(self) -> Chunks:
        if self._progress is True:
            self._bar = _progress_bar(self.total)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._bar is not None:
            self._bar.close()

    def rows(self, ahead: int = 0) -> slice:
        """The rows of the next piece, or of one `ahead` pieces after it; empty behind the end."""
        first = min(self.start + ahead * self.size, self.total)
        return slice(first, min(first + self.size, self.total))

    def request(self, rows: slice) -> dict[str, Any]:
        """The fields of the request for these rows."""
        return {name: cut(name, value, rows) for name, value in self.fields.items()}

    def accept(self, rows: slice, answer: A) -> A:
        """Goes on to the piece after these rows. The answer's errors and warnings then name rows of the whole batch. All later
        pieces must be of the revision of the model that the first one shows."""
        revision = answer.head.revision
        if self.revision is None:
            self.revision = revision
            self.operation = _pinned(self.operation, revision)
        elif revision is not None and revision != self.revision:
            raise _replaced(self.revision, f"the model here has the revision {revision}")
        self.start = rows.stop
        self.done += rows.stop - rows.start
        if callable(self._progress):
            self._progress(self.done, self.total)
        if self._bar is not None:
            self._bar.update(rows.stop - rows.start)
        moved = {name: _moved(answer[name], rows.start) for name in ("errors", "warnings") if name in answer}
        return type(answer)({**answer, **moved}, answer.head) if moved else answer

    def refused(self, rows: slice, problem: Problem) -> None:
        """Halves the size of pieces if this one was too large; else raises the problem, with its row of the whole batch."""
        if problem.status == 412 and self.revision is not None:
            raise _replaced(self.revision, problem.detail, problem) from None
        if is_too_large(problem, rows):
            self.size = (rows.stop - rows.start) // 2
            return
        raise in_whole_batch(problem, rows.start) from None


def _pinned(operation: Callable[..., Any], revision: Optional[str]) -> Callable[..., Any]:
    """The method of a model, for this revision of the model alone. Other functions stay as they are: of them, only the answers
    show the revision."""
    model = getattr(operation, "__self__", None)
    if not isinstance(model, Described) or revision is None:
        return operation
    pinned = copy.copy(model)
    pinned.description = copy.copy(model.description)
    pinned.description["revision"] = revision
    pinned.pinned = True
    method: Callable[..., Any] = operation.__func__.__get__(pinned)     # type: ignore[attr-defined]
    return method


def _replaced(revision: str, detail: str, problem: Optional[Problem] = None) -> Problem:
    """The problem of a batch whose model was replaced between two pieces."""
    fields = {"title": "Precondition failed", "code": "precondition-failed", **(problem.fields if problem else {}),
              "detail": f"the model has been replaced amid the batch, whose first piece had the revision {revision}: {detail}"}
    return Problem(412, fields, problem.request_id if problem else None)


class Whole(Generic[A]):
    """One answer made of those of the pieces. The arrays are allocated once, with the first piece. Unless it may be mixed, all
    pieces must be of one arithmetic class, within which bits are equal."""

    def __init__(self, total: int, mixed_arithmetic: bool = False) -> None:
        self.total, self.mixed_arithmetic = total, mixed_arithmetic
        self._outputs: dict[str, Any] = {}
        self._first: Optional[A] = None

    def add(self, rows: slice, answer: A) -> None:
        if self._first is None:
            self._first = answer
        elif answer.head.arithmetic != self._first.head.arithmetic and not self.mixed_arithmetic:
            raise MixedArithmetic(f"one server has answered in the arithmetic class {self._first.head.arithmetic}, another in "
                                  f"{answer.head.arithmetic}; mixed_arithmetic=True allows it")
        _merge(self._outputs, answer, rows, self.total)

    def answer(self) -> A:
        """After all pieces."""
        if self._first is None:
            raise ValueError("the batch has no rows")
        return type(self._first)(self._outputs, self._first.head)


def is_too_large(problem: Problem, rows: slice) -> bool:
    """True if the piece was refused for its size, and can be divided."""
    return problem.status == 413 and problem.code in TOO_LARGE and rows.stop - rows.start > 1


def _merge(into: dict[str, Any], outputs: Mapping[str, Any], rows: slice, total: int) -> None:
    for name, value in outputs.items():
        if isinstance(value, Answer):
            part = into.setdefault(name, type(value)({}, value.head))
            _merge(part._outputs, value, rows, total)
        elif isinstance(value, Mapping):
            _merge(into.setdefault(name, {}), value, rows, total)
        elif isinstance(value, np.ndarray):
            if name not in into:
                into[name] = np.empty((total, *value.shape[1:]), value.dtype)
            into[name][rows] = value
        elif name in ("errors", "warnings", *LISTS_BY_ROWS) and isinstance(value, list):
            into.setdefault(name, []).extend(value)
        else:
            into.setdefault(name, value)        # one value for all rows


def _moved(entries: list[dict[str, Any]], first_row: int) -> list[dict[str, Any]]:
    """Errors and warnings of a piece, with rows and pointers of the whole batch."""
    moved = []
    for entry in entries:
        new = dict(entry)
        if "row" in entry:
            new["row"] = entry["row"] + first_row
            if "pointer" in entry:
                new["pointer"] = shifted_pointer(entry["pointer"], entry["row"], first_row)
        elif "where" in entry:
            digits = next((part for part in entry["where"].split("/") if part.isdigit()), None)
            if digits is not None and entry["where"].startswith(("/q/", "/guess/")):
                new["where"] = shifted_pointer(entry["where"], int(digits), first_row)
        moved.append(new)
    return moved


def _progress_bar(total: int) -> Any:
    """A bar of tqdm, or None where it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=" states", unit_scale=True)
