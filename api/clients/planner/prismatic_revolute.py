#!/usr/bin/python3
"""A slider that carries a swinging link, from (0.1 m, 0.6 rad) to (pi/4 m, -pi/4 rad), at rest at both ends, with force
and torque of at most 10 (Barman 2020, example 2; the model `prismatic_revolute` comes along with the server). The
cost is the integral of (1 - u) + u (f1^2 + tau2^2) over time, u = 0.01: fast, but not at any price.

The published result, T = 0.5585 s, comes out of neither reading of the published table: the program solves both, theta2
= pi/2 + q2 as printed and theta2 = q2 (on the same model, by a shift of q2), and prints what it finds beside it.

  build/torqued &
  api/clients/planner/prismatic_revolute.py --output prismatic_revolute.svg
"""
from math import pi

import plot
import program
from motion import straight
from problem import Limits, Problem
from service import Service
from solver import solve

MODEL = "prismatic_revolute"
EFFORT = 0.01           # u
PUBLISHED = 0.5585      # s
READINGS = (("theta2 = pi/2 + q2 (as printed)", 0), ("theta2 = q2", -pi / 2))


def plan(options):
    service = Service(options.server)
    description = service.model(MODEL)
    limits = Limits.published(description)
    found = []
    for name, shift in READINGS:
        print(name)
        start = straight((0.1, 0.6 + shift), (pi / 4, -pi / 4 + shift), degree=3, count=options.control_points, rest=2,
                         duration=1)
        problem = Problem(service, MODEL, start, limits, rest=2, effort=EFFORT, samples=options.samples, margin=2e-5)
        found.append(solve(problem, options.rounds))
    for (name, _), rounds in zip(READINGS, found):
        print(name)
        program.table(rounds, [("cost", lambda r: f"{r.cost:.6f}")])
    print(f"published: T = {PUBLISHED} s; the cost is not given")
    draw(options.output, service, description, limits, [rounds[-1].motion for rounds in found])
    return service, found[0][-1].motion


def draw(path, service, description, limits, motions):
    """One row of panels for each reading."""
    joints, panels = description["velocity_names"], []
    for (name, _), motion in zip(READINGS, motions):
        along = plot.states(service, MODEL, motion, ["q", "tau", "joint_wrenches"])
        times = along["times"]
        panels += [
            plot.curves(f"{name}: force, torque", "N, N m", times, along["tau"], joints,
                        (limits.effort[0], -limits.effort[0])),
            plot.curves("internal forces", "N", times, plot.forces(along["joint_wrenches"]), joints),
            plot.curves("joint positions", "m, rad", times, along["q"], joints),
            plot.snapshots(service, MODEL, description, motion, "yz")]
    plot.sheet(path, "prismatic_revolute in " + " and ".join(f"{m.duration:.5f} s" for m in motions), panels, across=4)


if __name__ == "__main__":
    program.run(__doc__, plan, control_points=12, rounds=3, output="prismatic_revolute.svg")
