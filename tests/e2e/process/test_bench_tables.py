"""The tables of `make bench` in RESULTS.md: publish.py replaces those of a run, results.py reads them again."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap
from harness import ROOT

BENCH = os.path.join(ROOT, "tests", "bench")
sys.path.insert(0, BENCH)

import publish  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402

TARGETS = ("scalar (W=1)", "fma (W=1)", "avx2 (W=4)", "avx512 (W=8)")


class BenchTables(unittest.TestCase):
    def setUp(self):
        """A copy of RESULTS.md with its scripts, and a folder for the output of a run."""
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        for name in ("publish.py", "results.py", "chart.py", "RESULTS.md"):
            shutil.copy(os.path.join(BENCH, name), self.folder)
        self.run_folder = os.path.join(self.folder, "run")
        os.mkdir(self.run_folder)

    def write(self, name, *parts):
        with open(os.path.join(self.run_folder, name + ".md"), "w", encoding="utf-8") as file:
            file.write("\n\n".join(parts) + "\n")

    def publish(self):
        return subprocess.run([sys.executable, os.path.join(self.folder, "publish.py"), self.run_folder], capture_output=True,
                              text=True)

    def tables(self, folder):
        with open(os.path.join(folder, "RESULTS.md"), encoding="utf-8") as file:
            return results.tables(file.read())

    def test_a_run(self):
        """Each robot's and kernel's figure goes to its own cell of the table; a table that the run has not measured stays as it was."""
        robots, kernels = list(publish.ROBOTS.values()), list(publish.OPERATIONS.values())
        ns = {(robot, kernel, target): f"{1 + i + 30 * j + 900 * k}.25 / 9999" for i, kernel in enumerate(kernels)
              for j, robot in enumerate(robots) for k, target in enumerate(TARGETS)}
        self.write("kernels", "## Kernels", *(f"### {robot}\n\n" + report.table(["", *TARGETS], [
            [kernel, *(ns[robot, kernel, target] for target in TARGETS)] for kernel in kernels]) for robot in robots))
        self.write("scaling", "## Against the number of joints", report.table(["", "n = 7", "n = 256", "exponent"], [
            ["inverse dynamics, fma (W=1)", "9.5", "9.75", "1.01"], ["inverse dynamics, avx512 (W=8)", "2.5", "2.75", "1.02"]]))
        done = self.publish()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        before, after = self.tables(BENCH), self.tables(self.folder)
        for name, target in (("by robot", "avx512 (W=8)"), ("one lane", "fma (W=1)")):
            found = {(publish.ROBOTS[column], publish.OPERATIONS[row["ns per state"]]): cell for row in after[name]
                     for column, cell in row.items() if column in publish.ROBOTS}
            self.assertEqual(found, {(robot, kernel): publish.significant(results.first(ns[robot, kernel, target]))
                                     for robot in robots for kernel in kernels})
        self.assertEqual(list(after["by target"][0])[1:], ["`scalar`", "`fma`", "`avx2`", "`avx512`"])
        self.assertEqual(after["joints"], [{"ns per state and joint": "inverse dynamics", "7 joints": "2.5", "256 joints": "2.75"}])
        changed = {name for name in before if before[name] != after[name]}
        self.assertEqual(changed, {"by robot", "one lane", "by target", "joints"})

    def test_no_run(self):
        done = self.publish()
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no output of `make bench`", done.stderr)
        self.assertEqual(self.tables(self.folder), self.tables(BENCH))


if __name__ == "__main__":
    tap.main()
