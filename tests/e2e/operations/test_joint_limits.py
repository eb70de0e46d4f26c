"""Tests limits of joints in simulate: efforts of controllers are clipped at the limits to the bit, and every exceeded
limit is reported."""
import math

import cbor2
import numpy as np
import tap
from actuated import LIMITED, Actuated
from samples import chain, slider
from scipy.integrate import solve_ivp

METHODS = {"step": 1e-3}, {"tolerance": 1e-9}, {"tolerance": 1e-9, "stiff": True}
DRIVE = {"controller": "pd_gravity", "kp": [200, 60], "kd": [30, 6], "reference": [0.9, -0.8]}
START = {"q": [-0.6, 0.5], "qd": [0, 1]}


def clipped(tau):
    return np.clip(tau, [-40, -8], [40, 8])


class JointLimits(Actuated):
    def rail(self, **limits):
        document = slider(2)
        document["links"][0]["joint"]["limits"] = limits
        self.put_model("rail", document)

    def demand(self, q, qd):
        _, _, g = self.dynamics("limited", q, qd)
        return np.multiply(DRIVE["kp"], np.subtract(DRIVE["reference"], q)) - np.multiply(DRIVE["kd"], qd) + g

    def test_known_motions(self):
        """A mass on a rail under a force of 8 N: q = -1 + 4 t + 2 t^2."""
        self.rail(effort=5, velocity=6, position=[-0.5, 3])
        for how in METHODS:
            a = self.simulate("rail", {"q": [-1], "qd": [4], "duration": 1, "samples": 2, **how, "input": {"tau": [8]}}, "q", "qd", "limits")
            self.assertClose(a["q"][1] + a["qd"][1], [5, 8], 1e-12)
            self.assertEqual([(e["joint"], e["kind"]) for e in a["limits"]], [("rail", kind) for kind in ("effort", "position", "velocity")])
            effort, position, velocity = a["limits"]
            self.assertEqual((effort["limit"], effort["excess"], effort["time"]), (5, 3, 0))
            self.assertEqual((position["limit"], position["time"], velocity["limit"], velocity["time"]), (3, 1, 6, 1))
            self.assertClose([position["excess"], velocity["excess"]], [2, 2], 1e-12)
        a = self.simulate("rail", {"q": [-1], "qd": [-1], "duration": 1, "samples": 2, "step": 0.25, "input": {"tau": [4]}}, "limits")
        self.assertEqual(a["limits"], [{"joint": "rail", "kind": "position", "limit": -0.5, "excess": 0.75, "time": 0.5}])
        a = self.simulate("rail", {"q": [0], "duration": 1, "samples": 2, "step": 0.25}, "limits")
        self.assertEqual(a["limits"], [])

    def test_least_margins(self):
        """`least_margins` must contain the smallest margin of every limit, whether the motion keeps or exceeds the limit, also in batches."""
        self.rail(effort=5, velocity=6, position=[-0.5, 3])
        kept = {"q": [0], "duration": 1, "samples": 2, "step": 0.25, "input": {"tau": [4]}}     # q = t^2
        a = self.simulate("rail", kept, "least_margins", "limits")
        self.assertEqual(a["limits"], [])
        self.assertEqual(a["least_margins"], [
            {"joint": "rail", "kind": "effort", "limit": 5, "margin": 1, "time": 0},
            {"joint": "rail", "kind": "position", "limit": -0.5, "margin": 0.5, "time": 0},
            {"joint": "rail", "kind": "velocity", "limit": 6, "margin": 4, "time": 1}])
        batch = self.simulate("rail", {**kept, "q": [[0], [-1]]}, "least_margins")["least_margins"]
        self.assertEqual(batch[0], a["least_margins"])
        self.assertEqual([(one["margin"], one["time"]) for one in batch[1]], [(1, 0), (-0.5, 0), (4, 1)])
        for how in METHODS:
            a = self.simulate("rail", {"q": [-1], "qd": [4], "duration": 1, "samples": 2, **how, "input": {"tau": [8]}}, "limits", "least_margins")
            self.assertEqual([(e["limit"], -e["excess"], e["time"]) for e in a["limits"]],
                             [(e["limit"], e["margin"], e["time"]) for e in a["least_margins"]])
        self.rail()
        self.assertEqual(self.simulate("rail", kept, "least_margins"), {"least_margins": []})

    def test_between_samples_and_before_jumps(self):
        """The smallest margin may lie between samples: here where a rising torque jumps."""
        self.rail(effort=1)
        tau = {"values": [[0], [4], [-3], [0]], "times": [0, 0.5, 0.5000001, 2]}
        held = {"values": [[0], [-4], [3]], "times": [0, 0.5, 1], "interpolation": "hold"}
        for signal, excess, limit, time in ((tau, 3, 1, 0.5), (held, 3, -1, 0.5)):
            for how in METHODS:
                found, = self.simulate("rail", {"q": [0], "duration": 2, "samples": 2, **how, "input": {"tau": signal}}, "limits")["limits"]
                self.assertClose([found["excess"], found["limit"], found["time"]], [excess, limit, time], 1e-12, what=str((signal, how)))

    def test_controllers_before_jumps_and_samples(self):
        """A controller acts as a spring of 10 N/m on a mass of 2 kg. Its largest effort occurs at the start, right
        before the reference jumps, or at a turning point between two samples."""
        self.rail(effort=1)
        w = math.sqrt(5)
        jump = {"values": [[0], [2]], "times": [0, 0.5], "interpolation": "hold"}
        for q, qd, reference, times, excess, time in ((0, 4, jump, [1], 40 * math.sin(0.5 * w) / w - 1, 0.5), (0.7, 0, [0], [1], 6, 0),
                                                      (0, 1, [0], [0, math.pi / w], 10 / w - 1, math.pi / 2 / w)):
            for how, error in zip(METHODS, (1e-5, 1e-3, 1e-3)):
                found, = self.simulate("rail", {"q": [q], "qd": [qd], "duration": times[-1], "times": times, **how, "input": {
                    "controller": "pd_gravity", "kp": 10, "kd": 0, "reference": reference, "clip": False}}, "limits")["limits"]
                exact = time in (0, 0.5)
                self.assertAlmostEqual(found["time"], time, delta=0 if exact else 0.05)
                self.assertAlmostEqual(found["excess"], excess, delta=1e-6 if exact else error * excess)

    def test_clipping_is_exact(self):
        """At every sample the torque is that of the controller's law, or the limit bit for bit."""
        for how in METHODS:
            a = self.simulate("limited", {**START, "duration": 1, "samples": 41, **how, "input": DRIVE}, "q", "qd", "tau", "limits")
            ends = set()
            for q, qd, tau in zip(a["q"], a["qd"], a["tau"]):
                demand = self.demand(q, qd)
                for i, most in enumerate((40, 8)):
                    if abs(demand[i]) > most + 1e-9:
                        self.assertEqual(tau[i], most if demand[i] > 0 else -most)
                        ends.add((i, tau[i]))
                    else:
                        self.assertAlmostEqual(tau[i], demand[i], delta=1e-9)
            self.assertGreaterEqual(ends, {(0, 40), (1, -8)})
            self.assertTrue(any(abs(tau[0]) < 40 and abs(tau[1]) < 8 for tau in a["tau"]))
            first, second = (e for e in a["limits"] if e["kind"] == "effort")
            demand = self.demand(**START)
            self.assertEqual([e["joint"] for e in (first, second)], ["upper_joint", "lower_joint"])
            self.assertClose([first["excess"], first["limit"], first["time"]], [demand[0] - 40, 40, 0], 1e-12)
            self.assertClose([second["excess"], second["limit"], second["time"]], [-demand[1] - 8, -8, 0], 1e-12)

    def test_motion_under_clipped_torques(self):
        """The kinks of clipped torques cost no accuracy with a tolerance, and little with fixed steps."""
        def slope(_, y):
            M, h, _ = self.dynamics("limited", y[:2], y[2:])
            return [*y[2:], *np.linalg.solve(M, clipped(self.demand(y[:2], y[2:])) - h)]
        expected = solve_ivp(slope, (0, 0.8), START["q"] + START["qd"], "DOP853", rtol=1e-11, atol=1e-12, max_step=0.01).y[:, -1]
        for how, error in (({"step": 1e-3}, 2e-4), ({"step": 1e-4}, 2e-6), ({"tolerance": 1e-6}, 1e-4), ({"tolerance": 1e-9}, 1e-7), ({"tolerance": 1e-9, "stiff": True}, 1e-7)):
            a = self.simulate("limited", {**START, "duration": 0.8, "samples": 2, **how, "input": DRIVE}, "q", "qd", "steps", "kinetic",
                              "potential", "actuator_work")
            self.assertClose(a["q"][1] + a["qd"][1], expected.tolist(), error, what=str(how))
            energy = np.add(a["kinetic"], a["potential"])
            self.assertAlmostEqual(energy[1] - energy[0], a["actuator_work"][1], delta=max(error, 1e-6) * 10)
            self.assertLess(a["steps"][1], 8001)

    def test_without_clipping(self):
        """With clipping switched off the motion is that of the robot without limits. Given torques are never clipped.
        Exceeded limits are reported with and without clipping."""
        free = {"links": [{**link, "joint": {k: v for k, v in link["joint"].items() if k != "limits"}} for link in LIMITED["links"]]}
        self.put_model("unlimited", free)
        request = {**START, "duration": 0.5, "samples": 3, "step": 1e-3}
        a = self.simulate("limited", {**request, "input": {**DRIVE, "clip": False}}, "q", "tau", "limits")
        b = self.simulate("unlimited", {**request, "input": DRIVE}, "q", "tau", "limits")
        self.assertEqual((a["q"], a["tau"]), (b["q"], b["tau"]))
        self.assertEqual(b["limits"], [])
        self.assertGreater(a["tau"][0][0], 40)
        self.assertAlmostEqual(a["limits"][0]["excess"], max(tau[0] for tau in a["tau"]) - 40, delta=1e-9)
        self.assertIn(("upper_joint", "velocity"), [(e["joint"], e["kind"]) for e in a["limits"]])
        a = self.simulate("limited", {**request, "input": {"tau": [48, 0]}}, "q", "tau", "limits")
        self.assertEqual(a["tau"], [[48, 0]] * 3)
        self.assertEqual(a["limits"][0], {"joint": "upper_joint", "kind": "effort", "limit": 40, "excess": 8, "time": 0})

    def test_batches_and_encodings(self):
        """Each simulation of a batch has a list of limits of its own, equal to that of a request of one row."""
        rows = [[-0.6 + 0.1 * i, 0.5] for i in range(11)]
        for how in METHODS:
            request = {"duration": 0.3, "samples": 3, **how, "input": DRIVE}
            batch = self.simulate("limited", {**request, "q": rows})
            self.assertEqual(len(batch["limits"]), 11)
            self.assertGreater(len({str(entry) for entry in batch["limits"]}), 5)
            for i in (0, 6, 10):
                alone = self.simulate("limited", {**request, "q": rows[i]})
                self.assertEqual(alone, {name: value[i] for name, value in batch.items()})
            answer = self.client.post("/v1/models/limited/simulate", {**request, "q": rows}, Accept="application/cbor")
            self.assertEqual(cbor2.loads(answer.body)["limits"], batch["limits"])

    def test_joints_that_are_not_coordinates(self):
        """Mimic joints, passive joints of loops, and motors of elastic joints have limits, too."""
        document = chain(2)
        document["links"][1]["joint"].update(mimic={"joint": "j0", "multiplier": -2, "offset": 0.2}, limits={"position": [-1, 1], "velocity": 3})
        self.put_model("mimic", document)
        found = self.simulate("mimic", {"q": [1.5], "qd": [2], "duration": 0.1, "times": [0], "step": 0.1}, "limits")["limits"]
        self.assertEqual([e.pop("joint") for e in found], ["j1"] * 2)
        self.assertClose([e["excess"] for e in found], [1.8, 1], 1e-14)
        self.assertEqual([e["limit"] for e in found], [-1, -3])
        document = self.client.get("/v1/models/four_bar/document").json()
        for link in document["links"]:
            link["joint"]["limits"] = {"velocity": 0.1, "position": [-0.1, 0.1]}
        self.put_model("quadrangle", document)
        for how in METHODS:
            a = self.simulate("quadrangle", {"q": [0.5], "qd": [3], "duration": 0.1, "times": [0], **how}, "limits", "qd")
            full = self.ask("quadrangle", "inverse-dynamics", {"q": [0.5], "qd": [3], "outputs": ["full"]})["full"]
            expected = {(kind, joint): abs(x) - 0.1 for kind, name in (("position", "q"), ("velocity", "qd"))
                        for joint, x in zip(full[kind + "_names"], full[name]) if abs(x) > 0.1}
            del expected["position", "crank_joint"]  # a continuous joint has no position limits
            self.assertGreater(len(expected), 4)
            self.assertEqual({(e["kind"], e["joint"]) for e in a["limits"]}, set(expected))
            for e in a["limits"]:
                self.assertAlmostEqual(e["excess"], expected[e["kind"], e["joint"]], delta=1e-12)
        springy = {"links": [{**link, "joint": {**link["joint"], "limits": {"effort": 4}}} for link in LIMITED["links"]]}
        springy["links"][0]["joint"].update(elastic={"stiffness": 300}, rotor_inertia=0.1)
        self.put_model("soft", springy)
        a = self.simulate("soft", {"q": [0.5, 0, 0.5], "duration": 0.1, "samples": 2, "step": 1e-3, "input": {
            "controller": "computed_torque", "kp": 400, "kd": 40, "reference": [0, 0, 1]}}, "tau", "limits")
        self.assertEqual((a["tau"][0][0], a["tau"][0][2]), (0, 4))
        self.assertIn(("upper_joint", 4), [(e["joint"], e["limit"]) for e in a["limits"]])


if __name__ == "__main__":
    tap.main()
