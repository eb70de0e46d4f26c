"""Tests servers that share a store in PostgreSQL: they follow each other's changes, and survive failures of the
database and of other servers."""
import http.client
import math
import os
import signal
import subprocess
import tempfile
import threading

import tap
from harness import BINARY, MODELS, PATIENCE, ROOT, Server
from postgres import BIN, await_state
from python_client import torqued
from relay import Relay
from samples import chain, pendulum
from stores import DatabaseCase


C_PROGRAM = r"""
#include "torqued.h"
#include <string.h>
int main(int argc, char *argv[])
{
    static const char text[] = "{\"links\":[{\"name\":\"bob\",\"parent\":\"base\",\"joint\":{\"name\":\"pivot\",\"type\":"
                               "\"revolute\",\"axis\":[0,1,0]},\"inertial\":{\"mass\":2,\"com\":[0,0,-1]}}]}";
    const torqued_server server = {.url = argv[1]};
    torqued_client      *client = torqued_open(&server, NULL);
    torqued_model        model;
    for (int round = 0; round < 10; round++)
        if (torqued_put_model(client, "mine", text, strlen(text), NULL) || torqued_describe(client, "mine", &model) ||
            torqued_delete_model(client, "mine") || !torqued_describe(client, "mine", &model))
            return 1 + round;
    torqued_close(client);
    return 0;
}
"""


