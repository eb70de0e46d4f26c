#!/usr/bin/python3
"""path_reference.py URL [PATH ...]: minimum times along the paths of api/clients/planner, compared with those of an independent optimum.

The reference has the squared velocity z = (ds/dt)^2 at the nodes of a dense grid in s as unknowns, and torques from inverse-dynamics instead of
coefficients from `path`. Between nodes z is linear in s, so that torques at middles of cells are linear in z. Without limits of torque rates the
largest z everywhere is the optimum: one linear program (Verscheure et al. 2009 discretise in the same way). With limits of rates, the difference
of torques of two neighbouring cells is at most R dt; dt is convex in z, so that its tangent is a bound on the safe side, and a sequence of
linear programs leads to a local optimum.
"""
import os
import sys

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "api", "clients", "planner"))
import geometry  # noqa: E402
import path_minimum_time as planner  # noqa: E402
from service import Service  # noqa: E402
from timing import fastest  # noqa: E402

CELLS = 600  # number of cells of the reference; doubling it halves the error, which is then extrapolated
INTERVALS = 160  # number of intervals of the planner
SHORTER = 1e-6  # relative gain in duration below which the iteration ends


class Reference:
    def __init__(self, service, model, spline, effort, rate, cells=CELLS):
        x = np.linspace(0, 1, cells + 1)
        self.s = 10 * x ** 3 - 15 * x ** 4 + 6 * x ** 5  # nodes are dense at rest, where ds/dt grows like s^(2/3)
        self.slow = (30 * x ** 2 * (1 - x) ** 2) ** 2  # z of this polynomial traversed in 1 s
        self.width, middle = np.diff(self.s), (self.s[1:] + self.s[:-1]) / 2
        self.rates_limited = False
        self.between, self.effort, self.rate, self.n = np.diff(middle), effort, rate, cells
        q, first, second = (spline(middle, nu=order) for order in range(3))
        ask = lambda **state: service.ask(model, "inverse_dynamics", {"q": q, **state})["tau"]
        still = ask()
        self.a, self.b, self.c = ask(qdd=first) - still, ask(qd=first, qdd=second) - still, still
        self.ends = service.ask(model, "inverse_dynamics", {"q": spline(np.array([0.0, 1.0]))})["tau"]

    def torques(self):
        """Yields, for each joint, the matrix A and the vector c with which the torques in the cells are A z + c; A has shape cells x (cells +
        1)."""
        cells = np.arange(self.n)
        for k in range(len(self.effort)):
            up, down = self.a[:, k] / (2 * self.width), self.b[:, k] / 2
            yield sparse.csr_matrix((np.concatenate([down - up, down + up]),
                                     (np.tile(cells, 2), np.concatenate([cells, cells + 1]))), (self.n, self.n + 1))

    def duration(self, z):
        """Returns the duration. From rest, z grows linearly without rate limits; with these it grows like s^(4/3), so
        z^(3/4) is interpolated linearly."""
        r = z ** 0.25
        mean = (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2) / 3 if self.rates_limited else (r[1:] ** 2 + r[:-1] ** 2) / 2
        return (self.width / mean).sum()

    def slope(self, z):
        """Returns the derivative of the duration with rate limits by z; zero at both ends, which are at rest."""
        r, out = z ** 0.25, np.zeros(self.n + 1)
        pull = -3 * self.width / (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2) ** 2
        out[1:] += pull * (2 * r[1:] + r[:-1])
        out[:-1] += pull * (2 * r[:-1] + r[1:])
        return out / np.maximum(4 * r ** 3, 1e-300) * (z > 0)

    def limits_of_torques(self):
        rows, right = [], []
        for k, A in enumerate(self.torques()):
            rows += [A, -A]
            right += [self.effort[k] - self.c[:, k], self.effort[k] + self.c[:, k]]
        return sparse.vstack(rows), np.concatenate(right)

    def fastest(self):
        """Solves the problem without rate limits."""
        A, b = self.limits_of_torques()
        weights = np.gradient(self.s)
        bounds = np.zeros((self.n + 1, 2))
        bounds[1:-1, 1] = np.inf
        scale = self.slow.max()
        found = linprog(-weights, A * scale, b, bounds=bounds, method="highs-ipm")
        return self.duration(np.maximum(found.x, 0) * scale)

    def limits_of_rates(self, z):
        """Linearises at z: |difference of torques| <= R dt, dt = between / sqrt(z), at inner nodes and at both ends."""
        rows, right = [], []
        nodes = np.arange(1, self.n)
        dt, by_z = self.between / np.sqrt(z[1:-1]), -0.5 * self.between / z[1:-1] ** 1.5
        tangent = sparse.csr_matrix((by_z, (nodes - 1, nodes)), (self.n - 1, self.n + 1))
        half = self.width[[0, -1]] / 2  # from the ends of the path, at rest, to the middles of the first and last cell
        inner, cells = z[[1, -2]], [1, self.n - 1]
        start, by_inner = 3 * half / np.sqrt(inner * 2 ** (-4 / 3)), -1.5 * half / np.sqrt(inner * 2 ** (-4 / 3)) / inner
        ends = sparse.csr_matrix((by_inner, ([0, 1], cells)), (2, self.n + 1))
        for k, A in enumerate(self.torques()):
            for sign in (1, -1):
                R = self.rate[k]
                rows += [sign * (A[1:] - A[:-1]) - R * tangent, sign * A[[0, -1]] - R * ends]
                right += [R * (dt - by_z * z[1:-1]) - sign * np.diff(self.c[:, k]),
                          R * (start - by_inner * inner) - sign * (self.c[[0, -1], k] - self.ends[:, k])]
        return sparse.vstack(rows), np.concatenate(right)

    def fastest_with_rates(self, say):
        """Solves the problem with rate limits: starts at a slow polynomial and descends to a local optimum."""
        A, b = self.limits_of_torques()
        duration, radius, self.rates_limited = 1.0, 0.5, True
        while True:
            z = self.slow / duration ** 2
            B, right = self.limits_of_rates(np.maximum(z, 1e-300))
            if (A @ z <= b).all() and (B @ z <= right).all():
                break
            duration *= 1.3
        for step in range(100):
            B, right = self.limits_of_rates(np.maximum(z, 1e-300))
            bounds = np.column_stack([(1 - radius) * z, (1 + 2 * radius) * z])
            unit = np.maximum(z, 1e-300)  # scaling: unknowns are fractions of z, and rows have size 1
            rows, all_right = sparse.vstack([A, B]).multiply(unit).tocsr(), np.concatenate([b, right])
            size = np.maximum(abs(rows).max(axis=1).toarray().ravel(), 1e-300)
            found = linprog(self.slope(z) * z, sparse.diags(1 / size) @ rows, all_right / size,
                            bounds=bounds / unit[:, None], method="highs-ipm")
            if found.x is None:
                raise ValueError(found.message)
            moved = found.x * z
            gain = 1 - self.duration(moved) / duration
            say(f"  reference step {step + 1:2d}   T {duration:.6f} s   gain {gain:.1e}   radius {radius:.1e}")
            if gain > 0:
                z, duration = moved, self.duration(moved)
            if abs(gain) < SHORTER:
                return duration
            if gain < 1e-3:
                radius /= 2
        raise ValueError("the reference does not converge")


