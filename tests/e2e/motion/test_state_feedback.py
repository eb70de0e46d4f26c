"""Tests the controller state_feedback of simulate, torques by a matrix of gains on the tangent space of the state, against
SciPy's integrations of closed-form equations: a cart with a pole, a ball joint, a joint with an elastic drive."""
import math

import numpy as np
import tap
from harness import ServerCase
from scipy.integrate import simpson, solve_ivp
from scipy.linalg import solve_continuous_are
from scipy.spatial.transform import Rotation

EXACT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
EVERY_WAY = ({"step": 5e-4}, {"tolerance": 1e-11}, {"tolerance": 1e-11, "stiff": True})
G, CART, POLE, LENGTH, RADIUS, RUB = 9.81, 1.2, 0.3, 0.4, 0.01, 0.5
TURN = POLE * (3 * RADIUS ** 2 + (2 * LENGTH) ** 2) / 12   # the pole's inertia about its centre
CART_POLE = {"links": [
    {"name": "cart", "parent": "base", "joint": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], "friction": {"viscous": RUB}},
     "inertial": {"mass": CART}},
    {"name": "pole", "parent": "cart", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0], "actuated": False},
     "inertial": {"solid": "cylinder", "size": [RADIUS, 2 * LENGTH], "mass": POLE, "xyz": [0, 0, LENGTH]}}]}
SPIN = np.array([0.11, 0.17, 0.23])                        # principal inertias of the ball, about its joint
BALL = {"gravity": [0, 0, 0], "links": [{"name": "ball", "parent": "base", "joint": {"name": "turn", "type": "spherical", "actuated": True},
                                         "inertial": {"mass": 2, "inertia": dict(zip(("xx", "yy", "zz"), SPIN.tolist()))}}]}
# stiffness in N m/rad, inertias of rotor and rod about the joint in kg m^2, largest gravity torque in N m
SPRING, ROTOR, ROD, PULL = 150.0, 0.02, 0.7, 3.4
ELASTIC = {"links": [{"name": "rod", "parent": "base", "joint": {"name": "joint", "type": "revolute", "axis": [0, 1, 0],
                                                                "elastic": {"stiffness": SPRING}, "rotor_inertia": ROTOR},
                      "inertial": {"mass": 1, "com": [0, 0, PULL / G], "inertia": {"xx": 1, "yy": ROD - (PULL / G) ** 2, "zz": 1}}}]}


def cart_pole(force, y):
    """The rate of (x, angle, x', angle') under a force on the cart."""
    _, angle, speed, spin = y
    both = POLE * LENGTH * math.cos(angle)
    M = np.array([[CART + POLE, both], [both, POLE * LENGTH ** 2 + TURN]])
    efforts = [force - RUB * speed + POLE * LENGTH * math.sin(angle) * spin ** 2, POLE * G * LENGTH * math.sin(angle)]
    return [speed, spin, *np.linalg.solve(M, efforts)]


def regulator():
    """The gains of LQR for the cart with the upright pole, and the matrix of its cost, from the linearised closed form."""
    rate = lambda u, y: np.array(cart_pole(u, y))
    A = np.column_stack([(rate(0, h) - rate(0, -h)) / 2e-6 for h in 1e-6 * np.eye(4)])
    B = ((rate(1e-3, np.zeros(4)) - rate(-1e-3, np.zeros(4))) / 2e-3)[:, None]
    P = solve_continuous_are(A, B, np.diag([10.0, 20, 1, 2]), np.array([[0.1]]))
    return (B.T @ P / 0.1)[0], P


