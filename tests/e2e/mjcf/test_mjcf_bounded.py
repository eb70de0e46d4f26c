"""Tests `torqued convert --bound`: MuJoCo 3.14 and libsdformat accept every written file, each change is listed, and nothing else changes."""
import json
import os
import random
import subprocess
import tempfile

import mujoco
import mujoco3
import numpy as np
import samples
import tap
from harness import BINARY, ROOT
from mujoco3 import Compiled, Refused

BOX = {"solid": "box", "size": [0.1, 0.2, 0.3], "mass": 1, "xyz": [0.1, 0.05, 0.2]}
NEED_AXES = {"revolute", "prismatic", "planar", "helical"}
ROBOTS = [os.path.join(ROOT, folder, name) for folder in ("models", os.path.join("tests", "data", "robots"))
          for name in sorted(os.listdir(os.path.join(ROOT, folder))) if name.endswith(".json")]


def link(name, parent, kind, inertial=None, axis=(0, 1, 0)):
    joint = {"name": name + ".j", "type": kind, "origin": {"xyz": [0.1, 0.2, 0.3]}}
    if kind in NEED_AXES:
        joint["axis"] = list(axis)
    if kind == "helical":
        joint["pitch"] = 0.03
    return {"name": name, "parent": parent, "joint": joint, **({"inertial": inertial} if inertial else {})}


def tensor(T):
    return {"xyz"[i] + "xyz"[k]: T[i][k] for i in range(3) for k in range(i, 3)}


def turned(moments, rng):
    """Returns the tensor with these principal moments about random axes."""
    v = [rng.gauss(0, 1) for _ in range(4)]
    R = np.array(mujoco.rotation(*(np.array(v) / np.linalg.norm(v))))
    return R @ np.diag(moments) @ R.T


def balanced(T):
    """Returns the tensor whose second moments of mass are those of T, without the negative ones."""
    second, axes = np.linalg.eigh(np.trace(T) / 2 * np.eye(3) - T)
    second = axes @ np.diag(np.maximum(second, 0)) @ axes.T
    return np.trace(second) * np.eye(3) - second


