"""Tests `locked`: answers with locked joints are those of a robot whose document has fixed joints there, for every operation and joint type,
given in requests, in documents or as `PUT ?locked=`."""
import copy
import json
import math
import os
import subprocess
import tempfile
import zlib
from urllib.parse import quote

import cbor2
import numpy as np
import tap
from combination_requests import OPERATIONS, request_of
from combination_trials import CBOR, plain, same
from combinations import Case, document
from harness import BINARY, ServerCase
from samples import body
from tree_kinematics import about, from_quaternions, from_rpy, least_turn

TURRET = 0.83  # rad, the position of the joint that is locked
# Features of robots and requests that the operations are tried with.
CASES = [(), ("floating", "viscous", "payload", "batch"), ("mimic", "coulomb", "wrenches"), ("loop", "viscous", "permuted"),
         ("elastic", "smooth", "batch"), ("transmission", "stribeck", "failing"), ("load", "held"), ("floating", "free", "mimic", "loop")]


ROBOTS = 40
ASKED = [  # operations with the state that they need, outputs, and fields that some requests have
    ("mass-matrix", ["q"], ["mass_matrix"], ["payload"]), ("kinematics", ["q", "qd", "qdd"], ["poses", "jacobian", "velocity", "acceleration"], []),
    ("bias", ["q", "qd"], ["bias", "gravity", "coriolis", "friction"], ["payload"]), ("energy", ["q", "qd"], ["kinetic", "potential", "com", "momentum"], ["payload"]),
    ("inverse-dynamics", ["q", "qd", "qdd"], ["tau", "joint_wrenches"], ["payload", "wrenches"]),
    ("forward-dynamics", ["q", "qd", "tau"], ["qdd"], ["payload", "wrenches"]),
    ("sensitivity", ["q", "qd", "qdd"], ["dtau_dq", "dtau_dqd"], ["payload", "wrenches"]),
    ("torque-derivative", ["q", "qd", "qdd", "qddd"], ["tau_dot"], ["payload"])]


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def origin_of(joint):
    """Returns the pose of the joint frame in the parent link of an origin by xyz and rpy, or a matrix."""
    origin = joint.get("origin", {})
    if "matrix" in origin:
        return np.array(origin["matrix"])
    return pose(from_rpy(origin.get("rpy", [0, 0, 0])), origin.get("xyz", [0, 0, 0]))


def dh_pose(theta, d, a, alpha):
    turn = lambda axis, angle: pose(about(np.array(axis), np.array(angle)), [0, 0, 0])
    return turn([0.0, 0, 1], theta) @ pose(np.eye(3), [a, 0, d]) @ turn([1.0, 0, 0], alpha)


def moved(joint, value):
    """Returns the pose of the link frame in the parent link at a position of the joint."""
    kind, dh = joint["type"], joint.get("origin", {}).get("dh")
    if dh:
        turns = kind == "revolute"
        return dh_pose(dh.get("theta", 0) + (value if turns else 0), dh.get("d", 0) + (0 if turns else value), dh.get("a", 0), dh.get("alpha", 0))
    T = origin_of(joint)
    axis = np.array(joint.get("axis", [0, 0, 1]), float)
    axis /= np.linalg.norm(axis)
    if kind in ("revolute", "continuous"):
        return T @ pose(about(axis, np.array(value)), [0, 0, 0])
    if kind == "prismatic":
        return T @ pose(np.eye(3), value * axis)
    if kind == "helical":
        return T @ pose(about(axis, np.array(value)), joint["pitch"] * value * axis)
    if kind == "planar":
        x, y = least_turn(axis).T[:2]
        return T @ pose(about(axis, np.array(value[2])), value[0] * x + value[1] * y)
    R = from_quaternions(np.array(value[-4:]))
    return T @ pose(R, value[:3] if kind == "floating" else [0, 0, 0])


