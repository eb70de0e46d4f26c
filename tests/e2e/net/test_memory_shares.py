"""Tests that clients share the memory of requests (--memory): a client with unfinished bodies, slow bodies or unread answers must not prevent
another client from being served. The server distinguishes clients by their addresses, 127.0.0.x."""
import contextlib
import json
import os
import re
import socket
import time
import unittest

import tap
from harness import PATIENCE, SANITIZED, Server
from peers import Client, RawSocket
from samples import branched

MIB = 1 << 20
SMALL = MIB // 2  # bytes; a server whose requests use less counts as idle
ASK = "/v1/models/puma560/inverse-dynamics"
POLITE = json.dumps({"q": [0, 0.4, -0.3, 0.2, 0.1, 0.6]})
GREEDY, OTHER, THIRD = "127.0.0.2", "127.0.0.3", "127.0.0.4"
MEMORY = 64 * MIB
ALONE = MEMORY * 15 // 16 * 4 // 5  # the most that one client may use: three quarters of --memory
# s after which the server has ended a transfer that is too slow: two intervals of 5 s, and the time of the checks
UNHURRIED = 12


class Shares(unittest.TestCase):
    arguments = ("--memory", str(MEMORY), "--max-body", "48M", "--max-answer", "48M")

    def setUp(self):
        self.server = Server(*self.arguments)
        self.addCleanup(self.server.kill)

    def unfinished(self, source, count, size, length=None):
        """Sends requests with bodies of `length` bytes, of which only the first `size` are sent. Returns their sockets."""
        raws = []
        head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length or 2 * size}\r\n\r\n"
        for _ in range(count):
            raw = RawSocket(self.server.port, PATIENCE, source=source)
            self.addCleanup(raw.close)
            with contextlib.suppress(OSError):  # the server may close the connection while the body is sent
                raw.send(head.encode() + b" " * size)
            raws.append(raw)
        return raws

    def refused(self, raws, wait=1):
        """Returns the problems with which the server has answered these requests so far."""
        problems = []
        for raw in raws:
            raw.sock.settimeout(wait)
            try:
                problems.append(raw.answer())
            except (TimeoutError, ConnectionError):
                wait = 0.05
        return problems

    def client(self, source):
        client = Client(self.server.port, PATIENCE, source=source)
        self.addCleanup(client.close)
        return client

    def metric(self, name):
        page = self.client("127.0.0.9").get("/metrics").text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", page, re.M)[1])

    def await_metric(self, name, value, seconds=PATIENCE):
        give_up = time.monotonic() + seconds
        while self.metric(name) != value:
            self.assertLess(time.monotonic(), give_up, f"{name} is {self.metric(name)}, not {value}")
            time.sleep(0.1)

    def assertServed(self, source, body=POLITE, times=100):
        client = self.client(source)
        answers = [client.request("POST", ASK, body, {"Content-Type": "application/json"}) for _ in range(times)]
        self.assertEqual([a for a in answers if a.status != 200], [])

    def assertLively(self):
        for path in ("/livez", "/readyz"):
            self.assertEqual(self.client(OTHER).get(path).status, 200, path)


