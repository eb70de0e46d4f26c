"""Tests sharp Coulomb friction in simulations with a tolerance: joints stop, stick and break loose at the right time.
The references are motions by hand and friction with a small smoothing velocity."""
import math

import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy.integrate import quad
from scipy.optimize import brentq

METHODS = {"tolerance": 1e-9}, {"tolerance": 1e-8, "stiff": True}
INERTIA, FRICTION = 2.0, 3.0
WHEEL = {"gravity": [0, 0, 0], "links": [
    {"name": "wheel", "parent": "base", "inertial": {"mass": 1, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": INERTIA}},
     "joint": {"name": "axle", "type": "revolute", "axis": [0, 0, 1], "friction": {"coulomb": FRICTION}}}]}


STRIBECK = {"breakaway": {"positive": 4.5, "negative": 5}, "stribeck_velocity": 0.4}


def arm(velocity=0, **friction):
    """Two revolute joints in a vertical plane, and a prismatic joint on the last link."""
    friction = {"coulomb": {"positive": 2, "negative": 3}, "viscous": 0.4, "coulomb_velocity": velocity, **friction}
    return {"links": [
        {"name": "upper", "parent": "base", "inertial": body(2, (0, 0, -0.2)),
         "joint": {"name": "shoulder", "type": "revolute", "axis": [0, 1, 0], "friction": friction}},
        {"name": "fore", "parent": "upper", "inertial": body(1.5, (0.02, 0, -0.2)),
         "joint": {"name": "elbow", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0, 0, -0.4]}, "friction": {
             **friction, "coulomb": 1}}},
        {"name": "hand", "parent": "fore", "inertial": body(0.5, (0, 0, 0)),
         "joint": {"name": "slide", "type": "prismatic", "axis": [0, 0, 1], "origin": {"xyz": [0, 0, -0.3]}, "friction": {
             **friction, "coulomb": 4}, "spring": {"stiffness": 60, "rest": 0}}}]}


def driven(amplitude, frequency, duration):
    """Returns when and at which angles a wheel under a sinusoidal torque stops and starts, until `duration`."""
    q, t, slides, turns = 0.0, 0.0, 0, []
    force = lambda x: amplitude * math.sin(frequency * x)
    while t < duration:
        if slides == 0:  # at rest until the torque exceeds the friction
            grid = np.linspace(t, t + 2 * math.pi / frequency, 4001)
            k = next(k for k in range(1, len(grid)) if abs(force(grid[k])) > FRICTION)
            t = grid[k - 1] if k == 1 else brentq(lambda x: abs(force(x)) - FRICTION, grid[k - 1], grid[k], xtol=1e-14)
            slides = 1 if force(grid[k]) > 0 else -1
        else:
            t0, q0 = t, q
            rate = lambda x: (amplitude / frequency * (math.cos(frequency * t0) - math.cos(frequency * x))
                              - slides * FRICTION * (x - t0)) / INERTIA
            grid = np.linspace(t0, t0 + 4 * math.pi / frequency, 4001)[1:]
            k = next(k for k in range(1, len(grid)) if slides * rate(grid[k]) < 0)
            t = brentq(rate, grid[k - 1], grid[k], xtol=1e-14)
            q = q0 + (amplitude / frequency * (math.cos(frequency * t0) * (t - t0)
                                               - (math.sin(frequency * t) - math.sin(frequency * t0)) / frequency)
                      - slides * FRICTION * (t - t0) ** 2 / 2) / INERTIA
            slides = 0 if abs(force(t)) <= FRICTION else (1 if force(t) > 0 else -1)
        turns.append((t, q, slides))
    return turns


