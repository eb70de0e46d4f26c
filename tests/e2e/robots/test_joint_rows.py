"""Tests each joint type, a row of the table dyn_joint_types, in each format that `torqued convert` writes: the robot that is read back has the
same mass matrix and bias, or the report names the joint and --strict fails. A new type is tested once it has a row."""
import json
import os
import random
import re
import subprocess
import tempfile

import tap
from harness import BINARY, ROOT, ServerCase
from samples import body

MODEL = os.path.join(ROOT, "dynamics", "model")
FORMATS = ("document", "urdf", "mjcf", "sdf")
EXACT = 1e-10


def rows():
    """Returns the names of all joint types, each with the fields that a document must have for it and its numbers of coordinates."""
    with open(os.path.join(MODEL, "joint_types.h")) as file:
        sizes = {kind: (int(nq), int(nv)) for kind, nq, nv in re.findall(r"X\((\w+), +(\d), (\d)\)", file.read())}
    with open(os.path.join(MODEL, "joint_types.c")) as file:
        text = file.read()
    types = {}
    for kind, row in re.findall(r"\[DYN_(?!JOINT_KINDS)(\w+)\]\s*=\s*\{(.*?)\}(?=,\n    \[|,\n\};)", text, re.S):
        needs = {"axis": [0.36, 0.48, 0.8]} if ".has_axis" in row else {}
        if ".has_pitch" in row:
            needs["pitch"] = 0.07
        for name in re.findall(r'\.(?:name|unlimited)\s*=\s*"(\w+)"', row):
            types[name] = {"type": name, **needs}, *sizes[kind]
    return types


TYPES = rows()


def origin(rng):
    return {"xyz": [rng.uniform(-0.3, 0.3) for _ in range(3)], "rpy": [rng.uniform(-1, 1) for _ in range(3)]}


def link(rng, name, parent, joint):
    return {"name": name, "parent": parent, "joint": {"name": "j_" + name, "origin": origin(rng), **joint},
            "inertial": body(rng.uniform(1, 2), [rng.uniform(-0.1, 0.1) for _ in range(3)])}


HINGE = {"type": "continuous", "axis": [0, 1, 0]}


def home_of(nq, nv):
    """Returns a reference position `home` that differs from zero; for a joint with a quaternion the last four numbers are the quaternion."""
    home = [0.35, -0.3, 0.7, 0.2, 0.4, -0.6][:nq if nq == nv else nq - 4] + ([] if nq == nv else [0.1, -0.5, 0.5, 0.7])
    return home[0] if nq == 1 else home


def homes(document):
    """Returns all nonzero numbers of the reference positions `home` in ascending order, since a format may divide a joint into several."""
    given = [l["joint"].get("home", 0) for l in document["links"]]
    return sorted(x for home in given for x in (home if isinstance(home, list) else [home]) if x != 0)


def massless(rng, name, parent, joint):
    """Returns a link without mass; in MJCF its joint becomes one more joint of the next body."""
    made = link(rng, name, parent, joint)
    del made["inertial"]
    return made


def documents(kind):
    """Robots with the joint at different places of the tree."""
    rng = random.Random(kind)
    fields, nq, nv = TYPES[kind]
    one_coordinate = nv == 1
    yield "first", {"links": [link(rng, "x", "base", fields), link(rng, "tip", "x", HINGE)]}
    yield "last", {"links": [link(rng, "arm", "base", HINGE), link(rng, "x", "arm", fields)]}
    yield "between branches", {"links": [link(rng, "arm", "base", HINGE), link(rng, "x", "arm", fields), link(rng, "left", "x", HINGE),
                                         link(rng, "right", "x", HINGE)]}
    yield "twice", {"links": [link(rng, "x", "base", fields), link(rng, "y", "x", fields), link(rng, "tip", "y", HINGE)]}
    yield "floating base", {"base": {"type": "floating", "inertial": body(3)}, "links": [link(rng, "x", "base", fields)]}
    if kind != "fixed":
        drag = {"friction": {"viscous": 0.7}} if one_coordinate else {"spring": {"damping": 0.4}} if nq > nv else {}
        yield "behind a massless link", {"links": [link(rng, "arm", "base", HINGE), massless(rng, "joint", "arm", {**HINGE, "rotor_inertia": 0.02}),
                                                   link(rng, "x", "joint", {**fields, **drag})]}
        home = home_of(nq, nv)
        yield "with a home", {"links": [link(rng, "arm", "base", HINGE), link(rng, "x", "arm", {**fields, "home": home}), link(rng, "tip", "x", HINGE)]}
        if "axis" in fields:
            yield "downwards", {"links": [link(rng, "x", "base", {**fields, "axis": [0, 0, -1], "home": home}), link(rng, "tip", "x", HINGE)]}
    if one_coordinate:
        figures = {"friction": {"viscous": 0.3}, "limits": {"effort": 4}}
        if kind != "continuous":
            figures["limits"] = {"effort": 4, "position": [-2, 2]}
        yield "figures", {"links": [link(rng, "arm", "base", HINGE), link(rng, "x", "arm", {**fields, **figures})]}
        yield "mimic", {"links": [link(rng, "arm", "base", HINGE),
                                  link(rng, "x", "arm", {**fields, "mimic": {"joint": "j_arm", "multiplier": -1.3, "offset": 0.2}})]}
        yield "leader", {"links": [link(rng, "x", "base", {**fields, "home": 0.4}),
                                   link(rng, "arm", "x", {**HINGE, "mimic": {"joint": "j_x", "multiplier": 0.7, "offset": -0.6}})]}


