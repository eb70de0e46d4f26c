"""Solves for the friction of joints at rest beside held frames, from what other operations say, by an active-set method for
bounded least squares (SciPy's bvls); and measures how far an answer is off the conditions that a
solution has to fulfil (Karush, Kuhn & Tucker)."""
import numpy as np
from scipy.optimize import lsq_linear


class Friction:
    """The friction problem of one state: accelerations a = b - A f of the rows W, with frames held along J."""

    def __init__(self, M, qdd_free, W, low, high, J=None, drift=None):
        """qdd_free: accelerations without held frames and without the friction f of the rows at rest, low <= f <= high.
        Held frames have J qdd + drift = 0."""
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
        """Accelerations of the robot with the friction `f`."""
        return self.qdd_held - np.linalg.solve(self.L.T, self.Y @ f)

    def solve(self, softness=1e-11):
        """f of the problem with A + softness D, D the diagonal that weighs f by its range: close to the solution with the
        least sum of squares of f / (high - low)."""
        scaled = self.Y * self.span
        A = scaled.T @ scaled + softness * ((self.free * self.span) ** 2).max(initial=0) * np.eye(len(self.b))
        R = np.linalg.cholesky(A).T
        right = np.linalg.solve(R.T, self.b * self.span)
        return np.zeros(0) if len(A) == 0 else self.span * lsq_linear(R, right, (self.low / self.span, self.high / self.span), method="bvls", tol=1e-15,
                                      max_iter=5000).x

    def residual(self, f, qdd):
        """The largest violation: of the limits, and of rows that accelerate without the full friction against them; as
        parts of the range of friction."""
        beyond = np.maximum(f - self.high, self.low - f).clip(0) / self.span
        a = self.W @ qdd
        noise = 1e-9 * (self.size + np.abs(a).max(initial=0))
        off = np.where(a > noise, self.high - f, np.where(a < -noise, f - self.low, 0)) / self.span
        return max(beyond.max(initial=0), np.abs(off).max(initial=0))

    def norm(self, f):
        return np.linalg.norm(f / self.span)
