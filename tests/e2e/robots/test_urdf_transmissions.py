"""Tests rotors of transmissions in URDF: a rotor of inertia I behind a gear of ratio n adds n^2 I to its joint's
diagonal entry of the mass matrix. Drake's files give these by drake:rotor_inertia and drake:gear_ratio, those of ROS by
motorInertia and mechanicalReduction."""
import itertools

import numpy as np
import tap
from urdf import UrdfCase, joint, link

INERTIAL = ('<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>')
ARM = (link("w"), link("a", INERTIAL), link("b", INERTIAL), link("c", INERTIAL),
       joint("j", "w", "a", '<axis xyz="0 0 1"/>', "continuous"), joint("k", "a", "b", '<axis xyz="0 0 1"/>', "continuous"),
       joint("s", "b", "c", '<axis xyz="0 0 1"/>', "prismatic"))


def robot(*parts, prefix=' xmlns:drake="http://drake.mit.edu"'):
    return f'<robot name="r"{prefix}>' + "".join(parts) + "</robot>"


def transmission(*inside, joints=("j",), name="t"):
    return (f'<transmission name="{name}"><type>transmission_interface/SimpleTransmission</type>' +
            "".join(f'<joint name="{j}"><hardwareInterface>x</hardwareInterface></joint>' for j in joints) + "".join(inside) + "</transmission>")


def actuator(inside, name="m"):
    return f'<actuator name="{name}">{inside}</actuator>'


def drake(inertia, ratio=None):
    return f'<drake:rotor_inertia value="{inertia}"/>' + (f'<drake:gear_ratio value="{ratio}"/>' if ratio is not None else "")


def ros(inertia, reduction=None):
    return f"<motorInertia> {inertia}\n</motorInertia>" + (f"<mechanicalReduction>{reduction}</mechanicalReduction>" if reduction is not None else "")


