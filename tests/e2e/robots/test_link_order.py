"""Tests that the order of links, frames, motors and loops in a document changes only the order of an answer. One kind of shuffle keeps the order
of the children of each link: every answer must have the same text. The other kind changes this order too: answers must agree when they are
sorted by the published names."""
import copy
import json
import random

import tap
from closed import Closed
from harness import ServerCase
from samples import body


def link(name, parent, joint, inertial=None):
    entry = {"name": name, "parent": parent, "joint": {"name": name + "_joint", **joint}}
    return {**entry, "inertial": inertial} if inertial else entry


def small_body(mass, com=(0, 0, 0), xx=0.02, yy=0.03, zz=0.04):
    """Returns a body whose inertia fits its mass and a realistic density, so that the report has no warning."""
    return body(mass, com, xx * mass / 8, yy * mass / 8, zz * mass / 8, 1e-4 * mass, -2e-4 * mass, 3e-4 * mass)


def walker(base="floating"):
    """A tree with every type of joint, merged links, a mimic, an elastic joint, motors on other links, and frames."""
    at = {"origin": {"xyz": [0.1, -0.2, 0.3], "rpy": [0.3, -0.2, 0.1]}}
    revolute = {"type": "revolute", "axis": [0, 1, 0], **at}
    return {
        "base": {"type": base, "link": "torso", "inertial": small_body(8, (0.01, -0.02, 0.1), 0.2, 0.25, 0.15)},
        "links": [
            link("upper", "torso", {**revolute, "axis": [0, 0, 1], "friction": {"viscous": 0.3, "coulomb": 0.4},
                                    "limits": {"position": [-3, 3], "effort": 80}}, small_body(2, (0.02, 0.01, 0.15))),
            link("fore", "upper", {"type": "helical", "axis": [1, 2, -1], "pitch": 0.05, **at}, small_body(1.5)),
            link("palm", "fore", {"type": "fixed", **at}, small_body(0.4, (0, 0.02, 0.05))),
            link("finger", "palm", {"type": "prismatic", "axis": [0, 1, 0], "spring": {"stiffness": 30}, **at}, small_body(0.2)),
            link("thumb", "palm", {"type": "prismatic", "axis": [0, 0, 1], **at,
                                   "mimic": {"joint": "finger_joint", "multiplier": -0.7, "offset": 0.1}}, small_body(0.3)),
            link("thigh", "torso", {"type": "spherical", **at}, small_body(3, (0, 0.01, -0.2))),
            link("shank", "thigh", {**revolute, "elastic": {"stiffness": 200, "damping": 1}}, small_body(1.2)),
            link("foot", "shank", {"type": "fixed", **at}, small_body(0.7)),
            link("toe", "foot", {**revolute, "rotor_inertia": 0.02}, small_body(0.3)),
            link("tail", "torso", {"type": "planar", "axis": [0, 1, 1], **at}, small_body(0.9)),
            link("horn", "torso", {"type": "fixed", **at}, small_body(0.6))],
        "motors": [
            {"joint": "shank_joint", "link": "torso", "axis": [0, 1, 0], "gear_ratio": 50, "spin_inertia": 2e-5},
            {"joint": "finger_joint", "link": "upper", "axis": [1, 0, 1], "gear_ratio": 90, "spin_inertia": 1e-4,
             "inertial": {"mass": 0.4, "com": [0.1, 0, 0]}},
            {"joint": "upper_joint", "link": "palm", "axis": [0, 0, 1], "gear_ratio": -20, "spin_inertia": 3e-4}],
        "frames": [{"name": name + "_frame", "link": name, "xyz": [0.05, 0.1, -0.1], "rpy": [0.3, 0.2, -0.4]}
                   for name in ("palm", "toe", "torso", "tail", "upper", "horn")]}


def shuffled(document, seed, keep_siblings):
    """Shuffles the lists of a document; with `keep_siblings` the children of each link stay in order."""
    rng, document = random.Random(seed), copy.deepcopy(document)
    links = document["links"]
    order = list(range(len(links)))
    rng.shuffle(order)
    if keep_siblings:
        places = {}
        for place, index in enumerate(order):
            places.setdefault(links[index]["parent"], []).append(place)
        for parent, free in places.items():
            for place, index in zip(free, [i for i, entry in enumerate(links) if entry["parent"] == parent]):
                order[place] = index
    document["links"] = [links[i] for i in order]
    for key in {"frames", "motors", "loops"} & set(document):
        if not (keep_siblings and key == "loops"):
            rng.shuffle(document[key])
    return document


