"""The answers of an imported study in sentences: ratios of logs without verdicts, and what they leave out."""

from collections.abc import Iterator, Sequence

import pandas as pd

from scripts.lib.resolved_study import ImportedLogs, ResolvedStudy
from scripts.lib.vocabulary import CELL, WORKLOAD_CLIENTS
from scripts.lib.wording import NARROW, by_width, listing, missing, number, plural, times
from scripts.report.analysis.metrics import TPS, Metric, latency_of, leading_of
from scripts.report.analysis.printed_digits import Lacks, lacks
from scripts.report.analysis.table_rows import OverallRow
from scripts.report.page.imported_findings import log_names
from scripts.report.page.study_answer import Sentence, VariantAnswer
from scripts.report.page.verdict import range_sentence

MOST_REASONS = 3
NO_VERDICT = "nothing in the logs checks the interval, so no verdict is given"


def imported_answers(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> list[VariantAnswer]:
    """Return one answer per variant other than the reference; `tables` holds overall, cells and runs."""
    lacking = lacks(study, tables["runs"], tables["cells"])
    names = [name for name in study.variants if name != study.reference]
    return [_answer(name, study, tables, lacking) for name in names]


def _answer(variant: str, study: ResolvedStudy, tables: dict[str, pd.DataFrame], lacking: Lacks) -> VariantAnswer:
    overall = tables["overall"]
    rows = {row.metric: row for row in overall[overall["variant"] == variant].itertuples()}
    lead = leading_of(study, rows)
    reasons = {(load, clients): why for (name, load, clients, metric), why in lacking.items()
               if name == variant and metric == lead.name}  # fmt: skip
    if lead.name not in rows or not rows[lead.name].n_cells:
        text = f"{variant} cannot be compared with {study.reference}: {_counted(reasons) or 'no cell has both'}."
        return VariantAnswer(variant, text, [])
    others = [metric for metric in (TPS, latency_of(study)) if metric is not lead and metric.name in rows]
    sentences = [range_sentence(rows[lead.name], lead)]
    sentences += [_other(rows[metric.name], metric, variant, lacking) for metric in others]
    if reasons:
        sentences.append(Sentence(f"Not in this mean: {_counted(reasons)}.", bad=True))
    return VariantAnswer(variant, _headline(variant, study, rows[lead.name], lead, tables), sentences)


def _counted(reasons: dict[tuple[str, int], str]) -> str:
    """Return the reasons with the cells they hold for, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for (workload, clients), why in reasons.items():
        groups.setdefault(why, []).append(f"{workload}, {plural(int(clients), 'client')}")
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    texts = [f"{cells[0] if len(cells) == 1 else plural(len(cells), 'cell')} ({why})" for why, cells in ordered]
    more = [plural(len(texts) - MOST_REASONS, "other reason")] if len(texts) > MOST_REASONS else []
    return listing([*texts[:MOST_REASONS], *more])


def _least_and_most(
    variant: str, study: ResolvedStudy, tables: dict[str, pd.DataFrame], lead: Metric
) -> tuple[int, int]:
    """Return how many logs with a value a side of the compared cells has, in the cell with the fewest and the most."""
    runs, cells = tables["runs"], tables["cells"]
    compared = cells[(cells["variant"] == variant) & (cells["metric"] == lead.name) & cells["ratio"].notna()]
    sides = runs[runs["variant"].isin((variant, study.reference)) & runs[lead.name].notna()]
    sizes = sides.merge(compared[list(WORKLOAD_CLIENTS)]).groupby(list(CELL)).size()
    return int(sizes.min()), int(sizes.max())


def _headline(
    variant: str, study: ResolvedStudy, row: OverallRow, lead: Metric, tables: dict[str, pd.DataFrame]
) -> str:
    least, most = _least_and_most(variant, study, tables, lead)
    logs = f"{least} to {most} logs" if least < most else plural(most, "log")
    over = f"geometric mean over {_cells(row)}, {logs} of each"
    rated = "; the logs have a target rate, so that TPS is what was asked for" if lead is not TPS else ""
    value = f"{_measured(row)} the {lead.label.lower()} of {study.reference}"
    return f"{variant} gave {value}, {over}; {NO_VERDICT}{rated}."


def _cells(row: OverallRow) -> str:
    lost = row.n_cells < row.n_cells_planned
    return f"{int(row.n_cells)} of {plural(row.n_cells_planned, 'cell')}" if lost else plural(row.n_cells, "cell")


def _measured(row: OverallRow) -> str:
    if missing(row.ratio_low):
        return f"{times(row.ratio)} (no interval: a cell has {plural(int(row.n_blocks_least), 'log')} of a side)"
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    return f"{text}{NARROW}× (95{NARROW}% interval {bounds})"


def _other(row: OverallRow, metric: Metric, variant: str, lacking: Lacks) -> Sentence:
    reasons = {(load, clients): why for (name, load, clients, of), why in lacking.items()
               if name == variant and of == metric.name}  # fmt: skip
    lost = f"; not in it: {_counted(reasons)}" if reasons else ""
    if not row.n_cells:
        return Sentence(f"{metric.label}: no ratio{f': {_counted(reasons)}' if reasons else ''}.", bad=True)
    return Sentence(f"{metric.label}: {_measured(row)}, over {_cells(row)}{lost}.", bad=bool(reasons))


def first_answers(
    study: ResolvedStudy, tables: dict[str, pd.DataFrame]
) -> tuple[list[VariantAnswer], str, list[Sentence], list[str]]:
    """Return the answers, the one on top, what is bad, and (empty for logs) what the study could have found."""
    answers = imported_answers(study, tables)
    return answers, imported_answer(study, tables, answers), imported_doubts(study, tables["runs"], answers), []


def imported_answer(study: ResolvedStudy, tables: dict[str, pd.DataFrame], answers: Sequence[VariantAnswer]) -> str:
    """Return the answer to the question of an imported study in one sentence or a few."""
    if not answers:
        runs = tables["runs"]
        ok = int((runs["outcome"] == "ok").sum())
        return f"{plural(ok, 'log')} of {study.reference} alone: there is no other variant to compare it with."
    if len(answers) == 1:
        return answers[0].headline
    overall = tables["overall"]
    lead = leading_of(study, overall["metric"])
    rows = {row.variant: row for row in overall[overall["metric"] == lead.name].itertuples()}
    comparable = [row for answer in answers if (row := rows.get(answer.variant)) is not None and row.n_cells]
    lost = [answer.variant for answer in answers if answer.variant not in {row.variant for row in comparable}]
    texts = (
        [f"{lead.label}, to {study.reference}: {', '.join(map(_short, comparable))}; without a verdict."]
        if comparable
        else []
    )
    return " ".join([*texts, *([f"{listing(lost)} cannot be compared."] if lost else [])])


def _short(row: OverallRow) -> str:
    text, bounds = by_width(row.ratio, row.ratio_low, row.ratio_high)
    span = "" if missing(row.ratio_low) else f" ({bounds})"
    cells = f", {_cells(row)}" if row.n_cells < row.n_cells_planned else ""
    return f"{row.variant} {text}{NARROW}×{span}{cells}"


def imported_doubts(study: ResolvedStudy, runs: pd.DataFrame, answers: Sequence[VariantAnswer]) -> list[Sentence]:
    """Return what to doubt of an imported study at first sight: failed and unread logs, cells without a ratio."""
    return [Sentence(text, bad=True) for text in (*_failed(runs), *_of_files(study.imported), *_short_of(answers))]


def _failed(runs: pd.DataFrame) -> Iterator[str]:
    failed = runs[~runs["outcome"].isin(("ok", "missing"))]
    if len(failed):
        names = log_names(failed)
        shown = [f"{name}: {reason}" for name, reason in zip(names, failed["reason"], strict=True)][:2]
        brief = "; ".join(text.partition("\n")[0].rstrip(":") for text in shown)
        more = f"; and {number(len(failed) - 2)} more" if len(failed) > 2 else ""
        logs = runs[runs["outcome"] != "missing"]
        counted = f"{len(failed)} of {plural(len(logs), 'log')} without a measurement, left out of all means"
        yield f"{counted}: {brief}{more}."


def _of_files(imported: ImportedLogs) -> Iterator[str]:
    if imported.unread:
        yield f"{plural(len(imported.unread), 'file')} could not be read."
    rates, measured = imported.rates, imported.measured
    if 0 < rates < measured:
        yield f"{rates} of {plural(measured, 'log')} have a target rate, which their TPS cannot exceed."


def _short_of(answers: Sequence[VariantAnswer]) -> Iterator[str]:
    texts = [f"{answer.variant}: {text.text}" for answer in answers for text in answer.sentences if text.bad]
    yield from texts[:MOST_REASONS]
    if len(texts) > MOST_REASONS:
        yield f"{plural(len(texts) - MOST_REASONS, 'more remark')} of this kind below."
