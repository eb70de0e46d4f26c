"""The cost and the constraints on joint torques and ground forces of one phase (Barman 2020, eq. 5.1, 5.3, 5.5).

The server's ground-reaction gives the resultant of the ground and the torques with the feet that carry it, and gradients by q, qd
and qdd.
"""
import numpy as np

from joint_forces import squares
from motion import trapezoid


class Phase:
    """One phase of the step: its instants (a slice) and the feet on the ground. The torques are divided by their limits. bound: of
    the norms of internal forces at hips, knees and ankles, N, or None."""

    def __init__(self, walker, step, schedule, single, bound=None):
        self.walker, self.step, self.instants, self.bound = walker, step, schedule.phases[single], bound
        self.feet = schedule.feet()[single]
        self.times = schedule.times[self.instants]
        self.polygons = self._moments([schedule.polygon(n, single) for n in range(len(schedule.times))[self.instants]])

    def _moments(self, polygons):
        """For each instant the rows that, times the resultant, are c Fz - a x Fz - b y Fz, where x Fz = -Ny and y Fz = Nx at the
        zero-moment point on the ground, in parts of the weight. Short polygons are filled up with their first row."""
        rows = np.zeros((len(polygons), max(map(len, polygons)), 6))
        for matrix, polygon in zip(rows, polygons):
            filled = np.concatenate([polygon, np.repeat(polygon[:1], len(matrix) - len(polygon), axis=0)])
            matrix[:, 2], matrix[:, 3], matrix[:, 4] = filled[:, 2], -filled[:, 1], filled[:, 0]
        return rows / self.walker.weight

    def ask(self, states):
        """Requests tau and the resultant at the instants of the phase."""
        ground = self.walker.ground(states[:, self.instants], self.feet)
        if self.bound:
            ground["squares"] = squares(self.walker, states[:, self.instants], self.feet)
        return ground

    def _shares(self, ground):
        """Torques in parts of their limits and their gradients by q, qd, qdd."""
        value, gradients = ground["tau"]
        joints, effort = self.walker.joints, self.walker.effort
        return value[:, joints] / effort, [by[:, joints] / effort[:, None] for by in gradients]

    def effort(self, ground):
        """Residuals whose half sum of squares is the integral of |tau / tau_max|^2, and their gradients."""
        weight = np.sqrt(2 * trapezoid(self.times))
        share, gradients = self._shares(ground)
        return ((weight[:, None] * share).ravel(),
                self.step.pull_back([weight[:, None, None] * by for by in gradients], self.instants))

    def constraints(self, ground):
        """Torque limits; the zero-moment point within the polygon of support; bounds of internal forces."""
        share, gradients = self._shares(ground)
        slope = self.step.pull_back(gradients, self.instants)
        resultant, by = ground["resultant"]
        values = [1 - share.ravel(), 1 + share.ravel(), (self.polygons @ resultant[:, :, None]).ravel()]
        slopes = [-slope, slope, self.step.pull_back([self.polygons @ one for one in by], self.instants)]
        if self.bound:
            square, by = ground["squares"]
            values.append((1 - square / self.bound ** 2).ravel())
            slopes.append(self.step.pull_back([-one / self.bound ** 2 for one in by], self.instants))
        return np.concatenate(values), np.concatenate(slopes)
