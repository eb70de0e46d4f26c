"""Runs the servers under test, each a process on loopback, and the client that loads them.

Processor time is the scheduler's account of a process (its CPU-time clock, in ns), summed over all its processes."""
import collections
import ctypes
import json
import os
import re
import socket
import struct
import subprocess
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
PROGRAMS = os.path.join(BUILD, "tests", "bench")
JSON, CBOR = "application/json", "application/cbor"
PATH = "/v1/models/panda/inverse-dynamics"
STATE = {
    "q": [0.1, -0.7, 0.3, -2.1, 0.2, 1.4, 0.8],
    "qd": [0.5, -0.25, 0.125, 1, -1, 0.75, 0.3],
    "qdd": [1, 2, -1, 0.5, -0.5, 3, 0.1],
}

# Result of a run: requests/s, processor time per request in us, latencies in us, share of requests that were refused
# (503) or cut off, and, if requested, latencies until the kernel had the answer.
Load = collections.namedtuple("Load", "rate cpu p50 p99 lost p50_there p99_there", defaults=(None, None))


def states(count):
    """Returns one state, flat; or a batch whose numbers all have 15 or 16 different digits, as a planner's have."""
    if count == 1:
        return STATE
    turn = [1 + 1e-3 * ((7919 * i) % 10007) / 10007 for i in range(count)]
    return {name: [[x * factor for x in values] for factor in turn] for name, values in STATE.items()}


def to_json(fields):
    return json.dumps(fields, separators=(",", ":")).encode()


def cbor_head(major, count):
    size = next(i for i in range(5) if i == 0 and count < 24 or i and count < 1 << (8 << (i - 1)))
    if size == 0:
        return bytes([major << 5 | count])
    return bytes([major << 5 | 23 + size]) + count.to_bytes(1 << (size - 1), "big")


def to_cbor(fields):
    """Encodes a map of typed arrays (tag 86); batches have their dimensions (tag 40)."""
    out = [cbor_head(5, len(fields))]
    for name, value in fields.items():
        rows = value if isinstance(value[0], list) else [value]
        numbers = struct.pack(f"<{len(rows) * len(rows[0])}d", *(x for row in rows for x in row))
        if rows is value:
            out += [cbor_head(3, len(name)), name.encode(), b"\xd8\x28\x82\x82", cbor_head(0, len(rows)),
                    cbor_head(0, len(rows[0]))]
        else:
            out += [cbor_head(3, len(name)), name.encode()]
        out += [b"\xd8\x56", cbor_head(2, len(numbers)), numbers]
    return b"".join(out)


def body(count, kind):
    return (to_json if kind == JSON else to_cbor)(states(count))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    """Returns the CPU-time clock of a process in s."""
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)) != 0:
        raise ProcessLookupError(pid)
    return time.clock_gettime(clock.value)


