"""When and where the feet touch the ground during one step, from the heel strike of the left foot to that of the right one.

Phases are double support, then single support on the left foot. Parts of the feet on the ground, by fractions of
the step's duration:

    left foot    heel: 0 .. flat, whole sole: flat .. heel_off, toes: heel_off .. 1
    right foot   toes: 0 .. double / 2, tip of the toes: .. double; then it swings, and its heel strikes at 1

x is the direction of walking, y is to the left, z up; the left foot's ankle stands at x = 0.
"""
from dataclasses import dataclass, field

import numpy as np

HEEL, BALL, TIP = -0.055, 0.125, 0.2031     # m, ahead of the ankle: where the model's foot touches the ground at q = 0
HALF_WIDTH = 0.04                           # m, of a foot: where its contact points lie beside the middle
# Points and axes that each part of a foot on the ground holds; of a pair of points the difference of both is held.
HELD = {"heel": [("heel", "xyz"), ("ball", "y"), ("inner outer", "z")],
        "tip": [("toe_inner", "xyz"), ("toe_outer", "z")],
        "toes": [("ball", "xyz"), ("toe_inner", "yz"), ("toe_outer", "z")],
        "sole": [("ball", "xyz"), ("toe_inner", "yz"), ("toe_outer", "z"), ("heel", "z")],
        "air": []}
SOLE = ("heel", "inner", "outer", "toe_inner", "toe_outer")
TOUCHING = {"heel": SOLE[:1], "tip": SOLE[3:], "toes": SOLE[1:], "sole": SOLE, "air": ()}
NEAR = 1e-9


@dataclass(frozen=True)
class Schedule:
    """speed in m/s; length and width of a step in m; `double`, `flat`, `heel_off`: fractions of the duration; `points`: number
    of control points of each coordinate; `instants`: of forces in each span between two knots. `flat` and `heel_off` are moved to the
    next contact inwards."""
    speed: float = 1.2
    length: float = 0.6
    width: float = 0.12
    double: float = 0.2
    flat: float = 0.25
    heel_off: float = 0.6
    points: int = 6
    instants: int = 4
    knots: np.ndarray = field(init=False)
    contacts: np.ndarray = field(init=False)
    fractions: np.ndarray = field(init=False)

    def __post_init__(self):
        if self.points < 6:
            raise ValueError(f"{self.points} control points: a step needs at least 6")
        spans = self.points - 3
        early = max(1, round(spans * 0.34))
        breaks = np.concatenate([np.linspace(0, self.double, early + 1),
                                 np.linspace(self.double, 1, spans - early + 1)[1:]])
        knots = np.concatenate([np.zeros(3), breaks, np.ones(3)])
        # at the Greville abscissae a spline can take any values, so that contacts there do not contradict each other
        contacts = np.array([knots[i + 1:i + 4].mean() for i in range(self.points)])
        forces = np.concatenate([np.linspace(a, b, self.instants + 1) for a, b in zip(breaks, breaks[1:])])
        for name, value in (("knots", knots), ("contacts", contacts), ("flat", contacts[contacts > self.flat - NEAR].min()),
                            ("heel_off", contacts[contacts < self.heel_off + NEAR].max()),
                            ("fractions", np.unique(np.round(np.concatenate([forces, contacts]), 12)))):
            object.__setattr__(self, name, value)

    @property
    def duration(self):
        return self.length / self.speed

    @property
    def times(self):
        """Times of all instants, s."""
        return self.fractions * self.duration

    @property
    def phases(self):
        """Double and single support: slices of the instants. The instant between the two is in both."""
        switch = int(np.argmin(np.abs(self.fractions - self.double)))
        return slice(0, switch + 1), slice(switch, len(self.fractions))

    @staticmethod
    def feet():
        """Points of `ground-reaction` that carry the resultant, for each phase."""
        return [{"frame": "left_sole"}, {"frame": "right_ball"}], [{"frame": "left_sole"}]

    def contact(self, side, at):
        """The part of a foot that is on the ground at a fraction of the duration: a key of HELD."""
        if side == "left":
            return "heel" if at < self.flat - NEAR else "sole" if at <= self.heel_off + NEAR else "toes"
        if at <= self.double + NEAR:
            return "toes" if at <= self.double / 2 else "tip"
        return "heel" if at == 1 else "air"

    def held(self):
        """(instant, side, points and axes) of the contacts that are enforced. The right foot's at both ends are the mirror image
        of the left foot's at the other end, and left out."""
        for at in self.contacts:
            yield self._instant(at), "left", HELD[self.contact("left", at)]
            if 0 < at < self.double - NEAR:
                yield self._instant(at), "right", HELD[self.contact("right", at)]
        yield self._instant(self.double), "right", HELD["tip"]

    def _instant(self, fraction):
        return int(np.argmin(np.abs(self.fractions - fraction)))

    def touching(self, index):
        """Names of the points that rest on the ground at an instant."""
        return [f"{side}_{name}" for side in ("left", "right") for name in TOUCHING[self.contact(side, self.fractions[index])]]

    def place(self, side, name):
        """Where a point touches the ground, m. The right foot is meant before it leaves."""
        x, y = (0.0, self.width / 2) if side == "left" else (-self.length, -self.width / 2)
        ahead = {"heel": HEEL, "ball": BALL, "inner": BALL, "outer": BALL}.get(name, TIP)
        beside = {"inner": -HALF_WIDTH, "outer": HALF_WIDTH}.get(name.split("_")[-1], 0.0)
        return np.array([x + ahead, y + beside, 0.0])

    def footprints(self):
        """Corners of the left foot, and of the right one before and after its swing."""
        left, right = self._corners("left", HEEL, TIP), self._corners("right", HEEL, TIP)
        prints = [left, right, [(x + 2 * self.length, y) for x, y in right]]
        return [[corners[i] for i in (0, 1, 3, 2)] for corners in prints]

    def polygon(self, index, single):
        """The support polygon at an instant: rows [a, b, c] with a x + b y <= c and a unit normal [a, b]."""
        at = self.fractions[index]
        back = BALL if at > self.heel_off + NEAR else HEEL
        front = HEEL if at < self.double - NEAR else TIP
        corners = self._corners("left", back, front)
        if not single:
            corners += self._corners("right", BALL, TIP)
        return half_planes(np.array(corners))

    def _corners(self, side, back, front):
        x, y, _ = self.place(side, "heel") - (HEEL, 0, 0)
        return [(x + along, y + beside) for along in (back, front) for beside in (-HALF_WIDTH, HALF_WIDTH)]


def half_planes(points):
    """The convex hull of points in the plane, by the monotone chain of Andrew 1979: rows [a, b, c] of a x + b y <= c."""
    points = sorted(map(tuple, np.unique(points, axis=0)))

    def chain(ordered):
        hull = []
        for point in ordered:
            while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 1e-12:
                hull.pop()
            hull.append(point)
        return hull[:-1]

    corners = np.array(chain(points) + chain(points[::-1]))       # counter-clockwise
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    return np.column_stack([normals, (normals * corners).sum(axis=1)])


def _turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
