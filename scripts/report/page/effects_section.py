"""Tables of factors, of a matrix, of held-out workloads and of published ratios."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.lib.vocabulary import CONTROLS, Verdict
from scripts.lib.wording import NOTHING, by_width, listing, missing, plural, ratio
from scripts.report.analysis import published
from scripts.report.analysis.effects import effect_label
from scripts.report.analysis.held_out import Split
from scripts.report.analysis.metrics import COLD_TIME, EVERY, METRICS, WARM_TIME, Metric, leading, of_study
from scripts.report.page.value_tables import Cell, blocks_text, state
from scripts.report.page.verdict import Sentence, matters_of, measured, short_measured
from scripts.report.page.words import arm_word, interaction_word, open_range, short_interaction_word, side, verdict_word

FACTOR_METRICS = {
    "tps": "TPS", "p95_ms": "p95", "cpu_us_per_tx": "server CPU per transaction",
    "cpu_user_us_per_tx": "user CPU per transaction", "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip
PUBLISHED_METRICS = ("tps", "p95_ms", "cold_s", "warm_s")


@dataclass(frozen=True)
class FactorRow:
    """One factor: its name, the variants it is computed from, their server, one field per metric."""

    factor: str
    formula: str
    server: str
    cells: tuple[Cell, ...]


def factor_head(study: dict[str, Any]) -> list[str]:
    """Return the headings of a study's tables of factors and effects."""
    measured_here = of_study(study)
    return [heading for name, heading in FACTOR_METRICS.items() if name in measured_here]


def factor_rows(study: dict[str, Any], table: pd.DataFrame) -> list[FactorRow]:
    """Return the rows of factors.csv for the page, one per contrast."""
    groups = table.groupby(["factor", "formula", "server"], sort=False)
    return [FactorRow(*key, tuple(_factor_cells(group, study))) for key, group in groups]


def _factor_cells(group: pd.DataFrame, study: dict[str, Any]) -> Iterable[Cell]:
    found = {row.metric: row for row in group.itertuples()}
    for name in (each for each in FACTOR_METRICS if each in found):
        row = found[name]
        yield ratio_cell(row, study["repetitions"], "", "" if row.interaction else state(EVERY[name], row))


def ratio_cell(row: Any, planned: int, word: str = "", state: str = "") -> Cell:
    """Return the field of a row of factors.csv, effects.csv or overall.csv: ratio, interval, blocks, words."""
    if row is None or not row.n_cells:
        return Cell(NOTHING, ("no whole block",), "hole")
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    lost = (blocks_text(row, planned),) if row.n_repetitions < planned else ()
    return Cell(text, (bounds, *lost, *((word,) if word else ())), state)


def held_out_rows(split: Mapping[str, Split]) -> list[tuple[str, ...]]:
    """Return (variant, trained workloads, ratio, held-out workloads, ratio), of variants measured on both kinds."""
    return [
        (variant, listing(own.trained), short_measured(own.on_trained), listing(own.held_out),
         short_measured(own.on_held_out))
        for variant, own in split.items()
    ]  # fmt: skip


@dataclass(frozen=True)
class BesideTable:
    """Published ratios beside ours for one metric; `rows` hold workload, variant and a field per heading."""

    title: str
    head: tuple[str, str, str]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def published_tables(study: dict[str, Any], tables: dict[str, pd.DataFrame]) -> list[BesideTable]:
    """Return one table per metric that is both published and measured here, for the workloads that both have."""
    found = [_published_table(study, tables, EVERY[name]) for name in PUBLISHED_METRICS]
    return [table for table in found if table.rows]


def _published_table(study: dict[str, Any], tables: dict[str, pd.DataFrame], metric: Metric) -> BesideTable:
    sides = published.beside(study, tables, metric.name)
    theirs = list(dict.fromkeys(variant for side in sides for variant in side.everywhere))
    ours = [name for name in study["variants"] if name not in (study["reference"], *CONTROLS)]
    base = published.base_of(study, published.frame(study))
    head = (f"published, / {base}", "the same at our client counts", f"measured, / {study['reference']}")
    rows = []
    for load in sides:
        measured_here = {name: ratio_cell(load.ours.get(name), study["repetitions"]) for name in ours}
        for name in dict.fromkeys([*theirs, *ours]):
            cells = (*_published_cells(load, name), measured_here.get(name, Cell(NOTHING, (), "")))
            rows.append((load.workload, name, cells))
    return BesideTable(metric.label, head, tuple(rows))


def _published_cells(load: published.Beside, name: str) -> Iterable[Cell]:
    counted = ((load.everywhere, load.clients), (load.here, load.common))
    for means, count in counted:
        yield Cell(ratio(means.get(name)), (plural(count, "client count"),) if name in means else (), "")


Study = dict[str, Any]


def matrix_view(study: Study, effects: pd.DataFrame) -> dict[str, Any]:
    """Return the values of the page for a matrix; empty lists without one. `effects` is effects.csv."""
    overall = effects[effects["workload"].isna()]
    return {
        "effect_sentences": matrix_sentences(study, overall),
        "effect_rows": [_matrix_row(study, group) for _, group in _matrix_groups(overall)],
        "effect_cells": matrix_cells(study, effects),
    }


