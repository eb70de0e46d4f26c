"""Tests coupled transmissions: against the same mechanism written in motor coordinates with NumPy, identities between
operations, identification of the motors, and refusals."""
import copy
import math

import numpy as np
import tap
from harness import ServerCase
from samples import body


def link(name, parent, axis, x, mass, **joint):
    return {"name": name, "parent": parent,
            "joint": {"name": "at_" + name, "type": "revolute", "axis": axis, "origin": {"xyz": [x, 0.02, 0.1]}, **joint},
            "inertial": body(mass, (0.1, -0.03, 0.05))}


WRIST = [[0.02, 0], [0.015, -0.025]]  # joint rates = WRIST x motor rates; the last motor moves one joint only
MOTORS = [{"name": "pitch", "rotor_inertia": 3e-5, "friction": {"viscous": 2e-4, "coulomb": 0.01, "coulomb_velocity": 5},
           "limits": {"velocity": 150, "effort": 0.05, "effort_rate": 20}},
          {"name": "roll", "rotor_inertia": 2e-5, "friction": {"viscous": 1e-4, "coulomb": {"positive": 0.02, "negative": 0.01},
                                                              "breakaway": {"positive": 0.03, "negative": 0.02},
                                                              "stribeck_velocity": 20, "coulomb_velocity": 4}}]
PLAIN = {"links": [link("a", "base", [0, 0, 1], 0, 4, friction={"viscous": 0.5}),
                   link("b", "a", [0, 1, 0], 0.3, 3, rotor_inertia=0.2),
                   link("c", "b", [1, 0, 0], 0.3, 2, friction={"viscous": 0.1}),
                   link("d", "c", [0, 1, 0.2], 0.1, 1)],
         "frames": [{"name": "tool", "link": "d", "xyz": [0.1, 0, 0.05]}]}


def with_transmission(plain, joints, matrix=WRIST, motors=MOTORS):
    return {**copy.deepcopy(plain), "transmissions": [{"joints": joints, "matrix": matrix, "motors": motors}]}


HAND = copy.deepcopy(PLAIN)  # c and d are branches of the same link
HAND["links"][3]["parent"] = "b"
FREE = {**copy.deepcopy(HAND), "base": {"type": "floating", "inertial": body(5, (0, 0, 0.1))}}
MODELS = {"wrist": with_transmission(PLAIN, ["at_c", "at_d"]), "wrist-plain": PLAIN,
          "hand": with_transmission(HAND, ["at_d", "at_c"]), "hand-plain": HAND,
          "free": with_transmission(FREE, ["at_d", "at_c"]), "free-plain": FREE}
ORDER = {"wrist": [2, 3], "hand": [3, 2], "free": [9, 8]}  # indices of the coupled joints among the velocities


def friction_of(motor, rate):
    """Returns the friction of a motor at a rate, and its derivative by the rate."""
    f = motor["friction"]
    one = isinstance(f["coulomb"], dict)
    side = "positive" if rate >= 0 else "negative"
    fast = f["coulomb"][side] if one else f["coulomb"]
    v, vs = f["coulomb_velocity"], f.get("stribeck_velocity")
    t = np.tanh(rate / v)
    excess = (f["breakaway"][side] - fast) * np.exp(-(rate / vs) ** 2) if vs else 0
    slope = f["viscous"] + (fast + excess) * (1 - t * t) / v - (2 * rate / vs ** 2 * excess * t if vs else 0)
    return f["viscous"] * rate + (fast + excess) * t, slope


