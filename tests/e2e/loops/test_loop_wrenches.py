"""Tests wrenches in the joints of spatial mechanisms with every kind of loop: against the tree with the loop's wrenches
as external wrenches; derivatives against differences."""
import copy

import numpy as np
import tap
from closed import Closed

# number of constraint rows of each kind of loop
KINDS = {"spherical": 3, "revolute": 5, "prismatic": 5, "fixed": 6, "planar": 3, "helical": 5}
# Each kind of loop, and for kinds with more than three constraint rows a second variant, in which the second arm is on a spherical joint.
VARIANTS = [(kind, False) for kind in KINDS] + [(kind, True) for kind, rows in KINDS.items() if rows > 3]
LOADS = [{"link": "b1", "force": [1, 2, 3], "torque": [0.1, 0.2, 0.3], "point": [0.1, 0, 0]},
         {"link": "a3", "force": [3, -1, 2], "frame": "link"}]


def to_rpy(R):
    return [np.arctan2(R[2, 1], R[2, 2]), np.arcsin(-R[2, 0]), np.arctan2(R[1, 0], R[0, 0])]


def of_quaternion(r):
    x, y, z, w = r
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def derivative(f, x, h):
    """Returns central differences of fourth order on an additional last axis."""
    columns = []
    for step in np.eye(len(x)) * h:
        columns.append((8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / (12 * h))
    return np.stack(columns, -1)


def along(s, t):
    """Returns q, qd, qdd after the time t of a motion with constant jerk."""
    return (s["q"] + t * (s["qd"] + t / 2 * (s["qdd"] + t / 3 * s["qddd"])), s["qd"] + t * (s["qdd"] + t / 2 * s["qddd"]),
            s["qdd"] + t * s["qddd"])


def changed(loads, t):
    """Returns the wrenches after the time t."""
    return [{**{name: value for name, value in load.items() if not name.endswith("_rate")},
             **{name: (np.array(load[name]) + t * np.array(load.get(name + "_rate", [0, 0, 0]))).tolist()
                for name in ("force", "torque") if name in load}} for load in loads]


class Wrenches(Closed):
    def arm(self, name, parent, choose, actuated=False, kind="revolute"):
        return {"name": name, "parent": parent, "inertial": {
            "mass": choose.uniform(1, 2), "com": choose.uniform(-0.1, 0.1, 3).tolist(),
            "inertia": {"xx": 0.02, "yy": 0.025, "zz": 0.03, "xy": 0.002}}, "joint": {
            "name": "of_" + name, "type": kind, "axis": choose.normal(size=3).tolist(), "actuated": actuated,
            "origin": {"xyz": choose.uniform(-0.3, 0.3, 3).tolist(), "rpy": choose.uniform(-1, 1, 3).tolist()},
            "friction": {"viscous": 0.1}, "rotor_inertia": 0.02, "spring": {"stiffness": 2, "damping": 0.1}}}

    def put(self, kind, seed, ball=False):
        """Puts two arms on the base that meet at q = 0, closed by the loop and as a tree; the first arm is actuated.
        With `ball`, a spherical joint replaces three joints of the second arm, and some joint frames are turned by half
        a turn."""
        choose = np.random.default_rng(seed)
        links = [self.arm(f"a{i}", f"a{i - 1}" if i > 1 else "base", choose, True, "prismatic" if i == 2 else "revolute")
                 for i in (1, 2, 3)]
        if ball:
            socket = self.arm("b0", "base", choose)
            socket["joint"] = {key: socket["joint"][key] for key in ("name", "actuated", "origin")} | {"type": "spherical"}
            links.append(socket)
        for i in range(1 if ball else 0, KINDS[kind] - (2 if ball else 0)):
            links.append(self.arm(f"b{i}", f"b{i - 1}" if i else "base", choose, kind="prismatic" if i == 1 else "revolute"))
        if ball:
            links[1]["joint"]["origin"]["rpy"], links[-1]["joint"]["origin"]["rpy"] = [np.pi, 0, 0], [0, 0, np.pi]
        end = links[-1]["name"]
        document = {"links": links, "frames": [{"name": "hand", "link": "a3", "xyz": [0.1, 0.2, 0.3], "rpy": [0.3, 0.2, 0.1]}]}
        self.put_model("tree", document)
        names = self.ok(self.client.get("/v1/models/tree"))["position_names"]
        zero = [1 if name.endswith(".qw") else 0 for name in names]
        poses = self.ask("tree", "kinematics", {"q": zero, "frames": ["hand", end]})["poses"]
        R, S = (of_quaternion(poses[name]["orientation"]) for name in ("hand", end))
        way = np.subtract(poses["hand"]["position"], poses[end]["position"])
        closed = copy.deepcopy(document)
        closed["frames"].append({"name": "end", "link": end, "xyz": (S.T @ way).tolist(), "rpy": to_rpy(S.T @ R)})
        loop = {"name": "grip", "frame_a": "hand", "frame_b": "end", "type": kind}
        if kind not in ("fixed", "spherical"):
            loop["axis"] = [0.3, 0.5, -0.8]
        if kind == "helical":
            loop["pitch"] = 0.2
        closed["loops"] = [loop]
        self.put_model("loop", closed)
        return {name: choose.uniform(-size, size, 3) for name, size in (("q", 0.04), ("qd", 1), ("qdd", 3), ("qddd", 5))}

    def joint_wrenches(self, q, qd, qdd, loads=LOADS):
        return np.array(self.ask("loop", "inverse-dynamics", {
            "q": list(q), "qd": list(qd), "qdd": list(qdd), "wrenches": loads, "outputs": ["joint_wrenches"]})["joint_wrenches"])

    def test_a_tree_that_is_pushed(self):
        """The tree with the loop's wrenches as external wrenches needs zero effort at passive joints and tau at the others, and has the same
        joint wrenches."""
        for kind, ball in VARIANTS:
            s = {name: value.tolist() for name, value in self.put(kind, 12, ball).items()}
            s.pop("qddd")
            a = self.ask("loop", "inverse-dynamics", {**s, "wrenches": LOADS, "outputs": ["tau", "joint_wrenches", "full"]})
            full = a["full"]
            self.assertLess(full["residual"], 1e-12)
            poses = self.ask("tree", "kinematics", {"q": full["q"], "frames": ["hand"]})["poses"]
            place = self.ask("loop", "kinematics", {"q": s["q"], "frames": ["end"]})["poses"]["end"]["position"]
            R, (F, N) = of_quaternion(poses["hand"]["orientation"]), np.reshape(full["loop_wrenches"][0], (2, 3))
            F, N = R @ F, R @ N
            at = {"end": self.document_frame("end"), "hand": self.document_frame("hand")}
            arm = np.subtract(place, poses["hand"]["position"])
            push = [{"link": at["end"]["link"], "force": list(F), "torque": list(N), "point": at["end"]["xyz"]},
                    {"link": "a3", "force": list(-F), "torque": list(-(N + np.cross(arm, F))), "point": at["hand"]["xyz"]}]
            tree = self.ask("tree", "inverse-dynamics", {"q": full["q"], "qd": full["qd"], "qdd": full["qdd"],
                                                         "wrenches": LOADS + push, "outputs": ["tau", "joint_wrenches"]})
            self.near(tree["tau"], [*a["tau"], *[0] * KINDS[kind]], 1e-10, kind)
            self.near(tree["joint_wrenches"], a["joint_wrenches"], 1e-10, kind)

    def document_frame(self, name):
        document = self.ok(self.client.get("/v1/models/loop/document"))
        return next(frame for frame in document["frames"] if frame["name"] == name)

    def test_rates(self):
        """Rates of joint wrenches against differences, under constant wrenches and under wrenches with rates."""
        changing = [{**LOADS[0], "force_rate": [-2, 5, 1], "torque_rate": [0.3, -0.4, 0.2]}, {**LOADS[1], "force_rate": [4, 2, -3]},
                    {"link": "b1", "torque": [0.2, -0.1, 0.4], "torque_rate": [-1, 0.7, 0.5]}]
        for kind, ball in VARIANTS:
            s = self.put(kind, 12, ball)
            for loads in (LOADS, changing):
                given = self.ask("loop", "torque-derivative", {**{n: x.tolist() for n, x in s.items()}, "wrenches": loads,
                                                               "outputs": ["joint_wrenches", "joint_wrench_rates"]})
                self.near(given["joint_wrenches"], self.joint_wrenches(*along(s, 0), changed(loads, 0)), 1e-12, kind)
                rates = derivative(lambda t: self.joint_wrenches(*along(s, t[0]), changed(loads, t[0])), np.zeros(1), 1e-4)[..., 0]
                self.near(given["joint_wrench_rates"], rates, 1e-7, kind)

    def bennett(self, choose, alpha=0.7, beta=1.3, a=0.4):
        """Puts a Bennett linkage (1903), a / sin alpha = b / sin beta. Returns a state. Its five constraint rows act on two passive joints and
        are redundant: the constraint forces are those of least norm."""
        b = a * np.sin(beta) / np.sin(alpha)
        steps = [([0, 0, 0], [0, 0, 0]), ([a, 0, 0], [alpha, 0, 0]), ([b, 0, 0], [beta, 0, 0])]
        first = 0.8
        tangent = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2)
        homes, links = (first, 2 * np.arctan(tangent), -first), []
        for i, ((xyz, rpy), home) in enumerate(zip(steps, homes)):
            link = self.arm(f"b{i + 1}", f"b{i}" if i else "base", choose, i == 0)
            link["joint"].update(axis=[0, 0, 1], origin={"xyz": xyz, "rpy": rpy}, home=home)
            links.append(link)
        self.put_model("bennett", {
            "links": links, "frames": [{"name": "hand", "link": "b3", "xyz": [a, 0, 0], "rpy": [alpha, 0, 0]},
                                       {"name": "wall", "link": "base", "xyz": [-b, 0, 0], "rpy": [-beta, 0, 0]}],
            "loops": [{"name": "last", "type": "revolute", "frame_a": "hand", "frame_b": "wall", "axis": [0, 0, 1]}]})
        return {"q": np.array([first + 0.2]), "qd": np.array([1.3]), "qdd": np.array([-0.7]), "qddd": np.array([2.1])}

    def test_rates_of_an_overconstrained_linkage(self):
        s = self.bennett(np.random.default_rng(3))
        loads = [{"link": "b2", "force": [1, 2, 3], "torque": [0.1, 0.2, 0.3], "point": [0.1, 0, 0]}]

        def wrenches(t):
            q, qd, qdd = along(s, t[0])
            return np.array(self.ask("bennett", "inverse-dynamics", {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "wrenches": loads,
                                                                     "outputs": ["joint_wrenches"]})["joint_wrenches"])
        given = self.ask("bennett", "torque-derivative", {**{n: x.tolist() for n, x in s.items()}, "wrenches": loads,
                                                          "outputs": ["joint_wrenches", "joint_wrench_rates"]})
        self.near(given["joint_wrenches"], wrenches([0]), 1e-12, "wrenches")
        self.near(given["joint_wrench_rates"], derivative(wrenches, np.zeros(1), 1e-4)[..., 0], 1e-7, "rates")

    def test_joints_that_are_locked_rub_nowhere(self):
        """Three prismatic and three revolute joints after a driven one, fixed at the end: the revolute joints cannot
        move. A velocity of about 1e-17 by rounding would give them full Coulomb friction."""
        choose = np.random.default_rng(5)
        kinds = ["prismatic", "prismatic", "revolute", "prismatic", "revolute", "prismatic", "revolute"]
        links = [self.arm(f"c{i}", f"c{i - 1}" if i else "base", choose, i == 0, kind) for i, kind in enumerate(kinds)]
        document = {"links": links}
        self.put_model("tree", document)
        end = self.ask("tree", "kinematics", {"q": [0] * 7, "frames": ["c6"]})["poses"]["c6"]
        document["frames"] = [{"name": "wall", "link": "base", "xyz": end["position"], "rpy": to_rpy(of_quaternion(end["orientation"]))}]
        document["loops"] = [{"name": "grip", "frame_a": "wall", "frame_b": "c6", "type": "fixed"}]
        answers = []
        for coulomb in (0, 5):
            for link in links:
                link["joint"]["friction"]["coulomb"] = coulomb if link["joint"]["type"] == "revolute" else 0
            self.put_model("loop", document)
            answers.append(self.ask("loop", "inverse-dynamics", {"q": [[0.01], [0.02], [0.03]], "qd": [0.7], "outputs": [
                "joint_wrenches", "full"]}))
        self.assertEqual(answers[0], answers[1])
        self.assertEqual([[qd[i] for i in (2, 4, 6)] for qd in answers[0]["full"]["qd"]], [[0] * 3] * 3)

    def put_sarrus(self):
        """Puts a Sarrus linkage: hinges along y on one side, along x on the other, and a platform that can only rise.
        Its loop has five constraint rows for four passive joints, so the wrench is the minimum-norm one."""
        choose = np.random.default_rng(3)
        links = [self.arm(name, parent, choose, name == "crank") for name, parent in (
            ("crank", "base"), ("lower", "base"), ("upper", "lower"), ("platform", "upper"), ("rod", "platform"))]
        places = {"crank": ([0.3, 0, 0], [0, 1, 0]), "lower": ([0, 0.3, 0], [1, 0, 0]), "upper": ([0, 0.25, 0.2], [1, 0, 0]),
                  "platform": ([0, -0.3, 0.3], [1, 0, 0]), "rod": ([0.25, -0.25, 0], [0, 1, 0])}
        for one in links:
            xyz, axis = places[one["name"]]
            one["joint"].update(axis=axis, origin={"xyz": xyz})
        self.put_model("loop", {
            "links": links, "frames": [{"name": "crank_end", "link": "crank", "xyz": [0.2, 0, 0.25]},
                                       {"name": "rod_end", "link": "rod", "xyz": [0.25, 0, -0.25]}],
            "loops": [{"name": "pin", "frame_a": "crank_end", "frame_b": "rod_end", "type": "revolute", "axis": [0, 1, 0]}]})
        loads = [{"link": "platform", "force": [1, 2, 3], "torque": [0.1, 0.2, 0.3], "point": [0.1, 0, 0]},
                 {"link": "rod", "force": [3, -1, 2], "frame": "link"}]
        return {name: np.array([x], float) for name, x in (("q", 0.1), ("qd", 1.3), ("qdd", -2), ("qddd", 4))}, loads

    def test_more_rows_than_passive_joints(self):
        """Rates and derivatives of joint wrenches against differences; the loop's wrench turns with its frame."""
        s, loads = self.put_sarrus()
        bears = lambda q, qd, qdd: self.joint_wrenches(q, qd, qdd, loads)
        names = ["joint_wrenches", "joint_wrench_rates"]
        given = self.ask("loop", "torque-derivative", {**{n: x.tolist() for n, x in s.items()}, "wrenches": loads, "outputs": names})
        rates = derivative(lambda t: bears(*along(s, t[0])), np.zeros(1), 1e-4)[..., 0]
        self.near(given["joint_wrenches"], bears(*along(s, 0)), 1e-12)
        self.near(given["joint_wrench_rates"], rates, 1e-7)
        x = [s["q"], s["qd"], s["qdd"]]
        request = {"q": list(x[0]), "qd": list(x[1]), "qdd": list(x[2]), "wrenches": loads}
        for i, name in enumerate(("d_joint_wrenches_dq", "d_joint_wrenches_dqd", "d_joint_wrenches_dqdd")):
            slopes = derivative(lambda y: bears(*[*x[:i], y, *x[i + 1:]]), x[i], 1e-4 if i == 0 else 1e-2)
            self.near(self.ask("loop", "sensitivity", {**request, "outputs": [name]})[name], slopes, 1e-7, name)

    def test_sensitivities(self):
        names = ["d_joint_wrenches_dq", "d_joint_wrenches_dqd", "d_joint_wrenches_dqdd"]
        for kind in KINDS:
            s = self.put(kind, 13)
            x = [s["q"], s["qd"], s["qdd"]]
            request = {"q": list(x[0]), "qd": list(x[1]), "qdd": list(x[2]), "wrenches": LOADS}
            given = self.ask("loop", "sensitivity", {**request, "outputs": names})
            for i, name in enumerate(names):
                moved = lambda y, i=i: self.joint_wrenches(*[*x[:i], y, *x[i + 1:]])
                self.near(given[name], derivative(moved, x[i], 3e-5 if i == 0 else 1e-2), 1e-7, f"{kind} {name}")
                alone = self.ask("loop", "sensitivity", {**request, "outputs": [name]})
                self.assertEqual(alone[name], given[name], f"{kind} {name}")


if __name__ == "__main__":
    tap.main()
