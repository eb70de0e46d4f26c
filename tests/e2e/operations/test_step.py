"""Tests steps of integration and rollouts: equations, Jacobians against extrapolated differences, batches, and
problems."""
import numpy as np
import tap
from harness import ServerCase
from samples import chain, states

INTEGRATORS = ("explicit_euler", "semi_implicit_euler", "rk4", "implicit_euler")
MODELS = ("two_link", "panda", "hua", "solo12")
H = 0.004
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
MATRICES = ["q_after", "qd_after", "state_matrix", "input_matrix"]


def product(a, b):
    """Returns the product of two quaternions [x, y, z, w]."""
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(v, a[3] * b[3] - a[:3] @ b[:3])


def rotated(r, v):
    t = 2 * np.cross(r[:3], v)
    return v + r[3] * t + np.cross(r[:3], t)


class Steps(ServerCase):
    def state(self, model, seed, rows=1):
        nv = self.ok(self.client.get(f"/v1/models/{model}"))["nv"]
        s = states(rows, nv, model == "solo12", seed)
        return {name: np.array(s[name]) for name in ("q", "qd", "tau")}

    def moved(self, model, q, e):
        """Moves the position q by e in its tangent space; solo12 has a floating base."""
        if model != "solo12":
            return q + e
        angle = np.linalg.norm(e[3:6])
        turn = np.append(0.5 * np.sinc(angle / 2 / np.pi) * e[3:6], np.cos(angle / 2))
        return np.concatenate([q[:3] + rotated(q[3:7], e[:3]), product(q[3:7], turn), q[7:] + e[6:]])

    def tangent(self, model, q, to):
        """Returns the first-order difference in tangent space between q and a nearby position."""
        if model != "solo12":
            return to - q
        back = q[3:7] * [-1, -1, -1, 1]
        turn = product(back, to[3:7])
        return np.concatenate([rotated(back, to[:3] - q[:3]), 2 * turn[:3] * np.sign(turn[3]), to[7:] - q[7:]])

    def test_jacobians(self):
        """Compares each column with central differences over two distances, extrapolated."""
        for model in MODELS:
            for integrator in INTEGRATORS:
                with self.subTest(model=model, integrator=integrator):
                    self.check_jacobians(model, integrator)

    HELD = {"panda": [[{"frame": "panda_link7", "axes": ["x", "z"]}],
                      [{"frame": "panda_link7"}],
                      [{"frame": "panda_link6", "axes": ["rx", "ry", "rz"]}],
                      [{"frame": "panda_link7", "axes": ["rz", "y", "rx", "ry"], "reference": "frame"}],
                      [{"frame": "panda_link5", "axes": ["y", "rx"], "reference": "frame"}]],
            "solo12": [[{"frame": foot, "axes": ["x", "y", "z"]} for foot in FEET],
                       [{"frame": FEET[0], "reference": "frame"}, {"frame": FEET[1], "axes": ["z", "rz"]}],
                       [{"frame": "HL_LOWER_LEG"}, {"frame": FEET[3], "axes": ["y", "ry"]}]]}

    def test_jacobians_with_held_frames(self):
        for model, cases in self.HELD.items():
            for held in cases:
                for integrator in INTEGRATORS:
                    with self.subTest(model=model, integrator=integrator, held=held):
                        self.check_jacobians(model, integrator, held=held)

    def test_held_branch_of_a_small_tree(self):
        """Two joints on a floating base, with a frame held on the second: one state, and the same state in a batch."""
        body = {"mass": 1, "com": [0.1, 0.2, 0.3], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}
        links = [{"name": name, "parent": "base", "inertial": body,
                  "joint": {"name": f"turn_{name}", "type": "revolute", "axis": axis, "origin": {"xyz": axis}}}
                 for name, axis in (("first", [0, 1, 0]), ("second", [1, 0, 0]))]
        self.ok(self.client.put("/v1/models/branches", {"base": {"type": "floating", "inertial": body}, "links": links}), 201)
        s = {"q": [0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5, 0.3, 0.4], "qd": [1, -1, 2, 0.5, 1, -2, 1, 2],
             "tau": [0, 0, 0, 0, 0, 0, 1, 2], "step": H, "held": [{"frame": "second", "axes": ["x", "rx"]}]}
        for more in ({}, {"impact": True}, {"integrator": "rk4"}):
            with self.subTest(**more):
                one = self.ask("branches", "step", {**s, **more})
                rows = self.ask("branches", "step", {**s, **more, "q": [s["q"]] * 9})
                for name in MATRICES:
                    self.assertEqual(rows[name], [one[name]] * 9)

    def test_held_equations(self):
        """qd+ = qd + h qdd with qdd of forward-dynamics for the same held frames; redundant axes change nothing."""
        for model, cases in self.HELD.items():
            s = {name: list(value[0]) for name, value in self.state(model, 9).items()}
            for held in [*cases, cases[0] * 2]:
                qdd = np.array(self.ask(model, "forward-dynamics", {**s, "held": held})["qdd"])
                for outputs in (MATRICES, ["qd_after"]):
                    answer = self.ask(model, "step", {**s, "step": H, "held": held, "outputs": outputs})
                    change = (np.array(answer["qd_after"]) - s["qd"]) / H
                    self.assertClose(change.tolist(), qdd.tolist(), 1e-9)

    def test_jacobians_with_impact(self):
        for model, cases in self.HELD.items():
            for integrator in INTEGRATORS:
                with self.subTest(model=model, integrator=integrator):
                    self.check_jacobians(model, integrator, held=cases[0], impact=True)

    CHANGES = (1e-3, -1e-3, 2e-3, -2e-3)  # changes of a wrench or a parameter

    def check_column(self, model, column, steps):
        """Compares a column of a matrix with extrapolated differences of the steps after four changes."""
        after = np.array(steps[0]["q_after"])
        x = [np.concatenate([self.tangent(model, after, np.array(step["q_after"])), step["qd_after"]]) for step in steps]
        self.assertClose(list(column), ((8 * (x[0] - x[1]) - (x[2] - x[3])) / (12 * self.CHANGES[0])).tolist(), 1e-7)

    MORE = ["q_after", "qd_after", "wrench_matrix", "parameter_matrix"]
    LAST = {"panda": ("panda_link7", 6), "solo12": ("FR_LOWER_LEG", 6)}  # a link, and its index among the bodies

    def test_wrench_and_parameter_matrices(self):
        """Columns against differences by a wrench, and by the mass of a payload at a link's origin."""
        for model, (link, body) in self.LAST.items():
            s = {name: value[0].tolist() for name, value in self.state(model, 15).items()}
            for integrator in INTEGRATORS:
                for held in ({}, {"held": self.HELD[model][0]}, {"held": self.HELD[model][0], "impact": True}):
                    with self.subTest(model=model, integrator=integrator, held=held):
                        self.check_more(model, link, body, {**s, **held, "step": H, "integrator": integrator})

    def check_more(self, model, link, body, request):
        force = [3.0, -1.0, 2.0]
        wrench = lambda change: {"link": link, "force": [force[0], force[1] + change, force[2]], "torque": [0.1, 0.2, 0.3], "point": [0.1, 0, 0.05]}
        ask = lambda change, mass, outputs: self.ask(model, "step", {
            **request, "wrenches": [wrench(change)], "payload": [{"link": link, "mass": 0.5 + mass, "com": [0, 0, 0]}], "outputs": outputs})
        answer = ask(0, 0, self.MORE)
        self.check_column(model, np.array(answer["wrench_matrix"])[0, :, 1], [ask(d, 0, self.MORE[:2]) for d in self.CHANGES])
        masses = [ask(0, d, self.MORE[:2]) for d in self.CHANGES]
        parameters = np.array(answer["parameter_matrix"])
        bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
        self.check_column(model, parameters[:, 10 * bodies.index(link)], masses)

    def test_more_matrices_in_rollouts(self):
        """The matrices have the same bits in a rollout as in a step, also with phases and whichever other outputs are selected."""
        s = {name: value[0].tolist() for name, value in self.state("solo12", 16).items()}
        load = {"wrenches": [{"link": "base_link", "force": [1, 2, 3]}, {"link": "FL_FOOT", "torque": [0, 1, 0]}], "step": H}
        request = {"q": s["q"], "qd": s["qd"], "torques": [s["tau"]] * 3, **load,
                   "phases": [{"steps": 1}, {"steps": 2, "held": self.PHASES[0]["held"]}]}
        texts = self.ask_texts("solo12", "rollout", {**request, "outputs": [*MATRICES, *self.MORE[2:]]})
        few = self.ask_texts("solo12", "rollout", {**request, "outputs": ["parameter_matrix"]})
        values = self.ask("solo12", "rollout", request)
        step = self.ask_texts("solo12", "step", {
            "q": values["q_after"][0], "qd": values["qd_after"][0], "tau": s["tau"], **load, "held": self.PHASES[0]["held"],
            "impact": True, "outputs": [*MATRICES, *self.MORE[2:]]})
        for name in step:
            self.assertEqual(texts[name][1], step[name], name)
        self.assertEqual(texts["parameter_matrix"], few["parameter_matrix"])
        without = self.ask("solo12", "step", {**s, "step": H, "outputs": ["wrench_matrix"]})
        self.assertEqual(without["wrench_matrix"], [])

    def test_forward_sensitivity_with_held_frames(self):
        """The output qdd must be that of forward-dynamics, and its derivatives those in the matrices of a step of explicit Euler."""
        names = ["qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dqdd_dwrench"]
        for model, cases in self.HELD.items():
            s = {name: value.tolist() for name, value in self.state(model, 17, rows=5).items()}
            s["wrenches"] = [{"link": self.LAST[model][0], "force": [1, 2, 3]}]
            nv = len(s["qd"][0])
            for held in cases:
                answer = self.ask(model, "forward-sensitivity", {**s, "held": held, "outputs": names})
                qdd = self.ask(model, "forward-dynamics", {**s, "held": held})["qdd"]
                step = self.ask(model, "step", {**s, "held": held, "step": 1, "integrator": "explicit_euler",
                                                "outputs": ["state_matrix", "input_matrix", "wrench_matrix"]})
                A = np.array(step["state_matrix"])[:, nv:] - np.hstack([np.zeros((nv, nv)), np.eye(nv)])
                self.assertClose(answer["qdd"], qdd, 1e-10)
                self.assertClose(answer["dqdd_dq"], A[:, :, :nv].tolist(), 1e-12)
                self.assertClose(answer["dqdd_dqd"], A[:, :, nv:].tolist(), 1e-12)
                self.assertClose(answer["dqdd_dtau"], np.array(step["input_matrix"])[:, nv:].tolist(), 1e-12)
                self.assertClose(answer["dqdd_dwrench"], np.array(step["wrench_matrix"])[:, :, nv:].tolist(), 1e-12)
                one = self.ask(model, "forward-sensitivity", {**{k: s[k][3] for k in ("q", "qd", "tau")}, "wrenches": s["wrenches"],
                                                              "held": held, "outputs": ["dqdd_dq"]})
                self.assertEqual(one["dqdd_dq"], answer["dqdd_dq"][3])
        turn = [{"frame": "link2", "axes": ["x", "y", "rz"]}, {"frame": "link1", "axes": ["x", "y", "rz"]}]
        problem = self.assertProblem(self.client.post("/v1/models/two_link/forward-sensitivity", {
            "q": [0.3, 0.5], "qd": [1, -3], "tau": [0, 0], "held": turn}), 422)
        self.assertEqual(problem["code"], "contradictory-contacts")
        loops = self.ok(self.client.get("/v1/models/five_bar"))
        problem = self.assertProblem(self.client.post("/v1/models/five_bar/forward-sensitivity", {
            "q": [0] * loops["nq"], "tau": [0] * loops["nv"], "held": [{"frame": loops["bodies"][0], "axes": ["x"]}]}), 422, "/held")
        self.assertEqual(problem["code"], "not-for-loops")

    def test_impact_equations(self):
        """A step with an impact is the operation impact followed by a step; redundant axes change nothing."""
        for model, cases in self.HELD.items():
            s = {name: list(value[0]) for name, value in self.state(model, 11).items()}
            for held in [*cases, cases[0] * 2]:
                qd = self.ask(model, "impact", {"q": s["q"], "qd": s["qd"], "held": held})["qd_after"]
                expected = self.ask(model, "step", {**s, "qd": qd, "step": H, "held": held})
                answer = self.ask(model, "step", {**s, "step": H, "held": held, "impact": True})
                for name in ("q_after", "qd_after", "input_matrix"):
                    self.assertClose(answer[name], expected[name], 1e-10)

    # Stance, flight, a landing on two feet, then on all feet.
    PHASES = [{"steps": 2, "held": [{"frame": foot, "axes": ["x", "y", "z"]} for foot in FEET]}, {"steps": 3},
              {"steps": 2, "held": [{"frame": foot, "axes": ["x", "y", "z"]} for foot in FEET[:2]]},
              {"steps": 1, "held": [{"frame": foot, "axes": ["x", "y", "z"]} for foot in FEET]},
              {"steps": 2, "held": [{"frame": foot, "axes": ["x", "z"]} for foot in FEET[1:]]}]
    IMPACTS = (5, 7)  # nodes with an impact

    def test_phases_are_a_chain_of_steps(self):
        """Every node has the bits of a step with the held frames of its phase, and of an impact where a phase holds
        further frames."""
        s = self.state("solo12", 12, rows=3)
        held = [phase.get("held") for phase in self.PHASES for _ in range(phase["steps"])]
        torques = np.random.default_rng(3).normal(size=(3, len(held), 18))
        for integrator in ("semi_implicit_euler", "rk4"):
            settings = {"step": H, "integrator": integrator}
            rollout = {"q": s["q"].tolist(), "qd": s["qd"].tolist(), "torques": torques.tolist(), "phases": self.PHASES, **settings}
            texts, values = self.ask_texts("solo12", "rollout", rollout), self.ask("solo12", "rollout", rollout)
            short = self.ask_texts("solo12", "rollout", {**rollout, "outputs": ["qd_after"]})
            self.assertEqual(short["qd_after"], texts["qd_after"])
            for row in range(3):
                q, qd = s["q"][row].tolist(), s["qd"][row].tolist()
                for n, frames in enumerate(held):
                    more = {"held": frames, "impact": n in self.IMPACTS} if frames else {}
                    step = self.ask_texts("solo12", "step", {"q": q, "qd": qd, "tau": torques[row, n].tolist(), **settings, **more})
                    for name in MATRICES:
                        self.assertEqual(texts[name][row][n], step[name], f"{integrator} {row} {n} {name}")
                    q, qd = values["q_after"][row][n], values["qd_after"][row][n]

    def test_a_phase_lands(self):
        """After the impact the held feet do not move."""
        s = {name: value[0].tolist() for name, value in self.state("solo12", 13).items()}
        answer = self.ask("solo12", "rollout", {"q": s["q"], "qd": s["qd"], "step": 1e-4, "torques": [s["tau"]] * 6,
                                                "phases": [{"steps": 2}, {"steps": 4, "held": self.PHASES[0]["held"]}]})
        for foot in FEET:
            speeds = [max(abs(v) for v in self.ask("solo12", "kinematics", {
                "q": answer["q_after"][n], "qd": answer["qd_after"][n], "frame": foot, "outputs": ["velocity"]})["velocity"][:3])
                for n in (1, 2, 5)]
            self.assertGreater(speeds[0], 0.1)
            self.assertLess(max(speeds[1:]), 0.02 * speeds[0])

    def test_what_lands(self):
        """A phase begins with an impact if it holds a direction that the phase before did not hold: of another axis, frame or reference.
        Fewer directions, or the same in another order, cause none."""
        s = {name: value[0].tolist() for name, value in self.state("panda", 15).items()}
        hand = lambda axes, reference="world", frame="panda_flange": [{"frame": frame, "axes": axes, "reference": reference}]
        for first, then, lands in ((hand(["x", "z"]), hand(["z", "x"]), False), (hand(["x", "z"]), hand(["z"]), False),
                                   (hand(["x"]), hand(["y"]), True), (hand(["x"]), hand(["rx"]), True), (hand(["x", "z"]), hand(["x", "y"]), True),
                                   (hand(["x", "z"]), hand(["x", "z"], "frame"), True), (hand(["x"], "frame"), hand(["x"]), True),
                                   (hand(["x"]), hand(["x"], frame="panda_link7"), True),
                                   (hand(["x"]) + hand(["y"], "frame"), hand(["y"], "frame") + hand(["x"]), False)):
            answer = self.ask("panda", "rollout", {"q": s["q"], "qd": s["qd"], "step": H, "torques": [s["tau"]] * 2,
                                                   "phases": [{"steps": 1, "held": first}, {"steps": 1, "held": then}]})
            after = {"q": answer["q_after"][0], "qd": answer["qd_after"][0], "tau": s["tau"], "step": H, "held": then}
            struck, kept = (self.ask("panda", "step", {**after, "impact": impact})["qd_after"] for impact in (True, False))
            self.assertEqual(answer["qd_after"][1], struck if lands else kept, (first, then))
            self.assertNotEqual(struck, kept)

    def test_phases_in_one(self):
        """A single phase equals held frames for all nodes: the first node has no impact."""
        s = {name: value[0].tolist() for name, value in self.state("panda", 14).items()}
        request = {"q": s["q"], "qd": s["qd"], "torques": [s["tau"]] * 3, "step": H}
        held = self.HELD["panda"][0]
        self.assertEqual(self.ask_texts("panda", "rollout", {**request, "held": held}),
                         self.ask_texts("panda", "rollout", {**request, "phases": [{"steps": 3, "held": held}]}))
        self.assertEqual(self.ask_texts("panda", "rollout", {**request, "held": held}),
                         self.ask_texts("panda", "rollout", {**request, "phases": [{"steps": 1, "held": held}, {"steps": 2, "held": held}]}))

    def test_phase_problems(self):
        s = {"q": [0.3, 0.5], "qd": [1, -1], "torques": [[0, 0]] * 4, "step": H}
        held = [{"frame": "link2", "axes": ["y"]}]
        for phases, where in (([], "/phases"), ([{"steps": 3}], "/phases"), ([{"steps": 3}, {"steps": 2}], "/phases/1/steps"),
                              ([{"held": held}], "/phases/0/steps"), ([{"steps": 1.5}], "/phases/0/steps"), ([{"steps": 0}], "/phases/0/steps"),
                              ([{"steps": 4, "hold": held}], "/phases/0/hold"), ([{"steps": 1}] * 5, "/phases"), (3, "/phases"),
                              ([{"steps": 4, "held": [{"frame": "link9"}]}], "/phases/0/held/0/frame")):
            self.assertProblem(self.client.post("/v1/models/two_link/rollout", {**s, "phases": phases}), 422, where)
        self.assertProblem(self.client.post("/v1/models/two_link/rollout", {**s, "held": held, "phases": [{"steps": 4}]}), 422, "/phases")
        step = {"q": s["q"], "tau": [0, 0], "step": H}
        self.assertProblem(self.client.post("/v1/models/two_link/step", {**step, "impact": True}), 422, "/impact")
        self.assertProblem(self.client.post("/v1/models/two_link/step", {**step, "held": held, "impact": 1}), 422, "/impact")

    def test_phases_of_rows_that_fail(self):
        """Contradictory held frames in a phase fail the row; the problem names the node."""
        turn = [{"frame": "link2", "axes": ["x", "y", "rz"]}, {"frame": "link1", "axes": ["x", "y", "rz"]}]
        request = {"q": [[0.3, 0.5], [0.3, 0.5]], "qd": [[0, 0], [1, -3]], "torques": [[0, 0]] * 4, "step": H,
                   "phases": [{"steps": 4, "held": turn}]}
        problem = self.assertProblem(self.client.post("/v1/models/two_link/rollout", request), 422, row=1)
        self.assertEqual(problem["code"], "contradictory-contacts")
        answer = self.ask("two_link", "rollout", {**request, "phases": [{"steps": 1}, {"steps": 3, "held": turn}]})
        # the impact stops the arm, so the held frames are consistent
        self.assertLess(np.abs(answer["qd_after"][1][1:]).max(), 1e-12)

    def check_jacobians(self, model, integrator, **more):
        s, settings = self.state(model, 5), {"step": H, "integrator": integrator, **more}
        q, qd, tau = (s[name][0] for name in ("q", "qd", "tau"))
        nv = len(qd)
        answer = self.ask(model, "step", {"q": list(q), "qd": list(qd), "tau": list(tau), **settings})
        after = np.array(answer["q_after"])
        rows, distances = {"q": [], "qd": [], "tau": []}, (1e-4, -1e-4, 2e-4, -2e-4)
        for column in range(3 * nv):
            for distance in distances:
                change = np.zeros(3 * nv)
                change[column] = distance
                rows["q"].append(list(self.moved(model, q, change[:nv])))
                rows["qd"].append(list(qd + change[nv:2 * nv]))
                rows["tau"].append(list(tau + change[2 * nv:]))
        batch = self.ask(model, "step", {**rows, **settings, "outputs": ["q_after", "qd_after"]})
        got = np.hstack([answer["state_matrix"], answer["input_matrix"]])
        expected = np.empty_like(got)
        for column in range(3 * nv):
            x = [np.concatenate([self.tangent(model, after, np.array(batch["q_after"][4 * column + i])),
                                 batch["qd_after"][4 * column + i]]) for i in range(4)]
            expected[:, column] = (8 * (x[0] - x[1]) - (x[2] - x[3])) / 12e-4
        self.assertClose(got.tolist(), expected.tolist(), 1e-8)

    def test_euler_equations(self):
        """qd+ = qd + h qdd with qdd of forward-dynamics; joints with one coordinate move by h qd, or by h qd+."""
        for model in ("two_link", "panda"):
            s = {name: list(value[0]) for name, value in self.state(model, 6).items()}
            qdd = np.array(self.ask(model, "forward-dynamics", s)["qdd"])
            for integrator, weight in (("explicit_euler", 0), ("semi_implicit_euler", 1)):
                answer = self.ask(model, "step", {**s, "step": H, "integrator": integrator})
                after = np.array(s["qd"]) + H * qdd
                self.assertClose(answer["qd_after"], after.tolist(), 1e-14)
                used = after if weight else np.array(s["qd"])
                self.assertClose(answer["q_after"], (np.array(s["q"]) + H * used).tolist(), 1e-14)

    def test_batches(self):
        """A row has the same bits in a request of one row and in a batch, whichever other outputs are selected."""
        for model in MODELS:
            for integrator in INTEGRATORS:
                s = {name: value.tolist() for name, value in self.state(model, 7, rows=11).items()}
                settings = {"step": H, "integrator": integrator}
                batch = self.ask_texts(model, "step", {**s, **settings, "outputs": MATRICES})
                short = self.ask_texts(model, "step", {**s, **settings, "outputs": ["q_after", "qd_after"]})
                one = self.ask_texts(model, "step", {**{k: v[9] for k, v in s.items()}, **settings})
                for name in MATRICES:
                    self.assertEqual(batch[name][9], one[name], f"{model} {integrator} {name}")
                for name in short:
                    self.assertEqual(short[name], batch[name], f"{model} {integrator} {name}")

    def test_rollout_is_a_chain_of_steps(self):
        """Node n of a rollout has the bits of a step from the state after node n - 1."""
        for model in ("two_link", "solo12"):
            for integrator in ("semi_implicit_euler", "rk4"):
                s, settings = self.state(model, 8, rows=3), {"step": H, "integrator": integrator}
                torques = np.tile(s["tau"][:, None, :], (1, 5, 1)) * np.arange(1, 6)[:, None]
                answer = self.ask_texts(model, "rollout", {
                    "q": s["q"].tolist(), "qd": s["qd"].tolist(), "torques": torques.tolist(), **settings})
                values = self.ask(model, "rollout", {
                    "q": s["q"].tolist(), "qd": s["qd"].tolist(), "torques": torques.tolist(), **settings})
                for row in (0, 2):
                    q, qd = s["q"][row].tolist(), s["qd"][row].tolist()
                    for n in range(5):
                        step = self.ask_texts(model, "step", {"q": q, "qd": qd, "tau": torques[row, n].tolist(), **settings})
                        for name in MATRICES:
                            self.assertEqual(answer[name][row][n], step[name], f"{model} {integrator} {row} {n} {name}")
                        q, qd = values["q_after"][row][n], values["qd_after"][row][n]

    def test_rollouts_share(self):
        """`torques` may be one array that all rows share, or one array for each row. Without qd the velocities are zero."""
        torques = [[1, 0.1], [0.5, 0], [0, 0.2]]
        several = self.ask("two_link", "rollout", {"q": [[0.3, 0.5], [1, 0.5]], "torques": torques, "step": H})
        one = self.ask("two_link", "rollout", {"q": [1, 0.5], "qd": [0, 0], "torques": torques, "step": H})
        given = self.ask("two_link", "rollout", {"q": [1, 0.5], "torques": [torques] * 2, "step": H})
        for name in MATRICES:
            self.assertEqual(several[name][1], one[name])
            self.assertEqual(given[name], [one[name]] * 2)

    def test_joints(self):
        """The order of `joints` applies to both halves of the matrices, and to the torques of a rollout."""
        s = {"q": [0.3, 0.5], "qd": [1, -1], "tau": [1, 0.2], "step": H}
        turned = {**s, **{k: s[k][::-1] for k in ("q", "qd", "tau")}, "joints": ["joint2", "joint1"]}
        a, b = self.ask("two_link", "step", s), self.ask("two_link", "step", turned)
        order = [1, 0, 3, 2]
        self.assertEqual(np.array(a["state_matrix"])[np.ix_(order, order)].tolist(), b["state_matrix"])
        self.assertEqual(np.array(a["input_matrix"])[np.ix_(order, order[:2])].tolist(), b["input_matrix"])
        tau = turned.pop("tau")
        c = self.ask("two_link", "rollout", {**turned, "torques": [tau]})
        self.assertEqual([b[name] for name in MATRICES], [c[name][0] for name in MATRICES])

    def test_evaluate(self):
        s = {"q": [0.3, 0.5], "qd": [1, -1], "tau": [1, 0.2]}
        both = self.ask("two_link", "evaluate", {**s, "operations": {"step": {"step": H}, "forward-dynamics": {}}})
        self.assertEqual(both["step"], self.ask("two_link", "step", {**s, "step": H}))

    def test_problems(self):
        s = {"q": [0.3, 0.5], "tau": [1, 0.2]}
        post = lambda operation, request: self.client.post(f"/v1/models/two_link/{operation}", request)
        self.assertProblem(post("step", s), 422, "/step")
        for step in (0, -1):
            self.assertProblem(post("step", {**s, "step": step}), 422, "/step")
        self.assertProblem(post("step", {**s, "step": H, "integrator": "rk5"}), 422, "/integrator")
        self.assertProblem(post("rollout", {"q": s["q"], "step": H}), 422, "/torques")
        self.assertProblem(post("rollout", {"q": s["q"], "step": H, "torques": []}), 422, "/torques")
        self.assertProblem(post("rollout", {"q": s["q"], "step": H, "torques": [[1, 2, 3]]}), 422, "/torques/0")

    def test_rows_that_fail(self):
        """Only the row whose motion leaves the range of angles fails, and the problem names the node."""
        request = {"q": [[0, 0], [9.9e4, 0]], "qd": [[0, 0], [1e5, 0]], "torques": [[0, 0]] * 4, "step": 0.004}
        problem = self.assertProblem(self.client.post("/v1/models/two_link/rollout", request), 422, row=1)
        self.assertEqual(problem["code"], "angle-too-large")
        self.assertRegex(problem["detail"], r"^step [0-3]: ")
        answer = self.ask("two_link", "rollout", {**request, "on_error": "row"})
        self.assertEqual([error["row"] for error in answer["errors"]], [1])
        self.assertIsNone(answer["q_after"][1])
        good = self.ask("two_link", "rollout", {**request, "q": [0, 0], "qd": [0, 0]})
        self.assertEqual(answer["state_matrix"][0], good["state_matrix"])

    def test_the_deadline_holds(self):
        """The deadline also ends Newton's method for one state of a long chain, which does not converge here."""
        self.put_model("long", chain(200))
        state = {"q": [0.1] * 200, "qd": [100.0] * 200, "tau": [0] * 200, "step": 0.1, "integrator": "implicit_euler"}
        answer = self.client.request("POST", "/v1/models/long/step", state, {"Request-Timeout": "0.05"})
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")


if __name__ == "__main__":
    tap.main()
