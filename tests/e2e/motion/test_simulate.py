"""Tests simulate: motions against elliptic functions, SciPy's integrators and conservation laws; energy balances; tracking errors against their
linear equation; the same bits in single requests and in batches."""
import math
import random

import cbor2
import numpy as np
import tap
from arrays import cross, matvec, rotation
from samples import SURROUNDINGS
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, CubicSpline
from scipy.special import ellipk
from simulated import BODY, Simulated

G = 9.81
INERTIA = 2 * (0.1 ** 2 + 1) / 12 + 2 * 0.5 ** 2
PULL = 2 * G * 0.5
START = {"q": [0.3, 0.1, -0.4], "qd": [0.5, -0.2, 1]}


class Motion(Simulated):
    PERIOD = 4 * math.sqrt(INERTIA / PULL) * ellipk(math.sin(0.5) ** 2)

    def swing(self, **how):
        return self.simulate("pendulum", {"q": [1], "duration": self.PERIOD, "times": [0, self.PERIOD / 4, self.PERIOD]},
                             "times", "q", "qd", "steps", **how)

    def test_period_of_a_pendulum(self):
        fastest = math.sqrt(2 * PULL * (1 - math.cos(1)) / INERTIA)
        for how, error in (({"step": 1e-3}, 1e-10), ({"tolerance": 1e-11}, 1e-9), ({"tolerance": 1e-11, "stiff": True}, 1e-9)):
            with self.subTest(how=how):
                a = self.swing(**how)
                self.assertEqual(a["times"], [0, self.PERIOD / 4, self.PERIOD])
                self.assertClose(a["q"], [[1], [0], [1]], error, 1)
                self.assertClose(a["qd"], [[0], [-fastest], [0]], error, 1)

    def test_order_of_fixed_steps(self):
        errors = [abs(self.swing(step=self.PERIOD / n)["q"][2][0] - 1) + abs(self.swing(step=self.PERIOD / n)["qd"][2][0])
                  for n in (80, 160, 320)]
        for coarse, fine in zip(errors, errors[1:]):
            self.assertAlmostEqual(math.log2(coarse / fine), 4, delta=0.35)

    def test_steps(self):
        a = self.swing(step=self.PERIOD / 8)
        self.assertEqual(a["steps"], [0, 2, 8])
        # an interval that the step does not divide is divided evenly
        a = self.simulate("pendulum", {"q": [1], "duration": 1, "step": 0.3, "times": [0.1, 1]}, "q", "steps")
        self.assertEqual(a["steps"], [1, 4])
        b = self.simulate("pendulum", {"q": [1], "duration": 0.1, "step": 0.1, "samples": 2}, "q")
        self.assertEqual(a["q"][0], b["q"][1])

    def test_tolerances_are_kept(self):
        for stiff in (False, True):
            errors, steps = [], []
            for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
                a = self.swing(tolerance=tolerance, stiff=stiff)
                errors.append(abs(a["q"][2][0] - 1) + abs(a["qd"][2][0]))
                steps.append(a["steps"][2])
                self.assertLess(errors[-1], 100 * tolerance)
            self.assertEqual(steps, sorted(steps))
            self.assertGreater(steps[-1], 3 * steps[0])
            self.assertGreater(errors[0], 100 * errors[-1])

    def test_against_scipy(self):
        """A tree with friction, springs, payload and wrenches, against SciPy's integration of forward-dynamics."""
        common = {**SURROUNDINGS, "tau": [1, -2, 0.5]}
        def rate(_, y):
            return list(y[3:]) + self.ask("arm", "forward-dynamics", {"q": list(y[:3]), "qd": list(y[3:]), **common})["qdd"]
        expected = solve_ivp(rate, (0, 0.4), START["q"] + START["qd"], "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
        for how in ({"step": 5e-4}, {"tolerance": 1e-11}, {"tolerance": 1e-11, "stiff": True}):
            a = self.simulate("arm", {**START, **SURROUNDINGS, "duration": 0.4, "samples": 2, **how,
                                      "input": {"tau": common["tau"]}}, "q", "qd", "qdd", "tau")
            self.assertClose(a["q"][1] + a["qd"][1], list(expected), 1e-9)
            self.assertEqual(a["tau"], [common["tau"]] * 2)
            self.assertEqual(a["qdd"][0], self.ask("arm", "forward-dynamics", {**START, **common})["qdd"])

    def test_stiff(self):
        """In an overdamped motion the explicit method's steps are limited by stability, the implicit method's by the
        tolerance only."""
        request = {"q": [1], "qd": [0], "duration": 20, "samples": 2, "tolerance": 1e-6}
        explicit, implicit = (self.simulate("thick", request, "q", "qd", "steps", stiff=s) for s in (False, True))
        self.assertLess(20 * implicit["steps"][1], explicit["steps"][1])
        expected = solve_ivp(lambda _, y: [y[1], (-PULL * math.sin(y[0]) - 200 * y[1]) / INERTIA], (0, 20), [1, 0], "Radau",
                             rtol=1e-10, atol=1e-12).y[:, -1]
        for a in (explicit, implicit):
            self.assertClose(a["q"][1] + a["qd"][1], list(expected), 1e-5, 1)


    def test_samples_cost_no_accuracy(self):
        """Steps that are shortened to end at a sample keep the tolerance: a rod under a sinusoidal torque, I q'' = 4 sin 2t."""
        for how in ({"tolerance": 1e-8}, {"tolerance": 1e-8, "stiff": True}):
            for n in (2, 3, 9, 17, 33):
                a = self.simulate("pendulum", {"q": [0], "duration": 8, "samples": n, "gravity": [0, 0, 0], "input": {
                    "tau": {"amplitude": [4], "angular_frequency": [2]}}, **how}, "times", "q", "qd")
                t = np.array(a["times"])
                self.assertClose([q for q, in a["q"]], list((2 * t - np.sin(2 * t)) / INERTIA), 1e-8, what=str((n, how)))
                self.assertClose([v for v, in a["qd"]], list((2 - 2 * np.cos(2 * t)) / INERTIA), 1e-8)


class Balances(Simulated):
    OUTPUTS = ("kinetic", "potential", "actuator_work", "friction_work", "wrench_work")

    def balance(self, a):
        energy = np.add(a["kinetic"], a["potential"])
        return energy - energy[..., :1] - np.add(a["actuator_work"], np.add(a["friction_work"], a["wrench_work"]))

    def test_energy_is_kept(self):
        for model, q in (("pendulum", [2]), ("three_link", [0.3, -1, 2])):
            for how in ({"step": 1e-3}, {"tolerance": 1e-11}):
                a = self.simulate(model, {"q": q, "duration": 2, "samples": 5, "friction": False, **how}, *self.OUTPUTS)
                energy = np.add(a["kinetic"], a["potential"])
                self.assertLess(max(abs(energy - energy[0])), 1e-8 * max(map(abs, a["kinetic"])))
                for work in self.OUTPUTS[2:]:
                    self.assertEqual(a[work], [0] * 5)

    def test_energy_with_all_there_is(self):
        tau = {"amplitude": [3, 20, 1], "angular_frequency": [5, 9, 7], "phase": [0.1, 0.2, 0.3], "offset": [1, 0, 0]}
        for how in ({"step": 1e-3}, {"tolerance": 1e-10}, {"tolerance": 1e-10, "stiff": True}):
            a = self.simulate("arm", {**START, **SURROUNDINGS, "duration": 1, "samples": 6, "input": {"tau": tau}, **how},
                              *self.OUTPUTS)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-7)
            for work in self.OUTPUTS[2:]:
                self.assertGreater(abs(a[work][-1]), 0.1)
            self.assertEqual(a["friction_work"], sorted(a["friction_work"], reverse=True))

    def test_energy_with_dampers_of_every_kind(self):
        """Dampers of elastic joints, of springs and of mimics whose rates are multiples; friction of motors behind gears."""
        spring = {"stiffness": 5, "damping": 0.7, "rest": 0.2}
        joint = lambda name, kind, axis, **fields: {"name": name, "type": kind, "axis": axis, **fields}
        links = [("a", "base", joint("turn", "revolute", [0, 0, 1], elastic={"stiffness": 60, "damping": 0.9, "rest": 0.15}, rotor_inertia=0.3)),
                 ("b", "a", joint("lift", "prismatic", [0.6, 0, 0.8], spring=spring)),
                 ("c", "b", joint("tilt", "revolute", [0, 1, 0], friction={"viscous": 0.3})),
                 ("d", "a", joint("follow", "revolute", [1, 0, 0], spring=spring, mimic={"joint": "tilt", "multiplier": -2.5, "offset": 0.4})),
                 ("e", "c", joint("last", "revolute", [0, 0.8, 0.6], elastic={"stiffness": 40, "damping": 0.5}))]
        self.put_model("damped", {"links": [{"name": name, "parent": parent, "inertial": BODY, "joint": {**fields, "origin": {"xyz": [0.2, 0.1, 0.3]}}}
                                            for name, parent, fields in links],
                                  "motors": [{"joint": "last", "link": "c", "axis": [0, 0.8, 0.6], "gear_ratio": 3, "spin_inertia": 0.02,
                                              "friction": {"viscous": 0.05}}]})
        n = self.client.get("/v1/models/damped").json()["nv"]
        for how in ({"step": 5e-4}, {"tolerance": 1e-10}, {"tolerance": 1e-10, "stiff": True}):
            a = self.simulate("damped", {"q": [0.3, -0.2, 0.5, 0.1, 0.4, -0.3][:n], "qd": [1, -0.5, 2, -1.5, 0.7, 1.1][:n], "duration": 0.5,
                                         "samples": 5, **how}, *self.OUTPUTS)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-7 * max(a["kinetic"]), how)
            self.assertGreater(-a["friction_work"][-1], 0.1 * a["kinetic"][0])

    def test_work_of_known_forces(self):
        """The work of a force at the tip of a hinge that follows its rotation, and of viscous friction at a constant
        rate, in closed form."""
        a = self.simulate("pendulum", {"q": [0.4], "duration": 0.5, "samples": 2, "step": 1e-3, "gravity": [0, 0, 0],
                                       "wrenches": [{"link": "rod", "force": [-3, 0, 0], "point": [0, 0, -1], "frame": "link"}]},
                          "q", "wrench_work")
        self.assertAlmostEqual(a["wrench_work"][1], 3 * (a["q"][1][0] - 0.4), delta=1e-12)
        a = self.simulate("thick", {"q": [0], "qd": [0.5], "duration": 2, "samples": 2, "step": 1e-3, "gravity": [0, 0, 0],
                                    "input": {"tau": [100]}}, "q", "actuator_work", "friction_work")
        self.assertClose(a["q"][1], [1], 1e-12)
        self.assertClose([a["actuator_work"][1], a["friction_work"][1]], [100, -100], 1e-12)

    def test_outputs_do_not_change_the_motion(self):
        for how in ({"step": 1e-2}, {"tolerance": 1e-6}):
            request = {**START, **SURROUNDINGS, "duration": 1, "samples": 3, **how}
            self.assertEqual(self.simulate("arm", request, "q", "qd"),
                             {k: v for k, v in self.simulate("arm", request, "q", "qd", *self.OUTPUTS).items() if len(k) < 3})

    def momentum(self, q, qd):
        """Returns momentum and angular momentum of the free body about its centre of mass, in world axes."""
        I = BODY["inertia"]
        w = qd[3:]
        L = [I["xx"] * w[0] + I["xy"] * w[1], I["xy"] * w[0] + I["yy"] * w[1], I["zz"] * w[2]]
        return matvec(rotation(q[3:]), L), matvec(rotation(q[3:]), np.add(qd[:3], cross(w, BODY["com"])))

    def test_free_body(self):
        """A free body without torque keeps angular momentum, velocity of the centre, and energy; the quaternion keeps
        its norm."""
        request = {"q": [1, 2, 3, 0, 0, 0, 1], "qd": [0.3, -0.2, 0.5, 1, 5, 2], "duration": 6, "samples": 13,
                   "gravity": [0, 0, 0]}
        for how in ({"step": 1e-3}, {"tolerance": 1e-11}, {"tolerance": 1e-10, "stiff": True}):
            a = self.simulate("body", request, "q", "qd", "kinetic", **how)
            L, v = self.momentum(request["q"], request["qd"])
            for q, qd in zip(a["q"], a["qd"]):
                # norm, square root and quotients: 8 rounding errors of 2^-53
                self.assertAlmostEqual(sum(x * x for x in q[3:]), 1, delta=9e-16)
                self.assertGreaterEqual(q[6], 0)
                now = self.momentum(q, qd)
                self.assertClose(list(now[0]), list(L), 1e-8)
                self.assertClose(list(now[1]), list(v), 1e-8)
            self.assertClose(a["kinetic"], [a["kinetic"][0]] * 13, 1e-8)
            centre = [np.add(q[:3], matvec(rotation(q[3:]), BODY["com"])) for q in a["q"]]
            self.assertClose([list(c) for c in centre],
                             [list(np.add(centre[0], np.multiply(v, n / 2))) for n in range(13)], 1e-8)

    def test_free_body_in_fixed_steps_is_of_order_four(self):
        request = {"q": [0, 0, 0, 0, 0, 0, 1], "qd": [0, 0, 0, 1, 5, 2], "duration": 2, "samples": 2, "gravity": [0, 0, 0]}
        exact = self.simulate("body", request, "q", tolerance=1e-13)["q"][1]
        errors = [np.abs(np.subtract(self.simulate("body", request, "q", step=h)["q"][1], exact)).max() for h in (0.02, 0.01, 0.005)]
        for coarse, fine in zip(errors, errors[1:]):
            self.assertAlmostEqual(math.log2(coarse / fine), 4, delta=0.4)

    def test_nothing_outside_pushes_a_swimmer(self):
        """Internal torques do not change the momentum of a floating robot."""
        request = {"q": [0, 0, 0, 0, 0, 0, 1, 0.2], "qd": [0.1, 0, 0, 0.2, 0.3, 0.1, 1], "duration": 2, "samples": 3,
                   "gravity": [0, 0, 0], "input": {"tau": {"amplitude": [0] * 6 + [2], "angular_frequency": [0] * 6 + [4]}}}
        for how in ({"step": 1e-3}, {"tolerance": 1e-11}):
            a = self.simulate("swimmer", request, *self.OUTPUTS, "q", "qd", **how)
            momentum = self.ask("swimmer", "energy", {"q": a["q"], "qd": a["qd"], "outputs": ["momentum"]})["momentum"]
            self.assertClose(momentum, [momentum[0]] * 3, 1e-8)
            self.assertLess(np.abs(self.balance(a)).max(), 1e-8)


