"""The answer in sentences, composed from the tables."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from scripts.lib.failure_reasons import alike
from scripts.lib.resolved_study import MATTERS, ResolvedStudy
from scripts.lib.vocabulary import AA, CONTROLS, MIN_BLOCKS, Verdict
from scripts.lib.wording import (
    NARROW,
    brief,
    by_width,
    distance,
    duration,
    listing,
    missing,
    number,
    plural,
    share,
    times,
)
from scripts.report.analysis.held_out import Split
from scripts.report.analysis.metrics import COLD_TIME, EVERY, METRICS, TPS, WARM_TIME, Metric, leading
from scripts.report.analysis.table_rows import CellRow, IntervalRow, MeanRow, OverallRow
from scripts.report.page.failures_section import Refusal, refusals
from scripts.report.page.relink_section import of_builds, relinked_sentence
from scripts.report.page.study_answer import Sentence, VariantAnswer
from scripts.report.page.words import OPEN, open_range, side, verdict_word

P95_METRIC, CPU_METRIC = METRICS["p95_ms"], METRICS["cpu_us_per_tx"]
LAYOUT_LUCK = (
    "A/A runs the same bytes twice, so no interval includes the effect of code layout: two builds of one source can "
    "differ only by where their code lies."
)


def study_answer(
    study: ResolvedStudy, tables: dict[str, pd.DataFrame], doubts: dict[str, str], split: Mapping[str, Split]
) -> list[VariantAnswer]:
    """Return one answer per variant that is neither the reference nor a control, in the study's order.

    `tables` holds runs, overall, cells, comparisons and relinked; `doubts` has a sentence per variant to come first,
    `split` its gains by training.
    """
    names = compared_variants(study)
    more = {name: [_by_training(split[name])] if name in split and name not in doubts else [] for name in names}
    first = {name: [Sentence(doubts[name], bad=True)] if name in doubts else [] for name in names}
    answers = [answer_sentences(name, study, tables["overall"], tables["cells"]) for name in names]
    compared = {answer.variant for answer in answers if answer.sentences}
    refused = refusals(tables["runs"])
    answers = [
        answer if answer.variant in compared or answer.variant in doubts else _lost_answer(answer, refused, tables)
        for answer in answers
    ]
    layout = Sentence(relinked_sentence(study, tables["relinked"]))
    for name in compared.intersection(of_builds(study)):
        more[name] = [layout, *more[name]]
    return [
        replace(answer, sentences=[*first[answer.variant], *answer.sentences, *more[answer.variant]])
        for answer in answers
    ]


def compared_variants(study: ResolvedStudy) -> list[str]:
    """Return the variants that are compared with the reference, in the study's order, without controls."""
    return [name for name in study.variants if name not in (study.reference, *CONTROLS)]


def _lost_answer(
    answer: VariantAnswer, refused: Mapping[str, Refusal], tables: Mapping[str, pd.DataFrame]
) -> VariantAnswer:
    """Return the answer about a variant that could not be compared, with the reason."""
    variant = answer.variant
    if variant not in refused:
        return replace(answer, sentences=_why(tables["comparisons"], variant))
    refusal = refused[variant]
    why = Sentence(f"All {plural(refusal.runs, 'run')} failed in this way. {refusal.remedy}", bad=True)
    return replace(answer, headline=f"{variant}: {refusal.text}.", sentences=[why])


def _why(comparisons: pd.DataFrame, variant: str) -> list[Sentence]:
    """Return why a variant could not be compared: the reasons of its blocks, those that are the same as one."""
    lead = leading(comparisons["metric"]).name
    blocks = comparisons[(comparisons["variant"] == variant) & (comparisons["metric"] == lead)]
    groups = alike(blocks["note"].dropna(), str)
    reasons = [f"in {plural(len(group.things), 'block')} {brief(group.reason)}" for group in groups]
    if not reasons:
        return []
    rest = [plural(len(reasons) - 3, "other reason")] if len(reasons) > 3 else []
    return [Sentence(f"Of {plural(len(blocks), 'block')}: {'; '.join([*reasons[:3], *rest])}.", bad=True)]


