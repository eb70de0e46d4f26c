"""Tests path-timing with limits of jerks and effort rates on splines whose derivatives jump or bend at knots, and on few places:
no limit is exceeded between the places, nor at either side of a knot."""
import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy.interpolate import BSpline

PARTS, FINE = 5, 40  # parts of an interval, and of a part
JERK, ACCELERATION, RATE = 60, 7, 90
SIDE = 1e-9  # distance in r from a knot at which one of its sides is looked at
POINTS = [[0.3, -0.5], [0.9, 0.2], [-0.4, 0.8], [0.7, -0.3], [1.1, 0.6], [0.2, 0.9], [-0.6, 0.1], [0.5, -0.7]]


def grading(r):
    return (10 * r ** 3 - 15 * r ** 4 + 6 * r ** 5, 30 * r ** 2 * (1 - r) ** 2, 60 * r * (1 - r) * (1 - 2 * r), 60 * (1 - 6 * r * (1 - r)))


class TimingAtKnots(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        joint = lambda name, axis, xyz: {"name": name, "type": "revolute", "axis": axis, "origin": {"xyz": xyz}}
        answer = cls.client.put("/v1/models/arm", {"links": [
            {"name": "upper", "parent": "base", "inertial": body(1.7, (0.02, 0.01, 0.2)), "joint": joint("shoulder", [0.2, 0.9, 0.1], [0, 0, 0.3])},
            {"name": "fore", "parent": "upper", "inertial": body(0.8, (0.03, -0.02, 0.15)), "joint": joint("elbow", [0.9, 0.3, -0.2], [0.05, 0.02, 0.4])}]})
        assert answer.status == 201, answer

    def motion(self, found, spline, knots, intervals):
        """Returns q to qddd of the answer on a grid FINE times finer than its places, and at both sides of knots, from the cubic
        polynomials of (dr/dt)² in each interval."""
        places, states = intervals * PARTS, []
        at = np.arange(places + 1) / places
        with np.errstate(divide="ignore", invalid="ignore"):
            square = (np.array(found["sd"]) / grading(at)[1]) ** 2
        fine = np.linspace(0, 1, 100001)
        sides = np.interp(knots, grading(fine)[0], fine)
        for i in range(intervals):
            inner = np.array([n for n in range(i * PARTS, (i + 1) * PARTS + 1) if 0 < n < places])
            x = np.polynomial.Polynomial.fit(inner * intervals / places - i, square[inner], 3, domain=[0, 1], window=[0, 1])
            r = np.concatenate([(i + np.linspace(SIDE, 1 - SIDE, PARTS * FINE + 1)) / intervals, sides - 1e-7, sides + 1e-7])
            r = r[(r > i / intervals) & (r < (i + 1) / intervals)]
            f, (s, d1, d2, d3) = r * intervals - i, grading(r)
            y, u, w = x(f), x.deriv()(f) * intervals / 2, x.deriv(2)(f) * intervals ** 2 / 2
            states.append([s, d1 * np.sqrt(y), d1 * u + d2 * y, np.sqrt(y) * (d1 * w + 3 * d2 * u + d3 * y)])
        s, v, u, j = np.concatenate(states, axis=1)
        q0, q1, q2, q3 = (spline(s, nu=order) for order in range(4))
        v, u, j = v[:, None], u[:, None], j[:, None]
        return {"q": q0, "qd": q1 * v, "qdd": q2 * v ** 2 + q1 * u, "qddd": q3 * v ** 3 + 3 * q2 * v * u + q1 * j}

    def check(self, degree, inner, limits, points, intervals=20):
        """Returns the largest part of a limit that is used."""
        knots = [0] * (degree + 1) + inner + [1] * (degree + 1)
        found = self.ask("arm", "path-timing", {
            "degree": degree, "knots": knots, "control_points": points, "samples": intervals * PARTS + 1, "intervals": intervals,
            "joint_limits": limits})
        motion = self.motion(found, BSpline(np.array(knots, float), np.array(points), degree), np.array(inner), intervals)
        rates = self.ask("arm", "torque-derivative", {name: x.tolist() for name, x in motion.items()})
        size = {"acceleration": motion["qdd"], "jerk": motion["qddd"], "effort_rate": np.array(rates["tau_dot"])}
        loads = [np.abs(size[kind]).max() / most for kind, most in limits.items()]
        self.assertLess(max(loads), 1 + 1e-6, (degree, inner, limits))
        self.assertGreater(max(loads), 0.99)
        self.assertGreater(found["duration"], found["second_order_duration"])
        return found

    def test_jumps_of_the_jerk(self):
        """The third derivative of a cubic spline jumps at its knots: between places, at one, and twice between two places."""
        for inner in ([0.23, 0.41, 0.58, 0.77], [0.2, 0.35, 0.5, 0.8], [0.3, 0.5001, 0.507, 0.7]):
            with self.subTest(inner=inner):
                self.check(3, inner, {"jerk": JERK, "acceleration": ACCELERATION}, POINTS)
                self.check(3, inner, {"effort_rate": RATE, "acceleration": ACCELERATION}, POINTS)

    def test_bends_of_the_jerk(self):
        """The third derivative of a spline of degree 4 bends at its knots."""
        for inner in ([0.31, 0.57, 0.83], [0.25, 0.5, 0.5075]):
            with self.subTest(inner=inner):
                self.check(4, inner, {"jerk": JERK, "acceleration": ACCELERATION, "effort_rate": RATE}, POINTS)

    def test_few_places(self):
        """Without inner knots the parts between places are so long that limits have their peaks between the instants that are checked."""
        for n in (6, 8):
            self.check(n - 1, [], {"jerk": JERK, "acceleration": ACCELERATION, "effort_rate": RATE}, POINTS[:n], 8)

    def test_jumps_cost_little(self):
        """A limit that a jump alone reaches does not slow down the rest: halving the intervals changes the duration little."""
        inner = [0.23, 0.41, 0.58, 0.77]
        found = self.check(3, inner, {"jerk": JERK, "acceleration": ACCELERATION}, POINTS)
        finer = self.ask("arm", "path-timing", {
            "degree": 3, "knots": [0] * 4 + inner + [1] * 4, "control_points": POINTS, "samples": 160 * PARTS + 1,
            "intervals": 160, "joint_limits": {"jerk": JERK, "acceleration": ACCELERATION}})
        self.assertLess(abs(found["duration"] / finer["duration"] - 1), 0.05)

    def test_many_knots_between_two_places(self):
        """More than five are refused; without limits of jerk any number is allowed."""
        second = {"acceleration": ACCELERATION}
        for count, limits, status in ((6, {"jerk": JERK, **second}, 422), (400, {"effort_rate": RATE, **second}, 422),
                                      (6, second, 200)):
            inner = [0.5 + 1e-3 * (k + 1) / (count + 1) for k in range(count)]
            knots = np.array([0] * 4 + inner + [1] * 4, float)
            along = np.mean([knots[k:len(knots) - 4 + k] for k in (1, 2, 3)], axis=0)  # the spline follows the sines at these
            points = [[np.sin(s + 0.4 * joint) for joint in range(len(POINTS[0]))] for s in along]
            answer = self.client.post("/v1/models/arm/path-timing", {
                "degree": 3, "knots": knots.tolist(), "control_points": points, "samples": 81, "intervals": 20,
                "joint_limits": limits})
            with self.subTest(count=count, limits=limits):
                self.assertEqual(answer.status, status, answer)
                if status == 422:
                    problem = self.assertProblem(answer, 422, "/samples")
                    self.assertIn("more than 5 knots are between places", problem["detail"])


if __name__ == "__main__":
    tap.main()
