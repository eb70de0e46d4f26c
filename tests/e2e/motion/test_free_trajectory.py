"""Tests trajectory with free coordinates, and its derivatives by inertial parameters: against inverse-dynamics,
torque-derivative and sensitivity at the sampled states, gradients against extrapolated differences, for joints with one
coordinate and with quaternions."""
import json

import numpy as np
import tap
from harness import ServerCase
from test_free_turns import TREE
from test_quaternion_trajectory import SPRINGY, STEPS, WEIGHTS, difference

# The free coordinates of each model: names, or (n, r) for every coordinate whose index is r modulo n.
MODELS = {"panda": ["panda_joint2", "panda_joint5"], "solo12": "base", "tree": (3, 1), "springy": (2, 1), "walker": (4, 0),
          "drone": (1, 0), "stanford": (6, 2), "loaded": (2, 0)}
LOOPS = {"hua": (2, 0)}
OF = {"dtau": "tau", "dtau_dot": "tau_dot", "d_joint_wrenches": "joint_wrenches", "dqdd": "qdd"}


def loaded():
    """Returns an arm with load-dependent friction, smoothed at zero velocity widely enough for differences."""
    from test_load_friction import arm
    document = arm()
    for entry in [link["joint"] for link in document["links"]] + document["motors"]:
        entry["friction"]["coulomb_velocity"] = 3
    return document


