"""The figure of two studies: the ratio of every variant to its own reference, in A and below it in B."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scripts.commands.compare_studies.cells import Cells
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import NOTHING, by_width, missing
from scripts.report.analysis.metrics import METRICS, Metric
from scripts.report.analysis.unpaired import Estimate
from scripts.report.page.figures.answer import NARROW, WIDE, answer_chart
from scripts.report.page.figures.naming import COLOURS, Look
from scripts.report.page.results import PLAIN, QUIET, Field, ResultRow, Results, Span

SIDES = {"A": COLOURS[0], "B": COLOURS[1]}
METRIC_NAMES = ("tps", "cpu_us_per_tx", "p95_ms")


def speedup_charts(cells: Cells) -> list[str]:
    """Return the figure for a wide and for a narrow screen; none if no variant was compared with a reference."""
    found = speedups(cells)
    if not found.rows:
        return []
    look = Look(tuple(SIDES), found.reference, SIDES, dict.fromkeys(SIDES, "o"))
    layouts = {"speedups": WIDE, "speedups-narrow": NARROW}
    return [answer_chart(found, look, layout, name) for name, layout in layouts.items()]


def speedups(cells: Cells) -> Results:
    """Return two rows per variant, named after its study; rows are over the cells that both have."""
    references = list(dict.fromkeys(each.study["reference"] for each in (cells.a, cells.b)))
    names = [name for name, shared in cells.shared.items() if shared and name not in (*references, *CONTROLS)]
    rows = [row for name in names for row in _rows(cells, name)]
    known = [place for place in range(len(METRIC_NAMES)) if any(row.fields[place].text != NOTHING for row in rows)]
    metrics = tuple(METRICS[METRIC_NAMES[place]] for place in known)
    kept = tuple(replace(row, fields=tuple(row.fields[place] for place in known)) for row in rows if known)
    return Results(" and ".join(references), metrics, kept)


def _rows(cells: Cells, variant: str) -> Iterator[ResultRow]:
    shared, metrics = cells.shared[variant], [METRICS[name] for name in METRIC_NAMES]
    for side in SIDES:
        of_metric = [_speedup(cells, variant, metric, shared, side) for metric in metrics]
        each = [_speedup(cells, variant, metrics[0], [cell], side) for cell in shared]
        spans = [_span(f"{cell[0]}, {cell[1]}", one) for cell, one in zip(shared, each, strict=True)]
        yield ResultRow(
            side,
            f"{variant} in {side}",
            _span("", of_metric[0]),
            tuple(span for span in spans if span),
            tuple(_field(one) for one in of_metric),
        )


def _speedup(cells: Cells, variant: str, metric: Metric, chosen: list[tuple[str, int]], side: str) -> Estimate:
    found = cells.compared(variant, metric.name, chosen)
    return found.speedup_a if side == "A" else found.speedup_b


def _span(label: str, found: Estimate) -> Span | None:
    return None if missing(found.log_ratio) else Span(label, found.ratio, *found.bounds)


def _field(found: Estimate) -> Field:
    if missing(found.log_ratio):
        return Field(NOTHING, "", QUIET)
    text, bounds = by_width(found.ratio, *found.bounds)
    return Field(text, bounds if np.isfinite(found.bounds).all() else "", PLAIN)
