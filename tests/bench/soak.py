"""soak.py - checks that resident memory stays constant over millions of requests. Run through `make soak`.

SOAK_REQUESTS (10 million) are sent in fifty slices of fresh connections: one state in JSON and in CBOR, small batches in both formats, requests
that are refused, and models put and deleted. The first tenth warms up. After that, no slice of the later half may leave more memory in use than
the maximum of the earlier half plus 1 %. Prints the memory after each slice; exits with 1 if memory grew."""
import os
import sys
import time

from report import FOLDER, machine, plot
from servers import CBOR, JSON, PATH, Torqued, body

REQUESTS = int(float(os.environ.get("SOAK_REQUESTS", 1e7)))
SLICES = 50
# states, encoding, connections, fraction of a slice's requests
MIX = ((1, JSON, 16, 0.6), (1, CBOR, 64, 0.3), (20, JSON, 4, 0.05), (20, CBOR, 120, 0.05))


def refused(server, count):
    for content in (b"{", b'{"q":[0]}', b'{"q":[0,0,0,0,0,0,1e999]}', b'{"q":"x"}') * count:
        if server.request("POST", PATH, content)[0] not in (400, 422):
            raise RuntimeError(f"{content!r} was not refused")


def turn_over(server, document, count):
    for i in range(count):
        name = f"/v1/models/m{i % 7}"
        answers = [server.request(method, name, content)[0] for method, content in (("PUT", document), ("DELETE", b""))]
        if answers != [201, 204]:
            raise RuntimeError(f"PUT and DELETE of {name} answer {answers}")


def one_slice(server, document, contents):
    sent = 0
    for (states, kind, connections, share), content in zip(MIX, contents):
        number = max(connections, int(share * REQUESTS / SLICES))
        server.load(content, kind, connections, 600, requests=number)
        sent += number
    refused(server, 5)
    turn_over(server, document, 5)
    return sent + 20 + 10


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with open("models/panda.json", "rb") as file:
        document = file.read()
    contents = [body(states, kind) for states, kind, _, _ in MIX]
    sent, began, points = 0, time.monotonic(), []
    print(machine(), flush=True)
    with Torqued() as server:
        for _ in range(SLICES):
            sent += one_slice(server, document, contents)
            points.append((sent, server.resident() / 1e6))
            print(f"{sent} requests, {time.monotonic() - began:.0f} s: {points[-1][1]:.2f} MB", flush=True)
    plot("soak", "Resident memory", "requests", "MB", {"torqued": tuple(zip(*points))}, logarithmic="none")
    resident = [mb for _, mb in points[SLICES // 10:]]
    early, late = max(resident[:len(resident) // 2]), max(resident[len(resident) // 2:])
    print(f"{sent} requests: at most {early:.2f} MB, later {late:.2f} MB")
    return 0 if late <= 1.01 * early else 1


if __name__ == "__main__":
    sys.exit(main())
