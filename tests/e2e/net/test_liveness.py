"""Tests the addresses of --health-listen: the thread behind them answers probes and metrics while other threads are blocked, --connections is
used up, or the server drains. The test stops threads by ptrace, which has the effect of an endless evaluation."""
import contextlib
import hashlib
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest

import tap
from harness import BINARY, PATIENCE, Server
from peers import Client, RawSocket
from samples import slider
from server_threads import Held, named
from wire import post

PROBES = ("/livez", "/readyz", "/metrics")


class Health(unittest.TestCase):
    def serve(self, *arguments, health="127.0.0.1:0", **options):
        self.server = Server("--health-listen", health, "--workers", "1", *arguments, **options)
        self.addCleanup(self.server.kill)
        self.server.await_log('"for":"health"')
        said = next(e for e in self.server.events() if e["event"] == "listening" and e.get("for") == "health")
        port = re.fullmatch(r".*:([0-9]+)", said["address"])
        self.port = int(port[1]) if port else None
        return self.server

    def probe(self, path="/livez", headers=None, timeout=PATIENCE):
        client = Client(self.port, timeout)
        try:
            return client.request("GET", path, headers=headers)
        finally:
            client.close()

    def assertServes(self):
        for path in PROBES:
            self.assertEqual(self.probe(path).status, 200, path)

    def assertNoPath(self, answer, *parts):
        self.assertEqual((answer.status, answer.json()["code"]), (404, "no-such-path"), answer)
        for part in parts:
            self.assertIn(part, answer.json()["detail"])


class Paths(Health):
    def test_the_address_has_the_three_paths_and_no_other(self):
        """Operations, models and pages are served only at --listen; the refusal at --health-listen names that setting."""
        self.serve()
        self.assertServes()
        for path in ("/", "/v1", "/v1/models", "/openapi.json", "/livez/x", "/docs"):
            self.assertNoPath(self.probe(path), "--health-listen", "--listen")
        client = Client(self.port, PATIENCE)
        self.addCleanup(client.close)
        self.assertNoPath(client.put("/v1/models/slider", slider()), "--health-listen")
        self.assertNoPath(client.post("/v1/models/puma560/inverse-dynamics", {"q": [0] * 6}))
        self.assertEqual(client.request("HEAD", "/livez").status, 200)
        answer = client.request("DELETE", "/readyz")
        self.assertEqual((answer.status, answer.headers["Connection"]), (405, "close"), "a kept connection would keep a place")

    def test_the_main_address_has_them_too(self):
        """Probes sent to --listen still work."""
        self.serve()
        for path in PROBES:
            self.assertEqual(self.server.client().get(path).status, 200)
        self.assertEqual(self.probe("/livez").body, self.server.client().get("/livez").body)

    def test_answers_are_not_compressed(self):
        """The answers of --health-listen are not compressed, since compression may need a worker and the workers may be busy. Forty unreadable
        files make the list of reasons long enough."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for i in range(40):
            with open(os.path.join(folder, f"model{i}.json"), "w") as file:
                file.write("{")
        self.serve("--models", folder)
        gzip = {"Accept-Encoding": "gzip"}
        main = self.server.client().request("GET", "/readyz", headers=gzip)
        self.assertEqual((main.status, main.headers["Content-Encoding"]), (200, "gzip"), "the list is too short for this test")
        answer = self.probe("/readyz", gzip)
        self.assertEqual((answer.status, answer.headers["Content-Encoding"]), (200, None))
        self.assertEqual(len(answer.json()["reasons"]), 33)
        self.assertIn("\ntorqued_ready 1\n", self.probe("/metrics", gzip).text)

    def test_a_malformed_request_is_refused_as_at_the_main_address(self):
        self.serve()
        raw = RawSocket(self.port, PATIENCE)
        self.addCleanup(raw.close)
        raw.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
        self.assertEqual(raw.answer().status, 400)

    def test_a_unix_socket(self):
        self.serve(health="unix:probes")
        path = os.path.join(self.server.folder, "probes")
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(path)
            sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertIn(b" 200 ", sock.recv(4096).split(b"\r\n")[0])
        self.assertIsNone(self.server.stop())
        self.assertFalse(os.path.exists(path), "the file of the socket is left behind")


class Access(Health):
    def test_metrics_need_the_role_and_probes_do_not(self):
        """Access control, roles and Host are checked as at --listen."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        tokens = os.path.join(folder, "tokens")
        digest = hashlib.sha256(b"torqued_" + b"0" * 64).hexdigest()
        with open(tokens, "w") as file:
            file.write(f"scraper observe sha256:{digest}\n")
        self.serve("--tokens", tokens)
        token = {"Authorization": "Bearer torqued_" + "0" * 64}
        self.assertEqual([self.probe(path).status for path in PROBES], [200, 200, 401])
        self.assertEqual(self.probe("/metrics", token).status, 200)

    def test_metrics_are_not_at_an_address_that_other_machines_reach(self):
        """Without TLS a token could be read on the network, so the server refuses such an address unless --insecure is given, as for
        --listen."""
        self.serve(health="0.0.0.0:0")
        self.assertEqual([self.probe(path).status for path in PROBES], [200, 200, 404])
        self.assertNoPath(self.probe("/metrics"), "--insecure", "--health-listen")
        self.assertIsNone(self.server.stop())
        self.serve("--insecure", health="0.0.0.0:0")
        self.assertServes()

    def refused(self, status, address):
        """Starts a server that must end by itself with that status. Returns its messages."""
        done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:0", "--health-listen", address], capture_output=True,
                              cwd=self.enterContext(tempfile.TemporaryDirectory()), timeout=PATIENCE, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_the_address_has_no_options(self):
        for wrong in ("127.0.0.1:0+plain", "127.0.0.1:0+proxy", "nowhere", "127.0.0.1:0,"):
            self.assertIn(f'--health-listen is "{wrong}"', self.refused(2, wrong))

    def test_a_taken_port_names_the_setting(self):
        self.serve()
        self.assertRegex(self.refused(1, f"127.0.0.1:{self.port}"), "port [0-9]+ is taken.*--health-listen HOST:PORT")


