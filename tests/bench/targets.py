"""Compares measured figures with their targets. Targets in ns per state are for a 2-core machine with AVX-512: ten
percent above the times of the kernels' prototypes on such a machine, except for a single state."""
from core import KERNELS
from report import table

PANDA, GENERAL, TREE = "panda, 7 joints", "general arm, 7 joints", "humanoid tree, 31 joints"
HUMANOID = "humanoid, floating, 33 joints"
PROTOTYPES = (
    (PANDA, 8, (14, 26, 12.6, 35, 75)),
    (GENERAL, 8, (18, 30, 17.5, 44, 77)),
    (PANDA, 4, (26, 48, 26, 73, 160)),
    (TREE, 8, (63, 126, 73, 174, 368)),
)
ALONE = (100, 175, 90, 300, 650)
NAMES = "inverse dynamics / torque derivative / mass matrix / forward dynamics / sensitivity"


def verdict(met):
    return "yes" if all(met) else "no" if not any(met) else f"{sum(met)} of {len(met)}"


def at_most(what, values, limits, unit="", digits=1):
    def text(numbers):
        return " / ".join(f"{x:.{digits}f}" for x in numbers)
    return [what, f"≤ {text(limits)}{unit}", f"{text(values)}{unit}", verdict([v <= x for v, x in zip(values, limits)])]


def at_least(what, values, limit, unit=""):
    return [what, f"≥ {limit:g}{unit}", " / ".join(f"{v:.3g}" for v in values) + unit, verdict([v >= limit for v in values])]


def kernel_lines(ns):
    lines = []
    for robot, lanes, floor in PROTOTYPES:
        if (robot, KERNELS[0], lanes) in ns:
            lines.append(at_most(f"{robot}, {lanes} lanes, ns: {NAMES}", [ns[robot, k, lanes] for k in KERNELS],
                                 [1.1 * x for x in floor]))
    widths = [lanes for robot, kernel, lanes in ns if robot == PANDA and kernel == KERNELS[0]]
    alone = [min(ns[PANDA, k, w] * w for w in widths) for k in KERNELS]
    lines.append(at_most(f"{PANDA}, one state alone, ns: the same", alone, ALONE))
    lines.append([f"{HUMANOID} beside its base, {max(widths)} lanes, ns: the same", "told",
                  " / ".join(f"{ns[HUMANOID, k, max(widths)]:.0f}" for k in KERNELS), ""])
    return lines


def prototype_lines(times):
    """Lists targets for any machine: ten percent above the prototypes' times on the same machine."""
    return [at_most(f"{robot}, {lanes} lane{'s' if lanes > 1 else ''}, per prototype here: the same",
                    [times[robot, k, lanes] for k in KERNELS], [1.1] * len(KERNELS), "×", 2)
            for robot, lanes in dict.fromkeys((robot, lanes) for robot, _, lanes in times)]


def peer_lines(times):
    return [at_least(f"{PANDA}: {who}'s time for {what}", [times[PANDA, what, who]], 45, "×")
            for who in ("KDL", "MuJoCo") for what in ("inverse dynamics", "mass matrix") if (PANDA, what, who) in times]


def service_lines(ratios):
    one = "one state, JSON, beside the echo server"
    alone, sixteen = ratios[1, "JSON", 1], ratios[1, "JSON", 16]
    return [at_most(f"{one}: p50, 1 connection / 16", [alone["p50"], sixteen["p50"]], [1.25, 1.25], "×", 2),
            at_most(f"{one}: CPU per request, 1 connection / 16", [alone["cpu"], sixteen["cpu"]], [1.6, 1.6], "×", 2),
            at_least(f"{one}: requests per second, 16 connections", [100 * sixteen["rate"]], 60, " %")]


def batch_lines(batch):
    return [at_most("1000 states, CBOR: CPU beside the echo server", [batch[1000, "CBOR"]["cpu ratio"]], [2], "×", 2),
            at_most("1000 states, JSON: CPU", [batch[1000, "JSON"]["cpu"] / 1e3], [1.2], " ms", 2),
            at_least("100 000 states, CBOR: byte rate beside the echo server", [100 * batch[100000, "CBOR"]["rate ratio"]],
                     50, " %")]


def python_lines(times):
    forms = "as each comes", "all cores", "CPU"
    return [at_least(f"{what}, beside the Python service: {unit} per second as each comes / with all cores / per CPU time as "
                     f"each comes", [times[key][form] for form in forms], limit, "×")
            for what, unit, key, limit in (
                ("one state, JSON", "requests", (1, "JSON"), 8),
                ("1000 states, JSON", "states", (1000, "JSON"), 20),
                ("1000 states, CBOR", "states", (1000, "CBOR"), 200)) if key in times]


def scaling_lines(exponents):
    widest = max(lanes for _, lanes in exponents)
    names = [kernel for kernel, lanes in exponents if lanes == widest]
    return [["exponent of the number of joints up to 256: " + " / ".join(names), "linear: 1",
             " / ".join(f"{exponents[k, widest]:.2f}" for k in names) + f" (W={widest}), " +
             " / ".join(f"{exponents[k, 1]:.2f}" for k in names) + " (W=1)",
             verdict([e <= 1.05 for e in exponents.values()])]]


def mixed_lines(p99):
    return [at_most(f"p99 of light requests among 1 % of 20 ms ({how}), beside alone: " +
                    " / ".join(str(c) for h, c in p99 if h == how) + " connections",
                    [x for (h, _), x in p99.items() if h == how], [2.5] * sum(h == how for h, _ in p99), "×", 2)
            for how in dict.fromkeys(h for h, _ in p99)]


LINES = {
    "kernels": kernel_lines,
    "prototypes": prototype_lines,
    "peers": peer_lines,
    "threads": lambda gain: [at_least("two threads per one: " + " / ".join(gain), list(gain.values()), 1.9, "×")],
    "service": service_lines,
    "batches": batch_lines,
    "python": python_lines,
    "mixed": mixed_lines,
    "scaling": scaling_lines,
}


def targets(figures):
    """Makes a table of the targets whose sections were measured."""
    rows = [line for section, lines in LINES.items() if figures.get(section) for line in lines(figures[section])]
    return table(["", "target", "measured", "met"], rows)
