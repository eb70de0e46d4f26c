"""bench.py [--quick] - the benchmarks: kernels in cache, alone and beside other libraries for robot dynamics that are
installed, and the service beside a bare echo server.

Prints Markdown tables and writes them to $BUILD/bench/. Figures of one machine and one run: RESULTS.md keeps some
with what limits them. Run through `make bench`, which builds the programs first.
"""
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
PROGRAMS = os.path.join(BUILD, "tests", "bench")
QUICK = "--quick" in sys.argv
ROUNDS, SECONDS = (1, 1) if QUICK else (5, 3)
REQUEST = {
    "q": [0.1, -0.7, 0.3, -2.1, 0.2, 1.4, 0.8],
    "qd": [0.5, -0.25, 0.125, 1, -1, 0.75, 0.3],
    "qdd": [1, 2, -1, 0.5, -0.5, 3, 0.1],
}
PATH = "/v1/models/panda/inverse-dynamics"


def machine():
    """CPU, cores, compiler and commit: what a figure is worth nothing without."""
    def first(command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
        except (OSError, subprocess.CalledProcessError, IndexError):
            return "?"
    cpu = "?"
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith(("model name", "CPU part")):
                cpu = line.split(":", 1)[1].strip()
                break
    return (f"{time.strftime('%Y-%m-%d', time.gmtime())} · {cpu}, {len(os.sched_getaffinity(0))} cores, "
            f"{platform.machine()} · {first(['gcc', '--version'])} · commit {first(['git', 'describe', '--always', '--dirty'])}")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def figures(program, runs):
    """The lines of a program of figures, cut into fields; all those of a robot together, in the order printed."""
    out = subprocess.run([f"{PROGRAMS}/{program}", str(runs)], capture_output=True, text=True, check=True).stdout
    robots = {}
    for line in out.splitlines():
        robot, *fields = line.split("\t")
        robots.setdefault(robot, []).append(fields)
    return robots


def kernels():
    """ns per state: a table per robot, kernels down, targets across."""
    runs = 3 if QUICK else 31
    parts = [f"ns per state, in cache, one core: median of {runs} interleaved runs."]
    for robot, lines in figures("kernels", runs).items():
        rows = {}
        for kernel, target, lanes, _, median in lines:
            rows.setdefault(kernel, {})[f"{target} (W={lanes})"] = median
        targets = list(next(iter(rows.values())))
        parts.append(f"### {robot}\n\n" + table([""] + targets, [[k] + [row[t] for t in targets] for k, row in rows.items()]))
    return "\n\n".join(parts)


def peers():
    """ns per state, ours and theirs, and how many times ours theirs is; a table per robot."""
    if not os.path.exists(f"{PROGRAMS}/peers"):
        return "Neither libmujoco-dev nor liborocos-kdl-dev is installed."
    runs = 3 if QUICK else 101
    parts, calls = [], {}
    for robot, lines in figures("peers", runs).items():
        rows, worst = {}, 0
        for operation, who, call, difference, ns in lines:
            rows.setdefault(operation, {})[who] = ns if ns != "-" else f"differs by {difference}"
            if call != "kernel":
                calls.setdefault(who, {})[operation] = call
                worst = max(worst, float(difference))
        ours = [who for who in next(iter(rows.values())) if who not in calls]
        theirs = [who for row in rows.values() for who in row if who not in ours]
        theirs = list(dict.fromkeys(theirs))
        head = [""] + [f"torqued {who}" for who in ours] + theirs
        parts.append(f"### {robot}\n\n" + table(head, [peer_row(name, row, ours, theirs) for name, row in rows.items()]) +
                     f"\n\nGreatest difference between their numbers and ours: {worst:.0e} of the largest entry.")
    made_of = [f"- {who}, {operation}: `{call}`" for who, of in calls.items() for operation, call in of.items()]
    return (f"ns per state, in cache, one core: median of {runs} interleaved runs; in brackets how many times our figure "
            "at each width theirs is. The other libraries take one state at a time, as Debian builds them.\n\n" +
            "\n\n".join(parts + ["\n".join(made_of)]))


def peer_row(name, row, ours, theirs):
    cells = [name] + [row.get(who, "") for who in ours]
    for who in theirs:
        ns = row.get(who, "")
        if re.fullmatch(r"[\d.]+", ns) and all(who in row for who in ours):
            ns += " (" + ", ".join(f"{float(ns) / float(row[us]):.1f}×" for us in ours) + ")"
        cells.append(ns)
    return cells


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A server under test: its port, the CPU time it has used."""

    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.port = port
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 10).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
        raise RuntimeError(f"{command[0]} did not start")

    @classmethod
    def echo(cls, answer_bytes):
        port = free_port()
        return cls([f"{PROGRAMS}/echo", str(port), str(answer_bytes)], port)

    @classmethod
    def torqued(cls):
        port = free_port()
        store = tempfile.TemporaryDirectory(prefix="torqued-bench-")
        server = cls([f"{BUILD}/torqued", "--listen", f"127.0.0.1:{port}", "--store", store.name,
                      "--log-level", "warning"], port)
        server.store = store  # removed with it
        server.wait_ready()
        return server

    def wait_ready(self):
        for _ in range(500):
            with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
                connection.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
                if b" 200 " in connection.recv(4096).split(b"\r\n")[0]:
                    return
            time.sleep(0.02)
        raise RuntimeError("the server does not get ready")

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def answer(self, body):
        """Status and size in bytes of one whole answer, head included."""
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
            connection.sendall(head.encode() + body)
            data = b""
            while b"\r\n\r\n" not in data:
                data += connection.recv(65536)
            top, rest = data.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"Content-Length: *(\d+)", top, re.I).group(1))
            while len(rest) < length:
                rest += connection.recv(65536)
            return int(top.split()[1]), len(top) + 4 + length

    def load(self, body_file, connections, *heavy):
        """Requests per second, CPU in microseconds per request, p50 and p99 in microseconds; of the light ones alone
        where `heavy` names the body of others and how often they come."""
        before = self.cpu()
        out = subprocess.run([f"{PROGRAMS}/load", str(self.port), PATH, body_file, str(connections), str(SECONDS),
                              *map(str, heavy)], capture_output=True, text=True, check=True).stdout.split()
        requests, seconds, p50, p99, failed = int(out[0]), float(out[1]), int(out[2]), int(out[3]), int(out[4])
        if failed:
            raise RuntimeError(f"{failed} of {requests} requests failed")
        return requests / seconds, (self.cpu() - before) / requests * 1e6, p50, p99


def service():
    """One-state inverse dynamics over keep-alive connections, and the echo server with as many bytes."""
    body = json.dumps(REQUEST, separators=(",", ":")).encode()
    with tempfile.NamedTemporaryFile() as body_file:
        body_file.write(body)
        body_file.flush()
        torqued = Process.torqued()
        status, size = torqued.answer(body)
        if status != 200:
            raise RuntimeError(f"{PATH} answers {status}")
        probe = Process.echo(100)
        overhead = probe.answer(body)[1] - 100
        probe.stop()
        echo = Process.echo(size - overhead)
        rows = []
        for connections in (1, 16, 64):
            best = {}
            for _ in range(ROUNDS):  # interleaved: what disturbs one disturbs the other
                for name, server in (("echo", echo), ("torqued", torqued)):
                    best.setdefault(name, []).append(server.load(body_file.name, connections))
            figures = {name: (max(r[0] for r in runs), min(r[1] for r in runs), min(r[2] for r in runs), min(r[3] for r in runs))
                       for name, runs in best.items()}
            e, t = figures["echo"], figures["torqued"]
            rows.append([connections, f"{t[0]:.0f}", f"{e[0]:.0f}", f"{t[0] / e[0]:.2f}", f"{t[1]:.1f}", f"{e[1]:.1f}",
                         f"{t[1] / e[1]:.2f}", f"{t[2]} / {t[3]}", f"{e[2]} / {e[3]}"])
        echo.stop()
        torqued.stop()
    return (f"One-state inverse dynamics of `panda`: {len(body)} bytes of request body, {size} bytes of answer with its "
            f"head; the echo server reads and writes as many. Loopback, keep-alive, closed loop, client on the same "
            f"machine; best of {ROUNDS} interleaved rounds of {SECONDS} s.\n\n" +
            table(["connections", "requests/s", "echo", "ratio", "CPU µs/request", "echo", "ratio",
                   "latency p50 / p99 µs", "echo"], rows))


def heavy_body(server, milliseconds):
    """A batch that keeps a worker busy for about so long."""
    rows = 1000
    while True:
        body = json.dumps({name: [values] * rows for name, values in REQUEST.items()}, separators=(",", ":")).encode()
        times = []
        for _ in range(5):
            start = time.perf_counter()
            server.answer(body)
            times.append(1e3 * (time.perf_counter() - start))
        if min(times) > 0.8 * milliseconds:
            return body, rows, min(times)
        rows = int(rows * min(4, 1.1 * milliseconds / min(times)))


def mixed():
    """One-state requests alone, and with one in a hundred that takes 20 ms: what those do to the others' latency."""
    light = json.dumps(REQUEST, separators=(",", ":")).encode()
    server = Process.torqued()
    heavy, rows, took = heavy_body(server, 20)
    table_rows = []
    with tempfile.NamedTemporaryFile() as light_file, tempfile.NamedTemporaryFile() as heavy_file:
        for file, body in ((light_file, light), (heavy_file, heavy)):
            file.write(body)
            file.flush()
        for connections in (4, 16, 64):
            alone, among = [], []
            for _ in range(ROUNDS):
                alone.append(server.load(light_file.name, connections))
                among.append(server.load(light_file.name, connections, heavy_file.name, 100))
            ratio = sorted(m[3] / a[3] for a, m in zip(alone, among))[len(alone) // 2]
            a, m = (sorted(runs, key=lambda r: r[3])[len(runs) // 2] for runs in (alone, among))
            table_rows.append([connections, f"{a[2]} / {a[3]}", f"{m[2]} / {m[3]}", f"{ratio:.2f}", f"{a[0]:.0f}", f"{m[0]:.0f}"])
    server.stop()
    return (f"One-state inverse dynamics of `panda`, alone and with every hundredth request a batch of {rows} states that "
            f"takes {took:.0f} ms; default workers, closed loop, median of {ROUNDS} interleaved pairs of {SECONDS} s. "
            f"Latencies and rates are those of the light requests.\n\n" +
            table(["connections", "alone p50 / p99 µs", "mixed p50 / p99 µs", "p99 ratio", "alone requests/s",
                   "mixed requests/s"], table_rows))


def main():
    folder = os.path.join(BUILD, "bench")
    os.makedirs(folder, exist_ok=True)
    stamp = machine()
    for name, title, run in (("kernels", "Kernels", kernels), ("peers", "Beside other libraries", peers),
                             ("service", "Service", service), ("mixed", "Mixed load", mixed)):
        text = f"## {title}\n\n{stamp}\n\n{run()}\n"
        with open(os.path.join(folder, name + ".md"), "w") as file:
            file.write(text)
        print(text, flush=True)


if __name__ == "__main__":
    main()
