"""Constraints on the postures of a step: contacts, clearance, limits, knee, arms (Barman 2020, eq. 5.2, 5.4, 5.6, 5.7, 5.9, 5.10).

Every class here gives rows(state): values and gradients by the variables, and adds its curvature to a Curvature.
"""
from dataclasses import dataclass

import numpy as np

from schedule import SOLE
from walker import SIDES

RADII = 0.03 + 0.10         # m, of the spheres at wrist and hip
KNEE = np.radians([55, 65])
SINK = 0.005                # m, most that a sole sinks in between the instants at which contacts are enforced


@dataclass
class State:
    """The motion at all instants: states 3 x N x coordinates; positions and Jacobians of points as in Walker.kinematics."""
    x: np.ndarray
    states: np.ndarray
    p: np.ndarray
    jacobian: np.ndarray
    grounds: list = None

    @property
    def slope(self):
        """Jacobians of positions."""
        return self.jacobian[:, :, :3]


class Curvature:
    """Collects the second derivatives by q of a sum of constraints on points, each times minus its multiplier.

    The second derivative of a point's position is w_i x J_j for coordinates i before j in the tree: w_i is the axis of
    coordinate i in the point's angular Jacobian (zero where i does not move the point), J_j the column of the linear one.
    """

    def __init__(self, state):
        self.jacobian = state.jacobian
        instants, points, _, coordinates = state.jacobian.shape
        self.on_points = np.zeros((instants, points, 3))
        self.other = np.zeros((instants, coordinates, coordinates))

    def semidefinite(self):
        """The matrices of all instants without their negative eigenvalues."""
        linear, axes = self.jacobian[:, :, :3], self.jacobian[:, :, 3:]
        instants, _, coordinates = self.other.shape
        turned = np.cross(self.on_points[..., None], axes, axis=2).reshape(instants, -1, coordinates)
        products = turned.swapaxes(1, 2) @ linear.reshape(instants, -1, coordinates)
        values, vectors = np.linalg.eigh(self.other + np.triu(products) + np.triu(products, 1).swapaxes(1, 2))
        return (vectors * np.maximum(values, 0)[:, None]) @ vectors.swapaxes(1, 2)


class Limits:
    """Position limits on all control points: a spline lies in their convex hull, so they hold at every instant."""

    def __init__(self, walker, step):
        low, high = walker.position.T
        zero = step.control_points(np.zeros(step.size))
        matrix = np.array([step.control_points(row) - zero for row in np.eye(step.size)]).transpose(2, 1, 0)
        limited = np.isfinite(low)
        matrix = matrix[limited].reshape(-1, step.size)
        low, high, zero = (np.broadcast_to(part, zero.shape).T[limited].ravel() for part in (low, high, zero))
        self.matrix, self.offset = np.concatenate([matrix, -matrix]), np.concatenate([zero - low, high - zero])

    def rows(self, state):
        return self.matrix @ state.x + self.offset, self.matrix

    def add_curvature(self, state, multipliers, curvature):
        """None: the rows are linear."""


class Contacts:
    """Equality constraints: foot points on the ground stay at the places of the schedule, and points of a pair coincide."""

    def __init__(self, walker, step, schedule):
        self.step, rows = step, []
        for instant, side, parts in schedule.held():
            for name, axes in parts:
                first, _, second = name.partition(" ")
                point = walker.index[f"{side}_{first}"]
                other = walker.index[f"{side}_{second}"] if second else -1
                for axis in axes:
                    place = 0.0 if second else schedule.place(side, first)["xyz".index(axis)]
                    rows.append((instant, point, other, "xyz".index(axis), place))
        self.instants, self.points, self.others, self.axes = (np.array(column) for column in list(zip(*rows))[:4])
        self.places = np.array([row[4] for row in rows])
        self.paired = self.others >= 0

    def rows(self, state):
        value = state.p[self.instants, self.points, self.axes] - self.places
        slope = state.slope[self.instants, self.points, self.axes]
        other = self.instants[self.paired], self.others[self.paired], self.axes[self.paired]
        value[self.paired] -= state.p[other]
        slope[self.paired] -= state.slope[other]
        return value, self.step.pull_back([slope[:, None]], self.instants)

    def add_curvature(self, state, multipliers, curvature):
        np.add.at(curvature.on_points, (self.instants, self.points, self.axes), -multipliers)
        other = self.instants[self.paired], self.others[self.paired], self.axes[self.paired]
        np.add.at(curvature.on_points, other, multipliers[self.paired])


