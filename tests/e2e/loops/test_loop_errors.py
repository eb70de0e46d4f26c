"""Tests refusals for mechanisms with closed loops: invalid documents and guesses, loops that do not close or close in a
singular position, operations without meaning. Each has its code and pointer."""
import copy
import json
import math

import numpy as np
import tap
from closed import Closed
from linkages import link, loop

FLAT = {"gravity": [0, -9.81, 0], "links": [  # a parallelogram: at q = 0 all bars lie on one line
    link("left", "base", "revolute", [0, 0, 1], {"mass": 1, "com": [0.1, 0, 0]}, True),
    link("right", "base", "revolute", [0, 0, 1], {"mass": 1, "com": [0.1, 0, 0]}, origin={"xyz": [0.5, 0, 0]}),
    link("rod", "left", "revolute", [0, 0, 1], {"mass": 1, "com": [0.25, 0, 0]}, origin={"xyz": [0.2, 0, 0]})],
    "frames": [{"name": "a", "link": "rod", "xyz": [0.5, 0, 0]}, {"name": "b", "link": "right", "xyz": [0.2, 0, 0]}],
    "loops": [loop("a", "b", "revolute", [0, 0, 1])]}


class Documents(Closed):
    def bad(self, change, code, pointer):
        document = copy.deepcopy(self.documents["four_bar"])
        change(document)
        self.refused(self.client.put("/v1/models/bad", document), code, pointer)

    def loop(self, code, pointer, drop=None, **fields):
        def change(document):
            document["loops"][0].update(fields)
            if drop:
                del document["loops"][0][drop]
        self.bad(change, code, "/loops/0" + pointer)

    def test_form(self):
        for value in ({}, 3, "loop", True):
            self.bad(lambda d: d.update(loops=value), "wrong-type", "/loops")
        self.bad(lambda d: d.update(loops=[3]), "wrong-type", "/loops/0")
        self.loop("unknown-field", "/extra", extra=1)
        for field in ("name", "frame_a", "frame_b", "type", "axis"):
            self.loop("missing-field", "/" + field, drop=field)
        for field in ("name", "frame_a", "frame_b", "type"):
            self.loop("wrong-type", "/" + field, **{field: 3})
        self.loop("wrong-shape", "/axis", axis=[0, 1])
        self.loop("bad-value", "/axis", axis=[0, 0, 0])
        self.loop("wrong-type", "/axis/1", axis=[0, "1", 0])

    def test_names(self):
        self.loop("unknown-name", "/frame_a", frame_a="nowhere")
        self.loop("unknown-name", "/frame_b", frame_b="crank_joint")
        self.bad(lambda d: d["loops"].append(d["loops"][0]), "duplicate-name", "/loops/1/name")

    def test_types(self):
        self.loop("bad-value", "/type", type="bolted")
        self.loop("bad-value", "/type", type="floating")

    def test_nothing_closed(self):
        """A loop is refused if both of its frames are on one body or both on the base."""
        self.loop("bad-model", "", frame_a="coupler_point")
        def grounded(document):
            document["frames"] += [{"name": name, "link": "ground"} for name in ("here", "there")]
            document["loops"][0].update(frame_a="here", frame_b="there")
        self.bad(grounded, "bad-model", "/loops/0")

    def test_joints(self):
        def joint(**fields):
            return lambda d: d["links"][1]["joint"].update(fields)
        at = "/links/1/joint/"
        self.bad(joint(actuated=1), "wrong-type", at + "actuated")
        self.bad(joint(home="up"), "wrong-type", at + "home")
        self.bad(joint(home=[1]), "wrong-type", at + "home")
        self.bad(joint(home=1e300), "angle-too-large", at + "home")
        text = json.dumps(self.documents["four_bar"]).replace('"home": 1.095', '"home": 1e999')
        self.refused(self.client.put("/v1/models/bad", text, Content_Type="application/json"), "non-finite", at + "home")

    def test_who_moves_what_no_loop_does(self):
        """Passive joints must be moved by a loop: refused are a passive joint after the loop (towards the tip), one before the loop (towards the
        base), and a passive elastic joint."""
        def tail(document):
            document["links"].append(link("tail", "coupler", "revolute", [0, 0, 1]))
        at = f"/links/{len(self.documents['four_bar']['links'])}/joint/actuated"
        self.bad(tail, "bad-model", at)

        def carried(document):
            document["links"].insert(0, link("turntable", "ground", "revolute", [0, 0, 1]))
            for each in document["links"][1:]:
                each["parent"] = "turntable" if each["parent"] == "ground" else each["parent"]
            document["frames"] = [{**f, "link": "turntable"} if f["link"] == "ground" else f for f in document["frames"]]
        self.bad(carried, "bad-model", "/links/0/joint/actuated")

        def elastic(document):
            document["links"][1]["joint"].update(elastic={"stiffness": 100}, rotor_inertia=1e-3)
        self.bad(elastic, "bad-model", "/links/1/joint/actuated")

    def test_what_is_kept(self):
        """The canonical document keeps loops, reference positions (`home`) and `actuated` of joints; PUT of it gives the same revision."""
        for model in self.MODELS:
            document = self.ok(self.client.get(f"/v1/models/{model}/document"))
            self.assertEqual([x["name"] for x in document["loops"]], [x["name"] for x in self.documents[model]["loops"]])
            put = self.put_model("again", document)
            about = self.ok(self.client.get(f"/v1/models/{model}"))
            self.assertEqual(put["revision"], about["revision"])
            given = {x["joint"]["name"]: x["joint"] for x in self.documents[model]["links"]}
            kept = {x["joint"]["name"]: x["joint"] for x in document["links"]}
            for name, joint in given.items():
                self.assertEqual(kept[name].get("home", 0), joint.get("home", 0), name)
                self.assertEqual(kept[name].get("actuated", True), joint.get("actuated", True), name)
            driven = [name for name, joint in given.items() if joint.get("actuated", True)]
            self.assertEqual(about["velocity_names"], driven)
            self.assertEqual(about["position_names"], driven)
            self.assertEqual((about["nq"], about["nv"]), (len(driven),) * 2)
            parts = {"spherical": [".qx", ".qy", ".qz", ".qw"]}
            self.assertEqual(about["passive_names"], [name + part for name in given if name not in driven
                                                      for part in parts.get(given[name]["type"], [""])])


