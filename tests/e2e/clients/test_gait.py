"""The gait client in api/clients/gait against a server: the step that it writes is evaluated again, at other instants, with the contacts and the
cost computed in this file. Only the splines are evaluated by the server."""
import re

import numpy as np
import tap
from client_programs import SVG, ClientPrograms
from harness import ServerCase

WEIGHT = 73.0 * 9.81
HALF_WIDTH, WIDTH, LENGTH, DURATION, DOUBLE, FLAT, HEEL_OFF = 0.04, 0.12, 0.6, 0.5, 0.2, 0.25, 0.6
HEEL, BALL, TIP = -0.055, 0.125, 0.2031
FEASIBLE = 1.001e-3
BOUND = 800  # N, bound of the internal forces


class Gait(ClientPrograms, ServerCase):
    client_folder = "gait"

    def step(self, *arguments):
        """Runs the program. Returns its output, and the motion as a request of trajectory."""
        printed = self.run_program("gait.py", "--motion", "motion.json", *arguments)
        return printed, self.read_json("motion.json")

    def states(self, motion, fractions):
        """Returns q, qd, qdd at fractions of the duration, by the operation trajectory."""
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
        """A step planned to a coarse tolerance keeps all constraints at their instants. The bound on internal forces is
        active."""
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
        """Checks that the last state is the mirror image of the first, shifted by the step's length. Rotations about x
        and z and translations along y change their sign."""
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
        """Checks the contacts of the feet: the left foot on its heel, then flat, then on its toes; the right foot on
        its toes, then in the air until its heel strikes."""
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
        """Checks torque limits, the ground's force, the zero-moment point in the support polygon, and the cost by this
        file's own sum."""
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
        self.assertLess(partial, cost)  # the sum leaves out joints without an effort limit in the model
        self.assertGreater(partial, 0.5 * cost)

    def internal_forces(self, states, fractions):
        """Returns the norms of the joint forces at hips, knees and ankles, [instants, 6], by inverse dynamics under the
        ground's wrenches."""
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
        """Checks that the hands keep away from the hips and that the arms swing with the opposite legs."""
        ends = {side: self.points(states, *({"link": f"{side}_{link}"} for link in ("upper_arm", "hand", "thigh", "foot")))
                for side in ("left", "right")}
        for side, other in (("left", "right"), ("right", "left")):
            self.assertGreater(np.linalg.norm(ends[side][:, 1] - ends[side][:, 2], axis=1).min(), 0.13 - FEASIBLE)
            arm, leg = (ends[s][:, b, 0] - ends[s][:, a, 0] for s, a, b in ((side, 0, 1), (other, 2, 3)))
            self.assertGreater((arm * leg).min(), -FEASIBLE)

    def check_pictures(self):
        _, texts = self.picture("curves.svg")
        self.assertLessEqual({"hip: flexion", "vertical: ground force", "knee: internal force, norm", "path of the zero-moment point"}, texts)
        lines = [line.get("values").split(";") for line in self.picture("walk.svg")[0].iter(SVG + "animate")]
        self.assertEqual(len(lines), 10)
        for frames in lines:
            self.assertEqual(frames[0], frames[-1])
            self.assertGreater(len(set(frames)), 10)

    def test_upright(self):
        """At q = 0 the mass matrix is regular, so operations that need accelerations answer. Neck and head together
        have mass and inertia of the published table."""
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
        self.check_refusals(
            "gait.py", (("--control-points", "5"), 1, "5 control points"),
            (("--speed", "0"), 2, "--speed 0"),
            (("--output", "curves.gif"), 2, "curves.gif"),
            (("--force-bound", "0"), 2, "--force-bound 0"),
            (("--iterations", "2"), 1, "after 2 iterations"),
            (("--server", "http://127.0.0.1:1"), 1, "refused"))

    def test_help(self):
        self.check_help("gait.py", "--server", "--coordinates", "--control-points", "--speed", "--tolerance", "--force-bound", "--output",
                        "--animation", "--motion")


if __name__ == "__main__":
    tap.main()
