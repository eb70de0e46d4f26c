"""Tests that a body with mass and without inertia about an axis about which it turns is reported, whatever the format: numbers
that an encoder rounded to 0, as R's jsonlite does with its default of four decimals."""
import json

import tap
from harness import ServerCase

SMALL = 3.2e-5  # kg m^2; rounded to four decimals this is 0


def link(name, parent, inertia, axis=(0, 1, 0), kind="revolute", mass=0.0123, **more):
    joint = {"name": "j_" + name, "type": kind}
    if axis:
        joint["axis"] = list(axis)
    return {"name": name, "parent": parent, "joint": {**joint, **more},
            "inertial": {"mass": mass, "com": [0, 0, 0.01], "inertia": dict(zip(("xx", "yy", "zz"), inertia))}}


class PointMasses(ServerCase):
    def points(self, body, media="application/json", name="robot"):
        text = json.dumps(body) if isinstance(body, dict) else body
        answer = self.client.put(f"/v1/models/{name}", text, Content_Type=media)
        self.assertIn(answer.status, (200, 201), answer)
        return [(e["where"], e["text"]) for e in answer.json()["report"] if "point mass" in e["text"]]

    def test_an_encoder_that_rounds(self):
        """A link of 0.0123 kg and 3.2e-5 kg m^2: with all digits nothing is reported, with four decimals the missing inertia is."""
        document = {"links": [link("tip", "base", [SMALL] * 3)]}
        self.assertEqual(self.points(document), [])
        right = self.ask("robot", "mass-matrix", {"q": [0]})["mass_matrix"][0][0]
        found = self.points({"links": [link("tip", "base", [round(SMALL, 4)] * 3)]})
        self.assertEqual([where for where, _ in found], ["/links/0/inertial"])
        self.assertIn('"tip" has a mass of 0.0123 kg and no inertia about the axis of joint "j_tip"', found[0][1])
        self.assertGreater(right / self.ask("robot", "mass-matrix", {"q": [0]})["mass_matrix"][0][0], 20)

    def test_only_axes_that_turn_count(self):
        """A thin rod has no inertia about its length. That is reported only if the rod turns about its length."""
        for inertia, axis, found in (([0, 1e-4, 1e-4], (1, 0, 0), 1), ([0, 1e-4, 1e-4], (0, 1, 0), 0),
                                     ([0, 1e-4, 1e-4], (1, 1, 0), 0), ([1e-4, 0, 1e-4], (0, -1, 0), 1)):
            self.assertEqual(len(self.points({"links": [link("rod", "base", inertia, axis)]})), found, (inertia, axis))

    def test_slides_turn_with_their_parents(self):
        """A mass on a slide needs no inertia, unless a joint nearer to the base turns it. Then it needs one about the axis of that joint,
        which has a fixed direction in the slide."""
        slide = link("slide", "base", [0, 0, 0], kind="prismatic")
        self.assertEqual(self.points({"links": [slide]}), [])
        turned = {"rpy": [0, 0, 1.5707963267948966]}  # the y axis of the arm is the -x axis of the slide
        for inertia, found in (([0, 1e-4, 1e-4], 1), ([1e-4, 0, 1e-4], 0), ([0, 0, 0], 1)):
            links = [link("arm", "base", [1e-3] * 3), link("slide", "arm", inertia, kind="prismatic", origin=turned)]
            self.assertEqual([where for where, _ in self.points({"links": links})], ["/links/1/inertial"] * found, inertia)

    def test_bodies_count_as_a_whole(self):
        """Links that are fixed to each other are one body: a point mass at a distance from the axis gives the body inertia, as an inertia tensor
        does."""
        links = [link("arm", "base", [0, 0, 0], mass=0), link("bolt", "arm", [0, 0, 0], axis=None, kind="fixed")]
        self.assertEqual([where for where, _ in self.points({"links": links})], ["/links/0/inertial"])
        links[0] = link("arm", "base", [1e-3] * 3)
        self.assertEqual(self.points({"links": links}), [])

    def test_joints_of_all_axes(self):
        for kind in ("spherical", "floating"):
            self.assertEqual(len(self.points({"links": [link("ball", "base", [0, 1e-4, 1e-4], None, kind)]})), 1, kind)
            self.assertEqual(len(self.points({"links": [link("ball", "base", [1e-4] * 3, None, kind)]})), 0, kind)
        base = {"type": "floating", "link": "trunk", "inertial": {"mass": 2, "com": [0, 0, 0], "inertia": {"xx": 0, "yy": 0, "zz": 0}}}
        found = self.points({"base": base, "links": [link("arm", "trunk", [1e-3] * 3)]})
        self.assertEqual([where for where, _ in found], ["/base/inertial"])

    def test_files(self):
        urdf = """<robot name="r"><link name="base"/><link name="tip"><inertial><mass value="0.0123"/>
            <inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/></inertial></link>
            <joint name="j" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>"""
        sdf = """<sdf version="1.9"><model name="r"><link name="tip"><inertial><mass>0.0123</mass><inertia><ixx>{0}</ixx>
            <iyy>{0}</iyy><izz>{0}</izz></inertia></inertial></link>
            <joint name="j" type="revolute"><parent>world</parent><child>tip</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""
        for media, text in (("application/urdf+xml", urdf), ("application/sdf+xml", sdf)):
            self.assertEqual(self.points(text.format(SMALL), media), [], media)
            self.assertEqual(len(self.points(text.format(0), media)), 1, media)

    def test_bundled_robots_have_none(self):
        for model in self.client.get("/v1/models").json()["models"]:
            if model["name"] == "robot":
                continue
            document = self.client.get(f"/v1/models/{model['name']}/document").json()
            self.assertEqual(self.points(document, name="again"), [], model["name"])


if __name__ == "__main__":
    tap.main()
