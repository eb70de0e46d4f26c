"""Tests that clients share the server equally: a client with many requests does not prevent others from being served. The server distinguishes
clients by their address in 127.0.0.0/8. Large bodies that arrive on many connections at the same time are each read whole, and the loop looks at
other connections between parts of them."""
import json
import random
import re
import selectors
import signal
import socket
import time
import unittest

import tap
from harness import PATIENCE, Server, ServerCase
from peers import Client, RawSocket
from samples import HEAVY, branched, chain
from server_threads import named, stats
from threads import in_threads
from work_meter import health_port

GREEDY, POLITE = "127.0.0.2", "127.0.0.3"
CONNECTIONS, PADDING = 300, 1_000_000  # large bodies at the same time, and bytes of blanks in each
TARGET = "/v1/models/branched/inverse-dynamics"
LONG = {"q": [0.1] * 100, "duration": 900, "step": 1e-4, "samples": 2}


class OneWorker(ServerCase):
    arguments = ("--workers", "1", "--queue", "1", "--inline-limit", "20")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))

    def begin(self, source, body=None):
        """Sends a long-running request without waiting for its answer."""
        body = body or json.dumps(LONG)
        raw = RawSocket(self.server.port, PATIENCE, source=source)
        self.addCleanup(raw.close)  # closing the connection ends the simulation
        raw.send(f"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        return raw

    def client_at(self, source):
        client = Client(self.server.port, PATIENCE, source=source)
        self.addCleanup(client.close)
        return client

    def await_code(self, client, code):
        """Sends heavy requests until one is refused with that code."""
        give_up = time.monotonic() + PATIENCE
        while (answer := client.post("/v1/models/long/evaluate", HEAVY)).status == 200 or answer.json()["code"] != code:
            self.assertLess(time.monotonic(), give_up, answer)
            time.sleep(0.02)
        return answer


class Fairness(OneWorker):
    def test_a_client_fills_its_own_share_only(self):
        greedy, polite = self.client_at(GREEDY), self.client_at(POLITE)
        self.begin(GREEDY)
        self.await_code(greedy, "queue-full")
        waits = self.begin(POLITE)  # the polite client's request is admitted although the greedy client's work fills the queue
        answer = self.await_code(greedy, "client-queue-full")
        self.assertProblem(answer, 503)
        self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1)
        self.assertProblem(self.await_code(polite, "client-queue-full"), 503)
        waits.close()
        self.await_code(greedy, "queue-full")  # now the greedy client is the only one, so that it may fill the whole queue

    def test_what_a_client_abandons_counts_no_longer(self):
        client = self.client_at(GREEDY)
        running = self.begin(GREEDY)
        self.await_code(client, "queue-full")
        running.close()
        give_up = time.monotonic() + PATIENCE
        while client.post("/v1/models/long/evaluate", HEAVY).status != 200:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.02)


