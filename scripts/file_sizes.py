"""What lay in the data directory before and after the runs of each cell, for the page."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.tables import CELL
from scripts.value_tables import Cell
from scripts.wording import NOTHING, missing, size

KINDS = {
    "table": "tables", "system": "system table space", "redo": "redo log", "undo": "undo logs",
    "binary_log": "binary log", "doublewrite": "doublewrite", "temporary": "temporary", "other": "other",
}  # fmt: skip
SIZES = ("before_apparent_bytes", "after_apparent_bytes", "after_allocated_bytes")
HOLES = 0.01  # of the apparent size; a file's last block rounds up


@dataclass(frozen=True)
class SizeTable:
    """One workload: a row a variant and client count, a field a kind of files."""

    workload: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def tables(study: dict[str, Any], files: pd.DataFrame) -> list[SizeTable]:
    """Return a table a workload with what its runs left on disk, the mean over the runs of a cell."""
    found = [_table(study, name, files[files["workload"] == name]) for name in study["workloads"]]
    return [table for table in found if table.rows]


def _table(study: dict[str, Any], workload: str, files: pd.DataFrame) -> SizeTable:
    run = files.groupby([*CELL, "repetition", "kind"])[list(SIZES)].sum(min_count=1)
    means = run.groupby([*CELL, "kind"])[list(SIZES)].mean()
    found = {key: tuple(row) for key, row in zip(means.index, means.to_numpy(), strict=True)}
    kinds = [kind for kind in KINDS if any(key[-1] == kind and row[1] > 0 for key, row in found.items())]
    keys = [(name, workload, clients) for clients in study["clients"] for name in study["variants"]]
    rows = tuple(
        (key[0], str(key[2]), tuple(_cell(found.get((*key, kind))) for kind in kinds))
        for key in keys
        if any((*key, kind) in found for kind in kinds)
    )
    return SizeTable(workload, tuple(KINDS[kind] for kind in kinds), rows)


def _cell(sizes: tuple[float, ...] | None) -> Cell:
    if sizes is None or missing(float(sizes[1])):
        return Cell(NOTHING, (), "hole", "no such files")
    return Cell(size(float(sizes[1])), tuple(_notes(*map(float, sizes))))


def _notes(before: float, after: float, allocated: float) -> Iterable[str]:
    if missing(before):
        yield "new"
    elif round(after - before):
        yield f"{'+' if after > before else '−'}{size(abs(after - before))}"
    if not missing(allocated) and allocated < (1 - HOLES) * after:
        yield f"{size(allocated)} allocated"
