"""The nonlinear program of a point-to-point motion, with values and gradients from the server's `trajectory`.

Variables   x = [free control points, T]
minimise    int_0^T (1 - u) + u |tau|^2 dt                        (u = 0: the least time)
subject to  |tau| <= effort, |tau_dot| <= rate                     at nodes (fractions of T)
            |qd| <= velocity, position between its limits          on control points, so at every instant

The gradients of torques with respect to control points and duration are Barman 2020, eq. 4.15, evaluated by the server:
nothing here knows what moves.
"""
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Limits:
    """Symmetric limits of torque, torque rate and velocity and a range of positions; nv entries each, infinite where
    there is none."""
    effort: np.ndarray
    rate: np.ndarray
    velocity: np.ndarray
    position: np.ndarray

    @classmethod
    def published(cls, model, rate=np.inf):
        """The limits in the server's description of a model, without those of torque rates. Limits of mimic joints narrow
        those of their leaders. Raises ValueError for limits that are no limits of coordinates."""
        joints = {joint["name"]: joint.get("limits", {}) for joint in model["joints"]}
        mine = [joints[name] for name in model["velocity_names"]]
        limits = cls(np.array([limits.get("effort", np.inf) for limits in mine], float),
                     np.full(len(mine), float(rate)),
                     np.array([limits.get("velocity", np.inf) for limits in mine], float),
                     np.array([limits.get("position", (-np.inf, np.inf)) for limits in mine], float))
        for joint in model["joints"]:
            if joint["name"] not in model["velocity_names"] and joint["limits"]:
                limits._narrow(model["velocity_names"], joint)
        return limits

    def _narrow(self, names, joint):
        """Adds the limits of a joint that is no coordinate: its position is multiplier q + offset."""
        kinds, mimic = joint["limits"].keys(), joint.get("mimic")
        if not mimic or mimic["joint"] not in names or kinds - {"position", "velocity"}:
            raise ValueError(f"limits of {joint['name']} ({', '.join(kinds)}) are no limits of one coordinate: margins and "
                             "trajectory compare them with their gradients")
        leader, multiplier, offset = names.index(mimic["joint"]), mimic["multiplier"], mimic["offset"]
        low, high = sorted((bound - offset) / multiplier for bound in joint["limits"].get("position", (-np.inf, np.inf)))
        self.position[leader] = max(self.position[leader, 0], low), min(self.position[leader, 1], high)
        self.velocity[leader] = min(self.velocity[leader], joint["limits"].get("velocity", np.inf) / abs(multiplier))

    def of_torques(self):
        """The limits that are checked at nodes: name of the server's output, limit."""
        named = (("tau", self.effort), ("tau_dot", self.rate))
        return [(name, limit) for name, limit in named if np.isfinite(limit).any()]


