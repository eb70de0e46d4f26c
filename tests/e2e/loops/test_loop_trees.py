"""Tests loops closed on trees with a moving base, mimic joints, motors and elastic joints; and the same mechanism cut
into different trees."""
import copy

import numpy as np
import tap
from closed import MOTION, Closed, Rocked
from floating import moved
from lagrange import Energies, extrapolated
from linkages import across, turned
from parallel_robots import quaternion, rotation


class Trees(Closed):
    def document(self, model="four_bar"):
        return copy.deepcopy(self.documents[model])

    def rows(self, model, seed, count=10):
        s = self.states(model, count, seed)
        return {n: s[n] for n in MOTION}, list(zip(*(np.array(s[n]) for n in MOTION)))

    def test_moving_base(self):
        """At rest the base carries the forces of both pivots, computed by Newton and Euler."""
        document = self.document()
        document["base"] = {"type": "floating", "link": "ground", "inertial": {"mass": 2, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}
        put = self.put_model("carried", document)
        self.assertEqual((put["nq"], put["nv"]), (8, 7))
        s, rows = self.rows("four_bar", 61)
        still = [0, 0, 0, 0, 0, 0]
        batch = {"q": [[*still, 1, *q] for q in s["q"]], **{n: [still + x for x in s[n]] for n in ("qd", "qdd")}}
        tau = self.ask("carried", "inverse-dynamics", batch)["tau"]
        for r, ((q,), (qd,), (qdd,)) in enumerate(rows):
            torque, (crank, rocker, *_) = self.four.forces(q, qd, qdd)
            force = crank + rocker + [0, 2 * 9.81]
            moment = torque + self.four.d * rocker[1]
            self.near(tau[r], [*force, 0, 0, 0, moment, torque], 1e-10)
        back = self.ask("carried", "forward-dynamics", {"q": batch["q"], "qd": batch["qd"], "tau": tau})["qdd"]
        self.near(back, batch["qdd"], 1e-8)
        # without held frames and gravity the centre of mass does not accelerate
        state = {"q": batch["q"], "qd": batch["qd"]}
        free = self.ask("carried", "forward-dynamics", {**state, "tau": [0] * 7, "gravity": [0, 0, 0]})["qdd"]
        mass = 2 + sum(link["inertial"]["mass"] for link in document["links"])
        a = self.ask("carried", "kinematics", {**state, "qdd": free, "frame": "ground", "outputs": ["acceleration"]})
        for r, ((q,), (qd,), _) in enumerate(rows):
            masses = [bar[0] for bar in (self.four.crank, self.four.rocker, self.four.coupler)]
            moved = [c + free[r][5] * across(p) for c, p in zip(self.four.accelerations(q, qd, free[r][6])[0], self.four.centres(q))]
            self.near(mass * np.array(a["acceleration"][r][:2]) + masses @ np.array(moved), [0, 0], 1e-10, least=1)

    def test_derivatives_on_a_moving_base(self):
        """Derivatives by q along p += R v, R <- R exp(w) against differences, for a five-bar on a moving base."""
        document = self.document("five_bar")
        document["base"] = {"type": "floating", "link": "ground", "inertial": {"mass": 2, "com": [0.1, 0, 0.2],
                                                                                "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}}
        self.put_model("borne", document)
        choose = np.random.default_rng(65)
        start = [0.1, 0.2, 0.3, *quaternion([0.3, -0.4, 0.5]), 2.1, 1.2]
        qd, qdd, tau = (list(choose.uniform(-size, size, 8)) for size in (1, 3, 5))
        pull = [{"link": "right_rod", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "frame": "link"}]
        steps = [sign * 2e-3 / part * e for e in np.eye(8) for part in (1, 2, 4) for sign in (1, -1)]
        near_by = [moved(start, step) for step in steps]
        for operation, output, derivatives, given in (("inverse-dynamics", "tau", "sensitivity", {"qd": qd, "qdd": qdd}),
                                                      ("forward-dynamics", "qdd", "forward-sensitivity", {"qd": qd, "tau": tau})):
            given = {**given, "wrenches": pull}
            name = f"d{output}_d"
            answer = self.ask("borne", derivatives, {"q": start, **given, "outputs": [name + "q", name + "qd"]})
            expected = extrapolated(self.ask("borne", operation, {"q": near_by, **given})[output], 2e-3)
            self.near(answer[name + "q"], expected, 1e-8, output)
            rows = [list(qd + step) for step in steps]
            expected = extrapolated(self.ask("borne", operation, {"q": start, **given, "qd": rows})[output], 2e-3)
            self.near(answer[name + "qd"], expected, 1e-8, output)

    def test_free_coordinates(self):
        """Inverse dynamics with free coordinates must solve M qdd + h = tau for the accelerations of the free coordinates and the efforts
        of the others. A free base falls with the
        centre of mass, and without gravity keeps its momentum."""
        document = self.document("five_bar")
        document["base"] = {"type": "floating", "link": "ground", "inertial": {"mass": 2, "com": [0.1, 0, 0.2],
                                                                                "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}}
        names = self.put_model("adrift", document) and self.ok(self.client.get("/v1/models/adrift"))["velocity_names"]
        choose = np.random.default_rng(66)
        state = {"q": [0.1, 0.2, 0.3, *quaternion([0.3, -0.4, 0.5]), 2.1, 1.2], "qd": list(choose.uniform(-1, 1, 8))}
        M = np.array(self.ask("adrift", "mass-matrix", {"q": state["q"]})["mass_matrix"])
        h = np.array(self.ask("adrift", "bias", state)["bias"])
        for free in ("base", [names[7]], [names[0], names[4], names[6]], names):
            loose = np.array([free == "base" and i < 6 or name in free for i, name in enumerate(names)])
            given, tau = (np.where(which, choose.uniform(-5, 5, 8), 0) for which in (~loose, loose))
            got = self.ask("adrift", "inverse-dynamics", {**state, "free": free, "qdd": list(given), "tau": list(tau)})
            f, d = np.flatnonzero(loose), np.flatnonzero(~loose)
            qdd = given.copy()
            qdd[f] = np.linalg.solve(M[np.ix_(f, f)], tau[f] - h[f] - M[np.ix_(f, d)] @ given[d])
            self.near(got["qdd"], qdd, 1e-9)
            self.near(got["tau"], M @ qdd + h, 1e-9)
            if free == "base":
                self.near(got["base_acceleration"], qdd[:6], 1e-9)
        rest = {**state, "gravity": [0, 0, 0], "free": "base", "qdd": [0] * 6 + [3, -2]}
        qdd = self.ask("adrift", "inverse-dynamics", rest)["qdd"]
        momentum = lambda s: np.array(self.ask("adrift", "energy", {**s, "outputs": ["momentum"]})["momentum"])
        ahead = lambda t: {"q": moved(state["q"], t * np.array(state["qd"]) + t * t / 2 * np.array(qdd)),
                           "qd": list(np.array(state["qd"]) + t * np.array(qdd))}
        self.near((momentum(ahead(1e-5)) - momentum(ahead(-1e-5))) / 2e-5, [0] * 6, 1e-6, least=1)

    def test_mimic(self):
        """The right motor of a five-bar is geared to its left one: q_right = 3.1 - q_left."""
        document = self.document("five_bar")
        document["links"][2]["joint"]["mimic"] = {"joint": "left", "multiplier": -1, "offset": 3.1}
        del document["links"][2]["joint"]["rotor_inertia"], document["links"][2]["joint"]["friction"], document["links"][2]["joint"]["home"]
        del document["links"][0]["joint"]["rotor_inertia"], document["links"][0]["joint"]["friction"]
        self.put_model("geared", document)
        form = copy.copy(self.five)
        form.rotor = form.viscous = 0
        for q, qd, qdd in ((2.0, 1.0, 3.0), (1.8, -2.0, 1.0)):
            both = form.tau(np.array([q, 3.1 - q]), np.array([qd, -qd]), np.array([qdd, -qdd]))
            self.near(self.ask("geared", "inverse-dynamics", {"q": [q], "qd": [qd], "qdd": [qdd]})["tau"], [both[0] - both[1]], 1e-10)

    def test_motors(self):
        """The motor of the coupler's joint, mounted on the coupler, adds the kinetic energy I n^2 k^2 / 2 + I n k w,
        with k the rate of the joint and w the coupler's angular velocity."""
        document = self.document()
        document["motors"] = [{"joint": "coupler_joint", "link": "coupler", "axis": [0, 0, 1], "gear_ratio": 20, "spin_inertia": 1e-6}]
        self.put_model("driven", document)
        bare = self.four

        class Driven(Energies):
            potential = staticmethod(bare.potential)

            def mass_matrix(self, q):
                w3, w4 = bare.ratios(q[0])
                return bare.mass_matrix(q) + 1e-6 * (400 * (w3 - w4)**2 + 2 * 20 * (w3 - w4) * w3)
        form, (s, rows) = Driven(), self.rows("four_bar", 62)
        tau = self.ask("driven", "inverse-dynamics", s)["tau"]
        for r, row in enumerate(rows):
            self.near(tau[r], form.tau(*row), 1e-10)

    def test_elastic_drive(self):
        """A spring between motor and crank: the crank's row contains R = k (q - theta), the motor's row is B theta'' -
        R."""
        document = self.document()
        document["links"][0]["joint"].update({"elastic": {"stiffness": 5, "damping": 0.01}, "rotor_inertia": 3e-4})
        put = self.put_model("soft", document)
        self.assertEqual((put["nq"], put["nv"]), (2, 2))
        s, rows = self.rows("four_bar", 63)
        batch = {n: [[x[0], x[0] + 0.1 * (r + 1)] for r, x in enumerate(s[n])] for n in MOTION}
        tau = self.ask("soft", "inverse-dynamics", batch)["tau"]
        for r, row in enumerate(rows):
            R = -0.1 * (r + 1) * (5 + 0.01)
            motor = 3e-4 * batch["qdd"][r][1] - R
            self.near(tau[r], [self.four.tau(*row)[0] + R, motor], 1e-10)
        back = self.ask("soft", "forward-dynamics", {"q": batch["q"], "qd": batch["qd"], "tau": tau})["qdd"]
        self.near(back, batch["qdd"], 1e-9)

    def test_cut_elsewhere(self):
        """The four-bar cut at the rocker's pivot instead of its usual joint has another tree, and must have the same torques and forces."""
        document = self.document()
        crank, rocker, coupler = document["links"]
        coupler.update(parent="crank", joint={"name": "coupler_joint", "type": "revolute", "axis": [0, 0, 1], "actuated": False,
                                              "home": 0.3, "origin": {"xyz": [self.four.a, 0, 0]}})
        coupler["inertial"]["xyz"] = [0.06, 0, 0]
        rocker.update(parent="coupler", joint={"name": "rocker_joint", "type": "revolute", "axis": [0, 0, 1], "actuated": False,
                                               "home": 1, "origin": {"xyz": [self.four.b, 0, 0]}})
        document["links"] = [crank, coupler, rocker]
        rocker["inertial"]["xyz"] = [-0.04, 0, 0]
        document["frames"] = [{"name": "pivot", "link": "ground", "xyz": [self.four.d, 0, 0]},
                              {"name": "foot", "link": "rocker", "xyz": [-self.four.c, 0, 0]}]
        document["loops"] = [{"name": "pivot_pin", "frame_a": "pivot", "frame_b": "foot", "type": "revolute", "axis": [0, 0, 1]}]
        self.put_model("recut", document)
        s, rows = self.rows("four_bar", 64)
        guess = []
        for (q,), *_ in rows:
            third, fourth = self.four.angles(q)
            guess.append([third - q, fourth - third])
        answer = self.ask("recut", "inverse-dynamics", {**s, "guess": guess, "outputs": ["tau", "joint_wrenches", "full"]})
        for r, ((q,), (qd,), (qdd,)) in enumerate(rows):
            third, fourth = self.four.angles(q)
            torque, (on_crank, on_rocker, _, on_coupler) = self.four.forces(q, qd, qdd)
            self.near(answer["tau"][r], [torque], 1e-10)
            self.near(answer["full"]["loop_wrenches"][r], [[*on_rocker, 0, 0, 0, 0]], 1e-9)
            self.near(answer["joint_wrenches"][r][1], [*turned(-third, on_coupler), 0, 0, 0, 0], 1e-9)

    def test_free_coupler(self):
        """The four-bar's coupler on a planar joint, closed by pins at crank and rocker."""
        document = self.document()
        document["links"][2].update(parent="ground", joint={"name": "coupler_joint", "type": "planar", "axis": [0, 0, 1],
                                                            "actuated": False, "home": [0.1, 0.07, 0.3]})
        document["frames"].append({"name": "rocker_end", "link": "rocker", "xyz": [self.four.c, 0, 0]})
        document["loops"].append({**document["loops"][0], "name": "rocker_pin", "frame_a": "rocker_end", "frame_b": "coupler"})
        self.put_model("pinned", document)
        s, rows = self.rows("four_bar", 66)
        answer = self.ask("pinned", "inverse-dynamics", {**s, "outputs": ["tau", "full"]})
        slopes = [self.ask(model, "sensitivity", s) for model in ("pinned", "four_bar")]
        for name in slopes[0]:
            self.near(slopes[0][name], slopes[1][name], 1e-9, name)
        for r, ((q,), (qd,), (qdd,)) in enumerate(rows):
            torque, forces = self.four.forces(q, qd, qdd)
            self.near(answer["tau"][r], [torque], 1e-10)
            _, fourth = self.four.angles(q)
            between = [[*turned(-q, forces[3]), 0, 0, 0, 0], [*turned(-fourth, forces[2]), 0, 0, 0, 0]]
            self.near(answer["full"]["loop_wrenches"][r], between, 1e-9)


class Platforms(Rocked):
    """The Gough-Stewart platform in two other trees: with three revolute joints in place of a spherical joint, and with the platform on a
    floating joint and six loops."""
    OUTPUTS = (("inverse-dynamics", (*MOTION,), ["tau"]), ("forward-dynamics", ("q", "qd", "tau"), ["qdd"]),
               ("mass-matrix", ("q",), ["mass_matrix", "inverse"]), ("bias", ("q", "qd"), ["bias", "coriolis", "gravity"]),
               ("coriolis", ("q", "qd"), ["coriolis_matrix", "christoffel"]),
               ("torque-derivative", (*MOTION, "qddd"), ["tau_dot"]),
               ("energy", ("q", "qd"), ["kinetic", "potential", "com_velocity", "momentum_matrix"]),
               ("sensitivity", (*MOTION,), ["dtau_dq", "dtau_dqd", "dtau_dqdd"]),
               ("forward-sensitivity", ("q", "qd", "tau"), ["dqdd_dq", "dqdd_dqd"]))

    def variants(self):
        document = copy.deepcopy(self.documents["stewart"])
        place, platform = next((i, link) for i, link in enumerate(document["links"]) if link["name"] == "platform")
        gimbal, parent = [], "rod1"
        for axis, angle in (([0, 1, 0], 0.373), ([1, 0, 0], 0.125), ([0, 0, 1], 0)):
            gimbal.append({"name": f"gimbal{len(gimbal)}", "parent": parent, "joint": {
                "name": f"ball1_{len(gimbal)}", "type": "revolute", "axis": axis, "actuated": False, "home": angle}})
            parent = gimbal[-1]["name"]
        gimbal[-1].update(name="platform", inertial=platform["inertial"])
        links = document["links"]
        yield "gimbal", {**document, "links": links[:place] + gimbal + links[place + 1:]}
        corner = next(frame["xyz"] for frame in document["frames"] if frame["name"] == "centre")
        platform.update(parent="base", joint={"name": "pose", "type": "floating", "actuated": False,
                                              "home": [-corner[0], -corner[1], 0.9, 0, 0, 0, 1]})
        document["loops"].append({"name": "ball1", "frame_a": "platform", "frame_b": "rod1", "type": "spherical"})
        yield "free", document

    def test_same_robot(self):
        s = self.states("stewart", 5, 71)
        expected = {name: self.ask("stewart", name, {**{n: s[n] for n in given}, "outputs": outputs})
                    for name, given, outputs in self.OUTPUTS}
        for model, document in self.variants():
            put = self.put_model(model, document)
            self.assertEqual((put["nq"], put["nv"]), (6, 6))
            for name, given, outputs in self.OUTPUTS:
                answer = self.ask(model, name, {**{n: s[n] for n in given}, "outputs": outputs})
                for output in outputs:
                    self.near(answer[output], expected[name][output], 1e-8, f"{model} {name} {output}")

    def test_pose_is_a_coordinate(self):
        """With the free platform, q of the tree contains the pose, and qd the velocity in the platform's axes."""
        for model, document in self.variants():
            self.put_model(model, document)
        poses = self.poses(5, 72)
        full = self.full("free", self.driven(poses))
        place = full["position_names"].index("pose.x"), full["velocity_names"].index("pose.vx")
        for r, (p, turn, v, w, *_) in enumerate(poses):
            R, b = rotation(turn), self.stewart.b[0]
            self.near(full["q"][r][place[0]:place[0] + 7], [*(p + R @ b), *quaternion(turn)], 1e-10)
            self.near(full["qd"][r][place[1]:place[1] + 6], [*(R.T @ (v + np.cross(w, R @ b))), *(R.T @ w)], 1e-10)


if __name__ == "__main__":
    tap.main()
