"""Tests trajectory of models with floating and spherical joints: rotations against Rodrigues' formula, rates and
gradients against extrapolated differences, torques against torque-derivative."""
import numpy as np
import tap
from gyrostat import skew
from harness import ServerCase
from test_free_turns import FIXED_TREE, TREE, arm, on_arm, rotation
from test_link_order import walker

SPRINGY = on_arm("spherical")
SPRINGY["links"][0]["joint"]["elastic"] = {"stiffness": 40, "damping": 0.5}
MODELS = {"springy": SPRINGY, "arm": {"links": arm()}, "tree": TREE, "fixed_tree": FIXED_TREE, "ball": on_arm("spherical"),
          "drone": on_arm("floating"), "walker": walker()}
STEPS = np.array([-3, -2, -1, 1, 2, 3]) * 4e-3
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 240e-3  # weights of sixth-order differences
GRADIENTS = {"dtau_dcontrol_points": "tau", "dtau_dot_dcontrol_points": "tau_dot", "d_joint_wrenches_dcontrol_points": "joint_wrenches",
             "d_point_positions_dcontrol_points": "point_positions", "d_point_velocities_dcontrol_points": "point_velocities",
             "d_point_accelerations_dcontrol_points": "point_accelerations"}
DURATION = {"dtau_dduration": "tau", "dtau_dot_dduration": "tau_dot", "d_joint_wrenches_dduration": "joint_wrenches",
            "d_point_velocities_dduration": "point_velocities", "d_point_accelerations_dduration": "point_accelerations"}


