"""The table by workload: one row per variant, workload and client count, with values and ratios side by side."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.analysis.metrics import EVERY
from scripts.report.value_tables import Cell, Lookup, ratio_cell, value_cell
from scripts.vocabulary import CONTROLS

SHOWN = {"tps": "TPS", "p95_ms": "p95, ms", "cpu_us_per_tx": "CPU per transaction, µs", "cold_s": "cold, s",
         "warm_s": "warm, s"}  # fmt: skip
MOST_UNFOLDED = 40


@dataclass(frozen=True)
class WorkloadRow:
    """One row: `first` opens the rows of a workload and client count; two fields per metric, value and ratio."""

    workload: str
    clients: str
    variant: str
    first: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class ByWorkload:
    """The table; `several` is whether there are several client counts, `unfolded` whether it is short."""

    heads: tuple[str, ...]
    rows: tuple[WorkloadRow, ...]
    several: bool

    @property
    def unfolded(self) -> bool:
        """Whether the table is short enough to be shown at once."""
        return len(self.rows) <= MOST_UNFOLDED


def by_workload(study: dict[str, Any], tables: dict[str, pd.DataFrame]) -> ByWorkload:
    """Return the table of a study; `tables` holds cells and runs. Metrics without any value have no columns."""
    found = Lookup(tables["cells"], tables["runs"])
    metrics = [name for name in SHOWN if name in found.metrics]
    names = [name for name in study["variants"] if name not in CONTROLS]
    names += [name for name in study["variants"] if name in CONTROLS and name in set(found.rows["variant"])]
    rows = tuple(
        WorkloadRow(workload, str(clients), name, not place, _fields((name, workload, clients), metrics, found, study))
        for workload in study["workloads"]
        for clients in sorted(study["clients"])
        for place, name in enumerate(names)
    )
    heads = tuple(text for name in metrics for text in (SHOWN[name], f"/ {study['reference']}"))
    return ByWorkload(heads, rows, len(study["clients"]) > 1)


def _fields(key: tuple, metrics: list[str], found: Lookup, study: dict[str, Any]) -> tuple[Cell, ...]:
    fields = []
    for name in metrics:
        fields.append(value_cell(key, EVERY[name], found))
        fields.append(Cell("") if key[0] == study["reference"] else ratio_cell(key, EVERY[name], found))
    return tuple(fields)
