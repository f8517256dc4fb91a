"""The storage engine for the page: sizes of files, InnoDB's change buffer, the engine's own reports."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd
from markupsafe import Markup

from scripts.lib.host import storage
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import BLOCK, CELL, CONTROLS, RUN
from scripts.lib.wording import NOTHING, count, listing, missing, number, percent, size
from scripts.measure.engine.run_parts import Edges
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import published
from scripts.report.analysis.metrics import OPERATIONS
from scripts.report.analysis.published import SIZES
from scripts.report.page.document import (
    Cell,
    Fold,
    Head,
    Heading,
    PageBlock,
    Prose,
    Table,
    TableRow,
    Verbatim,
    grid,
    table_row,
    variant_cell,
    word_heads,
)
from scripts.report.page.pairs import PairedMeans, paired_means
from scripts.report.page.runs_section import first_ok

EDGE_WORDS = {"before": "before the load", "after": "after the load"}
TABLE_KINDS, ALL_TABLES = "all tables", "whole data directory"


@dataclass(frozen=True)
class Allocated:
    """The allocated bytes of one part of the data directory at one edge of the runs of one variant.

    `pair` is beside the reference by block, None for the reference itself and where no block has both.
    """

    bytes: float
    apparent_bytes: float
    pair: PairedMeans | None

    @property
    def cell(self) -> Cell:
        """The size, its share of the apparent size, and its ratio to the reference."""
        share = f"{percent(self.bytes / self.apparent_bytes, 0)} of {size(self.apparent_bytes)}"
        cell = self.pair.cell(size) if self.pair else Cell(size(self.bytes))
        return replace(cell, notes=(share, *cell.notes))


@dataclass(frozen=True)
class AllocatedPlace:
    """What the tables take on disk at one workload and client count: by (variant, edge) and part, None if unknown."""

    workload: str
    clients: int
    parts: tuple[str, ...]
    sizes: dict[tuple[str, str], dict[str, Allocated | None]]

    @property
    def title(self) -> str:
        """Workload and clients in words."""
        return f"{self.workload}, {self.clients} clients"


def allocated_places(study: ResolvedStudy, files: pd.DataFrame) -> list[AllocatedPlace]:
    """Return one entry per workload and client count if the study compresses pages; `files` is files.csv."""
    laid = [*study.datasets.values(), *(variant.data for variant in study.variants.values())]
    if not any(storage.compressed_page_options({"options": dataset.options}) for dataset in laid):
        return []
    cells = dict.fromkeys(zip(files["workload"], files["clients"], strict=True))
    return [_allocated_place(study, files, *cell) for cell in cells]


def _allocated_place(study: ResolvedStudy, files: pd.DataFrame, workload: str, clients: int) -> AllocatedPlace:
    cell = files[(files["workload"] == workload) & (files["clients"] == clients)]
    data_directory, together = (
        _summed(rows, name) for rows, name in ((cell, ALL_TABLES), (cell[cell["kind"] == "table"], TABLE_KINDS))
    )
    of_tables = _whole_tables(cell[(cell["kind"] == "table") & (cell["after_allocated_bytes"] > 0)])
    largest = of_tables.groupby("part")["after_apparent_bytes"].max().sort_values(ascending=False).index[:6]
    parts = {
        **{part: of_tables[of_tables["part"] == part] for part in largest},
        TABLE_KINDS: together,
        ALL_TABLES: data_directory,
    }
    sizes = {
        (variant, edge): {name: _allocated(part, variant, edge, study.reference) for name, part in parts.items()}
        for edge in EDGE_WORDS
        for variant in study.variants
    }
    return AllocatedPlace(workload, clients, tuple(parts), sizes)


def _allocated_table(study: ResolvedStudy, sizes_on_disk: AllocatedPlace) -> Table:
    unknown = Cell(NOTHING, (), "hole", "not measured")
    rows = [
        table_row(variant_cell(variant), EDGE_WORDS[edge], *(part.cell if part else unknown for part in parts.values()))
        for (variant, edge), parts in sizes_on_disk.sizes.items()
    ]
    rows += _published_sizes(study, sizes_on_disk.workload, len(sizes_on_disk.parts))
    heads = (*word_heads("variant", "when"), *map(Head, sizes_on_disk.parts))
    return Table(heads, tuple(rows), caption=sizes_on_disk.title)


def allocated_blocks(study: ResolvedStudy, places: Sequence[AllocatedPlace]) -> list[PageBlock]:
    """Return what the tables take on disk, for a study that compresses pages."""
    if not places:
        return []
    text = (
        "Allocated bytes, and their share of the apparent size. Compressed pages leave holes; in every variant empty "
        "pages do so too when a data directory is copied. Sizes before the load are those of the snapshot, sizes after "
        f"it means over the runs; {study.reference} → variant are those of n blocks that have both, with their "
        "ratio and its 95 % t interval where runs differ."
    )
    tables = (_allocated_table(study, sizes_on_disk) for sizes_on_disk in places)
    return [Heading("What the tables take on disk", id="compression"), Prose(text), *tables]


def allocated_sentences(study: ResolvedStudy, places: Iterable[AllocatedPlace]) -> Iterator[str]:
    """Yield the disk space of all tables of each variant beside the reference's, before and after the load."""
    for sizes_on_disk in places:
        for variant in (name for name in study.variants if name not in CONTROLS):
            sizes = {edge: sizes_on_disk.sizes[variant, edge][TABLE_KINDS] for edge in EDGE_WORDS}
            pairs = [f"{part.pair.text} {EDGE_WORDS[edge]}" for edge, part in sizes.items() if part and part.pair]
            if pairs:
                whose = f"{TABLE_KINDS} of {variant} to that of {study.reference}"
                yield f"{sizes_on_disk.title}: disk space of {whose}: {listing(pairs)}."


