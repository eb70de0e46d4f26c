"""Tests the inertia of geoms with meshes in MJCF: inline vertices, faces and built-in shapes, by all rules.

The numbers are MuJoCo's, whose vertices are 32-bit floats as well. Where MuJoCo refuses a mesh, its volume integrals
come from an independent formula."""
import itertools
import random

import mujoco3
import numpy as np
import tap

TETRAHEDRON = "0 0 0 .4 0 0 0 .5 0 0 0 .6"
FACES = "0 2 1 0 1 3 0 3 2 1 2 3"
L_SHAPE = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]     # corners of a polygon; the rule "legacy" counts more than its volume


def prism(corners, height):
    """Returns vertices and faces of a prism over a polygon that is star-shaped from its first corner."""
    n = len(corners)
    vertices = [(x * 0.1, y * 0.1, z) for z in (0, height) for x, y in corners]
    faces = [(i, (i + 1) % n, n + (i + 1) % n) for i in range(n)] + [(i, n + (i + 1) % n, n + i) for i in range(n)]
    for i in range(1, n - 1):
        faces += [(0, i + 1, i), (n, n + i, n + i + 1)]
    return text_of(vertices), text_of(faces)


def text_of(rows):
    return " ".join(str(x) for row in rows for x in row)


def robot(mesh, geom='pos=".3 .1 -.2" euler="20 30 40"', before=""):
    return (f'<mujoco>{before}<asset><mesh name="m" {mesh}/></asset><worldbody><body name="a" pos="0 0 1"><joint name="j" axis="1 2 3"/>'
            f'<joint name="k" axis="0 1 1"/><geom type="mesh" mesh="m" {geom}/></body></worldbody></mujoco>')


def measure(vertices, faces):
    """Returns volume, centre of mass and tensor of a closed mesh. Independent of the server's formula: the covariance of each
    tetrahedron is A S A^T det A, with the covariance S of the unit tetrahedron."""
    S = (np.ones((3, 3)) + np.eye(3)) / 120
    V, first, C = 0.0, np.zeros(3), np.zeros((3, 3))
    for face in faces:
        A = np.array([vertices[i] for i in face]).T
        det = np.linalg.det(A)
        V, first, C = V + det / 6, first + det / 24 * A.sum(axis=1), C + det * A @ S @ A.T
    com = first / V
    C -= V * np.outer(com, com)
    return V, com, np.trace(C) * np.eye(3) - C


