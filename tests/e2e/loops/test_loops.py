"""Tests planar mechanisms with closed loops: a four-bar and a five-bar against closed-form geometry, energies, Newton
and Euler for each bar, and published angles."""
import copy
import math

import numpy as np
import tap
from closed import Closed
from lagrange import Energies, derivative, rate
from linkages import G, FiveBar, turned


class FourBarForm(Closed):
    def test_published_angles(self):
        """Norton's example: at 40 degrees the coupler is at 20.30 or -60.98 degrees, the rocker at 57.33 or -98.01
        degrees."""
        q = math.radians(40)
        for guess, third, fourth in (({}, 20.30, 57.33), ({"rocker_joint": -1.7, "coupler_joint": 0.6}, -60.98, -98.01)):
            _, rocker, coupler = np.degrees(self.full("four_bar", {"q": [q], "guess": guess})["q"])
            self.assertAlmostEqual(rocker, fourth, delta=6e-3)
            self.assertAlmostEqual(rocker + coupler, third, delta=6e-3)

    def test_positions(self):
        """Through a whole turn, rocker and coupler are at the angles of Freudenstein's equation."""
        turn = np.linspace(-math.pi, math.pi, 73)
        rows = {"q": [[q] for q in turn]}
        answer = self.ask("four_bar", "kinematics", {**rows, "frames": ["coupler_point", "coupler"]})
        full = self.full("four_bar", rows)
        for r, q in enumerate(turn):
            third, _ = self.four.angles(q)
            self.near(full["q"][r], self.four.tree(q), 1e-12, q)
            self.near(answer["poses"]["coupler_point"]["position"][r], [*self.four.on_coupler(q, self.four.point), 0], 1e-12)
            x, y, z, w = answer["poses"]["coupler"]["orientation"][r]
            self.near([x, y, 2 * math.atan2(z, w)], [0, 0, third], 1e-12)
        self.near(full["residual"], np.zeros(73), 1e-14)

    def test_motion(self):
        s = self.states("four_bar", 20)
        answer = self.ask("four_bar", "kinematics", {
            **{n: s[n] for n in ("q", "qd", "qdd", "qddd")}, "frame": "coupler_point",
            "outputs": ["jacobian", "jacobian_dot", "velocity", "acceleration"]})
        full = self.full("four_bar", {n: s[n] for n in ("q", "qd", "qdd")})
        planar = [0, 1, 5]
        for r, ((q,), (qd,), (qdd,)) in enumerate(zip(s["q"], s["qd"], s["qdd"])):
            ratio = lambda x: self.four.point_ratio(x, self.four.point)
            J, Jd = ratio(q), np.imag(ratio(q + 1e-30j)) / 1e-30 * qd
            for name, column in (("jacobian", J), ("jacobian_dot", Jd), ("velocity", J * qd), ("acceleration", J * qdd + Jd * qd)):
                expected = np.zeros(6)
                expected[planar] = column
                self.near(np.ravel(answer[name][r]), expected, 1e-11, name)
            w = np.array([1, self.four.ratios(q)[1], self.four.ratios(q)[0] - self.four.ratios(q)[1]])
            self.near(np.ravel(full["G"][r]), w, 1e-12)
            self.near(full["qd"][r], w * qd, 1e-12)
            alpha = self.four.accelerations(q, qd, qdd)[1]
            self.near(full["qdd"][r], [alpha[0], alpha[1], alpha[2] - alpha[1]], 1e-11)

    def test_jerk(self):
        s = self.state("four_bar", 3)
        at = {"frame": "coupler_point", "outputs": ["acceleration"]}
        expected = rate(lambda rows: self.ask("four_bar", "kinematics", {**rows, **at})["acceleration"], s)
        given = {n: s[n] for n in ("q", "qd", "qdd", "qddd")}
        self.near(self.ask("four_bar", "kinematics", {**given, **at, "outputs": ["jerk"]})["jerk"], expected, 1e-8)

    def test_dynamics(self):
        self.check_dynamics("four_bar", self.four, 1e-11)

    def test_forces(self):
        """The wrenches in all joints, the cut one included, by Newton and Euler for each bar."""
        s = self.states("four_bar", 20, 2)
        motion = {n: s[n] for n in ("q", "qd", "qdd")}
        answer = self.ask("four_bar", "inverse-dynamics", {**motion, "outputs": ["tau", "joint_wrenches", "full"]})
        forward = self.ask("four_bar", "forward-dynamics", {
            "q": s["q"], "qd": s["qd"], "tau": answer["tau"], "outputs": ["qdd", "joint_wrenches", "full"]})
        for r, ((q,), (qd,), (qdd,)) in enumerate(zip(s["q"], s["qd"], s["qdd"])):
            third, fourth = self.four.angles(q)
            tau, forces = self.four.forces(q, qd, qdd)
            self.assertAlmostEqual(answer["tau"][r][0], tau, delta=1e-11)
            row = lambda angle, force, moment: [*turned(-angle, force), 0, 0, 0, moment]
            expected = [row(q, forces[0], tau), row(fourth, forces[1], 0), row(third, forces[2], 0)]
            self.near(answer["joint_wrenches"][r], expected, 1e-10)
            self.near(forward["joint_wrenches"][r], expected, 1e-9)
            for full in answer["full"], forward["full"]:
                self.near(full["loop_wrenches"][r], [row(q, forces[3], 0)], 1e-9)

    def test_torque_rate(self):
        s = self.states("four_bar", 5, 4)
        given = {n: s[n] for n in ("q", "qd", "qdd", "qddd")}
        answer = self.ask("four_bar", "torque-derivative", given)
        for r in range(5):
            expected = rate(lambda rows: [self.four.tau(*map(np.array, z)) for z in zip(*(rows[n] for n in ("q", "qd", "qdd")))],
                            {n: x[r] for n, x in given.items()})
            self.near(answer["tau_dot"][r], expected, 1e-8)
        self.assertEqual(answer["tau"], self.ask("four_bar", "inverse-dynamics", {n: s[n] for n in ("q", "qd", "qdd")})["tau"])

    def test_loads(self):
        """Compares with the closed form under wrenches, a payload and another gravity, with friction, a spring and a rotor at passive
        joints."""
        document = copy.deepcopy(self.documents["four_bar"])
        _, rocker, coupler = (link["joint"] for link in document["links"])
        rocker.update({"friction": {"viscous": 0.3}, "rotor_inertia": 2e-4})
        coupler["spring"] = {"stiffness": 2, "damping": 0.1, "rest": 0.2}
        self.put_model("dressed", document)
        bare, hung = self.four, np.array([0.02, 0.03])

        class Dressed(Energies):
            def mass_matrix(self, q):
                v = bare.point_ratio(q[0], hung)
                return bare.mass_matrix(q) + 0.5 * v[:2] @ v[:2] + 0.01 * v[2]**2 + 2e-4 * bare.ratios(q[0])[1]**2

            def potential(self, q):
                third, fourth = bare.angles(q[0])
                height = bare.potential(q) / G + 0.5 * bare.on_coupler(q[0], hung)[1]
                return 2 * height + (third - fourth - 0.2)**2

        s, form, pull = self.states("four_bar", 10, 5), Dressed(), np.array([3, -2, 0.4])
        loads = {"gravity": [0, -2, 0], "payload": {"link": "coupler", "mass": 0.5, "com": [*hung, 0], "inertia": {"zz": 0.01}},
                 "wrenches": [{"link": "coupler", "point": [*bare.point, 0], "force": [3, -2, 0], "torque": [0, 0, 0.4]}]}
        motion = {n: s[n] for n in ("q", "qd", "qdd")}
        tau = self.ask("dressed", "inverse-dynamics", {**motion, **loads})["tau"]
        free = self.ask("dressed", "inverse-dynamics", {**motion, **loads, "friction": False})["tau"]
        back = self.ask("dressed", "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": tau, **loads})["qdd"]
        self.near(back, s["qdd"], 1e-9)
        for r, (q, qd, qdd) in enumerate(zip(*(np.array(s[n]) for n in ("q", "qd", "qdd")))):
            w3, w4 = bare.ratios(q[0])
            expected = form.tau(q, qd, qdd) - bare.point_ratio(q[0], bare.point) @ pull + 0.1 * (w3 - w4)**2 * qd
            self.near(free[r], expected, 1e-10)
            self.near(tau[r], expected + 0.3 * w4**2 * qd, 1e-10)


