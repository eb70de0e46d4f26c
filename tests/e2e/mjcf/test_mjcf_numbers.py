"""Tests MJCF files whose numbers depend on details of MuJoCo's compiler: the server's numbers equal those of MuJoCo 3.14, or a warning names
what the model cannot express. Each kind has several variations: nested bodies, frames, classes, floating bases, loops."""
import math
import os

import mujoco
import mujoco3
import numpy as np
import tap
from harness import ROOT
from mujoco3 import Compiled

BOX = '<geom type="box" size=".1 .2 .3" pos=".4 .1 .2" mass="2"/>'
INERTIAL = '<inertial pos=".1 .2 .3" quat="1 2 3 4" mass="2" diaginertia=".2 .3 .35"/>'
FULL = '<inertial pos=".1 .2 .3" mass="2" fullinertia=".2 .3 .35 .01 .02 .03"/>'
RADIANS = '<compiler angle="radian"/>'


def file(world, after="", before=RADIANS):
    return f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>"


def arm(joint='<joint name="j" axis="0 1 0"/>', content=BOX, attributes=""):
    return f'<body name="a" pos="0 0 1" {attributes}>{joint}{content}</body>'


def chain(first='<joint name="j" axis="0 1 0"/>', second='<joint name="k" axis="1 0 3" pos=".1 .2 0"/>', inner=BOX, attributes=""):
    return (f'<body name="a" pos=".1 .2 1" euler=".1 .2 .3" {attributes}>{first}{BOX}<body name="b" pos=".1 .2 .5" euler=".1 .2 .3" '
            f'{attributes}>{second}{inner}</body></body>')


def compiler(**settings):
    return "<compiler angle='radian' " + " ".join(f"{key}='{value}'" for key, value in settings.items()) + "/>"


def actuators(*elements):
    return "<actuator>" + "".join(elements) + "</actuator>"


def flags(**settings):
    return RADIANS + "<option><flag " + " ".join(f"{key}='{value}'" for key, value in settings.items()) + "/></option>"


ADDED = 'joint="j" gear="3" armature=".3" damping=".2"'
MOTORS = {name: file(arm(), actuators(f"<{name} {ADDED} {more}/>")) for name, more in {
    "motor": "", "position": 'kp="10"', "velocity": 'kv="2"', "general": 'biastype="affine" gainprm="3"', "intvelocity":
    'kp="3" actrange="-1 1"', "damper": 'kv="2" ctrlrange="0 1"', "dcmotor": 'motorconst="2" resistance="3"', "pid": 'kp="3"',
    "cylinder": "", "muscle": 'lengthrange=".1 1"'}.items()}
