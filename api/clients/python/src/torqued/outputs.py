"""Find the outputs of an answer that have one row for each state or sample, with the names and units of their columns."""
from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional

import numpy as np

from .answers import Array
from .described import Described

ANGULAR = {"q": "rad", "qd": "rad/s", "qdd": "rad/s²", "qddd": "rad/s³", "tau": "N m", "tau_dot": "N m/s", "bias": "N m",
           "position_error": "rad", "velocity_error": "rad/s", "qd_after": "rad/s", "coriolis": "N m", "gravity": "N m",
           "friction": "N m"}       # the outputs with one column for each coordinate
MOTORS = {"motor_tau": "N m", "motor_jumps": ""}    # the outputs with one column for each motor of a transmission
LINEAR = {"rad": "m", "rad/s": "m/s", "rad/s²": "m/s²", "rad/s³": "m/s³", "N m": "N", "N m/s": "N/s"}
OTHERS = {"kinetic": "J", "potential": "J", "actuator_work": "J", "friction_work": "J", "wrench_work": "J", "com": "m"}


def columns(model: Described, outputs: Mapping[str, Any]) -> Iterator[tuple[str, list[str], Array]]:
    """Name of the output, names of its columns, array of rows × columns. Outputs of other shapes are left out."""
    for output, value in outputs.items():
        if not isinstance(value, np.ndarray) or output == "times":
            continue
        if value.ndim == 1:
            yield output, [output], value[:, None]
        elif value.ndim == 2:
            names = _names(model, output, value.shape[1])
            if names is not None:
                yield output, names, value


def _names(model: Described, output: str, count: int) -> Optional[list[str]]:
    if count == model.nq and output == "q":
        return model.position_names
    if count == model.nv and output in ANGULAR:
        return model.velocity_names
    motors = [motor["name"] for one in model.description.get("transmissions", []) for motor in one["motors"]]
    if count == len(motors) and output in MOTORS:
        return motors
    return [f"{output}.{axis}" for axis in "xyz"] if count == 3 else None


def unit(model: Described, output: str) -> str:
    """The unit of an output; both where a model has joints that turn and joints that slide."""
    turning = ANGULAR.get(output) or MOTORS.get(output)
    if not turning:
        return OTHERS.get(output, "")
    kinds = {joint["type"] for joint in model.description["joints"]}
    if model.description["base"] == "fixed" and kinds <= {"revolute", "continuous", "spherical"}:
        return turning
    sliding = model.description["base"] == "fixed" and kinds == {"prismatic"}
    return LINEAR[turning] if sliding else f"{turning}, {LINEAR[turning]}"