class Meshes(mujoco3.Agreement):
    def test_rules(self):
        vertices, faces = prism(L_SHAPE, 0.2)
        for rule in ("", 'inertia="legacy"', 'inertia="exact"', 'inertia="convex"', 'inertia="shell"'):
            for weight in ("", 'mass="3"', 'density="700"'):
                with self.subTest(rule=rule, weight=weight):
                    self.agree(robot(f'vertex="{vertices}" face="{faces}" {rule}', f'pos=".3 .1 -.2" euler="20 30 40" {weight}'))

    def test_a_mesh_without_faces_is_its_convex_hull(self):
        rng = random.Random(3)
        for n in (4, 5, 20, 200):
            points = text_of([[rng.gauss(0, 0.2) for _ in range(3)] for _ in range(n)])
            for rule in ("legacy", "exact", "convex", "shell"):
                self.agree(robot(f'vertex="{points}" inertia="{rule}"'))
        grid = text_of(itertools.product((0, .1, .2, .3), (0, .2, .4), (0, .3, .6)))     # many points in the planes of the hull
        self.agree(robot(f'vertex="{grid}"'))

    def test_a_tetrahedron_by_hand(self):
        """0.4 m by 0.5 m by 0.6 m over 6 is 0.02 m^3, and thus 20 kg. MuJoCo 3.14 prints M = 4.0400003 and 78.480005 N m: its
        vertices are 32-bit floats. The centre of mass is 0.1 m from the corner at the right angle."""
        self.put_text("m", '<mujoco><asset><mesh name="m" inertia="exact" vertex="' + TETRAHEDRON + '"/></asset><worldbody><body><joint '
                      'axis="0 1 0"/><geom type="mesh" mesh="m" pos=".3 0 0"/></body></worldbody></mujoco>')
        M = self.ask("m", "mass-matrix", {"q": [0]})["mass_matrix"]
        self.assertClose(M, [[4.0400003]], 1e-8)
        self.assertClose(self.ask("m", "inverse-dynamics", {"q": [0], "qd": [0], "qdd": [0]})["tau"], [-78.480005], 1e-8)

    def test_scale_and_reference(self):
        vertices, faces = prism(L_SHAPE, 0.2)
        for more in ('scale="1.5 .5 2"', 'refpos=".1 .2 .3"', 'refquat="1 2 3 4"', 'scale="2 1 .5" refpos=".1 .2 .3" refquat=".1 .7 -.2 .4"',
                     'scale="-1 1 2"', 'scale="-1 -2 -1" refquat="1 0 1 0"'):
            for rule in ("legacy", "exact", "shell"):
                with self.subTest(more=more, rule=rule):
                    self.agree(robot(f'vertex="{vertices}" face="{faces}" inertia="{rule}" {more}'))

    def test_built_in_shapes(self):
        for shape, params in (("sphere", "0"), ("sphere", "3"), ("hemisphere", "0"), ("hemisphere", "4"), ("supersphere", "7 .5 1.3"),
                              ("supertorus", "9 .4 .7 1.2"), ("wedge", "7 5 60 40 .3"), ("plate", "4 6"), ("cone", "8 0"), ("cone", "7 .4")):
            for scale in (.1,) if shape == "plate" else (1, .1):      # MuJoCo refuses some plates by the rounding of A + B = C
                with self.subTest(shape=shape, params=params, scale=scale):
                    self.agree(robot(f'builtin="{shape}" params="{params}" scale="{scale} {2 * scale} {scale}"',
                                     'pos=".3 .1 -.2" euler="20 30 40" contype="0" conaffinity="0"'))

    def test_classes_and_names(self):
        before = '<default><mesh inertia="exact" scale="2 2 2"/><default class="c"><mesh scale="1 2 3"/><geom density="3"/></default></default>'
        vertices, faces = prism(L_SHAPE, 0.2)
        self.agree(robot(f'vertex="{vertices}" face="{faces}"', before=before))
        self.agree(robot(f'class="c" vertex="{vertices}" face="{faces}"', 'class="c"', before))

    def test_several_geoms_and_a_free_body(self):
        geoms = '<geom type="mesh" mesh="m" density="200"/><geom size=".1" pos="0 .2 0"/><geom type="mesh" mesh="m" mass="2" euler="1 2 3"/>'
        self.agree(f'<mujoco><asset><mesh name="m" vertex="{TETRAHEDRON}" face="{FACES}"/></asset><worldbody><body name="a"><freejoint/>{geoms}'
                   "</body></worldbody></mujoco>")
        self.agree(f'<mujoco><asset><mesh name="m" vertex="{TETRAHEDRON}"/></asset><worldbody><body name="a"><freejoint align="true"/><geom '
                   'type="mesh" mesh="m" euler="10 20 30"/></body></worldbody></mujoco>')

    def test_shapes_that_are_fitted_to_a_mesh(self):
        for aabb in ("false", "true"):
            for shape in ("sphere", "capsule", "cylinder", "ellipsoid", "box"):
                for more in ("", 'fitscale="1.3" shellinertia="true"'):
                    with self.subTest(aabb=aabb, shape=shape, more=more):
                        self.agree(robot(f'vertex="{TETRAHEDRON}"', f'pos=".3 .1 -.2" euler="20 30 40" {more}',
                                         f'<compiler fitaabb="{aabb}"/>').replace('type="mesh"', f'type="{shape}"'))

    def test_exact_integrals(self):
        """The mass, centre and tensor of an L-shaped prism, by the covariance of its tetrahedra and by hand: 5 cells of 0.1 m
        by 0.1 m, 0.25 m high."""
        vertices, faces = prism(L_SHAPE, 0.25)
        V, com, T = measure(np.reshape([np.float32(x) for x in vertices.split()], (-1, 3)).astype(float),
                            np.reshape([int(x) for x in faces.split()], (-1, 3)))
        self.assertClose(V, 5 * 0.1 * 0.1 * 0.25, 1e-7)
        self.assertClose(com.tolist(), [0.11, 0.11, 0.125], 1e-7)
        self.put_text("m", robot(f'vertex="{vertices}" face="{faces}" inertia="exact"', 'density="800"'))
        inertial = self.client.get("/v1/models/m/document").json()["links"][-1]["inertial"]
        self.assertClose(inertial["mass"], 800 * V, 1e-12)
        self.assertClose(inertial["com"], com.tolist(), 1e-12)
        entries = {name: inertial["inertia"][name] for name in ("xx", "yy", "zz", "xy")}
        for name, (i, j) in {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1)}.items():
            self.assertClose(entries[name], 800 * T[i, j], 1e-6, what=name)      # MuJoCo finds the principal axes only to 1e-6