class Case(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        limited = {"links": [{**CART_POLE["links"][0], "joint": {**CART_POLE["links"][0]["joint"], "limits": {"effort": 4}}}, CART_POLE["links"][1]]}
        for name, document in {"cart_pole": CART_POLE, "limited": limited, "ball": BALL, "elastic": ELASTIC}.items():
            answer = cls.client.put(f"/v1/models/{name}", document)
            assert answer.status == 201, answer

    def simulate(self, model, q, control, duration, *outputs, qd=None, **how):
        more = {"qd": qd} if qd else {}
        return self.ask(model, "simulate", {"q": q, **more, "duration": duration, "times": [duration], **how, "outputs": list(outputs) or ["q", "qd"],
                                            "input": {"controller": "state_feedback", **control}})


class Laws(Case):
    # Gains of LQR, each changed by a factor of its own, so that none is 0, 1 or equal to another.
    def gains(self):
        return (regulator()[0] * [1, 1.03, 1.11, 0.97]).tolist()

    def control(self, **more):
        """A regulator about a moving reference with a torque that changes, for the passive hinge as well."""
        return {"gain_matrix": [self.gains(), [0] * 4], "q": [0.2, 0.03], "qd": [0.04, -0.02],
                "tau": {"amplitude": [1.5, 0], "angular_frequency": [3, 0], "offset": [0.3, 0]}, **more}

    def force(self, t, y):
        return 0.3 + 1.5 * math.sin(3 * t) + np.array(self.gains()) @ (np.array([0.2, 0.03, 0.04, -0.02]) - y)

    def test_every_coordinate_acts_on_every_torque(self):
        """The force on the cart depends on the pole's angle and rate, which a controller with one gain for each joint cannot do."""
        y0 = [0.1, 0.3, 0.2, -0.4]
        expected = solve_ivp(lambda t, y: cart_pole(self.force(t, y), y), (0, 1.2), y0, **EXACT).y[:, -1]
        for how in EVERY_WAY:
            with self.subTest(how=how):
                a = self.simulate("cart_pole", y0[:2], self.control(), 1.2, "q", "qd", "tau", "position_error", "velocity_error", qd=y0[2:], **how)
                self.assertClose(a["q"][0] + a["qd"][0], expected.tolist(), 1e-8, 1)
                self.assertClose(a["tau"][0], [self.force(1.2, expected), 0], 1e-8, 10)
                self.assertClose(a["position_error"][0] + a["velocity_error"][0], ([0.2, 0.03, 0.04, -0.02] - expected).tolist(), 1e-8, 1)

    def test_sampled_and_delayed(self):
        """A sampled controller's force is constant from the instant at which it begins to act to the next such instant; SciPy integrates these
        intervals."""
        period, delay, force = 0.04, 0.015, None
        y, waiting, sample = np.array([0.1, 0.3, 0.2, -0.4]), [], 0
        instants = sorted({round(k * period + d, 9) for k in range(15) for d in (0, delay)} - {round(14 * period + delay, 9)})
        for begin, end in zip(instants, instants[1:]):
            if abs(begin - sample * period) < 1e-9:
                waiting.append((begin + delay, self.force(begin, y)))
                sample += 1
            force = waiting[0][1] if force is None else force
            while waiting and waiting[0][0] <= begin + 1e-9:
                force = waiting.pop(0)[1]
            y = solve_ivp(lambda _, y: cart_pole(force, y), (begin, end), y, **EXACT).y[:, -1]
        for how in EVERY_WAY:
            a = self.simulate("cart_pole", [0.1, 0.3], self.control(period=period, delay=delay), 14 * period, qd=[0.2, -0.4], **how)
            self.assertClose(a["q"][0] + a["qd"][0], y.tolist(), 1e-8, 1)

    def test_limits_clip_the_torque(self):
        """A sampled force is constant between samples, so that a clipped one leaves the motion smooth."""
        y, most = np.array([0.1, 0.3, 0.2, -0.4]), 0
        for k in range(12):
            wanted = self.force(0.05 * k, y)
            force, most = max(-4, min(4, wanted)), max(most, abs(wanted) - 4)
            y = solve_ivp(lambda _, y: cart_pole(force, y), (0, 0.05), y, **EXACT).y[:, -1]
        a = self.simulate("limited", [0.1, 0.3], self.control(period=0.05), 0.6, "q", "qd", "limits", qd=[0.2, -0.4], step=5e-4)
        self.assertClose(a["q"][0] + a["qd"][0], y.tolist(), 1e-8, 1)
        exceeded = [(x["joint"], x["kind"]) for x in a["limits"]]
        self.assertEqual(exceeded, [("rail", "effort")])
        self.assertClose(a["limits"][0]["excess"], most, 1e-8, 10)
        free = self.simulate("limited", [0.1, 0.3], self.control(period=0.05, clip=False), 0.6, qd=[0.2, -0.4], step=5e-4)
        unlimited = self.simulate("cart_pole", [0.1, 0.3], self.control(period=0.05), 0.6, qd=[0.2, -0.4], step=5e-4)
        self.assertEqual(free, unlimited)

    def test_quaternions_have_errors_on_the_tangent_space(self):
        """The torque of a ball joint, in its moving axes, is K [-log(R_ref^T R); w_ref - w]."""
        K = np.array([[2.1, -0.3, 0.4, 0.51, 0.02, -0.03], [0.2, 2.6, -0.5, -0.04, 0.62, 0.05], [-0.6, 0.1, 3.2, 0.06, -0.01, 0.73]])
        reference, start, rates = Rotation.from_rotvec([0.4, -0.7, 0.5]), Rotation.from_rotvec([-0.5, 0.6, 1.1]), np.array([0.9, -1.3, 0.7])
        torque = lambda turn, w: K @ np.r_[-(reference.inv() * turn).as_rotvec(), [0.2, -0.1, 0.3] - w] + [0.05, -0.02, 0.07]

        def rate(_, y):
            p, w = y[:4], y[4:]
            return [*0.5 * np.r_[p[3] * w + np.cross(p[:3], w), -p[:3] @ w], *(torque(Rotation.from_quat(p), w) - np.cross(w, SPIN * w)) / SPIN]
        expected = solve_ivp(rate, (0, 1.5), [*start.as_quat(), *rates], **EXACT).y[:, -1]
        for sign in (1, -1):                                                # both quaternions of the reference are one rotation
            control = {"gain_matrix": K.tolist(), "q": (sign * reference.as_quat()).tolist(), "qd": [0.2, -0.1, 0.3], "tau": [0.05, -0.02, 0.07]}
            for how in EVERY_WAY:
                a = self.simulate("ball", start.as_quat().tolist(), control, 1.5, "q", "qd", "position_error", qd=rates.tolist(), **how)
                turned = (Rotation.from_quat(expected[:4]).inv() * Rotation.from_quat(a["q"][0])).magnitude()
                self.assertLess(turned, 1e-8)
                self.assertClose(a["qd"][0], expected[4:].tolist(), 1e-8, 1)
                self.assertClose(a["position_error"][0], (-(reference.inv() * Rotation.from_quat(expected[:4])).as_rotvec()).tolist(), 1e-8, 1)

    def test_elastic_joint(self):
        """The motor of an elastic joint gets feedback of the rod's position and of its own."""
        K, u0, x0 = np.array([31.0, 12.0, 4.3, 1.7]), PULL * math.sin(0.8), [0.8, 0.8 - PULL * math.sin(0.8) / SPRING]
        def rate(_, y):
            spring = SPRING * (y[1] - y[0])
            u = -u0 + K @ (np.r_[x0, 0.1, -0.2] - y)
            return [y[2], y[3], (spring + PULL * math.sin(y[0])) / ROD, (u - spring) / ROTOR]
        expected = solve_ivp(rate, (0, 0.8), [0.3, 0.35, 0.2, -0.1], **EXACT).y[:, -1]
        a = self.simulate("elastic", [0.3, 0.35], {"gain_matrix": [[0] * 4, K.tolist()], "q": x0, "qd": [0.1, -0.2], "tau": [0, -u0]}, 0.8,
                          qd=[0.2, -0.1], tolerance=1e-12)
        self.assertClose(a["q"][0] + a["qd"][0], expected.tolist(), 1e-8, 1)

    def test_diagonal_gains_are_those_of_pid(self):
        """With gains on the diagonals the law is that of pid, also for a mechanism with loops."""
        kp, kd, q, goal = [40, 30], [5, 4], [0.3, 2.5], [0.45, 2.3]
        for model, start, reference in (("five_bar", q, goal), ("two_link", [0.2, -1], [0.5, -1.4])):
            how = {"q": start, "duration": 0.4, "times": [0.4], "step": 1e-3, "outputs": ["q", "qd", "tau"]}
            own = self.ask(model, "simulate", {**how, "input": {"controller": "pid", "kp": kp, "kd": kd, "reference": reference}})
            all_gains = np.hstack([np.diag(kp), np.diag(kd)]).tolist()
            other = self.ask(model, "simulate", {**how, "input": {"controller": "state_feedback", "gain_matrix": all_gains, "q": reference}})
            for output in how["outputs"]:
                self.assertClose(other[output], own[output], 1e-12)

    def test_floating_base(self):
        """The position and rotation error of a floating base contribute to the torques of the robot's joints: R_ref^T (p_ref - p), and minus the
        rotation vector."""
        rng, nv = np.random.default_rng(5), 18
        K = np.vstack([np.zeros((6, 2 * nv)), rng.normal(size=(12, 2 * nv))])
        turn, ref = Rotation.from_rotvec([0.2, -0.4, 0.3]), Rotation.from_rotvec([-0.3, 0.1, 0.5])
        q, goal = np.r_[0.1, -0.2, 0.5, turn.as_quat(), rng.normal(size=12)], np.r_[0.3, 0.1, 0.2, ref.as_quat(), rng.normal(size=12)]
        qd = rng.normal(size=nv)
        error = np.r_[ref.inv().apply(goal[:3] - q[:3]), -(ref.inv() * turn).as_rotvec(), goal[7:] - q[7:]]
        a = self.ask("solo12", "simulate", {"q": q.tolist(), "qd": qd.tolist(), "duration": 0.01, "step": 1e-3, "times": [0], "input": {
            "controller": "state_feedback", "gain_matrix": K.tolist(), "q": goal.tolist(), "clip": False}, "outputs": ["tau", "position_error"]})
        self.assertClose(a["position_error"][0], error.tolist(), 1e-13, 1)
        self.assertClose(a["tau"][0], (K @ np.r_[error, -qd]).tolist(), 1e-12, 10)


class Forms(Case):
    def test_rows(self):
        """In a batch with a reference and a torque for each row, each row has the bits of a request of one row; the request may order the joints
        differently."""
        gains, starts, goals = [regulator()[0].tolist(), [0] * 4], [[0.1, 0.2], [-0.2, 0.1], [0.3, -0.1]], [[0, 0], [0.2, 0], [-0.1, 0]]
        for how in EVERY_WAY:
            many = self.simulate("cart_pole", starts, {"gain_matrix": gains, "q": goals, "qd": [[0.1, 0], [0, 0.1], [0.2, 0.1]],
                                                       "tau": [[1, 0], [2, 0], [3, 0]]}, 0.3, **how)
            for i, (start, goal, qd) in enumerate(zip(starts, goals, [[0.1, 0], [0, 0.1], [0.2, 0.1]])):
                one = self.simulate("cart_pole", start, {"gain_matrix": gains, "q": goal, "qd": qd, "tau": [i + 1, 0]}, 0.3, **how)
                self.assertEqual([many[name][i] for name in ("q", "qd")], [one["q"], one["qd"]])
        swap = lambda x: [x[1], x[0]]
        row = [gains[0][i] for i in (1, 0, 3, 2)]
        one = self.simulate("cart_pole", starts[0], {"gain_matrix": gains, "q": goals[1], "qd": [0.1, 0.3], "tau": [1, 0]}, 0.3, step=1e-3)
        other = self.simulate("cart_pole", swap(starts[0]), {"gain_matrix": [[0] * 4, row], "q": swap(goals[1]), "qd": [0.3, 0.1], "tau": [0, 1]},
                              0.3, step=1e-3, joints=["hinge", "rail"])
        self.assertEqual([swap(other["q"][0]), swap(other["qd"][0])], [one["q"][0], one["qd"][0]])

    def test_lqr_balances_a_pole_at_its_expected_cost(self):
        """Along the linear motion the integral of x'Qx + u'Ru is x0'P x0; the gains have the sign of u = -K x."""
        K, P = regulator()
        x0, times = 1e-4 * np.array([1.0, 2, -1, 3]), np.linspace(0, 20, 8001).tolist()
        a = self.ask("cart_pole", "simulate", {"q": x0[:2].tolist(), "qd": x0[2:].tolist(), "duration": 20, "times": times, "tolerance": 1e-12, "input": {
            "controller": "state_feedback", "gain_matrix": [K.tolist(), [0] * 4], "q": [0, 0]}, "outputs": ["q", "qd", "tau"]})
        x = np.hstack([a["q"], a["qd"]])
        rates = x ** 2 @ [10, 20, 1, 2] + 0.1 * np.array(a["tau"])[:, 0] ** 2
        self.assertClose(simpson(rates, x=times), float(x0 @ P @ x0), 1e-6)
        self.assertLess(abs(x[-1]).max(), 1e-7)

    def test_refusals(self):
        good = {"gain_matrix": [[1, 2, 3, 4], [0] * 4], "q": [0, 0]}
        cases = (({"gain_matrix": None}, "missing-field", "gain_matrix"), ({"q": None}, "missing-field", "q"), ({"gain_matrix": 3}, "wrong-type", "gain_matrix"),
                 ({"gain_matrix": [[1, 2, 3, 4]]}, "wrong-shape", "gain_matrix"), ({"gain_matrix": [[1, 2], [0, 0]]}, "wrong-shape", "gain_matrix/0"),
                 ({"gain_matrix": [[[1, 2, 3, 4], [0] * 4]]}, "wrong-shape", "gain_matrix"), ({"q": [0]}, "wrong-shape", "q"), ({"qd": [0, 0, 0]}, "wrong-shape", "qd"),
                 ({"gain_matrix": [[1, 2, 3, 4], [0, 0, 0.5, 0]]}, "bad-value", "gain_matrix/1"), ({"tau": [0, 0.1]}, "bad-value", "tau"),
                 ({"tau": {"amplitude": [0, 2], "angular_frequency": 3}}, "bad-value", "tau"), ({"kp": 1}, "unknown-field", "kp"), ({"ki": 1}, "unknown-field", "ki"),
                 ({"reference": [0, 0]}, "unknown-field", "reference"), ({"model": "limited"}, "unknown-field", "model"), ({"delay": 0.1}, "missing-field", "period"),
                 ({"controller": "pid"}, "unknown-field", "gain_matrix"))
        for change, code, field in cases:
            with self.subTest(change=change):
                control = {name: value for name, value in {"controller": "state_feedback", **good, **change}.items() if value is not None}
                answer = self.client.post("/v1/models/cart_pole/simulate", {"q": [0, 0], "duration": 1, "samples": 2, "step": 0.01, "input": control})
                self.assertEqual((answer.status, answer.json()["code"], answer.json().get("pointer")), (422, code, f"/input/{field}"), answer)
        answer = self.client.post("/v1/models/ball/simulate", {"q": [0, 0, 0, 1], "duration": 1, "samples": 2, "step": 0.01, "input": {
            "controller": "state_feedback", "gain_matrix": [[1] * 6] * 3, "q": [0, 0, 0, 2]}})
        self.assertEqual((answer.status, answer.json()["code"], answer.json()["pointer"]), (422, "bad-quaternion", "/input/q"), answer)

    def test_angles_in_degrees_are_noticed(self):
        a = self.ask("cart_pole", "simulate", {"q": [0, 0], "duration": 1e-3, "samples": 2, "step": 1e-3, "input": {
            "controller": "state_feedback", "gain_matrix": [[0] * 4] * 2, "q": [0, 90]}})
        self.assertEqual([w["where"] for w in a["warnings"]], ["/input/q/1"], a["warnings"])


if __name__ == "__main__":
    tap.main()
