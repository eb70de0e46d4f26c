"""Tests the report's entries about possible but unlikely figures, and about inertias of links that are valid only
together with the rest of their body."""
import math

import numpy as np
import tap
from urdf import UrdfCase, joint, link, robot


def inertial(mass, tensor, xyz="0.1 0 0"):
    entries = dict(zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), (*tensor, 0, 0, 0)))
    return f'<inertial><origin xyz="{xyz}"/><mass value="{mass}"/><inertia ' + " ".join(f'{k}="{v}"' for k, v in entries.items()) + "/></inertial>"


ARM = inertial(2, (0.01, 0.02, 0.02))
ANTENNA = inertial(0.01, (1e-8, 1e-8, 9e-8, 4e-8), "0 0 0")  # principal moments -3e-8, 5e-8, 9e-8
LIFT = joint("lift", "base", "arm", '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="2"/>')


class Bodies(UrdfCase):
    def warnings(self, *parts, query=""):
        return [e["text"] for e in self.take("body", robot(*parts), query)["report"] if e["severity"] == "warning"]

    def test_indefinite_link_in_a_definite_body(self):
        """A link with an indefinite inertia is accepted with a warning if the whole body is definite; the mass matrix
        is that of the sum."""
        parts = (link("base"), link("arm", ARM), LIFT, link("antenna", ANTENNA), joint("glue", "arm", "antenna", '<origin xyz="0 0.2 0" rpy="0.3 0 0"/>', "fixed"))
        told = self.warnings(*parts)
        self.assertEqual(len(told), 1, told)
        self.assertIn('"antenna"', told[0])
        self.assertIn("it is possible", told[0])
        T = np.array([[1e-8, 4e-8, 0], [4e-8, 1e-8, 0], [0, 0, 9e-8]])
        c, s = math.cos(0.3), math.sin(0.3)
        R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        expected = 0.02 + 2 * 0.1 ** 2 + (R @ T @ R.T)[2, 2] + 0.01 * 0.2 ** 2
        self.assertClose(self.ask("body", "mass-matrix", {"q": [0.2]})["mass_matrix"], [[expected]], 1e-15, scale=1)

    def test_chains_and_bases(self):
        fixed = (link("antenna", ANTENNA), joint("glue", "mast", "antenna", kind="fixed"))
        self.assertEqual(len(self.warnings(link("base"), link("arm", ARM), LIFT, link("mast"), joint("foot", "arm", "mast", kind="fixed"), *fixed)), 1)
        on_base = (link("base", ARM), link("arm", ARM), LIFT, link("mast"), joint("foot", "base", "mast", kind="fixed"), *fixed)
        self.assertIn("no effect", self.warnings(*on_base)[0])
        self.assertIn("it is possible", self.warnings(*on_base, query="?base=floating")[0])

    def test_a_moving_link_with_a_heavy_part(self):
        parts = (link("base"), link("arm", ANTENNA), LIFT, link("load", ARM), joint("glue", "arm", "load", kind="fixed"))
        self.assertEqual(len(self.warnings(*parts)), 1)

    def test_impossible_bodies_are_refused(self):
        for body in (inertial(4.7, (0.039, 0.0395, 0.0123, 0, 0.025)), ANTENNA):
            self.refuse(robot(link("base"), link("arm", body), LIFT), 422, "bad-inertia", 'link "arm"', "negative principal moment", "signs of the products")
        light = inertial(1e-3, (1e-9, 1e-9, 1e-9), "0 0 0")
        self.refuse(robot(link("base"), link("arm", light), LIFT, link("antenna", ANTENNA), joint("glue", "arm", "antenna", kind="fixed")),
                    422, "bad-inertia", 'link "antenna"')
        self.refuse(robot(link("base", ANTENNA), link("arm", ARM), LIFT), 422, "bad-inertia")

    def test_rounding(self):
        """The tolerance for a rounded inertia is 1e-12 m^2 times the mass: 2.4e-35 kg m^2 is accepted beside 1.3 kg."""
        for mass, product, good in ((1.3, 2.4e-35, True), (1.3, 5e-13, True), (1.3, 2e-12, False), (0, 2.4e-35, False), (1e-6, 1e-15, False)):
            body = robot(link("base"), link("arm", inertial(mass, (0, 0, 0, 0, product))), LIFT)
            if good:
                told = [e["text"] for e in self.take("body", body)["report"] if e["severity"] == "warning"]
                self.assertEqual(len(told), 1)
                self.assertIn("a point mass", told[0])
            else:
                self.refuse(body, 422, "bad-inertia")


