#!/usr/bin/python3
"""payload.py [--repetitions N] [--rows N] [--seed N] - identifies a payload of 2 kg at the flange N (1000) times, from 2000 rows
of torques with normal noise of 0.3 N m that is drawn anew each time.

Prints for each arm the largest error of the mass in all repetitions, and how often the stated interval of 95 %, the estimate
+- 1.96 standard deviations, covers the truth: for the mass, and for all ten inertial parameters of the payload's body. 1000
repetitions determine a share of 95 % to 0.7 % (one standard deviation). A seed always gives the same noise.
`make bench-payload` builds what this needs. The table is Markdown."""
import argparse
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "api", "clients", "python", "src"))
import torqued  # noqa: E402

FLANGES = {"ur5": ("tool0", "wrist_3_link"), "panda": ("panda_flange", "panda_link7")}     # the frame, and its link
PAYLOAD = {"mass": 2, "com": [0.02, -0.03, 0.08], "inertia": {"xx": 0.012, "yy": 0.01, "zz": 0.008}}
NOISE = 0.3         # N m
QUANTILE = 1.959964
HEAD = ("arm", "mean mass, kg", "deviation stated, kg", "deviation found, kg", "largest error of the mass", "mass covered",
        "parameters covered, mean", "least", "most")


def motion(model, rows):
    """Random states, evenly spread over 3 rad, 2 rad/s and 4 rad/s², within the position limits."""
    draw = np.random.default_rng(1)
    low, high = np.clip(model.limits("position").T, -3, 3)
    shape = rows, len(low)
    return {"q": draw.uniform(low, high, shape), "qd": draw.uniform(-2, 2, shape), "qdd": draw.uniform(-4, 4, shape)}


def estimates(model, states, tau, frame):
    """Mass and its deviation, then values and deviations of the ten parameters of the body."""
    found = model.identify(**states, tau=tau, unknown=["payload"], frame=frame, outputs=["payload", "base_parameters"])
    return (found.payload["mass"], found.payload["mass_deviation"],
            [entry["value"] for entry in found.base_parameters], [entry["deviation"] for entry in found.base_parameters])


def measure(model, arm, asked):
    frame, link = FLANGES[arm]
    states = motion(model, asked.rows)
    exact = model.inverse_dynamics(**states, payload={"link": link, **PAYLOAD}).tau
    truth = np.array(estimates(model, states, exact, frame)[2])     # without noise
    mass, stated, errors = [], [], []
    for i in range(asked.repetitions):
        noise = np.random.default_rng((asked.seed, i)).normal(0, NOISE, exact.shape)
        found = estimates(model, states, exact + noise, frame)
        mass.append(found[0])
        stated.append(found[1])
        errors.append((np.array(found[2]) - truth) / found[3])
        if (i + 1) % 100 == 0 or i + 1 == asked.repetitions:
            print(f"{arm}: {i + 1} of {asked.repetitions}", file=sys.stderr, flush=True)
    mass, stated = np.array(mass), np.array(stated)
    off = mass - PAYLOAD["mass"]
    covered = (np.abs(off) < QUANTILE * stated).mean()
    of_each = (np.abs(errors) < QUANTILE).mean(axis=0)
    return (arm, f"{mass.mean():.5f}", f"{stated.mean():.5f}", f"{mass.std(ddof=1):.5f}",
            f"{np.abs(off).max() / PAYLOAD['mass']:.2%}", f"{covered:.1%}", f"{of_each.mean():.1%}", f"{of_each.min():.1%}",
            f"{of_each.max():.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", metavar="N", type=int, default=1000, help="for each arm (%(default)s)")
    parser.add_argument("--rows", metavar="N", type=int, default=2000, help="of each identification (%(default)s)")
    parser.add_argument("--seed", metavar="N", type=int, default=2, help="of the noise (%(default)s)")
    asked = parser.parse_args()
    if asked.repetitions < 2:
        parser.error(f"--repetitions {asked.repetitions}: expected at least 2")
    binary = os.path.join(ROOT, os.environ.get("BUILD", "build"), "torqued")
    print(f"| {' | '.join(HEAD)} |\n|---|{'--:|' * (len(HEAD) - 1)}")
    with torqued.serve(binary) as server:
        for arm in FLANGES:
            print(f"| {' | '.join(measure(server.model(arm), arm, asked))} |", flush=True)


if __name__ == "__main__":
    main()
