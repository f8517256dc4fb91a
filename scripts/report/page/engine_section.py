"""The storage engine for the page: sizes of files, InnoDB's change buffer, the engine's own reports."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scripts.lib.host import storage
from scripts.lib.vocabulary import BLOCK, CELL, RUN
from scripts.lib.wording import NOTHING, count, missing, number, percent, size
from scripts.measure.engine.run_parts import Edges
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import published
from scripts.report.analysis.metrics import OPERATIONS
from scripts.report.analysis.published import SIZES
from scripts.report.page.pairs import pair_cell
from scripts.report.page.runs_section import first_ok
from scripts.report.page.value_tables import Cell

EDGE_WORDS = {"before": "before the load", "after": "after the load"}
TABLE_KINDS, ALL_TABLES = "all tables", "whole data directory"


@dataclass(frozen=True)
class AllocatedTable:
    """One workload and client count: one row per variant and edge, one field per table and one for everything."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def allocated_tables(study: dict[str, Any], files: pd.DataFrame) -> list[AllocatedTable]:
    """Return one table per workload and client count if the study compresses pages; `files` is files.csv."""
    laid = [variant.get("data", {}) for variant in study["variants"].values()]
    if not any(map(storage.compressed_page_options, [*study["datasets"].values(), *laid])):
        return []
    cells = dict.fromkeys(zip(files["workload"], files["clients"], strict=True))
    return [_allocated_table(study, files, *cell) for cell in cells]


def _allocated_table(study: dict[str, Any], files: pd.DataFrame, workload: str, clients: int) -> AllocatedTable:
    cell = files[(files["workload"] == workload) & (files["clients"] == clients)]
    whole, together = (
        _summed(rows, name) for rows, name in ((cell, ALL_TABLES), (cell[cell["kind"] == "table"], TABLE_KINDS))
    )
    of_tables = _whole_tables(cell[(cell["kind"] == "table") & (cell["after_allocated_bytes"] > 0)])
    largest = of_tables.groupby("part")["after_apparent_bytes"].max().sort_values(ascending=False).index[:6]
    parts = {
        **{part: of_tables[of_tables["part"] == part] for part in largest},
        TABLE_KINDS: together,
        ALL_TABLES: whole,
    }
    rows = [
        (variant, when, tuple(_allocated_field(part, variant, edge, study["reference"]) for part in parts.values()))
        for edge, when in EDGE_WORDS.items()
        for variant in study["variants"]
    ]
    rows += _published_sizes(study, workload, len(parts))
    return AllocatedTable(f"{workload}, {clients} clients", tuple(parts), tuple(rows))


