"""Measures the kernels in cache: by robot and vector width, compared with other libraries, on two threads, and against the number of joints."""
import math
import os
import re
import subprocess

from report import plot, slope, table
from servers import PROGRAMS

# Kernels with targets (targets.py), by the names that the programs print.
KERNELS = ("inverse dynamics", "torque derivative", "mass matrix", "forward dynamics", "sensitivity: dtau by q, qd, qdd")


def lines(program, runs):
    out = subprocess.run([f"{PROGRAMS}/{program}", str(runs)], capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def kernels(runs):
    """Returns ns per state as a table for each robot, with a row for each kernel and a column for each target. Figures: least time by robot,
    kernel and lanes."""
    rows, figures = {}, {}
    for robot, kernel, target, lanes, least, median in lines("kernels", runs):
        rows.setdefault(robot, {}).setdefault(kernel, {})[f"{target} (W={lanes})"] = f"{least} / {median}"
        figures[robot, kernel, int(lanes)] = float(least)
    parts = [f"ns per state, in cache, one core: least / median of {runs} interleaved runs. One state alone takes what "
             "W=1 takes, or W times the figure of a wider target: a block costs the same however full it is."]
    for robot, by_kernel in rows.items():
        targets = list(next(iter(by_kernel.values())))
        parts.append(f"### {robot}\n\n" +
                     table([""] + targets, [[k] + [row[t] for t in targets] for k, row in by_kernel.items()]))
    return "\n\n".join(parts), figures


def peers(runs):
    """Returns ns per state of torqued and of other libraries, with their ratio, as a table for each robot. Figures:
    their time divided by torqued's at the greatest width."""
    if not os.path.exists(f"{PROGRAMS}/peers"):
        return "Neither libmujoco-dev nor liborocos-kdl-dev is installed.", {}
    robots, calls, figures, parts = {}, {}, {}, []
    for robot, *fields in lines("peers", runs):
        robots.setdefault(robot, []).append(fields)
    for robot, by_operation in robots.items():
        rows, worst = {}, 0
        for operation, who, call, difference, ns in by_operation:
            rows.setdefault(operation, {})[who] = ns if ns != "-" else f"differs by {difference}"
            if call != "kernel":
                calls.setdefault(who, {})[operation] = call
                if not call.startswith("differences"):
                    worst = max(worst, float(difference))
        ours = [who for who in next(iter(rows.values())) if who not in calls]
        theirs = list(dict.fromkeys(who for row in rows.values() for who in row if who not in ours))
        cells = [peer_row(name, row, ours, theirs) for name, row in rows.items()]
        for name, row in rows.items():
            for who in theirs:
                if re.fullmatch(r"[\d.]+", row.get(who, "")) and ours[-1] in row:
                    figures[robot, name, who.split()[0]] = float(row[who]) / float(row[ours[-1]])
        parts.append(f"### {robot}\n\n" + table([""] + [f"torqued {who}" for who in ours] + theirs, cells) +
                     f"\n\nGreatest difference between their numbers and ours: {worst:.0e} of the largest entry.")
    made_of = [f"- {who}, {operation}: `{call}`" for who, of in calls.items() for operation, call in of.items()]
    return (f"ns per state, in cache, one core: median of {runs} interleaved runs; in brackets the time of the other "
            "library divided by ours at each width. The other libraries take one state at a time, as Debian builds them. They have "
            "no derivatives: theirs are one-sided differences.\n\n" +
            "\n\n".join(parts + ["\n".join(made_of)])), figures


def peer_row(name, row, ours, theirs):
    cells = [name] + [row.get(who, "") for who in ours]
    for who in theirs:
        ns = row.get(who, "")
        if re.fullmatch(r"[\d.]+", ns) and all(who in row for who in ours):
            ns += " (" + ", ".join(f"{float(ns) / float(row[us]):.1f}×" for us in ours) + ")"
        cells.append(ns)
    return cells


def threads(runs):
    """Compares two threads with one. Figures: the gain by kernel."""
    rows, figures = [], {}
    for kernel, one, two, gain in lines("threads", runs):
        rows.append([kernel, f"{float(one) / 1e6:.1f}", f"{float(two) / 1e6:.1f}", f"{float(gain):.2f}"])
        figures[kernel] = float(gain)
    return (f"Millions of states of `panda` per second at the greatest width; wall clock, median of {runs} pairs.\n\n" +
            table(["", "one thread", "two", "two per one"], rows)), figures


def scaling(runs):
    """Measures the time against the number of joints. Figures: the exponent of n from 15 joints on, by kernel and
    lanes."""
    costs, figures = {}, {}
    for joints, kernel, target, lanes, least, _ in lines("scaling", runs):
        costs.setdefault((kernel, target, int(lanes)), {})[int(joints)] = float(least)
    lengths = list(next(iter(costs.values())))
    rows = []
    for (kernel, target, lanes), by_length in costs.items():
        long = [n for n in lengths if n >= 15]
        exponent = slope([math.log(n) for n in long], [math.log(by_length[n]) for n in long])
        figures[kernel, lanes] = exponent
        rows.append([f"{kernel}, {target} (W={lanes})"] + [f"{by_length[n] / n:.2f}" for n in lengths] + [f"{exponent:.2f}"])
    plot("joints", "Cost against the number of joints (a chain, in cache)", "joints", "ns per state",
         {f"{kernel} (W={lanes})": (lengths, list(by.values())) for (kernel, _, lanes), by in costs.items()})
    return (f"ns per state *and joint* of chains of revolute joints, least of {runs} interleaved runs, blocks of eight "
            "states; last, the exponent of n that fits from 15 joints on: 1 is linear.\n\n" +
            table([""] + [f"n = {n}" for n in lengths] + ["exponent"], rows)), figures
