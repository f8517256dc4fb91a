"""A quantity of the runs of a variant beside that of the reference: both, and their ratio with its interval."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scripts.lib.wording import before_after, count, interval, missing, times
from scripts.report.analysis import stats
from scripts.report.page.document import Cell


@dataclass(frozen=True)
class PairedMeans:
    """Geometric means over the `n` places that both sides have; `low` and `high` bound the ratio, NaN for one place."""

    reference: float
    ratio: float
    low: float
    high: float
    n: int

    @property
    def text(self) -> str:
        """The ratio in words, with its 95 % t interval where its runs differ."""
        span = "" if missing(self.low) or self.low == self.high else f" ({interval(self.low, self.high)})"
        return f"{times(self.ratio)}{span}, n {self.n}"

    def cell(self, written: Callable[[float], str] = count) -> Cell:
        """Return `reference → variant`, and under it their ratio."""
        return Cell(before_after(self.reference, self.reference * self.ratio, written), (self.text,))


def paired_means(variant: pd.Series, reference: pd.Series) -> PairedMeans | None:
    """Return the means of a variant and of the reference over the places that both have; None without any."""
    logs = np.log(variant / reference).replace([np.inf, -np.inf], np.nan).dropna()
    if logs.empty:
        return None
    ratio, low, high = (float(np.exp(part)) for part in stats.t_interval(logs))
    return PairedMeans(stats.geometric_mean(reference[logs.index]), ratio, low, high, len(logs))
