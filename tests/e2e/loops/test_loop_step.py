"""Tests steps and rollouts of mechanisms with closed loops: equations, Jacobians against extrapolated differences,
assemblies, bits and problems."""
import numpy as np
import tap
from closed import LOADS, only
from floating import turned
from lagrange import extrapolated
from loop_steps import DRIVEN, H, INTEGRATORS, MATRICES, LoopSteps
from parallel_robots import quaternion


class Steps(LoopSteps):
    def passive(self, model, full, n=None):
        """Returns the passive coordinates in `full`, of node n if given: the guess for the next step."""
        active = self.ok(self.client.get(f"/v1/models/{model}"))["position_names"]
        values = full["q"] if n is None else full["q"][n]
        return [x for name, x in zip(full["position_names"], values) if name not in active]

    def test_jacobians(self):
        for model in self.MODELS:
            for integrator in INTEGRATORS:
                request = {**LOADS[model], "step": H, "integrator": integrator}
                self.check_jacobians(model, only(self.state(model, 31), *DRIVEN), request, f"{model} {integrator}")

    def other_assembly(self):
        """Returns a state of the five-bar with a guess that selects its other assembly."""
        s, guess = only(self.state("five_bar", 32), *DRIVEN), [-2.93, -3.3]
        first = self.full("five_bar", {"q": s["q"]})["q"]
        other = self.full("five_bar", {"q": s["q"], "guess": guess})["q"]
        self.assertGreater(np.abs(np.subtract(first, other)).max(), 0.5)
        return s, guess

    def test_other_assembly(self):
        s, guess = self.other_assembly()
        for integrator in INTEGRATORS:
            self.check_jacobians("five_bar", s, {"step": H, "integrator": integrator, "guess": guess}, f"other {integrator}")

    def test_floating_base(self):
        """Compares the columns of the matrices by the tangent coordinates of the base with differences; the base turns by the exponential
        map."""
        choose = np.random.default_rng(33)
        q = [0.1, -0.2, 0.3, *quaternion(choose.uniform(-0.4, 0.4, 3)), 1.9, 1.2]
        s = {"q": q, "qd": choose.uniform(-0.5, 0.5, 8).tolist(), "tau": choose.uniform(-2, 2, 8).tolist()}
        for integrator in INTEGRATORS:
            request = {"step": H, "integrator": integrator}
            A = np.array(self.ask("borne", "step", {**s, **request})["state_matrix"])
            size = 2e-3
            rows = [turned(q, sign * size / part * e) for e in np.eye(8) for part in (1, 2, 4) for sign in (1, -1)]
            batch = self.ask("borne", "step", {"q": [list(row) for row in rows], **only(s, "qd", "tau"), **request})
            columns = extrapolated([[*p[:3], *p[7:], *v] for p, v in zip(batch["q_after"], batch["qd_after"])], size)
            after = self.ask("borne", "step", {**s, **request})["q_after"]
            # the tangent coordinates e_v of the base's translation move the base by R e_v
            R = np.array([(np.array(turned(after, e)) - after)[:3] for e in np.eye(8)[:3]]).T
            self.near(columns[:3], R @ A[:3, :8], 1e-8, integrator)
            self.near(columns[3:5], A[6:8, :8], 1e-8, integrator)
            self.near(columns[5:], A[8:, :8], 1e-8, integrator)

    def test_euler_equations(self):
        for model in self.MODELS:
            s = only(self.state(model, 34), *DRIVEN)
            qdd = np.array(self.ask(model, "forward-dynamics", {**s, **LOADS[model]})["qdd"])
            forward = self.ask(model, "forward-sensitivity", {**s, **LOADS[model]})
            n = len(qdd)
            for integrator in INTEGRATORS[:2]:
                answer = self.ask(model, "step", {**s, **LOADS[model], "step": H, "integrator": integrator})
                qd = np.array(s["qd"]) + H * qdd
                self.near(answer["qd_after"], qd, 1e-14, model)
                used = s["qd"] if integrator == "explicit_euler" else qd
                self.near(answer["q_after"], np.array(s["q"]) + H * np.array(used), 1e-14, model)
                rows = np.array(answer["state_matrix"])[n:]
                self.near(rows, np.hstack([H * np.array(forward["dqdd_dq"]), np.eye(n) + H * np.array(forward["dqdd_dqd"])]), 1e-13, model)

    def test_wrench_and_parameter_matrices(self):
        """Compares the derivatives of a step by wrenches, and by the mass of a payload at the origin of a link, with differences."""
        for model, link in (("five_bar", "right_rod"), ("delta", "platform")):
            s = only(self.state(model, 35), *DRIVEN)
            wrenches = [{"link": link, "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "point": [0.02, 0.01, 0]}]
            bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
            for integrator in INTEGRATORS[1:]:
                request = {**s, "step": H, "integrator": integrator, "outputs": ["q_after", "qd_after"]}
                more = self.ask(model, "step", {**request, "wrenches": wrenches, "outputs": ["wrench_matrix", "parameter_matrix"]})
                loaded = {**request, "wrenches": wrenches}

                def pulled(size):
                    force = np.array([3, -2, 1, 0.3, 0.2, 0.4]) + size
                    return self.after(model, {**loaded, "wrenches": [{**wrenches[0], "force": list(force[:3]), "torque": list(force[3:])}]})({})
                size = 0.5
                slopes = extrapolated([pulled(sign * size / part * e) for e in np.eye(6) for part in (1, 2, 4) for sign in (1, -1)], size)
                self.near(more["wrench_matrix"][0], slopes, 1e-7, f"{model} {integrator}")
                masses = [self.after(model, {**loaded, "payload": [{"link": link, "mass": 0.5 + sign * 0.02 / part, "com": [0, 0, 0]}]})({})
                          for part in (1, 2, 4) for sign in (1, -1)]
                columns = self.ask(model, "step", {**loaded, "payload": [{"link": link, "mass": 0.5, "com": [0, 0, 0]}],
                                                   "outputs": ["parameter_matrix"]})["parameter_matrix"]
                self.near(np.array(columns)[:, 10 * bodies.index(link)], extrapolated(masses, 0.02)[..., 0], 1e-7, f"{model} {integrator}")

    def test_batches(self):
        """A row has the same bits in a request of one row and in a batch, whichever other outputs are selected."""
        for model in self.MODELS:
            s = only(self.states(model, 11, 36), *DRIVEN)
            for integrator in INTEGRATORS[1:]:
                request = {"step": H, "integrator": integrator, **LOADS[model]}
                outputs = [*MATRICES, "wrench_matrix", "parameter_matrix", "full"]
                batch = self.ask_texts(model, "step", {**s, **request, "outputs": outputs})
                one = self.ask_texts(model, "step", {**{k: v[9] for k, v in s.items()}, **request, "outputs": outputs})
                for name in outputs[:-1]:
                    self.assertEqual(batch[name][9], one[name], f"{model} {integrator} {name}")
                self.assertEqual(batch["full"]["q"][9], one["full"]["q"])
                for name in outputs:
                    alone = self.ask_texts(model, "step", {**s, **request, "outputs": [name]})
                    self.assertEqual(alone[name], batch[name], f"{model} {integrator} {name}")

    def test_beside_other_operations(self):
        """In evaluate, a step does not change the closed position that other operations use."""
        for model in self.MODELS:
            s = only(self.states(model, 5, 37), *DRIVEN)
            operations = {"step": {"step": 0.02, "integrator": "rk4"}, "forward-dynamics": {"outputs": ["qdd", "full"]},
                          "mass-matrix": {}, "forward-sensitivity": {}}
            both = self.ask_texts(model, "evaluate", {**s, "operations": operations})
            for name, options in operations.items():
                fields = only(s, "q") if name == "mass-matrix" else s
                self.assertEqual(both[name], self.ask_texts(model, name, {**fields, **options}), f"{model} {name}")

    def test_full(self):
        """The output `full` of a step is the tree's state at the start of the step, equal to that of forward-dynamics, for every integrator."""
        for model in self.MODELS:
            s = {**only(self.states(model, 3, 38), *DRIVEN), **LOADS[model]}
            expected = self.ask_texts(model, "forward-dynamics", {**s, "outputs": ["full"]})["full"]
            for integrator in INTEGRATORS:
                given = self.ask_texts(model, "step", {**s, "step": H, "integrator": integrator, "outputs": ["full", "q_after"]})
                self.assertEqual(given["full"], expected, f"{model} {integrator}")

    def check_chain(self, model, s, torques, request):
        """Checks that every node of a rollout has the bits of `step` from the node before, with the passive coordinates of that node as the
        guess."""
        outputs = [*MATRICES, "full"]
        rollout = {**only(s, "q", "qd"), "torques": torques, **request, "outputs": outputs}
        texts, values = self.ask_texts(model, "rollout", rollout), self.ask(model, "rollout", rollout)
        for row in range(len(s["q"])):
            q, qd, guess = s["q"][row], s["qd"][row], {k: v[row] for k, v in request.items() if k == "guess"}
            for n in range(len(torques[row])):
                step = {**request, "q": q, "qd": qd, "tau": torques[row][n], **guess, "outputs": outputs}
                alone = self.ask_texts(model, "step", step)
                for name in MATRICES:
                    self.assertEqual(texts[name][row][n], alone[name], f"{model} {request} {row} {n} {name}")
                for name in ("q", "qdd", "loop_wrenches", "residual"):
                    self.assertEqual(texts["full"][name][row][n], alone["full"][name], f"{model} {row} {n} {name}")
                q, qd = values["q_after"][row][n], values["qd_after"][row][n]
                guess = {"guess": self.passive(model, {**values["full"], "q": values["full"]["q"][row]}, n)}

    def test_rollout_is_a_chain_of_steps(self):
        for model in self.MODELS:
            s = only(self.states(model, 3, 39), *DRIVEN)
            torques = [[list(np.multiply(tau, 1 + 0.1 * n)) for n in range(4)] for tau in s["tau"]]
            for integrator in INTEGRATORS[1:3]:
                self.check_chain(model, s, torques, {"step": H, "integrator": integrator})
        s, guess = self.other_assembly()
        s = {name: [value] * 2 for name, value in s.items()}
        self.check_chain("five_bar", s, [[tau] * 4 for tau in s["tau"]], {"step": H, "guess": [guess] * 2})

    def test_rollout_of_a_floating_mechanism(self):
        choose = np.random.default_rng(40)
        s = {"q": [[0.1, -0.2, 0.3, *quaternion(choose.uniform(-0.4, 0.4, 3)), 1.9, 1.2] for _ in range(2)],
             "qd": choose.uniform(-0.5, 0.5, (2, 8)).tolist()}
        for integrator in ("semi_implicit_euler", "rk4"):
            self.check_chain("borne", s, choose.uniform(-1, 1, (2, 5, 8)).tolist(), {"step": H, "integrator": integrator})

    def test_long_motions(self):
        """Over long motions the loops stay closed to rounding, the assembly does not change, and RK4 without friction and gravity keeps the
        energy."""
        s, guess = self.other_assembly()
        for model, q, more in (("five_bar", s["q"], {}), ("five_bar", s["q"], {"guess": guess}), ("delta", [0.4, 0.5, 0.3], {}),
                               ("four_bar", [0.5], {})):
            n = len(q)
            answer = self.ask(model, "rollout", {"q": q, "qd": [0.2] * n, "torques": np.zeros((200, n)).tolist(), "step": 0.004,
                                                 "integrator": "rk4", "friction": False, "gravity": [0, 0, 0], **more,
                                                 "outputs": ["q_after", "qd_after", "full"]})
            self.assertLess(max(answer["full"]["residual"]), 1e-12, model)
            tree = np.array(answer["full"]["q"])
            self.assertLess(np.abs(np.diff(tree, axis=0)).max(), 0.05, model)
            states = {"q": [q, *answer["q_after"][:-1]], "qd": [[0.2] * n, *answer["qd_after"][:-1]]}
            guesses = {"guess": [self.passive(model, answer["full"], k) for k in range(200)]}
            energy = self.ask(model, "energy", {**states, **guesses, "outputs": ["kinetic"]})["kinetic"]
            self.assertLess(np.ptp(energy), 1e-7 * energy[0], model)
            self.assertGreater(np.ptp(tree), 0.1)

    def test_problems(self):
        request = {"q": [2, 1.1], "tau": [0, 0], "step": H, "outputs": ["full"]}
        self.refused(self.client.post("/v1/models/two_link/step", request), "bad-value", "/outputs/0")

    # The first step shortens the legs until they cannot reach the platform; RK4 notices this within the step.
    FAST = {"q": [1] * 6, "qd": [-40] * 6, "step": 0.02}

    def test_loops_that_open(self):
        """The problem names the node; in a batch only the row fails."""
        tau = [0] * 6
        request, faster = {**self.FAST, "torques": [tau] * 3}, {"qd": [-100] * 6}
        answer = self.client.post("/v1/models/stewart/rollout", {**request, "integrator": "explicit_euler"})
        self.assertRegex(self.refused(answer, "loop-crossing", "/q"), "^step 1: ")
        answer = self.client.post("/v1/models/stewart/rollout", {**request, **faster, "integrator": "rk4"})
        self.assertRegex(self.refused(answer, "loop-crossing", "/q"), "^step 0: within the step ")
        for integrator, qd in (("explicit_euler", self.FAST["qd"]), ("rk4", faster["qd"])):
            rows = {**request, "integrator": integrator, "q": [self.FAST["q"]] * 6, "qd": [tau] * 6}
            rows["qd"][4] = qd
            good = self.ask("stewart", "rollout", {**rows, "q": self.FAST["q"], "qd": tau})
            self.refused(self.client.post("/v1/models/stewart/rollout", rows), "loop-crossing", "/q/4", row=4)
            answer = self.ask("stewart", "rollout", {**rows, "on_error": "row"})
            self.assertEqual([error["row"] for error in answer["errors"]], [4])
            self.assertIsNone(answer["q_after"][4])
            for row in (0, 3, 5):
                self.assertEqual([answer[name][row] for name in MATRICES], [good[name] for name in MATRICES], integrator)


if __name__ == "__main__":
    tap.main()
