"""Tests the controller `hua` for robots with elastic joints: its equations (40) and (50), evaluated again with mass
matrix and Coriolis matrix of the simulated states, and its tracking errors."""
import numpy as np
import tap
from harness import ServerCase

AMPLITUDE, FREQUENCY = np.array([0.5, 0.4, 0.5, 0]), np.array([1.5, 1.2, 1.7, 0])
REFERENCE = {"amplitude": AMPLITUDE.tolist(), "angular_frequency": FREQUENCY.tolist()}
KP, KD = [400, 300, 50, 60], [20, 25, 10, 12]
CONTROL = {"controller": "hua", "kp": KP, "kd": KD, "filter": 80, "reference": REFERENCE}
START = {"q": [0.1, -0.2, 0.3, 0.25], "qd": [0.5, 0, -0.4, 1]}
JOINT, MOTOR = 2, 3  # indices of the elastic joint and of its motor


class Hua(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        document = cls.client.get("/v1/models/hua/document").json()
        cls.document = document
        joints = [link["joint"] for link in document["links"]]
        joints[0]["friction"] = {"viscous": 0.3, "coulomb": 0.2, "coulomb_velocity": 0.1}
        joints[1]["spring"] = {"stiffness": 3, "damping": 0.4, "rest": 0.1}
        joints[2]["elastic"] = {"stiffness": 100, "damping": 0.6, "rest": 0.05}
        joints[2]["friction"] = {"viscous": 0.2}
        document["motors"][2]["friction"] = {"viscous": 0.15}
        # In `turned` the motor is mounted on the link that it drives: then the inertia coupling S between motor and
        # joint is nonzero.
        cls.client.put("/v1/models/full", document)
        document["motors"][2].update(link="link3", axis=[0.6, 0.8, 0])
        cls.client.put("/v1/models/turned", document)

    def simulate(self, model, request, *outputs, **more):
        return self.ask(model, "simulate", {"duration": 1, **request, **more, **({"outputs": list(outputs)} if outputs else {})})

    def test_equations(self):
        """Checks (40), which follows from (39): M σ' + C σ + kd σ = e_τ, with e_τ = k (θ_d - θ) at the elastic joint
        and 0 at the others. Checks (50), which follows from (49): B σ_θ' + kd σ_θ + k (θ_d - θ) = 0. The filter gives
        θ''_d; the test integrates it along θ_d."""
        n, filter_ = 20001, CONTROL["filter"]
        for model, stiffness in (("hua", 100), ("full", 100), ("turned", 100)):
            a = {k: np.array(v) for k, v in self.simulate(
                model, START, "times", "q", "qd", "qdd", "position_error", "velocity_error", step=1 / (n - 1), samples=n,
                input=CONTROL).items()}
            w, t = FREQUENCY, a["times"][:, None]
            r, rd, rdd = AMPLITUDE * np.sin(w * t), AMPLITUDE * w * np.cos(w * t), -AMPLITUDE * w * w * np.sin(w * t)
            ratio, kd = np.array(KP) / KD, np.array(KD)
            joints = slice(0, 3)
            self.assertClose(a["position_error"][:, joints].tolist(), (r - a["q"])[:, joints].tolist(), 1e-13, 1)
            sigma = ((rd - a["qd"]) + ratio * (r - a["q"]))[:, joints]
            sigma_dot = ((rdd - a["qdd"]) + ratio * (rd - a["qd"]))[:, joints]
            e = a["position_error"][:, MOTOR]
            some = range(0, n, 1000)
            state = {"q": a["q"][some].tolist(), "qd": a["qd"][some].tolist()}
            M = np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
            C = np.array(self.ask(model, "coriolis", state)["coriolis_matrix"])
            left = np.einsum("nij,nj->ni", M[:, joints, joints], sigma_dot[some]) + np.einsum(
                "nij,nj->ni", C[:, joints, joints], sigma[some]) + kd[joints] * sigma[some]
            right = np.zeros_like(left)
            right[:, JOINT] = stiffness * e[some]
            self.assertClose(left.tolist(), right.tolist(), 1e-10, np.abs(left).max(), f"(40) of {model}")

            theta_d, theta_dd = a["q"][:, MOTOR] + e, a["qd"][:, MOTOR] + a["velocity_error"][:, MOTOR]
            # Simpson's rule over pairs of steps for x' = theta_dd, which follows from the velocity errors
            x = [theta_d[0]]
            h = 1 / (n - 1)
            for i in range(0, n - 2, 2):
                x.append(x[-1] + h / 3 * (theta_dd[i] + 4 * theta_dd[i + 1] + theta_dd[i + 2]))
            x = np.interp(a["times"][some], a["times"][::2], x)
            theta_ddd = filter_ ** 2 * (theta_d[some] - x) - 2 * filter_ * theta_dd[some]
            sigma_t = theta_dd - a["qd"][:, MOTOR] + ratio[MOTOR] * e + sigma[:, JOINT]
            sigma_t_dot = (theta_ddd + ratio[MOTOR] * (theta_dd - a["qd"][:, MOTOR])[some] + sigma_dot[some, JOINT]
                           - a["qdd"][some, MOTOR])
            terms = M[:, MOTOR, MOTOR] * sigma_t_dot, kd[MOTOR] * sigma_t[some], stiffness * e[some]
            self.assertClose(sum(terms).tolist(), [0.0] * len(some), 1e-6, max(np.abs(term).max() for term in terms),
                             f"(50) of {model}")
            self.assertEqual(theta_dd[0], 0)  # the filter starts at rest

    def test_methods_agree(self):
        fine = self.simulate("turned", START, "q", "tau", samples=3, step=1e-4, input=CONTROL)
        for how in ({"step": 1e-3}, {"tolerance": 1e-9}, {"tolerance": 1e-9, "stiff": True}):
            a = self.simulate("turned", START, "q", "tau", samples=3, input=CONTROL, **how)
            self.assertClose(a["q"], fine["q"], 1e-6, what=str(how))
            self.assertClose(a["tau"], fine["tau"], 1e-5)
        self.assertEqual([row[JOINT] for row in fine["tau"]], [0, 0, 0])

    def test_energy_balance(self):
        wrench = [{"link": "link3", "point": [0.3, 0, 0], "force": [1, 2, -3]}]
        for how in ({"step": 5e-4}, {"tolerance": 1e-9}, {"tolerance": 1e-8, "stiff": True}):
            a = self.simulate("full", START, "kinetic", "potential", "actuator_work", "friction_work", "wrench_work",
                              samples=5, input=CONTROL, wrenches=wrench, **how)
            energy = np.add(a["kinetic"], a["potential"])
            work = np.add(a["actuator_work"], np.add(a["friction_work"], a["wrench_work"]))
            self.assertClose((energy - energy[0]).tolist(), work.tolist(), 1e-6, what=str(how))

    def test_it_tracks_with_and_without_a_load(self):
        """Tracking errors decay to the size that the filter and an unknown payload cause."""
        free, pushed = (np.abs(self.simulate("full", START, "position_error", step=1e-3, samples=801, duration=8,
                                             input=CONTROL, **load)["position_error"])
                        for load in ({}, {"payload": {"link": "link3", "mass": 0.3, "com": [0.3, 0, 0]}}))
        self.assertLess(free[-200:, :2].max(), 1e-3)
        self.assertLess(free[-200:, JOINT].max(), 5e-3)
        self.assertGreater(pushed[-200:, JOINT].max(), 2 * free[-200:, JOINT].max())
        self.assertLess(pushed[-200:].max(), 0.05)

    def test_rigid_robots(self):
        """On rigid robots σ decays while the joints move: M σ' + C σ + kd σ = 0."""
        reference = {"amplitude": [0.3] * 6, "angular_frequency": [2] * 6}
        a = self.simulate("puma560", {"q": [0.3] * 6, "qd": [0.4, 0.3, 0.5, 0.2, 0.4, 0.3]}, "times", "q", "qd", "qdd", step=1e-4, duration=0.02, samples=5, input={
            "controller": "hua", "kp": 30, "kd": 10, "reference": reference})
        t = np.array(a["times"])[:, None]
        r, rd, rdd = 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
        sigma, sigma_dot = rd - a["qd"] + 3 * (r - a["q"]), rdd - a["qdd"] + 3 * (rd - a["qd"])
        M = np.array(self.ask("puma560", "mass-matrix", {"q": a["q"]})["mass_matrix"])
        C = np.array(self.ask("puma560", "coriolis", {"q": a["q"], "qd": a["qd"]})["coriolis_matrix"])
        left = np.einsum("nij,nj->ni", M, sigma_dot) + np.einsum("nij,nj->ni", C, sigma)
        self.assertClose(left.tolist(), (-10 * sigma).tolist(), 1e-11)

    def test_same_bits_alone(self):
        rows = [[0.1 * i, -0.2, 0.3, 0.2 + 0.02 * i] for i in range(11)]
        for how in ({"step": 2e-3}, {"tolerance": 1e-6}, {"tolerance": 1e-5, "stiff": True}):
            outputs = "q", "tau", "position_error", "velocity_error", "steps"
            request = {"duration": 0.2, "samples": 3, "input": CONTROL, **how}
            batch = self.simulate("turned", {**request, "q": rows}, *outputs)
            for i in (0, 7, 10):
                self.assertEqual(self.simulate("turned", {**request, "q": rows[i]}, *outputs),
                                 {name: value[i] for name, value in batch.items()}, str(how))

    def test_order_of_joints(self):
        names = ["joint1", "joint2", "joint3", "joint3.motor"]
        order = [3, 1, 0, 2]
        turn = lambda row: [row[i] for i in order]
        outputs = "q", "qd", "tau", "position_error"
        plain = self.simulate("turned", {**START, "step": 1e-3, "samples": 3, "input": CONTROL}, *outputs, duration=0.2)
        control = {**CONTROL, "kp": turn(KP), "kd": turn(KD), "reference": {k: turn(v) for k, v in REFERENCE.items()}}
        other = self.simulate("turned", {**{k: turn(v) for k, v in START.items()}, "step": 1e-3, "samples": 3,
                                         "input": control, "joints": turn(names)}, *outputs, duration=0.2)
        self.assertEqual(other, {name: [turn(row) for row in rows] for name, rows in plain.items()})

    def test_refusals(self):
        def refused(pointer, code, model="hua", q=(0, 0, 0, 0), **changes):
            control = {k: v for k, v in {**CONTROL, **changes}.items() if v is not None}
            answer = self.client.post(f"/v1/models/{model}/simulate", {
                "q": list(q), "duration": 1, "step": 0.01, "samples": 2, "input": control})
            self.assertEqual(self.assertProblem(answer, 422, pointer)["code"], code)
        refused("/input/kd", "bad-value", kd=0)
        refused("/input/kd/2", "bad-value", kd=[1, 1, 0, 1])
        refused("/input/kd", "missing-field", kd=None)
        refused("/input/kp/0", "bad-value", kp=[-1, 0, 0, 0])
        for value in (0, -1):
            refused("/input/filter", "bad-value", filter=value)
        refused("/input/filter", "wrong-type", filter="fast")
        refused("/input/filter", "unknown-field", controller="pd_gravity")
        refused(None, "not-for-loops", "four_bar", [0.5])
        refused("/input/controller", "not-supported", "solo12", [0, 0, 0, 0, 0, 0, 1] + [0] * 12)
        refused("/input/reference/amplitude", "wrong-shape", reference={"amplitude": [1, 1, 1], "angular_frequency": [1, 1, 1]})


if __name__ == "__main__":
    tap.main()
