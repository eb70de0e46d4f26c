#!/usr/bin/python3
"""Writes references/<robot>.json: the dynamics of robots/<robot>.json in a few states, with 80 digits, rounded to doubles.

    python3 tests/data/references.py [--check] [ROBOT]...      (Debian: python3-mpmath)

The equations are not those of the product. Newton's and Euler's equations of each body are projected on the joints
(d'Alembert's principle; Kane & Levinson 1985):

    tau_k = sum over bodies of  v_k . m (a - g) + w_k . (I alpha + w x I w) - v_k . F - w_k . T

with the partial velocities v_k, w_k of centre of mass and body, all in world axes. Derivatives are central differences
with a step of 1e-20: of 80 digits, a difference of differences leaves 40. Only the Coriolis matrix follows a paper of its own (Echeandia &
Wensing 2021, eq. 19). Everything is named, shaped and signed as in api/openapi.yaml; a pose is a 3 x 4 matrix.
"""
import functools
import json
import os
import random
import sys

import mpmath
import numpy as np
from mpmath import mpf

mpmath.mp.dps = 80
HERE = os.path.dirname(os.path.abspath(__file__))
STEP = mpf("1e-20")
# For each robot: whether it floats, the link with the wrench, the link whose motion is recorded, and the numbers of its
# states; state 0 is at rest.
ROBOTS = {"double_pendulum": (False, "link2", "link2", (0, 1, 2)), "ur5": (False, "wrist_3_link", "tool0", (1, 2)),
          "panda_arm": (False, "panda_link4", "panda_hand_tcp", (1, 2)), "anymal_b": (True, "RH_SHANK", "RH_FOOT", (1,))}


def vector(values):
    return np.array([mpf(x) for x in values], dtype=object)


def zeros(*shape):
    return np.full(shape, mpf(0), dtype=object)


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=object)


def turn(axis, angle):
    """Returns the rotation matrix by Rodrigues' formula; the axis is normalised."""
    n = axis / mpmath.sqrt(axis @ axis)
    K = skew(n)
    return np.eye(3, dtype=int) + mpmath.sin(angle) * K + (1 - mpmath.cos(angle)) * (K @ K)


def rpy(angles):
    x, y, z = (turn(vector(axis), mpf(a)) for axis, a in zip(((1, 0, 0), (0, 1, 0), (0, 0, 1)), angles))
    return z @ y @ x


def quaternion_matrix(quaternion):
    x, y, z, w = quaternion
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]], dtype=object)


def inertia_of(inertial):
    """Returns mass, centre of mass, and inertia about it, of a document's `inertial`."""
    if not inertial:
        return mpf(0), zeros(3), zeros(3, 3)
    entry = {name: mpf(value) for name, value in inertial.get("inertia", {}).items()}
    rows = [[entry.get(min(a + b, b + a), mpf(0)) for b in "xyz"] for a in "xyz"]
    return mpf(inertial["mass"]), vector(inertial.get("com", (0, 0, 0))), np.array(rows, dtype=object)


class Robot:
    def __init__(self, document, floating):
        self.floating = floating
        base = document["base"]
        self.index = {base["link"]: 0}
        self.links = [{"parent": None, "inertia": inertia_of(base.get("inertial"))}]
        self.gravity = vector(document["gravity"])
        self.names = [f"base.{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")] if floating else []
        waiting = list(document["links"])
        while waiting:
            entry = next(link for link in waiting if link["parent"] in self.index)
            waiting.remove(entry)
            self.index[entry["name"]] = len(self.links)
            self.links.append(self.link(entry))

    def link(self, entry):
        joint = entry["joint"]
        origin = joint.get("origin", {})
        moves = joint["type"] != "fixed"
        if moves:
            self.names.append(joint["name"])
        return {"parent": self.index[entry["parent"]], "inertia": inertia_of(entry.get("inertial")), "name": entry["name"],
                "R": rpy(origin.get("rpy", (0, 0, 0))), "p": vector(origin.get("xyz", (0, 0, 0))),
                "axis": vector(joint.get("axis", (0, 0, 1))), "slides": joint["type"] == "prismatic",
                "v": len(self.names) - 1 if moves else None}

    @property
    def nv(self):
        return len(self.names)


