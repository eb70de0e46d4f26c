"""Sequential quadratic programming for costs that are sums of squares: the Hessian is that of Gauss and Newton, with the curvature
of the constraints that the problem provides, damped after Levenberg and Marquardt (Nocedal & Wright 2006, chapters 10 and 18).
The merit function is the cost and a price times the sum of all violations; a full step may lower the augmented Lagrangian instead.
"""
from dataclasses import dataclass

import numpy as np

import qp
from walker import Refused

DAMPING = 1e-3, 1e-1    # least and largest multiple of the identity in the Hessian
AUGMENT = 1.0           # weight of squared equalities in the Hessian; it makes it definite and does not change the solution
LONGEST = 0.5           # rad or m, of a variable in one step
DEARER = 10.0           # times the tolerance: below this optimality the price rises where multipliers have reached it
PENALTY = 30.0          # penalty of the augmented Lagrangian
SHORTEST = 1e-4         # relative length of a step
DESCENT = 1e-4          # least descent of the merit function, as a part of the predicted one


class NotSolved(Exception):
    """The optimiser gave up; the text has its last state."""


@dataclass(frozen=True)
class Result:
    """The variables, the problem's values there, the number of iterations, the last optimality."""
    x: np.ndarray
    values: object
    iterations: int
    optimality: float


class Minimiser:
    """Iterates on `problem` from x. optimal: tolerance of the Lagrangian's gradient relative to the largest multiplier, None where
    feasibility is enough; feasible: tolerance of violations; damping: of the first step; price: of violations, above all
    multipliers of the solution."""

    def __init__(self, problem, x, optimal, feasible, damping=1e-2, price=10.0):
        self.problem, self.optimal, self.feasible, self.damping, self.price = problem, optimal, feasible, damping, price
        self.clock = problem.walker.clock
        self.x, self.values = x, self._evaluate(x)
        self.active, self.curvature = np.zeros(0, int), 0.0

    def _evaluate(self, x):
        with self.clock("chain rule"):
            return self.problem.evaluate(x)

    def run(self, most, say):
        """The result after at most this many iterations; say(text) gets a line for each."""
        for iteration in range(most + 1):
            solution = self._subproblem()
            optimality, violation = self._optimality(solution), self.values.violation()
            say(f"{iteration:4d} {self.values.cost:13.7f} {violation:12.1e} {optimality:12.1e} "
                f"{np.abs(solution.step).max():9.1e} {len(self.active):7d} {solution.changes:8d}")
            if violation <= self.feasible and (self.optimal is None or optimality <= self.optimal):
                return Result(self.x, self.values, iteration, optimality)
            if optimality <= DEARER * (self.optimal or self.feasible) and solution.largest() >= self.price:
                self.price *= 3     # the price is too low: only violations remain
            if iteration < most:
                self._move(solution)
        raise NotSolved(f"after {most} iterations violations are {violation:.1e}, optimality {optimality:.1e}")

    def _optimality(self, solution):
        return np.abs(self.values.gradient(solution.equal, solution.unequal)).max() / max(1.0, solution.largest())

    def _subproblem(self):
        factor, equal, unequal = self.values.slopes
        with self.clock("Hessian"):
            hessian = factor.T @ factor + AUGMENT * equal.T @ equal + self.curvature
            hessian[np.diag_indices(len(hessian))] += self.damping
        gradient = factor.T @ self.values.residual + AUGMENT * equal.T @ self.values.equalities
        likely = np.union1d(self.active, np.flatnonzero(self.values.inequalities < 0))
        with self.clock("quadratic programs"):
            solution = qp.solve(hessian, gradient, (equal, self.values.equalities), (unequal, self.values.inequalities), self.price,
                                likely)
        self.active = np.flatnonzero(solution.unequal)
        return solution

    def _move(self, solution):
        """Halves the step until the merit falls enough, and adapts the damping."""
        price = min(2 * solution.largest(), self.price)
        residual, step = self.values.residual, solution.step
        slope = min(residual @ (self.values.slopes[0] @ step) - price * self.values.sum_of_violations(), 0.0)
        here = self.values.cost + price * self.values.sum_of_violations()
        longest = length = min(1.0, LONGEST / np.abs(step).max())
        while length > SHORTEST * longest:
            try:
                values = self._evaluate(self.x + length * step)
                if values.cost + price * values.sum_of_violations() <= here + DESCENT * length * slope:
                    break
                if length >= 0.99 and values.augmented(solution, PENALTY) <= self.values.augmented(solution, PENALTY):
                    break
            except Refused:
                pass        # as where the ground would have to pull
            length /= 2
        else:
            raise NotSolved(f"no step lowers the merit; violations are {self.values.violation():.1e}")
        self.damping = float(np.clip(self.damping * (0.3 if length > 0.9 else 2 if length < 0.4 else 1), *DAMPING))
        self.x, self.values = self.x + length * step, values
        with self.clock("curvature"):
            self.curvature = self.problem.curvature(values, solution.equal, solution.unequal)
