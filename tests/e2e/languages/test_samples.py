"""Tests the samples of api/clients/samples: each prints the server's torques bit for bit, and for a robot of another size
the field and the detail of the refusal. A sample whose Debian packages are missing is skipped; the page says which samples
no test runs."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap
from client_samples import CLIENTS, SampleCase
from debian_packages import missing_package
from harness import PATIENCE

FOLDER = os.path.join(CLIENTS, "samples")
sys.path.insert(0, FOLDER)
import samples_page  # noqa: E402

REFUSAL = "/q: 6 entries given, 2 expected (nq of two_link)"


class Samples(SampleCase):
    def shell(self, folder, command):
        environment = {**os.environ, "HOME": folder, "LC_ALL": "C.UTF-8"}
        return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=6 * PATIENCE, check=False,
                              env=environment)

    def check(self, sample):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(FOLDER, sample["file"]), folder)
            if "build" in sample:
                built = self.shell(folder, sample["build"])
                self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
            address = self.server.url("/v1/models/{}/inverse-dynamics")
            answered = self.shell(folder, f"{sample['run']} {address.format('puma560')}")
            self.assertEqual(answered.returncode, 0, answered.stdout + answered.stderr)
            self.check_one(answered.stdout)
            refused = self.shell(folder, f"{sample['run']} {address.format('two_link')}")
        self.assertNotEqual(refused.returncode, 0)
        self.assertEqual(refused.stdout, "")
        pointer, detail = REFUSAL.split(": ")
        self.assertIn(pointer, refused.stderr)
        self.assertIn(detail, refused.stderr)


def add_tests():
    """Gives the class a test for each sample, so that each is skipped by itself."""
    for sample in samples_page.samples():
        if "by_hand" not in sample:
            name = f"test_{os.path.splitext(sample['file'])[1][1:].lower()}"
            missing = missing_package(sample["packages"])
            test = lambda self, sample=sample: self.check(sample)
            setattr(Samples, name, unittest.skipIf(missing, f"no package {missing} here")(test))


class Page(unittest.TestCase):
    def test_every_source_has_a_row(self):
        others = {"samples.yaml", "samples_page.py", "__pycache__"}
        listed = [sample["file"] for sample in samples_page.samples()]
        self.assertEqual(set(os.listdir(FOLDER)) - others, set(listed), "each file is an entry of samples.yaml")
        endings = [os.path.splitext(name)[1].lower() for name in listed]
        self.assertEqual(len(set(endings)), len(endings), "tests are named after the ending, so that two files with one have one test")


add_tests()
if __name__ == "__main__":
    tap.main()
