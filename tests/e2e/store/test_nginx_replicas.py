"""Tests nginx with deploy/nginx-replicas.conf in front of three replicas: it distributes and repeats requests, and no
client sees a failure."""
import json

import balanced
import tap
from balancers import Nginx, await_true
from samples import ASK, slider


class Balanced(balanced.Balanced):
    kind = Nginx
    arguments = ("{address}:8443", "--workers", "1", "--loops", "1")

    def await_use(self, load, replica):
        """Waits until nginx sends requests to a restarted replica again, which it avoids for fail_timeout."""
        await_true(lambda: load.failures or '"method":"POST"' in replica.server.log(), "a request for the restarted replica")

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

    def test_changes_pass(self):
        document = json.dumps(slider())
        self.assertEqual(self.balancer.ask("PUT", "/v1/models/slider", document, Content_Type="application/json")[0], 201)
        self.assertEqual(self.balancer.ask("DELETE", "/v1/models/puma560")[0], 204)


class Repeated(balanced.Failing):
    kind = Nginx

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
