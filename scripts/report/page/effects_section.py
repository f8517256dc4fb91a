"""Factors, a matrix, held-out workloads and published ratios: sections, tables and sentences of the page."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from scripts.lib.json_record import Json
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import Verdict
from scripts.lib.wording import NOTHING, by_width, listing, missing, plural, ratio
from scripts.report.analysis import published
from scripts.report.analysis.effects import effect_label, matrix_contrasts, sides_by_formula
from scripts.report.analysis.held_out import Split
from scripts.report.analysis.metrics import COLD_TIME, EVERY, METRICS, WARM_TIME, Metric, leading, of_study
from scripts.report.analysis.table_rows import EffectRow, MeanRow
from scripts.report.page.document import (
    Cell,
    Figures,
    Fold,
    Head,
    Prose,
    Section,
    Table,
    TableRow,
    grid,
    table_row,
    variant_cell,
    word_heads,
)
from scripts.report.page.study_answer import Sentence
from scripts.report.page.value_tables import blocks_text, state
from scripts.report.page.verdict import compared_variants, measured, short_measured
from scripts.report.page.words import arm_word, interaction_word, open_range, short_interaction_word, side, verdict_word

FACTOR_METRICS = {
    "tps": "TPS", "p95_ms": "p95", "cpu_us_per_tx": "server CPU per transaction",
    "cpu_user_us_per_tx": "user CPU per transaction", "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip
# What tells an effect of a matrix from the others.
EFFECT = ["factor", "formula"]
PUBLISHED_METRICS = ("tps", "p95_ms", "cold_s", "warm_s")


def _factor_heads(study: ResolvedStudy, label: str) -> tuple[Head, ...]:
    measured_here = of_study(study)
    return (*word_heads(label), *(Head(text) for name, text in FACTOR_METRICS.items() if name in measured_here))


def factor_table(study: ResolvedStudy, factors: pd.DataFrame) -> Table:
    """Return the table of factors.csv, one row per contrast; without rows where it would only repeat the answer."""
    several = len({variant.server for variant in study.variants.values()}) > 1
    rows = [
        table_row(Cell(factor, (f"{formula}, {server}" if several else formula,)), *_factor_cells(group, study))
        for (factor, formula, server), group in factors.groupby(["factor", "formula", "server"], sort=False)
    ]
    return Table(_factor_heads(study, "factor"), tuple(rows) if len(rows) > 1 else (), style="values inline")


FACTORS_TEXT = (
    "Ratio of the variants that differ in this one factor, over all cells, block by block, with 95 % intervals. Bold: "
    "established. More TPS is better, less of all others is better."
)
INTERACTIONS_TEXT = (
    " An interaction is the ratio of two factors together over the product of the ratios of each alone: 1 when their "
    "gains multiply, under 1 in TPS when they overlap."
)


def factor_section(study: ResolvedStudy, factors: pd.DataFrame, figures: Sequence[Markup]) -> Section | None:
    """Return what each factor brings; None without two factors."""
    if not (table := factor_table(study, factors)):
        return None
    text = FACTORS_TEXT + (INTERACTIONS_TEXT if factors["interaction"].astype(bool).any() else "")
    blocks = (Prose(text, "quiet"), table, Figures(figures))
    return Section("factors", "What each factor brings", blocks, nav="Factors")


def _factor_cells(group: pd.DataFrame, study: ResolvedStudy) -> Iterable[Cell]:
    by_metric = {row.metric: row for row in group.itertuples()}
    for name in (metric for metric in FACTOR_METRICS if metric in by_metric):
        row = by_metric[name]
        yield ratio_cell(row, study.repetitions, "", "" if row.interaction else state(EVERY[name], row))


def ratio_cell(row: MeanRow | None, planned: int, word: str = "", state: str = "") -> Cell:
    """Return the field of a row of factors.csv, effects.csv or overall.csv: ratio, interval, blocks, words."""
    if row is None or not row.n_cells:
        return Cell(NOTHING, ("no whole block",), "hole")
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    lost = (blocks_text(row, planned),) if row.n_repetitions < planned else ()
    return Cell(text, (bounds, *lost, *((word,) if word else ())), state)


def held_out_fold(study: ResolvedStudy, split: Mapping[str, Split]) -> Fold | None:
    """Return the means over trained and over held-out workloads, of variants measured on both kinds; None without."""
    rows = [
        (variant, listing(means.trained), short_measured(means.on_trained), listing(means.held_out),
         short_measured(means.on_held_out))
        for variant, means in split.items()
    ]  # fmt: skip
    if not rows:
        return None
    text = (
        f"Transactions per second, ratio to {study.reference} with 95 % intervals. A profile fits the workloads it "
        "was trained with; how much it brings elsewhere, only the workloads outside its training show."
    )
    heads = ("variant", "trained with", "ratio", "not trained with", "ratio")
    return Fold("Trained and held-out workloads", (Prose(text), grid(heads, rows, 2)))


def published_tables(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> list[Table]:
    """Return one table per metric that is both published and measured here, for the workloads that both have."""
    return list(filter(None, (_published_table(study, tables, EVERY[name]) for name in PUBLISHED_METRICS)))


def _published_table(study: ResolvedStudy, tables: dict[str, pd.DataFrame], metric: Metric) -> Table:
    sides = published.beside(study, tables, metric.name)
    published_variants = list(dict.fromkeys(variant for side in sides for variant in side.everywhere))
    measured_variants = compared_variants(study)
    base = published.base_of(study, published.frame(study))
    heads = (f"published, / {base}", "the same at our client counts", f"measured, / {study.reference}")
    rows = []
    for load in sides:
        measured_here = {name: ratio_cell(load.measured.get(name), study.repetitions) for name in measured_variants}
        for name in dict.fromkeys([*published_variants, *measured_variants]):
            cells = (*_published_cells(load, name), measured_here.get(name, Cell(NOTHING, (), "")))
            rows.append(table_row(load.workload, variant_cell(name), *cells))
    named = (*word_heads("workload", "variant"), *map(Head, heads))
    return Table(named, tuple(rows), caption=f"{metric.label}, ratio")


def _published_cells(load: published.PublishedLoad, name: str) -> Iterable[Cell]:
    counted = ((load.everywhere, load.clients), (load.here, load.common))
    for means, count in counted:
        yield Cell(ratio(means.get(name)), (plural(count, "client count"),) if name in means else (), "")


MATRIX_TEXT = (
    "Ratio of one level of a factor to another, in the mean over all combinations of the other factors' levels, block "
    "by block, over all cells. TPS: above 1 is better; all others: under 1 is better. An interaction is the effect of "
    "the levels together over the product of their effects alone: 1 when they are independent."
)


def matrix_section(study: ResolvedStudy, effects: pd.DataFrame, figures: Sequence[Markup]) -> Section | None:
    """Return what each factor of a matrix does; None without one. `effects` is effects.csv."""
    rows = [_matrix_row(study, group) for _, group in effects[effects["workload"].isna()].groupby(EFFECT, sort=False)]
    if not rows:
        return None
    by_cell = matrix_cells(study, effects)
    blocks = [
        Prose(MATRIX_TEXT),
        Figures(figures),
        Table(_factor_heads(study, "effect"), tuple(rows), style="values wrapped"),
        *([Fold("Cell by cell", by_cell)] if by_cell else []),
        Prose("Lines are 95 % intervals over blocks.", "quiet"),
    ]
    return Section("matrix", "What each factor does", blocks, nav="Factors")


def _matrix_row(study: ResolvedStudy, group: pd.DataFrame) -> TableRow:
    by_metric = {row.metric: row for row in group.itertuples()}
    return table_row(
        _effect_cell(group), *(_matrix_field(by_metric[name], study) for name in FACTOR_METRICS if name in by_metric)
    )


def _effect_cell(group: pd.DataFrame) -> Cell:
    first = group.iloc[0]
    return Cell(effect_label(first["formula"], first["n_factors"]), (first["factor"],))


def _matrix_field(row: EffectRow, study: ResolvedStudy) -> Cell:
    if row.n_factors > 1:
        word = "" if missing(row.verdict) else short_interaction_word(row.verdict, study.matters)
        return ratio_cell(row, study.repetitions, word)
    word = arm_word("", EVERY[row.metric], row.verdict, study.matters)
    of_cell = not missing(row.workload)
    return ratio_cell(row, study.repetitions, word, "" if of_cell else state(EVERY[row.metric], row))


def matrix_sentences(study: ResolvedStudy, overall: pd.DataFrame) -> list[Sentence]:
    """Return one sentence per effect of one or two factors, on the leading metric and a second one."""
    sentences, sides = [], sides_by_formula(matrix_contrasts(study))
    for (factor, formula), group in overall[overall["n_factors"] <= 2].groupby(EFFECT, sort=False):
        by_metric = {row.metric: row for row in group.itertuples()}
        worse = [name for name, row in by_metric.items() if EVERY[name].is_worse(side(row)) and row.n_factors == 1]
        label = effect_label(formula, int(group["n_factors"].iloc[0]))
        what = f"{factor}, {' instead of '.join(sides[formula])}" if formula in sides else label
        sentences.append(Sentence(_effect_sentence(label, what, by_metric, study), bool(worse)))
    return sentences


def _effect_sentence(name: str, what: str, by_metric: dict[str, EffectRow], study: ResolvedStudy) -> str:
    lead = leading(by_metric)
    other = WARM_TIME if lead is COLD_TIME else METRICS["p95_ms"]
    tps, p95 = by_metric[lead.name], by_metric[other.name]
    if not tps.n_cells:
        return f"{name}: no block has all the variants that this effect needs."
    counted = f"over {plural(tps.n_cells, 'cell')}, {plural(tps.n_repetitions, 'repetition')}"
    latency = f"; {other.label[0].lower()}{other.label[1:]} {measured(p95)}" if p95.n_cells else ""
    if tps.n_factors > 1:
        effect = f"{name} in {lead.label.lower()}: {measured(tps)} the product of the effects of each by itself"
    else:
        effect = f"{what}: {measured(tps)} the {lead.label.lower()}"
    return f"{effect}, {counted}{_verdict_clause(tps, study.matters)}{latency}."


def _verdict_clause(row: EffectRow, matters: float) -> str:
    """Return the words for the verdict on an effect as the end of a clause; with too few blocks there are none."""
    verdict = Verdict(str(row.verdict))
    if verdict is Verdict.TOO_FEW_BLOCKS:
        return ""
    if row.n_factors > 1:
        return f": {interaction_word(verdict, matters)}"
    between = f", {open_range(EVERY[row.metric], row.ratio_low, row.ratio_high)}" if verdict is Verdict.OPEN else ""
    return f": {verdict_word(EVERY[row.metric], verdict, matters)}{between}"


def matrix_cells(study: ResolvedStudy, effects: pd.DataFrame) -> list[Table]:
    """Return one table per metric of effects by cell, workloads in the study's order, for studies of several cells."""
    shown = effects[
        effects["workload"].notna() & effects["metric"].isin(("tps", "p95_ms", COLD_TIME.name, WARM_TIME.name))
    ]
    ranks = shown["workload"].map({name: rank for rank, name in enumerate(study.workloads)})
    shown = shown.assign(rank=ranks).sort_values(["rank", "clients"], kind="stable")
    tables = []
    for metric, rows in shown.groupby("metric", sort=False):
        places = list(dict.fromkeys(zip(rows["workload"], rows["clients"], strict=True)))
        heads = (Head(f"{workload}, {plural(int(clients), 'client')}") for workload, clients in places)
        body = [
            table_row(_effect_cell(group), *(_matrix_field(row, study) for row in group.itertuples()))
            for _, group in rows.groupby(EFFECT, sort=False)
        ]
        named = (*word_heads("effect"), *heads)
        tables.append(Table(named, tuple(body), style="values wrapped", caption=EVERY[metric].label))
    return tables


def scaled_sentence(study: ResolvedStudy) -> str:
    """Return the sentence above a report made at the small scale; nothing at full size."""
    if study.scaled is None:
        return ""
    changes = "; ".join(f"{name} {_value(full)} → {_value(small)}" for name, full, small in study.scaled)
    about = "Small scale: this shows the form of the report, not the results at full size"
    return f"{about}. Changed: {changes or 'no setting'}."


def _value(value: Json) -> str:
    match value:
        case None:
            return "not set"
        case list():
            return listing([str(item) for item in value])
        case _:
            return str(value)
