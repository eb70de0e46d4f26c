"""Measures the work of a server in processor time, which the load of the machine does not change: of one request before and after its deadline,
and of each turn of an event loop."""
import glob
import re
import select
import socket
import time

from peers import Client

CALM = 0.03      # s without work after which a server counts as idle
ENOUGH = 300     # s after which a test gives up


class Outcome:
    """The answer to a request, and the work for it. `late`: s of processor time after the deadline or the disconnect. `held`: number of turns of
    a loop that took more than 2 ms of processor time. `threads`: numbers of requests by the kind of thread that evaluated them."""

    def __init__(self, status, late, held, threads):
        self.status, self.late, self.held, self.threads = status, late, held, threads

    def __repr__(self):
        return (f"{self.status or 'disconnected'}, {1e3 * self.late:.0f} ms of work after the end, on {'/'.join(self.threads) or 'no thread'}, "
                f"{self.held} turns of a loop above 2 ms")


def health_port(server):
    """Returns the port of --health-listen. A thread of its own answers there, so that a request for the metrics takes no time of the measured
    event loops."""
    server.await_log('"for":"health"')
    said = next(event for event in server.events() if event["event"] == "listening" and event.get("for") == "health")
    return int(said["address"].rpartition(":")[2])


class WorkMeter:
    """Measures a server (harness.Server) that has --health-listen."""

    def __init__(self, server):
        self.server = server
        self.client = server.client(ENOUGH)
        self.probe = Client(health_port(server), ENOUGH)

    def close(self):
        self.client.close()
        self.probe.close()

    def work(self):
        """Returns the processor time, in s, of all threads of the server."""
        sum = 0
        for path in glob.glob(f"/proc/{self.server.process.pid}/task/*/schedstat"):
            try:
                with open(path) as file:
                    sum += int(file.read().split()[0])
            except OSError:  # the thread has ended
                pass
        return sum * 1e-9

    def await_calm(self):
        """Waits until the server has nothing to do. Returns its processor time."""
        give_up, since, before = time.monotonic() + ENOUGH, time.monotonic(), self.work()
        while time.monotonic() - since < CALM or self.is_running():
            time.sleep(0.005)
            now = self.work()
            if now - before > 1e-4:
                since = time.monotonic()
            before = now
            if time.monotonic() > give_up:
                raise AssertionError(f"the server works on after {ENOUGH} s")
        return before

    def is_running(self):
        """True if a thread of the server runs or waits for a core."""
        for path in glob.glob(f"/proc/{self.server.process.pid}/task/*/stat"):
            try:
                with open(path) as file:
                    if file.read().rpartition(")")[2].split()[0] == "R":
                        return True
            except OSError:
                pass
        return False

    def figures(self):
        """Returns the number of turns of a loop above 2 ms, and the requests of each kind of thread."""
        page = self.probe.get("/metrics").text
        longest = {bound: int(count) for bound, count in re.findall(r'^torqued_loop_turn_seconds_bucket{le="(.*)"} (\d+)$', page, re.M)}
        runs = {thread: int(count) for thread, count in re.findall(r'^torqued_runs_total{thread="(\w+)"} (\d+)$', page, re.M)}
        return longest["+Inf"] - longest["0.002"], runs

    def rest(self):
        """Waits until the server has nothing to do, and returns its figures. The thread that answers this request is not measured."""
        self.await_calm()
        return self.figures()

    def begin(self, row, timeout=None):
        """Sends the request of a row. Returns the socket and the time when the head was sent."""
        body = row.body() or b""
        head = f"{row.method} {row.target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {row.content_type}\r\n"
        if timeout:
            head += f"Request-Timeout: {timeout}\r\n"
        sock = socket.create_connection(("127.0.0.1", self.server.port), ENOUGH)
        began = time.monotonic()
        try:
            sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except ConnectionError:
            pass  # refused before the body was sent
        return sock, began

    @staticmethod
    def answered(sock, seconds):
        return bool(select.select([sock], [], [], max(0, seconds))[0])

    def ask(self, row, deadline):
        """Sends the request of a row and measures it."""
        before = self.rest()
        sock, began = self.begin(row, deadline)
        with sock:
            in_time = self.answered(sock, began + deadline - time.monotonic())
            at = self.work()
            if not in_time and not self.answered(sock, ENOUGH):
                raise AssertionError(f"{row.name}: no answer after {ENOUGH} s")
            late = 0 if in_time else self.work() - at
            answer = sock.recv(4096)
        if not answer:
            raise AssertionError(f"{row.name}: the connection was closed without an answer\n{self.server.log()[-2000:]}")
        self.await_calm()
        return self.summed(int(answer.split()[1]), late, before)

    def abandon(self, row, seconds):
        """Sends the request of a row, and closes the connection after so many seconds."""
        before = self.rest()
        sock, began = self.begin(row)
        with sock:
            answered = self.answered(sock, began + seconds - time.monotonic())
            at = self.work()
        late = self.await_calm() - at
        return self.summed(200 if answered else 0, late, before)

    def summed(self, status, late, before):
        held, runs = self.figures()
        threads = [thread for thread in runs if runs[thread] > before[1].get(thread, 0)]
        return Outcome(status, late, max(0, held - before[0]), threads)
