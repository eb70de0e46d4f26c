"""Tests the program of api/clients/hua against a server: its table, its plot, and its tracking errors, which this file
simulates again with another method."""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy as np
import tap
from harness import ROOT, ServerCase

PROGRAM = os.path.join(ROOT, "api", "clients", "hua", "mixed_joints.py")
PUBLISHED = {"free": (0.0026819, 0.003619, 0.052678), "force up": (0.0026903, 0.0061066, 0.052422)}
FORCES = {"free": 0, "force down": -3, "force up": 3}


class MixedJoints(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments):
        return subprocess.run([sys.executable, "-B", PROGRAM, *arguments], capture_output=True, text=True,
                              cwd=self.folder, timeout=600)

    def simulated(self, force):
        """Returns the tracking errors and the second motor's torque of a simulation with fixed steps."""
        rate = 0.5 * np.pi
        a = self.ask("hua", "simulate", {
            "q": [0, 0, -0.4363, -0.4363], "duration": 10, "step": 5e-4, "samples": 2001,
            "wrenches": [{"link": "link3", "point": [0.3, 0, 0], "force": [0, 0, force]}], "input": {
                "controller": "hua", "kp": [200, 200, 100, 100], "kd": [20, 20, 10, 10], "filter": 200, "reference": {
                    "amplitude": [0.5, 0.5, 0.5, 0], "angular_frequency": [rate, rate, rate, 0]}},
            "outputs": ["q", "times", "tau"]})
        errors = 0.5 * np.sin(rate * np.array(a["times"]))[:, None] - np.array(a["q"])[:, :3]
        return np.sqrt(np.mean(errors**2, axis=0)), np.array(a["tau"])[600, 1]

    def test_table_and_plot(self):
        done = self.start("--server", self.server.url(), "--output", "plot.svg")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print("# " + "\n# ".join(done.stdout.splitlines()), flush=True)
        lifting = {}
        for name, force in FORCES.items():
            row = re.search(rf"^ *{name} +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", done.stdout, re.M)
            self.assertTrue(row, done.stdout)
            found = [float(cell) for cell in row.groups()]
            expected, lifting[name] = self.simulated(force)
            self.assertClose(found[:3], expected.tolist(), 1e-5)
            self.assertAlmostEqual(found[3], lifting[name], delta=1e-3)
            self.assertIn(f"{name}: 10 s in ", done.stdout)
            for error, published in zip(found, PUBLISHED.get(name, ())):
                self.assertTrue(published / 2 < error < 2 * published, f"{name}: {error}, published {published}")
                self.assertIn(str(published), done.stdout)
        self.assertLess(lifting["force up"], lifting["free"] - 1)  # the upward force reduces the torque
        self.assertGreater(lifting["force down"], lifting["free"] + 1)
        root = xml.etree.ElementTree.parse(os.path.join(self.folder, "plot.svg")).getroot()
        texts = {"".join(element.itertext()).strip() for element in root.iter("{http://www.w3.org/2000/svg}text")}
        for name in FORCES:
            self.assertLessEqual({f"{name}: joints", f"{name}: motors, behind their gears"}, texts)

    def test_what_goes_wrong_is_said(self):
        for arguments, status, said in ((("--output", "plot.gif"), 2, "plot.gif"),
                                        (("--server", "http://127.0.0.1:1"), 1, "refused"),
                                        (("--server", self.server.url(), "--samples", "1"), 1, "samples"),
                                        (("--server", "nowhere"), 1, "nowhere")):
            done = self.start(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    tap.main()
