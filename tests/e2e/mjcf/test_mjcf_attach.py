"""Tests <attach> of MJCF against MuJoCo 3.14: the poses of the copies, their names, classes and units, and which actuators and equalities are
copied too. The robot and the models that it attaches come as one archive."""
import base64
import io
import zipfile

import mujoco3
import tap
from mujoco3 import Compiled

LEG = """<mujoco model="leg">
<compiler angle="radian" eulerseq="zyx"/>
<default><joint armature=".3"/><geom density="500"/><default class="soft"><joint damping=".7" stiffness="4"/></default></default>
<asset><mesh name="foot" vertex="0 0 0 .1 0 0 0 .2 0 0 0 .3"/></asset>
<worldbody><geom name="ground" type="box" size="1 1 .1" pos=".1 0 0"/>
 <frame name="mount" pos=".1 .2 .3" euler=".3 .4 .5"><body name="thigh" pos=".3 0 0" euler=".1 .2 .3"><joint name="hip" axis="0 1 0" range="-1 2"/>
  <geom size=".1" pos=".2 0 0"/><site name="mark" pos=".4 0 0"/>
  <body name="shank" pos=".2 .1 0" childclass="soft"><joint name="knee" axis="1 0 0"/><geom type="mesh" mesh="foot"/>
   <body name="toe" pos=".1 0 0"><joint name="tip"/><geom type="box" size=".1 .2 .05"/></body></body></body></frame>
 <body name="other" pos="1 1 1"><joint name="crank" axis="0 1 1"/><geom size=".2"/></body>
</worldbody>
<actuator><motor name="m" joint="hip" gear="3" armature=".3"/><motor name="n" joint="crank" armature=".5"/></actuator>
</mujoco>"""


def robot(world, before="", after="", models='<model name="leg" file="leg.xml"/>'):
    return f"<mujoco>{before}<asset>{models}</asset><worldbody>{world}</worldbody>{after}</mujoco>"


def attach(prefix="p_", **attributes):
    return f'<attach prefix="{prefix}" ' + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>"


