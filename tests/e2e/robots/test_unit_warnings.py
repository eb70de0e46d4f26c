"""Tests warnings of angles in degrees and lengths in millimetres in requests; plausible states get none."""
import cbor2
import tap
from harness import ServerCase
from samples import body


def joint(name, kind, **more):
    return {"name": name, "type": kind, **({} if kind in ("spherical", "planar") else {"axis": [0, 0, 1]}), **more}


MIXED = {"links": [
    {"name": "a", "parent": "base", "joint": joint("turn", "revolute"), "inertial": body(1)},
    {"name": "b", "parent": "a", "joint": joint("bend", "revolute", limits={"position": [-2, 2]}), "inertial": body(1)},
    {"name": "c", "parent": "b", "joint": joint("spin", "continuous"), "inertial": body(1)},
    {"name": "d", "parent": "c", "joint": joint("slide", "prismatic", limits={"position": [0, 0.5]}), "inertial": body(1)},
    {"name": "e", "parent": "d", "joint": joint("rail", "prismatic"), "inertial": body(1)},
    {"name": "f", "parent": "e", "joint": joint("winch", "revolute", limits={"position": [-200, 200]}), "inertial": body(1)}]}


class Warnings(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/mixed", MIXED).status == 201

    def warned(self, request, operation="kinematics", model="mixed"):
        answer = self.ask(model, operation, {**({"frames": ["f"]} if operation == "kinematics" else {}), **request})
        self.assertNotEqual(answer.get("warnings"), [])
        for warning in answer.get("warnings", []):
            self.assertEqual((set(warning), warning["code"]), ({"where", "code", "text"}, "suspicious"))
            self.assertRegex(warning["text"], "in (radians|metres)$")
        return [w["where"] for w in answer.get("warnings", [])]

    def test_degrees_and_millimetres(self):
        self.assertEqual(self.warned({"q": [90, 45, 0, 0, 0, 0]}), ["/q/0", "/q/1"])
        self.assertEqual(self.warned({"q": [0, -30.5, 0, 250, 0, 0]}), ["/q/1", "/q/3"])
        self.assertEqual(self.warned({"q": [0, 0, 0, 0, 0, 300]}), ["/q/5"])
        named = dict(zip(("turn", "bend", "spin", "slide", "rail", "winch"), (180, 0, 0, 0, 0, 0)))
        self.assertEqual(self.warned({"q": named}), ["/q/turn"])
        self.assertEqual(self.warned({"q": [0, 0, 0, 0, 45, 0], "joints": ["spin", "slide", "rail", "winch", "bend", "turn"]}), ["/q/4"])
        text = self.ask("mixed", "bias", {"q": [90, 0, 0, 0, 0, 0]})["warnings"][0]["text"]
        self.assertEqual(text, "turn at 90 rad, 14.3 turns: angles are in radians")

    def test_plausible_states(self):
        for q in ([0] * 6, [7, 2.5, 0, 0, 0, 0], [30, 30, 30, 0, 0, 30], [40.25, 0, 0, 0, 0, 0], [0, 0, 99999, 0, 0, 0],
                  [0, 0, 0, 60, 0, 0], [20000, 0, 0, 0, 0, 0], [0, 0, 0, 0, 5000, 0], [0, 0, 0, 0, 0, 199], [-29, 3, -360, 0.5, -3, -90]):
            self.assertEqual(self.warned({"q": q}), [], q)
        free = [150, 2000, 30, 0, 0, 0, 1]
        self.assertEqual(self.warned({"q": [*free, *[0] * 12]}, "bias", "solo12"), [])

    def test_batches_name_the_first_row(self):
        q = [[0] * 6 for _ in range(5)]
        q[2][1], q[3][1], q[4][0] = 45, 60, 90
        self.assertEqual(self.warned({"q": q}), ["/q/2/1", "/q/4/0"])
        request = {"q": q, "frames": ["f"], "on_error": "row"}
        answer = self.ask("mixed", "kinematics", request)
        self.assertEqual(list(answer)[-2:], ["warnings", "errors"])
        body = self.client.post("/v1/models/mixed/kinematics", cbor2.dumps(request), Content_Type="application/cbor").body
        self.assertEqual(cbor2.loads(body)["warnings"], answer["warnings"])
        large = [[0.1] * 6] * 20000 + [[90] + [0] * 5]
        self.assertEqual(self.warned({"q": large, "outputs": ["gravity"]}, "bias"), ["/q/20000/0"])

    def test_other_places(self):
        still = {"q": [0] * 6}
        request = {**still, "payload": [{"link": "a", "mass": 1}, {"link": "b", "mass": 1, "com": [0, 0, 120]}],
                   "wrenches": [{"link": "c", "point": [[50, 100, 0]], "force": [1, 0, 0]}]}
        self.assertEqual(self.warned(request, "inverse-dynamics"), ["/payload/1/com", "/wrenches/0/point"])
        self.assertEqual(self.warned({**still, "payload": {"link": "b", "mass": 1, "com": [0, 0, 99]}}, "inverse-dynamics"), [])
        points = [[0] * 6, [0, 0, 90, 0, 0, 0], [90, 0, 0, 0, 0, 0]]
        motion = {"degree": 1, "duration": 1, "samples": 2, "outputs": ["times"]}
        self.assertEqual(self.warned({**motion, "control_points": points}, "trajectory"), ["/control_points/2/0"])
        self.assertEqual(self.warned({**motion, "control_points": [points, points[::-1]]}, "trajectory"), ["/control_points/0/2/0"])
        self.assertEqual(self.warned({"q": [90] + [0] * 5, "duration": 0.1, "step": 0.01, "samples": 2}, "simulate"), ["/q/0"])
        both = self.ask("mixed", "evaluate", {"q": [90] + [0] * 5, "operations": {"bias": {}, "energy": {}}})
        self.assertEqual([list(both), both["warnings"][0]["where"]], [["bias", "energy", "warnings"], "/q/0"])

    def simulated(self, **fields):
        return self.warned({"q": [0] * 6, "duration": 0.01, "samples": 2, "step": 0.01, "outputs": ["times"], **fields}, "simulate")

    def test_references_and_prescribed_motions(self):
        for reference, where in (([45, 1, 0, 0, 0, 0], "0"), ({"values": [[0] * 6, [0, 90, 0, 0, 0, 0]]}, "values/1/1"),
                                 ({"degree": 1, "control_points": [[0] * 6, [0, 0, 0, 400, 0, 0]]}, "control_points/1/3"),
                                 ({"amplitude": [0.1] * 6, "angular_frequency": 1, "offset": [0, -60, 0, 0, 0, 0]}, "offset/1"),
                                 ([1, 1, 500, 0.2, 45, 150], None)):
            found = self.simulated(input={"controller": "pd_gravity", "kp": 1, "kd": 1, "reference": reference})
            self.assertEqual(found, [f"/input/reference/{where}"] if where else [])
        for coordinates, motion, where in ((["spin", "turn"], [90, 45], "/1"), (["slide", "winch", "bend"], {"values": [[0, 150, 45], [0, 0, 0]]}, "/values/0/2"),
                                           (["spin"], [90], None)):
            self.assertEqual(self.simulated(prescribed={"coordinates": coordinates, "motion": motion}),
                             [f"/prescribed/motion{where}"] if where else [])

    def test_angles_of_files(self):
        """Warnings about angles of a file that its document does not contain as angles: those by which an inertia is rotated into link axes, and
        those of SDF poses."""
        urdf = ('<robot name="r"><link name="a"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
                '<limit effort="1" velocity="1"/></joint><link name="b"><inertial><origin xyz="0 0 0.5" rpy="0 {} 0"/><mass value="1"/>'
                '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>')
        sdf = ('<sdf version="1.9"><model name="m"><link name="b"><pose>0 0 1 0 {} 0</pose><inertial>{}<mass>1</mass></inertial></link>'
               '<joint name="j" type="revolute"><parent>world</parent><child>b</child><axis><xyz>1 0 0</xyz></axis></joint></model></sdf>')
        pose = '<pose degrees="true">0 0 0 0 90 0</pose>'
        for text, number in ((urdf.format(90), 1), (urdf.format(1.57), 0), (sdf.format(90, ""), 1), (sdf.format(1.57, pose), 0),
                             (sdf.format(0, pose.replace(' degrees="true"', "")), 1)):
            report = self.client.put("/v1/models/turned", text, Content_Type="application/xml").json()["report"]
            self.assertEqual([r["code"] for r in report if "more than a turn: angles are in radians" in r["text"]], ["suspicious"] * number, text)

    def test_strokes_of_files(self):
        """Limits of a prismatic joint that are longer than any rail are reported as probably in millimetres."""
        for stroke, number in ((800, 1), (-101, 1), (99, 0), (1e5, 0)):
            slider = joint("lift", "prismatic", limits={"position": sorted([0, stroke])})
            report = self.client.put("/v1/models/slider", {"links": [
                {"name": "a", "parent": "base", "joint": slider, "inertial": body(1)}]}).json()["report"]
            self.assertEqual([r["where"] for r in report if "m: lengths are in metres" in r["text"]],
                             ["/links/0/joint/limits/position"] * number, (stroke, report))

    def test_gravity(self):
        self.assertEqual(self.warned({"q": [0] * 6, "gravity": [0, 0, -9810]}, "bias"), ["/gravity"])
        self.assertEqual(self.warned({"q": [[0] * 6] * 2, "gravity": [[0, 200, 0], [0, 0, 1]]}, "bias"), ["/gravity"])
        self.assertEqual(self.warned({"q": [0] * 6, "gravity": [0, 0, -25]}, "bias"), [])
        self.client.put("/v1/models/heavy", {**MIXED, "gravity": [0, -9810, 0]})
        self.assertIn(("suspicious", "/gravity"), [(r["code"], r["where"]) for r in self.client.get("/v1/models/heavy").json()["report"]])

    def test_what_acts_on_a_link_that_is_fixed_has_no_effect(self):
        """The base, a link that is fixed to it and one behind a locked joint do not move: no payload or wrench there changes a torque."""
        links = [{"name": "stand", "parent": "base", "joint": {"name": "bolt", "type": "fixed"}, "inertial": body(3)}, *MIXED["links"]]
        self.put_model("standing", {"links": links, "frames": [{"name": "mark", "link": "stand", "xyz": [0.1, 0.2, 0.3]}]})
        q, payload = {"q": [0.3, 0.2, 0.1, 0.4, 0.5, 0.6]}, {"mass": 1.3, "com": [0.1, 0.2, 0.3]}
        plain = self.ask("standing", "inverse-dynamics", q)
        self.assertNotIn("warnings", plain)
        for link in ("base", "stand", "mark"):
            load, push = {**payload, "link": link}, {"link": link, "force": [3, 4, 5]}
            for more, where, what in (({"payload": load}, "/payload/link", "payload"), ({"payload": [load]}, "/payload/0/link", "payload"),
                                      ({"payload": {**load, "mass": [1, 2]}}, "/payload/link", "payload"),
                                      ({"wrenches": [{"link": "f", "force": [0, 0, 0]}, push]}, "/wrenches/1/link", "wrench")):
                answer = self.ask("standing", "inverse-dynamics", {**q, **more})
                self.assertEqual(answer["warnings"], [{"where": where, "code": "no-effect",
                                                       "text": f'"{link}" is fixed to the world: the {what} has no effect'}])
                rows = answer["tau"] if "mass" in more.get("payload", ()) and more["payload"]["mass"] == [1, 2] else [answer["tau"]]
                self.assertEqual(rows, [plain["tau"]] * len(rows), more)
        for link, expected in (("a", ["no-effect"]), ("b", [])):
            answer = self.ask("standing", "inverse-dynamics", {"q": q["q"][1:], "locked": {"turn": 0.3}, "payload": {**payload, "link": link}})
            self.assertEqual([w["code"] for w in answer.get("warnings", [])], expected)
        self.assertNotIn("warnings", self.ask("standing", "inverse-dynamics", {**q, "payload": {**payload, "link": "a"}}))

    def test_answers_are_the_same_otherwise(self):
        answer = self.ask("mixed", "bias", {"q": [[90, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]})
        self.assertEqual(self.ask("mixed", "bias", {"q": [1, 0, 0, 0, 0, 0]})["bias"], answer["bias"][1])


if __name__ == "__main__":
    tap.main()
