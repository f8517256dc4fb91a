"""The answer in sentences, composed from the tables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scripts.analysis.held_out import Split, splits
from scripts.analysis.metrics import COLD_TIME, EVERY, METRICS, TPS, WARM_TIME, Metric, leading
from scripts.analysis.stats import MIN_BLOCKS
from scripts.report.engine import TABLE_KINDS, AllocatedTable
from scripts.report.words import verdict_word
from scripts.vocabulary import AA, DIFFERENCES, UNDECIDED, Verdict
from scripts.wording import NARROW, brief, floor_percent, interval, listing, missing, plural, times


def sentences_beside_speed(
    study: dict[str, Any],
    *,
    timed_sql: Mapping[str, Mapping[str, Any]],
    ladders: Iterable[Any],
    allocated: Iterable[AllocatedTable],
    storage_sentences: Iterable[str],
    network: Iterable[tuple[str, ...]],
) -> list[str]:
    """Return one sentence per result other than speed, for the answer; the arguments are values of the page."""
    return [
        *(sentence for timed in timed_sql.values() for sentence in timed["against_sentences"]),
        *(sentence for table in ladders for sentence in table.sentences),
        *(sentence for table in allocated for sentence in _size_sentences(study, table)),
        *storage_sentences,
        *map(_traffic_sentence, network),
    ]


def _size_sentences(study: dict[str, Any], table: AllocatedTable) -> Iterator[str]:
    """Yield the disk space of all tables of a variant beside the reference's, before and after the load."""
    column, arms = table.head.index(TABLE_KINDS), {*study["variants"]} - {AA}
    taken: dict[str, list[str]] = {}
    for variant, when, cells in table.rows:
        if variant in arms and len(notes := cells[column].notes) > 1:
            taken.setdefault(variant, []).append(f"{notes[-1]} {when}")
    for variant, each in taken.items():
        yield (
            f"{table.title}: disk space of {TABLE_KINDS} of {variant} to that of {study['reference']}: {listing(each)}."
        )


def _traffic_sentence(row: tuple[str, ...]) -> str:
    variant, workload, clients, to_packets, to_mbit, from_packets, from_mbit, *_ = row
    there, back = f"{to_packets} packets and {to_mbit} Mbit", f"{from_packets} packets and {from_mbit} Mbit"
    return f"{variant}, {workload}, {clients} clients: {there} per second went to the server, {back} came from it."


P95_METRIC, CPU_METRIC = METRICS["p95_ms"], METRICS["cpu_us_per_tx"]
LAYOUT_LUCK = (
    "A/A runs the same bytes twice, so it does not include the effect of code layout: two builds of one source can "
    "differ only by where their code lies, and each build here was made once."
)


@dataclass(frozen=True)
class Sentence:
    """One sentence; `bad` when it reports that something got worse."""

    text: str
    bad: bool = False


@dataclass(frozen=True)
class Answer:
    """The answer about one variant: a sentence to quote, and those that must be shown with it."""

    variant: str
    headline: str
    sentences: tuple[Sentence, ...]


def study_answer(study: dict, tables: dict[str, pd.DataFrame], doubts: dict[str, str]) -> list[Answer]:
    """Return one answer per variant that is neither the reference nor A/A, in the study's order.

    `tables` holds overall, cells and comparisons; `doubts` has a sentence by variant that must come first.
    """
    names = [name for name in study["variants"] if name not in (study["reference"], AA)]
    split = splits(study, tables)
    more = {name: [_by_training(split[name])] if name in split and name not in doubts else [] for name in names}
    first = {name: [Sentence(doubts[name], bad=True)] if name in doubts else [] for name in names}
    made = [answer_sentences(name, study, tables["overall"], tables["cells"]) for name in names]
    lost = [each.variant for each in made if not each.sentences and each.variant not in doubts]
    more |= {name: _why(tables["comparisons"], name) for name in lost}
    return [replace(each, sentences=(*first[each.variant], *each.sentences, *more[each.variant])) for each in made]


