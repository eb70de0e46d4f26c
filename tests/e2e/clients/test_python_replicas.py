"""Tests torqued.Replicas: one batch on several servers has the bits of one server; servers that fail, differ, or refuse
large pieces."""
import unittest

import numpy as np
import tap
from harness import Server, ServerCase
from python_client import Scripted, busy, ok, torqued
from samples import pendulum

INVERSE = torqued.Model.inverse_dynamics


def unavailable(status):
    """Returns the answer of a balancer whose server cannot be reached, or whose limit of requests is exceeded: its body is no problem
    document."""
    return f"HTTP/1.1 {status} No\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\ngone".encode()


class Replicated(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = Server("--max-rows", "300")
        cls.addClassCleanup(cls.other.kill)
        cls.urls = [cls.server.url(), cls.other.url()]
        cls.q, cls.qd, cls.qdd = np.random.default_rng(5).uniform(-1, 1, (3, 2000, 7))
        with torqued.Client(cls.server.url()) as client:
            cls.expected = client.model("panda").inverse_dynamics(cls.q, qd=cls.qd, qdd=cls.qdd).tau

    @classmethod
    def tearDownClass(cls):
        wrong = cls.other.stop()
        super().tearDownClass()
        if wrong:
            raise AssertionError(wrong)

    def batch(self, urls, at_once=2, **options):
        with torqued.Replicas(urls, at_once=at_once, retries=0) as servers:
            return servers.batch("panda", INVERSE, q=self.q, qd=self.qd, qdd=self.qdd, **{"size": 100, **options})

    def assertSameBits(self, answer):
        self.assertEqual(answer.tau.tobytes(), self.expected.tobytes())

    def test_the_bits_of_one_server(self):
        done = []
        self.assertSameBits(self.batch(self.urls, progress=lambda rows, total: done.append((rows, total))))
        self.assertEqual(done, [(100 * (i + 1), 2000) for i in range(20)])

    def test_pieces_that_are_too_large_are_divided(self):
        """The second server accepts 300 rows at most."""
        self.assertSameBits(self.batch(self.urls, size=900))
        self.assertSameBits(self.batch(self.urls[1], size=2000))

    def test_a_server_that_is_away(self):
        self.assertSameBits(self.batch([self.urls[0], "http://127.0.0.1:1"]))
        with self.assertRaises(torqued.ConnectionFailed):
            self.batch(["http://127.0.0.1:1", "http://127.0.0.1:1"])

    def test_a_server_that_fails_in_the_middle(self):
        """The second server answers GET of the model and then refuses evaluations, or closes the connection."""
        description = self.client.get("/v1/models/panda")
        # the client opens a lost connection again once, hence END twice
        for then in ([busy()], *([unavailable(status)] for status in (429, 502, 503, 504)), [Scripted.END, Scripted.END]):
            with Scripted(ok(description.body), *then) as failing:
                self.assertSameBits(self.batch([failing.url, self.urls[0]], at_once=1, size=20))

    def test_problems_name_the_row_of_the_batch(self):
        q = self.q.copy()
        q[1234, 3] = 1e9
        with torqued.Replicas(self.urls) as servers, self.assertRaises(torqued.Problem) as raised:
            servers.batch("panda", INVERSE, q=q, size=100)
        self.assertEqual((raised.exception.row, raised.exception.pointer), (1234, "/q/1234/3"))

    def test_models_that_differ_are_refused(self):
        """With enough pieces for both servers, the first refusal ends the batch."""
        for server, mass in ((self.server, 1), (self.other, 2)):
            server.client().put("/v1/models/rod", pendulum(mass))
        with torqued.Replicas(self.urls, at_once=1) as servers, self.assertRaises(torqued.Problem) as raised:
            servers.batch("rod", INVERSE, q=np.zeros((100_000, 1)), size=1)
        self.assertEqual(raised.exception.status, 412)

    def test_misuse(self):
        for urls, at_once in (([], 1), (self.urls, 0)):
            with self.assertRaises(ValueError):
                torqued.Replicas(urls, at_once=at_once)
        with torqued.Replicas(self.urls) as servers:
            with self.assertRaises(ValueError):
                servers.batch("panda", INVERSE, q=np.zeros((0, 7)))
            with self.assertRaises(torqued.Problem):
                servers.batch("nobody", INVERSE, q=self.q)


class Mixed(unittest.TestCase):
    """Tests servers of different arithmetic classes."""

    @classmethod
    def setUpClass(cls):
        cls.servers = []
        for target in ("scalar", "scalar_unfused"):
            cls.servers.append(Server("--target", target))
            cls.addClassCleanup(cls.servers[-1].kill)
        cls.urls = [server.url() for server in cls.servers]

    @classmethod
    def tearDownClass(cls):
        wrong = [server.stop() for server in cls.servers]
        if any(wrong):
            raise AssertionError(wrong)

    def test_classes_are_not_mixed_unless_told(self):
        q = np.random.default_rng(6).uniform(-1, 1, (100_000, 7))
        with torqued.Replicas(self.urls, at_once=1) as servers:
            with self.assertRaises(torqued.MixedArithmetic) as raised:
                servers.batch("panda", INVERSE, q=q, size=1)
            self.assertIn("fused", str(raised.exception))
            answer = servers.batch("panda", INVERSE, q=q[:400], size=1, mixed_arithmetic=True)
        self.assertEqual(answer.tau.shape, (400, 7))


if __name__ == "__main__":
    tap.main()
