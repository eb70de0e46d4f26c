"""Tests the rules of each version of SDF: numbers are those that libsdformat reads from the same text, or closed forms.
"""
import itertools
import unittest

import numpy as np
import tap
from sdf import SKIP, MeaningCase, SdfCase, read

INERTIAL = "<inertial><mass>2</mass><inertia><ixx>.1</ixx><iyy>.2</iyy><izz>.25</izz></inertia></inertial>"
VERSIONS = ("1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9")


def link(name, pose="", inertial=INERTIAL):
    return f"<link name='{name}'>{pose}{inertial}</link>"


def joint(name, parent, child, axis="<xyz>1 0 0</xyz>", kind="revolute", inside=""):
    axis = f"<axis>{axis}</axis>" if axis is not None else ""
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{axis}{inside}</joint>"


def model(*parts, name="m", attributes="", pose=""):
    return f"<model name='{name}' {attributes}>{pose}{''.join(parts)}</model>"


def sdf(version, *parts):
    return f"<sdf version='{version}'>{''.join(parts)}</sdf>"


def world(version, *parts):
    return sdf(version, f"<world name='w'>{''.join(parts)}</world>")


def told(report, code, *words):
    return [e for e in report if e["code"] == code and all(word in e["text"] for word in words)]


A = link("a", "<pose>0.5 0 0 0.3 0 0</pose>")
POSES = {"plain": "", "relative_to": "relative_to='a'", "frame": "frame='a'", "empty frame": "frame=''", "both": "frame='a' relative_to='e'",
         "degrees": "degrees='true'"}
AXES = {"joint": "<xyz>0.6 0 0.8</xyz>", "none": "<xyz>0 0 1</xyz>", "expressed": "<xyz expressed_in='a'>0 1 0</xyz>",
        "parent model": "<xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame>",
        "not the parent model": "<xyz>0 1 0</xyz><use_parent_model_frame>false</use_parent_model_frame>",
        "both": "<xyz expressed_in='a'>0 1 0</xyz><use_parent_model_frame>true</use_parent_model_frame>",
        "both, not the parent model": "<xyz expressed_in='a'>0 1 0</xyz><use_parent_model_frame>0</use_parent_model_frame>"}


