"""The data dictionary of a study's tables: every column with meaning and unit, as values and as a text."""

import re
from dataclasses import dataclass

from scripts import tables
from scripts.column_meanings import TABLES
from scripts.counters import COUNTERS
from scripts.metrics import METRICS

TEXT, COUNT, BOOLEAN = "text", "count", "true or false"
# how a column's name tells its unit: the first pattern found decides
UNITS = (
    (r"^(clients|repetition|position|run_number|cpus|transactions|second|pass)$|^n_|_clients$", COUNT),
    (r"^(errors|reconnects|warnings|context_switches|calls)$", COUNT),
    (r"^flagged$", BOOLEAN),
    (r"^(reference_)?value$", "that of the metric"),
    (r"log_ratio$|^floor_from_", "natural logarithm of a ratio"),
    (r"ratio", "ratio"),
    (r"^p_(t|sign_flip|holm)", "probability"),
    (r"_us_per_tx$", "µs per transaction"),
    (r"_per_tx$", "per transaction"),
    (r"_at$", "s since 1970, UTC"),
    (r"_share$", "share, 0 to 1"),
    (r"_busy$", "share"),
    (r"_bytes$", "bytes"),
    (r"_mib$", "MiB"),
    (r"_ms$", "ms"),
    (r"_us$", "µs"),
    (r"_bytes_per_s$", "bytes/s"),
    (r"^(tps|qps)$|_per_s$", "1/s"),
    (r"_s$", "s"),
)
INTRODUCTION = """# Tables of {study}

Comma-separated, UTF-8, one header line. An empty field is a value that is missing: never zero. `results.json` holds the
same tables, except `series.csv`, `counters.csv` and `files.csv` (the run files have their values too), with this text:
each table is a list of rows,
missing values are `null`. Everything is computed from the run files that the column `file` of `runs.csv` names.
"""
HEAD = ("| column | unit | meaning |", "|---|---|---|")


@dataclass(frozen=True)
class Column:
    """What stands in a column. `unit` is text, count, true or false, or the unit of a decimal number."""

    meaning: str
    unit: str


def columns(table: str) -> dict[str, Column]:
    """Return the columns of a table by name, in its order."""
    return {name: Column(meaning, unit(name)) for name, meaning in TABLES[table][1].items()}


def unit(name: str) -> str:
    """Return the unit of a column. Raises ValueError when its name tells none."""
    if name in COUNTERS and not name.endswith("_bytes"):
        return COUNT
    if name in tables.TEXT | {"factor", "formula", "part", "kind"} or name.endswith("_workload"):
        return TEXT
    found = next((unit for pattern, unit in UNITS if re.search(pattern, name)), None)
    if found is None:
        raise ValueError(f"column {name}: its name tells no unit; expected one of scripts.data_dictionary.UNITS")
    return found


def text(study: str) -> str:
    """Return the dictionary as Markdown."""
    parts = [INTRODUCTION.format(study=study)]
    for table, (row, _) in TABLES.items():
        lines = [f"| `{name}` | {column.unit} | {field(column.meaning)} |" for name, column in columns(table).items()]
        parts.append("\n".join([f"## {table}.csv\n\nOne row is {row}.\n", *HEAD, *lines, ""]))
    metrics = [f"| `{metric.name}` | {metric.heading} | {field(metric.meaning)} |" for metric in METRICS.values()]
    return "\n".join([*parts, "## Metrics\n", "| name | heading | meaning |", "|---|---|---|", *metrics, ""])


def field(meaning: str) -> str:
    """Return a text for a field of a Markdown table."""
    return meaning.replace("|", "\\|")
