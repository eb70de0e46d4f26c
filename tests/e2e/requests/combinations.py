"""Features of models and requests that can be combined at will. Builds documents, states and requests with any set of
them. No length, mass, ratio or offset is 0, 1 or equal to another, and each combination has its own numbers."""
import math
import zlib

import numpy as np
from multibody import Multibody, with_payload, with_wrench
from samples import body
from tree_kinematics import from_rpy

MODEL_FEATURES = ("mimic", "loop", "elastic", "damped", "transmission", "viscous", "coulomb", "smooth", "stribeck", "load", "compensated", "floating")
REQUEST_FEATURES = ("payload", "wrenches", "held", "free", "permuted", "failing", "batch")
FEATURES = MODEL_FEATURES + REQUEST_FEATURES
ROWS = 3
FAILING = 1  # index of the row that fails

SIGNED = {"multiplier", "offset", "rest", "com", "xyz", "rpy", "axis", "gravity", "matrix", "force", "torque", "point"}
LIMITS = {"position": [-2.2, 2.6], "velocity": 2.3, "effort": 37, "effort_rate": 310}
PAYLOAD = {"link": "hand", "mass": 0.7, "com": [0.03, -0.02, 0.11],
           "inertia": {"xx": 0.011, "yy": 0.013, "zz": 0.017, "xy": 0.001, "xz": -0.002, "yz": 0.003}}
WRENCHES = [{"link": "fore", "force": [3, -2, 5], "torque": [0.7, 0.2, -0.4], "point": [0.1, 0.03, 0.2]},
            {"link": "tool", "force": [-1, 4, 2], "torque": [0.3, -0.6, 0.5], "point": [0.02, -0.05, 0.01], "frame": "link"}]
HELD = [{"frame": "tool", "axes": ["ry", "x"]}, {"frame": "fore", "axes": ["rz"], "reference": "frame"}]


def source(*names):
    """Returns a random generator whose seed is the hash of these names."""
    return np.random.default_rng(zlib.crc32("+".join(names).encode()))


def varied(value, choose, signed=False):
    """Copies a value and multiplies every number by a random factor, at most one seventh away from 1. Entries of one inertia get the same
    factor. With `signed`, numbers that may be negative may also change their sign."""
    if isinstance(value, dict) and "xx" in value:
        factor = choose.uniform(0.87, 1.14)
        return {key: factor * entry for key, entry in value.items()}
    if isinstance(value, dict):
        return {key: varied(entry, choose, key in SIGNED) for key, entry in value.items()}
    if isinstance(value, list):
        return [varied(entry, choose, signed) for entry in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return value * choose.uniform(0.87, 1.14) * (-1 if signed and choose.random() < 0.3 else 1)


def joint(name, kind, axis, xyz, rpy, **more):
    return {"name": name, "type": kind, "axis": axis, "origin": {"xyz": xyz, "rpy": rpy}, "limits": LIMITS, **more}


def arm():
    """Returns four links whose joints differ in type, origin and axis."""
    return [
        {"name": "upper", "parent": "trunk", "inertial": body(2.3, (0.02, 0.01, 0.15), 0.05, 0.04, 0.03),
         "joint": joint("shoulder", "revolute", [0.3, 0.9, 0.2], [0.12, 0.07, 0.31], [0.1, -0.2, 0.3])},
        {"name": "fore", "parent": "upper", "inertial": body(1.4, (0.03, -0.04, 0.12)),
         "joint": joint("elbow", "revolute", [1, 2, -1], [0.02, 0.05, 0.37], [-0.4, 0.2, 0.6], rotor_inertia=0.06,
                        spring={"stiffness": 7, "damping": 0.3, "rest": 0.2, "stiffness_polynomial": [-1.5, 2.5]})},
        {"name": "slider", "parent": "fore", "inertial": body(0.9, (0.01, 0.02, 0.05)),
         "joint": joint("slide", "prismatic", [0.2, 0.1, 0.7], [0.04, -0.03, 0.21], [0.5, 0.1, -0.7])},
        {"name": "hand", "parent": "slider", "inertial": body(0.6, (-0.02, 0.03, 0.06), 0.003, 0.004, 0.005, 0.0004, -0.0003, 0.0002),
         "joint": joint("wrist", "revolute", [0.8, -0.3, 0.4], [0.03, 0.06, 0.13], [0.3, -0.5, 0.2])}]


def four_bar(choose):
    """Returns a crank with two passive links, closed to a four-bar loop by a revolute joint; in the reference configuration the crank is at 0.7
    rad."""
    (a, b, c, d), crank = np.array([0.15, 0.45, 0.3, 0.4]) * choose.uniform(0.92, 1.08, 4), 0.7
    x, y = a * math.cos(crank), a * math.sin(crank)
    r, toward = math.hypot(d - x, y), math.atan2(-y, d - x)
    coupler = toward + math.acos((b * b + r * r - c * c) / (2 * b * r))
    rocker = math.atan2(y + b * math.sin(coupler), x + b * math.cos(coupler) - d)
    turn = choose.uniform(-1, 1, 3)  # rotation of the axes of the pinned frames, rad
    z = lambda name, xyz, **more: {"name": name, "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": xyz}, **more}
    return [
        {"name": "mount", "parent": "upper", "joint": {"name": "bolt", "type": "fixed", "origin": {"xyz": [0.06, -0.11, 0.08], "rpy": [0.7, 0.2, -0.3]}},
         "inertial": body(0.3, (0.01, 0.04, 0.02), 0.002, 0.003, 0.004, 0.0001, 0.0002, 0.0003)},
        {"name": "crank", "parent": "mount", "joint": z("crank", [0, 0, 0.02], home=crank, limits=LIMITS), "inertial": body(0.5, (0.07, 0.01, 0.02), 0.002, 0.003, 0.004, 0, 0, 0)},
        {"name": "coupler", "parent": "crank", "joint": z("coupler", [a, 0, 0], actuated=False, home=coupler - crank),
         "inertial": body(0.8, (0.2, 0.02, 0.01), 0.002, 0.013, 0.014, 0, 0, 0)},
        {"name": "rocker", "parent": "mount", "joint": z("rocker", [d, 0, 0.02], actuated=False, home=rocker),
         "inertial": body(0.4, (0.13, 0.03, -0.01), 0.001, 0.007, 0.006, 0, 0, 0)}], [
        {"name": "coupler_end", "link": "coupler", "xyz": [b, 0, 0], "rpy": turn.tolist()},
        {"name": "rocker_end", "link": "rocker", "xyz": [c, 0, 0], "rpy": turn.tolist()}], [
        {"name": "pin", "frame_a": "coupler_end", "frame_b": "rocker_end", "type": "revolute", "axis": from_rpy(turn)[2].tolist()}]