@unittest.skipIf(SKIP, SKIP)
class Meaning(MeaningCase):
    def test_poses_and_axes(self):
        """As in libsdformat, attributes and elements of old versions have no effect in files of a new version, but those of new versions take
        effect in files of an old version."""
        pairs = {(pose, "joint") for pose in POSES} | {("relative_to", axis) for axis in AXES}
        for version, (pose, axis) in itertools.product(VERSIONS, sorted(pairs)):
            numbers = "0 0.2 1 10 40 -20" if pose == "degrees" else "0 0.2 1 0.1 0.7 -0.4"
            text = sdf(version, model(A, link("e", "<pose>0 0 0.3 0 0.2 0</pose>"), link("b", f"<pose {POSES[pose]}>{numbers}</pose>"),
                                      joint("j", "a", "b", AXES[axis])))
            with self.subTest(version=version, pose=pose, axis=axis):
                self.check_text("versioned", text)

    def test_joint_poses_and_frames(self):
        for version in VERSIONS:
            for inside in ("<pose>0 0 .2 0 0 .1</pose>", "<pose frame='a'>0 0 .2 0 0 .1</pose>", "<pose relative_to='a'>0 0 .2 0 0 .1</pose>"):
                frame = "<frame name='F' attached_to='b'><pose>0 1 0 0 .2 0</pose></frame>"
                text = sdf(version, model(A, link("b", "<pose>0 0.2 1 0.1 0.7 -0.4</pose>"), joint("j", "a", "b", inside=inside), frame))
                self.check_text("posed", text)
            text = sdf(version, model(A, link("b", "<pose>0 0 1 0 0 0</pose>"), joint("j", "a", "b"), "<frame name='F'><pose frame='b'>0 1 0 0 .2 0</pose></frame>"))
            self.check_text("posed", text)

    def test_nested_models(self):
        for version in VERSIONS:
            inner = model(link("c", "<pose>0 0 0.1 0 0.2 0</pose>"), link("d", "<pose>0 0.3 0 0 0 1</pose>"), joint("k", "c", "d"),
                          name="n", pose="<pose>1 0 3 0.2 0.1 0</pose>")
            self.check_text("nested", sdf(version, model(A, link("b", "<pose>0 0 1 0 0 .3</pose>"), joint("j", "a", "b"), inner, joint("l", "b", "n::c"))))

    def test_one_name_for_a_link_and_a_joint(self):
        """Up to version 1.6, links and joints had separate name spaces; libsdformat renames the joint."""
        for version in VERSIONS:
            for parts in ((A, link("b", "<pose>0 0 1 0 0 .3</pose>"), joint("b", "a", "b")), (joint("b", "a", "b"), A, link("b", "<pose>0 0 1 0 0 .3</pose>"))):
                text = sdf(version, model(*parts))
                if version > "1.6":
                    self.assertEqual(self.assertProblem(self.put_sdf("named", text), 422)["code"], "duplicate-name")
                    continue
                self.assertTrue(told(self.take_sdf("named", text)["report"], "assumed", "same name"))
                known = self.theirs(text)
                for entry in known:
                    entry["name"] = entry["name"].replace("b_joint", "b")
                about, q, poses = self.ours("named", text)
                self.check_axes("named", known, about, q, self.check_poses("named", known, poses))
        for name in ("link", "model"):
            two = model(A, link("b"), joint("j", "a", "b"), link("b") if name == "link" else model(link("x"), name="n") + model(link("x"), name="n"))
            self.assertEqual(self.assertProblem(self.put_sdf("named", sdf("1.6", two)), 422)["code"], "duplicate-name")

    def test_gravity(self):
        """Up to version 1.5, gravity is part of the first <physics>."""
        arm = model(link("a", "<pose>1 0 0 0 0 0</pose>"), joint("j", "world", "a", "<xyz>0 1 0</xyz>", inside="<pose>-1 0 0 0 0 0</pose>"))
        moon, mars = "<gravity>0.1 0 -1.62</gravity>", "<gravity>0 0 -3.7</gravity>"
        places = {"physics": f"<physics type='ode'>{moon}</physics>", "world": mars, "both": f"<physics type='ode'>{moon}</physics>{mars}", "none": ""}
        for version, place in itertools.product(VERSIONS, places):
            text = world(version, places[place], arm)
            if place == "both" and version < "1.6":
                # no version allows <gravity> in <physics> and in <world> together; libsdformat's answer then depends on
                # their order
                continue
            g = next(e for e in self.theirs(text) if e["kind"] == "world")["gravity"]
            taken = self.take_sdf("heavy", text)
            tau = self.ask("heavy", "inverse-dynamics", {"q": [0]})["tau"]
            self.assertClose(tau, [2 * g[2]], 1e-14, scale=1, what=(version, place))
            unknown = told(taken["report"], "unknown", "<gravity> in <physics>")
            self.assertEqual(len(unknown), version > "1.5" and place in ("physics", "both"), (version, place, taken["report"]))
            self.assertFalse(told(taken["report"], "dropped", "<physics>") if place == "physics" else [], (version, taken["report"]))

    def test_types_in_any_case(self):
        for kind in ("Revolute", "PRISMATIC", "continUous", "Universal", "Fixed", "Ball"):
            axes = None if kind in ("Fixed", "Ball") else "<xyz>0 1 0</xyz>"
            text = sdf("1.9", model(A, link("b", "<pose>0 0 1 0 0 .3</pose>"), link("c"), joint("k", "a", "c"), joint("j", "a", "b", axes, kind=kind,
                                    inside="<axis2><xyz>1 0 0</xyz></axis2>" if kind == "Universal" else "")))
            self.check_text("typed", text)
            self.assertEqual(self.take_sdf("typed", text)["revision"], self.take_sdf("lower", text.replace(kind, kind.lower()))["revision"])


