"""The fastest timing s(t) of a path from rest to rest, within limits of torques and of torque rates.

Time is divided into N equal intervals. In each, the highest derivative w of s is linear in time: the second one without
limits of torque rates (torques may then jump between intervals), the third one with them. Unknown are the duration T, w at
both ends of each interval, and s with its lower derivatives at the nodes, all by t/T, so that they follow from w linearly.
Torques and rates are limited at instants of each interval. Each step is a sparse linear program in a trust region
(sequential linear programming; Griffith & Stewart 1961), solved by HiGHS. Where a minimum in time has as many active
limits as unknowns, the steps converge quadratically near it.
"""
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

INSTANTS = np.linspace(0, 1, 5)     # instants of an interval at which torques are limited
DENSE = 10                          # times as many instants at which a solution is looked at
SMALL_STEPS = 0.05      # a trust region up to which limits are left out of a linear program
CLEAR = 0.4             # if values are farther from them than this part
PENALTY = 10.0          # penalty of the largest excess, in parts of the duration
MARGIN = 5e-6           # share of a limit that is kept free at the dense instants, since torques may be larger between them
EXCESS = 2e-7           # share of a limit by which torques may exceed the margin
SLOWEST = 1e4           # s
STEPS, REPAIRS = 100, 12     # at most
HALVINGS = 2
SMALL = 1e-6            # share of the duration: a step that promises less is the last
SEVERAL = 8             # steps that together shorten the duration by less than SMALL each are the last


class NotSolved(Exception):
    """No timing was found; the text says where the search stood."""


@dataclass
class Timing:
    """T in s, and s, v, u at the N + 1 nodes and w at both ends of all intervals as derivatives by t/T."""
    order: int
    duration: float
    nodes: np.ndarray   # (N + 1) x order
    highest: np.ndarray     # N x 2

    @property
    def intervals(self):
        return len(self.highest)

    def at(self, shares):
        """s and its three derivatives by time at these shares of every interval, each N x len(shares), flattened."""
        matrices = local_matrices(self.order, 1 / self.intervals, shares)
        local = np.hstack([self.nodes[:-1], self.highest])
        return [(local @ matrices[r].T / self.duration ** r).ravel() for r in range(4)]

    def halved(self):
        """The same timing on twice as many intervals."""
        matrices = local_matrices(self.order, 1 / self.intervals, [0.5])[:self.order, 0]
        middle = np.hstack([self.nodes[:-1], self.highest]) @ matrices.T
        nodes = np.empty((2 * self.intervals + 1, self.order))
        nodes[::2], nodes[1::2] = self.nodes, middle
        w = np.column_stack([self.highest[:, 0], self.highest.mean(axis=1), self.highest[:, 1]])
        return replace(self, nodes=nodes, highest=w[:, [0, 1, 1, 2]].reshape(-1, 2))


def local_matrices(order, h, shares):
    """Derivatives 0 to 3 at `shares` of an interval of length h, as matrices on [state at its begin, w at both ends]."""
    x = np.asarray(shares) * h
    out = np.zeros((4, len(x), order + 2))
    for r in range(4):
        for k in range(r, order):
            out[r, :, k] = x ** (k - r) / factorial(k - r)
        n = order - r   # integrations of w = w0 + (w1 - w0) x / h
        if n >= 0:
            slope = x ** (n + 1) / factorial(n + 1) / h
            out[r, :, order], out[r, :, order + 1] = x ** n / factorial(n) - slope, slope
        elif n == -1:
            out[r, :, order], out[r, :, order + 1] = -1 / h, 1 / h
    return out


def factorial(n):
    return float(np.prod(np.arange(1, n + 1)))


def start(order, intervals):
    """Rest to rest in 1 s on a polynomial of degree 2 order - 1, sampled; the first step makes it exact."""
    t = np.linspace(0, 1, intervals + 1)
    p = np.polynomial.Polynomial([0, 0, 3, -2] if order == 2 else [0, 0, 0, 10, -15, 6])
    nodes = np.stack([p.deriv(k)(t) if k else p(t) for k in range(order)], axis=1)
    w = p.deriv(order)(t)
    return Timing(order, 1.0, nodes, np.stack([w[:-1], w[1:]], axis=1))


