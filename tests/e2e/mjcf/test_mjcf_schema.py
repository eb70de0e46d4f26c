"""Tests the table of MJCF in api/robots/mjcf_schema/mjcf_schema.c: MuJoCo 3.14 accepts the same names, and the class of each
attribute is right.

Each attribute takes a legal value in a small model (mjcf_samples.py). Where it is irrelevant to dynamics, MuJoCo
computes the same mass matrix, bias, passive forces and inverse dynamics as without it. Where the model holds it, the
server's numbers are MuJoCo's. Where it is not held, a warning names it, or the file is refused."""
import collections
import json
import os
import random
import subprocess

import mjcf_samples as samples
import mujoco3
import tap
from harness import ROOT
from mujoco3 import Compiled, Peer

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
IRRELEVANT = ("silent", "irrelevant", "contact", "softness", "control")
HELD = ("held", "expanded")
ALIASES = ("worldbody", "frame", "replicate")  # MuJoCo's schema treats these like bodies, but its reader restricts them
NUMBERS = ("mass_matrix", "bias", "passive", "inverse")
# Attributes that affect none of the compared numbers and still have a warning.
ALWAYS_REPORTED = ("actuation", "invdiscrete", "actuatorgroupdisable", "torquescale")
# Elements that one text cannot contain, or that only make a model that the reader refuses.
WITHOUT_SAMPLE = {"extension": "plugins", "deformable": "soft bodies", "plugin": "plugins", "config": "plugins",
                  "composite": "refused", "flexcomp": "refused", "attach": "another file", "replicate": "refused", "flex": "soft bodies",
                  "flexvert": "soft bodies", "flexstrain": "soft bodies", "model": "another file"}


def table():
    """Returns the use of each attribute by path and name; the name "" stands for the element itself."""
    program = os.path.join(BUILD, "tests", "oracle", "mjcf_schema")
    rows = [json.loads(line) for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()]
    children = collections.defaultdict(list)
    for row in rows:
        for parent in row["in"].split():
            for name in row["names"].split():
                children[parent].append((name, row))
    uses = {}

    def walk(path):
        """Lists the elements below a path. Paths begin with a body, and each element occurs at most once in a path."""
        around = ("mujoco",) + path
        for name, row in children[around[-1]] + children["/".join(around[-2:])]:
            inner = path + (name,)
            if name in path or (path and name in ("body", "frame", "replicate")):
                continue
            uses[inner] = {"": row["use"]}
            for use, (_, names) in row["attributes"].items():
                uses[inner].update({attribute: use for attribute in names.split()})
            walk(inner)

    walk(())
    # In the table bodies are inside <worldbody>; paths begin with the body.
    for name in ("body", "frame", "replicate"):
        for path in [path for path in uses if path[:2] == ("worldbody", name)]:
            uses[path[1:]] = uses.pop(path)
        del children[name]
    return {path: found for path, found in uses.items() if path[0] not in ("worldbody", "frame", "replicate") or len(path) == 1}


def xml_path(path):
    return ("worldbody",) + path if path[0] in ("body", "frame", "replicate") else path


def open_elements(path, attribute):
    """Returns a model of empty elements whose innermost element has the attribute."""
    path = ("mujoco",) + xml_path(path)
    return ("".join(f"<{name}>" for name in path[:-1]) + f'<{path[-1]} {attribute}="x"/>' +
            "".join(f"</{name}>" for name in reversed(path[:-1])))


class Names(mujoco3.Agreement):
    def is_known(self, path, attribute):
        answer = Peer.ask(xml=open_elements(path, attribute))
        return "Schema violation: unrecognized" not in answer.get("error", "")

    def test_mujoco_knows_what_the_table_lists(self):
        for path, uses in table().items():
            for attribute, use in uses.items():
                if attribute and use != "old":
                    self.assertTrue(self.is_known(path, attribute), f"{path}: {attribute}")

    def test_mujoco_knows_no_more(self):
        known = table()
        rng = random.Random(1)
        names = sorted({attribute for uses in known.values() for attribute in uses if attribute})
        for path, uses in known.items():
            if path[-1] in ALIASES:
                continue
            for attribute in rng.sample(names, 25):
                if attribute not in uses:
                    self.assertFalse(self.is_known(path, attribute), f"{path}: {attribute}")


