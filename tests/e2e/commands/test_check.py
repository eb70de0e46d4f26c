"""Tests the report of `torqued check` and of PUT: its order, its groups, its closing count, and the exit status for scripts."""
import json
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
    .replace('velocity="2"', 'velocity="2" deceleration="3"')
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

    def run_command(self, *arguments, text=""):
        done = subprocess.run([BINARY, *arguments], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_exit_status(self):
        """The exit status is that of the worst file: 1 refused, 4 with losses, 3 with warnings, 0 without."""
        for texts, status in (((GOOD,), 0), ((WARNED,), 3), ((LOST,), 4), ((REFUSED,), 1), ((WARNED, GOOD), 3), ((LOST, WARNED, GOOD), 4),
                              ((WARNED, LOST), 4), ((REFUSED, LOST), 1), ((GOOD, REFUSED, WARNED), 1)):
            self.assertEqual(self.check(*texts)[0], status, texts)

    def test_zero_limits(self):
        self.assertEqual(self.check(WARNED, options=("--zero-limits", "none"))[0], 0)
        self.assertEqual(self.check(WARNED, options=("--zero-limits", "kept", "--mimic", "coupled"))[0], 3)

    def test_locked_joints(self):
        """check, convert and eval lock joints as PUT ?locked= does, and refuse names that the robot lacks."""
        two = robot(*ARM, link("hand", MASS), joint("wrist", "arm", "hand", LIMIT.replace("0 0 1", "0 1 0")))
        status, lines = self.check(two, options=("--locked", "wrist:0.5"))
        self.assertEqual((status, sum(line.startswith('info locked: "wrist" is held at 0.5') for line in lines)), (0, 1), lines)
        self.assertRegex(self.check(two, options=("--locked", "elbow:0.5"))[1][0], r'no joint "elbow".*\(/locked/elbow\)$')
        file, fixed = self.write("two.urdf", two), two.replace('name="wrist" type="revolute"', 'name="wrist" type="fixed"')
        fixed = self.write("fixed.urdf", fixed.replace('<child link="hand"/>', '<child link="hand"/><origin rpy="0 0.5 0"/>'))
        self.assertNotEqual(fixed, two)
        document = self.write("locked.json", self.run_command("convert", "--locked", "wrist:0.5", file))
        state = '{"q":[0.3],"qd":[0.7],"qdd":[-0.4]}'
        answers = [json.loads(self.run_command("eval", *arguments, "inverse-dynamics", text=state))["tau"]
                   for arguments in (("--locked", "wrist:0.5", file), (document,), (fixed,))]
        self.assertEqual(answers[0], answers[1])
        self.assertAlmostEqual(answers[0][0], answers[2][0], delta=1e-13)

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

    def test_warnings_stay_after_convert(self):
        """convert prints the warnings, and its document contains those about the file, so that another server shows them with the model. The
        revision is that of the document without them."""
        text = LOST.replace('effort="10"', 'effort="0"')
        path = self.write("robot.urdf", text)
        done = subprocess.run([BINARY, "convert", path], capture_output=True, text=True, timeout=60)
        first = self.take("robot", text)
        warned = [e for e in first["report"] if e["severity"] == "warning"]
        self.assertEqual([line.split(": ")[1] for line in done.stderr.splitlines()], ["suspicious", "not-held"])
        document = json.loads(done.stdout)
        self.assertEqual(document["warnings"], [{k: e[k] for k in ("code", "where", "text")} for e in warned if e["where"].startswith("line")])
        again = self.put_model("robot", document)
        self.assertEqual(again["revision"], first["revision"])
        self.assertEqual([e for e in self.client.get("/v1/models/robot").json()["report"] if e["severity"] == "warning"], warned)
        self.assertNotIn("warnings", self.client.get("/v1/models/robot/document").json())
        self.write("robot.json", done.stdout)
        twice = subprocess.run([BINARY, "convert", os.path.join(self.folder, "robot.json")], capture_output=True, text=True, timeout=60)
        self.assertEqual(json.loads(twice.stdout)["warnings"], document["warnings"])

    def test_warnings_of_a_document(self):
        good = {"code": "not-held", "where": "line 3", "text": "a mesh"}
        document = {"links": [{"name": "a", "parent": "base", "joint": {"name": "j", "type": "revolute", "axis": [0, 0, 1]}}]}
        self.put_model("held", {**document, "warnings": [good] * 1000})
        for warnings, pointer in (([{**good, "where": "/links"}], "/warnings/0/where"), ([good, {**good, "text": "\u001b[31m"}], "/warnings/1/text"),
                                  ([{**good, "text": "x" * 511}], "/warnings/0/text"), ([{**good, "code": ""}], "/warnings/0/code"), ([good] * 1001, "/warnings"),
                                  ([{**good, "severity": "info"}], "/warnings/0/severity"), ([{"code": "x", "text": "y"}], "/warnings/0"), ({}, "/warnings")):
            answer = self.client.put("/v1/models/refused", {**document, "warnings": warnings})
            self.assertTrue(self.assertProblem(answer, 422)["pointer"].startswith(pointer), answer)

    def test_files_that_are_no_text(self):
        """Errors about the container (archive, pointer file, encoding) are reported before errors of its content, each with its remedy."""
        for content, words in ((b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "git lfs pull"), (b"", "is empty"), (b" \n\t", "is empty"),
                               (GOOD.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"), (GOOD.encode() + b"\0\0", "ends with NUL characters: remove them by tr"),
                               (GOOD.replace("arm", "\u00e4rm").encode("latin-1"), "iconv -f ISO-8859-1 -t UTF-8"), ('{"name": "\u00e4"}'.encode("latin-1"), "iconv -f ISO-8859-1 -t UTF-8")):
            path = os.path.join(self.folder, "odd.urdf")
            with open(path, "wb") as file:
                file.write(content)
            done = subprocess.run([BINARY, "check", path], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, 1), done)
            self.assertIn(words, done.stdout)

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
