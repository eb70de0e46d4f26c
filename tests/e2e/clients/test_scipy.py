"""Tests torqued.scipy: gradients and operators against differences, and problems that minimize and least_squares solve."""
import numpy as np
import tap
from harness import ServerCase
from python_client import torqued
from scipy.optimize import approx_fprime, least_squares, minimize
from torqued.scipy import RolloutCost, Torques


class SciPy(ServerCase):
    def setUp(self):
        self.client_ = torqued.Client(f"http://127.0.0.1:{self.server.port}")
        self.panda, self.choose = self.client_.model("panda"), np.random.default_rng(3)

    def test_a_rollout_reaches_its_goal(self):
        """The gradient agrees with differences; L-BFGS-B moves two joints of an arm to a posture at rest."""
        arm, goal = self.client_.model("two_link"), np.array([0.6, -0.4])
        cost = RolloutCost(arm, [0, 0], [0, 0], steps=20, step=0.02, integrator="rk4",
                           cost={"tau": 1e-6, "final_q": 100, "final_qd": 10, "q_reference": [goal.tolist()]})
        x = self.choose.normal(size=cost.zeros().size)
        expected = approx_fprime(x, lambda y: cost(y)[0], 1e-6)
        self.assertLess(abs(cost(x)[1] - expected).max() / abs(expected).max(), 1e-4)
        found = minimize(cost, cost.zeros(), jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-15, "gtol": 1e-9})
        torques = cost.torques(found.x)
        end = arm.rollout([0, 0], qd=[0, 0], torques=torques, step=0.02, integrator="rk4", outputs=["q_after", "qd_after"])
        self.assertLess(abs(end.q_after[-1] - goal).max(), 1e-3)
        self.assertLess(abs(end.qd_after[-1]).max(), 1e-2)

    def test_the_operator_is_the_derivative_and_its_transpose(self):
        torques = Torques(self.panda, 2, payload={"link": "panda_link7", "mass": 1})
        x, v = self.choose.normal(size=(2, 3 * 14))
        jacobian, w = torques.jacobian(x), self.choose.normal(size=14)
        difference = (torques(x + 1e-6 * v) - torques(x - 1e-6 * v)) / 2e-6
        self.assertLess(abs(jacobian @ v - difference).max() / abs(difference).max(), 1e-7)
        self.assertLess(abs(w @ (jacobian @ v) - jacobian.rmatvec(w) @ v), 1e-11 * np.linalg.norm(w) * np.linalg.norm(jacobian @ v))

    def test_least_squares_finds_a_motion_of_given_torques(self):
        """least_squares (method trf, solver lsmr) finds a motion near the start that requires the given torques."""
        state = self.choose.uniform(-1, 1, (3, 7))
        torques = Torques(self.panda, 1, self.panda.inverse_dynamics(state[0], qd=state[1], qdd=state[2]).tau)
        start = (state + 0.1 * self.choose.normal(size=(3, 7))).ravel()
        found = least_squares(torques, start, torques.jacobian, method="trf", tr_solver="lsmr", xtol=1e-14, ftol=1e-14, gtol=1e-14)
        self.assertLess(abs(found.fun).max(), 1e-9)

    def test_refusals(self):
        solo = self.client_.model("solo12")
        self.assertRaisesRegex(ValueError, "quaternions", Torques, solo, 1)
        self.assertRaisesRegex(ValueError, "quaternions", RolloutCost, solo, [0] * 19, [0] * 18, steps=1, step=0.1, cost={"qd": 1})


if __name__ == "__main__":
    tap.main()
