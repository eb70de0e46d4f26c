#!/usr/bin/python3
"""crowd.py [SECONDS] - opens 2000 silent connections and 2000 that send single bytes, all from one address, and prints
how long /livez takes.

The server has the first core, this program the others. Probes use new connections, from the address of the crowd and
from another; a client that keeps its connection sends light requests. At the end the program waits until the server has
closed the crowd's connections."""
import argparse
import os
import resource
import select
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "support"))
from harness import Server
from peers import Client
from samples import ASK, PUMA

CROWD, OTHER, KEPT = "127.0.0.2", "127.0.0.3", "127.0.0.4"
MANY, READ_DEADLINE = 2000, 20
HEAD = b"GET /v1 HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"a" * 1000


def connect(server):
    sock = socket.socket()
    sock.bind((CROWD, 0))
    sock.setblocking(False)
    sock.connect_ex(("127.0.0.1", server.port))
    return sock


def probe(server, source):
    began = time.perf_counter()
    client = Client(server.port, 60, source=source)
    status = client.get("/livez").status
    client.close()
    assert status == 200, status
    return time.perf_counter() - began


def drip(sockets, index):
    """Sends one byte on each open connection."""
    for sock in sockets:
        try:
            sock.send(HEAD[index:index + 1])
        except OSError:
            pass


def closed(sockets):
    """Returns the number of connections that the server has closed."""
    poller, n = select.poll(), 0
    for sock in sockets:
        poller.register(sock, select.POLLIN | select.POLLHUP)
    return len(poller.poll(0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=30)
    seconds = parser.parse_args().seconds
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[1:] or cores)
    server = Server("--loops", "1", "--read-deadline", str(READ_DEADLINE), command=("taskset", "-c", str(cores[0])))
    try:
        kept = Client(server.port, 60, source=KEPT)
        kept.post(ASK, PUMA)
        connection, light, probes, silent, dripping = kept.connection.sock, [], {CROWD: [], OTHER: []}, [], []
        began, turn = time.perf_counter(), 0
        while time.perf_counter() < began + seconds:
            for _ in range(100):
                if len(silent) < MANY:
                    silent.append(connect(server))
                    dripping.append(connect(server))
            for source, times in probes.items():
                times.append(probe(server, source))
            started = time.perf_counter()
            assert kept.post(ASK, PUMA).status == 200
            light.append(time.perf_counter() - started)
            if turn % 10 == 0:
                drip(dripping, turn // 10)
            turn += 1
            time.sleep(0.02)
        assert kept.connection.sock is connection, "the connection of another client was closed"
        for source, times in probes.items():
            print(f"/livez from {source}, {'the address of the crowd' if source == CROWD else 'another address'}: "
                  f"{len(times)} probes, longest {1e3 * max(times):.1f} ms")
        print(f"light requests of another client: longest {1e3 * max(light):.1f} ms of {len(light)}")
        deadline = time.perf_counter() + READ_DEADLINE + 10
        while (left := 2 * MANY - closed(silent + dripping)) and time.perf_counter() < deadline:
            time.sleep(0.2)
        print(f"of {2 * MANY} connections of the crowd, {left} are open {time.perf_counter() - began:.0f} s after the first")
    finally:
        server.kill()


if __name__ == "__main__":
    main()
