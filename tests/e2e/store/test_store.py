"""Tests the store through HTTP and the command line: stored models come back, refused changes leave no trace, and
archives."""
import json
import os
import resource
import subprocess
import tempfile

import tap
from harness import BINARY, MODELS, PATIENCE, ROOT
from samples import pendulum
from store_suite import StoreSuite
from stores import StoreCase

EMPTY_ARCHIVE = b'{"format": "torqued-archive", "version": 1, "models": {}}'


class Folder(StoreSuite, StoreCase):
    def test_one_server_at_a_time(self):
        self.start()
        done = subprocess.run([BINARY, *MODELS, "--listen", "127.0.0.1:0", "--store", self.store], capture_output=True,
                              timeout=PATIENCE)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 1, said)
        self.assertIn(self.store, said)
        self.assertIn("--store", said)
        self.assertIn(str(self.server.process.pid), said)
        # `restore` is refused while a server uses the store
        self.assertEqual(self.run_command("restore", os.path.join(ROOT, "README.md")).returncode, 1)
        self.put("mine", pendulum(), 201)
        self.stop()

    def test_other_formats_are_refused(self):
        with open(os.path.join(self.store, "format"), "w") as file:
            file.write("torqued-store 99\n")
        done = self.run_command("--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"torqued-store 99", done.stderr)
        self.assertEqual(sorted(os.listdir(self.store)), ["format", "lock"])

    def test_the_default_store(self):
        """--store takes precedence over STATE_DIRECTORY, this over XDG_STATE_HOME, and this over HOME."""
        clean = {k: v for k, v in os.environ.items() if k not in ("STATE_DIRECTORY", "XDG_STATE_HOME", "HOME")}
        home, state, xdg = (os.path.join(self.store, name) for name in ("home", "state", "xdg"))
        for environment, folder in (({"HOME": home}, f"{home}/.local/state/torqued"),
                                    ({"HOME": home, "XDG_STATE_HOME": xdg}, f"{xdg}/torqued"),
                                    ({"HOME": home, "XDG_STATE_HOME": xdg, "STATE_DIRECTORY": f"{state}:/x"}, state)):
            self.assertFalse(os.path.exists(folder))
            done = subprocess.run([BINARY, "restore", "-", "--unverified", *MODELS], input=EMPTY_ARCHIVE,
                                  capture_output=True, env={**clean, **environment})
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "format")) as file:
                self.assertEqual(file.read(), "torqued-store 1\n")
        done = subprocess.run([BINARY, "restore", "-", "--unverified", *MODELS], input=EMPTY_ARCHIVE, capture_output=True,
                              env={**clean, "XDG_STATE_HOME": "relative"})
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--store", done.stderr)

    def test_a_folder_in_place_of_a_record(self):
        """A folder in place of a record hides the bundled model of the same name, as a damaged record does."""
        self.start()
        self.stop()
        os.mkdir(self.path("ur5.json"))
        self.start()
        self.assertEqual(self.client.get("/v1/models/ur5").json()["code"], "model-damaged")
        self.assertIn("panda", self.names())
        self.assertTrue([r for r in self.client.get("/readyz").json()["reasons"] if "ur5.json" in r])
        self.stop()
        self.assertTrue(os.path.isdir(self.path("ur5.json")))


class Refusals(StoreCase):
    """While the disk refuses writes, PUT and DELETE fail with a problem, evaluation goes on, and refused changes do not
    reappear."""

    def check(self, status, code):
        before = self.client.get("/v1/models/mine").body
        for answer in (self.client.put("/v1/models/mine", pendulum(3)), self.client.put("/v1/models/new", pendulum(3)),
                       self.client.delete("/v1/models/ur5")):
            self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer)
            self.assertEqual("Retry-After" in answer.headers, status == 503)
        self.assertEqual(self.client.get("/v1/models/mine").body, before)
        self.assertEqual(self.client.get("/v1/models/new").status, 404)
        self.assertEqual(self.client.post("/v1/models/ur5/mass-matrix", {"q": [0] * 6}).status, 200)
        self.assertEqual(self.client.post("/v1/models/mine/mass-matrix", {"q": [[0]] * 500}).status, 200)

    def test_a_full_disk(self):
        """A limit on file sizes simulates the full disk, so that the test needs no disk of its own."""
        self.start()
        self.put("mine", pendulum(2), 201)
        pid = self.server.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (10, limits[1]))
        self.check(507, "store-full")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        self.put("mine", pendulum(3), 200)
        names = self.names()
        self.restart()
        self.assertEqual(self.names(), names)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.stop()

    def test_a_store_that_cannot_be_written(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        folder, aside = os.path.join(self.store, "models"), os.path.join(self.store, "aside")
        os.mkdir(aside)
        for file in os.listdir(folder):
            os.rename(self.path(file), os.path.join(aside, file))
        os.rmdir(folder)
        self.check(503, "store-failed")
        self.server.await_log('"event":"store"')
        os.rename(aside, folder)
        self.restart()
        self.put("mine", pendulum(3), 200)
        self.stop()


class Archives(StoreCase):
    def test_restoring_onto_a_full_disk(self):
        """A limit on file sizes simulates the full disk: the command reports an error and is not killed by SIGXFSZ."""
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        archive = self.run_command("backup", "-").stdout
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))
        done = self.run_command("restore", "-", input=archive,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"mine.json: File too large", done.stderr)
        done = self.run_command("restore", "-", input=archive)
        self.assertIn(b"1 created", done.stderr)

if __name__ == "__main__":
    tap.main()
