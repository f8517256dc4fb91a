"""What printed logs can show: how far a latency is rounded, where it has no value, and why a cell has no ratio."""

from collections.abc import Iterator
from enum import StrEnum

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CELL, OPERATION_SHARES, WORKLOAD_CLIENTS
from scripts.lib.wording import listing, missing
from scripts.report.analysis.table_rows import CellRow

LATENCIES = (*OPERATION_SHARES, "latency_mean_ms")
# sysbench 1.0 and 1.1 round percentiles to buckets that are 1.8 % wide: 1024 of them from 0.001 ms to 100 s.
PERCENTILE_STEP = 1e8 ** (1 / 1023)
HISTOGRAM_END_MS = 100_000.0
# Half of the last digit: latencies are printed with two decimals, buckets of the histogram with three.
HALF_DIGIT_MS, HALF_BUCKET_DIGIT_MS = 0.005, 0.0005


class LatencyLimit(StrEnum):
    """Why a latency of a cell has no value: a percentile at the end of the histogram, or one rounded to 0."""

    CAPPED = "capped"
    ROUNDED = "rounded"


Limits = dict[tuple[str, str, int, str], LatencyLimit]


def limits(runs: pd.DataFrame) -> Limits:
    """Return (variant, workload, clients, metric) -> why it has no value, of cells in which one run has none.

    `runs` holds rows of runs.csv. A mean without that run would be one of the faster or slower runs alone.
    """
    ok = runs[runs["outcome"] == "ok"]
    by_cell: Limits = {}
    for metric in (name for name in LATENCIES if name in ok):
        values = ok[metric].astype(float)
        capped = _in_buckets(ok, metric) & (values >= HISTOGRAM_END_MS * (1 - 1e-6))
        for limit, those in ((LatencyLimit.CAPPED, capped), (LatencyLimit.ROUNDED, values <= 0)):
            for cell in ok.loc[those, list(CELL)].drop_duplicates().itertuples(index=False, name=None):
                by_cell[(*cell, metric)] = limit
    return by_cell


def without_limits(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs.csv without the latencies of cells that have no value."""
    table = runs.copy()
    keys = pd.Series(list(table[list(CELL)].itertuples(index=False, name=None)), index=table.index)
    for *cell, metric in limits(runs):
        table.loc[keys == tuple(cell), metric] = float("nan")
    return table


def _in_buckets(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Return whether each run's value is a bucket of sysbench's histogram: before 1.0 they are rounded to 0.02 %."""
    return ~runs["sysbench_version"].astype(str).str.startswith("0.") & (metric in OPERATION_SHARES)


def rounding(runs: pd.DataFrame, variant: str, metric: str) -> pd.DataFrame:
    """Return how far rounding can have moved the mean of a variant's cells: logs `low` and `high`, one row per cell.

    All repetitions can be rounded the same way, so that their number does not narrow it. 0 where nothing is rounded.
    """
    ok = runs[(runs["variant"] == variant) & (runs["outcome"] == "ok")]
    ok = ok[ok[metric].astype(float) > 0]
    values = ok[metric].astype(float)
    bounds = pd.DataFrame({"low": 0.0, "high": 0.0}, index=ok.index)
    if metric in LATENCIES:
        cents = (values * 100 - (values * 100).round()).abs() < 1e-6
        half = np.where(cents, HALF_DIGIT_MS, HALF_BUCKET_DIGIT_MS)
        bucket = np.where(_in_buckets(ok, metric), np.log(PERCENTILE_STEP) / 2, 0.0)
        bounds["low"] = np.minimum(np.log((values - half).clip(lower=1e-9) / values), -bucket)
        bounds["high"] = np.maximum(np.log((values + half) / values), bucket)
    return bounds.groupby([ok[name] for name in WORKLOAD_CLIENTS]).mean()


def is_rounded(metric: str, runs: pd.DataFrame) -> bool:
    """Return whether some value of a metric is a bucket of sysbench's histogram."""
    return bool((_in_buckets(runs, metric) & runs[metric].notna()).any())


LIMIT_TEXTS = {LatencyLimit.CAPPED: "at least 100 s", LatencyLimit.ROUNDED: "printed as 0.00 ms"}
NOT_PRINTED = "not in its logs"
Lacks = dict[tuple[str, str, int, str], str]


def lacks(study: ResolvedStudy, runs: pd.DataFrame, cells: pd.DataFrame) -> Lacks:
    """Return (variant, workload, clients, metric) -> why there is no ratio to the reference."""
    beyond = limits(runs)
    by_cell = dict(iter(runs.groupby(list(CELL))))
    lacking: Lacks = {}
    for row in cells.itertuples():
        if row.variant != study.reference and missing(row.ratio):
            sides = [(name, by_cell.get((name, row.workload, row.clients))) for name in (row.variant, study.reference)]
            reasons = list(dict.fromkeys(_reasons(sides, row, beyond)))
            lacking[row.variant, row.workload, row.clients, row.metric] = "; ".join(reasons)
    return lacking


def _reasons(sides: list[tuple[str, pd.DataFrame | None]], row: CellRow, beyond: Limits) -> Iterator[str]:
    """Yield the reasons of both sides, or that their releases differ."""
    releases = []
    for name, rows in sides:
        logged = rows[rows["outcome"] != "missing"] if rows is not None else pd.DataFrame()
        ok = logged[logged["outcome"] == "ok"] if len(logged) else logged
        if logged.empty:
            yield f"no log of {name}"
        elif ok.empty:
            yield f"no log of {name} has a measurement"
        elif limit := beyond.get((name, row.workload, row.clients, row.metric)):
            yield f"{name}: {LIMIT_TEXTS[limit]}"
        elif ok[row.metric].isna().all():
            yield f"{name}: {NOT_PRINTED}"
        releases += [(version, name) for version in ok.get("sysbench_version", pd.Series(dtype=str)).dropna().unique()]
    if len({version for version, _ in releases}) > 1:
        yield f"sysbench {listing([f'{version} in {name}' for version, name in releases])}"
