#!/usr/bin/python3
"""faults.py [FAULT...] - injects faults that an operator meets at night, one after another, each into a server of its own that
works, and checks that metrics, log and runbook lead to the cause.

Each fault leaves in build/faults/FAULT/ what an operator has: the pages of /metrics before and after, /readyz, the log, and
`torqued top --once`. The table FAULTS names the alert that Prometheus must raise from the two pages (promtool), lines that the three
commands of the alert's section in the runbook must then show, and words that the section must have. The output of the commands is
kept as `shown`. The exit status is 1 if anything is missing.
A fault whose means the machine lacks is left out, and named."""
import argparse
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e", folder) for folder in ("support", "store", "process")]
import postgres
import yaml
from access import Certificates, make_token
from harness import BINARY, ROOT, Server
from peers import Client
from samples import HEAVY, chain, pendulum
from server_threads import Held, named
from test_clocks import LIBRARY
from test_store_faults import MOUNT, can_mount

FOLDER = os.path.join(ROOT, "build", "faults")
PATIENCE = 60
HEAD = "POST /v1/models/puma560/bias HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


class Missing(Exception):
    """Raised if the machine lacks a program or right that a fault needs."""


class Drill(contextlib.ExitStack):
    """One fault: its server, and the pages that it leaves."""

    def __init__(self, name):
        super().__init__()
        self.folder, self.headers = os.path.join(FOLDER, name), {}
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.work = self.enter_context(tempfile.TemporaryDirectory())

    def serve(self, *arguments, **keywords):
        self.server = Server("--health-listen", "127.0.0.1:0", *arguments, **keywords)
        self.callback(self.server.kill)
        self.server.await_log('"for":"health"')
        said = next(event for event in self.server.events() if event.get("for") == "health")
        self.probe = Client(int(said["address"].rpartition(":")[2]), PATIENCE)
        return self.server

    def ask(self, path, body=None, method=None, **headers):
        client = self.server.client()
        try:
            return client.request(method or ("POST" if body else "GET"), path, body, {**self.headers, **headers})
        finally:
            client.close()

    def keep(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def page(self):
        return self.probe.request("GET", "/metrics", headers=self.headers).text

    def before(self):
        """Lets the server answer some requests, and reads its metrics as Prometheus does."""
        for _ in range(50):
            self.ask("/v1/models/puma560/bias", {"q": [0.1] * 6})
        self.keep("metrics-before", self.page())

    def after(self):
        """Saves what an operator would see: metrics, /readyz and the log. Log lines are written some milliseconds after their cause."""
        time.sleep(0.5)
        self.keep("metrics", self.page())
        answer = self.probe.get("/readyz")
        self.keep("readyz", f"{answer.status} {answer.text}")
        self.keep("log", self.server.log())
        environment = {**os.environ, "TORQUED_URL": f"http://127.0.0.1:{self.probe.connection.port}"}
        if self.headers:
            environment["TORQUED_TOKEN_FILE"] = os.path.join(self.work, "token")
        done = subprocess.run([BINARY, "top", "--once"], capture_output=True, text=True, env=environment, timeout=PATIENCE)
        self.keep("top", done.stdout + done.stderr)

    def tokens(self, *more):
        """Writes a file of clients with one client in the role `observe`, whose token the drill uses. Returns the path."""
        token, line = make_token("scraper", "observe,evaluate")
        path = os.path.join(self.work, "tokens")
        with open(path, "w") as file:
            file.writelines([line, *more])
        with open(os.path.join(self.work, "token"), "w") as file:
            file.write(token)
        self.headers = {"Authorization": f"Bearer {token}"}
        return path

    def until(self, pattern):
        """Waits until the metrics have a line that the pattern matches."""
        give_up = time.monotonic() + PATIENCE
        while not re.search(pattern, self.page(), re.M):
            if time.monotonic() > give_up:
                raise AssertionError(f"the metrics never have {pattern}")
            time.sleep(0.1)


# --- faults -----------------------------------------------------------------------------------------------------------

def full_disk(drill):
    if not can_mount():
        raise Missing("a mount namespace")
    disk = drill.enter_context(tempfile.TemporaryDirectory(prefix="torqued-disk-"))
    drill.serve("--store", os.path.join(disk, "store"), command=MOUNT, environment={"DISK": disk})
    drill.before()
    with open(f"/proc/{drill.server.process.pid}/root{disk}/store/filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    drill.ask("/v1/models/new", pendulum(), "PUT")
    drill.server.await_log('"event":"store-fault"')


def database(drill):
    if not postgres.available():
        raise Missing("PostgreSQL")
    base = postgres.Postgres()
    drill.callback(base.close)
    subprocess.run([BINARY, "store", "migrate", "--store", base.url()], check=True, capture_output=True)
    drill.serve("--store", base.url())
    drill.before()
    base.pause()
    drill.callback(base.pause, False)
    drill.until(r'^torqued_store_fault\{fault="frozen"\} 1')


def slow_clients(drill):
    drill.serve("--read-deadline", "0.5", "--write-deadline", "0.5", "--slow-request", "0.4")
    drill.before()
    body = json.dumps({"q": [[0.1] * 6] * 100000})
    for i in range(14):
        sock = drill.enter_context(socket.socket())
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", drill.server.port))
        sock.sendall((HEAD % len(body) + body).encode() if i < 2 else b"GET /v1 HT")
    drill.until(r'^torqued_expired_connections_total\{phase="request"\} 1[12]')
    drill.server.await_log('"event":"slow-request"')


def stuck_solver(drill):
    drill.serve("--workers", "2", "--inline-limit", "0", environment={"WATCHDOG_USEC": "900000"})
    drill.before()
    drill.ask("/v1/models/chain", chain(100), "PUT")
    sock = drill.enter_context(socket.create_connection(("127.0.0.1", drill.server.port)))
    body = json.dumps({"q": [0.1] * 100, "duration": 900, "step": 1e-4, "samples": 2})
    sock.sendall((f"POST /v1/models/chain/simulate HTTP/1.1\r\nHost: localhost\r\nRequest-Timeout: 1\r\nContent-Length: {len(body)}\r\n\r\n" + body).encode())
    time.sleep(0.5)
    for thread in named(drill.server, "torqued-worker"):
        drill.enter_context(Held(thread, busy=True))
    drill.until(r'^torqued_stuck_threads\{thread="worker"\} [1-9]')


def bad_token_file(drill):
    path = drill.tokens()
    drill.serve("--tokens", path)
    drill.before()
    with open(path, "a") as file:
        file.write("nonsense here\n")
    drill.server.reload()


def full_memory(drill):
    drill.serve("--memory", "8M", "--max-body", "4M", "--max-answer", "4M")
    drill.before()
    for _ in range(8):
        sock = drill.enter_context(socket.create_connection(("127.0.0.1", drill.server.port)))
        sock.sendall((HEAD % 3000000).encode() + b"[" * 2000000)
    drill.until(r'^torqued_problems_total\{problem="client-memory-full"\} [1-9]')


def clock_jump(drill):
    if not LIBRARY:
        raise Missing("libfaketime")
    clock = os.path.join(drill.work, "clock")

    def jump(seconds):
        with open(clock + ".next", "w") as file:
            file.write(f"{seconds:+d}\n")
        os.rename(clock + ".next", clock)
    jump(0)
    drill.serve(environment={"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                             "FAKETIME_FORCE_MONOTONIC_FIX": "0"})
    drill.before()
    jump(86400)
    drill.until("^torqued_clock_jumps_total [1-9]")


def greedy_client(drill):
    """One client sends more simulations than its part of the queue, again and again."""
    drill.serve("--workers", "1", "--queue", "0.02")  # a queue shorter than the duration of one request, on any machine
    drill.ask("/v1/models/long", chain(100), "PUT")
    drill.before()
    ends = threading.Event()

    def ask():
        client = Client(drill.server.port, PATIENCE, source="127.0.0.2")
        while not ends.is_set():
            client.post("/v1/models/long/evaluate", HEAVY)
    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    try:
        drill.until(r'^torqued_problems_total\{problem="queue-full"\} [1-9]\d')
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def damaged_model(drill):
    drill.serve()
    drill.ask("/v1/models/mine", pendulum(2), "PUT")
    store = os.path.join(drill.server.folder, "store")
    kept = os.path.join(drill.work, "store")
    drill.server.terminate()
    drill.server.wait()
    shutil.copytree(store, kept)
    with open(os.path.join(kept, "models", "mine.json"), "r+b") as file:
        file.seek(20)
        file.write(b"\x00")
    drill.serve("--store", kept)
    drill.before()
    drill.ask("/v1/models/mine/bias", {"q": [0.1]})


def refused_client(drill):
    """A program sends requests without pause with a token that has expired."""
    token, line = make_token("planner", "evaluate")
    drill.serve("--tokens", drill.tokens(line.rstrip("\n") + " expires=2020-01-01T00:00:00Z\n"))
    drill.before()
    client = drill.server.client()
    for _ in range(1000):
        client.get("/v1", Authorization=f"Bearer {token}")
    client.close()


def ending_certificate(drill):
    certificates = Certificates(drill.work)
    subprocess.run(["openssl", "x509", "-in", "server.pem", "-signkey", "server.key", "-days", "5", "-out", "next.pem"], cwd=drill.work, check=True,
                   capture_output=True)
    os.rename(os.path.join(drill.work, "next.pem"), certificates.path("server.pem"))
    drill.serve(*certificates.arguments(), context=certificates.context())
    drill.before()


# fault: (inject, alert, lines that the commands of the runbook show, words of the runbook)
FAULTS = {
    "full-disk": (full_disk, "TorquedStoreFails", ['"event":"store-fault".*No space left on device', "no model can be changed|was not written"], "free space"),
    "frozen-database": (database, "TorquedDatabaseFault", [r'^torqued_store_fault\{fault="frozen"\} 1', '"fault":"frozen"'], "`frozen`"),
    "slow-clients": (slow_clients, "TorquedClientsSlow", [r'^torqued_expired_connections_total\{phase="request"\} 1[12]', '"from":"127.*"ended":"early"', '"event":"late-head","from":"127'], "slow senders"),
    "stuck-solver": (stuck_solver, "TorquedStuck", [r'^torqued_stuck_threads\{thread="worker"\} [1-9]', '"event":"stuck".*"path":"/v1/models/chain/simulate","from":"127.*"id"'], "deadline"),
    "bad-token-file": (bad_token_file, "TorquedReloadFailed", ["^torqued_failed_reloads_total 1", '"event":"not-reloaded".*line 2'], "mistake in the file of clients"),
    "full-memory": (full_memory, "TorquedMemoryRefused", ["^torqued_memory_bytes [1-9]", r'^torqued_client_memory_bytes\{from="127', '"from":"127.*"problem":"client-memory-full"'], "TORQUED_MEMORY"),
    "clock-jump": (clock_jump, "TorquedClockJump", ['"event":"clock-jump"'], "somebody has set the clock"),
    "greedy-client": (greedy_client, "TorquedQueueFull", [r'^torqued_client_work_seconds_total\{from="127.0.0.2"\}', '"from":"127.0.0.2.*"problem":"queue-full"'], "TORQUED_CLIENT_WORK"),
    "damaged-model": (damaged_model, "TorquedModelDamaged", [r'^torqued_problems_total\{problem="model-damaged"\} 1', '"event":"unreadable".*mine'], "backup"),
    "expired-token": (refused_client, "TorquedClientsRefused", [r'^torqued_problems_total\{problem="unauthorized"\} 1000', '"event":"denied".*expired'], "has expired"),
    "ending-certificate": (ending_certificate, "TorquedCertificateEnds", [r"^torqued_certificate_expiry_seconds \d", '"event":"certificate-ends"'], "systemctl reload torqued"),
}


# --- what an operator finds -------------------------------------------------------------------------------------------

def series(page):
    """Returns {series: value} of a page of metrics."""
    return {name: float(value) for name, value in re.findall(r"^(torqued_\w+(?:\{[^}]*\})?) (\S+)", page, re.M)}


def history(name, first, last):
    """Returns the values of a series in promtool's notation, each minute one: five minutes of the first value, then the fault, which lasts; a
    counter continues to rise during it. Prometheus's time begins at 0 here, so a date becomes the time until then."""
    if name.startswith("torqued_certificate_expiry"):
        first, last = first - time.time(), last - time.time()
    rise = last - first if re.match(r"\w+_(total|bucket|count|sum)\b", name) else 0
    return f"{first:.15g}x4 {last:.15g}+{rise:.15g}x30"


def raises(alert, before, after):
    """Returns whether Prometheus raises the alert when the metrics change from the first page to the second, and promtool's text."""
    first, second = series(before), series(after)
    mine = lambda name: re.sub(r"\{|$", '{job="torqued",instance="x",', name, count=1).rstrip("}") + "}"
    values = [{"series": mine(name).replace(",}", "}"), "values": history(name, first.get(name, 0), last)} for name, last in second.items()]
    rules = {"rule_files": [os.path.join(ROOT, "deploy", "alerts.yml")], "tests": [{
        "interval": "1m", "input_series": values, "promql_expr_test": [{
            "expr": f'group(max_over_time(ALERTS{{alertname="{alert}",alertstate="firing"}}[30m]))', "eval_time": "30m",
            "exp_samples": [{"labels": "{}", "value": 1}]}]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump(rules, file)
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def section(alert):
    with open(os.path.join(ROOT, "deploy", "RUNBOOK.md"), encoding="utf-8") as file:
        return re.search(rf"^## {alert}\n(.*?)(?=^## |\Z)", file.read(), re.M | re.S)[1]


# Shell functions in place of those of the runbook (ask, log) and of programs: they read the folder of a fault instead of the server and the
# journal.
INSTEAD = """
ask() { cat "$FOLDER$1"; }
log() { cat "$FOLDER/log"; }
torqued() { cat "$FOLDER/top"; }
systemctl() { :; }
timedatectl() { :; }
"""


def show(name):
    """Runs the commands of the section of a fault's alert on its folder. Returns what they print, and keeps it."""
    folder = os.path.join(FOLDER, name)
    code = lambda text: "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S))
    with open(os.path.join(ROOT, "deploy", "RUNBOOK.md"), encoding="utf-8") as file:
        functions = code(file.read().split("\n## ")[0])
    done = subprocess.run(["bash", "-c", functions + INSTEAD + code(section(FAULTS[name][1]))], capture_output=True, text=True,
                          env={**os.environ, "FOLDER": folder}, errors="replace", timeout=PATIENCE)
    with open(os.path.join(folder, "shown"), "w") as file:
        file.write(done.stdout + done.stderr)
    return done.stdout


def missing(name):
    """Checks the folder of a fault: returns what is missing, such as the alert or words of the runbook's commands."""
    _, alert, lines, words = FAULTS[name]
    pages = []
    for page in ("metrics-before", "metrics"):
        with open(os.path.join(FOLDER, name, page), errors="replace") as file:
            pages.append(file.read())
    raised, said = raises(alert, *pages)
    shown = show(name)
    return [text for wrong, text in (
        (not raised, f"the alert {alert} is not raised: {said}"), (words not in section(alert), f"the runbook does not say {words}"),
        *((not re.search(line, shown, re.M), f"the commands of the runbook do not show {line}") for line in lines)) if wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", nargs="*", choices=[[], *FAULTS], metavar="FAULT", help="one of " + ", ".join(FAULTS))
    failed = 0
    for name in parser.parse_args().fault or FAULTS:
        try:
            with Drill(name) as drill:
                FAULTS[name][0](drill)
                drill.after()
        except (Missing, unittest.SkipTest) as lack:
            print(f"{name}: left out, this machine lacks {lack}", flush=True)
            continue
        wrong = missing(name)
        failed += bool(wrong)
        print(f"{name}: {'; '.join(wrong) or FAULTS[name][1] + ' is raised, and the runbook leads to the cause'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
