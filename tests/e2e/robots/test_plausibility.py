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
        """The tolerance for a rounded inertia is 1e-12 m^2 times the mass: 2.4e-35 kg m^2 is accepted for a mass of 1.3 kg."""
        for mass, product, good in ((1.3, 2.4e-35, True), (1.3, 5e-13, True), (1.3, 2e-12, False), (0, 2.4e-35, False), (1e-6, 1e-15, False)):
            body = robot(link("base"), link("arm", inertial(mass, (0, 0, 0, 0, product))), LIFT)
            if good:
                told = [e["text"] for e in self.take("body", body)["report"] if e["severity"] == "warning"]
                self.assertEqual((len(told), "a point mass" in told[0]), (1, True), told)
            else:
                self.refuse(body, 422, "bad-inertia")


class Figures(UrdfCase):
    def told(self, *parts):
        return [e["text"] for e in self.take("figures", robot(*parts))["report"] if e["severity"] == "warning"]

    def test_masses(self):
        for mass, xyz, odd in ((56143, "0.1 0 0", True), (10001, "3 0 0", True), (9999, "3 0 0", False), (9999, "0.1 0 0", True), (1100, "0.1 0 0", True),
                               (99, "0.1 0 0", False), (2, "0.1 0 0", False)):
            told = self.told(link("base"), link("arm", inertial(mass, (mass * 4e-3,) * 3, xyz)), LIFT)
            self.assertEqual(any("masses are in kilograms" in t for t in told), odd, (mass, told))

    def test_placeholders(self):
        for mass, moment, xyz, odd in ((0.05, 1, "0.1 0 0", True), (1, 1, "0.1 0 0", True), (1, 1, "0.5 0 0", True), (0.05, 1e-5, "0.1 0 0", False),
                                       (20, 1, "0.1 0 0", True), (80, 1, "0.1 0 0", False), (1, 4, "0 0 0", True), (1, 1e-4, "0.1 0 0", True),
                                       (1, 2.2e-4, "0.1 0 0", False)):
            told = self.told(link("base"), link("arm", inertial(mass, (moment,) * 3, xyz)), LIFT)
            self.assertEqual(any("placeholder" in t for t in told), odd, (mass, moment, xyz, told))

    def test_words_for_inertias(self):
        """A ball of m kg and rho kg/m^3 has the radius of gyration sqrt(0.4) (3 m / (4 pi rho))^(1/3): 14.4 mm for 1 kg of 20000 kg/m^3.
        The ellipsoid with I = 0.02 kg m^2 about all axes and 0.5 kg has the semi-axes sqrt(2.5 I / m) = 0.316 m, and 3.8 kg/m^3."""
        for mass, tensor, words in ((4, (1, 1, 1), "of 4 kg has the identity as its inertia, that of a ball with a diameter of 1.58 m"),
                                    (0.5, (0.02, 0.02, 0.02), "a body of 3.8 kg/m^3, lighter than foam"),
                                    (1, (2.05e-4,) * 3, "with a mass of 1 kg has a radius of gyration of 0.0143 m, less than a ball of tungsten"),
                                    (3, (0, 0, 0), "has a mass of 3 kg and no inertia about the axis of joint \"lift\": a point mass"), (0, (1, 1, 1), "an inertia tensor without a mass"),
                                    (0.5, (2, 2, 2.1), "a radius of gyration of 2.05 m in a robot of 0.1 m")):
            told = self.told(link("base"), link("arm", inertial(mass, tensor)), LIFT)
            self.assertIn(words, told[0])
            self.assertEqual(len(told), 1, told)

    def test_plausible_inertias(self):
        """The inertias of a rod, a plate, a disc on a short arm and a light part of foam are realistic; the report must not take them for
        placeholder values."""
        for mass, tensor, xyz in ((2, (0, 0.67, 0.67), "1 0 0"), (0.1, (1e-7, 0.0083, 0.0083), "0.5 0 0"), (5, (0.1, 0.1, 0.2), "0.01 0 0"),
                                  (0.05, (5e-5, 5e-5, 5e-5), "0.1 0 0"), (300, (20, 20, 30), "0 0 0.3")):
            self.assertEqual(self.told(link("base"), link("arm", inertial(mass, tensor, xyz)), LIFT), [])

    def test_parts_of_a_body(self):
        """A body is judged with the links that are fixed to it; a placeholder on a sensor hardly counts and is no warning."""
        glue = joint("glue", "arm", "part", '<origin xyz="0.2 0 0"/>', "fixed")
        point = inertial(1, (0, 0, 0))
        self.assertEqual(self.told(link("base"), link("arm", point), LIFT, link("part", point), glue), [])
        self.assertEqual(len(self.told(link("base"), link("arm"), LIFT, link("part", point), glue)), 1)
        report = self.take("figures", robot(link("base"), link("arm", ARM), LIFT, link("part", inertial(1e-4, (1e-4,) * 3)), glue))["report"]
        self.assertEqual([e["severity"] for e in report if "hardly counts" in e["text"]], ["info"])
        self.assertEqual(len(self.told(link("base"), link("arm", ARM), LIFT, link("part", inertial(1e-3, (1e-2,) * 3)), glue)), 1)

    def test_centres_of_mass(self):
        """The next joint is 0.3 m away and the body's inertia is that of one of 6 cm: a centre of mass at 120 m must be reported as not in
        metres, at 5 m as outside the body, and at 0.5 m not at all."""
        tool = link("tool", ARM) + joint("turn", "arm", "tool", '<origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>')
        for xyz, odd in (("120 0 0", True), ("5 0 0", True), ("0.5 0 0", False), ("0.1 0 0", False)):
            told = self.told(link("base"), link("arm", inertial(2, (0.005, 0.008, 0.008), xyz)), LIFT, tool)
            self.assertEqual([('"arm" has its centre of mass' in t, "lengths are in metres" in t) for t in told], [(True, True)] * odd, told)

    def test_centre_of_mass_of_a_link_between_near_neighbours(self):
        """The robot reaches 3 m; its hand is 0.05 m from the forearm and has its centre of mass 1.5 m away, in a body of 6 cm."""
        limit = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>'
        for xyz, odd in (("1.5 0 0", True), ("0.2 0 0", False)):
            told = self.told(link("base"), link("arm", inertial(9, (0.05, 7, 7), "1.5 0 0")), LIFT, link("fore", ARM), joint("bend", "arm", "fore", '<origin xyz="3 0 0"/>' + limit),
                             link("hand", inertial(2, (0.005, 0.008, 0.008), xyz)), joint("turn", "fore", "hand", '<origin xyz="0.05 0 0"/>' + limit))
            self.assertEqual(['"hand" has its centre of mass 1.5 m from its joint' in t for t in told], [True] * odd, told)

    def test_one_entry_for_many_links(self):
        chain = "".join(link(f"l{i}", inertial(1, (1, 1, 1))) + joint(f"j{i}", f"l{i - 1}" if i else "base", f"l{i}", '<axis xyz="0 0 1"/>', "continuous") for i in range(9))
        told = self.told(link("base"), chain)
        self.assertEqual(len(told), 1, told)
        self.assertTrue(told[0].startswith('link "l0" of 1 kg') and told[0].endswith('; so "l1", "l2", "l3" and 5 more'), told)

    def test_base(self):
        body = robot(link("base", inertial(1, (1, 1, 1))), link("arm", ARM), LIFT)
        odd = [e["where"] for e in self.take("figures", body, "?base=floating")["report"] if "identity" in e["text"]]
        self.assertEqual(odd, ["/base/inertial"])

    def test_limits_of_zero(self):
        for limit, fields in (('lower="0" upper="0" effort="0" velocity="0"', ("effort", "velocity", "position")),
                              ('lower="-1" upper="1" effort="0" velocity="1"', ("effort",)), ('lower="0" upper="1" effort="1" velocity="1"', ()),
                              ('effort="2" velocity="0"', ("velocity",))):
            told = self.told(link("base"), link("arm", ARM), joint("lift", "base", "arm", f"<limit {limit}/>"), link("b", ARM),
                             joint("k", "arm", "b", f"<limit {limit}/>"))
            self.assertEqual(sorted(t.split()[1] for t in told if "no motion keeps it" in t), sorted(fields), told)
            self.assertTrue(all('"lift", and of 1 other, is 0' in t for t in told), told)

    def test_zero_limits_count_as_none(self):
        """With zero_limits=none the server ignores limits of 0 and only these; the report names each."""
        limit = '<limit lower="0" upper="0" effort="0" velocity="0"/>'
        text = robot(link("base"), link("arm", ARM), joint("lift", "base", "arm", limit), link("b", ARM), joint("k", "arm", "b", '<limit lower="0" upper="1" effort="2" velocity="0"/>'))
        for query, limits in (("", [{"position": [0, 0], "velocity": 0, "effort": 0}, {"position": [0, 1], "velocity": 0, "effort": 2}]),
                              ("?zero_limits=kept", [{"position": [0, 0], "velocity": 0, "effort": 0}, {"position": [0, 1], "velocity": 0, "effort": 2}]),
                              ("?zero_limits=none", [{}, {"position": [0, 1], "effort": 2}])):
            report = self.take("figures", text, query)["report"]
            self.assertEqual([j["limits"] for j in self.client.get("/v1/models/figures").json()["joints"]], limits)
            kept = [e["text"] for e in report if e["severity"] == "warning"]
            left = [e["text"] for e in report if "counts as none" in e["text"]]
            self.assertEqual((len(kept), len(left)), (0, 4) if "none" in query else (3, 0), report)
            self.assertTrue(all("MuJoCo takes 0 for no limit, as zero_limits=none does" in t for t in kept))
        self.refuse(text, 422, "bad-value", "zero_limits is kept or none", query="?zero_limits=no")

    def test_zero_limits_of_sdf(self):
        inner = "<inertial><mass>2</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial>"
        text = ("<sdf version='1.9'><model name='m'><link name='a'>" + inner + "</link><link name='b'>" + inner + "</link><joint name='w' type='fixed'><parent>world</parent>"
                "<child>a</child></joint><joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz><limit><lower>0</lower>"
                "<upper>0</upper><effort>0</effort><velocity>3</velocity></limit></axis></joint></model></sdf>")
        for query, limits in (("", {"position": [0, 0], "velocity": 3, "effort": 0}), ("?zero_limits=none", {"velocity": 3})):
            report = self.take("figures", text, query)["report"]
            self.assertEqual([j["limits"] for j in self.client.get("/v1/models/figures").json()["joints"] if j["name"] == "j"], [limits])
            self.assertEqual(sum("counts as none" in e["text"] for e in report), 2 if query else 0)

    def test_no_mass(self):
        """A robot without any mass gets one line, not one for each joint."""
        chain = [link("l0")] + [link(f"l{i + 1}") + joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(5)]
        report = self.take("figures", robot(*chain))["report"]
        self.assertEqual([e["text"] for e in report if "mass" in e["text"]], ["no link has a mass: all torques are zero, and forward dynamics will fail"])
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
