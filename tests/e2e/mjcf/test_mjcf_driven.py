"""Tests which joints of MJCF loops become coordinates: those with actuators if these determine the loops, else as many as the
loops leave free. Efforts are those of MuJoCo 3.14's inverse dynamics, projected onto the motions that keep the loops closed."""
import math

import mujoco
import mujoco3
import numpy as np
import tap
from mujoco3 import Compiled

RADIANS = '<compiler angle="radian"/>'
GEOM = '<geom size=".02" pos="0 .01 .1" mass=".4"/>'


def file(world, equality, actuator="", before=""):
    return (f"<mujoco>{before}<worldbody>{world}</worldbody><equality>{equality}</equality>"
            f"<actuator>{''.join(f'<motor joint={chr(34)}{name}{chr(34)}/>' for name in actuator.split())}</actuator></mujoco>")


def hinge(name, more=""):
    return f'<joint name="{name}" axis="0 1 0" {more}/>'


def body(name, position, joint, inner=""):
    return f'<body name="{name}" pos="{position}">{joint}{GEOM}{inner}</body>'


def five_bar(spring="", elbow=""):
    """Returns a crank, a link and a coupler that meet a rocker; `spring` are attributes of joint s, between crank and link."""
    return body("crank", "0 0 1", hinge("j1"), body("link", ".02 0 .1", hinge("s", spring), body("coupler", "0 0 .1", hinge("j2")))) + \
        body("rocker", ".5 0 1", hinge("j3", elbow))


def four_bar(crank=".05 0 .2"):
    return body("crank", "0 0 1", hinge("j1"), body("coupler", crank, hinge("j2"))) + body("rocker", ".5 0 1", hinge("j3"))


TIP = '<connect body1="coupler" body2="rocker" anchor=".4 0 .15"/>'