class Classes(mujoco3.Agreement):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = table()
        cls.count = collections.Counter()

    def texts(self, uses):
        """Yields path, attribute, and the texts without and with the attribute, for all attributes that the table puts in one of the classes
        `uses`."""
        for path, found in self.table.items():
            if any(name in WITHOUT_SAMPLE for name in path) or path == ("worldbody",):
                continue
            for attribute, use in found.items():
                if not attribute or use not in uses:
                    continue
                n = 0
                for attributes in samples.candidates(path, attribute):
                    text = samples.sample(path, attributes)
                    answer = Peer.ask(xml=text)
                    if "error" in answer:
                        continue
                    yield path, attribute, samples.sample(path), text
                    n += 1
                    if n == 2:
                        break
                self.count[use, "tried" if n else "untried"] += 1
        self.assertGreater(sum(self.count[use, "tried"] for use in uses), 0.6 * sum(
            n for (use, _), n in self.count.items() if use in uses))

    def test_irrelevant(self):
        last, model, state, numbers = None, None, None, None
        for path, attribute, without, text in self.texts(IRRELEVANT):
            if without != last:
                last, model = without, Compiled(without)
                state = model.draw(random.Random(1))
                numbers = model.answer([state])[0]
            answer = Peer.ask(xml=text, states=[state])
            self.assertIn("states", answer, text)
            for name in NUMBERS:
                self.assertClose(answer["states"][0][name], numbers[name], 1e-13, what=f"{path} {attribute}: {name}")

    def test_held(self):
        for path, attribute, _, text in self.texts(HELD):
            with self.subTest(path=path, attribute=attribute):
                self.agree(text)

    def changes(self, without, text):
        """True if MuJoCo's numbers or coordinates differ between the two texts."""
        before, after = Compiled(without), Compiled(text)
        if before.types != after.types:
            return True
        state = before.draw(random.Random(1))
        old, new = before.answer([state])[0], after.answer([state])[0]
        return any(abs(a - b) > 1e-12 for name in NUMBERS for a, b in zip(old[name], new[name]))

    def test_not_held(self):
        for path, attribute, without, text in self.texts(("reported", "not_held")):
            with self.subTest(path=path, attribute=attribute):
                answer = self.client.put("/v1/models/m", text.encode(), Content_Type="application/mjcf+xml")
                if answer.status == 422:
                    self.assertRegex(answer.json()["detail"], "line|loops")
                    continue
                self.assertIn(answer.status, (200, 201), answer)
                said = [entry["text"] for entry in answer.json()["report"] if entry["code"] == "not-held"]
                if any(word in entry for entry in said for word in (f"<{path[-1]}>", f"<{path[0]}>", attribute)):
                    continue
                self.assertEqual(self.table[path][attribute], "reported", said)
                self.assertNotIn(attribute, ALWAYS_REPORTED, said)
                self.assertFalse(self.changes(without, text), said)

    def test_elements_without_a_sample(self):
        """Elements without a sample cause a warning or a refusal, except those of assets and sensors."""
        for path, found in self.table.items():
            if not any(name in WITHOUT_SAMPLE for name in path) or found[""] in IRRELEVANT or path[0] in ("asset", "sensor"):
                continue
            inner = samples.wrap(path, "")
            text = samples.model(world=samples.BODIES + inner) if path[0] == "replicate" else samples.around(path, samples.element(path[-1], {}))
            answer = self.client.put("/v1/models/m", text.encode(), Content_Type="application/mjcf+xml")
            if answer.status == 422:
                continue
            said = [entry["text"] for entry in answer.json()["report"] if entry["code"] == "not-held"]
            self.assertTrue(any(f"<{name}>" in entry for entry in said for name in path), f"{path}: {said}")

    @classmethod
    def tearDownClass(cls):
        for key, number in sorted(cls.count.items()):
            print(f"#   {' '.join(key)}: {number}")
        super().tearDownClass()


if __name__ == "__main__":
    tap.main()
