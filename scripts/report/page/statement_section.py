"""Timed SQL for the page: sentences, tables, cost per statement, answers, and the text of the statements."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from markupsafe import Markup

from scripts.lib.vocabulary import ABOVE, BELOW, COLD, CONTROLS, DIFFERENCES, WARM
from scripts.lib.wording import (
    NARROW,
    NOTHING,
    before_after,
    count,
    interval,
    listing,
    missing,
    number,
    percent,
    plural,
    ratio,
    short,
    size,
    times,
)
from scripts.measure.engine.planned import STATEMENTS
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import published
from scripts.report.analysis.metrics import COLD_TIME, SCRIPT
from scripts.report.page.figures.naming import statements_name
from scripts.report.page.runs_section import first_ok
from scripts.report.page.value_tables import Cell, state
from scripts.report.page.verdict import matters_of
from scripts.report.page.words import arm_word, verdict_word

Study = dict[str, Any]
Records = list[Run]
Answer = dict[str, str | None]
# A variant and one row of its answer.
Shown = tuple[str, Answer]


def statement_sentences(study: Study, rows: pd.DataFrame) -> list[str]:
    """Return one sentence per variant and cache: in which statements it differs, and in how many it does not."""
    others = [name for name in study["variants"] if name not in (study["reference"], *CONTROLS)]
    sentences = []
    for variant in others:
        for cache in (COLD, WARM):
            own = rows[(rows["variant"] == variant) & (rows["cache"] == cache) & rows["ratio"].notna()]
            if len(own):
                sentences.append(f"{variant}, {cache}: {'; '.join(_kinds(own, matters_of(study)))}.")
    return sentences


def _kinds(own: pd.DataFrame, matters: float) -> Iterator[str]:
    for verdict in (*BELOW, *reversed(ABOVE)):
        found = own[own["verdict"] == verdict].sort_values("ratio").itertuples()
        if each := [
            f"{row.statement} ({times(row.ratio)}, {interval(row.ratio_low, row.ratio_high)})" for row in found
        ]:
            yield f"{verdict_word(COLD_TIME, verdict, matters)} in {listing(each)}"
    rest = own[~own["verdict"].isin(DIFFERENCES)]
    for verdict, alike in rest.groupby("verdict", sort=False):
        ends = dict.fromkeys((times(alike["ratio"].min()), times(alike["ratio"].max())))
        yield f"{verdict_word(COLD_TIME, verdict, matters)} in {plural(len(alike), 'statement')} ({' to '.join(ends)})"


def statement_table(study: Study, workload: str, rows: pd.DataFrame, cache: str) -> dict[str, Any]:
    """Return the table of cold or warm passes: one row per statement, one column per variant, then published ones."""
    ours = {(row.variant, row.statement): row for row in rows[rows["cache"] == cache].itertuples()}
    theirs, matters = _published_s(study, workload, cache), matters_of(study)
    body = [
        (name, [*(_statement_cell(ours.get((variant, name)), cache, matters) for variant in study["variants"]),
                *(Cell(count(taken.get(name))) for taken in theirs.values())])
        for name in dict.fromkeys(rows["statement"])
    ]  # fmt: skip
    return {"title": f"{cache}, seconds", "published": list(theirs), "rows": body}


def _published_s(study: Study, workload: str, cache: str) -> dict[str, dict[str, float]]:
    found = published.statement_seconds(published.frame(study), workload, cache)
    return {f"published {variant}": seconds for variant, seconds in found.items()}


def _statement_cell(row: Any, cache: str, matters: float) -> Cell:
    if row is None or missing(row.value_s):
        return Cell(NOTHING, (), "hole", "not sent, or not measured")
    if not missing(row.n_differ) and row.n_differ:
        return Cell(
            _statement_seconds(row.value_s), ("another answer", f"in {plural(int(row.n_differ), 'block')}"), "bad"
        )
    if missing(row.ratio):
        return Cell(_statement_seconds(row.value_s), (), "")
    metric = SCRIPT[f"{cache}_s"]
    word = arm_word(row.variant, metric, row.verdict, matters)
    notes = (f"{times(row.ratio)}  {interval(row.ratio_low, row.ratio_high)}", f"n {int(row.n_blocks)}, {word}")
    return Cell(before_after(row.reference_value_s, row.value_s, _statement_seconds), notes, state(metric, row))


def _statement_seconds(value: float) -> str:
    return f"{value:.2g}" if 1e-4 < value < 0.01 else count(value)


def pair_table(study: Study, workload: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the table of statements that the SQL file compares: one row per pair, one column per variant.

    `rows` are those of the workload in against.csv; published ratios come last.
    """
    ours = {(row.variant, row.statement, row.against): row for row in rows.itertuples()}
    theirs = _published_s(study, workload, COLD)
    rows = [
        (f"{name} / {other}", [*(_pair_cell(ours.get((variant, name, other))) for variant in compared_arms(study)),
                               *(Cell(ratio(published.quotient(taken, name, other))) for taken in theirs.values())])
        for name, other in dict.fromkeys(zip(rows["statement"], rows["against"], strict=True))
    ]  # fmt: skip
    return {"head": [*compared_arms(study), *theirs], "rows": rows}


