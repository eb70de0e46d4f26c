"""Tests springs and dampers with higher powers in all operations. Three slides along one line, of which the last follows the first
as r q + o, have a constant mass matrix, so that all torques and derivatives are sums of closed forms of the springs."""
import json
import math
import os
import subprocess
import tempfile

import mujoco3
import numpy as np
import tap
from harness import BINARY, ServerCase
from mujoco3 import Compiled

MASSES, RATIO, OFFSET = (1.3, 0.7, 0.4), -1.7, 0.25
# for each slide: coefficients of x, x^2, x^3 (stiffness) and of v, v|v|, v^3 (damping), and the rest position
SPRINGS = ((3.0, -2.5, 4.0, 0.6, 0.3, 0.2, 0.15), (0.0, 1.5, 0.7, 0.0, 0.0, 0.45, -0.2), (1.1, 0.8, 0.9, 0.2, 0.35, 0.1, 0.3))
Q, QD, QDD, QDDD = (np.array(x) for x in ([0.7, -0.4], [-1.2, 0.9], [0.3, 1.4], [0.8, -0.5]))
MULTIPLIERS = np.array([0.6, -1.3])


def spring(k1, k2, k3, d1, d2, d3, rest):
    return {"stiffness": k1, "damping": d1, "rest": rest, "stiffness_polynomial": [k2, k3], "damping_polynomial": [d2, d3]}


def slides(springs=SPRINGS, coupled=True, kind="prismatic"):
    links = [{"name": f"l{k}", "parent": "base", "inertial": {"mass": mass, "inertia": {"xx": mass, "yy": mass, "zz": mass}},
              "joint": {"name": f"j{k}", "type": kind, "axis": [1, 0, 0], "origin": {"xyz": [0, k, 0]}, "spring": spring(*figures)}}
             for k, (mass, figures) in enumerate(zip(MASSES, springs))]
    if coupled:
        links[2]["joint"]["mimic"] = {"joint": "j0", "multiplier": RATIO, "offset": OFFSET}
    return {"links": links, "gravity": [0, 0, -9.81]}


class Line:
    """Closed forms: efforts and their derivatives, in terms of q and qd of the two slides that have coordinates."""
    G = np.array([[1, 0], [0, 1], [RATIO, 0]])
    M = G.T @ np.diag(MASSES) @ G
    k1, k2, k3, d1, d2, d3, rest = np.array(SPRINGS).T

    def __init__(self, q, qd):
        self.x, self.v = self.G @ q + np.array([0, 0, OFFSET]) - self.rest, self.G @ qd

    def effort(self):
        x, v = self.x, self.v
        return self.G.T @ (self.k1 * x + self.k2 * x**2 + self.k3 * x**3 + self.d1 * v + self.d2 * v * abs(v) + self.d3 * v**3)

    def slopes(self):
        return tuple(self.G.T @ np.diag(c) @ self.G for c in (
            self.k1 + 2 * self.k2 * self.x + 3 * self.k3 * self.x**2, self.d1 + 2 * self.d2 * abs(self.v) + 3 * self.d3 * self.v**2))

    def bends(self):
        return 2 * self.k2 + 6 * self.k3 * self.x, 2 * self.d2 * np.sign(self.v) + 6 * self.d3 * self.v

    def curvatures(self, u):
        """Returns the second derivatives of u . effort by q and by qd."""
        return tuple(self.G.T @ np.diag(c * (self.G @ u)) @ self.G for c in self.bends())

    def energy(self):
        return (self.k1 * self.x**2 / 2 + self.k2 * self.x**3 / 3 + self.k3 * self.x**4 / 4).sum()