class Bounded(mujoco3.Agreement):
    def convert(self, document, *options):
        """Returns exit status, written text and list of changes and losses."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "robot.json")
            with open(path, "w") as file:
                json.dump(document, file)
            done = subprocess.run([BINARY, "convert", *options, path], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def taken(self, document):
        """Checks that MuJoCo accepts the bounded file, and that its numbers are the server's for that file. Returns the list of changes."""
        status, text, said = self.convert(document, "--bound", "--to", "mjcf")
        self.assertEqual(status, 0, said)
        self.assertNotIn("MuJoCo refuses", said, text)
        try:
            model = Compiled(text)
        except Refused as refusal:
            self.fail(f"{refusal}\n{text}\n{said}")
        if model.nv:
            self.put_text("written", text)
            self.compare(model, "written", count=1)
        return [line for line in said.splitlines() if ": bounded: " in line]

    def read(self, document, target="sdf", query="?base=fixed"):
        """Returns the inertias, by the names of their links, that the server reads from the bounded file."""
        status, text, said = self.convert(document, "--bound", "--to", target)
        self.assertEqual(status, 0, said)
        answer = self.client.put(f"/v1/models/read{query}", text.encode(), Content_Type=f"application/{target}+xml")
        self.assertIn(answer.status, (200, 201), answer)
        return {one["name"]: one["inertial"] for one in self.client.get("/v1/models/read/document").json()["links"] if "inertial" in one}

    def test_robots(self):
        """MuJoCo accepts all robots of the tree with --bound; the option does not change the files that MuJoCo accepts without it."""
        for path in ROBOTS:
            with self.subTest(path), open(path, encoding="utf-8") as file:
                document = json.load(file)
                changes = self.taken(document)
                _, plain, said = self.convert(document, "--to", "mjcf")
                self.assertEqual(bool(changes), "MuJoCo refuses" in said, (changes, said))
                self.assertEqual(bool(changes), plain != self.convert(document, "--bound", "--to", "mjcf")[1])

    def test_the_nearest_balanced_inertia(self):
        """Moments 0.7, 0.1, 0.9 have the second moments 0.15, 0.75, -0.05: without the last they are 0.75, 0.15, 0.9. Also tries random axes and
        several negative moments."""
        rng = random.Random(3)
        for moments in ([0.7, 0.1, 0.9], [0.02, 0.5, 0.01], [0, 0, 0.3]):
            for T in (np.diag(moments), *(turned(moments, rng) for _ in range(4))):
                document = {"links": [link("a", "base", "revolute", {"mass": 1.5, "com": [0.1, 0, 0.2], "inertia": tensor(T)})]}
                self.assertIn("--bound mends it", self.convert(document, "--to", "mjcf")[2])
                self.assertEqual(len(self.taken(document)), 1)
                for target in ("sdf", "urdf"):
                    ours = self.read(document, target)["a"]
                    self.assertEqual((ours["mass"], ours["com"]), (1.5, [0.1, 0, 0.2]))
                    got = [ours["inertia"].get(key, 0) for key in ("xx", "xy", "xz", "yy", "yz", "zz")]
                    self.assertClose(got, list(tensor(balanced(T)).values()), 1e-13, scale=1)
        text = self.convert({"links": [link("a", "base", "revolute", {"mass": 1, "inertia": {"xx": 0.7, "yy": 0.1, "zz": 0.9}})]}, "--bound", "--to", "sdf")[2]
        self.assertIn('"a" is balanced', text)
        self.assertIn("of 0.7, 0.1, 0.9 kg m^2 become 0.75, 0.15, 0.9 kg m^2", text)

    def test_indefinite_inertia(self):
        """A link with a negative moment, which the document accepts because its body has none."""
        document = {"links": [link("a", "base", "revolute", BOX),
                              link("b", "a", "fixed", {"mass": 0.1, "inertia": {"xx": -0.001, "yy": 0.002, "zz": 0.0015}})]}
        self.assertEqual(len(self.taken(document)), 1)

    def test_links_without_mass(self):
        """A leaf, a fork, a ball joint before a hinge, a floating base and a point mass get the mass or inertia that they lack. A massless link
        that becomes only a joint in MuJoCo, and one whose mass is on a link fixed to it, are not changed."""
        leaf = [link("a", "base", "revolute", BOX), link("b", "a", "revolute")]
        fork = [link("a", "base", "revolute"), link("b", "a", "revolute", BOX), link("c", "a", "revolute", BOX)]
        ball = [link("a", "base", "spherical"), link("b", "a", "revolute", BOX)]
        slides = [link("a", "base", "spherical"), link("b", "a", "prismatic"), link("c", "b", "revolute", BOX)]
        point = [link("a", "base", "revolute", {"mass": 2, "com": [0.3, 0, 0]})]
        rod = [link("a", "base", "revolute", {"mass": 2, "com": [0.3, 0, 0], "inertia": {"xx": 0, "yy": 0.1, "zz": 0.1}})]
        long = [*(link(f"l{i}", f"l{i - 1}" if i else "base", "revolute", axis=[float(i % 3 == k) for k in range(3)]) for i in range(13)), link("end", "l12", "revolute", BOX)]
        screws = [*(link(f"l{i}", f"l{i - 1}" if i else "base", "helical") for i in range(3)), link("end", "l2", "revolute", BOX)]
        joint = [link("a", "base", "revolute"), link("b", "a", "revolute", BOX, (1, 0, 0))]
        part = [link("a", "base", "revolute"), link("b", "a", "fixed", BOX)]
        for links, names in ((leaf, "b"), (fork, "a"), (ball, "a"), (slides, "a"), (point, "a"), (rod, "a"), (joint, ""), (part, ""),
                             (long, ["l5", "l11"]), (screws, ["l2"])):
            changes = self.taken({"links": links})
            self.assertEqual([line.split('link "')[1].split('"')[0] for line in changes], list(names), changes)
        floating = {"base": {"type": "floating", "link": "trunk"}, "links": [link("a", "trunk", "revolute", BOX)]}
        self.assertEqual(len(self.taken(floating)), 1)
        self.assertEqual(len(self.taken({**floating, "links": [link("a", "trunk", "fixed", BOX)]})), 0)
        self.assertEqual(self.read({"links": leaf})["b"], {"mass": 1e-6, "inertia": {"xx": 1e-9, "yy": 1e-9, "zz": 1e-9}})
        self.assertEqual(self.read({"links": rod})["a"], {"mass": 2, "com": [0.3, 0, 0], "inertia": {"xx": 1e-9, "yy": 0.1, "zz": 0.1}})

    def test_random_trees(self):
        rng = random.Random(11)
        kinds, changed = ["revolute", "prismatic", "planar", "helical", "spherical", "fixed", "floating"], 0
        for _ in range(60):
            document = {"links": []}
            for i in range(rng.randint(1, 6)):
                parent = rng.choice(["base"] + [made["name"] for made in document["links"]])
                inertial = rng.choice([None, None, samples.body(1 + i), {"mass": 0.3, "inertia": tensor(turned([0.01, 0.02, rng.choice([0.03, 0.05])], rng))}])
                document["links"].append(link(f"l{i}", parent, rng.choice(kinds), inertial, [rng.uniform(-1, 1) for _ in range(3)]))
            if rng.random() < 0.4:
                document["base"] = {"type": "floating", "link": "base", **({"inertial": BOX} if rng.random() < 0.5 else {})}
            if self.convert(document)[0] == 0:
                changed += bool(self.taken(document))
        self.assertGreater(changed, 20)

    def test_changes_are_asked_for(self):
        """--strict accepts changes by --bound, but no other loss. --bound does not apply when a document is written."""
        bare = {"links": [link("a", "base", "revolute", BOX), link("b", "a", "revolute")]}
        self.assertEqual([self.convert(bare, "--to", "mjcf", "--strict", *more)[0] for more in ([], ["--bound"])], [1, 0])
        bare["links"][1]["joint"]["friction"] = {"load": 0.1}
        self.assertEqual(self.convert(bare, "--to", "mjcf", "--strict", "--bound")[0], 1)
        status, text, said = self.convert(bare, "--bound")
        self.assertEqual((status, text), (1, ""))
        self.assertIn("urdf, mjcf, sdf", said)


if __name__ == "__main__":
    tap.main()
