"""The optimal-control programs in api/clients/control against a server: two methods that share nothing but the dynamics
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
        """Iterations, the error of the last state and the cost that a program prints."""
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
        """The quadruped leaves the ground and lands on its places; no foot pulls at the ground. A rollout with phases
        under the torques repeats the motion."""
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


if __name__ == "__main__":
    tap.main()
