"""The bundled mechanisms with closed loops, their reference solutions in closed form, and random states inside their
workspaces."""
import copy
import json
import os

import numpy as np
from harness import ROOT, ServerCase
from linkages import FiveBar, FourBar
from parallel_robots import Delta, Stewart, rotation

MOTION = ("q", "qd", "qdd")
LOADS = {
    "four_bar": {"wrenches": [{"link": "coupler", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "point": [0.02, 0.01, 0]},
                              {"link": "rocker", "force": [-1, 4, 2], "torque": [0.1, -0.3, 0.2], "frame": "link"}],
                 "payload": {"link": "rocker", "mass": 0.3, "com": [0.05, 0.02, 0]}},
    "five_bar": {"wrenches": [{"link": "right_rod", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "frame": "link"},
                              {"link": "left_crank", "force": [2, 1, -3], "torque": [0.1, 0.4, -0.2], "point": [0.1, 0.05, 0.2]}]},
    "delta": {"wrenches": [{"link": "rod1a", "force": [2, -3, 1], "torque": [0.2, 0.1, -0.3], "frame": "link"},
                           {"link": "platform", "force": [-4, 1, 5], "torque": [0.3, -0.2, 0.1], "point": [0.03, 0.02, 0.01]}],
              "payload": {"link": "platform", "mass": 0.3, "com": [0.05, 0.02, -0.1]}},
    "stewart": {"wrenches": [{"link": "platform", "force": [30, -20, 10], "torque": [3, 2, 4], "point": [0.2, 0.1, 0]},
                             {"link": "cylinder3", "force": [10, 20, -30], "torque": [1, -2, 3], "frame": "link"}],
                "payload": {"link": "platform", "mass": 5, "com": [0.1, 0.2, 0.1], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.2}}}}
BIAS = ["bias", "coriolis", "gravity", "friction"]


def only(state, *names):
    return {name: state[name] for name in names}


def loads(model, operation):
    """Returns the entries of LOADS that the operation accepts."""
    return only(LOADS[model], *{"payload"} & LOADS[model].keys()) if operation in ("mass-matrix", "coriolis") else LOADS[model]


def bundled(name):
    with open(os.path.join(ROOT, "models", name + ".json")) as file:
        return json.load(file)


def pose(choose):
    """Draws a pose of the Stewart platform near the pose in which all legs have their reference length: position in m and rotation vector in
    rad."""
    return np.array([0, 0, 0.9]) + choose.uniform(-0.1, 0.1, 3), choose.uniform(-0.25, 0.25, 3)


# mass, centre of mass (m) and inertia (kg m^2) of the ground where it floats
INERTIAL = {"mass": 2, "com": [0.1, 0, 0.2], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}


