#!/usr/bin/python3
"""Swings up a double pendulum by iLQR (Li & Todorov 2004). A rollout answers for the first torques; then each iteration
asks for the Jacobians of all nodes at once, and node by node for the states of all step lengths of its line search."""
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from service import run_swing_up

LENGTHS = 0.5 ** np.arange(8)    # step lengths of the line search


def backward(task, x, u, A, B, damping):
    """The feed-forward and feedback torques of all nodes, and the expected decrease of the cost."""
    V_x, V_xx = task.end * (x[-1] - task.goal), np.diag(task.end)
    k, K, decrease = np.empty_like(u), np.empty((len(u), u.shape[1], x.shape[1])), 0.0
    for n in reversed(range(len(u))):
        Q_x = task.state * (x[n] - task.goal) + A[n].T @ V_x
        Q_u = task.torque * u[n] + B[n].T @ V_x
        Q_xx = np.diag(task.state) + A[n].T @ V_xx @ A[n]
        Q_ux = B[n].T @ V_xx @ A[n]
        Q_uu = np.diag(task.torque) + B[n].T @ V_xx @ B[n] + damping * np.eye(u.shape[1])
        factor = cho_factor(Q_uu)
        k[n], K[n] = -cho_solve(factor, Q_u), -cho_solve(factor, Q_ux)
        V_x = Q_x + K[n].T @ Q_u
        V_xx = Q_xx + K[n].T @ Q_ux
        V_xx = 0.5 * (V_xx + V_xx.T)
        decrease -= Q_u @ k[n] / 2
    return k, K, decrease


def forward(dynamics, x, u, k, K):
    """States and torques for all step lengths, with feedback to each state: a batch of steps for every node."""
    states, torques = np.empty((len(LENGTHS), *x.shape)), np.empty((len(LENGTHS), *u.shape))
    states[:, 0] = x[0]
    for n in range(len(u)):
        torques[:, n] = u[n] + LENGTHS[:, None] * k[n] + (states[:, n] - x[n]) @ K[n].T
        states[:, n + 1] = dynamics.after(states[:, n], torques[:, n])
    return states, torques


def solve(dynamics, task, iterations=200, tolerance=1e-8):
    """Returns states, torques and the number of iterations."""
    u, damping = np.zeros((task.nodes, dynamics.n)), 1e-6
    x = dynamics.roll(task.start, u[None])[0]
    cost = task.cost(x, u)
    for iteration in range(1, iterations + 1):
        _, A, B = dynamics.nodes(x[:-1], u)
        k, K, decrease = backward(task, x, u, A, B, damping)
        if decrease < tolerance * cost:
            break
        states, torques = forward(dynamics, x, u, k, K)
        costs = [task.cost(*pair) for pair in zip(states, torques)]
        best = int(np.argmin(costs))
        if costs[best] < cost:
            x, u, cost, damping = states[best], torques[best], costs[best], max(damping / 4, 1e-8)
        else:
            damping *= 16
    return x, u, iteration


if __name__ == "__main__":
    run_swing_up("iLQR", solve, __doc__)