def rodrigues(x):
    angle = np.linalg.norm(x)
    K = skew(x / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def difference(values, step=1.0):
    return np.einsum("s,s...->...", WEIGHTS / step, np.array(values))


class QuaternionTrajectory(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.names = {}
        for name, document in MODELS.items():
            assert cls.client.put(f"/v1/models/{name}", document).status == 201
            cls.names[name] = cls.client.get(f"/v1/models/{name}").json()

    def motion(self, model, seed, **change):
        nv = len(self.names[model]["velocity_names"])
        choose = np.random.default_rng(seed)
        return {"degree": 4, "duration": 1.4, "control_points": choose.uniform(-0.9, 0.9, (6, nv)).tolist(),
                "times": [0, 0.3, 0.9, 1.4], "gravity": [0.3, -0.2, -9.7], **change}

    def near(self, got, expected, tolerance, what):
        got, expected = np.array(got, float), np.array(expected, float)
        self.assertEqual(got.shape, expected.shape, what)
        size = max(1, np.abs(expected).max())
        self.assertLess(np.abs(got - expected).max() / size, tolerance, what)

    def blocks(self, model):
        """Yields, for each joint with a quaternion, the index of its rotation vector in qd and of its quaternion in q."""
        q, v = (self.names[model][f"{kind}_names"] for kind in ("position", "velocity"))
        return zip([i for i, name in enumerate(v) if name.endswith("wx")], [i for i, name in enumerate(q) if name.endswith("qx")])

    def test_rotations(self):
        """q contains the quaternion of the rotation vector, also if the vector is tiny or near 2 pi long."""
        for model in MODELS:
            for size in (1, 1e-9, 3.5):
                request = self.motion(model, 3)
                request["control_points"] = (np.array(request["control_points"]) * size).tolist()
                a = self.ask(model, "trajectory", {**request, "outputs": ["q", "basis"]})
                for n, first in enumerate(map(int, a["first_control_point"])):
                    x = np.array(a["basis"][n][0]) @ np.array(request["control_points"])[first:first + 5]
                    for v, q in self.blocks(model):
                        self.near(rotation(a["q"][n][q:q + 4]), rodrigues(x[v:v + 3]), 1e-14, model)

    def test_rates(self):
        """qd is the velocity of the rotation; qdd and qddd are its time derivatives."""
        for model in MODELS:
            t, part = 0.5, 0.3
            request = self.motion(model, 4, times=[t + part * s for s in STEPS] + [t])
            a = {name: np.array(value) for name, value in self.ask(
                model, "trajectory", {**request, "outputs": ["q", "qd", "qdd", "qddd"]}).items()}
            for lower, higher in (("qd", "qdd"), ("qdd", "qddd")):
                self.near(a[higher][-1], difference(a[lower][:-1], part), 1e-11, (model, higher))
            for v, q in self.blocks(model):
                rotations = [rotation(row[q:q + 4]) for row in a["q"]]
                self.near(skew(a["qd"][-1][v:v + 3]), rotations[-1].T @ difference(rotations[:-1], part), 1e-11, model)
                if q >= 3 and self.names[model]["position_names"][q - 1].endswith("z"):
                    slide = rotations[-1].T @ difference(a["q"][:-1, q - 3:q], part)
                    self.near(a["qd"][-1][v - 3:v], slide, 1e-11, model)

    def test_torques_are_those_of_torque_derivative(self):
        for model in MODELS:
            request = self.motion(model, 5)
            outputs = ["tau", "tau_dot", "joint_wrenches"]
            states = self.ask(model, "trajectory", {**request, "outputs": ["q", "qd", "qdd", "qddd"]})
            expected = self.ask(model, "torque-derivative", {**states, "gravity": request["gravity"], "outputs": outputs})
            got = self.ask(model, "trajectory", {**request, "outputs": outputs})
            for name in outputs:
                self.near(got[name], expected[name], 1e-13, (model, name))

    def wrenches(self, model):
        """Returns wrenches that change in time, in seconds and in fractions of the duration, on the first and the last
        link."""
        links = self.names[model]["bodies"]
        return [{"link": links[-1], "point": [0.1, -0.2, 0.3], "torque": [1, 2, 3], "force": {
                    "amplitude": [1, 0, 2], "angular_frequency": [2, 3, 1], "offset": [0, 0.5, 0]}},
                {"link": links[0], "frame": "link", "point": [0, 0.1, 0.2], "torque": {
                    "degree": 3, "control_points": [[1, 2, 3], [-2, 4, 1], [2, 2, -1], [0, 1, 1], [1, 0, 0]]}}]

    def test_gradients(self):
        for model in MODELS:
            self.differentiate(model, self.motion(model, 6, dense=True))
        for model in ("drone", "springy", "walker"):
            self.differentiate(model, self.motion(model, 8, dense=True, wrenches=self.wrenches(model)))

    def differentiate(self, model, request):
        """Compares gradients with differences; one batch holds all motions that differ in one number."""
        with self.subTest(model):
            request["points"] = [{"link": self.names[model]["bodies"][-1], "point": [0.1, 0.2, -0.1]},
                                 {"link": self.names[model]["bodies"][0]}]
            exact = self.ask(model, "trajectory", {**request, "outputs": [*GRADIENTS, *DURATION]})
            points = np.array(request["control_points"])
            moved = np.tile(points, (points.size, len(STEPS), 1, 1))
            for i, at in enumerate(np.ndindex(points.shape)):
                moved[i, :, at[0], at[1]] += STEPS
            outputs = [*GRADIENTS.values()]
            served = self.ask(model, "trajectory", {**request, "control_points": moved.reshape(-1, *points.shape).tolist(),
                                                    "outputs": outputs})
            for name, output in GRADIENTS.items():
                rows = np.array(served[output])
                rows = rows.reshape(points.size, len(STEPS), *rows.shape[1:])
                expected = np.moveaxis(np.einsum("s,ks...->k...", WEIGHTS, rows), 0, -1)
                self.near(exact[name], expected.reshape(*expected.shape[:-1], *points.shape), 1e-11, (model, name))
            del request["times"]
            request.update(samples=4)
            T = request["duration"]
            served = self.ask(model, "trajectory", {**request, "duration": [T * (1 + s) for s in STEPS],
                                                    "outputs": [*DURATION.values()]})
            exact = self.ask(model, "trajectory", {**request, "outputs": [*DURATION]})
            for name, output in DURATION.items():
                self.near(exact[name], difference(served[output], T), 1e-11, (model, name))

    def test_knots(self):
        """Derivatives by knots, of joints with one coordinate and with quaternions, with clamped and with evenly spaced
        knots, at both ends."""
        for model, degree, knots in (("tree", 4, [0, 0.3, 1, 1.4, 2, 2.5, 3.1, 3.9, 4.1, 4.6, 5]), ("arm", 3, None),
                                     ("arm", 2, [0, 0.4, 1, 1.5, 2.2, 3, 3.3, 4, 5]),
                                     ("arm", 5, [-1, 0, 0.5, 1, 1.2, 1.9, 2.6, 3, 3.3, 4, 4.1, 5])):
            request = self.motion(model, 7, degree=degree)
            m = len(request["control_points"])
            if knots is None:
                knots = [0.0] * degree + [i / (m - degree) for i in range(m - degree + 1)] + [1.0] * degree
            names = {"dtau_dknots": "tau", "dtau_dot_dknots": "tau_dot", "d_joint_wrenches_dknots": "joint_wrenches"}
            exact = self.ask(model, "trajectory", {**request, "knots": knots, "outputs": [*names, "dmotion_dknots"]})
            # Coincident knots are left out: moving one of them past the others would put them out of order.
            for i in [i for i in range(1, len(knots) - 1) if knots[i - 1] < knots[i] < knots[i + 1]]:
                served = [self.ask(model, "trajectory", {
                    **request, "knots": [t + h * (k == i) for k, t in enumerate(knots)], "outputs":
                    ["q", "qd", "qdd", "qddd", *names.values()]}) for h in STEPS / 2]
                for name, output in names.items():
                    expected = difference([a[output] for a in served], 0.5)
                    # rounding errors of differences
                    self.near(np.array(exact[name])[..., i], expected, 5e-11, (model, name, i))
                for r, output in enumerate(("q", "qd", "qdd", "qddd") if model == "arm" else ()):
                    expected = difference([a[output] for a in served], 0.5)
                    self.near(np.array(exact["dmotion_dknots"])[:, r, :, i], expected, 5e-11, (output, i))

    def test_batches_and_refusals(self):
        rows = [self.motion("tree", seed)["control_points"] for seed in range(5)]
        request = self.motion("tree", 0, outputs=["q", "qddd", "tau", "dtau_dcontrol_points", "dtau_dduration", "dtau_dknots",
                                                  "dtau_dot_dcontrol_points", "dtau_dot_dduration", "dtau_dot_dknots"])
        batch = self.ask("tree", "trajectory", {**request, "control_points": rows})
        for i, row in enumerate(rows):
            alone = self.ask("tree", "trajectory", {**request, "control_points": row})
            self.assertEqual(alone, {name: value[i] for name, value in batch.items()})
        far = (7 * np.ones_like(rows[0])).tolist()
        problem = self.assertProblem(self.client.post("/v1/models/tree/trajectory", {
            **request, "control_points": [rows[0], far]}), 422, "/control_points/1", 1)
        self.assertEqual(problem["code"], "angle-too-large")
        left = self.ask("tree", "trajectory", {**request, "control_points": [rows[0], far, rows[1]], "on_error": "row"})
        self.assertEqual(left["tau"], [batch["tau"][0], None, batch["tau"][1]])


if __name__ == "__main__":
    tap.main()
