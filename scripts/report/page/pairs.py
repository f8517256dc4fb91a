"""A quantity of the runs of a variant beside that of the reference: the field of a table with both and their ratio."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from scripts.lib.wording import before_after, count, interval, missing, times
from scripts.report.analysis import stats
from scripts.report.page.value_tables import Cell


def pair_cell(ours: pd.Series, theirs: pd.Series, written: Callable[[float], str] = count) -> Cell | None:
    """Return `theirs → ours` as geometric means over the places that both have, and under it their ratio.

    The note has the ratio's 95 % t interval where its runs differ, and the number of places. None without any.
    """
    logs = np.log(ours / theirs).replace([np.inf, -np.inf], np.nan).dropna()
    if logs.empty:
        return None
    ratio, low, high = (float(np.exp(part)) for part in stats.t_interval(logs))
    reference = stats.geometric_mean(theirs[logs.index])
    span = "" if missing(low) or low == high else f" ({interval(low, high)})"
    return Cell(before_after(reference, reference * ratio, written), (f"{times(ratio)}{span}, n {len(logs)}",))
