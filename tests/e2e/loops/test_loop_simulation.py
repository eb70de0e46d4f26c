"""Tests simulate of mechanisms with closed loops: against SciPy's integration of a closed-form equation, conservation
of energy, and controllers of platforms."""
import copy

import numpy as np
import tap
from closed import Closed
from linkages import FiveBar
from scipy.integrate import solve_ivp


class Simulation(Closed):
    def damped(self):
        document = copy.deepcopy(self.documents["four_bar"])
        for link, viscous in zip(document["links"], (5e-4, 1e-3, 0)):
            link["joint"]["friction"] = {"viscous": viscous}
        self.put_model("damped", document)
        return lambda q: 5e-4 + 1e-3 * self.four.ratios(q)[1]**2

    def test_falling_four_bar(self):
        """A four-bar under a crank torque and friction at two pins, through many turns, against SciPy's integration of
        the closed-form equation."""
        friction = self.damped()

        def slope(_, y):
            q, qd = y[:1], y[1:]
            return [y[1], (0.08 - friction(y[0]) * y[1] - self.four.bias(q, qd)[0]) / self.four.mass_matrix(q)[0, 0]]
        times = np.linspace(0, 0.6, 7)
        expected = solve_ivp(slope, (0, 0.6), [0.4, 1.0], "DOP853", times, rtol=1e-11, atol=1e-12).y.T
        self.assertGreater(expected[-1, 0], 6 * np.pi)
        for how, error in (({"step": 1e-4}, 5e-8), ({"tolerance": 1e-11}, 2e-10)):
            a = self.ask("damped", "simulate", {
                "q": [0.4], "qd": [1], "duration": 0.6, "samples": 7, "input": {"tau": [0.08]}, **how,
                "outputs": ["q", "qd", "kinetic", "potential", "actuator_work", "friction_work"]})
            self.near(np.hstack([a["q"], a["qd"]]), expected, 1e-6, how)
            total = np.add(a["kinetic"], a["potential"])
            self.near(total - a["actuator_work"] - a["friction_work"], [total[0]] * 7, error, how, max(a["kinetic"]))
            for q, qd, kinetic, potential in zip(*(np.array(a[n]) for n in ("q", "qd", "kinetic", "potential"))):
                # the loop is closed, in the assembly of the start
                self.near((kinetic, potential), self.four.energy(q, qd), 1e-10)

    def test_free_motion_keeps_energy(self):
        for model in ("five_bar", "delta", "stewart"):
            document = copy.deepcopy(self.documents[model])
            for link in document["links"]:
                link["joint"].pop("friction", None)
            self.put_model("free", document)
            s = self.state(model, 52)
            hold = self.ask("free", "bias", {"q": s["q"], "outputs": ["gravity"]})["gravity"]
            a = self.ask("free", "simulate", {
                "q": s["q"], "qd": s["qd"], "duration": 0.15, "step": 1e-3, "samples": 4, "input": {"tau": hold},
                "outputs": ["kinetic", "potential", "actuator_work", "q"]})
            total = np.add(a["kinetic"], a["potential"]) - a["actuator_work"]
            self.near(total, [total[0]] * 4, 1e-8, model)
            self.assertGreater(np.abs(np.subtract(a["q"][-1], a["q"][0])).max(), 0.01)

    def test_other_assembly(self):
        """A motion starts in the assembly of its guess and keeps it; a batch can contain both assemblies."""
        below = FiveBar(self.documents["five_bar"], -1)
        q = [2.0, 1.1]
        guess = [list(form.tree(np.array(q))[1::2]) for form in (self.five, below)]
        common = {"q": q, "duration": 0.2, "samples": 5, "step": 1e-3, "outputs": ["q", "qd", "kinetic", "potential"]}
        both = self.ask("five_bar", "simulate", {**common, "guess": guess})
        for r, form in enumerate((self.five, below)):
            alone = self.ask("five_bar", "simulate", {**common, "guess": guess[r]})
            self.assertEqual(alone, {name: rows[r] for name, rows in both.items()})
            for x, xd, kinetic, potential in zip(*(np.array(alone[n]) for n in common["outputs"])):
                self.near((kinetic, potential), form.energy(x, xd), 1e-10)

    def test_out_of_reach(self):
        """Motors push the elbows apart until the rods are stretched, which ends the simulation with a problem."""
        for how in ({"step": 1e-3}, {"tolerance": 1e-6}):
            answer = self.client.post("/v1/models/five_bar/simulate", {"q": [2, 1.1], "duration": 1, "samples": 2, **how,
                                                                       "input": {"tau": [0.5, -0.5]}})
            problem = self.assertProblem(answer, 422)
            self.assertIn(problem["code"], ("loop-crossing", "loop-singular", "integration-failed" if "step" in how else None), how)
            self.assertRegex(problem["detail"], r"at 0\.3\d* s")

    def test_controlled(self):
        """Under computed_torque the errors of the platform's legs satisfy e'' + kd e' + kp e = 0."""
        q = self.state("stewart", 53)["q"]
        a = self.ask("stewart", "simulate", {"q": q, "duration": 0.5, "step": 2e-3, "times": [0, 0.1, 0.5], "input": {
            "controller": "computed_torque", "kp": 100, "kd": 20, "reference": [0.97] * 6}, "outputs": ["position_error"]})
        e = np.array(a["position_error"])
        self.near(e, [e[0] * (1 + 10 * t) * np.exp(-10 * t) for t in (0, 0.1, 0.5)], 1e-6)


if __name__ == "__main__":
    tap.main()
