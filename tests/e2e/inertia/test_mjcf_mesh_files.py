"""Tests mesh files to which an MJCF file refers: STL (binary and text), OBJ and MSH, which `torqued convert` reads.

MuJoCo 3.14 reads the same files, and both get the same numbers. MuJoCo refuses STL in text and groups of OBJ files in parts; there the binary
file of the same faces is the reference."""
import base64
import json
import os
import struct
import tempfile

import command_line
import mujoco3
import tap

VERTICES = [(0, 0, 0), (.31, .02, 0), (.3, .42, .01), (.05, .4, 0), (.02, .01, .25), (.3, 0, .2), (.33, .41, .26), (0, .39, .21)]
QUADS = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]


def stl(vertices=VERTICES, triangles=TRIANGLES):
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for i in face for x in vertices[i]), 0) for face in triangles)
    return bytes(80) + struct.pack("<I", len(triangles)) + faces


def text_stl(vertices=VERTICES, triangles=TRIANGLES):
    return ("solid part\n" + "".join("facet normal 0 0 0\n outer loop\n" + "".join("  vertex {} {} {}\n".format(*vertices[i]) for i in face) +
                                     " endloop\nendfacet\n" for face in triangles) + "endsolid part\n").encode()


def obj(faces=TRIANGLES, form="{}", after=""):
    return ("# part\n" + "".join("v {} {} {}\n".format(*v) for v in VERTICES) + "vn 0 0 1\nvt 0 0\n" +
            "".join("f " + " ".join(form.format(i + 1) for i in face) + "\n" for face in faces) + after).encode()


def msh(vertices=VERTICES, triangles=TRIANGLES):
    n, m = len(vertices), len(triangles)
    return (struct.pack("<4i", n, n, 0, m) + b"".join(struct.pack("<3f", *v) for v in vertices) + bytes(12 * n) +
            b"".join(struct.pack("<3i", *face) for face in triangles))


def robot(name, more="", before=""):
    return (f'<mujoco>{before}<asset><mesh name="m" file="{name}" {more}/></asset><worldbody><body name="a" pos="0 0 1"><joint name="j" '
            'axis="1 2 3"/><joint name="k" axis="0 1 1"/><geom type="mesh" mesh="m" pos=".3 .1 -.2" euler="20 30 40"/></body></worldbody></mujoco>')


class Files(mujoco3.Agreement):
    def read(self, text, files, command="convert"):
        """Returns the finished command that reads the text, with the given files in its folder."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {"robot.xml": text.encode(), **files}.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(content)
            return command_line.torqued(command, os.path.join(folder, "robot.xml"))

    def put(self, text, files):
        done = self.read(text, files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.put_model("m", json.loads(done.stdout))
        return done.stderr.decode()

    def same(self, text, files, theirs=None):
        """Compares with MuJoCo, which gets the equivalent files `theirs` where it cannot read the files that the server gets."""
        self.put(text, files)
        assets = {os.path.basename(name): base64.b64encode(content).decode() for name, content in (theirs or files).items()}
        self.compare(mujoco3.Compiled(text, assets=assets), "m")

    def test_formats(self):
        for rule in ("legacy", "exact", "convex", "shell"):
            for name, content in (("m.stl", stl()), ("m.STL", stl()), ("m.obj", obj()), ("m.msh", msh())):
                with self.subTest(name=name, rule=rule):
                    self.same(robot(name, f'inertia="{rule}"'), {name: content})

    def test_text_stl_is_the_same_mesh(self):
        for more in ("", 'inertia="exact"'):
            self.same(robot("m.stl", more), {"m.stl": text_stl()}, {"m.stl": stl()})

    def test_forms_of_obj(self):
        for form in ("{}", "{}/1", "{}/1/1", "{}//1"):
            self.same(robot("m.obj"), {"m.obj": obj(form=form)})
        self.same(robot("m.obj", 'inertia="exact"'), {"m.obj": obj(QUADS)})
        backward = obj([[i - len(VERTICES) - 1 for i in face] for face in QUADS])
        self.same(robot("m.obj"), {"m.obj": backward})
        self.same(robot("m.obj"), {"m.obj": obj(QUADS).replace(b"\n", b"\r\n")})
        self.same(robot("m.obj"), {"m.obj": obj(faces=())})

    def test_only_the_first_group_of_an_obj_file_counts(self):
        more = "o second\nv 2 2 2\nv 3 2 2\nv 2 3 2\nf 9 10 11\n"
        self.same(robot("m.obj"), {"m.obj": obj(after=more)})
        said = self.read(robot("m.obj"), {"m.obj": obj(after=more)}, "check").stdout.decode()
        self.assertIn("1 faces in further groups", said)

    def test_folders_and_scales(self):
        for before, name in (('<compiler meshdir="parts"/>', "m.stl"), ('<compiler assetdir="parts"/>', "m.stl"), ("", "parts/m.stl"),
                             ('<compiler strippath="true" meshdir="parts"/>', "x/y/m.stl"), ('<compiler assetdir="no" meshdir="parts"/>', "m.stl")):
            self.put(robot(name, before=before), {"parts/m.stl": stl()})
        self.same(robot("m.stl", 'scale="1 1 -.5" refpos=".1 .2 .3"'), {"m.stl": stl()})

    def test_a_mesh_without_a_name_has_that_of_its_file(self):
        text = robot("part.v2.stl").replace('name="m"', "").replace('mesh="m"', 'mesh="part.v2"')
        self.same(text, {"part.v2.stl": stl()})

    def test_refusals(self):
        for name, content, word in (
                ("m.stl", b"", "empty"), ("m.stl", stl()[:-1], "by its head"), ("m.stl", bytes(84), "no faces"), ("m.stl", b"solid x\nendsolid", "0 corners"),
                ("m.stl", text_stl().replace(b"0.31", b"x"), "no three numbers"), ("m.msh", msh()[:-1], "by its head"), ("m.msh", b"\xff" * 16, "count"),
                ("m.msh", msh(triangles=[(0, 1, 8)]), "vertex 8"), ("m.obj", b"v 0 0\n", "no three numbers"), ("m.obj", obj([(0, 1, 9)]), "no vertex of the file"),
                ("m.obj", obj([(0, 1)]), "2 corners"), ("m.obj", obj([(-1, 1, 2)]), "no vertex of the file"), ("m.dae", b"x", "none of STL, OBJ and MSH"),
                ("m.stl", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"), ("m.stl", stl([(float("nan"), 0, 0)] + VERTICES[1:]), "not finite"),
                ("m.obj", obj([(0, 1, 5, 4, 7)]).replace(b"f 1 2 6 5 8", b"f 1 2 6 9 5").replace(b"vn", b"v .1 .01 .1\nvn"), "reentrant")):
            with self.subTest(name=name, word=word):
                done = self.read(robot(name), {name: content})
                self.assertNotEqual(done.returncode, 0, done)
                self.assertIn(word, done.stderr.decode())
        self.assertIn("there is no file", self.read(robot("../m.stl"), {"m.stl": stl()}).stderr.decode())


if __name__ == "__main__":
    tap.main()
