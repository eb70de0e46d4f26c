"""Measures the service on loopback: compared with a bare server that transfers the same bytes and with a Python service, with heavy requests
among light ones, against batch size and number of workers; and the memory of connections and models."""
import json
import os
import socket
import time

from report import median, middle_ratio, plot, table
from servers import CBOR, JSON, PATH, STATE, Echo, Peer, Torqued, body, to_json

KINDS = {JSON: "JSON", CBOR: "CBOR"}


def count(number):
    """Formats 1000 as 1 000."""
    return f"{number:,}".replace(",", " ")


# Time in us for which the client polls for answers before it sleeps, in comparisons with the bare server. In these runs each server has one busy
# thread, and the client has its own core. If the client slept, often only one server of a pair would pay for waking it. In comparisons with the
# Python service and in a mixed load all cores have work, including the client's; there the client sleeps at once.
AWAKE = 100 if len(os.sched_getaffinity(0)) > 1 else 0


def take_turns(servers, content, kind, connections, seconds, rounds, **options):
    """Runs the servers alternately, so that a disturbance affects all of them. Returns a list of Load for each server. One run of each is enough
    if a run lasts several times longer than `seconds`, because each connection gets at least one answer.
    """
    turns, began = [], time.monotonic()
    for _ in range(rounds):
        turns.append([server.load(content, kind, connections, seconds, **options) for server in servers])
        if time.monotonic() - began > 4 * len(servers) * seconds and len(turns) == 1:
            break
    return [list(runs) for runs in zip(*turns)]


def middle(runs, field):
    return median([getattr(run, field) for run in runs])


def ratio(ours, theirs, field):
    return middle_ratio([getattr(run, field) for run in ours], [getattr(run, field) for run in theirs])


def service(seconds, rounds):
    """Measures 1, 100 and 10 000 states in JSON and CBOR on 1 to 512 connections, compared with the echo server. Figures: the ratios of rate,
    CPU and latencies, and whether any request was refused, by states, encoding and connections."""
    figures, parts, curves = {}, [], {}
    with Torqued() as server:
        for states in (1, 100, 10000):
            for kind, name in KINDS.items():
                content, rows = body(states, kind), []
                size = server.tau(content, kind)[1]
                with Echo(size) as echo:
                    for connections in (1, 16, 120, 512):
                        o, e = take_turns((server, echo), content, kind, connections, seconds, rounds, may_lose=True,
                                          awake=AWAKE)
                        key = states, name, connections
                        figures[key] = {field: ratio(o, e, field) for field in ("rate", "cpu", "p50", "p99")}
                        rows.append(service_row(connections, o, e, figures[key]))
                        curves.setdefault(f"{name}, {count(states)} states" if states > 1 else f"{name}, one state", []) \
                            .append((connections, states * middle(o, "rate")))
                head = f"{len(content)} bytes of request body, {size} of answer with its head"
                parts.append(f"### {count(states)} state{'s' if states > 1 else ''}, {name}: {head}\n\n" + table(
                    ["connections", "requests/s", "echo", "ratio", "CPU µs/request", "echo", "ratio", "p50 / p99 µs",
                     "echo", "ratio of p50", "lost"], rows))
    plot("connections", "States per second against connections", "connections", "states per second",
         {label: tuple(zip(*points)) for label, points in curves.items()})
    return (f"Inverse dynamics of `panda`; the echo server (libmicrohttpd on the same loop code) reads and writes as many "
            f"bytes. Loopback, keep-alive, closed loop, the client on the same machine; default settings, no log line per "
            f"request; medians of {rounds} interleaved pairs of {seconds:g} s runs, of one pair where a request on each "
            f"connection takes several times longer. The client polls for {AWAKE} µs before it sleeps.\n\n" + "\n\n".join(parts)), figures


