"""Test cases of a load balancer in front of three replicas of the server. A test file derives from them, sets the balancer's class and adds
tests of features that only this balancer has."""
import json
import tempfile
import unittest

from access import Certificates
from balancers import PUMA_BODY, Load, Replica, await_true
from deploy import need
from failing_replicas import FailingReplica
from samples import ASK

REPLICAS = (1, 2, 3)


class BalancerCase(unittest.TestCase):
    kind = None  # the class of the balancer, such as Haproxy

    def setUp(self):
        need(self.kind.program, "openssl")
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        self.certificates = Certificates(self.folder)

    def begin(self, replicas):
        self.balancer = self.kind(self.folder, self.certificates, [replica.address for replica in replicas])
        self.addCleanup(self.balancer.stop)
        self.balancer.await_listening()
        self.balancer.await_replicas(REPLICAS)


class Balanced(BalancerCase):
    """Three replicas that are real servers, started with `arguments`."""
    arguments = ()

    def setUp(self):
        super().setUp()
        self.replicas = []
        for _ in REPLICAS:
            self.replicas.append(Replica(self.certificates, *self.arguments))
            self.addCleanup(lambda replica=self.replicas[-1]: replica.server.kill())
        self.begin(self.replicas)

    def under_load(self):
        load = Load(self.balancer)
        self.addCleanup(load.stop)
        load.await_more(50)
        return load

    def assertUnharmed(self, load):
        load.await_more(50)
        load.stop()
        self.assertEqual(load.failures, [])
        print(f"# {load.answered} answered, {self.balancer.repeated():.0f} repeated by the balancer, {load.repeated} by clients")

    def test_replicas_share_the_requests_and_see_the_clients(self):
        def asked():
            self.assertEqual(self.balancer.ask("POST", ASK, PUMA_BODY, source="127.0.0.77")[0], 200)
            return all('"from":"127.0.0.77' in replica.server.log() for replica in self.replicas)
        await_true(asked, "each replica has had a request")

    def test_metrics_are_refused(self):
        status, headers, body = self.balancer.ask("GET", "/metrics")
        self.assertEqual((status, headers["Content-Type"], json.loads(body)["status"]), (403, "application/problem+json", 403))

    def test_without_replicas_it_answers_a_problem(self):
        for replica in self.replicas:
            replica.server.kill()
        for method, path in (("POST", ASK), ("PUT", "/v1/models/x")):
            status, headers, body = self.balancer.ask(method, path, PUMA_BODY)
            self.assertEqual((status, headers["Retry-After"], json.loads(body)["status"]), (503, "1", 503))


class Failing(BalancerCase):
    """Replicas that close the connection after a request has arrived; `received` lists the methods of these requests."""
    has_proxy_header = False

    def setUp(self):
        super().setUp()
        self.received = []
        replicas = [FailingReplica(self.certificates, self.received, has_proxy_header=self.has_proxy_header) for _ in REPLICAS]
        for replica in replicas:
            self.addCleanup(replica.stop)
        self.begin(replicas)
