"""Ratios without blocks: intervals from the spread between the repetitions of each side (Welch 1947)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from scripts.lib.vocabulary import WORKLOAD_CLIENTS
from scripts.report.analysis import stats
from scripts.report.analysis.columns import Row
from scripts.report.analysis.printed_digits import rounding

Cell = tuple[str, int]
Term = tuple[int, pd.DataFrame]


@dataclass(frozen=True)
class WelchEstimate:
    """A log ratio with the bounds of its 95 % interval; `n` is the smallest number of values per cell and side."""

    log_ratio: float
    low: float
    high: float
    n: int

    @property
    def ratio(self) -> float:
        """The ratio itself."""
        return float(np.exp(self.log_ratio))

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval of the ratio."""
        return float(np.exp(self.low)), float(np.exp(self.high))

    @property
    def columns(self) -> Row:
        """The columns of the ratio and its interval."""
        low, high = self.bounds
        return {"log_ratio": self.log_ratio, "ratio": self.ratio, "ratio_low": low, "ratio_high": high}


NONE = WelchEstimate(float("nan"), float("nan"), float("nan"), 0)


def half_width(tables: Sequence[pd.DataFrame], level: float = stats.LEVEL) -> float:
    """Return the half width of the interval of a signed sum of independent means over cells.

    `tables` are those of `log_values` or `log_ratios`. The width is t(1 - (1 - level)/2, f) · √V, with V = Σ v over
    the tables, v those of `stats.clustered_variance`, and f = V² / Σ v² / (R - 1), R counting a table's
    repetitions: for two tables of one cell Welch's t interval (1947). NaN when a cell has under two values; 0 without
    any spread.
    """
    variances = np.array([stats.clustered_variance(table)[0] for table in tables])
    total = variances.sum()
    if not total > 0:
        return float(total)
    degrees = np.array([np.count_nonzero(table.notna().any(axis=0)) - 1 for table in tables])
    freedom = total**2 / (variances**2 / degrees).sum()
    return float(scipy.special.stdtrit(freedom, 0.5 + level / 2) * np.sqrt(total))


def log_values(runs: pd.DataFrame, variant: str, metric: str) -> pd.DataFrame:
    """Return the logs of a variant's values: one row per workload and client count, one column per repetition.

    `runs` holds rows of runs.csv; runs that are not ok are left out, values that are not positive are NaN.
    """
    chosen = runs[(runs["variant"] == variant) & (runs["outcome"] == "ok")]
    values = chosen[metric].astype(float)
    return _wide(chosen.assign(log=np.log(values.where(values > 0))), "log")


def log_ratios(comparisons: pd.DataFrame, variant: str, metric: str) -> pd.DataFrame:
    """Return the log ratios of a variant's blocks: one row per workload and client count, one column per repetition."""
    return _wide(comparisons[(comparisons["variant"] == variant) & (comparisons["metric"] == metric)], "log_ratio")


def _wide(rows: pd.DataFrame, values: str) -> pd.DataFrame:
    # A repetition has several blocks, and with them several runs of the reference, where variants were added to it.
    wide = rows.pivot_table(index=list(WORKLOAD_CLIENTS), columns="repetition", values=values, aggfunc="mean")
    return wide.dropna(how="all")


def over(cells: Sequence[Cell], terms: Sequence[Term]) -> list[Term]:
    """Return the terms restricted to these cells."""
    return [(sign, wide[wide.index.isin(list(cells))]) for sign, wide in terms]


def estimate(terms: Sequence[Term]) -> WelchEstimate:
    """Return the signed sum of the terms' mean logs over their cells; NONE unless all have the same cells.

    A term is a sign and a table of `log_values` or `log_ratios`.
    """
    cells = [set(wide.index) for _, wide in terms]
    if not cells or not cells[0] or any(other != cells[0] for other in cells):
        return NONE
    tables = [wide for _, wide in terms]
    centre = float(sum(sign * wide.mean(axis=1).mean() for sign, wide in terms))
    half = half_width(tables)
    return WelchEstimate(centre, centre - half, centre + half, min(int(wide.count(axis=1).min()) for wide in tables))


@dataclass(frozen=True)
class Sides:
    """A variant's values of one metric beside the reference's, as tables of `log_values`.

    `rounded` holds tables of `printed.rounding`: how far the values are rounded.
    """

    terms: tuple[Term, Term]
    rounded: tuple[pd.DataFrame, pd.DataFrame]

    @property
    def of_cells(self) -> dict[Cell, WelchEstimate]:
        """Return (workload, clients) -> Welch's estimate, of the cells that both sides have."""
        (_, variant), (_, reference) = self.terms
        return {cell: self._widened(welch, [cell]) for cell, welch in cell_estimates(variant, reference).items()}

    def over(self, cells: Sequence[Cell]) -> WelchEstimate:
        """Return the estimate over these cells."""
        return self._widened(estimate(over(cells, self.terms)), cells)

    def _widened(self, estimated: WelchEstimate, cells: Sequence[Cell]) -> WelchEstimate:
        """Return the estimate with an interval of at least the rounding; one without interval stays without."""
        if not len(cells):
            return estimated
        variant, reference = (rounded.loc[list(cells)].mean() for rounded in self.rounded)
        low = estimated.log_ratio + variant["low"] - reference["high"]
        high = estimated.log_ratio + variant["high"] - reference["low"]
        return replace(
            estimated, low=float(np.minimum(estimated.low, low)), high=float(np.maximum(estimated.high, high))
        )


def sides(runs: pd.DataFrame, variant: str, reference: str, metric: str) -> Sides:
    """Return both sides of a comparison from rows of runs.csv."""
    terms = ((1, log_values(runs, variant, metric)), (-1, log_values(runs, reference, metric)))
    return Sides(terms, (rounding(runs, variant, metric), rounding(runs, reference, metric)))


def cell_estimates(variant: pd.DataFrame, reference: pd.DataFrame) -> dict[Cell, WelchEstimate]:
    """Return (workload, clients) -> Welch's estimate, of the cells that both tables of `log_values` have."""
    shared = variant.index.intersection(reference.index)
    sides = [table.loc[shared] for table in (variant, reference)]
    means, counts = ([getattr(side, name)(axis=1).to_numpy(float) for side in sides] for name in ("mean", "count"))
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = [side.var(axis=1).to_numpy(float) / n for side, n in zip(sides, counts, strict=True)]
        total = sum(variances)
        freedom = total**2 / sum(v**2 / (n - 1) for v, n in zip(variances, counts, strict=True))
        half = np.where(total > 0, scipy.special.stdtrit(freedom, 0.5 + stats.LEVEL / 2) * np.sqrt(total), total)
    centre, n = means[0] - means[1], np.minimum(*counts)
    columns = zip(shared, centre, centre - half, centre + half, n, strict=True)
    return {
        cell: WelchEstimate(float(mid), float(low), float(high), int(least)) for cell, mid, low, high, least in columns
    }
