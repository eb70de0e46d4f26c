"""Tests load-dependent friction: efforts by its equation, accelerations, derivatives against differences, and
not-supported from each operation that cannot include it."""
import numpy as np
import tap
from harness import ServerCase
from samples import body

SMOOTH = 0.3


def arm(load=(0.2, 0.1, 0.15), **more):
    """Returns an arm of two revolute joints, the second with a motor, and a prismatic joint; all three and the motor
    have load coefficients."""
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


def elastic_arm(coulomb_velocity=0.5):
    """Returns the arm with an elastic elbow: the joint's own friction is that of `arm` without load, the motor's
    friction depends on the load."""
    document = arm((0.2, 0, 0.15))
    document["links"][1]["joint"]["elastic"] = {"stiffness": 120, "rest": 0.1}
    document["motors"][0]["friction"].update(load=0.3, coulomb=0.02, coulomb_velocity=coulomb_velocity)
    return document


def walker(load=0.2):
    """Returns a floating trunk with two legs."""
    leg = lambda name, y: {"name": name, "parent": "trunk", "inertial": body(1, (0.02, 0.01, -0.2)), "joint": {
        "name": name + "_hip", "type": "revolute", "axis": [0.3, 0.9, 0.1], "origin": {"xyz": [0, y, -0.1]},
        "friction": {"viscous": 0.2, "coulomb": 0.5, "coulomb_velocity": SMOOTH, "load": load}}}
    return {"base": {"type": "floating", "link": "trunk", "inertial": body(8, (0, 0, 0.02))}, "links": [leg("left", 0.1), leg("right", -0.1)]}


