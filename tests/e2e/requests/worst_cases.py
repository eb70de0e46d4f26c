"""The table of worst cases: for every operation of the contract a request, and a model, as costly as its size allows. A
request of some megabytes asks for up to hours of work.

test_worst_cases.py compares the operations of the table with those of the contract: a new operation needs its row here.
"""
import json
import os
import random
from functools import lru_cache

from harness import ROOT
from samples import body, chain

MOST = 512        # velocity coordinates of the largest model
TENSOR = 180      # most coordinates nv for which the nv^3 numbers of one state fit into an answer
IDENTIFIED = 100  # bodies of the largest model that identify takes
BARS = 128        # five-bars in one model
NESTED = 25       # nested bodies of an MJCF file


# --- models ---------------------------------------------------------------------------------------------------------

def rubbing(count, **friction):
    """A chain whose joints all have friction."""
    document = chain(count)
    for link in document["links"]:
        link["joint"]["friction"] = {"viscous": 0.1, **friction}
    return document


def limited(count):
    """A chain whose joints all have limits."""
    document = chain(count)
    for link in document["links"]:
        link["joint"]["limits"] = {"position": [-3, 3], "velocity": 5, "effort": 1e4, "effort_rate": 1e5}
    return document


def floating(count):
    """A chain of count - 6 joints on a floating base."""
    document = chain(count - 6)
    document["base"] = {"type": "floating", "link": "base", "inertial": body(5)}
    return document


