"""Tests <replicate> of MJCF against MuJoCo 3.14: names, poses, masses and the equalities and actuators that refer to what is
copied. Bodies that <composite> and <flexcomp> generate are left out with a warning."""
import mujoco3
import tap
from mujoco3 import Compiled

LEG = ('<body name="leg" pos=".3 .1 0" euler="10 20 0"><joint name="hip" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/><site name="toe" '
       'pos=".4 0 0"/><body name="foot" pos=".2 .1 0"><joint name="ankle" axis="1 0 0"/><geom type="box" size=".1 .2 .05"/></body></body>')
CLASSES = ('<default><default class="c"><joint armature=".3" damping=".2"/></default><default class="d"><joint armature=".5"/></default>'
           '</default>')


def file(world, after="", before=""):
    return f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>"


def replicate(inner=LEG, count=3, **attributes):
    return f'<replicate count="{count}" ' + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + f">{inner}</replicate>"


class Replicates(mujoco3.Agreement):
    def same(self, text):
        report, model = self.agree(text), Compiled(text)
        about = self.client.get("/v1/models/m").json()
        names = [joint["name"] for joint in about["joints"] if joint["type"] != "fixed"]
        self.assertEqual([name for name in names if name in model.about["joints"]], [name for name in model.about["joints"] if name])
        return [entry["text"] for entry in report]

    def test_turned_and_moved(self):
        for attributes in ({}, {"euler": "0 0 120"}, {"offset": ".5 .2 .1"}, {"euler": "10 20 30", "offset": ".5 .2 .1"},
                           {"euler": "10 20 30", "offset": ".5 .2 .1", "sep": "-", "count": 11}, {"count": 1}, {"count": 10, "euler": "0 7 0"}):
            self.same(file(replicate(**attributes)))

    def test_no_copies(self):
        """For a count of 0 or less MuJoCo makes no copies, and leaves out actuators, tendons and equalities that refer to the missing
        elements."""
        base = '<body name="base"><joint name="j" axis="0 1 0"/><geom size=".2" pos=".1 0 0"/>{}</body>'
        for count in (0, -2):
            for after in ("", '<actuator><motor joint="hip" gear="2" armature=".3"/><motor joint="j" gear="3" armature=".2"/></actuator>',
                          '<tendon><fixed name="t" stiffness="7"><joint joint="hip" coef="2"/><joint joint="j" coef="3"/></fixed></tendon>',
                          '<equality><joint joint1="hip" joint2="j" polycoef="0 2 0 0 0"/></equality>'):
                said = self.same(file(base.format(replicate(count=count)), after))
                self.assertTrue(any(text.startswith("<replicate> makes no copy") for text in said), said)
        self.same(file(base.format(replicate(replicate(count=0) + replicate(LEG.replace("leg", "arm").replace("hip", "shoulder").replace(
            "ankle", "wrist").replace("toe", "tip").replace("foot", "hand"), count=2), count=3, sep="_"))))

    def test_units_and_sequences(self):
        for before in ('<compiler angle="radian"/>', '<compiler eulerseq="ZYx"/>', '<compiler angle="radian" eulerseq="zxz"/>'):
            self.same(file(replicate(euler=".1 .2 .3", offset=".5 .2 .1"), before=before))

    def test_nested(self):
        inner = replicate(count=2, sep=".", offset="1 0 0")
        self.same(file(replicate(inner, count=2, sep="_", euler="0 0 40")))
        self.same(file('<body name="base" pos="0 0 1" euler="5 6 7"><freejoint/><geom size=".2"/>' + replicate(inner, euler="0 0 40") + "</body>"))
        self.same(file('<frame pos="1 2 3" euler="5 6 7">' + replicate('<frame pos=".1 0 0">' + LEG + "</frame>", euler="0 30 0") + "</frame>"))

    def test_geoms_joints_and_sites_of_a_body(self):
        content = '<geom name="g" size=".1" pos=".3 0 0" mass="2"/><site name="s" pos=".1 .2 .3"/>'
        self.same(file('<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size=".2"/>' + replicate(content, euler="0 0 50") + "</body>"))

    def test_free_bodies(self):
        self.same(file(replicate('<body name="a" pos="1 0 0"><freejoint name="f"/><geom type="box" size=".1 .2 .3"/></body>', euler="0 0 50")))

    def test_classes(self):
        for attributes in ({}, {"childclass": "c"}):
            self.same(file('<body name="b" childclass="d"><joint name="j" axis="0 1 0"/><geom size=".2" pos="0 .3 0"/>' +
                           replicate(euler="0 0 50", **attributes) + "</body>", before=CLASSES))

    def test_actuators_that_refer_to_the_copied(self):
        for actuator in ('<motor name="m" joint="hip" gear="3" armature=".3"/>', '<motor joint="hip1" armature=".3"/>',
                         '<position jointinparent="ankle" armature=".2" damping=".3"/><motor joint="hip" armature=".1"/>'):
            self.same(file(replicate(euler="0 0 50"), f"<actuator>{actuator}</actuator>"))
        twice = file(replicate(replicate(count=2), count=2, sep="_"), "")
        for joint in ("hip", "hip0", "hip0_1"):
            self.same(twice.replace("</worldbody>", f'</worldbody><actuator><motor joint="{joint}" armature=".3"/></actuator>'))

    def test_equalities_that_refer_to_the_copied(self):
        """Each copy of the leg has its own equality: an ankle follows its hip."""
        text = file(replicate(euler="0 0 50", count=2), '<equality><joint name="e" joint1="ankle" joint2="hip" polycoef="0 2"/></equality>')
        alone = file(replicate(euler="0 0 50", count=2), "".join(
            f'<equality><joint joint1="ankle{i}" joint2="hip{i}" polycoef="0 2"/></equality>' for i in (0, 1)))
        taus = []
        for each in (text, alone):
            self.put_text("m", each, "")
            self.assertEqual(self.client.get("/v1/models/m").json()["velocity_names"], ["hip0", "hip1"])
            taus.append(self.ask("m", "inverse-dynamics", {"q": [0.3, -0.2], "qd": [1, 2], "qdd": [2, 1]})["tau"])
        self.assertEqual(taus[0], taus[1])
        self.assertEqual(len(Compiled(text).about["equalities"]), 2)

    def test_tendons_that_refer_to_the_copied(self):
        """Each copy has a tendon and an actuator of its own, and the actuator acts on the tendon of its copy."""
        fixed = '<fixed name="t" {}><joint joint="hip" coef="2"/><joint joint="ankle" coef="-3"/></fixed>'
        spatial = '<spatial name="u"><site site="toe"/><site site="w"/></spatial>'
        pulls = '<actuator><motor name="m" tendon="t" gear="2" armature=".3" damping=".2"/><motor tendon="u"/></actuator>'
        world = '<site name="w" pos="0 0 3"/>'
        for tendon, after in ((fixed.format('armature=".3" damping=".2"'), ""), (fixed.format(""), pulls.replace('<motor tendon="u"/>', "")),
                              (fixed.format('frictionloss=".4"') + spatial, pulls)):
            self.same(file(world + replicate(euler="0 0 50"), f"<tendon>{tendon}</tendon>{after}"))
        twice = replicate(replicate(count=2), count=2, sep="_")
        self.same(file(twice, f'<tendon>{fixed.format("armature=" + chr(34) + ".3" + chr(34))}</tendon>' + pulls.replace('<motor tendon="u"/>', "")))
        text = file(replicate(count=2), '<tendon><fixed name="t"><joint joint="hip" coef="2"/></fixed></tendon><equality><tendon tendon1="t"/></equality>')
        self.put_text("m", text, "")
        self.assertEqual(self.client.get("/v1/models/m").json()["velocity_names"], ["ankle0", "ankle1"])
        self.assertEqual(len(Compiled(text).about["equalities"]), 2)

    def test_refusals(self):
        for text, code, says in ((file(replicate(count=1.5)), "bad-value", "whole number"),
                                 (file(f"<replicate>{LEG}</replicate>"), "missing-field", "count"),
                                 (file(replicate(count=60000)), "model-too-large", "more than"),
                                 (file(replicate(replicate(replicate(count=200), count=200), count=200)), "model-too-large", "more than"),
                                 (file(replicate(count=700)), "model-too-large", "limit"),
                                 (file('<body name="leg0"><joint name="x"/><geom size="1"/></body>' + replicate()), "duplicate-name", "leg0"),
                                 (file(replicate(sep="s" * 100)), "bad-value", "sep")):
            answer = self.client.put("/v1/models/bad", text, Content_Type="application/mjcf+xml")
            self.assertEqual((answer.status, answer.json()["code"]), (413 if code == "model-too-large" else 422, code), answer)
            self.assertIn(says, answer.json()["detail"])

    def test_an_unknown_attribute_is_told(self):
        said = [entry["text"] for entry in self.put_text("m", file(replicate(oyler="0 0 50")))]
        self.assertTrue(any("oyler of <replicate>" in text for text in said), said)


