"""Makes the tables and charts of RESULTS.md, and the README's table of latencies, from the tables that one run of `make
bench` wrote: the files of results/<date>/. tests/reference_pages.py writes them; DATE names the run that is shown."""
import os
import re

import chart

HERE = os.path.dirname(os.path.abspath(__file__))
DATE = "2026-11-22"
LIMITS_DATE = "2026-11-26"  # date of the run of `make bench-limits`
KERNELS_DATE = "2026-11-26" # date of the run of the kernels alone
OPERATIONS = {"inverse dynamics": "inverse dynamics", "forward dynamics": "forward dynamics", "mass matrix": "mass matrix",
              "torque derivative": "torque derivative", "sensitivity": "sensitivity: dtau by q, qd, qdd",
              "forward sensitivity": "forward sensitivity: qdd, dqdd by q, qd, tau", "Coriolis matrix": "Coriolis matrix",
              "regressor": "regressor of the bodies' parameters"}
NEWER = {
    "inverse dynamics": "inverse dynamics", "sensitivity": "sensitivity: dtau by q, qd, qdd",
    "second derivatives of tau, contracted": "second derivatives of tau, contracted",
    "forward sensitivity": "forward sensitivity: qdd, dqdd by q, qd, tau",
    "second derivatives of qdd, contracted": "second derivatives of qdd, contracted",
    "forward dynamics, every other coordinate given": "forward dynamics, every other coordinate given",
    "forward sensitivity, a point held": "forward sensitivity, the tip held along x, y, z",
    "step of semi-implicit Euler, A and B": "step: x+ and its derivatives by x and tau",
    "the same with a point held": "the same with the tip held along x, y, z",
    "the same after an impact": "the same after an impact of the tip",
    "step, with columns of parameters": "step and its derivatives by x, tau and parameters",
    "step of RK4, A and B": "step of RK4 and its derivatives",
    "step of implicit Euler, A and B": "step of implicit Euler and its derivatives",
    "coefficients along a path": "coefficients along a path",
    "time derivative of the sensitivity": "time derivative of the sensitivity",
    "torque of a reference velocity": "torque of a reference velocity",
    "derivatives of a point's velocity and acceleration": "derivatives of velocity and acceleration",
    "derivative of a frame's Jacobian": "derivative of a frame's Jacobian by q",
    "closure of a loop, Jacobian and its rates": "relative pose of two frames, Jacobian and its rates"}
ROBOTS = {"`ur5`, 6 joints": "ur5, 6 joints", "`panda`, 7 joints": "panda, 7 joints",
          "`solo12`, floating, 12": "solo12, floating, 12 joints", "tree, 31 joints": "general tree, 31 joints",
          "`humanoid`, floating, 33": "humanoid, floating, 33 joints"}
TARGETS = {1: "fma (W=1)", 4: "avx2 (W=4)", 8: "avx512 (W=8)"}
SIZES = (1, 10, 100, 1000, 10000, 100000)


