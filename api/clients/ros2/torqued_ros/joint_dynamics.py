"""Torques for joint states that come by name. Knows the Python client of torqued, but nothing of ROS."""
import math
from typing import List, NamedTuple, Optional, Sequence

import numpy
import torqued

LONGEST_STEP = 0.5      # s, between two states whose difference of velocities is an acceleration


class Torques(NamedTuple):
    """In the order of `names`, in N m (N for prismatic joints)."""
    names: List[str]
    gravity: List[float]                        # efforts that hold the robot still in this position, springs included
    inverse_dynamics: Optional[List[float]]     # efforts of the motion; None while a velocity or an acceleration is unknown


class JointDynamics:
    """Puts a robot on the server and asks for its torques.

    `client` is a torqued.Client. `model` is the name that the robot gets there; two programs must not share it. `acceleration`:
    "zero" takes the joints to move at constant velocity, "difference" divides the change of their velocities by that of the
    time stamps. A mimic joint follows the joint it names and has no torque of its own.
    """

    def __init__(self, client, model: str, acceleration: str = "zero") -> None:
        if acceleration not in ("zero", "difference"):
            raise ValueError(f"acceleration is {acceleration!r}; it may be 'zero' or 'difference'")
        self._client, self._name, self._acceleration = client, model, acceleration
        self._text = b""
        self._model = None
        self.joints: List[str] = []             # joints whose states are needed, in the order of the model

    def describe(self, urdf: str) -> List[str]:
        """Puts the robot, in place of an earlier one, and returns the remarks of the server's report. Raises torqued.Error if the
        server refuses it, and the earlier robot remains; ValueError for a robot with joints that a joint state cannot
        describe, and there is no robot then."""
        text = urdf.encode()        # bytes: the client would take a text without "<" for the path of a file
        put = self._client.put(self._name, text, mimic="coupled")
        if put.position_names != put.velocity_names:
            self._model = None
            several = sorted(set(put.position_names) ^ set(put.velocity_names))
            raise ValueError(f"joint states have one number for each joint; this robot has {', '.join(several)}")
        self._model = self._client.model(self._name, pinned=True)
        self._text, self.joints = text, list(put.velocity_names)
        self._positions = numpy.full(len(self.joints), numpy.nan)
        self._velocities = numpy.full(len(self.joints), numpy.nan)
        self._last = None       # time and velocities of the last state with all of them
        return [f"{entry['where']}: {entry['text']}" for entry in put.report if entry["severity"] != "info"]

    def missing(self) -> List[str]:
        """The joints whose position is not known yet."""
        return [name for name, position in zip(self.joints, self._positions) if math.isnan(position)]

    def update(self, stamp: float, names: Sequence[str], positions: Sequence[float],
               velocities: Sequence[float] = ()) -> Optional[Torques]:
        """Takes a joint state of the time `stamp` in s: all joints or some, in any order; joints of other robots are passed
        over. Returns the torques once all positions are known. Raises torqued.Error."""
        if self._model is None:
            return None
        if len(positions) != len(names) or len(velocities) not in (0, len(names)):
            raise ValueError(f"{len(names)} names, {len(positions)} positions and {len(velocities)} velocities")
        self._take(names, positions, velocities)
        if self.missing():
            return None
        motion = self._motion(stamp)
        rows = numpy.zeros((3, 1 if motion is None else 2, len(self.joints)))      # q, qd, qdd; the first row is at rest
        rows[0] = self._positions
        if motion is not None:
            rows[1, 1], rows[2, 1] = motion
        tau = self._ask(*rows)
        return Torques(list(self.joints), tau[0].tolist(), None if motion is None else tau[1].tolist())

    def _take(self, names, positions, velocities) -> None:
        index = {name: i for i, name in enumerate(self.joints)}
        for i, name in enumerate(names):
            if name not in index:
                continue
            if math.isfinite(positions[i]):
                self._positions[index[name]] = positions[i]
            if len(velocities) and math.isfinite(velocities[i]):
                self._velocities[index[name]] = velocities[i]

    def _motion(self, stamp: float):
        """Velocities and accelerations, or None while one is unknown."""
        if numpy.isnan(self._velocities).any():
            return None
        velocities = self._velocities.copy()
        last, self._last = self._last, (stamp, velocities)
        if self._acceleration == "zero":
            return velocities, numpy.zeros(len(velocities))
        if last is None or not 0 < stamp - last[0] <= LONGEST_STEP:
            return None
        return velocities, (velocities - last[1]) / (stamp - last[0])

    def _ask(self, q, qd, qdd):
        try:
            return self._model.inverse_dynamics(q, qd=qd, qdd=qdd).tau
        except torqued.Problem as problem:
            if problem.code != "no-such-model":
                raise
        self._client.put(self._name, self._text, mimic="coupled")      # the server was started again without its store
        return self._model.inverse_dynamics(q, qd=qd, qdd=qdd).tau
