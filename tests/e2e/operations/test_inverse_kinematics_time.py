"""Bounds the processor time of inverse kinematics: a search of many starts moves from the event loop to a worker, ends at its deadline or when
its client disconnects, and does not delay other clients. All bounds are processor time of the server's threads."""
import json
import time
import unittest

import tap
from harness import Server, ServerCase
from samples import chain
from server_threads import seconds

UNREACHABLE = {"q": [0] * 7, "frame": "panda_link7", "position": [0.75, 0.35, 0.75], "orientation": [0.5, 0.5, 0.5, 0.5]}
LOOP_LIMIT = 0.004  # s of the event loop's thread: 1.2 ms for the search, the remainder for reading and answering
LONG = 200  # joints of the long chain


def long_chain():
    """A chain of 10 m with a frame at its end."""
    document = chain(LONG)
    document["frames"] = [{"name": "end", "link": document["links"][-1]["name"], "xyz": [0.05, 0, 0]}]
    return document


def far_rows(n):
    """A request of n rows whose goals a chain cannot reach."""
    return {"q": [[0.01 * i] * LONG for i in range(n)], "frame": "end", "position": [9000, 0, 0], "starts": 1000,
            "limits": False}


class Time(ServerCase):
    arguments = ("--workers", "1", "--loops", "1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/long", long_chain()).status == 201

    def measure(self, ask):
        """Returns the answer, and the processor time that the loop and the workers took for it."""
        before = [seconds(self.server, name) for name in ("torqued-loop", "torqued-worker")]
        answer = ask()
        loop, worker = (seconds(self.server, name) - b for name, b in zip(("torqued-loop", "torqued-worker"), before))
        return answer, loop, worker

    def test_many_starts_leave_the_loop(self):
        """The server estimates the duration from the number in `starts` and gives the request to a worker before it computes anything. If an
        escape in the name `starts` hides the number from the estimate, the search moves to a worker a little later."""
        plain = json.dumps({**UNREACHABLE, "starts": 1000})
        for body, limit in ((plain, 0.001), (plain.replace("starts", "st\\u0061rts"), LOOP_LIMIT)):
            with self.subTest(limit=limit):
                answer, loop, worker = self.measure(
                    lambda: self.client.request("POST", "/v1/models/panda/inverse-kinematics", body,
                                                {"Content-Type": "application/json"}))
                self.assertEqual(self.assertProblem(answer, 422)["code"], "out-of-reach")
                self.assertGreater(worker, 0.01)
                self.assertLess(loop, limit)

    def test_a_wrong_estimate_does_not_keep_the_loop(self):
        """After many requests that end at their first start, a search of 60 starts is expected to be short. The search must move from the event
        loop to a worker all the same, and answer as if it had begun there."""
        easy = {"q": [[0.1, 0.2, 0.3, -1.5, 0.1, 1.2, 0.3]], "frame": "panda_link7", "position": [0.4, 0.1, 0.4], "starts": 60,
                "limits": False}
        hard = {**UNREACHABLE, "starts": 60}
        first = self.client.post("/v1/models/panda/inverse-kinematics", hard)
        for _ in range(300):
            self.ok(self.client.post("/v1/models/panda/inverse-kinematics", easy))
        answer, loop, _ = self.measure(lambda: self.client.post("/v1/models/panda/inverse-kinematics", hard))
        self.assertEqual(answer.body, first.body)
        self.assertLess(loop, LOOP_LIMIT)

    def test_a_deadline_ends_the_search(self):
        for timeout in (0.2, 0.5):
            with self.subTest(timeout=timeout):
                answer, loop, worker = self.measure(lambda: self.client.post(
                    "/v1/models/long/inverse-kinematics", far_rows(16), Request_Timeout=str(timeout)))
                self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")
                self.assertLess(worker, 1.2 * timeout + 0.05)
                self.assertLess(loop, LOOP_LIMIT)

    def test_a_client_that_leaves_ends_the_search(self):
        body = json.dumps(far_rows(16)).encode()
        head = (f"POST /v1/models/long/inverse-kinematics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        sockets = [self.server.socket() for _ in range(8)]
        before = seconds(self.server, "torqued-worker")
        for s in sockets:
            s.sock.sendall(head + body)
        give_up = time.monotonic() + 20
        while seconds(self.server, "torqued-worker") - before < 0.05 and time.monotonic() < give_up:
            time.sleep(0.005)
        for s in sockets:
            s.close()
        answer, loop, _ = self.measure(lambda: self.client.get("/v1"))
        self.assertEqual(answer.status, 200)
        gone = seconds(self.server, "torqued-worker")
        time.sleep(0.5)
        self.assertLess(seconds(self.server, "torqued-worker") - gone, 0.05)
        self.assertLess(loop, 2 * LOOP_LIMIT)

    def test_sigterm_ends_a_search_within_the_drain(self):
        server = Server("--workers", "1", "--loops", "1", "--drain", "0.3")
        self.addCleanup(server.kill)
        server.client().put("/v1/models/long", long_chain())
        body = json.dumps(far_rows(16)).encode()
        s = server.socket()
        s.sock.sendall(b"POST /v1/models/long/inverse-kinematics HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        while seconds(server, "torqued-worker") < 0.05:
            time.sleep(0.005)
        self.assertIsNone(server.stop())
        s.close()


class Shares(ServerCase):
    arguments = ("--workers", "1", "--loops", "1")

    def test_rows_keep_their_bits_beside_a_row_that_uses_up_its_share(self):
        """Row 5 searches from 1000 starts for a point out of reach, which takes longer than its share. The problem names this row; the other
        rows have the bits of requests of one row."""
        self.put_model("long", long_chain())
        goals = [[1 + 0.1 * i, 0.5, 1] for i in range(12)]
        request = {"q": [[0.01 * (i % 7) for i in range(LONG)]] * 12, "frame": "end", "position": goals, "starts": 1000,
                   "limits": False, "tolerance": 1e-6, "on_error": "row", "outputs": ["q", "iterations"]}
        goals[5] = [9000, 0, 0]
        answer = self.ok(self.client.post("/v1/models/long/inverse-kinematics", request, Request_Timeout="0.8"))
        self.assertEqual([(e["row"], e["code"], e["pointer"]) for e in answer["errors"]], [(5, "deadline-passed", "/position/5")])
        self.assertIn("share of the", answer["errors"][0]["detail"])
        self.assertIsNone(answer["q"][5])
        for i in (0, 4, 6, 11):
            alone = self.ask("long", "inverse-kinematics",
                             {**request, "q": request["q"][i], "position": goals[i], "on_error": "request"})
            self.assertEqual((answer["q"][i], answer["iterations"][i]), (alone["q"], alone["iterations"]))


if __name__ == "__main__":
    tap.main()
