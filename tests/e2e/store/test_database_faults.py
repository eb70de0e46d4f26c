"""Tests that the server distinguishes faults of the database: rights that are revoked, tables that are missing, versions, a freeze, a refused
connection and a standby are each named in /readyz, in torqued_store_fault and in the log, with their remedy."""
import re
import socket
import struct
import threading
import unittest

import tap
from harness import Server
from postgres import await_state
from samples import pendulum
from stores import DatabaseCase

USER = "torqued_user"


class Faults(DatabaseCase):
    def setUp(self):
        super().setUp()
        self.database.sql(f"DO $$ BEGIN CREATE ROLE {USER} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        self.database.sql(f"GRANT USAGE ON SCHEMA torqued TO {USER}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA torqued TO {USER}")
        self.url = self.database.url(user=USER)

    def serve(self, url=None, wait=True):
        self.server = Server("--store", url or self.url, wait=wait)
        self.client = self.server.client()

    def reasons(self):
        return " ".join(self.client.get("/readyz").json()["reasons"])

    def fault(self):
        found = re.findall(r'^torqued_store_fault\{fault="([^"]+)"\} 1$', self.client.get("/metrics").body.decode(), re.MULTILINE)
        self.assertLessEqual(len(found), 1)
        return found[0] if found else ""

    def assertFault(self, fault, *texts):
        """The fault is named everywhere, evaluation goes on, and no change is acknowledged."""
        await_state(lambda: self.fault() == fault, f"the fault is {fault}: {self.fault()}, {self.reasons()}")
        for text in texts:  # /readyz gives the reason a little after the metric, and while models are loaded it gives only that as the reason
            await_state(lambda: text in self.reasons(), f'"{text}" is a reason: {self.reasons()}')
        self.server.await_log(f'"fault":"{fault}"')
        if self.server.client().get("/readyz").status == 200:
            self.assertEqual(self.client.post("/v1/models/ur5/bias", {"q": [0] * 6}).status, 200)
            answer = self.client.put("/v1/models/mine", pendulum())
            self.assertEqual((answer.status, answer.json()["code"]), (503, "store-failed"), answer)

    def assertRepaired(self):
        await_state(lambda: self.fault() == "" and not self.reasons(), "the fault is repaired")
        self.assertIn(self.client.put("/v1/models/mine", pendulum()).status, (200, 201))
        self.server.await_log('"event":"database"')

    def test_rights_to_change_are_revoked(self):
        self.serve()
        self.assertEqual(self.fault(), "")
        self.database.sql(f"REVOKE UPDATE ON torqued.models FROM {USER}")
        self.assertFault("rights", "denies the user of this server a right", "UPDATE on torqued.models", "GRANT it again")
        self.assertNotIn("changes of other servers do not arrive", self.reasons())
        self.database.sql(f"GRANT UPDATE ON torqued.models TO {USER}")
        self.assertRepaired()

    def test_rights_to_read_are_revoked(self):
        self.serve()
        self.database.sql(f"REVOKE USAGE ON SCHEMA torqued FROM {USER}")
        self.assertFault("rights", "permission denied for schema torqued", "changes of other servers do not arrive")
        self.database.sql(f"GRANT USAGE ON SCHEMA torqued TO {USER}")
        self.assertRepaired()

    def test_the_schema_is_dropped(self):
        self.serve()
        self.database.sql("DROP SCHEMA torqued CASCADE")
        self.assertFault("tables", "the schema torqued or one of its tables is missing", "restore it from a backup", "torqued store migrate")

    def test_a_table_is_dropped(self):
        self.serve()
        self.database.sql("ALTER TABLE torqued.models RENAME TO other")
        self.assertFault("tables", "one of its tables is missing", "torqued.models")
        self.database.sql("ALTER TABLE torqued.other RENAME TO models")
        self.assertRepaired()

    def test_the_tables_are_older(self):
        self.database.sql("UPDATE torqued.schema SET version = 1")
        self.serve(wait=False)
        self.assertFault("tables-version", "has version 1 of the tables", "run torqued store migrate")

    def test_the_database_freezes(self):
        self.serve()
        self.addCleanup(self.database.pause, False)
        self.database.pause()
        self.assertFault("frozen", "the database is frozen", "does not answer", "look at its machine")
        self.database.pause(False)
        self.assertRepaired()

    def test_it_is_stopped(self):
        self.serve()
        self.addCleanup(lambda: self.database.process or self.database.start())
        self.database.stop()
        self.assertFault("away", "the database is away", "start it")
        self.database.start()
        self.assertRepaired()

    def test_the_user_is_refused(self):
        self.serve(self.database.url(user="nobody_here"), wait=False)
        self.assertFault("refused", "refuses this server", "nobody_here", "pg_hba.conf")

    def test_the_database_does_not_exist(self):
        self.serve(self.url.replace("/postgres?", "/nothing_here?"), wait=False)
        self.assertFault("refused", "refuses this server", "nothing_here")

    def test_it_takes_no_writes(self):
        """The database session is read-only, as after a failover when the URL names only the old primary, now a standby."""
        self.addCleanup(self.database.sql, f"ALTER ROLE {USER} RESET default_transaction_read_only")
        self.database.sql(f"ALTER ROLE {USER} SET default_transaction_read_only = on")
        self.serve(wait=False)
        self.assertFault("read-only", "takes no writes", "name the primary")

    def test_its_connections_are_used_up(self):
        self.addCleanup(self.database.sql, f"ALTER ROLE {USER} CONNECTION LIMIT -1")
        self.database.sql(f"ALTER ROLE {USER} CONNECTION LIMIT 0")
        self.serve(wait=False)
        self.assertFault("full", "lacks disk, memory or connections", "too many connections")


class Silence(unittest.TestCase):
    def test_a_host_that_accepts_and_says_nothing(self):
        """The database's address accepts the connection and sends nothing, as a firewall that drops packets or a hanging machine would."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        server = Server("--store", f"postgresql:///torqued?user=torqued&hostaddr=127.0.0.1&port={listener.getsockname()[1]}", wait=False)
        self.addCleanup(server.kill)
        await_state(lambda: b"the database is frozen" in server.client().get("/readyz").body, "the silence is named")
        self.assertIn(b"the host does not answer", server.client().get("/readyz").body)
        self.assertIn('torqued_store_fault{fault="frozen"} 1', server.client().get("/metrics").body.decode())
        self.assertIsNone(server.stop())


class OldServer(unittest.TestCase):
    """A server that speaks the protocol of PostgreSQL, version 3, and says that it is version 9.6."""

    def answer(self, connection):
        message = lambda kind, body: kind + struct.pack(">I", len(body) + 4) + body
        ready = message(b"Z", b"I")
        with connection:
            while True:
                length, code = struct.unpack(">II", connection.recv(8, socket.MSG_WAITALL))
                connection.recv(length - 8, socket.MSG_WAITALL)
                if code == 196608:
                    break
                connection.sendall(b"N")  # refuses TLS and GSS encryption
            connection.sendall(message(b"R", struct.pack(">I", 0)) + message(b"S", b"server_version\x009.6.24\x00") + ready)
            while head := connection.recv(5, socket.MSG_WAITALL):  # answers queries: libpq asks whether the session is read-only
                connection.recv(struct.unpack(">I", head[1:])[0] - 4, socket.MSG_WAITALL)
                column = b"transaction_read_only\x00" + struct.pack(">IHIhIh", 0, 0, 25, -1, 0xffffffff, 0)
                connection.sendall(message(b"T", struct.pack(">H", 1) + column) + message(b"D", struct.pack(">HI", 1, 3) + b"off")
                                   + message(b"C", b"SHOW\x00") + ready)

    def test_it_is_named(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    self.answer(listener.accept()[0])
                except (OSError, struct.error):
                    if listener.fileno() < 0:
                        return

        threading.Thread(target=serve, daemon=True).start()
        server = Server("--store", f"postgresql:///torqued?user=torqued&hostaddr=127.0.0.1&port={listener.getsockname()[1]}&sslmode=disable", wait=False)
        self.addCleanup(server.kill)
        read = lambda: server.client().get("/readyz").body.decode()
        await_state(lambda: "PostgreSQL 9" in read(), f"the version is named: {read()}")
        self.assertIn("needs 12 or newer", read())
        self.assertIn("upgrade PostgreSQL", read())
        self.assertIn('torqued_store_fault{fault="server-version"} 1', server.client().get("/metrics").body.decode())
        self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
