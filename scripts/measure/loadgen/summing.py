"""The outputs of several sysbench processes as that of one load: rates, counts and histograms are added up."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from scripts.measure.loadgen.output import Histogram, Latency, Output, Report, Totals

Stamps = Sequence[float]
RATES = ("tps", "qps", "errors_per_s", "reconnects_per_s")
# The line that gate.lua prints after every report.
COUNTED = re.compile(r"^\[ counted \] (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)


def counted(output: Output, text: str, stamps: Stamps) -> Output:
    """Return an output whose rates are gate.lua's counts over the time between arrivals of reports.

    The first report keeps its rates. Raises ValueError unless `text` has one count, and `stamps` one time in seconds,
    per report.
    """
    timed = zip(output.reports, COUNTED.findall(text), stamps, strict=True)
    reports = list(output.reports[:1])
    for (_, _, before_s), (report, counts, now_s) in pairwise(timed):
        found = {name: int(count) / (now_s - before_s) for name, count in zip(RATES, counts, strict=True)}
        reports.append(replace(report, **{name: found[name] for name in RATES if getattr(report, name) is not None}))
    return replace(output, reports=tuple(reports))


def added(outputs: Sequence[Output], stamps: Sequence[Stamps]) -> Output:
    """Return the sum of the outputs of calls that ran at the same time.

    `stamps` holds the arrival times of each output's reports, in seconds; a summed report is due when every process has
    printed its own. Counts and histogram buckets are summed. sysbench's own percentiles, per second and per call,
    cannot be summed and are None.
    """
    first = outputs[0]
    histograms = [output.histogram for output in outputs]
    return Output(
        version=first.version,
        luajit=first.luajit,
        clients=_sum(output.clients for output in outputs),
        reports=tuple(_reports([output.reports for output in outputs], stamps)),
        totals=total([output.totals for output in outputs]),
        latency=_latency(outputs),
        histogram=None if None in histograms else _histogram(histograms),
    )


def report_times_due(stamps: Sequence[Stamps]) -> list[float]:
    """Return the time of each summed report: the latest arrival among the processes, in seconds."""
    return [max(same) for same in zip(*stamps, strict=False)]


def _reports(every: Sequence[Sequence[Report]], stamps: Sequence[Stamps]) -> Iterable[Report]:
    """Yield the summed reports, with rates over the time since the previous one."""
    moments = report_times_due(stamps)
    edges = [(moments[0] - 1, moments[0]), *pairwise(moments)] if moments else []
    for same, edge in zip(zip(*every, strict=False), edges, strict=True):
        own = list(zip(every, stamps, strict=True))
        rates = {name: _sum(_rate(reports, at, name, edge) for reports, at in own) for name in RATES}
        clients = sum(report.clients for report in same)
        yield Report(same[0].second, clients, percentile=same[0].percentile, percentile_ms=None, **rates)


def _rate(reports: Sequence[Report], stamps: Stamps, name: str, edge: tuple[float, float]) -> float | None:
    """Return the mean rate of a process between two moments.

    The rate of a report holds from the previous report to itself; the first and the last extend outwards.
    """
    begin, end = edge
    cuts = [begin, *(stamp for stamp in stamps if begin < stamp < end), end]
    held = [getattr(reports[min(bisect_left(stamps, later), len(reports) - 1)], name) for later in cuts[1:]]
    if None in held:
        return None
    parts = (rate * (later - before) for rate, (before, later) in zip(held, pairwise(cuts), strict=True))
    return sum(parts) / (end - begin)


def total(every: Sequence[Totals]) -> Totals:
    """Return the sum of the totals of calls that ran at the same time, with the longest of their durations."""
    names = ("queries", "errors", "reconnects")
    return Totals(
        transactions=sum(totals.transactions for totals in every),
        duration_s=max(totals.duration_s for totals in every),
        **{name: _sum(getattr(totals, name) for totals in every) for name in names},
    )


def _latency(outputs: Sequence[Output]) -> Latency:
    transactions = sum(output.totals.transactions for output in outputs)
    waited_ms = sum(output.latency.mean_ms * output.totals.transactions for output in outputs)
    return Latency(
        min_ms=min(output.latency.min_ms for output in outputs if output.totals.transactions or not transactions),
        mean_ms=waited_ms / transactions if transactions else 0.0,
        max_ms=max(output.latency.max_ms for output in outputs),
        percentile=None,
        percentile_ms=None,
    )


def _histogram(histograms: Iterable[Histogram]) -> Histogram:
    counts: Counter[float] = Counter()
    for histogram in histograms:
        counts.update(dict(zip(histogram.latency_ms, histogram.count, strict=True)))
    latencies = sorted(counts)
    return Histogram(tuple(latencies), tuple(counts[latency] for latency in latencies))


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(known)
