"""Tests controllers of simulate on robots with passive joints, elastic joints and floating bases: against motions that
SciPy integrates from mass-matrix and bias, against the linear differential equation of tracking errors, and in static
equilibrium."""
import math

import numpy as np
import tap
from actuated import Actuated
from scipy.integrate import solve_ivp

METHODS = {"step": 1e-3}, {"tolerance": 1e-10}, {"tolerance": 1e-10, "stiff": True}
FEET = [{"frame": leg + "_FOOT", "axes": ["x", "y", "z"]} for leg in ("FL", "FR", "HL", "HR")]


def sine(amplitude, frequency, offset):
    return {"amplitude": amplitude, "angular_frequency": [frequency] * len(amplitude), "offset": offset}


class PassiveJoints(Actuated):
    REFERENCE = sine([0, 0.8], 3, [5, 0.4])  # amplitude 5 and offset 0.4 are those of the passive joint, which the controller ignores
    START = {"q": [0.7, -0.3], "qd": [-1, 2]}

    def control(self, controller, **more):
        return {"input": {"controller": controller, "kp": 100, "kd": 20, "reference": self.REFERENCE}, **more}

    def torques(self, controller, t, q, qd):
        """Returns the torque of an acrobot's controller and the accelerations under it."""
        M, h, g = self.dynamics("acrobot", q, qd)
        e, ed = 0.4 + 0.8 * math.sin(3 * t) - q[1], 2.4 * math.cos(3 * t) - qd[1]
        if controller == "pd_gravity":
            tau = 100 * e + 20 * ed + g[1]
            return tau, np.linalg.solve(M, np.array([0, tau]) - h)
        wanted = -7.2 * math.sin(3 * t) + 20 * ed + 100 * e
        passive = -(M[0, 1] * wanted + h[0]) / M[0, 0]
        return M[1, 0] * passive + M[1, 1] * wanted + h[1], np.array([passive, wanted])

    def test_acrobot(self):
        """The passive joint of an acrobot never carries torque, and the motion is that of SciPy's DOP853."""
        for controller in ("pd_gravity", "computed_torque"):
            expected = solve_ivp(lambda t, y: [*y[2:], *self.torques(controller, t, y[:2], y[2:])[1]], (0, 1),
                                 self.START["q"] + self.START["qd"], "DOP853", [0.5, 1], rtol=1e-11, atol=1e-12).y
            for how in METHODS:
                a = self.simulate("acrobot", {**self.START, "duration": 1, "times": [0, 0.5, 1], **how, **self.control(controller)},
                                  "times", "q", "qd", "tau", "position_error")
                self.assertEqual([tau[0] for tau in a["tau"]], [0, 0, 0])
                self.assertClose(np.hstack([a["q"], a["qd"]])[1:].tolist(), expected.T.tolist(), 1e-7, what=str(how))
                for t, q, qd, tau in zip(a["times"], a["q"], a["qd"], a["tau"]):
                    self.assertAlmostEqual(tau[1], self.torques(controller, t, q, qd)[0], delta=1e-10 * 100)

    def test_linear_errors(self):
        """Under computed_torque, errors of actuated coordinates follow e = e0 (1 + 10 t) exp(-10 t) + v0 t exp(-10 t),
        however passive coordinates move."""
        springy = sine([0.1, 0.5, 0, 0.3], 2, [0.2, 0, 9, 0.1])
        flyer = sine([0] * 6 + [0.4, -0.3] + [0] * 3, 3, [7] * 6 + [0.1, 0.2] + [7] * 3)
        flying = [0, 0, 0, 0, 0, 0, 1, 0.3, -0.2, 0, 0, 0, 1]
        for model, q, reference, actuated in (("acrobot", self.START["q"], self.REFERENCE, [1]),
                                              ("springy", [0.1, 0.2, -0.3, 0.1], springy, [1, 3]),
                                              ("flyer", flying, flyer, [6, 7])):
            for how in METHODS:
                a = self.simulate(model, {"q": q, "duration": 1, "times": [0, 0.1, 0.5, 1], **how, "input": {
                    "controller": "computed_torque", "kp": 100, "kd": 20, "reference": reference}}, "times", "tau",
                    "position_error", "velocity_error")
                e, v = (np.array(a[name])[:, actuated] for name in ("position_error", "velocity_error"))
                t = np.array(a["times"])[:, None]
                self.assertGreater(np.abs(v[0]).min(), 0.1)
                self.assertClose(e.tolist(), ((e[0] + (v[0] + 10 * e[0]) * t) * np.exp(-10 * t)).tolist(), 1e-6, what=str((model, how)))
                passive = [i for i in range(len(a["tau"][0])) if i not in actuated]
                self.assertEqual(np.abs(np.array(a["tau"])[:, passive]).max(), 0)

    def test_base_under_torques(self):
        """The efforts of computed_torque on a flying robot produce, by forward dynamics, the accelerations of the
        answer."""
        q, qd = [0.1, -0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 0.3, -0.2, 0, 0.6, 0, 0.8], [0.1 * i - 0.4 for i in range(11)]
        a = self.simulate("flyer", {"q": q, "qd": qd, "duration": 0.1, "times": [0], "step": 0.01, "input": {
            "controller": "computed_torque", "kp": 30, "kd": [0] * 6 + [2, 3, 0, 0, 0], "reference": [0] * 11}}, "tau", "qdd")
        wanted = [-30 * q[7] - 2 * qd[6], -30 * q[8] - 3 * qd[7]]
        self.assertClose(a["qdd"][0][6:8], wanted, 1e-12)
        M, h, _ = self.dynamics("flyer", q, qd)
        passive = [0, 1, 2, 3, 4, 5, 8, 9, 10]
        qdd = np.zeros(11)
        qdd[6:8] = wanted
        qdd[passive] = np.linalg.solve(M[np.ix_(passive, passive)], -(h + M @ qdd)[passive])
        self.assertClose(a["qdd"][0], qdd.tolist(), 1e-11)
        self.assertClose(a["tau"][0], (M @ qdd + h).tolist(), 1e-11)

    def test_elastic_joints_carry_gravity(self):
        """Under pd_gravity an arm with an elastic shoulder rests with its links at the reference, its motor deflected
        by gravity."""
        q = [0.6, -0.4, -0.2, 0]
        weight = self.dynamics("springy", q, [0] * 4)[2]
        self.assertAlmostEqual(weight[2], 0, delta=1e-12)  # the passive tail hangs vertically
        q[3] = q[0] + weight[0] / 400
        for how in METHODS:
            a = self.simulate("springy", {"q": q, "duration": 1, "samples": 3, **how, "input": {
                "controller": "pd_gravity", "kp": 50, "kd": 10, "reference": q}}, "q", "tau")
            self.assertClose(a["q"], [q] * 3, 1e-10)
            self.assertClose(a["tau"], [[0, weight[1], 0, weight[0]]] * 3, 1e-9)

    def test_skeleton(self):
        """Controllers must give zero effort at the floating base of a skeleton, which has no motors."""
        names = self.ok(self.client.get("/v1/models/gait55"))["velocity_names"]
        a = self.simulate("gait55", {"q": [0.3 * math.sin(i) for i in range(55)], "duration": 0.01, "samples": 2, "step": 0.005, "input": {
            "controller": "computed_torque", "kp": 100, "kd": 20, "reference": [0.1] * 55}}, "tau")
        self.assertEqual(names[:6], ["global_x", "global_y", "global_z", "global_yaw", "global_roll", "global_pitch"])
        self.assertEqual([tau[:6] for tau in a["tau"]], [[0] * 6] * 2)
        self.assertGreater(min(map(abs, a["tau"][0][6:])), 0)

    def test_refusals(self):
        def refused(model, code, text, **changes):
            drive = {"controller": "pd_gravity", "kp": 1, "kd": 1, "reference": changes.pop("reference"), **changes}
            about = self.ok(self.client.get("/v1/models/" + model))
            q = [float(name.endswith(".qw")) for name in about["position_names"]]
            answer = self.client.post(f"/v1/models/{model}/simulate", {"q": q, "duration": 1, "step": 0.1, "samples": 2, "input": drive})
            problem = self.assertProblem(answer, 422)
            self.assertEqual(problem["code"], code)
            self.assertIn(text, problem["detail"])
            return problem["pointer"]
        refused("acrobot", "not-supported", "upper_joint", controller="hua", reference=[0] * 2)
        refused("body", "not-supported", "no actuated joint", reference=[0] * 6)
        refused("flyer", "not-supported", "the floating base", controller="hua", reference=[0] * 11)
        ball = {"links": [{"name": "bob", "parent": "base", "joint": {"name": "shoulder", "type": "spherical"},
                           "inertial": {"solid": "sphere", "size": [0.1], "mass": 1, "xyz": [0, 0, -1]}}]}
        self.put_model("balled", ball)
        refused("balled", "not-supported", "shoulder is actuated and has a quaternion", reference=[0] * 3)


