"""A convex quadratic program, solved in its dual, with constraints that may be violated at a price.

    minimise  1/2 d'Hd + g.d + price (sum |r| + sum t)      subject to  E d + e = r,  G d + h + t >= 0,  t >= 0

With C = [E; G], c = [e; h] the dual is: minimise 1/2 l'Sl + b.l over multipliers l, where S = C H^-1 C' and b = c - C H^-1 g, with
|l| <= price for equalities and 0 <= l <= price for inequalities. Few inequalities are active, so the dual has few dimensions;
rows are added where a solution violates them. The dual is solved by an active-set method (Nocedal & Wright 2006, sections 16.5
and 16.7).
"""
from dataclasses import dataclass

import numpy as np

CHANGES = 2000          # most changes of the set of free multipliers
TOGETHER = 16           # multipliers that are freed together
ROUNDS = 40             # most rounds of adding rows
VIOLATED = 1e-9         # in the units of the constraints
REGULAR = 1e-12         # added to the diagonal of S, relative: rows may depend on each other


class NotConverged(Exception):
    """The changes or rounds were used up."""


@dataclass(frozen=True)
class Solution:
    """The step; multipliers of all equalities and inequalities; how many changes it took."""
    step: np.ndarray
    equal: np.ndarray
    unequal: np.ndarray
    changes: int

    def largest(self):
        """The largest multiplier."""
        return max(np.abs(self.equal).max(initial=0), self.unequal.max(initial=0))


def solve(hessian, gradient, equalities, inequalities, price, likely):
    """equalities, inequalities: (matrix, value); likely: indices of the inequalities to begin with."""
    (matrix, value), (rows, h) = equalities, inequalities
    inverse = np.linalg.inv(hessian)
    dual = _Dual(inverse, -inverse @ gradient, price)
    dual.add(matrix, value, -price)
    chosen = np.asarray(likely, int)
    dual.add(rows[chosen], h[chosen], 0.0)
    changes = 0
    for _ in range(ROUNDS):
        changes += dual.minimise()
        step = dual.step()
        ahead = h + rows @ step
        ahead[chosen] = 0
        new = np.flatnonzero(ahead < -VIOLATED)
        if not len(new):
            unequal = np.zeros(len(h))
            unequal[chosen] = dual.multipliers[len(value):]
            return Solution(step, dual.multipliers[:len(value)], unequal, changes)
        chosen = np.concatenate([chosen, new])
        dual.add(rows[new], h[new], 0.0)
    raise NotConverged("too many rounds of added inequalities")


class _Dual:
    """The dual with the rows added so far; its multipliers are feasible at any time."""

    def __init__(self, inverse, free_step, price):
        self.inverse, self.free_step, self.price = inverse, free_step, price
        size = len(free_step)
        self.matrix, self.images, self.schur = np.zeros((0, size)), np.zeros((0, size)), np.zeros((0, 0))
        self.offset, self.low, self.multipliers = np.zeros(0), np.zeros(0), np.zeros(0)

    def add(self, matrix, value, low):
        """Adds rows, whose multipliers are zero and at least `low`."""
        images = matrix @ self.inverse
        beside, own = images @ self.matrix.T, images @ matrix.T
        own[np.diag_indices(len(own))] += REGULAR * np.abs(np.diag(own)).max(initial=0)
        self.schur = np.block([[self.schur, beside.T], [beside, own]])
        self.matrix, self.images = np.concatenate([self.matrix, matrix]), np.concatenate([self.images, images])
        self.offset = np.concatenate([self.offset, value + matrix @ self.free_step])
        self.low = np.concatenate([self.low, np.full(len(value), low)])
        self.multipliers = np.concatenate([self.multipliers, np.zeros(len(value))])

    def step(self):
        """The primal step of the multipliers."""
        return self.free_step + self.images.T @ self.multipliers

    def _objective(self, multipliers):
        return multipliers @ (0.5 * (self.schur @ multipliers) + self.offset)

    def minimise(self):
        """Moves the multipliers to the minimum. Returns the number of changes of the set of free ones."""
        free = (self.multipliers > self.low) & (self.multipliers < self.price) | (self.low < 0)
        moved = True
        for count in range(1, CHANGES):
            reached, progress = self._towards_minimum(free)
            moved |= progress
            if not reached:
                continue
            slope = self.schur @ self.multipliers + self.offset
            wrong = np.where(free, 0.0, np.where(self.multipliers <= self.low, -slope, slope))
            worst = np.argsort(-wrong)[:TOGETHER if moved else 1]
            worst = worst[wrong[worst] > VIOLATED]
            if not len(worst):
                return count
            free[worst], moved = True, False
        raise NotConverged("too many changes of the free multipliers")

    def _towards_minimum(self, free):
        """One step to the minimum over the free multipliers, as far as bounds allow; those that meet a bound are free no longer.
        Returns True if the minimum was reached, and True if anything moved."""
        inner, old = np.flatnonzero(free), self.multipliers
        target = np.where(free, 0.0, old)
        target[inner] = np.linalg.solve(self.schur[np.ix_(inner, inner)], -(self.offset + self.schur @ target)[inner])
        new = np.clip(target, self.low, self.price)
        outside = new != target
        if outside.any() and self._objective(new) >= self._objective(old):
            change = target - old
            bound = np.where(change < 0, self.low, self.price)
            room = np.full(len(old), np.inf)
            np.divide(bound - old, change, out=room, where=change != 0)
            length = room[inner].min()
            outside = free & (room <= length)
            new = np.where(outside, bound, old + length * change)
        free[outside] = False
        self.multipliers = new
        return not outside.any(), bool((new != old).any())
