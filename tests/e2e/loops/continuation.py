"""Follows closed mechanisms along lines by continuation in arc length, many lines at once.

The solutions of r(x, s) = 0 from s = 0 on are a curve in the unknown coordinates x and the line's parameter s. Each step predicts along the
curve's tangent and corrects across it (Allgower & Georg 1990, chapters 2 to 4 and 8). The Jacobian of x loses rank where the curve turns back in
s, and where it meets another curve: there det(Q^T [dr/dx dr/ds; tangent]) changes sign, with Q an orthonormal basis of the Jacobian's range that
changes continuously along the curve. A step across which the sign changes is halved, which also prevents steps from jumping to another curve
close by."""
import numpy as np
from scipy.interpolate import BSpline
from tree_kinematics import exponential, from_quaternions, logarithm, quaternion_product

REACHED, CROSSED = 1, 2


class Line:
    """Problem: the passive coordinates while the actuated ones move straight from `start` to `goals`, two arrays [rows,
    nq of the tree]."""

    def __init__(self, mechanism, start, goals):
        self.m, self.start = mechanism, np.repeat(start[None], len(goals), 0)
        self.unknown = mechanism.passive_v
        self.rate = mechanism.between(self.start, goals)
        self.rate[:, self.unknown] = 0

    def rates(self, s, rows):
        return self.rate[rows]

    def place(self, q, s, rows):
        """Sets the actuated coordinates to their values at s."""
        actuated = self.m.move(self.start[rows], s[:, None] * self.rate[rows])
        q[:, self.m.active_q] = actuated[:, self.m.active_q]
        return q

    def rows(self, q, s, rows):
        """Returns the loop residual r, dr/dx for the unknown velocities x, and dr/ds."""
        q = self.place(q.copy(), s, rows)
        r, J = self.m.open_by(q)
        return r, J[:, :, self.unknown], (J @ self.rates(s, rows)[:, :, None])[..., 0]


class Spline(Line):
    """Problem: the passive coordinates while the actuated ones move along clamped splines with evenly spaced knots,
    from starts [rows, nq of the tree]; control points have shape [rows, m, actuated coordinates]."""

    def __init__(self, mechanism, starts, degree, points):
        self.m, self.start, self.unknown, self.points = mechanism, starts, mechanism.passive_v, points
        count = points.shape[1]
        knots = np.concatenate([[0] * degree, np.linspace(0, 1, count - degree + 1), [1] * degree])
        self.basis = BSpline(knots, np.eye(count), degree)
        self.slope = self.basis.derivative()

    def rates(self, s, rows):
        rate = np.zeros((len(s), self.m.nv))
        rate[:, self.m.active_v] = np.einsum("rk,rkj->rj", self.slope(s), self.points[rows])
        return rate

    def place(self, q, s, rows):
        q[:, self.m.active_q] = np.einsum("rk,rkj->rj", self.basis(s), self.points[rows])
        return q


class Guess:
    """Problem: the coordinates move from a guess to a position in which the loops are closed. The residual of the guess shrinks linearly to
    zero: r(x) = (1 - s) r(guess)."""

    def __init__(self, mechanism, guesses):
        self.m, self.start, self.unknown = mechanism, guesses, mechanism.passive_v
        self.first = mechanism.open_by(guesses)[0]

    def place(self, q, s, rows):
        return q

    def rows(self, q, s, rows):
        r, J = self.m.open_by(q)
        return r - (1 - s)[:, None] * self.first[rows], J[:, :, self.unknown], self.first[rows]


class Carried:
    """Problem: all coordinates while a frame moves straight to positions, and turns along the shorter arc to
    orientations if given."""

    def __init__(self, mechanism, start, frame, positions, orientations=None):
        self.m, self.frame, self.start = mechanism, frame, np.repeat(start[None], len(positions), 0)
        self.unknown = np.arange(mechanism.nv)
        self.p0, self.R0 = (x[0] for x in mechanism.pose(start[None], frame)[:2])
        self.way = positions - self.p0
        self.turn = None
        if orientations is not None:
            from_matrix = np.array([*_quaternion(self.R0)])
            self.turn = logarithm(quaternion_product(orientations, np.repeat((from_matrix * [-1, -1, -1, 1])[None],
                                                                             len(orientations), 0)))

    def place(self, q, s, rows):
        return q

    def rows(self, q, s, rows):
        r, J = self.m.open_by(q)
        p, R, Jv, Jw = self.m.pose(q, self.frame)
        scale = self.m.length
        parts = [(r, J, np.zeros_like(r)),
                 ((p - self.p0 - s[:, None] * self.way[rows]) / scale, Jv / scale, -self.way[rows] / scale)]
        # residual of the rotation: axis times sine of the angle between the frame and its goal at s
        if self.turn is not None:
            w = self.turn[rows]
            off = R @ np.swapaxes(from_quaternions(exponential(s[:, None] * w)) @ self.R0, 1, 2)
            trace = np.trace(off, axis1=1, axis2=2)[:, None, None]
            rate = (trace * np.eye(3) - off) / 2
            sine = (off - np.swapaxes(off, 1, 2)) / 2
            # derivative of `sine` by a rotation of the goal, with the opposite sign
            back = (trace * np.eye(3) - np.swapaxes(off, 1, 2)) / 2
            parts.append((np.stack([sine[:, 2, 1], sine[:, 0, 2], sine[:, 1, 0]], 1), rate @ Jw, -(back @ w[..., None])[..., 0]))
        return tuple(np.concatenate([part[i] for part in parts], 1) for i in range(3))