class Replicas(DatabaseCase):
    def model(self, server, name):
        """Returns the revision of a model on a server, or None."""
        answer = server.client().get(f"/v1/models/{name}")
        return answer.headers["Model-Revision"] if answer.status == 200 else None

    def test_every_server_follows(self):
        one, two = self.another(), self.another()
        for server, other in ((one, two), (two, one)):
            revision = server.client().put("/v1/models/mine", pendulum(1 + (server is two))).json()["revision"]
            await_state(lambda: self.model(other, "mine") == revision, "a PUT arrives")
        self.assertEqual(one.client().delete("/v1/models/mine").status, 204)
        self.assertEqual(one.client().delete("/v1/models/ur5").status, 204)
        await_state(lambda: self.model(two, "mine") is self.model(two, "ur5") is None, "a DELETE arrives")
        self.assertEqual(two.client().put("/v1/models/mine", pendulum()).status, 201)

    def test_one_of_many_creates(self):
        """One of several concurrent PUTs with If-None-Match: * at different servers gets 201, the others 412."""
        servers = [self.another() for _ in range(3)]
        for round in range(5):
            statuses, begin = [], threading.Barrier(6)

            def create(server):
                client = server.client()
                begin.wait()
                answer = client.put(f"/v1/models/new{round}", pendulum(), If_None_Match="*")
                statuses.append(answer.status)

            threads = [threading.Thread(target=create, args=(server,)) for server in servers * 2]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(statuses), [201] + [412] * 5)

    def test_a_condition_on_what_another_server_has_changed(self):
        one, two = self.another(), self.another()
        first = one.client().put("/v1/models/mine", pendulum(1)).headers["ETag"]
        await_state(lambda: self.model(two, "mine"), "the PUT arrives")
        self.assertEqual(two.client().put("/v1/models/mine", pendulum(2)).status, 200)
        self.assertEqual(one.client().put("/v1/models/mine", pendulum(3), If_Match=first).status, 412)
        self.assertEqual(one.client().delete("/v1/models/mine", If_Match=first).status, 412)

    def change(self, answer):
        return answer.headers["Model-Change"]

    def test_a_client_sees_its_changes_everywhere(self):
        """PUT, DELETE and PUT at one server, each followed by requests with Model-Change at another server, which must
        see the change."""
        one, two = self.another().client(), self.another().client()
        for round in range(20):
            put = one.put("/v1/models/mine", pendulum(1 + round))
            number = self.change(put)
            answer = two.post("/v1/models/mine/mass-matrix", {"q": [0]}, Model_Change=number)
            self.assertEqual((answer.status, answer.headers["Model-Revision"]), (200, put.json()["revision"]), answer)
            self.assertEqual(two.get("/v1/models/mine/document", Model_Change=number).json()["links"][0]["inertial"]["mass"], 1 + round)
            deleted = two.delete("/v1/models/mine", Model_Change=number)
            self.assertEqual(deleted.status, 204)
            self.assertGreater(int(self.change(deleted)), int(number))
            self.assertEqual(one.get("/v1/models/mine", Model_Change=self.change(deleted)).status, 404)
            self.assertEqual(one.put("/v1/models/mine", pendulum(), If_None_Match="*", Model_Change=self.change(deleted)).status, 201)

    def test_a_server_that_starts_again_sees_them_too(self):
        one = self.another()
        put = one.client().put("/v1/models/mine", pendulum())
        self.end(one)
        answer = self.another().client().get("/v1/models/mine", Model_Change=self.change(put))
        self.assertEqual((answer.status, answer.headers["Model-Revision"]), (200, put.json()["revision"]))

    def test_a_change_that_does_not_arrive(self):
        """A request that names a change which never arrives gets 503 at its timeout. If the change arrives earlier, the
        request is answered; no thread waits meanwhile."""
        server = self.another()
        client = server.client()
        put = client.put("/v1/models/mine", pendulum())
        later = str(int(self.change(put)) + 1)
        for request in (lambda: client.get("/v1/models/mine", Model_Change=later, Request_Timeout="0.2"),
                        lambda: client.delete("/v1/models/mine", Model_Change=later, Request_Timeout="0.2"),
                        lambda: client.post("/v1/models/mine/bias", {"q": [0]}, Model_Change=later, Request_Timeout="0.2")):
            answer = request()
            self.assertEqual((answer.status, answer.json()["code"]), (503, "change-pending"), answer)
            self.assertIn("Retry-After", answer.headers)
        answers = []
        waiting = [threading.Thread(target=lambda: answers.append(
            server.client().post("/v1/models/new/bias", {"q": [0]}, Model_Change=later))) for _ in range(20)]
        for thread in waiting:
            thread.start()
        self.assertEqual(client.post("/v1/models/mine/bias", {"q": [0]}).status, 200)
        self.assertEqual(self.change(client.put("/v1/models/new", pendulum())), later)
        for thread in waiting:
            thread.join()
        self.assertEqual([answer.status for answer in answers], [200] * 20)
        for text in ("", "x", "-1", "1.5", "1, 2", "9" * 20):
            answer = client.get("/v1/models/mine", Model_Change=text)
            self.assertEqual((answer.status, answer.json()["code"]), (400, "bad-change"), text)

    def test_a_request_for_an_exact_revision(self):
        client = self.another().client()
        first = client.put("/v1/models/mine", pendulum(1)).json()["revision"]
        second = client.put("/v1/models/mine", pendulum(2)).json()["revision"]
        for revision, status in ((first, 412), (second, 200), ("", 412), (second + "x", 412)):
            self.assertEqual(client.post("/v1/models/mine/bias", {"q": [0]}, Model_Revision=revision).status, status)
            self.assertEqual(client.get("/v1/models/mine", Model_Revision=revision).status, status)
        self.assertEqual(client.put("/v1/models/new", pendulum(), Model_Revision=first).status, 412)
        self.assertEqual(client.put("/v1/models/mine", pendulum(3), Model_Revision=first).status, 412)
        self.assertEqual(client.delete("/v1/models/mine", Model_Revision=first).status, 412)
        self.assertEqual(client.delete("/v1/models/mine", Model_Revision=second).status, 204)

    def test_numbers_become_visible_in_order(self):
        """A transaction waits while an earlier one is open: a server that has read change N has missed no lower number.
        """
        server = self.another()
        begin = "BEGIN; SELECT torqued.change_model('%s', '%s', 0, '', '{\"deleted\":true}'); SELECT 'begun';"
        psql = [f"{BIN}/psql", "-X", "-A", "-t", "-q", "-h", self.database.folder, "-U", "postgres"]
        first = subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(first.communicate)
        first.stdin.write(begin % ("a", "first") + "\n")
        first.stdin.flush()
        self.assertEqual([first.stdout.readline().strip() for _ in range(2)], ["1", "begun"])
        second = subprocess.Popen([*psql, "-c", "SELECT torqued.change_model('b', 'second', 0, '', '{}')"],
                                  stdout=subprocess.PIPE, text=True)
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%second%'"
        await_state(lambda: self.database.sql(waits) == "1", "the second transaction waits")
        self.assertEqual(self.database.sql("SELECT count(*) FROM torqued.models"), "0")
        first.stdin.write("COMMIT;\n")
        first.stdin.flush()
        self.assertEqual(second.communicate(timeout=PATIENCE)[0].strip(), "2")
        await_state(lambda: "torqued_store_change 2" in server.client().get("/metrics").body.decode(), "both arrive")

    def test_a_change_that_waits_for_another(self):
        """Behind a hanging transaction, changes fail after a while and change nothing; evaluation goes on."""
        server = self.another()
        first = subprocess.Popen([f"{BIN}/psql", "-X", "-A", "-t", "-q", "-h", self.database.folder, "-U", "postgres"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(first.communicate)
        first.stdin.write("BEGIN; SELECT 'begun' FROM torqued.counter FOR UPDATE;\n")
        first.stdin.flush()
        self.assertEqual(first.stdout.readline().strip(), "begun")
        answer = server.client().put("/v1/models/mine", pendulum())
        self.assertEqual((answer.status, answer.json()["code"]), (503, "store-failed"), answer)
        self.assertIn("nothing has changed", answer.json()["detail"])
        self.assertEqual(server.client().post("/v1/models/ur5/bias", {"q": [0] * 6}).status, 200)
        first.stdin.write("COMMIT;\n")
        first.stdin.flush()
        await_state(lambda: server.client().put("/v1/models/mine", pendulum()).status == 201, "changes go on")

    def test_a_damaged_row_that_arrives(self):
        """A server that receives a damaged row stops serving the model and names the row; a new PUT repairs it."""
        server = self.another()
        client = server.client()
        client.put("/v1/models/mine", pendulum())
        self.database.sql("UPDATE torqued.counter SET change = 2; UPDATE torqued.models SET change = 2, "
                          "record = set_byte(record, 30, get_byte(record, 30) # 1); NOTIFY torqued")
        await_state(lambda: self.model(server, "mine") is None, "the damage is noticed")
        await_state(lambda: any("the row mine " in r for r in client.get("/readyz").json()["reasons"]), "the row is named")
        self.assertEqual(client.put("/v1/models/mine", pendulum()).status, 201)
        await_state(lambda: not client.get("/readyz").json()["reasons"], "the fault is forgotten")

    def await_named(self, server, named):
        """Waits until /readyz names the row of the model, or no longer does; the server stays ready."""
        def names_it():
            ready = server.client().get("/readyz")
            self.assertEqual(ready.status, 200)
            return any("the row mine " in reason for reason in ready.json()["reasons"]) == named
        await_state(names_it, "the row is named" if named else "the row is forgotten")

    def test_a_model_beyond_the_memory_of_one_server(self):
        """A server whose memory is too small for the new model names its row and serves no model of this name, not even
        the previous one. A later model that fits is served."""
        large, small = self.another(), self.another("--model-memory", "1M")
        large.client().put("/v1/models/mine", pendulum())
        await_state(lambda: self.model(small, "mine"), "the model arrives")
        put = large.client().put("/v1/models/mine", chain(500))
        self.assertEqual(put.status, 200, put)
        answer = small.client().get("/v1/models/mine", Model_Change=self.change(put))
        self.assertEqual((answer.status, answer.json()["code"]), (507, "insufficient-storage"))
        self.await_named(small, True)
        self.assertEqual(self.model(large, "mine"), put.json()["revision"])
        later = self.another("--model-memory", "1M")
        self.assertIsNone(self.model(later, "mine"))
        self.await_named(later, True)
        revision = large.client().put("/v1/models/next", pendulum()).json()["revision"]
        await_state(lambda: self.model(small, "next") == revision, "the next change arrives")
        refused = small.client().put("/v1/models/mine", chain(500))
        self.assertEqual((refused.status, refused.json()["code"]), (507, "insufficient-storage"))
        self.assertEqual(self.model(large, "mine"), put.json()["revision"])
        revision = small.client().put("/v1/models/mine", pendulum(2)).json()["revision"]
        for server in (large, later):
            await_state(lambda: self.model(server, "mine") == revision, "the smaller model arrives")
        for server in (small, later):
            self.await_named(server, False)

    def test_a_database_that_has_lost_changes(self):
        """The database lost changes, as after a failover to a standby that was behind: /readyz says so, changes are
        refused, evaluation goes on."""
        server = self.another()
        client = server.client()
        for mass in (1, 2, 3):
            self.assertIn(client.put("/v1/models/mine", pendulum(mass)).status, (200, 201))
        for kept in (2, 0):     # number of the three changes that the standby has received
            self.database.sql(f"DELETE FROM torqued.models; UPDATE torqued.counter SET change = {kept}; NOTIFY torqued")
            await_state(lambda: f"its last one is number {kept}," in client.get("/readyz").body.decode(), "it is named")
        refused = client.put("/v1/models/mine", pendulum(2))
        self.assertEqual((refused.status, refused.json()["code"]), (503, "store-failed"))
        self.assertEqual(client.post("/v1/models/mine/bias", {"q": [0]}).status, 200)
        self.end(server)
        self.assertEqual(self.another().client().get("/v1/models/mine").status, 404)

    def test_a_server_starts_before_its_database(self):
        self.database.stop()
        server = Server("--store", self.store, wait=False)
        self.addCleanup(self.end, server)
        await_state(lambda: b"the database is away" in server.client().get("/readyz").body, "the reason is named")
        self.assertEqual(server.client().get("/readyz").status, 503)
        self.assertEqual(server.client().get("/v1/models/ur5").status, 503)
        self.database.start()
        await_state(lambda: server.client().get("/readyz").status == 200, "the server is ready")
        self.assertEqual(server.client().put("/v1/models/mine", pendulum()).status, 201)

    def test_a_server_that_ends_while_its_database_is_away(self):
        self.database.stop()
        server = Server("--store", self.store, wait=False)
        self.assertIsNone(server.stop())
        self.database.start()

    def test_killed_servers_and_databases(self):
        """kill -9 of a server or of the database at any time: the store then has the last acknowledged change, or the change that was in
        flight."""
        last, mass = 0, 0
        for round in range(6):
            server = Server("--store", self.store)
            self.addCleanup(server.kill)
            ended, acknowledged = threading.Event(), []

            def put():
                nonlocal mass
                client = server.client()
                try:
                    while not ended.is_set():
                        mass += 1
                        if client.put("/v1/models/mine", pendulum(mass)).status in (200, 201):
                            acknowledged.append(mass)
                except (OSError, http.client.HTTPException):
                    pass

            writer = threading.Thread(target=put)
            writer.start()
            await_state(lambda: len(acknowledged) > 2, "changes are acknowledged")
            if round % 2 == 0:
                server.process.kill()
                writer.join()
            else:
                self.database.stop(signal.SIGKILL)
                self.database.start()
                ended.set()
                writer.join()
            server.kill()
            last = acknowledged[-1]
            reader = self.another()
            document = reader.client().get("/v1/models/mine/document").json()
            self.assertIn(document["links"][0]["inertial"]["mass"], range(last, mass + 1))
            self.end(reader)


class Clients(DatabaseCase):
    """Clients remember the number of their last change and send it: here a balancer sends each request to another server than the one before."""

    def setUp(self):
        super().setUp()
        self.servers = [self.another(), self.another()]
        self.relay = Relay(self.servers)
        self.addCleanup(self.relay.close)
        self.url = self.relay.url

    def test_python(self):
        with torqued.Client(self.url) as client:
            for round in range(10):
                revision = client.put("mine", pendulum(1 + round)).revision
                self.assertEqual(client.model("mine").revision, revision)
            client.delete("mine")
            with self.assertRaises(torqued.Problem) as caught:
                client.model("mine")
            self.assertEqual(caught.exception.status, 404)
        self.relay.check()

    def test_python_replicas(self):
        """torqued.Replicas sends the number of a change by one of its clients to all servers."""
        relays = [Relay([server]) for server in self.servers]
        for relay in relays:
            self.addCleanup(relay.close)
        with torqued.Replicas([relay.url for relay in relays], at_once=1) as servers:
            servers.clients[0].put("mine", pendulum(3))
            answer = servers.batch("mine", torqued.Model.inverse_dynamics, q=[[0.1]] * 10, size=1)
            for tau in answer.tau.ravel():
                self.assertAlmostEqual(abs(tau), 3 * 9.81 * 0.5 * math.sin(0.1), places=9)
            servers.clients[1].delete("mine")
            with self.assertRaises(torqued.Problem) as caught:
                servers.clients[0].model("mine")
            self.assertEqual(caught.exception.status, 404)
        self.assertGreater(len(relays[1].heads), 0)
        for head in relays[0].heads[1:] + relays[1].heads:
            self.assertRegex(head, "(?i)Model-Change: *[1-9]")
        self.assertRegex(relays[0].heads[-1], "(?i)Model-Change: *2")

    def test_c(self):
        program = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "program")
        client = os.path.join(ROOT, "api", "clients", "c")
        subprocess.run(["gcc", "-std=gnu11", "-I", client, "-x", "c", "-o", program, "-", "-x", "none",
                        os.path.join(client, "torqued.c"), "-lcurl", "-lpthread", "-lm"], input=C_PROGRAM, text=True, check=True)
        done = subprocess.run([program, self.url], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.relay.check()

    def test_the_command_line(self):
        for name in ("a", "b"):
            self.servers[0].client().put(f"/v1/models/{name}", pendulum())
        await_state(lambda: self.servers[1].client().get("/v1/models/b").status == 200, "the models arrive")
        done = subprocess.run([BINARY, "delete", "a", "b", "--url", self.url], capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.relay.check()


class Versions(DatabaseCase):
    def test_tables_of_the_next_release(self):
        """Tables of a later version are used if they allow this, so that servers can be upgraded one after the other;
        otherwise /readyz gives the reason."""
        self.database.sql("UPDATE torqued.schema SET version = 3; ALTER TABLE torqued.models ADD more text DEFAULT 'x'")
        server = self.another()
        self.assertEqual(server.client().put("/v1/models/mine", pendulum()).status, 201)
        self.assertEqual(self.run_command("store", "migrate").returncode, 0)
        self.database.sql("UPDATE torqued.schema SET readable_from = 3")
        newer = Server("--store", self.store, wait=False)
        self.addCleanup(self.end, newer)
        await_state(lambda: b"need a torqued that knows version 3" in newer.client().get("/readyz").body, "it is named")
        self.assertEqual(newer.client().get("/readyz").status, 503)

    def test_no_tables(self):
        self.database.sql("DROP SCHEMA torqued CASCADE")
        server = Server("--store", self.store, wait=False)
        self.addCleanup(self.end, server)
        await_state(lambda: b"run torqued store migrate" in server.client().get("/readyz").body, "it is named")
        self.assertEqual(self.run_command("store", "migrate").returncode, 0)
        await_state(lambda: server.client().get("/readyz").status == 200, "the server is ready")

    def test_the_command(self):
        self.assertIn(b"have version 2 already", self.run_command("store", "migrate").stdout)
        for arguments, status, said in (
                (("store", "drop"), 2, b"not an action"),
                (("store", "migrate", "--store", "/tmp"), 2, b"must name a database"),
                (("store", "migrate", "--store", "postgresql://x:secret@/nowhere?host=/nowhere"), 1, b"cannot migrate"),
                (("backup", "-", "--store", "postgresql://[x"), 1, b"is not valid")):
            done = subprocess.run([BINARY, *arguments[:2], *(("--store", self.store) if "--store" not in arguments else ()),
                                   *arguments[2:], *MODELS], capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn(b"secret", done.stderr + done.stdout)

    def test_the_log_has_no_password(self):
        server = Server("--store", "postgresql://x:secret1@/nowhere?host=/nowhere&password=secret2&port=5", wait=False)
        self.addCleanup(self.end, server)
        await_state(lambda: "database-away" in server.log(), "the log says so")
        self.assertNotIn("secret", server.log() + server.client().get("/readyz").body.decode())
        self.assertIn("postgresql://x:***@/nowhere?host=/nowhere&password=***&port=5", server.log())


if __name__ == "__main__":
    tap.main()