class Figures(UrdfCase):
    def told(self, *parts):
        return [e["text"] for e in self.take("figures", robot(*parts))["report"] if e["severity"] == "warning"]

    def test_masses(self):
        for mass, odd in ((56143, True), (10001, True), (9999, False), (2, False)):
            told = self.told(link("base"), link("arm", inertial(mass, (42, 42, 42))), LIFT)
            self.assertEqual(any("masses are in kilograms" in t for t in told), odd, (mass, told))

    def test_placeholders(self):
        for mass, moment, xyz, odd in ((0.05, 1, "0.1 0 0", True), (1, 1, "0.1 0 0", True), (1, 1, "0.5 0 0", False), (0.05, 1e-5, "0.1 0 0", False),
                                       (20, 1, "0.1 0 0", False), (1, 4, "0 0 0", False)):
            told = self.told(link("base"), link("arm", inertial(mass, (moment,) * 3, xyz)), LIFT)
            self.assertEqual(any("placeholder" in t for t in told), odd, (mass, moment, xyz, told))

    def test_limits_of_zero(self):
        for limit, fields in (('lower="0" upper="0" effort="0" velocity="0"', ("effort", "velocity", "position")),
                              ('lower="-1" upper="1" effort="0" velocity="1"', ("effort",)), ('lower="0" upper="1" effort="1" velocity="1"', ()),
                              ('effort="2" velocity="0"', ("velocity",))):
            told = self.told(link("base"), link("arm", ARM), joint("lift", "base", "arm", f"<limit {limit}/>"), link("b", ARM),
                             joint("k", "arm", "b", f"<limit {limit}/>"))
            self.assertEqual(sorted(t.split()[1] for t in told if "no motion keeps it" in t), sorted(fields), told)
            self.assertTrue(all('"lift", and of 1 other, is 0' in t for t in told), told)

    def test_no_mass(self):
        """A robot without any mass gets one line, not one for each joint."""
        chain = [link("l0")] + [link(f"l{i + 1}") + joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(5)]
        report = self.take("figures", robot(*chain))["report"]
        self.assertEqual([e["text"] for e in report if "mass" in e["text"]], ["no link has a mass: the mass matrix is zero, forward dynamics will fail"])
        one = chain[:-1] + [chain[-1].replace("</link>", ARM + "</link>", 1)]
        self.assertFalse(any("no link has a mass" in e["text"] for e in self.take("figures", robot(*one))["report"]))

    def test_macros(self):
        head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        self.refuse(head + '<xacro:macro name="leg" params="p"><link name="${p}_leg"/></xacro:macro><xacro:leg p="x"/></robot>', 422, "bad-model", "expand xacro macros first")
        whole = link("base") + link("arm", ARM) + LIFT
        for text in (head + whole + '<xacro:leg p="x"/></robot>', robot(whole, '<xacro:leg p="x"/>'), head + whole + "<xacro:include filename='x'/></robot>",
                     robot(whole, "<xacro:if value='1'><link name='x'/></xacro:if>"), head + whole.replace('"base"', '"${p}_base"') + "</robot>",
                     robot(whole, "<link name='x'><inertial><mass value='${m}'/></inertial></link>"), robot(whole, "<link name='$(arg x)'/>"), robot(whole.replace("0 0 1", "0 0 ${pi}")),
                     head + '<xacro:macro name="leg" params="p"><link name="${p}_leg"/></xacro:macro></robot>'):
            self.refuse(text, 422, "bad-model", "expand xacro macros first", "xacro FILE > robot.urdf")
        mesh = "<visual><geometry><mesh filename='$(find arm)/a.stl'/></geometry></visual></link>"
        told = [e["text"] for e in self.take("figures", robot(whole.replace("</link>", mesh, 1)))["report"] if e["severity"] == "warning"]
        self.assertEqual(sum("xacro" in t for t in told), 1, told)
        self.take("figures", head + '<xacro:property name="M_PI" value="3.14"/>' + whole.replace('"base"', '"$base"') + "</robot>")
        self.refuse(robot(link("foot", ARM), joint("weld", "world", "foot", kind="fixed")), 422, "unknown-name", 'declare <link name="world"/>')


if __name__ == "__main__":
    tap.main()
