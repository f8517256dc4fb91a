"""The data dictionary of a study's tables: every column with meaning and unit, as values and as a text."""

import re
from dataclasses import dataclass

from scripts import vocabulary
from scripts.analysis import runs, timed_sql
from scripts.analysis.metrics import COUNTERS, METRICS

NAMED = {
    "variant": "arm of the experiment; aa is the reference a second time",
    "workload": runs.FACT_COLUMNS["workload"][1],
    "clients": runs.FACT_COLUMNS["clients"][1],
    "repetition": runs.FACT_COLUMNS["repetition"][1],
    "metric": "column of runs.csv that is compared, see Metrics",
}
ESTIMATE = {
    "log_ratio": "mean log ratio",
    "ratio": "exp of log_ratio: the geometric mean of the ratios",
    "ratio_low": "lower end of the 95 % t interval",
    "ratio_high": "upper end of the 95 % t interval",
}
FLOOR = "noise floor of the metric, as in noise.csv"
OVER_CELLS = {
    "log_ratio": "mean over cells of each cell's mean log ratio",
    "ratio": ESTIMATE["ratio"],
    "ratio_low": "lower end of the 95 % interval over repetitions",
    "ratio_high": "upper end of the 95 % interval over repetitions",
    "n_cells": "cells with at least one pair of runs",
    "n_cells_planned": "cells of the study",
    "n_repetitions": "repetitions in which every compared cell has its pair",
    "n_blocks_least": "pairs of the cell that has fewest",
    "n_pairs": "pairs of all cells that count",
    "p_t": "two-sided p of the mean over cells, Student's t",
    "floor_log_ratio": FLOOR,
}
COMPARISONS = {
    **{name: NAMED[name] for name in vocabulary.CELL},
    "repetition": NAMED["repetition"],
    "status": "paired; split: not the same host, boot or sysbench, or too far apart; "
    "incomplete: one run is not ok; unpaired: imported, blocks unknown",
    "note": "why the pair does not count",
    "flagged": "one of the two runs has a warning that not every run of the study has",
    "metric": NAMED["metric"],
    "value": "of the variant's run",
    "reference_value": "of the reference's run in the same block",
    "log_ratio": "log of value over reference_value; empty unless paired and both above zero",
    "ratio": "value over reference_value; empty where log_ratio is",
}
CELLS = {
    **{name: NAMED[name] for name in vocabulary.CELL},
    "n_runs": "planned runs of the cell",
    "n_ok": "runs that gave a measurement",
    "metric": NAMED["metric"],
    "value": "geometric mean over the runs that gave a measurement",
    "n_blocks": "pairs with the reference that count; empty for the reference",
    "n_split": "pairs left out because they are split",
    "n_incomplete": "pairs left out because one of the two runs is not ok",
    **ESTIMATE,
    "log_ratio": "mean over blocks of the log ratio",
    "p_t": "two-sided p of the paired t test on the log ratios",
    "p_sign_flip": "exact two-sided p of the sign-flip test, shown and not deciding",
    "p_holm": "p_t adjusted by Holm over all variants and cells of the metric, without A/A",
    "floor_log_ratio": FLOOR,
    "word": "the verdict: the metric's word, no difference shown, too few blocks, or no noise floor",
}
OVERALL = {
    "variant": NAMED["variant"],
    "metric": NAMED["metric"],
    **OVER_CELLS,
    **{
        f"{end}_{key}": f"{what} of the cell with the {end} ratio"
        for end in ("lowest", "highest")
        for key, what in {"ratio": "ratio", "workload": "workload", "clients": "clients"}.items()
    },
    "n_above": "cells whose word is the metric's for a ratio above 1",
    "n_below": "cells whose word is the metric's for a ratio below 1",
    "n_no_difference": "cells in which no difference is shown",
    "n_wordless": "cells with too few blocks or without a noise floor",
    "n_flagged": "pairs that count and of which a run has a warning that not every run of the study has",
    "p_holm": "p_t adjusted by Holm over the variants of the metric, without A/A",
    "word": "the verdict on the mean over cells; empty for A/A",
}
NOISE = {
    "metric": NAMED["metric"],
    "floor_log_ratio": "noise floor: the larger of the next two",
    "floor_from_blocks": "95th percentile of |A/A log ratio| over all blocks, over the root of the blocks of a cell",
    "floor_from_cells": "95th percentile over cells of |mean A/A log ratio|",
    "n_cells": "cells with an A/A pair",
    "n_blocks": "blocks with an A/A pair",
}
FACTORS = {
    "factor": "what the variants differ in, or the interaction of two factors",
    "formula": "variants whose values are divided",
    "server": "server they are builds of",
    "metric": NAMED["metric"],
    **OVER_CELLS,
    "p_holm": "p_t adjusted by Holm over the factors of the metric, without interactions",
    "word": "the verdict; empty for an interaction",
}
EFFECTS = {
    "factor": "factor of the matrix, or factors of an interaction",
    "formula": "levels set against each other; in the mean of logs over the levels of all other factors",
    "n_factors": "factors that take part: 1 for a main effect",
    "workload": f"{NAMED['workload']}; empty over all cells",
    "clients": f"{NAMED['clients']}; empty over all cells",
    "metric": NAMED["metric"],
    **OVER_CELLS,
    "n_cells": "cells with at least one whole block",
    "n_repetitions": "repetitions in which every compared cell has its whole block",
    "n_blocks_least": "whole blocks of the cell that has fewest",
    "n_pairs": "whole blocks of all cells that count",
    "floor_log_ratio": "noise floor of the metric, larger where the effect has more terms than a pair",
    "p_holm": "p_t adjusted by Holm over all effects of the metric; empty for a cell",
    "word": "the verdict, over all cells only; of an interaction: whether one is shown",
}
BOUNDS = {
    **{name: NAMED[name] for name in vocabulary.CELL},
    "n_runs": "planned runs of the cell",
    "n_measured": "ok runs whose CPU time is known: all that follows is over these",
    **{name: runs.DERIVED_COLUMNS[name] for name in ("n_server_cpus", "n_client_cpus", "n_shared_cpus")},
    "virtualisation": runs.FACT_COLUMNS["virtualisation"][1],
    "server_share": "CPU time of the server's processes, of all CPU time of the host in the windows",
    "client_share": "CPU time of sysbench, of the same",
    "other_share": "CPU time of everything else on the host, of the same",
    "iowait_share": "idle with a disk at work, of the same",
    "steal_share": "given to others by the hypervisor, of the same",
    "idle_share": "the rest",
    "server_busy": "CPU time of the server, of what it could use: a CPU for each connection, up to its CPUs",
    "client_busy": "CPU time of sysbench, of what it could use",
    "bound": "what set the pace: server CPU, load generator, or waiting",
}
EXECUTIONS = {**{name: NAMED[name] for name in (*vocabulary.CELL, "repetition")}, **timed_sql.EXECUTIONS}
STATEMENTS = {
    **{name: NAMED[name] for name in vocabulary.CELL},
    **timed_sql.STATEMENTS,
    **{name: CELLS[name] for name in timed_sql.JUDGED},
    "p_holm": "p_t adjusted by Holm over all variants and statements, cold and warm apart, without A/A",
    "floor_log_ratio": "noise floor over all statements, cold and warm apart",
}
# table: (one row is, meaning of its columns)
TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "runs": ("a run", {name: meaning for name, (_, meaning) in runs.FACT_COLUMNS.items()} | runs.DERIVED_COLUMNS),
    "comparisons": ("a run beside the reference's of its block, and metric", COMPARISONS),
    "cells": ("a cell and metric", CELLS),
    "overall": ("a variant and metric, over all cells", OVERALL),
    "overall_unflagged": ("a variant and metric: overall.csv as if flagged pairs had not been measured", OVERALL),
    "noise": ("a metric: how far apart the same bytes measure", NOISE),
    "factors": ("a factor of the builds and metric, over all cells", FACTORS),
    "effects": ("an effect of the matrix and metric, over all cells, then cell by cell", EFFECTS),
    "bounds": ("a cell: who used the CPUs", BOUNDS),
    "series": ("a second of a run", runs.SERIES_COLUMNS),
    "counters": ("a reading of the server's counters, in runs of a study with `series`", runs.SAMPLE_COLUMNS),
    "files": ("a part of a run's data directory", runs.FILE_COLUMNS),
    "executions": ("an execution of a statement of timed SQL", EXECUTIONS),
    "statements": ("a variant and statement of timed SQL, cold or warm", STATEMENTS),
    "operations": ("an operation of a run, where the load's script tells them apart", runs.OPERATION_COLUMNS),
}


