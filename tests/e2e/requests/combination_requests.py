"""Builds a request of each operation for a combination of features (combinations.py). A request selects all outputs that the test compares. A
feature adds its fields to the request even if the operation refuses these fields."""
import numpy as np
from combinations import HELD
from multibody import apply

STEP = 0.004
TASK = {"frame": "tool", "axes": ["z", "x"]}
STANDING = [{"frame": "tool"}, {"frame": "fore", "axes": ["rz"], "reference": "frame"}]
IMPACT = [{"frame": "tool", "axes": ["y"]}]
NODES, POINTS, SAMPLES, DEGREE, DURATION = 3, 5, 4, 3, 1.3
IDENTIFIED = 90  # number of states for identify
ENERGY_REGRESSORS = ["kinetic_regressor", "potential_regressor", "momentum_regressor"]
OPERATIONS = {}


def operation(name):
    def register(make):
        OPERATIONS[name] = make
        return make
    return register


def state(case, *names):
    made = {"q": case.positions_field()}
    for name in names:
        values = {"qd": case.qd, "qdd": case.qdd, "qddd": case.qddd, "qdddd": case.qdddd, "multipliers": case.multipliers}[name]
        if name in ("qdd", "qddd") and case.has("free"):
            values = np.where(case.loose, 0, values)
        made[name] = case.field(values)
    return made


def efforts(case):
    """Returns the efforts of a motion near that of the case, so that accelerations stay small. If the case has free coordinates, the efforts of
    all other coordinates are zero."""
    if not hasattr(case, "drawn_efforts"):
        tau = case.state().tau(case.other)
        case.drawn_efforts = np.where(case.loose, tau, 0) if case.has("free") else tau
    return case.drawn_efforts


def loose(case):
    return {"tau": case.field(efforts(case))} if case.has("free") else {}


def wrench(case, output):
    return [output] if case.has("wrenches") else []


def bearing(case):
    """Returns the frames that inverse dynamics holds in a case. If the base floats, the contact wrenches of these frames can balance any effort
    at the base."""
    return STANDING if case.has("floating") else HELD


def holding(case):
    """Returns the accelerations nearest to the case's random ones at which the frames of `bearing` do not accelerate along their held axes."""
    if not case.has("held") or case.has("free"):
        return case.qdd
    J, drift = case.state().held_rows(bearing(case))
    return case.qdd - apply(np.linalg.pinv(J), apply(J, case.qdd) + drift)


def holding_jerk(case):
    """Returns the jerks nearest to the case's random ones at which the accelerations of the held frames stay constant."""
    if not case.has("held") or case.has("free"):
        return case.qddd
    qdd = holding(case)

    def velocities(t):
        J, drift = case.state(case.robot.moved(case.q, t * case.qd + t * t / 2 * qdd), case.qd + t * qdd).held_rows(bearing(case))
        return apply(J, qdd) + drift
    h = 1e-3
    drift = (8 * (velocities(h) - velocities(-h)) - (velocities(2 * h) - velocities(-2 * h))) / (12 * h)
    J, _ = case.state().held_rows(bearing(case))
    return case.qddd - apply(np.linalg.pinv(J), apply(J, case.qddd) + drift)


def held_state(case, *names):
    """Returns the state of a motion that holds the frames of a case with the feature `held`."""
    made = state(case, *names)
    for name, values in (("qdd", holding), ("qddd", holding_jerk)):
        if name in names and case.has("held") and not case.has("free"):
            made[name] = case.field(values(case))
    return made


@operation("inverse-dynamics")
def inverse_dynamics(case):
    return {**held_state(case, "qd", "qdd"), **loose(case)}


@operation("forward-dynamics")
def forward_dynamics(case):
    return {**state(case, "qd"), "tau": case.field(efforts(case))}


@operation("impact")
def impact(case):
    return {**state(case, "qd"), "held": IMPACT}


