#!/usr/bin/python3
"""The fastest motion of the Franka Emika Panda between two poses, at rest without acceleration at both ends, under the
limits of torque, velocity and position that the server publishes with the model `panda`, and of torque rate (1000 N m/s
in Franka's documentation of its control interface).

Joint motions are B-splines of degree 5, so that torque rates are continuous. Velocities and positions are limited on
control points, which bound the curves at every instant. One `trajectory` request an iteration gives all torques and
torque rates and their gradients.

  build/torqued &
  api/clients/planner/panda_minimum_time.py --output panda.svg
"""
import plot
import program
from motion import straight
from problem import Limits, Problem
from service import Service
from solver import solve

MODEL = "panda"
RATE = 1000     # N m/s
START = (0, -0.785, 0, -2.356, 0, 1.571, 0.785)
END = (1.2, 1.2, -0.4, -0.3, 0.5, 2.4, -0.6)


def plan(options):
    service = Service(options.server)
    description = service.model(MODEL)
    start = straight(START, END, degree=5, count=options.control_points, rest=3, duration=2)
    problem = Problem(service, MODEL, start, Limits.published(description, RATE), rest=3, samples=options.samples,
                      margin=1e-4)
    rounds = solve(problem, options.rounds)
    program.table(rounds)
    draw(options.output, service, description, problem.limits, rounds[-1].motion)
    return service, rounds[-1].motion


def draw(path, service, description, limits, motion):
    along = plot.states(service, MODEL, motion, ["q", "qd", "tau", "tau_dot", "joint_wrenches"])
    joints, times, whole = description["velocity_names"], along["times"], (1, -1)
    plot.sheet(path, f"panda in {motion.duration:.4f} s", [
        plot.curves("torques", "of the limit", times, along["tau"] / limits.effort, joints, whole),
        plot.curves("torque rates", "of the limit", times, along["tau_dot"] / limits.rate, joints, whole),
        plot.curves("velocities", "of the limit", times, along["qd"] / limits.velocity, joints, whole),
        plot.curves("joint positions", "rad", times, along["q"], joints),
        plot.curves("internal forces", "N", times, plot.forces(along["joint_wrenches"]), joints),
        plot.snapshots(service, MODEL, description, motion, "xz")], across=3)


if __name__ == "__main__":
    program.run(__doc__, plan, control_points=12, rounds=2, output="panda_minimum_time.svg")
