"""Tests URDF files of a few lines against dynamics known by hand."""
import concurrent.futures
import math

import tap
from urdf import ARM, INERTIAL, UrdfCase, joint, link, robot


class Meaning(UrdfCase):
    """Compares small files with dynamics in closed form."""

    def tau(self, name, request):
        return self.ask(name, "inverse-dynamics", request)["tau"]

    def test_defaults(self):
        """Defaults: axis x, origin at the parent, no limits. The body is a point mass of 1 kg at 0.1 m along z, turned
        about x by a right angle."""
        text = robot(link("a"), link("b", INERTIAL.replace("+1e-1", "0").replace('"0.1"', '"0"').replace("01e-1", "0")),
                     joint("j", "a", "b"))
        report = self.take("plain", text)["report"]
        told = [entry["text"] for entry in report if entry["code"] == "assumed"]
        self.assertTrue(any("no axis" in t for t in told) and any("no limits" in t for t in told), told)
        self.assertClose(self.tau("plain", {"q": [math.pi / 2]}), [-9.81 * 0.1])

    def test_inertial_axes_of_its_own(self):
        """The tensor of a rod is given along the inertial frame's x, which lies along the link's y."""
        inertial = ('<inertial><origin rpy="0 0 1.5707963267948966"/><mass value="1"/>'
                    '<inertia ixx="0" ixy="0" ixz="0" iyy="2" iyz="0" izz="2"/></inertial>')
        for axis, expected in (("1 0 0", 2), ("0 1 0", 0), ("0 0 1", 2)):
            self.take("rod", robot(link("a"), link("b", inertial), joint("j", "a", "b", f'<axis xyz="{axis}"/>')))
            M = self.ask("rod", "mass-matrix", {"q": [0.3]})["mass_matrix"]
            self.assertClose(M, [[expected]], 1e-15, 2)

    def test_dynamics_and_limit(self):
        inside = ('<axis xyz="0 0 2"/><dynamics damping="0.5" friction="0.25"/>'
                  '<limit lower="-1" upper="2" velocity="3" effort="4"/>')
        report = self.take("rough", robot(*ARM[:2], joint("j", "a", "b", inside)))["report"]
        self.assertTrue(any("length 2" in entry["text"] for entry in report), report)
        self.assertClose(self.tau("rough", {"q": [0], "qd": [2]}), [0.5 * 2 + 0.25])
        joints = self.ok(self.client.get("/v1/models/rough"))["joints"]
        self.assertEqual(joints[0]["limits"], {"position": [-1, 2], "velocity": 3, "effort": 4})

    def test_odd_limits_are_reported(self):
        for limit, words in (('lower="2" upper="1"', "above"), ('velocity="-1"', "negative"),
                             ('upper="1"', "no lower limit"), ('lower="-1"', "no upper limit"),
                             ('effort="1"', "neither a lower nor an upper limit")):
            taken = self.take("odd", robot(*ARM[:2], joint("j", "a", "b", f'<axis xyz="0 0 1"/><limit {limit}/>')))
            self.assertTrue(any(words in entry["text"] for entry in taken["report"]), (limit, taken["report"]))

    def test_chain_of_mimics(self):
        """k is at 2 q + 0.5, l at 3 k - 1: one coordinate moves three bodies about one axis, with inertia 0.1 (1, 3,
        9)^2."""
        chain = robot(*ARM, link("c", INERTIAL), link("d", INERTIAL),
                      joint("l", "c", "d", '<axis xyz="0 0 1"/><mimic joint="k" multiplier="3" offset="-1"/>'),
                      joint("k", "b", "c", '<axis xyz="0 0 1"/><mimic joint="j" multiplier="2" offset=".5"/>'))
        taken = self.take("chain", chain, "?mimic=coupled")
        self.assertEqual((taken["nq"], taken["nv"]), (1, 1))
        model = self.ok(self.client.get("/v1/models/chain"))
        self.assertEqual(model["velocity_names"], ["j"])
        self.assertEqual([j.get("mimic") for j in model["joints"]],
                         [None, {"joint": "j", "multiplier": 2, "offset": 0.5},
                          {"joint": "j", "multiplier": 6, "offset": 0.5}])
        self.assertClose(self.ask("chain", "mass-matrix", {"q": [0.2]})["mass_matrix"], [[0.1 * (1 + 9 + 81)]])
        angle = 0.2 + (2 * 0.2 + 0.5) + (6 * 0.2 + 0.5)
        pose = self.ask("chain", "kinematics", {"q": [0.2], "frames": ["d"]})["poses"]["d"]
        self.assertClose(pose["orientation"], [0, 0, math.sin(angle / 2), math.cos(angle / 2)], 1e-14)

    def test_what_is_not_used_is_told(self):
        text = robot(*ARM, '<material name="m"/>', '<transmission name="t"><type>x</type><joint name="j"/>'
                     '<actuator name="m"><mechanicalReduction> 50 </mechanicalReduction></actuator></transmission>',
                     '<xacro:macro xmlns:xacro="http://x"/>').replace('<axis', '<axes/><axis u="1"').replace(
                         "</inertial>", "</inertial><inertial/>")
        told = {(e["code"], e["text"]) for e in self.take("rich", text)["report"]}
        for code, words in (("dropped", "<material>"), ("unused", '"t" of joint "j", reduction  50 '),
                            ("unknown", "<xacro:macro>"), ("unknown", "<axes>"), ("unknown", "u in <axis>"),
                            ("repeated", "<inertial>")):
            self.assertTrue(any(c == code and words in text for c, text in told), (code, words, told))

    def test_many_at_once(self):
        """Parsing in several threads: each request gets its own robot or its own refusal."""
        def put(number):
            client = self.server.client()
            text = robot(*ARM).replace("01e-1", str(1 + number))
            good = [client.put(f"/v1/models/many{number}", text.encode(), Content_Type="application/xml") for _ in range(20)]
            bad = [client.put(f"/v1/models/many{number}", "\n" * number + "<robot>", Content_Type="application/xml")
                   for _ in range(20)]
            client.close()
            return {a.json()["revision"] for a in good}, {a.json()["detail"] for a in bad}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = list(pool.map(put, range(8)))
        self.assertTrue(all(len(revisions) == 1 for revisions, _ in results), results)
        self.assertEqual(len(set().union(*(revisions for revisions, _ in results))), 8)
        for number, (_, details) in enumerate(results):
            self.assertEqual([detail.split(":")[0] for detail in details], [f"line {number + 1}"])

    def test_chain_of_fixed_links(self):
        """A chain of as many fixed links as a model may have becomes one body."""
        n = 2000
        text = robot(link("l0"), *(link(f"l{i + 1}", INERTIAL) + joint(
            f"j{i}", f"l{i}", f"l{i + 1}", '<axis xyz="0 0 1"/>', "fixed" if i else "continuous") for i in range(n)))
        self.assertEqual(self.take("deep", text)["nv"], 1)
        self.assertClose(self.ask("deep", "mass-matrix", {"q": [0]})["mass_matrix"], [[0.1 * n]])


if __name__ == "__main__":
    tap.main()
