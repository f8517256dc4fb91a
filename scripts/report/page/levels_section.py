"""The means of imported logs per level of each part of their paths, as a table and in per cent."""

from collections.abc import Iterable, Iterator

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NARROW, NOTHING, by_width, missing, plural
from scripts.report.analysis.levels import ALL, MEANS, levels_of
from scripts.report.analysis.metrics import TPS, latency_of
from scripts.report.analysis.table_rows import LevelRow
from scripts.report.page.document import Cell, Fold, Head, Prose, Section, Table, table_row, variant_cell, word_heads
from scripts.report.page.value_tables import interval_notes

# Percentage points from which the two kinds of means are explained.
LEAST_APART = 0.1
MOST_UNFOLDED = 40
ARITHMETIC_TEXT = (
    "Many reports average the percentages of cells arithmetically, here after averaging the repetitions. Such a mean "
    "counts a gain for more than the loss that undoes it: +100 % and −50 % give +25 %, although twice as fast and half "
    "as fast cancel out. The geometric mean gives 0 %, and exchanging the two sides only inverts it."
)


def compared(study: ResolvedStudy) -> dict[str, str]:
    """Return the metrics whose means an import shows, with their headings."""
    latency = latency_of(study)
    return {TPS.name: "TPS", latency.name: latency.label.removesuffix(" latency")}


def level_section(study: ResolvedStudy, levels: pd.DataFrame) -> Section | None:
    """Return the means per level of an import; None if nothing is compared."""
    if (table := level_means(study, levels)) is None:
        return None
    apart = (levels["arithmetic_change"] - levels["change"])[levels["metric"].isin(compared(study))].abs().max()
    text = (
        f"Geometric means over the cells of each level, ratios to {study.reference} with Welch's 95 % intervals; "
        "the same in per cent; and the arithmetic mean of the cells' percentages."
    )
    fold = Fold(f"{len(table.rows)} rows", (table,), is_open=len(table.rows) <= MOST_UNFOLDED)
    prose = Prose(f"{text} {ARITHMETIC_TEXT}" if apart >= LEAST_APART else text, "quiet")
    return Section("levels", "Means", (prose, fold), nav="Means")


def level_means(study: ResolvedStudy, levels: pd.DataFrame) -> Table | None:
    """Return the means per level of an import from levels.csv; None if nothing is compared.

    A level with the cells of an earlier one is left out.
    """
    heading = compared(study)
    table = levels[levels["metric"].isin(heading)].fillna({"level": ""})
    if table.empty:
        return None
    shown = [name for name in heading if name in set(table["metric"])]
    by_key = {(row.axis, row.level, row.variant, row.metric): row for row in table.itertuples()}
    variants = list(dict.fromkeys(table["variant"]))
    rows = []
    for axis, level in _different(study):
        for variant in variants:
            fields = _cells(by_key.get((axis, level, variant, metric)) for metric in shown)
            rows.append(table_row(level_name(axis, level), variant_cell(variant), *fields))
    heads = [head for metric in shown for head in (heading[metric], "in per cent", "arithmetic mean")]
    named = (*word_heads("level", "variant"), *map(Head, heads))
    return Table(named, tuple(rows), style="values inline")


def _different(study: ResolvedStudy) -> Iterator[tuple[str, str]]:
    seen: list[set[tuple[str, int]]] = []
    for level, cells in levels_of(study).items():
        if cells not in seen:
            seen.append(cells)
            yield level


def level_name(axis: str, level: str) -> str:
    """Return the name of a level as a reader knows it: all cells, tier 2 GB, 16 clients."""
    if axis == "clients":
        return plural(int(level), "client")
    return "all cells" if axis == ALL else level if axis in ("workload", MEANS) else f"{axis} {level}"


def _cells(rows: Iterable[LevelRow | None]) -> Iterator[Cell]:
    """Yield ratio with interval, the same in per cent, and the arithmetic mean of the cells' percentages."""
    for row in rows:
        if row is None or missing(row.ratio):
            yield from (Cell(NOTHING, (), "hole"),) * 3
            continue
        text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
        lost = f"{row.n_cells} of " if row.n_cells < row.n_cells_planned else ""
        yield Cell(text, (*interval_notes(bounds), f"{lost}{plural(row.n_cells_planned, 'cell')}"))
        yield Cell(signed(row.change))
        yield Cell(signed(row.arithmetic_change))


def signed(percentage: float) -> str:
    """Return a change in per cent with its sign."""
    return f"{percentage:+.1f}{NARROW}%".replace("-", "\u2212")