def read(name, date=DATE):
    """{heading: [row, ...]} of a file; a row is {column: cell}, a column that repeats has its number behind it."""
    found, heading, head = {}, "", None
    with open(os.path.join(HERE, "results", date, name + ".md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                heading = line.strip("# \n").split(":")[0]
            if not line.startswith("|"):
                head = None
                continue
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if head is None:
                head = [f"{cell} {cells[:i].count(cell) + 1}" if cell in cells[:i] else cell for i, cell in enumerate(cells)]
            elif not set(line) <= set("|-\n"):
                found.setdefault(heading, []).append(dict(zip(head, cells)))
    return found


def first(cell):
    """The first number in a cell: "13.46 / 14.29" is 13.46, "10 000" is 10000."""
    return float(re.match(r"[\d.]+(?:e[+-]?\d+)?", re.sub(r"(?<=\d) (?=\d{3})", "", cell)).group())


def significant(value, digits=3):
    return f"{value:.0f}" if value >= 10 ** (digits - 1) else f"{float(f'{value:.{digits}g}'):g}"


def thousands(value):
    return f"{value:,.0f}".replace(",", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["--:"] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def read_kernels(date):
    """{(robot, kernel, target): ns} of a run."""
    return {(robot, row[""], target): first(cell) for robot, rows in read("kernels", date).items()
            for row in rows for target, cell in row.items() if target}


class Run:
    def __init__(self):
        self.kernels = read_kernels(KERNELS_DATE)
        self.batches = {(int(first(row["states"])), row[""]): row for row in read("batches")["Against batch size"]}
        self.service = {(states, kind, int(row["connections"])): row for heading, rows in read("service").items()
                        for states, kind in [re.fullmatch(r"([\d ]+) states?, (\w+)", heading).groups()] for row in rows}
        self.robots = read("robots")["Larger and other robots"]
        self.peers, self.mixed = read("peers"), read("mixed")["Mixed load"]
        self.limits = read("limits", LIMITS_DATE)
        self.python = read("python")["Beside a Python service"]
        self.scaling = read("scaling")["Against the number of joints"]

    # --- tables

    def latencies(self):
        """For the README."""
        single = self.service["1", "JSON", 1]
        median, worst = single["p50 / p99 µs"].split(" / ")
        rows = [("one state in JSON over HTTP: median", f"{median} µs"), ("the same: 99th percentile", f"{worst} µs"),
                ("one state in JSON, 16 connections: requests per second",
                 thousands(first(self.service["1", "JSON", 16]["requests/s"])))]
        rows += [(f"1000 states in {kind}, per state: CPU time of the server", f"{self.batches[1000, kind]['CPU ns/state']} ns")
                 for kind in ("JSON", "CBOR")]
        rows += [(f"the kernel alone, 8 states at once, per state: {name}", f"{self.kernel('panda, 7 joints', name, 8):.0f} ns")
                 for name in ("inverse dynamics", "forward dynamics", "sensitivity")]
        rows += [(f"one state of {row['coordinates']} coordinates (`{row['model']}`) over HTTP: all sensitivities of the torques",
                  f"{row['ms']} ms") for row in self.robots if "sensitivities of tau" in " ".join(row.values())]
        return table(("Panda, 7 joints: inverse dynamics unless another is named", "takes"), rows)

    def kernel(self, robot, name, lanes):
        return self.kernels[robot, OPERATIONS[name], TARGETS[lanes]]

    def one_request(self):
        rows = []
        for connections in (1, 16, 120, 512):
            row = self.service["1", "JSON", connections]
            median, worst = row["p50 / p99 µs"].split(" / ")
            rows.append((connections, thousands(first(row["requests/s"])), median, worst, row["CPU µs/request"]))
        return table(("connections", "requests per second", "median latency, µs", "99th percentile, µs", "CPU per request, µs"), rows)

    def larger(self):
        return table(("model", "coordinates", "request", "bytes answered", "ms"),
                     [(f"`{row['model']}`", row["coordinates"], row[" 2"] if " 2" in row else row[""], row["bytes answered"],
                       row["ms"]) for row in self.robots])

    def batch(self):
        rows = [(thousands(states), *(thousands(first(self.batches[states, kind][what])) for what in ("CPU ns/state", "states/s")
                                      for kind in ("JSON", "CBOR"))) for states in SIZES]
        return table(("states in a request", "JSON: CPU per state, ns", "CBOR: CPU per state, ns", "JSON: states per second",
                      "CBOR: states per second"), rows)

    def by_robot(self, lanes, kernels, operations):
        """A cell is empty where the robot has no such kernel."""
        def cell(robot, kernel):
            ns = kernels.get((robot, kernel, TARGETS[lanes]))
            return "" if ns is None else significant(ns)
        return table(("ns per state", *ROBOTS), [(name, *(cell(robot, kernel) for robot in ROBOTS.values()))
                                                for name, kernel in operations.items()])

    def by_target(self, kernels, operations):
        every = ("scalar (W=1)", "sse2 (W=2)", "scalar_unfused (W=1)", "sse2_unfused (W=2)", "fma (W=1)", "avx2 (W=4)", "avx512 (W=8)")
        targets = [target for target in every if ("panda, 7 joints", "inverse dynamics", target) in kernels]
        return table(("`panda`, ns per state", *(f"`{target.split()[0]}`" for target in targets)),
                     [(name, *(significant(kernels["panda, 7 joints", key, target]) for target in targets))
                      for name, key in operations.items()])

    def beside_libraries(self):
        rows = []
        for robot, lines in self.peers.items():
            for line in lines:
                if line["torqued fma (W=1)"]:
                    rows.append((robot, line[""], *(significant(first(line[who])) if line.get(who) else "" for who in (
                        "torqued fma (W=1)", "torqued avx512 (W=8)", "MuJoCo 2.2.2", "KDL 1.5.1"))))
        return table(("robot", "ns per state", "torqued, one state", "torqued, batch", "MuJoCo 2.2.2", "KDL 1.5.1"), rows)

    def beside_python(self):
        rows = [(row["states"], row[""], thousands(first(row["as each comes: Python, states/s"])), thousands(first(row["ours"])),
                 first(row["times"]), first(row["times 2"]), first(row["CPU time per request, as each comes"]))
                for row in self.python if "times" in row]
        return table(("states in a request", "encoding", "Python, states/s", "torqued, states/s", "ratio", "ratio with all cores",
                      "ratio of CPU time"), rows)

    def beside_bare(self):
        rows = []
        for states, kind, connections in (("1", "JSON", 1), ("1", "JSON", 16), ("1", "CBOR", 16), ("100", "JSON", 16),
                                          ("100", "CBOR", 16), ("10 000", "JSON", 16), ("10 000", "CBOR", 16)):
            row = self.service[states, kind, connections]
            rows.append((states, kind, connections, row["CPU µs/request"], row["echo 2"], row["ratio 2"], row["ratio"]))
        return table(("states", "encoding", "connections", "CPU per request, µs", "bare server, µs", "ratio of CPU",
                      "ratio of requests per second"), rows)

    def mixed_load(self):
        rows = []
        for row in self.mixed:
            alone, among = (row[f"{what} p50 / p99 µs"].split(" / ")[1] for what in ("alone", "mixed"))
            rows.append(({"computing": "simulations of 21 ms", "moving": "batches of 10 MB"}[row["heavy"]], row["connections"],
                         alone, among, row["p99 ratio"]))
        return table(("one request in 100 is", "connections", "p99 without them, µs", "p99 among them, µs", "ratio"), rows)

    def near_limits(self, column, number):
        """A column of the table of limits, with kernels down and robots across."""
        cells = {robot: {row[""]: number(first(row[column])) for row in rows} for robot, rows in self.limits.items()}
        kernels = list(dict.fromkeys(kernel for by in cells.values() for kernel in by))
        return table((column, *(robot.split(",")[0] if "chain" not in robot else robot.replace(",", " of") for robot in cells)),
                     [(kernel.split(":")[0], *(by.get(kernel, "") for by in cells.values())) for kernel in kernels])

    def tables(self):
        return {"one request": self.one_request(), "larger": self.larger(), "batch": self.batch(), "by robot": self.by_robot(8, self.kernels, OPERATIONS),
                "one lane": self.by_robot(1, self.kernels, OPERATIONS), "by target": self.by_target(self.kernels, OPERATIONS),
                "newer by robot": self.by_robot(8, self.kernels, NEWER), "newer, one lane": self.by_robot(1, self.kernels, NEWER),
                "newer by target": self.by_target(self.kernels, NEWER), "libraries": self.beside_libraries(),
                "python": self.beside_python(), "bare": self.beside_bare(), "mixed": self.mixed_load(),
                "multiply-adds": self.near_limits("fused multiply-adds", thousands),
                "bytes": self.near_limits("bytes stored", thousands), "share": self.near_limits("share", lambda x: f"{x:.2f}")}

    # --- charts

    def charts(self):
        panda = "panda, 7 joints"
        names = ("inverse dynamics", "mass matrix", "forward dynamics", "sensitivity")
        by = {"one state at a time": 1, "4 lanes (AVX2)": 4, "8 lanes (AVX-512)": 8}
        peers = {row[""]: row for row in self.peers[panda]}
        theirs = {who: [first(peers[name][column]) for name in names[:3]] for who, column in (
            ("torqued, batch", "torqued avx512 (W=8)"), ("torqued, one state", "torqued fma (W=1)"), ("MuJoCo", "MuJoCo 2.2.2"),
            ("KDL", "KDL 1.5.1"))}
        joints = {row[""]: [(int(key[4:]), first(cell)) for key, cell in row.items() if key.startswith("n = ")] for row in self.scaling
                  if "W=8" in row[""]}
        return {
            "kernels": chart.bars("Panda: time per state of one core, data in cache", "ns per state", names,
                                  {label: [self.kernel(panda, name, lanes) for name in names] for label, lanes in by.items()}),
            "libraries": chart.bars("Panda: time per state, beside other libraries (logarithmic)", "ns per state", names[:3], theirs,
                                    logarithmic=True),
            "batch": chart.lines("CPU time of the server per state, against batch size", "states in a request", "ns per state",
                                 {kind: [(n, first(self.batches[n, kind]["CPU ns/state"])) for n in SIZES] for kind in ("JSON", "CBOR")}),
            "joints": chart.lines("Cost per joint of chains of revolute joints, 8 lanes", "joints", "ns per state and joint",
                                  {name.split(",")[0]: points for name, points in joints.items()},
                                  x_ticks=(7, 15, 31, 63, 127, 256), logarithmic="x"),
            "connections": chart.lines("Latency of one state in JSON, against connections", "connections", "µs", {
                what: [(n, float(self.service["1", "JSON", n]["p50 / p99 µs"].split(" / ")[i])) for n in (1, 16, 120, 512)]
                for i, what in enumerate(("median", "99th percentile"))}, x_ticks=(1, 16, 120, 512)),
        }


def fill(text, tables):
    """Replaces what stands between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    for name, content in tables.items():
        text, found = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", lambda m: m.group(1) + content + m.group(2), text,
                              flags=re.DOTALL)
        if not found:
            raise ValueError(f"no place for the table {name!r}")
    return text
