"""The findings of an imported study: what logs made elsewhere can show, and what they cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from scripts.lib.resolved_study import ImportedLogs, LogNote, ResolvedStudy
from scripts.lib.vocabulary import CELL, WORKLOAD_CLIENTS, Verdict
from scripts.lib.wording import NARROW, duration, interval, listing, missing, number, plural, times
from scripts.report.analysis.metrics import METRICS, TPS
from scripts.report.analysis.printed_digits import LIMIT_TEXTS, PERCENTILE_STEP, is_rounded, limits
from scripts.report.analysis.table_rows import CellRow
from scripts.report.page.finding import Finding, Topic
from scripts.report.page.findings import outcomes_finding
from scripts.report.page.levels_section import compared

VERDICTS = Topic("verdicts", "Verdicts")
PAIRS = Topic("pairs", "Pairs")
ORDER = Topic("order", "Order")
FILES = Topic("files", "Files")
SYSBENCH = Topic("sysbench", "sysbench")
ERRORS = Topic("errors", "Errors")
RECONNECTS = Topic("reconnects", "Reconnects")
DRIFT = Topic("drift", "Drift")
RATE = Topic("rate", "Target rate")
LENGTH = Topic("length", "Length")
NOTE_TITLES = {"impossible": "Impossible intervals", "unread_reports": "Unread intervals",
               "other_form": "Other forms", "events": "Events", "checkpoints": "Checkpoints"}  # fmt: skip
LATENCY = Topic("latency", "Latency")
SPAN = Topic("span", "Span")
ABSENT = Topic("absent", "Not in these logs")
LOGS = Topic("logs", "Runs")
WORSE = Topic("worse", "Worse")
LEFT_OUT = Topic("left_out", "Left out")
HOLES = Topic("holes", "Cells")
MOST_NAMED = 4
MOST_APART = 1.05
ROUNDED = 1e-9  # of floating point: an interval that ends at 1 holds 1
DRIFT_TEXT = "a drift of the machine would look like an effect."
VERDICT_TEXT = (
    "Nothing in the logs checks their intervals, as a reference measured twice would, so nothing is called faster or "
    "slower. Ratios are shown with their intervals."
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


def findings(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> list[Finding]:
    """Return the findings in the order to show; `study.imported` holds how the logs were read, see `import_logs`."""
    imported, runs, cells = study.imported, tables["runs"], tables["cells"]
    return [
        *([VERDICTS.look(VERDICT_TEXT)] if len(study.variants) > 1 else []),
        *worse_findings(study, cells),
        *([PAIRS.look(PAIRS_TEXT), order_finding(runs, imported.dates)] if len(study.variants) > 1 else []),
        unread_finding(imported),
        *left_out_findings(imported),
        *holes_findings(runs),
        failures_finding(runs[runs["outcome"] != "missing"]),
        releases_finding(runs),
        *event_findings(runs[runs["outcome"] != "missing"], imported.drift_judged),
        *notes_findings(imported.notes),
        *rate_findings(imported),
        length_finding(runs),
        percentiles_finding(imported, runs, cells),
        SPAN.plain(span_text(imported.skip_s or 0)),
        ABSENT.plain(ABSENT_TEXT),
    ]


def span_text(skip_s: float) -> str:
    """Return which seconds of a call the figures cover."""
    if not skip_s:
        return SPAN_TEXT
    return (
        f"The figures cover the intervals that begin {skip_s:g} s or later after the start of a call, by `skip_s` of "
        "the pattern. Latencies are left out: sysbench prints those of the whole call."
    )


def worse_findings(study: ResolvedStudy, cells: pd.DataFrame) -> list[Finding]:
    """Report the cells whose interval lies on the worse side of 1, in TPS or p95, with the other of the two."""
    chosen = cells[cells["metric"].isin(compared(study)) & (cells["variant"] != study.reference)]
    intervals = chosen[chosen["ratio_low"].notna()]
    tps = {(row.variant, row.workload, row.clients): row for row in chosen.itertuples() if row.metric == TPS.name}
    lines = []
    for row in intervals.itertuples():
        metric = METRICS[row.metric]
        if row.ratio_low > 1 + ROUNDED if metric.worse is Verdict.ABOVE else row.ratio_high < 1 - ROUNDED:
            cell = row.variant, row.workload, row.clients
            tps_text = f", TPS there {_ratio(tps[cell])}" if metric is not TPS and cell in tps else ""
            where = f"{row.variant}, {row.workload}, {plural(int(row.clients), 'client')}"
            lines.append(f"{where}: {metric.label} {_ratio(row)}{tps_text}")
    if not lines:
        return []
    chance = "about one interval in twenty misses 1 by chance"
    return [
        WORSE.look(
            f"Of {plural(len(intervals), 'interval')}, those on the worse side of 1: {len(lines)}; {chance}.", (*lines,)
        )
    ]


def _ratio(row: CellRow) -> str:
    span = "" if missing(row.ratio_low) else f" ({interval(row.ratio_low, row.ratio_high)})"
    return f"{times(row.ratio)}{span}" if not missing(row.ratio) else "not known"


def order_finding(runs: pd.DataFrame, dates: str | None = None) -> Finding:
    """Report whether the variants were measured in turns, as far as the dates of the logs show it."""
    ok = runs[runs["outcome"] == "ok"]
    timed = ok[ok["started_at"].notna()].sort_values("started_at")
    if len(timed) < len(ok) or ok.empty:
        why = (
            f" {plural(len(ok) - len(timed), 'log')} of {len(ok)} have no date ({dates})." if dates and len(ok) else ""
        )
        return ORDER.look(f"When the runs were made is unknown: {DRIFT_TEXT}{why}")
    overlaps = int((timed["started_at"].to_numpy()[1:] < timed["ended_at"].cummax().to_numpy()[:-1] - 1).sum())
    if overlaps:
        text = (
            f"Runs overlap: several machines, or wrong dates. {plural(overlaps, 'run')} began before another one ended"
        )
        return ORDER.look(f"{text}, so that the order of the variants is unknown: {DRIFT_TEXT}")
    if _apart(list(timed["variant"])):
        return ORDER.look(f"By their dates, all runs of one variant were made before those of the next: {DRIFT_TEXT}")
    cells = [
        list(rows["variant"]) for _, rows in timed.groupby(list(WORKLOAD_CLIENTS)) if rows["variant"].nunique() > 1
    ]
    repeated = [cell for cell in cells if len(cell) > len(set(cell))]
    if apart := sum(map(_apart, repeated)):
        text = f"In {apart} of {plural(len(cells), 'cell')} all runs of one variant were made before those of the next "
        return ORDER.look(f"{text}variant: {DRIFT_TEXT}")
    if len(repeated) < len(cells) or not cells:
        return ORDER.look(f"With one run per variant the dates do not show turns within a cell: {DRIFT_TEXT}")
    return ORDER.plain("According to the dates of the logs, the variants were measured in turns.")


def _apart(variants: list[str]) -> bool:
    """Return whether each variant's runs stand in one piece."""
    return 1 + sum(before != after for before, after in pairwise(variants)) == len(set(variants)) > 1


