"""Tests held frames: against the equations of motion with their constraints solved as a dense system, against statics
by hand and models with loops. Also tests which velocities are accepted and what impacts conserve."""
import math
import random

import numpy as np
import tap
from contacts import AXES, UPRIGHT, ContactCase
from samples import states
from urdf import NAMES, read

G = 9.81


def rank_and_null_space(J):
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > 1e-9 * s[0])) if s.size else 0
    return rank, Vt[rank:].T


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

    def test_every_row_is_held(self):
        """A row of a batch gets the same answer as a request of one row."""
        held = [{"frame": "tool", "axes": ["x", "z"]}, {"frame": "thigh", "axes": ["rz"], "reference": "frame"}]
        for model in ("arm", "flying"):
            rows = [self.random_state(model, seed) for seed in range(1, 12)]
            batch = self.ask(model, "forward-dynamics", {**{name: [row[name] for row in rows] for name in rows[0]}, "held": held})
            for i, row in enumerate(rows):
                alone = self.ask(model, "forward-dynamics", {**row, "held": held})
                self.assertEqual({name: value[i] for name, value in batch.items()}, alone, (model, i))

    def test_contacts_that_depend_on_each_other(self):
        """A frame held redundantly moves as with independent constraints only; a velocity that violates the redundant constraints is refused."""
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

    def test_robots(self):
        for name in NAMES:
            if name in ("double_pendulum", "romeo"):  # links without inertia make the mass matrix singular
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
        """The feet of a standing humanoid bear its weight. Without torques, its centre of mass falls as the contact
        wrenches allow."""
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
        # Without torques: the rate of the centroidal momentum is weight plus contact wrenches.
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
        """A rod on a hinge is held at its tip. The force across the rod is m g/2 sin q. Along the rod the tip cannot move, and the
        minimum-norm force is zero."""
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
        # A load beside the first leg shifts the centre of pressure. The balance of force and moments fixes three combinations of the four
        # forces; the minimum norm fixes the remaining one.
        pushed = self.ask("table", "forward-dynamics", {"q": UPRIGHT, "tau": [0] * 6, "held": held, "wrenches": [
            {"link": "top", "force": [0, 0, -40], "point": [0.3, 0.5, 0]}]})
        forces = [w[2] - 8 * G / 4 for w in pushed["contact_wrenches"]]
        self.assertClose(forces, [30, 10, 10, -10], 1e-11)

    def test_a_skate_keeps_to_its_edge(self):
        """A body that moves with v along its x axis and turns with w, held along its own y axis, needs the lateral force m v w: its centripetal
        force."""
        stick = {"q": UPRIGHT, "qd": [2, 0, 0, 0, 0, 3], "tau": [0] * 6, "gravity": [0, 0, 0]}
        held = [{"frame": "stick", "axes": ["y"], "reference": "frame"}]
        answer = self.ask("stick", "forward-dynamics", {**stick, "held": held, "payload": {
            "link": "stick", "mass": 0, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1, "xy": 0, "xz": 0, "yz": 0}}})
        self.assertClose(answer["contact_wrenches"], [[0, 3 * 2 * 3, 0, 0, 0, 0]], 1e-12)
        self.assertClose(answer["qdd"], [0.0] * 6, 1e-12, 1)

    def test_joint_wrenches(self):
        """Joint wrenches are those of inverse dynamics for the resulting motion with the contact wrenches as external
        wrenches."""
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
            problem = self.assertProblem(answer, 422, "/qd" if row is None else f"/qd/{row}", row)
            self.assertEqual(problem["code"], "contradictory-contacts")
        both = [{"frame": "left", "axes": ["x"]}, {"frame": "right", "axes": ["x"]}]
        turning = {"q": UPRIGHT, "qd": [0, 0, 0, 0, 0, 2], "tau": [0] * 6, "held": both}
        stick = {"q": UPRIGHT, "qd": [1, 2, 3, 0, 0, 0], "tau": [0] * 6, "held": both,
                 "payload": {"link": "stick", "mass": 1, "com": [0, 0.1, 0.1]}}
        self.ask("stick", "forward-dynamics", stick)
        bad("stick", {**stick, "qd": turning["qd"]})
        for speed in (1e-12, 1e-3, 1e6):  # rad/s; only velocities of the size of rounding errors count as rest
            request = {**stick, "qd": [0, 0, 0, 0, 0, speed]}
            bad("stick", request) if speed > 1e-6 else self.ask("stick", "forward-dynamics", request)
            self.ask("stick", "forward-dynamics", {**stick, "qd": [0, 0, 0, speed, 0, 0]})
        along = [{**one, "reference": "frame"} for one in both]
        choose = np.random.default_rng(8)
        # rotation about the line through both frames: the constraints drift by rounding errors only
        for turn in choose.normal(size=(10, 4)):
            spinning = {**stick, "q": [0, 0, 0, *(turn / np.linalg.norm(turn))], "qd": [0, 0, 0, 1e13, 0, 0], "held": along}
            self.ask("stick", "forward-dynamics", spinning)
        bad("stick", {**stick, "qd": [stick["qd"], turning["qd"], stick["qd"]]}, row=1)
        stretched = {"q": [0.4, 0], "tau": [0, 0], "held": [{"frame": "link2", "axes": ["x", "y"]}]}
        self.ask("two_link", "forward-dynamics", stretched)
        bad("two_link", {**stretched, "qd": [1, -2]})


