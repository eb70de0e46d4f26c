"""Frames that are held, and frames that hit something: against the equations of motion with their constraints solved
densely from what the other operations say, against statics and impacts by hand, and what must be kept or lost."""
import math
import random
import unittest

import cbor2
import numpy as np
import tap
from harness import ServerCase
from samples import branched, states
from test_free import mimicking
from test_urdf import FILES, read

AXES = ["x", "y", "z", "rx", "ry", "rz"]
G = 9.81
ROD = {"links": [{"name": "rod", "parent": "base", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]},
                  "inertial": {"solid": "box", "size": [0.1, 0.1, 1], "mass": 2, "xyz": [0, 0, -0.5]}}],
       "frames": [{"name": "tip", "link": "rod", "xyz": [0, 0, -1]}]}
TABLE = {"base": {"type": "floating", "link": "top", "inertial": {"mass": 8, "com": [0, 0, 0], "inertia": {
             "xx": 0.3, "yy": 0.2, "zz": 0.4}}}, "links": [],
         "frames": [{"name": f"leg{i}", "link": "top", "xyz": [0.3 * (-1) ** i, 0.5 * (-1) ** (i // 2), -0.7]}
                    for i in range(4)]}
STICK = {"base": {"type": "floating", "link": "stick", "inertial": {"mass": 3, "com": [0, 0, 0], "inertia": {
             "xx": 0, "yy": 3 / 12, "zz": 3 / 12}}}, "links": [],
         "frames": [{"name": "left", "link": "stick", "xyz": [-0.5, 0, 0]}, {"name": "right", "link": "stick", "xyz": [0.5, 0, 0]}]}
UPRIGHT = [0, 0, 0, 0, 0, 0, 1]


def rank_and_null_space(J):
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > 1e-9 * s[0])) if s.size else 0
    return rank, Vt[rank:].T


class ContactCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("arm", branched()), ("flying", branched("floating")), ("mimicking", mimicking()),
                               ("rod", ROD), ("table", TABLE), ("stick", STICK)):
            cls.client.put("/v1/models/" + name, document)

    def jacobians(self, model, q, qd, held):
        """J and its rate, of the axes held."""
        J, J_dot = [], []
        for entry in held:
            k = self.ask(model, "kinematics", {"q": q, "qd": qd, "frame": entry["frame"], "reference": entry.get("reference", "world"),
                                               "outputs": ["jacobian", "jacobian_dot"]})
            rows = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            J += [k["jacobian"][row] for row in rows]
            J_dot += [k["jacobian_dot"][row] for row in rows]
        return np.array(J), np.array(J_dot)

    @staticmethod
    def chosen(held, wrenches):
        """The numbers along the axes held; there must be no others."""
        values = []
        for entry, wrench in zip(held, wrenches):
            rows = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            values += [wrench[row] for row in rows]
            assert all(wrench[row] == 0 for row in range(6) if row not in rows)
        return np.array(values)

    def check_held(self, model, state, held, surroundings=None, tolerance=1e-9):
        surroundings = surroundings or {}
        answer = self.ask(model, "forward-dynamics", {**state, **surroundings, "held": held})
        self.assertEqual(list(answer), ["qdd", "contact_wrenches"])
        motion = {"q": state["q"], "qd": state["qd"]}
        M = np.array(self.ask(model, "mass-matrix", {"q": state["q"], **{k: v for k, v in surroundings.items()
                                                                         if k == "payload"}})["mass_matrix"])
        h = np.array(self.ask(model, "bias", {**motion, **surroundings})["bias"])
        J, J_dot = self.jacobians(model, state["q"], state["qd"], held)
        k, nv = J.shape
        drift = J_dot @ np.array(state["qd"])
        # Scaled so that both halves of the unknowns and of the equations are of one size.
        size = np.abs(M).max()
        lhs = np.block([[M / size, -J.T], [J, np.zeros((k, k))]])
        rhs = np.concatenate([(np.array(state["tau"]) - h) / size, -drift])
        qdd = np.linalg.lstsq(lhs, rhs, rcond=1e-12)[0][:nv]
        force = np.linalg.lstsq(J.T, M @ qdd + h - np.array(state["tau"]), rcond=1e-9)[0]
        scale = max(1, np.abs(answer["qdd"]).max())
        self.assertClose(answer["qdd"], list(qdd), tolerance, scale, f"{model} {held}")
        self.assertClose(list(self.chosen(held, answer["contact_wrenches"])), list(force), tolerance,
                         max(1, np.abs(force).max()), f"{model} {held}")
        self.assertClose(list(J @ np.array(answer["qdd"]) + drift), [0.0] * k, tolerance, scale * max(1, np.abs(J).max()))
        return answer


