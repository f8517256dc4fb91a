"""The table of two studies side by side: a row a cell and variant."""

from dataclasses import dataclass

from scripts.metrics import Metric
from scripts.study_cells import Cells, Compared
from scripts.unpaired import Estimate
from scripts.value_tables import Cell
from scripts.wording import NOTHING, count, interval, missing, plural, ratio

NOT_INTERLEAVED = "not interleaved"
NO_SPEEDUP = "no speedup"
OTHER_SETTINGS = "other settings"
HEAD = ("A", "B", "B / A", "ratio to reference, A", "ratio to reference, B", "ratio of the two")


@dataclass(frozen=True)
class Row:
    """One variant in one cell, or over all cells the studies share."""

    where: str
    variant: str
    fields: tuple[Cell, ...]


@dataclass(frozen=True)
class SideTable:
    """The table of one metric; `whole` holds the means over all shared cells, `rows` the cells."""

    title: str
    head: tuple[str, ...]
    whole: tuple[Row, ...]
    rows: tuple[Row, ...]


def table(cells: Cells, metric: Metric) -> SideTable:
    """Return the table of one metric, cells in the first study's order, the variants of a cell together."""
    variants = [name for name, shared in cells.shared.items() if shared]
    places = list(dict.fromkeys(cell for name in variants for cell in cells.shared[name]))
    whole = [
        _row(cells, metric, plural(len(cells.shared[name]), "cell"), name, cells.shared[name]) for name in variants
    ]
    rows = [
        _row(cells, metric, f"{cell[0]}, {plural(cell[1], 'client')}", name, [cell])
        for cell in places
        for name in variants
        if cell in cells.shared[name]
    ]
    return SideTable(metric.heading, HEAD, tuple(whole), tuple(rows))


def _row(cells: Cells, metric: Metric, where: str, variant: str, chosen: list[tuple[str, int]]) -> Row:
    found = cells.compared(variant, metric.name, chosen)
    workloads = dict.fromkeys(workload for workload, _ in chosen)
    every = list(dict.fromkeys(change.what for load in workloads for change in cells.refusals.of(variant, load)))
    load = list(dict.fromkeys(change.what for name in workloads for change in cells.refusals.load(variant, name)))
    return Row(where, variant, _fields(found, every, load))


def _fields(found: Compared, refused: list[str], load: list[str]) -> tuple[Cell, ...]:
    word = NO_SPEEDUP if refused else NOT_INTERLEAVED
    return (
        Cell(count(found.value_a)),
        Cell(count(found.value_b)),
        _ratio(found.change, word, f"differ: {', '.join(refused)}" if refused else ""),
        _ratio(found.speedup_a),
        _ratio(found.speedup_b),
        _ratio(found.relative, OTHER_SETTINGS if load else "", f"differ: {', '.join(load)}" if load else ""),
    )


def _ratio(found: Estimate, note: str = "", hint: str = "") -> Cell:
    if missing(found.log_ratio):
        return Cell(NOTHING, (), "hole")
    notes = (interval(*found.bounds), *([note] if note else []))
    return Cell(ratio(found.ratio), notes, "hole" if note == NO_SPEEDUP else "", hint)
