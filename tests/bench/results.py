"""Makes the charts of RESULTS.md and the README's table of latencies from the tables of RESULTS.md; tests/reference_pages.py writes
them. publish.py writes the tables of a new run into RESULTS.md."""
import os
import re

import chart

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "RESULTS.md")
SIZES = (1, 10, 100, 1000, 10000, 100000)
PANDA = "`panda`, 7 joints"


def first(cell):
    """Returns the first number in a cell: 13.46 of "13.46 / 14.29", 10000 of "10 000"."""
    return float(re.match(r"[\d.]+(?:e[+-]?\d+)?", re.sub(r"(?<=\d) (?=\d{3})", "", cell)).group())


def thousands(value):
    return f"{value:,.0f}".replace(",", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["--:"] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def tables(text):
    """{name: [row, ...]} of the tables between `<!-- NAME -->` and `<!-- end of NAME -->`; a row is {column: cell}."""
    found = {}
    for name, content in re.findall(r"<!-- (.+?) -->\n(.*?)<!-- end of \1 -->", text, re.DOTALL):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in content.splitlines()]
        found[name] = [dict(zip(head, row)) for row in rows]
    return found


def fill(text, made):
    """Replaces the tables between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    for name, content in made.items():
        text, found = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", lambda m: m.group(1) + content + m.group(2), text,
                              flags=re.DOTALL)
        if not found:
            raise ValueError(f"no place for the table {name!r}")
    return text


class Results:
    """The tables of RESULTS.md, read as numbers."""

    def __init__(self):
        with open(RESULTS, encoding="utf-8") as file:
            self.tables = tables(file.read())
        self.connections = {int(row["connections"]): row for row in self.tables["one request"]}
        self.batches = {int(first(row["states in a request"])): row for row in self.tables["batch"]}

    def kernel(self, name, lanes):
        """Returns ns per state of the robot `panda`."""
        if lanes == 4:
            return float(self.row("by target", "`panda`, ns per state", name)["`avx2`"])
        return float(self.row({8: "by robot", 1: "one lane"}[lanes], "ns per state", name)[PANDA])

    def row(self, of, column, value):
        return next(row for row in self.tables[of] if row[column] == value)

    def latencies(self):
        """Returns the table of latencies in the README."""
        rows = [("one state in JSON over HTTP: median", f"{self.connections[1]['median latency, µs']} µs"),
                ("the same: 99th percentile", f"{self.connections[1]['99th percentile, µs']} µs"),
                ("one state in JSON, 16 connections: requests per second", self.connections[16]["requests per second"])]
        rows += [(f"1000 states in {kind}, per state: CPU time of the server", f"{self.batches[1000][f'{kind}: CPU per state, ns']} ns")
                 for kind in ("JSON", "CBOR")]
        rows += [(f"the kernel alone, 8 states at once, per state: {name}", f"{self.kernel(name, 8):.0f} ns")
                 for name in ("inverse dynamics", "forward dynamics", "sensitivity")]
        rows += [(f"one state of {row['coordinates']} coordinates ({row['model']}) over HTTP: all sensitivities of the torques",
                  f"{row['ms']} ms") for row in self.tables["larger"] if "sensitivities of tau" in row["request"]]
        return table(("Panda, 7 joints: inverse dynamics unless another is named", "takes"), rows)

    def charts(self):
        names = ("inverse dynamics", "mass matrix", "forward dynamics", "sensitivity")
        by = {"one state at a time": 1, "4 lanes (AVX2)": 4, "8 lanes (AVX-512)": 8}
        peers = {row["ns per state"]: row for row in self.tables["libraries"] if row["robot"] == "panda, 7 joints"}
        theirs = {label: [first(peers[name][column]) for name in names[:3]] for label, column in (
            ("torqued, batch", "torqued, batch"), ("torqued, one state", "torqued, one state"), ("MuJoCo", "MuJoCo 2.2.2"),
            ("KDL", "KDL 1.5.1"))}
        joints = {row["ns per state and joint"]: [(int(first(key)), first(cell)) for key, cell in row.items() if key.endswith(" joints")]
                  for row in self.tables["joints"]}
        return {
            "kernels": chart.bars("Panda: time per state of one core, data in cache", "ns per state", names,
                                  {label: [self.kernel(name, lanes) for name in names] for label, lanes in by.items()}),
            "libraries": chart.bars("Panda: time per state, beside other libraries (logarithmic)", "ns per state", names[:3], theirs,
                                    logarithmic=True),
            "batch": chart.lines("CPU time of the server per state, against batch size", "states in a request", "ns per state",
                                 {kind: [(n, first(self.batches[n][f"{kind}: CPU per state, ns"])) for n in SIZES]
                                  for kind in ("JSON", "CBOR")}),
            "joints": chart.lines("Cost per joint of chains of revolute joints, 8 lanes", "joints", "ns per state and joint", joints,
                                  x_ticks=(7, 15, 31, 63, 127, 256), logarithmic="x"),
            "connections": chart.lines("Latency of one state in JSON, against connections", "connections", "µs", {
                label: [(n, first(row[column])) for n, row in self.connections.items()]
                for label, column in (("median", "median latency, µs"), ("99th percentile", "99th percentile, µs"))},
                x_ticks=(1, 16, 120, 512)),
        }
