"""Tests the time derivatives of torques and contact wrenches with held frames, and their derivatives with respect to the
state, against Richardson's extrapolation of least norms and quadratic programs in NumPy and SciPy. Between the differences
the active limits do not change."""
import numpy as np
import tap
from contacts import AXES, ContactCase
from floating import turned
from held_robots import HeldMotion, least_distance, limits, random_held, random_robot, random_state
from lagrange import extrapolated

STEP, PARTS = 4e-3, (1, 2, 4)
TIMES = [sign * STEP / part for part in PARTS for sign in (1, -1)]


def velocity(q, qd):
    """Returns dq/dt of a robot with a floating base: the base's position moves by R v, its quaternion by half of q w."""
    x, y, z, w = q[3:7]
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    a, b, c = qd[3:6]
    turn = [w * a + y * c - z * b, w * b - x * c + z * a, w * c + x * b - y * a, -x * a - y * b - z * c]
    return np.concatenate((R @ qd[:3], np.array(turn) / 2, qd[6:]))


def follow(motion, t, steps=40):
    """Returns q, qd, qdd at the time t of the motion with constant qddd, by the classical Runge-Kutta method."""
    q, h = np.array(motion["q"], float), t / steps
    qd = lambda s: motion["qd"] + s * motion["qdd"] + s * s / 2 * motion["qddd"]
    for i in range(steps):
        s = i * h
        k1 = velocity(q, qd(s))
        k2 = velocity(q + h / 2 * k1, qd(s + h / 2))
        k3 = velocity(q + h / 2 * k2, qd(s + h / 2))
        q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(q + h * k3, qd(s + h)))
    q[3:7] /= np.linalg.norm(q[3:7])
    return q, qd(t), motion["qdd"] + t * motion["qddd"]