class Quadruped(Actuated):
    LEGS = [0, 0.6, -1.2] * 4
    STAND = [0, 0, 0, 0, 0, 0, 1] + LEGS
    REFERENCE = [0] * 6 + LEGS

    def test_stands(self):
        """With all feet held, the controller's torques are those of static equilibrium with the contact forces of least norm."""
        _, _, g = self.dynamics("solo12", self.STAND, [0] * 18)
        J = np.vstack([np.array(self.ask("solo12", "kinematics", {"q": self.STAND, "frame": foot["frame"], "outputs": [
            "jacobian"]})["jacobian"])[:3] for foot in FEET])
        forces = np.linalg.pinv(J[:, :6].T) @ g[:6]
        expected = g - J.T @ forces
        self.assertClose(expected[:6].tolist(), [0.0] * 6, 1e-12, 1)
        for controller in ("pd_gravity", "computed_torque"):
            for how in METHODS:
                a = self.simulate("solo12", {"q": self.STAND, "duration": 0.2, "samples": 3, "held": FEET, **how, "input": {
                    "controller": controller, "kp": 20, "kd": 2, "reference": self.REFERENCE}}, "q", "qd", "tau", "contact_wrenches")
                self.assertClose(a["q"], [self.STAND] * 3, 1e-10, 1, str(how))
                self.assertEqual(np.abs(np.array(a["tau"])[:, :6]).max(), 0)
                self.assertClose(a["tau"], [[0] * 6 + expected[6:].tolist()] * 3, 1e-9)
                self.assertClose(np.array(a["contact_wrenches"])[:, :, :3].reshape(3, 12).tolist(), [forces.tolist()] * 3, 1e-9)

    def least(self, model, q, held, passive, carried=()):
        """Returns the torques at rest at q by pseudo-inverses: those of static equilibrium, or of the least-squares
        solution where equilibrium is impossible."""
        _, _, g = self.dynamics(model, q, [0] * len(self.ok(self.client.get("/v1/models/" + model))["velocity_names"]))
        rows = [np.array(self.ask(model, "kinematics", {"q": q, "frame": place["frame"], "outputs": ["jacobian"]})["jacobian"])[
            ["xyz".index(axis) for axis in place["axes"]]] for place in held]
        J = np.vstack(rows)
        for joint, motor in carried:
            g[motor] += g[joint]
            J[:, motor] += J[:, joint]
            g[joint] = J[:, joint] = 0
        tau = g - J.T @ (np.linalg.pinv(J[:, passive].T) @ g[passive])
        tau[passive] = 0
        return tau.tolist()

    def test_frames_that_cannot_hold_the_robot(self):
        """On two feet or on one a quadruped cannot be in equilibrium: the server takes the least-squares contact
        forces. The same holds for an arm with a spring and a held passive tail, and for frames that are held twice."""
        held = [{"frame": "tail", "axes": ["x", "z"]}, {"frame": "lower", "axes": ["z"]}]
        for model, q, held, passive, carried in (
                ("solo12", self.STAND, FEET[:1] + FEET[3:], list(range(6)), ()), ("solo12", self.STAND, FEET[:1], list(range(6)), ()),
                ("solo12", self.STAND, FEET + FEET[:2], list(range(6)), ()), ("springy", [0.6, -0.4, 0.5, 0.7], held, [2], ((0, 3),)),
                ("springy", [0.6, -0.4, 0.5, 0.7], held + held, [2], ((0, 3),))):
            n = len(q) - (model == "solo12")
            a = self.simulate(model, {"q": q, "duration": 0.1, "times": [0], "step": 0.1, "held": held, "input": {
                "controller": "pd_gravity", "kp": 0, "kd": 0, "reference": [0] * n}}, "tau")
            self.assertClose(a["tau"][0], self.least(model, q, held, passive, carried), 1e-9, what=model)

    def test_returns(self):
        """The quadruped comes back to its stance from a lower posture."""
        low = [0, 0.8, -1.6] * 4
        for controller, kp in (("pd_gravity", 20), ("computed_torque", 100)):
            a = self.simulate("solo12", {"q": self.STAND[:7] + low, "duration": 2.5, "samples": 2, "tolerance": 1e-4,
                                         "stiff": True, "held": FEET,
                                         "input": {"controller": controller, "kp": kp, "kd": kp / 5, "reference": self.REFERENCE}},
                              "q", "qd", "position_error")
            self.assertGreater(np.abs(a["position_error"][0]).max(), 0.3)
            self.assertLess(np.abs(a["position_error"][-1]).max(), 1e-2)
            self.assertAlmostEqual(a["q"][-1][2], 0.32 * (math.cos(0.6) - math.cos(0.8)), delta=3e-3)

    def test_same_bits_alone(self):
        for controller in ("pd_gravity", "computed_torque"):
            for how in ({"step": 1e-3}, {"tolerance": 1e-3}, {"tolerance": 1e-2, "stiff": True}):
                request = {"duration": 0.005, "samples": 2, "held": FEET, **how, "input": {
                    "controller": controller, "kp": 5, "kd": 0.1, "reference": self.REFERENCE}}
                rows = [self.STAND[:7] + [0, 0.6 + 0.02 * i, -1.2 - 0.04 * i] * 4 for i in range(11)]
                batch = self.simulate("solo12", {**request, "q": rows})
                for i in (0, 7, 10):
                    self.assertEqual(self.simulate("solo12", {**request, "q": rows[i]}),
                                     {name: value[i] for name, value in batch.items()}, (controller, how))

    def test_follows_a_squat(self):
        """A quadruped follows a reference that keeps its feet in place: thighs and shanks have the same length, so the
        knee turns by -2 times the hip."""
        squat = {"values": [[0] * 6 + [0, x, -2 * x] * 4 for x in (0.6, 0.9, 0.5, 0.6)], "interpolation": "cubic"}
        start = self.simulate("solo12", {"q": self.STAND, "duration": 1, "times": [0], "step": 0.1, "input": {
            "controller": "pd_gravity", "kp": 0, "kd": 0, "reference": squat}}, "velocity_error")["velocity_error"][0]
        lift = -start[7] * 0.32 * math.sin(0.6)  # velocity of the base in its own axes, m/s
        qd = [0, 0, lift, 0, 0, 0] + start[6:]
        request = {"q": self.STAND, "qd": qd, "duration": 1, "samples": 5, "held": FEET, "input": {
            "controller": "computed_torque", "kp": 100, "kd": 20, "reference": squat}}
        for how in ({"step": 5e-3}, {"tolerance": 1e-7}, {"tolerance": 1e-7, "stiff": True}):
            a = self.simulate("solo12", {**request, **how}, "q", "qd", "tau", "position_error", "velocity_error")
            self.assertLess(np.abs(a["position_error"]).max(), 1e-6)
            self.assertGreater(np.abs(np.subtract(a["q"], a["q"][0])).max(), 0.2)


if __name__ == "__main__":
    tap.main()