def optimum(service, model, spline, effort, rate, limited, say, cells):
    """Returns the duration of the reference in the limit of small cells."""
    coarse, fine = (Reference(service, model, spline, effort, rate, n) for n in (cells, 2 * cells))
    if not limited:
        return fine.fastest()  # the error is quadratic in the cell size: 3e-6 of the duration with 600 cells
    return 2 * fine.fastest_with_rates(say) - coarse.fastest_with_rates(say)


def compare(service, name, say=print, intervals=INTERVALS, cells=CELLS):
    """Returns the planner's time, the reference's time and the largest torque or rate as a part of its limit, without and with rate limits."""
    model, spline = geometry.named(name)
    effort, rate = planner.limits(service.model(model))
    coefficients, found = geometry.Coefficients(service, model, spline), []
    for limited in (False, True):
        timing = fastest(coefficients, effort, rate if limited else None, intervals, say)
        _, tau, tau_dot, _ = planner.check(service, model, spline, timing, effort, rate)
        load = max(np.abs(tau).max(), np.abs(tau_dot).max() if limited else 0)
        found.append((timing.duration, optimum(service, model, spline, effort, rate, limited, say, cells), load))
    return found


def main():
    service = Service(sys.argv[1])
    names = sys.argv[2:] or ["ur5_pick", "ur5_swing", "ur5_straight"]
    lines = []
    for name in names:
        for (duration, optimum, load), limited in zip(compare(service, name), ("torques", "torques and rates")):
            lines.append(f"{name:14} {limited:18} {duration:.6f} s   reference {optimum:.6f} s   "
                         f"{100 * (duration / optimum - 1):+.4f} %   excess {load - 1:.1e}")
            print(lines[-1], flush=True)
    print("\n".join(["", *lines]))


if __name__ == "__main__":
    main()
