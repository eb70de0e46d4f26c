"""Tests sensitivities, rates and gradients of mechanisms with closed loops against differences of the server's answers.
"""
import numpy as np
import tap
from closed import LOADS, MOTION, Closed, loads, only
from lagrange import differences, extrapolated, rate


class Derivatives(Closed):
    def slopes(self, model, operation, output, state, by):
        """Returns d output / d by, from differences of the server's answers."""
        def answer(rows):
            return self.ask(model, operation, {**rows, **LOADS[model], "outputs": [output]})[output]
        return differences(answer, state, by)

    def test_sensitivity(self):
        for model in self.MODELS:
            for seed in (21, 22):
                s = only(self.state(model, seed), *MOTION)
                answer = self.ask(model, "sensitivity", {**s, **LOADS[model], "outputs": ["tau", "dtau_dq", "dtau_dqd", "dtau_dqdd"]})
                for name in MOTION:
                    expected = self.slopes(model, "inverse-dynamics", "tau", s, name)
                    self.near(answer["dtau_d" + name], expected, 1e-8, f"{model} dtau_d{name}", np.abs(answer["tau"]).max())
                self.near(answer["tau"], self.ask(model, "inverse-dynamics", {**s, **LOADS[model]})["tau"], 1e-12, model)
                mass = self.ask(model, "mass-matrix", {"q": s["q"], **loads(model, "mass-matrix")})
                self.near(answer["dtau_dqdd"], mass["mass_matrix"], 1e-11, model)

    def test_joint_wrenches(self):
        for model in self.MODELS:
            s = only(self.state(model, 27), *MOTION)
            outputs = ["d_joint_wrenches_d" + name for name in MOTION]
            answer = self.ask(model, "sensitivity", {**s, **LOADS[model], "outputs": [*outputs, "joint_wrenches"]})
            for name, output in zip(MOTION, outputs):
                expected = self.slopes(model, "inverse-dynamics", "joint_wrenches", s, name)
                self.near(answer[output], expected, 1e-8, f"{model} {output}", np.abs(answer["joint_wrenches"]).max())

    def test_forward_sensitivity(self):
        for model in self.MODELS:
            s = only(self.state(model, 23), "q", "qd", "tau")
            outputs = ["qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau"]
            answer = self.ask(model, "forward-sensitivity", {**s, **LOADS[model], "outputs": outputs})
            for name in ("q", "qd", "tau"):
                expected = self.slopes(model, "forward-dynamics", "qdd", s, name)
                self.near(answer["dqdd_d" + name], expected, 1e-8, f"{model} dqdd_d{name}")
            self.near(answer["qdd"], self.ask(model, "forward-dynamics", {**s, **LOADS[model]})["qdd"], 1e-12, model)

    def test_torque_rate(self):
        for model in self.MODELS:
            s = only(self.state(model, 24), *MOTION, "qddd")
            expected = rate(lambda rows: self.ask(model, "inverse-dynamics", {**rows, **LOADS[model]})["tau"], s)
            answer = self.ask(model, "torque-derivative", {**s, **LOADS[model], "outputs": ["tau_dot", "joint_wrench_rates"]})
            self.near(answer["tau_dot"], expected, 1e-8, model)
            outputs = {**LOADS[model], "outputs": ["joint_wrenches"]}
            expected = rate(lambda rows: self.ask(model, "inverse-dynamics", {**rows, **outputs})["joint_wrenches"], s)
            self.near(answer["joint_wrench_rates"], expected, 1e-8, model)

    def test_trajectory(self):
        """Along a spline, tau and its rate must be those of inverse-dynamics and torque-derivative at the sampled states. Gradients by control
        points are compared with differences."""
        for model in ("five_bar", "delta"):
            first, last = self.states(model, 2, 28)["q"]
            points = np.linspace(first, last, 7)
            points[3] += 0.05
            motion = {"degree": 4, "duration": 0.8, "times": [0.1, 0.55]}
            answer = self.ask(model, "trajectory", {**motion, "control_points": points.tolist(), "dense": True, "outputs": [
                "q", "qd", "qdd", "qddd", "tau", "tau_dot", "dtau_dcontrol_points", "dtau_dduration"]})
            states = only(answer, *MOTION, "qddd")
            expected = self.ask(model, "torque-derivative", states)
            self.near(answer["tau"], expected["tau"], 1e-12, model)
            self.near(answer["tau_dot"], expected["tau_dot"], 1e-11, model)
            shape = points.shape

            def tau(rows):
                return self.ask(model, "trajectory", {**motion, "outputs": ["tau"], "control_points": [
                    np.reshape(row, shape).tolist() for row in rows["points"]]})["tau"]
            slopes = differences(tau, {"points": list(points.ravel())}, "points")
            self.near(answer["dtau_dcontrol_points"], slopes.reshape(2, shape[1], *shape), 1e-8, model)
            stretched = [self.ask(model, "trajectory", {
                **motion, "duration": 0.8 + t, "times": [0.1 * (1 + t / 0.8), 0.55 * (1 + t / 0.8)],
                "control_points": points.tolist(), "outputs": ["tau"]})["tau"]
                for part in (1, 2, 4) for t in (2e-3 / part, -2e-3 / part)]
            self.near(answer["dtau_dduration"], extrapolated(stretched, 2e-3)[..., 0], 1e-8, model)

    def test_by_loads(self):
        """tau is linear in gravity and wrenches, and qdd in wrenches, so differences are exact. Uses two wrenches."""
        for model, *links in (("four_bar", "coupler", "crank"), ("five_bar", "right_rod", "left_rod"), ("delta", "rod3b", "arm1"),
                              ("stewart", "platform", "cylinder3")):
            s = self.state(model, 26)
            wrenches = [{"link": links[0], "point": [0.1, 0.05, -0.02], "frame": "link"}, {"link": links[1], "point": [0.02, 0.1, 0.03]}]
            motion, driven = only(s, *MOTION), only(s, "q", "qd", "tau")
            answer = self.ask(model, "sensitivity", {**motion, "wrenches": wrenches, "outputs": ["dtau_dgravity", "dtau_dwrench"]})
            forward = self.ask(model, "forward-sensitivity", {**driven, "wrenches": wrenches, "outputs": ["dqdd_dwrench"]})
            units = [[{**wrench, "force": list(e[:3]), "torque": list(e[3:])} for e in np.eye(6)] for wrench in wrenches]
            for given, operation, output, state in ((answer["dtau_dwrench"], "inverse-dynamics", "tau", motion),
                                                    (forward["dqdd_dwrench"], "forward-dynamics", "qdd", driven)):
                still = self.ask(model, operation, state)[output]
                slopes = lambda unit: np.subtract(self.ask(model, operation, {**state, "wrenches": [unit]})[output], still)
                expected = [np.transpose([slopes(unit) for unit in six]) for six in units]
                self.near(given, expected, 1e-8, f"{model} {output}")
            tau = [np.array(self.ask(model, "inverse-dynamics", {**motion, "gravity": list(g)})["tau"]) for g in np.eye(4, 3)]
            self.near(answer["dtau_dgravity"], np.transpose([x - tau[3] for x in tau[:3]]), 1e-9, model)

    def test_motion_of_frames(self):
        """Jacobian, velocity, acceleration and jerk of a frame are derivatives of its pose."""
        frames = {"four_bar": "coupler_point", "five_bar": "tip", "delta": "tool", "stewart": "centre"}
        for model, frame in frames.items():
            s = only(self.state(model, 25), *MOTION, "qddd")
            at = {"frame": frame, "frames": [frame]}
            outputs = ["jacobian", "jacobian_dot", "velocity", "acceleration", "jerk"]
            answer = self.ask(model, "kinematics", {**s, **at, "outputs": outputs})
            place = lambda rows: self.ask(model, "kinematics", {**rows, **at, "outputs": ["poses"]})["poses"][frame]["position"]
            along = lambda output: rate(lambda rows: self.ask(model, "kinematics", {**rows, **at, "outputs": [output]})[output], s)
            self.near(answer["jacobian"][:3], differences(place, only(s, "q"), "q"), 1e-8, model)
            self.near(np.array(answer["jacobian"]) @ s["qd"], answer["velocity"], 1e-11, model)
            self.near(answer["jacobian_dot"], along("jacobian"), 1e-8, model)
            self.near(answer["acceleration"], along("velocity"), 1e-8, model)
            self.near(answer["jerk"], along("acceleration"), 1e-8, model)


if __name__ == "__main__":
    tap.main()