def service_row(connections, ours, theirs, ratios):
    fields = "rate", "cpu", "p50", "p99", "lost"
    o, e = ({field: middle(runs, field) for field in fields} for runs in (ours, theirs))
    return [connections, f"{o['rate']:.0f}", f"{e['rate']:.0f}", f"{ratios['rate']:.2f}", f"{o['cpu']:.1f}",
            f"{e['cpu']:.1f}", f"{ratios['cpu']:.2f}", f"{o['p50']:.0f} / {o['p99']:.0f}",
            f"{e['p50']:.0f} / {e['p99']:.0f}", f"{ratios['p50']:.2f}", f"{100 * o['lost']:.0f} %" if o["lost"] else ""]


def batches(seconds, rounds):
    """Measures cost against batch size, with enough connections to keep the server busy. Figures: CPU in us, ratios of
    CPU and rate, by states and encoding."""
    figures, rows, curves = {}, [], {}
    with Torqued() as server:
        for states in (1, 10, 100, 1000, 10000, 100000):
            for kind, name in KINDS.items():
                content = body(states, kind)
                size = server.tau(content, kind)[1]
                with Echo(size) as echo:
                    o, e = take_turns((server, echo), content, kind, 4, seconds, rounds, awake=AWAKE)
                cpu, rate = middle(o, "cpu"), middle(o, "rate")
                figures[states, name] = {"cpu": cpu, "cpu ratio": ratio(o, e, "cpu"), "rate ratio": ratio(o, e, "rate")}
                moved = len(content) + size
                rows.append([count(states), name, count(moved), f"{cpu:.1f}", f"{middle(e, 'cpu'):.1f}",
                             f"{figures[states, name]['cpu ratio']:.2f}", f"{1e3 * cpu / states:.0f}",
                             f"{states * rate:.3g}", f"{moved * rate / 1e6:.0f}", f"{moved * middle(e, 'rate') / 1e6:.0f}",
                             f"{figures[states, name]['rate ratio']:.2f}"])
                for label, value in ((name, cpu), (f"echo, as many bytes ({name})", middle(e, "cpu"))):
                    curves.setdefault(label, []).append((states, 1e3 * value / states))
    plot("batch", "CPU per state against batch size", "states in a request", "ns of CPU per state",
         {label: tuple(zip(*points)) for label, points in curves.items()})
    return ("Inverse dynamics of `panda` on four connections; medians of interleaved pairs. CPU is that of the whole "
            "server process, reading and writing sockets included.\n\n" +
            table(["states", "", "bytes moved", "CPU µs/request", "echo", "ratio", "CPU ns/state", "states/s", "MB/s",
                   "echo", "ratio"], rows)), figures


def agree(server, peer):
    """Returns the greatest difference between the torques of both services, relative to the largest torque."""
    ours, theirs = (json.loads(s.request("POST", PATH, to_json(STATE))[1])["tau"] for s in (server, peer))
    return max(abs(a - b) for a, b in zip(ours, theirs)) / max(map(abs, ours))


# Numbers of states of a request, each with the numbers of connections to try.
BESIDE_PYTHON = (1, (1, 4, 16, 64)), (100, (4, 16)), (1000, (4, 16)), (10000, (4,))