class Truth(OneWorker):
    """Requests whose name `duration` is escaped, so that the first estimate does not find the cost; the server corrects the estimate when it
    decodes and runs them."""
    HIDDEN = json.dumps({"q": [0.1] * 100, "step": 1e-4, "samples": 2})[:-1] + ', "\\u0064uration": 900}'

    def test_hidden_simulations_do_not_keep_others_out(self):
        """Simulations with a hidden duration run one after another, and each yields between two steps to the job of
        another client."""
        for _ in range(20):
            self.begin(GREEDY, self.HIDDEN)
        polite = self.client_at(POLITE)
        for _ in range(10):
            self.ok(polite.post("/v1/models/long/evaluate", HEAVY))
        self.begin(GREEDY, self.HIDDEN)  # the earlier simulations may have reached their deadline
        greedy = self.client_at(GREEDY)
        self.assertProblem(self.await_code(greedy, "queue-full"), 503)

    def test_one_that_is_decoded_beside_others_is_refused(self):
        """Three workers, of which hidden simulations may occupy two: the other simulations are refused when decoded."""
        server = Server("--workers", "3", "--queue", "0.1", "--inline-limit", "20")
        self.addCleanup(server.kill)
        server.client().put("/v1/models/long", chain(100))
        answers = in_threads(6, lambda i: server.client().request(
            "POST", "/v1/models/long/simulate", self.HIDDEN,
            {"Content-Type": "application/json", "Request-Timeout": "3"}))
        codes = {answer.json()["code"] for answer in answers}
        self.assertTrue(codes & {"client-queue-full", "queue-full"}, codes)
        self.assertLessEqual(codes, {"client-queue-full", "queue-full", "deadline-passed"})

    def test_clients_take_turns(self):
        """Two simulations that both run until their deadline run alternately: a third client's request is answered meanwhile."""
        one, two = self.begin(GREEDY), self.begin(POLITE)
        third = self.client_at("127.0.0.4")
        self.ok(third.post("/v1/models/long/evaluate", HEAVY))
        spare = stats(self.server, "torqued-spare")
        self.assertTrue(spare)
        self.assertEqual(len({fields[16] for fields in [*spare, *stats(self.server, "torqued-worker")]}), 1, "nice values")
        for raw in (one, two):
            raw.close()
        give_up = time.monotonic() + PATIENCE
        while third.post("/v1/models/long/evaluate", HEAVY).status != 200:
            self.assertLess(time.monotonic(), give_up)


