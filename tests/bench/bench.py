"""bench.py [--quick] [SECTION...] - runs the benchmarks: kernels with data in cache, also compared with installed libraries for robot dynamics,
and the service compared with a bare echo server and with a Python service.

Prints Markdown tables and writes them, with SVG plots, to $BUILD/bench/; publish.py writes them into RESULTS.md. Run through `make bench`, which
builds the programs first. BENCH_SECONDS: how long one run under load lasts (0.4; the whole then takes some minutes).
"""
import os
import sys

import core
import service
from prototypes import prototypes
from report import FOLDER, machine
from targets import targets

QUICK = "--quick" in sys.argv
SECONDS = float(os.environ.get("BENCH_SECONDS", 0.1 if QUICK else 0.4))
ROUNDS = 1 if QUICK else 5


def runs(number):
    return 3 if QUICK else number


SECTIONS = {
    "kernels": ("Kernels", lambda: core.kernels(runs(20))),
    "prototypes": ("Beside the prototypes", lambda: prototypes(runs(5))),
    "peers": ("Beside other libraries", lambda: core.peers(runs(101))),
    "scaling": ("Against the number of joints", lambda: core.scaling(runs(20))),
    "threads": ("Two threads", lambda: core.threads(runs(21))),
    "service": ("Service", lambda: service.service(SECONDS, ROUNDS)),
    "batches": ("Against batch size", lambda: service.batches(SECONDS, ROUNDS)),
    "workers": ("Against workers", lambda: service.workers(SECONDS, ROUNDS)),
    "python": ("Beside a Python service", lambda: service.python(SECONDS, ROUNDS)),
    "mixed": ("Mixed load", lambda: service.mixed(4 * SECONDS, ROUNDS)),
    "robots": ("Larger and other robots", lambda: service.robots(SECONDS)),
    "memory": ("Memory", service.memory),
}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")] or list(SECTIONS)
    figures = {}
    for name in chosen:
        title, run = SECTIONS[name]
        stamp = machine()
        text, figures[name] = run()
        write(name, title, stamp, text)
    write("targets", "Targets", machine(), targets(figures))


def write(name, title, stamp, text):
    text = f"## {title}\n\n{stamp}\n\n{text}\n"
    with open(os.path.join(FOLDER, name + ".md"), "w") as file:
        file.write(text)
    print(text, flush=True)


if __name__ == "__main__":
    main()