class Driven(mujoco3.Agreement):
    def follow(self, text, coordinates, mimics=()):
        """Checks the names of the coordinates and the efforts at random states; `mimics` has (follower, leader, multiplier).
        Returns the report."""
        report = self.put_text("m", text, "")
        about = self.client.get("/v1/models/m").json()
        self.assertEqual(about["velocity_names"], coordinates)
        model, rng = Compiled(text), np.random.default_rng(3)
        home = np.array([about["reference"]["q"][i] for i in range(about["nq"])]) if about.get("reference") else np.zeros(about["nq"])
        for _ in range(3):
            n = len(coordinates)
            q, qd, qdd = (home + rng.uniform(-0.1, 0.1, n)).tolist(), rng.uniform(-1, 1, n).tolist(), rng.uniform(-1, 1, n).tolist()
            rows = [[q, qd, qdd]] + [[q, np.eye(n)[i].tolist(), [0] * n] for i in range(n)]
            ours = self.ask("m", "inverse-dynamics", {"q": [r[0] for r in rows], "qd": [r[1] for r in rows], "qdd": [r[2] for r in rows],
                                                      "outputs": ["tau", "full"]})
            full, order = ours["full"], model.about["joints"]
            pick = np.zeros((len(order), len(full["velocity_names"])))
            for row, name in enumerate(order):
                leader, factor = next(((m[1], m[2]) for m in mimics if m[0] == name), (name, 1))
                pick[row, full["velocity_names"].index(leader)] = factor
            state = [(pick @ np.array(full[key][0])).tolist() for key in ("q", "qd", "qdd")]
            G = np.array(full["qd"])[1:] @ pick.T
            self.assertClosed(model, state[0])
            theirs = model.answer([state])[0]["inverse"]
            self.assertClose(ours["tau"][0], (G @ np.array(theirs)).tolist(), 1e-9, scale=np.abs(theirs).max(), what=text)
        return [entry["text"] for entry in report]

    def assertClosed(self, model, q):
        answer = model.run(states=[[q, [0.0] * model.nv, [0.0] * model.nv]], constraints=True)["states"][0]
        rows = [r for r, kind in zip(answer["residual"], answer["constraint_types"]) if kind == 0]      # mjCNSTR_EQUALITY
        self.assertClose(rows, [0.0] * len(rows), 1e-9, scale=1)

    def test_a_spring_is_a_coordinate(self):
        said = self.follow(file(five_bar('stiffness="100" damping=".3"'), TIP, "j1"), ["j1", "s"])
        self.assertTrue(any('joint "s" of the loops has no actuator' in text for text in said), said)

    def test_the_joint_with_the_spring_is_the_free_one(self):
        for where in ('elbow', 'spring'):
            said = self.follow(file(five_bar(**{where: 'stiffness="50"'}), TIP, "j1"), ["j1", "s" if where == "spring" else "j3"])
            self.assertTrue(any("has no actuator and does not follow" in text for text in said), said)

    def test_more_drives_than_freedoms(self):
        said = self.follow(file(four_bar(), TIP, "j1 j3"), ["j1"])
        self.assertTrue(any('joint "j3" of the loops has an actuator, but follows' in text for text in said), said)

    def test_all_joints_are_driven(self):
        said = self.follow(file(five_bar(), TIP, "j1 s j2 j3"), ["j1", "s"])
        self.assertEqual(sum("has an actuator, but follows" in text for text in said), 2, said)

    def test_nothing_is_driven(self):
        said = self.follow(file(five_bar(), TIP), ["j1", "s"])
        self.assertTrue(any('joint "j1" is taken as the driven one' in text for text in said), said)

    def test_drives_that_determine_the_loops_stay(self):
        said = self.follow(file(five_bar(), TIP, "s j3"), ["s", "j3"])
        self.assertFalse(any("of the loops" in text for text in said), said)

    def test_the_same_hinge_held_twice(self):
        """Two points on one axis: five of six equations are independent."""
        twice = TIP + '<connect body1="coupler" body2="rocker" anchor=".4 .1 .15"/>'
        self.follow(file(four_bar(), twice, "j1"), ["j1"])
        self.follow(file(four_bar(), twice, "j1 j3"), ["j1"])
        self.follow(file(five_bar(), twice, "j1"), ["j1", "s"])

    def test_two_loops_and_a_mimic(self):
        """The cranks of two four-bars are coupled by an equality, so that the second one becomes a mimic."""
        second = four_bar().replace('"crank"', '"crank2"').replace('"coupler"', '"coupler2"').replace('"rocker"', '"rocker2"')
        for k in (1, 2, 3):
            second = second.replace(f'"j{k}"', f'"k{k}"')
        other = TIP.replace("coupler", "coupler2").replace("rocker", "rocker2")
        self.follow(file(four_bar() + second, TIP + other, "j1 k3"), ["j1", "k3"])
        coupled = TIP + other + '<joint joint1="k1" joint2="j1" polycoef="0 .5"/>'
        said = self.follow(file(four_bar() + second, coupled, "j1 k3"), ["j1"], [("k1", "j1", 0.5)])
        self.assertTrue(any('"k3" of the loops has an actuator, but follows' in text for text in said), said)

    ROD = '<connect body1="rod" body2="rocker" anchor=".4 0 .15"/>'

    def with_rod(self, joint, more="", actuator="j1", equality=ROD):
        rod = body("rod", ".05 0 .2", joint)
        return file(body("crank", "0 0 1", hinge("j1"), rod) + body("rocker", ".5 0 1", hinge("j3"), body("tip", "0 0 .1", hinge("j4"))),
                    equality, actuator, more)

    def test_a_rod_that_spins(self):
        """The ball joint of a rod becomes three hinges, the last one along the rod: the rod's rotation about itself is a coordinate without an
        actuator."""
        x, z = (v / math.hypot(0.4, 0.15) for v in (0.4, 0.15))
        axes = ((0, 1, 0), (-z, 0, x), (x, 0, z))
        hinges = "".join(f'<joint name="ball.{k + 1}" axis="{" ".join(map(repr, axis))}"/>' for k, axis in enumerate(axes))
        for more in ("", RADIANS):
            for equality in (self.ROD, '<connect body1="rocker" body2="rod" anchor="-.05 0 .35"/>'):
                self.follow(self.with_rod(hinges, more, equality=equality), ["j1", "ball.3", "j4"])
                document = self.client.get("/v1/models/m/document").json()
                said = self.put_text("m", self.with_rod('<joint name="ball" type="ball"/>', more, equality=equality), "")
                self.assertEqual(self.without_rounding(self.client.get("/v1/models/m/document").json()), self.without_rounding(document))
                for words in ('joint "ball" of a rod that the loops let spin is three hinges', '"ball.3" of the loops has no actuator'):
                    self.assertTrue(any(words in entry["text"] for entry in said), said)

    def without_rounding(self, value):
        if isinstance(value, float):
            return round(value, 12) + 0.0
        if isinstance(value, dict):
            return {key: self.without_rounding(item) for key, item in value.items() if key != "report"}
        return [self.without_rounding(item) for item in value] if isinstance(value, list) else value

    def test_what_a_rod_has_beside(self):
        """Damping, armature and range of the ball joint are reported as lost; if the ball joint has an actuator or the rod carries a body, it
        cannot be replaced by hinges and the file is refused."""
        said = self.put_text("m", self.with_rod('<joint name="ball" type="ball" damping=".1" armature=".2" range="0 1"/>', RADIANS), "")
        for word in ("armature", "damping", "range"):
            self.assertEqual(sum(entry["code"] == "not-held" and entry["text"].startswith(word) for entry in said), 1, said)
        for changed in (self.with_rod('<joint name="ball" type="ball"/>', RADIANS, "j1 ball"),
                        self.with_rod('<joint name="ball" type="ball"/>' + body("hand", "0 0 .1", hinge("h")), RADIANS)):
            answer = self.client.put("/v1/models/m", changed.encode(), Content_Type="application/mjcf+xml")
            self.assertEqual(answer.status, 422, answer)

    def test_keys_of_a_rod(self):
        """In the configuration of a keyframe, the hinges must rotate the rod as the quaternion of the key does."""
        rng = np.random.default_rng(5)
        for _ in range(4):
            turn, swing = rng.normal(size=4), rng.uniform(-1, 1, 3)
            key = f'<keyframe><key name="k" qpos="{swing[0]} {" ".join(map(str, turn))} {swing[1]} {swing[2]}"/></keyframe>'
            text = self.with_rod('<joint name="ball" type="ball"/>', RADIANS).replace("</mujoco>", key + "</mujoco>")
            self.put_text("m", text, "")
            document = self.client.get("/v1/models/m/document").json()
            at = document["configurations"][0]["q"]
            self.assertClose([at["j1"], at["j3"], at["j4"]], swing.tolist(), 1e-15)
            tree = {**document, "loops": [], "configurations": [], "name": "tree"}
            for link in tree["links"]:
                link["joint"].pop("actuated", None)
            self.client.put("/v1/models/tree", tree)
            q = [at[name] for name in self.client.get("/v1/models/tree").json()["position_names"]]
            pose = self.ask("tree", "kinematics", {"q": q})["poses"]["rod"]
            state = [[swing[0], *(turn / np.linalg.norm(turn)), swing[1], swing[2]], [0] * 6, [0] * 6]
            model = Compiled(text)
            i = model.about["bodies"].index("rod")
            theirs = model.answer([state])[0]["xquat"][4 * i:4 * i + 4]
            ours = pose["orientation"][3:] + pose["orientation"][:3]
            self.assertClose(ours if np.dot(ours, theirs) > 0 else [-v for v in ours], theirs, 1e-12, scale=1)

    def test_drawn_stretched(self):
        """At a position where the links lie in a line the rank is smaller than elsewhere: the server must not choose another coordinate because
        of that."""
        world = body("crank", "0 0 1", hinge("j1"), body("coupler", ".2 0 0", hinge("j2"))) + body("rocker", ".9 0 1", hinge("j3"))
        text = file(world, '<connect body1="coupler" body2="rocker" anchor=".4 0 0"/>', "j1")
        answer = self.client.put("/v1/models/stretched", text.encode(), Content_Type="application/mjcf+xml")
        self.assertProblem(answer, 422)
        self.assertIn(answer.json()["code"], ("loop-singular", "loop-open"))

    def refused(self, text, *words):
        problem = self.assertProblem(self.client.put("/v1/models/r", text.encode(), Content_Type="application/mjcf+xml"), 422)
        for word in words:
            self.assertIn(word, problem["detail"])

    def test_refusals_name_the_joint_and_the_option(self):
        """Refused are a ball joint at the very point that holds its body, since it can turn freely; a free body that two points hold, which
        turns about the line between them; and a slide whose body a point holds, which cannot move."""
        option = "with equality=independent the model is the tree"
        rod = body("rod", ".05 0 .2", '<joint name="ball" type="ball"/>')
        linkage = body("crank", "0 0 1", hinge("j1"), rod) + body("rocker", ".5 0 1", hinge("j3"))
        self.refused(file(linkage, '<connect body1="rod" body2="rocker" anchor="0 0 0"/>', "j1"), 'the loops leave joint "ball" a freedom', option)
        held = '<connect body1="b" anchor="0 0 .1"/>'
        twice = held + '<connect body1="b" anchor="0 0 .3"/>'
        self.refused(file(body("b", "1 2 3", "<freejoint name='f'/>"), twice), "the loops move ball and free joints alone", option)
        self.refused(file(body("b", "1 2 3", "<joint name='s' type='slide'/>"), held), "nothing moves: the loops leave their joints no freedom", option)


