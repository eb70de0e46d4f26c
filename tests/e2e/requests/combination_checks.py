"""Compares the answer of each operation with the dynamics that multibody.py computes, with finite differences of those dynamics, or with the
answers of other operations.

`t.near(name, given, expected, tolerance)` compares the rows that do not fail, relative to the largest expected entry."""
import numpy as np
from combination_differences import DIFFERENCE, along, exact, held, hybrid, near_loads, registry, rows_of, tau_of, three
from combination_requests import IMPACT, TASK, bearing, efforts, holding, request_of
from combinations import HELD
from multibody import apply
from multibody_state import AXES
from scipy.spatial.transform import Rotation

CHECKS, check = registry()


@check("inverse-dynamics")
def inverse_dynamics(t, case, answer):
    if case.has("held"):
        return held_inverse_dynamics(t, case, answer)
    tau, qdd = hybrid(case, case.state(), case.qdd, efforts(case))
    t.near("tau", case.taken(answer, "tau", "v"), tau, exact(case))
    if case.has("free"):
        t.near("qdd", case.taken(answer, "qdd", "v"), qdd, 10 * exact(case))


def chosen(case, state, qdd):
    """Returns tau, and the contact efforts l along the held axes: those of least norm that balance the efforts of the coordinates U, which have
    no actuator."""
    J, _ = state.held_rows(bearing(case))
    T, U = state.transmitted(qdd), list(range(6 if case.has("floating") else 0))
    if case.has("elastic"):
        U.append(case.names.index("elbow"))
    l = apply(np.linalg.pinv(np.swapaxes(J, 1, 2)[:, U]), (T + state.resisted())[:, U])
    T = T - apply(np.swapaxes(J, 1, 2), l)
    tau = T + state.resisted() + state.load() * np.abs(T)
    tau[:, U] = 0
    return tau, l


def held_inverse_dynamics(t, case, answer):
    tau, l = chosen(case, case.state(), holding(case))
    t.near("tau", case.taken(answer, "tau", "v"), tau, 1e2 * exact(case))
    wrenches, first = case.taken(answer, "contact_wrenches"), 0
    for i, entry in enumerate(bearing(case)):
        axes = [AXES.index(axis) for axis in entry.get("axes", AXES)]
        t.near("wrench", wrenches[:, i, axes], l[:, first:first + len(axes)], 1e2 * exact(case))
        first += len(axes)


@check("forward-dynamics")
def forward_dynamics(t, case, answer):
    t.near("qdd", case.taken(answer, "qdd", "v"), case.state().qdd(efforts(case), held(case)), 1e3 * exact(case))


@check("impact")
def impact(t, case, answer):
    """Checks the equations of impact with velocities v after it: M (v - qd) = J^T p and J v = 0."""
    state, v = case.state(), case.taken(answer, "qd_after", "v")
    J, _ = state.held_rows(HELD if case.has("held") else IMPACT)
    M = state.mass_matrix()
    p = np.linalg.solve(J @ np.linalg.solve(M, np.swapaxes(J, 1, 2)), apply(J, case.qd)[..., None])
    t.near("qd_after", v, case.qd - np.linalg.solve(M, np.swapaxes(J, 1, 2) @ p)[..., 0], 1e3 * exact(case))


@check("mass-matrix")
def mass_matrix(t, case, answer):
    M = case.state().mass_matrix()
    t.near("mass_matrix", case.taken(answer, "mass_matrix", "vv"), M, exact(case))
    t.near("inverse", case.taken(answer, "inverse", "vv"), np.linalg.inv(M), 1e2 * exact(case))


@check("bias")
def bias(t, case, answer):
    state, zero = case.state(), np.zeros_like(case.qd)
    total = state.tau(zero)
    t.near("bias", case.taken(answer, "bias", "v"), total, exact(case))
    parts = sum(case.taken(answer, name, "v") for name in ("coriolis", "gravity", "friction"))
    if not case.has("wrenches"):
        t.near("parts", parts + passive_springs(case, state), total, exact(case))
    still = case.state(qd=zero)
    t.near("gravity", case.taken(answer, "gravity", "v"),
           still.transmitted(zero, False, springs=False) - still.transmitted(zero, False, springs=False, gravity=[0, 0, 0]), exact(case))