class Friction(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("wheel", WHEEL), ("arm", arm()), ("nearly", arm(2e-6)), ("stribeck", arm(**STRIBECK)),
                               ("nearly-stribeck", arm(2e-6, **STRIBECK))):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status == 201, answer

    def simulate(self, model, request, *outputs, **more):
        return self.ask(model, "simulate", {**request, **({"outputs": list(outputs)} if outputs else {}), **more})

    def test_a_wheel_that_is_braked(self):
        """A wheel with speed v stops after v I/F at the angle v^2 I/2F and stays at rest."""
        stop, angle = 2 * INERTIA / FRICTION, 4 * INERTIA / 2 / FRICTION
        for how in METHODS:
            for sign in (1, -1):
                a = self.simulate("wheel", {"q": [0], "qd": [2 * sign], "duration": 5, "times": [0, stop / 2, stop + 1e-6, 5], **how},
                                  "q", "qd", "qdd", "friction_work")
                self.assertClose(a["q"], [[0], [sign * angle * 0.75], [sign * angle], [sign * angle]], 1e-9)
                self.assertClose(a["qd"][1], [sign * 1.0], 1e-9)
                self.assertEqual(a["qd"][2:] + a["qdd"][2:], [[0]] * 4)
                self.assertClose(a["friction_work"][1:], [-3.0, -4.0, -4.0], 1e-9)

    def test_a_wheel_with_stribeck_friction(self):
        """A wheel with Stribeck friction stops after the integral of I / F(v), and starts only when the torque exceeds
        the breakaway friction."""
        breakaway, slow = 2 * FRICTION, 0.7
        document = {**WHEEL, "links": [{**WHEEL["links"][0], "joint": {**WHEEL["links"][0]["joint"], "friction": {
            "coulomb": FRICTION, "breakaway": breakaway, "stribeck_velocity": slow}}}]}
        self.put_model("grabbing", document)
        force = lambda v: FRICTION + (breakaway - FRICTION) * math.exp(-(v / slow) ** 2)
        stop = quad(lambda v: INERTIA / force(v), 0, 2, epsabs=1e-13)[0]
        angle = quad(lambda v: INERTIA * v / force(v), 0, 2, epsabs=1e-13)[0]
        for how in METHODS:
            for sign in (1, -1):
                a = self.simulate("grabbing", {"q": [0], "qd": [2 * sign], "duration": 5, "times": [stop + 1e-6, 5], **how}, "q", "qd",
                                  "friction_work")
                self.assertClose(a["q"], [[sign * angle]] * 2, 2e-8)
                self.assertEqual(a["qd"], [[0]] * 2)
                self.assertClose(a["friction_work"], [-4.0, -4.0], 2e-8)
            held = {"q": [0], "duration": 5, **how}
            self.assertEqual(self.simulate("grabbing", {**held, "samples": 3, "input": {"tau": [breakaway]}}, "q")["q"], [[0]] * 3)
            # Under breakaway + 0.1 N m, the time to a speed is the integral of I / (tau - F(v)).
            tau = breakaway + 0.1
            after = quad(lambda v: INERTIA / (tau - force(v)), 0, 0.9, epsabs=1e-13)[0]
            a = self.simulate("grabbing", {**held, "times": [after], "input": {"tau": [tau]}}, "qd")
            self.assertClose(a["qd"], [[0.9]], 1e-6)
        for torque, rate in ((breakaway, 0), (-breakaway, 0), (breakaway + 0.2, 0.1)):
            a = self.ask("grabbing", "forward-dynamics", {"q": [0], "tau": [torque], "friction_at_rest": "stick"})
            self.assertClose(a["qdd"], [rate], 1e-14)

    def test_what_friction_holds_stays(self):
        for torque in (FRICTION, -FRICTION, 1):
            a = self.simulate("wheel", {"q": [0.3], "duration": 9, "samples": 3, "input": {"tau": [torque]}, **METHODS[0]},
                              "q", "qd", "tau", "steps")
            self.assertEqual((a["q"], a["qd"], a["tau"]), ([[0.3]] * 3, [[0]] * 3, [[torque]] * 3))
        self.assertLess(a["steps"][-1], 200)
        # The wheel must move only from 1 s on, since the torque exceeds the friction from 1 s to 1.5 s.
        push = {"values": [[1], [5], [1]], "times": [0, 1, 1.5], "interpolation": "hold"}
        for how in METHODS:
            a = self.simulate("wheel", {"q": [0], "duration": 4, "times": [1, 1.5, 3], "input": {"tau": push}, **how}, "q", "qd")
            self.assertClose(a["q"], [[0], [0.125], [0.125 + 0.5 * 0.5 - 0.25 * 0.5]], 1e-8)
            self.assertClose(a["qd"], [[0], [0.5], [0]], 1e-8)

    def test_a_wheel_under_a_sine(self):
        for amplitude, frequency in ((4, 2), (9, 3), (3.2, 1), (30, 5)):
            turns = driven(amplitude, frequency, 8)
            for how in METHODS:
                times = [t for t, *_ in turns if t < 8]
                a = self.simulate("wheel", {"q": [0], "duration": 8, "times": times, "input": {
                    "tau": {"amplitude": [amplitude], "angular_frequency": [frequency]}}, **how}, "q", "qd")
                self.assertClose([q for q, in a["q"]], [q for _, q, _ in turns[:len(times)]], 1e-6, what=str((amplitude, how)))
                self.assertLess(max(abs(v) for v, in a["qd"]), 1e-6)

    def test_against_friction_that_is_nearly_sharp(self):
        """An arm under gravity, a spring and varying torques: every joint sticks at some time, as the only one and together with other
        joints."""
        request = {"q": [1.2, -0.5, 0.05], "duration": 4, "samples": 41, "input": {
            "tau": {"amplitude": [6, 2, 8], "angular_frequency": [2, 3, 5], "offset": [0, 0.5, 0]}}}
        for prefix, model in (("nearly", "arm"), ("nearly-stribeck", "stribeck")):
            nearly = self.simulate(prefix, request, "q", "qd", tolerance=1e-8, stiff=True)
            rests = np.abs(nearly["qd"]) < 1e-4
            self.assertTrue((rests.sum(axis=0) > 1).all() and (~rests).sum() > 40)
            for how in METHODS:
                a = self.simulate(model, request, "q", "qd", "steps", **how)
                self.assertClose(a["q"], nearly["q"], 3e-5, 1, str(how))
                self.assertTrue((np.array(a["qd"])[rests & (np.abs(np.array(a["qd"])) < 1e-4)] == 0).all())
                self.assertLess(a["steps"][-1], 3000)

    def test_energy(self):
        request = {"q": [1.2, -0.5, 0.05], "qd": [1, 2, -0.3], "duration": 3, "samples": 7,
                   "input": {"tau": {"amplitude": [6, 2, 8], "angular_frequency": [2, 3, 5]}}}
        for how in METHODS:
            a = self.simulate("arm", request, "kinetic", "potential", "actuator_work", "friction_work", **how)
            energy, work = np.add(a["kinetic"], a["potential"]), np.add(a["actuator_work"], a["friction_work"])
            self.assertClose((energy - energy[0]).tolist(), work.tolist(), 1e-6, what=str(how))
            self.assertEqual(a["friction_work"], sorted(a["friction_work"], reverse=True))

    def test_friction_of_followers(self):
        """A mimic joint adds its friction, times the multiplier, to that of its leader; a negative multiplier exchanges the limits of the two
        directions."""
        document = arm()
        document["links"][1]["joint"]["mimic"] = {"joint": "shoulder", "multiplier": -2}
        document["links"][1]["joint"]["friction"] = {"coulomb": {"positive": 0.5, "negative": 1.5}}
        self.put_model("follower", document)
        document["links"][1]["joint"]["friction"] = {}
        document["links"][0]["joint"]["friction"]["coulomb"] = {"positive": 2 + 2 * 1.5, "negative": 3 + 2 * 0.5}
        self.put_model("leader", document)
        request = {"q": [1.4, 0.02], "duration": 3, "samples": 7, "tolerance": 1e-8, "input": {
            "tau": {"amplitude": [9, 8], "angular_frequency": [2, 5]}}}
        a, b = (self.simulate(model, request, "q", "qd") for model in ("follower", "leader"))
        self.assertClose(a["q"], b["q"], 1e-7)
        self.assertGreater(np.abs(np.diff(a["q"], axis=0)).max(), 0.05)

    def test_same_bits_alone(self):
        rows = [[0.2 * i, -0.5, 0.01 * i] for i in range(11)]
        for how in ({"tolerance": 1e-6}, {"tolerance": 1e-5, "stiff": True}):
            request = {"duration": 1, "samples": 3, "input": {"tau": {"amplitude": [6, 2, 8], "angular_frequency": [2, 3, 5]}}, **how}
            outputs = "q", "qd", "qdd", "steps", "friction_work"
            batch = self.simulate("arm", {**request, "q": rows}, *outputs)
            for i in (0, 7, 10):
                self.assertEqual(self.simulate("arm", {**request, "q": rows[i]}, *outputs),
                                 {name: value[i] for name, value in batch.items()}, str(how))

    def test_without_friction_nothing_sticks(self):
        a = self.simulate("wheel", {"q": [0], "duration": 2, "samples": 2, "friction": False, "input": {"tau": [1]}, **METHODS[0]}, "q")
        self.assertClose(a["q"][1], [1.0], 1e-12)

    def test_a_published_robot_comes_to_rest(self):
        """The joints of a Puma stop one after another and keep their positions to the bit; the integrator needs few
        steps."""
        a = self.simulate("puma560", {"q": [0.1, -0.5, 1, 0.3, 0.4, 0.2], "qd": [1, 1, -1, 2, 2, 2], "duration": 30,
                                      "samples": 31, "tolerance": 1e-6}, "q", "qd", "steps", "kinetic")
        self.assertEqual(a["qd"][-1], [0] * 6)
        self.assertEqual(a["q"][-1], a["q"][-2])
        self.assertLess(a["steps"][-1], 1000)


if __name__ == "__main__":
    tap.main()
