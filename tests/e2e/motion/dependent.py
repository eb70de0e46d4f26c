"""Robots with mimic joints and loops whose dependent joints have limits of all kinds, random states of them, and the
comparison of gradients of margins with extrapolated differences."""
import copy

import numpy as np
from closed import Closed
from samples import body
from test_free_turns import ORIGIN
from test_quaternion_trajectory import STEPS, WEIGHTS

KINDS = ("position", "velocity", "effort", "effort_rate")
STATE = ("q", "qd", "qdd", "qddd")
GRADIENTS = ["dmargins_dq", "dmargins_dqd", "dmargins_dqdd", "dmargins_dqddd"]


def limits(choose):
    """Draws position, velocity, effort and effort-rate limits, different for each joint and with unequal sides."""
    return {"position": [-choose.uniform(0.3, 2), choose.uniform(0.3, 2)], "velocity": choose.uniform(0.5, 3),
            "effort": choose.uniform(1, 20), "effort_rate": choose.uniform(20, 200)}


def joint(name, kind, axis, **more):
    return {"name": name, "type": kind, "axis": axis, "origin": {"xyz": [0.2, -0.1, 0.3], "rpy": [0.3, -0.5, 0.9]}, **more}


def mimics(base="fixed", spherical=False, elastic=False):
    """A tree with mimic joints before and after their leaders in the chain. Some follow other mimics, one is prismatic, some have negative
    multipliers; they have friction, springs, rotors and motors of their own."""
    links = [
        {"name": "a", "parent": "hull", "inertial": body(2.1, (0.1, 0.02, -0.03)),
         "joint": joint("ja", "revolute", [0, 1, 0], mimic={"joint": "jc", "multiplier": -1.7, "offset": 0.21},
                        friction={"viscous": 0.4, "coulomb": 0.3, "coulomb_velocity": 0.2}, spring={"stiffness": 3, "rest": 0.1, "damping": 0.2})},
        {"name": "b", "parent": "a", "inertial": body(1.3, (0.05, 0.12, 0.01)),
         "joint": joint("jb", "revolute", [1, 2, -1], friction={"viscous": 0.2}, rotor_inertia=0.05)},
        {"name": "c", "parent": "b", "inertial": body(0.9, (0.02, -0.03, 0.14)),
         "joint": joint("jc", "revolute", [0, 0, 1], **({"elastic": {"stiffness": 50, "damping": 0.3}} if elastic else {}), rotor_inertia=0.02)},
        {"name": "d", "parent": "c", "inertial": body(0.7, (0.04, 0.01, 0.05)),
         "joint": joint("jd", "prismatic", [0, 1, 1], mimic={"joint": "jb", "multiplier": 0.3, "offset": -0.07}, rotor_inertia=0.6)},
        {"name": "e", "parent": "b", "inertial": body(0.5, (-0.03, 0.06, 0.02)),
         "joint": joint("je", "revolute", [1, 0, 0], mimic={"joint": "ja", "multiplier": -0.6, "offset": 0.13})},
        {"name": "f", "parent": "e", "inertial": body(0.4, (0.01, 0.02, 0.09)),
         "joint": joint("jf", "helical", [0, 0, 1], pitch=0.11, mimic={"joint": "je", "multiplier": 1.4, "offset": -0.4})},
        {"name": "g", "parent": "f", "inertial": body(0.3, (0.05, 0, 0.03)), "joint": joint("jg", "continuous", [0, 1, 0], actuated=False)}]
    if spherical:
        links.insert(3, {"name": "ball", "parent": "c", "joint": {"name": "js", "type": "spherical", "origin": ORIGIN},
                         "inertial": body(0.6, (0.03, 0.04, -0.05))})
        links[4]["parent"] = "ball"
    root = {"type": base, "link": "hull", **({"inertial": body(6, (0.02, 0, 0.1), 0.3, 0.4, 0.35)} if base == "floating" else {})}
    document = {"base": root, "links": links, "motors": [
        {"joint": "je", "link": "a", "axis": [0, 0.6, 0.8], "gear_ratio": 7, "spin_inertia": 2e-4},
        {"joint": "jg", "link": "e", "axis": [1, 0, 0], "gear_ratio": -5, "spin_inertia": 3e-4}]}
    choose = np.random.default_rng(11)
    for link in links:
        if link["joint"]["type"] != "spherical":
            link["joint"]["limits"] = limits(choose)
    del links[-1]["joint"]["limits"]["position"]  # the position limits of continuous joints would be refused
    return document


