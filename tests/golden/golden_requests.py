"""Makes the requests of the golden answers: states of bundled robots from a stated generator, the same on every machine.

Numbers come from SplitMix64 (Steele, Lea & Flood 2014), whose seed is the SHA-256 of the request's label. Quaternions are normalised
by square root and division, which IEEE 754 rounds correctly, so no library decides a digit."""
import hashlib
import math

EACH = 20  # number of requests of each operation
ARMS = ("puma560", "panda", "two_link", "ur5", "stanford", "tx40", "kuka_iiwa7", "three_link", "prismatic_revolute")
ROBOTS = (*ARMS, "solo12", "allegro_hand", "humanoid", "gait55")
LOADS = "gravity payload wrenches friction"
# Fields of the state, loads that some requests have, and robots. A new operation must be listed here or in LEFT_OUT (golden.py).
OPERATIONS = {
    "inverse-dynamics": ("qd qdd", LOADS, ROBOTS),
    "forward-dynamics": ("qd tau", LOADS, ROBOTS),
    "mass-matrix": ("", "payload", ROBOTS),
    "bias": ("qd", LOADS, ROBOTS),
    "kinematics": ("qd qdd qddd frame", "", ROBOTS),
    "energy": ("qd", "gravity payload", ROBOTS),
    "torque-derivative": ("qd qdd qddd", LOADS, ROBOTS),
    "sensitivity": ("qd qdd", LOADS, ROBOTS),
    "forward-sensitivity": ("qd tau", LOADS, ROBOTS),
    "gradient": ("qd qdd multipliers", LOADS, ROBOTS),
    "forward-gradient": ("qd tau multipliers", LOADS, ROBOTS),
    "directional": ("qd qdd directions", LOADS, ROBOTS),
    "forward-directional": ("qd tau forward_directions", LOADS, ROBOTS),
    "hessian": ("qd qdd multipliers", LOADS, ARMS),
    "forward-hessian": ("qd tau multipliers", LOADS, ARMS),
    "step": ("qd tau step any_integrator", LOADS, ROBOTS),
    "rollout": ("qd torques step integrator", LOADS, ARMS),
    "rollout-gradient": ("qd torques step integrator multipliers_q", LOADS, ARMS),
    "coriolis": ("qd", "payload", ARMS),
    "regressor": ("qd qdd", "gravity", ROBOTS),
    "trajectory": ("spline", LOADS, ARMS),
    "trajectory-hessian": ("spline torque_multipliers", LOADS, ARMS),
    "simulate": ("qd motion", "gravity payload", ARMS),
    "margins": ("qd qdd qddd", LOADS, ("ur5", "panda", "kuka_iiwa7", "allegro_hand")),
    "path": ("qd qdd qddd", LOADS, ARMS),
    "configuration": ("q_target fraction", "", ROBOTS),
    "sensors": ("qd qdd force_torque", LOADS, ("panda", "ur5", "humanoid")),
    "path-timing": ("straight_path", "gravity payload", ("ur5", "kuka_iiwa7")),
    "feed-forward": ("qd qdd qddd qdddd", "gravity", ("hua",)),
    "evaluate": ("qd qdd operations", LOADS, ROBOTS),
}
LEFT_OUT = {
    "identify": "least squares by LAPACK", "inverse-kinematics": "steps by LAPACK", "differential-inverse-kinematics": "steps by LAPACK", "task-space": "ellipsoid and condition by LAPACK",
    "external-wrench": "least squares by LAPACK",
    "ground-reaction": "support wrenches by LAPACK", "impact": "held frames take LAPACK where a residual is too large",
}
INTEGRATORS = "explicit_euler", "semi_implicit_euler", "rk4", "implicit_euler"
NODES, POINTS, SAMPLES = 3, 5, 4


class Draw:
    """Numbers of one request."""

    def __init__(self, label):
        self.state = int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "little")

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def number(self, size=2.0):
        """Returns a multiple of 2^-52 size from -size to size; `size` is a power of two."""
        return ((self.word() >> 11) * 2.0**-52 - 1) * size

    def numbers(self, count, size=2.0):
        return [self.number(size) for _ in range(count)]


def positions(draw, names):
    """Draws positions; the four entries of a quaternion, named .qx to .qw, are normalised."""
    q = draw.numbers(len(names))
    for i, name in enumerate(names):
        if name.endswith(".qx"):
            norm = math.sqrt(sum(x * x for x in q[i:i + 4]))
            q[i:i + 4] = [x / norm for x in q[i:i + 4]]
    return q


def field(draw, name, nv, model):
    """Returns the fields that a request gets for one of the names of fields and loads in OPERATIONS."""
    rows = lambda count, size=2.0: [draw.numbers(nv, size) for _ in range(count)]
    link = model["links"][-1]
    return {
        "frame": lambda: {"frame": model["frames"][-1]["name"]},
        "step": lambda: {"step": 1 / 1024},
        "integrator": lambda: {"integrator": INTEGRATORS[draw.word() % 3]},
        "any_integrator": lambda: {"integrator": INTEGRATORS[draw.word() % 4]},
        "torques": lambda: {"torques": rows(NODES)},
        "multipliers_q": lambda: {"multipliers_q": rows(NODES)},
        "spline": lambda: {"degree": 3, "duration": 1.25, "samples": SAMPLES, "control_points": rows(POINTS, 0.5)},
        "torque_multipliers": lambda: {"torque_multipliers": rows(SAMPLES)},
        "q_target": lambda: {"q_target": positions(draw, model["position_names"])},
        "fraction": lambda: {"fraction": 0.375},
        "directions": lambda: {"directions": {"q": rows(2), "qd": rows(2), "qdd": rows(2)}},
        "forward_directions": lambda: {"directions": {"q": rows(2), "qd": rows(2), "tau": rows(2)}},
        "force_torque": lambda: {"force_torque": [{"frame": link}]},
        "straight_path": lambda: {"degree": 1, "control_points": rows(2, 0.5), "samples": SAMPLES, "joint_limits": {"acceleration": 8}},
        "motion": lambda: {"duration": 1 / 32, "step": 1 / 256, "integrator": "rk4", "samples": 3},
        "operations": lambda: {"operations": {"bias": {}, "mass-matrix": {}, "energy": {}, "inverse-dynamics": {}}},
        "gravity": lambda: {"gravity": draw.numbers(3, 8.0)},
        "payload": lambda: {"payload": {"link": link, "mass": 1 + abs(draw.number()), "com": draw.numbers(3, 0.125)}},
        "wrenches": lambda: {"wrenches": [{"link": link, "force": draw.numbers(3, 16.0), "torque": draw.numbers(3)}]},
        "friction": lambda: {"friction": False},
    }.get(name, lambda: {name: draw.numbers(nv)})()


def request(label, model):
    """Returns the request of a label, "operation robot number", without its outputs. `model`: its description."""
    operation, _, number = label.split()
    state, loads, _ = OPERATIONS[operation]
    draw, made = Draw(label), {}
    if "spline" not in state and "straight_path" not in state:
        made["q"] = positions(draw, model["position_names"])
    for name in state.split():
        made.update(field(draw, name, model["nv"], model))
    for place, name in enumerate(loads.split()):
        if (int(number) + place) % 3 == 0:
            made.update(field(draw, name, model["nv"], model))
    return made


def labels():
    """Yields the labels of all requests."""
    for operation, (_, _, robots) in OPERATIONS.items():
        for number in range(EACH):
            yield f"{operation} {robots[number % len(robots)]} {number}"
