"""Tests every element and attribute of URDF 1.2 and of its extensions, one at a time. Those of the class "irrelevant" change no number, those
"not held" (without a counterpart in the server's models) cause a warning with their name, those "held" cause the change that the closed form of
a pendulum predicts."""
import math

import numpy as np
import tap
from pendulum import STATE, pendulum, turn
from schema_tables import Table, parse, without_appearance
from urdf import UrdfCase

TABLE = Table("urdf", "robot", ("name", "version"))
BASE = """<robot name="r" version="1.2"><link name="w"/><link name="a"><inertial><mass value="1.5"/>
<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="w"/><child link="a"/><axis xyz="0.48 0.6 0.64"/></joint></robot>"""
NAMES = {"joint": "j", "link": "a"}


def fill(name):
    """Returns the attributes that an element requires."""
    return {"transmission": {"name": "t"}, "actuator": {"name": "m"}, "gazebo": {}}.get(name, {})


def file_of(item, value="0.37", text=""):
    """Returns a file with the parents of an item, and the same file with the item."""
    files = []
    for given in (False, True):
        robot = parse(BASE)
        node = robot.reach(item.path[1:], fill)
        if given and item.attribute:
            node.attributes[item.attribute] = value
        elif given:
            robot.reach((*item.path[1:], item.name), fill) if node.find(item.name) is None else node.children.append(parse(f"<x/>"))
            child = node.find(item.name)
            child.text = text
            if item.opaque:
                child.attributes["any"] = "1"
                child.children.append(parse("<any x='1'><gravity>0 0 1</gravity><mass value='3'/></any>"))
        files.append(robot.write())
    return files


