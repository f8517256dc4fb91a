"""The sentences of the first screen: the answer to the study's question, what to doubt, and the machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pandas as pd

from scripts.lib.build_records import DatasetFacts, SourceFacts
from scripts.lib.failure_reasons import alike
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import ABOVE, BELOW, CONTROLS, MIN_BLOCKS, Verdict
from scripts.lib.wording import NARROW, by_width, distance, duration, listing, missing, number, plural, share, size
from scripts.measure.engine.run_record import Run
from scripts.report.analysis.comparison import warning_set
from scripts.report.analysis.effects import factor_contrasts, matrix_contrasts, sides_by_formula
from scripts.report.analysis.metrics import Metric, leading
from scripts.report.analysis.table_rows import MeanRow
from scripts.report.page.failures_section import refusals
from scripts.report.page.machine_section import written_options
from scripts.report.page.relink_section import of_builds, relinked_sentence
from scripts.report.page.study_answer import Sentence, VariantAnswer
from scripts.report.page.verdict import compared_variants

ONLY_REFERENCE = "The study measures only the reference against itself."
MOST_BAD = 3  # sentences on what is bad that are shown unfolded
MOST_PARTS = 6  # results that the answer names one by one
MOST = 0.5  # of the runs with a warning


@dataclass(frozen=True)
class AnswerPart:
    """One result of the answer: its name, a row with ratio, interval and verdict."""

    name: str
    row: MeanRow


def answer_sentence(study: ResolvedStudy, tables: Mapping[str, pd.DataFrame], answers: Sequence[VariantAnswer]) -> str:
    """Return the answer to the study's question in words and numbers.

    It names the effects of a matrix, what each factor brings, or the variants. `tables` holds overall, factors and
    effects, and runs; `answers` are those of the variants.
    """
    if not answers:
        return ONLY_REFERENCE
    if len(answers) == 1:
        return answers[0].headline
    lead = leading(tables["overall"]["metric"])
    rows = _rows(study, tables, lead)
    compared = [AnswerPart(name, row) for name, row in rows if row is not None and row.n_cells]
    groups = _grouped(compared, lead, study)
    refused = refusals(tables["runs"])
    others = [name for name, row in rows if row is None or not row.n_cells]
    lost = [name for name in others if name not in refused]
    ends = [f"{listing(lost)} cannot be compared: no block has all runs"] if lost else []
    ends += [f"{name}: {refused[name].text}" for name in others if name in refused]
    texts = [f"{word}: {_listed(alike, lead, first=not number)}" for number, (word, alike) in enumerate(groups.items())]
    return " ".join(f"{text}." for text in (*texts, *ends))


def _rows(study: ResolvedStudy, tables: Mapping[str, pd.DataFrame], lead: Metric) -> list[tuple[str, MeanRow | None]]:
    """Return the name of each result of the answer with its row, None for a variant without one."""
    effects = tables["effects"]
    single = effects[(effects["metric"] == lead.name) & effects["workload"].isna() & (effects["n_factors"] == 1)]
    if len(single):
        sides = sides_by_formula(matrix_contrasts(study))
        return [(" instead of ".join(sides[row.formula]), row) for row in single.itertuples()]
    overall = tables["overall"][tables["overall"]["metric"] == lead.name]
    rows = {row.variant: row for row in overall.itertuples()}
    names = compared_variants(study)
    factors = _first_factors(study, tables["factors"], lead)
    if len(factors) < 2:
        return [(name, rows.get(name)) for name in names]
    return [factors.get(name) or (name, rows.get(name)) for name in names]


def _first_factors(study: ResolvedStudy, table: pd.DataFrame, lead: Metric) -> dict[str, tuple[str, MeanRow]]:
    """Return variant -> the first factor that it shows, of those in the order of factors.csv; interactions are none."""
    factors = table[(table["metric"] == lead.name) & ~table["interaction"].astype(bool)]
    several = factors["server"].nunique() > 1
    sides = sides_by_formula(factor_contrasts(study)) if len(factors) else {}
    first: dict[str, tuple[str, MeanRow]] = {}
    for row in factors.itertuples():
        name = f"{row.server}, {row.factor}" if several else row.factor
        first.setdefault(sides[row.formula][0], (name, row))
    return first


def _grouped(parts: list[AnswerPart], lead: Metric, study: ResolvedStudy) -> dict[str, list[AnswerPart]]:
    """Return word -> the parts with this verdict, better ones first."""
    better, worse = (ABOVE, BELOW) if lead.worse is Verdict.BELOW else (BELOW, ABOVE)
    words = {
        **dict.fromkeys(better, lead.words[better[0]]),
        **dict.fromkeys(worse, lead.words[worse[0]]),
        Verdict.SAME: f"the same within {share(study.matters)}",
        Verdict.OPEN: "open",
        Verdict.TOO_FEW_BLOCKS: f"no verdict with under {MIN_BLOCKS} whole blocks in a cell",
    }
    groups: dict[str, list[AnswerPart]] = {word.capitalize(): [] for word in words.values()}
    for part in parts:
        groups[words[Verdict(str(part.row.verdict))].capitalize()].append(part)
    return {word: alike for word, alike in groups.items() if alike}


def _listed(parts: list[AnswerPart], lead: Metric, first: bool) -> str:
    what = f" the {lead.label.lower()}" if first else ""
    if len(parts) > MOST_PARTS:
        ordered = sorted(parts, key=lambda part: part.row.ratio)
        ends = f"{_ratio_text(ordered[0])} and {_ratio_text(ordered[-1])}"
        return f"{plural(len(parts), 'variant')}, between {ends}{what}"
    return ", ".join(_ratio_text(part, what if not number else "") for number, part in enumerate(parts))


def _ratio_text(part: AnswerPart, what: str = "") -> str:
    text, bounds = by_width(part.row.ratio, part.row.ratio_low, part.row.ratio_high)
    span = "" if missing(part.row.ratio_low) else f" ({bounds})"
    return f"{part.name} {text}{NARROW}×{what}{span}"


def doubts(
    study: ResolvedStudy, tables: Mapping[str, pd.DataFrame], answers: Sequence[VariantAnswer]
) -> tuple[list[Sentence], list[str]]:
    """Return what to doubt: what is bad, and what the study could have found and what relinking moves.

    `tables` holds runs, overall, cells and relinked.
    """
    remarks = [(answer.variant, text.brief or text.text) for answer in answers for text in answer.sentences if text.bad]
    groups = alike(remarks, itemgetter(1))
    bad = [f"{listing([name for name, _ in group.things])}: {group.things[0][1]}" for group in groups]
    if len(bad) > MOST_BAD:
        bad = [*bad[: MOST_BAD - 1], f"{plural(len(bad) - MOST_BAD + 1, 'more remark')} of this kind below."]
    shown = [Sentence(text, bad=True) for text in bad]
    shown += [Sentence(text, bad=True) for text in _warned(tables["runs"])]
    plain = list(_power(tables["overall"], tables["cells"], study))
    if answers and of_builds(study):
        plain.append(relinked_sentence(study, tables["relinked"]))
    return shown, plain


def _warned(runs: pd.DataFrame) -> Iterator[str]:
    """Yield how many runs have a warning, and in which repetitions most of them lie if these are few."""
    codes = runs["warning_codes"].astype(object).fillna("").map(warning_set)
    warned = codes.map(bool)
    if not warned.any():
        return
    counts = runs.loc[warned, "repetition"].value_counts()
    few = counts.index[: int((counts.cumsum() <= warned.sum() * MOST).sum()) + 1].sort_values()
    noun = "repetition" if len(few) == 1 else "repetitions"
    where = f", most of them in {noun} {_ranges(few)}" if len(few) * 2 < runs["repetition"].nunique() else ""
    yield f"{number(warned.sum())} of {plural(len(runs), 'run')} have a warning{where}; none was dropped."


def _ranges(values: Iterable[int]) -> str:
    """Return whole numbers in words, consecutive ones as a range: `1 and 5–7`."""
    runs: list[list[int]] = []
    for value in map(int, values):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return listing([f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs])


def _power(overall: pd.DataFrame, cells: pd.DataFrame, study: ResolvedStudy) -> Iterator[str]:
    """Yield what a study like this finds, how wide the interval of one cell is, and what settles an open question."""
    lead = leading(overall["metric"])
    compared = overall[(overall["metric"] == lead.name) & ~overall["variant"].isin(CONTROLS)]
    if not (detectable := compared["detectable_ratio"].dropna()).empty:
        text = f"A study like this finds differences from {distance(detectable.max())} on in 4 of 5 cases"
        of_cells = cells[(cells["metric"] == lead.name) & cells["variant"].isin(set(compared["variant"]))]
        halves = np.sqrt(of_cells["ratio_high"] / of_cells["ratio_low"]).dropna()
        if len(study.workloads) * len(study.clients) > 1 and len(halves):
            text += f"; the interval of one {_place(study)} is about ±{distance(halves.median())}"
        yield f"{text}."
    opened = compared[(compared["verdict"] == Verdict.OPEN) & compared["settling_repetitions"].notna()]
    if len(opened):
        most, more_min = opened["settling_repetitions"].max(), opened["settling_min"].max()
        took = "" if missing(more_min) or more_min <= 0 else f", {duration(more_min * 60)} more of measuring"
        text = f"±{share(study.matters)} takes about {number(most)} repetitions{took}"
        yield f"{text}; these are {study.repetitions}."


def _place(study: ResolvedStudy) -> str:
    return "workload" if len(study.clients) == 1 else "workload at one client count"


def machine_line(
    study: ResolvedStudy,
    records: Sequence[Run],
    sources: Sequence[SourceFacts],
    datasets: Sequence[DatasetFacts],
) -> str:
    """Return machine, releases of servers, data and clients in one line; what is not known is left out."""
    hosts = [run.host for run in records if run.host]
    virtual = written_options([host.virtualisation or "none" for host in hosts]) if hosts else ""
    parts = [
        written_options([host.cpu for host in hosts]) if hosts else "",
        f"{written_options([host.cpus for host in hosts])} CPUs" if hosts else "",
        {"": "", "none": "not virtual"}.get(virtual, f"virtual machine ({virtual})"),
        _memory([host.memory_mib for host in hosts]),
        listing(list(dict.fromkeys(f"{source.product} {source.release}" for source in sources))),
        *_data(datasets),
        _clients(study.clients),
    ]
    return " · ".join(part for part in parts if part)


def _clients(counts: Sequence[int]) -> str:
    if len(counts) == 1:
        return plural(counts[0], "client")
    texts = [number(count) for count in sorted(counts)]
    return f"{texts[0]} to {texts[-1]} clients" if len(texts) > 3 else f"{listing(texts)} clients"


def _memory(amounts: Sequence[float | None]) -> str:
    sizes = dict.fromkeys(size(amount * 2**20) for amount in amounts if not missing(amount))
    return f"{', '.join(sizes)} of memory" if sizes else ""


def _data(datasets: Iterable[DatasetFacts]) -> Iterator[str]:
    """Yield the tables of the datasets that hold the same, with the least and the most that servers need for them."""
    sizes: dict[str, list[float | None]] = {}
    for data in datasets:
        rows = f" of {number(data.rows)} rows" if data.rows else ""
        tables = f"{plural(data.tables, 'table')}{rows}" if data.tables else data.dataset
        sizes.setdefault(tables, []).append(data.bytes)
    for tables, amounts in sizes.items():
        ordered = sorted(amount for amount in amounts if amount is not None)
        ends = dict.fromkeys(size(amount) for amount in ordered[:1] + ordered[-1:]) or [size(None)]
        yield f"{tables}, {' to '.join(ends)}"
