"""What holds for every mechanism with closed loops: derivatives against differences, forward dynamics as the inverse of
inverse dynamics, the operations against one another, the same bits in any batch and encoding."""
import struct

import cbor2
import numpy as np
import tap
from cbor2 import CBORTag
from closed import Closed
from harness import Server
from lagrange import differences, extrapolated, rate
from parallel_robots import about_centre

MOTION = ("q", "qd", "qdd")
LOADS = {
    "four_bar": {"wrenches": [{"link": "coupler", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "point": [0.02, 0.01, 0]}],
                 "payload": {"link": "rocker", "mass": 0.3, "com": [0.05, 0.02, 0]}},
    "five_bar": {"wrenches": [{"link": "right_rod", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "frame": "link"}]},
    "delta": {"payload": {"link": "platform", "mass": 0.3, "com": [0.05, 0.02, -0.1]}},
    "stewart": {"wrenches": [{"link": "platform", "force": [30, -20, 10], "torque": [3, 2, 4], "point": [0.2, 0.1, 0]}],
                "payload": {"link": "platform", "mass": 5, "com": [0.1, 0.2, 0.1], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.2}}}}


def only(state, *names):
    return {name: state[name] for name in names}


def loads(model, operation):
    """What of LOADS an operation takes."""
    return only(LOADS[model], *{"payload"} & LOADS[model].keys()) if operation in ("mass-matrix", "coriolis") else LOADS[model]