OWN_CLASS = '<default><default class="c"><motor armature=".3" gear="2"/><joint armature=".1"/><default class="d"><motor damping=".4"/></default></default></default>'
MOTORS |= {
    "default": file(arm(), actuators('<motor joint="j"/>'), RADIANS + '<default><motor armature=".3" gear="2"/></default>'),
    "nested classes": file(chain(), actuators('<motor class="d" joint="j"/>', '<position class="c" gear="5" joint="k"/>'),
                           RADIANS + OWN_CLASS),
    "several on one joint": file(chain(), actuators('<motor joint="j" armature=".1"/>', '<motor joint="j" gear="-4" damping=".3"/>',
                                                  '<position jointinparent="j" gear="2" armature=".2" damping=".1"/>')),
    "slide": file(arm('<joint name="j" type="slide" axis="1 2 2" armature=".5" damping=".6"/>'), actuators(f"<motor {ADDED}/>")),
    "floating base": file('<body name="r"><freejoint/>' + BOX + chain() + "</body>", actuators(f"<motor {ADDED}/>")),
    "dampers disabled": file(arm(), actuators(f"<motor {ADDED}/>"), flags(damper="disable")),
}
FRAMES = {
    "frame": file(arm(content=f'<frame pos="0 .2 0" euler="0 0 40">{INERTIAL}</frame>')),
    "two frames": file(arm(content=f'<frame pos="0 .2 0"><frame pos="1 0 0" euler="2 0 0">{INERTIAL}</frame></frame>')),
    "full tensor": file(arm(content=f'<frame pos="0 .2 0" euler=".3 0 .4">{FULL}</frame>')),
    "in a child": file(chain(inner=f'<frame pos="0 .2 0" axisangle="1 2 3 .4">{FULL}</frame>')),
    "the last one": file(arm(content=f'<frame pos="0 .2 0">{FULL}</frame><frame pos="0 .4 0">{FULL}</frame>')),
    "floating": file(f'<frame pos="1 2 3" euler=".1 .2 .3"><body name="a" pos="1 0 0"><freejoint/><frame pos="0 .2 0" zaxis="1 1 1">{INERTIAL}'
                     '</frame></body></frame>'),
}
FROM_GEOMS = {
    "fixed tool": file(arm(content=BOX + f'<body name="t" pos=".5 0 0">{INERTIAL}</body>'), "", compiler(inertiafromgeom="true")),
    "moving body": file(chain(inner=INERTIAL), "", compiler(inertiafromgeom="true")),
    "geoms win": file(chain(inner=INERTIAL + BOX), "", compiler(inertiafromgeom="true")),
    "group beside the range": file(chain(inner=INERTIAL + BOX.replace("<geom", '<geom group="5"')), "", compiler(
        inertiafromgeom="true", inertiagrouprange="0 4")),
    "massless geom": file(chain(inner=INERTIAL + '<geom size=".1" mass="0"/>'), "", compiler(inertiafromgeom="true")),
    "tiny geom": file(chain(inner=INERTIAL + '<geom size=".1" mass="1e-14"/>'), "", compiler(inertiafromgeom="true")),
    "never": file(chain(inner=INERTIAL + BOX, attributes="").replace(BOX, INERTIAL, 1), "", compiler(inertiafromgeom="false")),
    "point mass": file(arm(content=BOX + '<body name="t" pos=".5 0 0"><inertial pos=".1 0 0" mass="2"/></body>')),
}
BOUNDS = {
    "empty body": file(arm(content='<geom size=".1" pos=".3 0 0"/><body name="c" pos=".1 .2 .3"/>'), "", compiler(
        boundmass=".5", boundinertia=".05")),
    "empty body, turned": file(arm(content=BOX + '<body name="c" pos=".1 .2 .3" euler="1 2 3"/>'), "", compiler(boundmass=".5")),
    "empty body in a frame": file(arm(content=BOX + '<frame pos=".1 .2 .3" euler=".1 .2 .3"><body name="b" pos=".3 .4 .5" '
                                      'euler=".4 .3 .2"/></frame>'), "", compiler(boundmass="1", boundinertia=".1")),
    "empty moving body": file(chain(inner=""), "", compiler(boundmass="1", boundinertia=".1")),
    "raised moments": file(chain(inner=INERTIAL), "", compiler(boundinertia=".25")),
    "balanced": file(arm(content='<inertial pos=".1 .2 .3" euler=".1 .2 .3" mass="1" diaginertia=".7 .1 .9"/>'), "", compiler(
        balanceinertia="true")),
    "balanced, the second moment too large": file(arm(content='<inertial pos=".1 .2 .3" euler=".1 .2 .3" mass="1" diaginertia=".7 .9 .1"/>'), "",
                                                  compiler(balanceinertia="true")),
    "balanced, the first moment too large": file(arm(content='<inertial pos=".1 .2 .3" euler=".1 .2 .3" mass="1" diaginertia=".9 .1 .7"/>'), "",
                                                 compiler(balanceinertia="true")),
    "balanced at the last bit": file(arm(content='<inertial pos=".1 .2 .3" euler=".1 .2 .3" mass="1" diaginertia=".7 .1 .8"/>'), "",
                                     compiler(balanceinertia="true")),
    "raised and balanced": file(arm(content='<inertial pos=".1 .2 .3" mass="1" diaginertia=".7 .001 .8"/>'), "", compiler(
        balanceinertia="true", boundinertia=".05")),
}
BASE = '<body name="base" pos=".1 .2 .3"><geom size=".2"/><body name="x"><geom size=".1"/>' + arm(
    content=BOX + '<body name="t"><geom size=".1" pos=".2 .3 .4"/></body>') + "</body></body>"
FUSED = compiler(settotalmass="5", fusestatic="true")
TOTALS = {
    "fused": file(BASE, "", FUSED), "not fused": file(BASE, "", compiler(settotalmass="5")),
    "named by a sensor": file(BASE, '<sensor><framepos objtype="body" objname="base"/></sensor>', FUSED),
    "named by a pair": file(BASE, '<contact><exclude body1="x" body2="a"/></contact>', FUSED),
    "mocap": file('<body name="m" mocap="true"><geom size=".2"/></body>' + arm(), "", FUSED),
    "measured": file('<body name="m"><geom size=".2"/><site name="s"/></body>' + arm(), '<sensor><force site="s"/></sensor>', FUSED),
    "unnamed": file('<body><geom size=".2"/>' + arm() + "</body>", "", FUSED),
}
FREE = '<body name="a" pos="1 2 3" euler=".1 .2 .3">{}<site name="s" pos=".1 .2 .3" euler="1 2 3"/>{}</body>'
ALIGNED = {
    "one geom": file(FREE.format('<freejoint align="true"/>', BOX)),
    "by the compiler": file(FREE.format('<joint type="free"/>', BOX), "", compiler(alignfree="true")),
    "two geoms": file(FREE.format('<freejoint align="true"/>', BOX + '<geom size=".2" pos=".1 .4 -.3"/>')),
    "three geoms": file(FREE.format('<freejoint/>', BOX + '<geom size=".1 .4" type="cylinder" pos=".1 .4 -.3" euler="1 .2 .4" mass="1"/>'
                                    '<geom size=".1 .3 .2" type="ellipsoid" pos=".1 -.4 -.3" euler="1 .2 .4" mass="3"/>'), "",
                        compiler(alignfree="true")),
    "full tensor": file(FREE.format('<freejoint align="true"/>', FULL)),
    "stated axes": file(FREE.format('<freejoint align="true"/>', f'<frame pos="1 0 0" euler=".1 .4 .2">{INERTIAL}</frame>')),
    "capsule by its ends": file(FREE.format('<freejoint align="true"/>', '<geom type="capsule" size=".1" fromto="0 0 0 .3 .4 .5"/>')),
    "body in a frame": file('<frame pos="1 2 3" euler=".1 .2 .3">' + FREE.format('<freejoint align="true"/>', BOX) + "</frame>"),
    "not the joint's wish": file(FREE.format('<freejoint align="false"/>', BOX), "", compiler(alignfree="true")),
    "a body in it": file(FREE.format('<freejoint align="true"/>', BOX + '<body name="c"><geom size=".1"/></body>')),
    "empty": file(FREE.format('<freejoint align="true"/>', ""), "", compiler(boundmass="1", boundinertia=".1")),
}
FIELD = '<asset><hfield {} nrow="2" ncol="3" elevation="0 .1 .2 .3 .4 1" size="2 3 .5 .1"/></asset>'
HFIELDS = {more: file(arm(content=f'<geom type="hfield" hfield="h" pos=".1 .2 .3" euler=".1 .2 .3" {more}/>'), "", RADIANS + FIELD.format('name="h"'))
           for more in ("", 'mass="2"', 'density="10"', 'mass="0"/><geom size=".1"', 'shellinertia="true"')}
