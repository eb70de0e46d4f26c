"""The program in api/clients/hua against a server: its table and plot, and the tracking errors that it prints, compared with a simulation by
another integration method."""
import re

import numpy as np
import tap
from client_programs import ClientPrograms
from harness import ServerCase

PUBLISHED = {"free": (0.0026819, 0.003619, 0.052678), "force up": (0.0026903, 0.0061066, 0.052422)}
FORCES = {"free": 0, "force down": -3, "force up": 3}


class MixedJoints(ClientPrograms, ServerCase):
    client_folder = "hua"

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
        printed = self.run_program("mixed_joints.py", "--output", "plot.svg")
        lifting = {}
        for name, force in FORCES.items():
            row = re.search(rf"^ *{name} +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", printed, re.M)
            self.assertTrue(row, printed)
            found = [float(cell) for cell in row.groups()]
            expected, lifting[name] = self.simulated(force)
            self.assertClose(found[:3], expected.tolist(), 1e-5)
            self.assertAlmostEqual(found[3], lifting[name], delta=1e-3)
            self.assertIn(f"{name}: 10 s in ", printed)
            for error, published in zip(found, PUBLISHED.get(name, ())):
                self.assertTrue(published / 2 < error < 2 * published, f"{name}: {error}, published {published}")
                self.assertIn(str(published), printed)
        self.assertLess(lifting["force up"], lifting["free"] - 1)    # an upward force reduces the torques
        self.assertGreater(lifting["force down"], lifting["free"] + 1)
        _, texts = self.picture("plot.svg")
        for name in FORCES:
            self.assertLessEqual({f"{name}: joints", f"{name}: motors, behind their gears"}, texts)

    def test_what_goes_wrong_is_said(self):
        self.check_refusals(
            "mixed_joints.py", (("--output", "plot.gif"), 2, "plot.gif"),
            (("--server", "http://127.0.0.1:1"), 1, "refused"),
            (("--samples", "1"), 1, "samples"),
            (("--server", "nowhere"), 1, "nowhere"))


if __name__ == "__main__":
    tap.main()
