#!/usr/bin/env python3
"""replicas.py - measures the throughput of 1 to 4 servers with equal quotas of processor time, compared with the estimate of deploy/scale.py.

The quotas require root and control groups. A server's quota is a fraction of one core, so that four servers leave the machine idle time. Clients
send inverse dynamics of panda, 1000 states a request, to the server with the fewest requests. Also prints the inputs of scale.py: processor time
of the servers and of HAProxy, and bytes."""
import argparse
import contextlib
import http.client
import json
import os
import random
import struct
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("tests/e2e/support", "deploy"):
    sys.path.insert(0, os.path.join(ROOT, folder))
import cbor2
from access import Certificates
from balancers import HAProxy, Replica, await_true
from harness import Server
from scale import simulate

PATH = "/v1/models/panda/inverse-dynamics"
ROWS = 1000
TICK = os.sysconf("SC_CLK_TCK")


class Quota:
    """A control group that gives its process a fraction of one core."""

    def __init__(self, name, fraction):
        unified = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        self.path = os.path.join("/sys/fs/cgroup" if unified else "/sys/fs/cgroup/cpu", name)
        os.makedirs(self.path, exist_ok=True)
        period, share = 20_000, int(20_000 * fraction)      # us
        for file, text in ([("cpu.max", f"{share} {period}")] if unified
                           else [("cpu.cfs_period_us", str(period)), ("cpu.cfs_quota_us", str(share))]):
            self.write(file, text)

    def write(self, file, text):
        with open(os.path.join(self.path, file), "w") as control:
            control.write(text)

    def add(self, process):
        self.write("cgroup.procs", str(process))

    def remove(self):
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


def cpu_seconds(process):
    """Returns the processor time of all threads of a process, in s."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def body(encoding):
    draw = random.Random(7)
    fields = {name: [[draw.uniform(-1, 1) for _ in range(7)] for _ in range(ROWS)] for name in ("q", "qd", "qdd")}
    if encoding == "JSON":
        return json.dumps(fields).encode(), "application/json"
    typed = {name: cbor2.CBORTag(40, [[ROWS, 7], cbor2.CBORTag(86, struct.pack(f"<{7 * ROWS}d", *(x for row in rows for x in row)))])
             for name, rows in fields.items()}
    return cbor2.dumps(typed), "application/cbor"


class Load:
    """Clients that send requests without pause. `addresses` are host and port of each server."""

    def __init__(self, open_connection, servers, content, media_type):
        self.open, self.content, self.media_type = open_connection, content, media_type
        self.under_way, self.lock, self.answered, self.received = [0] * servers, threading.Lock(), 0, 0
        self.stopping = threading.Event()

    def run(self, clients, seconds):
        """Returns requests per second, measured after one second of warm-up."""
        threads = [threading.Thread(target=self._run) for _ in range(clients)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        before, start = self.answered, time.monotonic()
        self.at_start()
        time.sleep(seconds)
        self.at_end()
        rate = (self.answered - before) / (time.monotonic() - start)
        self.stopping.set()
        for thread in threads:
            thread.join()
        return rate

    def at_start(self):
        pass

    at_end = at_start

    def _run(self):
        connections = [self.open(i) for i in range(len(self.under_way))]
        headers = {"Content-Type": self.media_type, "Accept": self.media_type, "Host": "localhost"}
        while not self.stopping.is_set():
            with self.lock:
                chosen = min(range(len(connections)), key=lambda i: self.under_way[i])
                self.under_way[chosen] += 1
            connections[chosen].request("POST", PATH, self.content, headers)
            response = connections[chosen].getresponse()
            answer = response.read()
            assert response.status == 200, answer[:300]
            with self.lock:
                self.under_way[chosen] -= 1
                self.answered += 1
                self.received = len(answer)


def measure(number, encoding, options):
    """Returns requests per second of `number` servers, and the servers' processor time for a request, in s."""
    quotas = [Quota(f"torqued-bench-{os.getpid()}-{i}", options.quota) for i in range(number)]
    servers = []
    try:
        for quota in quotas:
            servers.append(Server("--workers", "1", "--loops", "1", "--log-sample", "1000000"))
            quota.add(servers[-1].process.pid)
        load = Load(lambda i: http.client.HTTPConnection("127.0.0.1", servers[i].port), number, *body(encoding))
        spent = []
        load.at_start = load.at_end = lambda: spent.append((load.answered, sum(cpu_seconds(s.process.pid) for s in servers)))
        rate = load.run(options.clients, options.seconds)
        return rate, (spent[1][1] - spent[0][1]) / (spent[1][0] - spent[0][0]), load
    finally:
        for server in servers:
            server.stop()
        for quota in quotas:
            quota.remove()


def measure_balancer(encoding, options):
    """Returns HAProxy's processor time for each forwarded byte, with TLS on both sides."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ended:
        certificates = Certificates(folder)
        replicas = [Replica(certificates, "{address}:8443+proxy", "--health-listen", "{address}:8087",
                            "--log-sample", "1000000") for _ in range(3)]
        for replica in replicas:
            ended.callback(replica.server.kill)
        balancer = HAProxy(folder, certificates, [replica.address for replica in replicas])
        ended.callback(balancer.stop)
        balancer.await_listening()
        await_true(lambda: all(balancer.is_up(i) for i in (1, 2, 3)), "the replicas are up")
        load = Load(lambda _: balancer.connection(), 1, *body(encoding))
        spent = []
        load.at_start = load.at_end = lambda: spent.append((load.answered, cpu_seconds(balancer.process.pid)))
        load.run(2, options.seconds)
        return (spent[1][1] - spent[0][1]) / (spent[1][0] - spent[0][0]) / (len(load.content) + load.received)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quota", type=float, default=0.08, help="of one core, for each server")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    for encoding in ("JSON", "CBOR"):
        print(f"\n| {encoding}: servers | measured, states/s | on paper | simulated | share of the quota used | µs of a core for a request |\n"
              "| --: | --: | --: | --: | --: | --: |")
        service = None
        for number in (1, 2, 3, 4):
            rate, cpu, load = measure(number, encoding, options)
            service = service or cpu / options.quota  # the first measurement is the input for all others
            print(f"| {number} | {ROWS * rate:.0f} | {ROWS * number / service:.0f} | "
                  f"{ROWS * simulate(number, options.clients, service, 0.0005):.0f} | {rate * cpu / number / options.quota:.2f} | {1e6 * cpu:.0f} |",
                  flush=True)
        print(f"\n{encoding}: {service * options.quota / ROWS:.3g} s of a core for a state, {len(load.content) / ROWS:.0f} bytes to the server, "
              f"{load.received / ROWS:.0f} from it")
        print(f"HAProxy: {measure_balancer(encoding, options):.3g} s of a core for a byte", flush=True)


if __name__ == "__main__":
    main()
