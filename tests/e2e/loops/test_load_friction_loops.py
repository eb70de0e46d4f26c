"""Tests load-dependent friction in models with closed loops: the effort before friction is T = R - f, where R is the effort and f the friction
of the same model without load coefficients. Also tests that forward dynamics inverts inverse dynamics, derivatives by differences, energies, and
refusals."""
import numpy as np
import tap
from closed import LOADS, Closed, bundled
from lagrange import answer_differences

COULOMB, SMOOTH = 0.4, 0.7
NAMES = ("four_bar", "five_bar", "delta")


def document(name, loaded):
    """Returns a bundled mechanism whose actuated joints have friction, with load coefficients if `loaded`; the friction of passive joints does
    not depend on the load."""
    model = bundled(name)
    for i, link in enumerate(model["links"]):
        joint = link["joint"]
        if joint["type"] == "fixed" or joint["type"] == "spherical":
            continue
        joint["friction"] = {"viscous": 0.05 * (1 + i % 3)}
        if joint.get("actuated", True):
            joint["friction"].update(coulomb={"positive": COULOMB, "negative": 0.6}, coulomb_velocity=SMOOTH)
            if loaded:
                joint["friction"]["load"] = 0.15 + 0.05 * (i % 4)
    return model


class LoadFrictionLoops(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.g, cls.viscous = {}, {}
        for name in NAMES:
            for suffix, loaded in (("-loaded", True), ("-plain", False)):
                answer = cls.client.put(f"/v1/models/{name}{suffix}", document(name, loaded))
                assert answer.status == 201, answer
            joints = [link["joint"] for link in document(name, True)["links"] if link["joint"].get("actuated", True) and link["joint"]["type"] != "fixed"]
            cls.g[name] = np.array([joint["friction"]["load"] for joint in joints])
            cls.viscous[name] = np.array([joint["friction"]["viscous"] for joint in joints])

    def own(self, name, qd):
        """Returns the part of the actuated joints' friction that does not depend on the load."""
        qd = np.array(qd)
        return self.viscous[name] * qd + np.where(qd < 0, 0.6, COULOMB) * np.tanh(qd / SMOOTH)

    def loaded(self, name, qd, R):
        return R + self.g[name] * np.tanh(np.array(qd) / SMOOTH) * np.abs(R - self.own(name, qd))

    def test_efforts(self):
        for name in NAMES:
            s = self.states(name, 12, 2)
            m = {**{k: s[k] for k in ("q", "qd", "qdd")}, **LOADS[name]}
            R = np.array(self.ask(name + "-plain", "inverse-dynamics", m)["tau"])
            tau = self.ask(name + "-loaded", "inverse-dynamics", m)["tau"]
            self.near(tau, self.loaded(name, s["qd"], R), 1e-11, name)
            self.assertGreater(np.abs(np.array(tau) - R).max(), 0.01)
            back = {k: m[k] for k in m if k != "qdd"}
            self.near(self.ask(name + "-loaded", "forward-dynamics", {**back, "tau": tau})["qdd"], m["qdd"], 1e-8, name)
            friction = self.ask(name + "-loaded", "forward-dynamics", {**back, "tau": tau, "outputs": ["friction"]})["friction"]
            plain = self.ask(name + "-plain", "bias", {"q": s["q"], "qd": s["qd"], "outputs": ["friction"]})["friction"]
            self.near(friction, np.array(plain) + tau - R, 1e-10, name)
            still = {"q": s["q"], "qd": s["qd"], "wrenches": LOADS[name]["wrenches"]}
            bias = self.ask(name + "-loaded", "bias", {**still, "outputs": ["bias", "friction"]})
            R = np.array(self.ask(name + "-plain", "bias", {**still, "outputs": ["bias"]})["bias"])
            self.near(bias["bias"], self.loaded(name, s["qd"], R), 1e-11, name)
            self.near(bias["friction"], np.array(plain) + bias["bias"] - R, 1e-10, name)
            self.assertEqual(self.ask(name + "-loaded", "inverse-dynamics", {**m, "friction": False}),
                             self.ask(name + "-plain", "inverse-dynamics", {**m, "friction": False}))

    def test_derivatives(self):
        for name in NAMES:
            s, model = self.state(name, 3), name + "-loaded"
            wrenches = {"wrenches": LOADS[name]["wrenches"]}
            inverse, forward = ({k: s[k] for k in names} for names in (("q", "qd", "qdd"), ("q", "qd", "tau")))
            a = self.ask(model, "sensitivity", {**inverse, **wrenches, "outputs": ["dtau_dq", "dtau_dqd", "dtau_dqdd", "dtau_dparameters", "dtau_dwrench"]})
            b = self.ask(model, "forward-sensitivity", {**forward, **wrenches, "outputs": ["dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dqdd_dparameters",
                                                                                           "dqdd_dwrench"]})
            for x in inverse:
                expected = answer_differences(self, model, "inverse-dynamics", ["tau"], inverse, x, **wrenches)["tau"]
                self.near(a["dtau_d" + x], expected, 1e-7, f"{name} dtau_d{x}")
            for x in forward:
                expected = answer_differences(self, model, "forward-dynamics", ["qdd"], forward, x, **wrenches)["qdd"]
                self.near(b["dqdd_d" + x], expected, 1e-7, f"{name} dqdd_d{x}")
            g = [0.3, -0.4, -9.5]  # where no load changes its sign, tau is linear in the gravity
            ends = [[self.ask(model, "inverse-dynamics", {**inverse, **wrenches, "gravity": [x + h * (i == k) for k, x in enumerate(g)]})["tau"] for h in (0.01, -0.01)]
                    for i in range(3)]
            pull = self.ask(model, "sensitivity", {**inverse, **wrenches, "gravity": g, "outputs": ["dtau_dgravity"]})["dtau_dgravity"]
            self.near(pull, np.transpose([np.subtract(*two) / 0.02 for two in ends]), 1e-8, f"{name} dtau_dgravity")
            link = wrenches["wrenches"][0]["link"]
            column = 10 * self.ok(self.client.get(f"/v1/models/{model}"))["bodies"].index(link)
            for operation, request, output, got in (("inverse-dynamics", inverse, "tau", a), ("forward-dynamics", forward, "qdd", b)):
                at = lambda m: np.array(self.ask(model, operation, {**request, **wrenches, "payload": {"link": link, "mass": m}})[output])
                h = 1e-4
                self.near(np.array(got[f"d{output}_dparameters"])[:, column], (4 * at(h) - at(2 * h) - 3 * at(0)) / (2 * h), 1e-5, name, least=np.abs(at(0)).max())

            self.by_wrenches(model, wrenches["wrenches"], "inverse-dynamics", "tau", inverse, a["dtau_dwrench"])
            self.by_wrenches(model, wrenches["wrenches"], "forward-dynamics", "qdd", forward, b["dqdd_dwrench"])

    def by_wrenches(self, model, wrenches, operation, output, state, given):
        """Compares the derivatives by each entry of force and torque of every wrench with differences, which are exact: where no load changes
        its sign, the results are linear in these entries."""
        self.assertEqual(len(given), len(wrenches))
        for k in range(len(wrenches)):
            columns = []
            for entry, part in ((i, part) for part in ("force", "torque") for i in range(3)):
                ends = []
                for h in (0.01, -0.01):
                    pushed = [dict(w) for w in wrenches]
                    pushed[k][part] = [x + h * (i == entry) for i, x in enumerate(pushed[k].get(part, [0, 0, 0]))]
                    ends.append(np.array(self.ask(model, operation, {**state, "wrenches": pushed})[output]))
                columns.append((ends[0] - ends[1]) / 0.02)
            self.near(given[k], np.transpose(columns), 1e-8, f"{model} {output} by wrench {k}")

    def test_rates(self):
        """Compares tau_dot with differences along the motion, and the Jacobians of one step with differences."""
        for name in NAMES:
            s, model, h = self.state(name, 4), name + "-loaded", 1e-4
            q, qd, qdd, d = (np.array(s[k]) for k in ("q", "qd", "qdd", "qddd"))
            t = np.array([1, -1, 2, -2])[:, None] * h
            rows = {"q": q + qd * t + qdd * t ** 2 / 2 + d * t ** 3 / 6, "qd": qd + qdd * t + d * t ** 2 / 2, "qdd": qdd + d * t}
            f = np.array(self.ask(model, "inverse-dynamics", {k: v.tolist() for k, v in rows.items()})["tau"])
            a = self.ask(model, "torque-derivative", {k: s[k] for k in ("q", "qd", "qdd", "qddd")})
            self.near(a["tau_dot"], (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h), 1e-7, name)
            m = {k: s[k] for k in ("q", "qd", "tau")}
            more = {"step": 1e-3, "integrator": "rk4"}
            n = len(q)
            b = self.ask(model, "step", {**m, **more, "outputs": ["state_matrix", "input_matrix"]})
            for k, x in enumerate(m):
                e = answer_differences(self, model, "step", ["q_after", "qd_after"], m, x, **more)
                got = np.array(b["input_matrix"]) if x == "tau" else np.array(b["state_matrix"])[:, k * n:(k + 1) * n]
                self.near(got, np.vstack([e["q_after"], e["qd_after"]]), 1e-7, f"{name} step by {x}", least=1)

    def test_free_coordinates(self):
        name, model = "delta", "delta-loaded"
        s = self.state(name, 5)
        names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
        mask = np.array([True, False, False])
        at = {"q": s["q"], "qd": s["qd"], "qdd": np.where(mask, 0, s["qdd"]).tolist(), "tau": np.where(mask, s["tau"], 0).tolist()}
        free = {"free": [names[0]], "wrenches": LOADS[name]["wrenches"]}
        a = self.ask(model, "sensitivity", {**at, **free, "outputs": [f"d{y}_d{x}" for y in ("tau", "qdd") for x in ("q", "qd", "qdd")] + ["dqdd_dtau"]})
        for x in at:
            columns = {"qdd": ~mask, "tau": mask}.get(x, 1)
            expected = answer_differences(self, model, "inverse-dynamics", ["tau", "qdd"], at, x, columns, **free)
            for y in ("tau", "qdd") if x != "tau" else ("qdd",):
                self.near(a[f"d{y}_d{x}"], expected[y], 1e-7, f"{y} by {x}", least=1)

    def test_simulations(self):
        """Simulations agree with RK4 steps by forward dynamics; the energy agrees with the works."""
        for name in ("four_bar", "five_bar"):
            s, model = self.state(name, 6), name + "-loaded"
            m, tau = {"q": s["q"], "qd": s["qd"]}, (0.05 * np.array(s["tau"])).tolist()
            roll = self.ask(model, "rollout", {**m, "torques": [tau] * 100, "step": 2e-4, "integrator": "rk4", "outputs": ["q_after", "qd_after"]})
            for how, tolerance in (({"step": 2e-4}, 1e-9), ({"tolerance": 1e-10}, 1e-5)):
                a = self.ask(model, "simulate", {**m, "duration": 0.02, "samples": 2, "input": {"tau": tau}, **how, "outputs": [
                    "q", "qd", "kinetic", "potential", "actuator_work", "friction_work"]})
                self.near(a["q"][-1], roll["q_after"][-1], tolerance, name)
                self.near(a["qd"][-1], roll["qd_after"][-1], tolerance, name)
                energy = np.array(a["kinetic"]) + a["potential"] - a["actuator_work"] - a["friction_work"]
                if "tolerance" in how:
                    self.assertLess(abs(energy[-1] - energy[0]), 1e-9 * (1 + np.abs(a["kinetic"]).max()))

    def test_refusals(self):
        passive = document("four_bar", True)
        k = next(k for k, link in enumerate(passive["links"]) if link["joint"].get("actuated") is False and link["joint"]["type"] == "revolute")
        passive["links"][k]["joint"]["friction"] = {"load": 0.1}
        self.refused(self.client.put("/v1/models/bad", passive), "not-supported", f"/links/{k}/joint/friction/load")
        s = self.state("four_bar", 7)
        motion = {name: s[name] for name in ("q", "qd", "qdd")}
        for operation, request in (
                ("task-space", {"q": s["q"], "frame": "coupler", "axes": ["x"]}), ("path", {**motion, "qddd": s["qddd"]}),
                ("torque-derivative", {**motion, "outputs": ["dtau_dot_dparameters"]}),
                ("simulate", {"q": s["q"], "duration": 0.1, "samples": 2, "step": 0.01, "held": [{"frame": "coupler", "axes": ["x"]}]})):
            self.refused(self.client.post(f"/v1/models/four_bar-loaded/{operation}", request), "not-supported")


if __name__ == "__main__":
    tap.main()
