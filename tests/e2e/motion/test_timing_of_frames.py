"""Tests limits of frames in path-timing, and the derivatives of the duration by all limits: against linear programs with
tangent planes that SciPy solves, closed forms, identities of scale and differences of durations."""
import itertools
import json

import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy import sparse
from scipy.integrate import quad
from scipy.interpolate import BSpline
from scipy.optimize import linprog

INTERVALS = 150
# kind of limit: (first of its three entries in p' and p'', order of the derivative)
KINDS = {"speed": (0, 1), "angular_speed": (3, 1), "linear_acceleration": (0, 2), "angular_acceleration": (3, 2)}
ARMS = {"ur5": ([0.2, -1, 1, 0, 0.5, 0], [150] * 3 + [28] * 3, "tool0", "wrist_1_link"),
        "panda": ([0, -0.8, 0, -2, 0, 1.6, 0.8], [87] * 4 + [12] * 3, "panda_flange", "panda_link4")}
MOST = {"speed": 0.6, "angular_speed": 1.4, "linear_acceleration": 3, "angular_acceleration": 6}
ACCELERATION = 15
SLOW = 1e-4  # rate along the path below which a limit of a speed cannot matter


def clamped(points):
    inner = np.linspace(0, 1, len(points) - 3)
    return BSpline(np.concatenate([[0] * 4, inner, [1] * 4]), np.array(points), 4)