class Attachments(mujoco3.Agreement):
    def put(self, text, files, query):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in {"robot.xml": text, **files}.items():
                archive.writestr(name, content)
        return self.client.put(f"/v1/models/m?main=robot.xml{query}", packed.getvalue(), Content_Type="application/zip")

    def same(self, text, **files):
        """Compares with MuJoCo, names included. Returns the texts of the report."""
        files = {"leg.xml": LEG, **{name + ".xml": content for name, content in files.items()}}
        answer = self.put(text, files, "&equality=independent")
        self.assertIn(answer.status, (200, 201), f"{text}\n{answer}")
        model = Compiled(text, assets={name: base64.b64encode(content.encode()).decode() for name, content in files.items()})
        self.compare(model, "m")
        names = [joint["name"] for joint in self.client.get("/v1/models/m").json()["joints"] if joint["type"] != "fixed"]
        self.assertEqual([name for name in names if name in model.about["joints"]], [name for name in model.about["joints"] if name])
        return [entry["text"] for entry in answer.json()["report"]]

    def test_body_frame_and_world(self):
        for part in ({"body": "thigh"}, {"frame": "mount"}, {"body": "shank"}, {"body": "other"}, {}):
            for around in ("{}", '<frame pos="1 2 3" euler="10 20 30">{}</frame>',
                           '<body name="base" pos="0 0 1" euler="5 6 7"><freejoint/><geom size=".2"/>{}</body>'):
                with self.subTest(part=part, around=around):
                    self.same(robot(around.format(attach(model="leg", **part))))

    def test_several_attachments(self):
        self.same(robot(attach("a", model="leg", frame="mount") + '<frame pos="2 0 0">' + attach("b", model="leg", body="thigh") + "</frame>"))
        pair = "".join(f'<body name="{name}"><joint name="j{name}" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>' for name in "st")
        pair = f'<mujoco><default><joint armature=".2"/></default><worldbody>{pair}</worldbody></mujoco>'
        self.same(robot(attach("a", model="m", body="s") + attach("a", model="m", body="t"), models='<model name="m" file="pair.xml"/>'), pair=pair)

    def test_one_prefix_for_two_parts_with_actuators(self):
        """MuJoCo copies the actuators of the first part twice, so that the armature of its joint is not compared."""
        part = LEG.replace('name="m" ', "").replace('name="n" ', "").replace('<mesh name="foot"', '<mesh name="none"')
        answer = self.put(robot(attach("a", model="leg", body="other") + attach("a", model="leg", frame="mount")), {"leg.xml": part.replace("none", "foot")}, "")
        self.assertIn(answer.status, (200, 201), answer)
        self.assertIn("attached once here", " ".join(entry["text"] for entry in answer.json()["report"]))
        document = self.client.get("/v1/models/m/document").json()
        inertia = {link["joint"]["name"]: link["joint"].get("rotor_inertia") for link in document["links"]}
        self.assertEqual(inertia["acrank"], 0.5 + 0.3)
        self.assertEqual(inertia["ahip"], 0.3 * 9 + 0.3)

    def test_classes_stay_apart(self):
        """Default classes of the robot must not affect the attached bodies, although the attached model has classes of the same names."""
        classes = ('<default><joint armature=".9" damping=".4"/><geom density="3000"/><default class="soft"><joint damping="2"/></default>'
                   '<default class="hard"><joint stiffness="5"/></default></default>')
        body = '<body name="b"><joint name="j" axis="0 1 0"/><geom size=".2" pos="0 .3 0"/>{}</body>'
        for part in ({"body": "thigh"}, {"body": "shank"}, {"body": "toe"}, {}):
            with self.subTest(part=part):
                self.same(robot(body.format(attach(model="leg", **part)), before=classes))
                self.same(robot(body.replace("<body", '<body childclass="hard"').format(attach(model="leg", **part)), before=classes))

    def test_classes_of_one_name(self):
        """Without a prefix, classes of both models have the same names. After the <attach>, an element that inherits a class gets that of the
        attached model in MuJoCo, and an element with an attribute `class` that of the robot."""
        own = '<body{}><joint {} axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>'
        for before in ("", '<default><joint armature=".9"/></default>', '<default><default class="soft"><joint damping="2" armature=".4"/></default></default>'):
            named = before and "soft" in before
            for around, stated in (("{}", ""), ("{}", 'class="main"'), *((("{}", 'class="soft"'), ('<frame childclass="soft">{}</frame>', "")) if named else ())):
                for part in ({"body": "thigh"}, {"body": "shank"}, {}):
                    with self.subTest(before=before, around=around, stated=stated, part=part):
                        first, last = (around.format(own.format(f' name="{name}"', f'name="j{name}" {stated}')) for name in "st")
                        self.same(robot(first + attach("", model="leg", **part) + last, before=before,
                                        after='<actuator><motor joint="jt" armature=".2"/></actuator>'))
        twice = attach("", model="leg", body="other") + attach("", model="twin", body="twin") + own.format("", "")
        self.same(robot(twice, models='<model name="leg" file="leg.xml"/><model file="twin.xml"/>'),
                  twin=LEG.replace('"leg"', '"twin"').replace('"other"', '"twin"').replace("foot", "hoof").replace("crank", "wheel").replace('armature=".3"', 'armature=".8"').replace('name="m"', "").replace(
                      'name="n"', ""))

    def test_classes_of_one_name_two_levels_deep(self):
        pair = ('<mujoco model="pair"><default><joint armature=".05"/><default class="soft"><joint stiffness="9"/></default></default><asset><model '
                'file="leg.xml"/></asset><worldbody><body name="hub" childclass="soft"><joint name="yaw" axis="0 0 1"/><geom size=".3"/>' + attach("", model="leg", body="thigh") +
                '<body name="rest"><joint name="last"/><geom size=".1" pos=".2 0 0"/></body></body></worldbody></mujoco>')
        for prefix in ("", "x_"):
            self.same(robot('<body name="a" childclass="soft"><joint name="ja"/><geom size=".2"/>' + attach(prefix, model="pair", body="hub") +
                            '<body name="b"><joint name="jb"/><geom size=".2" pos=".1 0 0"/></body></body>',
                            before='<default><default class="soft"><joint damping=".6"/></default></default>', models='<model name="pair" file="pair.xml"/>'), pair=pair)

    def test_sections_keep_the_classes_of_the_robot(self):
        """After an <attach> without prefix, tendons, equalities and actuators have the robot's defaults."""
        part = ('<mujoco model="part"><default><tendon damping="10"/><motor armature="10"/><equality active="false"/></default><worldbody><body><joint name="j"/>'
                '<geom size=".1" pos="0 1 0"/></body></worldbody></mujoco>')
        body = '<body><joint name="k"/><geom size=".1" pos="1 0 0"/></body>'
        for before in ("", '<default><tendon damping="1"/><motor armature="1"/></default>'):
            self.same(robot(attach("", model="part") + body, before=before, models='<model file="part.xml"/>',
                            after='<tendon><fixed><joint joint="k" coef="1"/></fixed></tendon><actuator><motor joint="k"/></actuator>'), part=part)
            answer = self.put(robot(attach("", model="part") + body, before=before, models='<model file="part.xml"/>',
                                    after='<equality><joint joint1="k" joint2="j"/></equality>'), {"part.xml": part}, "")
            self.assertEqual(answer.json()["nv"], 1, answer)

    def test_tendons_have_the_classes_of_their_model(self):
        rope = ('<mujoco model="rope"><default><tendon stiffness="3" damping="2"/><default class="t"><tendon frictionloss="4"/></default></default><worldbody><body '
                'name="q"><joint name="j"/><geom size=".1"/></body></worldbody><tendon><fixed name="T" {}><joint joint="j" coef="2"/></fixed></tendon></mujoco>')
        for stated in ("", 'class="t"'):
            for before in ("", '<default><tendon stiffness="7"/></default>'):
                for prefix in ("p_", ""):
                    self.same(robot(attach(prefix, model="rope", body="q"), before=before, models='<model file="rope.xml"/>'), rope=rope.format(stated))

    def test_model_without_classes(self):
        plain = '<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>'
        self.same(robot('<body name="b" childclass="c"><joint name="k"/><geom size=".2"/>' + attach(model="plain", body="a") + "</body>",
                        before='<default><default class="c"><joint armature=".8"/></default></default>',
                        models='<model name="plain" file="plain.xml"/>'), plain=plain)

    def test_the_name_of_a_model_is_that_of_its_file(self):
        self.same(robot(attach(model="leg", body="thigh"), models='<model file="leg.xml"/>'))

    def test_settings_belong_to_the_model(self):
        """Angles, sequences and automatic limits are those of the <compiler> of each file."""
        for compiler in ('<compiler autolimits="false"/>', '<compiler angle="radian" eulerseq="XYZ"/>', '<compiler inertiafromgeom="true" boundmass="9"/>',
                         '<compiler settotalmass="50"/>'):
            own = '<body name="b" euler="10 20 30"><joint name="j" axis="0 1 0" limited="true" range="-1 1"/><geom size=".2"/></body>'
            with self.subTest(compiler=compiler):
                self.same(robot(own + attach(model="leg", body="thigh"), before=compiler))

    def test_attachments_of_an_attached_model(self):
        pair = ('<mujoco model="pair"><compiler angle="radian"/><default><joint armature=".05"/></default><asset><model file="leg.xml"/></asset><worldbody>'
                '<body name="hub" euler=".1 .2 .3"><joint name="yaw" axis="0 0 1"/><geom size=".3"/>' + attach("left_", model="leg", body="thigh") +
                '<frame pos="0 1 0">' + attach("right_", model="leg", body="thigh") + "</frame></body></worldbody></mujoco>")
        self.same(robot(attach("x_", model="pair", body="hub") + attach("y_", model="pair"), models='<model file="pair.xml"/>'), pair=pair)

    def test_copies_within_a_file(self):
        classes = '<default><default class="c"><joint armature=".3" damping=".2"/></default></default>'
        own = ('<body name="hub" childclass="c"><frame name="f" pos=".3 0 0" euler="0 40 0"><body name="arm" pos=".1 0 0"><joint name="turn" axis="0 1 0"/>'
               '<geom size=".1" pos=".2 0 0"/></body></frame><joint name="yaw" axis="0 0 1"/><geom size=".2" pos="0 .3 0"/></body>')
        motor = '<actuator><motor joint="turn" armature=".4"/></actuator>'
        for part in ({"body": "arm"}, {"frame": "f"}, {"body": "hub"}):
            with self.subTest(part=part):
                self.same(robot(own + '<frame pos="1 0 0">' + attach(**part) + "</frame>", before=classes, after=motor))

    def test_replicates_around_and_inside(self):
        inner = ('<mujoco model="ring"><worldbody><body name="hub"><joint name="yaw"/><geom size=".2"/><replicate count="3" euler="0 0 120">'
                 '<body name="arm" pos=".3 0 0"><joint name="turn" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></replicate></body></worldbody>'
                 '<actuator><motor joint="turn" armature=".4"/></actuator></mujoco>')
        self.same(robot(attach(model="ring", body="hub"), models='<model file="ring.xml"/>'), ring=inner)
        self.same(robot('<replicate count="2" offset="2 0 0">' + attach(model="leg", body="thigh") + "</replicate>"))

    def test_equalities_come_along(self):
        """The copy of a coupled pair of joints is coupled, too; an equality with a body that is not copied is left out."""
        pair = ('<mujoco model="pair"><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><body name="b" pos=".5 0 0">'
                '<joint name="k" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body><body name="c"><joint name="l"/><geom size=".2"/></body></worldbody>'
                '<equality><joint joint1="k" joint2="j" polycoef="0 2"/><joint joint1="l" joint2="j" polycoef="0 1"/></equality></mujoco>')
        answer = self.put(robot(attach("", model="pair", body="a"), models='<model file="pair.xml"/>'), {"pair.xml": pair}, "")
        self.assertIn(answer.status, (200, 201), answer)
        self.assertEqual(self.client.get("/v1/models/m").json()["velocity_names"], ["j"])

    def test_options_of_an_attached_model(self):
        own = '<body name="b"><joint name="j" axis="0 1 0"/><geom size=".2" pos=".3 0 0"/></body>'
        moon = LEG.replace("<default>", '<option gravity="0 0 -1.6"><flag spring="disable"/></option><default>', 1)
        told = "gravity in <option> of this attached model is not used: the robot's file decides"
        text = own + attach(model="leg", body="thigh")
        self.assertIn(told, self.same(robot(text), leg=moon))
        self.assertIn(told, self.same(robot(text, before='<option gravity="0 0 -3"/>'), leg=moon))
        self.assertNotIn(told, self.same(robot(text, before='<compiler conflict="merge"/>'), leg=moon))
        self.assertNotIn(told, self.same(robot(text, before='<option gravity="0 0 -1.6"/>'), leg=moon))
        for mode in ("merge", "error"):
            answer = self.put(robot(text, before=f'<compiler conflict="{mode}"/><option gravity="0 0 -3"/>'), {"leg.xml": moon}, "")
            self.assertEqual(answer.status, 422)
            self.assertIn("another gravity", answer.json()["detail"])

    def test_refusals(self):
        nested = '<mujoco model="leg"><asset><model file="robot.xml"/></asset><worldbody/></mujoco>'
        own = '<body name="b"><joint name="j"/><geom size=".2"/>{}</body>'
        for text, files, says in (
                (robot(attach(body="thigh", model="none")), {}, 'no <model> of <asset> is "none"'),
                (robot(attach(body="none", model="leg")), {}, 'the model has no <body> "none"'),
                (robot(attach(body="thigh", frame="mount", model="leg")), {}, "both body and frame"),
                (robot(own.format("") + attach()), {}, "neither body nor frame"),
                (robot(own.format(attach(body="b"))), {}, "not before it"),
                (robot('<attach model="leg"/>'), {}, '"prefix"'),
                (robot(attach(model="leg"), models='<model name="leg" file="none.xml"/>'), {}, "there is no such file"),
                (robot(attach(model="leg")), {"leg.xml": nested}, "brings itself in again"),
                (robot(attach(model="leg")), {"leg.xml": '<robot name="a"/>'}, "no MJCF"),
                (robot(attach("p" * 500, model="leg")), {}, "too long"),
                (robot("".join(attach("a", model="leg", body="thigh") for _ in (1, 2))), {}, "another <body> has this name")):
            answer = self.put(text, {"leg.xml": LEG, **files}, "")
            self.assertIn(answer.status, (400, 422), f"{text}\n{answer}")
            self.assertIn(says, answer.json()["detail"])

    def test_one_file_alone(self):
        answer = self.client.put("/v1/models/m", robot(attach(model="leg")).encode(), Content_Type="application/mjcf+xml")
        self.assertEqual(answer.status, 422)
        self.assertIn('<model file="leg.xml">: a request with one file has no other', answer.json()["detail"])

    def test_many_copies(self):
        """Nested attachments, each of which doubles ten thousand elements, are refused at a limit."""
        world = '<frame name="f">' + "<site/>" * 5000 + "</frame>" + "".join(f'<frame name="f{k}">{attach(f"{k}_", frame="f")}</frame>' for k in range(20))
        answer = self.put(robot(world), {"leg.xml": LEG}, "")
        self.assertEqual(answer.status, 413)
        self.assertEqual(answer.json()["code"], "model-too-large")
        deep = '<frame name="d0">' + "<frame>" * 30 + '<body><joint/><geom size=".1"/></body>' + "</frame>" * 31
        for k in range(3):
            deep += f'<frame name="d{k + 1}">' + "<frame>" * 30 + attach("", frame=f"d{k}") + "</frame>" * 31
        answer = self.put(robot(deep), {"leg.xml": LEG}, "")
        self.assertEqual((answer.status, answer.json()["code"]), (400, "too-deep"), answer)


if __name__ == "__main__":
    tap.main()
