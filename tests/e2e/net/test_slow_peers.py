"""Tests clients that are slow, idle, silent, or too many."""
import json
import os
import re
import socket
import time
import unittest

import tap
from harness import PATIENCE, SANITIZED, Server
from samples import branched, slider
from wire import ASK, BODY, WireCase, post


class SlowPeers(WireCase):
    arguments = ("--read-deadline", "1", "--write-deadline", "2", "--idle-timeout", "3", "--connections", "50",
                 "--client-connections", "100")
    SLACK = 10 if SANITIZED else 4

    def drip(self, data, pause=0.1):
        """Sends data byte by byte. Returns the server's answer if it stopped the transfer, and the time in s."""
        start = time.monotonic()
        for i in range(len(data)):
            try:
                self.raw.send(data[i:i + 1])
                self.raw.sock.settimeout(pause)
                received = self.raw.sock.recv(65536)
                return received, time.monotonic() - start
            except TimeoutError:
                continue
            except ConnectionError:
                return b"", time.monotonic() - start
        return None, time.monotonic() - start

    def test_slow_headers(self):
        """The read deadline is for the whole request; activity does not extend it."""
        received, took = self.drip(post(BODY, "X-Slow: " + "a" * 400))
        self.assertIsNotNone(received, "a request that takes 40 s was waited for")
        self.assertLess(took, 1 + self.SLACK)
        if received:
            self.assertIn(b" 408 ", received.split(b"\r\n")[0])

    def test_slow_body(self):
        self.raw.send(post(b"", length=400))
        received, took = self.drip(b" " * 400)
        self.assertIsNotNone(received, "a body that takes 40 s was waited for")
        self.assertLess(took, 1 + self.SLACK)
        self.assertIn(b" 408 ", received.split(b"\r\n")[0])

    def refused_without_body(self, status, code, sooner, *headers, path=ASK, length=400):
        """Sends a head without its body. Checks that the server answers, closes the connection, and reads what arrives
        later."""
        start = time.monotonic()
        self.raw.send(post(b"", *headers, path=path, length=length))
        answer = self.raw.answer()
        self.assertLess(time.monotonic() - start, sooner + self.SLACK)
        self.assertEqual(self.assertProblem(answer, status)["code"], code)
        self.assertEqual(answer.headers["Connection"], "close")
        self.raw.send(b" " * 100)
        self.assertTrue(self.raw.closed(2 + self.SLACK))

    def test_withheld_body(self):
        self.refused_without_body(408, "request-timeout", 1)

    def test_withheld_chunk(self):
        self.refused_without_body(408, "request-timeout", 1, "Transfer-Encoding: chunked", length=False)

    def test_request_timeout_counts_while_the_body_is_withheld(self):
        """Request-Timeout counts from the end of the headers, so it passes before the read deadline."""
        self.refused_without_body(504, "deadline-passed", 0.2, "Request-Timeout: 0.2")

    def test_withheld_body_of_what_is_refused_already(self):
        self.refused_without_body(404, "no-such-model", 0.2, "Request-Timeout: 0.2",
                                  path="/v1/models/none/inverse-dynamics")

    def test_a_herd_that_withholds_bodies(self):
        """Connections whose clients withhold the body are closed and no longer count in --connections, even if the clients never close."""
        herd = [self.server.socket() for _ in range(50)]
        for sock in herd:
            sock.send(post(b"", length=400))
        start = time.monotonic()
        self.alive()
        self.assertLess(time.monotonic() - start, 1 + 5 + self.SLACK)
        for sock in herd:
            sock.close()

    def test_withheld_body_that_nobody_wants(self):
        """Requests whose body the server does not use must get their answer without waiting for the body: here a GET answered with 304, a GET
        and a HEAD."""
        for method, header, status in (("GET", "If-None-Match: *", 304), ("GET", "Accept: */*", 504),
                                       ("HEAD", "Accept: */*", 504)):
            raw = self.server.socket()
            raw.send(f"{method} /v1/models/slider HTTP/1.1\r\nHost: localhost\r\n{header}\r\nRequest-Timeout: 0.2\r\n"
                     "Content-Length: 9\r\n\r\n")
            answer = raw.answer(head=method == "HEAD")
            self.assertEqual((answer.status, answer.headers["Connection"]), (status, "close"))
            if status == 504 and method == "GET":
                self.assertProblem(answer, 504)
            self.assertEqual(raw.rest(), b"")
            raw.close()

    def test_a_body_that_goes_on_after_the_refusal(self):
        self.raw.send(post(b"", "Request-Timeout: 0.2", length=400_000))
        received, took = self.drip(b" " * 400_000)
        self.assertIn(b" 504 ", (received or b"").split(b"\r\n")[0])
        for _ in range(30):
            self.raw.send(b" " * 10_000)
        self.assertTrue(self.raw.closed(2 + self.SLACK))

    def test_idle_connections_are_closed(self):
        self.alive(self.raw)
        self.assertTrue(self.raw.closed(3 + self.SLACK))

    def test_silent_connections_are_closed(self):
        self.assertTrue(self.raw.closed(3 + self.SLACK))

    def test_slow_readers_are_dropped(self):
        """A client that never reads its answer of some megabytes is disconnected, which releases the memory."""
        self.raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.client.put("/v1/models/arm", branched())
        request = json.dumps({"q": [[0.1, 0.2, 0.3, 0.4]] * 60_000, "outputs": ["tau", "joint_wrenches"]}).encode()
        self.raw.send(post(request, path="/v1/models/arm/inverse-dynamics"))
        start = self.raw.sock.recv(4096)
        self.assertIn(b" 200 ", start[:20])
        length = int(re.search(rb"Content-Length: ([0-9]+)", start).group(1))
        self.assertGreater(length, 16_000_000)
        time.sleep(2 + self.SLACK)
        received = 0
        try:
            while part := self.raw.sock.recv(1 << 20):
                received += len(part)
        except ConnectionError:
            pass
        self.assertLess(received, length / 2, "the whole answer was kept for a reader that had stopped")

    def test_who_comes_after_a_long_rest_has_time(self):
        """Idle time before a connection does not count against it."""
        time.sleep(1 + self.SLACK)
        raw = self.server.socket()
        self.addCleanup(raw.close)
        time.sleep(0.3)
        self.alive(raw)

    def test_a_slow_herd_does_not_lock_others_out_for_long(self):
        """More connections than --connections send byte by byte. After the read deadline they have been closed, and new ones are accepted."""
        herd = []
        for _ in range(60):
            try:
                sock = self.server.socket()
                sock.send(b"POST / HTTP/1.1\r\n")
                herd.append(sock)
            except OSError:
                break
        time.sleep(1 + self.SLACK / 2)
        self.alive()
        for sock in herd:
            sock.close()

    def test_more_clients_than_connections_take_turns(self):
        """Of sixty connections --connections allows fifty: the last ten are served when the first are closed."""
        raws = [self.server.socket() for _ in range(60)]
        for raw in raws:
            raw.send(post())
        for raw in raws:
            self.assertEqual(raw.answer().status, 200)
            raw.close()


