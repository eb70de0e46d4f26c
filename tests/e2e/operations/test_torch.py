"""Tests torqued.torch: PyTorch's gradcheck of inverse and forward dynamics, gradients through both, and refusals."""
import importlib.util

import tap
from harness import ServerCase
from python_client import torqued

HERE = importlib.util.find_spec("torch") is not None


class Torch(ServerCase):
    def setUp(self):
        if not HERE:
            self.skipTest("no torch here")
        import torch
        from torqued.torch import forward_dynamics, inverse_dynamics
        self.torch, self.inverse, self.forward = torch, inverse_dynamics, forward_dynamics
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

    def test_forward_after_inverse_is_the_identity(self):
        """The gradient of qdd(tau(qdd)) by qdd is that of qdd itself, and those by q and qd vanish."""
        q, qd, qdd = self.state(3)
        again = self.forward(self.panda, q, qd, self.inverse(self.panda, q, qd, qdd))
        weights = self.torch.rand_like(again)
        (weights * again).sum().backward()
        self.assertLess(float((qdd.grad - weights).abs().max()), 1e-11)
        self.assertLess(float(q.grad.abs().max()), 1e-10)
        self.assertLess(float(qd.grad.abs().max()), 1e-10)

    def test_refusals(self):
        q, qd, qdd = self.state()
        self.assertRaises(TypeError, self.inverse, self.panda, q.float(), qd, qdd)
        self.assertRaises(ValueError, self.inverse, self.panda, q, qd[:6], qdd)
        solo = self.client_.model("solo12")
        self.assertRaises(ValueError, self.inverse, solo, q, qd, qdd)
        tau = self.inverse(self.panda, q, qd, qdd)
        first = self.torch.autograd.grad(tau.sum(), q, create_graph=True)[0]
        self.assertRaises(RuntimeError, self.torch.autograd.grad, first.sum(), q)


if __name__ == "__main__":
    tap.main()