class Held(ContactCase):
    def random_state(self, model, seed, scale=1.0):
        names = self.ok(self.client.get(f"/v1/models/{model}"))
        s = states(1, names["nv"], names["nq"] > names["nv"], seed)
        return {"q": s["q"][0], "qd": [scale * x for x in s["qd"][0]], "tau": s["tau"][0]}

    def test_against_the_dense_equations(self):
        surroundings = {"wrenches": [{"link": "fore", "force": [3, -2, 5], "torque": [1, 0, 2], "point": [0.1, 0, 0.2]}],
                        "gravity": [1, 2, -9], "payload": {"link": "thigh", "mass": 2, "com": [0.1, 0.2, 0]}}
        cases = [("arm", [{"frame": "tool", "axes": ["x", "z"]}], surroundings),
                 ("arm", [{"frame": "tool", "axes": ["ry"], "reference": "frame"}, {"frame": "thigh", "axes": ["rz"]}], {}),
                 ("flying", [{"frame": "tool"}], surroundings),
                 ("flying", [{"frame": "thigh", "axes": ["z", "x"], "reference": "frame"}, {"frame": "tool", "axes": ["y"]}],
                  {"friction": False}),
                 ("mimicking", [{"frame": "l3", "axes": ["y", "z"]}], {}),
                 ("puma560", [{"frame": "link6"}], {}),
                 ("puma560", [{"frame": "link6", "axes": ["rx", "x"], "reference": "frame"}], {}),
                 ("humanoid", [{"frame": "left_sole"}, {"frame": "right_sole"}], {}),
                 ("solo12", [{"frame": name, "axes": ["x", "y", "z"]} for name in (
                     "FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")], {})]
        for model, held, around in cases:
            for seed in (1, 2):
                with self.subTest(model=model, held=held):
                    self.check_held(model, self.random_state(model, seed), held, around)

    def test_contacts_that_depend_on_each_other(self):
        """As often as frames are held again, the motion is the same; velocities must go with what is held."""
        for model, held in (("flying", [{"frame": "torso"}, {"frame": "tool", "axes": ["x", "y", "z"]}, {"frame": "fore"}]),
                            ("humanoid", [{"frame": "left_sole"}, {"frame": "left_foot"}, {"frame": "right_sole"}]),
                            ("table", [{"frame": f"leg{i}", "axes": ["x", "y", "z"]} for i in range(4)])):
            state = self.random_state(model, 5)
            J, _ = self.jacobians(model, state["q"], state["qd"], held)
            rank, null = rank_and_null_space(J)
            self.assertLess(rank, len(J))
            state["qd"] = list(null @ (null.T @ np.array(state["qd"])))
            with self.subTest(model=model):
                answer = self.check_held(model, state, held, tolerance=1e-8)
                again = self.ask(model, "forward-dynamics", {**state, "held": held + held[:1]})
                self.assertClose(again["qdd"], answer["qdd"], 1e-9, max(1, *map(abs, answer["qdd"])))
                self.assertClose(again["contact_wrenches"][0], again["contact_wrenches"][-1], 1e-8)

    @unittest.skipUnless(FILES, "no robots beside the checkout")
    def test_robots(self):
        for name in FILES:
            if name in ("double_pendulum", "romeo"):    # without inertia: of everything, of a thumb
                continue
            answer = self.client.put(f"/v1/models/{name}?base=floating", read(name), Content_Type="application/xml")
            self.assertIn(answer.status, (200, 201), answer)
            model = self.ok(self.client.get(f"/v1/models/{name}"))
            choose = random.Random(name)
            frames = choose.sample(model["links"], 2)
            held = [{"frame": frames[0], "axes": ["x", "y", "z"]}, {"frame": frames[1], "axes": ["rz", "x"], "reference": "frame"}]
            state = self.random_state(name, 3, 0.5)
            J, _ = self.jacobians(name, state["q"], state["qd"], held)
            rank, null = rank_and_null_space(J)
            if rank < len(J):
                state["qd"] = list(null @ (null.T @ np.array(state["qd"])))
            with self.subTest(robot=name, frames=frames):
                self.check_held(name, state, held, tolerance=1e-7)

    def test_standing(self):
        """The feet of who stands bear the whole weight, and what moves is what they do not bear."""
        held = [{"frame": "left_sole"}, {"frame": "right_sole"}]
        model = self.ok(self.client.get("/v1/models/humanoid"))
        q = UPRIGHT + [0.1] * (model["nq"] - 7)
        zero = [0.0] * model["nv"]
        h = np.array(self.ask("humanoid", "bias", {"q": q})["bias"])
        J, _ = self.jacobians("humanoid", q, zero, held)
        support = np.linalg.lstsq(J[:, :6].T, h[:6], rcond=None)[0]
        tau = h - J.T @ support
        tau[:6] = 0
        answer = self.ask("humanoid", "forward-dynamics", {"q": q, "tau": list(tau), "held": held})
        self.assertClose(answer["qdd"], zero, 1e-9, 1)
        total = np.sum(np.array(answer["contact_wrenches"])[:, :3], axis=0)
        weight = model["mass"] * G
        self.assertClose(list(total), [0, 0, weight], 1e-10)
        # Limp, it falls between its feet: momentum changes by all the forces there are.
        limp = self.ask("humanoid", "forward-dynamics", {"q": q, "tau": zero, "held": held})
        energy = self.ask("humanoid", "energy", {"q": q, "outputs": ["momentum_matrix", "com"]})
        rate = np.array(energy["momentum_matrix"]) @ np.array(limp["qdd"])
        poses = self.ask("humanoid", "kinematics", {"q": q, "frames": ["left_sole", "right_sole"]})["poses"]
        force, moment = np.array([0, 0, -weight]), np.zeros(3)
        for name, wrench in zip(("left_sole", "right_sole"), np.array(limp["contact_wrenches"])):
            force = force + wrench[:3]
            moment = moment + wrench[3:] + np.cross(np.array(poses[name]["position"]) - energy["com"], wrench[:3])
        self.assertClose(list(rate), [*force, *moment], 1e-9)

    def test_rod_with_its_tip_held(self):
        """Across the rod the tip is pushed with m g/2 sin q; along it nothing could move, and nothing pushes."""
        for q in (0.3, 1.2, -0.7):
            answer = self.ask("rod", "forward-dynamics", {"q": [q], "tau": [0], "held": [{"frame": "tip", "axes": AXES[:3]}]})
            push = 2 * G / 2 * math.sin(q)
            self.assertClose(answer["qdd"], [0.0], 1e-12, 1)
            self.assertClose(answer["contact_wrenches"][0], [-push * math.cos(q), 0, push * math.sin(q), 0, 0, 0], 1e-12,
                             what="by the environment, at the tip (-sin q, 0, -cos q)")

    def test_four_legs_share_the_weight(self):
        held = [{"frame": f"leg{i}", "axes": ["z"]} for i in range(4)]
        answer = self.ask("table", "forward-dynamics", {"q": UPRIGHT, "tau": [0] * 6, "held": held})
        self.assertClose(answer["qdd"], [0.0] * 6, 1e-12, 1)
        self.assertClose(answer["contact_wrenches"], [[0, 0, 8 * G / 4, 0, 0, 0]] * 4, 1e-12)
        # Off the middle by a load on the first leg: moments decide, and of what is left the least.
        pushed = self.ask("table", "forward-dynamics", {"q": UPRIGHT, "tau": [0] * 6, "held": held, "wrenches": [
            {"link": "top", "force": [0, 0, -40], "point": [0.3, 0.5, 0]}]})
        forces = [w[2] - 8 * G / 4 for w in pushed["contact_wrenches"]]
        self.assertClose(forces, [30, 10, 10, -10], 1e-11)

    def test_a_skate_keeps_to_its_edge(self):
        """Held across its own axes, what glides and turns is pushed sideways with m v w."""
        stick = {"q": UPRIGHT, "qd": [2, 0, 0, 0, 0, 3], "tau": [0] * 6, "gravity": [0, 0, 0]}
        held = [{"frame": "stick", "axes": ["y"], "reference": "frame"}]
        answer = self.ask("stick", "forward-dynamics", {**stick, "held": held, "payload": {
            "link": "stick", "mass": 0, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1, "xy": 0, "xz": 0, "yz": 0}}})
        self.assertClose(answer["contact_wrenches"], [[0, 3 * 2 * 3, 0, 0, 0, 0]], 1e-12)
        self.assertClose(answer["qdd"], [0.0] * 6, 1e-12, 1)

    def test_joint_wrenches(self):
        """They are those of the motion found, with the contacts among the wrenches."""
        given = [{"link": "fore", "force": [3, -2, 5], "point": [0.1, 0, 0.2]}]
        held = [{"frame": "finger", "axes": ["x", "rz"]}, {"frame": "thigh", "axes": ["y", "z"], "reference": "frame"}]
        for wrenches in ([], given):
            state = {**self.random_state("flying", 4), "wrenches": wrenches}
            answer = self.ask("flying", "forward-dynamics", {**state, "held": held, "outputs": [
                "joint_wrenches", "contact_wrenches", "qdd"]})
            self.assertEqual(list(answer), ["qdd", "joint_wrenches", "contact_wrenches"])
            contacts = [{"link": entry["frame"], "force": w[:3], "torque": w[3:], "frame": axes} for entry, w, axes in zip(
                held, answer["contact_wrenches"], ("world", "link"))]
            motion = {"q": state["q"], "qd": state["qd"], "qdd": answer["qdd"], "wrenches": wrenches + contacts}
            inverse = self.ask("flying", "inverse-dynamics", {**motion, "outputs": ["tau", "joint_wrenches"]})
            self.assertClose(answer["joint_wrenches"], inverse["joint_wrenches"], 1e-12)
            self.assertClose(inverse["tau"], state["tau"], 1e-10)

    def test_outputs(self):
        state, held = self.random_state("arm", 1), [{"frame": "tool", "axes": ["x"]}]
        everything = self.ask("arm", "forward-dynamics", {**state, "held": held, "outputs": [
            "qdd", "joint_wrenches", "contact_wrenches"]})
        for output, value in everything.items():
            alone = self.ask("arm", "forward-dynamics", {**state, "held": held, "outputs": [output]})
            self.assertEqual(alone, {output: value})
        self.assertEqual(list(self.ask("arm", "forward-dynamics", state)), ["qdd"])

    def test_what_does_not_move_is_held_for_nothing(self):
        state = self.random_state("arm", 1)
        answer = self.ask("arm", "forward-dynamics", {**state, "held": [{"frame": "torso"}]})
        self.assertEqual(answer["contact_wrenches"], [[0] * 6])
        self.assertEqual(answer["qdd"], self.ask("arm", "forward-dynamics", state)["qdd"])

    def test_velocities_that_cannot_be_kept(self):
        def bad(model, request, row=None):
            answer = self.client.post(f"/v1/models/{model}/forward-dynamics", request)
            problem = self.assertProblem(answer, 422, "/qd", row)
            self.assertEqual(problem["code"], "contradictory-contacts")
        both = [{"frame": "left", "axes": ["x"]}, {"frame": "right", "axes": ["x"]}]
        turning = {"q": UPRIGHT, "qd": [0, 0, 0, 0, 0, 2], "tau": [0] * 6, "held": both}
        stick = {"q": UPRIGHT, "qd": [1, 2, 3, 0, 0, 0], "tau": [0] * 6, "held": both,
                 "payload": {"link": "stick", "mass": 1, "com": [0, 0.1, 0.1]}}
        self.ask("stick", "forward-dynamics", stick)
        bad("stick", {**stick, "qd": turning["qd"]})
        bad("stick", {**stick, "qd": [stick["qd"], turning["qd"], stick["qd"]]}, row=1)
        stretched = {"q": [0.4, 0], "tau": [0, 0], "held": [{"frame": "link2", "axes": ["x", "y"]}]}
        self.ask("two_link", "forward-dynamics", stretched)
        bad("two_link", {**stretched, "qd": [1, -2]})