class Rotors(UrdfCase):
    BODIES = np.array([[0.3, 0.2, 0], [0.2, 0.2, 0], [0, 0, 1]])

    def added(self, *parts, query="", prefix=' xmlns:drake="http://drake.mit.edu"'):
        """Returns the diagonal that the transmissions add to the mass matrix, and the report."""
        taken = self.take("geared", robot(*ARM, *parts, prefix=prefix), query)
        M = np.array(self.ask("geared", "mass-matrix", {"q": [0.3, -0.2, 0.1]})["mass_matrix"])
        rest = M - self.BODIES
        self.assertClose(np.ravel(rest - np.diag(np.diag(rest))).tolist(), [0] * 9, 1e-15, scale=1)
        return np.diag(rest).tolist(), taken["report"]

    def check(self, expected, *parts, **options):
        given, report = self.added(*parts, **options)
        self.assertClose(given, expected, 1e-13, scale=1)
        return report

    def told(self, report, code, *words):
        found = [e for e in report if e["code"] == code and all(word in e["text"] for word in words)]
        self.assertTrue(found, (code, words, report))
        return found

    def test_where_files_state_them(self):
        for inside in (actuator(drake(1e-4, 100)), actuator(drake(1e-4, 100) + "<mechanicalReduction>100</mechanicalReduction>"),
                       actuator(ros(1e-4, 100)), actuator(ros(1e-4)) + "<mechanicalReduction>100</mechanicalReduction>",
                       actuator("<mechanicalReduction>-100</mechanicalReduction>") + "<motorInertia>1e-4</motorInertia>",
                       actuator(ros(1e-4) + '<drake:gear_ratio value="100"/>'), actuator(ros(1e-4, 100) + drake(1e-4, 100))):
            report = self.check([1, 0, 0], transmission(inside))
            self.told(report, "reflected", '"j"', "0.0001 kg m^2", "1 kg m^2 at the joint")
            self.assertFalse([e for e in report if e["code"] in ("unused", "unknown", "not-held", "suspicious") and "foam" not in e["text"]], report)
        self.check([1, 0, 0], transmission(actuator(drake(1e-4, 100))), prefix="")

    def test_every_place_of_both_figures(self):
        """Inertia and reduction each stand in the actuator, in the joint of the transmission or in the transmission."""
        for where_inertia, where_reduction in itertools.product(("actuator", "joint", "transmission"), repeat=2):
            text = dict.fromkeys(("actuator", "joint", "transmission"), "")
            text[where_inertia] += "<motorInertia>3e-4</motorInertia>"
            text[where_reduction] += "<mechanicalReduction>-50</mechanicalReduction>"
            report = self.check([0, 0.75, 0], f'<transmission name="t"><joint name="k">{text["joint"]}</joint>' + actuator(text["actuator"]) +
                                text["transmission"] + "</transmission>")
            self.told(report, "reflected", '"k"', "0.0003 kg m^2 behind a gear of -50")

    def test_every_joint(self):
        """At a prismatic joint the rotor's effect is in kg; the default gear ratio is 1."""
        report = self.check([0.5, 4 * 0.01, 9 * 0.25], transmission(actuator(drake(0.5))),
                            transmission(actuator(ros(0.01, 2)), joints=("k",), name="u"),
                            transmission(actuator(drake(0.25, -3)), joints=("s",), name="v"))
        self.assertEqual(len(self.told(report, "reflected")), 3)

    def test_inverse_dynamics_and_energy(self):
        self.added(transmission(actuator(drake(1e-4, 100))))
        state = {"q": [0.1, 0.2, 0.3], "qd": [1, 2, 3], "qdd": [2, 0, 0]}
        self.assertClose(self.ask("geared", "inverse-dynamics", {**state, "gravity": [0, 0, 0]})["tau"], [2 * 1.3, 2 * 0.2, 0], 1e-13, scale=1)
        self.assertClose([self.ask("geared", "energy", {"q": [0.1, 0.2, 0.3], "qd": [1, 0, 0]})["kinetic"]], [0.5 * 1.3], 1e-13, scale=1)

    def test_batches_and_other_operations(self):
        """Forward dynamics, steps and evaluate include the same rotor; each row of a batch equals a request of one row."""
        self.added(transmission(actuator(drake(1e-4, 100))), transmission(actuator(ros(0.02, 5)), joints=("k",), name="u"))
        rows = {"q": [[0.1, 0.2, 0.3], [-0.4, 0.5, 0.1]], "qd": [[1, 2, 3], [0.5, -1, 2]], "qdd": [[2, 1, 0.5], [-1, 0.3, 4]]}
        tau = self.ask("geared", "inverse-dynamics", rows)["tau"]
        added = [[1 * a, 0.5 * b, 0] for a, b, _ in rows["qdd"]]
        self.take("bare", robot(*ARM))
        bare = self.ask("bare", "inverse-dynamics", rows)["tau"]
        self.assertClose(np.ravel(np.subtract(tau, bare)).tolist(), np.ravel(added).tolist(), 1e-12, scale=1)
        self.assertEqual(self.ask("geared", "inverse-dynamics", {k: v[1] for k, v in rows.items()})["tau"], tau[1])
        back = self.ask("geared", "forward-dynamics", {"q": rows["q"], "qd": rows["qd"], "tau": tau})["qdd"]
        self.assertClose(np.ravel(back).tolist(), np.ravel(rows["qdd"]).tolist(), 1e-12, scale=1)
        cbor = self.client.post("/v1/models/geared/inverse-dynamics", rows, Accept="application/cbor")
        self.assertEqual(cbor.status, 200)

    def test_mimics_and_floating_bases(self):
        """The rotor of a mimic at twice its leader's rate counts four times at the leader."""
        mimic = joint("m", "w", "d", '<axis xyz="0 0 1"/><mimic joint="j" multiplier="2"/>', "continuous")
        parts = (*ARM, link("d", INERTIAL), mimic, transmission(actuator(drake(0.01, 10)), joints=("m",)))
        self.take("coupled", robot(*parts), "?mimic=coupled")
        M = np.array(self.ask("coupled", "mass-matrix", {"q": [0, 0, 0]})["mass_matrix"])
        self.assertClose(np.ravel(M).tolist(), np.ravel(self.BODIES + np.diag([4 * (0.1 + 1), 0, 0])).tolist(), 1e-13, scale=1)
        self.take("free", robot(*ARM, transmission(actuator(drake(0.01, 10)))), "?base=floating")
        self.take("bare", robot(*ARM), "?base=floating")
        q = [0, 0, 0, 0, 0, 0, 1, 0.2, 0.3, 0.1]
        difference = np.subtract(*(self.ask(n, "mass-matrix", {"q": q})["mass_matrix"] for n in ("free", "bare")))
        expected = np.zeros((9, 9))
        expected[6, 6] = 1
        self.assertClose(np.ravel(difference).tolist(), np.ravel(expected).tolist(), 1e-12, scale=1)

    def test_what_cannot_be_placed_is_named(self):
        lost = actuator(drake(1e-4, 100), name="motor")
        for joints, words in ((("ghost",), "not a joint of this file"), (("j", "k"), "another joint"), ((), "not a joint of this file")):
            self.told(self.check([0, 0, 0], transmission(lost, joints=joints)), "not-held", '"motor"', "0.0001", words)
        welded = (link("e"), joint("weld", "w", "e", kind="fixed"))
        self.told(self.check([0, 0, 0], *welded, transmission(lost, joints=("weld",))), "not-held", '"weld"', "is fixed")
        planar = robot(link("w"), link("a", INERTIAL), joint("p", "w", "a", '<axis xyz="0 0 1"/>', "planar"), transmission(lost, joints=("p",)))
        self.told(self.take("planar", planar)["report"], "not-held", '"p"', "several coordinates")

    def test_several_actuators_are_added(self):
        two = (transmission(actuator(drake(1e-4, 100))), transmission(actuator(ros(0.02, 5), name="n"), name="u"))
        self.told(self.check([1.5, 0, 0], *two), "assumed", '"j"', "2 actuators", "added")
        self.told(self.check([1.5, 0, 0], transmission(actuator(drake(1e-4, 100)) + actuator(drake(0.02, 5), name="n"))), "assumed", '"j"')

    def test_gears_that_differ(self):
        """As in Drake, only drake:gear_ratio counts for drake:rotor_inertia, 1 if it is missing; <mechanicalReduction> is ignored with a
        warning."""
        report = self.check([1, 0, 0], transmission(actuator(drake(1e-4, 100) + "<mechanicalReduction>50</mechanicalReduction>")))
        self.told(report, "suspicious", "100", "50")
        report = self.check([0.01, 0, 0], transmission(actuator(drake(0.01) + "<mechanicalReduction>50</mechanicalReduction>")))
        self.told(report, "suspicious", "not stated", "50")

    def test_without_a_rotor(self):
        report = self.check([0, 0, 0], transmission(actuator("<mechanicalReduction>50</mechanicalReduction>")))
        self.told(report, "unused", '"t" of joint "j", reduction 50')

    def test_wrong_values(self):
        for inside, code in ((drake(-1), "bad-value"), (ros(-1, 3), "bad-value"), (drake(1, 0), "bad-value"), (drake("x"), "wrong-type"),
                             (ros(""), "wrong-shape"), ("<drake:rotor_inertia/>", "missing-field"), (drake(1, 2) + ros(3, 2), "bad-value"),
                             (drake("1e999"), "non-finite")):
            self.refuse(robot(*ARM, transmission(actuator(inside))), 422, code, 'actuator "m"')


if __name__ == "__main__":
    tap.main()
