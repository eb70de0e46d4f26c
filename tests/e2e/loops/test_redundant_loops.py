"""Tests mechanisms with closed loops whose frames are held along linearly dependent axes: at rest, with contradictory
velocities, and damped, in forward-dynamics, steps and simulations."""
import numpy as np
import tap
from closed import LOADS, only
from contacts import AXES
from loop_steps import DRIVEN, H, INTEGRATORS, LoopSteps

# More held axes than the mechanism has coordinates.
HELD = {"five_bar": [{"frame": "tip", "axes": ["x", "y", "z"]}, {"frame": "right_rod", "axes": ["x", "rz"]}],
        "delta": [{"frame": "platform"}, {"frame": "rod1a", "axes": ["y", "rx"], "reference": "frame"}],
        "stewart": [{"frame": "platform"}, {"frame": "cylinder3", "axes": ["x", "ry"], "reference": "frame"}],
        "borne": [{"frame": "tip", "axes": ["x", "y", "z"]}, {"frame": "ground", "axes": ["x", "y", "z", "rx", "ry", "rz"]}]}


class RedundantLoops(LoopSteps):
    def rest(self, model, seed):
        if model != "borne":
            s = only(self.state(model, seed), *DRIVEN)
            return {**s, "qd": [0.0] * len(s["qd"])}
        return {"q": [0.1, -0.2, 0.3, 0, 0, 0.6, 0.8, 1.9, 1.2], "qd": [0.0] * 8, "tau": [0] * 6 + [0.5, -1]}

    def rows(self, model, s, held):
        """Returns J and J' qd of the held axes in the actuated coordinates."""
        J, drift = [], []
        for entry in held:
            k = self.ask(model, "kinematics", {**only(s, "q", "qd"), "frame": entry["frame"], "reference": entry.get("reference", "world"),
                                               "outputs": ["jacobian", "jacobian_dot"]})
            for axis in entry.get("axes", AXES):
                J.append(k["jacobian"][AXES.index(axis)])
                drift.append(np.dot(k["jacobian_dot"][AXES.index(axis)], s["qd"]))
        return np.array(J), np.array(drift)

    def chosen(self, held, values):
        return [value[AXES.index(axis)] for entry, value in zip(held, values) for axis in entry.get("axes", AXES)]

    def test_at_rest(self):
        """A held mechanism does not move, also with velocities of rounding size, and a simulation stays at its start."""
        for model, held in HELD.items():
            s = self.rest(model, 51)
            for speed in (0, 1e-16):
                given = {**s, "qd": [speed * (-1) ** i for i in range(len(s["qd"]))]}
                answer = self.ask(model, "forward-dynamics", {**given, "held": held})
                self.near(answer["qdd"], [0.0] * len(s["qd"]), 1e-9, model, least=10)
                after = self.ask(model, "step", {**given, "step": H, "held": held})["qd_after"]
                self.near(after, [0.0] * len(s["qd"]), 1e-11, model, least=1)
            for how in ({"step": 0.01}, {"tolerance": 1e-6}):
                a = self.ask(model, "simulate", {**only(s, "q"), "input": {"tau": s["tau"]}, "held": held, "duration": 0.05, "samples": 2,
                                                 **how})
                self.near(a["q"][1], s["q"], 1e-10, model)

    def test_contradictions(self):
        for model, held in HELD.items():
            s = {**self.rest(model, 52), "held": held}
            s["qd"] = [0.5 + 0.1 * i for i in range(len(s["qd"]))]
            for operation, more in (("forward-dynamics", {}), ("step", {"step": H})):
                answer = self.client.post(f"/v1/models/{model}/{operation}", {**s, **more})
                self.refused(answer, "contradictory-contacts")
                detail = answer.json()["detail"]
                for word in (held[0]["frame"], "contact_damping"):
                    self.assertIn(word, detail)
                self.ask(model, operation, {**s, **more, "contact_damping": 0.1})

    def test_damped_equations(self):
        """The wrenches l satisfy (J M^-1 J^T + damping) l = -(J qdd_0 + J' qd); the remaining acceleration is the
        residual. A step has the same acceleration."""
        for model, held in HELD.items():
            s = self.rest(model, 53)
            s["qd"] = [0.4 * np.cos(i) for i in range(len(s["qd"]))]
            J, drift = self.rows(model, s, held)
            M = np.array(self.ask(model, "mass-matrix", only(s, "q"))["mass_matrix"])
            free = np.array(self.ask(model, "forward-dynamics", s)["qdd"])
            for damping in (1e-3, 2):
                l = -np.linalg.solve(J @ np.linalg.solve(M, J.T) + damping * np.eye(len(J)), J @ free + drift)
                request = {**s, "held": held, "contact_damping": damping}
                answer = self.ask(model, "forward-dynamics", request)
                self.near(answer["qdd"], free + np.linalg.solve(M, J.T @ l), 1e-8, model)
                self.near(self.chosen(held, answer["contact_wrenches"]), l, 1e-8, model)
                self.near(self.chosen(held, answer["contact_residual"]), -damping * l, 1e-8, model)
                step = self.ask(model, "step", {**request, "step": H})
                self.near(step["qd_after"], np.add(s["qd"], np.multiply(H, answer["qdd"])), 1e-10, model)
                self.near(step["contact_residual"], answer["contact_residual"], 1e-9, model)

    def test_damped_jacobians(self):
        """Compares the matrices A and B of a step with extrapolated differences, with damping and with an impact before the step."""
        for model in ("five_bar", "delta"):
            s = only(self.state(model, 54), *DRIVEN)
            for integrator in INTEGRATORS:
                for impact in ({}, {"impact": True}):
                    request = {**LOADS[model], "step": H, "integrator": integrator, "held": HELD[model][:1], "contact_damping": 0.05, **impact}
                    self.check_jacobians(model, s, request, f"{model} {integrator} {impact}")

    def test_forward_sensitivity_is_refused_by_name(self):
        answer = self.client.post("/v1/models/five_bar/forward-sensitivity", {**self.rest("five_bar", 55), "held": HELD["five_bar"],
                                                                            "contact_damping": 0.1})
        self.assertEqual(self.assertProblem(answer, 422, "/held")["code"], "not-for-loops")


if __name__ == "__main__":
    tap.main()
