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

    def test_operations_that_refuse(self):
        """Never an answer without the friction that was asked for; without friction, all but identify and regressor answer."""
        s = self.states(4)
        q, qd, qdd, tau = (s[name] for name in ("q", "qd", "qdd", "tau"))
        motion = {"q": q, "qd": qd, "qdd": qdd}
        for operation, request in (
                ("hessian", {**motion, "multipliers": tau}), ("forward-hessian", {"q": q, "qd": qd, "tau": tau, "multipliers": tau}),
                ("step", {"q": q, "qd": qd, "tau": tau, "step": 0.01}),
                ("rollout", {"q": q[0], "qd": qd[0], "torques": tau, "step": 0.01}),
                ("path", {"q": q, "qd": qd, "qdd": qdd, "qddd": tau}),
                ("task-space", {"q": q, "frame": "hand", "axes": ["x"]}),
                ("trajectory", {"duration": 1, "degree": 3, "control_points": q, "samples": 3}),
                ("simulate", {"q": q[0], "duration": 0.1, "samples": 2, "step": 0.01}),
                ("margins", motion)):
            answer = self.client.post(f"/v1/models/loaded/{operation}", request)
            problem = self.assertProblem(answer, 422)
            self.assertEqual(problem["code"], "not-supported", (operation, problem))
            self.assertIn("load", problem["detail"])
            self.ok(self.client.post(f"/v1/models/loaded/{operation}", {**request, "friction": False}))
        for operation, request in (
                ("regressor", motion), ("identify", {**motion, "tau": tau}),
                ("forward-dynamics", {"q": q, "tau": tau, "friction_at_rest": "stick"}),
                ("forward-sensitivity", {"q": q, "tau": tau, "held": [{"frame": "hand", "axes": ["x"]}]}),
                ("sensitivity", {"q": q, "qd": qd, "free": ["elbow"]}),
                ("torque-derivative", {"q": q, "qd": qd, "free": ["elbow"]})):
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

    def test_other_formats(self):
        """Documents in XML hold no load coefficient: the conversion says so."""
        for media in ("application/urdf+xml", "application/mjcf+xml", "application/sdf+xml"):
            answer = self.client.request("GET", "/v1/models/loaded", headers={"Accept": media})
            if answer.status == 200:
                self.assertNotIn(b"load", answer.body)


if __name__ == "__main__":
    tap.main()
