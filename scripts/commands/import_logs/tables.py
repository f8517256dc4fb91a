"""Comparisons of imported logs: the tables of a measured study, with unpaired intervals and without verdicts."""

from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis.comparison import overall_table
from scripts.analysis.runs import read_csv, write_csv
from scripts.analysis.unpaired import NONE, Estimate, estimate, log_values, over
from scripts.record import read
from scripts.vocabulary import WORKLOAD_CLIENTS, PairStatus, Verdict

UNPAIRED_NOTE = "it is unknown which runs were made next to each other"


def write_imported_tables(study: Path, tables: Path) -> None:
    """Rewrite comparisons, cells and overall.csv in `tables`, because imported runs cannot be paired."""
    reference = read(study)["reference"]
    runs = read_csv(tables / "runs.csv")
    comparisons = unpaired(read_csv(tables / "comparisons.csv"))
    cells = compared_cells(read_csv(tables / "cells.csv"), runs, reference)
    write_csv(comparisons, tables / "comparisons.csv")
    write_csv(cells, tables / "cells.csv")
    write_csv(means_of_cells(overall_table(cells, comparisons), cells, runs, reference), tables / "overall.csv")


def unpaired(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons.csv without ratios; pairs with a missing or failed run keep their status."""
    table = comparisons.copy()
    loose = table["status"] != PairStatus.INCOMPLETE
    table.loc[loose, "status"] = str(PairStatus.UNPAIRED)
    table.loc[loose, "note"] = UNPAIRED_NOTE
    return table.assign(log_ratio=float("nan"), ratio=float("nan"))


def compared_cells(cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return cells.csv with ratios of geometric means and Welch's intervals, for cells of one sysbench release.

    `n_blocks` is the number of repetitions of the shorter side. There are no p values, and no noise floor.
    """
    rows = [_cell(row, runs, reference) if row["variant"] != reference else row for row in cells.to_dict("records")]
    return pd.DataFrame(rows, columns=list(cells.columns))


def _cell(row: dict[str, Any], runs: pd.DataFrame, reference: str) -> dict[str, Any]:
    one = [(row["workload"], row["clients"])]
    sides = [(1, log_values(runs, row["variant"], row["metric"])), (-1, log_values(runs, reference, row["metric"]))]
    found = estimate(over(one, sides)) if len(releases(runs, row, reference)) == 1 else NONE
    nothing = dict.fromkeys(("p_t", "p_holm", "p_sign_flip"), float("nan"))
    counts = {"n_blocks": found.n, "n_split": 0, "n_incomplete": 0}
    return {**row, **nothing, **_ratio_columns(found), **counts, "verdict": Verdict.NO_NOISE_FLOOR}


def releases(runs: pd.DataFrame, cell: dict[str, Any], reference: str) -> set[str]:
    """Return the releases of sysbench behind the ok runs of a cell and those of the reference."""
    inside = (runs["workload"] == cell["workload"]) & (runs["clients"] == cell["clients"]) & (runs["outcome"] == "ok")
    return set(runs.loc[inside & runs["variant"].isin([cell["variant"], reference]), "sysbench_version"])


def means_of_cells(table: pd.DataFrame, cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return overall.csv with intervals from each side's repetitions, averaged over cells."""
    rows = [_mean(row, cells, runs, reference) for row in table.to_dict("records")]
    return pd.DataFrame(rows, columns=list(table.columns))


def _mean(row: dict[str, Any], cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> dict[str, Any]:
    ours = cells[(cells["variant"] == row["variant"]) & (cells["metric"] == row["metric"])]
    present = ours[ours["n_blocks"] > 0]
    shared = list(present[list(WORKLOAD_CLIENTS)].itertuples(index=False, name=None))
    sides = [(1, log_values(runs, row["variant"], row["metric"])), (-1, log_values(runs, reference, row["metric"]))]
    found = estimate(over(shared, sides))
    counts = {"n_cells": len(present), "n_cells_planned": len(ours), "n_pairs": int(present["n_blocks"].sum())}
    least = dict.fromkeys(("n_repetitions", "n_blocks_least"), found.n)
    return {**row, **_ratio_columns(found), **counts, **least, "verdict": Verdict.NO_NOISE_FLOOR}


def _ratio_columns(found: Estimate) -> dict[str, float]:
    low, high = found.bounds
    return {"log_ratio": found.log_ratio, "ratio": found.ratio, "ratio_low": low, "ratio_high": high}
