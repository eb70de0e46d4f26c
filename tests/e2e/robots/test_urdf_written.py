"""Tests the versions of URDF that `torqued convert --to urdf` writes. A reader of links and joints in this file finds the poses that the robot
has; the server reads the same mass matrix and bias back."""
import json
import os
import random
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import numpy as np
import samples
import tap
from harness import BINARY, ROOT, ServerCase

EXACT = 1e-12
ROBOTS = {name[:-5]: os.path.join(ROOT, folder, name) for folder in ("models", os.path.join("tests", "data", "robots"))
          for name in sorted(os.listdir(os.path.join(ROOT, folder))) if name.endswith(".json")}
TREES = ("anymal_b", "baxter", "humanoid", "kuka_iiwa7", "panda", "puma560", "romeo", "stanford", "tx40", "ur5")


def about_x(a):
    return np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])


def turn(axis, a):
    """Returns the rotation about x, y or z, by the cyclic order of the axes."""
    return np.roll(np.roll(about_x(a), axis, 0), axis, 1)


def rotation(origin):
    """Returns the rotation of an <origin>: rpy are turns about fixed x, y and z, quat_xyzw a unit quaternion."""
    if origin.get("quat_xyzw"):
        x, y, z, w = map(float, origin.get("quat_xyzw").split())
        v = np.array([x, y, z])
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross
    r, p, y = map(float, origin.get("rpy", "0 0 0").split())
    return turn(2, y) @ turn(1, p) @ turn(0, r)


def poses(text):
    """Returns the position and rotation of each link in the root while all joints are at zero."""
    root = ElementTree.fromstring(text)
    joints = {joint.find("child").get("link"): joint for joint in root.findall("joint")}
    found = {}

    def pose(name):
        if name not in found and name not in joints:
            found[name] = np.zeros(3), np.eye(3)
        elif name not in found:
            p, R = pose(joints[name].find("parent").get("link"))
            origin = joints[name].find("origin")
            origin = ElementTree.Element("origin") if origin is None else origin
            found[name] = p + R @ np.array([float(x) for x in origin.get("xyz", "0 0 0").split()]), R @ rotation(origin)
        return found[name]

    return {link.get("name"): pose(link.get("name")) for link in root.findall("link")}


class Written(ServerCase):
    def convert(self, document, *options, status=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "robot")
            with open(path, "w") as file:
                file.write(document if isinstance(document, str) else json.dumps(document))
            done = subprocess.run([BINARY, "convert", *options, path], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done)
        return done.stdout, done.stderr

    def written(self, document, version):
        return self.convert(document, "--to", "urdf", "--urdf-version", version)

    def answers(self, name, rng):
        """Returns M and bias at a random state, as dictionaries by the names of coordinates."""
        about = self.client.get(f"/v1/models/{name}").json()
        names = about["velocity_names"]
        q, qd = ({n: rng.uniform(-1, 1) for n in sorted(names)} for _ in range(2))
        self.assertEqual(about["position_names"], names)
        answer = self.ask(name, "evaluate", {"q": [q[n] for n in names], "qd": [qd[n] for n in names], "operations": {"mass-matrix": {}, "bias": {}}})
        M, bias = answer["mass-matrix"]["mass_matrix"], answer["bias"]["bias"]
        order = sorted(range(len(names)), key=names.__getitem__)
        return [bias[i] for i in order] + [M[i][k] for i in order for k in order]

    def check_poses(self, document, text):
        """Compares the poses of the server's frames at zero with those that this file's reader finds."""
        self.put_model("poses", document)
        about = self.client.get("/v1/models/poses").json()
        q = [1.0 if name.endswith(".qw") else 0.0 for name in about["position_names"]]
        known, ours = poses(text), self.ask("poses", "kinematics", {"q": q})["poses"]
        for name, pose in ours.items():
            if name in known:
                self.assertClose(known[name][0].tolist(), pose["position"], EXACT, scale=1, what=name)
                x, y, z, w = pose["orientation"]
                element = ElementTree.Element("origin", {"quat_xyzw": f"{x!r} {y!r} {z!r} {w!r}"})
                self.assertClose(known[name][1].ravel().tolist(), rotation(element).ravel().tolist(), EXACT, scale=1, what=name)
        self.assertGreater(len(set(ours) & set(known)), 2)

    def test_the_version_is_told(self):
        """Version 1.0 is the default; its origins have roll, pitch and yaw, since its readers know no quaternions. Those of version 1.2 have
        quaternions only."""
        with open(ROBOTS["panda"]) as file:
            document = file.read()
        old, new = (self.written(document, version)[0] for version in ("1.0", "1.2"))
        self.assertEqual(self.convert(document, "--to", "urdf")[0], old)
        self.assertEqual([ElementTree.fromstring(text).get("version") for text in (old, new)], [None, "1.2"])
        for text, has, has_not in ((old, "rpy=", "quat_xyzw="), (new, "quat_xyzw=", "rpy=")):
            self.assertIn(has, text)
            self.assertNotIn(has_not, text)

    def test_only_urdf_has_a_choice(self):
        document = {"links": [{"name": "a", "parent": "base", "inertial": samples.body(1), "joint": {"name": "j", "type": "continuous", "axis": [0, 0, 1]}}]}
        for target in ("document", "mjcf", "sdf"):
            text, said = self.convert(document, "--to", target, "--urdf-version", "1.2", status=1)
            self.assertEqual(text, "")
            self.assertIn("only urdf has a choice, 1.0 or 1.2", said)
        self.assertIn("1.0|1.2", self.convert(document, "--to", "urdf", "--urdf-version", "1.1", status=2)[1])

    def test_turns_of_any_size(self):
        """Random rotations, half turns, and pitches of a right angle, where roll and yaw are one angle."""
        rng = random.Random(4)
        half = 1.5707963267948966
        turns = [[rng.uniform(-3, 3) for _ in range(3)] for _ in range(12)]
        turns += [[0.3, half, -1.1], [0.3, -half, 0.8], [2 * half, 0, 0], [0, 0, 2 * half], [2 * half, 0, 2 * half], [1e-9, half - 1e-9, 0.2]]
        document = {"links": [{"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "inertial": samples.body(rng.uniform(1, 2)),
                               "joint": {"name": f"j{i}", "type": "revolute", "axis": [0.36, 0.48, 0.8], "origin": {"xyz": [0.1, -0.2, 0.05], "rpy": rpy}}}
                              for i, rpy in enumerate(turns)],
                    "frames": [{"name": "tip", "link": "l9", "xyz": [0.1, 0.2, 0.3], "rpy": [0.5, -half, 0.2]}]}
        for version in ("1.0", "1.2"):
            text, lost = self.written(document, version)
            self.assertEqual(lost, "")
            self.check_poses(document, text)
            self.check_poses(json.loads(self.convert(text)[0]), text)


def both_versions(path):
    def test(self):
        with open(path) as file:
            document = json.load(file)
        for version in ("1.0", "1.2"):
            text, lost = self.written(document, version)
            self.check_poses(document, text)
            if lost:
                continue  # the report says which parts of the robot the format changes, so that M and bias may differ
            read = json.loads(self.convert(text, "--mimic", "coupled", "--base", "fixed")[0])
            self.put_model("first", document)
            self.put_model("second", read)
            first, second = (self.answers(name, random.Random(version)) for name in ("first", "second"))
            self.assertClose(second, first, EXACT, scale=max(map(abs, first)), what=version)
    return test


for label in TREES:
    setattr(Written, f"test_{label}", both_versions(ROBOTS[label]))

if __name__ == "__main__":
    tap.main()
