#!/usr/bin/python3
"""Lengths and forces of a Gough-Stewart platform's legs while the platform is rocked like a ship: every instant is one
row of a batch of poses, and one inverse-dynamics request answers for all of them.

The platform's centre surges and heaves; its orientation Rx(roll) Ry(pitch) turns at

    w = roll' e_x + pitch' Rx(roll) e_y.

Position and orientation go to the server with their first and second derivatives; the answer has the legs' lengths,
speeds, accelerations and forces.
"""
import argparse
import os
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)
import numpy as np  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402

HEIGHT = 0.9                                                # m, of the platform's centre at home
WAVES = {"surge": (0.06, 1, 0), "heave": (0.08, 2, 0.5),    # amplitude (m), waves in one motion, phase
         "roll": (0.15, 1, 0), "pitch": (0.1, 2, 1)}        # amplitude (rad)


def wave(name, times, period):
    """A sine, its first and second derivative."""
    size, waves, phase = WAVES[name]
    rate = 2 * np.pi * waves / period
    angle = rate * times + phase
    return size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)


def motion(times, period):
    """The platform's motion as the request's field `platform`: rows of position, orientation, velocity, acceleration."""
    surge, heave, roll, pitch = (wave(name, times, period) for name in WAVES)
    phi, phid, phidd = roll
    psi, psid, psidd = pitch
    zero = 0 * times
    c, s = np.cos(phi), np.sin(phi)
    half = [f(angle / 2) for f in (np.sin, np.cos) for angle in (phi, psi)]
    columns = {
        "position": (surge[0], zero, HEIGHT + heave[0]),
        # Rx(phi) Ry(psi) as x, y, z, w
        "orientation": (half[0] * half[3], half[2] * half[1], half[0] * half[1], half[2] * half[3]),
        "velocity": (surge[1], zero, heave[1], phid, psid * c, psid * s),
        "acceleration": (surge[2], zero, heave[2], phidd, psidd * c - psid * phid * s, psidd * s + psid * phid * c)}
    return {"frame": "centre", **{name: np.transpose(rows) for name, rows in columns.items()}}


def draw(path, times, lengths, forces):
    figure, panels = pyplot.subplots(2, 1, figsize=(6.5, 6), layout="constrained", sharex=True)
    for axes, values, title in zip(panels, (lengths, forces), ("length / m", "force / N")):
        for leg, curve in enumerate(np.transpose(values), 1):
            axes.plot(times, curve, linewidth=1.2, label=f"leg {leg}")
        axes.set(ylabel=title)
        axes.grid(alpha=0.3)
    panels[0].legend(ncols=6, fontsize=6, loc="lower center", bbox_to_anchor=(0.5, 1))
    panels[1].set(xlabel="t / s")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088",
                        help="a running torqued (%(default)s)")
    parser.add_argument("--seconds", type=float, default=4, help="one motion takes (%(default)s)")
    parser.add_argument("--load", metavar="KG", type=float, default=50,
                        help="a load 0.3 m above the platform's middle (%(default)s)")
    parser.add_argument("--output", metavar="FILE", default="leg_forces.svg", help="the plot, .svg or .png (%(default)s)")
    options = parser.parse_args()
    if not options.output.endswith((".svg", ".png")):
        parser.error(f"--output {options.output}: expected a name that ends in .svg or .png")
    times = np.linspace(0, options.seconds, 401)
    request = {"platform": motion(times, options.seconds),
               # `platform`'s own frame is at leg 1's ball joint; the load stands over its middle
               "payload": {"link": "platform", "mass": options.load, "com": [-0.225, -0.268, 0.3]}}
    try:
        answer = torqued.Client(options.server).model("stewart").inverse_dynamics(**request)
    except (torqued.Error, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    lengths, forces = answer.q, answer.tau
    draw(options.output, times, lengths, forces)
    print(f"legs of {lengths.min():.4f} to {lengths.max():.4f} m bear {forces.min():.2f} to {forces.max():.2f} N")
    print(f"plot in {options.output}")


if __name__ == "__main__":
    main()
