"""Tests api/clients/planner/path_minimum_time.py: the timings that it writes keep the limits of torques and torque
rates at instants that the program did not use, and are nearly as fast as the optimum of tests/bench/path_reference.py."""
import json
import os
import sys

import numpy as np
import tap
from client_programs import ClientPrograms, folder_of
from harness import ServerCase
from samples import body
from scipy.interpolate import make_interp_spline

FOLDER = folder_of("planner")
sys.path.append(FOLDER)
from geometry import Coefficients, motion  # noqa: E402
from service import Service  # noqa: E402

OPTIMA = 0.480995, 0.537235  # optimal durations in s, without and with limits of torque rates, by tests/bench/path_reference.py
INTERVALS = 24
BETWEEN = 37  # number of instants in an interval, coprime to the program's number so that the instants differ


def along(timing, shares):
    """Returns s and its time derivatives from the Taylor polynomials of the intervals."""
    nodes, highest, T = np.array(timing["nodes"]), np.array(timing["highest"]), timing["duration"]
    order, h = nodes.shape[1], 1 / len(highest)
    x = shares * h
    slope = (highest[:, 1] - highest[:, 0]) / h
    factorials = np.array([1, 1, 2, 6, 24])[:order + 2]
    polynomials = [np.polynomial.Polynomial(np.array([*node, w, rise]) / factorials)
                   for node, (w, _), rise in zip(nodes[:-1], highest, slope)]
    return [np.concatenate([(p.deriv(r) if r else p)(x) for p in polynomials]) / T ** r for r in range(4)]


class PathTiming(ClientPrograms, ServerCase):
    client_folder = "planner"

    def test_limits_and_optimum(self):
        self.run_program("path_minimum_time.py", "--path", "ur5_pick", "--intervals", str(INTERVALS), "--output", "plot.svg",
                         "--motion", "motion.json")
        self.picture("plot.svg")
        found = self.read_json("motion.json")
        with open(os.path.join(FOLDER, "paths.json"), encoding="utf-8") as file:
            path = json.load(file)["ur5_pick"]
        spline = make_interp_spline(path["s"], path["q"], k=5)
        effort = np.array([150, 150, 150, 28, 28, 28])
        for timing, optimum, rates in zip(found, OPTIMA, (False, True)):
            s, v, u, j = along(timing, np.linspace(0, 1, BETWEEN))
            self.assertLess(np.abs(np.array(timing["nodes"][0])).max(), 1e-9)
            self.assertLess(np.abs(np.array(timing["nodes"][-1]) - [1, *[0] * (len(timing["nodes"][0]) - 1)]).max(), 1e-9)
            self.assertLess(np.abs(np.diff(s)).max(), 0.1)
            q1, q2, q3 = (spline(np.clip(s, 0, 1), nu=r) for r in (1, 2, 3))
            v, u, j = (x[:, None] for x in (v, u, j))
            answer = self.ask("ur5", "torque-derivative", {
                "q": spline(np.clip(s, 0, 1)).tolist(), "qd": (q1 * v).tolist(), "qdd": (q2 * v ** 2 + q1 * u).tolist(),
                "qddd": (q3 * v ** 3 + 3 * q2 * v * u + q1 * j).tolist()})
            self.assertLess((np.abs(answer["tau"]) / effort).max(), 1 + 1e-6)
            if rates:
                self.assertLess((np.abs(answer["tau_dot"]) / (20 * effort)).max(), 1 + 1e-6)
            self.assertLess(timing["duration"], 1.01 * optimum)
            self.assertGreater(timing["duration"], 0.999 * optimum)

    def test_friction_of_the_load(self):
        """With load friction, the program's torques and rates are the server's, and their derivatives by s, v, u and j
        agree with differences."""
        joint = lambda name, axis, load: {"name": name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.2, 0, -0.3]},
                                          "friction": {"viscous": 0.3, "coulomb": {"positive": 1, "negative": 2}, "load": load}}
        self.put_model("loaded", {"links": [
            {"name": "upper", "parent": "base", "inertial": body(4, (0.2, 0, -0.1)), "joint": joint("a", [0, 0, 1], 0.2)},
            {"name": "fore", "parent": "upper", "inertial": body(2, (0.1, 0, -0.2)), "joint": joint("b", [0, 1, 0], 0.1)},
            {"name": "hand", "parent": "fore", "inertial": body(1, (0.1, 0, 0)), "joint": joint("c", [0.6, 0.8, 0], 0)}]})
        spline = make_interp_spline(np.linspace(0, 1, 6), np.cumsum([[0.2, -0.3, 0.4]] * 6, 0) * [[1 + 0.1 * i] for i in range(6)], k=5)
        service = Service(self.server.url())
        service.model("loaded")
        found, choose = Coefficients(service, "loaded", spline), np.random.default_rng(1)
        s, v, u, j = choose.uniform(0, 1, 50), choose.uniform(0.5, 2, 50), choose.uniform(-5, 5, 50), choose.uniform(-9, 9, 50)
        moving = {name: x.tolist() for name, x in motion(spline, s, v, u, j).items()}
        answer = self.ask("loaded", "torque-derivative", moving)
        tau, by = found.torque(s, v, u)
        rate, rate_by = found.rate(s, v, u, j)
        self.assertClose(tau.tolist(), answer["tau"], 1e-8)
        self.assertClose(rate.tolist(), answer["tau_dot"], 1e-7)
        h, at = 1e-5, [s, v, u, j]
        for i in range(4):
            forth, back = ([x + d if k == i else x for k, x in enumerate(at)] for d in (h, -h))
            if i < 3:
                difference = (found.torque(*forth[:3])[0] - found.torque(*back[:3])[0]) / (2 * h)
                self.assertLess(np.median(np.abs(by[i] - difference)), 1e-5)
            difference = (found.rate(*forth)[0] - found.rate(*back)[0]) / (2 * h)
            self.assertLess(np.median(np.abs(rate_by[i] - difference)), 1e-4)

    def test_errors(self):
        self.check_refusals(
            "path_minimum_time.py", (["--path", "nowhere"], 1, "there is no path nowhere"),
            (["--intervals", "1"], 2, "expected at least 4"),
            (["--output", "plot.pdf"], 2, "expected a name that ends"))


if __name__ == "__main__":
    tap.main()