def place(robot, q):
    """Returns poses (R, p) of all links, for each link the coordinates before it, and for each coordinate its axis and
    a point on it."""
    poses, chain, axes = [], [], []
    for link in robot.links:
        if link["parent"] is None:
            R, p = (quaternion_matrix(q[3:7]), q[:3]) if robot.floating else (np.eye(3, dtype=int) * mpf(1), zeros(3))
            poses.append((R, p))
            chain.append(list(range(6)) if robot.floating else [])
            axes += [("slide", R[:, k], 0) for k in range(3)] + [("turn", R[:, k], 0) for k in range(3)] \
                if robot.floating else []
            continue
        R, p = poses[link["parent"]]
        p, R = p + R @ link["p"], R @ link["R"]
        before = chain[link["parent"]]
        if link["v"] is not None:
            at = q[link["v"] + robot.floating]
            if link["slides"]:
                p = p + R @ link["axis"] * at
            else:
                R = R @ turn(link["axis"], at)
            axes.append(("slide" if link["slides"] else "turn", R @ link["axis"], len(poses)))
            before = before + [link["v"]]
        poses.append((R, p))
        chain.append(before)
    return poses, chain, axes


def jacobian(placed, link, point):
    """Returns the 6 x nv Jacobian, linear rows first, of a point of a link; the point is in world axes from the world's
    origin."""
    poses, chain, axes = placed
    J = zeros(6, len(axes))
    for k in chain[link]:
        kind, axis, carrier = axes[k]
        J[:3, k] = axis if kind == "slide" else cross(axis, point - poses[carrier][1])
        if kind == "turn":
            J[3:, k] = axis
    return J


def moved(robot, q, v, step):
    """Moves q by a step at the rates v of the coordinates; a floating base moves in its own axes."""
    if not robot.floating:
        return q + step * v
    out = q.copy()
    w = step * v[3:6]
    angle = mpmath.sqrt(w @ w)
    half = [x * (mpmath.sin(angle / 2) / angle if angle else mpf(1) / 2) for x in w] + [mpmath.cos(angle / 2)]
    x, y, z, s = q[3:7]
    a, b, c, d = half
    out[3:7] = [s * a + x * d + y * c - z * b, s * b - x * c + y * d + z * a, s * c + x * b - y * a + z * d,
                s * d - x * a - y * b - z * c]
    # The translation of exp() to second order of the step; central differences use only the first order.
    out[:3] = q[:3] + quaternion_matrix(q[3:7]) @ (step * v[:3] + step * step / 2 * cross(v[3:6], v[:3]))
    out[7:] = q[7:] + step * v[6:]
    return out


def difference(value, n):
    """Returns the derivative of value(k, +-STEP) by k < n on the last axis."""
    return np.stack([(value(k, STEP) - value(k, -STEP)) / (2 * STEP) for k in range(n)], axis=-1)


