"""Tests held frames with redundant constraints, at rest and with measured velocities: forward-dynamics, step, rollout, simulate and the
derivatives choose the same accelerations and wrenches, those of the equations of motion solved as a dense system in NumPy."""
import copy
import itertools
import math

import numpy as np
import tap
from contacts import UPRIGHT, ContactCase
from lagrange import extrapolated
from parallel_robots import quaternion

XYZ = ["x", "y", "z"]
H = 0.004
EULER = "semi_implicit_euler"


def corners(x, y, z):
    return [[sx * x, sy * y, z] for sx in (1, -1) for sy in (1, -1)]


def box(size=1.0, mass=1.0):
    """Returns a box that carries an arm, with a frame at each of its lower corners; `size` and `mass` scale it."""
    def inertial(m, com, *moments):
        return {"mass": m * mass, "com": [size * c for c in com],
                "inertia": dict(zip(("xx", "yy", "zz"), (i * mass * size ** 2 for i in moments)))}
    return {"base": {"type": "floating", "link": "box", "inertial": inertial(5, (0.02, 0.01, 0.03), 0.1, 0.2, 0.25)},
            "links": [{"name": "arm", "parent": "box", "inertial": inertial(1.3, (0.05, 0.02, 0.3), 0.02, 0.03, 0.01),
                       "joint": {"name": "ja", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0, 0.04 * size, 0.1 * size]}}}],
            "frames": [{"name": f"f{i}", "link": "box", "xyz": [size * c for c in p]} for i, p in enumerate(corners(0.3, 0.2, -0.1))]}


def four_corners(names=("f0", "f1", "f2", "f3")):
    return [{"frame": name, "axes": XYZ} for name in names]


def poses(seed=1):
    choose = np.random.default_rng(seed)
    return [UPRIGHT, [0.3, -0.2, 0.1, *quaternion([0, 0, 0.7])], [-0.4, 0.1, 0.2, *quaternion(choose.uniform(-2, 2, 3))]]


