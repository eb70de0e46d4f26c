#!/usr/bin/python3
"""greedy.py [--seconds S] [--clients N,...] [KIND...] - lets greedy clients of each kind loose on a server, and prints the latencies of a polite
client and of /livez meanwhile.

Each greedy client has an address and a connection of its own on the loopback network. The polite client sends a light request every 4 ms on a
kept connection, alone and beside the crowd. A scene fails if fewer than 99.9 % of its requests have 200, if their 99th percentile is more than
three times that alone, or if /livez takes more than 20 ms; it is then tried once more, since other programs disturb the times. The crowd runs at
a lower priority than the server, as if on other machines, but takes processors of the same one: after a failure the crowd is let loose on a
second server, and the polite client's times at the first, which has no other client then, are what the machine alone causes."""
import argparse
import collections
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e", folder) for folder in ("support", "requests")]
from access import Tokens
from harness import Server
from peers import Client
from samples import ASK, branched
from work_meter import health_port
from worst_cases import MODELS, document, five_bars

POLITE = "127.0.0.2"
LIGHT = {"q": [0, 0.4, -0.3, 0.2, 0.1, 0.6]}
# limits of a drill: ratio of the polite client's percentile to that without greedy clients; latency of /livez in s; share of answers with status
# 200
SLOWER, LIVE, SHARE = 3, 0.02, 0.999
PAUSE, LIVE_EVERY = 0.004, 5
TURN = 0.02                            # s between two checks of a client for actions without an event: it opens, leaves, or sends its next byte
# number of parts of TURN over which the checks of the clients are spread, so that the clients do not act all at once
SLOTS = 20
STARE = 6                              # s for which a greedy client does not read its answer; the server notices this after 5 s
DRIP = 0.1                             # s between two bytes of a slow body


def post(method, path, body, length=None):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode() + body


# --- kinds of greedy clients: each has a request and a use of its connection -------------------------------

def open_mechanism():
    """Returns a five-bar whose left crank turns about an axis that keeps its loop open."""
    model = five_bars(1)
    model["links"][0]["joint"]["axis"] = [0, 1, 0]
    return model


def search(_):
    return post("POST", "/v1/models/panda/inverse-kinematics", {
        "q": [0] * 7, "frame": "panda_link7", "position": [0.75, 0.35, 0.75], "orientation": [0.5, 0.5, 0.5, 0.5], "starts": 1000})


def stick(_):
    many = MODELS["rubbing"][1]
    return post("POST", "/v1/models/rubbing/forward-dynamics", {
        "q": [0.1] * many, "tau": [0.1] * many, "friction_at_rest": "stick"})


def huge(_):
    return post("POST", "/v1/models/arm/inverse-dynamics", {"q": [[0.1, 0.2, 0.3, 0.4]] * 30_000, "outputs": ["tau", "joint_wrenches"]})


