"""Tests that the numbers that are missing in an attribute of MJCF are taken from its class, as in MuJoCo 3.14: `stiffness="1"` keeps the higher
powers of a class that states three coefficients."""
import mujoco3
import tap

BODY = '<body><joint name="j" axis="0 1 0" {}/><geom type="box" size=".1 .2 .3" pos=".4 .1 .2"/></body>'
OWN = ("", '{}=".7"', '{}=".7 .8"', '{}=".7 .8 .9"', '{}="0"')
CLASSES = ((".1 .2 .3", ""), (".1 .2 .3", ".5 .6"), (".1 .2 .3", ".5"), ("", ".5 .6"), (".4", "0 0 .3"), ("1 2", "3"))


def stated(attribute, value):
    return f'{attribute}="{value}"' if value else ""


def classes(element, attribute, outer, inner):
    return (f'<default><{element} {stated(attribute, outer)}/><default class="c"><{element} {stated(attribute, inner)}/>'
            '<default class="d"/></default></default>')


class Classes(mujoco3.Agreement):
    def powers(self, before, joint, after=""):
        return self.agree(f'<mujoco>{before}<worldbody>{BODY.format(joint)}</worldbody>{after}</mujoco>')

    def test_joints(self):
        for attribute in ("stiffness", "damping"):
            for outer, inner in CLASSES:
                for own in OWN:
                    with self.subTest(attribute=attribute, outer=outer, inner=inner, own=own):
                        self.powers(classes("joint", attribute, outer, inner), 'class="d" ' + own.format(attribute))

    def test_tendons_and_actuators(self):
        """The model can express only the linear term of these elements: if the class adds higher powers, the report names the loss."""
        for element, after in (("tendon", '<tendon><fixed class="d" {}><joint joint="j" coef="2"/></fixed></tendon>'),
                               ("motor", '<actuator><motor class="d" joint="j" gear="2" {}/></actuator>')):
            for outer, inner, own, whole in ((".1 .2 .3", "", 'damping=".7"', "0.7 0.2 0.3"), (".1 .2", ".5", 'damping=".7"', "0.7 0.2 0"),
                                             (".1 .2 .3", ".4 .5", "", "0.4 0.5 0.3")):
                with self.subTest(element=element, outer=outer, own=own):
                    text = (f'<mujoco>{classes(element, "damping", outer, inner)}<worldbody>{BODY.format("")}</worldbody>'
                            f'{after.format(own)}</mujoco>')
                    said = [entry["text"] for entry in self.put_text("m", text) if entry["code"] == "not-held"]
                    self.assertTrue(any(f"polynomial, {whole}:" in line for line in said), said)

    def test_a_rest_length_is_not_completed(self):
        before = '<default><tendon springlength=".1 .3"/></default>'
        self.powers(before, "", '<tendon><fixed stiffness=".7" springlength=".2"><joint joint="j" coef="2"/></fixed></tendon>')

    def test_sizes_of_geoms(self):
        for kind, inherited, own in (("box", ".1 .2 .3", ".5"), ("ellipsoid", ".1 .2 .3", ".5 .4"), ("cylinder", ".1 .2", ".5"),
                                     ("capsule", ".1 .2 .3", ".2")):
            with self.subTest(kind):
                self.agree(f'<mujoco><default><geom type="{kind}" size="{inherited}"/></default><worldbody><body><joint axis="1 2 3"/>'
                           f'<geom size="{own}" pos=".1 .2 .3"/></body></worldbody></mujoco>')


if __name__ == "__main__":
    tap.main()
