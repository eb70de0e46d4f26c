#!/usr/bin/env python3
"""scale.py - computes on paper how many servers a load needs, and what binds first. SCALE.md has the tables that it prints.

`simulate` computes the throughput of a few servers event by event; tests/bench/replicas.py compares it with real ones.
"""
import heapq
import math

# Inverse dynamics of panda (7 joints), 1000 states in a request. `cpu`: processor time of the server for a state, s, with its share of
# the request. `received`, `sent`: bytes of a state. Measured by tests/bench/replicas.py; cores are those of its machine.
ENCODINGS = {
    "JSON": {"cpu": 0.62e-6, "received": 442, "sent": 139},
    "CBOR": {"cpu": 0.17e-6, "received": 168, "sent": 56},
}
CORES = 16                  # cores of a server
UTILISATION = 0.7           # share of the cores in use at which queues stay short
LINK = 25e9 / 8             # bytes/s of the network of a machine
BALANCER_BYTE = 2.0e-9      # s of processor time of HAProxy for a byte, TLS on both sides
BALANCER_CORES = 16
COMMIT = 3.8e-3             # s of a change in the database; the counter row makes changes follow each other
FOLLOW = 0.3e-3             # s of processor time of the database for one server that reads one change; assumed
RECORD = 20e3               # bytes of a model's record; that of panda has 4 kB
DATABASE_CORES = 16


def needs(states, encoding):
    """Servers, cores, network (bit/s) and balancers for `states` per second."""
    kind = ENCODINGS[encoding]
    machine = min(CORES * UTILISATION / kind["cpu"], LINK * UTILISATION / max(kind["received"], kind["sent"]))
    traffic = states * (kind["received"] + kind["sent"])
    balancer = min(BALANCER_CORES * UTILISATION / BALANCER_BYTE, LINK * UTILISATION)
    return {"servers": math.ceil(states / machine), "cores": states * kind["cpu"] / UTILISATION,
            "network": 8 * states * kind["received"], "balancers": math.ceil(traffic / balancer),
            "bound": "processor" if machine == CORES * UTILISATION / kind["cpu"] else "network"}


def change(servers):
    """Costs of a change of one model with so many servers: bytes, s until all have it, changes per second in the long run."""
    work = servers * FOLLOW / DATABASE_CORES
    spread = servers * RECORD / LINK
    return {"bytes": servers * RECORD, "seconds": COMMIT + max(work, spread), "rate": 1 / max(COMMIT, work, spread)}


def simulate(servers, clients, service, pause):
    """Requests per second of `clients` that each send one request after the other to the server with the fewest, wait for the answer,
    and need `pause` s of their own between two. A server works on one request for `service` s; the others queue there."""
    free_at, load = [0.0] * servers, [0] * servers
    events = [(i * 1e-6, i, -1) for i in range(clients)]       # time, client, the server that has answered it
    heapq.heapify(events)
    done, end = 0, 2000 * service
    while events[0][0] < end:
        now, client, answered = heapq.heappop(events)
        if answered >= 0:
            load[answered] -= 1
            done += 1
            heapq.heappush(events, (now + pause, client, -1))
            continue
        chosen = min(range(servers), key=lambda i: (load[i], free_at[i]))
        load[chosen] += 1
        free_at[chosen] = max(free_at[chosen], now) + service
        heapq.heappush(events, (free_at[chosen], client, chosen))
    return done / end


def tables():
    print("| states/s | encoding | servers | cores | network to the servers, Gbit/s | balancers | what binds a server |")
    print("| --: | --- | --: | --: | --: | --: | --- |")
    for states, encoding in ((1e6, "JSON"), (1e6, "CBOR"), (1e9, "JSON"), (1e9, "CBOR")):
        n = needs(states, encoding)
        print(f"| 10^{math.log10(states):.0f} | {encoding} | {n['servers']} | {n['cores']:.1f} | {n['network'] / 1e9:.3g} | "
              f"{n['balancers']} | {n['bound']} |")
    print("\n| servers | bytes read for a change | ms until all have it | changes/s |")
    print("| --: | --: | --: | --: |")
    for servers in (3, 100, 1000):
        c = change(servers)
        print(f"| {servers} | {c['bytes'] / 1e6:.3g} MB | {1e3 * c['seconds']:.3g} | {c['rate']:.0f} |")


if __name__ == "__main__":
    tables()
