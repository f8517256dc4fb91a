"""The data dictionary of a study's tables: every column with meaning and unit, as values and as a text."""

from collections.abc import Iterable
from pathlib import Path

from scripts.report.analysis import run_columns, table_columns
from scripts.report.analysis.columns import TEXT, CsvTable
from scripts.report.analysis.metrics import METRICS

TABLES: dict[str, CsvTable] = {table.name: table for table in (
    run_columns.RUNS, table_columns.COMPARISONS, table_columns.CELLS, table_columns.OVERALL,
    table_columns.OVERALL_UNFLAGGED, table_columns.CALIBRATION, table_columns.RELINKS, table_columns.FACTORS,
    table_columns.EFFECTS, table_columns.LADDER, table_columns.BOUNDS, run_columns.SERIES, run_columns.COUNTER_SERIES,
    run_columns.FILES, table_columns.EXECUTIONS, table_columns.STATEMENTS, table_columns.AGAINST,
    run_columns.OPERATIONS,
)}  # fmt: skip
# Tables that only a study of imported logs has.
IMPORTED: dict[str, CsvTable] = {table_columns.LEVELS.name: table_columns.LEVELS}
# A text that looks like a number is read as a text.
TEXT_COLUMNS = {
    column.name for table in (*TABLES.values(), *IMPORTED.values()) for column in table if column.unit == TEXT
}
INTRODUCTION = """# Tables of {study}

Comma-separated, UTF-8, one header line. An empty field is a value that is missing: never zero. `results.json` holds the
same tables, except `series.csv`, `counters.csv` and `files.csv` (the run files have their values too), with this text:
each table is a list of rows, missing values are `null`. A text that a spreadsheet would take for a formula, since it
begins with `=`, `+`, `-` or `@` and is no number, has a `'` before it in the CSV files, and none in `results.json`.
Everything is computed from the run files that the column `file` of `runs.csv` names.
"""
DICTIONARY_HEAD = ("| column | unit | meaning |", "|---|---|---|")


def files(folder: Path) -> dict[str, Path]:
    """Return the CSV file of each table in a study's folder of tables; of IMPORTED only those that exist."""
    tables = {name: folder / f"{name}.csv" for name in (*TABLES, *IMPORTED)}
    return {name: file for name, file in tables.items() if name in TABLES or file.exists()}


def text(study: str, imported: Iterable[str] = ()) -> str:
    """Return the dictionary as Markdown; `imported` names the tables of IMPORTED that the study has."""
    parts = [INTRODUCTION.format(study=study)]
    for table in (*TABLES.values(), *(IMPORTED[name] for name in imported)):
        lines = [f"| `{column.name}` | {column.unit} | {field(column.meaning)} |" for column in table]
        parts.append("\n".join([f"## {table.name}.csv\n\nOne row is {table.row}.\n", *DICTIONARY_HEAD, *lines, ""]))
    metrics = [f"| `{metric.name}` | {metric.heading} | {field(metric.meaning)} |" for metric in METRICS.values()]
    return "\n".join([*parts, "## Metrics\n", "| name | heading | meaning |", "|---|---|---|", *metrics, ""])


def field(meaning: str) -> str:
    """Return a text escaped for a field of a Markdown table."""
    return meaning.replace("|", "\\|")
