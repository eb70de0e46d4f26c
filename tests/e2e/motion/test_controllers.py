"""Tests controllers of simulate: pid and pd_feed_forward, integral gains that do not wind up, controllers that are sampled and delayed as by a
computer, and which payload and friction controllers compensate; against SciPy's integrations of the same control laws."""
import math
import random

import numpy as np
import tap
from samples import SURROUNDINGS
from scipy.integrate import solve_ivp
from simulated import ARM, Simulated
from test_simulate import G, INERTIA, PULL

MASS = {"link": "rod", "mass": 0.5, "com": [0, 0, -1]}  # a payload at the end of the pendulum
EXACT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
EVERY_WAY = ({"step": 5e-4}, {"tolerance": 1e-11}, {"tolerance": 1e-11, "stiff": True})


def swing(torque, q, qd):
    """The acceleration of the pendulum."""
    return (torque - PULL * math.sin(q)) / INERTIA


def wave(t):
    """The reference 0.5 + 0.4 sin 3t and its first two derivatives."""
    return 0.5 + 0.4 * math.sin(3 * t), 1.2 * math.cos(3 * t), -3.6 * math.sin(3 * t)


WAVE = {"offset": [0.5], "amplitude": [0.4], "angular_frequency": [3]}


class Computer:
    """A sampled PID controller: its efforts act from a sample + the delay on; the sum of errors grows after a sample."""

    def __init__(self, period, delay, gains, most=math.inf):
        self.period, self.delay, self.gains, self.most, self.sum = period, delay, gains, most, 0

    def sample(self, t, q, qd):
        kp, ki, kd = self.gains
        r, rd, _ = wave(t)
        wanted = kp * (r - q) + kd * (rd - qd) + ki * self.sum
        torque = max(-self.most, min(self.most, wanted))
        if torque == wanted or wanted * (r - q) <= 0:
            self.sum += self.period * (r - q)
        return torque

    def drive(self, acceleration, q, qd, duration):
        """Integrates from instant to instant at which the efforts change or a sample is taken."""
        samples = [k * self.period for k in range(int(duration / self.period) + 1) if k * self.period < duration - 1e-12]
        instants = sorted({*samples, *(t + self.delay for t in samples if t + self.delay < duration), duration})
        y, waiting, torque = [q, qd], [], None
        for begin, end in zip(instants, instants[1:]):
            if begin in samples:
                waiting.append((begin + self.delay, self.sample(begin, *y)))
                torque = waiting[0][1] if torque is None else torque
            while waiting and waiting[0][0] <= begin:
                torque = waiting.pop(0)[1]
            y = solve_ivp(lambda _, y: [y[1], acceleration(torque, *y)], (begin, end), y, **EXACT).y[:, -1]
        return list(y)