def _why(comparisons: pd.DataFrame, variant: str) -> list[Sentence]:
    """Return why a variant could not be compared: the reasons of its blocks."""
    lead = leading(comparisons["metric"]).name
    ours = comparisons[(comparisons["variant"] == variant) & (comparisons["metric"] == lead)]
    notes = ours["note"].dropna().map(brief).value_counts()
    reasons = [f"in {plural(int(blocks), 'block')} {note}" for note, blocks in notes.items()]
    if not reasons:
        return []
    rest = [plural(len(reasons) - 3, "other reason")] if len(reasons) > 3 else []
    return [Sentence(f"Of {plural(len(ours), 'block')}: {'; '.join([*reasons[:3], *rest])}.", bad=True)]


def answer_sentences(variant: str, study: dict, overall: pd.DataFrame, cells: pd.DataFrame) -> Answer:
    """Return the answer for one variant from overall.csv and cells.csv."""
    rows = {row.metric: row for row in overall[overall["variant"] == variant].itertuples()}
    lead = leading(rows)
    if lead.name not in rows or not rows[lead.name].n_cells:
        return Answer(variant, f"{variant} cannot be compared with {study['reference']}: no block has both runs.", ())
    ours = cells[cells["variant"] == variant]
    others = [
        metric
        for metric in (P95_METRIC, CPU_METRIC, COLD_TIME, WARM_TIME)
        if metric is not lead and metric.name in rows
    ]
    known = [metric for metric in others if rows[metric.name].n_cells]
    sentences = [_range(rows[lead.name], lead), *(_other(rows[metric.name], metric, ours) for metric in known)]
    sentences += _lost(rows[lead.name], ours, lead)
    return Answer(variant, headline(variant, study, rows[lead.name], lead), tuple(sentences))


def _by_training(split: Split) -> Sentence:
    """Return the mean over the workloads of the training beside the mean over the others."""
    kinds = (("trained", split.trained, split.on_trained), ("held-out", split.held_out, split.on_held_out))
    parts = [f"{kind} workloads ({listing(names)}) {measured(row)}" for kind, names, row in kinds]
    return Sentence(f"{TPS.label}, by the workloads of its training: {'; '.join(parts)}.")


def measured(row: tuple) -> str:
    """Return a ratio of overall.csv with its interval: `1.44 × (95 % interval 1.39–1.49)`."""
    if missing(row.ratio_low):
        return f"{times(row.ratio)} (no interval: {plural(row.n_repetitions, 'complete repetition')})"
    return f"{times(row.ratio)} (95{NARROW}% interval {interval(row.ratio_low, row.ratio_high)})"


def headline(variant: str, study: dict, row: tuple, lead: Metric = TPS) -> str:
    """Return the sentence to quote, on the leading metric over all cells."""
    reference, planned = study["reference"], study["repetitions"]
    over = f"geometric mean over {plural(row.n_cells, 'cell')}, {plural(row.n_repetitions, 'repetition')}"
    value = f"{measured(row)} the {lead.label.lower()} of {reference}, {over}"
    match row.verdict:
        case Verdict.ABOVE | Verdict.BELOW as verdict:
            return f"{variant} is {lead.words[verdict]} than {reference}: {value}."
        case Verdict.TOO_FEW_BLOCKS if planned >= MIN_BLOCKS:
            few = f"a cell has {plural(row.n_blocks_least, 'whole block')} of {planned} and {MIN_BLOCKS} are needed"
            return f"No verdict over all cells, since {few}: {variant} gave {value}."
        case Verdict.TOO_FEW_BLOCKS:
            return f"Smoke test, no verdict under {MIN_BLOCKS} repetitions: {variant} gave {value}."
        case Verdict.NO_NOISE_FLOOR:
            return f"{variant} gave {value}; without A/A runs no verdict is given."
        case _ if row.ratio_low > 1 or row.ratio_high < 1:
            return f"{variant} differs from {reference} {unshown(row)}: {value}."
        case _:
            return f"No difference between {variant} and {reference} is shown: {value}."


def unshown(row: Any) -> str:
    """Return why no difference is shown although the interval lies on one side of 1."""
    if abs(row.log_ratio) > row.floor_log_ratio:
        return f"by no more than one of so many comparisons may by chance (p {row.p_holm:.2g} by Holm)"
    return f"by less than the noise floor of {floor_percent(row.floor_log_ratio)}"


