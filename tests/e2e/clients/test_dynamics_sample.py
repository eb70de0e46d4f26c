"""Tests the program of dynamics/samples: it links only libdynamics, LAPACK and libm, and its numbers are those of equations that share nothing
with the product.

The arm's torques follow from the momentum of each link in world axes. The four-bar is three plates in the plane, each with coordinates x, y and
angle of its own, and four pins as constraints with multipliers."""
import os
import re
import subprocess
import unittest

import numpy as np
import tap
from harness import ROOT

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PROGRAM = os.path.join(BUILD, "sample")
EXACT = 1e-12


def tables():
    """Returns the rows of the program's output by their first word."""
    done = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=600, check=True)
    rows = {}
    for line in done.stdout.splitlines():
        if not line.startswith("#"):
            name, *numbers = line.split()
            rows.setdefault(name, []).append([float(number) for number in numbers])
    return {name: np.array(numbers) for name, numbers in rows.items()}


class Sampled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = tables()

    def assert_near(self, one, other, tolerance=EXACT):
        one, other = np.asarray(one), np.asarray(other)
        self.assertEqual(one.shape, other.shape)
        self.assertLessEqual(np.abs(one - other).max(), tolerance * max(1, np.abs(other).max()))


class Linked(unittest.TestCase):
    def test_libraries(self):
        listed = subprocess.run(["readelf", "-d", PROGRAM], capture_output=True, text=True, check=True).stdout
        needed = {name for name in re.findall(r"\(NEEDED\).*\[lib(\w+)\.so", listed) if not name.endswith("san")}
        self.assertLessEqual(needed, {"c", "m", "lapacke"})

    def test_no_symbol_of_other_layers(self):
        listed = subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout
        self.assertIn(" dyn_model_build", listed)
        self.assertNotRegex(listed, r" (api|srv|json|cbor|MHD)_")

    def test_the_library_has_no_sample(self):
        listed = subprocess.run(["ar", "t", os.path.join(BUILD, "libdynamics.a")], capture_output=True, text=True, check=True)
        self.assertNotIn("sample.o", listed.stdout.split())


# --- the arm -------------------------------------------------------------------------------------------------------

UP, ACROSS = np.array([0., 0, 1]), np.array([0., 1, 0])
AXES = [UP, ACROSS, ACROSS]
OFFSETS = np.array([[0, 0, 0.3], [0.05, 0, 0.2], [0.4, 0.02, 0]])
MASSES = np.array([4, 2.5, 1.2])
COMS = np.array([[0.01, 0.02, 0.08], [0.18, -0.01, 0.02], [0.12, 0.01, -0.015]])
TENSORS = [[0.03, 0.001, -0.002, 0.035, 0.0015, 0.02], [0.005, 0.0004, -0.0006, 0.04, 0.0002, 0.042],
           [0.002, -0.0003, 0.0005, 0.012, 0.0001, 0.013]]  # xx xy xz yy yz zz
VISCOUS, POSITIVE, NEGATIVE = np.array([[0.4, 0.3, 0.1], [0.6, 0.5, 0.2], [0.5, 0.55, 0.2]])
LINKS, PER_BODY = 3, 10
G = np.array([0, 0, -9.81])


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) if axis is UP else np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def tensor(entries):
    xx, xy, xz, yy, yz, zz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def body_wrench(parameters, R, w, wd, a):
    """Returns the force and the moment about the link's origin, in world axes, that move a link whose origin has the
    acceleration a, gravity included."""
    m, h, (xx, xy, yy, xz, yz, zz) = parameters[0], R @ parameters[1:4], parameters[4:]
    inertia = R @ tensor([xx, xy, xz, yy, yz, zz]) @ R.T
    force = m * a + np.cross(wd, h) + np.cross(w, np.cross(w, h))
    return force, inertia @ wd + np.cross(w, inertia @ w) + np.cross(h, a)


