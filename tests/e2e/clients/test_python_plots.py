"""Tests the Python client from reading a URDF file to plotting: its example, its figures and its tables for pandas."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import tap
from harness import BINARY, PATIENCE, ROOT, ServerCase
from python_client import SOURCE, torqued
from samples import branched, slider

from torqued import plotting, tables  # isort: skip

SAMPLES = os.path.join(ROOT, "api", "clients", "python", "samples")


class Plots(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torqued = torqued.Client(cls.server.url())
        cls.arm = cls.torqued.put("plotted", os.path.join(SAMPLES, "arm.urdf"))
        points = np.array([[0, 0, 0]] * 2 + [[1, 1, -1]] * 2)
        cls.motion = cls.arm.trajectory(degree=3, duration=1, control_points=points, samples=50)

    @classmethod
    def tearDownClass(cls):
        cls.torqued.close()
        super().tearDownClass()

    def test_from_urdf_to_plot(self):
        """The example of at most 15 lines runs in a folder of its own."""
        with open(os.path.join(SAMPLES, "urdf_to_plot.py"), encoding="utf-8") as file:
            self.assertLessEqual(len(file.read().splitlines()), 15)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SAMPLES, folder, dirs_exist_ok=True)
            done = subprocess.run([sys.executable, "-B", "urdf_to_plot.py"], cwd=folder, capture_output=True, text=True,
                                  timeout=PATIENCE, env={**os.environ, "PYTHONPATH": SOURCE, "TORQUED_BIN": BINARY})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines()[-1], "largest torques / N m: [ 4.1  16.75  2.56] of [60. 60. 30.]")
            with open(os.path.join(folder, "arm.png"), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_figure(self):
        figure = plotting.plot(self.arm, self.motion)
        axes = figure.get_axes()
        self.assertEqual([a.get_ylabel() for a in axes],
                         ["q / rad", "qd / (rad/s)", "qdd / (rad/s²)", "qddd / (rad/s³)", "tau / N m", "tau_dot / (N m/s)"])
        self.assertEqual(axes[-1].get_xlabel(), "t / s")
        self.assertEqual([text.get_text() for text in axes[0].get_legend().get_texts()], ["yaw", "lift", "elbow"])
        lines = axes[4].get_lines()
        self.assertEqual(lines[1].get_ydata().tolist(), self.motion.tau[:, 1].tolist())
        self.assertEqual(lines[1].get_xdata().tolist(), self.motion.times.tolist())
        rows = plotting.plot(self.arm, {"tau": self.motion.tau}).get_axes()[0]
        self.assertEqual((rows.get_xlabel(), rows.get_lines()[0].get_xdata().tolist()[-1]), ("row", 49))
        with self.assertRaisesRegex(ValueError, "no output has one row"):
            plotting.plot(self.arm, self.arm.mass_matrix(np.zeros((2, 3))))

    def test_units(self):
        slide, mixed = self.torqued.put("slide", slider()), self.torqued.put("mixed", branched())
        self.assertEqual(plotting.plot(slide, {"tau": np.zeros((4, 1))}).get_axes()[0].get_ylabel(), "tau / N")
        figure = plotting.plot(mixed, {"tau": np.zeros((4, mixed.nv)), "kinetic": np.zeros(4)})
        self.assertEqual([axes.get_ylabel() for axes in figure.get_axes()], ["tau / (N m, N)", "kinetic / J"])

    def test_motors_of_transmissions(self):
        tx40 = self.torqued.model("tx40")
        answer = tx40.inverse_dynamics(np.zeros((4, 6)), outputs=["motor_tau"])
        axes = plotting.plot(tx40, {"motor_tau": answer.motor_tau}).get_axes()[0]
        self.assertEqual(axes.get_ylabel(), "motor_tau / N m")
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["motor5", "motor6"])

    def test_long_names(self):
        """Long names leave at least half of the figure to the curves, and their ends distinguish them."""
        names = ["robot_with_a_very_long_name_" * 5 + end for end in ("left", "right")]
        arm = self.torqued.put("long-names", {"links": [
            {"name": f"link{i}", "parent": f"link{i - 1}" if i else "base", "joint": {"name": name, "type": "revolute", "axis": [0, 1, 0]},
             "inertial": {"mass": 1, "com": [0.1, 0, 0]}} for i, name in enumerate(names)]})
        figure = plotting.plot(arm, {"tau": np.zeros((4, 2))})
        axes = figure.get_axes()[0]
        figure.canvas.draw()
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()],
                         ["robot_with_a_v…ong_name_left", "robot_with_a_v…ng_name_right"])
        self.assertGreater(axes.get_position().width, 0.5)

    def test_table(self):
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("no pandas here")
        table = tables.table(self.arm, self.motion)
        self.assertEqual((len(table), table.index.name), (50, "t / s"))
        self.assertEqual(table["tau"]["lift"].tolist(), self.motion.tau[:, 1].tolist())
        back = self.arm.velocities(table["tau"][["elbow", "yaw", "lift"]])  # columns by name, in any order
        self.assertTrue((back == self.motion.tau).all())
        again = self.arm.inverse_dynamics(table["q"], qd=table["qd"].to_numpy(), qdd=table["qdd"])
        self.assertTrue(np.allclose(again.tau, self.motion.tau))
        energy = tables.table(self.arm, self.arm.energy(self.motion.q, outputs=["kinetic", "com"]))
        self.assertEqual(list(energy.columns), [("kinetic", "kinetic"), ("com", "com.x"), ("com", "com.y"), ("com", "com.z")])

    def test_progress_bar(self):
        if importlib.util.find_spec("tqdm") is None:
            self.skipTest("no tqdm here")
        program = (f"import sys; sys.path.insert(0, {SOURCE!r}); import numpy, torqued\n"
                   f"arm = torqued.Client({self.server.url()!r}).model('plotted')\n"
                   "arm.batch(arm.inverse_dynamics, q=numpy.zeros((5000, 3)), size=1000, progress=True)")
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("5.00k/5.00k", done.stderr)
        hidden = "import sys; sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None\n" + program
        done = subprocess.run([sys.executable, "-B", "-c", hidden], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    tap.main()
