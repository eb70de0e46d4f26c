"""Tests the monitoring files of deploy/: probes of the blackbox exporter, Prometheus's alerts on them, and the
dashboard."""
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import tap
import yaml
from deploy import DEPLOY, need, read, run
from harness import PATIENCE, ROOT, Server


def expressions():
    """Returns the PromQL expressions of the alerts and of the dashboard's panels."""
    rules = [rule["expr"] for group in yaml.safe_load(read("alerts.yml"))["groups"] for rule in group["rules"]]
    panels = [target["expr"] for panel in json.loads(read("dashboard.json"))["panels"] for target in panel["targets"]]
    return rules, panels


class Watching(unittest.TestCase):
    def setUp(self):
        need("promtool")

    def test_prometheus_takes_it(self):
        for what, name in (("config", "prometheus.yml"), ("rules", "alerts.yml")):
            done = run("promtool", "check", what, os.path.join(DEPLOY, name))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_dashboard(self):
        board = json.loads(read("dashboard.json"))
        panels = board["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        places = [panel["gridPos"] for panel in panels]
        cells = [(p["x"] + x, p["y"] + y) for p in places for x in range(p["w"]) for y in range(p["h"])]
        self.assertEqual(len(set(cells)), len(cells), "panels overlap")
        self.assertLess(max(x for x, _ in cells), 24)
        variables = {variable["name"] for variable in board["templating"]["list"]}
        self.assertEqual(set(re.findall(r"\$\{?([a-z]\w*)", read("dashboard.json"))), variables)
        rules = [{"record": "panel", "expr": expression.replace("$__range", "1d").replace("$__rate_interval", "5m")} for expression in expressions()[1]]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}, file)
            file.flush()
            done = run("promtool", "check", "rules", "--lint=none", file.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_alerts(self):
        """Prometheus raises the right alerts for given values of probes and metrics."""
        ready, computes, own = (f'{{job="torqued{job}",instance="x"}}' for job in ("_ready", "_computes", ""))
        mine = lambda name, **labels: name + "{" + ",".join(
            f'{k}="{v}"' for k, v in {"job": "torqued", "instance": "x", **labels}.items()) + "}"
        served = [mine("torqued_requests_total", operation="bias", status=status) for status in ("200", "500", "503", "504")]
        waits = {le: mine("torqued_queue_duration_seconds_bucket", operation="bias", le=le) for le in ("1", "10", "+Inf")}
        ratio = {le: mine("torqued_estimate_ratio_bucket", le=le) for le in ("0.2", "+Inf")}
        all_ratios, lost = mine("torqued_estimate_ratio_count"), mine("torqued_lost_log_lines_total")
        stuck, store = mine("torqued_stuck_threads", thread="loop"), mine("torqued_store_errors_total", access="write")
        started = mine("process_start_time_seconds")
        fine = {"up" + ready: 1, "probe_success" + ready: 1, "probe_failed_due_to_regex" + ready: 0,
                "probe_success" + computes: 1, "probe_failed_due_to_regex" + computes: 0,
                "probe_duration_seconds" + computes: 0.002, "probe_ssl_earliest_cert_expiry" + ready: 30 * 86400,
                "up" + own: 1, served[0]: "0+6000", served[1]: 0, served[2]: "0+60", served[3]: "0+6", waits["1"]: "0+95",
                waits["10"]: "0+100", waits["+Inf"]: "0+100", ratio["0.2"]: "0+5", ratio["+Inf"]: "0+100",
                all_ratios: "0+100", stuck: 0, started: 1000, store: 3, lost: 7,
                mine("torqued_memory_bytes"): 100, mine("torqued_memory_limit_bytes"): 1000, mine("torqued_memory_exhausted"): 0,
                mine("torqued_connections"): 100, mine("torqued_connections_limit"): 1000,
                mine("torqued_models"): 100, mine("torqued_models_limit"): 1000}
        cases = [("", {}), ("TorquedUnwatched", {"up" + ready: 0}), ("TorquedWithoutMetrics", {"up" + own: 0}),
                 ("TorquedNotReady", {"probe_success" + ready: 0}),
                 ("TorquedStoreUnreadable", {"probe_success" + ready: 0, "probe_failed_due_to_regex" + ready: 1}),
                 ("TorquedWrong", {"probe_success" + computes: 0, "probe_failed_due_to_regex" + computes: 1}),
                 ("TorquedRefuses", {"probe_success" + computes: 0}),
                 ("TorquedSlow", {"probe_duration_seconds" + computes: 0.4}),
                 ("TorquedCertificate", {"probe_ssl_earliest_cert_expiry" + ready: 10 * 86400}),
                 ("TorquedInternalErrors", {served[1]: "0+1"}), ("TorquedOverloaded", {served[2]: "0+600"}),
                 ("TorquedDeadlinesPass", {served[3]: "0+100"}), ("TorquedQueueSlow", {waits["1"]: "0+80"}),
                 ("TorquedUnderestimates", {ratio["0.2"]: "0+20"}), ("TorquedStuck", {stuck: 1}),
                 ("TorquedRestarts", {started: "1000+60"}), ("TorquedStoreFails", {store: "3+1"}),
                 ("TorquedMemoryFull", {mine("torqued_memory_bytes"): 950}),
                 ("TorquedMemoryExhausted", {mine("torqued_memory_exhausted"): 1}),
                 ("TorquedConnectionsFull", {mine("torqued_connections"): 950}),
                 ("TorquedModelsFull", {mine("torqued_models"): 950}), ("TorquedLogLost", {lost: "7+1"})]
        names = [rule["alert"] for group in yaml.safe_load(read("alerts.yml"))["groups"] for rule in group["rules"]]
        self.assertEqual(sorted(names), sorted(name for name, _ in cases[1:]))
        tests = []
        for name, changed in cases:
            self.assertLessEqual(set(changed), set(fine))
            series = [{"series": s, "values": f"{value}x40"} for s, value in {**fine, **changed}.items()]
            expected = [{"labels": f'{{alertname="{name}"}}', "value": 1}] if name else []
            tests.append({"interval": "1m", "input_series": series, "promql_expr_test": [
                {"expr": 'group by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "35m",
                 "exp_samples": expected}]})
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"rule_files": [os.path.join(DEPLOY, "alerts.yml")], "tests": tests}, file)
            file.flush()
            done = run("promtool", "test", "rules", file.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_metrics_of_the_server(self):
        """Alerts and panels use only metrics and labels that the server has."""
        server = Server()
        self.addCleanup(server.kill)
        page = server.client().get("/metrics").body.decode()
        given = set()
        for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE):
            given |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
        for expression in sum(expressions(), []):
            self.assertLessEqual(set(re.findall(r"\b(?:torqued|process)_\w+", re.sub('"[^"]*"', "", expression))), given)

    def test_prometheus_reads_the_metrics(self):
        need("prometheus")
        server = Server("--health-listen", "127.0.0.1:0")
        self.addCleanup(server.kill)
        server.await_log('"for":"health"')
        health = next(event["address"] for event in server.events() if event.get("for") == "health")
        config = yaml.safe_load(read("prometheus.yml"))
        config["rule_files"], config["global"]["scrape_interval"] = [], "1s"
        config["scrape_configs"] = [c for c in config["scrape_configs"] if c["job_name"] == "torqued"]
        config["scrape_configs"][0]["static_configs"][0]["targets"] = [health]
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with open(os.path.join(folder, "prometheus.yml"), "w") as file:
            yaml.safe_dump(config, file)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open(os.path.join(folder, "log"), "w") as log:
            prometheus = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml",
                                           f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
                                          stdout=log, stderr=log)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.terminate)
        query = urllib.parse.urlencode({"query": "torqued_models"})
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=PATIENCE) as answer:
                    found = json.load(answer)["data"]["result"]
                if found:
                    break
            except OSError:
                pass
            self.assertLess(time.monotonic(), give_up, "Prometheus has not read the metrics")
            time.sleep(0.2)
        bundled = sum(name.endswith(".json") for name in os.listdir(os.path.join(ROOT, "models")))
        self.assertEqual((found[0]["metric"]["instance"], found[0]["value"][1]), ("https://robots.example", str(bundled)))


