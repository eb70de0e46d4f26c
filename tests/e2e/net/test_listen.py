"""Tests the addresses on which the server listens: several at once, Unix sockets, and several event loops behind them."""
import http.client
import json
import os
import socket
import stat
import subprocess
import time
import unittest

import tap
from harness import BINARY, MODELS, PATIENCE, Server
from samples import ASK, PUMA, chain
from threads import in_threads


class Local(http.client.HTTPConnection):
    """A client of a Unix socket that keeps its connection."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)

    def ask(self, method="GET", path="/livez", body=None):
        self.request(method, path, body)
        answer = self.getresponse()
        return answer.status, answer.read()


class Paths(unittest.TestCase):
    def serve(self, *arguments, listen="unix:socket,127.0.0.1:0"):
        server = Server("--listen", listen, *arguments)
        self.addCleanup(server.kill)
        return server, os.path.join(server.folder, "socket")

    def test_both_addresses_give_the_same(self):
        server, path = self.serve()
        local = Local(path)
        for _ in range(3):
            status, body = local.ask("POST", ASK, json.dumps(PUMA))
            self.assertEqual((status, body), (200, server.client().post(ASK, PUMA).body))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        done = subprocess.run(["curl", "-s", "--unix-socket", path, "http://localhost/livez"], capture_output=True)
        self.assertEqual(done.stdout, b'{"status":"alive"}')
        self.assertIsNone(server.stop())

    def test_heavy_and_large_requests(self):
        """Over a Unix socket, requests that a worker evaluates get long answers, which the server sends in many pieces."""
        server, path = self.serve("--workers", "1", "--socket-mode", "666")
        rows = {"q": [PUMA["q"]] * 20_000}
        status, body = Local(path).ask("POST", ASK, json.dumps(rows))
        self.assertEqual(status, 200)
        self.assertEqual(len(json.loads(body)["tau"]), 20_000)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o666)

    def test_the_path_is_given_back(self):
        """The server removes its socket at once on SIGTERM, although a request is in flight. After a kill, the next
        server replaces the socket."""
        server, path = self.serve()
        raw = server.socket()
        raw.send(b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        time.sleep(0.1)
        server.terminate()
        give_up = time.monotonic() + PATIENCE
        while os.path.exists(path):
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.01)
        self.assertIsNone(server.process.poll())
        raw.close()
        self.assertEqual(server.wait(), 0)

        server, path = self.serve()
        server.process.kill()
        server.process.wait()
        self.assertTrue(os.path.exists(path))
        again = Server("--listen", f"unix:{path},127.0.0.1:0")
        self.addCleanup(again.kill)
        self.assertEqual(Local(path).ask()[0], 200)

    def test_a_second_server_is_refused(self):
        server, path = self.serve()
        done = subprocess.run([BINARY, *MODELS, "--listen", f"unix:{path}", "--store", os.path.join(server.folder, "other")],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(path, done.stderr)
        self.assertEqual(Local(path).ask()[0], 200)


class Loops(unittest.TestCase):
    def test_all_of_them_serve(self):
        """Many connections at once over both kinds of sockets, with three event loops and two workers."""
        server = Server("--listen", "unix:socket,127.0.0.1:0", "--loops", "3", "--workers", "2")
        self.addCleanup(server.kill)
        path = os.path.join(server.folder, "socket")
        expected = server.client().post(ASK, PUMA).body

        def work(index):
            if index % 2:
                local = Local(path)
                return [local.ask("POST", ASK, json.dumps(PUMA))[1] for _ in range(50)]
            client = server.client()
            return [client.post(ASK, PUMA).body for _ in range(50)]

        for result in in_threads(24, work):
            self.assertEqual(result, [expected] * 50)
        self.assertIsNone(server.stop())

    def test_the_limit_of_connections_is_that_of_all_loops(self):
        """The limit of four connections holds for all event loops together: further connections wait and are accepted when others close."""
        for _ in range(3):  # the kernel distributes connections to the loops at random
            self.check_limit()

    def check_limit(self):
        server = Server("--loops", "2", "--connections", "4", "--client-connections", "12", "--workers", "1", "--queue", "86400")
        self.addCleanup(server.kill)
        server.client().put("/v1/models/long", chain(30))
        body = json.dumps({"q": [0.1] * 30, "duration": 900, "step": 1e-4, "samples": 2})
        held = [server.socket() for _ in range(12)]
        for raw in held:
            raw.send(f"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        give_up = time.monotonic() + PATIENCE
        while connections(server) < 4:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.02)
        for _ in range(20):
            self.assertIn(connections(server), (4, 5))  # two loops may check the limit at the same moment
            time.sleep(0.01)
        for raw in held:
            raw.close()
        self.assertEqual(server.client().get("/livez").status, 200)
        self.assertIsNone(server.stop())


def connections(server):
    """Returns the number of open connections of a server: established sockets with its listening port."""
    fds = f"/proc/{server.process.pid}/fd"
    own = set()
    for fd in os.listdir(fds):
        try:
            own.add(os.readlink(os.path.join(fds, fd)))
        except FileNotFoundError:
            pass  # the descriptor was closed since it was listed
    with open(f"/proc/{server.process.pid}/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    return sum(row[1].endswith(f":{server.port:04X}") and row[3] == "01" and f"socket:[{row[9]}]" in own for row in rows)


if __name__ == "__main__":
    tap.main()
