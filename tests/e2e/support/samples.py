"""Small robots as model documents, random states of them, and a request for every output of every operation."""
import json
import math
import random


def body(mass, com=(0, 0, 0), xx=0.02, yy=0.03, zz=0.04, xy=0.001, xz=-0.002, yz=0.003):
    return {"mass": mass, "com": list(com), "inertia": {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz}}


def slider(mass=1):
    """A slider: one prismatic joint along world z without gravity, so that tau = mass x qdd to the bit."""
    return {"gravity": [0, 0, 0], "links": [
        {"name": "carriage", "parent": "base", "joint": {"name": "rail", "type": "prismatic", "axis": [0, 0, 1]},
         "inertial": {"mass": mass, "com": [0, 0, 0]}}]}


def pendulum(mass=2, length=0.5):
    """A pendulum: a point mass on a massless rod that turns about y and hangs along -z at q = 0."""
    return {"links": [
        {"name": "bob", "parent": "base", "joint": {"name": "pivot", "type": "revolute", "axis": [0, 1, 0]},
         "inertial": {"mass": mass, "com": [0, 0, -length]}}]}


def tilted_crank():
    """Two hinges about one axis, which is the world's x except for rounding: no joint moves the tip along x, and the
    entries of its Jacobian for x are about 1e-17 m."""
    rpy, origin = [0.3, 0.5, -0.7], {}
    cr, cp, cy, sr, sp, sy = *(math.cos(a) for a in rpy), *(math.sin(a) for a in rpy)
    axis = [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr]
    links = []
    for name, parent in (("crank", "base"), ("rod", "crank")):
        origin = {"xyz": [0, 0.4, 0.1], "rpy": rpy} if parent == "base" else {"xyz": [axis[1], -axis[0], 0]}
        links.append({"name": name, "parent": parent, "inertial": body(1, (axis[1], -axis[0], 0)),
                      "joint": {"name": name, "type": "revolute", "axis": axis, "origin": origin}})
    return {"links": links, "frames": [{"name": "tip", "link": "rod", "xyz": [axis[2], 0, -axis[0]]}]}


def branched(base="fixed"):
    """A tree with two branches, each kind of joint, a merged link, friction, a rotor, a spring and a frame; the base is
    fixed or floating."""
    root = {"type": base, "link": "torso"}
    if base == "floating":
        root["inertial"] = body(8, (0.01, -0.02, 0.1), 0.2, 0.25, 0.15)
    return {
        "name": "branched", "base": root,
        "links": [
            {"name": "upper", "parent": "torso",
             "joint": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1],
                       "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.1, -0.2, 0.3]},
                       "limits": {"position": [-3, 3], "velocity": 2, "effort": 80},
                       "friction": {"viscous": 0.3, "coulomb": 0.4}, "rotor_inertia": 0.05},
             "inertial": body(2, (0.02, 0.01, 0.15))},
            {"name": "fore", "parent": "upper",
             "joint": {"name": "elbow", "type": "continuous", "axis": [1, 2, -1], "origin": {"xyz": [0, 0, 0.3]},
                       "friction": {"viscous": 0.1, "coulomb": {"positive": 0.2, "negative": 0.35},
                                    "coulomb_velocity": 0.05}},
             "inertial": body(1.5, (0.03, -0.01, 0.1))},
            {"name": "gripper", "parent": "fore",
             "joint": {"name": "mount", "type": "fixed", "origin": {"xyz": [0.01, 0, 0.25], "rpy": [0, 1.2, 0]}},
             "inertial": body(0.4, (0, 0.02, 0.05))},
            {"name": "finger", "parent": "gripper",
             "joint": {"name": "grasp", "type": "prismatic", "axis": [0, 1, 0], "origin": {"xyz": [0, 0, 0.1]},
                       "spring": {"stiffness": 30, "damping": 2, "rest": 0.01}},
             "inertial": body(0.2, (0.01, 0, 0.02), 0.001, 0.0012, 0.0009, 0, 0, 0)},
            {"name": "thigh", "parent": "torso",
             "joint": {"name": "hip", "type": "revolute", "axis": [0, 1, 0],
                       "origin": {"xyz": [-0.1, 0, -0.2], "rpy": [0, 0, 1]}},
             "inertial": body(3, (0, 0.01, -0.2))}],
        "frames": [{"name": "tool", "link": "gripper", "xyz": [0, 0.05, 0.1], "rpy": [0.3, 0.2, -0.4]}]}


