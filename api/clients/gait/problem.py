"""The nonlinear program of a gait.

    minimise    integral of |tau / tau_max|^2 dt
    subject to  equalities(x) = 0, inequalities(x) >= 0             (Barman 2020, eq. 5.1 to 5.10)

x are the free control points. The server gives torques, forces, points and their gradients by q, qd and qdd; the chain rule leads to
gradients by x.
"""
from dataclasses import dataclass

import numpy as np

from forces import Phase
from motion import trapezoid
from postures import ArmLeg, Clearance, Contacts, Curvature, Knee, Limits, SelfAvoidance, State
from walker import GLOBAL, SIDES

SMOOTH = 1e-2, 0.2      # weights of accelerations of joints and of the body in Shape, s²/rad and s²/m


@dataclass(frozen=True)
class Values:
    """cost = |residual|^2 / 2, constraints, and the gradients of all three."""
    state: State
    residual: np.ndarray
    equalities: np.ndarray
    inequalities: np.ndarray
    slopes: tuple

    @property
    def cost(self):
        return self.residual @ self.residual / 2

    def violation(self):
        """The largest one."""
        return max(np.abs(self.equalities).max(), -self.inequalities.min(), 0.0)

    def sum_of_violations(self):
        return np.abs(self.equalities).sum() - np.minimum(self.inequalities, 0).sum()

    def augmented(self, solution, weight):
        """The augmented Lagrangian with the multipliers of a subproblem."""
        z = np.maximum(solution.unequal - weight * self.inequalities, 0)
        return (self.cost - solution.equal @ self.equalities + weight / 2 * self.equalities @ self.equalities
                + (z @ z - solution.unequal @ solution.unequal) / (2 * weight))

    def gradient(self, equal, unequal):
        """Gradient of the Lagrangian with these multipliers."""
        factor, equalities, inequalities = self.slopes
        return factor.T @ self.residual - equalities.T @ equal - inequalities.T @ unequal


class Shape:
    """The constraints on postures, with accelerations as cost. A Gait starts at the solution."""

    def __init__(self, walker, step, schedule):
        self.walker, self.step, self.schedule = walker, step, schedule
        self.contacts = Contacts(walker, step, schedule)
        self.postures = ([Limits(walker, step), Clearance(walker, step, schedule), Knee(walker, step, schedule)]
                         + [SelfAvoidance(walker, step, side) for side in SIDES] + [ArmLeg(walker, step, side) for side in SIDES])

    def start(self):
        """All joints at zero, the body moving ahead at constant speed."""
        x = np.zeros((self.step.free, len(self.walker.names)))
        ahead = np.array([self.schedule.knots[k + 1:k + 4].mean() for k in range(self.step.free)])
        x[:, self.walker.names.index("global_x")] = self.schedule.length * (ahead - 0.5)
        return x.ravel()

    def evaluate(self, x):
        states = self.step.states(x)
        state = State(x, states, *self.walker.kinematics(states[0]))
        return self._values(state, [self._accelerations(states[2])], [])

    def _values(self, state, residuals, constraints):
        parts = [block.rows(state) for block in self.postures] + constraints
        collected = [[np.concatenate(column) for column in zip(*rows)]
                     for rows in (residuals, [self.contacts.rows(state)], parts)]
        values, slopes = zip(*collected)
        return Values(state, *values, slopes)

    def _accelerations(self, qdd):
        weight = np.sqrt(trapezoid(self.schedule.times) / self.schedule.duration)[:, None] * np.where(
            np.arange(qdd.shape[1]) < GLOBAL.index("global_yaw"), SMOOTH[1], SMOOTH[0])
        return (weight * qdd).ravel(), self.step.pull_back([None, None, np.eye(qdd.shape[1]) * weight[:, :, None]])

    def curvature(self, values, equal, unequal):
        """The positive part of the Lagrangian's second derivative that comes from constraints on postures."""
        curvature = Curvature(values.state)
        self.contacts.add_curvature(values.state, equal, curvature)
        at = 0
        for block in self.postures:
            count = len(block.rows(values.state)[0])
            block.add_curvature(values.state, unequal[at:at + count], curvature)
            at += count
        return self.step.pull_back_twice(curvature.semidefinite())


class Gait(Shape):
    """All constraints and the cost of torques. bound: of internal forces, see Phase."""

    def __init__(self, walker, step, schedule, bound=None):
        super().__init__(walker, step, schedule)
        self.phases = [Phase(walker, step, schedule, single, bound) for single in (0, 1)]

    def evaluate(self, x):
        states = self.step.states(x)
        state = State(x, states, *self.walker.kinematics(states[0]))
        state.grounds = [phase.ask(states) for phase in self.phases]
        pairs = list(zip(self.phases, state.grounds))
        return self._values(state, [phase.effort(ground) for phase, ground in pairs],
                            [phase.constraints(ground) for phase, ground in pairs])
