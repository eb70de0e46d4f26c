"""Tests a server with more work than it can do: full queues and memory, deadlines, clients that disconnect."""
import json
import os
import re
import select
import socket
import time

import tap
from harness import PATIENCE, ServerCase
from samples import ASK, HEAVY, PUMA, QN, chain, slider
from server_threads import processor_time
from threads import in_threads


def longer(times):
    """Returns a request with `times` as many rows as HEAVY."""
    rows = json.loads(HEAVY)
    return json.dumps({**rows, "q": rows["q"] * times})


class Overload(ServerCase):
    """Tests a server with one worker and a short queue."""
    arguments = ("--workers", "1", "--queue", "0.2", "--inline-limit", "20")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))
        cls.client.put("/v1/models/slider", slider())

    def test_a_full_queue_says_so_at_once(self):
        """Requests that arrive at the same time and take long: those beyond the queue are refused at once."""
        heavy = {"q": [0.1] * 100, "duration": 0.5, "step": 1e-4, "samples": 2}

        def work(index):
            client = self.server.client(120)
            answer = client.post("/v1/models/long/simulate", heavy)
            client.close()
            return answer

        answers = in_threads(24, work)
        for answer in answers:
            self.assertFalse(isinstance(answer, Exception), answer)
        served = [answer for answer in answers if answer.status == 200]
        refused = [answer for answer in answers if answer.status != 200]
        self.assertTrue(served)
        self.assertTrue(refused, "24 heavy requests at once were all taken")
        for answer in refused:
            problem = self.assertProblem(answer, 503)
            self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1, problem)
        self.assertEqual(len({answer.body for answer in served}), 1)
        self.ok(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0]}))

    def test_when_to_come_again(self):
        """Retry-After is between the time of the waiting work and twice that, so that clients refused together return
        one by one."""
        body = json.dumps({"q": [0.1] * 100, "duration": 10, "step": 1e-4, "samples": 2})
        busy = self.server.socket()
        self.addCleanup(busy.close)  # closing the connection ends the simulation
        busy.send(f"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        give_up = time.monotonic() + PATIENCE
        while (answer := self.client.post("/v1/models/long/evaluate", HEAVY)).status == 200:
            self.assertLess(time.monotonic(), give_up)
        refused = [answer] + [self.client.post("/v1/models/long/evaluate", HEAVY) for _ in range(7)]
        times = set()
        for answer in refused:
            problem = self.assertProblem(answer, 503)
            waits = float(re.search(r"about ([0-9.]+) s", problem["detail"]).group(1))
            times.add(int(answer.headers["Retry-After"]))
            self.assertTrue(waits - 0.1 <= int(answer.headers["Retry-After"]) <= 2 * waits + 1.1, answer.headers)
        self.assertGreater(waits, 2)
        self.assertGreater(len(times), 2, times)

    def test_a_deadline_passed(self):
        answer = self.client.post("/v1/models/long/evaluate", HEAVY, Request_Timeout="0.001")
        self.assertProblem(answer, 504)
        self.ok(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0]}))

    def test_a_deadline_passes_within_a_chunk(self):
        """A batch of few states that each take long still meets its deadline: in operations that solve state by state,
        and in one with many numbers for each state."""
        self.client.put("/v1/models/longer", chain(250))
        rows = {"q": [[0.1] * 250] * 96}
        for operation, more in (("task-space", {"frame": "l249", "axes": ["x"]}),
                                ("impact", {"qd": [0] * 250, "held": [{"frame": "l249"}]}),
                                ("regressor", {"q": [[0.1] * 250] * 16})):
            with self.subTest(operation=operation):
                answer = self.client.post(f"/v1/models/longer/{operation}", {**rows, **more}, Request_Timeout="0.01")
                self.assertProblem(answer, 504)


