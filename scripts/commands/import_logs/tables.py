"""Comparisons of imported logs: the tables of a measured study, with unpaired intervals and without verdicts."""

from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis.runs import read_csv, write_csv
from scripts.analysis.unpaired import NONE, Estimate, estimate, log_values, over
from scripts.record import read
from scripts.vocabulary import WORKLOAD_CLIENTS, PairStatus, Verdict

# Columns of statistics that need blocks.
NOTHING = {"basis": None, **dict.fromkeys(("p", "p_beyond", "p_same", "p_holm", "p_beyond_holm"), float("nan"))}
UNPAIRED_NOTE = "it is unknown which runs were made next to each other"


def write_imported_tables(study: Path, tables: Path) -> None:
    """Rewrite comparisons, cells and overall.csv in `tables`, because imported runs have no blocks."""
    reference = read(study)["reference"]
    runs = read_csv(tables / "runs.csv")
    comparisons = unpaired(read_csv(tables / "comparisons.csv"))
    cells = compared_cells(read_csv(tables / "cells.csv"), runs, reference)
    write_csv(comparisons, tables / "comparisons.csv")
    write_csv(cells, tables / "cells.csv")
    overall = read_csv(tables / "overall.csv")
    write_csv(means_of_cells(overall, cells, runs, reference), tables / "overall.csv")


def unpaired(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons.csv without ratios; pairs with a missing or failed run keep their status."""
    table = comparisons.copy()
    loose = table["status"] != PairStatus.INCOMPLETE
    table.loc[loose, "status"] = str(PairStatus.UNPAIRED)
    table.loc[loose, "note"] = UNPAIRED_NOTE
    return table.assign(log_ratio=float("nan"), ratio=float("nan"))


def compared_cells(cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return cells.csv with ratios of geometric means and Welch's intervals, for cells of one sysbench release.

    `n_blocks` is the number of repetitions of the shorter side. There are no p values.
    """
    rows = [_cell(row, runs, reference) if row["variant"] != reference else row for row in cells.to_dict("records")]
    return pd.DataFrame(rows, columns=list(cells.columns))


def _cell(row: dict[str, Any], runs: pd.DataFrame, reference: str) -> dict[str, Any]:
    one = [(row["workload"], row["clients"])]
    sides = [(1, log_values(runs, row["variant"], row["metric"])), (-1, log_values(runs, reference, row["metric"]))]
    found = estimate(over(one, sides)) if len(releases(runs, row, reference)) == 1 else NONE
    counts = {"n_blocks": found.n, "n_split": 0, "n_incomplete": 0}
    return {**row, **NOTHING, **_ratio_columns(found), **counts, "verdict": Verdict.UNPAIRED}


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
    nothing = dict.fromkeys(("detectable_ratio", "settling_repetitions", "settling_min"), float("nan"))
    words = dict.fromkeys(("n_above", "n_below", "n_same", "n_open"), 0) | {"n_undecided": len(ours)}
    every = {**row, **NOTHING, **nothing, **_ratio_columns(found), **_ends(present), **counts, **least, **words}
    return {**every, "verdict": Verdict.UNPAIRED}


def _ends(present: pd.DataFrame) -> dict[str, Any]:
    if present.empty:
        return {}
    ends = {"lowest": present.loc[present["ratio"].idxmin()], "highest": present.loc[present["ratio"].idxmax()]}
    return {f"{end}_{key}": cell[key] for end, cell in ends.items() for key in ("ratio", "workload", "clients")}


def _ratio_columns(found: Estimate) -> dict[str, float]:
    low, high = found.bounds
    return {"log_ratio": found.log_ratio, "ratio": found.ratio, "ratio_low": low, "ratio_high": high}