def implied(features):
    """Returns the features together with the features that they require: damping of a joint's spring needs an elastic joint."""
    return {*features, "elastic"} if "damped" in features else set(features)


def document(features):
    features = [feature for feature in MODEL_FEATURES if feature in implied(features)]
    choose = source(*features)
    links, frames = arm(), [{"name": "tool", "link": "hand", "xyz": [0.04, 0.05, 0.17], "rpy": [0.3, 0.2, -0.4]}]
    shoulder, elbow, slide, wrist = (link["joint"] for link in links)
    made = {"base": {"link": "trunk"}, "gravity": [0.4, -0.3, -9.7], "links": links, "frames": frames}
    if "mimic" in features:
        links.append({"name": "finger", "parent": "hand", "inertial": body(0.2, (0.03, 0.01, 0.04), 0.0007, 0.0005, 0.0004, 0, 0, 0),
                      "joint": {**joint("finger", "revolute", [0.1, 0.5, 0.3], [0.02, -0.04, 0.07], [0.2, 0.3, 0.1]),
                                "mimic": {"joint": "wrist", "multiplier": -0.7, "offset": 0.35}}})
    if "elastic" in features:
        elbow["elastic"] = {"stiffness": 83, "rest": 0.12}
    if "damped" in features:
        elbow["elastic"]["damping"] = 6.5
    if "transmission" in features:
        made["transmissions"] = [{"joints": ["wrist", "shoulder"], "matrix": [[0.21, -0.13], [0.08, 0.17]], "motors": [
            {"name": "first", "rotor_inertia": 0.0013, "friction": {"viscous": 0.004}},
            {"name": "second", "rotor_inertia": 0.0021, "friction": {"viscous": 0.007}}]}]
    add_friction(features, shoulder, slide, wrist)
    if "floating" in features:
        made["base"] = {"type": "floating", "link": "trunk", "inertial": body(8.5, (0.01, -0.02, 0.1), 0.2, 0.25, 0.15)}
        frames += [{"name": "left", "link": "trunk", "xyz": [0.2, 0.3, -0.9]}, {"name": "right", "link": "trunk", "xyz": [0.1, -0.35, -0.85]}]
    if "compensated" in features:
        for link, share in zip(links, (0.3, 0.85, 1.2, -0.4, 0.7)):
            link["gravity_compensation"] = share
        if "floating" in features:
            made["base"]["gravity_compensation"] = 0.55
    made = varied(made, choose)
    if "loop" in features:
        more, ends, made["loops"] = four_bar(choose)
        if "viscous" in features:
            more[2]["joint"]["friction"] = {"viscous": choose.uniform(0.02, 0.05)}
        if "compensated" in features:
            more[0]["gravity_compensation"] = made["links"][0]["gravity_compensation"]  # the mount is fixed to the upper arm
            more[2]["gravity_compensation"] = 0.62
        for link in more:
            link["inertial"] = varied(link["inertial"], choose)
        made["links"] += more
        made["frames"] += ends
    return made