# The axes of each output. "v", "body", "mover", "each_mover" and "parameter" follow the names that GET of the model publishes.
OPERATIONS = {
    "inverse-dynamics": {"tau": "v", "joint_wrenches": ["body", 6]},
    "forward-dynamics": {"qdd": "v", "joint_wrenches": ["body", 6]},
    "mass-matrix": {"mass_matrix": "vv", "inverse": "vv"},
    "bias": {"bias": "v", "coriolis": "v", "gravity": "v", "friction": "v"},
    "energy": {"kinetic": "", "potential": "", "mass": "", "com": [3], "momentum": [6], "momentum_matrix": [6, "v"],
               "com_jacobian": [3, "v"]},
    "torque-derivative": {"tau_dot": "v", "joint_wrench_rates": ["body", 6], "dtau_dot_dparameters": ["v", "parameter"]},
    "coriolis": {"coriolis_matrix": "vv", "christoffel": "vvv"},
    "sensitivity": {"dtau_dq": "vv", "dtau_dqd": "vv", "dtau_dqdd": "vv", "d_joint_wrenches_dq": ["body", 6, "v"],
                    "dtau_dwrench": [2, "v", 6], "dtau_dgravity": ["v", 3], "dtau_dparameters": ["v", "parameter"]},
    "forward-sensitivity": {"dqdd_dq": "vv", "dqdd_dtau": "vv", "dqdd_dwrench": [2, "v", 6],
                            "dqdd_dparameters": ["v", "parameter"]},
    "gradient": {"gradient_q": "v", "gradient_qd": "v", "gradient_qdd": "v", "tau": "v", "gradient_parameters": ["parameter"],
                 "gradient_wrenches": [2, 6], "gradient_gravity": [3], "gradient_friction": ["each_mover", 8]},
    "forward-gradient": {"gradient_q": "v", "gradient_qd": "v", "gradient_tau": "v", "gradient_parameters": ["parameter"]},
    "hessian": {"hessian_q_q": "vv", "hessian_q_qd": "vv", "hessian_q_qdd": "vv", "hessian_qd_qd": "vv", "d2tau_dq_dqd": "vvv"},
    "forward-hessian": {"hessian_q_q": "vv", "hessian_q_qd": "vv", "hessian_qd_qd": "vv", "d2qdd_dq_dtau": "vvv"},
    "regressor": {"regressor": ["v", "parameter"], "joint_regressor": ["v", "mover"]}}
KINEMATICS = {"poses": "poses", "jacobian": [6, "v"], "jacobian_dot": [6, "v"], "acceleration": [6], "jerk": [6]}


def sorted_axis(names):
    return sorted(range(len(names)), key=names.__getitem__)


def reordered(value, axes, orders):
    """Reorders every named axis of nested lists by its sorted names."""
    if not axes:
        return value
    rows = [reordered(row, axes[1:], orders) for row in value]
    return [rows[i] for i in orders[axes[0]]] if axes[0] in orders else rows


def by_name(model, operation, answer):
    """Reorders an answer so that its order does not depend on the document."""
    joints = [joint["name"] for joint in model["joints"]]
    movers = joints + [name for name in model["velocity_names"] if name.endswith(".motor")]
    orders = {"v": sorted_axis(model["velocity_names"]), "body": sorted_axis(model["bodies"])}
    orders["parameter"] = [10 * i + c for i in orders["body"] for c in range(10)]
    orders["each_mover"] = sorted_axis(movers)
    orders["mover"] = [3 * i + c for i in sorted_axis(movers) for c in range(3)]
    if operation == "kinematics":
        poses = [pose[key] for _, pose in sorted(answer["poses"].items()) for key in sorted(pose)]
        return {**{name: reordered(answer[name], axes, orders) for name, axes in KINEMATICS.items() if name != "poses"},
                "poses": [x for row in poses for x in row]}
    return {name: reordered(answer[name], list(axes), orders) for name, axes in OPERATIONS[operation].items()}


