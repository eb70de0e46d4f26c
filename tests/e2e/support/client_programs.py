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
    """Beside ServerCase. `client_folder` is the name of the folder."""
    client_folder = None

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def read_json(self, name):
        """A file that a program has written."""
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def picture(self, name):
        """The root of a picture that a program has written, and its texts."""
        root = xml.etree.ElementTree.parse(self.path(name)).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        return root, {"".join(element.itertext()).strip() for element in root.iter(SVG + "text")}

    def start(self, program, *arguments):
        """The program when it has ended. It asks the server of the test unless `arguments` name another."""
        server = () if "--server" in arguments else ("--server", self.server.url())
        return subprocess.run([sys.executable, "-B", os.path.join(folder_of(self.client_folder), program), *server, *arguments],
                              capture_output=True, text=True, cwd=self.folder, timeout=600)

    def run_program(self, program, *arguments):
        """What the program prints. It must succeed without a word on standard error."""
        done = self.start(program, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-2000:] + done.stderr)
        print("# " + "\n# ".join([program, *done.stdout.splitlines()[-14:]]), flush=True)
        return done.stdout

    def check_refusals(self, program, *refusals):
        """Of (arguments, status, words): the program ends with the status and words on standard error, without a traceback."""
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
