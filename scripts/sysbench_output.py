"""Read what sysbench 0.5, 1.0 or 1.1 printed: interval reports, totals, latency and its histogram."""

import re
from dataclasses import dataclass

_NUMBER = r"\d+(?:\.\d+)?"
VERSION = re.compile(
    r"^sysbench (\d+\.\d+[^\s:]*)(?: \(using (.+)\)|: +multi-threaded system evaluation benchmark)$", re.MULTILINE
)
_REPORT = re.compile(
    rf"^\[ (?P<second>\d+)s \] thds: (?P<clients>\d+) (?:tps|eps): (?P<tps>{_NUMBER})"
    rf"(?: qps: (?P<qps>{_NUMBER}) \(r/w/o: \S+\))? lat \(ms,(?P<percentile>\d+)%\): (?P<percentile_ms>{_NUMBER})"
    rf"(?: err/s:? (?P<errors_per_s>{_NUMBER}) reconn/s:? (?P<reconnects_per_s>{_NUMBER}))?$"
)
_REPORT_0_5 = re.compile(
    rf"^\[ *(?P<second>\d+)s\] threads: (?P<clients>\d+), tps: (?P<tps>{_NUMBER}), reads(?:/s)?: \S+"
    rf", writes(?:/s)?: \S+, response time: (?P<percentile_ms>{_NUMBER})ms \((?P<percentile>\d+)%\)"
    rf"(?:, errors: +(?P<errors_per_s>{_NUMBER}), reconnects: +(?P<reconnects_per_s>{_NUMBER}))?$"
)
_BUCKET = re.compile(rf"^ +({_NUMBER}) \|\** +(\d+)$", re.MULTILINE)
_COMPLAINT = re.compile(r"^(?:FATAL|ALERT): .*|^invalid option: .*|^Invalid value for .*", re.MULTILINE)
# The last two are Lua's own words of a script that cannot be read, or that is wrong whatever the server answers.
_MISUSE = re.compile(
    r"^invalid option: |^Invalid value for |^FATAL: Cannot find benchmark "
    r"|^FATAL: [^`\n]*\.lua:\d+: |^FATAL: .*\.lua:\d+: attempt to ",
    re.MULTILINE,
)


class SysbenchFailed(RuntimeError):
    """sysbench could not finish its load; the text quotes its own lines."""


class SysbenchMisused(ValueError):
    """sysbench refused its command line: an unknown or wrong script, option or value; no server is to blame."""


@dataclass(frozen=True)
class Report:
    """One interval's line. Rates are per second; `qps` and the error rates are None where sysbench prints none.

    `percentile_ms` is None of several processes together.
    """

    second: int
    clients: int
    tps: float
    qps: float | None
    percentile: int
    percentile_ms: float | None
    errors_per_s: float | None
    reconnects_per_s: float | None


@dataclass(frozen=True)
class Totals:
    """Counts over the whole call; None where the load sends no SQL."""

    transactions: int
    queries: int | None
    errors: int | None
    reconnects: int | None
    duration_s: float


@dataclass(frozen=True)
class Latency:
    """sysbench's own latency summary over the whole call; the percentile is None when it is switched off."""

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
    """Everything read from one finished call; `histogram` is None when it was not asked for.

    `luajit` is None before 1.0, `clients` where the number of threads is not printed.
    """

    version: str
    luajit: str | None
    clients: int | None
    reports: tuple[Report, ...]
    totals: Totals
    latency: Latency
    histogram: Histogram | None


def parse(text: str) -> Output:
    """Read the text of a call of `sysbench … run`.

    Raises SysbenchMisused when sysbench refused its arguments, and SysbenchFailed when it failed or when the text
    stops early; both quote sysbench's own lines.
    """
    reject_failure(text)
    header = VERSION.search(text)
    if not header or not re.search(r"^ +execution time \(avg/stddev\): +\S+$", text, re.MULTILINE):
        raise SysbenchFailed(f"sysbench's output is incomplete; it ends with:\n{_tail(text)}")
    buckets = _BUCKET.findall(text)
    return Output(
        version=header[1],
        luajit=header[2],
        clients=_int(_optional(r"^Number of threads: (\d+)$", text)),
        reports=tuple(report for line in text.splitlines() if (report := parse_report(line))),
        totals=_totals(text),
        latency=_latency(text),
        histogram=Histogram(tuple(float(ms) for ms, _ in buckets), tuple(int(count) for _, count in buckets))
        if buckets
        else None,
    )


def reject_failure(text: str) -> None:
    """Raise SysbenchMisused or SysbenchFailed when the text holds one of sysbench's complaints."""
    complaints = list(dict.fromkeys(_COMPLAINT.findall(text)))
    if complaints:
        error = SysbenchMisused if is_misuse(text) else SysbenchFailed
        raise error("sysbench: " + "\n".join(complaints[:8]))


def is_misuse(text: str) -> bool:
    """Tell whether sysbench says that it refused its command line."""
    return bool(_MISUSE.search(text))


def parse_report(line: str) -> Report | None:
    """Read one line; None when it is no interval report."""
    match = _REPORT.match(line.rstrip()) or _REPORT_0_5.match(line.rstrip())
    if not match:
        return None
    said = match.groupdict()
    return Report(
        **{name: int(said[name]) for name in ("second", "clients", "percentile")},
        **{name: float(said[name]) for name in ("tps", "percentile_ms")},
        **{name: _float(said.get(name)) for name in ("qps", "errors_per_s", "reconnects_per_s")},
    )


def _totals(text: str) -> Totals:
    transactions = _optional(r"^ +transactions: +(\d+)", text)
    return Totals(
        transactions=int(transactions or _required(r"^ +total number of events: +(\d+)$", text)),
        queries=_int(_optional(r"^ +(?:queries|total): +(\d+)", text)),
        errors=_int(_optional(r"^ +ignored errors: +(\d+)", text)),
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
    found = _optional(pattern, text)
    if found is None:
        raise SysbenchFailed(f"sysbench's output lacks a line like {pattern!r}; it ends with:\n{_tail(text)}")
    return found


def _float(text: str | None) -> float | None:
    return None if text is None else float(text)


def _int(text: str | None) -> int | None:
    return None if text is None else int(text)


def _tail(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-8:]) or "(nothing)"
