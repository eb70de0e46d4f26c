"""Tests that a client which is refused again and again cannot fill the log, and that the line of an acknowledged change is never lost: with a
slow reader of the log, during a flood of refusals, and with an audit file that is full, rotated or a FIFO."""
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import tap
from access import PENDULUM, Tokens
from harness import BINARY, MEMORY, MODELS, PATIENCE, QUEUE, Server
from peers import Client

CHANGES = int(os.environ.get("AUDIT_CHANGES", "2000"))    # number of changes that the server acknowledges while the log's reader is slow
RATE = int(os.environ.get("AUDIT_RATE", "200000"))        # bytes per second of the slow reader
FLOODERS = 4
CAPACITY = 256      # lines that the audit queue holds


def document(number):
    return {**PENDULUM, "gravity": [0, 0, -1 - number / 1024]}


class SlowReader(threading.Thread):
    """Reads a pipe at a rate in bytes per second, until its end."""

    def __init__(self, descriptor, rate):
        super().__init__(daemon=True)
        self.descriptor, self.rate, self.text = descriptor, rate, b""
        self.began = time.monotonic()

    def run(self):
        while piece := os.read(self.descriptor, 4096):
            self.text += piece
            time.sleep(max(0, len(self.text) / self.rate - (time.monotonic() - self.began)))

    def events(self):
        return [json.loads(line) for line in self.text.decode().splitlines()]


