"""Whether the intervals of a study are narrow enough to stop measuring.

Only TPS over all workloads decides, of timed SQL the cold time: the other metrics of a study may be less precise.
A study that stops as soon as its interval is narrow enough stops sooner where the spread is small by chance, so that
its intervals hold the truth less often than those of a fixed number of blocks: up to two points in simulations, as
Starr 1966 (Annals of Mathematical Statistics 37, 36) computes it for one mean. All intervals of such a study are
therefore `widening.STOPPING` times as wide, when they are looked at and in the report. `benchmarks/stopping.csv` shows
that 94 % then hold the truth in the worst case and 95 % in the plain one.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scripts.lib.vocabulary import AA, Decision
from scripts.report.analysis.verdicts import PRIMARY


@dataclass(frozen=True)
class PrecisionGoal:
    """The half width that is narrow enough, as a share, and the seconds in blocks that may pass, None for any."""

    precision: float
    at_most_s: float | None = None


def widest(overall: pd.DataFrame) -> float:
    """Return the half width of the widest primary interval over all cells, as a share; infinite where one is unknown.

    A variant without any whole block, since all its runs failed, does not count: no further block makes it known.

    `overall` is overall.csv. The interval of a ratio from l to h counts as sqrt(h / l) - 1, since it is symmetric in
    its logarithm. Neither sign nor size of an effect matters, so that a study does not stop where an effect looks
    large by chance.
    """
    rows = overall[(overall["variant"] != AA) & overall["metric"].isin(PRIMARY) & (overall["n_pairs"] > 0)]
    if rows.empty:
        return float("inf")
    widths = np.sqrt(rows["ratio_high"] / rows["ratio_low"]) - 1
    return float(widths.fillna(np.inf).max())


def decide(half_width: float, spent_s: float, goal: PrecisionGoal) -> Decision:
    """Return whether a study measures another repetition; `spent_s` are the wall seconds of its blocks."""
    if half_width <= goal.precision:
        return Decision.ENOUGH
    if goal.at_most_s is not None and spent_s >= goal.at_most_s:
        return Decision.TIME_IS_UP
    return Decision.ANOTHER
