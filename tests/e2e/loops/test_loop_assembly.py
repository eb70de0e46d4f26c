"""Tests that closed loops keep the assembly that continuation from the published reference reaches: along lines in the
actuated coordinates, from guesses, along lines of a platform, and in motions. ASSEMBLY_STATES sets the number of random
states of each mechanism."""
import numpy as np
import tap
from assemblies import FRACTION, MECHANISMS, NEAR, STATES, Assemblies
from continuation import CROSSED, REACHED, Carried, Guess, Line, Spline, follow
from samples import body
from tree_kinematics import exponential, from_quaternions


class Lines(Assemblies):
    def check(self, name, least_reached, least_crossed=0):
        m = self.mechanism(name)
        goals = self.draw(m)
        requests = [{"q": row.tolist()} for row in goals[:, m.active_q]]
        expected, reached, answers = self.compare(m, Line(m, m.reference, goals), requests)
        self.assertGreaterEqual(len(reached), least_reached * STATES)
        self.assertGreaterEqual((expected.outcome == CROSSED).sum(), least_crossed * STATES)
        self.check_bits(m, [requests[r] for r in reached], answers)
        return m, expected, reached

    def test_a_ball_turns_the_shorter_way(self):
        """A driven ball joint turns a plate from -100 to 100 degrees. An arm of three passive joints holds the plate's rim. The shorter rotation
        keeps the rim within the arm's reach; the longer one would not."""
        turned = lambda angle: [0, 0, float(np.sin(angle / 2)), float(np.cos(angle / 2))]
        part = lambda name, parent, **joint: {"name": name, "parent": parent, "joint": {"name": name, **joint}, "inertial": body(1.2, (0.1, 0.02, 0.03))}
        passive = lambda axis, home, x: {"type": "revolute", "axis": axis, "home": home, "actuated": False, "origin": {"xyz": [x, 0, 0]}}
        self.put_model("plate", {
            "links": [part("plate", "base", type="spherical", home=turned(np.radians(-100))), part("yaw", "base", **passive([0, 0, 1], -0.49, -1)),
                      part("upper", "yaw", **passive([0, 1, 0], -0.53, 0)), part("lower", "upper", **passive([0, 1, 0], 1.06, 0.6))],
            "frames": [{"name": "rim", "link": "plate", "xyz": [0.5, 0, 0]}, {"name": "hand", "link": "lower", "xyz": [0.6, 0, 0]}],
            "loops": [{"name": "grip", "type": "spherical", "frame_a": "rim", "frame_b": "hand"}]})
        for degrees in (-100, -150, 175, 100):
            angle = np.radians(degrees)
            for sign in (1, -1):
                q = [sign * x for x in turned(angle)]
                poses = self.ask("plate", "kinematics", {"q": q, "outputs": ["poses"]})["poses"]
                self.near(poses["hand"]["position"], [0.5 * np.cos(angle), 0.5 * np.sin(angle), 0], 1e-9, degrees)
                self.assertGreater(poses["lower"]["position"][2], 0.1, degrees)     # the assembly of the home position

    def test_delta(self):
        """The platform of a Delta only translates."""
        m, expected, reached = self.check("delta", 0.5, 0.05)
        axes = m.pose(expected.q[reached], "platform")[1]
        self.assertLess(np.abs(axes - np.eye(3)).max(), 1e-9)

    def test_five_bar(self):
        self.check("five_bar", 0.9)

    def test_four_bar(self):
        self.check("four_bar", 1)

    def test_stewart(self):
        self.check("stewart", 0.1, 0.1)

    def test_slider_crank(self):
        self.check("slider_crank", 1)

    def test_slider_crank_with_a_short_rod(self):
        self.check("short_slider_crank", 0.2, 0.2)

    def test_three_rrr(self):
        self.check("three_rrr", 0.2, 0.2)


    def test_orientations(self):
        """An actuated spherical joint follows the shorter arc, whatever the sign of its quaternion."""
        m, choose = self.mechanism("joystick"), np.random.default_rng(7)
        goals = np.repeat(m.reference[None], STATES, 0)
        goals[:, m.active_q] = exponential(choose.uniform(-2.2, 2.2, (STATES, 3)))
        requests = [{"q": (row * choose.choice([-1, 1])).tolist()} for row in goals[:, m.active_q]]
        expected, reached, answers = self.compare(m, Line(m, m.reference, goals), requests)
        self.assertGreater(len(reached), STATES / 4)
        self.check_bits(m, [requests[r] for r in reached], answers)

    def test_floating_base(self):
        """The base's pose does not affect loops within the robot: passive coordinates and fractions are those of a
        fixed base."""
        m, choose = self.mechanism("short_slider_crank"), np.random.default_rng(9)
        document = {**MECHANISMS["short_slider_crank"][0](), "base": {"type": "floating", "link": "base", "inertial": {
            "mass": 3, "com": [0.1, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}}}
        self.put_model("floating", document)
        outcomes = set()
        for row in self.draw(m, 20, 10)[:, m.active_q]:
            pose = [*choose.uniform(-5, 5, 3), *exponential(choose.uniform(-2, 2, 3))]
            fixed, floating = (self.request(name, {"q": q}) for name, q in (
                ("short_slider_crank", row.tolist()), ("floating", [*pose, *row])))
            self.assertEqual(floating.status, fixed.status)
            outcomes.add(fixed.status)
            if fixed.status == 200:
                self.near(floating.json()["full"]["q"][7:], fixed.json()["full"]["q"], 1e-12)
            else:
                self.assertAlmostEqual(floating.json()["fraction"], fixed.json()["fraction"], delta=NEAR)
        self.assertEqual(outcomes, {200, 422})


class Guesses(Assemblies):
    """From a guess, the loop residual is reduced linearly to zero."""

    def check(self, name, away, reached_by_line, crossed):
        m = self.mechanism(name)
        followed = follow(Line(m, m.reference, self.draw(m, seed=2)))
        closed = followed.q[followed.outcome == REACHED]
        away = np.random.default_rng(3).uniform(-away, away, (len(closed), m.nv))
        away[:, m.active_v] = 0
        guesses = m.move(closed, away)
        requests = [{"q": row[m.active_q].tolist(), "guess": row[m.passive_q].tolist()} for row in guesses]
        expected, reached, answers = self.compare(m, Guess(m, guesses), requests)
        self.assertGreaterEqual(len(reached), reached_by_line * len(closed))
        self.assertGreaterEqual((expected.outcome == CROSSED).sum(), crossed)
        self.check_bits(m, [requests[r] for r in reached], answers)
        return m, expected, followed

    def test_four_bar(self):
        """With random guesses both assemblies of the four-bar must occur."""
        m, expected, line = self.check("four_bar", 3, 0.3, 1)
        other = np.abs(expected.q - line.q[line.outcome == REACHED]).max(1) > 0.1
        self.assertTrue((other & (expected.outcome == REACHED)).any())

    def test_five_bar(self):
        self.check("five_bar", 1, 0.3, 1)

    def test_three_rrr(self):
        self.check("three_rrr", 0.5, 0.3, 1)

    def test_delta(self):
        self.check("delta", 0.2, 0.3, 0)

    def test_stewart(self):
        self.check("stewart", 0.3, 0.3, 0)

    def test_by_name(self):
        """A guess may give passive coordinates by name; those that it leaves out start at their values in the reference."""
        m = self.mechanism("four_bar")
        full = self.full("four_bar", {"q": [0.7], "guess": {"rocker_joint": 1.1}})
        start = m.reference.copy()
        start[[0, 1]] = 0.7, 1.1
        expected = follow(Guess(m, start[None]))
        self.assertEqual(expected.outcome[0], REACHED)
        self.near(full["q"], expected.q[0], 1e-9)


class Platforms(Assemblies):
    """Starting at the reference, all coordinates follow a frame whose origin moves on a straight line while the frame turns along the shorter
    arc to the goal."""

    def check(self, name, frame, low, high, least_reached, least_crossed, turn=None):
        m = self.mechanism(name)
        choose = np.random.default_rng(4)
        positions = choose.uniform(low, high, (STATES, 3))
        orientations = None
        platforms = [{"frame": frame, "position": row.tolist()} for row in positions]
        if turn is not None:
            orientations = exponential(choose.uniform(-turn, turn, (STATES, 3)))
            for platform, orientation in zip(platforms, orientations):
                platform["orientation"] = (orientation * choose.choice([-1, 1])).tolist()
        expected, reached, _ = self.compare(m, Carried(m, m.reference, frame, positions, orientations),
                                            [{"platform": platform} for platform in platforms])
        self.assertGreaterEqual(len(reached), least_reached * STATES)
        self.assertGreaterEqual((expected.outcome == CROSSED).sum(), least_crossed * STATES)
        p, R, _, _ = m.pose(expected.q[reached], frame)
        self.assertLess(np.abs(p - positions[reached]).max(), 1e-12)
        if turn is not None:
            self.assertLess(np.abs(R - from_quaternions(orientations[reached])).max(), 1e-12)

    def test_five_bar(self):
        self.check("five_bar", "tip", [-0.3, -0.1, 0], [0.5, 0.5, 0], 0.1, 0.1)

    def test_delta(self):
        self.check("delta", "tool", [-0.5, -0.5, -1], [0.5, 0.5, -0.2], 0.1, 0.1)

    def test_stewart(self):
        self.check("stewart", "centre", [-0.4, -0.4, 0.5], [0.4, 0.4, 1.3], 0.1, 0, turn=1)


class Motions(Assemblies):
    """The server follows the spline itself between samples: two samples or a thousand give the same assembly."""

    def ends(self, m, degree, points):
        """Returns the answers with two samples and with a thousand."""
        request = {"degree": degree, "duration": 2, "control_points": points.tolist(),
                   "outputs": ["times", "q", "qd", "qdd", "tau"]}
        return [self.client.post(f"/v1/models/{m.name}/trajectory", {**request, "samples": n}) for n in (2, 1000)]

    def check_end(self, m, answers, expected):
        """Checks that the torques at the end are those at the position `expected`."""
        few, many = (self.ok(answer) for answer in answers)
        end = {key: few[key][1] for key in ("q", "qd", "qdd")}
        there = self.ask(m.name, "inverse-dynamics", {**end, "guess": expected[m.passive_q].tolist(), "outputs": ["tau", "full"]})
        self.assertLess(self.off(m, there["full"], expected), 1e-8)
        for tau in (few["tau"][1], many["tau"][-1]):
            self.near(tau, there["tau"], 1e-6)
        self.near(few["tau"][0], many["tau"][0], 0)
        return there["tau"]

    def check(self, name, reach, draws, least_reached, least_crossed):
        """Compares motions along splines that start in reachable states: the position at the end by continuation, or the time at which a
        singularity is first crossed."""
        m = self.mechanism(name)
        first = follow(Line(m, m.reference, self.draw(m, draws, 5)))
        starts = first.q[first.outcome == REACHED]
        points = np.random.default_rng(6).uniform(-reach, reach, (len(starts), 6, len(m.active_q)))
        points[:, 0] = 0
        points += starts[:, None, m.active_q]
        expected = self.followed(Spline(m, starts, 3, points))
        for r, row in enumerate(points):
            answers = self.ends(m, 3, row)
            if expected.outcome[r] == REACHED:
                self.check_end(m, answers, expected.q[r])
                continue
            for answer in answers:
                self.refused(answer, "loop-crossing")
                self.assertAlmostEqual(answer.json()["time"], 2 * expected.fraction[r], delta=2 * FRACTION)
        self.assertGreaterEqual((expected.outcome == REACHED).sum(), least_reached)
        self.assertGreaterEqual((expected.outcome == CROSSED).sum(), least_crossed)

    def test_five_bar(self):
        self.check("five_bar", 2, 15, 10, 0)

    def test_short_slider_crank(self):
        self.check("short_slider_crank", 1, 20, 2, 2)

    def test_three_rrr(self):
        self.check("three_rrr", 0.8, 30, 2, 2)

    def test_delta(self):
        self.check("delta", 0.6, 12, 3, 1)

    def test_into_another_assembly(self):
        """A path around a cusp of the singular set takes a 3-RRR to another assembly than the straight line does."""
        m = self.mechanism("three_rrr")
        by, to = [0.617, -1.652, -0.36], [0.318, 0.328, -0.696]
        goals = np.repeat(m.reference[None], 2, 0)
        goals[:, m.active_q] = by, to
        straight = self.followed(Line(m, m.reference, goals))
        bent = self.followed(Line(m, straight.q[0], goals[1:]))
        self.assertEqual([*straight.outcome, *bent.outcome], [REACHED] * 3)
        self.assertGreater(np.abs(straight.q[1] - bent.q[0]).max(), 0.1)
        tau = self.check_end(m, self.ends(m, 1, np.array([m.reference[m.active_q], by, to])), bent.q[0])
        other = self.ask("three_rrr", "inverse-dynamics", {"q": to})["tau"]
        self.assertGreater(np.abs(np.subtract(tau, other)).max(), 1e-3)


if __name__ == "__main__":
    tap.main()