HFIELDS["class"] = file(arm(content='<geom size="1" pos="1 0 0"/>'), "", RADIANS + FIELD.format('name="k"') + '<default><geom type="hfield" hfield="k"/></default>')
SLIDE = '<joint type="slide" armature=".7" springdamper=".1 .5" {}/>'
SLIDERS = {  # MuJoCo leaves the armature of a slide out where its body is "simple"
    "": SLIDE.format(""), "oblique": SLIDE.format('axis="1 2 3"'), "away": SLIDE.format('pos="0 1 0"'), "opposed": SLIDE.format('axis="0 -1 0"'),
    "nearly along": SLIDE.format('axis="0 1 1e-9"'), "two": SLIDE.format("") + '<joint type="slide" axis="1 0 0"/>',
    "two oblique": SLIDE.format("") + SLIDE.format('axis="1 1 0"'), "hinge": SLIDE.format("") + '<joint axis="1 0 0"/>',
}
SLIDING = {
    "sphere": '<geom size=".1"/>', "box": '<geom type="box" size=".1 .2 .3"/>', "turned box": '<geom type="box" size=".1 .2 .3" euler="1 0 0"/>',
    "offset": '<geom size=".1" pos="2e-6 0 0"/>', "small offset": '<geom size=".1" pos="5e-7 0 0"/>',
    "two spheres": '<geom size=".1" pos=".3 0 0"/><geom size=".1" pos="-.3 0 0"/>', "two above": '<geom size=".1" pos="0 0 .3"/><geom size=".1" pos="0 0 -.3"/>',
    "tensor": '<inertial pos="0 0 0" mass="2" fullinertia="1 1.1 1.2 0 0 0"/>', "sorted": '<inertial pos="0 0 0" mass="2" fullinertia="1.2 1.1 1 0 0 0"/>',
    "turn": '<inertial pos="0 0 0" quat="1 0 0 1e-5" mass="2" diaginertia="1 1.1 1.2"/>', "small turn": '<inertial pos="0 0 0" quat="1 0 0 1e-7" mass="2" diaginertia="1 1.1 1.2"/>',
    "child": '<geom size=".1"/><body><geom size=".1"/></body>',
}
SPRINGDAMPERS = {
    "hinge": file(arm('<joint name="j" axis="0 1 0" springdamper=".1 .7" springref=".3" stiffness="7" damping="3"/>')),
    "slide": file(arm('<joint name="j" type="slide" axis="0 1 3" springdamper=".1 .7" ref=".2"/>')),
    "chain": file(chain('<joint name="j" axis="0 1 0" armature=".1"/>', '<joint name="i" type="slide" axis="1 2 3" springdamper='
                        '".2 1.3"/><joint name="k" axis="1 0 3" pos=".1 .2 0" springdamper=".05 .4"/>'),
                  actuators('<motor joint="k" gear="3" armature=".02" damping=".1"/>')),
    "under a free body and a ball": file(
        '<body name="a" pos="1 2 3" euler=".1 .2 .3"><freejoint/>' + BOX + '<body name="b" pos=".1 .2 .5" euler=".1 .2 .3"><joint name="s" '
        'type="ball" pos=".1 .2 .3"/>' + BOX + '<body name="c" pos=".3 .1 0"><joint name="l" axis="1 0 3" pos=".1 .2 0" springdamper='
        '".05 .4" ref=".4"/>' + BOX + "</body></body></body>"),
    "default": file(chain(), "", RADIANS + '<default><joint springdamper=".2 .9"/></default>'),
    "scaled masses": file(chain('<joint name="j" springdamper=".2 .9"/>'), "", compiler(settotalmass="9")),
    "springs disabled": file(chain('<joint name="j" springdamper=".2 .9"/>'), "", flags(spring="disable")),
}
CURVED = 'stiffness="3 -4 5" damping=".7 .2 .3" springref=".4"'
POLYNOMIALS = {
    "hinge": file(arm(f'<joint name="j" axis="0 1 0" ref=".1" {CURVED}/>')),
    "degrees": file(arm(f'<joint name="j" axis="0 1 0" {CURVED.replace(".4", "20")}/>'), "", ""),
    "slide": file(arm(f'<joint name="j" type="slide" axis="1 2 2" {CURVED} armature=".5"/>')),
    "spring alone": file(arm('<joint name="j" axis="0 1 0" stiffness="0 4"/>')),
    "cube alone": file(arm('<joint name="j" axis="0 1 0" stiffness="0 0 4" damping="0 0 .3" springref="-.3"/>')),
    "damper alone": file(arm('<joint name="j" axis="0 1 0" damping="0 .4"/>')),
    "default and chain": file(chain(), "", RADIANS + f"<default><joint {CURVED}/></default>"),
    "springdamper": file(arm(f'<joint name="j" axis="0 1 0" springdamper=".1 .7" {CURVED}/>')),
    "springs disabled": file(arm(f'<joint name="j" axis="0 1 0" {CURVED}/>'), "", flags(spring="disable")),
    "dampers disabled": file(arm(f'<joint name="j" axis="0 1 0" {CURVED}/>'), "", flags(damper="disable")),
    "with an actuator": file(arm(f'<joint name="j" axis="0 1 0" {CURVED}/>'), actuators(f"<motor {ADDED}/>")),
}
HALF, WHOLE, MINUS = 'gravcomp=".5"', 'gravcomp="1"', 'gravcomp="-.5"'
BY_ACTUATORS = '<joint name="{}" axis="1 2 0" actuatorgravcomp="true"/>'
GRAVITY = {
    "all alike": file(chain(attributes=HALF)), "flags": file(chain(attributes=HALF), "", flags(spring="disable", damper="disable")),
    "spring alone": file(chain(attributes=HALF), "", flags(spring="disable")), "negative": file(chain(attributes=MINUS)),
    "by all actuators": file(chain(BY_ACTUATORS.format("j"), BY_ACTUATORS.format("k"), attributes=WHOLE)),
    "by all actuators, flags": file(chain(BY_ACTUATORS.format("j"), BY_ACTUATORS.format("k"), attributes=WHOLE), "", flags(
        spring="disable", damper="disable")),
    "fused": file(arm(content=BOX + '<body name="t">' + BOX + "</body>", attributes=HALF), "", compiler(fusestatic="true")),
    "no gravity": file(chain(attributes=HALF), "", flags(gravity="disable")),
    "floating": file('<body name="r" gravcomp=".5"><freejoint/>' + BOX + chain(attributes=HALF) + "</body>"),
    "one of two": file(chain(attributes=HALF).replace(HALF, WHOLE, 1)),
    "negative beside positive": file(chain(attributes=MINUS) + '<body name="c" gravcomp="1"><joint/>' + BOX + "</body>"),
    "fixed parts differ": file(chain(inner=BOX + '<body name="c" pos=".2 0 .1" quat="1 2 3 4" gravcomp="1.5">' + BOX + "</body>", attributes=HALF)),
    "without the base": file('<body name="r"><freejoint/>' + BOX + chain(attributes=HALF) + "</body>"),
    "the base alone": file('<body name="r" gravcomp=".7"><freejoint/>' + BOX + chain() + "</body>"),
    "under a ball": file(chain('<joint name="j" type="ball" pos=".1 .2 .3"/>', attributes=HALF).replace(HALF, WHOLE, 1)),
    "two free bodies": file('<body name="r" gravcomp=".7"><freejoint/>' + BOX + '</body><body name="s" gravcomp="-.2"><freejoint/>' + BOX + chain() + "</body>"),
    "several joints": file(chain('<joint name="j" axis="0 1 0"/><joint name="i" type="slide" axis="1 2 3" pos=".3 0 0"/>', attributes=HALF).replace(HALF, "", 1)),
    "tilted gravity": file(chain(attributes=HALF).replace(HALF, WHOLE, 1), "", RADIANS + '<option gravity="1 2 -5"/>'),
    "static body": file('<body name="w" gravcomp="1"><geom size=".1"/></body>' + chain(attributes=MINUS), "").replace(MINUS, MINUS),
}
RICH = '<joint name="j" axis="0 1 0" frictionloss=".7" damping=".4" stiffness="3" springref=".2" range="-1 2"/>'
FLAGS = {name: file(chain(RICH), "<equality><joint joint1='j' joint2='k'/></equality>", flags(**{name: "disable"})) for name in (
    "constraint", "spring", "damper", "gravity", "frictionloss", "limit", "equality", "clampctrl", "contact", "warmstart", "eulerdamp")}