class Program:
    """Limits of torques (effort, nv) and rates (rate, nv, or None) along a path."""

    def __init__(self, coefficients, effort, rate, intervals):
        self.coefficients, self.effort, self.rate = coefficients, effort, rate
        self.order, self.n = (2 if rate is None else 3), intervals
        self.scale = np.ones((2, intervals, len(effort)))   # share of the limits that is used, below 1 where a solution exceeded them
        self.local = local_matrices(self.order, 1 / intervals, INSTANTS)
        self.continuity = self._continuity()

    # --- values ------------------------------------------------------------------------------------------------------

    def values(self, timing, shares):
        """Torques, and rates if they are limited, in parts of their limits, with derivatives by s, v, u, j: a list of
        (value, slopes), N x shares x nv each."""
        s, v, u, j = timing.at(shares)
        s = np.clip(s, 0, 1)
        found = [(self.coefficients.torque(s, v, u), self.effort)]
        if self.rate is not None:
            found.append((self.coefficients.rate(s, v, u, j), self.rate))
        shape = (self.n, len(shares), len(self.effort))
        return [((value / limit).reshape(shape), [(x / limit).reshape(shape) for x in slopes])
                for (value, slopes), limit in found]

    def excess(self, timing, shares=INSTANTS, scaled=True):
        """The largest excess of a limit, N x nv for torques and for rates."""
        return [(np.abs(value) - (self.scale[kind][:, None] if scaled else 1)).max(axis=1)
                for kind, (value, _) in enumerate(self.values(timing, shares))]

    # --- linear programs ---------------------------------------------------------------------------------------------

    def _column(self, interval, k):
        """The unknown number k of an interval: its state, then w at both ends. Unknown 0 is T."""
        n = (self.n + 1) * self.order
        return 1 + interval * self.order + k if k < self.order else 1 + n + 2 * interval + k - self.order

    def _continuity(self):
        """The states at the ends of intervals, and rest at both ends: E, e with E x = e."""
        ends = local_matrices(self.order, 1 / self.n, [1.0])[:self.order, 0]
        count = 1 + (self.n + 1) * self.order + 2 * self.n
        rows, columns, entries, right = [], [], [], []
        for i in range(self.n):
            for r in range(self.order):
                for k in range(self.order + 2):
                    if ends[r, k]:
                        rows.append(len(right)), columns.append(self._column(i, k)), entries.append(ends[r, k])
                rows.append(len(right)), columns.append(self._column(i + 1, r)), entries.append(-1.0)
                right.append(0.0)
        for node, state in ((0, [0.0] * self.order), (self.n, [1.0] + [0.0] * (self.order - 1))):
            for r in range(self.order):
                rows.append(len(right)), columns.append(1 + node * self.order + r), entries.append(1.0)
                right.append(state[r])
        return sparse.csr_matrix((entries, (rows, columns)), (len(right), count)), np.array(right)

    def _limits(self, timing, radius):
        """Linearised limits near the timing: A, b with A dx <= b, for those that are near enough to matter."""
        clear = CLEAR if radius <= SMALL_STEPS else np.inf
        derivatives = timing.at(INSTANTS)
        powers = timing.duration ** -np.arange(4.0)
        columns = np.array([[self._column(i, k) for k in range(self.order + 2)] for i in range(self.n)])
        blocks, right = [], []
        for kind, (value, slopes) in enumerate(self.values(timing, INSTANTS)):
            by_local = sum(x[..., None] * (self.local[r] * powers[r])[None, :, None, :] for r, x in enumerate(slopes))
            by_time = sum(-r / timing.duration * x * derivatives[r].reshape(self.n, -1, 1) for r, x in enumerate(slopes))
            for sign in (1, -1):
                room = self.scale[kind][:, None] - sign * value
                near = np.nonzero(room < clear)
                entries = sign * np.hstack([by_time[near][:, None], by_local[near]])
                where = np.hstack([np.zeros((len(entries), 1), int), columns[near[0]]])
                index = np.repeat(np.arange(len(entries)), entries.shape[1])
                blocks.append(sparse.csr_matrix((entries.ravel(), (index, where.ravel())),
                                                (len(entries), self.continuity[0].shape[1])))
                right.append(room[near])
        return sparse.vstack(blocks), np.concatenate(right)

    def step(self, timing, radius):
        """The timing that the linear program gives within the trust region, and the objective that it expects."""
        x = np.concatenate([[timing.duration], timing.nodes.ravel(), timing.highest.ravel()])
        # sizes of the unknowns, in whose parts they move
        sizes = np.concatenate([[timing.duration], np.tile([1, 2, 6][:self.order], self.n + 1),
                                np.full(2 * self.n, np.abs(timing.highest).max())])
        A, b = self._limits(timing, radius)
        equal, right = self.continuity
        low, high = np.full(len(x), -radius), np.full(len(x), radius)
        speeds = 2 + self.order * np.arange(self.n + 1)
        low[speeds] = np.maximum(low[speeds], -x[speeds] / sizes[speeds])
        cost = np.zeros(len(x) + 1)
        cost[0], cost[-1] = 1, PENALTY
        scale = sparse.diags(sizes)
        found = linprog(cost, sparse.hstack([A @ scale, sparse.csr_matrix(-np.ones((A.shape[0], 1)))]), b,
                        sparse.hstack([equal @ scale, sparse.csr_matrix((len(right), 1))]), right - equal @ x,
                        np.column_stack([np.append(low, 0), np.append(high, np.inf)]), method="highs")
        if found.x is None:
            raise NotSolved(f"HiGHS gave no step at T = {timing.duration:.6f} s: {found.message}")
        x = x + sizes * found.x[:-1]
        cut = 1 + timing.nodes.size
        moved = Timing(self.order, x[0], x[1:cut].reshape(-1, self.order), x[cut:].reshape(-1, 2))
        return moved, x[0] + PENALTY * timing.duration * found.x[-1]

    # --- search ------------------------------------------------------------------------------------------------------

    def merit(self, timing, duration):
        return timing.duration + PENALTY * duration * max(0.0, *(x.max() for x in self.excess(timing)))

    def minimise(self, timing, say, radius=0.5):
        """Steps until none promises to shorten the duration noticeably, or several have not done so. The latter happens
        where no limit is active for a while: the duration then hardly depends on the timing there."""
        durations = []
        for count in range(1, STEPS + 1):
            moved, expected = self.step(timing, radius)
            now = self.merit(timing, timing.duration)
            gain, promised = now - self.merit(moved, timing.duration), now - expected
            if gain > 0.1 * promised or count == 1:
                timing, radius = moved, radius * (2 if gain > 0.7 * promised else 1)
            else:
                radius /= 4
            durations.append(self.merit(timing, timing.duration))
            worst = max(x.max() for x in self.excess(timing))
            say(f"  step {count:2d}   T {timing.duration:.6f} s   excess {worst:8.1e}   radius {radius:.1e}")
            slow = count > SEVERAL and durations[-SEVERAL] - durations[-1] < SEVERAL * SMALL * timing.duration
            if count > 1 and (promised < SMALL * timing.duration or radius < SMALL or slow):
                return timing
        raise NotSolved(f"after {STEPS} steps, at T = {timing.duration:.6f} s, they still promise {promised:.1e} s")

    def fit(self, timing):
        """The same timing, as fast as its limits allow or somewhat slower."""
        while max(x.max() for x in self.excess(timing)) > 0:
            timing = replace(timing, duration=1.2 * timing.duration)
            if timing.duration > SLOWEST:
                raise NotSolved("the limits do not allow to stand on the path")
        while max(x.max() for x in self.excess(replace(timing, duration=timing.duration / 1.2))) <= 0:
            timing = replace(timing, duration=timing.duration / 1.2)
        return timing

    def repair(self, timing, say):
        """Lowers the limits of intervals in which torques exceed them between the instants, minimises, and so on."""
        shares = np.linspace(0, 1, DENSE * (len(INSTANTS) - 1) + 1)
        for _ in range(REPAIRS):
            excess = [x + MARGIN for x in self.excess(timing, shares, scaled=False)]
            worst = max(x.max() for x in excess)
            say(f"between instants {max(worst, 0):.1e} of a limit too much")
            if worst <= EXCESS:
                return timing
            for kind, x in enumerate(excess):
                self.scale[kind] -= np.where(x > 0, x + EXCESS / 4, 0)
            timing = self.minimise(timing, say, 1e-2)
        raise NotSolved(f"limits are still exceeded by {worst:.1e} between instants")


def fastest(coefficients, effort, rate, intervals, say):
    """The fastest timing with at least that many intervals. A few are solved first, and then halved: steps are fewer and
    smaller programs."""
    timing, n = None, -(-intervals // 2 ** HALVINGS)
    for level in range(HALVINGS + 1):
        say(f"{n} intervals")
        program = Program(coefficients, effort, rate, n)
        first = timing.halved() if timing else program.fit(start(program.order, n))
        timing = program.minimise(first, say, 0.02 if level else 0.5)
        n *= 2
    return program.repair(timing, say)
