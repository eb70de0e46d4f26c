"""What the server does with more than it can do: full queues and memory, deadlines, clients that hang up."""
import json
import time

import tap
from harness import PATIENCE, ServerCase, in_threads
from samples import ASK, HEAVY, PUMA, chain, slider


class Overload(ServerCase):
    """One worker and a short queue."""
    arguments = ("--workers", "1", "--queue", "0.2", "--inline-limit", "20")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))
        cls.client.put("/v1/models/slider", slider())

    def test_a_full_queue_says_so_at_once(self):
        def work(index):
            client = self.server.client(120)
            start = time.monotonic()
            answer = client.post("/v1/models/long/evaluate", HEAVY)
            client.close()
            return answer, time.monotonic() - start

        results = in_threads(24, work)
        for result in results:
            self.assertIsInstance(result, tuple, result)
        served = [answer for answer, _ in results if answer.status == 200]
        refused = [answer for answer, _ in results if answer.status != 200]
        self.assertTrue(served)
        self.assertTrue(refused, "24 heavy requests at once were all taken")
        for answer in refused:
            problem = self.assertProblem(answer, 503)
            self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1, problem)
        self.assertEqual(len({answer.body for answer in served}), 1)
        self.ok(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0]}))

    def test_a_deadline_passed(self):
        answer = self.client.post("/v1/models/long/evaluate", HEAVY, Request_Timeout="0.001")
        self.assertProblem(answer, 504)
        self.ok(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0]}))


class HangingUp(ServerCase):
    """One worker and a queue that takes everything: what is abandoned would be in the way if it were done."""
    arguments = ("--workers", "1", "--queue", "600")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))
        cls.client.post("/v1/models/long/evaluate", HEAVY)

    def timed(self, body):
        start = time.monotonic()
        self.ok(self.client.post("/v1/models/long/evaluate", body))
        return time.monotonic() - start

    def send(self, body):
        raw = self.server.socket()
        raw.send(f"POST /v1/models/long/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        return raw

    def test_waiting_requests_are_dropped(self):
        """Twenty heavy requests, abandoned by closing or half-closing, and one that is not."""
        one = min(self.timed(HEAVY) for _ in range(3))
        start = time.monotonic()
        for half in (False, True) * 10:
            raw = self.send(HEAVY)
            self.addCleanup(raw.close)
            raw.half_close() if half else raw.close()
        self.timed(HEAVY)
        took = time.monotonic() - start
        print(f"# one heavy request takes {one:.3f} s; twenty abandoned ones and one: {took:.3f} s")
        self.assertLess(took, 10 * one + 0.5)

    def test_a_running_request_is_given_up(self):
        rows = json.loads(HEAVY)
        rows["q"] = rows["q"] * 12
        long = json.dumps(rows)
        full, short = self.timed(long), self.timed(HEAVY)
        raw = self.send(long)
        time.sleep(0.3 * full)
        raw.close()
        freed = self.timed(HEAVY)
        print(f"# a request of {full:.2f} s abandoned after {0.3 * full:.2f} s; "
              f"one of {short:.2f} s then took {freed:.2f} s")
        self.assertLess(freed, 0.5 * full + short)


class Memory(ServerCase):
    arguments = ("--memory", "8M", "--max-body", "4M", "--max-answer", "4M")

    def test_more_in_flight_than_the_budget(self):
        """Bodies that arrive slowly hold their memory; the next are refused, and it comes back."""
        held = []
        for _ in range(8):
            raw = self.server.socket()
            raw.send(b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
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


if __name__ == "__main__":
    tap.main()
