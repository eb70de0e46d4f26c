"""feed-forward: torques against forward dynamics, rates of the motors against differences along the motion, a motion that
the torques bring about; elastic arms with friction and loads, a floating base, a rigid arm; requests that are refused."""
import copy

import numpy as np
import tap
from actuated import FLYER
from closed import Closed

ORDERS = ("q", "qd", "qdd", "qddd", "qdddd")
RIGID = {"payload": {"link": "wrist_3_link", "mass": 2, "com": [0, 0, 0.1]},
         "wrenches": [{"link": "forearm_link", "force": [3, -2, 5], "point": [0.1, 0, 0]}]}


def elastic_ur5(document):
    """All six joints elastic, the motors without links of their own."""
    document = copy.deepcopy(document)
    for i, link in enumerate(link for link in document["links"] if link["joint"]["type"] != "fixed"):
        link["joint"].update(elastic={"stiffness": 2000 / (i + 1), "rest": 0.1 * i}, rotor_inertia=0.5 / (i + 1),
                             friction={"viscous": 0.4, "coulomb": 0.3, "coulomb_velocity": 0.2})
        link["joint"].pop("limits", None)
    return {**document, "name": "limber"}


class FeedForward(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        limber = elastic_ur5(cls.client.get("/v1/models/ur5/document").json())
        hopper = copy.deepcopy(FLYER)
        hopper["links"][1]["joint"].update(elastic={"stiffness": 300}, rotor_inertia=0.05)
        for name, document in (("limber", limber), ("hopper", hopper)):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status == 201, answer
        cls.loads = {"limber": RIGID, "hua": {"payload": {"link": "link3", "mass": 1, "com": [0.3, 0, 0]}}, "hopper": {}}

    def motion(self, model, seed=1, rows=None):
        """Entries of motors are as random as the others: they have no effect."""
        document = self.ok(self.client.get(f"/v1/models/{model}"))
        choose = np.random.default_rng(seed)
        s = {name: choose.uniform(-1, 1, (rows or 1, document["nq" if name == "q" else "nv"])) for name in ORDERS}
        if model == "hopper":
            for first in (3, 7 + 2):    # the base's quaternion, and the ball's
                s["q"][:, first:first + 4] /= np.linalg.norm(s["q"][:, first:first + 4], axis=1)[:, None]
        return {name: (x if rows else x[0]).tolist() for name, x in s.items()}

    def motors(self, model):
        names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
        motors = [i for i, name in enumerate(names) if name.endswith(".motor")]
        return motors, [names.index(names[i].removesuffix(".motor")) for i in motors]

    def test_forward_dynamics(self):
        for model, loads in self.loads.items():
            s = self.motion(model)
            given = self.ask(model, "feed-forward", {**s, **loads})
            motors, joints = self.motors(model)
            self.assertEqual([given["tau"][j] for j in joints], [0] * len(joints))
            qdd = self.ask(model, "forward-dynamics", {**loads, **{name: given[name] for name in ("q", "qd", "tau")}})["qdd"]
            self.near(qdd, given["qdd"], 1e-9, model)
            for name in ("qd", "qdd"):
                others = [i for i in range(len(s[name])) if i not in motors]
                self.assertEqual([given[name][i] for i in others], [s[name][i] for i in others])

    def test_rates(self):
        """Along q(t) = q + qd t + ... + qdddd t^4/24, in central differences of sixth order."""
        weights = {1: np.array([-1, 9, -45, 0, 45, -9, 1]) / 60, 2: np.array([2, -27, 270, -490, 270, -27, 2]) / 180}
        h = 0.01
        for model in ("hua", "limber"):
            s, loads = self.motion(model, 2), self.loads[model]
            x = [np.array(s[name]) for name in ORDERS]
            rows = {}
            for r, name in enumerate(ORDERS):
                rows[name] = [sum((k * h) ** (n - r) / np.prod(range(1, n - r + 1), initial=1) * x[n] for n in range(r, 5)).tolist()
                              for k in range(-3, 4)]
            q = np.array(self.ask(model, "feed-forward", {**rows, **loads, "outputs": ["q"]})["q"])
            given = self.ask(model, "feed-forward", {**s, **loads})
            self.near(given["qd"], weights[1] @ q / h, 1e-9, model)
            self.near(given["qdd"], weights[2] @ q / h ** 2, 1e-7, model)

    def test_simulation(self):
        """The torques of a motion from rest to rest, held over short steps, bring the elastic arm to its end."""
        T, n = 1.0, 4000
        u = (np.arange(n) + 0.5) / n
        shape, rising = [], np.polynomial.Polynomial([0] * 5 + [126, -420, 540, -315, 70])   # four derivatives vanish at the ends
        for r in range(5):
            shape.append(rising.deriv(r)(u) / T ** r if r else rising(u))
        way = np.array([0.6, -0.4, 0.5])
        rows = {name: (np.outer(c, np.append(way, 0))).tolist() for name, c in zip(ORDERS, shape)}
        tau = self.ask("hua", "feed-forward", {**rows, "outputs": ["tau"]})["tau"]
        start, end = (self.ask("hua", "feed-forward", {"q": [*(f * way), 0]}) for f in (0, 1))
        answer = self.ask("hua", "rollout", {"q": start["q"], "qd": [0] * 4, "torques": tau, "step": T / n,
                                              "integrator": "rk4", "outputs": ["q_after", "qd_after"]})
        self.near(answer["q_after"][-1], end["q"], 1e-4)
        self.near(answer["qd_after"][-1], [0] * 4, 1e-3)

    def test_rigid(self):
        s = self.motion("panda", 3)
        tau = self.ask("panda", "inverse-dynamics", {name: s[name] for name in ORDERS[:3]})["tau"]
        self.assertEqual(self.ask("panda", "feed-forward", s), {**{name: s[name] for name in ORDERS[:3]}, "tau": tau})

    def test_batch(self):
        s = self.motion("limber", 4, 9)
        answer = self.ask("limber", "feed-forward", s)
        for row in range(9):
            alone = self.ask("limber", "feed-forward", {name: s[name][row] for name in ORDERS})
            self.assertEqual(alone, {name: values[row] for name, values in answer.items()})

    def test_at_rest(self):
        """At rest the spring carries gravity."""
        q = self.motion("limber", 5)["q"]
        given = self.ask("limber", "feed-forward", {"q": q})
        gravity = np.array(self.ask("limber", "bias", {"q": q, "outputs": ["gravity"]})["gravity"])[:6]
        stiffness = 2000 / np.arange(1, 7)
        self.near(given["q"][6:], np.array(q[:6]) - 0.1 * np.arange(6) + gravity / stiffness, 1e-12)
        self.near(given["tau"][6:], gravity, 1e-11)

    def test_refusals(self):
        limber = elastic_ur5(self.client.get("/v1/models/ur5/document").json())
        damped, chained = copy.deepcopy(limber), copy.deepcopy(limber)
        damped["links"][3]["joint"]["elastic"]["damping"] = 1
        link = chained["links"][3]
        link["joint"].pop("rotor_inertia")
        chained["motors"] = [{"joint": link["joint"].get("name", link["name"]), "link": link["parent"], "axis": [0, 0, 1],
                              "gear_ratio": 100, "spin_inertia": 1e-5}]
        for name, document, text in (("damped", damped, "has damping"), ("chained", chained, "up to the sixth")):
            self.assertIn(self.client.put("/v1/models/" + name, document).status, (200, 201))
            problem = self.assertProblem(self.client.post(f"/v1/models/{name}/feed-forward", {"q": [0] * 12}), 422)
            self.assertIn(text, problem["detail"])
            self.assertEqual(problem["code"], "not-supported")
        problem = self.assertProblem(self.client.post("/v1/models/four_bar/feed-forward", {"q": [0]}), 422)
        self.assertEqual(problem["code"], "not-for-loops")
        self.assertProblem(self.client.post("/v1/models/hua/feed-forward", {"q": [0] * 4, "qdddd": [0]}), 422, "/qdddd")


if __name__ == "__main__":
    tap.main()
