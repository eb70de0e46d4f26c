"""Tests load-dependent friction in motions: simulations, held frames, sticking joints and coupled transmissions, by
differences, by identities between operations, and against a block computed by hand."""
import copy

import numpy as np
import tap
from harness import ServerCase
from lagrange import answer_differences
from samples import body
from test_load_friction import arm

G, MASS, COULOMB, LOAD = 9.81, 2.0, 3.0, 0.25


def smooth():
    """Returns the arm with smoothed friction, so that integrators keep their order."""
    document = arm()
    for link in document["links"]:
        link["joint"]["friction"]["coulomb_velocity"] = 0.3
    return document


def passive():
    """Returns an arm of four joints, the first without an actuator."""
    document = smooth()
    document["links"][0]["joint"]["actuated"] = False
    document["links"].append({"name": "tip", "parent": "hand", "inertial": body(0.4, (0.05, 0, 0.02)), "joint": {
        "name": "wrist", "type": "revolute", "axis": [0, 1, 0.3], "origin": {"xyz": [0, 0.05, -0.2]},
        "friction": {"viscous": 0.1, "load": 0.12, "coulomb_velocity": 0.2, "coulomb": 0.3}}})
    return document


def block():
    """Returns a block on a vertical rail with sharp, load-dependent friction."""
    return {"links": [{"name": "block", "parent": "base", "inertial": body(MASS), "joint": {
        "name": "lift", "type": "prismatic", "axis": [0, 0, 1], "friction": {"coulomb": COULOMB, "load": LOAD}}}]}


def coupled():
    """Returns the arm whose last two joints are driven by two motors through a coupled transmission; the motors have
    friction."""
    document = smooth()
    del document["motors"]
    document["transmissions"] = [{"joints": ["elbow", "slide"], "matrix": [[0.1, 0.02], [-0.03, 0.05]], "motors": [
        {"name": "first", "rotor_inertia": 2e-3, "friction": {"viscous": 0.01, "coulomb": 0.05, "coulomb_velocity": 5}},
        {"name": "second", "rotor_inertia": 1e-3, "friction": {"viscous": 0.02, "coulomb": 0.03, "coulomb_velocity": 4,
                                                               "breakaway": 0.06, "stribeck_velocity": 20}}]}]
    return document


def without_load(document):
    document = copy.deepcopy(document)
    for entry in [link["joint"] for link in document["links"]] + document.get("motors", []):
        entry["friction"].pop("load", None)
    return document


MODELS = {"sharp": arm(), "smooth": smooth(), "passive": passive(), "block": block(), "coupled": coupled(),
          "coupled-unloaded": without_load(coupled())}


