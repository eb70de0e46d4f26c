#!/usr/bin/python3
"""realtime.py [--seconds S] [--sets NAME,...] [--delay TIME] - measures a control loop of 1 kHz in C against the server.

api/clients/c/feedforward.c requests torques at every tick, over a Unix socket, loopback, and a network of its own (two namespaces joined by a
veth pair; --delay adds a delay of netem to each direction, where the kernel has netem). Client and server run with default scheduling or with
SCHED_FIFO, as deploy/realtime.conf sets it. At the same time as each loop the same program runs without requests: its lateness is caused only by
the machine's timers. Times count from the tick to the torques. `load` is the machine's load average at the end of the row.

SCHED_FIFO and namespaces require root. `make realtime` builds the programs. The table is Markdown."""
import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
SPACE, ADDRESS = "torqued-bench", "10.231.77.{}"  # 10.231.77.1 is the client's address, 10.231.77.2 the server's
CLIENT_PRIORITY, SERVER_PRIORITY = "39", "40"
HEAD = ("path", "server", "client", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "missed", "sleeper p50", "p99", "p99.9", "max", "missed",
        "load")
# each: path, whether the server is in real time, whether the client is in real time
SETS = {"sockets": [("Unix socket", s, c) for s in (False, True) for c in (False, True)],
        "loopback": [("loopback", s, c) for s in (False, True) for c in (False, True)],
        "veth": [(path, s, c) for path in ("veth", "veth, TLS") for s in (False, True) for c in (False, True)],
        "guide": [("Unix socket", True, True), ("loopback", True, True), ("veth", True, True), ("veth, TLS", True, True)],
        "default": [("loopback", False, False)]}


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


def fifo(priority):
    return ["chrt", "--fifo", priority]


@contextlib.contextmanager
def network(delay):
    """Creates the network namespace of the server and joins it with this one by a veth pair."""
    run("ip", "netns", "add", SPACE)
    try:
        run("ip", "link", "add", "torqued0", "type", "veth", "peer", "name", "torqued1", "netns", SPACE)
        inside = ("ip", "netns", "exec", SPACE)
        for place, name, number in (((), "torqued0", 1), (inside, "torqued1", 2)):
            run(*place, "ip", "address", "add", ADDRESS.format(number) + "/30", "dev", name)
            run(*place, "ip", "link", "set", name, "up")
            if delay:
                run(*place, "tc", "qdisc", "add", "dev", name, "root", "netem", "delay", delay)
        yield list(inside)
    finally:
        # deleting the namespace would remove its veth pair only later
        subprocess.run(["ip", "link", "delete", "torqued0"], capture_output=True)
        run("ip", "netns", "delete", SPACE)


def protect(folder, host):
    """Makes a certificate and a token. Returns the arguments of the server and those of its client."""
    certificate, key, tokens, token = (os.path.join(folder, name) for name in ("certificate.pem", "key.pem", "tokens", "token"))
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=torqued",
        "-addext", f"subjectAltName=IP:{host}", "-keyout", key, "-out", certificate)
    made = subprocess.run([os.path.join(BUILD, "torqued"), "token", "loop", "evaluate"], check=True, capture_output=True, text=True)
    with open(tokens, "w") as clients, open(token, "w") as secret:
        clients.write(made.stdout)
        secret.write(made.stderr.split()[-1])
    return ["--tls-certificate", certificate, "--tls-key", key, "--tokens", tokens], ["-a", certificate, "-k", token]


@contextlib.contextmanager
def server(path, host, prefix):
    """Runs a server for one path. Yields the arguments of its client."""
    folder = tempfile.mkdtemp(prefix="torqued-realtime-")
    arguments, client = protect(folder, host) if "TLS" in path else (["--insecure"], [])
    command = [*prefix, os.path.join(BUILD, "torqued"), "--store", folder, "--log-sample", "1000", "--log-slow", "0.0005", *arguments,
               "--listen", f"{host}:18188,unix:{folder}/socket"]
    with open(os.path.join(folder, "log"), "wb") as log:
        process = subprocess.Popen(command, stderr=log)
    try:
        for _ in range(200):
            with open(os.path.join(folder, "log")) as log:
                if '"event":"ready"' in log.read():
                    break
            time.sleep(0.05)
        target = ["-s", os.path.join(folder, "socket")] if path == "Unix socket" else [
            "-u", f"{'https' if client else 'http'}://{host}:18188"]
        yield [*target, *client]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        shutil.rmtree(folder)


def loop(target, seconds, real_time, cpu):
    command = [os.path.join(BUILD, "feedforward"), "-t", str(seconds), *target]
    if real_time:
        command += ["-p", CLIENT_PRIORITY, "-c", str(cpu)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(process):
    out = process.communicate()[0]
    found = re.search(r"missed=(\d+) p50=(\S+) p99=(\S+) p99.9=(\S+) max=(\S+)", out)
    if process.returncode != 0 or not found:
        return ["gave up", "", "", "", ""]
    missed, *times = found.groups()
    return [*(f"{float(value):.0f}" for value in times), missed]


def measure(path, server_real_time, client_real_time, options):
    """Measures one row of the table: the control loop and, at the same time, a loop that sends no requests."""
    last = os.cpu_count() - 1
    with contextlib.ExitStack() as stack:
        prefix = stack.enter_context(network(options.delay)) if "veth" in path else []
        prefix += (fifo(SERVER_PRIORITY) + ["taskset", "--cpu-list", "0"]) if server_real_time else []
        target = stack.enter_context(server(path, ADDRESS.format(2) if "veth" in path else "127.0.0.1", prefix))
        sleeper = loop(["-n"], options.seconds, client_real_time, last)
        control = loop(target, options.seconds, client_real_time, last)
        return [*result(control), *result(sleeper), f"{os.getloadavg()[0]:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--sets", default="sockets,loopback,veth", help=", ".join(SETS))
    parser.add_argument("--delay", help="of netem, such as 100us")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, {options.seconds:g} s a row\n")
    rows = []
    for path, server_real_time, client_real_time in (row for name in options.sets.split(",") for row in SETS[name]):
        names = ["FIFO" if real_time else "default" for real_time in (server_real_time, client_real_time)]
        label = f"{path} and {options.delay}" if "veth" in path and options.delay else path
        rows.append([label, *names, *measure(path, server_real_time, client_real_time, options)])
        print(" ".join(rows[-1]), file=sys.stderr)
    for row in (HEAD, ("---",) * 3 + ("--:",) * (len(HEAD) - 3), *rows):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
