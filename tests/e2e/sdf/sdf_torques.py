"""Computes torques of a robot from what libsdformat reads of its SDF file: Newton-Euler equations in world axes, without the
tree, the joint frames and the recursion of the server. For robots without loops, gearboxes and ball joints."""
import math

import numpy as np

FIXED, PRISMATIC, SCREW = 3, 5, 8     # types of joints, in libsdformat's numbers


def rotation(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def of_quaternion(x, y, z, w):
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


class Point:
    """Rotation, place and motion of a point of a body, in world axes."""

    def __init__(self, R, p, w=None, v=None, dw=None, a=None):
        self.R, self.p = R, p
        self.w, self.v, self.dw, self.a = (np.zeros(3) if x is None else x for x in (w, v, dw, a))

    def moved(self, arm):
        """Returns the point at `arm` from this one, on the same body."""
        return Point(self.R, self.p + arm, self.w, self.v + np.cross(self.w, arm), self.dw,
                     self.a + np.cross(self.dw, arm) + np.cross(self.w, np.cross(self.w, arm)))

    def slid(self, axis, q, qd, qdd):
        far = self.moved(axis * q)
        far.v = far.v + axis * qd
        far.a = far.a + 2 * np.cross(self.w, axis * qd) + axis * qdd
        return far

    def turned(self, axis, q, qd, qdd):
        return Point(rotation(axis, q) @ self.R, self.p, self.w + axis * qd, self.v,
                     self.dw + np.cross(self.w, axis * qd) + axis * qdd, self.a)


class Robot:
    """Links and joints of one model. `root` is the link of a floating base, None with a fixed one; coordinates have the names of the
    server."""

    def __init__(self, entries, positions, velocities, root):
        self.links = {e["name"]: e for e in entries if e["kind"] == "link"}
        self.joints = [e for e in entries if e["kind"] == "joint"]
        self.position = {name: i for i, name in enumerate(positions)}
        self.velocity = {name: i for i, name in enumerate(velocities)}
        self.place = self.pose(next(e for e in entries if e["kind"] == "model"))
        self.zero = {name: self.in_world(e) for name, e in self.links.items()}
        self.zero["world"] = np.eye(3), np.zeros(3)
        self.root = root
        self.steps = self.walk(root or "world")

    @staticmethod
    def pose(entry):
        return of_quaternion(*entry["pose"][3:]), np.array(entry["pose"][:3])

    def in_world(self, entry):
        """Returns the pose of an entry in the world, in which the model has a pose."""
        (R, p), (R_entry, p_entry) = self.place, self.pose(entry)
        return R @ R_entry, p + R @ p_entry

    def walk(self, start):
        """Lists the steps of the tree from the link `start` as (link, next link, joint, sign); the sign is -1 where the next link is the joint's
        parent."""
        steps, reached = [], [start]
        for here in reached:
            for joint in self.joints:
                for near, far, sign in ((joint["parent"], joint["child"], 1), (joint["child"], joint["parent"], -1)):
                    if near == here and far not in reached:
                        steps.append((here, far, joint, sign))
                        reached.append(far)
        assert set(reached) >= set(self.links), "links without a joint"
        return steps

    def axes(self, joint):
        """Lists (coordinate, axis at zero in world axes) of a joint."""
        if joint["type"] == FIXED:
            return []
        one = len(joint["axes"]) == 1
        return [(joint["name"] if one else f"{joint['name']}.{k + 1}", self.place[0] @ axis) for k, axis in enumerate(joint["axes"])]

    def follow(self, point, joint, sign, motion, turn):
        """Moves a point at a joint's origin by its coordinates. Returns it and a list of (coordinate, turning, sliding, place)."""
        columns = []
        for name, axis in self.axes(joint)[::sign]:
            u = sign * (point.R @ turn @ axis)
            q, qd, qdd = motion[0][self.position[name]], motion[1][self.velocity[name]], motion[2][self.velocity[name]]
            lead = 1 if joint["type"] == PRISMATIC else -1 / joint["thread_pitch"] if joint["type"] == SCREW else 0
            if joint["type"] == SCREW:      # whichever way the tree passes the joint, the screw moves by the same lead along its axis
                point = point.slid(u, lead * q, lead * qd, lead * qdd).turned(u, q, qd, qdd)
            else:
                point = point.slid(u, q, qd, qdd) if lead else point.turned(u, q, qd, qdd)
            columns.append((self.velocity[name], np.zeros(3) if joint["type"] == PRISMATIC else u, lead * u, point.p))
        return point, columns

    def base(self, motion):
        """Returns the point and the columns of a floating base, whose coordinates come first and whose rates are in its own axes."""
        q, qd, qdd = motion
        R = of_quaternion(*q[3:7])
        w, v = R @ qd[3:6], R @ qd[:3]
        point = Point(R, np.array(q[:3]), w, v, R @ qdd[3:6], R @ qdd[:3] + np.cross(w, v))
        none = np.zeros(3)
        return point, [(i, none, R[:, i], point.p) for i in range(3)] + [(3 + i, R[:, i], none, point.p) for i in range(3)]

    def tau(self, q, qd, qdd, gravity):
        """Returns the torques of rigid bodies without friction and springs."""
        motion = np.array(q), np.array(qd), np.array(qdd)
        points, columns = {"world": Point(np.eye(3), np.zeros(3))}, []
        if self.root:
            points[self.root], first = self.base(motion)
            columns.append(("world", self.root, first))
        for near, far, joint, sign in self.steps:
            (R, p), (R_far, p_far), (_, p_joint) = self.zero[near], self.zero[far], self.in_world(joint)
            there, moved = self.follow(points[near].moved(points[near].R @ R.T @ (p_joint - p)), joint, sign, motion, R.T)
            turn = there.R @ R.T
            points[far] = there.moved(turn @ (p_far - p_joint))
            points[far].R = turn @ R_far
            columns.append((near, far, moved))
        return self.gather(points, columns, np.array(gravity))

    def gather(self, points, columns, gravity):
        """Adds the forces of all links up to the base, and takes their parts along the coordinates."""
        force, torque = ({name: np.zeros(3) for name in points} for _ in range(2))
        for name, link in self.links.items():
            R = points[name].R
            com = points[name].moved(R @ link["com"])
            xx, xy, xz, yy, yz, zz = link["inertia"]
            I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
            force[name] = link["mass"] * (com.a - gravity)
            torque[name] = I @ com.dw + np.cross(com.w, I @ com.w) + np.cross(com.p, force[name])
        tau = np.zeros(len(self.velocity))
        for near, far, moved in reversed(columns):
            for i, turning, sliding, place in moved:
                tau[i] = turning @ (torque[far] - np.cross(place, force[far])) + sliding @ force[far]
            force[near] = force[near] + force[far]
            torque[near] = torque[near] + torque[far]
        return tau

    def forces(self, q, qd):
        """Returns friction and springs of all coordinates: two vectors."""
        friction, spring = np.zeros(len(self.velocity)), np.zeros(len(self.velocity))
        for joint in self.joints:
            for (name, _), (damping, dry, stiffness, rest) in zip(self.axes(joint), joint["dynamics"]):
                i = self.velocity[name]
                friction[i] = damping * qd[i] + dry * np.sign(qd[i])
                spring[i] = stiffness * (q[self.position[name]] - rest)
        return friction, spring
