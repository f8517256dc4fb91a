"""Means of imported logs per level of an axis: geometric with intervals, and arithmetic means of percentages."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import WORKLOAD_CLIENTS
from scripts.report.analysis.columns import Row
from scripts.report.analysis.metrics import of_study
from scripts.report.analysis.table_columns import LEVELS
from scripts.report.analysis.unpaired import Cell, Sides, WelchEstimate, sides

ALL, MEANS = "all", "means"
Levels = dict[tuple[str, str], set[Cell]]


def levels_of(study: ResolvedStudy) -> Levels:
    """Return (axis, level) -> its cells, (`all`, ``) first; axes of one level are left out.

    `study.imported` holds the cells that some variant has, and in `axes`, per further axis of the paths, its levels
    and the level of each workload. Its `means` are names of means over chosen client counts.
    """
    cells = cells_of(study)
    levels: Levels = {(ALL, ""): set(cells)}
    for axis, of_axis in study.imported.axes.items():
        for level in of_axis["levels"]:
            levels[axis, level] = {cell for cell in cells if of_axis["of"].get(cell[0]) == level}
    workloads, clients = list(dict.fromkeys(cell[0] for cell in cells)), sorted({cell[1] for cell in cells})
    if len(workloads) > 1:
        levels |= {("workload", name): {cell for cell in cells if cell[0] == name} for name in workloads}
    if len(clients) > 1:
        levels |= {("clients", str(number)): {cell for cell in cells if cell[1] == number} for number in clients}
    for name, counts in study.imported.means.items():
        levels[MEANS, name] = {cell for cell in cells if cell[1] in counts}
    return levels


def cells_of(study: ResolvedStudy) -> list[Cell]:
    """Return the cells of an import that some variant has; of one made by older code all that there could be."""
    if study.imported.cells is not None:
        return [(workload, clients) for workload, clients in study.imported.cells]
    return [(workload, clients) for workload in study.workloads for clients in study.clients]


def level_table(study: ResolvedStudy, runs: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return levels.csv: one row per variant, metric, axis and level, over the cells of the level that have a ratio."""
    levels = levels_of(study)
    rows = []
    for metric in (name for name in of_study(study) if runs[name].notna().any()):
        for variant in (name for name in study.variants if name != study.reference):
            both = sides(runs, variant, study.reference, metric)
            chosen = cells[(cells["variant"] == variant) & (cells["metric"] == metric)]
            rows += [{"variant": variant, "metric": metric, **row} for row in _rows(both, chosen, levels)]
    return pd.DataFrame(rows, columns=LEVELS.names)


def _rows(both: Sides, cells: pd.DataFrame, levels: Levels) -> Iterator[Row]:
    compared = cells[cells["n_blocks"] > 0][list(WORKLOAD_CLIENTS)].itertuples(index=False, name=None)
    ratios = _ratios_of_means(both, set(compared))
    if ratios.empty:
        return
    for (axis, level), planned in levels.items():
        shared = [cell for cell in ratios.index if cell in planned]
        if shared:
            estimated = both.over(shared)
            counts: Row = {"n_cells": len(shared), "n_cells_planned": len(planned), "n_repetitions": estimated.n}
            yield {"axis": axis, "level": level, **_columns(estimated, ratios[shared]), **counts}


def _columns(estimated: WelchEstimate, ratios: pd.Series) -> Row:
    low, high = estimated.bounds
    ends = {"change": estimated.ratio, "change_low": low, "change_high": high, "arithmetic_change": ratios.mean()}
    return {**estimated.columns, **{name: float(100 * (end - 1)) for name, end in ends.items()}}


def _ratios_of_means(both: Sides, compared: set[Cell]) -> pd.Series:
    """Return per compared cell the ratio of the arithmetic means over repetitions, as reports of others often have."""
    (_, variant), (_, reference) = both.terms
    ratios = np.exp(variant).mean(axis=1) / np.exp(reference).mean(axis=1)
    return ratios[[cell in compared for cell in ratios.index]].dropna()
