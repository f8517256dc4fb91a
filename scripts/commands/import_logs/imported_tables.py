"""Comparisons of imported logs: the tables of a measured study, with unpaired intervals and without verdicts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import read_study
from scripts.lib.vocabulary import CELL, WORKLOAD_CLIENTS, PairStatus, Verdict
from scripts.report.analysis.columns import Row
from scripts.report.analysis.comparison import end_columns
from scripts.report.analysis.levels import level_table
from scripts.report.analysis.printed_digits import LatencyLimit, limits, without_limits
from scripts.report.analysis.run_tables import read_csv, write_csv
from scripts.report.analysis.unpaired import NONE, sides

CellKey = tuple[str, str, int]  # variant, workload, clients
# Columns of statistics that need blocks.
NOTHING: Row = {"basis": None, **dict.fromkeys(("p", "p_beyond", "p_same", "p_holm", "p_beyond_holm"), float("nan"))}
UNPAIRED_NOTE = "it is unknown which runs were made next to each other"


def write_imported_tables(study: Path, tables: Path) -> None:
    """Rewrite comparisons, cells and overall.csv in `tables`, because imported runs have no blocks; add levels.csv.

    overall_unflagged.csv is left without rows: it compares blocks.
    """
    declared = read_study(study)
    printed = read_csv(tables / "runs.csv")
    runs = without_limits(printed)
    comparisons = unpaired(read_csv(tables / "comparisons.csv"))
    cells = _with_values(compared_cells(read_csv(tables / "cells.csv"), runs, declared.reference), printed)
    write_csv(comparisons, tables / "comparisons.csv")
    write_csv(cells, tables / "cells.csv")
    overall = read_csv(tables / "overall.csv")
    write_csv(means_of_cells(overall, cells, runs, declared.reference), tables / "overall.csv")
    write_csv(overall.iloc[:0], tables / "overall_unflagged.csv")
    write_csv(level_table(declared, runs, cells), tables / "levels.csv")


def unpaired(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons.csv without ratios; pairs with a missing or failed run keep their status."""
    table = comparisons.copy()
    loose = table["status"] != PairStatus.INCOMPLETE
    table.loc[loose, "status"] = str(PairStatus.UNPAIRED)
    table.loc[loose, "note"] = UNPAIRED_NOTE
    return table.assign(log_ratio=float("nan"), ratio=float("nan"))


def compared_cells(cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return cells.csv with ratios of geometric means and Welch's intervals, for cells of one sysbench release.

    `n_blocks` is the number of repetitions of the shorter side. There are no p values. Intervals of percentiles are at
    least as wide as sysbench's rounding.
    """
    releases = _releases(runs)
    parts = [part for _, part in cells.groupby(["variant", "metric"], sort=False)]
    rows = [row for part in parts for row in _cells(part, runs, reference, releases)]
    return pd.DataFrame(rows, columns=list(cells.columns), index=pd.concat(parts).index).sort_index()


def _cells(part: pd.DataFrame, runs: pd.DataFrame, reference: str, releases: dict[CellKey, set[str]]) -> Iterator[Row]:
    """Yield the rows of one variant and metric."""
    rows = part.to_dict("records")
    variant, metric = (rows[0][key] for key in ("variant", "metric"))
    if variant == reference:
        yield from rows
        return
    both = sides(runs, variant, reference, metric)
    estimates, means = both.of_cells, [np.exp(side.mean(axis=1)) for _, side in both.terms]
    for row in rows:
        cell = row["workload"], row["clients"]
        cell_releases = releases.get((variant, *cell), set()) | releases.get((reference, *cell), set())
        here = estimates[cell] if cell in estimates and len(cell_releases) == 1 else NONE
        counts = {"n_blocks": here.n, "n_split": 0, "n_incomplete": 0}
        values = {
            "value": means[0].get(cell, row["value"]),
            "reference_value": float("nan") if here is NONE else means[1].get(cell),
        }
        yield {**row, **NOTHING, **values, **here.columns, **counts, "verdict": Verdict.UNPAIRED}


def _with_values(cells: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return cells.csv without values that were rounded to 0; that of a capped percentile is the least it can be."""
    rounded = {cell for cell, limit in limits(runs).items() if limit is LatencyLimit.ROUNDED}
    keys = cells[[*CELL, "metric"]].itertuples(index=False, name=None)
    return cells.assign(value=cells["value"].mask([key in rounded for key in keys]))


def _releases(runs: pd.DataFrame) -> dict[CellKey, set[str]]:
    """Return (variant, workload, clients) -> the releases of sysbench behind its ok runs."""
    ok = runs[runs["outcome"] == "ok"]
    return dict(ok.groupby(list(CELL))["sysbench_version"].agg(set))


def means_of_cells(table: pd.DataFrame, cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return overall.csv with intervals from each side's repetitions, averaged over cells.

    `n_repetitions` is the number of repetitions of the cell with the most, `n_blocks_least` of that with the fewest.
    """
    names = table[["variant", "metric"]].itertuples(index=False, name=None)
    rows = [_mean(variant, metric, cells, runs, reference) for variant, metric in names]
    return pd.DataFrame(rows, columns=list(table.columns))


def _mean(variant: str, metric: str, cells: pd.DataFrame, runs: pd.DataFrame, reference: str) -> Row:
    variant_cells = cells[(cells["variant"] == variant) & (cells["metric"] == metric)]
    present = variant_cells[variant_cells["n_blocks"] > 0]
    shared = list(present[list(WORKLOAD_CLIENTS)].itertuples(index=False, name=None))
    estimated = sides(runs, variant, reference, metric).over(shared)
    planned = len(runs[list(WORKLOAD_CLIENTS)].drop_duplicates())
    counts = {"n_cells": len(present), "n_cells_planned": planned, "n_pairs": int(present["n_blocks"].sum())}
    most = int(present["n_blocks"].max()) if len(present) else 0
    repetitions = {"n_repetitions": most, "n_blocks_least": estimated.n}
    nothing = dict.fromkeys(("detectable_ratio", "settling_repetitions", "settling_min"), float("nan"))
    words = dict.fromkeys(("n_above", "n_below", "n_same", "n_open"), 0) | {"n_undecided": len(variant_cells)}
    columns = {**NOTHING, **nothing, **estimated.columns, **end_columns(present), **counts, **repetitions, **words}
    return {"variant": variant, "metric": metric, **columns, "n_flagged": 0, "verdict": Verdict.UNPAIRED}
