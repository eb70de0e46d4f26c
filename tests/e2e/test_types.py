"""TypeScript types generated from the served contract compile strictly, with a small client that then runs against the
server (tests/contract). Skipped where npm is absent or cannot fetch the packages."""
import os
import shutil
import subprocess
import tempfile

import tap
from harness import PATIENCE, ROOT, ServerCase

FOLDER = os.path.join(ROOT, "tests", "contract")
TOOLS = os.path.join(ROOT, os.environ.get("BUILD", "build"), "contract", "node_modules")


class Types(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        installed = subprocess.run([os.path.join(FOLDER, "install")], capture_output=True, text=True, timeout=300)
        cls.missing = installed.stdout.strip() if installed.returncode != 0 else None

    def run_tool(self, *command, cwd):
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=6 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        return done.stdout

    def test_client(self):
        if self.missing:
            self.skipTest(self.missing)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("client.ts", "tsconfig.json", "package.json"):
                shutil.copy(os.path.join(FOLDER, name), folder)
            os.symlink(TOOLS, os.path.join(folder, "node_modules"))
            with open(os.path.join(folder, "openapi.json"), "wb") as file:
                file.write(self.client.get("/openapi.json").body)
            tools = os.path.join(TOOLS, ".bin")
            self.run_tool(os.path.join(tools, "openapi-typescript"), "openapi.json", "-o", "types.ts",
                          "--default-non-nullable=false", cwd=folder)
            self.run_tool(os.path.join(tools, "tsc"), cwd=folder)
            said = self.run_tool("node", "out/client.js", self.server.url(), cwd=folder)
        self.assertIn("typed client: all as the contract says", said)


if __name__ == "__main__":
    tap.main()