TREES = {"tree": mimics(), "floating": mimics("floating"), "ball": mimics(spherical=True), "springy": mimics(elastic=True)}


def uncoupled(document):
    """Returns the robot without mimics, and for each follower (leader, multiplier, offset) with an independent joint as
    leader."""
    free, follows = copy.deepcopy(document), {}
    rules = {link["joint"]["name"]: link["joint"].pop("mimic") for link in free["links"] if "mimic" in link["joint"]}
    for name, rule in rules.items():
        multiplier, offset, leader = rule["multiplier"], rule["offset"], rule["joint"]
        while leader in rules:
            offset, multiplier, leader = offset + multiplier * rules[leader]["offset"], multiplier * rules[leader]["multiplier"], rules[leader]["joint"]
        follows[name] = leader, multiplier, offset
    return free, follows


class Dependent(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.about, cls.follows = {}, {}
        for name, document in TREES.items():
            free, cls.follows[name] = uncoupled(document)
            cls.put(name, document)
            cls.put(name + "-free", free)
        for name in cls.MODELS:
            document, choose = copy.deepcopy(cls.documents[name]), np.random.default_rng(5)
            for link in document["links"]:
                if link["joint"]["type"] in ("revolute", "prismatic", "continuous"):
                    link["joint"]["limits"] = limits(choose)
                if link["joint"]["type"] == "continuous":
                    del link["joint"]["limits"]["position"]
            cls.documents["limited-" + name] = document
            cls.put("limited-" + name, document)

    @classmethod
    def put(cls, name, document):
        answer = cls.client.put(f"/v1/models/{name}", {**document, "name": name})
        assert answer.status in (200, 201), answer
        cls.about[name] = cls.client.get(f"/v1/models/{name}").json()

    def tree_states(self, model, rows, seed=1):
        choose, about = np.random.default_rng(seed), self.about[model]
        s = {name: choose.uniform(-1, 1, (rows, len(about["velocity_names"]))).tolist() for name in STATE}
        q = choose.uniform(-0.8, 0.8, (rows, len(about["position_names"])))
        for first in (i for i, name in enumerate(about["position_names"]) if name.endswith("qx")):
            q[:, first:first + 4] /= np.linalg.norm(q[:, first:first + 4], axis=1)[:, None]
        return {**s, "q": q.tolist()}

    LOADS = {"payload": {"link": "f", "mass": 0.8, "com": [0.03, -0.05, 0.1]}, "gravity": [0.3, -0.2, -9.7],
             "wrenches": [{"link": "d", "force": [3, -2, 5], "torque": [0.3, 0.2, -0.4], "point": [0.1, 0.02, 0.03]},
                          {"link": "f", "force": [-1, 4, 2], "frame": "link"}]}

    def moved(self, model, q, k, h):
        """Moves q by h along velocity coordinate k, the direction in which derivatives by q are taken."""
        about = self.about[model]
        name = about["velocity_names"][k]
        q = np.array(q, float)
        turns = [i for i, n in enumerate(about["position_names"]) if n.endswith("qx")]
        if name in about["position_names"]:
            q[about["position_names"].index(name)] += h
            return q.tolist()
        first = turns[-1] if name.startswith("js") else turns[0]
        x, y, z, w = q[first:first + 4]
        R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                      [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
        axis = np.eye(3)["xyz".index(name[-1])]
        if "w" not in name.rsplit(".", 1)[-1]:
            q[first - 3:first] += R @ axis * h
            return q.tolist()
        turn = [*(axis * np.sin(h / 2)), np.cos(h / 2)]
        a, b, c, d = turn
        q[first:first + 4] = [w * a + x * d + y * c - z * b, w * b - x * c + y * d + z * a, w * c + x * b - y * a + z * d, w * d - x * a - y * b - z * c]
        return q.tolist()

    def differences(self, model, s, name, **more):
        """Returns differences of the margins by all entries of q, qd, qdd or qddd, as a matrix limits x nv."""
        columns = []
        for k in range(len(self.about[model]["velocity_names"])):
            rows = {key: [s[key]] * len(STEPS) for key in STATE}
            if name == "q":
                rows["q"] = [self.moved(model, s["q"], k, h / 8) for h in STEPS]
            else:
                rows[name] = [(np.array(s[name]) + h * np.eye(len(s[name]))[k]).tolist() for h in STEPS]
            values = np.array(self.ask(model, "margins", {**rows, "outputs": ["margins"], **more})["margins"])
            columns.append(np.einsum("s,sl->l", WEIGHTS * (8 if name == "q" else 1), values))
        return np.array(columns).T

    def check_gradients(self, model, s, tolerance, **more):
        """Compares gradients of margins with differences. Skips limits near the middle of their range, where the nearer
        side changes."""
        exact = self.ask(model, "margins", {**s, **more, "outputs": ["limits", "margins", *GRADIENTS]})
        middle = np.array([(limit["upper"] - limit["lower"]) / 2 for limit in exact["limits"]])
        for name, gradient in zip(STATE, GRADIENTS):
            expected, got = self.differences(model, s, name, **more), np.array(exact[gradient])
            smooth = np.array(exact["margins"]) + 0.013 * np.abs(got).max(axis=1) < middle
            self.near(got[smooth], expected[smooth], tolerance, (model, gradient), 1)
            # passive joints have no effort, so that their margin is that of the effort 0 and their gradients are zero
            passive = (np.array(exact["margins"]) == middle) & (got == 0).all(axis=1)
            self.assertGreater((smooth | passive).mean(), 0.75, (model, gradient))

    def geared_loop(self):
        """A five-bar linkage with two pointers that follow a passive and an actuated joint. A joint in the right leg
        follows the left crank, so the wrenches of the loop load it. Returns for each follower (leader, multiplier,
        offset, terms of friction, spring and rotor)."""
        document, choose = copy.deepcopy(self.documents["five_bar"]), np.random.default_rng(3)
        for link in document["links"]:
            link["joint"] = {k: v for k, v in link["joint"].items() if k not in ("friction", "rotor_inertia", "spring", "limits")}
        of = {link["joint"]["name"]: link for link in document["links"]}
        follows = {"hand": ("right_elbow", -1.3, 0.2, (0.3, 2, 0)), "finger": ("left", 0.7, -0.1, (0.2, 1, 0.4)), "bend": ("left", 0.25, 0.02, (0.4, 3, 0.2))}
        for name, on in (("hand", of["right_elbow"]["name"]), ("finger", "hand"), ("bend", of["right"]["name"])):
            leader, multiplier, offset, (viscous, stiffness, rotor) = follows[name]
            origin = {"xyz": [0.1, 0.05, 0], "rpy": [0.2, 0, 0.3]} if name != "bend" else {"xyz": [0.05, 0, 0]}
            entry = {"name": name, "parent": on, "inertial": body(0.4, (0.05, 0.03, 0.02)), "joint": {
                "name": name, "type": "revolute", "axis": [0, 0, 1], "origin": origin, "friction": {"viscous": viscous},
                "spring": {"stiffness": stiffness}, "rotor_inertia": rotor, "limits": limits(choose),
                "mimic": {"joint": leader, "multiplier": multiplier, "offset": offset}}}
            document["links"].insert(document["links"].index(of["right_elbow"]) if name == "bend" else len(document["links"]), entry)
        elbow = of["right_elbow"]
        elbow["parent"] = "bend"
        elbow["joint"]["origin"]["xyz"][0] -= 0.05
        self.put("geared", document)
        return follows
