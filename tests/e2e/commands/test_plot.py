"""Tests `torqued plot`: pictures of motions and batches by gnuplot, and its messages if there is nothing to draw or gnuplot is not installed."""
import os
import re
import shutil
import struct
import tempfile
import unittest
from xml.etree import ElementTree

import tap
from command_line import torqued
from harness import ServerCase

SVG = "{http://www.w3.org/2000/svg}"
MOTION = ("two_link", "simulate", "q=[0.3,0.2]", "duration=1", "tolerance=1e-8", "samples=50")
NAMES = {"links": [{"name": "a", "parent": "base", "joint": {"name": "it's $1 `x` _\"{2}", "type": "revolute", "axis": [0, 1, 0]},
                    "inertial": {"solid": "box", "size": [1, 1, 1], "mass": 1}}]}


class Plot(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "it's a plot.svg")

    def plot(self, *arguments, status=0, **options):
        done = torqued("plot", *arguments, url=self.server.url(), **options)
        self.assertEqual(done.returncode, status, done)
        return done

    def texts(self, content):
        return [("".join(text.itertext())).strip() for text in ElementTree.fromstring(content).iter(SVG + "text")]

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_svg(self):
        done = self.plot(*MOTION, "--output", self.file)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        with open(self.file, "rb") as file:
            texts = self.texts(file.read())
        self.assertEqual([texts.count(name) for name in ("joint1", "joint2", "kinetic", "potential")], [3, 3, 1, 1])
        for label in ("two_link: simulate", "time (s)", "q (rad, m)", "tau (N m, N)", "kinetic (J)"):
            self.assertIn(label, texts)
        texts = self.texts(self.plot(*MOTION, "--show", "qd").stdout)
        self.assertEqual((texts.count("joint1"), texts.count("kinetic")), (1, 0))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_batch(self):
        """A batch is drawn over the row number, in several parts; names with characters that gnuplot interprets are drawn literally."""
        states = "q1\n" + "".join(f"{i / 100}\n" for i in range(300))
        self.put_model("odd_names", NAMES)
        texts = self.texts(self.plot("odd_names", "bias", "--from", "csv", "--chunk", "70", given=states).stdout)
        self.assertIn("row", texts)
        self.assertIn("it's $1 `x` _\"{2}", texts)
        self.assertIn("300", texts)
        failing = states + "nan\n"
        self.assertIn(b"row 300", self.plot("odd_names", "bias", "--from", "csv", "on_error=row", given=failing).stderr)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_legends(self):
        """Names are to the right of all curves and inside the picture, one below the other; long ones end with an
        ellipsis."""
        wide = "a_very_long_name_of_a_joint_of_the_left_arm_" * 4 + "end_"
        for names in (["x" * 60, "short"], ["y" * 200, "é" * 100, "z"], [f"joint{i}" for i in range(20)], [f"joint{i}" for i in range(19)] + [wide],
                      [f"{wide}{i}" for i in range(33)], ["W" * 100], ["k"]):
            for rows in (1, 30):
                with self.subTest(names=names[:2], rows=rows):
                    self.legend(names, rows)

    def legend(self, names, rows):
        links = [{"name": f"link{i}", "parent": f"link{i - 1}" if i else "base", "joint": {"name": name, "type": "revolute", "axis": [0, 1, 0]},
                  "inertial": {"solid": "box", "size": [1, 1, 1], "mass": 1}} for i, name in enumerate(names)]
        self.put_model("named", {"links": links})
        states = [",".join(f"q{i + 1}" for i in range(len(names)))] + [",".join(str(row / 10 + i) for i in range(len(names))) for row in range(rows)]
        picture = ElementTree.fromstring(self.plot("named", "bias", "--from", "csv", given="\n".join(states)).stdout)
        places = {}  # {(x, y): text} of texts that are aligned at their start
        for group in picture.iter(SVG + "g"):
            text, place = group.find(SVG + "text"), re.match(r"translate\(([0-9.]+),([0-9.]+)\)", group.get("transform", ""))
            if text is not None and place and group.get("text-anchor") == "start":
                places[tuple(map(float, place.groups()))] = "".join(text.itertext()).strip()
        curves = [group for group in picture.iter(SVG + "g") if group.get("id", "").startswith("gnuplot_plot_")]
        self.assertEqual(len(curves), len(names))
        frame = re.compile(r"M([0-9.]+),[0-9.]+ L\1,[0-9.]+ L([0-9.]+),[0-9.]+ L\2,[0-9.]+ L\1,[0-9.]+ Z")
        right = max(float(found[2]) for path in picture.iter(SVG + "path") if (found := frame.match(path.get("d", ""))))
        self.assertGreater(right, 500)  # the curves get at least half of the picture
        self.assertEqual(len(places), len(names))
        for ((x, y), text), name in zip(sorted(places.items()), names):
            self.assertGreater(x, right)
            self.assertLess(x + 5.5 * len(text), 1000)
            self.assertTrue(text == name or ("…" in text and name.startswith(text.split("…")[0]) and name.endswith(text.split("…")[1])), text)
        columns = sorted({x for x, _ in places})
        for x in columns:
            lines = sorted(y for other, y in places if other == x)
            self.assertTrue(all(below - above > 15 for above, below in zip(lines, lines[1:])))
            self.assertLess(lines[-1], float(picture.get("height")) - 40)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_the_axis_holds_every_value(self):
        """The axis covers the largest torque, in the last row, and the smallest, in the middle."""
        states = "q1,q2,qdd1,qdd2\n" + "".join(f"0.1,0.2,0,{a}\n" for a in (0, 1, -4000, 2, 7000))
        texts = self.texts(self.plot("two_link", "inverse-dynamics", "--from", "csv", "--show", "tau", given=states).stdout)
        ticks = [float(text.replace("\u2212", "-")) for text in texts if text.replace("\u2212", "-").lstrip("-").isdigit()]
        tau = self.ask("two_link", "inverse-dynamics", {"q": [0.1, 0.2], "qdd": [[0, -4000], [0, 7000]]})["tau"]
        self.assertGreater(max(ticks), 0.75 * max(map(max, tau)))
        self.assertLess(min(ticks), 0.5 * min(map(min, tau)))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_png(self):
        file = self.file[:-3] + "PNG"
        self.plot(*MOTION, "--output", file, "--show", "q,qd")
        with open(file, "rb") as picture:
            head = picture.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", head[16:]), (1000, 560))

    def test_misuse(self):
        for arguments, said, status in (
                ((*MOTION, "--output", "x.jpg"), b"expected FILE.svg or FILE.png", 2),
                ((*MOTION, "--show", "nothing"), b'--show names "nothing", which the answer does not have; its arrays are times q qd tau', 1),
                ((*MOTION, "--show", "q,speed"), b'--show names "speed"', 1),
                (("solo12", "mass-matrix", "q=[0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0]"), b"324 entries in a row", 1),
                (("two_link", "bias", "q=[0]"), b"at /q of the request", 1)):
            done = self.plot(*arguments, status=status)
            self.assertEqual(done.stdout, b"")
            self.assertIn(said, done.stderr)
        done = self.plot(*MOTION, "--output", self.file, status=1, environment={"PATH": "/nowhere"})
        self.assertIn(b"apt-get install gnuplot-nox", done.stderr)
        self.assertFalse(os.path.exists(self.file))


if __name__ == "__main__":
    tap.main()
