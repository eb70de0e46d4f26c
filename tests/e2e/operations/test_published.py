"""Tests the bundled robots against published figures, to the last printed digit, through HTTP."""
import math

import tap
from arrays import add, dot
from harness import ServerCase
from samples import QN, THREE_LINK

ONES = [1] * 6
QZ, QR = [0] * 6, [0, math.pi / 2, -math.pi / 2, 0, 0, 0]

PUMA_TORQUES = [  # rows of q, qd, qdd, tau
    (QZ, 0, 0, "0, 37.48366665, .24892875, 0, 0, 0"),
    (QR, 0, 0, "0, -.77523525, .24892875, 0, 0, 0"),
    (QN, 0, 0, "0, 31.63988038, 6.035138023, 0, .0282528, 0"),
    (QN, 0, 1, "3.353110858, 36.00251124, 7.425964077, .1900430346, .2034409311, .1941327899"),
    (QN, 1, 1, "32.49524275, 60.86698848, 17.74359491, 1.454519026, 1.299110411, .7137808875"),
    (QN, 1, 0, "29.1421319, 56.50435761, 16.35276886, 1.264475992, 1.123922279, .5196480975")]


class Puma560(ServerCase):
    def test_torques(self):
        for q, qd, qdd, tau in PUMA_TORQUES:
            answer = self.ask("puma560", "inverse-dynamics", {"q": q, "qd": [qd] * 6, "qdd": [qdd] * 6})
            self.assertEqual(list(answer), ["tau"])
            self.assertPrinted(answer["tau"], tau, 10, f"tau({q}, {qd}, {qdd})")

    def test_torques_as_one_batch(self):
        answer = self.ask("puma560", "inverse-dynamics", {
            "q": [row[0] for row in PUMA_TORQUES],
            "qd": [[row[1]] * 6 for row in PUMA_TORQUES], "qdd": [[row[2]] * 6 for row in PUMA_TORQUES]})
        for actual, row in zip(answer["tau"], PUMA_TORQUES):
            self.assertPrinted(actual, row[3], 10)

    def test_mass_matrix(self):
        M = self.ask("puma560", "mass-matrix", {"q": QN})["mass_matrix"]
        self.assertPrinted([M[i][i] for i in range(6)],
                           "3.659375412, 4.413741934, .9378415752, .1925317061, .1713484517, .1941045057", 10)

    def test_motion_is_bias_plus_inertia(self):
        """tau(qn, 1, 0) is the bias at unit rates, tau(qn, 0, 0) the gravity torque."""
        answer = self.ask("puma560", "bias", {"q": QN, "qd": ONES, "outputs": ["bias", "gravity"]})
        self.assertPrinted(answer["bias"], PUMA_TORQUES[5][3], 10)
        self.assertPrinted(answer["gravity"], PUMA_TORQUES[2][3], 10)

    def test_forward_dynamics_undoes_the_published_torques(self):
        tau = self.ask("puma560", "inverse-dynamics", {"q": QN, "qd": ONES, "qdd": ONES})["tau"]
        qdd = self.ask("puma560", "forward-dynamics", {"q": QN, "qd": ONES, "tau": tau})["qdd"]
        self.assertClose(qdd, ONES, 1e-11)


class ThreeLink(ServerCase):
    """Tests the bundled model and one that this file puts by screw axes; the published wrench at the tip is exerted by
    the robot."""
    Q, QD, QDD = [0.1] * 3, [0.1, 0.2, 0.3], [2, 1.5, 1]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/screws", THREE_LINK)

    def each(self):
        for model in ("three_link", "screws"):
            last = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"][2]
            yield model, [{"link": last, "force": [-1] * 3, "torque": [-1] * 3, "point": [0, 0, 0.14225],
                          "frame": "link"}]

    def test_inverse_dynamics(self):
        for model, tip in self.each():
            answer = self.ask(model, "inverse-dynamics", {"q": self.Q, "qd": self.QD, "qdd": self.QDD, "wrenches": tip,
                                                          "outputs": ["tau", "joint_wrenches"]})
            self.assertPrinted(answer["tau"], "74.6961615529, -33.0676601585, -3.2305731379", 12, model)
            force, torque = answer["joint_wrenches"][0][:3], answer["joint_wrenches"][0][3:]
            self.assertPrinted(torque + force, "14.0056073068, -33.0672681678, 15.1925274662, "
                                               "-2.09119832965, 49.9516675028, 135.1494801", 12, model)

    def test_terms(self):
        for model, tip in self.each():
            M = self.ask(model, "mass-matrix", {"q": self.Q})["mass_matrix"]
            upper = [M[0][0], M[0][1], M[0][2], M[1][1], M[1][2], M[2][2]]
            self.assertPrinted(upper, "22.5433380355, -.307146754225, -.00718426390944, 1.96850716626, .432157368293, "
                                      ".191630857514", 12, model)
            bias = self.ask(model, "bias", {"q": self.Q, "qd": self.QD, "outputs": ["coriolis", "gravity"]})
            self.assertPrinted(bias["coriolis"], ".264531180545, -.0550515682892, -.00689132006825", 12, model)
            self.assertPrinted(bias["gravity"], "28.4033126182, -37.6409481718, -5.44158919997", 12, model)
            pushed = self.ask(model, "inverse-dynamics", {"q": self.Q, "gravity": [0, 0, 0], "wrenches": tip})["tau"]
            self.assertPrinted(pushed, "1.40954607826, 1.85771497232, 1.392409", 12, model)

    def test_forward_dynamics(self):
        for model, tip in self.each():
            answer = self.ask(model, "forward-dynamics", {"q": self.Q, "qd": self.QD, "tau": [0.5, 0.6, 0.7],
                                                          "wrenches": tip})
            self.assertPrinted(answer["qdd"], "-.973929067086, 25.5846678403, -32.9149921248", 12, model)

    def test_screws_use_their_axes_as_given(self):
        """Because the first screw axis has the length sqrt(2), q = 2 pi / sqrt(2) is one whole turn."""
        turn = 2 * math.pi / math.sqrt(2)
        home, turned = (self.ask("screws", "kinematics", {"q": [q, 0, 0]})["poses"] for q in (0, turn))
        self.assertIn("tip", home)
        for frame in home:
            self.assertClose(turned[frame]["position"], home[frame]["position"], 1e-14, 1)
            self.assertClose(turned[frame]["orientation"], home[frame]["orientation"], 1e-14, 1)