@operation("mass-matrix")
def mass_matrix(case):
    return {**state(case), "outputs": ["mass_matrix", "inverse"]}


@operation("bias")
def bias(case):
    return {**state(case, "qd"), "outputs": ["bias", "coriolis", "gravity", "friction"]}


@operation("kinematics")
def kinematics(case):
    return {**state(case, "qd", "qdd"), "frame": "tool", "outputs": ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration"]}


@operation("energy")
def energy(case):
    return {**state(case, "qd"), "outputs": ["kinetic", "potential", "mass", "com", "com_velocity", "momentum", "momentum_matrix",
                                             "centroidal_inertia"]}


@operation("torque-derivative")
def torque_derivative(case):
    return {**held_state(case, "qd", "qdd", "qddd"), **loose(case)}


@operation("sensitivity")
def sensitivity(case):
    more = ["qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dqdd", "dqdd_dtau"] if case.has("free") else []
    return {**held_state(case, "qd", "qdd"), **loose(case), "outputs": [
        "tau", "dtau_dq", "dtau_dqd", "dtau_dqdd", "dtau_dgravity", "dtau_dparameters", *wrench(case, "dtau_dwrench"), *more]}


@operation("forward-sensitivity")
def forward_sensitivity(case):
    return {**forward_dynamics(case), "outputs": ["qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dqdd_dparameters",
                                                  *wrench(case, "dqdd_dwrench")]}


@operation("gradient")
def gradient(case):
    more = ["qdd", "gradient_tau"] if case.has("free") else []
    along = {} if case.has("free") else {"directions": directions(case, "q", "qd", "qdd")}
    products = ["hessian_products_q", "hessian_products_qd", "hessian_products_qdd", "rates"] if along else []
    return {**state(case, "qd", "qdd", "multipliers"), **loose(case), **along, "outputs": [
        "gradient_q", "gradient_qd", "gradient_qdd", "tau", "gradient_parameters", "gradient_gravity",
        *wrench(case, "gradient_wrenches"), *more, *products, "gradient_q_entries", "gradient_friction"]}


@operation("forward-gradient")
def forward_gradient(case):
    return {**state(case, "qd", "multipliers"), "tau": case.field(efforts(case)), "directions": directions(case, "q", "qd", "tau"), "outputs": [
        "gradient_q", "gradient_qd", "gradient_tau", "qdd", "gradient_parameters", "gradient_gravity", *wrench(case, "gradient_wrenches"),
        "hessian_products_q", "hessian_products_qd", "hessian_products_tau", "rates", "gradient_q_entries", "gradient_friction"]}


def directions(case, *parts):
    """Two different directions of each part, made of the multipliers."""
    return {part: case.field(np.stack([case.multipliers * (1 + i), np.roll(case.multipliers, 1 + i, 1) * (0.625 + i)], 1)) for i, part in enumerate(parts)}


@operation("directional")
def directional(case):
    return {**state(case, "qd", "qdd"), "directions": directions(case, "q", "qd", "qdd"), "outputs": ["rates", "tau"]}


@operation("forward-directional")
def forward_directional(case):
    return {**state(case, "qd"), "tau": case.field(efforts(case)), "directions": directions(case, "q", "qd", "tau"),
            "outputs": ["rates", "qdd"]}


@operation("rollout-gradient")
def rollout_gradient(case):
    multipliers = np.stack([case.multipliers * (1 + node) for node in range(NODES)], 1)
    return {**state(case, "qd"), "torques": case.field(torques(case)), "step": STEP, "multipliers_q": case.field(multipliers),
            "multipliers_qd": case.field(-0.5 * multipliers[:, :1]),
            "directions": {**directions(case, "q", "qd"), "torques": case.field(np.stack([multipliers, -0.25 * multipliers], 1))}, "outputs": [
                "gradient_torques", "gradient_q", "gradient_qd", "q_after", "qd_after", *wrench(case, "gradient_wrenches"),
                "hessian_products_torques", "hessian_products_q", "hessian_products_qd", "rates_q", "rates_qd"]}


@operation("hessian")
def hessian(case):
    return state(case, "qd", "qdd", "multipliers")


@operation("forward-hessian")
def forward_hessian(case):
    return {**state(case, "qd", "multipliers"), "tau": case.field(efforts(case))}


@operation("step")
def step(case):
    return {**forward_dynamics(case), "step": STEP}


@operation("rollout")
def rollout(case):
    return {**state(case, "qd"), "torques": case.field(torques(case)), "step": STEP}


def torques(case):
    """Returns different efforts at every node."""
    return np.stack([efforts(case) * (1 + 0.13 * node) for node in range(NODES)], 1)


@operation("coriolis")
def coriolis(case):
    return {**state(case, "qd"), "outputs": ["coriolis_matrix", "christoffel"]}


@operation("regressor")
def regressor(case):
    return {**state(case, "qd", "qdd"), "outputs": ["regressor", *ENERGY_REGRESSORS]}


@operation("task-space")
def task_space(case):
    return {**state(case, "qd"), **TASK, "outputs": ["inertia", "jacobian", "jacobian_dot_qd", "jacobian_inverse", "bias"]}


@operation("identify")
def identify(case):
    """Draws states of its own, since `identify` needs a batch of states also where the case has a single state."""
    choose = np.random.default_rng(17)
    rows, case.rows = case.rows, IDENTIFIED
    q, motion = case.positions(choose), choose.uniform(-2, 2, (2, IDENTIFIED, case.nv))
    tau = case.state(q, motion[0]).tau(motion[1])
    made = {"q": case.field(q, "q"), "qd": case.field(motion[0]), "qdd": case.field(motion[1]), "tau": case.field(tau)}
    case.rows = rows
    return made


def control_points(case):
    """Draws control points near the positions of the case; a floating base has a position and a rotation vector."""
    choose = np.random.default_rng(23)
    first = 6 if case.floating else 0
    start = np.concatenate([choose.uniform(-0.5, 0.5, (case.rows, first)), case.q[:, case.nq - case.nv + first:]], 1)
    points = start[:, None] + 0.4 * choose.uniform(-1, 1, (case.rows, POINTS, case.nv))
    if case.has("failing"):
        points[1, :, first] = 1e12
    return points


def spline(case):
    return {"degree": DEGREE, "duration": DURATION, "samples": SAMPLES, "control_points": case.field(control_points(case))}


@operation("trajectory")
def trajectory(case):
    more = {"input": {"tau": case.field(efforts(case))}} if case.has("free") else {}
    return {**spline(case), **more, "dense": True,
            "outputs": ["q", "qd", "qdd", "qddd", "tau", "tau_dot", "dtau_dcontrol_points", "dtau_dduration"]}


@operation("trajectory-hessian")
def trajectory_hessian(case):
    return {**spline(case), "torque_multipliers": case.field(torque_multipliers(case))}


@operation("path-timing")
def path_timing(case):
    def vary(limit):
        return limit * (1 + 0.1 * abs(float(case.multipliers[0, 0])))

    slopes = [] if case.has("held") else ["dduration_dlimits"]
    return {"degree": DEGREE, "samples": SAMPLES, "control_points": case.field(control_points(case)),
            "joint_limits": {"velocity": 2 + abs(float(case.multipliers[0, 0])), "acceleration": 5 + abs(float(case.multipliers[0, -1]))}, "kinds": ["velocity"],
            "frame_limits": [{"frame": "tool", "speed": vary(1.5), "angular_speed": vary(4), "linear_acceleration": vary(6), "angular_acceleration": vary(30)}],
            "outputs": ["times", "q", "qd", "qdd", "tau", "duration", *slopes]}


def torque_multipliers(case):
    return np.random.default_rng(29).uniform(-2, 2, (case.rows, SAMPLES, case.nv))


def start(case):
    """Returns the velocities after the impact of the held frames, at which these frames are at rest along the held
    axes."""
    if not case.has("held"):
        return case.qd
    now = case.state()
    J, M = now.held_rows(HELD)[0], now.mass_matrix()
    back = np.linalg.solve(M, np.swapaxes(J, 1, 2))
    return case.qd - apply(back @ np.linalg.inv(J @ back) @ J, case.qd)


@operation("simulate")
def simulate(case):
    return {**state(case), "qd": case.field(start(case)), "duration": 2e-3, "step": 1e-3, "samples": 2, "input": {"tau": case.field(efforts(case))},
            "outputs": ["q", "qd", "kinetic", "potential"]}


@operation("ground-reaction")
def ground_reaction(case):
    return {**state(case, "qd", "qdd"), "feet": [{"frame": "left"}, {"frame": "right"}] if case.floating else [{"frame": "tool"}]}


@operation("inverse-kinematics")
def inverse_kinematics(case):
    """The goal is the pose of the frame at the case's positions; the search starts 0.07 rad or m away from these positions."""
    tool = case.state().frame("tool")
    goal, velocity = tool[1], case.state().tree_rates("tool")
    near = case.q.copy()
    near[:, case.nq - case.nv + (6 if case.floating else 0):] += 0.07
    if case.has("failing"):
        goal = goal + 100 * (np.arange(case.rows) == 1)[:, None]
    plain = lambda x: (x[0] if case.rows == 1 else x).tolist()
    return {"q": case.field(near, "q"), "frame": "tool", "position": plain(goal), "velocity": plain(velocity[:, :3])}


@operation("differential-inverse-kinematics")
def differential_inverse_kinematics(case):
    """The goal is the velocity that the frame has at the case's velocities; no limits are set."""
    velocity = case.state().tree_rates("tool")[:, :3]
    return {**state(case), "step": 1e-3, "kinds": ["position"], "tasks": [{"frame": "tool", "velocity": (velocity[0] if case.rows == 1 else velocity).tolist()}]}


@operation("margins")
def margins(case):
    kinds = {"kinds": ["position", "velocity", "effort"]} if case.floating else {}
    return {**state(case, "qd", "qdd", "qddd"), **kinds, "outputs": ["limits", "margins", "dmargins_dq", "dmargins_dqd", "dmargins_dqdd", "dmargins_dqddd"]}


@operation("path")
def path(case):
    return state(case, "qd", "qdd", "qddd")


@operation("feed-forward")
def feed_forward(case):
    given = {"motor_positions": "given"} if case.has("damped") else {}
    return {**state(case, "qd", "qdd", "qddd", "qdddd"), **given}


@operation("configuration")
def configuration(case):
    return {**state(case), "displacement": case.field(case.qd), "outputs": ["integrated", "normalised"]}


@operation("sensors")
def sensors(case):
    return {**state(case, "qd", "qdd"), "inertial": ["tool"]}


@operation("external-wrench")
def external_wrench(case):
    return {**state(case, "qd", "qdd"), "tau": case.field(efforts(case))}


@operation("evaluate")
def evaluate(case):
    free = {"free": case.free} if case.has("free") else {}
    return {**state(case, "qd", "qdd", "qddd"), **loose(case), "operations": {
        "inverse-dynamics": free, "bias": {}, "kinematics": {"frames": ["tool"]}, "energy": {}, "mass-matrix": {}}}


# Features without which the server refuses the operation in any case.
NEEDED = {"ground-reaction": ("floating",)}
# Features whose fields stand in the options of each operation inside the request, not at the top level where the state is.
INSIDE = {"evaluate": {"free", "held"}}


def request_of(name, case):
    made = OPERATIONS[name](case)
    around = {key: value for key, value in case.around().items() if key not in INSIDE.get(name, ())}
    if name in ("inverse-dynamics", "torque-derivative", "sensitivity") and "held" in around:
        around["held"] = bearing(case)
    return {**made, **around}
