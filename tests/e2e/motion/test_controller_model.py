"""Tests controllers of simulate that use another stored model than that of the simulated robot: their efforts are those that
inverse-dynamics, mass-matrix and bias give for the other model, and the motion is that of SciPy's integration."""
import copy
import hashlib
import random
import tempfile

import numpy as np
import tap
from harness import Server
from peers import Client
from scipy.integrate import solve_ivp
from simulated import ARM, ROD, Simulated

GAINS = {"kp": 40, "kd": 9}


def other(document, seed):
    """Returns the document with other masses, inertias, friction and stiffness."""
    draw, document = random.Random(seed), copy.deepcopy(document)
    for body in [*document["links"], *([document["base"]] if "base" in document else [])]:
        inertial = body["inertial"]
        factor = draw.uniform(0.5, 1.8)
        inertial["mass"] *= factor
        for key in inertial.get("inertia", {}):
            inertial["inertia"][key] *= factor
        joint = body.get("joint", {})
        joint["friction"] = {"viscous": draw.uniform(0.1, 1)} if joint else None
        if "elastic" in joint:
            joint["elastic"]["stiffness"] *= draw.uniform(0.5, 2)
            joint["rotor_inertia"] *= draw.uniform(0.5, 2)
    return document


SLACK = {"links": [{"name": "upper", "parent": "base", "joint": {
    "name": "shoulder", "type": "revolute", "axis": [0, 1, 0], "elastic": {"stiffness": 300}, "rotor_inertia": 0.03},
    "inertial": {"mass": 1.5, "com": [0.2, 0, 0.05], "inertia": {"xx": 0.02, "yy": 0.05, "zz": 0.06}}},
    {"name": "lower", "parent": "upper", "joint": {
        "name": "elbow", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.4, 0, 0]}},
     "inertial": {"mass": 0.7, "com": [0.15, 0.02, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.015}}}]}


class Believed(Simulated):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        floating = {"base": {"type": "floating", "link": "hull", "inertial": {
            "mass": 2, "com": [0.1, 0.2, 0.05], "inertia": {"xx": 1, "yy": 2, "zz": 2.5}}}, "links": [{**ROD, "parent": "hull"}]}
        for i, (name, document) in enumerate((("pendulum", {"links": [ROD]}), ("arm", ARM), ("slack", SLACK), ("diver", floating))):
            assert cls.client.put(f"/v1/models/{name}", document).status in (200, 201)
            assert cls.client.put(f"/v1/models/{name}.believed", other(document, i)).status == 201

    def drive(self, model, controller, reference, **more):
        return {"controller": controller, **GAINS, "reference": reference, "clip": False, "model": f"{model}.believed", **more}

    def run_samples(self, model, q, qd, drive, **more):
        """Simulates with samples at which continuous and sampled controllers have just found their efforts."""
        return self.simulate(model, {"q": q, "qd": qd, "duration": 0.4, "samples": 5, "step": 1e-3, "input": drive, **more},
                             "q", "qd", "tau")


