"""Tests a process with limited memory (RLIMIT_DATA) under load: every request is answered or refused with 503. A server
that cannot start says why."""
import http.client
import json
import threading
import time
import unittest

import tap
from harness import PATIENCE, SANITIZED, Server
from samples import chain

MIB = 1 << 20
LIMITS = (40, 60, 80, 120, 200)  # MiB of RLIMIT_DATA
ROUNDS = 2


def questions():
    row = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]
    batch = json.dumps({"q": [row] * 20000})
    yield "POST", "/v1/models/puma560/inverse-dynamics", batch
    yield "POST", "/v1/models/puma560/sensitivity", json.dumps({"q": [row] * 2000})
    yield "POST", "/v1/models/two_link/simulate", json.dumps({"q": [0, 0.5], "duration": 1, "samples": 500, "tolerance": 1e-8})
    yield "PUT", "/v1/models/long", json.dumps(chain(300))
    yield "GET", "/v1/models", None


@unittest.skipIf(SANITIZED, "no failing malloc here")
class Limited(unittest.TestCase):
    def start(self, mebibytes):
        """Starts a server with that much memory. Returns None if the server refuses to start and names the reason."""
        try:
            server = Server("--workers", "2", command=("prlimit", f"--data={mebibytes * MIB}"), wait=False)
        except RuntimeError as error:
            self.assertRegex(str(error), "memory|thread")
            return None
        self.addCleanup(server.kill)
        give_up = time.monotonic() + PATIENCE
        while '"event":"ready"' not in server.log():
            if server.process.poll() is not None:
                self.assertGreater(server.process.returncode, 0, "killed by a signal")
                self.assertRegex(server.log().splitlines()[-1], "memory|thread")
                return None
            self.assertLess(time.monotonic(), give_up, server.log())
            time.sleep(0.01)
        return server

    def ask_all(self, server, counts, wrong):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=3 * PATIENCE)
        for _ in range(ROUNDS):
            for method, target, body in questions():
                try:
                    connection.request(method, target, body, {"Content-Type": "application/json"} if body else {})
                    answer = connection.getresponse()
                    text = answer.read()
                    status = answer.status
                except (OSError, http.client.HTTPException):
                    connection.close()
                    status = 0
                counts[status] = counts.get(status, 0) + 1
                if status not in (0, 200, 201, 503):
                    wrong.append((method, target, status, text[:300]))
        connection.close()

    def test_limits(self):
        for mebibytes in LIMITS:
            with self.subTest(mebibytes=mebibytes):
                server = self.start(mebibytes)
                if server is None:
                    print(f"# {mebibytes} MiB: does not start")
                    continue
                counts, wrong = {}, []
                threads = [threading.Thread(target=self.ask_all, args=(server, counts, wrong)) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                print(f"# {mebibytes} MiB: answers by status {counts}")
                self.assertEqual(wrong, [])
                self.assertIsNone(server.process.poll())
                self.assertEqual(server.client().get("/livez").status, 200)
                self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
