"""A store on a real disk or in a database, and the servers and commands that use it."""
import os
import subprocess
import tempfile
import unittest

import postgres
from harness import BINARY, MODELS, PATIENCE, Server


class StoreCase(unittest.TestCase):
    """A store in a temporary folder on a real disk, on which the tests start and stop servers."""
    parts = "", "models"  # folders of the store that a test removes
    fault = "the last change was not written: No such file or directory"  # the reason that /readyz then gives

    def setUp(self):
        self.renew()
        self.server = None
        self.addCleanup(self.drop)

    def drop(self):
        if self.server:
            self.server.kill()
            self.server = None

    def start(self, *arguments):
        self.drop()
        self.server = Server("--store", self.store, *arguments)
        self.client = self.server.client()
        return self.client

    def stop(self):
        self.client.close()
        wrong = self.server.stop()
        self.server = None
        self.assertIsNone(wrong)

    def restart(self, *arguments):
        self.stop()
        return self.start(*arguments)

    def put(self, name, document, status):
        answer = self.client.put(f"/v1/models/{name}", document)
        self.assertEqual(answer.status, status, answer)
        return answer

    def names(self):
        return {model["name"] for model in self.client.get("/v1/models").json()["models"]}

    def path(self, file):
        return os.path.join(self.store, "models", file)

    def run_command(self, *arguments, **keywords):
        return subprocess.run([BINARY, *arguments, "--store", self.store, *MODELS], capture_output=True,
                              timeout=PATIENCE, **keywords)

    def renew(self):
        """Replaces the store by an empty one."""
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))

    def place(self, name):
        """Returns the name that /readyz gives to an unreadable record of this model; log_of returns the name in the log."""
        return f"models/{name}.json"

    def log_of(self, name):
        return f'"file":"{name}.json"'

    def read_record(self, name):
        with open(self.path(name + ".json"), "rb") as file:
            return file.read()

    def write_record(self, name, record):
        with open(self.path(name + ".json"), "wb") as file:
            file.write(record)

    def take_away(self, part):
        os.rename(os.path.join(self.store, part).rstrip("/"), self.store + "-away")

    def give_back(self, part):
        os.rename(self.store + "-away", os.path.join(self.store, part).rstrip("/"))


class DatabaseCase(StoreCase):
    """A store in a new database of the PostgreSQL server that the test class runs."""
    parts = "",
    fault = "the database is away"

    @classmethod
    def setUpClass(cls):
        if not postgres.available():
            raise unittest.SkipTest("no postgres here")
        cls.database = postgres.Postgres()
        cls.addClassCleanup(cls.database.close)

    def renew(self):
        self.store = self.database.url()
        self.database.sql("DROP SCHEMA IF EXISTS torqued CASCADE")
        done = self.run_command("store", "migrate")
        self.assertEqual(done.returncode, 0, done.stderr)

    def place(self, name):
        return f"the row {name} "

    def log_of(self, name):
        return f'"row":"{name}"'

    def read_record(self, name):
        return bytes.fromhex(self.database.sql(f"SELECT encode(record, 'hex') FROM torqued.models WHERE name = '{name}'"))

    def write_record(self, name, record):
        self.database.sql(f"UPDATE torqued.models SET record = decode('{record.hex()}', 'hex') WHERE name = '{name}'")

    def take_away(self, part):
        self.database.stop()
        postgres.await_state(lambda: self.client.get("/readyz").json()["reasons"], "the server notices it")

    def give_back(self, part):
        self.database.start()

    def another(self, *arguments):
        """Starts one more server on the store, which ends with the test."""
        server = Server("--store", self.store, *arguments)
        self.addCleanup(self.end, server)
        return server

    def end(self, server):
        if server.process.poll() is None:
            wrong = server.stop()
            self.assertIsNone(wrong)
        else:
            server.kill()
