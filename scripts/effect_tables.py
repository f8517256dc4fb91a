"""Tables of effects for the page: factors of builds, and published ratios beside ours."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts import published
from scripts.comparison import AA
from scripts.heldout import splits
from scripts.metrics import EVERY, Metric, of_study
from scripts.value_tables import SHORT_WORDS, Cell, blocks_text, state
from scripts.verdict import measured
from scripts.wording import NOTHING, interval, listing, plural, ratio

FACTOR_METRICS = {
    "tps": "TPS", "p95_ms": "p95", "cpu_us_per_tx": "server CPU per transaction",
    "cpu_user_us_per_tx": "user CPU per transaction", "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip
PUBLISHED_METRICS = ("tps", "p95_ms", "cold_s", "warm_s")


@dataclass(frozen=True)
class FactorRow:
    """One factor: what it is, the variants it is computed from, its server, a field a metric."""

    factor: str
    formula: str
    server: str
    cells: tuple[Cell, ...]


def factor_head(study: dict[str, Any]) -> list[str]:
    """Return the headings of a study's tables of factors and effects."""
    measured_here = of_study(study)
    return [heading for name, heading in FACTOR_METRICS.items() if name in measured_here]


def factor_rows(study: dict[str, Any], table: pd.DataFrame) -> list[FactorRow]:
    """Return the rows of factors.csv for the page, one a contrast."""
    groups = table.groupby(["factor", "formula", "server"], sort=False)
    return [FactorRow(*key, tuple(_factor_cells(group, study["repetitions"]))) for key, group in groups]


def _factor_cells(group: pd.DataFrame, planned: int) -> Iterable[Cell]:
    found = {row.metric: row for row in group.itertuples()}
    for name in (each for each in FACTOR_METRICS if each in found):
        word = found[name].word
        yield ratio_cell(found[name], word if isinstance(word, str) else None, EVERY[name], planned)


def ratio_cell(row: Any, word: str | None, metric: Metric, planned: int) -> Cell:
    """Return the field of a row of factors.csv, effects.csv or overall.csv: ratio, interval, blocks, word."""
    if row is None or not row.n_cells:
        return Cell(NOTHING, ("no whole block",), "hole")
    note = blocks_text(row, planned)
    if word:
        note += f", {SHORT_WORDS.get(word, word)}"
    return Cell(ratio(row.ratio), (interval(row.ratio_low, row.ratio_high), note), state(metric, word))


def held_out_rows(study: dict[str, Any], tables: dict[str, pd.DataFrame]) -> list[tuple[str, ...]]:
    """Return (variant, trained workloads, ratio, held-out workloads, ratio) of variants measured on both kinds."""
    return [
        (variant, listing(split.trained), measured(split.on_trained), listing(split.held_out),
         measured(split.on_held_out))
        for variant, split in splits(study, tables).items()
    ]  # fmt: skip


@dataclass(frozen=True)
class BesideTable:
    """Published ratios beside ours for one metric; `rows` hold a workload and its fields."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def published_tables(study: dict[str, Any], tables: dict[str, pd.DataFrame]) -> list[BesideTable]:
    """Return one table a metric that was published and that is measured here too, for the workloads both have."""
    found = [_published(study, tables, EVERY[name]) for name in PUBLISHED_METRICS]
    return [table for table in found if table.rows]


def _published(study: dict[str, Any], tables: dict[str, pd.DataFrame], metric: Metric) -> BesideTable:
    sides = published.beside(study, tables, metric.name)
    theirs = list(dict.fromkeys(variant for side in sides for variant in side.everywhere))
    ours = [name for name in study["variants"] if name not in (study["reference"], AA)]
    base = published.base_of(study, published.frame(study))
    head = (
        *(f"published {name} / {base}" for name in theirs),
        *(f"published {name} / {base} at our client counts" for name in theirs),
        *(f"{name} / {study['reference']}" for name in ours),
    )
    return BesideTable(
        metric.label, head, tuple((side.workload, _side(side, theirs, ours, metric, study)) for side in sides)
    )


def _side(
    side: published.Beside, theirs: list[str], ours: list[str], metric: Metric, study: dict[str, Any]
) -> tuple[Cell, ...]:
    counted = ((side.everywhere, side.clients), (side.here, side.common))
    there = [
        Cell(ratio(means.get(name)), (plural(count, "client count"),) if name in means else (), "")
        for means, count in counted
        for name in theirs
    ]
    here = [ratio_cell(side.ours.get(name), None, metric, study["repetitions"]) for name in ours]
    return (*there, *here)
