"""Tests the limits of each client: requests per second and connections. A client with many silent connections must not affect others. The server
distinguishes clients by their address in 127.0.0.0/8."""
import json
import re
import time

import tap
from harness import PATIENCE, ServerCase
from peers import Client, RawSocket
from samples import ASK, PUMA, chain

GREEDY, POLITE, THIRD = "127.0.0.2", "127.0.0.3", "127.0.0.4"
HEAD = "GET /v1 HTTP/1.1\r\nHost: localhost\r\n"


class ClientCase(ServerCase):
    def client_at(self, source):
        client = Client(self.server.port, PATIENCE, source=source)
        self.addCleanup(client.close)
        return client

    def socket_at(self, source):
        raw = RawSocket(self.server.port, PATIENCE, source=source)
        self.addCleanup(raw.close)
        return raw

    def metric(self, name):
        text = self.client_at("127.0.0.9").get("/metrics").text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M).group(1))

    def closed(self, raw):
        """Waits until the server has closed the connection."""
        try:
            return raw.sock.recv(1) == b""
        except ConnectionError:
            return True


class Rate(ClientCase):
    arguments = ("--client-rate", "1")

    def test_requests_per_second(self):
        """If a client sends many requests at once, some are refused. Requests of another client and health probes never are."""
        greedy = self.client_at(GREEDY)
        answers = [greedy.post(ASK, PUMA) for _ in range(100)]
        refused = [answer for answer in answers if answer.status != 200]
        self.assertEqual(answers[0].status, 200)
        self.assertTrue(refused, "100 requests of one client were within 1 a second")
        for answer in refused:
            self.assertEqual(self.assertProblem(answer, 429)["code"], "too-many-requests")
            self.assertIn(int(answer.headers["Retry-After"]), (1, 2))
        self.assertEqual(self.client_at(POLITE).get("/v1").status, 200)
        for _ in range(20):
            self.assertEqual(greedy.get("/livez").status, 200)
            self.assertEqual(greedy.get("/readyz").status, 200)
        give_up = time.monotonic() + PATIENCE
        while greedy.get("/v1").status != 200:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.1)

    def test_refusals_are_counted(self):
        client = self.client_at("127.0.0.5")
        while client.get("/v1").status == 200:
            pass
        self.assertGreaterEqual(self.metric('torqued_problems_total{problem="too-many-requests"}'), 1)


class Connections(ClientCase):
    arguments = ("--client-connections", "5", "--connections", "12", "--loops", "1", "--workers", "1", "--queue", "86400")

    def begin(self, source):
        body = json.dumps({"q": [0.1] * 30, "duration": 900, "step": 1e-4, "samples": 2})
        raw = self.socket_at(source)
        raw.send(f"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        return raw

    def test_connections_at_work(self):
        """A connection beyond the limit is answered 429 and closed, but health probes are answered."""
        self.put_model("long", chain(30))
        busy = [self.begin(GREEDY) for _ in range(5)]
        give_up = time.monotonic() + PATIENCE
        while self.metric("torqued_queued_requests") < 4:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.02)
        surplus = self.socket_at(GREEDY)
        surplus.send(HEAD + "\r\n")
        answer = surplus.answer()
        self.assertEqual(self.assertProblem(answer, 429)["code"], "too-many-connections")
        self.assertIn(int(answer.headers["Retry-After"]), (1, 2))
        self.assertTrue(self.closed(surplus))
        self.assertEqual(self.client_at(GREEDY).get("/livez").status, 200)
        self.assertEqual(self.client_at(POLITE).get("/v1").status, 200)
        for raw in busy:
            raw.close()
        give_up = time.monotonic() + PATIENCE
        while self.client_at(GREEDY).get("/v1").status != 200:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.02)

    def test_a_crowd_of_silent_connections(self):
        """The oldest connections of a client are closed for its new ones; connections of other clients stay."""
        other = self.socket_at(POLITE)
        other.send(HEAD + "\r\n")
        self.assertEqual(other.answer().status, 200)
        crowd = []
        for i in range(40):
            crowd.append(self.socket_at(GREEDY))
            if i % 2:
                crowd[-1].send(HEAD)  # an incomplete head
        for raw in crowd[:15]:  # the oldest fifteen; which of the later ones are closed depends on when the server reads their incomplete head
            self.assertTrue(self.closed(raw))
        last = self.socket_at(GREEDY)
        last.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(last.answer().status, 200)
        other.send(HEAD + "\r\n")
        self.assertEqual(other.answer().status, 200)

    def test_a_full_table(self):
        """When the table of connections is full, the client with the most connections loses one."""
        few = self.socket_at(THIRD)
        few.send(HEAD + "\r\n")
        self.assertEqual(few.answer().status, 200)
        before = self.metric("torqued_displaced_connections_total")
        crowds = [[self.socket_at(f"127.0.1.{client}") for _ in range(4)] for client in range(1, 5)]
        for i in range(30):
            client = self.client_at(POLITE)
            self.assertEqual(client.get("/v1").status, 200)
            client.close()
        self.assertGreater(self.metric("torqued_displaced_connections_total"), before)
        self.assertTrue(self.closed(crowds[0][0]))
        few.send(HEAD + "\r\n")
        self.assertEqual(few.answer().status, 200)


if __name__ == "__main__":
    tap.main()
