"""Parse sysbench's output: reports, totals, latencies, histogram, operations; and the window between two reports."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.lib.host.causes import FailedForCause, full_disk_in
from scripts.lib.vocabulary import OPERATION_SHARES, FailureKind

OPERATION_LINE = re.compile(
    r"^operation (\S+): ([1-9]\d*) calls, sum (\d+) us, longest (\d+) us, up to us:((?: \d+:\d+)+)$", re.MULTILINE
)


def read_operations(text: Path) -> dict[str, dict[str, float]]:
    """Return name -> figures per operation from the output of a load; empty without `operation` lines.

    The figures are `calls`, `mean_ms`, one per percentile of OPERATION_SHARES, and `max_ms`.
    """
    lines_by_name: dict[str, list[re.Match[str]]] = {}
    for line in OPERATION_LINE.finditer(text.read_text(encoding="utf-8", errors="replace")):
        lines_by_name.setdefault(line[1], []).append(line)
    return {name: _summed_operation(lines) for name, lines in lines_by_name.items()}


def _summed_operation(lines: list[re.Match[str]]) -> dict[str, float]:
    calls, buckets = sum(int(line[2]) for line in lines), Counter[int]()
    longest_us = max(float(line[4]) for line in lines)
    for line in lines:
        for bucket in line[5].split():
            latency_us, count = map(int, bucket.split(":"))
            buckets[latency_us] += count
    return {
        "calls": calls,
        "mean_ms": sum(float(line[3]) for line in lines) / calls / 1000,
        **{
            name: min(_bucket_at(sorted(buckets.items()), share), longest_us) / 1000
            for name, share in OPERATION_SHARES.items()
        },
        "max_ms": longest_us / 1000,
    }


def _bucket_at(buckets: Sequence[tuple[float, int]], share: float) -> float:
    """Return the bucket that holds a share of the events; the rank is rounded as in sysbench."""
    return value_at_rank(buckets, max(1, math.floor(sum(count for _, count in buckets) * share + 0.5)))


def value_at_rank(counted: Iterable[tuple[float, int]], rank: float) -> float:
    """Return the value of the given rank, from 1, among values in ascending order with their counts.

    Raises ValueError when the rank exceeds the number of values.
    """
    seen = 0
    for value, count in counted:
        seen += count
        if seen >= rank:
            return value
    raise ValueError(f"rank {rank} of {seen} values, expected one of them")


_NUMBER = r"\d+(?:\.\d+)?"
VERSION = re.compile(
    r"^sysbench v?(\d+\.\d+[^\s:]*)(?: \(using (.+)\)|: +multi-threaded system evaluation benchmark)$", re.MULTILINE
)
_REPORT = re.compile(
    rf"^\[ *(?P<second>{_NUMBER})s \] thds: (?P<clients>\d+) (?:tps|eps): (?P<tps>{_NUMBER})"
    rf"(?: qps: (?P<qps>{_NUMBER}) \(r/w/o: \S+\))? lat \(ms,(?P<percentile>\d+)%\): (?P<percentile_ms>{_NUMBER})"
    rf"(?: err/s:? (?P<errors_per_s>{_NUMBER}) reconn/s:? (?P<reconnects_per_s>{_NUMBER}))?$"
)
_REPORT_0_5 = re.compile(
    rf"^\[ *(?P<second>{_NUMBER})s\] threads: (?P<clients>\d+), tps: (?P<tps>{_NUMBER}), reads(?:/s)?: \S+"
    rf",? writes(?:/s)?: \S+ response time: (?P<percentile_ms>{_NUMBER})ms \((?P<percentile>\d+)%\)"
    rf"(?:, errors: +(?P<errors_per_s>{_NUMBER}), reconnects: +(?P<reconnects_per_s>{_NUMBER}))?$"
)
# How a report of sysbench 1.0 and 1.1 goes on behind its second, and one of 0.4.12 and 0.5.
_LAST_REPORT = ("s ] thds: ", "s] threads: ")
_STAMPED = re.compile(r"^\[ *[\d.,]+s ?\] (?!queue length:|Checkpoint report:)", re.MULTILINE)
_CHECKPOINT = re.compile(rf"^\[ *{_NUMBER}s ?\] Checkpoint report:$", re.MULTILINE)
_SUMMARY_END = re.compile(r"^ +execution time \(avg/stddev\): +\S+$", re.MULTILINE)
_TARGET_RATE = re.compile(r"^Target transaction rate: (\d+)/sec$", re.MULTILINE)
_BUCKET = re.compile(rf"^ +({_NUMBER}) \|\** +(\d+)$", re.MULTILINE)
_RETRIED = re.compile(r"^retries: (\S.*)$", re.MULTILINE)
_COMPLAINT = re.compile(r"^(?:FATAL|ALERT): .*|^invalid option: .*|^Invalid value for .*", re.MULTILINE)
# The last two are Lua's messages for a script that cannot be parsed, or whose error does not depend on the server.
_MISUSE = re.compile(
    r"^invalid option: |^Invalid value for |^FATAL: Cannot find benchmark "
    r"|^FATAL: [^`\n]*\.lua:\d+: |^FATAL: .*\.lua:\d+: attempt to ",
    re.MULTILINE,
)


class SysbenchFailed(FailedForCause):
    """sysbench could not finish its load; the message quotes its output."""

    USUAL = FailureKind.LOAD


class SysbenchMisused(ValueError):
    """sysbench refused its command line: an unknown or invalid script, option or value; the server is not the cause."""


@dataclass(frozen=True)
class Report:
    """The line of one interval. Rates are per second; `qps` and the error rates are None if sysbench prints none.

    `percentile_ms` is None in the sum of several processes. `second` is whole unless sysbench printed a fraction.
    """

    second: float
    clients: int
    tps: float
    qps: float | None
    percentile: int
    percentile_ms: float | None
    errors_per_s: float | None
    reconnects_per_s: float | None


@dataclass(frozen=True)
class Totals:
    """Counts over the whole call; None if the load sends no SQL.

    Before sysbench 1.0 the errors are the deadlocks. A load that never commits has events in place of transactions.
    """

    transactions: int
    queries: int | None
    errors: int | None
    reconnects: int | None
    duration_s: float


@dataclass(frozen=True)
class Latency:
    """sysbench's latency summary over the whole call; the percentile is None when it is switched off."""

    min_ms: float
    mean_ms: float
    max_ms: float
    percentile: int | None
    percentile_ms: float | None


