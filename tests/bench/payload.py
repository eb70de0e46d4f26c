#!/usr/bin/python3
"""payload.py [--repetitions N] [--rows N] [--poses N] [--seed N] [CASE...] - identifies a payload of 2 kg N (1000)
times, from torques with new normal noise each time. The robots are arms in motion (2000 rows) and at rest (200 poses),
a SCARA and a Delta.

Prints for each case how many combinations of the ten parameters are identified, the largest error of the mass in all
repetitions, and how often the stated 95 % interval, the estimate +- 1.96 standard deviations, covers the truth: for the
payload's mass, and for all combinations. Checks that the server accepts the payload. 1000 repetitions determine a share
of 95 % to 0.7 % (one standard deviation). A seed always gives the same noise. `make bench-payload` builds the programs.
The table is Markdown."""
import argparse
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "api", "clients", "python", "src"))
import torqued  # noqa: E402

BODY = {"mass": 1, "com": [0.1, 0, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}}
SCARA = {"links": [
    {"name": "upper", "parent": "base", "inertial": BODY, "joint": {"name": "j1", "type": "revolute", "axis": [0, 0, 1]}},
    {"name": "fore", "parent": "upper", "inertial": BODY, "joint": {"name": "j2", "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [0.3, 0, 0]}}},
    {"name": "quill", "parent": "fore", "inertial": BODY, "joint": {"name": "j3", "type": "prismatic", "axis": [0, 0, -1], "origin": {"xyz": [0.25, 0, 0]}}},
    {"name": "hand", "parent": "quill", "inertial": BODY, "joint": {"name": "j4", "type": "revolute", "axis": [0, 0, -1]}}]}
PAYLOAD = {"mass": 2, "com": [0.02, -0.03, 0.08], "inertia": {"xx": 0.012, "yy": 0.01, "zz": 0.008}}
# For each case: the model (or a document), the payload's frame and its link, whether the robot is at rest, and the
# standard deviation of the noise in N m or N.
CASES = {"ur5": ("ur5", "tool0", "wrist_3_link", False, 0.3), "panda": ("panda", "panda_flange", "panda_link7", False, 0.3),
         "ur5 at rest": ("ur5", "tool0", "wrist_3_link", True, 0.3), "panda at rest": ("panda", "panda_flange", "panda_link7", True, 0.3),
         "scara": (SCARA, "hand", "hand", False, 0.3), "delta": ("delta", "platform", "platform", False, 0.3)}
QUANTILE = 1.959964
HEAD = ("case", "identified", "mean mass, kg", "deviation stated, kg", "deviation found, kg", "largest error of the mass", "mass covered",
        "combinations covered, mean", "least", "most")


def motion(model, rows, still):
    """Draws positions within 3 rad of zero and the limits, or within 0.4 rad of a mechanism's reference; rates and
    accelerations are uniform within 2 rad/s and 4 rad/s^2."""
    draw = np.random.default_rng(1)
    low, high = np.clip(model.limits("position").T, -3, 3)
    if "loops" in model.description:
        low, high = (np.array(model.description["reference"]["q"]) + offset for offset in (-0.4, 0.4))
    shape = rows, len(low)
    moving = {"q": draw.uniform(low, high, shape), "qd": draw.uniform(-2, 2, shape), "qdd": draw.uniform(-4, 4, shape)}
    return {**moving, "qd": np.zeros(shape), "qdd": np.zeros(shape)} if still else moving


def estimates(model, states, tau, frame):
    """Returns the payload, the values and the standard deviations of the combinations."""
    found = model.identify(**states, tau=tau, unknown=["payload"], frame=frame, outputs=["payload", "base_parameters"])
    return (found.payload, [entry["value"] for entry in found.base_parameters], [entry["deviation"] for entry in found.base_parameters])


def measure(server, name, asked):
    source, frame, link, still, deviation = CASES[name]
    model = server.model(source) if isinstance(source, str) else server.put(name, source)
    states = motion(model, asked.poses if still else asked.rows, still)
    exact = model.inverse_dynamics(**states, payload={"link": link, **PAYLOAD}).tau
    truth = np.array(estimates(model, states, exact, frame)[1])  # the estimate from torques without noise
    mass, stated, errors = [], [], []
    for i in range(asked.repetitions):
        noise = np.random.default_rng((asked.seed, i)).normal(0, deviation, exact.shape)
        payload, values, deviations = estimates(model, states, exact + noise, frame)
        mass.append(payload["mass"])
        stated.append(payload.pop("mass_deviation"))
        errors.append((np.array(values) - truth) / deviations)
        # checks that the server accepts the payload; otherwise the program ends
        model.inverse_dynamics(**{key: rows[:1] for key, rows in states.items()}, payload=payload)
        if (i + 1) % 100 == 0 or i + 1 == asked.repetitions:
            print(f"{name}: {i + 1} of {asked.repetitions}", file=sys.stderr, flush=True)
    mass, stated = np.array(mass), np.array(stated)
    off = mass - PAYLOAD["mass"]
    covered = (np.abs(off) < QUANTILE * stated).mean()
    of_each = (np.abs(errors) < QUANTILE).mean(axis=0)
    return (name, f"{len(truth)}", f"{mass.mean():.5f}", f"{stated.mean():.5f}", f"{mass.std(ddof=1):.5f}",
            f"{np.abs(off).max() / PAYLOAD['mass']:.2%}", f"{covered:.1%}", f"{of_each.mean():.1%}", f"{of_each.min():.1%}",
            f"{of_each.max():.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", metavar="N", type=int, default=1000, help="for each case (%(default)s)")
    parser.add_argument("--rows", metavar="N", type=int, default=2000, help="of each identification in motion (%(default)s)")
    parser.add_argument("--poses", metavar="N", type=int, default=200, help="of each identification at rest (%(default)s)")
    parser.add_argument("--seed", metavar="N", type=int, default=2, help="of the noise (%(default)s)")
    parser.add_argument("cases", metavar="CASE", nargs="*", help=f"of {', '.join(CASES)} (all)")
    asked = parser.parse_args()
    unknown = [name for name in asked.cases if name not in CASES]
    if unknown:
        parser.error(f"{unknown[0]}: expected one of {', '.join(CASES)}")
    if asked.repetitions < 2:
        parser.error(f"--repetitions {asked.repetitions}: expected at least 2")
    binary = os.path.join(ROOT, os.environ.get("BUILD", "build"), "torqued")
    print(f"| {' | '.join(HEAD)} |\n|---|{'--:|' * (len(HEAD) - 1)}")
    with torqued.serve(binary) as server:
        for name in asked.cases or CASES:
            print(f"| {' | '.join(measure(server, name, asked))} |", flush=True)


if __name__ == "__main__":
    main()
