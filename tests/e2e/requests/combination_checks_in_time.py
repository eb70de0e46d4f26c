"""Compares the answers of operations that step in time (step, rollout, simulate, trajectory, identify) or contain rates (tau_dot, margins, path,
feed-forward) with multibody.py, as combination_checks.py does for operations on one instant."""
import numpy as np
from combination_checks import chosen
from combination_differences import DIFFERENCE, EXACT, H, along, exact, held, hybrid, in_motion, rate_of, registry, three
from combination_requests import (NODES, SAMPLES, STEP, control_points, efforts, holding, holding_jerk, request_of, start,
                                  torque_multipliers, torques)
from multibody import apply

CHECKS, check = registry()


@check("torque-derivative")
def torque_derivative(t, case, answer):
    if case.has("held"):
        move = in_motion(case, case.q, case.qd, holding(case), holding_jerk(case))
        rate = along(lambda x: chosen(case, case.state(*move(x)[:2]), move(x)[2])[0], H / 10)
        return t.near("tau_dot", case.taken(answer, "tau_dot", "v"), rate, DIFFERENCE)
    tau, qdd = hybrid(case, case.state(), case.qdd, efforts(case))
    t.near("tau", case.taken(answer, "tau", "v"), tau, exact(case))
    move = in_motion(case, case.q, case.qd, qdd, case.qddd)
    if case.has("free"):
        move = in_motion(case, case.q, case.qd, *(np.nan_to_num(case.taken(answer, name, "v")) for name in ("qdd", "qddd")))
    t.near("tau_dot", case.taken(answer, "tau_dot", "v"), rate_of(case, move), DIFFERENCE)


@check("step")
def step(t, case, answer):
    """Compares a step of semi-implicit Euler and the derivatives of its velocities. The step of the positions is linear
    in the velocities, so their derivatives need no check."""
    f = lambda q, qd, tau: qd + STEP * case.state(q, qd).qdd(tau, held(case))
    after, tau = f(case.q, case.qd, efforts(case)), efforts(case)
    t.near("qd_after", case.taken(answer, "qd_after", "v"), after, 1e2 * exact(case))
    moved = case.robot.moved(case.q, STEP * after)
    t.near("q_after", case.taken(answer, "q_after", "q")[:, case.nq - case.nv:], moved[:, case.nq - case.nv:], 1e2 * exact(case))
    A, B = case.taken(answer, "state_matrix", "xx"), case.taken(answer, "input_matrix", "xv")
    by_q, by_qd, by_tau = three(case, f, tau)
    n = case.nv
    for name, given, expected in (("by q", A[:, n:, :n], by_q), ("by qd", A[:, n:, n:], by_qd), ("by tau", B[:, n:], by_tau)):
        t.near(name, given, expected, DIFFERENCE)


@check("rollout")
def rollout(t, case, answer):
    """Checks that every node of a rollout has the bits that the operation `step` answers for the state of the node before."""
    for row in case.good():
        take = lambda name: (answer[name] if case.rows == 1 else answer[name][row])
        at = {name: value if case.rows == 1 else value[row] for name, value in request_of("step", case).items() if name in ("q", "qd")}
        for node in range(NODES):
            at["tau"] = case.axis(torques(case)[row, node], "v").tolist()
            request = {**{k: v for k, v in case.around().items() if k != "on_error"}, **at, "step": STEP}
            if node and case.has("loop"):
                # a rollout follows the loops from this node's passive coordinates; `step` would follow them from the reference
                break
            one = t.ask_model("step", request)
            for name in ("q_after", "qd_after", "state_matrix", "input_matrix"):
                t.same(f"{name} of node {node}", take(name)[node], one[name])
            at.update(q=one["q_after"], qd=one["qd_after"])


