"""Tests that clients share the server equally: a client with many requests does not keep others out. The server tells
clients apart by their address in 127.0.0.0/8."""
import json
import time

import tap
from harness import PATIENCE, Server, ServerCase
from peers import Client, RawSocket
from samples import HEAVY, chain
from server_threads import stats
from threads import in_threads

GREEDY, POLITE = "127.0.0.2", "127.0.0.3"
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
        waits = self.begin(POLITE)  # admitted although the queue is full of the other client's work
        answer = self.await_code(greedy, "client-queue-full")
        self.assertProblem(answer, 503)
        self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1)
        self.assertProblem(self.await_code(polite, "client-queue-full"), 503)
        waits.close()
        self.await_code(greedy, "queue-full")  # the only client again, hence limited by the whole queue

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
    """Requests whose cost is hidden from the first estimate: the server corrects the cost when it decodes and runs
    them."""
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
        """Two simulations that both run until their deadline take turns: a third client's request is answered
        meanwhile."""
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


if __name__ == "__main__":
    tap.main()