class Links(SdfCase):
    ARM = (A, link("b", "<pose>0 0 1 0 0 0</pose>"), joint("j", "a", "b", "<xyz>0 1 0</xyz>"))

    def test_reserved_names(self):
        for version in ("1.2", "1.6", "1.9", "1.12"):
            for name in ("world", "__model__", "__x__"):
                for part in (link(name), model(link("x"), name=name)):
                    problem = self.assertProblem(self.put_sdf("reserved", sdf(version, model(*self.ARM, part))), 422)
                    self.assertEqual(problem["code"], "bad-name", problem)
                    self.assertIn("reserved", problem["detail"])
        slide = sdf("1.6", model("<link name='world'/>", link("a", "<pose>0 0 1 0 0 0</pose>"), joint("j", "world", "a", kind="prismatic")))
        self.assertProblem(self.put_sdf("reserved", slide), 422)
        self.assertEqual(self.take_sdf("slide", slide.replace("<link name='world'/>", ""))["nv"], 1)

    def test_static_nested_models(self):
        """Links of static nested models are fixed to the world, and joints can attach other links to them."""
        still = "<static>true</static>"
        inner = model(link("c", "<pose>0 0 0.5 0 0 0</pose>"), name="n", pose=still + "<pose>0 0 3 0 0 0</pose>")
        taken = self.take_sdf("still", sdf("1.9", model(*self.ARM, inner)))
        self.assertEqual(taken["nv"], 7)
        self.assertTrue(told(taken["report"], "fixed", '"n::c"'))
        self.assertEqual(self.take_sdf("moving", sdf("1.9", model(*self.ARM, inner)).replace("true", "false"))["nv"], 13)
        held = sdf("1.9", model(*self.ARM, inner, joint("h", "n::c", "a", "<xyz>0 0 1</xyz>")))
        self.assertEqual(self.take_sdf("held", held)["nv"], 2)
        self.take_sdf("plain", held.replace(still, "").replace("<joint", joint("w", "world", "n::c", None, kind="fixed") + "<joint", 1))
        for name in ("held", "plain"):
            self.state = self.ask(name, "inverse-dynamics", {"q": [0.3, -0.4], "qd": [1, 2], "qdd": [0.5, 0.7]})["tau"]
            if name == "held":
                first = self.state
        self.assertClose(first, self.state, 1e-14, scale=1)
        deep = model(model(link("c"), name="p"), name="n", pose=still)
        self.assertEqual(self.take_sdf("deep", sdf("1.9", model(*self.ARM, deep)))["nv"], 7)
        self.assertProblem(self.put_sdf("held", held, "?base=floating"), 422)

    def test_joint_of_the_world(self):
        """From version 1.10 on a joint of the world may attach the model, with a pose of its own and names prefixed by
        the model's."""
        arm = model(*self.ARM)
        for version in ("1.10", "1.11", "1.12"):
            for fix in (joint("f", "world", "m::a", None, kind="fixed"), joint("f", "m::a", "world", None, kind="fixed", inside="<pose relative_to='m'/>")):
                taken = self.take_sdf("welded", world(version, arm, fix))
                self.assertEqual(taken["nv"], 1)
                self.assertFalse([e for e in taken["report"] if e["severity"] == "warning" and "foam" not in e["text"]], taken["report"])
        taken = self.take_sdf("free", world("1.9", arm, joint("f", "world", "m::a", None, kind="fixed")))
        self.assertEqual(taken["nv"], 7)
        self.assertTrue(told(taken["report"], "not-held", "<joint> in <world>", "1.10"))

    def test_moving_joint_of_the_world(self):
        """A moving joint of the world acts like this joint inside the model; its pose is in the child, the world or a
        frame of the model."""
        state = {"q": [0.4, -0.3], "qd": [1, -2], "qdd": [0.3, 0.6]}
        for pose, inside in (("", ""), ("<pose>0.1 0.2 0 0 0.3 0</pose>", "<pose>0.1 0.2 0 0 0.3 0</pose>"),
                             ("<pose relative_to='m::b'>0.1 0 0 0 0 1</pose>", "<pose relative_to='b'>0.1 0 0 0 0 1</pose>"),
                             ("<pose relative_to='m'>0.1 0 0 0 0 1</pose>", "<pose relative_to='__model__'>0.1 0 0 0 0 1</pose>"),
                             ("<pose relative_to='world'>0.1 0 0 0 0 1</pose>", None)):
            place = "" if inside is None else "<pose>0.3 0.2 0.1 0.5 0 0</pose>"
            inside = "<pose relative_to='__model__'>0.1 0 0 0 0 1</pose>" if inside is None else inside
            for axis, other in (("<xyz>0 0 1</xyz>", "<xyz>0 0 1</xyz>"), ("<xyz expressed_in='m::b'>0 0.6 0.8</xyz>", "<xyz expressed_in='b'>0 0.6 0.8</xyz>")):
                outer = world("1.12", model(*self.ARM, pose=place), joint("w", "world", "m::a", axis, inside=pose))
                inner = world("1.12", model(*self.ARM, joint("w", "world", "a", other, inside=inside), pose=place))
                tau = []
                for name, text in (("outer", outer), ("inner", inner)):
                    self.assertEqual(self.take_sdf(name, text)["nv"], 2)
                    names = self.client.get(f"/v1/models/{name}").json()["velocity_names"]
                    order = [names.index(n) for n in ("w", "j")]
                    given = {k: [v[order.index(i)] for i in range(2)] for k, v in state.items()}
                    answer = self.ask(name, "inverse-dynamics", given)["tau"]
                    tau.append([answer[i] for i in order])
                self.assertClose(tau[0], tau[1], 1e-13, scale=1, what=(pose, axis))

    def test_joints_of_the_world_that_are_refused(self):
        other = model("<static>true</static>", link("g"), name="ground")
        for parts, code in (((joint("f", "world", "m::ghost", None, kind="fixed"),), "unknown-name"), ((other, joint("f", "ground::g", "m::a", None, kind="fixed")), "not-supported"),
                            ((joint("f", "world", "a", None, kind="fixed"),), "not-supported"), ((joint("f", "world", "mm::a", None, kind="fixed"),), "not-supported")):
            self.assertEqual(self.assertProblem(self.put_sdf("refused", world("1.10", model(*self.ARM), *parts)), 422)["code"], code)

    def test_no_link_by_rounding(self):
        """A joint at the pose of its child needs no additional link, wherever the child is: rounding errors must not
        create one."""
        for pose in ("0.1 0.2 0.3 0.3 -0.2 0.7", "1e3 -2e-3 5 3 2 1", "0 0 0 0 0 0", "0.7 0.1 0.2 -1.5 0.4 2"):
            for around in ("", "<pose>0.3 -0.2 0.1 1 2 3</pose>"):
                inner = model(link("c", f"<pose>{pose}</pose>"), name="n", pose=f"<pose>{pose}</pose>")
                text = sdf("1.9", model(A, link("b", f"<pose>{pose}</pose>"), joint("j", "a", "b"), inner, joint("k", "b", "n::c"), pose=around))
                self.take_sdf("tidy", text)
                document = self.client.get("/v1/models/tidy/document").json()
                self.assertEqual([entry["name"] for entry in document["links"]], ["b", "n::c"], (pose, around))

    def test_versions(self):
        for version in ("1.0", "1.1", "1.13", "2.0", "1", "1.50", "one", ""):
            self.assertEqual(self.assertProblem(self.put_sdf("refused", sdf(version, model(*self.ARM))), 422)["code"], "not-supported")