def torques(parameters, q, qd, qdd):
    """Returns tau without friction of the arm whose links have the parameters m, m c, Ixx Ixy Iyy Ixz Iyz Izz."""
    R, p, w, wd, a = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), -G
    axes, origins, wrenches = [], [], []
    for i in range(LINKS):
        arm = R @ OFFSETS[i]
        a = a + np.cross(wd, arm) + np.cross(w, np.cross(w, arm))
        p = p + arm
        axis = R @ AXES[i]
        wd = wd + axis * qdd[i] + np.cross(w, axis) * qd[i]
        w = w + axis * qd[i]
        R = R @ turn(AXES[i], q[i])
        axes.append(axis), origins.append(p), wrenches.append(body_wrench(parameters[i], R, w, wd, a))
    return np.array([sum(axes[i] @ (n + np.cross(origins[k] - origins[i], f)) for k, (f, n) in enumerate(wrenches) if k >= i)
                     for i in range(LINKS)])


def parameters_of(masses, coms):
    """Returns the true parameters of each link: [link][m, m c, Ixx Ixy Iyy Ixz Iyz Izz about the origin]."""
    rows = []
    for m, c, entries in zip(masses, coms, TENSORS):
        inertia = tensor(entries) + m * (c @ c * np.eye(3) - np.outer(c, c))
        rows.append([m, *(m * c), *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
    return np.array(rows)


def friction(qd, viscous=VISCOUS):
    return viscous * qd + np.where(qd > 0, POSITIVE, -NEGATIVE) * (qd != 0)


class Arm(Sampled):
    def test_torques(self):
        states = []
        for t in 0.1 * np.arange(10):
            q, qd, qdd = [0.3 + t, -0.7 + 0.5 * t, 1.1 - t], np.array([1.2, 0.45 - t, -0.8]), [2 - t, 0.5, -1.5]
            states.append(torques(parameters_of(MASSES, COMS), q, qd, qdd) + friction(qd))
        self.assert_near(self.rows["batch"], states)
        self.assert_near(self.rows["one"], states[:1])

    def test_base_parameters(self):
        """The number of base parameters is the number of independent columns of the regressor; with the true values they give the torques."""
        index, estimated, exact, deviation = self.rows["parameter"].T
        kept = index[index < LINKS * PER_BODY].astype(int)
        random = np.random.default_rng(5)
        unit = np.eye(LINKS * PER_BODY).reshape(-1, LINKS, PER_BODY)
        real = parameters_of(1.25 * MASSES, COMS + [0.02, 0, 0])
        columns, rest = [], []
        for q, qd, qdd in random.uniform(-3, 3, (40, 3, LINKS)):
            columns.append(np.array([torques(one, q, qd, qdd) for one in unit]).T)
            rest.append(torques(real, q, qd, qdd))
        Y, tau = np.concatenate(columns), np.concatenate(rest)
        self.assertEqual(np.linalg.matrix_rank(Y, 1e-9), len(kept))
        self.assertEqual(np.linalg.matrix_rank(Y[:, kept], 1e-9), len(kept))
        self.assert_near(Y[:, kept] @ exact[index < LINKS * PER_BODY], tau)
        self.assert_near(estimated, exact)
        self.assertLess(deviation.max(), 1e-12)

    def test_friction_is_identified(self):
        index, estimated = self.rows["parameter"].T[:2]
        found = dict(zip(index.astype(int), estimated))
        first = LINKS * PER_BODY
        wanted = np.array([2 * VISCOUS, POSITIVE, NEGATIVE]).T
        self.assert_near([[found[first + 4 * j + 1 + c] for c in range(3)] for j in range(LINKS)], wanted)


# --- the four-bar --------------------------------------------------------------------------------------------------

PLATE_MASSES, PLATE_INERTIAS = [1.1, 1.6, 1.3], [0.01, 0.061, 0.031]
CENTRES = np.array([[0.14, 0.01], [0.35, -0.02], [0.27, 0.03]])
CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.75, 0.6, np.array([0.7, 0.1])
# pins of the loop: each joins two points (plate, point of the plate), or such a point to a point of the ground
PINS = [((0, [0, 0]), np.zeros(2)), ((0, [CRANK, 0]), (1, [0, 0])), ((2, [0, 0]), GROUND), ((1, [COUPLER, 0]), (2, [ROCKER, 0]))]
INERTIA = np.diag(np.ravel([[m, m, i] for m, i in zip(PLATE_MASSES, PLATE_INERTIAS)]))


def arrow(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def rotated(angle, v):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ v


def assembled(crank):
    """Returns the absolute angles of the plates: the coupler's end is the intersection of two circles above the ground line."""
    joint = CRANK * arrow(crank)
    way = GROUND - joint
    d = np.linalg.norm(way)
    along = (COUPLER ** 2 - ROCKER ** 2 + d ** 2) / (2 * d)
    end = joint + (along * way + np.sqrt(COUPLER ** 2 - along ** 2) * np.array([-way[1], way[0]])) / d
    return np.array([crank, np.arctan2(*(end - joint)[::-1]), np.arctan2(*(end - GROUND)[::-1])])


def constraints(angles, rates):
    """Returns the Jacobian of the pins by (x, y, angle) of the plates' centres of mass, and its rate times the rates."""
    rows, curved = [], []
    for pin in PINS:
        J, c = np.zeros((2, 9)), np.zeros(2)
        for sign, side in zip((1, -1), pin):
            if isinstance(side, tuple):
                plate, point = side
                r = rotated(angles[plate], np.array(point) - CENTRES[plate])
                J[:, 3 * plate:3 * plate + 3] += sign * np.array([[1, 0, -r[1]], [0, 1, r[0]]])
                c -= sign * r * rates[plate] ** 2
        rows.append(J), curved.append(c)
    return np.concatenate(rows), np.concatenate(curved)


def rates_of(angles, crank_rate):
    """Returns the angular velocities of the plates: the part of the null space of the pins with this crank rate."""
    J, _ = constraints(angles, np.zeros(3))
    motion = np.linalg.svd(J)[2][-1]
    return motion[2::3] / motion[2] * crank_rate


def crank_acceleration(q, qd, torque):
    angles = assembled(q)
    J, curved = constraints(angles, rates_of(angles, qd))
    force = np.ravel([[0, -9.81 * m, 0] for m in PLATE_MASSES])
    force[2] += torque
    solution = np.linalg.solve(np.block([[INERTIA, J.T], [J, np.zeros((8, 8))]]), np.concatenate([force, -curved]))
    return solution[2]


def energy(q, qd):
    angles = assembled(q)
    J, _ = constraints(angles, np.zeros(3))
    motion = np.linalg.svd(J)[2][-1]
    motion *= qd / motion[2]
    height = [0, CRANK * np.sin(q), GROUND[1]]
    centres = [height[i] + rotated(angles[i], CENTRES[i])[1] for i in range(3)]
    return motion @ INERTIA @ motion / 2 + 9.81 * np.dot(PLATE_MASSES, centres)


def wrapped(angles):
    return (np.asarray(angles) + np.pi) % (2 * np.pi) - np.pi


class FourBar(Sampled):
    def test_reference(self):
        crank, coupler, rocker = self.rows["reference"][0]
        angles = assembled(0.9)
        self.assert_near([crank, coupler, rocker], [0.9, angles[1] - 0.9, angles[2]])

    def test_positions(self):
        for q, coupler, rocker in self.rows["four-bar"][:, :3]:
            angles = assembled(q)
            self.assert_near(wrapped([coupler, rocker]), wrapped([angles[1] - q, angles[2]]))

    def test_accelerations(self):
        wanted = [crank_acceleration(q, qd, 2) for q, qd in self.rows["four-bar"][:, [0, 3]]]
        self.assert_near(self.rows["four-bar"][:, 4], wanted)
        self.assert_near(self.rows["four-bar"][:, 5], np.full(len(wanted), 2))

    def test_simulation(self):
        """Integrates the equations of the plates by the method that the program uses; the energy must be constant."""
        x, h, rows = np.array([0.9, 6.]), 1e-3, []

        def rate(x):
            return np.array([x[1], crank_acceleration(x[0], x[1], 0)])

        for step in range(1001):
            if step % 200 == 0:
                rows.append([step * h, *x, energy(*x)])
            k1 = rate(x)
            k2 = rate(x + h / 2 * k1)
            k3 = rate(x + h / 2 * k2)
            k4 = rate(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.assert_near(self.rows["rk4"], rows, 1e-10)
        self.assertLess(np.ptp(self.rows["rk4"][:, 3]), 1e-7)
        # the fixed steps of 1 ms have an error of 1e-9; dopri5 with a tolerance of 1e-10 has a smaller one
        self.assert_near(self.rows["dopri5"], rows, 1e-8)
        self.assertLess(np.ptp(self.rows["dopri5"][:, 3]), 1e-8)


if __name__ == "__main__":
    tap.main()