def four_bar(closed):
    """Crank, coupler and rocker in a row, the rocker's end on the pin in the ground: closed there by a loop, or loose."""
    bars = [("crank", "ground", 0, 0.04, 0), ("coupler", "crank", 0.04, 0.12, 0.7), ("rocker", "coupler", 0.12, 0.08, -1.9)]
    document = {"gravity": [0, -9.81, 0], "base": {"type": "fixed", "link": "ground"}, "links": [
        {"name": name, "parent": parent,
         "joint": {"name": name + "_joint", "type": "continuous", "axis": [0, 0, 1], "origin": {"xyz": [at, 0, 0]},
                   "friction": {"viscous": 1e-4}, **({"actuated": name == "crank", "home": home} if closed else {})},
         "inertial": {"solid": "box", "size": [length, 0.02, 0.01], "mass": 1.5 * length, "xyz": [length / 2, 0, 0]}}
        for name, parent, at, length, home in bars],
        "frames": [{"name": "pin", "link": "ground", "xyz": [0.1, 0, 0]}, {"name": "end", "link": "rocker", "xyz": [0.08, 0, 0]}]}
    if closed:
        document["loops"] = [{"name": "pivot", "frame_a": "pin", "frame_b": "end", "type": "revolute", "axis": [0, 0, 1]}]
    return document


