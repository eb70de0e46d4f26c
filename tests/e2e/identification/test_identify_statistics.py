"""Tests the estimate and the statistics of identify against weighted least squares in NumPy. By the contract each
coordinate is weighted with its own noise if it has twice as many rows as there are parameters; the weights are updated
until none changes by more than a factor of 1e-4."""
import numpy as np
import tap
from harness import ServerCase
from samples import chain

NAMES = ["j0", "j1", "j2"]
NOISE = np.array([0.02, 0.3, 1.5])


def solve(A, y, deviations):
    """Returns the parameters, the inverse of the normal matrix, and for each coordinate its sum of squared residuals and the number of its
    degrees of freedom that the parameters take. A is [row, nv, n]."""
    rows, nv, n = A.shape
    scaled = A / deviations[:, None]
    flat = scaled.reshape(rows * nv, n)
    x = np.linalg.lstsq(flat, (y / deviations).reshape(-1), rcond=None)[0]
    inverse = np.linalg.inv(flat.T @ flat)
    left = ((y - A @ x) ** 2).sum(axis=0)
    settled = np.einsum("rvi,ij,rvj->v", scaled, inverse, scaled)
    return x, inverse, left, settled, flat


def growth(scaled, inverse, free):
    """Returns the factor by which estimating the weights increases each parameter's variance: 1 + 4 sum p (1 - p) / f
    over the coordinates, with p the part of the parameter's variance that comes from one coordinate, and f the degrees of freedom
    of that coordinate's noise."""
    share = (np.einsum("ki,rvi->rvk", inverse, scaled) ** 2).sum(axis=0) / np.diag(inverse)
    return 1 + 4 * (share * (1 - share) / free[:, None]).sum(axis=0)


def expected(A, y, rounds):
    """Computes the server's estimate once more in NumPy; `rounds` is the greatest number of updates of the weights."""
    rows, nv, n = A.shape
    deviations = np.ones(nv)
    for _ in range(rounds):
        _, _, left, settled, _ = solve(A, y, deviations)
        noise = np.sqrt(left / (rows - settled))
        if (np.abs(noise - deviations) <= 1e-4 * deviations).all():
            break
        deviations = noise
    x, inverse, left, settled, flat = solve(A, y, deviations)
    s = np.sqrt((left / deviations ** 2).sum() / (rows * nv - n))
    lengths = np.linalg.norm(flat, axis=0)
    weighted = growth(A / deviations[:, None], inverse, rows - settled) if rounds else 1
    return {"value": x, "deviation": s * np.sqrt(np.diag(inverse) * weighted), "residual": np.sqrt(left.sum() / (rows * nv)),
            "noise": np.sqrt(left / (rows - settled)), "condition": np.linalg.cond(flat / lengths)}


class Statistics(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/arm", chain(3))
        cls.n = len(cls.client.post("/v1/models/arm/regressor", {"q": [0] * 3, "outputs": ["base_parameters"]})
                    .json()["base_parameters"])

    def measured(self, rows, seed):
        choose = np.random.default_rng(seed)
        motion = {name: choose.uniform(-size, size, (rows, 3)).tolist() for name, size in (("q", 3), ("qd", 2), ("qdd", 5))}
        A = np.array(self.ask("arm", "regressor", {**motion, "outputs": ["base_regressor"]})["base_regressor"])
        tau = np.array(self.ask("arm", "inverse-dynamics", motion)["tau"]) + choose.normal(size=(rows, 3)) * NOISE
        return motion, A, tau

    def check(self, request, A, tau, rounds):
        given = self.ask("arm", "identify", request)
        wanted = expected(A, tau, rounds)
        for name in ("value", "deviation"):
            self.assertClose([p[name] for p in given["base_parameters"]], wanted[name].tolist(), 1e-8, what=name)
        self.assertClose(given["noise"], wanted["noise"].tolist(), 1e-8)
        self.assertClose(given["residual"], wanted["residual"], 1e-8)
        self.assertClose(given["condition"], wanted["condition"], 1e-8)
        return given

    def test_weighted_anew(self):
        for rows in (2 * self.n, 200):
            motion, A, tau = self.measured(rows, rows)
            self.check({**motion, "tau": tau.tolist()}, A, tau, 60)
            self.assertGreater(np.abs(expected(A, tau, 60)["value"] - expected(A, tau, 1)["value"]).max(), 1e-6)
        self.assertGreater(np.abs(expected(A, tau, 60)["value"] - expected(A, tau, 2)["value"]).max(), 1e-6)

    def test_too_few_rows_to_tell_noise(self):
        motion, A, tau = self.measured(2 * self.n - 1, 5)
        self.check({**motion, "tau": tau.tolist()}, A, tau, 0)

    def test_weights_of_the_request(self):
        """Weights of the request are used unchanged; a row of weight zero has no effect."""
        motion, A, tau = self.measured(100, 6)
        request = {**motion, "tau": tau.tolist(), "weights": [[1.0] * 3] * 100}
        given = self.check(request, A, tau, 0)
        wild = {name: rows + rows[:1] for name, rows in request.items()}
        wild["tau"] = request["tau"] + [[1e6] * 3]
        wild["weights"] = request["weights"] + [[0.0] * 3]
        self.assertEqual(self.ask("arm", "identify", wild), given)

    def test_noise_is_in_the_order_of_the_request(self):
        motion, A, tau = self.measured(200, 7)
        given = self.ask("arm", "identify", {**motion, "tau": tau.tolist()})
        for order in ((1, 2, 0), (2, 0, 1)):
            turned = {name: [[row[i] for i in order] for row in rows] for name, rows in (*motion.items(), ("tau", tau.tolist()))}
            again = self.ask("arm", "identify", {**turned, "joints": [NAMES[i] for i in order]})
            self.assertEqual(again["noise"], [given["noise"][i] for i in order])
            self.assertEqual(again["base_parameters"], given["base_parameters"])


if __name__ == "__main__":
    tap.main()