def four_bar(closed):
    """A four-bar as a chain of crank, coupler and rocker on the ground link. `closed` adds the loop that pins the
    rocker's end to the ground."""
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
    """Returns the passive coordinates at a crank angle: the circles about the crank's end and the pin intersect in the
    upper point."""
    crank, pin = 0.04 * np.array([math.cos(angle), math.sin(angle)]), np.array([0.1, 0])
    between = pin - crank
    d = np.linalg.norm(between)
    along = (0.12 ** 2 - 0.08 ** 2 + d * d) / (2 * d)
    meet = crank + along * between / d + math.sqrt(0.12 ** 2 - along ** 2) * np.array([-between[1], between[0]]) / d
    coupler, rocker = (math.atan2(*v[::-1]) for v in (meet - crank, pin - meet))
    return {"coupler_joint": coupler - angle, "rocker_joint": rocker - coupler}


class AgainstLoops(ContactCase):
    def test_four_bar(self):
        """A chain whose end is held at the pin of the loop moves as the model with the loop, with the same force. An
        impact there gives the velocities that the loop allows: G (G^T M qd) / (G^T M G)."""
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

    def test_the_delassus_matrix_maps_efforts_to_accelerations(self):
        """Compares the answered J M^-1 J^T with the product of mass-matrix and Jacobians, for trees, mimics and loops; contact damping adds to
        its diagonal."""
        self.put_model("closed", four_bar(True))
        cases = (("flying", {"q": [0.1, -0.2, 0.3, 0.5, -0.5, 0.5, 0.5, 0.4, -0.3, 0.02, 0.6]}, [
                     {"frame": "fore", "axes": ["z", "rx"]}, {"frame": "thigh", "reference": "frame"}]),
                 ("mimicking", {"q": [0.4, -0.7, 0.9]}, [{"frame": "l3", "axes": ["x", "z"]}]),
                 ("closed", {"q": [0.7], "guess": closing(0.7)}, [{"frame": "coupler", "axes": ["y"]}]))
        for model, state, held in cases:
            M = np.array(self.ask(model, "mass-matrix", state)["mass_matrix"])
            nv = len(M)
            J = np.concatenate([np.array(self.ask(model, "kinematics", {**state, "frame": entry["frame"], "reference": entry.get(
                "reference", "world"), "outputs": ["jacobian"]})["jacobian"])[[AXES.index(axis) for axis in entry.get("axes", AXES)]]
                                for entry in held])
            expected = J @ np.linalg.solve(M, J.T)
            for damping in ({}, {"contact_damping": 0.3}):
                request = {**state, "tau": [0.1] * nv, "held": held, **damping, "outputs": ["delassus"]}
                matrix = self.ask(model, "forward-dynamics", request)["delassus"]
                self.assertClose(matrix, [list(row) for row in expected + damping.get("contact_damping", 0) * np.eye(len(J))], 1e-12,
                                 np.abs(expected).max())
                rows = self.ask(model, "forward-dynamics", {**request, "q": [state["q"]] * 3})["delassus"]
                self.assertEqual(rows, [matrix] * 3)
        answer = self.client.post("/v1/models/flying/forward-dynamics", {**cases[0][1], "tau": [0] * 10, "outputs": ["delassus"]})
        self.assertProblem(answer, 422, "/outputs/0")

    def test_models_with_loops(self):
        """A frame of a model with loops can be held: the contact force balances the crank's torque, by virtual work."""
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


if __name__ == "__main__":
    tap.main()