def unread_finding(imported: ImportedLogs) -> Finding:
    """Report the files that could not be read, by reason."""
    lost = imported.unread
    total = imported.files + len(lost) + len(imported.left_out)
    files = f"{imported.files} of {plural(total, 'file')} in {imported.folder}"
    return FILES.judged(not lost, f"{files} were read with the pattern {imported.pattern}.", _by_reason(lost))


def left_out_findings(imported: ImportedLogs) -> list[Finding]:
    """Report the files that the pattern file leaves out, if any."""
    files = imported.left_out
    text = f"The pattern file leaves out {plural(len(files), 'file')}."
    return [LEFT_OUT.plain(text, _by_reason(files))] if files else []


def _by_reason(files: Sequence[Sequence[str]]) -> tuple[str, ...]:
    groups: dict[str, list[str]] = {}
    for file, reason in files:
        groups.setdefault(reason, []).append(file)
    return tuple(_group(reason, names) for reason, names in sorted(groups.items(), key=lambda group: -len(group[1])))


def _group(reason: str, names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}: {reason}"


def holes_findings(runs: pd.DataFrame) -> list[Finding]:
    """Report cells of a variant without a log, and cells with fewer logs than the fullest one."""
    absent = runs[runs["outcome"] == "missing"]
    sizes = runs[runs["outcome"] != "missing"].groupby(list(CELL), sort=False).size()
    most = int(sizes.max()) if len(sizes) else 0
    fewer = [f"{_cell(cell)}: {plural(int(size), 'log')}" for cell, size in sizes.items() if size < most]
    lines = [f"{_cell(cell)}: no log" for cell in absent[list(CELL)].itertuples(index=False, name=None)]
    if not lines and not fewer:
        return []
    text = f"{plural(len(lines), 'cell')} of a variant without a log" if lines else "No cell is without a log"
    text += f"; {plural(len(fewer), 'cell')} with fewer than {most}" if fewer else ""
    return [HOLES.look(f"{text}. Means leave out cells that one side does not have.", (*lines, *fewer))]


