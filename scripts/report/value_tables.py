"""Tables of values and ratios: one row per variant, one column per client count or metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.analysis.metrics import EVERY, Metric
from scripts.analysis.verdicts import MATTERS
from scripts.report.words import arm_word, side
from scripts.vocabulary import CELL
from scripts.wording import NOTHING, count, interval, listing, missing, plural, ratio

SHOWN = ("tps", "p95_ms", "cpu_us_per_tx", "cpu_user_us_per_tx", "cpu_system_us_per_tx", "cold_s", "warm_s")
COLUMN_HEADS = ("TPS", "p95, ms", "CPU per transaction, µs", "of it user", "of it system", "cold, s", "warm, s")


@dataclass(frozen=True)
class Cell:
    """One field: its main text, smaller lines under it, a state (good, bad, hole or empty), a hint on hovering."""

    text: str
    notes: tuple[str, ...] = ()
    state: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """One row of a variant; `kind` is value or ratio."""

    variant: str
    kind: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class ValueTable:
    """One table of a workload; `head` holds the client counts, or the metrics when there is one client count."""

    title: str
    stub: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]


class Lookup:
    """Rows of cells.csv by variant, workload, clients and metric, and the reasons of failed runs."""

    def __init__(self, cells: pd.DataFrame, runs: pd.DataFrame) -> None:
        self.metrics = measured_metrics(cells)
        self.rows = cells
        self.cells = {(row.variant, row.workload, row.clients, row.metric): row for row in cells.itertuples()}
        self.reasons: dict[tuple, list[str]] = {}
        self.failed: set[tuple] = set()
        lost = runs[runs["outcome"] != "ok"]
        for (*key, outcome, reason), rows in lost.groupby([*CELL, "outcome", "reason"], sort=False):
            self.reasons.setdefault(tuple(key), []).append(f"{repetitions(rows)}: {reason}")
            self.failed |= {tuple(key)} if outcome == "failed" else set()

    def metrics_of(self, workload: str) -> set[str]:
        """Return the metrics of one workload: timed SQL and sysbench's loads have none in common."""
        return self.metrics & set(self.rows.loc[self.rows["workload"] == workload, "metric"])


def measured_metrics(cells: pd.DataFrame) -> set[str]:
    """Return the metrics to show: those with a value in some cell, or all when there is no value at all."""
    return set(cells.loc[cells["value"].notna(), "metric"]) or set(cells["metric"])


def repetitions(rows: pd.DataFrame) -> str:
    """Return the numbers of the repetitions of these rows in words."""
    numbers = [str(int(number)) for number in sorted(rows["repetition"])]
    return f"repetition{'s' if len(numbers) > 1 else ''} {listing(numbers)}"


def workload_tables(workload: str, study: dict, found: Lookup) -> list[ValueTable]:
    """Return the tables of one workload: TPS, p95, and CPU per transaction as sum, user and system.

    With one client count there would be five tables of one column; there is one with one column per metric instead.
    """
    if len(study["clients"]) == 1:
        return [_single(workload, study, found)]
    head = tuple(f"{number}" for number in study["clients"])
    return [
        ValueTable(EVERY[name].heading, "clients", head, _rows(workload, EVERY[name], study, found))
        for name in SHOWN
        if name in found.metrics
    ]


def _single(workload: str, study: dict, found: Lookup) -> ValueTable:
    known = found.metrics_of(workload)
    shown = {name: head for name, head in zip(SHOWN, COLUMN_HEADS, strict=True) if name in known}
    columns = [_rows(workload, EVERY[name], study, found) for name in shown]
    rows = tuple(
        Row(parts[0].variant, parts[0].kind, tuple(part.cells[0] for part in parts))
        for parts in zip(*columns, strict=True)
    )
    return ValueTable(plural(study["clients"][0], "client"), "", tuple(shown.values()), rows)


