"""nodes.py [BASE] - measures one node of an optimal control problem: a step of solo12 on its feet, with A and B, over loopback in CBOR.

Each request has 100 nodes: `step` of 100 rows, and `rollout` of one row over 100 consecutive nodes. The bare server of the benchmarks takes the
requests of `step` and returns as many bytes; its time is that of the wire. The servers are measured alternately, on one connection each; figures
are the least median of a turn, and the least processor time of a turn. BASE is the build folder of another commit, measured in the same run. Run
through `make bench-nodes`."""
import re
import socket
import sys
import time

import cbor2
from report import machine, median, table
from servers import CBOR, Echo, Torqued
from wire import REQUESTS, TURNS, request

MODEL, NODES = "solo12", 100
FEET = [{"frame": foot, "axes": ["x", "y", "z"]} for foot in ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")]


def requests(server):
    """Returns {operation: content} with states in typed arrays; the rollout starts at the first row and takes the
    torques of all rows."""
    rows = cbor2.loads(request(server))
    settings = {"step": 0.001, "held": FEET}
    rollout = {"q": first(rows["q"]), "qd": first(rows["qd"]), "torques": rows["tau"]}
    return {"step": cbor2.dumps({**rows, **settings}), "rollout": cbor2.dumps({**rollout, **settings})}


def first(array):
    """Returns the first row of a two-dimensional typed array."""
    (_, columns), values = array.value
    return cbor2.CBORTag(values.tag, values.value[:8 * columns])


def answer(connection, head, room):
    """Sends a request and receives its answer into `room`. Returns the size of the answer with its head."""
    connection.sendall(head)
    size, whole = 0, None
    while whole is None or size < whole:
        got = connection.recv_into(room[size:])
        if not got:
            raise RuntimeError("the server closed the connection")
        size += got
        end = bytes(room[:1024]).find(b"\r\n\r\n") if whole is None else -1
        if end >= 0:
            top = bytes(room[:end])
            if b" 200 " not in top[:16]:
                raise RuntimeError(top.decode())
            whole = end + 4 + int(re.search(rb"Content-Length: *(\d+)", top, re.I)[1])
    return size


def measure(cases, room):
    """Returns {name: (µs of a node, µs of processor time)} of cases (server, request), measured alternately."""
    connections = {name: socket.create_connection(("127.0.0.1", server.port), 60) for name, (server, _) in cases.items()}
    times, used = {name: [] for name in cases}, {name: [] for name in cases}
    for _ in range(TURNS):
        for name, (server, content) in cases.items():
            before, took = server.cpu(), []
            for _ in range(REQUESTS):
                began = time.perf_counter()
                answer(connections[name], content, room)
                took.append(time.perf_counter() - began)
            times[name].append(median(took))
            used[name].append((server.cpu() - before) / REQUESTS)
    for connection in connections.values():
        connection.close()
    return {name: (1e6 / NODES * min(times[name]), 1e6 / NODES * min(used[name])) for name in cases}


def whole(operation, content):
    """Returns the request with its head."""
    return (f"POST /v1/models/{MODEL}/{operation} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {CBOR}\r\nAccept: {CBOR}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n").encode() + content


def main():
    if "--help" in sys.argv:
        print(__doc__)
        return
    room = memoryview(bytearray(1 << 22))
    with Torqued() as server, Torqued(**({"build": sys.argv[1]} if len(sys.argv) > 1 else {})) as base:
        contents = {operation: whole(operation, content) for operation, content in requests(server).items()}
        with socket.create_connection(("127.0.0.1", server.port), 60) as connection:
            size = answer(connection, contents["step"], room)
        with Echo(size) as echo:
            cases = {f"`{operation}`": (server, content) for operation, content in contents.items()}
            if len(sys.argv) > 1:
                cases |= {f"`{operation}`, BASE": (base, content) for operation, content in contents.items()}
            took = measure({**cases, "bare server": (echo, contents["step"])}, room)
    print(f"{machine()}\n\n{NODES} nodes of `{MODEL}` with four held feet in CBOR, {size} bytes received, one connection.\n")
    print(table(["µs per node", "time", "processor time"], [[name, f"{a:.2f}", f"{b:.2f}"] for name, (a, b) in took.items()]))


if __name__ == "__main__":
    main()
