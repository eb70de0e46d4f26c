"""Tests the monitoring files of deploy/: probes of the blackbox exporter, Prometheus's alerts on them, the runbook of the alerts,
and the dashboard."""
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

import tap
import yaml
from deploy import DEPLOY, need, read, run, settings
from harness import BINARY, PATIENCE, ROOT, Server


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
        problem = lambda code: mine("torqued_problems_total", problem=code)
        expired = mine("torqued_expired_connections_total", phase="answer")
        slow, reload = mine("torqued_slow_requests_total", operation="bias"), mine("torqued_last_failed_reload_timestamp_seconds")
        fault, ends = mine("torqued_store_fault", fault="rights"), mine("torqued_certificate_expiry_seconds")
        jumps = mine("torqued_clock_jumps_total")
        fine = {"up" + ready: 1, "probe_success" + ready: 1, "probe_failed_due_to_regex" + ready: 0,
                "probe_success" + computes: 1, "probe_failed_due_to_regex" + computes: 0,
                "probe_duration_seconds" + computes: 0.002, "probe_ssl_earliest_cert_expiry" + ready: 30 * 86400,
                "up" + own: 1, served[0]: "0+6000", served[1]: 0, served[2]: "0+60", served[3]: "0+6", waits["1"]: "0+95",
                waits["10"]: "0+100", waits["+Inf"]: "0+100", ratio["0.2"]: "0+5", ratio["+Inf"]: "0+100",
                all_ratios: "0+100", stuck: 0, started: 1000, store: 3, lost: 7,
                mine("torqued_memory_bytes"): 100, mine("torqued_memory_limit_bytes"): 1000, mine("torqued_memory_exhausted"): 0,
                mine("torqued_connections"): 100, mine("torqued_connections_limit"): 1000,
                mine("torqued_models"): 100, mine("torqued_models_limit"): 1000, expired: "0+1", slow: "0+6", reload: 0, mine("torqued_last_reload_timestamp_seconds"): 10,
                fault: 0, ends: 30 * 86400, jumps: 2,
                **{problem(code): 5 for code in ("internal-error", "memory-full", "queue-full", "unauthorized", "model-damaged")}}
        cases = [("", {}), ("TorquedUnwatched", {"up" + ready: 0}), ("TorquedWithoutMetrics", {"up" + own: 0}),
                 ("TorquedNotReady", {"probe_success" + ready: 0}),
                 ("TorquedStoreUnreadable", {"probe_success" + ready: 0, "probe_failed_due_to_regex" + ready: 1}),
                 ("TorquedWrong", {"probe_success" + computes: 0, "probe_failed_due_to_regex" + computes: 1}),
                 ("TorquedRefuses", {"probe_success" + computes: 0}),
                 ("TorquedSlow", {"probe_duration_seconds" + computes: 0.4}),
                 ("TorquedCertificate", {"probe_ssl_earliest_cert_expiry" + ready: 10 * 86400}),
                 ("TorquedInternalErrors", {problem("internal-error"): "5+1"}), ("TorquedOverloaded", {served[2]: "0+600"}),
                 ("TorquedDeadlinesPass", {served[3]: "0+100"}), ("TorquedQueueSlow", {waits["1"]: "0+80"}),
                 ("TorquedUnderestimates", {ratio["0.2"]: "0+20"}), ("TorquedStuck", {stuck: 1}),
                 ("TorquedRestarts", {started: "1000+60"}), ("TorquedStoreFails", {store: "3+1"}),
                 ("TorquedMemoryFull", {mine("torqued_memory_bytes"): 950}),
                 ("TorquedMemoryExhausted", {mine("torqued_memory_exhausted"): 1}),
                 ("TorquedConnectionsFull", {mine("torqued_connections"): 950}),
                 ("TorquedModelsFull", {mine("torqued_models"): 950}), ("TorquedLogLost", {lost: "7+1"}),
                 ("TorquedMemoryRefused", {problem("memory-full"): "5+1"}), ("TorquedQueueFull", {problem("queue-full"): "5+1"}),
                 ("TorquedClientsRefused", {problem("unauthorized"): "5+30"}), ("TorquedClientsSlow", {expired: "0+5"}),
                 ("TorquedSlowRequests", {slow: "0+100"}), ("TorquedReloadFailed", {reload: 20}),
                 ("TorquedModelDamaged", {problem("model-damaged"): "5+1"}), ("TorquedDatabaseFault", {fault: 1}),
                 ("TorquedCertificateEnds", {ends: 10 * 86400}), ("TorquedClockJump", {jumps: "2+1"})]
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


RUNBOOK = "file:///usr/share/doc/torqued/deploy/RUNBOOK.md#"