class FiveBarForm(Closed):
    def below(self):
        """Returns the closed form of the other assembly, and its elbow angles at the default state."""
        form = FiveBar(self.documents["five_bar"], -1)
        return form, dict(zip(("left_elbow", "right_elbow"), form.tree(np.array([2, 1.1]))[1::2]))

    def test_dynamics(self):
        self.check_dynamics("five_bar", self.five, 1e-10)

    def test_tip(self):
        s = self.states("five_bar", 20, 7)
        motion = {n: s[n] for n in ("q", "qd", "qdd")}
        answer = self.ask("five_bar", "kinematics", {**motion, "frames": ["tip", "right_rod_end"], "frame": "tip",
                                                     "outputs": ["poses", "jacobian", "velocity", "acceleration"]})
        full = self.full("five_bar", motion)
        for r, (q, qd, qdd) in enumerate(zip(*(np.array(s[n]) for n in motion))):
            for frame in ("tip", "right_rod_end"):
                self.near(answer["poses"][frame]["position"][r], [*self.five.tip(q), 0], 1e-12)
            self.near(full["q"][r], self.five.tree(q), 1e-12)
            turns = self.five.turns(q)
            self.near(full["G"][r], [[1, 0], turns[0] - [1, 0], [0, 1], turns[1] - [0, 1]], 1e-11)
            J = np.zeros((6, 2))
            J[:2], J[5] = self.five.tip_jacobian(q), turns[0]
            self.near(answer["jacobian"][r], J, 1e-11)
            v, a = self.five.tip_motion(q, qd, qdd)
            self.near(answer["velocity"][r][:3], [*v, 0], 1e-11)
            self.near(answer["acceleration"][r][:3], [*a, 0], 1e-10)

    def test_task_space(self):
        """The task-space inertia at the tip is (J M^-1 J^T)^-1."""
        q = np.array([2.1, 0.8])
        answer = self.ask("five_bar", "task-space", {"q": list(q), "frame": "tip", "axes": ["x", "y"], "outputs": ["inertia"]})
        J, M = self.five.tip_jacobian(q), self.five.mass_matrix(q)
        self.near(answer["inertia"], np.linalg.inv(J @ np.linalg.solve(M, J.T)), 1e-10)

    def test_held(self):
        """With the tip held, M qdd + h = tau + J^T f and J qdd + J' qd = 0; on impact M (qd+ - qd) = J^T p and J qd+ =
        0."""
        q, qd, tau = np.array([2.1, 0.9]), np.array([0.7, -0.4]), np.array([1.5, 0.5])
        M, h, J = self.five.mass_matrix(q), self.five.bias(q, qd), self.five.tip_jacobian(q)
        Jd = derivative(self.five.tip_jacobian, q, qd)
        for axes, row in ((["x", "y"], J), (["y"], J[1:])):
            rate = Jd if len(row) == 2 else Jd[1:]
            felt = np.linalg.inv(row @ np.linalg.solve(M, row.T))
            force = -felt @ (row @ np.linalg.solve(M, tau - h) + rate @ qd)
            impulse = -felt @ row @ qd
            after = qd + np.linalg.solve(M, row.T @ impulse)
            held = {"q": list(q), "qd": list(qd), "held": [{"frame": "tip", "axes": axes}]}
            answer = self.ask("five_bar", "forward-dynamics", {**held, "tau": list(tau)})
            where = ["xyz".index(axis) for axis in axes]
            self.near(answer["qdd"], np.linalg.solve(M, tau - h + row.T @ force), 1e-9)
            self.near(np.array(answer["contact_wrenches"][0])[where], force, 1e-9)
            answer = self.ask("five_bar", "impact", {**held, "outputs": ["qd_after", "contact_impulses", "energy_loss"]})
            self.near(answer["qd_after"], after, 1e-9, least=1)
            self.near(np.array(answer["contact_impulses"][0])[where], impulse, 1e-9)
            self.near(answer["energy_loss"], (qd @ M @ qd - after @ M @ after) / 2, 1e-9)

    def test_both_assemblies(self):
        """A guess selects the assembly: by names of some passive joints, by all in order, or by a batch."""
        form, guess = self.below()
        q, qd, qdd = (np.array(x) for x in ([2.15, 1.05], [1, -0.5], [2.0, 3]))
        state = {"q": list(q), "qd": list(qd), "qdd": list(qdd)}
        names = self.ok(self.client.get("/v1/models/five_bar"))["passive_names"]
        self.assertEqual(names, ["left_elbow", "right_elbow"])
        rows = [guess[name] for name in names]
        for given in (guess, rows):
            self.near(self.ask("five_bar", "inverse-dynamics", {**state, "guess": given})["tau"], form.tau(q, qd, qdd), 1e-10)
        home = self.five.tree(q)[1::2]
        above, below = self.ask("five_bar", "inverse-dynamics", {**state, "guess": [list(home), rows]})["tau"]
        self.near(above, self.five.tau(q, qd, qdd), 1e-10)
        self.near(below, form.tau(q, qd, qdd), 1e-10)
        self.near(self.ask("five_bar", "mass-matrix", {"q": list(q), "guess": guess})["mass_matrix"], form.mass_matrix(q), 1e-10)



