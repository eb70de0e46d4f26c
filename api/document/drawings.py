"""Draws joints and placements of frames for the page about documents, as SVG in isometric projection: x points down to the
left, y down to the right, z up."""
import html
import math

WIDTH, HEIGHT, SCALE = 320, 240, 78
INK, PARENT, CHILD, MOTION, AXIS = "#1f2937", "#cbd5e1", "#93c5fd", "#c2410c", "#64748b"
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def add(a, b, factor=1.0):
    return tuple(p + factor * q for p, q in zip(a, b))


def turned(angle, radius, z=0.0):
    return (radius * math.cos(angle), radius * math.sin(angle), z)


class Drawing:
    """Collects shapes; places are in space, in units of about a link's length."""

    def __init__(self, centre=(0.0, 0.0, 0.35)):
        self.shapes, self.centre = [], centre

    def at(self, place):
        x, y, z = (p - c for p, c in zip(place, self.centre))
        return WIDTH / 2 + SCALE * 0.866 * (y - x), HEIGHT / 2 - SCALE * (z - 0.5 * (x + y))

    def path(self, places, *, stroke=INK, width=1.5, fill="none", dash=None, closed=False, head=False):
        points = [self.at(place) for place in places]
        text = "M" + "L".join(f"{u:.1f} {v:.1f}" for u, v in points) + ("Z" if closed else "")
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(f'<path d="{text}" fill="{fill}" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round"'
                           f' stroke-linecap="round"{dashes}/>')
        if head:
            self.head(points[-2], points[-1], stroke)

    def head(self, before, tip, colour):
        angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
        sides = [(tip[0] - 9 * math.cos(angle + s), tip[1] - 9 * math.sin(angle + s)) for s in (0.4, -0.4)]
        corners = " ".join(f"{u:.1f},{v:.1f}" for u, v in (tip, *sides))
        self.shapes.append(f'<polygon points="{corners}" fill="{colour}"/>')

    def arrow(self, start, end, colour=MOTION, width=2.0, dash=None):
        self.path([start, end], stroke=colour, width=width, head=True, dash=dash)

    def arc(self, centre, first, second, start, end, colour=MOTION):
        """An arrow along a circle in the plane of the vectors `first` and `second`, whose length is the radius."""
        steps = max(8, int(abs(end - start) * 10))
        angles = [start + (end - start) * i / steps for i in range(steps + 1)]
        self.path([add(add(centre, first, math.cos(a)), second, math.sin(a)) for a in angles], stroke=colour, width=2.0, head=True)

    def box(self, centre, size, fill=PARENT, dash=None, angle=0.0):
        """A box whose axes are turned about z by an angle; its three visible faces are drawn."""
        ex, ey = turned(angle, 1), turned(angle + math.pi / 2, 1)
        corner = {(i, j, k): add(add(add(centre, ex, i * size[0] / 2), ey, j * size[1] / 2), Z, k * size[2] / 2)
                  for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)}
        sides = [((1, -1), (1, 1)), ((1, 1), (-1, 1)), ((-1, 1), (-1, -1)), ((-1, -1), (1, -1))]
        for one, other in sides:
            normal = (one[0] + other[0]) / 2 * (ex[0] + ex[1]) + (one[1] + other[1]) / 2 * (ey[0] + ey[1])
            if normal > 1e-9 and not dash:
                self.path([corner[(*one, -1)], corner[(*other, -1)], corner[(*other, 1)], corner[(*one, 1)]], fill=fill, closed=True)
        top = [corner[(i, j, 1)] for i, j in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
        self.path(top, fill="none" if dash else fill, closed=True, dash=dash, stroke=AXIS if dash else INK)

    def cylinder(self, bottom, height, radius, fill=PARENT):
        """An upright cylinder."""
        circle = [add(bottom, turned(math.pi * i / 24, radius)) for i in range(49)]
        upper = [add(place, Z, height) for place in circle]
        left, right = 42, 18  # the outline in this projection: directions of -45 and 135 degrees
        outline = [upper[left], *circle[left:], *circle[:right + 1], upper[right]]
        self.path(outline, fill=fill)
        self.path(upper, fill=fill, closed=True)

    def ball(self, centre, radius, fill=CHILD):
        u, v = self.at(centre)
        self.shapes.append(f'<circle cx="{u:.1f}" cy="{v:.1f}" r="{radius * SCALE:.1f}" fill="{fill}" stroke="{INK}" stroke-width="1.5"/>')

    def text(self, place, words, colour=INK, *, dx=6, dy=4, anchor="start"):
        u, v = self.at(place)
        self.shapes.append(f'<text x="{u + dx:.1f}" y="{v + dy:.1f}" fill="{colour}" text-anchor="{anchor}" '
                           f'stroke="#ffffff" stroke-width="3" paint-order="stroke">{html.escape(words)}</text>')

    def axis(self, start, end, words="axis"):
        self.path([start, end], stroke=AXIS, dash="7 3 1.5 3", head=True)
        self.text(end, words, AXIS)

    def frame(self, origin, label, axes=(X, Y, Z), length=0.55):
        for direction, name in zip(axes, "xyz"):
            tip = add(origin, direction, length)
            self.path([origin, tip], head=True)
            self.text(tip, name, dx=-14 if name == "x" else 5, dy=4)
        self.text(origin, label, dx=0, dy=22 + SCALE * length / 2, anchor="middle")

    def svg(self, title):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
                f'font-family="sans-serif" font-size="13"><title>{html.escape(title)}</title>'
                f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff"/>' + "".join(self.shapes) + "</svg>\n")


def arm(d, angle, z=0.62, dash=None):
    """A link that leads away from the joint; with `dash` the place to which it moves."""
    d.box(add((0, 0, z), turned(angle, 0.5)), (1.0, 0.2, 0.14), CHILD, dash, angle)


def pedestal(d):
    d.box((0, 0, 0), (0.7, 0.7, 0.2))
    d.cylinder((0, 0, 0.1), 0.45, 0.16)


def revolute(words="q [rad]", end=1.45):
    d = Drawing()
    pedestal(d)
    if end < 2:
        arm(d, end, dash="4 3")
    arm(d, 0.35)
    d.axis((0, 0, 0.69), (0, 0, 1.35))
    d.arc((0, 0, 0.72), turned(0, 0.75), turned(math.pi / 2, 0.75), 0.5, 0.5 + end - 0.25)
    d.text((0.55, 0.55, 0.72), words, MOTION, dx=0, dy=84, anchor="middle")
    return d


def continuous():
    return revolute("q [rad], without end", 6.0)


def prismatic():
    d = Drawing((0, 0.1, 0.2))
    d.box((0, 0.1, 0), (0.5, 2.0, 0.2))
    d.box((0, 0.75, 0.24), (0.5, 0.5, 0.28), CHILD, "4 3")
    d.box((0, -0.35, 0.24), (0.5, 0.5, 0.28), CHILD)
    d.arrow((0, -0.35, 0.62), (0, 0.6, 0.62))
    d.text((0, 0.15, 0.62), "q [m]", MOTION, dy=-8)
    d.axis((0, 1.1, 0.1), (0, 1.5, 0.1))
    return d


def helical():
    d = Drawing((0, 0, 0.5))
    d.box((0, 0, 0), (0.7, 0.7, 0.2))
    d.cylinder((0, 0, 0.1), 1.1, 0.14)
    for turn in range(5):
        d.path([(*turned(a / 12 * math.pi, 0.15)[:2], 0.2 + 0.2 * turn + 0.12 * (a + 9) / 24) for a in range(-8, 16)], stroke=AXIS)
    d.box((0, 0, 0.62), (0.55, 0.55, 0.2), CHILD)
    d.arrow((0.6, -0.5, 0.5), (0.6, -0.5, 1.15))
    d.text((0.6, -0.5, 1.15), "pitch · q [m]", MOTION, dx=-12, dy=-8)
    d.arc((0, 0, 0.72), turned(0, 0.5), turned(math.pi / 2, 0.5), 0.0, 1.9)
    d.text((0, 0.55, 0.72), "q [rad]", MOTION, dx=16, dy=10)
    d.axis((0, 0, 1.2), (0, 0, 1.6))
    return d


def planar():
    d = Drawing((0, 0, 0.15))
    d.box((0, 0, 0), (1.9, 1.9, 0.08))
    d.box((0.1, -0.1, 0.14), (0.5, 0.5, 0.2), CHILD, angle=0.4)
    d.arrow((0.1, -0.1, 0.24), (0.95, -0.1, 0.24))
    d.text((0.95, -0.1, 0.24), "x [m]", MOTION, dx=-12, dy=-10)
    d.arrow((0.1, -0.1, 0.24), (0.1, 0.8, 0.24))
    d.text((0.1, 0.8, 0.24), "y [m]", MOTION, dx=-10, dy=-10)
    d.arc((0.1, -0.1, 0.24), turned(0, 0.5), turned(math.pi / 2, 0.5), 0.25, 1.3)
    d.text((0.55, 0.35, 0.24), "angle [rad]", MOTION, dx=-20, dy=18)
    d.axis((0.1, -0.1, 0.24), (0.1, -0.1, 0.95))
    return d


def spherical():
    d = Drawing()
    d.box((0, 0, 0), (0.7, 0.7, 0.2))
    d.cylinder((0, 0, 0.1), 0.3, 0.2)
    d.box((0.0, 0.62, 0.55), (0.18, 0.9, 0.14), CHILD)
    d.ball((0, 0, 0.55), 0.22)
    d.arc((0, 0, 0.55), turned(0, 0.5), turned(math.pi / 2, 0.5), -0.6, 0.9)
    d.arc((0, 0, 0.55), (0, 0.5, 0), (0, 0, 0.5), 0.9, 2.4)
    d.arc((0, 0, 0.55), (0, 0, 0.5), (0.5, 0, 0), 0.2, 1.4)
    d.text((0, 0, 1.2), "quaternion qx, qy, qz, qw", MOTION, dx=0, dy=-8, anchor="middle")
    return d


def floating():
    d = Drawing((0, 0, 0.45))
    d.box((0.4, -0.75, 0), (0.6, 0.6, 0.2))
    d.box((0, 0.3, 0.75), (0.55, 0.55, 0.4), CHILD)
    d.path([(0.4, -0.75, 0.1), (0, 0.3, 0.75)], stroke=AXIS, dash="2 5")
    d.frame((0, 0.3, 0.95), "", length=0.55)
    d.text((0.4, -0.75, 0.1), "base", dx=0, dy=5, anchor="middle")
    d.text((0, 0, 0), "x, y, z [m] and a quaternion", MOTION, dx=0, dy=66, anchor="middle")
    return d


def fixed():
    d = Drawing((0, 0, 0.2))
    d.box((0, -0.45, 0.15), (0.6, 0.9, 0.4))
    d.box((0, 0.45, 0.15), (0.45, 0.9, 0.3), CHILD)
    for i in range(5):
        d.path([(0.3, -0.06, 0.02 + 0.07 * i), (0.3, 0.07, 0.06 + 0.07 * i)], stroke=MOTION, width=2)
    d.text((0, 0, 0), "one rigid body", MOTION, dx=0, dy=70, anchor="middle")
    return d


def xyz_rpy():
    d = Drawing((0.1, 0.4, 0.45))
    d.frame((0, -0.4, 0), "parent")
    turn = [(0.9, 0.35, 0.26), (-0.4, 0.88, 0.2), (-0.16, -0.28, 0.95)]
    d.frame((-0.2, 1.0, 0.65), "joint", turn)
    d.arrow((0, -0.4, 0), (-0.2, 1.0, 0.65))
    d.text((-0.1, 0.3, 0.33), "xyz", MOTION, dy=-8)
    d.text((-0.2, 1.0, 0.65), "turned by rpy", MOTION, dx=0, dy=64, anchor="middle")
    return d


def denavit(names, frames):
    """Two axes with their common normal: `names` are those of angle and offset about and along the first axis, of length and
    twist along and about the normal."""
    angle, offset, length, twist = names
    d = Drawing((0.1, 0.5, 0.55))
    tilt = (0.35, 0.0, 0.94)
    foot, far = (0, 0, 0.75), (0, 1.15, 0.75)
    d.path([(0, 0, -0.1), (0, 0, 1.35)], stroke=AXIS, dash="7 3 1.5 3", head=True)
    d.text((0, 0, 1.35), frames[0], AXIS)
    d.path([add(far, tilt, -0.55), add(far, tilt, 0.65)], stroke=AXIS, dash="7 3 1.5 3", head=True)
    d.text(add(far, tilt, -0.55), frames[1], AXIS, dx=8, dy=8)
    d.path([(0, 0, 0.05), (0.45, 0.1, 0.05)], head=True)
    d.text((0.45, 0.1, 0.05), frames[2], dx=-8, dy=8, anchor="end")
    d.arrow((0, 0, 0.05), foot)
    d.text((0, 0, 0.4), offset, MOTION, dx=-14, anchor="end")
    d.arrow(foot, far)
    d.text((0, 0.55, 0.75), length, MOTION, dy=-8)
    d.arc((0, 0, 0.05), (0.32, 0, 0), (0, 0.32, 0), 0.2, 1.5)
    d.text((0.15, 0.3, 0.05), angle, MOTION, dx=2, dy=18)
    d.path([far, add(far, Z, 0.6)], stroke=AXIS, width=1)
    d.arc(far, (0, 0, 0.5), (0.5, 0, 0), 0.0, 0.36)
    d.text(add(far, (0, 0, 0.6)), twist, MOTION, dx=4, dy=-4)
    return d


def dh():
    return denavit(("theta", "d", "a", "alpha"), ("z of the parent", "z of the link", "x"))


def modified_dh():
    return denavit(("gamma", "b", "d", "alpha"), ("z of the parent", "z: theta, r", "x"))


def matrix():
    d = xyz_rpy()
    d.shapes = [shape for shape in d.shapes if ">xyz<" not in shape and "rpy" not in shape]
    d.text((-0.1, 0.3, 0.33), "4 × 4 matrix", MOTION, dx=-10, dy=-10)
    return d


def screws():
    d = Drawing((0.2, 0.3, 0.5))
    d.frame((0, -0.5, 0), "base")
    d.path([(0.2, 0.7, -0.2), (0.0, 0.9, 1.35)], stroke=AXIS, dash="7 3 1.5 3", head=True)
    d.text((0.0, 0.9, 1.35), "w", AXIS)
    d.arrow((0, -0.5, 0), (0.12, 0.78, 0.4))
    d.text((0.06, 0.3, 0.27), "p", MOTION, dy=-8)
    d.arc((0.08, 0.82, 0.8), (0.32, 0, 0), (0, 0.32, 0.05), -0.6, 2.2)
    d.text((0.08, 1.14, 0.85), "q", MOTION)
    d.text((0.2, 0.7, -0.2), "S = [w, -w × p]", MOTION, dx=-10, dy=24)
    return d


def closed_loop():
    d = Drawing((0, 0.35, 0.4))
    corners = [(0, -0.4, 0), (0, -0.15, 0.85), (0, 0.95, 0.95), (0, 1.15, 0)]
    d.path([corners[0], corners[3]], stroke=PARENT, width=12)
    for one, other in zip(corners, corners[1:]):
        d.path([one, other], stroke=CHILD, width=9)
    for corner in corners[:3]:
        d.ball(corner, 0.08, "#ffffff")
    d.ball(corners[3], 0.1, MOTION)
    d.text(corners[3], "closed here", MOTION, dx=-36, dy=26)
    d.text(corners[0], "motor", dx=-24, dy=-14, anchor="end")
    return d


def elastic():
    d = Drawing((0, 0.2, 0.35))
    d.box((0, -0.6, 0), (0.5, 0.5, 0.5))
    d.text((0, -0.6, 0.3), "motor θ", MOTION, dx=-30, dy=-14)
    d.path([(0, -0.3 + 0.07 * i, 0.1 + (0.14 if i % 2 else -0.14) * (0 < i < 10)) for i in range(11)], stroke=MOTION, width=2)
    d.box((0, 0.95, 0.1), (0.3, 1.0, 0.2), CHILD)
    d.text((0, 0.95, 0.2), "link q", dx=-6, dy=-26)
    d.text((0, 0, 0), "stiffness, damping", MOTION, dx=-6, dy=70, anchor="middle")
    return d


DRAWINGS = {"revolute": revolute, "continuous": continuous, "prismatic": prismatic, "helical": helical, "planar": planar,
            "spherical": spherical, "floating": floating, "fixed": fixed, "xyz_rpy": xyz_rpy, "dh": dh, "modified_dh": modified_dh,
            "matrix": matrix, "screws": screws, "loops": closed_loop, "elastic": elastic}