KINDS = {  # name of a kind of greedy clients: (request of the i-th client, behaviour)
    "inverse-kinematics": (search, "asks"),
    "inverse-kinematics-closed": (search, "leaves"),
    "stick": (stick, "asks"),
    "slow-bodies": (lambda _: post("POST", ASK, b" " * 300_000, 4_000_000), "drips"),
    "open-mechanisms": (lambda i: post("PUT", f"/v1/models/open{i}", open_mechanism()), "asks"),
    "unauthorized": (lambda _: b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n", "asks"),
    "unread-answers": (huge, "stares"),
}


class Greedy:
    """One of the greedy clients: its connection, and the part of its request that is still to be sent."""

    def __init__(self, crowd, i):
        self.crowd, self.source = crowd, f"127.0.{1 + i // 250}.{1 + i % 250}"
        self.request, self.sock = KINDS[crowd.kind][0](i), None

    def open(self):
        self.sock = socket.socket()
        if self.crowd.behaviour == "stares":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.setblocking(False)
        self.sock.bind((self.source, 0))
        self.sock.connect_ex(("127.0.0.1", self.crowd.port))
        self.begin()
        self.crowd.selector.register(self.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def begin(self):
        self.sent, self.answer, self.since = 0, b"", time.monotonic()

    def watch(self, events):
        if self.crowd.selector.get_key(self.sock).events != events:
            self.crowd.selector.modify(self.sock, events, self)

    def close(self):
        self.crowd.selector.unregister(self.sock)
        self.sock.close()
        self.sock = None

    def act(self, events):
        try:
            if events & selectors.EVENT_WRITE and self.sent < len(self.request):
                self.sent += self.sock.send(self.request[self.sent:self.sent + 65536])
            if self.sent == len(self.request):
                self.watch(selectors.EVENT_READ if self.crowd.behaviour != "stares" else 0)
            if events & selectors.EVENT_READ and not self.read():
                self.close()
        except BlockingIOError:
            pass
        except OSError:
            self.crowd.statuses["cut off"] += 1
            self.close()

    def read(self):
        """Reads a piece of the answer, and asks again at its end. Returns False if the connection is to be closed."""
        piece = self.sock.recv(65536)
        self.answer += piece
        head, _, body = self.answer.partition(b"\r\n\r\n")
        if not piece or b"content-length:" not in head.lower():
            return bool(piece)
        if len(body) < int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]):
            return True
        self.crowd.statuses[int(head[9:12])] += 1
        if b"connection: close" in head.lower():
            return False
        self.begin()
        self.watch(selectors.EVENT_READ | selectors.EVENT_WRITE)
        return True

    def turn(self, now):
        """Performs actions that no event of the socket triggers: opens the connection again, closes it, or sends the next byte of a slow
        body."""
        if not self.sock:
            self.open()
        elif self.crowd.behaviour == "leaves" and self.sent == len(self.request) and now - self.since > TURN:
            self.crowd.statuses["left"] += 1
            self.close()
        elif self.crowd.behaviour == "drips" and self.sent == len(self.request) and now - self.since > DRIP:
            self.since = now
            try:
                self.sock.send(b" ")
            except OSError:
                self.close()
        elif self.crowd.behaviour == "stares" and self.sent == len(self.request) and now - self.since > STARE:
            self.crowd.statuses["stared"] += 1
            self.close()


class Crowd:
    def __init__(self, kind, port, count):
        self.kind, self.port, self.behaviour = kind, port, KINDS[kind][1]
        self.selector, self.statuses = selectors.DefaultSelector(), collections.Counter()
        self.clients = [Greedy(self, i) for i in range(count)]

    def run(self, seconds):
        began, slot = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            if now >= began + slot * TURN / SLOTS:
                for client in self.clients[slot % SLOTS::SLOTS]:
                    client.turn(now)
                slot += 1
            for key, events in self.selector.select(max(0, began + slot * TURN / SLOTS - now)):
                key.data.act(events)
        return self.statuses


# --- the polite client ------------------------------------------------------------------------------------------------

Figures = collections.namedtuple("Figures", "count share p50 p99 live others")


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def behave(server, health, seconds, headers):
    """Is the polite client: sends light requests and requests for /livez for so many seconds. Returns Figures."""
    client, probe = Client(server.port, 30, source=POLITE), Client(health, 30, source=POLITE)
    times, live, statuses = [], [], collections.Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            answer = client.request("POST", ASK, LIGHT, headers)
            statuses[200 if answer.status == 200 else f"{answer.status} {answer.json()['code']}"] += 1
        except OSError as error:
            statuses[type(error).__name__] += 1
            client.close()
        times.append(time.perf_counter() - began)
        if len(times) % LIVE_EVERY == 0:
            began = time.perf_counter()
            if probe.get("/livez").status != 200:
                raise SystemExit("/livez is not 200")
            live.append(time.perf_counter() - began)
        time.sleep(PAUSE)
    client.close()
    probe.close()
    share = statuses.pop(200, 0) / len(times)
    return Figures(len(times), share, percentile(times, 0.5), percentile(times, 0.99), max(live), dict(statuses))


