"""Tests every element and attribute of SDF 1.12 and of Drake's extensions, one at a time. Those of the class "irrelevant" change no number,
neither in the model nor, up to version 1.9, in what libsdformat reads; those "not held" (which a model cannot express) cause a warning with
their name; those "held" cause the change that the closed form of a pendulum predicts."""
import math
import os
import unittest
import xml.etree.ElementTree

import numpy as np
import tap
from pendulum import STATE, pendulum, turn
from schema_tables import Table, parse, without_appearance
from sdf import SKIP, SdfCase, read_all

TABLE = Table("sdf", "sdf", ("version",))
SCHEMA = "/usr/share/sdformat12/1.9"
FULL = "<mass>1</mass><inertia><ixx>1</ixx><ixy>0</ixy><ixz>0</ixz><iyy>1</iyy><iyz>0</iyz><izz>1</izz></inertia>"
AXIS = "<xyz>0.48 0.6 0.64</xyz>"
MODEL = ("<model name='m'><link name='b'><inertial><mass>1.5</mass><inertia><ixx>0.3</ixx><ixy>0</ixy><ixz>0</ixz><iyy>0.4</iyy><iyz>0</iyz><izz>0.5</izz></inertia>"
         "</inertial></link><joint name='j' type='revolute'><parent>world</parent><child>b</child><axis>" + AXIS + "</axis></joint></model>")
HEAD = "<sdf version='1.12'>"
BASE = HEAD + MODEL + "</sdf>"
WORLD = HEAD + "<world name='w'><gravity>0 0 -9.81</gravity>" + MODEL + "</world></sdf>"
TYPES = {"double": "0.37", "float": "0.37", "int": "3", "unsigned int": "3", "bool": "1", "string": "x", "vector3": "0.1 0.2 0.3", "vector2d": "0.1 0.2",
         "vector2i": "1 2", "pose": "0.1 0.2 0.3 0 0 0.1", "color": "0.1 0.2 0.3 1", "time": "1 2", "quaternion": "0 0 0 1", "char": "x", None: ""}


def in_radians(angles):
    return tuple(math.radians(angle) for angle in angles)


def fill(name):
    """Returns the attributes that an element requires."""
    return {"plugin": {"name": "p", "filename": "f"}}.get(name, {})


def file_of(item, value="0.37", text="0.37", version="1.12"):
    """Returns a file with the parents of an item, and the same file with the item."""
    files = []
    for given in (False, True):
        nested = (*item.path, item.name).count("model") > 1
        root = parse(WORLD if "world" in item.path or item.name == "world" else NESTED if nested else BASE)
        root.attributes["version"] = version
        node = root.reach(item.path[1:], fill)
        if item.path[-1] == "frame" and item.path[-2] in ("model", "world"):
            node.attributes["name"] = "f"
        if given and item.attribute:
            node.attributes[item.attribute] = value
        elif given:
            child = root.reach((*item.path[1:], item.name), fill)
            child.text = text
            if item.opaque:
                child.attributes["any"] = "1"
                child.children.append(parse("<any x='1'><gravity>0 0 1</gravity><mass>3</mass></any>"))
        files.append(root.write())
    return files


def changed(old, new, base=BASE, **expected):
    return lambda case: case.check_change(base.replace(old, new), pendulum(**expected), old != new and expected)


def in_axis(inside, **expected):
    return changed("</axis>", inside + "</axis>", **expected)


def in_inertial(inside, **expected):
    return changed("<inertial>", "<inertial>" + inside, **expected)