def _cell(cell: Sequence[str | int]) -> str:
    return f"{cell[0]}, {cell[1]}, {plural(int(cell[2]), 'client')}"


def failures_finding(runs: pd.DataFrame) -> Finding:
    """Count the logs with a measurement; list the others with sysbench's messages."""
    ok = int((runs["outcome"] == "ok").sum())
    ends = "ends" if len(runs) - ok == 1 else "end"
    failed = f"; {plural(len(runs) - ok, 'log')} {ends} in a failure" if ok < len(runs) else ""
    has = "has" if ok == 1 else "have"
    text = f"{ok} of {plural(len(runs), 'log')} {has} a measurement{failed}."
    return replace(outcomes_finding(runs, LOGS), text=text)


def releases_finding(runs: pd.DataFrame) -> Finding:
    """List the releases of sysbench; cells whose sides differ in it have no ratio."""
    by_release = runs.groupby("sysbench_version").size()
    text = listing([f"{version} in {plural(int(amount), 'log')}" for version, amount in by_release.items()])
    if len(by_release) < 2:
        return SYSBENCH.plain(f"{text}.")
    by_cell = runs[runs["outcome"] == "ok"].groupby(list(WORKLOAD_CLIENTS))["sysbench_version"].nunique()
    mixed = f"{plural(int((by_cell > 1).sum()), 'cell')} with more than one release"
    return SYSBENCH.look(f"{text}; {mixed}. A ratio is given only within one release.")


def event_findings(runs: pd.DataFrame, drift_judged: int) -> list[Finding]:
    """Report errors, reconnects and drifts of throughput, each with the number of logs that can show it.

    `runs` holds no holes.
    """
    ok = runs[runs["outcome"] == "ok"]
    codes = ok["warning_codes"].astype(object).fillna("").str.split(";")
    drifted = ok[codes.map(lambda codes_of_log: "unsteady" in codes_of_log).astype(bool)]
    events = ((ERRORS, "errors"), (RECONNECTS, "reconnects"))
    counted = [_event_finding(topic, name, len(runs), int(ok[name].notna().sum()), _counts(ok, name))
               for topic, name in events]  # fmt: skip
    return [*counted, _event_finding(DRIFT, "drift", len(runs), drift_judged, log_names(drifted))]


def _event_finding(topic: Topic, what: str, logs: int, judged: int, lines: list[str]) -> Finding:
    """Return what the judged logs show: a check passes only if it judged every log and found nothing."""
    could = f"{what.capitalize()} could be judged in {judged} of {plural(logs, 'log')}"
    if lines:
        show = "shows" if len(lines) == 1 else "show"
        return topic.look(f"{could}; {len(lines)} of them {show} some.", tuple(lines))
    if not judged:
        return topic.look(f"{could}: the others could have had any.")
    return (topic.good if judged == logs else topic.plain)(f"{could}; none of them shows any.")


def _counts(ok: pd.DataFrame, column: str) -> list[str]:
    rows = ok[ok[column].fillna(0) > 0]
    texts = []
    for name, count, transactions in zip(log_names(rows), rows[column], rows["transactions"], strict=True):
        texts.append(f"{name}: {number(int(count))} in {plural(int(transactions), 'transaction')}")
    return texts


def log_names(runs: pd.DataFrame) -> list[str]:
    """Return the names of logs in words, of rows of runs.csv."""
    rows = runs[[*CELL, "repetition"]].itertuples(index=False, name=None)
    return [f"{_cell(cell)}, repetition {int(repetition)}" for *cell, repetition in rows]


