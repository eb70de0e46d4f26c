"""Tests prescribed motion in simulate: against conservation of momentum, motions that SciPy integrates from mass-matrix
and bias, inverse dynamics with a free base (Khalil 2010, 7.2), and energy balances; with elastic joints, loops, held
frames and controllers."""
import math

import cbor2
import numpy as np
import tap
from actuated import Actuated
from samples import body, branched, slider
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, CubicSpline

METHODS = {"step": 1e-3}, {"tolerance": 1e-10}, {"tolerance": 1e-10, "stiff": True}
WORKS = ("kinetic", "potential", "actuator_work", "friction_work", "wrench_work")
EEL = {"base": {"type": "floating", "link": "l0", "inertial": body(1.3, (0.1, 0, 0))}, "links": [
    {"name": f"l{i}", "parent": f"l{i - 1}", "inertial": body(1 + 0.2 * i, (0.15, 0.01, -0.02)), "joint": {
        "name": f"j{i}", "type": "revolute", "axis": [0, i % 2, 1 - i % 2], "origin": {"xyz": [0.3, 0, 0]},
        "friction": {"viscous": 0.2}}} for i in range(1, 6)]}
WAVE = {"amplitude": [0.5, 0.4, 0.6, 0.3, 0.7], "angular_frequency": [6, 5, 7, 6.5, 4], "phase": [0, 1, 2, 3, 4],
        "offset": [0.1, 0, -0.1, 0.2, 0]}
JOINTS = [f"j{i}" for i in range(1, 6)]


class Prescribed(Actuated):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("eel", EEL), ("flying", branched("floating"))):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status in (200, 201), answer

    def sine(self, motion, t):
        """Returns r, r', r'' at time t."""
        A, w = np.array(motion["amplitude"]), np.array(motion["angular_frequency"])
        angle = w * t + motion.get("phase", np.zeros(len(A)))
        return motion.get("offset", 0) + A * np.sin(angle), A * w * np.cos(angle), -A * w * w * np.sin(angle)

    def balance(self, a):
        energy = np.add(a["kinetic"], a["potential"])
        return energy - energy[..., :1] - np.add(a["actuator_work"], np.add(a["friction_work"], a["wrench_work"]))


