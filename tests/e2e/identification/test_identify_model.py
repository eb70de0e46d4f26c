"""Tests the output `model` of identify: PUT accepts the document, and its torques are those of the measured robot."""
import copy

import numpy as np
import tap
from actuated import SPRINGY, rod
from closed import Closed
from identification import bundled, other_robot
from python_client import torqued
from samples import body, chain

EVERYTHING = {"friction": True, "rotor": True}
# A robot with motors on its links, a merged link, an elastic joint with a motor, and a rigid joint whose motor has
# friction.
MOTORS = {"links": [
    {**rod("upper", "base"), "inertial": body(3, (0.1, 0, -0.4), 0.3, 0.3, 0.1)}, rod("lower", "upper", friction={"viscous": 0.2}),
    rod("tail", "lower", elastic={"stiffness": 300}, friction={"viscous": 0.1, "coulomb": 0.4}),
    {"name": "bracket", "parent": "upper", "inertial": body(0.5, (0.2, 0, 0)), "joint": {
        "name": "welded", "type": "fixed", "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.3, -0.2, 0.1]}}}],
    "motors": [
        {"joint": "lower_joint", "link": "bracket", "axis": [0, 1, 0], "gear_ratio": 30, "spin_inertia": 2e-4,
         "inertial": body(0.8, (0, 0.05, 0)), "friction": {"viscous": 0.3, "coulomb": {"positive": 1, "negative": 2}}},
        {"joint": "tail_joint", "link": "lower", "axis": [0, 0, 1], "gear_ratio": -20, "spin_inertia": 1e-4,
         "inertial": body(0.4), "friction": {"viscous": 0.2, "coulomb": 0.5}}]}
SWIMMER = {"base": {"type": "floating", "link": "hull", "inertial": body(4, (0.1, 0, -0.05), 0.3, 0.4, 0.5)}, "links": [
    {"name": "keel", "parent": "hull", "inertial": body(1, (0, 0, -0.3)), "joint": {
        "name": "bolted", "type": "fixed", "origin": {"xyz": [0, 0.1, -0.2]}}},
    {**rod("upper", "keel"), "inertial": body(2, (0, 0, -0.5), 0.2, 0.2, 0.03)},
    {"name": "ball", "parent": "hull", "inertial": body(1, (0, 0, -0.4)), "joint": {
        "name": "ball_joint", "type": "spherical", "origin": {"xyz": [0.3, 0, 0]}}},
    {"name": "sled", "parent": "hull", "inertial": body(1, (0, 0.1, 0)), "joint": {
        "name": "sled_joint", "type": "planar", "axis": [0, 0, 1], "origin": {"xyz": [-0.3, 0, 0]}}}]}


def changed(document, seed):
    """Returns the robot with masses, centres of mass and inertias changed by some percent."""
    choose, other = np.random.default_rng(seed), copy.deepcopy(document)
    for place in [other.get("base", {}), *other.get("links", [])]:
        inertial = place.get("inertial", {})
        if "mass" not in inertial or "solid" in inertial:
            continue
        inertial["mass"] *= choose.uniform(0.8, 1.2)
        inertial["com"] = (np.array(inertial.get("com", [0, 0, 0])) + choose.uniform(-0.01, 0.01, 3)).tolist()
        scale = choose.uniform(0.9, 1.1)
        inertial["inertia"] = {key: scale * x for key, x in inertial.get("inertia", {}).items()}
    for G in other.get("screws", {}).get("G", []):
        G[:] = (np.array(G) * choose.uniform(0.8, 1.2)).tolist()
    return other


class Model(Closed):
    def motion(self, model, rows, seed):
        described, choose = self.ok(self.client.get(f"/v1/models/{model}")), np.random.default_rng(seed)
        q = choose.uniform(-1, 1, (rows, described["nq"]))
        for name in described["position_names"]:
            if name.endswith(".qx"):
                at = described["position_names"].index(name)
                q[:, at:at + 4] /= np.linalg.norm(q[:, at:at + 4], axis=1)[:, None]
        return {"q": q.tolist(), **{name: choose.uniform(-3, 3, (rows, described["nv"])).tolist() for name in ("qd", "qdd")}}

    def torques(self, model, motion, **more):
        return np.array(self.ask(model, "inverse-dynamics", {**motion, **more})["tau"])

    def check(self, name, real, tolerance=1e-5, **options):
        """Identifies model `name` from the torques of robot `real`, and checks that the resulting document predicts
        these torques on another motion."""
        self.put_model("real", real)
        motion, other = self.motion(name, 150, 1), self.motion(name, 20, 2)
        found = self.ask(name, "identify", {**motion, "tau": self.torques("real", motion).tolist(), **options, "outputs": ["model"]})
        self.assertEqual(list(found), ["model"])
        self.put_model("found", found["model"])
        self.near(self.torques("found", other), self.torques("real", other), tolerance, name)
        return found["model"]

    def test_bodies(self):
        for name in ("ur5", "puma560", "three_link", "solo12"):
            with self.subTest(model=name):
                self.check(name, changed(bundled(name), 1))

    def test_friction_and_rotors(self):
        for name in ("ur5", "puma560"):
            found = self.check(name, other_robot(bundled(name), 3), **EVERYTHING)
            for link in found["links"]:
                self.assertGreater(link["joint"]["friction"]["coulomb"]["positive"], 0.5)
                self.assertGreater(link["joint"]["rotor_inertia"], 0)
            self.assertEqual(found["source"], bundled(name)["source"])

    def test_merged_links_and_motors(self):
        self.put_model("driven", MOTORS)
        real = changed(MOTORS, 2)
        self.check("driven", real)
        real["motors"][0].update(spin_inertia=3e-4, friction={"viscous": 0.5, "coulomb": 2})
        real["motors"][1].update(spin_inertia=2e-4, friction={"viscous": 0.1, "coulomb": {"positive": 0.2, "negative": 0.9}})
        found = self.check("driven", real, **EVERYTHING)
        self.assertNotIn("inertial", found["links"][3])
        self.assertEqual(["inertial" in motor for motor in found["motors"]], [False, False])
        self.assertNotIn("friction", found["motors"][0])  # the friction of the motor is now part of the joint's
        self.assertAlmostEqual(found["motors"][1]["friction"]["coulomb"]["negative"], 0.9, delta=1e-3)

    def test_joints_of_several_coordinates(self):
        self.put_model("swimmer", SWIMMER)
        real = changed(SWIMMER, 3)
        self.check("swimmer", real)
        real["links"][1]["joint"] |= {"friction": {"viscous": 0.4, "coulomb": 1}, "rotor_inertia": 0.2}
        self.check("swimmer", real, **EVERYTHING)

    def test_loops(self):
        four_bar = bundled("four_bar")
        self.put_model("plain", {**four_bar, "name": "plain"})
        motion = self.motion("plain", 200, 4)
        motion["q"] = np.random.default_rng(5).uniform(-0.3, 0.3, (200, 1)).tolist()
        found = self.ask("plain", "identify", {**motion, "tau": self.torques("plain", motion).tolist(), "outputs": ["model"]})
        self.put_model("found", found["model"])
        self.assertEqual(found["model"]["loops"], self.ok(self.client.get("/v1/models/plain/document"))["loops"])
        self.near(self.torques("found", motion), self.torques("plain", motion), 1e-5)

    def test_chosen_unknowns(self):
        """Only the payload's body, friction and rotors differ from the model's document."""
        real, payload = bundled("ur5"), {"link": "wrist_3_link", "mass": 2, "com": [0.02, -0.03, 0.08],
                                         "inertia": {"xx": 0.012, "yy": 0.01, "zz": 0.008}}
        for i, link in enumerate(real["links"]):
            link["joint"] |= {"friction": {"viscous": 1 + i, "coulomb": {"positive": 2, "negative": 1 + i}}, "rotor_inertia": 0.1 * (1 + i)}
        self.put_model("real", real)
        motion = self.motion("ur5", 100, 6)
        tau = self.torques("real", motion, payload=payload)
        found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), "unknown": ["payload", "friction", "rotors"],
                                             "frame": "tool0", "outputs": ["model", "payload"]})
        self.near(found["payload"]["mass"], 2, 1e-9)
        self.put_model("found", found["model"])
        self.near(self.torques("found", motion), tau, 1e-9)
        document = self.ok(self.client.get("/v1/models/ur5/document"))
        for mine, its in zip(found["model"]["links"][:-1], document["links"]):
            self.assertEqual(mine["inertial"], its["inertial"])
            self.assertEqual({**mine["joint"], "friction": None, "rotor_inertia": None}, {**its["joint"], "friction": None, "rotor_inertia": None})

    def test_what_noise_makes_impossible(self):
        """Negative friction estimates become zero in the document; the smoothing velocity is kept."""
        real = bundled("two_link")
        for link in real["links"]:
            link["joint"]["friction"] = {"viscous": 0.1, "coulomb_velocity": 0.02}
        self.put_model("smooth", real)
        motion = self.motion("smooth", 30, 7)
        tau = self.torques("two_link", motion) - 0.5 * np.sign(motion["qd"])
        found = self.ask("smooth", "identify", {**motion, "tau": tau.tolist(), "unknown": ["friction"],
                                                "outputs": ["model", "base_parameters"]})
        self.assertLess(found["base_parameters"][1]["value"], -0.4)
        for link in found["model"]["links"]:
            self.assertEqual(link["joint"]["friction"]["coulomb"], {"positive": 0, "negative": 0})
            self.assertEqual(link["joint"]["friction"]["coulomb_velocity"], 0.02)
        self.put_model("found", found["model"])

    def test_clients(self):
        """JSON and CBOR give the same document, and a client can PUT it unchanged."""
        motion = self.motion("two_link", 40, 8)
        request = {**motion, "tau": self.torques("two_link", motion).tolist(), "outputs": ["model"]}
        with torqued.Client(self.server.url()) as client:
            client.put("copy", client.model("two_link").identify(**request).model)
        self.put_model("other", self.ask("two_link", "identify", request)["model"])
        revisions = {self.ok(self.client.get(f"/v1/models/{name}"))["revision"] for name in ("copy", "other")}
        self.assertEqual(len(revisions), 1)

    def test_refusals(self):
        self.put_model("springy", SPRINGY)
        for model, options, words in (("three_link", {"rotor": True}, "screws"), ("three_link", {"unknown": ["friction"]}, "screws"),
                                      ("springy", {"friction": True}, "elastic joint")):
            motion = self.motion(model, 60, 9)
            problem = self.assertProblem(self.client.post(f"/v1/models/{model}/identify", {
                **motion, "tau": self.torques(model, motion).tolist(), **options, "outputs": ["residual", "model"]}), 422, "/outputs/1")
            self.assertIn(words, problem["detail"])
        motion = self.motion("springy", 60, 9)
        self.assertIn("model", self.ask("springy", "identify", {
            **motion, "tau": self.torques("springy", motion).tolist(), "rotor": True, "outputs": ["model"]}))

    def test_fit(self):
        """`fit` is the residual of the document's torques, for each coordinate and in total: with weights, another
        order of joints, clipped friction and elastic joints. For `hua`, whose identified bodies are physically
        impossible, it is not zero."""
        self.put_model("driven", MOTORS)
        self.put_model("rubbing", other_robot(bundled("ur5"), 5))
        for name, real, options in (("ur5", "rubbing", EVERYTHING), ("driven", "driven", {}), ("hua", "hua", {}), ("puma560", "puma560", {}),
                                    ("ur5", "ur5", {"unknown": ["friction"]}), ("ur5", "ur5", {"unknown": ["rotors"]}),
                                    ("four_bar", "four_bar", {}), ("solo12", "solo12", {})):
            motion = self.motion(name, 150, 12)
            if name == "four_bar":
                motion["q"] = (0.3 * np.array(motion["q"])).tolist()
            tau = self.torques(real, motion)
            noise = 0.05 * np.abs(tau).max(axis=0) * (name != "hua") + 0.0
            tau = tau + np.random.default_rng(3).normal(0, 1, tau.shape) * noise
            weights = np.random.default_rng(4).uniform(0.5, 2, tau.shape)
            for more, w in (({}, np.ones_like(tau)), ({"weights": weights.tolist()}, weights)):
                with self.subTest(model=name, options=options, weighted=bool(more)):
                    found = self.ask(name, "identify", {**motion, "tau": tau.tolist(), **options, **more, "outputs": ["model", "fit", "residual"]})
                    self.put_model("found", found["model"])
                    error = w * (self.torques("found", motion) - tau)
                    self.near(found["fit"]["coordinates"], np.sqrt((error ** 2).mean(axis=0)), 1e-6, least=1e-6)
                    self.near(found["fit"]["residual"], np.sqrt((error ** 2).mean()), 1e-6, least=1e-6)
                    if name == "hua":
                        self.assertGreater(found["fit"]["residual"], 0.05)
                        self.assertLess(found["residual"], 1e-9)

    def test_one_row_fails(self):
        """If all rows fail, there is no model."""
        self.put_model("chain", chain(2))
        motion = self.motion("chain", 30, 10)
        answer = self.ask("chain", "identify", {**motion, "q": [[1e300, 0]] * 30, "tau": [[0, 0]] * 30, "on_error": "row",
                                                "outputs": ["model"]})
        self.assertIsNone(answer["model"])


if __name__ == "__main__":
    tap.main()