class HeldRates(ContactCase):
    def rows_of_jacobian(self, model, q, held, qd=None):
        """Returns J of the held axes of several states, [row, k, nv]; with qd, J'."""
        rows = []
        for entry in held:
            name = "jacobian" if qd is None else "jacobian_dot"
            answer = self.ask(model, "kinematics", {"q": q, **({} if qd is None else {"qd": qd}), "frame": entry["frame"],
                                                    "reference": entry.get("reference", "world"), "outputs": [name]})
            rows.append(np.array(answer[name])[:, [AXES.index(axis) for axis in entry.get("axes", AXES)]])
        return np.concatenate(rows, 1)

    def chosen_efforts(self, model, states, held):
        """Returns tau and the contact efforts l of several states (q, qd, qdd), l chosen by the weights and limits in `held`. The frames may
        accelerate in these states."""
        q, qd, qdd = ([list(row) for row in values] for values in zip(*states))
        J = self.rows_of_jacobian(model, q, held)
        free = np.array(self.ask(model, "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd})["tau"])
        weight = np.concatenate([np.broadcast_to(entry.get("weight", 1.0), len(entry.get("axes", AXES))) for entry in held])
        root, (G, h, cones) = 1 / np.sqrt(weight), limits(held)
        assert not cones
        l = [least_distance(A[:, :6].T, b[:6], G, h, root) for A, b in zip(J, free)]
        return np.array([np.concatenate((t - A.T @ x, x)) for t, A, x in zip(free, J, l)])

    def smooth_motion(self, seed):
        """Returns a motion in which the velocity, acceleration and jerk of the held frames are zero, these held frames, whose wrenches can
        balance any effort at the base, and a random generator."""
        choose, document = np.random.default_rng(7000 + seed), random_robot(seed)
        self.client.put("/v1/models/random", document)
        nv = self.client.get("/v1/models/random").json()["nv"]
        q, held = random_state(choose, nv), random_held(choose, document["frames"])
        found = HeldMotion(self, "random", q, choose.normal(size=nv), held, choose)
        motion = {"q": q, "qd": found.qd, "qdd": found.qdd, "qddd": np.zeros(nv)}
        states = [follow(motion, t) for t in TIMES]
        q_rows, qd_rows, qdd_rows = ([list(row) for row in values] for values in zip(*states))
        J, J_dot = self.rows_of_jacobian("random", q_rows, held), self.rows_of_jacobian("random", q_rows, held, qd_rows)
        drift = extrapolated([A @ a + B @ v for A, B, a, v in zip(J, J_dot, np.array(qdd_rows), np.array(qd_rows))], STEP)[..., 0]
        J_inverse = np.linalg.pinv(found.J, rcond=1e-9)
        still = np.eye(nv) - J_inverse @ found.J
        motion["qddd"] = still @ choose.normal(size=nv) - J_inverse @ drift.reshape(-1)
        return motion, held, choose

    def request(self, motion, held, *names):
        return {"held": held, **{name: list(motion[name]) for name in ("q", *names)}}

    def with_limits(self, held, choose):
        """Returns the held frames with weights and friction pyramids, so wide that some limits are active and others are not."""
        made = []
        for entry in held:
            entry = {**entry, "weight": choose.uniform(0.5, 2), "normal": list(choose.normal(size=3)), "friction_coefficient": 1.5, "facets": 5}
            if "axes" not in entry:
                entry["torsional_friction_coefficient"] = 2.0
            made.append(entry)
        return made

    def skate(self, t, held):
        """Returns the state at the time t: the base slides along its own x axis at u = 1.9 + 0.7 t and turns at w = 0.6 rad/s. A slide along
        x and a hinge on it keep the post at its place along the world's x axis, and from turning."""
        w, grows = 0.6, 0.7
        u, angle = 1.9 + grows * t, 0.35 + w * t
        c, d = np.cos(angle), np.sin(angle)
        x = [u * d / w + grows * c / w ** 2, u * c, grows * c - u * w * d, -2 * grows * w * d - u * w * w * c]
        ratio = [1 / c, w * d / c ** 2, w * w * (1 + d * d) / c ** 3, w ** 3 * d * (5 + d * d) / c ** 4]  # and its derivatives
        left = [9 - x[0], -x[1], -x[2], -x[3]]
        s = [left[0] * ratio[0], left[1] * ratio[0] + left[0] * ratio[1], left[2] * ratio[0] + 2 * left[1] * ratio[1] + left[0] * ratio[2],
             left[3] * ratio[0] + 3 * left[2] * ratio[1] + 3 * left[1] * ratio[2] + left[0] * ratio[3]]
        y = -u * c / w + grows * d / w ** 2
        return {"q": [x[0], y, 0.4, 0, 0, np.sin(angle / 2), np.cos(angle / 2), s[0], -angle], "qd": [u, 0, 0, 0, 0, w, s[1], -w],
                "qdd": [grows, 0, 0, 0, 0, 0, s[2], 0], "qddd": [0] * 6 + [s[3], 0], "held": held}

    def test_a_skate_that_speeds_up_on_a_curve(self):
        """Axes of a frame that moves along another of its axes, and turns: rates are differences of the wrenches along the motion."""
        inertial = lambda m: {"mass": m, "com": [0.02, 0.03, 0.1], "inertia": {"xx": 0.1 * m, "yy": 0.12 * m, "zz": 0.15 * m}}
        self.put_model("skate", {"base": {"type": "floating", "link": "skate", "inertial": inertial(2.3)}, "links": [
            {"name": "slide", "parent": "skate", "inertial": inertial(0.7), "joint": {"name": "s", "type": "prismatic", "axis": [1, 0, 0]}},
            {"name": "post", "parent": "slide", "inertial": inertial(0.9), "joint": {"name": "h", "type": "continuous", "axis": [0, 0, 1]}}]})
        held = [{"frame": "skate", "axes": ["y", "z", "rx", "ry"], "reference": "frame"}, {"frame": "post", "axes": ["x", "rz"]}]
        rates = self.ask("skate", "torque-derivative", {**self.skate(0, held), "outputs": ["contact_wrench_rates"]})["contact_wrench_rates"]
        wrenches = []
        for t in TIMES:
            state = self.skate(t, held)
            del state["qddd"]
            wrenches.append(np.array(self.ask("skate", "inverse-dynamics", {**state, "outputs": ["contact_wrenches"]})["contact_wrenches"]).ravel())
        expected = extrapolated(wrenches, STEP)[..., 0]
        self.assertGreater(np.abs(expected).max(), 1)
        self.assertClose(np.ravel(rates).tolist(), expected.tolist(), 1e-8)

    def test_rates_are_those_of_the_least_norm_along_the_motion(self):
        for seed in range(12):
            motion, held, choose = self.smooth_motion(seed)
            held = [{**entry, "weight": choose.uniform(0.5, 2)} for entry in held]
            answer = self.ask("random", "torque-derivative", self.request(motion, held, "qd", "qdd", "qddd"))
            self.assertEqual(sorted(answer), ["contact_wrench_rates", "contact_wrenches", "tau", "tau_dot"])
            self.check_rates(motion, held, answer)
            plain = self.ask("random", "inverse-dynamics", self.request(motion, held, "qd", "qdd"))
            self.assertClose(answer["tau"], plain["tau"], 1e-13, np.abs(plain["tau"]).max())
            self.assertEqual(answer["contact_wrenches"], plain["contact_wrenches"])

    def check_rates(self, motion, held, answer):
        values = self.chosen_efforts("random", [follow(motion, t) for t in TIMES], held)
        expected = extrapolated(values, STEP).reshape(-1)
        nv, size = len(motion["qd"]), np.abs(expected).max()
        self.assertEqual(answer["tau_dot"][:6], [0] * 6)
        self.assertClose(answer["tau_dot"], list(expected[:nv]), 1e-10, size)
        self.assertClose(list(self.chosen(held, answer["contact_wrench_rates"])), list(expected[nv:]), 1e-10, size)

    def test_rates_keep_the_active_limits(self):
        checked = 0
        for seed in range(40):
            motion, held, choose = self.smooth_motion(seed)
            held = self.with_limits(held, choose)
            answer = self.client.post("/v1/models/random/torque-derivative", self.request(motion, held, "qd", "qdd", "qddd"))
            if answer.status != 200:
                self.assertEqual(answer.json()["code"], "infeasible-contacts", (seed, answer.text))
                continue
            l = self.chosen(held, answer.json()["contact_wrenches"])
            G, h, _ = limits(held)
            active = (G @ l - h < 1e-9 * np.abs(l).max()).sum()
            if active == 0 or np.sort(np.abs(G @ l - h))[active] < 0.03 * np.abs(l).max():
                continue
            self.check_rates(motion, held, answer.json())
            checked += 1
        self.assertGreater(checked, 3)

    def test_rates_keep_the_active_cones(self):
        """The rates with cones equal differences of the server's own cone programs along the motion."""
        checked = 0
        for seed in range(25):
            motion, held, choose = self.smooth_motion(seed)
            held = [{key: value for key, value in entry.items() if key != "facets"} for entry in self.with_limits(held, choose)]
            answer = self.client.post("/v1/models/random/torque-derivative", self.request(motion, held, "qd", "qdd", "qddd"))
            if answer.status != 200:
                continue
            rows = [follow(motion, t) for t in TIMES]
            # in these states the frames accelerate a little, by errors of the integration; qdd is corrected so that they do not
            q, qd, qdd = ([list(row) for row in values] for values in zip(*rows))
            J, J_dot = self.rows_of_jacobian("random", q, held), self.rows_of_jacobian("random", q, held, qd)
            moved = self.ask("random", "inverse-dynamics", {"q": q, "qd": qd, "qdd": [list(a - np.linalg.pinv(A, rcond=1e-9) @ (
                A @ a + B @ v)) for A, B, a, v in zip(J, J_dot, np.array(qdd), np.array(qd))], "held": held, "on_error": "row"})
            if moved["errors"]:
                continue
            l = [self.chosen(held, wrenches) for wrenches in moved["contact_wrenches"]]
            expected = extrapolated(l, STEP).reshape(-1)
            size = max(np.abs(expected).max(), np.abs(l[0]).max())
            self.assertClose(list(self.chosen(held, answer.json()["contact_wrench_rates"])), list(expected), 1e-10, size)
            at = self.chosen(held, answer.json()["contact_wrenches"])
            checked += any(n @ at - np.hypot(s @ at, t @ at) < 1e-9 * np.abs(at).max() for n, s, t in limits(held)[2])
        self.assertGreater(checked, 4)

    # --- derivatives by the state -----------------------------------------------------------------------------------

    def check_partials(self, motion, held, answer):
        """Compares with differences of least norms or quadratic programs at displaced states, in which the frames need not
        be held."""
        q, qd, qdd = (np.array(motion[name]) for name in ("q", "qd", "qdd"))
        nv = len(qd)
        for name in ("q", "qd", "qdd"):
            states = []
            for v in range(nv):
                for t in TIMES:
                    change = t * np.eye(nv)[v]
                    states.append((turned(q, change) if name == "q" else q, qd + change * (name == "qd"), qdd + change * (name == "qdd")))
            expected = extrapolated(self.chosen_efforts("random", states, held), STEP)
            expected[:6] = 0
            size = np.abs(expected).max()
            self.assertClose(answer["dtau_d" + name], [list(row) for row in expected[:nv]], 1e-9, size, name)
            wrenches, row = np.array(answer["d_contact_wrenches_d" + name]), nv
            for i, entry in enumerate(held):
                for axis in entry.get("axes", AXES):
                    self.assertClose(list(wrenches[i][AXES.index(axis)]), list(expected[row]), 1e-9, size, name)
                    row += 1

    def test_derivatives_of_the_least_norm(self):
        for seed in range(5):
            motion, held, choose = self.smooth_motion(seed)
            held = [{**entry, "weight": choose.uniform(0.5, 2)} for entry in held]
            self.check_partials(motion, held, self.ask("random", "sensitivity", self.request(motion, held, "qd", "qdd")))

    def test_derivatives_keep_the_active_limits(self):
        checked = 0
        for seed in range(30):
            motion, held, choose = self.smooth_motion(seed)
            held = self.with_limits(held, choose)
            answer = self.client.post("/v1/models/random/sensitivity", {
                **self.request(motion, held, "qd", "qdd"), "outputs": ["dtau_dq", "dtau_dqd", "dtau_dqdd", "contact_wrenches", *(
                    f"d_contact_wrenches_d{name}" for name in ("q", "qd", "qdd"))]})
            if answer.status != 200:
                continue
            l, (G, h, _) = self.chosen(held, answer.json()["contact_wrenches"]), limits(held)
            slack = np.sort(np.abs(G @ l - h)) / np.abs(l).max()
            active = (slack < 1e-9).sum()
            if active == 0 or slack[active] < 0.1 or checked == 3:
                continue
            self.check_partials(motion, held, answer.json())
            checked += 1
        self.assertGreater(checked, 1)

    def test_derivatives_by_wrenches_gravity_and_parameters(self):
        """Without limits tau is linear in wrenches and parameters, so that differences of answers are exact."""
        motion, held, choose = self.smooth_motion(2)
        wrench = {"link": "trunk", "force": [1, -2, 3], "torque": [0.3, 0.2, -0.1], "point": [0.1, 0.05, -0.2]}
        base = {**self.request(motion, held, "qd", "qdd"), "gravity": [0.5, 0.3, -9], "wrenches": [wrench]}
        answer = self.ask("random", "sensitivity", {**base, "outputs": ["tau", "joint_wrenches", "dtau_dwrench", "dtau_dgravity",
                                                                        "dtau_dparameters", "contact_wrenches"]})
        plain = self.ask("random", "inverse-dynamics", {**base, "outputs": ["tau", "joint_wrenches", "contact_wrenches"]})
        for name, value in plain.items():
            self.assertEqual(answer[name], value)
        tau, size = np.array(plain["tau"]), np.abs(plain["tau"]).max()
        for k in range(3):
            gravity = self.ask("random", "inverse-dynamics", {**base, "gravity": list(np.array(base["gravity"]) + np.eye(3)[k])})
            self.assertClose(list(np.array(answer["dtau_dgravity"])[:, k]), list(gravity["tau"] - tau), 1e-10, size)
            force = {**wrench, "force": list(np.array(wrench["force"]) + np.eye(3)[k])}
            pushed = self.ask("random", "inverse-dynamics", {**base, "wrenches": [force]})
            self.assertClose(list(np.array(answer["dtau_dwrench"])[0][:, k]), list(pushed["tau"] - tau), 1e-10, size)
        loaded = self.ask("random", "inverse-dynamics", {**base, "payload": {"link": "l1", "mass": 1, "com": [0, 0, 0]}})
        bodies = self.client.get("/v1/models/random").json()["bodies"]
        column = [body["name"] if isinstance(body, dict) else body for body in bodies].index("l1")
        self.assertClose(list(np.array(answer["dtau_dparameters"])[:, 10 * column]), list(loaded["tau"] - tau), 1e-10, size)

    def test_outputs_that_held_frames_do_not_have_are_refused(self):
        motion, held, _ = self.smooth_motion(2)
        for operation, output in (("sensitivity", "d_joint_wrenches_dq"), ("torque-derivative", "dtau_dot_dparameters")):
            answer = self.client.post(f"/v1/models/random/{operation}", {
                **self.request(motion, held, "qd", "qdd"), "outputs": [output]})
            self.assertEqual((answer.json()["code"], answer.json()["pointer"]), ("bad-value", "/outputs/0"))
        for operation, output in (("sensitivity", "d_contact_wrenches_dq"), ("torque-derivative", "contact_wrench_rates")):
            answer = self.client.post(f"/v1/models/random/{operation}", {"q": list(motion["q"]), "outputs": [output]})
            self.assertEqual((answer.json()["code"], answer.json()["pointer"]), ("bad-value", "/outputs/0"))

    def test_a_jerk_that_moves_a_held_frame_is_named(self):
        motion, held, _ = self.smooth_motion(3)
        request = self.request(motion, held, "qd", "qdd", "qddd")
        request["qddd"][0] += 5
        answer = self.client.post("/v1/models/random/torque-derivative", request)
        self.assertEqual((answer.json()["code"], answer.json()["pointer"]), ("held-frame-accelerates", "/qddd"))
        self.assertIn("changes its acceleration", answer.json()["detail"])


tap.main()
