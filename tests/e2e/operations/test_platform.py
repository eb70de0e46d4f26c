"""Tests requests with the motion of a parallel robot's platform instead of its motors: the answers are the same,
preceded by the motors' motion. Also tests the program that plots the forces of a platform's legs."""
import math
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree

import cbor2
import numpy as np
import tap
from closed import Closed, Rocked
from harness import PATIENCE, ROOT
from linkages import link, loop
from parallel_robots import quaternion, rotation


class Stewart(Rocked):
    def as_platform(self, poses):
        return {"frame": "centre", "position": [list(x[0]) for x in poses], "orientation": [quaternion(x[1]) for x in poses],
                "velocity": [[*x[2], *x[3]] for x in poses], "acceleration": [[*x[4], *x[5]] for x in poses]}

    def test_pose_as_input(self):
        poses = self.poses(20, 3)
        driven, platform = self.driven(poses), self.as_platform(poses)
        answer = self.ask("stewart", "inverse-dynamics", {"platform": platform})
        self.assertEqual(list(answer), ["q", "qd", "qdd", "tau"])
        for name in driven:
            self.near(answer[name], driven[name], 1e-11, name)
        self.near(answer["tau"], self.expected(poses), 1e-9)
        still = {"frame": "centre", "position": platform["position"][4], "orientation": platform["orientation"][4]}
        answer = self.ask("stewart", "mass-matrix", {"platform": still})
        self.near(answer["mass_matrix"], self.ask("stewart", "mass-matrix", {"q": driven["q"][4]})["mass_matrix"], 1e-10)
        self.assertEqual(list(answer), ["q", "mass_matrix"])

    def test_motion_is_as_asked(self):
        """From the answered motion of the motors, kinematics of the platform's frame must return the motion that the request gave, and forward
        dynamics its acceleration."""
        poses = self.poses(10, 8)
        platform = self.as_platform(poses)
        answer = self.ask("stewart", "kinematics", {"platform": platform, "frames": ["centre"], "frame": "centre",
                                                    "outputs": ["poses", "velocity", "acceleration"]})
        for name in ("position", "orientation"):
            self.near(answer["poses"]["centre"][name], platform[name], 1e-12, name)
        for name in ("velocity", "acceleration"):
            self.near(answer[name], platform[name], 1e-10, name)
        del platform["acceleration"]
        back = self.ask("stewart", "forward-dynamics", {"platform": platform, "tau": self.expected(poses).tolist()})
        self.assertEqual(list(back), ["q", "qd", "qdd"])
        self.near(back["qdd"], self.driven(poses)["qdd"], 1e-8)

    def test_same_bits(self):
        poses = self.poses(50, 9)
        whole = self.as_platform(poses)
        part = lambda r: {"frame": "centre", **{n: x[r] for n, x in whole.items() if n != "frame"}}
        outputs = {"outputs": ["tau", "joint_wrenches"]}
        everything = self.ask_texts("stewart", "inverse-dynamics", {"platform": whole, **outputs})
        some = self.ask_texts("stewart", "inverse-dynamics", {"platform": part(slice(30, 37)), **outputs})
        for r in (30, 33):
            alone = self.ask_texts("stewart", "inverse-dynamics", {"platform": part(r), **outputs})
            self.assertEqual(alone, {n: x[r] for n, x in everything.items()})
            self.assertEqual(alone, {n: x[r - 30] for n, x in some.items()})
        answer = self.client.post("/v1/models/stewart/inverse-dynamics", cbor2.dumps({"platform": part(33), **outputs}),
                                  Content_Type="application/cbor", Accept="application/json")
        self.assertEqual(self.ok(answer)["tau"], [float(x) for x in alone["tau"]])

    def test_far_poses(self):
        """Far from home, the pose selects one of the many assemblies with these leg lengths."""
        for p, turn in (((0.2, 0.1, 0.8), (0.5, -0.4, 0.6)), ((-0.2, 0.2, 1.0), (-0.3, 0.5, -0.7))):
            p, turn = np.array(p), np.array(turn)
            answer = self.ask("stewart", "inverse-dynamics", {"platform": {"frame": "centre", "position": list(p),
                                                                           "orientation": quaternion(turn)}})
            self.near(answer["q"], self.stewart.lengths(p, rotation(turn)), 1e-12)
            self.near(answer["tau"], self.expected([(p, turn, *np.zeros((4, 3)))])[0], 1e-10)

    def test_singular_platform(self):
        """At a yaw of 90 degrees the lines of the six legs are linearly dependent, so that the platform could move while all leg lengths are
        constant. The request is refused."""
        pose = lambda yaw: {"frame": "centre", "position": [0, 0, 0.9], "orientation": quaternion([0, 0, yaw])}
        self.refused(self.client.post("/v1/models/stewart/inverse-dynamics", {"platform": pose(math.pi / 2)}), "loop-singular")
        self.ask("stewart", "inverse-dynamics", {"platform": pose(1.2)})

    def test_client(self):
        """The program of api/clients/platform prints the forces that (66) gives for the same motion."""
        program = os.path.join(ROOT, "api", "clients", "platform", "leg_forces.py")
        with tempfile.TemporaryDirectory() as folder:
            plot = os.path.join(folder, "legs.svg")
            done = subprocess.run(["/usr/bin/python3", program, "--server", self.server.url(), "--seconds", "3", "--load", "0",
                                   "--output", plot], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            xml.etree.ElementTree.parse(plot)
        times, poses = np.linspace(0, 3, 401), []
        angle, rate = 2 * np.pi * times / 3, 2 * np.pi / 3
        for a in angle:
            sine = lambda size, waves, phase: size * np.array([
                np.sin(waves * a + phase), waves * rate * np.cos(waves * a + phase), -(waves * rate)**2 * np.sin(waves * a + phase)])
            surge, heave, roll, pitch = sine(0.06, 1, 0), sine(0.08, 2, 0.5), sine(0.15, 1, 0), sine(0.1, 2, 1)
            R, up = rotation([roll[0], 0, 0]), np.array([0, 1, 0])
            w = np.array([roll[1], 0, 0]) + pitch[1] * R @ up
            wd = np.array([roll[2], 0, 0]) + pitch[2] * R @ up + np.cross([roll[1], 0, 0], pitch[1] * R @ up)
            poses.append((np.array([surge[0], 0, 0.9 + heave[0]]), R @ rotation([0, pitch[0], 0]), np.array([surge[1], 0, heave[1]]), w,
                          np.array([surge[2], 0, heave[2]]), wd))
        lengths = np.array([self.stewart.lengths(p, R) for p, R, *_ in poses])
        forces = np.array([self.stewart.forces(x, self.legs(self.stewart.leg_motions(*x))) for x in poses[::40]])
        shortest, longest, least, most = map(float, re.search(r"legs of (\S+) to (\S+) m bear (\S+) to (\S+) N", done.stdout).groups())
        self.near([shortest, longest], [lengths.min(), lengths.max()], 1e-4)
        self.assertLessEqual(least, forces.min() + 0.01)
        self.assertGreaterEqual(most, forces.max() - 0.01)
        self.near([least, most], [forces.min(), forces.max()], 0.05)


class Planar(Closed):
    def test_legs_with_more_joints(self):
        """In legs with redundant joints the pose never determines all coordinates: the problem says so, instead of
        naming a crossing on the path."""
        solid = {"mass": 1, "com": [0.1, 0, 0], "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.01}}
        for left in (["a0", "a1"], ["a0", "a1", "a2"], ["a0", "a1", "a2", "a3"]):
            links = [link(name, parent, "revolute", [0, 0, 1], solid, name not in ("plate", "b1"), home, origin={"xyz": [x, 0, 0]})
                     for name, parent, home, x in [*((n, left[k - 1] if k else "ground", -0.4 if k else 1.6, 0.25 if k else 0)
                                                     for k, n in enumerate(left)),
                                                   ("plate", left[-1], -0.5, 0.25), ("b0", "ground", 1.7, 0.6), ("b1", "b0", 0.4, 0.3)]]
            frames = [{"name": "joint", "link": "plate", "xyz": [0.2, 0, 0]}, {"name": "end", "link": "b1", "xyz": [0.3, 0, 0]}]
            self.put_model("legs", {"base": {"link": "ground"}, "links": links, "frames": frames,
                                    "loops": [loop("joint", "end", "revolute", [0, 0, 1])]})
            model = self.ok(self.client.get("/v1/models/legs"))
            q = model["reference"]["q"]
            pose = self.ask("legs", "kinematics", {"q": q, "frames": ["plate"]})["poses"]["plate"]
            pose["position"][0] += 0.01
            answer = self.client.post("/v1/models/legs/mass-matrix", {"platform": {"frame": "plate", **pose}})
            if len(left) > 2:
                self.refused(answer, "loop-singular")
                self.assertIn("does not determine", answer.json()["detail"])
            else:
                found = self.ok(answer)["q"]
                self.near(self.ask("legs", "kinematics", {"q": found, "frames": ["plate"]})["poses"]["plate"]["position"], pose["position"], 1e-9)

    def test_tip(self):
        """A request may give the motion of the tip instead of that of the motors. The answers are the same, preceded by the motion of the
        motors."""
        s = self.states("five_bar", 10, 8)
        tips, v, a = [], [], []
        for q, qd, qdd in zip(*(np.array(s[n]) for n in ("q", "qd", "qdd"))):
            velocity, acceleration = self.five.tip_motion(q, qd, qdd)
            for rows, x in ((tips, self.five.tip(q)), (v, velocity), (a, acceleration)):
                rows.append([*x, 0])
        answer = self.ask("five_bar", "inverse-dynamics", {"platform": {"frame": "tip", "position": tips, "velocity": v,
                                                                        "acceleration": a}})
        self.assertEqual(list(answer), ["q", "qd", "qdd", "tau"])
        expected = self.ask("five_bar", "inverse-dynamics", {n: s[n] for n in ("q", "qd", "qdd")})
        for name, rows in (*((n, s[n]) for n in ("q", "qd", "qdd")), ("tau", expected["tau"])):
            self.near(answer[name], rows, 1e-9, name)

    def test_translating(self):
        """A request gives only the position of the Delta's platform, since the platform cannot rotate. The angles of the motors follow from the
        triangle of each arm."""
        s = self.states("delta", 30, 9)
        places = [list(self.delta.platform(np.array(q))) for q in s["q"]]
        answer = self.ask("delta", "inverse-dynamics", {"platform": {"frame": "tool", "position": places}})
        self.near(answer["q"], [self.delta.angles(np.array(p)) for p in places], 1e-10)
        self.near(answer["q"], s["q"], 1e-10)
        self.near(answer["tau"], self.ask("delta", "inverse-dynamics", {"q": s["q"]})["tau"], 1e-9)

    def test_what_is_refused(self):
        post = lambda model, **request: self.client.post(f"/v1/models/{model}/inverse-dynamics", request)
        ask = lambda model="five_bar", **platform: post(model, platform={
            "frame": "tip", "position": [0.1, 0.35, 0], **platform})
        self.ok(ask())
        self.refused(post("five_bar", platform={"frame": "tip", "position": [0.1, 0.35, 0]}, q=[2, 1]),
                     "bad-value", "/platform")
        for name in ("qd", "qdd"):
            self.refused(post("five_bar", platform={"frame": "tip", "position": [0.1, 0.35, 0]}, **{name: [2, 1]}),
                         "bad-value", "/platform")
        self.refused(post("five_bar", platform={"position": [0.1, 0.35, 0]}), "missing-field", "/platform/frame")
        self.refused(post("five_bar", platform={"frame": "tip"}), "missing-field", "/platform/position")
        self.refused(post("five_bar", platform=3), "wrong-type", "/platform")
        self.refused(ask(frame="hand"), "unknown-name", "/platform/frame")
        self.refused(ask(position=[0.1, 0.35]), "wrong-shape", "/platform/position")
        self.refused(ask(orientation=[0, 0, 1, 1]), "bad-quaternion", "/platform/orientation/0")
        self.refused(ask(speed=[0, 0, 0]), "unknown-field", "/platform/speed")
        self.refused(ask(position=[0.1, 5, 0]), "loop-crossing")
        self.refused(ask(position=[0.1, 0.35, 0.2]), "loop-open")  # a position outside the plane of the five-bar
        self.refused(ask(position=[0.1, 0.35, 1e-6]), "loop-open")
        self.ok(ask(position=[0.1, 0.35, 1e-12]))
        self.refused(ask("two_link"), "bad-value", "/platform")

    def test_motions_that_the_loops_do_not_let_be(self):
        """Motions that the loops do not allow are refused: the tip of a five-bar moves in its plane only, and a Delta's
        platform does not turn."""
        ask = lambda model, **platform: self.client.post(f"/v1/models/{model}/inverse-dynamics", {"platform": platform})
        tip = {"frame": "tip", "position": [0.1, 0.35, 0]}
        self.ok(ask("five_bar", **tip, velocity=[0.3, 0.1, 0], acceleration=[1, 2, 0]))
        for motion in ({"velocity": [0.3, 0.1, 0.2]}, {"velocity": [0, 0, 1]}, {"velocity": [0.3, 0.1, 0], "acceleration": [1, 2, 0.5]}):
            self.assertIn("do not allow the given velocity", self.refused(ask("five_bar", **tip, **motion), "loop-singular", "/platform"))
        tool = {"frame": "tool", "position": [0.02, 0.01, -0.4], "orientation": [0, 0, 0, 1]}
        self.ok(ask("delta", **tool, velocity=[0.1, 0.2, 0.3, 0, 0, 0]))
        self.refused(ask("delta", **tool, velocity=[0.1, 0.2, 0.3, 0.1, 0, 0]), "loop-singular", "/platform")


if __name__ == "__main__":
    tap.main()