class FloatingBases(Prescribed):
    REQUEST = {"q": [0, 0, 0, 0, 0, 0, 1] + [0] * 5, "qd": [0.1, -0.2, 0.3, 0.4, 0.1, -0.3] + [0] * 5,
               "prescribed": {"coordinates": JOINTS, "motion": WAVE}}

    def test_momentum_is_kept(self):
        """A floating chain without gravity and wrenches keeps its momentum, whatever its prescribed joint motion."""
        for how in ({"step": 1e-3}, {"tolerance": 1e-12}, {"tolerance": 1e-12, "stiff": True}):
            a = self.simulate("eel", {**self.REQUEST, "duration": 2, "samples": 6, "gravity": [0, 0, 0], **how}, "q", "qd")
            momentum = np.array(self.ask("eel", "energy", {"q": a["q"], "qd": a["qd"], "outputs": ["momentum"]})["momentum"])
            links = [np.array(self.ask("eel", "kinematics", {"q": a["q"], "qd": a["qd"], "frame": f"l{i}", "outputs": ["velocity"]})[
                "velocity"]) for i in range(6)]
            linear = max(np.abs(m * v[:, :3]).max() for m, v in zip((1.3, 1.2, 1.4, 1.6, 1.8, 2), links))
            angular = max(0.04 * np.abs(v[:, 3:]).max() for v in links)
            self.assertLess(np.abs(momentum[:, :3] - momentum[0, :3]).max(), 1e-9 * linear, how)
            self.assertLess(np.abs(momentum[:, 3:] - momentum[0, 3:]).max(), 1e-9 * angular, how)
            self.assertGreater(np.abs(np.subtract(a["q"][-1], a["q"][0]))[3:7].max(), 0.1)

    def test_inverse_dynamics_with_a_free_base(self):
        """At every sample the joints have the prescribed motion, and efforts and the base's acceleration are those of
        Khalil's recursion for a free base."""
        wrench = [{"link": "l3", "force": [1, -2, 3], "torque": [0.1, 0, 0.2], "point": [0.1, 0, 0]}]
        surroundings = {"gravity": [1, 2, -9], "wrenches": wrench, "payload": {"link": "l5", "mass": 0.7, "com": [0.2, 0, 0.1]}}
        for how in METHODS:
            a = self.simulate("eel", {**self.REQUEST, **surroundings, "duration": 0.7, "samples": 5, **how}, "times", "q", "qd", "qdd",
                              "tau", *WORKS)
            for t, q, qd, qdd, tau in zip(*(a[name] for name in ("times", "q", "qd", "qdd", "tau"))):
                r, rd, rdd = self.sine(WAVE, t)
                self.assertClose(q[7:] + qd[6:] + qdd[6:], [*r, *rd, *rdd], 2e-15, 40)
                expected = self.ask("eel", "inverse-dynamics", {"q": q, "qd": qd, "qdd": [0] * 6 + qdd[6:], "free": "base",
                                                                **surroundings})
                self.assertClose(qdd, expected["qdd"], 1e-11)
                self.assertClose(tau, expected["tau"], 1e-11)
                self.assertEqual(tau[:6], [0] * 6)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-8)
            self.assertGreater(min(abs(a[work][-1]) for work in WORKS[2:]), 0.1)

    def test_against_scipy(self):
        """A branched robot with one prescribed joint, the others move under torques and friction. The reference integrates the equation of
        motion of the other joints."""
        motion = {"values": [[0.2], [0.8], [-0.3], [0.1]], "interpolation": "cubic"}
        r = CubicSpline(np.linspace(0, 0.6, 4), [0.2, 0.8, -0.3, 0.1], bc_type="natural")
        torques = [1, -2, 3, 0.4, 0.5, -0.6, 0.7, 0, 0.2, -0.5]
        q0 = [0, 0, 0, 0.5, 0.5, -0.5, 0.5, 0.3, 0.2, 0.02, -0.4]
        start = {"q": q0, "qd": [0.1 * i for i in range(7)] + [0, 0.3, -0.2]}
        names = self.ok(self.client.get("/v1/models/flying"))["velocity_names"]
        at = names.index("elbow")
        self.assertEqual(at, 7)
        free = [v for v in range(10) if v != at]

        def rate(t, y):
            q, qd = y[:11].copy(), y[11:].copy()
            q[3:7] /= np.linalg.norm(q[3:7])
            q[8], qd[7] = r(t), r(t, 1)
            M, h, _ = self.dynamics("flying", q, qd, friction=False)
            qdd = np.zeros(10)
            qdd[at] = r(t, 2)
            right = torques - h - M @ qdd
            qdd[free] = np.linalg.solve(M[np.ix_(free, free)], right[free])
            x, s, v, w = q[3:6], q[6], qd[:3], qd[3:6]
            turn = 2 * np.cross(x, v)
            return [*(v + s * turn + np.cross(x, turn)), *(0.5 * (s * w + np.cross(x, w))), -0.5 * x @ w, *qd[6:], *qdd]
        expected = solve_ivp(rate, (0, 0.6), q0 + start["qd"], "DOP853", rtol=1e-10, atol=1e-11, max_step=0.02).y[:, -1]
        expected[8], expected[11 + 7] = r(0.6), r(0.6, 1)
        start["q"] = [*q0[:8], 0, *q0[9:]]
        for how in METHODS:
            a = self.simulate("flying", {**start, "duration": 0.6, "samples": 2, "prescribed": {"coordinates": ["elbow"], "motion": motion},
                                         "input": {"tau": torques}, "friction": False, **how}, "q", "qd", "tau")
            sign = 1 if expected[6] > 0 else -1
            expected[3:7] *= sign
            self.assertClose(a["q"][1] + a["qd"][1], expected.tolist(), 1e-6, what=str(how))
            self.assertEqual([a["tau"][1][v] for v in free], [torques[v] for v in free])


