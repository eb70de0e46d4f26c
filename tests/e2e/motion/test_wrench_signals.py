"""Tests wrenches that change in time, in simulate and trajectory: against SciPy's splines and integrators, against torque-derivative with the
wrench's values and rates, against differences; the same bits in single requests and in batches."""
import math

import cbor2
import numpy as np
import tap
from samples import SURROUNDINGS
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, CubicSpline
from simulated import Simulated

HELD = {"gravity": [0.5, -1, -9], "friction": True}
TIMES, VALUES = [0, 0.4, 0.9, 3], [[1, 2, 3], [-2, 4, 1], [2, 2, -1], [0, 1, 1]]
SINE = {"amplitude": [1, 0, 2], "angular_frequency": [3, 4, 5], "offset": [0, 0.5, 0], "phase": [0.1, 0, 0.3]}
POINTS, KNOTS = [[1, 2, 3], [-2, 4, 1], [2, 2, -1], [0, 1, 1], [1, 0, 0]], [0, 0, 0, 0, 0.3, 1, 1, 1, 1]
ABSOLUTE, EVEN = CubicSpline(TIMES, VALUES, bc_type="natural"), CubicSpline(np.linspace(0, 1, 4), VALUES, bc_type="natural")
STRETCHED = BSpline(KNOTS, np.array(POINTS, float), 3)
# Wrenches on links of `arm`: one with times in s, one over fractions of the duration, one with both and a constant component.
WRENCHES = [
    {"link": "c", "point": [0.1, -0.2, 0.3], "force": {"values": VALUES, "times": TIMES, "interpolation": "cubic"}, "torque": SINE},
    {"link": "c", "frame": "link", "force": {"degree": 3, "control_points": POINTS, "knots": KNOTS}, "torque": [1, 2, 3]},
    {"link": "a", "point": [0, 0.1, 0.2], "torque": {"values": VALUES, "interpolation": "cubic"}}]


def sine(t, order):
    turned = [w * t + p + order * math.pi / 2 for w, p in zip(SINE["angular_frequency"], SINE["phase"])]
    return [A * w ** order * math.sin(x) + (o if order == 0 else 0)
            for A, w, o, x in zip(SINE["amplitude"], SINE["angular_frequency"], SINE["offset"], turned)]


def written_out(t, T):
    """Returns the wrenches at time t with their rates, in the form for torque-derivative."""
    f = t / T
    return [{**WRENCHES[0], "force": list(ABSOLUTE(t)), "torque": sine(t, 0), "force_rate": list(ABSOLUTE(t, 1)),
             "torque_rate": sine(t, 1)},
            {**WRENCHES[1], "force": list(STRETCHED(f)), "force_rate": list(STRETCHED(f, 1) / T)},
            {**WRENCHES[2], "torque": list(EVEN(f)), "torque_rate": list(EVEN(f, 1) / T)}]


def at_times(wrenches):
    """Combines a list of wrenches for each state to one list of batched wrenches."""
    return [{k: v if k in ("link", "frame", "point") else [state[i][k] for state in wrenches] for k, v in w.items()}
            for i, w in enumerate(wrenches[0])]


