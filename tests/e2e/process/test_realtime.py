"""Tests api/clients/c/feedforward.c, the control loop of deploy/REALTIME.md, compiled as that page says: its torques
against the server's, its counters, and its end without a server."""
import math
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest

import tap
from harness import PATIENCE, ROOT, Server, ServerCase
from test_c_client import CLIENT, warnings

RATE, SECONDS = 50, 1  # Hz, slow enough for a busy machine, and s
REST = (0, -0.5, 0, -2, 0, 1.5, 0.5)


def planned():
    """Returns the states of the program's motion at all ticks."""
    times = [tick / RATE for tick in range(RATE * SECONDS)]
    return {"q": [[rest + 0.2 * (1 - math.cos(math.pi * t)) for rest in REST] for t in times],
            "qd": [[0.2 * math.pi * math.sin(math.pi * t)] * 7 for t in times],
            "qdd": [[0.2 * math.pi ** 2 * math.cos(math.pi * t)] * 7 for t in times]}


class Feedforward(ServerCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.program = os.path.join(folder, "feedforward")
        cls.arguments = ("--listen", f"127.0.0.1:0,unix:{folder}/socket")
        cls.socket = os.path.join(folder, "socket")
        with open(os.path.join(ROOT, "deploy", "REALTIME.md")) as page:
            command = re.search(r"^cc .*", page.read(), re.MULTILINE)[0].split()
        command[command.index("-o") + 1] = cls.program
        subprocess.run([*command, *warnings()], check=True, cwd=CLIENT)
        super().setUpClass()

    def go(self, *arguments):
        return subprocess.run([self.program, "-t", str(SECONDS), "-r", str(RATE), *arguments], capture_output=True, text=True,
                              timeout=PATIENCE)

    def counts(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        line = re.match(r"ticks=(\d+) missed=(\d+) p50=(\S+) p99=(\S+) p99.9=(\S+) max=(\S+)\n", done.stdout)
        ticks, missed, *times = (float(value) for value in line.groups())
        self.assertEqual(ticks, RATE * SECONDS)
        self.assertLessEqual(missed, ticks)
        self.assertEqual(times, sorted(times))
        return done.stdout[line.end():]

    def test_its_torques_are_those_of_the_motion(self):
        """The printed torques are those of one of the last ticks: on a busy machine the last tick may be missed."""
        wanted = self.client.post("/v1/models/panda/inverse-dynamics", planned()).json()["tau"]
        for target in (("-u", self.server.url()), ("-s", self.socket)):
            said = self.counts(self.go(*target))
            torques = [float(number) for number in re.fullmatch(r"tau((?: \S+){7})\n", said)[1].split()]
            distances = [max(abs(a - b) for a, b in zip(torques, row)) for row in wanted]
            self.assertLess(min(distances), 1e-11)
            self.assertGreater(distances.index(min(distances)), RATE * SECONDS // 2)

    def test_without_requests_it_sleeps_alone(self):
        self.assertEqual(self.counts(self.go("-n", "-u", "http://127.0.0.1:1")), "")

    def test_misuse(self):
        for arguments in (("-x",), ("more",), ("-r", "0"), ("-r", "1e9"), ("-t", "0"), ("-t", "nan"), ("-p", "-1"), ("-c", "9999")):
            done = self.go(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn("usage: feedforward", done.stderr)

    def test_no_server(self):
        done = self.go("-s", self.socket + "-nowhere")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the last call failed: ", done.stderr)

    def test_a_server_that_goes_away(self):
        """Without a server the loop ends after ten failures in a row and counts the lost ticks."""
        server = Server()
        self.addCleanup(server.kill)
        threading.Thread(target=lambda: (time.sleep(0.5), server.process.kill())).start()
        done = self.go("-t", "600", "-u", server.url())
        self.assertEqual(done.returncode, 1)
        self.assertIn("the last call failed: ", done.stderr)
        self.assertGreaterEqual(int(re.search(r"missed=(\d+)", done.stdout)[1]), 10)

    def test_priorities(self):
        done = self.go("-n", "-p", "10", "-c", "0")
        if "sched_setscheduler" in done.stderr:
            self.assertEqual(done.returncode, 1)
            self.skipTest("no real-time scheduling here")
        self.assertEqual(self.counts(done), "")


if __name__ == "__main__":
    tap.main()
