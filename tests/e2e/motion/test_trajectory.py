"""Tests trajectory: the motion against B-splines by de Boor's algorithm, torques against torque-derivative, gradients
against differences of the server's answers and against the chain rule with the server's sensitivities."""
import random
import struct

import cbor2
import tap
from arrays import flatten, shape
from harness import ServerCase
from samples import SURROUNDINGS, TURN_AND_SLIDE

GRADIENTS = ["dtau_dcontrol_points", "dtau_dduration", "dtau_dot_dcontrol_points", "dtau_dot_dduration",
             "d_joint_wrenches_dcontrol_points", "d_joint_wrenches_dduration"]
OF = {"dtau": "tau", "dtau_dot": "tau_dot", "d_joint_wrenches": "joint_wrenches"}
ARM = {"links": [*TURN_AND_SLIDE,
    {"name": "c", "parent": "a", "joint": {
        "name": "branch", "type": "revolute", "axis": [1, 0, 0], "origin": {"xyz": [0, -0.2, 0.3]},
        "friction": {"coulomb": 0.2}},
     "inertial": {"solid": "cylinder", "size": [0.05, 0.4], "mass": 1, "xyz": [0, 0, 0.2]}},
    {"name": "d", "parent": "c", "joint": {
        "name": "follows", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0, 0, 0.4]},
        "mimic": {"joint": "branch", "multiplier": -0.5, "offset": 0.2}},
     "inertial": {"solid": "sphere", "size": [0.1], "mass": 0.7, "xyz": [0.1, 0, 0.1]}}]}


def clamped(degree, count):
    spans = count - degree
    return [0.0] * degree + [i / spans for i in range(spans + 1)] + [1.0] * degree


