"""Tests held frames that roll, and skates: against closed forms of a disc, a sphere, a sleigh and cars, and against the
definition of rolling without slip, differentiated by a complex step in NumPy."""
import math

import numpy as np
import tap
from arrays import rotation
from closed import Closed
from held_robots import random_robot
from scipy.spatial.transform import Rotation

G = 9.81
MASS, RADIUS = 1.7, 0.31
ACROSS, ALONG = 0.25 * MASS * RADIUS ** 2, 0.5 * MASS * RADIUS ** 2 # moments of a thin disc about a diameter and the axle
DISC = {"mass": MASS, "com": [0, 0, 0], "inertia": {"xx": ACROSS, "yy": ALONG, "zz": ACROSS}}
BALL = {"mass": 2.3, "com": [0, 0, 0], "inertia": {axis: 0.4 * 2.3 * 0.2 ** 2 for axis in ("xx", "yy", "zz")}}
# the sleigh: mass (kg), moment of inertia about the vertical, distance of the centre of mass from the edge (m)
HEAVY, TURNS, AHEAD = 3.1, 0.7, 0.4
SLEIGH = {"links": [{"name": "sleigh", "parent": "base", "joint": {"name": "plane", "type": "planar", "axis": [0, 0, 1]},
                     "inertial": {"mass": HEAVY, "com": [AHEAD, 0, 0], "inertia": {"xx": 0.5, "yy": 0.6, "zz": TURNS}}}]}
LENGTH = 2.6
CAR = {"links": [
    {"name": "car", "parent": "base", "joint": {"name": "plane", "type": "planar", "axis": [0, 0, 1]},
     "inertial": {"mass": 900, "com": [1.2, 0, 0.4], "inertia": {"xx": 300, "yy": 900, "zz": 1000}}},
    {"name": "front", "parent": "car", "joint": {"name": "steer", "type": "revolute", "axis": [0, 0, 1],
                                                 "origin": {"xyz": [LENGTH, 0, 0]}},
     "inertial": {"mass": 40, "com": [0, 0, 0.3], "inertia": {"xx": 2, "yy": 2, "zz": 1.5}}}]}
# a wheel of the cart: mass (kg), moment of inertia about its axle, distance from the cart's centre line (m)
WHEEL, SPIN, SIDE = 0.9, 0.021, 0.25
CART = {"links": [
    {"name": "cart", "parent": "base", "joint": {"name": "plane", "type": "planar", "axis": [0, 0, 1],
                                                 "origin": {"xyz": [0, 0, 0.2]}},
     "inertial": {"mass": 7, "com": [0, 0, 0.1], "inertia": {"xx": 0.3, "yy": 0.3, "zz": 0.4}}},
    *({"name": name, "parent": "cart", "joint": {"name": name, "type": "continuous", "axis": [0, 1, 0],
                                                 "origin": {"xyz": [0, y, 0]}},
       "inertial": {"mass": WHEEL, "com": [0, 0, 0], "inertia": {"xx": 0.011, "yy": SPIN, "zz": 0.011}}}
      for name, y in (("left", SIDE), ("right", -SIDE)))]}
ROLLS = {"frame": "wheel", "rolling": {"radius": RADIUS, "axle": [0, 1, 0]}}
EDGE = {"axes": ["y"], "reference": "frame"}
METHODS = {"step": 1e-3}, {"tolerance": 1e-10}, {"tolerance": 1e-9, "stiff": True}


def free(link, inertial):
    return {"base": {"type": "floating", "link": link, "inertial": inertial}, "links": []}


def lever_of(rolling, axle):
    """Returns the vector from the centre to the contact point, by the definition: the lowest point of the rim, or of the sphere."""
    normal = np.array(rolling.get("normal", [0, 0, 1]), float)
    normal = normal / np.sqrt(normal @ normal)
    if axle is None:
        return -rolling["radius"] * normal
    e = normal - (normal @ axle) * axle
    return -rolling["radius"] * e / np.sqrt(e @ e)


