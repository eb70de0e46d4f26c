"""A store on a real disk, and the servers and commands on it."""
import os
import subprocess
import tempfile
import unittest

from harness import BINARY, MODELS, PATIENCE, Server


class StoreCase(unittest.TestCase):
    """A store of the test's own, on a real disk, and servers that come and go on it."""

    def setUp(self):
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))
        self.server = None
        self.addCleanup(self.drop)

    def drop(self):
        if self.server:
            self.server.kill()
            self.server = None

    def start(self, *arguments):
        self.drop()
        self.server = Server("--store", self.store, *arguments)
        self.client = self.server.client()
        return self.client

    def stop(self):
        self.client.close()
        wrong = self.server.stop()
        self.server = None
        self.assertIsNone(wrong)

    def restart(self, *arguments):
        self.stop()
        return self.start(*arguments)

    def put(self, name, document, status):
        answer = self.client.put(f"/v1/models/{name}", document)
        self.assertEqual(answer.status, status, answer)
        return answer

    def names(self):
        return {model["name"] for model in self.client.get("/v1/models").json()["models"]}

    def path(self, file):
        return os.path.join(self.store, "models", file)

    def run_command(self, *arguments, **keywords):
        return subprocess.run([BINARY, *arguments, "--store", self.store, *MODELS], capture_output=True,
                              timeout=PATIENCE, **keywords)
