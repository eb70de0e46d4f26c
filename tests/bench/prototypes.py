"""Measures the kernels alternately with the prototypes whose times are the kernels' targets (targets.py). The environment variable PROTOTYPES
names the folder of the prototypes; without it this part of the benchmark is left out."""
import os
import re
import shutil
import subprocess

from core import KERNELS, lines
from report import FOLDER, table

SOURCE = os.environ.get("PROTOTYPES", "")

# The prototypes' names by torqued's names or numbers. Each width has two prototypes, which differ in whether they keep
# the parent body in registers; the faster one counts.
ROBOTS = {"panda, 7 joints": "panda7", "general arm, 7 joints": "gen7", "humanoid tree, 31 joints": "tree31"}
VARIANTS = {"fma": ("s_v3", "c1_v3"), "avx2": ("l4_avx2", "c4_avx2"), "avx512": ("l8_avx512", "c8_avx512")}
COLUMNS = dict(zip(KERNELS, ("rnea", "rnea+dot", "crba", "aba", "drnea")))


def build():
    """Returns the program of the prototypes, or None and the reason."""
    if not SOURCE or not os.path.exists(os.path.join(SOURCE, "Makefile")):
        return None, "PROTOTYPES does not name a folder with the prototypes."
    folder = os.path.join(FOLDER, "prototypes")
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    if subprocess.run(["make", "-C", folder], capture_output=True).returncode != 0:
        return None, "The prototypes do not build here: they need libsleef-dev and a compiler for AVX-512."
    return os.path.join(folder, "bench"), ""


def theirs(program, variants):
    """Returns the least ns per state of one run of the prototypes by (robot, column, variant)."""
    out = subprocess.run([program, "time", *variants], capture_output=True, text=True, check=True).stdout
    figures, robot, columns = {}, None, []
    for line in out.splitlines():
        if line.startswith("=="):
            robot = line.split()[1]
        elif line.startswith("kernel"):
            columns = line.split()[1:]
        elif line.split(" ")[0] in variants:
            cells = re.findall(r"([\d.]+)\[ *[\d.]+\]", line)
            figures.update({(robot, c, line.split(" ")[0]): float(cell) for c, cell in zip(columns, cells)})
    return figures


def keep_least(least, figures):
    for key, ns in figures.items():
        least[key] = min(ns, least.get(key, ns))


def prototypes(rounds):
    """Figures: torqued's time divided by the prototypes', by robot, kernel and lanes."""
    program, missing = build()
    if not program:
        return missing, {}
    ours, other, lanes_of = {}, {}, {}
    for _ in range(rounds):
        run = lines("kernels", 3)
        lanes_of.update({target: int(lanes) for _, _, target, lanes, _, _ in run if target in VARIANTS})
        keep_least(ours, {(robot, kernel, target): float(ns) for robot, kernel, target, _, ns, _ in run})
        keep_least(other, theirs(program, [v for target in lanes_of for v in VARIANTS[target]]))
    figures, rows = {}, []
    for robot, name in ROBOTS.items():
        for target, lanes in lanes_of.items():
            pairs = [(ours[robot, kernel, target], min(other[name, column, v] for v in VARIANTS[target]))
                     for kernel, column in COLUMNS.items()]
            figures.update({(robot, kernel, lanes): a / b for kernel, (a, b) in zip(COLUMNS, pairs)})
            rows.append([robot, f"{target} (W={lanes})"] + [f"{a:.1f} / {b:.1f} = {a / b:.2f}" for a, b in pairs])
    return (f"ns per state, in cache, one core, ours / the prototype's: least of {rounds} rounds that take turns. Their robots "
            f"have as many joints and the same kinds of angles and offsets as ours, but other figures.\n\n" +
            table(["", ""] + list(COLUMNS), rows)), figures