def _matrix_groups(effects: pd.DataFrame) -> Any:
    return effects.groupby(["factor", "formula"], sort=False)


def _matrix_row(study: Study, group: pd.DataFrame) -> FactorRow:
    found = {row.metric: row for row in group.itertuples()}
    first = group.iloc[0]
    fields = (_matrix_field(found[name], study) for name in FACTOR_METRICS if name in found)
    return FactorRow(effect_label(first["formula"], first["n_factors"]), first["factor"], "", tuple(fields))


def _matrix_field(row: Any, study: Study) -> Cell:
    if row.n_factors > 1:
        word = "" if missing(row.verdict) else short_interaction_word(row.verdict, matters_of(study))
        return ratio_cell(row, study["repetitions"], word)
    word = arm_word("", EVERY[row.metric], row.verdict, matters_of(study))
    of_cell = not missing(row.workload)
    return ratio_cell(row, study["repetitions"], word, "" if of_cell else state(EVERY[row.metric], row))


def matrix_sentences(study: Study, overall: pd.DataFrame) -> list[Sentence]:
    """Return one sentence per effect of one or two factors, on the leading metric and a second one."""
    sentences = []
    for (factor, formula), group in _matrix_groups(overall[overall["n_factors"] <= 2]):
        found = {row.metric: row for row in group.itertuples()}
        worse = [name for name, row in found.items() if EVERY[name].is_worse(side(row)) and row.n_factors == 1]
        label = effect_label(formula, int(group["n_factors"].iloc[0]))
        sentences.append(Sentence(_effect_sentence(label, factor, found, study), bool(worse)))
    return sentences


def _effect_sentence(name: str, factor: str, found: dict[str, Any], study: Study) -> str:
    lead = leading(found)
    other = WARM_TIME if lead is COLD_TIME else METRICS["p95_ms"]
    tps, p95 = found[lead.name], found[other.name]
    if not tps.n_cells:
        return f"{name}: no block has all the variants that this effect needs."
    counted = f"over {plural(tps.n_cells, 'cell')}, {plural(tps.n_repetitions, 'repetition')}"
    latency = f"; {other.label[0].lower()}{other.label[1:]} {measured(p95)}" if p95.n_cells else ""
    if tps.n_factors > 1:
        what = f"{name} in {lead.label.lower()}: {measured(tps)} the product of the effects of each by itself"
    else:
        above, _, below = name.partition(" / ")
        what = f"{factor}, {above} instead of {below}: {measured(tps)} the {lead.label.lower()}"
    return f"{what}, {counted}{_verdict_clause(tps, matters_of(study))}{latency}."


def _verdict_clause(row: Any, matters: float) -> str:
    """Return the words for the verdict on an effect as the end of a clause; with too few blocks there are none."""
    if row.verdict == Verdict.TOO_FEW_BLOCKS:
        return ""
    if row.n_factors > 1:
        return f": {interaction_word(row.verdict, matters)}"
    between = f", {open_range(EVERY[row.metric], row.ratio_low, row.ratio_high)}" if row.verdict == Verdict.OPEN else ""
    return f": {verdict_word(EVERY[row.metric], row.verdict, matters)}{between}"


def matrix_cells(study: Study, effects: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one table per metric of effects by cell, workloads in the study's order, for studies of several cells."""
    ours = effects[
        effects["workload"].notna() & effects["metric"].isin(("tps", "p95_ms", COLD_TIME.name, WARM_TIME.name))
    ]
    ranks = ours["workload"].map({name: rank for rank, name in enumerate(study.get("workloads", ()))})
    ours = ours.assign(rank=ranks).sort_values(["rank", "clients"], kind="stable")
    tables = []
    for metric, rows in ours.groupby("metric", sort=False):
        places = list(dict.fromkeys(zip(rows["workload"], rows["clients"], strict=True)))
        head = [f"{workload}, {plural(int(clients), 'client')}" for workload, clients in places]
        body = [_matrix_cells_row(study, group) for _, group in _matrix_groups(rows)]
        tables.append({"title": EVERY[metric].label, "head": head, "rows": body})
    return tables


def _matrix_cells_row(study: Study, group: pd.DataFrame) -> FactorRow:
    first = group.iloc[0]
    fields = tuple(_matrix_field(row, study) for row in group.itertuples())
    return FactorRow(effect_label(first["formula"], first["n_factors"]), first["factor"], "", fields)


def scaled_sentence(study: Study) -> str:
    """Return the sentence above a report made at the small scale; nothing at full size."""
    if "scaled" not in study:
        return ""
    changes = "; ".join(f"{name} {_value(full)} → {_value(small)}" for name, full, small in study["scaled"])
    about = "Small scale: this shows the form of the report, not the results at full size"
    return f"{about}. Changed: {changes or 'no setting'}."


def _value(value: Any) -> str:
    match value:
        case None:
            return "not set"
        case list():
            return listing([str(item) for item in value])
        case _:
            return str(value)
