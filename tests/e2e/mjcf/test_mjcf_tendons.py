"""Tests MJCF files with tendons: the efforts of fixed tendons at the joints are part of the model and equal MuJoCo's, and a warning names the
features of tendons that the model cannot express."""
import mujoco
import mujoco3
import tap
from mujoco3 import Compiled

EQUALITY = 0  # MuJoCo's mjCNSTR_EQUALITY
BOX = '<geom type="box" size=".1 .2 .3" pos=".4 .1 .2" mass="2"/>'
CHAIN = (f'<body name="a" pos=".1 .2 1" euler=".1 .2 .3"><joint name="j" axis="0 1 0"/>{BOX}<body name="b" pos=".1 .2 .5" euler=".1 .2 .3">'
         f'<joint name="k" axis="1 0 3" pos=".1 .2 0" ref=".3"/>{BOX}<body name="c" pos=".1 .2 .5"><joint name="l" type="slide" axis="1 0 3" '
         f'springref=".2" stiffness="3"/>{BOX}<site name="s"/></body><site name="o" pos=".1 0 0"/></body></body>')
RADIANS = '<compiler angle="radian"/>'
COEFFICIENTS = {"j": 2, "k": -3, "l": .5}


def joints(names, **coefficients):
    return "".join(f'<joint joint="{name}" coef="{coefficients.get(name, COEFFICIENTS[name])}"/>' for name in names)


def fixed(attributes, names="jk", name="t"):
    return f'<fixed name="{name}" {attributes}>{joints(names)}</fixed>'


def file(tendons, after="", before=RADIANS):
    return f"<mujoco>{before}<worldbody>{CHAIN}</worldbody><tendon>{tendons}</tendon>{after}</mujoco>"


def flags(**settings):
    return RADIANS + "<option><flag " + " ".join(f"{key}='{value}'" for key, value in settings.items()) + "/></option>"


HELD = {
    "armature": file(fixed('armature=".7"')), "damping": file(fixed('damping=".7"')),
    "dry friction": file(fixed('frictionloss=".7" damping=".1"')), "dry friction of a joint": file(fixed('frictionloss=".7"', "k")),
    "no dry friction": file(fixed('frictionloss=".7" armature="1"'), before=flags(frictionloss="disable")),
    "three joints": file(fixed('armature=".3" damping=".2"', "jkl")), "a joint's name": file(fixed('armature=".3"', "jkl", "j")),
    "two tendons": file(fixed('armature=".7"') + fixed('armature=".5"', "l", "u")),
    "a joint twice": file(f'<fixed armature=".7">{joints("j")}{joints("jk", j=1)}</fixed>'),
    "coefficients that cancel": file(f'<fixed armature=".7">{joints("jk")}{joints("j", j=-2)}</fixed>'),
    "no joint": file(f'<fixed armature=".7" stiffness="2">{joints("j", j=0)}</fixed>'),
    "one joint": file(fixed('armature=".3" damping=".2" stiffness="3"', "k")),
    "length at rest": file(fixed('stiffness="3" springlength=".4"', "l")),
    "two springs": file(fixed('stiffness="3" springlength=".4 .4"', "k") + fixed('stiffness="1"', "k", "u")),
    "default": file(fixed(""), before=RADIANS + '<default><tendon damping=".3"/></default>'),
    "class": file(fixed('class="x"'), before=RADIANS + '<default><default class="x"><tendon damping=".3"/></default></default>'),
    "of a motor": file(fixed(""), '<actuator><motor tendon="t" gear="3" armature=".1" damping=".2"/></actuator>'),
    "with a motor": file(fixed('armature=".1"'), '<actuator><position tendon="t" gear="3" armature=".1" kp="3"/></actuator>'),
    "disabled": file(fixed('armature=".1" damping="2" stiffness="3"'), before=flags(damper="disable", spring="disable")),
    "spring disabled": file(fixed('stiffness="3" springlength=".4"', "l"), before=flags(spring="disable")),
    "idle": file(fixed("") + '<spatial><site site="s"/><site site="o"/></spatial>'),
}
SPATIAL = '<spatial name="t" {}><site site="s"/><site site="o"/></spatial>'
LOST = {
    "stiffness": file(fixed('stiffness=".7"')), "armature": file(fixed('armature=".7"') + fixed('armature=".5"', "jl", "u")),
    "stiffness of": file(fixed('stiffness="3" springlength=".1 .4"', "l")), "range": file(fixed('range="-1 1"')),
    "damping of <spatial>": file(SPATIAL.format('damping="1"')), "stiffness of <spatial>": file(SPATIAL.format('stiffness="1"')),
    "armature of <spatial>": file(SPATIAL.format('armature="1"')), "frictionloss of <spatial>": file(SPATIAL.format('frictionloss="1"')),
    "and that of 1 other tendons": file(SPATIAL.format('damping="1"') + fixed("", name="v") + SPATIAL.format('damping="1"').replace('"t"', '"u"')),
    "armature of <fixed> \"h\"": file(fixed('armature="1"', name="h").replace('coef="2"', 'coef="2e6"')),
    "polynomial": file(fixed('damping="1 .5"')),
}


