"""Tests the operator's view: GET /metrics under load, figures of clients, exemplars, Server-Timing, traceparent, slow requests,
and the figures in the log."""
import hashlib
import os
import re
import subprocess
import tempfile
import time
import unittest

import tap
from deploy import need
from harness import PATIENCE, ROOT, Server, ServerCase
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

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
        self.assertNotIn("torqued_admitted_work_seconds", rise)  # the gauge has returned to 0
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


OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"  # the Accept header that Prometheus sends


def families(answer):
    """Returns {name: family} of a page of metrics, read by the Python client of Prometheus."""
    text = answer.body.decode()
    of_type = openmetrics_parser if answer.headers["Content-Type"].startswith("application/openmetrics-text") else parser
    return {family.name: family for family in of_type.text_string_to_metric_families(text)}


class Rows(unittest.TestCase):
    def test_every_metric_is_counted(self):
        """Each metric in the table API_METRICS must be counted by a source file; otherwise the page would always give it the value 0."""
        with open(os.path.join(ROOT, "api", "metrics.h"), encoding="utf-8") as header:
            rows = re.findall(r'X\((\w+), "(torqued_\w+)"', header.read())
        self.assertGreater(len(rows), 40)
        counted = set()
        for folder in ("api", "server"):
            for where, _, names in os.walk(os.path.join(ROOT, folder)):
                for name in (name for name in names if name.endswith((".c", ".h"))):
                    with open(os.path.join(where, name), encoding="utf-8") as source:
                        counted.update(re.findall(r"API_METRIC_(\w+)", source.read()))
        for constant, name in rows:
            self.assertIn(constant, counted, f"{name} is never counted: call api_metric_add or api_metric_observe where it happens")


class OpenMetrics(ServerCase):
    arguments = ("--slow-request", "0.01", "--inline-limit", "300")

    def test_both_formats_have_the_same_series(self):
        self.client.post("/v1/models/puma560/bias", {"q": [0.1] * 6})
        answers = self.client.get("/metrics"), self.client.get("/metrics", accept=OPENMETRICS)
        self.assertEqual([answer.headers["Content-Type"].split(";")[0] for answer in answers],
                         ["text/plain", "application/openmetrics-text"])
        self.assertTrue(answers[1].body.endswith(b"# EOF\n"))
        self.assertIn("Accept", answers[1].headers["Vary"])
        plain, open_ones = (families(answer) for answer in answers)
        self.assertEqual(set(plain), set(open_ones))
        names = [{(sample.name, tuple(sorted(sample.labels.items()))) for family in found.values() for sample in family.samples}
                 for found in (plain, open_ones)]
        self.assertFalse(names[0] - names[1])
        self.assertGreater(len(names[0]), 100)

    def exemplars(self):
        family = families(self.client.get("/metrics", accept=OPENMETRICS))["torqued_request_duration_seconds"]
        return {sample.labels["operation"]: sample for sample in family.samples if sample.exemplar}, family

    def test_exemplars(self):
        """A request with a traceparent, and a slow request without, must be the exemplars of their histogram buckets."""
        self.client.post("/v1/models/puma560/energy", {"q": [0.1] * 6}, traceparent=f"00-{TRACE}-{SPAN}-01")
        slow = self.client.post("/v1/models/puma560/mass-matrix", {"q": [[0.1] * 6] * 60000}, request_id='a"b\\c')
        found, family = self.exemplars()
        self.assertEqual(found["energy"].exemplar.labels, {"trace_id": TRACE})
        self.assertEqual(found["mass-matrix"].exemplar.labels, {"request_id": 'a"b\\c'})
        self.assertGreaterEqual(found["mass-matrix"].exemplar.value, 0.01)
        self.assertLess(abs(float(found["energy"].exemplar.timestamp) - time.time()), PATIENCE)
        for sample in family.samples:
            if sample.exemplar:
                self.assertLessEqual(sample.exemplar.value, float(sample.labels["le"]))
        self.assertEqual(slow.headers["Request-Id"], 'a"b\\c')

    def test_requests_without_a_trace_that_are_not_slow_have_none(self):
        self.client.post("/v1/models/puma560/jacobian", {"q": [0.1] * 6})
        self.assertNotIn("jacobian", self.exemplars()[0])

    def test_a_slow_request_has_a_warning(self):
        answer = self.client.post("/v1/models/puma560/bias", {"q": [[0.1] * 6] * 60000}, traceparent=f"00-{TRACE}-{SPAN}-01")
        name = answer.headers["Request-Id"]
        self.client.get("/v1", request_id="after")
        self.server.await_log('"id":"after"')
        usual, line = [line for line in self.server.events() if line.get("id") == name]
        self.assertEqual((line["level"], line["event"], usual["event"]), ("warning", "slow-request", "request"))
        self.assertEqual((line["operation"], line["model"], line["states"], line["status"], line["trace"], line["from"]),
                         ("bias", "puma560", 60000, 200, TRACE, usual["from"]))
        phases = ("read", "queue", "decode", "evaluate", "encode", "send")
        self.assertLessEqual(set(phases), set(line))
        # the difference is the time of passing the request from the loop to the worker and back
        self.assertAlmostEqual(sum(line[phase] for phase in phases), line["ms"], delta=0.1 * line["ms"] + 5)
        self.assertGreater(line["estimate"], 0)
        self.assertGreater(line["processor"], 0)

    def test_an_estimate_after_decoding_is_corrected_once(self):
        """The loop raises the estimate of a request when it reads the fields of the body, and the worker reads them again. The correction
        must apply once."""
        points = [[0.1 * k * (j + 1) for j in range(6)] for k in range(4)]
        for k in range(4):
            self.client.post("/v1/models/ur5/path-timing", {
                "degree": 3, "control_points": points, "samples": 2001, "kinds": ["velocity", "effort", "jerk"],
                "joint_limits": {"jerk": 100}}, request_id=f"timing-{k}")
        self.server.await_log('"id":"timing-3"')
        ratios = [line["estimate"] / line["processor"] for line in self.server.events()
                  if line["event"] == "slow-request" and line["operation"] == "path-timing"]
        self.assertGreater(len(ratios), 0)
        self.assertLess(max(ratios), 100, ratios)

    def test_other_requests_have_none(self):
        self.client.get("/v1", request_id="quick")
        self.server.await_log('"id":"quick"')
        self.assertEqual([line["event"] for line in self.server.events() if line.get("id") == "quick"], ["request"])


