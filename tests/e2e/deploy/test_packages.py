"""Tests the Debian packages of `make deb`: their files, and that programs work where the packages are unpacked.
tests/deb.sh installs them on a clean system."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
from harness import PATIENCE, ROOT, SANITIZED, Server
from samples import PUMA

VERSION = "9.9.9+test"
SERVER = """etc/torqued.env lib/systemd/system/torqued.service usr/bin/torqued usr/share/torqued/openapi.json
usr/share/man/man1/torqued.1.gz usr/share/bash-completion/completions/torqued usr/share/zsh/vendor-completions/_torqued
usr/share/fish/vendor_completions.d/torqued.fish""".split()
DOCUMENTS = """README.md deploy/README.md deploy/RUNBOOK.md deploy/REALTIME.md deploy/SECURITY.md server/SETTINGS.md api/OPERATIONS.md api/EXAMPLES.md
THIRD_PARTY.txt changelog.Debian.gz changelog.gz copyright examples/alerts.yml examples/blackbox.yml
examples/dashboard.json examples/nginx.conf examples/prometheus.yml examples/realtime.conf examples/torqued.socket""".split()


def run(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30 * PATIENCE, **keywords).stdout


def make(*arguments):
    """Runs make without the variables of a make that runs the tests."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return run("make", "-C", ROOT, *arguments, env=environment)


@unittest.skipIf(SANITIZED, "no make of the product here")
class Installation(unittest.TestCase):
    def test_the_c_client_comes_and_goes(self):
        with tempfile.TemporaryDirectory() as folder:
            make("install-c", f"DESTDIR={folder}", "PREFIX=/opt/torqued")
            with open(os.path.join(folder, "opt/torqued/lib/pkgconfig/torqued.pc")) as file:
                self.assertIn("prefix=/opt/torqued\nlibdir=/opt/torqued/lib\n", file.read())
            make("uninstall", f"DESTDIR={folder}", "PREFIX=/opt/torqued")
            self.assertEqual([files for _, _, files in os.walk(folder) if files], [])


@unittest.skipIf(SANITIZED, "no make of the product here")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("dpkg-buildpackage", "dh", "dh_python3", "lintian"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program} here")
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="torqued-deb-"))
        debs = os.path.join(cls.folder, "debs")
        cls.said = make("deb", f"DEB={debs}", f"DEB_VERSION={VERSION}")
        cls.deb = {name.split("_")[0]: os.path.join(debs, name) for name in os.listdir(debs) if name.endswith(".deb")}
        cls.root = os.path.join(cls.folder, "root")
        for path in cls.deb.values():
            run("dpkg-deb", "--extract", path, cls.root)

    def path(self, *names):
        return os.path.join(self.root, *names)

    def files(self, package):
        lines = run("dpkg-deb", "--contents", self.deb[package]).splitlines()
        return {line.split(None, 5)[5][2:]: line.split()[0] for line in lines if not line.startswith("d")}

    def test_lintian_finds_no_error(self):
        """lintian's errors fail `make deb`; its warnings are printed."""
        print("# " + "\n# ".join(re.findall("^[A-Z]: .*", self.said, re.MULTILINE)))
        self.assertNotRegex(self.said, "(?m)^E: ")

    def test_the_files_of_the_server(self):
        files = self.files("torqued")
        models = {f"usr/share/torqued/models/{name}" for name in os.listdir(os.path.join(ROOT, "models")) if name.endswith(".json")}
        documents = {f"usr/share/doc/torqued/{name}" for name in DOCUMENTS}
        self.assertEqual(set(files), {*SERVER, *models, *documents})
        for name, mode in files.items():
            self.assertEqual(mode, "-rwxr-xr-x" if name == "usr/bin/torqued" else "-rw-r--r--", name)
        self.assertEqual(run("dpkg-deb", "--info", self.deb["torqued"], "conffiles"), "/etc/torqued.env\n")
        with open(self.path("lib/systemd/system/torqued.service")) as unit:
            text = unit.read()
        self.assertIn("\nExecStart=/usr/bin/torqued --config /etc/torqued.env\n", text)
        self.assertNotIn("/usr/local", text)

    def test_debug_symbols_are_apart(self):
        binary = self.path("usr/bin/torqued")
        build_id = re.search("Build ID: ([0-9a-f]+)", run("readelf", "--notes", binary))[1]
        self.assertNotIn(".debug_info", run("readelf", "--sections", "--wide", binary))
        symbols = f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
        self.assertIn(symbols, self.files("torqued-dbgsym"))
        self.assertIn(".debug_info", run("readelf", "--sections", "--wide", self.path(symbols)))

    def test_the_server_finds_its_robots_where_it_is_unpacked(self):
        """A server that was moved with its package finds the robots relative to its own path; the server in the source tree uses the tree's
        folder."""
        moved = self.path("usr/bin/torqued")
        answer = run(moved, "eval", "puma560", "inverse-dynamics", "--store", self.path("store"), input=json.dumps(PUMA))
        self.assertAlmostEqual(json.loads(answer)["tau"][0], 32.49524275493071, 9)
        models = self.path("usr/share/torqued/models")
        os.rename(models, models + "-gone")
        self.addCleanup(os.rename, models + "-gone", models)
        done = subprocess.run([moved, "--listen", "127.0.0.1:0", "--store", self.path("store")], capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot read the models' folder {models}", done.stderr)

    def test_the_c_client_compiles_by_pkg_config(self):
        folder = next(folder for folder, _, files in os.walk(self.root) if "torqued.pc" in files)
        environment = {**os.environ, "PKG_CONFIG_PATH": folder, "PKG_CONFIG_SYSROOT_DIR": self.root}
        flags = run("pkg-config", "--cflags", "--libs", "torqued", env=environment).split()
        program, source = self.path("one"), self.path("usr/share/doc/libtorqued-dev/examples/one.c")
        run("gcc", "-o", program, source, *(flag for flag in flags if not flag.startswith("-I/usr/include")))
        server = Server()
        self.addCleanup(server.kill)
        self.assertAlmostEqual(float(run(program, server.url()).split(",")[0]), 32.49524275493071, 9)

    def test_the_python_client_is_importable(self):
        environment = {**os.environ, "PYTHONPATH": self.path("usr/lib/python3/dist-packages")}
        place = run("/usr/bin/python3", "-B", "-c", "import torqued; print(torqued.__file__)", env=environment, cwd=self.folder)
        self.assertTrue(place.startswith(self.root), place)
        self.assertIn("python3-numpy", run("dpkg-deb", "--field", self.deb["python3-torqued"], "Depends"))


if __name__ == "__main__":
    tap.main()
