"""A torqued server as an optimal controller sees it: one model, and the time spent waiting for answers."""
import argparse
import os
import sys
import time

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402

ROD = {"mass": 1, "com": [0, 0, -0.25], "inertia": {"xx": 0.021, "yy": 0.021, "zz": 0.001}}
DOUBLE_PENDULUM = {     # two rods of 0.5 m that turn about y and hang down at q = 0
    "name": "double_pendulum", "links": [
        {"name": "upper", "parent": "base", "inertial": ROD,
         "joint": {"name": "shoulder", "type": "continuous", "axis": [0, 1, 0], "friction": {"viscous": 0.05}}},
        {"name": "lower", "parent": "upper", "inertial": ROD,
         "joint": {"name": "elbow", "type": "continuous", "axis": [0, 1, 0], "friction": {"viscous": 0.05},
                   "origin": {"xyz": [0, 0, -0.5]}}}]}


class Dynamics:
    """x+ = f(x, u) of a model with x = (q, qd), nq = nv, and its Jacobians, by the operations step and rollout."""

    def __init__(self, url, document, step, integrator="rk4"):
        client = torqued.Client(url)
        self.model = client.put(document["name"], document)
        self.n = len(document["links"])
        self.settings = {"step": step, "integrator": integrator}
        self.start_clock()

    def start_clock(self):
        self.seconds, self.requests, self.began = 0.0, 0, time.monotonic()

    def _ask(self, operation, settings=None, **request):
        started = time.monotonic()
        answer = operation(**request, **(self.settings if settings is None else settings))
        self.seconds += time.monotonic() - started
        self.requests += 1
        return answer

    def plan(self, x, torques, cost, damping):
        """The rollout from x under torques (N, n), with the gains of a backward pass through a quadratic cost."""
        return self._ask(self.model.rollout, q=x[:self.n], qd=x[self.n:], torques=torques, cost=cost, damping=damping)

    def follow(self, x, torques, plan, cost):
        """Rollouts from x under torques (rows, N, n) with feedback to the states of a plan: their torques and costs."""
        before = np.vstack([x, np.hstack([plan.q_after, plan.qd_after])[:-1]])
        answer = self._ask(self.model.rollout, q=x[:self.n], qd=x[self.n:], torques=torques, cost=cost, outputs=["tau", "costs"],
                           feedback={"gains": plan.gains, "q": before[:, :self.n], "qd": before[:, self.n:]})
        return answer.tau, answer.costs.sum(axis=1)

    def nodes(self, x, u):
        """x+, A and B of all rows of states x and torques u."""
        answer = self._ask(self.model.step, q=x[:, :self.n], qd=x[:, self.n:], tau=u)
        return np.hstack([answer.q_after, answer.qd_after]), answer.state_matrix, answer.input_matrix

    def report(self, name, iterations, error):
        """Prints the time of a solution and the share spent waiting for the server."""
        total = time.monotonic() - self.began
        print(f"{name}: {iterations} iterations, {self.requests} requests, error {error:.2g}; "
              f"{total:.3f} s, of which {self.seconds / total:.0%} waiting for the server")


class SwingUp:
    """The cost of swinging up in N nodes of h seconds: h/2 (r |u|^2 + w |x - goal|^2) at the nodes, and at the end."""

    def __init__(self, nodes=60, step=0.025):
        self.nodes, self.step = nodes, step
        self.start, self.goal = np.zeros(4), np.array([np.pi, 0, 0, 0])
        self.torque = 0.02 * step * np.ones(2)                    # second derivatives by the torques of a node
        self.state = step * np.array([0.1, 0.1, 0.01, 0.01])      # and by its state
        self.end = np.array([200.0, 200.0, 20.0, 20.0])           # and by the last state

    def terms(self):
        """The cost as rollouts take it: of the states after the steps, and of the last one in addition."""
        n, final = 2, self.end - self.state
        return {"tau": self.torque, "q": self.state[:n], "qd": self.state[n:], "final_q": final[:n], "final_qd": final[n:],
                "q_reference": self.goal[None, :n]}

    def cost(self, x, u):
        """The cost of states (N + 1, 4) and torques (N, 2)."""
        off = x - self.goal
        return 0.5 * ((u**2 * self.torque).sum() + (off[:-1]**2 * self.state).sum() + (off[-1]**2 * self.end).sum())


def run_swing_up(name, solve, description):
    """The program of a solver: solve(dynamics, task) gives states, torques and the number of iterations."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--nodes", type=int, default=60, help="nodes of 0.025 s (%(default)s)")
    options = parser.parse_args()
    task = SwingUp(options.nodes)
    dynamics = Dynamics(options.server, DOUBLE_PENDULUM, task.step)
    x, u, iterations = solve(dynamics, task)
    dynamics.report(name, iterations, np.abs(x[-1] - task.goal).max())
    print(f"cost {task.cost(x, u):.6f}, largest torque {np.abs(u).max():.3f} N m")
