"""States of a robot of multibody.py, one state in each row: Jacobians, accelerations, efforts, accelerations under efforts, energies and
frames."""
import numpy as np

AXES = ["x", "y", "z", "rx", "ry", "rz"]


def apply(R, v):
    return (R @ v[..., None])[..., 0]


def ends(value):
    return (value.get("positive", 0), value.get("negative", 0)) if isinstance(value, dict) else (value, value)


def sense(friction, u):
    smooth = friction.get("coulomb_velocity", 0)
    return np.tanh(u / smooth) if smooth else np.sign(u)


def resistance(friction, u):
    """Returns friction efforts at the rates u, without the friction proportional to the load."""
    levels = ends(friction.get("coulomb", 0))
    if "stribeck_velocity" in friction:
        fall = np.exp(-(u / friction["stribeck_velocity"]) ** 2)
        levels = [low + (high - low) * fall for low, high in zip(levels, ends(friction["breakaway"]))]
    return friction.get("viscous", 0) * u + np.where(u > 0, *levels) * sense(friction, u)


class State:
    """A model at given positions and velocities, with its Jacobians and all dynamics that follow from them."""

    def __init__(self, robot, q, qd):
        self.robot, self.q, self.qd, tree = robot, q, qd, robot.tree
        self.positions, self.drive_positions = robot.closed(q)
        self.poses, self.turn, self.slide = tree.forward(self.positions)
        self.G = self._follow()
        self.w = apply(self.G, qd)
        self.u = self.w @ robot.B.T
        self._differentiate()
        self.w_drift = self._follow_drift()

    # --- loops

    def _follow(self):
        """Returns G with w = G qd, from the loops' constraints."""
        robot, rows = self.robot, len(self.q)
        G = np.zeros((rows, robot.N, robot.nv))
        G[:, robot.active, np.arange(robot.nv)] = 1
        if robot.closures:
            J = self._closure_jacobian(self.positions)
            self.inverse = np.linalg.pinv(J[:, :, robot.passive], rcond=1e-9)
            G[:, robot.passive] = -self.inverse @ J[:, :, robot.active]
        return G

    def _closure_jacobian(self, positions):
        return self.robot.open_by(positions)[1] @ self.robot.B[:self.robot.tree.nv]

    def _follow_drift(self):
        """Returns G' qd, by extrapolated differences along the motion."""
        robot, drift = self.robot, np.zeros_like(self.w)
        if not robot.closures:
            return drift
        u = self.u[:, :robot.tree.nv]
        rates = lambda t: apply(self._closure_jacobian(robot.tree.move(self.positions, t * u)), self.w)
        h = 2e-4
        one, two = rates(h) - rates(-h), rates(2 * h) - rates(-2 * h)
        drift[:, robot.passive] = -apply(self.inverse, (8 * one - two) / (12 * h))
        return drift

    # --- accelerations

    def _differentiate(self):
        """Computes the twists of all links, and the part of their time derivatives that does not depend on qdd."""
        tree = self.robot.tree
        u, zero = self.u[:, :tree.nv], np.zeros((len(self.q), 3))
        self.twists, drifts = [], []
        self.turn_rate, self.slide_rate = np.zeros_like(self.turn), np.zeros_like(self.slide)
        for joint in tree.joints:
            before = (zero, zero) if joint.parent is None else self.twists[joint.parent]
            own = u[:, None, joint.v]
            w, v = (before[i] + (own @ columns[:, joint.v])[:, 0] for i, columns in enumerate((self.turn, self.slide)))
            w0, v0 = (w, v) if joint.quaternion() is not None else before
            s, m = self.turn[:, joint.v], self.slide[:, joint.v]
            self.turn_rate[:, joint.v] = np.cross(w0[:, None], s)
            self.slide_rate[:, joint.v] = np.cross(w0[:, None], m) + np.cross(v0[:, None], s)
            self.twists.append((w, v))
            rate = [(own @ columns[:, joint.v])[:, 0] for columns in (self.turn_rate, self.slide_rate)]
            last = (zero, zero) if joint.parent is None else drifts[joint.parent]
            drifts.append((last[0] + rate[0], last[1] + rate[1]))
        self.twists.append((zero, zero))
        drifts.append((zero, zero))
        self.drifts = drifts

    def accelerations(self, qdd):
        """Returns the accelerations of the tree and the drives, and of the links' twists, under qdd."""
        a = (apply(self.G, np.atleast_2d(np.array(qdd, float))) + self.w_drift) @ self.robot.B.T
        return a, [self._carried(k, a) for k in range(len(self.twists))]

    def _carried(self, k, a):
        own = (a[:, :self.robot.tree.nv] * self.robot.tree.carries[k])[:, None]
        return tuple(self.drifts[k][i] + (own @ columns)[:, 0] for i, columns in enumerate((self.turn, self.slide)))

    # --- forces

    def bodies(self):
        """Yields (index of the link, mass, centre of mass, inertia about it) of links and payloads, in world axes."""
        for k, com, mass, inertia in [*self.robot.bodies, *self.robot.payloads]:
            R, p = self.poses[k]
            yield k, mass, p + R @ com, R @ inertia @ np.swapaxes(R, 1, 2)

    def forces(self, accelerations, gravity):
        """Returns the efforts, along the tree's velocities, that accelerate all bodies, minus the efforts of the request's wrenches."""
        tree = self.robot.tree
        efforts = np.zeros((len(self.q), tree.nv))
        for k, mass, c, inertia in self.bodies():
            (w, v), (dw, dv) = self.twists[k], accelerations[k]
            point = dv + np.cross(dw, c) + np.cross(w, v + np.cross(w, c)) - self.robot.weights[k] * gravity
            spin = apply(inertia, w)
            torque = apply(inertia, dw) + np.cross(w, spin)
            efforts += self.along(k, mass * point, torque + np.cross(c, mass * point))
        for k, point, R, force, torque, turns in self.robot.wrenches:
            X, p = self.poses[k]
            turned = (X @ R) if turns else R
            F, at = apply(np.broadcast_to(turned, X.shape), force), p + X @ point
            efforts -= self.along(k, F, apply(np.broadcast_to(turned, X.shape), torque) + np.cross(at, F))
        return efforts

    def along(self, k, force, moment):
        """Returns the power, for a unit of each velocity of the tree, of a force and a moment about the world's origin
        on link k."""
        return self.robot.tree.carries[k] * ((self.turn @ moment[..., None])[..., 0] + (self.slide @ force[..., None])[..., 0])

    def springs(self):
        """Returns efforts of springs and elastic joints at the velocities of the tree and drives, and their energy."""
        robot, tree = self.robot, self.robot.tree
        efforts, energy = np.zeros_like(self.u), np.zeros(len(self.q))
        for k, (joint, fields) in enumerate(zip(tree.joints, robot.fields)):
            if "spring" in fields:
                spring, x = fields["spring"], self.positions[:, joint.q.start] - fields["spring"].get("rest", 0)
                (second, third), v = spring.get("stiffness_polynomial", (0, 0)), self.u[:, joint.v.start]
                efforts[:, joint.v.start] += spring.get("stiffness", 0) * x + second * x**2 + third * x**3 + spring.get("damping", 0) * v
                energy += spring.get("stiffness", 0) * x * x / 2 + second * x**3 / 3 + third * x**4 / 4
        for i, k in enumerate(robot.elastic):
            joint, elastic = tree.joints[k], robot.fields[k]["elastic"]
            x = self.positions[:, joint.q.start] - self.drive_positions[:, i] - elastic.get("rest", 0)
            R = elastic["stiffness"] * x + elastic.get("damping", 0) * (self.u[:, joint.v.start] - self.u[:, tree.nv + i])
            efforts[:, joint.v.start] += R
            efforts[:, tree.nv + i] -= R
            energy += elastic["stiffness"] * x * x / 2
        return efforts, energy

    def rotors(self):
        """Returns the rotor inertias as a diagonal matrix over the velocities of the tree and drives."""
        robot, tree = self.robot, self.robot.tree
        diagonal = np.zeros(tree.nv + len(robot.elastic))
        for k, (joint, fields) in enumerate(zip(tree.joints, robot.fields)):
            if "rotor_inertia" in fields:
                diagonal[tree.nv + robot.elastic.index(k) if k in robot.elastic else joint.v.start] = fields["rotor_inertia"]
        return diagonal

    def friction(self, u):
        """Returns two arrays of friction efforts, without the part proportional to the load: efforts at joints and drives, and efforts of the
        motors of transmissions."""
        robot, own = self.robot, np.zeros_like(self.u)
        for joint, fields in zip(robot.tree.joints, robot.fields):
            if "friction" in fields:
                own[:, joint.v.start] += resistance(fields["friction"], u[:, joint.v.start])
        w = self.w
        shared = np.zeros_like(w)
        for P, columns, motors in robot.drives:
            rates = w[:, columns] @ P.T
            efforts = [resistance(motor.get("friction", {}), rates[:, i]) for i, motor in enumerate(motors)]
            shared[:, columns] += np.stack(efforts, 1) @ P
        return own, shared

    def load(self):
        """Returns g for each coordinate of the model: the coefficient of load friction times the sign of its rate."""
        robot, g = self.robot, np.zeros_like(self.w)
        for k, (joint, fields) in enumerate(zip(robot.tree.joints, robot.fields)):
            friction = fields.get("friction", {})
            if friction.get("load"):
                g[:, robot.own[k]] = friction["load"] * sense(friction, self.w[:, robot.own[k]])
        return g[:, robot.active]

    def transmitted(self, qdd, friction=True, gravity=None, springs=True):
        """Returns T, the efforts of inverse dynamics before the friction of actuated coordinates is added."""
        robot = self.robot
        a, accelerations = self.accelerations(qdd)
        full = np.zeros_like(self.u)
        full[:, :robot.tree.nv] = self.forces(accelerations, robot.gravity if gravity is None else np.array(gravity, float))
        full += self.rotors() * a
        if springs:
            full += self.springs()[0]
        w = full @ robot.B
        for P, columns, motors in robot.drives:
            J = np.diag([motor.get("rotor_inertia", 0) for motor in motors])
            w[:, columns] += (a @ np.linalg.pinv(robot.B).T)[:, columns] @ (P.T @ J @ P).T
        if friction:
            w[:, robot.passive] += (self.friction(self.u)[0] @ robot.B)[:, robot.passive]
        return apply(np.swapaxes(self.G, 1, 2), w)

    def resisted(self):
        """Returns the friction at actuated coordinates, without the friction proportional to the load."""
        own, shared = self.friction(self.u)
        return (own @ self.robot.B + shared)[:, self.robot.active]

    def tau(self, qdd, friction=True, **more):
        T = self.transmitted(qdd, friction, **more)
        return T + self.resisted() + self.load() * np.abs(T) if friction else T

    def mass_matrix(self):
        """Returns M from the kinetic energies of bodies and rotors, a quadratic form of qd."""
        robot, tree = self.robot, self.robot.tree
        M = np.zeros((len(self.q), self.u.shape[1], self.u.shape[1]))
        for k, mass, c, inertia in self.bodies():
            turn = tree.carries[k][:, None] * self.turn
            slide = tree.carries[k][:, None] * self.slide + np.cross(turn, c[:, None])
            M[:, :tree.nv, :tree.nv] += mass * slide @ np.swapaxes(slide, 1, 2) + turn @ inertia @ np.swapaxes(turn, 1, 2)
        M += np.diag(self.rotors())
        M = robot.B.T @ M @ robot.B
        for P, columns, motors in robot.drives:
            J = np.diag([motor.get("rotor_inertia", 0) for motor in motors])
            M[:, np.array(columns)[:, None], columns] += P.T @ J @ P
        return np.swapaxes(self.G, 1, 2) @ M @ self.G

    def qdd(self, tau, held=(), friction=True, free=None, given=None):
        """Returns accelerations under the efforts tau, with the frames of `held` constrained. Load friction is first
        solved for T."""
        tau = np.atleast_2d(np.array(tau, float))
        if friction:
            rest = tau - self.resisted()
            tau = rest / (1 + self.load() * np.sign(rest))
        h = self.transmitted(np.zeros_like(self.qd), friction)
        M = self.mass_matrix()
        if not held:
            return np.linalg.solve(M, (tau - h)[..., None])[..., 0]
        J, drift = self.held_rows(held)
        k = J.shape[1]
        lhs = np.block([[M, -np.swapaxes(J, 1, 2)], [J, np.zeros((len(M), k, k))]])
        return np.linalg.solve(lhs, np.concatenate([tau - h, -drift], 1)[..., None])[:, :self.robot.nv, 0]

    # --- frames

    def frame(self, name):
        """Returns axes and origin of a frame, the Jacobians by qd of its linear and angular velocity, and J' qd of
        both."""
        robot, tree = self.robot, self.robot.tree
        k, R, p = tree.place(self.poses, name)
        carries = tree.carries[k][:, None]
        into = robot.B[:tree.nv]
        w, v = carries * self.turn, carries * (self.slide + np.cross(self.turn, p[:, None]))
        Jv, Jw = (np.swapaxes(x, 1, 2) @ into @ self.G for x in (v, w))
        _, accelerations = self.accelerations(np.zeros_like(self.qd))
        turning, moving = self.twists[k]
        dw, dv = accelerations[k]
        drift = dv + np.cross(dw, p) + np.cross(turning, moving + np.cross(turning, p))
        return R, p, np.concatenate([Jv, Jw], 1), np.concatenate([drift, dw], 1)

    def parameters(self, name):
        """Returns m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of a link with all bodies fixed to it, about its origin and in
        its axes."""
        robot = self.robot
        root = robot.tree.frames[name][0]
        R0, p0 = (x[0] for x in self.poses[root])
        p = np.zeros(10)
        for k, com, mass, inertia in robot.bodies:
            at = k
            while at >= 0 and robot.tree.joints[at].type == "fixed":
                parent = robot.tree.joints[at].parent
                at = -1 if parent is None else parent
            if at != root:
                continue
            R, x = (part[0] for part in self.poses[k])
            c, I = R0.T @ (x + R @ com - p0), R0.T @ R @ inertia @ R.T @ R0
            I = I + mass * (c @ c * np.eye(3) - np.outer(c, c))
            p += [mass, *(mass * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
        return p

    def tree_rates(self, name):
        """Returns the velocity of a frame's origin and its angular velocity."""
        return apply(self.frame(name)[2], self.qd)

    def held_rows(self, held):
        """Returns J and J' qd of held frames along their held axes, which are axes of the world or of the frame."""
        rows, drifts = [], []
        for entry in held:
            R, _, J, drift = self.frame(entry["frame"])
            which = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            if entry.get("reference", "world") == "frame":
                into, rate = np.swapaxes(R, 1, 2), apply(J, self.qd)
                back = np.cross(rate[:, 3:], rate[:, :3]), np.cross(rate[:, 3:], rate[:, 3:])
                drift = np.concatenate([apply(into, drift[:, :3] - back[0]), apply(into, drift[:, 3:] - back[1])], 1)
                J = np.concatenate([into @ J[:, :3], into @ J[:, 3:]], 1)
            rows.append(J[:, which])
            drifts.append(drift[:, which])
        return np.concatenate(rows, 1), np.concatenate(drifts, 1)

    def energies(self):
        robot = self.robot
        kinetic = self.rotor_energy()
        potential = self.springs()[1]
        for k, mass, c, inertia in self.bodies():
            w, v = self.twists[k]
            v = v + np.cross(w, c)
            kinetic += mass * (v * v).sum(1) / 2 + (w * apply(inertia, w)).sum(1) / 2
            potential -= robot.weights[k] * mass * c @ robot.gravity
        return kinetic, potential

    def rotor_energy(self):
        """Returns the kinetic energy of rotors, computed from the rates of the rotors only."""
        energy = (self.rotors() * self.u * self.u).sum(1) / 2
        for P, columns, motors in self.robot.drives:
            rates = self.w[:, columns] @ P.T
            energy += (rates * rates) @ [motor.get("rotor_inertia", 0) for motor in motors] / 2
        return energy

    def momentum(self):
        """Returns total mass, centre of mass and its velocity, and the angular momentum about it, without rotors."""
        parts = [(mass, c, self.twists[k][1] + np.cross(self.twists[k][0], c), apply(inertia, self.twists[k][0]))
                 for k, mass, c, inertia in self.bodies()]
        mass = sum(part[0] for part in parts)
        com = sum(m * c for m, c, _, _ in parts) / mass
        velocity = sum(m * v for m, _, v, _ in parts) / mass
        spin = sum(L + m * np.cross(c - com, v) for m, c, v, L in parts)
        return mass, com, velocity, np.concatenate([mass * velocity, spin], 1)

    def centroidal_inertia(self):
        """Returns the inertia tensor of all bodies about the centre of mass, by the parallel-axis theorem."""
        com, total = self.momentum()[1], 0
        for _, mass, c, inertia in self.bodies():
            d = c - com
            total = total + inertia + mass * ((d * d).sum(1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :])
        return total