@check("rollout-gradient")
def rollout_gradient(t, case, answer):
    """Compares the gradient with products of the matrices that `rollout` answers, multiplied from the last node back to the first."""
    if case.has("failing"):
        return
    request = {**case.around(), **request_of("rollout", case)}
    request.pop("on_error", None)
    nodes = t.ask_model("rollout", request)
    for row in range(case.rows):
        of = lambda name, given: np.array(given[name] if case.rows == 1 else given[name][row])
        m = case.axis(case.multipliers, "v")[row]
        by_x = np.concatenate([0 * m, -0.5 * m])
        for node in reversed(range(NODES)):
            by_x[:case.nv] += m * (1 + node)
            expected = by_x @ of("input_matrix", nodes)[node]
            t.less("gradient_torques", abs(of("gradient_torques", answer)[node] - expected).max() / max(abs(expected).max(), 1e-3), 1e-9)
            by_x = by_x @ of("state_matrix", nodes)[node]
        got = np.concatenate([of("gradient_q", answer), of("gradient_qd", answer)])
        t.less("gradient by the state", abs(got - by_x).max() / max(abs(by_x).max(), 1e-3), 1e-9)
        for name in ("q_after", "qd_after"):
            t.same(name, of(name, answer).tolist(), of(name, nodes)[-1].tolist())
        e = np.concatenate([m, 2 * m])    # only the first direction is compared
        for node in range(NODES):
            e = of("state_matrix", nodes)[node] @ e + of("input_matrix", nodes)[node] @ (m * (1 + node))
            got = np.concatenate([of("rates_q", answer)[0][node], of("rates_qd", answer)[0][node]])
            t.less("rates of the states", abs(got - e).max() / max(abs(e).max(), 1e-3), 1e-9)


@check("identify")
def identify(t, case, answer):
    """Checks that identify fits torques of the reference up to rounding errors."""
    t.less("residual", answer["residual"], 1e-6)


@check("trajectory")
def trajectory(t, case, answer):
    rows, n = case.rows, SAMPLES
    q, qd, qdd, qddd, tau, rate = (case.taken(answer, name, kind).reshape(rows * n, -1) for name, kind in (
        ("q", ".q"), ("qd", ".v"), ("qdd", ".v"), ("qddd", ".v"), ("tau", ".v"), ("tau_dot", ".v")))
    bad = np.isnan(tau[:, 0])
    q, qd, qdd, qddd = (np.where(bad[:, None], y, x) for x, y in ((q, case.q[0]), (qd, 1.0), (qdd, 1.0), (qddd, 1.0)))
    # In a spline no row is at rest. Rows with a velocity near zero are left out: Coulomb friction would jump within a
    # difference.
    t.near_rows("tau", tau, case.state(q, qd).tau(qdd), exact(case), ~bad)
    move = in_motion(case, q, qd, qdd, qddd)
    steady = ~bad & (np.abs(qd) > 3e-2).all(1)
    t.near_rows("tau_dot", rate, rate_of(case, move), DIFFERENCE, steady)
    if case.has("failing"):
        return
    gradient = case.taken(answer, "dtau_dcontrol_points", "v.v")
    direction = np.random.default_rng(31).uniform(-1, 1, control_points(case).shape)
    ask = lambda h: t.trajectory_tau(control_points(case) + h * direction)
    t.near("dtau_dcontrol_points", np.einsum("rnikj,rkj->rni", gradient, direction), along(ask, 1e-4), 1e-5)


@check("path-timing")
def path_timing(t, case, answer):
    """Compares the torques at the samples between the two ends, where all joints move, with inverse dynamics of the answered motion."""
    rows, n = case.rows, SAMPLES
    q, qd, qdd, tau = (case.taken(answer, name, kind).reshape(rows, n, -1)[:, 1:-1].reshape(rows * (n - 2), -1) for name, kind in (
        ("q", ".q"), ("qd", ".v"), ("qdd", ".v"), ("tau", ".v")))
    bad = np.isnan(tau[:, 0])
    q, qd, qdd = (np.where(bad[:, None], y, x) for x, y in ((q, case.q[0]), (qd, 1.0), (qdd, 1.0)))
    t.near_rows("tau", tau, case.state(q, qd).tau(qdd), 1e2 * exact(case), ~bad)


