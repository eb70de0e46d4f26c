"""Parses the options of the planning programs, prints their results and reports their errors."""
import argparse
import json
import sys
import time

from service import torqued
from solver import NotSolved


def run(text, plan, **defaults):
    """Reads the options, lets plan(options) -> (service, motion) work, and says what that took. `text` is the help."""
    options = _options(text, defaults)
    started = time.monotonic()
    try:
        service, motion = plan(options)
        if options.motion:
            with open(options.motion, "w", encoding="utf-8") as file:
                json.dump({**motion.request(motion.spans, ["tau"])}, file)
    except (torqued.Error, NotSolved, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print(f"plot in {options.output}")
    print(f"{service.requests} requests, {service.states} states evaluated, {time.monotonic() - started:.1f} s, "
          f"of which {service.seconds:.1f} s waiting for the server")


def _options(text, defaults):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088",
                        help="a running torqued (%(default)s)")
    parser.add_argument("--control-points", metavar="N", type=int, default=defaults["control_points"],
                        help="for each joint in the first round, over uniform knots (%(default)s)")
    parser.add_argument("--rounds", metavar="N", type=int, default=defaults["rounds"],
                        help="how often it is solved; each round adds knots where torque is left unused (%(default)s)")
    parser.add_argument("--samples", metavar="N", type=int, default=5,
                        help="nodes in each span between two knots where torques are limited from the start; more are "
                             "added where it is needed (%(default)s)")
    parser.add_argument("--output", metavar="FILE", default=defaults["output"],
                        help="the plot, .svg or .png (%(default)s)")
    parser.add_argument("--motion", metavar="FILE",
                        help="write the motion found, as a request of the server's trajectory operation, here")
    options = parser.parse_args()
    if not options.output.endswith((".svg", ".png")):
        parser.error(f"--output {options.output}: expected a name that ends in .svg or .png")
    for name, least in (("rounds", 1), ("samples", 2)):
        if getattr(options, name) < least:
            parser.error(f"--{name} {getattr(options, name)}: expected at least {least}")
    return options


def table(rounds, columns=()):
    """Prints what each round gave. `columns`: more of them, (title, text of a round)."""
    columns = [("points", lambda r: f"{len(r.motion.points)}"), ("nodes", lambda r: f"{r.nodes}"),
               ("iterations", lambda r: f"{r.iterations}"), ("largest load", lambda r: f"{r.load:.6f}"),
               ("T / s", lambda r: f"{r.motion.duration:.6f}"), *columns]
    for cells in [[title for title, _ in columns], *([text(r) for _, text in columns] for r in rounds)]:
        print("  ".join(cell.rjust(12) for cell in cells))
