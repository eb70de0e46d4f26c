"""Tests additions of URDF 1.1 and 1.2: quaternions of origins, capsules, limits of acceleration and jerk. The
references are the same robot with roll, pitch and yaw, and closed forms."""
import math

import numpy as np
import tap
from urdf import UrdfCase, joint, link

BODY = ('<mass value="1.5"/><inertia ixx="0.01" iyy="0.02" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.003"/>')


def robot(*parts, version="1.1"):
    return f'<robot name="r" version="{version}">' + "".join(parts) + "</robot>"


def rpy(q):
    """Returns roll, pitch and yaw of a quaternion [x, y, z, w] of any length."""
    x, y, z, w = np.array(q) / np.linalg.norm(q)
    return (math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), math.asin(2 * (w * y - z * x)),
            math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def quaternion(q):
    return f'quat_xyzw="{" ".join(map(repr, q))}"'


def angles(q):
    return f'rpy="{" ".join(map(repr, rpy(q)))}"'


def words(taken, severity, text):
    return [e for e in taken["report"] if e["severity"] == severity and text in e["text"]]


class Quaternions(UrdfCase):
    TURNS = ((0.5, 0.5, 0.5, 0.5), (0.1, -0.2, 0.3, 0.9), (0.7071067811865476, 0, 0, 0.7071067811865476), (0, 0, 0, -2.5),
             (3.0, 1.0, -2.0, 0.5))

    def arm(self, turn, other, kind="revolute"):
        return robot(link("w"), link("a", f'<inertial><origin xyz="0.2 0.1 -0.3" {turn}/>{BODY}</inertial>'),
                     link("b", f'<inertial><origin {other} xyz="0.1 0 0"/>{BODY}</inertial>'),
                     joint("j", "w", "a", f'<origin xyz="0 0 1" {other}/><axis xyz="0 1 0"/>', kind),
                     joint("k", "a", "b", f'<origin xyz="0.3 0.1 0" {turn}/><axis xyz="0.6 0 0.8"/>'))

    def test_the_axis_turns(self):
        """A right angle about x turns the axis y to z of the world: gravity has no moment about it."""
        text = robot(link("w"), link("a", '<inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.02" '
                                     'izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial>'),
                     joint("j", "w", "a", '<origin xyz="0 0 1" quat_xyzw="0.7071067811865476 0 0 0.7071067811865476"/>'
                                          '<axis xyz="0 1 0"/>'))
        taken = self.take("turned", text)
        self.assertEqual(words(taken, "warning", ""), [])
        self.assertClose(self.ask("turned", "inverse-dynamics", {"q": [0.3]})["tau"], [0], 1e-14, scale=1)

    def test_as_with_angles(self):
        """A quaternion gives the same robot as the equivalent roll, pitch and yaw: at joints and inertials, of hinges,
        prismatic joints and floating bases."""
        state = {"q": [0.3, -0.7], "qd": [0.5, 1.1], "qdd": [-0.4, 0.9]}
        for n, q in enumerate(self.TURNS):
            for kind in ("revolute", "prismatic", "continuous"):
                other = self.TURNS[(n + 1) % len(self.TURNS)]
                self.take("quaternion", self.arm(quaternion(q), quaternion(other), kind))
                self.take("angles", self.arm(angles(q), angles(other), kind))
                for operation, request in (("inverse-dynamics", state), ("mass-matrix", {"q": state["q"]})):
                    ours, theirs = (self.ask(name, operation, request) for name in ("quaternion", "angles"))
                    key = "tau" if operation == "inverse-dynamics" else "mass_matrix"
                    self.assertClose(np.ravel(ours[key]).tolist(), np.ravel(theirs[key]).tolist(), 1e-13, scale=1, what=(q, kind))
        self.take("quaternion", self.arm(quaternion(q), quaternion(other)), "?base=floating")
        self.take("angles", self.arm(angles(q), angles(other)), "?base=floating")
        M = [self.ask(name, "mass-matrix", {"q": [0, 0, 0, 0, 0, 0, 1, 0.2, 0.3]})["mass_matrix"] for name in ("quaternion", "angles")]
        self.assertClose(np.ravel(M[0]).tolist(), np.ravel(M[1]).tolist(), 1e-13, scale=1)

    def test_a_length_that_is_not_one_is_reported(self):
        taken = self.take("long", self.arm(quaternion((0, 0, 0, 2)), quaternion((0, 0, 0, 1))))
        self.assertEqual(len(words(taken, "info", "has the length 2")), 2)

    def test_both_or_none(self):
        both = 'rpy="0 0 0" quat_xyzw="0 0 0 1"'
        self.refuse(self.arm(both, quaternion((0, 0, 0, 1))), 422, "bad-value", "both rpy and quat_xyzw")
        for wrong in ("0 0 0 0", "1e200 0 0 1e200"):
            self.refuse(self.arm(f'quat_xyzw="{wrong}"', ""), 422, "bad-quaternion", "length")
        for wrong in ("0 0 1", "0 0 0 0 1", ""):
            self.refuse(self.arm(f'quat_xyzw="{wrong}"', ""), 422, "wrong-shape", "4 numbers")

    def test_version_1_0_has_none(self):
        """Version 1.0 has no quaternions: the attribute is ignored with a warning, as by urdfdom."""
        for version in ("", 'version="1.0"'):
            text = self.arm(quaternion((0.5, 0.5, 0.5, 0.5)), 'rpy="0.1 0.2 0.3"').replace('version="1.1"', version)
            taken = self.take("old", text)
            self.assertEqual(len(words(taken, "warning", "quat_xyzw")), 2, taken["report"])
            self.take("plain", text.replace('quat_xyzw="0.5 0.5 0.5 0.5"', ""))
            tau = [self.ask(name, "inverse-dynamics", {"q": [0.3, 0.2]})["tau"] for name in ("old", "plain")]
            self.assertEqual(tau[0], tau[1])


