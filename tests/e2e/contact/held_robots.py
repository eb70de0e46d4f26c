"""Random robots with a floating base and frames to hold, motions that hold these frames, and independent solutions for
the wrenches: the least-norm wrenches by a pseudo-inverse, those within half spaces by Lawson & Hanson's reduction to
non-negative least squares in SciPy, and a certificate of optimality for cones."""
import math

import numpy as np
from contacts import AXES
from scipy.optimize import nnls


def inertial(choose):
    moments = choose.uniform(0.02, 0.05, 3)
    return {"mass": choose.uniform(0.5, 4), "com": list(choose.uniform(-0.1, 0.1, 3)),
            "inertia": dict(zip(("xx", "yy", "zz"), map(float, moments)))}


def random_robot(seed):
    """Returns a floating tree of 5 to 12 joints, some of which mimic others, with a frame at each link; the document and
    the list of frames."""
    choose = np.random.default_rng(seed)
    links, frames = [], [{"name": "foot0", "link": "trunk", "xyz": list(choose.uniform(-0.3, 0.3, 3))}]
    followed = None
    for i in range(int(choose.integers(5, 13))):
        kind = choose.choice(["revolute", "revolute", "continuous", "prismatic"])
        joint = {"name": f"j{i}", "type": str(kind), "axis": list(choose.normal(size=3)),
                 "origin": {"xyz": list(choose.uniform(-0.3, 0.3, 3)), "rpy": list(choose.uniform(-1, 1, 3))}}
        if kind in ("revolute", "prismatic"):
            joint["limits"] = {"position": [-3, 3]}
        if followed is not None and choose.random() < 0.15:
            joint["mimic"] = {"joint": followed, "multiplier": choose.uniform(-1.5, 1.5), "offset": choose.uniform(-0.2, 0.2)}
        elif kind == "revolute":
            followed = joint["name"]
            joint["friction"] = {"viscous": choose.uniform(0, 0.5)}
            joint["rotor_inertia"] = choose.uniform(0, 0.05)
        parent = "trunk" if i == 0 else str(choose.choice(["trunk"] + [link["name"] for link in links]))
        links.append({"name": f"l{i}", "parent": parent, "joint": joint, "inertial": inertial(choose)})
        frames.append({"name": f"foot{i + 1}", "link": f"l{i}", "xyz": list(choose.uniform(-0.3, 0.3, 3)),
                       "rpy": list(choose.uniform(-1, 1, 3))})
    return {"base": {"type": "floating", "link": "trunk", "inertial": inertial(choose)}, "links": links, "frames": frames}


def random_state(choose, nv):
    turn = choose.normal(size=4)
    return list(choose.uniform(-1, 1, 3)) + list(turn / np.linalg.norm(turn)) + list(choose.uniform(-1, 1, nv - 6))


def random_held(choose, frames):
    """Returns random held frames; the wrenches of the frames can balance any effort at the base, and some constraints are redundant."""
    names = [frame["name"] for frame in frames]
    chosen = choose.choice(len(names), size=min(len(names), int(choose.integers(1, 5))), replace=False)
    held = []
    for i in chosen:
        entry = {"frame": names[int(i)], "reference": str(choose.choice(["world", "frame"]))}
        if len(chosen) > 2 and choose.random() < 0.6:
            entry["axes"] = ["x", "y", "z"]
        held.append(entry)
    return held


class HeldMotion:
    """A state of a robot with accelerations that hold the frames, and the system A l = b of the base."""

    def __init__(self, case, model, q, qd, held, choose):
        J, _ = case.jacobians(model, q, list(qd), held)
        still = np.eye(len(qd)) - np.linalg.pinv(J, rcond=1e-9) @ J
        self.qd = still @ qd
        _, J_dot = case.jacobians(model, q, list(self.qd), held)
        self.J, self.drift = J, J_dot @ self.qd
        self.qdd = still @ choose.normal(size=len(qd)) - np.linalg.pinv(J, rcond=1e-9) @ self.drift
        self.state = {"q": list(q), "qd": list(self.qd), "qdd": list(self.qdd)}
        self.free = np.array(case.ask(model, "inverse-dynamics", self.state)["tau"])
        self.A, self.b = J[:, :6].T, self.free[:6]
        self.holds = np.abs(J @ self.qdd + self.drift).max() < 1e-8

    def least(self, weight=None):
        """Returns the efforts l with A l = b and the least sum of w l^2."""
        root = 1 / np.sqrt(np.ones(len(self.J)) if weight is None else weight)
        return root * (np.linalg.pinv(self.A * root, rcond=1e-10) @ self.b)


def tangents(n):
    """Returns two unit vectors across n: the x axis projected on the plane (the y axis if x is near n), and n x that."""
    axis = np.eye(3)[1 if abs(n[0]) > 0.9 else 0]
    first = axis - n * (n @ axis)
    first /= np.linalg.norm(first)
    return first, np.cross(n, first)