class Polynomials(ServerCase):
    def setUp(self):
        self.put_model("line", slides())
        self.line = Line(Q, QD)
        self.state = {"q": Q.tolist(), "qd": QD.tolist(), "qdd": QDD.tolist()}
        self.tau = Line.M @ QDD + self.line.effort()
        self.K, self.D = self.line.slopes()

    def near(self, answer, **expected):
        for name, value in expected.items():
            self.assertClose(np.array(answer[name]).tolist(), np.array(value).tolist(), 1e-12, scale=1, what=name)

    def test_efforts_accelerations_and_energy(self):
        self.near(self.ask("line", "inverse-dynamics", self.state), tau=self.tau)
        self.near(self.ask("line", "bias", {"q": self.state["q"], "qd": self.state["qd"]}), bias=self.line.effort())
        self.near(self.ask("line", "forward-dynamics", {"q": self.state["q"], "qd": self.state["qd"], "tau": self.tau.tolist()}), qdd=QDD)
        self.near(self.ask("line", "energy", {"q": self.state["q"], "outputs": ["potential"]}), potential=self.line.energy())

    def test_first_derivatives(self):
        self.near(self.ask("line", "sensitivity", self.state), dtau_dq=self.K, dtau_dqd=self.D, dtau_dqdd=Line.M)
        forward = self.ask("line", "forward-sensitivity", {"q": self.state["q"], "qd": self.state["qd"], "tau": self.tau.tolist()})
        inverse = np.linalg.inv(Line.M)
        self.near(forward, dqdd_dq=-inverse @ self.K, dqdd_dqd=-inverse @ self.D)
        self.near(self.ask("line", "gradient", {**self.state, "multipliers": MULTIPLIERS.tolist()}), gradient_q=self.K.T @ MULTIPLIERS,
                  gradient_qd=self.D.T @ MULTIPLIERS, gradient_qdd=Line.M @ MULTIPLIERS)

    def test_along_directions(self):
        e, g, j = (np.array(x) for x in ([0.4, -0.7], [1.2, 0.3], [-0.6, 0.9]))
        asked = {"q": [e.tolist()], "qd": [g.tolist()], "qdd": [j.tolist()]}
        self.near(self.ask("line", "directional", {**self.state, "directions": asked}), rates=[self.K @ e + self.D @ g + Line.M @ j])
        by_q, by_qd = self.line.curvatures(MULTIPLIERS)
        products = self.ask("line", "gradient", {**self.state, "multipliers": MULTIPLIERS.tolist(), "directions": asked,
                                                "outputs": ["hessian_products_q", "hessian_products_qd"]})
        self.near(products, hessian_products_q=[by_q @ e], hessian_products_qd=[by_qd @ g])

    def test_second_derivatives(self):
        by_q, by_qd = self.line.curvatures(MULTIPLIERS)
        outputs = ["hessian_q_q", "hessian_qd_qd", "hessian_q_qd"]
        self.near(self.ask("line", "hessian", {**self.state, "multipliers": MULTIPLIERS.tolist(), "outputs": outputs}), hessian_q_q=by_q,
                  hessian_qd_qd=by_qd, hessian_q_qd=np.zeros((2, 2)))

    def test_rates(self):
        rate = self.K @ QD + self.D @ QDD + Line.M @ QDDD
        self.near(self.ask("line", "torque-derivative", {**self.state, "qddd": QDDD.tolist()}), tau=self.tau, tau_dot=rate)

    def test_steps_and_rollouts(self):
        """Derivatives of a step are those of the accelerations."""
        h, tau = 1e-3, [0.4, -0.2]
        qdd = np.linalg.solve(Line.M, tau - self.line.effort())
        step = self.ask("line", "step", {"q": self.state["q"], "qd": self.state["qd"], "tau": tau, "step": h})
        self.near(step, qd_after=QD + h * qdd)
        inverse = np.linalg.inv(Line.M)
        below = np.hstack((-h * inverse @ self.K, np.eye(2) - h * inverse @ self.D))
        self.near({"rows": step["state_matrix"][2:]}, rows=below)

    def test_simulated_energy(self):
        """Springs keep the energy that they take; the work of dampers is the change of kinetic and potential energy."""
        answer = self.ask("line", "simulate", {"q": self.state["q"], "qd": self.state["qd"], "duration": 1.5, "samples": 20, "integrator": "dopri5",
                                               "tolerance": 1e-11, "outputs": ["q", "qd", "kinetic", "potential", "friction_work"]})
        self.assertClose(answer["potential"], [Line(np.array(q), QD).energy() for q in answer["q"]], 1e-10)
        total = np.array(answer["kinetic"]) + answer["potential"]
        self.assertClose((total - total[0]).tolist(), answer["friction_work"], 1e-7)
        self.assertLess(total[-1], total[0] - 0.5)

    def test_paths_refuse_the_damper_alone(self):
        damped = self.assertProblem(self.client.post("/v1/models/line/path", {"q": [Q.tolist()], "qd": [[1, 1]]}), 422)
        self.assertIn("damping_polynomial", damped["detail"])
        self.put_model("springs", slides([(*figures[:3], figures[3], 0, 0, figures[6]) for figures in SPRINGS]))
        still = Line(Q, np.zeros(2)).effort()
        self.near(self.ask("springs", "path", {"q": [Q.tolist()], "qd": [[1, 1]]}), tau_c=[still])

    def test_locked(self):
        """The spring of a locked joint has no effect. Locking the motor of an elastic joint is refused if the joint has a spring with
        higher powers."""
        answer = self.ask("line", "inverse-dynamics", {"q": [Q[1]], "qd": [QD[1]], "qdd": [QDD[1]], "locked": {"j0": 0.3}})
        self.assertClose(answer["tau"], [self.tau[1]], 1e-12)
        document = slides(coupled=False)
        document["links"][0]["joint"]["elastic"] = {"stiffness": 30}
        self.put_model("elastic", document)
        problem = self.assertProblem(self.client.post("/v1/models/elastic/bias", {"q": [0.1] * 3, "locked": {"j0.motor": 0.2}}), 422)
        self.assertIn("stiffness_polynomial", problem["detail"])


