"""Tests that an allocation may fail in the server or in libpq while a model in a PostgreSQL database is changed: the
change is made or refused with 503, and later changes succeed. `make failing-memory` lets every allocation fail in turn;
a normal run tries a part of them."""
import json
import subprocess
import threading
import time
import unittest

import failing
import postgres
import tap
from harness import BINARY, PATIENCE
from samples import pendulum

SHORT = 0.3  # s, during which all allocations fail; shorter than the time for which the server retries a change
MODEL = "/v1/models/changed"
PUT = "PUT", MODEL, failing.JSON, json.dumps(pendulum())


@unittest.skipUnless(postgres.available(), "no postgres here")
class Database(failing.RequestCase):
    shortages = b"memory-full", b"store-failed"

    @classmethod
    def setUpClass(cls):
        cls.database = postgres.Postgres()
        cls.addClassCleanup(cls.database.close)
        url = cls.database.url()
        subprocess.run([BINARY, "store", "migrate", "--store", url], check=True, capture_output=True, timeout=PATIENCE)
        cls.arguments = "--store", url
        super().setUpClass()

    def restore(self, connection, question):
        """Waits until the server is connected to the database again and the model is stored."""
        give_up = time.monotonic() + PATIENCE
        while True:
            status, text = self.ask(connection, PUT)
            if status in (200, 201):
                return
            self.assertLess(time.monotonic(), give_up, text)
            time.sleep(0.02)

    def try_once(self, connection, question, usual, k, sticky):
        """Lets allocations succeed again after SHORT, so that the server's retry of its query can succeed."""
        end = threading.Timer(SHORT, self.control.set, ("armed", 0))
        end.start()
        try:
            return super().try_once(connection, question, usual, k, sticky)
        finally:
            end.cancel()
            end.join()

    def wrong_answer(self, question, usual, status, text):
        wrong = super().wrong_answer(question, usual, status, text)
        if wrong is None and question[0] == "DELETE" and status != usual and b"nothing has changed" in text:
            revision = self.database.sql("SELECT revision FROM torqued.models WHERE name = 'changed'")
            return None if revision else f"the model is deleted: {text[:300]}"
        return wrong

    def test_changes(self):
        self.try_all([PUT, ("DELETE", MODEL, {}, None)])


if __name__ == "__main__":
    tap.main()