class Losses(SdfCase):
    def test_what_a_joint_cannot_keep(self):
        """The report names these losses: friction and limits of ball joints, one-sided limits, and a model outside the file's world."""
        inside = "<dynamics><damping>2</damping></dynamics><limit><effort>1</effort></limit>"
        for kind, code in (("ball", "not-held"), ("fixed", "dropped")):
            report = self.take_sdf("lossy", sdf("1.9", model(*Links.ARM, link("c"), joint("k", "a", "c", "<xyz>0 0 1</xyz>" + inside, kind))))["report"]
            for name in ("<dynamics>", "<limit>"):
                self.assertTrue(told(report, code, name, kind), report)
        report = self.take_sdf("lossy", sdf("1.9", model(A, link("b"), joint("j", "a", "b", "<xyz>0 1 0</xyz><limit><upper>1</upper></limit>"))))["report"]
        self.assertTrue(told(report, "not-held", "one limit of position"), report)
        report = self.take_sdf("lossy", sdf("1.9", f"<world name='w'>{model(*Links.ARM)}</world>", model(*Links.ARM, name="n")))["report"]
        self.assertTrue(told(report, "not-held", "<model> beside <world>"), report)
        report = self.take_sdf("lossy", sdf("1.9", model(*Links.ARM[:2], joint("j", "a", "b", inside="<axis2><xyz>0 0 1</xyz></axis2>"))))["report"]
        self.assertTrue(told(report, "dropped", "<axis2>"), report)


