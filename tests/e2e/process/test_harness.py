"""Tests the tests' own tools: comparisons refuse NaN, and a file without an executed test does not pass."""
import math
import os
import subprocess
import tempfile
import unittest

import tap
from harness import PATIENCE, ROOT, ServerCase

E2E = os.path.join(ROOT, "tests", "e2e", "support")
HEAD = f"import sys, unittest\nsys.path.insert(0, {E2E!r})\nimport tap\n"


class Comparisons(ServerCase):
    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def test_a_nan_is_close_to_nothing(self):
        for values in ([math.nan, 1.0], [1.0, math.nan], [1.0, 2.0, math.nan, 1.0]):
            numbers = [1.0] * len(values)
            for actual, expected in ((values, numbers), (numbers, values), (values, values)):
                for scale in (None, 1.0):
                    with self.assertRaises(AssertionError, msg=str((actual, expected, scale))):
                        self.assertClose(actual, expected, 1e3, scale)

    def test_an_infinity_is_close_to_nothing(self):
        for values in ([math.inf, 1.0], [1.0, -math.inf]):
            with self.assertRaises(AssertionError):
                self.assertClose(values, [1.0, 1.0], 1e3)

    def test_the_limit(self):
        self.assertClose([4.0, 2.5], [4.0, 2.0], 0.125)
        self.assertClose([], [])
        for actual, expected in (([4.0, 2.5], [4.0, 2.0]), ([4.0], [4.0, 2.0]), ([[4.0, 2.0]], [4.0, 2.0])):
            with self.assertRaises(AssertionError):
                self.assertClose(actual, expected, 0.1249)


class FailingSetUp(unittest.TestCase):
    def test_its_server_ends_and_leaves_no_folder(self):
        class Failing(ServerCase):
            @classmethod
            def setUpClass(cls):
                super().setUpClass()
                raise RuntimeError("as a refused model would")

            def test_nothing(self):
                pass

        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Failing).run(result)
        self.assertEqual((result.testsRun, len(result.errors)), (0, 1))
        self.assertIsNotNone(Failing.server.process.poll())
        self.assertFalse(os.path.exists(Failing.server.folder))


class Runner(unittest.TestCase):
    def run_file(self, text, extra=""):
        """Runs a test file of that text by tests/run. Returns (passed, skipped) of each test."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_it.py")
            with open(path, "w") as file:
                file.write(HEAD + text + "tap.main()\n")
            done = subprocess.run([os.path.join(ROOT, "tests", "run"), path], cwd=ROOT, capture_output=True, text=True,
                                  timeout=PATIENCE, env={**os.environ, "EXTRA_IS_HERE": extra})
        lines = [line for line in done.stdout.splitlines() if not line.startswith("#")]
        plans = [line for line in lines if line.startswith("1..")]
        self.assertEqual(plans, [f"1..{len(lines) - 1}"], done.stdout + done.stderr)
        return [(line.startswith("ok"), "# SKIP" in line) for line in lines if line not in plans]

    def skipping(self, reason, extra=""):
        return self.run_file(f"""class T(unittest.TestCase):
    def test_it(self):
        self.skipTest({reason!r})
""", extra)

    def test_several_files_are_refused(self):
        """A second file would not run, and its failures would be lost."""
        done = subprocess.run([os.path.join(ROOT, "tests", "run"), "a.py", "b.py"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("one FILE is expected, not 2", done.stderr)

    def test_a_file_without_tests_fails(self):
        self.assertEqual(self.run_file(""), [(False, False)])

    def test_a_passing_and_a_failing_test(self):
        self.assertEqual(self.run_file("""class T(unittest.TestCase):
    def test_a(self):
        pass
    def test_b(self):
        self.fail()
"""), [(True, False), (False, False)])

    def test_only_what_a_machine_may_lack_is_skipped(self):
        for reason in ("no nginx here", "no qemu-x86_64 here", "npm cannot install cbor-x here: offline"):
            self.assertEqual(self.skipping(reason), [(True, True)], reason)
        for reason in ("no tables beside the checkout", "no scipy here", "no nginx here, or no tables", ""):
            self.assertEqual(self.skipping(reason), [(False, False)], reason)

    def test_nothing_that_is_installed_is_skipped(self):
        for reason, fine in (("no zsh here", False), ("no mandoc here", False), ("no postgres here", True)):
            self.assertEqual(self.skipping(reason, extra="1"), [(fine, fine)], reason)

    def test_a_whole_file_is_skipped_for_the_same_reasons(self):
        for reason, fine in (("no node here", True), ("no tables", False)):
            self.assertEqual(self.run_file(f"""@unittest.skip({reason!r})
class T(unittest.TestCase):
    def test_it(self):
        pass
"""), [(fine, fine)], reason)


class Lists(unittest.TestCase):
    def test_every_name_that_needs_no_second_run_exists(self):
        """`make test KERNELS_ONLY=1` leaves out the files and folders of tests/any_target."""
        with open(os.path.join(ROOT, "tests", "any_target"), encoding="utf-8") as file:
            names = [line.split()[0] for line in file if not line.startswith("#")]
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertTrue(os.path.exists(os.path.join(ROOT, name)), name)


if __name__ == "__main__":
    tap.main()