class LoadFriction(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("loaded", arm()), ("unloaded", arm((0, 0, 0))), ("elastic", elastic_arm()), ("walker", walker()), ("light_walker", walker(0))):
            assert cls.client.put("/v1/models/" + name, document).status == 201

    def states(self, n, seed=1):
        rng = np.random.default_rng(seed)
        return {name: rng.uniform(-2, 2, (n, 3)).tolist() for name in ("q", "qd", "qdd", "tau")}

    def motion(self, n=20, names=("q", "qd", "qdd"), **more):
        s = self.states(n)
        return {**{name: s[name] for name in names}, **more}

    def factors(self, qd):
        """Returns g of each coordinate: the load coefficient times the smoothed or sharp sign of the rate."""
        qd = np.array(qd)
        return np.stack([0.2 * np.sign(qd[..., 0]), 0.1 * np.tanh(qd[..., 1] / SMOOTH) + 0.3 * np.tanh(qd[..., 1] / 0.5),
                         0.15 * np.sign(qd[..., 2])], -1)

    def test_efforts(self):
        """Inverse dynamics satisfies tau = T + f + g |T|, and forward dynamics inverts it."""
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
        """Returns differences of order 4 of the named outputs by each entry of a field; the Jacobians have nv columns."""
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
        """Compares rates with differences along q + qd t + qdd t^2 / 2 + qddd t^3 / 6."""
        s, h = self.states(5, 4), 1e-4
        q, qd, qdd, qddd = (np.array(s[name]) for name in ("q", "qd", "qdd", "tau"))
        at = lambda t: {"q": (q + t * (qd + t / 2 * (qdd + t / 3 * qddd))).tolist(), "qd": (qd + t * (qdd + t / 2 * qddd)).tolist(),
                        "qdd": (qdd + t * qddd).tolist()}
        tau = lambda t: np.array(self.ask("loaded", "inverse-dynamics", at(t))["tau"])
        a = self.ask("loaded", "torque-derivative", {**at(0), "qddd": qddd.tolist()})
        self.assertClose(a["tau_dot"], ((8 * (tau(h) - tau(-h)) - (tau(2 * h) - tau(-2 * h))) / (12 * h)).tolist(), 1e-8)

    def test_parameters(self):
        """Compares derivatives by mass and first moments with differences between small payloads, since a payload adds to the parameters of its
        link."""
        s, h = self.states(4, 5), 1e-4
        inverse, forward = {name: s[name] for name in ("q", "qd", "qdd")}, {name: s[name] for name in ("q", "qd", "tau")}
        wrench = {"wrenches": [{"link": "fore", "force": [3, -2, 4], "point": [0.1, 0, 0]}]}
        for operation, derivative, output, request in (
                ("inverse-dynamics", "sensitivity", "tau", {**inverse, **wrench}),
                ("torque-derivative", "torque-derivative", "tau_dot", {**inverse, "qddd": s["tau"], **wrench}),
                ("forward-dynamics", "forward-sensitivity", "qdd", {**forward, **wrench})):
            name = f"d{output}_dparameters"
            a = np.array(self.ask("loaded", derivative, {**request, "outputs": [name]})[name])
            at = lambda m: np.array(self.ask("loaded", operation, {**request, "payload": {"link": "hand", "mass": m}})[output])
            self.assertClose(a[:, :, 20].tolist(), ((4 * at(h) - at(2 * h) - 3 * at(0)) / (2 * h)).tolist(), 1e-6)

    def test_steps(self):
        """Compares the matrices A and B of a step and its derivatives by wrenches with differences; a rollout has the bits of repeated
        steps."""
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

    def test_feed_forward(self):
        """The motor of an elastic joint carries the load: its torque without friction is that of spring and rotor.
        Forward dynamics under the torques gives the motion."""
        s = np.random.default_rng(8).uniform(-2, 2, (5, 10, 4))
        motion = dict(zip(("q", "qd", "qdd", "qddd", "qdddd"), s.tolist()))
        a = self.ask("elastic", "feed-forward", motion)
        state = {name: a[name] for name in ("q", "qd", "qdd")}
        T = np.array(self.ask("elastic", "inverse-dynamics", {**state, "friction": False})["tau"])
        q, qd, qdd = (np.array(a[name]) for name in ("q", "qd", "qdd"))
        spring = 120 * (q[:, 1] - q[:, 3] - 0.1)
        self.assertClose((-20e-4 * (qdd[:, 0] - 20 * qdd[:, 3]) - spring).tolist(), T[:, 3].tolist(), 1e-11)
        motor = T[:, 3] + 0.1 * qd[:, 3] + np.tanh(qd[:, 3] / 0.5) * (0.02 + 0.3 * np.abs(T[:, 3]))
        self.assertClose(np.array(a["tau"])[:, 3].tolist(), motor.tolist(), 1e-12)
        self.assertEqual(np.array(a["tau"])[:, 1].tolist(), [0] * 10)
        qdd = self.ask("elastic", "forward-dynamics", {"q": a["q"], "qd": a["qd"], "tau": a["tau"]})["qdd"]
        self.assertClose(qdd, a["qdd"], 1e-9)

    def test_second_derivatives(self):
        """Compares hessian and forward-hessian, contracted and full, with differences of the first derivatives, and trajectory-hessian with
        differences of the gradient."""
        s = self.states(3, 9)
        for row in range(3):
            at, m = {name: s[name][row] for name in s}, np.random.default_rng(row).uniform(-1, 1, 3)
            for operation, first, names, of in (("hessian", "sensitivity", ("q", "qd", "qdd"), "tau"),
                                                ("forward-hessian", "forward-sensitivity", ("q", "qd", "tau"), "qdd")):
                state, last = {name: at[name] for name in names}, names[2]
                pairs = (("q", "q"), ("q", "qd"), ("q", last), ("qd", "qd"), ("qd", last))
                a = self.ask("loaded", operation, {**state, "multipliers": m.tolist(), "outputs": [
                    *(f"hessian_{x}_{y}" for x, y in pairs), *(f"d2{of}_d{x}_d{y}" for x, y in pairs)]})
                for x, y in pairs:
                    name = f"d{of}_d{x}"
                    expected = self.difference(first, [name], state, y)[name].reshape(3, 3, 3)
                    size = np.abs(expected).max() + 1
                    self.assertClose(a[f"d2{of}_d{x}_d{y}"], expected.tolist(), 1e-7, size, name + y)
                    self.assertClose(a[f"hessian_{x}_{y}"], np.einsum("i,ijk->jk", m, expected).tolist(), 1e-7, size, name + y)
        points, h = np.random.default_rng(10).uniform(-1, 1, (5, 3)), 1e-4
        motion, multipliers = {"degree": 3, "duration": 1.3, "times": [0.17, 0.55, 1.1]}, np.array(s["q"])
        moved = [points + d * h * e.reshape(5, 3) for e in np.eye(15) for d in (1, -1, 2, -2)]
        gradient = np.array(self.ask("loaded", "trajectory", {**motion, "dense": True, "outputs": ["dtau_dcontrol_points"],
                                                              "control_points": [x.tolist() for x in moved]})["dtau_dcontrol_points"])
        x = np.einsum("ni,bnikj->bkj", multipliers, gradient).reshape(15, 4, 15)
        expected = (8 * (x[:, 0] - x[:, 1]) - (x[:, 2] - x[:, 3])) / (12 * h)
        got = self.ask("loaded", "trajectory-hessian", {**motion, "control_points": points.tolist(),
                                                        "torque_multipliers": multipliers.tolist()})["hessian_control_points"]
        self.assertClose(np.array(got).reshape(15, 15).tolist(), expected.tolist(), 1e-7, np.abs(expected).max())

    def test_path(self):
        """The torque must be the polynomial of `path` plus the friction that the answer lists, proportional to |T|, where T is the polynomial
        without friction. Sharp friction is listed with velocity 0; at a turning point of the path it jumps."""
        s, v, u = self.states(8, 11), 0.7, -0.4
        path = {"q": s["q"], "qd": s["qd"], "qdd": s["qdd"], "outputs": ["tau_a", "tau_b", "tau_c", "tau_d", "smooth_friction", "jumps"]}
        a, rigid = (self.ask("loaded", "path", {**path, **more}) for more in ({}, {"friction": False}))
        value = lambda a: sum(np.array(a["tau_" + name]) * x for name, x in zip("abcd", (u, v * v, 1, v)))
        self.assertEqual([(term["joint"], term["velocity"], term["load"]) for term in a["smooth_friction"]],
                         [("shoulder", 0, 0.2), ("elbow", SMOOTH, 0.1), ("slide", 0, 0.15), ("elbow", 0.5, 0.3)])
        tau, T, rate = value(a), np.abs(value(rigid)), v * np.array(s["qd"])
        for term in a["smooth_friction"]:
            i = ["shoulder", "elbow", "slide"].index(term["joint"])
            sense = np.tanh(rate[:, i] / term["velocity"]) if term["velocity"] else np.sign(rate[:, i])
            tau[:, i] += sense * (np.where(rate[:, i] > 0, term["positive"], term["negative"]) + term["load"] * T[:, i])
        moving = {"q": s["q"], "qd": rate.tolist(), "qdd": (v * v * np.array(s["qdd"]) + u * np.array(s["qd"])).tolist()}
        self.assertClose(self.ask("loaded", "inverse-dynamics", moving)["tau"], tau.tolist(), 1e-12)
        turns = np.sign(np.array(s["qd"]))[1:] != np.sign(np.array(s["qd"]))[:-1]
        turns[:, 1] = False
        self.assertEqual((np.array(a["jumps"])[:-1] > 0).tolist(), turns.tolist())

    def test_task_space(self):
        """The task-space bias must be the joint bias at qdd = 0, mapped to the task; the task-space inertia contains no friction."""
        s = self.states(4)
        frame = {"q": s["q"], "frame": "hand", "axes": ["x", "z"]}
        a = self.ask("loaded", "task-space", {**frame, "qd": s["qd"],
                                              "outputs": ["inertia", "jacobian_inverse", "jacobian_dot_qd", "bias"]})
        h = np.array(self.ask("loaded", "bias", {"q": s["q"], "qd": s["qd"]})["bias"])
        expected = np.einsum("bvk,bv->bk", a["jacobian_inverse"], h) - np.einsum("bkl,bl->bk", a["inertia"], a["jacobian_dot_qd"])
        self.assertClose(a["bias"], expected.tolist(), 1e-11)
        self.assertEqual(a["inertia"], self.ask("unloaded", "task-space", frame)["inertia"])

    def test_ground_reaction(self):
        """Checks tau = T + f + g |T| with T from the wrenches of the feet too, and the derivatives of tau against differences."""
        choose, h = np.random.default_rng(12), 1e-4
        state = np.concatenate([[0.1, 0.2, 0.5, 0, 0, 0, 1], choose.uniform(-0.3, 0.3, 2), choose.uniform(-1, 1, 16)])
        fields = lambda x: {"q": x[..., :9].tolist(), "qd": x[..., 9:17].tolist(), "qdd": x[..., 17:].tolist(),
                            "feet": [{"link": "left", "point": [0, 0, -0.4]}, {"link": "right", "point": [0, 0.05, -0.4]}]}
        a = self.ask("walker", "ground-reaction", {**fields(state), "outputs": ["tau", "foot_wrenches", *(
            f"d{name}_d{x}" for name in ("tau", "_foot_wrenches") for x in ("q", "qd", "qdd"))]})
        T = np.array(self.ask("light_walker", "ground-reaction", {**fields(state), "friction": False})["tau"])[6:]
        rate = state[15:17]
        g = 0.2 * np.tanh(rate / SMOOTH)
        self.assertClose(a["tau"][6:], (T + 0.2 * rate + 0.5 * np.tanh(rate / SMOOTH) + g * np.abs(T)).tolist(), 1e-11)
        entries = [*range(7, 25)]
        rows = np.array([state + d * e for e in np.eye(25)[entries] for d in (h, -h, 2 * h, -2 * h)])
        b = self.ask("walker", "ground-reaction", {**fields(rows), "outputs": ["tau", "foot_wrenches"]})
        for name, prefix in (("tau", "dtau"), ("foot_wrenches", "d_foot_wrenches")):
            v = np.array(b[name]).reshape(18, 4, -1)
            expected = ((8 * (v[:, 0] - v[:, 1]) - (v[:, 2] - v[:, 3])) / (12 * h)).T
            got = np.concatenate([np.array(a[f"{prefix}_d{x}"]).reshape(len(expected), 8) for x in ("q", "qd", "qdd")], 1)[:, 6:]
            self.assertClose(got.tolist(), expected.tolist(), 1e-8, np.abs(expected).max(), name)
        chain = [{"name": f"part{i}", "parent": f"part{i - 1}" if i else "base",
                  "joint": {"name": f"joint{i}", "type": "prismatic" if i < 3 else "revolute", "axis": np.eye(3)[i % 3].tolist()}}
                 for i in range(6)]
        chain[0]["joint"]["friction"] = {"load": 0.1}
        chain[5]["inertial"] = body(3, (0, 0, 0.1))
        self.put_model("guided", {"links": chain})
        refused = self.client.post("/v1/models/guided/ground-reaction", {"q": [0] * 6, "outputs": ["resultant"]})
        self.assertEqual(self.assertProblem(refused, 422)["code"], "not-supported")

    def test_margins(self):
        """Effort margins compare the limit with the torque that includes friction."""
        m = self.motion(5)
        a = self.ask("loaded", "margins", {**m, "kinds": ["effort"]})
        tau = np.array(self.ask("loaded", "inverse-dynamics", m)["tau"])
        self.assertClose(np.array(a["margins"])[..., 0].tolist() if np.array(a["margins"]).ndim == 3 else a["margins"],
                         (50 - np.abs(tau)).tolist(), 1e-12)

    def test_operations_that_refuse(self):
        """Operations that cannot include load friction refuse it instead of leaving it out."""
        s = self.states(4)
        q, qd, qdd, tau = (s[name] for name in ("q", "qd", "qdd", "tau"))
        motion = {"q": q, "qd": qd, "qdd": qdd}
        for operation, request in (
                ("identify", {**motion, "tau": tau}), ("step", {"q": q, "tau": tau, "step": 0.01, "friction_at_rest": "stick"}),
                ("torque-derivative", {"q": q, "qd": qd, "free": ["elbow"], "outputs": ["dtau_dot_dparameters"]})):
            answer = self.client.post(f"/v1/models/loaded/{operation}", request)
            self.assertEqual(self.assertProblem(answer, 422)["code"], "not-supported", operation)
        self.assertEqual(self.ask("loaded", "regressor", motion), self.ask("unloaded", "regressor", motion))

    def test_documents_that_refuse(self):
        """PUT refuses load coefficients that no operation supports."""
        mimic, elastic, motor = arm(), arm(), arm((0.2, 0.75, 0.1))
        mimic["links"][2]["joint"]["mimic"] = {"joint": "shoulder"}
        elastic["links"][0]["joint"]["elastic"] = {"stiffness": 100}
        loop = arm(loops=[{"name": "loop", "type": "revolute", "axis": [0, 1, 0], "frame_a": "hand", "frame_b": "base"}])
        loop["links"][0]["joint"]["actuated"] = False
        for document, link in ((mimic, 2), (elastic, 0), (motor, 1), (loop, 0)):
            answer = self.client.put("/v1/models/bad", document)
            self.assertProblem(answer, 422, f"/links/{link}/joint/friction/load")


if __name__ == "__main__":
    tap.main()