class Gantry(mujoco3.Agreement):
    """Tests a weld between a free base and the world, which fixes the base."""
    LEG = body("leg", ".1 0 -.1", hinge("hip"), body("shin", "0 .05 -.3", hinge("knee")))

    def robot(self, root="<freejoint/>", place='pos="0 0 1" euler="10 20 30"'):
        return f'<body name="stand" pos=".3 .2 .1" euler="0 0 40"><geom size=".1"/></body><body name="pelvis" {place}>{root}{GEOM}{self.LEG}</body>'

    def tau(self, text, names=("hip", "knee")):
        report = self.put_text("m", text, "")
        self.assertEqual(self.client.get("/v1/models/m").json()["velocity_names"], list(names))
        state = {"q": [[0.3, -0.2], [1.1, 0.4]], "qd": [[0.5, 0.6], [-1, 2]], "qdd": [[1, 2], [3, -1]]}
        return self.ask("m", "inverse-dynamics", state)["tau"], [entry["text"] for entry in report]

    def test_where_it_stands(self):
        expected, _ = self.tau(file(self.robot(""), "", "hip knee"))
        for weld in ('body1="world" body2="pelvis"', 'body1="pelvis"', 'body1="pelvis" body2="world"', 'body1="stand" body2="pelvis"',
                     'body1="pelvis" body2="stand" anchor=".1 .2 .3"'):
            tau, said = self.tau(file(self.robot(), f"<weld {weld}/>", "hip knee"))
            self.assertClose(tau, expected, 1e-12, what=weld)
            self.assertTrue(any('fixes the free body "pelvis"' in text for text in said), said)

    def test_where_relpose_says(self):
        """The weld must place the second body in the first one as its attributes say, whatever pose the file gives the body."""
        half = math.radians(50) / 2
        turned = f"{math.cos(half)} 0 {math.sin(half)} 0"
        expected, _ = self.tau(file(self.robot("", f'pos=".1 .2 1.3" quat="{turned}"'), "", "hip knee"))
        tau, _ = self.tau(file(self.robot(), f'<weld body1="world" body2="pelvis" relpose=".1 .2 1.3 {turned}"/>', "hip knee"))
        self.assertClose(tau, expected, 1e-12)

    def test_twice(self):
        tau, said = self.tau(file(self.robot(), '<weld body1="world" body2="pelvis"/><weld body1="stand" body2="pelvis"/>', "hip knee"))
        self.assertClose(tau, self.tau(file(self.robot(""), "", "hip knee"))[0], 1e-12)
        self.assertTrue(any("no joint lies between its two bodies" in text for text in said), said)

    def test_a_weld_that_is_off(self):
        self.put_text("m", file(self.robot(), '<weld body1="world" body2="pelvis" active="false"/>', "hip knee"), "")
        self.assertEqual(self.client.get("/v1/models/m").json()["nv"], 8)

    def test_what_a_program_moves(self):
        """A mocap body is moved by the user of MuJoCo: a body that is welded to it stays free, and a warning names the mocap body."""
        mocap = '<body name="hand" mocap="true"><geom size=".1"/><body name="palm" pos="0 0 .1"><geom size=".1"/></body></body>'
        for equality in ('<weld body1="hand" body2="pelvis"/>', '<weld body1="shin" body2="hand"/>', '<connect body1="palm" body2="shin" anchor="0 0 0"/>',
                         '<connect site1="s" site2="t"/>'):
            text = file(self.robot() + mocap.replace("</body></body>", '<site name="s"/></body></body><site name="u"/>'), equality, "hip knee").replace(
                '<joint name="knee"', '<site name="t"/><joint name="knee"')
            said = [entry["text"] for entry in self.put_text("m", text, "") if entry["code"] == "not-held"]
            self.assertTrue(any('a program moves the mocap body "hand"; without mocap="true"' in line for line in said), said)
            self.compare(Compiled(text), "m")
        tau, _ = self.tau(file(self.robot() + mocap.replace('mocap="true"', ""), '<weld body1="hand" body2="pelvis"/>', "hip knee"))
        self.assertClose(tau, self.tau(file(self.robot(""), "", "hip knee"))[0], 1e-12)