class FixedBases(Prescribed):
    def test_everything_prescribed(self):
        """With all coordinates prescribed, the efforts are those of inverse dynamics, and the work of the efforts equals the change of
        energy."""
        motion = {"amplitude": [0.3, 0.05, 0.4], "angular_frequency": [2, 3, 4], "phase": [0.5, 1, 0]}
        for how in METHODS:
            a = self.simulate("arm", {"q": [0] * 3, "duration": 2, "samples": 5, "prescribed": {
                "coordinates": ["turn", "slide", "branch"], "motion": motion}, **how}, "times", "q", "qd", "qdd", "tau", *WORKS)
            expected = np.array([self.sine(motion, t) for t in a["times"]])
            for i, name in enumerate(("q", "qd", "qdd")):
                self.assertClose(a[name], expected[:, i].tolist(), 1e-14)
            tau = self.ask("arm", "inverse-dynamics", {name: a[name] for name in ("q", "qd", "qdd")})["tau"]
            self.assertClose(a["tau"], tau, 1e-13)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-7)

    def test_jumps_of_acceleration(self):
        """Integration steps end where the acceleration jumps: a block slides freely on a cart whose position is a
        spline of degree 2. At a knot the torque is that after the jump."""
        cart = {"links": [{"name": name, "parent": parent, "inertial": {"mass": mass}, "joint": {
            "name": name + "_joint", "type": "prismatic", "axis": [1, 0, 0]}} for name, parent, mass in (("cart", "base", 3), ("block", "cart", 2))]}
        self.put_model("cart", cart)
        knots, points = [0, 0, 0, 0.37, 0.81, 1, 1, 1], [0, 0.2, -1, 0.5, 2]
        spline = BSpline(knots, points, 2)
        motion = {"degree": 2, "control_points": [[p] for p in points], "knots": knots}
        times = [0, 0.2, 0.37, 0.5, 0.81, 1]
        for how in ({"step": 0.3}, {"tolerance": 1e-6}, {"tolerance": 1e-6, "stiff": True}):
            a = self.simulate("cart", {"q": [0, 0.5], "qd": [0, -spline(0, 1)], "duration": 1, "times": times, **how,
                                       "prescribed": {"coordinates": ["cart_joint"], "motion": motion}}, "q", "qd", "qdd", "tau")
            self.assertClose(a["q"], [[spline(t), 0.5 - spline(t)] for t in times], 1e-13)
            self.assertClose(a["qd"], [[spline(t, 1), -spline(t, 1)] for t in times], 1e-13)
            behind = [spline(min(t + 1e-9, 1), 2) for t in times]
            self.assertClose(a["qdd"], [[x, -x] for x in behind], 1e-12)
            self.assertClose(a["tau"], [[3 * x, 0] for x in behind], 1e-12)

    def test_motors_of_prescribed_joints_have_no_limit(self):
        """The effort of a motor is neither compared with its limit nor clipped if one of the joints that it drives is prescribed."""
        joint = lambda name, axis: {"name": name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.3, 0, 0.1]}}
        def wrist(**limits):
            return {"links": [{"name": "c", "parent": "base", "joint": joint("at_c", [1, 0, 0]), "inertial": body(2, (0.1, 0, 0.05))},
                              {"name": "d", "parent": "c", "joint": joint("at_d", [0, 1, 0.2]), "inertial": body(1, (0.1, 0.02, 0))}],
                    "transmissions": [{"joints": ["at_c", "at_d"], "matrix": [[0.02, 0.003], [0.015, -0.025]], "motors": [
                        {"name": "pitch", **limits}, {"name": "roll"}]}]}
        self.put_model("strong", wrist())
        self.put_model("weak", wrist(limits={"effort": 0.01}))
        motion = {"coordinates": ["at_d"], "motion": {"amplitude": [0.3], "angular_frequency": [4]}}
        run = {"q": [0.2, 0], "qd": [0.5, 1.2], "duration": 0.1, "samples": 5, "step": 0.002, "input": {"controller": "pd_gravity", "kp": 90, "kd": 10, "reference": [1, 0]}}
        free, limited = (self.simulate("weak", {**run, **more}, "q", "limits") for more in ({"prescribed": motion}, {}))
        self.assertEqual([limit["joint"] for limit in limited["limits"]], ["pitch"])
        self.assertEqual(free["limits"], [])
        self.assertEqual(free["q"], self.simulate("strong", {**run, "prescribed": motion}, "q")["q"])
        self.assertNotEqual(limited["q"], self.simulate("strong", run, "q")["q"])

    def test_passive_joints_and_controllers(self):
        """An acrobot whose elbow has a prescribed motion; and one prescribed joint while a controller drives another to
        its reference."""
        motion = {"amplitude": [0.8], "angular_frequency": [3], "offset": [0.4]}
        for how in METHODS:
            a = self.simulate("acrobot", {"q": [0.7, 0], "qd": [-1, 0], "duration": 1, "samples": 3, **how, "prescribed": {
                "coordinates": ["lower_joint"], "motion": motion}}, "q", "qd", "qdd", "tau", *WORKS)
            self.assertEqual([tau[0] for tau in a["tau"]], [0] * 3)
            self.assertClose(a["q"][0] + a["qd"][0], [0.7, 0.4, -1, 2.4], 1e-15)
            for q, qd, qdd, tau in zip(a["q"], a["qd"], a["qdd"], a["tau"]):
                M, h, _ = self.dynamics("acrobot", q, qd)
                self.assertClose((M @ qdd + h).tolist(), tau, 1e-10, 10)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-7)
            for controller in ("computed_torque", "pd_gravity"):
                a = self.simulate("flyer", {"q": [0, 0, 0, 0, 0, 0, 1, 0.3, 0, 0, 0, 0, 1], "duration": 0.5, "samples": 3, **how, "prescribed": {
                    "coordinates": ["lower_joint"], "motion": motion}, "input": {"controller": controller, "kp": 100, "kd": 20, "reference": [0] * 11}},
                    "times", "q", "qd", "qdd", "tau", "position_error")
                for t, q, qd, qdd, tau in zip(*(a[n] for n in ("times", "q", "qd", "qdd", "tau"))):
                    M, h, g = self.dynamics("flyer", q, qd)
                    self.assertClose((M @ qdd + h).tolist(), tau, 1e-10, 10)
                    self.assertEqual([tau[v] for v in range(11) if v not in (6, 7)], [0] * 9)
                    if controller == "computed_torque":
                        self.assertAlmostEqual(q[7], 0.3 * (1 + 10 * t) * math.exp(-10 * t), delta=1e-7)
                        self.assertAlmostEqual(qdd[6], -100 * q[7] - 20 * qd[6], delta=1e-10)
                    else:
                        self.assertAlmostEqual(tau[6], -100 * q[7] - 20 * qd[6] + g[6], delta=1e-10)

    def test_elastic_joints(self):
        """A motor has a prescribed motion, and its link moves by the spring; then the link has a prescribed motion and the motor moves."""
        motion = {"amplitude": [0.5], "angular_frequency": [4], "offset": [0.3]}
        for name in ("upper_joint.motor", "upper_joint"):
            for how in METHODS:
                a = self.simulate("springy", {"q": [0.3, 0.2, 0.1, 0.3], "duration": 0.5, "samples": 3, **how,
                                              "prescribed": {"coordinates": [name], "motion": motion}}, "times", "q", "qd", "qdd", "tau", *WORKS)
                v = 3 if name.endswith("motor") else 0
                self.assertClose([q[v] for q in a["q"]], [0.3 + 0.5 * math.sin(4 * t) for t in a["times"]], 1e-15)
                for q, qd, qdd, tau in zip(a["q"], a["qd"], a["qdd"], a["tau"]):
                    M, h, _ = self.dynamics("springy", q, qd)
                    self.assertClose((M @ qdd + h).tolist(), tau, 1e-10, 10)
                    self.assertEqual([x for i, x in enumerate(tau) if i != v], [0] * 3)
                self.assertLess(np.abs(self.balance(a)).max(), 1e-7)

    def test_loops(self):
        """The crank of a four-bar turns at constant rate: its torque is that of inverse dynamics. Also a five-bar with
        one free crank."""
        for how in METHODS:
            a = self.simulate("four_bar", {"q": [0.4], "duration": 1, "samples": 5, **how, "prescribed": {"coordinates": ["crank_joint"], "motion": {
                "degree": 1, "control_points": [[0.4], [5.4]]}}}, "q", "qd", "qdd", "tau", *WORKS)
            self.assertClose([q for q, in a["q"]], np.linspace(0.4, 5.4, 5).tolist(), 1e-14)
            self.assertClose(a["tau"], self.ask("four_bar", "inverse-dynamics", {n: a[n] for n in ("q", "qd", "qdd")})["tau"], 1e-10)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-8)
            names = self.ok(self.client.get("/v1/models/five_bar"))["velocity_names"]
            q = [2.081787, 1.059806]
            a = self.simulate("five_bar", {"q": [0, q[1]], "duration": 0.15, "samples": 3, **how, "prescribed": {"coordinates": names[:1], "motion": {
                "amplitude": [0.2], "angular_frequency": [5], "offset": q[:1]}}}, "q", "qd", "qdd", "tau", *WORKS)
            for row in range(3):
                state = {n: a[n][row] for n in ("q", "qd", "qdd")}
                self.assertClose(self.ask("five_bar", "inverse-dynamics", state)["tau"], a["tau"][row], 1e-10, 0.1)
                self.assertEqual(a["tau"][row][1], 0)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-8)

    def test_friction_that_sticks(self):
        """A prescribed joint never sticks; the joint after it does, if its friction exceeds the inertial force."""
        rough = {"links": [
            {"name": "table", "parent": "base", "inertial": {"mass": 1}, "joint": {
                "name": "shake", "type": "prismatic", "axis": [1, 0, 0], "friction": {"coulomb": 3}}},
            {"name": "block", "parent": "table", "inertial": {"mass": 2}, "joint": {
                "name": "slip", "type": "prismatic", "axis": [1, 0, 0], "friction": {"coulomb": 4}}}]}
        self.put_model("shaken", rough)
        request = {"q": [0, 0], "duration": 2, "samples": 9, "tolerance": 1e-9}
        # the largest acceleration is 4 A m/s^2; friction allows 2 m/s^2 before the carried joint slips
        for amplitude, slips in ((0.4, False), (2, True)):
            a = self.simulate("shaken", {**request, "prescribed": {"coordinates": ["shake"], "motion": {
                "amplitude": [amplitude], "angular_frequency": [2], "phase": [math.pi / 2]}}}, "times", "q", "qd", "tau", *WORKS)
            moved = max(abs(q[1]) for q in a["q"])
            if not slips:
                self.assertEqual(moved, 0)
                for t, qd, tau in zip(a["times"], a["qd"], a["tau"]):
                    self.assertAlmostEqual(tau[0], -3 * 1.6 * math.cos(2 * t) + 3 * np.sign(qd[0]), delta=1e-6)
            else:
                self.assertGreater(moved, 0.1)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-5)


