"""Tests the operator's view: GET /metrics under load, Server-Timing, traceparent, and the figures in the log."""
import re
import subprocess
import unittest

import tap
from deploy import need
from harness import ServerCase

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
LINE = re.compile(r"(\w+)(\{[^}]*\})? (\S+)")


def series(page):
    """Returns {name with labels: value} of a page of metrics."""
    return {f"{m[1]}{m[2] or ''}": float(m[3]) for m in map(LINE.fullmatch, page.splitlines()) if m}


class Metrics(ServerCase):
    arguments = ("--inline-limit", "300")

    def page(self):
        answer = self.client.get("/metrics")
        self.assertEqual((answer.status, answer.headers["Content-Type"]),
                         (200, "text/plain; version=0.0.4; charset=utf-8"))
        return answer.body.decode()

    def rise(self, work):
        """Returns by how much `work` increases each series."""
        before = series(self.page())
        work()
        after = series(self.page())
        return {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}

    def bias(self, n, status=200):
        return self.client.post("/v1/models/puma560/bias", {"q": [[0.1] * 6] * n if status == 200 else [0]})

    def test_prometheus_takes_the_page(self):
        need("promtool")
        self.bias(3)
        done = subprocess.run(["promtool", "check", "metrics"], input=self.page(), text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_requests_are_counted(self):
        rise = self.rise(lambda: [self.bias(1), self.bias(1), self.bias(1, 422), self.client.get("/nowhere")])
        self.assertEqual(rise['torqued_requests_total{operation="bias",status="200"}'], 2)
        self.assertEqual(rise['torqued_requests_total{operation="bias",status="422"}'], 1)
        self.assertEqual(rise['torqued_requests_total{operation="none",status="404"}'], 1)
        self.assertEqual(rise['torqued_problems_total{problem="no-such-path"}'], 1)
        self.assertEqual(rise['torqued_states_total{operation="bias"}'], 2)
        self.assertEqual(rise['torqued_request_duration_seconds_count{operation="bias"}'], 3)
        self.assertEqual(rise['torqued_runs_total{thread="loop"}'], 3)
        for step in ("decode", "evaluate", "encode"):
            self.assertEqual(rise[f'torqued_{step}_duration_seconds_count{{operation="bias"}}'], 2 + (step == "decode"))
            self.assertGreater(rise[f'torqued_{step}_duration_seconds_sum{{operation="bias"}}'], 0)

    def test_heavy_requests_and_changes(self):
        arm = self.client.get("/v1/models/puma560/document").json()
        rise = self.rise(lambda: [self.bias(20000), self.client.put("/v1/models/mine", arm)])
        self.assertEqual(rise['torqued_runs_total{thread="worker"}'], 1)
        self.assertEqual(rise['torqued_runs_total{thread="writer"}'], 1)
        self.assertEqual(rise['torqued_queue_duration_seconds_count{operation="bias"}'], 1)
        self.assertEqual(rise['torqued_states_total{operation="bias"}'], 20000)
        self.assertEqual(rise["torqued_estimate_ratio_count"], 1)
        self.assertEqual(rise["torqued_models"], 1)
        self.assertGreater(rise["torqued_model_bytes"], 1000)
        self.assertGreater(rise["torqued_received_bytes_total"], 20000 * 6)
        self.assertGreater(rise["torqued_sent_bytes_total"], 20000 * 6)
        self.assertNotIn("torqued_admitted_work_seconds", rise)  # it has returned to 0
        self.client.delete("/v1/models/mine")

    def test_labels_are_bounded(self):
        """Names that clients invent never become labels."""
        self.bias(1)
        before = set(series(self.page()))
        for i in range(30):
            self.client.get(f"/v1/models/made-up-{i}")
            self.client.post(f"/v1/models/made-up-{i}/made-up", {})
            self.client.request(f"MADE{i}", f"/made-up-{i}")
        new = set(series(self.page())) - before
        self.assertFalse([name for name in new if re.search("made-up|MADE", name)])
        self.assertLess(len(new), 200)

    def test_server_timing(self):
        light, heavy = self.bias(1), self.bias(20000)
        steps = [re.sub(r";dur=\d+\.\d{3}", "", answer.headers["Server-Timing"]) for answer in (light, heavy)]
        self.assertEqual(steps, ["decode, evaluate, encode", "queue, decode, evaluate, encode"])
        self.assertIsNone(self.client.get("/v1").headers["Server-Timing"])
        # the times of all windows add up to less than the whole
        line = self.last_line(heavy)
        self.assertLess(line["decode"] + line["evaluate"] + line["encode"], line["ms"])
        self.assertEqual((line["model"], line["states"]), ("puma560", 20000))
        self.assertEqual(line["revision"], heavy.headers["Model-Revision"])

    def last_line(self, answer):
        name = answer.headers["Request-Id"]
        self.server.await_log(name)
        return next(line for line in self.server.events() if line.get("id") == name)

    def test_traceparent(self):
        answer = self.client.post("/v1/models/puma560/bias", {"q": [0] * 6}, traceparent=f"00-{TRACE}-{SPAN}-01")
        span = re.fullmatch(f"00-{TRACE}-([0-9a-f]{{16}})-01", answer.headers["traceparent"])[1]
        line = self.last_line(answer)
        self.assertEqual((line["trace"], line["span"], line["parent"]), (TRACE, span, SPAN))
        self.assertIsNone(self.bias(1).headers["traceparent"])
        self.assertNotIn("trace", self.last_line(self.bias(1)))


if __name__ == "__main__":
    tap.main()
