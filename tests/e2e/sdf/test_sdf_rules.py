"""Tests rules of SDF by pairs of texts that mean the same, and the remedies that refusals name."""
import tap
from sdf import SdfCase

LINK = "<link name='{0}'><pose>{1} 0.2 0.3 0.1 0 0</pose><inertial><mass>{2}</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial></link>"
JOINT = "<joint name='{0}' type='{1}'><parent>{2}</parent><child>{3}</child>{4}</joint>"
AXIS = "<axis><xyz>{0}</xyz></axis>"
LINKS = LINK.format("a", 0.1, 3) + LINK.format("b", 0.4, 2)


def sdf(content, version="1.9"):
    return f"<sdf version='{version}'><model name='m'>{content}</model></sdf>"


class Rules(SdfCase):
    def same(self, text, other, word=None):
        """Both texts give one model; the report on the first has the word."""
        answers = [self.take_sdf("m", one) for one in (text, other)]
        self.assertEqual(answers[0]["revision"], answers[1]["revision"])
        said = [entry["severity"] + " " + entry["text"] for entry in answers[0]["report"]]
        self.assertTrue(word is None or any(word in entry for entry in said), said)

    def refused(self, text, *words):
        problem = self.assertProblem(self.put_sdf("m", text), 422)
        for word in words:
            self.assertIn(word, problem["detail"])

    def test_a_joint_without_an_axis_has_that_of_the_format(self):
        for kind, given in (("revolute", ""), ("prismatic", ""), ("continuous", ""), ("screw", "<screw_thread_pitch>0.3</screw_thread_pitch>")):
            self.same(sdf(LINKS + JOINT.format("j", kind, "a", "b", given)),
                      sdf(LINKS + JOINT.format("j", kind, "a", "b", given + AXIS.format("0 0 1"))), "warning the joint has no <axis>")
        second = AXIS.format("0 0 1").replace("axis>", "axis2>")
        self.same(sdf(LINKS + JOINT.format("j", "universal", "a", "b", AXIS.format("1 0 0"))),
                  sdf(LINKS + JOINT.format("j", "universal", "a", "b", AXIS.format("1 0 0") + second)), "warning the joint has no <axis2>")

    def test_each_axis_of_two_has_its_limits(self):
        """Each axis of a universal or revolute2 joint has the limits of its own element, or none, whether the moving link is the child or
        the parent."""
        limit = "<limit><lower>{}</lower><upper>{}</upper><effort>{}</effort><velocity>{}</velocity></limit></axis>"
        first, second = (AXIS.format(xyz).replace("</axis>", limit.format(*given)) for xyz, *given in
                         (("1 0 0", -0.5, 0.6, 7, 3), ("0 1 0", -0.7, 0.8, 9, 2)))
        free = AXIS.format("0 1 0")
        for kind in ("universal", "revolute2"):
            for ends in (("world", "a"), ("a", "world")):
                for axis2, expected in ((second, {"position": [-0.7, 0.8], "effort": 9, "velocity": 2}), (free, {})):
                    text = sdf(LINK.format("a", 0.1, 3) + JOINT.format("j", kind, *ends, first + axis2.replace("axis>", "axis2>")))
                    self.assertFalse([e for e in self.take_sdf("m", text)["report"] if "limits" in e["text"]])
                    found = {joint["name"]: joint["limits"] for joint in self.client.get("/v1/models/m").json()["joints"]}
                    self.assertEqual(found, {"j.1": {"position": [-0.5, 0.6], "effort": 7, "velocity": 3}, "j.2": expected}, (kind, ends))

    def test_the_frame_of_a_nested_model_by_its_reserved_name(self):
        inner = "<model name='n'><pose>1 2 3 0 0 0.5</pose>" + LINK.format("b", 0.4, 2) + "</model>"
        text = LINK.format("a", 0.1, 3) + inner + JOINT.format("j", "revolute", "{0}", "n::b", AXIS.format("0 1 0"))
        frame = "<frame name='f' attached_to='{0}'/>"
        self.same(sdf((text + frame.format("n::__model__")).format("a")), sdf((text + frame.format("n")).format("a")))
        self.refused(sdf((text + frame.format("a::__model__")).format("a")), '"a::__model__" is not a link, joint, frame or model')

    def test_a_frame_of_a_flattened_file_has_a_reserved_name(self):
        """libsdformat writes nested models as links `n::b` and a frame `n::__model__`."""
        text = (LINK.format("a", 0.1, 3) + "<frame name='n::__model__' attached_to='n::b'><pose>1 2 3 0 0 0</pose></frame>" + LINK.format("n::b", 0.4, 2) +
                JOINT.format("j", "fixed", "a", "n::b", "") + "<frame name='{0}' attached_to='n::__model__'/>")
        self.take_sdf("m", sdf(text.format("f")))
        poses = self.ask("m", "kinematics", {"q": [0, 0, 0, 0, 0, 0, 1]})["poses"]
        self.assertEqual(poses["f"], poses["n::__model__"])

    def test_each_axis_mimics_and_is_mimicked(self):
        """Both axes of a universal joint have couplings of their own; the torques are those of the joints that the document names."""
        mimic = "<mimic joint='{0}' axis='{1}'><multiplier>{2}</multiplier><offset>0.3</offset><reference>0.1</reference></mimic>"
        links = LINKS + LINK.format("c", 0.9, 1.5)
        def axes(first="", second=""):
            return f"<axis><xyz>1 0 0</xyz>{first}</axis><axis2><xyz>0 1 0</xyz>{second}</axis2>"
        hinge = "<axis><xyz>0 0 1</xyz>{}</axis>"
        for u, k, coupled in ((axes(), hinge.format(mimic.format("u", "axis2", -2)), ("k", "u.2", -2)),
                              (axes(), hinge.format(mimic.format("u", "axis", 3)), ("k", "u.1", 3)),
                              (axes(second=mimic.format("k", "axis", 0.5)), hinge.format(""), ("u.2", "k", 0.5)),
                              (axes(first=mimic.format("k", "axis", 0.5)), hinge.format(""), ("u.1", "k", 0.5))):
            self.take_sdf("m", sdf(links + JOINT.format("u", "universal", "a", "b", u) + JOINT.format("k", "revolute", "b", "c", k), "1.11"))
            about = self.ok(self.client.get("/v1/models/m"))
            found = [(joint["name"], joint["mimic"]) for joint in about["joints"] if "mimic" in joint]
            self.assertEqual(found, [(coupled[0], {"joint": coupled[1], "multiplier": coupled[2], "offset": 0.3 - 0.1 * coupled[2]})])
        twice = axes(mimic.format("k", "axis", 2), mimic.format("k", "axis", 3))
        self.take_sdf("m", sdf(links + JOINT.format("u", "universal", "a", "b", twice) + JOINT.format("k", "revolute", "b", "c", hinge.format("")), "1.11"))
        self.assertEqual(self.client.get("/v1/models/m").json()["nv"], 7)
        bad = JOINT.format("u", "revolute", "a", "b", AXIS.format("1 0 0")) + JOINT.format("k", "revolute", "b", "c", hinge.format(mimic.format("u", "axis2", 1)))
        self.refused(sdf(links + bad, "1.11"), "axis2", "has one axis")

    def test_an_unknown_name_gets_the_nearest_ones(self):
        self.refused(sdf(LINKS + JOINT.format("j", "fixed", "a", "bb", "")), '"bb" is not a link, joint, frame or model', "there are: a, b, j")
        many = "".join(LINK.format(f"finger_{i}", i, 1) for i in range(90))
        self.refused(sdf(many + JOINT.format("j", "fixed", "finger_3", "fingr_42", "")), "the nearest are: ", "finger_42")

    def test_other_outermost_elements_get_a_remedy(self):
        for text, word in (("<gazebo version='1.2'><model name='m'/></gazebo>", "rename it to <sdf>"),
                           ("<gazebo><plugin name='p'/></gazebo>", "put it in its <robot>"),
                           ("<mujocoinclude/>", "send the file that includes it"), ("<model><sdf>m.sdf</sdf></model>", "a model.config names")):
            self.refused(text, word, "the outermost element is <")


if __name__ == "__main__":
    tap.main()
