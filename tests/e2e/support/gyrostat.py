"""Equations of motion by Lagrange for motors, elastic, planar and helical joints of a model document. The inputs are
poses, the energies

    T = sum 1/2 m v^2 + 1/2 w I w  over links and whole motors, rotors locked,
        + J s' (a . w) + 1/2 J s'^2  for the spin s' of each rotor about its axis a on a link with angular velocity w,
    V = -sum m g . p + 1/2 k (q - theta - rest)^2,

and their derivatives by complex steps: M from the velocities' Jacobians, the rest as d/dt dT/dqd - dT/dq + dV/dq."""
import numpy as np

STEP = 1e-30


def rpy(angles):
    r, p, y = angles
    about = [np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]]),
             np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]]),
             np.array([[np.cos(y), -np.sin(y), 0], [np.sin(y), np.cos(y), 0], [0, 0, 1]])]
    return about[2] @ about[1] @ about[0]


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(axis, angle):
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def plane(axis):
    """Returns the columns x and y of the smallest rotation that takes z to the axis."""
    if axis[2] < 0 and not axis[0] and not axis[1]:
        return np.array([1, 0, 0]), np.array([0, -1, 0])
    v = np.cross([0, 0, 1], axis)
    length = np.linalg.norm(v)
    R = turn(v / length, np.arctan2(length, axis[2])) if length else np.eye(3)
    return R[:, 0], R[:, 1]


def tensor(inertial):
    I = {**dict.fromkeys(("xx", "yy", "zz", "xy", "xz", "yz"), 0), **inertial.get("inertia", {})}
    return np.array([[I["xx"], I["xy"], I["xz"]], [I["xy"], I["yy"], I["yz"]], [I["xz"], I["yz"], I["zz"]]])


class Gyrostat:
    """The Lagrangian equations of a model document with a fixed base whose links are listed parents first."""

    def __init__(self, document):
        self.document = document
        self.gravity = np.array(document.get("gravity", [0, 0, -9.81]), float)
        self.first, self.motor, n = {}, {}, 0
        for link in document["links"]:
            self.first[link["joint"]["name"]] = n
            n += {"fixed": 0, "planar": 3}.get(link["joint"]["type"], 1)
        for link in document["links"]:
            if "elastic" in link["joint"]:
                self.motor[link["joint"]["name"]] = n
                n += 1
        self.n = n

    def poses(self, q):
        """Returns for each link its R and p, and the 3 x n Jacobians of its angular velocity and of its origin's
        velocity."""
        zero = np.zeros((3, self.n), q.dtype)
        at = {self.document.get("base", {}).get("link", "base"): (np.eye(3), np.zeros(3), zero, zero)}
        for link in self.document["links"]:
            joint, origin = link["joint"], link["joint"].get("origin", {})
            R, p, Jw, Jv = at[link["parent"]]
            Jw, Jv, v = Jw.copy(), Jv.copy(), self.first[joint["name"]]
            arm = R @ np.array(origin.get("xyz", [0, 0, 0]), float)
            Jv = Jv - skew(arm) @ Jw
            p, R = p + arm, R @ rpy(origin.get("rpy", [0, 0, 0]))
            if joint["type"] != "fixed":
                u = np.array(joint["axis"], float)
                u = u / np.linalg.norm(u)
                slides = {"prismatic": [(v, u, 1)], "helical": [(v, u, joint.get("pitch"))],
                          "planar": [(v, plane(u)[0], 1), (v + 1, plane(u)[1], 1)]}.get(joint["type"], [])
                moved = sum((R @ e * k * q[c] for c, e, k in slides), np.zeros(3))
                Jv = Jv - skew(moved) @ Jw
                for c, e, k in slides:
                    Jv[:, c] += R @ e * k
                p = p + moved
                if joint["type"] != "prismatic":
                    angle = v + (2 if joint["type"] == "planar" else 0)
                    Jw[:, angle] += R @ u
                    R = R @ turn(u, q[angle])
            at[link["name"]] = (R, p, Jw, Jv)
        return at

    def bodies(self):
        """Returns (link, inertial) of all links and motors."""
        return [(part[key], part["inertial"]) for parts, key in ((self.document["links"], "name"),
                                                               (self.document.get("motors", []), "link"))
                for part in parts if "inertial" in part]

    def spins(self):
        """Returns (motor, index of the coordinate that turns its rotor) for each motor."""
        return [(motor, self.motor.get(motor["joint"], self.first[motor["joint"]]))
                for motor in self.document.get("motors", [])]

    def mass_matrix(self, q):
        at, M = self.poses(q), np.zeros((self.n, self.n), q.dtype)
        for link, inertial in self.bodies():
            R, _, Jw, Jv = at[link]
            Jc = Jv - skew(R @ np.array(inertial.get("com", [0, 0, 0]), float)) @ Jw
            M = M + inertial["mass"] * Jc.T @ Jc + Jw.T @ R @ tensor(inertial) @ R.T @ Jw
        for motor, v in self.spins():
            R, _, Jw, _ = at[motor["link"]]
            axis = np.array(motor["axis"], float)
            along = R @ axis / np.linalg.norm(axis) @ Jw * motor["gear_ratio"] * motor["spin_inertia"]
            M[v] += along
            M[:, v] += along
            M[v, v] += motor["spin_inertia"] * motor["gear_ratio"] ** 2
        for link in self.document["links"]:
            name = link["joint"]["name"]
            inertia = link["joint"].get("rotor_inertia", 0)
            v = self.motor.get(name, self.first[name])
            if inertia:
                M[v, v] += inertia
        return M

    def potential(self, q):
        at, V = self.poses(q), 0
        for link, inertial in self.bodies():
            R, p = at[link][:2]
            V = V - inertial["mass"] * self.gravity @ (p + R @ np.array(inertial.get("com", [0, 0, 0]), float))
        for joint, k, _, rest in self.springs():
            V = V + k * (q[self.first[joint]] - q[self.motor[joint]] - rest) ** 2 / 2
        return V

    def springs(self):
        for link in self.document["links"]:
            elastic = link["joint"].get("elastic")
            if elastic:
                yield link["joint"]["name"], elastic["stiffness"], elastic.get("damping", 0), elastic.get("rest", 0)

    def moved(self, q, k):
        q = np.array(q, complex)
        q[k] += 1j * STEP
        return q

    def kinetic(self, q, qd):
        return np.array(qd) @ self.mass_matrix(np.array(q, float)) @ np.array(qd) / 2

    def efforts(self, q, qd, qdd):
        """Returns tau without friction."""
        qd, qdd = np.array(qd, float), np.array(qdd, float)
        dM = [self.mass_matrix(self.moved(q, k)).imag / STEP for k in range(self.n)]
        dV = np.array([self.potential(self.moved(q, k)).imag / STEP for k in range(self.n)])
        rate = sum(dM[k] * qd[k] for k in range(self.n))
        tau = self.mass_matrix(np.array(q, float)) @ qdd + rate @ qd - np.array([qd @ D @ qd / 2 for D in dM]) + dV
        for joint, _, damping, _ in self.springs():
            a, b = self.first[joint], self.motor[joint]
            tau[a] += damping * (qd[a] - qd[b])
            tau[b] -= damping * (qd[a] - qd[b])
        return tau
