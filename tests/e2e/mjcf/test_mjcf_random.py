"""Tests random MJCF files with many features at once: they agree with MuJoCo 3.14, unless a warning names a feature that the model cannot
express."""
import random

import mujoco3
import tap
from mujoco3 import Compiled, Refused

FILES = 150
# Words of the warnings about features that the generator uses and a model cannot hold; with such a warning the numbers
# may differ.
EXCUSES = ("has several coordinates", "gravcomp is not part", "with several coordinates")


def pick(rng, *choices):
    return rng.choice(choices)


def number(rng, low=-1.0, high=1.0):
    return f"{rng.uniform(low, high):.4g}"


def numbers(rng, n, low=-1.0, high=1.0):
    return " ".join(number(rng, low, high) for _ in range(n))


def turn(rng):
    """Returns a random attribute that rotates an element, or none."""
    kind = pick(rng, "", "quat", "euler", "axisangle", "xyaxes", "zaxis")
    if kind == "xyaxes":
        return f'xyaxes="1 {number(rng)} {number(rng)} {number(rng)} 1 {number(rng)}"'
    return f'{kind}="{numbers(rng, {"quat": 4, "euler": 3, "axisangle": 4, "zaxis": 3}[kind], 0.1)}"' if kind else ""


def pose(rng):
    return f'pos="{numbers(rng, 3)}" {turn(rng)}' if rng.random() < 0.8 else turn(rng)


