"""limits.py - measures how near each kernel is to the limits of the processor.

Valgrind counts how often each instruction of the target avx2 is executed; the disassembly gives its kind. A vector instruction works on four
states, so that a block of four needs as many vector multiply-adds as one state needs multiply-adds. The program limits.c measures the time of a
kernel, and the shortest time of one instruction of each kind. A kernel takes at least the largest product of number and shortest time over the
kinds. The table shows this bound as a share of the measured time, and the kind that gives the bound. Valgrind 3.19 does not know AVX-512, so the
figures are of four lanes on every machine.

Prints Markdown and writes it to $BUILD/bench/limits.md. Run through `make bench-limits`."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

from report import FOLDER, machine, table
from servers import PROGRAMS

PROGRAM = os.path.abspath(f"{PROGRAMS}/limits")
LANES = 4
KINDS = ("multiply-adds", "arithmetic", "quotients", "loads", "stores", "instructions")


def instructions():
    """Returns {address: text} of the program's instructions."""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-w", PROGRAM], capture_output=True, text=True, check=True).stdout
    found = (re.match(r"\s*([0-9a-f]+):\s+([^<#]*)", line) for line in out.splitlines())
    return {int(m[1], 16): m[2].strip() for m in found if m}


def kinds(text):
    """Returns the kinds to which an instruction belongs, and how many bytes it stores."""
    name, _, operands = text.partition(" ")
    of, stored = ["instructions"], 0
    if not name.startswith("v"):
        return of, stored
    if re.match(r"vf(n?m)(add|sub)\d", name):
        of += ["fused", "multiply-adds", "arithmetic"]
    elif re.match(r"vmul[ps]d", name):
        of += ["multiply-adds", "arithmetic"]
    elif re.match(r"v(add|sub)[ps]d", name):
        of.append("arithmetic")
    elif re.match(r"v(div|sqrt)[ps]d", name):
        of.append("quotients")
    if operands.endswith(")"):
        of.append("stores")
        stored = 32 if "%ymm" in operands else 16 if name.startswith(("vmova", "vmovu", "vmovdq", "vextract")) else 8
    elif "(" in operands:
        of.append("loads")
    return of, stored


def executed(path):
    """Returns {address: number of executions} of the program's instructions from an output of callgrind, and the number
    of all other instructions."""
    times, others, ours, skip = collections.Counter(), 0, False, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("ob="):
                ours = line.strip() == f"ob={PROGRAM}"
            elif line.startswith("calls="):
                skip = True  # the next line has the cost of the called function
            elif line.startswith("0x") and skip:
                skip = False
            elif line.startswith("0x"):
                address, _, n = line.split()
                if ours:
                    times[int(address, 16)] += int(n)
                else:
                    others += int(n)
    return times, others


def count(robot, texts):
    """Counts the instructions that each kernel executes for a robot. Returns {kernel: {kind of instruction: number for a block of states}}, with the bytes that it stores as one more kind."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
                              "--collect-atstart=no", "--toggle-collect=limits_measured", "--dump-after=limits_measured",
                              f"--callgrind-out-file={folder}/out", PROGRAM, "count", str(robot)],
                             capture_output=True, text=True, check=True).stdout
        lines = [line.split("\t") for line in out.splitlines()]
        if len(glob.glob(f"{folder}/out.*")) != len(lines):
            sys.exit("limits: callgrind did not write one file for each kernel")
        for i, (blocks, kernel) in enumerate(lines):
            times, others = executed(f"{folder}/out.{i + 1}")
            numbers = collections.Counter(instructions=others)
            for address, n in times.items():
                of, stored = kinds(texts[address])
                numbers.update({**dict.fromkeys(of, n), "bytes": n * stored})
            found[kernel] = {kind: n / int(blocks) for kind, n in numbers.items()}
    return found


def row(numbers, least, ns):
    """Returns, for one state: multiply-adds, bytes stored, ns, least ns, shares, and the limiting kind."""
    needs = {kind: numbers.get(kind, 0) * least[kind] / LANES for kind in KINDS}
    binds, sums = max(needs, key=needs.get), max(needs["multiply-adds"], needs["arithmetic"])
    return (f"{numbers.get('fused', 0):.0f}", f"{numbers.get('arithmetic', 0):.0f}", f"{numbers.get('bytes', 0) / LANES:.0f}",
            f"{ns:.1f}", f"{needs[binds]:.1f}", f"{sums / ns:.2f}", f"{needs[binds] / ns:.2f}", binds)


def main():
    least, times, labels = {}, {}, {}
    for line in subprocess.run([PROGRAM, "time"], capture_output=True, text=True, check=True).stdout.splitlines():
        what, *fields = line.split("\t")
        if what == "limit":
            least[fields[0]] = float(fields[1])
        else:
            label, robot, kernel, ns = fields
            labels[int(robot)] = label
            times.setdefault(int(robot), {})[kernel] = float(ns)
    texts = instructions()
    parts = ["## Limits", machine(), "Least ns of one instruction: " + ", ".join(f"{kind} {least[kind]:.4f}" for kind in KINDS) +
             ". `multiply-adds` are fused and other products, `arithmetic` these and sums."]
    for robot, label in labels.items():
        counted = count(robot, texts)
        parts.append(f"### {label}\n\n" + table(
            ["", "fused multiply-adds", "products and sums", "bytes stored", "ns", "ns at least", "share of arithmetic", "share",
             "what binds"],
            [[kernel, *row(counted[kernel], least, ns)] for kernel, ns in times[robot].items()]))
    text = "\n\n".join(parts) + "\n"
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "limits.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text)


if __name__ == "__main__":
    main()