class Generators(mujoco3.Agreement):
    def test_bodies_are_left_out(self):
        robot = '<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>'
        for generator in ('<composite type="cable" count="5 1 1" curve="s" size="1"><geom size=".1"/></composite>',
                          '<flexcomp name="f" type="grid" count="2 2 1" spacing=".1 .1 .1"/>'):
            said = [entry["text"] for entry in self.put_text("m", file(robot + generator))]
            self.assertTrue(any("generates bodies that are not part of the model" in text for text in said), said)
            self.compare(Compiled(file(robot)), "m")

    def test_references_to_them(self):
        robot = '<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>'
        after = '<equality><connect body1="a" body2="B_last" anchor="0 0 0"/></equality><actuator><motor joint="J_3"/></actuator>'
        cable = '<composite type="cable" count="5 1 1" curve="s" size="1"><geom size=".1"/></composite>'
        said = [entry["text"] for entry in self.put_text("m", file(robot + cable, after), "")]
        self.assertEqual(sum("<composite> or <flexcomp> makes" in text for text in said), 2, said)
        self.assertProblem(self.client.put("/v1/models/m", file(robot, after), Content_Type="application/mjcf+xml"), 422)

    def test_nothing_else_moves(self):
        """A file in which only flexible bodies move is refused, and the problem names the element that generates them."""
        for generator in ('<composite type="cable" count="5 1 1" curve="s" size="1"><geom size=".1"/></composite>',
                          '<flexcomp name="f" type="grid" count="2 2 1" spacing=".1 .1 .1"/>'):
            for still in ("", '<body name="a"><geom size=".1"/></body>'):
                problem = self.assertProblem(self.client.put("/v1/models/m", file(still + generator).encode(), Content_Type="application/mjcf+xml"), 422)
                self.assertIn("<composite> or <flexcomp> makes: bodies that bend", problem["detail"])
            for still in ("", '<body name="a"><geom size=".1"/></body>'):
                problem = self.assertProblem(self.client.put("/v1/models/m", file(still).encode(), Content_Type="application/mjcf+xml"), 422)
                self.assertNotIn("bend", problem["detail"])


if __name__ == "__main__":
    tap.main()