class Server:
    """A process that serves on a port, as a context manager that stops it."""

    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.port = port
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", port), 10).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
        raise RuntimeError(f"{command[0]} did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def processes(self):
        """Returns the processes of the server and of its children."""
        pids = [self.process.pid]
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            return pids + [int(pid) for pid in children.read().split()]

    def cpu(self):
        return sum(map(cpu_seconds, self.processes()))

    def resident(self):
        """Returns the resident memory of the server's own process, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s*(\d+) kB", status.read()).group(1)) * 1024

    def request(self, method, path, content=b"", kind=JSON, keep=None):
        """Sends a request on the connection `keep` or on a new one. Returns status, body, and the size in bytes with
        the head."""
        head = (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                f"Content-Length: {len(content)}\r\n\r\n")
        connection = keep or socket.create_connection(("127.0.0.1", self.port), 60)
        try:
            connection.sendall(head.encode() + content)
            data = b""
            while b"\r\n\r\n" not in data:
                data += self._more(connection)
            top, rest = data.split(b"\r\n\r\n", 1)
            length = int((re.search(rb"Content-Length: *(\d+)", top, re.I) or [b"", b"0"])[1])
            while len(rest) < length:
                rest += self._more(connection)
            return int(top.split()[1]), rest, len(top) + 4 + length
        finally:
            if not keep:
                connection.close()

    @staticmethod
    def _more(connection):
        data = connection.recv(1 << 20)
        if not data:
            raise ConnectionError("the server has closed the connection")
        return data

    def load(self, content, kind, connections, seconds, requests=None, heavy=None, every=0, may_lose=False, stamps=False,
             awake=0):
        """Keeps one request in flight on each connection. `heavy` is (path, body) of a request sent once in `every`
        requests; its latency does not count, its processor time does. Refused requests are errors unless `may_lose`.
        The client polls for answers for `awake` us before it sleeps."""
        path, other_content = heavy or (PATH, b"")
        with tempfile.NamedTemporaryFile() as file, tempfile.NamedTemporaryFile() as other:
            for to, data in ((file, content), (other, other_content)):
                to.write(data)
                to.flush()
            options = ["-t", kind, "-w", str(awake)] + (["-n", str(requests)] if requests else []) + \
                (["-a"] if stamps else []) + (["-m", other.name, "-p", path, "-e", str(every)] if heavy else [])
            before = self.cpu()
            line = subprocess.run([f"{PROGRAMS}/load", *options, str(self.port), PATH, file.name, str(connections),
                                   str(seconds)], capture_output=True, text=True, check=True).stdout
            used = self.cpu() - before
        answered, took, p50, p99, refused, failed, _, *there = map(float, line.split())
        lost = (refused + failed) / max(answered, 1)
        if not answered or lost and not may_lose:
            raise RuntimeError(f"{refused:.0f} of {answered:.0f} requests were refused, {failed:.0f} failed")
        return Load(answered / took, used / answered * 1e6, p50, p99, lost, *there)


class Torqued(Server):
    def __init__(self, *arguments, build=BUILD):
        self.store = tempfile.TemporaryDirectory(prefix="torqued-bench-")  # a temporary store, which Python removes with this object
        port = free_port()
        super().__init__([f"{build}/torqued", "--listen", f"127.0.0.1:{port}", "--store", self.store.name,
                          "--models", "models", "--log-level", "warning", *arguments], port)
        for _ in range(500):
            if self.request("GET", "/readyz")[0] == 200:
                return
            time.sleep(0.02)
        raise RuntimeError("the server does not get ready")

    def tau(self, content, kind):
        """Returns the body of one answer, and its size with the head."""
        status, answer, size = self.request("POST", PATH, content, kind)
        if status != 200:
            raise RuntimeError(f"{PATH} answers {status}: {answer[:200]!r}")
        return answer, size


class Echo(Server):
    """A server that answers every request with `answer_bytes` bytes, head included."""

    head = None  # bytes of the head without the digits of the length

    def __init__(self, answer_bytes):
        if Echo.head is None:
            Echo.head = 0
            with Echo(100) as probe:
                Echo.head = probe.request("POST", "/", b"x")[2] - 100 - len("100")
        size = answer_bytes - Echo.head - len(str(answer_bytes - Echo.head - 4))
        port = free_port()
        super().__init__([f"{PROGRAMS}/echo", str(port), str(size)], port)


class Peer(Server):
    """The Python service; one process is uvicorn's default."""

    def __init__(self, processes):
        port = free_port()
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer", "service.py")
        super().__init__(["/usr/bin/python3", script, str(port), str(processes)], port)

    @staticmethod
    def missing():
        """Returns the modules that the service needs and this machine lacks."""
        wanted = ("fastapi", "uvicorn", "uvloop", "httptools", "PyKDL", "cbor2", "numpy")
        test = "import importlib.util as u, sys; print(*(m for m in sys.argv[1:] if not u.find_spec(m)))"
        return subprocess.run(["/usr/bin/python3", "-c", test, *wanted], capture_output=True, text=True,
                              check=True).stdout.split()