def _where(row: tuple, end: str) -> str:
    name, clients = getattr(row, f"{end}_workload"), int(getattr(row, f"{end}_clients"))
    return f"{times(getattr(row, f'{end}_ratio'))} ({name}, {plural(clients, 'client')})"


def _range(row: tuple, lead: Metric) -> Sentence:
    spread = f"Cell by cell it ranges from {_where(row, 'lowest')} to {_where(row, 'highest')}"
    if row.n_cells == 1:
        spread = f"The only cell is {_where(row, 'lowest')}"
    shown = {Verdict.ABOVE: row.n_above, Verdict.BELOW: row.n_below}
    better_first = sorted(shown, key=lambda verdict: verdict == lead.worse)
    parts = [f"{shown[verdict]} {lead.words[verdict]}" for verdict in better_first]
    parts.append(f"{row.n_no_difference} {verdict_word(lead, Verdict.NO_DIFFERENCE)}")
    if row.n_undecided:
        parts.append(f"{row.n_undecided} without a verdict (under {MIN_BLOCKS} blocks or no noise floor)")
    counted = ", ".join(parts)
    return Sentence(f"{spread}: {counted}." if row.n_above + row.n_below + row.n_no_difference else f"{spread}.")


def _other(row: tuple, metric: Metric, cells: pd.DataFrame) -> Sentence:
    ours = cells[cells["metric"] == metric.name]
    worse = [_cell_text(cell) for cell in ours[ours["verdict"] == metric.worse].itertuples()]
    text = f"{metric.label}: {measured(row)}"
    if worse:
        text += f"; it got worse in {listing(worse[:4])}"
        text += f" and {plural(len(worse) - 4, 'more cell')}" if len(worse) > 4 else ""
    elif row.verdict == metric.worse:
        text += ", worse overall"
    elif row.verdict in UNDECIDED:
        text += f"; highest in a cell: {_where(row, 'highest')}"
    else:
        text += f": {metric.words[row.verdict]}" if row.verdict in DIFFERENCES else ""
        text += "; shown to be worse in no cell"
    return Sentence(f"{text}.", bad=bool(worse) or row.verdict == metric.worse)


def _cell_text(cell: tuple) -> str:
    return f"{cell.workload} at {plural(int(cell.clients), 'client')} ({times(cell.ratio)})"


def _lost(row: tuple, cells: pd.DataFrame, lead: Metric) -> list[Sentence]:
    """Return what the mean leaves out: cells without a pair, split and incomplete blocks."""
    leading_cells = cells[cells["metric"] == lead.name]
    split, incomplete = int(leading_cells["n_split"].sum()), int(leading_cells["n_incomplete"].sum())
    parts = []
    if row.n_cells < row.n_cells_planned:
        parts.append(
            f"{plural(row.n_cells_planned - row.n_cells, 'cell')} of {row.n_cells_planned} could not be compared"
        )
    if split:
        parts.append(f"{plural(split, 'split block')} left out")
    if incomplete:
        parts.append(f"{plural(incomplete, 'block')} without both runs")
    return [Sentence(f"Not in these figures: {', '.join(parts)}.", bad=True)] if parts else []


def noise_sentence(floors: pd.DataFrame) -> str:
    """Return the sentence on the noise floor and on what it does not contain."""
    found = {row.metric: row for row in floors.itertuples()}
    if missing(found[leading(found).name].floor_log_ratio):
        return "No noise floor: no A/A block has both runs, so no cell gets a verdict."
    compared = [
        name for name in (TPS.name, P95_METRIC.name, CPU_METRIC.name, COLD_TIME.name, WARM_TIME.name) if name in found
    ]
    known = [name for name in compared if not missing(found[name].floor_log_ratio)]
    each = [f"{EVERY[name].label} {floor_percent(found[name].floor_log_ratio)}" for name in known]
    return f"Noise floor (the same build against itself): {', '.join(each)}. {LAYOUT_LUCK}"
