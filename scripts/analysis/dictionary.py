"""The data dictionary of a study's tables: every column with meaning and unit, as values and as a text."""

import re

from scripts.analysis import runs, tables
from scripts.analysis.columns import COUNT, TEXT, Column, Table
from scripts.analysis.metrics import COUNTERS, METRICS

# How the name of a column of `scripts.analysis.runs` tells its unit: the first pattern found decides.
UNITS = (
    (r"^(clients|repetition|position|run_number|cpus|transactions|second|pass)$|^n_|_clients$", COUNT),
    (r"^(errors|reconnects|warnings|context_switches|calls)$", COUNT),
    (r"_us_per_tx$", "µs per transaction"),
    (r"_at$", "s since 1970, UTC"),
    (r"_share$", "share, 0 to 1"),
    (r"_bytes$", "bytes"),
    (r"_ms$", "ms"),
    (r"_bytes_per_s$", "bytes/s"),
    (r"^(tps|qps)$|_per_s$", "1/s"),
    (r"_s$", "s"),
)


def unit(name: str) -> str:
    """Return the unit of a column of `scripts.analysis.runs`. Raises ValueError when no pattern fits its name."""
    if name in COUNTERS and not name.endswith("_bytes"):
        return COUNT
    if name in runs.TEXT_COLUMNS | {"part", "kind"}:
        return TEXT
    found = next((unit for pattern, unit in UNITS if re.search(pattern, name)), None)
    if found is None:
        raise ValueError(f"column {name}: its name tells no unit; expected one of scripts.analysis.dictionary.UNITS")
    return found


def _table(name: str, row: str, meanings: dict[str, str]) -> Table:
    return Table(name, row, tuple(Column(column, meaning, unit(column)) for column, meaning in meanings.items()))


RUNS = {name: meaning for name, (_, meaning) in runs.FACT_COLUMNS.items()} | runs.DERIVED_COLUMNS
TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        _table("runs", "a run", RUNS),
        tables.COMPARISONS,
        tables.CELLS,
        tables.OVERALL,
        tables.OVERALL_UNFLAGGED,
        tables.NOISE,
        tables.FACTORS,
        tables.EFFECTS,
        tables.BOUNDS,
        _table("series", "a second of a run", runs.SERIES_COLUMNS),
        _table(
            "counters",
            "a reading of the server's counters, in runs of a study with `series`",
            runs.SAMPLE_COLUMNS,
        ),
        _table("files", "a part of a run's data directory", runs.FILE_COLUMNS),
        tables.EXECUTIONS,
        tables.STATEMENTS,
        _table(
            "operations",
            "an operation of a run, where the load's script tells them apart",
            runs.OPERATION_COLUMNS,
        ),
    )
}
INTRODUCTION = """# Tables of {study}

Comma-separated, UTF-8, one header line. An empty field is a value that is missing: never zero. `results.json` holds the
same tables, except `series.csv`, `counters.csv` and `files.csv` (the run files have their values too), with this text:
each table is a list of rows,
missing values are `null`. Everything is computed from the run files that the column `file` of `runs.csv` names.
"""
DICTIONARY_HEAD = ("| column | unit | meaning |", "|---|---|---|")


def text(study: str) -> str:
    """Return the dictionary as Markdown."""
    parts = [INTRODUCTION.format(study=study)]
    for table in TABLES.values():
        lines = [f"| `{column.name}` | {column.unit} | {field(column.meaning)} |" for column in table]
        parts.append("\n".join([f"## {table.name}.csv\n\nOne row is {table.row}.\n", *DICTIONARY_HEAD, *lines, ""]))
    metrics = [f"| `{metric.name}` | {metric.heading} | {field(metric.meaning)} |" for metric in METRICS.values()]
    return "\n".join([*parts, "## Metrics\n", "| name | heading | meaning |", "|---|---|---|", *metrics, ""])


def field(meaning: str) -> str:
    """Return a text escaped for a field of a Markdown table."""
    return meaning.replace("|", "\\|")