class HeldFrames(Prescribed):
    LEGS = [0, 0.6, -1.2] * 4
    FEET = [{"frame": leg + "_FOOT", "axes": ["x", "y", "z"]} for leg in ("FL", "FR", "HL", "HR")]
    STAND = [0, 0, 0, 0, 0, 0, 1] + LEGS

    def test_squat(self):
        """Prescribed motion of the legs lowers the body over its held feet."""
        names = self.ok(self.client.get("/v1/models/solo12"))["velocity_names"][6:]
        motion = {"amplitude": [0, 0.2, -0.4] * 4, "angular_frequency": [5] * 12, "phase": [-math.pi / 2] * 12,
                  "offset": [0, 0.8, -1.6] * 4}
        request = {"q": self.STAND[:7] + [0] * 12, "held": self.FEET, "prescribed": {"coordinates": names, "motion": motion}}
        for how in ({"step": 2e-3}, {"tolerance": 1e-9}, {"tolerance": 1e-8, "stiff": True}):
            a = self.simulate("solo12", {**request, "duration": 0.6, "samples": 4, **how}, "times", "q", "qd", "qdd", "tau", "contact_wrenches", *WORKS)
            for t, q, qd, qdd, tau, wrenches in zip(*(a[n] for n in ("times", "q", "qd", "qdd", "tau", "contact_wrenches"))):
                bend = 0.8 - 0.2 * math.cos(5 * t)
                self.assertClose(q[7:] + qd[6:], [0, bend, -2 * bend] * 4 + [0, math.sin(5 * t), -2 * math.sin(5 * t)] * 4, 1e-15, 4)
                self.assertAlmostEqual(q[2], 0.32 * (math.cos(bend) - math.cos(0.6)), delta=1e-9)
                M, h, _ = self.dynamics("solo12", q, qd)
                pushed = np.zeros(18)
                for foot, wrench in zip(self.FEET, wrenches):
                    J = np.array(self.ask("solo12", "kinematics", {"q": q, "frame": foot["frame"], "outputs": ["jacobian"]})["jacobian"])
                    pushed += J.T @ wrench
                self.assertClose((M @ qdd + h - pushed).tolist(), tau, 1e-9)
                self.assertEqual(tau[:6], [0] * 6)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-5)

    def test_what_cannot_be(self):
        """Motions that contradict the held frames, at the start or later, are refused."""
        names = self.ok(self.client.get("/v1/models/solo12"))["velocity_names"][6:]
        for phase in (0, -math.pi / 2):
            answer = self.client.post("/v1/models/solo12/simulate", {
                "q": self.STAND[:7] + [0] * 12, "held": self.FEET, "duration": 1, "samples": 2, "step": 1e-3, "prescribed": {
                    "coordinates": names, "motion": {"amplitude": [0.1] + [0] * 11, "angular_frequency": [5] * 12,
                                                     "phase": [phase] * 12, "offset": self.LEGS}}})
            self.assertEqual(self.assertProblem(answer, 422)["code"], "contradictory-contacts")
        # here position and velocity are consistent, only the acceleration contradicts
        self.put_model("rail", slider())
        for how in METHODS:
            answer = self.client.post("/v1/models/rail/simulate", {
                "q": [0], "held": [{"frame": "carriage", "axes": ["z"]}], "duration": 1, "samples": 2, **how, "prescribed": {
                    "coordinates": ["rail"], "motion": {"degree": 4, "control_points": [[0], [0], [0], [0], [1]]}}})
            problem = self.assertProblem(answer, 422)
            self.assertEqual(problem["code"], "contradictory-contacts")
            self.assertIn("no accelerations", problem["detail"])


