"""Tests jumps of the wall clock by a day and by ten years, forwards and back (libfaketime), and stops of the process: no request fails, no
thread counts as stuck, deadlines hold, and tokens expire by the wall clock's new time. Deadlines use CLOCK_MONOTONIC, which does not jump."""
import glob
import os
import signal
import subprocess
import tempfile
import time
import unittest

import tap
from harness import BINARY, PATIENCE, SANITIZED, Server, ServerCase
from threads import meanwhile

LIBRARY = next(iter(glob.glob("/usr/lib/*-linux-gnu/faketime/libfaketimeMT.so.1")), None)
DAY, YEARS = 86400, 10 * 365 * 86400


@unittest.skipUnless(LIBRARY and not SANITIZED, "no faketime here")
class Jumps(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-clock-"))
        self.clock = os.path.join(folder, "clock")
        self.jump(0)
        tokens = os.path.join(folder, "tokens")
        self.token = {}
        with open(tokens, "w") as file:
            for name, days in (("short", 2), ("long", 7 * 365)):
                done = subprocess.run([BINARY, "token", name, "evaluate,observe", "--days", str(days)], capture_output=True,
                                      text=True, check=True)
                file.write(done.stdout)
                self.token[name] = done.stderr.split()[-1]
        os.chmod(tokens, 0o600)
        self.server = Server("--tokens", tokens, environment={
            "LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": self.clock, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0", "WATCHDOG_USEC": "180000000"})
        self.addCleanup(self.server.kill)
        self.client = self.server.client()

    def jump(self, seconds):
        """Sets the server's wall clock to now plus `seconds`."""
        with open(self.clock + ".next", "w") as file:
            file.write(f"{seconds:+d}\n")
        os.rename(self.clock + ".next", self.clock)

    def ask(self, client, name):
        return client.post("/v1/models/puma560/inverse-dynamics", {"q": [[0.1] * 6] * 300},
                           Authorization="Bearer " + self.token[name], Request_Timeout="60")

    def assertExpires(self, name, expired):
        """Checks that the token is expired or valid by the server's wall clock."""
        answer = self.ask(self.client, name)
        self.assertEqual(answer.status, 401 if expired else 200, answer)

    def test_jumps(self):
        statuses = {}

        def asker():
            client = self.server.client()
            self.addCleanup(client.close)

            def ask():
                status = self.ask(client, "long").status
                statuses[status] = statuses.get(status, 0) + 1
            return ask

        with meanwhile([asker(), asker()]):
            for seconds in (DAY, 0, -DAY, 0, 3 * DAY, -YEARS, 0):
                self.jump(seconds)
                before = statuses.get(200, 0)
                give_up = time.monotonic() + PATIENCE
                while statuses.get(200, 0) < before + 20:
                    self.assertLess(time.monotonic(), give_up, statuses)
                    time.sleep(0.01)
                self.assertExpires("short", seconds > 2 * DAY)
        self.assertEqual(set(statuses), {200})
        self.jump(YEARS)
        self.assertExpires("long", True)
        self.assertExpires("short", True)
        self.assertEqual(self.client.get("/livez").status, 200)
        self.jump(0)
        self.assertExpires("long", False)
        self.assertExpires("short", False)
        self.assertNotIn('"event":"stuck"', self.server.log())
        self.client.close()
        self.assertIsNone(self.server.stop())

    def test_deadlines_stand(self):
        """A simulation ends at its Request-Timeout, neither earlier nor later, although the clock jumps."""
        ask = {"q": [0.1] * 6, "qd": [0] * 6, "duration": 500, "step": 0.0001, "samples": 2}
        for seconds in (YEARS, -YEARS, 0):
            began = time.monotonic()
            with meanwhile([lambda: self.jump(seconds)]):
                answer = self.client.post("/v1/models/puma560/simulate", ask, Request_Timeout="1",
                                          Authorization="Bearer " + self.token["long"])
            self.assertIn(answer.status, (401, 504), answer)
            if answer.status == 504:
                self.assertGreaterEqual(time.monotonic() - began, 0.9)
        self.assertEqual(self.client.get("/livez").status, 200)


class Stopped(ServerCase):
    def test_a_stop_under_requests(self):
        """After SIGSTOP and SIGCONT every request is answered, and no thread counts as stuck."""
        answered = []

        def asker():
            client = self.server.client(timeout=3 * PATIENCE)
            self.addCleanup(client.close)
            return lambda: answered.append(client.post("/v1/models/puma560/inverse-dynamics", {"q": [[0.1] * 6] * 300},
                                                       Request_Timeout="60").status)

        def state():
            with open(f"/proc/{self.server.process.pid}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0]

        with meanwhile([asker(), asker()]):
            for _ in range(3):
                self.server.process.send_signal(signal.SIGSTOP)
                give_up = time.monotonic() + PATIENCE
                while state() != "T":
                    self.assertLess(time.monotonic(), give_up)
                    time.sleep(0.01)
                time.sleep(0.3)
                self.server.process.send_signal(signal.SIGCONT)
                before = len(answered)
                while len(answered) < before + 10:
                    self.assertLess(time.monotonic(), give_up)
                    time.sleep(0.01)
        self.assertEqual(set(answered), {200})
        self.assertNotIn('"event":"stuck"', self.server.log())


if __name__ == "__main__":
    tap.main()
