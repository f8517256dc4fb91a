"""Means of imported logs per level of an axis: geometric with intervals, and arithmetic means of percentages."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis.metrics import of_study
from scripts.analysis.tables import LEVELS
from scripts.analysis.unpaired import Estimate, Term, estimate, log_values, over, resolution, widened
from scripts.vocabulary import WORKLOAD_CLIENTS

ALL = "all"
Cell = tuple[str, int]


def levels_of(study: dict[str, Any]) -> dict[tuple[str, str], set[Cell]]:
    """Return (axis, level) -> its cells, (`all`, ``) first; axes of one level are left out.

    `study["imported"]["axes"]` holds, per further axis of the paths, its levels and the level of each workload.
    """
    cells = [(workload, clients) for workload in study["workloads"] for clients in study["clients"]]
    found: dict[tuple[str, str], set[Cell]] = {(ALL, ""): set(cells)}
    for axis, each in (study["imported"].get("axes") or {}).items():
        for level in each["levels"]:
            found[axis, level] = {cell for cell in cells if each["of"].get(cell[0]) == level}
    for axis, place in zip(WORKLOAD_CLIENTS, range(2), strict=True):
        levels = list(dict.fromkeys(cell[place] for cell in cells))
        if len(levels) > 1:
            found |= {(axis, str(level)): {cell for cell in cells if cell[place] == level} for level in levels}
    return found


def level_table(study: dict[str, Any], runs: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return levels.csv: one row per variant, metric, axis and level, over the cells of the level that have a ratio."""
    levels = levels_of(study)
    rows = []
    for metric in (name for name in of_study(study) if runs[name].notna().any()):
        theirs = log_values(runs, study["reference"], metric)
        for variant in (name for name in study["variants"] if name != study["reference"]):
            sides = [(1, log_values(runs, variant, metric)), (-1, theirs)]
            chosen = cells[(cells["variant"] == variant) & (cells["metric"] == metric)]
            place = {"variant": variant, "metric": metric}
            rows += [{**place, **row} for row in _rows(sides, chosen, levels, resolution(metric, runs))]
    return pd.DataFrame(rows, columns=LEVELS.names)


def _rows(
    sides: list[Term], cells: pd.DataFrame, levels: dict[tuple[str, str], set[Cell]], least: float
) -> Iterator[dict[str, Any]]:
    compared = cells[cells["n_blocks"] > 0][list(WORKLOAD_CLIENTS)].itertuples(index=False, name=None)
    ratios = _ratios_of_means(sides, set(compared))
    if ratios.empty:
        return
    for (axis, level), wanted in levels.items():
        shared = [cell for cell in ratios.index if cell in wanted]
        if shared:
            found = widened(estimate(over(shared, sides)), least)
            counts = {"n_cells": len(shared), "n_cells_planned": len(wanted), "n_repetitions": found.n}
            columns = _columns(found, ratios[shared])
            yield {"axis": axis, "level": level, **columns, **counts}


def _columns(found: Estimate, ratios: pd.Series) -> dict[str, float]:
    low, high = found.bounds
    each = {"ratio": found.ratio, "ratio_low": low, "ratio_high": high}
    shares = {key.replace("ratio", "change"): 100 * (value - 1) for key, value in each.items()}
    return {"log_ratio": found.log_ratio, **each, **shares, "arithmetic_change": float(100 * (ratios.mean() - 1))}


def _ratios_of_means(sides: list[Term], compared: set[Cell]) -> pd.Series:
    """Return per compared cell the ratio of the arithmetic means over repetitions, as reports of others often have."""
    (_, ours), (_, theirs) = sides
    ratios = np.exp(ours).mean(axis=1) / np.exp(theirs).mean(axis=1)
    return ratios[[cell in compared for cell in ratios.index]].dropna()
