"""Texts of URDF files, the robots of tests/data written as URDF, and requests that put files, for the tests of URDF."""
import os
from xml.sax.saxutils import quoteattr

import oracle
from harness import ServerCase

NAMES = sorted(name[:-5] for name in os.listdir(os.path.join(oracle.DATA, "robots")))


class UrdfCase(ServerCase):
    def put_urdf(self, name, text, query=""):
        return self.client.put(f"/v1/models/{name}{query}", text.encode() if isinstance(text, str) else text,
                               Content_Type="application/xml")

    def take(self, name, text, query=""):
        answer = self.put_urdf(name, text, query)
        self.assertIn(answer.status, (200, 201), answer)
        return answer.json()

    def refuse(self, text, status, code, *words, query=""):
        problem = self.assertProblem(self.put_urdf("refused", text, query), status)
        self.assertEqual(problem["code"], code, problem)
        for word in words:
            self.assertIn(word, problem["detail"])
        self.assertNotIn("pointer", problem)  # a URDF file has no JSON pointers
        return problem


def robot(*parts, name="r"):
    return f'<robot name="{name}">' + "".join(parts) + "</robot>"


def link(name, inside=""):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, inside="", kind="revolute"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


INERTIAL = ('<inertial><origin xyz="0 0 .1"/><mass value="1."/>'
            '<inertia ixx="+1e-1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="01e-1"/></inertial>')
ARM = (link("a"), link("b", INERTIAL), joint("j", "a", "b", '<axis xyz="0 0 1"/>'))

# --- robots of tests/data -----------------------------------------------------------------------------------------

SHAPE = '<geometry><mesh filename="package://r/{}.dae" scale="1 1 1"/></geometry>'
EXTRAS = ("", "<contact><lateral_friction value='1.0'/></contact>", "<self_filter/>", "<collision_checking/>")


def text_of(values):
    return " ".join(repr(x) for x in values)


def element(tag, **attributes):
    return f"<{tag} " + " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items()) + "/>"


def origin_of(entry, name="xyz"):
    given = {key: text_of(entry[at]) for key, at in (("xyz", name), ("rpy", "rpy")) if at in entry}
    return element("origin", **given) if given else ""


def inertial_of(inertial, turned):
    """Returns the <inertial> of a link, in the link's axes or in axes turned by 90 degrees about z, whose x is the
    link's y and whose y is the link's -x."""
    I = {"xx": 0, "yy": 0, "zz": 0, "xy": 0, "xz": 0, "yz": 0, **inertial.get("inertia", {})}
    place = dict(inertial)
    if turned:
        place["rpy"] = [0, 0, 1.5707963267948966]
        I = {"xx": I["yy"], "yy": I["xx"], "zz": I["zz"], "xy": -I["xy"], "xz": I["yz"], "yz": -I["xz"]}
    return ("<inertial>" + origin_of(place, "com") + element("mass", value=inertial["mass"]) +
            element("inertia", **{"i" + axes: I[axes] for axes in ("xx", "xy", "xz", "yy", "yz", "zz")}) + "</inertial>")


def link_of(number, name, inertial):
    inside = inertial_of(inertial, number % 5 == 4) if inertial else ""
    shapes = "".join(f"<{tag}>{SHAPE.format(name)}</{tag}>" for tag in ("visual", "collision")) if number % 2 else ""
    return link(name, inside + shapes + EXTRAS[number % len(EXTRAS)])


def joint_of(entry):
    given, inside = entry["joint"], ""
    inside += origin_of(given.get("origin", {}))
    if "axis" in given:
        inside += element("axis", xyz=text_of(given["axis"]))
    limits = given.get("limits", {})
    if limits:
        lower, upper = limits.get("position", (0, 0))
        inside += element("limit", lower=lower, upper=upper, velocity=limits.get("velocity", 0), effort=limits.get("effort", 0))
    if "friction" in given:
        inside += element("dynamics", damping=given["friction"].get("viscous", 0), friction=given["friction"].get("coulomb", 0))
    if "mimic" in given:
        inside += element("mimic", **given["mimic"])
    return joint(given["name"], entry["parent"], entry["name"], inside, given["type"])


def transmission(name):
    return (f'<transmission name="{name}_trans"><type>transmission_interface/SimpleTransmission</type><joint name="{name}">'
            "<hardwareInterface>EffortJointInterface</hardwareInterface></joint>"
            f'<actuator name="{name}_motor"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>')


def read(name):
    """Returns a robot of tests/data as URDF text: joints ordered by depth, links in reverse, with elements that such
    files usually contain."""
    document = oracle.read(name)
    base, links = document["base"], document["links"]
    parents = {entry["name"]: entry["parent"] for entry in links}

    def depth(link):
        return 1 + depth(parents[link]) if link in parents else 0
    bodies = [(base["link"], base.get("inertial"))] + [(entry["name"], entry.get("inertial")) for entry in links]
    moving = [entry["joint"]["name"] for entry in links if entry["joint"]["type"] != "fixed"]
    parts = [link_of(number, *body) for number, body in enumerate(bodies)][::-1]
    parts += [joint_of(entry) for entry in sorted(links, key=lambda entry: depth(entry["name"]))]
    parts += [transmission(joint) for joint in moving[::2]]
    return '<?xml version="1.0"?><!-- generated -->\n' + robot("\n", "\n".join(parts), name=name)
