"""Closed forms of two parallel robots: the Gough-Stewart platform by inverse geometry and equation (66) of Khalil 2010, which adds the forces of
platform and legs; the Delta by intersecting three spheres, and by its energies. Their figures come from a model document."""
import numpy as np
from lagrange import Energies, derivative

GRAVITY = np.array([0, 0, -9.81])


def hat(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def rotation(vector):
    """Returns the rotation matrix of a rotation vector by Rodrigues' formula."""
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    k = hat(np.asarray(vector) / angle)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def quaternion(vector):
    """Returns the quaternion [x, y, z, w] of a rotation vector."""
    angle = np.linalg.norm(vector)
    return [*(np.sinc(angle / 2 / np.pi) / 2 * np.asarray(vector, float)), np.cos(angle / 2)]


def by_name(entries):
    return {entry["name"]: entry for entry in entries}


def about_centre(inertial):
    """Returns the inertia tensor about the centre of a solid cylinder (radius, length along z) or box."""
    mass, size = inertial["mass"], inertial["size"]
    if inertial["solid"] == "cylinder":
        r, l = size
        return mass * np.diag([r * r / 4 + l * l / 12, r * r / 4 + l * l / 12, r * r / 2])
    x, y, z = size
    return mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])


class Platform:
    """The force on a rigid platform, and the moment about its origin, that a motion requires, by Newton and Euler."""

    def __init__(self, bodies):
        """`bodies` are (mass, centre of mass, inertia about it) of each part, in platform axes."""
        self.bodies = bodies

    def wrench(self, R, w, a, wd):
        force, moment = np.zeros(3), np.zeros(3)
        for mass, com, inertia in self.bodies:
            r, I = R @ com, R @ inertia @ R.T
            f = mass * (a + np.cross(wd, r) + np.cross(w, np.cross(w, r)) - GRAVITY)
            force += f
            moment += I @ wd + np.cross(w, I @ w) + np.cross(r, f)
        return np.concatenate([force, moment])


class Stewart:
    """Base joints a_i (in base axes), platform joints b_i (in platform axes, about the frame `centre`). A pose is (p,
    R) of that frame; its velocity and acceleration are (v, w) and (vd, wd) in base axes."""

    def __init__(self, document):
        links, frames = by_name(document["links"]), by_name(document["frames"])
        centre = np.array(frames["centre"]["xyz"], float)
        self.a = np.array([links[f"cross{n}"]["joint"]["origin"]["xyz"] for n in range(1, 7)], float)
        self.b = np.array([[0, 0, 0]] + [frames[f"seat{n}"]["xyz"] for n in range(2, 7)], float) - centre
        solid = links["platform"]["inertial"]
        self.platform = Platform([(solid["mass"], np.array(solid["xyz"]) - centre, about_centre(solid))])

    def legs(self, p, R):
        """Returns the vectors from base joint to platform joint of each leg."""
        return p + self.b @ R.T - self.a

    def lengths(self, p, R):
        return np.linalg.norm(self.legs(p, R), axis=1)

    def inverse_jacobian(self, p, R):
        """Returns J_p^-1, which maps (v, w) to the speeds of the legs: u_i . (v + w x R b_i)."""
        u = self.legs(p, R)
        u = u / np.linalg.norm(u, axis=1)[:, None]
        return np.hstack([u, np.cross(self.b @ R.T, u)])

    def joints(self, R, v, w, vd, wd):
        """Returns velocities and accelerations of the platform's joints."""
        r = self.b @ R.T
        return v + np.cross(w, r), vd + np.cross(wd, r) + np.cross(w, np.cross(w, r))

    def rates(self, p, R, v, w, vd, wd):
        """Returns lengths of the legs and their first and second derivatives: l l' = s . v,  l l'' + l'^2 = v . v + s .
        a."""
        s, (v, a) = self.legs(p, R), self.joints(R, v, w, vd, wd)
        l = np.linalg.norm(s, axis=1)
        ld = (s * v).sum(1) / l
        return l, ld, ((v * v).sum(1) + (s * a).sum(1) - ld * ld) / l

    @staticmethod
    def leg_coordinates(s):
        """Returns (angle about x, angle about y, length) of a leg along s = l (sin y, -sin x cos y, cos x cos y)."""
        l = np.linalg.norm(s)
        return np.array([np.arctan2(-s[1], s[2]), np.arcsin(s[0] / l), l])

    @staticmethod
    def leg_end(q):
        x, y, l = q
        return l * np.array([np.sin(y), -np.sin(x) * np.cos(y), np.cos(x) * np.cos(y)])

    @staticmethod
    def leg_jacobian(q):
        """Returns J_i of (63): d leg_end / dq."""
        x, y, l = q
        return np.array([[0, l * np.cos(y), np.sin(y)],
                         [-l * np.cos(x) * np.cos(y), l * np.sin(x) * np.sin(y), -np.sin(x) * np.cos(y)],
                         [-l * np.sin(x) * np.cos(y), -l * np.cos(x) * np.sin(y), np.cos(x) * np.cos(y)]])

    def leg_motions(self, p, R, v, w, vd, wd):
        """Returns q_i, qd_i, qdd_i of each leg's three joints: v_i = J_i qd_i, a_i = J_i qdd_i + J_i' qd_i."""
        motions = []
        for s, v_i, a_i in zip(self.legs(p, R), *self.joints(R, v, w, vd, wd)):
            q = self.leg_coordinates(s)
            J = self.leg_jacobian(q)
            qd = np.linalg.solve(J, v_i)
            motions.append((q, qd, np.linalg.solve(J, a_i - derivative(self.leg_jacobian, q, qd) @ qd)))
        return motions

    def forces(self, pose, legs):
        """Returns the legs' forces by (66): Gamma = J_p^T [F_p + sum J_vi^T J_i^-T Gamma_i] with J_vi = [1, -hat(P_i)],
        where `legs` are Gamma_i. Gamma_i includes the motor of the leg, whose joint is one of the leg's."""
        p, R, v, w, vd, wd = pose
        F = self.platform.wrench(R, w, vd, wd)
        for s, b, gamma in zip(self.legs(p, R), self.b @ R.T, legs):
            J_v = np.hstack([np.eye(3), -hat(b)])
            F = F + J_v.T @ np.linalg.solve(self.leg_jacobian(self.leg_coordinates(s)).T, gamma)
        return np.linalg.solve(self.inverse_jacobian(p, R).T, F)


