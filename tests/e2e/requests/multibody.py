"""Computes the dynamics of a model document, written from the text of the contract and without code of the server, for many states at once:
mimics, elastic joints, transmissions, loops, all kinds of friction and a moving base.

The momentum of each body about the world's origin is differentiated in time, and the equations are projected by Jacobians of the whole tree.
Unlike the product, this needs no recursion and no link frames. The first axis of an array numbers the states. `w` are the velocities of all
joints without a mimic, then those of the drives of elastic joints. The model's own coordinates are the entries of `w` that are not passive."""
import copy

import numpy as np
from multibody_state import State, apply
from tree_kinematics import Closure, Tree, exponential, from_quaternions, hat, quaternion_product

GRAVITY = [0, 0, -9.81]
WAY, ROUNDS = 6, 3  # steps of the continuation from home to q, and Newton iterations in each


def tensor(inertia):
    names = ("xx", "xy", "xz"), ("xy", "yy", "yz"), ("xz", "yz", "zz")
    return np.array([[inertia.get(name, 0) for name in row] for row in names], float)


def left_jacobian(w):
    """Returns V(w), the integral of exp(s [w]) over s from 0 to 1: the left Jacobian of rotations."""
    angle, K = np.linalg.norm(w, axis=-1)[:, None, None], hat(w)
    with np.errstate(all="ignore"):
        a = np.where(angle > 1e-3, (1 - np.cos(angle)) / angle ** 2, 0.5 - angle ** 2 / 24)
        b = np.where(angle > 1e-3, (angle - np.sin(angle)) / angle ** 3, 1 / 6 - angle ** 2 / 120)
    return np.eye(3) + a * K + b * K @ K


def rooted(document):
    """Returns the document with a fixed base: a floating base becomes a link on a floating joint."""
    document = copy.deepcopy(document)
    base = document.get("base", {})
    if base.get("type", "fixed") == "floating":
        trunk = {"name": base["link"], "parent": "ground of the base", "joint": {"name": "base", "type": "floating"}}
        trunk.update({key: base[key] for key in ("inertial", "gravity_compensation") if key in base})
        document["links"].insert(0, trunk)
        document["base"] = {"type": "fixed", "link": trunk["parent"]}
    return document


