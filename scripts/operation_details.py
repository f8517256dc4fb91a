"""Latency by operation for the page: values of every variant, and their ratios to the reference."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts import stats
from scripts.tables import BLOCK
from scripts.value_tables import Cell
from scripts.wording import NOTHING, count, interval, missing, percent, times

SHOWN = {"mean_ms": "mean latency", "p95_ms": "p95 latency", "p99_ms": "p99 latency"}


@dataclass(frozen=True)
class OperationTable:
    """One quantity of one cell: a row an operation with its share of all calls, a field a variant."""

    title: str
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def tables(
    study: dict[str, Any], operations: pd.DataFrame, comparisons: pd.DataFrame
) -> dict[str, list[OperationTable]]:
    """Return workload -> its tables, of the workloads whose operations are told apart."""
    paired = comparisons[(comparisons["status"] == "paired") & (comparisons["metric"] == "tps")]
    blocks = {(row.variant, row.workload, row.clients, row.repetition) for row in paired.itertuples()}
    found: dict[str, list[OperationTable]] = {}
    for (workload, clients), cell in operations.groupby(["workload", "clients"], sort=False):
        where = f", {clients} clients" if len(study["clients"]) > 1 else ""
        for name, label in SHOWN.items():
            rows = tuple(_rows(study, cell, name, blocks))
            found.setdefault(workload, []).append(OperationTable(f"{label}, ms{where}", rows))
    return found


def _rows(study: dict[str, Any], cell: pd.DataFrame, metric: str, blocks: set[tuple]) -> Iterator[tuple]:
    total = cell["calls"].sum()
    for operation, calls in cell.groupby("operation", sort=False):
        wide = calls.pivot(index=list(BLOCK), columns="variant", values=metric).reindex(columns=list(study["variants"]))
        fields = tuple(_field(wide, name, study["reference"], blocks) for name in study["variants"])
        yield operation, percent(calls["calls"].sum() / total), fields


def _field(wide: pd.DataFrame, variant: str, reference: str, blocks: set[tuple]) -> Cell:
    """Return the value of a variant, under it the ratio to the reference over the blocks whose pair counts."""
    if missing(value := stats.geometric_mean(wide[variant])):
        return Cell(NOTHING, (), "hole", "not measured")
    counted = [(variant, *block) in blocks for block in wide.index]
    logs = np.log(wide[variant] / wide[reference])[counted].dropna()
    if variant == reference or logs.empty:
        return Cell(count(value), () if variant == reference else ("no whole block",))
    mean, low, high = (float(np.exp(part)) for part in stats.t_interval(logs))
    span = "" if missing(low) else f" ({interval(low, high)})"
    return Cell(count(value), (f"{times(mean)}{span}, n {len(logs)}",))
