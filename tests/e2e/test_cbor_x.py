"""cbor-x of npm, in the version of tests/e2e/npm/package-lock.json, against a server. Skipped where there is no node, or
where npm cannot install it."""
import os
import shutil
import subprocess
import tempfile

import tap
from harness import PATIENCE, ServerCase

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npm")
INSTALL = ["npm", "install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--prefer-offline"]


class CborX(ServerCase):
    def test_under_node(self):
        if not shutil.which("npm") or not shutil.which("node"):
            self.skipTest("no npm here")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
            installed = subprocess.run(INSTALL, cwd=folder, capture_output=True, text=True, timeout=120)
            if installed.returncode != 0:
                self.skipTest("npm cannot install cbor-x here: " + installed.stderr.strip().replace("\n", " ")[:200])
            done = subprocess.run(["node", "--test", "--test-reporter=tap", "cbor_x.mjs"], cwd=folder,
                                  env={**os.environ, "TORQUED_URL": self.server.url()}, capture_output=True, text=True,
                                  timeout=3 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        self.assertIn("# pass 3", done.stdout)


if __name__ == "__main__":
    tap.main()