def elastic(count, **damper):
    """A chain of elastic joints with two coordinates each."""
    document = chain(count // 2)
    for link in document["links"]:
        link["joint"].update(elastic={"stiffness": 1000, **damper}, rotor_inertia=0.1)
    return document


def five_bars(count):
    """`count` five-bars on one base."""
    with open(os.path.join(ROOT, "models", "five_bar.json")) as file:
        one = json.load(file)
    parts = ("links", "frames", "loops")
    text = json.dumps([one[part] for part in parts])
    names = [thing["name"] for part in parts for thing in one[part]] + [link["joint"]["name"] for link in one["links"]]
    made = {"gravity": one["gravity"], "base": one["base"], **{part: [] for part in parts}}
    for i in range(count):
        copy = text
        for name in names:
            copy = copy.replace(f'"{name}"', f'"{name}_{i}"')
        for part, more in zip(parts, json.loads(copy)):
            made[part] += more
    return made


def urdf(count):
    """A chain as a URDF file."""
    links = "".join(f'<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
                    for i in range(count + 1))
    joints = "".join(f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
                     f'<origin xyz="0 0 0.1"/><axis xyz="0 {i % 2} {(i + 1) % 2}"/></joint>' for i in range(count))
    return f'<robot name="chain">{links}{joints}</robot>'


def mjcf(count):
    """Chains as an MJCF file: as many nested bodies as a document may have, and as many of these as a model may have."""
    chains = ""
    for first in range(0, count, NESTED):
        inside = ""
        for i in range(first, min(count, first + NESTED)):
            inside = (f'<body name="b{i}" pos="0 0 0.1"><joint name="j{i}" axis="0 {i % 2} {(i + 1) % 2}"/>'
                      f'<geom type="box" size="0.1 0.1 0.1"/>{inside}</body>')
        chains += inside
    return f"<mujoco><worldbody>{chains}</worldbody></mujoco>"


def sdf(count):
    """A chain as an SDF file."""
    links = "".join(f'<link name="l{i}"><pose>0 0 {0.1 * i} 0 0 0</pose><inertial><mass>1</mass></inertial></link>'
                    for i in range(count + 1))
    joints = "".join(f'<joint name="j{i}" type="revolute"><parent>l{i}</parent><child>l{i + 1}</child><axis>'
                     f'<xyz>0 {i % 2} {(i + 1) % 2}</xyz></axis></joint>' for i in range(count))
    fixed = '<joint name="mount" type="fixed"><parent>world</parent><child>l0</child></joint>'
    return f'<sdf version="1.9"><model name="chain">{links}{fixed}{joints}</model></sdf>'


# name: the model's document and its number of velocity coordinates
MODELS = {
    "chain": (lambda: chain(MOST), MOST),
    "tensor": (lambda: chain(TENSOR), TENSOR),
    "hundred": (lambda: chain(IDENTIFIED), IDENTIFIED),
    "rubbing": (lambda: rubbing(MOST, coulomb=0.3), MOST),
    "loaded": (lambda: rubbing(MOST, coulomb=0.3, load=0.05, coulomb_velocity=0.1), MOST),
    "limited": (lambda: limited(MOST), MOST),
    "floating": (lambda: floating(MOST), MOST),
    "floating_link": (lambda: floating(7), 7),
    "elastic": (lambda: elastic(48), 48),
    "damped": (lambda: elastic(MOST, damping=3), MOST),
    "five_bars": (lambda: five_bars(BARS), 2 * BARS),
}
BUNDLED = {"puma560": 6, "panda": 7}


@lru_cache(maxsize=None)
def document(name):
    return json.dumps(MODELS[name][0]())


# --- requests -------------------------------------------------------------------------------------------------------

class Row:
    """A worst case. `path` is that of the contract, in which {model} is replaced; `note` distinguishes the rows of one path. `refused`: statuses
    that the request may have if it is not late."""

    def __init__(self, method, path, model=None, note="", body=lambda: None, content_type="application/json", refused=()):
        self.method, self.path, self.model, self.note = method, path, model, note
        self.make_body, self.content_type, self.refused = body, content_type, refused

    @property
    def name(self):
        return " ".join(part for part in (self.method, self.path.replace("{model}", self.model or "{model}"), self.note) if part)

    @property
    def target(self):
        return self.path.replace("{model}", self.model or "").replace("{format}", "sdf")

    def body(self):
        made = self.make_body()
        return made.encode() if isinstance(made, str) else made


def coordinates(model):
    return BUNDLED.get(model) or MODELS[model][1]


def same(model, value=0.1):
    return [value] * coordinates(model)


def batch(count, entries, value="0.1"):
    """The text of `count` equal rows."""
    row = "[" + ",".join([value] * entries) + "]"
    return "[" + ",".join([row] * count) + "]"


def rigid(count):
    """Rigid contacts of 32 links of a chain with planes through their origins at q = 0."""
    origins, place = {}, [0, 0, 0]
    for link in chain(count)["links"]:
        place = [a + b for a, b in zip(place, link["joint"]["origin"]["xyz"])]
        origins[link["name"]] = place
    return [{"frame": f"l{i}", "rigid": True, "friction_coefficient": 0.5, "restitution": 0.3, "plane": {"point": origins[f"l{i}"]}}
            for i in range(3, count, count // 32)][:32]


def jamming():
    """Rigid contacts of one link with planes in all directions, whose friction leaves its velocity no way out: the search for impulses
    goes on for long."""
    chosen = random.Random(14)
    points = [[chosen.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(32)]
    return [{"frame": "base", "position": point, "rigid": True, "friction_coefficient": chosen.choice([0.1, 1, 3, 100]),
             "restitution": chosen.choice([0, 0.5, 1]),
             "plane": {"point": point, "normal": [chosen.gauss(0, 1), chosen.gauss(0, 1), abs(chosen.gauss(0, 1)) + 0.1]}} for point in points]


def ask(operation, model, states, note="", texts=(), value="0.1", refused=(), **fields):
    """A row of an operation with `states` equal states (0: `fields` already contain the states). `texts` are fields as JSON text."""
    def make():
        members = dict(texts)
        if states > 0:
            members["q"] = batch(states, coordinates(model), value)
        members.update((name, json.dumps(value)) for name, value in fields.items())
        return "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"
    return Row("POST", "/v1/models/{model}/" + operation, model, note, make, refused=refused)


def put(model, note="", body=None, content_type="application/json"):
    return Row("PUT", "/v1/models/{model}", model, note, body or (lambda: document(note)), content_type)


def read(note, content_type, head, item, count, end=b""):
    """A body of many small items, which is refused: reading it takes longer than writing the answer. In `head`, # stands for the number
    of items in 32 bits."""
    return Row("POST", "/v1/models/{model}/bias", "puma560", f"reading {note}",
               lambda: head.replace(b"#", count.to_bytes(4, "big")) + item * count + end, content_type, (413, 422))


def get(path, model=None, refused=()):
    return Row("GET", path, model, refused=refused)


BOUNCING = {"duration": 900, "tolerance": 1e-12, "samples": 2, "outputs": ["q"]}
HELD = [{"frame": f"l{i}", "axes": ["x", "y", "z"]} for i in range(20, 500, 40)]
ROLLING = [{"frame": f"l{i}", "rolling": {"radius": 0.1, "normal": [i % 3, 1, i % 7]}} for i in range(20, 500, 40)]
SOFT_CONTROL = {"controller": "computed_torque", "kp": 10, "kd": 1, "reference": {"values": [[0] * 6, [0.1] * 6]}}
PUMA = {"q": [-0.387845, -0.080675, -0.227831, 0.462382, -0.227831, -0.30827], "samples": 3, "input": SOFT_CONTROL}
EVERYTHING = {"inverse-dynamics": {}, "forward-dynamics": {}, "bias": {}, "energy": {}}


def spline(model, points, samples, degree=3):
    return {"degree": degree, "duration": 1, "samples": samples, "control_points": [same(model)] * points}


def timed(model, points, samples, degree=3):
    """A path on which all joints move."""
    return {"degree": degree, "samples": samples, "control_points": [same(model, 0.1 * i) for i in range(points)]}


def resting(model, points, samples, degree=3):
    """A path along which the floating base rests."""
    moving = timed(model, points, samples, degree)
    return {**moving, "control_points": [[0] * 6 + point[6:] for point in moving["control_points"]]}


def framed(model, **limits):
    """Limits of the last 16 links."""
    return [{"frame": f"l{link}", **limits} for link in range(MODELS[model][1] - 16, MODELS[model][1])]


def motion(model, *names, value=0.1):
    return {name: same(model, value) for name in names}


ROWS = [
    ask("inverse-dynamics", "chain", 2500, outputs=["tau", "joint_wrenches"]),
    ask("inverse-dynamics", "chain", 2500, "gravity by rows", gravity=[[0, 0, -9 - row / 5000] for row in range(2500)]),
    ask("inverse-dynamics", "chain", 2500, "payloads by rows", payload={"link": "l511", "mass": [1 + row / 5000 for row in range(2500)]}),
    ask("configuration", "chain", 0, "locked", count=1, seed=1, locked={f"j{i}": 0.1 for i in range(500)}),
    ask("inverse-dynamics", "rubbing", 100, "free", free=[f"j{i}" for i in range(MOST)], **motion("rubbing", "tau", value=0)),
    ask("inverse-dynamics", "floating", 0, "held frames", texts={"q": batch(2000, MOST + 1, "0.5")}, normalise=True, held=HELD),
    ask("inverse-dynamics", "floating", 0, "held frames within cones", texts={"q": batch(2000, MOST + 1, "0.5")}, normalise=True,
        held=[{"frame": f"l{i}", "friction_coefficient": 0.1, "normal": [i % 3, 1, i % 7]} for i in range(32)], on_error="row"),
    ask("forward-dynamics", "chain", 5000, **motion("chain", "tau")),
    ask("forward-dynamics", "loaded", 500, "friction by load", **motion("loaded", "qd", "tau")),
    ask("forward-dynamics", "rubbing", 200, "sticking", friction_at_rest="stick", **motion("rubbing", "tau")),
    ask("forward-dynamics", "chain", 500, "held frames", held=HELD, contact_damping=0.01, **motion("chain", "tau")),
    ask("forward-dynamics", "chain", 500, "rolling frames", held=ROLLING, contact_damping=0.01, **motion("chain", "tau")),
    ask("forward-dynamics", "five_bars", 1000, value="0.3", **motion("five_bars", "tau", value=0)),
    ask("impact", "chain", 500, held=HELD, **motion("chain", "qd")),
    ask("mass-matrix", "chain", 25, outputs=["inverse"]),
    ask("mass-matrix", "five_bars", 40, outputs=["mass_matrix", "inverse"]),
    ask("bias", "chain", 5000, outputs=["bias", "coriolis", "gravity", "friction"], **motion("chain", "qd")),
    ask("kinematics", "chain", 1000, frame="l500", **motion("chain", "qd", "qdd")),
    ask("kinematics", "chain", 6, "points", points=[{"link": "l500", "point": [0.1, 0.2, 0.3]}],
        outputs=["d_point_jacobians_dq"], **motion("chain", "qd", "qdd")),
    ask("energy", "chain", 5000, outputs=["kinetic", "potential", "com", "momentum"], **motion("chain", "qd")),
    ask("torque-derivative", "chain", 5000, **motion("chain", "qd", "qdd", "qddd")),
    ask("torque-derivative", "floating", 0, "held frames", texts={"q": batch(1000, MOST + 1, "0.5")}, normalise=True, held=HELD),
    ask("torque-derivative", "chain", 3, "parameters", outputs=["dtau_dot_dparameters"], **motion("chain", "qd", "qdd", "qddd")),
    ask("sensitivity", "chain", 13, **motion("chain", "qd", "qdd")),
    ask("sensitivity", "floating", 0, "held frames", texts={"q": batch(6, MOST + 1, "0.5")}, normalise=True, held=HELD),
    ask("sensitivity", "chain", 6, "joint wrenches", outputs=["d_joint_wrenches_dq"], **motion("chain", "qd", "qdd")),
    ask("sensitivity", "five_bars", 8, "loops", value="0.3", **motion("five_bars", "qd", "qdd")),
    ask("forward-sensitivity", "chain", 13, **motion("chain", "qd", "tau")),
    ask("forward-sensitivity", "chain", 3, "parameters", outputs=["dqdd_dparameters"], **motion("chain", "qd", "tau")),
    ask("gradient", "chain", 600, outputs=["gradient_q", "gradient_parameters"], **motion("chain", "qd", "qdd", "multipliers")),
    ask("gradient", "chain", 1000, "sums", outputs=["sum_parameters", "sum_gravity"], **motion("chain", "qd", "qdd", "multipliers")),
    ask("gradient", "rubbing", 50, "free", free=[f"j{i}" for i in range(MOST)], **motion("rubbing", "tau", "multipliers", value=0)),
    ask("forward-gradient", "loaded", 300, **motion("loaded", "qd", "tau", "multipliers")),
    ask("gradient", "chain", 1, "directions", texts={"directions": '{"q": ' + batch(600, MOST) + "}"}, **motion("chain", "qd", "qdd", "multipliers")),
    ask("forward-gradient", "loaded", 1, "directions", texts={"directions": '{"tau": ' + batch(150, MOST) + "}"},
        **motion("loaded", "qd", "tau", "multipliers")),
    ask("directional", "chain", 1, texts={"directions": '{"q": ' + batch(2000, MOST) + "}"}, **motion("chain", "qd", "qdd")),
    ask("forward-directional", "loaded", 1, texts={"directions": '{"tau": ' + batch(1000, MOST) + "}"}, **motion("loaded", "qd", "tau")),
    ask("rollout-gradient", "chain", 4, texts={"torques": batch(500, MOST)}, step=1e-3, cost={"qd": 1}, integrator="rk4",
        outputs=["gradient_q", "sum_parameters"]),
    ask("rollout-gradient", "chain", 1, "directions", texts={"torques": batch(20, MOST), "directions": '{"q": ' + batch(8, MOST) + "}"}, step=1e-3,
        cost={"qd": 1}, integrator="rk4", outputs=["hessian_products_q"]),
    ask("rollout-gradient", "chain", 1, "matrices", step=1e-3, outputs=["gradient_q"],
        texts={"torques": batch(20, MOST), "cost": '{"tau_weights": ' + batch(MOST, MOST) + ', "state_weights": ' + batch(2 * MOST, 2 * MOST) + "}"}),
    ask("rollout-gradient", "chain", 1, "implicit", texts={"torques": batch(9, MOST)}, step=1e-3, cost={"qd": 1},
        integrator="implicit_euler", outputs=["gradient_q"]),
    ask("hessian", "chain", 9, **motion("chain", "qd", "qdd", "multipliers")),
    ask("hessian", "tensor", 1, "tensors", outputs=["d2tau_dq_dq"], **motion("tensor", "qd", "qdd")),
    ask("forward-hessian", "chain", 9, **motion("chain", "qd", "tau", "multipliers")),
    ask("forward-hessian", "tensor", 1, "tensors", outputs=["d2qdd_dq_dq"], **motion("tensor", "qd", "tau")),
    ask("step", "chain", 1, "parameters", step=1e-3, integrator="rk4", outputs=["parameter_matrix"], **motion("chain", "qd", "tau")),
    ask("step", "chain", 6, "rk4", step=1e-3, integrator="rk4", **motion("chain", "qd", "tau")),
    ask("step", "chain", 6, "implicit", step=1e-3, integrator="implicit_euler", **motion("chain", "qd", "tau")),
    ask("step", "chain", 6, "held frames", step=1e-3, held=HELD, impact=True, **motion("chain", "qd", "tau")),
    ask("step", "five_bars", 8, "rk4", value="0.3", step=1e-3, integrator="rk4", **motion("five_bars", "tau", value=0)),
    ask("step", "rubbing", 6, "sticking", step=1e-3, friction_at_rest="stick", **motion("rubbing", "qd", "tau", value=1e-3)),
    ask("rollout", "chain", 10, texts={"torques": batch(500, MOST)}, step=1e-3, outputs=["q_after"]),
    ask("rollout", "hundred", 1, "matrices", texts={"torques": batch(170, IDENTIFIED)}, step=1e-3, integrator="rk4"),
    ask("rollout", "hundred", 1, "gains", texts={"torques": batch(170, IDENTIFIED)}, step=1e-3, cost={"tau": 1, "qd": 1}, outputs=["feed_forward"]),
    ask("rollout", "five_bars", 1, "loops", value="0.3", texts={"torques": batch(50, 2 * BARS, "0")}, step=1e-3, outputs=["q_after"]),
    ask("coriolis", "chain", 39, **motion("chain", "qd")),
    ask("coriolis", "tensor", 1, "Christoffel symbols", outputs=["christoffel"], **motion("tensor", "qd")),
    ask("regressor", "chain", 3, **motion("chain", "qd", "qdd")),
    ask("regressor", "chain", 150, "energies", outputs=["kinetic_regressor", "potential_regressor", "momentum_regressor", "joint_momentum_regressor"],
        **motion("chain", "qd")),
    ask("regressor", "hundred", 20, "base parameters", outputs=["base_regressor"], **motion("hundred", "qd", "qdd")),
    ask("task-space", "chain", 1000, frame="l500", outputs=["inertia", "bias", "ellipsoid", "condition"], **motion("chain", "qd")),
    ask("task-space", "chain", 50, "many frames", frames=[{"frame": f"l{i}"} for i in range(20, 500, 60)], damping=0.1,
        outputs=["inertia", "bias", "ellipsoid", "jacobian"], **motion("chain", "qd")),
    ask("identify", "hundred", 0, texts={name: batch(2000, IDENTIFIED) for name in ("q", "qd", "qdd", "tau")},
        friction=True, rotor=True, consistent=True),
    ask("identify", "puma560", 0, "many rows", texts={name: batch(100000, 6, value) for name, value in (
        ("q", "0.1"), ("qd", "0.2"), ("qdd", "0.3"), ("tau", "1"))}, refused=(422,)),
    ask("trajectory", "chain", 0, outputs=["dtau_dcontrol_points"], **spline("chain", 6, 9)),
    ask("trajectory", "hundred", 0, "all control points", dense=True, outputs=["dtau_dcontrol_points"], **spline("hundred", 12, 80, 5)),
    ask("trajectory", "limited", 0, "margins", outputs=["margins"], **spline("limited", 12, 3000, 5)),
    ask("path-timing", "limited", 0, kinds=["velocity"], joint_limits={"acceleration": 10, "effort": 1e9}, outputs=["duration"], **timed("limited", 12, 2000, 5)),
    ask("path-timing", "limited", 0, "jerks", kinds=["velocity"], joint_limits={"jerk": 100, "effort": 1e9}, outputs=["duration"], **timed("limited", 12, 501, 5)),
    ask("path-timing", "limited", 0, "limits of frames", kinds=["velocity"], joint_limits={"acceleration": 10, "effort": 1e9}, outputs=["duration", "dduration_dlimits"],
        frame_limits=framed("limited", speed=9, angular_speed=9, linear_acceleration=9, angular_acceleration=9), **timed("limited", 12, 2000, 5)),
    ask("path-timing", "limited", 0, "limits of frames and jerks", kinds=["velocity"], joint_limits={"jerk": 100}, outputs=["duration", "dduration_dlimits"],
        frame_limits=framed("limited", speed=9, angular_speed=9, linear_acceleration=9, angular_acceleration=9), **timed("limited", 12, 501, 5)),
    ask("path-timing", "panda", 0, "jerks of many places", kinds=["velocity"], joint_limits={"jerk": 100}, outputs=["duration"], **timed("panda", 12, 50001, 5)),
    ask("path-timing", "panda", 0, "many places", kinds=["velocity"], joint_limits={"acceleration": 10}, outputs=["duration"], **timed("panda", 12, 99999, 5)),
    ask("path-timing", "floating", 0, "held frames", kinds=["velocity"], joint_limits={"effort": 1e7, "acceleration": 10}, friction=False, outputs=["duration"],
        held=[{"frame": "base", "friction_coefficient": 0.5, "least_normal_force": 1} for _ in range(32)], **resting("floating", 12, 200, 5)),
    ask("trajectory-hessian", "tensor", 0, torque_multipliers=[same("tensor")] * 60, **spline("tensor", 4, 60)),
    ask("simulate", "chain", 1, "fixed steps", duration=90, step=1e-4, samples=2),
    ask("simulate", "hundred", 1, "stiff", duration=900, tolerance=1e-9, stiff=True, samples=2),
    ask("simulate", "chain", 1, "large and stiff", duration=900, tolerance=1e-9, stiff=True, samples=2),
    ask("simulate", "chain", 1, "adaptive", duration=900, tolerance=1e-12, samples=2),
    ask("simulate", "rubbing", 1, "friction", duration=900, step=1e-3, samples=2),
    ask("simulate", "puma560", 1, "sampled", duration=100, step=1e-3, samples=2, input={
        "controller": "computed_torque", "kp": 100, "kd": 20, "ki": 1, "period": 1e-3, "delay": 5e-3, "reference": [0] * 6}),
    ask("simulate", "chain", 1, "matrix of gains", duration=900, step=1e-3, samples=2, input={
        "controller": "state_feedback", "gain_matrix": [[0] * 2 * MOST] * MOST, "q": [0] * MOST}),
    ask("simulate", "puma560", 0, "creeping", duration=50, tolerance=1e-5, **PUMA),
    ask("simulate", "puma560", 0, "creeping and stiff", duration=50, tolerance=1e-5, stiff=True, **PUMA),
    ask("simulate", "chain", 1, "contacts", duration=900, step=1e-3, samples=2, contacts=[
        {"frame": f"l{i}", "stiffness": 1, "friction_coefficient": 0.5, "plane": {"normal": [0, 0, -1]}} for i in range(440, 504)]),
    ask("simulate", "chain", 1, "rigid contacts", value="0", qd=[-0.1] * MOST, contacts=rigid(MOST), **BOUNCING),
    ask("simulate", "floating_link", 1, "jammed by rigid contacts", value="0", contacts=jamming(), qd=[0.5, -0.4, 0.3, 0.6, -0.2, -0.9, 0.1],
        **{**BOUNCING, "q": [0, 0, 0, 0, 0, 0, 1, 0]}),
    ask("simulate", "chain", 1, "rolling", duration=900, step=1e-3, samples=2, held=ROLLING),
    ask("simulate", "five_bars", 1, "loops", value="0.3", duration=900, step=1e-3, samples=2),
    ask("ground-reaction", "floating", 0, texts={"q": batch(2000, MOST + 1, "0.5")}, normalise=True,
        feet=[{"frame": "l400"}, {"frame": "l500"}], **motion("floating", "qd", "qdd")),
    ask("inverse-kinematics", "chain", 8, frame="l511", position=[500, 4, 3], starts=1000),
    ask("inverse-kinematics", "panda", 0, "starts", frame="panda_link7", position=[5, 4, 3], starts=1000, refused=(422,)),
    ask("inverse-kinematics", "hundred", 300, "tasks", starts=1000, tasks=[
        {"frame": f"l{10 * i + 9}", "position": [90, 40, 30], "orientation": [0, 0, 0, 1], "priority": i // 3} for i in range(10)]),
    ask("inverse-kinematics", "humanoid", 0, "priorities", texts={"q": batch(200, 40)}, normalise=True, on_error="row", starts=1000, tasks=[
        {"frame": frame, "position": [1, 4, 3], "orientation": [0, 0, 0, 1], "priority": i + 1} for i, frame in enumerate(
            ("right_hand", "left_hand", "right_foot", "left_foot"))] + [{"com": [1, 0, 3], "priority": 9}]),
    ask("inverse-kinematics", "stewart", 0, "loops", texts={"q": batch(500, 6, "0.97")}, on_error="row", starts=1000, tasks=[
        {"frame": "centre", "position": [0.1, 0.2, 1.1], "priority": 1}, {"frame": "seat4", "position": [3, 4, 3], "orientation": [0, 0, 0, 1], "priority": 2}]),
    ask("differential-inverse-kinematics", "hundred", 5000, step=0.01, tasks=[
        {"frame": f"l{10 * i + 9}", "velocity": [9, 4, 3, 1, 2, 3], "priority": i // 3} for i in range(10)]),
    ask("margins", "limited", 5000, outputs=["margins"], **motion("limited", "qd", "qdd", "qddd")),
    ask("margins", "limited", 2, "derivatives", outputs=["margins", "dmargins_dq", "dmargins_dqd"], **motion("limited", "qd", "qdd", "qddd")),
    ask("path", "puma560", 0, "many rows", texts={name: batch(100000, 6) for name in ("q", "qd", "qdd", "qddd")}),
    ask("path", "chain", 2500, **motion("chain", "qd", "qdd", "qddd")),
    ask("feed-forward", "elastic", 500, higher_derivatives=[same("elastic")] * 20, **motion("elastic", "qd", "qdd", "qddd", "qdddd")),
    ask("feed-forward", "damped", 2500, "along a motion", times=[row / 1000 for row in range(2500)],
        **motion("damped", "qd", "qdd", "qddd", "qdddd")),
    ask("configuration", "chain", 0, "drawn", count=6000, seed=1),
    ask("configuration", "floating", 0, "moved", texts={"q": batch(3000, MOST + 1, "0.5")}, normalise=True, q_target=[0.5] * (MOST + 1), fraction=0.3, displacement=[0.1] * MOST,
        outputs=["integrated", "difference", "interpolated", "normalised"]),
    ask("sensors", "chain", 20, force_torque=[{"joint": f"j{i}"} for i in range(100)], inertial=[f"l{i}" for i in range(100)],
        **motion("chain", "qd", "qdd")),
    ask("external-wrench", "chain", 60, frame="l511", noise=0.1, **motion("chain", "qd", "qdd", "tau")),
    ask("external-wrench", "chain", 0, "observer", texts={name: batch(30, MOST) for name in ("q", "qd", "tau")}, gain=10, step=0.01),
    ask("evaluate", "chain", 5000, operations=EVERYTHING, **motion("chain", "qd", "qdd", "tau")),
    ask("evaluate", "five_bars", 1000, "loops", value="0.3", operations=EVERYTHING, **motion("five_bars", "qd", "qdd", "tau")),
    read("numbers of JSON", "application/json", b'{"q":[', b"0,", 30_000_000, b"0]}"),
    read("CBOR of short rows", "application/cbor", b"\xa1\x61q\x9a#", b"\x81\x00", 12_000_000),
    read("a CBOR string of small parts", "application/cbor", b"\xa1\x61q\x7f", b"\x60", 15_000_000, b"\xff"),
    read("a CBOR array by columns", "application/cbor", b"\xa1\x61q\xd9\x04\x10\x82\x82\x1a#\x01\xd8\x40\x5a#", b"\x01", 30_000_000),
    read("integers of MessagePack", "application/vnd.msgpack", b"\x81\xa1q\xdd#", b"\x00", 30_000_000),
    put("put", "chain"),
    put("put", "five_bars"),
    put("put", "URDF", lambda: urdf(MOST), "application/xml"),
    put("put", "MJCF", lambda: mjcf(MOST), "application/xml"),
    put("put", "SDF", lambda: sdf(MOST), "application/xml"),
    get("/v1/models/{model}", "five_bars"), get("/v1/models/{model}/document", "chain"),
    get("/v1/models/{model}/export/{format}", "chain"),
    get("/v1/models"),
    Row("DELETE", "/v1/models/{model}", "put", refused=(404,)),
    get("/"), get("/docs"), get("/assets/{file}", refused=(404,)), get("/favicon.ico"), get("/THIRD_PARTY.txt"), get("/v1"),
    get("/document"), get("/document.css"), get("/document.schema.json"), get("/clients"), get("/clients/{file}", refused=(404,)),
    get("/livez"), get("/readyz"), get("/metrics"), get("/openapi.json"), get("/problems/{code}", refused=(404,)),
]