class Derivatives(Closed):
    def slopes(self, model, operation, output, state, by):
        """d output / d by, by differences of what the server answers."""
        def answer(rows):
            return self.ask(model, operation, {**rows, **LOADS[model], "outputs": [output]})[output]
        return differences(answer, state, by)

    def test_sensitivity(self):
        for model in self.MODELS:
            for seed in (21, 22):
                s = only(self.state(model, seed), *MOTION)
                answer = self.ask(model, "sensitivity", {**s, **LOADS[model], "outputs": ["tau", "dtau_dq", "dtau_dqd", "dtau_dqdd"]})
                for name in MOTION:
                    expected = self.slopes(model, "inverse-dynamics", "tau", s, name)
                    self.near(answer["dtau_d" + name], expected, 1e-8, f"{model} dtau_d{name}", np.abs(answer["tau"]).max())
                self.near(answer["tau"], self.ask(model, "inverse-dynamics", {**s, **LOADS[model]})["tau"], 1e-12, model)
                mass = self.ask(model, "mass-matrix", {"q": s["q"], **loads(model, "mass-matrix")})
                self.near(answer["dtau_dqdd"], mass["mass_matrix"], 1e-11, model)

    def test_joint_wrenches(self):
        for model in self.MODELS:
            s = only(self.state(model, 27), *MOTION)
            outputs = ["d_joint_wrenches_d" + name for name in MOTION]
            answer = self.ask(model, "sensitivity", {**s, **LOADS[model], "outputs": [*outputs, "joint_wrenches"]})
            for name, output in zip(MOTION, outputs):
                expected = self.slopes(model, "inverse-dynamics", "joint_wrenches", s, name)
                self.near(answer[output], expected, 1e-8, f"{model} {output}", np.abs(answer["joint_wrenches"]).max())

    def test_forward_sensitivity(self):
        for model in self.MODELS:
            s = only(self.state(model, 23), "q", "qd", "tau")
            answer = self.ask(model, "forward-sensitivity", {**s, **LOADS[model], "outputs": ["qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau"]})
            for name in ("q", "qd", "tau"):
                expected = self.slopes(model, "forward-dynamics", "qdd", s, name)
                self.near(answer["dqdd_d" + name], expected, 1e-8, f"{model} dqdd_d{name}")
            self.near(answer["qdd"], self.ask(model, "forward-dynamics", {**s, **LOADS[model]})["qdd"], 1e-12, model)

    def test_torque_rate(self):
        for model in self.MODELS:
            s = only(self.state(model, 24), *MOTION, "qddd")
            expected = rate(lambda rows: self.ask(model, "inverse-dynamics", {**rows, **LOADS[model]})["tau"], s)
            answer = self.ask(model, "torque-derivative", {**s, **LOADS[model], "outputs": ["tau_dot", "joint_wrench_rates"]})
            self.near(answer["tau_dot"], expected, 1e-8, model)
            outputs = {**LOADS[model], "outputs": ["joint_wrenches"]}
            expected = rate(lambda rows: self.ask(model, "inverse-dynamics", {**rows, **outputs})["joint_wrenches"], s)
            self.near(answer["joint_wrench_rates"], expected, 1e-8, model)

    def test_trajectory(self):
        """Along a spline tau and its rate are those of the states; gradients by the control points by differences."""
        for model in ("five_bar", "delta"):
            first, last = self.states(model, 2, 28)["q"]
            points = np.linspace(first, last, 7)
            points[3] += 0.05
            motion = {"degree": 4, "duration": 0.8, "times": [0.1, 0.55]}
            answer = self.ask(model, "trajectory", {**motion, "control_points": points.tolist(), "dense": True, "outputs": [
                "q", "qd", "qdd", "qddd", "tau", "tau_dot", "dtau_dcontrol_points", "dtau_dduration"]})
            states = only(answer, *MOTION, "qddd")
            expected = self.ask(model, "torque-derivative", states)
            self.near(answer["tau"], expected["tau"], 1e-12, model)
            self.near(answer["tau_dot"], expected["tau_dot"], 1e-11, model)
            shape = points.shape

            def tau(rows):
                return self.ask(model, "trajectory", {**motion, "outputs": ["tau"], "control_points": [
                    np.reshape(row, shape).tolist() for row in rows["points"]]})["tau"]
            slopes = differences(tau, {"points": list(points.ravel())}, "points")
            self.near(answer["dtau_dcontrol_points"], slopes.reshape(2, shape[1], *shape), 1e-8, model)
            stretched = [self.ask(model, "trajectory", {**motion, "duration": 0.8 + t, "times": [0.1 * (1 + t / 0.8), 0.55 * (1 + t / 0.8)],
                                                        "control_points": points.tolist(), "outputs": ["tau"]})["tau"]
                         for part in (1, 2, 4) for t in (2e-3 / part, -2e-3 / part)]
            self.near(answer["dtau_dduration"], extrapolated(stretched, 2e-3)[..., 0], 1e-8, model)

    def test_by_loads(self):
        """tau is linear in gravity and wrenches: differences are exact; so is qdd in wrenches."""
        for model, link in (("four_bar", "coupler"), ("five_bar", "right_rod"), ("delta", "rod3b"), ("stewart", "platform")):
            s = self.state(model, 26)
            wrench = {"link": link, "point": [0.1, 0.05, -0.02], "frame": "link"}
            motion = only(s, *MOTION)
            answer = self.ask(model, "sensitivity", {**motion, "wrenches": [wrench], "outputs": ["dtau_dgravity", "dtau_dwrench"]})
            forward = self.ask(model, "forward-sensitivity", {**only(s, "q", "qd", "tau"), "wrenches": [wrench], "outputs": ["dqdd_dwrench"]})
            units = [{**wrench, "force": list(e[:3]), "torque": list(e[3:])} for e in np.eye(6)]
            for given, operation, output, state in ((answer["dtau_dwrench"], "inverse-dynamics", "tau", motion),
                                                    (forward["dqdd_dwrench"], "forward-dynamics", "qdd", only(s, "q", "qd", "tau"))):
                still = self.ask(model, operation, state)[output]
                expected = [np.subtract(self.ask(model, operation, {**state, "wrenches": [unit]})[output], still) for unit in units]
                self.near(given, [np.transpose(expected)], 1e-8, f"{model} {output}")
            none = self.ask(model, "inverse-dynamics", {**motion, "gravity": [0, 0, 0]})["tau"]
            expected = [np.subtract(self.ask(model, "inverse-dynamics", {**motion, "gravity": list(e)})["tau"], none) for e in np.eye(3)]
            self.near(answer["dtau_dgravity"], np.transpose(expected), 1e-9, model)

    def test_motion_of_frames(self):
        """Jacobian, velocity, acceleration and jerk of a frame are derivatives of its pose."""
        frames = {"four_bar": "coupler_point", "five_bar": "tip", "delta": "tool", "stewart": "centre"}
        for model, frame in frames.items():
            s = only(self.state(model, 25), *MOTION, "qddd")
            at = {"frame": frame, "frames": [frame]}
            answer = self.ask(model, "kinematics", {**s, **at, "outputs": ["jacobian", "jacobian_dot", "velocity", "acceleration", "jerk"]})
            place = lambda rows: self.ask(model, "kinematics", {**rows, **at, "outputs": ["poses"]})["poses"][frame]["position"]
            along = lambda output: rate(lambda rows: self.ask(model, "kinematics", {**rows, **at, "outputs": [output]})[output], s)
            self.near(answer["jacobian"][:3], differences(place, only(s, "q"), "q"), 1e-8, model)
            self.near(np.array(answer["jacobian"]) @ s["qd"], answer["velocity"], 1e-11, model)
            self.near(answer["jacobian_dot"], along("jacobian"), 1e-8, model)
            self.near(answer["acceleration"], along("velocity"), 1e-8, model)
            self.near(answer["jerk"], along("acceleration"), 1e-8, model)