TURNS = {"euler": ".1 .2 .3", "axisangle": "1 2 3 .4", "xyaxes": "1 2 0 -2 1 0", "zaxis": "1 2 3"}
SPRINGDAMPERS |= {f"{joint} {content}": file(f'<body euler=".1 .2 .3">{SLIDERS[joint]}{SLIDING[content]}</body>')
                  for joint in SLIDERS for content in SLIDING if joint == "" or content in ("sphere", "tensor")}
SPRINGDAMPERS |= {f"a slide on a {kind} body": file(f'<body name="a">{joint}{BOX}<body pos="1 0 0">{SLIDE.format("")}<geom size=".1"/></body></body>')
                  for kind, joint in (("static", ""), ("moving", "<joint/>"))}
ORIENTATIONS = {name: file(arm(content='<geom class="k" quat="1 2 3 4" mass="2"/><site class="k" name="s" quat="4 3 2 1"/>'), "", RADIANS +
                           f'<default><default class="k"><geom type="box" size=".1 .2 .3" {name}="{turn}"/><site {name}="{turn}"/></default>'
                           '</default>') for name, turn in TURNS.items()}
ORIENTATIONS |= {
    "own euler": file(arm(content='<geom class="k" euler=".4 .5 .6" mass="2"/>'), "", RADIANS +
                      '<default><default class="k"><geom type="box" size=".1 .2 .3" axisangle="1 2 3 .4"/></default></default>'),
    "class in class": file(arm(content='<geom class="l" mass="2"/>'), "", RADIANS + '<default><default class="k"><geom type="box" size='
                           '".1 .2 .3" euler=".1 .2 .3"/><default class="l"><geom quat="1 2 3 4"/></default></default></default>'),
    "child class": file(chain(inner='<geom quat="1 2 3 4" mass="2"/>', attributes='childclass="k"').replace(
        'type="box" ', "").replace('size=".1 .2 .3" ', ""), "", RADIANS + '<default><default class="k"><geom type="box" size=".1 .2 .3" '
        'zaxis="1 1 1"/></default></default>'),
    "quats": file(arm(content='<geom class="k" quat="1 2 3 4" mass="2"/>'), "", RADIANS +
                  '<default><default class="k"><geom type="box" size=".1 .2 .3" quat="4 1 2 0"/></default></default>'),
}
NAMES = {
    "a later body": file(arm(content=BOX + '<site name="b" pos=".1 .2 .3"/><body name="b" pos=".5 0 0"><joint axis="1 0 0"/>' + BOX + "</body>")),
    "its own body": file(arm(content=BOX + '<site name="a" pos=".1 .2 .3"/>')),
    "a body in a frame": file(arm(content=BOX + '<site name="b" pos=".1 .2 .3"/><frame pos="1 0 0"><body name="b" pos=".5 0 0"><joint axis='
                                  '"1 0 0"/>' + BOX + "</body></frame>")),
    "made names": file(arm(content=BOX + '<body pos=".5 0 0"><joint axis="1 0 0"/>' + BOX + '</body><body name="a.body" pos=".5 .1 0"><joint '
                           'name="a.joint" axis="1 0 0"/>' + BOX + "</body>")),
    "of the floating base": file('<body name="r"><freejoint/>' + BOX + '<site name="a" pos="1 2 3"/>' + chain() + "</body>"),
}
KINDS = {"armature_of_actuators": MOTORS, "inertial_in_frames": FRAMES, "inertia_from_geoms": FROM_GEOMS, "bounds": BOUNDS,
         "total_mass": TOTALS, "aligned_free_bodies": ALIGNED, "springdamper": SPRINGDAMPERS, "height_fields": HFIELDS, "polynomials_of_joints": POLYNOMIALS, "gravity_compensation": GRAVITY,
         "flags": FLAGS, "orientations_of_classes": ORIENTATIONS, "names": NAMES}