class Written(mujoco3.Agreement):
    def convert(self, form):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "line.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"name": "line", **slides(coupled=False, kind="revolute")}, file)
            done = subprocess.run([BINARY, "convert", "--to", form, path], capture_output=True, text=True, check=False)
            return done.stdout, done.stderr

    def test_mjcf_keeps_them(self):
        """MuJoCo computes the same efforts from the written MJCF file."""
        text, said = self.convert("mjcf")
        self.assertNotIn("polynomial", said)
        self.agree(text)
        theirs = Compiled(text).answer([[[0.7, -0.4, 0.2], [-1.2, 0.9, 0.5], [0.0] * 3]])[0]["passive"]
        x, v = np.array([0.7, -0.4, 0.2]) - Line.rest, np.array([-1.2, 0.9, 0.5])
        own = Line.k1 * x + Line.k2 * x**2 + Line.k3 * x**3 + Line.d1 * v + Line.d2 * v * abs(v) + Line.d3 * v**3
        self.assertClose(theirs, (-own).tolist(), 1e-12)

    def test_disabled_forces(self):
        """Flags of MuJoCo leave out all powers."""
        text, _ = self.convert("mjcf")
        option = '<option gravity="0 0 -9.81"/>'
        self.assertIn(option, text)
        for force, left in (("spring", "damping_polynomial"), ("damper", "stiffness_polynomial")):
            self.agree(text.replace(option, f'<option gravity="0 0 -9.81"><flag {force}="disable"/></option>'), force)
            document = json.dumps(self.client.get(f"/v1/models/{force}/document").json())
            self.assertEqual([name for name in ("damping_polynomial", "stiffness_polynomial") if name in document], [left])

    def test_other_formats_tell_the_loss(self):
        for form in ("urdf", "sdf"):
            _, said = self.convert(form)
            for name in ("stiffness_polynomial", "damping_polynomial"):
                self.assertIn(f'"spring/{name}" of joint "j0"', said, form)
        self.assertTrue(math.isfinite(Line(Q, QD).energy()))


if __name__ == "__main__":
    tap.main()