def python(seconds, rounds):
    """Compares with the Python service: both as installed (uvicorn with one process), and both with all cores. Figures, by states and encoding:
    torqued's states per second divided by the service's, as installed and with all cores, and the service's CPU time per request divided by
    torqued's, as installed. Each server runs with the number of connections at which it is fastest."""
    missing = Peer.missing()
    if missing:
        return f"Not installed: {', '.join(missing)} (tests/deps bench).", {}
    figures, every, best, cores = {}, [], [], len(os.sched_getaffinity(0))
    with Torqued() as ours, Peer(1) as peer, Torqued("--loops", str(cores), "--workers", str(cores)) as whole, \
            Peer(cores) as peers:
        apart = agree(ours, peer)
        if not apart < 1e-9:
            raise RuntimeError(f"the Python service's torques differ by {apart:.1e}")
        for states, numbers in BESIDE_PYTHON:
            for kind, name in KINDS.items():
                runs = {c: take_turns((peer, ours, peers, whole), body(states, kind), kind, c, seconds, rounds)
                        for c in numbers}
                every += [python_row(states, name, c, of) for c, of in runs.items()]
                figures[states, name], row = at_their_best(states, runs)
                best.append([count(states), name, *row])
    return (f"Inverse dynamics of `panda` by PyKDL behind FastAPI, uvicorn, uvloop and httptools. As each comes: uvicorn is one "
            f"process, ours one loop and, beside it, workers for the other cores. All cores: {cores} processes of uvicorn with a "
            f"listening socket each, ours with `--loops {cores} --workers {cores}`. The client, which shares the cores, sleeps "
            f"between answers; medians of {rounds} runs that take turns. Python's torques differ from ours by {apart:.0e} of "
            f"the largest.\n\nEvery server at the number of connections, in brackets, where it does most:\n\n" +
            table(["states", "", "as each comes: Python, states/s", "ours", "times", "all cores: Python, states/s", "ours",
                   "times", "CPU time per request, as each comes", "all cores"], best) + "\n\nAll of them:\n\n" +
            table(["states", "", "connections", "Python, states/s", "ours", "Python, all cores", "ours, all cores",
                   "CPU µs/request, in this order", "p50 µs"], every)), figures


def python_row(states, name, connections, runs):
    return [count(states), name, connections] + [f"{states * middle(r, 'rate'):.4g}" for r in runs] + \
        [" / ".join(f"{middle(r, field):.0f}" for r in runs) for field in ("cpu", "p50")]


def at_their_best(states, runs):
    """Returns the ratios and a row of a table, from runs by connections of (peer, torqued, peers with all cores,
    torqued with all cores)."""
    where = [max(runs, key=lambda c: middle(runs[c][i], "rate")) for i in range(4)]
    rate, cpu = ([middle(runs[c][i], field) for i, c in enumerate(where)] for field in ("rate", "cpu"))
    times = {"as each comes": rate[1] / rate[0], "all cores": rate[3] / rate[2], "CPU": cpu[0] / cpu[1]}
    texts = [f"{states * r:.4g} ({c})" for r, c in zip(rate, where)]
    return times, [*texts[:2], f"{times['as each comes']:.1f}×", *texts[2:], f"{times['all cores']:.1f}×",
                   f"{times['CPU']:.1f}×", f"{cpu[2] / cpu[3]:.1f}×"]


