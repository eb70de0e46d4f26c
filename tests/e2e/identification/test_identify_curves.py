"""Tests identify with load coefficients and Stribeck curves: exact torques give the robot's values, noisy torques
values within the stated deviations; PUT accepts the identified model; refusals."""
import copy

import numpy as np
import tap
from closed import Closed
from identification import bundled

UNKNOWN = {"unknown": ["friction", "load", "stribeck"]}
CURVE = ("load", "breakaway_positive", "breakaway_negative", "stribeck_velocity")


def rubbing(name, load=True, stribeck=True):
    """Returns a bundled robot with viscous, Coulomb, Stribeck and load friction."""
    document = bundled(name)
    for i, link in enumerate(document["links"]):
        joint = link["joint"]
        if joint["type"] == "fixed":
            continue
        joint["friction"] = {"viscous": 0.5 + 0.1 * i, "coulomb": {"positive": 1 + 0.1 * i, "negative": 1.2}}
        if load:
            joint["friction"]["load"] = 0.05 + 0.02 * i
        if stribeck:
            joint["friction"] |= {"breakaway": {"positive": 2 + 0.1 * i, "negative": 2.5}, "stribeck_velocity": 0.1 + 0.03 * i}
    return document


def figures(document):
    """Returns the friction parameters of each joint by name."""
    values = {}
    for link in document["links"]:
        f = link["joint"].get("friction", {})
        if "viscous" not in f:
            continue
        name = link["joint"]["name"]
        values |= {f"{name}.viscous": f["viscous"], f"{name}.coulomb_positive": f["coulomb"]["positive"],
                   f"{name}.coulomb_negative": f["coulomb"]["negative"], f"{name}.load": f.get("load", 0)}
        if "breakaway" in f:
            values |= {f"{name}.breakaway_positive": f["breakaway"]["positive"], f"{name}.breakaway_negative": f["breakaway"]["negative"],
                       f"{name}.stribeck_velocity": f["stribeck_velocity"]}
    return values