@dataclass(frozen=True)
class Histogram:
    """Non-empty buckets, ascending: two tuples of equal length; a bucket is 1.8 % wide."""

    latency_ms: tuple[float, ...]
    count: tuple[int, ...]


@dataclass(frozen=True)
class Output:
    """All results of one finished call; `histogram` is None if it was not requested.

    `luajit` is None before sysbench 1.0, `clients` if the number of threads is not printed, `target_rate`, in
    transactions per second, without one. `unread_reports` counts lines of intervals in another form. With checkpoints
    there are several `summaries`; their counts are added up, and neither percentile nor histogram is known.
    """

    version: str
    luajit: str | None
    clients: int | None
    reports: tuple[Report, ...]
    totals: Totals
    latency: Latency
    histogram: Histogram | None
    target_rate: int | None = None
    unread_reports: int = 0
    summaries: int = 1


@dataclass(frozen=True)
class _Summary:
    totals: Totals
    latency: Latency
    histogram: Histogram | None


def parse(text: str) -> Output:
    """Parse the output of `sysbench … run`.

    Raises SysbenchMisused when sysbench refused its arguments, and SysbenchFailed when it failed or its output is
    incomplete; both quote sysbench's output.
    """
    reject_failure(text)
    header, reports = VERSION.search(text), tuple(filter(None, map(parse_report, text.splitlines())))
    *ended, _ = _SUMMARY_END.split(text)
    if not header or not ended:
        raise SysbenchFailed(
            f"sysbench's output is incomplete; it ends with:\n{_tail(text)}", full_disk_in(_tail(text))
        )
    if len(ended) - 1 > len(_CHECKPOINT.findall(text)):
        raise SysbenchFailed(f"sysbench's output has {len(ended)} summaries, expected one per checkpoint and one more")
    summary = _joined([_summary(_behind_reports(part)) for part in ended], header[1])
    return Output(
        version=header[1],
        luajit=header[2],
        clients=_int(_optional(r"^Number of threads: (\d+)$", text)),
        reports=reports,
        **vars(summary),
        target_rate=int(rate[1]) if (rate := _TARGET_RATE.search(text)) else None,
        unread_reports=len(_STAMPED.findall(text)) - len(reports),
        summaries=len(ended),
    )


