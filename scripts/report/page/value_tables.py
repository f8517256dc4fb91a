"""Fields of tables: values and ratios of cells, and the table of the means over all cells."""

from collections.abc import Iterable

import pandas as pd

from scripts.lib.failure_reasons import alike
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import AA, CELL, Verdict
from scripts.lib.wording import NOTHING, before_after, by_width, count, listing, missing, plural
from scripts.report.analysis.metrics import EVERY, Metric
from scripts.report.analysis.printed_digits import LatencyLimit, lacks, limits
from scripts.report.analysis.table_rows import CellRow, IntervalRow, MeanRow, OverallRow, RepeatedRow
from scripts.report.page.document import Cell, Head, Table, table_row, variant_cell, word_heads
from scripts.report.page.words import arm_word, side

CellKey = tuple[str, str, int]  # variant, workload, clients


class Lookup:
    """Rows of cells.csv by variant, workload, clients and metric, and the reasons of failed runs."""

    def __init__(self, cells: pd.DataFrame, runs: pd.DataFrame, study: ResolvedStudy) -> None:
        self.metrics = measured_metrics(cells)
        self.rows = cells
        self.cells = {(row.variant, row.workload, row.clients, row.metric): row for row in cells.itertuples()}
        self.limits = limits(runs)
        self.imported = study.is_imported
        self.lacks = lacks(study, runs, cells) if self.imported else {}
        self.reasons: dict[CellKey, list[str]] = {}
        self.failed: set[CellKey] = set()
        lost = runs[runs["outcome"] != "ok"]
        for (*key, outcome), rows in lost.groupby([*CELL, "outcome"], sort=False):
            groups = alike(rows.itertuples(), lambda row: str(row.reason))
            texts = [f"{repetitions(group.things)}: {group.reason}" for group in groups]
            self.reasons.setdefault(tuple(key), []).extend(texts)
            self.failed |= {tuple(key)} if outcome == "failed" else set()


def measured_metrics(cells: pd.DataFrame) -> set[str]:
    """Return the metrics to show: those with a value in some cell, or all when there is no value at all."""
    return set(cells.loc[cells["value"].notna(), "metric"]) or set(cells["metric"])


def repetitions(rows: Iterable[RepeatedRow]) -> str:
    """Return the numbers of the repetitions of these rows of runs.csv in words."""
    numbers = [str(number) for number in sorted({int(row.repetition) for row in rows})]
    return f"repetition{'s' if len(numbers) > 1 else ''} {listing(numbers)}"


def value_cell(key: CellKey, metric: Metric, lookup: Lookup) -> Cell:
    """Return the field of a measured value; a hole when no run of the cell is ok.

    A value with a ratio stands behind that of the reference over the same blocks, one alone above its runs.
    """
    cell, reasons = lookup.cells.get((*key, metric.name)), "; ".join(lookup.reasons.get(key, []))
    if cell is None:
        return Cell(NOTHING, (), "hole", "not measured")
    if not cell.n_ok:
        return Cell("failed" if key in lookup.failed else "missing", (), "hole", reasons)
    noun = "log" if lookup.imported else "run"
    of = f"of {int(cell.n_runs)} " if cell.n_ok < cell.n_runs else ""
    runs = f"{int(cell.n_ok)} {of}{noun}s" if of else plural(int(cell.n_ok), noun)
    if limit := lookup.limits.get((*key, metric.name)):
        return Cell(_beyond(limit, cell.value), (runs,), "", reasons)
    if not missing(cell.reference_value):
        return Cell(
            before_after(cell.reference_value, cell.value), (runs,) if of and lookup.imported else (), "", reasons
        )
    return Cell(count(cell.value), (runs,), "", reasons)


def _beyond(limit: LatencyLimit, least_ms: float) -> str:
    """Return the words for a latency without a value; `least_ms` is a mean with the end of the histogram in it."""
    return f"at least {count(least_ms / 1000)} s" if limit is LatencyLimit.CAPPED else "not known"