class Scissors(Closed):
    """A scissor lift: pairs of crossed bars of length l at angles q and -q, each pair on the one below. One foot of the
    lowest pair is pinned, the other is on a rail. The lift has as many loops as pairs."""
    LENGTH, MASS = 0.5, 2.0

    def document(self, pairs):
        turn, l = {"type": "revolute", "axis": [0, 0, 1]}, self.LENGTH
        inertial = {"solid": "box", "size": [l, 0, 0], "mass": self.MASS, "xyz": [l / 2, 0, 0]}
        links = [{"name": "foot", "parent": "base", "joint": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], "actuated": False,
                                                              "home": l * math.cos(0.4)}}]
        frames, loops, below = [], [], ("base", "foot")
        for i in range(pairs):
            for side, parent, angle in (("rising", below[0], 0.4), ("falling", below[1], math.pi - 0.4)):
                before = 0 if i == 0 else (math.pi - 0.4 if side == "rising" else 0.4)
                name = f"{side}{i}"
                links.append({"name": name, "parent": parent, "inertial": inertial, "joint": {
                    "name": name + "_pin", **turn, "actuated": name == "rising0", "origin": {"xyz": [l if i else 0, 0, 0]},
                    "home": angle - before}})
                frames.append({"name": name + "_middle", "link": name, "xyz": [l / 2, 0, 0]})
            # the end of each falling bar, on the left, carries the next rising bar
            below = f"falling{i}", f"rising{i}"
            loops.append({"name": f"cross{i}", "frame_a": f"rising{i}_middle", "frame_b": f"falling{i}_middle", **turn})
        return {"gravity": [0, -9.81, 0], "links": links, "frames": frames, "loops": loops}

    def test_lift(self):
        """The middle of pair i is at height (i + 1/2) l sin q and (l/2) cos q along the rail. States stay near home:
        from far away a pair may fold onto the one below, which also closes the loops."""
        for pairs in (1, 3, 12):
            self.put_model("lift", self.document(pairs))
            m, l = self.MASS, self.LENGTH

            class Lift(Energies):
                def mass_matrix(self, q):
                    speeds = [((l / 2 * np.sin(q[0]))**2 + ((i + 0.5) * l * np.cos(q[0]))**2) for i in range(pairs)]
                    return np.array([[sum(2 * m * v + 2 * m * l * l / 12 for v in speeds)]])

                def potential(self, q):
                    return sum(2 * m * G * (i + 0.5) * l * np.sin(q[0]) for i in range(pairs))
            form, rows = Lift(), [np.array(row) for row in ([0.38, 0.5, 2.0], [0.4, -1.0, 1.0], [0.43, 0.2, -3.0])]
            batch = {name: [[row[i]] for row in rows] for i, name in enumerate(("q", "qd", "qdd"))}
            tau = self.ask("lift", "inverse-dynamics", batch)["tau"]
            slopes = self.ask("lift", "sensitivity", batch)["dtau_dqdd"]
            for r, row in enumerate(rows):
                self.near(tau[r], form.tau(*row.reshape(3, 1)), 1e-9, f"{pairs} pairs")
                self.near(slopes[r], form.mass_matrix(row[:1]), 1e-9, f"{pairs} pairs")
            back = self.ask("lift", "forward-dynamics", {"q": batch["q"], "qd": batch["qd"], "tau": tau})["qdd"]
            self.near(back, batch["qdd"], 1e-8)


if __name__ == "__main__":
    tap.main()