NOTE_TEXTS = {
    "impossible": "Intervals with more transactions than the whole call are left out of the figures by second.",
    "unread_reports": "Some lines of intervals could not be read.",
    "other_form": "Some logs have intervals in another form than sysbench's text; their totals are read.",
    "events": "Some logs have no transactions: their TPS counts events of the script.",
    "checkpoints": "Some logs have several summaries, by checkpoints.",
}


def notes_findings(notes: dict[str, list[LogNote]]) -> Iterator[Finding]:
    """Yield what was left out of logs that were read, by kind."""
    for code, text in NOTE_TEXTS.items():
        if files := notes.get(code):
            yield Topic(code, NOTE_TITLES[code]).look(f"{text} Logs: {len(files)}.", _by_reason(files))


def rate_findings(imported: ImportedLogs) -> list[Finding]:
    """Report logs with a target rate: their throughput is what was asked for, so that latency is the answer."""
    files = imported.notes.get("target_rate")
    if not files:
        return []
    all_rated = len(files) == imported.measured
    text = f"{'All' if all_rated else len(files)} of {plural(imported.measured, 'log')} have a target rate: their TPS "
    text = text.replace("All of", "All") + "cannot exceed it, and the latency is the answer."
    return [RATE.judged(all_rated, text, _by_reason(files)) if not all_rated else RATE.plain(text, _by_reason(files))]


def length_finding(runs: pd.DataFrame) -> Finding:
    """Report how long the calls were, and the cells whose sides differ in it by more than MOST_APART."""
    ok = runs[runs["outcome"] == "ok"]
    if ok.empty:
        return LENGTH.plain("No log has a duration.")
    lines = []
    for cell, rows in ok.groupby(list(WORKLOAD_CLIENTS), sort=False):
        means = rows.groupby("variant", sort=False)["duration_s"].mean()
        if means.max() > means.min() * MOST_APART and rows["transactions"].nunique() > 1:
            by_variant = ", ".join(f"{variant} {duration(seconds)}" for variant, seconds in means.items())
            lines.append(f"{cell[0]}, {plural(int(cell[1]), 'client')}: {by_variant}")
    ends = [duration(ok["duration_s"].min()), duration(ok["duration_s"].max())]
    text = f"Calls last {ends[0]}" if ends[0] == ends[1] else f"Calls last {ends[0]} to {ends[1]}"
    if not lines:
        return LENGTH.plain(f"{text}.")
    return LENGTH.look(f"{text}; in {plural(len(lines), 'cell')} the variants differ in it.", tuple(lines))


def percentiles_finding(imported: ImportedLogs, runs: pd.DataFrame, cells: pd.DataFrame) -> Finding:
    """List the percentiles of latency that are known, in how many cells, and how far sysbench rounds them."""
    names = [name for name in ("p50_ms", "p95_ms", "p99_ms") if runs[name].notna().any()]
    others = _by_reason([(file, f"{text}, not compared") for file, text in imported.notes.get("other_percentile", [])])
    if not names:
        return LATENCY.judged(not others, "No percentile of latency that is compared is in these logs.", others)
    planned = len(cells[list(CELL)].drop_duplicates())
    beyond = limits(runs)
    texts, is_complete = [], True
    for name in names:
        lost = sum(metric == name for *_, metric in beyond)
        n_cells = int(cells[cells["metric"] == name]["value"].notna().sum()) - lost
        is_complete &= n_cells == planned
        texts.append(METRICS[name].label + (f" (in {n_cells} of {planned} cells)" if n_cells < planned else ""))
    text = f"{listing(texts)}: of the whole call, as sysbench printed it or from its histogram."
    if is_rounded(names[0], runs):
        step = f"{100 * (PERCENTILE_STEP - 1):.1f}{NARROW}%"
        text += f" sysbench rounds to {step} and to 0.01 ms: no interval is narrower to either side."
    lines = [
        f"{_cell((variant, load, clients))}: {METRICS[metric].label}: {LIMIT_TEXTS[limit]}"
        for (variant, load, clients, metric), limit in beyond.items()
        if metric in names
    ]
    if is_complete and not others:
        return LATENCY.plain(text)
    end = " A percentile of 100 s is the end of sysbench's histogram." if lines else ""
    return LATENCY.look(f"{text}{end} Means leave out the other cells.", (*lines, *others))
