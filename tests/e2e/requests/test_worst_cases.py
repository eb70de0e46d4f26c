"""Tests the worst case of every operation (worst_cases.py): each request is answered soon after its deadline, its work ends
soon after its client has gone, it never holds a loop, and SIGTERM ends the server while it runs.

Work is measured in processor time. WORST_CASE_DEADLINES are the deadlines in s, 0.2 by default (`make test-worst-cases`
tries 1 s too); WORST_CASES is a regular expression of the rows to try, all by default."""
import os
import re
import signal
import time
import unittest

import tap
from harness import Server
from work_meter import ENOUGH, WorkMeter
from worst_cases import MODELS, ROWS, document

DEADLINES = [float(text) for text in os.environ.get("WORST_CASE_DEADLINES", "0.2").split()]
CHOSEN = [row for row in ROWS if re.search(os.environ.get("WORST_CASES", ""), row.name)]
DISCONNECT = 0.1  # s after which a client gives up
FURTHER = 0.05    # s of work that may follow the disconnect
DRAIN = 0.3       # s


def serve(case, rows, *arguments):
    """Starts a server with one worker and the models of these rows."""
    server = Server("--workers", "1", "--timeout", str(ENOUGH), "--health-listen", "127.0.0.1:0", *arguments)
    case.addCleanup(server.kill)
    for name in sorted({row.model for row in rows} & MODELS.keys()):
        answer = server.client(ENOUGH).put(f"/v1/models/{name}", document(name), content_type="application/json")
        case.assertEqual(answer.status, 201, answer)
    return server


class Table(unittest.TestCase):
    def test_every_operation_has_a_row(self):
        """The table and the contract list the same paths and methods."""
        server = Server()
        self.addCleanup(server.kill)
        contract = server.client().get("/openapi.json").json()
        listed = {(method.upper(), path) for path, item in contract["paths"].items() for method in item if method != "parameters"}
        self.assertEqual({(row.method, row.path) for row in ROWS}, listed)

    def test_rows_have_different_names(self):
        names = [row.name for row in ROWS]
        self.assertEqual(len(set(names)), len(names))


class WorstCases(unittest.TestCase):
    def setUp(self):
        self.server = serve(self, CHOSEN)
        self.meter = WorkMeter(self.server)
        self.addCleanup(self.meter.close)
        self.failed = []

    @staticmethod
    def is_free(outcome, row):
        """True if no turn of an event loop took too long. A request for /metrics on an ordinary port counts itself in the histogram that it
        prints, so that this row is exempt."""
        return outcome.held == 0 or row.path == "/metrics"

    def check(self, is_right, measure, row, seconds):
        """Measures a row, and up to three times more while it fails. A fault of the server would show each time. A single slow turn of an event
        loop may have other causes, since its processor time includes page faults of a large body and the kernel's work (softirqs) for the
        client's packets on this machine."""
        outcome = measure(row, seconds)
        for _ in range(3):
            if is_right(outcome):
                break
            outcome = measure(row, seconds)
        if not is_right(outcome):
            self.failed.append(f"{row.name}, {seconds} s: {outcome}")

    def report(self):
        for line in self.failed:
            print("#", line)
        self.assertEqual(self.failed, [])

    def test_answers_are_in_time(self):
        for row in CHOSEN:
            for deadline in DEADLINES:
                known = (200, 201, 204, 504, *row.refused)
                self.check(lambda o: o.status in known and o.late <= 0.2 * deadline + 0.05 and self.is_free(o, row),
                           self.meter.ask, row, deadline)
        self.report()

    def test_work_ends_with_the_client(self):
        for row in CHOSEN:
            self.check(lambda o: o.late <= FURTHER and self.is_free(o, row), self.meter.abandon, row, DISCONNECT)
        self.report()


class Termination(unittest.TestCase):
    AT_ONCE = 8  # number of rows that run when SIGTERM comes

    def test_the_server_ends_in_its_drain_time(self):
        heavy = [row for row in CHOSEN if row.method in ("POST", "PUT")]
        for first in range(0, len(heavy), self.AT_ONCE):
            self.end_while(heavy[first:first + self.AT_ONCE])

    def end_while(self, rows):
        server = serve(self, rows, "--drain", str(DRAIN), "--queue", "1000")
        meter = WorkMeter(server)
        sockets = [meter.begin(row)[0] for row in rows]
        time.sleep(0.1)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(DRAIN)
        at = meter.work()
        last = at
        while server.process.poll() is None:
            last = meter.work() or last
            time.sleep(0.002)
        for sock in sockets:
            sock.close()
        meter.close()
        names = ", ".join(row.name for row in rows)
        self.assertEqual(server.process.returncode, 0, names)
        self.assertLess(last - at, 0.2, f"s of work after the drain time while these ran: {names}")


if __name__ == "__main__":
    tap.main()
