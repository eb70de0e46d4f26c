"""Tests configurations: positions with names in documents, in the description of a model, and from the keyframes of MJCF."""
import math

import tap
from harness import ServerCase
from samples import pendulum


class Configurations(ServerCase):
    def put(self, document, status=(200, 201), **headers):
        answer = self.client.put("/v1/models/m", document, **headers)
        self.assertIn(answer.status, status, answer)
        return answer.json()

    def shown(self):
        return {entry["name"]: entry["q"] for entry in self.client.get("/v1/models/m").json().get("configurations", [])}

    def refused(self, document, code, pointer):
        answer = self.put(document, (422,))
        self.assertEqual((answer["code"], answer.get("pointer")), (code, pointer), answer)
        return answer["detail"]

    def robot(self):
        """A floating base, a hinge and a spherical joint."""
        joint = {"links": [{"name": "a", "parent": "base", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 0, 1]}, "inertial": {"mass": 1}},
                           {"name": "b", "parent": "a", "joint": {"name": "ball", "type": "spherical"},
                            "inertial": {"mass": 1, "com": [0.1, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}}]}
        return {"base": {"type": "floating", "inertial": {"mass": 2, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}, **joint}

    def test_names_and_defaults(self):
        """Coordinates that a configuration does not list are 0, and its quaternions are the identity."""
        document = self.robot()
        document["configurations"] = [{"name": "home", "q": {}},
                                      {"name": "up", "q": {"base.z": 0.5, "hinge": 1.5, "ball.qx": 0.6, "ball.qw": 0.8}}]
        self.put(document)
        self.assertEqual(self.shown(), {"home": [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "up": [0, 0, 0.5, 0, 0, 0, 1, 1.5, 0.6, 0, 0, 0.8]})
        q = self.shown()["up"]
        self.assertEqual(self.client.post("/v1/models/m/kinematics", {"q": q}).status, 200)

    def test_the_document_keeps_them(self):
        """PUT of the document that the server answers makes the same model."""
        document = pendulum()
        joint = self.put(document) and self.client.get("/v1/models/m").json()["position_names"][0]
        before = self.put(document)["revision"]
        document["configurations"] = [{"name": "left", "q": {joint: 1}}]
        self.assertNotEqual(self.put(document)["revision"], before)
        shown, revision = self.shown(), self.put(document)["revision"]
        self.assertEqual(shown["left"][0], 1)
        kept = self.client.get("/v1/models/m/document").json()
        self.assertEqual(kept["configurations"], document["configurations"])
        self.assertEqual(self.put(kept)["revision"], revision)

    def test_models_with_loops_show_their_own_coordinates(self):
        document = self.client.get("/v1/models/five_bar/document").json()
        self.put(document)
        about = self.client.get("/v1/models/m").json()
        document["configurations"] = [{"name": "c", "q": {about["passive_names"][0]: 0.3, about["position_names"][0]: 0.2}}]
        self.put(document)
        self.assertEqual(self.shown(), {"c": [0.2] + [0] * (about["nq"] - 1)})

    def test_refusals(self):
        def with_q(**q):
            return {**self.robot(), "configurations": [{"name": "c", "q": q}]}
        self.assertIn("hinge", self.refused(with_q(hing=1), "unknown-name", "/configurations/0/q"))
        self.refused(with_q(hinge="1"), "wrong-type", "/configurations/0/q")
        self.refused(with_q(hinge=[1]), "wrong-type", "/configurations/0/q")
        self.refused(with_q(hinge=1e300), "angle-too-large", "/configurations/0/q")
        self.refused(with_q(**{"ball.qx": 1}), "bad-quaternion", "/configurations/0/q")
        self.refused({**self.robot(), "configurations": [{"name": "c"}]}, "missing-field", "/configurations/0/q")
        self.refused({**self.robot(), "configurations": [{"q": {}}]}, "missing-field", "/configurations/0/name")
        self.refused({**self.robot(), "configurations": [{"name": "c", "q": {}}] * 2}, "duplicate-name", "/configurations/1/name")
        self.refused({**self.robot(), "configurations": {}}, "wrong-type", "/configurations")

    def test_keyframes(self):
        """MJCF writes w first in a quaternion. The free joint of the only robot is the floating base."""
        world = ('<worldbody><body name="b"><freejoint name="root"/><geom size=".1"/><body name="l"><joint name="hip" axis="0 1 0" ref="30"/><geom size=".1" pos=".2 0 0"/>'
                 '<body name="s"><joint name="ball" type="ball"/><geom size=".1" pos=".2 0 0"/></body></body></body></worldbody>')
        keys = '<keyframe><key name="stand" qpos="1 2 3 2 0 0 0 .4 .8 0 .6 0" qvel="1 2 3 4 5 6 7 8 9 10"/><key time="1"/><key qpos="0 0 0 1 0 0 0 0 1 0 0 0"/></keyframe>'
        self.put(f"<mujoco>{world}{keys}</mujoco>".encode(), Content_Type="application/mjcf+xml")
        self.assertEqual(self.shown(), {"stand": [1, 2, 3, 0, 0, 0, 1, 0.4, 0, 0.6, 0, 0.8], "key1": [0, 0, 0, 0, 0, 0, 1, math.radians(30), 0, 0, 0, 1],
                                        "key2": [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]})
        short = keys.replace(".4 .8 0 .6 0", ".4")
        answer = self.put(f"<mujoco>{world}{short}</mujoco>".encode(), (422,), Content_Type="application/mjcf+xml")
        self.assertIn("qpos of <key> has 8 numbers, the joints have 12 coordinates", answer["detail"])

    def test_keys_without_positions(self):
        """A keyframe (key) without qpos stands for the model's initial position in MuJoCo, whatever other attributes it has. A key without a
        name gets one that no other key has."""
        half = math.radians(35)
        world = ('<worldbody><body name="b" pos="1 2 3" euler="0 0 70"><freejoint name="root"/><geom size=".1"/><body name="l"><joint name="slide" type="slide" ref=".3"/>'
                 '<geom size=".1" pos=".2 0 0"/></body></body></worldbody><actuator><motor joint="slide"/></actuator>')
        keys = '<keyframe><key/><key name="key0" ctrl="1"/><key name="hold" qvel="1 0 0 0 0 0 0"/><key name="up" qpos="0 0 1 1 0 0 0 .5"/></keyframe>'
        self.put(f"<mujoco>{world}{keys}</mujoco>".encode(), Content_Type="application/mjcf+xml")
        shown = self.shown()
        self.assertEqual(list(shown), ["key0_2", "key0", "hold", "up"])
        self.assertEqual(shown["up"], [0, 0, 1, 0, 0, 0, 1, 0.5])
        for name in ("key0_2", "key0", "hold"):
            self.assertClose(shown[name], [1, 2, 3, 0, 0, math.sin(half), math.cos(half), 0.3], 1e-15, what=name)
        twice = keys.replace('name="hold"', 'name="up"')
        answer = self.put(f"<mujoco>{world}{twice}</mujoco>".encode(), (422,), Content_Type="application/mjcf+xml")
        self.assertEqual(answer["code"], "duplicate-name")


if __name__ == "__main__":
    tap.main()
