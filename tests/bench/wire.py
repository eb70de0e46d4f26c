"""wire.py [BASE] - measures forward sensitivity of 100 states of solo12 over HTTP in CBOR: its time, and the share of
the wire.

The bare server of the benchmarks takes the same request and returns as many bytes; its time is that of the wire. The
servers take turns on one connection each; figures are the least median of a turn, and the least processor time of a
turn. BASE is the build folder of another commit, measured beside this one. Run through `make bench-wire`."""
import json
import socket
import sys
import time

from report import machine, median, table
from servers import CBOR, Echo, Torqued, to_cbor

MODEL, STATES, REQUESTS, TURNS = "solo12", 100, 40, 15
PATH = f"/v1/models/{MODEL}/forward-sensitivity"


def request(server):
    """Returns 100 states whose numbers all differ."""
    about = json.loads(server.request("GET", f"/v1/models/{MODEL}")[1])

    def rows(names, size):
        units = {".qw": 1.0, ".qx": 0.0, ".qy": 0.0, ".qz": 0.0}
        return [[units.get(name[-3:], size * (0.5 + (7 * i + 3 * state) % 11 / 11)) for i, name in enumerate(names)]
                for state in range(STATES)]

    return to_cbor({"q": rows(about["position_names"], 0.1), "qd": rows(about["velocity_names"], 0.3),
                    "tau": rows(about["velocity_names"], 0.5)})


def takes(server, content, connection):
    """Returns the median of the seconds from the first byte sent to the last byte received, and the size of the answer
    with its head."""
    times = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        status, answer, size = server.request("POST", PATH, content, CBOR, keep=connection)
        times.append(time.perf_counter() - began)
        if status != 200:
            raise RuntimeError(f"{PATH} answers {status}: {answer[:200]!r}")
    return median(times), size


def measure(servers, content):
    """Returns {name: (ms, ms of processor time)} of servers that take turns."""
    connections = {name: socket.create_connection(("127.0.0.1", server.port), 10) for name, server in servers.items()}
    times, used = {name: [] for name in servers}, {name: [] for name in servers}
    for _ in range(TURNS):
        for name, server in servers.items():
            before = server.cpu()
            times[name].append(takes(server, content, connections[name])[0])
            used[name].append((server.cpu() - before) / REQUESTS)
    for connection in connections.values():
        connection.close()
    return {name: (1e3 * min(times[name]), 1e3 * min(used[name])) for name in servers}


def main():
    with Torqued() as server, Torqued(**({"build": sys.argv[1]} if len(sys.argv) > 1 else {})) as base:
        content = request(server)
        with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
            size = takes(server, content, connection)[1]
        with Echo(size) as echo:
            servers = {"torqued": server, "bare server": echo} | ({"BASE": base} if len(sys.argv) > 1 else {})
            times = measure(servers, content)
    wire, moved = times["bare server"]
    print(f"{machine()}\n\nForward sensitivity of {STATES} states of `{MODEL}` in CBOR, {len(content)} bytes sent and {size} "
          "received, one connection.\n")
    print(table(["", "ms", "share of the wire", "processor ms", "share of the wire"],
                [[name, f"{ms:.3f}", f"{wire / ms:.2f}", f"{used:.3f}", f"{moved / used:.2f}"] for name, (ms, used) in times.items()]))


if __name__ == "__main__":
    main()
