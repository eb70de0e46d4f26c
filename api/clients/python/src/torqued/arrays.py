"""Read arrays and tables of numbers: columns by their names where they have names, and nothing that is no number."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

import numpy as np

if TYPE_CHECKING:
    from .answers import Array
    from .described import Described

POSITIONS = ("q", "control_points")
VELOCITIES = ("qd", "qdd", "qddd", "qdddd", "tau", "weights", "qd_reference", "qdd_reference", "higher_derivatives")


class Named:
    """Numbers with named columns: the last axis of `numbers`, one state or rows of states, has an entry for each name."""

    __slots__ = ("names", "numbers")

    def __init__(self, names: Sequence[str], numbers: Array) -> None:
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"several columns have the name {', '.join(twice)}")
        self.names, self.numbers = names, numbers

    def __getitem__(self, rows: slice) -> Named:
        return Named(self.names, self.numbers[rows])

    def ordered(self, field: str, names: Sequence[str]) -> Array:
        """The columns in the order of `names`, which must be the same names."""
        unknown = [name for name in self.names if name not in names]
        missing = [name for name in names if name not in self.names]
        if unknown or missing:
            what = [f"unknown columns {', '.join(unknown)}"] if unknown else []
            what += [f"missing columns {', '.join(missing)}"] if missing else []
            raise KeyError(f"{field}: {'; '.join(what)}. The columns of a table are named after the coordinates; an array "
                           f"without names, such as table.to_numpy(), is taken in order")
        return self.numbers[..., [self.names.index(name) for name in names]]


def is_masked(array: np.ndarray[Any, Any]) -> bool:
    """True for a masked array with a masked entry."""
    return isinstance(array, np.ma.MaskedArray) and bool(np.ma.getmaskarray(array).any())   # type: ignore[no-untyped-call]


def real(value: Any, what: str) -> Array:
    """`value` as an array of real numbers. Masked entries and everything that is no number are refused: NumPy would send the
    numbers under the mask, read texts, and take None for NaN."""
    array = np.asanyarray(value)
    if is_masked(array):
        raise ValueError(f"{what} has masked entries, and a request cannot leave numbers out; fill them, or drop their rows")
    if array.dtype.kind == "O":
        return _real_objects(np.asarray(array), what)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{what} has the dtype {array.dtype}; expected real numbers")
    return np.asarray(array)


def _real_objects(array: np.ndarray[Any, Any], what: str) -> Array:
    for place, entry in np.ndenumerate(array):
        if not isinstance(entry, numbers.Real) or isinstance(entry, (bool, np.bool_)):
            raise TypeError(f"{what} has the dtype object, and its entry {list(place)} is {entry!r} of the type "
                            f"{type(entry).__name__}; expected real numbers")
    return array.astype(float)


def read(value: Any, what: str) -> Any:
    """An array of numbers, or Named numbers if `value` is a table with named columns: a table of pandas or of the same form, a
    series with named entries, a structured array, an array of xarray with a named axis, or a list of these."""
    if isinstance(value, (list, tuple)) and value and _names(value[0]) is not None:
        rows = [read(row, what) for row in value]
        if not all(isinstance(row, Named) for row in rows):
            raise TypeError(f"{what}: either all rows have named entries or none")
        return Named(rows[0].names, np.stack([row.ordered(what, rows[0].names) for row in rows]))
    names = _names(value)
    if names is None:
        return real(value, what)
    labels = [label for label in names if not isinstance(label, str)]
    if labels:
        raise TypeError(f"{what} has the label {labels[0]!r}; expected names of coordinates as labels, or none")
    return Named(list(names), _columns(value, what))


def _names(value: Any) -> Optional[Sequence[Any]]:
    """The labels of the last axis; None if it has none. The columns 0, 1, 2 … of a table of pandas are no names, and a series
    whose labels are not all texts is a column of numbers."""
    if isinstance(value, (np.ndarray, np.void)):
        return list(value.dtype.names) if value.dtype.names else None
    if hasattr(value, "dims") and hasattr(value, "coords"):     # an array of xarray
        axis = _named_axis(value)
        return None if axis is None else list(np.asarray(value.coords[axis]).tolist())
    if hasattr(value, "columns"):       # a table
        labels = list(value.columns)
        return None if labels == list(range(len(labels))) else labels
    if hasattr(value, "dtype") and hasattr(value, "index") and not callable(value.index):   # a series
        labels = list(value.index)
        return labels if labels and all(isinstance(label, str) for label in labels) else None
    return None


def _named_axis(value: Any) -> Optional[Any]:
    """The one axis of an array of xarray whose places have names."""
    axes = [axis for axis in value.dims if axis in value.coords and np.asarray(value.coords[axis]).dtype.kind in "OU"]
    if len(axes) > 1:
        raise TypeError(f"several axes have names: {', '.join(map(str, axes))}; expected those of coordinates alone")
    return axes[0] if axes else None


def _columns(value: Any, what: str) -> Array:
    """The numbers of a table with names; the named axis is the last."""
    if isinstance(value, (np.ndarray, np.void)):
        return np.stack([real(value[name], f"{what}, column {name}") for name in value.dtype.names or ()], axis=-1)
    if hasattr(value, "dims"):
        return np.moveaxis(real(value, what), value.dims.index(_named_axis(value)), -1)
    if not hasattr(value, "columns"):
        return real(value, what)
    table = np.asarray(value)
    return np.stack([real(table[:, i], f"{what}, column {name}") for i, name in enumerate(value.columns)], axis=-1)


def in_order(model: Described, request: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The fields of a request with their columns in the order of the model's coordinates, or of the field `joints`; and whether
    any were named."""
    fields, named = dict(request), False
    for field, value in request.items():
        if value is None or isinstance(value, (str, bool, int, float, Mapping)) or _is_plain(value):
            continue
        if field == "higher_derivatives":
            read_value: Any = [_coordinates(model, request, field, vector) for vector in value]
            named = named or any(_names(vector) is not None for vector in value)
        else:
            read_value = _coordinates(model, request, field, value)
            named = named or isinstance(value, Named) or has_names(value)
        fields[field] = read_value
    return fields, named


def _coordinates(model: Described, request: Mapping[str, Any], field: str, value: Any) -> Any:
    """One field, or one vector of it."""
    if not (isinstance(value, Named) or has_names(value)):
        return real(value, field) if field in POSITIONS + VELOCITIES and hasattr(value, "dtype") else value
    table = value if isinstance(value, Named) else read(value, field)
    if field not in POSITIONS + VELOCITIES + ("guess",):
        raise TypeError(f"{field} is no field of coordinates and takes no columns by name; give an array")
    if not isinstance(table, Named):
        return table
    if field == "guess":
        return table.ordered(field, model.description["passive_names"])
    joints = request.get("joints")
    return table.ordered(field, list(joints) if joints is not None
                         else model.position_names if field in POSITIONS else model.velocity_names)


def _is_plain(value: Any) -> bool:
    """Arrays of floats, and lists that begin with a number, need no reading."""
    if type(value) is np.ndarray:
        return bool(value.dtype.kind == "f")
    return isinstance(value, (list, tuple)) and (not value or isinstance(value[0], (str, int, float, Mapping)))


def has_names(value: Any) -> bool:
    """True if the columns of an array or table, or of all tables of a list, have names."""
    if isinstance(value, (list, tuple)):
        return any(has_names(row) for row in value[:1])
    return _names(value) is not None