class Versions(UrdfCase):
    def test_which_are_read(self):
        arm = (link("w"), link("a", f"<inertial>{BODY}</inertial>"), joint("j", "w", "a"))
        for version in ("1.0", "1.1", "1.2"):
            self.take("versioned", robot(*arm, version=version))
        for version in ("2.0", "1.3", "1", "1.0.0", "0.9", "", "one", "1.1 "):
            self.refuse(robot(*arm, version=version), 422, "not-supported", "1.0, 1.1 and 1.2", f'"{version}"')

    def test_limits_of_planners_are_named(self):
        for version in ("1.0", "1.1", "1.2"):
            limit = '<limit lower="-1" upper="1" effort="10" velocity="2" acceleration="3" deceleration="2" jerk="40"/>'
            taken = self.take("fast", robot(link("w"), link("a", f"<inertial>{BODY}</inertial>"), joint("j", "w", "a", limit), version=version))
            self.assertEqual([e["code"] for e in words(taken, "warning", "deceleration in <limit>")], ["not-held"])
            self.assertEqual(len(words(taken, "warning", "in <limit>")), 1)
            self.assertEqual(self.ok(self.client.get("/v1/models/fast"))["joints"][0]["limits"],
                             {"position": [-1, 1], "velocity": 2, "effort": 10, "acceleration": 3, "jerk": 40})
            zero = self.take("fast", robot(link("w"), link("a", f"<inertial>{BODY}</inertial>"), joint(
                "j", "w", "a", limit.replace('acceleration="3"', 'acceleration="0"')), version=version))
            self.assertEqual([e["code"] for e in words(zero, "warning", "acceleration limit 0 is not greater than 0")], ["suspicious"])

    def test_old_forces_of_zero_are_no_loss(self):
        """<joint_properties> is how files of 2009 wrote <dynamics>."""
        for given, lost in (('damping="0.0" friction="0.0"', False), ('damping="0" friction="0.00"', False), ('damping="0.0" friction="0.1"', True),
                            ('damping="1" friction="0"', True), ("", True)):
            taken = self.take("old", robot(link("w"), link("a", f"<inertial>{BODY}</inertial>"), joint("j", "w", "a", f"<joint_properties {given}/>"),
                                           version="1.0"))
            self.assertEqual([e["code"] for e in words(taken, "warning", "<joint_properties>")], ["not-held"] * lost, given)

    def test_limits_of_drake_are_named(self):
        for declared in ('xmlns:drake="http://drake.mit.edu"', ""):
            text = robot(link("w"), link("a", f"<inertial>{BODY}</inertial>"),
                         joint("j", "w", "a", '<limit lower="-1" upper="1" effort="10" velocity="2" drake:acceleration="3" drake:jerk="9"/>'))
            taken = self.take("fast", text.replace("<robot", "<robot " + declared))
            for name in ("drake:acceleration", "drake:jerk"):
                self.assertEqual([e["code"] for e in words(taken, "warning", name)], ["not-held"], taken["report"])

    def test_one_limit_of_position(self):
        """Version 1.2 requires both position limits; before, a missing one is 0."""
        arm = robot(link("w"), link("a", f"<inertial>{BODY}</inertial>"), joint("j", "w", "a", '<limit upper="1" effort="2" velocity="2"/>'))
        self.take("old", arm)
        self.assertEqual(self.ok(self.client.get("/v1/models/old"))["joints"][0]["limits"]["position"], [0, 1])
        taken = self.take("new", arm.replace("1.1", "1.2"))
        self.assertNotIn("position", self.ok(self.client.get("/v1/models/new"))["joints"][0]["limits"])
        self.assertTrue(words(taken, "warning", "no lower limit"))

    def test_spherical_joints_are_an_extension(self):
        """Spherical joints are accepted as Bullet and MuJoCo read them."""
        inside = '<inertial><origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
        taken = self.take("ball", robot(link("w"), link("a", inside), joint("j", "w", "a", kind="spherical")))
        self.assertEqual((taken["nq"], taken["nv"]), (4, 3))
        M = self.ask("ball", "mass-matrix", {"q": [0, 0, 0, 1]})["mass_matrix"]
        self.assertClose(np.ravel(M).tolist(), np.ravel(np.diag([0.01, 0.04, 0.04])).tolist(), 1e-15, scale=1)
        taken = self.take("lossy", robot(link("w"), link("a", inside), joint("j", "w", "a", '<dynamics friction="2"/>', kind="spherical")))
        self.assertEqual([e["code"] for e in words(taken, "warning", "<dynamics>")], ["not-held"])

    def test_damping_of_spherical_and_floating_joints(self):
        """The damping of a spherical or floating joint acts on each of its velocities, as in MuJoCo."""
        inside = '<inertial><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
        for kind, q, n in (("spherical", [0, 0, 0, 1], 3), ("floating", [0] * 6 + [1], 6)):
            taken = self.take("damped", robot(link("w"), link("a", inside), joint("j", "w", "a", '<dynamics damping="2.5"/>', kind=kind)))
            self.assertFalse(words(taken, "warning", "<dynamics>"))
            for k in range(n):
                qd = [float(i == k) for i in range(n)]
                at_rest, moving = (self.ask("damped", "inverse-dynamics", {"q": q, "qd": rates, "qdd": [0] * n})["tau"] for rates in ([0] * n, qd))
                self.assertClose([a - b for a, b in zip(moving, at_rest)], [2.5 * rate for rate in qd], 1e-14, scale=1)


if __name__ == "__main__":
    tap.main()