def _summary(text: str) -> _Summary:
    buckets = _BUCKET.findall(text)
    latencies, counts = tuple(float(ms) for ms, _ in buckets), tuple(int(count) for _, count in buckets)
    return _Summary(_totals(text), _latency(text), Histogram(latencies, counts) if buckets else None)


def _joined(parts: list[_Summary], version: str) -> _Summary:
    """Return the summary of a call: at a checkpoint sysbench starts all counts again, before 1.0 also the time."""
    if len(parts) == 1:
        return parts[0]
    seconds, transactions = [part.totals.duration_s for part in parts], sum(part.totals.transactions for part in parts)
    weighted_ms = sum(part.latency.mean_ms * part.totals.transactions for part in parts)
    totals = Totals(
        transactions=transactions,
        queries=_sum(part.totals.queries for part in parts),
        errors=_sum(part.totals.errors for part in parts),
        reconnects=_sum(part.totals.reconnects for part in parts),
        duration_s=sum(seconds) if version.startswith("0.") else seconds[-1],
    )
    lowest_ms, highest_ms = min(part.latency.min_ms for part in parts), max(part.latency.max_ms for part in parts)
    return _Summary(totals, Latency(lowest_ms, weighted_ms / max(transactions, 1), highest_ms, None, None), None)


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _behind_reports(text: str) -> str:
    """Return the text from the last report on: the other expressions would search thousands of reports in vain."""
    last = max(text.rfind(beginning) for beginning in _LAST_REPORT)
    return text[max(last, 0) :]


def reject_failure(text: str) -> None:
    """Raise SysbenchMisused or SysbenchFailed when the output contains one of sysbench's error messages.

    A script that tries again after an error of sysbench prints a line `retries: ` with the beginning of its message.
    """
    retried = tuple(_RETRIED.findall(text))
    complaints = [line for line in dict.fromkeys(_COMPLAINT.findall(text)) if not line.startswith(retried)]
    if complaints:
        quoted = "\n".join(complaints[:8])
        if is_misuse(text):
            raise SysbenchMisused(f"sysbench: {quoted}")
        raise SysbenchFailed(f"sysbench: {quoted}", full_disk_in(quoted))


def is_misuse(text: str) -> bool:
    """Return whether sysbench refused its command line."""
    return bool(_MISUSE.search(text))


def parse_report(line: str) -> Report | None:
    """Parse one line; None if it is not an interval report."""
    match = _REPORT.match(line.rstrip()) or _REPORT_0_5.match(line.rstrip())
    if not match:
        return None
    fields = match.groupdict()
    return Report(
        second=float(fields["second"]) if "." in fields["second"] else int(fields["second"]),
        clients=int(fields["clients"]),
        tps=float(fields["tps"]),
        qps=_float(fields.get("qps")),
        percentile=int(fields["percentile"]),
        percentile_ms=float(fields["percentile_ms"]),
        errors_per_s=_float(fields.get("errors_per_s")),
        reconnects_per_s=_float(fields.get("reconnects_per_s")),
    )