def passive_springs(case, state):
    """Returns the efforts of springs, which the outputs gravity, coriolis and friction leave out."""
    zero = np.zeros_like(case.qd)
    return state.transmitted(zero, False) - state.transmitted(zero, False, springs=False)


@check("kinematics")
def kinematics(t, case, answer):
    R, p, J, drift = case.state().frame("tool")
    pose = answer["poses"]["tool"]
    x, y, z, w = np.moveaxis(case.taken(pose, "orientation"), -1, 0)
    t.near("position", case.taken(pose, "position"), p, exact(case))
    t.near("axis x", np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)], -1), R[:, :, 0], exact(case))
    t.near("axis z", np.stack([2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)], -1), R[:, :, 2], exact(case))
    t.near("jacobian", case.taken(answer, "jacobian", ".v"), J, exact(case))
    t.near("drift", apply(case.taken(answer, "jacobian_dot", ".v"), case.qd), drift, exact(case))
    t.near("velocity", case.taken(answer, "velocity"), apply(J, case.qd), exact(case))
    t.near("acceleration", case.taken(answer, "acceleration"), apply(J, case.qdd) + drift, exact(case))


@check("energy")
def energy(t, case, answer):
    state = case.state()
    kinetic, potential = state.energies()
    mass, com, velocity, momentum = state.momentum()
    for name, value in (("kinetic", kinetic), ("potential", potential), ("mass", np.full(case.rows, mass)), ("com", com),
                        ("com_velocity", velocity), ("momentum", momentum), ("centroidal_inertia", state.centroidal_inertia())):
        t.near(name, case.taken(answer, name), value, exact(case))
    t.near("momentum_matrix", apply(case.taken(answer, "momentum_matrix", ".v"), case.qd), momentum, exact(case))


