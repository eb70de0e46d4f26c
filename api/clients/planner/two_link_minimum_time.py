#!/usr/bin/python3
"""The fastest motion of two revolute joints in a horizontal plane from (0, -2) to (1, -1) rad, at rest at both ends,
with torques of at most 10 N m (Barman 2020, example 1; the model `two_link` comes along with the server).

Joint motions are cubic B-splines. SciPy varies control points and duration; one `trajectory` request an iteration
gives all torques and their gradients. Bang-bang control, which splines approach as knots are added, takes 0.391855 s.

  build/torqued &
  api/clients/planner/two_link_minimum_time.py --output two_link.svg
"""
import plot
import program
from motion import straight
from problem import Limits, Problem
from service import Service
from solver import solve

MODEL = "two_link"
BANG_BANG = 0.391854538900      # s, by shooting with the four arcs of constant torques


def plan(options):
    service = Service(options.server)
    description = service.model(MODEL)
    start = straight((0, -2), (1, -1), degree=3, count=options.control_points, rest=2, duration=1)
    problem = Problem(service, MODEL, start, Limits.published(description), rest=2, samples=options.samples,
                      margin=2e-5)
    rounds = solve(problem, options.rounds)
    program.table(rounds, [("above optimum", lambda r: f"{r.motion.duration - BANG_BANG:.6f}")])
    draw(options.output, service, description, problem.limits, rounds[-1].motion)
    return service, rounds[-1].motion


def draw(path, service, description, limits, motion):
    along = plot.states(service, MODEL, motion, ["q", "tau", "joint_wrenches"])
    joints, times = description["velocity_names"], along["times"]
    plot.sheet(path, f"two_link in {motion.duration:.5f} s", [
        plot.curves("torques", "N m", times, along["tau"], joints, (limits.effort[0], -limits.effort[0])),
        plot.curves("internal forces", "N", times, plot.forces(along["joint_wrenches"]), joints),
        plot.curves("joint positions", "rad", times, along["q"], joints),
        plot.snapshots(service, MODEL, description, motion, "xy")])


if __name__ == "__main__":
    program.run(__doc__, plan, control_points=12, rounds=5, output="two_link_minimum_time.svg")
