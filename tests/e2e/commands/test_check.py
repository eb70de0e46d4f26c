"""Tests the report of `torqued check` and of PUT: its order, its groups, its closing count, and the exit status for scripts."""
import os
import subprocess
import tempfile

import tap
from harness import BINARY
from urdf import UrdfCase, joint, link, robot

MASS = '<inertial><origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="2"/>'
ARM = (link("base"), link("arm", MASS), joint("lift", "base", "arm", LIMIT))
GOOD = robot(*ARM)
WARNED = robot(*ARM).replace('effort="10"', 'effort="0"')
LOST = robot(*ARM).replace("</joint>", '<safety_controller k_velocity="1"/></joint>').replace("<axis", '<origin xyz="0.1 0 0"/><axis') \
    .replace('velocity="2"', 'velocity="2" acceleration="3"')
REFUSED = robot(link("alone"))


def plates(n):
    return "".join(link(f"plate{i}", MASS) + joint(f"glue{i}", "arm", f"plate{i}", '<origin xyz="0.1 0.2 0"/>', "fixed") for i in range(n))


class Checking(UrdfCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def check(self, *texts, options=()):
        """Returns the exit status and the printed lines, without the names of the files."""
        files = [self.write(f"r{i}.urdf", text) for i, text in enumerate(texts)]
        done = subprocess.run([BINARY, "check", *options, *files], capture_output=True, text=True, timeout=60)
        return done.returncode, [line.split(": ", 1)[1] for line in done.stdout.splitlines()]

    def test_exit_status(self):
        """The worst of the files counts: 1 refused, 4 lost, 3 warned, 0 good."""
        for texts, status in (((GOOD,), 0), ((WARNED,), 3), ((LOST,), 4), ((REFUSED,), 1), ((WARNED, GOOD), 3), ((LOST, WARNED, GOOD), 4),
                              ((WARNED, LOST), 4), ((REFUSED, LOST), 1), ((GOOD, REFUSED, WARNED), 1)):
            self.assertEqual(self.check(*texts)[0], status, texts)

    def test_zero_limits(self):
        self.assertEqual(self.check(WARNED, options=("--zero-limits", "none"))[0], 0)
        self.assertEqual(self.check(WARNED, options=("--zero-limits", "kept", "--mimic", "coupled"))[0], 3)

    def test_closing_count(self):
        self.assertEqual(self.check(GOOD)[1][-1], "good, 2 notes")
        self.assertEqual(self.check(WARNED)[1][-1], "loads, with 1 warning, 2 notes")
        self.assertRegex(self.check(LOST)[1][-1], r"^loads, with \d parts? not held, \d notes$")
        self.assertFalse(any("good" in line for text in (WARNED, LOST, REFUSED) for line in self.check(text)[1]))

    def test_order_of_the_report(self):
        """Warnings, then losses, assumptions, other notes, dropped parts and merges: in the printed report and in that of the
        server."""
        text = LOST.replace('effort="10"', 'effort="0"').replace("</robot>", plates(5) + "<gazebo/></robot>").replace('lower="-1" ', "")
        ranks = ("suspicious", "not-held", "assumed", "replaced", "dropped", "merged")
        listed = [line.split(" ")[1].rstrip(":") for line in self.check(text, options=("--verbose",))[1][:-1]]
        self.take("sorted", text)
        told = [entry["code"] for entry in self.client.get("/v1/models/sorted").json()["report"]]
        self.assertEqual(listed, told)
        self.assertEqual(sorted(told, key=ranks.index), told)
        self.assertEqual(set(told), set(ranks))
        stored = self.client.get("/v1/models/sorted/document").json()
        document = self.put_model("again", stored)["report"]
        self.assertEqual([e["code"] for e in document], sorted((e["code"] for e in document), key=ranks.index))

    def test_merges_are_one_line(self):
        lines = self.check(robot(*ARM, plates(41)))[1]
        self.assertEqual([line for line in lines if "merged" in line], ["info merged: 41 fixed links merged (--verbose lists them)"])
        self.assertEqual(lines[-1], "good, 43 notes")
        lines = self.check(robot(*ARM, plates(41)), options=("--verbose",))[1]
        self.assertEqual(sum("belongs to the body" in line for line in lines), 41)

    def test_many_assumptions(self):
        chain = "".join(link(f"l{i}", MASS) + joint(f"j{i}", f"l{i - 1}" if i else "base", f"l{i}", "<axis xyz='0 0 1'/>") for i in range(8))
        lines = self.check(robot(link("base"), chain))[1]
        self.assertEqual(sum("info assumed" in line for line in lines), 4)
        self.assertIn("info assumed: 6 further assumptions (--verbose lists them)", lines)


if __name__ == "__main__":
    tap.main()
