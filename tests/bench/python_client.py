#!/usr/bin/python3
"""Compares the Python client with the bare exchange of the same bytes: 10 000 states of the Panda, torques and torque rates.

Every round sends the request once in each way, so that all ways share what else the machine does:

    bare      the prebuilt body on the same connection; the answer is read into one buffer and not decoded
    client    arrays in, arrays out
    cbor2     the same with a general CBOR library and http.client
    json      the same with the json module and http.client

Prints the medians in ms and the median of the ratio to `bare`, round by round.
"""
import argparse
import http.client
import json
import os
import statistics
import sys
import time

import cbor2
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "api", "clients", "python", "src"))
import torqued  # noqa: E402
from torqued import calls  # noqa: E402

PATH = "/v1/models/panda/torque-derivative"
NAMES = ("q", "qd", "qdd", "qddd")


def bare(client, fields):
    """Sends prebuilt bytes and reads the answer, on the connection that the client keeps."""
    call = calls.evaluation("panda", "torque-derivative", fields)
    request = b"".join(map(bytes, call.buffers("", client._common)))
    kept, answer = client._pool.idle[-1].socket, memoryview(bytearray(1 << 22))

    def exchange():
        kept.settimeout(60)
        kept.sendall(request)
        got, length = 0, None
        while length is None or got < length:
            got += kept.recv_into(answer[got:])
            if length is None:
                head, found, _ = bytes(answer[:min(got, 2048)]).lower().partition(b"\r\n\r\n")
                length = len(head) + 4 + int(head.partition(b"content-length:")[2].split()[0]) if found else None
    return exchange


def general(port, fields, media_type, encode, decode):
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def exchange():
        connection.request("POST", PATH, encode(fields), {"Content-Type": media_type})
        return decode(connection.getresponse().read())
    return exchange


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--states", type=int, default=10000)
    options = parser.parse_args()
    draw = np.random.default_rng(1)
    fields = {name: draw.uniform(-1, 1, (options.states, 7)) for name in NAMES}
    with torqued.serve(os.path.join(ROOT, "build", "torqued"), listen="127.0.0.1:0") as server:
        port = int(server.log().rpartition('"address":"127.0.0.1:')[2].split('"')[0])
        with torqued.Client(f"http://127.0.0.1:{port}") as client:
            panda = client.model("panda")
            ways = {"bare": bare(client, fields), "client": lambda: panda.torque_derivative(**fields),
                    "cbor2": general(port, fields, "application/cbor", lambda f: cbor2.dumps(f, default=typed), typed_back),
                    "json": general(port, fields, "application/json",
                                    lambda f: json.dumps({name: rows.tolist() for name, rows in f.items()}),
                                    lambda body: {name: np.array(rows) for name, rows in json.loads(body).items()})}
            measure(ways, options.rounds)


def typed(encoder, array):
    encoder.encode(cbor2.CBORTag(40, [list(array.shape), cbor2.CBORTag(86, array.tobytes())]))


def typed_back(body):
    return {name: np.frombuffer(value.value[1].value).reshape(value.value[0]) for name, value in cbor2.loads(body).items()}


def measure(ways, rounds):
    times = {name: [] for name in ways}
    for turn in range(rounds):
        for name, exchange in ways.items():
            if name in ("json",) and turn % 10:
                continue  # left out: this way is slow, and its median settles after fewer rounds
            started = time.perf_counter()
            exchange()
            times[name].append(time.perf_counter() - started)
    for name, seconds in times.items():
        ratios = [a / b for a, b in zip(seconds, times["bare"][::10] if len(seconds) < rounds else times["bare"])]
        print(f"{name:8} {1e3 * statistics.median(seconds):8.3f} ms   {statistics.median(ratios):6.2f} x bare")


if __name__ == "__main__":
    main()
