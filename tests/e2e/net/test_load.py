"""Tests a mix of all kinds of requests for a few seconds, mainly under the sanitizers. Prints rates and checks answers.
"""
import collections
import json
import os
import random
import threading
import time

import tap
from harness import ServerCase
from samples import branched, everything, pendulum, states

SECONDS = float(os.environ.get("SOAK_SECONDS", "5"))
CLIENTS = 24
MOST_REFUSED = 0.01  # share of the requests of one kind that may be refused; the queue has room for the 24 clients with one request each


class Load(ServerCase):
    arguments = ("--workers", "2")
    KINDS = {"single": 60, "batch": 6, "replace": 5, "refused": 10, "resources": 5, "hang_up": 3, "malformed": 5}

    def test_a_mix(self):
        for base in ("fixed", "floating"):
            self.put_model(base, branched(base))
        rows = states(700)
        self.one = everything({name: values[0] for name, values in rows.items()})
        self.many = everything(rows)
        self.expected = [self.client.post("/v1/models/fixed/evaluate", r).body for r in (self.one, self.many)]
        self.times, self.full, self.wrong, self.lock = {}, collections.Counter(), [], threading.Lock()
        self.end = time.monotonic() + SECONDS
        threads = [threading.Thread(target=self.client_loop, args=(i,)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for kind, times in sorted(self.times.items()):
            times.sort()
            print(f"# {kind}: {len(times)} in {SECONDS:g} s, median {1e3 * times[len(times) // 2]:.2f} ms, "
                  f"p99 {1e3 * times[int(len(times) * 0.99)]:.2f} ms, {self.full[kind]} refused for a full queue")
        self.assertEqual(self.wrong, [])
        self.assertEqual(set(self.times), set(self.KINDS))
        for kind, refused in self.full.items():
            self.assertLessEqual(refused, MOST_REFUSED * len(self.times[kind]), kind)

    def client_loop(self, index):
        client, rng = self.server.client(60), random.Random(index)
        schedule = [*self.KINDS] if index == 0 else []  # the first client sends every kind at least once
        while time.monotonic() < self.end or schedule:
            kind = schedule.pop() if schedule else rng.choices([*self.KINDS], [*self.KINDS.values()])[0]
            start = time.monotonic()
            try:
                wrong = getattr(self, kind)(client, index)
            except Exception as error:
                wrong = repr(error)
            with self.lock:
                self.times.setdefault(kind, []).append(time.monotonic() - start)
                if wrong:
                    self.wrong.append((kind, wrong))
        client.close()

    # Each of these methods returns a description of a wrong answer, or None. A full queue (503) is correct, but must be
    # rare.

    def evaluate(self, kind, client, request, expected):
        answer = client.post("/v1/models/fixed/evaluate", request)
        if answer.status == 503:
            with self.lock:
                self.full[kind] += 1
            return None
        return None if answer.body == expected else answer

    def single(self, client, _):
        return self.evaluate("single", client, self.one, self.expected[0])

    def batch(self, client, _):
        return self.evaluate("batch", client, self.many, self.expected[1])

    def replace(self, client, index):
        put = client.put(f"/v1/models/turning{index % 3}", pendulum(1 + index % 2))
        asked = client.post(f"/v1/models/turning{index % 3}/bias", {"q": [1]})
        gone = client.delete(f"/v1/models/turning{index % 3}")
        fine = put.status in (200, 201) and asked.status in (200, 404) and gone.status in (204, 404)
        return None if fine else (put, asked, gone)

    def refused(self, client, _):
        answer = client.post("/v1/models/floating/inverse-dynamics", {"q": [0] * 11})
        return None if answer.status == 422 else answer

    def resources(self, client, _):
        answers = [client.get(path) for path in ("/v1", "/v1/models", "/v1/models/fixed", "/livez", "/readyz")]
        return None if all(answer.status == 200 for answer in answers) else answers

    def hang_up(self, _, __):
        body = json.dumps(self.many).encode()
        raw = self.server.socket()
        raw.send(b"POST /v1/models/fixed/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        raw.close()

    def malformed(self, client, index):
        text = json.dumps(self.one)
        answer = client.post("/v1/models/fixed/evaluate", text[:(37 * index) % len(text)])
        return None if answer.status == 400 else answer


if __name__ == "__main__":
    tap.main()
