#!/usr/bin/python3
"""From a model that is not quite right to one that predicts the torques of a robot: excitation, measurements, identification and
validation in one run, with a simulated robot.

The robot is a second model of the server, `<model>-real`: other bodies and friction than the model, and a tool of 1.5 kg. The
measurements are at 1 kHz through encoders with steps, with noise on torques, of an exciting motion and another one.
All that the identification reads are these records; at the end its model is compared with the robot without noise.

  build/torqued &
  api/clients/identification/example.py --folder /tmp/example
"""
import argparse
import os
import sys
import time

import numpy as np

import excitation
import identification
import measurements
import robot
from search import NotFound
from service import Limits, Service, torqued

RATE = 1000     # Hz


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--model", metavar="NAME", default="panda",
                        help="a model of the server, of revolute joints with limits (%(default)s)")
    parser.add_argument("--folder", metavar="NAME", default=".", help="where motions, records and plots go (%(default)s)")
    parser.add_argument("--periods", metavar="N", type=int, default=6, help="that are recorded, the first without use (%(default)s)")
    parser.add_argument("--period", metavar="S", type=float, default=10, help="s (%(default)s)")
    parser.add_argument("--iterations", metavar="N", type=int, default=40, help="of the search for the motion (%(default)s)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the robot, the noise and the random motions (%(default)s)")
    given = parser.parse_args()
    if given.periods < 3:
        parser.error(f"--periods {given.periods}: expected at least 3, whose spread is the noise")
    return given


def plan(service, model, given, name, iterations, seed):
    """Finds a motion, draws and saves it."""
    path = os.path.join(given.folder, name)
    settings = excitation.options(["--period", str(given.period), "--iterations", str(iterations), "--seed", str(seed), "--friction",
                                   "--starts", "10", "--share", "0.8"])
    start, motion, search = excitation.find(service, model, settings)
    motion.save(path + ".json", model.name)
    excitation.draw(path + ".png", service, model, start, motion, search)
    return motion


def difference(service, real, found, limits, draw):
    """Root mean square by joint of the torques' difference at random states that are not at rest, in parts of the effort limits."""
    shape = 1000, real.nv
    states = {"q": limits.middle + limits.half * draw.uniform(-1, 1, shape),
              "qd": limits.velocity * draw.uniform(0.05, 1, shape) * draw.choice([-1, 1], shape), "qdd": draw.uniform(-5, 5, shape)}
    tau = [service.ask(model.inverse_dynamics, **states).tau for model in (real, found)]
    return identification.rms(tau[0] - tau[1]) / limits.effort


def run(service, given):
    client, draw = service.client, np.random.default_rng(given.seed)
    model = client.model(given.model)
    limits = Limits(model)
    print(f"--- the robot: model {model.name}-real")
    real = client.put(f"{model.name}-real", robot.document(model.document(), limits.effort, draw))
    files = {}
    for name, iterations in (("motion", given.iterations), ("other", 1)):
        print(f"--- {'an exciting motion' if name == 'motion' else 'another motion'}, its limits those of the model")
        motion = plan(service, model, given, name, iterations, given.seed + len(files))
        measured = robot.with_noise(robot.record(service, real, motion, given.periods, RATE), limits.effort, draw)
        files[name] = os.path.join(given.folder, name)
        measurements.write(files[name] + ".csv", model.velocity_names, measured)
        print(f"recorded {len(measured.q)} rows in {files[name]}.csv")
    print("--- identification")
    found, better = identification.work(service, identification.options([
        "--model", model.name, "--record", files["motion"] + ".csv", "--motion", files["motion"] + ".json", "--friction",
        "--validation", files["other"] + ".csv", "--validation-motion", files["other"] + ".json",
        "--put", f"{model.name}-identified", "--plot", os.path.join(given.folder, "identification.png")]))
    print("--- beside the robot itself, without noise")
    before, after = (difference(service, real, one, limits, np.random.default_rng(9)) for one in (model, better))
    print(f"torques at random states differ by {100 * before.max():.2f} % of the effort limit before, "
          f"{100 * after.max():.3f} % after, in the worst joint")
    return found


def main():
    given, started = options(), time.monotonic()
    try:
        os.makedirs(given.folder, exist_ok=True)
        service = Service(given.server)
        run(service, given)
    except (torqued.Error, NotFound, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print(f"motions, records and plots in {given.folder}")
    print(service.account(started))


if __name__ == "__main__":
    main()
