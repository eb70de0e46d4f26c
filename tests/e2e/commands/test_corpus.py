"""Tests tests/corpus: it counts the files of a folder that load, that load with losses and that are refused, and compares two runs."""
import json
import os
import subprocess
import tempfile
import unittest

import tap
from harness import BINARY, ROOT

LINK = "<link name='{0}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
URDF = "<robot name='r'>" + LINK.format("a") + LINK.format("b") + "<joint name='j' type='{}'><parent link='a'/><child link='b'/></joint></robot>"
MJCF = "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody><tendon><spatial name='t' stiffness='1'/></tendon></mujoco>"
FILES = {"one/good.urdf": URDF.format("continuous"), "one/fixed.urdf": URDF.format("fixed"), "two/deep/fixed_2.urdf": URDF.format("fixed"),
         "two/lossy.xml": MJCF, "two/other.xml": "<note/>", "two/text.txt": "<robot/>", "two/bad.world": "<sdf version='1.9'/>"}


class Corpus(unittest.TestCase):
    def run_corpus(self, folder, *more, status=0):
        done = subprocess.run([os.path.join(ROOT, "tests", "corpus"), "--binary", BINARY, *more, folder], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def write(self, folder, files):
        for name, text in files.items():
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)

    def test_the_counts_and_kinds(self):
        with tempfile.TemporaryDirectory() as folder:
            self.write(folder, FILES)
            said, progress = self.run_corpus(folder)
        self.assertIn("URDF: 3 files, 1 load (33.3 %), 0 of these with losses, 2 are refused", said)
        self.assertIn("MJCF: 1 files, 1 load (100.0 %), 1 of these with losses, 0 are refused", said)
        self.assertIn("SDF: 1 files, 0 load (0.0 %), 0 of these with losses, 1 are refused", said)
        self.assertRegex(said, r"(?s)refused:\n +2  error bad-model: nothing moves.*fixed\.urdf")
        self.assertRegex(said, r"(?s)lost:\n +1  warning not-held: stiffness of <spatial>.*lossy\.xml")
        self.assertIn("5 of 5 files, 3 refused", progress)

    def test_a_file_that_no_longer_loads_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.write(folder, FILES)
            result = os.path.join(folder, "result")
            self.run_corpus(folder, "--json", result)
            with open(result) as file:
                self.assertEqual(len(json.load(file)), 5)
            said, _ = self.run_corpus(folder, "--before", result)
            self.assertIn("0 files load now that were refused, 0 are refused now that loaded", said)
            self.write(folder, {"one/good.urdf": URDF.format("fixed"), "one/fixed.urdf": URDF.format("continuous")})
            said, _ = self.run_corpus(folder, "--before", result, status=1)
            self.assertIn("1 files load now that were refused, 1 are refused now that loaded", said)
            self.assertIn("one/good.urdf: error bad-model", said)


if __name__ == "__main__":
    tap.main()
