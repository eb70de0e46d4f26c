"""Tests that every `$ curl` in the console blocks of README.md and api/EXAMPLES.md prints the answer shown there."""
import json
import os
import re
import shlex
import subprocess

import tap
from harness import PATIENCE, ROOT, ServerCase

DOCUMENTS = ("README.md", "api/EXAMPLES.md")  # in this order, since the examples of the second use a model that those of the first put
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
ADDRESS = re.compile(r"(http://)?(localhost|127\.0\.0\.1):8088")


def snippets(document):
    """Yields (command, expected output) of every console command that is a curl. A backslash at the end of a line, and
    lines inside quotes, continue the command."""
    with open(os.path.join(ROOT, document)) as file:
        blocks = BLOCK.findall(file.read())
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = re.sub(r"\\\n\s*", " ", part).partition("\n")
            while command.count("'") % 2:
                line, _, expected = expected.partition("\n")
                command += "\n" + line
            if re.match(r"curl\b", command):
                yield command, expected.strip()


class Readme(ServerCase):
    def test_curl_examples(self):
        for document in DOCUMENTS:
            found = list(snippets(document))
            self.assertGreaterEqual(len(found), 3, f"{document} promises three curl examples")
            self.run_all(found)

    def run_all(self, found):
        for command, expected in found:
            with self.subTest(command=command):
                self.assertRegex(command, ADDRESS)
                # in a shell, since examples use pipes and files, with the test's address
                done = subprocess.run(["bash", "-c", ADDRESS.sub(self.server.url(), command)], cwd=ROOT,
                                      capture_output=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(shlex.split(command))
                self.check(done.stdout.decode().strip(), expected)

    def check(self, actual, expected):
        self.assertTrue(expected, f"the example shows no answer; it is {actual}")
        try:
            self.assertEqual(json.loads(actual), json.loads(expected))
        except json.JSONDecodeError:
            self.assertEqual(actual.split(), expected.split())


if __name__ == "__main__":
    tap.main()
