"""Tests simulations of rigid contacts against closed forms: bouncing, sliding, sticking and falling bodies, impacts of one
and of two points; forces against forward dynamics; energies; and what is refused."""
import math

import numpy as np
import tap
from closed import Closed
from test_ground_contact import BOX, CORNERS, G, MASS, UP, slider

FINE = {"tolerance": 1e-11}
TIP = {"frame": "tip", "rigid": True}
SIZE, ROD_MASS = 1.3, 2.0
ROD = {"base": {"type": "floating", "link": "rod", "inertial": {"mass": ROD_MASS, "com": [0, 0, 0], "inertia": {
    "xx": 1e-3, "yy": ROD_MASS * SIZE ** 2 / 12, "zz": ROD_MASS * SIZE ** 2 / 12}}}, "links": []}

# Bodies that hit several planes at once, found by a random search: for these neither projected Gauss-Seidel nor Newton's method started from its
# forces converges. Each row: mass, moments of inertia, velocity, and for each contact its point, normal and friction.
JAMMED = (
    (1.98, (0.32, 0.36, 0.64), [0.36, -6.24, -3.33, 0.7, 4.92, -8.71],
     (([0.01, 0.14, -0.3], [0, 0, 1], 5.18), ([0.49, -0.26, -0.3], [0, 0, 1], 0.38), ([-0.6, 0.88, 0.26], [0, 0, 1], 0.46))),
    (1.874, (0.379, 0.074, 0.391), [-0.73, -0.572, -1.52, -14.378, -33.265, 17.472],
     (([0.103, 0.461, -0.825], [-0.87, 0, 0.492], 3.699), ([-0.183, -0.082, -0.3], [0, 0, 1], 2.004))),
    (2.05, (0.05, 0.35, 0.39), [3.63, 2.38, -2.69, -40.97, -1.71, -0.69],
     (([0.45, -0.02, -0.8], [0, 0, 1], 0), ([-0.95, -0.71, -0.3], [0, -0.27, 0.96], 0), ([0.54, 0.37, 0.44], [0, 0.42, 0.91], 1.12),
      ([-0.05, -0.12, 0.14], [0, 0, 1], 0))),
    (0.638, (0.06, 0.168, 0.133), [6.734, -2.686, -0.827, 7.995, 2.465, 13.129],
     (([-0.076, -0.527, -0.437], [0, 0, 1], 0), ([-0.087, -0.457, 0.586], [0, 0, -1], 0.888),
      ([-0.213, 0.16, 0.251], [0, 0, 1], 0.842))))


def broken_laws(mass, moments, qd, contacts, impulses):
    """The velocity after the impulses, by momentum, and the largest violation of the laws of Signorini and Coulomb as a part of
    the largest impulse or velocity."""
    points = np.array([point for point, *_ in contacts])
    after = np.array(qd) + np.concatenate([impulses.sum(axis=0) / mass, np.cross(points, impulses).sum(axis=0) / moments])
    largest, speed, worst = np.abs(impulses).max(), np.abs(qd).max(), 0
    for (point, normal, friction), impulse in zip(contacts, impulses):
        n, v = np.array(normal) / np.linalg.norm(normal), after[:3] + np.cross(after[3:], point)
        push, leaves = n @ impulse, n @ v
        drag, slip = impulse - push * n, v - leaves * n
        spare = friction * push - np.linalg.norm(drag)
        worst = max(worst, -push / largest, -leaves / speed, abs(push * leaves) / largest / speed, -spare / largest,
                    spare * np.linalg.norm(slip) / largest / speed,
                    (drag @ slip + np.linalg.norm(drag) * np.linalg.norm(slip)) / largest / speed)
    return after, worst


def kinds(events, *wanted):
    return [e for e in events if e["event"] in wanted]