class Trajectories(Simulated):
    STEPS = (-2e-3, -1e-3, 1e-3, 2e-3)
    T = 1.7

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(4)
        cls.points = rng.uniform(-0.8, 0.8, (6, 3)).round(3)

    def request(self, *outputs, **more):
        return {"degree": 5, "duration": self.T, "control_points": self.points.tolist(), "wrenches": WRENCHES, **HELD,
                "outputs": list(outputs), **more}

    def difference(self, values):
        a, b, c, d = map(np.array, values)
        return (a - 8 * b + 8 * c - d) / (12 * 1e-3)

    def check(self, got, expected, what):
        self.assertEqual(np.shape(got), np.shape(expected), what)
        self.assertLess(np.abs(np.subtract(got, expected)).max(), 5e-9 * (1 + np.abs(expected).max()), what)

    def test_efforts_are_those_of_the_wrenches_written_out(self):
        for times in ([0, 0.2, 0.4, 0.9, 1.3, self.T], [0.51]):
            a = self.ask("arm", "trajectory", self.request("q", "qd", "qdd", "qddd", "tau", "tau_dot", "joint_wrenches", times=times))
            held = {"wrenches": at_times([written_out(t, self.T) for t in times]), **HELD}
            states = {k: a[k] for k in ("q", "qd", "qdd", "qddd")}
            expected = self.ask("arm", "torque-derivative", {**states, **held, "outputs": ["tau", "tau_dot", "joint_wrenches"]})
            for name in expected:
                self.assertClose(a[name], expected[name], 1e-13, what=name)

    def test_gradients_by_differences(self):
        self.check_gradients("arm", (0, 0.123, 0.49, 0.77, 1))

    def test_gradients_where_friction_depends_on_the_load(self):
        """Compares at times at which no load changes its sign."""
        document = self.ok(self.client.get("/v1/models/arm/document"))
        for link, load in zip(document["links"], (0.15, 0.3, 0.2)):
            link["joint"]["friction"] = {"load": load, "coulomb": 0.1, "coulomb_velocity": 4, "viscous": 0.2}
        self.put_model("loaded", document)
        self.check_gradients("loaded", (0, 0.21, 0.49, 0.77, 1))

    def check_gradients(self, model, fractions):
        of = {"dtau": "tau", "dtau_dot": "tau_dot", "d_joint_wrenches": "joint_wrenches"}
        times = [f * self.T for f in fractions]
        exact = self.ask(model, "trajectory", self.request(*(f"{d}_dcontrol_points" for d in of), dense=True, times=times))
        moved = [self.points.copy() for _ in range(6 * 3 * 4)]
        for i, points in enumerate(moved):
            points[i // 12, i // 4 % 3] += self.STEPS[i % 4]
        served = self.ask(model, "trajectory", self.request(*of.values(), times=times, control_points=[p.tolist() for p in moved]))
        for d, y in of.items():
            columns = [self.difference(served[y][i:i + 4]) for i in range(0, len(moved), 4)]
            expected = np.moveaxis(columns, 0, -1)
            self.check(exact[f"{d}_dcontrol_points"], expected.reshape(*expected.shape[:-1], 6, 3), d)
        exact = self.ask(model, "trajectory", self.request(*(f"{d}_dduration" for d in of), samples=6))
        served = self.ask(model, "trajectory", self.request(*of.values(), samples=6, duration=[self.T + h for h in self.STEPS]))
        for d, y in of.items():
            self.check(exact[f"{d}_dduration"], self.difference(served[y]), f"{d} by the duration")

    def test_tau_dot_is_the_rate_of_tau(self):
        times = [0.123, 0.49, 1.3]
        a = self.ask("arm", "trajectory", self.request("tau_dot", times=times))
        around = self.ask("arm", "trajectory", self.request("tau", times=[t + h for t in times for h in self.STEPS]))
        self.check(a["tau_dot"], [self.difference(around["tau"][i:i + 4]) for i in (0, 4, 8)], "tau_dot")

    def test_robots_with_loops(self):
        push = [{"link": "coupler", "point": [0.1, -0.2, 0.3], "force": {"values": VALUES, "times": TIMES, "interpolation": "cubic"},
                 "torque": SINE}]
        request = {"degree": 5, "control_points": [[0.5], [0.6], [0.4], [0.7], [0.5], [0.45]], "wrenches": push}
        outputs = ["tau", "tau_dot", "joint_wrenches", "dtau_dduration", "d_joint_wrenches_dduration"]
        exact = self.ask("four_bar", "trajectory", {**request, "duration": self.T, "samples": 5, "outputs": outputs})
        served = self.ask("four_bar", "trajectory", {**request, "duration": [self.T + h for h in self.STEPS], "samples": 5,
                                                     "outputs": ["tau", "joint_wrenches"]})
        self.check(exact["dtau_dduration"], self.difference(served["tau"]), "tau")
        self.check(exact["d_joint_wrenches_dduration"], self.difference(served["joint_wrenches"]), "joint wrenches")
        times = [self.T / 2 + h for h in self.STEPS]
        around = self.ask("four_bar", "trajectory", {**request, "duration": self.T, "times": times, "outputs": ["tau"]})
        self.check(exact["tau_dot"][2], self.difference(around["tau"]), "tau_dot")

    def test_jumps_have_the_value_behind(self):
        """At a jump of a signal the value after the jump counts: for a rod at rest, tau balances the acting torque."""
        request = {"degree": 1, "duration": 3, "control_points": [[0], [0]], "samples": 11, "outputs": ["tau"]}
        torque = {"values": [[0, 1, 0], [0, 2, 0], [0, -4, 0]], "interpolation": "hold"}
        for signal in (torque, {**torque, "times": [0, 0.9, 2.1]}):
            a = self.ask("pendulum", "trajectory", {**request, "wrenches": [{"link": "rod", "torque": signal}]})
            jumps = signal.get("times", [0, 1, 2])
            expected = [-1 if 3 * n / 10 < jumps[1] - 1e-12 else -2 if 3 * n / 10 < jumps[2] - 1e-12 else 4 for n in range(11)]
            self.assertEqual([t for t, in a["tau"]], expected)

    def test_same_bits_alone(self):
        """A motion has the same bits in a batch with motions of other durations as in a request of its own."""
        forces = np.random.default_rng(2).uniform(-9, 9, (5, 7, 3)).round(2).tolist()
        durations = [0.7, 1.1, 2.3, 0.9, 1.9]
        outputs = ["tau", "tau_dot", "dtau_dduration", "dtau_dot_dduration"]
        for signal in ({"interpolation": "cubic"}, {"interpolation": "hold"}, {}, {"times": [0, 0.1, 0.5, 1, 1.6, 2, 2.4]},
                       {"times": [0, 0.1, 0.5, 1, 1.6, 2, 2.4], "interpolation": "hold"}):
            wrench = lambda values: [{"link": "c", "force": {"values": values, **signal}, "torque": SINE}]
            request = self.request(*outputs, samples=4)
            batch = self.ask("arm", "trajectory", {**request, "duration": durations, "wrenches": wrench(forces)})
            for b, T in enumerate(durations):
                alone = self.ask("arm", "trajectory", {**request, "duration": T, "wrenches": wrench(forces[b])})
                self.assertEqual(alone, {k: rows[b] for k, rows in batch.items()}, (signal, b))


class Simulations(Simulated):
    START = {"q": [0.3, 0.1, -0.4], "qd": [0.5, -0.2, 1]}
    BALANCE = ("kinetic", "potential", "actuator_work", "friction_work", "wrench_work")

    def test_against_scipy(self):
        """Compares with SciPy's integration of forward-dynamics, called with the values of the wrenches at each time."""
        T = 0.6
        def rate(t, y):
            wrenches = [{k: v for k, v in w.items() if not k.endswith("_rate")} for w in written_out(t, T)]
            request = {"q": list(y[:3]), "qd": list(y[3:]), "tau": [0, 0, 0], "wrenches": wrenches, **HELD}
            return list(y[3:]) + self.ask("arm", "forward-dynamics", request)["qdd"]
        y = self.START["q"] + self.START["qd"]
        for a, b in zip([0, 0.3 * T, 0.2, 0.4, 0.4, T], [0.3 * T, 0.2, 0.4, 0.4, T]):  # integrates from kink to kink
            y = solve_ivp(rate, (a, b), y, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1] if b > a else y
        for how in ({"step": 5e-4}, {"tolerance": 1e-11}, {"tolerance": 1e-11, "stiff": True}):
            a = self.simulate("arm", {**self.START, **HELD, "wrenches": WRENCHES, "duration": T, "samples": 2, **how}, "q", "qd", "qdd")
            self.assertClose(a["q"][1] + a["qd"][1], list(y), 1e-9)
            self.assertClose(a["qdd"][1], rate(T, a["q"][1] + a["qd"][1])[3:], 1e-12)

    def test_jumps_cost_no_accuracy(self):
        """Steps end at the jumps of each of two simultaneous torques; the work is that of each interval in closed form.
        """
        wrenches = [{"link": "rod", "torque": {"values": [[0, 1, 0], [0, -2, 0], [0, 3, 0]], "times": [0, 0.37, 0.81], "interpolation": "hold"}},
                    {"link": "rod", "torque": {"values": [[0, 0.5, 0], [0, 0, 0]], "times": [0, 0.5], "interpolation": "hold"}}]
        inertia = 2 * (0.1 ** 2 + 1) / 12 + 2 * 0.5 ** 2
        for how in ({"step": 0.3}, {"tolerance": 1e-10}):
            a = self.simulate("pendulum", {"q": [0], "duration": 1, "samples": 2, "gravity": [0, 0, 0], "wrenches": wrenches, **how},
                              "q", "qd", "wrench_work")
            q = v = work = 0.0
            for torque, span in ((1.5, 0.37), (-1.5, 0.13), (-2, 0.31), (3, 0.19)):
                ahead = q + v * span + torque / inertia * span ** 2 / 2
                q, v, work = ahead, v + torque / inertia * span, work + torque * (ahead - q)
            self.assertClose(a["q"][1] + a["qd"][1] + [a["wrench_work"][1]], [q, v, work], 1e-12)

    def test_energy(self):
        """Checks that the change of energy equals the answered work, with a controller, a payload and friction, for a tree, a free body, a loop
        and a robot with held frames."""
        push = [{**WRENCHES[0], "link": "rod"}]
        q = [0, 0, 0, 0, 0, 0, 1, 0.2]
        cases = [("arm", {**self.START, **SURROUNDINGS, "wrenches": WRENCHES, "input": {
                     "controller": "pd_gravity", "kp": 20, "kd": 3, "reference": [0, 0, 0]}}),
                 ("swimmer", {"q": q, "qd": [0.1, 0, 0, 0.2, 0.3, 0.1, 1], "wrenches": push}),
                 ("swimmer", {"q": q, "held": [{"frame": "hull"}], "wrenches": push}),
                 ("four_bar", {"q": [0.5], "wrenches": [{**WRENCHES[0], "link": "coupler"}]})]
        for model, request in cases:
            for how in ({"step": 2e-4}, {"tolerance": 1e-10}, {"tolerance": 1e-10, "stiff": True}):
                a = self.simulate(model, {**request, "duration": 0.5, "samples": 6, **how}, *self.BALANCE)
                energy = np.add(a["kinetic"], a["potential"])
                done = np.add(a["actuator_work"], np.add(a["friction_work"], a["wrench_work"]))
                self.assertLess(np.abs(energy - energy[0] - done).max(), 1e-7, (model, how))
                self.assertGreater(abs(a["wrench_work"][-1]), 0.01)

    def test_same_bits_alone(self):
        values = np.random.default_rng(6).uniform(-3, 3, (11, 5, 3)).round(3).tolist()
        wrench = lambda values, sine: [{"link": "c", "force": {"values": values, "interpolation": "cubic"}, "torque": {**SINE, "phase": sine}}]
        request = {**self.START, **HELD, "duration": 0.3, "samples": 4}
        for how in ({"step": 0.01}, {"tolerance": 1e-6}, {"tolerance": 1e-5, "stiff": True}):
            body = {**request, **how, "wrenches": wrench(values, [v[0] for v in values])}
            answer = self.client.post("/v1/models/arm/simulate", body)
            batch = self.ok(answer)
            for b in (0, 3, 10):
                alone = self.simulate("arm", {**request, **how, "wrenches": wrench(values[b], values[b][0])})
                self.assertEqual(alone, {name: rows[b] for name, rows in batch.items()}, (how, b))
            other = self.client.post("/v1/models/arm/simulate", cbor2.dumps(body), Content_Type="application/cbor", Accept="application/json")
            self.assertEqual(other.body, answer.body)

    def test_order_of_joints_does_not_turn_forces(self):
        request = {"duration": 0.5, "samples": 3, "step": 0.01, "wrenches": WRENCHES}
        plain = self.simulate("arm", {**request, **self.START}, "q")
        turn = lambda row: [row[2], row[0], row[1]]
        other = self.simulate("arm", {**request, "joints": ["branch", "turn", "slide"], **{k: turn(v) for k, v in self.START.items()}}, "q")
        self.assertEqual(other["q"], [turn(row) for row in plain["q"]])


class Errors(Simulated):
    def test_errors(self):
        motion = {"degree": 1, "duration": [1, 2], "control_points": [[0, 0, 0], [1, 1, 1]], "samples": 3}
        still = {"q": [0, 0, 0], "duration": 1, "step": 0.1, "samples": 2}
        cases = [("force", {"values": [[1, 2, 3]]}, "/values", "wrong-shape"),
                 ("force", {"values": [[1, 2], [3, 4]]}, "/values/0", "wrong-shape"),
                 ("torque", {"values": [[1, 2, 3]] * 2, "times": [0, 0.5]}, "/times/1", "bad-value"),
                 ("torque", {"amplitude": [1, 2, 3]}, "/angular_frequency", "missing-field"),
                 ("force", {"degree": 9, "control_points": [[1, 2, 3]] * 3}, "/degree", "bad-value"),
                 ("force", {"values": [[1, 2, 3]] * 2, "step": 1}, "/step", "unknown-field"),
                 ("force", {"values": [[[1, 2, 3]] * 2] * 3}, "/values", "wrong-shape"),
                 ("torque", {}, "", "missing-field"),
                 ("point", {"values": [[1, 2, 3]] * 2}, "", "wrong-type")]
        for name, signal, where, code in cases:
            wrenches = [{"link": "a"}, {"link": "c", name: signal}]
            for operation, request in (("trajectory", motion), ("simulate", still)):
                if operation == "simulate" and "values" in signal and len(signal["values"]) == 3:
                    continue  # for simulate these values are a valid batch of three wrenches
                answer = self.client.post(f"/v1/models/arm/{operation}", {**request, "wrenches": wrenches})
                problem = self.assertProblem(answer, 422, f"/wrenches/1/{name}{where}")
                self.assertEqual(problem["code"], code, problem)
        # samples must cover the longest of the durations
        reach = [{"link": "c", "force": {"values": [[1, 2, 3]] * 2, "times": [0, 1.9]}}]
        self.assertProblem(self.client.post("/v1/models/arm/trajectory", {**motion, "wrenches": reach}), 422, "/wrenches/0/force/times/1")
        # operations without time refuse signals
        answer = self.client.post("/v1/models/arm/inverse-dynamics", {"q": [0, 0, 0], "wrenches": [{"link": "c", "force": {"values": [[1, 2, 3]]}}]})
        self.assertEqual(self.assertProblem(answer, 422, "/wrenches/0/force")["code"], "wrong-type")


if __name__ == "__main__":
    tap.main()
