"""Tests HAProxy with deploy/haproxy.cfg in front of three replicas: it distributes and repeats requests and follows the
health checks, and no client sees a failure."""
import json

import balanced
import tap
from balancers import HAProxy, await_true
from samples import ASK, slider


class Balanced(balanced.Balanced):
    kind = HAProxy
    # --drain-delay exceeds the time of `fall` health checks: HAProxy notices the stop before the replica refuses
    # connections.
    arguments = ("{address}:8443+proxy", "--health-listen", "{address}:8087", "--drain-delay", "4", "--workers", "1", "--loops", "1")

    def test_a_rolling_restart_fails_no_evaluation(self):
        load = self.under_load()
        for number, replica in enumerate(self.replicas, 1):
            replica.restart()
            await_true(lambda: self.balancer.is_up(number), f"replica {number} is up again")
            load.await_more(50)
        self.assertUnharmed(load)

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

    def test_changes_pass(self):
        document = json.dumps(slider())
        self.assertEqual(self.balancer.ask("PUT", "/v1/models/slider", document, Content_Type="application/json")[0], 201)


class Repeated(balanced.Failing):
    kind, has_proxy_header = HAProxy, True

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
