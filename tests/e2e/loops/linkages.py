"""Closed forms of two planar linkages: the four-bar by Freudenstein's equation, the five-bar by the intersection of two
circles. The linkages lie in the plane x-y with gravity along -y; their figures come from a model document."""
import numpy as np
from lagrange import Energies, derivative, jacobian

G = 9.81


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(r):
    """Returns r rotated by a right angle: the velocity of the tip of r at 1 rad/s."""
    return np.array([-r[1], r[0]])


def turned(angle, r):
    return r[0] * unit(angle) + r[1] * across(unit(angle))


def link(name, parent, type, axis, inertial=None, actuated=False, home=0, **joint):
    return {"name": name, "parent": parent, **({"inertial": inertial} if inertial else {}),
            "joint": {"name": name + "_joint", "type": type, "axis": axis, "actuated": actuated, **joint,
                      **({"home": home} if home else {})}}


def loop(a, b, type, axis=None, **more):
    return {"name": "loop", "frame_a": a, "frame_b": b, "type": type, **({"axis": axis} if axis else {}), **more}


def bar(link):
    """Returns mass, moment of inertia about the centre of mass, and position of the centre of mass, of a link that is a
    box."""
    inertial = link["inertial"]
    x, y, _ = inertial["size"]
    return inertial["mass"], inertial["mass"] * (x * x + y * y) / 12, np.array(inertial["xyz"][:2], float)