class Unfinished(Shares):
    def assertBounded(self, count):
        raws = self.unfinished(GREEDY, count, 4 * MIB)
        self.assertLessEqual(self.metric("torqued_memory_bytes"), ALONE)
        self.assertServed(OTHER)
        self.assertServed(OTHER, POLITE + " " * 3_000_000, 10)
        self.assertServed(GREEDY)  # light requests of the same client are served too
        self.assertLively()
        problems = self.refused(raws)
        self.assertTrue(problems, "all bodies were taken")
        self.assertEqual({(p.status, p.json()["code"]) for p in problems}, {(503, "client-memory-full")})
        self.assertTrue(all(int(p.headers["Retry-After"]) >= 1 for p in problems))

    def test_22_bodies_leave_memory_for_others(self):
        self.assertBounded(22)

    def test_50_bodies_leave_memory_for_others(self):
        self.assertBounded(50)

    def test_a_client_alone_has_three_quarters(self):
        """One client may use more than half of the memory, here for a body of 46 MiB."""
        self.unfinished(GREEDY, 1, 46 * MIB, 47 * MIB)
        self.assertGreater(self.metric("torqued_memory_bytes"), 45 * MIB)
        self.assertLively()

    def test_a_body_beyond_the_share_is_refused_for_good(self):
        """A request that would not fit even without other requests is refused for good: a retry would not help."""
        answer = self.client(GREEDY).request("POST", ASK, " " * (48 * MIB + 1), {"Content-Type": "application/json"})
        self.assertEqual((answer.status, answer.json()["code"]), (413, "body-too-large"))

    def test_all_memory_is_given_back(self):
        raws = self.unfinished(GREEDY, 22, 4 * MIB)
        for raw in raws:
            raw.close()
        self.await_metric("torqued_memory_bytes", 0)
        self.unfinished(GREEDY, 1, 46 * MIB, 47 * MIB)
        self.assertGreater(self.metric("torqued_memory_bytes"), 45 * MIB)

    def test_the_greedy_client_gives_way_to_one_with_less_than_its_part(self):
        """The second client needs 24 MiB of 64 while the first holds 48. The second is refused, the server ends the largest bodies of the first,
        and the second client's next attempt succeeds."""
        raws = self.unfinished(GREEDY, 12, 4 * MIB, 40 * MIB)
        body, client = POLITE + " " * (12 * MIB), self.client(OTHER)
        statuses = []
        give_up = time.monotonic() + PATIENCE
        while not statuses or statuses[-1] != 200:
            self.assertLess(time.monotonic(), give_up, statuses)
            statuses.append(client.request("POST", ASK, body, {"Content-Type": "application/json"}).status)
            time.sleep(0.1)
        self.assertEqual(set(statuses[:-1]), {503}, "the first attempt found room: the test shows nothing")
        self.assertTrue(any("Another client needs memory" in p.json()["detail"] for p in self.refused(raws)))

    def test_a_client_with_its_part_takes_nothing_from_others(self):
        """Two clients use a third of the memory each. The server ends none of their bodies for a third client that needs more than a third."""
        first = self.unfinished(GREEDY, 2, 5 * MIB)
        second = self.unfinished(THIRD, 2, 5 * MIB)
        client = self.client(OTHER)
        for _ in range(3):
            answer = client.request("POST", ASK, POLITE + " " * (30 * MIB), {"Content-Type": "application/json"})
            self.assertEqual(answer.status, 503)
        self.assertEqual(self.refused(first + second, 0.3), [])


class Exhausted(Shares):
    arguments = (*Shares.arguments, "--transfer-rate", "0")

    def test_readiness_tells_exhaustion_that_lasts(self):
        """Thirty-four clients, none of which uses more than its share, leave less than 1 MiB of the 60 MiB for all: /readyz says so after 5 s,
        and light requests are still served. When the bodies have gone the server is ready again."""
        raws, total = [], 0
        for count, size in ((22, 2560 << 10), (8, 512 << 10), (4, 128 << 10)):
            for _ in range(count):
                raws += self.unfinished(f"127.0.0.{20 + len(raws)}", 1, size - 1, size)
            total += count * size
            self.await_metric("torqued_memory_bytes", total)
        client, give_up = self.client(OTHER), time.monotonic() + PATIENCE
        while (answer := client.get("/readyz")).status == 200:
            self.assertLess(time.monotonic(), give_up, f"{self.metric('torqued_memory_bytes')} of {MEMORY} bytes are in use")
            time.sleep(0.1)
        self.assertEqual((answer.status, answer.json()["code"]), (503, "not-ready"))
        self.assertIn("--memory", answer.json()["detail"])
        self.assertEqual((self.metric("torqued_memory_exhausted"), self.metric("torqued_ready")), (1, 0))
        self.assertServed(OTHER)
        self.assertEqual(client.get("/livez").status, 200)
        self.server.await_log('"event":"memory-exhausted"')
        for raw in raws:
            raw.close()
        self.await_metric("torqued_memory_exhausted", 0)
        self.assertLively()


class Slow(Shares):
    arguments = (*Shares.arguments, "--transfer-rate", "20K", "--read-deadline", "60")

    def test_a_body_that_stalls_is_refused_with_the_reason(self):
        raw, = self.unfinished(GREEDY, 1, MIB)
        raw.sock.settimeout(UNHURRIED + PATIENCE)
        answer = raw.answer()
        self.assertEqual((answer.status, answer.json()["code"]), (408, "request-timeout"))
        self.assertRegex(answer.json()["detail"], "^[0-9]+ bytes of the request's body arrived within 5 s; .* 20480 bytes per second")
        self.await_metric("torqued_memory_bytes", 0)

    def test_a_small_body_and_one_that_keeps_the_rate_go_on(self):
        """A small body has the whole read deadline; a large one may take longer than an interval."""
        small, = self.unfinished(GREEDY, 1, 20_000, 20_000 + len(POLITE))
        large, = self.unfinished(GREEDY, 1, 200_000, 200_000 + 13 * 40_000 + len(POLITE))
        for _ in range(13):  # 40 kB in 0.5 s
            large.send(b" " * 40_000)
            time.sleep(0.5)
        for raw in (small, large):
            raw.send(POLITE)
            self.assertEqual(raw.answer().status, 200)


