"""Plots of a motion: curves over time and the robot at a few instants, as SVG or PNG. All that is drawn comes from the
server."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)
import numpy as np  # noqa: E402

SNAPSHOTS = 9
matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 8, "axes.grid": True, "grid.alpha": 0.3})


def states(service, model, motion, outputs):
    """The outputs along the motion as arrays, at every knot and 400 instants."""
    fractions = np.union1d(np.linspace(0, 1, 400), motion.spans)
    answer = service.ask(model, "trajectory", motion.request(fractions, ["times", *outputs]))
    return {name: answer[name] for name in ("times", *outputs)}


def forces(joint_wrenches):
    """The magnitude of the force that each joint transmits: instants x bodies, in N."""
    return np.linalg.norm(joint_wrenches[:, :, :3], axis=2)


def curves(title, unit, times, values, names, limits=()):
    """A panel with one curve for each column of `values`, and lines at the limits."""
    def draw(axes):
        for column, name in zip(values.T, names):
            axes.plot(times, column, label=name, linewidth=1.2)
        for limit in limits:
            axes.axhline(limit, color="black", linewidth=0.7, linestyle="--")
        axes.set(title=title, xlabel="t / s", ylabel=unit)
        axes.legend(loc="best", fontsize=6)
    return draw


def snapshots(service, model, description, motion, plane):
    """A panel with the origins of the base and of all bodies joined, at instants of equal distance; `plane` is a pair
    of world axes like "xy"."""
    rows = states(service, model, motion, ["q"])
    times = np.linspace(0, motion.duration, SNAPSHOTS)
    q = np.array([np.interp(times, rows["times"], column) for column in rows["q"].T]).T
    bodies = description["bodies"]
    poses = service.ask(model, "kinematics", {"q": q, "frames": bodies})["poses"]
    chain = np.array([np.zeros((SNAPSHOTS, 3)), *(poses[body]["position"] for body in bodies)])
    horizontal, vertical = ("xyz".index(axis) for axis in plane)

    def draw(axes):
        for i, shade in enumerate(matplotlib.colormaps["viridis"](np.linspace(0, 0.9, SNAPSHOTS))):
            axes.plot(chain[:, i, horizontal], chain[:, i, vertical], "o-", color=shade, markersize=2.5,
                      label=f"{times[i]:.3f} s" if i in (0, SNAPSHOTS - 1) else None)
        axes.set(title="motion", xlabel=f"{plane[0]} / m", ylabel=f"{plane[1]} / m", aspect="equal")
        axes.legend(loc="best", fontsize=6)
    return draw


def sheet(path, title, panels, across=2):
    """All panels on one sheet."""
    down = -(-len(panels) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(4.6 * across, 3.3 * down), layout="constrained",
                                   squeeze=False)
    figure.suptitle(title)
    for draw, where in zip(panels, axes.ravel()):
        draw(where)
    for where in axes.ravel()[len(panels):]:
        where.remove()
    figure.savefig(path)
    pyplot.close(figure)
