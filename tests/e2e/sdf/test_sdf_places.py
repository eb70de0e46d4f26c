"""Tests the pose of a model in the world, which may be relative to frames and models of the world."""
import math

import mujoco
import tap
from sdf import SdfCase, compose, flat

LINK = "<link name='{0}'><inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial></link>"
STATIC = "<model name='table'><static>1</static><pose>{}</pose>" + LINK.format("t") + "</model>"
JOINT = "<joint name='j' type='revolute'><parent>world</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>"
TABLE, HIGH, OWN = "1 2 3 0.1 0.2 0.3", "0.4 0.5 0.6 0.3 -0.2 0.5", "0.1 -0.2 0.3 -0.4 0.6 0.2"


def pose_of(text):
    """Returns rotation and position of six numbers of a <pose>, whose angles turn about fixed axes."""
    numbers = [float(word) for word in text.split()]
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in numbers[3:])
    x, y, z = [[1, 0, 0], [0, cr, -sr], [0, sr, cr]], [[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]], [[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]
    return mujoco.multiply(mujoco.multiply(z, y), x), numbers[:3]


def world(frames, pose, version="1.9"):
    robot = f"<model name='robot'>{pose}{LINK.format('b')}{JOINT}</model>"
    return f"<sdf version='{version}'><world name='w'>{STATIC.format(TABLE)}{frames}{robot}</world></sdf>"


class Places(SdfCase):
    def place(self, text):
        self.take_sdf("m", text)
        found = self.ask("m", "kinematics", {"q": [0]})["poses"]["b"]
        x, y, z, w = found["orientation"]
        return mujoco.rotation(w, x, y, z), found["position"]

    def test_relative_to_frames_and_models(self):
        table, high, own = pose_of(TABLE), pose_of(HIGH), pose_of(OWN)
        frame = "<frame name='f' {}><pose {}>" + HIGH + "</pose></frame>"
        for frames, relative, expected in (
                ("", "", own), ("", "world", own), ("", "table", compose(table, own)), (frame.format("", ""), "f", compose(high, own)),
                (frame.format("", "relative_to='table'"), "f", compose(compose(table, high), own)),
                (frame.format("attached_to='table'", ""), "f", compose(compose(table, high), own)),
                (frame.format("attached_to='table'", "relative_to='world'"), "f", compose(high, own)),
                (frame.format("", "relative_to='g'") + "<frame name='g' attached_to='table'/>", "f", compose(compose(table, high), own))):
            place = self.place(world(frames, f"<pose relative_to='{relative}'>{OWN}</pose>"))
            self.assertClose(flat(place), flat(expected), 1e-14, scale=1, what=(frames, relative))

    def test_refusals(self):
        circle = "<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>"
        for frames, relative, word in (("", "nothing", '"nothing"'), ("", "table::t", '"table::t"'), (circle, "f", "circle"), ("", "robot", "circle")):
            problem = self.assertProblem(self.put_sdf("m", world(frames, f"<pose relative_to='{relative}'/>")), 422)
            self.assertIn(word, problem["detail"])


if __name__ == "__main__":
    tap.main()
