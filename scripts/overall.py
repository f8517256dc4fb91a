"""The mean over cells: one row per variant and metric, for the sentence that is quoted."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts import stats
from scripts.comparison import AA, NO_DIFFERENCE, NO_FLOOR, TOO_FEW, compared, judged, noise, verdict_word
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
    return worded(pd.DataFrame(rows), [row["variant"] != AA for row in rows])


def worded(table: pd.DataFrame, tested: list[bool]) -> pd.DataFrame:
    """Add p_holm, adjusted over the tested rows of a metric, and their words to rows of `over_cells`."""
    if table.empty:
        return table
    p_holm = table["p_t"].where(np.array(tested)).groupby(table["metric"]).transform(stats.holm)
    rows = table.assign(p_holm=p_holm).to_dict("records")
    words = [overall_word(EVERY[row["metric"]], row) if test else None for row, test in zip(rows, tested, strict=True)]
    return table.assign(p_holm=p_holm, word=pd.Series(words, index=table.index, dtype=object))


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
    left, values = there[present], wide.to_numpy(dtype=float)[present]
    mean, low, high = stats.mean_over_cells(values)
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
        "p_t": stats.mean_over_cells_p(values),
    }


def _row(cells: pd.DataFrame, wide: pd.DataFrame) -> dict[str, Any]:
    metric = EVERY[cells["metric"].iloc[0]]
    row = {**over_cells(wide), "floor_log_ratio": float(cells["floor_log_ratio"].iloc[0])}
    return {**row, **_range(cells[cells["n_blocks"] > 0]), **_counts(metric, cells)}


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


def overall_word(metric: Metric, row: Mapping[str, Any]) -> str:
    """Return the word for a mean over cells by the conditions of `comparison.verdict_word`; every cell needs 5 blocks.

    The floor is the one of a single cell's mean, which is more than the mean over cells needs.
    """
    return verdict_word(metric, row["log_ratio"], row["n_blocks_least"], row["p_holm"], row["floor_log_ratio"])


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