def closing(angle):
    """The passive joints at a crank angle: where circles about the crank's end and the pin meet, above."""
    crank, pin = 0.04 * np.array([math.cos(angle), math.sin(angle)]), np.array([0.1, 0])
    between = pin - crank
    d = np.linalg.norm(between)
    along = (0.12 ** 2 - 0.08 ** 2 + d * d) / (2 * d)
    meet = crank + along * between / d + math.sqrt(0.12 ** 2 - along ** 2) * np.array([-between[1], between[0]]) / d
    coupler, rocker = (math.atan2(*v[::-1]) for v in (meet - crank, pin - meet))
    return {"coupler_joint": coupler - angle, "rocker_joint": rocker - coupler}


class AgainstLoops(ContactCase):
    def test_four_bar(self):
        """A chain whose end is held where a loop would close it moves as the model with the loop, under the same force; and
        what hits there takes the velocities that the loop allows."""
        self.put_model("closed", four_bar(True))
        self.put_model("open", four_bar(False))
        held = [{"frame": "end", "axes": ["x", "y"]}]
        for angle, speed, torque in ((0.3, 4, 0.2), (2.1, -7, -0.5), (4.0, 0, 1), (5.5, 10, 0)):
            closed = self.ask("closed", "forward-dynamics", {
                "q": [angle], "qd": [speed], "tau": [torque], "guess": closing(angle), "outputs": ["qdd", "full"]})
            full = closed["full"]
            self.assertEqual(full["velocity_names"], ["crank_joint", "coupler_joint", "rocker_joint"])
            opened = self.ask("open", "forward-dynamics", {"q": full["q"], "qd": full["qd"], "tau": [torque, 0, 0],
                                                           "held": held})
            self.assertClose(opened["qdd"], full["qdd"], 1e-9)
            self.assertClose(opened["qdd"][:1], closed["qdd"], 1e-9)
            self.assertClose(opened["contact_wrenches"][0][:2], full["loop_wrenches"][0][:2], 1e-8)
            loose = [speed, 3, -2]
            hit = self.ask("open", "impact", {"q": full["q"], "qd": loose, "held": held})["qd_after"]
            G = np.array(full["G"])[:, 0]
            M = np.array(self.ask("open", "mass-matrix", {"q": full["q"]})["mass_matrix"])
            self.assertClose(hit, list(G * (G @ M @ loose) / (G @ M @ G)), 1e-9, max(map(abs, loose)))

    def test_models_with_loops(self):
        """In such a model, too, frames are held: what holds the crank's end is what is left of its torque."""
        self.put_model("closed", four_bar(True))
        state = {"q": [0.7], "qd": [0], "tau": [0.3], "guess": closing(0.7)}
        answer = self.ask("closed", "forward-dynamics", {**state, "held": [{"frame": "coupler", "axes": ["y"]}]})
        self.assertClose(answer["qdd"], [0.0], 1e-9, 1)
        J = self.ask("closed", "kinematics", {"q": state["q"], "frame": "coupler", "outputs": ["jacobian"]})["jacobian"]
        bias = self.ask("closed", "bias", {"q": state["q"]})["bias"]
        self.assertClose(J[1][0] * answer["contact_wrenches"][0][1], bias[0] - 0.3, 1e-9, 1)
        after = self.ask("closed", "impact", {"q": [0.7], "qd": [2], "guess": closing(0.7), "restitution": 0.5,
                                              "held": [{"frame": "coupler", "axes": ["y"]}]})["qd_after"]
        self.assertClose(after, [-1.0], 1e-12)