class FourBar(Energies):
    """A four-bar linkage. Lengths: crank a, coupler b, rocker c, ground d. Angles against the ground: q of the crank,
    theta3 of the coupler (from the crank's end to the rocker's), theta4 of the rocker. `branch` is 1 for the open
    assembly, -1 for the crossed one."""

    def __init__(self, document, branch=1):
        links = {link["name"]: link for link in document["links"]}
        frames = {frame["name"]: frame for frame in document["frames"]}
        self.crank, self.rocker, self.coupler = (bar(links[name]) for name in ("crank", "rocker", "coupler"))
        self.a = frames["crank_end"]["xyz"][0]
        self.b = -frames["coupler_start"]["xyz"][0]
        self.c = links["coupler"]["joint"]["origin"]["xyz"][0]
        self.d = links["rocker"]["joint"]["origin"]["xyz"][0]
        self.point = np.array(frames["coupler_point"]["xyz"][:2], float)
        self.branch = branch

    def angles(self, q):
        """Returns theta3 and theta4, each a solution of Freudenstein's quadratic in tan(theta / 2)."""
        a, b, c, d = self.a, self.b, self.c, self.d
        k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
        k4, k5 = d / b, (c * c - d * d - a * a - b * b) / (2 * a * b)

        def root(p, r, s):
            return 2 * np.arctan((-r - self.branch * np.sqrt(r * r - 4 * p * s)) / (2 * p))
        cosine, sine = np.cos(q), np.sin(q)
        return (root(cosine - k1 + k4 * cosine + k5, -2 * sine, k1 + (k4 - 1) * cosine + k5),
                root(cosine - k1 - k2 * cosine + k3, -2 * sine, k1 - (k2 + 1) * cosine + k3))

    def ratios(self, q):
        """Returns dtheta3/dq and dtheta4/dq."""
        third, fourth = self.angles(q)
        return (self.a / self.b * np.sin(fourth - q) / np.sin(third - fourth),
                self.a / self.c * np.sin(q - third) / np.sin(fourth - third))

    def tree(self, q):
        """Returns the coordinates of crank_joint, rocker_joint and coupler_joint."""
        third, fourth = self.angles(q)
        return np.array([q, fourth, third - fourth])

    def centres(self, q):
        """Returns the positions of the centres of mass, in tree order."""
        third, fourth = self.angles(q)
        pin = np.array([self.d, 0]) + self.c * unit(fourth)
        return (turned(q, self.crank[2]), np.array([self.d, 0]) + turned(fourth, self.rocker[2]),
                pin + turned(third, self.coupler[2]))

    def on_coupler(self, q, point):
        third, fourth = self.angles(q)
        return np.array([self.d, 0]) + self.c * unit(fourth) + turned(third, point)

    def point_ratio(self, q, point):
        """Returns the derivatives by q of a point fixed to the coupler and of the coupler's angle."""
        third, fourth = self.angles(q)
        w3, w4 = self.ratios(q)
        return np.array([*(w4 * self.c * across(unit(fourth)) + w3 * across(turned(third, point))), w3])

    def mass_matrix(self, q):
        q = q[0]
        third, fourth = self.angles(q)
        w3, w4 = self.ratios(q)
        v = (across(turned(q, self.crank[2])), w4 * across(turned(fourth, self.rocker[2])),
             self.point_ratio(q, self.coupler[2])[:2])
        bodies = zip((self.crank, self.rocker, self.coupler), v, (1, w4, w3))
        return np.array([[sum(m * (s @ s) + i * w * w for (m, i, _), s, w in bodies)]])

    def potential(self, q):
        return G * sum(m * place[1] for (m, _, _), place in zip((self.crank, self.rocker, self.coupler), self.centres(q[0])))

    def accelerations(self, q, qd, qdd):
        """Returns the accelerations of the centres of mass and of the angles, in tree order; the coupler's angle is
        against the ground."""
        def speeds(x):
            third, fourth = self.angles(x)
            w3, w4 = self.ratios(x)
            return np.concatenate([across(turned(x, self.crank[2])), w4 * across(turned(fourth, self.rocker[2])),
                                   self.point_ratio(x, self.coupler[2])[:2], [1 + 0 * x, w4, w3]])
        all_of_them = speeds(q) * qdd + derivative(speeds, q, 1.0) * qd * qd
        return all_of_them[:6].reshape(3, 2), all_of_them[6:]

    def forces(self, q, qd, qdd):
        """Returns, by Newton and Euler for each bar, the motor's torque and the planar forces of ground on crank,
        ground on rocker, rocker on coupler, crank on coupler."""
        third, fourth = self.angles(q)
        a, alpha = self.accelerations(q, qd, qdd)
        bars = (self.crank, self.rocker, self.coupler)
        crank_end = (turned(q, np.array([self.a, 0]) - self.crank[2]))
        ends = {"crank": (-turned(q, self.crank[2]), crank_end),
                "rocker": (-turned(fourth, self.rocker[2]), turned(fourth, np.array([self.c, 0]) - self.rocker[2])),
                "coupler": (-turned(third, self.coupler[2]), turned(third, np.array([-self.b, 0]) - self.coupler[2]))}
        # Unknowns: tau, then two components of each of the four forces. Rows: balance in x, in y, and of moments, of
        # each bar.
        A, y = np.zeros((9, 9)), np.zeros(9)
        acting = ((0, "crank", 0, 1, 1), (1, "rocker", 0, 1, 3), (1, "rocker", 1, -1, 5), (2, "coupler", 0, 1, 5),
                  (2, "coupler", 1, 1, 7), (0, "crank", 1, -1, 7))
        for row, name, end, sign, column in acting:
            r = ends[name][end]
            A[3 * row:3 * row + 3, column:column + 2] += sign * np.array([[1, 0], [0, 1], [-r[1], r[0]]])
        A[2, 0] = 1
        for row, (mass, inertia, _) in enumerate(bars):
            y[3 * row:3 * row + 2] = mass * (a[row] + [0, G])
            y[3 * row + 2] = inertia * alpha[row]
        x = np.linalg.solve(A, y)
        return x[0], x[1:].reshape(4, 2)