class Apart(Health):
    """Blocks one kind of thread after another; probes must still be answered."""

    def test_held_threads(self):
        """Blocks event loops, which parse and evaluate light requests, workers, which evaluate heavy ones, the writer of changes and the thread
        of the log."""
        self.serve("--loops", "2")
        for name in ("torqued-loop", "torqued-worker", "torqued-log"):
            with contextlib.ExitStack() as held:
                for thread in named(self.server, name):
                    held.enter_context(Held(thread))
                for _ in range(30):
                    self.assertEqual(self.probe("/livez", timeout=PATIENCE).status, 200, name)
                self.assertIn("torqued_ready", self.probe("/metrics").text)
        self.assertServes()

    def test_readiness_names_loops_that_do_not_turn(self):
        """A thread counts as stuck after 10 s, or after a third of systemd's watchdog interval if that is set, as here."""
        self.serve("--loops", "1", environment={"WATCHDOG_USEC": "900000"})
        self.assertEqual(self.probe("/readyz").status, 200)
        with Held(named(self.server, "torqued-loop")[0]):
            give_up = time.monotonic() + PATIENCE
            while (answer := self.probe("/readyz")).status == 200:
                self.assertLess(time.monotonic(), give_up, "a held loop is ready for ever")
                time.sleep(0.05)
            self.assertEqual((answer.status, answer.json()["code"]), (503, "not-ready"))
            self.assertIn("1 of the loops made no progress", answer.json()["detail"])
            self.assertEqual(self.probe("/livez").status, 200)
        while self.probe("/readyz").status != 200:
            self.assertLess(time.monotonic(), give_up + PATIENCE)
            time.sleep(0.05)

    def test_no_place_for_connections_is_left(self):
        """All connections have a request in flight whose worker is stopped, so that the server cannot close any of them in favour of a new
        one."""
        self.serve("--connections", "2", "--client-connections", "2", "--loops", "1", "--inline-limit", "0")
        self.server.client().put("/v1/models/slider", slider())
        with Held(named(self.server, "torqued-worker")[0]):
            raws = [self.server.socket() for _ in range(2)]
            for raw in raws:
                self.addCleanup(raw.close)
                raw.send(post())
            time.sleep(0.3)
            self.assertServes()
            refused = self.server.socket(timeout=0.3)
            self.addCleanup(refused.close)
            refused.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with self.assertRaises(TimeoutError):
                refused.answer()
        for raw in raws:
            raw.sock.settimeout(PATIENCE)
            self.assertEqual(raw.answer().status, 200)

    def test_silent_connections_give_way(self):
        """Two hundred connections that send nothing, or half a request, delay no probe, and do not count in --connections."""
        self.serve("--connections", "20")
        herd = [RawSocket(self.port, PATIENCE) for _ in range(200)]
        for raw in herd:
            self.addCleanup(raw.close)
            with contextlib.suppress(OSError):
                raw.send("GET /livez HTTP/1.1\r\nHost: loc")
        time.sleep(0.2)
        self.assertServes()
        self.assertEqual(self.server.client().get("/livez").status, 200)
        count = re.search(r"^torqued_connections ([0-9]+)$", self.probe("/metrics").text, re.M)
        self.assertLessEqual(int(count[1]), 20)


class Draining(Health):
    def test_probes_are_answered_until_the_last_request_has_ended(self):
        """After SIGTERM the server closes --listen first; /readyz at --health-listen then answers that it drains."""
        self.serve("--loops", "1", "--inline-limit", "0", "--drain", "30")
        self.server.client().put("/v1/models/slider", slider())
        with Held(named(self.server, "torqued-worker")[0]):
            raw = self.server.socket()
            self.addCleanup(raw.close)
            raw.send(post())
            time.sleep(0.3)
            self.server.terminate()
            self.server.await_log('"draining"')
            for _ in range(5):
                answer = self.probe("/readyz")
                self.assertEqual((answer.status, answer.json()["code"]), (503, "draining"))
                self.assertEqual(self.probe("/livez").status, 200)
                time.sleep(0.1)
        self.assertEqual(raw.answer().json(), {"tau": [2]})
        self.assertEqual(self.server.wait(), 0)


if __name__ == "__main__":
    tap.main()
