"""Friction that depends on the load: efforts by its equation, accelerations, derivatives against differences, and an answer
not-supported from each operation that cannot include it."""
import numpy as np
import tap
from harness import ServerCase
from samples import body

SMOOTH = 0.3


def arm(load=(0.2, 0.1, 0.15), **more):
    """Two rotating joints, the second driven by a motor, and a slider; load coefficients of each and of the motor."""
    joint = lambda name, kind, axis, i, **other: {
        "name": name, "type": kind, "axis": axis, "limits": {"effort": 50}, "origin": {"xyz": [0.1, 0, -0.3]},
        "friction": {"viscous": 0.2, "coulomb": {"positive": 0.5, "negative": 0.7}, "load": load[i], **other}}
    return {"links": [
        {"name": "upper", "parent": "base", "inertial": body(2, (0.02, 0.01, -0.2)), "joint": joint("shoulder", "revolute", [0, 1, 0], 0)},
        {"name": "fore", "parent": "upper", "inertial": body(1.5, (0.02, 0, -0.2)),
         "joint": joint("elbow", "revolute", [0.6, 0.8, 0], 1, coulomb_velocity=SMOOTH)},
        {"name": "hand", "parent": "fore", "inertial": body(0.5, (0, 0.02, 0)), "joint": joint("slide", "prismatic", [0, 0, 1], 2)}],
        "motors": [{"joint": "elbow", "link": "upper", "axis": [0, 1, 0], "gear_ratio": -20, "spin_inertia": 1e-4,
                    "friction": {"viscous": 0.1, "load": 0.3 if load[1] else 0, "coulomb_velocity": 0.5}}], **more}