class Efforts(Believed):
    def assertLaw(self, found, law):
        for q, qd, tau in zip(found["q"], found["qd"], found["tau"]):
            self.assertClose(tau, law(np.array(q), np.array(qd)).tolist(), 1e-11, 10)

    def gravity(self, model, q, **more):
        """Returns the efforts of gravity without those of springs."""
        return np.array(self.ask(model, "bias", {"q": list(q), "outputs": ["gravity"], **more})["gravity"])

    def needed(self, model, q, qd, qdd):
        return np.array(self.ask(model, "inverse-dynamics", {"q": list(q), "qd": list(qd), "qdd": list(qdd)})["tau"])

    def test_arm(self):
        """Tests each controller that uses a model, continuous and sampled."""
        r = np.array([0.4, 0.2, -0.1])
        laws = {"pd_gravity": lambda q, qd: 40 * (r - q) - 9 * qd + self.gravity("arm.believed", q),
                "computed_torque": lambda q, qd: self.needed("arm.believed", q, qd, 40 * (r - q) - 9 * qd),
                "pd_feed_forward": lambda q, qd: 40 * (r - q) - 9 * qd + self.needed("arm.believed", r, 0 * r, 0 * r)}
        for name, law in laws.items():
            for more in ({}, {"period": 0.005}):
                with self.subTest(controller=name, more=more):
                    found = self.run_samples("arm", [0.3, 0.1, -0.4], [0.2, 0.1, -0.5], self.drive("arm", name, r.tolist(), **more))
                    self.assertLaw(found, law)
                    plain = {k: v for k, v in self.drive("arm", name, r.tolist(), **more).items() if k != "model"}
                    self.assertGreater(np.abs(np.subtract(self.run_samples("arm", [0.3, 0.1, -0.4], [0.2, 0.1, -0.5], plain)["tau"],
                                                          found["tau"])).max(), 1e-3, "the models are too alike for this test")

    def test_friction_that_the_model_does_not_have(self):
        """With `knows_friction` a controller compensates the friction of the controller's model, not that of the robot's."""
        r = [0.4, 0.2, -0.1]
        drive = self.drive("arm", "computed_torque", r, knows_friction=False)
        def law(q, qd):
            return np.array(self.ask("arm.believed", "inverse-dynamics", {
                "q": list(q), "qd": list(qd), "qdd": list(40 * (r - q) - 9 * qd), "friction": False})["tau"])
        self.assertLaw(self.run_samples("arm", [0.3, 0.1, -0.4], [0.2, 0.1, -0.5], drive), law)

    def test_gravity_payload_and_parameters_of_the_request(self):
        """The request's `gravity` applies to the controller's model too; its payload and parameters apply to the robot only."""
        r, gravity = [0.4, 0.2, -0.1], [1, -2, -7]
        drive = self.drive("arm", "pd_gravity", r)
        more = {"gravity": gravity, "payload": {"link": "c", "mass": 0.4, "com": [0.1, 0, 0.2]}}
        def law(q, qd):
            return 40 * (r - q) - 9 * qd + self.gravity("arm.believed", q, gravity=gravity)
        found = self.run_samples("arm", [0.3, 0.1, -0.4], [0.2, 0.1, -0.5], drive, **more)
        self.assertLaw(found, law)
        bare = self.run_samples("arm", [0.3, 0.1, -0.4], [0.2, 0.1, -0.5], drive, gravity=gravity)
        self.assertNotEqual(found["q"][-1], bare["q"][-1])

    def test_floating_base(self):
        """Partial feedback linearisation by the other model; the base has no actuator, neither in this model nor in the robot."""
        q, qd = [0.1, 0.2, 0.3, 0.5, -0.1, 0.2, 0.8, 0.4], [0.1, -0.2, 0.3, 0.4, 0.2, -0.1, 0.5]
        q[3:7] = (np.array(q[3:7]) / np.linalg.norm(q[3:7])).tolist()
        def law(q, qd):
            M = np.array(self.ask("diver.believed", "mass-matrix", {"q": list(q)})["mass_matrix"])
            h = self.needed("diver.believed", q, qd, np.zeros(7))
            wanted = 40 * (0.9 - q[7]) - 9 * qd[6]
            base = np.linalg.solve(M[:6, :6], -M[:6, 6] * wanted - h[:6])
            return np.array([0] * 6 + [M[6, :6] @ base + M[6, 6] * wanted + h[6]])
        found = self.run_samples("diver", q, qd, self.drive("diver", "computed_torque", [0] * 6 + [0.9]))
        self.assertLaw(found, law)

    def test_elastic_joints(self):
        """pd_gravity gives the motor of an elastic joint the gravity load of its link in the other model."""
        r = np.array([0.3, -0.2, 0.3])
        def law(q, qd):
            g, tau = self.gravity("slack.believed", q), 40 * (r - q) - 9 * qd
            return np.array([0, tau[1] + g[1], tau[2] + g[0] + g[2]])
        found = self.run_samples("slack", [0.1, -0.4, 0.12], [0.2, 0.1, 0.3], self.drive("slack", "pd_gravity", r.tolist()))
        self.assertLaw(found, law)


