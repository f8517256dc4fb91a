"""What tables with compressed pages take, before and after the runs, for the page."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts import page_compression, published, stats
from scripts.published import SIZES
from scripts.tables import BLOCK, RUN
from scripts.value_tables import Cell
from scripts.wording import NOTHING, interval, missing, percent, size, times

EDGES = {"before": "before the load", "after": "after the load"}
TABLES, ALL = "all tables", "whole data directory"


@dataclass(frozen=True)
class AllocatedTable:
    """One workload and client count: a row a variant and edge, a field a table and one for everything."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def tables(study: dict[str, Any], files: pd.DataFrame) -> list[AllocatedTable]:
    """Return a table for every cell of a study in which tables have compressed pages; `files` is files.csv."""
    laid = [variant.get("data", {}) for variant in study["variants"].values()]
    if not any(map(page_compression.asked, [*study["datasets"].values(), *laid])):
        return []
    cells = dict.fromkeys(zip(files["workload"], files["clients"], strict=True))
    return [_table(study, files, *cell) for cell in cells]


def _table(study: dict[str, Any], files: pd.DataFrame, workload: str, clients: int) -> AllocatedTable:
    cell = files[(files["workload"] == workload) & (files["clients"] == clients)]
    whole, together = (_summed(rows, name) for rows, name in ((cell, ALL), (cell[cell["kind"] == "table"], TABLES)))
    of_tables = cell[(cell["kind"] == "table") & (cell["after_allocated_bytes"] > 0)]
    largest = of_tables.groupby("part")["after_apparent_bytes"].max().sort_values(ascending=False).index[:6]
    parts = {**{part: of_tables[of_tables["part"] == part] for part in largest}, TABLES: together, ALL: whole}
    rows = [
        (variant, when, tuple(_field(part, variant, edge, study["reference"]) for part in parts.values()))
        for edge, when in EDGES.items()
        for variant in study["variants"]
    ]
    rows += _published(study, workload, len(parts))
    return AllocatedTable(f"{workload}, {clients} clients", tuple(parts), tuple(rows))


def _summed(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows.groupby(list(RUN), as_index=False)[list(SIZES)].sum().assign(part=name)


def _field(part: pd.DataFrame, variant: str, edge: str, reference: str) -> Cell:
    """Return the mean allocated size, its share of the apparent one, and its ratio to the reference's by block."""
    wide = part.pivot(index=list(BLOCK), columns="variant", values=f"{edge}_allocated_bytes")
    if variant not in wide or wide[variant].isna().all():
        return Cell(NOTHING, (), "hole", "not measured")
    taken = wide[variant].mean()
    apparent = part[part["variant"] == variant][f"{edge}_apparent_bytes"].mean()
    notes = [f"{percent(taken / apparent, 0)} of {size(apparent)}"]
    if variant != reference and reference in wide:
        notes += _against(np.log(wide[variant] / wide[reference]).dropna())
    return Cell(size(taken), tuple(notes))


def _against(logs: pd.Series) -> Iterator[str]:
    if len(logs):
        mean, low, high = (float(np.exp(each)) for each in stats.t_interval(logs))
        yield times(mean) + ("" if missing(low) or low == high else f" ({interval(low, high)})") + f", n {len(logs)}"


def _published(study: dict[str, Any], workload: str, width: int) -> Iterator[tuple]:
    rows = published.frame(study)
    found = {
        (row.variant, row.metric): row.value
        for row in rows[(rows["workload"] == workload) & rows["metric"].isin(SIZES)].itertuples()
    }
    for edge, when in EDGES.items():
        for variant in dict.fromkeys(variant for variant, _ in found):
            taken, apparent = (found.get((variant, f"{edge}_{kind}_bytes")) for kind in ("allocated", "apparent"))
            share = f"{percent(taken / apparent, 0)} of {size(apparent)}" if taken and apparent else ""
            field = Cell(size(taken), (share,) if share else ())
            yield f"published {variant}", when, (*(Cell(NOTHING),) * (width - 1), field)