def answer_sentences(variant: str, study: ResolvedStudy, overall: pd.DataFrame, cells: pd.DataFrame) -> VariantAnswer:
    """Return the answer for one variant from overall.csv and cells.csv."""
    rows = {row.metric: row for row in overall[overall["variant"] == variant].itertuples()}
    lead = leading(rows)
    if lead.name not in rows or not rows[lead.name].n_cells:
        return VariantAnswer(
            variant, f"{variant} cannot be compared with {study.reference}: no block has both runs.", []
        )
    of_variant = cells[cells["variant"] == variant]
    others = [
        metric
        for metric in (P95_METRIC, CPU_METRIC, COLD_TIME, WARM_TIME)
        if metric is not lead and metric.name in rows
    ]
    compared = [metric for metric in others if rows[metric.name].n_cells]
    sentences = [range_sentence(rows[lead.name], lead, study.matters)]
    sentences += [_other(rows[metric.name], metric, of_variant) for metric in compared]
    sentences += [*_could_find(rows[lead.name], study.matters), *_lost(rows[lead.name], of_variant, lead)]
    return VariantAnswer(variant, headline(variant, study, rows[lead.name], lead), sentences)


def _by_training(split: Split) -> Sentence:
    """Return the mean over the workloads of the training beside the mean over the others."""
    kinds = (("trained", split.trained, split.on_trained), ("held-out", split.held_out, split.on_held_out))
    parts = [f"{kind} workloads ({listing(names)}) {measured(row)}" for kind, names, row in kinds]
    return Sentence(f"{TPS.label}, by the workloads of its training: {'; '.join(parts)}.")


def measured(row: MeanRow) -> str:
    """Return a ratio of overall.csv with its interval: `1.44 × (95 % interval 1.39–1.49)`."""
    if missing(row.ratio_low):
        return f"{times(row.ratio)} (no interval: a cell has {plural(int(row.n_blocks_least), 'block')})"
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    return f"{text}{NARROW}× (95{NARROW}% interval {bounds})"


def short_measured(row: IntervalRow) -> str:
    """Return a ratio of overall.csv with its interval for a table: `1.44 (1.39–1.49)`."""
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    return f"{text} ({bounds})"


def headline(variant: str, study: ResolvedStudy, row: OverallRow, lead: Metric = TPS) -> str:
    """Return the sentence to quote, on the leading metric over all cells."""
    reference, planned, matters = study.reference, study.repetitions, study.matters
    noun = "workload" if len(study.clients) == 1 else "cell"
    over = f"geometric mean over {plural(row.n_cells, noun)}, {plural(row.n_repetitions, 'repetition')}"
    value = f"{measured(row)} the {lead.label.lower()} of {reference}, {over}"
    match row.verdict:
        case Verdict.FAR_ABOVE | Verdict.FAR_BELOW as verdict:
            return f"{variant} is {verdict_word(lead, verdict, matters)} than {reference}: {value}."
        case Verdict.ABOVE | Verdict.BELOW as verdict:
            small = 1 / (1 + matters) < row.ratio_low and row.ratio_high < 1 + matters
            size = f", by less than {share(matters)}" if small else ""
            return f"{variant} is {lead.words[Verdict(verdict)]} than {reference}{size}: {value}."
        case Verdict.SAME:
            return f"{variant} is as fast as {reference} within {share(matters)}: {value}."
        case Verdict.TOO_FEW_BLOCKS if planned >= MIN_BLOCKS:
            few = f"a cell has {plural(row.n_blocks_least, 'whole block')} of {planned} and {MIN_BLOCKS} are needed"
            return f"No verdict over all cells, since {few}: {variant} gave {value}."
        case Verdict.TOO_FEW_BLOCKS:
            return f"Smoke test, no verdict under {MIN_BLOCKS} repetitions: {variant} gave {value}."
        case _:
            return f"{OPEN.capitalize()}: {variant} is {_open_text(row, lead)}: {value}."


def _open_text(row: OverallRow, lead: Metric) -> str:
    text = f"{open_range(lead, row.ratio_low, row.ratio_high)}"
    if row.ratio_low <= 1 <= row.ratio_high:
        return text
    return f"{text}, which among so many comparisons may be chance (p {row.p_holm:.2g} by Holm)"


def _could_find(row: OverallRow, matters: float) -> list[Sentence]:
    """Return what a study like this finds; of an open question also how long an interval of ±`matters` takes."""
    if missing(row.detectable_ratio):
        return []
    text = f"A study like this finds a difference of {distance(row.detectable_ratio)} with a chance of 80{NARROW}%"
    more = int(row.settling_repetitions) - int(row.n_blocks_least)
    if more > 0 and row.verdict == Verdict.OPEN:
        took = "" if missing(row.settling_min) else f", {duration(row.settling_min * 60)} more of measuring"
        text += f"; an interval of ±{share(matters)} takes about {number(row.settling_repetitions)} repetitions{took}"
    return [Sentence(f"{text}.")]