FIELDS = {"inverse-dynamics": ["q", "qd", "qdd"], "forward-dynamics": ["q", "qd", "tau"], "mass-matrix": ["q"],
          "bias": ["q", "qd"], "kinematics": ["q", "qd", "qdd", "qddd"], "energy": ["q", "qd"],
          "torque-derivative": ["q", "qd", "qdd", "qddd"], "coriolis": ["q", "qd"], "sensitivity": ["q", "qd", "qdd"],
          "forward-sensitivity": ["q", "qd", "tau"], "regressor": ["q", "qd", "qdd"],
          "gradient": ["q", "qd", "qdd", "multipliers"], "forward-gradient": ["q", "qd", "tau", "multipliers"],
          "hessian": ["q", "qd", "qdd", "multipliers"], "forward-hessian": ["q", "qd", "tau", "multipliers"]}
PULLED = {"inverse-dynamics", "forward-dynamics", "bias", "torque-derivative", "sensitivity", "forward-sensitivity", "hessian",
          "forward-hessian", "gradient", "forward-gradient"}


def request_of(operation, state, surroundings):
    request = {field: state[field] for field in FIELDS[operation]}
    if operation == "kinematics":
        return {**request, "frame": surroundings["frame"], "outputs": list(KINEMATICS)}
    if operation != "regressor":
        request["payload"] = surroundings["payload"]
    if operation in PULLED:
        request["wrenches"] = surroundings["wrenches"]
    return {**request, "outputs": list(OPERATIONS[operation])}


class Ordered(ServerCase):
    def put(self, name, document):
        self.put_model(name, {**document, "name": name})
        return self.ok(self.client.get(f"/v1/models/{name}"))

    def assertAlike(self, left, right, what):
        self.assertEqual(set(left), set(right), what)
        for name in left:
            self.assertClose(right[name], left[name], 1e-9, what=f"{what}: {name}")

    def check_description(self, listed, other, what):
        """Checks that GET of both models gives the same entries under the same names."""
        for name in ("nq", "nv", "base", "gravity"):
            self.assertEqual(listed[name], other[name], what)
        self.assertClose(other["mass"], listed["mass"], 1e-14, what=what)
        for names in ("position_names", "velocity_names", "links", "bodies", "passive_names"):
            self.assertEqual(sorted(listed.get(names, [])), sorted(other.get(names, [])), f"{what}: {names}")
        for entries in ("frames", "joints", "motors", "loops"):
            order = [sorted(map(json.dumps, model.get(entries, []))) for model in (listed, other)]
            self.assertEqual(*order, f"{what}: {entries}")
        places = [dict(zip(model["position_names"] + model["passive_names"], model["reference"]["q"] + model["reference"]["passive"]))
                  if "reference" in model else {} for model in (listed, other)]
        self.assertEqual(set(places[0]), set(places[1]), what)
        self.assertClose([places[1][name] for name in places[0]], list(places[0].values()), 1e-9, what=f"{what}: reference")
        texts = [sorted(entry["text"] for entry in model["report"] if entry["code"] != "renamed")
                 for model in (listed, other)]
        self.assertEqual(*texts, what)


