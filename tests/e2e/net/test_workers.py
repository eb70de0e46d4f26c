"""Tests one large request on several workers: which threads work on it, and which other requests are answered
meanwhile."""
import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
import unittest

import tap
from harness import Server
from samples import HEAVY, branched, chain, everything, states
from server_threads import Held, named, processor_time, stats, time_slice
from threads import in_threads

ROWS = 4000


class Crew(unittest.TestCase):
    def serve(self, *arguments, command=()):
        server = Server(*arguments, command=command)
        self.addCleanup(server.kill)
        server.client().put("/v1/models/branched", branched())
        return server

    def test_all_workers_share_one_request(self):
        body = json.dumps(everything(states(ROWS)))
        bodies = []
        for workers in (1, 3):
            server = self.serve("--workers", str(workers))
            for done in range(60):  # on a busy machine a worker may take no part in some of the requests
                answer = server.client(120).post("/v1/models/branched/evaluate", body)
                self.assertEqual(answer.status, 200, answer)
                bodies.append(answer.body)
                times = processor_time(server, "torqued-worker")
                self.assertEqual(len(times), workers)
                if done >= 2 and min(times) > 0:
                    break
            print(f"# {workers} workers: {times} ticks")
            self.assertGreater(min(times), 0, "all have worked")
            self.assertIsNone(server.stop())
        self.assertEqual(len(set(bodies)), 1)

    def test_each_worker_does_its_share(self):
        """Each of three workers does at least 15 % of the work of requests that come one after another."""
        server = self.serve("--workers", "3", "--queue", "600", "--timeout", "600")
        server.client().put("/v1/models/long", chain(100))
        request, workers = {"q": [[0.1] * 100] * 3000, "tau": [0] * 100, "outputs": ["qdd", "dqdd_dwrench"]}, [0]
        while sum(workers) < 40:  # 40 clock ticks of 10 ms, long enough to measure shares
            answer = server.client(600).post("/v1/models/long/forward-sensitivity", request)
            self.assertEqual(answer.status, 200, answer)
            workers = processor_time(server, "torqued-worker")
        print(f"# ticks of the workers: {workers}")
        self.assertGreater(min(workers), 0.15 * sum(workers))
        self.assertIsNone(server.stop())

    def test_workers_give_way_to_loops(self):
        server = self.serve("--workers", "2", "--loops", "2")
        nice = [{int(fields[16]) for fields in stats(server, thread)} for thread in ("torqued-loop", "torqued-worker")]
        self.assertEqual(nice, [{os.nice(0)}, {min(os.nice(0) + 10, 19)}])

    def test_loops_have_the_shortest_slice(self):
        if time_slice(0) is None:
            self.skipTest("Linux before 6.12")
        server = self.serve("--workers", "2", "--loops", "2", "--health-listen", "127.0.0.1:0")
        slices = {thread: {time_slice(number) for number in named(server, thread)}
                  for thread in ("torqued-loop", "torqued-health", "torqued-worker")}
        self.assertEqual(slices["torqued-loop"] | slices["torqued-health"], {1e-4}, slices)
        self.assertGreater(min(slices["torqued-worker"]), 1e-4, slices)

    def real_time(self, *limit, arguments=("--workers", "2", "--loops", "2")):
        """Starts a server as deploy/realtime.conf does, with commands in place of systemd's settings."""
        command = ("chrt", "--fifo", "10", "prlimit", *limit)
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            self.skipTest("no real-time scheduling here")
        server = self.serve(*arguments, command=command)
        with open(f"/proc/{server.process.pid}/status") as status:
            return server, int(re.search(r"VmLck:\s+(\d+) kB", status.read())[1])

    def test_only_loops_are_real_time(self):
        server, _ = self.real_time("--nofile=1024")
        policies = {thread: {(int(fields[38]), int(fields[37])) for fields in stats(server, thread)}
                    for thread in ("torqued-loop", "torqued-worker", "torqued-log", "torqued")}
        self.assertEqual(policies, {"torqued-loop": {(os.SCHED_FIFO, 10)}, "torqued-worker": {(os.SCHED_OTHER, 0)},
                                    "torqued-log": {(os.SCHED_OTHER, 0)}, "torqued": {(os.SCHED_OTHER, 0)}})

    def test_a_real_time_loop_sleeps_while_others_go_on(self):
        """On one core a real-time loop preempts the thread that wakes it: the loop must not wait for a mutex of that
        thread."""
        core = str(min(os.sched_getaffinity(0)))
        server, _ = self.real_time("--nofile=1024", "taskset", "--cpu-list", core, arguments=("--workers", "1", "--inline-limit", "0"))
        client = server.client()
        for _ in range(50):
            self.assertEqual(client.post("/v1/models/two_link/mass-matrix", {"q": [0, 0]}).status, 200)
        times = processor_time(server, "torqued-loop")
        self.assertLess(sum(times), 20, "ticks")
        self.assertIsNone(server.stop())

    def test_real_time_memory_is_locked(self):
        server, locked = self.real_time("--memlock=unlimited")
        self.assertGreater(locked, 0)
        self.assertNotIn('"event":"memory"', server.log())

    def test_locked_memory_is_never_short(self):
        """With a finite memory lock limit the memory is not locked, since allocations beyond the limit would fail."""
        server, locked = self.real_time("--memlock=1048576")
        self.assertEqual(locked, 0)
        server.await_log("LimitMEMLOCK=infinity")

    def test_who_comes_later_is_served_first(self):
        """Workers leave a long request when another arrives, which is answered before the long one."""
        server = self.serve("--workers", "2", "--queue", "600", "--timeout", "600")
        server.client().put("/v1/models/long", chain(100))
        rows = json.loads(HEAVY)
        rows["q"] = rows["q"] * 16
        done = []

        def work(index):
            client = server.client(600)
            if index == 0:
                answer = client.post("/v1/models/long/evaluate", json.dumps(rows))
            else:
                time.sleep(0.1)
                answer = client.post("/v1/models/long/evaluate", HEAVY)
            done.append(index)
            return answer.status

        self.assertEqual(in_threads(2, work), [200, 200])
        self.assertEqual(done, [1, 0])
        self.assertIsNone(server.stop())

    def test_an_interrupted_loop_keeps_its_short_requests(self):
        """Sixty short requests in one turn of the event loop take longer than --inline-limit allows a single request. The process is stopped and
        continued again and again, so that the time, but not the work, of some requests is long. No request may go to the worker, which is
        stopped by ptrace: it would wait there."""
        server = self.serve("--workers", "1", "--loops", "1")
        body = json.dumps({"q": [[0.1] * 6] * 60})
        request = f"POST /v1/models/puma560/inverse-dynamics HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ends = threading.Event()

        def interrupt():
            while not ends.is_set():
                server.process.send_signal(signal.SIGSTOP)
                time.sleep(0.003)
                server.process.send_signal(signal.SIGCONT)
                time.sleep(0.001)
        with Held(named(server, "torqued-worker")[0]), contextlib.ExitStack() as stack:
            raws = [stack.enter_context(contextlib.closing(server.socket())) for _ in range(60)]
            thread = threading.Thread(target=interrupt)
            stack.callback(thread.join)
            stack.callback(ends.set)
            thread.start()
            for _ in range(60):
                for raw in raws:
                    raw.send(request)
                self.assertEqual({raw.answer().status for raw in raws}, {200})


if __name__ == "__main__":
    tap.main()
