"""Tests robots in SDF: poses, axes and inertias are those that libsdformat reads; the dynamics are MuJoCo's for the
same robot."""
import itertools
import math
import os
import subprocess
import tempfile
import unittest

import mujoco
import tap
from harness import BINARY
from sdf import EXACT, FOLDER, NAMES, SKIP, MeaningCase, SdfCase, compose, flat, inverse, matrix, read


@unittest.skipIf(SKIP, SKIP)
class Meaning(MeaningCase):
    pass


def check(name):
    def test(self):
        self.check_text(name, read(name))
    return test


for label in NAMES:
    if label != "four_bar":  # passive joints of loops have no columns
        setattr(Meaning, "test_" + label, check(label))


class Dynamics(SdfCase):
    @unittest.skipIf(mujoco.SKIP, mujoco.SKIP)
    def test_as_mujoco_computes_them(self):
        for name in ("arm", "nested", "old", "parent_frame"):
            path = os.path.join(FOLDER, name + ".sdf")
            with tempfile.TemporaryDirectory() as folder:
                there = os.path.join(folder, name + ".xml")
                with open(there, "w") as file:
                    subprocess.run([BINARY, "convert", "--to", "mjcf", path], stdout=file, stderr=subprocess.DEVNULL, check=True)
                model = mujoco.Model(there)
                self.put_file(name)
                drawn = mujoco.states(model, 3, 1)
                for state, expected in zip(drawn, model.answer(drawn)):
                    q, qd, qdd = model.convert(state)
                    tau = self.ask(name, "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd})["tau"]
                    loss = [c * ((v > 0) - (v < 0)) for c, v in zip(model.about["frictionloss"], qd)]
                    rigid = mujoco.apply(model.columns(state), [a - b for a, b in zip(tau, loss)])
                    self.assertClose(rigid, expected["inverse"], EXACT, what=name)

    def test_a_loop_has_one_coordinate(self):
        self.put_file("four_bar")
        about = self.client.get("/v1/models/four_bar").json()
        self.assertEqual(about["position_names"], ["drive"])
        self.assertEqual([loop["name"] for loop in about["loops"]], ["close"])
        poses = self.ask("four_bar", "kinematics", {"q": [0.2]})["poses"]
        self.assertClose(poses["close.a"]["position"], poses["close.b"]["position"], EXACT, scale=1)
        # the linkage is a parallelogram
        self.assertClose(poses["rocker"]["orientation"], poses["crank"]["orientation"], EXACT, scale=1)

    def test_what_a_joint_that_closes_a_loop_loses_is_told(self):
        """The report names the properties that are lost at a joint that closes a loop: tries each property separately and all together, in
        <axis> and in <joint>."""
        axis = "<axis><xyz>0 1 0</xyz></axis></joint>\n  </model>"
        parts = {"limits": "<limit><lower>-1</lower><upper>1</upper></limit>", "friction": "<dynamics><damping>0.3</damping></dynamics>",
                 "spring": "<dynamics><spring_stiffness>0.3</spring_stiffness></dynamics>", "mimic": "<mimic joint='drive'><multiplier>2</multiplier></mimic>",
                 "rotor_inertia": "<drake:rotor_inertia>0.2</drake:rotor_inertia>"}
        text = read("four_bar")
        self.assertIn(axis, text)
        together = "".join(parts.values()).replace("</dynamics><dynamics>", "")
        for inside, lost in [("", ()), *((given, (name,)) for name, given in parts.items()), (together, tuple(parts))]:
            report = self.take_sdf("told", text.replace(axis, axis.replace("</axis>", inside + "</axis>")))["report"]
            found = [e["text"] for e in report if e["code"] == "not-held" and "closes a loop" in e["text"]]
            self.assertEqual(len(found), len(lost) > 0, (inside, report))
            for name in parts:
                self.assertEqual(any(name in one for one in found), name in lost, (inside, found))
        report = self.take_sdf("told", text.replace(axis, axis.replace("</joint>", parts["rotor_inertia"] + "</joint>")))["report"]
        self.assertTrue([e for e in report if e["code"] == "not-held" and "rotor_inertia" in e["text"]], report)

    # Cranks of one length on pivots at rising x, and rods between their tips: parallelograms.
    CRANKS = ((0, 0.4), (0.5, 0.7), (1.3, 0.9), (1.9, 0.3))      # x of the pivot, mass of the crank
    RODS = (0.6, 1.1, 0.8)      # masses

    def parallelograms(self, n, backwards):
        """A chain of n parallelograms, whose middle cranks belong to two loops each; `backwards`: the rods start at the far tips."""
        body = ("<link name='{0}'><pose>{1} 0 {2} 0 0 0</pose><inertial><pose>{3}</pose><mass>{4}</mass><inertia><ixx>0.01</ixx><iyy>0.02</iyy>"
                "<izz>0.02</izz></inertia></inertial></link>")
        hinge = ("<joint name='{0}' type='revolute'>{3}<parent>{1}</parent><child>{2}</child><axis><xyz>0 1 0</xyz></axis></joint>")
        cranks = "".join(body.format(f"crank{i}", x, 0, "0 0 0.1 0 0 0", mass) + hinge.format(f"pivot{i}", "world", f"crank{i}", "")
                         for i, (x, mass) in enumerate(self.CRANKS[:n + 1]))
        rods = ""
        for i, mass in enumerate(self.RODS[:n]):
            (a, (x, _)), (b, (far, _)) = ((j, self.CRANKS[j]) for j in ((i + 1, i) if backwards else (i, i + 1)))
            rods += body.format(f"rod{i}", x, 0.25, "0.1 0 0 0 0 0", mass) + hinge.format(f"knee{i}", f"crank{a}", f"rod{i}", "")
            rods += hinge.format(f"close{i}", f"rod{i}", f"crank{b}", f"<pose relative_to='rod{i}'>{far - x} 0 0 0 0 0</pose>")
        return f"<sdf version='1.9'><model name='m'>{cranks}{rods}</model></sdf>"

    def test_loops_that_share_links_have_one_coordinate(self):
        """All cranks have the same angle and all rods move on circles: M is constant, the sum of the cranks' moments and of the rods' m L^2."""
        for n, backwards in itertools.product((1, 2, 3), (False, True)):
            case = f"{n} {backwards}"
            about = self.take_sdf("chain", self.parallelograms(n, backwards))
            self.assertEqual((about["nq"], about["nv"]), (1, 1), case)
            M = sum(0.02 + mass * 0.1 ** 2 for _, mass in self.CRANKS[:n + 1]) + sum(mass * 0.25 ** 2 for mass in self.RODS[:n])
            for q in (0, 0.3, -0.5):
                self.assertClose(self.ask("chain", "mass-matrix", {"q": [q]})["mass_matrix"], [[M]], 1e-12, what=case)

    def test_joints_are_the_same_from_either_end(self):
        """The tree begins at the link that is fixed to the world, the parent or the child of the joint: at equal coordinates the relative poses
        in the two trees are inverse to each other."""
        axes = ("<axis><xyz>0.6 0 0.8</xyz></axis>", "<axis2><xyz>0 1 0</xyz></axis2>")
        for kind, more in (("revolute", axes[0]), ("continuous", axes[0]), ("prismatic", axes[0]), ("universal", "".join(axes)),
                           ("revolute2", "".join(axes)), ("screw", axes[0] + "<screw_thread_pitch>0.3</screw_thread_pitch>")):
            poses = []
            for held, moves in (("a", "b"), ("b", "a")):
                about = self.take_sdf("ends", "<sdf version='1.9'><model name='m'>" + "".join(
                    f"<link name='{name}'><pose>{place}</pose><inertial><mass>1</mass></inertial></link>"
                    for name, place in (("a", "0.1 0.2 0.3 0.4 0.5 0.6"), ("b", "-0.3 0.2 0.7 1.4 -0.5 0.2"))) +
                    f"<joint name='j' type='{kind}'><pose>0.3 -0.1 0.2 0.3 0.2 0.1</pose><parent>a</parent><child>b</child>{more}</joint>"
                    f"<joint name='w' type='fixed'><parent>world</parent><child>{held}</child></joint></model></sdf>")
                names = self.client.get("/v1/models/ends").json()["position_names"]
                q = dict(zip(("j", "j.1", "j.2"), (0.7, 0.7, -0.4)))
                at = {n: matrix(p["position"] + p["orientation"]) for n, p in self.ask(
                    "ends", "kinematics", {"q": [q[n] for n in names], "frames": ["a", "b"]})["poses"].items()}
                self.assertEqual(about["nv"], len(names))
                poses.append(compose(inverse(at[held]), at[moves]))
            self.assertClose(flat(poses[0]), flat(inverse(poses[1])), 1e-13, scale=1, what=kind)

    def test_gears(self):
        self.put_file("joints")
        about = self.client.get("/v1/models/joints").json()
        wheel = next(joint for joint in about["joints"] if joint["name"] == "wheel")
        self.assertNotIn("wheel", about["position_names"])
        # `driven` rotates about -z, so about the gear's axis by -q; therefore `wheel` is at 2.5 q.
        self.assertEqual(wheel["mimic"], {"joint": "driven", "multiplier": 2.5, "offset": 0})
        self.put_file("joints", "?mimic=independent")
        self.assertIn("wheel", self.client.get("/v1/models/joints").json()["position_names"])

    # A gearbox of two hinges with parallel axes; the reference body is parent or child of each hinge.
    GEARED = ("<link name='{0}'><pose>{2} 0.3 0 0 0 0</pose><inertial><mass>{3}</mass><inertia/></inertial></link>"
              "<joint name='hinge_{0}' type='revolute'><parent>{4}</parent><child>{5}</child><axis><xyz>0 0 {1}</xyz></axis></joint>")

    def gearbox(self, ratio, first, second, axes):
        """`first` and `second` are (sign of the hinge's axis, whether the reference body is its parent)."""
        links = "".join(self.GEARED.format(name, sign, x, mass, *(("frame", name) if starts else (name, "frame")))
                        for name, x, mass, (sign, starts) in (("pinion", 0.1, 1.5, first), ("wheel", 0.4, 0.7, second)))
        return ("<sdf version='1.9'><model name='m'><link name='frame'><inertial><mass>2</mass></inertial></link>"
                "<joint name='ground' type='fixed'><parent>world</parent><child>frame</child></joint>" + links +
                f"<joint name='gear' type='gearbox'><parent>pinion</parent><child>wheel</child><gearbox_ratio>{ratio}</gearbox_ratio>"
                "<gearbox_reference_body>frame</gearbox_reference_body>"
                f"<axis><xyz>0 0 {axes[0]}</xyz></axis><axis2><xyz>0 0 {axes[1]}</xyz></axis2></joint></model></sdf>")

    def test_gears_turn_as_the_ratio_says(self):
        """Relative to the reference body and about the gear's axes, the wheel rotates by -ratio times the pinion's
        angle."""
        angle = lambda pose: 2 * math.atan2(pose["orientation"][2], pose["orientation"][3])
        ends = list(itertools.product((1, -1), (True, False)))
        for first, second, axes in itertools.product(ends, ends, ((1, 1), (1, -1), (-1, 1))):
            for ratio in (2.5, -0.4):
                case = f"{first} {second} {axes} {ratio}"
                self.put_sdf("geared", self.gearbox(ratio, first, second, axes))
                about = self.client.get("/v1/models/geared").json()
                self.assertEqual(len(about["position_names"]), 1, case)
                poses = self.ask("geared", "kinematics", {"q": [0.3], "frames": ["pinion", "wheel"]})["poses"]
                pinion, wheel = axes[0] * angle(poses["pinion"]), axes[1] * angle(poses["wheel"])
                self.assertClose(wheel, -ratio * pinion, 1e-14, 1, case)
                self.assertClose(abs(pinion), 0.3, 1e-14, 1, case)


class Requests(SdfCase):
    LINK = "<link name='{0}'><inertial><mass>1</mass><inertia/></inertial></link>"
    ARM = ("<sdf version='1.9'><model name='m'>" + LINK.format("a") + LINK.format("b") +
           "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis/></joint></model></sdf>")

    def test_bases(self):
        floating = self.put_sdf("base", self.ARM).json()
        self.assertEqual((floating["nq"], floating["nv"]), (8, 7))
        self.assertEqual(self.put_sdf("base", self.ARM, "?base=floating").json()["revision"], floating["revision"])
        self.assertEqual(self.put_sdf("base", self.ARM, "?base=fixed").json()["nv"], 1)
        held = self.ARM.replace("</model>", "<joint name='w' type='fixed'><parent>world</parent><child>a</child></joint></model>")
        self.assertEqual(self.put_sdf("base", held).json()["nv"], 1)
        self.assertProblem(self.put_sdf("base", held, "?base=floating"), 422)
        # a second link without a joint floats, too
        two = self.ARM.replace("</model>", self.LINK.format("c") + "</model>")
        self.assertEqual(self.put_sdf("base", two).json()["nv"], 13)

    def test_media_types(self):
        for kind in ("application/sdf+xml", "text/xml"):
            answer = self.client.put("/v1/models/kinds", self.ARM.encode(), Content_Type=kind)
            self.assertIn(answer.status, (200, 201), answer)
        self.assertProblem(self.client.put("/v1/models/kinds", self.ARM.encode(), Content_Type="application/mjcf+xml"), 422)
        self.assertProblem(self.put_sdf("kinds", self.ARM, "?equality=coupled"), 422)

    def test_the_document_is_the_model(self):
        first = self.put_sdf("first", self.ARM).json()
        document = self.client.get("/v1/models/first/document").json()
        self.assertEqual(self.put_model("first", document)["revision"], first["revision"])


if __name__ == "__main__":
    tap.main()
