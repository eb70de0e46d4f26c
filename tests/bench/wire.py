"""wire.py [BASE] - measures forward sensitivity of 100 states of solo12 over HTTP in CBOR: its time, and the share of the wire. wire.py formats
[BASE] compares the formats of bodies, both ways: inverse dynamics of 1000 states of a Panda, and of one.

The bare server of the benchmarks takes the same request and returns as many bytes; its time is that of the wire. The servers are measured
alternately, on one connection each; figures are the least median of a turn, and the least processor time of a turn. BASE is the build folder of
another commit, measured in the same run. Run through `make bench-wire`."""
import json
import socket
import struct
import sys
import time

from report import machine, median, table
from servers import CBOR, JSON, Echo, Torqued, cbor_head, states, to_cbor
from servers import PATH as INVERSE_DYNAMICS

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
    """Returns {name: (ms, ms of processor time)} of servers that are measured alternately."""
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


# --- formats of bodies ----------------------------------------------------------------------------------------------

def nested(fields, array, text, number):
    """Returns the members of a map of nested arrays. `array` writes the head of an array of a length, `text` a name, `number` an innermost
    array of numbers."""
    def value(v):
        return array(len(v)) + b"".join(map(value, v)) if isinstance(v[0], list) else number(v)
    return b"".join(text(name) + value(v) for name, v in fields.items())


def big_endian(first, values):
    return b"".join(first + struct.pack(">d", x) for x in values)


def bodies(count):
    """{format: (body, its media type, Accept)}"""
    fields = states(count)
    cbor_text = lambda name: cbor_head(3, len(name)) + name.encode()
    cbor_array = lambda n: cbor_head(4, n)
    packed = lambda n: bytes([0x90 | n]) if n < 16 else b"\xdc" + n.to_bytes(2, "big")
    typed = nested(fields, cbor_array, cbor_text, lambda v: b"\xd8\x56" + cbor_head(2, 8 * len(v)) + struct.pack(f"<{len(v)}d", *v))
    plain = nested(fields, cbor_array, cbor_text, lambda v: cbor_array(len(v)) + big_endian(b"\xfb", v))
    msgpack = nested(fields, packed, lambda name: bytes([0xA0 | len(name)]) + name.encode(),
                     lambda v: packed(len(v)) + big_endian(b"\xcb", v))
    return {"JSON": (json.dumps(fields).encode(), JSON, JSON),
            "CBOR, typed rows": (b"\xa3" + typed, CBOR, f"{CBOR}; arrays=typed"),
            "CBOR, multidimensional": (to_cbor(fields), CBOR, f"{CBOR}; arrays=multidimensional"),
            "CBOR, plain": (b"\xa3" + plain, CBOR, f"{CBOR}; arrays=plain"),
            "MessagePack": (b"\x83" + msgpack, "application/vnd.msgpack", "application/vnd.msgpack")}


def turn_of(server, content, kind, accept, connection, requests):
    """Returns the least seconds of some requests."""
    head = (f"POST {INVERSE_DYNAMICS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nAccept: {accept}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n").encode()
    times = []
    for _ in range(requests):
        began = time.perf_counter()
        connection.sendall(head + content)
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(1 << 20)
        answered, _, rest = got.partition(b"\r\n\r\n")
        left = int(answered.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) - len(rest)
        while left > 0:
            left -= len(connection.recv(1 << 20))
        times.append(time.perf_counter() - began)
        if not answered.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{server}: {answered[:200]!r}")
    return min(times)


def formats(servers, count, requests, turns):
    """Returns {(name, format): seconds}: the median over turns of the least time of a turn; servers and formats are measured alternately."""
    connections = {name: socket.create_connection(("127.0.0.1", server.port), 10) for name, server in servers.items()}
    times = {}
    for turn in range(turns):
        for form, (content, kind, accept) in bodies(count).items():
            for name in sorted(servers, reverse=turn % 2 == 1):
                times.setdefault((name, form), []).append(turn_of(name, content, kind, accept, connections[name], requests))
    for connection in connections.values():
        connection.close()
    return {key: median(values) for key, values in times.items()}


def compare_formats(base):
    print(f"{machine()}\n\nInverse dynamics of the Panda, request and answer in one format, one connection.")
    with Torqued() as server, Torqued(**({"build": base} if base else {})) as other:
        servers = {"torqued": server} | ({"BASE": other} if base else {})
        for count, requests, turns in ((1000, 10, 40), (1, 100, 40)):
            took = formats(servers, count, requests, turns)
            rows = [[form, *(f"{1e3 * took[name, form]:.4f}" for name in servers),
                     f"{took['torqued', form] / took['torqued', 'CBOR, typed rows']:.2f}",
                     *([f"{took['torqued', form] / took['BASE', form]:.3f}"] if base else [])] for form in bodies(1)]
            print(f"\nBatches of {count}:\n" if count > 1 else "\nOne state:\n")
            print(table(["", *(f"{name}, ms" for name in servers), "of typed rows", *(["of BASE"] if base else [])], rows))


# --- the wire -------------------------------------------------------------------------------------------------------

def main():
    if sys.argv[1:2] == ["formats"]:
        compare_formats(sys.argv[2] if len(sys.argv) > 2 else None)
        return
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
