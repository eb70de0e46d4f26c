"""Tests spherical and floating joints anywhere in a tree, through HTTP: against free-body diagrams (the body beyond the joint, and the part
before the joint with the joint's wrench as a load), steady precession, free fall, differences along R exp(e), and energy balances. Also tests
names, quaternions and refusals."""
import math
import random

import numpy as np
import tap
from gyrostat import rpy, skew
from harness import ServerCase
from samples import body

ORIGIN = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.4, -0.5, 0.6]}
NAMES = {"spherical": ([".qx", ".qy", ".qz", ".qw"], [".wx", ".wy", ".wz"]),
         "floating": ([".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"], [".vx", ".vy", ".vz", ".wx", ".wy", ".wz"])}
BALL = body(1.5, (0.05, -0.1, 0.15))


def arm():
    return [{"name": "upper", "parent": "base", "inertial": body(2, (0.1, 0, 0.2)),
             "joint": {"name": "root", "type": "revolute", "axis": [1, 0, 0.5], "rotor_inertia": 0.3}},
            {"name": "fore", "parent": "upper", "inertial": body(1.2, (0, 0.1, 0.1)),
             "joint": {"name": "slide", "type": "prismatic", "axis": [0, 1, 1], "origin": {"xyz": [0, 0.1, 0.4], "rpy": [1, 0, 0.3]}}}]


def on_arm(kind, **more):
    return {"links": arm() + [{"name": "ball", "parent": "fore", "inertial": BALL,
                               "joint": {"name": "at", "type": kind, "origin": ORIGIN, **more}}]}


