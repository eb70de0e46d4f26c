"""Tests that `torqued convert --to mjcf` writes files which MuJoCo 3.14 compiles to the same robot, or announces that MuJoCo refuses them.
Neither in MJCF nor in URDF is a joint type silently written as another one."""
import json
import os
import random
import re
import subprocess
import tempfile

import mujoco
import mujoco3
import samples
import tap
from harness import BINARY, ROOT
from mujoco3 import Compiled, Refused

BOX = {"solid": "box", "size": [0.1, 0.2, 0.3], "mass": 1, "xyz": [0.1, 0.05, 0.2]}
AXES = {"revolute", "prismatic", "planar", "helical", "continuous"}
PITCH = 0.03


def joint_types():
    """Returns the names of all joint types, from the table in dynamics/."""
    with open(os.path.join(ROOT, "dynamics", "model", "joint_types.h"), encoding="utf-8") as file:
        return [name.lower() for name in re.findall(r"^    X\((\w+),", file.read(), re.MULTILINE)]


def joint(name, kind, rng=None):
    made = {"name": name, "type": kind, "origin": {"xyz": [0.1, 0.2, 0.3]}}
    if kind in AXES:
        made["axis"] = [rng.uniform(-1, 1) for _ in range(3)] if rng else [0, 1, 0]
    if kind == "helical":
        made["pitch"] = PITCH
    return made


def link(name, parent, kind, inertial=None, rng=None):
    made = {"name": name, "parent": parent, "joint": joint(name + ".j", kind, rng)}
    return {**made, "inertial": inertial} if inertial else made


def turned(moments, rng):
    """Returns the inertia tensor with these principal moments about random axes."""
    w, x, y, z = (rng.gauss(0, 1) for _ in range(4))
    size = (w * w + x * x + y * y + z * z) ** 0.5
    R = mujoco.rotation(w / size, x / size, y / size, z / size)
    return {"xyz"[i] + "xyz"[k]: sum(R[i][n] * moments[n] * R[k][n] for n in range(3)) for i in range(3) for k in range(i, 3)}