def de_boor(knots, degree, points, u, end):
    """Evaluates a spline at u by de Boor's algorithm; right-continuous, except at its end."""
    n = len(points)
    span = max(i for i in range(degree, n) if knots[i] < knots[i + 1] and (knots[i] <= u or u == end))
    if u < end:
        span = next(i for i in range(degree, n) if knots[i] <= u < knots[i + 1])
    d = [list(points[j]) for j in range(span - degree, span + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            left, right = knots[j + span - degree], knots[j + 1 + span - r]
            a = (u - left) / (right - left)
            d[j] = [(1 - a) * x + a * y for x, y in zip(d[j - 1], d[j])]
    return d[degree]


def derivative(knots, degree, points):
    """Returns knots and control points of the derivative, of one degree less."""
    differences = []
    for i in range(len(points) - 1):
        width = knots[i + degree + 1] - knots[i + 1]
        differences.append([degree * (b - a) / width if width else 0.0 for a, b in zip(points[i], points[i + 1])])
    return knots[1:-1], differences


def difference(values, h):
    """Returns the fourth-order difference from the values at -2h, -h, h, 2h."""
    a, b, c, d = values
    return [(x - 8 * y + 8 * z - w) / (12 * h) for x, y, z, w in zip(flatten(a), flatten(b), flatten(c), flatten(d))]


class Trajectory(ServerCase):
    STEPS = (-2e-3, -1e-3, 1e-3, 2e-3)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/arm", ARM).status == 201
        cls.random = random.Random(4)

    def points(self, count, joints, size=1.0):
        return [[self.random.uniform(-size, size) for _ in range(joints)] for _ in range(count)]

    def joints(self, model):
        return len(self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"])

    def motions(self):
        """Yields the name of a model and a request without the fields `samples` and `outputs`."""
        for model, surroundings in (("arm", SURROUNDINGS), ("arm", {"friction": False}), ("two_link", {}), ("panda", {}),
                                    ("prismatic_revolute", {}), ("robotiq_2f_85", {}), ("stanford", {}), ("puma560", {})):
            degree, n = self.random.choice([2, 3, 4, 5]), self.joints(model)
            count = degree + 1 + self.random.randrange(5)
            yield model, {"degree": degree, "duration": self.random.uniform(0.5, 3),
                          "control_points": self.points(count, n), **surroundings}

    def test_motion(self):
        for degree in range(1, 8):
            for kind in ("clamped", "free", "coinciding"):
                count = degree + 3 + self.random.randrange(6)
                points, T = self.points(count, 2), self.random.uniform(0.2, 4)
                knots = clamped(degree, count)
                if kind == "free":
                    knots = sorted(self.random.uniform(-3, 9) for _ in knots)
                elif kind == "coinciding" and degree > 1:
                    knots[degree + 1] = knots[degree + 2]
                times = [0, T] + [self.random.uniform(0, T) for _ in range(4)]
                request = {"degree": degree, "duration": T, "control_points": points, "times": times}
                if kind != "clamped":
                    request["knots"] = knots
                answer = self.ask("two_link", "trajectory", {**request, "outputs": ["times", "q", "qd", "qdd", "qddd"]})
                self.assertEqual(answer["times"], times)
                self.expect_motion(answer, knots, degree, points, times, T)

    def expect_motion(self, answer, knots, degree, points, times, T):
        first, end = knots[degree], knots[len(points)]
        for order, name in enumerate(("q", "qd", "qdd", "qddd")):
            scale = ((end - first) / T) ** order
            expected = [[0.0, 0.0] for _ in times]
            if order <= degree:
                at = [end if t == T else first + t / T * (end - first) for t in times]
                expected = [[scale * x for x in de_boor(knots, degree - order, points, u, end)] for u in at]
                size = scale * max(map(abs, flatten(points)))
                self.assertClose(answer[name], expected, 1e-12, max(size, 1e-300), f"{name}, degree {degree}")
                if order < degree:
                    knots, points = derivative(knots, degree - order, points)
            else:
                self.assertEqual(answer[name], expected)

    def test_evenly_spaced_samples(self):
        request = {"degree": 3, "duration": 0.3, "control_points": self.points(6, 2), "outputs": ["times", "q"]}
        answer = self.ask("two_link", "trajectory", {**request, "samples": 4})
        self.assertClose(answer["times"], [0, 0.1, 0.2, 0.3], 1e-15)
        self.assertEqual(answer["times"][3], 0.3)
        self.assertEqual([answer["q"][0], answer["q"][3]], [request["control_points"][0], request["control_points"][5]])

    def test_torques_are_those_of_torque_derivative(self):
        for model, request in self.motions():
            outputs = ["tau", "tau_dot", "joint_wrenches"]
            states = self.ask(model, "trajectory", {**request, "samples": 9, "outputs": ["q", "qd", "qdd", "qddd"]})
            held = {k: request[k] for k in ("gravity", "payload", "wrenches", "friction") if k in request}
            expected = self.client.post(f"/v1/models/{model}/torque-derivative", {**states, **held, "outputs": outputs})
            answer = self.client.post(f"/v1/models/{model}/trajectory", {**request, "samples": 9, "outputs": outputs})
            self.assertEqual(answer.text, expected.text)
            alone = self.ask(model, "trajectory", {**request, "samples": 9, "outputs": ["tau"]})
            self.assertEqual(alone["tau"], answer.json()["tau"])

    def test_gradients_by_differences(self):
        """Compares gradients with differences; one batch holds all motions that differ in one number."""
        for model, request in self.motions():
            T, points = request["duration"], request["control_points"]
            request = {**request, "times": [f * T for f in (0, 0.123, 0.49, 0.77, 1)]}
            exact = self.ask(model, "trajectory", {**request, "dense": True, "outputs": GRADIENTS})
            moved = []
            for k, point in enumerate(points):
                for j in range(len(point)):
                    for h in self.STEPS:
                        moved.append([list(p) for p in points])
                        moved[-1][k][j] += h
            served = self.ask(model, "trajectory", {**request, "control_points": moved, "outputs": list(OF.values())})
            for name, output in OF.items():
                columns = [difference(served[output][i:i + 4], 1e-3) for i in range(0, len(moved), 4)]
                got = exact[name + "_dcontrol_points"]
                self.compare(got, self.as_gradient(got, columns), f"{name} of {model}")

    def as_gradient(self, like, columns):
        """Arranges columns like the gradient: entry [..][k][j] is that of column k n + j."""
        extents = shape(like)
        m, n = extents[-2:]
        rows = [[columns[k * n + j][row] for k in range(m) for j in range(n)] for row in range(len(columns[0]))]
        return flatten(rows)

    def compare(self, got, expected, what):
        got = flatten(got)
        size = 1 + max(map(abs, expected))
        worst = max(abs(a - b) for a, b in zip(got, expected))
        self.assertEqual(len(got), len(expected), what)
        self.assertLess(worst, 2e-9 * size, what)

    def test_gradients_by_duration(self):
        for model, request in self.motions():
            T, n = request["duration"], 6
            steps = [h * T for h in self.STEPS]
            exact = self.ask(model, "trajectory", {**request, "samples": n, "outputs": GRADIENTS})
            served = self.ask(model, "trajectory", {**request, "duration": [T + h for h in steps], "samples": n,
                                                    "outputs": list(OF.values())})
            for name, output in OF.items():
                self.compare(exact[name + "_dduration"], difference(served[output], 1e-3 * T), f"{name} of {model}")
    def test_gradients_by_duration_at_a_time_that_is_held(self):
        """The gradient at a fixed time is that at a fixed fraction minus tau_dot t / T."""
        T, times = 1.4, [0.2, 0.7, 1.1]
        request = {"degree": 5, "control_points": self.points(6, 3), "times": times, **SURROUNDINGS}
        exact = self.ask("arm", "trajectory", {**request, "duration": T, "outputs": ["dtau_dduration", "tau_dot"]})
        served = self.ask("arm", "trajectory", {**request, "duration": [T + h for h in self.STEPS], "outputs": ["tau"]})
        held = [[d - rate * t / T for d, rate in zip(ds, rates)] for ds, rates, t in
                zip(exact["dtau_dduration"], exact["tau_dot"], times)]
        self.compare(held, difference(served["tau"], 1e-3), "tau of arm")

    def test_chain_rule(self):
        """The gradients must be the matrices of sensitivity at the sampled states times the values of the basis functions."""
        for model, request in self.motions():
            a = self.ask(model, "trajectory", {**request, "samples": 5, "outputs": [
                "q", "qd", "qdd", "basis", "dtau_dcontrol_points"]})
            held = {k: request[k] for k in ("gravity", "payload", "wrenches", "friction") if k in request}
            d = self.ask(model, "sensitivity", {"q": a["q"], "qd": a["qd"], "qdd": a["qdd"], **held})
            expected = [[[[sum(b[r][k] * D[r][i][j] for r in range(3)) for j in range(len(D[0]))]
                          for k in range(request["degree"] + 1)] for i in range(len(D[0]))]
                        for b, *D in zip(a["basis"], d["dtau_dq"], d["dtau_dqd"], d["dtau_dqdd"])]
            self.assertClose(a["dtau_dcontrol_points"], expected, 1e-14, what=model)

    def test_basis_is_the_gradient_of_the_motion(self):
        request = {"degree": 4, "duration": 0.8, "samples": 7, "control_points": self.points(9, 2)}
        a = self.ask("two_link", "trajectory", {**request, "outputs": ["q", "qd", "qdd", "qddd", "basis"]})
        for n, first in enumerate(map(int, a["first_control_point"])):
            mine = request["control_points"][first:first + 5]
            for r, name in enumerate(("q", "qd", "qdd", "qddd")):
                expected = [sum(b * c[j] for b, c in zip(a["basis"][n][r], mine)) for j in range(2)]
                self.assertClose(a[name][n], expected, 1e-13, max(1, max(map(abs, a["basis"][n][r]))))

    def test_cbor(self):
        """A request with typed arrays (CBOR) gets the answer of the same numbers in JSON, and the CBOR answer has the same numbers."""
        points = [self.points(6, 3), self.points(6, 3)]
        numbers = b"".join(struct.pack("<d", x) for x in flatten(points))
        request = {"degree": 3, "duration": 2, "samples": 300, **SURROUNDINGS, "outputs": ["tau", "times", *GRADIENTS[:2]]}
        packed = {**request, "control_points": cbor2.CBORTag(40, [[2, 6, 3], cbor2.CBORTag(86, numbers)])}
        path, kind = "/v1/models/arm/trajectory", {"Content_Type": "application/cbor"}
        expected = self.client.post(path, {**request, "control_points": points})
        self.assertEqual(self.client.post(path, cbor2.dumps(packed), Accept="application/json", **kind).body, expected.body)
        answer = cbor2.loads(self.client.post(path, cbor2.dumps(packed), Accept="application/cbor; arrays=multidimensional", **kind).body)
        for name, value in self.ok(expected).items():
            extents, array = answer[name].value
            self.assertEqual((extents, array.tag), (shape(value), 86), name)
            self.assertEqual(list(struct.unpack(f"<{len(array.value) // 8}d", array.value)), flatten(value), name)

    def test_dense(self):
        """The dense form is the banded form with zeros around it."""
        names = [g for g in GRADIENTS if g.endswith("points")] + ["basis"]
        for model, request in self.motions():
            banded = self.ask(model, "trajectory", {**request, "samples": 4, "outputs": names})
            dense = self.ask(model, "trajectory", {**request, "samples": 4, "outputs": names, "dense": True})
            m, s = len(request["control_points"]), request["degree"] + 1
            self.assertNotIn("first_control_point", dense)
            for name in names:
                for n, first in enumerate(map(int, banded["first_control_point"])):
                    self.assertEqual(dense[name][n], self.widened(banded[name][n], first, m, s, name == "basis"), name)

    def widened(self, value, first, m, s, last):
        """Expands a banded array with zeros; the axis of control points is the last or the second to last."""
        if isinstance(value[0], list) and (last or isinstance(value[0][0], list)):
            return [self.widened(part, first, m, s, last) for part in value]
        zero = 0 if last else [0] * len(value[0])
        return [zero] * first + value + [zero] * (m - s - first)


if __name__ == "__main__":
    tap.main()
