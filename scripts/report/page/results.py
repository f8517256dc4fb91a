"""The results of a study as rows: the mean over all cells of each arm, each cell, and the columns beside them.

The first screen's figure, the table of the summary and the last lines on the terminal show the same rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import AA, CONTROLS, RELINKED, Verdict
from scripts.lib.wording import NARROW, NOTHING, by_width, missing, percent, rounds_to_zero
from scripts.report.analysis.metrics import COLD_TIME, METRICS, TPS, WARM_TIME, Metric, latency_of, leading_of
from scripts.report.analysis.table_rows import CellRow, OverallRow, RelinkedRow
from scripts.report.page.study_answer import BAD, GOOD, PLAIN, QUIET, ShownRatio
from scripts.report.page.words import side

# The end of the label of A/A.
AGAIN = " again (A/A)"
HEADS = {"tps": "TPS", "cpu_us_per_tx": "CPU / transaction", "p50_ms": "median latency", "p95_ms": "p95 latency",
         "p99_ms": "p99 latency", "cold_s": "cold time", "warm_s": "warm time"}  # fmt: skip


@dataclass(frozen=True)
class Span:
    """A ratio with its 95 % interval; `ratio` is None for a range without a middle, bounds are NaN without interval."""

    label: str
    ratio: float | None
    low: float
    high: float


@dataclass(frozen=True)
class ResultRow:
    """One arm: its name, the mean over all cells (None if nothing could be compared), the cells, the columns."""

    variant: str
    label: str
    mean: Span | None
    cells: tuple[Span, ...]
    fields: tuple[ShownRatio, ...]


@dataclass(frozen=True)
class Results:
    """All rows of a study with the metrics of their columns, the first of which the figure shows."""

    reference: str
    metrics: tuple[Metric, ...]
    rows: tuple[ResultRow, ...]

    @property
    def heads(self) -> list[str]:
        """The heads of the columns."""
        return [HEADS[metric.name] for metric in self.metrics]


def results(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> Results:
    """Return the rows of a study, variants in its order, A/A and relinks last.

    `tables` holds overall, cells and relinked.
    """
    overall, cells = tables["overall"], tables["cells"]
    compared = overall[overall["n_cells"] > 0]
    metric_names = set(compared["metric"])
    lead = leading_of(study, metric_names or set(overall["metric"]))
    columns = (TPS, METRICS["cpu_us_per_tx"], latency_of(study), COLD_TIME, WARM_TIME)
    metrics = [lead, *(metric for metric in columns if metric.name in metric_names and metric is not lead)]
    names = [name for name in study.variants if name not in (study.reference, *CONTROLS)]
    names += [name for name in study.variants if name == AA]
    rows = [_row(name, study, overall, cells, metrics) for name in names]
    return Results(study.reference, tuple(metrics), (*rows, *_relinked(study, tables["relinked"], metrics)))


def _row(
    name: str, study: ResolvedStudy, overall: pd.DataFrame, cells: pd.DataFrame, metrics: list[Metric]
) -> ResultRow:
    by_metric = {row.metric: row for row in overall[overall["variant"] == name].itertuples() if row.n_cells}
    in_cells = cells[(cells["variant"] == name) & (cells["metric"] == metrics[0].name) & cells["ratio"].notna()]
    places = {(row.workload, row.clients): row for row in in_cells.itertuples()}
    ordered = [(load, clients) for load in study.workloads for clients in sorted(study.clients)]
    spans = [_cell_span(study, places[cell]) for cell in ordered if cell in places]
    lead = by_metric.get(metrics[0].name)
    mean = Span("", lead.ratio, lead.ratio_low, lead.ratio_high) if lead else None
    label = f"{study.reference}{AGAIN}" if name == AA else name
    return ResultRow(
        name, label, mean, tuple(spans), tuple(_field(by_metric.get(metric.name), metric) for metric in metrics)
    )


def _cell_span(study: ResolvedStudy, row: CellRow) -> Span:
    label = f"{row.workload}, {row.clients}" if len(study.clients) > 1 else row.workload
    return Span(label, row.ratio, row.ratio_low, row.ratio_high)


def _field(row: OverallRow | None, metric: Metric) -> ShownRatio:
    if row is None:
        return ShownRatio(NOTHING, "", QUIET)
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    if row.verdict == Verdict.UNPAIRED and row.n_cells < row.n_cells_planned:
        bounds = f"{'' if bounds == NOTHING else f'{bounds}, '}{int(row.n_cells)} of {int(row.n_cells_planned)} cells"
    direction = side(row)
    state = (BAD if metric.is_worse(direction) else GOOD) if direction else QUIET if row.variant == AA else PLAIN
    bounds_of_ratio = (None if missing(value) else float(value) for value in (row.ratio, row.ratio_low, row.ratio_high))
    return ShownRatio(text, "" if bounds == NOTHING else bounds, state, *bounds_of_ratio)


def _relinked(study: ResolvedStudy, table: pd.DataFrame, metrics: list[Metric]) -> Iterator[ResultRow]:
    """Yield the row of the relinked reference: how far from 1 relinking alone moves it, either way, and at most."""
    if RELINKED not in study.variants or table.empty:
        return
    over = {row.metric: row for row in table[table["workload"].isna()].itertuples() if not missing(row.moved)}
    mean = over.get(metrics[0].name)
    fields = tuple(_moved(over.get(metric.name)) for metric in metrics)
    label = f"{study.reference} relinked"
    if mean is None:
        yield ResultRow(RELINKED, label, None, (), fields)
        return
    yield ResultRow(RELINKED, label, _either_way(mean.moved), (_either_way(mean.moved_high, "upper bound"),), fields)


def _either_way(moved: float, label: str = "") -> Span:
    return Span(label, None, 1 / (1 + moved), 1 + moved)


def _moved(row: RelinkedRow | None) -> ShownRatio:
    if row is None:
        return ShownRatio(NOTHING, "", QUIET)
    bounds = f"{row.moved_low * 100:.1f}–{row.moved_high * 100:.1f}{NARROW}%"
    return ShownRatio(f"{'' if rounds_to_zero(row.moved) else '±'}{percent(row.moved)}", bounds, QUIET)
