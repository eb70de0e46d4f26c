"""Tests steps and rollouts of mechanisms with closed loops and held frames: against forward dynamics and impacts,
Jacobians against extrapolated differences, bits and problems."""
import numpy as np
import tap
from closed import LOADS, only
from floating import turned
from lagrange import differences, extrapolated
from loop_steps import DRIVEN, H, INTEGRATORS, MATRICES, LoopSteps
from parallel_robots import quaternion

EULER = INTEGRATORS[:2]
MORE = [*MATRICES, "wrench_matrix", "parameter_matrix"]
# Held axes of the world and of turning frames, some of them linearly dependent.
HELD = {"five_bar": [{"frame": "tip", "axes": ["x"]}], "delta": [{"frame": "platform", "axes": ["x", "z", "rx"]}],
        "stewart": [{"frame": "platform", "axes": ["y", "rx", "rz"]}, {"frame": "cylinder3", "axes": ["x", "ry"], "reference": "frame"}]}
OTHER = {"five_bar": [{"frame": "right_rod", "axes": ["y"], "reference": "frame"}], "delta": [{"frame": "rod1a", "axes": ["z"]}],
         "stewart": [{"frame": "cylinder1", "axes": ["x", "y", "z"]}]}


class HeldSteps(LoopSteps):
    def test_jacobians(self):
        for model in HELD:
            s = only(self.state(model, 41), *DRIVEN)
            for held in (HELD[model], OTHER[model]):
                for integrator in INTEGRATORS:
                    for impact in [{}, {"impact": True}] if held is HELD[model] else [{}]:
                        request = {**LOADS[model], "step": H, "integrator": integrator, "held": held, **impact}
                        self.check_jacobians(model, s, request, f"{model} {integrator} {held} {impact}")

    def test_floating_base(self):
        """Compares the columns of the matrices by the tangent coordinates of the base with differences, with the tip held and with an
        impact of the tip."""
        choose = np.random.default_rng(42)
        q = [0.1, -0.2, 0.3, *quaternion(choose.uniform(-0.4, 0.4, 3)), 1.9, 1.2]
        s = {"q": q, "qd": choose.uniform(-0.5, 0.5, 8).tolist(), "tau": choose.uniform(-2, 2, 8).tolist()}
        for integrator in INTEGRATORS:
            for more in ({}, {"impact": True}, {"axes": ["x", "z"], "reference": "frame"}):
                held = [{"frame": "tip", "axes": ["x", "y", "z"], **{k: v for k, v in more.items() if k != "impact"}}]
                request = {"step": H, "integrator": integrator, "held": held, **only(more, *{"impact"} & more.keys())}
                answer = self.ask("borne", "step", {**s, **request})
                A, size = np.array(answer["state_matrix"]), 2e-3
                rows = [turned(q, sign * size / part * e) for e in np.eye(8) for part in (1, 2, 4) for sign in (1, -1)]
                batch = self.ask("borne", "step", {"q": [list(row) for row in rows], **only(s, "qd", "tau"), **request})
                columns = extrapolated([[*p[:3], *p[7:], *v] for p, v in zip(batch["q_after"], batch["qd_after"])], size)
                R = np.array([(np.array(turned(answer["q_after"], e)) - answer["q_after"])[:3] for e in np.eye(8)[:3]]).T
                self.near(columns[:3], R @ A[:3, :8], 1e-8, f"{integrator} {more}")
                self.near(columns[3:5], A[6:8, :8], 1e-8, f"{integrator} {more}")
                self.near(columns[5:], A[8:, :8], 1e-8, f"{integrator} {more}")
                for name, expected in (("qd", A[8:, 8:]), ("tau", np.array(answer["input_matrix"])[8:])):
                    self.near(differences(self.after("borne", {**s, **request}), s, name)[9:], expected, 1e-8, f"{integrator} {more}")

    def test_equations(self):
        """The acceleration of a step is that of forward dynamics with held frames, its velocity after an impact that of
        the operation impact."""
        for model in HELD:
            s, held = only(self.state(model, 43), *DRIVEN), {"held": HELD[model]}
            qdd = self.ask(model, "forward-dynamics", {**s, **LOADS[model], **held, "outputs": ["qdd"]})["qdd"]
            after = self.ask(model, "step", {**s, **LOADS[model], **held, "step": H})["qd_after"]
            self.near(after, np.add(s["qd"], np.multiply(H, qdd)), 1e-11, model)
            loads = only(LOADS[model], *{"payload"} & LOADS[model].keys())
            qd = self.ask(model, "impact", {**only(s, "q", "qd"), **loads, **held})["qd_after"]
            self.near(self.ask(model, "step", {**s, **LOADS[model], **held, "impact": True, "step": H})["qd_after"],
                      self.ask(model, "step", {**s, "qd": qd, **LOADS[model], **held, "step": H})["qd_after"], 1e-11, model)

    def test_dependent_directions(self):
        """A frame that is held twice moves as if held once."""
        for model in HELD:
            s = only(self.state(model, 44), *DRIVEN)
            for integrator in EULER:
                request = {**s, "step": H, "integrator": integrator, "impact": True, "outputs": MATRICES}
                once, twice = (self.ask(model, "step", {**request, "held": HELD[model] * n}) for n in (1, 2))
                for name in MATRICES:
                    self.near(twice[name], once[name], 1e-9, f"{model} {integrator} {name}")

    def test_wrench_and_parameter_matrices(self):
        """Compares the derivatives of a step by wrenches, and by the mass of a payload at the origin of a link, with differences."""
        for model, link in (("five_bar", "right_rod"), ("delta", "platform")):
            s = only(self.state(model, 45), *DRIVEN)
            wrench = {"link": link, "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "point": [0.02, 0.01, 0]}
            at = 10 * self.ok(self.client.get(f"/v1/models/{model}"))["bodies"].index(link)
            for integrator in INTEGRATORS[1:]:
                for impact in [integrator != "rk4"] if model == "delta" else [False, True]:
                    request = {**s, "step": H, "integrator": integrator, "held": HELD[model][:1], "impact": impact, "wrenches": [wrench],
                               "payload": [{"link": link, "mass": 0.5, "com": [0, 0, 0]}]}
                    what, size = f"{model} {integrator} {impact}", 0.5
                    more = self.ask(model, "step", {**request, "outputs": ["wrench_matrix", "parameter_matrix"]})

                    def pulled(change):
                        force = np.array([*wrench["force"], *wrench["torque"]]) + change
                        given = {**wrench, "force": list(force[:3]), "torque": list(force[3:])}
                        return self.after(model, {**request, "wrenches": [given]})({})
                    slopes = [pulled(sign * size / part * e) for e in np.eye(6) for part in (1, 2, 4) for sign in (1, -1)]
                    self.near(more["wrench_matrix"][0], extrapolated(slopes, size), 1e-7, what)
                    masses = [self.after(model, {**request, "payload": [{"link": link, "mass": 0.5 + sign * 0.02 / part, "com": [0, 0, 0]}]})({})
                              for part in (1, 2, 4) for sign in (1, -1)]
                    self.near(np.array(more["parameter_matrix"])[:, at], extrapolated(masses, 0.02)[..., 0], 1e-7, what)

    def test_batches(self):
        """A row has the same bits in a request of one row and in a batch, whichever other outputs are selected."""
        for model in HELD:
            s = only(self.states(model, 11, 46), *DRIVEN)
            for integrator in INTEGRATORS[1:3]:
                request = {"step": H, "integrator": integrator, **LOADS[model], "held": HELD[model], "impact": True}
                batch = self.ask_texts(model, "step", {**s, **request, "outputs": MORE})
                one = self.ask_texts(model, "step", {**{k: v[9] for k, v in s.items()}, **request, "outputs": MORE})
                for name in MORE:
                    self.assertEqual(batch[name][9], one[name], f"{model} {integrator} {name}")
                    alone = self.ask_texts(model, "step", {**s, **request, "outputs": [name]})
                    self.assertEqual(alone[name], batch[name], f"{model} {integrator} {name}")

    def test_rollout_with_phases(self):
        """Every node has the bits of a step with the held frames of its phase, and of an impact where a phase holds
        further frames."""
        for model in HELD:
            s = only(self.states(model, 2, 47), *DRIVEN)
            phases = [{"steps": 2}, {"steps": 2, "held": HELD[model]}, {"steps": 1, "held": OTHER[model]}, {"steps": 1}]
            nodes = [({}, False), ({}, False), (HELD[model], True), (HELD[model], False), (OTHER[model], True), ({}, False)]
            torques = [[list(np.multiply(tau, 1 + 0.1 * n)) for n in range(6)] for tau in s["tau"]]
            rollout = {**only(s, "q", "qd"), "torques": torques, "step": H, "phases": phases, "outputs": MATRICES}
            texts, values = self.ask_texts(model, "rollout", rollout), self.ask(model, "rollout", rollout)
            names = self.ok(self.client.get(f"/v1/models/{model}"))["position_names"]
            for row in range(2):
                q, qd, guess = s["q"][row], s["qd"][row], {}
                for n, (held, impact) in enumerate(nodes):
                    more = {"held": held, "impact": impact} if held else {}
                    alone = self.ask_texts(model, "step", {"q": q, "qd": qd, "tau": torques[row][n], "step": H, **guess, **more})
                    for name in MATRICES:
                        self.assertEqual(texts[name][row][n], alone[name], f"{model} {row} {n} {name}")
                    full = self.full(model, {"q": q, "qd": qd, "qdd": [0] * len(q), **guess})
                    guess = {"guess": [x for name, x in zip(full["position_names"], full["q"]) if name not in names]}
                    q, qd = values["q_after"][row][n], values["qd_after"][row][n]
            rest = self.ask(model, "rollout", {**rollout, "outputs": ["qd_after"]})["qd_after"]
            self.assertEqual(rest, values["qd_after"])

    def test_what_is_held_stays(self):
        """After the impact the platform does not move along its held axes."""
        s = only(self.state("delta", 48), "q", "qd")
        answer = self.ask("delta", "rollout", {**s, "torques": np.zeros((40, 3)).tolist(), "step": 1e-3, "integrator": "rk4",
                                               "phases": [{"steps": 1}, {"steps": 39, "held": HELD["delta"]}],
                                               "outputs": ["q_after", "qd_after"]})
        velocity = self.ask("delta", "kinematics", {"q": answer["q_after"], "qd": answer["qd_after"], "frame": "platform",
                                                    "outputs": ["velocity"]})["velocity"]
        self.assertGreater(np.abs(velocity[0][:3]).min(), 1e-2)
        self.assertLess(np.abs(np.array(velocity)[1:, [0, 2]]).max(), 1e-9)
        self.assertGreater(np.abs(velocity[-1][1]), 1e-2)

    def test_problems(self):
        s = {"q": [2, 1.1], "qd": [1, 0], "tau": [0, 0], "step": H}
        post = lambda more: self.client.post("/v1/models/five_bar/step", {**s, **more})
        whole = [{"frame": "tip"}, {"frame": "left_crank"}, {"frame": "right_rod"}]
        self.refused(post({"held": whole}), "contradictory-contacts", "/q")
        self.ok(post({"held": whole, "impact": True}))
        self.refused(post({"held": whole, "outputs": ["full"]}), "bad-value", "/outputs/0")
        rows = {"q": [s["q"]] * 3, "qd": [[0, 0], [1, 0], [0, 0]], "tau": [[0, 0]] * 3, "held": whole, "on_error": "row"}
        self.assertEqual([error["row"] for error in self.ok(post(rows))["errors"]], [1])


if __name__ == "__main__":
    tap.main()