class Curves(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("rubbing", rubbing("ur5")), ("loaded", rubbing("ur5", stribeck=False)),
                               ("curved", rubbing("ur5", load=False))):
            assert cls.client.put("/v1/models/" + name, document).status == 201

    def motion(self, rows, seed, nv=6):
        """Draws a motion with log-uniform rates, so that slow motion is as frequent as fast motion."""
        choose = np.random.default_rng(seed)
        qd = choose.choice([-1, 1], (rows, nv)) * np.exp(choose.uniform(np.log(0.005), np.log(2), (rows, nv)))
        return {"q": choose.uniform(-3, 3, (rows, nv)).tolist(), "qd": qd.tolist(), "qdd": choose.uniform(-4, 4, (rows, nv)).tolist()}

    def test_exact(self):
        motion, wrench = self.motion(120, 1), {"wrenches": [{"link": "tool0", "force": [5, -3, 8]}]}
        for real, unknown in (("rubbing", UNKNOWN["unknown"]), ("loaded", ["load", "friction"]), ("curved", ["friction", "stribeck"])):
            tau = self.ask(real, "inverse-dynamics", {**motion, **wrench})["tau"]
            truth = figures(rubbing("ur5", load="load" in unknown, stribeck="stribeck" in unknown))
            for model in ("ur5", real):
                found = self.ask(model, "identify", {**motion, **wrench, "tau": tau, "unknown": unknown,
                                                     "outputs": ["base_parameters", "model", "residual"]})
                got = {p["grouping"]["parameter"]: p["value"] for p in found["base_parameters"]}
                self.assertEqual(len(got), 6 * (3 + ("load" in unknown) + 3 * ("stribeck" in unknown)))
                for name, value in got.items():
                    self.near(value, truth[name], 1e-6, name)
                self.assertLess(found["residual"], 1e-6)
                self.put_model("found", found["model"])
                other = self.motion(40, 2)
                self.near(self.ask("found", "inverse-dynamics", other)["tau"], self.ask(real, "inverse-dynamics", other)["tau"], 1e-6)

    def test_a_curve_that_is_not_identified(self):
        """If `friction` is the only unknown, the resulting document has no Stribeck curve, and the residual is that of this document."""
        motion = self.motion(120, 7)
        # at slow rates a falling curve looks like negative viscous friction
        motion["qd"] = (4 * np.array(motion["qd"])).tolist()
        tau = np.array(self.ask("curved", "inverse-dynamics", motion)["tau"])
        found = self.ask("curved", "identify", {**motion, "tau": tau.tolist(), "unknown": ["friction"], "outputs": ["model", "residual"]})
        self.put_model("found", found["model"])
        error = np.array(self.ask("found", "inverse-dynamics", motion)["tau"]) - tau
        self.assertGreater(found["residual"], 0.01)
        self.near(np.sqrt(np.mean(error ** 2)), found["residual"], 1e-9)

    def test_noise(self):
        """The errors of the estimates must agree statistically with the answered standard deviations. The seed is fixed, so the test always
        passes or always fails."""
        motion, truth, errors = self.motion(400, 3), figures(rubbing("ur5")), []
        exact = np.array(self.ask("rubbing", "inverse-dynamics", motion)["tau"])
        choose = np.random.default_rng(4)
        for _ in range(4):
            tau = exact + choose.normal(scale=0.1, size=exact.shape)
            found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), **UNKNOWN, "outputs": ["base_parameters", "noise"]})
            self.near(found["noise"], [0.1] * 6, 0.1)
            errors.append([(p["value"] - truth[p["grouping"]["parameter"]]) / p["deviation"] for p in found["base_parameters"]])
        errors = np.array(errors)
        share = np.mean(np.abs(errors) < 1.96)
        self.assertTrue(0.9 <= share <= 0.99, share)
        self.assertTrue(0.8 <= np.std(errors) <= 1.2, np.std(errors))
        load = [abs(e * p["deviation"]) for e, p in zip(errors[-1], found["base_parameters"]) if p["grouping"]["parameter"].endswith(".load")]
        self.assertLess(max(load[:3]), 0.01)  # the first three entries belong to the joints that carry the arm's weight

    def test_deviations_of_uneven_curves(self):
        """The ratios of the deviations of a joint's parameters must be those of the linearised equations, with curves that differ by
        direction."""
        document, motion = rubbing("ur5", load=False), self.motion(400, 9)
        for link in document["links"]:
            if "friction" in link["joint"]:
                link["joint"]["friction"] |= {"coulomb": {"positive": 1.5, "negative": 0.4}, "breakaway": {"positive": 2, "negative": 4}}
        self.put_model("uneven", document)
        tau = np.array(self.ask("uneven", "inverse-dynamics", motion)["tau"])
        tau += np.random.default_rng(10).normal(scale=0.02, size=tau.shape)
        found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), "unknown": ["friction", "stribeck"]})["base_parameters"]
        by_name = {p["grouping"]["parameter"]: p for p in found}
        for i, joint in enumerate(self.client.get("/v1/models/ur5").json()["velocity_names"]):
            of = lambda figure: by_name[f"{joint}.{figure}"]
            v, speed = np.array(motion["qd"])[:, i], of("stribeck_velocity")["value"]
            fall = np.exp(-(v / speed) ** 2)
            side = {"positive": (v > 0) * 1.0, "negative": (v < 0) * -1.0}
            columns = {"viscous": v, "stribeck_velocity": sum(
                sign * (of("breakaway_" + way)["value"] - of("coulomb_" + way)["value"]) for way, sign in side.items()) *
                fall * 2 * v ** 2 / speed ** 3}
            for way, sign in side.items():
                columns |= {"coulomb_" + way: sign * (1 - fall), "breakaway_" + way: sign * fall}
            A = np.stack(list(columns.values()), 1)
            expected = np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
            given = np.array([of(figure)["deviation"] for figure in columns])
            self.near(given / given[0], expected / expected[0], 1e-3, joint)

    def test_weights_and_order(self):
        """Rows of weight zero have no effect."""
        motion = self.motion(120, 5)
        tau = np.array(self.ask("rubbing", "inverse-dynamics", motion)["tau"])
        weights = np.ones_like(tau)
        tau[::7] += 1000
        weights[::7] = 0
        found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), "weights": weights.tolist(), **UNKNOWN})["base_parameters"]
        truth = figures(rubbing("ur5"))
        for p in found:
            self.near(p["value"], truth[p["grouping"]["parameter"]], 1e-6)

    def test_refusals(self):
        motion = self.motion(60, 6)
        rows = {**motion, "tau": self.ask("rubbing", "inverse-dynamics", motion)["tau"]}
        for model, change, code in (
                ("ur5", {"unknown": ["load"]}, "bad-value"), ("ur5", {"unknown": ["friction", "stribeck", "rotors"]}, "bad-value"),
                ("ur5", {"unknown": ["friction", "load", "payload"], "frame": "tool0"}, "bad-value"),
                ("rubbing", {"unknown": ["friction"]}, "not-supported"), ("rubbing", {"friction": True}, "not-supported"),
                ("rubbing", {}, "not-supported")):
            problem = self.assertProblem(self.client.post(f"/v1/models/{model}/identify", {**rows, **change}), 422)
            self.assertEqual(problem["code"], code, (change, problem))
        plain = copy.deepcopy(rows)
        plain["tau"] = self.ask("loaded", "inverse-dynamics", motion)["tau"]  # these torques contain no Stribeck curve
        still = {**rows, "qd": [[0.0] * 6] * 60}
        problem = self.assertProblem(self.client.post("/v1/models/ur5/identify", {**still, **UNKNOWN}), 422)
        self.assertEqual(problem["code"], "rank-deficient")

    def test_loops_and_mimics_refuse(self):
        for model, code in (("delta", "not-for-loops"),):
            described = self.ok(self.client.get(f"/v1/models/{model}"))
            rows = {name: [[0.0] * described["nv"]] * 200 for name in ("q", "qd", "qdd", "tau")}
            answer = self.client.post(f"/v1/models/{model}/identify", {**rows, **UNKNOWN})
            self.assertEqual(self.assertProblem(answer, 422)["code"], code)


if __name__ == "__main__":
    tap.main()