def _totals(text: str) -> Totals:
    transactions = _int(_optional(r"^ +transactions: +(\d+)", text))
    return Totals(
        transactions=transactions or int(_required(r"^ +total number of events: +(\d+)$", text)),
        queries=_int(_optional(r"^ +(?:queries|total): +(\d+)", text)),
        errors=_int(_optional(r"^ +(?:ignored errors|deadlocks): +(\d+)", text)),
        reconnects=_int(_optional(r"^ +reconnects: +(\d+)", text)),
        duration_s=float(_required(rf"^ +(?:total time|time elapsed): +({_NUMBER})s$", text)),
    )


def _latency(text: str) -> Latency:
    percentiles = re.search(rf"^ +(?:approx\. +)?(\d+)(?:th)? percentile: +({_NUMBER})(?:ms)?$", text, re.MULTILINE)
    return Latency(
        min_ms=float(_required(rf"^ +min: +({_NUMBER})(?:ms)?$", text)),
        mean_ms=float(_required(rf"^ +avg: +({_NUMBER})(?:ms)?$", text)),
        max_ms=float(_required(rf"^ +max: +({_NUMBER})(?:ms)?$", text)),
        percentile=int(percentiles[1]) if percentiles else None,
        percentile_ms=float(percentiles[2]) if percentiles else None,
    )


def _optional(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


def _required(pattern: str, text: str) -> str:
    value = _optional(pattern, text)
    if value is None:
        raise SysbenchFailed(f"sysbench's output lacks a line like {pattern!r}; it ends with:\n{_tail(text)}")
    return value


def _float(text: str | None) -> float | None:
    return None if text is None else float(text)


def _int(text: str | None) -> int | None:
    return None if text is None else int(text)


def _tail(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-8:]) or "(nothing)"


# sysbench's histogram has 1024 buckets, evenly spaced in the logarithm, from 0.001 ms to 100 s (sb_logger.c).
HISTOGRAM_END_MS = 100_000.0
BUCKET_RATIO = (HISTOGRAM_END_MS / 0.001) ** (1 / 1023)


@dataclass(frozen=True)
class ReportedWindow:
    """The measured part of a call, from one report to a later one."""

    duration_s: float
    transactions: int
    tps: float


def window(
    reports: Sequence[Report], stamps_s: Sequence[float], first: int = 0, last: int | None = None
) -> ReportedWindow:
    """Return the window between two reports (indices; by default the first and the last).

    `stamps_s` holds each report's time of arrival on one clock, in seconds. A report's TPS is a rate over the time
    since the report before, so transactions = sum over the later reports of TPS x seconds since the one before;
    connecting and the first second, before the first report, are not in the window.
    Raises SysbenchFailed with fewer than two reports, ValueError when reports and stamps differ in number.
    """
    if len(reports) != len(stamps_s):
        raise ValueError(f"window: {len(reports)} reports but {len(stamps_s)} time stamps, expected as many")
    last = len(reports) - 1 if last is None else last
    if not 0 <= first < last < len(reports):
        raise SysbenchFailed(
            f"sysbench printed {len(reports)} per-second reports, expected a window from report {first + 1} to "
            f"report {max(last, first + 1) + 1}: sysbench stopped early, or the call is too short"
        )
    steps = [(reports[i].tps, stamps_s[i] - stamps_s[i - 1]) for i in range(first + 1, last + 1)]
    transactions = sum(tps * step_s for tps, step_s in steps)
    duration_s = stamps_s[last] - stamps_s[first]
    return ReportedWindow(duration_s=duration_s, transactions=round(transactions), tps=transactions / duration_s)


def percentile(histogram: Histogram, share: float) -> float:
    """Return the latency in ms of the bucket that holds the given share (0 < share <= 1) of the transactions.

    The rank is rounded to the nearest integer, as in sysbench (sb_histogram.c). A bucket is 1.8 % wide, so two
    values closer than that are equal; HISTOGRAM_END_MS means "that much or more". Raises ValueError when empty.
    """
    total = sum(histogram.count)
    if not 0 < share <= 1 or total == 0:
        raise ValueError(f"percentile: share {share!r} of {total} transactions, expected 0 < share <= 1 and some")
    return _bucket_at(list(zip(histogram.latency_ms, histogram.count, strict=True)), share)