def entry(name, value):
    T = np.diag([0.3, 0.4, 0.5])
    i, j = {"ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}.get(name, ("xyz".index(name[1]),) * 2)
    old = f"{T[i, j]:g}"
    T[i, j] = T[j, i] = value
    return changed(f"<{name}>{old}<", f"<{name}>{value}<", tensor=T)


def limit(inside, expected):
    def check(case):
        text = BASE.replace("</axis>", f"<limit>{inside}</limit></axis>")
        case.take_sdf("held", text)
        case.assertEqual(case.ok(case.client.get("/v1/models/held"))["joints"][0].get("limits", {}), expected)
    return check


def structure(text, **expected):
    def check(case):
        taken = case.take_sdf("held", text)
        about = case.ok(case.client.get("/v1/models/held"))
        found = {"nv": taken["nv"], "names": about["velocity_names"], "types": [j["type"] for j in about["joints"]],
                 "links": about["bodies"], "pitch": [j.get("pitch") for j in about["joints"]]}
        case.assertEqual({key: found[key] for key in expected}, expected)
    return check


def refused(old, new, code, base=BASE):
    return lambda case: case.assertEqual(case.assertProblem(case.put_sdf("held", base.replace(old, new)), 422)["code"], code)


def told(old, new, code, words, base=BASE):
    def check(case):
        report = case.take_sdf("held", base.replace(old, new))["report"]
        case.assertTrue([e for e in report if e["code"] == code and words in e["text"]], report)
    return check


def two(inside, ratio, offset, outside=""):
    """Returns a check of a file with a second wheel that follows the first."""
    def check(case):
        wheel = f"<link name='c'><inertial>{FULL}</inertial></link><joint name='k' type='continuous'><parent>world</parent><child>c</child><axis><xyz>0 0 1</xyz>{inside}</axis>{outside}</joint></model>"
        case.take_sdf("held", BASE.replace("</model>", wheel))
        M = case.ask("held", "mass-matrix", {"q": [0.2]})["mass_matrix"]
        case.assertClose(M, [[pendulum()[0] / STATE[2] + ratio ** 2]], 1e-13, scale=1)
        pose = case.ask("held", "kinematics", {"q": [0.2], "frame": "c"})["poses"]["c"]["orientation"]
        half = (0.2 * ratio + offset) / 2
        case.assertClose(pose[2:], [math.sin(half), math.cos(half)], 1e-13, scale=1)
    return check


def weighed(inside, mass):
    """Returns a check of the mass of a link with a cube of 1 m as its collision and <inertial auto="true">."""
    def check(case):
        cube = "<collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>"
        start, end = BASE.index("<inertial>"), BASE.index("</inertial>")
        case.take_sdf("held", f"{BASE[:start]}<inertial auto='true'>{inside}</inertial>{cube}{BASE[end + len('</inertial>'):]}")
        document = case.ok(case.client.get("/v1/models/held/document"))
        case.assertEqual(document["links"][-1]["inertial"]["mass"], mass)
    return check


def placed(old, new, place, R=np.eye(3), frame="b", base=BASE, slides=False):
    """Returns a check of the pose of a frame at q = 0."""
    def check(case):
        taken = case.take_sdf("held", base.replace(old, new), "?base=fixed")
        pose = case.ask("held", "kinematics", {"q": [0] * taken["nq"], "frame": frame})["poses"][frame]
        case.assertClose(pose["position"], list(place), 1e-13, scale=1)
        x, y, z, w = pose["orientation"]
        found = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                 [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
        case.assertClose(np.ravel(found).tolist(), np.ravel(R).tolist(), 1e-13, scale=1)
    return check


def pose_of(owner, end):
    """Returns checks for the pose of an element that begins with `owner`; the frame `end` lies at this pose."""
    return {"pose": placed(owner, owner + "<pose>1 2 3 0.1 0.2 0.3</pose>", (1, 2, 3), turn((0.1, 0.2, 0.3)), end),
            "pose@degrees": placed(owner, owner + "<pose degrees='true'>1 2 3 20 -35 90</pose>", (1, 2, 3), turn(in_radians((20, -35, 90))), end),
            "pose@rotation_format": placed(owner, owner + "<pose rotation_format='quat_xyzw'>1 2 3 0 0 0.6 0.8</pose>", (1, 2, 3), turn((0, 0, 2 * math.asin(0.6))), end)}


TWO_LINKS = BASE.replace("</model>", f"<link name='c'><pose>1 0 0 0 0 0.5</pose><inertial>{FULL}</inertial></link><joint name='k' type='fixed'><parent>b</parent><child>c</child></joint></model>")
NESTED = BASE.replace("</model>", f"<model name='n'><link name='c'><pose>0 1 0 0 0 0</pose><inertial>{FULL}</inertial></link></model><joint name='k' type='revolute'><parent>b</parent><child>n::c</child><axis><xyz>0 0 1</xyz></axis></joint></model>")
SCREW = BASE.replace("revolute", "screw")
UNIVERSAL = BASE.replace("revolute", "universal").replace("</axis>", "</axis><axis2><xyz>0 0.8 -0.6</xyz></axis2>")
GEARS = BASE.replace("</model>", f"<link name='c'><inertial>{FULL}</inertial></link><link name='g'><inertial>{FULL}</inertial></link><joint name='w' type='fixed'><parent>world</parent>"
                     "<child>g</child></joint><joint name='k' type='revolute'><parent>g</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint>"
                     f"<link name='d'><inertial>{FULL}</inertial></link><joint name='l' type='revolute'><parent>g</parent><child>d</child><axis><xyz>0 0 1</xyz></axis></joint>"
                     "<joint name='gear' type='gearbox'><parent>c</parent><child>d</child><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>"
                     "<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>g</gearbox_reference_body></joint></model>")


def geared(case):
    case.take_sdf("held", GEARS)
    case.assertEqual([j["mimic"] for j in case.ok(case.client.get("/v1/models/held"))["joints"] if "mimic" in j], [{"joint": "k", "multiplier": -3, "offset": 0}])


ROTOR = "<drake:rotor_inertia>0.2</drake:rotor_inertia>"
HELD = {
    "sdf@version": refused("1.12", "2.0", "not-supported"),
    "sdf/model": structure(BASE, nv=1), "sdf/world": structure(WORLD, nv=1), "world@name": structure(WORLD, nv=1), "world/model": structure(WORLD, nv=1),
    "world/frame": structure(WORLD.replace("<model", "<frame name='F'><pose>1 2 3 0.1 0.2 0.3</pose></frame><model", 1), nv=1),
    "model@name": structure(NESTED, nv=2), "model/model": structure(NESTED, nv=2),
    "model@canonical_link": placed("<model name='n'>", "<model name='n' canonical_link='c'>", (0, 1, 0), frame="n::c", base=NESTED),
    "model@placement_frame": placed("<model name='n'>", "<model name='n' placement_frame='c'>", (0, 0, 0), frame="n::c", base=NESTED),
    "model/static": structure(NESTED.replace("<model name='n'>", "<model name='n'><static>1</static>").replace("<parent>world</parent><child>b</child>", "<parent>n::c</parent><child>b</child>", 1).replace(
        "<joint name='k' type='revolute'><parent>b</parent><child>n::c</child><axis><xyz>0 0 1</xyz></axis></joint>", ""), nv=1),
    "model/link": structure(BASE, nv=1), "link@name": structure(BASE.replace("'b'", "'arm'").replace(">b<", ">arm<"), links=["arm"]),
    "model/joint": structure(BASE, names=["j"]), "joint@name": structure(BASE.replace("'j'", "'lift'"), names=["lift"]), "joint@type": changed("revolute", "prismatic", slides=True),
    "model/frame": placed("</model>", "<frame name='F'><pose>0 0 2 0 0 0</pose></frame></model>", (0, 0, 2), frame="F"),
    "frame@name": placed("</model>", "<frame name='G'/></model>", (0, 0, 0), frame="G"),
    "frame@attached_to": placed("</model>", "<frame name='F' attached_to='c'><pose>0 0 2 0 0 0</pose></frame></model>", (1, 0, 2), turn((0, 0, 0.5)), "F", TWO_LINKS),
    **{f"frame/{k}": placed("</model>", f"<frame name='F'><pose {a}>{v}</pose></frame></model>", (1, 2, 3), R, "F", b) for k, a, v, R, b in (
        ("pose", "", "1 2 3 0.1 0.2 0.3", turn((0.1, 0.2, 0.3)), BASE), ("pose@degrees", "degrees='true'", "1 2 3 20 -35 90", turn(in_radians((20, -35, 90))), BASE),
        ("pose@rotation_format", "rotation_format='quat_xyzw'", "1 2 3 0 0 0.6 0.8", turn((0, 0, 2 * math.asin(0.6))), BASE),
        ("pose@relative_to", "relative_to='c'", f"{2 * math.sin(0.5)} {2 * math.cos(0.5)} 3 0 0 0", turn((0, 0, 0.5)), TWO_LINKS))},
    **{f"model/{k}": c for k, c in pose_of("<model name='m'>", "b").items()},
    "model/pose@relative_to": placed("<model name='n'>", "<model name='n'><pose relative_to='b'>0 0 2 0 0 0</pose>", (0, 1, 2), frame="n::c", base=NESTED),
    **{f"link/{k}": c for k, c in pose_of("<link name='b'>", "b").items()},
    "link/pose@relative_to": placed("<pose>1 0 0 0 0 0.5</pose>", "<pose relative_to='b'>2 0 0 0 0 0</pose>", (2, 0, 0), frame="c", base=TWO_LINKS),
    "world/gravity": changed("0 0 -9.81</gravity>", "0.5 0 -1.62</gravity>", base=WORLD.replace("<inertial>", "<inertial><pose>0.1 0.2 -0.3 0 0 0</pose>"), gravity=(0.5, 0, -1.62), com=(0.1, 0.2, -0.3)),
    "world/joint": structure(WORLD.replace("<joint name='j' type='revolute'><parent>world</parent><child>b</child><axis>" + AXIS + "</axis></joint></model>",
                                           "</model><joint name='j' type='revolute'><parent>world</parent><child>m::b</child><axis>" + AXIS + "</axis></joint>"), nv=1, names=["j"]),
    "link/inertial": in_inertial(""), "inertial@auto": refused("<inertial>", "<inertial auto='1'>", "bad-inertia"),
    "inertial/density": weighed("<density>500</density>", 500),
    "inertial/pose": in_inertial("<pose>0.1 0.2 -0.3 0.3 -0.2 0.5</pose>", com=(0.1, 0.2, -0.3), R_inertia=turn((0.3, -0.2, 0.5))),
    "inertial/pose@degrees": in_inertial("<pose degrees='1'>0.1 0.2 -0.3 20 -35 30</pose>", com=(0.1, 0.2, -0.3), R_inertia=turn(in_radians((20, -35, 30)))),
    "inertial/pose@rotation_format": in_inertial("<pose rotation_format='quat_xyzw'>0.1 0.2 -0.3 0 0 0.6 0.8</pose>", com=(0.1, 0.2, -0.3), R_inertia=turn((0, 0, 2 * math.asin(0.6)))),
    "inertial/pose@relative_to": told("<inertial>", "<inertial><pose relative_to='j'>0 0 0 0 0 0</pose>", "not-held", "relative_to"),
    "inertial/mass": changed("<mass>1.5<", "<pose>0.1 0.2 -0.3 0 0 0</pose><mass>2.5<", mass=2.5, com=(0.1, 0.2, -0.3)), "inertial/inertia": in_inertial(""),
    **{f"inertia/{name}": entry(name, value) for name, value in (("ixx", 0.6), ("ixy", 0.07), ("ixz", -0.06), ("iyy", 0.55), ("iyz", 0.05), ("izz", 0.45))},
    "link/gravity": told("<inertial>", "<gravity>0</gravity><inertial>", "compensated", "no gravity"), "link/kinematic": told("<inertial>", "<kinematic>1</kinematic><inertial>", "not-held", "kinematic"),
    **{f"joint/{k}": changed("</joint>", f"<pose {a}>{v}</pose></joint>", com=com, axis=tuple(R @ np.array([0.48, 0.6, 0.64])))
       for k, a, v, com, R in (("pose", "", "0.1 0.2 -0.3 0.1 0.2 0.3", (-0.1, -0.2, 0.3), turn((0.1, 0.2, 0.3))), ("pose@degrees", "degrees='1'", "0 0 0 20 -35 30", (0, 0, 0), turn(in_radians((20, -35, 30)))),
                               ("pose@rotation_format", "rotation_format='quat_xyzw'", "0 0 0 0 0 0.6 0.8", (0, 0, 0), turn((0, 0, 2 * math.asin(0.6)))),
                               ("pose@relative_to", "relative_to='__model__'", "0.1 0.2 -0.3 0 0 0", (-0.1, -0.2, 0.3), np.eye(3)))},
    "joint/parent": refused("<parent>world<", "<parent>x<", "unknown-name"), "joint/child": refused("<child>b<", "<child>x<", "unknown-name"),
    "joint/axis": changed("<axis>" + AXIS + "</axis>", "", axis=(0, 0, 1)), "axis/xyz": changed(AXIS, "<xyz>0 3 4</xyz>", axis=(0, 0.6, 0.8)),
    "axis/xyz@expressed_in": changed("<link name='b'>", "<link name='b'><pose>0 0 0 0.4 0 0</pose>", base=BASE.replace("<xyz>", "<xyz expressed_in='__model__'>"),
                                     axis=tuple(turn((0.4, 0, 0)).T @ np.array([0.48, 0.6, 0.64])), R=turn((0.4, 0, 0))),
    "axis2/mimic": structure(UNIVERSAL.replace("-0.6</xyz></axis2>", "-0.6</xyz><mimic joint='k'/></axis2>").replace("</model>", f"<link name='c'><inertial>{FULL}</inertial></link><joint name='k' type='revolute'><parent>world</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint></model>"), nv=2, names=["j.1", "k"]),
    "joint/axis2": structure(UNIVERSAL, nv=2, names=["j.1", "j.2"]), "axis2/xyz": structure(UNIVERSAL, nv=2), "axis2/xyz@expressed_in": structure(UNIVERSAL.replace("<axis2><xyz>", "<axis2><xyz expressed_in='b'>"), nv=2),
    "joint/thread_pitch": structure(SCREW.replace("</joint>", "<thread_pitch>-4</thread_pitch></joint>"), pitch=[0.25]),
    "joint/screw_thread_pitch": structure(SCREW.replace("</joint>", f"<screw_thread_pitch>{math.pi}</screw_thread_pitch></joint>"), pitch=[0.5]),
    "joint/gearbox_ratio": geared, "joint/gearbox_reference_body": geared,
    "axis/limit": limit("<lower>-1</lower><upper>2</upper>", {"position": [-1, 2]}), "limit/lower": limit("<lower>-0.5</lower><upper>2</upper>", {"position": [-0.5, 2]}),
    "limit/upper": limit("<lower>-1</lower><upper>1.5</upper>", {"position": [-1, 1.5]}), "limit/effort": limit("<effort>3</effort>", {"effort": 3}), "limit/velocity": limit("<velocity>4</velocity>", {"velocity": 4}),
    "axis2/limit": structure(UNIVERSAL.replace("</axis2>", "<limit><effort>3</effort></limit></axis2>"), nv=2),
    "axis2/dynamics": structure(UNIVERSAL.replace("</axis2>", "<dynamics><damping>3</damping></dynamics></axis2>"), nv=2),
    "axis/dynamics": in_axis("<dynamics><damping>2</damping><friction>3</friction></dynamics>", damping=2, friction=3), "dynamics/damping": in_axis("<dynamics><damping>2</damping></dynamics>", damping=2),
    "dynamics/friction": in_axis("<dynamics><friction>3</friction></dynamics>", friction=3), "dynamics/spring_stiffness": in_axis("<dynamics><spring_stiffness>5</spring_stiffness></dynamics>", stiffness=5),
    "dynamics/spring_reference": in_axis("<dynamics><spring_stiffness>5</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>", stiffness=5, rest=0.1),
    "axis/mimic": two("<mimic joint='j'/>", 1, 0), "mimic@joint": two("<mimic joint='j'/>", 1, 0), "mimic@axis": two("<mimic joint='j' axis='axis'/>", 1, 0),
    "mimic/multiplier": two("<mimic joint='j'><multiplier>-2</multiplier></mimic>", -2, 0), "mimic/offset": two("<mimic joint='j'><offset>0.5</offset></mimic>", 1, 0.5),
    "mimic/reference": two("<mimic joint='j'><multiplier>-2</multiplier><reference>0.3</reference></mimic>", -2, 0.6),
    "joint/drake:mimic": two("", 1, 0, "<drake:mimic joint='j'/>"), "drake:mimic@joint": two("", 1, 0, "<drake:mimic joint='j'/>"),
    "drake:mimic@multiplier": two("", -2, 0, "<drake:mimic joint='j' multiplier='-2'/>"), "drake:mimic@offset": two("", 1, 0.5, "<drake:mimic joint='j' offset='0.5'/>"),
    "joint/drake:rotor_inertia": changed("</joint>", ROTOR + "</joint>", rotor=0.2), "axis/drake:rotor_inertia": in_axis(ROTOR, rotor=0.2),
    "joint/drake:gear_ratio": changed("</joint>", ROTOR + "<drake:gear_ratio>3</drake:gear_ratio></joint>", rotor=1.8), "axis/drake:gear_ratio": in_axis(ROTOR + "<drake:gear_ratio>3</drake:gear_ratio>", rotor=1.8),
    "axis2/drake:rotor_inertia": structure(UNIVERSAL.replace("</axis2>", ROTOR + "</axis2>"), nv=2), "axis2/drake:gear_ratio": structure(UNIVERSAL.replace("</axis2>", ROTOR + "</axis2>"), nv=2),
}


def keys_of(item):
    path = (*item.path, *([item.name] if item.name else ()))
    end = "@" + item.attribute if item.attribute else ""
    return ["/".join(path[-n:]) + end for n in (3, 2, 1) if len(path) >= n]


class Schema(SdfCase):
    def check_change(self, text, expected, differs):
        self.take_sdf("held", text)
        q, qd, qdd = STATE
        answer = self.ask("held", "inverse-dynamics", {"q": [q], "qd": [qd], "qdd": [qdd]})
        self.assertClose(answer["tau"], [expected[0]], 1e-13, scale=1, what=text)
        if differs:
            self.assertGreater(abs(pendulum()[0] - expected[0]), 1e-3, text)

    def of(self, use, least):
        found = [item for item in TABLE.items() if item.use == use]
        self.assertGreaterEqual(len(found), least)
        return found

    def test_counts(self):
        counts = TABLE.counts()
        print("# SDF 1.12 and extensions: " + ", ".join(f"{use} {counts[use, 'element']} elements and {counts[use, 'attribute']} attributes"
                                                         for use in ("held", "expanded", "irrelevant", "not held")))
        self.assertGreaterEqual(sum(counts.values()), 700)

    def test_irrelevant(self):
        """An irrelevant item changes nothing in the model except the shapes of links, and the report has no warning."""
        for item in self.of("irrelevant", 600):
            without, given = file_of(item)
            first, second = self.take_sdf("without", without), self.take_sdf("given", given)
            if first["revision"] != second["revision"]:
                self.assertEqual(without_appearance(self.client, "without"), without_appearance(self.client, "given"), given)
            old = [e["text"] for e in first["report"]]
            self.assertEqual([e["text"] for e in second["report"] if e["severity"] == "warning" and e["text"] not in old], [], given)

    def test_not_held(self):
        for item in self.of("not held", 19):
            without, given = file_of(item)
            first, second = self.take_sdf("without", without), self.take_sdf("given", given)
            self.assertEqual(first["revision"], second["revision"], given)
            name = item.attribute or f"<{item.name}>"
            self.assertTrue([e for e in second["report"] if e["code"] == "not-held" and e["severity"] == "warning" and name in e["text"]], (given, second))
            for word in (item.dropped or "").split():
                quiet = self.take_sdf("quiet", file_of(item, text=f" {word}\n")[1])
                self.assertFalse([e for e in quiet["report"] if e["code"] == "not-held"], (word, quiet))

    def test_expanded(self):
        """Files that contain what a preprocessor should have expanded are refused."""
        for item in self.of("expanded", 1):
            self.assertEqual(self.assertProblem(self.put_sdf("refused", file_of(item)[1]), 422)["code"], "not-supported")

    def test_held(self):
        used = set()
        for item in self.of("held", 80):
            key = next((key for key in keys_of(item) if key in HELD), None)
            self.assertIsNotNone(key, item)
            used.add(key)
            try:
                HELD[key](self)
            except AssertionError as error:
                raise AssertionError(key) from error
        self.assertEqual(used, set(HELD))

    def test_unknown(self):
        """Unknown elements and attributes cause a warning everywhere except inside free content. `frame` and
        `use_parent_model_frame` are unknown from 1.7 on, gravity in physics from 1.6 on."""
        tried = 0
        for path in TABLE.paths.values():
            if len(path) > 1 and TABLE.is_closed(TABLE.row_of(path[:-1], path[-1])):
                continue
            for inside in ("<unheard/>", ""):
                root = parse(WORLD if "world" in path else BASE)
                node = root.reach(path[1:], fill)
                if inside:
                    node.children.append(parse(inside))
                else:
                    node.attributes["unheard"] = "1"
                answer = self.put_sdf("unknown", root.write())
                if answer.status >= 400:
                    continue  # an element that requires content
                tried += 1
                found = [e for e in answer.json()["report"] if e["code"] == "unknown" and "unheard" in e["text"]]
                self.assertEqual(len(found), 1, (path, inside, answer))
        self.assertGreater(tried, 1100)


@unittest.skipIf(SKIP or (None if os.path.isdir(SCHEMA) else "no sdformat here"), SKIP or "no sdformat here")
class Peer(SdfCase):
    """Compares with the schema of Debian's libsdformat, with legal values of each type."""

    def schema(self):
        """Returns (path, attribute or None, type) of everything in version 1.9, once for each pair of names."""
        files, found = {}, {}

        def walk(element, path):
            path = (*path, element.get("name"))
            if len(path) > 1 and found.setdefault((path[-2:], None), (path, None, element.get("type")))[0] != path:
                return
            for attribute in element.findall("attribute"):
                found.setdefault((path[-2:], attribute.get("name")), (path, attribute.get("name"), attribute.get("type")))
            for child in element:
                if child.tag == "include":
                    name = child.get("filename")
                    if not os.path.exists(os.path.join(SCHEMA, name)):
                        continue  # missing in Debian's package
                    files.setdefault(name, xml.etree.ElementTree.parse(os.path.join(SCHEMA, name)).getroot())
                    if path.count(files[name].get("name")) < 2:
                        walk(files[name], path)
                elif child.tag == "element" and child.get("name") and not child.get("ref"):
                    walk(child, path)
        walk(xml.etree.ElementTree.parse(os.path.join(SCHEMA, "root.sdf")).getroot(), ())
        return list(found.values())

    def is_listed(self, path):
        """Returns the class of an element of the schema, or None inside an element whose content the reader skips."""
        for n in range(2, len(path)):
            row = TABLE.row_of(path[:n - 1], path[n - 1])
            if row is None or TABLE.is_closed(row):
                return None
        return TABLE.row_of(path[:-1], path[-1]) or "missing"

    def test_all_of_the_schema_is_listed(self):
        schema = self.schema()
        self.assertGreater(len(schema), 700)
        for path, attribute, _ in schema:
            row = self.is_listed(path) if len(path) > 1 else None
            self.assertNotEqual(row, "missing", path)
            if row and attribute and row.attributes is not None:
                self.assertIn(attribute, f"{row.attributes} {row.dropped or ''}".split(), path)

    def test_irrelevant_for_libsdformat(self):
        """libsdformat reads the same poses, inertias, axes and gravity with each irrelevant element at a legal value."""
        groups = {}
        for path, attribute, kind in self.schema():
            row = self.is_listed(path) if len(path) > 1 else None
            if row is not None and row != "missing" and row.use == "API_XML_DROPPED" and not attribute:
                groups.setdefault(path[:-1], []).append((path, kind))
        plain = {head: self.read([((head,), None)])[0] for head in ("sdf", "world")}
        accepted = total = 0
        halves = [part for group in groups.values() for part in (group[::2], group[1::2]) if part]
        for part, theirs in zip(halves, self.read(halves)):
            total += len(part)
            if theirs is None:
                continue  # libsdformat refuses the group: an element requires further ones
            accepted += len(part)
            self.assertEqual(theirs, plain["world" if part[0][0][1] == "world" else "sdf"], part)
        print(f"# libsdformat reads {accepted} of {total} irrelevant elements of version 1.9, without an effect")
        self.assertGreater(accepted, 0.6 * total)

    NEEDED = {"visual": {"name": "v"}, "collision": {"name": "c"}, "sensor": {"name": "s", "type": "imu"}, "light": {"name": "l", "type": "point"},
              "physics": {"type": "ode"}}

    def read(self, groups):
        """Returns what libsdformat reads for each group of items with one path and type; the file of a group contains all its items."""
        texts = []
        for group in groups:
            first = group[0] if isinstance(group, tuple) else group[0][0]
            root = parse((WORLD if "world" in first[:2] else BASE).replace("1.12", "1.9"))
            for path, kind in group if isinstance(group, list) else ():
                root.reach(path[1:], lambda name: {**fill(name), **self.NEEDED.get(name, {})}).text = TYPES.get(kind, "x")
            texts.append(root.write())
        return read_all(texts)[0]


if __name__ == "__main__":
    tap.main()
