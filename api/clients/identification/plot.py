"""Plots of excitation and identification, as SVG or PNG."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)
import numpy as np  # noqa: E402

POINTS = 1000
matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 8, "axes.grid": True, "grid.alpha": 0.3})


def unit_columns(W):
    flat = W.reshape(-1, W.shape[2])
    return flat / np.linalg.norm(flat, axis=0)


def curves(title, unit, times, values, names, limits=()):
    """A panel with one curve for each column of `values`, of at most POINTS of its rows, and lines at the limits."""
    def draw(axes):
        step = -(-len(times) // POINTS)
        for column, name in zip(values.T, names):
            axes.plot(times[::step], column[::step], label=name, linewidth=1)
        for limit in limits:
            axes.axhline(limit, color="black", linewidth=0.7, linestyle="--")
        axes.set(title=title, xlabel="t / s", ylabel=unit)
    return draw


def with_legend(panel):
    """The panel with the names of its curves."""
    def draw(axes):
        panel(axes)
        axes.legend(loc="upper right", fontsize=6)
    return draw


def progress(history):
    def draw(axes):
        axes.plot(range(1, len(history) + 1), [value for value, _ in history], "o-", markersize=2)
        axes.set(title="search", xlabel="iteration", ylabel="criterion")
    return draw


def spectra(values, names):
    """A panel with the singular values of several matrices."""
    def draw(axes):
        for column, name in zip(values, names):
            axes.semilogy(range(1, len(column) + 1), column, "o-", markersize=2.5, linewidth=0.8,
                          label=f"{name}: {column[0] / column[-1]:.1f}")
        axes.set(title="singular values, condition", xlabel="number", ylabel="of unit columns")
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
