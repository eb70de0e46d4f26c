"""Tests that `torqued check`, `convert` and `eval` give the server's answers to the byte."""
import json
import os
import subprocess
import tempfile
import unittest

import tap
from harness import BINARY, ROOT, Server
from urdf import ARM, INERTIAL, joint, link, robot

ROD = INERTIAL.replace('"+1e-1"', '"1e-2"').replace('"0.1"', '"1e-2"').replace('"01e-1"', '"4e-3"')
LIFT = (link("a"), link("b", ROD), *ARM[2:])
MIMIC = robot(*LIFT, link("c", ROD), joint("k", "b", "c", '<mimic joint="j"/>'))


class Offline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.urdf = self.write("two arms.urdf", MIMIC)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_command(self, *arguments, given="", status=0):
        done = subprocess.run([BINARY, *arguments], input=given, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "XDG_STATE_HOME": self.folder,
                                   "TORQUED_MODELS": os.path.join(ROOT, "models")})
        self.assertEqual(done.returncode, status, done)
        return done.stdout if status == 0 or arguments[0] == "check" else done.stderr

    def test_check(self):
        said = self.run_command("check", self.urdf, os.path.join(ROOT, "models", "ur5.json"), status=3)
        self.assertEqual(said.count(": good\n"), 1)
        self.assertEqual(said.count(f"{self.urdf}: loads, with 1 warning, 5 notes\n"), 1)
        self.assertIn('warning independent: joint "k" mimics "j"', said)
        said = self.run_command("check", "--mimic", "coupled", "--base", "floating", self.urdf)
        self.assertIn("info coupled", said)
        bad = self.write("bad.json", '{"links": [{"name": 1}]}')
        said = self.run_command("check", bad, self.urdf, os.path.join(self.folder, "none"), status=1)
        self.assertIn(f"{bad}: error wrong-type: ", said)
        self.assertIn("(/links/0/name)", said)
        self.assertIn(f"{self.urdf}: loads, with 1 warning, 5 notes\n", said)
        two = self.write("two.urdf", MIMIC.replace("</robot>", "<x/></robot>"))
        self.assertTrue(self.run_command("check", two, status=3).endswith(": loads, with 2 warnings, 5 notes\n"))
        self.assertIn("No such file", said)
        cut = self.write("cut.urdf", "<robot>")
        self.assertIn("error bad-xml", self.run_command("check", cut, status=1))
        self.assertIn("(byte 7)", self.run_command("check", cut, status=1))

    def test_what_other_programs_write(self):
        """Files from standard input and from a named pipe, as `<(xacro ...)` makes one."""
        said = self.run_command("check", self.urdf, status=3).replace(self.urdf, "-").replace("two_arms", "model")
        self.assertEqual(self.run_command("check", "-", given=MIMIC, status=3), said)
        document = json.loads(self.run_command("convert", "-", given=MIMIC))
        self.assertEqual(document["links"], json.loads(self.run_command("convert", self.urdf))["links"])
        shell = f"'{BINARY}' check <(cat '{self.urdf}'); echo '{{\"q\":[0,0]}}' | '{BINARY}' eval <(cat '{self.urdf}') mass-matrix"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(": loads, with 1 warning, 5 notes\n", done.stdout)
        self.assertIn("mass_matrix", done.stdout)
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        self.assertIn("no file has <robot>", self.run_command("check", empty, status=1))

    def test_long_names(self):
        """A model gets the name of its file, cut to 64 characters."""
        for length in (60, 64, 65, 100, 200):
            file = os.path.join(self.folder, "a" * length + ".urdf")
            with open(file, "w") as text:
                text.write(robot(*LIFT))
            self.assertIn(": good, 3 notes\n", self.run_command("check", file))
            self.assertEqual(json.loads(self.run_command("convert", file))["links"][0]["name"], "b")

    def test_misuse(self):
        for arguments in (("check",), ("check", "--base"), ("convert",), ("convert", "a", "b"), ("eval",),
                          ("eval", "puma560"), ("eval", "puma560", "bias", "--no-such-flag")):
            said = self.run_command(*arguments, status=2)
            self.assertTrue(said.startswith("torqued: ") or arguments[0] == "check", said)
        done = subprocess.run([BINARY, "check", "--base", "free", self.urdf], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn('--base is "free"; expected fixed|floating', done.stderr)
        self.assertIn("in JSON states its base",
                      self.run_command("convert", "--base", "fixed", os.path.join(ROOT, "models", "ur5.json"), status=1))

    def test_the_same_as_a_server(self):
        server = Server()
        client = server.client()
        try:
            for options, query in (((), ""), (("--mimic", "coupled"), "?mimic=coupled"),
                                   (("--base", "floating", "--mimic", "refuse"), "?base=floating&mimic=refuse")):
                put = client.put("/v1/models/two_arms" + query, MIMIC.encode(), Content_Type="application/xml")
                if put.status >= 400:
                    self.assertIn(put.json()["detail"], self.run_command("convert", *options, self.urdf, status=1))
                    continue
                document = client.get("/v1/models/two_arms/document").text
                converted = self.run_command("convert", *options, self.urdf)
                warnings = [{k: e[k] for k in ("code", "where", "text")} for e in put.json()["report"] if e["severity"] == "warning" and e["where"].startswith("line ")]
                self.assertEqual(len(warnings), 0 if "coupled" in options else 1)
                added = ',"warnings":' + json.dumps(warnings, separators=(",", ":"), ensure_ascii=False) + "}" if warnings else "}"
                self.assertEqual(converted, document[:-1] + added + "\n")
                request = json.dumps({"q": [0.3] * put.json()["nq"]})
                answer = client.post("/v1/models/two_arms/bias", json.loads(request)).text
                self.assertEqual(self.run_command("eval", *options, self.urdf, "bias", given=request), answer + "\n")
                file = self.write("two_arms.json", document)
                self.assertEqual(self.run_command("eval", file, "bias", given=request), answer + "\n")
            request = {"q": [0.1] * 6, "outputs": ["bias", "gravity"]}
            answer = client.post("/v1/models/puma560/bias", request).text
            self.assertEqual(self.run_command("eval", "puma560", "bias", given=json.dumps(request)), answer + "\n")
        finally:
            client.close()
            self.assertIsNone(server.stop())

    def test_problems(self):
        problem = json.loads(self.run_command("eval", self.urdf, "bias", given='{"q":[0]}', status=1))
        self.assertEqual((problem["code"], problem["pointer"]), ("wrong-shape", "/q"))
        self.assertEqual(json.loads(self.run_command("eval", self.urdf, "dance", given="{}", status=1))["status"], 404)
        self.assertEqual(json.loads(self.run_command("eval", "nobody", "bias", given="{}", status=1))["status"], 404)


if __name__ == "__main__":
    tap.main()
