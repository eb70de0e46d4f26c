"""Kinematics of a document's tree and of the joints that close its loops, for many states at once, written from the text of the contract and
without code of the server.

A state is a row of an array of the tree's coordinates. Velocities of a joint with a quaternion are angular velocities in the moved frame's axes;
all other velocities are rates of the coordinates. Positions are relative to the base link."""
import numpy as np

EYE = np.eye(3)
SIZES = {"revolute": (1, 1), "continuous": (1, 1), "prismatic": (1, 1), "helical": (1, 1), "planar": (3, 3), "spherical": (4, 3),
         "floating": (7, 6), "fixed": (0, 0)}


def hat(v):
    """Returns the cross-product matrices [v x] of rows of vectors."""
    m = np.zeros((*v.shape[:-1], 3, 3))
    m[..., 0, 1], m[..., 0, 2], m[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    m[..., 1, 0], m[..., 2, 0], m[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return m


def about(axis, angles):
    """Returns the rotation matrices about one unit axis by each angle."""
    k = hat(np.asarray(axis, float))
    s, c = np.sin(angles)[..., None, None], np.cos(angles)[..., None, None]
    return EYE + s * k + (1 - c) * (k @ k)


def from_rpy(rpy):
    """Returns the product of rotations about the fixed x, y and z axes, in this order."""
    x, y, z = (about(EYE[i], np.float64(rpy[i])) for i in range(3))
    return z @ y @ x


def from_quaternions(q):
    """Returns the rotation matrices of rows [x, y, z, w] of any length but zero."""
    v, w = q[..., :3], q[..., 3, None, None]
    square = (q * q).sum(-1)[..., None, None]
    return EYE + 2 * (w * hat(v) + hat(v) @ hat(v)) / square


def quaternion_product(a, b):
    v = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    return np.concatenate([v, a[..., 3:] * b[..., 3:] - (a[..., :3] * b[..., :3]).sum(-1, keepdims=True)], -1)


def exponential(w):
    """Returns the quaternions of rotation vectors."""
    half = np.linalg.norm(w, axis=-1, keepdims=True) / 2
    return np.concatenate([np.sinc(half / np.pi) / 2 * w, np.cos(half)], -1)


def logarithm(q):
    """Returns the rotation vectors of quaternions, along the shorter arc."""
    q = np.where(q[..., 3:] < 0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    return np.where(sine > 0, 2 * np.arctan2(sine, q[..., 3:]) / np.where(sine > 0, sine, 1), 2) * q[..., :3]


def conjugate(q):
    return q * [-1, -1, -1, 1]


def least_turn(axis):
    """Returns the smallest rotation that takes z to the axis; half a turn about x for [0, 0, -1]."""
    c = axis[2]
    if c < -1 + 1e-12:
        return np.diag([1.0, -1, -1])
    k = hat(np.cross([0, 0, 1], axis))
    return EYE + k + k @ k / (1 + c)


def across(axis):
    """Returns two unit vectors at right angles to the axis and to each other."""
    return np.linalg.svd(np.asarray(axis, float)[None])[2][1:]


class Joint:
    def __init__(self, link, parent, place, first_q, first_v):
        joint = link.get("joint", {})
        origin = joint.get("origin", {})
        self.name, self.link, self.parent, self.place = joint.get("name"), link["name"], parent, place
        self.type, self.pitch = joint.get("type", "fixed"), joint.get("pitch", 0)
        self.R, self.p = from_rpy(origin.get("rpy", [0, 0, 0])), np.array(origin.get("xyz", [0, 0, 0]), float)
        axis = np.array(joint.get("axis", [0, 0, 1]), float)
        self.axis = axis / np.linalg.norm(axis)
        nq, nv = SIZES[self.type]
        self.q, self.v = slice(first_q, first_q + nq), slice(first_v, first_v + nv)
        self.actuated = joint.get("actuated", True)
        zero = [0.0] * nq
        if self.type in ("spherical", "floating"):
            zero[-1] = 1.0
        self.home = np.atleast_1d(np.array(joint.get("home", zero), float))

    def quaternion(self):
        """Returns the slice of the joint's quaternion in the tree's coordinates, or None."""
        return slice(self.q.stop - 4, self.q.stop) if self.type in ("spherical", "floating") else None

    def pose(self, q):
        """Returns rotation and displacement of the moved frame in the joint frame."""
        zero = np.zeros((len(q), 3))
        if self.type in ("revolute", "continuous"):
            return about(self.axis, q[:, 0]), zero
        if self.type == "prismatic":
            return np.broadcast_to(EYE, (len(q), 3, 3)), q * self.axis
        if self.type == "helical":
            return about(self.axis, q[:, 0]), self.pitch * q * self.axis
        if self.type == "planar":
            return about(self.axis, q[:, 2]), q[:, :2] @ least_turn(self.axis)[:, :2].T
        if self.type == "spherical":
            return from_quaternions(q), zero
        if self.type == "floating":
            return from_quaternions(q[:, 3:]), q[:, :3]
        return np.broadcast_to(EYE, (len(q), 3, 3)), zero

    def twists(self, R0, R, p):
        """Returns, for a unit of each velocity of the joint, the angular velocity and the velocity of the body's point
        at the base's origin. R0 are the axes of the joint frame; R, p the pose of the moved frame."""
        turn = np.zeros((len(R), self.v.stop - self.v.start, 3))
        slide = np.zeros_like(turn)
        if self.type in ("revolute", "continuous", "helical"):
            turn[:, 0] = R0 @ self.axis
            slide[:, 0] = self.pitch * turn[:, 0]
        elif self.type == "prismatic":
            slide[:, 0] = R0 @ self.axis
        elif self.type == "planar":
            slide[:, :2] = np.swapaxes(R0 @ least_turn(self.axis)[:, :2], 1, 2)
            turn[:, 2] = R0 @ self.axis
        elif self.type == "spherical":
            turn[:] = np.swapaxes(R, 1, 2)
        elif self.type == "floating":
            slide[:, :3] = turn[:, 3:] = np.swapaxes(R, 1, 2)
        return turn, slide - turn @ hat(p)  # p x turn; this form takes a third of the time of numpy's cross


class Tree:
    """The links of a document in depth-first order, children in document order, with their joints."""

    def __init__(self, document):
        base = document.get("base", {}).get("link", "base")
        links, self.joints, places = document["links"], [], {}

        def visit(parent, name):
            for link in links:
                if link["parent"] == name:
                    last = self.joints[-1] if self.joints else None
                    first = (last.q.stop, last.v.stop) if last else (0, 0)
                    joint = Joint(link, parent, len(self.joints), *first)
                    self.joints.append(joint)
                    places[link["name"]] = joint.place
                    visit(joint.place, link["name"])
        visit(None, base)
        self.nq, self.nv = self.joints[-1].q.stop, self.joints[-1].v.stop
        # [link, velocity] 1 where the velocity moves the link; the last row is for the base link, which none moves
        self.carries = np.zeros((len(self.joints) + 1, self.nv))
        for joint in self.joints:
            if joint.parent is not None:
                self.carries[joint.place] = self.carries[joint.parent]
            self.carries[joint.place, joint.v] = 1
        self.frames = {base: (-1, EYE, np.zeros(3)), **{name: (k, EYE, np.zeros(3)) for name, k in places.items()}}
        for frame in document.get("frames", []):
            self.frames[frame["name"]] = (places.get(frame["link"], -1), from_rpy(frame.get("rpy", [0, 0, 0])),
                                          np.array(frame.get("xyz", [0, 0, 0]), float))
        self.home = np.concatenate([joint.home for joint in self.joints])
        self.length = max([np.linalg.norm(joint.p) for joint in self.joints]
                          + [np.linalg.norm(frame[2]) for frame in self.frames.values()]) or 1.0
        marks = [(joint, joint.actuated) for joint in self.joints]
        self.active_q = np.concatenate([np.full(SIZES[j.type][0], a) for j, a in marks]).nonzero()[0]
        self.passive_v = np.concatenate([np.full(SIZES[j.type][1], not a) for j, a in marks]).nonzero()[0]
        self.active_v = np.setdiff1d(np.arange(self.nv), self.passive_v)

    def move(self, q, dv):
        """Moves coordinates by `dv`, a change in velocities."""
        moved = q.copy()
        for joint in self.joints:
            own, part = dv[:, joint.v], joint.quaternion()
            if part is None:
                moved[:, joint.q] += own
                continue
            if joint.type == "floating":
                turned = from_quaternions(q[:, part]) @ own[:, :3, None]
                moved[:, joint.q.start:part.start] += turned[..., 0]
            turned = quaternion_product(q[:, part], exponential(own[:, -3:]))
            moved[:, part] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        return moved

    def between(self, a, b):
        """Returns the constant velocities that take coordinates a to b in unit time; quaternions move along the shorter
        arc."""
        dv = np.zeros((len(a), self.nv))
        for joint in self.joints:
            part = joint.quaternion()
            if part is None:
                dv[:, joint.v] = b[:, joint.q] - a[:, joint.q]
                continue
            if joint.type == "floating":
                raise NotImplementedError("no mechanism here has an actuated floating joint")
            dv[:, joint.v] = logarithm(quaternion_product(conjugate(a[:, part]), b[:, part]))
        return dv

    def forward(self, q):
        """Returns the poses of all links, with the base last, and the twists of all velocities (Joint.twists)."""
        rows = len(q)
        poses, turn, slide = [], np.zeros((rows, self.nv, 3)), np.zeros((rows, self.nv, 3))
        for joint in self.joints:
            R, p = (EYE, np.zeros(3)) if joint.parent is None else poses[joint.parent]
            R0, p0 = np.broadcast_to(R @ joint.R, (rows, 3, 3)), np.broadcast_to(p + R @ joint.p, (rows, 3))
            own_R, own_p = joint.pose(q[:, joint.q])
            pose = R0 @ own_R, p0 + (R0 @ own_p[..., None])[..., 0]
            poses.append(pose)
            if joint.v.stop > joint.v.start:
                turn[:, joint.v], slide[:, joint.v] = joint.twists(R0, *pose)
        poses.append((np.broadcast_to(EYE, (rows, 3, 3)), np.zeros((rows, 3))))
        return poses, turn, slide

    def place(self, poses, name):
        """Returns the index of a frame's link and the frame's pose."""
        k, R, p = self.frames[name]
        return k, poses[k][0] @ R, poses[k][1] + poses[k][0] @ p


class Closure:
    """A joint that closes a loop: its residual, in units of `length` and radians, and the residual's Jacobian."""

    def __init__(self, tree, entry, length):
        self.tree, self.length, self.type = tree, length, entry["type"]
        self.a, self.b = entry["frame_a"], entry["frame_b"]
        self.u, self.u_b = (np.array(entry.get(key, [0, 0, 1]), float) for key in ("axis", "axis_b"))
        self.u, self.u_b = self.u / np.linalg.norm(self.u), self.u_b / np.linalg.norm(self.u_b)
        self.across = across(self.u)

    def rows(self, poses, turn, slide):
        """Returns residual [rows, m] and Jacobian [rows, m, nv] of the loop. y is the origin of frame b relative to a,
        R the axes of b, both in axes of a."""
        a, Ra, pa = self.tree.place(poses, self.a)
        b, Rb, pb = self.tree.place(poses, self.b)
        into = np.swapaxes(Ra, 1, 2)
        signs = (self.tree.carries[b] - self.tree.carries[a])[:, None]
        w = signs * turn
        v = (signs * slide + w @ hat(pb)) @ Ra
        w = w @ Ra
        y = (into @ (pb - pa)[..., None])[..., 0]
        linear, angular = self.held(into @ Rb)
        parts = [(y @ linear.T / self.length, linear @ np.swapaxes(v, 1, 2) / self.length)]
        if angular is not None:
            parts.append((angular[0], angular[1] @ np.swapaxes(w, 1, 2)))
        return np.concatenate([p[0] for p in parts], 1), np.concatenate([p[1] for p in parts], 1)

    def held(self, R):
        """Returns the constrained directions of y, the residual of the rotation, and its derivative by the angular
        velocity."""
        linear = {"prismatic": lambda: self.across, "cylindrical": lambda: self.across,
                  "planar": lambda: self.u[None]}.get(self.type, lambda: EYE)()
        if self.type == "spherical":
            return linear, None
        if self.type in ("fixed", "prismatic"):  # residual: rotation axis times sine of the angle
            trace = np.trace(R, axis1=1, axis2=2)[:, None, None]
            sine = (R - np.swapaxes(R, 1, 2)) / 2
            return linear, (np.stack([sine[:, 2, 1], sine[:, 0, 2], sine[:, 1, 0]], 1),
                            (trace * EYE - R) / 2)
        if self.type == "universal":  # residual: cosine of the angle between the two axes
            turned = R @ self.u_b
            cosine, normal = (turned @ self.u)[:, None], np.cross(turned, self.u)
            return linear, (np.arcsin(cosine), (normal / np.linalg.norm(normal, axis=1, keepdims=True))[:, None])
        # Revolute, cylindrical and planar loops: the axis u of one frame must be perpendicular to the vectors n of the other; d/dt (n . R u) = n
        # . (w x R u).
        turned = R @ self.u
        return linear, (turned @ self.across.T, np.cross(turned[:, None], self.across))


class Mechanism(Tree):
    def __init__(self, document):
        super().__init__(document)
        self.closures = [Closure(self, entry, self.length) for entry in document["loops"]]

    def open_by(self, q):
        """Returns the residual of all loops and its Jacobian."""
        kinematics = self.forward(q)
        parts = [closure.rows(*kinematics) for closure in self.closures]
        return np.concatenate([p[0] for p in parts], 1), np.concatenate([p[1] for p in parts], 1)

    def pose(self, q, frame):
        """Returns position and axes of a frame in the base link, and the Jacobians of both; angular velocity is in base
        axes."""
        poses, turn, slide = self.forward(q)
        k, R, p = self.place(poses, frame)
        carries = self.carries[k][:, None]
        w = carries * turn
        v = carries * slide + w @ hat(p)
        return p, R, np.swapaxes(v, 1, 2), np.swapaxes(w, 1, 2)