class LinkOrder(Ordered):
    SURROUNDINGS = {
        "frame": "toe_frame", "payload": [{"link": "palm", "mass": 0.6, "com": [0.1, 0.2, 0.3]},
                                          {"link": "shank", "mass": 0.2, "com": [0, 0, 0.1]}],
        "wrenches": [{"link": "thumb", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.1], "point": [0, 0.1, 0.4]},
                     {"link": "horn", "force": [1, 5, 2], "frame": "link"}]}

    def state(self, model, seed=7):
        """Draws coordinates keyed by name, so that their values do not depend on the order."""
        state, rng = {}, random.Random(seed)
        for field, names in (("q", "position_names"), ("qd", "velocity_names"), ("qdd", "velocity_names"),
                             ("qddd", "velocity_names"), ("tau", "velocity_names"), ("multipliers", "velocity_names")):
            state[field] = {name: rng.uniform(-0.5, 0.5) for name in sorted(model[names])}
        for name in model["position_names"]:  # quaternions: rotations of about half a radian
            if name.endswith(".qx"):
                stem = name[:-2]
                state["q"].update({stem + "qx": 0.36, stem + "qy": -0.48, stem + "qz": 0.0, stem + "qw": 0.8})
        return state

    def test_get_names_the_link_of_each_frame(self):
        document = shuffled(walker(), 1, False)
        model = self.put("named", document)
        links = {entry["name"]: entry["name"] for entry in document["links"]} | {"torso": "torso"}
        frames = {entry["name"]: entry["link"] for entry in document["frames"]}
        self.assertEqual({frame["name"]: frame["link"] for frame in model["frames"]}, links | frames)
        self.assertEqual({m["joint"]: m["link"] for m in model["motors"]},
                         {m["joint"]: m["link"] for m in document["motors"]})
        parents = {entry["name"]: entry["parent"] for entry in document["links"]}
        for joint in model["joints"]:
            self.assertEqual((joint["name"], joint["parent"]), (joint["link"] + "_joint", parents[joint["link"]]))

    def test_siblings_in_order(self):
        for base in ("floating", "fixed"):
            listed = self.put("listed", walker(base))
            for seed in range(6):
                other = self.put("other", shuffled(walker(base), seed, True))
                for names in ("position_names", "velocity_names", "bodies", "joints"):
                    self.assertEqual(listed[names], other[names])
                self.check_description(listed, other, f"{base} {seed}")
                for operation in [*OPERATIONS, "kinematics"]:
                    request = request_of(operation, self.state(listed), self.SURROUNDINGS)
                    texts = [self.ask_texts(name, operation, request) for name in ("listed", "other")]
                    if operation == "kinematics":
                        texts = [{**text, "poses": sorted(text["poses"].items())} for text in texts]
                    self.assertEqual(*texts, f"{base} {seed} {operation}")

    def test_any_order(self):
        for base in ("floating", "fixed"):
            listed = self.put("listed", walker(base))
            for seed in range(6):
                other = self.put("other", shuffled(walker(base), 100 + seed, False))
                self.check_description(listed, other, f"{base} {seed}")
                for operation in [*OPERATIONS, "kinematics"]:
                    request = request_of(operation, self.state(listed), self.SURROUNDINGS)
                    answers = [by_name(model, operation, self.ask(name, operation, request))
                               for name, model in (("listed", listed), ("other", other))]
                    self.assertAlike(*answers, f"{base} {seed} {operation}")


class LoopOrder(Closed, Ordered):
    """Repeats the test with the bundled mechanisms with closed loops."""
    ASKED = ("inverse-dynamics", "forward-dynamics", "mass-matrix", "bias", "energy")

    def full_positions(self, model, request):
        full = self.full(model, {name: request[name] for name in ("q", "qd", "qdd")})
        return [q for _, q in sorted(zip(full["position_names"], full["q"]))]

    def test_order_of_loops(self):
        for name in self.MODELS:
            document = self.documents[name]
            links = [entry["name"] for entry in document["links"]]
            surroundings = {"payload": {"link": links[-1], "mass": 0.3, "com": [0.1, 0, 0]},
                            "wrenches": [{"link": links[-1], "force": [3, -2, 1]}, {"link": links[0], "torque": [0, 0, 1]}]}
            listed = self.put("listed", document)
            names = {"q": listed["position_names"]}
            state = {field: dict(zip(names.get(field, listed["velocity_names"]), values))
                     for field, values in self.state(name).items()}
            for seed in range(4):
                other, what = self.put("other", shuffled(document, seed, seed % 2 == 0)), f"{name} {seed}"
                self.check_description(listed, other, what)
                self.assertClose(self.full_positions("other", state), self.full_positions("listed", state), 1e-9, what=what)
                for operation in self.ASKED:
                    request = request_of(operation, state, surroundings)
                    self.assertAlike(*(by_name(model, operation, self.ask(each, operation, request))
                                       for each, model in (("listed", listed), ("other", other))), f"{what} {operation}")

    def test_home_of_an_elastic_joint(self):
        """In the reference configuration the motor coordinate of an elastic joint has the same value as the joint (`home`), wherever the link is
        listed."""
        document = copy.deepcopy(self.documents["four_bar"])
        crank = next(entry for entry in document["links"] if entry["name"] == "crank")
        crank["joint"].update(elastic={"stiffness": 100}, rotor_inertia=0.1, home=0.3)
        others = [entry for entry in document["links"] if entry is not crank]
        for links in ([crank, *others], [*others, crank]):
            model = self.put("elastic", {**document, "links": links})
            self.assertEqual(dict(zip(model["position_names"], model["reference"]["q"])),
                             {"crank_joint": 0.3, "crank_joint.motor": 0.3})


if __name__ == "__main__":
    tap.main()