class HeldMemory(WireCase):
    """While a client reads an answer slowly, only the answer uses memory; that of the request has been released. Three quarters of --memory, the
    most that one client may use, are 160 MiB."""
    arguments = ("--memory", "223696214", "--max-body", "160M", "--max-answer", "160M", "--write-deadline", "300")

    def test_a_body_is_given_back_before_its_answer_is_read(self):
        self.raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.client.put("/v1/models/arm", branched())
        request = json.dumps({"q": [[0.1, 0.2, 0.3, 0.4]] * 60_000, "outputs": ["tau", "joint_wrenches"]}).encode()
        self.raw.send(post(request + b" " * (48 << 20), path="/v1/models/arm/inverse-dynamics"))
        start = self.raw.sock.recv(4096)
        self.assertIn(b" 200 ", start[:20])
        length = int(re.search(rb"Content-Length: ([0-9]+)", start).group(1))
        room = ((160 << 20) - length) * 6 // 10      # the remainder is the time to read the answer
        second = self.server.socket()
        self.addCleanup(second.close)
        second.send(post(BODY + b" " * room))
        answer = second.answer()
        self.assertEqual(answer.status, 200, answer)


class Places(unittest.TestCase):
    """The server accepts exactly --connections connections and reuses a free place at once."""

    def serve(self, *arguments):
        server = Server(*arguments)
        self.addCleanup(server.kill)
        server.client().put("/v1/models/slider", slider())
        return server

    def answered(self, raw, seconds):
        raw.sock.settimeout(seconds)
        try:
            return raw.answer().status == 200
        except TimeoutError:
            return False

    def test_limit(self):
        """Beyond the limit, the server closes the connection that has been silent longest for each new one."""
        server = self.serve("--connections", "3", "--loops", "1")
        raws = [server.socket() for _ in range(3)]
        for raw in raws:
            raw.send(post())
            self.assertTrue(self.answered(raw, PATIENCE))
        fourth = server.socket()
        fourth.send(post())
        self.assertTrue(self.answered(fourth, PATIENCE))
        raws[0].sock.settimeout(PATIENCE)
        self.assertEqual(raws[0].sock.recv(1), b"")
        for raw in (fourth, raws[2]):
            raw.send(post())
            self.assertTrue(self.answered(raw, PATIENCE))
        for raw in (fourth, *raws):
            raw.close()
        self.assertIsNone(server.stop())

    def test_a_place_that_another_loop_frees(self):
        server = self.serve("--connections", "1", "--loops", "2")
        for _ in range(10):
            first = server.socket()
            first.send(post())
            self.assertTrue(self.answered(first, PATIENCE))
            second = server.socket()
            second.send(post())
            time.sleep(0.05)
            first.close()
            start = time.monotonic()
            self.assertTrue(self.answered(second, PATIENCE))
            self.assertLess(time.monotonic() - start, SlowPeers.SLACK)
            second.close()
        self.assertIsNone(server.stop())


class Lingering(WireCase):
    arguments = ("--max-body", "2000")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def test_an_end(self):
        """A silent client whose request was refused early loses its connection, which frees the descriptor."""
        self.raw.close()
        self.alive()
        time.sleep(0.2)
        before = self.descriptors()
        raws = [self.server.socket() for _ in range(5)]
        for raw in raws:
            raw.send(post(b"", length=2001))
            self.assertEqual(raw.answer().status, 413)
        self.assertGreaterEqual(self.descriptors(), before + 5)
        time.sleep(5)
        give_up = time.monotonic() + SlowPeers.SLACK
        while self.descriptors() > before and time.monotonic() < give_up:
            time.sleep(0.1)
        self.assertLessEqual(self.descriptors(), before)
        for raw in raws:
            raw.close()


if __name__ == "__main__":
    tap.main()