class Closed(ServerCase):
    MODELS = ("four_bar", "five_bar", "delta", "stewart")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.documents = {name: bundled(name) for name in cls.MODELS}
        cls.four, cls.five, cls.delta, cls.stewart = (
            form(cls.documents[name]) for name, form in zip(cls.MODELS, (FourBar, FiveBar, Delta, Stewart)))

    @classmethod
    def put_floating_five_bar(cls):
        """The model "borne": a five-bar whose ground floats."""
        floating = {**cls.documents["five_bar"], "base": {"type": "floating", "link": "ground", "inertial": INERTIAL}}
        cls.client.put("/v1/models/borne", floating)

    def coordinates(self, model, choose):
        if model == "four_bar":
            return choose.uniform(-3, 3, 1)
        if model == "five_bar":
            return np.array([2, 1.1]) + choose.uniform(-0.3, 0.3, 2)
        if model == "delta":
            return 0.4 + choose.uniform(-0.4, 0.4, 3)
        p, vector = pose(choose)
        return self.stewart.lengths(p, rotation(vector))

    def states(self, model, rows, seed=1):
        """Draws a batch of random states: q, qd, qdd, qddd, tau."""
        choose = np.random.default_rng(seed)
        q = [self.coordinates(model, choose) for _ in range(rows)]
        scale = {"qd": 1, "qdd": 3, "qddd": 10, "tau": 2} if model != "stewart" else {"qd": 0.3, "qdd": 1, "qddd": 3, "tau": 100}
        return {"q": [list(row) for row in q],
                **{name: choose.uniform(-size, size, (rows, len(q[0]))).tolist() for name, size in scale.items()}}

    def state(self, model, seed=1):
        return {name: rows[0] for name, rows in self.states(model, 1, seed).items()}

    def full(self, model, request):
        """Returns the output `full` of inverse dynamics: all coordinates of the tree and the wrenches in the loops."""
        return self.ask(model, "inverse-dynamics", {**request, "outputs": ["full"]})["full"]

    def refused(self, answer, code, pointer=None, row=None):
        problem = self.assertProblem(answer, 422, pointer, row)
        self.assertEqual(problem["code"], code, problem)
        return problem["detail"]

    def near(self, actual, expected, tolerance=1e-10, what="", least=0):
        """Checks that shapes are equal and no entry is off by more than tolerance x the largest expected entry; `least`
        replaces this entry if it is larger."""
        actual, expected = np.array(actual, float), np.array(expected, float)
        self.assertEqual(actual.shape, expected.shape, what)
        size = max(np.abs(expected).max(initial=0), least)
        worst = np.abs(actual - expected).max(initial=0)
        self.assertLessEqual(worst, tolerance * (size or 1), f"{what}: given {actual.tolist()}, expected {expected.tolist()}")

    def check_dynamics(self, model, form, tolerance):
        """Compares each operation whose result can be derived from the energies with the Lagrangian equations of the closed form `form`."""
        s = self.states(model, 20, 6)
        n = len(s["q"][0])
        everything = {"inverse-dynamics": {}, "forward-dynamics": {}, "mass-matrix": {"outputs": ["mass_matrix", "inverse"]},
                      "bias": {"outputs": BIAS}, "energy": {"outputs": ["kinetic", "potential"]},
                      "coriolis": {"outputs": ["coriolis_matrix", "christoffel"]}}
        answer = {name: self.ask(model, name, {**{k: s[k] for k in fields}, **everything[name]}) for name, fields in {
            "inverse-dynamics": ("q", "qd", "qdd"), "forward-dynamics": ("q", "qd", "tau"), "mass-matrix": ("q",),
            "bias": ("q", "qd"), "energy": ("q", "qd"), "coriolis": ("q", "qd")}.items()}
        for r in range(20):
            q, qd, qdd, tau = (np.array(s[name][r]) for name in ("q", "qd", "qdd", "tau"))
            M, given = form.mass_matrix(q), {name: {k: v[r] for k, v in a.items()} for name, a in answer.items()}
            kinetic, potential = form.energy(q, qd)
            expected = {
                "inverse-dynamics": {"tau": form.tau(q, qd, qdd)},
                "forward-dynamics": {"qdd": np.linalg.solve(M, tau - form.bias(q, qd))},
                "mass-matrix": {"mass_matrix": M, "inverse": np.linalg.inv(M)},
                "bias": {"bias": form.bias(q, qd), "coriolis": form.coriolis(q, qd) @ qd, "gravity": form.gravity(q),
                         "friction": form.viscous * qd},
                "energy": {"kinetic": kinetic, "potential": potential},
                "coriolis": {"christoffel": form.christoffel(q)}}
            for name, outputs in expected.items():
                for output, value in outputs.items():
                    self.near(given[name][output], value, tolerance, f"{model} {name} {output}")
            C = np.array(given["coriolis"]["coriolis_matrix"])
            self.near(C @ qd, form.coriolis(q, qd) @ qd, tolerance)
            # M' from Christoffel's symbols
            d = np.einsum("ijk,k->ij", form.christoffel(q) + form.christoffel(q).transpose(1, 0, 2), qd)
            self.near(d - C - C.T, np.zeros((n, n)), tolerance * max(1, np.abs(d).max()))


class Rocked(Closed):
    """Motions of the Gough-Stewart platform as poses and as leg lengths, and the forces of its legs by equation (66) of
    Khalil 2010."""

    def poses(self, rows, seed):
        """Draws poses with their motion: (position, rotation vector, v, w, vd, wd)."""
        choose = np.random.default_rng(seed)
        return [(*pose(choose), *(choose.uniform(-x, x, 3) for x in (0.4, 0.8, 3, 5))) for _ in range(rows)]

    def driven(self, poses):
        """Returns the leg lengths, with their rates, of the given motion of the platform."""
        rows = [self.stewart.rates(p, rotation(turn), *rest) for p, turn, *rest in poses]
        return {name: [list(row[i]) for row in rows] for i, name in enumerate(("q", "qd", "qdd"))}

    def legs(self, motions):
        """Returns Gamma_i of (66): the efforts by inverse dynamics of each leg as a separate robot without the platform."""
        links = copy.deepcopy(self.documents["stewart"]["links"][:3])
        for link in links:
            for field in ("origin", "actuated", "home"):
                link["joint"].pop(field, None)
        self.put_model("leg", {"links": links})
        batch = {name: [list(m[i]) for m in motions] for i, name in enumerate(("q", "qd", "qdd"))}
        return np.array(self.ask("leg", "inverse-dynamics", batch)["tau"])

    def expected(self, poses, form=None):
        form = form or self.stewart
        forces = []
        for p, turn, v, w, vd, wd in poses:
            R = rotation(turn)
            forces.append(form.forces((p, R, v, w, vd, wd), self.legs(form.leg_motions(p, R, v, w, vd, wd))))
        return np.array(forces)