def fixed_document(full, locked):
    """Returns the document in which joints are fixed at these positions, and their mimic joints at the positions that follow. A motor on a fixed
    joint becomes a link of its own, fixed to the one that carries it."""
    made = copy.deepcopy(full)
    joints = {link["joint"]["name"]: link["joint"] for link in made["links"]}
    positions = dict(locked)
    for name, joint in joints.items():
        if joint.get("mimic", {}).get("joint") in locked:
            mimic = joint["mimic"]
            positions[name] = mimic["multiplier"] * locked[mimic["joint"]] + mimic["offset"]
    for name, value in positions.items():
        joint, T = joints[name], moved(joints[name], value)
        joint.clear()
        joint.update(name=name, type="fixed", origin={"matrix": T.tolist()})
    kept = []
    for i, motor in enumerate(made.get("motors", [])):
        if motor["joint"] not in positions:
            kept.append(motor)
        elif "inertial" in motor:
            made["links"].append({"name": f"motor{i}", "parent": motor["link"], "joint": {"name": f"motor{i}.bolts", "type": "fixed"},
                                  "inertial": motor["inertial"]})
    made["motors"] = kept
    return made


def random_robot(seed):
    """Returns a random tree with joints of all types, mimics, motors on any link, rotors, springs and friction."""
    draw = np.random.default_rng(seed)
    far = lambda n, size: draw.uniform(-size, size, n).tolist()
    links, n = [], int(draw.integers(5, 9))
    for i in range(n):
        kind = str(draw.choice(["revolute", "revolute", "continuous", "prismatic", "helical", "planar", "spherical", "floating"]))
        joint = {"name": f"j{i}", "type": kind, "origin": {"xyz": far(3, 0.4), "rpy": far(3, 2)}}
        if kind not in ("spherical", "floating"):
            joint["axis"] = far(3, 1)
        if kind == "helical":
            joint["pitch"] = float(draw.uniform(-0.2, 0.2))
        if kind in ("revolute", "prismatic") and draw.random() < 0.3:
            del joint["axis"]
            joint["origin"] = {"dh": dict(zip(("theta", "d", "a", "alpha"), far(4, 0.9)))}
        if kind in ("revolute", "continuous", "prismatic"):
            if draw.random() < 0.5:
                joint["friction"] = {"viscous": float(draw.uniform(0, 1)), "coulomb": float(draw.uniform(0, 1))}
            if draw.random() < 0.4:
                joint["spring"] = {"stiffness": float(draw.uniform(1, 9)), "damping": 0.3, "rest": 0.2}
            if draw.random() < 0.3:
                joint["rotor_inertia"] = float(draw.uniform(0.01, 0.3))
            if draw.random() < 0.2:
                joint["elastic"] = {"stiffness": 70.0, "damping": 0.4, "rest": 0.1}
                joint.setdefault("rotor_inertia", 0.08)
        parent = f"l{draw.integers(0, i)}" if i and draw.random() < 0.85 else "root"
        links.append({"name": f"l{i}", "parent": parent, "joint": joint, "inertial": body(float(draw.uniform(0.5, 3)), far(3, 0.2))})
    single = [link["joint"] for link in links if link["joint"]["type"] in ("revolute", "continuous", "prismatic")]
    for follower, leader in zip(single[1::2], single[::2]):
        if draw.random() < 0.6 and "elastic" not in follower:
            follower["mimic"] = {"joint": leader["name"], "multiplier": float(draw.uniform(0.4, 1.3)), "offset": 0.3}
    motors = [{"joint": joint["name"], "link": f"l{draw.integers(0, n)}", "axis": far(3, 1), "gear_ratio": 31.0, "spin_inertia": 0.0004,
               "inertial": body(0.4, far(3, 0.1))} for joint in single if "rotor_inertia" not in joint and draw.random() < 0.6]
    base = {"type": str(draw.choice(["fixed", "floating"])), "link": "root", "inertial": body(5.0, far(3, 0.1))}
    return {"base": base, "links": links, "motors": motors, "frames": [{"name": "tip", "link": f"l{n - 1}", "xyz": far(3, 0.3), "rpy": far(3, 1)}]}


def unit(q):
    return (np.array(q) / np.linalg.norm(q)).tolist()