class Problem:
    """One nonlinear program: `motion` gives degree, knots, ends and the start; `rest` points at each end are fixed."""

    def __init__(self, service, model, motion, limits, rest, effort=0.0, samples=5, margin=0.0):
        self.service, self.model, self.motion, self.limits, self.rest = service, model, motion, limits, rest
        self.effort, self.samples, self.margin = effort, samples, margin
        if not np.isfinite(limits.effort).any():
            raise ValueError(f"{model}: no joint has a limit of its effort")
        self.fractions, self.weights = lobatto(motion.spans, samples)
        self._cached = None

    def on(self, motion):
        """The same problem for another motion, on its knots."""
        return Problem(self.service, self.model, motion, self.limits, self.rest, self.effort, self.samples, self.margin)

    def add_nodes(self, fractions):
        """Checks torques at these fractions of the duration, too, with weight zero in the integral."""
        together = np.concatenate([self.fractions, fractions])
        order = np.argsort(together, kind="stable")
        self.fractions = together[order]
        self.weights = np.concatenate([self.weights, np.zeros(len(fractions))])[order]
        self._cached = None

    def pack(self):
        """The variables of the motion."""
        return np.append(self.motion.points[self.rest:-self.rest].ravel(), self.motion.duration)

    def unpack(self, x):
        """The motion of these variables."""
        points = self.motion.points.copy()
        points[self.rest:-self.rest] = x[:-1].reshape(-1, points.shape[1])
        return replace(self.motion, points=points, duration=float(x[-1]))

    def bounds(self):
        """Bounds of the variables. The lowest duration keeps a step too far from reaching zero."""
        free = len(self.motion.points) - 2 * self.rest
        return [tuple(limits) for limits in self.limits.position] * free + [(1e-2 * self.motion.duration, np.inf)]

    def evaluate(self, x):
        """{"tau": (values nodes x nv, gradients nodes x nv x variables), "tau_dot": …} by one request."""
        key = x.tobytes()
        if self._cached is None or self._cached[0] != key:
            names = [name for name, _ in self.limits.of_torques()]
            outputs = [text for name in names for text in (name, f"d{name}_dcontrol_points", f"d{name}_dduration")]
            motion = self.unpack(x)
            answer = self.service.ask(self.model, "trajectory", motion.request(self.fractions, outputs))
            self._cached = key, {name: (answer[name], self._gradient(answer, name)) for name in names}
        return self._cached[1]

    def _gradient(self, answer, name):
        """With respect to the variables, from the bands of degree + 1 control points that the server answers."""
        bands = answer[f"d{name}_dcontrol_points"]
        first = answer["first_control_point"].astype(int)
        nodes, nv, width, _ = bands.shape
        full = np.zeros((nodes, len(self.motion.points), nv, nv))
        full[np.arange(nodes)[:, None], first[:, None] + np.arange(width)] = bands.swapaxes(1, 2)
        free = full[:, self.rest:-self.rest].swapaxes(1, 2).reshape(nodes, nv, -1)
        return np.concatenate([free, answer[f"d{name}_dduration"][:, :, None]], axis=2)

    def objective(self, x):
        """(1 - u) T + u T sum_n w_n |tau_n|^2, and its gradient."""
        value, gradient = (1 - self.effort) * x[-1], np.zeros(len(x))
        gradient[-1] = 1 - self.effort
        if self.effort:
            tau, slope = self.evaluate(x)["tau"]
            mean = self.weights @ (tau ** 2).sum(axis=1)
            value += self.effort * x[-1] * mean
            gradient += 2 * self.effort * x[-1] * np.einsum("n,nj,njv->v", self.weights, tau, slope)
            gradient[-1] += self.effort * mean
        return value, gradient

    def torque_constraints(self, x):
        """limit - |value| >= 0 at all nodes, in parts of the limit; and the gradients."""
        values, gradients = [], []
        evaluated = self.evaluate(x)
        for name, limit in self.limits.of_torques():
            limited = np.isfinite(limit)
            value, slope = (part[:, limited] / limit[limited].reshape((-1,) + (1,) * i)
                            for i, part in enumerate(evaluated[name]))
            for sign in (1, -1):
                values.append((1 - self.margin - sign * value).ravel())
                gradients.append((-sign * slope).reshape(-1, len(x)))
        return np.concatenate(values), np.concatenate(gradients)

    def velocity_constraints(self):
        """A, b such that A x + b >= 0 keeps velocities within limits: T - |V c| / limit >= 0, linear in x."""
        limited = np.isfinite(self.limits.velocity)
        rates = self.motion.velocity_matrix()
        nv, m = len(limited), len(self.motion.points)
        # rows: one for each control point of qd and limited joint; columns: all control points
        full = np.einsum("ri,jk->rjik", rates, np.diag(1 / self.limits.velocity)[limited])
        fixed = np.ones(m, bool)
        fixed[self.rest:-self.rest] = False
        rows = full.shape[0] * full.shape[1]
        free = full[:, :, ~fixed].reshape(rows, nv * (m - 2 * self.rest))
        held = full[:, :, fixed].reshape(rows, nv * 2 * self.rest) @ self.motion.points[fixed].ravel()
        matrix = np.concatenate([-free, free])
        return np.hstack([matrix, np.ones((len(matrix), 1))]), np.concatenate([-held, held])


def lobatto(spans, count):
    """Fractions and weights of Gauss-Lobatto quadrature on every span. Knots are among them, once."""
    inner = np.polynomial.legendre.Legendre.basis(count - 1)
    points = np.concatenate([[-1], inner.deriv().roots(), [1]])
    weights = 2 / (count * (count - 1) * inner(points) ** 2)
    fractions, total = [spans[:1]], np.zeros(1)
    for low, high in zip(spans[:-1], spans[1:]):
        at = low + (high - low) * (points[1:] + 1) / 2
        at[-1] = high
        fractions.append(at)
        total[-1] += weights[0] * (high - low) / 2
        total = np.concatenate([total, weights[1:] * (high - low) / 2])
    return np.concatenate(fractions), total
