"""How much relinking alone moves a server: the spread between links of the reference's own objects in other orders.

The arm `relinked` runs another order in each repetition, beside the reference. In a repetition the log of its ratio to
the reference differs by what the layout does, which is one number per order, and by the noise of the block. The sample
variance S of these logs over n repetitions estimates the sum of both. The noise alone has the variance w V: V is the
variance of one arm, from the difference of the two reference arms, which is independent of their mean; w is 1.5 with
both reference arms and 2 with one. The variance between relinks is S - w V, at least 0.

Its interval is the generalised one of Weerahandi 1993 (Journal of the American Statistical Association 88, 899):
(n - 1) S / X - w m V / Y, where X and Y are independent chi-squares with n - 1 and m degrees of freedom, of which m
belong to V. Its quantiles are computed on a grid of theirs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from scripts.lib.vocabulary import AA, RELINKED
from scripts.report.analysis import stats
from scripts.report.analysis.columns import Row
from scripts.report.analysis.comparison import Terms
from scripts.report.analysis.intervals import combination, pooled_variance
from scripts.report.analysis.pairing import Arms, arms_of, judged_runs
from scripts.report.analysis.stats import Array
from scripts.report.analysis.table_columns import RELINKS

GRID = 200


@dataclass(frozen=True)
class Moved:
    """The standard deviation of log ratios between relinks with its 95 % interval, and that of the noise beside it."""

    relinks: int
    between: float
    low: float
    high: float
    noise: float


def relinked_table(runs: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Return relinked.csv from runs.csv: one row per metric over all cells, and one per cell; none without the arm."""
    rows: list[Row] = []
    if (runs["variant"] == RELINKED).any():
        chosen = runs[runs["variant"].isin([terms.reference, AA, RELINKED])]
        arms = arms_of(judged_runs(chosen, terms.reference), terms.reference, terms.metrics, terms.timed)
        rows = [row for metric in terms.metrics for row in _rows(arms, metric)]
    table = pd.DataFrame(rows, columns=RELINKS.names)
    return table.assign(clients=table["clients"].astype("Int64"))


def _rows(arms: Arms, metric: str) -> Iterator[Row]:
    cells, y, _ = arms.of(metric)
    if not cells:
        return
    contrast = combination(y, np.full_like(y, np.nan), {arms.names.index(RELINKED): 1, 0: -1}, arms.repetitions)
    # One order is the same in all cells. The noise of blocks without A/A is larger by the same factor as in a cell.
    means = (values.mean(axis=0) for values in (contrast.values, contrast.weight, y[..., :2]))
    yield {"workload": None, "clients": None, "metric": metric, **_columns(*means)}
    for number, (workload, clients) in enumerate(cells if len(cells) > 1 else ()):
        columns = _columns(contrast.values[number], contrast.weight[number], y[number][:, :2])
        yield {"workload": workload, "clients": clients, "metric": metric, **columns}


def moved(log_ratios: Array, weight: Array, variance: float, degrees: float) -> Moved:
    """Return what relinking moves, from the log ratio of each relink to the reference, NaN where there is none.

    `weight` is the variance of the noise of a log ratio in units of one arm's, whose estimate is `variance`.
    """
    measured = ~np.isnan(log_ratios)
    n = int(measured.sum())
    if n < 2 or not degrees > 0:
        return Moved(n, *[float("nan")] * 4)
    total, noise = float(log_ratios[measured].var(ddof=1)), float(weight[measured].mean() * variance)
    low, high = np.sqrt(np.maximum(variance_interval(total, n - 1, noise, degrees), 0.0))
    return Moved(n, float(np.sqrt(max(total - noise, 0.0))), float(low), float(high), float(np.sqrt(noise)))


def variance_interval(total: float, degrees: float, noise: float, noise_degrees: float) -> Array:
    """Return both ends of the 95 % interval of the difference of two variances, given their independent estimates."""
    shares = (np.arange(GRID) + 0.5) / GRID
    bounds = [estimate * number / scipy.special.chdtri(number, shares)
            for estimate, number in ((total, degrees), (noise, noise_degrees))]  # fmt: skip
    return np.asarray(np.quantile(np.subtract.outer(*bounds), [stats.ALPHA / 2, 1 - stats.ALPHA / 2]))


def _columns(log_ratios: Array, weight: Array, references: Array) -> Row:
    """Return the columns of the log ratios of relinks; `references` are the logs of both reference arms by block."""
    spread = moved(log_ratios, weight, *map(float, pooled_variance(references)))
    measured = log_ratios[~np.isnan(log_ratios)]
    return {
        "n_relinks": spread.relinks,
        "ratio": float(np.exp(measured.mean())) if measured.size else float("nan"),
        "sd": spread.between,
        "noise_sd": spread.noise,
        "moved": float(np.expm1(spread.between)),
        "moved_low": float(np.expm1(spread.low)),
        "moved_high": float(np.expm1(spread.high)),
    }
