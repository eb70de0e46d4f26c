"""Tests the file of `make image`: engines of containers find the image and its settings in it, its files run, and the same files make the
same bytes."""
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import tap
from deploy import DEPLOY, need, read
from harness import PATIENCE, ROOT, SANITIZED
from samples import PUMA

EPOCH = "1764028800"    # 2025-11-25 00:00:00 UTC


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, timeout=30 * PATIENCE, **keywords)
    if done.returncode:
        raise AssertionError(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


@unittest.skipIf(SANITIZED, "no make of the product here")
class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("dpkg-query", "skopeo", "umoci")
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="torqued-image-"))
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        run("make", "-C", ROOT, "image", f"IMAGE={cls.folder}/image", env={**environment, "SOURCE_DATE_EPOCH": EPOCH})
        name, = os.listdir(f"{cls.folder}/image")
        cls.path = f"{cls.folder}/image/{name}"
        cls.version = run(os.path.join(ROOT, "build/torqued"), "--version").split()[1]

    def copied(self, transport):
        """Returns manifest and configuration of the image as skopeo copies it from this kind of archive, and the folder of the copy."""
        folder = f"{self.folder}/{transport}"
        run("skopeo", "--insecure-policy", "copy", f"{transport}:{self.path}", f"oci:{folder}:copy")
        manifest = json.loads(run("skopeo", "inspect", "--raw", f"oci:{folder}:copy"))
        return manifest, json.loads(run("skopeo", "inspect", "--config", f"oci:{folder}:copy")), folder

    def test_engines_take_it(self):
        """Docker reads manifest.json, other engines read the index: both must describe the same image."""
        docker, docker_config, _ = self.copied("docker-archive")
        layout, config, _ = self.copied("oci-archive")
        self.assertEqual(docker_config, config)
        self.assertEqual([len(docker["layers"]), len(layout["layers"])], [1, 1])
        listed = json.loads(run("skopeo", "list-tags", f"docker-archive:{self.path}"))
        self.assertEqual(listed["Tags"], [f"torqued:{self.version}"])
        with tarfile.open(self.path) as archive:
            index = json.load(archive.extractfile("index.json"))
        names = index["manifests"][0]["annotations"]
        self.assertEqual(names["io.containerd.image.name"], f"docker.io/library/torqued:{self.version}")
        self.assertEqual(names["org.opencontainers.image.ref.name"], self.version)

    def test_it_runs_as_Containerfile_says(self):
        """Compares the image's settings with values written here; values that Containerfile contains must be there in the same form."""
        with tarfile.open(self.path) as archive:
            manifest, = json.load(archive.extractfile("manifest.json"))
            image = json.load(archive.extractfile(manifest["Config"]))
        config = image["config"]
        self.assertEqual((image["os"], image["created"]), ("linux", "2025-11-25T00:00:00Z"))
        self.assertEqual((config["User"], config["Entrypoint"], config["StopSignal"]), ("65532:65532", ["torqued"], "SIGTERM"))
        self.assertEqual((list(config["Volumes"]), list(config["ExposedPorts"])), (["/var/lib/torqued"], ["8088/tcp"]))
        self.assertEqual(config["Healthcheck"], {
            "Test": ["CMD", "torqued", "healthcheck", "--url", "http://127.0.0.1:8087", "--timeout", "4"],
            "Interval": 10 * 10**9, "Timeout": 5 * 10**9, "StartPeriod": 30 * 10**9})
        self.assertIn("PATH=/usr/local/bin", config["Env"])
        self.assertIn(f"ENV {' '.join(config['Env'])}\n", read("Containerfile"))

    def test_its_files_run(self):
        """umoci unpacks the image; the server answers there, with only the robots and libraries of the image. Without /proc the server cannot
        find the folder of the robots by itself, so the test names it."""
        _, _, layout = self.copied("oci-archive")
        bundle = f"{self.folder}/bundle"
        run("umoci", "unpack", *([] if os.getuid() == 0 else ["--rootless"]), "--image", f"{layout}:copy", bundle)
        root = f"{bundle}/rootfs"
        if os.getuid() == 0:
            store = os.stat(f"{root}/var/lib/torqued")
            self.assertEqual((store.st_uid, store.st_gid, os.stat(f"{root}/usr/local/bin/torqued").st_uid), (65532, 65532, 0))
        chroot = ["chroot", "--userspec=65532:65532"] if os.getuid() == 0 else ["unshare", "--map-root-user", "chroot"]
        answer = run(*chroot, root, "/usr/local/bin/torqued", "eval", "puma560", "inverse-dynamics", "--store", "/var/lib/torqued",
                     "--models", "/usr/local/share/torqued/models", input=json.dumps(PUMA), env={"PATH": os.environ["PATH"]})
        self.assertAlmostEqual(json.loads(answer)["tau"][0], 32.49524275493071, 9)
        with open(f"{root}/usr/share/doc/torqued.spdx.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["packages"][0]["versionInfo"], self.version)

    def test_the_same_files_make_the_same_bytes(self):
        """Times, owners and the order of a folder do not count."""
        program = "import sys, hashlib; sys.path.insert(0, sys.argv[1]); import image\n" \
                  "files = image.contents(image.layer_of(sys.argv[2]), '1.2.3', 'amd64')\n" \
                  "print(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())"
        made = set()
        for names in (("a", "b/c", "var/lib/torqued/d"), ("var/lib/torqued/d", "b/c", "a")):
            root = tempfile.mkdtemp(dir=self.folder)
            for name in names:
                os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
                with open(f"{root}/{name}", "w", encoding="utf-8") as file:
                    file.write(name)
                os.utime(f"{root}/{name}", (len(made), len(made)))
            if made and os.getuid() == 0:
                shutil.chown(f"{root}/a", 1, 1)
            made.add(run("/usr/bin/python3", "-c", program, DEPLOY, root, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}))
        self.assertEqual(len(made), 1)
        self.assertRegex(made.pop(), r"^[0-9a-f]{64}\n$")

    def test_an_unknown_instruction_is_no_setting_that_gets_lost(self):
        """A new kind of line in Containerfile, such as LABEL, must stop `make image`, since the program does not yet copy it to the image."""
        copy = f"{self.folder}/deploy"
        os.mkdir(copy)
        shutil.copy(os.path.join(DEPLOY, "image.py"), copy)
        with open(f"{copy}/Containerfile", "w", encoding="utf-8") as file:
            file.write(read("Containerfile") + "LABEL owner=cell\n")
        done = subprocess.run(["/usr/bin/python3", "-c", "import image; image.settings()"], cwd=copy, capture_output=True, text=True,
                              env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, re.compile("LABEL"))


if __name__ == "__main__":
    tap.main()
