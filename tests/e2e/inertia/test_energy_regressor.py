"""Tests the outputs of regressor for energies and the momentum against the operation energy with other parameters."""
import numpy as np
import tap
from closed import Closed
from samples import branched, states

TREES = ("panda", "humanoid", "branched")
LOOPS = ("four_bar", "delta", "stewart")
ROWS = ["kinetic_regressor", "potential_regressor", "momentum_regressor"]
JOINTS = ["joint_kinetic_regressor", "joint_momentum_regressor"]


def parameters(rng, count):
    """Draws ten parameters of each body: those of three point masses and a ball, which are physical."""
    drawn = []
    for _ in range(count):
        masses, points = rng.uniform(0.2, 1, 3), rng.uniform(-0.3, 0.3, (3, 3))
        p = np.zeros(10)
        p[4] = p[6] = p[9] = 0.01
        for mass, x in zip(masses, points):
            J = mass * (x @ x * np.eye(3) - np.outer(x, x))
            p += [mass, *(mass * x), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]]
        drawn.append(p)
    return np.array(drawn)


class EnergyRegressor(Closed):
    def setUp(self):
        super().setUp()
        self.put_model("branched", branched("floating"))

    def state_of(self, model, seed):
        """Returns q and qd of one row, and the links of the bodies."""
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        if model in LOOPS:
            s = self.state(model, seed)
            return {name: s[name] for name in ("q", "qd")}, about["bodies"]
        s = states(1, about["nv"], model != "panda", seed)
        return {name: s[name][0] for name in ("q", "qd")}, about["bodies"]

    def energies(self, model, state, links, p):
        """Returns kinetic and potential energy and the momentum about the world's origin for parameters p."""
        answer = self.ask(model, "energy", {**state, "parameters": {link: row.tolist() for link, row in zip(links, p)},
                                            "outputs": ["kinetic", "potential", "com", "momentum"]})
        l = np.array(answer["momentum"])
        l[3:] += np.cross(answer["com"], l[:3])
        return np.array([answer["kinetic"], answer["potential"], *l])

    def test_energies_are_linear_in_the_parameters(self):
        """Differences of two sets of parameters: what rotors and springs add is the same, and cancels."""
        rng = np.random.default_rng(4)
        for seed, model in enumerate((*TREES, *LOOPS)):
            state, links = self.state_of(model, 40 + seed)
            first, second = parameters(rng, len(links)), parameters(rng, len(links))
            rows = self.ask(model, "regressor", {**state, "outputs": ROWS})
            Y = np.vstack([rows["kinetic_regressor"], rows["potential_regressor"], rows["momentum_regressor"]])
            values = [self.energies(model, state, links, p) for p in (first, second)]
            scale = np.abs(Y) @ np.abs(first).ravel() + np.abs(values[0])
            excess = np.abs(Y @ (first - second).ravel() - (values[0] - values[1])) - 1e-13 * scale
            self.assertLessEqual(np.max(excess), 0, model)

    def test_rows_of_a_batch_and_alone_have_the_same_bits(self):
        state, _ = self.state_of("humanoid", 3)
        request = {"outputs": [*ROWS, *JOINTS]}
        one = self.ask("humanoid", "regressor", {**state, **request})
        many = self.ask("humanoid", "regressor", {name: [x] * 11 for name, x in state.items()} | request)
        for name in request["outputs"]:
            self.assertEqual(many[name], [one[name]] * 11, name)

    def test_rotors(self):
        """An arm with a motor on its first link and a reflected rotor: T = J (sd^2 / 2 + sd w.z), k = J sd z, by hand."""
        self.put_model("geared", {"base": {"type": "fixed", "link": "base"}, "links": [
            {"name": "a", "parent": "base", "inertial": {"mass": 2, "inertia": {"xx": 0.008, "yy": 0.008, "zz": 0.008}},
             "joint": {"name": "one", "type": "revolute", "axis": [0, 0, 1], "rotor_inertia": 0.3}},
            {"name": "b", "parent": "a", "inertial": {"mass": 1, "inertia": {"xx": 0.004, "yy": 0.004, "zz": 0.004}},
             "joint": {"name": "two", "type": "revolute", "axis": [1, 0, 0]}}],
            "motors": [{"joint": "two", "link": "a", "axis": [0, 0.6, 0.8], "gear_ratio": 7, "spin_inertia": 0.002}]})
        qd, angle = [0.7, -0.4], 0.5
        answer = self.ask("geared", "regressor", {"q": [angle, 0.2], "qd": qd, "outputs": JOINTS})
        spin = 7 * qd[1]
        self.assertClose(answer["joint_kinetic_regressor"], [qd[0] ** 2 / 2, 0, 0, spin ** 2 / 2 + spin * 0.8 * qd[0], 0, 0], 1e-15, 1)
        z = [-0.6 * np.sin(angle), 0.6 * np.cos(angle), 0.8]
        expected = np.zeros((6, 6))
        expected[3:, 3] = spin * np.array(z)
        self.assertClose(answer["joint_momentum_regressor"], expected.tolist(), 1e-15, 3)
        energy = self.ask("geared", "energy", {"q": [angle, 0.2], "qd": qd})
        rows = self.ask("geared", "regressor", {"q": [angle, 0.2], "qd": qd, "outputs": ROWS})
        at = lambda m: [m, 0, 0, 0, m * 0.004, 0, m * 0.004, 0, 0, m * 0.004]
        bodies = np.array(at(2) + at(1))
        self.assertAlmostEqual(rows["kinetic_regressor"] @ bodies + 0.3 * answer["joint_kinetic_regressor"][0]
                               + 0.002 * answer["joint_kinetic_regressor"][3], energy["kinetic"], delta=1e-15)

    def test_the_work_of_the_torques(self):
        """qd . tau is the rate of the energies for any parameters, by central differences along the motion."""
        rng = np.random.default_rng(9)
        state, links = self.state_of("panda", 17)
        q, qd, qdd = (np.array(x) for x in (state["q"], state["qd"], rng.uniform(-1, 1, 7)))
        p = parameters(rng, len(links)).ravel()
        tau = np.array(self.ask("panda", "regressor", {**state, "qdd": qdd.tolist()})["regressor"]) @ p

        def energy(t):
            rows = self.ask("panda", "regressor", {"q": (q + t * qd + t * t / 2 * qdd).tolist(), "qd": (qd + t * qdd).tolist(), "outputs": ROWS[:2]})
            return (np.array(rows["kinetic_regressor"]) + rows["potential_regressor"]) @ p
        h = 1e-3
        rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
        self.assertAlmostEqual(qd @ tau, rate, delta=1e-8 * abs(energy(0)))


if __name__ == "__main__":
    tap.main()
