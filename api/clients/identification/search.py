"""The search for an exciting motion: a nonlinear program over the coefficients of a Fourier series.

Variables   x = coefficients in the basis of motions at rest at t = 0, for each joint
minimise    a criterion of the equations (equations.py)
subject to  |q - middle| <= share * half range,  |qd| <= share * velocity,  |tau| <= share * effort   for each joint

Each limit is one constraint a joint: the soft maximum log(sum exp(r g)) / r of all loads g along the motion, which is never
below the largest. The program so has few constraints, and SLSQP, whose matrices are dense, is fast.
"""
import time

import numpy as np
from scipy.optimize import minimize

from fourier import Fourier, at_rest, bound, matrices

SHARPNESS = 100     # r
DENSE = 10          # times as many instants show whether the limits hold between the samples


class NotFound(Exception):
    """No motion within the limits was found."""


class Search:
    def __init__(self, equations, limits, criterion, settings):
        self.equations, self.limits, self.criterion, self.settings = equations, limits, criterion, settings
        self.nv = equations.model.nv
        self.basis = at_rest(settings.harmonics)
        self.times = np.arange(settings.samples) * settings.period / settings.samples
        self.matrices = [m @ self.basis for m in matrices(settings.period, settings.harmonics, self.times)]
        self.share = settings.share
        self.history = []       # criterion and largest load of each iteration
        self._at, self._value, self._loads, self._largest = None, None, None, None

    def motion(self, x):
        return Fourier(self.settings.period, self.basis @ x.reshape(-1, self.nv))

    def variables(self, motion):
        return np.linalg.lstsq(self.basis, motion.coefficients, rcond=None)[0].ravel()

    # --- where the search begins --------------------------------------------------------------------------------

    def random(self, draw):
        """A random motion about the middle of positions, as large as the limits allow."""
        x = draw.normal(size=(self.basis.shape[1], self.nv))
        shape = self.basis @ x
        shape[0] = 0
        size = np.ones(self.nv)
        for _ in range(60):
            motion = Fourier(self.settings.period, shape * size)
            motion.coefficients[0] += self.limits.middle
            position, velocity, effort = self.loads_along(motion, self.times)
            largest = np.maximum(np.abs(position).max(axis=0), np.abs(velocity).max(axis=0)) / (0.95 * self.share)
            efforts = np.abs(effort).max() / (0.95 * self.share)
            if largest.max() <= 1 + 1e-9 and efforts <= 1:
                return motion
            size /= np.maximum(largest, 1 if efforts <= 1 else 1.1) if largest.max() > 1 + 1e-9 else 1.1
        raise NotFound("efforts exceed their limits even at rest in the middle of the positions")

    def best_of(self, count, draw):
        motions = [self.random(draw) for _ in range(count)]
        values = [self.criterion(self.equations.matrix(motion.states(self.times)))[0] for motion in motions]
        return motions[int(np.argmin(values))]

    # --- values and gradients, each asked for once at an x ------------------------------------------------------

    def loads_along(self, motion, times):
        states = motion.states(times)
        tau = self.equations.service.ask(self.equations.model.inverse_dynamics, **states).tau
        return self.limits.loads(states, tau)

    def largest_load(self, motion):
        """In parts of the limits, on a grid DENSE times as fine as that of the search."""
        times = np.arange(DENSE * len(self.times)) * motion.period / (DENSE * len(self.times))
        return max(np.abs(load).max() for load in self.loads_along(motion, times))

    def _move(self, x):
        if self._at is None or not np.array_equal(x, self._at):
            self._at, self._value, self._loads = x.copy(), None, None

    def by_variables(self, gradient):
        """Gradient by x of a function with these gradients by q, qd, qdd (instants x nv)."""
        return sum(m.T @ gradient[name] for m, name in zip(self.matrices, ("q", "qd", "qdd"))).ravel()

    def objective(self, x):
        self._move(x)
        if self._value is None:
            states = self.motion(x).states(self.times)
            W = self.equations.matrix(states)
            value, slope = self.criterion(W)
            self._value = value, self.by_variables(self.equations.pull_back(W, slope, states))
        return self._value

    def constraints(self, x):
        """share - soft maximum of loads >= 0, three for each joint without those that have no limit; and their gradients."""
        self._move(x)
        if self._loads is None:
            states = self.motion(x).states(self.times)
            answer = self.equations.service.ask(self.equations.model.sensitivity, **states)
            tau = self.equations.service.ask(self.equations.model.inverse_dynamics, **states).tau
            self._loads = self._soft(states, tau, answer)
        return self._loads

    def _soft(self, states, tau, slopes):
        position, velocity, effort = self.limits.loads(states, tau)
        values, gradients = [], []
        self._largest = max(np.abs(load).max() for load in (position, velocity, effort))
        for j in range(self.nv):
            for load, by in ((position[:, j], {"q": self._unit(j) / self.limits.half[j]}),
                             (velocity[:, j], {"qd": self._unit(j) / self.limits.velocity[j]}),
                             (effort[:, j], {name: slopes[f"dtau_d{name}"][:, j] / self.limits.effort[j]
                                             for name in states})):
                if not load.any():      # an effort without a limit
                    continue
                value, weight = soft_maximum(load)
                values.append(self.share - value)
                gradients.append(-self.by_variables({name: weight[:, None] * by.get(name, np.zeros((1, self.nv)))
                                                     for name in states}))
        return np.array(values), np.array(gradients)

    def _unit(self, j):
        return np.eye(self.nv)[j:j + 1]

    # --- the program --------------------------------------------------------------------------------------------

    def improve(self, start, say):
        """Returns the best motion found from `start`. Limits may be exceeded between the samples, or because the
        iterations ended early: then the limits are narrowed and the optimisation problem is solved again."""
        motion = start
        for _ in range(5):
            motion = self._solve(motion, say)
            excess = self.largest_load(motion) / self.settings.share
            if excess <= 1:
                return motion
            self.share /= excess
            say(f"a load is {excess:.4f} of what is allowed: solved again with lower limits")
        raise NotFound("no motion within the limits was found: give more --iterations or more --samples")

    def bounds(self):
        """Bounds of the variables: positions for the offsets, and the most that the limits of velocities allow."""
        low, high = self.limits.middle - self.limits.half, self.limits.middle + self.limits.half
        others = bound(self.settings.period, self.settings.harmonics) * self.limits.velocity
        return [*zip(low, high), *[(-x, x) for x in others] * (self.basis.shape[1] - 1)]

    def _solve(self, start, say):
        """The best of the motions after each iteration that are within the limits at the samples, or else the last one."""
        began, good = time.monotonic(), []

        def after_iteration(x):
            value, room = self.objective(x)[0], self.constraints(x)[0].min()
            if self._largest <= self.share:
                good.append((value, len(good), x.copy()))
            self.history.append((value, self.share - room))
            say(f"iteration {len(self.history)}: criterion {value:.4f}, largest soft load {self.share - room:.3f}, "
                f"{time.monotonic() - began:.1f} s", flush=True)

        found = minimize(lambda x: self.objective(x)[0], self.variables(start), jac=lambda x: self.objective(x)[1],
                         method="SLSQP", callback=after_iteration, bounds=self.bounds(),
                         constraints={"type": "ineq", "fun": lambda x: self.constraints(x)[0],
                                      "jac": lambda x: self.constraints(x)[1]},
                         options={"maxiter": self.settings.iterations, "ftol": 1e-4})
        return self.motion(min(good)[2] if good else found.x)


def soft_maximum(load):
    """log(sum exp(r g)) / r of loads g of both signs, and its gradient by the loads."""
    both = np.concatenate([load, -load])
    share = np.exp(SHARPNESS * (both - both.max()))
    total = share.sum()
    share /= total
    return both.max() + np.log(total) / SHARPNESS, share[:len(load)] - share[len(load):]