class Tendons(mujoco3.Agreement):
    def not_held(self, text):
        Compiled(text)
        return [entry["text"] for entry in self.put_text("m", text) if entry["code"] == "not-held"]

    def test_held(self):
        for name, text in HELD.items():
            with self.subTest(name):
                said = [entry["text"] for entry in self.agree(text) if entry["code"] == "not-held"]
                self.assertFalse([line for line in said if "tendon" in line], said)

    def test_armature_between_branches(self):
        """MuJoCo's mass matrix has no entry for two joints of which neither moves the other."""
        body = '<body pos=".1 0 0"><joint name="{}" axis="0 1 0"/>' + BOX + "{}</body>"
        tendon = '<tendon><fixed name="t" {}>' + joints("jk") + "</fixed></tendon></mujoco>"
        for world in (body.format("j", "") + body.format("k", ""), body.format("l", body.format("j", "") + f"<body>{body.format('k', '')}</body>")):
            text = f"<mujoco><worldbody>{world}</worldbody>"
            said = self.not_held(text + tendon.format('armature=".7"'))
            self.assertTrue(any('"t"' in line and '"j"' in line and '"k"' in line for line in said), said)
            self.assertEqual(self.not_held(text + tendon.format('damping=".7"')), [])
            self.agree(text + tendon.format('damping=".7" frictionloss=".2"'))

    def test_lost(self):
        for word, text in LOST.items():
            with self.subTest(word):
                said = self.not_held(text)
                self.assertTrue(any(word in line for line in said), said)

    def coupled(self, equality, tendons):
        """Checks that MuJoCo's equality has no residual where the follower has the position that its mimic in the document gives.
        Returns the mimics."""
        text = file(tendons, f"<equality>{equality}</equality>")
        model = Compiled(text)
        self.put_text("m", text, "")
        links = self.client.get("/v1/models/m/document").json()["links"]
        mimics = {link["joint"]["name"]: link["joint"]["mimic"] for link in links if "mimic" in link["joint"]}
        self.assertEqual(len(mimics), 1, links)
        for drawn in mujoco.states(model, 3, 2):
            position = dict(zip("jkl", drawn[0]))
            for name, mimic in mimics.items():
                position[name] = mimic["multiplier"] * position[mimic["joint"]] + mimic["offset"]
            answer = model.run(states=[[list(position.values()), [0.0] * 3, [0.0] * 3]], constraints=True)["states"][0]
            rows = [r for r, kind in zip(answer["residual"], answer["constraint_types"]) if kind == EQUALITY]
            self.assertTrue(rows)
            self.assertClose(rows, [0.0] * len(rows), 1e-12, scale=1, what=equality)

    def test_equalities(self):
        for polynomial in ("", 'polycoef=".3 1 0 0 0"'):
            self.coupled(f'<tendon tendon1="t" {polynomial}/>', fixed(""))
        self.coupled('<tendon tendon1="t" tendon2="u" polycoef=".3 2 0 0 0"/>', fixed("", "k") + fixed("", "l", "u"))

    def test_an_equality_of_one_joint_locks_it(self):
        text = file(fixed("", "k"), '<equality><tendon tendon1="t" polycoef=".6 0 0 0 0"/></equality>')
        self.put_text("m", text, "")
        self.assertEqual([joint["name"] for joint in self.client.get("/v1/models/m").json()["joints"]], ["j", "l"])

    def test_equalities_that_are_lost(self):
        for equality, tendons, reason in (
                ('<tendon tendon1="t"/>', fixed("", "jkl"), "more than two joints"),
                ('<tendon tendon1="t" tendon2="u" polycoef="0 1 .2 0 0"/>', fixed("", "k") + fixed("", "l", "u"), "degree above 1"),
                ('<tendon tendon1="t"/>', '<spatial name="t"><site site="s"/><site site="s"/></spatial>', "not a sum over joints"),
                ('<tendon tendon1="t" tendon2="u"/>', fixed("", "k") + fixed("", "k", "u"), "couples no joints")):
            said = [entry["text"] for entry in self.put_text("m", file(tendons, f"<equality>{equality}</equality>"), "")]
            self.assertTrue(any(reason in line for line in said), said)

    def test_refusals(self):
        for text, code in ((file(fixed("").replace('joint="j"', 'joint="x"')), "unknown-name"),
                           (file(fixed('armature="-1"')), "bad-inertia"), (file(fixed('frictionloss="-1"')), "bad-value"),
                           (file(fixed(""), '<actuator><motor tendon="x"/></actuator>'), "unknown-name"),
                           (file(fixed(""), '<equality><tendon tendon1="x"/></equality>'), "unknown-name")):
            answer = self.client.put("/v1/models/m", text.encode(), Content_Type="application/mjcf+xml")
            self.assertEqual((answer.status, answer.json()["code"]), (422, code), text)

    def test_a_ball_joint_of_a_tendon(self):
        """For a ball joint in a fixed tendon, MuJoCo uses the first entry of the quaternion as if it were a coordinate. The model leaves
        the tendon out and reports that."""
        ball = '<body><joint name="ball" type="ball"/><geom size=".1"/></body></worldbody>'
        text = file(fixed('damping=".3"').replace('joint="j"', 'joint="ball"')).replace("</worldbody>", ball)
        said = [entry["text"] for entry in self.put_text("m", text) if entry["code"] == "not-held"]
        self.assertTrue(any('joint "ball" of this tendon is neither' in line for line in said), said)
        self.assertTrue(any("damping of <fixed>" in line for line in said), said)

    def test_huge_and_many(self):
        self.agree(file(fixed('damping="0"', "k").replace('coef="-3"', 'coef="1e200"')))
        for text, code in ((file(fixed('armature="1"', "k").replace('coef="-3"', 'coef="1e200"')), "non-finite"),
                           (file(fixed('stiffness="1"', "k").replace('coef="-3"', 'coef="1e200"')), "non-finite"),
                           (file("<fixed/>" * 4097), "model-too-large")):
            answer = self.client.put("/v1/models/m", text.encode(), Content_Type="application/mjcf+xml")
            self.assertEqual(answer.json()["code"], code, text[-300:])

    def test_a_servo_takes_its_range_from_the_joint(self):
        text = file(fixed("")).replace('name="l"', 'name="l" range="-1 1"').replace(
            "</mujoco>", '<actuator><position joint="l" inheritrange="1" ctrllimited="true"/></actuator></mujoco>')
        self.agree(text)


if __name__ == "__main__":
    tap.main()
