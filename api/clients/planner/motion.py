"""Joint motions as B-splines: what a planner varies.

q(t) = sum_i B_i(t/T) c_i with basis functions of the given degree over clamped knots on [0, 1]: control points c_i are
joint positions, the duration T stretches time. Equations: Piegl & Tiller 1997, chapters 2, 3
and 5.
"""
from dataclasses import dataclass, replace

import numpy as np
from scipy import interpolate


@dataclass(frozen=True)
class Motion:
    """knots: m + degree + 1, from 0 to 1, both degree + 1 times; points: m x nv, in rad or m; duration in s."""
    degree: int
    knots: np.ndarray
    points: np.ndarray
    duration: float

    @property
    def spans(self):
        """The different knots: between two of them the motion is one polynomial."""
        return np.unique(self.knots)

    def request(self, fractions, outputs):
        """A request of `trajectory` for the states at these fractions of the duration."""
        return {"degree": self.degree, "knots": self.knots.tolist(), "duration": self.duration,
                "control_points": self.points.tolist(),
                "times": np.minimum(fractions * self.duration, self.duration).tolist(), "outputs": outputs}

    def velocity_matrix(self):
        """V, (m-1) x m, such that the control points of qd are V c / T:  p (c_{i+1} - c_i) / (k_{i+p+1} - k_{i+1}).
        Where all of them respect a bound, qd does at every instant: a B-spline lies in the hull of its points."""
        p, m = self.degree, len(self.points)
        width = self.knots[p + 1:p + m] - self.knots[1:m]
        return np.diff(np.eye(m), axis=0) * (p / width)[:, None]

    def with_knots(self, fractions):
        """The same motion with these knots more (Boehm's insertion)."""
        knots, points = self.knots, self.points
        for fraction in fractions:
            p, m = self.degree, len(points)
            # splev and insert want coefficients padded to the length of the knots
            columns = [np.append(points[:, j], np.zeros(p + 1)) for j in range(points.shape[1])]
            inserted = [interpolate.insert(fraction, (knots, column, p)) for column in columns]
            knots = inserted[0][0]
            points = np.array([column[:m + 1] for _, column, _ in inserted]).T
        return replace(self, knots=knots, points=points)


def straight(start, end, degree, count, rest, duration):
    """From start to end on a straight line in joint space, with `count` control points over uniform knots. The first
    and the last `rest` points are equal: 2 stand for no velocity at the ends, 3 for no acceleration either."""
    if count < max(degree + 1, 2 * rest + 1):
        raise ValueError(f"{count} control points: degree {degree} with {rest} at rest at each end needs "
                         f"{max(degree + 1, 2 * rest + 1)}")
    inner = np.linspace(0, 1, count - degree + 1)[1:-1]
    knots = np.concatenate([np.zeros(degree + 1), inner, np.ones(degree + 1)])
    # Greville abscissae: control points there reproduce straight lines
    share = np.array([knots[i + 1:i + degree + 1].mean() for i in range(count)])
    share[:rest], share[-rest:] = 0, 1
    start, end = np.asarray(start, float), np.asarray(end, float)
    return Motion(degree, knots, start + np.outer(share, end - start), float(duration))