class TimingOfFrames(ServerCase):
    def path(self, model, seed):
        choose, middle = np.random.default_rng(seed), np.array(ARMS[model][0])
        return (middle + choose.uniform(-0.6, 0.6, (choose.integers(6, 9), len(middle)))).tolist()

    def request(self, model, points, frame_limits, intervals=INTERVALS, parts=1, **more):
        limits = {"effort": ARMS[model][1], "acceleration": ACCELERATION, **more.pop("joint_limits", {})}
        return {"degree": 4, "control_points": points, "samples": intervals * parts + 1, "intervals": intervals, "friction": False,
                "kinds": ["effort"], "joint_limits": limits, "frame_limits": frame_limits, **more}

    def derivatives(self, model, frame, q, first, second):
        """Returns p' and p'', 6 entries each, from Jacobians and their rates along the path."""
        answer = self.ask(model, "kinematics", {"q": q.tolist(), "qd": first.tolist(), "frame": frame, "outputs": ["jacobian", "jacobian_dot"]})
        jacobian, rate = np.array(answer["jacobian"]), np.array(answer["jacobian_dot"])
        along = lambda matrix, vector: np.einsum("nij,nj->ni", matrix, vector)
        return along(jacobian, first), along(jacobian, second) + along(rate, first)

    def torques(self, model, **state):
        return np.array(self.ask(model, "inverse-dynamics", {name: x.tolist() for name, x in state.items()} | {"friction": False})["tau"])

    def largest(self, model, frame_limits, q, qd, qdd):
        """Returns for each frame limit the largest ratio of its value to the limit, from velocities and accelerations."""
        shares = {}
        for entry in frame_limits:
            v, a = self.derivatives(model, entry["frame"], q, qd, qdd)
            for kind, most in entry.items():
                if kind != "frame":
                    first, order = KINDS[kind]
                    shares[entry["frame"], kind] = np.linalg.norm((v, a)[order - 1][:, first:first + 3], axis=1) / most
        return shares

    # --- against linear programs ---

    def optimum(self, model, points, frame_limits):
        """Returns the duration with the largest sum of squared rates. Magnitudes are limited by tangent planes, which are
        added where a magnitude is exceeded until none is by more than 1e-6; the programs are solved to 1e-7."""
        s, spline, width = np.linspace(0, 1, INTERVALS + 1), clamped(points), 1 / INTERVALS
        q, first, second = spline(s), spline(s, nu=1), spline(s, nu=2)
        still, effort = self.torques(model, q=q), np.array(ARMS[model][1])
        a, b = self.torques(model, q=q, qdd=first) - still, self.torques(model, q=q, qd=first, qdd=second) - still
        cells, blocks, right = np.arange(INTERVALS), [], []

        def add(cell, end, along_u, along_x, room):
            up = along_u / (2 * width)
            entries = np.concatenate([-up + along_x * (1 - end), up + along_x * end])
            rows = np.tile(np.arange(len(cell)), 2)
            blocks.append(sparse.csr_matrix((entries, (rows, np.concatenate([cell, cell + 1]))), (len(cell), INTERVALS + 1)))
            right.append(room)

        for end, sign, k in itertools.product((0, 1), (1, -1), range(q.shape[1])):
            place = cells + end
            add(cells, end, sign * a[place, k] / effort[k], sign * b[place, k] / effort[k], 1 - sign * still[place, k] / effort[k])
            add(cells, end, sign * first[place, k] / ACCELERATION, sign * second[place, k] / ACCELERATION, np.ones(INTERVALS))
        bound, vectors = np.full(INTERVALS + 1, 1e4), []
        for entry in frame_limits:
            d1, d2 = self.derivatives(model, entry["frame"], q, first, second)
            for kind, most in entry.items():
                if kind != "frame":
                    at, order = KINDS[kind]
                    if order == 1:
                        bound = np.minimum(bound, (most / np.maximum(np.linalg.norm(d1[:, at:at + 3], axis=1), SLOW)) ** 2)
                    else:
                        vectors.append((d1[:, at:at + 3] / most, d2[:, at:at + 3] / most))
        bound[[0, -1]] = 0
        for p, r in vectors:  # tangent planes to start with, so that the program is bounded
            for end, axis, sign in itertools.product((0, 1), range(3), (1, -1)):
                add(cells, end, sign * p[cells + end, axis], sign * r[cells + end, axis], np.ones(INTERVALS))
        for _ in range(40):
            found = linprog(-np.ones(INTERVALS + 1), sparse.vstack(blocks), np.concatenate(right), method="highs-ds",
                            bounds=np.column_stack([np.zeros(INTERVALS + 1), bound]))
            u, excess = np.diff(found.x) / (2 * width), 0
            for (p, r), end in itertools.product(vectors, (0, 1)):
                place = cells + end
                vector = p[place] * u[:, None] + r[place] * found.x[place][:, None]
                size = np.linalg.norm(vector, axis=1)
                over = np.flatnonzero(size > 1 + 1e-6)
                normal = vector[over] / size[over, None]
                if len(over):
                    excess = max(excess, size.max() - 1)
                    add(over, end, (normal * p[place[over]]).sum(1), (normal * r[place[over]]).sum(1), np.ones(len(over)))
            if excess == 0:
                rate = np.sqrt(np.maximum(found.x, 0))
                return (2 * width / (rate[1:] + rate[:-1])).sum()
        raise AssertionError("tangent planes do not settle")

    def test_optimum(self):
        """A timing at frame limits equals that of the linear programs. Where taking the largest rate at each place is not optimal (Pham & Pham
        2018), it may differ from the programs, which maximise the sum of squared rates."""
        for model, (_, _, tool, link) in ARMS.items():
            limits = [[{"frame": tool, kind: MOST[kind]}] for kind in KINDS]
            limits += [[{"frame": tool, **MOST}, {"frame": link, "speed": 0.4, "linear_acceleration": 2.5}]]
            free = None
            for seed, frame_limits in enumerate(limits):
                with self.subTest(model=model, limits=frame_limits):
                    points = self.path(model, 20 + seed)
                    found = self.ask(model, "path-timing", self.request(model, points, frame_limits))
                    optimum = self.optimum(model, points, frame_limits)
                    self.assertLess(abs(found["duration"] / optimum - 1), 1e-4)
                    free = self.request(model, points, frame_limits)
                    del free["frame_limits"]
                    self.assertGreater(found["duration"], 1.02 * self.ask(model, "path-timing", free)["duration"])

    def test_limits(self):
        """On a grid ten times finer no limit of a frame is exceeded, and each place of the original grid names a limit that is reached."""
        seen = set()
        for model, (_, _, tool, link) in ARMS.items():
            frame_limits = [{"frame": tool, **MOST}, {"frame": link, "angular_acceleration": 3, "speed": 0.3}]
            found = self.ask(model, "path-timing", self.request(model, self.path(model, 7), frame_limits, parts=10))
            shares = self.largest(model, frame_limits, *(np.array(found[name]) for name in ("q", "qd", "qdd")))
            for limit, share in shares.items():
                self.assertLess(share.max(), 1 + 1e-9, limit)
            active = [found["limits"][int(i)] for i in found["active"] if i >= 0]
            self.assertGreater(len(active), 100)  # in most intervals the limit is reached at one of the ends
            for limit in active:
                if "frame" in limit:
                    seen.add(limit["kind"])
                    self.assertGreater(shares[limit["frame"], limit["kind"]].max(), 1 - 1e-6, limit)
            described = [limit for limit in found["limits"] if "frame" in limit]
            self.assertEqual(described, [{"frame": entry["frame"], "kind": kind, "lower": 0, "upper": entry[kind]}
                                         for entry in frame_limits for kind in KINDS if kind in entry])
        self.assertGreaterEqual(seen, {"speed", "angular_speed", "angular_acceleration"})

    def test_between_places(self):
        """With a jerk limit, too, the limits of frames hold on a grid ten times finer."""
        for model, (_, _, tool, link) in ARMS.items():
            frame_limits = [{"frame": tool, **MOST}, {"frame": link, "angular_acceleration": 3, "speed": 0.3}]
            points = self.path(model, 11)
            found = self.ask(model, "path-timing", self.request(model, points, frame_limits, 200, 5, joint_limits={"jerk": 300}))
            q, qd, qdd = self.between(found, clamped(points), 200, 10)
            for limit, share in self.largest(model, frame_limits, q, qd, qdd).items():
                self.assertLess(share.max(), 1 + 1e-6, limit)
            self.assertLess(np.abs(np.array(found["qddd"])).max(), 300 * (1 + 1e-6))
            active = [found["limits"][int(i)] for i in found["active"] if i >= 0]
            self.assertGreater(sum("frame" in limit for limit in active), 100)
            self.assertGreater(found["duration"], 0.999 * found["second_order_duration"])
            self.assertLess(found["duration"], 1.1 * found["second_order_duration"])

    def between(self, found, spline, intervals, times):
        """Returns q, qd and qdd on a grid `times` as fine, from the cubic polynomials of (dr/dt)² in each interval."""
        places = len(found["sd"]) - 1
        parts, r = places // intervals, np.arange(places + 1) / places
        rate = np.array(found["sd"])[1:-1] / (30 * r[1:-1] ** 2 * (1 - r[1:-1]) ** 2)
        square, states = np.concatenate([[0], rate ** 2, [0]]), []
        for i in range(intervals):
            inner = np.arange(1, parts)
            x = np.polynomial.Polynomial.fit(inner / parts, square[i * parts + inner], 3, domain=[0, 1], window=[0, 1])
            f = np.linspace(0, 1, parts * times + 1)
            g, y, u = (i + f) / intervals, x(f), x.deriv()(f) * intervals / 2
            d1, d2 = 30 * g ** 2 * (1 - g) ** 2, 60 * g * (1 - g) * (1 - 2 * g)
            states.append([10 * g ** 3 - 15 * g ** 4 + 6 * g ** 5, d1 * np.sqrt(np.maximum(y, 0)), d1 * u + d2 * y])
        s, v, u = np.concatenate(states, axis=1)
        q0, q1, q2 = (spline(np.clip(s, 0, 1), nu=order) for order in range(3))
        return q0, q1 * v[:, None], q2 * v[:, None] ** 2 + q1 * u[:, None]

    # --- closed forms and identities ---

    def turntable(self):
        self.put_model("turntable", {"links": [{"name": "arm", "parent": "base", "inertial": body(2, (0, 0, 0)), "joint": {
            "name": "turn", "type": "revolute", "axis": [0, 0, 1]}}], "frames": [{"name": "rim", "link": "arm", "xyz": [0.5, 0, 0.2]}]})

    def swing(self):
        self.put_model("swing", {"links": [{"name": "arm", "parent": "base", "inertial": body(1, (0.5, 0, 0)), "joint": {
            "name": "x", "type": "revolute", "axis": [0, 1, 0]}}], "frames": [{"name": "tip", "link": "arm", "xyz": [1, 0, 0]}]})

    def test_a_point_on_a_circle(self):
        """On a circle of radius r the acceleration has the parts r q̈ and r q̇². With k = a / r, q̈ = sqrt(k² - q̇⁴) gives
        q̇² = k sin 2q up to q = π/4, and then the point goes on at the speed sqrt(a r), until it slows down likewise."""
        self.turntable()
        way, most, radius = 2.5, 3.0, 0.5
        k = most / radius
        start = quad(lambda y: 2 * y / np.sqrt(k * np.sin(2 * y * y)), 0, np.sqrt(np.pi / 4))[0]  # q = y²
        duration = 2 * start + (way - np.pi / 2) / np.sqrt(k)
        ask = lambda n, **limits: self.ask("turntable", "path-timing", {
            "degree": 1, "control_points": [[0], [way]], "samples": n, "kinds": ["velocity"], "frame_limits": [{"frame": "rim", **limits}],
            "outputs": ["duration", "qd", "qdd", "limits", "dduration_dlimits", "active"]})
        for n, within in ((201, 3e-3), (3201, 2e-4)):
            found = ask(n, linear_acceleration=most)
            self.assertLess(abs(found["duration"] / duration - 1), within)
            self.assertLess(np.abs(np.array(found["qd"])).max(), np.sqrt(k) * (1 + 1e-9))
            self.assertAlmostEqual(found["dduration_dlimits"][0] / (-found["duration"] / (2 * most)), 1, 9)
            # at most two places have no active limit: where the point begins to slow down
            self.assertLess(sum(place < 0 for place in found["active"]), 3)
        swift = ask(201, linear_acceleration=most, speed=0.4)
        self.assertLess(abs(np.array(swift["qd"]).max() - 0.8), 1e-12)

    def test_scale(self):
        """Without gravity and friction, limits of speeds times c, of accelerations and efforts times c² and of jerks and
        effort rates times c³ make a motion c times as fast. Hence the sum of order, limit and derivative is -duration."""
        orders = {"speed": 1, "angular_speed": 1, "velocity": 1, "jerk": 3, "effort_rate": 3}
        for model, (_, effort, tool, _) in ARMS.items():
            for third, tolerance in (({}, 1e-9), ({"jerk": 400, "effort_rate": (15 * np.array(effort)).tolist()}, 2e-3)):
                request = self.request(model, self.path(model, 5), [{"frame": tool, **MOST}], 120, 5 if third else 1, gravity=[0, 0, 0],
                                       joint_limits={"velocity": 1.5, **third}, outputs=["duration", "limits", "dduration_dlimits"])
                found = self.ask(model, "path-timing", request)
                slopes = found["dduration_dlimits"]
                self.assertLessEqual(max(slopes), 0)
                total = sum(orders.get(limit["kind"], 2) * limit["upper"] * slope for limit, slope in zip(found["limits"], slopes))
                self.assertLess(abs(total / found["duration"] + 1), tolerance)
                self.assertGreater(sum(slope < -1e-4 for slope in slopes), 2)

    def changed(self, request, limits, number, factor):
        """Returns the request with one limit times a factor."""
        again, limit = json.loads(json.dumps(request)), limits[number]
        if "frame" in limit:
            entry = next(entry for entry in again["frame_limits"] if entry["frame"] == limit["frame"])
            entry[limit["kind"]] *= factor
            return again
        joint = [other["joint"] for other in limits if other.get("kind") == limit["kind"] and "joint" in other].index(limit["joint"])
        values = again["joint_limits"][limit["kind"]]
        values = values if isinstance(values, list) else [values] * len(again["control_points"][0])
        again["joint_limits"][limit["kind"]] = [value * (factor if i == joint else 1) for i, value in enumerate(values)]
        return again

    def check_slopes(self, model, request, step, tolerance, least=0):
        """Compares the derivatives by those limits whose relative change changes the duration by more than the fraction `least`; returns the
        number of limits with more than 0.1 %."""
        request = {**request, "outputs": ["duration", "limits", "dduration_dlimits"]}
        found = self.ask(model, "path-timing", request)
        slopes, count = np.array(found["dduration_dlimits"]), 0
        for number, limit in enumerate(found["limits"]):
            share = slopes[number] * limit["upper"]
            if abs(share) < least * found["duration"]:
                continue
            forth, back = (self.ask(model, "path-timing", self.changed(request, found["limits"], number, 1 + h))["duration"] for h in (step, -step))
            difference = (forth - back) / (2 * step)
            self.assertLess(abs(share - difference), tolerance * found["duration"], (model, limit, share, difference))
            count += abs(share) > 1e-3 * found["duration"]
        return count

    def test_derivatives_of_the_duration(self):
        """Compares the derivatives by all limits of joints and frames, with gravity, also with further places inside the intervals, and with
        viscous friction, whose constraints contain the root of ṡ²."""
        for model, (_, _, tool, link) in ARMS.items():
            frames = [{"frame": tool, **MOST}, {"frame": link, "speed": 0.4, "linear_acceleration": 1.5}]
            count = 0
            for seed, parts in ((30, 1), (31, 3)):
                request = self.request(model, self.path(model, seed), frames, 80, parts, joint_limits={"velocity": 1.2})
                count += self.check_slopes(model, request, 1e-6, 1e-6)
            self.assertGreater(count, 4)
            few = self.request(model, self.path(model, 32), [{"frame": tool, "linear_acceleration": 6}], 80,
                               joint_limits={"velocity": 1.2, "effort": [0.5 * x for x in ARMS[model][1]]})
            self.assertGreater(self.check_slopes(model, few, 1e-6, 1e-6), 2)
        self.put_model("damped", {"links": [
            {"name": "upper", "parent": "base", "inertial": body(3, (0.2, 0, 0)), "joint": {
                "name": "a", "type": "revolute", "axis": [0, 1, 0], "friction": {"viscous": 2}}},
            {"name": "fore", "parent": "upper", "inertial": body(2, (0.2, 0, 0)), "joint": {
                "name": "b", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.4, 0, 0]}, "friction": {"viscous": 1.5}}}]})
        request = {"degree": 3, "control_points": [[0, 0], [0.7, -0.4], [0.9, 0.8], [1.6, 0.4], [2, -0.3]], "samples": 61, "kinds": ["velocity"],
                   "joint_limits": {"effort": [30, 9]}, "frame_limits": [{"frame": "fore", "speed": 0.8, "linear_acceleration": 4}]}
        self.assertGreater(self.check_slopes("damped", request, 1e-6, 1e-6), 1)

    def test_derivatives_of_a_swing(self):
        """Where the motor is too weak to hold the arm, the arm must pass with a least speed, which depends on the limits too: the larger the
        effort limit, the smaller is this speed."""
        self.swing()
        request = {"degree": 2, "control_points": [[np.pi / 2], [0.3], [-np.pi / 2]], "samples": 101, "kinds": ["position"],
                   "joint_limits": {"effort": 4.2}, "frame_limits": [{"frame": "tip", "speed": 2.6, "linear_acceleration": 9}]}
        self.assertGreater(self.check_slopes("swing", request, 1e-6, 1e-6), 1)

    def test_derivatives_with_jerk(self):
        """The timing is slowed down a little so that limits hold between places, by an amount that depends on the limits, so that differences of
        durations agree with the derivatives only approximately. test_scale is more exact."""
        effort, tool = ARMS["ur5"][1:3]
        request = self.request("ur5", self.path("ur5", 33), [{"frame": tool, "speed": 0.6, "linear_acceleration": 3}], 80, 10, kinds=["effort"],
                               joint_limits={"velocity": 1.2, "jerk": 200, "effort_rate": (10 * np.array(effort)).tolist()})
        self.assertGreater(self.check_slopes("ur5", request, 1e-2, 1e-2, 0.1), 1)

    # --- requests ---

    def test_a_batch_is_its_paths(self):
        points = np.array([self.path("ur5", 2)] * 3) * np.array([1, 1.1, 0.9])[:, None, None]
        frames = [{"frame": "tool0", **MOST}]
        names = ("times", "sd", "sdd", "qdd", "tau", "active", "duration", "dduration_dlimits")
        for third in ({}, {"jerk": 300}):
            request = self.request("ur5", points.tolist(), frames, 50, 5, joint_limits=third, outputs=names)
            whole = self.ask("ur5", "path-timing", request)
            for row in range(3):
                alone = self.ask("ur5", "path-timing", {**request, "control_points": points[row].tolist()})
                for name in names:
                    self.assertEqual(whole[name][row], alone[name], name)
        points[1] += [20, 0, 0, 0, 0, 0]
        request = {**self.request("ur5", points.tolist(), frames, 50), "kinds": ["position"], "on_error": "row", "outputs": ["dduration_dlimits"]}
        some = self.ask("ur5", "path-timing", request)
        self.assertEqual([error["code"] for error in some["errors"]], ["no-timing"])
        self.assertIsNone(some["dduration_dlimits"][1])
        self.assertEqual(len(some["dduration_dlimits"][0]), 6 + 12 + 4)

    def test_no_timing(self):
        """The motor swings the arm over the horizontal only with a speed that the limit of the frame does not allow."""
        self.swing()
        request = {"degree": 1, "control_points": [[np.pi / 2], [-np.pi / 2]], "samples": 201, "joint_limits": {"effort": 4.2}}
        self.assertGreater(self.ask("swing", "path-timing", request)["duration"], 0.5)
        for kind, most, reason in (("speed", 0.3, "does not let the robot keep a speed"),
                                   ("linear_acceleration", 0.5, "is within the limits of effort of x and linear_acceleration of tip")):
            problem = self.assertProblem(self.client.post("/v1/models/swing/path-timing", {
                **request, "frame_limits": [{"frame": "tip", kind: most}]}), 422)
            self.assertEqual(problem["code"], "no-timing")
            self.assertIn(reason, problem["detail"])
            self.assertIn("at s = ", problem["detail"])

    def test_refusals(self):
        ask = lambda pointer, code, frame_limits, **more: self.assertEqual(self.assertProblem(self.client.post("/v1/models/ur5/path-timing", {
            "degree": 1, "control_points": [[0] * 6, [1] * 6], "samples": 7, "frame_limits": frame_limits, **more}), 422, pointer)["code"], code)
        ask("/frame_limits", "wrong-type", {"frame": "tool0", "speed": 1})
        ask("/frame_limits", "wrong-shape", [])
        ask("/frame_limits/0", "wrong-type", [3])
        ask("/frame_limits/0/frame", "missing-field", [{"speed": 1}])
        ask("/frame_limits/0/frame", "unknown-name", [{"frame": "hand", "speed": 1}])
        ask("/frame_limits/1/frame", "duplicate-name", [{"frame": "tool0", "speed": 1}, {"frame": "tool0", "angular_speed": 1}])
        ask("/frame_limits/0/frame", "bad-value", [{"frame": "base_link", "speed": 1}])
        ask("/frame_limits/0", "missing-field", [{"frame": "tool0"}])
        ask("/frame_limits/0/acceleration", "unknown-field", [{"frame": "tool0", "acceleration": 1}])
        ask("/frame_limits/0/speed", "bad-value", [{"frame": "tool0", "speed": 0}])
        ask("/frame_limits/0/speed", "wrong-type", [{"frame": "tool0", "speed": [1, 1, 1]}])
        ask("/frame_limits", "wrong-shape", [{"frame": "tool0", "speed": 1}] * 17)


if __name__ == "__main__":
    tap.main()