def takes(server, path, content):
    """Returns the shortest of five times, in ms."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        status, answer, _ = server.request("POST", path, content)
        times.append(1e3 * (time.perf_counter() - start))
        if status != 200:
            raise RuntimeError(f"{path} answers {status}: {answer[:200]!r}")
    return min(times)


def simulation(steps):
    return to_json({"q": STATE["q"], "duration": 1e-3 * steps, "step": 1e-3, "samples": 2})


# Heavy requests: path, function from a size to the request's body, description.
HEAVY = {
    "computing": ("/v1/models/panda/simulate", simulation, "a simulation of {} steps, with {} bytes of request"),
    "moving": (PATH, lambda rows: body(rows, JSON), "a batch of {} states, with {} bytes of request"),
}


def heavy_request(server, how, milliseconds):
    """Returns path and body of a request that takes about `milliseconds`, and its description."""
    path, make, what = HEAVY[how]
    size = 1000
    while (took := takes(server, path, make(size))) < 0.8 * milliseconds:
        size = int(size * min(4, 1.1 * milliseconds / took))
    content = make(size)
    return (path, content), f"{what.format(count(size), count(len(content)))}, {took:.0f} ms"


def mixed(seconds, rounds):
    """Measures the latency of one-state requests, without other requests, and with one request in a hundred that takes 20 ms. Figures: the ratio
    of p99 by kind and connections."""
    figures, rows, said = {}, [], []
    with Torqued() as server:
        light = body(1, JSON)
        for how in HEAVY:
            heavy, what = heavy_request(server, how, 20)
            said.append(f"{how}: {what}")
            for connections in (4, 16, 64):
                alone, among = [], []
                for _ in range(rounds):
                    alone.append(server.load(light, JSON, connections, seconds, stamps=True))
                    among.append(server.load(light, JSON, connections, seconds, heavy=heavy, every=100, stamps=True))
                figures[how, connections] = ratio(among, alone, "p99")
                rows.append([how, connections] +
                            [f"{middle(r, 'p50'):.0f} / {middle(r, 'p99'):.0f}" for r in (alone, among)] +
                            [f"{figures[how, connections]:.2f}"] +
                            [f"{middle(r, 'p99_there'):.0f}" for r in (alone, among)] +
                            [f"{ratio(among, alone, 'p99_there'):.2f}"] + [f"{middle(r, 'rate'):.0f}" for r in (alone, among)])
    return (f"One-state inverse dynamics of `panda`, alone and with a heavy one as every hundredth request ({'; '.join(said)}); "
            f"default workers, closed loop, medians of {rounds} interleaved pairs of {seconds:g} s. Latencies and rates are "
            f"those of the light requests: until the client, which shares the cores with the server and sends and reads "
            f"what is heavy as well, has read the answer, and until the kernel had it for the client.\n\n" +
            table(["heavy", "connections", "alone p50 / p99 µs", "mixed p50 / p99 µs", "p99 ratio", "there: alone p99 µs",
                   "mixed p99 µs", "p99 ratio", "alone requests/s", "mixed requests/s"], rows)), figures


def workers(seconds, rounds):
    """Measures a request of 100 000 states against the number of workers; the servers are measured alternately. Figures: p50 in ms."""
    states, numbers = 100000, sorted({1, 2, len(os.sched_getaffinity(0))})
    contents = {kind: body(states, kind) for kind in KINDS}
    servers = {n: Torqued("--workers", str(n)) for n in numbers}
    runs = {}
    for _ in range(rounds):
        for kind in KINDS:
            for n in numbers:
                runs.setdefault((kind, n), []).append(servers[n].load(contents[kind], kind, 1, 2 * seconds))
    for server in servers.values():
        server.__exit__(None, None, None)
    figures = {(KINDS[kind], n): middle(r, "p50") / 1e3 for (kind, n), r in runs.items()}
    rows = [[KINDS[kind], n, f"{middle(r, 'p50') / 1e3:.1f}", f"{middle(r, 'cpu') / 1e3:.1f}",
             f"{figures[KINDS[kind], 1] / figures[KINDS[kind], n]:.2f}"] for (kind, n), r in runs.items()]
    plot("workers", "One request of 100 000 states", "workers", "ms",
         {name: (numbers, [figures[name, n] for n in numbers]) for name in KINDS.values()}, logarithmic="none")
    return ("One request of 100 000 states of `panda` at a time, from the first byte sent to the last received; medians of "
            f"{rounds} runs that take turns, {len(os.sched_getaffinity(0))} cores, one of which also has the client and "
            "the loop.\n\n" + table(["", "workers", "p50 ms", "CPU ms", "times as fast as one"], rows)), figures


WHOLE = (  # model, operation, outputs, description
    ("gait55", "inverse-dynamics", ["tau"], "inverse dynamics"),
    ("gait55", "sensitivity", ["tau", "dtau_dq", "dtau_dqd", "dtau_dqdd"], "with the sensitivities of tau"),
    ("gait55", "sensitivity", ["tau", "dtau_dq", "dtau_dqd", "dtau_dqdd", "joint_wrenches", "d_joint_wrenches_dq",
                               "d_joint_wrenches_dqd", "d_joint_wrenches_dqdd"], "and of all joint wrenches"),
    ("humanoid", "inverse-dynamics", ["tau"], "inverse dynamics"),
    ("stewart", "inverse-dynamics", ["tau"], "inverse dynamics, loops closed from home"),
    ("stewart", "sensitivity", ["dtau_dq", "dtau_dqd", "dtau_dqdd"], "sensitivities"),
    ("hua", "forward-dynamics", ["qdd"], "forward dynamics"))


def robots(seconds):
    """Measures one state of larger and other robots over HTTP, in JSON on one connection. Figures: p50 in ms, by model
    and description."""
    figures, rows = {}, []
    with Torqued() as server, socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        for model, operation, outputs, what in WHOLE:
            about = json.loads(server.request("GET", f"/v1/models/{model}")[1])
            wave = lambda names, size: [1.0 if name.endswith(".qw") else 0.0 if name.endswith((".qx", ".qy", ".qz")) else
                                        size * (0.5 + (7 * i) % 11 / 11) for i, name in enumerate(names)]
            q = wave(about["position_names"], 0.1 if model != "stewart" else 0)
            if model == "stewart":
                q = json.loads(server.request("POST", f"/v1/models/{model}/energy", to_json(
                    {"platform": {"frame": "centre", "position": [0.02, -0.03, 0.9], "orientation": [0, 0, 0, 1]}}))[1])["q"]
            second = "tau" if operation == "forward-dynamics" else "qdd"
            content = to_json({"q": q, "qd": wave(about["velocity_names"], 0.3), second: wave(about["velocity_names"], 0.5),
                               "outputs": outputs})
            path, times, end = f"/v1/models/{model}/{operation}", [], time.monotonic() + 2 * seconds
            while time.monotonic() < end or len(times) < 5:
                start = time.perf_counter()
                status, answer, _ = server.request("POST", path, content, keep=connection)
                times.append(1e3 * (time.perf_counter() - start))
                if status != 200:
                    raise RuntimeError(f"{path} answers {status}: {answer[:200]!r}")
            figures[model, what] = median(times)
            rows.append([model, about["nv"], what, count(len(answer)), f"{median(times):.3f}"])
    return ("One state in JSON on one connection, from the first byte sent to the last received. For all of its optimisation "
            "of a gait with 55 degrees of freedom the thesis that `gait55` follows (Barman 2020, ch. 5) needed 34.1 s.\n\n" +
            table(["model", "coordinates", "", "bytes answered", "ms"], rows)), figures


def memory(connections=900, models=500):
    """Measures the memory of an idle connection and of a model by the growth of resident memory. Figures: bytes of
    each."""
    light, rows, figures = body(1, JSON), [], {}
    with Torqued() as server, Echo(server.tau(light, JSON)[1]) as echo:
        for name, one in (("echo", echo), ("torqued", server)):
            one.request("POST", PATH, light)
            before, held = one.resident(), []
            for _ in range(connections):
                held.append(socket.create_connection(("127.0.0.1", one.port), 10))
                one.request("POST", PATH, light, keep=held[-1])
            figures["connection", name] = (one.resident() - before) / connections
            rows.append([f"{name}, a connection of {count(connections)} idle ones after a request each",
                         f"{before / 1e6:.1f}", f"{figures['connection', name] / 1e3:.1f}"])
            for connection in held:
                connection.close()
    for name in ("panda", "humanoid"):
        with open(f"models/{name}.json", "rb") as file:
            document = file.read()
        with Torqued() as server:
            server.request("PUT", "/v1/models/m", document)
            before = server.resident()
            for i in range(models):
                status = server.request("PUT", f"/v1/models/m{i}", document)[0]
                if status != 201:
                    raise RuntimeError(f"PUT of a model answers {status}")
            figures["model", name] = (server.resident() - before) / models
            rows.append([f"torqued, a model of {count(models)} of `{name}`", f"{before / 1e6:.1f}",
                         f"{figures['model', name] / 1e3:.1f}"])
    return "Growth of resident memory.\n\n" + table(["", "before, MB", "each, kB"], rows), figures
