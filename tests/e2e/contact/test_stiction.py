"""Tests forward-dynamics with sticking joints: against SciPy's bounded least squares, the conditions of static
friction, cases by hand, and the first instant of simulations."""
import cbor2
import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy.optimize import lsq_linear

STICK = {"friction_at_rest": "stick"}


def chain(rng, count):
    """Returns a chain with random axes and friction; one joint has smoothed friction, one mimics another."""
    links = []
    for i in range(count):
        joint = {"name": f"j{i}", "type": "revolute", "axis": rng.normal(size=3).tolist(), "origin": {"xyz": [0.3, 0, 0]},
                 "friction": {"coulomb": {"positive": rng.uniform(0.2, 3), "negative": rng.uniform(0.2, 3)}, "viscous": 0.1}}
        if i == 2:
            joint["friction"]["coulomb_velocity"] = 0.1
        if i == 4:
            joint["mimic"] = {"joint": "j3", "multiplier": -0.7}
        links.append({"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "joint": joint, "inertial": body(1, (0.15, 0, 0.02))})
    return {"links": links}


class Stiction(ServerCase):
    LIMITS = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(8)
        for name, count in (("three", 3), ("chain", 7)):
            document = chain(rng, count)
            assert cls.client.put(f"/v1/models/{name}", document).status == 201
            cls.LIMITS[name] = cls.limits(document)
        wheel = {"gravity": [0, 0, 0], "links": [
            {"name": "wheel", "parent": "base", "inertial": body(1), "joint": {
                "name": "axle", "type": "revolute", "axis": [0, 0, 1], "friction": {"coulomb": {"positive": 3, "negative": 2}}}}]}
        assert cls.client.put("/v1/models/wheel", wheel).status == 201

    @staticmethod
    def limits(document):
        """Returns the limits [low, high] of static friction of each coordinate."""
        limits = {}
        for joint in (l["joint"] for l in document["links"]):
            f, mimic = joint["friction"], joint.get("mimic", {"joint": joint["name"], "multiplier": 1})
            low, high = sorted(mimic["multiplier"] * x for x in (-f["coulomb"]["negative"], f["coulomb"]["positive"]))
            if f.get("coulomb_velocity"):
                low = high = 0
            a, b = limits.get(mimic["joint"], (0, 0))
            limits[mimic["joint"]] = (a + low, b + high)
        return np.array(list(limits.values()))

    def states(self, model, n, seed):
        rng = np.random.default_rng(seed)
        nv = len(self.LIMITS[model])
        qd = rng.uniform(-1, 1, (n, nv)) * (rng.uniform(size=(n, nv)) < 0.2)
        q = rng.uniform(-1.5, 1.5, (n, nv))
        g = np.array(self.ask(model, "bias", {"q": q.tolist(), "outputs": ["gravity"]})["gravity"])
        return {"q": q.tolist(), "qd": qd.tolist(), "tau": (g + rng.uniform(-4, 4, (n, nv))).tolist()}

    def test_each_direction_breaks_away_at_its_own_limit(self):
        """A torque that grows by 1 N m/s: the wheel turns from the time at which it reaches the limit of that direction, 3 or 2."""
        inertia = self.ask("wheel", "mass-matrix", {"q": [0]})["mass_matrix"][0][0]
        for sign, limit in ((1, 3), (-1, 2)):
            for how in ({"tolerance": 1e-9}, {"tolerance": 1e-9, "stiff": True}, {"step": 1e-3}):
                a = self.ask("wheel", "simulate", {"q": [0], "duration": 4, "times": [0, limit - 0.1, limit + 0.5, 4], "outputs": ["q", "qd"],
                                                   "input": {"tau": {"values": [[0], [4 * sign]]}}, **how})
                since = np.array([0, 0, 0.5, 4 - limit])
                self.assertClose(a["q"], (sign * since ** 3 / 6 / inertia)[:, None].tolist(), 1e-4, 1, (sign, how))
                self.assertClose(a["qd"], (sign * since ** 2 / 2 / inertia)[:, None].tolist(), 1e-4, 1, (sign, how))

    def test_against_bounded_least_squares(self):
        """The friction f minimises f^T A f / 2 - b^T f within its limits, with A the block of M^-1 for the joints at
        rest."""
        several = 0
        for model, n in (("three", 200), ("chain", 400)):
            request = self.states(model, n, 3)
            a = self.ask(model, "forward-dynamics", {**request, **STICK})
            free = self.ask(model, "forward-dynamics", request)["qdd"]
            inverse = self.ask(model, "mass-matrix", {"q": request["q"], "outputs": ["inverse"]})["inverse"]
            moving = self.ask(model, "bias", {"q": request["q"], "qd": request["qd"], "outputs": ["friction"]})["friction"]
            low, high = self.LIMITS[model].T
            for qd, b, A, own, qdd, friction in zip(*map(np.array, (request["qd"], free, inverse, moving, a["qdd"], a["friction"]))):
                c = np.flatnonzero((qd == 0) & (high > low))
                f = np.zeros(len(b))
                if len(c):
                    L = np.linalg.cholesky(A[np.ix_(c, c)])
                    f[c] = lsq_linear(L.T, np.linalg.solve(L, b[c]), (low[c], high[c]), method="bvls", tol=1e-14).x
                expected = b - A @ f
                self.assertLess(np.abs(friction - own - f).max(), 1e-9 * 5)
                self.assertLess(np.abs(qdd - expected).max(), 1e-9 * (1 + np.abs(b).max()))
                held = c[(f[c] > low[c] + 1e-9) & (f[c] < high[c] - 1e-9)]
                several += len(held) > 2
                self.assertTrue((qdd[held] == 0).all())
                for i in c:  # no tolerance: a joint has qdd exactly 0, or friction exactly at its limit
                    self.assertTrue(low[i] - 1e-9 <= friction[i] <= high[i] + 1e-9)
                    self.assertTrue(qdd[i] == 0 or friction[i] == (high[i] if qdd[i] > 0 else low[i]), (i, qdd, friction))
        self.assertGreater(several, 10)

    def test_equation_of_motion(self):
        request = self.states("chain", 50, 5)
        a = self.ask("chain", "forward-dynamics", {**request, **STICK})
        tau = self.ask("chain", "inverse-dynamics", {"q": request["q"], "qd": request["qd"], "qdd": a["qdd"], "friction": False})["tau"]
        self.assertClose(np.add(tau, a["friction"]).tolist(), request["tau"], 1e-11)

    def test_limits_of_one_joint(self):
        for tau, qdd, friction in ((3, 0, 3), (-2, 0, -2), (1, 0, 1), (0, 0, 0), (3.5, 0.5, 3), (-2.25, -0.25, -2), (3 + 1e-9, 1e-9, 3)):
            a = self.ask("wheel", "forward-dynamics", {"q": [0.3], "tau": [tau], **STICK})
            self.assertAlmostEqual(a["qdd"][0], qdd / 0.04, delta=1e-13)
            self.assertEqual(a["qdd"][0] == 0, qdd == 0)
            self.assertAlmostEqual(a["friction"][0], friction, delta=1e-14)
        a = self.ask("wheel", "forward-dynamics", {"q": [0.3], "qd": [1e-9], "tau": [1], **STICK})
        self.assertClose(a["qdd"], [-2 / 0.04], 1e-14)  # the wheel moves, so 3 N m of friction oppose the motor's 1 N m
        # without the field, or with "none", there is no friction at rest
        for how in ({}, {"friction_at_rest": "none"}):
            a = self.ask("wheel", "forward-dynamics", {"q": [0.3], "tau": [1], "outputs": ["qdd", "friction"], **how})
            self.assertClose([a["qdd"], a["friction"]], [[25], [0]], 1e-14)
            self.assertEqual(list(self.ask("wheel", "forward-dynamics", {"q": [0.3], "tau": [1], **how})), ["qdd"])

    def test_simulations_begin_with_it(self):
        request = self.states("chain", 60, 6)
        a = self.ask("chain", "forward-dynamics", {**request, **STICK})
        rows = [{k: v[i] for k, v in request.items()} for i in range(60)]
        for row, qdd in zip(rows, a["qdd"]):
            b = self.ask("chain", "simulate", {"q": row["q"], "qd": row["qd"], "input": {"tau": row["tau"]}, "duration": 1e-3,
                                               "tolerance": 1e-9, "times": [0], "outputs": ["qdd"]})
            self.assertClose(b["qdd"][0], qdd, 1e-10, what=str(row))

    def test_same_bits_alone(self):
        request = {**self.states("chain", 11, 7), **STICK, "outputs": ["qdd", "friction", "joint_wrenches"]}
        answer = self.client.post("/v1/models/chain/forward-dynamics", request)
        batch = self.ok(answer)
        for b in range(11):
            alone = self.ask("chain", "forward-dynamics", {k: v[b] if k in ("q", "qd", "tau") else v for k, v in request.items()})
            self.assertEqual(alone, {k: rows[b] for k, rows in batch.items()})
        other = self.client.post("/v1/models/chain/forward-dynamics", cbor2.dumps(request), Content_Type="application/cbor", Accept="application/json")
        self.assertEqual(other.body, answer.body)
        both = self.ask("chain", "evaluate", {**{k: request[k] for k in ("q", "qd", "tau")}, "operations": {
            "forward-dynamics": {**STICK, "outputs": request["outputs"]}, "energy": {}}})
        self.assertEqual(both["forward-dynamics"], batch)

    def test_errors(self):
        still = {"q": [0], "tau": [0], **STICK}
        post = lambda model, request: self.client.post(f"/v1/models/{model}/forward-dynamics", request)
        self.assertProblem(post("wheel", {**still, "friction_at_rest": "glue"}), 422, "/friction_at_rest")
        self.assertProblem(post("wheel", {**still, "friction_at_rest": True}), 422, "/friction_at_rest")
        self.assertProblem(post("wheel", {**still, "friction": False}), 422, "/friction")
        self.assertProblem(self.client.post("/v1/models/wheel/inverse-dynamics", {"q": [0], **STICK}), 422, "/friction_at_rest")


if __name__ == "__main__":
    tap.main()