class LoadFriction(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("loaded", arm()), ("unloaded", arm((0, 0, 0)))):
            assert cls.client.put("/v1/models/" + name, document).status == 201

    def states(self, n, seed=1):
        rng = np.random.default_rng(seed)
        return {name: rng.uniform(-2, 2, (n, 3)).tolist() for name in ("q", "qd", "qdd", "tau")}

    def motion(self, n=20, names=("q", "qd", "qdd"), **more):
        s = self.states(n)
        return {**{name: s[name] for name in names}, **more}

    def factors(self, qd):
        """g of each coordinate: load times the sense of its motion."""
        qd = np.array(qd)
        return np.stack([0.2 * np.sign(qd[..., 0]), 0.1 * np.tanh(qd[..., 1] / SMOOTH) + 0.3 * np.tanh(qd[..., 1] / 0.5),
                         0.15 * np.sign(qd[..., 2])], -1)

    def test_efforts(self):
        """tau = T + f + g |T|; forward dynamics inverts it."""
        m = self.motion()
        T = np.array(self.ask("unloaded", "inverse-dynamics", {**m, "friction": False})["tau"])
        f = np.array(self.ask("unloaded", "bias", {"q": m["q"], "qd": m["qd"], "outputs": ["friction"]})["friction"])
        tau = self.ask("loaded", "inverse-dynamics", m)["tau"]
        self.assertClose(tau, (T + f + self.factors(m["qd"]) * np.abs(T)).tolist(), 1e-13)
        back = self.ask("loaded", "forward-dynamics", {"q": m["q"], "qd": m["qd"], "tau": tau})["qdd"]
        self.assertClose(back, m["qdd"], 1e-12)
        self.assertEqual(self.ask("loaded", "inverse-dynamics", {**m, "friction": False})["tau"], T.tolist())
        driven = [[a, 0, c] for a, _, c in m["qdd"]]
        given = [[0, b, 0] for _, b, _ in tau]
        free = self.ask("loaded", "inverse-dynamics", {**m, "qdd": driven, "tau": given, "free": ["elbow"]})
        self.assertClose(free["qdd"], m["qdd"], 1e-11)
        self.assertClose(free["tau"], tau, 1e-11)
        bias = self.ask("loaded", "bias", {"q": m["q"], "qd": m["qd"], "outputs": ["bias", "coriolis", "gravity", "friction"]})
        self.assertClose((np.array(bias["coriolis"]) + bias["gravity"] + bias["friction"]).tolist(), bias["bias"], 1e-12)

    def test_rows_have_the_same_bits(self):
        m = self.motion(9)
        whole = self.ask("loaded", "sensitivity", m)
        for row in range(9):
            alone = self.ask("loaded", "sensitivity", {name: m[name][row] for name in m})
            for name in alone:
                self.assertEqual(alone[name], whole[name][row], name)

    def difference(self, operation, outputs, m, name, h=1e-4):
        """Differences of the named outputs by each entry of a field, of order 4, with nv columns."""
        x = np.array(m[name])
        rows = np.array([x + d * e for e in np.eye(3) for d in (h, -h, 2 * h, -2 * h)])
        rest = {key: [value] * 12 for key, value in m.items() if key != name}
        a = self.ask("loaded", operation, {**rest, name: rows.tolist(), "outputs": outputs})
        value = {o: np.array(a[o]).reshape(3, 4, -1) for o in outputs}
        return {o: ((8 * (v[:, 0] - v[:, 1]) - (v[:, 2] - v[:, 3])) / (12 * h)).T for o, v in value.items()}

    def test_derivatives(self):
        s = self.states(6, 3)
        for row in range(6):
            at = {name: s[name][row] for name in s}
            inverse = {name: at[name] for name in ("q", "qd", "qdd")}
            a = self.ask("loaded", "sensitivity", {**inverse, "outputs": ["dtau_dq", "dtau_dqd", "dtau_dqdd", "dtau_dparameters"]})
            for name in inverse:
                self.assertClose(a["dtau_d" + name], self.difference("inverse-dynamics", ["tau"], inverse, name)["tau"].tolist(), 1e-8)
            forward = {name: at[name] for name in ("q", "qd", "tau")}
            b = self.ask("loaded", "forward-sensitivity", forward)
            size = np.abs(b["dqdd_dtau"]).max()
            for name in forward:
                expected = self.difference("forward-dynamics", ["qdd"], forward, name)["qdd"]
                self.assertClose(b["dqdd_d" + name], expected.tolist(), 1e-8, size)

    def test_rates(self):
        """Along q + qd t + qdd t^2 / 2 + qddd t^3 / 6."""
        s, h = self.states(5, 4), 1e-4
        q, qd, qdd, qddd = (np.array(s[name]) for name in ("q", "qd", "qdd", "tau"))
        at = lambda t: {"q": (q + t * (qd + t / 2 * (qdd + t / 3 * qddd))).tolist(), "qd": (qd + t * (qdd + t / 2 * qddd)).tolist(),
                        "qdd": (qdd + t * qddd).tolist()}
        tau = lambda t: np.array(self.ask("loaded", "inverse-dynamics", at(t))["tau"])
        a = self.ask("loaded", "torque-derivative", {**at(0), "qddd": qddd.tolist()})
        self.assertClose(a["tau_dot"], ((8 * (tau(h) - tau(-h)) - (tau(2 * h) - tau(-2 * h))) / (12 * h)).tolist(), 1e-8)

    def test_parameters(self):
        """A payload adds its mass to that of its link: derivatives by mass and first moments against small payloads."""
        s, h = self.states(4, 5), 1e-4
        inverse, forward = {name: s[name] for name in ("q", "qd", "qdd")}, {name: s[name] for name in ("q", "qd", "tau")}
        wrench = {"wrenches": [{"link": "fore", "force": [3, -2, 4], "point": [0.1, 0, 0]}]}
        for operation, derivative, output, request in (
                ("inverse-dynamics", "sensitivity", "tau", {**inverse, **wrench}),
                ("forward-dynamics", "forward-sensitivity", "qdd", {**forward, **wrench})):
            name = f"d{output}_dparameters"
            a = np.array(self.ask("loaded", derivative, {**request, "outputs": [name]})[name])
            at = lambda m: np.array(self.ask("loaded", operation, {**request, "payload": {"link": "hand", "mass": m}})[output])
            self.assertClose(a[:, :, 20].tolist(), ((4 * at(h) - at(2 * h) - 3 * at(0)) / (2 * h)).tolist(), 1e-6)

    def test_steps(self):
        """A, B and the derivatives by wrenches of one step against differences; a rollout repeats the steps."""
        s, h = self.states(3, 6), 1e-4
        for row in range(3):
            x = np.concatenate([s["q"][row], s["qd"][row], s["tau"][row], [1, -2, 3]])
            ask = lambda x, **more: self.ask("loaded", "step", {
                "q": x[..., :3].tolist(), "qd": x[..., 3:6].tolist(), "tau": x[..., 6:9].tolist(), "step": 0.01,
                "wrenches": [{"link": "hand", "force": x[..., 9:].tolist()}], **more})
            rows = np.array([x + d * e for e in np.eye(12) for d in (h, -h, 2 * h, -2 * h)])
            for integrator in ("explicit_euler", "semi_implicit_euler", "rk4", "implicit_euler"):
                a = ask(x, integrator=integrator, outputs=["q_after", "qd_after", "state_matrix", "input_matrix", "wrench_matrix"])
                b = ask(rows, integrator=integrator)
                after = np.hstack([b["q_after"], b["qd_after"]]).reshape(12, 4, 6)
                expected = ((8 * (after[:, 0] - after[:, 1]) - (after[:, 2] - after[:, 3])) / (12 * h)).T
                got = np.hstack([a["state_matrix"], a["input_matrix"], np.array(a["wrench_matrix"])[0, :, :3]])
                self.assertClose(got.tolist(), expected.tolist(), 1e-8, 1, integrator)
        euler = {"step": 0.01, "integrator": "explicit_euler"}
        one = {"q": s["q"][0], "qd": s["qd"][0], "tau": s["tau"][0]}
        a = self.ask("loaded", "step", {**one, **euler, "outputs": ["parameter_matrix"]})["parameter_matrix"]
        b = self.ask("loaded", "forward-sensitivity", {**one, "outputs": ["dqdd_dparameters"]})["dqdd_dparameters"]
        self.assertClose(a[3:], (0.01 * np.array(b)).tolist(), 1e-12)
        roll = self.ask("loaded", "rollout", {"q": one["q"], "qd": one["qd"], "torques": s["tau"], **euler})
        for k in range(3):
            after = self.ask("loaded", "step", {**one, "tau": s["tau"][k], **euler, "outputs": ["q_after", "qd_after"]})
            one = {"q": after["q_after"], "qd": after["qd_after"]}
        self.assertIn(one["q"], roll[next(name for name in roll if name.startswith("q"))])

    def test_trajectories(self):
        """Gradients of tau and tau_dot by control points and duration against differences."""
        points, h = np.random.default_rng(7).uniform(-1, 1, (6, 3)), 1e-4
        request = {"degree": 4, "duration": 1.3, "times": [0.17, 0.55, 1.1]}
        ask = lambda points, **more: self.ask("loaded", "trajectory", {**request, "control_points": points.tolist(), **more})
        a = ask(points, dense=True, outputs=["dtau_dcontrol_points", "dtau_dot_dcontrol_points", "dtau_dduration", "dtau_dot_dduration"])
        for name in ("tau", "tau_dot"):
            got = np.array(a[f"d{name}_dcontrol_points"])
            for k in (0, 2, 4):
                for v in range(3):
                    e = np.zeros((6, 3))
                    e[k, v] = h
                    f = [np.array(ask(points + d * e, outputs=[name])[name]) for d in (1, -1, 2, -2)]
                    expected = (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h)
                    self.assertClose(got[:, :, k, v].tolist(), expected.tolist(), 1e-7, max(1, np.abs(got).max()), name)

    def test_margins(self):
        """The effort limit is compared with the torque that includes the friction."""
        m = self.motion(5)
        a = self.ask("loaded", "margins", {**m, "kinds": ["effort"]})
        tau = np.array(self.ask("loaded", "inverse-dynamics", m)["tau"])
        self.assertClose(np.array(a["margins"])[..., 0].tolist() if np.array(a["margins"]).ndim == 3 else a["margins"],
                         (50 - np.abs(tau)).tolist(), 1e-12)

    def test_operations_that_refuse(self):
        """Never an answer without the friction that was asked for; without friction, all but identify and regressor answer."""
        s = self.states(4)
        q, qd, qdd, tau = (s[name] for name in ("q", "qd", "qdd", "tau"))
        motion = {"q": q, "qd": qd, "qdd": qdd}
        for operation, request in (
                ("hessian", {**motion, "multipliers": tau}), ("forward-hessian", {"q": q, "qd": qd, "tau": tau, "multipliers": tau}),
                ("path", {"q": q, "qd": qd, "qdd": qdd, "qddd": tau}),
                ("task-space", {"q": q, "frame": "hand", "axes": ["x"]}),
                ("trajectory-hessian", {"duration": 1, "degree": 3, "control_points": q, "samples": 4, "torque_multipliers": tau})):
            answer = self.client.post(f"/v1/models/loaded/{operation}", request)
            problem = self.assertProblem(answer, 422)
            self.assertEqual(problem["code"], "not-supported", (operation, problem))
            self.assertIn("load", problem["detail"])
            self.ok(self.client.post(f"/v1/models/loaded/{operation}", {**request, "friction": False}))
        for operation, request in (
                ("regressor", motion), ("identify", {**motion, "tau": tau}),
                ("step", {"q": q, "tau": tau, "step": 0.01, "friction_at_rest": "stick"})):
            answer = self.client.post(f"/v1/models/loaded/{operation}", request)
            self.assertEqual(self.assertProblem(answer, 422)["code"], "not-supported", operation)
        evaluate = {**motion, "operations": {"inverse-dynamics": {}, "hessian": {"outputs": ["d2tau_dq_dq"]}}}
        self.assertProblem(self.client.post("/v1/models/loaded/evaluate", evaluate), 422)

    def test_documents_that_refuse(self):
        """A load coefficient that no operation could take is refused with the model."""
        mimic, elastic, motor = arm(), arm(), arm((0.2, 0.75, 0.1))
        mimic["links"][2]["joint"]["mimic"] = {"joint": "shoulder"}
        elastic["links"][0]["joint"]["elastic"] = {"stiffness": 100}
        loop = arm(loops=[{"name": "loop", "type": "revolute", "axis": [0, 1, 0], "frame_a": "hand", "frame_b": "base"}])
        for document, link in ((mimic, 2), (elastic, 0), (motor, 1), (loop, 0)):
            answer = self.client.put("/v1/models/bad", document)
            self.assertProblem(answer, 422, f"/links/{link}/joint/friction/load")


if __name__ == "__main__":
    tap.main()
