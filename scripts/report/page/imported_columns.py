"""What the columns of runs.csv mean for a log that was made elsewhere."""

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis.run_columns import RUNS

MEANINGS = {
    "study": "name of the report",
    "variant": "variant, by the path of the log",
    "workload": "name of the load, by the path of the log",
    "clients": "concurrent connections: threads of sysbench",
    "repetition": "number of the log in its cell, from 1",
    "outcome": "ok, failed (no measurement), or missing (no log)",
    "reason": "why there is no measurement",
    "sysbench_version": "version of sysbench",
    "started_at": "when the call began, by the date of its log, seconds since 1970",
    "ended_at": "when the call ended, by the date of its log, seconds since 1970",
    "duration_s": "length of the whole call, seconds",
    "transactions": "transactions of the whole call, or events where there is none",
    "tps": "transactions over the length of the call",
    "qps": "queries over the length of the call",
    "latency_mean_ms": "mean latency, milliseconds",
    "p50_ms": "50th percentile of latency, as printed or from the histogram, milliseconds",
    "p95_ms": "95th percentile of latency, as printed or from the histogram, milliseconds",
    "p99_ms": "99th percentile of latency, as printed or from the histogram, milliseconds",
    "errors": "ignored errors of the whole call; before sysbench 1.0 deadlocks",
    "reconnects": "reconnects of the whole call",
    "interval_cv": "standard deviation of TPS of the intervals over their mean: the spread within the call",
    "rise": "log of TPS in the second half of the intervals over the first half",
    "warnings": "number of warnings about the log",
    "warning_codes": "codes of these warnings, separated by ;",
    "file": "the record of the log",
    "log": "the log, below the folder of the logs",
}


def columns_of(study: ResolvedStudy, runs: pd.DataFrame) -> dict[str, str]:
    """Return name -> meaning of the columns of runs.csv, of an import of those that some log fills."""
    if not study.is_imported:
        return {column.name: column.meaning for column in RUNS}
    filled = [column for column in RUNS if runs[column.name].notna().any() and column.name != "block"]
    return {column.name: MEANINGS.get(column.name, column.meaning) for column in filled}
