"""Tests that robots in MJCF agree with MuJoCo: mass matrix, bias, inverse dynamics, poses of bodies and sites."""
import json
import os
import subprocess
import tempfile
import unittest

import mujoco
import tap
from harness import BINARY, ROOT, ServerCase

OWN = os.path.join(ROOT, "tests", "data", "mjcf")
PACKAGED = "/usr/share/mujoco/model"  # files of the Debian package libmujoco-samples
PACKAGES = ("humanoid/humanoid.xml", "tendon_arm/arm26.xml", "slider_crank/slider_crank.xml", "hammock/humanoid_body.xml",
            "humanoid100/humanoid_body.xml")
EXACT = 1e-10  # relative to the largest entry
STATES = 6


def files():
    """Returns {name: path} of all model files."""
    found = {name[:-4]: os.path.join(OWN, name) for name in sorted(os.listdir(OWN)) if name.endswith(".xml")}
    for path in PACKAGES:
        if os.path.exists(os.path.join(PACKAGED, path)):
            found[path.replace("/", "_")[:-4]] = os.path.join(PACKAGED, path)
    return found


@unittest.skipIf(mujoco.SKIP, mujoco.SKIP)
class Agreement(ServerCase):
    def put_file(self, name, path):
        """Puts the document that `torqued convert` makes of the file with all files that it includes."""
        done = subprocess.run([BINARY, "convert", "--equality", "independent", path], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.put_model(name, json.loads(done.stdout))

    def compare(self, name, model, seed):
        drawn = mujoco.states(model, STATES, seed)
        expected = model.answer(drawn)
        converted = [model.convert(state) for state in drawn]
        request = {"q": [s[0] for s in converted], "qd": [s[1] for s in converted], "qdd": [s[2] for s in converted],
                   "operations": {"mass-matrix": {}, "bias": {"outputs": ["coriolis", "gravity"]}, "inverse-dynamics": {},
                                  "kinematics": {}}}
        answer = self.ask(name, "evaluate", request)
        for k, state in enumerate(drawn):
            turn = model.columns(state)
            back = list(zip(*turn))
            M = answer["mass-matrix"]["mass_matrix"][k]
            rigid = [a + b for a, b in zip(answer["bias"]["coriolis"][k], answer["bias"]["gravity"][k])]
            # the product's qdd where MuJoCo's accelerations are zero: the two have different velocities of a free joint
            still = model.convert((state[0], state[1], [0.0] * model.nv))[2]
            loss = [c * ((v > 0) - (v < 0)) for c, v in zip(model.about["frictionloss"], converted[k][1])]
            tau = [a - b for a, b in zip(answer["inverse-dynamics"]["tau"][k], loss)]
            size = model.nv
            matrix = [expected[k]["mass_matrix"][i * size:(i + 1) * size] for i in range(size)]
            bias = [a + b for a, b in zip(rigid, mujoco.apply(M, still))]
            self.assertClose(mujoco.multiply(mujoco.multiply(turn, M), back), matrix, EXACT, what=f"{name}: mass matrix")
            self.assertClose(mujoco.apply(turn, bias), expected[k]["bias"], EXACT, what=f"{name}: bias")
            self.assertClose(mujoco.apply(turn, tau), expected[k]["inverse"], EXACT, what=f"{name}: inverse dynamics")
            self.compare_poses(name, model, expected[k], answer["kinematics"]["poses"], k)

    def compare_poses(self, name, model, expected, poses, k):
        for kind, axes in (("bodies", "xpos"), ("sites", "site_xpos")):
            for i, frame in enumerate(model.about[kind]):
                if frame not in poses or frame == "world":
                    continue
                self.assertClose(poses[frame]["position"][k], expected[axes][3 * i:3 * i + 3], EXACT, scale=1,
                                 what=f"{name}: position of {frame}")
                x, y, z, w = poses[frame]["orientation"][k]
                R = [entry for row in mujoco.rotation(w, x, y, z) for entry in row]
                quaternion = expected["xquat"][4 * i:4 * i + 4] if kind == "bodies" else None
                matrix = ([entry for row in mujoco.rotation(*quaternion) for entry in row] if quaternion
                          else expected["site_xmat"][9 * i:9 * i + 9])
                self.assertClose(R, matrix, EXACT, scale=1, what=f"{name}: orientation of {frame}")


def check(name, path, seed):
    def test(self):
        model = mujoco.Model(path)
        self.put_file(name, path)
        self.compare(name, model, seed)
    return test


for number, (label, place) in enumerate(files().items()):
    setattr(Agreement, "test_" + label, check(label, place, number))

class Requests(ServerCase):
    """Tests MJCF in the body of a request."""
    ARM = ('<mujoco model="m"><compiler angle="radian"/><worldbody><body name="a"><joint name="j" axis="0 1 0"/>'
           '<geom size="0.1" mass="2" pos="1 0 0"/></body></worldbody></mujoco>')

    def put_text(self, name, text, kind="application/xml", query=""):
        return self.client.put(f"/v1/models/{name}{query}", text.encode(), Content_Type=kind)

    def test_the_outermost_element_names_the_format(self):
        revisions = set()
        for kind in ("application/xml", "text/xml; charset=utf-8", "application/mjcf+xml"):
            for before in ("", "\ufeff  ", '<?xml version="1.0"?>\n<!-- <robot> -->\n'):
                answer = self.put_text("kinds", before + self.ARM, kind)
                self.assertIn(answer.status, (200, 201), answer)
                revisions.add(answer.json()["revision"])
        self.assertEqual(len(revisions), 1)
        problem = self.assertProblem(self.put_text("kinds", self.ARM, "application/urdf+xml"), 422)
        self.assertIn("<mujoco>", problem["detail"])
        self.assertProblem(self.put_text("kinds", '<robot name="r"/>', "application/mjcf+xml"), 422)

    def test_parameters(self):
        self.assertEqual(self.put_text("asked", self.ARM, query="?equality=independent").status, 201)
        for query in ("?base=floating", "?mimic=coupled", "?equality=some", "?equality=coupled&equality=coupled", "?x=1"):
            self.assertProblem(self.put_text("asked", self.ARM, query=query), 422)
        urdf = '<robot name="r"><link name="a"/></robot>'
        self.assertProblem(self.put_text("asked", urdf, query="?equality=coupled"), 422)

    def test_actuators_of_a_joint_add_up(self):
        """Each actuator adds its greatest force times |gear| to the joint's effort limit."""
        for motors, effort in ((((3, 2),), 6), (((3, 2), (1.7, -4)), 12.8), (((1.7, -4), (0.5, 0.6), (3, 2)), 13.1)):
            text = "".join(f"<motor joint='j' ctrllimited='true' ctrlrange='{-most} {most}' gear='{gear}'/>" for most, gear in motors)
            answer = self.put_text("driven", self.ARM.replace("</mujoco>", f"<actuator>{text}</actuator></mujoco>"))
            self.assertIn(answer.status, (200, 201), answer)
            self.assertClose(self.ok(self.client.get("/v1/models/driven"))["joints"][0]["limits"]["effort"], effort, 1e-14)

    def test_an_element_twice_in_a_class_is_reported(self):
        """MuJoCo refuses two elements of a kind in one <default>; sections of the same class may each have one."""
        once = "<default><joint damping='1' armature='.5'/></default>"
        twice = once.replace("</default>", "<joint damping='2'/></default>")
        motors = "<default><motor gear='2'/><general gear='3'/><motor gear='4'/></default>"
        for classes, told in ((once, 0), (twice, 1), (once + once, 0), (f"<default><default class='c'>{twice[9:-10]}</default></default>", 1), (motors, 1)):
            answer = self.put_text("classes", self.ARM.replace("<worldbody>", classes + "<worldbody>"))
            self.assertIn(answer.status, (200, 201), answer)
            said = [entry["text"] for entry in answer.json()["report"] if entry["code"] == "repeated"]
            self.assertEqual(len(said), told, (classes, said))
        self.assertIn("<motor> is given again in one <default>", said[0])
        self.assertEqual(self.put_text("classes", self.ARM.replace("<worldbody>", twice + "<worldbody>")).status, 200)
        joint = self.client.get("/v1/models/classes/document").json()["links"][0]["joint"]
        self.assertEqual((joint["friction"]["viscous"], joint["rotor_inertia"]), (2, 0.5))

    def test_an_include_is_an_error_that_says_what_to_do(self):
        text = self.ARM.replace("<body", '<include file="/etc/passwd"/><body', 1)
        problem = self.assertProblem(self.put_text("including", text), 422)
        self.assertEqual(problem["code"], "not-supported")
        for word in ("line 1", "/etc/passwd", "application/zip", "torqued put"):
            self.assertIn(word, problem["detail"])

    def test_the_document_is_the_model(self):
        first = self.put_text("first", self.ARM).json()
        document = self.client.get("/v1/models/first/document").json()
        self.assertEqual(self.put_model("first", document)["revision"], first["revision"])
        self.assertEqual(document["base"], {"type": "fixed", "link": "world"})


class Files(unittest.TestCase):
    """On the command line included files may be anywhere: absolute paths, `..` and links are followed. Only regular files are read."""

    def check(self, inside, *beside, status=1):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "robot"))
            os.mkdir(os.path.join(folder, "robot", "parts"))
            body = '<x><body><joint/><geom size="1"/></body></x>'
            for name in ("robot/parts/in.xml", "out.xml", "robot/near.xml"):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(body)
            os.symlink(os.path.join(folder, "out.xml"), os.path.join(folder, "robot", "link.xml"))
            path = os.path.join(folder, "robot", "main.xml")
            with open(path, "w") as file:
                file.write(f"<mujoco><worldbody>{inside}</worldbody></mujoco>".replace("FOLDER", folder))
            done = subprocess.run([BINARY, "check", path], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done)
            return done.stdout

    def test_inside(self):
        self.check('<include file="near.xml"/><include file="parts/in.xml"/>', status=0)
        self.check('<include file="parts/../near.xml"/>', status=0)

    def test_outside(self):
        for name in ("../out.xml", "link.xml", "FOLDER/robot/near.xml", "FOLDER/out.xml"):
            self.check(f'<include file="{name}"/>', status=0)

    def test_no_file(self):
        for name in ("parts", "/dev/zero", "none.xml", "FOLDER/../none.xml", "../" * 60 + "out.xml"):
            self.assertIn("no such file in the folder", self.check(f'<include file="{name}"/>'))


