"""Give the outputs of an answer as attributes and as a mapping."""
from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Iterator, Mapping, Optional, Type, TypeVar, Union

import numpy as np
import numpy.typing as npt

from .errors import BadAnswer
from .http import http1

Array = npt.NDArray[np.float64]
Scalar = Union[float, Array]                                    # float for one state, array for a batch
Coordinates = Union[npt.ArrayLike, Mapping[str, float]]         # in order, or by name


@dataclass(frozen=True)
class Head:
    """Metadata of an answer, from its HTTP headers."""

    request_id: Optional[str]
    revision: Optional[str]         # revision of the model that was evaluated
    arithmetic: Optional[str]       # fused or unfused


class Answer(Mapping[str, Any]):
    """Outputs by name: `answer.tau` and `answer["tau"]` are the same array. `head` is what the answer's head says."""

    __slots__ = ("_outputs", "head")
    _nested: ClassVar[Mapping[str, Type[Answer]]] = {}      # the operations in an answer of evaluate
    _outputs: Mapping[str, Any]
    head: Head

    def __init__(self, outputs: Mapping[str, Any], head: Head) -> None:
        wrapped = {name: kind(outputs[name], head) for name, kind in self._nested.items()
                   if isinstance(outputs.get(name), Mapping)}
        self._outputs = {**outputs, **wrapped} if wrapped else outputs
        self.head = head

    def __getitem__(self, name: str) -> Any:
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    __eq__ = object.__eq__      # arrays have no single truth of equality
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "head":
            raise AttributeError(name)
        for key in (name, name.replace("_", "-")):
            if key in self._outputs:
                return self._outputs[key]
        raise AttributeError(f"the answer has {', '.join(self._outputs) or 'nothing'}, not {name}; `outputs` chooses")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.replace("-", "_") for name in self._outputs)]

    def __repr__(self) -> str:
        parts = (f"{name}={_brief(value)}" for name, value in self._outputs.items())
        return f"{type(self).__name__}({', '.join(parts)})"


A = TypeVar("A", bound=Answer)


class SuspiciousFigures(UserWarning):
    """Figures of a request look like degrees or millimetres; they were used as they are."""


def answer_of(kind: Type[A], outputs: Any, response: http1.Response) -> A:
    """The answer in a response. Warns, at the line that called the operation, of figures that the server finds suspicious."""
    if not isinstance(outputs, Mapping):
        raise BadAnswer(f"the answer is no object of outputs, but {type(outputs).__name__}")
    for entry in outputs.get("warnings", ()):
        warnings.warn(f"{entry['where']}: {entry['text']}", SuspiciousFigures, stacklevel=4)
    return kind(outputs, Head(response.field("Request-Id"), response.field("Model-Revision"), response.field("Arithmetic")))


def _brief(value: Any) -> str:
    """Arrays of more than a few numbers by their shape."""
    if isinstance(value, np.ndarray) and value.size > 12:
        return f"<{' × '.join(map(str, value.shape))} numbers>"
    return repr(value)
