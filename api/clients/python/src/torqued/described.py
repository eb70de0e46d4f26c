"""Reads the server's description of a model, and converts between names of coordinates and arrays."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from .answers import Array
from .arrays import real
from .contract.fields import ModelFields


class Described:
    """The description of a model, as it was when it was read. `description` has all of it."""

    def __init__(self, description: ModelFields, pinned: bool) -> None:
        self.description, self.pinned = description, pinned

    @property
    def name(self) -> str:
        return self.description["name"]

    @property
    def revision(self) -> str:
        """Hash of the document."""
        return self.description["revision"]

    @property
    def nq(self) -> int:
        """Number of positions."""
        return self.description["nq"]

    @property
    def nv(self) -> int:
        """Number of velocities, accelerations and torques."""
        return self.description["nv"]

    @property
    def position_names(self) -> list[str]:
        return self.description["position_names"]

    @property
    def velocity_names(self) -> list[str]:
        return self.description["velocity_names"]

    @property
    def frames(self) -> list[str]:
        """Frames and links whose poses can be computed."""
        return [frame["name"] for frame in self.description["frames"]]

    @property
    def report(self) -> list[Any]:
        """Parts of the model that were merged, dropped or assumed when the model was put, or look suspicious."""
        return self.description["report"]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.nq} positions, {self.nv} velocities>"

    def positions(self, values: Mapping[str, npt.ArrayLike], default: Optional[float] = None) -> Array:
        """An array of positions from values by name: numbers give one state, columns of equal length a batch.

        `values` may be a table of pandas. A coordinate without a value has the default; without one it is a KeyError.
        """
        return _array(self.position_names, values, default)

    def velocities(self, values: Mapping[str, npt.ArrayLike], default: Optional[float] = None) -> Array:
        """An array of velocities, accelerations or torques from values by name, as positions()."""
        return _array(self.velocity_names, values, default)

    def named_positions(self, array: npt.ArrayLike) -> dict[str, Any]:
        """Positions by name: numbers of one state, columns of a batch."""
        return _named(self.position_names, array)

    def named_velocities(self, array: npt.ArrayLike) -> dict[str, Any]:
        """Velocities, accelerations or torques by name."""
        return _named(self.velocity_names, array)

    def limits(self, quantity: str) -> Array:
        """Limits by joint: "effort" and "velocity" one number, "position" a lowest and a highest; infinite where a joint has
        none. Joints without a coordinate, such as mimic joints, have their entries, too: margins() compares all of them."""
        joints = self.description["joints"]
        if quantity == "position":
            return np.array([joint["limits"].get("position") or (-np.inf, np.inf) for joint in joints], float)
        return np.array([joint["limits"].get(quantity, np.inf) for joint in joints], float)


def _array(names: Sequence[str], values: Mapping[str, npt.ArrayLike], default: Optional[float]) -> Array:
    known = set(names)
    unknown = [name for name in values.keys() if name not in known]
    missing = [name for name in names if name not in values] if default is None else []
    if unknown or missing:
        what = [f"unknown: {', '.join(map(str, unknown))}"] if unknown else []
        what += [f"missing: {', '.join(missing)}"] if missing else []
        raise KeyError("; ".join(what))
    columns = [real(values[name], name).astype(float) if name in values else np.asarray(default, float) for name in names]
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def _named(names: Sequence[str], array: npt.ArrayLike) -> dict[str, Any]:
    columns = np.asanyarray(array)
    if columns.shape[-1:] != (len(names),):
        raise ValueError(f"the array has the shape {columns.shape}; its last axis must have {len(names)} entries")
    return {name: columns[..., i] if columns.ndim > 1 else columns[i] for i, name in enumerate(names)}
