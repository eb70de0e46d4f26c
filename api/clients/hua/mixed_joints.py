#!/usr/bin/python3
"""An arm of two rigid joints and an elastic one follows sines for ten seconds: the simulation of Hua, Poursina and
Sanfilippo (Dynamic modelling of mixed rigid-flexible joint robotic manipulator, section V), with what they published
beside it. The model `hua` and the controller of the same name come along with the server; a request of `simulate` each
for the free arm and for a force of 3 N at its tip, down like a load's weight and up like the published one.

Prints the tracking errors and draws joints, motors and torques into an SVG.

  build/torqued &
  api/clients/hua/mixed_joints.py --output mixed_joints.svg
"""
import argparse
import os
import sys
import time

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)
import numpy as np  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402

matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 8, "axes.grid": True, "grid.alpha": 0.3})

MODEL = "hua"
JOINTS = 3                      # the last of which is elastic; its motor's coordinate comes fourth
START = [0, 0, -0.4363]         # rad
DURATION = 10                   # s
AMPLITUDE, FREQUENCY = 0.5, 0.5 * np.pi     # rad, rad/s: of all joints
# Not published, chosen so that kp/kd = 10/s everywhere: of joints 1, 2, 3 and the motor of the third.
KP, KD = [200, 200, 100, 100], [20, 20, 10, 10]
FILTER = 200                    # rad/s
PUBLISHED = {"free": [0.0026819, 0.003619, 0.052678], "force up": [0.0026903, 0.0061066, 0.052422]}   # rad
CASES = {"free": None, "force down": -3, "force up": 3}     # N on the tip


def request(force, samples):
    """A simulation as the server takes it. The spring is not stretched at first, and nothing moves."""
    sine = {"amplitude": [AMPLITUDE] * JOINTS + [0], "angular_frequency": [FREQUENCY] * JOINTS + [0]}
    asked = {"q": START + START[-1:], "duration": DURATION, "tolerance": 1e-8, "stiff": True, "samples": samples,
             "input": {"controller": "hua", "kp": KP, "kd": KD, "filter": FILTER, "reference": sine},
             "outputs": ["times", "q", "tau", "position_error", "steps"]}
    if force is not None:
        # link3's origin is the joint, its tip 0.3 m along x
        asked["wrenches"] = [{"link": "link3", "point": [0.3, 0, 0], "force": [0, 0, force]}]
    return asked


def root_mean_squares(errors):
    return np.sqrt(np.mean(errors**2, axis=0))


def simulate(server, samples):
    """All cases, with a line for each when it is done."""
    arm = torqued.Client(server).model(MODEL)
    results = {}
    for name, force in CASES.items():
        begun = time.monotonic()
        results[name] = arm.simulate(**request(force, samples))
        print(f"{name}: {DURATION} s in {results[name]['steps'][-1]:.0f} steps, {time.monotonic() - begun:.1f} s",
              flush=True)
    return results


def table(results):
    """Root mean squares of the joints' errors, in rad, beside the published ones. The effect of a load shows in the torque
    of the second motor when the arm is lowest, after three seconds."""
    print("".join(cell.rjust(14) for cell in ("", "joint1", "joint2", "joint3", "tau2(3 s)/N m")))
    for name, result in results.items():
        errors = root_mean_squares(result["position_error"])[:JOINTS]
        lifting = np.interp(3, result["times"], result["tau"][:, 1])
        print("".join(cell.rjust(14) for cell in (name, *(f"{error:.7f}" for error in errors), f"{lifting:.4f}")))
        if name in PUBLISHED:
            print("".join(cell.rjust(14) for cell in ("published", *map(str, PUBLISHED[name]))))


def curves(axes, times, columns, title, unit):
    for name, values, style in columns:
        axes.plot(times, values, style, label=name, linewidth=1)
    axes.set(title=title, xlabel="t / s", ylabel=unit)
    axes.legend(loc="lower right", fontsize=6)


def draw(path, results):
    """A row for each case: the joints and where they should be, the motors, their torques."""
    figure, panels = pyplot.subplots(len(results), 3, figsize=(13.5, 3.2 * len(results)), layout="constrained")
    figure.suptitle("two rigid joints and an elastic one")
    for row, (name, a) in zip(panels, results.items()):
        t, q, tau = a["times"], a["q"], a["tau"]
        desired, wanted = AMPLITUDE * np.sin(FREQUENCY * t), q[:, JOINTS] + a["position_error"][:, JOINTS]
        motor = [0, 1, JOINTS]      # coordinates: those of rigid joints are their joints'
        curves(row[0], t, [*((f"joint{i + 1}", q[:, i], "-") for i in range(JOINTS)), ("desired", desired, "k--")],
               f"{name}: joints", "rad")
        curves(row[1], t, [*((f"motor{i + 1}", q[:, v], "-") for i, v in enumerate(motor)),
                           ("desired of motor3", wanted, "k--")], f"{name}: motors, behind their gears", "rad")
        curves(row[2], t, [(f"motor{i + 1}", tau[:, v], "-") for i, v in enumerate(motor)],
               f"{name}: motor torques, behind their gears", "N m")
        row[2].set_yscale("symlog", linthresh=20, linscale=3)    # a peak at first
    figure.savefig(path)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", default="http://127.0.0.1:8088",
                        help="a running torqued (%(default)s)")
    parser.add_argument("--samples", metavar="N", type=int, default=2001, help="of every simulation (%(default)s)")
    parser.add_argument("--output", metavar="FILE", default="mixed_joints.svg",
                        help="the plot, .svg or .png (%(default)s)")
    options = parser.parse_args()
    if not options.output.endswith((".svg", ".png")):
        parser.error(f"--output {options.output}: expected a name that ends in .svg or .png")
    try:
        results = simulate(options.server, options.samples)
        table(results)
        draw(options.output, results)
    except (torqued.Error, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print(f"plot in {options.output}")


if __name__ == "__main__":
    main()
