"""HAProxy itself with deploy/haproxy.cfg in front of three replicas: shares, repeats, follows health; nothing fails at clients."""
import json
import tempfile
import unittest

import tap
from access import Certificates
from balancers import PUMA_BODY, HAProxy, Load, Replica, await_true
from deploy import need
from failing_replicas import FailingReplica
from samples import ASK, slider

REPLICAS = (1, 2, 3)
# More than `fall` health checks take: HAProxy learns of the stop before connections are refused.
ARGUMENTS = ("{address}:8443+proxy", "--drain-delay", "4", "--workers", "1", "--loops", "1")


class BalancerCase(unittest.TestCase):
    def setUp(self):
        need("haproxy", "openssl")
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        self.certificates = Certificates(self.folder)

    def begin(self, addresses):
        self.balancer = HAProxy(self.folder, self.certificates, addresses)
        self.addCleanup(self.balancer.stop)
        self.balancer.await_listening()
        for number in REPLICAS:
            await_true(lambda: self.balancer.is_up(number), f"replica {number} is up")


class Balanced(BalancerCase):
    def setUp(self):
        super().setUp()
        self.replicas = []
        for _ in REPLICAS:
            self.replicas.append(Replica(self.certificates, *ARGUMENTS))
            self.addCleanup(lambda replica=self.replicas[-1]: replica.server.kill())
        self.begin([replica.address for replica in self.replicas])

    def under_load(self):
        load = Load(self.balancer)
        self.addCleanup(load.stop)
        load.await_more(50)
        return load

    def assertUnharmed(self, load):
        load.await_more(50)
        load.stop()
        self.assertEqual(load.failures, [])
        return load

    def retries(self):
        return self.balancer.figure("haproxy_backend_retry_warnings_total", proxy="torqued")

    def test_a_rolling_restart_fails_no_evaluation(self):
        load = self.under_load()
        for number, replica in enumerate(self.replicas, 1):
            replica.restart()
            await_true(lambda: self.balancer.is_up(number), f"replica {number} is up again")
            load.await_more(50)
        self.assertUnharmed(load)
        print(f"# {load.answered} answered, {self.retries():.0f} repeated by HAProxy, {load.repeated} by clients")

    def test_a_killed_replica_fails_no_evaluation(self):
        load = self.under_load()
        for number in (1, 3):
            replica = self.replicas[number - 1]
            replica.server.kill()
            await_true(lambda: not self.balancer.is_up(number), f"replica {number} is down")
            load.await_more(50)
            replica.start()
            await_true(lambda: self.balancer.is_up(number), f"replica {number} is up again")
        self.assertUnharmed(load)
        print(f"# {load.answered} answered, {self.retries():.0f} repeated by HAProxy, {load.repeated} by clients")

    def test_replicas_share_the_requests_and_see_the_clients(self):
        def asked():
            self.assertEqual(self.balancer.ask("POST", ASK, PUMA_BODY, source="127.0.0.77")[0], 200)
            return all('"from":"127.0.0.77:' in replica.server.log() for replica in self.replicas)
        await_true(asked, "each replica has had a request")

    def test_changes_pass(self):
        document = json.dumps(slider())
        self.assertEqual(self.balancer.ask("PUT", "/v1/models/slider", document, Content_Type="application/json")[0], 201)

    def test_metrics_are_refused(self):
        status, headers, body = self.balancer.ask("GET", "/metrics")
        self.assertEqual((status, headers["Content-Type"]), (403, "application/problem+json"))
        self.assertEqual(json.loads(body)["status"], 403)

    def test_without_replicas_it_answers_a_problem(self):
        for replica in self.replicas:
            replica.server.kill()
        status, headers, body = self.balancer.ask("POST", ASK, PUMA_BODY)
        self.assertEqual((status, headers["Retry-After"], json.loads(body)["status"]), (503, "1", 503))


class Repeated(BalancerCase):
    """Replicas that fail after the request has arrived."""

    def setUp(self):
        super().setUp()
        self.received = []
        replicas = [FailingReplica(self.certificates, self.received, has_proxy_header=True) for _ in REPLICAS]
        for replica in replicas:
            self.addCleanup(replica.stop)
        self.begin([replica.address for replica in replicas])

    def test_evaluations_are_repeated(self):
        for body in ("{}", "{}" + " " * 50_000):
            self.received.clear()
            self.assertEqual(self.balancer.ask("POST", ASK, body)[0], 502)
            self.assertEqual(self.received, ["POST"] * 4)

    def test_larger_than_the_buffer_is_sent_once(self):
        self.assertEqual(self.balancer.ask("POST", ASK, "{}" + " " * 70_000)[0], 502)
        self.assertEqual(self.received, ["POST"])

    def test_changes_are_never_repeated(self):
        for method in ("PUT", "DELETE"):
            self.received.clear()
            status, headers, body = self.balancer.ask(method, "/v1/models/x", "{}")
            self.assertEqual((status, headers["Content-Type"]), (502, "application/problem+json"))
            self.assertEqual(json.loads(body)["status"], 502)
            self.assertEqual(self.received, [method])


if __name__ == "__main__":
    tap.main()
