"""<include> of SDF in archives and on the command line: the model is that of a file with the included model in place."""
import os
import subprocess
import tempfile
import unittest

import tap
from harness import BINARY, ServerCase
from test_archives import ZIP, as_zip

LINK = "<link name='{0}'><pose>{1} 0.2 0.3 0 0 0</pose><inertial><mass>{2}</mass><inertia><ixx>0.01</ixx><iyy>0.02</iyy><izz>0.015</izz></inertia></inertial></link>"
JOINT = "<joint name='{0}' type='revolute'><parent>{1}</parent><child>{2}</child><axis><xyz>0 0.6 0.8</xyz>{3}</axis></joint>"
ARM = LINK.format("base", 0.1, 3) + LINK.format("arm", 0.4, 2) + JOINT.format("j", "base", "arm", "")
CONFIG = "<?xml version='1.0'?><model><name>other</name><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'> arm.sdf </sdf></model>"


def sdf(content, version="1.9"):
    return f"<sdf version='{version}'>{content}</sdf>"


def model(name, content, more=""):
    return f"<model name='{name}'{more}>{content}</model>"


MAIN = model("robot", LINK.format("root", 0.7, 5) + "{}" + JOINT.format("k", "root", "{}::base", ""))


class Includes(ServerCase):
    def put(self, files, query=""):
        return self.client.request("PUT", f"/v1/models/included{query}", as_zip(files), {"Content-Type": ZIP})

    def same(self, files, inline, query=""):
        """The files give the model of the text `inline`, by the revision of the document."""
        answer = self.put(files, query)
        self.assertIn(answer.status, (200, 201), answer)
        expected = self.client.request("PUT", "/v1/models/included", inline, {"Content-Type": "application/xml"})
        self.assertIn(expected.status, (200, 201), expected)
        self.assertEqual(answer.json()["revision"], expected.json()["revision"])
        return answer.json()["report"]

    def refused(self, files, *words, query="?main=r.sdf", status=422):
        problem = self.assertProblem(self.put(files, query), status)
        for word in words:
            self.assertIn(word, problem["detail"])

    def test_a_model_by_its_folder(self):
        """model.config may name a file for each version of SDF, of which the right one is read; a URI refers to the folder's name, not to
        <name>."""
        for uri, main in (("model://mine", "w/robot.sdf"), ("mine", "robot.sdf"), ("model://mine/arm.sdf", "w/robot.sdf"),
                          ("../mine/arm.sdf", "w/robot.sdf"), ("mine/arm.sdf", "robot.sdf"), ("mine", "w/robot.sdf"),
                          ("file://mine", "w/robot.sdf"), ("mine/arm.sdf", "w/v/robot.sdf"), ("model://mine/", "robot.sdf")):
            for name, place in (("", ""), ("<name>two</name>", ""), ("", "<pose>1 2 3 0.1 0.2 0.3</pose>"),
                                ("<name>two</name>", "<pose relative_to='root'>1 2 3 0.1 0.2 0.3</pose>")):
                called = "two" if name else "arm"
                files = {main: sdf(MAIN.format(f"<include><uri>\n {uri} </uri>{name}{place}</include>", called)),
                         "mine/model.config": CONFIG, "mine/arm.sdf": sdf(model("arm", ARM)), "mine/old.sdf": sdf(model("arm", LINK.format("x", 1, 1)), "1.5")}
                self.same(files, sdf(MAIN.format(model(called, ARM + place), called)))

    def test_a_pose_replaces_that_of_the_model(self):
        own = "<pose>9 9 9 0 0 1</pose>"
        inner = {"mine/arm.sdf": sdf(model("arm", own + ARM))}
        self.same({"robot.sdf": sdf(MAIN.format("<include><uri>mine/arm.sdf</uri></include>", "arm")), **inner},
                  sdf(MAIN.format(model("arm", own + ARM), "arm")))
        self.same({"robot.sdf": sdf(MAIN.format("<include><uri>mine/arm.sdf</uri><pose>1 0 0 0 0 0</pose></include>", "arm")), **inner},
                  sdf(MAIN.format(model("arm", "<pose>1 0 0 0 0 0</pose>" + ARM), "arm")))
        self.same({"robot.sdf": sdf(MAIN.format("<include><uri>mine/arm.sdf</uri><placement_frame>arm</placement_frame>"
                                                "<pose>1 0 0 0 0 0</pose></include>", "arm")), **inner},
                  sdf(MAIN.format(model("arm", "<pose>1 0 0 0 0 0</pose>" + ARM, " placement_frame='arm'"), "arm")))

    def test_twice_and_nested(self):
        """A model may be included twice under two names; an included file may include others, relative to its own folder."""
        two = "<include><uri>model://arm</uri><name>a</name></include><include><uri>model://arm</uri><name>b</name></include>"
        arm = {"m/arm/model.config": CONFIG, "m/arm/arm.sdf": sdf(model("arm", LINK.format("base", 0.1, 3) + "<include><uri>../tip.sdf</uri></include>"
                                                                  + JOINT.format("j", "base", "tip::tip", ""))),
               "m/tip.sdf": sdf(model("tip", LINK.format("tip", 0.3, 7)))}
        nested = LINK.format("base", 0.1, 3) + model("tip", LINK.format("tip", 0.3, 7)) + JOINT.format("j", "base", "tip::tip", "")
        joints = JOINT.format("ka", "root", "a::base", "") + JOINT.format("kb", "root", "b::base", "")
        root = LINK.format("root", 0.7, 5)
        self.same({"r.sdf": sdf(model("robot", root + two + joints)), **arm},
                  sdf(model("robot", root + model("a", nested) + model("b", nested) + joints)))

    def test_worlds(self):
        """A world includes its robot; static models, lights and files that are not there are reported."""
        world = "<world name='w'><gravity>0 0 -3</gravity><include><uri>model://sun</uri></include>{}<include><uri>model://lost</uri></include></world>"
        ground = "<include><uri>model://ground</uri></include>"
        files = {"w.world": sdf(world.format(ground + "<include><uri>model://arm</uri></include>")), "arm/model.config": CONFIG,
                 "arm/arm.sdf": sdf(model("arm", ARM)), "sun/model.config": CONFIG, "sun/arm.sdf": sdf("<light name='sun' type='point'/>"),
                 "ground/model.config": CONFIG, "ground/arm.sdf": sdf(model("ground", "<static>1</static>" + LINK.format("g", 0, 1)))}
        report = self.same(files, sdf("<world name='w'><gravity>0 0 -3</gravity>" + model("arm", ARM) + "</world>"))
        told = [(entry["severity"], entry["code"]) for entry in report if "include" in entry["text"] or "model://" in entry["text"] or "static" in entry["text"]]
        self.assertIn(("warning", "not-held"), told)
        self.assertEqual(told.count(("info", "dropped")), 2, report)

    def test_each_file_keeps_its_version(self):
        """Up to version 1.6 <use_parent_model_frame> means that the axis is given in the model's frame; from 1.7 on it has no effect."""
        turned = "<pose>0 0 0 0.3 0.2 0.1</pose>"
        def content(flag, expressed=""):
            return (LINK.format("base", 0.1, 3) + LINK.format("arm", 0.4, 2).replace("0 0 0</pose>", "0.3 0.2 0.1</pose>") +
                    JOINT.format("j", "base", "arm", flag).replace("<xyz>", f"<xyz{expressed}>"))
        old = content("<use_parent_model_frame>1</use_parent_model_frame>")
        main = "<include><uri>arm.sdf</uri></include>"
        self.assertTrue(turned)
        self.same({"r.sdf": sdf(MAIN.format(main, "arm"), "1.9"), "arm.sdf": sdf(model("arm", old), "1.6")},
                  sdf(MAIN.format(model("arm", content("", " expressed_in='__model__'")), "arm"), "1.9"))
        self.same({"r.sdf": sdf(MAIN.format(main, "arm"), "1.9"), "arm.sdf": sdf(model("arm", content("")), "1.4")},
                  sdf(MAIN.format(model("arm", content("", " expressed_in='__model__'")), "arm"), "1.9"))

    def test_refusals(self):
        def robot(include):
            return {"r.sdf": sdf(MAIN.format(include, "arm")), "arm.sdf": sdf(model("arm", ARM))}
        self.refused(robot("<include><uri>model://lost</uri></include>"), "model://lost", "no such file")
        self.refused(robot("<include/>"), "uri")
        self.refused({**robot("<include><uri>arm.sdf</uri></include>"), "arm.sdf": "<sdf"}, "in arm.sdf", status=400)
        self.refused({**robot("<include><uri>arm.urdf</uri></include>"), "arm.urdf": "<robot name='a'><link name='b'/></robot>"}, "<robot>")
        self.refused({**robot("<include><uri>arm.sdf</uri></include>"), "arm.sdf": sdf(model("a", ARM) + model("b", ARM))}, "arm.sdf", "second")
        self.refused({**robot("<include><uri>arm.sdf</uri></include>"), "arm.sdf": sdf(model("a", ARM), "1.99")}, "1.99")
        self.refused({"r.sdf": sdf(model("r", LINK.format("x", 1, 1) + "<include><uri>r.sdf</uri></include>"))}, "itself")
        alone = self.client.request("PUT", "/v1/models/m", robot("<include><uri>model://lost</uri></include>")["r.sdf"], {"Content-Type": "application/xml"})
        self.assertIn("application/zip", self.assertProblem(alone, 422)["detail"])

    def test_growth_is_bounded(self):
        """Each file includes the next twice: 2^30 models by 30 files."""
        files = {f"{i}.sdf": sdf(model("m", "".join(f"<include><uri>{i + 1}.sdf</uri><name>{n}</name></include>" for n in "ab"))) for i in range(30)}
        self.refused({**files, "30.sdf": sdf(model("m", ARM))}, "1000 files", status=413, query="?main=0.sdf")

    def merged(self, arm, place="<pose>1 2 3 0.1 0.2 0.3</pose>", name="", flag="true"):
        include = f"<include merge='{flag}'><uri>arm.sdf</uri>{name}{place}</include>"
        return {"r.sdf": sdf(model("robot", LINK.format("root", 0.7, 5) + include + JOINT.format("k", "root", "base", ""))), "arm.sdf": sdf(arm)}

    def test_merge(self):
        """In a merged model, default frames and __model__ refer to the frame of the included model; other references do not change."""
        frame = "_merged__{}__model__"
        pose = "<pose relative_to='{1}'>{0}</pose>"
        tip = "<link name='tip'>" + pose + "<inertial><mass>0.4</mass></inertial></link>"
        parts = (LINK.format("base", 0.1, 3) + LINK.format("arm", 0.4, 2) + tip.format("0.1 0 0 0 0 0.3", "__model__") +
                 JOINT.format("j", "base", "arm", "<limit><lower>-1</lower><upper>2</upper></limit>") +
                 "<joint name='t' type='revolute'>" + pose.format("0 0 0.1 0.4 0 0", "__model__") + "<parent>arm</parent><child>tip</child>"
                 "<axis><xyz expressed_in='__model__'>0 0.6 0.8</xyz></axis></joint>"
                 "<frame name='f'><pose>0.3 0.2 0.1 0 0 0</pose></frame><frame name='g' attached_to='arm'><pose>0 0 1 0 0 0</pose></frame>"
                 "<frame name='h' attached_to='g'>" + pose.format("1 0 0 0 0 0", "__model__") + "</frame>" +
                 model("inner", LINK.format("x", 0.2, 0.5)) + "<joint name='i' type='fixed'><parent>__model__</parent><child>inner::x</child></joint>")
        for name, given in (("included", ""), ("other", "<name>other</name>")):
            F = frame.format(name)
            for place, written in (("", ""), ("<pose>1 2 3 0.1 0.2 0.3</pose>", "1 2 3 0.1 0.2 0.3")):
                inline = parts.replace("__model__", F)
                for link in ("base", "arm"):
                    inline = inline.replace(f"<link name='{link}'><pose>", f"<link name='{link}'><pose relative_to='{F}'>")
                inline = inline.replace("<frame name='f'>", f"<frame name='f' attached_to='{F}'>")
                inline = inline.replace("<model name='inner'>", f"<model name='inner'><pose relative_to='{F}'/>")
                inline += f"<frame name='{F}' attached_to='base'>" + pose.format(written, "__model__") + "</frame>"
                expected = sdf(model("robot", LINK.format("root", 0.7, 5) + inline + JOINT.format("k", "root", "base", "")))
                for flag in ("true", "1"):
                    self.same(self.merged(model("included", parts), place, given, flag), expected, "?main=r.sdf")

    def test_merge_of_old_versions(self):
        """A file keeps the rules of its version: up to 1.4 axes are in the axes of its model, up to 1.6 where
        <use_parent_model_frame> says so, and `frame` names the frame of a pose."""
        turned = "<link name='tip'><pose {}>0 0.2 0.1 0.3 0.2 0.1</pose><inertial><mass>0.4</mass></inertial></link>"
        axis = "<joint name='j' type='revolute'><parent>base</parent><child>tip</child><axis><xyz{}>0 0.6 0.8</xyz>{}</axis></joint>"
        flag = "<use_parent_model_frame>{}</use_parent_model_frame>"
        in_model, in_joint = (" expressed_in='__model__'", ""), ("", "")
        cases = [(version, flag.format(value), in_model if value in ("1", "true") else in_joint)
                 for version in ("1.3", "1.4", "1.5", "1.6") for value in ("1", "true", "0", "false")]
        cases += [("1.3", "", in_model), ("1.4", "", in_model), ("1.5", "", in_joint), ("1.6", "", in_joint), ("1.7", "", in_joint)]
        base = LINK.format("base", 0.1, 3)
        for version, old, (expressed, new) in cases:
            for frames in (("", ""), ("frame='base'", "relative_to='base'"), ("frame=''", ""), ("relative_to='base'", "relative_to='base'")):
                if version == "1.7" and "frame" in frames[0][:5]:
                    continue  # 1.7 has no such attribute
                files, newest = (self.merged(model("included", base + turned.format(frame) + axis.format(*more)))
                                 for frame, more in zip(frames, (("", old), (expressed, new))))
                files["arm.sdf"] = files["arm.sdf"].replace("version='1.9'", f"version='{version}'")
                answers = [self.put(each, "?main=r.sdf") for each in (files, newest)]
                for answer in answers:
                    self.assertIn(answer.status, (200, 201), (version, old, frames, answer))
                self.assertEqual(*(answer.json()["revision"] for answer in answers), (version, old, frames))

    def test_merge_within_merge(self):
        """The inner model is merged into the outer one, with its own pose, and both into the robot."""
        files = self.merged(model("arms", LINK.format("base", 0.1, 3) + "<include merge='1'><uri>tip.sdf</uri><pose>0 0 1 0.2 0 0</pose></include>" +
                                  JOINT.format("t", "base", "tip", "")))
        files["tip.sdf"] = sdf(model("tips", LINK.format("tip", 0.3, 7)))
        answer = self.put(files, "?main=r.sdf")
        self.assertIn(answer.status, (200, 201), answer)
        nested = sdf(model("robot", LINK.format("root", 0.7, 5) + model("arms", "<pose>1 2 3 0.1 0.2 0.3</pose>" + LINK.format("base", 0.1, 3) +
                           model("tips", "<pose>0 0 1 0.2 0 0</pose>" + LINK.format("tip", 0.3, 7)) + JOINT.format("t", "base", "tips::tip", "")) +
                           JOINT.format("k", "root", "arms::base", "")))
        self.client.request("PUT", "/v1/models/nested", nested, {"Content-Type": "application/xml"})
        poses = [self.ask(name, "kinematics", {"q": [0, 0, 0, 0, 0, 0, 1, 0.3, 0.2]})["poses"] for name in ("included", "nested")]
        for ours, theirs in (("tip", "arms::tips::tip"), ("base", "arms::base")):
            for key in ("position", "orientation"):
                self.assertClose(poses[0][ours][key], poses[1][theirs][key], 1e-12, scale=1)

    def test_merges_that_are_refused(self):
        self.refused(self.merged(model("included", ARM + "<static>1</static>")), "static")
        self.refused(self.merged(model("included", ARM, " placement_frame='base'")), "placement_frame")
        self.refused(self.merged(model("included", ARM), flag="maybe"), "merge")
        self.refused(self.merged(model("included", ARM.replace("'base'", "'root'").replace(">base<", ">root<"))), "root", "name")
        self.refused({"r.sdf": sdf("<world name='w'><include merge='1'><uri>arm.sdf</uri></include></world>"), "arm.sdf": sdf(model("a", ARM))},
                     "a world includes models without it")