class LoadFrictionMotions(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in MODELS.items():
            assert cls.client.put("/v1/models/" + name, document).status == 201, name

    def rows(self, n, nv, *names, seed=1):
        rng = np.random.default_rng(seed)
        return {name: rng.uniform(-1.5, 1.5, (n, nv)).tolist() for name in names}

    # --- simulations ---------------------------------------------------------------------------------------------------

    def integrate(self, model, q, qd, tau, duration, steps):
        """Integrates a batch by RK4 with the accelerations of forward-dynamics."""
        h = duration / steps
        rate = lambda q, qd: np.array(self.ask(model, "forward-dynamics", {"q": q.tolist(), "qd": qd.tolist(), "tau": tau})["qdd"])
        q, qd = np.array(q), np.array(qd)
        for _ in range(steps):
            a = rate(q, qd)
            b = rate(q + h / 2 * qd, qd + h / 2 * a)
            c = rate(q + h / 2 * (qd + h / 2 * a), qd + h / 2 * b)
            d = rate(q + h * (qd + h / 2 * b), qd + h * c)
            q, qd = q + h * qd + h * h / 6 * (a + b + c), qd + h / 6 * (a + 2 * b + 2 * c + d)
        return np.hstack([q, qd])

    def test_simulations_follow_forward_dynamics(self):
        """All integrators agree with RK4; at the kinks of |T| fixed steps lose accuracy. The change of energy is the work of actuators and
        friction."""
        m = self.rows(3, 3, "q", "qd", "tau")
        for model in ("smooth", "coupled"):
            expected = self.integrate(model, m["q"], m["qd"], m["tau"], 0.2, 100)
            for how, tolerance in (({"step": 2e-3}, 1e-10), ({"tolerance": 1e-9}, 1e-5), ({"tolerance": 1e-9, "integrator": "esdirk5"}, 1e-5)):
                a = self.ask(model, "simulate", {
                    "q": m["q"], "qd": m["qd"], "input": {"tau": m["tau"]}, "duration": 0.2, "samples": 2, **how,
                    "outputs": ["q", "qd", "kinetic", "potential", "actuator_work", "friction_work"]})
                end = np.hstack([np.array(a["q"])[:, 1], np.array(a["qd"])[:, 1]])
                self.assertClose(end.tolist(), expected.tolist(), tolerance, what=str(how))
                energy = np.array(a["kinetic"]) + a["potential"]
                work = np.array(a["actuator_work"]) + a["friction_work"]
                self.assertClose((energy[:, 1] - energy[:, 0]).tolist(), work[:, 1].tolist(), 1e-6, 1)
                self.assertTrue((np.array(a["friction_work"])[:, 1] < 0).all())

    def test_computed_torque_cancels_the_friction(self):
        """computed_torque cancels friction: the error stays zero, also where a held frame changes the load."""
        reference = {"degree": 5, "control_points": [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.5, -0.4, 0.1], [0.8, 0.3, 0.2], [0.4, 0.6, 0.3]]}
        a = self.ask("smooth", "simulate", {
            "q": [0.1, 0.2, 0.3], "duration": 0.5, "samples": 6, "tolerance": 1e-10, "outputs": ["position_error", "tau", "q", "qd", "qdd"],
            "input": {"controller": "computed_torque", "kp": 0, "kd": 0, "reference": reference}})
        self.assertLess(np.abs(a["position_error"]).max(), 1e-8)
        tau = self.ask("smooth", "inverse-dynamics", {name: a[name] for name in ("q", "qd", "qdd")})["tau"]
        self.assertClose(a["tau"], tau, 1e-8)
        points = [[0, x[1], x[2], x[0]] for x in reference["control_points"]]
        held = [{"frame": "tip", "axes": ["x"]}]
        start = {"q": [0.1] + points[0][1:]}
        a = self.ask("passive", "simulate", {
            **start, "duration": 0.5, "samples": 6, "tolerance": 1e-10, "held": held,
            "outputs": ["position_error", "tau", "q", "qd", "qdd", "contact_wrenches"],
            "input": {"controller": "computed_torque", "kp": 0, "kd": 0, "reference": {"degree": 5, "control_points": points}}})
        self.assertLess(np.abs(np.array(a["position_error"])[:, 1:]).max(), 1e-7)
        wrenches = np.array(a["contact_wrenches"])[:, 0]
        self.assertGreater(np.abs(wrenches).max(), 0.1)
        self.check_held_efforts("passive", a)

    def check_held_efforts(self, model, a):
        """Checks that efforts are those of inverse dynamics with the contact wrenches as external wrenches."""
        for n, wrench in enumerate(np.array(a["contact_wrenches"])[:, 0]):
            request = {name: a[name][n] for name in ("q", "qd", "qdd")}
            tau = self.ask(model, "inverse-dynamics", {**request, "wrenches": [
                {"link": "tip", "force": wrench[:3].tolist(), "torque": wrench[3:].tolist(), "frame": "base"}]})["tau"]
            self.assertClose(a["tau"][n], tau, 1e-7)

    def test_prescribed_motion(self):
        """tau of a prescribed coordinate includes its friction, also with held frames."""
        request = {"q": [0.2, 0.4, 0.1, -0.3], "duration": 0.4, "samples": 5, "tolerance": 1e-10,
                   "prescribed": {"coordinates": ["elbow"], "motion": {"degree": 3, "control_points": [[0.4], [0.4], [0.4], [0.9], [0.2]]}},
                   "outputs": ["q", "qd", "qdd", "tau"]}
        a = self.ask("passive", "simulate", request)
        self.assertClose(a["tau"], self.ask("passive", "inverse-dynamics", {n: a[n] for n in ("q", "qd", "qdd")})["tau"], 1e-8)
        a = self.ask("passive", "simulate", {**request, "held": [{"frame": "tip", "axes": ["x", "z"]}],
                                             "outputs": request["outputs"] + ["contact_wrenches"]})
        self.check_held_efforts("passive", a)

    def test_hua_is_refused(self):
        answer = self.client.post("/v1/models/smooth/simulate", {
            "q": [0, 0, 0], "duration": 0.1, "samples": 2, "step": 0.01,
            "input": {"controller": "hua", "kp": 1, "kd": 1, "reference": {"degree": 3, "control_points": [[0, 0, 0]] * 4}}})
        self.assertEqual(self.assertProblem(answer, 422)["code"], "not-supported")

    # --- joints that stick --------------------------------------------------------------------------------------------

    def test_block_by_hand(self):
        """A block under a growing force starts to move when the force reaches weight (1 + load) + coulomb; then T = (tau - coulomb) / (1 + load)
        accelerates it against its weight."""
        weight, growth = MASS * G, 4.0
        start = weight * (1 + LOAD) + COULOMB
        ramp = {"values": [[start - 2], [start - 2 + growth * 2]], "times": [0, 2], "interpolation": "linear"}
        for integrator in ("dopri5", "esdirk5"):
            a = self.ask("block", "simulate", {"q": [0], "duration": 2, "times": [0.4, 0.5, 0.75, 1.3, 2], "tolerance": 1e-10,
                                               "integrator": integrator, "input": {"tau": ramp}, "outputs": ["q", "qdd"]})
            t = np.maximum(np.array([0.4, 0.5, 0.75, 1.3, 2]) - 0.5, 0)
            self.assertClose(np.ravel(a["q"]).tolist(), (growth * t ** 3 / 6 / (1 + LOAD) / MASS).tolist(), 1e-8, what=integrator)
        for tau, sign in ((start + 1, 1), (weight * (1 - LOAD) - COULOMB - 1, -1), (start - 1e-6, 0), (weight * (1 - LOAD) - COULOMB + 1e-6, 0)):
            T = (tau - sign * COULOMB) / (1 + sign * LOAD)
            a = self.ask("block", "forward-dynamics", {"q": [0], "tau": [tau], "friction_at_rest": "stick"})
            self.assertClose(a["qdd"], [(T - weight) / MASS if sign else 0], 1e-12)
            self.assertClose(a["friction"], [tau - (T if sign else weight)], 1e-12)
            b = self.ask("block", "simulate", {"q": [0], "duration": 0.1, "samples": 2, "tolerance": 1e-8,
                                               "input": {"tau": [tau]}, "outputs": ["qdd"]})
            self.assertClose(b["qdd"][0], a["qdd"], 1e-9)

    def check_laws(self, q, qd, qdd, tau, load=(0.2, None, 0.15), coulomb=(0.7, None, 0.7)):
        """Checks the law of sharp friction at every sample. Returns the number of samples at which a joint sticks under more than its Coulomb
        friction, held by the part proportional to the load."""
        request = {"q": q, "qd": qd, "qdd": qdd}
        T = np.array(self.ask("sharp", "inverse-dynamics", {**request, "friction": False})["tau"])
        full = np.array(self.ask("sharp", "inverse-dynamics", request)["tau"])
        qd, qdd, tau = map(np.array, (qd, qdd, tau))
        stuck = 0
        for v in (0, 2):
            moves = qd[:, v] != 0
            self.assertClose(full[moves, v].tolist(), tau[moves, v].tolist(), 1e-7, 1)
            for n in np.flatnonzero(~moves & (qdd[:, v] == 0)):
                friction = tau[n, v] - T[n, v]
                self.assertLessEqual(friction, 0.5 + load[v] * abs(T[n, v]) + 1e-7)
                self.assertGreaterEqual(friction, -0.7 - load[v] * abs(T[n, v]) - 1e-7)
                stuck += friction > 0.5 or friction < -0.7
        self.assertClose(full[:, 1].tolist(), tau[:, 1].tolist(), 1e-7, 1)
        return stuck

    def test_arm_sticks_and_slides(self):
        """During swings that stop and restart, the friction follows its law; at some samples a joint sticks only because of the part of friction
        that is proportional to the load."""
        rng, stuck = np.random.default_rng(4), 0
        t = np.linspace(0, 3, 31)
        for _ in range(4):
            waves = rng.uniform(0.5, 2, 3) * np.sin(np.outer(t, rng.uniform(1, 4, 3)))
            a = self.ask("sharp", "simulate", {
                "q": rng.uniform(-1, 1, 3).tolist(), "duration": 3, "samples": 121, "tolerance": 1e-9, "outputs": ["q", "qd", "qdd", "tau", "kinetic", "potential", "actuator_work", "friction_work"],
                "input": {"tau": {"values": (waves + [0, 0, 5]).tolist(), "times": t.tolist(), "interpolation": "linear"}}})
            stuck += self.check_laws(a["q"], a["qd"], a["qdd"], a["tau"])
            energy = np.array(a["kinetic"]) + a["potential"] - a["actuator_work"] - a["friction_work"]
            self.assertLess(np.abs(energy - energy[0]).max(), 1e-5)
        self.assertGreater(stuck, 5)

    def test_accelerations_of_sticking_joints(self):
        rng = np.random.default_rng(9)
        q, qd = rng.uniform(-1.5, 1.5, (60, 3)), rng.uniform(-1, 1, (60, 3)) * (rng.uniform(size=(60, 3)) < 0.4)
        tau = np.array(self.ask("sharp", "bias", {"q": q.tolist(), "outputs": ["gravity"]})["gravity"]) + rng.uniform(-3, 3, (60, 3))
        request = {"q": q.tolist(), "qd": qd.tolist(), "tau": tau.tolist()}
        a = self.ask("sharp", "forward-dynamics", {**request, "friction_at_rest": "stick"})
        self.assertGreater(self.check_laws(request["q"], request["qd"], a["qdd"], request["tau"]), 5)
        T = np.array(self.ask("sharp", "inverse-dynamics", {"q": request["q"], "qd": request["qd"], "qdd": a["qdd"], "friction": False})["tau"])
        self.assertClose(a["friction"], (tau - T).tolist(), 1e-9)
        for v in (0, 2):
            starts = (qd[:, v] == 0) & (np.array(a["qdd"])[:, v] != 0)
            self.assertTrue(starts.any())
            side = np.sign(np.array(a["qdd"])[starts, v])
            limit = np.where(side > 0, 0.5, 0.7) + (0.2 if v == 0 else 0.15) * np.abs(T[starts, v])
            self.assertClose(np.array(a["friction"])[starts, v].tolist(), (side * limit).tolist(), 1e-9)

    # --- held frames --------------------------------------------------------------------------------------------------

    def test_held_derivatives(self):
        held = {"held": [{"frame": "tip", "axes": ["x", "rz"]}]}
        s = self.rows(3, 4, "q", "qd", "tau", seed=3)
        for row in range(3):
            at = {name: s[name][row] for name in s}
            wrench = {"wrenches": [{"link": "fore", "force": [3, -2, 4], "point": [0.1, 0, 0]}]}
            a = self.ask("passive", "forward-sensitivity", {**at, **held, **wrench, "outputs": [
                "dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dqdd_dparameters", "dqdd_dwrench", "qdd"]})
            size = max(np.abs(a["dqdd_d" + name]).max() for name in at)
            for name in at:
                expected = answer_differences(self, "passive", "forward-dynamics", ["qdd"], at, name, **held, **wrench)["qdd"]
                self.assertClose(a["dqdd_d" + name], expected.tolist(), 1e-8, size, name)
            h, base = 1e-4, {**at, **held, **wrench, "outputs": ["qdd"]}
            mass = lambda m: np.array(self.ask("passive", "forward-dynamics", {**base, "payload": {"link": "hand", "mass": m}})["qdd"])
            self.assertClose(np.array(a["dqdd_dparameters"])[:, 20].tolist(), ((4 * mass(h) - mass(2 * h) - 3 * mass(0)) / (2 * h)).tolist(), 1e-5, size)
            euler = self.ask("passive", "step", {**at, **held, **wrench, "step": 0.01, "integrator": "explicit_euler",
                                                 "outputs": ["qd_after", "state_matrix", "input_matrix", "wrench_matrix", "parameter_matrix"]})
            self.assertClose(euler["qd_after"], (np.array(at["qd"]) + 0.01 * np.array(a["qdd"])).tolist(), 1e-12)
            for got, name in ((np.array(euler["input_matrix"]), "dqdd_dtau"), (np.array(euler["parameter_matrix"]), "dqdd_dparameters"),
                              (np.array(euler["wrench_matrix"])[0], "dqdd_dwrench")):
                of = np.array(a[name])[0] if name == "dqdd_dwrench" else np.array(a[name])
                self.assertClose(got[4:].tolist(), (0.01 * of).tolist(), 1e-11, what=name)

    # --- free coordinates ---------------------------------------------------------------------------------------------

    def test_free_derivatives(self):
        free = {"free": ["shoulder", "slide"], "wrenches": [{"link": "hand", "force": [1, 2, -3], "torque": [0.1, 0, 0.2]}]}
        mask = np.array([True, False, True])
        for model in ("smooth", "coupled"):
            s = self.rows(3, 3, "q", "qd", "qdd", "tau", "qddd", seed=6)
            for row in range(3):
                at = {name: s[name][row] for name in ("q", "qd")}
                at.update(qdd=np.where(mask, 0, s["qdd"][row]).tolist(), tau=np.where(mask, s["tau"][row], 0).tolist())
                a = self.ask(model, "sensitivity", {**at, **free, "outputs": [
                    *(f"d{y}_d{x}" for y in ("tau", "qdd") for x in ("q", "qd", "qdd")), "dqdd_dtau", "dtau_dparameters"]})
                size = max(np.abs(a[name]).max() for name in ("dtau_dq", "dqdd_dq", "dqdd_dqd"))
                for x in ("q", "qd", "qdd", "tau"):
                    columns = {"qdd": ~mask, "tau": mask}.get(x, 1)
                    expected = answer_differences(self, model, "inverse-dynamics", ["tau", "qdd"], at, x, columns, **free)
                    for y in ("tau", "qdd") if x != "tau" else ("qdd",):
                        self.assertClose(a[f"d{y}_d{x}"], expected[y].tolist(), 1e-8, size, f"{y} by {x}")
                h = 1e-4
                mass = lambda m: np.array(self.ask(model, "inverse-dynamics", {**at, **free, "payload": {"link": "hand", "mass": m}})["tau"])
                self.assertClose(np.array(a["dtau_dparameters"])[:, 20].tolist(), ((4 * mass(h) - mass(2 * h) - 3 * mass(0)) / (2 * h)).tolist(), 1e-5, size)
                jerk = np.where(mask, 0, s["qddd"][row])
                b = self.ask(model, "torque-derivative", {**at, **free, "qddd": jerk.tolist()})
                plain = {"q": at["q"], "qd": at["qd"], "qdd": b["qdd"], "qddd": b["qddd"], "wrenches": free["wrenches"]}
                c = self.ask(model, "torque-derivative", plain)
                self.assertClose(c["tau_dot"], b["tau_dot"], 1e-11)
                self.assertClose(c["tau"], b["tau"], 1e-11)

    # --- coupled transmissions ----------------------------------------------------------------------------------------

    def test_coupled_efforts(self):
        """tau = T + f + g |T|, where T and f, which include the motors' inertia and friction, are those of the robot
        without load coefficients."""
        m = self.rows(20, 3, "q", "qd", "qdd")
        T = np.array(self.ask("coupled-unloaded", "inverse-dynamics", {**m, "friction": False})["tau"])
        rubbing = np.array(self.ask("coupled-unloaded", "inverse-dynamics", m)["tau"])
        g = np.array([0.2, 0.1, 0.15]) * np.tanh(np.array(m["qd"]) / 0.3)
        tau = self.ask("coupled", "inverse-dynamics", m)["tau"]
        self.assertClose(tau, (rubbing + g * np.abs(T)).tolist(), 1e-12)
        self.assertClose(self.ask("coupled", "forward-dynamics", {"q": m["q"], "qd": m["qd"], "tau": tau})["qdd"], m["qdd"], 1e-11)

    def test_coupled_derivatives(self):
        s = self.rows(3, 3, "q", "qd", "qdd", "tau", seed=5)
        for row in range(3):
            inverse, forward = ({name: s[name][row] for name in names} for names in (("q", "qd", "qdd"), ("q", "qd", "tau")))
            a = self.ask("coupled", "sensitivity", inverse)
            b = self.ask("coupled", "forward-sensitivity", forward)
            for name in inverse:
                expected = answer_differences(self, "coupled", "inverse-dynamics", ["tau"], inverse, name)["tau"]
                self.assertClose(a["dtau_d" + name], expected.tolist(), 1e-8, np.abs(a["dtau_dqdd"]).max())
            for name in forward:
                expected = answer_differences(self, "coupled", "forward-dynamics", ["qdd"], forward, name)["qdd"]
                self.assertClose(b["dqdd_d" + name], expected.tolist(), 1e-8, np.abs(b["dqdd_dtau"]).max())


if __name__ == "__main__":
    tap.main()
