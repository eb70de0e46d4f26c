"""Tests margins of joints without a coordinate: mimic joints and passive joints of loops. Efforts of mimic joints are
compared with those of the same robot without mimics, whose joints all have coordinates; positions and velocities with
q_follower = multiplier q + offset, or with the output `full` of inverse-dynamics; gradients with extrapolated
differences."""
import copy

import cbor2
import numpy as np
import tap
from dependent import GRADIENTS, KINDS, STATE, TREES, Dependent
from harness import Server


class DependentLimits(Dependent):
    # --- trees with mimic joints ---

    def free_states(self, model, s):
        """Returns the states of the robot without mimics."""
        free = {}
        for name, rows in s.items():
            kind = "position_names" if name == "q" else "velocity_names"
            of = dict(zip(self.about[model][kind], np.array(rows).T))
            for follower, (leader, multiplier, offset) in self.follows[model].items():
                of[follower] = multiplier * of[leader] + (offset if name == "q" else 0)
            free[name] = np.array([of[name] for name in self.about[model + "-free"][kind]]).T.tolist()
        return free

    def expected(self, model, s, **loads):
        """Returns (joint, kind, lower, upper) of all limits, and their margins in all rows."""
        about, free = self.about[model + "-free"], self.free_states(model, s)
        rates = self.ask(model + "-free", "torque-derivative", {**free, **loads})
        own = self.ask(model, "torque-derivative", {**s, **loads})
        listed, margins = [], []
        for j in self.about[model]["joints"]:
            name = j["name"]
            at = about["velocity_names"].index(name) if name in about["velocity_names"] else None
            motor = name + ".motor" if "elastic" in j else name
            for kind in KINDS:
                if kind not in j["limits"]:
                    continue
                bound = j["limits"][kind]
                lower, upper = bound if kind == "position" else (-bound, bound)
                if kind == "position":
                    x = np.array(free["q"])[:, about["position_names"].index(name)]
                elif kind == "velocity":
                    x = np.array(free["qd"])[:, at]
                elif name in self.follows[model]:
                    x = np.array(rates["tau" if kind == "effort" else "tau_dot"])[:, at]
                else:
                    x = np.array(own["tau" if kind == "effort" else "tau_dot"])[:, self.about[model]["velocity_names"].index(motor)]
                listed.append((name, kind, lower, upper))
                margins.append(np.minimum(x - lower, upper - x))
        return listed, np.array(margins).T

    def test_margins_of_trees(self):
        for model in TREES:
            for loads in ({}, self.LOADS, {"friction": False}):
                s = self.tree_states(model, 9)
                got = self.ask(model, "margins", {**s, **loads})
                listed, margins = self.expected(model, s, **loads)
                self.assertEqual([tuple(limit.values()) for limit in got["limits"]], listed)
                self.assertEqual(len(listed), 4 * len(self.about[model]["joints"]) - 1 - 4 * ("js" in str(self.about[model]["joints"])))
                self.near(got["margins"], margins, 1e-12, model)
                least = self.ask(model, "margins", {**s, **loads, "outputs": ["least"]})["least"]
                self.assertEqual([one["margin"] for one in least], np.array(got["margins"]).min(axis=0).tolist())
            alone = self.ask(model, "margins", {name: rows[4] for name, rows in s.items()} | loads)
            self.assertEqual(alone["margins"], got["margins"][4])
            both = self.ask(model, "evaluate", {**s, **loads, "operations": {"margins": {"kinds": ["effort", "position"]}, "inverse-dynamics": {}}})
            chosen = [i for i, limit in enumerate(got["limits"]) if limit["kind"] in ("effort", "position")]
            self.assertEqual(np.array(both["margins"]["margins"]).tolist(), np.array(got["margins"])[:, chosen].tolist())
            answer = self.client.post(f"/v1/models/{model}/margins", {**s, **loads},
                                      Accept="application/cbor; arrays=multidimensional")
            matrix = cbor2.loads(answer.body)["margins"]
            self.assertEqual(np.frombuffer(matrix.value[1].value).tolist(), sum(got["margins"], []))

    def test_virtual_work(self):
        """By virtual work, the effort of a leader's coordinate is the effort at its own joint plus, for each follower, multiplier times the
        effort at the follower's axis."""
        for model in ("tree", "floating"):
            s = self.tree_states(model, 5, 2)
            free = self.ask(model + "-free", "inverse-dynamics", {k: v for k, v in self.free_states(model, s).items() if k != "qddd"})["tau"]
            of = dict(zip(self.about[model + "-free"]["velocity_names"], np.array(free).T))
            tau = np.array(self.ask(model, "inverse-dynamics", {k: v for k, v in s.items() if k != "qddd"})["tau"])
            for i, name in enumerate(self.about[model]["velocity_names"]):
                whole = of[name] + sum(multiplier * of[f] for f, (leader, multiplier, _) in self.follows[model].items() if leader == name)
                self.near(tau[:, i], whole, 1e-12, name)

    def test_gradients_of_trees(self):
        for model in TREES:
            quaternions = len(self.about[model]["position_names"]) != len(self.about[model]["velocity_names"])
            kinds = KINDS[:3] if quaternions else KINDS
            for seed in (1, 2):
                s = {name: rows[0] for name, rows in self.tree_states(model, 1, seed).items()}
                self.check_gradients(model, s, 1e-9, kinds=kinds, **self.LOADS)

    def test_orders_of_joints(self):
        s, names = self.tree_states("tree", 6, 3), self.about["tree"]["velocity_names"]
        order = [2, 0, 1]
        turned = {name: np.array(rows)[:, order].tolist() for name, rows in s.items()}
        outputs = ["limits", "margins", *GRADIENTS, "least_gradients"]
        plain = self.ask("tree", "margins", {**s, "outputs": outputs})
        other = self.ask("tree", "margins", {**turned, "joints": [names[i] for i in order], "outputs": outputs})
        self.assertEqual((other["limits"], other["margins"]), (plain["limits"], plain["margins"]))
        for name in GRADIENTS:
            self.assertEqual(np.array(other[name]).tolist(), np.array(plain[name])[..., order].tolist())
        for a, b in zip(plain["least_gradients"], other["least_gradients"], strict=True):
            self.assertEqual([a["d" + name][i] for name in STATE for i in order], [x for name in STATE for x in b["d" + name]])

    def test_same_bits(self):
        """Margins, gradients and simulations have the same bits with the target `scalar` (one lane) and with the default target (several lanes),
        on servers of the same arithmetic class."""
        other = Server("--target", "scalar")
        self.addCleanup(other.stop)
        client = other.client()
        self.addCleanup(client.close)
        for model in ("tree", "springy", "limited-delta"):
            document = TREES.get(model) or self.documents[model]
            self.assertEqual(client.put(f"/v1/models/{model}", {**document, "name": model}).status, 201)
            if model in TREES:
                s, kinds = self.tree_states(model, 9, 4), KINDS
            else:
                s, kinds = {name: rows for name, rows in self.states("delta", 9).items() if name in STATE}, KINDS[:3]
            request = {**s, "kinds": kinds, "outputs": ["margins", *GRADIENTS, "least", "least_gradients"]}
            run = {"q": s["q"], "qd": s["qd"], "duration": 0.02, "step": 0.01, "samples": 2, "outputs": ["least_margins"]}
            for operation, asked in (("margins", request), ("simulate", run)):
                mine, scalar = (one.post(f"/v1/models/{model}/{operation}", asked) for one in (self.client, client))
                self.assertEqual((mine.status, scalar.status), (200, 200), (model, mine, scalar))
                if mine.headers["Arithmetic"] == scalar.headers["Arithmetic"]:
                    self.assertEqual(mine.texts(), scalar.texts(), (model, operation))
                each = mine.json()
                for row in (0, 7, 8):
                    alone = {name: value[row] if name in s else value for name, value in asked.items() if name != "outputs"}
                    alone = self.ask(model, operation, {**alone, "outputs": [name for name in asked["outputs"] if "least" not in name or operation == "simulate"]})
                    self.assertEqual(alone, {name: each[name][row] for name in alone}, (model, operation, row))

    # --- loops ---

    def loop_expected(self, model, s):
        full = self.full("limited-" + model, {name: s[name] for name in STATE[:3]})
        rates = self.ask("limited-" + model, "torque-derivative", s)
        names = self.about["limited-" + model]["velocity_names"]
        listed, margins = [], []
        for j in self.about["limited-" + model]["joints"]:
            for kind in KINDS:
                if kind not in j["limits"]:
                    continue
                bound = j["limits"][kind]
                lower, upper = bound if kind == "position" else (-bound, bound)
                if kind in ("position", "velocity"):
                    x = np.array(full["q" if kind == "position" else "qd"])[:, full[kind + "_names"].index(j["name"])]
                elif j["name"] in names:
                    x = np.array(rates["tau" if kind == "effort" else "tau_dot"])[:, names.index(j["name"])]
                else:
                    x = np.zeros(len(s["q"]))  # a passive joint has no motor, so its effort is 0
                listed.append((j["name"], kind, lower, upper))
                margins.append(np.minimum(x - lower, upper - x))
        return listed, np.array(margins).T

    def test_margins_of_loops(self):
        for model in self.MODELS:
            s = {name: rows for name, rows in self.states(model, 7).items() if name in STATE}
            got = self.ask("limited-" + model, "margins", s)
            listed, margins = self.loop_expected(model, s)
            self.assertEqual([tuple(limit.values()) for limit in got["limits"]], listed)
            self.near(got["margins"], margins, 1e-10, model)
            alone = self.ask("limited-" + model, "margins", {name: rows[3] for name, rows in s.items()})
            self.assertEqual(alone["margins"], got["margins"][3])
            passive = [name for name, *_ in listed if name not in self.about["limited-" + model]["velocity_names"]]
            self.assertGreater(len(passive), 3)

    def test_gradients_of_loops(self):
        for model in self.MODELS:
            s = {name: row for name, row in self.state(model, 3).items() if name in STATE}
            self.check_gradients("limited-" + model, s, 1e-7, kinds=KINDS[:3])
            rows = {name: rows for name, rows in self.states(model, 12, 4).items() if name in STATE}
            outputs = ["margins", *GRADIENTS, "least_gradients"]
            got = self.ask("limited-" + model, "margins", {**rows, "kinds": KINDS[:3], "outputs": outputs})
            for i, least in enumerate(got["least_gradients"]):
                self.assertEqual(least["row"], np.array(got["margins"])[:, i].argmin())
                for name, gradient in zip(STATE, GRADIENTS):
                    self.assertEqual(least["d" + name], got[gradient][least["row"]][i])

    def test_refused_gradients_of_loops(self):
        s = self.state("delta")
        request = {"q": s["q"], "outputs": ["dmargins_dq"]}
        self.refused(self.client.post("/v1/models/limited-delta/margins", request), "not-for-loops", "/kinds")
        self.ask("limited-delta", "margins", {**request, "kinds": ["effort"]})

    def test_guess_and_platform(self):
        """A request with the platform's pose gets the margins of a request with the corresponding motor coordinates."""
        s = self.states("delta", 3)
        poses = self.ask("limited-delta", "kinematics", {"q": s["q"], "outputs": ["poses"], "frames": ["platform"]})["poses"]["platform"]
        at = {"frame": "platform", "position": poses["position"]}
        self.near(self.ask("limited-delta", "margins", {"platform": at})["margins"], self.ask("limited-delta", "margins", {"q": s["q"]})["margins"], 1e-8)

    def test_mimics_in_loops(self):
        """The effort of a follower is the moment of its joint wrench about its axis plus its friction, spring and rotor
        torque."""
        follows = self.geared_loop()
        s = {name: rows for name, rows in self.states("five_bar", 5).items() if name in STATE}
        got = self.ask("geared", "margins", s)
        full = self.full("geared", {name: s[name] for name in STATE[:3]})
        rates = self.ask("geared", "torque-derivative", {**s, "outputs": ["joint_wrenches", "joint_wrench_rates"]})
        rows, compared = self.about["geared"]["bodies"], 0
        for i, limit in enumerate(got["limits"]):
            if limit["joint"] not in follows:
                continue
            leader, multiplier, offset, (viscous, stiffness, rotor) = follows[limit["joint"]]
            at = full["velocity_names"].index(leader)
            position, velocity, acceleration = (multiplier * np.array(full[name])[:, at] for name in ("q", "qd", "qdd"))
            position = position + offset
            # the leader is passive and has no rotor
            jerk = multiplier * np.array(s["qddd"])[:, 0] if leader == "left" else 0
            wrench, change = (np.array(rates[name])[:, rows.index(limit["joint"]), 5] for name in ("joint_wrenches", "joint_wrench_rates"))
            x = {"position": position, "velocity": velocity, "effort": wrench + viscous * velocity + stiffness * position + rotor * acceleration,
                 "effort_rate": change + viscous * acceleration + stiffness * velocity + rotor * jerk}[limit["kind"]]
            self.near(np.array(got["margins"])[:, i], np.minimum(x - limit["lower"], limit["upper"] - x), 1e-10, limit)
            compared += 1
        self.assertEqual(compared, 12)
        self.assertEqual(self.about["geared"]["velocity_names"][0], "left")
        for row in range(2):
            one = {name: rows[row] for name, rows in s.items()}
            self.check_gradients("geared", one, 1e-7, kinds=KINDS[:3])
            self.check_gradients("geared", one, 1e-7, kinds=KINDS[:3], wrenches=[{"link": "finger", "force": [3, -2, 5], "point": [0.1, 0.02, 0.03]}])
        request = {"degree": 2, "duration": 1, "control_points": [s["q"][0]] * 4, "samples": 2, "kinds": ["effort"]}
        still = self.ask("geared", "margins", {"q": s["q"][0], "kinds": ["effort"]})
        self.near(self.ask("geared", "trajectory", {**request, "outputs": ["margins"]})["margins"], [still["margins"]] * 2, 1e-9)

    def test_no_limits(self):
        """A model without limits gets an empty list of margins, in every operation and encoding, for one state and for batches."""
        q, line = [0.1] * 6, {"degree": 1, "duration": 1, "control_points": [[0] * 6, [1] * 6], "samples": 2, "dense": True}
        for kinds in ({}, {"kinds": ["effort_rate", "position"]}):
            for rows, margins in ((q, []), ([q, q], [[], []])):
                outputs = {"limits": [], "margins": margins, "dmargins_dq": margins, "least": [], "least_gradients": []}
                self.assertEqual(self.ask("puma560", "margins", {"q": rows, **kinds, "outputs": [*outputs]}), outputs)
                both = self.ask("puma560", "evaluate", {"q": rows, "operations": {"margins": kinds, "energy": {}}})
                self.assertEqual(both["margins"], {"limits": [], "margins": margins})
            outputs = {"limits": [], "margins": [[], []], "dmargins_dcontrol_points": [[], []], "dmargins_dduration": [[], []],
                       "least_margins": [], "least_gradients": []}
            self.assertEqual(self.ask("puma560", "trajectory", {**line, **kinds, "outputs": [*outputs]}), outputs)
        answer = self.client.post("/v1/models/puma560/margins", {"q": [q, q], "outputs": ["limits", "margins", "least"]}, Accept="application/cbor")
        got = cbor2.loads(answer.body)
        self.assertEqual((got["limits"], got["least"]), ([], []))
        simulated = self.ask("puma560", "simulate", {"q": q, "duration": 0.1, "samples": 2, "step": 0.1, "outputs": ["limits", "least_margins"]})
        self.assertEqual(simulated, {"limits": [], "least_margins": []})

    def test_transmissions_in_loops(self):
        """The rates of motors follow from the rates of all joints. The effort of a motor that drives a passive joint is
        indeterminate, and its limit is not listed."""
        document = copy.deepcopy(self.documents["five_bar"])
        names = [link["joint"]["name"] for link in document["links"]]
        about = self.about["limited-five_bar"]
        passive, actuated = about["passive_names"][0], about["velocity_names"]
        for driven, listed in ((actuated, {"velocity", "effort", "effort_rate"}), ([actuated[0], passive], {"velocity"})):
            self.assertLessEqual(set(driven), set(names))
            matrix = np.array([[1.2, 0.3], [-0.4, 0.9]])
            own = {"velocity": 1.5, "effort": 4, "effort_rate": 30}
            geared = {**document, "transmissions": [{"joints": driven, "matrix": matrix.tolist(), "motors": [{"name": "m1", "limits": own}, {"name": "m2"}]}]}
            self.put("driven", geared)
            s = {name: rows for name, rows in self.states("five_bar", 4).items() if name in STATE}
            got = self.ask("driven", "margins", s)
            mine = [i for i, limit in enumerate(got["limits"]) if limit["joint"] == "m1"]
            self.assertEqual({got["limits"][i]["kind"] for i in mine}, listed)
            full = self.full("driven", {name: s[name] for name in STATE[:3]})
            rates = np.array(full["qd"])[:, [full["velocity_names"].index(name) for name in driven]]
            velocity = next(i for i in mine if got["limits"][i]["kind"] == "velocity")
            self.near(np.array(got["margins"])[:, velocity], 1.5 - np.abs(rates @ np.linalg.inv(matrix)[0]), 1e-10)
            one = {name: rows[0] for name, rows in s.items()}
            self.check_gradients("driven", one, 1e-7, kinds=KINDS[:3])

if __name__ == "__main__":
    tap.main()
