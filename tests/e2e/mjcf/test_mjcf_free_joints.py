"""Tests armature and damping of ball and free joints: mass matrix, inverse and forward dynamics agree with MuJoCo 3.14 on random
robots, where its linear velocity of a free joint is in world axes and the product's in those of the body."""
import math
import os
import random
import subprocess
import tempfile

import mujoco
import mujoco3
import tap
from harness import BINARY
from mujoco3 import Compiled

ROBOTS = 24
RADIANS = '<compiler angle="radian"/>'


def numbers(rng, n, low, high):
    return " ".join(f"{rng.uniform(low, high):.4g}" for _ in range(n))


def figures(rng, kind, joint):
    """Returns attributes of a joint: armature, damping, stiffness, some or all, by the kind of robot. A free joint has no stiffness here."""
    all_of = {name: f' {name}="{rng.uniform(0.05, 5):.4g}"' for name in ("armature", "damping", "stiffness")}
    if joint == "free":
        all_of["stiffness"] = ""
    return {"all": "".join(all_of.values()), "some": rng.choice(("", *all_of.values()))}.get(kind) or all_of.get(kind, "")


def body(rng, kind, depth, joint):
    """Returns a body with a joint of a type, and up to two bodies on it."""
    inner = "".join(body(rng, kind, depth - 1, rng.choice(("ball", "ball", "hinge", "slide"))) for _ in range(rng.randint(1, 2))) if depth else ""
    where = "" if joint == "free" else f'pos="{numbers(rng, 3, -0.3, 0.3)}"'
    axis = f' axis="{numbers(rng, 3, 0.1, 1)}"' if joint in ("hinge", "slide") else ""
    return (f'<body pos="{numbers(rng, 3, -0.5, 0.5)}" quat="{numbers(rng, 4, 0.1, 1)}"><joint type="{joint}" {where}{axis}{figures(rng, kind, joint)}/>'
            f'<geom type="box" size="{numbers(rng, 3, 0.05, 0.3)}" pos="{numbers(rng, 3, -0.2, 0.2)}" mass="{rng.uniform(0.3, 3):.4g}"/>{inner}</body>')


def robot(seed):
    rng = random.Random(seed)
    kind = ("armature", "damping", "stiffness", "all", "some")[seed % 5]
    roots = (["free"], ["ball"], ["free", "ball"], ["hinge"], ["free", "free"])[seed % 7 % 5]
    world = "".join(body(rng, kind, rng.randint(1, 2), root) for root in roots)
    return f'<mujoco>{RADIANS}<option gravity="{numbers(rng, 3, -9, 9)}"/><worldbody>{world}</worldbody></mujoco>'


class FreeJoints(mujoco3.Agreement):
    def forward(self, model, seed):
        """Forward dynamics of the efforts that MuJoCo answers must give the accelerations of the same state."""
        drawn = mujoco.states(model, 2, seed)
        for state, theirs in zip(drawn, model.answer(drawn)):
            q, qd, qdd = model.convert(state)
            turn = model.columns(state)
            tau = mujoco.apply(list(zip(*turn)), theirs["inverse"])
            ours = self.ask("m", "forward-dynamics", {"q": q, "qd": qd, "tau": tau})["qdd"]
            self.assertClose(ours, qdd, 1e-9, scale=max(map(abs, mujoco.apply(model.matrix(theirs), state[2]))), what="forward dynamics")

    def test_random_robots(self):
        """The matrix that converts velocities is orthonormal, so that its transpose converts efforts back."""
        for seed in range(ROBOTS):
            text = robot(seed)
            report = self.put_text("m", text)
            self.assertFalse([entry for entry in report if entry["code"] == "not-held"], text)
            model = Compiled(text)
            self.compare(model, "m", seed)
            self.forward(model, seed)

    def test_half_turns(self):
        """The spring of a ball joint acts along the shorter rotation, also just below and just above half a turn, where its moment is
        largest."""
        text = f'<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="ball" stiffness="3"/><geom size=".1"/></body></worldbody></mujoco>'
        self.put_text("m", text)
        model = Compiled(text)
        for angle in (0, 1e-9, 1e-4, 0.3, 2, math.pi - 1e-6, math.pi + 1e-6, 4, 2 * math.pi - 1e-5):
            q = [math.cos(angle / 2), *(math.sin(angle / 2) * x for x in (2 / 3, -1 / 3, 2 / 3))]
            theirs = model.answer([[q, [0.0] * 3, [0.0] * 3]])[0]["inverse"]
            for sign in (1, -1):
                ours = self.ask("m", "inverse-dynamics", {"q": [sign * x for x in (*q[1:], q[0])], "qd": [0] * 3, "qdd": [0] * 3})["tau"]
                self.assertClose(ours, theirs, 1e-9, scale=1e-3, what=f"angle {angle}")

    def test_springdamper(self):
        """With the attribute springdamper MuJoCo derives stiffness and damping from the mean inverse inertia of the joint's coordinates."""
        for seed in range(7):
            for joint in ("ball", "free"):
                text = robot(seed).replace(f'type="{joint}"', f'type="{joint}" springdamper="0.5 0.7"', 1)
                if text == robot(seed):
                    continue
                report = self.put_text("m", text)
                lost = [entry["text"] for entry in report if entry["code"] == "not-held"]
                self.assertEqual(["stiffness" in entry for entry in lost], [True] if joint == "free" else [], lost)
                model = Compiled(text)
                if joint == "ball":
                    self.compare(model, "m", seed)
                else:
                    document = self.client.get("/v1/models/m/document").json()
                    held = document["base"].get("spring") or next(
                        link["joint"]["spring"] for link in document["links"] if link["joint"]["type"] == "floating")
                    first = 6 * model.types.index(mujoco.FREE)
                    self.assertClose(held["damping"], model.about["damping"][first], 1e-9)

    def test_written_again(self):
        """`convert --to mjcf` keeps armature, damping and stiffness."""
        for seed in (0, 1, 3, 8, 10):
            text = robot(seed)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "robot.xml")
                with open(path, "w") as file:
                    file.write(text)
                done = subprocess.run([BINARY, "convert", "--to", "mjcf", path], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done)
            self.assertNotIn("stiffness", done.stderr)
            self.put_text("m", done.stdout)
            self.compare(Compiled(done.stdout), "m", seed)
            back, first = Compiled(done.stdout), Compiled(text)
            for name in ("armature", "damping"):
                self.assertClose(sorted(back.about[name]), sorted(first.about[name]), 1e-14, what=name)


if __name__ == "__main__":
    tap.main()
