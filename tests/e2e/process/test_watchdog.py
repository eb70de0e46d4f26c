"""Tests messages to systemd (sd_notify) and the watchdog over threads. ptrace stops a thread, as a bug would."""
import os
import re
import signal
import socket
import tempfile
import threading
import time
import unittest

import tap
from harness import PATIENCE, Server
from server_threads import Held

LIMIT = 900000  # us, interval of the watchdog; after a third of it a thread counts as stuck


class Watched(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(os.path.join(folder, "notify"))
        self.manager.settimeout(PATIENCE)
        self.server = Server("--workers", "2", "--inline-limit", "0", environment={
            "NOTIFY_SOCKET": os.path.join(folder, "notify"), "WATCHDOG_USEC": str(LIMIT)})
        self.addCleanup(self.server.kill)

    def told(self):
        return self.manager.recv(4096).decode()

    def await_told(self, text):
        give_up = time.monotonic() + PATIENCE
        while self.told() != text:
            self.assertLess(time.monotonic(), give_up, f"no {text}")

    def assertQuiet(self):
        """Checks that the server sends no WATCHDOG=1 for longer than systemd's limit."""
        silence = time.monotonic()
        give_up = silence + PATIENCE
        self.manager.settimeout(LIMIT / 1e6)
        while True:
            try:
                self.told()
            except TimeoutError:
                break
            self.assertLess(time.monotonic(), give_up, "the server goes on feeding the watchdog")
        self.manager.settimeout(PATIENCE)

    def threads(self, name):
        tasks = f"/proc/{self.server.process.pid}/task"
        return [int(t) for t in os.listdir(tasks) if open(f"{tasks}/{t}/comm").read() == name + "\n"]

    def processor_time(self, thread):
        """Returns the thread's processor time in s."""
        with open(f"/proc/{self.server.process.pid}/task/{thread}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stuck(self, kind):
        page = self.server.client().get("/metrics").body.decode()
        found = re.search(rf'^torqued_stuck_threads{{thread="{kind}"}} (\d+)$', page, re.MULTILINE)
        return int(found[1]) if found else 0

    def await_stuck(self, kind, number):
        """Waits until `number` threads count as stuck; the watchdog may notice two threads at two different checks."""
        give_up = time.monotonic() + PATIENCE
        while self.stuck(kind) != number:
            self.assertLess(time.monotonic(), give_up, f"{self.stuck(kind)} of {kind}")
            time.sleep(0.01)

    def test_life(self):
        self.assertEqual(self.told(), "READY=1")
        self.assertEqual(self.told(), "WATCHDOG=1")
        self.assertIsNone(self.server.stop())
        self.await_told("STOPPING=1")

    def test_a_loop(self):
        self.await_told("WATCHDOG=1")
        with Held(self.threads("torqued-loop")[0]):
            self.assertQuiet()
            self.server.await_log('"event":"stuck"')
        self.await_told("WATCHDOG=1")
        self.server.await_log('"event":"recovered"')
        self.assertEqual(self.stuck("loop"), 0)
        self.assertEqual(self.server.client().get("/livez").status, 200)

    def ask_both_workers(self):
        """Sends each worker a request whose deadline passes during the evaluation. Returns the client threads that wait for the answers."""
        client = [self.server.client() for _ in range(2)]
        ask = {"q": [0.1] * 6, "qd": [0] * 6, "duration": 500, "step": 0.0001, "samples": 2}
        asking = [threading.Thread(target=c.post, args=("/v1/models/puma560/simulate", ask),
                                   kwargs={"Request_Timeout": "3"}) for c in client]
        for one in asking:
            one.start()
        return asking

    def test_workers(self):
        workers = self.threads("torqued-worker")
        self.assertEqual(len(workers), 2)
        before = {t: self.processor_time(t) for t in workers}
        asking = self.ask_both_workers()
        give_up = time.monotonic() + PATIENCE
        # until both are evaluating
        while len(busy := [t for t in workers if self.processor_time(t) > before[t] + 0.1]) < 2:
            self.assertLess(time.monotonic(), give_up, "the workers do not work")
        one, other = busy
        with Held(one, busy=True), Held(other, busy=True):
            self.server.await_log('"event":"stuck"')
            self.await_stuck("worker", 2)
            line = next(line for line in self.server.events() if line["event"] == "stuck")
            self.assertEqual((line["path"], line["from"]), ("/v1/models/puma560/simulate", "127.0.0.1"))
            self.assertRegex(line["id"], "^[0-9a-f]{16}$")
            self.assertQuiet()
        for one in asking:
            one.join(PATIENCE)
        self.server.await_log('"event":"recovered"')
        self.await_told("WATCHDOG=1")
        self.await_stuck("worker", 0)

    def test_a_stopped_process(self):
        """When the whole process is stopped and continued, no thread counts as stuck."""
        self.await_told("WATCHDOG=1")
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(2 * LIMIT / 1e6)
        self.server.process.send_signal(signal.SIGCONT)
        for _ in range(3):
            self.await_told("WATCHDOG=1")
        self.assertNotIn('"event":"stuck"', self.server.log())


class NotWatched(unittest.TestCase):
    def test_nobody_to_tell(self):
        for environment in ({"NOTIFY_SOCKET": "/nowhere/at/all"}, {"NOTIFY_SOCKET": "/" + "x" * 200}, {"NOTIFY_SOCKET": ""},
                            {"WATCHDOG_USEC": "nonsense"}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "99999999999999999999"}):
            server = Server(environment=environment)
            self.assertEqual(server.client().get("/livez").status, 200)
            self.assertIsNone(server.stop())

    def test_an_abstract_name(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind("\0torqued-test-" + str(os.getpid()))
            manager.settimeout(PATIENCE)
            # WATCHDOG_PID names another process: this server has no watchdog.
            server = Server(environment={"NOTIFY_SOCKET": "@torqued-test-" + str(os.getpid()), "WATCHDOG_PID": "1",
                                         "WATCHDOG_USEC": "100000"})
            self.assertEqual(manager.recv(4096), b"READY=1")
            self.assertIsNone(server.stop())
            self.assertEqual(manager.recv(4096), b"STOPPING=1")


if __name__ == "__main__":
    tap.main()