@unittest.skipIf(mujoco.SKIP, mujoco.SKIP)
class Equalities(ServerCase):
    """Compares the document's mimics and loops with MuJoCo's equality constraints."""

    def convert(self, name, equality):
        done = subprocess.run([BINARY, "convert", "--equality", equality, os.path.join(OWN, name + ".xml")],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_coupled_joints_reduce_the_tree(self):
        """With q = G q_free + c, the mass matrix is G^T M G and the torques are G^T tau, where M and tau are MuJoCo's."""
        model = mujoco.Model(os.path.join(OWN, "hand.xml"))
        self.put_model("hand", self.convert("hand", "coupled"))
        names = self.client.get("/v1/models/hand").json()["position_names"]
        joints = model.about["joints"]
        follows = {"index_tip": ("index_middle", 0.8, 0), "ring_tip": ("ring_middle", 0.75, 0.05)}
        self.assertEqual(names, [name for name in joints if name not in follows])
        for state in mujoco.states(model, 3, 5):
            position, rate, change = (dict(zip(joints, part)) for part in state)
            free = [[part[name] for name in names] for part in (position, rate, change)]
            for name, (leader, ratio, offset) in follows.items():
                position[name] = ratio * position[leader] + offset
                rate[name], change[name] = ratio * rate[leader], ratio * change[leader]
            G = [[float(name == joint) if joint not in follows else follows[joint][1] * (name == follows[joint][0])
                  for name in names] for joint in joints]
            theirs = model.answer([[[part[joint] for joint in joints] for part in (position, rate, change)]])[0]
            n, back = model.nv, list(zip(*G))
            M = [theirs["mass_matrix"][i * n:(i + 1) * n] for i in range(n)]
            ours = self.ask("hand", "evaluate", {"q": free[0], "qd": free[1], "qdd": free[2],
                                                 "operations": {"mass-matrix": {}, "inverse-dynamics": {}}})
            self.assertClose(ours["mass-matrix"]["mass_matrix"], mujoco.multiply(back, mujoco.multiply(M, G)), EXACT)
            self.assertClose(ours["inverse-dynamics"]["tau"], mujoco.apply(back, theirs["inverse"]), EXACT)

    def test_loops_close_at_the_anchors(self):
        """The two frames of each `connect` coincide in MuJoCo's reference position, at the anchor."""
        model = mujoco.Model(os.path.join(OWN, "gripper.xml"))
        document = self.convert("gripper", "coupled")
        self.put_model("gripper", document)
        about = self.client.get("/v1/models/gripper").json()
        self.assertEqual(about["position_names"], ["turn", "left_drive"])
        self.assertEqual([loop["type"] for loop in document["loops"]], ["spherical", "spherical"])
        rest = model.answer([[model.about["qpos0"], [0.0] * model.nv, [0.0] * model.nv]])[0]
        poses = self.ask("gripper", "kinematics", {"q": [0, 0.1]})["poses"]
        for loop, body, anchor in (("left_bar", "left_rocker", (0.03, 0, 0.04)), ("right_bar", "right_rocker", (-0.03, 0, 0.04))):
            at = model.about["bodies"].index(body)
            R = mujoco.rotation(*rest["xquat"][4 * at:4 * at + 4])
            point = [p + sum(a * b for a, b in zip(row, anchor)) for p, row in zip(rest["xpos"][3 * at:], R)]
            for side in "ab":
                self.assertClose(poses[f"{loop}.{side}"]["position"], point, EXACT, scale=1, what=f"{loop}.{side}")


if __name__ == "__main__":
    tap.main()