class RigidContact(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_floating_five_bar()
        for name, document in (("up", slider(UP)), ("block", slider(("x", [1, 0, 0]), ("y", [0, 1, 0]), UP)), ("box", BOX),
                               ("rod", ROD)):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status in (200, 201), answer

    def simulate(self, model, request, *outputs, **how):
        return self.ask(model, "simulate", {**request, **({"outputs": list(outputs)} if outputs else {}), **(how or FINE)})

    def test_impulse_of_the_second_of_two_planes(self):
        """A point flies against a leaning wall, far above the floor that is listed first: p = m (1 + e) v along the wall's
        normal, and friction p against the slip."""
        normal, velocity, e, friction = np.array([-0.6, 0.48, 0.64]), np.array([1.3, -0.4, 0.3]), 0.35, 0.2
        place = np.array(self.ask("block", "kinematics", {"q": [0.1, 0.2, 0.4], "frames": ["tip"], "outputs": ["poses"]})["poses"]["tip"]["position"])
        wall = {**TIP, "plane": {"point": (place - 0.2 * normal).tolist(), "normal": normal.tolist()}, "restitution": e, "friction_coefficient": friction}
        a = self.simulate("block", {"q": [0.1, 0.2, 0.4], "qd": velocity.tolist(), "gravity": [0, 0, 0], "duration": 0.5, "samples": 2,
                                    "contacts": [{**TIP, "plane": {"point": [0, 0, -7]}}, wall]}, "qd", "contact_events")
        impact, = kinds(a["contact_events"], "impact")
        push, slip = -MASS * (1 + e) * (velocity @ normal), velocity - (velocity @ normal) * normal
        impulse = push * (normal - friction * slip / np.linalg.norm(slip))
        self.assertEqual(impact["contact"], 1)
        self.assertClose(impact["impulse"], impulse.tolist(), 1e-9)
        self.assertClose(a["qd"][1], (velocity + impulse / MASS).tolist(), 1e-9)

    def test_bouncing_ball(self):
        """After impact k a ball rises to e^(2k) of its height. The ball falls for sqrt(2 h / g) and flies for 2 e^k times that;
        the sum of all flights is the time of rest, and the impulses are m (1 + e) v e^(k - 1)."""
        h, e = 0.8, 0.7
        fall = math.sqrt(2 * h / G)
        rests = fall * (1 + 2 * e / (1 - e))
        a = self.simulate("up", {"q": [0.3 + h], "duration": 1.2 * rests, "times": [0, fall + fall * e, fall * (1 + 2 * e + e * e),
                                                                                     1.2 * rests],
                                 "contacts": [{**TIP, "restitution": e, "resting_speed": 1e-7}]},
                          "q", "qd", "kinetic", "potential", "wrench_work", "contact_forces", "contact_events")
        self.assertClose([q[0] - 0.3 for q in a["q"]], [h, h * e ** 2, h * e ** 4, 0], 1e-8, 1)
        impacts = kinds(a["contact_events"], "impact")
        times = [fall * (1 + 2 * sum(e ** j for j in range(1, k + 1))) for k in range(len(impacts))]
        self.assertGreater(len(impacts), 40)
        self.assertClose([i["time"] for i in impacts], times, 1e-8, 1)
        self.assertClose([i["impulse"] for i in impacts[:20]],
                         [[0, 0, MASS * (1 + e) * G * fall * e ** k] for k in range(20)], 1e-7, 1)
        made = kinds(a["contact_events"], "make")
        self.assertEqual(len(made), 1)
        self.assertClose(made[0]["time"], rests, 1e-6)
        self.assertClose(a["contact_forces"][-1], [[0, 0, MASS * G]], 1e-9, 1)
        balance = np.add(a["kinetic"], a["potential"]) - a["wrench_work"]
        self.assertClose(list(balance), [balance[0]] * 4, 1e-7)

    def test_elastic_and_plastic(self):
        """With e = 1 the ball is back at its height, with e = 0 it stays on the ground."""
        h = 0.35
        fall = math.sqrt(2 * h / G)
        for e, after in ((1, h), (0, 0)):
            for how in (FINE, {"tolerance": 1e-10, "stiff": True}):
                a = self.simulate("up", {"q": [0.3 + h], "duration": 2 * fall, "times": [2 * fall], "contacts": [
                    {**TIP, "restitution": e}]}, "q", "contact_events", **how)
                self.assertClose(a["q"], [[0.3 + after]], 1e-7, 1)
                self.assertEqual([x["event"] for x in a["contact_events"]], ["impact"] if e else ["impact", "make"])

    def test_block_slides_to_rest(self):
        """A block with the speed u stops after u / (mu g), on a way of u^2 / (2 mu g), and sticks there."""
        mu, u = 0.4, np.array([1.5, -0.8])
        speed = float(np.hypot(*u))
        stop = speed / (mu * G)
        for how in (FINE, {"tolerance": 1e-10, "stiff": True}):
            a = self.simulate("block", {"q": [0, 0, 0.3], "qd": [*u, 0], "duration": 2 * stop, "times": [0.5 * stop, 2 * stop],
                                        "contacts": [{**TIP, "friction_coefficient": mu}]},
                              "q", "qd", "contact_forces", "wrench_work", "contact_events", **how)
            self.assertClose(a["qd"], [[*(u / 2), 0], [0, 0, 0]], 1e-7, 1)
            self.assertClose(a["q"][1], [*(u * speed / (2 * mu * G)), 0.3], 1e-7, 1)
            self.assertClose(a["contact_forces"], [[[*(-mu * MASS * G * u / speed), MASS * G]], [[0, 0, MASS * G]]], 1e-6, 1)
            self.assertClose(a["wrench_work"][1], -MASS * speed ** 2 / 2, 1e-7)
            self.assertEqual([x["event"] for x in a["contact_events"]], ["make", "slide", "stick"])
            self.assertClose([x["time"] for x in a["contact_events"]], [0, 0, stop], 1e-7, 1)

    def test_block_on_a_slope(self):
        """A block on a slope below the angle of friction sticks; on a steeper one it accelerates by g (sin - mu cos), and thrown uphill it
        stops and slides back."""
        angle = 0.35
        c, s = math.cos(angle), math.sin(angle)
        down = np.array([c, 0, -s])
        plane = {"point": [0.1, 0, -0.3], "normal": [2 * s, 0, 2 * c]}
        for mu in (0.5, 0.2):
            a = self.simulate("block", {"q": [0, 0.7, 0], "duration": 0.8, "samples": 2, "contacts": [
                {**TIP, "plane": plane, "friction_coefficient": mu}]}, "q", "qd", "contact_forces", "contact_events")
            pull = max(0, G * (s - mu * c))
            self.assertClose(a["qd"][1], list(pull * 0.8 * down), 1e-8, 1)
            self.assertClose(a["q"][1], list([0, 0.7, 0] + pull * 0.32 * down), 1e-8, 1)
            self.assertClose(a["contact_forces"][1], [list([0, 0, MASS * G] + MASS * pull * down)], 1e-7, 1)
            self.assertEqual([x["event"] for x in a["contact_events"]], ["make", "stick" if mu == 0.5 else "slide"])
        u = 1.2
        up, back = G * (s + 0.2 * c), G * (s - 0.2 * c)
        a = self.simulate("block", {"q": [0, 0.7, 0], "qd": list(-u * down), "duration": 1, "samples": 2, "contacts": [
            {**TIP, "plane": plane, "friction_coefficient": 0.2}]}, "qd", "contact_events")
        self.assertClose(a["qd"][1], list(back * (1 - u / up) * down), 1e-7, 1)
        self.assertEqual([x["event"] for x in a["contact_events"]], ["make", "slide"])

    def test_a_growing_force_breaks_away(self):
        """A force that grows by r N/s starts to move the block once it exceeds mu m g, and then accelerates it; a force that
        lifts by r N/s takes it off the ground once it exceeds m g."""
        mu, r = 0.6, 20.0
        signal = lambda *end: {"values": [[0, 0, 0], [x * 2 for x in end]], "times": [0, 2]}
        link = "along_z"
        a = self.simulate("block", {"q": [0, 0, 0.3], "duration": 2, "samples": 2, "contacts": [{**TIP, "friction_coefficient": mu}],
                                    "wrenches": [{"link": link, "force": signal(r, 0, 0)}]}, "qd", "contact_events")
        starts = mu * MASS * G / r
        self.assertEqual([x["event"] for x in a["contact_events"]], ["make", "stick", "slide"])
        self.assertClose(a["contact_events"][2]["time"], starts, 1e-6)
        self.assertClose(a["qd"][1], [r / MASS * (2 - starts) ** 2 / 2, 0, 0], 1e-6, 1)
        a = self.simulate("block", {"q": [0, 0, 0.3], "duration": 2, "samples": 2, "contacts": [{**TIP, "friction_coefficient": mu}],
                                    "wrenches": [{"link": link, "force": signal(0, 0, r)}]}, "qd", "contact_events")
        starts = MASS * G / r
        self.assertEqual([x["event"] for x in a["contact_events"]], ["make", "stick", "break"])
        self.assertClose(a["contact_events"][2]["time"], starts, 1e-6)
        self.assertClose(a["qd"][1], [0, 0, r / MASS * (2 - starts) ** 2 / 2], 1e-6, 1)

    def test_rod_falls_on_its_end(self):
        """A rod at the angle a falls flat out with the speed v. Without friction the impulse at its end is
        (1 + e) v / (1 / m + (l cos a)^2 / (4 I)). With enough friction the end sticks: the impulse solves two equations; with
        little friction it is on the cone."""
        alpha, h, e = 0.6, 0.5, 0.45
        v, m, inertia, half = math.sqrt(2 * G * h), ROD_MASS, ROD_MASS * SIZE ** 2 / 12, SIZE / 2
        arm = np.array([half * math.cos(alpha), -half * math.sin(alpha)])  # right end from the centre, x and z, at the angle alpha about y
        A = np.eye(2) / m + np.outer([arm[1], -arm[0]], [arm[1], -arm[0]]) / inertia
        q = [0, 0, h - arm[1], 0, math.sin(alpha / 2), 0, math.cos(alpha / 2)]
        for mu in (0, 0.05, 5):
            a = self.simulate("rod", {"q": q, "duration": math.sqrt(2 * h / G) + 1e-3, "samples": 2, "contacts": [
                {"frame": "rod", "position": [half, 0, 0], "rigid": True, "restitution": e, "friction_coefficient": mu}]},
                "contact_events")
            before = np.array([0, -v])
            stick = np.linalg.solve(A, [0, (1 + e) * v])
            if mu == 0:
                impulse = np.array([0, (1 + e) * v / A[1, 1]])
            elif mu > 1:
                impulse = stick
            else:
                ray = np.array([mu * math.copysign(1, stick[0]), 1])
                impulse = ray * (1 + e) * v / (A[1] @ ray)
            self.assertLessEqual(float(impulse @ (before + A @ impulse / 2)), 0)
            impact = kinds(a["contact_events"], "impact")[0]
            self.assertClose(impact["time"], math.sqrt(2 * h / G), 1e-9)
            self.assertClose(impact["impulse"], [impulse[0], 0, impulse[1]], 1e-8, 1, f"mu {mu}")

    def test_rocking_block(self):
        """A block that rocks from one edge to the other with e = 0 keeps 1 - 3/2 sin(a)^2 of its rate, a the angle of its
        diagonal (Housner 1963), as long as friction holds it; the old edge lifts off."""
        b, h, mass = 0.1, 0.4, 3.0
        self.client.put("/v1/models/tower", {"base": {"type": "floating", "link": "tower", "inertial": {
            "solid": "box", "size": [2 * b, 0.3, 2 * h], "mass": mass}}, "links": []})
        edges = [{"frame": "tower", "position": [x, 0, -h], "rigid": True, "friction_coefficient": 3} for x in (-b, b)]
        turn, r = 0.05, math.hypot(b, h)  # turned about the right edge
        alpha = math.atan(b / h)
        centre = [b - r * math.sin(alpha - turn), 0, r * math.cos(alpha - turn)]
        a = self.simulate("tower", {"q": [*centre, 0, math.sin(turn / 2), 0, math.cos(turn / 2)], "duration": 0.6,
                                    "samples": 601, "contacts": edges}, "times", "qd", "kinetic", "potential", "contact_events")
        impact = kinds(a["contact_events"], "impact")[0]
        self.assertEqual(impact["contact"], 0)
        rate = math.sqrt(2 * mass * G * r * (math.cos(alpha - turn) * -1 + math.cos(alpha)) / (-4 / 3 * mass * r * r))
        falls = mass * G * r * (math.cos(alpha - turn) - math.cos(alpha))
        self.assertClose(falls, mass * 4 / 3 * r * r * rate ** 2 / 2, 1e-9)
        after = rate * (1 - 1.5 * math.sin(alpha) ** 2)
        k = next(i for i, t in enumerate(a["times"]) if t > impact["time"])
        base = mass * G * h
        energy = a["kinetic"][k] + a["potential"][k] - base
        self.assertClose(energy, mass * 4 / 3 * r * r * after ** 2 / 2, 1e-6, 1)
        self.assertEqual([x["contact"] for x in kinds(a["contact_events"], "break")][:1], [1])
        total = np.add(a["kinetic"], a["potential"])
        self.assertLess(np.diff(total).max(), 1e-7)

    def test_box_tumbles_to_rest(self):
        """A tumbling box loses energy at every sample, and comes to rest with forces that bear its weight inside their cones."""
        contacts = [{"frame": "box", "position": [x, y, z], "rigid": True, "restitution": 0.3, "friction_coefficient": 0.6}
                    for x, y, z in CORNERS + [[x, y, 0.1] for x, y, _ in CORNERS]]
        turn = np.array([0.1, 0.25, 0.02, 1])
        a = self.simulate("box", {"q": [0.1, 0.2, 0.45, *(turn / np.linalg.norm(turn)).tolist()], "qd": [0.6, 0.2, 0, 1.5, 3, 0.4],
                                  "duration": 3, "samples": 301, "contacts": contacts},
                          "q", "qd", "kinetic", "potential", "wrench_work", "contact_forces", tolerance=1e-9)
        total = np.add(a["kinetic"], a["potential"])
        self.assertLess(np.diff(total).max(), 1e-6)
        self.assertClose(list(total - a["wrench_work"]), [float(total[0])] * 301, 1e-5)
        forces = np.array(a["contact_forces"])
        self.assertGreaterEqual(forces[:, :, 2].min(), -1e-7)
        self.assertLessEqual((np.hypot(forces[:, :, 0], forces[:, :, 1]) - 0.6 * forces[:, :, 2]).max(), 1e-6)
        self.assertClose(list(forces[-1].sum(axis=0)), [0, 0, 3 * G], 1e-6, 30)
        self.assertLess(np.abs(a["qd"][-1]).max(), 1e-8)

    def test_standing_box(self):
        """At rest the corners bear a quarter of the weight each, the solution of least norm; tilted gravity adds friction."""
        contacts = [{"frame": "box", "position": corner, "rigid": True, "friction_coefficient": 0.5} for corner in CORNERS]
        start = {"q": [0, 0, 0.1, 0, 0, 0, 1], "duration": 0.5, "samples": 2, "contacts": contacts}
        a = self.simulate("box", start)
        self.assertClose(a["contact_forces"][1], [[0, 0, 3 * G / 4]] * 4, 1e-9, 1)
        self.assertEqual(len(kinds(a["contact_events"], "make", "stick")), 8)
        a = self.simulate("box", {**start, "gravity": [2, 1, -9]}, "q", "contact_forces")
        self.assertClose(list(np.sum(a["contact_forces"][1], axis=0)), [-6, -3, 27], 1e-9, 1)
        self.assertClose(a["q"][1], start["q"], 1e-10, 1)

    def test_quadruped_lands_and_stands(self):
        """A quadruped lands on its feet under a regulator of its joints, and stands: the normal forces add to its weight, the
        tangential ones to zero; the energy is that of the start with the work of actuators and contacts."""
        home = [0, 0, 0.25, 0, 0, 0, 1, 0, 0.8, -1.6, 0, 0.8, -1.6, 0, -0.8, 1.6, 0, -0.8, 1.6]
        weight = self.ok(self.client.get("/v1/models/solo12"))["mass"] * G
        a = self.simulate("solo12", {"q": home, "duration": 1.5, "samples": 7, "contacts": [
            {"frame": f"{leg}_FOOT", "rigid": True, "restitution": 0.2, "friction_coefficient": 0.8} for leg in ("FL", "FR", "HL", "HR")],
            "input": {"controller": "pd_gravity", "kp": [0] * 6 + [20] * 12, "kd": [0] * 6 + [0.4] * 12, "reference": [0] * 6 + home[7:]}},
            "qd", "kinetic", "potential", "actuator_work", "wrench_work", "contact_forces", "contact_events", tolerance=1e-8)
        forces = np.array(a["contact_forces"])
        self.assertClose(list(forces[-1].sum(axis=0)), [0, 0, weight], 1e-6, weight)
        self.assertGreater(forces[-1, :, 2].min(), 0.2 * weight)
        self.assertLess(np.abs(a["qd"][-1]).max(), 1e-6)
        balance = np.add(a["kinetic"], a["potential"]) - a["actuator_work"] - a["wrench_work"]
        self.assertClose(list(balance), [float(balance[0])] * 7, 1e-7)
        self.assertEqual({e["contact"] for e in kinds(a["contact_events"], "make")}, {0, 1, 2, 3})

    def test_compliant_and_rigid_together(self):
        """Contact forces are in the order of the request's contacts. A mass that rests on a rigid contact, above the plane of a compliant one,
        has its whole weight on the rigid contact."""
        soft = {"frame": "tip", "stiffness": 1e3, "plane": {"point": [0, 0, -1]}}
        a = self.simulate("up", {"q": [0.3], "duration": 0.2, "samples": 2, "contacts": [soft, TIP]}, "contact_forces", "contact_events")
        self.assertClose(a["contact_forces"][1], [[0, 0, 0], [0, 0, MASS * G]], 1e-9, 1)
        self.assertEqual([x["contact"] for x in a["contact_events"]], [1])

    def test_restitution_that_would_create_energy(self):
        """Newton's restitution together with Coulomb friction would increase the energy of this arm in an impact. The server reduces the
        restitution by a factor at which the energy stays equal; without friction there is no such factor."""
        request = {"q": [-0.12417987183881585, 1.51147161495604], "qd": [-2.808921117546105, -1.3054431230772445], "duration": 0.25}
        contact = {"frame": "link2", "plane": {"normal": [0, 1, 0]}, "rigid": True, "restitution": 1}
        for mu, is_reduced in ((0.5, True), (0, False)):
            a = self.simulate("two_link", {**request, "samples": 2, "contacts": [{**contact, "friction_coefficient": mu}], **FINE},
                              "kinetic", "potential", "contact_events")
            impact, = (event for event in a["contact_events"] if event["event"] == "impact")
            self.assertEqual("restitution_factor" in impact, is_reduced)
            self.assertTrue(0.9 < impact.get("restitution_factor", 0.97) < 1)
            self.assertClose([a["kinetic"][1] + a["potential"][1]], [a["kinetic"][0] + a["potential"][0]], 1e-7, 1)

    def test_impacts_for_which_sweeps_find_no_impulses(self):
        """A body hits several planes at once, some without friction: the impulses satisfy the laws of contact and friction, and
        the velocity after the impact is that of the momentum."""
        for mass, moments, qd, contacts in JAMMED:
            with self.subTest(mass=mass):
                self.put_model("jammed", {
                    "base": {"type": "floating", "link": "body", "inertial": {"mass": mass, "inertia": dict(zip(("xx", "yy", "zz"), moments))}},
                    "links": [], "frames": [{"name": f"p{k}", "link": "body", "xyz": c[0]} for k, c in enumerate(contacts)]})
                a = self.simulate("jammed", {"q": [0, 0, 0, 0, 0, 0, 1], "qd": qd, "duration": 1e-3, "times": [0], "contacts": [
                    {"frame": f"p{k}", "rigid": True, "friction_coefficient": friction, "plane": {"point": point, "normal": normal}}
                    for k, (point, normal, friction) in enumerate(contacts)]}, "qd", "contact_events", tolerance=1e-6)
                impulses, hits = np.zeros((len(contacts), 3)), kinds(a["contact_events"], "impact")
                self.assertEqual(len({(e["contact"], e["time"]) for e in hits}), len(hits))
                for event in hits:
                    if event["time"] == 0:
                        impulses[event["contact"]] = event["impulse"]
                after, worst = broken_laws(mass, moments, qd, contacts, impulses)
                self.assertClose(a["qd"][0], list(after), 1e-9, 10)
                self.assertLess(worst, 1e-9)

    def test_same_bits_in_a_batch(self):
        """A row of a batch has the bits of a single request, with its events."""
        rows = [[0.3 + 0.1 * k] for k in range(5)]
        request = {"duration": 1, "samples": 5, "contacts": [{**TIP, "restitution": 0.6}], **FINE}
        batch = self.ask("up", "simulate", {"q": rows, **request})
        for k, q in enumerate(rows):
            alone = self.ask("up", "simulate", {"q": q, **request})
            for name in ("q", "qd", "contact_forces", "contact_events"):
                self.assertEqual(alone[name], batch[name][k], name)
        masses = [0.1 * (1 + k) for k in range(5)]
        batch = self.ask("up", "simulate", {"q": rows, **request, "payload": {"link": "along_z", "mass": masses},
                                            "outputs": ["contact_events"]})
        for k, q in enumerate(rows):
            alone = self.ask("up", "simulate", {"q": q, **request, "payload": {"link": "along_z", "mass": masses[k]},
                                                "outputs": ["contact_events"]})
            self.assertEqual(alone["contact_events"], batch["contact_events"][k])

    def test_rows_that_fail_alone(self):
        """With "on_error": "row", a start below the plane fails only this row."""
        a = self.ask("up", "simulate", {"q": [[0.4], [0.2], [0.5]], "duration": 0.2, "samples": 2, "contacts": [TIP],
                                        "on_error": "row", **FINE})
        self.assertEqual([error["row"] for error in a["errors"]], [1])
        self.assertIn("contacts[0] is 0.1 m below its plane", a["errors"][0]["detail"])
        self.assertIsNone(a["contact_events"][1])

    def test_loops(self):
        """A mechanism with a closed loop rests on a rigid contact without actuation: inverse dynamics of the simulated motion must give the
        efforts J^T f of the contact force f."""
        q = [0, 0, 0.3, 0, 0, 0, 1, 1.9, 1.2]
        nv = self.ok(self.client.get("/v1/models/borne"))["nv"]
        poses = self.ask("borne", "kinematics", {"q": q, "frames": ["ground"], "outputs": ["poses"]})["poses"]["ground"]
        y = poses["position"][1]  # gravity acts along -y
        a = self.simulate("borne", {"q": q, "duration": 0.2, "samples": 3, "contacts": [
            {"frame": "ground", "rigid": True, "friction_coefficient": 0.7, "plane": {"point": [0, y, 0], "normal": [0, 1, 0]}}]},
            "q", "qd", "qdd", "contact_forces", tolerance=1e-8)
        self.assertEqual(len(a["qdd"][0]), nv)
        self.assertGreater(a["contact_forces"][-1][0][1], 0.1)
        for q, qd, qdd, forces in zip(a["q"], a["qd"], a["qdd"], a["contact_forces"]):
            J = np.array(self.ask("borne", "kinematics", {"q": q, "frame": "ground", "outputs": ["jacobian"]})["jacobian"])
            tau = self.ask("borne", "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd, "outputs": ["tau"]})["tau"]
            self.assertClose(tau, list(J[:3].T @ forces[0]), 1e-7, 10)

    def refused(self, model, request, code, *words):
        answer = self.client.post(f"/v1/models/{model}/simulate", {"q": [0.4], "duration": 0.1, "samples": 2, **FINE, **request})
        problem = answer.json()
        self.assertEqual((answer.status, problem["code"]), (422, code), problem)
        for word in words:
            self.assertIn(word, problem["detail"])

    def test_refusals(self):
        """Fields that rigid contacts do not work with are refused by name, with a remedy."""
        rigid = {"contacts": [TIP]}
        self.refused("up", {"contacts": [{**TIP, "stiffness": 1e3}]}, "unknown-field", "stiffness")
        self.refused("up", {"contacts": [{**TIP, "restitution": 1.5}]}, "bad-value", "from 0 to 1")
        self.refused("up", {"contacts": [{"frame": "tip"}]}, "missing-field", "rigid")
        self.refused("up", {"contacts": [{"frame": "tip", "stiffness": 1e3}], "outputs": ["contact_events"]}, "bad-value", "rigid")
        self.refused("up", {**rigid, "held": [{"frame": "tip", "axes": ["z"]}]}, "not-supported", "held")
        self.refused("up", {**rigid, "prescribed": {"coordinates": ["z"], "motion": [0.4]}}, "not-supported", "prescribed")
        self.refused("up", {"q": [0.2], **rigid}, "bad-value", "below its plane")
        answer = self.client.post("/v1/models/up/simulate", {"q": [0.4], "duration": 0.1, "step": 1e-3, "samples": 2, **rigid})
        self.assertEqual(answer.status, 422)
        self.assertIn("tolerance", answer.json()["detail"])


if __name__ == "__main__":
    tap.main()
