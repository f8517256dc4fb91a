"""What logs that were made elsewhere can and cannot show: the findings of an imported study."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd

from scripts.analysis.metrics import METRICS
from scripts.report.findings import outcomes_finding
from scripts.report.verdict import Finding
from scripts.vocabulary import CELL
from scripts.wording import listing, plural

NOISE = (
    "No noise floor: the logs hold no run of the same build against itself, so nothing is called faster or slower. "
    "Ratios stand with their intervals."
)
PAIRING = (
    "No pair of runs is known to have been made next to each other. Intervals come from the spread between the "
    "repetitions of either side (Welch 1947): they hold chance, but no change of the machine between the two sides."
)
SPAN = (
    "Each figure is that of a whole call of sysbench, its first seconds included: transactions over the time it took. "
    "A warm-up within the call is in the figures."
)
ABSENT = (
    "Server CPU per transaction, host, placement, server options, warm-up, builds with their flags and audits, and the "
    "differential check: a log of sysbench tells nothing of them."
)


def findings(study: dict[str, Any], runs: pd.DataFrame) -> list[Finding]:
    """Return the findings in the order to show; `study["imported"]` holds folder, files, unread, pattern and dates."""
    told = study["imported"]
    return [
        Finding("Noise floor", "look", NOISE),
        Finding("Pairs", "look", PAIRING),
        order(runs),
        unread(told),
        failed(runs),
        releases(runs),
        warned(runs),
        percentiles(runs),
        Finding("Span", "plain", SPAN),
        Finding("Not in these logs", "plain", ABSENT),
    ]


def order(runs: pd.DataFrame) -> Finding:
    """Tell whether the variants were measured in turns, as far as the logs' dates show it."""
    timed = runs[runs["started_at"].notna()].sort_values("started_at")
    if len(timed) < (runs["outcome"] == "ok").sum():
        return Finding("Order", "look", "When the runs were made is unknown: a drift looks like an effect.")
    cells = [list(rows["variant"]) for _, rows in timed.groupby(["workload", "clients"]) if len(rows) > 1]
    apart = [cell for cell in cells if _stretches(cell) == len(set(cell)) < len(cell)]
    if apart:
        text = f"In {len(apart)} of {plural(len(cells), 'cell')} all runs of one variant were made before those of the "
        return Finding("Order", "look", f"{text}next: a drift looks like an effect.")
    return Finding("Order", "plain", "By the logs' dates, the variants were measured in turns.")


def _stretches(variants: list[str]) -> int:
    return 1 + sum(before != after for before, after in pairwise(variants))


def unread(told: dict[str, Any]) -> Finding:
    """List the files that could not be read, with the reasons."""
    lost = told["unread"]
    text = (
        f"{told['files']} of {plural(told['files'] + len(lost), 'file')} in {told['folder']} were read by the pattern"
    )
    details = tuple(f"{file}: {reason}" for file, reason in lost)
    return Finding("Files", "look" if lost else "good", f"{text} {told['pattern']}.", details)


def failed(runs: pd.DataFrame) -> Finding:
    """Count the logs that hold a measurement; list the others with what sysbench said."""
    ok = int((runs["outcome"] == "ok").sum())
    told = f"; {plural(len(runs) - ok, 'log')} tell of a failure" if ok < len(runs) else ""
    return replace(outcomes_finding(runs), text=f"{ok} of {plural(len(runs), 'log')} hold a measurement{told}.")


def releases(runs: pd.DataFrame) -> Finding:
    """Name the releases of sysbench; cells whose sides differ in it have no ratio."""
    found = runs.groupby("sysbench_version").size()
    text = listing([f"{version} in {plural(int(amount), 'log')}" for version, amount in found.items()])
    if len(found) < 2:
        return Finding("sysbench", "plain", f"{text}.")
    by_cell = runs[runs["outcome"] == "ok"].groupby(list(CELL[1:]))["sysbench_version"].nunique()
    mixed = f"{plural(int((by_cell > 1).sum()), 'cell')} with more than one release"
    return Finding("sysbench", "look", f"{text}; {mixed}. A ratio is given only within one release.")


def warned(runs: pd.DataFrame) -> Finding:
    """Count the warnings: errors, reconnects and drift within a call are all a log can show."""
    codes = runs["warning_codes"].astype(object).fillna("").str.split(";").explode()
    counted = codes[codes != ""].value_counts()
    if counted.empty:
        return Finding("Warnings", "good", "No log shows errors, reconnects or a drift of throughput.")
    text = listing([f"{code} in {plural(int(amount), 'run')}" for code, amount in counted.items()])
    return Finding("Warnings", "look", f"{text[0].upper()}{text[1:]}. None was dropped.")


def percentiles(runs: pd.DataFrame) -> Finding:
    """Name the percentiles of latency that are known."""
    known = [name for name in ("p50_ms", "p95_ms", "p99_ms") if runs[name].notna().any()]
    text = listing([METRICS[name].label for name in known]) or "No percentile"
    return Finding("Latency", "plain", f"{text}: of the whole call, as sysbench printed it or from its histogram.")
