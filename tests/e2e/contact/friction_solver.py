"""Solves for the friction of joints at rest in a robot with held frames, from M and accelerations that other operations answer, by an active-set
method for bounded least squares (SciPy's bvls). Also measures how far an answer violates the optimality conditions of Karush, Kuhn & Tucker."""
import numpy as np
from scipy.optimize import linprog, lsq_linear


class Friction:
    """The friction problem of one state: accelerations a = b - A f along the rows W of joints at rest, with frames held
    along J."""

    def __init__(self, M, qdd_free, W, low, high, J=None, drift=None):
        """`qdd_free` are the accelerations without held frames and without the friction f of the joints at rest, low <=
        f <= high. Held frames satisfy J qdd + drift = 0."""
        nv = len(M)
        J = np.zeros((0, nv)) if J is None else J
        drift = np.zeros(len(J)) if drift is None else drift
        self.W, self.low, self.high, self.span = W, low, high, high - low
        self.L = np.linalg.cholesky(M)
        X = np.linalg.solve(self.L, J.T)
        back = np.linalg.pinv(X.T, rcond=1e-8) if len(J) else np.zeros((nv, 0))
        self.qdd_held = qdd_free - np.linalg.solve(self.L.T, back @ (J @ qdd_free + drift))
        self.free = free = np.linalg.solve(self.L, W.T)
        self.Y = free - back @ (X.T @ free)
        self.b = W @ self.qdd_held
        self.size = np.linalg.norm(free, axis=0) * np.linalg.norm(self.L.T @ qdd_free) + np.abs(self.b)

    def accelerations(self, f):
        """Returns qdd of the robot with friction f."""
        return self.qdd_held - np.linalg.solve(self.L.T, self.Y @ f)

    def solve(self, softness=1e-11):
        """Returns f of the problem with A + D in place of A, where the diagonal matrix D is proportional to `softness` and to 1 / (high -
        low)^2: close to the solution that minimises the sum of squares of f / (high - low)."""
        scaled = self.Y * self.span
        A = scaled.T @ scaled + softness * ((self.free * self.span) ** 2).max(initial=0) * np.eye(len(self.b))
        R = np.linalg.cholesky(A).T
        right = np.linalg.solve(R.T, self.b * self.span)
        return np.zeros(0) if len(A) == 0 else self.span * lsq_linear(R, right, (self.low / self.span, self.high / self.span), method="bvls", tol=1e-15,
                                      max_iter=5000).x

    def residual(self, f, qdd):
        """Returns the largest violation, relative to the range high - low: of the limits, or of complementarity (a
        joint that accelerates must have the full friction against its acceleration)."""
        beyond = np.maximum(f - self.high, self.low - f).clip(0) / self.span
        a = self.W @ qdd
        noise = 1e-9 * (self.size + np.abs(a).max(initial=0))
        off = np.where(a > noise, self.high - f, np.where(a < -noise, f - self.low, 0)) / self.span
        return max(beyond.max(initial=0), np.abs(off).max(initial=0))

    def admits(self, lost, rates, M, J):
        """True if friction, together with wrenches on held frames, can cause the loss `lost` of acceleration. Friction is within its limits for
        rows at rest (rate 0), and at the limit against the motion for rows that move."""
        moves = np.abs(rates) > 1e-11
        ends = np.where(rates > 0, self.high, self.low)
        bounds = [(end, end) if moving else (low, high) for moving, end, low, high in zip(moves, ends, self.low, self.high)]
        columns = self.W.T if J is None else np.hstack([self.W.T, -J.T])
        bounds += [(None, None)] * (columns.shape[1] - len(bounds))
        return linprog(np.zeros(columns.shape[1]), A_eq=columns, b_eq=M @ lost, bounds=bounds).status == 0

    def norm(self, f):
        return np.linalg.norm(f / self.span)
