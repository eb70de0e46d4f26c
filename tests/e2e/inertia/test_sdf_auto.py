"""Tests <inertial auto="true"> of SDF: the inertia of a link is that of its collisions.

The expected numbers come from integrals over slices, computed here by Gauss-Legendre quadrature, and from closed forms."""
import json
import math
import os
import struct
import tempfile

import command_line
import numpy as np
import tap
from sdf import SdfCase

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
POSE = (0.3, -0.1, 0.2, 0.4, -0.3, 0.7)


def revolved(radius, low, high):
    """Returns volume, height of the centre and moments (xx, yy, zz) of a body of revolution about z."""
    z = (high - low) / 2 * NODES + (high + low) / 2
    w, r = (high - low) / 2 * WEIGHTS, np.array([radius(x) for x in z])
    V = math.pi * (w * r ** 2).sum()
    h = math.pi * (w * r ** 2 * z).sum() / V
    across = math.pi * (w * (r ** 4 / 4 + r ** 2 * (z - h) ** 2)).sum()
    return V, h, (across, across, math.pi * (w * r ** 4 / 2).sum())


def rotation(r, p, y):
    (cr, cp, cy), (sr, sp, sy) = np.cos([r, p, y]), np.sin([r, p, y])
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr], [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])


def block(V, a, b, c):
    return V, 0.0, (V * (b * b + c * c), V * (a * a + c * c), V * (a * a + b * b))


SHAPES = {
    "<box><size>.2 .3 .5</size></box>": block(0.03, *(x / math.sqrt(12) for x in (.2, .3, .5))),
    "<ellipsoid><radii>.2 .3 .5</radii></ellipsoid>": block(4 * math.pi / 3 * 0.03, *(x / math.sqrt(5) for x in (.2, .3, .5))),
    "<sphere><radius>.3</radius></sphere>": revolved(lambda z: math.sqrt(.09 - z * z), -.3, .3),
    "<cylinder><radius>.2</radius><length>.7</length></cylinder>": revolved(lambda z: .2, -.35, .35),
    "<cone><radius>.2</radius><length>.6</length></cone>": revolved(lambda z: .2 * (.3 - z) / .6, -.3, .3),
}


def collision(shape, density="", pose="<pose>" + " ".join(map(str, POSE)) + "</pose>", name="c"):
    return f"<collision name='{name}'>{pose}{density}<geometry>{shape}</geometry></collision>"


def robot(collisions, inside="", before=""):
    return ("<sdf version='1.12'><model name='m'>" + before + "<link name='b'><pose>1 2 3 0.1 0.2 0.3</pose><inertial auto='true'>" + inside + "</inertial>" +
            collisions + "</link><joint name='j' type='revolute'><parent>world</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>")


