"""Tests which joints of SDF loops become coordinates: one for each freedom of the loops. Torques are those of the same linkage in
MJCF, which test_mjcf_driven.py compares with MuJoCo."""
import math

import numpy as np
import tap
from sdf import SdfCase

INERTIA = "<inertial><pose>0 0.01 0.1 0 0 0</pose><mass>{0}</mass><inertia><ixx>0.004</ixx><iyy>0.003</iyy><izz>0.002</izz></inertia></inertial>"
MJCF_INERTIA = '<inertial pos="0 .01 .1" mass="{0}" diaginertia=".004 .003 .002"/>'
CLOSE = {"x": 0.4, "z": 0.15}       # position of the joint between coupler and rocker, in the coupler (m)


def link(name, x, z, mass=0.4, y=0):
    return f"<link name='{name}'><pose>{x} {y} {z} 0 0 0</pose>{INERTIA.format(mass)}</link>"


def joint(name, parent, child, kind="revolute", axis="0 1 0", more="", extra=""):
    return (f"<joint name='{name}' type='{kind}'>{extra}<parent>{parent}</parent><child>{child}</child>"
            f"<axis><xyz>{axis}</xyz>{more}</axis></joint>")


def dynamics(stiffness):
    return f"<dynamics><spring_stiffness>{stiffness}</spring_stiffness></dynamics>" if stiffness else ""


def four_bar(n="", y=0, closing="revolute", axis="0 1 0"):
    """Returns crank, coupler and rocker on the world; the coupler meets the rocker at (0.45, 0.35) above the world."""
    return (link("crank" + n, 0, 1, y=y) + link("coupler" + n, 0.05, 1.2, 0.7, y) + link("rocker" + n, 0.5, 1, 0.3, y) +
            joint("j1" + n, "world", "crank" + n) + joint("j2" + n, "crank" + n, "coupler" + n) + joint("j3" + n, "world", "rocker" + n) +
            joint("close" + n, "rocker" + n, "coupler" + n, closing, axis, extra=f"<pose>{CLOSE['x']} 0 {CLOSE['z']} 0 0 0</pose>"))


def five_bar(spring=0, elbow=0, closing="revolute"):
    return (link("crank", 0, 1) + link("link", 0.02, 1.1, 0.2) + link("coupler", 0.02, 1.2, 0.7) + link("rocker", 0.5, 1, 0.3) +
            joint("j1", "world", "crank") + joint("s", "crank", "link", more=dynamics(spring)) + joint("j2", "link", "coupler") +
            joint("j3", "world", "rocker", more=dynamics(elbow)) +
            joint("close", "rocker", "coupler", closing, extra=f"<pose>{CLOSE['x']} 0 {CLOSE['z']} 0 0 0</pose>"))


def body(name, position, joint_name, mass, inner="", stiffness=0):
    return (f'<body name="{name}" pos="{position}"><joint name="{joint_name}" axis="0 1 0" stiffness="{stiffness}"/>'
            f"{MJCF_INERTIA.format(mass)}{inner}</body>")


TIP = f'<connect body1="coupler" body2="rocker" anchor="{CLOSE["x"]} 0 {CLOSE["z"]}"/>'
MJCF_FOUR = body("crank", "0 0 1", "j1", .4, body("coupler", ".05 0 .2", "j2", .7)) + body("rocker", ".5 0 1", "j3", .3)


def mjcf_five(spring=0, elbow=0):
    return (body("crank", "0 0 1", "j1", .4, body("link", ".02 0 .1", "s", .2, body("coupler", "0 0 .1", "j2", .7), spring)) +
            body("rocker", ".5 0 1", "j3", .3, stiffness=elbow))


def sdf(content):
    return f"<sdf version='1.9'><model name='m'>{content}</model></sdf>"


