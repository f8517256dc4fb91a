"""Timed SQL beside the reference's and beside itself: sentences and tables of its statements, with intervals."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from scripts import published, stats
from scripts.comparison import AA
from scripts.metrics import COLD as COLD_TIME
from scripts.metrics import SCRIPT
from scripts.sql_times import COLD, WARM, seconds
from scripts.value_tables import SHORT_WORDS, Cell, state
from scripts.wording import NARROW, NOTHING, count, interval, listing, missing, plural, ratio, times

Study = dict[str, Any]
Records = list[tuple[str, dict[str, Any]]]


def sentences(study: Study, rows: pd.DataFrame) -> list[str]:
    """Return one sentence per variant, cold and warm apart: in which statements it differs, and in how many not."""
    others = [name for name in study["variants"] if name not in (study["reference"], AA)]
    told = []
    for variant in others:
        for cache in (COLD, WARM):
            own = rows[(rows["variant"] == variant) & (rows["cache"] == cache) & rows["ratio"].notna()]
            if len(own):
                told.append(f"{variant}, {cache}: {'; '.join(_kinds(own))}.")
    return told


def _kinds(own: pd.DataFrame) -> Iterator[str]:
    words = (COLD_TIME.below, COLD_TIME.above)
    for word in words:
        found = own[own["word"] == word].sort_values("ratio").itertuples()
        if each := [
            f"{row.statement} ({times(row.ratio)}, {interval(row.ratio_low, row.ratio_high)})" for row in found
        ]:
            yield f"{word} in {listing(each)}"
    rest = own[~own["word"].isin(words)]
    for word, alike in rest.groupby("word", sort=False):
        ends = dict.fromkeys((times(alike["ratio"].min()), times(alike["ratio"].max())))
        yield f"{word} in {plural(len(alike), 'statement')} ({' to '.join(ends)})"


def statement_table(study: Study, workload: str, rows: pd.DataFrame, cache: str) -> dict[str, Any]:
    """Return the table of one kind of pass: a row a statement, a column a variant, then the published ones."""
    ours = {(row.variant, row.statement): row for row in rows[rows["cache"] == cache].itertuples()}
    theirs = published_s(study, workload, cache)
    body = [
        (name, [*(_cell(ours.get((variant, name)), cache) for variant in study["variants"]),
                *(Cell(count(taken.get(name))) for taken in theirs.values())])
        for name in dict.fromkeys(rows["statement"])
    ]  # fmt: skip
    return {"title": f"{cache}, seconds", "published": list(theirs), "rows": body}


def published_s(study: Study, workload: str, cache: str) -> dict[str, dict[str, float]]:
    """Return published variant -> statement -> seconds, of a workload's figures with the metric `cold_s/STATEMENT`."""
    told, head = published.frame(study), f"{cache}_s/"
    found: dict[str, dict[str, float]] = {}
    for row in told[(told["workload"] == workload) & told["metric"].str.startswith(head)].itertuples():
        found.setdefault(f"published {row.variant}", {})[row.metric.removeprefix(head)] = row.value
    return found


def _cell(row: Any, cache: str) -> Cell:
    if row is None or missing(row.value_s):
        return Cell(NOTHING, (), "hole", "not sent, or not measured")
    if not missing(row.n_differ) and row.n_differ:
        return Cell(_seconds(row.value_s), ("another answer", f"in {plural(int(row.n_differ), 'block')}"), "bad")
    if missing(row.ratio):
        return Cell(_seconds(row.value_s), (), "")
    word = "A/A" if row.variant == AA else SHORT_WORDS.get(row.word, row.word)
    notes = (f"{times(row.ratio)}  {interval(row.ratio_low, row.ratio_high)}", f"n {int(row.n_blocks)}, {word}")
    return Cell(_seconds(row.value_s), notes, state(SCRIPT[f"{cache}_s"], row.word))


def _seconds(value: float) -> str:
    return f"{value:.2g}" if 1e-4 < value < 0.01 else count(value)


def against(study: Study, workload: str, records: Records) -> dict[str, Any]:
    """Return the table of statements that the file sets beside each other: a row a pair, a column a variant.

    A field is the ratio of their cold seconds in one run, with the t interval over runs; published ones come last.
    """
    sent = [one for _, facts in records for one in facts["timed_sql"]["statements"]]
    pairs = dict.fromkeys((one["name"], one["against"]) for one in sent if one["against"])
    theirs = published_s(study, workload, COLD)
    rows = [
        (f"{name} / {other}", [*(_within(records, variant, name, other) for variant in arms(study)),
                               *(Cell(ratio(_quotient(taken, name, other))) for taken in theirs.values())])
        for name, other in pairs
    ]  # fmt: skip
    return {"head": [*arms(study), *theirs], "rows": rows}


def arms(study: Study) -> list[str]:
    """Return the variants without the reference's second."""
    return [variant for variant in study["variants"] if variant != AA]


def _quotient(taken: dict[str, float], name: str, other: str) -> float | None:
    return taken[name] / taken[other] if {name, other} <= taken.keys() else None


def against_sentences(table: dict[str, Any]) -> list[str]:
    """Return the table that `against` returns as sentences, one a pair of statements."""
    told = []
    for name, cells in table["rows"]:
        known = [(arm, cell) for arm, cell in zip(table["head"], cells, strict=True) if cell.text != NOTHING]
        each = [f"{arm} {cell.text}{NARROW}×" + (f" ({', '.join(cell.notes)})" if cell.notes else "")
                for arm, cell in known]  # fmt: skip
        told.append(f"Time of {name}: {', '.join(each)}.")
    return told


def _within(records: Records, variant: str, name: str, other: str) -> Cell:
    taken = [seconds(facts["timed_sql"]["executions"]) for _, facts in records if facts["variant"] == variant]
    both = [[one.get((COLD, each)) for each in (name, other)] for one in taken]
    logs = np.array([np.log(ours / theirs) for ours, theirs in both if ours and theirs])
    if not len(logs):
        return Cell(NOTHING, (), "hole", "not sent, or not measured")
    mean, low, high = (float(part[0]) for part in stats.t_interval(logs[np.newaxis, :]))
    return Cell(ratio(np.exp(mean)), (interval(np.exp(low), np.exp(high)), f"n {len(logs)}"))