def _whole_tables(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of tables, the partitions of each added up."""
    named = rows.assign(part=rows["part"].str.partition("#")[0])
    return named.groupby([*RUN, "block", "part"], as_index=False, dropna=False)[list(SIZES)].sum()


def _summed(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows.groupby([*RUN, "block"], as_index=False, dropna=False)[list(SIZES)].sum().assign(part=name)


def _allocated(part: pd.DataFrame, variant: str, edge: str, reference: str) -> Allocated | None:
    """Return the sizes of a part: means over the runs, with a ratio those of the blocks behind it."""
    wide, apparent = (
        part.pivot(index=[*BLOCK, "block"], columns="variant", values=f"{edge}_{kind}_bytes")
        for kind in ("allocated", "apparent")
    )
    if variant not in wide or wide[variant].isna().all():
        return None
    compared = variant != reference and reference in wide
    shared_blocks = wide[wide[[variant, reference] if compared else [variant]].notna().all(axis=1)]
    pair = paired_means(shared_blocks[variant], shared_blocks[reference]) if compared else None
    rows = shared_blocks.index if pair else wide.index
    return Allocated(wide.loc[rows, variant].mean(), apparent.loc[rows, variant].mean(), pair)


def _published_sizes(study: ResolvedStudy, workload: str, width: int) -> Iterator[TableRow]:
    rows = published.frame(study)
    published_bytes = {
        (row.variant, row.metric): row.value
        for row in rows[(rows["workload"] == workload) & rows["metric"].isin(SIZES)].itertuples()
    }
    for edge, when in EDGE_WORDS.items():
        for variant in dict.fromkeys(variant for variant, _ in published_bytes):
            allocated, apparent = (
                published_bytes.get((variant, f"{edge}_{kind}_bytes")) for kind in ("allocated", "apparent")
            )
            share = f"{percent(allocated / apparent, 0)} of {size(apparent)}" if allocated and apparent else ""
            field = Cell(size(allocated), (share,) if share else ())
            yield table_row(f"published {variant}", when, *(NOTHING,) * (width - 1), field)


Counters = dict[str, Edges]
CHANGE_BUFFER_PREFIX = "change_buffer_"
CHANGE_BUFFER_HEAD = (
    *("variant", "workload", "clients", "runs", "merges"),
    *(f"merged {what}" for what in OPERATIONS.values()),
    *("discarded", "pages before", "pages after"),
)


def change_buffer_rows(study: ResolvedStudy, records: Iterable[Run]) -> list[tuple[str, ...]]:
    """Return the fields of CHANGE_BUFFER_HEAD per cell, means over ok runs; nothing if no run used the buffer."""
    cells: dict[tuple[str | int | None, ...], list[Counters]] = defaultdict(list)
    for run in records:
        if run.outcome == "ok" and f"{CHANGE_BUFFER_PREFIX}merges" in run.counters:
            cells[run.cell].append(run.counters)
    if not any(_used(counters) for runs in cells.values() for counters in runs):
        return []
    keys = [
        (variant, workload, clients)
        for workload in study.workloads
        for clients in study.clients
        for variant in study.variants
    ]
    return [(*map(str, key), str(len(cells[key])), *map(_text, _means(cells[key]))) for key in keys if key in cells]


def change_buffer_blocks(study: ResolvedStudy, records: Iterable[Run]) -> list[PageBlock]:
    """Return what InnoDB's change buffer did; nothing if no run used it."""
    if not (rows := change_buffer_rows(study, records)):
        return []
    text = (
        "Per measuring call, means over the runs of a cell: pages of secondary indexes into which buffered changes "
        "were merged, and the merged changes."
    )
    head = Heading("InnoDB's change buffer", id="change-buffer")
    return [head, Prose(text), grid(CHANGE_BUFFER_HEAD, rows, 2)]


def _used(counters: Counters) -> bool:
    return any(name.startswith(CHANGE_BUFFER_PREFIX) and grown(edges) for name, edges in counters.items())


def grown(edges: Edges | None) -> float | None:
    """Return by how much a counter grew, None where an edge is unknown."""
    if edges is None or edges.after is None or edges.before is None:
        return None
    return edges.after - edges.before


def _means(runs: list[Counters]) -> Iterable[float | None]:
    yield _mean(grown(run.get(f"{CHANGE_BUFFER_PREFIX}merges")) for run in runs)
    for name in OPERATIONS:
        yield _mean(grown(run.get(f"{CHANGE_BUFFER_PREFIX}merged_{name}")) for run in runs)
    gone = [[grown(run.get(f"{CHANGE_BUFFER_PREFIX}discarded_{name}")) for name in OPERATIONS] for run in runs]
    yield _mean(None if None in counts else sum(filter(None, counts)) for counts in gone)
    for edge in ("before", "after"):
        pages = (run.get(f"{CHANGE_BUFFER_PREFIX}pages") for run in runs)
        yield _mean(getattr(edges, edge) if edges else None for edges in pages)


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _text(value: float | None) -> str:
    return NOTHING if value is None else number(value) if value.is_integer() else count(value)


FILE_KIND_WORDS = {
    "table": "tables", "system": "system table space", "catalog": "system schemas", "redo": "redo log",
    "undo": "undo logs", "binary_log": "binary log", "doublewrite": "doublewrite", "temporary": "temporary",
    "other": "other",
}  # fmt: skip
SIZE_COLUMNS = ("before_apparent_bytes", "after_apparent_bytes", "after_allocated_bytes")
HOLES = 0.01  # of the apparent size; a file's last block rounds up


FILES_TEXT = Markup(
    "Their size after the measuring call, means over the runs of a cell, and the growth since before the warm-up. "
    "Table by table: <code>tables/files.csv</code>."
)


def file_fold(study: ResolvedStudy, files: pd.DataFrame) -> Fold | None:
    """Return the sizes of files after the runs, one table per workload; None where nothing is known of them."""
    tables = {name: size_table(study, name, files[files["workload"] == name]) for name in study.workloads}
    blocks = [block for name, table in tables.items() if table for block in (Heading(name, 4), table)]
    return Fold("Files of the data directory", (Prose(FILES_TEXT), *blocks), id="files") if blocks else None


def size_table(study: ResolvedStudy, workload: str, files: pd.DataFrame) -> Table:
    """Return the sizes of files of a workload: one row per variant and client count, one column per kind of files."""
    run = files.groupby([*CELL, "repetition", "kind"])[list(SIZE_COLUMNS)].sum(min_count=1)
    means = run.groupby([*CELL, "kind"])[list(SIZE_COLUMNS)].mean()
    sizes = {key: tuple(row) for key, row in zip(means.index, means.to_numpy(), strict=True)}
    kinds = [kind for kind in FILE_KIND_WORDS if any(key[-1] == kind and row[1] > 0 for key, row in sizes.items())]
    keys = [(name, workload, clients) for clients in study.clients for name in study.variants]
    rows = tuple(
        table_row(variant_cell(key[0]), str(key[2]), *(_size_cell(sizes.get((*key, kind))) for kind in kinds))
        for key in keys
        if any((*key, kind) in sizes for kind in kinds)
    )
    return Table((*word_heads("variant"), Head("clients"), *(Head(FILE_KIND_WORDS[kind]) for kind in kinds)), rows)


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


def engine_fold(study: ResolvedStudy, records: list[Run]) -> Fold | None:
    """Return the engine's own reports around the measuring call of each variant's first ok run; None without any."""
    runs = ((name, first_ok(records, variant=name)) for name in study.variants)
    folds = [
        Fold(
            Markup('{} <span class="quiet">({}, {} clients, repetition {})</span>').format(
                name, run.workload, run.clients, run.repetition
            ),
            (
                Verbatim(run.engine_report.before or "", "before the measuring call"),
                Verbatim(run.engine_report.after or "", "after it"),
            ),
        )
        for name, run in runs
        if run and run.engine_report
    ]
    return Fold("The storage engine's own report, by variant", folds, id="engine") if folds else None
