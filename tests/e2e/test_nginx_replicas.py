"""nginx itself with deploy/nginx-replicas.conf in front of three replicas: shares and repeats; nothing fails at clients."""
import json
import tempfile
import unittest

import tap
from access import Certificates
from balancers import PUMA_BODY, Load, Nginx, Replica, await_true
from deploy import need
from failing_replicas import FailingReplica
from samples import ASK, slider


class BalancerCase(unittest.TestCase):
    def setUp(self):
        need("nginx", "openssl")
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        self.certificates = Certificates(self.folder)

    def begin(self, addresses):
        self.balancer = Nginx(self.folder, self.certificates, addresses)
        self.addCleanup(self.balancer.stop)
        self.balancer.await_listening()


class Balanced(BalancerCase):
    def setUp(self):
        super().setUp()
        self.replicas = []
        for _ in range(3):
            self.replicas.append(Replica(self.certificates, "{address}:8443", "--workers", "1", "--loops", "1"))
            self.addCleanup(lambda replica=self.replicas[-1]: replica.server.kill())
        self.begin([replica.address for replica in self.replicas])

    def under_load(self):
        load = Load(self.balancer)
        self.addCleanup(load.stop)
        load.await_more(50)
        return load

    def await_use(self, load, replica):
        """Waits until nginx sends requests to a restarted replica, which it has avoided for fail_timeout."""
        await_true(lambda: load.failures or '"method":"POST"' in replica.server.log(), "a request for the restarted replica")

    def assertUnharmed(self, load):
        load.await_more(50)
        load.stop()
        self.assertEqual(load.failures, [])
        print(f"# {load.answered} answered, {self.balancer.repeated()} repeated by nginx, {load.repeated} by clients")

    def test_a_rolling_restart_fails_no_evaluation(self):
        load = self.under_load()
        for replica in self.replicas:
            replica.restart()
            self.await_use(load, replica)
        self.assertUnharmed(load)

    def test_a_killed_replica_fails_no_evaluation(self):
        load = self.under_load()
        for replica in self.replicas[::2]:
            replica.server.kill()
            load.await_more(200)
            replica.start()
            self.await_use(load, replica)
        self.assertUnharmed(load)

    def test_replicas_share_the_requests_and_see_the_clients(self):
        def asked():
            self.assertEqual(self.balancer.ask("POST", ASK, PUMA_BODY, source="127.0.0.77")[0], 200)
            return all('"from":"127.0.0.77' in replica.server.log() for replica in self.replicas)
        await_true(asked, "each replica has had a request")

    def test_changes_pass(self):
        document = json.dumps(slider())
        self.assertEqual(self.balancer.ask("PUT", "/v1/models/slider", document, Content_Type="application/json")[0], 201)
        self.assertEqual(self.balancer.ask("DELETE", "/v1/models/puma560")[0], 204)

    def test_metrics_are_refused(self):
        status, headers, body = self.balancer.ask("GET", "/metrics")
        self.assertEqual((status, headers["Content-Type"], json.loads(body)["status"]), (403, "application/problem+json", 403))

    def test_without_replicas_it_answers_a_problem(self):
        for replica in self.replicas:
            replica.server.kill()
        for method, path in (("POST", ASK), ("PUT", "/v1/models/x")):
            status, headers, body = self.balancer.ask(method, path, PUMA_BODY)
            self.assertEqual((status, headers["Retry-After"], json.loads(body)["status"]), (503, "1", 503))


class Repeated(BalancerCase):
    """Replicas that fail after the request has arrived."""

    def setUp(self):
        super().setUp()
        self.received = []
        replicas = [FailingReplica(self.certificates, self.received, has_proxy_header=False) for _ in range(3)]
        for replica in replicas:
            self.addCleanup(replica.stop)
        self.begin([replica.address for replica in replicas])

    def test_evaluations_are_repeated_at_any_size(self):
        self.assertEqual(self.balancer.ask("POST", ASK, "{}" + " " * 3_000_000)[0], 503)
        self.assertEqual(self.received, ["POST"] * 3)

    def test_put_is_never_repeated(self):
        self.assertEqual(self.balancer.ask("PUT", "/v1/models/x", "{}")[0], 503)
        self.assertEqual(self.received, ["PUT"])

    def test_delete_is_never_repeated(self):
        self.assertEqual(self.balancer.ask("DELETE", "/v1/models/x")[0], 503)
        self.assertEqual(self.received, ["DELETE"])


if __name__ == "__main__":
    tap.main()
