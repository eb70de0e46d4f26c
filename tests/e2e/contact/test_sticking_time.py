"""Bounds the processor time in which forward dynamics decides which of many joints stick: the computation moves from the event loop to a worker,
and ends at its deadline, when its client disconnects, or when the server stops."""
import json
import random
import time
import unittest

import tap
from harness import Server, ServerCase
from samples import chain
from server_threads import seconds

LOOP_LIMIT = 0.005  # s of the loop's thread for a request of 512 joints: reading and answering


def sticky(n):
    """A chain whose joints have friction, of which about half stick under random torques."""
    document = chain(n)
    for link in document["links"]:
        link["joint"]["friction"] = {"coulomb": 1.0}
    return document


def request(n, seed=1, **more):
    draw = random.Random(seed)
    return {"q": [draw.uniform(-1, 1) for _ in range(n)], "qd": [0] * n, "tau": [draw.uniform(-2, 2) for _ in range(n)],
            "friction_at_rest": "stick", **more}


class Time(ServerCase):
    arguments = ("--workers", "1", "--loops", "1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n in (300, 512):
            assert cls.client.put(f"/v1/models/sticky{n}", sticky(n)).status == 201

    def measure(self, ask):
        before = [seconds(self.server, name) for name in ("torqued-loop", "torqued-worker")]
        answer = ask()
        return answer, *(seconds(self.server, name) - b for name, b in zip(("torqued-loop", "torqued-worker"), before))

    def test_300_joints_are_decided_on_a_worker(self):
        hidden = json.dumps(request(300)).replace("friction_at_rest", "friction_\\u0061t_rest")
        for body in (request(300), hidden):
            answer, loop, worker = self.measure(lambda: self.client.request(
                "POST", "/v1/models/sticky300/forward-dynamics", body, {"Content-Type": "application/json"}))
            self.assertEqual(answer.status, 200, answer)
            self.assertLess(loop, LOOP_LIMIT)
            self.assertGreater(worker, 0.01)
            self.assertLess(worker, 2, "some factorizations, not one for every joint")

    def test_the_decision_holds(self):
        """Joints that stick do not accelerate and are within their limits; those that move do so against their friction."""
        answer = self.ask("sticky300", "forward-dynamics", request(300, outputs=["qdd", "friction"]))
        stuck = [v for v, qdd in enumerate(answer["qdd"]) if qdd == 0]
        self.assertGreater(len(stuck), 30)
        for qdd, friction in zip(answer["qdd"], answer["friction"]):
            if qdd == 0:
                self.assertLessEqual(abs(friction), 1 + 1e-9)
            else:
                self.assertEqual(friction, 1 if qdd > 0 else -1)

    def test_a_deadline_ends_the_decision(self):
        for timeout in (0.2, 0.3):
            answer, loop, worker = self.measure(lambda: self.client.post(
                "/v1/models/sticky512/forward-dynamics", {**request(512), "q": [request(512, seed)["q"] for seed in range(8)]},
                Request_Timeout=str(timeout)))
            self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")
            self.assertLess(worker, 1.2 * timeout + 0.05)
            self.assertLess(loop, 4 * LOOP_LIMIT, "the body has 8 x 512 numbers")

    def test_a_client_that_leaves_ends_the_decision(self):
        body = json.dumps(request(512)).encode()
        s = self.server.socket()
        before = seconds(self.server, "torqued-worker")
        s.sock.sendall(b"POST /v1/models/sticky512/forward-dynamics HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        give_up = time.monotonic() + 20
        while seconds(self.server, "torqued-worker") - before < 0.08 and time.monotonic() < give_up:
            time.sleep(0.001)
        s.close()
        self.ok(self.client.get("/v1"))
        gone = seconds(self.server, "torqued-worker")
        time.sleep(0.5)
        self.assertLess(seconds(self.server, "torqued-worker") - gone, 0.05)

    def test_sigterm_ends_the_decision_within_the_drain(self):
        server = Server("--workers", "1", "--loops", "1", "--drain", "0.1")
        self.addCleanup(server.kill)
        server.client().put("/v1/models/sticky512", sticky(512))
        body = json.dumps({**request(512), "q": [request(512)["q"]] * 40}).encode()
        s = server.socket()
        s.sock.sendall(b"POST /v1/models/sticky512/forward-dynamics HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        before = seconds(server, "torqued-worker")
        while seconds(server, "torqued-worker") - before < 0.05:
            time.sleep(0.005)
        self.assertIsNone(server.stop())
        s.close()


if __name__ == "__main__":
    tap.main()
