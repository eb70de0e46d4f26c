#!/usr/bin/python3
"""Swings up a double pendulum by iLQR (Li & Todorov 2004). One rollout answers the states, the gains and the feed-forward
torques; a second one, with feedback, tries all step lengths of the line search."""
import numpy as np

from service import run_swing_up

LENGTHS = 0.5 ** np.arange(8)    # step lengths of the line search


def solve(dynamics, task, iterations=200, tolerance=1e-8):
    """Returns states, torques and the number of iterations."""
    u, damping, terms = np.zeros((task.nodes, dynamics.n)), 1e-6, task.terms()
    for iteration in range(1, iterations + 1):
        plan = dynamics.plan(task.start, u, terms, damping)
        cost = plan.costs.sum()
        if -plan.expected_changes.sum() < tolerance * cost:
            break
        torques, costs = dynamics.follow(task.start, u + LENGTHS[:, None, None] * plan.feed_forward, plan, terms)
        best = int(np.argmin(costs))
        if costs[best] < cost:
            u, damping = torques[best], max(damping / 4, 1e-8)
        else:
            damping *= 16
    return np.vstack([task.start, np.hstack([plan.q_after, plan.qd_after])]), u, iteration


if __name__ == "__main__":
    run_swing_up("iLQR", solve, __doc__)