def steady(tilt, precession):
    """A disc that rolls in a circle, its axle at `tilt` from the vertical: q, qd and the force at its contact point. The
    axle turns with `precession` about the vertical, the disc with a spin about its axle that balances the moments."""
    c, s = math.cos(tilt), math.sin(tilt)
    spin = c * (ACROSS * precession ** 2 * s - MASS * G * RADIUS) / ((ALONG + MASS * RADIUS ** 2) * precession * s)
    R = np.array([[0, s, c], [1, 0, 0], [0, c, -s]])
    w = spin * R[:, 1] + precession * s * np.array([-c, 0, s])
    q = [0.4, -0.2, RADIUS * s, *Rotation.from_matrix(R).as_quat()]
    qd = [*(R.T @ [0, -RADIUS * spin, 0]), *(R.T @ w)]
    return q, qd, [MASS * RADIUS * spin * precession, 0, MASS * G]


class Rolling(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_floating_five_bar()
        for name, document in (("disc", free("wheel", DISC)), ("ball", free("ball", BALL)), ("sleigh", SLEIGH), ("car", CAR),
                               ("cart", CART), ("tree", random_robot(3))):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status == 201, answer

    def simulate(self, model, request, *outputs, **how):
        return self.ask(model, "simulate", {**request, "outputs": list(outputs), **how})

    def contact(self, model, state, entry, qdd):
        """Returns the Jacobian of the contact point, its acceleration for qdd and the lever, from the frame's motion."""
        motion = self.ask(model, "kinematics", {**state, "qdd": qdd, "frames": [entry["frame"]], "frame": entry["frame"],
                                                "outputs": ["poses", "velocity", "acceleration", "jacobian"]})
        J, velocity, acceleration = (np.array(motion[name]) for name in ("jacobian", "velocity", "acceleration"))
        w, wd, step = velocity[3:], acceleration[3:], 1e-30
        axle = entry["rolling"].get("axle")
        if axle is not None:
            axle = np.array(rotation(motion["poses"][entry["frame"]]["orientation"])) @ (axle / np.linalg.norm(axle))
        lever = lever_of(entry["rolling"], axle)
        rate = 0 * lever if axle is None else np.imag(lever_of(entry["rolling"], axle + 1j * step * np.cross(w, axle))) / step
        moved = J[:3] + np.cross(J[3:].T, lever).T
        return J, moved, acceleration[:3] + np.cross(wd, lever) + np.cross(w, rate), lever

    def check_rolling(self, model, state, held, tau):
        """The accelerations of forward dynamics leave the contact points without acceleration, and balance the efforts with
        forces at these points; inverse dynamics finds those forces from the accelerations."""
        request = {**state, "tau": tau, "held": held}
        a = self.ask(model, "forward-dynamics", request)
        efforts = np.array(self.ask(model, "inverse-dynamics", {**state, "qdd": a["qdd"], "outputs": ["tau"]})["tau"]) - tau
        size = np.abs(efforts).max()
        for entry, wrench in zip(held, a["contact_wrenches"]):
            J, _, acceleration, lever = self.contact(model, state, entry, a["qdd"])
            self.assertClose(list(acceleration), [0.0] * 3, 1e-9 * (1 + np.abs(a["qdd"]).max()), 1)
            self.assertClose(wrench[3:], list(np.cross(lever, wrench[:3])), 1e-11, 1)
            efforts = efforts - J.T @ wrench
        self.assertLess(np.abs(efforts).max(), 1e-9 * (1 + size))
        return a

    def states(self, model, seed, floating=True):
        choose = np.random.default_rng(seed)
        nv = self.ok(self.client.get("/v1/models/" + model))["nv"]
        turn = choose.normal(size=4)
        q = [*choose.normal(size=3), *(turn / np.linalg.norm(turn))]
        q += [1.9, 1.2] if model == "borne" else list(choose.uniform(-1, 1, nv - 6))
        return {"q": [float(x) for x in q], "qd": list(choose.uniform(-1, 1, nv))}, list(choose.uniform(-2, 2, nv))

    def test_contact_points_do_not_accelerate(self):
        """Checks a tree and a model with loops, each at a velocity that is not zero: rows are J qdd + J' qd."""
        for seed in range(8):
            for model, links in (("tree", ("l1", "l3")), ("borne", ("ground", "left_crank"))):
                choose = np.random.default_rng(100 + seed)
                held = [{"frame": links[0], "rolling": {"radius": 0.3, "axle": list(choose.normal(size=3))}},
                        {"frame": links[1], "rolling": {"radius": 0.2, "normal": list(choose.normal(size=3))}}]
                if seed % 2:
                    held[0]["rolling"]["normal"] = list(choose.normal(size=3))
                state, tau = self.states(model, seed)
                with self.subTest(model=model, seed=seed):
                    self.check_rolling(model, state, held[:1 + seed % 2] if model == "tree" else held[seed % 2:][:1], tau)

    def test_delassus_matrix_of_rolling_frames(self):
        """Rows and columns of the matrix of a ball on a slope are along x, y and z of the world. The free ball has M = diag(m, I), so that the
        point at s from its centre has J M^-1 J^T = 1/m + (s.s - s s^T)/I. A further row, the centre held along y, adds 1/m."""
        normal, radius, mass, moment = np.array([0.3, -0.8, 0.5]), 0.2, 2.3, 0.4 * 2.3 * 0.2 ** 2
        s = -radius * normal / np.linalg.norm(normal)
        turn = Rotation.from_rotvec([0.4, -0.9, 0.6])
        point = np.eye(3) / mass + (s @ s * np.eye(3) - np.outer(s, s)) / moment
        expected = np.block([[np.eye(3)[1:2, 1:2] / mass, np.eye(3)[1:2] / mass], [np.eye(3)[:, 1:2] / mass, point]])
        request = {"q": [[0.1, 0.2, 0.3, *turn.as_quat()]] * 3, "qd": [0.3, 0.1, -0.2, 0.5, 0.7, -0.4], "tau": [0] * 6,
                   "held": [{"frame": "ball", "axes": ["y"]}, {"frame": "ball", "rolling": {"radius": radius, "normal": normal.tolist()}}],
                   "outputs": ["delassus"]}
        for damping in 0, 0.3:
            answer = self.ask("ball", "forward-dynamics", {**request, "contact_damping": damping} if damping else request)["delassus"]
            for matrix in answer:
                self.assertClose(matrix, (expected + damping * np.eye(4)).tolist(), 1e-12, np.abs(expected).max())
                self.assertEqual(matrix, np.array(matrix).T.tolist())

    def test_inverse_dynamics_finds_the_force(self):
        """A disc in steady motion: the force at its contact point must be the one that is derived by hand."""
        q, qd, force = steady(1.1, 1.9)
        a = self.ask("disc", "forward-dynamics", {"q": q, "qd": qd, "tau": [0] * 6, "held": [ROLLS]})
        self.assertClose(a["contact_wrenches"][0][:3], force, 1e-10)
        b = self.ask("disc", "inverse-dynamics", {"q": q, "qd": qd, "qdd": a["qdd"], "held": [
            {**ROLLS, "friction_coefficient": 0.9, "least_normal_force": 1}]})
        self.assertClose(b["contact_wrenches"], a["contact_wrenches"], 1e-10)
        self.assertClose(b["tau"], [0.0] * 6, 1e-10, 1)
        self.refused(self.client.post("/v1/models/disc/inverse-dynamics", {"q": q, "qd": qd, "qdd": a["qdd"], "held": [
            {**ROLLS, "friction_coefficient": 0.8 * abs(force[0] / force[2])}]}), "infeasible-contacts")
        self.refused(self.client.post("/v1/models/disc/inverse-dynamics", {"q": q, "qd": qd, "held": [ROLLS]}),
                     "held-frame-accelerates")

    def test_disc_rolls_in_a_circle(self):
        """The centre returns after one turn of the axle; between, the axle keeps its tilt."""
        for tilt, precession in ((1.15, 1.9), (2.2, -2.6)):
            q, qd, _ = steady(tilt, precession)
            for how in METHODS:
                a = self.simulate("disc", {"q": q, "qd": qd, "duration": 2 * math.pi / abs(precession), "samples": 9,
                                           "held": [ROLLS]}, "q", "qd", "kinetic", "potential", **how)
                tilts = [rotation(row[3:])[2][1] for row in a["q"]]
                self.assertClose(tilts, [math.cos(tilt)] * 9, 1e-6, 1, str(how))
                self.assertClose(a["q"][-1][:3], q[:3], 1e-6, 1, str(how))
                self.assertClose([row[2] for row in a["q"]], [q[2]] * 9, 1e-6)
                self.assertClose(list(np.add(a["kinetic"], a["potential"])), [a["kinetic"][0] + a["potential"][0]] * 9, 1e-7)

    def test_contact_point_keeps_its_height(self):
        """In a simulation of a wobbling disc with long steps, the lowest point keeps its height, since the server corrects the position after
        each step."""
        q, qd, _ = steady(1.3, 1.5)
        lean, spin, turn = Rotation.from_quat(q[3:]).as_matrix(), np.array(qd[3:]), [0.3, 0, 0.4]
        w = lean @ (spin + turn)
        v = -np.cross(w, lever_of(ROLLS["rolling"], lean[:, 1]))
        a = self.simulate("disc", {"q": q, "qd": [*(lean.T @ v), *(spin + turn)], "duration": 1, "step": 0.02, "samples": 6,
                                   "held": [ROLLS]}, "q")
        for row in a["q"]:
            lowest = row[2] + lever_of(ROLLS["rolling"], np.array(rotation(row[3:]))[:, 1])[2]
            self.assertClose(lowest, 0.0, 1e-12, 1)

    def test_sphere_rolls_down_a_slope(self):
        """A ball accelerates by 5/7 of the gravity along the slope, and friction is 2/7 of the weight along it."""
        slope = 0.35
        c, s = math.cos(slope), math.sin(slope)
        held = [{"frame": "ball", "rolling": {"radius": 0.2, "normal": [3 * s, 0, 3 * c]}}]
        for how in METHODS:
            a = self.simulate("ball", {"q": [0.1, 0.2, 0.5, 0, 0, 0, 1], "duration": 1.2, "samples": 2, "held": held},
                              "q", "contact_wrenches", **how)
            way = 0.5 * 5 / 7 * G * s * 1.2 ** 2
            self.assertClose(a["q"][1][:3], [0.1 + way * c, 0.2, 0.5 - way * s], 1e-8)
            self.assertClose(a["contact_wrenches"][1][0][:3], [2.3 * G * (c * s - 2 / 7 * s * c), 0,
                                                               2.3 * G * (c * c + 2 / 7 * s * s)], 1e-9)

    def test_chaplygin_sleigh(self):
        """A sleigh on a knife edge behind its centre of mass turns until it slides straight on: v = V tanh(k t + b)."""
        v, w = 0.3, 2.1
        I = TURNS + HEAVY * AHEAD ** 2
        V = math.sqrt(v * v + I * w * w / HEAVY)
        k, b = AHEAD * HEAVY * V / I, math.atanh(v / V)
        for how in METHODS:
            a = self.simulate("sleigh", {"q": [0, 0, 0], "qd": [v, 0, w], "duration": 2, "samples": 5,
                                         "held": [{"frame": "sleigh", **EDGE}]}, "times", "q", "qd", **how)
            along = self.ask("sleigh", "kinematics", {"q": a["q"], "qd": a["qd"], "frame": "sleigh", "reference": "frame",
                                                      "outputs": ["velocity"]})["velocity"]
            for t, qd, moves in zip(a["times"], a["qd"], along):
                self.assertClose(moves[:2], [V * math.tanh(k * t + b), 0], 1e-7, 1, str(how))
                self.assertClose(qd[2], math.sqrt(HEAVY / I) * V / math.cosh(k * t + b), 1e-7, 1)

    def test_car_with_steered_wheels(self):
        """The car's rear axle moves on a circle of the radius L / tan(steering angle); with another steering angle at each
        instant it turns at v tan(angle) / L."""
        held = [{"frame": "car", **EDGE}, {"frame": "front", **EDGE}]
        angle, speed = 0.3, 4.0
        turn = speed * math.tan(angle) / LENGTH
        names = self.ok(self.client.get("/v1/models/car"))["velocity_names"]
        for how in METHODS:
            a = self.simulate("car", {"q": [0, 0, 0, angle], "qd": [speed, 0, turn, 0], "duration": 3, "samples": 4,
                                      "prescribed": {"coordinates": [names[3]], "motion": [angle]}, "held": held},
                              "times", "q", "qd", **how)
            for t, q in zip(a["times"], a["q"]):
                self.assertClose(q[:3], [speed / turn * math.sin(turn * t), speed / turn * (1 - math.cos(turn * t)), turn * t],
                                 1e-7, 1, str(how))
        a = self.simulate("car", {"q": [0, 0, 0, 0], "qd": [speed, 0, 0, 0.5], "duration": 2, "samples": 9, "step": 1e-3,
                                  "prescribed": {"coordinates": [names[3]],
                                                 "motion": {"amplitude": 0.25, "angular_frequency": 2}}, "held": held}, "q", "qd")
        along = self.ask("car", "kinematics", {"q": a["q"], "qd": a["qd"], "frame": "car", "reference": "frame",
                                               "outputs": ["velocity"]})["velocity"]
        for q, qd, moves in zip(a["q"], a["qd"], along):
            self.assertClose(qd[2], moves[0] * math.tan(q[3]) / LENGTH, 1e-9, 1)

    def test_cart_on_two_wheels(self):
        """Equal torques drive the cart straight on, opposite ones turn it on the spot. Both wheels bear the same sideways force, since
        their constraints along the axle are dependent."""
        held = [{"frame": name, "rolling": {"radius": 0.2, "axle": [0, 2, 0]}} for name in ("left", "right")]
        q = [0.3, -0.2, 0.7, 0.4, 1.1]
        straight = self.ask("cart", "forward-dynamics", {"q": q, "tau": [0, 0, 0, 1.5, 1.5], "held": held})
        a = 2 * 1.5 / 0.2 / (7 + 2 * WHEEL + 2 * SPIN / 0.04)
        self.assertClose(straight["qdd"][2:], [0, a / 0.2, a / 0.2], 1e-11, 1)
        turning = self.ask("cart", "forward-dynamics", {"q": q, "tau": [0, 0, 0, -1.5, 1.5], "held": held})
        inertia = 0.4 + 2 * (WHEEL * SIDE ** 2 + 0.011) + 2 * SPIN * (SIDE / 0.2) ** 2
        turn = 2 * 1.5 * SIDE / 0.2 / inertia
        self.assertClose(turning["qdd"][2:], [turn, -turn * SIDE / 0.2, turn * SIDE / 0.2], 1e-11, 1)
        driven = self.simulate("cart", {"q": q, "duration": 1, "samples": 3, "step": 2e-3, "held": held,
                                        "input": {"tau": [0, 0, 0, 1.5, 1.5]}}, "q", "qd")
        self.assertClose(driven["qd"][2][3:], [a / 0.2] * 2, 1e-9)
        self.assertClose(list(np.subtract(driven["q"][2], q)),
                         [a / 2 * math.cos(0.7), a / 2 * math.sin(0.7), 0, a / 0.4, a / 0.4], 1e-9, 1)

    def test_impact_of_a_sphere_that_begins_to_roll(self):
        """After a plastic impact at the contact point, 5/7 of the velocity along the plane remain, as for a sliding ball that suddenly rolls."""
        a = self.ask("ball", "impact", {"q": [0, 0, 0.2, 0, 0, 0, 1], "qd": [1.4, 0, -2, 0, 0, 0],
                                        "held": [{"frame": "ball", "rolling": {"radius": 0.2}}]})
        self.assertClose(a["qd_after"], [1.0, 0, 0, 0, 5, 0], 1e-12, 1)
        self.assertClose(a["contact_impulses"][0], [-2.3 * 0.4, 0, 2.3 * 2, 0, 2.3 * 0.4 * 0.2, 0], 1e-12, 1)

    def test_damped_contact_slips(self):
        """With contact_damping the contact point accelerates by -delta times its force."""
        q, qd, _ = steady(1.2, 2.1)
        state = {"q": q, "qd": list(np.array(qd) + 0.3)}
        a = self.ask("disc", "forward-dynamics", {**state, "tau": [0] * 6, "held": [ROLLS], "contact_damping": 0.02})
        _, _, acceleration, _ = self.contact("disc", state, ROLLS, a["qdd"])
        self.assertClose(list(acceleration), list(-0.02 * np.array(a["contact_wrenches"][0][:3])), 1e-10, 1)
        self.assertClose(a["contact_residual"][0], [*acceleration, 0, 0, 0], 1e-10, 1)

    def test_rows_have_the_bits_of_single_requests(self):
        states = [self.states("tree", seed) for seed in range(11)]
        held = [{"frame": "l3", "rolling": {"radius": 0.3, "axle": [0.1, 1, 0.2], "normal": [0.2, 0.1, 1]}}]
        batch = self.ask_texts("tree", "forward-dynamics", {
            "q": [s["q"] for s, _ in states], "qd": [s["qd"] for s, _ in states], "tau": [tau for _, tau in states], "held": held})
        for i, (state, tau) in enumerate(states):
            alone = self.ask_texts("tree", "forward-dynamics", {**state, "tau": tau, "held": held})
            self.assertEqual(batch["qdd"][i], alone["qdd"])
            self.assertEqual(batch["contact_wrenches"][i], alone["contact_wrenches"])
        discs = [steady(1 + 0.07 * i, 1.5 + 0.1 * i)[:2] for i in range(9)]
        request = {"duration": 0.05, "step": 5e-3, "samples": 2, "held": [ROLLS], "outputs": ["q", "qd", "contact_wrenches"]}
        batch = self.ask_texts("disc", "simulate", {"q": [d[0] for d in discs], "qd": [d[1] for d in discs], **request})
        for i, (q, qd) in enumerate(discs):
            alone = self.ask_texts("disc", "simulate", {"q": q, "qd": qd, **request})
            for name in request["outputs"]:
                self.assertEqual(batch[name][i], alone[name])

    def test_refusals(self):
        q, qd, _ = steady(1.2, 2.1)
        request = {"q": q, "qd": qd, "tau": [0] * 6}
        for rolling, code, pointer in (
                ({"radius": 0}, "bad-value", "/radius"), ({"radius": -1}, "bad-value", "/radius"),
                ({"axle": [0, 1, 0]}, "missing-field", "/radius"), ({"radius": 0.3, "axle": [0, 0, 0]}, "bad-value", "/axle"),
                ({"radius": 0.3, "normal": [0, 0, 0]}, "bad-value", "/normal"),
                ({"radius": 0.3, "normal": [0, 1]}, "wrong-shape", "/normal"), ({"radius": 0.3, "width": 1}, "unknown-field", "")):
            answer = self.client.post("/v1/models/disc/forward-dynamics", {**request, "held": [{"frame": "wheel", "rolling": rolling}]})
            self.assertEqual(self.assertProblem(answer, answer.status)["code"], code, rolling)
            self.assertTrue(answer.json()["pointer"].startswith("/held/0/rolling" + pointer), answer)
        self.refused(self.client.post("/v1/models/disc/forward-dynamics", {**request, "held": [{**ROLLS, "axes": ["x"]}]}),
                     "bad-value", "/held/0/rolling")
        for member in ({"normal": [0, 0, 1]}, {"torsional_friction_coefficient": 1}):
            self.refused(self.client.post("/v1/models/disc/inverse-dynamics", {"q": q, "qd": qd, "held": [{**ROLLS, **member}]}),
                         "bad-value", "/held/0/" + next(iter(member)))
        motion = {"q": q, "qd": qd, "qdd": [0] * 6}
        for operation, fields in (("step", {**request, "step": 1e-3}), ("forward-sensitivity", request), ("sensitivity", motion),
                                  ("torque-derivative", motion),
                                  ("rollout", {"q": q, "qd": qd, "torques": [[0] * 6], "step": 1e-3})):
            self.refused(self.client.post(f"/v1/models/disc/{operation}", {**fields, "held": [ROLLS]}), "not-supported",
                         "/held/0/rolling")
        flat = [0, 0, 0, math.sqrt(0.5), 0, 0, math.sqrt(0.5)]        # the axle is vertical
        for operation in ("forward-dynamics", "inverse-dynamics", "impact"):
            fields = {"q": flat, "qd": [0] * 6, "held": [ROLLS], **({"tau": [0] * 6} if operation == "forward-dynamics" else {})}
            problem = self.refused(self.client.post(f"/v1/models/disc/{operation}", fields), "result-not-finite")
        slips = {"q": q, "qd": [1, 0, 0, 0, 0, 0], "duration": 1, "step": 0.01, "samples": 2, "held": [ROLLS]}
        self.refused(self.client.post("/v1/models/disc/simulate", slips), "contradictory-contacts")


if __name__ == "__main__":
    tap.main()