class FiveBar(Energies):
    """A five-bar linkage: cranks at angles q, and rods that are joined at the tip. `mode` is 1 if the tip is above the line between the elbows,
    -1 if below."""

    def __init__(self, document, mode=1):
        links = {link["name"]: link for link in document["links"]}
        self.cranks = [bar(links[side + "_crank"]) for side in ("left", "right")]
        self.rods = [bar(links[side + "_rod"]) for side in ("left", "right")]
        self.pivots = [np.zeros(2), np.array(links["right_crank"]["joint"]["origin"]["xyz"][:2])]
        self.lengths = [links[side + "_rod"]["joint"]["origin"]["xyz"][0] for side in ("left", "right")]
        self.reach = [frame["xyz"][0] for frame in document["frames"][:2]]
        self.rotor = links["left_crank"]["joint"].get("rotor_inertia", 0)
        self.viscous = links["left_crank"]["joint"].get("friction", {}).get("viscous", 0)
        self.mode = mode

    def elbows(self, q):
        return [p + l * unit(angle) for p, l, angle in zip(self.pivots, self.lengths, q)]

    def tip(self, q):
        """Returns the tip, where the rods' circles about the elbows intersect."""
        left, right = self.elbows(q)
        way, (r, s) = right - left, self.reach
        square = way @ way
        part = (r * r - s * s + square) / (2 * square)
        return left + part * way + self.mode * np.sqrt(r * r / square - part * part) * across(way)

    def tip_jacobian(self, q):
        """Returns the Jacobian of the tip. Both ends of a rod u_i have the same velocity along it: u_i . v_tip = u_i .
        v_elbow_i, with v_elbow_i = l_i across(unit(q_i)) qd_i."""
        tip = self.tip(q)
        rods = np.array([tip - elbow for elbow in self.elbows(q)])
        drive = [u @ (l * across(unit(angle))) for u, l, angle in zip(rods, self.lengths, q)]
        return np.linalg.inv(rods) @ np.diag(drive)

    def turns(self, q):
        """Returns the Jacobian of the rods' angles: across(u) . (v - v_elbow) / u . u."""
        tip, J = self.tip(q), self.tip_jacobian(q)
        rows = []
        for i, elbow in enumerate(self.elbows(q)):
            u, slip = tip - elbow, 1 * J
            slip[:, i] -= self.lengths[i] * across(unit(q[i]))
            rows.append(across(u) @ slip / (u @ u))
        return np.array(rows)

    def tree(self, q):
        """Returns the coordinates of left, left_elbow, right and right_elbow; the elbows' angles lie in (-pi, pi]."""
        tip = self.tip(q)
        directions = [np.arctan2(*(tip - elbow)[::-1]) for elbow in self.elbows(q)]
        bent = [(d - angle + np.pi) % (2 * np.pi) - np.pi for d, angle in zip(directions, q)]
        return np.array([q[0], bent[0], q[1], bent[1]])

    def mass_matrix(self, q):
        tip, turns = self.tip(q), self.turns(q)
        M = np.zeros((2, 2), turns.dtype)
        for i, elbow in enumerate(self.elbows(q)):
            (mass, inertia, place), (rod, rod_inertia, rod_place) = self.cranks[i], self.rods[i]
            M[i, i] += inertia + mass * place @ place + self.rotor
            u = (tip - elbow) / self.reach[i]
            v = np.outer(across(rod_place[0] * u + rod_place[1] * across(u)), turns[i])
            v[:, i] += self.lengths[i] * across(unit(q[i]))
            M = M + rod * v.T @ v + rod_inertia * np.outer(turns[i], turns[i])
        return M

    def potential(self, q):
        tip, height = self.tip(q), 0
        for i, elbow in enumerate(self.elbows(q)):
            u = (tip - elbow) / self.reach[i]
            height += self.cranks[i][0] * turned(q[i], self.cranks[i][2])[1]
            height += self.rods[i][0] * (elbow + self.rods[i][2][0] * u + self.rods[i][2][1] * across(u))[1]
        return G * height

    def tip_motion(self, q, qd, qdd):
        """Returns velocity and acceleration of the tip."""
        J = self.tip_jacobian(q)
        return J @ qd, J @ qdd + derivative(self.tip_jacobian, q, qd) @ qd

    def check(self, q):
        """Checks that tip_jacobian, derived from the rods, is the complex-step derivative of tip."""
        return np.abs(jacobian(self.tip, q) - self.tip_jacobian(q)).max()