class Impact(ContactCase):
    HITS = [("arm", [{"frame": "tool", "axes": ["x", "z"]}]), ("mimicking", [{"frame": "l3", "axes": ["y", "rz"]}]),
            ("flying", [{"frame": "tool"}, {"frame": "thigh", "axes": ["x", "y"], "reference": "frame"}]),
            ("humanoid", [{"frame": "left_sole"}, {"frame": "left_foot"}, {"frame": "right_sole"}]), ("table", [
                {"frame": f"leg{i}", "axes": ["x", "y", "z"]} for i in range(4)])]

    def hit(self, model, held, seed, **more):
        names = self.ok(self.client.get(f"/v1/models/{model}"))
        s = states(1, names["nv"], names["nq"] > names["nv"], seed)
        state = {"q": s["q"][0], "qd": s["qd"][0]}
        return state, self.ask(model, "impact", {**state, "held": held, "outputs": [
            "qd_after", "contact_impulses", "energy_loss"], **more})

    def test_equations(self):
        """M (qd+ - qd) = J^T p, J qd+ = -e J qd, and the energy that is lost is that of the operation energy."""
        for model, held in self.HITS:
            for restitution in (0, 0.4, 1):
                with self.subTest(model=model, restitution=restitution):
                    state, answer = self.hit(model, held, 3, restitution=restitution)
                    J, _ = self.jacobians(model, state["q"], state["qd"], held)
                    M = np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
                    before, after = np.array(state["qd"]), np.array(answer["qd_after"])
                    impulse = self.chosen(held, answer["contact_impulses"])
                    self.assertClose(list(J @ after), list(-restitution * (J @ before)), 1e-9, np.abs(J @ before).max())
                    self.assertClose(list(M @ (after - before)), list(J.T @ impulse), 1e-9)
                    least = np.linalg.lstsq(J.T, J.T @ impulse, rcond=1e-9)[0]
                    self.assertClose(list(impulse), list(least), 1e-8)
                    lost = [self.ask(model, "energy", {"q": state["q"], "qd": list(v)})["kinetic"] for v in (before, after)]
                    self.assertClose(answer["energy_loss"], lost[0] - lost[1], 1e-10, lost[0])
                    self.assertGreaterEqual(answer["energy_loss"], 0)
                    if restitution == 1:
                        self.assertEqual(answer["energy_loss"], 0)

    def test_momentum(self):
        """Of a body that nothing else holds, momentum changes by the impulses, and about its centre of mass by their
        moments."""
        for model, held in self.HITS[2:4]:
            held = [{k: v for k, v in entry.items() if k != "reference"} for entry in held]
            state, answer = self.hit(model, held, 8)
            energy = [self.ask(model, "energy", {"q": state["q"], "qd": qd, "outputs": ["momentum", "com"]})
                      for qd in (state["qd"], answer["qd_after"])]
            poses = self.ask(model, "kinematics", {"q": state["q"], "frames": [entry["frame"] for entry in held]})["poses"]
            change = np.zeros(6)
            for entry, p in zip(held, np.array(answer["contact_impulses"])):
                arm = np.array(poses[entry["frame"]]["position"]) - energy[0]["com"]
                change += [*p[:3], *(p[3:] + np.cross(arm, p[:3]))]
            self.assertClose(list(np.array(energy[1]["momentum"]) - energy[0]["momentum"]), list(change), 1e-10)

    def test_a_stick_falls_on_one_end(self):
        """A slender stick that falls flat at v and hits with one end: its effective mass there is m/4."""
        for e in (0, 0.5, 1):
            answer = self.ask("stick", "impact", {
                "q": UPRIGHT, "qd": [0, 0, -2, 0, 0, 0], "held": [{"frame": "right", "axes": ["z"]}], "restitution": e,
                "payload": {"link": "stick", "mass": 0, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 0, "zz": 0}},
                "outputs": ["qd_after", "contact_impulses", "energy_loss"]})
            p = (1 + e) * 3 / 4 * 2
            self.assertClose(answer["contact_impulses"], [[0, 0, p, 0, 0, 0]], 1e-13)
            self.assertClose(answer["qd_after"], [0, 0, -2 + p / 3, 0, -0.5 * p / (3 / 12), 0], 1e-13)
            self.assertClose(answer["energy_loss"], (1 - e * e) / 2 * 3 / 4 * 4, 1e-13, 1)

    def test_what_stands_still_stays(self):
        answer = self.ask("humanoid", "impact", {"q": UPRIGHT + [0] * 33, "qd": [0] * 39, "held": self.HITS[3][1]})
        self.assertEqual(list(answer), ["qd_after", "contact_impulses"])
        self.assertEqual(answer["qd_after"], [0] * 39)