class Written(mujoco3.Agreement):
    def convert(self, document, target, *options):
        """Returns the written text, and the list of losses."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "robot.json")
            with open(path, "w") as file:
                file.write(document if isinstance(document, str) else json.dumps(document))
            done = subprocess.run([BINARY, "convert", "--to", target, *options, path], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout, done.stderr

    def written(self, document):
        """Checks that MuJoCo's numbers for the written file are the server's, or that the conversion announced MuJoCo's
        refusal."""
        self.put_model("m", document)
        text, lost = self.convert(document, "mjcf")
        try:
            model = Compiled(text)
        except Refused as refusal:
            self.assertIn("MuJoCo refuses", lost, f"{refusal}\n{text}")
            return text, lost
        self.assertNotIn("MuJoCo refuses", lost, text)
        if model.nv:
            self.put_text("written", text)
            self.compare(model, "written", count=2)
        return text, lost

    def test_plates(self):
        """Plates with A + B = C, rounded up or down: MuJoCo checks the triangle inequality without a tolerance."""
        rng = random.Random(1)
        for _ in range(15):
            a, b = rng.uniform(0.01, 1), rng.uniform(0.01, 1)
            for moments in ([a, b, a + b], [a + b, a, b], [a, a + b, b]):
                for tensor in (dict(zip(("xx", "yy", "zz"), moments)), turned(moments, rng)):
                    _, lost = self.written({"links": [link("a", "base", "revolute", {"mass": 1, "inertia": tensor})]})
                    self.assertEqual(lost, "")
        for moments in ([0.7, 0.1, 0.8], [0.8, 0.7, 0.1], [0.1, 0.8, 0.7]):
            body = {"mass": 1, "inertia": dict(zip(("xx", "yy", "zz"), moments))}
            self.assertEqual(self.written({"links": [link("a", "base", "revolute", body)]})[1], "")
            self.assertEqual(self.written({"base": {"type": "floating", "link": "b", "inertial": body}, "links": []})[1], "")
        impossible = {"mass": 1, "inertia": {"xx": 0.7, "yy": 0.1, "zz": 0.9}}
        self.assertIn("MuJoCo refuses", self.written({"links": [link("a", "base", "revolute", impossible)]})[1])

    def test_links_called_world(self):
        for document in ({"base": {"type": "floating", "link": "world", "inertial": BOX}, "links": [link("a", "world", "revolute", BOX)]},
                         {"links": [link("world", "base", "revolute", BOX), link("b", "world", "revolute", BOX)]},
                         {"links": [link("a", "base", "revolute", BOX), link("world", "a", "fixed", BOX), link("world.link", "a", "fixed", BOX)],
                          "frames": [{"name": "world.link.link", "link": "world"}]},
                         {"links": [link("a", "base", "floating", BOX), link("world", "a", "spherical", BOX)]}):
            self.assertIn('"world" is named', self.written(document)[1])
        self.assertEqual(self.written({"base": {"type": "fixed", "link": "world"}, "links": [link("a", "world", "revolute", BOX)]})[1], "")

    def test_a_rotation_behind_a_ball(self):
        for below in ("revolute", "spherical", "helical", "planar"):
            self.assertIn("MuJoCo refuses", self.written({"links": [
                link("a", "base", "spherical"), link("b", "a", below, BOX)]})[1], below)
            self.assertIn("MuJoCo refuses", self.written({"links": [
                link("a", "base", "spherical"), link("b", "a", "prismatic"), link("c", "b", below, BOX)]})[1], below)
        for below in ("prismatic", "fixed"):
            self.assertEqual(self.written({"links": [link("a", "base", "spherical"), link("b", "a", below, BOX)]})[1], "", below)
        self.assertEqual(self.written({"links": [link("a", "base", "revolute"), link("b", "a", "spherical", BOX)]})[1], "")
        self.assertEqual(self.written({"links": [link("a", "base", "spherical", BOX), link("b", "a", "revolute", BOX)]})[1], "")

    def test_many_coordinates_between_bodies(self):
        for n, said in ((6, ""), (7, "more than six")):
            document = {"links": [link(f"l{i}", f"l{i - 1}" if i else "base", "revolute") for i in range(n - 1)]}
            document["links"].append(link("end", f"l{n - 2}", "revolute", BOX))
            self.assertIn(said, self.written(document)[1])

    def test_random_chains(self):
        rng = random.Random(7)
        kinds = [kind for kind in joint_types() if kind != "floating"]
        for _ in range(60):
            document = {"links": []}
            for i in range(rng.randint(1, 5)):
                parent = rng.choice(["base"] + [made["name"] for made in document["links"]])
                document["links"].append(link(f"l{i}", parent, rng.choice(kinds), samples.body(1 + i) if rng.random() < 0.7 else None, rng))
            if rng.random() < 0.4:
                document["base"] = {"type": "floating", "link": "base", "inertial": BOX}
            try:
                self.put_model("m", document)
            except AssertionError:
                continue  # robots whose joints have no inertia
            self.written(document)

    def test_robots(self):
        """Writes all robots of the tree; of those with loops the spanning tree is compared."""
        for folder in ("models", os.path.join("tests", "data", "robots")):
            for name in sorted(os.listdir(os.path.join(ROOT, folder))):
                if name.endswith(".json"):
                    with self.subTest(name), open(os.path.join(ROOT, folder, name), encoding="utf-8") as file:
                        self.written(json.load(file))

    def test_every_joint_type_in_every_format(self):
        """Each joint type is read back with the same mass matrix, or the loss is listed."""
        for kind in joint_types():
            document = {"links": [link("a", "base", kind, BOX), link("b", "base", "revolute", BOX)]}
            self.put_model("first", document)
            about = self.client.get("/v1/models/first").json()
            for target in ("mjcf", "urdf"):
                with self.subTest(kind=kind, target=target):
                    text, lost = self.convert(document, target)
                    if lost:
                        self.assertIn("not-held", lost)
                        continue
                    query, media = ("?mimic=coupled", "urdf") if target == "urdf" else ("", "mjcf")
                    answer = self.client.put(f"/v1/models/second{query}", text.encode(), Content_Type=f"application/{media}+xml")
                    self.assertIn(answer.status, (200, 201), answer)
                    second = self.client.get("/v1/models/second").json()
                    self.assertEqual(second["nv"], about["nv"])
                    q = [float(name.endswith(".qw")) or 0.3 * (not name[-3:-1] == ".q") for name in about["position_names"]]
                    first = self.ask("first", "mass-matrix", {"q": q})["mass_matrix"]
                    self.assertClose(self.ask("second", "mass-matrix", {"q": q})["mass_matrix"], first, 1e-10)


if __name__ == "__main__":
    tap.main()
