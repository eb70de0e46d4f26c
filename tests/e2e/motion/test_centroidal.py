"""Tests the motion of the centre of mass and the rates of the momentum in energy against differences in time, of a tree and of a mechanism with
loops. tests/dynamics/test_momentum.c compares random trees and all derivatives with the complex step."""
import numpy as np
import tap
from closed import Closed

RATES = {"com_acceleration": "com_velocity", "com_jerk": "com_acceleration", "momentum_rate": "momentum", "momentum_matrix_dot": "momentum_matrix"}


class Centroidal(Closed):
    def test_rates_are_differences_in_time(self):
        """Compares with central differences of fourth order, which have errors of h^4 and 1e-16/h."""
        h = 1e-3
        for model in ("panda", "five_bar"):
            about, choose = self.ok(self.client.get(f"/v1/models/{model}")), np.random.default_rng(1)
            q = np.array(about["reference"]["q"] if "reference" in about else [0.1, -0.5, 0.2, -2, 0.3, 1.5, 0.7])
            qd, qdd, qddd = choose.normal(size=(3, about["nv"]))
            times = h * np.array([-2, -1, 1, 2])[:, None]
            moved = {"q": q + qd * times + qdd * times ** 2 / 2 + qddd * times ** 3 / 6, "qd": qd + qdd * times + qddd * times ** 2 / 2,
                     "qdd": qdd + qddd * times}
            rows = self.ask(model, "energy", {**{k: v.tolist() for k, v in moved.items()}, "outputs": sorted(set(RATES.values()))})
            state = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "qddd": qddd.tolist()}
            got = self.ask(model, "energy", {**state, "outputs": list(RATES)})
            for rate, name in RATES.items():
                x = np.array(rows[name])
                self.near(got[rate], ((8 * (x[2] - x[1]) - (x[3] - x[0])) / (12 * h)).tolist(), 1e-9, f"{model} {rate}")

    def test_the_rate_of_the_momentum_is_the_wrench_of_the_ground(self):
        """Gravity alone acts on a floating robot that its joints move, and has no moment about the centre of mass."""
        about, choose = self.ok(self.client.get("/v1/models/solo12")), np.random.default_rng(2)
        q = self.ask("solo12", "configuration", {"seed": 3})["random"]
        qd = choose.normal(size=about["nv"]).tolist()
        tau = [0] * 6 + choose.normal(size=12).tolist()
        qdd = self.ask("solo12", "forward-dynamics", {"q": q, "qd": qd, "tau": tau})["qdd"]
        answer = self.ask("solo12", "energy", {"q": q, "qd": qd, "qdd": qdd, "outputs": ["mass", "momentum_rate", "com_acceleration"]})
        self.near(answer["momentum_rate"], [0, 0, -9.81 * answer["mass"], 0, 0, 0], 1e-11)
        self.near(answer["com_acceleration"], [0, 0, -9.81], 1e-11)

    def test_derivatives_are_for_trees(self):
        self.refused(self.client.post("/v1/models/five_bar/energy", {"q": [0.5, 2.5], "outputs": ["d_momentum_dq"]}), "not-for-loops")


if __name__ == "__main__":
    tap.main()
