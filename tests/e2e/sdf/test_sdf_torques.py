"""Tests torques of robots in SDF: they equal those of the Newton-Euler equations in sdf_torques.py with the poses, axes, inertias and forces
that libsdformat reads from the same text."""
import itertools
import unittest

import numpy as np
import tap
from sdf import NAMES, SKIP, MeaningCase, read
from sdf_torques import Robot

EXACT = 1e-11
LINK = ("<link name='{0}'><pose>{1}</pose><inertial><pose>0.02 -0.03 0.04 0.3 -0.2 0.5</pose><mass>{2}</mass><inertia><ixx>{3}</ixx><iyy>0.23</iyy>"
        "<izz>0.17</izz><ixy>0.011</ixy><ixz>-0.013</ixz><iyz>0.019</iyz></inertia></inertial></link>")
LINKS = LINK.format("a", "0.1 0.2 0.3 0.4 0.5 0.6", 3, 0.11) + LINK.format("b", "-0.3 0.2 0.7 1.4 -0.5 0.2", 2, 0.13)
AXES = ("<axis><xyz>0.6 0 0.8</xyz><dynamics><damping>0.7</damping><friction>0.2</friction><spring_stiffness>5</spring_stiffness>"
        "<spring_reference>0.3</spring_reference></dynamics></axis>",
        "<axis2><xyz>0 0.8 -0.6</xyz><dynamics><damping>0.4</damping><friction>0.5</friction></dynamics></axis2>")
KINDS = (("revolute", 1), ("continuous", 1), ("prismatic", 1), ("screw", 1), ("universal", 2), ("revolute2", 2))


def joint(kind, axes, parent, child):
    pitch = "<thread_pitch>-7</thread_pitch>" if kind == "screw" else ""
    return (f"<joint name='j' type='{kind}'><pose>0.3 -0.1 0.2 0.3 0.2 0.1</pose><parent>{parent}</parent><child>{child}</child>"
            f"{pitch}{''.join(AXES[:axes])}</joint>")


def model(content, version="1.9"):
    return f"<sdf version='{version}'><model name='m'>{content}</model></sdf>"


HOLD = "<joint name='w' type='fixed'><parent>world</parent><child>{}</child></joint>"


@unittest.skipIf(SKIP, SKIP)
class Torques(MeaningCase):
    def check_torques(self, name, text):
        """Compares inverse dynamics, mass matrix, bias, friction and springs at two states."""
        entries = self.theirs(text)
        self.take_sdf(name, text, "?mimic=independent")
        about = self.client.get(f"/v1/models/{name}").json()
        root = about["links"][0] if about["base"] == "floating" else None
        robot = Robot(entries, about["position_names"], about["velocity_names"], root)
        for seed in range(2):
            self.check_state(name, robot, about, np.random.default_rng(seed))

    def check_state(self, name, robot, about, draw):
        nv = about["nv"]
        q, qd, qdd = draw.uniform(-1, 1, about["nq"]), draw.uniform(-2, 2, nv), draw.uniform(-3, 3, nv)
        if robot.root:
            q[3:7] /= np.linalg.norm(q[3:7])
        state = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist()}
        rigid, (friction, spring) = robot.tau(q, qd, qdd, about["gravity"]), robot.forces(q, qd)
        scale = np.abs(rigid).max()
        for more, expected in (({}, rigid + friction + spring), ({"friction": False}, rigid + spring)):
            self.assertClose(self.ask(name, "inverse-dynamics", {**state, **more})["tau"], expected.tolist(), EXACT, scale, name)
        columns = [robot.tau(q, np.zeros(nv), column, np.zeros(3)) for column in np.eye(nv)]
        M = self.ask(name, "mass-matrix", {"q": state["q"]})["mass_matrix"]
        self.assertClose(M, np.transpose(columns).tolist(), EXACT, what=name)
        bias = self.ask(name, "bias", {"q": state["q"], "qd": state["qd"], "gravity": [0.3, -0.7, 2]})["bias"]
        expected = robot.tau(q, qd, np.zeros(nv), [0.3, -0.7, 2]) + friction + spring
        self.assertClose(bias, expected.tolist(), EXACT, scale, name)

    def test_each_type_of_joint_from_either_end(self):
        """The base is floating, or either link is held in the world. The joint may lead from the first link to the second or back."""
        ways = ((("a", "b"), None), (("b", "a"), "a"), (("a", "b"), "a"), (("a", "b"), "b"))
        for (kind, axes), (ends, held) in itertools.product(KINDS, ways):
            self.check_torques("m", model(LINKS + joint(kind, axes, *ends) + (HOLD.format(held) if held else "")))

    def test_a_model_that_is_turned_in_the_world(self):
        for held in (None, "a"):
            content = "<pose>0.4 -0.2 0.1 0.5 0.4 -0.8</pose>" + LINKS + joint("universal", 2, "a", "b") + (HOLD.format(held) if held else "")
            self.check_torques("m", model(content))


def check(name):
    def test(self):
        self.check_torques(name, read(name))
    return test


for label in NAMES:
    if label not in ("four_bar", "joints"):  # a loop, ball joints and gears
        setattr(Torques, "test_" + label, check(label))


if __name__ == "__main__":
    tap.main()