def _rows(workload: str, metric: Metric, study: dict, found: Lookup) -> tuple[Row, ...]:
    matters = study.get("matters", MATTERS)
    make = {"value": value_cell, "ratio": lambda *place: ratio_cell(*place, matters)}
    others = [name for name in study["variants"] if name != study["reference"]]
    wanted = [*((name, "value") for name in study["variants"]), *((name, "ratio") for name in others)]
    return tuple(
        Row(name, kind, tuple(make[kind]((name, workload, clients), metric, found) for clients in study["clients"]))
        for name, kind in wanted
    )


def value_cell(key: tuple, metric: Metric, found: Lookup) -> Cell:
    """Return the field of a measured value; a hole when no run of the cell is ok."""
    cell, reasons = found.cells.get((*key, metric.name)), "; ".join(found.reasons.get(key, []))
    if cell is None:
        return Cell(NOTHING, (), "hole", "not measured")
    if not cell.n_ok:
        return Cell("failed" if key in found.failed else "missing", (), "hole", reasons)
    lost = (f"{int(cell.n_ok)} of {int(cell.n_runs)} runs",) if cell.n_ok < cell.n_runs else ()
    return Cell(count(cell.value), lost, "", reasons)


def ratio_cell(key: tuple, metric: Metric, found: Lookup, matters: float) -> Cell:
    """Return the field of a ratio: interval, number of blocks and verdict, if any, under it."""
    cell = found.cells.get((*key, metric.name))
    if cell is None or missing(cell.ratio):
        lost = cell is not None and not missing(cell.n_blocks)
        return Cell(NOTHING, ("no whole block",) if lost else (), "hole", "; ".join(found.reasons.get(key, [])))
    word = arm_word(key[0], metric, cell.verdict, matters)
    notes = (interval(cell.ratio_low, cell.ratio_high), f"n {int(cell.n_blocks)}" + (f", {word}" if word else ""))
    lost = ((cell.n_split, "split"), (cell.n_incomplete, "incomplete"))
    notes += tuple(f"{int(blocks)} {how}" for blocks, how in lost if blocks)
    return Cell(ratio(cell.ratio), notes, state(metric, cell), _hint(cell))


def state(metric: Metric, row: Any) -> str:
    """Return good or bad when a row's verdict, or its interval, says that something is better or worse."""
    if not (found := side(row)):
        return ""
    return "bad" if metric.is_worse(found) else "good"


def _hint(cell: tuple) -> str:
    if missing(cell.p):
        return ""
    adjusted = "" if missing(cell.p_holm) else f", after Holm {cell.p_holm:.2g}"
    return f"p {cell.p:.2g}{adjusted}; interval from the {cell.basis} spread"


def overall_rows(study: dict, overall: pd.DataFrame, names: Sequence[str]) -> list[Row]:
    """Return the table of means over cells: one row per variant, one field per metric of `names`."""
    found = {(row.variant, row.metric): row for row in overall.itertuples()}
    others = [name for name in study["variants"] if name != study["reference"]]
    return [
        Row(variant, "ratio", tuple(_overall_cell(found.get((variant, name)), EVERY[name], study) for name in names))
        for variant in others
    ]


def blocks_text(row: tuple, planned: int) -> str:
    """Return the number of repetitions behind a mean, and the planned number if some are lost."""
    of = f" of {planned}" if row.n_repetitions < planned else ""
    return f"n {int(row.n_repetitions)}{of}"


def _overall_cell(row: tuple | None, metric: Metric, study: dict) -> Cell:
    if row is None or not row.n_cells:
        return Cell(NOTHING, ("no whole block",), "hole")
    word = arm_word(row.variant, metric, row.verdict, study.get("matters", MATTERS))
    blocks = blocks_text(row, study["repetitions"])
    lines = (interval(row.ratio_low, row.ratio_high), f"{blocks}, {word}" if word else blocks)
    return Cell(ratio(row.ratio), lines, state(metric, row))
