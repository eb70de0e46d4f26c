#!/usr/bin/python3
"""The fastest motion along a given path, at rest at both ends, within limits of torques, without and with limits of torque
rates. The path says where the robot goes; the program finds when. The paths are in paths.json.

One `path` request gives all coefficients of torques and rates along the path; the program then needs no server until it has
the torques of the found motion computed again, on a dense grid, from q, qd, qdd and qddd.

  build/torqued &
  api/clients/planner/path_minimum_time.py --path ur5_pick --output ur5_pick.svg
"""
import argparse
import json
import sys
import time

import numpy as np

import geometry
import plot
from geometry import Coefficients
from service import Service, torqued
from timing import DENSE, INSTANTS, NotSolved, fastest

RATE = 20       # 1/s: torque rates are limited to this multiple of the torques, if the model has no limits of its own


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--path", metavar="NAME", default="ur5_pick", help="a path of paths.json (%(default)s)")
    parser.add_argument("--intervals", metavar="N", type=int, default=80, help="of the time, at least (%(default)s)")
    parser.add_argument("--output", metavar="FILE", default="path_minimum_time.svg", help="the plot (%(default)s)")
    parser.add_argument("--motion", metavar="FILE",
                        help="write the two timings here: s and its derivatives by t/T at the nodes, and the highest "
                             "derivative at both ends of each interval, linear between them")
    given = parser.parse_args()
    if not given.output.endswith((".svg", ".png")):
        parser.error(f"--output {given.output}: expected a name that ends in .svg or .png")
    if given.intervals < 4:
        parser.error(f"--intervals {given.intervals}: expected at least 4")
    return given


def limits(description):
    """Limits of torques and torque rates, nv each. Raises ValueError for joints without a coordinate whose torques are limited."""
    for joint in description["joints"]:
        if joint["name"] not in description["velocity_names"] and {"effort", "effort_rate"} & joint["limits"].keys():
            raise ValueError(f"the torque of {joint['name']}, which is no coordinate, is limited: margins compares it")
    joints = {joint["name"]: joint.get("limits", {}) for joint in description["joints"]}
    effort = np.array([joints[name].get("effort", np.inf) for name in description["velocity_names"]])
    return effort, np.array([joints[name].get("effort_rate", RATE * limit)
                             for name, limit in zip(description["velocity_names"], effort)])


def check(service, model, spline, timing, effort, rate):
    """The motion on a grid DENSE times denser than the instants, by the server: times, and torques and rates in parts of
    their limits. Both sides of nodes are among them, where w jumps."""
    shares = np.linspace(0, 1, DENSE * (len(INSTANTS) - 1) + 1)
    s, v, u, j = timing.at(shares)
    times = (np.arange(timing.intervals)[:, None] + shares).ravel() * timing.duration / timing.intervals
    answer = service.ask(model, "torque_derivative", {
        **geometry.motion(spline, np.clip(s, 0, 1), v, u, j), "outputs": ["tau", "tau_dot"]})
    return times, answer["tau"] / effort, answer["tau_dot"] / rate, (s, v, u)


def plan(given, say=print):
    """Prints the durations without and with limits of rates, and returns their timings."""
    service = Service(given.server)
    model, spline = geometry.named(given.path)
    description = service.model(model)
    effort, rate = limits(description)
    coefficients, found, panels = Coefficients(service, model, spline), [], []
    for title, rates in (("torques limited", None), ("torques and rates limited", rate)):
        say(title)
        timing = fastest(coefficients, effort, rates, given.intervals, say)
        times, tau, tau_dot, along = check(service, model, spline, timing, effort, rate)
        found.append(timing)
        loads = [np.abs(tau).max()] + ([np.abs(tau_dot).max()] if rates is not None else [])
        say(f"{given.path}, {title}: T {timing.duration:.6f} s, at most {max(loads):.9f} of a limit on the dense grid")
        panels += draw(title, times, tau, tau_dot, along, description["velocity_names"])
    plot.sheet(given.output, f"{given.path}: {found[0].duration:.4f} s and {found[1].duration:.4f} s", panels, across=3)
    if given.motion:
        with open(given.motion, "w", encoding="utf-8") as file:
            json.dump([{"duration": x.duration, "nodes": x.nodes.tolist(), "highest": x.highest.tolist()} for x in found],
                      file)
    return service, found


def draw(title, times, tau, tau_dot, along, joints):
    s, v, _ = along
    return [plot.curves(f"torques: {title}", "of the limit", times, tau, joints, (1, -1)),
            plot.curves("torque rates", "of the limit", times, np.clip(tau_dot, -5, 5), joints, (1, -1)),
            plot.curves("path", "s, and ds/dt in 1/s", times, np.column_stack([s, v]), ["s", "ds/dt"])]


def main():
    given, started = options(), time.monotonic()
    try:
        service, _ = plan(given)
    except (torqued.Error, NotSolved, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print(f"plot in {given.output}")
    print(f"{service.requests} requests, {service.states} states evaluated, {time.monotonic() - started:.1f} s, "
          f"of which {service.seconds:.1f} s waiting for the server")


if __name__ == "__main__":
    main()
