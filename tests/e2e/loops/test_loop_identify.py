"""Tests base parameters and identification of mechanisms with closed loops."""
import json

import numpy as np
import tap
from closed import MOTION, Closed, only
from harness import Server
from identification import grouped, truth, values
from linkages import FiveBar, FourBar

ALL = {"friction": True, "rotor": True}
COUNTS = {"four_bar": 8, "five_bar": 11, "delta": 37, "stewart": 88}


def plain(document):
    """Returns the document without rotors and friction, with mass, com and inertia instead of solid shapes."""
    document = json.loads(json.dumps(document))
    for link in document["links"]:
        link["joint"] = {key: x for key, x in link["joint"].items() if key not in ("friction", "rotor_inertia")}
    return document


class LoopIdentify(Closed):
    def drawn(self, document, seed, devices):
        """Returns the mechanism with random bodies without symmetry, and with random rotors and friction if `devices`."""
        choose, other = np.random.default_rng(seed), plain(document)
        for link in other["links"]:
            root = choose.uniform(-1, 1, (3, 3))
            # any positive definite second moment E belongs to a real body, with I = tr(E) 1 - E
            E = root @ root.T * 0.01
            inertia = np.trace(E) * np.eye(3) - E
            link["inertial"] = {"mass": choose.uniform(0.5, 2), "com": choose.uniform(-0.1, 0.1, 3).tolist(),
                                "inertia": {a + b: inertia["xyz".index(a), "xyz".index(b)]
                                            for a, b in ("xx", "xy", "yy", "xz", "yz", "zz")}}
            if devices and link["joint"]["type"] in ("revolute", "continuous", "prismatic"):
                link["joint"]["rotor_inertia"] = choose.uniform(0.01, 0.05)
                link["joint"]["friction"] = {"viscous": choose.uniform(0.1, 0.5), "coulomb": {
                    "positive": choose.uniform(0.1, 1), "negative": choose.uniform(0.1, 1)}}
        return other

    def simulated(self, model, states):
        motion = only(states, *MOTION)
        return {**motion, "tau": self.ask(model, "inverse-dynamics", motion)["tau"]}

    def test_base_regressor_times_groups(self):
        """tau = base_regressor * base parameters for any bodies, in states that the computation of the base parameters did not use. Their number
        is the published one: for Gough-Stewart 13 for each leg and 10 for the platform."""
        for model in self.MODELS:
            document = self.drawn(self.documents[model], 3, False)
            self.put_model("drawn", document)
            s = self.states(model, 40, 12)
            answer = self.ask(model, "regressor", {**only(s, *MOTION), "outputs": ["base_parameters", "base_regressor"]})
            figures = truth(document)
            beta = [grouped({"grouping": entry}, figures) for entry in answer["base_parameters"]]
            self.assertEqual(len(beta), COUNTS[model], model)
            self.near(np.array(answer["base_regressor"]) @ beta, self.simulated("drawn", s)["tau"], 1e-12, model)

    def test_no_fewer_would_do(self):
        """The number of base parameters is the rank of a matrix by the closed forms of the planar linkages; each column has the torques that one
        parameter of size 1 causes."""
        for model, form in (("four_bar", FourBar), ("five_bar", FiveBar)):
            s, document, columns = self.states(model, 60, 5), self.documents[model], []
            torques = [np.array(s[name]) for name in MOTION]
            linkage = form(document)

            def tau():
                return np.concatenate([linkage.tau(*row) for row in zip(*torques)])
            bars = {"four_bar": ("crank", "rocker", "coupler"), "five_bar": ("cranks", "rods")}[model]
            places = [(name, None) for name in bars] if model == "four_bar" else [(name, i) for name in bars for i in (0, 1)]
            linkage.viscous, linkage.rotor = 0, 0
            nothing = (0.0, 0.0, np.zeros(2))

            def put(place, bar):
                name, i = place
                if i is None:
                    setattr(linkage, name, bar)
                else:
                    setattr(linkage, name, [bar if k == i else x for k, x in enumerate(getattr(linkage, name))])
            for place in places:
                put(place, nothing)
            for place in places:
                for bar in ((0.0, 1.0, np.zeros(2)), (1.0, 0.0, np.zeros(2)), (1.0, 0.0, np.array([1.0, 0])),
                            (1.0, 0.0, np.array([0, 1.0]))):
                    put(place, bar)
                    columns.append(tau())
                put(place, nothing)
            A = np.array([column / np.linalg.norm(column) for column in columns if np.linalg.norm(column) > 0]).T
            size = np.linalg.svd(A, compute_uv=False)
            self.assertEqual(np.sum(size > 1e-9 * size[0]), COUNTS[model], (model, size))

    def test_what_is_found_is_the_robot(self):
        """Torques of a robot with other bodies, rotors and friction in all joints, passive ones included, give that
        robot's parameters, whatever the model's own."""
        for model in ("four_bar", "five_bar", "delta"):
            document = self.drawn(self.documents[model], 4, True)
            self.put_model("true", document)
            figures = truth(document)
            answer = self.ask(model, "identify", {**self.simulated("true", self.states(model, 300, 6)), **ALL})
            for entry in answer["base_parameters"]:
                self.assertAlmostEqual(entry["value"], grouped(entry, figures), delta=1e-6, msg=f"{model} {entry['grouping']}")
            self.assertLess(answer["residual"], 1e-9, model)
            seen = {part["parameter"] for entry in answer["base_parameters"]
                    for part in [entry["grouping"], *entry["grouping"]["with"]]}
            self.assertFalse(seen & set(answer["unobservable"]))

    def test_consistent_parameters_predict(self):
        """With the bodies that identify answers for the option `consistent`, the model predicts the robot's torques on another motion."""
        for model in ("four_bar", "stewart"):
            document = self.drawn(self.documents[model], 5, False)
            self.put_model("true", document)
            self.put_model("nominal", self.drawn(self.documents[model], 6, False))
            answer = self.ask("nominal", "identify", {**self.simulated("true", self.states(model, 100, 7)), "consistent": True})
            found = json.loads(json.dumps(document))
            for link, body in zip(found["links"], answer["parameters"]):
                self.assertEqual(link["name"], body["link"])
                link["inertial"] = {key: body[key] for key in ("mass", "com", "inertia")}
            self.put_model("found", found)
            other = self.states(model, 20, 8)
            self.near(self.simulated("found", other)["tau"], self.simulated("true", other)["tau"], 1e-6, model)

    def test_an_elastic_joint(self):
        """The motor of an elastic joint has friction and rotor inertia of its own, whose columns follow those of all joints."""
        document = plain(self.documents["five_bar"])
        document["links"][0]["joint"] |= {"elastic": {"stiffness": 100, "damping": 0.1}, "rotor_inertia": 0.02,
                                          "friction": {"viscous": 0.3, "coulomb": {"positive": 0.5, "negative": 0.7}}}
        self.put_model("elastic", document)
        s = self.states("five_bar", 60, 13)
        for name in MOTION:
            s[name] = [[*row, row[0] + 0.1 * np.sin(i)] for i, row in enumerate(s[name])]
        found = {entry["grouping"]["parameter"]: entry["value"]
                 for entry in self.ask("elastic", "identify", {**self.simulated("elastic", s), **ALL})["base_parameters"]}
        for key, expected in (("left.motor.rotor_inertia", 0.02), ("left.motor.viscous", 0), ("left.viscous", 0.3),
                              ("left.coulomb_positive", 0.5), ("left.coulomb_negative", 0.7)):
            self.assertAlmostEqual(found[key], expected, delta=1e-9)
        columns = self.ask("elastic", "regressor", {**only(s, *MOTION), "outputs": ["joint_regressor"]})["joint_regressor"]
        self.assertEqual(np.array(columns).shape, (60, 3, 3 * 5))
        self.near([row[2][12:] for row in columns], [[qdd[2], qd[2], np.sign(qd[2])] for qd, qdd in zip(s["qd"], s["qdd"])])

    def test_wrenches_and_payload_are_known(self):
        model = "five_bar"
        known = {"wrenches": [{"link": "right_rod", "force": [3, -2, 1]}], "payload": {"link": "left_rod", "mass": 0.2}}
        motion = only(self.states(model, 60, 9), *MOTION)
        loaded = {**motion, "tau": self.ask(model, "inverse-dynamics", {**motion, **known})["tau"]}
        bare = values(self.ask(model, "identify", self.simulated(model, motion)))
        self.near(values(self.ask(model, "identify", {**loaded, **known})), bare, 1e-8)
        self.assertGreater(np.abs(np.array(values(self.ask(model, "identify", loaded))) - bare).max(), 1e-2)

    def test_a_guess_chooses_the_assembly(self):
        """With a guess, the five-bar is identified in the assembly with elbows inwards; the base parameters are the
        same."""
        inward = FiveBar(self.documents["five_bar"], -1)
        states = self.states("five_bar", 60, 10)
        guess = [list(inward.tree(np.array(q))[1::2]) for q in states["q"]]
        motion = {**only(states, *MOTION), "guess": guess}
        tau = self.ask("five_bar", "inverse-dynamics", motion)["tau"]
        there = self.ask("five_bar", "identify", {**motion, "tau": tau})
        here = self.ask("five_bar", "identify", self.simulated("five_bar", states))
        self.near(values(there), values(here), 1e-7)

    def test_same_bits_on_every_target(self):
        request = {**self.simulated("five_bar", self.states("five_bar", 51, 11)), **ALL, "consistent": True}
        requests = [("five_bar/identify", request),
                    ("stewart/regressor", {**only(self.states("stewart", 3), *MOTION), "outputs": ["base_parameters", "base_regressor"]})]
        server = Server("--target", "scalar")
        try:
            client = server.client()
            for path, body in requests:
                widest = self.client.post(f"/v1/models/{path}", body)
                self.assertEqual(widest.status, 200)
                self.assertEqual(client.post(f"/v1/models/{path}", body).body, widest.body, path)
            client.close()
        finally:
            self.assertIsNone(server.stop())

    def test_no_place_to_begin(self):
        document = json.loads(json.dumps(self.documents["four_bar"]))
        document["frames"] = [{**frame, "xyz": [5, 0, 0]} if frame["name"] == "crank_end" else frame for frame in document["frames"]]
        self.refused(self.client.put("/v1/models/apart", document), "loop-open", "/loops")
        for link in document["links"]:  # a parallelogram with all bars on one line
            link["joint"].pop("home", None)
        document["links"][1]["joint"]["origin"] = {"xyz": [0.2, 0, 0]}
        document["links"][2]["joint"]["origin"] = {"xyz": [0.1, 0, 0]}
        document["frames"] = [{**frame, "xyz": {"crank_end": [0.1, 0, 0], "coupler_start": [-0.2, 0, 0]}.get(frame["name"], frame["xyz"])}
                              for frame in document["frames"]]
        self.refused(self.client.put("/v1/models/flat", document), "loop-singular", "/loops")


if __name__ == "__main__":
    tap.main()
