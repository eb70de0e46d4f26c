"""Tests path: the polynomials in velocity, acceleration and jerk along the path against the operations that compute
torques and their rates; derivatives along the path against differences; friction, elastic joints, floating bases,
loops; refusals."""
import numpy as np
import tap
from closed import LOADS, Closed
from samples import body

COEFFICIENTS = ("tau_a", "tau_b", "tau_c", "tau_d")
RATES = ("dtau_a_ds", "dtau_b_ds", "dtau_c_ds", "dtau_d_ds")
WRENCHES = [f"joint_wrenches_{name}" for name in "abc"]
MATRIX = [[0.1, 0.05], [0.08, -0.2]]  # rates of joints c and a for unit rates of the motors of coupled_arm
WRENCH_RATES = [f"d_joint_wrenches_{name}_ds" for name in "abc"]


def derivatives(p, speed, acceleration, jerk):
    """Returns qd, qdd and qddd in time, from the derivatives of q along the path and the velocity, acceleration and
    jerk of s."""
    first, second, third = (np.array(p[name]) for name in ("qd", "qdd", "qddd"))
    v, a, j = (np.array(x)[:, None] for x in (speed, acceleration, jerk))
    return {"q": p["q"], "qd": (first * v).tolist(), "qdd": (second * v ** 2 + first * a).tolist(),
            "qddd": (third * v ** 3 + 3 * second * v * a + first * j).tolist()}


def polynomials(answer, names, rates, speed, acceleration, jerk):
    """Returns the value and its rate that the coefficients in an answer give."""
    part = {name: np.array(answer[name]) for name in (*names, *rates)}
    v, a, j = (np.array(x).reshape(-1, *[1] * (part[names[0]].ndim - 1)) for x in (speed, acceleration, jerk))
    A, B, C, *D = (part[name] for name in names)
    dA, dB, dC, *dD = (part[name] for name in rates)
    D, dD = (D[0], dD[0]) if D else (0, 0)
    return A * a + B * v ** 2 + D * v + C, A * j + (dA + 2 * B) * v * a + dB * v ** 3 + D * a + dD * v ** 2 + dC * v


def coupled_arm(*frictions):
    """Returns an arm of three revolute joints, two of them driven by coupled motors with viscous friction and the given friction."""
    links = [{"name": name, "parent": parent, "inertial": body(2, (0.02, 0.01, -0.2)),
              "joint": {"name": "at_" + name, "type": "revolute", "axis": axis, "origin": {"xyz": [0, 0.1, -0.3]}}}
             for name, parent, axis in (("a", "base", [0, 0, 1]), ("b", "a", [0, 1, 0]), ("c", "b", [1, 0, 0.2]))]
    motors = [{"name": f"m{k}", "rotor_inertia": 1e-3, "friction": {"viscous": 2e-3, **f}} for k, f in enumerate(frictions)]
    return {"links": links, "transmissions": [{"joints": ["at_c", "at_a"], "matrix": MATRIX, "motors": motors}]}


def elastic_arm(**friction):
    """Returns an arm of two revolute joints with friction and a spring, the second elastic with a motor, and a
    prismatic joint."""
    return {"links": [
        {"name": "upper", "parent": "base", "inertial": body(2, (0.02, 0.01, -0.2)),
         "joint": {"name": "shoulder", "type": "revolute", "axis": [0, 1, 0], "friction": {"viscous": 0.4, **friction},
                   "spring": {"stiffness": 7, "damping": 0.3, "rest": 0.1}}},
        {"name": "fore", "parent": "upper", "inertial": body(1.5, (0.02, 0, -0.2)),
         "joint": {"name": "elbow", "type": "revolute", "axis": [0.6, 0.8, 0], "origin": {"xyz": [0, 0, -0.4]},
                   "friction": {"viscous": 0.2, **friction}, "elastic": {"stiffness": 300, "damping": 0.8}, "rotor_inertia": 0.05}},
        {"name": "hand", "parent": "fore", "inertial": body(0.5, (0, 0.02, 0)),
         "joint": {"name": "slide", "type": "prismatic", "axis": [0, 0, 1], "origin": {"xyz": [0, 0, -0.3]}}},
        {"name": "follower", "parent": "upper", "inertial": body(0.3, (0, 0.1, 0)),
         "joint": {"name": "belt", "type": "revolute", "axis": [0, 1, 0], "friction": {"viscous": 0.1, **friction},
                   "mimic": {"joint": "shoulder", "multiplier": -2}}}]}