class Multibody:
    def __init__(self, document, gravity=None):
        document = rooted(document)
        self.tree = tree = Tree(document)
        self.gravity = np.array(document.get("gravity", GRAVITY) if gravity is None else gravity, float)
        self.fields = [next(link for link in document["links"] if link["name"] == joint.link).get("joint", {}) for joint in tree.joints]
        self.index = {joint.name: k for k, joint in enumerate(tree.joints)}
        self.bodies = [(k, np.array(link["inertial"]["com"], float), link["inertial"]["mass"], tensor(link["inertial"]["inertia"]))
                       for link in document["links"] for k in [tree.frames[link["name"]][0]] if "inertial" in link]
        self.weights = np.ones(len(tree.joints) + 1)  # shares of gravity that act on the links; the base is the last
        for link in document["links"]:
            self.weights[tree.frames[link["name"]][0]] -= link.get("gravity_compensation", 0)
        self.elastic = [k for k, fields in enumerate(self.fields) if "elastic" in fields]
        self._list_coordinates()
        self.drives = [(np.linalg.inv(t["matrix"]), [self._column(name) for name in t["joints"]], t["motors"])
                       for t in document.get("transmissions", [])]
        self.closures = [Closure(tree, loop, tree.length) for loop in document.get("loops", [])]
        self.payloads, self.wrenches = [], []

    def _column(self, name):
        return self.B[self.tree.joints[self.index[name]].v.start].nonzero()[0][0]

    def _list_coordinates(self):
        """Numbers the coordinates, and sets the matrix B that maps w to the velocities of the tree and of the drives. For joints with one
        coordinate, B and `offset` map positions in the same way."""
        tree, own, columns = self.tree, {}, 0
        for k, (joint, fields) in enumerate(zip(tree.joints, self.fields)):
            if "mimic" not in fields:
                own[k] = columns
                columns += joint.v.stop - joint.v.start
        self.n_joints = columns
        self.N = columns + len(self.elastic)
        self.B = np.zeros((tree.nv + len(self.elastic), self.N))
        self.offset = np.zeros(tree.nq)
        for k, (joint, fields) in enumerate(zip(tree.joints, self.fields)):
            factor, offset, leader = 1.0, 0.0, k
            while "mimic" in self.fields[leader]:
                mimic = self.fields[leader]["mimic"]
                offset += factor * mimic.get("offset", 0)
                factor *= mimic.get("multiplier", 1)
                leader = self.index[mimic["joint"]]
            for i in range(joint.v.stop - joint.v.start):
                self.B[joint.v.start + i, own[leader] + i] = factor
            if leader != k:
                self.offset[joint.q] = offset
        for i in range(len(self.elastic)):
            self.B[tree.nv + i, columns + i] = 1
        passive = [own[k] + i for k, joint in enumerate(tree.joints) if k in own and not joint.actuated
                   for i in range(joint.v.stop - joint.v.start)]
        self.passive = np.array(passive, int)
        self.active = np.setdiff1d(np.arange(self.N), self.passive)
        self.nv = len(self.active)
        self.own = own

    # --- positions ------------------------------------------------------------------------------------------------

    def spread(self, q):
        """Returns positions of the tree and of the drives from the model's q; passive coordinates have their values of the reference
        configuration `home`."""
        tree, rows = self.tree, len(q)
        positions, at = np.tile(tree.home, (rows, 1)), 0
        for k, joint in enumerate(tree.joints):
            if k in self.own and joint.actuated:
                n = joint.q.stop - joint.q.start
                positions[:, joint.q] = q[:, at:at + n]
                at += n
        return self.coupled(positions), q[:, at:]

    def coupled(self, positions):
        for k, (joint, fields) in enumerate(zip(self.tree.joints, self.fields)):
            if "mimic" in fields:
                row = self.B[joint.v.start]
                column = row.nonzero()[0][0]
                leader = next(self.tree.joints[j] for j, first in self.own.items() if first == column)
                positions[:, joint.q] = row[column] * positions[:, leader.q] + self.offset[joint.q]
        return positions

    def closed(self, q):
        """Returns positions of the tree with closed loops: Newton's method follows the closure along the straight line from the reference
        configuration `home` to q."""
        goal, drives = self.spread(q)
        if not self.closures:
            return goal, drives
        home = np.tile(self.coupled(self.tree.home[None].copy())[0], (len(q), 1))
        passive = [joint for k, joint in enumerate(self.tree.joints) if k in self.own and not joint.actuated]
        move = np.concatenate([np.arange(joint.v.start, joint.v.stop) for joint in passive])
        at = home.copy()
        for part in np.linspace(0, 1, WAY + 1)[1:]:
            for joint in self.tree.joints:
                if joint not in passive and joint.quaternion() is None:
                    at[:, joint.q] = home[:, joint.q] + part * (goal[:, joint.q] - home[:, joint.q])
                elif joint not in passive:
                    at[:, joint.q] = goal[:, joint.q]
            for _ in range(ROUNDS if part < 1 else 2 * ROUNDS):
                at = self.coupled(at)
                e, J = self.open_by(at)
                step = np.zeros((len(q), self.tree.nv))
                step[:, move] = -apply(np.linalg.pinv((J @ self.B[:self.tree.nv])[:, :, self.passive], rcond=1e-9), e)
                at = self.tree.move(at, step)
        return self.coupled(at), drives

    def open_by(self, positions):
        kinematics = self.tree.forward(positions)
        parts = [closure.rows(*kinematics) for closure in self.closures]
        return np.concatenate([p[0] for p in parts], 1), np.concatenate([p[1] for p in parts], 1)

    def moved(self, q, change):
        """Moves the model's positions for unit time by a constant twist of the base and constant velocities of the
        joints."""
        q, floats = np.array(q, float), self.tree.nq > self.tree.nv
        if not floats:
            return q + change
        turn, place = change[:, 3:6], from_quaternions(q[:, 3:7])
        part = quaternion_product(q[:, 3:7], exponential(turn))
        return np.concatenate([q[:, :3] + apply(place @ left_jacobian(turn), change[:, :3]), part, q[:, 7:] + change[:, 6:]], 1)

    # --- motion ---------------------------------------------------------------------------------------------------

    def state(self, q, qd):
        return State(self, np.atleast_2d(np.array(q, float)), np.atleast_2d(np.array(qd, float)))

    def place(self, name):
        return self.tree.frames[name]


def with_payload(robot, payload):
    k, R, p = robot.place(payload["link"])
    com = np.array(payload.get("com", [0, 0, 0]), float)
    robot.payloads.append((k, p + R @ com, payload["mass"], R @ tensor(payload.get("inertia", {})) @ R.T))


def with_wrench(robot, wrench):
    """Adds a wrench of a request to the robot, given in axes of the world or of its link."""
    k, R, p = robot.place(wrench["link"])
    turns = wrench.get("frame", "world") == "link"
    vector = lambda name: np.array(wrench.get(name, [0, 0, 0]), float)
    robot.wrenches.append((k, p + R @ vector("point"), R if turns else np.eye(3), vector("force"), vector("torque"), turns))
