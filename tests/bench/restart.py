#!/usr/bin/python3
"""restart.py [MODELS] - prints how long a server with a full store takes from its start until it is ready.

The store is on a file system in memory, so the time is that of reading the records and preparing their models."""
import argparse
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "support"))
from harness import BINARY, MODELS, ROOT, Server
from peers import Client
from samples import chain

RUNS = 5
LOOPS = ("delta", "five_bar", "four_bar", "hua", "robotiq_2f_85", "stewart")
LINKS, JOINTS = 2048, 512  # the largest possible model: the default of --max-links, and the limit of degrees of freedom


def bundled(names):
    documents = []
    for name in names:
        with open(os.path.join(ROOT, "models", name + ".json"), encoding="utf-8") as file:
            documents.append(json.load(file))
    return documents


def largest():
    document = chain(JOINTS)
    document["links"] += [{"name": f"f{i}", "parent": f"l{i % JOINTS}", "joint": {"name": f"g{i}", "type": "fixed"},
                           "inertial": document["links"][0]["inertial"]} for i in range(LINKS - JOINTS)]
    return document


def trees():
    return [name[:-5] for name in sorted(os.listdir(os.path.join(ROOT, "models")))
            if name.endswith(".json") and name[:-5] not in LOOPS]


def fill(documents, n):
    """Stores `n` models with a server and stops it; the server's folder contains the store."""
    server = Server("--max-models", "2000", "--model-memory", "8G")
    client = server.client()
    for i in range(n):
        assert client.put(f"/v1/models/m{i}", documents[i % len(documents)]).status == 201
    client.close()
    server.process.terminate()
    server.process.wait()
    return server


def start(server):
    """Returns the seconds from the start of the process until /readyz answers 200, and the MiB of the process then."""
    path = os.path.join(server.folder, "restarted")
    with open(path, "wb") as log:
        began = time.perf_counter()
        process = subprocess.Popen([BINARY, "--listen", f"127.0.0.1:{server.port}", "--store", "store", *MODELS, "--max-models",
                                    "2000", "--model-memory", "8G"], cwd=server.folder, stdout=log, stderr=log)
    while True:
        try:
            client = Client(server.port, 60)
            ready = client.get("/readyz").status == 200
            client.close()
            if ready:
                break
        except OSError:
            pass
        time.sleep(0.005)
    took = time.perf_counter() - began
    with open(f"/proc/{process.pid}/status") as status:
        memory = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
    process.terminate()
    process.wait()
    return took, memory


def measure(name, documents, n):
    server = fill(documents, n)
    try:
        times, memory = zip(*(start(server) for _ in range(RUNS)))
        print(f"{n} models, {name}: ready after {sorted(times)[RUNS // 2]:.2f} s, {max(memory):.0f} MiB")
    finally:
        server.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=int, nargs="?", default=1024)
    n = parser.parse_args().models
    measure("bundled trees in turn", bundled(trees()), n)
    measure("humanoid", bundled(["humanoid"]), n)
    measure("bundled mechanisms with loops in turn", bundled(LOOPS), n)
    measure(f"the largest: {JOINTS} joints, {LINKS} links", [largest()], n // 8)


if __name__ == "__main__":
    main()