class Requests(Prescribed):
    def test_same_bits_alone(self):
        rows = np.round(np.random.default_rng(4).uniform(-1, 1, (11, 5)), 3).tolist()
        for how in ({"step": 0.01}, {"tolerance": 1e-6}, {"tolerance": 1e-5, "stiff": True}):
            request = {**FloatingBases.REQUEST, "duration": 0.3, "samples": 3, **how}
            of = lambda offset: {"coordinates": JOINTS, "motion": {**WAVE, "offset": offset}}
            answer = self.client.post("/v1/models/eel/simulate", {**request, "prescribed": of(rows)})
            batch = self.ok(answer)
            for i in (0, 7, 10):
                alone = self.simulate("eel", {**request, "prescribed": of(rows[i])})
                self.assertEqual(alone, {name: value[i] for name, value in batch.items()}, how)
            other = self.client.post("/v1/models/eel/simulate", cbor2.dumps({**request, "prescribed": of(rows)}),
                                     Content_Type="application/cbor", Accept="application/json")
            self.assertEqual(other.body, answer.body)

    def test_order(self):
        """The order of the prescribed coordinates is free and independent of `joints`."""
        motion = {"values": [[0.1, 0.2], [0.3, -0.2], [0, 0.5]], "interpolation": "cubic"}
        turned = {"values": [row[::-1] for row in motion["values"]], "interpolation": "cubic"}
        request = {"q": [0, 0, 0.3], "duration": 0.5, "samples": 3, "step": 0.01}
        a = self.simulate("arm", {**request, "prescribed": {"coordinates": ["turn", "slide"], "motion": motion}}, "q", "tau")
        b = self.simulate("arm", {**request, "prescribed": {"coordinates": ["slide", "turn"], "motion": turned}}, "q", "tau")
        self.assertEqual(a, b)
        c = self.simulate("arm", {**request, "q": [0.3, 0, 0], "joints": ["branch", "slide", "turn"],
                                  "prescribed": {"coordinates": ["turn", "slide"], "motion": motion}}, "q", "tau")
        self.assertEqual([row[::-1] for row in c["tau"]], a["tau"])

    def test_outputs_do_not_change_the_motion(self):
        for how in ({"step": 1e-2}, {"tolerance": 1e-6}, {"tolerance": 1e-6, "stiff": True}):
            request = {"q": [0.2, 0.1], "duration": 1, "samples": 3, **how, "prescribed": {"coordinates": ["lower_joint"], "motion": {
                "amplitude": [0.5], "angular_frequency": [9], "offset": [0.1]}}}
            alone = self.simulate("acrobot", request, "q", "qd", "tau", "steps")
            a = self.simulate("acrobot", request, "q", "qd", "tau", "steps", *WORKS)
            self.assertEqual(alone, {name: a[name] for name in alone})

    def test_given_state(self):
        """The initial q and qd of a prescribed coordinate are 0 or those of its motion."""
        motion = {"amplitude": [0.5], "angular_frequency": [3], "phase": [0.7]}
        request = {"duration": 0.5, "samples": 2, "step": 0.01, "prescribed": {"coordinates": ["lower_joint"], "motion": motion}}
        r, rd = 0.5 * math.sin(0.7), 1.5 * math.cos(0.7)
        a = self.simulate("acrobot", {**request, "q": [0.4, 0]})
        self.assertEqual(self.simulate("acrobot", {**request, "q": [0.4, r], "qd": [0, rd]}), a)
        self.assertEqual((a["q"][0], a["qd"][0]), ([0.4, r], [0, rd]))
        for state, pointer in (({"q": [0.4, 0.3]}, "/q"), ({"q": [0.4, r], "qd": [0, 1]}, "/qd")):
            problem = self.assertProblem(self.client.post("/v1/models/acrobot/simulate", {**request, **state}), 422, pointer)
            self.assertIn("lower_joint is prescribed", problem["detail"])
        rows = {**request, "q": [[0.4, 0], [0.4, 0.3], [0.4, r]]}
        self.assertProblem(self.client.post("/v1/models/acrobot/simulate", rows), 422, "/q/1", 1)
        several = self.simulate("acrobot", {**rows, "on_error": "row"})
        self.assertEqual([(error["row"], error["code"]) for error in several["errors"]], [(1, "bad-value")])
        self.assertEqual([several["q"][0], several["q"][2]], [a["q"]] * 2)
        self.assertEqual([several["q"][1], several["tau"][1], several["limits"][1]], [None] * 3)

    def test_limits(self):
        """Efforts of prescribed joints beyond their limits are reported and not clipped."""
        a = self.simulate("limited", {"q": [0, 0], "duration": 1, "samples": 5, "step": 0.001, "input": {
            "controller": "pd_gravity", "kp": 1, "kd": 1, "reference": [0, 0]}, "prescribed": {"coordinates": ["upper_joint"], "motion": {
                "amplitude": [0.5], "angular_frequency": [8]}}}, "tau", "limits")
        worst = max(abs(tau[0]) for tau in a["tau"])
        self.assertGreater(worst, 41)
        effort, = (e for e in a["limits"] if e["kind"] == "effort" and e["joint"] == "upper_joint")
        self.assertGreaterEqual(effort["excess"], worst - 40)

    def test_refusals(self):
        def refused(code, pointer, prescribed, model="acrobot", **more):
            about = self.ok(self.client.get("/v1/models/" + model))
            q = [float(name.endswith("qw")) for name in about["position_names"]]
            answer = self.client.post(f"/v1/models/{model}/simulate", {"q": q, "duration": 1, "step": 0.1, "samples": 2,
                                                                       "prescribed": prescribed, **more})
            problem = self.assertProblem(answer, 422, pointer)
            self.assertEqual(problem["code"], code, problem)
            return problem["detail"]
        one = ["lower_joint"]
        for value, code, pointer in (
                ([], "wrong-type", ""), ({}, "missing-field", "/coordinates"), ({"coordinates": one}, "missing-field", "/motion"),
                ({"coordinates": one, "motion": [0], "x": 1}, "unknown-field", "/x"),
                ({"coordinates": [], "motion": []}, "wrong-shape", "/coordinates"),
                ({"coordinates": ["hip"], "motion": [0]}, "unknown-name", "/coordinates/0"),
                ({"coordinates": one * 2, "motion": [0, 0]}, "duplicate-name", "/coordinates/1"),
                ({"coordinates": one, "motion": [0, 0]}, "wrong-shape", "/motion"),
                ({"coordinates": one, "motion": {"values": [[0], [1]], "interpolation": "hold"}}, "bad-value", "/motion"),
                ({"coordinates": one, "motion": {"values": [[0], [1], [0]]}}, "bad-value", "/motion"),
                ({"coordinates": one, "motion": {"degree": 2, "control_points": [[0]] * 5, "knots": [0, 0, 0, 1, 1, 2, 2, 2]}},
                 "bad-value", "/motion")):
            with self.subTest(prescribed=value):
                refused(code, "/prescribed" + pointer, value)
        self.assertIn("velocity at 0.5 s", refused("bad-value", "/prescribed/motion", {"coordinates": one, "motion": {"values": [[0], [1], [0]]}}))
        self.assertIn("position at 0.5 s", refused("bad-value", "/prescribed/motion", {"coordinates": one, "motion": {
            "values": [[0], [1]], "interpolation": "hold"}}))
        self.assertIn("quaternion", refused("not-supported", "/prescribed/coordinates/0", {"coordinates": ["base.vx"], "motion": [0]}, "flyer"))
        self.assertIn("lower_joint", refused("bad-value", "/input/tau", {"coordinates": one, "motion": [0]}, input={"tau": [0, 1]}))
        refused("bad-value", "/input/tau", {"coordinates": one, "motion": [0]}, input={"tau": {"amplitude": [1, 0], "angular_frequency": [1, 1], "offset": [0, 1]}})
        refused("not-supported", "/input/controller", {"coordinates": one, "motion": [0]}, input={
            "controller": "pd_gravity", "kp": 1, "kd": 1, "reference": [0, 0]})
        refused("not-supported", "/input/controller", {"coordinates": ["lower_joint"], "motion": [0]}, "limited", input={
            "controller": "hua", "kp": 1, "kd": 1, "reference": [0, 0]})


if __name__ == "__main__":
    tap.main()
