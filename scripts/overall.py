"""The mean over cells: one row per variant and metric, for the sentence that is quoted."""

from typing import Any

import numpy as np
import pandas as pd

from scripts import stats
from scripts.comparison import AA, NO_DIFFERENCE, NO_FLOOR, TOO_FEW
from scripts.metrics import METRICS, Metric


def overall(cells: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return overall.csv: geometric mean over cells per variant and metric, with its interval.

    `ratio` is exp of the mean over cells of each cell's mean log ratio; cells without a pair are left out and counted.
    The half width comes from repetitions: m(r) is the mean over cells of the log ratios of repetition r, for those r
    in which every compared cell has its pair, and the half width is t(0.975, n - 1) · s(m) / √n. Cells of one
    repetition share the machine's state, which an interval over cells would take for information.
    """
    compared = cells[cells["n_blocks"].notna()]
    groups = compared.groupby(["variant", "metric"], sort=False)
    blocks = dict(iter(comparisons.groupby(["variant", "metric"])))
    rows = [{"variant": key[0], "metric": key[1], **_row(group, blocks[key])} for key, group in groups]
    return pd.DataFrame(rows)


def repetition_means(blocks: pd.DataFrame) -> np.ndarray:
    """Return m(r): mean log ratio over cells of every repetition in which all compared cells have their pair."""
    wide = blocks.pivot(index=["workload", "clients"], columns="repetition", values="log_ratio").dropna(how="all")
    return wide.mean(axis=0)[wide.notna().all(axis=0)].to_numpy(dtype=float) if len(wide) else np.array([])


def _row(cells: pd.DataFrame, blocks: pd.DataFrame) -> dict[str, Any]:
    present = cells[cells["n_blocks"] > 0]
    log_ratio = float(present["log_ratio"].mean()) if len(present) else float("nan")
    means = repetition_means(blocks)
    centre, low, high = stats.t_interval(means)
    metric = METRICS[cells["metric"].iloc[0]]
    row = {
        "log_ratio": log_ratio,
        "ratio": float(stats.ratio(log_ratio)),
        "ratio_low": float(stats.ratio(log_ratio + low - centre)),
        "ratio_high": float(stats.ratio(log_ratio + high - centre)),
        "n_cells": len(present),
        "n_cells_planned": len(cells),
        "n_repetitions": len(means),
        "floor_log_ratio": float(cells["floor_log_ratio"].iloc[0]),
    }
    word = None if cells["variant"].iloc[0] == AA else overall_word(metric, row)
    return {**row, **_range(present), **_counts(metric, cells), "word": word}


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

    The floor is the one of a single cell's mean, which is more than the mean over cells needs.
    """
    if row["n_repetitions"] < stats.MIN_BLOCKS:
        return TOO_FEW
    if np.isnan(row["floor_log_ratio"]):
        return NO_FLOOR
    excludes_one = row["ratio_low"] > 1 or row["ratio_high"] < 1
    if not excludes_one or not abs(row["log_ratio"]) > row["floor_log_ratio"]:
        return NO_DIFFERENCE
    return metric.above if row["log_ratio"] > 0 else metric.below


def without_flagged(cells: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the same table computed from the pairs of which neither run has a warning; its words are dropped."""
    kept = comparisons.assign(log_ratio=comparisons["log_ratio"].where(~comparisons["flagged"].astype(bool)))
    key = ["variant", "workload", "clients", "metric"]
    again = kept.groupby(key)["log_ratio"].agg(["mean", "count"]).reset_index()
    again = again.rename(columns={"mean": "log_ratio", "count": "n_blocks"})
    again["ratio"] = stats.ratio(again["log_ratio"])
    merged = cells.drop(columns=["log_ratio", "n_blocks", "ratio"]).merge(again, on=key)
    return overall(merged, kept).drop(columns="word")


def over_workloads(tables: dict[str, pd.DataFrame], workloads: list[str], metric: str) -> dict[str, Any]:
    """Return the rows that overall.csv would have over these workloads alone, by variant, for one metric."""
    parts = [
        table[table["workload"].isin(workloads) & (table["metric"] == metric)]
        for table in (tables["cells"], tables["comparisons"])
    ]
    if parts[0]["n_blocks"].notna().sum() == 0:
        return {}
    return {row.variant: row for row in overall(*parts).itertuples()}
