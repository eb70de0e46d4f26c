"""Differentiates the reference (multibody.py) at the states of a combination by central differences of order 4."""
import numpy as np
from combinations import HELD

EXACT, CLOSED, DIFFERENCE = 1e-10, 1e-8, 2e-6
H = 1e-3


def registry():
    """Returns an empty dictionary {operation: check function}, and a decorator that adds a function to this dictionary."""
    checks = {}

    def check(name):
        def register(function):
            checks[name] = function
            return function
        return register
    return checks, check


def exact(case):
    """Returns the relative tolerance; the tolerance is wider with loops, for which the reference computes rates by finite differences."""
    return CLOSED if case.has("loop") else EXACT


def held(case):
    return HELD if case.has("held") else []


def hybrid(case, state, qdd, tau):
    """Returns efforts and accelerations of hybrid dynamics: given are the efforts of free coordinates and the accelerations of driven
    coordinates."""
    if not case.has("free"):
        return state.tau(qdd), qdd
    f = np.flatnonzero(case.loose)
    rest = np.atleast_2d(tau) - state.resisted()
    T = rest / (1 + state.load() * np.sign(rest))
    given = np.where(case.loose, 0, qdd)
    h = state.transmitted(given)
    M = state.mass_matrix()
    solved = given.copy()
    solved[:, f] = np.linalg.solve(M[:, f][:, :, f], (T - h)[:, f, None])[..., 0]
    return state.tau(solved), solved


def columns(case, function, by):
    """Returns the derivatives of function(shift) by each velocity of the model, as differences. `shift` has shape [4 nv
    rows, nv]."""
    directions = np.eye(case.nv)
    shifts = np.concatenate([np.tile(d * e, (case.rows, 1)) for e in directions for d in (H, -H, 2 * H, -2 * H)])
    values = function(shifts, 4 * case.nv)
    values = values.reshape(case.nv, 4, case.rows, *values.shape[1:])
    slopes = (8 * (values[:, 0] - values[:, 1]) - (values[:, 2] - values[:, 3])) / (12 * H)
    return np.moveaxis(slopes, 0, -1)


def rows_of(values, n):
    return np.tile(values, (n,) + (1,) * (np.ndim(values) - 1))


def tau_of(case, q, qd, qdd, tau=None):
    return hybrid(case, case.state(q, qd), qdd, tau)


def three(case, function, third):
    """Returns the differences of function(q, qd, x) by q, qd and x, where x is qdd or tau."""
    q, qd = case.q, case.qd
    many = lambda n: (rows_of(q, n), rows_of(qd, n), rows_of(third, n))
    by_q = columns(case, lambda s, n: function(case.robot.moved(many(n)[0], s), *many(n)[1:]), "q")
    by_qd = columns(case, lambda s, n: function(many(n)[0], many(n)[1] + s, many(n)[2]), "qd")
    by_x = columns(case, lambda s, n: function(*many(n)[:2], many(n)[2] + s), "x")
    return by_q, by_qd, by_x


def along(function, h=H):
    """Returns the derivative of function(t) at t = 0."""
    return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h)


def in_motion(case, q, qd, qdd, qddd):
    """Returns a function of t: positions, velocities and accelerations at time t of the motion with jerk qddd."""
    return lambda t: (case.robot.moved(q, t * qd + t * t / 2 * qdd), qd + t * qdd + t * t / 2 * qddd, qdd + t * qddd)


def by_mass(case, function):
    """Returns the derivative of `function` by the mass of a point mass at the origin of the link `hand`."""
    def at(mass):
        case.robot.payloads.append((case.robot.place("hand")[0], np.zeros(3), mass, np.zeros((3, 3))))
        value = function()
        case.robot.payloads.pop()
        return value
    return along(at)


def by_force(case, function):
    """Returns the derivatives by the three components of the first wrench's force; the last axis of the array numbers the components."""
    link, point, R, force, *rest = own = case.robot.wrenches[0]

    def at(change):
        case.robot.wrenches[0] = (link, point, R, force + change, *rest)
        value = function()
        case.robot.wrenches[0] = own
        return value
    return np.stack([along(lambda h, e=e: at(h * e)) for e in np.eye(3)], -1)


def near_loads(t, case, answer, names, function):
    """Compares two outputs with differences: derivatives by inertial parameters and derivatives by wrenches. `names` are the names of these two
    outputs."""
    column = 10 * t.bodies.index("hand")
    t.near(names[0], case.taken(answer, names[0], "v.")[..., column], by_mass(case, function), DIFFERENCE)
    if case.has("wrenches"):
        t.near(names[1], case.taken(answer, names[1], "v.")[:, 0, :, :3], by_force(case, function), DIFFERENCE)


def rate_of(case, move):
    """Returns d tau / dt along a motion. The time step is a tenth of H, since light joints change their rates quickly."""
    return along(lambda x: case.state(*move(x)[:2]).tau(move(x)[2]), H / 10)