class Requests(Closed):
    PLATFORM = {"frame": "tip", "position": [0.1, 0.4, 0]}

    def post(self, model, operation, **request):
        return self.client.post(f"/v1/models/{model}/{operation}", request)

    def test_states(self):
        self.refused(self.post("four_bar", "inverse-dynamics", q=[1, 0, 0]), "wrong-shape", "/q")
        both = {"crank_joint": 1, "rocker_joint": 1}
        self.refused(self.post("four_bar", "inverse-dynamics", q=both), "unknown-name", "/q/rocker_joint")

    def test_guesses(self):
        ask = lambda guess, model="four_bar", q=(1,): self.post(model, "inverse-dynamics", q=list(q), guess=guess)
        self.refused(ask({"nobody": 1}), "unknown-name", "/guess/nobody")
        self.refused(ask({"crank_joint": 1}), "unknown-name", "/guess/crank_joint")
        self.refused(ask({"rocker_joint": "1"}), "wrong-type", "/guess/rocker_joint")
        self.refused(ask([1]), "wrong-shape", "/guess")
        self.refused(ask([1, "2"]), "wrong-type", "/guess/1")
        self.refused(ask("home"), "wrong-type", "/guess")
        self.refused(ask({"rocker_joint": 1e6}), "angle-too-large", "/guess/rocker_joint")
        self.refused(ask([1, -1e6]), "angle-too-large", "/guess/1")
        self.refused(ask([[1, 2], [1, 2]], q=([1], [1], [1])), "wrong-shape", "/guess")
        for row in (0, 3, 8):  # a bad guess in the first, an inner and the last row of a batch
            guesses = [[1, 1e6 if k == row else 2] for k in range(9)]
            self.refused(ask(guesses, q=[[1]] * 9), "angle-too-large", f"/guess/{row}/1", row)
        self.refused(ask({}, "two_link", (1, 2)), "bad-value", "/guess")

    def test_platforms(self):
        """Fields of a platform's motion that an operation does not use, such as `acceleration` in forward-dynamics, are refused, like unused
        fields of a state."""
        for operation, part, extra in (("forward-dynamics", "acceleration", {"tau": [0, 0]}),
                                       ("mass-matrix", "velocity", {}), ("coriolis", "acceleration", {})):
            answer = self.post("five_bar", operation, platform={**self.PLATFORM, part: [1, 0, 0]}, **extra)
            self.refused(answer, "unknown-field", "/platform/" + part)
        for operation, extra in (("impact", {"held": [{"frame": "tip"}]}), ("coriolis", {})):
            self.refused(self.post("five_bar", operation, platform=self.PLATFORM, **extra), "missing-field",
                         "/platform/velocity")
            moving = {**self.PLATFORM, "velocity": [0, 0, 0]}
            self.ask("five_bar", operation, {"platform": moving, **extra})
        free = self.ok(self.client.get("/v1/models/five_bar"))["velocity_names"][1:]
        self.refused(self.post("five_bar", "inverse-dynamics", free=free,
                               platform={**self.PLATFORM, "velocity": [0, 0, 0], "acceleration": [1, 0, 0]}),
                     "bad-value", "/platform/acceleration")
        far = {**self.PLATFORM, "position": [1e300, 0, 0]}
        self.assertNotIn("inf", self.refused(self.post("five_bar", "energy", platform=far), "loop-crossing"))

    def test_outputs(self):
        motion = {"degree": 3, "duration": 1, "control_points": [[1]] * 5}
        self.refused(self.post("four_bar", "trajectory", **motion, outputs=["tau", "dtau_dot_dduration"]), "not-for-loops",
                     "/outputs/1")
        self.refused(self.post("two_link", "inverse-dynamics", q=[1, 1], outputs=["tau", "full"]), "bad-value",
                     "/outputs/1")

    def test_loops_that_do_not_close(self):
        """One row of a batch has legs too short for the platform. The problem's `fraction` is the part of the line from the reference that can
        be followed: all legs shrink equally until the platform's tilt allows no further."""
        q = [list(self.stewart.lengths(np.array([0, 0, 0.9]), np.eye(3))) for _ in range(4)]
        q[2] = [0.1] * 6
        for operation in ("inverse-dynamics", "mass-matrix", "kinematics", "energy"):
            problem = self.assertProblem(self.post("stewart", operation, q=q), 422, "/q/2", row=2)
            self.assertEqual(problem["code"], "loop-crossing", problem)
            reached = np.array(self.ok(self.client.get("/v1/models/stewart"))["reference"]["q"]) * (1 - problem["fraction"]) + 0.1 * problem["fraction"]
            before, after = (self.post("stewart", operation, q=(reached + way).tolist()) for way in (1e-5, -1e-5))
            self.assertEqual((before.status, after.status), (200, 422), problem)
        document = copy.deepcopy(self.documents["five_bar"])
        document["frames"][0]["xyz"] = [0.1, 0, 0]
        self.put_model("short", document)
        self.refused(self.post("short", "inverse-dynamics", q=[math.pi, 0]), "loop-crossing")

    def test_the_entry_of_a_row_that_does_not_close(self):
        """The pointer names the row in the batched field that determines the position, or the field itself if all rows
        share it."""
        ask = lambda **given: self.post("five_bar", "inverse-dynamics", **given)
        near, far = [0.1, 0.4, 0], [9, 0.4, 0]
        self.refused(ask(q=[2.2, 1.1], qd=[[0, 0]] * 2, platform=[]), "wrong-type", "/platform")
        place = lambda position, **more: {"platform": {"frame": "tip", "position": position, **more}}
        self.refused(ask(**place([near, near, far])), "loop-crossing", "/platform/position/2", row=2)
        self.refused(ask(**place(far, velocity=[[0, 0, 0]] * 2)), "loop-crossing", "/platform/velocity/0", row=0)
        self.refused(ask(**place(far), wrenches=[{"link": "right_rod", "force": [[0, 0, 0]] * 2}]), "loop-crossing",
                     "/platform", row=0)
        self.refused(ask(**place(far)), "loop-crossing", "/platform")
        motion = {"degree": 3, "duration": 1, "samples": 3}
        points = [[[0.98] * 6] * 4, [[0.98] * 6] * 3 + [[0.1] * 6]]
        self.refused(self.post("stewart", "trajectory", **motion, control_points=points), "loop-crossing", "/control_points/1",
                     row=1)
        self.refused(self.post("stewart", "trajectory", degree=3, duration=[1, 2], samples=3, control_points=points[1]),
                     "loop-crossing", "/control_points", row=0)

    def test_more_motors_than_freedoms(self):
        document = copy.deepcopy(self.documents["four_bar"])
        document["links"][1]["joint"]["actuated"] = True
        document["links"][1]["joint"].pop("home")
        self.assertIn("fewer joints", self.refused(self.client.put("/v1/models/stiff", document), "loop-singular", "/loops"))

    def test_bars_beside_each_other(self):
        """A pin across the bars' plane holds them 10 mm apart: the passive joints could follow in the plane, but the
        loop stays open, and the document is refused."""
        document = copy.deepcopy(self.documents["four_bar"])
        for joint in (document["links"][0]["joint"], None):  # with a reference position `home` of the crank, and without
            document["frames"][0]["xyz"][2] = 0.01
            if joint:
                joint["home"] = 0
            self.refused(self.client.put("/v1/models/apart", document), "loop-open", "/loops")
            document = copy.deepcopy(self.documents["four_bar"])

    def test_a_reference_far_from_home(self):
        """The search closes loops of five-bars that are far from closed at the positions in the document, where the motors have no field
        `home`."""
        for lengths, ground, homes in (((0.4, 0.4, 0.8, 0.4), 0.75, (2.3, 0.2)), ((0.9, 0.3, 0.8, 0.35), 0.65, (1.7, 2.4)),
                                       ((0.77, 0.42, 0.31, 0.24), 0.46, (0.2, 2.3)), ((0.49, 0.25, 0.71, 0.24), 0.36, (-1.1, 1.5)),
                                       ((0.77, 0.45, 0.61, 0.41), 0.65, (-1.7, -0.4))):
            inertial = {"mass": 1, "com": [0.1, 0, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}}
            bar = lambda name, parent, x, **more: link(name, parent, "revolute", [0, 0, 1], inertial, origin={"xyz": [x, 0, 0]}, **more)
            self.put_model("wide", {
                "links": [bar("left", "base", 0, actuated=True), bar("left_rod", "left", lengths[0], home=homes[0]),
                          bar("right", "base", ground, actuated=True), bar("right_rod", "right", lengths[2], home=homes[1])],
                "frames": [{"name": name, "link": name[:-4], "xyz": [length, 0, 0]} for name, length in (
                    ("left_rod_end", lengths[1]), ("right_rod_end", lengths[3]))],
                "loops": [loop("left_rod_end", "right_rod_end", "revolute", [0, 0, 1])]})
            q = self.ok(self.client.get("/v1/models/wide"))["reference"]["q"]
            poses = self.ask("wide", "kinematics", {"q": q})["poses"]
            self.near(poses["left_rod_end"]["position"], poses["right_rod_end"]["position"], 1e-9)

    def test_quaternions_of_the_reference(self):
        """Quaternions of the reference have w >= 0 whatever the sign in the document, for motors with and without a
        home."""
        document = copy.deepcopy(self.documents["delta"])
        ball = next(link["joint"] for link in document["links"] if link["name"] == "platform")
        ball["home"] = [-x for x in ball["home"]]
        for drop in (False, True):
            for link in document["links"] if drop else ():
                if link["name"].startswith("arm"):
                    del link["joint"]["home"]
            self.put_model("signs", document)
            about = self.ok(self.client.get("/v1/models/signs"))
            self.assertGreater(about["reference"]["passive"][about["passive_names"].index("ball1a.qw")], 0.5)

    def test_deadline_of_a_reference(self):
        """The search for the reference of a chain of flat parallelograms takes longer than 10 ms; it ends at the request's
        deadline."""
        links, frames, loops = [], [], []
        for i in range(150):
            up, at = (f"rod{i - 1}", 2) if i else ("base", 0)
            place = lambda x: {"xyz": [x, 0, 0]}
            links += [link(f"left{i}", up, "revolute", [0, 0, 1], None, True, origin=place(at)),
                      link(f"rod{i}", f"left{i}", "revolute", [0, 0, 1], None, origin=place(1)),
                      link(f"right{i}", up, "revolute", [0, 0, 1], None, origin=place(at + 2))]
            frames += [{"name": f"a{i}", "link": f"rod{i}", "xyz": [2, 0, 0]}, {"name": f"b{i}", "link": f"right{i}", "xyz": [1, 0, 0]}]
            loops.append(loop(f"a{i}", f"b{i}", "spherical", name=f"pin{i}"))
        document = {"links": links, "frames": frames, "loops": loops}
        problem = self.assertProblem(self.client.put("/v1/models/chain", document, Request_Timeout="0.01"), 504)
        self.assertEqual(problem["code"], "deadline-passed")

    def test_fewer_motors_than_freedoms(self):
        """A five-bar with one motor is refused: the motion of its other joint is indeterminate."""
        document = copy.deepcopy(self.documents["five_bar"])
        document["links"][2]["joint"]["actuated"] = False
        self.assertIn("2 of their 3", self.refused(self.client.put("/v1/models/loose", document), "loop-singular", "/loops"))

    def test_singular_parallelogram(self):
        """With all bars on one line the rod can move either way. At positions near by the loop closes. A line through it is refused at the
        crossing, and a document whose reference is there is refused entirely."""
        self.refused(self.client.put("/v1/models/flat", FLAT), "loop-singular", "/loops")
        document = copy.deepcopy(FLAT)
        for link, home in zip(document["links"], (0.5, 0.5, -0.5)):
            link["joint"]["home"] = home
        self.put_model("flat", document)
        problem = self.assertProblem(self.post("flat", "mass-matrix", q=[-0.3]), 422)
        self.assertEqual(problem["code"], "loop-crossing")
        self.assertAlmostEqual(problem["fraction"], 0.5 / 0.8, delta=1e-6)
        self.ask("flat", "mass-matrix", {"q": [-0.3], "guess": [-0.3, 0.3]})
        motion = {"degree": 3, "duration": 2, "samples": 2, "control_points": [[0.5 - 0.8 * i / 3] for i in range(4)]}
        problem = self.assertProblem(self.post("flat", "trajectory", **motion), 422)
        self.assertEqual(problem["code"], "loop-crossing")
        self.assertAlmostEqual(problem["time"], 2 * 0.5 / 0.8, delta=1e-5)
        for operation, given in (("inverse-dynamics", {}), ("forward-dynamics", {"tau": [0]}), ("mass-matrix", {}), ("kinematics", {})):
            self.refused(self.post("flat", operation, q=[[0.5], [0]], guess=[[-0.5, 0.5], [0, 0]], **given), "loop-singular", row=1)
        full = self.full("flat", {"q": [0.5], "guess": [-0.5, 0.5]})
        self.near(full["G"], [[1], [-1], [1]], 1e-12)

    def test_a_joint_about_the_point_where_the_loop_closes(self):
        """A joint whose axis passes through the loop's spherical joint turns freely. Its column of the Jacobian is
        about 1e-17 in a random direction: neither the search nor the rank may use it, and it moves no other joint."""
        choose = np.random.default_rng(4)
        axes, at = choose.normal(size=(4, 3)), choose.uniform(-0.5, 0.5, (4, 3))
        rpy = choose.uniform(-3, 3, (4, 3))
        point = 0.3 * axes[3]
        place = point
        for i in reversed(range(4)):
            (cr, cp, cy), (sr, sp, sy) = np.cos(rpy[i]), np.sin(rpy[i])
            place = at[i] + np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                                      [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]]) @ place
        for actuated in (0, 3):
            links = [link(f"l{i}", f"l{i - 1}" if i else "base", "revolute", axes[i].tolist(), {"mass": 1, "com": [0.1, 0.2, 0.3]},
                          i == actuated, origin={"xyz": at[i].tolist(), "rpy": rpy[i].tolist()}) for i in range(4)]
            document = {"links": links, "frames": [{"name": "ball", "link": "l3", "xyz": point.tolist()}, {
                "name": "socket", "link": "base", "xyz": place.tolist()}], "loops": [loop("socket", "ball", "spherical")]}
            if actuated == 0:
                self.refused(self.client.put("/v1/models/spins", document), "loop-singular", "/loops")
            else:
                self.put_model("spins", document)
                self.assertEqual(self.full("spins", {"q": [0.7], "qd": [1]})["G"], [[0], [0], [0], [1]])

    def test_dead_centre(self):
        """The rocker drives a four-bar with crank and coupler in line (40 + 120 mm, rocker 80, ground 100): the crank
        can move either way. Beyond this position the loop is open, before it the loop closes."""
        document = copy.deepcopy(self.documents["four_bar"])
        crank, rocker = (document["links"][i]["joint"] for i in (0, 1))
        crank.update(actuated=False, home=0.5)
        rocker.pop("actuated"), rocker.pop("home")
        self.put_model("driven_rocker", document)
        dead = math.pi - math.acos((0.08**2 + 0.1**2 - 0.16**2) / (2 * 0.08 * 0.1))
        alpha = math.acos((0.16**2 + 0.1**2 - 0.08**2) / (2 * 0.16 * 0.1))  # angle of crank and coupler in line
        guess = {"crank_joint": alpha, "coupler_joint": alpha - dead}
        self.assertIn(self.assertProblem(self.post("driven_rocker", "mass-matrix", q=[dead], guess=guess), 422)["code"],
                      ("loop-crossing", "loop-singular"))
        self.refused(self.post("driven_rocker", "mass-matrix", q=[dead - 0.01], guess=guess), "loop-crossing")
        self.ask("driven_rocker", "mass-matrix", {"q": [dead + 0.01], "guess": {**guess, "crank_joint": alpha + 0.1}})


if __name__ == "__main__":
    tap.main()