class Inputs(Simulated):
    """Tests signals as inputs; the output tau of a pendulum shows the signal's value."""

    def torques(self, signal, times, model="pendulum", q=(0,)):
        return self.simulate(model, {"q": list(q), "duration": times[-1], "times": times, "step": 0.1, "input": {"tau": signal}},
                             "tau")["tau"]

    def column(self, signal, times):
        return [t[0] for t in self.torques(signal, times)]

    def test_sampled(self):
        values, at = [[1], [3], [-2], [0.5]], [0, 0.4, 0.5, 1.25]
        times = [0, 0.2, 0.4, 0.45, 0.5, 0.7, 1.25]
        held = self.column({"values": values, "times": at, "interpolation": "hold"}, times + [1.5])
        self.assertEqual(held, [1, 1, 3, 3, -2, -2, 0.5, 0.5])
        flat = [v[0] for v in values]
        self.assertClose(self.column({"values": values, "times": at}, times), list(np.interp(times, at, flat)), 1e-14)
        cubic = self.column({"values": values, "times": at, "interpolation": "cubic"}, times)
        self.assertClose(cubic, list(CubicSpline(at, flat, bc_type="natural")(times)), 1e-13)
        even = self.column({"values": values}, [0, 1, 2, 3])
        self.assertClose(even, flat, 1e-15)
        even = self.column({"values": values[:2], "interpolation": "hold"}, [0, 0.9, 1, 2])
        self.assertEqual(even, [1, 1, 3, 3])
        two = self.column({"values": values[:2], "interpolation": "cubic"}, [0, 0.5, 2])
        self.assertClose(two, [1, 1.5, 3], 1e-14)

    def test_spline_and_sine(self):
        knots, points = [0, 0, 0, 0, 1, 2, 2, 5, 5, 5, 5], [1, 2, -1, 3, 4, -2, 0.5]
        times = [0, 0.3, 0.8, 1, 1.7, 2]
        expected = BSpline(knots, points, 3)(np.multiply(times, 2.5))
        self.assertClose(self.column({"degree": 3, "control_points": [[p] for p in points], "knots": knots}, times),
                         list(expected), 1e-13)
        sine = {"amplitude": [2], "angular_frequency": [3], "offset": [0.5], "phase": [0.25]}
        self.assertClose(self.column(sine, times), [0.5 + 2 * math.sin(3 * t + 0.25) for t in times], 1e-15)

    def test_one_angular_frequency(self):
        """A single number as angular_frequency applies to all entries: in torques, references, prescribed motions and
        wrenches, with `joints` and in batches; also in trajectory."""
        names = self.client.get("/v1/models/arm").json()["velocity_names"]
        start = {"q": [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]], "duration": 0.2, "samples": 3, "step": 1e-2}
        batch = [[1, 2, 3], [2, 0.5, 1]]

        def wave(w, amplitude):
            return {"amplitude": amplitude, "angular_frequency": w, "phase": [0.1, 0.2, 0.3]}
        drive = {"controller": "computed_torque", "kp": 20, "kd": 5}
        for name, change in {
                "tau": lambda w: {"input": {"tau": wave(w, [1, 2, 3])}}, "batch": lambda w: {"input": {"tau": wave(w, batch)}},
                "order": lambda w: {"joints": names[::-1], "input": {"tau": wave(w, [1, 2, 3])}},
                "reference": lambda w: {"input": {**drive, "reference": wave(w, [1, 2, 3])}},
                "wrench": lambda w: {"wrenches": [{"link": "c", "force": wave(w, [1, 2, 3]), "torque": wave(w, batch)}]},
                "prescribed": lambda w: {"prescribed": {"coordinates": names[1:], "motion": {
                    "amplitude": [0.1, 0.2], "angular_frequency": w if isinstance(w, int) else w[1:]}},
                    "q": [[0.1, 0, 0]], "qd": [[0, 0.7, 1.4]]}}.items():
            for how in ({}, {"Accept": "application/cbor"}):
                one, three = (self.client.post("/v1/models/arm/simulate", {**start, **change(w)}, **how) for w in (7, [7, 7, 7]))
                self.assertEqual((one.status, one.body), (200, three.body), name)
        motion = {"degree": 1, "duration": 1, "control_points": [[0, 0, 0], [1, 1, 1]], "samples": 3, "free": names[:2]}
        one, three = (self.ask("arm", "trajectory", {**motion, "input": {"tau": {"amplitude": [1, 2, 0], "angular_frequency": w}},
                                                     "wrenches": [{"link": "c", "force": wave(w, [1, 2, 3])}]}) for w in (7, [7, 7, 7]))
        self.assertEqual(one, three)
        problem = self.client.post("/v1/models/arm/simulate", {**start, "input": {"tau": {"amplitude": 1, "angular_frequency": 7}}})
        self.assertProblem(problem, 422, "/input/tau/amplitude")

    def test_jumps_cost_no_accuracy(self):
        """Steps end where the torque jumps: the motion of a rod without gravity is exact between the jumps."""
        tau = {"values": [[1], [-2], [3]], "times": [0, 0.37, 0.81], "interpolation": "hold"}
        for how in ({"step": 0.3}, {"tolerance": 1e-10}):
            a = self.simulate("pendulum", {"q": [0], "duration": 1, "samples": 2, "gravity": [0, 0, 0], "input": {"tau": tau}, **how},
                              "q", "qd")
            q = v = 0.0
            for torque, span in ((1, 0.37), (-2, 0.44), (3, 0.19)):
                q, v = q + v * span + torque / INERTIA * span ** 2 / 2, v + torque / INERTIA * span
            self.assertClose(a["q"][1] + a["qd"][1], [q, v], 1e-12)

    def test_error_of_computed_torque_is_linear(self):
        """Tracking errors of computed_torque satisfy e'' + kd e' + kp e = 0 for any robot; here critically damped, e =
        e0 (1 + 10 t) exp(-10 t)."""
        reference = {"amplitude": [0.3, 0.05, 0.4], "angular_frequency": [2, 3, 4], "phase": [0.5, 1, 0], "offset": [0, 0.1, 0]}
        for how in ({"step": 1e-3}, {"tolerance": 1e-10}):
            a = self.simulate("arm", {"q": START["q"], "duration": 3, "times": [0, 0.1, 0.5, 3], **how, "gravity": [1, -2, -9], "input": {
                "controller": "computed_torque", "kp": 100, "kd": [20, 20, 20], "reference": reference}},
                "q", "qd", "times", "position_error", "velocity_error")
            r, rd = ([[f(o, A, w, p, t) for o, A, w, p in zip(*(reference[k] for k in ("offset", "amplitude", "angular_frequency", "phase")))]
                      for t in a["times"]] for f in (lambda o, A, w, p, t: o + A * math.sin(w * t + p),
                                                     lambda o, A, w, p, t: A * w * math.cos(w * t + p)))
            self.assertClose(a["position_error"], np.subtract(r, a["q"]).tolist(), 1e-15, 1)
            self.assertClose(a["velocity_error"], np.subtract(rd, a["qd"]).tolist(), 1e-15, 1)
            e, ed = a["position_error"][0], a["velocity_error"][0]
            expected = [[(x + (v + 10 * x) * t) * math.exp(-10 * t) for x, v in zip(e, ed)] for t in a["times"]]
            self.assertClose(a["position_error"], expected, 1e-7)

    def test_controllers_do_not_know_the_payload(self):
        """Controllers ignore the payload: at rest kp e is the payload's moment at the hinge."""
        a = self.simulate("pendulum", {"q": [0.5], "duration": 8, "samples": 2, "tolerance": 1e-9, "payload": {
            "link": "rod", "mass": 0.5, "com": [0, 0, -1]}, "input": {
                "controller": "pd_gravity", "kp": 50, "kd": 10, "reference": [0.5]}}, "q", "qd", "tau", "position_error")
        q = a["q"][1][0]
        self.assertAlmostEqual(50 * a["position_error"][1][0], 0.5 * G * math.sin(q), delta=1e-6)
        self.assertAlmostEqual(a["tau"][1][0], (PULL + 0.5 * G) * math.sin(q), delta=1e-6)
        a = self.simulate("pendulum", {"q": [0.2], "duration": 8, "samples": 2, "tolerance": 1e-9, "input": {
            "controller": "pd_gravity", "kp": 50, "kd": 10, "reference": [0.5]}}, "position_error")
        self.assertAlmostEqual(a["position_error"][1][0], 0, delta=1e-7)