class Path(Closed):
    def path(self, model, rows=6, seed=1):
        """Draws rows of a path: q with its derivatives along the path."""
        choose = np.random.default_rng(seed)
        if model in self.MODELS:
            s = self.states(model, rows, seed)
            return {name: s[name] for name in ("q", "qd", "qdd", "qddd")}
        description = self.ok(self.client.get(f"/v1/models/{model}"))
        nq, nv = len(description["position_names"]), len(description["velocity_names"])
        q = choose.uniform(-1, 1, (rows, nq))
        if nq > nv:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        return {"q": q.tolist(), **{name: choose.uniform(-1, 1, (rows, nv)).tolist() for name in ("qd", "qdd", "qddd")}}

    def check(self, model, tolerance=1e-11, joint_wrenches=True, **request):
        p, choose = self.path(model), np.random.default_rng(9)
        speed, acceleration, jerk = choose.uniform(0.3, 2, 6), choose.uniform(-3, 3, 6), choose.uniform(-9, 9, 6)
        moving = derivatives(p, speed, acceleration, jerk)
        answer = self.ask(model, "path", {**p, **request})
        self.assertEqual(list(answer), [*COEFFICIENTS, *RATES, "smooth_friction"])
        expected = self.ask(model, "torque-derivative", {
            **moving, **request, "outputs": ["tau", "tau_dot"] + (["joint_wrenches", "joint_wrench_rates"] if joint_wrenches else [])})
        tau, tau_dot = polynomials(answer, COEFFICIENTS, RATES, speed, acceleration, jerk)
        self.near(tau, expected["tau"], tolerance, f"{model} tau")
        self.near(tau_dot, expected["tau_dot"], tolerance, f"{model} tau_dot")
        if not joint_wrenches:
            return answer
        answer = self.ask(model, "path", {**p, **request, "outputs": [*WRENCHES, *WRENCH_RATES]})
        force, rate = polynomials(answer, WRENCHES, WRENCH_RATES, speed, acceleration, jerk)
        self.near(force, expected["joint_wrenches"], tolerance, f"{model} joint_wrenches")
        self.near(rate, expected["joint_wrench_rates"], tolerance, f"{model} joint_wrench_rates")
        return answer

    def test_polynomials(self):
        for model in ("puma560", "stanford", "panda", "solo12", "humanoid"):
            self.check(model)
        self.check("puma560", friction=False)
        self.put_model("elastic", elastic_arm())
        self.check("elastic")
        self.put_model("rubbing", elastic_arm(coulomb={"positive": 2, "negative": 3}))
        self.check("rubbing")

    def test_one_cause_of_damping(self):
        """The torques have a part that is odd in the path's velocity if a single joint, spring or elastic joint damps the motion."""
        for cause in ("friction", "spring", "elastic"):
            document = elastic_arm(viscous=0)
            upper, fore = (link["joint"] for link in document["links"][:2])
            for key, joint in (("friction", upper), ("spring", upper), ("elastic", fore)):
                joint[key]["viscous" if key == "friction" else "damping"] = 0.7 if key == cause else 0
            self.put_model(cause, document)
            self.assertGreater(np.abs(self.check(cause, joint_wrenches=False)["tau_d"]).max(), 0.01, cause)

    def test_wrenches_on_damped_robots(self):
        """The coefficient d of damping is the part of the torques that is odd in the path's velocity. Gravity and wrenches on links must
        not be in it."""
        self.put_model("elastic", elastic_arm())
        self.put_model("rubbing", elastic_arm(coulomb={"positive": 2, "negative": 3}))
        self.put_model("coupled", coupled_arm({}, {"coulomb": 0.1}))
        for model, first, second in (("elastic", "fore", "follower"), ("rubbing", "hand", "upper"), ("coupled", "c", "a")):
            self.check(model, 1e-10, gravity=[1, -2, -9], payload={"link": first, "mass": 0.7, "com": [0.1, 0.2, -0.1]}, wrenches=[
                {"link": first, "force": [3, -2, 5], "torque": [1, 2, 3], "point": [0.1, 0.05, -0.2]},
                {"link": second, "force": [1, 2, -3], "torque": [-2, 0.5, 1], "frame": "link"}])

    def test_surroundings(self):
        p = self.path("ur5")
        loads = {"payload": {"link": "wrist_3_link", "mass": 2, "com": [0, 0, 0.1]}, "gravity": [1, -2, -9],
                 "wrenches": [{"link": "forearm_link", "force": [3, -2, 5], "torque": [1, 2, 3], "point": [0.1, 0, 0]},
                              {"link": "wrist_3_link", "force": [1, 2, -3], "frame": "link"}]}
        ones = np.ones(6)
        moving = derivatives(p, 0.7 * ones, -2 * ones, 3 * ones)
        answer = self.ask("ur5", "path", {**p, **loads})
        expected = self.ask("ur5", "torque-derivative", {**moving, **loads})
        for given, name in zip(polynomials(answer, COEFFICIENTS, RATES, 0.7 * ones, -2 * ones, 3 * ones), ("tau", "tau_dot")):
            self.near(given, expected[name], 1e-11, name)
        self.assertEqual(np.abs(answer["tau_d"]).max(), 0)

    def test_loops(self):
        for model in self.MODELS:
            self.check(model, 1e-10, joint_wrenches=False)
            self.refused(self.client.post(f"/v1/models/{model}/path", {**self.path(model), "outputs": WRENCHES}), "not-for-loops")
        document = self.documents["four_bar"]
        rubbing = {**document, "name": "rubbing_bar", "links": [{**link, "joint": {**link["joint"], "friction": {"coulomb": 1}}}
                                                               for link in document["links"]]}
        self.put_model("rubbing_bar", rubbing)
        p = self.path("four_bar")
        self.refused(self.client.post("/v1/models/rubbing_bar/path", p), "not-for-loops")
        without = self.ask("rubbing_bar", "path", {**p, "friction": False})
        for name, expected in self.ask("four_bar", "path", {**p, "friction": False}).items():
            self.near(without[name], expected, 1e-13, name)

    def test_loads_of_loops(self):
        p, ones = self.path("stewart"), np.ones(6)
        answer = self.ask("stewart", "path", {**p, **LOADS["stewart"]})
        expected = self.ask("stewart", "torque-derivative", {**derivatives(p, ones, ones, -ones), **LOADS["stewart"]})
        for given, name in zip(polynomials(answer, COEFFICIENTS, RATES, ones, ones, -ones), ("tau", "tau_dot")):
            self.near(given, expected[name], 1e-10, name)

    def test_derivatives_along_the_path(self):
        """Compares with extrapolated differences of the coefficients along q(s) = q0 + q1 s + q2 s^2 / 2 + q3 s^3 / 6."""
        self.put_model("elastic", elastic_arm())
        for model in ("puma560", "elastic"):
            at = self.path(model, 1, 4)
            q, q1, q2, q3 = (np.array(at[name][0]) for name in ("q", "qd", "qdd", "qddd"))
            s = 0.01 * np.array([-2, -1, 1, 2])[:, None]
            along = {"q": q + q1 * s + q2 * s ** 2 / 2 + q3 * s ** 3 / 6, "qd": q1 + q2 * s + q3 * s ** 2 / 2, "qdd": q2 + q3 * s}
            for names, rates in ((COEFFICIENTS, RATES), (WRENCHES, WRENCH_RATES)):
                given = self.ask(model, "path", {**at, "outputs": [*names, *rates]})
                rows = self.ask(model, "path", {**{name: x.tolist() for name, x in along.items()}, "outputs": list(names)})
                for name, rate in zip(names, rates):
                    x = np.array(rows[name])
                    wide, near = (x[3] - x[0]) / 0.04, (x[2] - x[1]) / 0.02
                    self.near(given[rate][0], (4 * near - wide) / 3, 1e-6, f"{model} {rate}", 1)

    def test_parts(self):
        """Compares the coefficients a, b and c with the mass matrix and the terms of the bias."""
        p = self.path("puma560", seed=3)
        answer = self.ask("puma560", "path", p)
        M = np.array(self.ask("puma560", "mass-matrix", {"q": p["q"]})["mass_matrix"])
        bias = self.ask("puma560", "bias", {"q": p["q"], "qd": p["qd"], "outputs": ["coriolis", "gravity", "friction"]})
        coriolis, gravity, friction = (np.array(bias[name]) for name in ("coriolis", "gravity", "friction"))
        self.near(answer["tau_a"], np.einsum("nij,nj->ni", M, p["qd"]), 1e-13)
        self.near(answer["tau_b"], np.einsum("nij,nj->ni", M, p["qdd"]) + coriolis, 1e-13)
        self.near(np.array(answer["tau_c"]) + answer["tau_d"], gravity + friction, 1e-13)

    def test_smooth_friction(self):
        """The torque minus the polynomial is the tanh of smooth friction."""
        self.put_model("smooth", elastic_arm(coulomb={"positive": 2, "negative": 3}, coulomb_velocity=0.5))
        names = self.ok(self.client.get("/v1/models/smooth"))["velocity_names"]
        p, speed = self.path("smooth"), np.full(6, 0.8)
        answer = self.ask("smooth", "path", p)
        self.assertEqual(len(answer["smooth_friction"]), 3)
        tau, _ = polynomials(answer, COEFFICIENTS, RATES, speed, speed, speed)
        for term in answer["smooth_friction"]:
            v = names.index(term["joint"])
            slope = np.array(p["qd"])[:, v]
            tau[:, v] += np.where(slope > 0, term["positive"], term["negative"]) * np.tanh(slope * 0.8 / term["velocity"])
        moving = derivatives(p, speed, speed, speed)
        self.near(tau, self.ask("smooth", "torque-derivative", moving)["tau"], 1e-11)
        self.assertEqual(self.ask("smooth", "path", {**p, "friction": False})["smooth_friction"], [])

    def test_stribeck_friction(self):
        """Stribeck friction, sharp or smooth, is listed, and is the whole difference between torque and polynomial."""
        friction = {"coulomb": {"positive": 2, "negative": 3}, "breakaway": {"positive": 5, "negative": 4}, "stribeck_velocity": 0.7}
        for smooth in ({}, {"coulomb_velocity": 0.5}):
            model = f"stribeck{len(smooth)}"
            self.put_model(model, elastic_arm(**friction, **smooth))
            names = self.ok(self.client.get("/v1/models/" + model))["velocity_names"]
            p, speed = self.path(model), np.full(6, 0.8)
            answer = self.ask(model, "path", {**p, "outputs": [*COEFFICIENTS, *RATES, "smooth_friction", "jumps"]})
            self.assertEqual(len(answer["smooth_friction"]), 3)
            tau, _ = polynomials(answer, COEFFICIENTS, RATES, speed, speed, speed)
            for term in answer["smooth_friction"]:
                v = names.index(term["joint"])
                rate = np.array(p["qd"])[:, v] * 0.8
                fast = np.where(rate > 0, term["positive"], term["negative"])
                slow = np.where(rate > 0, term["breakaway_positive"], term["breakaway_negative"])
                sense = np.tanh(rate / term["velocity"]) if smooth else np.sign(rate)
                tau[:, v] += (fast + (slow - fast) * np.exp(-(rate / term["stribeck_velocity"]) ** 2)) * sense
            moving = derivatives(p, speed, speed, speed)
            self.near(tau, self.ask(model, "torque-derivative", moving)["tau"], 1e-11)
            self.assertEqual(bool(np.any(np.array(answer["jumps"]) >= 0)), not smooth and bool(
                np.any(np.diff(np.sign(np.array(p["qd"])[:, [names.index(t["joint"]) for t in answer["smooth_friction"]]]), axis=0))))

    def test_friction_of_coupled_motors(self):
        """The coefficients of the path velocity contain sharp friction of coupled motors; friction that depends on the speed is in
        `smooth_friction`, with the motors' rates.
        Sharp friction jumps where rates change sign."""
        sharp, stribeck = {"coulomb": {"positive": 0.2, "negative": 0.3}}, {"coulomb": 0.2, "breakaway": 0.4, "stribeck_velocity": 3}
        self.put_model("coupled", coupled_arm(sharp, {"coulomb": 0.1}))
        self.check("coupled")
        self.assertEqual(self.ask("coupled", "path", {**self.path("coupled"), "outputs": ["smooth_friction"]}), {"smooth_friction": []})
        p, speed, W = self.path("coupled", 40), np.full(40, 0.8), np.linalg.inv(MATRIX)
        rates = np.array(p["qd"])[:, [2, 0]] @ W.T
        expected = np.full((40, 2), -1.0)
        for row, k in zip(*np.nonzero(rates[:-1] * rates[1:] < 0)):
            expected[row, k] = rates[row, k] / (rates[row, k] - rates[row + 1, k])
        jumps = self.ask("coupled", "path", {**p, "outputs": ["jumps", "motor_jumps"]})
        self.near(jumps["motor_jumps"], expected, 1e-12)
        self.assertEqual(np.unique(jumps["jumps"]).tolist(), [-1])
        free = self.ask("coupled", "path", {**p, "friction": False, "outputs": ["motor_jumps"]})
        self.assertEqual(np.unique(free["motor_jumps"]).tolist(), [-1])
        self.put_model("coupled", coupled_arm({**sharp, "coulomb_velocity": 2}, stribeck))
        answer = self.ask("coupled", "path", {**p, "outputs": [*COEFFICIENTS, *RATES, "smooth_friction", "motor_jumps"]})
        self.assertEqual([term["joint"] for term in answer["smooth_friction"]], ["m0", "m1"])
        self.assertEqual((np.array(answer["motor_jumps"]) >= 0).any(axis=0).tolist(), [False, True])
        tau, _ = polynomials(answer, COEFFICIENTS, RATES, speed, speed, speed)
        v = 0.8 * rates
        first, second = answer["smooth_friction"]
        effort = [np.where(v[:, 0] > 0, first["positive"], first["negative"]) * np.tanh(v[:, 0] / first["velocity"]),
                  (second["positive"] + (second["breakaway_positive"] - second["positive"])
                   * np.exp(-(v[:, 1] / second["stribeck_velocity"]) ** 2)) * np.sign(v[:, 1])]
        tau[:, [2, 0]] += np.transpose(effort) @ W
        self.near(tau, self.ask("coupled", "torque-derivative", derivatives(p, speed, speed, speed))["tau"], 1e-11)
        self.refused(self.client.post("/v1/models/ur5/path", {**self.path("ur5"), "outputs": ["motor_jumps"]}), "bad-value")

    def test_jumps(self):
        qd = np.zeros((6, 6))
        qd[:, 0] = [1, 1, -3, -1, 0, 2]
        qd[:, 1] = [0, 1, 1, 1, 1, 0]
        qd[:, 2] = 1
        expected = np.full((6, 6), -1.0)
        expected[1, 0], expected[4, 0] = 0.25, 0
        expected[[0, 5], 1] = 0
        request = {"q": [[0] * 6] * 6, "qd": qd.tolist(), "outputs": ["jumps", "tau_c"]}
        answer = self.ask("puma560", "path", request)
        self.assertEqual(answer["jumps"], expected.tolist())
        c = np.array(answer["tau_c"])
        self.near(c[0, 0] - c[2, 0], 24.7313845 + 27.2358285, 1e-12)
        self.assertEqual(np.unique(self.ask("puma560", "path", {**request, "friction": False})["jumps"]).tolist(), [-1])
        long = {"q": [[0] * 6] * 1000, "qd": [[x, 0, 0, 0, 0, 0] for x in np.where(np.arange(1000) < 517, 1, -3).tolist()]}
        places = np.array(self.ask("puma560", "path", {**long, "outputs": ["jumps"]})["jumps"])[:, 0]
        self.assertEqual([(i, x) for i, x in enumerate(places) if x >= 0], [(516, 0.25)])

    def test_rows_alone(self):
        p = self.path("puma560", 19)
        outputs = [*COEFFICIENTS, *RATES, *WRENCHES, *WRENCH_RATES]
        whole = self.ask_texts("puma560", "path", {**p, "outputs": outputs})
        for row in (0, 7, 18):
            alone = {name: p[name][row] for name in p}
            self.assertEqual(self.ask_texts("puma560", "path", {**alone, "outputs": outputs}),
                             {name: whole[name][row] for name in outputs})
        for name in outputs:
            self.assertEqual(self.ask_texts("puma560", "path", {**p, "outputs": [name]}), {name: whole[name]}, name)

    def test_refusals(self):
        q = {"q": [0] * 6}
        for change, code, pointer in (({}, "missing-field", "/qd"), ({"qd": [0] * 5}, "wrong-shape", "/qd"),
                                      ({"qd": [0] * 6, "tau": [0] * 6}, "unknown-field", "/tau"),
                                      ({"qd": [0] * 6, "outputs": ["tau_e"]}, "unknown-name", "/outputs/0")):
            problem = self.assertProblem(self.client.post("/v1/models/ur5/path", {**q, **change}), 422, pointer)
            self.assertEqual(problem["code"], code, (change, problem))


if __name__ == "__main__":
    tap.main()