class Numbers(mujoco3.Agreement):
    def test_a_robot_with_all_of_it(self):
        with open(os.path.join(ROOT, "tests", "data", "mjcf", "newer", "lander.xml"), encoding="utf-8") as file:
            report = self.agree(file.read(), count=10)
        warnings = [entry["text"] for entry in report if entry["severity"] == "warning" and "foam" not in entry["text"]]
        self.assertEqual(len(warnings), 2, warnings)
        self.assertIn("<position>", warnings[1])
        self.assertIn('joint "roll" exert -20 to 35', warnings[0])


def check(texts):
    def test(self):
        for name, text in texts.items():
            with self.subTest(name):
                self.agree(text)
    return test


for kind, cases in KINDS.items():
    setattr(Numbers, "test_" + kind, check(cases))


class Warnings(mujoco3.Agreement):
    """Tests that a warning names each feature that the model cannot express."""

    def warned(self, text, *words, query="?equality=independent"):
        said = [entry["text"] for entry in self.put_text("m", text, query) if entry["code"] == "not-held"]
        self.assertEqual(len(said), len(words), said)
        for entry, word in zip(said, words):
            self.assertIn(word, entry)

    def test_joints_with_several_coordinates(self):
        held = {"ball": ('armature=".1"', 'damping="2"', 'stiffness="4"', 'springdamper=".1 .2"'), "free": ('armature=".1"', 'damping="2"')}
        lost = {"ball": (('frictionloss="3"', "frictionloss"),), "free": (('frictionloss="3"', "frictionloss"), ('stiffness="4"', "stiffness"))}
        for kind, attributes in held.items():
            for attribute in attributes:
                self.agree(file(arm(f'<joint name="j" type="{kind}" {attribute}/>')))
                self.agree(file(arm(f'<joint name="j" type="{kind}"/>'), "", RADIANS + f"<default><joint {attribute}/></default>"))
        for kind, attributes in lost.items():
            for attribute, word in attributes:
                self.warned(file(arm(f'<joint name="j" type="{kind}" {attribute}/>')), word)
                self.warned(file(arm(f'<joint name="j" type="{kind}"/>'), "", RADIANS + f"<default><joint {attribute}/></default>"), word)
        self.agree(file(arm('<joint name="j" type="ball" damping="2" stiffness="3"/>'), "", flags(damper="disable")))
        self.warned(file(arm('<joint name="j" type="ball"/>'), actuators('<motor joint="j" armature=".1"/>')), "<motor>")

    def test_actuators_on_no_joint(self):
        world = arm(content=BOX + '<site name="s"/>')
        for actuator in ('<motor site="s" armature=".1"/>', '<position site="s" damping=".1"/>'):
            said = self.put_text("m", file(world, actuators(actuator)))
            self.assertTrue(any("armature and damping" in entry["text"] for entry in said), said)

    def test_polynomials(self):
        """Of ball joints, of actuators, and of joints with a tendon's spring in addition, the model has only the linear terms."""
        ball = '<body name="z"><joint name="b" type="ball" {}/>' + BOX + "</body>"
        for figure in ("damping", "stiffness"):
            self.warned(file(arm() + ball.format(f'{figure}="1 .5 .2"')), f"{figure} of <joint> is a polynomial")
        tendon = '<tendon><fixed stiffness="2" springlength=".3"><joint joint="j" coef="2"/></fixed></tendon>'
        self.warned(file(arm('<joint name="j" stiffness="1 .5"/>'), tendon), "beside the spring of a tendon")
        self.warned(file(arm(), actuators('<motor joint="j" damping="1 .5"/>')), "damping of <motor> is a polynomial")
        self.agree(file(arm('<joint name="j" axis="0 1 0" damping="1 0 0" stiffness="3 0"/>')))

    def test_gravity_compensation(self):
        self.warned(file(chain(BY_ACTUATORS.format("j"), attributes=HALF)), "actuators of some joints")
        self.warned(file(chain(attributes=HALF).replace(HALF, WHOLE, 1)))
        self.warned(file(arm(BY_ACTUATORS.format("j"), attributes=WHOLE)), "actuatorgravcomp of all joints")

    def test_options(self):
        for option, word in (('density="2"', "density"), ('viscosity="2"', "viscosity"), ('actuatorgroupdisable="1 2"', "actuatorgroupdisable")):
            self.warned(file(arm(), "", f"{RADIANS}<option {option}/>"), word)
        self.warned(file(arm(), "", flags(actuation="disable")), "actuation")
        self.warned(file(arm(), "", flags(invdiscrete="enable")), "invdiscrete")

    def test_no_information_is_wrong(self):
        """Entries of the report that say "irrelevant" name only features without effect on the motion."""
        for cases in KINDS.values():
            for text in cases.values():
                for entry in self.put_text("m", text):
                    self.assertFalse(entry["text"].endswith("has no part in the dynamics") and any(word in entry["text"] for word in (
                        "align", "gravcomp", "constraint", "fusestatic", "armature", "damping", "springdamper")), entry)


