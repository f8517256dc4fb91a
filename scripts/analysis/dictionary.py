"""The data dictionary of a study's tables: every column with meaning and unit, as values and as a text."""

from collections.abc import Iterable

from scripts.analysis import run_tables, tables
from scripts.analysis.columns import Table
from scripts.analysis.metrics import METRICS

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        run_tables.RUNS,
        tables.COMPARISONS,
        tables.CELLS,
        tables.OVERALL,
        tables.OVERALL_UNFLAGGED,
        tables.CALIBRATION,
        tables.RELINKS,
        tables.FACTORS,
        tables.EFFECTS,
        tables.LADDER,
        tables.BOUNDS,
        run_tables.SERIES,
        run_tables.COUNTER_SERIES,
        run_tables.FILES,
        tables.EXECUTIONS,
        tables.STATEMENTS,
        tables.AGAINST,
        run_tables.OPERATIONS,
    )
}
# Tables that only a study of imported logs has.
IMPORTED: dict[str, Table] = {tables.LEVELS.name: tables.LEVELS}
INTRODUCTION = """# Tables of {study}

Comma-separated, UTF-8, one header line. An empty field is a value that is missing: never zero. `results.json` holds the
same tables, except `series.csv`, `counters.csv` and `files.csv` (the run files have their values too), with this text:
each table is a list of rows, missing values are `null`. A text that a spreadsheet would take for a formula, since it
begins with `=`, `+`, `-` or `@` and is no number, has a `'` before it in the CSV files, and none in `results.json`.
Everything is computed from the run files that the column `file` of `runs.csv` names.
"""
DICTIONARY_HEAD = ("| column | unit | meaning |", "|---|---|---|")


def text(study: str, own: Iterable[str] = ()) -> str:
    """Return the dictionary as Markdown; `own` names the tables of IMPORTED that the study has."""
    parts = [INTRODUCTION.format(study=study)]
    for table in (*TABLES.values(), *(IMPORTED[name] for name in own)):
        lines = [f"| `{column.name}` | {column.unit} | {field(column.meaning)} |" for column in table]
        parts.append("\n".join([f"## {table.name}.csv\n\nOne row is {table.row}.\n", *DICTIONARY_HEAD, *lines, ""]))
    metrics = [f"| `{metric.name}` | {metric.heading} | {field(metric.meaning)} |" for metric in METRICS.values()]
    return "\n".join([*parts, "## Metrics\n", "| name | heading | meaning |", "|---|---|---|", *metrics, ""])


def field(meaning: str) -> str:
    """Return a text escaped for a field of a Markdown table."""
    return meaning.replace("|", "\\|")