def _quaternion(R):
    """Returns the quaternion [x, y, z, w] of a rotation matrix: the eigenvector of its symmetric 4 x 4 form
    (Bar-Itzhack 2000)."""
    K = np.array([[R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
                  [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
                  [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
                  [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R[0, 0] + R[1, 1] + R[2, 2]]]) / 3
    return np.linalg.eigh(K)[1][:, -1]


class Points:
    """Points of the curves, one point in each row: coordinates q, parameter s, unit tangent t, basis Q of the range of the rows, determinant
    `det`, and smallest relative singular value `least` of dr/dx."""
    FIELDS = ("q", "s", "t", "Q", "det", "least")

    def __init__(self, *values):
        for name, value in zip(self.FIELDS, values):
            setattr(self, name, value)

    def take(self, rows):
        return Points(*(getattr(self, name)[rows] for name in self.FIELDS))

    def put(self, rows, points):
        for name in self.FIELDS:
            getattr(self, name)[rows] = getattr(points, name)


def _transposed(a):
    return np.swapaxes(a, 1, 2)


def _solve(A, y):
    return np.linalg.solve(A, y[..., None])[..., 0]


def _bordered(A, t):
    return np.concatenate([A, t[:, None]], 1)


def _describe(A, Q, t, q, s):
    """Returns the point at which the Jacobian of the rows is A [rows, m, n + 1]; signs of its Q and t follow those
    given."""
    n = A.shape[2] - 1
    if A.shape[1] > n:
        span = np.linalg.svd(A)[0][:, :, :n]
        basis, triangle = np.linalg.qr(span @ (_transposed(span) @ Q))
        Q = basis * np.sign(np.einsum("rii->ri", triangle))[:, None]
    square = _transposed(Q) @ A
    end = np.zeros((len(A), n + 1))
    end[:, n] = 1
    t = _solve(_bordered(square, t), end)
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    values = np.linalg.svd(square[:, :, :n], compute_uv=False)
    return Points(q, s, t, Q, np.linalg.det(_bordered(square, t)), values[:, -1] / values[:, 0])


def _augmented(problem, q, s, rows):
    r, Jx, Js = problem.rows(q, s, rows)
    return r, np.concatenate([Jx, Js[:, :, None]], 2)


def _moved(problem, q, s, d):
    dv = np.zeros((len(q), problem.m.nv))
    dv[:, problem.unknown] = d[:, :-1]
    return problem.m.move(q, dv), s + d[:, -1]


def _correct(problem, start, rows, q, s, across):
    """Corrects q, s by Newton's method at right angles to `across`. Returns q, s, the Jacobian, the first correction,
    and whether the last correction was small and the residual vanishes."""
    first = last = None
    for _ in range(5):
        r, A = _augmented(problem, q, s, rows)
        border = _bordered(_transposed(start.Q) @ A, across)
        right = -np.concatenate([(_transposed(start.Q) @ r[..., None])[..., 0], np.zeros((len(r), 1))], 1)
        d = _solve(border, right)
        size = np.linalg.norm(d, axis=1)
        first = size if first is None else first
        good = np.isfinite(size) & (size < 1)
        q, s = _moved(problem, q, s, np.where(good[:, None], d, 0))
        last = np.where(good, size, np.inf)
        if (last[good] < 1e-13).all():
            break
    r, A = _augmented(problem, q, s, rows)
    # rounding error of a correction, which grows as the system becomes singular
    rounding = 1e-14 / np.maximum(start.least, 1e-6)
    return q, s, A, first, (last < np.maximum(rounding, 1e-11)) & (np.abs(r).max(1) < 1e-11)


def _step(problem, start, rows, h):
    """Steps a length h along the tangent. Returns the new point, the error of the prediction, and whether a point was
    found."""
    q, s = _moved(problem, start.q, start.s, h[:, None] * start.t)
    q, s, A, first, found = _correct(problem, start, rows, q, s, start.t)
    return _describe(A, start.Q, start.t, q, s), first, found


def _root(problem, start, rows, h, value):
    """Finds the step length between 0 and h after which `value(point)` vanishes, by the Illinois variant of false
    position; the value changes sign between 0 and h."""
    low, high = np.zeros_like(h), h.copy()
    below, above = value(start), value(_step(problem, start, rows, high)[0])
    for _ in range(12):
        middle = high - above * (high - low) / (above - below)
        here = value(_step(problem, start, rows, middle)[0])
        over = here * below <= 0
        low, high = np.where(over, low, middle), np.where(over, middle, high)
        below, above = np.where(over, below / 2, here), np.where(over, here, above / 2)
        if (np.abs(here) < 1e-12).all():
            break
    return middle


def _branching(problem, start, rows, h=1e-3):
    """Returns s at which the curve intersects another one: the determinant is interpolated linearly between a close point and one beyond."""
    beyond = _step(problem, start, rows, np.full(len(rows), h))[0]
    part = np.clip(start.det / (start.det - beyond.det), 0, 1)
    return start.s + part * (beyond.s - start.s)


class Followed:
    """Results, one entry for each line that is followed: `outcome` REACHED or CROSSED, `fraction` of the line at the first crossing, coordinates
    `q` at the line's end, and `least`, the smallest relative singular value of dr/dx on the way."""

    def __init__(self, n, q):
        self.outcome, self.fraction = np.zeros(n, int), np.full(n, np.nan)
        self.q, self.least = q.copy(), np.full(n, np.inf)

    def cross(self, rows, fractions):
        self.outcome[rows], self.fraction[rows] = CROSSED, fractions


def _finish(problem, result, start, rows, h, turned, end):
    """Finishes rows whose step of length h passes s = `end` or turns back in s (`turned`): finds the end point, or the
    crossing before it."""
    turning = np.where(turned)[0]
    if len(turning):
        part = start.take(turning)
        h[turning] = _root(problem, part, rows[turning], h[turning], lambda point: point.t[:, -1])
        peak = _step(problem, part, rows[turning], h[turning])[0].s
        short = peak <= end
        result.cross(rows[turning[short]], peak[short])
        result.least[rows[turning[short]]] = 0
        ending = np.setdiff1d(np.arange(len(rows)), turning[short])
    else:
        ending = np.arange(len(rows))
    if not len(ending):
        return
    part, rows = start.take(ending), rows[ending]
    near = _step(problem, part, rows, _root(problem, part, rows, h[ending], lambda point: point.s - end))[0]
    goal, fixed = np.full(len(rows), end), np.zeros_like(near.t)
    fixed[:, -1] = 1
    q, _, A, _, found = _correct(problem, part, rows, near.q, goal, fixed)
    last = _describe(A, part.Q, part.t, q, goal)
    if not (found | (last.least < 1e-6)).all():
        raise ArithmeticError("the end of a line was not found")
    result.outcome[rows], result.q[rows] = REACHED, problem.place(q, goal, rows)
    result.least[rows] = np.minimum(result.least[rows], last.least)


def follow(problem, step=0.3, bend=0.1, miss=0.02, least_step=1e-6, end=1.0):
    """Follows all lines of a problem to s = `end`. A step is at most `step` long, turns the tangent by less than `bend`
    rad, and its prediction errs by less than `miss` of its length."""
    n, rows = len(problem.unknown), np.arange(len(problem.start))
    q, s = problem.start.copy(), np.zeros(len(rows))
    r, A = _augmented(problem, q, s, rows)
    if np.abs(r).max() > 1e-9:
        raise ArithmeticError(f"the start is open by {np.abs(r).max():.3g}")
    ahead = np.zeros((len(rows), n + 1))
    ahead[:, n] = 1
    points = _describe(A, np.linalg.svd(A[:, :, :n])[0][:, :, :n], ahead, q, s)
    if points.least.min() < 1e-9:
        raise ArithmeticError("the start is singular")
    result, h = Followed(len(rows), q), np.full(len(rows), step / 6)
    back, smooth = np.zeros(len(rows), bool), np.ones(len(rows), bool)
    while len(rows):
        start = points.take(rows)
        result.least[rows] = np.minimum(result.least[rows], start.least)
        new, off, found = _step(problem, start, rows, h[rows])
        cosine = (new.t * start.t).sum(1)
        good = found & (off < miss * h[rows]) & (cosine > np.cos(bend)) & (new.det * start.det > 0)
        stuck = ~good & (h[rows] < least_step)
        if stuck.any():
            result.cross(rows[stuck], _branching(problem, start.take(stuck), rows[stuck]))
            result.least[rows[stuck]] = 0
        turned = new.t[:, -1] <= 0
        last = good & (turned | (new.s >= end))
        back[rows[last]] = turned[last]
        on = good & ~last
        points.put(rows[on], new.take(on))
        ease = on & (cosine > np.cos(0.7 * bend)) & (off < 0.5 * miss * h[rows])
        h[rows] *= np.where(ease & smooth[rows], 1.4, np.where(good, 1, 0.5))
        smooth[rows] = good
        h = np.minimum(h, step)
        rows = rows[~(stuck | last)]
    rows = np.where(result.outcome == 0)[0]
    _finish(problem, result, points.take(rows), rows, h[rows], back[rows], end)
    return result


def close(mechanism, q):
    """Closes the loops near q by Newton's method on all coordinates, with minimum-norm corrections."""
    q = q[None].copy()
    for _ in range(50):
        r, J = mechanism.open_by(q)
        q = mechanism.move(q, -(np.linalg.pinv(J, rcond=1e-9) @ r[..., None])[..., 0])
    return q[0]