class Defaults(SdfCase):
    def report(self, *parts, version="1.9"):
        return self.take_sdf("default", sdf(version, model(link("a"), *parts)))["report"]

    def test_inertia(self):
        """Each missing entry of the diagonal of the inertia is 1 kg m^2."""
        for given in itertools.chain.from_iterable(itertools.combinations(("ixx", "iyy", "izz"), n) for n in range(3)):
            tensor = "".join(f"<{name}>0.6</{name}>" for name in given)
            report = self.report(link("b", inertial=f"<inertial><mass>5</mass><inertia>{tensor}</inertia></inertial>"), joint("j", "a", "b", kind="ball", axis=None))
            for name in ("ixx", "iyy", "izz"):
                self.assertEqual(len(told(report, "assumed", f"<{name}>", "1 kg m^2")), name not in given, (given, report))
            self.take_sdf("default", sdf("1.9", model(link("a"), link("b", inertial=f"<inertial><mass>5</mass><inertia>{tensor}</inertia></inertial>"),
                                                    joint("j", "world", "b", kind="ball", axis=None), joint("w", "world", "a", kind="fixed", axis=None))))
            M = self.ask("default", "mass-matrix", {"q": [0, 0, 0, 1]})["mass_matrix"]
            self.assertClose(np.diag(M).tolist(), [0.6 if name in given else 1 for name in ("ixx", "iyy", "izz")], 1e-15, scale=1)

    def test_others(self):
        for parts, words in (((link("b"), joint("j", "a", "b", kind="screw")), "<screw_thread_pitch>"), ((link("b"), joint("j", "a", "b", axis="")), "<xyz>"),
                             ((link("b", inertial="<inertial><inertia/></inertial>"), joint("j", "a", "b")), "<mass>"),
                             ((link("b", inertial=""), joint("j", "a", "b")), "<inertial>"),
                             ((link("b"), link("c"), joint("j", "a", "b"), joint("k", "a", "c"),
                               joint("g", "b", "c", None, "gearbox", "<gearbox_reference_body>a</gearbox_reference_body>")), "<gearbox_ratio>")):
            self.assertTrue(told(self.report(*parts), "assumed", words), words)
        for parts in ((link("b"), joint("j", "a", "b", kind="screw", inside="<screw_thread_pitch>2</screw_thread_pitch>")),
                      (link("b"), joint("j", "a", "b", kind="screw", inside="<thread_pitch>2</thread_pitch>"))):
            self.assertFalse([e for e in self.report(*parts) if e["severity"] == "warning" and "foam" not in e["text"]])