class Requests(ContactCase):
    HELD = [{"frame": "tool", "axes": ["x", "z"]}, {"frame": "thigh", "axes": ["rz"], "reference": "frame"}]
    ALL = {"forward-dynamics": ["qdd", "joint_wrenches", "contact_wrenches"],
           "impact": ["qd_after", "contact_impulses", "energy_loss"]}

    def requests(self, rows=11, model="flying"):
        s = states(rows, 10 if model == "flying" else 4, model == "flying", 6)
        wrenches = [{"link": "fore", "force": [[1, 2, float(i)] for i in range(rows)]}]
        yield "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": s["tau"], "wrenches": wrenches}
        yield "impact", {"q": s["q"], "qd": s["qd"]}

    def test_same_bits_alone_and_in_a_batch(self):
        for operation, given in self.requests():
            options = {"held": self.HELD, "outputs": self.ALL[operation]}
            batch = self.ask_texts("flying", operation, {**given, **options})
            for row in (0, 7, 10):
                one = {k: v[row] for k, v in given.items() if k != "wrenches"}
                if "wrenches" in given:
                    one["wrenches"] = [{"link": "fore", "force": [1, 2, row]}]
                self.assertEqual(self.ask_texts("flying", operation, {**one, **options}),
                                 {name: value[row] for name, value in batch.items()})

    def test_cbor(self):
        for operation, given in self.requests(3):
            request = {**given, "held": self.HELD, "outputs": self.ALL[operation]}
            answer = self.client.post(f"/v1/models/flying/{operation}", cbor2.dumps(request),
                                      Content_Type="application/cbor", Accept="application/json")
            self.assertEqual(self.ok(answer), self.ask("flying", operation, request))

    def test_order_of_joints(self):
        names = self.ok(self.client.get("/v1/models/arm"))["velocity_names"]
        order = [2, 0, 3, 1]
        for operation, given in self.requests(2, "arm"):
            given.pop("wrenches", None)
            plain = self.ask("arm", operation, {**given, "held": self.HELD})
            turned = self.ask("arm", operation, {
                **{k: [[row[i] for i in order] for row in v] for k, v in given.items()}, "held": self.HELD,
                "joints": [names[i] for i in order]})
            for name, value in plain.items():
                expected = [[row[i] for i in order] for row in value] if name.startswith("q") else value
                self.assertEqual(turned[name], expected, name)

    def test_beside_other_operations(self):
        _, given = next(self.requests(3))
        given = {k: v for k, v in given.items() if k != "wrenches"}
        answer = self.ask("flying", "evaluate", {**given, "operations": {
            "forward-dynamics": {"held": self.HELD}, "impact": {"held": self.HELD, "restitution": 0.5}, "bias": {}}})
        self.assertEqual(answer["forward-dynamics"], self.ask("flying", "forward-dynamics", {**given, "held": self.HELD}))
        self.assertEqual(answer["impact"], self.ask("flying", "impact", {
            "q": given["q"], "qd": given["qd"], "held": self.HELD, "restitution": 0.5}))

    def refused(self, request, pointer, code, operation="forward-dynamics", says=""):
        state = {"q": [0.1] * 4, "qd": [0] * 4, **({"tau": [0] * 4} if operation == "forward-dynamics" else {})}
        problem = self.assertProblem(self.client.post(f"/v1/models/arm/{operation}", {**state, **request}), 422, pointer)
        self.assertEqual(problem["code"], code, problem)
        self.assertIn(says, problem["detail"])

    def test_refusals(self):
        for operation in self.ALL:
            def bad(held, pointer, code, says=""):
                self.refused({"held": held}, pointer, code, operation, says)
            bad(3, "/held", "wrong-type", "array")
            bad([], "/held", "wrong-shape", "1 to 32")
            bad([{"frame": "tool"}] * 33, "/held", "wrong-shape", "33")
            bad(["tool"], "/held/0", "wrong-type", "object")
            bad([{"frame": "tool"}, {}], "/held/1/frame", "missing-field")
            bad([{"frame": "hand"}], "/held/0/frame", "unknown-name", "hand")
            bad([{"frame": 1}], "/held/0/frame", "wrong-type")
            bad([{"frame": "tool", "axis": "x"}], "/held/0/axis", "unknown-field", "axes")
            bad([{"frame": "tool", "axes": []}], "/held/0/axes", "wrong-shape")
            bad([{"frame": "tool", "axes": "x"}], "/held/0/axes", "wrong-type")
            bad([{"frame": "tool", "axes": ["x", "u"]}], "/held/0/axes/1", "unknown-name", "rx")
            bad([{"frame": "tool", "axes": ["x", "y", "x"]}], "/held/0/axes/2", "duplicate-name")
            bad([{"frame": "tool", "reference": "link"}], "/held/0/reference", "bad-value", "world")
        self.refused({"outputs": ["contact_wrenches"]}, "/outputs", "bad-value", says="held")
        self.refused({"restitution": 0.5}, "/restitution", "unknown-field")
        self.refused({}, "/held", "missing-field", "impact")
        for value in (-0.1, 1.1):
            self.refused({"held": self.HELD, "restitution": value}, "/restitution", "bad-value", "impact")
        self.refused({"held": self.HELD, "restitution": "half"}, "/restitution", "wrong-type", "impact")
        self.refused({"held": self.HELD, "gravity": [0, 0, 0]}, "/gravity", "unknown-field", "impact")
        limp = branched()
        limp["links"][-1].pop("inertial")
        self.put_model("limp", limp)
        for operation, given in self.requests(3, "arm"):
            given.pop("wrenches", None)
            problem = self.assertProblem(self.client.post(f"/v1/models/limp/{operation}", {**given, "held": self.HELD}), 422, row=0)
            self.assertEqual(problem["code"], "singular-mass-matrix")

    def test_figures_that_are_too_large(self):
        for operation in self.ALL:
            given = {"q": [0.1] * 4, "qd": [1e200] * 4, "held": self.HELD, "outputs": self.ALL[operation],
                     **({"tau": [0] * 4} if operation != "impact" else {})}
            problem = self.assertProblem(self.client.post(f"/v1/models/arm/{operation}", given), 422)
            self.assertIn(problem["code"], ("result-not-finite", "contradictory-contacts"))


if __name__ == "__main__":
    tap.main()