class Clients(unittest.TestCase):
    def series(self, client, **headers):
        found = families(client.get("/metrics", **headers))
        return {(measure, *sample.labels.items()): sample.value for measure in ("work_seconds", "requests", "refused_requests")
                for sample in found[f"torqued_client_{measure}"].samples}

    def test_by_name_and_by_address(self):
        """Metrics name clients as the log does. A request with a refused credential counts for the client's address."""
        with tempfile.NamedTemporaryFile("w", suffix=".tokens") as tokens:
            for name, role in (("planner", "evaluate"), ("scraper", "observe")):
                tokens.write(f"{name} {role} sha256:{hashlib.sha256(self.token(name).encode()).hexdigest()}\n")
            tokens.flush()
            server = Server("--tokens", tokens.name)
            self.addCleanup(server.kill)
            client = server.client()
            planner, address = ("client", "planner"), ("from", "127.0.0.1")
            scraper = {"authorization": f"Bearer {self.token('scraper')}"}
            # requests for /readyz that were refused while the server loaded
            loading = self.series(client, **scraper).get(("refused_requests", address), 0)
            for _ in range(3):
                client.post("/v1/models/puma560/bias", {"q": [[0.1] * 6] * 5000}, authorization=f"Bearer {self.token('planner')}")
            for _ in range(4):
                client.get("/v1", authorization="Bearer wrong")
            client.get("/v1", **scraper)
            found = self.series(client, **scraper)
            self.assertEqual((found["requests", planner], found["requests", ("client", "scraper")]), (3, 2))
            self.assertGreater(found["work_seconds", planner], 0)
            self.assertEqual(found["refused_requests", address] - loading, 4)
            self.assertNotIn(("refused_requests", planner), found)
            self.assertNotIn(("work_seconds", address), found)
            self.assertIsNone(server.stop())

    @staticmethod
    def token(name):
        return f"torqued_{hashlib.sha256(name.encode()).hexdigest()}"

    def test_twenty_of_many_addresses(self):
        """A proxy forwards requests of 600 client addresses, two of which send more than the others."""
        server = Server("--trusted-proxy", "127.0.0.1")
        self.addCleanup(server.kill)
        client = server.client()
        for i in range(600):
            client.get("/nowhere", x_forwarded_for=f"10.0.{i // 250}.{i % 250}")
            if i % 10 == 0:
                client.get("/nowhere", x_forwarded_for="192.0.2.7")
                client.get("/nowhere", x_forwarded_for="2001:db8::7")
        found = {key: value for key, value in self.series(client).items() if key[0] == "refused_requests"}
        self.assertEqual(len(found), 20)
        self.assertEqual(found["refused_requests", ("from", "192.0.2.7")], 60)
        self.assertEqual(found["refused_requests", ("from", "2001:db8::/64")], 60)
        found.pop(("refused_requests", ("from", "127.0.0.1")), None)  # requests for /readyz that the harness sent while the server loaded
        self.assertEqual(sorted(found.values())[-3:], [1, 60, 60])


if __name__ == "__main__":
    tap.main()