def beside_crowd(port, server, kind, count, seconds, headers):
    """Returns the Figures of a polite client of `server` while greedy clients send to the server at `port`, and the statuses that the greedy
    clients get."""
    crowd = subprocess.Popen(["nice", "-n", "5", sys.executable, os.path.abspath(__file__), "--crowd", str(port),
                              "--clients", str(count), "--seconds", str(seconds + 3), kind], stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    figures = behave(server, health_port(server), seconds, headers)
    statuses = crowd.communicate()[0].strip()
    if crowd.returncode != 0 or not statuses:
        raise SystemExit(f"the crowd has failed with status {crowd.returncode}")
    return figures, statuses


def scene(server, kind, count, seconds, headers):
    """Returns the failures for one kind and number of greedy clients, and prints the figures."""
    alone = behave(server, health_port(server), seconds / 2, headers)
    beside, statuses = beside_crowd(server.port, server, kind, count, seconds, headers)
    ratio = beside.p99 / alone.p99
    print(f"{kind}, {count}: {beside.count} light requests, {100 * beside.share:.2f} % have 200 {beside.others or ''}; p50 {1e3 * alone.p50:.2f} ms "
          f"alone, {1e3 * beside.p50:.2f} beside; p99 {1e3 * alone.p99:.2f}, {1e3 * beside.p99:.2f} ({ratio:.2f} times); "
          f"/livez at most {1e3 * beside.live:.1f} ms; crowd: {statuses}", flush=True)
    return [text for wrong, text in ((beside.share < SHARE, "light requests are refused"), (ratio > SLOWER, "light requests are slow"),
                                     (beside.live > LIVE, "/livez is slow")) if wrong]


def serve(kind, folder):
    """Starts the server of a kind. Returns the server and the headers of the polite client."""
    arguments, headers = ["--health-listen", "127.0.0.1:0"], {}
    if kind == "unauthorized":
        tokens = Tokens(folder)
        arguments, headers = [*arguments, "--tokens", tokens.path], tokens.header("planner")
    server = Server(*arguments)
    if kind != "unauthorized":
        for name, model in (("rubbing", document("rubbing")), ("arm", json.dumps(branched()))):
            answer = server.client().put(f"/v1/models/{name}", model, content_type="application/json")
            if answer.status != 201:
                raise SystemExit(f"{name}: {answer}")
    return server, headers


def show_machine(server, kind, count, seconds, headers):
    """Prints the figures of a server without greedy clients while these load another server on the same machine, for comparison."""
    with tempfile.TemporaryDirectory() as folder:
        second, _ = serve(kind, folder)
        try:
            figures, _ = beside_crowd(second.port, server, kind, count, seconds, headers)
        finally:
            second.kill()
    print(f"{kind}, {count}: with the crowd at a second server p50 {1e3 * figures.p50:.2f} ms, p99 {1e3 * figures.p99:.2f}", flush=True)


def try_kind(kind, counts, seconds):
    """Returns the failures for all numbers of greedy clients of one kind."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        server, headers = serve(kind, folder)
        try:
            for count in counts:
                wrong = scene(server, kind, count, seconds, headers)
                if wrong:
                    time.sleep(5)
                    wrong = scene(server, kind, count, seconds, headers)
                if wrong:
                    show_machine(server, kind, count, seconds, headers)
                failed += [f"{kind}, {count}: {text}" for text in wrong]
        finally:
            server.kill()
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", default="50,500")
    parser.add_argument("--crowd", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS])
    options = parser.parse_args()
    counts = [int(count) for count in options.clients.split(",")]
    if options.crowd:
        statuses = Crowd(options.kinds[0], options.crowd, counts[0]).run(options.seconds)
        print(", ".join(f"{count} {status}" for status, count in statuses.items()) or "no answers")
        return 0
    failed = sum((try_kind(kind, counts, options.seconds) for kind in options.kinds or KINDS), [])
    print(*[f"failed: {line}" for line in failed] or ["all hold"], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
