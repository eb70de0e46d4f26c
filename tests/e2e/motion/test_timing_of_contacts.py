"""Tests path-timing with held frames: against reachability passes of linear programs in all variables that SciPy solves,
with torques of inverse-dynamics and Jacobians of kinematics, closed forms of a sliding block, and refusals."""
import copy
import json

import cbor2
import numpy as np
import tap
from contacts import AXES, ContactCase
from held_robots import limits, random_robot
from samples import body
from scipy.interpolate import make_interp_spline
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

XYZ = ["x", "y", "z"]
FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
SOLO = [0, 0, 0.24, 0, 0, 0] + [0.05, 0.8, -1.6] * 2 + [0.05, -0.8, 1.6] * 2
SOLE = [[0.11, 0.05, 0], [0.11, -0.05, 0], [-0.06, -0.05, 0], [-0.06, 0.05, 0]]
BEND = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}  # rad
DEGREE, KNOTS = 7, 60  # degree and number of interpolated points with which the splines keep the held frames in place within 1e-9
G = 9.81
SHOE, LOAD = 0.4, 2.6  # kg, masses of the shoe and of the load that slides on it
SLIDER = {"base": {"type": "floating", "link": "shoe", "inertial": {"mass": SHOE, "com": [0, 0, 0], "inertia": {
    "xx": 0.01, "yy": 0.02, "zz": 0.03}}},
    "links": [{"name": "load", "parent": "shoe", "inertial": body(LOAD, (0, 0, 0.05)),
               "joint": {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "origin": {"xyz": [0, 0, 0.1]}}}],
    "frames": [{"name": f"foot{i}", "link": "shoe", "xyz": [2 * (-1) ** i, 0.5 * (-1) ** (i // 2), 0]} for i in range(4)]}


def points(names, **more):
    return [{"frame": name, "axes": XYZ, **more} for name in names]


class TimingOfContacts(ContactCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/slider", SLIDER).status == 201

    # --- paths that hold frames -------------------------------------------------------------------------------------------

    def state(self, coordinates):
        """Returns q from rows of coordinates in which the base has six entries, position and rotation; the rotation is zero."""
        c = np.atleast_2d(coordinates)
        return np.hstack([c[:, :3], np.zeros((len(c), 3)), np.ones((len(c), 1)), c[:, 6:]])

    def rows(self, model, q, held):
        """Returns the Jacobians along the held axes, and the positions of the frames, of many states."""
        J, at = [], []
        for entry in held:
            found = self.ask(model, "kinematics", {"q": q.tolist(), "frame": entry["frame"], "frames": [entry["frame"]],
                                                   "outputs": ["jacobian", "poses"]})
            J.append(np.array(found["jacobian"])[:, [AXES.index(axis) for axis in entry.get("axes", AXES)]])
            pose = found["poses"][entry["frame"]]
            at.append((np.array(pose["position"]), Rotation.from_quat(pose["orientation"]).as_matrix()))
        return np.concatenate(J, axis=1), at

    def path(self, model, start, base, held):
        """Returns a spline whose base moves by base(s) and whose held frames rest, and the fields of the request."""
        s = (1 - np.cos(np.pi * np.arange(KNOTS) / (KNOTS - 1))) / 2  # dense at both ends, where splines are least exact
        moved = base(s)
        c = np.tile(np.array(start, dtype=float), (KNOTS, 1))
        _, home = self.rows(model, self.state(c[:1]), held)
        c[:, :3] += moved
        for _ in range(12):
            J, at = self.rows(model, self.state(c), held)
            error = []
            for entry, (p, R), (p0, R0) in zip(held, at, home):
                turn = 0.5 * sum(np.cross(R[:, :, i], np.broadcast_to(R0[0, :, i], p.shape)) for i in range(3))
                error.append(np.hstack([p0 - p, turn])[:, [AXES.index(axis) for axis in entry.get("axes", AXES)]])
            c[:, 6:] += np.einsum("nij,nj->ni", np.linalg.pinv(J[:, :, 6:], rcond=1e-8), np.concatenate(error, axis=1))
        self.assertLess(np.abs(np.concatenate(error, axis=1)).max(), 1e-12)
        spline = make_interp_spline(s, c, k=DEGREE)
        return spline, {"degree": DEGREE, "knots": spline.t.tolist(), "control_points": spline.c.tolist()}

    # --- reference --------------------------------------------------------------------------------------------------------

    def torques(self, model, **state):
        return np.array(self.ask(model, "inverse-dynamics", {name: x.tolist() for name, x in state.items()} | {"friction": False})["tau"])

    def polytopes(self, model, spline, s, held, effort):
        """Returns, for each place, the rows of equations and inequalities in (s̈, ṡ², wrenches): tau of the base is zero,
        torques of joints are within `effort`, wrenches within the limits of the contacts."""
        q, first, second = self.state(spline(s)), spline(s, nu=1), spline(s, nu=2)
        still = self.torques(model, q=q)
        a, b = self.torques(model, q=q, qdd=first) - still, self.torques(model, q=q, qd=first, qdd=second) - still
        J, _ = self.rows(model, q, held)
        G, h, _ = limits(held)
        found = []
        for n in range(len(s)):
            motion = np.column_stack([a[n], b[n], -J[n].T])
            upper = np.vstack([motion[6:], -motion[6:], np.hstack([np.zeros((len(G), 2)), -G])])
            right = np.concatenate([effort - still[n, 6:], effort + still[n, 6:], -h])
            found.append((motion[:6], -still[n, :6], upper, right))
        return found

    def program(self, sides, width, low, high, x, objective):
        """Solves one linear program of a pass for s̈ and ṡ² at the start of an interval, subject to the constraints at both ends of the
        interval. Returns (s̈, ṡ²), or None."""
        k = sides[0][0].shape[1] - 2
        blocks = [[], [], [], []]
        for end, (E, e, U, r) in enumerate(sides):
            for M, right, to, bound in ((E, e, blocks[0], blocks[1]), (U, r, blocks[2], blocks[3])):
                turned = np.zeros((len(M), 2 + 2 * k))
                turned[:, 0] = M[:, 0] + 2 * width * end * M[:, 1]
                turned[:, 1] = M[:, 1]
                turned[:, 2 + k * end:2 + k * (end + 1)] = M[:, 2:]
                to.append(turned), bound.append(right)
        behind = np.zeros((2, 2 + 2 * k))
        behind[:, :2] = [[2 * width, 1], [-2 * width, -1]]
        cost = np.zeros(2 + 2 * k)
        cost[:2] = objective
        found = linprog(cost, np.vstack(blocks[2] + [behind]), np.concatenate(blocks[3] + [[high, -low]]), np.vstack(blocks[0]),
                        np.concatenate(blocks[1]), bounds=[(None, None), x] + [(None, None)] * (2 * k), method="highs-ds",
                        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
        return found.x[:2] if found.status == 0 else None

    def optimum(self, model, spline, samples, held, effort):
        """Returns the duration by reachability (Pham & Pham 2018) with linear programs in all variables."""
        s = np.linspace(0, 1, samples)
        place, width = self.polytopes(model, spline, s, held, effort), 1 / (samples - 1)
        low, high = np.zeros(samples), np.zeros(samples)
        for i in reversed(range(samples - 1)):
            least = self.program(place[i:i + 2], width, low[i + 1], high[i + 1], (0, None), (0, 1))
            most = self.program(place[i:i + 2], width, low[i + 1], high[i + 1], (0, None), (0, -1))
            self.assertIsNotNone(least)
            low[i], high[i] = max(least[1], 0), most[1]
        x = np.zeros(samples)
        for i in range(samples - 1):
            u = self.program(place[i:i + 2], width, low[i + 1], high[i + 1], (x[i] * (1 - 1e-9), x[i]), (-1, 0))
            x[i + 1] = min(max(x[i] + 2 * width * u[0], low[i + 1]), high[i + 1])
        rate = np.sqrt(x)
        return (2 * width / (rate[1:] + rate[:-1])).sum()

    def check_wrenches(self, model, found, held, effort):
        """At every place inverse-dynamics with these wrenches gives these torques; the wrenches are within all limits, and
        so are the torques."""
        q, qd, qdd = (np.array(found[name]) for name in ("q", "qd", "qdd"))
        J, _ = self.rows(model, q, held)
        wrenches = np.array([self.chosen(held, w) for w in found["contact_wrenches"]])
        tau = self.torques(model, q=q, qd=qd, qdd=qdd) - np.einsum("nij,ni->nj", J, wrenches)
        size = np.abs(wrenches).max()
        self.assertLess(np.abs(tau - found["tau"]).max(), 1e-9 * size)
        self.assertEqual(np.abs(np.array(found["tau"])[:, :6]).max(), 0)
        self.assertLess((np.abs(tau[:, 6:]) / effort).max(), 1 + 1e-9)
        G, h, cones = limits(held)
        slack = [wrenches @ G.T - h] + [(wrenches @ n - np.hypot(wrenches @ t1, wrenches @ t2))[:, None] for n, t1, t2 in cones]
        self.assertGreater(np.hstack(slack).min(), -1e-9 * size)

    def check_names(self, found, held, effort):
        """Checks that most of the limits in `active` are reached by the answered wrenches. Some places name a limit that is reached with the
        acceleration of the interval before, which has other wrenches."""
        reached = 0
        for active, wrenches, tau in zip(map(int, found["active"]), found["contact_wrenches"], found["tau"]):
            limit = found["limits"][active]
            if "joint" in limit:
                reached += active >= 0 and np.abs(tau).max() > effort * (1 - 1e-6)
                continue
            i = [entry["frame"] for entry in held].index(limit["frame"])
            G, h, _ = limits([held[i]])
            w = self.chosen([held[i]], [wrenches[i]])
            facets, sole, torsion = held[i]["facets"], len(held[i].get("sole", [])), 2 * ("torsional_friction_coefficient" in held[i])
            ends = np.cumsum([0, 1, facets, torsion, sole])
            kind = ["least_normal_force", "friction_coefficient", "torsional_friction_coefficient", "sole"].index(limit["kind"])
            reached += (G @ w - h)[ends[kind]:ends[kind + 1]].min() < 1e-6 * np.abs(wrenches).max()
        self.assertGreater(reached, 0.5 * len(found["active"]))

    def compare(self, model, start, base, held, effort, samples=25):
        spline, fields = self.path(model, start, base, held)
        request = {**fields, "samples": samples, "held": held, "kinds": ["effort"], "joint_limits": {"effort": effort}, "friction": False}
        found = self.ask(model, "path-timing", request)
        optimum = self.optimum(model, spline, samples, held, effort)
        self.assertLess(abs(found["duration"] / optimum - 1), 1e-6)
        self.check_wrenches(model, found, held, effort)
        self.check_names(found, held, effort)
        kinds = {found["limits"][int(i)]["kind"] for i in found["active"] if i >= 0}
        return kinds, found

    # --- against linear programs ------------------------------------------------------------------------------------------

    def test_a_quadruped_squats_on_four_feet(self):
        sway = lambda s: np.column_stack([0.06 * np.sin(np.pi * s), 0.02 * np.sin(2 * np.pi * s), 0.04 * (np.cos(2 * np.pi * s) - 1)])
        seen = set()
        for more in ({"friction_coefficient": 0.25}, {"friction_coefficient": 0.9}, {"friction_coefficient": 0.4, "least_normal_force": 2}):
            with self.subTest(**more):
                kinds, found = self.compare("solo12", SOLO, sway, points(FEET, facets=6, **more), 2.7)
                seen |= kinds
        self.assertEqual(seen, {"friction_coefficient", "least_normal_force", "effort"})

    def test_a_biped_shifts_its_weight_on_two_soles_and_leans_on_a_hand(self):
        sway = lambda s: np.column_stack([0.03 * np.sin(2 * np.pi * s), 0.04 * np.sin(np.pi * s), 0.04 * (np.cos(2 * np.pi * s) - 1)])
        names, start = self.ok(self.client.get("/v1/models/humanoid"))["velocity_names"], [0] * 6
        for name in names[6:]:
            start.append(next((angle for part, angle in BEND.items() if part in name), 0))
        seen = set()
        palm = {"frame": "left_palm", "axes": XYZ, "normal": [1, 0, 0.2], "friction_coefficient": 0.5, "facets": 5}
        for more, hand in (({"sole": SOLE}, []), ({"sole": SOLE, "torsional_friction_coefficient": 0.01}, [palm])):
            with self.subTest(hands=len(hand)):
                held = hand + [{"frame": side, "reference": "frame", "friction_coefficient": 0.4, "facets": 8, **more} for side in ("left_sole", "right_sole")]
                kinds, found = self.compare("humanoid", start, sway, held, 200, 19)
                seen |= kinds
        self.assertGreaterEqual(seen, {"sole", "torsional_friction_coefficient"})

    def test_cones_are_pyramids_inside(self):
        """A friction cone without facets counts as a pyramid of 16 edges inside it."""
        sway = lambda s: np.column_stack([0.05 * np.sin(np.pi * s), 0.04 * np.sin(2 * np.pi * s), 0 * s])
        spline, fields = self.path("solo12", SOLO, sway, points(FEET))
        request = {**fields, "samples": 41, "kinds": ["effort"], "joint_limits": {"effort": 2.7}}
        cone, pyramid, more = (self.ask("solo12", "path-timing", {**request, "held": points(FEET, friction_coefficient=mu, **facets)})
                               for mu, facets in ((0.3, {}), (0.3, {"facets": 16}), (0.3 / np.cos(np.pi / 16), {})))
        self.assertEqual(cone["duration"], pyramid["duration"])
        self.assertLess(more["duration"], cone["duration"])
        self.assertGreater(more["duration"], 0.98 * cone["duration"])
        self.check_wrenches("solo12", cone, points(FEET, friction_coefficient=0.3), 2.7)

    def test_random_robots_move_one_joint_beyond_held_frames(self):
        """Each random robot has several held frames with wide limits of the wrenches. Only the last joint moves, and only its acceleration limit
        is active: it accelerates over the first half of the path and decelerates over the second."""
        most, length = 7, 0.5
        for seed in (1, 104, 148, 254, 258, 261, 262):
            with self.subTest(seed=seed):
                choose, document = np.random.default_rng(3000 + seed), random_robot(seed)
                self.client.put("/v1/models/random", document)
                nv = len(self.ok(self.client.get("/v1/models/random"))["velocity_names"])
                start = np.concatenate([choose.uniform(-1, 1, 3), [0, 0, 0], choose.uniform(-1, 1, nv - 6)])
                end = start + length * (np.arange(nv) == nv - 1)
                names = [frame["name"] for frame in document["frames"][:-1]]
                held = [{"frame": str(name), "friction_coefficient": choose.uniform(0.3, 1.2), "normal": [*choose.uniform(-0.3, 0.3, 2), 1]}
                        for name in choose.choice(names, size=min(4, len(names)), replace=False)]
                found = self.ask("random", "path-timing", {"degree": 1, "control_points": [start.tolist(), end.tolist()], "samples": 9, "held": held,
                                                           "friction": False, "kinds": ["position"], "joint_limits": {"acceleration": most}})
                self.assertLess(abs(found["duration"] / (2 * np.sqrt(length / most)) - 1), 1e-9)

    # --- closed forms -----------------------------------------------------------------------------------------------------

    def test_a_load_that_slides_on_a_shoe_is_limited_by_the_friction_of_the_shoe(self):
        """The ground accelerates the load by at most mu g (M + m) / M, over the first half of the path forwards, over the second half
        backwards."""
        for mu, length in ((0.2, 0.5), (0.7, 1.3)):
            held = points([f"foot{i}" for i in range(4)], friction_coefficient=mu, facets=4)
            found = self.ask("slider", "path-timing", {"degree": 1, "control_points": [[0] * 7, [0] * 6 + [length]], "samples": 101,
                                                       "kinds": ["position"], "held": held})
            # with four facets an edge of the pyramid lies along the tangent x, so that the full mu acts
            most = mu * G * (SHOE + LOAD) / LOAD
            self.assertLess(abs(found["duration"] / (2 * np.sqrt(length / most)) - 1), 1e-6)
            self.assertEqual({found["limits"][int(i)]["kind"] for i in found["active"]}, {"friction_coefficient"})
            self.assertLess(np.abs(np.abs(np.array(found["qdd"])[:, 6]) - most).max(), 1e-6 * most)

    def test_a_shoe_that_is_glued_to_the_ground_without_gravity(self):
        """The force of the load alone is on the ground: at most `most` newtons, half the way forwards, half the way back."""
        most, length = 7.0, 0.8
        held = [{"frame": "foot0"}]
        document = copy.deepcopy(SLIDER)
        document["links"][0]["joint"]["limits"] = {"effort": most}
        self.put_model("glued", document)
        found = self.ask("glued", "path-timing", {"degree": 1, "control_points": [[0] * 7, [0] * 6 + [length]], "samples": 101, "kinds": ["effort"],
                                                  "held": held, "gravity": [0, 0, 0]})
        self.assertLess(abs(found["duration"] / (2 * np.sqrt(length * LOAD / most)) - 1), 1e-6)

    # --- requests ---------------------------------------------------------------------------------------------------------

    def slide(self, length=0.5, samples=11, mu=0.4, **more):
        held = points([f"foot{i}" for i in range(4)], friction_coefficient=mu, facets=4)
        return {"degree": 1, "control_points": [[0] * 7, [0] * 6 + [length]], "samples": samples, "kinds": ["position"], "held": held, **more}

    def test_a_batch_has_the_bits_of_single_paths(self):
        """A path gets the same bits in CBOR, at any index of a batch, and with other outputs selected."""
        sway = lambda s: np.column_stack([0.04 * np.sin(np.pi * s), 0.02 * np.sin(2 * np.pi * s), 0.03 * (np.cos(2 * np.pi * s) - 1)])
        held = points(FEET, friction_coefficient=0.5, least_normal_force=0.5)
        paths = [self.path("solo12", start, sway, held)[1] for start in (SOLO, [0.1, 0, 0.25] + SOLO[3:], [0, -0.2, 0.23] + SOLO[3:])]
        request = {"degree": DEGREE, "knots": paths[0]["knots"], "samples": 9, "held": held, "kinds": ["effort"], "joint_limits": {"effort": 2.5}}
        together = self.ask("solo12", "path-timing", {**request, "control_points": [path["control_points"] for path in paths]})
        for i, path in enumerate(paths):
            alone = {**request, "control_points": path["control_points"]}
            answer = self.ask("solo12", "path-timing", alone)
            coded = self.client.post("/v1/models/solo12/path-timing", cbor2.dumps(alone), Content_Type="application/cbor")
            self.assertEqual(cbor2.loads(coded.body), answer)
            for name, value in answer.items():
                if name == "limits":
                    self.assertEqual(value, together[name])
                    continue
                self.assertEqual(together[name][i], value, name)
            few = self.ask("solo12", "path-timing", {**alone, "outputs": ["contact_wrenches", "duration"]})
            self.assertEqual(few, {name: answer[name] for name in few})

    def test_limits_are_listed_with_frame_and_kind(self):
        held = [{"frame": "left_sole", "reference": "frame", "friction_coefficient": 0.4, "least_normal_force": 3, "sole": SOLE,
                 "torsional_friction_coefficient": 0.02}, {"frame": "right_sole"}]
        names = self.ok(self.client.get("/v1/models/humanoid"))["velocity_names"]
        rest, moved = [0] * len(names), [0.1 * ("neck_yaw" in name) for name in names]
        found = self.ask("humanoid", "path-timing", {"degree": 1, "control_points": [rest, moved], "samples": 3, "kinds": ["position"],
                                                     "joint_limits": {"acceleration": 1}, "held": held, "outputs": ["limits", "duration"]})
        self.assertEqual([limit for limit in found["limits"] if "frame" in limit], [
            {"frame": "left_sole", "kind": "least_normal_force", "lower": 3}, {"frame": "left_sole", "kind": "friction_coefficient", "upper": 0.4},
            {"frame": "left_sole", "kind": "torsional_friction_coefficient", "upper": 0.02}, {"frame": "left_sole", "kind": "sole"}])

    def refused(self, model, request, code, pattern, pointer=None):
        answer = self.client.post(f"/v1/models/{model}/path-timing", request)
        self.assertEqual((answer.status, answer.json()["code"]), (422, code), answer)
        self.assertRegex(answer.json()["detail"], pattern)
        if pointer:
            self.assertEqual(answer.json().get("pointer"), pointer)

    def test_refusals_name_the_cause(self):
        shift = self.slide(control_points=[[0] * 7, [0.1] + [0] * 6])
        self.refused("slider", shift, "held-frame-accelerates", "at s = 0 the path moves held frame foot0: its first derivative .* along x is 0.1 m")
        steep = self.slide(gravity=[4.2, 0, -9.81])
        self.refused("slider", steep, "no-timing", "at s = 0, an end of the path, the robot cannot stand still within the limit of friction_coefficient of foot[0-3]")
        self.refused("slider", self.slide(gravity=[0, 0, 9.81]), "no-timing", "at s = 0 no speed and acceleration is within the limits of the contacts and "
                     "efforts: these contradict each other: least_normal_force of foot0")
        light = self.slide(held=points(["foot0", "foot1"], friction_coefficient=0.4))
        self.refused("slider", light, "infeasible-contacts", "no wrenches along the held axes bear motions along this path: .* remain at")
        self.refused("slider", self.slide(joint_limits={"jerk": 3}), "not-supported", "no limits of jerk, .*leave it out of joint_limits", "/held")
        self.refused("slider", self.slide(outputs=["dduration_dlimits"]), "bad-value", "not computed with held frames")
        wheel = self.slide(held=[{"frame": "foot0", "rolling": {"radius": 0.1}}])
        self.refused("slider", wheel, "not-supported", "path-timing has no rolling frames", "/held/0/rolling")
        free = {name: value for name, value in self.slide().items() if name != "held"}
        self.refused("slider", {**free, "outputs": ["contact_wrenches"]}, "bad-value", "only with held frames")
        self.refused("slider", self.slide(held=[{"frame": "shoe"}]), "no-timing", "bound neither speed nor acceleration: give joint_limits|no limit bounds")
        rubbing = json.loads(json.dumps(SLIDER))
        rubbing["links"][0]["joint"]["friction"] = {"viscous": 1}
        self.client.put("/v1/models/rubbing", rubbing)
        self.refused("rubbing", self.slide(), "not-supported", 'send "friction": false')
        self.ask("rubbing", "path-timing", self.slide(friction=False))

    def test_a_path_that_fails_leaves_the_others(self):
        moving, resting = [[0] * 7, [0.1] + [0] * 6], [[0] * 7, [0] * 6 + [0.3]]
        alone = self.ask("slider", "path-timing", self.slide(control_points=resting))
        found = self.ask("slider", "path-timing", self.slide(control_points=[moving, resting], on_error="row"))
        self.assertEqual([error["code"] for error in found["errors"]], ["held-frame-accelerates"])
        self.assertIsNone(found["duration"][0])
        for name in ("times", "tau", "contact_wrenches", "duration"):
            self.assertEqual(found[name][1], alone[name])


if __name__ == "__main__":
    tap.main()