def _whole_tables(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of tables, the partitions of each added up."""
    named = rows.assign(part=rows["part"].str.partition("#")[0])
    return named.groupby([*RUN, "block", "part"], as_index=False, dropna=False)[list(SIZES)].sum()


def _summed(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows.groupby([*RUN, "block"], as_index=False, dropna=False)[list(SIZES)].sum().assign(part=name)


def _allocated_field(part: pd.DataFrame, variant: str, edge: str, reference: str) -> Cell:
    """Return the allocated size, its share of the apparent size, and its ratio to the reference by block.

    Sizes are means over the runs, with a ratio those of the blocks behind it, the reference's first.
    """
    wide, apparent = (
        part.pivot(index=[*BLOCK, "block"], columns="variant", values=f"{edge}_{kind}_bytes")
        for kind in ("allocated", "apparent")
    )
    if variant not in wide or wide[variant].isna().all():
        return Cell(NOTHING, (), "hole", "not measured")
    compared = variant != reference and reference in wide
    own = wide[wide[[variant, reference] if compared else [variant]].notna().all(axis=1)]
    alone = Cell(size(wide[variant].mean()))
    cell = (pair_cell(own[variant], own[reference], size) if compared else None) or alone
    rows = own.index if cell.notes else wide.index
    share = wide.loc[rows, variant].mean() / apparent.loc[rows, variant].mean()
    return replace(cell, notes=(f"{percent(share, 0)} of {size(apparent.loc[rows, variant].mean())}", *cell.notes))


def _published_sizes(study: dict[str, Any], workload: str, width: int) -> Iterator[tuple]:
    rows = published.frame(study)
    found = {
        (row.variant, row.metric): row.value
        for row in rows[(rows["workload"] == workload) & rows["metric"].isin(SIZES)].itertuples()
    }
    for edge, when in EDGE_WORDS.items():
        for variant in dict.fromkeys(variant for variant, _ in found):
            taken, apparent = (found.get((variant, f"{edge}_{kind}_bytes")) for kind in ("allocated", "apparent"))
            share = f"{percent(taken / apparent, 0)} of {size(apparent)}" if taken and apparent else ""
            field = Cell(size(taken), (share,) if share else ())
            yield f"published {variant}", when, (*(Cell(NOTHING),) * (width - 1), field)


Counters = dict[str, Edges]
CHANGE_BUFFER_PREFIX = "change_buffer_"
CHANGE_BUFFER_HEAD = (
    *("variant", "workload", "clients", "runs", "merges"),
    *(f"merged {what}" for what in OPERATIONS.values()),
    *("discarded", "pages before", "pages after"),
)


def change_buffer_rows(study: dict[str, Any], records: Iterable[Run]) -> list[tuple[str, ...]]:
    """Return the fields of CHANGE_BUFFER_HEAD per cell, means over ok runs; nothing if no run used the buffer."""
    cells: dict[tuple, list[Counters]] = defaultdict(list)
    for run in records:
        if run.outcome == "ok" and f"{CHANGE_BUFFER_PREFIX}merges" in run.counters:
            cells[run.cell].append(run.counters)
    if not any(_used(counters) for runs in cells.values() for counters in runs):
        return []
    keys = [
        (variant, workload, clients)
        for workload in study["workloads"]
        for clients in study["clients"]
        for variant in study["variants"]
    ]
    return [(*map(str, key), str(len(cells[key])), *map(_text, _means(cells[key]))) for key in keys if key in cells]


def _used(counters: Counters) -> bool:
    return any(name.startswith(CHANGE_BUFFER_PREFIX) and grown(edges) for name, edges in counters.items())


def grown(edges: Edges | None) -> float | None:
    return edges.after - edges.before if edges else None


def _means(runs: list[Counters]) -> Iterable[float | None]:
    yield _mean(grown(run.get(f"{CHANGE_BUFFER_PREFIX}merges")) for run in runs)
    for name in OPERATIONS:
        yield _mean(grown(run.get(f"{CHANGE_BUFFER_PREFIX}merged_{name}")) for run in runs)
    gone = [[grown(run.get(f"{CHANGE_BUFFER_PREFIX}discarded_{name}")) for name in OPERATIONS] for run in runs]
    yield _mean(None if None in each else sum(each) for each in gone)
    for edge in ("before", "after"):
        pages = (run.get(f"{CHANGE_BUFFER_PREFIX}pages") for run in runs)
        yield _mean(getattr(edges, edge) if edges else None for edges in pages)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _text(value: float | None) -> str:
    return NOTHING if value is None else number(value) if value.is_integer() else count(value)


FILE_KIND_WORDS = {
    "table": "tables", "system": "system table space", "catalog": "system schemas", "redo": "redo log",
    "undo": "undo logs", "binary_log": "binary log", "doublewrite": "doublewrite", "temporary": "temporary",
    "other": "other",
}  # fmt: skip
SIZE_COLUMNS = ("before_apparent_bytes", "after_apparent_bytes", "after_allocated_bytes")
HOLES = 0.01  # of the apparent size; a file's last block rounds up


@dataclass(frozen=True)
class SizeTable:
    """One workload: one row per variant and client count, one field per kind of files."""

    workload: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def size_tables(study: dict[str, Any], files: pd.DataFrame) -> list[SizeTable]:
    """Return one table per workload with the sizes of files after its runs, means over the runs of a cell."""
    found = [_size_table(study, name, files[files["workload"] == name]) for name in study["workloads"]]
    return [table for table in found if table.rows]


def _size_table(study: dict[str, Any], workload: str, files: pd.DataFrame) -> SizeTable:
    run = files.groupby([*CELL, "repetition", "kind"])[list(SIZE_COLUMNS)].sum(min_count=1)
    means = run.groupby([*CELL, "kind"])[list(SIZE_COLUMNS)].mean()
    found = {key: tuple(row) for key, row in zip(means.index, means.to_numpy(), strict=True)}
    kinds = [kind for kind in FILE_KIND_WORDS if any(key[-1] == kind and row[1] > 0 for key, row in found.items())]
    keys = [(name, workload, clients) for clients in study["clients"] for name in study["variants"]]
    rows = tuple(
        (key[0], str(key[2]), tuple(_size_cell(found.get((*key, kind))) for kind in kinds))
        for key in keys
        if any((*key, kind) in found for kind in kinds)
    )
    return SizeTable(workload, tuple(FILE_KIND_WORDS[kind] for kind in kinds), rows)


def _size_cell(sizes: tuple[float, ...] | None) -> Cell:
    if sizes is None or missing(float(sizes[1])):
        return Cell(NOTHING, (), "hole", "no such files")
    return Cell(size(float(sizes[1])), tuple(_size_notes(*map(float, sizes))))


def _size_notes(before: float, after: float, allocated: float) -> Iterable[str]:
    if missing(before):
        yield "new"
    elif round(after - before):
        yield f"{'+' if after > before else '−'}{size(abs(after - before))}"
    if not missing(allocated) and allocated < (1 - HOLES) * after:
        yield f"{size(allocated)} allocated"


@dataclass(frozen=True)
class EngineReport:
    """The storage engine's own reports of one run, before and after the measuring call."""

    variant: str
    run: str
    before: str
    after: str


def engine_reports(study: dict[str, Any], records: list[Run]) -> list[EngineReport]:
    """Return the reports of each variant's first ok run."""
    found = ((name, first_ok(records, variant=name)) for name in study["variants"])
    return [
        EngineReport(name, _run_text(run), run.engine_report.before, run.engine_report.after)
        for name, run in found
        if run and run.engine_report
    ]


def _run_text(run: Run) -> str:
    return f"{run.workload}, {run.clients} clients, repetition {run.repetition}"
