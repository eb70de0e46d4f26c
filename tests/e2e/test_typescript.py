"""The TypeScript client of api/clients/typescript: built with its lock file, its tests compiled strictly and run against a server,
its samples run. Skipped where npm is absent or cannot fetch the packages."""
import os
import re
import shutil
import subprocess
import tempfile

import tap
from access import Tokens
from client_samples import CLIENTS, SampleCase
from harness import ROOT, Server

BUILD = os.environ.get("BUILD", "build")
FOLDER = os.path.join(ROOT, BUILD, "typescript")


def version():
    with open(os.path.join(ROOT, "Makefile")) as file:
        return re.search(r"^VERSION := (\S+)", file.read(), re.MULTILINE)[1]


class TypeScript(SampleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        built = subprocess.run([os.path.join(CLIENTS, "typescript", "build"), version()], capture_output=True, text=True,
                               timeout=300, env={**os.environ, "BUILD": BUILD})
        cls.failure = (built.stdout + built.stderr).strip() if built.returncode != 0 else None

    def setUp(self):
        if self.failure and self.failure.startswith(("no npm here", "npm cannot install")):
            self.skipTest(self.failure.replace("\n", " "))
        self.assertIsNone(self.failure)

    def test_client(self):
        test = os.path.join(FOLDER, "test")
        shutil.rmtree(test, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "tests", "e2e", "typescript"), test)
        self.output(os.path.join(FOLDER, "node_modules", ".bin", "tsc"), cwd=test)
        with tempfile.TemporaryDirectory() as folder:
            tokens = Tokens(folder)
            guarded = Server("--tokens", tokens.path)
            self.addCleanup(guarded.kill)
            said = self.output("node", "--test", "--test-reporter=tap", os.path.join(test, "out", "client.test.js"),
                               environment={"TORQUED_GUARDED": guarded.url(), "TORQUED_PLANNER": tokens.token["planner"]})
        self.assertRegex(said, r"# pass [89]")
        self.assertIn("# skipped 0", said)

    def test_samples(self):
        samples = os.path.join(FOLDER, "samples")
        self.check_one(self.output("node", "one.mjs", self.server.url(), cwd=samples))
        self.check_batch(self.output("node", "batch.mjs", self.server.url(), cwd=samples))

    def test_the_package_needs_cbor_x_alone(self):
        folder = os.path.join(FOLDER, "installed_package")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "node_modules"))
        self.output("tar", "xzf", os.path.join(FOLDER, f"torqued-{version()}.tgz"), "-C", os.path.join(folder, "node_modules"))
        os.rename(os.path.join(folder, "node_modules", "package"), os.path.join(folder, "node_modules", "torqued"))
        shutil.copytree(os.path.join(FOLDER, "node_modules", "cbor-x"), os.path.join(folder, "node_modules", "cbor-x"))
        shutil.copy(os.path.join(CLIENTS, "typescript", "samples", "one.mjs"), folder)
        self.check_one(self.output("node", "one.mjs", self.server.url(), cwd=folder))


if __name__ == "__main__":
    tap.main()