class Probes(unittest.TestCase):
    """Runs the blackbox exporter with blackbox.yml against a live server."""

    def setUp(self):
        need("prometheus-blackbox-exporter")
        self.server = Server()
        self.addCleanup(self.server.kill)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        with open(os.path.join(self.server.folder, "exporter"), "w") as log:
            exporter = subprocess.Popen(["prometheus-blackbox-exporter", f"--config.file={DEPLOY}/blackbox.yml",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)
        self.addCleanup(exporter.wait)
        self.addCleanup(exporter.terminate)
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                self.assertLess(time.monotonic(), give_up, "the exporter does not listen")
                time.sleep(0.05)

    def probe(self, job):
        """Returns {metric: value} of the exporter, asked as prometheus.yml configures it."""
        config = next(c for c in yaml.safe_load(read("prometheus.yml"))["scrape_configs"] if c["job_name"] == job)
        target = config["static_configs"][0]["targets"][0].replace("https://robots.example", self.server.url())
        query = urllib.parse.urlencode({"module": config["params"]["module"][0], "target": target})
        url = f"http://127.0.0.1:{self.port}{config['metrics_path']}?{query}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return dict(re.findall(r"^(\w+)(?:\{.*\})? (\S+)$", answer.read().decode(), re.MULTILINE))

    def assertProbed(self, job, success, regex):
        found = self.probe(job)
        self.assertEqual((found["probe_success"], found["probe_failed_due_to_regex"]), (success, regex), found)

    def test_they_see_what_is_the_matter(self):
        for job in ("torqued_ready", "torqued_computes"):
            self.assertProbed(job, "1", "0")
        client = self.server.client()
        heavier = client.get("/v1/models/puma560/document").json()
        heavier["links"][1]["inertial"]["mass"] = 20
        self.assertEqual(client.put("/v1/models/puma560", heavier).status, 200)
        self.assertProbed("torqued_computes", "0", "1")
        self.assertEqual(client.delete("/v1/models/puma560").status, 204)
        self.assertProbed("torqued_computes", "0", "0")
        client.close()
        self.assertIsNone(self.server.stop())
        self.assertProbed("torqued_ready", "0", "0")

    def test_a_store_that_cannot_be_read(self):
        self.server.kill()
        with tempfile.TemporaryDirectory() as store:
            self.server = Server("--store", store)
            self.assertIsNone(self.server.stop())
            with open(os.path.join(store, "models", "broken.json"), "w") as file:
                file.write("{")
            self.server = Server("--store", store)
            self.addCleanup(self.server.kill)
            self.assertProbed("torqued_ready", "0", "1")

    def test_metrics_named_are_metrics_given(self):
        given = set(self.probe("torqued_ready")) | set(self.probe("torqued_computes"))
        # metrics of Prometheus itself, and one that exists only with TLS
        given |= {"up", "probe_ssl_earliest_cert_expiry"}
        for expression in sum(expressions(), []):
            for name in re.findall(r"\b(up|probe_\w+)\b", expression):
                self.assertIn(name, given)


if __name__ == "__main__":
    tap.main()
