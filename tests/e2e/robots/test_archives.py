"""Tests robots of several files: as archives in requests, including archives made to exhaust the server, and from folders on the command
line."""
import gzip
import io
import json
import os
import stat
import subprocess
import tarfile
import tempfile
import unittest
import zipfile

import tap
from harness import BINARY, SANITIZED, Server, ServerCase

BODY = "<x><body name='{0}'><joint name='{0}'/><geom size='0.1' mass='{1}'/></body></x>"
MAIN = "<mujoco><worldbody><include file='near.xml'/><include file='parts/deep.xml'/><include file='../out.xml'/></worldbody></mujoco>"
ROBOT = {"r/main.xml": MAIN, "r/near.xml": BODY.format("near", 2), "r/parts/deep.xml": BODY.format("deep", 3),
         "out.xml": BODY.format("out", 5), "r/skin.png": "no picture"}
ONE = "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>"
ZIP, TAR, GZIP = "application/zip", "application/x-tar", "application/gzip"


def as_zip(files, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def as_tar(files, form=tarfile.PAX_FORMAT):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, text in files.items():
            if isinstance(text, tarfile.TarInfo):
                text.name = name
                archive.addfile(text)
                continue
            content = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def as_form(files, boundary="b-0-b"):
    parts = [f"--{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n"
             f"Content-Type: text/xml\r\n\r\n{text}\r\n" for name, text in files.items()]
    return ("".join(parts) + f"--{boundary}--\r\n").encode(), f"multipart/form-data; boundary={boundary}"


def tar_entry(kind, target=""):
    entry = tarfile.TarInfo()
    entry.type, entry.linkname = kind, target
    return entry


class Archives(ServerCase):
    def put(self, body, media_type, query=""):
        return self.client.request("PUT", f"/v1/models/several{query}", body, {"Content-Type": media_type})

    def taken(self, body, media_type, query=""):
        answer = self.put(body, media_type, query)
        self.assertIn(answer.status, (200, 201), answer)
        return answer.json()["revision"]

    def refused(self, body, media_type, *words, query="", status=400, code="bad-archive"):
        problem = self.assertProblem(self.put(body, media_type, query), status)
        self.assertEqual(problem["code"], code, problem)
        for word in words:
            self.assertIn(word, problem["detail"])

    def test_every_form_gives_one_robot(self):
        """The revision is that of the document, so equal revisions are equal robots."""
        form, form_type = as_form(ROBOT)
        long = "x" * 120 + "/" + "y" * 120
        revisions = {
            self.taken(as_zip(ROBOT), ZIP), self.taken(as_zip(ROBOT, zipfile.ZIP_STORED), ZIP),
            self.taken(as_tar(ROBOT), TAR), self.taken(as_tar(ROBOT, tarfile.USTAR_FORMAT), TAR),
            self.taken(as_tar(ROBOT, tarfile.GNU_FORMAT), TAR), self.taken(gzip.compress(as_tar(ROBOT)), GZIP),
            self.taken(gzip.compress(as_tar(ROBOT)[:1000]) + gzip.compress(as_tar(ROBOT)[1000:]), GZIP),
            self.taken(gzip.compress(as_tar(ROBOT)) + bytes(700), GZIP),  # as tapes pad files
            self.taken(form, form_type), self.taken(form.replace(b"; name=", b";name=").replace(b"; filename=", b";filename="), form_type),
            self.taken(as_zip({"r/.git/other.xml": ONE, **ROBOT}), ZIP),
            self.taken(as_zip({"./" + name: text for name, text in ROBOT.items()}), ZIP),
            self.taken(as_zip({"r/": "", "__MACOSX/r/._main.xml": "\0", **ROBOT}), ZIP),
            *(self.taken(as_tar({f"{long}/{name}": text for name, text in ROBOT.items()}, kind), TAR)
              for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))}
        self.assertEqual(len(revisions), 1)
        joints = self.client.get("/v1/models/several").json()["joints"]
        self.assertEqual([joint["name"] for joint in joints], ["near", "deep", "out"])

    def test_form_of_curl(self):
        """curl -F PATH=@FILE gives the path as the part's name."""
        body, media_type = as_form(ROBOT)
        for name in ROBOT:
            if "/" in name:
                body = body.replace(f'name="f"; filename="{name}"'.encode(),
                                    f'name="{name}"; filename="{os.path.basename(name)}"'.encode())
        self.assertEqual(self.taken(body, media_type), self.taken(as_zip(ROBOT), ZIP))
        self.refused(body.replace(b'; filename="out.xml"', b""), media_type, "no filename")

    def test_the_robot_is_the_file_that_no_other_includes(self):
        self.refused(as_zip({"a.xml": ONE, "b/c.xml": ONE}), ZIP, "?main=PATH", ": a.xml, b/c.xml")
        self.taken(as_zip({"a.xml": ONE, "b/c.xml": ONE}), ZIP, "?main=b%2Fc.xml")
        self.taken(as_zip({"a.xml": ONE, "b c.xml": ONE}), ZIP, "?equality=coupled&main=b%20c.xml")
        inner = "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>"
        scene = {"scene.xml": "<mujoco><include file='inner.xml'/></mujoco>", "inner.xml": inner}
        self.taken(as_zip(scene), ZIP)
        scene["scene.xml"] = "<mujoco><!-- <include file='inner.xml'/> --></mujoco>"
        self.refused(as_zip(scene), ZIP, "inner.xml, scene.xml")
        self.refused(as_zip({"a.txt": "x"}), ZIP, "no file has <robot>")
        self.refused(as_zip({"a.urdf.xacro": "<robot><link name='a'/></robot>"}), ZIP, "xacro")
        self.refused(as_zip({"a.xml": ONE}), ZIP, "none.xml", query="?main=none.xml", status=422, code="bad-value")
        self.refused(as_zip({"a.xml": ONE}), ZIP, "../a.xml", query="?main=../a.xml", status=422, code="bad-value")
        self.refused(as_zip({"a.xml": ONE}), ZIP, query="?main=", status=422, code="bad-value")
        self.refused(as_zip({"a.xml": ONE}), ZIP, "twice", query="?main=a.xml&main=a.xml", status=422, code="unknown-parameter")
        self.refused(as_zip({"a.xml": ONE}), ZIP, query="?mian=a.xml", status=422, code="unknown-parameter")
        self.refused(as_zip({"a.xml": ONE}), ZIP, query="?base=floating", status=422, code="unknown-parameter")

    def test_includes_stay_in_the_archive(self):
        for name in ("/etc/passwd", "../../../../../../etc/passwd", "file:///etc/passwd", "none.xml"):
            text = f"<mujoco><worldbody><include file='{name}'/></worldbody></mujoco>"
            self.refused(as_zip({"r/a.xml": text}), ZIP, "no such file", status=422, code="not-supported")
        loop = {"a.xml": "<mujoco><include file='b.xml'/></mujoco>", "b.xml": "<x><include file='a.xml'/></x>"}
        self.refused(as_zip(loop), ZIP, "includes itself", status=422, code="bad-model", query="?main=a.xml")

    def test_names_that_lead_outside_are_refused(self):
        for name, words in (("../a.xml", "\"..\""), ("r/../../a.xml", "\"..\""), ("/a.xml", "absolute"),
                            ("r\\a.xml", "backslash"), ("a\nb.xml", "control"), ("x/" * 40 + "a.xml", "32 folders"),
                            ("a" * 1100, "1024 bytes")):
            self.refused(as_zip({"main.xml": ONE, name: "x"}), ZIP, words)
            self.refused(as_tar({"main.xml": ONE, name: "x"}), TAR, words)
        self.refused(as_tar({"main.xml": ONE, "a\udcff.xml": "x"}, tarfile.GNU_FORMAT), TAR, "UTF-8")

    def test_duplicates_are_refused(self):
        twice = as_zip({"a.xml": ONE, "b.xml": ONE}).replace(b"b.xml", b"a.xml")
        self.refused(twice, ZIP, "a.xml", "twice")
        self.refused(as_tar({"a.xml": ONE, "./a.xml": ONE}), TAR, "a.xml", "twice")
        self.refused(as_zip({"d/a.xml": ONE, "d//a.xml": ONE}), ZIP, "twice")

    def test_links_and_devices_are_refused(self):
        for kind, words in ((tarfile.SYMTYPE, "symbolic link"), (tarfile.LNKTYPE, "hard link"), (tarfile.CHRTYPE, "device"),
                            (tarfile.BLKTYPE, "device"), (tarfile.FIFOTYPE, "device"), (b"S", "no plain file")):
            self.refused(as_tar({"a.xml": ONE, "odd": tar_entry(kind, "/etc/passwd")}), TAR, "odd", words)
            self.refused(gzip.compress(as_tar({"a.xml": ONE, "odd": tar_entry(kind, "a.xml")})), GZIP, "odd", words)
        for mode, words in ((stat.S_IFLNK, "symbolic link"), (stat.S_IFCHR, "device"), (stat.S_IFIFO, "device")):
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("a.xml", ONE)
                entry = zipfile.ZipInfo("odd")
                entry.create_system, entry.external_attr = 3, (mode | 0o777) << 16
                archive.writestr(entry, "/etc/passwd")
            self.refused(packed.getvalue(), ZIP, "odd", words)

    def test_encrypted_and_other_compressions_are_refused(self):
        plain = as_zip({"a.xml": ONE})
        central = plain.rindex(b"PK\1\2")
        self.refused(plain[:central + 8] + b"\1" + plain[central + 9:], ZIP, "a.xml", "encrypted")
        self.refused(as_zip({"a.xml": ONE}, zipfile.ZIP_LZMA), ZIP, "a.xml", "compression")
        self.refused(as_zip({"a.xml": ONE}, zipfile.ZIP_BZIP2), ZIP, "a.xml", "compression")

    def test_wrong_type_is_refused(self):
        form, form_type = as_form(ROBOT)
        bodies = {ZIP: as_zip(ROBOT), TAR: as_tar(ROBOT), GZIP: gzip.compress(as_tar(ROBOT)), form_type: form}
        for media_type, body in bodies.items():
            self.refused(ONE.encode(), media_type, "no archive")
            self.refused(b"", media_type, "no archive")
            self.refused(b"7z\xbc\xaf\x27\x1c" + bytes(600), media_type, "no archive")
            for other in bodies:
                if other != media_type:
                    self.refused(body, other, "Content-Type")
        self.refused(gzip.compress(ONE.encode()), GZIP, "no tar archive")
        self.refused(as_zip({"a.zip": as_zip(ROBOT), "a.xml": ONE}), ZIP, "itself an archive", query="?main=a.zip")

    def test_cut_and_damaged_archives_are_refused(self):
        form, form_type = as_form(ROBOT)
        for media_type, body in ((ZIP, as_zip(ROBOT)), (TAR, as_tar(ROBOT).rstrip(b"\0")), (GZIP, gzip.compress(as_tar(ROBOT))),
                                 (form_type, form.rstrip(b"\r\n-"))):
            for length in range(0, len(body) - 1, 1 + len(body) // 40):
                self.refused(body[:length], media_type)
        self.refused(as_zip(ROBOT, zipfile.ZIP_STORED).replace(b"near", b"neat", 1), ZIP)
        damaged = bytearray(gzip.compress(as_tar(ROBOT)))
        damaged[-6] ^= 1
        self.refused(bytes(damaged), GZIP, "damaged")
        self.refused(gzip.compress(as_tar(ROBOT)) + bytes(7) + b"\x1f", GZIP, "damaged")

    def memory(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

    def test_expansion_takes_no_memory(self):
        """64 MiB of zeros, compressed about 1000:1, must be refused before they are unpacked, in every archive format, also as many small files
        and where the header states a smaller size. An archive of 100 000 entries is refused before any is stored."""
        zeros = bytes(64 << 20)
        self.taken(as_zip(ROBOT), ZIP)
        one = as_zip({"main.xml": ONE, "a.stl": zeros})
        many = as_zip({"main.xml": ONE, **{f"{i}.stl": zeros[:65536] for i in range(512)}})
        tar = gzip.compress(as_tar({"main.xml": ONE, "a.stl": zeros}))
        entries = as_zip({"main.xml": ONE, **{f"{i}.stl": b"" for i in range(60000)}})
        folders = as_tar({"main.xml": ONE, **{f"{i}": tar_entry(tarfile.DIRTYPE) for i in range(100000)}})
        lying = bytearray(one)
        at = one.rindex(b"PK\1\2") + 24
        lying[at:at + 4] = (60000).to_bytes(4, "little")
        before = self.memory()
        self.refused(one, ZIP, "a.stl", "200 times")
        self.refused(many, ZIP, "200 times")
        self.refused(bytes(lying), ZIP, "a.stl")
        self.refused(tar, GZIP, "unpacks to more than 200 times its size")
        self.refused(entries, ZIP, "10000 entries")
        if not SANITIZED:  # a sanitizer keeps freed memory
            self.assertLess(self.memory() - before, 48 << 20)
        self.refused(folders, TAR, "10000 entries")
        self.refused(gzip.compress(folders), GZIP)

    def test_two_entries_of_one_place(self):
        """All entries of a zip file's directory point to the same compressed bytes: the unpacked size of each counts."""
        packed = bytearray(as_zip({"main.xml": ONE, "a.stl": os.urandom(1000) + bytes(60000)}))
        central = packed.rindex(b"PK\1\2")
        end = packed.rindex(b"PK\5\6")
        header = bytes(packed[central:end])
        copies = b"".join(header.replace(b"a.stl", f"{i:05}".encode()) for i in range(9000))
        local = bytes(packed[:packed.index(b"PK\1\2")])
        first = bytes(packed[packed.index(b"PK\1\2"):central])
        count = (9001).to_bytes(2, "little")
        directory = first + copies
        tail = b"PK\5\6\0\0\0\0" + count + count + len(directory).to_bytes(4, "little") + len(local).to_bytes(4, "little") + b"\0\0"
        self.refused(local + directory + tail, ZIP, "two names")


class Budget(ServerCase):
    arguments = ("--memory", "16M", "--max-body", "8M")

    def test_unpacked_files_are_claimed(self):
        """Unpacked the archive has 6 MB of numbers that do not compress well, more than --memory allows together with the body."""
        noise = os.urandom(3 << 20).hex()
        for body, media_type in ((as_zip({"a.xml": ONE, "b.txt": noise}), ZIP), (gzip.compress(as_tar({"a.xml": ONE, "b.txt": noise})), GZIP)):
            answer = self.client.request("PUT", "/v1/models/m", body, {"Content-Type": media_type})
            self.assertIn(answer.status, (200, 201), answer)
        noise = os.urandom(6 << 20).hex()
        for body, media_type in ((as_zip({"a.xml": ONE, "b.txt": noise}), ZIP), (gzip.compress(as_tar({"a.xml": ONE, "b.txt": noise})), GZIP)):
            self.assertLess(len(body), 8 << 20)
            problem = self.assertProblem(self.client.request("PUT", "/v1/models/m", body, {"Content-Type": media_type}), 400)
            self.assertEqual(problem["code"], "bad-archive")
            self.assertIn("8388608 bytes; limits.body is the limit", problem["detail"])


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        for name, text in ROBOT.items():
            self.write(name, text)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def run_command(self, *arguments, status=0, cwd=None, **environment):
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60, cwd=cwd or self.folder,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done)
        return done.stdout + done.stderr

    def document(self, *arguments, **environment):
        document = json.loads(self.run_command("convert", *arguments, **environment))
        document.pop("name", None)
        return document

    def test_file_folder_and_archive_are_one_robot(self):
        first = self.document("r/main.xml")
        self.assertEqual([link["name"] for link in first["links"]], ["near", "deep", "out"])
        self.write("a.zip", as_zip(ROBOT))
        self.write("a.tar.gz", gzip.compress(as_tar(ROBOT)))
        for operand in (os.path.join(self.folder, "r/main.xml"), "r/../r/main.xml", "r", ".", "a.zip", "a.tar.gz"):
            self.assertEqual(self.document(operand), first, operand)

    def test_main_of_a_folder(self):
        self.write("r/other.xml", ONE)
        self.assertIn("--main PATH chooses one: main.xml, other.xml\n", self.run_command("check", "r", status=1))
        self.assertEqual(len(self.document("r", "--main", "other.xml")["links"]), 1)
        self.write("a.zip", as_zip({**ROBOT, "r/other.xml": ONE}))
        self.assertEqual(len(self.document("a.zip", "--main", "r/other.xml")["links"]), 1)

    def test_names_of_models(self):
        """The name is that of the file without its extensions, of the folder, also with a slash at its end."""
        self.write("two.x.tar.gz", gzip.compress(as_tar(ROBOT)))
        for operand, name in (("r/main.xml", "main"), ("r", "r"), ("r/", "r"), ("two.x.tar.gz", "two.x"), (".", "model")):
            self.assertEqual(json.loads(self.run_command("convert", operand))["name"], name)

    def test_put_sends_what_the_file_needs(self):
        """A file may include others from a package in a neighbouring folder and from one in --path; templates are expanded by xacro, here by
        another program of this name."""
        server = Server()
        self.addCleanup(server.kill)
        def revision(*arguments, **environment):
            done = self.run_command("put", "several", *arguments, "--url", server.url(), **environment)
            return done.split("revision ")[1].split(",")[0]
        self.write("a.zip", as_zip(ROBOT))
        self.assertEqual(len({revision(operand) for operand in ("r/main.xml", "r", "a.zip", os.path.join(self.folder, "r/main.xml"))}), 1)
        self.write("x/far/arm_ros/package.xml", "<package><name>arm</name></package>")
        self.write("x/far/arm_ros/arm.sdf", "<sdf version='1.9'><model name='arm'><link name='l'><inertial><mass>2</mass></inertial></link></model></sdf>")
        sdf = ("<sdf version='1.9'><model name='r'><link name='b'/><include><uri>package://arm/arm.sdf</uri></include><joint name='j' type="
               "'revolute'><parent>b</parent><child>arm::l</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>")
        self.write("y/robot.sdf", sdf)
        self.assertTrue(revision("y/robot.sdf", "--path", "x/far/arm_ros"))
        urdf = ("<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
                "</inertial></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>")
        self.write("t.urdf.xacro", urdf.replace("<link name='a'/>", "<xacro:link/>"))
        program = self.write("bin/xacro", f"#!/bin/sh\ntest -f \"$1\" && cat <<'END'\n{urdf}\nEND\n")
        os.chmod(program, 0o755)
        self.write("plain.urdf", urdf)
        path = os.path.dirname(program) + ":" + os.environ["PATH"]
        self.assertEqual(revision("t.urdf.xacro", PATH=path), revision("plain.urdf"))
        self.assertIn("pip install xacro", self.run_command("check", "t.urdf.xacro", status=1, PATH="/nowhere"))
        self.write("bin/xacro", "#!/bin/sh\nexit 3\n")
        self.assertIn("xacro failed", self.run_command("check", "t.urdf.xacro", status=1, PATH=path))

    def test_no_file_is_not_read(self):
        for name in ("parts", "/dev/zero", "none.xml"):
            self.write("r/main.xml", f"<mujoco><worldbody><include file='{name}'/></worldbody></mujoco>")
            self.assertIn("no such file", self.run_command("check", "r/main.xml", status=1))
        self.assertIn("cannot read", self.run_command("check", "nowhere", status=1))


if __name__ == "__main__":
    tap.main()