class JointRows(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def convert(self, text, *options):
        path = os.path.join(self.folder, "robot")
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run([BINARY, "convert", *options, path], capture_output=True, text=True, timeout=60)

    def about(self, name):
        return self.ok(self.client.get(f"/v1/models/{name}"))

    def state(self, about, rng):
        q = {name: rng.uniform(-1, 1) for name in about["position_names"]}
        for name in [name for name in q if name.endswith("qw")]:
            parts = [name[:-1] + letter for letter in "xyzw"]
            norm = sum(q[part] ** 2 for part in parts) ** 0.5
            q.update({part: q[part] / norm for part in parts})
        return q, {name: rng.uniform(-1, 1) for name in about["velocity_names"]}

    def matrix_and_bias(self, name, q, qd, order):
        """Returns M and the bias, with the coordinates sorted in the order of the names `order`."""
        about = self.about(name)
        self.assertEqual(sorted(about["velocity_names"]), sorted(order))
        answer = self.ask(name, "evaluate", {"q": [q[n] for n in about["position_names"]], "qd": [qd[n] for n in about["velocity_names"]],
                                             "operations": {"mass-matrix": {}, "bias": {}}})
        place = [about["velocity_names"].index(n) for n in order]
        M, bias = answer["mass-matrix"]["mass_matrix"], answer["bias"]["bias"]
        return [[M[i][k] for k in place] for i in place], [bias[i] for i in place]

    def check(self, kind, place, document, to):
        what = f"{kind}, {place}, as {to}"
        written = self.convert(json.dumps(document), "--to", to)
        self.assertEqual(written.returncode, 0, (what, written))
        options = () if to != "urdf" else ("--mimic", "coupled", "--base", document.get("base", {}).get("type", "fixed"))
        read = self.convert(written.stdout, *options)
        self.assertEqual(read.returncode, 0, (what, read.stderr, written.stdout))
        lost = [line for line in written.stderr.splitlines() if "floating base" not in line]
        strict = self.convert(json.dumps(document), "--to", to, "--strict")
        self.assertEqual(strict.returncode, 1 if written.stderr else 0, (what, strict))
        if lost:
            # Checks that the report names the joint, or the body that the joint's coordinates move.
            self.assertTrue(all('"j_' in line or 'coordinates' in line for line in lost), (what, lost))
            return False
        again = json.loads(read.stdout)
        if to in ("document", "mjcf"):  # URDF cannot write reference positions (`home`), and only robots with loops need them
            self.assertClose(homes(again), homes(document), EXACT, what=what + ": homes")
        self.put_model("first", document)
        self.put_model("second", again)
        rng = random.Random(what)
        for _ in range(3):
            q, qd = self.state(self.about("first"), rng)
            order = list(qd)
            ours, theirs = (self.matrix_and_bias(name, q, qd, order) for name in ("first", "second"))
            self.assertClose(theirs[0], ours[0], EXACT, what=what + ": M")
            self.assertClose(theirs[1], ours[1], EXACT, scale=max(map(abs, ours[1]), default=0) or 1, what=what + ": bias")
        return True

    def test_the_table_was_read(self):
        self.assertTrue({"fixed", "revolute", "continuous", "prismatic", "planar", "helical", "spherical", "floating"} <= set(TYPES))

    def test_all_written_formats_are_here(self):
        said = subprocess.run([BINARY, "convert", "--help"], capture_output=True, text=True, timeout=60).stdout
        self.assertIn("|".join(FORMATS), said)


def every_place(kind, to):
    def test(self):
        same = [self.check(kind, place, document, to) for place, document in documents(kind)]
        if to == "document":
            self.assertTrue(all(same))
    return test


for row in TYPES:
    for form in FORMATS:
        setattr(JointRows, f"test_{row}_as_{form}", every_place(row, form))

if __name__ == "__main__":
    tap.main()
