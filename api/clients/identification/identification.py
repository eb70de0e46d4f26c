#!/usr/bin/python3
"""Identifies a robot from raw measurements of a periodic motion, and checks the model found on another motion.

The record is a CSV file with the columns t, q.<joint> ... and tau.<joint> ..., such as a controller writes at 1 kHz while the
robot repeats a motion of excitation.py. Periods are averaged, positions filtered without phase shift and differentiated; the
noise of torques is their spread between periods. The server's identify estimates the parameters by weighted least squares. The
program prints them with their deviations, compares predicted and measured torques of a motion that was not used, and sends the
identified model to the server with PUT.

  build/torqued &
  api/clients/identification/identification.py --model panda --record record.csv --motion motion.json --friction --rotor \\
      --validation other.csv --validation-motion other.json --put panda-identified

A payload on a known robot: --unknown payload --frame panda_flange, or payload.mass payload.com without its inertia. The friction
of a known robot: --unknown friction. A motion that does not show everything: --prior-bodies 0.1. Torques with outliers: --huber 1.345.
"""
import argparse
import sys
import time

import numpy as np

import plot
from fourier import Fourier
from measurements import periodic, read
from service import Service, torqued

UNKNOWN = ("payload", "payload.mass", "payload.com", "friction", "rotors")


def options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088", help="a running torqued (%(default)s)")
    parser.add_argument("--model", metavar="NAME", default="panda", help="what is known of the robot (%(default)s)")
    parser.add_argument("--record", metavar="FILE", required=True, help="measurements, CSV; the first period is left out")
    parser.add_argument("--motion", metavar="FILE", required=True, help="the motion of the record; only its period is used")
    parser.add_argument("--validation", metavar="FILE", help="measurements of another motion, on which the model found is checked")
    parser.add_argument("--validation-motion", metavar="FILE", help="the motion of that record")
    parser.add_argument("--friction", action="store_true", help="viscous and Coulomb friction are unknown, too")
    parser.add_argument("--rotor", action="store_true", help="rotor inertias are unknown, too")
    parser.add_argument("--unknown", metavar="NAME", nargs="+", choices=UNKNOWN,
                        help=f"only these are unknown, of {', '.join(UNKNOWN)}")
    parser.add_argument("--frame", metavar="NAME", help="that an unknown payload is fixed to")
    parser.add_argument("--prior-bodies", metavar="R", type=float,
                        help="how far bodies may be from the model's where the motion does not tell: a share of their masses")
    parser.add_argument("--huber", metavar="K", type=float,
                        help="residuals beyond K standard deviations count linearly, 1.345 for outliers")
    parser.add_argument("--cutoff", metavar="HZ", type=float, default=10,
                        help="above all that the robot does, below the noise of encoders (%(default)s)")
    parser.add_argument("--differences", action="store_true", help="derive by central differences, not by Fourier series")
    parser.add_argument("--still", metavar="V", type=float, default=0.01,
                        help="rad/s or m/s: slower rows of a joint are left out if friction is unknown, for its sign is not "
                             "certain there (%(default)s)")
    parser.add_argument("--every", metavar="N", type=int, default=1, help="use one of N rows (%(default)s)")
    parser.add_argument("--put", metavar="NAME", help="the name of the model found, on the server")
    parser.add_argument("--plot", metavar="FILE", default="identification.svg", help=".svg or .png (%(default)s)")
    given = parser.parse_args(arguments)
    if (given.validation is None) != (given.validation_motion is None):
        parser.error("--validation and --validation-motion belong together")
    if given.unknown and (given.friction or given.rotor):
        parser.error("--unknown names all that is unknown: leave --friction and --rotor out")
    if given.every < 1:
        parser.error(f"--every {given.every}: expected at least 1")
    if not given.plot.endswith((".svg", ".png")):
        parser.error(f"--plot {given.plot}: expected a name that ends in .svg or .png")
    return given


def weights(period, given):
    """1 / noise for each row and joint, and 0 where the sign of friction is not certain. Equal weights without noise."""
    size = np.where(period.noise > 0, period.noise, 1.0)
    rows = np.broadcast_to(1 / size, period.tau.shape)
    unknown_friction = given.friction or "friction" in (given.unknown or ())
    return rows * (np.abs(period.states["qd"]) >= given.still) if unknown_friction else rows.copy()


