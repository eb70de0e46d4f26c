"""Draw the outputs of an answer over time. Needs Matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np
import numpy.typing as npt

from .described import Described
from .outputs import columns, unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 12     # curves of a panel; of more, none is named
LONGEST_NAME = 28   # characters of a name in a legend; longer ones lose their middle


def plot(model: Described, outputs: Mapping[str, Any], times: Optional[npt.ArrayLike] = None) -> Figure:
    """A figure with one panel for each output of `outputs`, an answer or a dictionary of arrays: rows are samples.

    `times` (s) are those of the rows, else `times` of the answer, else the rows are numbered. The figure is not shown: a
    notebook draws it, `figure.savefig("name.svg")` writes it.
    """
    from matplotlib import figure as figures

    panels = list(columns(model, outputs))
    if not panels:
        raise ValueError("no output has one row for each sample")
    given = outputs.get("times") if times is None else times
    along = np.arange(len(panels[0][2])) if given is None else np.asarray(given)
    drawn = figures.Figure(figsize=(7, 0.6 + 2.1 * len(panels)), layout="constrained")
    for axes, (output, names, values) in zip(drawn.subplots(len(panels), squeeze=False, sharex=True)[:, 0], panels):
        lines = axes.plot(along, values, linewidth=1.2)
        known = unit(model, output)
        axes.set_ylabel(f"{output} / ({known})" if "," in known or "/" in known else f"{output} / {known}" if known else output)
        axes.grid(alpha=0.3)
        if 1 < len(names) <= MOST_NAMED:
            axes.legend(lines, [_shortened(name) for name in names], fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set_xlabel("row" if given is None else "t / s")
    drawn.align_ylabels()
    drawn.suptitle(model.name)
    return drawn


def _shortened(name: str) -> str:
    tail = (LONGEST_NAME - 1) // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME - 1 - tail]}…{name[-tail:]}"
