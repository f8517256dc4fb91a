"""The answer in sentences, composed from the tables by rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scripts.analysis.held_out import Split, splits
from scripts.analysis.metrics import COLD, EVERY, METRICS, TPS, WARM, Metric, leading
from scripts.analysis.stats import MIN_BLOCKS
from scripts.report.engine import TABLE_KINDS, AllocatedTable
from scripts.vocabulary import AA, NO_DIFFERENCE, NO_FLOOR, TOO_FEW
from scripts.wording import NARROW, brief, floor_percent, interval, listing, missing, plural, times


def sentences_beside_speed(study: dict[str, Any], shown: Mapping[str, Any]) -> list[str]:
    """Return the sentences; `shown` holds the page's values of the sections that tell it in full."""
    pairs = [sentence for timed in shown["timed_sql"].values() for sentence in timed["against_sentences"]]
    sizes = [sentence for table in shown["allocated"] for sentence in _size_sentences(study, table)]
    held = [sentence for table in shown["ladders"] for sentence in table.sentences]
    return [
        *pairs,
        *held,
        *sizes,
        *shown.get("storage_sentences", ()),
        *map(_traffic_sentences, shown.get("network", ())),
    ]


def _size_sentences(study: dict[str, Any], table: AllocatedTable) -> Iterator[str]:
    """Compose what all tables of a variant take on disk, before and after, against the reference's."""
    column, arms = table.head.index(TABLE_KINDS), {*study["variants"]} - {AA}
    taken: dict[str, list[str]] = {}
    for variant, when, cells in table.rows:
        if variant in arms and len(notes := cells[column].notes) > 1:
            taken.setdefault(variant, []).append(f"{notes[-1]} {when}")
    for variant, each in taken.items():
        yield (
            f"{table.title}: disk space of {TABLE_KINDS} of {variant} to that of {study['reference']}: {listing(each)}."
        )


def _traffic_sentences(row: tuple[str, ...]) -> str:
    variant, workload, clients, to_packets, to_mbit, from_packets, from_mbit, *_ = row
    there, back = f"{to_packets} packets and {to_mbit} Mbit", f"{from_packets} packets and {from_mbit} Mbit"
    return f"{variant}, {workload}, {clients} clients: {there} a second went to the server, {back} came from it."


P95_METRIC, CPU_METRIC = METRICS["p95_ms"], METRICS["cpu_us_per_tx"]
LAYOUT_LUCK = (
    "A/A runs the same bytes twice, so it does not contain the luck of code layout: two builds of one source can "
    "differ by the placement of their code alone, and each build here was made once."
)


@dataclass(frozen=True)
class Sentence:
    """One sentence; `bad` when it tells that something got worse."""

    text: str
    bad: bool = False


@dataclass(frozen=True)
class Answer:
    """What is said about one variant: a sentence to quote, and what must stand beside it."""

    variant: str
    headline: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Finding:
    """One answer to "can I trust it": `state` is good, look (read this first) or plain; `details` are more lines.

    `remedy` tells what a finding that is not good means for the answer, and what to do about it.
    """

    title: str
    state: str
    text: str
    details: tuple[str, ...] = ()
    remedy: str = ""


