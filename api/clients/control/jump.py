#!/usr/bin/python3
"""Jumps with the quadruped Solo12 by multiple shooting: it stands, flies, and lands with an impact ahead. States of all
nodes and torques of the joints are unknown; each iteration asks for the steps of all nodes with their Jacobians, through
the impact as well, and solves the equations of a Gauss-Newton step with SciPy's sparse LU factorization."""
import argparse

import numpy as np
from scipy.sparse import block_diag, bmat, csc_matrix, diags, eye, hstack
from scipy.sparse.linalg import splu

from quadruped import FEET, NQ, NV, Quadruped, difference, moved, rotation, standing, turned

DISTANCE, STANCE, FLIGHT = 0.15, 0.3, 0.24      # m, s
GRAVITY = 9.81


class Jump:
    """The cost: 1/2 w r^2 with residuals r of the states against the standing pose and of the feet against their places at
    touchdown, and of the torques."""

    def __init__(self, dynamics, step):
        self.dynamics, self.step, self.nodes = dynamics, step, len(dynamics.stands)
        self.touchdown = int(np.flatnonzero(~dynamics.stands)[-1]) + 1
        self.goal = np.concatenate([standing(DISTANCE), np.zeros(NV)])[None]
        self.weights = np.tile(step * np.concatenate([[0] * 3, [5] * 3, [1] * 12, [0.02] * 18]), (self.nodes, 1))
        self.weights[-1] = np.concatenate([[2000] * 6, [200] * 12, [20] * 18])
        self.foot, self.torque = 1e5, 0.1 * step
        self.places = dynamics.feet(standing(DISTANCE)[None])[0]

    def guess(self):
        """The standing pose at all nodes; between the first and the last it moves ahead and, in flight, on a parabola."""
        times, start = self.step * np.arange(self.nodes + 1), self.step * np.flatnonzero(~self.dynamics.stands)[0]
        flying = np.clip(times - start, 0, FLIGHT)
        x = np.tile(np.concatenate([standing(), np.zeros(NV)]), (self.nodes + 1, 1))
        x[:, 0] = DISTANCE * flying / FLIGHT
        x[:, 2] += GRAVITY / 2 * flying * (FLIGHT - flying)
        return x, np.zeros((self.nodes, 12))

    def residuals(self, x):
        """Residuals (rows, 36) of states, and their derivatives (rows, 36, 36)."""
        turn = turned(self.goal[:, 3:7], x[:, 3:7])
        r = np.hstack([x[:, :3] - self.goal[:, :3], 2 * turn[:, :3], (x - self.goal)[:, 7:]])
        J = np.tile(np.eye(2 * NV), (len(x), 1, 1))
        J[:, :3, :3] = rotation(x[:, 3:7])
        J[:, 3:6, 3:6] = turn[:, 3, None, None] * np.eye(3) + np.cross(turn[:, None, :3], np.eye(3)).swapaxes(1, 2)
        return r, J

    def feet(self, x):
        """Residuals (12,) of the feet at touchdown, and their derivatives by the position."""
        positions, J = self.dynamics.feet(x[self.touchdown:self.touchdown + 1, :NQ])
        return (positions - self.places).ravel(), J.reshape(12, NV)

    def cost(self, x, u):
        return 0.5 * ((self.weights * self.residuals(x[1:])[0]**2).sum() + self.torque * (u**2).sum()
                      + self.foot * (self.feet(x)[0]**2).sum())

    def quadratics(self, x, u):
        """The gradient of the cost by the states after the first and the torques, and its Gauss-Newton Hessian."""
        (r, J), (feet, by_q) = self.residuals(x[1:]), self.feet(x)
        gradient, hessian = np.einsum("nij,ni,ni->nj", J, self.weights, r), np.einsum("nij,ni,nik->njk", J, self.weights, J)
        gradient[self.touchdown - 1, :NV] += self.foot * by_q.T @ feet
        hessian[self.touchdown - 1, :NV, :NV] += self.foot * by_q.T @ by_q
        return (np.concatenate([gradient.ravel(), self.torque * u.ravel()]),
                block_diag([*hessian, diags(np.full(u.size, self.torque))]))


