"""A path q(s), 0 <= s <= 1, and the coefficients of its torques as functions of s, from the server's operation `path`."""
import json
import os

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline, make_interp_spline

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "paths.json")
ROWS = 1001             # rows of the table of coefficients; interpolation between rows is accurate to about 1e-9
NAMES = ("tau_a", "tau_b", "tau_c", "tau_d")
RATES = tuple(f"d{name}_ds" for name in NAMES)


def named(name):
    """The path of that name in paths.json: its model, and q(s) as the spline of degree 5 through its points."""
    with open(FILE, encoding="utf-8") as file:
        paths = json.load(file)
    if name not in paths:
        raise ValueError(f"there is no path {name}; known are {', '.join(paths)}")
    return paths[name]["model"], make_interp_spline(paths[name]["s"], paths[name]["q"], k=5)


def rows(spline, s):
    """The fields of a request of `path` for these s."""
    return {name: spline(s, nu=order) for order, name in enumerate(("q", "qd", "qdd", "qddd"))}


def motion(spline, s, v, u, j):
    """q with its derivatives by time, where s has these derivatives v, u and j."""
    first, second, third = (spline(s, nu=order) for order in (1, 2, 3))
    v, u, j = (x[:, None] for x in (v, u, j))
    return {"q": spline(s), "qd": first * v, "qdd": second * v ** 2 + first * u,
            "qddd": third * v ** 3 + 3 * second * v * u + first * j}


class Polynomials:
    """Computes from the coefficients of an answer torques and their rates, with their derivatives by s and the derivatives
    v, u, j of s by time."""

    def __init__(self, grid, answer):
        self.values = [CubicHermiteSpline(grid, answer[name], answer[rate]) for name, rate in zip(NAMES, RATES)]
        self.rates = [CubicSpline(grid, answer[rate]) for rate in RATES]

    def torque(self, s, v, u):
        """tau, n x nv, and its derivatives by s, v, u."""
        v, u = v[:, None], u[:, None]
        a, b, c, d = (value(s) for value in self.values)
        da, db, dc, dd = (rate(s) for rate in self.rates)
        return a * u + b * v ** 2 + d * v + c, (da * u + db * v ** 2 + dd * v + dc, 2 * b * v + d, a)

    def rate(self, s, v, u, j):
        """The rate of tau, n x nv, and its derivatives by s, v, u, j."""
        v, u, j = v[:, None], u[:, None], j[:, None]
        a, b, _, d = (value(s) for value in self.values)
        da, db, dc, dd = (rate(s) for rate in self.rates)
        d2a, d2b, d2c, d2d = (rate(s, nu=1) for rate in self.rates)
        mixed, d_mixed = da + 2 * b, d2a + 2 * db
        value = a * j + mixed * v * u + db * v ** 3 + d * u + dd * v ** 2 + dc * v
        return value, (da * j + d_mixed * v * u + d2b * v ** 3 + dd * u + d2d * v ** 2 + d2c * v,
                       mixed * u + 3 * db * v ** 2 + 2 * dd * v + dc, mixed * v + d, a)


class Coefficients:
    """tau and its rate, with their derivatives by s and the derivatives v, u, j of s by time. Where friction depends on the
    load, tau = P + g |T|: P is the polynomial, T the torque without friction, g the loads times the signs of dq/ds."""

    def __init__(self, service, model, spline):
        grid = np.linspace(0, 1, ROWS)
        request = {**rows(spline, grid), "outputs": [*NAMES, *RATES, "smooth_friction"]}
        answer = service.ask(model, "path", request)
        if any(term["velocity"] or term["positive"] or term["negative"] for term in answer["smooth_friction"]):
            raise ValueError(f"{model} has smooth friction, which is no polynomial: it is not planned for here")
        names = service.models[model].description["velocity_names"]
        self.loads = np.array([sum(term["load"] for term in answer["smooth_friction"] if term["joint"] == name) for name in names])
        self.slope, self.whole, self.rigid = spline.derivative(), Polynomials(grid, answer), None
        if self.loads.any():
            self.rigid = Polynomials(grid, service.ask(model, "path", {**request, "friction": False}))

    def _add(self, s, T, whole, rigid):
        """P + g |T| or its rate, and the derivatives, with those of P and of T."""
        g = self.loads * np.sign(self.slope(s)) * np.sign(T)
        return whole[0] + g * rigid[0], tuple(p + g * t for p, t in zip(whole[1], rigid[1]))

    def torque(self, s, v, u):
        """tau, n x nv, and its derivatives by s, v, u."""
        whole = self.whole.torque(s, v, u)
        if not self.rigid:
            return whole
        rigid = self.rigid.torque(s, v, u)
        return self._add(s, rigid[0], whole, rigid)

    def rate(self, s, v, u, j):
        """The rate of tau, n x nv, and its derivatives by s, v, u, j. The rate jumps where T changes its sign."""
        whole = self.whole.rate(s, v, u, j)
        return self._add(s, self.rigid.torque(s, v, u)[0], whole, self.rigid.rate(s, v, u, j)) if self.rigid else whole
