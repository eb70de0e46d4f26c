"""Draws a stride: a sheet of curves with the path of the zero-moment point and snapshots, by Matplotlib.

Matplotlib takes longer to start than to draw: Sheet starts this file as a process that imports it and prepares the axes, while the
program solves. The stride then follows through a pipe.
"""
import pickle
import subprocess
import sys

JOINTS = ("hip", "knee", "ankle")
FORCES = (("lateral", 1), ("vertical", 2), ("fore-aft", 0))
SNAPSHOTS, APART = 9, 0.35      # m


class Sheet:
    """A picture at `path`, .svg or .png, that is drawn in a process of its own."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, __file__, path], stdin=subprocess.PIPE)

    def draw(self, stride, figure):
        """Sends the stride and waits for the picture. Raises OSError if it cannot be written."""
        self.process.communicate(pickle.dumps((stride, figure)))
        if self.process.returncode:
            raise OSError("the picture could not be drawn")

    def cancel(self):
        """Ends the process without a picture."""
        self.process.kill()
        self.process.communicate()


def prepare(pyplot):
    """The axes of the sheet by name."""
    rows = [[f"angle {joint}" for joint in JOINTS], [f"torque {joint}" for joint in JOINTS],
            [f"ground {name}" for name, _ in FORCES], [f"force {joint}" for joint in JOINTS], ["figure"] * 3, ["zero-moment"] * 3]
    sheet, axes = pyplot.subplot_mosaic(rows, figsize=(11, 15), gridspec_kw={
        "height_ratios": [1, 1, 1, 1, 2, 0.7], "left": 0.08, "right": 0.98, "bottom": 0.04, "top": 0.97, "hspace": 0.4, "wspace": 0.3})
    titles = {"angle": ("flexion", "degrees"), "torque": ("torque of flexion", "N m"), "ground": ("ground force", "% of weight"),
              "force": ("internal force, norm", "N")}
    for name, where in axes.items():
        kind, _, what = name.partition(" ")
        if kind in titles:
            where.set(title=f"{what}: {titles[kind][0]}", ylabel=titles[kind][1], xlim=(0, 100))
            where.grid(linewidth=0.3)
        if kind == "force":
            where.set_xlabel("% of the stride")
    axes["figure"].set(title="one step from the right, the left side in red; snapshots are moved apart", xticks=[], ylabel="z / m",
                       aspect="equal", xlim=(-0.8, 0.9 + APART * (SNAPSHOTS - 1)), ylim=(-0.05, 1.9))
    axes["zero-moment"].set(title="path of the zero-moment point", xlabel="x / m", ylabel="y / m", aspect="equal",
                            xlim=(-1.3, 1.3), ylim=(-0.2, 0.2))
    sheet.canvas.draw()         # loads fonts
    return sheet, axes


def fill(axes, stride, figure):
    """The curves; the part of the stride in which the left foot is on the ground is shaded."""
    import numpy as np
    percent = 100 * stride.share
    stance = 50 * (1 + stride.schedule.double)
    for joint in JOINTS:
        axes[f"angle {joint}"].plot(percent, np.degrees(stride.angles[joint]))
        axes[f"torque {joint}"].plot(percent, stride.torques[joint])
        axes[f"force {joint}"].plot(percent, stride.forces[joint])
    for name, column in FORCES:
        axes[f"ground {name}"].plot(percent, 100 * stride.ground[:, column] / stride.weight)
    for name, where in axes.items():
        if name not in ("figure", "zero-moment"):
            where.axvspan(0, stance, color="0.9")
    snapshots(axes["figure"], stride, figure)
    path(axes["zero-moment"], stride)


def snapshots(axes, stride, figure):
    """Stick figures at equal distances in time, the left side in colour."""
    import numpy as np
    chosen = np.round(np.linspace(0, len(stride.time) - 1, SNAPSHOTS)).astype(int)
    for number, i in enumerate(chosen):
        for line in figure:
            places = np.array([stride.places[name][i] for name in line])
            colour = "tab:red" if "left" in line[-1] else "0.3"
            axes.plot(places[:, 0] + APART * number, places[:, 2], color=colour, linewidth=1.2)
    axes.axhline(0, color="black", linewidth=0.5)


def path(axes, stride):
    """The path during one step, from above, and the footprints."""
    from matplotlib import pyplot
    prints = stride.schedule.footprints()
    for corners in prints:
        axes.add_patch(pyplot.Polygon(corners, fill=False, color="0.5"))
    axes.plot(stride.zero_moment[:, 0], stride.zero_moment[:, 1], ".-", markersize=3)


def main():
    import matplotlib
    matplotlib.use("agg")
    matplotlib.rcParams["svg.fonttype"] = "none"        # text stays text
    from matplotlib import pyplot
    sheet, axes = prepare(pyplot)
    received = sys.stdin.buffer.read()
    if received:
        stride, figure = pickle.loads(received)
        fill(axes, stride, figure)
        sheet.savefig(sys.argv[1])


if __name__ == "__main__":
    main()