class Pinned(mujoco3.Agreement):
    """Tests a <connect> of a free body's point to the world, which becomes a ball joint."""
    POINT = ".1 -.2 .3"
    SITES = '<site name="s" pos=".4 .1 .2" euler="5 6 7"/>', f'<site name="t" pos="{POINT}"/>'

    def robot(self, joint, position=".3 .2 1"):
        return (f'<body name="stand" pos=".3 .2 .1" euler="0 0 40"><geom size=".1"/>{self.SITES[0]}</body><body name="pelvis" pos="{position}" '
                f'euler="10 20 30">{joint}{GEOM}{self.SITES[1]}<geom type="box" size=".1 .2 .3" pos=".1 0 .2"/>{Gantry.LEG}</body>')

    def pinned(self, connect, position=".3 .2 1"):
        said = [entry["text"] for entry in self.put_text("m", file(self.robot("<freejoint/>"), connect, "hip knee"), "")]
        self.assertTrue(any('holds a point of the free body "pelvis"' in text for text in said), said)
        self.compare(Compiled(file(self.robot(f'<joint type="ball" pos="{self.POINT}"/>', position), "", "hip knee")), "m")

    def test_a_point_of_the_body(self):
        for connect in (f'body1="pelvis" anchor="{self.POINT}"', f'body1="pelvis" body2="stand" anchor="{self.POINT}"'):
            self.pinned(f"<connect {connect}/>")

    def test_sites_that_are_apart(self):
        """A free body whose site is apart from the site that holds it is moved without rotation until the sites meet."""
        rest = Compiled(file(self.robot("<freejoint/>"), "", "hip knee")).rest
        apart = [rest["site_xpos"][i] - rest["site_xpos"][3 + i] for i in range(3)]
        moved = " ".join(repr(x + d) for x, d in zip((0.3, 0.2, 1), apart))
        for connect in ('site1="s" site2="t"', 'site1="t" site2="s"'):
            self.pinned(f"<connect {connect}/>", moved)

    def test_keyframes(self):
        """The quaternion of a key turns the body from its orientation in the file; the ball joint has the turn between them."""
        turned = np.array([0.5, 0.1, -0.7, 0.4]) / np.linalg.norm([0.5, 0.1, -0.7, 0.4])
        key = f'<keyframe><key name="k" qpos="9 9 9 {" ".join(map(repr, turned.tolist()))} .3 .4"/><key name="r"/></keyframe></mujoco>'
        text = file(self.robot("<freejoint/>"), f'<connect body1="pelvis" anchor="{self.POINT}"/>', "hip knee").replace("</mujoco>", key)
        self.put_text("m", text, "")
        reset, there = (entry["q"] for entry in sorted(self.client.get("/v1/models/m/document").json()["configurations"], key=lambda e: e["name"] == "k"))
        names = self.client.get("/v1/models/m").json()["position_names"]
        poses = self.ask("m", "kinematics", {"q": [[q[name] for name in names] for q in (reset, there)]})["poses"]["pelvis"]
        model = Compiled(file(self.robot("<freejoint/>"), "", "hip knee"))
        for k, quaternion in enumerate((model.rest["xquat"][8:12], turned)):
            x, y, z, w = poses["orientation"][k]
            self.assertClose(mujoco.rotation(w, x, y, z), mujoco.rotation(*quaternion), 1e-12, scale=1)
        self.assertClose([there[name] for name in names[-2:]], [0.3, 0.4], 1e-15)

    def test_forces_of_the_free_joint_are_not_those_of_a_ball(self):
        for force in ("armature", "damping", "stiffness", "frictionloss"):
            text = file(self.robot(f'<joint type="free" {force}=".1"/>'), f'<connect body1="pelvis" anchor="{self.POINT}"/>', "hip knee")
            problem = self.client.put("/v1/models/m", text.encode(), Content_Type="application/mjcf+xml").json()
            self.assertIn("equality=independent", problem["detail"])


if __name__ == "__main__":
    tap.main()