TEXT_UNIT, COUNT_UNIT, BOOLEAN_UNIT = "text", "count", "true or false"
# how a column's name tells its unit: the first pattern found decides
UNITS = (
    (r"^(clients|repetition|position|run_number|cpus|transactions|second|pass)$|^n_|_clients$", COUNT_UNIT),
    (r"^(errors|reconnects|warnings|context_switches|calls)$", COUNT_UNIT),
    (r"^flagged$", BOOLEAN_UNIT),
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
DICTIONARY_HEAD = ("| column | unit | meaning |", "|---|---|---|")


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
        return COUNT_UNIT
    if name in runs.TEXT_COLUMNS | {"factor", "formula", "part", "kind"} or name.endswith("_workload"):
        return TEXT_UNIT
    found = next((unit for pattern, unit in UNITS if re.search(pattern, name)), None)
    if found is None:
        raise ValueError(f"column {name}: its name tells no unit; expected one of scripts.data_dictionary.UNITS")
    return found


def text(study: str) -> str:
    """Return the dictionary as Markdown."""
    parts = [INTRODUCTION.format(study=study)]
    for table, (row, _) in TABLES.items():
        lines = [f"| `{name}` | {column.unit} | {field(column.meaning)} |" for name, column in columns(table).items()]
        parts.append("\n".join([f"## {table}.csv\n\nOne row is {row}.\n", *DICTIONARY_HEAD, *lines, ""]))
    metrics = [f"| `{metric.name}` | {metric.heading} | {field(metric.meaning)} |" for metric in METRICS.values()]
    return "\n".join([*parts, "## Metrics\n", "| name | heading | meaning |", "|---|---|---|", *metrics, ""])


def field(meaning: str) -> str:
    """Return a text for a field of a Markdown table."""
    return meaning.replace("|", "\\|")
