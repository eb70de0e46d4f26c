"""Tests a failover of the database to its synchronous standby while a server makes changes: no acknowledged change is
lost, and the old primary acknowledges no more changes."""
import http.client
import signal
import threading
import unittest

import postgres
import tap
from harness import Server
from postgres import Postgres, await_state
from samples import pendulum
from stores import StoreCase


class Failover(StoreCase):
    def setUp(self):
        if not postgres.available():
            self.skipTest("no postgres here")
        super().setUp()

    def renew(self):
        if not postgres.available():
            return
        # Only a standby of the name `torqued_standby` confirms commits.
        self.primary = Postgres(synchronous_standby_names="torqued_standby", synchronous_commit="local")
        self.addCleanup(self.primary.close)
        self.standby = Postgres(copy_of=self.primary, synchronous_commit="local", cluster_name="torqued_standby")
        self.addCleanup(self.standby.close)
        streaming = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        await_state(lambda: self.primary.sql(streaming) == "1", "the standby is synchronous")
        self.store = self.primary.url(self.standby, options="-csynchronous_commit%3Don")
        done = self.run_command("store", "migrate")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_nothing_acknowledged_is_lost(self):
        client = self.start()
        acknowledged, tried, ended = [0], 0, threading.Event()

        def put():
            nonlocal tried
            connection = self.server.client()
            while not ended.is_set():
                tried += 1
                try:
                    if connection.put("/v1/models/mine", pendulum(tried)).status in (200, 201):
                        acknowledged.append(tried)
                except (OSError, http.client.HTTPException):
                    connection = self.server.client()

        writer = threading.Thread(target=put)
        writer.start()
        await_state(lambda: len(acknowledged) > 5, "changes are acknowledged")
        self.primary.stop(signal.SIGKILL)
        self.assertEqual(client.post("/v1/models/ur5/bias", {"q": [0] * 6}).status, 200)
        before = acknowledged[-1]
        self.standby.promote()
        await_state(lambda: acknowledged[-1] > before, "changes go on")
        ended.set()
        writer.join()
        self.assertEqual(client.post("/v1/models/ur5/bias", {"q": [0] * 6}).status, 200)
        self.check_old_primary(before)
        self.restart()
        document = self.client.get("/v1/models/mine/document").json()
        self.assertIn(document["links"][0]["inertial"]["mass"], range(acknowledged[-1], tried + 1))
        self.stop()

    def check_old_primary(self, before):
        """The old primary starts again although it should have been fenced (cut off). Its standby has become the new primary, so no commit on
        the old one returns."""
        self.primary.start()
        other = self.another_server(self.primary.url(options="-csynchronous_commit%3Don"))
        answer = other.client().put("/v1/models/other", pendulum())
        self.assertEqual((answer.status, answer.json()["code"]), (503, "store-failed"), answer)
        self.assertIn("not known", answer.json()["detail"])
        self.assertEqual(other.client().post("/v1/models/ur5/bias", {"q": [0] * 6}).status, 200)
        self.assertIsNone(other.stop())
        self.primary.stop(signal.SIGQUIT)

    def another_server(self, url):
        server = Server("--store", url)
        self.addCleanup(server.kill)
        return server


if __name__ == "__main__":
    tap.main()