class Identities(Closed):
    def test_inverse_and_forward(self):
        for model in self.MODELS:
            s = self.states(model, 50, 31)
            qdd = self.ask(model, "forward-dynamics", {**only(s, "q", "qd", "tau"), **LOADS[model]})["qdd"]
            self.near(self.ask(model, "inverse-dynamics", {**only(s, "q", "qd"), "qdd": qdd, **LOADS[model]})["tau"], s["tau"], 1e-9, model)
            tau = self.ask(model, "inverse-dynamics", {**only(s, *MOTION), **LOADS[model]})["tau"]
            self.near(self.ask(model, "forward-dynamics", {**only(s, "q", "qd"), "tau": tau, **LOADS[model]})["qdd"], s["qdd"], 1e-9, model)

    def test_equation_of_motion(self):
        """tau = M qdd + C qd + g + friction, kinetic = qd' M qd / 2, M' - 2 C skew, Y p: operations among themselves."""
        for model in self.MODELS:
            s = self.state(model, 32)
            q, qd, qdd = (np.array(s[name]) for name in MOTION)
            mass = self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["mass_matrix", "inverse"]})
            M = np.array(mass["mass_matrix"])
            bias = self.ask(model, "bias", {**only(s, "q", "qd"), "outputs": ["bias", "coriolis", "gravity", "friction"]})
            C = np.array(self.ask(model, "coriolis", only(s, "q", "qd"))["coriolis_matrix"])
            tau = self.ask(model, "inverse-dynamics", only(s, *MOTION))["tau"]
            self.near(M @ qdd + bias["bias"], tau, 1e-11, model)
            self.near(np.add(bias["coriolis"], bias["gravity"]) + bias["friction"], bias["bias"], 1e-11, model)
            self.near(C @ qd, bias["coriolis"], 1e-10, model)
            self.near(np.array(mass["inverse"]) @ M, np.eye(len(q)), 1e-10, model)
            self.assertEqual(mass["mass_matrix"], M.T.tolist(), model)
            energy = self.ask(model, "energy", {**only(s, "q", "qd"), "outputs": ["kinetic", "com_jacobian", "com_velocity",
                                                                                   "mass", "momentum", "momentum_matrix"]})
            self.near(energy["kinetic"], qd @ M @ qd / 2, 1e-11, model)
            self.near(np.array(energy["com_jacobian"]) @ qd, energy["com_velocity"], 1e-11, model)
            self.near(np.array(energy["momentum_matrix"]) @ qd, energy["momentum"], 1e-11, model)
            self.near(np.multiply(energy["com_velocity"], energy["mass"]), energy["momentum"][:3], 1e-11, model)

    def test_coriolis(self):
        """Christoffel's symbols from differences of the mass matrix."""
        for model in self.MODELS:
            s = only(self.state(model, 34), "q", "qd")
            answer = self.ask(model, "coriolis", {**s, "outputs": ["coriolis_matrix", "christoffel"]})
            d = differences(lambda rows: self.ask(model, "mass-matrix", rows)["mass_matrix"], only(s, "q"), "q")
            expected = (d + d.transpose(0, 2, 1) - d.transpose(2, 1, 0)) / 2
            self.near(answer["christoffel"], expected, 1e-8, model)
            self.near(answer["coriolis_matrix"], expected @ s["qd"], 1e-8, model)

    def test_regressor(self):
        """tau is linear in the bodies' parameters: Y p, with p from the solids of the document."""
        for model in self.MODELS:
            links = {link["name"]: link for link in self.documents[model]["links"]}
            parameters = []
            for body in self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]:
                solid = links[body].get("inertial")
                if not solid:
                    parameters += [0] * 10
                    continue
                m, c = solid["mass"], np.array(solid.get("xyz", [0, 0, 0]))
                I = about_centre(solid) + m * (c @ c * np.eye(3) - np.outer(c, c))
                parameters += [m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
            s = only(self.state(model, 35), *MOTION)
            Y = self.ask(model, "regressor", {**s, "outputs": ["regressor"]})["regressor"]
            rotors = [joint.get("rotor_inertia", 0) for joint in (link["joint"] for link in links.values()) if joint.get("actuated", True)]
            tau = self.ask(model, "inverse-dynamics", {**s, "friction": False})["tau"]
            self.near(np.array(Y) @ parameters + np.multiply(rotors, s["qdd"]), tau, 1e-10, model)
            self.near(self.ask(model, "sensitivity", {**s, "outputs": ["dtau_dparameters"]})["dtau_dparameters"], Y, 1e-12, model)

    def test_wrenches_by_jacobians(self):
        """A wrench at a frame changes tau by -J' W."""
        for model, (frame, link) in {"four_bar": ("coupler", "coupler"), "delta": ("rod2b", "rod2b"), "stewart": ("cylinder3", "cylinder3")}.items():
            s, W = only(self.state(model, 33), *MOTION), [3, -2, 1, 0.3, 0.2, -0.4]
            J = self.ask(model, "kinematics", {"q": s["q"], "frame": frame, "outputs": ["jacobian"]})["jacobian"]
            loaded = self.ask(model, "inverse-dynamics", {**s, "wrenches": [{"link": link, "force": W[:3], "torque": W[3:]}]})["tau"]
            self.near(np.subtract(self.ask(model, "inverse-dynamics", s)["tau"], loaded), np.transpose(J) @ W, 1e-9, model)


class Bits(Closed):
    OPERATIONS = {"inverse-dynamics": (MOTION, ["tau", "joint_wrenches", "full"]), "forward-dynamics": (("q", "qd", "tau"), ["qdd"]),
                  "mass-matrix": (("q",), ["mass_matrix", "inverse"]), "torque-derivative": ((*MOTION, "qddd"), ["tau_dot"]),
                  "sensitivity": (MOTION, ["dtau_dq", "dtau_dqd", "dtau_dqdd"]), "coriolis": (("q", "qd"), ["coriolis_matrix"]),
                  "forward-sensitivity": (("q", "qd", "tau"), ["dqdd_dq", "dqdd_dqd"])}

    def row(self, value, r):
        if isinstance(value, dict):
            return {name: part if name.endswith("_names") else self.row(part, r) for name, part in value.items()}
        return value[r]

    def test_alone_and_in_batches(self):
        for model in self.MODELS:
            s = self.states(model, 100, 41)
            for operation, (fields, outputs) in self.OPERATIONS.items():
                request = {**loads(model, operation), "outputs": outputs}
                whole = self.ask_texts(model, operation, {**only(s, *fields), **request})
                some = self.ask_texts(model, operation, {**{n: s[n][90:97] for n in fields}, **request})
                one = self.ask_texts(model, operation, {**{n: s[n][93:94] for n in fields}, **request})
                alone = self.ask_texts(model, operation, {**{n: s[n][93] for n in fields}, **request})
                self.assertEqual(alone, self.row(whole, 93), f"{model} {operation}")
                self.assertEqual(self.row(some, 3), alone, f"{model} {operation}")
                self.assertEqual(self.row(one, 0), alone, f"{model} {operation}")

    def test_outputs_alone(self):
        """Every output of the contract that loops have is the same alone as with all others."""
        schemas = self.client.get("/openapi.json").json()["components"]["schemas"]
        pull = {"wrenches": [{"link": "platform", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4]}]}
        s = self.states("stewart", 3, 45)
        for operation, fields in (("inverse-dynamics", MOTION), ("forward-dynamics", ("q", "qd", "tau")), ("mass-matrix", ("q",)),
                                  ("bias", ("q", "qd")), ("kinematics", (*MOTION, "qddd")), ("energy", ("q", "qd")),
                                  ("torque-derivative", (*MOTION, "qddd")), ("sensitivity", MOTION),
                                  ("forward-sensitivity", ("q", "qd", "tau")), ("coriolis", ("q", "qd")), ("task-space", ("q", "qd")),
                                  ("regressor", MOTION)):
            request = only(s, *fields)
            if operation in ("kinematics", "task-space"):
                request["frame"] = "centre"
            elif operation in ("inverse-dynamics", "forward-dynamics", "sensitivity", "forward-sensitivity"):
                request.update(pull)
            known = schemas["".join(map(str.capitalize, operation.split("-"))) + "Request"]["properties"]["outputs"]["items"]["enum"]
            alone = {}
            for output in known:
                answer = self.client.post(f"/v1/models/stewart/{operation}", {**request, "outputs": [output]})
                if answer.status == 200:
                    alone[output] = answer.texts()[output]
                else:
                    self.assertIn(self.assertProblem(answer, 422)["code"], ("not-for-loops", "bad-value"), f"{operation} {output}")
            self.assertGreater(len(alone), 0, operation)
            self.assertEqual(self.ask_texts("stewart", operation, {**request, "outputs": list(alone)}), alone, operation)

    def test_targets(self):
        """Every width of vectors gives the same bits, and so does a worker."""
        requests = [(model, operation, {**only(self.states(model, 21, 44), *fields), "outputs": outputs})
                    for model in self.MODELS for operation, (fields, outputs) in self.OPERATIONS.items()]
        answers = [self.ask_texts(*request) for request in requests]
        for arguments in (("--target", "scalar"), ("--target", "sse2"), ("--target", "avx2"), ("--inline-limit", "0")):
            try:
                server = Server(*arguments)
            except RuntimeError:
                continue    # a target this machine does not have
            client = server.client()
            for (model, operation, request), expected in zip(requests, answers):
                given = client.post(f"/v1/models/{model}/{operation}", request).texts()
                self.assertEqual(given, expected, f"{arguments} {model} {operation}")
            client.close()
            self.assertIsNone(server.stop())

    def test_encodings(self):
        for model in self.MODELS:
            s = self.states(model, 7, 42)
            n = len(s["q"][0])
            packed = {name: CBORTag(40, [[7, n], CBORTag(86, struct.pack(f"<{7 * n}d", *np.ravel(s[name])))]) for name in MOTION}
            answer = self.client.post(f"/v1/models/{model}/inverse-dynamics", cbor2.dumps(packed), Content_Type="application/cbor")
            shape, values = cbor2.loads(answer.body)["tau"].value
            self.assertEqual(shape, [7, n])
            plain = self.ask(model, "inverse-dynamics", only(s, *MOTION))["tau"]
            self.assertEqual(list(struct.unpack(f"<{7 * n}d", values.value)), [x for row in plain for x in row], model)

    def test_beside_one_another(self):
        for model in self.MODELS:
            s = self.states(model, 5, 43)
            answer = self.ask_texts(model, "evaluate", {**only(s, *MOTION, "tau"), "operations": {
                name: {"outputs": outputs} for name, (fields, outputs) in self.OPERATIONS.items() if "qddd" not in fields}})
            for name, (fields, outputs) in self.OPERATIONS.items():
                if "qddd" not in fields:
                    alone = self.ask_texts(model, name, {**only(s, *fields), "outputs": outputs})
                    self.assertEqual(answer[name], alone, f"{model} {name}")




if __name__ == "__main__":
    tap.main()