def study_answer(study: dict, tables: dict[str, pd.DataFrame], doubts: dict[str, str]) -> list[Answer]:
    """Return one answer per variant that is neither the reference nor A/A, in the study's order.

    `tables` holds overall, cells and comparisons; `doubts` a sentence by variant that must stand before all others.
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
    """Tell what a variant that could not be compared lacks, by the reasons of its blocks."""
    lead = leading(comparisons["metric"]).name
    ours = comparisons[(comparisons["variant"] == variant) & (comparisons["metric"] == lead)]
    notes = ours["note"].dropna().map(brief).value_counts()
    told = [f"in {plural(int(blocks), 'block')} {note}" for note, blocks in notes.items()]
    rest = [plural(len(told) - 3, "other reason")] if len(told) > 3 else []
    return [Sentence(f"Of {plural(len(ours), 'block')}: {'; '.join([*told[:3], *rest])}.", bad=True)] if told else []


def answer_sentences(variant: str, study: dict, overall: pd.DataFrame, cells: pd.DataFrame) -> Answer:
    """Return the answer for one variant; overall.csv and cells.csv hold all it says."""
    rows = {row.metric: row for row in overall[overall["variant"] == variant].itertuples()}
    lead = leading(rows)
    if lead.name not in rows or not rows[lead.name].n_cells:
        return Answer(variant, f"{variant} cannot be compared with {study['reference']}: no block has both runs.", ())
    ours = cells[cells["variant"] == variant]
    others = [metric for metric in (P95_METRIC, CPU_METRIC, COLD, WARM) if metric is not lead and metric.name in rows]
    known = [metric for metric in others if rows[metric.name].n_cells]
    said = [_range(rows[lead.name], lead), *(_other(rows[metric.name], metric, ours) for metric in known)]
    said += _lost(rows[lead.name], ours, lead)
    return Answer(variant, headline(variant, study, rows[lead.name], lead), tuple(said))


def _by_training(split: Split) -> Sentence:
    """Set the mean over the workloads of the training beside the one over those it never saw."""
    kinds = (("trained", split.trained, split.on_trained), ("held-out", split.held_out, split.on_held_out))
    parts = [f"{kind} workloads ({listing(names)}) {measured(row)}" for kind, names, row in kinds]
    return Sentence(f"{TPS.label}, by what its profile was trained with: {'; '.join(parts)}.")


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
    match row.word:
        case "faster" | "slower" as word:
            return f"{variant} is {word} than {reference}: {value}."
        case word if word == TOO_FEW and planned >= MIN_BLOCKS:
            few = f"a cell has {plural(row.n_blocks_least, 'whole block')} of {planned} and {MIN_BLOCKS} are needed"
            return f"No verdict over all cells, since {few}: {variant} gave {value}."
        case word if word == TOO_FEW:
            return f"Smoke test, no verdict under {MIN_BLOCKS} repetitions: {variant} gave {value}."
        case word if word == NO_FLOOR:
            return f"{variant} gave {value}; without A/A runs no verdict is given."
        case _ if row.ratio_low > 1 or row.ratio_high < 1:
            return f"{variant} differs from {reference} {unshown(row)}: {value}."
        case _:
            return f"No difference between {variant} and {reference} is shown: {value}."


def unshown(row: Any) -> str:
    """Return why an effect whose interval lies on one side of 1 gets no word."""
    if abs(row.log_ratio) > row.floor_log_ratio:
        return f"no more than one of so many comparisons may by chance (p {row.p_holm:.2g} by Holm)"
    return f"by less than the noise floor of {floor_percent(row.floor_log_ratio)}"


def _where(row: tuple, end: str) -> str:
    name, clients = getattr(row, f"{end}_workload"), int(getattr(row, f"{end}_clients"))
    return f"{times(getattr(row, f'{end}_ratio'))} ({name}, {plural(clients, 'client')})"


def _range(row: tuple, lead: Metric) -> Sentence:
    spread = f"Cell by cell it ranges from {_where(row, 'lowest')} to {_where(row, 'highest')}"
    if row.n_cells == 1:
        spread = f"The only cell is {_where(row, 'lowest')}"
    words = {lead.above: row.n_above, lead.below: row.n_below}
    counted = f"{words['faster']} faster, {words['slower']} slower, {row.n_no_difference} {NO_DIFFERENCE}"
    if row.n_wordless:
        counted += f", {row.n_wordless} without a word (under {MIN_BLOCKS} blocks or no noise floor)"
    return Sentence(f"{spread}: {counted}." if row.n_above + row.n_below + row.n_no_difference else f"{spread}.")


def _other(row: tuple, metric: Metric, cells: pd.DataFrame) -> Sentence:
    ours = cells[cells["metric"] == metric.name]
    worse = [_cell_text(cell) for cell in ours[ours["word"] == metric.worse].itertuples()]
    text = f"{metric.label}: {measured(row)}"
    match (row.word, worse):
        case (_, [_, *_]):
            text += f"; it got worse in {listing(worse[:4])}"
            text += f" and {plural(len(worse) - 4, 'more cell')}" if len(worse) > 4 else ""
        case (word, _) if word == metric.worse:
            text += ", worse overall"
        case (word, _) if word in (TOO_FEW, NO_FLOOR):
            text += f"; highest in a cell: {_where(row, 'highest')}"
        case (word, _):
            text += f": {word}" if word in (metric.above, metric.below) else ""
            text += "; shown to be worse in no cell"
    return Sentence(f"{text}.", bad=bool(worse) or row.word == metric.worse)


def _cell_text(cell: tuple) -> str:
    return f"{cell.workload} at {plural(int(cell.clients), 'client')} ({times(cell.ratio)})"


def _lost(row: tuple, cells: pd.DataFrame, lead: Metric) -> list[Sentence]:
    """Tell what the mean leaves out: cells without a pair, split and incomplete blocks."""
    leading_cells = cells[cells["metric"] == lead.name]
    split, incomplete = int(leading_cells["n_split"].sum()), int(leading_cells["n_incomplete"].sum())
    said = []
    if row.n_cells < row.n_cells_planned:
        said.append(
            f"{plural(row.n_cells_planned - row.n_cells, 'cell')} of {row.n_cells_planned} could not be compared"
        )
    if split:
        said.append(f"{plural(split, 'split block')} left out")
    if incomplete:
        said.append(f"{plural(incomplete, 'block')} without both runs")
    return [Sentence(f"Not in these figures: {', '.join(said)}.", bad=True)] if said else []


def noise_sentence(floors: pd.DataFrame) -> str:
    """Return what stands beside every comparison: the noise floor, and what it does not contain."""
    found = {row.metric: row for row in floors.itertuples()}
    if missing(found[leading(found).name].floor_log_ratio):
        return "No noise floor: no A/A block has both runs, so no cell gets a word."
    told = [name for name in (TPS.name, P95_METRIC.name, CPU_METRIC.name, COLD.name, WARM.name) if name in found]
    known = [name for name in told if not missing(found[name].floor_log_ratio)]
    each = [f"{EVERY[name].label} {floor_percent(found[name].floor_log_ratio)}" for name in known]
    return f"Noise floor (the same build against itself): {', '.join(each)}. {LAYOUT_LUCK}"
