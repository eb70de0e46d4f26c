"""Tests `torqued convert --to urdf|mjcf|sdf`: torqued reads the written file back as the same robot, MuJoCo reads it, and the command lists the
features that the target format cannot express."""
import copy
import json
import os
import random
import re
import subprocess
import tempfile
import unittest
from xml.dom import minidom

import mujoco
import samples
import tap
from harness import BINARY, ROOT, ServerCase

ROBOTS = {name[:-5]: os.path.join(folder, name) for folder in (os.path.join(ROOT, "models"), os.path.join(ROOT, "tests", "data", "robots"))
          for name in sorted(os.listdir(folder)) if name.endswith(".json")}
EXACT = 1e-10
# Features that the target format cannot express, for each model that the written file therefore changes.
NOT_MJCF = {"hua": "elastic joints, motors", "tx40": "coupled transmissions", "three_link": "screws", "prismatic_revolute": "screws",
            "stewart": "homes of spherical joints"}
NOT_URDF = {"hua": "elastic joints, motors", "tx40": "coupled transmissions", "three_link": "screws", "prismatic_revolute": "screws"}
NOT_SDF = {**NOT_URDF, "stewart": "frames of loops apart at zero", "delta": "frames of loops apart at zero"}
LOOPS = ("delta", "stewart", "four_bar", "five_bar", "prismatic_revolute")

RICH = {
    "name": "rich", "description": "springs -- and rotors-", "gravity": [0.1, 0.2, -9.7], "base": {"type": "fixed", "link": "ground"},
    "links": [
        {"name": "a", "parent": "ground", "inertial": samples.body(2), "joint": {
            "name": "ja", "type": "revolute", "axis": [0, 1, 1], "origin": {"dh": {"theta": 0.3, "d": 0.1, "a": 0.2, "alpha": 1.1}},
            "limits": {"position": [-1, 2], "effort": 30}, "friction": {"viscous": 0.3, "coulomb": 0.2}, "rotor_inertia": 0.04,
            "spring": {"stiffness": 3, "damping": 0.1, "rest": 0.4}, "home": 0.25}},
        {"name": "b", "parent": "a", "inertial": samples.body(1.4, (0.03, 0.01, -0.02)), "joint": {
            "name": "jb", "type": "helical", "axis": [1, 0, 0.2], "pitch": 0.05, "origin": {"xyz": [0, 0.1, 0.3], "rpy": [0.1, 1.5707963267948966, 0]}}},
        {"name": "c", "parent": "b", "inertial": samples.body(0.9, (0, 0.04, 0.02)), "joint": {
            "name": "jc", "type": "planar", "axis": [0.3, 0, -1], "origin": {"xyz": [0.2, 0, 0]}}},
        {"name": "d", "parent": "c", "inertial": samples.body(1.2, (0.01, 0, 0.03)), "joint": {
            "name": "jd", "type": "prismatic", "axis": [0, 0, 1], "mimic": {"joint": "ja", "multiplier": -0.5, "offset": 0.2}}},
        {"name": "e", "parent": "c", "joint": {"name": "je", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.1, 0, 0]}}},
        {"name": "f", "parent": "e", "inertial": samples.body(1), "joint": {
            "name": "jf", "type": "spherical", "origin": {"xyz": [0, 0, 0.2]}}},
        {"name": "g", "parent": "a", "inertial": samples.body(0.7, (0.02, -0.03, 0.05)), "joint": {
            "name": "jg", "type": "helical", "axis": [0.3, 1, 0], "pitch": -0.07, "origin": {"xyz": [0.05, 0.1, -0.2], "rpy": [0.2, -0.3, 0.4]},
            "mimic": {"joint": "ja", "multiplier": 1.7, "offset": 0.35}}}],
    "frames": [{"name": "tip", "link": "d", "xyz": [0.1, 0.2, 0.3], "rpy": [0.5, -1.5707963267948966, 0.2]},
               {"name": "mark", "link": "ground", "xyz": [1, 2, 3]}]}
del RICH["links"][0]["joint"]["axis"]  # the Denavit-Hartenberg parameters imply the axis z


