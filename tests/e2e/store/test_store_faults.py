"""Tests faults of the store's disk while the server runs: full, read-only, removed. While a fault lasts, /readyz names
it, changes are refused and evaluation goes on; after the repair /readyz names none. The disk is a small tmpfs in the
server's own mount namespace, which ends with it."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
import unittest

import tap
from harness import PATIENCE, Server
from samples import chain, pendulum

MOUNT = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
         'mount -t tmpfs -o size=256k torqued "$DISK" && exec "$@"', "sh")


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        try:
            return subprocess.run([*MOUNT, "true"], env={**os.environ, "DISK": folder}, capture_output=True).returncode == 0
        except OSError:
            return False


@unittest.skipUnless(can_mount(), "no mount namespace here")
class Faults(unittest.TestCase):
    def setUp(self):
        self.disk = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-disk-"))
        self.server = Server("--store", os.path.join(self.disk, "store"), command=MOUNT, environment={"DISK": self.disk})
        self.addCleanup(self.server.kill)
        self.client = self.server.client()
        self.assertEqual(self.client.put("/v1/models/mine", pendulum()).status, 201)
        # the store's path in the server's mount namespace
        self.store = f"/proc/{self.server.process.pid}/root{self.disk}/store"

    def reasons(self):
        ready = self.client.get("/readyz")
        self.assertEqual((ready.status, ready.json()["status"]), (200, "ready"))
        return ready.json()["reasons"]

    def await_reason(self, *texts):
        """Waits until /readyz gives one reason that contains one of the texts; without texts, until it gives none."""
        give_up = time.monotonic() + PATIENCE
        while True:
            found = self.reasons()
            if (not texts and not found) or (len(found) == 1 and any(text in found[0] for text in texts)):
                return
            self.assertLess(time.monotonic(), give_up, found)
            time.sleep(0.05)

    def remount(self, options):
        subprocess.run(["nsenter", "--mount", "--target", str(self.server.process.pid), "mount", "-o",
                        f"remount,{options}", self.disk], check=True)

    def assertServes(self):
        self.assertEqual(self.client.post("/v1/models/mine/bias", {"q": [0.1]}).status, 200)
        self.assertEqual(self.client.get("/v1/models/mine").status, 200)

    def end(self):
        """Checks that changes are written again and that the next server reads them."""
        self.await_reason()
        self.assertEqual(self.client.put("/v1/models/mine", pendulum(3)).status, 200)
        self.assertEqual(self.client.delete("/v1/models/mine").status, 204)
        self.assertEqual(self.reasons(), [])
        self.client.close()
        self.assertIsNone(self.server.stop())

    def test_a_full_disk(self):
        filler = os.path.join(self.store, "filler")
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        self.await_reason("no model can be changed: No space left on device")
        self.server.await_log('"event":"store-fault"')
        self.assertEqual(self.client.put("/v1/models/new", pendulum()).status, 507)
        self.await_reason("the last change was not written: No space left on device")
        self.assertServes()
        os.remove(filler)
        self.await_reason()
        self.server.await_log('"event":"store-repaired"')
        self.end()

    def test_too_little_room_for_a_model(self):
        """The fault lasts until the store can write as many bytes as were refused."""
        filler = os.path.join(self.store, "filler")
        with open(filler, "wb") as file:
            file.write(b"x" * 200000)
        large = chain(240)
        self.assertEqual(self.client.put("/v1/models/large", large).status, 507)
        self.server.await_log('"event":"store-fault"')  # the periodic probe writes as many bytes
        self.await_reason("the last change was not written: No space left on device")
        self.assertServes()
        os.remove(filler)
        self.await_reason()
        self.assertEqual(self.client.put("/v1/models/large", large).status, 201)
        self.end()

    def test_a_read_only_disk(self):
        self.remount("ro")
        self.await_reason("no model can be changed: Read-only file system")
        self.assertEqual(self.client.put("/v1/models/mine", pendulum(2)).status, 503)
        self.assertEqual(self.client.delete("/v1/models/mine").status, 503)
        self.await_reason("the last change was not written: Read-only file system")
        self.assertServes()
        self.remount("rw")
        self.end()

    def test_a_vanished_folder(self):
        os.rename(self.store, self.store + "-away")
        self.await_reason("no model can be changed: No such file or directory")
        self.assertEqual(self.client.put("/v1/models/mine", pendulum(2)).status, 503)
        self.assertServes()
        os.mkdir(self.store)  # a new folder at the same path is not the store
        self.server.await_log('"event":"store-fault"')
        self.await_reason("the last change was not written: No such file or directory")
        os.rmdir(self.store)
        os.rename(self.store + "-away", self.store)
        self.end()

    def test_a_deleted_folder(self):
        shutil.rmtree(self.store)
        self.await_reason("no model can be changed: No such file or directory")
        self.assertServes()
        self.client.close()
        self.assertIsNone(self.server.stop())


if __name__ == "__main__":
    tap.main()
