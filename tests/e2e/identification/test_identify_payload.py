"""Tests identify with chosen unknowns: a payload, friction, rotors. Without noise the estimate is exact; with noise the
stated interval covers the truth as often as it claims."""
import numpy as np
import tap
from closed import Closed

PAYLOAD = {"link": "wrist_3_link", "mass": 2, "com": [0.02, -0.03, 0.08],
           "inertia": {"xx": 0.012, "yy": 0.01, "zz": 0.008, "xy": 0.001, "xz": -0.0005, "yz": 0.0008}}
UNKNOWN = {"unknown": ["payload"], "frame": "tool0"}


class Payload(Closed):
    def motion(self, rows, seed, nv=6):
        choose = np.random.default_rng(seed)
        return {name: choose.uniform(-size, size, (rows, nv)).tolist() for name, size in (("q", 3), ("qd", 2), ("qdd", 4))}

    def test_exact(self):
        motion = self.motion(100, 1)
        tau = self.ask("ur5", "inverse-dynamics", {**motion, "payload": PAYLOAD})["tau"]
        found = self.ask("ur5", "identify", {**motion, "tau": tau, **UNKNOWN})
        payload = found["payload"]
        self.assertLess(payload.pop("mass_deviation"), 1e-10)
        self.assertEqual(payload["link"], "wrist_3_link")
        self.near(payload["mass"], 2, 1e-11)
        self.near(payload["com"], PAYLOAD["com"], 1e-10)
        self.near([payload["inertia"][k] for k in sorted(payload["inertia"])],
                  [PAYLOAD["inertia"][k] for k in sorted(PAYLOAD["inertia"])], 1e-9)
        self.near(self.ask("ur5", "inverse-dynamics", {**motion, "payload": payload})["tau"], tau, 1e-9)
        self.assertEqual([p["grouping"]["parameter"] for p in found["base_parameters"]],
                         [f"wrist_3_link.{name}" for name in ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")])
        self.assertTrue(all(p["grouping"]["with"] == [] for p in found["base_parameters"]))
        known = {"link": "wrist_3_link", "mass": 0.5, "com": [0, 0, 0.1]}  # the request contains the known part of the load
        rest = self.ask("ur5", "identify", {**motion, "tau": tau, "payload": known, **UNKNOWN})["payload"]
        self.near(rest["mass"], 1.5, 1e-10)
        self.near(np.multiply(rest["mass"], rest["com"]) + np.multiply(0.5, known["com"]), np.multiply(2, PAYLOAD["com"]), 1e-9)

    def test_payloads_that_two_joints_show_in_part(self):
        """Payloads far from the ball that is supposed: the body that is found has their mass, which the slide shows alone, and
        their torques."""
        joint = lambda name, kind, axis, xyz, rpy: {"name": name, "type": kind, "axis": axis, "origin": {"xyz": xyz, "rpy": rpy}}
        for turn, slide, mass, com, inertia in (
                (([-0.29, -0.26, -0.09], [0.27, 0.02, -0.04], [0.79, -0.24, -0.24]), ([-0.4, 0.57, 0.36], [-0.13, -0.19, 0.12], [0.83, 0.14, -0.23]),
                 0.4175, [0.04, -0.18, -0.14], (0.0129, 0.0173, 0.0217, -0.0082, 0.0031, -0.0003)),
                (([-0.05, 0.35, -0.81], [-0.31, 0.15, 0.02], [-0.6, -0.82, 0.16]), ([-0.1, 0.34, 0.21], [0.29, 0.29, -0.05], [0.98, 0.4, 0.42]),
                 1.0102, [0.19, -0.19, 0.1], (0.0816, 0.0796, 0.0299, -0.0113, -0.0074, -0.0201)),
                (([-0.44, 0.21, 0.48], [-0.25, 0.33, 0.28], [-0.29, -0.72, -0.39]), ([0.95, 0.93, 0.85], [0.32, 0.21, 0.07], [0.93, 0.7, 0.26]),
                 0.4111, [0.1, -0.19, -0.15], (0.0141, 0.0159, 0.0056, -0.0012, -0.0022, -0.0001))):
            self.put_model("two", {"links": [
                {"name": "arm", "parent": "base", "joint": joint("turn", "revolute", *turn), "inertial": {"mass": 1.3, "com": [-0.04, 0.05, 0.02]}},
                {"name": "rod", "parent": "arm", "joint": joint("slide", "prismatic", *slide), "inertial": {"mass": 0.7, "com": [0.08, 0.06, -0.05]}}]})
            payload = {"link": "rod", "mass": mass, "com": com, "inertia": dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), inertia))}
            for seed in range(8):
                motion = self.motion(20, seed, 2)
                tau = self.ask("two", "inverse-dynamics", {**motion, "payload": payload})["tau"]
                found = self.ask("two", "identify", {**motion, "tau": tau, "unknown": ["payload"], "frame": "rod", "outputs": ["payload", "fit"]})
                self.assertLess(found["fit"]["residual"], 1e-10)
                self.near(found["payload"]["mass"], mass, 1e-10)
                found["payload"].pop("mass_deviation")
                self.near(self.ask("two", "inverse-dynamics", {**motion, "payload": found["payload"]})["tau"], tau, 1e-9)

    def test_torques_that_no_payload_has(self):
        """With the wrong sign or unit the nearest real body is a useless estimate: its mass has no deviation, and it fits badly."""
        motion, choose = self.motion(300, 6), np.random.default_rng(7)
        bare = np.array(self.ask("ur5", "inverse-dynamics", motion)["tau"])
        loaded = np.array(self.ask("ur5", "inverse-dynamics", {**motion, "payload": PAYLOAD})["tau"])
        noise = choose.normal(scale=0.1, size=bare.shape)
        for tau, good in ((loaded + noise, True), (-loaded + noise, False), (bare - (loaded - bare) + noise, False), (loaded[:, ::-1] + noise, False)):
            found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), **UNKNOWN})
            self.assertEqual(found["payload"]["mass_deviation"] is not None, good)
            self.assertGreater(found["fit"]["residual"], found["residual"] * (0.99 if good else 1.05))

    def test_other_gravity(self):
        """The robot's own parameters are known, so the request may set any gravity."""
        motion, gravity = self.motion(60, 2), [1, 2, -9]
        tau = self.ask("ur5", "inverse-dynamics", {**motion, "payload": PAYLOAD, "gravity": gravity})["tau"]
        found = self.ask("ur5", "identify", {**motion, "tau": tau, "gravity": gravity, **UNKNOWN})
        self.near(found["payload"]["mass"], 2, 1e-10)

    def test_friction_and_rotors(self):
        """Friction and rotors of the model's own joints, and of a model with changed values."""
        document = self.ok(self.client.get("/v1/models/two_link/document"))
        for i, link in enumerate(document["links"]):
            link["joint"]["friction"] = {"viscous": 0.3 + i, "coulomb": {"positive": 0.5 + i, "negative": 0.7}}
            link["joint"]["rotor_inertia"] = 0.02 * (1 + i)
        self.put_model("rubbing", {**document, "name": "rubbing"})
        motion = self.motion(80, 3, 2)
        tau = self.ask("rubbing", "inverse-dynamics", motion)["tau"]
        for model in ("two_link", "rubbing"):
            found = self.ask(model, "identify", {**motion, "tau": tau, "unknown": ["rotors", "friction"]})["base_parameters"]
            self.near([p["value"] for p in found], [0.02, 0.3, 0.5, 0.7, 0.04, 1.3, 1.5, 0.7], 1e-9)
        both = self.ask("two_link", "identify", {
            **motion, "tau": self.ask("rubbing", "inverse-dynamics", {**motion, "gravity": [0, -9.81, 0]})["tau"],
            "gravity": [0, -9.81, 0], "unknown": ["friction", "rotors"], "outputs": ["base_parameters", "condition"]})
        self.near([p["value"] for p in both["base_parameters"]], [0.02, 0.3, 0.5, 0.7, 0.04, 1.3, 1.5, 0.7], 1e-9)

    def test_coverage(self):
        """The mass is found to 1 %. The 95 % interval covers it in 93 % to 97 % of the repetitions. The seed is fixed."""
        motion, repetitions, errors = self.motion(2000, 4), 100, []
        exact = np.array(self.ask("ur5", "inverse-dynamics", {**motion, "payload": PAYLOAD})["tau"])
        choose = np.random.default_rng(5)
        for _ in range(repetitions):
            tau = exact + choose.normal(scale=0.3, size=exact.shape)
            found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), **UNKNOWN, "outputs": ["payload"]})["payload"]
            self.near(found["mass"], 2, 0.01)
            errors.append((found["mass"] - 2) / found["mass_deviation"])
        share = np.mean(np.abs(errors) < 1.96)
        # three standard deviations of the share in 100 repetitions are 0.065
        self.assertTrue(0.9 <= share <= 0.99, share)
        self.assertTrue(0.8 <= np.std(errors) <= 1.2, np.std(errors))

    def test_refusals(self):
        motion = self.motion(20, 6)
        rows = {**motion, "tau": [[0] * 6] * 20}
        for change, code, pointer in (
                ({"unknown": []}, "wrong-shape", "/unknown"), ({"unknown": ["loads"]}, "unknown-name", "/unknown/0"),
                ({"unknown": ["friction", "friction"]}, "duplicate-name", "/unknown/1"),
                ({"unknown": ["payload"]}, "missing-field", "/frame"),
                ({"unknown": ["friction"], "frame": "tool0"}, "bad-value", "/frame"),
                ({"frame": "tool0"}, "bad-value", "/frame"),
                ({"unknown": ["friction"], "friction": False}, "bad-value", "/friction"),
                ({"unknown": ["payload"], "frame": "base_link"}, "bad-value", "/frame"),
                ({**UNKNOWN, "rotor": True}, "bad-value", "/rotor"),
                ({**UNKNOWN, "consistent": True}, "bad-value", "/consistent"),
                ({**UNKNOWN, "friction": True}, "bad-value", "/friction"),
                ({**UNKNOWN, "outputs": ["parameters"]}, "bad-value", "/outputs/0"),
                ({"outputs": ["residual", "payload"]}, "bad-value", "/outputs/1")):
            problem = self.assertProblem(self.client.post("/v1/models/ur5/identify", {**rows, **change}), 422, pointer)
            self.assertEqual(problem["code"], code, (change, problem))
        still = {name: [[0.1] * 6] * 20 for name in ("q", "qd", "qdd")}
        still["qd"] = [[0] * 6] * 20
        # joints at rest determine no friction
        for change in ({"unknown": ["payload", "friction"]}, {"unknown": ["payload", "rotors"]}):
            problem = self.assertProblem(self.client.post("/v1/models/ur5/identify", {**still, "tau": rows["tau"], **UNKNOWN, **change}), 422)
            self.assertEqual(problem["code"], "rank-deficient")
        floating = {**still, "qdd": still["qd"], "gravity": [0, 0, 0]}  # at rest without gravity nothing is determined
        problem = self.assertProblem(self.client.post("/v1/models/ur5/identify", {**floating, "tau": rows["tau"], **UNKNOWN}), 422)
        self.assertEqual(problem["code"], "rank-deficient")


if __name__ == "__main__":
    tap.main()
