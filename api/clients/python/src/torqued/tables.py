"""Give the outputs of an answer as a table of pandas."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy.typing as npt

from .described import Described
from .outputs import columns

if TYPE_CHECKING:
    from pandas import DataFrame


def table(model: Described, outputs: Mapping[str, Any], times: Optional[npt.ArrayLike] = None) -> DataFrame:
    """A row for each state or sample; columns are pairs of output and coordinate, such as ("tau", "joint1").

    `table(…)["tau"]` is a table of one output, which model.velocities() takes back. The index is `times`, else `times` of
    the answer, else the number of the row.
    """
    import pandas

    given = outputs.get("times") if times is None else times
    data = {(output, name): values[:, i] for output, names, values in columns(model, outputs) for i, name in enumerate(names)}
    return pandas.DataFrame(data, index=None if given is None else pandas.Index(given, name="t / s"))