class State:
    """A robot in one state; results have the contract's names."""

    def __init__(self, robot, q, qd):
        self.robot, self.q, self.qd = robot, q, qd
        self.placed = place(robot, q)
        self.poses = self.placed[0]

    def com_jacobian(self, i):
        R, p = self.poses[i]
        return jacobian(self.placed, i, p + R @ self.robot.links[i]["inertia"][1])

    @functools.cached_property
    def neighbours(self):
        """Returns the states one step ahead and behind, along qd."""
        return [State(self.robot, moved(self.robot, self.q, self.qd, h), self.qd) for h in (STEP, -STEP)]

    def jacobian_rate(self, jacobian_of):
        """Returns d/dt of a Jacobian along qd."""
        ahead, behind = self.neighbours
        return (jacobian_of(ahead) - jacobian_of(behind)) / (2 * STEP)

    @functools.cached_property
    def bodies(self):
        """Lists, for the links that have mass and move: index, mass, inertia in world axes, Jacobian, and its rate."""
        return list(self.each_body())

    def each_body(self):
        for i, link in enumerate(self.robot.links):
            mass, _, inertia = link["inertia"]
            if not self.placed[1][i] or (mass == 0 and not inertia.any()):
                continue
            R = self.poses[i][0]
            yield i, mass, R @ inertia @ R.T, self.com_jacobian(i), self.jacobian_rate(lambda s, i=i: s.com_jacobian(i))

    def torque(self, qdd, wrench=None, gravity=True):
        """Returns tau. `wrench` is (link, force, torque) in the link's axes at its origin."""
        tau = zeros(self.robot.nv)
        for _, mass, inertia, J, J_dot in self.bodies:
            motion, w = J @ qdd + J_dot @ self.qd, J[3:] @ self.qd
            tau += J[:3].T @ (mass * (motion[:3] - (self.robot.gravity if gravity else 0)))
            tau += J[3:].T @ (inertia @ motion[3:] + cross(w, inertia @ w))
        if wrench:
            link, force, moment = wrench
            R, p = self.poses[link]
            J = jacobian(self.placed, link, p)
            tau -= J[:3].T @ (R @ force) + J[3:].T @ (R @ moment)
        return tau

    def mass_matrix(self):
        M = zeros(self.robot.nv, self.robot.nv)
        for _, mass, inertia, J, _ in self.bodies:
            M += J[:3].T @ J[:3] * mass + J[3:].T @ inertia @ J[3:]
        return M

    def coriolis_matrix(self):
        """Returns C = sum J^T (I J' + B J), with spatial quantities [angular; linear] in world axes about the world's
        origin."""
        nv = self.robot.nv
        C = zeros(nv, nv)

        def spatial(s, i):
            J = jacobian(s.placed, i, zeros(3))
            return np.concatenate([J[3:], J[:3]])
        for i, mass, inertia, _, _ in self.bodies:
            J, J_dot = spatial(self, i), self.jacobian_rate(lambda s, i=i: spatial(s, i))
            R, p = self.poses[i]
            c = skew(p + R @ self.robot.links[i]["inertia"][1])
            one = np.eye(3, dtype=int)
            I = np.block([[inertia - mass * c @ c, mass * c], [-mass * c, mass * one]])
            v = J @ self.qd
            crm = np.block([[skew(v[:3]), zeros(3, 3)], [skew(v[3:]), skew(v[:3])]])
            h = I @ v
            bar = np.block([[-skew(h[:3]), -skew(h[3:])], [-skew(h[3:]), zeros(3, 3)]])
            C += J.T @ (I @ J_dot + (-crm.T @ I - I @ crm + bar) @ J / 2)
        return C

    def energy(self):
        nv = self.robot.nv
        total, com, A, potential = mpf(0), zeros(3), zeros(6, nv), mpf(0)
        for i, mass, *_ in self.bodies:
            R, p = self.poses[i]
            at = p + R @ self.robot.links[i]["inertia"][1]
            total += mass
            com += mass * at
            potential -= mass * (self.robot.gravity @ at)
        com = com / total
        for i, mass, inertia, J, _ in self.bodies:
            R, p = self.poses[i]
            A[:3] += mass * J[:3]
            A[3:] += inertia @ J[3:] + mass * skew(p + R @ self.robot.links[i]["inertia"][1] - com) @ J[:3]
        return {"kinetic": self.qd @ self.mass_matrix() @ self.qd / 2, "potential": potential, "mass": total, "com": com,
                "com_velocity": A[:3] @ self.qd / total, "com_jacobian": A[:3] / total, "momentum": A @ self.qd,
                "momentum_matrix": A}

    def frame(self, link, qdd):
        """Returns pose, Jacobians, velocity and acceleration of a link's origin, in world axes and in its own axes."""
        def of(s):
            return jacobian(s.placed, link, s.poses[link][1])
        R, p = self.poses[link]
        J, J_dot = of(self), self.jacobian_rate(of)
        turned = np.block([[R.T, zeros(3, 3)], [zeros(3, 3), R.T]])
        acceleration = J @ qdd + J_dot @ self.qd
        return {"pose": np.column_stack([R, p]), "jacobian": J, "jacobian_dot": J_dot, "velocity": J @ self.qd,
                "acceleration": acceleration, "jacobian_in_frame": turned @ J, "velocity_in_frame": turned @ J @ self.qd,
                "acceleration_in_frame": turned @ acceleration}

    def regressor(self, qdd):
        """Returns the columns m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of each joint's link; links fixed
        to it are included."""
        columns = []
        for i, link in enumerate(self.robot.links):
            if link["parent"] is None and not self.robot.floating or link.get("v", 0) is None:
                continue
            for k in range(10):
                columns.append(self.of_parameter(i, k, qdd))
        return np.stack(columns, axis=-1)

    def of_parameter(self, i, k, qdd):
        """Returns the torque of one unit of a parameter: masses, first moments and inertias about the link's origin."""
        R, p = self.poses[i]
        J = jacobian(self.placed, i, p)
        J_dot = self.jacobian_rate(lambda s: jacobian(s.placed, i, s.poses[i][1]))
        motion, w = R.T @ (J @ qdd + J_dot @ self.qd)[:3], R.T @ (J[3:] @ self.qd)
        alpha = R.T @ (J[3:] @ qdd + J_dot[3:] @ self.qd)
        a = motion - R.T @ self.robot.gravity
        force, moment = zeros(3), zeros(3)
        if k == 0:
            force = a
        elif k < 4:
            c = vector([k == 1, k == 2, k == 3])
            force, moment = cross(alpha, c) + cross(w, cross(w, c)), cross(c, a)
        else:
            x, y = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))[k - 4]
            I = zeros(3, 3)
            I[x, y] = I[y, x] = mpf(1)
            moment = I @ alpha + cross(w, I @ w)
        return J[:3].T @ (R @ force) + J[3:].T @ (R @ moment)


def derivatives(robot, q, qd, qdd, wrench):
    """Returns the derivatives of the torque by q and qd; those by q are along the directions of the velocity
    coordinates."""
    nv = robot.nv
    unit = np.eye(nv, dtype=int) * mpf(1)
    by_q = difference(lambda k, h: State(robot, moved(robot, q, unit[k], h), qd).torque(qdd, wrench), nv)
    by_qd = difference(lambda k, h: State(robot, q, qd + h * unit[k]).torque(qdd), nv)
    return by_q, by_qd