def _where(row: OverallRow, end: str) -> str:
    name, clients = getattr(row, f"{end}_workload"), int(getattr(row, f"{end}_clients"))
    return f"{times(getattr(row, f'{end}_ratio'))} ({name}, {plural(clients, 'client')})"


def range_sentence(row: OverallRow, lead: Metric, matters: float = MATTERS) -> Sentence:
    """Return the lowest and the highest cell of a row of overall.csv, and how many have which verdict."""
    spread = f"Cell by cell it ranges from {_where(row, 'lowest')} to {_where(row, 'highest')}"
    if row.n_cells == 1:
        return Sentence(f"The only cell is {_where(row, 'lowest')}.")
    shown = {Verdict.ABOVE: row.n_above, Verdict.BELOW: row.n_below}
    better_first = sorted(shown, key=lambda verdict: verdict == lead.worse)
    parts = [f"{int(shown[verdict])} {lead.words[verdict]}" for verdict in better_first]
    parts += [f"{int(row.n_same)} {verdict_word(lead, Verdict.SAME, matters)}", f"{int(row.n_open)} {OPEN}"]
    if row.n_undecided:
        parts.append(f"{int(row.n_undecided)} without a verdict (under {MIN_BLOCKS} blocks)")
    decided = row.n_above + row.n_below + row.n_same + row.n_open
    return Sentence(f"{spread}: {', '.join(parts)}." if decided else f"{spread}.")


def _other(row: OverallRow, metric: Metric, cells: pd.DataFrame) -> Sentence:
    of_metric = cells[cells["metric"] == metric.name]
    worse = [_cell_text(cell) for cell in of_metric.itertuples() if metric.is_worse(side(cell))]
    text, short = f"{metric.label}: {measured(row)}", ""
    if worse:
        places = [cell.workload for cell in of_metric.itertuples() if metric.is_worse(side(cell))]
        short = f"{metric.label} got worse in {_some(list(dict.fromkeys(places)), of_metric['workload'].nunique())}."
        text += f"; it got worse in {listing(worse[:4])}"
        text += f" and {plural(len(worse) - 4, 'more cell')}" if len(worse) > 4 else ""
    elif metric.is_worse(side(row)):
        text += ", worse overall"
    return Sentence(f"{text}.", bool(worse) or metric.is_worse(side(row)), short)


def _some(names: list[str], of: int) -> str:
    if len(names) == of > 2:
        return f"all {of} workloads"
    return listing(names) if len(names) <= 4 else f"{listing(names[:3])} and {len(names) - 3} more"


def _cell_text(cell: CellRow) -> str:
    return f"{cell.workload} at {plural(int(cell.clients), 'client')} ({times(cell.ratio)})"


def _lost(row: OverallRow, cells: pd.DataFrame, lead: Metric) -> list[Sentence]:
    """Return what the mean leaves out: cells without a pair, split and incomplete blocks."""
    leading_cells = cells[cells["metric"] == lead.name]
    split, incomplete = int(leading_cells["n_split"].sum()), int(leading_cells["n_incomplete"].sum())
    parts = []
    if row.n_cells < row.n_cells_planned:
        parts.append(
            f"{plural(row.n_cells_planned - row.n_cells, 'cell')} of {row.n_cells_planned} could not be compared"
        )
    if split:
        parts.append(f"{plural(split, 'run')} on another host, boot or sysbench program")
    if incomplete:
        parts.append(f"{plural(incomplete, 'block')} without both runs")
    return [Sentence(f"Not in these figures: {', '.join(parts)}.", bad=True)] if parts else []


def noise_sentence(overall: pd.DataFrame) -> str:
    """Return the sentence on A/A over all cells, and on what it does not contain."""
    by_metric = {row.metric: row for row in overall.itertuples() if row.variant == AA and row.n_cells}
    if not by_metric:
        return f"The reference was not measured a second time, so nothing checks the intervals. {LAYOUT_LUCK}"
    compared = [
        name
        for name in (TPS.name, P95_METRIC.name, CPU_METRIC.name, COLD_TIME.name, WARM_TIME.name)
        if name in by_metric
    ]
    parts = [f"{EVERY[name].label} {measured(by_metric[name])}" for name in compared]
    return f"The same build against itself (A/A): {', '.join(parts)}. {LAYOUT_LUCK}"