class Efforts(mujoco3.Agreement):
    """Tests effort limits: the limit is the range of the sum of a joint's actuators, if this range is symmetric."""

    def effort(self, joint="", after="", before=RADIANS):
        text = file(arm(f'<joint name="j" axis="0 1 0" {joint}/>'), after, before)
        Compiled(text)
        said = [entry["text"] for entry in self.put_text("m", text) if entry["code"] == "not-held" and "exert" in entry["text"]]
        link = self.client.get("/v1/models/m/document").json()["links"][0]
        return link["joint"].get("limits", {}).get("effort"), said

    def test_ranges(self):
        plain = '<motor joint="j" gear="{}" ctrlrange="{}" {}/>'
        free = '<position joint="j" kp="3"/>'
        for joint, after, effort, asymmetric in (
                ("", actuators(plain.format(3, "-2 2", "")), 6, False), ("", actuators(plain.format(-3, "-2 4", "")), 6, True),
                ("", actuators(plain.format(3, "-2 2", 'forcerange="-1 1"')), 3, False),
                ("", actuators(plain.format(3, "-2 2", 'forcerange="-1 5"')), 3, True),
                ('actuatorfrcrange="-4 5"', "", 4, True), ('actuatorfrcrange="-4 4"', "", 4, False),
                ('actuatorfrcrange="-4 5"', actuators(plain.format(1, "-2 2", "")), 2, False),
                ('actuatorfrcrange="-4 5"', actuators(plain.format(2, "-3 3", "")), 4, True),
                ('actuatorfrcrange="-4 4"', actuators(free), 4, False), ("", actuators(free), None, False),
                ("", actuators(free, plain.format(1, "-2 2", "")), None, False),
                ("", actuators(plain.format(1, "-2 5", ""), plain.format(-1, "-2 5", "")), 7, False),
                ("", actuators(plain.format(1, "0 5", "")), None, True), ("", actuators(plain.format(1, "2 5", "")), None, True),
                ('actuatorfrcrange="2 2"', "", None, False), ("", actuators(plain.format(1, "2 -2", "")), None, False),
                ("", actuators(plain.format(1, "-2 2", 'forcerange="3 3"')), 2, False),
                ("", actuators('<general joint="j" gainprm="3" ctrlrange="-2 2" gear="2"/>'), 12, False),
                ("", actuators('<general joint="j" gainprm="-3" ctrlrange="-2 1"/>'), 3, True),
                ("", actuators('<general joint="j" biastype="affine" ctrlrange="-2 2"/>'), None, False),
                ("", actuators('<general joint="j" biastype="affine" forcerange="-2 2"/>'), 2, False),
                ("", actuators(plain.format(1, "-2 2", 'ctrllimited="false"')), None, False)):
            found, said = self.effort(joint, after)
            self.assertEqual((found, bool(said)), (effort, asymmetric), (joint, after, said))
            if said and effort:
                self.assertIn('joint "j"', said[0])

    def test_where_they_come_from(self):
        motor = actuators('<motor joint="j"/>')
        self.assertEqual(self.effort(after=motor, before=RADIANS + '<default><motor ctrlrange="-2 2" gear="3"/></default>')[0], 6)
        self.assertEqual(self.effort(after=motor, before=RADIANS + '<default><joint actuatorfrcrange="-2 2"/></default>')[0], 2)
        limited = actuators('<motor joint="j" ctrlrange="-2 2"/>')
        self.assertEqual(self.effort(after=limited, before=flags(clampctrl="disable"))[0], None)
        servo = RADIANS + '<default><position kp="3"/></default>'
        self.assertEqual(self.effort(after=actuators('<general joint="j" ctrlrange="-2 2"/>'), before=servo)[0], None)


