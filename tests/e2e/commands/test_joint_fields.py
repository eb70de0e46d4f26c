"""Tests that no field of a joint is lost in silence by `torqued convert`: in each format that is written the file differs by
the field, or the report names the field. A field of the contract without a value here fails the test."""
import json
import os
import subprocess
import tempfile
import unittest

import tap
import yaml
from harness import BINARY, ROOT

FORMATS = ("urdf", "mjcf", "sdf")
# A value for each field, and the other fields without which it has no meaning.
VALUES = {
    "limits.position": ([-0.7, 1.3], {}), "limits.velocity": (2.3, {}), "limits.effort": (17, {}), "limits.effort_rate": (190, {}),
    "limits.acceleration": (23, {}), "limits.jerk": (310, {}), "limits.effort_speed": ({"stall_effort": 29, "slope": 3.1}, {}),
    "friction.viscous": (0.37, {}), "friction.coulomb": (0.43, {}), "friction.coulomb_velocity": (0.011, {"coulomb": 0.43}),
    "friction.breakaway": (0.59, {"coulomb": 0.43}), "friction.stribeck_velocity": (0.13, {"coulomb": 0.43}), "friction.load": (0.053, {}),
    "elastic.stiffness": (710, {}), "elastic.damping": (0.71, {"stiffness": 710}), "elastic.rest": (0.19, {"stiffness": 710}),
    "spring.stiffness": (31, {}), "spring.damping": (0.31, {}), "spring.rest": (0.23, {"stiffness": 31}),
    "spring.stiffness_polynomial": ([3.7, 1.9], {"stiffness": 31}), "spring.damping_polynomial": ([0.37, 0.19], {"damping": 0.31}),
    "rotor_inertia": (0.067, {}), "actuated": (False, {})}
# Fields that other tests convert with every type of joint, or that have tests of their own.
ELSEWHERE = {"name", "type", "axis", "origin", "pitch", "home", "mimic"}
# Fields that a document has together or not at all.
TOGETHER = {"friction.breakaway": {"stribeck_velocity": 0.13}, "friction.stribeck_velocity": {"breakaway": 0.59}}


def fields(contract):
    """Returns the paths of all fields of a joint: of the groups limits, friction, elastic and spring, those of their members."""
    schemas, found = contract["components"]["schemas"], set()
    for name, schema in schemas["Joint"]["properties"].items():
        group = schemas[schema["$ref"].split("/")[-1]] if "$ref" in schema else schema
        members = group.get("properties", {}) if name not in ELSEWHERE else {}
        found |= {f"{name}.{member}" for member in members} or {name}
    return found - ELSEWHERE


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "api", "openapi.yaml"), encoding="utf-8") as source:
            cls.fields = fields(yaml.safe_load(source))
        folder = tempfile.TemporaryDirectory(prefix="torqued-fields-")
        cls.addClassCleanup(folder.cleanup)
        cls.file = os.path.join(folder.name, "robot.json")

    def convert(self, joint, name):
        """Returns the file and the report of a robot with this joint."""
        document = {"name": "robot", "links": [{"name": "arm", "parent": "base", "joint": {
            "name": "hinge", "type": "revolute", "axis": [0, 1, 0], **joint},
            "inertial": {"mass": 2.3, "com": [0.1, 0.2, 0.3], "inertia": {"xx": 0.31, "yy": 0.29, "zz": 0.23}}}]}
        with open(self.file, "w", encoding="utf-8") as out:
            json.dump(document, out)
        done = subprocess.run([BINARY, "convert", "--to", name, self.file], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 3), (joint, done.stderr))
        return done.stdout, done.stderr

    def test_every_field_is_written_or_reported(self):
        self.assertEqual(self.fields - set(VALUES), set(), "give a value of the new fields to VALUES: xml_writer.c reports what a format lacks")
        self.assertEqual(set(VALUES) - self.fields, set())
        for path, (value, beside) in VALUES.items():
            group, _, member = path.rpartition(".")
            with_field = {group: {**beside, **TOGETHER.get(path, {}), member: value}} if group else {member: value}
            without = {group: beside} if beside else {}
            for name in FORMATS:
                (text, report), (plain, before) = self.convert(with_field, name), self.convert(without, name)
                said = set(report.splitlines()) - set(before.splitlines())
                whole = [line for line in report.splitlines() if group and "not-held" in line and f"joint/{group})" in line]
                named = whole or any(member in line or group and group in line for line in said)
                self.assertTrue(text != plain or named, f"{path} is lost in {name}, and nothing says so:\n{report}")


if __name__ == "__main__":
    tap.main()
