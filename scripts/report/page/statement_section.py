"""Timed SQL for the page: sentences, tables, cost per statement, answers, and the text of the statements."""

from collections.abc import Iterator, Mapping

import pandas as pd
from markupsafe import Markup

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import ABOVE, BELOW, COLD, CONTROLS, DIFFERENCES, STATEMENTS, WARM
from scripts.lib.wording import (
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
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import published
from scripts.report.analysis.metrics import COLD_TIME, SCRIPT
from scripts.report.analysis.table_rows import AgainstRow, IntervalRow, StatementRow
from scripts.report.page.document import (
    Cell,
    Figures,
    Fold,
    Head,
    Heading,
    Items,
    PageBlock,
    Prose,
    Section,
    Table,
    Verbatim,
    grid,
    table_row,
    variant_heads,
    word_heads,
)
from scripts.report.page.figures.naming import statements_name
from scripts.report.page.runs_section import first_ok
from scripts.report.page.value_tables import state
from scripts.report.page.verdict import compared_variants
from scripts.report.page.words import arm_word, verdict_word

Records = list[Run]
Answer = dict[str, str | None]
# A variant and one row of its answer.
Shown = tuple[str, Answer]


def statement_sentences(study: ResolvedStudy, rows: pd.DataFrame) -> list[str]:
    """Return one sentence per variant and cache: in which statements it differs, and in how many it does not."""
    sentences = []
    for variant in compared_variants(study):
        for cache in (COLD, WARM):
            compared = rows[(rows["variant"] == variant) & (rows["cache"] == cache) & rows["ratio"].notna()]
            if len(compared):
                sentences.append(f"{variant}, {cache}: {'; '.join(_kinds(compared, study.matters))}.")
    return sentences


def _kinds(rows: pd.DataFrame, matters: float) -> Iterator[str]:
    for verdict in (*BELOW, *reversed(ABOVE)):
        differing = rows[rows["verdict"] == verdict].sort_values("ratio").itertuples()
        texts = [f"{row.statement} ({times(row.ratio)}, {_bounds(row)})" for row in differing]
        if texts:
            yield f"{verdict_word(COLD_TIME, verdict, matters)} in {listing(texts)}"
    rest = rows[~rows["verdict"].isin(DIFFERENCES)]
    for code, alike in rest.groupby("verdict", sort=False):
        ends = dict.fromkeys((times(alike["ratio"].min()), times(alike["ratio"].max())))
        yield f"{verdict_word(COLD_TIME, code, matters)} in {plural(len(alike), 'statement')} ({' to '.join(ends)})"


def _bounds(row: IntervalRow) -> str:
    return interval(row.ratio_low, row.ratio_high)


def statement_table(study: ResolvedStudy, workload: str, rows: pd.DataFrame, cache: str) -> Table:
    """Return the table of cold or warm passes: one row per statement, one column per variant, then published ones."""
    by_key = {(row.variant, row.statement): row for row in rows[rows["cache"] == cache].itertuples()}
    published_s, matters = _published_s(study, workload, cache), study.matters
    body = [
        table_row(
            name,
            *(_statement_cell(by_key.get((variant, name)), cache, matters) for variant in study.variants),
            *(count(seconds.get(name)) for seconds in published_s.values()),
        )
        for name in dict.fromkeys(rows["statement"])
    ]
    heads = (*word_heads("statement"), *variant_heads(study.variants), *map(Head, published_s))
    return Table(heads, tuple(body), caption=f"{cache}, seconds")


def _published_s(study: ResolvedStudy, workload: str, cache: str) -> dict[str, dict[str, float]]:
    by_variant = published.statement_seconds(published.frame(study), workload, cache)
    return {f"published {variant}": seconds for variant, seconds in by_variant.items()}


def _statement_cell(row: StatementRow | None, cache: str, matters: float) -> Cell:
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
    notes = (f"{times(row.ratio)}  {_bounds(row)}", f"n {int(row.n_blocks)}, {word}")
    return Cell(before_after(row.reference_value_s, row.value_s, _statement_seconds), notes, state(metric, row))


def _statement_seconds(value: float) -> str:
    return f"{value:.2g}" if 1e-4 < value < 0.01 else count(value)


def pair_table(study: ResolvedStudy, workload: str, against: pd.DataFrame) -> Table:
    """Return the table of statements that the SQL file compares: one row per pair, one column per variant.

    `against` holds the rows of the workload in against.csv; published ratios come last.
    """
    by_key = {(row.variant, row.statement, row.against): row for row in against.itertuples()}
    published_s = _published_s(study, workload, COLD)
    rows = [
        table_row(
            f"{name} / {other}",
            *(_pair_cell(by_key.get((variant, name, other))) for variant in compared_arms(study)),
            *(ratio(published.quotient(seconds, name, other)) for seconds in published_s.values()),
        )
        for name, other in _pairs(against)
    ]
    return Table(
        (*word_heads("statements"), *variant_heads(compared_arms(study)), *map(Head, published_s)), tuple(rows)
    )


def _pairs(against: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(against["statement"], against["against"], strict=True)))