class Loops(SdfCase):
    def names(self, text):
        """Returns the names of the coordinates, and the texts of the report."""
        report = self.take_sdf("m", sdf(text))["report"]
        return self.client.get("/v1/models/m").json()["velocity_names"], [entry["text"] for entry in report]

    def same_torques(self, text, world, actuated):
        """The linkage has the torques of that in MJCF at random states near the one that the files draw."""
        names, said = self.names(text)
        motors = "".join(f'<motor joint="{name}"/>' for name in names)
        done = self.client.put("/v1/models/n", (f'<mujoco><worldbody>{world}</worldbody><equality>{TIP}</equality><actuator>{motors}</actuator>'
                                                f'<option gravity="0 0 -9.81"/></mujoco>').encode(), Content_Type="application/xml")
        self.assertIn(done.status, (200, 201), done)
        self.assertEqual(self.client.get("/v1/models/n").json()["velocity_names"], names)
        self.assertEqual(names, actuated)
        rng = np.random.default_rng(7)
        state = {key: rng.uniform(-0.1, 0.1, (4, len(names))).tolist() for key in ("q", "qd", "qdd")}
        ours, theirs = (self.ask(name, "inverse-dynamics", state)["tau"] for name in ("m", "n"))
        self.assertClose(ours, theirs, 1e-9, scale=np.abs(theirs).max(), what=text)
        return said

    def test_four_and_five_bars(self):
        """A planar loop has the same freedoms whichever joint closes it."""
        for closing in ("revolute", "ball"):
            self.same_torques(four_bar(closing=closing), MJCF_FOUR, ["j1"])
            for spring, elbow, free in ((100, 0, ["j1", "s"]), (0, 50, ["j1", "j3"]), (0, 0, ["j1", "s"])):
                said = self.same_torques(five_bar(spring, elbow, closing), mjcf_five(spring, elbow), free)
                for name in free:
                    self.assertTrue(any(f'"{name}" is taken as one of the 2 driven joints' in text for text in said), said)

    def test_each_loop_has_a_drive(self):
        names, said = self.names(four_bar("_a") + four_bar("_b", 0.5) + four_bar("_c", 1.1, "ball"))
        self.assertEqual(names, ["j1_a", "j1_b", "j1_c"])
        self.assertEqual(sum("is taken as one of the 3 driven joints of the loops, which have 3 freedoms" in text for text in said), 3)

    def test_loops_apart_and_side_by_side(self):
        """Two linkages in one file have the torques of two files with one linkage each."""
        self.names(four_bar())
        one = self.ask("m", "inverse-dynamics", {"q": [0.2], "qd": [0.7], "qdd": [-0.3]})["tau"]
        self.names(four_bar("_a") + four_bar("_b", 0.5))
        two = self.ask("m", "inverse-dynamics", {"q": [0.2, 0.2], "qd": [0.7, 0.7], "qdd": [-0.3, -0.3]})["tau"]
        self.assertClose(two, [one[0], one[0]], 1e-10, scale=1)

    def test_a_screw_in_the_loop(self):
        """A nut moves a slide: two coordinates, one freedom; the pitch is the ratio of their rates. The hinge closes the loop."""
        text = (link("slide", 0, 0.3) + link("nut", 0, 0.3, 0.2) + joint("lift", "world", "slide", "prismatic", "0 0 1") +
                joint("turn", "slide", "nut", axis="0 0 1") +
                joint("screw", "world", "nut", "screw", "0 0 1", extra="<screw_thread_pitch>0.01</screw_thread_pitch>"))
        names, _ = self.names(text)
        self.assertEqual(len(names), 1)
        full = self.ask("m", "inverse-dynamics", {"q": [0], "qd": [1], "qdd": [0], "outputs": ["tau", "full"]})["full"]
        rate = dict(zip(full["velocity_names"], full["qd"]))
        self.assertEqual(set(rate), {"lift", "screw"})
        self.assertClose([abs(rate["lift"] / rate["screw"])], [0.01 / (2 * math.pi)], 1e-10, scale=1e-3)

    def test_a_screw_closes_the_loop(self):
        """The pitch of the screw lets the slide move, the first joint of the file, which is the driven one."""
        text = (link("slide", 0, 0.3) + link("nut", 0, 0.3, 0.2) + joint("lift", "world", "slide", "prismatic", "0 0 1") +
                joint("turn", "world", "nut", axis="0 0 1") +
                joint("screw", "slide", "nut", "screw", "0 0 1", extra="<screw_thread_pitch>0.01</screw_thread_pitch>"))
        names, _ = self.names(text)
        self.assertEqual(names, ["lift"])
        full = self.ask("m", "inverse-dynamics", {"q": [0], "qd": [0.3], "qdd": [0], "outputs": ["full"]})["full"]
        rate = dict(zip(full["velocity_names"], full["qd"]))
        self.assertClose([abs(rate["lift"] / rate["turn"])], [0.01 / (2 * math.pi)], 1e-10, scale=1e-3)

    def test_ball_joints_close_the_loop(self):
        """The loop of a rod with a ball and a hinge is cut at the ball, whichever joint comes first: no coordinate of a ball is left over."""
        crank, rocker = joint("j1", "world", "crank") + joint("j2", "crank", "coupler"), joint("j3", "world", "rocker")
        ball = "<joint name='close' type='ball'><pose relative_to='coupler'>0.4 0 0.15 0 0 0</pose><parent>rocker</parent><child>coupler</child></joint>"
        links = link("crank", 0, 1) + link("coupler", 0.05, 1.2, 0.7) + link("rocker", 0.5, 1, 0.3)
        for order, drive in ((ball + crank + rocker, "j1"), (crank + rocker + ball, "j1"), (ball + rocker + crank, "j3"), (rocker + crank + ball, "j3")):
            names, _ = self.names(links + order)
            self.assertEqual(names, [drive])
            self.assertEqual([(loop["name"], loop["type"]) for loop in self.client.get("/v1/models/m").json()["loops"]], [("close", "spherical")])

    def test_the_driven_axis_of_a_universal_joint_is_that_which_moves(self):
        """Joints with springs become coordinates before others. Here they leave the two axes of a universal joint, one of which can rotate in
        the plane of the linkage. That axis is the coordinate, whichever end of the joint is nearer to the world and whichever axis comes
        first."""
        for parent, child in (("crank", "coupler"), ("coupler", "crank")):
            for moves, axes in enumerate((("0 1 0", "0.6 0 0.8"), ("0.6 0 0.8", "0 1 0"))):
                place = "" if child == "coupler" else "<pose relative_to='coupler'/>"
                universal = f"<joint name='u' type='universal'>{place}<parent>{parent}</parent><child>{child}</child>" + "".join(
                    f"<{name}><xyz>{axis}</xyz>{dynamics(4)}</{name}>" for name, axis in zip(("axis", "axis2"), axes)) + "</joint>"
                own = joint("j2", "crank", "coupler")
                self.assertIn(own, four_bar())
                names, _ = self.names(universal + four_bar().replace(own, ""))
                self.assertEqual(names, [f"u.{moves + 1}"], (parent, axes))

    def test_a_follower_on_a_joint_that_points_to_the_world_has_the_other_sign(self):
        """Two slides in a row, the second of which takes back or doubles the way of the first, carry one end of a crank and a rod. Where the end
        does not move, only the slides can move."""
        links = link("crank", 0, 1) + link("rod", 0.05, 1.2, 0.7) + link("first", 0.4, 1, 0.2) + link("second", 0.45, 1.1, 0.3)
        crank = joint("j1", "world", "crank") + joint("j2", "crank", "rod") + joint("p", "world", "first", "prismatic", "1 0 0")
        close = joint("close", "rod", "second", extra="<pose relative_to='second'/>")
        for (parent, child), sign in ((("first", "second"), 1), (("second", "first"), -1)):
            place = "" if child == "second" else "<pose relative_to='second'/>"
            for ratio, coordinate in ((-1, "p"), (1, "j1")):
                mimic = f"<mimic joint='p'><multiplier>{sign * ratio}</multiplier><offset>0</offset><reference>0</reference></mimic>"
                follower = joint("f", parent, child, "prismatic", "1 0 0", mimic, place)
                names, _ = self.names(links + crank + follower + close)
                self.assertEqual(names, [coordinate], (parent, ratio))

    def test_a_locked_linkage_is_named(self):
        """A loop whose axes are not parallel is rigid: each of its joints gets a warning; joints of another loop get none."""
        text = four_bar() + four_bar("_b", 0.7, axis="0.3 1 0.2").replace("<xyz>0 1 0</xyz></axis></joint><joint name='j3_b'",
                                                                         "<xyz>0.2 1 0</xyz></axis></joint><joint name='j3_b'")
        names, said = self.names(text)
        self.assertEqual(names, ["j1"])
        for name in ("j1_b", "j2_b", "j3_b"):
            self.assertTrue(any(f'joint "{name}" of the loops cannot move' in text for text in said), said)
        self.assertEqual(sum("cannot move" in text for text in said), 3, said)

    def test_open_loops_are_left_out(self):
        """With ?loops=open the model is the spanning tree; refusals of loops name this option."""
        answer = self.take_sdf("m", sdf(four_bar()), "?loops=open")
        self.assertTrue(any("loops=open was requested" in entry["text"] and entry["code"] == "not-held" for entry in answer["report"]))
        self.assertEqual(self.client.get("/v1/models/m").json()["velocity_names"], ["j1", "j2", "j3"])
        tree = four_bar()
        tree = tree[:tree.index("<joint name='close'")]
        self.assertEqual(self.take_sdf("m", sdf(tree))["revision"], answer["revision"])
        stretched = (link("crank", 0, 1) + link("coupler", 0.2, 1) + link("rocker", 0.9, 1) + joint("j1", "world", "crank") +
                     joint("j2", "crank", "coupler") + joint("j3", "world", "rocker") +
                     joint("close", "rocker", "coupler", extra="<pose>0.4 0 0 0 0 0</pose>"))
        problem = self.assertProblem(self.put_sdf("m", sdf(stretched)), 422)
        self.assertIn("with loops=open the model is the tree", problem["detail"])
        self.take_sdf("m", sdf(stretched), "?loops=open")
        self.assertEqual(self.assertProblem(self.put_sdf("m", sdf(tree), "?loops=ajar"), 422)["code"], "bad-value")

    def test_a_mimic_couples_two_loops(self):
        mimic = "<mimic joint='j1'><multiplier>0.5</multiplier></mimic>"
        text = four_bar() + four_bar("_b", 0.7).replace("<child>crank_b</child><axis><xyz>0 1 0</xyz>", "<child>crank_b</child><axis><xyz>0 1 0</xyz>" + mimic)
        text = text.replace("version='1.9'", "version='1.11'")
        names, _ = self.names(text)
        self.assertEqual(names, ["j1"])
        full = self.ask("m", "inverse-dynamics", {"q": [0.1], "qd": [1], "qdd": [0], "outputs": ["tau", "full"]})["full"]
        rate = dict(zip(full["velocity_names"], full["qd"]))
        self.assertEqual(sorted(rate), ["j1", "j2", "j2_b", "j3", "j3_b"])

    def test_mimics_beside_loops(self):
        """A joint may follow a passive joint of a loop, but not the joint that closes one, since this joint has no coordinate, whether the loop
        is kept or left out."""
        mimic = "<mimic joint='{0}'><multiplier>2</multiplier><offset>0.1</offset><reference>0</reference></mimic>"
        hand = four_bar() + link("hand", 0.5, 1.3)
        self.take_sdf("m", sdf(hand + joint("wave", "rocker", "hand", more=mimic.format("j3"))).replace("1.9", "1.11"))
        self.assertEqual(self.client.get("/v1/models/m").json()["velocity_names"], ["j1"])
        for query in ("", "?loops=open"):
            refused = self.client.put("/v1/models/m" + query, sdf(hand + joint("wave", "rocker", "hand", more=mimic.format("close"))).replace("1.9", "1.11").encode(),
                                      Content_Type="application/sdf+xml")
            self.assertIn('joint "wave": the joint follows "close", which closes a loop', self.assertProblem(refused, 422)["detail"])

    def test_mimics_of_each_other(self):
        """The refusal names no remedy for loops."""
        mimic = "<mimic joint='{0}'><multiplier>2</multiplier><offset>0</offset><reference>0</reference></mimic>"
        hand = four_bar() + link("hand", 0.5, 1.3) + link("thumb", 0.5, 1.4) + joint("a", "rocker", "hand", more=mimic.format("b")) + joint("b", "hand", "thumb", more=mimic.format("a"))
        refused = self.client.put("/v1/models/m", sdf(hand).replace("1.9", "1.11").encode(), Content_Type="application/sdf+xml")
        detail = self.assertProblem(refused, 422)["detail"]
        self.assertTrue(detail.endswith("mimics it in turn"), detail)


if __name__ == "__main__":
    tap.main()