class FreeTrajectory(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        from test_link_order import walker
        from test_free_turns import on_arm
        for name, document in (("tree", TREE), ("springy", SPRINGY), ("walker", walker()), ("drone", on_arm("floating")), ("loaded", loaded())):
            assert cls.client.put(f"/v1/models/{name}", document).status == 201
        cls.about = {name: cls.client.get(f"/v1/models/{name}").json() for name in (*MODELS, *LOOPS)}

    def motion(self, model, seed, signals=True, **change):
        names, free = self.about[model]["velocity_names"], {**MODELS, **LOOPS}[model]
        if isinstance(free, tuple):
            free = names[free[1]::free[0]]
        mask = np.array([i < 6 if free == "base" else name in free for i, name in enumerate(names)])
        choose = np.random.default_rng(seed)
        size = 0.1 if model in LOOPS else 0.9
        links = self.about[model]["bodies"]
        constant = {"link": links[-1], "point": [0.1, -0.2, 0.3], "force": [1, -2, 0.5], "torque": [0.1, 0.2, 0.3]}
        request = {"degree": 4, "duration": 1.4, "gravity": [0.3, -0.2, -9.7], "free": free, "wrenches": [constant],
                   "control_points": choose.uniform(-size, size, (6, len(names))).tolist(), "times": [0, 0.3, 0.9, 1.4], **change}
        if signals:
            draw = lambda: (choose.uniform(-1, 1, len(names)) * mask).tolist()
            request["input"] = {"tau": {"amplitude": draw(), "angular_frequency": [2.0] * len(names), "offset": draw()}}
            if seed % 2:
                request["input"] = {"tau": {"degree": 3, "control_points": [draw() for _ in range(5)]}}
            constant.update(force={"amplitude": [1, 0, 2], "angular_frequency": [2, 3, 1], "offset": [0, 0.5, 0]}, torque={
                "degree": 3, "control_points": [[1, 2, 3], [-2, 4, 1], [2, 2, -1], [0, 1, 1], [1, 0, 0]]})
        return request, mask

    def near(self, got, expected, tolerance, what):
        got, expected = np.array(got, float), np.array(expected, float)
        self.assertEqual(got.shape, expected.shape, what)
        self.assertLess(np.abs(got - expected).max() / max(1, np.abs(expected).max()), tolerance, what)

    @staticmethod
    def given(request):
        return {name: value for name, value in request.items() if name not in ("free", "input")}

    def test_states(self):
        """With constant efforts and wrenches, the samples are those of inverse-dynamics and torque-derivative."""
        for model in (*MODELS, *LOOPS):
            request, mask = self.motion(model, 2, signals=False)
            tau = (np.random.default_rng(1).uniform(-1, 1, len(mask)) * mask).tolist()
            outputs = ["tau", "tau_dot", "joint_wrenches", "qdd", "qddd"]
            got = self.ask(model, "trajectory", {**request, "input": {"tau": tau}, "outputs": outputs})
            spline = self.ask(model, "trajectory", {**self.given(request), "outputs": ["q", "qd", "qdd", "qddd"]})
            state = {"q": spline["q"], "qd": spline["qd"], "qdd": (np.array(spline["qdd"]) * ~mask).tolist(),
                     "tau": [tau] * 4, "qddd": (np.array(spline["qddd"]) * ~mask).tolist(), "free": request["free"],
                     "gravity": request["gravity"], "wrenches": request["wrenches"]}
            expected = self.ask(model, "torque-derivative", {**state, "outputs": outputs})
            for name in outputs:
                self.near(got[name], expected[name], 1e-12, (model, name))
            del state["qddd"]
            expected = self.ask(model, "inverse-dynamics", {**state, "outputs": ["tau", "qdd", "joint_wrenches"]})
            for name in expected:
                self.near(got[name], expected[name], 1e-12, (model, name))
            self.assertEqual(np.array(got["tau"])[:, mask].tolist(), [np.array(tau)[mask].tolist()] * 4)
            self.assertFalse(np.array(got["tau_dot"])[:, mask].any())

    def test_rates_of_efforts(self):
        """The jerks of free coordinates give their efforts the prescribed rates, and tau_dot belongs to the resulting
        motion."""
        for model in MODELS:
            request, mask = self.motion(model, 4)
            a = {k: np.array(v) for k, v in self.ask(model, "trajectory", {**request, "outputs": ["q", "qd", "qdd", "qddd", "tau", "tau_dot"]}).items()}
            t, tau = np.array(request["times"])[:, None], {k: np.array(v) for k, v in request["input"]["tau"].items()}
            self.near(a["tau"][:, mask], (tau["offset"] + tau["amplitude"] * np.sin(2 * t))[:, mask], 1e-13, model)
            self.near(a["tau_dot"][:, mask], (2 * tau["amplitude"] * np.cos(2 * t))[:, mask], 1e-13, model)
            wrench = request["wrenches"][0]
            at = self.ask(model, "torque-derivative", {
                **{k: a[k].tolist() for k in ("q", "qd", "qdd", "qddd")}, "gravity": request["gravity"],
                "wrenches": [{**wrench, **self.written(wrench, request)}]})
            for name in ("tau", "tau_dot"):
                self.near(a[name], at[name], 1e-11, (model, name))

    @staticmethod
    def written(wrench, request):
        """Returns values and rates of the wrench at the samples."""
        from scipy.interpolate import BSpline
        t = np.array(request["times"])[:, None]
        A, w, o = (np.array(wrench["force"][k]) for k in ("amplitude", "angular_frequency", "offset"))
        spline = BSpline([0, 0, 0, 0, 0.5, 1, 1, 1, 1], np.array(wrench["torque"]["control_points"], float), 3)
        T = request["duration"]
        return {"force": (o + A * np.sin(w * t)).tolist(), "force_rate": (A * w * np.cos(w * t)).tolist(),
                "torque": spline(t[:, 0] / T).tolist(), "torque_rate": (spline(t[:, 0] / T, 1) / T).tolist()}

    def test_gradients(self):
        for seed, model in enumerate(MODELS):
            self.differentiate(model, *self.motion(model, seed, dense=True), OF, 1e-11)
        for model in LOOPS:
            self.differentiate(model, *self.motion(model, 1, dense=True), {k: v for k, v in OF.items() if k != "dtau_dot"}, 1e-8)

    def test_points(self):
        """Accelerations of points depend on the accelerations of free coordinates; positions and velocities of points do not."""
        of = {f"d_point_{y}": f"point_{y}" for y in ("positions", "velocities", "accelerations")}
        for seed, model in enumerate((*MODELS, *LOOPS)):
            request, mask = self.motion(model, seed, dense=True)
            links = self.about[model]["bodies"]
            points = [{"link": links[-1], "point": [0.1, 0.2, -0.3]}, {"link": links[len(links) // 2]}]
            self.differentiate(model, {**request, "points": points}, mask, of, 1e-8 if model in LOOPS else 1e-11)
            plain = self.ask(model, "trajectory", {**self.given(request), "points": points, "outputs": ["d_point_velocities_dcontrol_points"]})
            self.assertEqual(self.ask(model, "trajectory", {**request, "points": points, "outputs": [
                "d_point_velocities_dcontrol_points", "d_point_accelerations_dcontrol_points"]})["d_point_velocities_dcontrol_points"],
                plain["d_point_velocities_dcontrol_points"])

    def differentiate(self, model, request, mask, of, tolerance):
        """Compares gradients by control points with differences. One batch holds all motions that differ in one number,
        for the first, the last and two other coordinates."""
        exact = self.ask(model, "trajectory", {**request, "outputs": [f"{y}_dcontrol_points" for y in of]})
        points = np.array(request["control_points"])
        columns = sorted({0, 1, len(mask) // 2, len(mask) - 1})
        places = [(k, j) for k in range(len(points)) for j in columns]
        moved = np.tile(points, (len(places), len(STEPS), 1, 1))
        for i, at in enumerate(places):
            moved[i, :, at[0], at[1]] += STEPS
        served = self.ask(model, "trajectory", {**request, "control_points": moved.reshape(-1, *points.shape).tolist(),
                                                "outputs": [*of.values()]})
        for y, output in of.items():
            rows = np.array(served[output])
            rows = rows.reshape(len(places), len(STEPS), *rows.shape[1:])
            expected = np.moveaxis(np.einsum("s,ks...->k...", WEIGHTS, rows), 0, -1)
            got = np.array(exact[f"{y}_dcontrol_points"])[..., columns]
            self.near(got, expected.reshape(got.shape), tolerance, (model, y))
        del request["times"]
        request.update(samples=4)
        T = request["duration"]
        served = self.ask(model, "trajectory", {**request, "duration": [T * (1 + s) for s in STEPS], "outputs": [*of.values()]})
        moving = {y: output for y, output in of.items() if y != "d_point_positions"}
        exact = self.ask(model, "trajectory", {**request, "outputs": [f"{y}_dduration" for y in moving]})
        for y, output in moving.items():
            self.near(exact[f"{y}_dduration"], difference(served[output], T), tolerance, (model, y, "duration"))
        if moving != of:
            return  # gradients by knots exist only without points
        knots = [0.0] * 5 + [1.0] + [2.0] * 5
        exact = self.ask(model, "trajectory", {**request, "knots": knots, "outputs": [f"{y}_dknots" for y in of]})
        served = [self.ask(model, "trajectory", {**request, "knots": [*knots[:5], 1 + h, *knots[6:]], "outputs": [*of.values()]})
                  for h in STEPS / 2]
        for y, output in of.items():
            self.near(np.array(exact[f"{y}_dknots"])[..., 5], difference([a[output] for a in served], 0.5), 5 * tolerance, (model, y))

    def test_parameters(self):
        """The output dtau_dparameters equals that of sensitivity at the sampled states, with free coordinates and without."""
        for model in (*MODELS, *LOOPS):
            request, mask = self.motion(model, 6, signals=False)
            payload = {"link": self.about[model]["bodies"][-1], "mass": 0.4, "com": [0.1, 0, 0.05]}
            request["payload"] = payload
            for free in (True, False):
                asked = request if free else self.given(request)
                got = self.ask(model, "trajectory", {**asked, "outputs": ["q", "qd", "qdd", "dtau_dparameters"]})
                state = {"q": got["q"], "qd": got["qd"], "qdd": (np.array(got["qdd"]) * (~mask if free else 1)).tolist(),
                         **{k: asked[k] for k in ("gravity", "wrenches", "payload", "free") if k in asked}}
                expected = self.ask(model, "sensitivity", {**state, "outputs": ["dtau_dparameters"]})
                self.near(got["dtau_dparameters"], expected["dtau_dparameters"], 1e-12, (model, free))

    def test_parameters_of_rates(self):
        """The output dtau_dot_dparameters equals that of torque-derivative at the sampled states, with free coordinates and without."""
        for model in (*MODELS, *LOOPS):
            request, mask = self.motion(model, 7, signals=False)
            for free in (True, False):
                asked = request if free else self.given(request)
                if model == "loaded" and free:
                    answer = self.client.post(f"/v1/models/{model}/trajectory", {**asked, "outputs": ["dtau_dot_dparameters"]})
                    self.assertEqual(self.assertProblem(answer, 422)["code"], "not-supported")
                    continue
                got = self.ask(model, "trajectory", {**asked, "outputs": ["q", "qd", "qdd", "qddd", "dtau_dot_dparameters"]})
                state = {"q": got["q"], "qd": got["qd"], **{k: asked[k] for k in ("gravity", "wrenches", "free") if k in asked},
                         **{k: (np.array(got[k]) * (~mask if free else 1)).tolist() for k in ("qdd", "qddd")}}
                expected = self.ask(model, "torque-derivative", {**state, "outputs": ["dtau_dot_dparameters"]})
                self.near(got["dtau_dot_dparameters"], expected["dtau_dot_dparameters"], 1e-11, (model, free))

    def test_parameters_of_a_payload(self):
        """With efforts and wrenches that change in time, tau_dot's derivatives agree with differences over payloads of
        different mass."""
        com, masses = np.array([0.1, -0.05, 0.2]), 0.4 + STEPS
        x, y, z = com
        direction = np.array([1, *com, y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y])
        for model in ("panda", "tree", "drone"):
            request, _ = self.motion(model, 5)
            links = self.about[model]["bodies"]
            payload = lambda mass: {"payload": {"link": links[-1], "mass": mass, "com": com.tolist()}}
            rates = [self.ask(model, "trajectory", {**request, **payload(mass), "outputs": ["tau_dot"]})["tau_dot"] for mass in masses]
            got = self.ask(model, "trajectory", {**request, **payload(0.4), "outputs": ["dtau_dot_dparameters"]})
            self.near(np.array(got["dtau_dot_dparameters"])[:, :, -10:] @ direction, difference(rates), 1e-10, model)

    def test_same_bits_alone(self):
        for model in ("tree", "panda", "hua"):
            request, _ = self.motion(model, 8)
            outputs = ["tau", "qdd", "joint_wrenches", "dtau_dcontrol_points", "dqdd_dduration", "dqdd_dknots", "dtau_dparameters"]
            if model not in LOOPS:
                request["points"] = [{"link": self.about[model]["bodies"][-1]}]
                outputs += ["d_point_accelerations_dcontrol_points", "tau_dot", "dtau_dot_dcontrol_points", "dtau_dot_dduration", "dtau_dot_dparameters"]
            rows = [self.motion(model, seed)[0]["control_points"] for seed in range(5)]
            batch = self.ask_texts(model, "trajectory", {**request, "control_points": rows, "outputs": outputs})
            for row in (0, 3):
                alone = self.ask_texts(model, "trajectory", {**request, "control_points": rows[row], "outputs": outputs})
                for name in outputs:
                    self.assertEqual(batch[name][row], alone[name], (model, name))
            few = self.ask_texts(model, "trajectory", {**request, "control_points": rows, "outputs": ["dqdd_dduration"]})
            self.assertEqual(few["dqdd_dduration"], batch["dqdd_dduration"])

    def test_all_driven(self):
        """An empty list `free` gives a trajectory without free coordinates: all accelerations are those of the spline."""
        request, _ = self.motion("tree", 3)
        plain = self.ask("tree", "trajectory", {**self.given(request), "outputs": ["tau", "tau_dot", "dtau_dcontrol_points"]})
        empty = self.ask("tree", "trajectory", {**self.given(request), "free": [], "outputs": ["tau", "tau_dot", "dtau_dcontrol_points"]})
        self.assertEqual(json.dumps(plain), json.dumps(empty))

    def test_problems(self):
        request, mask = self.motion("panda", 2, signals=False)
        post = lambda **more: self.client.post("/v1/models/panda/trajectory", {**request, **more})
        plain = lambda **more: self.client.post("/v1/models/panda/trajectory", {**self.given(request), **more})
        zeros = np.zeros(7).tolist()
        self.assertProblem(plain(outputs=["tau", "dqdd_dcontrol_points"]), 422, "/outputs/1")
        self.assertProblem(plain(input={"tau": zeros}), 422, "/input")
        self.assertProblem(post(input=zeros), 422, "/input")
        self.assertProblem(post(input={}), 422, "/input/tau")
        self.assertProblem(post(input={"tau": [1]}), 422, "/input/tau")
        self.assertProblem(post(input={"tau": zeros, "kp": 1}), 422, "/input/kp")
        self.assertProblem(post(free=["panda_joint2", "panda_joint2"]), 422, "/free/1")
        self.assertProblem(post(free="base"), 422, "/free")
        problem = self.assertProblem(post(input={"tau": [1, 0, 0, 0, 0, 0, 0]}), 422, "/input")
        self.assertIn("panda_joint1 is not free", problem["detail"])
        points = [{"link": "panda_link7"}]
        near = post(points=points, outputs=["point_accelerations", "q", "qd", "qdd"])
        self.assertEqual(near.status, 200)
        a = near.json()
        expected = self.ask("panda", "kinematics", {"q": a["q"], "qd": a["qd"], "qdd": a["qdd"], "points": points,
                                                    "outputs": ["point_accelerations"]})
        self.near(a["point_accelerations"], expected["point_accelerations"], 1e-12, "points")


if __name__ == "__main__":
    tap.main()