def compared_arms(study: Study) -> list[str]:
    """Return the variants without A/A and relinks."""
    return [variant for variant in study["variants"] if variant not in CONTROLS]


def against_sentences(table: dict[str, Any]) -> list[str]:
    """Return the table of `pair_table` as sentences, one per pair of statements."""
    sentences = []
    for name, cells in table["rows"]:
        known = [(arm, cell) for arm, cell in zip(table["head"], cells, strict=True) if cell.text != NOTHING]
        each = [f"{arm} {cell.text}{NARROW}×" + (f" ({', '.join(cell.notes)})" if cell.notes else "")
                for arm, cell in known]  # fmt: skip
        sentences.append(f"Time of {name}: {', '.join(each)}.")
    return sentences


def _pair_cell(row: Any) -> Cell:
    if row is None:
        return Cell(NOTHING, (), "hole", "not sent, or not measured")
    return Cell(ratio(row.ratio), (interval(row.ratio_low, row.ratio_high), f"n {row.n_ok}"))


EFFORT_HEAD = (
    "statement", "", "variant", "seconds", "server CPU, s", "of the time", "read", "written", "rows", "answer",
)  # fmt: skip


def timed_sql_views(
    study: Study, tables: dict[str, pd.DataFrame], records: Records, figures: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Return workload -> values of the page, for workloads of timed SQL. Reads the tables statements and against."""
    timed = {name: figure for name in study["workloads"] if (figure := statements_name(study, name))}
    return {
        name: _timed_sql_view(
            study,
            name,
            {each: tables[each][tables[each]["workload"] == name] for each in ("statements", "against")},
            _execution_facts(records, name),
            Markup(figures[figure]),
        )
        for name, figure in timed.items()
    }


def _execution_facts(records: Records, workload: str) -> Records:
    return [run for run in records if run.workload == workload and run.timed_sql]


def _timed_sql_view(
    study: Study, name: str, tables: dict[str, pd.DataFrame], records: Records, figure: Markup
) -> dict[str, Any]:
    rows = tables["statements"]
    caches = [cache for cache in (COLD, WARM) if cache in set(rows["cache"])]
    pairs = pair_table(study, name, tables["against"])
    return {
        "figure": figure if len(rows) else "",
        "cold": cold_sentence(records),
        "left_out": left_out(records),
        "sentences": statement_sentences(study, rows),
        "tables": [statement_table(study, name, rows, cache) for cache in caches],
        "against": pairs,
        "against_sentences": against_sentences(pairs),
        "effort_head": EFFORT_HEAD,
        "efforts": [_effort_rows(row, records) for row in rows.itertuples()],
        "shown": shown_answers(study, records),
        "texts": statement_texts(study, records),
    }


def cold_sentence(records: Records) -> str:
    """Return a sentence on how much of the data directory the page cache still held at the start of the cold pass."""
    left = [run.page_cache.left_bytes for run in records]
    start = "The first pass is cold: its server was just started on a fresh copy of the data"
    if any(run.sliced.method == STATEMENTS for run in records):
        start += ", whose files leave the page cache again before each statement"
    if not left or None in left:
        return f"{start}. Whether the page cache dropped the files of the copy is unknown."
    if max(left) == 0:
        kept = "What disk and hypervisor cached is unknown"
        return f"{start}, and no byte of the copy was left in the page cache. {kept}."
    why = "as with a file system in memory"
    return f"{start}, but up to {size(max(left))} of the copy stayed in the page cache, {why}."


def left_out(records: Records) -> list[str]:
    """Return one sentence per statement that some variants were not sent, which the total times leave out."""
    skipped: dict[str, list[str]] = {}
    for run in records:
        for name in run.timed_sql.skipped:
            skipped.setdefault(name, []).append(run.variant)
    whose = {name: listing(list(dict.fromkeys(variants))) for name, variants in skipped.items()}
    return [f"{name} does not apply to the release of {who}; total times leave it out." for name, who in whose.items()]


def _effort_rows(row: Any, records: Records) -> tuple[str, ...]:
    """Return the cost of one statement with the fields of EFFORT_HEAD."""
    found = {
        one["answer_sha256"]
        for run in records
        for one in run.timed_sql.executions
        if (run.variant, one["statement"]) == (row.variant, row.statement)
    }
    answer = short(next(iter(found))) if len(found) == 1 else f"{len(found)} different"
    taken = (count(row.value_s), count(row.server_cpu_s), percent(row.server_cpu_s / row.value_s, 0))
    moved = (size(row.read_bytes), size(row.write_bytes))
    return (row.statement, row.cache, row.variant, *taken, *moved, number(row.n_rows), answer)


def shown_answers(study: Study, records: Records) -> list[dict[str, Any]]:
    """Return the answers that the SQL file asks to show, from each variant's first run, without controls.

    Where the last pass has other answers than the first, such as the hits of a cache, a table has both.
    """
    found: dict[str, dict[str, list[Shown]]] = {}
    for variant in (name for name in study["variants"] if name not in CONTROLS):
        run = first_ok(records, variant=variant)
        every = run.timed_sql.shown if run else []
        for cache, wanted in ((COLD, 1), (WARM, max((one["pass"] for one in every), default=1))):
            for one in every:
                if one["pass"] == wanted:
                    rows = [dict(zip(_lower(one["columns"]), row, strict=True)) for row in one["rows"]]
                    found.setdefault(one["name"], {}).setdefault(cache, []).extend((variant, row) for row in rows)
    return [_shown_table(name, passes) for name, passes in found.items()]


def _shown_table(name: str, passes: dict[str, list[Shown]]) -> dict[str, Any]:
    """Return the table of one answer; `passes` is cold and warm -> rows."""
    cold, warm = passes.get(COLD, []), passes.get(WARM, [])
    columns = list(dict.fromkeys(column for _, row in cold + warm for column in row))
    if cold == warm:
        return {
            "name": name,
            "head": ["variant", *columns],
            "rows": [(one, *_filled(row, columns)) for one, row in cold],
        }
    rows = [(one, cache, *_filled(row, columns)) for cache, every in passes.items() for one, row in every]
    return {"name": name, "head": ["variant", "", *columns], "rows": rows}


def _filled(row: Answer, columns: list[str]) -> tuple[str, ...]:
    return tuple(NOTHING if row.get(column) is None else row[column] for column in columns)


def _lower(columns: list[str]) -> list[str]:
    """Return names of columns in lower case: MySQL 8 writes those of its own tables in capitals."""
    return [name.lower() for name in columns]


def statement_texts(study: Study, records: Records) -> list[tuple[str, str, str]]:
    """Return (name, SQL, variants it was sent to) per statement; the last is empty where it was sent to all."""
    sent: dict[tuple[str, str], list[str]] = {}
    variants = [name for name in study["variants"] if first_ok(records, variant=name)]
    for variant in variants:
        for one in first_ok(records, variant=variant).timed_sql.statements:
            sent.setdefault((one["name"], one["text"]), []).append(variant)
    return [(*key, "" if names == variants else listing(names)) for key, names in sent.items()]
