"""Tests the packages of `make portable`: the tarball and the wheel run where they are unpacked, without this tree's libraries, list
their parts, need no newer glibc than they say, and are the same bytes when they are made again."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv
import zipfile

import tap
from harness import PATIENCE, ROOT, SANITIZED
from samples import PUMA

SIZE_MOST = 16 * 2**20  # bytes of a package


def run(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30 * PATIENCE, **keywords).stdout


def make(folder):
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    run("make", "-C", ROOT, "portable", f"RELEASE={folder}", env={**environment, "SOURCE_DATE_EPOCH": "1764028800"})
    return {name: hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest() for name in sorted(os.listdir(folder))}


@unittest.skipIf(SANITIZED, "no make of the product here")
class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("dpkg-query"):
            raise unittest.SkipTest("no dpkg-query here")
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="torqued-portable-"))
        cls.made = make(os.path.join(cls.folder, "first"))
        cls.path = {name[name.rindex(".") + 1:]: os.path.join(cls.folder, "first", name) for name in cls.made}
        cls.root = os.path.join(cls.folder, "unpacked")
        with tarfile.open(cls.path["gz"]) as archive:
            archive.extractall(cls.root)
        name, = os.listdir(cls.root)
        cls.root = os.path.join(cls.root, name)

    def answers(self, binary):
        """An unpacked program answers the README's first request in an empty environment."""
        with tempfile.TemporaryDirectory() as store:
            answer = run(binary, "eval", "puma560", "inverse-dynamics", "--store", store, input=json.dumps(PUMA), cwd=store, env={})
        self.assertAlmostEqual(json.loads(answer)["tau"][0], 32.49524275493071, 9)

    def test_the_tarball_runs_where_it_is_unpacked(self):
        binary = os.path.join(self.root, "bin/torqued")
        self.answers(binary)
        loaded = re.findall("=> (/\\S+)", run("ldd", binary))
        foreign = [path for path in loaded if not path.startswith(self.root)]
        self.assertEqual({re.sub(r"\.so.*", "", os.path.basename(path)) for path in foreign}, {"libc", "libm", "libgcc_s"})

    def test_the_wheel_installs_the_program(self):
        """`pip install` needs no network here: the client's one dependency, NumPy, is left out."""
        environment = os.path.join(self.folder, "venv")
        venv.create(environment, with_pip=False)
        python = os.path.join(environment, "bin/python")
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
            self.skipTest("no package pip here")
        run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--disable-pip-version-check", self.path["whl"])
        self.answers(os.path.join(environment, "bin/torqued"))
        self.assertIn("torqued.serve", run(python, "-c", "import torqued.local_server as s; print('torqued.' + s.serve.__name__)",
                                           env={"PYTHONPATH": ":".join(sys.path)}))

    def test_the_tag_of_the_wheel_is_the_newest_symbol(self):
        """The tag manylinux_2_N promises that glibc 2.N suffices."""
        said = re.search(r"manylinux_2_(\d+)_", self.path["whl"])[1]
        with zipfile.ZipFile(self.path["whl"]) as wheel:
            self.assertIn(f"-manylinux_2_{said}_", wheel.read(next(n for n in wheel.namelist() if n.endswith("/WHEEL"))).decode())
            elves = [wheel.read(name) for name in wheel.namelist() if name.endswith("/scripts/torqued") or ".so" in name]
        self.assertGreater(len(elves), 10)
        used = {int(minor) for elf in elves for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=\0)", elf)}
        self.assertEqual(max(used), int(said))

    def test_the_packages_are_small_and_list_their_parts(self):
        for kind in ("gz", "whl"):
            self.assertLess(os.path.getsize(self.path[kind]), SIZE_MOST, kind)
        with open(self.path["json"], encoding="utf-8") as file:
            listed = json.load(file)
        names = {package["name"] for package in listed["packages"]}
        self.assertLessEqual({"torqued", "libgnutls30", "libmicrohttpd12", "libxml2-dev", "libsundials-dev"}, names)
        licences = set(os.listdir(os.path.join(self.root, "share/doc/torqued/libraries")))
        self.assertEqual(licences, names - {"torqued"})
        with open(os.path.join(self.root, "bin/torqued"), "rb") as file:
            self.assertEqual(listed["packages"][0]["checksums"][0]["checksumValue"], hashlib.sha256(file.read()).hexdigest())

    def test_the_same_is_made_again(self):
        self.assertEqual(make(os.path.join(self.folder, "second")), self.made)


if __name__ == "__main__":
    tap.main()