def random_position(draw, joint):
    value = draw.uniform(-1.2, 1.2, {"planar": 3, "spherical": 4, "floating": 7}.get(joint["type"], 1)).tolist()
    if joint["type"] in ("spherical", "floating"):
        value[-4:] = unit(value[-4:])
    return value if len(value) > 1 else value[0]


def random_locks(draw, robot):
    """Returns positions at which to lock some of the joints that are no mimics. At least one joint stays free."""
    free = [link["joint"] for link in robot["links"] if "mimic" not in link["joint"]]
    chosen = draw.permutation(len(free))[:max(1, int(draw.integers(1, len(free))))]
    return {free[i]["name"]: random_position(draw, free[i]) for i in sorted(chosen) if len(chosen) < len(free)}


def numbers(value):
    """Yields the numbers of an answer with their places, in the order of their names."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from ((f"{key}.{place}", number) for place, number in numbers(value[key]))
    elif isinstance(value, list):
        for entry in value:
            yield from numbers(entry)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield "", value


class Locked(ServerCase):
    def assertSame(self, given, expected, tolerance, what):
        """Compares answers by the largest number of each member."""
        self.assertEqual(given.keys(), expected.keys(), what)
        for name in given:
            a, b = list(numbers(given[name])), list(numbers(expected[name]))
            self.assertTrue([place for place, _ in a] == [place for place, _ in b], f"{what}: names or shapes of {name} differ")
            x, y = np.array([v for _, v in a]), np.array([v for _, v in b])
            size = max(np.abs(y).max(initial=0), 1)
            self.assertLessEqual(np.abs(x - y).max(initial=0), tolerance * size, f"{what} {name}")

    def test_every_operation_answers_as_for_the_reduced_robot(self):
        # "full" is the robot of a case with one more joint, the turret, before its first link. Locked at TURRET, the turret leaves this
        # link at its place in "reduced", the robot without the turret.
        answered = 0
        for features in CASES:
            robot = document(features)
            turret = {"name": "turret", "parent": "trunk", "joint": {
                "name": "turret", "type": "revolute", "axis": [0.4, -0.3, 0.8], "origin": {"xyz": [0.2, -0.1, 0.3], "rpy": [0.3, 0.5, -0.2]},
                "friction": {"viscous": 0.4}, "rotor_inertia": 0.2, "limits": {"position": [-2, 2], "velocity": 0.1, "effort": 0.1}}}
            full = copy.deepcopy(robot)
            upper = full["links"][0]
            upper["parent"] = "turret"
            upper["joint"]["origin"] = {"matrix": (np.linalg.inv(moved(turret["joint"], TURRET)) @ origin_of(upper["joint"])).tolist()}
            full["links"].insert(0, turret)
            if "loop" in features:
                turret["joint"]["home"] = 0.1
            self.put_model("reduced", robot)
            self.put_model("full", full)
            case = Case("reduced", features, self.ok(self.client.get("/v1/models/reduced"))["velocity_names"])
            for operation in OPERATIONS:
                request = request_of(operation, case)
                # without given weights identify would derive them from the noise, which here consists of rounding errors
                if operation == "identify":
                    request["weights"] = [1.0] * case.nv
                path, locked = f"/v1/models/{{}}/{operation}", {**request, "locked": {"turret": TURRET}}
                expected, given = (self.client.post(path.format(m), r) for m, r in (("reduced", request), ("full", locked)))
                with self.subTest(operation=operation, features=features):
                    self.assertEqual(given.status, expected.status, given)
                    if expected.status != 200:
                        self.assertEqual(given.json()["code"], expected.json()["code"])
                        continue
                    binary = self.client.request("POST", path.format("full"), cbor2.dumps(locked), CBOR)
                    self.assertTrue(same(given.json(), plain(cbor2.loads(binary.body))), "JSON and CBOR differ")
                    self.compare(operation, given.json(), expected.json(), f"{operation} {features}")
                    answered += 1
        self.assertGreater(answered, 5 * len(OPERATIONS), "most requests are answered")

    def test_random_robots_equal_those_with_fixed_joints(self):
        # Draws positions of the joints that are not locked, velocities and accelerations, which are the same for the robot with fixed joints.
        for seed in range(ROBOTS):
            draw, robot = np.random.default_rng(1000 + seed), random_robot(seed)
            locked = random_locks(draw, robot)
            if not locked:
                continue
            self.put_model("full", robot)
            self.put_model("fixed", fixed_document(robot, locked))
            about_fixed = self.ok(self.client.get("/v1/models/fixed"))
            self.put_model("locked", {**robot, "locked": locked})
            self.assertEqual(self.ok(self.client.get("/v1/models/locked"))["motors"], about_fixed["motors"], "motors of moving joints alone")
            state = self.random_state(draw, about_fixed, rows=3 if seed % 2 else 0)
            extra = {"payload": {"link": "tip", "mass": 0.7, "com": [0.1, 0.2, 0.05]}, "wrenches": [{"link": "tip", "force": [1, 2, 3]}]}
            with self.subTest(seed=seed, locked=locked):
                for operation, fields, outputs, more in ASKED:
                    request = {name: state[name] for name in fields} | {"outputs": outputs} | {name: extra[name] for name in more if seed % 3}
                    if operation == "kinematics":
                        request["frame"] = "tip"
                    expected = self.ask("fixed", operation, request)
                    given = self.ask("full", operation, {**request, "locked": locked})
                    for answer in (given, expected):  # motors of locked joints are links of the fixed robot
                        answer["poses"] = {name: X for name, X in answer.get("poses", {}).items() if not name.startswith("motor")}
                    self.assertSame(given, expected, 1e-13 if operation != "forward-dynamics" else 1e-11, f"{operation} of {seed}")
                self.check_full(robot, locked, about_fixed, state, seed)

    def random_state(self, draw, about_model, rows):
        nv, names = len(about_model["velocity_names"]), about_model["position_names"]
        q = draw.uniform(-1, 1, (max(rows, 1), len(names)))
        for i, name in enumerate(names):
            if name.endswith(".qx"):
                q[:, i:i + 4] /= np.linalg.norm(q[:, i:i + 4], axis=1, keepdims=True)
        state = {"q": q} | {name: draw.uniform(-1, 1, (max(rows, 1), nv)) for name in ("qd", "qdd", "qddd", "tau")}
        return {name: (values if rows else values[0]).tolist() for name, values in state.items()}

    def check_full(self, robot, locked, about_fixed, state, seed):
        """Compares with the inverse dynamics of the full robot at rest in the locked joints."""
        about_full = self.ok(self.client.get("/v1/models/full"))
        if about_full["name"] != "full":
            return
        rows = np.atleast_2d(state["q"]).shape[0]
        kept = {kind: [about_full[f"{kind}_names"].index(name) for name in about_fixed[f"{kind}_names"]] for kind in ("position", "velocity")}
        suffix = {1: [""], 3: [".x", ".y", ".angle"], 4: [".qx", ".qy", ".qz", ".qw"], 7: [".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"]}
        q = np.zeros((rows, len(about_full["position_names"])))
        for name, value in locked.items():
            value = np.atleast_1d(value)
            for ending, number in zip(suffix[len(value)], value):
                q[:, about_full["position_names"].index(name + ending)] = number
        q[:, kept["position"]] = np.atleast_2d(state["q"])
        full = {"q": q.tolist()}
        for name in ("qd", "qdd"):
            values = np.zeros((rows, len(about_full["velocity_names"])))
            values[:, kept["velocity"]] = np.atleast_2d(state[name])
            full[name] = values.tolist()
        expected = np.array(self.ask("full", "inverse-dynamics", full)["tau"])[:, kept["velocity"]]
        given = self.ask("full", "inverse-dynamics", {name: state[name] for name in ("q", "qd", "qdd")} | {"locked": locked})["tau"]
        self.assertClose(np.atleast_2d(given).tolist(), expected.tolist(), 1e-13, max(np.abs(expected).max(), 1), f"full robot {seed}")

    def compare(self, operation, given, expected, what):
        for answer in (given, expected):
            answer.pop("errors", None)
            answer.get("poses", {}).pop("turret", None)
        self.assertSame(given, expected, 1e-11, what)

    def test_loops_keep_their_assembly(self):
        # Compares with the full robot whose locked joint is at rest. Both have the same reference configuration and thus the same assembly.
        for name in ("delta", "five_bar", "stewart"):
            about_full = self.ok(self.client.get(f"/v1/models/{name}"))
            q = np.array(about_full["reference"]["q"]) + 0.04 * np.arange(3, 3 + about_full["nq"])
            qd, qdd = 0.3 * np.arange(about_full["nv"]), 0.7 * np.arange(about_full["nv"])
            full = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist()}
            rest = {field: values[1:] for field, values in full.items()} | {"locked": {about_full["position_names"][0]: full["q"][0]}}
            expected = self.ask(name, "inverse-dynamics", full)["tau"][1:]
            self.assertClose(self.ask(name, "inverse-dynamics", rest)["tau"], expected, 1e-13, max(1, *map(abs, expected)), name)
            poses, given = (self.ask(name, "kinematics", {field: r[field] for field in ("q", "locked") if field in r})["poses"] for r in (full, rest))
            self.assertEqual(poses.keys(), given.keys())
            for frame in poses:
                self.assertClose(given[frame]["position"], poses[frame]["position"], 1e-13, 1, frame)

    def test_a_planar_joint_of_a_loop_is_locked_at_all_its_coordinates(self):
        # A plate on a planar joint holds the tip of an arm of two links, 0.5 m each. With another angle of the plate the tip is out of reach.
        link = lambda name, parent, joint: {"name": name, "parent": parent, "joint": joint, "inertial": body(1.3, (0.1, 0.2, 0.05))}
        passive = lambda home, x: {"type": "revolute", "axis": [0, 0, 1], "actuated": False, "home": home, "origin": {"xyz": [x, 0, 0]}}
        robot = {"links": [link("plate", "base", {"name": "plane", "type": "planar", "axis": [0, 0, 1], "home": [1.5, 0.1, 0.05]}),
                           link("upper", "base", {**passive(0.9, 0), "name": "shoulder"}), link("lower", "upper", {**passive(-1.8, 0.5), "name": "elbow"}),
                           link("tool", "plate", {"name": "wrist", "type": "revolute", "axis": [0.6, 0, 0.8], "origin": {"xyz": [0.2, 0.1, 0]}})],
                 "frames": [{"name": "tip", "link": "lower", "xyz": [0.5, 0, 0]}, {"name": "hole", "link": "plate", "xyz": [-1, 0, 0]}],
                 "loops": [{"name": "pin", "type": "revolute", "frame_a": "tip", "frame_b": "hole", "axis": [0, 0, 1]}]}
        self.put_model("plate", robot)
        place, wrist = [1.4, 0.25, 0.12], 0.4
        full = self.ask("plate", "kinematics", {"q": [*place, wrist]})["poses"]
        self.assertClose([full["hole"]["position"]], [[1.4 - math.cos(0.12), 0.25 - math.sin(0.12), 0]], 1e-12)
        given = self.ask("plate", "kinematics", {"q": [wrist], "locked": {"plane": place}})["poses"]
        for frame in full:
            self.assertClose(given[frame]["position"], full[frame]["position"], 1e-12, 1, frame)

    def test_a_locked_motor_leaves_its_spring(self):
        joint = {"name": "hinge", "type": "revolute", "axis": [0, 1, 0], "rotor_inertia": 0.05, "spring": {"stiffness": 7, "damping": 0.1, "rest": 0.4},
                 "elastic": {"stiffness": 60, "damping": 0.2, "rest": 0.1}, "limits": {"position": [-2, 2], "effort": 3, "velocity": 4}}
        robot = {"links": [{"name": "arm", "parent": "base", "joint": joint, "inertial": body(2, (0.3, 0.02, 0.1))}]}
        plain_joint = {name: joint[name] for name in ("name", "type", "axis")} | {
            "spring": {"stiffness": 67, "damping": 0.1 + 0.2, "rest": (7 * 0.4 + 60 * (0.1 + 0.35)) / 67}}
        self.put_model("full", robot)
        self.put_model("plain", {"links": [{**robot["links"][0], "joint": plain_joint}]})
        state = {"q": [0.6], "qd": [1.2], "qdd": [0.7]}
        self.assertSame(self.ask("full", "inverse-dynamics", {**state, "locked": {"hinge.motor": 0.35}}), self.ask("plain", "inverse-dynamics", state), 1e-14, "spring")
        margins = self.ask("full", "margins", {**state, "locked": {"hinge.motor": 0.35}})
        self.assertEqual([limit["kind"] for limit in margins["limits"]], ["position", "velocity"])

    def test_an_evaluate_request_is_reduced_as_a_whole(self):
        state = {"q": [[0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.4, 0.3, 0.2, 0.1]], "qd": [1, 2, 3, 4, 5], "locked": {"joint3": 0.7}}
        options = {"inverse-dynamics": {}, "mass-matrix": {}, "energy": {}}
        given = self.ask("puma560", "evaluate", {**state, "operations": options})
        for name in options:
            fields = state if name != "mass-matrix" else {name: state[name] for name in ("q", "locked")}
            self.assertEqual(given[name], self.ask("puma560", name, fields), name)
        rows = [self.ask("puma560", "inverse-dynamics", {**state, "q": q})["tau"] for q in state["q"]]
        self.assertEqual(given["inverse-dynamics"]["tau"], rows)

    def test_requests_documents_and_queries_lock_alike(self):
        robot = random_robot(7)
        locks = random_locks(np.random.default_rng(5), robot)
        name, (first, *_) = "full", locks
        self.put_model(name, robot)
        made = self.put_model("document", {**robot, "locked": locks})
        query = ",".join(":".join([joint, *map(repr, np.atleast_1d(value).tolist())]) for joint, value in locks.items())
        for model, text in (("query", query), ("escaped", quote(query, safe=""))):
            put = self.put_model(f"{model}?locked={text}", robot)
            self.assertEqual(put["revision"], made["revision"])
            entries = [entry["where"] for entry in put["report"] if entry["code"] == "locked"]
            self.assertEqual(sorted(entries), sorted(f"/locked/{joint}" for joint in locks))
        self.assertEqual(self.ok(self.client.get("/v1/models/query/document"))["locked"], locks)
        state = self.random_state(np.random.default_rng(6), self.ok(self.client.get("/v1/models/query")), 0)
        request = {field: state[field] for field in ("q", "qd", "qdd")}
        answers = [self.ask(model, "inverse-dynamics", request) for model in ("document", "query", "escaped")]
        self.assertEqual([self.ask(name, "inverse-dynamics", {**request, "locked": locks})] * 3, answers)
        others = {joint: value for joint, value in locks.items() if joint != first}
        self.put_model("some", {**robot, "locked": {first: locks[first]}})
        self.assertEqual(self.ask("some", "inverse-dynamics", {**request, "locked": others}), answers[0])
        self.assertProblem(self.client.post("/v1/models/some/inverse-dynamics", {**request, "locked": locks}), 422, f"/locked/{first}")

    def test_configurations_lose_the_locked_coordinates(self):
        robot = {"links": [{"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "inertial": body(1),
                            "joint": {"name": f"j{i}", "type": kind, **({"axis": [0, 1, 0]} if kind == "revolute" else {})}}
                           for i, kind in enumerate(("revolute", "spherical", "revolute"))],
                 "configurations": [{"name": "up", "q": {"j0": 0.3, "j1.qz": 1, "j1.qw": 0, "j2": 0.5}}], "locked": {"j1": [0, 0, 0.6, 0.8]}}
        self.put_model("ball", robot)
        self.assertEqual(self.ok(self.client.get("/v1/models/ball"))["configurations"], [{"name": "up", "q": [0.3, 0.5]}])

    def test_a_transmission_is_locked_as_a_whole(self):
        robot = document(["transmission", "floating"])
        self.put_model("coupled", robot)
        state = self.random_state(np.random.default_rng(1), self.ok(self.client.get("/v1/models/coupled")), 0)
        locked = {"shoulder": 0.3, "wrist": -0.2}
        q = state["q"][:7] + state["q"][8:10]
        problem = self.assertProblem(self.client.post("/v1/models/coupled/mass-matrix", {"q": q, "locked": {"wrist": 0.3}}), 422, "/locked/wrist")
        self.assertIn("all joints of the transmission", problem["detail"])
        fixed = fixed_document({**robot, "motors": []}, locked)
        del fixed["transmissions"], fixed["motors"]
        self.put_model("fixed", fixed)
        expected = self.ask("fixed", "mass-matrix", {"q": q})
        self.assertSame(self.ask("coupled", "mass-matrix", {"q": q, "locked": locked}), expected, 1e-13, "transmission")

    def test_refusals_name_the_joint_and_the_remedy(self):
        robot, loop = random_robot(3), document(["loop", "floating", "mimic"])
        screw = {"links": [{"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "inertial": body(1),
                            "joint": {"name": f"j{i}", "type": "helical", "axis": [0, 1, 0], "pitch": 0.02}} for i in range(2)]}
        self.put_model("loop", loop)
        self.put_model("screw", screw)
        for model, locked, code, pointer, words in (
                ("puma560", {"elbow": 1}, "unknown-name", "/locked/elbow", "there are: joint1"),
                ("puma560", {"joint1": [1, 2, 3]}, "wrong-shape", "/locked/joint1", "a number in rad or m"),
                ("puma560", {"joint1": "x"}, "wrong-type", "/locked/joint1", "a number expected"),
                ("puma560", {"joint1": 2e5}, "angle-too-large", "/locked/joint1", "limited"),
                ("screw", {"j0": -2e5}, "angle-too-large", "/locked/j0", "limited"),
                ("puma560", [1], "wrong-type", "/locked", "an object from names"),
                ("puma560", {f"joint{i}": 0 for i in range(1, 7)}, "bad-value", "/locked", "leave at least one out"),
                ("loop", {"finger": 1}, "bad-value", "/locked/finger", 'follows "wrist": lock that joint'),
                ("loop", {"rocker": 1}, "bad-value", "/locked/rocker", "lock actuated joints instead"),
                ("loop", {"bolt": 1}, "bad-value", "/locked/bolt", "is fixed"),
                ("loop", {"base": 1}, "not-supported", "/locked/base", "a floating base is not locked"),
                ("five_bar", {"left": 1, "right": 1}, "bad-value", "/locked", "leave at least one out")):
            problem = self.assertProblem(self.client.post(f"/v1/models/{model}/mass-matrix", {"q": [0.1], "locked": locked}), 422, pointer)
            self.assertEqual(problem["code"], code, problem)
            self.assertIn(words, problem["detail"])
        for query in ("locked=", "locked=j0", "locked=j0:x", "locked=j0:1&locked=j1:2", "locked=:1", "locked=j0:%zz", "locked=j0:1,", "locked=j0:1,j0:2"):
            self.assertProblem(self.client.put(f"/v1/models/refused?{query}", robot), 422)
        for query in ("locked=j0:0.3%00", "locked=j0:0.3%00,j1:0.2", "locked=j0:0.3%"):
            self.assertIn("bad escape", self.assertProblem(self.client.put(f"/v1/models/refused?{query}", screw), 422)["detail"])

    def test_messages_and_warnings_know_the_locked_joints(self):
        short = self.client.post("/v1/models/puma560/bias", {"q": [0.1] * 6, "locked": {"joint2": 0.3}})
        self.assertIn("6 entries given, 5 expected (nq of puma560 without its locked joints)", self.assertProblem(short, 422, "/q")["detail"])
        degrees = self.ask("panda", "bias", {"q": [0.1] * 5, "locked": {"panda_joint2": 90, "panda_joint3": 0.5}})
        self.assertEqual([(w["where"], w["code"]) for w in degrees["warnings"]], [("/locked/panda_joint2", "suspicious")])
        report = self.put_model("turned?locked=panda_joint2:7", self.ok(self.client.get("/v1/models/panda/document")))["report"]
        self.assertIn(("/locked/panda_joint2", "suspicious"), [(entry["where"], entry["code"]) for entry in report])

    def test_reports_tell_where_configurations_and_followers_disagree(self):
        link = lambda name, parent, **joint: {"name": name, "parent": parent, "joint": {"name": f"j{name}", "axis": [0, 1, 0], **joint}, "inertial": {"mass": 1, "com": [0.1, 0, 0]}}
        turn = [0.6, 0, 0, 0.8]
        robot = {"links": [link("a", "base", type="revolute", limits={"position": [-1, 1]}),
                           link("b", "a", type="revolute", mimic={"joint": "ja", "multiplier": 2, "offset": 0.1}, limits={"position": [-1, 1]}),
                           {"name": "c", "parent": "b", "joint": {"name": "jc", "type": "spherical"}, "inertial": body(1, (0.1, 0, 0.02))}, link("d", "c", type="prismatic")],
                 "configurations": [{"name": "as locked", "q": {"ja": 0.5, "jd": 0.25, **{f"jc.q{n}": -x for n, x in zip("xyzw", turn)}}},
                                    {"name": "elsewhere", "q": {"ja": 0.25, "jc.qx": 0.6, "jc.qw": 0.8}}, {"name": "not listed", "q": {"ja": 0.5}}]}
        report = self.put_model("posed", {**robot, "locked": {"ja": 0.5, "jc": turn}})["report"]
        told = [(entry["where"], entry["text"]) for entry in report if entry["code"] in ("suspicious", "dropped") and "base" not in entry["text"]]
        place = "elsewhere than where this joint is locked"
        self.assertEqual([entry for entry in told if "imit" in entry[1] or place in entry[1]], [
            ("/locked/ja", 'joint "jb" follows, and stands at 1.1, outside its limits -1 to 1'),
            ("/configurations/1/q", f'the configuration "elsewhere" has "ja" {place}'), ("/configurations/2/q", f'the configuration "not listed" has "jc" {place}')])
        self.assertEqual([c["q"] for c in self.ok(self.client.get("/v1/models/posed"))["configurations"]], [[0.25], [0], [0]])

    def test_identified_documents_have_the_locks(self):
        # From torques without noise of the robot with locked joints, identify must find this robot's own parameters.
        rows = np.random.default_rng(9).uniform(-1, 1, (3, 200, 5))
        state = {name: values.tolist() for name, values in zip(("q", "qd", "qdd"), rows)} | {"locked": {"joint2": -0.6}}
        tau = self.ask("puma560", "inverse-dynamics", {**state, "friction": False})["tau"]
        found = self.ask("puma560", "identify", {**state, "tau": tau, "friction": False, "outputs": ["model", "residual"]})
        self.assertEqual(found["model"]["locked"], {"joint2": -0.6})
        self.put_model("found", found["model"])
        again = self.ask("found", "inverse-dynamics", {**{name: state[name] for name in ("q", "qd", "qdd")}, "friction": False})["tau"]
        self.assertClose(again, tau, 1e-9)

    def test_the_command_locks_joints(self):
        """`torqued put --locked` sends the positions of locked joints with the file; a list that is too long is refused, never truncated."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self.ok(self.client.get("/v1/models/panda/document")), file)

            def put(locked):
                return subprocess.run([BINARY, "put", "commanded", path, "--locked", locked, "--url", self.server.url()], capture_output=True, text=True, check=False)

            done = put("panda_joint2:0.5,panda_joint4:-1.5")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.ok(self.client.get("/v1/models/commanded"))["nq"], 5)
            done = put("panda_joint2:0." + "5" * 4000)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("--locked is too long", done.stderr)


if __name__ == "__main__":
    tap.main()