def solve(M, b):
    return np.array(mpmath.lu_solve(mpmath.matrix(M.tolist()), mpmath.matrix(b.tolist())), dtype=object).reshape(-1)


def evaluate(robot, wrench_link, frame_link, given):
    q, qd, qdd, qddd, tau = (vector(given[name]) for name in ("q", "qd", "qdd", "qddd", "tau"))
    wrench = robot.index[wrench_link], vector(given["wrench"][:3]), vector(given["wrench"][3:])
    rotors = vector(given["rotor_inertia"])
    s = State(robot, q, qd)
    M, bias = s.mass_matrix(), s.torque(zeros(robot.nv))
    push = s.torque(zeros(robot.nv), wrench) - bias
    inverse = np.stack([solve(M, column) for column in np.eye(robot.nv, dtype=int)], axis=-1)
    free, pushed = inverse @ (tau - bias), inverse @ (tau - bias - push)
    by_q, by_qd = derivatives(robot, q, qd, qdd, None)
    by_q_pushed, _ = derivatives(robot, q, qd, qdd, wrench)
    free_by_q, free_by_qd = derivatives(robot, q, qd, free, None)
    pushed_by_q, _ = derivatives(robot, q, qd, pushed, wrench)
    return {
        "inverse-dynamics": {"tau": M @ qdd + bias, "tau_with_wrench": M @ qdd + bias + push,
                             "tau_with_rotors": M @ qdd + bias + rotors * qdd},
        "forward-dynamics": {"qdd": free, "qdd_with_wrench": pushed, "qdd_with_rotors": solve(M + np.diag(rotors), tau - bias)},
        "mass-matrix": {"mass_matrix": M, "inverse": inverse},
        "bias": {"bias": bias, "gravity": State(robot, q, 0 * qd).torque(0 * qd)},
        "energy": s.energy(), "kinematics": s.frame(robot.index[frame_link], qdd),
        "sensitivity": {"dtau_dq": by_q, "dtau_dqd": by_qd, "dtau_dq_with_wrench": by_q_pushed},
        "forward-sensitivity": {"dqdd_dq": -inverse @ free_by_q, "dqdd_dqd": -inverse @ free_by_qd,
                                "dqdd_dq_with_wrench": -inverse @ pushed_by_q},
        "torque-derivative": {"tau_dot": by_q @ qd + by_qd @ qdd + M @ qddd},
        "coriolis": {"coriolis_matrix": s.coriolis_matrix()}, "regressor": {"regressor": s.regressor(qdd)}}


def draw(robot, name, number):
    """Draws the inputs of one state: at rest for number 0, otherwise random with three decimals."""
    source = random.Random(f"{name} {number}")

    def some(n, size):
        return [round(source.uniform(-size, size), 3) if number else 0 for _ in range(n)]
    q = some(robot.nv, 3)
    if robot.floating:
        q = some(3, 1) + ([0.1, -0.5, 0.7, 0.5] if number == 1 else [0, 0.6, 0, -0.8]) + q[6:]
    return {"q": q, "qd": some(robot.nv, 2), "qdd": some(robot.nv, 5), "qddd": some(robot.nv, 10),
            "tau": some(robot.nv, 20), "wrench": some(6, 10),
            "rotor_inertia": [0] * (6 * robot.floating) + [round(source.uniform(0.01, 1), 3) for _ in range(robot.nv - 6 * robot.floating)]}


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [rounded(part) for part in value]
    number = float(value)
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def table(name):
    floating, wrench_link, frame_link, numbers = ROBOTS[name]
    with open(os.path.join(HERE, "robots", name + ".json")) as file:
        robot = Robot(json.load(file), floating)
    states = []
    for number in numbers:
        given = draw(robot, name, number)
        results = evaluate(robot, wrench_link, frame_link, given)
        states.append({"given": given, **rounded(results)})
    joints = [link["name"] for link in robot.links if link.get("v") is not None]
    return {"robot": name, "base": "floating" if floating else "fixed", "velocity_names": robot.names,
            "bodies": ["base"] * floating + joints, "wrench_link": wrench_link, "frame": frame_link, "states": states}


def main(arguments):
    for name in [a for a in arguments if a != "--check"] or ROBOTS:
        text = json.dumps(table(name), separators=(",", ":")).replace('},"', '},\n"').replace('{"given"', '\n{"given"') + "\n"
        path = os.path.join(HERE, "references", name + ".json")
        if "--check" not in arguments:
            with open(path, "w") as file:
                file.write(text)
            continue
        with open(path) as file:
            if file.read() != text:
                sys.exit(f"{path} is not what this program computes")


if __name__ == "__main__":
    main(sys.argv[1:])
