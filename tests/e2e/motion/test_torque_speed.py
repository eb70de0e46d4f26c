"""Tests torque-speed lines, |effort| <= stall_effort - slope |velocity|: margins against those of efforts and velocities with mimic joints,
elastic joints, transmissions and loops, gradients against extrapolated differences, clipped controllers and the fastest timing of one joint in
closed form, and an arm with one of its motors at a limit along the whole path."""
import copy
import json
import math

import numpy as np
import tap
from dependent import TREES, Dependent
from samples import body
from scipy.optimize import brentq

LINE = ["effort_speed"]
GRADIENTS = ["dmargins_dq", "dmargins_dqd", "dmargins_dqdd", "dmargins_dqddd"]
STATE = ("q", "qd", "qdd", "qddd")
STALL, SLOPE, INERTIA = 7, 2.5, 0.8


def with_lines(document, speed=3):
    """Gives each joint that has an effort limit a torque-speed line, and sets its effort limit to the stall effort."""
    document, choose = copy.deepcopy(document), np.random.default_rng(8)
    for link in document["links"]:
        if "effort" in link["joint"].get("limits", {}):
            stall = float(choose.uniform(2, 20))
            link["joint"]["limits"] = {"velocity": speed, "effort": stall, "effort_speed": {"stall_effort": stall, "slope": float(choose.uniform(0.2, 2))}}
    return document


def flywheel(**limits):
    """One joint about a vertical axis, with a constant inertia."""
    return {"links": [{"name": "wheel", "parent": "base", "inertial": body(1, (0, 0, 0), 0.1, 0.1, INERTIA),
                       "joint": {"name": "turn", "type": "continuous", "axis": [0, 0, 1],
                                 "limits": {"effort_speed": {"stall_effort": STALL, "slope": SLOPE}, **limits}}}]}