@unittest.skipIf(SANITIZED, "no malloc of glibc here")
class Returned(Shares):
    """After many large bodies the process returns memory to the operating system."""
    arguments = ("--memory", "1G", "--transfer-rate", "0")
    remains = None

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def await_resident(self, most):
        give_up = time.monotonic() + PATIENCE
        while self.resident() > most:
            self.assertLess(time.monotonic(), give_up, f"{self.resident()} bytes stay")
            time.sleep(0.1)

    def burst(self, count, before=None):
        """Sends parts of bodies of 8 MiB and closes their connections. Returns the memory of the process before, in bytes."""
        before = before or self.resident()
        raws = self.unfinished(GREEDY, count, 8 * MIB, 9 * MIB)
        if not self.remains:
            # a small body allocated after the large ones, at the end of the heap, which stays in flight
            self.remains = self.unfinished(OTHER, 1, SMALL // 2, SMALL)
        self.assertGreater(self.resident(), before + count * 7 * MIB)
        for raw in raws:
            raw.close()
        return before

    def test_whenever_the_server_is_idle(self):
        """The second and third burst may begin and end between two checks, which are a second apart."""
        before = self.resident()
        for _ in range(3):
            self.burst(15, before)  # less than an eighth of --memory, which the process may keep
            give_up = time.monotonic() + PATIENCE
            while self.metric("torqued_memory_bytes") > SMALL:
                self.assertLess(time.monotonic(), give_up, f"{self.metric('torqued_memory_bytes')} bytes are in use")
                time.sleep(0.05)
            self.await_resident(before + 64 * MIB)

    def test_while_requests_go_on(self):
        """Bodies of 480 MiB in total return their pages when they end, except for an eighth of --memory, although another body is still
        arriving."""
        self.unfinished(OTHER, 1, 40 * MIB, 41 * MIB)
        before = self.burst(60)
        self.await_resident(before + 160 * MIB)
        self.assertGreater(self.metric("torqued_memory_bytes"), 40 * MIB)


class Unread(Shares):
    arguments = (*Shares.arguments, "--transfer-rate", "20K")

    def ask(self, size=4096):
        """Asks for an answer of about 9 MB and reads the beginning. Returns the socket and the length of the body."""
        raw = RawSocket.__new__(RawSocket)
        raw.buffer, raw.sock = b"", socket.socket()
        raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        raw.sock.settimeout(PATIENCE)
        raw.sock.bind((GREEDY, 0))
        raw.sock.connect(("127.0.0.1", self.server.port))
        self.addCleanup(raw.sock.close)
        body = json.dumps({"q": [[0.1, 0.2, 0.3, 0.4]] * 30_000, "outputs": ["tau", "joint_wrenches"]})
        raw.send(f"POST /v1/models/arm/inverse-dynamics HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        start = raw.sock.recv(2000)
        self.assertIn(b" 200 ", start[:20])
        return raw.sock, int(re.search(rb"Content-Length: ([0-9]+)", start)[1])

    def test_unread_answers_are_dropped_and_others_served(self):
        """An answer that the client does not read uses memory for two intervals at most, not until --write-deadline."""
        self.client(OTHER).put("/v1/models/arm", branched())
        held = [self.ask() for _ in range(2)]
        self.assertGreater(held[0][1], 5_000_000)
        self.assertGreaterEqual(self.metric("torqued_memory_bytes"), 2 * held[0][1])
        self.assertServed(OTHER)
        self.assertServed(OTHER, POLITE + " " * 1_000_000, 10)
        self.assertLively()
        self.await_metric("torqued_memory_bytes", 0, UNHURRIED + PATIENCE)
        self.assertEqual(self.metric("torqued_slow_readers_total"), 2)
        self.server.await_log('"ended":"slow-reader"')

    def test_a_reader_that_keeps_the_rate_gets_its_answer(self):
        """A client that reads slowly, but without stopping, is not disconnected although it needs more than one interval."""
        self.client(OTHER).put("/v1/models/arm", branched())
        sock, length = self.ask(65536)
        received = 0
        start = time.monotonic()
        while received < length - 2000 and (part := sock.recv(300_000)):
            received += len(part)
            time.sleep(max(0, start + 7 * received / length - time.monotonic()))
        self.assertGreaterEqual(received, length - 2000)
        self.assertEqual(self.metric("torqued_slow_readers_total"), 0)


if __name__ == "__main__":
    tap.main()
