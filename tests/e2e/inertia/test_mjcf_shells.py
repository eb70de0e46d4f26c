"""Tests the inertia of `shellinertia` geoms: the server's results equal those of MuJoCo 3.14 and the closed forms of thin sheets."""
import math

import mujoco3
import tap

SIZES = {"sphere": ".13", "capsule": ".07 .21", "cylinder": ".09 .17", "ellipsoid": ".11 .16 .23", "box": ".08 .12 .19"}
POSE = 'pos=".3 .1 -.2" euler="20 30 40"'


def arm(geoms, before=""):
    return (f'<mujoco>{before}<worldbody><body name="a" pos="0 0 1"><joint name="j" axis="1 2 3"/><joint name="k" axis="0 1 1"/>{geoms}'
            '</body></worldbody></mujoco>')


class Shells(mujoco3.Agreement):
    def test_each_shape_has_the_numbers_of_mujoco(self):
        for shape, size in SIZES.items():
            for weight in ('mass="2.3"', 'density="17"', ""):
                with self.subTest(shape=shape, weight=weight):
                    self.agree(arm(f'<geom type="{shape}" size="{size}" {POSE} shellinertia="true" {weight}/>'))

    def test_fromto(self):
        for shape in ("capsule", "cylinder", "ellipsoid", "box"):
            self.agree(arm(f'<geom type="{shape}" size=".07" fromto=".1 .2 .3 .4 -.1 .2" shellinertia="true" density="3"/>'))

    def test_a_class_may_say_it(self):
        shells = '<default><geom shellinertia="true" density="11"/></default>'
        self.agree(arm('<geom size=".2" pos=".1 .2 0"/><geom type="box" size=".1 .2 .3" shellinertia="false"/>', shells))

    def test_free_bodies_align_with_their_only_shell(self):
        self.agree('<mujoco><worldbody><body name="a"><freejoint align="true"/><geom type="box" size=".1 .2 .3" shellinertia="true" '
                   f'{POSE}/></body></worldbody></mujoco>')

    def test_closed_forms(self):
        """A sphere of sheet has 2/3 m r^2 about each axis, an open cube of edge e 5/18 m e^2, and a tube m r^2, its
        disks half of that. The axis of the joint is that of the moment, through the centre."""
        tube, disks = 2 * math.pi * 0.01 * 10, 2 * math.pi * 1e-4
        for shape, size, mass, moment in (("sphere", ".3", 4 * math.pi * 0.09, 2 / 3 * 0.09), ("box", ".2 .2 .2", 6 * 0.16, 5 / 18 * 0.16),
                                          ("cylinder", ".01 5", tube + disks, 1e-4 * (tube + disks / 2) / (tube + disks))):
            text = ('<mujoco><worldbody><body name="a"><joint axis="0 0 1"/><geom type="{}" size="{}" shellinertia="true" density="1"/></body>'
                    "</worldbody></mujoco>").format(shape, size)
            self.put_text("m", text)
            M = self.ask("m", "mass-matrix", {"q": [0.3]})["mass_matrix"]
            self.assertClose(M, [[mass * moment]], 1e-9)
            document = self.client.get("/v1/models/m/document").json()
            self.assertClose(document["links"][0]["inertial"]["mass"], mass, 1e-12)


if __name__ == "__main__":
    tap.main()