def chain(count):
    """A chain of `count` revolute joints whose axes repeat z, y, x; all links differ."""
    return {"links": [
        {"name": f"l{i}", "parent": f"l{i - 1}" if i else "base",
         "joint": {"name": f"j{i}", "type": "revolute", "axis": [[0, 0, 1], [0, 1, 0], [1, 0, 0]][i % 3],
                   "origin": {"xyz": [0.1 + 0.01 * (i % 4), 0.02 - 0.01 * (i % 5), 0.05 + 0.02 * (i % 3)] if i else [0, 0, 0]}},
         "inertial": body(1.1 - 0.07 * (i % 5), (0.05, 0.02 * (i % 3), 0.01 - 0.01 * (i % 4)))} for i in range(count)]}


def mimicking():
    """A chain of four joints whose second joint mimics the first."""
    document = chain(4)
    document["links"][1]["joint"]["mimic"] = {"joint": "j0", "multiplier": -1.5, "offset": 0.2}
    return document


# The three-joint example of Modern Robotics, by screw axes in the book's order [w; v].
THREE_LINK = {
    "gravity": [0, 0, -9.8],
    "screws": {
        "M": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]],
              [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]],
              [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]],
              [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]]],
        "G": [[[figures[i] if i == j else 0 for j in range(6)] for i in range(6)] for figures in (
            [0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7],
            [0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393],
            [0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275])],
        "S": [[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]}}

KINEMATICS = ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration", "jerk"]
ENERGY = ["kinetic", "potential", "mass", "com", "com_velocity", "com_jacobian", "momentum", "momentum_matrix"]


def everything(state):
    """Returns an evaluate request for every output of every operation."""
    return {**state, "operations": {
        "inverse-dynamics": {"outputs": ["tau", "joint_wrenches"]},
        "forward-dynamics": {"outputs": ["qdd", "joint_wrenches"]},
        "mass-matrix": {"outputs": ["mass_matrix", "inverse"]},
        "bias": {"outputs": ["bias", "coriolis", "gravity", "friction"]},
        "kinematics": {"frame": "tool", "outputs": KINEMATICS},
        "energy": {"outputs": ENERGY}}}


def states(count, nv=4, floating=False, seed=3):
    """Draws a batch of random states."""
    rng = random.Random(seed)
    rows = {name: [[rng.uniform(-2, 2) for _ in range(nv)] for _ in range(count)]
            for name in ("q", "qd", "qdd", "qddd", "tau")}
    if floating:
        for i, q in enumerate(rows["q"]):
            turn = [rng.gauss(0, 1) for _ in range(4)]
            size = math.sqrt(sum(x * x for x in turn))
            rows["q"][i] = q[:3] + [x / size for x in turn] + q[6:]
    return rows


# Two links of an arm whose joints have friction, rotors, springs and limits, and the payload and wrenches that act on
# them.
TURN_AND_SLIDE = [
    {"name": "a", "parent": "base", "joint": {
        "name": "turn", "type": "revolute", "axis": [0, 1, 1], "rotor_inertia": 0.3,
        "friction": {"viscous": 0.4, "coulomb": {"positive": 0.5, "negative": 0.7}, "coulomb_velocity": 0.6}},
     "inertial": {"solid": "box", "size": [0.1, 0.2, 0.5], "mass": 3, "xyz": [0.1, 0, 0.2]}},
    {"name": "b", "parent": "a", "joint": {
        "name": "slide", "type": "prismatic", "axis": [1, 0, 0.5], "origin": {"xyz": [0, 0.1, 0.4], "rpy": [0.3, 0.2, 0.1]},
        "spring": {"stiffness": 40, "damping": 3, "rest": 0.1}},
     "inertial": {"solid": "box", "size": [0.3, 0.1, 0.1], "mass": 2}}]
SURROUNDINGS = {
    "gravity": [1, -2, -9], "payload": {"link": "b", "mass": 0.6, "com": [0.1, 0.2, 0.3]},
    "wrenches": [{"link": "c", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.1], "point": [0, 0.1, 0.4]},
                 {"link": "b", "force": [1, 5, 2], "torque": [-1, 0.4, 0.2], "point": [0.2, 0, 0], "frame": "link"}]}

# The published state of the bundled puma560, and a request for chain(100) that takes some tenths of a second.
ASK = "/v1/models/puma560/inverse-dynamics"
QN = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]
PUMA = {"q": QN, "qd": [1] * 6, "qdd": [1] * 6}
HEAVY = json.dumps({"q": [[0.1] * 100] * 1500, "tau": [0] * 100, "operations": {
    "inverse-dynamics": {}, "bias": {}, "energy": {}, "forward-dynamics": {}}})