class Commands(unittest.TestCase):
    """Tests package:// and model://, which are searched in the folders of --path."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.write("here/robot.sdf", sdf(MAIN.format("<include><uri>model://mine</uri></include>", "arm")))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, *arguments, status=0, **environment):
        done = subprocess.run([BINARY, "check", "here/robot.sdf", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done)
        return done.stdout

    def test_folders_of_models(self):
        self.assertIn("model://mine", self.check(status=1))
        self.write("far/mine/model.config", CONFIG)
        self.write("far/mine/arm.sdf", sdf(model("arm", ARM)))
        self.assertIn("no such file", self.check(status=1))
        self.check("--path", "far")
        self.check("--path", f"none:{self.folder}/far")
        self.check("--path", "far/mine")
        for variable in ("GZ_SIM_RESOURCE_PATH", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
            self.check(**{variable: f"/none:{self.folder}/far"})
        os.renames(os.path.join(self.folder, "far", "mine"), os.path.join(self.folder, "ws", "share", "mine"))
        self.check(AMENT_PREFIX_PATH=os.path.join(self.folder, "ws"))
        os.renames(os.path.join(self.folder, "ws", "share", "mine"), os.path.join(self.folder, "mine"))
        self.check()
        os.renames(os.path.join(self.folder, "mine"), os.path.join(self.folder, "here", "mine"))
        self.check()

    def test_names_without_a_scheme(self):
        """A name without a scheme is a path relative to the file or, if there is no such file, the name of a model."""
        self.write("far/mine/model.config", CONFIG)
        self.write("far/mine/arm.sdf", sdf(model("arm", ARM)))
        for uri in ("mine", "file://mine", "mine/arm.sdf"):
            self.write("here/robot.sdf", sdf(MAIN.format(f"<include><uri>{uri}</uri></include>", "arm")))
            self.check("--path", "far")
            self.assertIn(uri, self.check(status=1))
        for uri in ("../mine", "/mine", "https://far/mine"):
            self.write("here/robot.sdf", sdf(MAIN.format(f"<include><uri>{uri}</uri></include>", "arm")))
            self.assertIn("no such file", self.check("--path", "far", status=1))


if __name__ == "__main__":
    tap.main()
