"""Tests external-wrench: a known wrench is found from the torques that it causes, the momentum observer follows a push on a simulated arm,
stated covariances equal those of noisy samples; and refusals."""
import numpy as np
import tap
from closed import Closed
from samples import branched

START = [0.1, -0.5, 0.2, -2, 0.3, 1.5, 0.7]
STEP, GAIN, PUSHED = 1e-3, 50, 300


def known(link, push):
    return [{"link": link, "force": push[:3], "torque": push[3:]}]


class ExternalWrench(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/flying", branched("floating"))
        document = cls.client.get("/v1/models/panda/document").json()
        for link in document["links"][:7]:
            link["joint"]["friction"] = {"viscous": 0.5, "coulomb": 0.3, "coulomb_velocity": 0.01}
        document["motors"] = [{"joint": document["links"][k]["joint"]["name"], "link": document["links"][k - 1]["name"],
                               "axis": [0, 0.6, 0.8], "gear_ratio": 60, "spin_inertia": 2e-5} for k in range(1, 7)]
        answer = cls.client.put("/v1/models/rubbing", document)
        assert answer.status in (200, 201), answer

    def drawn(self, model, rows, seed):
        """Returns random states of a model; those of the five-bar are near its reference."""
        choose, about = np.random.default_rng(seed), self.ok(self.client.get(f"/v1/models/{model}"))
        q = (np.array(about["reference"]["q"]) + choose.uniform(-0.2, 0.2, (rows, about["nq"])) if "reference" in about else
             np.array(self.ask(model, "configuration", {"count": rows, "seed": seed})["random"]))
        return {"q": q.tolist(), **{name: choose.normal(size=(rows, about["nv"])).tolist() for name in ("qd", "qdd", "tau")}}

    def test_known_wrenches_come_back(self):
        """The torques are those of inverse dynamics under a wrench, which the operation must find. Friction, rotors, payload and another
        wrench are known to it."""
        push = [3, -2, 5, 0.4, -0.3, 0.2]
        around = {"payload": {"link": "panda_link7", "mass": 1.5, "com": [0.1, 0, 0.05]}, "gravity": [1, 2, -9],
                  "wrenches": [{"link": "panda_link3", "force": [1, 2, -4]}]}
        s = self.drawn("rubbing", 6, 4)
        s = {k: s[k] for k in ("q", "qd", "qdd")}
        tau = self.ask("rubbing", "inverse-dynamics", {**s, **around, "wrenches": around["wrenches"] + known("panda_link7", push)})["tau"]
        request = {**s, **around, "tau": tau, "frame": "panda_link7", "outputs": ["tau_external", "wrench", "remainder"]}
        for row, got in enumerate(self.ask("rubbing", "external-wrench", request)["wrench"]):
            self.near(got, push, 1e-10, f"row {row}")
        answer = self.ask("rubbing", "external-wrench", request)
        jacobian = np.array(self.ask("rubbing", "kinematics", {"q": s["q"], "frame": "panda_link7", "outputs": ["jacobian"]})["jacobian"])
        self.near(answer["tau_external"], np.einsum("rij,i->rj", jacobian, push).tolist(), 1e-11)
        self.near(answer["remainder"], np.zeros((6, 7)).tolist(), 1e-11, least=10)
        turned = self.ask("rubbing", "external-wrench", {**request, "reference": "frame"})["wrench"]
        self.near(np.linalg.norm(np.array(turned)[:, :3], axis=1).tolist(), [np.linalg.norm(push[:3])] * 6, 1e-10)
        self.assertGreater(abs(np.array(turned) - push).max(), 1)
        some = self.ask("rubbing", "external-wrench", {**request, "axes": ["z", "rx"], "noise": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]})["wrench"]
        weights = 1 / np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
        for row in range(6):
            A = (jacobian[row][[2, 3]] * weights).T
            expected = np.linalg.lstsq(A, weights * answer["tau_external"][row], rcond=None)[0]
            self.near([some[row][2], some[row][3]], expected.tolist(), 1e-10)
            self.assertEqual([some[row][k] for k in (0, 1, 4, 5)], [0] * 4)

    def test_floating_bases_and_loops(self):
        """The torque of a floating base is zero, since it has no motors. In the plane of a five-bar two motors determine both
        components of a force."""
        push = [3, -2, 5, 0.4, -0.3, 0.2]
        for model, frame, axes in (("flying", "tool", ["x", "y", "z", "rx", "ry", "rz"]), ("five_bar", "tip", ["x", "y"])):
            s = self.drawn(model, 3, 8)
            s = {k: s[k] for k in ("q", "qd", "qdd")}
            force = push if model == "flying" else [3, -2, 0, 0, 0, 0]
            tau = self.ask(model, "inverse-dynamics", {**s, "wrenches": known(frame, force)})["tau"]
            for got in self.ask(model, "external-wrench", {**s, "tau": tau, "frame": frame, "axes": axes})["wrench"]:
                self.near(got, force, 1e-9)

    def simulate(self, model, samples=1001):
        """Returns an arm under a controller, pushed by 20 N along y at its elbow from 0.3 s on, sampled each millisecond."""
        force = [[0, 0, 0] if k < PUSHED else [0, 20, 0] for k in range(samples)]
        return self.ask(model, "simulate", {
            "q": START, "qd": [0] * 7, "duration": STEP * (samples - 1), "samples": samples, "step": STEP,
            "input": {"controller": "computed_torque", "kp": 25, "kd": 10, "reference": [x + 0.2 for x in START]},
            "wrenches": [{"link": "panda_link4", "force": {"values": force, "interpolation": "hold"}}], "outputs": ["times", "q", "qd", "tau"]})

    def test_a_push_is_seen_and_measured(self):
        """Noise of 0.3 N m on every torque. The force is above five deviations of its noise within 3/gain of the push, never
        before it, and its mean is within 10 % of the truth."""
        choose = np.random.default_rng(1)
        for model in ("panda", "rubbing"):
            motion = self.simulate(model)
            tau = np.array(motion["tau"]) + 0.3 * choose.normal(size=(1001, 7))
            answer = self.ask(model, "external-wrench", {"q": motion["q"], "qd": motion["qd"], "tau": tau.tolist(), "gain": GAIN, "step": STEP,
                                                         "frame": "panda_link4", "axes": ["x", "y"], "noise": 0.3})
            force, deviation = np.array(answer["wrench"])[:, 1], np.sqrt(np.array(answer["covariance"])[:, 1, 1])
            seen = int(np.argmax(force > 5 * deviation[-1]))
            self.assertTrue(PUSHED < seen <= PUSHED + 3 / (GAIN * STEP), (model, seen))
            self.assertLess(abs(force[:PUSHED]).max(), 5 * deviation[-1], model)
            settled = force[PUSHED + int(5 / (GAIN * STEP)):]
            self.assertLess(abs(settled.mean() - 20), 2, model)
            self.assertGreater((abs(settled - 20) < 2).mean(), 0.97, model)

    def test_the_residual_is_the_filtered_torque_of_the_push(self):
        """r' = gain (J^T F - r), integrated here with the true torque; the samples differ by the error of the trapezoidal
        rule. Friction, rotors and a payload are part of the model."""
        for model in ("panda", "rubbing"):
            motion = self.simulate(model, 601)
            request = {"q": motion["q"], "qd": motion["qd"], "tau": motion["tau"], "gain": [20, 30, 40, 50, 60, 70, 80], "step": STEP}
            got = np.array(self.ask(model, "external-wrench", request)["tau_external"])
            jacobian = np.array(self.ask(model, "kinematics", {"q": motion["q"], "frame": "panda_link4", "outputs": ["jacobian"]})["jacobian"])
            true, r, x = jacobian[:, 1, :] * 20, np.zeros(7), np.array(request["gain"]) * STEP / 2
            true[:PUSHED] = 0
            error = 0
            for k in range(600):
                if k == PUSHED - 1:  # the push begins within this step
                    r = got[PUSHED]
                    self.assertLess(abs(r).max(), abs(2 * x / (1 + x) * true[PUSHED]).max())
                    continue
                r = ((1 - x) * r + x * (true[k] + true[k + 1])) / (1 + x)
                error = max(error, abs(got[k + 1] - r).max())
            self.assertLess(error, 1e-4, model)
            self.assertGreater(abs(got).max(), 1)

    def test_the_observer_is_its_equation(self):
        """Repeats the observer's recursion as the contract describes it, with matrices from other operations, for a floating base and for
        loops."""
        for model in ("flying", "five_bar", "panda"):
            s = self.drawn(model, 9, 3)
            s = {k: np.array(s[k]) for k in ("q", "qd", "tau")}
            q = s["q"].tolist()
            M = np.array(self.ask(model, "mass-matrix", {"q": q})["mass_matrix"])
            C = np.array(self.ask(model, "coriolis", {"q": q, "qd": s["qd"].tolist()})["coriolis_matrix"])
            b = np.array(self.ask(model, "bias", {"q": q, "qd": s["qd"].tolist()})["bias"])
            p, h, K = np.einsum("rij,rj->ri", M, s["qd"]), 0.01, 30.0
            u = s["tau"] + np.einsum("rij,rj->ri", C + C.transpose(0, 2, 1), s["qd"]) - b
            r = [np.zeros(p.shape[1])]
            for k in range(8):
                r.append(((1 - K * h / 2) * r[-1] + K * (p[k + 1] - p[k] - h * (u[k] + u[k + 1]) / 2)) / (1 + K * h / 2))
            got = self.ask(model, "external-wrench", {k: v.tolist() for k, v in s.items()} | {"gain": K, "step": h})["tau_external"]
            self.near(got, np.array(r).tolist(), 1e-10, model)

    def test_covariances_are_those_of_samples(self):
        """In one pose at rest, the stated covariances must be those of 5000 noisy samples; those of the observer are taken after its start. The relative
        deviation of an estimated variance is sqrt(2 / n), with n = 5000 x gain step / 2 for the observer."""
        choose, n = np.random.default_rng(3), 5000
        sigma = np.array([0.1, 0.2, 0.3, 0.4, 0.3, 0.2, 0.1])
        tau = np.array(self.ask("panda", "bias", {"q": START})["bias"]) + sigma * choose.normal(size=(n, 7))
        request = {"q": [START] * n, "qd": [[0] * 7] * n, "tau": tau.tolist(), "frame": "panda_link7", "noise": sigma.tolist()}
        for more, tolerance in (({}, 5 * np.sqrt(2 / n)), ({"gain": 200, "step": 1e-3}, 5 * np.sqrt(2 / (n * 0.1)))):
            answer = self.ask("panda", "external-wrench", {**request, **more})
            seen, told = np.cov(np.array(answer["wrench"])[100:].T), np.array(answer["covariance"])[-1]
            scale = np.sqrt(np.diag(told))
            self.assertLess(abs((seen - told) / np.outer(scale, scale)).max(), tolerance, more)
        first = np.array(answer["covariance"])[:3]
        self.assertEqual(abs(first[0]).max(), 0)
        x = 0.1
        c, a = 2 * x / (1 + x), (1 - x) / (1 + x)
        self.near((first[2] / first[1]).tolist(), np.full((6, 6), a * a + 1 + a).tolist(), 1e-12)
        self.near((first[1] * (c / 2) / (c * c / 2)).tolist(), told.tolist(), 1e-9)

    def test_rows_fail_alone(self):
        """After a row that fails, the static method estimates the following rows; the observer cannot, since its later residuals depend on the
        failed row."""
        s = self.drawn("panda", 4, 2)
        s = {k: s[k] for k in ("q", "qd", "tau")}
        good = self.ask("panda", "external-wrench", s)["tau_external"]
        s["q"][1][0] = 1e9
        answer = self.ask("panda", "external-wrench", {**s, "on_error": "row"})
        self.assertEqual(answer["tau_external"], [good[0], None, *good[2:]])
        self.assertEqual([e["row"] for e in answer["errors"]], [1])
        answer = self.ask("panda", "external-wrench", {**s, "on_error": "row", "gain": 10, "step": 0.01})
        self.assertEqual(answer["tau_external"], [[0] * 7, None, None, None])
        self.assertEqual([e["row"] for e in answer["errors"]], [1, 2, 3])

    def test_samples_have_their_bits_in_any_order_of_threads(self):
        """The first rows of a long sequence are those of a short one."""
        motion = self.simulate("panda", 1001)
        request = {k: motion[k] for k in ("q", "qd", "tau")}
        more = {"gain": GAIN, "step": STEP, "frame": "panda_link7", "noise": 0.3}
        whole = self.ask("panda", "external-wrench", {**request, **more})
        part = self.ask("panda", "external-wrench", {**{k: v[:37] for k, v in request.items()}, **more})
        self.assertEqual({k: v[:37] for k, v in whole.items()}, part)

    def test_refusals_name_the_field(self):
        s = {k: v[0] for k, v in self.drawn("panda", 1, 2).items() if k in ("q", "qd", "tau")}
        rows = {k: [v, v] for k, v in s.items()}
        sequence = {**rows, "gain": 10, "step": 0.01}
        for request, pointer, says in (
                ({**rows, "gain": 10}, "/step", "step"), ({**rows, "step": 0.1}, "/gain", "gain"), ({**s, "gain": 10, "step": 0.01}, "/q", "rows"),
                ({**sequence, "qdd": s["qd"]}, "/qdd", "qdd"), ({k: v for k, v in sequence.items() if k != "qd"}, "/qd", "qd"),
                ({**sequence, "step": 0.2}, "/gain", "less than 2"), ({**sequence, "gain": [1, 2]}, "/gain", "7"), ({**sequence, "gain": 0}, "/gain", "greater than 0"),
                ({**s, "outputs": ["wrench"]}, "/frame", "frame"), ({**s, "axes": ["x"]}, "/frame", "frame"), ({**s, "frame": "panda_link0"}, "/frame", "no joint"),
                ({**s, "frame": "panda_link7", "outputs": ["covariance"]}, "/outputs/0", "noise"), ({**s, "noise": [1, 1, 1, -1, 1, 1, 1]}, "/noise/3", "greater"),
                ({**s, "frame": "panda_link4"}, "/q", "fewer axes")):
            problem = self.assertProblem(self.client.post("/v1/models/panda/external-wrench", request), 422, pointer)
            self.assertIn(says, problem["detail"], request)


if __name__ == "__main__":
    tap.main()
