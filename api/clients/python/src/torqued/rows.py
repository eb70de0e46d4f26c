"""Find the rows of a batch in the fields of a request, and cut them out; refuse requests whose rows depend on each other."""
from __future__ import annotations

from typing import Any, Iterable, Mapping, Union

import numpy as np

from .arrays import Named, read

# The state, whose tables have named columns.
STATE = ("q", "qd", "qdd", "qddd", "qdddd", "tau", "guess", "weights", "qd_reference", "qdd_reference", "multipliers")
# Number of axes of one row: of a batch there is one more. A mapping holds the fields of an object, under "*" those of any name; a
# list of objects has the fields of each.
Axes = Union[int, Mapping[str, Any]]
_POSE = {"position": 1, "orientation": 1, "direction": 1, "velocity": 1, "acceleration": 1}
_FIELDS: Mapping[str, Axes] = {
    **_POSE, "gravity": 1, "displacement": 1, "q_target": 1, "fraction": 0, "torques": 2, "multipliers_q": 2, "multipliers_qd": 2,
    "platform": _POSE, "parameters": {"*": 1},
    "payload": {"mass": 0, "com": 1, "inertia": {"*": 0}},
    "wrenches": {"force": 1, "torque": 1, "point": 1, "force_rate": 1, "torque_rate": 1},
    "tasks": {**_POSE, "com": 1, "com_velocity": 1},
    "directions": {"q": 2, "qd": 2, "qdd": 2, "tau": 2, "torques": 3},
    "feedback": {"gains": 3, "q": 2, "qd": 2},
    "cost": {"q": 1, "qd": 1, "tau": 1, "final_q": 1, "final_qd": 1, "state_weights": 2, "tau_weights": 2, "final_state_weights": 2,
             "q_reference": 2, "qd_reference": 2, "tau_reference": 2}}
FIELDS: Mapping[str, Axes] = {**_FIELDS, "operations": {"*": _FIELDS}}

NOT_BY_ROWS = ("identify", "trajectory", "trajectory-hessian", "simulate", "path", "path-timing")
OF_ALL_ROWS = ("sum_parameters", "sum_gravity", "least", "least_gradients")     # outputs that a piece of a batch does not have


def refuse_dependent(name: str, fields: Mapping[str, Any]) -> None:
    """Raises ValueError if a row of the answer depends on other rows, or on its place among them. `name`: of the operation."""
    whole = f"call {name} with the whole request"
    if name in NOT_BY_ROWS:
        raise ValueError(f"{name} does not work row by row: {whole}")
    if fields.get("sequence"):
        raise ValueError(f"with sequence each row begins at the row before: {whole}")
    if name == "external-wrench" and fields.get("gain") is not None:
        raise ValueError(f"with gain the rows are samples of one motion: {whole}")
    outputs = fields.get("outputs") or ()
    if name == "configuration" and ("random" in outputs or any(fields.get(field) is not None for field in ("count", "seed", "range"))):
        raise ValueError(f"random positions depend on the number of the row: {whole}")
    for output in outputs:
        if output in OF_ALL_ROWS:
            raise ValueError(f"the output {output} is of all rows together: {whole}")
    for operation, options in (fields.get("operations") or {}).items():
        refuse_dependent(operation, options or {})


def with_arrays(name: str, value: Any) -> Any:
    """Lists and tables of numbers as arrays, so that rows can be counted and cut."""
    if name in STATE and value is not None and not isinstance(value, Mapping):
        return read(value, name)
    if name == "higher_derivatives" and value is not None:
        return [read(vector, name) for vector in value]
    return _map(_array, value, FIELDS.get(name))


def row_counts(fields: Mapping[str, Any]) -> Iterable[int]:
    counts: list[int] = []

    def count(value: Any, axes: int) -> Any:
        if _has_rows(value, axes):
            counts.append(len(_numbers(value)))
        return value

    for name, value in fields.items():
        _each(count, name, value)
        if name == "supports" and value is not None and not isinstance(value, str):
            counts.append(len(value))
    return counts


def cut(name: str, value: Any, rows: slice) -> Any:
    """The field for these rows."""
    if name == "supports" and value is not None and not isinstance(value, str):
        return value[rows]
    return _each(lambda part, axes: part[rows] if _has_rows(part, axes) else part, name, value)


def _each(change: Any, name: str, value: Any) -> Any:
    """The field with the arrays in it that may have rows changed."""
    if name in STATE:
        return change(value, 1)
    if name == "higher_derivatives" and value is not None:
        return [change(vector, 1) for vector in value]
    return _map(change, value, FIELDS.get(name))


def _map(change: Any, value: Any, axes: Any) -> Any:
    if axes is None or value is None:
        return value
    if isinstance(axes, int):
        return value if isinstance(value, (str, Mapping)) else change(value, axes)
    if isinstance(value, Mapping):
        return {key: _map(change, item, axes.get(key, axes.get("*"))) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_map(change, item, axes) if isinstance(item, Mapping) else item for item in value]
    return value


def _array(value: Any, _axes: int) -> Any:
    try:
        array = np.asanyarray(value)
    except ValueError:      # rows of different lengths, which the server refuses by their places
        return value
    return array if array.dtype.kind in "iuf" else value


def _numbers(value: Any) -> Any:
    return value.numbers if isinstance(value, Named) else value


def _has_rows(value: Any, axes: int) -> bool:
    array = _numbers(value)
    return isinstance(array, np.ndarray) and array.ndim == axes + 1
