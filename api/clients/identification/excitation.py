#!/usr/bin/python3
"""Finds a motion that excites a robot so that its parameters can be identified from measured torques.

The motion is a Fourier series with a few harmonics, periodic and at rest where a period begins, within the limits of
positions, velocities and efforts in the model's document. SciPy's SQP solver varies the coefficients until the equations of
identification are conditioned as well as possible. The server returns their matrix, the base regressor, along the motion.

  build/torqued &
  api/clients/identification/excitation.py --model panda --output motion.json

Then let the robot repeat the motion several times, at rest before the first and after the last, and record positions and
torques. --samples-csv writes positions, velocities and accelerations for a controller. identification.py reads the records.

The limits are those of joints: nothing here knows the floor, a table or the robot's own shape. Simulate the motion before a
robot moves.
"""
import argparse
import sys
import time

import numpy as np

import plot
from equations import CRITERIA, Equations, condition_number
from fourier import Fourier
from search import NotFound, Search
from service import Limits, Service, torqued


def options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--model", metavar="NAME", default="panda", help="a model of the server (%(default)s)")
    parser.add_argument("--criterion", choices=list(CRITERIA), default="condition",
                        help="what becomes small: the condition number of the equations, or the volume of the confidence "
                             "ellipsoid of the parameters (determinant), for which fast motions are better (%(default)s)")
    parser.add_argument("--friction", action="store_true", help="viscous and Coulomb friction will be identified, too")
    parser.add_argument("--period", metavar="S", type=float, default=10, help="s; long periods have slow harmonics (%(default)s)")
    parser.add_argument("--harmonics", metavar="N", type=int, default=5, help="of 1/period (%(default)s)")
    parser.add_argument("--share", metavar="X", type=float, default=0.9,
                        help="of all limits that the motion may use; leave some for the controller (%(default)s)")
    parser.add_argument("--velocity", metavar="V", type=float, help="rad/s or m/s, for joints without a limit of their own")
    parser.add_argument("--samples", metavar="N", type=int, default=100, help="instants of a period to look at (%(default)s)")
    parser.add_argument("--starts", metavar="N", type=int, default=20,
                        help="random motions, the best of which is improved (%(default)s)")
    parser.add_argument("--iterations", metavar="N", type=int, default=60, help="at most (%(default)s)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the random motions (%(default)s)")
    parser.add_argument("--output", metavar="FILE", default="motion.json", help="the motion (%(default)s)")
    parser.add_argument("--samples-csv", metavar="FILE", help="write q, qd, qdd of one period at 1 kHz here, as torqued call reads them")
    parser.add_argument("--plot", metavar="FILE", default="excitation.svg", help=".svg or .png (%(default)s)")
    given = parser.parse_args(arguments)
    for name, least in (("harmonics", 2), ("starts", 1), ("iterations", 1), ("samples", 4 * given.harmonics)):
        if getattr(given, name) < least:
            parser.error(f"--{name} {getattr(given, name)}: expected at least {least}")
    if not 0 < given.share <= 1:
        parser.error(f"--share {given.share}: expected a number above 0, at most 1")
    if not given.period > 0:
        parser.error(f"--period {given.period}: expected a positive number")
    if not given.plot.endswith((".svg", ".png")):
        parser.error(f"--plot {given.plot}: expected a name that ends in .svg or .png")
    return given


def find(service, model, given, say=print):
    """The motion, and the search with its history."""
    limits = Limits(model, given.velocity)
    deviation = np.where(np.isfinite(limits.effort), limits.effort, 1.0)    # noise grows with the size of motors
    equations = Equations(service, model, deviation, given.friction)
    search = Search(equations, limits, CRITERIA[given.criterion], given)
    start = search.best_of(given.starts, np.random.default_rng(given.seed))
    before = condition_number(equations.matrix(start.states(search.times)))
    say(f"{model.name}: best of {given.starts} random motions: condition {before:.1f}")
    motion = search.improve(start, say)
    after = condition_number(equations.matrix(motion.states(search.times)))
    say(f"condition {before:.1f} -> {after:.1f}; at most {search.largest_load(motion):.3f} of a limit")
    return start, motion, search


def write_samples(path, model, motion):
    times = np.arange(round(1000 * motion.period) + 1) / 1000
    states = motion.states(times)
    names = [f"{name}.{joint}" for name in states for joint in model.velocity_names]
    np.savetxt(path, np.column_stack([times, *states.values()]), delimiter=",", header=",".join(["t", *names]), comments="",
               fmt="%.9g")


def draw(path, service, model, start, motion, search):
    """Loads along the motion, the progress, and the singular values before and after."""
    times, names = np.linspace(0, motion.period, 501), model.velocity_names
    states = motion.states(times)
    tau = service.ask(model.inverse_dynamics, **states).tau
    position, velocity, effort = search.limits.loads(states, tau)
    spectra = [np.linalg.svd(plot.unit_columns(search.equations.matrix(m.states(search.times))), compute_uv=False)
               for m in (start, motion)]
    plot.sheet(path, f"{model.name}: {motion.harmonics} harmonics of {1 / motion.period:g} Hz", [
        plot.curves("positions", "of the limits", times, position, names, (1, -1)),
        plot.curves("velocities", "of the limits", times, velocity, names, (1, -1)),
        plot.curves("torques", "of the limits", times, effort, names, (1, -1)),
        plot.with_legend(plot.curves("joint positions", "rad or m", times, states["q"], names)),
        plot.progress(search.history), plot.spectra(spectra, ("random", "found"))], across=3)


def main():
    given, started = options(), time.monotonic()
    try:
        service = Service(given.server)
        model = service.client.model(given.model)
        start, motion, search = find(service, model, given)
        motion.save(given.output, model.name)
        if given.samples_csv:
            write_samples(given.samples_csv, model, motion)
        draw(given.plot, service, model, start, motion, search)
    except (torqued.Error, NotFound, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print(f"motion in {given.output}, plot in {given.plot}")
    print(service.account(started))


if __name__ == "__main__":
    main()