# Spherical and floating joints in series and in branches, on a floating base, with hinges before and after them.
TREE = {"base": {"type": "floating", "link": "hull", "inertial": body(6, (0.02, 0, 0.1), 0.3, 0.4, 0.35)}, "links": [
    {"name": "arm", "parent": "hull", "inertial": body(1, (0, 0.1, 0)),
     "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0], "origin": ORIGIN, "friction": {"viscous": 0.1}}},
    {"name": "ball", "parent": "arm", "inertial": BALL, "joint": {"name": "s1", "type": "spherical", "origin": {"xyz": [0, 0.3, 0]}}},
    {"name": "drone", "parent": "ball", "inertial": body(0.8, (0.1, 0, 0)),
     "joint": {"name": "f1", "type": "floating", "origin": {"xyz": [0.2, 0, 0.1], "rpy": [0, 1, 0]}}},
    {"name": "wing", "parent": "drone", "inertial": body(0.5, (0, 0.2, 0)),
     "joint": {"name": "flap", "type": "revolute", "axis": [1, 0, 0], "spring": {"stiffness": 3}}},
    {"name": "pod", "parent": "hull", "inertial": body(0.9, (0, 0, -0.2)), "joint": {"name": "s2", "type": "spherical"}}]}
TREE_QUATERNIONS = (3, 8, 15, 20)
FIXED_TREE = {**TREE, "base": {"type": "fixed", "link": "hull"}}
FIXED_QUATERNIONS = (1, 8, 13)


def rotation(q):
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def product(a, b):
    v, s, w, t = np.array(a[:3]), a[3], np.array(b[:3]), b[3]
    return [*(s * w + t * v + np.cross(v, w)), s * t - v @ w]


def unit(source):
    q = np.array([source.gauss(0, 1) for _ in range(4)])
    return (q / np.linalg.norm(q)).tolist()


def inertia(inertial):
    I = inertial["inertia"]
    return np.array([[I["xx"], I["xy"], I["xz"]], [I["xy"], I["yy"], I["yz"]], [I["xz"], I["yz"], I["zz"]]])


class FreeTurns(ServerCase):
    MODELS = {"spherical": on_arm("spherical"), "floating": on_arm("floating"), "tree": TREE, "fixed-tree": FIXED_TREE,
              "arm": {"links": arm()}, "alone": {"base": {"type": "floating", "link": "ball", "inertial": BALL}, "links": []}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in cls.MODELS.items():
            answer = cls.client.put(f"/v1/models/{name}", document)
            assert answer.status == 201, answer

    def state(self, kind, seed):
        """Draws a state of the arm that carries the ball on a spherical or floating joint."""
        source = random.Random(seed)
        pick = lambda n, size: [source.uniform(-size, size) for _ in range(n)]
        n = 5 if kind == "spherical" else 8
        return {"q": [*pick(2, 1), *(pick(3, 1) if kind == "floating" else []), *unit(source)],
                "qd": pick(n, 2), "qdd": pick(n, 3), "qddd": pick(n, 4)}

    def tree_state(self, seed, quaternions=TREE_QUATERNIONS, nq=24):
        source = random.Random(seed)
        q = [source.uniform(-1, 1) for _ in range(nq)]
        for k in quaternions:
            q[k:k + 4] = unit(source)
        n = nq - len(quaternions)
        return {"q": q, **{key: [source.uniform(-size, size) for _ in range(n)] for key, size in (("qd", 1), ("qdd", 2), ("tau", 5))}}

    def seen(self, model, state, frame="ball"):
        """Returns pose, velocity and acceleration of a frame, in the frame's axes."""
        a = self.ask(model, "kinematics", {**state, "frame": frame, "frames": [frame], "reference": "frame",
                                           "outputs": ["poses", "velocity", "acceleration"]})
        return a["poses"][frame], np.array(a["velocity"]), np.array(a["acceleration"])

    # --- kinematics ----------------------------------------------------------------------------------------------

    def test_pose_and_velocity_by_hand(self):
        """Computes the frame beyond the joint from the frame at the joint's origin: pose, velocity and the joint's own rotation, translation and
        velocity."""
        for kind in NAMES:
            document = on_arm(kind)
            document["frames"] = [{"name": "socket", "link": "fore", **ORIGIN}]
            self.put_model("socketed", document)
            s = self.state(kind, 1)
            (before, u, _), (after, v, _) = (self.seen("socketed", s, frame) for frame in ("socket", "ball"))
            r = np.array(s["q"][2:5]) if kind == "floating" else np.zeros(3)
            R0, Q = rotation(before["orientation"]), rotation(s["q"][-4:])
            own = np.array(s["qd"][2:] if kind == "floating" else [0, 0, 0, *s["qd"][2:]])
            carried = np.concatenate([Q.T @ (u[:3] + np.cross(u[3:], r)), Q.T @ u[3:]])
            self.assertClose(after["position"], (before["position"] + R0 @ r).tolist(), 1e-14)
            self.assertClose(rotation(after["orientation"]).tolist(), (R0 @ Q).tolist(), 1e-14)
            self.assertClose(v.tolist(), (carried + own).tolist(), 1e-14)

    def test_quaternions_of_fixed_steps(self):
        """Integrates the quaternion of a globe at constant angular velocity by RK4 with normalisation after each step,
        as the server does for fixed steps."""
        self.put_model("globe", {"base": {"type": "floating", "link": "globe", "inertial": body(1, (0, 0, 0), 0.1, 0.1, 0.1, 0, 0, 0)}, "links": []})
        w, h, r = np.array([3, 4, -5]), 0.1, np.array([0, 0, 0, 1.0])
        rate = lambda y: 0.5 * np.array(product(y / np.linalg.norm(y), [*w, 0]))
        for _ in range(30):
            k1 = rate(r)
            k2 = rate(r + h / 2 * k1)
            k3 = rate(r + h / 2 * k2)
            r = r + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(r + h * k3))
            self.assertGreater(abs(np.linalg.norm(r) - 1), 1e-6)
            r /= np.linalg.norm(r)
        q = self.ask("globe", "simulate", {"q": [0, 0, 0, 0, 0, 0, 1], "qd": [0, 0, 0, *map(float, w)], "gravity": [0, 0, 0], "duration": 3,
                                           "samples": 2, "step": h, "outputs": ["q"]})["q"][-1]
        self.assertClose(q[3:], (r * np.sign(r[3])).tolist(), 1e-12)

    # --- cuts ----------------------------------------------------------------------------------------------------

    def test_body_beyond_the_joint_is_one_in_space(self):
        """The joint must transmit the wrench that the body requires for the same motion as a free body; the arm without the body must have the
        same torques under the opposite wrench."""
        for kind in NAMES:
            for seed in range(5):
                s = self.state(kind, seed)
                got = self.ask(kind, "inverse-dynamics", {**{k: s[k] for k in ("q", "qd", "qdd")}, "outputs": ["tau", "joint_wrenches"]})
                pose, v, a = self.seen(kind, s)
                alone = {"q": [*pose["position"], *pose["orientation"]], "qd": v.tolist(),
                         "qdd": [*(a[:3] - np.cross(v[3:], v[:3])), *a[3:]]}
                wrench = np.array(self.ask("alone", "inverse-dynamics", alone)["tau"])
                self.assertClose(got["tau"][2:], wrench[6 - len(s["qd"]) + 2:].tolist(), 1e-13, scale=10)
                self.assertClose(got["joint_wrenches"][2], wrench.tolist(), 1e-13, scale=10)
                R = rotation(pose["orientation"])
                hand, *_ = self.seen("arm", {k: s[k][:2] for k in ("q", "qd", "qdd")}, "fore")
                point = rotation(hand["orientation"]).T @ (np.array(pose["position"]) - hand["position"])
                bears = {"link": "fore", "point": point.tolist(), "force": (-R @ wrench[:3]).tolist(), "torque": (-R @ wrench[3:]).tolist()}
                rest = self.ask("arm", "inverse-dynamics", {**{k: s[k][:2] for k in ("q", "qd", "qdd")}, "wrenches": [bears]})
                self.assertClose(got["tau"][:2], rest["tau"], 1e-13, scale=10)

    def test_newton_and_euler_by_hand(self):
        """A body on a spherical joint with a fixed centre: n = I wd + w x I w - m c x g about this centre."""
        self.put_model("lone", {"links": [{"name": "ball", "parent": "base", "inertial": BALL,
                                           "joint": {"name": "at", "type": "spherical", "origin": ORIGIN}}]})
        q, w, wd = unit(random.Random(3)), np.array([0.3, -1.2, 0.7]), np.array([2, -1, 0.5])
        m, c = BALL["mass"], np.array(BALL["com"])
        I = inertia(BALL) - m * skew(c) @ skew(c)
        g = (rpy(ORIGIN["rpy"]) @ rotation(q)).T @ [0, 0, -9.81]
        tau = self.ask("lone", "inverse-dynamics", {"q": q, "qd": w.tolist(), "qdd": wd.tolist()})["tau"]
        self.assertClose(tau, (I @ wd + np.cross(w, I @ w) - m * np.cross(c, g)).tolist(), 1e-14)
        self.assertClose(self.ask("lone", "mass-matrix", {"q": q})["mass_matrix"], I.tolist(), 1e-15)

    def test_what_floats_falls_and_burdens_nothing(self):
        s = self.state("floating", 7)
        tau = [3.0, -2.0] + [0] * 6
        qdd = self.ask("floating", "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": tau})["qdd"]
        rest = self.ask("arm", "forward-dynamics", {"q": s["q"][:2], "qd": s["qd"][:2], "tau": tau[:2]})["qdd"]
        self.assertClose(qdd[:2], rest, 1e-14)
        document = on_arm("floating")
        document["frames"] = [{"name": "middle", "link": "ball", "xyz": BALL["com"]}]
        self.put_model("falling", document)
        a = self.ask("falling", "kinematics", {"q": s["q"], "qd": s["qd"], "qdd": qdd, "frame": "middle", "outputs": ["acceleration"]})
        self.assertClose(a["acceleration"][:3], [0, 0, -9.81], 1e-12)

    # --- motion --------------------------------------------------------------------------------------------------

    def test_steady_precession(self):
        """A conical pendulum at cos(angle) = m g l / ((A - C) W^2) keeps precessing at a constant angle."""
        m, l, A, C, W = 2, 0.5, 0.6, 0.05, 5.0
        self.put_model("pendulum", {"links": [{"name": "bob", "parent": "base", "joint": {"name": "at", "type": "spherical"}, "inertial": {
            "mass": m, "com": [0, 0, -l], "inertia": {"xx": A - m * l * l, "yy": A - m * l * l, "zz": C}}}]})
        half = math.acos(m * 9.81 * l / ((A - C) * W * W)) / 2
        q = [0, math.sin(half), 0, math.cos(half)]
        w = rotation(q).T @ [0, 0, W]
        self.assertClose(self.ask("pendulum", "forward-dynamics", {"q": q, "qd": w.tolist(), "tau": [0] * 3})["qdd"], [0] * 3, 1e-13, scale=W * W)
        turn, T = 2 * math.pi / W, 1.3 * 2 * math.pi / W
        expected = product([0, 0, math.sin(W * T / 2), math.cos(W * T / 2)], q)
        expected = [x * (-1 if expected[3] < 0 else 1) for x in expected]
        for method in ({"step": turn / 2000}, {"tolerance": 1e-11}):
            a = self.ask("pendulum", "simulate", {"q": q, "qd": w.tolist(), "duration": T, **method, "samples": 2, "outputs": ["q", "qd"]})
            self.assertClose(a["q"][-1], expected, 1e-8, what=str(method))
            self.assertClose(a["qd"][-1], w.tolist(), 1e-8)

    def test_energy_and_norms_along_a_motion(self):
        for model, s in (("tree", self.tree_state(1)), ("fixed-tree", self.tree_state(2, FIXED_QUATERNIONS, 17))):
            quaternions = TREE_QUATERNIONS if model == "tree" else FIXED_QUATERNIONS
            for method in ({"step": 5e-4}, {"tolerance": 1e-10}):
                a = self.ask(model, "simulate", {"q": s["q"], "qd": s["qd"], "duration": 0.5, **method, "samples": 6, "friction": False,
                                                 "outputs": ["q", "kinetic", "potential"]})
                total = np.add(a["kinetic"], a["potential"])
                self.assertClose(total.tolist(), [total[0]] * 6, 1e-7, scale=abs(total[0]) + 10, what=f"{model} {method}")
                for row in a["q"]:
                    for k in quaternions:
                        self.assertAlmostEqual(np.linalg.norm(row[k:k + 4]), 1, delta=1e-15)
                        self.assertGreaterEqual(row[k + 3], 0)

    # --- derivatives ---------------------------------------------------------------------------------------------

    def moved(self, q, quaternions, v, h):
        """Moves q along velocity coordinate v: R <- R exp(h e), p += R e h."""
        q, at_q, at_v = list(q), 0, 0
        while at_q < len(q):
            floats = at_q + 3 in quaternions and at_q not in quaternions and not any(k <= at_q < k + 4 for k in quaternions)
            turns = at_q in quaternions or floats
            n, first = (6 if floats else 3 if turns else 1), at_q + (3 if floats else 0)
            if v < at_v + n:
                e = np.eye(3)[(v - at_v) % 3] * h
                if not turns:
                    q[at_q] += h
                elif floats and v - at_v < 3:
                    q[at_q:at_q + 3] = (q[at_q:at_q + 3] + rotation(q[first:first + 4]) @ e).tolist()
                else:
                    q[first:first + 4] = product(q[first:first + 4], [*(e / h * math.sin(h / 2)), math.cos(h / 2)])
                return q
            at_q, at_v = at_q + n + turns, at_v + n
        raise IndexError(v)

    def test_sensitivities_by_differences(self):
        h = 1e-4
        for model, quaternions, nq in (("tree", TREE_QUATERNIONS, 24), ("fixed-tree", FIXED_QUATERNIONS, 17)):
            s = self.tree_state(5, quaternions, nq)
            n = len(s["qd"])
            wrenches = [{"link": "wing", "force": [1, 2, 3], "torque": [-1, 0, 2], "point": [0.1, 0, 0.2]},
                        {"link": "ball", "force": [2, 0, -1], "frame": "link"}]
            motion = {k: s[k] for k in ("q", "qd", "qdd")}
            got = self.ask(model, "sensitivity", {**motion, "wrenches": wrenches, "outputs": [
                "dtau_dq", "dtau_dqd", "dtau_dqdd", "d_joint_wrenches_dq"]})
            rows = [self.moved(s["q"], quaternions, v, sign * h) for v in range(n) for sign in (2, 1, -1, -2)]
            a = self.ask(model, "inverse-dynamics", {**motion, "q": rows, "wrenches": wrenches, "outputs": ["tau", "joint_wrenches"]})
            weights = np.array([-1, 8, -8, 1]) / (12 * h)
            for key, answer in (("dtau_dq", "tau"), ("d_joint_wrenches_dq", "joint_wrenches")):
                values = np.array(a[answer])
                slope = np.tensordot(weights, values.reshape(n, 4, *values.shape[1:]), axes=(0, 1))
                self.assertClose(got[key], np.moveaxis(slope, 0, -1).tolist(), 1e-9, scale=np.abs(slope).max(), what=f"{model} {key}")
            rows = [[x + sign * h * (i == v) for i, x in enumerate(s["qd"])] for v in range(n) for sign in (1, -1)]
            values = np.array(self.ask(model, "inverse-dynamics", {**motion, "qd": rows, "wrenches": wrenches})["tau"]).reshape(n, 2, n)
            self.assertClose(got["dtau_dqd"], ((values[:, 0] - values[:, 1]) / (2 * h)).T.tolist(), 1e-8, scale=10)
            M = self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["mass_matrix", "inverse"]})
            self.assertClose(got["dtau_dqdd"], M["mass_matrix"], 1e-13)
            self.assertClose((np.array(M["mass_matrix"]) @ M["inverse"]).tolist(), np.eye(n).tolist(), 1e-10)
            forward = self.ask(model, "forward-sensitivity", {k: s[k] for k in ("q", "qd", "tau")} | {"outputs": ["qdd", "dqdd_dq"]})
            rows = [self.moved(s["q"], quaternions, v, sign * h) for v in range(n) for sign in (2, 1, -1, -2)]
            values = np.array(self.ask(model, "forward-dynamics", {"q": rows, "qd": s["qd"], "tau": s["tau"]})["qdd"])
            slope = np.tensordot(weights, values.reshape(n, 4, n), axes=(0, 1)).T
            self.assertClose(forward["dqdd_dq"], slope.tolist(), 1e-7, scale=np.abs(slope).max())

    def test_coriolis_matrix(self):
        for model, s in (("tree", self.tree_state(6)), ("fixed-tree", self.tree_state(7, FIXED_QUATERNIONS, 17))):
            a = self.ask(model, "coriolis", {"q": s["q"], "qd": s["qd"], "outputs": ["coriolis_matrix", "christoffel"]})
            bias = self.ask(model, "bias", {"q": s["q"], "qd": s["qd"], "outputs": ["coriolis"]})["coriolis"]
            C = np.array(a["coriolis_matrix"])
            self.assertClose((C @ s["qd"]).tolist(), bias, 1e-13, scale=10)
            self.assertClose((np.array(a["christoffel"]) @ s["qd"]).tolist(), C.tolist(), 1e-13, scale=10)

    # --- round trips ---------------------------------------------------------------------------------------------

    def test_inverse_of_forward(self):
        for model, s in (("tree", self.tree_state(8)), ("fixed-tree", self.tree_state(9, FIXED_QUATERNIONS, 17))):
            qdd = self.ask(model, "forward-dynamics", {k: s[k] for k in ("q", "qd", "tau")})["qdd"]
            back = self.ask(model, "inverse-dynamics", {"q": s["q"], "qd": s["qd"], "qdd": qdd})["tau"]
            self.assertClose(back, s["tau"], 1e-12, scale=np.abs(qdd).max())

    def test_free_coordinates(self):
        """The coordinates of the spherical joint are free and the arm is driven; then only one axis of the joint is
        free."""
        s = self.state("spherical", 11)
        for free in (["at.wx", "at.wy", "at.wz"], ["at.wy"]):
            names = ["root", "slide", "at.wx", "at.wy", "at.wz"]
            driven = [0 if name in free else x for name, x in zip(names, s["qdd"])]
            a = self.ask("spherical", "inverse-dynamics", {"q": s["q"], "qd": s["qd"], "qdd": driven, "free": free, "outputs": ["tau", "qdd"]})
            for name, tau, qdd, given in zip(names, a["tau"], a["qdd"], s["qdd"]):
                if name in free:
                    self.assertAlmostEqual(tau, 0, delta=1e-12)
                else:
                    self.assertEqual(qdd, given)
            again = self.ask("spherical", "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": a["tau"]})["qdd"]
            self.assertClose(again, a["qdd"], 1e-11, scale=10)

    def test_regressor(self):
        s = self.tree_state(12, FIXED_QUATERNIONS, 17)
        motion = {k: s[k] for k in ("q", "qd", "qdd")}
        a = self.ask("fixed-tree", "regressor", {**motion, "outputs": ["regressor", "joint_regressor", "base_parameters", "base_regressor"]})
        p = []
        for link in FIXED_TREE["links"]:
            m, c = link["inertial"]["mass"], np.array(link["inertial"]["com"])
            J = inertia(link["inertial"]) - m * skew(c) @ skew(c)
            p += [m, *(m * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]]
        document = {**FIXED_TREE, "links": [{**l, "joint": {k: x for k, x in l["joint"].items() if k not in ("friction", "spring")}} for l in FIXED_TREE["links"]]}
        self.put_model("plain-tree", document)
        tau = self.ask("plain-tree", "inverse-dynamics", motion)["tau"]
        self.assertClose((np.array(a["regressor"]) @ p).tolist(), tau, 1e-13, scale=10)
        J = np.array(a["joint_regressor"]).reshape(len(tau), len(FIXED_TREE["links"]), 3)
        self.assertTrue((J[:, [1, 2, 4], 1:] == 0).all())  # these joints have no friction
        self.assertEqual(J[0, 0, 1], s["qd"][0])
        for link in (1, 2, 4):
            document["links"][link]["joint"]["rotor_inertia"] = 0.5 + link
        self.put_model("rotors", document)
        added = np.array(self.ask("rotors", "inverse-dynamics", motion)["tau"]) - tau
        self.assertClose(sum((0.5 + link) * J[:, link, 0] for link in (1, 2, 4)).tolist(), added.tolist(), 1e-13, scale=10)

    def test_same_bits_in_a_batch(self):
        rows = [self.tree_state(20 + i) for i in range(9)]
        for operation, keys in (("inverse-dynamics", ("q", "qd", "qdd")), ("forward-dynamics", ("q", "qd", "tau")),
                                ("sensitivity", ("q", "qd", "qdd")), ("mass-matrix", ("q",)), ("coriolis", ("q", "qd"))):
            batch = self.ask("tree", operation, {k: [r[k] for r in rows] for k in keys})
            for i in (0, 4, 8):
                alone = self.ask("tree", operation, {k: rows[i][k] for k in keys})
                self.assertEqual({k: v[i] for k, v in batch.items()}, alone, operation)

    # --- documents and names -------------------------------------------------------------------------------------

    def test_names(self):
        for kind, (positions, velocities) in NAMES.items():
            model = self.ok(self.client.get(f"/v1/models/{kind}"))
            self.assertEqual(model["position_names"], ["root", "slide"] + ["at" + x for x in positions])
            self.assertEqual(model["velocity_names"], ["root", "slide"] + ["at" + x for x in velocities])
            self.assertEqual([j["type"] for j in model["joints"]], ["revolute", "prismatic", kind])
            self.assertEqual(model["bodies"], ["upper", "fore", "ball"])
            s = self.state(kind, 2)
            named = {"q": dict(zip(model["position_names"], s["q"])), "qd": dict(zip(model["velocity_names"][::-1], s["qd"][::-1]))}
            self.assertEqual(self.ask(kind, "inverse-dynamics", named), self.ask(kind, "inverse-dynamics", {k: s[k] for k in ("q", "qd")}))
            document = self.ok(self.client.get(f"/v1/models/{kind}/document"))
            self.assertEqual(self.ok(self.client.put(f"/v1/models/{kind}-again", document), 201)["revision"], model["revision"])

    def test_urdf(self):
        text = """<robot name="r"><link name="base"/><link name="a"><inertial><mass value="2"/>
            <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
            <joint name="free" type="floating"><parent link="base"/><child link="a"/><limit effort="1" velocity="1"/></joint></robot>"""
        answer = self.ok(self.client.put("/v1/models/of-urdf", text.encode(), content_type="application/xml"), 201)
        self.assertEqual((answer["nq"], answer["nv"]), (7, 6))
        self.assertIn("not-held", [entry["code"] for entry in answer["report"]])
        q = [1, 2, 3, 0, 0, 0, 1]
        self.assertClose(self.ask("of-urdf", "inverse-dynamics", {"q": q})["tau"], [0, 0, 19.62, 0, 0, 0], 1e-15)

    def refused(self, pointer, more, kind="spherical", document=None):
        return self.assertProblem(self.client.put("/v1/models/bad", document or on_arm(kind, **more)), 422, pointer)

    def test_refused_documents(self):
        for kind in NAMES:
            for key, value in (("axis", [0, 0, 1]), ("limits", {"effort": 1}), ("friction", {"viscous": 1}),
                               ("elastic", {"stiffness": 1}), ("mimic", {"joint": "root"}), ("pitch", 1)):
                self.refused(f"/links/2/joint/{key}", {key: value}, kind)
            self.refused("/links/2/joint/origin", {"origin": {"dh": {"theta": 0, "d": 0, "a": 1, "alpha": 0}}}, kind)
            self.refused("/links/2/joint/spring/rest", {"spring": {"rest": 0.1}}, kind)
        self.refused("/links/2/joint/spring/stiffness", {"spring": {"stiffness": 1}}, "floating")
        follower = on_arm("spherical")
        follower["links"][0]["joint"]["mimic"] = {"joint": "at"}
        self.refused("/links/0/joint/mimic/joint", None, document=follower)
        turned = on_arm("spherical")
        turned["motors"] = [{"joint": "at", "link": "fore", "axis": [0, 0, 1], "gear_ratio": 10, "spin_inertia": 1e-4}]
        self.refused("/motors/0/joint", None, document=turned)
        for name in ("at.qx", "at.wx"):
            taken = on_arm("spherical")
            taken["links"][0]["joint"]["name"] = name
            self.assertEqual(self.refused("/links/2/joint/name", None, document=taken)["code"], "duplicate-name")

    def test_quaternions_are_checked(self):
        for kind, first in (("spherical", 2), ("floating", 5)):
            s = self.state(kind, 4)
            q = list(s["q"])
            q[-1] += 0.01
            problem = self.assertProblem(self.client.post(f"/v1/models/{kind}/mass-matrix", {"q": q}), 422, f"/q/{first}")
            self.assertEqual(problem["code"], "bad-quaternion")
            self.assertProblem(self.client.post(f"/v1/models/{kind}/mass-matrix", {"q": [s["q"], q]}), 422, f"/q/1/{first}", 1)
            names = self.ok(self.client.get(f"/v1/models/{kind}"))["position_names"]
            self.assertProblem(self.client.post(f"/v1/models/{kind}/mass-matrix", {"q": dict(zip(names, q))}), 422, "/q/at.qx")
            near = [x * (1 + 5e-7 * (i >= first)) for i, x in enumerate(s["q"])]
            R = rotation(self.ask(kind, "kinematics", {"q": near, "frames": ["ball"]})["poses"]["ball"]["orientation"])
            # rounding errors of four rotations in a row
            self.assertClose((R @ R.T).tolist(), np.eye(3).tolist(), 4e-15)

    def test_what_needs_plain_coordinates_says_so(self):
        s = self.state("spherical", 4)
        for operation, request, pointer in (
                ("mass-matrix", {"q": s["q"], "joints": ["root", "slide", "at.wx", "at.wy", "at.wz"]}, "/joints"),
                ("simulate", {"q": s["q"], "duration": 1, "step": 0.1, "samples": 2, "input": {
                    "controller": "pd_gravity", "kp": 1, "kd": 1, "reference": {"constant": s["q"]}}}, "/input/controller")):
            self.assertProblem(self.client.post(f"/v1/models/spherical/{operation}", request), 422, pointer)

    def test_no_mass_is_named(self):
        document = on_arm("spherical")
        del document["links"][2]["inertial"]
        report = self.ok(self.client.put("/v1/models/ghost", document), 201)["report"]
        self.assertTrue(any('"at" moves no mass' in entry["text"] for entry in report))
        s = self.state("spherical", 4)
        problem = self.assertProblem(self.client.post("/v1/models/ghost/forward-dynamics", {"q": s["q"], "tau": [0] * 5}), 422)
        self.assertEqual(problem["code"], "singular-mass-matrix")
        self.assertIn("at", problem["detail"])
        carrier = on_arm("floating")
        for link in carrier["links"][:2]:
            link.pop("inertial")
            link["joint"].pop("rotor_inertia", None)
        report = self.ok(self.client.put("/v1/models/ghost", carrier))["report"]
        # the floating body does not load the two joints before it, so these two move no mass
        self.assertEqual(sum("moves no mass" in entry["text"] for entry in report), 2)
        problem = self.assertProblem(self.client.post("/v1/models/ghost/forward-dynamics", {"q": self.state("floating", 4)["q"], "tau": [0] * 8}), 422)
        self.assertIn("slide", problem["detail"])


if __name__ == "__main__":
    tap.main()