def sections():
    """Returns {heading: text} of the sections of the runbook; "" is the text before the first."""
    parts = re.split(r"^## (.+)\n", read("RUNBOOK.md"), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def commands(text):
    return [line for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for line in block.splitlines()]


class Runbook(unittest.TestCase):
    # Substitutes for programs that a test machine may lack or must not run: each prints what the real program would print, or nothing.
    INSTEAD = {"journalctl": 'cat "$LOG"', "systemctl": "true", "timedatectl": "true"}

    def test_each_alert_has_its_section(self):
        rules = [rule for group in yaml.safe_load(read("alerts.yml"))["groups"] for rule in group["rules"]]
        found = sections()
        self.assertEqual(sorted(set(found) - {""}), sorted(rule["alert"] for rule in rules))
        for rule in rules:
            text = found[rule["alert"]]
            self.assertEqual(rule["annotations"]["runbook_url"], RUNBOOK + rule["alert"].lower())
            self.assertEqual(len(commands(text)), 3, rule["alert"])
            self.assertIn("**Remedy:**", text)
            if rule["alert"] != "TorquedCertificateEnds":  # this alert shares the section of the other alert on certificates
                self.assertTrue("**Causes:**" in text or "| cause |" in text, rule["alert"])
        for target in re.findall(r"\]\(#([^)]+)\)", read("RUNBOOK.md")):
            self.assertIn(target, {name.lower() for name in found})

    def test_what_it_names_exists(self):
        """The runbook must name only metrics, problem codes, faults, log events and settings that exist."""
        text = read("RUNBOOK.md")
        server = Server()
        self.addCleanup(server.kill)
        page = server.client().get("/metrics").body.decode()
        names = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
        for name in re.findall(r"`(torqued_\w+)`", text):
            self.assertIn(name, names)
        for pattern in re.findall(r"metrics '([^']+)'", text):
            pattern = re.sub(r" \[1-9\]$", "", pattern)
            pattern = pattern.replace("|model-damaged", "").replace("model-damaged|", "")
            if "status=" in pattern or "slow_requests" in pattern or "_bucket" in pattern or "duration" in pattern or "client_" in pattern:
                pattern = pattern.split(".*")[0].split("(")[0].replace("_bucket", "").rstrip("_").removeprefix("^")
                self.assertTrue([name for name in names if name.startswith(pattern)], pattern)
            else:
                self.assertRegex(page, re.compile(pattern, re.MULTILINE))
        faults = re.findall(r'torqued_store_fault\{fault="([^"]+)"', page)
        self.assertEqual(re.findall(r"^\| `([a-z-]+)` \|", sections()["TorquedDatabaseFault"], re.MULTILINE), faults)
        sources = "".join(open(os.path.join(folder, name)).read() for folder, _, files in os.walk(os.path.join(ROOT, "server"))
                          if "dist" not in folder and "node_modules" not in folder for name in files if name.endswith(".c"))
        for pattern in re.findall(r"\blines '?([a-z|-]+)", "\n".join(commands(text)[6:])):
            for event in pattern.split("|"):
                self.assertTrue(f'"{event}"' in sources, event)
        self.assertLessEqual(set(re.findall(r"`(TORQUED_[A-Z_]+)[`=]", text)) - {"TORQUED_TOKEN_FILE", "TORQUED_CA_FILE"},
                             set(settings()))

    def test_each_command_runs(self):
        server = Server()
        self.addCleanup(server.kill)
        server.client().get("/nowhere")
        with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryDirectory() as folder:
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nHealthy\n"

            def exporter():
                while True:
                    try:
                        connection = listener.accept()[0]
                    except OSError:
                        return
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.close()

            threading.Thread(target=exporter, daemon=True).start()
            for name, instead in self.INSTEAD.items():
                with open(os.path.join(folder, name), "w") as file:
                    file.write(f"#!/bin/sh\n{instead}\n")
                os.chmod(os.path.join(folder, name), 0o755)
            os.symlink(BINARY, os.path.join(folder, "torqued"))
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TORQUED_URL": server.url(), "LOG": server.log_path,
                           "EXPORTER_PORT": str(listener.getsockname()[1])}
            found = sections()
            for name, text in found.items():
                for command in commands(text) if name else ():
                    script = "set -euo pipefail\n" + "\n".join(commands(found[""])) + "\n" + command + "\n"
                    done = run("bash", "-c", script, env=environment)
                    # `head` closes the pipe before the command has written everything
                    self.assertIn(done.returncode, (0, 141, 23), (command, done.stdout, done.stderr))
                    self.assertEqual(done.stderr if "head" not in command else "", "", command)
                    if command.startswith(("ask /readyz", "torqued top", "metrics '^torqued_store_(f", "lines 'ready")):
                        self.assertTrue(done.stdout, command)


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
        # adds a metric of Prometheus itself, and one that the exporter has only with TLS
        given |= {"up", "probe_ssl_earliest_cert_expiry"}
        for expression in sum(expressions(), []):
            for name in re.findall(r"\b(up|probe_\w+)\b", expression):
                self.assertIn(name, given)


if __name__ == "__main__":
    tap.main()
