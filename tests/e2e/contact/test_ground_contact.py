"""Tests simulations of compliant contacts, points that a plane pushes back by a spring and damper, against closed forms: a block that bounces,
slides, creeps and rests on a slope; and against forward dynamics with the forces of the answer."""
import math

import numpy as np
import tap
from arrays import cross, rotation
from closed import Closed
from held_robots import random_robot

G = 9.81
MASS = 1.7
POINT = {"mass": MASS, "com": [0, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}


def slider(*axes):
    """A block that moves along the axes, with the frame "tip" below its centre."""
    joints = [{"name": name, "type": "prismatic", "axis": axis} for name, axis in axes]
    links = [{"name": f"along_{j['name']}", "parent": "base" if i == 0 else f"along_{joints[i - 1]['name']}", "joint": j,
              **({"inertial": POINT} if i + 1 == len(joints) else {})} for i, j in enumerate(joints)]
    return {"links": links, "frames": [{"name": "tip", "link": links[-1]["name"], "xyz": [0.1, 0.2, -0.3], "rpy": [0.4, 0, 1]}]}


BOX = {"base": {"type": "floating", "link": "box", "inertial": {"solid": "box", "size": [0.4, 0.3, 0.2], "mass": 3}}, "links": []}
CORNERS = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
UP = ("z", [0, 0, 1])
FINE = {"tolerance": 1e-11}


class GroundContact(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_floating_five_bar()
        for name, document in (("up", slider(UP)), ("block", slider(("x", [1, 0, 0]), ("y", [0, 1, 0]), UP)), ("box", BOX),
                               ("tree", random_robot(5))):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status in (200, 201), answer

    def simulate(self, model, request, *outputs, **how):
        return self.ask(model, "simulate", {**request, **({"outputs": list(outputs)} if outputs else {}), **how})

    def test_bounce_without_gravity(self):
        """An elastic contact lasts half a period of mass and spring. With dissipation c the velocities u and e u before and
        after satisfy c u (1 + e) = ln((1 + c u) / (1 - c e u)), whatever mass and stiffness are."""
        u, k, tip = 2.0, 3e4, {"frame": "tip", "position": [0, 0, 0]}
        half = math.pi * math.sqrt(MASS / k)
        start = {"q": [0.3], "qd": [-u], "gravity": [0, 0, 0]}
        a = self.simulate("up", {**start, "duration": half, "times": [half / 2, half], "contacts": [{**tip, "stiffness": k}]},
                          "q", "qd", "contact_forces", **FINE)
        self.assertClose(a["q"], [[0.3 - u * half / math.pi], [0.3]], 1e-8)
        self.assertClose(a["qd"], [[0], [u]], 1e-8, 1)
        self.assertClose(a["contact_forces"][0][0], [0, 0, k * u * half / math.pi], 1e-7, 1)
        for c in (0.1, 0.6, 3):
            after = self.simulate("up", {**start, "duration": 40 * half, "samples": 2, "contacts": [
                {**tip, "stiffness": k, "dissipation": c}]}, "qd", **FINE)["qd"][1][0]
            e = after / u
            self.assertGreater(after, 0)
            self.assertClose(c * u * (1 + e), math.log((1 + c * u) / (1 - c * e * u)), 1e-7)

    def test_bounce_under_gravity(self):
        """An elastic block is back at its height after the fall, the contact and the rise: the contact with the speed u
        lasts 2 sqrt(m / k) (pi / 2 + atan(g sqrt(m / k) / u))."""
        height, k = 0.35, 2e4
        fall, w = math.sqrt(2 * height / G), math.sqrt(k / MASS)
        contact = 2 / w * (math.pi / 2 + math.atan(G / (w * G * fall)))
        period = 2 * fall + contact
        contacts = [{"frame": "tip", "position": [0, 0, 0], "stiffness": k}]
        for how in (FINE, {"step": 5e-5}, {"tolerance": 1e-10, "stiff": True}):
            a = self.simulate("up", {"q": [0.3 + height], "duration": 3 * period, "times": [period, 2 * period, 3 * period],
                                     "contacts": contacts}, "q", "qd", "wrench_work", **how)
            self.assertClose(a["q"], [[0.3 + height]] * 3, 1e-6, 1, str(how))
            self.assertClose(a["qd"], [[0]] * 3, 2e-5, 1, str(how))
            self.assertClose(a["wrench_work"], [0, 0, 0], 2e-5, 1, str(how))

    def test_sliding_block_stops(self):
        """Friction mu N v / sqrt(v^2 + v_s^2): sqrt(v^2 + v_s^2) - v_s asinh(v_s / v) falls by mu g t. With a small slip
        velocity the block stops after v / (mu g), on a way of v^2 / (2 mu g)."""
        k, mu, slip, u = 5e4, 0.4, 0.2, np.array([1.5, -0.8])
        speed = float(np.hypot(*u))
        start = {"q": [0, 0, 0.3 - MASS * G / k], "qd": [*u, 0]}
        contact = {"frame": "tip", "stiffness": k, "friction_coefficient": mu, "slip_velocity": slip}
        a = self.simulate("block", {**start, "duration": 0.5, "samples": 6, "contacts": [contact]}, "times", "qd", "q", **FINE)
        falls = lambda v: math.hypot(v, slip) - slip * math.asinh(slip / v)
        for t, qd in zip(a["times"], a["qd"]):
            self.assertClose(falls(math.hypot(*qd[:2])), falls(speed) - mu * G * t, 1e-7)
            self.assertClose(qd[0] * u[1] - qd[1] * u[0], 0.0, 1e-7, 1)
        stop = speed / (mu * G)
        a = self.simulate("block", {**start, "duration": 1.2 * stop, "times": [0.9 * stop, 1.2 * stop], "contacts": [
            {**contact, "slip_velocity": 1e-5}]}, "q", "qd", "contact_forces", "kinetic", "wrench_work", tolerance=1e-8, stiff=True)
        self.assertClose(math.hypot(*a["qd"][0][:2]), 0.1 * speed, 1e-3)
        self.assertClose(a["q"][1][:2], list(u * speed / (2 * mu * G)), 1e-3)
        self.assertLess(math.hypot(*a["qd"][1]), 1e-6)
        self.assertClose(a["wrench_work"][1], -MASS * speed ** 2 / 2, 1e-4)
        self.assertClose(a["contact_forces"][0][0], [*(-mu * MASS * G * u / speed), MASS * G], 1e-3)

    def test_block_on_a_slope(self):
        """A block on a slope with the tangent t < mu creeps with the speed v_s t / sqrt(mu^2 - t^2); on a steeper slope it accelerates by g
        (sin - mu cos)."""
        k, mu, slip, angle = 5e4, 0.5, 1e-3, 0.35
        c, s = math.cos(angle), math.sin(angle)
        plane = {"point": [0.1, 0, -0.3], "normal": [2 * s, 0, 2 * c]}
        contact = {"frame": "tip", "plane": plane, "stiffness": k, "friction_coefficient": mu, "slip_velocity": slip}
        sunk = MASS * G * c / k
        a = self.simulate("block", {"q": [-sunk * s, 0.7, -sunk * c], "duration": 0.4, "samples": 2, "contacts": [contact]},
                          "qd", "contact_forces", tolerance=1e-9, stiff=True)
        creeps = slip * s / c / math.sqrt(mu ** 2 - (s / c) ** 2)
        self.assertClose(a["qd"][1], [creeps * c, 0, -creeps * s], 1e-4, creeps)
        self.assertClose(a["contact_forces"][1][0], [0, 0, MASS * G], 1e-5, 1)
        steep = {**contact, "friction_coefficient": 0.2, "slip_velocity": 1e-6}
        a = self.simulate("block", {"q": [-sunk * s, 0.7, -sunk * c], "duration": 0.8, "samples": 2, "contacts": [steep]},
                          "qd", tolerance=1e-9, stiff=True)
        fast = G * (s - 0.2 * c) * 0.8
        self.assertClose(a["qd"][1], [fast * c, 0, -fast * s], 1e-4, 1)

    def test_box_comes_to_rest_on_its_corners(self):
        """The corners bear the weight, each a quarter; the energy lost is the work of the contacts."""
        contacts = [{"frame": "box", "position": corner, "stiffness": 2e4, "dissipation": 1, "friction_coefficient": 0.8}
                    for corner in CORNERS]
        q = [0.1, 0.2, 0.25, *(np.array([0.1, 0.05, 0.02, 1]) / math.sqrt(1.0129))]
        a = self.simulate("box", {"q": [float(x) for x in q], "qd": [0.3, 0, 0, 0, 0.4, 0], "duration": 3, "samples": 7,
                                  "contacts": contacts}, "q", "kinetic", "potential", "wrench_work", "contact_forces",
                          tolerance=1e-8, stiff=True)
        self.assertClose([force[2] for force in a["contact_forces"][-1]], [3 * G / 4] * 4, 2e-2)
        self.assertClose(a["q"][-1][2], 0.1 - 3 * G / 4 / 2e4, 1e-4)
        balance = np.add(a["kinetic"], a["potential"]) - a["wrench_work"]
        self.assertClose(list(balance), [balance[0]] * 7, 1e-5)

    def test_forces_move_the_robot(self):
        """For trees and models with loops, qdd must be that of forward dynamics with the answered contact forces as external wrenches."""
        choose = np.random.default_rng(4)
        for model, frames in (("tree", ("l1", "l2", "foot3")), ("borne", ("left_crank", "ground"))):
            nv = self.ok(self.client.get("/v1/models/" + model))["nv"]
            turn = choose.normal(size=4)
            q = [0, 0, 0.3, *(turn / np.linalg.norm(turn)), *([1.9, 1.2] if model == "borne" else choose.uniform(-1, 1, nv - 6))]
            contacts = [{"frame": frame, "position": list(choose.uniform(-0.2, 0.2, 3)), "stiffness": 500, "dissipation": 0.3,
                         "friction_coefficient": 0.7, "plane": {"point": [0, 0, 0.6], "normal": list(choose.uniform(0.1, 1, 3))}}
                        for frame in frames]
            a = self.simulate(model, {"q": [float(x) for x in q], "qd": list(choose.uniform(-1, 1, nv)), "duration": 0.1,
                                      "samples": 3, "step": 1e-3, "contacts": contacts}, "q", "qd", "qdd", "contact_forces")
            self.assertGreater(np.abs(a["contact_forces"]).max(), 1)
            for q, qd, qdd, forces in zip(a["q"], a["qd"], a["qdd"], a["contact_forces"]):
                poses = self.ask(model, "kinematics", {"q": q, "qd": qd, "frames": list(frames), "outputs": ["poses"]})["poses"]
                efforts = self.ask(model, "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd, "outputs": ["tau"]})["tau"]
                for contact, force in zip(contacts, forces):
                    J = np.array(self.ask(model, "kinematics", {"q": q, "frame": contact["frame"], "outputs": ["jacobian"]})["jacobian"])
                    pose = poses[contact["frame"]]
                    arm = np.array(rotation(pose["orientation"])) @ contact["position"]
                    normal = np.array(contact["plane"]["normal"]) / np.linalg.norm(contact["plane"]["normal"])
                    velocity = J @ qd
                    v = velocity[:3] + np.cross(velocity[3:], arm)
                    gap, along = normal @ (pose["position"] + arm - [0, 0, 0.6]), normal @ v
                    push = max(0, -500 * min(gap, 0) * (1 - 0.3 * along))
                    slides = v - along * normal
                    expected = push * normal - 0.7 * push * slides / math.sqrt(slides @ slides + 1e-6)
                    self.assertClose(force, list(expected), 1e-9, 1)
                    efforts = efforts - J.T @ [*force, *cross(arm, force)]
                self.assertLess(np.abs(efforts).max(), 1e-8 * (1 + np.abs(a["contact_forces"]).max()))

    def test_rows_have_the_bits_of_single_requests(self):
        contacts = [{"frame": "tip", "stiffness": 3e3, "dissipation": 0.4, "friction_coefficient": 0.3}]
        rows = [{"q": [0.1 * i, 0, 0.3 + 0.01 * i], "qd": [1, -0.1 * i, -0.5], "gravity": [0.1 * i, 0, -9 - i]} for i in range(9)]
        common = {"duration": 0.2, "step": 1e-3, "samples": 3, "contacts": contacts, "outputs": ["q", "qd", "contact_forces"]}
        shared = [{**row, "gravity": [0, 0, -9.81]} for row in rows]
        for states, how in ((rows, {}), (shared, {}), (shared, {"step": None, "tolerance": 1e-6})):
            request = {name: value for name, value in {**common, **how}.items() if value is not None}
            gravity = [row["gravity"] for row in states] if states is rows else states[0]["gravity"]
            batch = self.ask_texts("block", "simulate", {**request, "q": [r["q"] for r in states], "qd": [r["qd"] for r in states],
                                                         "gravity": gravity})
            for i, row in enumerate(states):
                alone = self.ask_texts("block", "simulate", {**request, **row})
                for name in common["outputs"]:
                    self.assertEqual(batch[name][i], alone[name])

    def test_refusals(self):
        good = {"frame": "tip", "stiffness": 100}
        for change, code, pointer in (
                ({"frame": "top"}, "unknown-name", "/contacts/0/frame"), ({"stiffness": 0}, "bad-value", "/contacts/0/stiffness"),
                ({"dissipation": -1}, "bad-value", "/contacts/0/dissipation"),
                ({"friction_coefficient": -0.1}, "bad-value", "/contacts/0/friction_coefficient"),
                ({"slip_velocity": 0}, "bad-value", "/contacts/0/slip_velocity"),
                ({"plane": {"normal": [0, 0, 0]}}, "bad-value", "/contacts/0/plane/normal"),
                ({"stiffness": None}, "missing-field", "/contacts/0/stiffness"), ({"frame": None}, "missing-field", "/contacts/0/frame")):
            entry = {name: value for name, value in {**good, **change}.items() if value is not None}
            answer = self.client.post("/v1/models/block/simulate", {"q": [0, 0, 0], "duration": 1, "step": 0.1, "samples": 2, "contacts": [entry]})
            self.assertEqual(self.assertProblem(answer, answer.status, pointer)["code"], code)
        request = {"q": [0, 0, 0], "duration": 1, "step": 0.1, "samples": 2, "outputs": ["contact_forces"]}
        self.refused(self.client.post("/v1/models/block/simulate", request), "bad-value", "/outputs/0")
        self.refused(self.client.post("/v1/models/block/simulate", {**request, "contacts": [good] * 65}), "wrong-shape", "/contacts")
        a = self.simulate("block", {"q": [0, 0, 0], "duration": 1, "step": 0.1, "samples": 2, "contacts": []})
        self.assertNotIn("contact_forces", a)


if __name__ == "__main__":
    tap.main()