def identify(service, model, period, given):
    """The server's answer."""
    chosen = ({"unknown": given.unknown, "frame": given.frame} if given.unknown
              else {"friction": given.friction or None, "rotor": given.rotor or None})
    rows = {name: x[::given.every] for name, x in period.states.items()}
    prior = {"bodies": given.prior_bodies} if given.prior_bodies else None
    payload = any(name.startswith("payload") for name in given.unknown or ())
    return service.ask(model.identify, **rows, tau=period.tau[::given.every], weights=weights(period, given)[::given.every], **chosen,
                       prior=prior, huber=given.huber,
                       outputs=["base_parameters", "residual", "condition", "model", "fit", "observability"]
                       + (["payload"] if payload else []))


def not_shown(found):
    """Parameters that the rows do not show alone, though another motion would."""
    return [entry["parameter"] for entry in found.observability
            if entry["these_rows"] != "alone" and entry["these_rows"] != entry["any_motion"]]


def report(found, say):
    """Prints the parameters with their deviations."""
    say(f"{len(found.base_parameters)} base parameters, condition {found.condition:.1f}, "
        f"residual {found.residual:.2f} of the noise between periods, with the model found {found.fit['residual']:.2f}")
    for entry in found.base_parameters:
        grouping = entry["grouping"]
        more = f" (with {len(grouping['with'])} more)" if grouping["with"] else ""
        say(f"  {grouping['parameter'] + more:42} {entry['value']:10.4f} +- {entry['deviation']:.4f}")
    if hasattr(found, "payload"):
        payload, deviation = found.payload, found.payload["mass_deviation"]
        known = "kg, not shown alone," if deviation is None else f"+- {deviation:.3f} kg"
        say(f"payload on {payload['link']}: {payload['mass']:.3f} {known} at {np.round(payload['com'], 4).tolist()} m")
    if not_shown(found):
        say(f"not shown alone by this motion: {', '.join(not_shown(found))}")


def errors(service, model, period):
    """Measured minus predicted torques."""
    return period.tau - service.ask(model.inverse_dynamics, **period.states).tau


def rms(values):
    return np.sqrt((values ** 2).mean(axis=0))


def validate(service, before, after, period, say):
    """Prints the root mean square of the errors of both models by joint, beside the noise, and returns the errors."""
    wrong, left = (errors(service, model, period) for model in (before, after))
    say("torques of the other motion: root mean square in N m or N, of the error of the model known before, of the model found")
    for name, was, now, tau, noise in zip(before.velocity_names, rms(wrong), rms(left), rms(period.tau), period.noise):
        say(f"  {name:24} torque {tau:8.3f}   before {was:8.3f}   found {now:8.4f}   noise {noise:8.4f}")
    say(f"all joints: before {rms(wrong.ravel()):.3f}, found {rms(left.ravel()):.4f}, noise {rms(period.noise):.4f}")
    return wrong, left


def draw(path, model, found, periods):
    """`periods`: titles, mean periods and errors of both models."""
    panels = []
    for title, period, wrong, left in periods:
        measured = plot.curves(f"{title}: measured torques", "N m or N", period.times, period.tau, model.velocity_names)
        panels += [plot.with_legend(measured),
                   plot.curves("error of the model known before", "N m or N", period.times, wrong, model.velocity_names),
                   plot.curves("error of the model found", "N m or N", period.times, left, model.velocity_names)]
    plot.sheet(path, f"{model.name}: {len(found.base_parameters)} base parameters", panels, across=3)


def work(service, given, say=print):
    """Identifies, validates and draws. Returns the answer of identify and the model found, which has the name of --put or is
    deleted at the end."""
    model, client = service.client.model(given.model), service.client
    motion, _ = Fourier.load(given.motion)
    period = periodic(read(given.record, model.velocity_names), motion.period, given.cutoff, given.differences)
    found = identify(service, model, period, given)
    report(found, say)
    better = client.put(given.put or f"{given.model}-found", found.model)
    periods = [("used", period, errors(service, model, period), errors(service, better, period))]
    if given.validation:
        other, _ = Fourier.load(given.validation_motion)
        check = periodic(read(given.validation, model.velocity_names), other.period, given.cutoff, given.differences)
        periods.append(("other", check, *validate(service, model, better, check, say)))
    draw(given.plot, model, found, periods)
    if given.put:
        say(f"the robot found is the model {given.put}")
    else:
        better.delete()
    return found, better


def main():
    given, started = options(), time.monotonic()
    try:
        service = Service(given.server)
        work(service, given)
    except (torqued.Error, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print(f"plot in {given.plot}")
    print(service.account(started))


if __name__ == "__main__":
    main()