class Redundant(ContactCase):
    SCALES = list(itertools.product((1, 1e-3, 1e3), (1, 1e-3, 1e3)))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for i, (size, mass) in enumerate(cls.SCALES):
            cls.client.put(f"/v1/models/box{i}", box(size, mass))
        humanoid = cls.client.get("/v1/models/humanoid/document").json()
        humanoid.pop("name", None)
        humanoid["frames"] += [{"name": f"{side}_corner{i}", "link": f"{side}_foot", "xyz": p} for side in ("left", "right")
                               for i, p in enumerate(corners(0.09, 0.04, -0.06825))]
        cls.client.put("/v1/models/standing", humanoid)
        cls.feet = four_corners([f"{side}_corner{i}" for side in ("left", "right") for i in range(4)])

    # --- the same accelerations everywhere ---------------------------------------------------------------------------------

    def equations(self, model, state, held, **more):
        """Returns M, h, J and J' qd of a state."""
        M = np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
        h = np.array(self.ask(model, "bias", {"q": state["q"], "qd": state["qd"], **more})["bias"])
        J, J_dot = self.jacobians(model, state["q"], state["qd"], held)
        return M, h, J, J_dot @ np.array(state["qd"])

    def check(self, model, state, held, tolerance=1e-9, damping=None, **more):
        """Compares accelerations and wrenches with those by the pseudo-inverse of the constraint rows, each divided by
        its norm. step, simulate and forward-sensitivity must agree."""
        damped = {} if damping is None else {"contact_damping": damping}
        request = {**state, **more, "held": held, **damped}
        answer = self.ask(model, "forward-dynamics", request)
        M, h, J, drift = self.equations(model, state, held, **more)
        free = np.linalg.solve(M, np.array(state["tau"]) - h)
        G, c = J @ np.linalg.solve(M, J.T), J @ free + drift
        if damping is None:
            unit = np.sqrt(np.maximum(np.diag(G), 1e-300))
            l = -np.linalg.pinv(G / np.outer(unit, unit), rcond=1e-10) @ (c / unit) / unit
        else:
            l = -np.linalg.solve(G + damping * np.eye(len(G)), c)
        qdd = free + np.linalg.solve(M, J.T @ l)
        force = l if damping else np.linalg.lstsq(J.T, J.T @ l, rcond=1e-10)[0]
        scale = max(np.abs(free).max(), np.abs(qdd).max())
        self.assertClose(answer["qdd"], list(qdd), tolerance, scale, f"{model} {held}")
        self.assertClose(list(self.chosen(held, answer["contact_wrenches"])), list(force), tolerance, np.abs(force).max(), model)
        if damping:
            left = self.chosen(held, answer["contact_residual"])
            self.assertClose(list(left), list(J @ np.array(answer["qdd"]) + drift), tolerance, np.abs(c).max(), model)
            self.assertClose(list(left), list(-damping * force), tolerance, np.abs(left).max(), model)
        step = self.ask(model, "step", {**request, "step": H, "integrator": EULER, "outputs": ["qd_after"]})["qd_after"]
        self.assertClose(list((np.array(step) - state["qd"]) / H), answer["qdd"], tolerance,
                         max(scale, np.abs(state["qd"]).max() / H), model)
        return answer

    def simulated(self, model, state, held, tolerance=1e-9, **more):
        """Checks that a simulation starts with the acceleration of forward-dynamics."""
        request = {"q": state["q"], "qd": state["qd"], "duration": 0.02, "samples": 3, "held": held, "input": {"tau": state["tau"]}, **more}
        qdd = self.ask(model, "forward-dynamics", {**state, "held": held})["qdd"]
        for how in ({"step": 0.005}, {"tolerance": 1e-7}):
            answer = self.ask(model, "simulate", {**request, **how, "outputs": ["q", "qdd", "contact_wrenches"]})
            self.assertClose(answer["qdd"][0], qdd, tolerance, max(1, np.abs(qdd).max()), model)
            yield answer

    def test_box_on_four_corners(self):
        """In any pose and for any size and mass, the corners carry gravity and the arm's torque, and only the arm
        moves."""
        for i, (size, mass) in enumerate(self.SCALES):
            for q, angle in itertools.product(poses(), (0.0, 0.7)):
                state = {"q": [*(size * x for x in q[:3]), *q[3:], angle], "qd": [0.0] * 7,
                         "tau": [0] * 6 + [0.6 * mass * size * math.cos(3 * angle)]}
                with self.subTest(size=size, mass=mass, q=q):
                    answer = self.check(f"box{i}", state, four_corners(), 1e-8)
                    self.assertLess(np.abs(answer["qdd"][:3]).max(), 1e-9 * 9.81)
                    for speed in (1e-17, 1e-13):  # velocities of the size of rounding errors count as rest
                        noise = np.random.default_rng(i).uniform(-1, 1, 7) * speed * math.sqrt(9.81 / size)
                        moving = {**state, "qd": list(noise * ([size] * 3 + [1] * 4))}
                        self.assertClose(self.check(f"box{i}", moving, four_corners(), 1e-8)["qdd"], answer["qdd"], 1e-8)

    def test_simulated_box(self):
        for q in poses():
            state = {"q": [*q, 0.1], "qd": [0.0] * 7, "tau": [0] * 6 + [0.3]}
            for answer in self.simulated("box0", state, four_corners()):
                self.assertClose([row[:3] for row in answer["q"]], [q[:3]] * 3, 1e-12, 1)
                weight = np.sum(np.array(answer["contact_wrenches"][0])[:, :3], axis=0)
                self.assertGreater(weight[2], 40)

    def test_humanoid_with_four_corners_a_foot(self):
        """24 constraint rows of rank 12, at rest and with velocities that the feet allow."""
        nv = self.ok(self.client.get("/v1/models/standing"))["nv"]
        q = UPRIGHT + [0.1 * math.sin(i) for i in range(nv - 6)]
        tau = [0] * 6 + [5 * math.cos(i) for i in range(nv - 6)]
        rest = {"q": q, "qd": [0.0] * nv, "tau": tau}
        self.check("standing", rest, self.feet, 1e-8)
        J, _ = self.jacobians("standing", q, rest["qd"], self.feet)
        _, s, Vt = np.linalg.svd(J)
        self.assertEqual(int(np.sum(s > 1e-9 * s[0])), 12)
        moving = {**rest, "qd": list(Vt[12:].T @ np.linspace(-1, 1, nv - 12))}
        self.check("standing", moving, self.feet, 1e-8)
        for answer in self.simulated("standing", rest, self.feet, 1e-7):
            poses = self.ask("standing", "kinematics", {"q": answer["q"], "frames": ["left_corner0", "right_corner3"]})["poses"]
            for pose in poses.values():
                self.assertClose(pose["position"], [pose["position"][0]] * 3, 1e-11, 1)

    def test_pendulum_that_is_held(self):
        """A rod held along x and z cannot move: at rest, and with velocities of rounding size, with gravity and
        without."""
        held = [{"frame": "tip", "axes": ["x", "z"]}]
        for q, speed, gravity in itertools.product((0, 0.3, math.pi / 2, -2), (0, 1e-17, -1e-12), ([0, 0, -9.81], [0, 0, 0])):
            state = {"q": [q], "qd": [speed], "tau": [0]}
            request = {**state, "held": held, "gravity": gravity}
            with self.subTest(**request):
                self.assertLess(abs(self.ask("rod", "forward-dynamics", request)["qdd"][0]), 1e-12)
                self.assertLess(abs(self.ask("rod", "step", {**request, "step": H})["qd_after"][0]), 2e-12)
                self.ask("rod", "forward-sensitivity", request)
                self.ask("rod", "rollout", {**{k: v for k, v in request.items() if k != "tau"}, "torques": [[0]] * 3, "step": H})
                for how in ({"step": 0.01}, {"tolerance": 1e-6}):
                    a = self.ask("rod", "simulate", {"q": [q], "qd": [speed], "held": held, "gravity": gravity, "duration": 0.1,
                                                     "samples": 2, **how})
                    self.assertClose(a["q"][-1], [q], 1e-12, 1)

    def test_planar_arm(self):
        """Two frames on one link, with rotational axes; the state's velocity satisfies the constraints."""
        held = [{"frame": "link2", "axes": ["x", "rz"]}, {"frame": "link3", "axes": ["z", "ry"], "reference": "frame"},
                {"frame": "link3", "axes": ["x", "rx"]}]
        state = {"q": [0.4, -0.9, 1.3], "qd": [0.0] * 3, "tau": [1, -2, 0.5]}
        self.check("three_link", state, held, 1e-8)
        one = [{"frame": "link3", "axes": ["z"]}] * 3
        J, _ = self.jacobians("three_link", state["q"], state["qd"], one)
        qd = np.array([0.7, -0.4, 0.9])
        qd -= np.linalg.pinv(J, rcond=1e-9) @ (J @ qd)
        self.check("three_link", {**state, "qd": list(qd)}, one, 1e-8)

    def test_a_frame_near_its_axis(self):
        """A frame within 1e-8 of the reach from the joint axis counts as lying on the axis, in step as in
        forward-dynamics."""
        for distance, moves in ((1e-11, False), (2e-9, False), (5e-8, True), (1e-6, True)):
            document = copy.deepcopy(box())
            document["base"] = {"link": "root"}
            document["links"][0].update(parent="root", joint={"name": "j", "type": "revolute", "axis": [0, 1, 0]})
            document["frames"] = [{"name": "f", "link": "arm", "xyz": [distance, 1, 0]}]
            self.put_model("near", document)
            request = {"q": [0.3], "qd": [0], "tau": [2], "held": [{"frame": "f", "axes": ["x", "z"]}]}
            qdd = self.ask("near", "forward-dynamics", request)["qdd"][0]
            qd = self.ask("near", "step", {**request, "step": H})["qd_after"][0]
            self.assertEqual(abs(qdd) < 1e-3, moves, distance)
            self.assertClose([qd / H], [qdd], 1e-9, 1, str(distance))

    # --- contradictions ----------------------------------------------------------------------------------------------------

    def test_contradictions_name_frames_and_remedy(self):
        """A rotating stick held at both ends along itself: every operation refuses it, in a batch, row by row and in
        evaluate."""
        held = [{"frame": "left", "axes": ["y", "x"]}, {"frame": "right", "axes": ["x", "z"]}]
        good = {"q": UPRIGHT, "qd": [0, 0, 0, 0, 0, 0.0], "tau": [0] * 6}
        load = {"payload": {"link": "stick", "mass": 1, "com": [0, 0.1, 0.1]}, "gravity": [0, 0, 0]}
        for speed in (0.01, 3, 40):
            bad = {**good, "qd": [0, 0, 0, 0, 0, speed]}
            for operation, more in (("forward-dynamics", {}), ("step", {"step": H}), ("step", {"step": H, "integrator": "rk4"}),
                                    ("forward-sensitivity", {})):
                answer = self.client.post(f"/v1/models/stick/{operation}", {**bad, **load, "held": held, **more})
                problem = self.assertProblem(answer, 422)
                self.assertEqual(problem["code"], "contradictory-contacts")
                for word in ("left and right", "that of right along x", "contact_damping"):
                    self.assertIn(word, problem["detail"])
                rows = {**good, **load, "qd": [good["qd"], bad["qd"], good["qd"]], "held": held, **more}
                self.assertProblem(self.client.post(f"/v1/models/stick/{operation}", rows), 422, row=1,
                                   pointer="/q" if operation == "step" else "/qd/1")
                alone = self.ask("stick", operation, {**rows, "on_error": "row"})
                self.assertEqual([e["row"] for e in alone["errors"]], [1])
                self.ask("stick", operation, {**bad, **load, "held": held, **more, "contact_damping": 0.01})
            both = {**bad, **load, "operations": {"forward-dynamics": {"held": held}, "step": {"held": held, "step": H}}}
            self.assertProblem(self.client.post("/v1/models/stick/evaluate", both), 422)
            for options in both["operations"].values():
                options["contact_damping"] = 0.1
            self.assertIn("contact_residual", self.ask("stick", "evaluate", both)["step"])

    # --- damped contacts ---------------------------------------------------------------------------------------------------

    def measured(self, model, seed):
        """Draws a state whose velocities violate the constraints."""
        choose = np.random.default_rng(seed)
        nv = self.ok(self.client.get(f"/v1/models/{model}"))["nv"]
        floating = [0.1, -0.2, 0.3, *quaternion(choose.uniform(-1, 1, 3))]
        return {"q": floating + choose.uniform(-0.5, 0.5, nv - 6).tolist(), "qd": choose.uniform(-0.8, 0.8, nv).tolist(),
                "tau": choose.uniform(-2, 2, nv).tolist()}

    def test_damped_contacts(self):
        """Damped contacts against the dense equations, for axes of the world and of frames, linear and angular
        together."""
        mixed = [{"frame": "f0"}, {"frame": "f1", "axes": ["y", "rx", "z"], "reference": "frame"}, {"frame": "arm", "axes": ["x", "rz"]}]
        for damping in (1e-6, 0.01, 3):
            for held in (four_corners(), mixed):
                for seed in (1, 2):
                    self.check("box0", self.measured("box0", seed), held, 1e-9, damping, gravity=[1, 2, -9])
            self.check("standing", self.measured("standing", 3), self.feet, 1e-9, damping)
            self.check("rod", {"q": [0.3], "qd": [1.5], "tau": [2]}, [{"frame": "tip", "axes": ["x", "z"]}], 1e-9, damping)

    def test_damped_derivatives(self):
        """Compares forward-sensitivity and the matrices A and B of a step with extrapolated differences by coordinates and torques."""
        held = [*four_corners(("f0", "f1", "f2")), {"frame": "f3", "axes": ["y", "rx"], "reference": "frame"}]
        s = {**self.measured("box0", 5), "contact_damping": 0.02, "held": held,
             "wrenches": [{"link": "arm", "force": [1, 2, 3], "torque": [0.1, 0.2, 0.3], "point": [0.1, 0, 0]}]}
        size = 2e-3
        changes = [sign * size / part for part in (1, 2, 4) for sign in (1, -1)]

        def columns(operation, output, name, at, more):
            rows = [[x + (change if i == at else 0) for i, x in enumerate(s[name])] for change in changes]
            return extrapolated(self.ask("box0", operation, {**s, **more, name: rows, "outputs": [output]})[output], size)[..., 0]
        exact = self.ask("box0", "forward-sensitivity", s)
        for name, output, at, column in [("q", "dqdd_dq", 7, 6), *[("qd", "dqdd_dqd", i, i) for i in range(7)],
                                         *[("tau", "dqdd_dtau", i, i) for i in range(7)]]:
            expected = columns("forward-dynamics", "qdd", name, at, {})
            got = np.array(exact[output])[:, column]
            self.assertClose(list(got), list(expected), 1e-8, np.abs(expected).max(), f"{output} {at}")
        for integrator in ("explicit_euler", EULER, "rk4", "implicit_euler"):
            more = {"step": H, "integrator": integrator}
            exact = self.ask("box0", "step", {**s, **more})
            self.assertEqual(list(exact)[-1], "contact_residual")
            for name, matrix, at, column in [("q", "state_matrix", 7, 6), *[("qd", "state_matrix", i, 7 + i) for i in range(7)],
                                             *[("tau", "input_matrix", i, i) for i in range(7)]]:
                expected = columns("step", "qd_after", name, at, more)
                got = np.array(exact[matrix])[7:, column]
                self.assertClose(list(got), list(expected), 1e-8, max(1, np.abs(expected).max()), f"{integrator} {matrix} {at}")

    def test_residual_of_steps(self):
        """The output `residual` of a step must be that of forward-dynamics at the start of the step, or at its end with implicit Euler,
        whichever other outputs are selected."""
        s = {**self.measured("box0", 6), "held": four_corners(), "contact_damping": 0.05}
        start = self.ask("box0", "forward-dynamics", s)["contact_residual"]
        for integrator in ("explicit_euler", EULER, "rk4"):
            answer = self.ask("box0", "step", {**s, "step": H, "integrator": integrator})
            self.assertClose(answer["contact_residual"], start, 1e-10)
        more = {**s, "step": H, "integrator": "implicit_euler"}
        end = self.ask("box0", "step", more)
        there = self.ask("box0", "forward-dynamics", {**s, "q": end["q_after"], "qd": end["qd_after"]})
        self.assertClose(end["contact_residual"], there["contact_residual"], 1e-7)
        alone = self.ask("box0", "step", {**more, "outputs": ["contact_residual"]})
        self.assertEqual(alone["contact_residual"], end["contact_residual"])

    def test_damped_rollout_and_batch(self):
        """Nodes of a rollout are steps; each phase has the residuals of its own frames. A row has the same bits in a
        batch."""
        s, load = self.measured("box0", 7), {"contact_damping": 0.05, "step": H}
        request = {"q": s["q"], "qd": s["qd"], "torques": [s["tau"]] * 3, **load,
                   "phases": [{"steps": 1, "held": four_corners(("f0", "f1"))}, {"steps": 1}, {"steps": 1, "held": four_corners(("f2",))}]}
        nodes = self.ask("box0", "rollout", request)
        first = self.ask("box0", "step", {**s, **load, "held": four_corners(("f0", "f1"))})
        self.assertEqual(nodes["contact_residual"][0], first["contact_residual"])
        self.assertEqual(nodes["contact_residual"][1], [[0] * 6] * 2)
        self.assertEqual(nodes["contact_residual"][2][1], [0] * 6)
        self.assertEqual(nodes["qd_after"][0], first["qd_after"])
        rows = [self.measured("box0", seed) for seed in range(11)]
        batch = {name: [row[name] for row in rows] for name in rows[0]}
        for operation, more in (("forward-dynamics", {}), ("forward-sensitivity", {}), ("step", {"step": H}),
                                ("step", {"step": H, "integrator": "implicit_euler"})):
            request = {**more, "held": four_corners(), "contact_damping": 0.05}
            together = self.ask("box0", operation, {**batch, **request})
            for i in (0, 5, 10):
                self.assertEqual({name: value[i] for name, value in together.items()}, self.ask("box0", operation, {**rows[i], **request}))

    def test_damped_simulation(self):
        """At the samples the residual is that of forward-dynamics. A robot at the limit of its reach does not stop the
        simulation."""
        state = {"q": [*UPRIGHT, 0.4], "qd": [0.0] * 6 + [1.0], "tau": [0] * 7}
        answer = self.ask("box0", "simulate", {"q": state["q"], "qd": state["qd"], "held": four_corners(), "duration": 0.1, "step": 0.01,
                                               "samples": 3, "contact_damping": 0.05})
        for q, qd, wrenches, residual in zip(*(answer[name] for name in ("q", "qd", "contact_wrenches", "contact_residual"))):
            now = self.ask("box0", "forward-dynamics", {"q": q, "qd": qd, "tau": [0] * 7, "held": four_corners(), "contact_damping": 0.05})
            self.assertClose(residual, now["contact_residual"], 1e-9)
            self.assertClose(residual, (-0.05 * np.array(wrenches)).tolist(), 1e-12)

    def final(self, model, request, samples, **more):
        answer = self.ask(model, "simulate", {**request, "samples": samples, **more})
        return np.array(answer["q"][-1] + answer["qd"][-1])

    def test_damped_motion(self):
        """Only the damped accelerations move the frames: the motion is that of rollout, independent of the samples, and
        qd is the derivative of q. The frame may move along the held axis from the start on."""
        h, damped = 0.001, {"held": [{"frame": "link2", "axes": ["x"]}], "contact_damping": 0.5, "friction": False}
        for qd in ([0.0, 0.0], [0.4, -0.3]):
            request = {"q": [0.3, 0.8], "qd": qd, "duration": 0.2, **damped, "input": {"tau": [1, 0.5]}}
            steps = self.ask("two_link", "rollout", {"q": [0.3, 0.8], "qd": qd, "step": h, "integrator": "rk4", "torques": [[1, 0.5]] * 200, **damped})
            expected = np.array(steps["q_after"][-1] + steps["qd_after"][-1])
            for samples in (2, 11, 101):
                self.assertClose(self.final("two_link", request, samples, tolerance=1e-10).tolist(), expected.tolist(), 1e-8)
                self.assertClose(self.final("two_link", request, samples, step=h, integrator="rk4").tolist(), expected.tolist(), 1e-10)
            motion = self.ask("two_link", "simulate", {**request, "samples": 201, "tolerance": 1e-11, "outputs": ["qd", "qdd"]})
            qd, qdd = np.array(motion["qd"]), np.array(motion["qdd"])
            self.assertClose(((qd[2:] - qd[:-2]) / (2 * h)).tolist(), qdd[1:-1].tolist(), 1e-4)

    def test_damped_contacts_of_sticking_joints(self):
        """While some joints stick and contacts are damped, the other joints move as in a rollout with short steps."""
        coulomb = (2, 0.05, 1.5, 0.1)
        self.put_model("sticky", {"links": [
            {"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "joint": {
                "name": f"j{i}", "type": "revolute", "axis": [0, 1, 0] if i % 2 else [1, 0, 0], "origin": {"xyz": [0, 0, 0.3]},
                "friction": {"coulomb": coulomb[i]}},
             "inertial": {"mass": 1, "com": [0.02, 0.01, 0.15], "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.005}}} for i in range(4)],
            "frames": [{"name": "tip", "link": "l3", "xyz": [0, 0, 0.3]}]})
        start = {"q": [0.1, 0.3, -0.2, 0.4], "qd": [0.0] * 4}
        damped, tau, h = {"held": [{"frame": "tip", "axes": ["x", "y"]}], "contact_damping": 0.5}, [0.5, 0.3, 0.2, -0.1], 1e-3
        steps = self.ask("sticky", "rollout", {**start, **damped, "step": h, "friction_at_rest": "stick", "torques": [tau] * 300})
        for more in ({"step": h}, {"tolerance": 1e-8}):
            end = self.final("sticky", {**start, **damped, "duration": 0.3, "input": {"tau": tau}}, 2, **more)
            self.assertClose(end[:4].tolist(), steps["q_after"][-1], 5e-3)
            self.assertEqual([end[0], end[2]], [0.1, -0.2])

    def test_refused_options(self):
        state = {**self.measured("box0", 8), "held": four_corners()}
        for value, code in ((0, "bad-value"), (-1, "bad-value"), ("1", "wrong-type")):
            self.assertEqual(self.assertProblem(self.client.post("/v1/models/box0/forward-dynamics", {**state, "contact_damping": value}), 422,
                                                "/contact_damping")["code"], code)
        for operation, more in (("forward-dynamics", {}), ("step", {"step": H}), ("forward-sensitivity", {})):
            loose = {k: v for k, v in state.items() if k != "held"}
            self.assertProblem(self.client.post(f"/v1/models/box0/{operation}", {**loose, **more, "contact_damping": 1}), 422, "/contact_damping")
        self.assertProblem(self.client.post("/v1/models/box0/forward-dynamics", {**state, "outputs": ["contact_residual"]}), 422, "/outputs/0")
        hit = {k: state[k] for k in ("q", "qd", "held")}
        self.assertEqual(self.assertProblem(self.client.post("/v1/models/box0/impact", {**hit, "contact_damping": 1}), 422)["code"], "unknown-field")
        tiny = {**state, "contact_damping": 1e-15}
        self.assertIn("negligible", self.assertProblem(self.client.post("/v1/models/box0/forward-dynamics", tiny), 422)["detail"])


if __name__ == "__main__":
    tap.main()