class Drake(SdfCase):
    def test_rotors(self):
        """A rotor behind a gear of ratio n adds n^2 times its inertia to the joint, whether declared in the joint or in
        its axis."""
        rotor = "<drake:rotor_inertia>1e-3</drake:rotor_inertia><drake:gear_ratio>-20</drake:gear_ratio>"
        hold = joint("w", "world", "a", kind="fixed", axis=None)
        for declared in (" xmlns:drake='http://drake.mit.edu'", ""):
            for axis, inside, kind in (("<xyz>0 0 1</xyz>" + rotor, "", "revolute"), ("<xyz>0 0 1</xyz>", rotor, "continuous"), ("<xyz>0 0 1</xyz>", rotor, "prismatic")):
                text = sdf("1.9", model(link("a"), link("b"), hold, joint("j", "a", "b", axis, kind, inside))).replace("<sdf", "<sdf" + declared)
                report = self.take_sdf("geared", text)["report"]
                self.assertTrue(told(report, "reflected", "0.4 kg m^2 at the joint"), report)
                M = self.ask("geared", "mass-matrix", {"q": [0.2]})["mass_matrix"]
                self.assertClose(M, [[0.4 + (2 if kind == "prismatic" else 0.25)]], 1e-14, scale=1)
        for kind, axis, words in (("fixed", None, "not part"), ("ball", None, "not part")):
            report = self.take_sdf("lost", sdf("1.9", model(link("a"), link("b"), hold, joint("j", "a", "b", axis, kind, rotor), link("c"), joint("k", "a", "c"))))["report"]
            self.assertTrue(told(report, "not-held", "rotor", words), report)
        axes = f"<axis><xyz>1 0 0</xyz>{rotor}</axis><axis2><xyz>0 1 0</xyz></axis2>"
        text = sdf("1.9", model(link("a"), link("b"), hold, joint("j", "a", "b", None, "universal", axes)))
        self.take_sdf("two", text)
        bare = self.take_sdf("bare", text.replace(rotor, ""))
        M, N = (np.array(self.ask(n, "mass-matrix", {"q": [0.2, 0.3]})["mass_matrix"]) for n in ("two", "bare"))
        self.assertClose(np.ravel(M - N).tolist(), [0.4, 0, 0, 0], 1e-14, scale=1)
        self.assertEqual(bare["nv"], 2)
        for wrong in (rotor.replace("1e-3", "-1"), rotor.replace("-20", "0"), rotor.replace("1e-3", "")):
            self.assertProblem(self.put_sdf("refused", sdf("1.9", model(link("a"), link("b"), joint("j", "a", "b", inside=wrong)))), 422)
        both = sdf("1.9", model(link("a"), link("b"), joint("j", "a", "b", "<xyz>0 0 1</xyz>" + rotor, inside=rotor)))
        self.assertProblem(self.put_sdf("refused", both), 422)

    def test_loops(self):
        """A rotor at a passive joint turns at the rate of this joint, which in a parallelogram is that of the driven joint. A joint that closes a
        loop cannot have rotor, limits and friction; the report says so."""
        text = read("four_bar")
        knee, close = ("<parent>crank</parent><child>rod</child><axis>", "<parent>rod</parent><child>rocker</child><axis>")
        self.assertIn(knee, text)
        geared = text.replace(knee, knee + "<drake:rotor_inertia>0.04</drake:rotor_inertia><drake:gear_ratio>0.5</drake:gear_ratio>")
        M = []
        for name, model_text in (("plain", text), ("geared", geared)):
            self.take_sdf(name, model_text)
            M.append(self.ask(name, "mass-matrix", {"q": [0.2]})["mass_matrix"][0][0])
        self.assertClose([M[1] - M[0]], [0.01], 1e-13, scale=1)
        if close not in text:
            close = close.replace("<parent>rod</parent><child>rocker</child>", "<parent>rocker</parent><child>rod</child>")
        lossy = text.replace(close, close + "<dynamics><damping>2</damping></dynamics><limit><effort>3</effort></limit><drake:rotor_inertia>1</drake:rotor_inertia>")
        self.assertNotEqual(lossy, text)
        self.assertTrue(told(self.take_sdf("lossy", lossy)["report"], "not-held", "closes a loop", "limits", "friction", "rotor_inertia"))

    def test_mimics(self):
        """<drake:mimic> equals URDF's <mimic>, and SDF's <mimic> with the reference 0."""
        parts = (link("a"), link("b"), link("c"), joint("w", "world", "a", kind="fixed", axis=None), joint("j", "a", "b", "<xyz>0 0 1</xyz>"))
        ours = "<drake:mimic joint='j' multiplier='-2' offset='0.5'/>"
        theirs = "<xyz>0 0 1</xyz><mimic joint='j'><multiplier>-2</multiplier><offset>0.5</offset></mimic>"
        first = self.take_sdf("drake", sdf("1.9", model(*parts, joint("k", "a", "c", "<xyz>0 0 1</xyz>", inside=ours))))
        second = self.take_sdf("sdf", sdf("1.11", model(*parts, joint("k", "a", "c", theirs))))
        self.assertEqual((first["nv"], first["revision"]), (1, second["revision"]))
        self.assertProblem(self.put_sdf("refused", sdf("1.11", model(*parts, joint("k", "a", "c", theirs, inside=ours)))), 422)
        self.assertProblem(self.put_sdf("refused", sdf("1.11", model(*parts, joint("k", "a", "c", "<xyz>0 0 1</xyz>", inside="<drake:mimic joint='x'/>")))), 422)


if __name__ == "__main__":
    tap.main()
