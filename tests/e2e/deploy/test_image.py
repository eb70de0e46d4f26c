"""Tests image-root.sh of deploy/: the root of the image runs the server without the rest of the system, lists its
packages, and is reproducible."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import tap
from deploy import DEPLOY, PATH, need, read
from harness import BINARY, PATIENCE, ROOT, SANITIZED
from peers import Client
from samples import ASK, PUMA

# The image runs as user 65532. A test without root rights becomes root in a new user namespace, where it cannot change to another user.
CHROOT = shutil.which("chroot", path=PATH)
COMMAND = [CHROOT, "--userspec=65532:65532"] if os.getuid() == 0 else ["unshare", "--map-root-user", CHROOT]


def files(root):
    """Returns the paths of all files below a folder, except symbolic links."""
    found = (os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
    return sorted(path for path in found if not os.path.islink(path))


def digest(root):
    """Returns a hash of names, modes, times and contents."""
    total = hashlib.sha256()
    for path in files(root):
        status = os.stat(path)
        with open(path, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
        total.update(f"{os.path.relpath(path, root)} {status.st_mode} {status.st_mtime_ns} {content}\n".encode())
    return total.hexdigest()


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("dpkg-query")
        cls.folder = tempfile.mkdtemp(prefix="torqued-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.libraries = re.search(r"^ARG LIBRARIES=(.*)$", read("Containerfile"), re.MULTILINE)[1].split()
        cls.root = cls.make("first")
        cls.files, cls.digest = files(cls.root), digest(cls.root)

    @classmethod
    def make(cls, name):
        root = os.path.join(cls.folder, name)
        os.makedirs(os.path.join(root, "usr/local/bin"))
        shutil.copy(BINARY, os.path.join(root, "usr/local/bin/torqued"))
        shutil.copytree(os.path.join(ROOT, "models"), os.path.join(root, "usr/local/share/torqued/models"))
        subprocess.run(["sh", os.path.join(DEPLOY, "image-root.sh"), root, *cls.libraries], check=True, timeout=6 * PATIENCE,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1764028800"})
        return root

    def inside(self, *command):
        return [*COMMAND, self.root, "/usr/local/bin/torqued", *command]

    @unittest.skipIf(SANITIZED, "the sanitizers need /proc")
    def test_it_serves(self):
        """The server runs in the root as the image's user, who can write none of its files, and without /proc."""
        log_path, store = os.path.join(self.folder, "log"), os.path.join(self.root, "store")
        os.mkdir(store)
        if os.getuid() == 0:
            os.chown(store, 65532, 65532)
        with open(log_path, "wb") as log:
            server = subprocess.Popen(self.inside("--listen", "127.0.0.1:0", "--store", "/store", "--models", "/usr/local/share/torqued/models"),
                                      stdout=log, stderr=subprocess.STDOUT, env={"PATH": "/usr/local/bin"})
        self.addCleanup(server.kill)
        port = self.await_port(server, log_path)
        answer = Client(port, PATIENCE).post(ASK, PUMA)
        self.assertEqual((answer.status, len(answer.json()["tau"])), (200, 6))
        asked = subprocess.run(self.inside("healthcheck", "--url", f"http://127.0.0.1:{port}"), timeout=PATIENCE, capture_output=True)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        server.terminate()
        self.assertEqual(server.wait(PATIENCE), 0)

    def await_port(self, server, log_path):
        give_up = time.monotonic() + PATIENCE
        while True:
            with open(log_path) as log:
                text = log.read()
            if ready := re.search(r'"event":"ready","address":"127\.0\.0\.1:(\d+)"', text):
                return int(ready[1])
            self.assertIsNone(server.poll(), text)
            self.assertLess(time.monotonic(), give_up, text)
            time.sleep(0.02)

    def test_the_same_is_made_again(self):
        self.assertEqual(digest(self.make("second")), self.digest)

    def test_every_library_is_of_a_listed_package(self):
        with open(os.path.join(self.root, "usr/share/doc/torqued.spdx.json")) as file:
            listed = json.load(file)
        self.assertEqual((listed["spdxVersion"], listed["creationInfo"]["created"]), ("SPDX-2.3", "2025-11-25T00:00:00Z"))
        packages = {package["name"]: package["versionInfo"] for package in listed["packages"]}
        self.assertEqual(len(packages), len({package["SPDXID"] for package in listed["packages"]}))
        with open(BINARY, "rb") as file:
            self.assertEqual(listed["packages"][0]["checksums"][0]["checksumValue"], hashlib.sha256(file.read()).hexdigest())
        for name, version in list(packages.items())[1:]:
            installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\\n", name], capture_output=True, text=True, check=True)
            self.assertIn(version, installed.stdout.split(), name)
            self.assertTrue(os.path.exists(os.path.join(self.root, "usr/share/doc", name, "copyright")), name)
        for name in ("libc6", "libmicrohttpd12", "libcurl4"):
            self.assertIn(name, packages)

    def test_nothing_else_is_in_it(self):
        known = re.compile(r"usr/local/(bin/torqued|share/torqued/models/.*)|usr/(lib|lib64)/.*\.so[.\d]*|usr/share/doc/([^/]+/copyright|torqued\.spdx\.json)"
                           r"|etc/(passwd|group|nsswitch\.conf)")
        for path in self.files:
            self.assertRegex(os.path.relpath(path, self.root), f"^({known.pattern})$")
        size = sum(os.path.getsize(path) for path in self.files if not path.endswith("/torqued"))
        print(f"# {size / 2**20:.1f} MiB without the server")
        for path in sorted(self.files, key=os.path.getsize)[-8:]:
            print(f"# {os.path.getsize(path) / 2**20:6.1f} MiB {os.path.relpath(path, self.root)}")


if __name__ == "__main__":
    tap.main()
