"""Tests margins in trajectory: against the operation margins at the sampled states, gradients against extrapolated
differences, least margins against the margins of all samples, for joints with one coordinate and quaternions, elastic
joints, loops and free coordinates."""
import cbor2
import numpy as np
import tap
from harness import Server, ServerCase
from test_free_turns import TREE, on_arm
from test_quaternion_trajectory import SPRINGY, STEPS, WEIGHTS
from test_transmissions import MOTORS, PLAIN, with_transmission

LIMITS = {"position": [-1, 1.5], "velocity": 2, "effort": 40, "effort_rate": 300}
GRADIENTS = ["dmargins_dcontrol_points", "dmargins_dduration", "dmargins_dknots"]
MODELS = ("ur5", "hua", "springy", "tree", "floating", "coupled", "delta")

# Motors that move two joints: their efforts and rates are combinations of those of the joints.
COUPLED = with_transmission(PLAIN, ["at_c", "at_d"], motors=[
    {**motor, "limits": limits} for motor, limits in zip(MOTORS, ({"velocity": 170, "effort": 0.5, "effort_rate": 20}, {"velocity": 130, "effort": 0.3, "effort_rate": 15}))])


def limited(document):
    driven = [joint for transmission in document.get("transmissions", []) for joint in transmission["joints"]]
    for link in document["links"]:
        if link.get("joint", {}).get("type") in ("revolute", "prismatic") and link["joint"]["name"] not in driven:
            link["joint"]["limits"] = LIMITS
    return document


