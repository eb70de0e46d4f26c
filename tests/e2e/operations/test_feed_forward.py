"""Tests feed-forward: its torques against forward dynamics, rates of the motors against differences along the motion,
and the motions that its torques cause in simulation. The robots are elastic arms with friction and loads, arms with
motors on moving links, a floating base and a rigid arm. Also tests refusals."""
import copy
import math

import numpy as np
import tap
from actuated import FLYER
from closed import Closed

ORDERS = ("q", "qd", "qdd", "qddd", "qdddd")
RIGID = {"payload": {"link": "wrist_3_link", "mass": 2, "com": [0, 0, 0.1]},
         "wrenches": [{"link": "forearm_link", "force": [3, -2, 5], "point": [0.1, 0, 0]}]}


def elastic_ur5(document):
    """Returns the UR5 with six elastic joints and rotors that are not mounted on links."""
    document = copy.deepcopy(document)
    for i, link in enumerate(link for link in document["links"] if link["joint"]["type"] != "fixed"):
        link["joint"].update(elastic={"stiffness": 2000 / (i + 1), "rest": 0.1 * i}, rotor_inertia=0.5 / (i + 1),
                             friction={"viscous": 0.4, "coulomb": 0.3, "coulomb_velocity": 0.2})
        link["joint"].pop("limits", None)
    return {**document, "name": "limber"}


def coupled_ur5(document, joints):
    """Returns the elastic UR5 whose first joints have their motors on the preceding, moving link."""
    document = elastic_ur5(document)
    moving = [link for link in document["links"] if link["joint"]["type"] != "fixed"]
    for link in moving[:joints]:
        link["joint"].pop("rotor_inertia")
    for link in moving[joints:]:
        link["joint"].pop("elastic")
    document["motors"] = [{"joint": link["joint"].get("name", link["name"]), "link": link["parent"], "axis": [0.6, 0, 0.8],
                           "gear_ratio": 10, "spin_inertia": 0.005 / (i + 1)} for i, link in enumerate(moving[:joints])]
    return document