class Reports(mujoco3.Agreement):
    def said(self, text, code):
        return [entry["text"] for entry in self.put_text("m", text) if entry["code"] == code]

    def test_an_open_mesh(self):
        said = self.said(robot(f'vertex="{TETRAHEDRON}" face="0 2 1 0 1 3 0 3 2"'), "suspicious")
        self.assertEqual(len(said), 1, said)
        self.assertIn("3 of its 6 edges", said[0])

    def test_faces_that_are_turned_inside_out(self):
        turned = "0 1 2 0 3 1 0 2 3 1 3 2"
        self.assertIn("inside out", self.said(robot(f'vertex="{TETRAHEDRON}" face="{turned}"'), "suspicious")[0])
        self.refused(robot(f'vertex="{TETRAHEDRON}" face="{turned}" inertia="exact"'), "bad-inertia", "inside out")

    def test_a_rule_that_counts_too_much(self):
        vertices, faces = prism([(0, 0), (3, 0), (3, .2), (.2, .2), (.2, 3), (0, 3)], 0.2)
        self.assertIn("encloses", self.said(robot(f'vertex="{vertices}" face="{faces}"'), "assumed")[0])

    def test_the_inertia_of_a_closed_mesh_has_no_entry(self):
        said = self.put_text("m", robot(f'vertex="{TETRAHEDRON}" face="{FACES}"'))
        about_meshes = [entry["text"] for entry in said if "mesh" in entry["text"]]
        self.assertEqual(len(about_meshes), 1, said)
        self.assertIn("not drawn", about_meshes[0])     # the mesh has no file: the robot's file holds the vertices

    def refused(self, text, code, *words):
        answer = self.client.put("/v1/models/r", text.encode(), Content_Type="application/mjcf+xml")
        self.assertEqual(answer.status, 422, answer)
        problem = answer.json()
        self.assertTrue(problem["type"].endswith(code), problem)
        for word in words:
            self.assertIn(word, problem["detail"])

    def test_refusals(self):
        flat = "0 0 0 1 0 0 0 1 0 1 1 0"
        for mesh, code, word in ((f'vertex="{flat}"', "bad-inertia", "one plane"), ('vertex="0 0 0 1 0 0 0 1 0"', "bad-inertia", "needs 4"),
                                 ('vertex="0 0 0 1"', "bad-inertia", "multiple of 3"), (f'vertex="{TETRAHEDRON}" face="0 1 4"', "bad-inertia", "vertex 4"),
                                 (f'vertex="{TETRAHEDRON}" face="0 1 .5"', "bad-inertia", "0.5"), ('vertex="x"', "wrong-type", "x"), ("", "bad-inertia", "needs 4"),
                                 (f'vertex="{TETRAHEDRON}" maxhullvert="4"', "bad-inertia", "maxhullvert"), ('builtin="sphere" params="9"', "bad-inertia", "0 to 4"),
                                 ('builtin="cone" params="9"', "bad-inertia", "2 params"), ('builtin="ball" params="9"', "bad-value", "hemisphere"),
                                 (f'vertex="{TETRAHEDRON}" scale="1e-9 1e-9 1e-9"', "bad-inertia", "too small"),
                                 (f'vertex="{TETRAHEDRON}" scale="1e80 1e80 1e80"', "bad-inertia", "not finite"),
                                 ('file="m.stl"', "bad-inertia", "did not come with the request")):
            with self.subTest(mesh):
                self.refused(robot(mesh), code, word)
        self.refused(robot(f'vertex="{TETRAHEDRON}"').replace('mesh="m"', 'mesh="n"'), "unknown-name", '"n"')

    def test_a_mesh_that_no_mass_needs_is_not_read(self):
        inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        for text in (robot('file="m.stl"', 'mass="0"').replace("<geom", "<geom size='.1'/><geom"), robot('file="m.stl"').replace("<geom", inertial + "<geom"),
                     robot('file="m.stl"', 'group="5"', '<compiler inertiagrouprange="0 4"/>').replace("<geom", "<geom size='.1'/><geom")):
            self.put_text("m", text)
        fixed = robot('file="m.stl"').replace('<joint name="j"', '<geom size=".1"/><body name="b"><joint name="j"').replace("<geom type", "<geom size='.1'/></body><geom type")
        self.assertIn("left out", self.said(fixed, "not-held")[0])


if __name__ == "__main__":
    tap.main()