class Laws(Simulated):
    def test_pid_against_scipy(self):
        def rate(t, y):
            r, rd, _ = wave(t)
            torque = 80 * (r - y[0]) + 9 * (rd - y[1]) + 60 * y[2]
            return [y[1], swing(torque, y[0], y[1]), r - y[0]]
        expected = solve_ivp(rate, (0, 2), [0, 0, 0], **EXACT).y[:, -1]
        for how in EVERY_WAY:
            a = self.simulate("pendulum", {"q": [0], "duration": 2, "times": [2], **how, "input": {
                "controller": "pid", "kp": 80, "ki": 60, "kd": 9, "reference": WAVE}}, "q", "qd", "tau", "position_error")
            self.assertClose(a["q"][0] + a["qd"][0], list(expected[:2]), 1e-9, 1)
            self.assertClose(a["position_error"][0], [wave(2)[0] - expected[0]], 1e-9, 1)

    def test_feed_forward_against_scipy(self):
        """The feed-forward efforts are those of inverse-dynamics along the reference, whatever the robot's state is."""
        model, q0 = "arm", [0.3, 0.1, -0.4]
        reference = {"amplitude": [0.3, 0.05, 0.4], "angular_frequency": [2, 3, 4], "offset": [0, 0.1, 0]}
        A, w, o = (np.array(reference[k]) for k in ("amplitude", "angular_frequency", "offset"))
        kp, kd = np.array([60, 900, 30]), np.array([8, 60, 3])
        def rate(t, y):
            r, rd, rdd = o + A * np.sin(w * t), A * w * np.cos(w * t), -A * w * w * np.sin(w * t)
            needed = self.ask(model, "inverse-dynamics", {"q": list(r), "qd": list(rd), "qdd": list(rdd)})["tau"]
            tau = np.array(needed) + kp * (r - y[:3]) + kd * (rd - y[3:])
            return [*y[3:], *self.ask(model, "forward-dynamics", {"q": list(y[:3]), "qd": list(y[3:]), "tau": list(tau)})["qdd"]]
        expected = solve_ivp(rate, (0, 0.3), q0 + [0] * 3, "DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
        a = self.simulate(model, {"q": q0, "duration": 0.3, "times": [0.3], "step": 5e-4, "input": {
            "controller": "pd_feed_forward", "kp": kp.tolist(), "kd": kd.tolist(), "reference": reference}}, "q", "qd")
        self.assertClose(a["q"][0] + a["qd"][0], list(expected), 1e-8, 1)

    def test_integral_removes_what_the_model_does_not_know(self):
        """With a payload that the controller's model does not contain, pd_gravity comes to rest with an error; with an integral gain ki the
        error vanishes."""
        for controller, ki in (("pd_gravity", 100), ("computed_torque", 300), ("pid", 100), ("pd_feed_forward", 100)):
            run = {"q": [0.2], "duration": 15, "times": [15], "tolerance": 1e-9, "payload": MASS}
            drive = {"controller": controller, "kp": 100, "kd": 20, "reference": [0.5]}
            off, on = (self.simulate("pendulum", {**run, "input": {**drive, **more}}, "position_error")["position_error"][0][0]
                       for more in ({}, {"ki": ki}))
            self.assertGreater(abs(off), 1e-3, controller)
            self.assertLess(abs(on), 1e-6, controller)

    def test_integral_does_not_wind_up(self):
        """While the effort is clipped the integral waits: the pendulum overshoots far less than with an integral that grows."""
        limited = {"links": [{"name": "rod", "parent": "base", "joint": {
            "name": "hinge", "type": "revolute", "axis": [0, 0, 1], "limits": {"effort": 2}}, "inertial": {
                "solid": "box", "size": [0.1, 0.1, 1], "mass": 2, "xyz": [0, 0, 0]}}]}
        self.assertEqual(self.client.put("/v1/models/limited", limited).status, 201)
        inertia = 2 * (0.1 ** 2 + 0.1 ** 2) / 12
        def rate(_, y):
            e = 3 - y[0]
            wanted = 20 * e + 3 * -y[1] + 40 * y[2]
            torque = max(-2, min(2, wanted))
            return [y[1], torque / inertia, 0 if torque != wanted and wanted * e > 0 else e]
        expected = solve_ivp(rate, (0, 1.5), [0, 0, 0], "RK45", rtol=1e-9, atol=1e-10, max_step=1e-3).y[:, -1]
        a = self.simulate("limited", {"q": [0], "duration": 1.5, "times": [1.5], "step": 1e-4, "input": {
            "controller": "pid", "kp": 20, "kd": 3, "ki": 40, "reference": [3]}}, "q", "qd")
        self.assertClose(a["q"][0] + a["qd"][0], list(expected[:2]), 1e-4, 1)

    def test_integral_does_not_wind_up_where_a_motor_of_a_transmission_is_clipped(self):
        """A motor at its limit changes the efforts of both joints, and may raise one: a joint's integral waits while it would increase the
        difference between the demanded and the acting effort. The joints are two masses that slide horizontally."""
        mass, matrix, most = np.array([1.3, 2.1]), np.array([[1.1, 0.6], [-0.45, 0.9]]), np.array([2.2, 3.1])
        coupled = {"links": [{"name": f"l{i}", "parent": "base", "inertial": {"mass": mass[i]}, "joint": {
            "name": f"j{i}", "type": "prismatic", "axis": [1 - i, i, 0]}} for i in range(2)],
            "transmissions": [{"joints": ["j0", "j1"], "matrix": matrix.tolist(), "motors": [
                {"name": f"m{i}", "rotor_inertia": 0, "limits": {"effort": most[i]}} for i in range(2)]}]}
        self.assertEqual(self.client.put("/v1/models/coupled", coupled).status, 201)
        kp, kd, ki, goal = np.array([17, 12]), np.array([3.5, 2.5]), np.array([55, 38]), np.array([0.9, -0.35])
        raised, y, h = 0, np.zeros(6), 5e-4
        def rate(y):
            e = goal - y[:2]
            wanted = kp * e - kd * y[2:4] + ki * y[4:]
            tau = np.linalg.solve(matrix.T, np.clip(matrix.T @ wanted, -most, most))
            nonlocal raised
            raised += (abs(tau) > abs(wanted) + 0.1).any()
            return np.array([*y[2:4], *(tau / mass), *np.where((wanted - tau) * e > 1e-12, 0, e)])
        for _ in range(round(1.5 / h)):  # Heun's method with short steps, since at a limit the rate z' of the integral switches on and off
            first = rate(y)
            y = y + h / 2 * (first + rate(y + h * first))
        self.assertGreater(raised * h / 2, 0.2)  # s, time during which a clipped motor raises the effort of a joint
        a = self.simulate("coupled", {"q": [0, 0], "duration": 1.5, "times": [1.5], "step": 1e-4, "input": {
            "controller": "pid", "kp": kp.tolist(), "kd": kd.tolist(), "ki": ki.tolist(), "reference": goal.tolist()}}, "q", "qd")
        self.assertClose(a["q"][0] + a["qd"][0], list(y[:4]), 2e-3, 1)


class Samples(Simulated):
    def test_sampled_pid_against_scipy(self):
        for period, delay in ((0.01, 0), (0.01, 0.004), (0.01, 0.01), (0.007, 0.018), (0.4, 0)):
            for how in EVERY_WAY:
                with self.subTest(period=period, delay=delay, how=how):
                    expected = Computer(period, delay, (80, 60, 9)).drive(swing, 0, 0, 0.5)
                    a = self.simulate("pendulum", {"q": [0], "duration": 0.5, "samples": 7, **how, "input": {
                        "controller": "pid", "kp": 80, "ki": 60, "kd": 9, "reference": WAVE, "period": period, "delay": delay}},
                        "q", "qd")
                    self.assertClose(a["q"][-1] + a["qd"][-1], expected, 1e-8, 1)

    def test_efforts_are_held(self):
        """tau changes only at the samples and acts after the delay; before the first sample acts, tau is the effort of time 0."""
        times = [0.0005 + 0.001 * k for k in range(50)]
        a = self.simulate("pendulum", {"q": [0.1], "duration": 0.05, "times": times, "step": 1e-3, "input": {
            "controller": "pd_gravity", "kp": 80, "kd": 9, "reference": WAVE, "period": 0.01, "delay": 0.0043}}, "tau")
        torques = [tau[0] for tau in a["tau"]]
        changes = [k for k in range(1, 50) if torques[k] != torques[k - 1]]
        self.assertEqual(changes, [14, 24, 34, 44])

    def test_slow_samples_make_a_loop_unstable(self):
        """A double integrator under a sampled PD controller grows or decays as the eigenvalues of its discrete-time matrix predict."""
        free = {"gravity": [0, 0, 0], "q": [0.1], "duration": 4, "times": [4], "tolerance": 1e-9}
        for period, kp, kd in ((0.02, 50, 8), (0.05, 50, 8), (0.1, 50, 10), (0.2, 30, 4)):
            F = np.array([[1, period], [0, 1]]) - np.outer([period ** 2 / 2, period], [kp, kd]) / INERTIA
            steps = 4 / period
            expected = np.linalg.matrix_power(F, round(steps)) @ [0.1, 0]
            a = self.simulate("pendulum", {**free, "input": {
                "controller": "pid", "kp": kp, "kd": kd, "reference": [0], "period": period}}, "q", "qd")
            self.assertClose(a["q"][0] + a["qd"][0], list(expected), 1e-8, max(1, abs(expected).max()))

    def test_fast_samples_are_continuous(self):
        drive = {"controller": "computed_torque", "kp": 100, "kd": 20, "ki": 5, "reference": {
            "amplitude": [0.3, 0.05, 0.4], "angular_frequency": [2, 3, 4]}}
        run = {"q": [0.3, 0.1, -0.4], "duration": 0.4, "times": [0.4], "step": 1e-3, **SURROUNDINGS}
        plain = self.simulate("arm", {**run, "input": drive}, "q")["q"][0]
        errors = [np.abs(np.subtract(self.simulate("arm", {**run, "input": {**drive, "period": period}}, "q")["q"][0], plain)).max()
                  for period in (4e-3, 2e-3, 1e-3)]
        self.assertLess(errors[0], 0.01)
        for coarse, fine in zip(errors, errors[1:]):
            self.assertAlmostEqual(coarse / fine, 2, delta=0.2)

    def test_same_bits_alone(self):
        rng = random.Random(2)
        q = [[rng.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(11)]
        for controller in ("pid", "pd_gravity", "computed_torque", "pd_feed_forward"):
            for how in ({"step": 0.003}, {"tolerance": 1e-6}, {"tolerance": 1e-6, "stiff": True}):
                run = {"duration": 0.1, "samples": 4, **how, **SURROUNDINGS, "input": {
                    "controller": controller, "kp": 20, "kd": [1, 2, 3], "ki": 4, "period": 0.01, "delay": 0.013,
                    "reference": {"amplitude": [0.1, 0.2, 0.3], "angular_frequency": [3, 4, 5]}}}
                outputs = ("q", "qd", "tau", "position_error", "actuator_work")
                batch = self.simulate("arm", {**run, "q": q}, *outputs)
                for b in (0, 7, 10):
                    alone = self.simulate("arm", {**run, "q": q[b]}, *outputs)
                    self.assertEqual(alone, {name: rows[b] for name, rows in batch.items()}, (controller, how, b))

    def test_order_of_joints(self):
        turned = lambda row: [row[2], row[0], row[1]]
        run = {"duration": 0.3, "samples": 3, "step": 0.01}
        drive = {"controller": "pid", "kp": [1, 2, 3], "ki": [7, 8, 9], "kd": [4, 5, 6], "reference": [0.1, 0.2, 0.3], "period": 0.02}
        plain = self.simulate("arm", {**run, "q": [0.3, 0.1, -0.4], "input": drive}, "q", "qd", "tau", "position_error")
        drive = {**drive, **{key: turned(drive[key]) for key in ("kp", "ki", "kd", "reference")}}
        other = self.simulate("arm", {**run, "joints": ["branch", "turn", "slide"], "q": turned([0.3, 0.1, -0.4]), "input": drive},
                              "q", "qd", "tau", "position_error")
        self.assertEqual(other, {name: [turned(row) for row in rows] for name, rows in plain.items()})

    def test_elastic_joints_and_loops(self):
        """The motor of an elastic joint, and a five-bar with two motors, follow a sampled controller as in SciPy's integration with the same
        samples."""
        spring, link, rotor = 100, 1, 0.02
        elastic = {"gravity": [0, 0, 0], "links": [{"name": "a", "parent": "base", "joint": {
            "name": "j", "type": "revolute", "axis": [0, 0, 1], "elastic": {"stiffness": spring}, "rotor_inertia": rotor},
            "inertial": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": link}}}]}
        self.assertEqual(self.client.put("/v1/models/elastic", elastic).status, 201)
        drive = {"controller": "pid", "kp": 20, "kd": 1, "ki": 20, "period": 0.01}
        y, total = [0.2, 0, 0, 0], 0  # positions of link and motor, and their velocities
        for _ in range(30):
            torque = 20 * (0.1 - y[1]) - y[3] + 20 * total
            total += 0.01 * (0.1 - y[1])
            y = solve_ivp(lambda _, y: [y[2], y[3], spring * (y[1] - y[0]) / link, (torque - spring * (y[1] - y[0])) / rotor],
                          (0, 0.01), y, **EXACT).y[:, -1]
        a = self.simulate("elastic", {"q": [0.2, 0], "duration": 0.3, "times": [0.3], "tolerance": 1e-11, "input": {
            **drive, "reference": [0, 0.1]}}, "q", "qd")
        self.assertClose(a["q"][0] + a["qd"][0], list(y), 1e-8, 1)

        q0, goal = [0.6, 2.3], np.array([0.8, 2.2])
        y, total = np.array(q0 + [0, 0]), np.zeros(2)
        for _ in range(5):
            tau = 20 * (goal - y[:2]) - y[2:] + 20 * total
            total += 0.01 * (goal - y[:2])
            rate = lambda _, y: [*y[2:], *self.ask("five_bar", "forward-dynamics", {
                "q": list(y[:2]), "qd": list(y[2:]), "tau": tau.tolist()})["qdd"]]
            y = solve_ivp(rate, (0, 0.01), y, "DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
        a = self.simulate("five_bar", {"q": q0, "duration": 0.05, "times": [0.05], "step": 1e-3, "input": {
            **drive, "reference": goal.tolist(), "clip": False}}, "q", "qd")
        self.assertClose(a["q"][0] + a["qd"][0], list(y), 1e-8, 1)

    def test_joints_that_stick(self):
        """Under a sampled controller a joint with sharp friction moves as in SciPy's integration while it slides, and sticks when it comes to
        rest."""
        rubbing = {"links": [{**ARM["links"][0], "joint": {**ARM["links"][0]["joint"], "friction": {"coulomb": 2}}}]}
        self.assertEqual(self.client.put("/v1/models/rubbing", rubbing).status, 201)
        run = {"q": [0.5], "duration": 2, "times": [2], "gravity": [0, 0, 0]}
        drive = {"controller": "pid", "kp": 40, "kd": 1, "reference": [0], "period": 0.01}
        for how in ({"step": 1e-3}, {"tolerance": 1e-8}):
            a = self.simulate("rubbing", {**run, **how, "input": drive}, "q", "qd")
            self.assertEqual(a["qd"][0], [0], how)
            self.assertLessEqual(abs(40 * a["q"][0][0]), 2 + 1e-9)
        a, b = (self.simulate("rubbing", {**run, "step": 1e-3, "q": q, "input": drive}, "q", "qd")
                for q in ([0.5], [[-0.3], [0.5]]))
        self.assertEqual({name: rows[1] for name, rows in b.items()}, a)  # the state of the controller in the row before has no effect


class Knowledge(Simulated):
    def rest(self, **more):
        a = self.simulate("pendulum", {"q": [0.2], "duration": 8, "times": [8], "tolerance": 1e-9, "payload": MASS, "input": {
            "controller": "pd_gravity", "kp": 50, "kd": 10, "reference": [0.5], **more}}, "position_error", "tau")
        return a["position_error"][0][0], a["tau"][0][0]

    def test_known_payload(self):
        error, torque = self.rest(knows_payload=True)
        self.assertAlmostEqual(error, 0, delta=1e-7)
        self.assertAlmostEqual(torque, (PULL + 0.5 * G) * math.sin(0.5), delta=1e-6)
        self.assertGreater(self.rest()[0], 0.01)
        self.assertEqual(self.rest(), self.rest(knows_payload=False))

    def test_payloads_of_rows(self):
        """In a batch each row's controller compensates the payload of its own row."""
        run = {"q": [0.2], "duration": 0.5, "times": [0.5], "step": 1e-3, "input": {
            "controller": "computed_torque", "kp": 50, "kd": 10, "reference": [0.5], "knows_payload": True}}
        batch = self.simulate("pendulum", {**run, "payload": {**MASS, "mass": [0.5, 0.1, 2]}}, "q", "tau")
        for b, mass in enumerate((0.5, 0.1, 2)):
            alone = self.simulate("pendulum", {**run, "payload": {**MASS, "mass": mass}}, "q", "tau")
            self.assertEqual(alone, {name: rows[b] for name, rows in batch.items()})

    def test_unknown_friction(self):
        """Errors of computed_torque obey e'' + kd e' + kp e = (friction)/M where it does not know the friction."""
        thick = {"q": [0], "qd": [1], "duration": 0.5, "times": [0.5], "tolerance": 1e-11, "input": {
            "controller": "computed_torque", "kp": 25, "kd": 10, "reference": [0], "clip": False}}
        known, unknown = (self.simulate("thick", {**thick, "input": {**thick["input"], "knows_friction": knows}}, "q")["q"][0][0]
                          for knows in (True, False))
        self.assertAlmostEqual(known, 0.5 * math.exp(-2.5), delta=1e-9)
        expected = solve_ivp(lambda _, y: [y[1], -25 * y[0] - (10 + 200 / INERTIA) * y[1]], (0, 0.5), [0, 1], "Radau",
                             rtol=1e-10, atol=1e-13).y[0, -1]
        self.assertAlmostEqual(unknown, expected, delta=1e-9)


class Refusals(Simulated):
    def refuse(self, model, more, code, pointer, q=(0,)):
        drive = {"controller": "pid", "kp": 1, "kd": 1, "reference": [0] * len(q), **more}
        answer = self.client.post(f"/v1/models/{model}/simulate", {"q": list(q), "duration": 1, "samples": 2, "step": 0.01, "input": drive})
        self.assertEqual((answer.status // 100, answer.json()["code"], answer.json().get("pointer")), (4, code, pointer), answer)

    def test_times(self):
        for more, code, field in (({"period": 0}, "bad-value", "period"), ({"period": -1}, "bad-value", "period"),
                                  ({"period": 2}, "bad-value", "period"), ({"period": 0.1, "delay": -1}, "bad-value", "delay"),
                                  ({"delay": 0.1}, "missing-field", "period"), ({"period": 0.9e-5}, "too-many-steps", "period"),
                                  ({"period": 1e-5, "delay": 0.5}, "bad-value", "delay"), ({"ki": -1}, "bad-value", "ki"),
                                  ({"ki": [1, 2]}, "wrong-shape", "ki"), ({"knows_payload": True}, "unknown-field", "knows_payload"),
                                  ({"controller": "pd_gravity", "knows_friction": 1}, "wrong-type", "knows_friction"),
                                  ({"controller": "hua", "period": 0.1}, "unknown-field", "period")):
            with self.subTest(more=more):
                self.refuse("pendulum", more, code, f"/input/{field}")

    def test_robots(self):
        self.refuse("swimmer", {"controller": "pd_feed_forward", "reference": [0] * 7}, "not-supported", "/input/controller",
                    [0, 0, 0, 0, 0, 0, 1, 0])
        elastic = {"links": [{"name": "a", "parent": "base", "joint": {
            "name": "j", "type": "revolute", "axis": [0, 0, 1], "elastic": {"stiffness": 100}, "rotor_inertia": 0.02},
            "inertial": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}]}
        self.assertEqual(self.client.put("/v1/models/elastic", elastic).status, 201)
        self.refuse("elastic", {"controller": "pd_feed_forward"}, "not-supported", "/input/controller", [0, 0])
        self.refuse("five_bar", {"controller": "pd_feed_forward"}, "not-for-loops", "/input/controller", [0.3, 2.5])


if __name__ == "__main__":
    tap.main()