class FeedForward(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        limber = elastic_ur5(cls.client.get("/v1/models/ur5/document").json())
        hopper = copy.deepcopy(FLYER)
        hopper["links"][1]["joint"].update(elastic={"stiffness": 300}, rotor_inertia=0.05)
        ur5 = cls.client.get("/v1/models/ur5/document").json()
        soft = coupled_ur5(ur5, 3)
        for link in soft["links"]:
            if "elastic" in link["joint"]:
                link["joint"]["elastic"]["stiffness"] /= 100
        for name, document in (("limber", limber), ("hopper", hopper), ("soft", soft), ("coupled", coupled_ur5(ur5, 6)),
                               ("chain", coupled_ur5(ur5, 3))):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status == 201, answer
        cls.loads = {"limber": RIGID, "hua": {"payload": {"link": "link3", "mass": 1, "com": [0.3, 0, 0]}}, "hopper": {},
                     "coupled": RIGID, "chain": {}, "soft": RIGID}
        cls.orders = {"coupled": 14, "chain": 8, "soft": 8}  # highest derivative of q that the model needs

    def motion(self, model, seed=1, rows=None):
        """Draws a motion. The entries of motor coordinates are random like the others; the server ignores them."""
        document = self.ok(self.client.get(f"/v1/models/{model}"))
        choose = np.random.default_rng(seed)
        s = {name: choose.uniform(-1, 1, (rows or 1, document["nq" if name == "q" else "nv"])) for name in ORDERS}
        higher = choose.uniform(-1, 1, (self.orders.get(model, 4) - 4, rows or 1, document["nv"]))
        higher *= 4.0 ** np.arange(1, len(higher) + 1)[:, None, None]
        if model == "hopper":
            for first in (3, 7 + 2):  # the quaternions of the floating base and of the spherical joint
                s["q"][:, first:first + 4] /= np.linalg.norm(s["q"][:, first:first + 4], axis=1)[:, None]
        s = {name: (x if rows else x[0]).tolist() for name, x in s.items()}
        return {**s, "higher_derivatives": (higher if rows else higher[:, 0]).tolist()} if len(higher) else s

    @staticmethod
    def motion_of(derivatives):
        """Returns the request's fields for a list of q and its derivatives."""
        rows = [np.asarray(x).tolist() for x in derivatives]
        return {**dict(zip(ORDERS, rows)), **({"higher_derivatives": rows[5:]} if len(rows) > 5 else {})}

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
        """Compares rates of the motors with central differences of sixth order along q(t) = q + qd t + qdd t^2/2 + ..."""
        weights = {1: np.array([-1, 9, -45, 0, 45, -9, 1]) / 60, 2: np.array([2, -27, 270, -490, 270, -27, 2]) / 180}
        h = 0.005
        for model in ("hua", "limber", "soft", "coupled"):
            s, loads = self.motion(model, 2), self.loads[model]
            x = [np.array(s[name]) for name in ORDERS] + [np.array(y) for y in s.get("higher_derivatives", [])]
            rows = [[sum((k * h) ** (n - r) / math.factorial(n - r) * x[n] for n in range(r, len(x))) for k in range(-3, 4)]
                    for r in range(len(x))]
            q = np.array(self.ask(model, "feed-forward", {**self.motion_of(rows), **loads, "outputs": ["q"]})["q"])
            given = self.ask(model, "feed-forward", {**s, **loads})
            self.near(given["qd"], weights[1] @ q / h, 1e-9, model)
            self.near(given["qdd"], weights[2] @ q / h ** 2, 1e-7, model)

    def follow(self, model, way, T, n):
        """Simulates a rest-to-rest motion of an elastic arm with torques held constant over n short steps. Returns the
        final state and the desired one."""
        order = self.orders.get(model, 4)
        u = (np.arange(n) + 0.5) / n
        # zero with all needed derivatives at both ends
        rate = np.polynomial.Polynomial([0, 1]) ** order * np.polynomial.Polynomial([1, -1]) ** order
        rising = (rate / rate.integ()(1)).integ()
        shape = [(rising.deriv(r)(u) if r else rising(u)) / T ** r for r in range(order + 1)]
        nv = len(self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"])
        way = np.append(way, np.zeros(nv - len(way)))
        tau = self.ask(model, "feed-forward", {**self.motion_of([np.outer(c, way) for c in shape]), "outputs": ["tau"]})["tau"]
        still = [[0] * nv] * (order - 4)
        start, end = (self.ask(model, "feed-forward", {"q": (f * way).tolist(), **({"higher_derivatives": still} if still else {})})
                      for f in (0, 1))
        answer = self.ask(model, "rollout", {"q": start["q"], "qd": [0] * nv, "torques": tau, "step": T / n,
                                              "integrator": "rk4", "outputs": ["q_after", "qd_after"]})
        return answer, end

    def test_simulation(self):
        answer, end = self.follow("hua", [0.6, -0.4, 0.5], 1.0, 4000)
        self.near(answer["q_after"][-1], end["q"], 1e-4)
        self.near(answer["qd_after"][-1], [0] * 4, 1e-3)

    def test_simulation_of_a_chain(self):
        answer, end = self.follow("chain", [0.6, -0.4, 0.5, 0.3, -0.2, 0.4], 2.0, 2000)
        self.near(answer["q_after"][-1], end["q"], 1e-5)
        self.near(answer["qd_after"][-1], [0] * 9, 1e-4)

    def test_rigid(self):
        s = self.motion("panda", 3)
        tau = self.ask("panda", "inverse-dynamics", {name: s[name] for name in ORDERS[:3]})["tau"]
        self.assertEqual(self.ask("panda", "feed-forward", s), {**{name: s[name] for name in ORDERS[:3]}, "tau": tau})

    def test_batch(self):
        for model in ("limber", "coupled"):
            s = self.motion(model, 4, 9)
            answer = self.ask(model, "feed-forward", s)
            for row in range(9):
                one = {name: s[name][row] for name in ORDERS}
                if model == "coupled":
                    one["higher_derivatives"] = [x[row] for x in s["higher_derivatives"]]
                alone = self.ask(model, "feed-forward", one)
                self.assertEqual(alone, {name: values[row] for name, values in answer.items()})

    def test_shared_and_other_derivatives(self):
        """The answer stays the same with one vector that all rows share, with derivatives of higher order than the model needs, and with another
        order of the joints."""
        s = self.motion("chain", 6, 5)
        for x in s["higher_derivatives"]:
            x[:] = [x[0]] * 5
        answer = self.ask("chain", "feed-forward", s)
        shared = [x[0] for x in s["higher_derivatives"]]
        self.assertEqual(self.ask("chain", "feed-forward", {**s, "higher_derivatives": shared + [[7] * 9]}), answer)
        names = self.ok(self.client.get("/v1/models/chain"))["velocity_names"]
        turned = {name: np.array(x)[..., ::-1].tolist() for name, x in s.items()}
        other = self.ask("chain", "feed-forward", {**turned, "joints": names[::-1]})
        self.assertEqual({name: np.array(x)[..., ::-1].tolist() for name, x in other.items()}, answer)
        both = self.ask("chain", "evaluate", {**s, "operations": {"feed-forward": {"outputs": ["tau"]}, "energy": {}}})
        self.assertEqual(both["feed-forward"], {"tau": answer["tau"]})

    def test_at_rest(self):
        """At rest the springs of elastic joints carry the weight of the links."""
        q = self.motion("limber", 5)["q"]
        given = self.ask("limber", "feed-forward", {"q": q})
        gravity = np.array(self.ask("limber", "bias", {"q": q, "outputs": ["gravity"]})["gravity"])[:6]
        stiffness = 2000 / np.arange(1, 7)
        self.near(given["q"][6:], np.array(q[:6]) - 0.1 * np.arange(6) + gravity / stiffness, 1e-12)
        self.near(given["tau"][6:], gravity, 1e-11)

    def test_refusals(self):
        limber = elastic_ur5(self.client.get("/v1/models/ur5/document").json())
        damped, circle = copy.deepcopy(limber), coupled_ur5(limber, 3)
        damped["links"][3]["joint"]["elastic"]["damping"] = 1
        circle["motors"][0]["link"] = circle["motors"][2]["link"]  # a motor on a link that its own joint moves
        for name, document, text in (("damped", damped, "has damping"), ("circle", circle, "above 24")):
            self.assertIn(self.client.put("/v1/models/" + name, document).status, (200, 201))
            q = [0] * self.ok(self.client.get(f"/v1/models/{name}"))["nq"]
            problem = self.assertProblem(self.client.post(f"/v1/models/{name}/feed-forward", {"q": q}), 422)
            self.assertIn(text, problem["detail"])
            self.assertEqual(problem["code"], "not-supported")
        still = {"q": [0] * 9}
        for given, missing in ((0, 5), (1, 6), (3, 8)):
            if given:
                still["higher_derivatives"] = [[0] * 9] * given
            problem = self.assertProblem(self.client.post("/v1/models/chain/feed-forward", still), 422, "/higher_derivatives")
            self.assertEqual(problem["code"], "missing-field")
            self.assertIn(f"elastic joint shoulder_pan_joint moves", problem["detail"])
            self.assertIn(f"up to order 8, and order {missing} is missing", problem["detail"])
        for higher, place, code in ([], "", "wrong-shape"), ({}, "", "wrong-type"), ([[0] * 9] * 21, "", "wrong-shape"), (
                [[0] * 9] * 3 + [[0] * 8], "/3", "wrong-shape"), ([[0] * 9] * 3 + [[[0] * 9] * 2], "/3/0", "ok"):
            answer = self.client.post("/v1/models/chain/feed-forward", {"q": [0] * 9, "higher_derivatives": higher})
            if code == "ok":
                self.assertEqual(len(self.ok(answer)["tau"]), 2)
            else:
                self.assertEqual(self.assertProblem(answer, 422, "/higher_derivatives" + place)["code"], code)
        self.assertProblem(self.client.post("/v1/models/hua/bias", {"q": [0] * 4, "higher_derivatives": [[0] * 4]}), 422,
                           "/higher_derivatives")
        problem = self.assertProblem(self.client.post("/v1/models/four_bar/feed-forward", {"q": [0]}), 422)
        self.assertEqual(problem["code"], "not-for-loops")
        self.assertProblem(self.client.post("/v1/models/hua/feed-forward", {"q": [0] * 4, "qdddd": [0]}), 422, "/qdddd")


if __name__ == "__main__":
    tap.main()