class Positions(mujoco3.Agreement):
    """Limits of position: a range counts if it is not zero at both ends, unless `limited` or the compiler says otherwise."""

    def test_ranges(self):
        manual = RADIANS.replace("/>", ' autolimits="false"/>')
        for joint, before, limits in (('range="-1.2 0.7"', RADIANS, [-1.2, 0.7]), ('range="-1.2 0"', RADIANS, [-1.2, 0]), ('range="0 0.7"', RADIANS, [0, 0.7]),
                                      ('range="0 0"', RADIANS, None), ('range="-1.2 0" limited="false"', RADIANS, None),
                                      ('range="-1.2 0" limited="true"', manual, [-1.2, 0]), ('range="1 1"', RADIANS, None), ('range="1 -1"', RADIANS, None), ('range="-90 0"', "", [-math.pi / 2, 0])):
            text = file(arm(f'<joint name="j" axis="0 1 0" {joint}/>'), "", before)
            Compiled(text)
            self.put_text("m", text)
            link = self.client.get("/v1/models/m/document").json()["links"][0]
            self.assertEqual(link["joint"].get("limits", {}).get("position"), limits, (joint, before))

    def test_an_empty_range_is_told(self):
        for joint, after, name in (('range="1 1"', "", "range"), ('actuatorfrcrange="2 -2"', "", "actuatorfrcrange"),
                                   ("", actuators('<motor joint="j" ctrlrange="2 2"/>'), "ctrlrange"), ("", actuators('<motor joint="j" forcerange="3 1"/>'), "forcerange")):
            said = [entry["text"] for entry in self.put_text("m", file(arm(f'<joint name="j" axis="0 1 0" {joint}/>'), after)) if entry["severity"] == "warning"]
            self.assertTrue(any(line.startswith(name + " of") and "empty" in line for line in said), said)


class Loops(mujoco3.Agreement):
    """Where the server's loops are closed, MuJoCo's constraints have no residual."""
    WORLD = ('<body name="A" pos="0 0 1"><joint name="j1" type="slide" axis="1 0 0"/>{0}<geom size=".05" mass="1"/><body name="B" pos=".1 0 0">'
             '<joint name="j2" axis="0 1 0"/><geom size=".05" pos="0 0 .2" mass="1"/></body></body><body name="C" pos=".3 .1 1.2"><joint '
             'name="j3" type="slide" axis="0 0 1"/><joint name="j4" type="slide" axis="1 0 0"/><joint name="j5" axis="0 1 0"/><geom type="box" '
             'size=".1 .05 .02" mass="1"/></body>')
    DRIVEN = actuators('<motor joint="j1" gear="2" armature=".1"/>', '<motor joint="j2"/>')

    def closed(self, equality, world=WORLD.format("")):
        text = file(world, f"<equality>{equality}</equality>{self.DRIVEN}")
        model = Compiled(text)
        self.put_text("m", text, "")
        for q in ([0, 0], [0.05, 0.1], [-0.1, -0.2]):
            full = self.ask("m", "inverse-dynamics", {"q": q, "qd": [0.3, -0.2], "qdd": [0, 0], "outputs": ["tau", "full"]})["full"]
            position = dict(zip(full["position_names"], full["q"]))
            state = [[position[joint] for joint in model.about["joints"]], [0.0] * model.nv, [0.0] * model.nv]
            answer = model.run(states=[state], constraints=True)["states"][0]
            rows = [r for r, kind in zip(answer["residual"], answer["constraint_types"]) if kind == 0]      # mjCNSTR_EQUALITY
            self.assertTrue(rows)
            self.assertClose(rows, [0.0] * len(rows), 1e-9, scale=1, what=equality)

    def test_welds(self):
        for weld in ('relpose=".15 .1 .25 1 0 0 0" anchor=".1 0 .05"', 'relpose=".15 .1 .25 1 0 0 0"', 'anchor=".1 0 .05"', "",
                     'relpose=".2 .12 .2 1 0 .1 0" anchor=".1 .02 -.05"', 'relpose=".15 .1 .25 0 0 0 0" anchor=".1 0 .05"'):
            self.closed(f'<weld body1="B" body2="C" {weld}/>')
        self.closed('<weld body1="C" body2="B" relpose="-.15 -.1 -.25 1 0 0 0" anchor=".02 0 .05"/>')

    def test_weld_without_torque(self):
        said = self.put_text("m", file(self.WORLD.format(""), '<equality><weld body1="B" body2="C" torquescale="0"/></equality>' + self.DRIVEN), "")
        self.assertTrue(any("torquescale" in entry["text"] for entry in said), said)

    def test_disabled(self):
        for before in (flags(constraint="disable"), flags(equality="disable")):
            self.put_text("m", file(self.WORLD.format(""), '<equality><weld body1="B" body2="C"/></equality>' + self.DRIVEN, before), "")
            self.assertEqual(self.client.get("/v1/models/m").json()["nv"], 5)