class Batches(Simulated):
    def requests(self):
        rng = random.Random(6)
        values = lambda *shape: (np.round(np.array([rng.uniform(-1, 1) for _ in range(int(np.prod(shape)))]), 3).reshape(shape)).tolist()
        common = {"duration": 0.3, "samples": 4, **SURROUNDINGS}
        yield "arm", {**common, "q": values(11, 3), "qd": values(11, 3)}
        yield "arm", {**common, "q": START["q"], "input": {"tau": values(11, 3)}}
        yield "arm", {**common, "q": START["q"], "input": {"tau": {"values": values(11, 5, 3), "interpolation": "cubic"}}}
        yield "arm", {**common, "q": values(11, 3), "input": {"controller": "pd_gravity", "kp": 20, "kd": [1, 2, 3], "reference": {
            "amplitude": values(11, 3), "angular_frequency": [3, 4, 5]}}}
        q = np.array(values(11, 8))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        yield "swimmer", {"duration": 0.3, "times": [0, 0.1, 0.3], "q": q.tolist(), "qd": values(11, 7)}

    def row(self, request, b):
        def pick(value):
            if isinstance(value, dict):
                return {k: pick(v) for k, v in value.items()}
            if isinstance(value, list) and len(value) == 11:
                return value[b]
            return value
        return pick(request)

    def test_same_bits_alone(self):
        for model, request in self.requests():
            for how in ({"step": 0.01}, {"tolerance": 1e-6}, {"tolerance": 1e-5, "stiff": True}):
                all_of_them = self.client.post(f"/v1/models/{model}/simulate", {**request, **how})
                batch = self.ok(all_of_them)
                for b in (0, 3, 8, 10):
                    alone = self.simulate(model, {**self.row(request, b), **how})
                    self.assertEqual(alone, {name: rows[b] for name, rows in batch.items()}, (how, b))
                body = cbor2.dumps({**request, **how})
                other = self.client.post(f"/v1/models/{model}/simulate", body, Content_Type="application/cbor", Accept="application/json")
                self.assertEqual(other.body, all_of_them.body)

    def test_order_of_joints(self):
        order = ["branch", "turn", "slide"]
        turned = lambda row: [row[2], row[0], row[1]]
        drive = {"controller": "pd_gravity", "kp": [1, 2, 3], "kd": [4, 5, 6], "reference": {"values": [[0, 0, 0], [1, 2, 3]]}}
        request = {**START, "duration": 0.5, "samples": 3, "step": 0.01, "input": drive}
        plain = self.simulate("arm", request, "q", "qd", "tau", "position_error")
        drive = {**drive, "kp": [3, 1, 2], "kd": [6, 4, 5], "reference": {"values": [[0, 0, 0], [3, 1, 2]]}}
        other = self.simulate("arm", {**request, "joints": order, "q": turned(START["q"]), "qd": turned(START["qd"]), "input": drive},
                              "q", "qd", "tau", "position_error")
        self.assertEqual(other, {name: [turned(row) for row in rows] for name, rows in plain.items()})


if __name__ == "__main__":
    tap.main()
