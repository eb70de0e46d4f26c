"""Tests unequal servers with a shared store in PostgreSQL: tables of other versions, servers with different bundled models, and servers that
were disconnected for a long time."""
import json
import os
import shutil
import tempfile

import tap
from harness import ROOT, Server
from postgres import await_state
from samples import pendulum
from stores import DatabaseCase

# The SQL statements of a server with the previous version of the tables.
FOLLOW_1 = ("SELECT c.change, m.name, m.change FROM torqued.counter c LEFT JOIN LATERAL"
            " (SELECT * FROM torqued.models WHERE change > {} ORDER BY change LIMIT 16) m ON true ORDER BY m.change")
CHANGE_1 = "SELECT torqued.change_model('{}', '{}', {}, '{}', decode('{}', 'hex'))"


class UnequalCase(DatabaseCase):
    def reasons(self, server):
        return server.client().get("/readyz").json()["reasons"]

    def has(self, server, name):
        return server.client().get(f"/v1/models/{name}").status == 200


class Tables(UnequalCase):
    def renew(self):
        """Creates the tables of the first version, with a model."""
        super().renew()
        self.database.sql("DROP SCHEMA torqued CASCADE")
        with open(os.path.join(ROOT, "tests/data/postgres-tables-1.sql")) as file:
            self.database.sql(file.read())

    def test_they_are_migrated(self):
        server = Server("--store", self.store, wait=False)
        self.addCleanup(self.end, server)
        await_state(lambda: b"has version 1 of the tables and this torqued needs 2" in server.client().get("/readyz").body, "it is named")
        done = self.run_command("store", "migrate")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"now have version 2; before: 1", done.stdout)
        await_state(lambda: server.client().get("/readyz").status == 200, "the server is ready")
        self.assertTrue(self.has(server, "mine"))
        self.assertEqual(server.client().put("/v1/models/mine", pendulum(2)).status, 200)

    def test_servers_of_the_version_before_go_on(self):
        """SQL statements of a server of the previous version work on the new tables, while a new server uses them."""
        self.assertEqual(self.run_command("store", "migrate").returncode, 0)
        server = self.another()
        record = self.read_record("mine").hex()
        self.assertEqual(self.database.sql(CHANGE_1.format("a", "other", 0, "r", record)), "2")
        self.assertEqual(self.database.sql(CHANGE_1.format("b", "other", 1, "r", record)), "0")
        await_state(lambda: self.has(server, "other"), "the new server follows the old one")
        self.assertEqual(server.client().put("/v1/models/mine", pendulum(3)).status, 200)
        self.assertEqual(self.database.sql(FOLLOW_1.format(1)), "3\tother\t2\n3\tmine\t3")
        self.assertEqual(server.client().delete("/v1/models/other").status, 204)
        self.assertEqual(self.database.sql(FOLLOW_1.format(3)), "4\tother\t4")


class Bundled(UnequalCase):
    def models(self, **changed):
        """Returns a folder of bundled models; `changed` maps a name to another document, or to None to leave it out."""
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-models-"))
        for name in os.listdir(os.path.join(ROOT, "models")):
            shutil.copy(os.path.join(ROOT, "models", name), folder)
        for name, document in changed.items():
            path = os.path.join(folder, f"{name}.json")
            if document is None:
                os.remove(path)
            else:
                with open(path, "w") as file:
                    json.dump(document, file)
        return "--models", folder

    def await_conflict(self, *servers):
        """Waits until /readyz of each server names conflicts for these models, or none."""
        for server, names in servers:
            def agrees(server=server, names=names):
                found = [reason for reason in self.reasons(server) if "different bundled models" in reason]
                return f"different bundled models: {names};" in found[0] if found and names else not found and not names
            await_state(agrees, f"the conflict {names!r} is named")

    def test_a_conflict_is_named(self):
        one, alike = self.another(), self.another(*self.models())
        self.await_conflict((one, ""), (alike, ""))
        other = self.another(*self.models(ur5=pendulum(), panda=None, own=pendulum()))
        self.await_conflict((one, "own, panda, ur5"), (other, "own, panda, ur5"))
        self.assertEqual(other.client().get("/readyz").status, 200)
        self.assertEqual(one.client().put("/v1/models/ur5", pendulum(2)).status, 200)
        self.assertEqual(one.client().delete("/v1/models/panda").status, 204)
        self.await_conflict((one, "own"), (other, "own"))
        self.end(other)
        self.await_conflict((one, ""), (alike, ""))


class Tombstones(UnequalCase):
    def age(self, days):
        """Makes all tombstones older by `days`."""
        self.database.sql(f"UPDATE torqued.models SET changed = changed - interval '{days} days' WHERE revision = ''")

    def tombstones(self):
        return self.database.sql("SELECT name FROM torqued.models WHERE revision = '' ORDER BY name").split()

    def test_they_are_removed(self):
        """Tombstones older than a week are removed, except those of bundled models."""
        one, two = self.another(), self.another()
        client = one.client()
        for name in ("first", "second"):
            self.assertEqual(client.put(f"/v1/models/{name}", pendulum()).status, 201)
            self.assertEqual(client.delete(f"/v1/models/{name}").status, 204)
        self.assertEqual(client.delete("/v1/models/ur5").status, 204)
        self.age(7.5)
        client.put("/v1/models/mine", pendulum())
        self.assertEqual(self.tombstones(), ["first", "second", "ur5"])
        self.age(1)
        client.put("/v1/models/third", pendulum())
        change = client.delete("/v1/models/third").headers["Model-Change"]
        self.assertEqual(self.tombstones(), ["third", "ur5"])
        for server in (one, two):
            answer = server.client().put("/v1/models/first", pendulum(), If_None_Match="*", Model_Change=change)
            self.assertEqual(answer.status, 201, answer)
            change = server.client().delete("/v1/models/first").headers["Model-Change"]
            self.assertFalse(self.has(server, "ur5"))
        self.assertFalse(self.has(self.another(), "ur5"))

    def test_a_server_that_was_away_for_longer(self):
        """A server that missed a removed tombstone forgets the model nevertheless; models that other servers changed stay."""
        away, other = self.another(), self.another()
        for name in ("gone", "stays"):
            self.assertEqual(other.client().put(f"/v1/models/{name}", pendulum()).status, 201)
        await_state(lambda: self.has(away, "stays"), "the models arrive")
        # Simulates a deletion whose tombstone is already removed: the server reads changes after the last number that
        # it knows.
        self.database.sql("BEGIN; UPDATE torqued.counter SET change = 5, purged = 3; DELETE FROM torqued.models WHERE name = 'gone'; "
                          "NOTIFY torqued; COMMIT")
        for server in (away, other):
            await_state(lambda: not self.has(server, "gone"), "the model is forgotten")
            self.assertTrue(self.has(server, "stays") and self.has(server, "ur5"))
        self.assertEqual(away.client().put("/v1/models/gone", pendulum(), If_None_Match="*").status, 201)


if __name__ == "__main__":
    tap.main()