def ratio_cell(key: CellKey, metric: Metric, lookup: Lookup) -> Cell:
    """Return the field of a ratio: the interval under it, and the blocks that are left if some are lost."""
    cell = lookup.cells.get((*key, metric.name))
    if lookup.imported and (why := lookup.lacks.get((*key, metric.name))):
        return Cell(NOTHING, (why,), "hole", "; ".join(lookup.reasons.get(key, [])))
    if cell is None or missing(cell.ratio):
        notes = ("no whole block",) if cell is not None and not missing(cell.n_blocks) else ()
        return Cell(NOTHING, notes, "hole", "; ".join(lookup.reasons.get(key, [])))
    text, bounds = by_width(cell.ratio, cell.ratio_low, cell.ratio_high)
    lost = ((cell.n_split, "split"), (cell.n_incomplete, "incomplete"), (_valueless(cell), "zero or without a value"))
    parts = [f"{int(blocks)} {how}" for blocks, how in lost if blocks]
    notes = (f"{plural(int(cell.n_blocks), 'block')}, {', '.join(parts)}",) if parts else ()
    return Cell(text, (*interval_notes(bounds), *notes), state(metric, cell), _hint(cell))


def interval_notes(bounds: str) -> tuple[str, ...]:
    """Return the notes with an interval; none without one."""
    return () if bounds == NOTHING else (bounds,)


def _valueless(cell: CellRow) -> int:
    """Return the blocks that a ratio lacks though both runs are there: a log needs values above zero."""
    if cell.verdict == Verdict.UNPAIRED:
        return 0
    return int(cell.n_runs - cell.n_blocks - cell.n_split - cell.n_incomplete)


def state(metric: Metric, row: IntervalRow) -> str:
    """Return good or bad when a row's verdict, or its interval, says that something is better or worse."""
    if not (verdict := side(row)):
        return ""
    return "bad" if metric.is_worse(verdict) else "good"


def _hint(cell: CellRow) -> str:
    if missing(cell.p):
        return ""
    adjusted = "" if missing(cell.p_holm) else f", after Holm {cell.p_holm:.2g}"
    return f"p {cell.p:.2g}{adjusted}; interval from the {cell.basis} spread"


OVERALL = {
    "tps": "TPS", "p95_ms": "p95", "p99_ms": "p99", "cpu_us_per_tx": "server CPU", "cpu_user_us_per_tx": "user CPU",
    "cpu_system_us_per_tx": "system CPU", "host_cpu_us_per_tx": "host CPU without client",
    "slow_stop_s": "slow stop",
    "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip


def overall_table(study: ResolvedStudy, overall: pd.DataFrame, cells: pd.DataFrame) -> Table:
    """Return the means over cells: one row per variant, one column per metric that has a value; reads overall.csv."""
    by_key = {(row.variant, row.metric): row for row in overall.itertuples()}
    names = [name for name in OVERALL if name in measured_metrics(cells)]
    rows = [
        table_row(
            variant_cell(variant),
            *(_overall_cell(by_key.get((variant, name)), EVERY[name], study) for name in names),
            style="aa" if variant == AA else "",
        )
        for variant in study.variants
        if variant != study.reference
    ]
    return Table((*word_heads("variant"), *(Head(OVERALL[name]) for name in names)), tuple(rows))


def blocks_text(row: MeanRow, planned: int) -> str:
    """Return the number of repetitions behind a mean, and the planned number if some are lost."""
    of = f" of {planned}" if row.n_repetitions < planned else ""
    return f"n {int(row.n_repetitions)}{of}"


def _mean_of_logs(row: OverallRow) -> Cell:
    lost = f"{int(row.n_cells)} of " if row.n_cells < row.n_cells_planned else ""
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    return Cell(
        text, (*interval_notes(bounds), f"{lost}{plural(int(row.n_cells_planned), 'cell')}, n {int(row.n_repetitions)}")
    )


def _overall_cell(row: OverallRow | None, metric: Metric, study: ResolvedStudy) -> Cell:
    if row is None or not row.n_cells:
        return Cell(NOTHING, ("no cell" if study.is_imported else "no whole block",), "hole")
    if row.verdict == Verdict.UNPAIRED:
        return _mean_of_logs(row)
    word = arm_word(row.variant, metric, row.verdict, study.matters)
    blocks = blocks_text(row, study.repetitions)
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    return Cell(text, (bounds, f"{blocks}, {word}" if word else blocks), state(metric, row))
