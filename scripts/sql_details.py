"""Timed SQL for the page: how it was done, what it cost, what its statements are, and what they showed."""

from typing import Any

import pandas as pd
from markupsafe import Markup

from scripts.comparison import AA
from scripts.drawing import statements_name
from scripts.run_details import first_ok
from scripts.sql_compared import Records, Study, against, against_sentences, sentences, statement_table
from scripts.sql_times import COLD, WARM
from scripts.wording import NOTHING, count, listing, number, percent, short, size

EFFORT_HEAD = (
    "statement", "", "variant", "seconds", "server CPU, s", "of the time", "read", "written", "rows", "answer",
)  # fmt: skip


def views(study: Study, table: pd.DataFrame, records: Records, figures: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return workload -> what the page shows of it, of those that are timed SQL. `table` is statements.csv."""
    timed = {name: figure for name in study["workloads"] if (figure := statements_name(study, name))}
    return {
        name: _view(study, name, table[table["workload"] == name], _facts(records, name), Markup(figures[figure]))
        for name, figure in timed.items()
    }


def _facts(records: Records, workload: str) -> Records:
    return [each for each in records if each[1]["workload"] == workload and "timed_sql" in each[1]]


def _view(study: Study, name: str, rows: pd.DataFrame, records: Records, figure: Markup) -> dict[str, Any]:
    caches = [cache for cache in (COLD, WARM) if cache in set(rows["cache"])]
    within = against(study, name, records)
    return {
        "figure": figure if len(rows) else "",
        "cold": cold_sentence(records),
        "left_out": left_out(records),
        "sentences": sentences(study, rows),
        "tables": [statement_table(study, name, rows, cache) for cache in caches],
        "against": within,
        "against_sentences": against_sentences(within),
        "effort_head": EFFORT_HEAD,
        "efforts": [_effort(row, records) for row in rows.itertuples()],
        "shown": shown(study, records),
        "texts": texts(study, records),
    }


def cold_sentence(records: Records) -> str:
    """Tell how cold the first pass was: what of the data directory's files stayed in the page cache."""
    left = [(facts.get("page_cache") or {}).get("left_bytes") for _, facts in records]
    start = "The first pass is cold: its server was just started on a fresh copy of the data"
    if not left or None in left:
        return f"{start}. Whether the page cache gave up the copy's files could not be told."
    if max(left) == 0:
        kept = "What disk and hypervisor kept is unknown"
        return f"{start}, and none of the copy's bytes was left in the page cache. {kept}."
    why = "as it does in a file system in memory"
    return f"{start}, but up to {size(max(left))} of the copy stayed in the page cache, {why}."


def left_out(records: Records) -> list[str]:
    """Tell which statements some variants were not sent, which the times of the whole leave out."""
    skipped: dict[str, list[str]] = {}
    for _, facts in records:
        for name in facts["timed_sql"]["skipped"]:
            skipped.setdefault(name, []).append(facts["variant"])
    whose = {name: listing(list(dict.fromkeys(variants))) for name, variants in skipped.items()}
    return [
        f"{name} is not for the release of {who}; the times of the whole leave it out." for name, who in whose.items()
    ]


def _effort(row: Any, records: Records) -> tuple[str, ...]:
    """Return what one statement cost the server: EFFORT_HEAD."""
    found = {
        one["answer_sha256"]
        for _, facts in records
        for one in facts["timed_sql"]["executions"]
        if (facts["variant"], one["statement"]) == (row.variant, row.statement)
    }
    answer = short(next(iter(found))) if len(found) == 1 else f"{len(found)} different"
    taken = (count(row.value_s), count(row.server_cpu_s), percent(row.server_cpu_s / row.value_s, 0))
    moved = (size(row.read_bytes), size(row.write_bytes))
    return (row.statement, row.cache, row.variant, *taken, *moved, number(row.n_rows), answer)


def shown(study: Study, records: Records) -> list[dict[str, Any]]:
    """Return the tables that the file has shown, of each variant's first run and pass; A/A shows the reference's."""
    found: dict[str, dict[str, Any]] = {}
    for variant in (name for name in study["variants"] if name != AA):
        facts = first_ok(records, variant=variant)
        for one in facts["timed_sql"]["shown"] if facts else []:
            if one["pass"] == 1:
                table, columns = found.setdefault(one["name"], {"head": [], "rows": []}), _lower(one["columns"])
                table["head"] += [name for name in columns if name not in table["head"]]
                table["rows"] += [(variant, dict(zip(columns, row, strict=True))) for row in one["rows"]]
    return [
        {
            "name": name,
            "head": ["variant", *table["head"]],
            "rows": [_filled(*row, table["head"]) for row in table["rows"]],
        }
        for name, table in found.items()
    ]


def _filled(variant: str, row: dict[str, str | None], columns: list[str]) -> tuple[str, ...]:
    return (variant, *(NOTHING if row.get(column) is None else row[column] for column in columns))


def _lower(columns: list[str]) -> list[str]:
    """Return names of columns as all families write them: MySQL 8 has those of its own tables in capitals."""
    return [name.lower() for name in columns]


def texts(study: Study, records: Records) -> list[tuple[str, str, str]]:
    """Return (name, SQL, variants it was sent to) of all statements; nothing as variants where all were."""
    sent: dict[tuple[str, str], list[str]] = {}
    variants = [name for name in study["variants"] if first_ok(records, variant=name)]
    for variant in variants:
        for one in first_ok(records, variant=variant)["timed_sql"]["statements"]:
            sent.setdefault((one["name"], one["text"]), []).append(variant)
    return [(*key, "" if names == variants else listing(names)) for key, names in sent.items()]
