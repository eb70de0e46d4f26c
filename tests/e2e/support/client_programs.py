"""Runs the programs of a folder of api/clients against the server of a test, each test in a temporary folder of its own."""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from harness import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def folder_of(client):
    return os.path.join(ROOT, "api", "clients", client)


class ClientPrograms:
    """A second base class of test classes that derive from ServerCase. `client_folder` is the name of the programs' folder in api/clients."""
    client_folder = None

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def read_json(self, name):
        """Returns the content of a JSON file that a program has written."""
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def picture(self, name):
        """Returns the root element of a picture that a program has written, and the set of its texts."""
        root = xml.etree.ElementTree.parse(self.path(name)).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        return root, {"".join(element.itertext()).strip() for element in root.iter(SVG + "text")}

    def start(self, program, *arguments):
        """Runs a program to its end and returns it. The program asks the server of the test unless `arguments` name another."""
        server = () if "--server" in arguments else ("--server", self.server.url())
        return subprocess.run([sys.executable, "-B", os.path.join(folder_of(self.client_folder), program), *server, *arguments],
                              capture_output=True, text=True, cwd=self.folder, timeout=600)

    def run_program(self, program, *arguments):
        """Returns the output of a program, which must succeed without a word on standard error."""
        done = self.start(program, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-2000:] + done.stderr)
        print("# " + "\n# ".join([program, *done.stdout.splitlines()[-14:]]), flush=True)
        return done.stdout

    def check_refusals(self, program, *refusals):
        """Checks for each (arguments, status, words) that the program ends with the status and the words on standard error, without a
        traceback."""
        for arguments, status, words in refusals:
            with self.subTest(arguments=arguments):
                done = self.start(program, *arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def check_help(self, program, *options):
        shown = self.run_program(program, "--help")
        for option in options:
            self.assertIn(option, shown)