class PipedServer:
    """A server whose log goes to a pipe with a slow reader."""

    def __init__(self, case, rate, *arguments):
        self.folder = case.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-", dir=MEMORY))
        read, write = os.pipe()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TORQUED_") or k == "TORQUED_TARGET"}
        self.process = subprocess.Popen(
            [BINARY, *MODELS, *QUEUE, "--listen", "127.0.0.1:0", "--store", os.path.join(self.folder, "store"), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write, env=environment)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)
        os.close(write)
        self.reader = SlowReader(read, rate)
        self.reader.start()
        give_up = time.monotonic() + PATIENCE
        while not (found := re.search(rb'"ready","address":"127\.0\.0\.1:([0-9]+)"', self.reader.text)):
            case.assertLess(time.monotonic(), give_up, self.reader.text)
            time.sleep(0.01)
        self.port = int(found.group(1))

    def stop(self):
        """Stops the server; returns the events of its log."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(2 * PATIENCE)
        self.reader.join(4 * PATIENCE)
        if status != 0 or self.reader.is_alive():
            raise AssertionError(f"status {status}")
        return self.reader.events()


class Flood:
    """Clients without a credential, each of which sends requests on its connection as fast as it can until the flood stops."""

    def __init__(self, port, path="/v1", clients=FLOODERS):
        self.port, self.path, self.ends, self.sent = port, path, threading.Event(), [0] * clients
        self.threads = [threading.Thread(target=self.ask, args=(i,), daemon=True) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def ask(self, i):
        client = Client(self.port, PATIENCE)
        while not self.ends.is_set():
            client.get(self.path)
            self.sent[i] += 1
        client.close()

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        return sum(self.sent)


def lines_of(events, event, **fields):
    return [line for line in events if line["event"] == event and fields.items() <= line.items()]


class Refusals(unittest.TestCase):
    def flood(self, path, status, *arguments):
        """Returns how many requests were refused with this status, in how many seconds, and the events of the log."""
        server = Server(*arguments)
        self.addCleanup(server.kill)
        began = time.monotonic()
        flood = Flood(server.port, path)
        give_up = began + PATIENCE
        while sum(flood.sent) < 3000 and time.monotonic() < give_up:
            time.sleep(0.05)
        sent, took = flood.stop(), time.monotonic() - began
        server.terminate()
        self.assertEqual(server.wait(), 0)
        return sent, took, server.events()

    def check(self, kind, path, status, *arguments):
        sent, took, events = self.flood(path, status, *arguments)
        lines = lines_of(events, kind, status=status)
        more = lines_of(events, "omitted-refusals", status=status)
        self.assertGreaterEqual(len(lines), 10)
        self.assertLessEqual(len(lines), 10 * (took + 3), "10 lines per second")
        self.assertEqual(len(lines) + sum(line["requests"] for line in more), sent, "every refusal is counted")
        self.assertLessEqual(len(more), took / 10 + 2)
        self.assertRegex(more[-1]["message"], r"^[0-9]+ more like this from address:127\.0\.0\.1 in [0-9.]+ s$")
        self.assertEqual(more[-1]["level"], "audit")
        self.assertEqual(len(lines_of(events, "request", status=status)), len(lines))

    def test_a_flood_without_credential_has_ten_lines_a_second(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check("denied", "/v1", 401, "--tokens", Tokens(folder).path)

    def test_a_flood_of_missing_paths_has_ten_lines_a_second(self):
        self.check("request", "/v1/nothing", 404)

    def test_one_kind_of_refusal_does_not_hide_another(self):
        server = Server("--log-refusals", "2")
        self.addCleanup(server.kill)
        client = server.client()
        for _ in range(50):
            client.get("/v1/nothing")
        client.request("DELETE", "/v1", headers={"Request-Id": "another-kind"})
        server.await_log("another-kind")
        client.close()
        self.assertIsNone(server.stop())

    def test_malformed_heads_are_limited(self):
        server = Server()
        self.addCleanup(server.kill)
        for _ in range(60):
            raw = server.socket()
            raw.send("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
            self.assertEqual(raw.answer().status, 400)
            raw.close()
        server.terminate()
        self.assertEqual(server.wait(), 0)
        events = server.events()
        lines = lines_of(events, "request", status=400)
        self.assertLess(len(lines), 60)
        more = sum(line["requests"] for line in lines_of(events, "omitted-refusals", status=400))
        self.assertEqual(len(lines) + more, 60)


class Changes(unittest.TestCase):
    def test_no_change_is_lost_behind_a_slow_reader(self):
        """Every acknowledged change has its line although the reader takes less than the server writes, and although four clients are refused
        all the time."""
        tokens = Tokens(self.enterContext(tempfile.TemporaryDirectory()))
        server = PipedServer(self, RATE, "--tokens", tokens.path)
        flood = Flood(server.port)
        client = Client(server.port, 4 * PATIENCE)
        acknowledged = []
        for number in range(CHANGES):
            name = f"/v1/models/m{number % 7}"
            answer = (client.request("DELETE", name, headers=tokens.header("boss")) if number % 14 == 13 else
                      client.request("PUT", name, document(number), tokens.header("boss")))
            if answer.status < 300:
                acknowledged.append(answer.headers["Request-Id"])
        refused = flood.stop()
        events = server.stop()
        changes = [line["id"] for line in lines_of(events, "change")]
        self.assertGreater(len(acknowledged), 0.9 * CHANGES)
        self.assertEqual([line for line in changes if line in set(acknowledged)], acknowledged, "each once, in order")
        denied = len(lines_of(events, "denied")) + sum(line["requests"] for line in lines_of(events, "omitted-refusals"))
        self.assertLessEqual(denied, refused)

    def test_a_reader_that_stops_refuses_changes_before_they_are_made(self):
        """A change is made only once the audit queue has a free place for its line: a change that waits until its deadline is refused. The next
        change succeeds when the reader continues."""
        folder = self.enterContext(tempfile.TemporaryDirectory(dir=MEMORY))
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        server = Server("--audit-log", fifo)
        self.addCleanup(server.kill)
        client = server.client()
        for number in range(CAPACITY):
            self.assertLess(client.put("/v1/models/m", document(number)).status, 300)
        revision = client.get("/v1/models/m").headers["Model-Revision"]
        began = time.monotonic()
        answer = client.put("/v1/models/m", document(CAPACITY), Request_Timeout="1")
        self.assertEqual((answer.status, answer.json()["code"]), (503, "audit-full"), answer)
        self.assertGreater(time.monotonic() - began, 0.9)
        self.assertEqual(client.get("/v1/models/m").headers["Model-Revision"], revision)
        self.assertEqual(client.get("/readyz").json()["reasons"], ["audit log: changes wait: the FIFO has no reader"])
        self.assertIn("torqued_audit_lines 256\n", client.get("/metrics").text)
        waiting = threading.Thread(target=lambda: client.put("/v1/models/m", document(CAPACITY)))
        waiting.start()
        with open(fifo) as lines:
            read = [json.loads(lines.readline()) for _ in range(CAPACITY + 1)]
            waiting.join(PATIENCE)
            self.assertEqual([line["event"] for line in read], ["change"] * (CAPACITY + 1))
            self.assertEqual(read[-1]["before"], revision)
            server.await_log("audit-repaired")
            self.assertEqual(client.get("/readyz").json()["reasons"], [])
            client.close()
            self.assertIsNone(server.stop())

    def test_a_file_is_rotated_without_loss(self):
        """SIGHUP opens the file anew. Lines go to the old or the new file, and none is lost."""
        folder = self.enterContext(tempfile.TemporaryDirectory(dir=MEMORY))
        path = os.path.join(folder, "audit")
        server = Server("--audit-log", path)
        self.addCleanup(server.kill)
        client = server.client()
        for rotation in range(4):
            for number in range(30):
                self.assertLess(client.put("/v1/models/m", document(100 * rotation + number)).status, 300)
            os.rename(path, f"{path}.{rotation}")
            server.process.send_signal(signal.SIGHUP)
            give_up = time.monotonic() + PATIENCE
            while not os.path.exists(path):
                self.assertLess(time.monotonic(), give_up)
                time.sleep(0.01)
        client.close()
        self.assertIsNone(server.stop())
        files = [f"{path}.{rotation}" for rotation in range(4)] + [path]
        texts = [open(file).read() for file in files]
        events = [[json.loads(line)["event"] for line in text.splitlines()] for text in texts]
        self.assertEqual(sum(kinds.count("change") for kinds in events), 120)
        self.assertEqual(sum(kinds.count("reloaded") for kinds in events), 4)
        self.assertIn("reloaded", events[1], "the file was opened anew")
        self.assertEqual(os.stat(path).st_mode & 0o7, 0)

    def test_a_full_disk_refuses_changes_and_loses_no_line(self):
        """A line that was cut off by a full disk is continued when the disk has free space again."""
        folder = self.enterContext(tempfile.TemporaryDirectory(dir=MEMORY))
        path = os.path.join(folder, "audit")
        server = Server("--audit-log", path)
        self.addCleanup(server.kill)
        client = server.client()
        limit = 20000       # limit on the size of any file, in bytes
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        made = 0
        while (answer := client.put("/v1/models/m", document(made), Request_Timeout="0.5")).status < 300:
            made += 1
            self.assertLess(made, 1000)
        self.assertEqual(answer.json()["code"], "audit-full")
        self.assertEqual(os.stat(path).st_size, limit)
        self.assertIn("File too large", client.get("/readyz").json()["reasons"][0])
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertLess(client.put("/v1/models/m", document(made)).status, 300)
        client.close()
        self.assertIsNone(server.stop())
        with open(path) as lines:
            self.assertEqual([json.loads(line)["event"] for line in lines], ["change"] * (made + 1))

    def test_a_file_that_is_none_stops_the_start(self):
        for path, said in (("/dev/null", "neither a regular file nor a FIFO"), ("/", "neither a regular file nor a FIFO"),
                           ("/nowhere/audit", "No such file or directory")):
            done = subprocess.run([BINARY, *MODELS, "--listen", "127.0.0.1:0", "--audit-log", path], capture_output=True, text=True,
                                  timeout=PATIENCE)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"cannot append to the file {path} of --audit-log: ", done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    tap.main()