def compared_arms(study: ResolvedStudy) -> list[str]:
    """Return the variants without A/A and relinks."""
    return [variant for variant in study.variants if variant not in CONTROLS]


def against_sentences(study: ResolvedStudy, workload: str, against: pd.DataFrame) -> Iterator[str]:
    """Yield one sentence per pair of statements from the rows of the workload in against.csv, then published ones."""
    by_key = {(row.variant, row.statement, row.against): row for row in against.itertuples()}
    published_s = _published_s(study, workload, COLD)
    for name, other in _pairs(against):
        rows = {variant: by_key.get((variant, name, other)) for variant in compared_arms(study)}
        texts = [
            f"{variant} {times(row.ratio)} ({_bounds(row)}, n {row.n_ok})"
            for variant, row in rows.items()
            if row is not None and not missing(row.ratio)
        ]
        quotients = {variant: published.quotient(seconds, name, other) for variant, seconds in published_s.items()}
        texts += [f"{variant} {times(value)}" for variant, value in quotients.items() if not missing(value)]
        yield f"Time of {name} / {other}: {', '.join(texts)}."


def _pair_cell(row: AgainstRow | None) -> Cell:
    if row is None:
        return Cell(NOTHING, (), "hole", "not sent, or not measured")
    return Cell(ratio(row.ratio), (_bounds(row), f"n {row.n_ok}"))


EFFORT_HEAD = (
    "statement", "", "variant", "seconds", "server CPU, s", "of the time", "read", "written", "rows", "answer",
)  # fmt: skip


def timed_sql_of(tables: Mapping[str, pd.DataFrame], name: str, workload: str) -> pd.DataFrame:
    """Return the rows of a workload in the table statements or against."""
    return tables[name][tables[name]["workload"] == workload]


def timed_workloads(study: ResolvedStudy) -> list[str]:
    """Return the workloads of timed SQL."""
    return [name for name in study.workloads if statements_name(study, name)]


def timed_sections(
    study: ResolvedStudy, tables: Mapping[str, pd.DataFrame], records: Records, figures: Mapping[str, str]
) -> list[Section]:
    """Return one section per workload of timed SQL. Reads the tables statements and against."""
    names = {name: figure for name in study.workloads if (figure := statements_name(study, name))}
    return [
        Section(
            f"timed-{number}",
            f"{name}, statement by statement",
            list(_timed_blocks(study, name, tables, records, Markup(figures[figure]))),
        )
        for number, (name, figure) in enumerate(names.items(), start=1)
    ]


def executions_of(records: Records, workload: str) -> Records:
    """Return the runs of a workload that have timed statements."""
    return [run for run in records if run.workload == workload and run.timed_sql]


COST_TEXT = (
    "Means over executions. Where CPU time is less than the seconds, the rest was spent waiting, mostly for storage. "
    "CPU time is counted in hundredths of a second."
)


def _timed_blocks(
    study: ResolvedStudy, workload: str, tables: Mapping[str, pd.DataFrame], records: Records, figure: Markup
) -> Iterator[PageBlock]:
    rows, against = (timed_sql_of(tables, name, workload) for name in ("statements", "against"))
    runs = executions_of(records, workload)
    until = "The time of a statement lasts from sending it to the last row of its answer."
    yield Prose(f"{cold_sentence(runs)} Every later pass is warm. {until}")
    yield from map(Prose, left_out(runs))
    if sentences := statement_sentences(study, rows):
        yield Items(sentences)
    if len(rows):
        yield Figures([figure], "wide")
    if pairs := pair_table(study, workload, against):
        yield Heading("Statement against statement")
        yield Prose(PAIRS_TEXT)
        yield pairs
    caches = [cache for cache in (COLD, WARM) if cache in set(rows["cache"])]
    yield from (statement_table(study, workload, rows, cache) for cache in caches)
    for name, table in shown_answers(study, runs).items():
        yield Heading(name)
        yield table
    costs = [_effort_rows(row, runs) for row in rows.itertuples()]
    summary = f"What each statement cost the server, and its answer: {len(costs)} rows"
    yield Fold(summary, (Prose(COST_TEXT), grid(EFFORT_HEAD, costs, 3)))
    texts = statement_texts(study, runs)
    named = [Verbatim(text, f"{name} ({variants})" if variants else name) for name, text, variants in texts]
    yield Fold(f"The statements: {len(texts)}", named)