class OneWorker(ServerCase):
    """Tests a server with one worker and a queue that admits everything: abandoned and late requests must not take the
    worker's time."""
    arguments = ("--workers", "1", "--queue", "600")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))
        cls.client.post("/v1/models/long/evaluate", HEAVY)

    def spent(self):
        """Returns the worker's processor time so far, in seconds."""
        return sum(processor_time(self.server, "torqued-worker")) / os.sysconf("SC_CLK_TCK")

    def cost(self, body):
        """Returns the processor time that the worker takes for a request, in seconds."""
        before = self.spent()
        self.ok(self.client.post("/v1/models/long/evaluate", body))
        return self.spent() - before

    def send(self, body, operation="evaluate"):
        raw = self.server.socket()
        raw.send(f"POST /v1/models/long/{operation} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        return raw

    def evaluated(self):
        """Returns the log's lines about evaluations."""
        return [event for event in self.server.events()
                if event["event"] == "request" and event.get("target") == "/v1/models/long/evaluate"]

    def next_evaluated(self, count):
        """Waits for the log line of the evaluation after the first `count`, and returns it."""
        give_up = time.monotonic() + PATIENCE
        while len(self.evaluated()) <= count:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.01)
        return self.evaluated()[count]

    def test_waiting_requests_are_dropped(self):
        """Twenty heavy requests that wait for the worker are abandoned by close or half-close: none of these is
        evaluated, but another request is."""
        long = longer(4)
        one = min(self.cost(long) for _ in range(3))
        raws = [self.send(long) for _ in range(20)]
        before = self.spent()
        while self.spent() == before:  # wait until the worker has started the first of them
            time.sleep(0.01)
        for i, raw in enumerate(raws):
            self.addCleanup(raw.close)
            raw.half_close() if i % 2 else raw.close()
        took = self.cost(long) + self.spent() - before
        print(f"# one heavy request takes {one:.3f} s of the worker; twenty abandoned ones and one more: {took:.3f} s")
        self.assertLess(took, 6 * one)

    def test_a_running_request_is_given_up(self):
        """The worker stops soon after the client has disconnected, not at the end of the request."""
        long = longer(12)
        self.client.get("/v1", Request_Id="before-the-long-ones")
        self.server.await_log("before-the-long-ones")
        count = len(self.evaluated())
        full = self.cost(long)
        whole = self.next_evaluated(count)
        before = self.spent()
        raw = self.send(long)
        while self.spent() - before < 0.3 * full:
            time.sleep(0.01)
        raw.close()
        cut_short = self.next_evaluated(count + 1)
        ended = self.spent() - before
        print(f"# a request of {full:.2f} s of the worker, abandoned after a third, ended after {ended:.2f} s")
        self.assertLess(ended, 0.75 * full)
        self.assertEqual((whole.get("ended"), cut_short.get("ended")), (None, "early"))

    def test_a_client_that_goes_with_its_last_request(self):
        """Requests arrive in one segment with the connection's end: the last, which would take its whole second, is not evaluated. The test
        varies the number of requests before it, since this determines when the server notices the end."""
        body = json.dumps({"q": [0.1] * 100, "duration": 100, "step": 1e-4, "samples": 2})
        post = (f"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nRequest-Timeout: 1\r\nContent-Length: {len(body)}\r\n\r\n"
                + body)
        before = sum(processor_time(self.server, "torqued-worker"))
        for others in range(4, 36):
            raw = self.server.socket()
            raw.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            raw.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * others + post)
            raw.half_close()
            raw.rest()
            raw.close()
        spent = (sum(processor_time(self.server, "torqued-worker")) - before) / os.sysconf("SC_CLK_TCK")
        print(f"# 32 requests of 1 s that nobody waits for took {spent:.2f} s")
        self.assertLess(spent, 0.5)

    def test_a_deadline_passes_while_waiting(self):
        """A waiting request is answered 504 at its deadline, while the worker is busy with an earlier request."""
        busy = self.send(json.dumps({"q": [0.1] * 100, "duration": 100, "step": 1e-4, "samples": 2}), "simulate")
        self.addCleanup(busy.close)
        before = self.spent()
        while self.spent() == before:
            time.sleep(0.01)
        self.assertProblem(self.client.post("/v1/models/long/evaluate", HEAVY, Request_Timeout="0.1"), 504)
        self.assertEqual(select.select([busy.sock], [], [], 0)[0], [], "the worker was busy for less than 0.1 s")


class Memory(ServerCase):
    arguments = ("--memory", "8M", "--max-body", "4M", "--max-answer", "4M")

    def test_more_in_flight_than_the_budget(self):
        """Bodies that arrive slowly hold their memory, so the next are refused; the memory is released when they end."""
        held = []
        for _ in range(8):
            raw = self.server.socket()
            raw.send(b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n")
            try:
                raw.send(b" " * 2_900_000)
            except ConnectionError:
                pass
            held.append(raw)
        statuses = []
        for raw in held:
            raw.sock.settimeout(0.5)
            try:
                answer = raw.answer()
                statuses.append(answer.status)
                self.assertTrue(answer.headers.get("Retry-After"), answer)
            except (TimeoutError, ConnectionError):
                pass
            raw.close()
        self.assertTrue(statuses, "none of eight bodies of 3 MB was refused on a budget of 8 MB")
        self.assertEqual(set(statuses), {503})
        give_up = time.monotonic() + PATIENCE
        while self.client.post(ASK, json.dumps(PUMA) + " " * 500_000).status == 503:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.05)


class Unread(ServerCase):
    """Three quarters of --memory, the most that one client may use, are 64 MiB."""
    arguments = ("--memory", "89478486", "--max-body", "32M", "--max-answer", "32M")

    def test_an_answer_that_waits_holds_no_body(self):
        """A client does not read its answer: the answer of 8 MB stays in memory, the request body of 30 MB does not."""
        rows = {"q": [QN] * 12_000, "outputs": ["joint_wrenches"]}
        body = json.dumps(rows).encode() + b" " * 29_000_000
        slow = socket.socket()
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", self.server.port))
        head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        slow.sendall(head.encode() + body)
        self.assertTrue(slow.recv(12).endswith(b"200"))
        answer = self.client.post(ASK, json.dumps(PUMA) + " " * 30_000_000)
        self.assertEqual(answer.status, 200, answer)


class Returned(ServerCase):
    arguments = ("--memory", "1M", "--max-body", "256K", "--max-answer", "256K", "--workers", "1", "--queue", "86400")

    def test_small_bodies_are_given_back(self):
        """Four megabytes of bodies, one after another, through a budget of one megabyte."""
        self.client.put("/v1/models/slider", slider())
        text = '{"q":[0],"qdd":[2]}'
        for _ in range(70):
            answer = self.client.post("/v1/models/slider/inverse-dynamics", text + " " * (60_000 - len(text)))
            self.assertEqual(self.ok(answer), {"tau": [2]})

    def test_each_that_waits_has_its_own_deadline(self):
        """While the only worker is busy, each waiting request is answered at its own deadline, later ones as well as
        the first."""
        self.put_model("long", chain(30))
        busy = {"q": [0.1] * 30, "duration": 900, "step": 1e-4, "samples": 2}

        def work(index):
            client = self.server.client(60)
            time.sleep(0 if index == 0 else 0.3)
            answer = client.request("POST", "/v1/models/long/simulate", busy, {"Request-Timeout": ("20", "0.3", "2", "4")[index]})
            answered.append(index)
            client.close()
            return answer.status

        answered = []
        self.assertEqual(in_threads(4, work), [504] * 4)
        self.assertEqual(answered, [1, 2, 3, 0])


if __name__ == "__main__":
    tap.main()
