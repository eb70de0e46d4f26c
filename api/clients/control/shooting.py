#!/usr/bin/python3
"""Swings up a double pendulum by multiple shooting: states and torques of all nodes are unknown, and one batch of
steps has all defects f(x_n, u_n) - x_n+1 with their Jacobians. Each iteration solves the equations of Newton's method
for a Gauss-Newton model of the Lagrangian with SciPy's sparse LU factorization (Bock & Plitt 1984)."""
import numpy as np
from scipy.sparse import block_diag, bmat, diags, eye, hstack, vstack
from scipy.sparse.linalg import splu

from service import run_swing_up


class Program:
    """Minimise the cost over z = (x_1 ... x_N, u_0 ... u_N-1), where all defects are zero."""

    def __init__(self, dynamics, task):
        self.dynamics, self.task, self.n = dynamics, task, len(task.start)
        weights = np.tile(task.state, (task.nodes, 1))
        weights[-1] = task.end
        self.weights = np.concatenate([weights.ravel(), np.tile(task.torque, task.nodes)])
        self.goal = np.concatenate([np.tile(task.goal, task.nodes), np.zeros(dynamics.n * task.nodes)])

    def split(self, z):
        states = z[:self.n * self.task.nodes].reshape(-1, self.n)
        return np.vstack([self.task.start, states]), z[states.size:].reshape(-1, self.dynamics.n)

    def defects(self, z):
        """Defects of all nodes, and their sparse Jacobian."""
        x, u = self.split(z)
        after, A, B = self.dynamics.nodes(x[:-1], u)
        size = self.n * self.task.nodes
        below = block_diag(A[1:]) if len(A) > 1 else None
        by_states = -eye(size, format="csr")
        if below is not None:
            shifted = vstack([hstack([diags([0.0], shape=(self.n, size - self.n)), diags([0.0], shape=(self.n, self.n))]),
                              hstack([below, diags([0.0], shape=(size - self.n, self.n))])])
            by_states = by_states + shifted
        return (after - x[1:]).ravel(), hstack([by_states, block_diag(B)]).tocsr()

    def cost(self, z):
        return 0.5 * (self.weights * (z - self.goal) ** 2).sum()


def newton_step(program, z, defects, J):
    """The step of z and the multipliers of the defects: [W J^T; J 0] [dz; l] = -[gradient; defects]."""
    system = bmat([[diags(program.weights), J.T], [J, None]]).tocsc()
    solution = splu(system).solve(-np.concatenate([program.weights * (z - program.goal), defects]))
    return solution[:len(z)], solution[len(z):]


def solve(dynamics, task, iterations=200, tolerance=1e-7):
    """Returns states, torques and the number of iterations. The merit function is cost + penalty |defects|_1."""
    program = Program(dynamics, task)
    line = np.linspace(0, 1, task.nodes + 1)[1:, None]
    z = np.concatenate([((1 - line) * task.start + line * task.goal).ravel(), np.zeros(dynamics.n * task.nodes)])
    penalty, (defects, J) = 1.0, program.defects(z)
    for iteration in range(1, iterations + 1):
        dz, multipliers = newton_step(program, z, defects, J)
        if np.abs(dz).max() < tolerance and np.abs(defects).max() < tolerance:
            break
        penalty = max(penalty, 1.5 * np.abs(multipliers).max())
        slope = program.weights * (z - program.goal) @ dz - penalty * np.abs(defects).sum()
        merit, length = program.cost(z) + penalty * np.abs(defects).sum(), 1.0
        while length > 1e-6:
            there, J = program.defects(z + length * dz)
            if program.cost(z + length * dz) + penalty * np.abs(there).sum() <= merit + 1e-4 * length * slope:
                break
            length /= 2
        z, defects = z + length * dz, there
    return (*program.split(z), iteration)


if __name__ == "__main__":
    run_swing_up("multiple shooting", solve, __doc__)