class Clearance:
    """No point of a sole is below the ground; those in contact sink in by SINK at most."""

    def __init__(self, walker, step, schedule):
        self.step, rows = step, []
        enforced = {(instant, side) for instant, side, _ in schedule.held()}
        for instant in range(len(schedule.fractions)):
            touching = schedule.touching(instant)
            for side in SIDES:
                for name in SOLE:
                    rests = f"{side}_{name}" in touching
                    if not (rests and (instant, side) in enforced):
                        rows.append((instant, walker.index[f"{side}_{name}"], SINK if rests else 0.0))
        self.instants, self.points, self.sink = (np.array(column) for column in zip(*rows))

    def rows(self, state):
        slope = state.slope[self.instants, self.points, 2]
        return state.p[self.instants, self.points, 2] + self.sink, self.step.pull_back([slope[:, None]], self.instants)

    def add_curvature(self, state, multipliers, curvature):
        np.add.at(curvature.on_points, (self.instants, self.points, 2), -multipliers)


class Knee:
    """Flexion of the swinging leg's knee in the middle of single support, which lifts the foot."""

    def __init__(self, walker, step, schedule):
        self.instant = int(np.argmin(np.abs(schedule.fractions - (1 + schedule.double) / 2)))
        self.coordinate = walker.names.index("right_knee_flexion")
        by = np.zeros((1, 1, len(walker.names)))
        by[0, 0, self.coordinate] = 1
        self.slope = step.pull_back([by], np.array([self.instant]))

    def rows(self, state):
        knee = state.states[0, self.instant, self.coordinate]
        return np.array([knee - KNEE[0], KNEE[1] - knee]), np.concatenate([self.slope, -self.slope])

    def add_curvature(self, state, multipliers, curvature):
        """None: the rows are linear."""


class SelfAvoidance:
    """The distance of wrist and hip is at least the sum of the radii of the spheres at both."""

    def __init__(self, walker, step, side):
        self.step, self.wrist, self.hip = step, walker.index[f"{side}_wrist"], walker.index[f"{side}_hip"]

    def _between(self, state):
        between = state.p[:, self.wrist] - state.p[:, self.hip]
        distance = np.linalg.norm(between, axis=1)
        return distance, between / distance[:, None], state.slope[:, self.wrist] - state.slope[:, self.hip]

    def rows(self, state):
        distance, direction, slope = self._between(state)
        return distance - RADII, self.step.pull_back([direction[:, None] @ slope])

    def add_curvature(self, state, multipliers, curvature):
        distance, direction, slope = self._between(state)
        across = slope - direction[:, :, None] * (direction[:, None] @ slope)
        curvature.other -= (multipliers / distance)[:, None, None] * (across.swapaxes(1, 2) @ across)
        curvature.on_points[:, self.wrist] -= multipliers[:, None] * direction
        curvature.on_points[:, self.hip] += multipliers[:, None] * direction


class ArmLeg:
    """The arm of one side swings with the leg of the other: as pendulums, their components along x have the same sign."""

    def __init__(self, walker, step, side):
        other = SIDES[1 - SIDES.index(side)]
        self.step = step
        self.arm = walker.index[f"{side}_shoulder"], walker.index[f"{side}_wrist"]
        self.leg = walker.index[f"{other}_hip"], walker.index[f"{other}_ankle"]

    @staticmethod
    def _pendulum(state, ends):
        top, bottom = ends
        return state.p[:, bottom, 0] - state.p[:, top, 0], state.slope[:, bottom, 0] - state.slope[:, top, 0]

    def rows(self, state):
        (arm, by_arm), (leg, by_leg) = self._pendulum(state, self.arm), self._pendulum(state, self.leg)
        return arm * leg, self.step.pull_back([(arm[:, None] * by_leg + leg[:, None] * by_arm)[:, None]])

    def add_curvature(self, state, multipliers, curvature):
        (arm, by_arm), (leg, by_leg) = self._pendulum(state, self.arm), self._pendulum(state, self.leg)
        product = multipliers[:, None, None] * by_arm[:, :, None] * by_leg[:, None, :]
        curvature.other -= product + product.swapaxes(1, 2)
        for value, (top, bottom) in ((leg, self.arm), (arm, self.leg)):
            curvature.on_points[:, bottom, 0] -= multipliers * value
            curvature.on_points[:, top, 0] += multipliers * value