class Delta(Energies):
    """A Delta robot: arms at angles q, and a platform that only translates. One rod in the middle of the two rods of an
    arm has the same effect."""

    def __init__(self, document):
        links, frames = by_name(document["links"]), by_name(document["frames"])
        base = links["arm1"]["joint"]["origin"]["xyz"][0]
        self.arm = links["knuckle1a"]["joint"]["origin"]["xyz"][0]
        self.rod = -links["platform"]["joint"]["origin"]["xyz"][2]
        # radius of the motors minus that of the platform's joints: the frame `tool` points inwards
        self.radius = base + frames["tool"]["xyz"][0]
        self.outward = [np.array([np.cos(a), np.sin(a), 0]) for a in 2 * np.pi / 3 * np.arange(3)]
        solid = links["arm1"]["inertial"]
        self.arm_mass, self.arm_centre = solid["mass"], solid["xyz"][0]
        self.arm_inertia = about_centre(solid)[1, 1] + self.arm_mass * self.arm_centre**2 + links["arm1"]["joint"]["rotor_inertia"]
        self.rod_mass = links["rod1a"]["inertial"]["mass"]
        self.platform_mass = links["platform"]["inertial"]["mass"]

    def elbows(self, q):
        """Returns the centres of the three spheres: the end of each arm, moved inwards by the platform's radius."""
        return [(self.radius + self.arm * np.cos(angle)) * e - np.array([0, 0, 1]) * self.arm * np.sin(angle)
                for e, angle in zip(self.outward, q)]

    def platform(self, q):
        """Returns the platform's position: the lower of the two points in which the spheres intersect."""
        s = self.elbows(q)
        first, second = s[1] - s[0], s[2] - s[0]
        normal = np.cross(first, second)
        foot = s[0] + np.linalg.solve(np.array([first, second, normal]), np.array([first @ first / 2, second @ second / 2, 0]))
        r = foot - s[0]
        return foot - np.sqrt((self.rod**2 - r @ r) / (normal @ normal)) * normal

    def angles(self, p):
        """Inverse geometry: |p - elbow|^2 = rod^2 becomes A cos q + B sin q = C; returns the solution with outward
        elbows."""
        solutions = []
        for e in self.outward:
            x = p @ e - self.radius
            a, b = 2 * self.arm * x, -2 * self.arm * p[2]
            c = x * x + (p @ p - (p @ e)**2) + self.arm**2 - self.rod**2
            solutions.append(np.arctan2(b, a) - np.arccos(c / np.hypot(a, b)))
        return np.array(solutions)

    def elbow_speeds(self, q):
        """Returns d elbow_i / dq_i."""
        return [-self.arm * np.sin(angle) * e - np.array([0, 0, 1]) * self.arm * np.cos(angle)
                for e, angle in zip(self.outward, q)]

    def platform_jacobian(self, q):
        """Returns the platform's Jacobian: the two ends of a rod have the same velocity along it."""
        rods = np.array([self.platform(q) - s for s in self.elbows(q)])
        return np.linalg.inv(rods) @ np.diag([u @ e for u, e in zip(rods, self.elbow_speeds(q))])

    def mass_matrix(self, q):
        """Returns M. A thin rod whose ends have velocities v and w has the kinetic energy m (v.v + v.w + w.w) / 6."""
        J = self.platform_jacobian(q)
        M = np.diag([self.arm_inertia] * 3) + self.platform_mass * J.T @ J
        for i, speed in enumerate(self.elbow_speeds(q)):
            E = np.outer(speed, np.eye(3)[i])
            M = M + 2 * self.rod_mass / 3 * (E.T @ E + J.T @ J + (E.T @ J + J.T @ E) / 2)
        return M

    def potential(self, q):
        p, height = self.platform(q), 0
        for s, angle in zip(self.elbows(q), q):
            height += -self.arm_mass * self.arm_centre * np.sin(angle) + 2 * self.rod_mass * (s[2] + p[2]) / 2
        return 9.81 * (height + self.platform_mass * p[2])
