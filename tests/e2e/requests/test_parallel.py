"""Tests parallel robots: the Gough-Stewart platform against inverse geometry, Khalil's platform-and-legs form and
statics by hand; a Delta with three arms and six rods against three spheres, energies and virtual work."""
import copy
import math

import numpy as np
import tap
from closed import Closed, Rocked
from lagrange import jacobian
from parallel_robots import Platform, Stewart, quaternion, rotation

ZERO = np.zeros(3)


class StewartForm(Rocked):
    def test_pose(self):
        """The server finds the pose of the platform, and its rates, from which the test computed the leg lengths. All six rods must end at the
        platform's joints."""
        poses = self.poses(30, 1)
        answer = self.ask("stewart", "kinematics", {**self.driven(poses), "frame": "centre", "outputs": [
            "poses", "jacobian", "velocity", "acceleration"]})
        for r, (p, turn, v, w, vd, wd) in enumerate(poses):
            R = rotation(turn)
            self.near(answer["poses"]["centre"]["position"][r], p, 1e-11)
            self.near(answer["poses"]["centre"]["orientation"][r], quaternion(turn), 1e-11)
            for n, b in enumerate(self.stewart.b, 1):
                self.near(answer["poses"][f"rod{n}"]["position"][r], p + R @ b, 1e-11)
            self.near(answer["jacobian"][r], np.linalg.inv(self.stewart.inverse_jacobian(p, R)), 1e-9)
            self.near(answer["velocity"][r], [*v, *w], 1e-9)
            self.near(answer["acceleration"][r], [*vd, *wd], 1e-9)

    def test_platform_and_legs(self):
        """The torques of the server, computed by the general algorithm for loops, equal those of Khalil's equation (66)."""
        poses = self.poses(20, 2)
        answer = self.ask("stewart", "inverse-dynamics", self.driven(poses))
        self.near(answer["tau"], self.expected(poses), 1e-9)

    def test_static_by_hand(self):
        """Massless legs carry the platform's weight: sum f_i u_i = m g up, sum r_i x f_i u_i = r_c x m g up."""
        document = copy.deepcopy(self.documents["stewart"])
        for link in document["links"]:
            if link["name"] != "platform":
                link.pop("inertial", None)
        self.put_model("light", document)
        weight = 25 * 9.81
        # level at home, every leg carries a sixth of the weight: f = m g l / 6 h
        length = math.sqrt(0.6**2 + 0.35**2 - 2 * 0.6 * 0.35 * math.cos(math.radians(35)) + 0.9**2)
        level = self.ask("light", "inverse-dynamics", {"q": [length] * 6})
        self.near(level["tau"], [weight * length / 6 / 0.9] * 6, 1e-11)
        for p, turn, *_ in self.poses(5, 4):
            R = rotation(turn)
            f = np.linalg.solve(self.stewart.inverse_jacobian(p, R).T, [0, 0, weight, *np.cross(R @ [0, 0, 0.03], [0, 0, weight])])
            self.near(self.ask("light", "inverse-dynamics", {"q": list(self.stewart.lengths(p, R))})["tau"], f, 1e-10)

    def test_loads(self):
        """A payload is a part of the platform; a wrench on it adds J_p^T W."""
        load = {"link": "platform", "mass": 8, "com": [0.1, -0.2, 0.3], "inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.2, "xy": 0.05}}
        inertia = np.array([[0.3, 0.05, 0], [0.05, 0.4, 0], [0, 0, 0.2]])
        form = Stewart(self.documents["stewart"])
        centre = np.array(next(f["xyz"] for f in self.documents["stewart"]["frames"] if f["name"] == "centre"))
        form.platform = Platform([*form.platform.bodies, (8, np.array(load["com"]) - centre, inertia)])
        poses, W = self.poses(5, 5), np.array([30, -20, 50, 4, -6, 8.0])
        wrench = {"link": "platform", "force": list(W[:3]), "torque": list(W[3:]), "point": list(centre)}
        answer = self.ask("stewart", "inverse-dynamics", {**self.driven(poses), "payload": load, "wrenches": [wrench]})
        carried = self.expected(poses, form)
        for r, (p, turn, *_) in enumerate(poses):
            J = np.linalg.inv(self.stewart.inverse_jacobian(p, rotation(turn)))
            self.near(answer["tau"][r], carried[r] - J.T @ W, 1e-9)

    def test_mass_matrix(self):
        """Column j of M is Khalil's equation (66) at the j-th unit acceleration minus (66) at zero acceleration."""
        poses = self.poses(3, 6)
        q = self.driven(poses)["q"]
        M = np.array(self.ask("stewart", "mass-matrix", {"q": q})["mass_matrix"])
        for r, (p, turn, *_) in enumerate(poses):
            R = rotation(turn)
            J = np.linalg.inv(self.stewart.inverse_jacobian(p, R))
            columns = []
            for k in range(6):
                moving, still = (self.expected([(p, turn, ZERO, ZERO, *a)])[0] for a in ((J[:3, k], J[3:, k]), (ZERO, ZERO)))
                columns.append(moving - still)
            self.near(M[r], np.transpose(columns), 1e-9)

    def test_forces_between(self):
        """The forces in the spherical joints of legs 2 to 6, with that of leg 1, move the platform."""
        poses = self.poses(5, 7)
        answer = self.ask("stewart", "inverse-dynamics", {**self.driven(poses), "outputs": ["joint_wrenches", "full"]})
        bodies = self.ok(self.client.get("/v1/models/stewart"))["bodies"]
        for r, (p, turn, v, w, vd, wd) in enumerate(poses):
            R = rotation(turn)
            need = self.stewart.platform.wrench(R, w, vd, wd)
            # `platform` is the wrench about the platform's own origin, spherical joint 1; b is the end of the rod
            first = np.array(answer["joint_wrenches"][r][bodies.index("platform")])
            given = np.concatenate([R @ first[:3], R @ first[3:] + np.cross(R @ self.stewart.b[0], R @ first[:3])])
            for wrench, b in zip(np.array(answer["full"]["loop_wrenches"][r]), self.stewart.b[1:]):
                self.near(wrench[3:], ZERO, 1e-9)
                given -= [*(R @ wrench[:3]), *np.cross(R @ b, R @ wrench[:3])]
            self.near(given, need, 1e-9)



class DeltaForm(Closed):
    def test_geometry(self):
        """The platform's position must be the intersection of three spheres about the elbows, and each motor's angle must follow from the
        triangle of its arm. The platform does not rotate."""
        s = self.states("delta", 30, 1)
        motion = {n: s[n] for n in ("q", "qd", "qdd")}
        answer = self.ask("delta", "kinematics", {
            **motion, "frame": "tool", "outputs": ["poses", "velocity", "acceleration", "jacobian"]})
        for r, (q, qd, qdd) in enumerate(zip(*(np.array(s[n]) for n in motion))):
            p = self.delta.platform(q)
            self.near(self.delta.angles(p), q, 1e-11)
            self.near(answer["poses"]["tool"]["position"][r], p, 1e-11)
            self.near(answer["poses"]["tool"]["orientation"][r], [0, 0, 0, 1], 1e-11)
            J = self.delta.platform_jacobian(q)
            self.near(J, jacobian(self.delta.platform, q), 1e-11)
            Jd = np.imag(self.delta.platform_jacobian(q + 1e-30j * qd)) / 1e-30
            self.near(answer["jacobian"][r], np.vstack([J, np.zeros((3, 3))]), 1e-10)
            self.near(answer["velocity"][r], [*(J @ qd), 0, 0, 0], 1e-10)
            self.near(answer["acceleration"][r], [*(J @ qdd + Jd @ qd), 0, 0, 0], 1e-10)

    def test_dynamics(self):
        self.check_dynamics("delta", self.delta, 1e-9)

    def test_virtual_work(self):
        """At rest, tau is the gradient of the server's potential energy, by differences."""
        q, h = np.array([0.5, 0.2, 0.7]), 1e-3
        rows = [list(q + sign * h / part * e) for e in np.eye(3) for part in (1, 2) for sign in (1, -1)]
        load = {"link": "platform", "mass": 2, "com": [0.05, 0.02, -0.1]}
        V = np.array(self.ask("delta", "energy", {"q": rows, "payload": load, "outputs": ["potential"]})["potential"]).reshape(3, 2, 2)
        coarse, fine = (V[:, i, 0] - V[:, i, 1] for i in (0, 1))
        tau = self.ask("delta", "inverse-dynamics", {"q": list(q), "payload": load})["tau"]
        self.near(tau, (4 * fine / h - coarse / (2 * h)) / 3, 1e-9)


if __name__ == "__main__":
    tap.main()