class TorqueSpeed(Dependent):
    LOOPED = ("five_bar", "delta")

    def lined(self, model):
        document = self.documents["limited-" + model] if model in self.LOOPED else TREES[model]
        self.put("lined-" + model, with_lines(document))
        return self.about["lined-" + model]

    def speeds(self, model, s, got):
        """Returns for each torque-speed line the speed of its joint or motor, and the line."""
        names, velocity = self.about[model]["velocity_names"], {}
        for limit, margins in zip(got["limits"], np.array(got["margins"]).T):
            if limit["kind"] == "velocity":
                velocity[limit["joint"]] = limit["upper"] - margins
        for joint in self.about[model]["joints"]:
            if "elastic" in joint:
                velocity[joint["name"]] = np.abs(np.array(s["qd"])[:, names.index(joint["name"] + ".motor")])
        return velocity

    def check_margins(self, model, s):
        got = self.ask(model, "margins", {**s, "outputs": ["limits", "margins", "least"]})
        speeds, efforts, count = self.speeds(model, s, got), {}, 0
        for limit, margins, least in zip(got["limits"], np.array(got["margins"]).T, got["least"]):
            self.assertEqual(least["margin"], margins.min())
            if limit["kind"] == "effort":
                efforts[limit["joint"]] = margins
            if limit["kind"] == "effort_speed":
                line = next(j for j in self.about[model]["joints"] if j["name"] == limit["joint"])["limits"]["effort_speed"]
                self.assertEqual((limit["upper"], limit["slope"], limit["lower"]), (line["stall_effort"], line["slope"], -line["stall_effort"]))
                self.near(margins, efforts[limit["joint"]] - line["slope"] * speeds[limit["joint"]], 1e-13, (model, limit), 10)
                count += 1
        self.assertGreater(count, 3)

    def test_margins(self):
        """The margin is that of the effort less slope times the magnitude of the speed, for leaders, mimic joints, elastic joints, for which the
        motor's effort and speed count, and passive joints, whose effort is 0."""
        for model in TREES:
            self.lined(model)
            self.check_margins("lined-" + model, self.tree_states(model, 9))
        for model in self.LOOPED:
            self.lined(model)
            self.check_margins("lined-" + model, {name: rows for name, rows in self.states(model, 7).items() if name in STATE})

    def test_gradients(self):
        for model in (*TREES, *self.LOOPED):
            about, of = self.lined(model), "lined-" + model
            s = self.tree_states(model, 1, 2) if model in TREES else {k: [v] for k, v in self.state(model, 3).items() if k in STATE}
            s = {name: rows[0] for name, rows in s.items()}
            exact = self.ask(of, "margins", {**s, "kinds": LINE, "outputs": ["limits", "margins", *GRADIENTS]})
            efforts = self.ask(of, "margins", {**s, "kinds": ["effort"], "outputs": ["limits", "margins"]})
            reach = np.array([limit["upper"] for limit in efforts["limits"]]) - efforts["margins"]
            dependent = {limit["joint"] for limit in exact["limits"]} - set(about["velocity_names"])
            self.assertTrue(dependent)
            for name, gradient in zip(STATE, GRADIENTS):
                expected = self.differences(of, s, name, kinds=LINE)
                got = np.array(exact[gradient])
                # only where the limit of the other direction is not about to be the nearer one
                smooth = (reach > 0.02 * np.abs(got).max(axis=1)) | ((reach == 0) & (name != "q"))
                self.assertTrue(smooth.any(), (model, gradient))
                self.near(got[smooth], expected[smooth], 1e-7, (model, gradient), max(1, np.abs(expected).max()))
            rows = {name: [value, (0.9 * np.array(value)).tolist()] for name, value in s.items() if name != "q"}
            got = self.ask(of, "margins", {"q": [s["q"]] * 2, **rows, "kinds": LINE, "outputs": ["margins", *GRADIENTS, "least_gradients"]})
            for i, least in enumerate(got["least_gradients"]):
                for name, gradient in zip(STATE, GRADIENTS):
                    self.assertEqual(least["d" + name], got[gradient][least["row"]][i])

    def test_gradient_at_rest(self):
        self.put("wheel", flywheel())
        got = self.ask("wheel", "margins", {"q": [0], "qd": [0], "qdd": [-2], "outputs": ["margins", *GRADIENTS]})
        self.assertClose(got["margins"], [STALL - 2 * INERTIA], 1e-14)
        self.assertEqual((got["dmargins_dqd"], got["dmargins_dqdd"]), ([[0]], [[INERTIA]]))

    def test_motors(self):
        """The line of a transmission's motor limits the motor's own effort and rate, not those of a joint."""
        matrix = np.array([[0.02, 0], [0.015, -0.025]])
        line = {"stall_effort": 0.2, "slope": 0.001}
        joint = lambda name, axis: {"name": name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.3, 0, 0.1]}}
        self.put("wrist", {
            "links": [{"name": "c", "parent": "base", "joint": joint("at_c", [1, 0, 0]), "inertial": body(2, (0.1, 0, 0.05))},
                      {"name": "d", "parent": "c", "joint": joint("at_d", [0, 1, 0.2]), "inertial": body(1, (0.1, 0.02, 0))}],
            "transmissions": [{"joints": ["at_c", "at_d"], "matrix": matrix.tolist(), "motors": [
                {"name": "pitch", "limits": {"effort_speed": line}}, {"name": "roll"}]}]})
        s = {"q": [[0.2, -0.4], [1, 0.3]], "qd": [[0.5, -1], [0.2, 1.4]], "qdd": [[2, 1], [-3, 0.5]]}
        got = self.ask("wrist", "margins", {**s, "outputs": ["limits", "margins", *GRADIENTS[:3]]})
        self.assertEqual([(limit["joint"], limit["kind"], limit["slope"]) for limit in got["limits"]], [("pitch", "effort_speed", 0.001)])
        tau = np.array(self.ask("wrist", "inverse-dynamics", {**s, "outputs": ["motor_tau"]})["motor_tau"])[:, 0]
        rate = np.array(s["qd"]) @ np.linalg.inv(matrix).T[:, 0]
        self.near(np.array(got["margins"])[:, 0], 0.2 - np.abs(tau) - 0.001 * np.abs(rate), 1e-13, "motor")
        clipped = self.ask("wrist", "simulate", {"q": [0.2, -0.4], "qd": [0.5, -1], "duration": 0.01, "step": 0.001, "samples": 5, "input": {
            "controller": "pd_gravity", "kp": 9e4, "kd": 10, "reference": [3, -2]}, "outputs": ["qd", "motor_tau", "limits"]})
        rate = np.array(clipped["qd"]) @ np.linalg.inv(matrix).T[:, 0]
        self.near(np.abs(np.array(clipped["motor_tau"])[:, 0]), np.maximum(0.2 - 0.001 * np.abs(rate), 0), 1e-12, "clipped", 1)
        self.assertEqual([limit["kind"] for limit in clipped["limits"]], ["effort_speed"])

    # --- along motions ---

    def test_trajectory(self):
        self.lined("tree")
        points = np.random.default_rng(4).uniform(-1, 1, (6, 3))
        request = {"degree": 5, "duration": 1.4, "samples": 8, "control_points": points.tolist(), "kinds": LINE, "dense": True}
        got = self.ask("lined-tree", "trajectory", {**request, "outputs": [
            *STATE, "margins", "least_margins", "least_gradients", "dmargins_dcontrol_points", "dmargins_dduration"]})
        margins = np.array(got["margins"])
        self.near(margins, self.ask("lined-tree", "margins", {name: got[name] for name in STATE} | {"kinds": LINE})["margins"], 1e-13, "samples", 10)
        of = lambda **change: np.array(self.ask("lined-tree", "trajectory", {**request, **change, "outputs": ["margins"]})["margins"])
        h = 1e-6
        for k, v in ((0, 1), (2, 0), (5, 2)):
            step = h * (np.arange(18).reshape(6, 3) == 3 * k + v)
            difference = (of(control_points=(points + step).tolist()) - of(control_points=(points - step).tolist())) / (2 * h)
            self.near(np.array(got["dmargins_dcontrol_points"])[:, :, k, v], difference, 1e-7, (k, v), np.abs(difference).max() + 1)
        difference = (of(duration=1.4 + h) - of(duration=1.4 - h)) / (2 * h)
        self.near(got["dmargins_dduration"], difference, 1e-7, "duration", np.abs(difference).max())
        for i, (least, gradient) in enumerate(zip(got["least_margins"], got["least_gradients"])):
            self.assertEqual((least["margin"], gradient["sample"]), (margins[:, i].min(), margins[:, i].argmin()))
            self.assertEqual(gradient["dcontrol_points"], got["dmargins_dcontrol_points"][gradient["sample"]][i])

    def test_clipped_controller(self):
        """A controller that asks for too much accelerates a wheel with I w' = stall - slope w, hence w = (stall / slope) (1 - exp(-slope t /
        I)). Started above the no-load speed stall / slope, the wheel gets no torque."""
        self.put("wheel", flywheel())
        run = {"q": [0], "duration": 1.2, "times": [0.3, 1.2], "step": 0.002, "input": {"controller": "pd_gravity", "kp": 1e6, "kd": 0, "reference": [1000]}}
        got = self.ask("wheel", "simulate", {**run, "outputs": ["qd", "tau", "limits", "least_margins"]})
        w = STALL / SLOPE * (1 - np.exp(-SLOPE * np.array([0.3, 1.2]) / INERTIA))
        self.near(np.array(got["qd"])[:, 0], w, 1e-10, "speed")
        self.near(np.array(got["tau"])[:, 0], STALL - SLOPE * w, 1e-10, "torque")
        (limit,) = got["limits"]
        self.assertEqual((limit["joint"], limit["kind"], limit["limit"]), ("turn", "effort_speed", STALL))
        self.near(limit["excess"], 1e9 - STALL, 1e-6, "before clipping")
        fast = self.ask("wheel", "simulate", {**run, "qd": [4], "outputs": ["qd", "tau"]})
        self.assertEqual((fast["qd"], fast["tau"]), ([[4], [4]], [[0], [0]]))
        free = self.ask("wheel", "simulate", {**run, "input": {**run["input"], "kp": 0, "kd": 0}, "qd": [1], "outputs": ["least_margins"]})
        self.near(free["least_margins"][0]["margin"], STALL - SLOPE, 1e-14, "margin")

    # --- path-timing ---

    def test_one_joint(self):
        """The fastest motion speeds up along the line over half of the way, and slows down likewise."""
        self.put("wheel", flywheel())
        end = STALL / SLOPE
        half = lambda t: end * (t - INERTIA / SLOPE * (1 - math.exp(-SLOPE * t / INERTIA)))
        for way in (0.2, 3, 20):
            duration = 2 * brentq(lambda t: half(t) - way / 2, 0, 100, xtol=1e-14)
            found = [self.ask("wheel", "path-timing", {"degree": 1, "control_points": [[0], [way]], "samples": n}) for n in (401, 6401)]
            # s'' is constant in an interval, so that only the faster end of the interval is on the line
            for got, within in zip(found, (8e-3, 7e-4)):
                self.assertLess(0, got["duration"] / duration - 1)
                self.assertLess(got["duration"] / duration - 1, within, way)
                self.assertLess((np.abs(got["tau"]) + SLOPE * np.abs(got["qd"])).max(), STALL * (1 + 1e-9))
            self.assertEqual(set(found[0]["active"][1:-1]), {0})
        smooth = self.ask("wheel", "path-timing", {"degree": 1, "control_points": [[0], [3]], "samples": 1001, "joint_limits": {"jerk": 300}})
        self.assertLess((np.abs(smooth["tau"]) + SLOPE * np.abs(smooth["qd"])).max(), STALL * (1 + 1e-6))
        self.assertLess(np.abs(smooth["qddd"]).max(), 300)
        self.assertGreater(smooth["duration"], smooth["second_order_duration"])
        self.assertLess(smooth["duration"], 1.05 * smooth["second_order_duration"])
        rubbing = flywheel()
        rubbing["links"][0]["joint"]["friction"] = {"viscous": 1.7}
        self.put("rubbing", rubbing)
        smooth = self.ask("rubbing", "path-timing", {"degree": 1, "control_points": [[0], [3]], "samples": 1001, "joint_limits": {"jerk": 3000}})
        free = STALL - np.abs(smooth["tau"])[:, 0] - SLOPE * np.abs(smooth["qd"])[:, 0]
        self.assertGreater(free.min(), -STALL * 1e-6)
        for sign in (1, -1):  # the line is reached while the motor drives the wheel, and while it brakes it beside the friction
            self.assertLess(free[sign * np.array(smooth["tau"])[:, 0] > 0.5].min(), 0.02 * STALL, sign)
        self.assertLess(smooth["duration"], 1.01 * smooth["second_order_duration"])

    def test_lifting(self):
        """A weight of 0.8 of the stall effort is lifted, at a speed far below the no-load speed."""
        document = flywheel()
        document["links"][0]["joint"] = {"name": "lift", "type": "prismatic", "axis": [0, 0, 1], "limits": {"effort_speed": {"stall_effort": 100, "slope": 20}}}
        document["links"][0]["inertial"]["mass"] = 80 / 9.80665
        self.put("lift", document)
        got = self.ask("lift", "path-timing", {"degree": 1, "control_points": [[0], [4]], "samples": 801})
        self.assertLess((np.abs(got["tau"]) + 20 * np.abs(got["qd"])).max(), 100 * (1 + 1e-9))
        self.near(np.array(got["qd"])[400, 0], 1, 0.01, "the speed at which 80 N are left")
        self.assertEqual(set(got["active"][1:-1]), {0})

    def test_arm(self):
        """Along the path of an arm with friction all lines hold, and at nearly every place a limit is reached. Steeper lines make the motion
        longer; lines of slope 0 give the duration of effort limits."""
        with open("models/panda.json", encoding="utf-8") as file:
            plain = json.load(file)
        points = (np.array([0, -0.8, 0, -2, 0, 1.6, 0.8]) + np.random.default_rng(6).uniform(-0.6, 0.6, (6, 7))).tolist()
        request = {"degree": 4, "control_points": points, "samples": 401, "joint_limits": {"acceleration": 200}}
        durations = []
        for share in (0, 0.4, 0.8):
            document = copy.deepcopy(plain)
            for link in document["links"]:
                limits = link["joint"].get("limits", {})
                if "effort" in limits:
                    limits["effort_speed"] = {"stall_effort": limits["effort"], "slope": share * limits["effort"] / limits["velocity"]}
            self.put("arm", document)
            got = self.ask("arm", "path-timing", {**request, "kinds": ["velocity", "effort_speed"]})
            state = {name: got[name] for name in ("q", "qd", "qdd")}
            margins = np.array(self.ask("arm", "margins", {**state, "kinds": LINE})["margins"])
            self.assertGreater(margins.min(), -1e-7)
            active = [got["limits"][i]["kind"] for i in got["active"] if i >= 0]
            self.assertGreater(len(active), 0.97 * 401)  # in an interval a limit may be reached at one end only, so that not every place has one
            self.assertTrue("effort_speed" in active or share == 0)
            durations.append(got["duration"])
        efforts = self.ask("arm", "path-timing", {**request, "kinds": ["velocity", "effort"]})
        self.near(durations[0], efforts["duration"], 1e-9, "no slope")
        self.assertLess(durations[0] * 1.001, durations[1])
        self.assertLess(durations[1] * 1.001, durations[2])
        smooth = self.ask("arm", "path-timing", {**request, "kinds": ["velocity", "effort_speed"], "joint_limits": {"acceleration": 200, "jerk": 9000}})
        margins = np.array(self.ask("arm", "margins", {name: smooth[name] for name in ("q", "qd", "qdd")} | {"kinds": LINE})["margins"])
        self.assertGreater(margins.min(), 0)

    def test_documents(self):
        """Fields that are missing, unknown or negative are refused by name; the description of a model with a valid line lists it."""
        for line, where in (({"stall_effort": 3}, "slope"), ({"stall_effort": -3, "slope": 1}, "stall_effort"), ({"stall_effort": 3, "slope": 1, "volt": 24}, "volt")):
            bad = flywheel(effort_speed=line)
            answer = self.client.request("PUT", "/v1/models/bad", json.dumps(bad), {"Content-Type": "application/json"})
            problem = self.assertProblem(answer, 422)
            self.assertIn(where, json.dumps(problem))
            self.assertIn("/links/0/joint/limits/effort_speed", problem["pointer"])
        self.put("wheel", flywheel())
        self.assertEqual(self.about["wheel"]["joints"][0]["limits"], {"effort_speed": {"stall_effort": STALL, "slope": SLOPE}})


if __name__ == "__main__":
    tap.main()
