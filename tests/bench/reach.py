#!/usr/bin/python3
"""reach.py [--poses N] [--starts S,...] - solves the inverse kinematics of N (10 000) reachable poses of each bundled
arm.

The poses are those of the last frame at random positions within the joints' limits, or within half a turn for joints
without limits. Every search begins at the same position, the middle of the limits. Prints for each arm and number of
starting positions: the share of solved poses, the starting positions tried, and the time of a pose on one core by
Server-Timing. `make reach` builds the programs. The table is Markdown."""
import argparse
import json
import os
import re
import sys
import urllib.request

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "api", "clients", "python", "src"))
import torqued  # noqa: E402

ARMS = ("puma560", "ur5", "panda", "kuka_iiwa7", "stanford")
HEAD = ("arm", "starts", "found", "without limits", "tried, median", "tried, mean", "µs a pose")


def ask(url, request):
    """Returns the answer, and the milliseconds that its evaluation took."""
    body = json.dumps(request).encode()
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json", "Request-Timeout": "300"})
    with urllib.request.urlopen(asked, timeout=300) as answer:
        return json.load(answer), float(re.search(r"evaluate;dur=([0-9.]+)", answer.headers["Server-Timing"])[1])


def limits_of(document):
    """Returns lower and upper position limits of the joints."""
    pairs = [joint.get("limits", {}).get("position", [-np.pi, np.pi]) for joint in document["joints"]]
    return np.array(pairs).T


def measure(base, arm, poses, starts):
    with urllib.request.urlopen(f"{base}/v1/models/{arm}") as answer:
        document = json.load(answer)
    frame = document["frames"][-1]["name"] if document["frames"] else document["links"][-1]
    low, high = limits_of(document)
    q = np.random.default_rng(1).uniform(low, high, (poses, len(low)))
    goal = ask(f"{base}/v1/models/{arm}/kinematics", {"q": q.tolist(), "frames": [frame]})[0]["poses"][frame]
    request = {"frame": frame, **goal, "starts": starts, "on_error": "row", "outputs": ["iterations"]}
    url = f"{base}/v1/models/{arm}/inverse-kinematics"
    found, milliseconds = ask(url, request)
    tried = np.array([n for n in found["iterations"] if n is not None])
    free = ask(url, {**request, "limits": False})[0]["iterations"]
    share = [sum(n is not None for n in rows) / poses for rows in (found["iterations"], free)]
    return arm, starts, f"{share[0]:.2%}", f"{share[1]:.2%}", f"{np.median(tried):.0f}", f"{tried.mean():.1f}", \
        f"{1000 * milliseconds / poses:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poses", type=int, default=10000)
    parser.add_argument("--starts", default="1,10,100")
    asked = parser.parse_args()
    binary = os.path.join(ROOT, os.environ.get("BUILD", "build"), "torqued")
    print(f"| {' | '.join(HEAD)} |\n|---|{'--:|' * (len(HEAD) - 1)}")
    with torqued.serve(binary, listen="127.0.0.1:0", arguments=["--workers", "1", "--loops", "1"]) as server:
        base = "http://127.0.0.1:" + server.log().rpartition('"address":"127.0.0.1:')[2].split('"')[0]
        for arm in ARMS:
            for starts in map(int, asked.starts.split(",")):
                print(f"| {' | '.join(map(str, measure(base, arm, asked.poses, starts)))} |", flush=True)


if __name__ == "__main__":
    main()