class TrajectoryMargins(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        documents = {name: cls.client.get(f"/v1/models/{name}/document").json() for name in ("ur5", "hua", "delta")}
        documents.update(springy=SPRINGY, tree=TREE, floating=on_arm("floating"), coupled=COUPLED)
        cls.about, cls.documents = {}, documents
        for name, document in documents.items():
            answer = cls.client.put(f"/v1/models/{name}", {**limited(document), "name": name})
            assert answer.status in (200, 201), answer
            cls.about[name] = cls.client.get(f"/v1/models/{name}").json()

    def kinds(self, model):
        return ["position", "velocity", "effort", *(["effort_rate"] if model != "delta" else [])]

    def motion(self, model, seed=1, rows=None, **change):
        choose = np.random.default_rng(seed)
        size, nv = 0.1 if model == "delta" else 0.9, len(self.about[model]["velocity_names"])
        points = choose.uniform(-size, size, (*([rows] if rows else []), 6, nv)).tolist()
        return {"degree": 4, "duration": 1.3, "samples": 7, "gravity": [0.3, -0.2, -9.7], "control_points": points,
                "knots": [0, 0, 0, 0, 0, 0.9, 2, 2, 2, 2, 2], "kinds": self.kinds(model), **change}

    def near(self, got, expected, tolerance, what, scale=1):
        got, expected = np.array(got, float), np.array(expected, float)
        self.assertEqual(got.shape, expected.shape, what)
        self.assertLess(np.abs(got - expected).max() / max(scale, np.abs(expected).max()), tolerance, what)

    def test_samples(self):
        for model in MODELS:
            request = self.motion(model)
            got = self.ask(model, "trajectory", {**request, "outputs": ["limits", "margins", "q", "qd", "qdd", "qddd", "tau", "tau_dot"]})
            if model in ("ur5", "delta"):
                values = {"position": "q", "velocity": "qd", "effort": "tau", "effort_rate": "tau_dot"}
                own = [(i, limit) for i, limit in enumerate(got["limits"]) if limit["joint"] in self.about[model]["velocity_names"]]
                self.assertEqual(len({limit["joint"] for _, limit in own}), len(self.about[model]["velocity_names"]))
                for i, limit in own:  # joints with a coordinate of the model only; test_dependent_limits.py tests the others
                    x = np.array(got[values[limit["kind"]]])[:, self.about[model]["velocity_names"].index(limit["joint"])]
                    self.near(np.array(got["margins"])[:, i], np.minimum(x - limit["lower"], limit["upper"] - x), 1e-13, limit)
            state = {name: got[name] for name in ("q", "qd", "qdd", "qddd")}
            expected = self.ask(model, "margins", {**state, "gravity": request["gravity"], "kinds": request["kinds"]})
            self.assertEqual(got["limits"], expected["limits"])
            self.near(got["margins"], expected["margins"], 1e-11, model)
            alone = self.ask(model, "trajectory", {**request, "outputs": ["margins"]})
            self.assertEqual(alone["margins"], got["margins"])

    def differences(self, model, request, change):
        """Returns the derivative of the margins by h of a request changed by change(h)."""
        values = [np.array(self.ask(model, "trajectory", {**request, **change(h), "outputs": ["margins"]})["margins"]) for h in STEPS / 2]
        return np.einsum("s,s...->...", WEIGHTS * 2, np.array(values))

    def check(self, model, request, tolerance):
        """Compares gradients with differences. Leaves out margins so near the middle of their limits that the nearer
        side changes between the steps."""
        exact = self.ask(model, "trajectory", {**request, "dense": True, "outputs": [*GRADIENTS, "limits", "margins"]})
        middle = np.array([(limit["upper"] - limit["lower"]) / 2 for limit in exact["limits"]])
        names = self.about[model]["velocity_names"]
        passive = np.array([limit["kind"] == "effort" and "loops" in self.about[model] and limit["joint"] not in names for limit in exact["limits"]])
        self.assertEqual(np.abs(np.array(exact["margins"]) - middle)[:, passive].max(initial=0), 0)
        points, knots = np.array(request["control_points"]), np.array(request["knots"], float)

        def compare(name, part, change):
            got, expected = np.array(exact[name])[part], self.differences(model, request, change)
            smooth = np.array(exact["margins"]) + 0.02 * np.abs(got) < middle
            self.assertGreater(smooth[:, ~passive].mean(), 0.8, (model, name, part))
            self.assertEqual(np.abs(got[:, passive]).max(initial=0), 0)
            self.near(got[smooth], expected[smooth], tolerance, (model, name, part), np.abs(exact[name]).max())

        def moved(k, j, h):
            copy = points.copy()
            copy[k, j] += h
            return {"control_points": copy.tolist()}
        for k in (0, 2, 5):
            for j in {0, points.shape[1] - 1}:
                compare(GRADIENTS[0], np.s_[..., k, j], lambda h: moved(k, j, h))
        compare(GRADIENTS[1], np.s_[...], lambda h: {"duration": request["duration"] + h})
        compare(GRADIENTS[2], np.s_[..., 5], lambda h: {"knots": (knots + h * (np.arange(11) == 5)).tolist()})

    def test_gradients(self):
        wave = {"amplitude": [1, 0, 2], "angular_frequency": [2, 3, 1], "offset": [0, 0.5, 0]}
        for model in MODELS:
            wrench = {"link": self.about[model]["bodies"][-1], "point": [0.1, -0.2, 0.3], "force": wave}
            self.check(model, self.motion(model, wrenches=[wrench]), 1e-8 if model == "delta" else 1e-11)

    def test_free(self):
        for model in ("ur5", "tree", "floating"):
            names = self.about[model]["velocity_names"]
            free = names[1::3]
            request = self.motion(model, 3, free=free)
            tau = (np.array([name in free for name in names]) * 0.3).tolist()
            self.check(model, {**request, "input": {"tau": {"amplitude": tau, "angular_frequency": [2.0] * len(names)}}}, 1e-11)

    def test_least(self):
        """For each motion, the least margin of all samples and the gradient at that sample."""
        for model in MODELS:
            request = {**self.motion(model, 4, rows=3), "duration": [1.1, 1.3, 1.4]}
            got = self.ask(model, "trajectory", {**request, "dense": True, "outputs": [
                "limits", "times", "margins", *GRADIENTS, "least_margins", "least_gradients"]})
            margins = np.array(got["margins"])
            for row in range(3):
                for i, limit in enumerate(got["limits"]):
                    sample = margins[row, :, i].argmin()
                    least, gradients = got["least_margins"][row][i], got["least_gradients"][row][i]
                    self.assertEqual((least["joint"], least["kind"]), (limit["joint"], limit["kind"]))
                    self.assertEqual(least["margin"], margins[row, sample, i])
                    self.assertEqual(least["time"], got["times"][row][sample])
                    self.assertIn(least["limit"], (limit["lower"], limit["upper"]))
                    self.assertEqual(gradients["sample"], sample)
                    for name, output in zip(("dcontrol_points", "dduration", "dknots"), GRADIENTS):
                        self.assertEqual(gradients[name], got[output][row][sample][i], (model, limit, name))
            alone = self.ask(model, "trajectory", {**request, "outputs": ["least_gradients", "least_margins"]})
            self.assertEqual(alone, {name: got[name] for name in ("least_margins", "least_gradients")})
            one = {**request, "control_points": request["control_points"][1], "duration": 1.3}
            one = self.ask(model, "trajectory", {**one, "outputs": ["least_margins", "least_gradients"]})
            self.assertEqual(one, {name: got[name][1] for name in one})

    def test_targets(self):
        """The target `scalar` (one lane) and the default target (several lanes) give the same bits, also of least margins, for any number of
        samples in the last block.
        """
        outputs = ["margins", *GRADIENTS, "least_margins", "least_gradients"]
        server = Server("--target", "scalar")
        client = server.client()
        for model in ("ur5", "floating", "delta"):
            request = {**self.motion(model, 9, rows=3), "outputs": outputs}
            answer = client.put(f"/v1/models/{model}", {**self.documents[model], "name": model})
            self.assertIn(answer.status, (200, 201))
            given = client.post(f"/v1/models/{model}/trajectory", request)
            expected = self.client.post(f"/v1/models/{model}/trajectory", request)
            if given.headers["Arithmetic"] == expected.headers["Arithmetic"]:
                self.assertEqual(given.texts(), expected.texts(), model)
        client.close()
        self.assertIsNone(server.stop())

    def test_cbor(self):
        request = {**self.motion("ur5", 10, rows=2), "outputs": ["least_margins", "least_gradients"]}
        plain = self.ask("ur5", "trajectory", request)
        answer = self.client.post("/v1/models/ur5/trajectory", request, Accept="application/cbor; arrays=multidimensional")
        got = cbor2.loads(answer.body)
        self.assertEqual(got["least_margins"], plain["least_margins"])
        for one, expected in zip(sum(got["least_gradients"], []), sum(plain["least_gradients"], []), strict=True):
            self.assertEqual(np.frombuffer(one["dcontrol_points"].value[1].value).tolist(), sum(expected["dcontrol_points"], []))
            self.assertEqual((one["sample"], one["dduration"]), (expected["sample"], expected["dduration"]))

    def test_nearer_limit(self):
        request = self.motion("ur5", 5, kinds=["velocity", "position"])
        got = self.ask("ur5", "trajectory", {**request, "outputs": ["limits", "q", "qd", "least_margins", "least_gradients"]})
        names, sides = self.about["ur5"]["velocity_names"], set()
        for one, gradient in zip(got["least_margins"], got["least_gradients"], strict=True):
            x = got["q" if one["kind"] == "position" else "qd"][gradient["sample"]][names.index(one["joint"])]
            self.near(abs(x - one["limit"]), abs(one["margin"]), 1e-15, one)
            sides.add(one["limit"] > 0)
        self.assertEqual(sides, {True, False})

    def test_order_of_joints(self):
        request, names = self.motion("ur5", 6), self.about["ur5"]["velocity_names"]
        order = [3, 1, 0, 5, 2, 4]
        outputs = ["least_margins", "least_gradients", "dmargins_dcontrol_points"]
        plain = self.ask("ur5", "trajectory", {**request, "outputs": outputs})
        points = np.array(request["control_points"])[:, order].tolist()
        other = self.ask("ur5", "trajectory", {**request, "joints": [names[i] for i in order], "control_points": points, "outputs": outputs})
        self.assertEqual(other["least_margins"], plain["least_margins"])
        for a, b in zip(plain["least_gradients"], other["least_gradients"], strict=True):
            self.assertEqual(np.array(a["dcontrol_points"])[:, order].tolist(), b["dcontrol_points"])
            self.assertEqual(a["dknots"], b["dknots"])

    def test_rows_with_their_own_scenes(self):
        """In a batch, the gradients of least margins are those of a request with one motion."""
        request = {**self.motion("ur5", 12, rows=3), "outputs": ["least_margins", "least_gradients"]}
        for name, rows in (("gravity", [[0, 0, -9.8], [5, 3, 2], [-4, 6, 1]]), ("mass", [0.5, 4, 2])):
            field = (lambda x: {"gravity": x}) if name == "gravity" else (lambda x: {"payload": {"link": "tool0", "mass": x}})
            together = self.ask("ur5", "trajectory", {**request, **field(rows)})
            for i, row in enumerate(rows):
                alone = self.ask("ur5", "trajectory", {**request, **field(row), "control_points": request["control_points"][i]})
                for output, value in alone.items():
                    self.assertEqual(together[output][i], value, (name, i, output))

    def test_failing_motions(self):
        request = self.motion("ur5", 7, rows=3)
        request["control_points"][1][2][3] = 1e9
        outputs = ["least_margins", "least_gradients", "margins"]
        got = self.ask("ur5", "trajectory", {**request, "on_error": "row", "outputs": outputs})
        rest = {**request, "control_points": request["control_points"][::2]}
        expected = self.ask("ur5", "trajectory", {**rest, "outputs": outputs})
        for name in outputs:
            self.assertIsNone(got[name][1])
            self.assertEqual(got[name][::2], expected[name])
        self.assertEqual([e["row"] for e in got["errors"]], [1])
        request["control_points"] = [request["control_points"][1]]
        got = self.ask("ur5", "trajectory", {**request, "on_error": "row", "outputs": outputs})
        self.assertEqual([got["least_margins"], got["least_gradients"]], [[None], [None]])

    def test_margins_that_are_not_finite(self):
        request = self.motion("ur5", 8, duration=1e-102, rows=2)
        for outputs in (["least_margins"], ["least_gradients"], ["margins"]):
            self.assertProblem(self.client.post("/v1/models/ur5/trajectory", {**request, "outputs": outputs}), 422)
            got = self.ask("ur5", "trajectory", {**request, "on_error": "row", "outputs": outputs})
            self.assertEqual(got[outputs[0]], [None, None])

    def test_problems(self):
        post = lambda model, **more: self.client.post(f"/v1/models/{model}/trajectory", {**self.motion(model), **more})
        self.assertProblem(post("delta", kinds=["effort_rate"], outputs=["dmargins_dknots"]), 422, "/kinds")
        self.assertEqual(post("delta", kinds=["effort_rate"], outputs=["margins"]).status, 200)
        self.assertProblem(post("ur5", kinds=["power"]), 422, "/kinds/0")
        self.assertProblem(post("ur5", kinds=[]), 422, "/kinds")
        default = self.ask("ur5", "trajectory", self.motion("ur5"))
        self.assertEqual([*default], ["times", "q", "qd", "qdd", "qddd", "tau", "tau_dot", "limits", "margins"])


if __name__ == "__main__":
    tap.main()