@check("trajectory-hessian")
def trajectory_hessian(t, case, answer):
    if case.has("failing"):
        return
    H4 = case.taken(answer, "hessian_control_points", "v.v")
    direction = np.random.default_rng(37).uniform(-1, 1, control_points(case).shape)
    ask = lambda h: t.trajectory_gradient(control_points(case) + h * direction, torque_multipliers(case))
    t.near("hessian", np.einsum("rkilj,rlj->rki", H4, direction), along(ask, 1e-4), 1e-5)


@check("simulate")
def simulate(t, case, answer):
    """Compares the final state with two steps of the classical Runge-Kutta method, with accelerations by the reference multibody.py."""
    tau = efforts(case)
    a = lambda q, qd: case.state(q, qd).qdd(tau, held(case))
    q, qd, h = case.q, start(case), 1e-3
    for _ in range(2):
        k1 = a(q, qd)
        k2 = a(case.robot.moved(q, h / 2 * qd), qd + h / 2 * k1)
        k3 = a(case.robot.moved(q, h / 2 * (qd + h / 2 * k1)), qd + h / 2 * k2)
        k4 = a(case.robot.moved(q, h * (qd + h / 2 * k2)), qd + h * k3)
        q, qd = case.robot.moved(q, h * (qd + h / 6 * (k1 + k2 + k3))), qd + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    t.near("qd", case.taken(answer, "qd", ".v")[:, -1], qd, 1e-6)
    t.near("q", case.taken(answer, "q", ".q")[:, -1], q, 1e-6)


@check("margins")
def margins(t, case, answer):
    """Compares margins with the reference. The effort of an elastic joint is that of its motor; positions and velocities of mimics and passive
    joints are those of the tree's joints."""
    state, motion, names = case.state(), in_motion(case, case.q, case.qd, case.qdd, case.qddd), case.names
    efforts_of = {"effort": state.tau(case.qdd), "effort_rate": rate_of(case, motion)}
    given = case.taken(answer, "margins")
    for i, limit in enumerate(answer["limits"]):
        joint = case.robot.tree.joints[case.robot.index[limit["joint"]]]
        if limit["kind"] == "position":
            x = state.positions[:, joint.q.start]
        elif limit["kind"] == "velocity":
            x = state.u[:, joint.v.start]
        elif joint.name in names:
            x = efforts_of[limit["kind"]][:, names.index(joint.name + ".motor" if joint.name + ".motor" in names else joint.name)]
        else:
            continue
        t.near(f"{limit}", given[:, i], np.minimum(x - limit["lower"], limit["upper"] - x), DIFFERENCE, least=1)


@check("path")
def path(t, case, answer):
    """Checks that tau = b s'^2 + d s' + c at several speeds s' along the path. Joints whose friction is no polynomial
    of the speed are left out."""
    a, b, c, d = (case.taken(answer, f"tau_{name}", "v") for name in "abcd")
    state = case.state()
    t.near("tau_a", a, apply(state.mass_matrix(), case.qd), exact(case))
    if answer["smooth_friction"] or case.has("load"):
        names = {one["joint"] for one in answer["smooth_friction"]}
        keep = np.array([name not in names for name in case.names])
    else:
        keep = np.ones(case.nv, bool)
    for speed in (1, 2, 0.5):
        expected = case.state(qd=speed * case.qd).tau(speed * speed * case.qdd)
        t.near(f"tau at {speed}", (speed * speed * b + speed * d + c)[:, keep], expected[:, keep], exact(case))


@check("feed-forward")
def feed_forward(t, case, answer):
    q, qd, qdd, tau = (case.taken(answer, name, kind) for name, kind in (("q", "q"), ("qd", "v"), ("qdd", "v"), ("tau", "v")))
    q, qd, qdd = (np.where(np.isnan(x), y, x) for x, y in ((q, case.q), (qd, case.qd), (qdd, case.qdd)))
    joints = case.robot.n_joints
    t.near("joints", qdd[:, :joints], case.qdd[:, :joints], EXACT)
    expected = case.state(q, qd).tau(qdd)
    t.near("tau", tau, expected, EXACT * 10, least=10)
    if case.has("elastic"):
        t.near("link side", tau[:, [case.names.index("elbow")]] + 1, np.ones((case.rows, 1)), EXACT)
