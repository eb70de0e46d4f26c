"""Tests that a mechanism that cannot close is refused after a search of bounded time with a problem that names the loop, and that a sub-command
prints a message while the search takes long."""
import json
import math
import os
import subprocess
import tempfile
import time
import unittest

import tap
from harness import BINARY, ROOT, ServerCase
from server_threads import seconds

with open(os.path.join(ROOT, "models", "five_bar.json")) as file:
    FIVE_BAR = json.load(file)
SEARCH_LIMIT = 0.5  # s of processor time for a mechanism of one loop; it takes a few thousandths


def tilted(axis=(0, -9.81, 1)):
    """A five-bar robot, one of whose joints is tilted out of the plane: the loop closes, but nothing moves."""
    document = json.loads(json.dumps(FIVE_BAR))
    document["links"][0]["joint"]["axis"] = list(axis)
    return document


def torn(distance=3):
    """A five-bar robot whose motors are too far apart for the loop to close."""
    document = json.loads(json.dumps(FIVE_BAR))
    document["links"][2]["joint"]["origin"] = {"xyz": [distance, 0, 0]}
    return document


def many(n, broken=False):
    """n five-bar robots side by side; if `broken`, a joint of the first robot is tilted."""
    document = {"gravity": FIVE_BAR["gravity"], "base": FIVE_BAR["base"], "links": [], "frames": [], "loops": []}
    for k in range(n):
        part = tilted() if broken and k == 0 else json.loads(json.dumps(FIVE_BAR))
        for link in part["links"]:
            link["name"] += str(k)
            link["parent"] += "" if link["parent"] == "ground" else str(k)
            link["joint"]["name"] += str(k)
        for frame in part["frames"]:
            frame["name"], frame["link"] = frame["name"] + str(k), frame["link"] + str(k)
        for loop in part["loops"]:
            loop["name"], loop["frame_a"], loop["frame_b"] = (loop[f] + str(k) for f in ("name", "frame_a", "frame_b"))
        document["links"] += part["links"]
        document["frames"] += part["frames"]
        document["loops"] += part["loops"]
    return document


class Put(ServerCase):
    def test_a_loop_that_lets_nothing_move_is_named(self):
        before = seconds(self.server, "torqued-worker")
        problem = self.assertProblem(self.client.put("/v1/models/x", tilted()), 422, "/loops")
        self.assertLess(seconds(self.server, "torqued-worker") - before, SEARCH_LIMIT)
        self.assertEqual(problem["code"], "loop-singular")
        for words in ('loop "tip_pin" does not let all 2 actuated coordinates move', "correct the axes and frames", "fewer joints"):
            self.assertIn(words, problem["detail"])

    def test_a_loop_that_stays_open_is_named(self):
        before = seconds(self.server, "torqued-worker")
        problem = self.assertProblem(self.client.put("/v1/models/x", torn()), 422, "/loops")
        self.assertLess(seconds(self.server, "torqued-worker") - before, SEARCH_LIMIT)
        self.assertEqual(problem["code"], "loop-open")
        for words in ('loop "tip_pin" stays open by', "correct the axes, frames and lengths", '"home"'):
            self.assertIn(words, problem["detail"])

    def test_the_open_loop_among_closed_ones_is_named(self):
        document = many(4)
        document["links"][4 * 2 + 2]["joint"]["origin"] = {"xyz": [3, 0, 0]}
        problem = self.assertProblem(self.client.put("/v1/models/x", document), 422, "/loops")
        self.assertIn('loop "tip_pin2" stays open by', problem["detail"])
        problem = self.assertProblem(self.client.put("/v1/models/x", many(4, broken=True)), 422, "/loops")
        self.assertIn('loop "tip_pin0" does not let all 8', problem["detail"])

    def test_tilted_axes_of_all_kinds_end_soon(self):
        before = seconds(self.server, "torqued-worker")
        for i in range(30):
            axis = (0.3 * i % 1.7 - 0.8, 0.7 * i % 2.3 - 1.1, 0.1 + 0.2 * i % 1.1)
            with self.subTest(axis=axis):
                self.assertIn(self.client.put("/v1/models/x", tilted(axis)).status, (200, 201, 422))
        self.assertLess(seconds(self.server, "torqued-worker") - before, 30 * SEARCH_LIMIT / 4)

    def test_the_deadline_ends_the_search(self):
        document, took = many(100, broken=True), math.inf
        for _ in range(3):
            began = time.monotonic()
            self.assertProblem(self.client.put("/v1/models/x", document), 422, "/loops")
            took = min(took, time.monotonic() - began)
        before, deadline = seconds(self.server, "torqued-worker"), took / 4
        self.assertProblem(self.client.put("/v1/models/x", document, Request_Timeout=f"{deadline:.4f}"), 504)
        self.assertLess(seconds(self.server, "torqued-worker") - before, 1.2 * deadline + 0.05)


class Command(unittest.TestCase):
    def check(self, document, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as robot:
            json.dump(document, robot)
            robot.flush()
            began = time.monotonic()
            done = subprocess.run([BINARY, "check", robot.name, *arguments], capture_output=True, text=True, timeout=120,
                                  cwd=ROOT, check=False)
            return done, time.monotonic() - began

    def test_check_names_the_loop(self):
        done, _ = self.check(tilted())
        self.assertEqual(done.returncode, 1)
        self.assertIn('loop "tip_pin" does not let', done.stdout + done.stderr)

    def test_check_tells_a_search_that_takes_more_than_a_second(self):
        done, took = self.check(many(72, broken=True))
        self.assertEqual(done.returncode, 1)
        self.assertIn('loop "tip_pin0" does not let', done.stdout + done.stderr)
        if took > 1.5:
            self.assertIn("closing the loops, 1 s so far", done.stderr)
        done, _ = self.check(many(8))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    tap.main()
