"""Tests the optimal-control programs of api/clients/control against a server: two methods that share no code but the requests for the dynamics
find the same minimum, and its torques lead to the upright pose; a quadruped jumps."""
import os
import re
import subprocess
import sys

import tap
from harness import ROOT, ServerCase

FOLDER = os.path.join(ROOT, "api", "clients", "control")


class Programs(ServerCase):
    def run_program(self, name):
        """Runs a program and returns the iterations, the error of the last state and the cost that it prints."""
        done = subprocess.run([sys.executable, os.path.join(FOLDER, name), "--server", self.server.url(), "--nodes", "40"],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        figures = re.search(r"(\d+) iterations.* error ([0-9.e+-]+);[^\n]* waiting for the server\ncost ([0-9.]+), ", done.stdout)
        self.assertTrue(figures, done.stdout)
        return int(figures[1]), float(figures[2]), float(figures[3])

    def test_both_methods_find_the_same_minimum(self):
        results = [self.run_program(name) for name in ("ilqr.py", "shooting.py")]
        for iterations, error, _ in results:
            self.assertLess(iterations, 200)
            self.assertLess(error, 0.02)
        self.assertAlmostEqual(results[0][2], results[1][2], delta=1e-4 * results[0][2])

    def test_jump(self):
        """The quadruped leaves the ground and lands on the prescribed places, and no foot pulls at the ground. A
        rollout with phases under its torques repeats the motion."""
        done = subprocess.run([sys.executable, os.path.join(FOLDER, "jump.py"), "--server", self.server.url(), "--step", "0.03"],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        number = r"(-?[0-9.e+-]+)"
        figures = re.search(rf"{number} iterations.* error {number};[^\n]* waiting for the server\ncost {number}, largest torque {number} N m, "
                            rf"base up to {number} m, feet within {number} mm of their places, least vertical force {number} N", done.stdout)
        self.assertTrue(figures, done.stdout)
        iterations, error, cost, torque, height, feet, force = map(float, figures.groups())
        self.assertLess(iterations, 50)
        self.assertLess(error, 0.01)
        self.assertLess(cost, 1)
        self.assertLess(torque, 6)
        self.assertGreater(height, 0.25)
        self.assertLess(feet, 0.5)
        self.assertGreater(force, 0)

    def test_figures_of_the_page(self):
        """The tables of README.md hold the figures that the commands in their first column print, except times."""
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            rows = [line.split("|")[1:-1] for line in file if re.match(r"\| `\w+\.py( --step [0-9.]+)?` \| \d", line)]
        self.assertEqual(len(rows), 4)
        number = r"([0-9]+\.?[0-9]*)"
        for row in rows:
            program, *options = row[0].strip(" `").split()
            done = subprocess.run([sys.executable, os.path.join(FOLDER, program), "--server", self.server.url(), *options],
                                  capture_output=True, text=True, timeout=600)
            said = re.search(rf"{number} iterations, {number} requests.*\ncost {number}, largest torque {number} N m"
                             rf"(?:, base up to {number} m, .*force {number} N)?", done.stdout)
            printed = [float(x) for x in said.groups() if x]
            shown = [float(re.search(number, cell)[0]) for cell in (row[1], row[2], *row[5:])]
            self.assertEqual(len(printed), len(shown))
            for a, b, most in zip(printed, shown, (2, 0.1 * shown[1], 1e-4, 0.02, 2e-3, 0.1)):
                self.assertLessEqual(abs(a - b), most, (row, done.stdout))


if __name__ == "__main__":
    tap.main()
