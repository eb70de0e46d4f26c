"""Tests torqued.torch: PyTorch's gradcheck and gradgradcheck of inverse dynamics, forward dynamics and rollouts, gradients through
them, and refusals."""
import importlib.util

import tap
from harness import ServerCase
from python_client import torqued

BALL = {"gravity": [0, 0, -9.81], "base": {"type": "fixed", "link": "base"}, "links": [
    {"name": "arm", "parent": "base", "joint": {"name": "ball", "type": "spherical"},
     "inertial": {"mass": 1.5, "com": [0.1, 0.05, 0.3], "inertia": {"xx": 0.1, "yy": 0.12, "zz": 0.05, "xy": 0.01, "xz": 0.02, "yz": 0.005}}},
    {"name": "hand", "parent": "arm", "joint": {"name": "hinge", "type": "revolute", "axis": [1, 0, 0], "origin": {"xyz": [0, 0, 0.5]}},
     "inertial": {"mass": 0.5, "com": [0, 0.1, 0.2], "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.01, "xy": 0, "xz": 0, "yz": 0}}}]}
HERE = importlib.util.find_spec("torch") is not None


class Torch(ServerCase):
    def setUp(self):
        if not HERE:
            self.skipTest("no torch here")
        import torch
        from torqued.torch import forward_dynamics, inverse_dynamics, rollout
        self.torch, self.inverse, self.forward, self.rollout = torch, inverse_dynamics, forward_dynamics, rollout
        torch.manual_seed(1)
        self.client_ = torqued.Client(f"http://127.0.0.1:{self.server.port}")
        self.panda = self.client_.model("panda")

    def state(self, rows=None):
        shape = (7,) if rows is None else (rows, 7)
        return [(2 * self.torch.rand(shape, dtype=self.torch.float64) - 1).requires_grad_() for _ in range(3)]

    def test_gradcheck(self):
        """PyTorch compares the gradients with differences of the values."""
        load = {"payload": {"link": "panda_link7", "mass": 1}}
        for function, fields in ((self.inverse, {}), (self.inverse, load), (self.forward, {})):
            for rows in (None, 2):
                values = lambda q, qd, x, f=function, more=fields: f(self.panda, q, qd, x, **more)
                self.assertTrue(self.torch.autograd.gradcheck(values, self.state(rows), eps=1e-6, atol=1e-5, rtol=1e-4))

    def test_gradgradcheck(self):
        """PyTorch compares the second derivatives with differences of the gradients."""
        load = {"payload": {"link": "panda_link7", "mass": 1}}
        for function, fields in ((self.inverse, load), (self.forward, {})):
            for rows in (None, 2):
                values = lambda q, qd, x, f=function, more=fields: f(self.panda, q, qd, x, **more)
                self.assertTrue(self.torch.autograd.gradgradcheck(values, self.state(rows), eps=1e-6, atol=1e-4, rtol=1e-3))

    def test_quaternions(self):
        """First and second derivatives by the entries of q, for quaternions of other lengths than 1 too."""
        self.ok(self.client.put("/v1/models/ball", BALL), 201)
        for name, rows in (("ball", None), ("solo12", 2)):
            model = self.client_.model(name)
            n_q, n_v = len(model.position_names), len(model.velocity_names)
            draw = lambda n, shape=() if rows is None else (rows,): (2 * self.torch.rand((*shape, n), dtype=self.torch.float64) - 1).requires_grad_()
            weights = draw(n_v).detach()
            for function in (self.inverse, self.forward):
                state = [draw(n_q), draw(n_v), draw(n_v)]
                cost = lambda q, qd, x, f=function, m=model: (weights * f(m, q, qd, x)).sum() * 1e-2
                self.assertTrue(self.torch.autograd.gradcheck(cost, state, eps=1e-6, atol=1e-5, rtol=1e-4))
                self.assertTrue(self.torch.autograd.gradgradcheck(cost, state, eps=1e-6, atol=1e-4, rtol=1e-3))

    def test_newton_step_of_a_cost(self):
        """The Hessian of a cost of the torques by the accelerations is M^T M: columns by double backward."""
        q, qd, qdd = self.state()
        cost = 0.5 * self.inverse(self.panda, q, qd, qdd).square().sum()
        gradient, = self.torch.autograd.grad(cost, qdd, create_graph=True)
        columns = [self.torch.autograd.grad(gradient[i], qdd, retain_graph=True)[0] for i in range(7)]
        mass = self.torch.tensor(self.panda.mass_matrix(q.tolist()).mass_matrix.copy())
        self.assertLess(float((self.torch.stack(columns) - mass.T @ mass).abs().max()), 1e-12)

    def test_forward_after_inverse_is_the_identity(self):
        """Forward dynamics of inverse dynamics is the identity: its gradient by qdd is that of qdd itself, and those by q and qd are zero."""
        q, qd, qdd = self.state(3)
        again = self.forward(self.panda, q, qd, self.inverse(self.panda, q, qd, qdd))
        weights = self.torch.rand_like(again)
        (weights * again).sum().backward()
        self.assertLess(float((qdd.grad - weights).abs().max()), 1e-11)
        self.assertLess(float(q.grad.abs().max()), 1e-10)
        self.assertLess(float(qd.grad.abs().max()), 1e-10)

    def test_rollouts(self):
        """gradcheck and gradgradcheck of the states of all nodes, and their values."""
        model = self.client_.model("two_link")
        draw = lambda *shape: (2 * self.torch.rand(shape, dtype=self.torch.float64) - 1).requires_grad_()
        for rows, integrator in (((), "rk4"), ((2,), "semi_implicit_euler"), ((), "explicit_euler")):
            state = [draw(*rows, 2), draw(*rows, 2), draw(*rows, 3, 2)]
            values = lambda q, qd, torques, i=integrator: self.rollout(model, q, qd, torques, step=0.05, integrator=i)
            self.assertTrue(self.torch.autograd.gradcheck(values, state, eps=1e-6, atol=1e-6, rtol=1e-5))
            self.assertTrue(self.torch.autograd.gradgradcheck(values, state, eps=1e-6, atol=1e-5, rtol=1e-4))
            q, qd, torques = (x.tolist() for x in state)
            answer = model.rollout(q, qd=qd, torques=torques, step=0.05, integrator=integrator, outputs=["q_after", "qd_after"])
            for got, expected in zip(values(*state), (answer.q_after, answer.qd_after)):
                self.assertEqual(got.tolist(), expected.tolist())

    def test_refusals_of_rollouts(self):
        q, qd, _ = self.state()
        torques = self.torch.zeros((3, 7), dtype=self.torch.float64)
        self.assertRaises(ValueError, self.rollout, self.panda, q, qd, torques[0], step=0.01)
        self.assertRaises(ValueError, self.rollout, self.panda, q, qd, torques[:, :6], step=0.01)
        self.assertRaises(TypeError, self.rollout, self.panda, q, qd, torques, step=0.01, held=[])
        with self.assertRaisesRegex(ValueError, "quaternions"):
            self.rollout(self.client_.model("solo12"), q, qd, torques, step=0.01)

    def test_refusals(self):
        q, qd, qdd = self.state()
        self.assertRaises(TypeError, self.inverse, self.panda, q.float(), qd, qdd)
        self.assertRaises(ValueError, self.inverse, self.panda, q, qd[:6], qdd)
        solo = self.client_.model("solo12")
        self.assertRaises(ValueError, self.inverse, solo, q, qd, qdd)
        self.assertRaises(ValueError, self.inverse, self.panda, q, qd.expand(2, 7), qdd)
        tau = self.inverse(self.panda, q, qd, qdd)
        first = self.torch.autograd.grad(tau.sum(), q, create_graph=True)[0]
        second = self.torch.autograd.grad(first.sum(), q, create_graph=True)[0]
        self.assertRaises(RuntimeError, self.torch.autograd.grad, second.sum(), q)


if __name__ == "__main__":
    tap.main()