class File:
    def __init__(self, rng):
        self.rng, self.n, self.joints, self.bodies = rng, 0, [], []
        self.classes = ["c0", "c1", "c2"]

    def maybe(self, chance, text):
        return text if self.rng.random() < chance else ""

    def of_class(self):
        return self.maybe(0.3, f'class="{self.rng.choice(self.classes)}"')

    def geom(self):
        rng = self.rng
        kind = pick(rng, "sphere", "capsule", "ellipsoid", "cylinder", "box")
        size = numbers(rng, {"sphere": 1, "capsule": 2, "cylinder": 2}.get(kind, 3), 0.05, 0.3)
        ends = kind not in ("sphere",) and rng.random() < 0.2
        where = f'fromto="{numbers(rng, 6)}"' if ends else pose(rng)
        weight = pick(rng, "", f'mass="{number(rng, 0.1, 3)}"', f'density="{number(rng, 100, 2000)}"')
        # MuJoCo refuses `fromto` together with a class that has a pose
        return f'<geom type="{kind}" size="{size}" {where} {weight} {"" if ends else self.of_class()} group="{rng.randint(0, 5)}"/>'

    def inertial(self):
        rng = self.rng
        if rng.random() < 0.5:
            a, b = rng.uniform(0.1, 1), rng.uniform(0.1, 1)
            tensor = f'diaginertia="{a:.4g} {b:.4g} {rng.uniform(max(a, b) - min(a, b) + 0.01, a + b - 0.01):.4g}" {turn(rng)}'
        else:
            tensor = f'fullinertia="{numbers(rng, 3, 1, 1.5)} {numbers(rng, 3, -0.2, 0.2)}"'
        return f'<inertial pos="{numbers(rng, 3)}" mass="{number(rng, 0.1, 3)}" {tensor}/>'

    def frame(self, content):
        return f"<frame {pose(self.rng)}>{content}</frame>" if self.rng.random() < 0.3 else content

    def joint(self, kind=None):
        rng = self.rng
        kind = kind or pick(rng, "hinge", "hinge", "slide")
        self.joints.append((f"j{len(self.joints)}", kind))
        forces = "".join(self.maybe(0.25, f' {name}="{number(rng, 0.05, 2)}"') for name in (
            "armature", "damping", "frictionloss", "stiffness")) if kind != "ball" or rng.random() < 0.3 else ""
        single = "" if kind == "ball" else (self.maybe(0.3, f' ref="{number(rng)}"') + self.maybe(0.3, f' springref="{number(rng)}"') + self.maybe(
            0.15, f' springdamper="{numbers(rng, 2, 0.1, 2)}"') + self.maybe(0.2, f' range="{number(rng, -2, -0.1)} {number(rng, 0.1, 2)}"') +
            self.maybe(0.15, ' actuatorgravcomp="true"') + f' axis="{numbers(rng, 3, 0.1)}"')
        return f'<joint name="{self.joints[-1][0]}" type="{kind}" pos="{numbers(rng, 3)}"{forces}{single} {self.of_class() if kind != "ball" else ""}/>'

    def body(self, depth, gravcomp):
        rng = self.rng
        name = f"b{self.n}"
        self.n += 1
        mass = pick(rng, self.geom(), self.geom() + self.geom(), self.frame(self.inertial()), self.inertial() + self.geom())
        joints = "".join(self.frame(self.joint()) for _ in range(rng.choice((0, 1, 1, 1, 2, 3))))
        if rng.random() < 0.1:
            joints = self.joint("ball")
        inner = "".join(self.frame(self.body(depth - 1, gravcomp)) for _ in range(rng.randint(0, 2))) if depth else ""
        site = self.maybe(0.3, f'<site name="{pick(rng, f"s{self.n}", f"b{self.n + 1}")}_{self.n}" {pose(rng)} {self.of_class()}/>')
        weight = gravcomp if gravcomp is not None else pick(rng, 0, 0.5)
        own = self.maybe(0.85, f' name="{name}"')
        return f'<body{own} {pose(rng)} gravcomp="{weight}" {self.maybe(0.2, "childclass=" + chr(34) + rng.choice(self.classes) + chr(34))}>{joints}{self.frame(mass)}{site}{inner}</body>'

    def world(self):
        rng = self.rng
        gravcomp = pick(rng, 0, 0, 0, 0.25, -0.5, None)
        trees = "".join(self.frame(self.body(rng.randint(0, 3), gravcomp)) for _ in range(rng.randint(1, 2)))
        if rng.random() < 0.4:
            free = pick(rng, "<freejoint/>", '<freejoint align="true"/>', '<joint type="free" armature="0.7" damping="1.3"/>')
            inner = self.maybe(0.5, self.body(2, gravcomp))
            trees += f'<body name="free" {pose(rng)} gravcomp="{gravcomp or 0}">{free}{self.geom()}{self.maybe(0.5, self.geom())}{inner}</body>'
        return trees + self.maybe(0.3, '<body name="still"><geom size=".3"/></body>')

    def defaults(self):
        rng = self.rng
        def content():
            return (self.maybe(0.4, f'<joint damping="{number(rng, 0.1, 1)}" armature="{number(rng, 0.1, 1)}"/>') + self.maybe(
                0.4, f'<geom density="{number(rng, 100, 900)}" {turn(rng)}/>') + self.maybe(0.3, f'<site pos="{numbers(rng, 3)}" {turn(rng)}/>') + self.maybe(
                    0.4, f'<motor armature="{number(rng, 0.1, 1)}" gear="{number(rng, 1, 5)}"/>') + self.maybe(0.3, f'<position kp="2" damping="{number(rng, 0.1, 1)}"/>'))
        return f'<default><default class="c0">{content()}<default class="c1">{content()}</default></default><default class="c2">{content()}</default></default>'

    def actuators(self):
        rng, made = self.rng, ""
        for name, kind in self.joints:
            if kind != "ball" and rng.random() < 0.4:
                more = self.maybe(0.5, f' armature="{number(rng, 0.1, 1)}"') + self.maybe(0.5, f' damping="{number(rng, 0.1, 1)}"') + self.maybe(
                    0.5, f' gear="{number(rng, -3, 3)}"') + self.maybe(0.4, f' ctrlrange="{number(rng, -3, -1)} {number(rng, 1, 3)}"')
                made += f'<{pick(rng, "motor", "position", "velocity", "general")} {pick(rng, "joint", "jointinparent")}="{name}"{more} {self.of_class()}/>'
        return f"<actuator>{made}</actuator>"

    def settings(self):
        rng = self.rng
        compiler = self.maybe(0.5, f' eulerseq="{"".join(rng.choice("xyzXYZ") for _ in range(3))}"') + self.maybe(0.6, ' angle="radian"') + self.maybe(
            0.2, f' boundmass="{number(rng, 0.1, 1)}"') + self.maybe(0.2, f' boundinertia="{number(rng, 0.01, 0.3)}"') + self.maybe(0.2, ' balanceinertia="true"') + self.maybe(
                0.3, f' inertiafromgeom="{pick(rng, "true", "auto")}"') + self.maybe(0.2, ' inertiagrouprange="0 3"') + self.maybe(
                    0.25, f' settotalmass="{number(rng, 1, 9)}"') + self.maybe(0.3, ' fusestatic="true"') + self.maybe(0.2, ' alignfree="true"')
        flags = "".join(self.maybe(0.08, f' {name}="disable"') for name in ("constraint", "spring", "damper", "gravity", "frictionloss", "limit", "clampctrl"))
        return f'<compiler{compiler}/><option gravity="{numbers(rng, 3, -9, 9)}"><flag{flags}/></option>'

    def text(self):
        world = self.world()
        return f"<mujoco>{self.settings()}{self.defaults()}<worldbody>{world}</worldbody>{self.actuators()}</mujoco>"


class Random(mujoco3.Agreement):
    def test_files(self):
        agreed = excused = 0
        for seed in range(FILES):
            text = File(random.Random(seed)).text()
            try:
                model = Compiled(text)
            except Refused:
                continue
            if model.nv == 0:
                continue
            report = self.put_text("m", text)
            said = [entry["text"] for entry in report if entry["code"] == "not-held" and any(word in entry["text"] for word in EXCUSES)]
            self.assertFalse([entry for entry in report if entry["code"] == "unknown"], text)
            if said:
                excused += 1
                continue
            try:
                self.compare(model, "m", seed, 2, 1e-7)  # MuJoCo finds principal axes to 1e-6 rad
            except AssertionError as error:
                raise AssertionError(f"{error}\n{seed}: {text}") from None
            agreed += 1
        print(f"#   {agreed} files agree, {excused} have warnings")
        self.assertGreater(agreed, FILES / 4)


if __name__ == "__main__":
    tap.main()
