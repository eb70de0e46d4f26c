"""Tests three replicas with one PostgreSQL behind HAProxy: a change through the balancer reaches all replicas, one of
many concurrent creations succeeds, and restarts lose nothing."""
import json
import tempfile
import threading
import unittest

import tap
from access import Certificates
from balancers import HAProxy, Load, Replica, await_true
from deploy import need, run
from harness import BINARY
from postgres import Postgres, available
from samples import pendulum

NUMBERS = (1, 2, 3)


class Replicated(unittest.TestCase):
    def setUp(self):
        need("haproxy", "openssl")
        if not available():
            raise unittest.SkipTest("no postgres here")
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        certificates = Certificates(folder)
        self.database = Postgres()
        self.addCleanup(self.database.close)
        migrated = run(BINARY, "store", "migrate", "--store", self.database.url())
        self.assertEqual(migrated.returncode, 0, migrated.stderr)
        self.replicas = []
        for _ in NUMBERS:
            self.replicas.append(Replica(
                certificates, "{address}:8443+proxy", "--health-listen", "{address}:8087", "--drain-delay", "4", "--workers", "1",
                "--loops", "1", "--store", self.database.url()))
            self.addCleanup(lambda replica=self.replicas[-1]: replica.server.kill())
        self.balancer = HAProxy(folder, certificates, [replica.address for replica in self.replicas])
        self.addCleanup(self.balancer.stop)
        self.balancer.await_listening()
        for number in NUMBERS:
            self.await_up(number)

    def await_up(self, number):
        await_true(lambda: self.balancer.is_up(number), f"replica {number} is up")

    def put(self, name, model, **headers):
        """Returns the status of a PUT through the balancer."""
        return self.balancer.ask("PUT", f"/v1/models/{name}", json.dumps(model), Content_Type="application/json", **headers)[0]

    def revisions(self, name):
        """Returns the set of the model's revisions on the replicas; None stands for a replica without it."""
        answers = [replica.server.client().get(f"/v1/models/{name}") for replica in self.replicas]
        return {answer.headers["Model-Revision"] if answer.status == 200 else None for answer in answers}

    def test_a_change_reaches_all(self):
        before = None
        for mass in range(1, 6):
            self.assertEqual(self.put("rod", pendulum(mass)), 201 if mass == 1 else 200)
            await_true(lambda: len(self.revisions("rod") - {None, before}) == len(self.revisions("rod")) == 1, "all have the model")
            before = self.revisions("rod").pop()
        self.assertEqual(self.balancer.ask("DELETE", "/v1/models/rod")[0], 204)
        await_true(lambda: self.revisions("rod") == {None}, "the model is deleted everywhere")

    def test_one_of_many_creates(self):
        statuses, begin = [], threading.Barrier(6)

        def create():
            begin.wait()
            statuses.append(self.put("new", pendulum(), If_None_Match="*"))

        threads = [threading.Thread(target=create) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(statuses), [201] + [412] * 5)

    def test_restarts_under_load_lose_no_change(self):
        load = Load(self.balancer, clients=2)
        self.addCleanup(load.stop)
        for number, replica in zip(NUMBERS, self.replicas):
            self.assertEqual(self.put(f"rod{number}", pendulum(number)), 201)
            replica.restart()
            self.await_up(number)
        load.await_more(50)
        load.stop()
        self.assertEqual(load.failures, [])
        for number in NUMBERS:
            await_true(lambda: None not in self.revisions(f"rod{number}") and len(self.revisions(f"rod{number}")) == 1, "all have the model")
        print(f"# {load.answered} answered, {load.repeated} repeated by clients")


if __name__ == "__main__":
    tap.main()