class Transmissions(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in MODELS.items():
            assert cls.client.put(f"/v1/models/{name}", document).status == 201, name

    def states(self, name, rows=3):
        """Draws states. Returns these and P, which maps qd to the motors' rates P qd."""
        random, nq, nv = np.random.default_rng(7), len(MODELS[name]["links"]), len(MODELS[name]["links"])
        floating = "base" in MODELS[name]
        q = random.uniform(-1, 1, (rows, nq + 7 * floating))
        if floating:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        nv += 6 * floating
        P = np.zeros((2, nv))
        P[:, ORDER[name]] = np.linalg.inv(WRIST)
        return {"q": q.tolist(), "qd": random.uniform(-2, 2, (rows, nv)).tolist(),
                "qdd": random.uniform(-3, 3, (rows, nv)).tolist()}, P

    # --- in motor coordinates ------------------------------------------------------------------------------------

    def test_torques_are_those_of_the_mechanism_in_motor_coordinates(self):
        """tau_m = A^T tau of the links + J qdd_m + friction, and tau = A^-T tau_m, for the coupled joints only."""
        J = np.diag([m["rotor_inertia"] for m in MOTORS])
        for name, joints in ORDER.items():
            state, P = self.states(name)
            links = np.array(self.ask(name + "-plain", "inverse-dynamics", state)["tau"])
            expected = links.copy()
            for row, (tau, qd, qdd) in enumerate(zip(links, state["qd"], state["qdd"])):
                motor = np.array(WRIST).T @ tau[joints] + J @ P @ qdd
                motor += [friction_of(m, rate)[0] for m, rate in zip(MOTORS, P @ qd)]
                expected[row, joints] = np.linalg.solve(np.array(WRIST).T, motor)
            self.assertClose(self.ask(name, "inverse-dynamics", state)["tau"], expected.tolist(), 1e-13, what=name)

    def test_mass_matrix_energy_and_derivatives(self):
        for name in ORDER:
            state, P = self.states(name)
            block = P.T @ np.diag([m["rotor_inertia"] for m in MOTORS]) @ P
            at = {key: state[key] for key in ("q", "qd")}
            M, plain = (np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
                        for model in (name, name + "-plain"))
            self.assertClose(M.tolist(), (plain + block).tolist(), 1e-14, what=name)
            inverse = self.ask(name, "mass-matrix", {"q": state["q"], "outputs": ["inverse"]})["inverse"]
            self.assertClose(inverse, np.linalg.inv(M).tolist(), 1e-11, what=name)
            T, without = (np.array(self.ask(model, "energy", at)["kinetic"]) for model in (name, name + "-plain"))
            self.assertClose(T.tolist(), [t + qd @ block @ qd / 2 for t, qd in zip(without, np.array(state["qd"]))], 1e-13)
            got, base = (self.ask(model, "sensitivity", state) for model in (name, name + "-plain"))
            damping = [P.T @ np.diag([friction_of(m, rate)[1] for m, rate in zip(MOTORS, P @ qd)]) @ P for qd in state["qd"]]
            self.assertClose(got["dtau_dqd"], (np.array(base["dtau_dqd"]) + damping).tolist(), 1e-12, what=name)
            self.assertClose(got["dtau_dqdd"], (np.array(base["dtau_dqdd"]) + block).tolist(), 1e-12, what=name)
            self.assertEqual(got["dtau_dq"], base["dtau_dq"], name)

    def test_forward_dynamics_undoes_inverse_dynamics(self):
        for name in ORDER:
            state, _ = self.states(name)
            tau = self.ask(name, "inverse-dynamics", state)["tau"]
            at = {"q": state["q"], "qd": state["qd"], "tau": tau}
            back = self.ask(name, "forward-dynamics", at)["qdd"]
            self.assertClose(back, state["qdd"], 1e-10, what=name)
            for row in range(3):
                one = self.ask(name, "forward-dynamics", {key: value[row] for key, value in at.items()})
                self.assertEqual(one["qdd"], back[row], name)
            by = self.ask(name, "forward-sensitivity", at)
            M = np.array(self.ask(name, "mass-matrix", {"q": state["q"]})["mass_matrix"])
            slopes = self.ask(name, "sensitivity", state)
            for kind in ("dq", "dqd"):
                expected = [-np.linalg.solve(m, s) for m, s in zip(M, np.array(slopes["dtau_" + kind]))]
                self.assertClose(by["dqdd_" + kind], np.array(expected).tolist(), 1e-8, what=name)

    def test_regressor_and_bias(self):
        """Friction is smoothed here, so only rotors and viscous friction are linear parameters."""
        for name in ORDER:
            document = copy.deepcopy(MODELS[name])
            for m in document["transmissions"][0]["motors"]:
                m["friction"] = {"viscous": m["friction"]["viscous"], "coulomb": 0.01}
            self.put_model("linear", document)
            state, P = self.states(name)
            names = len(document["links"]) + 2
            Y = np.array(self.ask("linear", "regressor", {**state, "outputs": ["joint_regressor"]})["joint_regressor"])
            self.assertEqual(Y.shape[2], 3 * names)
            whole, plain = (np.array(self.ask(model, "inverse-dynamics", state)["tau"]) for model in ("linear", name + "-plain"))
            values = [x for m in document["transmissions"][0]["motors"]
                      for x in (m["rotor_inertia"], m["friction"]["viscous"], 0.01)]
            self.assertClose((Y[:, :, -6:] @ values).tolist(), (whole - plain).tolist(), 1e-12, what=name)
            friction = [np.array(self.ask(model, "bias", {"q": state["q"], "qd": state["qd"], "outputs": ["friction"]})["friction"])
                        for model in ("linear", name + "-plain")]
            slow = np.array(Y[:, :, -6:]) @ [0 if i % 3 == 0 else x for i, x in enumerate(values)]
            self.assertClose((friction[0] - friction[1]).tolist(), slow.tolist(), 1e-12, what=name)

    def test_efforts_of_motors(self):
        """Motor efforts are A^T tau, in single requests and in batches, with free coordinates, with a reference velocity, and along
        simulations."""
        for name, joints in ORDER.items():
            state, _ = self.states(name, 9)
            both = {"outputs": ["tau", "motor_tau"]}
            free = {**state, "free": ["at_a"], "tau": [[0.3 if v == len(row) - 4 else 0 for v in range(len(row))] for row in state["qd"]],
                    "qdd": [[0 if v == len(row) - 4 else x for v, x in enumerate(row)] for row in state["qdd"]]}
            reference = {"q": state["q"], "qd": state["qd"], "qd_reference": state["qdd"], "qdd_reference": state["qd"]}
            for request in (state, free, reference):
                answer = self.ask(name, "inverse-dynamics", {**request, **both})
                expected = np.array(answer["tau"])[:, joints] @ np.array(WRIST)
                self.assertClose(answer["motor_tau"], expected.tolist(), 1e-14, what=name)
                alone = self.ask(name, "inverse-dynamics", {**request, "outputs": ["motor_tau"]})
                self.assertEqual(alone, {"motor_tau": answer["motor_tau"]})
                for row in (0, 8):
                    one = {key: value if key == "free" else value[row] for key, value in request.items()}
                    self.assertEqual(self.ask(name, "inverse-dynamics", {**one, **both})["motor_tau"], answer["motor_tau"][row])
        state, _ = self.states("wrist", 1)
        motion = {"q": state["q"][0], "qd": state["qd"][0], "duration": 0.1, "samples": 4, "integrator": "rk4", "step": 0.01,
                  "input": {"controller": "pd_gravity", "kp": 50, "kd": 5, "reference": [0.1, 0.2, 0.3, 0.4]}}
        answer = self.ask("wrist", "simulate", {**motion, "outputs": ["tau", "motor_tau"]})
        self.assertClose(answer["motor_tau"], (np.array(answer["tau"])[:, [2, 3]] @ np.array(WRIST)).tolist(), 1e-14)
        self.assertEqual(self.ask("wrist", "simulate", {**motion, "outputs": ["motor_tau"]}), {"motor_tau": answer["motor_tau"]})

    def test_limits_of_motors_in_simulations(self):
        """Efforts of a controller are clipped at the motors' limits; the reported excess is that of the effort before clipping."""
        most = {"pitch": {"velocity": 60, "effort": 0.3}, "roll": {"velocity": 30, "effort": 0.1}}
        document = copy.deepcopy(MODELS["wrist"])
        for motor in document["transmissions"][0]["motors"]:
            motor["limits"] = most[motor["name"]]
        self.put_model("bounded", document)
        drive = {"controller": "pd_gravity", "kp": 300, "kd": 20, "reference": [0.5, -0.5, 0.9, -0.8]}
        motion = {"q": [0] * 4, "qd": [0, 0, 0.5, 0], "duration": 0.1, "samples": 11, "integrator": "rk4", "step": 0.01,
                  "outputs": ["qd", "tau", "motor_tau", "limits", "least_margins"]}
        free = self.ask("bounded", "simulate", {**motion, "input": {**drive, "clip": False}})
        bound = self.ask("bounded", "simulate", {**motion, "input": drive})
        A, efforts = np.array(WRIST), np.array([most[name]["effort"] for name in most])
        before = np.array(free["motor_tau"][0])
        expected = np.array(free["tau"][0])
        self.assertTrue((np.abs(before) > efforts).all(), before)
        expected[2:] += np.linalg.solve(A.T, np.clip(before, -efforts, efforts) - before)
        self.assertClose(bound["tau"][0], expected.tolist(), 1e-13)
        self.assertTrue((np.abs(bound["motor_tau"]) <= efforts * (1 + 1e-12)).all(), bound["motor_tau"])
        rates = np.array(free["qd"])[:, 2:] @ np.linalg.inv(A).T
        expected = []
        for k, name in enumerate(most):
            for kind, of in (("effort", np.array(free["motor_tau"])[:, k]), ("velocity", rates[:, k])):
                n = int(np.abs(of).argmax())
                limit = most[name][kind]
                expected.append((name, kind, math.copysign(limit, of[n]), limit - abs(of[n]), n / 100))
        self.assertEqual([(m["joint"], m["kind"], m["limit"]) for m in free["least_margins"]], [e[:3] for e in expected])
        for name, column in (("margin", 3), ("time", 4)):
            self.assertClose([m[name] for m in free["least_margins"]], [e[column] for e in expected], 1e-12)
        self.assertEqual([(m["joint"], m["kind"], -m["excess"]) for m in free["limits"]],
                         [(m["joint"], m["kind"], m["margin"]) for m in free["least_margins"] if m["margin"] < 0])
        given = {"tau": [0.1, 0.2, 0, 0.3]}
        self.assertEqual(self.ask("bounded", "simulate", {**motion, "input": given})["tau"], [given["tau"]] * 11)
        passive = copy.deepcopy(document)
        passive["links"][3]["joint"]["actuated"] = False
        self.put_model("bounded", passive)
        margins = self.ask("bounded", "simulate", {**motion, "input": drive})["least_margins"]
        self.assertEqual([(m["joint"], m["kind"]) for m in margins], [("pitch", "velocity"), ("roll", "velocity")])

    def test_efforts_of_motors_that_are_refused(self):
        problem = self.client.post("/v1/models/wrist-plain/trajectory", {
            "degree": 2, "duration": 1, "samples": 2, "control_points": [[0] * 4] * 4, "outputs": ["motor_tau"]})
        self.assertProblem(problem, 422, "/outputs/0")
        for operation, more in (("inverse-dynamics", {}), ("simulate", {"duration": 1, "samples": 2, "step": 0.1, "integrator": "rk4"})):
            request = {"q": [0] * 4, "outputs": ["motor_tau"], **more}
            self.assertProblem(self.client.post(f"/v1/models/wrist-plain/{operation}", request), 422, "/outputs/0")
        five_bar = self.ok(self.client.get("/v1/models/five_bar/document"))
        self.put_model("driven", {**with_transmission(five_bar, ["right", "left"]), "name": "driven"})
        answer = self.ask("driven", "inverse-dynamics", {"q": [2, 1.1], "qdd": [1, 2], "outputs": ["tau", "motor_tau"]})
        self.assertClose(answer["motor_tau"], (np.array(answer["tau"])[[1, 0]] @ np.array(WRIST)).tolist(), 1e-14)
        self.put_model("passive", {**with_transmission(five_bar, ["right", "left_elbow"]), "name": "passive"})
        problem = self.assertProblem(self.client.post("/v1/models/passive/inverse-dynamics", {
            "q": [2, 1.1], "outputs": ["motor_tau"]}), 422)
        self.assertEqual(problem["code"], "not-for-loops")

    def test_margins_of_motors(self):
        """Margins of the motors' efforts A^T tau, their rates and the motors' rates P qd follow those of the joints;
        gradients against differences."""
        for name in ("wrist", "hand"):
            state, P = self.states(name, 4)
            state["qddd"] = np.random.default_rng(8).uniform(-3, 3, (4, 4)).tolist()
            rates = self.ask(name, "torque-derivative", state)
            A = np.array(WRIST)[:, 0]
            of = {"velocity": np.array(state["qd"]) @ P[0], "effort": np.array(rates["tau"])[:, ORDER[name]] @ A,
                  "effort_rate": np.array(rates["tau_dot"])[:, ORDER[name]] @ A}
            by = [f"dmargins_d{key}" for key in ("q", "qd", "qdd", "qddd")]
            answer = self.ask(name, "margins", {**state, "outputs": ["limits", "margins", *by]})
            most = MOTORS[0]["limits"]
            self.assertEqual(answer["limits"], [{"joint": "pitch", "kind": kind, "lower": -most[kind], "upper": most[kind]}
                                                for kind in of])
            expected = np.transpose([most[kind] - np.abs(value) for kind, value in of.items()])
            self.assertClose(answer["margins"], expected.tolist(), 1e-13, what=name)
            h = 1e-4
            for key, gradient in zip(("q", "qd", "qdd", "qddd"), by):
                moved = [{**state, key: (np.array(state[key]) + d * np.eye(4)[v]).tolist()} for v in range(4) for d in (h, -h)]
                m = np.array([self.ask(name, "margins", {**one, "outputs": ["margins"]})["margins"] for one in moved])
                slopes = np.moveaxis((m[0::2] - m[1::2]) / (2 * h), 0, -1)
                self.assertClose(answer[gradient], slopes.tolist(), 1e-6, scale=max(1, np.abs(slopes).max()), what=gradient)

    def test_motors_along_trajectories(self):
        """Efforts and margins are those at the samples' states; gradients of margins against differences."""
        points = np.random.default_rng(4).uniform(-1, 1, (6, 4))
        motion = {"degree": 4, "duration": 0.9, "samples": 5}
        states = ["q", "qd", "qdd", "qddd"]
        answer = self.ask("wrist", "trajectory", {**motion, "control_points": points.tolist(), "outputs": [
            *states, "tau", "motor_tau", "limits", "margins"]})
        self.assertClose(answer["motor_tau"], (np.array(answer["tau"])[:, [2, 3]] @ np.array(WRIST)).tolist(), 1e-14)
        alone = self.ask("wrist", "trajectory", {**motion, "control_points": points.tolist(), "outputs": ["motor_tau"]})
        self.assertEqual(alone, {"motor_tau": answer["motor_tau"]})
        margins = self.ask("wrist", "margins", {name: answer[name] for name in states})
        self.assertEqual(answer["limits"], margins["limits"])
        self.assertClose(answer["margins"], margins["margins"], 1e-12)
        h, gradients = 1e-4, ["dmargins_dcontrol_points", "dmargins_dduration"]
        given = self.ask("wrist", "trajectory", {**motion, "control_points": points.tolist(), "dense": True, "outputs": gradients})

        def along(points, duration):
            return np.array(self.ask("wrist", "trajectory", {**motion, "control_points": points.tolist(), "duration": duration,
                                                             "outputs": ["margins"]})["margins"])
        slopes = np.zeros((5, 3, 6, 4))
        for place in np.ndindex(6, 4):
            step = np.zeros((6, 4))
            step[place] = h
            slopes[(slice(None), slice(None), *place)] = (along(points + step, 0.9) - along(points - step, 0.9)) / (2 * h)
        by_duration = (along(points, 0.9 + h) - along(points, 0.9 - h)) / (2 * h)
        for name, expected in zip(gradients, (slopes, by_duration)):
            for limit in range(3):
                self.assertClose(np.array(given[name])[:, limit].tolist(), expected[:, limit].tolist(), 1e-5, what=name)

    def test_least_margins_of_motors(self):
        state, _ = self.states("wrist", 50)
        answer = self.ask("wrist", "margins", {**state, "kinds": ["effort"], "outputs": ["margins", "least", "least_gradients"]})
        margins = np.array(answer["margins"])[:, 0]
        row = int(margins.argmin())
        self.assertEqual(answer["least"], [{"joint": "pitch", "kind": "effort", "margin": margins[row], "row": row}])
        alone = self.ask("wrist", "margins", {**{key: state[key][row] for key in state}, "kinds": ["effort"],
                                              "outputs": ["dmargins_dqdd"]})
        self.assertEqual(answer["least_gradients"][0]["dqdd"], alone["dmargins_dqdd"][0])

    # --- identification ------------------------------------------------------------------------------------------

    def test_motors_are_identified(self):
        """The joint at_c has no friction of its own, so the motor `pitch`, which alone moves it, is identified."""
        truth = copy.deepcopy(MODELS["wrist"])
        del truth["links"][2]["joint"]["friction"]
        for m, viscous in zip(truth["transmissions"][0]["motors"], (3e-4, 2e-4)):
            m.update(rotor_inertia=2 * m["rotor_inertia"], friction={"viscous": viscous, "coulomb": 0.02})
        self.put_model("truth", truth)
        guess = copy.deepcopy(truth)
        for m in guess["transmissions"][0]["motors"]:
            m.update(rotor_inertia=1e-5, friction={"viscous": 1e-5, "coulomb": 0.001})
        self.put_model("guess", guess)
        state, _ = self.states("wrist", 60)
        tau = self.ask("truth", "inverse-dynamics", state)["tau"]
        answer = self.ask("guess", "identify", {**state, "tau": tau, "unknown": ["friction", "rotors"],
                                                "outputs": ["base_parameters", "model"]})
        self.put_model("found", answer["model"])
        found = answer["model"]["transmissions"][0]["motors"]
        for m, t in zip(found, truth["transmissions"][0]["motors"]):
            self.assertClose(m["rotor_inertia"], t["rotor_inertia"], 1e-8)
            self.assertClose(m["friction"]["viscous"], t["friction"]["viscous"], 1e-8)
            self.assertClose(sorted(m["friction"]["coulomb"].values()), [0.02, 0.02], 1e-8)
        again = self.ask("found", "inverse-dynamics", state)["tau"]
        self.assertClose(again, tau, 1e-9)

    # --- refusals ------------------------------------------------------------------------------------------------

    def test_description(self):
        described = self.ok(self.client.get("/v1/models/wrist"))
        self.assertEqual(described["transmissions"], [
            {"joints": ["at_c", "at_d"], "matrix": WRIST,
             "motors": [{"name": m["name"], "rotor_inertia": m["rotor_inertia"], "limits": m.get("limits", {})}
                        for m in MOTORS]}])
        self.assertNotIn("transmissions", self.ok(self.client.get("/v1/models/wrist-plain")))

    def test_documents_that_are_refused(self):
        good = {"joints": ["at_c", "at_d"], "matrix": WRIST, "motors": MOTORS}
        mimic = copy.deepcopy(PLAIN)
        mimic["links"][3]["joint"]["mimic"] = {"joint": "at_a"}
        geared = {**PLAIN, "motors": [{"joint": "at_d", "link": "c", "axis": [0, 0, 1], "gear_ratio": 50, "spin_inertia": 1e-4}]}
        for change, pointer, base in (
                ({"joints": ["at_c", "at_x"]}, "/transmissions/0/joints/1", PLAIN),
                ({"joints": ["at_c", "at_c"]}, "/transmissions/0/joints/1", PLAIN),
                ({"joints": []}, "/transmissions/0/joints", PLAIN),
                ({"joints": ["at_c", 1]}, "/transmissions/0/joints/1", PLAIN),
                ({"matrix": [[1, 2], [2, 4]]}, "/transmissions/0/matrix", PLAIN),
                ({"matrix": [[1, 2]]}, "/transmissions/0/matrix", PLAIN),
                ({"matrix": [[1, 1], [1, 1 + 1e-12]]}, "/transmissions/0/matrix", PLAIN),
                ({"motors": MOTORS[:1]}, "/transmissions/0/motors", PLAIN),
                ({"motors": [MOTORS[0], MOTORS[0]]}, "/transmissions/0/motors/1/name", PLAIN),
                ({"motors": [MOTORS[0], {"name": "at_a"}]}, "/transmissions/0/motors/1/name", PLAIN),
                ({"motors": [MOTORS[0], {"name": "roll", "rotor_inertia": -1}]}, "/transmissions/0/motors/1/rotor_inertia", PLAIN),
                ({"motors": [MOTORS[0], {"name": "roll", "rotor_inertia": 1e308}]}, "/transmissions", PLAIN),
                ({"motors": [MOTORS[0], {"name": "roll", "limits": {"position": [0, 1]}}]},
                 "/transmissions/0/motors/1/limits/position", PLAIN),
                ({"motors": [MOTORS[0], {"name": "roll", "limits": {"effort": -1}}]},
                 "/transmissions/0/motors/1/limits/effort", PLAIN),
                ({}, "/transmissions/0/joints/1", mimic), ({}, "/transmissions/0/joints/1", geared)):
            document = {**copy.deepcopy(base), "transmissions": [{**good, **change}]}
            self.assertProblem(self.client.put("/v1/models/refused", document), 422, pointer)
        twice = {**copy.deepcopy(PLAIN), "transmissions": [good, {"joints": ["at_d"], "matrix": [[1]], "motors": [{"name": "m"}]}]}
        self.assertProblem(self.client.put("/v1/models/refused", twice), 422, "/transmissions/1/joints/0")

    def test_requests_that_are_refused(self):
        """Integrators with error control do not stop joints by sharp friction of these motors; steps do."""
        sharp = with_transmission(PLAIN, ["at_c", "at_d"], motors=[{"name": "m", "friction": {"coulomb": 0.1}}, {"name": "n"}])
        self.put_model("sharp", sharp)
        zero = [0.0] * 4
        request = {"q": zero, "duration": 0.1, "tolerance": 1e-6, "integrator": "dopri5", "samples": 2}
        problem = self.assertProblem(self.client.post("/v1/models/sharp/simulate", request), 422)
        self.assertEqual(problem["code"], "not-supported", problem)
        self.assertIn("motor m", problem["detail"])
        self.ask("sharp", "step", {"q": zero, "tau": zero, "step": 0.01, "friction_at_rest": "stick"})
        self.ask("sharp", "simulate", {"q": zero, "duration": 0.1, "integrator": "rk4", "step": 0.01, "samples": 2})


class Tx40(ServerCase):
    """The bundled robot with a coupled wrist against the equations of its publication."""
    VISCOUS, COULOMB = [8.05, 5.53, 1.97, 1.11, 1.86, 0.65], [7.14, 8.26, 6.34, 2.48, 3.03, 0.282]
    ROTOR = [0.362, 0.362, 0.0988, 0.0313, 0.0468, 0.0105]
    SIX = {"rotor": 0.00964, "viscous": 0.616, "coulomb": 1.95}  # inertia and friction of motor 6, referred to its joint: kg m^2, N m s/rad, N m

    def setUp(self):
        document = self.ok(self.client.get("/v1/models/tx40/document"))
        del document["transmissions"]
        for link in document["links"]:
            for field in ("friction", "rotor_inertia"):
                link["joint"].pop(field, None)
        self.put_model("bodies", {**document, "name": "bodies"})

    def test_torques(self):
        choose = np.random.default_rng(6)
        q, qd, qdd = choose.uniform(-1, 1, (3, 20, 6))
        state = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist()}
        tau = np.array(self.ask("bodies", "inverse-dynamics", state)["tau"])
        tau += self.ROTOR * qdd + self.VISCOUS * qd + self.COULOMB * np.sign(qd)
        both = self.SIX["coulomb"] * np.sign(qd[:, 4] + qd[:, 5])
        for v, other in ((4, 5), (5, 4)):
            tau[:, v] += self.SIX["rotor"] * qdd[:, other] + self.SIX["viscous"] * qd[:, other] + both
        answer = self.ask("tx40", "inverse-dynamics", {**state, "outputs": ["tau", "motor_tau"]})
        self.assertClose(answer["tau"], tau.tolist(), 1e-14)
        motors = np.transpose([(tau[:, 4] - tau[:, 5]) / 45, tau[:, 5] / 32])
        self.assertClose(answer["motor_tau"], motors.tolist(), 1e-13)

    def test_stretched_upwards(self):
        """The wrist is 225 mm + 225 mm above the shoulder, and the shoulder 320 mm above the floor; gravity has no
        moment about joint 1."""
        pose = self.ask("tx40", "kinematics", {"q": [0] * 6, "frames": ["link6"]})["poses"]["link6"]
        self.assertClose(pose["position"], [0, 0.035, 0.77], 1e-15)
        self.assertClose(self.ask("tx40", "bias", {"q": [0] * 6})["bias"][0], 0, 1e-15, scale=1)


if __name__ == "__main__":
    tap.main()