SYMMETRIC = {"ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}


def tensor_with(name, value):
    T = np.diag([0.3, 0.4, 0.5])
    i, j = SYMMETRIC.get(name, ("xyz".index(name[1]),) * 2)
    T[i, j] = T[j, i] = value
    return T


def changed(old, new, **expected):
    return lambda case: case.check_change(BASE.replace(old, new), pendulum(**expected), old != new)


INERTIAL = "<inertial>"
ORIGIN = '<axis xyz="0.48 0.6 0.64"/>'
QUATERNION = (0.1, -0.2, 0.3, 0.4)
X, Y, Z, W = np.array(QUATERNION) / np.linalg.norm(QUATERNION)
BY_QUATERNION = np.array([[1 - 2 * (Y * Y + Z * Z), 2 * (X * Y - Z * W), 2 * (X * Z + Y * W)],
                          [2 * (X * Y + Z * W), 1 - 2 * (X * X + Z * Z), 2 * (Y * Z - X * W)],
                          [2 * (X * Z - Y * W), 2 * (Y * Z + X * W), 1 - 2 * (X * X + Y * Y)]])
JOINT_END = "</joint>"


def in_joint(inside, **expected):
    return changed(JOINT_END, inside + JOINT_END, **expected)


def geared(inside, rotor):
    return changed("</robot>", f'<transmission name="t"><joint name="j"/><actuator name="m">{inside}</actuator></transmission></robot>', rotor=rotor)


def limits(attribute, value, expected):
    def check(case):
        case.take("held", BASE.replace(JOINT_END, f'<limit lower="-1" upper="2" effort="3" velocity="4"/>{JOINT_END}').replace(
            {"lower": "-1", "upper": '"2', "effort": '"3', "velocity": '"4'}[attribute], value))
        case.assertEqual(case.ok(case.client.get("/v1/models/held"))["joints"][0]["limits"], expected)
    return check


def structure(text, **expected):
    def check(case):
        taken = case.take("held", text)
        about = case.ok(case.client.get("/v1/models/held"))
        case.assertEqual({key: {"nv": taken["nv"], "names": about["velocity_names"], "links": about["bodies"],
                                "types": [j["type"] for j in about["joints"]]}[key] for key in expected}, expected)
    return check


def mimic(inside, ratio, offset):
    def check(case):
        text = BASE.replace("</robot>", '<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
                            f'</inertial></link><joint name="k" type="continuous"><parent link="w"/><child link="b"/><axis xyz="0 0 1"/>{inside}</joint></robot>')
        case.take("held", text, "?mimic=coupled")
        M = case.ask("held", "mass-matrix", {"q": [0.2]})["mass_matrix"]
        T = pendulum()[0] / STATE[2]
        case.assertClose(M, [[T + ratio ** 2]], 1e-14, scale=1)
        pose = case.ask("held", "kinematics", {"q": [0.2], "frame": "b"})["poses"]["b"]["orientation"]
        case.assertClose(pose[2:], [math.sin((0.2 * ratio + offset) / 2), math.cos((0.2 * ratio + offset) / 2)], 1e-14, scale=1)
    return check


HELD = {
    "robot@name": structure(BASE, nv=1),
    "robot@version": lambda case: case.refuse(BASE.replace('"1.2"', '"2.0"'), 422, "not-supported"),
    "robot/link": structure(BASE.replace("</robot>", '<link name="b"/><joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'), nv=1),
    "link@name": structure(BASE.replace('"a"', '"arm"'), links=["arm"]),
    "link/inertial": changed("</inertial>", "</inertial>"),
    "inertial/origin": changed(INERTIAL, INERTIAL + '<origin xyz="0.1 0.2 -0.3" rpy="0.3 -0.2 0.5"/>', com=(0.1, 0.2, -0.3), R_inertia=turn((0.3, -0.2, 0.5))),
    "inertial/origin@xyz": changed(INERTIAL, INERTIAL + '<origin xyz="0.1 0.2 -0.3"/>', com=(0.1, 0.2, -0.3)),
    "inertial/origin@rpy": changed(INERTIAL, INERTIAL + '<origin rpy="0.3 -0.2 0.5"/>', R_inertia=turn((0.3, -0.2, 0.5))),
    "inertial/origin@quat_xyzw": changed(INERTIAL, INERTIAL + f'<origin quat_xyzw="{QUATERNION[0]} {QUATERNION[1]} {QUATERNION[2]} {QUATERNION[3]}"/>', R_inertia=BY_QUATERNION),
    "inertial/mass": changed('"1.5"', '"1.5"'),
    "mass@value": changed(INERTIAL + '<mass value="1.5"/>', INERTIAL + '<origin xyz="0.1 0.2 -0.3"/><mass value="2.5"/>', mass=2.5, com=(0.1, 0.2, -0.3)),
    "inertial/inertia": changed('"0.3"', '"0.3"'),
    **{f"inertia@{name}": changed(f'{name}="{0 if name in SYMMETRIC else dict(ixx=0.3, iyy=0.4, izz=0.5)[name]}"', f'{name}="0.07"' if name in SYMMETRIC else
                                  f'{name}="0.6"', tensor=tensor_with(name, 0.07 if name in SYMMETRIC else 0.6))
       for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")},
    "robot/joint": structure(BASE, names=["j"]),
    "joint@name": structure(BASE.replace('"j"', '"lift"'), names=["lift"]),
    "joint@type": changed('"revolute"', '"prismatic"', slides=True),
    "joint/origin": changed(ORIGIN, ORIGIN + '<origin xyz="1 2 3" rpy="0.4 0.5 0.6"/>', place=(1, 2, 3), R=turn((0.4, 0.5, 0.6))),
    "joint/origin@xyz": changed(ORIGIN, ORIGIN + '<origin xyz="1 2 3"/>', place=(1, 2, 3)),
    "joint/origin@rpy": changed('"revolute"', '"prismatic"', slides=True),
    "joint/origin@quat_xyzw": lambda case: case.check_change(
        BASE.replace('"revolute"', '"prismatic"').replace(ORIGIN, ORIGIN + f'<origin quat_xyzw="{QUATERNION[0]} {QUATERNION[1]} {QUATERNION[2]} {QUATERNION[3]}"/>'),
        pendulum(slides=True, R=BY_QUATERNION), True),
    "joint/parent": structure(BASE, nv=1), "joint/child": structure(BASE, nv=1),
    "parent@link": lambda case: case.refuse(BASE.replace('parent link="w"', 'parent link="x"'), 422, "unknown-name"),
    "child@link": lambda case: case.refuse(BASE.replace('child link="a"', 'child link="x"'), 422, "unknown-name"),
    "joint/axis": changed(ORIGIN, "", axis=(1, 0, 0)),
    "axis@xyz": changed('"0.48 0.6 0.64"', '"0 3 4"', axis=(0, 0.6, 0.8)),
    "joint/limit": limits("lower", "-1", {"position": [-1, 2], "effort": 3, "velocity": 4}),
    "limit@lower": limits("lower", "-0.5", {"position": [-0.5, 2], "effort": 3, "velocity": 4}),
    "limit@upper": limits("upper", '"1.5', {"position": [-1, 1.5], "effort": 3, "velocity": 4}),
    "limit@effort": limits("effort", '"7', {"position": [-1, 2], "effort": 7, "velocity": 4}),
    "limit@acceleration": limits("effort", '"3" acceleration="6', {"position": [-1, 2], "effort": 3, "velocity": 4, "acceleration": 6}),
    "limit@jerk": limits("effort", '"3" jerk="8', {"position": [-1, 2], "effort": 3, "velocity": 4, "jerk": 8}),
    "limit@velocity": limits("velocity", '"9', {"position": [-1, 2], "effort": 3, "velocity": 9}),
    "joint/dynamics": in_joint('<dynamics damping="2" friction="3"/>', damping=2, friction=3),
    "dynamics@damping": in_joint('<dynamics damping="2"/>', damping=2),
    "dynamics@friction": in_joint('<dynamics friction="3"/>', friction=3),
    "joint/mimic": mimic('<mimic joint="j"/>', 1, 0), "mimic@joint": mimic('<mimic joint="j"/>', 1, 0),
    "mimic@multiplier": mimic('<mimic joint="j" multiplier="-2"/>', -2, 0), "mimic@offset": mimic('<mimic joint="j" offset="0.5"/>', 1, 0.5),
    "robot/transmission": geared('<drake:rotor_inertia value="0.2"/>', 0.2), "transmission@name": geared('<drake:rotor_inertia value="0.2"/>', 0.2),
    "transmission/joint": geared('<drake:rotor_inertia value="0.2"/>', 0.2), "transmission/actuator": geared('<drake:rotor_inertia value="0.2"/>', 0.2),
    "transmission/joint@name": geared('<drake:rotor_inertia value="0.2"/>', 0.2), "actuator@name": geared('<drake:rotor_inertia value="0.2"/>', 0.2),
    "actuator/drake:rotor_inertia": geared('<drake:rotor_inertia value="0.2"/>', 0.2), "drake:rotor_inertia@value": geared('<drake:rotor_inertia value="0.3"/>', 0.3),
    "actuator/drake:gear_ratio": geared('<drake:rotor_inertia value="0.2"/><drake:gear_ratio value="3"/>', 1.8),
    "drake:gear_ratio@value": geared('<drake:rotor_inertia value="0.2"/><drake:gear_ratio value="-2"/>', 0.8),
    "actuator/motorInertia": geared("<motorInertia>0.2</motorInertia>", 0.2),
    "actuator/mechanicalReduction": geared("<motorInertia>0.2</motorInertia><mechanicalReduction>3</mechanicalReduction>", 1.8),
    "transmission/motorInertia": geared("</actuator><motorInertia>0.2</motorInertia><actuator name='n'>", 0.4),
    "transmission/mechanicalReduction": geared("<motorInertia>0.2</motorInertia></actuator><mechanicalReduction>3</mechanicalReduction><actuator name='n'>", 1.8),
    "transmission/joint/motorInertia": geared("<motorInertia>0.2</motorInertia>", 0.2),
    "transmission/joint/mechanicalReduction": geared("<motorInertia>0.2</motorInertia><mechanicalReduction>3</mechanicalReduction>", 1.8),
}


def keys_of(item):
    """Returns the keys under which HELD may contain an item, the most specific first."""
    path = (*item.path, *([item.name] if item.name else ()))
    end = "@" + item.attribute if item.attribute else ""
    return ["/".join(path[-n:]) + end for n in (3, 2, 1) if len(path) >= n]


class Schema(UrdfCase):
    def check_change(self, text, expected, differs):
        self.take("held", text)
        q, qd, qdd = STATE
        answer = self.ask("held", "inverse-dynamics", {"q": [q], "qd": [qd], "qdd": [qdd]})
        place = self.ask("held", "kinematics", {"q": [q], "frame": "a"})["poses"]["a"]["position"]
        self.assertClose(answer["tau"] + place, [expected[0], *expected[1]], 1e-13, scale=1, what=text)
        if differs:
            plain = pendulum()
            self.assertGreater(abs(plain[0] - expected[0]) + np.abs(plain[1] - expected[1]).sum(), 1e-3, text)

    def of(self, use):
        found = [item for item in TABLE.items() if item.use == use]
        self.assertGreater(len(found), 5)
        return found

    def test_counts(self):
        """Prints the size of the table by class; the sizes may only grow with the schema."""
        counts = TABLE.counts()
        print("# URDF 1.2 and extensions: " + ", ".join(f"{use} {counts[use, 'element']} elements and {counts[use, 'attribute']} attributes"
                                                         for use in ("held", "expanded", "irrelevant", "not held")))
        self.assertGreaterEqual(sum(counts.values()), 250)

    def test_irrelevant(self):
        """An irrelevant item changes nothing in the model except the shapes of links, and the report has no warning."""
        for item in self.of("irrelevant"):
            if item.path[-1] == "robot" and item.name == "gazebo":
                continue
            without, given = file_of(item)
            first, second = self.take("without", without), self.take("given", given)
            if first["revision"] != second["revision"]:
                self.assertEqual(without_appearance(self.client, "without"), without_appearance(self.client, "given"), given)
            told = [e["text"] for e in second["report"] if e["severity"] == "warning" and e not in first["report"]]
            self.assertEqual(told, [], given)

    def test_expanded(self):
        for item in self.of("expanded"):
            without, given = file_of(item)
            second = self.take("given", given)
            self.assertEqual(self.take("without", without)["revision"], second["revision"], given)
            self.assertTrue(any(e["code"] == "unused" for e in second["report"]), second)

    def test_not_held(self):
        """A warning names an item that is not held; items inside it may be reported as having no effect."""
        for item in self.of("not held"):
            without, given = file_of(item)
            first, second = self.take("without", without), self.take("given", given)
            self.assertEqual(first["revision"], second["revision"], given)
            name = item.attribute or f"<{item.name}>"
            self.assertTrue([e for e in second["report"] if e["code"] == "not-held" and e["severity"] == "warning" and name in e["text"]], (given, second))
            self.assertFalse([e for e in second["report"] if "no part in the dynamics" in e["text"]], second)
            for word in (item.dropped or "").split():
                quiet = self.take("quiet", file_of(item, text=f" {word}\n")[1])
                self.assertFalse([e for e in quiet["report"] if e["code"] == "not-held"], (word, quiet))

    def test_held(self):
        """Each held item changes torque and pose by the amount that the closed form predicts."""
        used = set()
        for item in self.of("held"):
            key = next((key for key in keys_of(item) if key in HELD), None)
            self.assertIsNotNone(key, item)
            used.add(key)
            HELD[key](self)
        self.assertEqual(used, set(HELD))

    def test_unknown(self):
        """Unknown elements and attributes cause a warning everywhere except inside free content."""
        for path in TABLE.paths.values():
            if len(path) > 1 and TABLE.is_closed(TABLE.row_of(path[:-1], path[-1])):
                continue
            for inside in ("<unheard/>", ""):
                robot = parse(BASE)
                node = robot.reach(path[1:], fill)
                if inside:
                    node.children.append(parse(inside))
                else:
                    node.attributes["unheard"] = "1"
                answer = self.put_urdf("unknown", robot.write())
                if answer.status >= 400:
                    continue  # an element that requires content
                told = [e for e in answer.json()["report"] if e["code"] == "unknown" and "unheard" in e["text"]]
                self.assertEqual(len(told), 1, (path, inside, answer))


if __name__ == "__main__":
    tap.main()