def newton_step(task, x, u, defects, A, B):
    """The changes of states and torques, the multipliers of the defects, and the slope of the cost."""
    size, (gradient, hessian) = 2 * NV * task.nodes, task.quadratics(x, u)
    before = csc_matrix(bmat([[csc_matrix((2 * NV, size - 2 * NV)), csc_matrix((2 * NV, 2 * NV))],
                              [block_diag(A[1:]), csc_matrix((size - 2 * NV, 2 * NV))]]))
    J = hstack([before - eye(size), block_diag(B)])
    solution = splu(bmat([[hessian, J.T], [J, None]]).tocsc()).solve(-np.concatenate([gradient, defects.ravel()]))
    change = solution[:len(gradient)]
    return change[:size].reshape(-1, 2 * NV), change[size:].reshape(u.shape), solution[len(gradient):], gradient @ change


def solve(dynamics, task, iterations=100, tolerance=1e-4):
    """Returns states, torques and the number of iterations. The merit function is cost + penalty |defects|_1. Ends when no
    defect and no part of the cost that a step would save is above the tolerance."""
    (x, u), penalty = task.guess(), 1.0
    after, A, B = dynamics.nodes(x[:-1], u)
    defects = difference(after, x[1:])
    for iteration in range(1, iterations + 1):
        dx, du, multipliers, slope = newton_step(task, x, u, defects, A, B)
        if -slope < tolerance * task.cost(x, u) and np.abs(defects).max() < tolerance:
            break
        penalty = max(penalty, 1.5 * np.abs(multipliers).max())
        merit, slope, length = task.cost(x, u) + penalty * np.abs(defects).sum(), slope - penalty * np.abs(defects).sum(), 1.0
        while length > 1e-4:
            there = np.vstack([x[:1], moved(x[1:], length * dx)]), u + length * du
            after, A, B = dynamics.nodes(there[0][:-1], there[1])
            defects = difference(after, there[0][1:])
            if task.cost(*there) + penalty * np.abs(defects).sum() <= merit + 1e-4 * length * slope:
                break
            length /= 2
        x, u = there
    return x, u, iteration


def plot(path, task, x, u):
    """Draws heights, torques and forces over time."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    times, feet = task.step * np.arange(task.nodes + 1), task.dynamics.feet(x[:, :NQ])[0]
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for i, name in ((2, "height / m"), (0, "x / m")):
        axes[0, int(i == 0)].plot(times, x[:, i], "k", label="base")
        axes[0, int(i == 0)].plot(times, feet[:, :, i], label=FEET)
        axes[0, int(i == 0)].set(ylabel=name)
    axes[1, 0].step(times[:-1], u, where="post")
    axes[1, 0].set(ylabel="torques / N m", xlabel="t / s")
    axes[1, 1].step(times[:-1], task.dynamics.forces(x, u)[:, :, 2], where="post", label=FEET)
    axes[1, 1].set(ylabel="vertical forces / N", xlabel="t / s")
    for one in (axes[0, 0], axes[0, 1], axes[1, 1]):
        one.legend(fontsize=6)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--step", type=float, default=0.01, help="length of a node, s (%(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="draw the jump, with Matplotlib")
    options = parser.parse_args()
    phases = [(round(seconds / options.step), stands) for seconds, stands in ((STANCE, True), (FLIGHT, False), (STANCE, True))]
    dynamics = Quadruped(options.server, options.step, phases)
    task = Jump(dynamics, options.step)
    dynamics.start_clock()
    x, u, iterations = solve(dynamics, task)
    dynamics.report("jump", iterations, np.abs(difference(dynamics.roll(x[0], u), x)).max())
    print(f"cost {task.cost(x, u):.6f}, largest torque {np.abs(u).max():.3f} N m, base up to {x[:, 2].max():.3f} m, feet within "
          f"{np.abs(task.feet(x)[0]).max() * 1e3:.2f} mm of their places, least vertical force "
          f"{dynamics.forces(x, u)[dynamics.stands, :, 2].min():.2f} N")
    if options.plot:
        plot(options.plot, task, x, u)


if __name__ == "__main__":
    main()
