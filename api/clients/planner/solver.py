"""Solves a Problem in rounds: SciPy's sequential quadratic programming (SLSQP; Kraft 1988) with torques limited at
nodes; more nodes where a torque leaves its limits between them (the exchange method of semi-infinite programming:
Hettich & Kortanek 1993); then more knots where torques stay below their limits.
"""
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from motion import Motion

CHECKS = 24         # fractions of each span at which a solution is looked at
MARKED = 0.98       # share of the unused torque in the spans that the next round halves
EXCHANGES = 20      # in a round, at most


class NotSolved(Exception):
    """The optimiser gave up; the text says where it stood."""


@dataclass(frozen=True)
class Round:
    """Result of one knot vector: the optimal motion, its cost and the effort of the search. `load` is the largest |value| / limit
    on a grid much denser than the nodes, at most 1."""
    motion: Motion
    cost: float
    iterations: int
    nodes: int
    load: float


def solve(problem, rounds, say=print):
    """Solves in rounds, each from the motion of the one before with more knots."""
    done = []
    for index in range(rounds):
        if index:
            problem = problem.on(problem.motion.with_knots(_idle(problem)))
        done.append(_round(problem, say))
        say(f"{len(problem.motion.points)} control points: T {problem.motion.duration:.6f} s, "
            f"torques up to {done[-1].load:.6f} of their limits")
    return done


def _round(problem, say):
    """Solves with torques limited at the problem's nodes, until they respect their limits between nodes as well."""
    iterations = 0
    for _ in range(EXCHANGES):
        cost, taken = _minimise(problem, say)
        iterations += taken
        load, worst = _between(problem)
        if load <= 1:
            return Round(problem.motion, cost, iterations, len(problem.fractions), load)
        say(f"  between nodes {load - 1:.1e} of a limit too much: {len(worst)} nodes more")
        problem.add_nodes(worst)
    raise NotSolved(f"after {EXCHANGES} exchanges torques are still {load:.6f} of their limits between nodes")


def _minimise(problem, say):
    """Moves the problem to the optimum nearby: its cost and the number of iterations."""
    matrix, offset = problem.velocity_constraints()
    constraints = [{"type": "ineq", "fun": lambda x: problem.torque_constraints(x)[0],
                    "jac": lambda x: problem.torque_constraints(x)[1]},
                   {"type": "ineq", "fun": lambda x: matrix @ x + offset, "jac": lambda x: matrix}]
    count = 0

    def progress(x):
        nonlocal count
        count += 1
        violation = max(0, -problem.torque_constraints(x)[0].min())
        say(f"  iteration {count:3d}   T {x[-1]:.6f} s   cost {problem.objective(x)[0]:.6f}   "
            f"violation {violation:.1e}")

    found = minimize(problem.objective, problem.pack(), jac=True, method="SLSQP", bounds=problem.bounds(),
                     constraints=constraints if len(matrix) else constraints[:1], callback=progress,
                     options={"maxiter": 300, "ftol": 1e-8})
    if not found.success:
        raise NotSolved(f"SLSQP stopped after {count} iterations at T = {found.x[-1]:.6f} s: {found.message}")
    problem.motion = problem.unpack(found.x)
    return float(found.fun), count


def _loads(problem):
    """Every limited torque and torque rate over its limit on a dense grid: fractions, values grid x number."""
    spans = problem.motion.spans
    inside = np.arange(CHECKS) / CHECKS
    fractions = np.append((spans[:-1, None] + np.diff(spans)[:, None] * inside).ravel(), 1.0)
    limits = problem.limits.of_torques()
    answer = problem.service.ask(problem.model, "trajectory",
                                 problem.motion.request(fractions, [name for name, _ in limits]))
    return fractions, np.hstack([answer[name] / limit for name, limit in limits])


def _between(problem):
    """The largest load, and in each span with a load above 1 the fraction where it is largest."""
    fractions, loads = _loads(problem)
    largest = np.abs(loads).max(axis=1)
    ends = [low + int(np.argmax(largest[low:low + CHECKS])) for low in range(0, len(fractions) - 1, CHECKS)]
    return float(largest.max()), np.array([fractions[at] for at in ends if largest[at] > 1])


def _idle(problem):
    """The middles of the fewest spans that together hold MARKED of the torque that is not used: where a motion that
    is to be fast could be better, its spline is too stiff (marking after Dörfler 1996)."""
    _, loads = _loads(problem)
    spans = problem.motion.spans
    unused = (1 - np.abs(loads)).mean(axis=1)
    held = unused[:-1].reshape(-1, CHECKS).mean(axis=1) * np.diff(spans)
    order = np.argsort(-held, kind="stable")
    enough = 1 + int(np.searchsorted(np.cumsum(held[order]), MARKED * held.sum()))
    marked = np.sort(order[:enough])
    return (spans[marked] + spans[marked + 1]) / 2
