"""The mean over cells: one row per variant and metric, for the sentence that is quoted."""

from typing import Any

import numpy as np
import pandas as pd

from scripts import stats
from scripts.comparison import AA, NO_DIFFERENCE, NO_FLOOR, TOO_FEW, compared, judged, noise
from scripts.metrics import EVERY, Metric

PLACE = ["workload", "clients"]


def overall(cells: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return overall.csv: geometric mean over cells per variant and metric, with its interval.

    Ratio and counts are those of `over_cells`; `n_flagged` of the `n_pairs` pairs have a run that stands out by a
    warning.
    """
    groups = cells[cells["n_blocks"].notna()].groupby(["variant", "metric"], sort=False)
    used = comparisons["flagged"].astype(bool) & comparisons["log_ratio"].notna()
    flagged = used.groupby([comparisons["variant"], comparisons["metric"]]).sum()
    wide = comparisons.pivot(index=["variant", "metric", *PLACE], columns="repetition", values="log_ratio")
    blocks = dict(iter(wide.groupby(level=[0, 1])))
    rows = [
        {"variant": key[0], "metric": key[1], **_row(group, blocks[key]), "n_flagged": int(flagged[key])}
        for key, group in groups
    ]
    return pd.DataFrame(rows)


def by_repetition(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the log ratios of one variant and metric: one row a cell, one column a repetition."""
    return pairs.pivot(index=PLACE, columns="repetition", values="log_ratio")


def over_cells(wide: pd.DataFrame) -> dict[str, Any]:
    """Return the geometric mean over the cells of `by_repetition` with the interval of `stats.mean_over_cells`.

    Cells without a pair are left out and counted. `n_repetitions` are those in which every cell that is left has its
    pair; `n_blocks_least` is the number of pairs of the cell that has fewest.
    """
    there = wide.notna().to_numpy()
    present = there.any(axis=1)
    mean, low, high = stats.mean_over_cells(wide.to_numpy(dtype=float)[present])
    left = there[present]
    return {
        "log_ratio": mean,
        "ratio": float(stats.ratio(mean)),
        "ratio_low": float(stats.ratio(low)),
        "ratio_high": float(stats.ratio(high)),
        "n_cells": len(left),
        "n_cells_planned": len(wide),
        "n_repetitions": int(left.all(axis=0).sum()) if len(left) else 0,
        "n_blocks_least": int(left.sum(axis=1).min()) if len(left) else 0,
        "n_pairs": int(left.sum()),
    }


def _row(cells: pd.DataFrame, wide: pd.DataFrame) -> dict[str, Any]:
    metric = EVERY[cells["metric"].iloc[0]]
    row = {**over_cells(wide), "floor_log_ratio": float(cells["floor_log_ratio"].iloc[0])}
    word = None if cells["variant"].iloc[0] == AA else overall_word(metric, row)
    return {**row, **_range(cells[cells["n_blocks"] > 0]), **_counts(metric, cells), "word": word}


def _range(present: pd.DataFrame) -> dict[str, Any]:
    if present.empty:
        return {}
    ends = {"lowest": present.loc[present["log_ratio"].idxmin()], "highest": present.loc[present["log_ratio"].idxmax()]}
    return {f"{end}_{key}": cell[key] for end, cell in ends.items() for key in ("ratio", "workload", "clients")}


def _counts(metric: Metric, cells: pd.DataFrame) -> dict[str, int]:
    counted = cells["word"].value_counts()
    return {
        "n_above": int(counted.get(metric.above, 0)),
        "n_below": int(counted.get(metric.below, 0)),
        "n_no_difference": int(counted.get(NO_DIFFERENCE, 0)),
        "n_wordless": int(counted.get(TOO_FEW, 0) + counted.get(NO_FLOOR, 0)),
    }


def overall_word(metric: Metric, row: dict[str, Any]) -> str:
    """Return the word for the mean over cells: the interval must exclude 1 and the effect clear the noise floor.

    Every cell needs 5 blocks. The floor is the one of a single cell's mean, which is more than the mean over cells
    needs.
    """
    if row["n_blocks_least"] < stats.MIN_BLOCKS:
        return TOO_FEW
    if np.isnan(row["floor_log_ratio"]):
        return NO_FLOOR
    excludes_one = row["ratio_low"] > 1 or row["ratio_high"] < 1
    if not excludes_one or not abs(row["log_ratio"]) > row["floor_log_ratio"]:
        return NO_DIFFERENCE
    return metric.above if row["log_ratio"] > 0 else metric.below


def without_flagged(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return overall_unflagged.csv: what overall.csv would be if the flagged pairs had not been measured.

    Noise floor, Holm's adjustment and words are made anew from the pairs that are left; `n_pairs` counts them.
    """
    kept = comparisons.assign(log_ratio=comparisons["log_ratio"].where(~comparisons["flagged"].astype(bool)))
    return overall(judged(compared(kept), noise(kept)), kept)


def over_workloads(tables: dict[str, pd.DataFrame], workloads: list[str], metric: str) -> dict[str, Any]:
    """Return the rows that overall.csv would have over these workloads alone, by variant, for one metric."""
    parts = [
        table[table["workload"].isin(workloads) & (table["metric"] == metric)]
        for table in (tables["cells"], tables["comparisons"])
    ]
    if parts[0]["n_blocks"].notna().sum() == 0:
        return {}
    return {row.variant: row for row in overall(*parts).itertuples()}
