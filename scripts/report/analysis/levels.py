"""Means of imported logs per level of an axis: geometric with intervals, and arithmetic means of percentages."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import WORKLOAD_CLIENTS
from scripts.report.analysis.metrics import of_study
from scripts.report.analysis.table_columns import LEVELS
from scripts.report.analysis.unpaired import Sides, WelchEstimate, sides

ALL, MEANS = "all", "means"
Cell = tuple[str, int]


def levels_of(study: ResolvedStudy) -> dict[tuple[str, str], set[Cell]]:
    """Return (axis, level) -> its cells, (`all`, ``) first; axes of one level are left out.

    `study.imported` holds the cells that some variant has, and in `axes`, per further axis of the paths, its levels
    and the level of each workload. Its `means` are names of means over chosen client counts.
    """
    cells = cells_of(study)
    found: dict[tuple[str, str], set[Cell]] = {(ALL, ""): set(cells)}
    for axis, each in (study.imported.axes).items():
        for level in each["levels"]:
            found[axis, level] = {cell for cell in cells if each["of"].get(cell[0]) == level}
    for axis, place in zip(WORKLOAD_CLIENTS, range(2), strict=True):
        levels = list(dict.fromkeys(cell[place] for cell in cells))
        levels = sorted(levels) if axis == "clients" else levels
        if len(levels) > 1:
            found |= {(axis, str(level)): {cell for cell in cells if cell[place] == level} for level in levels}
    for name, counts in (study.imported.means).items():
        found[MEANS, name] = {cell for cell in cells if cell[1] in counts}
    return found


def cells_of(study: ResolvedStudy) -> list[Cell]:
    """Return the cells of an import that some variant has; of one made by older code all that there could be."""
    if (known := study.imported.cells) is not None:
        return [(workload, clients) for workload, clients in known]
    return [(workload, clients) for workload in study.workloads for clients in study.clients]


def level_table(study: ResolvedStudy, runs: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return levels.csv: one row per variant, metric, axis and level, over the cells of the level that have a ratio."""
    levels = levels_of(study)
    rows = []
    for metric in (name for name in of_study(study) if runs[name].notna().any()):
        for variant in (name for name in study.variants if name != study.reference):
            both = sides(runs, variant, study.reference, metric)
            chosen = cells[(cells["variant"] == variant) & (cells["metric"] == metric)]
            place = {"variant": variant, "metric": metric}
            rows += [{**place, **row} for row in _rows(both, chosen, levels)]
    return pd.DataFrame(rows, columns=LEVELS.names)


def _rows(both: Sides, cells: pd.DataFrame, levels: dict[tuple[str, str], set[Cell]]) -> Iterator[dict[str, Any]]:
    compared = cells[cells["n_blocks"] > 0][list(WORKLOAD_CLIENTS)].itertuples(index=False, name=None)
    ratios = _ratios_of_means(both, set(compared))
    if ratios.empty:
        return
    for (axis, level), wanted in levels.items():
        shared = [cell for cell in ratios.index if cell in wanted]
        if shared:
            found = both.over(shared)
            counts = {"n_cells": len(shared), "n_cells_planned": len(wanted), "n_repetitions": found.n}
            columns = _columns(found, ratios[shared])
            yield {"axis": axis, "level": level, **columns, **counts}


def _columns(found: WelchEstimate, ratios: pd.Series) -> dict[str, float]:
    low, high = found.bounds
    each = {"ratio": found.ratio, "ratio_low": low, "ratio_high": high}
    shares = {key.replace("ratio", "change"): 100 * (value - 1) for key, value in each.items()}
    return {"log_ratio": found.log_ratio, **each, **shares, "arithmetic_change": float(100 * (ratios.mean() - 1))}


def _ratios_of_means(both: Sides, compared: set[Cell]) -> pd.Series:
    """Return per compared cell the ratio of the arithmetic means over repetitions, as reports of others often have."""
    (_, ours), (_, theirs) = both.terms
    ratios = np.exp(ours).mean(axis=1) / np.exp(theirs).mean(axis=1)
    return ratios[[cell in compared for cell in ratios.index]].dropna()