@check("sensitivity")
def sensitivity(t, case, answer):
    if case.has("held"):
        return held_sensitivity(t, case, answer)
    many = lambda x, n: rows_of(x, n)
    tau = efforts(case)
    f = lambda q, qd, qdd: tau_of(case, q, qd, qdd, many(tau, len(q) // case.rows))[0]
    for name, expected in zip(("dtau_dq", "dtau_dqd", "dtau_dqdd"), three(case, f, case.qdd)):
        t.near(name, case.taken(answer, name, "vv"), expected, DIFFERENCE)
    near_loads(t, case, answer, ("dtau_dparameters", "dtau_dwrench"), lambda: tau_of(case, case.q, case.qd, case.qdd, tau)[0])
    if case.has("free"):
        g = lambda q, qd, qdd: tau_of(case, q, qd, qdd, many(tau, len(q) // case.rows))[1]
        for name, expected in zip(("dqdd_dq", "dqdd_dqd", "dqdd_dqdd"), three(case, g, case.qdd)):
            t.near(name, case.taken(answer, name, "vv"), expected, DIFFERENCE)
        return
    state, size = case.state(), 1e-2
    shifted = lambda k, h: state.tau(case.qdd, gravity=case.robot.gravity + h * np.eye(3)[k])
    by_gravity = np.stack([along(lambda h, k=k: shifted(k, h), size) for k in range(3)], -1)
    t.near("dtau_dgravity", case.taken(answer, "dtau_dgravity", "v."), by_gravity, DIFFERENCE)


def held_sensitivity(t, case, answer):
    qdd = holding(case)
    f = lambda q, qd, qdd: chosen(case, case.state(q, qd), qdd)[0]
    for name, expected in zip(("dtau_dq", "dtau_dqd", "dtau_dqdd"), three(case, f, qdd)):
        t.near(name, case.taken(answer, name, "vv"), expected, DIFFERENCE)
    near_loads(t, case, answer, ("dtau_dparameters", "dtau_dwrench"), lambda: f(case.q, case.qd, qdd))


@check("forward-sensitivity")
def forward_sensitivity(t, case, answer):
    f = lambda q, qd, tau: case.state(q, qd).qdd(tau, held(case))
    tau = efforts(case)
    for name, expected in zip(("dqdd_dq", "dqdd_dqd", "dqdd_dtau"), three(case, f, tau)):
        t.near(name, case.taken(answer, name, "vv"), expected, DIFFERENCE)
    near_loads(t, case, answer, ("dqdd_dparameters", "dqdd_dwrench"), lambda: f(case.q, case.qd, tau))


def near_products(t, case, answer, operation, pairs):
    """Compares gradients with the multipliers times the derivative matrices that the server answers to the same request."""
    request = {**case.around(), **request_of(operation, case), "outputs": [matrix for _, matrix in pairs]}
    request.pop("multipliers", None), request.pop("on_error", None)
    given = t.ask_model(operation, request)
    rows = lambda value: np.array(value if case.rows > 1 else [value])
    multipliers = case.axis(case.multipliers, "v")  # all arrays have the request's order of coordinates
    for name, matrix in pairs:
        D = rows(given[matrix])
        size = np.einsum("ri,rij->rj", abs(multipliers), abs(D)).max()
        error = rows(answer[name]) - np.einsum("ri,rij->rj", multipliers, D)
        t.less(name, abs(error).max() / max(size, 1e-3), 1e-12 if operation == "sensitivity" else 1e-9)


@check("gradient")
def gradient(t, case, answer):
    if case.has("failing"):
        return
    near_products(t, case, answer, "sensitivity", [
        (f"gradient_{x}", f"dtau_d{x}") for x in ("q", "qd", "qdd", "parameters", "gravity")])


@check("forward-gradient")
def forward_gradient(t, case, answer):
    if case.has("failing"):
        return
    near_products(t, case, answer, "forward-sensitivity", [
        (f"gradient_{x}", f"dqdd_d{x}") for x in ("q", "qd", "tau", "parameters")])


def near_rates(t, case, answer, operation, matrices, value):
    """Compares the rates along given directions with the server's derivative matrices, for the same request, times those directions."""
    if case.has("failing"):
        return
    own = request_of({"sensitivity": "directional", "forward-sensitivity": "forward-directional"}[operation], case)
    request = {**case.around(), **own, "outputs": [*matrices.values(), value]}
    along = {part: np.array(x if case.rows > 1 else [x]) for part, x in request.pop("directions").items()}
    request.pop("on_error", None)
    given = t.ask_model(operation, request)
    rows = lambda x: np.array(x if case.rows > 1 else [x])
    terms = [np.einsum("rij,rkj->rki", rows(given[matrix]), along[part]) for part, matrix in matrices.items()]
    size = sum(abs(term).max() for term in terms)
    t.less("rates", abs(rows(answer["rates"]) - sum(terms)).max() / max(size, 1e-3), 1e-12 if operation == "sensitivity" else 1e-9)


@check("directional")
def directional(t, case, answer):
    near_rates(t, case, answer, "sensitivity", {"q": "dtau_dq", "qd": "dtau_dqd", "qdd": "dtau_dqdd"}, "tau")


@check("forward-directional")
def forward_directional(t, case, answer):
    near_rates(t, case, answer, "forward-sensitivity", {"q": "dqdd_dq", "qd": "dqdd_dqd", "tau": "dqdd_dtau"}, "qdd")


def second_differences(t, case, operation, first, third, x):
    """Contracts the server's first derivatives with the multipliers, and returns their finite differences by q, qd and x (qdd or tau)."""
    multipliers = case.multipliers
    request = case.around() | {"outputs": first}
    request.pop("on_error", None)

    def gradients(q, qd, x):
        # one request holds the shifted states of all rows
        answer = t.ask_model(operation, {**request, "q": case.axis(q, "q").tolist(), "qd": case.axis(qd, "v").tolist(),
                                              third: case.axis(x, "v").tolist()})
        many = rows_of(multipliers, len(q) // case.rows)
        parts = [np.einsum("ri,rij->rj", many, t.matrix(answer[name])) for name in first]
        return np.stack(parts, 1)
    return three(case, gradients, x)


@check("hessian")
def hessian(t, case, answer):
    by_q, by_qd, _ = second_differences(t, case, "sensitivity", ["dtau_dq", "dtau_dqd", "dtau_dqdd"], "qdd", case.qdd)
    by_x = second_differences(t, case, "sensitivity", ["dtau_dq"], "qdd", case.qdd)[2][:, 0]
    for name, expected in (("hessian_q_q", by_q[:, 0]), ("hessian_q_qd", by_qd[:, 0]), ("hessian_q_qdd", by_x), ("hessian_qd_qd", by_qd[:, 1])):
        t.near(name, case.taken(answer, name, "vv"), expected, DIFFERENCE)


@check("forward-hessian")
def forward_hessian(t, case, answer):
    by_q, by_qd, by_tau = second_differences(t, case, "forward-sensitivity", ["dqdd_dq", "dqdd_dqd"], "tau", efforts(case))
    for name, expected in (("hessian_q_q", by_q[:, 0]), ("hessian_q_qd", by_qd[:, 0]), ("hessian_qd_qd", by_qd[:, 1]), ("hessian_q_tau", by_tau[:, 0])):
        t.near(name, case.taken(answer, name, "vv"), expected, DIFFERENCE)


@check("coriolis")
def coriolis(t, case, answer):
    """Checks that C qd is the Coriolis vector, and that M' = C + C^T."""
    state, C, zero = case.state(), case.taken(answer, "coriolis_matrix", "vv"), np.zeros_like(case.qd)
    without, case.robot.wrenches = case.robot.wrenches, []
    vector = state.transmitted(zero, False, gravity=[0, 0, 0], springs=False)
    case.robot.wrenches = without
    t.near("C qd", apply(C, case.qd), vector, exact(case))
    rate = along(lambda x: case.state(case.robot.moved(case.q, x * case.qd), case.qd).mass_matrix())
    t.near("C + C^T", C + np.swapaxes(C, 1, 2), rate, DIFFERENCE)
    t.near("christoffel", case.taken(answer, "christoffel", "vvv") @ case.qd[:, None, :, None], C[..., None], exact(case))


@check("regressor")
def regressor(t, case, answer):
    """Checks that the regressor times the inertial parameters is the effort of the bodies, without springs, rotors and
    friction."""
    state = case.state()
    Y = case.taken(answer, "regressor", "v.")
    parameters = np.array([own for name in t.bodies for own in state.parameters(name)])
    a, accelerations = state.accelerations(case.qdd)
    full = np.zeros_like(state.u)
    full[:, :case.robot.tree.nv] = state.forces(accelerations, case.robot.gravity)
    t.near("regressor", Y @ parameters, apply(np.swapaxes(state.G, 1, 2), full @ case.robot.B), exact(case))
    energy_regressors(t, case, answer, parameters)


def energy_regressors(t, case, answer, parameters):
    """Checks the energies of the bodies, without those of springs and rotors, and the momentum about the origin."""
    state = case.state()
    kinetic, potential = state.energies()
    _, com, _, momentum = state.momentum()
    momentum[:, 3:] += np.cross(com, momentum[:, :3])
    t.near("kinetic", case.taken(answer, "kinetic_regressor", ".") @ parameters, kinetic - state.rotor_energy(), exact(case))
    t.near("potential", case.taken(answer, "potential_regressor", ".") @ parameters, potential - state.springs()[1], exact(case))
    t.near("momentum", case.taken(answer, "momentum_regressor", "..") @ parameters, momentum, exact(case))


@check("task-space")
def task_space(t, case, answer):
    state, zero = case.state(), np.zeros_like(case.qd)
    J, drift = state.held_rows([TASK])
    back = np.linalg.solve(state.mass_matrix(), np.swapaxes(J, 1, 2))
    inertia = np.linalg.inv(J @ back)
    turned = back @ inertia
    t.near("jacobian", case.taken(answer, "jacobian", ".v"), J, exact(case))
    t.near("jacobian_dot_qd", case.taken(answer, "jacobian_dot_qd"), drift, exact(case))
    t.near("inertia", case.taken(answer, "inertia"), inertia, 1e2 * exact(case))
    t.near("jacobian_inverse", np.swapaxes(case.taken(answer, "jacobian_inverse", "v."), 1, 2), np.swapaxes(turned, 1, 2), 1e2 * exact(case))
    bias = apply(np.swapaxes(turned, 1, 2), state.tau(zero)) - apply(inertia, drift)
    t.near("bias", case.taken(answer, "bias"), bias, 1e2 * exact(case))


@check("ground-reaction")
def ground_reaction(t, case, answer):
    """Checks that the resultant ground reaction about the world's origin is the wrench that the base's motion requires, and that the wrenches of
    the feet add up to this resultant."""
    state = case.state()
    R = state.poses[0][0]
    effort = state.tau(case.qdd)[:, :6]
    force, moment = apply(R, effort[:, :3]), apply(R, effort[:, 3:])
    resultant = np.concatenate([force, moment + np.cross(case.q[:, :3], force)], 1)
    t.near("resultant", case.taken(answer, "resultant"), resultant, exact(case))
    feet = case.taken(answer, "foot_wrenches")
    places = [state.frame(name)[1] for name in ("left", "right")]
    total = sum(np.concatenate([feet[:, i, :3], feet[:, i, 3:] + np.cross(places[i], feet[:, i, :3])], 1) for i in range(2))
    t.near("feet", total, resultant, exact(case))
    t.near("base", case.taken(answer, "tau", "v")[:, :6] + np.abs(resultant).max(), np.full((case.rows, 6), np.abs(resultant).max()), exact(case))


@check("inverse-kinematics")
def inverse_kinematics(t, case, answer):
    q, qd = case.taken(answer, "q", "q"), case.taken(answer, "qd", "v")
    q, qd = (np.where(np.isnan(x), y, x) for x, y in ((q, case.q), (qd, case.qd)))
    goal, there = case.state(), case.state(q, qd)
    t.near("position", there.frame("tool")[1], goal.frame("tool")[1], 1e-8)
    t.near("velocity", there.tree_rates("tool")[:, :3], goal.tree_rates("tool")[:, :3], 1e-7)


@check("differential-inverse-kinematics")
def differential_inverse_kinematics(t, case, answer):
    qd = case.taken(answer, "qd", "v")
    qd = np.where(np.isnan(qd), case.qd, qd)
    t.near("velocity", case.state(case.q, qd).tree_rates("tool")[:, :3], case.state().tree_rates("tool")[:, :3], 1e-7)


@check("configuration")
def configuration(t, case, answer):
    """Checks the result of `configuration`: sums for joints of one coordinate, and for quaternions the rotation at a constant velocity over
    one unit of time."""
    first, base = (7, 6) if case.floating else (0, 0)
    after, unit = case.taken(answer, "integrated", "q"), case.taken(answer, "normalised", "q")
    t.near("joints", after[:, first:], case.q[:, first:] + case.qd[:, base:], 1e-14)
    t.near("normalised", unit[:, first:], case.q[:, first:], 1e-14)
    if case.floating:
        t.near("rotation", (Rotation.from_quat(case.q[:, 3:7]) * Rotation.from_rotvec(case.qd[:, 3:6])).as_matrix(),
               Rotation.from_quat(np.where(np.isnan(after[:, 3:7]), 0.5, after[:, 3:7])).as_matrix(), 1e-13)


@check("sensors")
def sensors(t, case, answer):
    R, _, J, drift = case.state().frame("tool")
    motion, back = apply(J, case.qdd) + drift, np.swapaxes(R, 1, 2)
    t.near("force", case.taken(answer, "specific_forces")[:, 0], apply(back, motion[:, :3] - case.robot.gravity), exact(case))
    t.near("rate", case.taken(answer, "angular_velocities")[:, 0], apply(back, apply(J, case.qd)[:, 3:]), exact(case))


@check("external-wrench")
def external_wrench(t, case, answer):
    tau = case.state().tau(case.qdd)
    t.near("tau", case.taken(answer, "tau_external", "v") + np.abs(tau).max(), tau - efforts(case) + np.abs(tau).max(), exact(case))


@check("evaluate")
def evaluate(t, case, answer):
    """Checks that each operation inside `evaluate` answers the same bits as a request for this operation only."""
    request = request_of("evaluate", case)
    for name, options in request["operations"].items():
        fields = {"inverse-dynamics": ("q", "qd", "qdd", "tau"), "bias": ("q", "qd"), "kinematics": ("q", "qd", "qdd"),
                  "energy": ("q", "qd"), "mass-matrix": ("q",)}[name]
        around = ("payload", "wrenches", "joints", "on_error") if name in ("inverse-dynamics", "bias") else (
            ("joints", "on_error") if name == "kinematics" else ("payload", "joints", "on_error"))
        alone = t.ask_model(name, {**{k: v for k, v in request.items() if k in fields + around}, **options})
        t.same(name, answer[name], {k: v for k, v in alone.items() if k != "errors"})