class Automatic(SdfCase):
    def inertial(self, text):
        report = self.take_sdf("m", text)["report"]
        self.assertFalse([entry for entry in report if "<collision>" in entry["text"]], report)
        read = self.ok(self.client.get("/v1/models/m/document"))["links"][-1]["inertial"]
        T = read["inertia"]
        full = [[T["xx"], T.get("xy", 0), T.get("xz", 0)], [T.get("xy", 0), T["yy"], T.get("yz", 0)], [T.get("xz", 0), T.get("yz", 0), T["zz"]]]
        return read["mass"], read.get("com", [0, 0, 0]), full, report

    def check(self, text, mass, com, T):
        found = self.inertial(text)
        self.assertClose(found[0], mass, 1e-12)
        self.assertClose(found[1], list(com), 1e-12)
        self.assertClose(found[2], np.array(T).tolist(), 1e-12)
        return found[3]

    def test_shapes(self):
        R, p = rotation(*POSE[3:]), np.array(POSE[:3])
        for shape, (V, h, I) in SHAPES.items():
            for inside, density, mass in (("", "", 1000 * V), ("<density>700</density>", "", 700 * V), ("<density>700</density>", "<density>30</density>", 30 * V),
                                          ("<mass>2.5</mass>", "", 2.5), ("<mass>2.5</mass>", "<density>30</density>", 2.5)):
                with self.subTest(shape=shape, inside=inside, density=density):
                    report = self.check(robot(collision(shape, density), inside), mass, p + R @ [0, 0, h], mass / V * R @ np.diag(I) @ R.T)
                    said = [entry for entry in report if "1000 kg/m^3" in entry["text"]]
                    self.assertEqual(len(said), not (density or "density" in inside))

    def test_a_capsule_is_a_cylinder_and_a_ball(self):
        def radius(z):
            return .2 if abs(z) < .25 else math.sqrt(.04 - (abs(z) - .25) ** 2)
        parts = [revolved(radius, *ends) for ends in ((-.45, -.25), (-.25, .25), (.25, .45))]
        V = sum(part[0] for part in parts)
        across, axial = sum(I[0] + V_ * h * h for V_, h, I in parts), sum(I[2] for _, _, I in parts)
        shape = "<capsule><radius>.2</radius><length>.5</length></capsule>"
        found = self.inertial(robot(collision(shape, pose="")))
        self.assertClose(found[0], 1000 * V, 1e-7)      # the quadrature of a half circle converges slowly
        self.assertClose(found[2], (1000 * np.diag([across, across, axial])).tolist(), 1e-7)

    def test_collisions_add_up(self):
        two = collision("<sphere><radius>.1</radius></sphere>", "<density>300</density>", "<pose>0 0 1 0 0 0</pose>") + collision(
            "<sphere><radius>.2</radius></sphere>", "", "<pose>0 0 -1 0 0 0</pose>", "d") + collision("<plane/>", name="p")
        a, b = 300 * 4 / 3 * math.pi * .001, 1000 * 4 / 3 * math.pi * .008
        z = (a - b) / (a + b)
        axial = .4 * (a * .01 + b * .04)
        across = axial + a * (1 - z) ** 2 + b * (1 + z) ** 2
        report = self.check(robot(two), a + b, (0, 0, z), np.diag([across, across, axial]))
        self.assertTrue(any("without a volume" in entry["text"] for entry in report), report)

    def test_a_pose_may_be_relative_to_another_frame(self):
        frame = "<frame name='f'><pose>1 2 4 0.1 0.2 0.3</pose></frame>"
        text = robot(collision("<sphere><radius>.1</radius></sphere>", "", "<pose relative_to='f'>0 0 0 0 0 0</pose>"), "", frame)
        found = self.inertial(text)
        expected = rotation(.1, .2, .3).T @ [0, 0, 1]
        self.assertClose(found[1], expected.tolist(), 1e-12)

    def test_meshes(self):
        """A box of two triangles a side has the inertia of the box."""
        corners = [(x, y, z) for x in (0, .25) for y in (0, .5) for z in (0, .75)]
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        faces = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
        data = bytes(80) + struct.pack("<I", 12) + b"".join(struct.pack("<12fH", 0, 0, 0, *(v for i in f for v in corners[i]), 0) for f in faces)
        mesh = "<mesh><uri>{}</uri><scale>2 1 {}</scale></mesh>"
        for uri, scale, content, word in (("parts/box.stl", 1, data, None), ("parts/box.stl", -1, data, None), ("no.stl", 1, data, "did not come"),
                                          ("parts/box.stl", 1, data[:80] + struct.pack("<I", 11) + data[84:-50], "no closed surface"), ("parts/box.dae", 1, data, "none of STL")):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(os.path.join(folder, "parts"))
                for name, text in (("m.sdf", robot(collision(mesh.format(uri, scale), pose="")).encode()), ("parts/box.stl", content), ("parts/box.dae", content)):
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(text)
                done = command_line.torqued("convert", os.path.join(folder, "m.sdf"))
            if word:
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(word, done.stderr.decode())
                continue
            self.put_model("m", json.loads(done.stdout))
            read = self.ok(self.client.get("/v1/models/m/document"))["links"][-1]["inertial"]
            self.assertClose(read["mass"], 1000 * .5 * .5 * .75, 1e-12)
            self.assertClose(read["com"], [.25, .25, scale * .375], 1e-12)
            self.assertClose(read["inertia"]["xx"], read["mass"] / 12 * (.25 + .5625), 1e-12)

    def test_refusals(self):
        sphere = "<sphere><radius>{}</radius></sphere>"
        for text, code, word in ((robot(""), "bad-inertia", "there are none"), (robot(collision("<plane/>")), "bad-inertia", "no volume"),
                                 (robot(collision(sphere.format(0))), "bad-inertia", "sizes above 0"), (robot(collision(sphere.format(1), "<density>0</density>")), "bad-inertia", "density"),
                                 (robot(collision(sphere.format(1)), "<mass>0</mass>"), "bad-inertia", "mass is 0"), (robot(collision("<polyline/>")), "not-supported", "not computed"),
                                 (robot(collision("<box/>")), "missing-field", "<size>"), (robot("<collision name='c'/>"), "missing-field", "<geometry>"),
                                 (robot(collision("<mesh><uri>a.stl</uri><submesh><name>x</name></submesh></mesh>")), "not-supported", "submesh"),
                                 (robot(collision(sphere.format(1), pose="<pose relative_to='no'/>")), "unknown-name", "no")):
            with self.subTest(text):
                problem = self.assertProblem(self.put_sdf("r", text), 422)
                self.assertEqual(problem["code"], code)
                self.assertIn(word, problem["detail"])


if __name__ == "__main__":
    tap.main()
