"""The figure of two studies: the ratio of every variant to its own reference, in A and below it in B."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scripts.commands.compare_studies.cells import Cells
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import NOTHING, by_width, missing
from scripts.report.analysis.metrics import METRICS, Metric
from scripts.report.analysis.unpaired import WelchEstimate
from scripts.report.page.figures.answer import NARROW, WIDE, answer_chart
from scripts.report.page.figures.naming import COLOURS, Palette
from scripts.report.page.results import ResultRow, Results, Span
from scripts.report.page.study_answer import PLAIN, QUIET, ShownRatio

SIDES = {"A": COLOURS[0], "B": COLOURS[1]}
METRIC_NAMES = ("tps", "cpu_us_per_tx", "p95_ms")


def speedup_charts(cells: Cells) -> list[str]:
    """Return the figure for a wide and for a narrow screen; none if no variant was compared with a reference."""
    results = speedups(cells)
    if not results.rows:
        return []
    look = Palette(tuple(SIDES), results.reference, SIDES, dict.fromkeys(SIDES, "o"))
    layouts = {"speedups": WIDE, "speedups-narrow": NARROW}
    return [answer_chart(results, look, layout, name) for name, layout in layouts.items()]


def speedups(cells: Cells) -> Results:
    """Return two rows per variant, named after its study; rows are over the cells that both have."""
    references = list(dict.fromkeys(study.study.reference for study in (cells.a, cells.b)))
    names = [name for name, shared in cells.shared.items() if shared and name not in (*references, *CONTROLS)]
    rows = [row for name in names for row in _rows(cells, name)]
    columns = [column for column in range(len(METRIC_NAMES)) if any(row.fields[column].text != NOTHING for row in rows)]
    metrics = tuple(METRICS[METRIC_NAMES[column]] for column in columns)
    shown = tuple(replace(row, fields=tuple(row.fields[column] for column in columns)) for row in rows if columns)
    return Results(" and ".join(references), metrics, shown)


def _rows(cells: Cells, variant: str) -> Iterator[ResultRow]:
    shared, metrics = cells.shared[variant], [METRICS[name] for name in METRIC_NAMES]
    for side in SIDES:
        of_metric = [_speedup(cells, variant, metric, shared, side) for metric in metrics]
        of_cell = [_speedup(cells, variant, metrics[0], [cell], side) for cell in shared]
        spans = [_span(f"{cell[0]}, {cell[1]}", estimated) for cell, estimated in zip(shared, of_cell, strict=True)]
        yield ResultRow(
            side,
            f"{variant} in {side}",
            _span("", of_metric[0]),
            tuple(span for span in spans if span),
            tuple(_field(estimated) for estimated in of_metric),
        )


def _speedup(cells: Cells, variant: str, metric: Metric, chosen: list[tuple[str, int]], side: str) -> WelchEstimate:
    compared = cells.compared(variant, metric.name, chosen)
    return compared.speedup_a if side == "A" else compared.speedup_b


def _span(label: str, estimated: WelchEstimate) -> Span | None:
    return None if missing(estimated.log_ratio) else Span(label, estimated.ratio, *estimated.bounds)


def _field(estimated: WelchEstimate) -> ShownRatio:
    if missing(estimated.log_ratio):
        return ShownRatio(NOTHING, "", QUIET)
    text, bounds = by_width(estimated.ratio, *estimated.bounds)
    return ShownRatio(text, bounds if np.isfinite(estimated.bounds).all() else "", PLAIN)
