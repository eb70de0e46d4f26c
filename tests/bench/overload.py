#!/usr/bin/python3
"""overload.py [SECONDS] - sends a server on one core ten times the work it can do, and prints the latencies and refusals of its clients.

The server has the first core, this program the others. There are three scenes: requests of about 20 ms at ten times the capacity; 30 such
requests of a polite client while a greedy one sends on 500 connections; and 40 simulations of 900 s, whose cost the server learns only when it
decodes them, together with requests of known cost. Clients differ by their addresses on the loopback network."""
import argparse
import http.client
import json
import os
import select
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "support"))
from harness import Server
from peers import Client, RawSocket
from samples import chain

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
GREEDY, POLITE, LIGHT = "127.0.0.2", "127.0.0.3", "127.0.0.4"
SIMULATE, LIGHT_PATH = "/v1/models/arm/simulate", "/v1/models/arm/inverse-dynamics"
LINKS = 12


def simulation(steps):
    return {"q": [0.1] * LINKS, "duration": 1e-3 * steps, "step": 1e-3, "samples": 2, "outputs": ["q"]}


def post(path, body):
    text = json.dumps(body) if not isinstance(body, str) else body
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
            + text).encode()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def timed(client, path, body):
    began = time.perf_counter()
    answer = client.post(path, body)
    return answer.status, time.perf_counter() - began