PAIRS_TEXT = (
    "Ratio of the time of the first statement to that of the second, in the same run; intervals are t intervals over "
    "runs."
)


def cold_sentence(records: Records) -> str:
    """Return a sentence on how much of the data directory the page cache still held at the start of the cold pass."""
    left_bytes = [run.page_cache.left_bytes for run in records]
    most = max((amount for amount in left_bytes if amount is not None), default=0)
    start = "The first pass is cold: its server was just started on a fresh copy of the data"
    if any(run.sliced.method == STATEMENTS for run in records):
        start += ", whose files leave the page cache again before each statement"
    if not left_bytes or None in left_bytes:
        return f"{start}. Whether the page cache dropped the files of the copy is unknown."
    if most == 0:
        cached = "What disk and hypervisor cached is unknown"
        return f"{start}, and no byte of the copy was left in the page cache. {cached}."
    return f"{start}, but up to {size(most)} of the copy stayed in the page cache, as with a file system in memory."


def left_out(records: Records) -> list[str]:
    """Return one sentence per statement that some variants were not sent, which the total times leave out."""
    skipped: dict[str, list[str]] = {}
    for run in records:
        for name in run.timed_sql.skipped or []:
            skipped.setdefault(name, []).append(run.cell[0])
    whose = {name: listing(list(dict.fromkeys(variants))) for name, variants in skipped.items()}
    return [f"{name} does not apply to the release of {who}; total times leave it out." for name, who in whose.items()]


def _effort_rows(row: StatementRow, records: Records) -> tuple[str, ...]:
    """Return the cost of one statement with the fields of EFFORT_HEAD."""
    answers = {
        execution["answer_sha256"]
        for run in records
        for execution in run.timed_sql.executions or []
        if (run.variant, execution["statement"]) == (row.variant, row.statement)
    }
    answer = short(next(iter(answers))) if len(answers) == 1 else f"{len(answers)} different"
    time = (count(row.value_s), count(row.server_cpu_s), percent(row.server_cpu_s / row.value_s, 0))
    moved = (size(row.read_bytes), size(row.write_bytes))
    return (row.statement, row.cache, row.variant, *time, *moved, number(row.n_rows), answer)


def shown_answers(study: ResolvedStudy, records: Records) -> dict[str, Table]:
    """Return name -> the answers that the SQL file asks to show, from each variant's first run, without controls.

    Where the last pass has other answers than the first, such as the hits of a cache, a table has both.
    """
    by_name: dict[str, dict[str, list[Shown]]] = {}
    for variant in compared_arms(study):
        run = first_ok(records, variant=variant)
        answers = run.timed_sql.shown or [] if run else []
        for cache, number_of_pass in ((COLD, 1), (WARM, max((answer["pass"] for answer in answers), default=1))):
            for answer in (answer for answer in answers if answer["pass"] == number_of_pass):
                # MySQL 8 writes the columns of its own tables in capitals.
                columns = [name.lower() for name in answer["columns"]]
                rows = [(variant, dict(zip(columns, row, strict=True))) for row in answer["rows"]]
                by_name.setdefault(answer["name"], {}).setdefault(cache, []).extend(rows)
    return {name: _shown_table(passes) for name, passes in by_name.items()}


def _shown_table(passes: dict[str, list[Shown]]) -> Table:
    """Return the table of one answer; `passes` is cold and warm -> rows."""
    cold, warm = passes.get(COLD, []), passes.get(WARM, [])
    columns = list(dict.fromkeys(column for _, row in cold + warm for column in row))
    if cold == warm:
        return grid(("variant", *columns), [(variant, *_filled(row, columns)) for variant, row in cold])
    rows = [(variant, cache, *_filled(row, columns)) for cache, shown in passes.items() for variant, row in shown]
    return grid(("variant", "", *columns), rows)


def _filled(row: Answer, columns: list[str]) -> tuple[str, ...]:
    values = (row.get(column) for column in columns)
    return tuple(NOTHING if value is None else value for value in values)


def statement_texts(study: ResolvedStudy, records: Records) -> list[tuple[str, str, str]]:
    """Return (name, SQL, variants it was sent to) per statement; the last is empty where it was sent to all."""
    sent: dict[tuple[str, str], list[str]] = {}
    runs = {name: run for name in study.variants if (run := first_ok(records, variant=name))}
    for variant, run in runs.items():
        for statement in run.timed_sql.statements or []:
            sent.setdefault((statement["name"], statement["text"]), []).append(variant)
    return [(*key, "" if names == list(runs) else listing(names)) for key, names in sent.items()]
