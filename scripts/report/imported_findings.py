"""The findings of an imported study: what logs made elsewhere can show, and what they cannot."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd

from scripts.analysis.metrics import METRICS
from scripts.report.finding import Finding, Topic
from scripts.report.findings import outcomes_finding
from scripts.vocabulary import WORKLOAD_CLIENTS
from scripts.wording import listing, plural

VERDICTS = Topic("verdicts", "Verdicts")
PAIRS = Topic("pairs", "Pairs")
ORDER = Topic("order", "Order")
FILES = Topic("files", "Files")
SYSBENCH = Topic("sysbench", "sysbench")
WARNINGS = Topic("warnings", "Warnings")
LATENCY = Topic("latency", "Latency")
SPAN = Topic("span", "Span")
ABSENT = Topic("absent", "Not in these logs")
LOGS = Topic("logs", "Runs")
VERDICT_TEXT = (
    "The runs were not made in blocks, so nothing is called faster or slower. Ratios are shown with their intervals."
)
PAIRS_TEXT = (
    "Which runs were made next to each other is unknown. Intervals come from the spread between the repetitions of "
    "each side (Welch 1947): they include chance, but not a change of the machine between the two sides."
)
SPAN_TEXT = (
    "Each figure covers a whole call of sysbench, including its first seconds: transactions over the time of the call. "
    "A warm-up within the call is included."
)
ABSENT_TEXT = (
    "Server CPU per transaction, host, placement, server options, warm-up, builds with their flags and audits, and the "
    "differential check: a log of sysbench has none of these."
)


def findings(study: dict[str, Any], runs: pd.DataFrame) -> list[Finding]:
    """Return the findings in the order to show; `study["imported"]` holds folder, files, unread, pattern and dates."""
    imported = study["imported"]
    return [
        VERDICTS.look(VERDICT_TEXT),
        PAIRS.look(PAIRS_TEXT),
        order_finding(runs),
        unread_finding(imported),
        failures_finding(runs),
        releases_finding(runs),
        warnings_finding(runs),
        percentiles_finding(runs),
        SPAN.plain(SPAN_TEXT),
        ABSENT.plain(ABSENT_TEXT),
    ]


def order_finding(runs: pd.DataFrame) -> Finding:
    """Report whether the variants were measured in turns, as far as the dates of the logs show it."""
    timed = runs[runs["started_at"].notna()].sort_values("started_at")
    if len(timed) < (runs["outcome"] == "ok").sum():
        return ORDER.look("When the runs were made is unknown: a drift of the machine would look like an effect.")
    cells = [list(rows["variant"]) for _, rows in timed.groupby(list(WORKLOAD_CLIENTS)) if len(rows) > 1]
    apart = [cell for cell in cells if _stretches(cell) == len(set(cell)) < len(cell)]
    if apart:
        text = f"In {len(apart)} of {plural(len(cells), 'cell')} all runs of one variant were made before those of the "
        return ORDER.look(f"{text}next variant: a drift of the machine would look like an effect.")
    return ORDER.plain("According to the dates of the logs, the variants were measured in turns.")


def _stretches(variants: list[str]) -> int:
    return 1 + sum(before != after for before, after in pairwise(variants))


def unread_finding(imported: dict[str, Any]) -> Finding:
    """Report the files that could not be read, with the reasons."""
    lost = imported["unread"]
    files = f"{imported['files']} of {plural(imported['files'] + len(lost), 'file')} in {imported['folder']}"
    details = tuple(f"{file}: {reason}" for file, reason in lost)
    return FILES.judged(not lost, f"{files} were read with the pattern {imported['pattern']}.", details)


def failures_finding(runs: pd.DataFrame) -> Finding:
    """Count the logs with a measurement; list the others with sysbench's messages."""
    ok = int((runs["outcome"] == "ok").sum())
    failed = f"; {plural(len(runs) - ok, 'log')} end in a failure" if ok < len(runs) else ""
    return replace(outcomes_finding(runs, LOGS), text=f"{ok} of {plural(len(runs), 'log')} have a measurement{failed}.")


def releases_finding(runs: pd.DataFrame) -> Finding:
    """List the releases of sysbench; cells whose sides differ in it have no ratio."""
    found = runs.groupby("sysbench_version").size()
    text = listing([f"{version} in {plural(int(amount), 'log')}" for version, amount in found.items()])
    if len(found) < 2:
        return SYSBENCH.plain(f"{text}.")
    by_cell = runs[runs["outcome"] == "ok"].groupby(list(WORKLOAD_CLIENTS))["sysbench_version"].nunique()
    mixed = f"{plural(int((by_cell > 1).sum()), 'cell')} with more than one release"
    return SYSBENCH.look(f"{text}; {mixed}. A ratio is given only within one release.")


def warnings_finding(runs: pd.DataFrame) -> Finding:
    """Count the warnings: a log can show only errors, reconnects and drift within a call."""
    codes = runs["warning_codes"].astype(object).fillna("").str.split(";").explode()
    counted = codes[codes != ""].value_counts()
    if counted.empty:
        return WARNINGS.good("No log shows errors, reconnects or a drift of throughput.")
    text = listing([f"{code} in {plural(int(amount), 'run')}" for code, amount in counted.items()])
    return WARNINGS.look(f"{text[0].upper()}{text[1:]}. None was dropped.")


def percentiles_finding(runs: pd.DataFrame) -> Finding:
    """List the percentiles of latency that are known."""
    known = [name for name in ("p50_ms", "p95_ms", "p99_ms") if runs[name].notna().any()]
    text = listing([METRICS[name].label for name in known]) or "No percentile"
    return LATENCY.plain(f"{text}: of the whole call, as sysbench printed it or from its histogram.")