class Motions(Believed):
    def test_against_scipy(self):
        """The robot's accelerations are those of its own model under the efforts that the other model gives."""
        q0, r = [0.3, 0.1, -0.4], np.array([0.5, 0.05, -0.2])
        def rate(t, y):
            tau = self.ask("arm.believed", "inverse-dynamics", {
                "q": list(y[:3]), "qd": list(y[3:]), "qdd": list(40 * (r - y[:3]) - 9 * y[3:])})["tau"]
            return [*y[3:], *self.ask("arm", "forward-dynamics", {"q": list(y[:3]), "qd": list(y[3:]), "tau": tau})["qdd"]]
        expected = solve_ivp(rate, (0, 0.3), q0 + [0] * 3, "DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
        for how in ({"step": 5e-4}, {"tolerance": 1e-11}, {"tolerance": 1e-11, "stiff": True}):
            a = self.simulate("arm", {"q": q0, "duration": 0.3, "times": [0.3], **how,
                                      "input": self.drive("arm", "computed_torque", r.tolist())}, "q", "qd")
            self.assertClose(a["q"][0] + a["qd"][0], list(expected), 1e-8, 1)

    def test_friction_that_sticks(self):
        """The robot's hinge sticks. The computed torque compensates the sharp friction that the other model has: near zero velocity the efforts
        do not jump, as with a model that has the robot's friction."""
        sharp = {"links": [{**ROD, "joint": {**ROD["joint"], "friction": {"coulomb": 2}}}]}
        weaker = {"links": [{**ROD, "joint": {**ROD["joint"], "friction": {"coulomb": 1.5}}}]}
        for name, document in (("sharp", sharp), ("weaker", weaker)):
            self.assertEqual(self.client.put(f"/v1/models/{name}", document).status, 201)
        run = {"q": [0.2], "duration": 1.5, "times": [0.05, 1.5], "tolerance": 1e-8}
        drive = {"controller": "computed_torque", **GAINS, "reference": [0.5], "model": "weaker"}
        a = self.simulate("sharp", {**run, "input": drive}, "q", "qd", "tau")
        inertia = 2 * (0.1 ** 2 + 1) / 12 + 0.5
        self.assertGreater(a["qd"][0][0], 0)
        law = inertia * (40 * (0.5 - a["q"][0][0]) - 9 * a["qd"][0][0]) + 9.81 * np.sin(a["q"][0][0]) + 1.5
        self.assertAlmostEqual(a["tau"][0][0], law, delta=1e-9)
        # at rest the controller's effort is at most 40 M e + 1.5, and the hinge's friction of 2 balances the effort that gravity does not
        self.assertEqual(a["qd"][1], [0])
        self.assertLess(inertia * 40 * abs(0.5 - a["q"][1][0]), 2 + 1.5)
        same = self.simulate("sharp", {**run, "input": {**drive, "model": "sharp"}}, "q", "qd", "tau")
        self.assertEqual(same, self.simulate("sharp", {**run, "input": {k: v for k, v in drive.items() if k != "model"}}, "q", "qd", "tau"))

    def test_its_own_model_and_batches(self):
        """With the robot's own model as the controller's `model` the answer has the bits of a request without `model`; a row of a batch has the
        bits of a request of one row."""
        for controller in ("pd_gravity", "computed_torque", "pd_feed_forward"):
            drive = self.drive("arm", controller, [0.4, 0.2, -0.1])
            own, none = ({**drive, "model": "arm"}, {k: v for k, v in drive.items() if k != "model"})
            rows = [[0.3, 0.1, -0.4], [0.5, 0, 0.2], [-0.1, 0.2, 0.1]]
            runs = [self.run_samples("arm", q, [0.2, 0.1, -0.5], own) for q in rows]
            self.assertEqual(runs, [self.run_samples("arm", q, [0.2, 0.1, -0.5], none) for q in rows])
            alone = [self.run_samples("arm", q, [0.2, 0.1, -0.5], drive) for q in rows]
            batch = self.run_samples("arm", rows, [0.2, 0.1, -0.5], drive)
            self.assertEqual(alone, [{name: values[i] for name, values in batch.items()} for i in range(3)])
            masses = self.run_samples("arm", rows[0], [0.2, 0.1, -0.5], drive,
                                      payload={"link": "c", "com": [0.1, 0, 0.2], "mass": [0.1, 0.4, 2]})
            one = self.run_samples("arm", rows[0], [0.2, 0.1, -0.5], drive, payload={"link": "c", "com": [0.1, 0, 0.2], "mass": 0.4})
            self.assertEqual(one, {name: values[1] for name, values in masses.items()})

    def test_order_of_joints(self):
        """`joints` orders the numbers of the request only; the controller's coordinates follow the order of the robot's model."""
        plain = self.run_samples("arm", [0.3, 0.1, -0.4], [0.2, 0.1, -0.5], self.drive("arm", "pd_gravity", [0.4, 0.2, -0.1]))
        names = self.client.get("/v1/models/arm").json()["velocity_names"]
        turned = self.run_samples("arm", [-0.4, 0.3, 0.1], [-0.5, 0.2, 0.1], self.drive("arm", "pd_gravity", [-0.1, 0.4, 0.2]),
                                  joints=[names[2], names[0], names[1]])
        self.assertEqual(plain, {name: [[row[1], row[2], row[0]] for row in rows] for name, rows in turned.items()})


class Refusals(Believed):
    def refuse(self, model, more, code, pointer, **fields):
        n = len(fields.get("qd", [0]))
        drive = {"controller": "pd_gravity", **GAINS, "reference": [0] * n, **more}
        answer = self.client.post(f"/v1/models/{model}/simulate", {
            "q": [0] * n, "duration": 1, "samples": 2, "step": 0.01, "input": drive, **fields})
        self.assertEqual((answer.status // 100, answer.json()["code"], answer.json().get("pointer")), (4, code, pointer), answer)
        return answer.json()["detail"]

    def test_models(self):
        for more, code, said in (({"model": "nowhere"}, "bad-value", "GET /v1/models"),
                                 ({"model": "arm"}, "bad-value", "the same coordinates"),
                                 ({"model": "thick"}, None, None),
                                 ({"model": 3}, "wrong-type", "string"),
                                 ({"model": "five_bar"}, "not-for-loops", "five_bar")):
            with self.subTest(more=more):
                if code:
                    self.assertIn(said, self.refuse("pendulum", more, code, "/input/model"))
                else:
                    self.simulate("pendulum", {"q": [0], "duration": 0.1, "samples": 2, "step": 0.01, "input": {
                        "controller": "pd_gravity", **GAINS, "reference": [0], **more}})
        self.refuse("five_bar", {"model": "five_bar"}, "not-for-loops", "/input/model", q=[0.3, 2.5], qd=[0, 0])
        self.refuse("pendulum", {"model": "pendulum", "controller": "pid"}, "unknown-field", "/input/model")
        self.assertIn("store a model", self.refuse("pendulum", {"model": "pendulum", "knows_payload": True}, "bad-value",
                                                   "/input/knows_payload"))
        self.assertIn("held", self.refuse("arm", {"model": "arm"}, "not-supported", "/input/model", qd=[0] * 3,
                                          held=[{"frame": "c", "axes": ["x"]}]))

    def test_names(self):
        """A model whose coordinates have other names or another order than the robot's is refused."""
        renamed = copy.deepcopy(ARM)
        renamed["links"][-1]["joint"]["name"] = "twig"
        self.assertEqual(self.client.put("/v1/models/renamed", renamed).status, 201)
        detail = self.refuse("arm", {"model": "renamed"}, "bad-value", "/input/model", qd=[0] * 3)
        self.assertIn("twig", detail)
        self.assertIn("branch", detail)
        # with a locked joint the robot has fewer coordinates than its stored model
        self.assertIn("coordinates", self.refuse("arm", {"model": "arm", "reference": [0, 0]}, "bad-value", "/input/model",
                                                 qd=[0, 0], locked={"branch": 0.2}))

    def test_tokens(self):
        """A client whose token allows one model cannot use another model through a controller."""
        digest = hashlib.sha256(b"torqued_" + b"1" * 64).hexdigest()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with open(f"{folder}/tokens", "w") as file:
            file.write(f"planner evaluate sha256:{digest} models=panda\n")
        server = Server("--tokens", f"{folder}/tokens")
        self.addCleanup(server.kill)
        client = Client(server.port, 20)
        self.addCleanup(client.close)
        answer = client.request("POST", "/v1/models/panda/simulate", {
            "q": [0] * 7, "duration": 0.1, "samples": 2, "step": 0.01, "input": {
                "controller": "pd_gravity", **GAINS, "reference": [0] * 7, "model": "ur5"}},
            headers={"Authorization": "Bearer torqued_" + "1" * 64})
        self.assertEqual((answer.status, answer.json()["code"], answer.json()["pointer"]), (403, "forbidden", "/input/model"))


if __name__ == "__main__":
    tap.main()