class Coupled(mujoco3.Agreement):
    def test_armature_of_followers(self):
        """The mass matrix of a joint with a mimic is G^T M G."""
        text = file(chain(), '<equality><joint joint1="k" joint2="j" polycoef=".1 -2"/></equality>' + actuators(
            '<motor joint="j" gear="3" armature=".1"/>', '<position joint="k" gear="2" armature=".2" damping=".3"/>'))
        self.put_text("m", text, "")
        model = Compiled(text)
        G = [[1.0], [-2.0]]
        q, qd, qdd = 0.3, 0.7, -0.4
        theirs = model.answer([[[q, 0.1 - 2 * q], [qd, -2 * qd], [qdd, -2 * qdd]]])[0]
        ours = self.ask("m", "evaluate", {"q": [q], "qd": [qd], "qdd": [qdd], "operations": {"mass-matrix": {}, "inverse-dynamics": {}}})
        back = list(zip(*G))
        self.assertClose(ours["mass-matrix"]["mass_matrix"], mujoco.multiply(back, mujoco.multiply(model.matrix(theirs), G)), 1e-10)
        self.assertClose(ours["inverse-dynamics"]["tau"], mujoco.apply(back, theirs["inverse"]), 1e-10)

    REFERENCES = {"j": 0.2, "k": -0.3, "l": 0.15, "m": 0.4}
    # q1 - ref1 = c0 + c1 (q2 - ref2); a joint without a second one is locked.
    EQUALITIES = {
        "a chain": [("k", "j", 0.1, -2), ("l", "k", -0.2, 0.3), ("m", "l", 0.3, 1.5)],
        "a chain, the last first": [("m", "l", 0.3, 1.5), ("l", "k", -0.2, 0.3), ("k", "j", 0.1, -2)],
        "followers of one joint": [("j", "m", 0.1, -2), ("k", "m", -0.2, 0.3), ("l", "m", 0.3, 1.5)],
        "the second is turned round": [("j", "k", 0.25, 4), ("j", "m", -0.3, 2.5)],
        "locked": [("k", None, 0.35, 1)],
        "locked by a multiplier of zero": [("m", "j", -0.45, 0)],
        "a follower of a locked joint": [("j", None, 0.5, 1), ("k", "j", 0.2, -3)],
        "a follower, and then its leader is locked": [("k", "j", 0.2, -3), ("j", None, 0.5, 1)],
        "followers of followers of a locked joint": [("m", "l", 0.3, 1.5), ("l", "k", -0.2, 0.3), ("k", None, 0.35, 1)],
    }

    def couplings(self, world, before, unit):
        scale = {name: 1 if name == "l" else unit for name in self.REFERENCES}     # joint l slides, so its position has no unit of angle
        for case, equalities in self.EQUALITIES.items():
            self.put_text("m", file(world, "<equality>" + "".join(
                f'<joint joint1="{a}" ' + (f'joint2="{b}" ' if b else "") + f'polycoef="{c0} {c1}"/>' for a, b, c0, c1 in equalities) + "</equality>",
                before), "")
            model, names = Compiled(file(world, "", before)), self.client.get("/v1/models/m").json()["position_names"]
            order = model.about["joints"]
            self.assertEqual(len(names), 4 - len(equalities), case)
            rows, right = np.zeros((4, 4)), np.zeros((4, 1 + len(names)))
            for row, (a, b, c0, c1) in enumerate(equalities):
                rows[row, order.index(a)] = 1
                right[row, 0] = self.REFERENCES[a] * scale[a] + c0
                if b:
                    rows[row, order.index(b)] = -c1
                    right[row, 0] -= c1 * self.REFERENCES[b] * scale[b]
            for k, name in enumerate(names):
                rows[len(equalities) + k, order.index(name)] = right[len(equalities) + k, 1 + k] = 1
            solution = np.linalg.solve(rows, right)
            offset, G = solution[:, 0], solution[:, 1:]
            q, qd, qdd = (np.array(x[:len(names)]) for x in ([0.3, -0.5, 0.2], [0.7, 0.4, -1.1], [-0.4, 1.2, 0.6]))
            theirs = model.answer([[(G @ q + offset).tolist(), (G @ qd).tolist(), (G @ qdd).tolist()]])[0]
            ours = self.ask("m", "evaluate", {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "friction": False,
                                              "operations": {"mass-matrix": {}, "inverse-dynamics": {}}})
            M = G.T @ np.array(model.matrix(theirs)) @ G
            self.assertClose(ours["mass-matrix"]["mass_matrix"], M.tolist(), 1e-10, what=case)
            self.assertClose(ours["inverse-dynamics"]["tau"], (G.T @ np.array(theirs["inverse"])).tolist(), 1e-10, 1, case)

    def test_chains_of_equalities(self):
        joints = [f'<joint name="{name}" ref="{ref}" {kind}/>' for (name, ref), kind in zip(self.REFERENCES.items(), (
            'axis="0 1 0"', 'axis="1 0 3" pos=".1 .2 0"', 'type="slide" axis="1 2 2"', 'axis="1 1 0" armature=".2"'))]
        world = chain(joints[0], joints[1], BOX + chain(joints[2], joints[3]).replace('"a"', '"c"').replace('"b"', '"d"'))
        self.couplings(world, RADIANS, 1)
        self.couplings(world, "", math.pi / 180)


if __name__ == "__main__":
    tap.main()