class Light(threading.Thread):
    """Sends one light request after another, with a pause of 5 ms."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client, self.times, self.statuses, self.going = server_client(server, LIGHT), [], set(), True

    def run(self):
        while self.going:
            status, took = timed(self.client, LIGHT_PATH, {"q": [0.1] * LINKS})
            self.times.append(took)
            self.statuses.add(status)
            time.sleep(0.005)

    def stop(self):
        self.going = False
        self.join()
        return self.times


def server_client(server, source):
    return Client(server.port, 120, source=source)


def tune(server):
    """Returns the number of steps of a simulation that takes 20 ms, and the time that it takes, in s."""
    client, steps = server_client(server, POLITE), 50
    for _ in range(8):
        took = statistics.median(timed(client, SIMULATE, simulation(steps))[1] for _ in range(9))
        steps = max(int(steps * 0.02 / took), 2)
    return steps, statistics.median(timed(client, SIMULATE, simulation(steps))[1] for _ in range(21))


def open_loop(server, rate, seconds, body):
    """Sends requests at a fixed rate, independent of the answers. Returns the times of the answers by status."""
    request, poller, free, busy, found = post(SIMULATE, body), select.epoll(), [], {}, {}
    began, sent, last = time.perf_counter(), 0, time.perf_counter() + seconds

    def take(timeout):
        for fd, _ in poller.poll(timeout):
            if fd not in busy:  # the server closed this idle connection so that another could be opened
                idle = next(sock for sock in free if sock.fileno() == fd)
                free.remove(idle)
                poller.unregister(fd)
                idle.close()
                continue
            sock, started, text = busy[fd]
            piece = sock.recv(65536)
            text += piece
            head, _, rest = text.partition(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]) if rest or b"\r\n\r\n" in text else 1
            busy[fd] = (sock, started, text)
            if piece and (b"\r\n\r\n" not in text or len(rest) < length):
                continue
            del busy[fd]
            found.setdefault(int(text[9:12]) if text else 0, []).append(time.perf_counter() - started)
            if piece:
                free.append(sock)
            else:
                poller.unregister(fd)
                sock.close()

    while (now := time.perf_counter()) < last or (busy and now < last + 30):
        if now < last and now >= began + sent / rate:
            if free:
                sock = free.pop()
            else:
                sock = socket.create_connection(("127.0.0.1", server.port), 60, (GREEDY, 0))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                poller.register(sock, select.EPOLLIN)
            busy[sock.fileno()] = (sock, time.perf_counter(), b"")
            sock.sendall(request)
            sent += 1
        take(max(0, min(began + sent / rate - time.perf_counter(), 0.01)) if now < last else 0.05)
    return sent, found, time.perf_counter() - began


def closed_loop(server, body, seconds, connections=4):
    """Returns requests per second of connections that never pause, and the processor time of a request."""
    counts, end = [0] * connections, time.perf_counter() + seconds

    def work(i):
        client = server_client(server, GREEDY)
        while time.perf_counter() < end:
            counts[i] += client.post(SIMULATE, body).status == 200
    spent, began = processor_seconds(server), time.perf_counter()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began), (processor_seconds(server) - spent) / sum(counts)


def overload(server, seconds, steps):
    alone = Light(server)
    alone.start()
    time.sleep(5)
    quiet = percentile(alone.stop(), 0.99)
    capacity, cost = closed_loop(server, simulation(steps), 5)
    before, spent, light = memory(server), processor_seconds(server), Light(server)
    light.start()
    sent, found, took = open_loop(server, 10 * capacity, seconds, simulation(steps))
    busy = percentile(light.stop(), 0.99)
    served, refused = found.get(200, []), found.get(503, [])
    spent = processor_seconds(server) - spent
    print(f"capacity {capacity:.1f}/s at {1e3 * cost:.1f} ms of processor time each; {sent} sent in {seconds} s")
    print(f"goodput {len(served) / took:.1f}/s, {len(served) / took / capacity:.2f} of the capacity, "
          f"{1e3 * spent / max(len(served), 1):.1f} ms of processor time each")
    print(f"503: {len(refused)}, p50 {1e3 * percentile(refused, 0.5):.2f} ms, p99 {1e3 * percentile(refused, 0.99):.2f} ms; "
          f"others: { {status: len(times) for status, times in found.items() if status not in (200, 503)} }")
    print(f"light p99 {1e3 * quiet:.2f} ms alone, {1e3 * busy:.2f} ms under load: {busy / quiet:.2f} times")
    print(f"memory {before:.1f} MiB before, {memory(server):.1f} MiB after")


def behind_greedy(server, steps, alone):
    body_file = os.path.join(server.folder, "body")
    with open(body_file, "w") as file:
        file.write(json.dumps(simulation(steps)))
    greedy = subprocess.Popen([os.path.join(BUILD, "tests/bench/load"), str(server.port), SIMULATE, body_file, "500", "3600"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        client = server_client(server, POLITE)
        results = [timed(client, SIMULATE, simulation(steps)) for _ in range(30)]
    finally:
        greedy.kill()
        greedy.wait()
    times = [took for status, took in results if status == 200]
    print(f"30 polite requests behind 500 greedy connections: {len(times)} served, median "
          f"{statistics.median(times) / alone:.2f}, longest {max(times) / alone:.2f} times that alone ({1e3 * alone:.1f} ms)")


def disguised(server, steps):
    long = json.dumps({"q": [0.1] * LINKS, "tolerance": 1e-10, "samples": 2})[:-1] + ', "\\u0064uration": 900}'
    held = []
    for _ in range(40):
        raw = RawSocket(server.port, 120, source=GREEDY)
        raw.send(post(SIMULATE, long))
        held.append(raw)
    time.sleep(0.5)
    for source, name in ((POLITE, "another client"), (GREEDY, "the same client")):
        client, results = server_client(server, source), []
        for _ in range(50):
            results.append(timed(client, SIMULATE, simulation(steps)))
            time.sleep(0.05)
        statuses = {status: sum(s == status for s, _ in results) for status, _ in results}
        print(f"beside 40 disguised simulations of 900 s, {name}: {statuses}, longest {1e3 * max(t for _, t in results):.0f} ms")
    for raw in held:
        raw.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=30)
    seconds = parser.parse_args().seconds
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[1:] or cores)
    server = Server("--workers", "1", "--loops", "1", "--queue", "1", "--client-connections", "1000",
                    command=("taskset", "-c", str(cores[0])))
    try:
        server_client(server, POLITE).put("/v1/models/arm", chain(LINKS))
        steps, alone = tune(server)
        overload(server, seconds, steps)
        behind_greedy(server, steps, alone)
        disguised(server, steps)
    finally:
        server.kill()


if __name__ == "__main__":
    main()
