"""Tests path-timing: against the optimum of linear programs that SciPy solves with torques from inverse-dynamics, on finer
grids, and in closed form where there is one."""
import re

import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.optimize import linprog

INTERVALS = 200
ARMS = {"ur5": ([0.2, -1, 1, 0, 0.5, 0], [150] * 3 + [28] * 3, 3.14), "panda": ([0, -0.8, 0, -2, 0, 1.6, 0.8], [87] * 4 + [12] * 3, 2.3)}
ACCELERATION = 15
SLOW = 1e-4  # rate of a joint along the path below which its velocity limit cannot matter


def clamped(degree, points):
    inner = np.linspace(0, 1, len(points) - degree + 1)
    return BSpline(np.concatenate([[0] * degree, inner, [1] * degree]), np.array(points), degree)


class FastestTiming(ServerCase):
    def path(self, model, seed):
        choose, middle = np.random.default_rng(seed), np.array(ARMS[model][0])
        return (middle + choose.uniform(-0.6, 0.6, (choose.integers(5, 9), len(middle)))).tolist()

    def request(self, model, points, parts=1, **more):
        return {"degree": 4, "control_points": points, "samples": INTERVALS * parts + 1, "intervals": INTERVALS, "friction": False,
                "kinds": ["velocity", "effort"],
                "joint_limits": {"velocity": ARMS[model][2], "effort": ARMS[model][1], "acceleration": ACCELERATION}, **more}

    def torques(self, model, **state):
        return np.array(self.ask(model, "inverse-dynamics", {name: x.tolist() for name, x in state.items()} | {"friction": False})["tau"])

    def optimum(self, model, points):
        """Returns the duration of the motion with the largest sum of squared rates that keeps all limits at both ends of each interval of the
        grid."""
        s = np.linspace(0, 1, INTERVALS + 1)
        spline, width = clamped(4, points), np.diff(s)
        q, first, second = spline(s), spline(s, nu=1), spline(s, nu=2)
        still = self.torques(model, q=q)
        a, b = self.torques(model, q=q, qdd=first) - still, self.torques(model, q=q, qd=first, qdd=second) - still
        effort, cells = np.array(ARMS[model][1]), np.arange(INTERVALS)
        blocks, right = [], []
        for end in (0, 1):
            place = cells + end
            for u, x, most in ((a / effort, b / effort, (1 - still / effort, 1 + still / effort)),
                               (first / ACCELERATION, second / ACCELERATION, (np.ones_like(q), np.ones_like(q)))):
                for sign, room in zip((1, -1), most):
                    for k in range(q.shape[1]):
                        up, along = sign * u[place, k] / (2 * width), sign * x[place, k]
                        entries = np.concatenate([-up + along * (1 - end), up + along * end])
                        blocks.append(sparse.csr_matrix((entries, (np.tile(cells, 2), np.concatenate([cells, cells + 1]))),
                                                        (INTERVALS, INTERVALS + 1)))
                        right.append(room[place, k])
        bound = (ARMS[model][2] / np.maximum(np.abs(first), SLOW).max(axis=1)) ** 2
        bound[[0, -1]] = 0
        found = linprog(-np.ones(INTERVALS + 1), sparse.vstack(blocks), np.concatenate(right), method="highs-ds",
                        bounds=np.column_stack([np.zeros(INTERVALS + 1), bound]))
        rate = np.sqrt(np.maximum(found.x, 0))
        return (2 * width / (rate[1:] + rate[:-1])).sum()

    def test_optimum(self):
        """TOPP-RA takes the largest possible rate at one place after another. This is optimal except where the coefficient of the acceleration
        in a torque passes through zero (Pham & Pham 2018)."""
        for model in ARMS:
            for seed in range(3):
                with self.subTest(model=model, seed=seed):
                    points = self.path(model, seed)
                    found = self.ask(model, "path-timing", self.request(model, points))
                    optimum = self.optimum(model, points)
                    self.assertLess(abs(found["duration"] / optimum - 1), 1e-4)
                    self.assertGreater(found["duration"], optimum * (1 - 1e-9))
                    self.assertEqual(found["times"][-1], found["duration"])

    def test_limits(self):
        """On a grid ten times finer no limit is exceeded, with the torques of inverse-dynamics. The motion is the path with the answered
        derivatives of s, and the times follow from constant s̈ in each interval."""
        for model in ARMS:
            points, spline = self.path(model, 7), clamped(4, self.path(model, 7))
            found = {name: np.array(x) for name, x in self.ask(model, "path-timing", self.request(model, points, 10)).items() if name != "limits"}
            s, rate, u = found["s"], found["sd"], found["sdd"]
            qd, qdd = spline(s, nu=1) * rate[:, None], spline(s, nu=2) * rate[:, None] ** 2 + spline(s, nu=1) * u[:, None]
            for name, expected in (("q", spline(s)), ("qd", qd), ("qdd", qdd)):
                self.assertLess(np.abs(found[name] - expected).max(), 1e-9, name)
            tau = self.torques(model, q=found["q"], qd=found["qd"], qdd=found["qdd"])
            self.assertLess(np.abs(found["tau"] - tau).max(), 1e-8)
            load = np.column_stack([np.abs(tau) / ARMS[model][1], np.abs(qd) / ARMS[model][2], np.abs(qdd) / ACCELERATION])
            self.assertLess(load.max(), 1 + 1e-9)
            self.assertGreater(np.median(load.max(axis=1)), 0.98)
            self.assertLess(np.abs(np.diff(rate ** 2) - 2 * u[:-1] * np.diff(s)).max(), 1e-9)
            self.assertLess(np.abs(np.diff(found["times"]) - 2 * np.diff(s) / (rate[1:] + rate[:-1])).max(), 1e-12)
            self.assertEqual((rate[0], rate[-1]), (0, 0))

    def test_the_active_limit_is_one_that_is_reached_on_either_side(self):
        """A load is a value divided by its limit, computed with the acceleration of the interval before a place and with that of the interval
        after it. The limit that `active` names for a place has the load 1 in one of the two; a place without a name has all loads below 1."""
        kinds, seen = ("effort", "velocity", "acceleration"), set()
        for model, share, acceleration in (("ur5", 0.6, 25), ("panda", 0.7, 18)):
            effort, velocity = share * np.array(ARMS[model][1]), 0.8 * ARMS[model][2]
            limits = {"velocity": velocity, "effort": effort.tolist(), "acceleration": acceleration}
            points, spline = self.path(model, 11), clamped(4, self.path(model, 11))
            names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
            found = self.ask(model, "path-timing", self.request(model, points, 3, joint_limits=limits))
            s, rate, u = (np.array(found[name])[:, None] for name in ("s", "sd", "sdd"))
            first, second, sides = spline(s[:, 0], nu=1), spline(s[:, 0], nu=2), []
            for side in (u, np.vstack([u[:1], u[:-1]])):
                qd, qdd = first * rate, second * rate ** 2 + first * side
                tau = self.torques(model, q=spline(s[:, 0]), qd=qd, qdd=qdd)
                sides.append(np.column_stack([np.abs(tau) / effort, np.abs(qd) / velocity, np.abs(qdd) / acceleration]))
            load = np.maximum(*sides)
            columns = [kinds.index(limit["kind"]) * len(names) + names.index(limit["joint"]) for limit in found["limits"]]
            for place, active in enumerate(map(int, found["active"])):
                if active < 0:
                    self.assertLess(load[place].max(), 1 - 0.9e-6, place)
                    continue
                self.assertGreater(load[place, columns[active]], 1 - 1.1e-6, place)
                seen.add(found["limits"][active]["kind"])
        self.assertEqual(seen, set(kinds))

    def test_bang_bang(self):
        """A straight path of length L takes 2 sqrt(L / a) with the acceleration limit a, and L / v + v / a if the velocity is also limited by v.
        A mass m with viscous friction d is accelerated by the effort F, then slowed down by -F."""
        self.put_model("slide", {"links": [{"name": "car", "parent": "base", "inertial": body(2, (0, 0, 0)), "joint": {
            "name": "x", "type": "prismatic", "axis": [1, 0, 0], "friction": {"viscous": 3},
            "limits": {"velocity": 1.5, "effort": 10}}}]})
        ask = lambda **more: self.ask("slide", "path-timing", {"degree": 1, "control_points": [[0.5], [1.7]], "samples": 4001, **more})
        free = ask(friction=False, kinds=["effort"])
        self.assertLess(abs(free["duration"] - 2 * np.sqrt(1.2 / 5)), 1e-3)
        self.assertEqual(set(free["active"]), {0})
        cruise = ask(friction=False, kinds=["velocity"], joint_limits={"acceleration": 5})
        self.assertLess(abs(cruise["duration"] - (1.2 / 1.5 + 1.5 / 5)), 1e-3)
        self.assertEqual([(limit["kind"], limit["upper"]) for limit in cruise["limits"]], [("velocity", 1.5), ("acceleration", 5)])
        rubbing = ask(kinds=["effort"])
        v = np.array(rubbing["qd"])[:, 0]
        self.assertLess(np.abs(np.abs(rubbing["tau"]).max() - 10), 1e-9)
        # m dv/dt = F - d v, then m dv/dt = -F - d v: both in closed form; the switch from F to -F is where both distances add to L.
        m, d, F, L = 2, 3, 10, 1.2
        way = lambda t: F / d * (t - m / d * (1 - np.exp(-d * t / m)))
        top = lambda t: F / d * (1 - np.exp(-d * t / m))
        back = lambda v: m / d * np.log1p(d * v / F)
        brake = lambda v: m / d * (v - F / d * np.log1p(d * v / F))
        low, high = 0, 5
        for _ in range(100):
            t = (low + high) / 2
            low, high = (t, high) if way(t) + brake(top(t)) < L else (low, t)
        self.assertLess(abs(rubbing["duration"] - t - back(top(t))), 1e-3)
        self.assertLess(abs(v.max() - top(t)), 1e-3)

    # --- limits of jerk and effort_rate ----------------------------------------------------------------------------------

    def between(self, found, spline, intervals, times):
        """Returns q, qd, qdd and qddd on a grid `times` as fine, from the cubic polynomials of (dr/dt)² in each interval."""
        places = len(found["sd"]) - 1
        parts, r = places // intervals, np.arange(places + 1) / places
        rate = np.array(found["sd"])[1:-1] / (30 * r[1:-1] ** 2 * (1 - r[1:-1]) ** 2)
        square, states = np.concatenate([[0], rate ** 2, [0]]), []
        for i in range(intervals):
            inner = np.arange(1, parts)
            x = np.polynomial.Polynomial.fit(inner / parts, square[i * parts + inner], 3, domain=[0, 1], window=[0, 1])
            f = np.linspace(0, 1, parts * times + 1)
            g, y, u, w = (i + f) / intervals, x(f), x.deriv()(f) * intervals / 2, x.deriv(2)(f) * intervals ** 2 / 2
            d1, d2, d3 = 30 * g ** 2 * (1 - g) ** 2, 60 * g * (1 - g) * (1 - 2 * g), 60 * (1 - 6 * g * (1 - g))
            states.append([10 * g ** 3 - 15 * g ** 4 + 6 * g ** 5, d1 * np.sqrt(y), d1 * u + d2 * y, np.sqrt(y) * (d1 * w + 3 * d2 * u + d3 * y)])
        s, v, u, j = np.concatenate(states, axis=1)
        q0, q1, q2, q3 = (spline(np.clip(s, 0, 1), nu=order) for order in range(4))
        v, u, j = v[:, None], u[:, None], j[:, None]
        return {"q": q0, "qd": q1 * v, "qdd": q2 * v ** 2 + q1 * u, "qddd": q3 * v ** 3 + 3 * q2 * v * u + q1 * j}

    def test_no_limit_is_exceeded_between_places(self):
        """Limits of jerk and effort rate hold on a grid ten times finer, with torques and their rates by torque-derivative."""
        for model, more, loads in (("ur5", {}, 3), ("panda", {"jerk": 300, "acceleration": 15}, 5)):
            points, effort = self.path(model, 11), np.array(ARMS[model][1])
            limits = {"velocity": ARMS[model][2], "effort": effort.tolist(), "effort_rate": (20 * effort).tolist(), **more}
            spline = clamped(4, points)
            found = self.ask(model, "path-timing", {"degree": 4, "control_points": points, "samples": 601, "intervals": 120,
                                                    "friction": False, "joint_limits": limits})
            fine = self.between(found, spline, 120, 10)
            load = [np.abs(fine["qd"]).max() / ARMS[model][2]]
            if more:
                load += [np.abs(fine["qdd"]).max() / 15, np.abs(fine["qddd"]).max() / 300]
            for part in range(0, len(fine["q"]), 2000):
                answer = self.ask(model, "torque-derivative", {"friction": False} | {name: x[part:part + 2000].tolist() for name, x in fine.items()})
                load += [(np.abs(answer["tau"]) / effort).max(), (np.abs(answer["tau_dot"]) / (20 * effort)).max()]
            self.assertLess(max(load), 1 + 1e-6)
            self.assertGreater(max(load), 1 - 1e-3)
            self.assertGreater(found["duration"], found["second_order_duration"])
            self.assertLess(np.mean(np.array(found["active"]) < 0), 0.5)
            motion = {name: found[name] for name in ("q", "qd", "qdd", "qddd")}
            answer = self.ask(model, "torque-derivative", {**motion, "friction": False})
            for name in ("tau", "tau_dot"):
                self.assertLess(np.abs(np.array(answer[name]) - found[name]).max(), 1e-7)

    def test_jerk_alone_in_closed_form(self):
        """A straight path of length L with only the jerk limited by j takes (32 L / j)^(1/3): the jerk is j, -j, -j, j in equal quarters of the
        time."""
        self.put_model("cart", {"links": [{"name": "car", "parent": "base", "inertial": body(2, (0, 0, 0)), "joint": {
            "name": "x", "type": "prismatic", "axis": [1, 0, 0]}}]})
        found = self.ask("cart", "path-timing", {"degree": 1, "control_points": [[0.5], [1.7]], "samples": 1001,
                                                 "joint_limits": {"jerk": 40, "velocity": 1e3, "acceleration": 1e3}})
        exact = (32 * 1.2 / 40) ** (1 / 3)
        self.assertLess(found["duration"] / exact - 1, 3e-4)
        self.assertGreater(found["duration"] / exact - 1, 0)
        jerk = np.array(found["qddd"])[:, 0]
        self.assertLess(np.abs(jerk).max(), 40)
        self.assertGreater(np.median(np.abs(jerk)), 39.9)

    def test_damping_and_a_batch(self):
        """Viscous friction counts in the limits of torques and of their rates."""
        self.put_model("damped", {"links": [{"name": "car", "parent": "base", "inertial": body(2, (0, 0, 0)), "joint": {
            "name": "x", "type": "prismatic", "axis": [1, 0, 0], "friction": {"viscous": 3},
            "limits": {"effort": 10, "effort_rate": 100}}}]})
        request = {"degree": 5, "control_points": [[[0.5], [0.8], [0.9], [1.2], [1.3], [1.7]], [[0], [0.1], [0.5], [0.7], [0.8], [1]]], "samples": 501}
        whole = self.ask("damped", "path-timing", request)
        for row in range(2):
            alone = self.ask("damped", "path-timing", {**request, "control_points": request["control_points"][row]})
            for name in ("times", "tau_dot", "sddd", "second_order_duration"):
                self.assertEqual(whole[name][row], alone[name], name)
            fine = self.between(alone, clamped(5, request["control_points"][row]), 50, 10)
            places = {name: alone[name] for name in ("q", "qd", "qdd", "qddd")}
            rates = np.array(self.ask("damped", "torque-derivative", places)["tau_dot"])
            self.assertLess(np.abs(rates - alone["tau_dot"]).max(), 1e-9 * np.abs(rates).max())
            answer = self.ask("damped", "torque-derivative", {name: x.tolist() for name, x in fine.items()})
            self.assertLess(max(np.abs(answer["tau"]).max() / 10, np.abs(answer["tau_dot"]).max() / 100), 1 + 1e-6)
            self.assertGreater(np.abs(answer["tau_dot"]).max() / 100, 0.999)

    def test_order_of_joints(self):
        """Limits for each joint are in the order of the request."""
        points, names = np.array(self.path("ur5", 4)), [f"{name}_joint" for name in (
            "shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]
        most = np.array([9.0, 5, 7, 11, 6, 8])
        ask = lambda order: self.ask("ur5", "path-timing", {
            "degree": 4, "control_points": points[:, order].tolist(), "samples": 101, "joints": [names[i] for i in order],
            "joint_limits": {"acceleration": most[order].tolist()}, "kinds": ["velocity"]})
        plain, turned = ask(np.arange(6)), ask(np.array([3, 1, 5, 0, 2, 4]))
        self.assertEqual(plain["times"], turned["times"])
        self.assertEqual(plain["limits"], turned["limits"])

    def test_paths_that_rest_at_both_ends(self):
        """Three equal control points at each end do not slow a path down: the motion takes as long as on the same line without these points."""
        way = np.array([1, -0.7, 0.85, -0.5, 0.65, -0.9])
        limits = {"kinds": ["velocity", "effort", "acceleration", "jerk"], "joint_limits": {"acceleration": 10, "jerk": 100}}
        ask = lambda values, degree, **more: self.ask("ur5", "path-timing", {
            "degree": degree, "control_points": np.multiply.outer(values, way).tolist(), "samples": 201, **limits, **more})
        straight = ask([0, 0.6], 1)["duration"]
        for values, degree, above in (([0, 0, 0, 0.18, 0.42, 0.6, 0.6, 0.6], 5, 3e-3), ([0, 0, 0, 0.6, 0.6, 0.6], 3, 3e-3),
                                      ([0, 0, 0, 0, 0.6, 0.6, 0.6, 0.6], 4, 1e-2)):
            found = ask(values, degree)
            self.assertClose(found["duration"] / straight, 1, above)
            for key, most in (("qdd", 10), ("qddd", 100)):
                self.assertLessEqual(np.abs(found[key]).max(), most * (1 + 1e-6), key)
            for key in ("qd", "qdd"):
                self.assertLess(np.abs(np.array(found[key])[[0, -1]]).max(), 1e-12, key)
            self.assertLess(np.abs(np.diff(found["s"]) - 1 / 200).max(), 1e-12)
        # all paths of a batch have the same grid: since one of them does not rest at its ends, the dense one
        both = ask([0, 0, 0, 0.18, 0.42, 0.6, 0.6, 0.6], 5, control_points=[np.multiply.outer(v, way).tolist() for v in (
            [0, 0, 0, 0.18, 0.42, 0.6, 0.6, 0.6], [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6])])
        self.assertLess(both["s"][0][1], 1e-5)

    def test_no_timing(self):
        points = self.path("ur5", 0)
        fail = lambda **more: self.assertProblem(self.client.post("/v1/models/ur5/path-timing", {
            "degree": 4, "control_points": points, "samples": 101, **more}), 422)
        weak = fail(joint_limits={"effort": [150, 5, 150, 28, 28, 28]})
        self.assertEqual(weak["code"], "no-timing")
        self.assertIn("effort of shoulder_lift_joint", weak["detail"])
        self.assertIn("at s = ", weak["detail"])
        self.assertIn("no limit bounds the speed", fail(kinds=["position"])["detail"])
        still = self.assertProblem(self.client.post("/v1/models/ur5/path-timing", {
            "degree": 3, "control_points": [points[0]] * 5, "samples": 5}), 422)
        self.assertEqual(still["code"], "no-timing")
        # the motor is too weak to hold the arm level, where the path begins
        self.put_model("weak", {"links": [{"name": "arm", "parent": "base", "inertial": body(1, (0.5, 0, 0)), "joint": {
            "name": "x", "type": "revolute", "axis": [0, 1, 0], "limits": {"position": [-9, 9], "velocity": 9, "effort": 3}}}]})
        lifted = self.assertProblem(self.client.post("/v1/models/weak/path-timing", {
            "degree": 1, "control_points": [[0], [-np.pi / 2]], "samples": 101, "kinds": ["effort"]}), 422)
        self.assertIn("at s = 0, an end of the path, the robot cannot stand still within the limit of effort of x", lifted["detail"])
        # The motor can hold the arm at both ends, but not lift it over the horizontal between them.
        over = self.assertProblem(self.client.post("/v1/models/weak/path-timing", {
            "degree": 1, "control_points": [[np.pi / 2], [-np.pi / 2]], "samples": 101, "kinds": ["effort"]}), 422)
        self.assertIn("does not let the robot keep a speed", over["detail"])
        here, on = (float(word) for word in re.search(r"at s = (\S+) the limit of effort of x .* from s = (\S+)$", over["detail"]).groups())
        self.assertLessEqual(here, on)
        two = self.assertProblem(self.client.post("/v1/models/ur5/path-timing", {"degree": 1, "control_points": points[:2], "samples": 2}), 422)
        self.assertIn("between 2 samples there is no place to move at", two["detail"])
        far = [points[0], [9, *points[0][1:]]]
        outside = self.assertProblem(self.client.post("/v1/models/ur5/path-timing", {"degree": 1, "control_points": far, "samples": 101}), 422)
        self.assertIn("at s = 0.71 the path leaves the limits of position of shoulder_pan_joint", outside["detail"])

    def test_a_batch_is_its_paths(self):
        """Rows have the bits of requests of one row; a row that fails does not fail the others."""
        points = np.array([self.path("ur5", 2)] * 3) * np.array([1, 1.1, 0.9])[:, None, None]
        request = self.request("ur5", points.tolist())
        whole = self.ask("ur5", "path-timing", request)
        for row in range(3):
            alone = self.ask("ur5", "path-timing", {**request, "control_points": points[row].tolist()})
            for name in ("times", "sd", "sdd", "qdd", "tau", "active", "duration"):
                self.assertEqual(whole[name][row], alone[name], name)
        points[1] += [20, 0, 0, 0, 0, 0]
        request = {**self.request("ur5", points.tolist()), "kinds": ["position"], "on_error": "row"}
        some = self.ask("ur5", "path-timing", request)
        self.assertEqual([(error["row"], error["code"]) for error in some["errors"]], [(1, "no-timing")])
        self.assertEqual((some["duration"][0], some["duration"][1], some["tau"][1]), (whole["duration"][0], None, None))

    def test_refusals(self):
        ask = lambda model, pointer, **more: self.assertProblem(self.client.post(f"/v1/models/{model}/path-timing", {
            "degree": 1, "control_points": [[0] * 6, [1] * 6], "samples": 7, **more}), 422, pointer)
        ask("ur5", "/intervals", intervals=4)
        ask("ur5", "/intervals", intervals=0)
        ask("ur5", "/samples", samples=1)
        ask("ur5", "/joint_limits/speed", joint_limits={"speed": 3})
        ask("ur5", "/joint_limits/effort/2", joint_limits={"effort": [1, 1, 0, 1, 1, 1]})
        ask("ur5", "/joint_limits/velocity", joint_limits={"velocity": -1})
        ask("ur5", "/joint_limits/acceleration", joint_limits={"acceleration": [1, 2]})
        ask("ur5", "/kinds/0", kinds=["speed"])
        ask("ur5", "/degree", control_points=[[0] * 6, [1] * 6, [0] * 6])
        ask("ur5", "/intervals", samples=12, joint_limits={"jerk": 100})
        ask("ur5", "/intervals", intervals=3, joint_limits={"jerk": 100})
        ask("ur5", "/outputs/0", outputs=["qddd"])
        ask("ur5", "/degree", degree=2, control_points=[[0] * 6, [1] * 6, [0] * 6, [1] * 6], samples=11, joint_limits={"jerk": 100})
        self.put_model("sharp", {"links": [{"name": "car", "parent": "base", "inertial": body(2, (0, 0, 0)), "joint": {
            "name": "x", "type": "prismatic", "axis": [1, 0, 0], "friction": {"coulomb": 1}}}]})
        back = {"degree": 2, "control_points": [[0], [1], [0.3]], "samples": 41, "joint_limits": {"effort": 5, "effort_rate": 50}}
        self.assertIn("x turns back", ask("sharp", "/control_points", **back)["detail"])
        # s of the sample at the fraction r of the grid; this spacing is used where rates of efforts are limited
        place = lambda r: 10 * r**3 - 15 * r**4 + 6 * r**5
        for n in range(1, 9):   # the slide reverses between samples n and n + 1 of 11, at s = 1 / (2 - c) for the last control point c
            turning = {**back, "samples": 11, "control_points": [[0], [1], [2 - 1 / place((n + 0.4) / 10)]]}
            self.assertIn(f"at s = {place(n / 10):.6g} x turns back", ask("sharp", "/control_points", **turning)["detail"], n)
        weak = ask("ur5", "/control_points", samples=41, joint_limits={"effort": [150, 5, 150, 28, 28, 28], "effort_rate": 100})
        self.assertEqual(weak["code"], "no-timing")
        self.assertEqual(ask("stewart", None)["code"], "not-for-loops")
        self.put_model("greased", {"links": [{"name": "car", "parent": "base", "inertial": body(2, (0, 0, 0)), "joint": {
            "name": "x", "type": "prismatic", "axis": [1, 0, 0], "friction": {"coulomb": 1, "coulomb_velocity": 0.1}}}]})
        smooth = ask("greased", None, control_points=[[0], [1]])
        self.assertEqual(smooth["code"], "not-supported")


if __name__ == "__main__":
    tap.main()