def limit_rows(entry):
    """Returns pairs (c, h) of the half spaces c w >= h that limit the wrench w of one contact. Friction cones without facets are left out."""
    n = np.array(entry.get("normal", [0, 0, 1.0]))
    n = n / np.linalg.norm(n)
    zero, rows = np.zeros(3), []
    rows.append((np.concatenate((n, zero)), entry.get("least_normal_force", 0)))
    facets, mu = entry.get("facets"), entry.get("friction_coefficient")
    for j in range(facets or 0):
        first, second = tangents(n)
        angle = (2 * j + 1) * math.pi / facets
        rows.append((np.concatenate((mu * math.cos(math.pi / facets) * n - math.cos(angle) * first - math.sin(angle) * second,
                                     zero)), 0))
    if "torsional_friction_coefficient" in entry:
        for sign in (1, -1):
            rows.append((np.concatenate((entry["torsional_friction_coefficient"] * n, sign * n)), 0))
    corners = [np.array(c) for c in entry.get("sole", [])]
    middle = sum(corners) / len(corners) if corners else None
    for p, after in zip(corners, corners[1:] + corners[:1]):
        inward = np.cross(n, after - p)
        if inward @ (middle - p) < 0:
            inward = -inward
        # The centre of pressure c of the wrench (force f, torque t) lies inside the edge from corner p:
        # (n.f) (c - p).inward >= 0. In the plane with normal n, (n.f) (c - p) = n x t_p with t_p = t - p x f, the
        # torque about p.
        torque = np.array([inward @ np.cross(n, e) for e in np.eye(3)])
        force = np.array([-inward @ np.cross(n, np.cross(p, e)) for e in np.eye(3)])
        rows.append((np.concatenate((force, torque)), 0))
    return rows


def limits(held):
    """Returns G and h of the half spaces G l >= h of all held directions, and the cones (normal part, tangents)."""
    k = sum(len(entry.get("axes", AXES)) for entry in held)
    G, h, cones, first = [], [], [], 0
    for entry in held:
        axes = [AXES.index(axis) for axis in entry.get("axes", AXES)]

        def spread(w):
            row = np.zeros(k)
            row[first:first + len(axes)] = np.array(w)[axes]
            return row
        if set(entry) & {"normal", "least_normal_force", "friction_coefficient", "torsional_friction_coefficient", "sole"}:
            for c, least in limit_rows(entry):
                G.append(spread(c)), h.append(least)
            if "friction_coefficient" in entry and "facets" not in entry:
                n = np.array(entry.get("normal", [0, 0, 1.0])) / np.linalg.norm(entry.get("normal", [0, 0, 1.0]))
                cones.append((spread(np.concatenate((entry["friction_coefficient"] * n, np.zeros(3)))),
                              *(spread(np.concatenate((t, np.zeros(3)))) for t in tangents(n))))
        first += len(axes)
    return np.array(G).reshape(-1, k), np.array(h), cones


def least_distance(A, b, G, h, root):
    """Returns the l of least |l / root| with A l = b and G l >= h, or None: Lawson & Hanson (1974), chapter 23."""
    particular = np.linalg.pinv(A * root, rcond=1e-10) @ b
    if len(G) == 0:
        return root * particular
    _, sizes, Vt = np.linalg.svd(A * root)
    N = Vt[(sizes > 1e-9 * sizes[0]).sum():].T
    rows, right = (G * root) @ N, h - (G * root) @ particular
    unit = max(1, np.abs(particular).max())
    E = np.vstack((rows.T, right[None] / unit))
    target = np.zeros(len(E))
    target[-1] = 1
    u, _ = nnls(E, target, maxiter=10000)
    r = E @ u - target
    if np.linalg.norm(r) < 1e-7:
        return None
    z = -r[:-1] / r[-1] * unit
    active = u > 1e-12 * max(u.max(), 1e-300)
    if active.any():  # the solution on the active rows, without the rounding errors of the quotient
        z = np.linalg.pinv(rows[active], rcond=1e-11) @ right[active]
    return root * (particular + N @ z)


def certificate(A, b, G, h, cones, root, l):
    """Returns how far l is from feasible, and the part of l / root that no multipliers explain, both relative: zero at the
    optimum of this convex problem and nowhere else."""
    scale = max(np.abs(l).max(), 1e-300)
    worst = max([0, np.abs(A @ l - b).max() / max(np.abs(b).max(), 1e-300)] + list((h - G @ l) / scale) +
                [(math.hypot(s @ l, t @ l) - n @ l) / scale for n, s, t in cones])
    near = 1e-8 * scale
    columns = [row for row in A] + [-row for row in A] + [g for g, least in zip(G, h) if g @ l - least < near]
    for n, s, t in cones:
        size = math.hypot(s @ l, t @ l)
        if n @ l - size >= near:
            continue
        if size > 1e-6 * scale:
            columns.append(n - (s @ l / size) * s - (t @ l / size) * t)
        else:
            columns += [n - math.cos(a) * s - math.sin(a) * t for a in np.linspace(0, 2 * math.pi, 721)]
    columns = np.array(columns).T * root[:, None]
    lengths = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    target = l / root
    _, left = nnls(columns / lengths, target, maxiter=20000)
    return worst, left / max(np.linalg.norm(target), 1e-300)
