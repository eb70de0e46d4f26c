#!/usr/bin/python3
"""Predicts normal walking of the skeletal model gait55 by optimisation (Barman 2020, chapter 5, after Xiang et al. 2009).

One step of 0.6 m at 1.2 m/s, in double and in single support, costs the integral of |tau / tau_max|^2. Joint angles are cubic
B-splines; the server gives torques, ground forces, points of the feet and all gradients. Constraints: limits of positions and
torques, feet that stand still on the ground and do not enter it, the zero-moment point within the polygon of support, symmetry of
consecutive steps, arms that swing with the opposite legs, hands that do not touch the hips, and a bent knee at mid-swing.

The first phase begins with all joints at zero and ends where the constraints on postures are satisfied, the second phase ends at
the optimum with all constraints. Every iteration prints the cost, the largest violation, the gradient of the Lagrangian relative to
the largest multiplier, the largest change of a variable, and the active inequalities.

  build/torqued &
  api/clients/gait/gait.py
  api/clients/gait/gait.py --coordinates 55 --control-points 8
"""
from clock import Clock

clock = Clock()
with clock("imports"):
    import argparse
    import json
    import sys

    from animation import write_animation
    from motion import Mirror, Step
    from plot import Sheet
    from problem import Gait, Shape
    from qp import NotConverged
    from report import table_of_extremes, table_of_seconds
    from schedule import Schedule
    from sqp import Minimiser, NotSolved
    from stride import FIGURE, stride
    from walker import Failed, Walker

COLUMNS = "   i          cost    violation   optimality   change  active  changes"
FEASIBLE = 1e-3     # largest violation at the end of the first phase, m or parts of a limit


def main():
    options = read_options()
    sheet = Sheet(options.output)
    try:
        predict(options, sheet)
    except (Failed, NotSolved, NotConverged, OSError, ValueError) as error:
        sheet.cancel()
        sys.exit(f"{sys.argv[0]}: {error}")


def predict(options, sheet):
    """Solves the program, prints and draws the results."""
    walker = Walker(options.server, clock, options.coordinates == 55)
    schedule = Schedule(speed=options.speed, length=options.step_length, width=options.step_width, points=options.control_points)
    step = splines(walker, schedule, options.periodic)
    result = solve(walker, step, schedule, options, (lambda text: None) if options.quiet else print)
    if options.motion:
        write_motion(options.motion, walker, step, schedule, result.x)
    with clock("stride on a dense grid"):
        found = stride(walker, step, schedule, result.x)
    with clock("plots, beyond the solution's time"):
        sheet.draw(found, FIGURE)
        if options.animation:
            write_animation(options.animation, found)
    table_of_extremes(found)
    table_of_seconds(clock, walker)


def splines(walker, schedule, periodic):
    """The step's splines at the schedule's instants."""
    basis = walker.basis(schedule.knots, [*schedule.fractions, 0.0, 1.0], schedule.duration)
    continuity = {"velocity": 2, "acceleration": 3}[periodic]
    return Step(Mirror(walker.document, walker.names), walker.names, basis, continuity, schedule.length)


def solve(walker, step, schedule, options, say):
    """Solves both phases. Returns the result of the second one."""
    shape = Shape(walker, step, schedule)
    say(f"{step.size} variables: {len(walker.names)} coordinates, {step.free} of {step.count} control points of each; "
        f"{len(schedule.fractions)} instants\nfirst phase: postures\n{COLUMNS}")
    first = Minimiser(shape, shape.start(), None, FEASIBLE, damping=0.1).run(options.iterations, say)
    gait = Gait(walker, step, schedule, options.force_bound)
    second = Minimiser(gait, first.x, options.tolerance, min(options.tolerance, FEASIBLE))
    say(f"second phase: {len(second.values.equalities)} equalities, {len(second.values.inequalities)} inequalities\n{COLUMNS}")
    result = second.run(options.iterations, say)
    print(f"cost {result.values.cost:.6f} after {first.iterations} and {result.iterations} iterations; "
          f"violation {result.values.violation():.1e}, optimality {result.optimality:.1e}")
    return result


def write_motion(path, walker, step, schedule, x):
    """Writes the step as a request of the operation trajectory."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"degree": 3, "knots": schedule.knots.tolist(), "duration": schedule.duration,
                   "control_points": walker.whole(step.control_points(x)).tolist(), "times": schedule.times.tolist()}, file)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--coordinates", type=int, choices=(38, 55), default=38,
                        help="38: upper spine, neck, clavicles and wrists are frozen (%(default)s)")
    parser.add_argument("--control-points", metavar="N", type=int, default=6, help="of each coordinate (%(default)s)")
    parser.add_argument("--speed", metavar="V", type=float, default=1.2, help="of walking, m/s (%(default)s)")
    parser.add_argument("--step-length", metavar="L", type=float, default=0.6, help="m (%(default)s)")
    parser.add_argument("--step-width", metavar="W", type=float, default=0.12, help="between the middles of the feet, m (%(default)s)")
    parser.add_argument("--periodic", choices=("velocity", "acceleration"), default="velocity",
                        help="the highest derivative that is the same in consecutive steps (%(default)s)")
    parser.add_argument("--force-bound", metavar="F", type=float,
                        help="of the norms of internal forces at hips, knees and ankles, N (none)")
    parser.add_argument("--tolerance", metavar="T", type=float, default=1e-3,
                        help="of the Lagrangian's gradient, and of violations, there at most 1e-3 (%(default)s)")
    parser.add_argument("--iterations", metavar="N", type=int, default=300, help="of each phase, at most (%(default)s)")
    parser.add_argument("--output", metavar="FILE", default="gait.svg", help="the sheet of curves, .svg or .png (%(default)s)")
    parser.add_argument("--animation", metavar="FILE", help="a walking stick figure, .svg, that browsers show")
    parser.add_argument("--motion", metavar="FILE", help="write the step as a request of the server's trajectory operation")
    parser.add_argument("--quiet", action="store_true", help="print results alone")
    options = parser.parse_args()
    for name in ("speed", "step_length", "step_width", "tolerance", "iterations") + ("force_bound",) * (options.force_bound is not None):
        if not (getattr(options, name) or 0) > 0:
            parser.error(f"--{name.replace('_', '-')} {getattr(options, name)}: expected more than 0")
    for name, endings in (("output", (".svg", ".png")), ("animation", (".svg",))):
        if not (getattr(options, name) or ".svg").endswith(endings):
            parser.error(f"--{name} {getattr(options, name)}: expected a name that ends in {' or '.join(endings)}")
    return options


if __name__ == "__main__":
    main()
