"""The gait client in api/clients/gait against a server: the step that it writes is evaluated again, with instants, contacts and
sums of this file's own. Splines are the server's."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy as np
import tap
from harness import ROOT, ServerCase

PROGRAM = os.path.join(ROOT, "api", "clients", "gait", "gait.py")
WEIGHT = 73.0 * 9.81
HALF_WIDTH, WIDTH, LENGTH, DURATION, DOUBLE, FLAT, HEEL_OFF = 0.04, 0.12, 0.6, 0.5, 0.2, 0.25, 0.6
HEEL, BALL, TIP = -0.055, 0.125, 0.2031
FEASIBLE = 1.001e-3
BOUND = 800     # N


class Gait(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments):
        return subprocess.run([sys.executable, "-B", PROGRAM, "--server", self.server.url(), *arguments], capture_output=True,
                              text=True, timeout=600, cwd=self.folder)

    def step(self, *arguments):
        """Runs the program. Returns its output, and the motion as a request of trajectory."""
        done = self.start("--motion", "motion.json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-2000:])
        with open(os.path.join(self.folder, "motion.json"), encoding="utf-8") as file:
            return done.stdout, json.load(file)

    def picture(self, name):
        """The root of a picture that the program wrote."""
        root = xml.etree.ElementTree.parse(os.path.join(self.folder, name)).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        return root

    def states(self, motion, fractions):
        """q, qd, qdd at fractions of the duration, by trajectory."""
        answer = self.ask("gait55", "trajectory", {**motion, "times": [f * motion["duration"] for f in fractions],
                                                   "outputs": ["q", "qd", "qdd"]})
        return {name: np.array(answer[name]) for name in ("q", "qd", "qdd")}

    def points(self, states, *points):
        answer = self.ask("gait55", "kinematics", {"q": states["q"].tolist(), "points": list(points), "outputs": ["point_positions"]})
        return np.array(answer["point_positions"])

    def ground(self, states, rows, feet):
        request = {name: states[name][rows].tolist() for name in states}
        answer = self.ask("gait55", "ground-reaction", {**request, "feet": [{"frame": name} for name in feet]})
        return {name: np.array(value) for name, value in answer.items()}

    def test_step(self):
        """A step to a coarse tolerance keeps all constraints at the instants at which they are enforced, and a bound of internal
        forces, which is active."""
        out, motion = self.step("--tolerance", "3e-2", "--quiet", "--force-bound", str(BOUND), "--output", "curves.svg",
                                "--animation", "walk.svg")
        cost, violation = map(float, re.search(r"cost ([0-9.]+) .* violation ([0-9.e-]+),", out).groups())
        self.assertLess(violation, FEASIBLE)
        self.assertLess(cost, 0.2)
        self.assertEqual(motion["duration"], DURATION)
        names = self.ok(self.client.get("/v1/models/gait55"))["velocity_names"]
        self.check_symmetry(motion, names)
        self.check_limits(motion, names)
        fractions = np.array(motion["times"]) / DURATION
        states = self.states(motion, fractions)
        self.check_feet(motion, fractions)
        self.check_forces(states, fractions, names, cost)
        middle = self.states(motion, [0.6])["q"][0, names.index("right_knee_flexion")]
        self.assertTrue(55 - 0.1 <= np.degrees(middle) <= 65 + 0.1, middle)
        self.check_arms(states)
        self.check_pictures()
        internal = self.internal_forces(states, fractions).max() / BOUND
        self.assertTrue(1 - 1e-2 < internal < 1 + FEASIBLE, internal)

    def check_symmetry(self, motion, names):
        """The end is the beginning with sides exchanged; turns about x and z, and slides along y, change their signs."""
        document = self.ok(self.client.get("/v1/models/gait55/document"))
        joints = {link["joint"]["name"]: link["joint"] for link in document["links"]}
        ends = self.states(motion, [0, 1])
        for name, scale in (("q", 1), ("qd", 10)):
            for j, joint in enumerate(names):
                other = joint.replace("left", "*").replace("right", "left").replace("*", "right")
                sign = -1 if (abs(joints[joint]["axis"][1]) == 1) != (joints[joint]["type"] == "revolute") else 1
                step = LENGTH if (name, joint) == ("q", "global_x") else 0
                self.assertAlmostEqual(ends[name][1, j], sign * ends[name][0, names.index(other)] + step, delta=1e-9 * scale)

    def check_limits(self, motion, names):
        limits = {joint["name"]: joint.get("limits", {}) for joint in self.ok(self.client.get("/v1/models/gait55"))["joints"]}
        q = self.states(motion, np.linspace(0, 1, 101))["q"]
        for j, name in enumerate(names):
            low, high = limits[name].get("position", (-np.inf, np.inf))
            self.assertTrue(low - FEASIBLE <= q[:, j].min() and q[:, j].max() <= high + FEASIBLE, name)

    def check_feet(self, motion, fractions):
        """The left foot on its heel, then flat, then on its toes; the right one on its toes, then in the air until it strikes."""
        knots = motion["knots"]
        places = np.array([sum(knots[i + 1:i + 4]) / 3 for i in range(len(motion["control_points"]))])
        feet = [place for side in ("left", "right") for place in (
            {"frame": f"{side}_heel"}, {"link": f"{side}_toes", "point": [0, 0, -0.02]}, {"frame": f"{side}_toe_tip"})]
        p = self.points(self.states(motion, places), *feet)
        left, right = p[:, :3], p[:, 3:]
        heel, flat, toes = places < FLAT, (places >= FLAT) & (places <= HEEL_OFF), places > HEEL_OFF
        self.assertLess(min(sum(heel), sum(flat)), sum(heel | flat | toes))
        self.assertLess(abs(left[heel, 0] - [HEEL, WIDTH / 2, 0]).max(), FEASIBLE)
        self.assertLess(abs(left[flat] - [[HEEL, WIDTH / 2, 0], [BALL, WIDTH / 2, 0], [TIP, WIDTH / 2, 0]]).max(), 2 * FEASIBLE)
        self.assertLess(abs(left[toes, 1:] - [[BALL, WIDTH / 2, 0], [TIP, WIDTH / 2, 0]]).max(), 2 * FEASIBLE)
        self.assertLess(abs(right[0, 1:] - [[BALL - LENGTH, -WIDTH / 2, 0], [TIP - LENGTH, -WIDTH / 2, 0]]).max(), 2 * FEASIBLE)
        self.assertLess(abs(right[-1, 0] - [HEEL + LENGTH, -WIDTH / 2, 0]).max(), FEASIBLE)
        swing = self.points(self.states(motion, fractions[fractions > DOUBLE + 1e-9]), *feet)[:, 3:, 2]
        self.assertGreater(swing.min(), -FEASIBLE)
        self.assertGreater(swing.max(), 0.05)

    def check_forces(self, states, fractions, names, cost):
        """Torque limits; a ground that presses, at a point in the polygon of support; the cost by a sum of this file's own."""
        limits = {joint["name"]: joint.get("limits", {}).get("effort") for joint in self.ok(self.client.get("/v1/models/gait55"))["joints"]}
        limited = [j for j, name in enumerate(names) if limits[name]]
        effort = np.array([limits[names[j]] for j in limited])
        partial = 0.0
        for rows, feet in ((fractions <= DOUBLE + 1e-9, ("left_sole", "right_ball")), (fractions >= DOUBLE - 1e-9, ("left_sole",))):
            ground = self.ground(states, rows, feet)
            share = ground["tau"][:, limited] / effort
            self.assertLess(abs(share).max(), 1 + FEASIBLE)
            self.assertGreater(ground["resultant"][:, 2].min(), 0.2 * WEIGHT)
            self.assertLess(ground["resultant"][:, 2].max(), 2 * WEIGHT)
            zero = ground["zero_moment_point"]
            slack = 5 * FEASIBLE
            self.assertLess(zero[:, 0].max(), TIP + slack)
            self.assertLess(zero[:, 1].max(), WIDTH / 2 + HALF_WIDTH + slack)
            if len(feet) == 1:
                self.assertGreater(zero[:, 0].min(), HEEL - slack)
                self.assertGreater(zero[:, 1].min(), WIDTH / 2 - HALF_WIDTH - slack)
            squares, times = (share ** 2).sum(axis=1), fractions[rows] * DURATION
            partial += ((squares[1:] + squares[:-1]) / 2 * np.diff(times)).sum()
        self.assertLess(partial, cost)          # joints without a limit in the model are missing
        self.assertGreater(partial, 0.5 * cost)

    def internal_forces(self, states, fractions):
        """Norms at hips, knees and ankles, by inverse dynamics with the wrenches of the ground, instants x 6."""
        bodies = self.ok(self.client.get("/v1/models/gait55"))["bodies"]
        chosen = [bodies.index(f"{side}_{body}") for side in ("left", "right") for body in ("thigh", "shank", "foot")]
        norms = []
        for rows, feet in ((fractions <= DOUBLE + 1e-9, ("left_sole", "right_ball")), (fractions >= DOUBLE - 1e-9, ("left_sole",))):
            wrenches = self.ground(states, rows, feet)["foot_wrenches"]
            request = {name: states[name][rows].tolist() for name in states}
            answer = self.ask("gait55", "inverse-dynamics", {**request, "outputs": ["joint_wrenches"], "wrenches": [
                {"link": foot, "force": wrenches[:, k, :3].tolist(), "torque": wrenches[:, k, 3:].tolist()} for k, foot in enumerate(feet)]})
            norms.append(np.linalg.norm(np.array(answer["joint_wrenches"])[:, chosen, :3], axis=2))
        return np.concatenate(norms)

    def check_arms(self, states):
        """Hands keep away from the hips; arms swing with the opposite legs."""
        ends = {side: self.points(states, *({"link": f"{side}_{link}"} for link in ("upper_arm", "hand", "thigh", "foot")))
                for side in ("left", "right")}
        for side, other in (("left", "right"), ("right", "left")):
            self.assertGreater(np.linalg.norm(ends[side][:, 1] - ends[side][:, 2], axis=1).min(), 0.13 - FEASIBLE)
            arm, leg = (ends[s][:, b, 0] - ends[s][:, a, 0] for s, a, b in ((side, 0, 1), (other, 2, 3)))
            self.assertGreater((arm * leg).min(), -FEASIBLE)

    def check_pictures(self):
        texts = {"".join(element.itertext()).strip() for element in self.picture("curves.svg").iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"hip: flexion", "vertical: ground force", "knee: internal force, norm", "path of the zero-moment point"}, texts)
        lines = [line.get("values").split(";") for line in self.picture("walk.svg").iter("{http://www.w3.org/2000/svg}animate")]
        self.assertEqual(len(lines), 10)
        for frames in lines:
            self.assertEqual(frames[0], frames[-1])
            self.assertGreater(len(set(frames)), 10)

    def test_upright(self):
        """At q = 0 operations that need accelerations answer; neck and head together have mass and inertia of the table."""
        zero = [0.0] * 55
        step = {"step": 0.001}
        self.assertClose(self.ask("gait55", "forward-dynamics", {"q": zero, "tau": zero})["qdd"][2:3], [-9.81])
        self.assertClose(self.ask("gait55", "step", {"q": zero, "tau": zero, **step})["qd_after"][2:3], [-9.81e-3])
        self.ask("gait55", "rollout", {"q": zero, "torques": [zero] * 2, **step})
        self.ask("gait55", "simulate", {"q": zero, "duration": 0.002, "samples": 2, **step})
        self.ask("gait55", "task-space", {"q": zero, "frame": "crown", "axes": ["x", "y", "z"]})
        names = self.ok(self.client.get("/v1/models/gait55"))["velocity_names"]
        M = np.array(self.ask("gait55", "mass-matrix", {"q": zero})["mass_matrix"])
        moments = [M[names.index(name)][names.index(name)] for name in ("lower_neck_bending", "lower_neck_flexion", "lower_neck_rotation")]
        steiner = 5.0662 * (0.0529 + 0.068501) ** 2
        self.assertClose(moments, [0.0274424 + steiner, 0.0296591 + steiner, 0.0203619], 1e-5)

    def test_what_goes_wrong_is_said(self):
        for arguments, status, said in (
                (("--control-points", "5"), 1, "5 control points"),
                (("--speed", "0"), 2, "--speed 0"),
                (("--output", "curves.gif"), 2, "curves.gif"),
                (("--force-bound", "0"), 2, "--force-bound 0"),
                (("--iterations", "2"), 1, "after 2 iterations"),
                (("--server", "http://127.0.0.1:1"), 1, "refused")):
            done = self.start(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_help(self):
        done = self.start("--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        for option in ("--server", "--coordinates", "--control-points", "--speed", "--tolerance", "--force-bound", "--output", "--animation", "--motion"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    tap.main()
