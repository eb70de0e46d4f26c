"""publish.py [FOLDER] - replaces the tables of RESULTS.md by those of a run of `make bench`, whose output is in FOLDER (build/bench).

A table whose file is not in FOLDER stays as it is. `make reference` then writes the charts and the README's table of
latencies, which results.py makes from RESULTS.md."""
import os
import re
import sys

from results import RESULTS, SIZES, fill, first, table, thousands

OPERATIONS = {
    "inverse dynamics": "inverse dynamics", "forward dynamics": "forward dynamics", "mass matrix": "mass matrix",
    "torque derivative": "torque derivative", "sensitivity": "sensitivity: dtau by q, qd, qdd",
    "forward sensitivity": "forward sensitivity: qdd, dqdd by q, qd, tau", "Coriolis matrix": "Coriolis matrix",
    "regressor": "regressor of the bodies' parameters",
    "second derivatives of tau, contracted": "second derivatives of tau, contracted",
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
ON_EVERY_TARGET = ("inverse dynamics", "forward dynamics", "mass matrix", "torque derivative", "sensitivity", "forward sensitivity",
                   "Coriolis matrix", "regressor")
ROBOTS = {"`ur5`, 6 joints": "ur5, 6 joints", "`panda`, 7 joints": "panda, 7 joints",
          "`solo12`, floating, 12": "solo12, floating, 12 joints", "tree, 31 joints": "general tree, 31 joints",
          "`humanoid`, floating, 33": "humanoid, floating, 33 joints"}
TARGETS = ("scalar (W=1)", "sse2 (W=2)", "scalar_unfused (W=1)", "sse2_unfused (W=2)", "fma (W=1)", "avx2 (W=4)", "avx512 (W=8)")


def read(path):
    """{heading: [row, ...]} of a file; a row is {column: cell}, a column name that occurs again gets its number appended."""
    found, heading, head = {}, "", None
    with open(path, encoding="utf-8") as file:
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


def significant(value, digits=3):
    return f"{value:.0f}" if value >= 10 ** (digits - 1) else f"{float(f'{value:.{digits}g}'):g}"


# --- tables of one file of a run: {name: table}

def kernels(run):
    ns = {(robot, row[""], target): first(cell) for robot, rows in run.items() for row in rows
          for target, cell in row.items() if target}

    def by_robot(target):
        """A cell is empty where the robot has no such kernel."""
        cells = [[ns.get((robot, kernel, target)) for robot in ROBOTS.values()] for kernel in OPERATIONS.values()]
        return table(("ns per state", *ROBOTS), [(name, *("" if cell is None else significant(cell) for cell in row))
                                                for name, row in zip(OPERATIONS, cells)])

    def by_target(robot):
        targets = [target for target in TARGETS if (robot, "inverse dynamics", target) in ns]
        return table(("`panda`, ns per state", *(f"`{target.split()[0]}`" for target in targets)),
                     [(name, *(significant(ns[robot, OPERATIONS[name], target]) for target in targets)) for name in ON_EVERY_TARGET])
    return {"by robot": by_robot("avx512 (W=8)"), "one lane": by_robot("fma (W=1)"), "by target": by_target("panda, 7 joints")}


def scaling(run):
    rows = [row for row in run["Against the number of joints"] if "W=8" in row[""]]
    sizes = [key for key in rows[0] if key.startswith("n = ")]
    return {"joints": table(("ns per state and joint", *(key.removeprefix("n = ") + " joints" for key in sizes)),
                            [(row[""].split(",")[0], *(row[key] for key in sizes)) for row in rows])}


def service(run):
    rows = {(states, kind, int(row["connections"])): row for heading, lines in run.items()
            for states, kind in [re.fullmatch(r"([\d ]+) states?, (\w+)", heading).groups()] for row in lines}
    one, bare = [], []
    for connections in (1, 16, 120, 512):
        row = rows["1", "JSON", connections]
        one.append((connections, thousands(first(row["requests/s"])), *row["p50 / p99 µs"].split(" / "), row["CPU µs/request"]))
    for states, kind, connections in (("1", "JSON", 1), ("1", "JSON", 16), ("1", "CBOR", 16), ("100", "JSON", 16),
                                      ("100", "CBOR", 16), ("10 000", "JSON", 16), ("10 000", "CBOR", 16)):
        row = rows[states, kind, connections]
        bare.append((states, kind, connections, row["CPU µs/request"], row["echo 2"], row["ratio 2"], row["ratio"]))
    return {"one request": table(("connections", "requests per second", "median latency, µs", "99th percentile, µs",
                                  "CPU per request, µs"), one),
            "bare": table(("states", "encoding", "connections", "CPU per request, µs", "bare server, µs", "ratio of CPU",
                           "ratio of requests per second"), bare)}


def robots(run):
    return {"larger": table(("model", "coordinates", "request", "bytes answered", "ms"), [
        (f"`{row['model']}`", row["coordinates"], row[" 2"] if " 2" in row else row[""], row["bytes answered"], row["ms"])
        for row in run["Larger and other robots"]])}


def batches(run):
    by = {(int(first(row["states"])), row[""]): row for row in run["Against batch size"]}
    return {"batch": table(("states in a request", "JSON: CPU per state, ns", "CBOR: CPU per state, ns", "JSON: states per second",
                            "CBOR: states per second"),
                           [(thousands(states), *(thousands(first(by[states, kind][figure])) for figure in ("CPU ns/state", "states/s")
                                                  for kind in ("JSON", "CBOR"))) for states in SIZES])}


def peers(run):
    columns = ("torqued fma (W=1)", "torqued avx512 (W=8)", "MuJoCo 2.2.2", "KDL 1.5.1")
    return {"libraries": table(("robot", "ns per state", "torqued, one state", "torqued, batch", "MuJoCo 2.2.2", "KDL 1.5.1"), [
        (robot, row[""], *(significant(first(row[column])) if row.get(column) else "" for column in columns))
        for robot, rows in run.items() for row in rows if row["torqued fma (W=1)"]])}


def python(run):
    return {"python": table(("states in a request", "encoding", "Python, states/s", "torqued, states/s", "ratio",
                             "ratio with all cores", "ratio of CPU time"), [
        (row["states"], row[""], thousands(first(row["as each comes: Python, states/s"])), thousands(first(row["ours"])),
         first(row["times"]), first(row["times 2"]), first(row["CPU time per request, as each comes"]))
        for row in run["Beside a Python service"] if "times" in row])}


def mixed(run):
    heavy = {"computing": "simulations of 21 ms", "moving": "batches of 10 MB"}
    return {"mixed": table(("one request in 100 is", "connections", "p99 without them, µs", "p99 among them, µs", "ratio"), [
        (heavy[row["heavy"]], row["connections"], *(row[f"{when} p50 / p99 µs"].split(" / ")[1] for when in ("alone", "mixed")),
         row["p99 ratio"]) for row in run["Mixed load"]])}


# the tables of a run, each in a file of FOLDER with the name of the function
FILES = (kernels, scaling, service, robots, batches, peers, python, mixed)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("BUILD", "build"), "bench")
    made = {}
    for tables in FILES:
        path = os.path.join(folder, tables.__name__ + ".md")
        if os.path.exists(path):
            made |= tables(read(path))
    if not made:
        return f"{folder} has no output of `make bench`"
    with open(RESULTS, encoding="utf-8") as file:
        text = fill(file.read(), made)
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
