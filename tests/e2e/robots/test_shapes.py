"""Tests the shapes of links: in documents, read from URDF, MJCF and SDF, and written again. Shapes have no part in the dynamics."""
import glob
import json
import os
import subprocess
import tempfile
import unittest

import tap
from harness import BINARY, ROOT, ServerCase
from samples import pendulum

BOX = {"solid": "box", "size": [0.1, 0.2, 0.3], "xyz": [0, 0, -0.15], "rpy": [0, 0.5, 0], "rgba": [1, 0.5, 0, 1]}
MESH = {"mesh": "package://arm/meshes/arm.stl", "scale": [0.001, 0.001, 0.001]}
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def convert(text, ending, *options):
    """Returns the exit status, the output and the messages of `torqued convert` for a file with that text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "robot." + ending)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([BINARY, "convert", *options, path], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def shapes_of(document):
    """Maps the names of links, that of the base included, to their shapes."""
    links = [dict(document["base"], name=document["base"]["link"]), *document["links"]] if "links" in document else []
    return {link["name"]: link["visual"] for link in links if "visual" in link}


def figures(shapes):
    """The kind, size, position and colour of each shape, with nine decimals."""
    def rounded(entry, key, default):
        return [round(x, 9) + 0.0 for x in entry.get(key, default)]
    return {name: [(entry["solid"], rounded(entry, "size", []), rounded(entry, "xyz", [0, 0, 0]), rounded(entry, "rgba", [])) for entry in entries]
            for name, entries in shapes.items()}


def urdf(visuals, robot="", version=""):
    return (f'<robot name="r"{version}>{robot}<link name="base"/><link name="arm">{INERTIAL}{visuals}</link>'
            '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>')


class Documents(ServerCase):
    def put(self, visual, where="links"):
        document = pendulum()
        if where == "base":
            document["base"] = {"visual": visual}
        else:
            document["links"][0]["visual"] = visual
        return self.client.put("/v1/models/shaped", document)

    def test_a_document_keeps_them(self):
        for where in ("links", "base"):
            self.assertIn(self.put([BOX, MESH], where).status, (200, 201))
            kept = self.client.get("/v1/models/shaped/document").json()
            self.assertEqual((kept["base"] if where == "base" else kept["links"][0])["visual"], [BOX, MESH])

    def test_no_part_in_the_dynamics(self):
        """The answers have the same bits with and without shapes."""
        self.client.put("/v1/models/plain", pendulum())
        self.put([BOX, MESH])
        n = self.client.get("/v1/models/plain").json()["nv"]
        state = {"q": [0.3] * n, "qd": [-0.7] * n, "qdd": [1.1] * n}
        bodies = [self.client.post(f"/v1/models/{name}/inverse-dynamics", state).body for name in ("plain", "shaped")]
        self.assertEqual(bodies[0], bodies[1])

    def test_refusals_name_the_field(self):
        for change, code, field in (({"solid": "cone"}, "bad-value", "solid"), ({"size": [1, 2]}, "wrong-shape", "size"),
                                    ({"size": [1, 2, -1]}, "bad-value", "size"), ({"rgba": [0, 0, 0, 2]}, "bad-value", "rgba"),
                                    ({"rgba": [0, 0, 0]}, "wrong-shape", "rgba"), ({"colour": "red"}, "unknown-field", "colour")):
            answer = self.put([BOX, {**BOX, **change}])
            self.assertEqual((answer.status, answer.json()["code"], answer.json()["pointer"]), (422, code, f"/links/0/visual/1/{field}"), change)
        for visual in ({"mesh": "a.stl", "size": [1]}, {"size": [1]}, {"mesh": ""}):
            self.assertEqual(self.put([visual]).status, 422, visual)
        answer = self.put([{"solid": "sphere", "size": [1]}] * 1001)
        self.assertEqual((answer.status, answer.json()["code"]), (413, "model-too-large"))


class Files(unittest.TestCase):
    def read(self, text, ending, *options):
        status, out, messages = convert(text, ending, *options)
        self.assertEqual(status, 0, messages)
        return shapes_of(json.loads(out))

    def test_urdf(self):
        """Every shape of the format, with its pose, and its colour from the visual or from the robot's materials."""
        visuals = "".join(f'<visual><origin xyz="0 0 1" rpy="0 0 0.5"/><geometry>{shape}</geometry><material name="m"/></visual>' for shape in (
            '<box size="1 2 3"/>', '<cylinder radius="0.1" length="0.4"/>', '<sphere radius="0.2"/>', '<capsule radius="0.1" length="0.4"/>',
            '<mesh filename="package://r/a.stl" scale="2 2 2"/>'))
        found = self.read(urdf(visuals, '<material name="m"><color rgba="0 0 1 1"/></material>', ' version="1.2"'), "urdf")["arm"]
        place = {"xyz": [0, 0, 1], "rpy": [0, 0, 0.5], "rgba": [0, 0, 1, 1]}
        self.assertEqual(found, [{"solid": "box", "size": [1, 2, 3], **place}, {"solid": "cylinder", "size": [0.1, 0.4], **place},
                                 {"solid": "sphere", "size": [0.2], **place}, {"solid": "capsule", "size": [0.1, 0.4], **place},
                                 {"mesh": "package://r/a.stl", "scale": [2, 2, 2], **place}])

    def test_what_cannot_be_drawn_never_refuses_a_file(self):
        broken = ('<visual/>', '<visual><geometry/></visual>', '<visual><geometry><box size="1 2"/></geometry></visual>',
                  '<visual><geometry><sphere radius="-1"/></geometry></visual>', '<visual><geometry><mesh filename=""/></geometry></visual>',
                  '<visual><origin xyz="a"/><geometry><sphere radius="1"/></geometry></visual>',
                  f'<visual><geometry><mesh filename="{"x" * 300}"/></geometry></visual>')
        good = '<visual><geometry><sphere radius="1"/></geometry></visual>'
        self.assertEqual(self.read(urdf("".join(broken) + good), "urdf")["arm"], [{"solid": "sphere", "size": [1]}])
        self.assertEqual(len(self.read(urdf(good * 1005), "urdf")["arm"]), 1000)
        report = subprocess.run([BINARY, "check", "-"], input=urdf("".join(broken) + good), capture_output=True, text=True, check=False).stdout
        self.assertIn("7 of 8 <visual> of the link are not drawn", report)

    def test_a_colour_outside_0_to_1_is_moved_inside_and_reported(self):
        text = urdf('<visual><geometry><sphere radius="1"/></geometry><material name="m"><color rgba="255 0 -1 1"/></material></visual>')
        self.assertEqual(self.read(text, "urdf")["arm"], [{"solid": "sphere", "size": [1], "rgba": [1, 0, 0, 1]}])
        report = subprocess.run([BINARY, "check", "-"], input=text, capture_output=True, text=True, check=False).stdout
        self.assertIn("outside 0 to 1", report)

    def test_bounds_of_all_links(self):
        """A document with more than 10 000 shapes is refused; of a robot file only the first 10 000 are read."""
        shapes = [{"solid": "sphere", "size": [1]}] * 1000
        links = [{"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "joint": {"name": f"j{i}", "type": "fixed" if i else "continuous",
                                                                                    **({} if i else {"axis": [0, 0, 1]})}, "visual": shapes} for i in range(11)]
        self.assertEqual(convert(json.dumps({"links": links[:10]}), "json")[0], 0)
        status, _, messages = convert(json.dumps({"links": links}), "json")
        self.assertNotEqual(status, 0)
        self.assertIn("together at most 10000 shapes", messages)
        bodies = "".join(f'<body name="b{i}"><joint axis="0 0 1"/>' + '<geom size="1"/>' * 1000 + "</body>" for i in range(11))
        found = self.read(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", "xml")
        self.assertEqual(sum(len(entries) for entries in found.values()), 10000)

    def test_mjcf(self):
        """Of MJCF, the geoms in the groups that MuJoCo draws by default become shapes. Sizes in MJCF are half lengths, and classes may give
        attributes; a mesh has the pose that the file states."""
        text = ('<mujoco><default><default class="v"><geom group="2" rgba="0 1 0 1"/></default></default><asset><material name="k" rgba=".1 .2 .3 1"/>'
                '<mesh name="p" file="p.obj" scale="2 2 2"/></asset><worldbody><geom type="plane" size="1 1 1"/><body name="b"><joint axis="0 1 0"/>'
                '<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".05" material="k"/><geom class="v" type="box" size=".1 .2 .3" pos="1 0 0"/>'
                '<geom type="mesh" mesh="p" mass="0" pos="0 1 0"/><geom group="3" size="1"/><geom size="1" rgba="0 0 0 0"/></body></worldbody></mujoco>')
        found = self.read(text, "xml")["b"]
        self.assertEqual([{key: entry[key] for key in entry if key != "rpy"} for entry in found],
                         [{"solid": "capsule", "size": [0.05, 0.5], "xyz": [0, 0, -0.25], "rgba": [0.1, 0.2, 0.3, 1]},
                          {"solid": "box", "size": [0.2, 0.4, 0.6], "xyz": [1, 0, 0], "rgba": [0, 1, 0, 1]},
                          {"mesh": "p.obj", "scale": [2, 2, 2], "xyz": [0, 1, 0]}])

    def test_geoms_that_are_not_drawn_are_counted(self):
        """The report counts a plane, a mesh of inline vertices and a mesh that is moved by refpos, but no hidden geom."""
        text = ('<mujoco><asset><mesh name="v" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><mesh name="r" file="r.obj" refpos="1 0 0"/></asset><worldbody>'
                '<body name="b"><joint axis="0 1 0"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><geom type="plane" size="1 1 1" mass="0"/>'
                '<geom type="mesh" mesh="v" mass="0"/><geom type="mesh" mesh="r" mass="0"/><geom size="1" group="3"/></body></worldbody></mujoco>')
        report = subprocess.run([BINARY, "check", "-"], input=text, capture_output=True, text=True, check=False).stdout
        self.assertIn("3 <geom> are not drawn", report)

    def test_sdf(self):
        """A pose in another frame, the diffuse colour and transparency; a plane is left out."""
        text = ('<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link><link name="b"><pose>0 0 1 0 0 0</pose>'
                '<visual name="v"><pose relative_to="a">0 0 1.5 0 0 0</pose><transparency>.5</transparency><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid>'
                '</geometry><material><diffuse>1 0 0 1</diffuse></material></visual><visual name="p"><geometry><plane/></geometry></visual></link>'
                '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>')
        self.assertEqual(self.read(text, "sdf"), {"b": [{"solid": "ellipsoid", "size": [1, 2, 3], "xyz": [0, 0, 0.5], "rgba": [1, 0, 0, 0.5]}]})

    def test_bundled_robots_keep_theirs_in_every_format(self):
        """After writing and reading, each robot has all its shapes except those that the format lacks."""
        for path in sorted(glob.glob(os.path.join(ROOT, "models", "*.json"))):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            shapes = shapes_of(document)
            self.assertTrue(shapes or "screws" in document, path)
            for form, ending in (("mjcf", "xml"), ("sdf", "sdf")):
                done = subprocess.run([BINARY, "convert", path, "--to", form], capture_output=True, text=True, check=False)
                status, out, _ = convert(done.stdout, ending, *(("--loops", "open") if form == "sdf" else ()))
                if status == 0:  # the figures of puma560 are refused in MJCF
                    found = shapes_of(json.loads(out))
                    self.assertEqual(figures(found), figures(shapes), (path, form))

    def test_urdf_says_what_it_lacks(self):
        """Ellipsoids are counted; a capsule of version 1.0 is a cylinder between two balls."""
        links = [{"name": "a", "parent": "base", "joint": {"name": "j", "type": "continuous", "axis": [0, 0, 1]},
                  "visual": [{"solid": "ellipsoid", "size": [1, 1, 2]}, {"solid": "capsule", "size": [0.1, 1]}]}]
        _, out, messages = convert(json.dumps({"links": links}), "json", "--to", "urdf")
        self.assertIn("1 shapes of links are not part of the file: URDF has no ellipsoids", messages)
        found = self.read(out, "urdf")["a"]
        self.assertEqual([(entry["solid"], entry.get("xyz")) for entry in found], [("cylinder", None), ("sphere", [0, 0, -0.5]), ("sphere", [0, 0, 0.5])])
        _, out, _ = convert(json.dumps({"links": links}), "json", "--to", "urdf", "--urdf-version", "1.2")
        self.assertEqual([entry["solid"] for entry in self.read(out, "urdf")["a"]], ["capsule"])


tap.main()