def add_friction(features, shoulder, slide, wrist):
    friction = {}
    if "viscous" in features:
        friction["viscous"] = 0.45
    if "coulomb" in features:
        friction["coulomb"] = {"positive": 0.65, "negative": 0.85}
    if "load" in features:
        friction["load"] = 0.16
    if friction:
        shoulder["friction"] = friction
    if "smooth" in features:
        wrist["friction"] = {"coulomb": {"positive": 0.55, "negative": 0.35}, "coulomb_velocity": 0.42}
    if "stribeck" in features:
        slide["friction"] = {"coulomb": {"positive": 0.25, "negative": 0.75}, "breakaway": {"positive": 0.95, "negative": 1.15},
                             "stribeck_velocity": 0.62}


class Case:
    """A combination of features: the model with its reference, random states, and the fields that features add to
    requests."""

    def __init__(self, name, features, names):
        self.name, self.names = name, names
        self.features = frozenset(implied(features))
        self.document = document(self.features)
        self.robot = Multibody(self.document)
        self.rows = ROWS if self.has("batch") or self.has("failing") else 1
        self.nv = self.robot.nv
        self.floating = self.has("floating")
        self.nq = self.nv + self.floating
        choose = source(*sorted(self.features))
        self.payload, self.wrenches = varied(PAYLOAD, choose), varied(WRENCHES, choose)
        if self.has("payload"):
            with_payload(self.robot, self.payload)
        if self.has("wrenches"):
            for wrench in self.wrenches:
                with_wrench(self.robot, wrench)
        draw = lambda size, least=0.0: choose.choice([-1, 1], (self.rows, self.nv)) * choose.uniform(least, size, (self.rows, self.nv))
        self.q = self.positions(choose)
        self.qd, self.qdd, self.qddd, self.qdddd = draw(1.4, 0.5), draw(3), draw(5), draw(7)
        self.multipliers, self.other = draw(2), draw(3)
        self.free = [self.names[-2 if self.has("elastic") else -1]]
        self.loose = np.array([name in self.free for name in names])
        self.order = self.drawn_order(choose)

    def has(self, feature):
        return feature in self.features

    def positions(self, choose):
        q = choose.uniform(-1, 1, (self.rows, self.nq))
        if self.floating:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
            q[:, 3:7] *= np.where(q[:, 6:7] < 0, -1, 1)
        if self.has("loop"):
            column = self.names.index("crank") + self.floating
            q[:, column] = 0.7 + 0.6 * q[:, column]
        return q

    def drawn_order(self, choose):
        """Returns the model's coordinates in the order of the request; those of a floating base come first."""
        first = 6 if self.floating else 0
        if not self.has("permuted"):
            return np.arange(self.nv)
        order = choose.permutation(np.arange(first, self.nv))
        return np.concatenate([np.arange(first), np.roll(order, 1) if np.all(order == np.arange(first, self.nv)) else order])

    def state(self, q=None, qd=None):
        return self.robot.state(self.q if q is None else q, self.qd if qd is None else qd)

    # --- requests -------------------------------------------------------------------------------------------------

    def axis(self, values, kind):
        """Reorders the last axis to the order of the request."""
        values = np.array(values, float)
        if kind == "v":
            values = values[..., self.order]
        elif kind == "q":
            first = self.nq - self.nv
            joints = np.concatenate([np.arange(6 + first), self.order[6:] + first]) if first else self.order
            values = values[..., joints]
        return values

    def field(self, values, kind="v"):
        values = self.axis(values, kind)
        return (values[0] if self.rows == 1 else values).tolist()

    def positions_field(self):
        q = self.q.copy()
        if self.has("failing"):
            q[FAILING, self.nq - self.nv + (6 if self.floating else 0)] = 1e12
        return self.field(q, "q")

    def around(self):
        """Returns the fields that the features add to a request, besides q, qd, qdd and tau."""
        more = {}
        if self.has("payload"):
            more["payload"] = self.payload
        if self.has("wrenches"):
            more["wrenches"] = self.wrenches
        if self.has("held"):
            more["held"] = HELD
        if self.has("free"):
            more["free"] = self.free
        if self.has("permuted"):
            more["joints"] = [self.names[i] for i in self.order]
        if self.has("failing"):
            more["on_error"] = "row"
        return more

    # --- answers --------------------------------------------------------------------------------------------------

    def taken(self, answer, name, kind=""):
        """Returns an output with rows on the first axis and the model's order on its last axes. `kind` names these
        axes: v velocities, q positions, x state (positions and velocities), `.` any other."""
        values = np.array(answer[name], float) if self.rows == 1 else np.array(
            [np.full(np.shape(answer[name][0]), np.nan) if row is None else row for row in answer[name]], float)
        if self.rows == 1:
            values = values[None]
        first = self.nq - self.nv
        back = np.argsort(self.order)
        for i, axis in enumerate(reversed(kind), 1):
            index = {"v": back, "x": np.concatenate([back, self.nv + back]), ".": None,
                     "q": np.concatenate([np.arange(6 + first), back[6:] + first]) if first else back}[axis]
            if index is not None:
                values = np.take(values, index, values.ndim - i)
        return values

    def good(self):
        """Returns the indices of the rows that do not fail."""
        return [row for row in range(self.rows) if not (self.has("failing") and row == FAILING)]