class Converting(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def convert(self, path, *options, status=0):
        done = subprocess.run([BINARY, "convert", *options, path], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done)
        return done.stdout, "".join(line for line in done.stderr.splitlines(True) if ": suspicious: " not in line)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        return path

    def again(self, path, target):
        """Converts a file. Returns the written file, the document that torqued reads from it, and the list of losses."""
        text, lost = self.convert(path, "--to", target)
        minidom.parseString(text)
        there = self.write("robot." + target, text)
        options = () if target != "urdf" else ("--mimic", "coupled", "--base", self.base_of(path))
        return there, json.loads(self.convert(there, *options)[0]), lost

    def base_of(self, path):
        return json.loads(self.convert(path)[0])["base"]["type"]

    def draw(self, name, rng, spread=1):
        """Draws a state as {coordinate name: value}, since another document may order its coordinates differently."""
        about = self.client.get(f"/v1/models/{name}").json()
        names = about["position_names"]
        centre, spread = (about["reference"]["q"], 0.01) if "reference" in about else ([0.0] * len(names), spread)
        q = {n: c + rng.uniform(-spread, spread) for n, c in zip(names, centre)}
        for n in list(q):
            if n.endswith("qw"):
                parts = [n[:-1] + letter for letter in "xyzw"]
                norm = sum(q[p] ** 2 for p in parts) ** 0.5
                for p in parts:
                    q[p] /= norm
        return q, *({n: rng.uniform(-1, 1) for n in about["velocity_names"]} for _ in range(2))

    def torques(self, name, state):
        about = self.client.get(f"/v1/models/{name}").json()
        self.assertEqual(sorted(about["position_names"]), sorted(state[0]))
        order = (about["position_names"], about["velocity_names"], about["velocity_names"])
        q, qd, qdd = ([part[n] for n in names] for part, names in zip(state, order))
        answer = self.ask(name, "evaluate", {"q": q, "qd": qd, "qdd": qdd, "operations": {
            "inverse-dynamics": {}, "mass-matrix": {}, "kinematics": {}}})
        place = [about["velocity_names"].index(n) for n in state[1]]
        M = answer["mass-matrix"]["mass_matrix"]
        return ([answer["inverse-dynamics"]["tau"][i] for i in place], [[M[i][k] for k in place] for i in place],
                answer["kinematics"]["poses"])

    def compare(self, first, second, what):
        rng = random.Random(what)
        for _ in range(3):
            state = self.draw(first, rng)
            ours, theirs = self.torques(first, state), self.torques(second, state)
            self.assertClose(theirs[1], ours[1], EXACT, what=what + ": mass matrix")
            self.assertClose(theirs[0], ours[0], EXACT, scale=max(map(abs, ours[0])) or 1, what=what + ": torques")
            for frame, pose in ours[2].items():
                if frame in theirs[2]:
                    self.assertClose(theirs[2][frame]["position"], pose["position"], EXACT, scale=1, what=f"{what}: {frame}")

    def round_trip(self, name, path, target):
        with open(path) as file:
            self.put_model("first", json.load(file))
        lost = self.convert(path, "--to", target)[1]
        if "MuJoCo refuses" in lost:
            return
        harmless = {"urdf": "floating base", "sdf": "libsdformat refuses", "mjcf": ""}[target]
        other = [line for line in lost.splitlines() if harmless not in line and (name in LOOPS or '"actuated" of' not in line)]
        document = self.again(path, target)[1]
        self.put_model("second", document)
        if other:  # a listed loss means that the robot differs
            return
        self.compare("first", "second", f"{name} as {target}")

    def test_everything_that_mjcf_holds(self):
        path = self.write("rich.json", RICH)
        _, document, lost = self.again(path, "mjcf")
        self.assertEqual([line for line in lost.splitlines() if " replaced: the damping of the spring " not in line], [])
        self.put_model("first", RICH)
        self.put_model("second", document)
        joints = {link["joint"]["name"]: link["joint"] for link in document["links"]}
        self.assertEqual(joints["ja"]["limits"], {"position": [-1, 2], "effort": 30})
        self.assertEqual(joints["ja"]["home"], 0.25)
        self.assertEqual(document["gravity"], RICH["gravity"])
        self.compare("first", "second", "rich as mjcf")

    def test_everything_that_urdf_holds(self):
        """Without its springs and its gravity, RICH is written to URDF and read back without loss."""
        held = copy.deepcopy(RICH)
        del held["gravity"], held["links"][0]["joint"]["spring"]
        _, document, lost = self.again(self.write("held.json", held), "urdf")
        self.assertEqual(lost, "")
        self.put_model("first", held)
        self.put_model("second", document)
        self.compare("first", "second", "rich as urdf")

    def test_efforts_of_mimic_joints_are_listed(self):
        """Effort limits of mimic joints are listed as lost: in MJCF only joints with a coordinate have motors."""
        links = [{"name": name, "parent": parent, "joint": {"name": "j" + name, "type": "revolute", "axis": [0, 1, 0], "limits": {"effort": effort}, **more},
                  "inertial": {"mass": 1, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}}
                 for name, parent, effort, more in (("a", "base", 20, {}), ("b", "a", 10, {"mimic": {"joint": "ja", "multiplier": 2}}))]
        path = self.write("efforts.json", {"links": links})
        self.assertIn('"limits/effort" of joint "jb"', self.convert(path, "--to", "mjcf")[1])
        self.convert(path, "--to", "mjcf", "--strict", status=1)

    def test_joints_without_a_motor_are_listed(self):
        """URDF, MJCF and SDF cannot say that a joint of a tree has no motor, so a program that loads the file could drive it:
        "actuated": false is reported as lost."""
        links = [{"name": name, "parent": parent, "inertial": samples.body(1), "joint": {
            "name": "j" + name, "type": kind, "axis": [0, 1, 0], "actuated": driven, "limits": {"effort": 3}}}
            for name, parent, kind, driven in (("a", "base", "revolute", True), ("b", "a", "prismatic", False), ("c", "b", "prismatic", False))]
        path = self.write("passive.json", {"links": links})
        for target in ("urdf", "mjcf", "sdf"):
            lost = self.convert(path, "--to", target)[1]
            self.assertEqual([f'"actuated" of joint "j{name}"' in lost for name in "abc"], [False, True, True], lost)

    def test_configurations_are_counted(self):
        links = [{"name": "a", "parent": "base", "inertial": samples.body(1), "joint": {"name": "j", "type": "revolute", "axis": [0, 1, 0]}}]
        for n, told in ((1, '"c0" ('), (3, '"c0" and 2 more (')):
            document = {"links": links, "configurations": [{"name": f"c{k}", "q": {"j": k}} for k in range(n)]}
            for target in ("urdf", "sdf"):
                self.assertIn("configurations are not part of the file: " + told, self.convert(self.write("c.json", document), "--to", target)[1])

    def stands(self, name, configuration):
        """Returns the positions of all links of a model in one of its configurations."""
        about = self.client.get(f"/v1/models/{name}").json()
        q = next(c["q"] for c in about["configurations"] if c["name"] == configuration)
        poses = self.ask(name, "kinematics", {"q": q, "qd": [0] * about["nv"], "outputs": ["poses"]})["poses"]
        return {link: (poses[link]["position"], poses[link]["orientation"]) for link in about["links"] if link != "world"}

    def test_configurations_become_keyframes(self):
        """In each configuration of a written MJCF file all links have their original poses, although some joints are written as other joints."""
        def link(name, parent, kind, **joint):
            axis = {} if kind in ("spherical", "floating") else {"axis": [0.6, 0, 0.8]}
            return {"name": name, "parent": parent, "inertial": samples.body(1), "joint": {
                "name": "j" + name, "type": kind, **axis, "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.4, 0.5, 0.6]}, **joint}}
        links = [link("a", "base", "continuous", home=0.3), link("b", "a", "prismatic"), link("c", "a", "continuous", mimic={
            "joint": "ja", "multiplier": -2, "offset": 0.3}), link("d", "c", "planar", home=[0.1, 0.2, 0.3]), link("e", "b", "helical", pitch=0.2),
            link("f", "e", "spherical"), link("g", "base", "floating"), link("h", "base", "fixed")]
        turned = {f".q{x}": value for x, value in zip("xyzw", (0.5, -0.5, 0.1, 0.7))}
        q = {"ja": 0.4, "jb": -0.2, "jd.x": 0.3, "jd.angle": 0.9, "je": 1.1, "jg.z": 2, **{"jf" + x: value for x, value in turned.items()}}
        moved = {**q, **{"jg" + x: value for x, value in turned.items()}, "base.x": 1.5, **{"base" + x: value for x, value in turned.items()}}
        for base, name, second in (("floating", "trunk", moved), ("fixed", "world", q), ("fixed", "base", q)):
            own = json.loads(json.dumps(links).replace('"base"', f'"{name}"'))
            if name == "world":      # a free joint, whose axes are those of the world
                own[6]["joint"] = {"name": "jg", "type": "floating"}
            document = {"base": {"type": base, "link": name}, "links": own, "configurations": [
                {"name": "zero", "q": {}}, {"name": "a pose", "q": second}]}
            _, read, _ = self.again(self.write("poses.json", document), "mjcf")
            self.put_model("m", document)
            self.put_model("written", read)
            for configuration in ("zero", "a pose"):
                here, back = self.stands("m", configuration), self.stands("written", configuration)
                for body, (position, (x, y, z, w)) in here.items():
                    if body == name:
                        continue
                    self.assertClose(back[body][0], position, 1e-12, scale=1, what=f"{base} {configuration} {body}")
                    self.assertGreater(abs(sum(a * b for a, b in zip(back[body][1], (x, y, z, w)))), 1 - 1e-12, body)

    def test_keyframes_satisfy_the_couplings_of_a_follower_that_screws(self):
        """The slide of a helical joint that follows another one is at its pitch times the angle of its hinge, the offset included."""
        links = [{"name": "a", "parent": "base", "inertial": samples.body(1), "joint": {"name": "ja", "type": "continuous", "axis": [0, 1, 0]}},
                 {"name": "s", "parent": "a", "inertial": samples.body(1), "joint": {
                     "name": "js", "type": "helical", "axis": [0.6, 0, 0.8], "pitch": 0.2, "mimic": {"joint": "ja", "multiplier": -2, "offset": 0.3}}}]
        document = {"links": links, "configurations": [{"name": "turned", "q": {"ja": 0.4}}]}
        text, _ = self.convert(self.write("screws.json", document), "--to", "mjcf")
        joints = re.findall(r'<joint name="([^"]+)"', text.split("<equality")[0])
        positions = dict(zip(joints, map(float, re.search(r'qpos="([^"]+)"', text)[1].split())))
        self.assertEqual(sorted(positions), ["ja", "js", "js.slide"])
        for name, expected in (("ja", 0.4), ("js", -0.5), ("js.slide", -0.1)):
            self.assertAlmostEqual(positions[name], expected, 14, name)

    def test_passive_joints_of_loops_get_no_motor(self):
        """In MJCF a joint with a motor counts as driven, so the effort limit of a passive joint gets no motor and is listed as lost; the same
        joints stay coordinates."""
        with open(ROBOTS["five_bar"]) as file:
            document = json.load(file)
        document.pop("$schema", None)
        passive = next(link["joint"] for link in document["links"] if link["joint"].get("actuated") is False)
        passive["limits"] = {"effort": 5}
        _, read, lost = self.again(self.write("bars.json", document), "mjcf")
        self.assertIn(f'"limits/effort" of joint "{passive["name"]}"', lost)
        self.put_model("first", document)
        self.put_model("second", read)
        names = [self.client.get(f"/v1/models/{name}").json()["velocity_names"] for name in ("first", "second")]
        self.assertEqual(*names)

    def test_what_urdf_does_not_hold_is_listed(self):
        path = self.write("rich.json", RICH)
        lost = self.convert(path, "--to", "urdf")[1]
        for words in ('"spring" of joint "ja"', "gravity is not"):
            self.assertIn(words, lost)
        self.assertEqual(lost.count("not-held"), 2)
        text, said = self.convert(path, "--to", "urdf", "--strict", status=1)
        self.assertEqual(text, "")
        self.assertIn("--strict", said)

    def test_every_type_of_joint_keeps_its_limits(self):
        """Limits of every type of joint survive. URDF ignores position limits of `continuous` joints, so no joint with
        such limits is written as continuous."""
        kinds = {"revolute": {}, "prismatic": {}, "helical": {"pitch": 0.1}}
        links = [{"name": kind, "parent": "base", "inertial": samples.body(1), "joint": {
            "name": "j" + kind, "type": kind, "axis": [0, 0.6, 0.8], **more, "limits": {"position": [-0.5, 0.7], "effort": 3, "velocity": 2}}}
            for kind, more in kinds.items()]
        read = self.again(self.write("limited.json", {"links": links}), "urdf")[1]
        for kind in kinds:
            joint = next(link["joint"] for link in read["links"] if link["joint"]["name"] == "j" + kind)
            self.assertEqual(joint["limits"], {"position": [-0.5, 0.7], "velocity": 2, "effort": 3}, joint)

    def test_friction_by_the_load_is_listed(self):
        """The load coefficient of friction is listed as lost: neither URDF nor MJCF has one."""
        document = copy.deepcopy(RICH)
        joint = next(link["joint"] for link in document["links"] if link["joint"]["name"] == "ja")
        joint["friction"] = {"viscous": 0.1, "load": 0.2}
        path = self.write("loaded.json", document)
        for form in ("urdf", "mjcf", "sdf"):
            self.assertIn('"friction/load" of joint "ja"', self.convert(path, "--to", form)[1], form)

    def test_damping_of_a_spring_becomes_friction_and_is_told(self):
        """These formats have only one damping of a joint, while a document has that of the spring and viscous friction. Their sum is written as
        viscous friction, which "friction": false leaves out."""
        said = '"damping" of the spring of joint "ja"'.replace('"damping"', "the damping")
        document = copy.deepcopy(RICH)
        for form in ("urdf", "mjcf", "sdf"):
            _, read, told = self.again(self.write("damped.json", document), form)
            self.assertIn(f"replaced: {said} is viscous friction in the file", told, form)
            joint = next(link["joint"] for link in read["links"] if link["joint"]["name"] == "ja")
            self.assertAlmostEqual(joint["friction"]["viscous"], 0.3 + 0.1, 14)
        del next(link["joint"] for link in document["links"] if link["joint"]["name"] == "ja")["spring"]["damping"]
        for form in ("urdf", "mjcf", "sdf"):
            self.assertNotIn("damping of the spring", self.convert(self.write("undamped.json", document), "--to", form)[1], form)

    def test_losses_of_reading_count_too(self):
        arm = os.path.join(ROOT, "tests", "data", "mjcf", "hand.xml")
        self.assertIn("<motor>", self.convert(arm)[1])
        self.convert(arm, "--strict", status=1)
        self.convert(os.path.join(ROOT, "tests", "data", "mjcf", "scara.xml"), "--strict")
        self.convert(os.path.join(ROOT, "models", "two_link.json"), "--strict", "--to", "urdf")

    def test_the_document_is_as_before(self):
        for path in (os.path.join(ROOT, "models", "ur5.json"), os.path.join(ROOT, "tests", "data", "mjcf", "arm.xml")):
            self.assertEqual(self.convert(path)[0], self.convert(path, "--to", "document")[0])

    def test_names_are_escaped(self):
        odd = 'a <b> & "c" \u00f6\U0001f916'
        document = {"links": [{"name": odd, "parent": "base", "inertial": samples.body(1),
                               "joint": {"name": odd + "!", "type": "continuous", "axis": [0, 0, 1]}}]}
        for target in ("urdf", "mjcf", "sdf"):
            read = self.again(self.write("odd.json", document), target)[1]
            self.assertIn(odd, [link["name"] for link in read["links"]])
            self.assertIn(odd + "!", [link["joint"]["name"] for link in read["links"]])

    def test_an_unknown_target(self):
        path = os.path.join(ROOT, "models", "ur5.json")
        self.assertIn("document|urdf|mjcf|sdf", self.convert(path, "--to", "usd", status=2)[1])


def both_ways(name, path, target):
    def test(self):
        self.round_trip(name, path, target)
    return test


def read_by_mujoco(name, path):
    @unittest.skipIf(mujoco.SKIP, mujoco.SKIP)
    def test(self):
        written, lost = self.convert(path, "--to", "mjcf")
        # Debian's MuJoCo is older than equality constraints between sites
        if "MuJoCo refuses" in lost or "site1" in written:
            return
        there = self.write("robot.xml", written)
        model = mujoco.Model(there)
        self.put_model("tree", json.loads(self.convert(there, "--equality", "independent")[0]))
        drawn = mujoco.states(model, 2, 3)
        for state, expected in zip(drawn, model.answer(drawn)):
            q, qd, qdd = model.convert(state)
            turn = model.columns(state)
            M = self.ask("tree", "mass-matrix", {"q": q})["mass_matrix"]
            n = model.nv
            theirs = [expected["mass_matrix"][i * n:(i + 1) * n] for i in range(n)]
            self.assertClose(mujoco.multiply(mujoco.multiply(turn, M), list(zip(*turn))), theirs, EXACT, what=name)
            tau = self.ask("tree", "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd})["tau"]
            loss = [c * ((v > 0) - (v < 0)) for c, v in zip(model.about["frictionloss"], qd)]
            rigid = mujoco.apply(turn, [a - b for a, b in zip(tau, loss)])
            self.assertClose(rigid, expected["inverse"], EXACT, what=name)
    return test


for label, place in ROBOTS.items():
    if label not in NOT_URDF and label not in LOOPS:
        setattr(Converting, f"test_urdf_{label}", both_ways(label, place, "urdf"))
    if label not in NOT_SDF and label not in LOOPS:
        setattr(Converting, f"test_sdf_{label}", both_ways(label, place, "sdf"))
    if label not in NOT_MJCF:
        setattr(Converting, f"test_mjcf_{label}", both_ways(label, place, "mjcf"))
        setattr(Converting, f"test_mujoco_{label}", read_by_mujoco(label, place))

if __name__ == "__main__":
    tap.main()