class TwoLinks(ServerCase):
    """The planar examples against their closed forms: L = 0.4 m, m = 0.5 kg, I = 0.1 kg m^2 about the middle of a link.
    """
    L, M, I = 0.4, 0.5, 0.1
    STATES = [([0, -2], [0, 0], [1, 0]), ([1, -1], [0.7, -1.3], [2, 3]), ([-2.5, 0.3], [3, 4], [-5, 6])]

    def test_two_revolute_joints(self):
        L, m, I = self.L, self.M, self.I
        for q, qd, qdd in self.STATES:
            c, s = math.cos(q[1]), math.sin(q[1])
            m22 = I + m * L * L / 4
            m12 = m22 + m * L * L / 2 * c
            m11 = 2 * m22 + m * L * L + m * L * L * c
            h = m * L * L / 2 * s
            tau = [m11 * qdd[0] + m12 * qdd[1] - h * (2 * qd[0] + qd[1]) * qd[1],
                   m12 * qdd[0] + m22 * qdd[1] + h * qd[0] ** 2]
            answer = self.ask("two_link", "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd})
            self.assertClose(answer["tau"], tau, 1e-14, max(map(abs, tau)) + 1)
            kinetic = (m11 * qd[0] ** 2 + m22 * qd[1] ** 2) / 2 + m12 * qd[0] * qd[1]
            answer = self.ask("two_link", "energy", {"q": q, "qd": qd})
            self.assertClose(answer["kinetic"], kinetic, 1e-14, kinetic + 1)

    def test_prismatic_then_revolute(self):
        L, m, I = self.L, self.M, self.I
        for q, qd, qdd in self.STATES:
            coupling = -m * L / 2 * math.sin(q[1])
            M = [[2 * m, coupling], [coupling, I + m * L * L / 4]]
            tau = [dot(M[0], qdd) - m * L / 2 * math.cos(q[1]) * qd[1] ** 2, dot(M[1], qdd)]
            answer = self.ask("prismatic_revolute", "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd})
            self.assertClose(answer["tau"], tau, 1e-14, max(map(abs, tau)) + 1)
            self.assertClose(self.ask("prismatic_revolute", "mass-matrix", {"q": q})["mass_matrix"], M, 1e-14)


class Bundled(ServerCase):
    NAMES = {"two_link": 2, "prismatic_revolute": 2, "stanford": 6, "puma560": 6, "three_link": 3, "ur5": 6, "panda": 7}

    def test_each_is_listed(self):
        listed = {model["name"]: model for model in self.ok(self.client.get("/v1/models"))["models"]}
        for name, nv in self.NAMES.items():
            self.assertEqual((listed[name]["nv"], listed[name]["nq"], listed[name]["base"]), (nv, nv, "fixed"))

    def test_each_says_where_its_figures_are_from(self):
        for name in self.NAMES:
            document = self.ok(self.client.get(f"/v1/models/{name}/document"))
            self.assertGreater(len(document["source"]), 10, name)

    def test_each_balances_power(self):
        """The power tau qd must be the rate of kinetic + potential plus the losses by friction, with the rate by central differences."""
        h = 1e-5
        for name, nv in self.NAMES.items():
            q, qd, qdd = ([f(i) for i in range(nv)] for f in (lambda i: 0.3 + 0.2 * i, lambda i: 0.5 - 0.1 * i,
                                                               lambda i: 1 - 0.3 * i))
            rows = [([a + h * s * b + h * h / 2 * c for a, b, c in zip(q, qd, qdd)], add(qd, qdd, h * s))
                    for s in (-1, 1)]
            energy = self.ask(name, "energy", {"q": [row[0] for row in rows], "qd": [row[1] for row in rows]})
            total = add(energy["kinetic"], energy["potential"])
            tau = self.ask(name, "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd, "friction": False})["tau"]
            self.assertAlmostEqual((total[1] - total[0]) / (2 * h), dot(tau, qd), delta=1e-7 * (1 + abs(dot(tau, qd))),
                                   msg=name)


if __name__ == "__main__":
    tap.main()