class OwnLimit(ServerCase):
    arguments = ("--workers", "1", "--queue", "3000", "--client-work", "0.5", "--inline-limit", "20")

    def test_the_limit_of_a_client_holds_while_it_is_alone(self):
        self.client.put("/v1/models/long", chain(100))
        body = json.dumps(LONG)
        raw = self.server.socket()
        self.addCleanup(raw.close)
        raw.send(f"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        give_up = time.monotonic() + PATIENCE
        while (answer := self.client.post("/v1/models/long/evaluate", HEAVY)).status == 200:
            self.assertLess(time.monotonic(), give_up)
        self.assertEqual(self.assertProblem(answer, 503)["code"], "client-queue-full")


# --- many large bodies at the same time -------------------------------------------------------------------------------


def chunked(body, draw):
    """Returns the body in chunks of uneven sizes, most of them small."""
    pieces, i = [], 0
    while i < len(body):
        size = draw.choice((1, 7, 100, 3000, 40_000))
        pieces.append(b"%x\r\n%s\r\n" % (len(body[i:i + size]), body[i:i + size]))
        i += size
    return b"".join(pieces) + b"0\r\n\r\n"


def long_request(state, draw):
    """Returns a request whose body has blanks around its state, half of the time in chunks."""
    blanks = draw.randrange(PADDING)
    body = b" " * blanks + json.dumps(state).encode() + b" " * (PADDING - blanks)
    framing, body = draw.choice(((f"Content-Length: {len(body)}", body), ("Transfer-Encoding: chunked", chunked(body, draw))))
    return f"POST {TARGET} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{framing}\r\n\r\n".encode() + body


def exchange(port, requests):
    """Sends all requests at the same time, each from an address and on a connection of its own. Returns their answers."""
    selector, answers = selectors.DefaultSelector(), [b""] * len(requests)
    for i in range(len(requests)):
        sock = socket.socket()
        sock.bind((f"127.0.{1 + i // 250}.{1 + i % 250}", 0))
        sock.connect(("127.0.0.1", port))
        sock.setblocking(False)
        selector.register(sock, selectors.EVENT_WRITE, [i, memoryview(requests[i])])
    while selector.get_map():
        ready = selector.select(PATIENCE)
        if not ready:
            raise AssertionError("no connection goes on")
        for key, events in ready:
            i, rest = key.data
            if events & selectors.EVENT_WRITE:
                key.data[1] = rest = rest[key.fileobj.send(rest[:65536]):]
                if not rest:
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
            elif piece := key.fileobj.recv(65536):
                answers[i] += piece
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()
    return answers


class ManyBodies(unittest.TestCase):
    def setUp(self):
        self.server = Server("--health-listen", "127.0.0.1:0", "--queue", "60")
        self.addCleanup(self.server.kill)
        self.server.client().put("/v1/models/branched", branched())

    def turns(self):
        """Returns the number of turns of the loop above 0.25 ms of processor time, and of those above 2 ms."""
        metrics = Client(health_port(self.server), PATIENCE).get("/metrics").body.decode()
        counts = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line.startswith("torqued_loop_turn_seconds"))
        whole = float(counts["torqued_loop_turn_seconds_count"])
        return whole, whole - float(counts['torqued_loop_turn_seconds_bucket{le="0.002"}'])

    def test_each_is_read_whole_in_short_turns(self):
        draw = random.Random(5)
        states = [{"q": [draw.uniform(-2, 2) for _ in range(4)]} for _ in range(CONNECTIONS)]
        expected = [self.server.client().post(TARGET, state) for state in states]
        before = self.turns()
        answers = exchange(self.server.port, [long_request(state, draw) for state in states])
        turns, long = (now - then for now, then in zip(self.turns(), before))
        print(f"# {turns:.0f} turns of more than 0.25 ms, {long:.0f} of more than 2 ms")
        for i in range(CONNECTIONS):
            head, body = answers[i].split(b"\r\n\r\n", 1)
            self.assertIn(b" 200 ", head.split(b"\r\n")[0], (i, head, body[:500]))
            self.assertEqual(body, expected[i].body, i)
        self.assertLessEqual(long, 0.25 * turns)
        self.assertIsNone(self.server.stop())

    def unread(self):
        """Returns the bytes that the kernel has received for connections of the server, which it has not read yet."""
        port, total = f":{self.server.port:04X}", 0
        with open("/proc/net/tcp", encoding="ascii") as table:
            for line in table.readlines()[1:]:
                _, local, _, _, queues = line.split()[:5]
                total += int(queues.split(":")[1], 16) if local.endswith(port) else 0
        return total

    def waits(self):
        """Returns the number of waits of the threads of loops; None if one of them does not wait."""
        if {fields[0] for fields in stats(self.server, "torqued-loop")} != {"S"}:
            return None
        paths = (f"/proc/{self.server.process.pid}/task/{task}/status" for task in named(self.server, "torqued-loop"))
        return [re.search(r"^voluntary_ctxt_switches:\s(.*)", open(path, encoding="ascii").read(), re.M)[1] for path in paths]

    def arrive_together(self, count, draw):
        """Sends parts of so many bodies, which the server finds all at the same time. Returns their connections."""
        raws = []
        for _ in range(count):
            raws.append(self.server.socket())
            self.addCleanup(raws[-1].close)
            raws[-1].send(f"POST {TARGET} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {PADDING}\r\n\r\n" + " " * 70_000)
        while self.unread():
            time.sleep(0.01)
        self.server.process.send_signal(signal.SIGSTOP)
        for raw in raws:
            raw.sock.setblocking(False)
            raw.sock.send(b" " * draw.randrange(100_000, 400_000))
        self.server.process.send_signal(signal.SIGCONT)
        return raws

    def test_no_body_rests_for_long(self):
        """All that has arrived is read, though no event comes any more: the loop does not wait for one."""
        draw = random.Random(7)
        for _ in range(8):
            raws, asleep, before = self.arrive_together(60, draw), 0, None
            while left := self.unread():
                now = self.waits()
                asleep, before = asleep + 1 if now and now == before else 0, now
                self.assertLess(asleep, 5, f"the loop waits for events beside {left} bytes")
                time.sleep(0.02)
            for raw in raws:
                raw.close()


if __name__ == "__main__":
    tap.main()
