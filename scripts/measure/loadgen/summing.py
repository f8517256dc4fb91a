"""The outputs of several sysbench processes as that of one load: rates, counts and histograms are added up."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from scripts.measure.loadgen.output import Histogram, Latency, Output, Report, Totals

N = TypeVar("N", int, float)
Stamps = Sequence[float]
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
        tps, *others = (int(count) / (now_s - before_s) for count in counts)
        # What a report lacks, the load does not have.
        rates = (report.qps, report.errors_per_s, report.reconnects_per_s)
        qps, errors, reconnects = (None if had is None else rate for had, rate in zip(rates, others, strict=True))
        reports.append(replace(report, tps=tps, qps=qps, errors_per_s=errors, reconnects_per_s=reconnects))
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
        histogram=_histogram(histograms),
    )


def report_times_due(stamps: Sequence[Stamps]) -> list[float]:
    """Return the time of each summed report: the latest arrival among the processes, in seconds."""
    return [max(same) for same in zip(*stamps, strict=False)]


def _reports(parts_of_load: Sequence[Sequence[Report]], stamps: Sequence[Stamps]) -> Iterable[Report]:
    """Yield the summed reports, with rates over the time since the previous one."""
    moments = report_times_due(stamps)
    edges = [(moments[0] - 1, moments[0]), *pairwise(moments)] if moments else []
    for same, edge in zip(zip(*parts_of_load, strict=False), edges, strict=True):
        parts = [
            part
            for reports, own_stamps in zip(parts_of_load, stamps, strict=True)
            for part in _parts(reports, own_stamps, edge)
        ]
        yield Report(
            same[0].second,
            sum(report.clients for report in same),
            tps=sum(report.tps * share for report, share in parts),
            qps=_sum(_product(report.qps, share) for report, share in parts),
            percentile=same[0].percentile,
            percentile_ms=None,
            errors_per_s=_sum(_product(report.errors_per_s, share) for report, share in parts),
            reconnects_per_s=_sum(_product(report.reconnects_per_s, share) for report, share in parts),
        )


def _parts(reports: Sequence[Report], stamps: Stamps, edge: tuple[float, float]) -> Iterator[tuple[Report, float]]:
    """Yield the reports of a process that hold between two moments, each with its share of the time between them.

    A report holds from the previous report to itself; the first and the last extend outwards.
    """
    begin, end = edge
    cuts = [begin, *(stamp for stamp in stamps if begin < stamp < end), end]
    for before, later in pairwise(cuts):
        yield reports[min(bisect_left(stamps, later), len(reports) - 1)], (later - before) / (end - begin)


def _product(rate: float | None, share: float) -> float | None:
    return None if rate is None else rate * share


def total(parts_of_load: Sequence[Totals]) -> Totals:
    """Return the sum of the totals of calls that ran at the same time, with the longest of their durations."""
    return Totals(
        transactions=sum(totals.transactions for totals in parts_of_load),
        duration_s=max(totals.duration_s for totals in parts_of_load),
        queries=_sum(totals.queries for totals in parts_of_load),
        errors=_sum(totals.errors for totals in parts_of_load),
        reconnects=_sum(totals.reconnects for totals in parts_of_load),
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


def _histogram(histograms: Iterable[Histogram | None]) -> Histogram | None:
    counts: Counter[float] = Counter()
    for histogram in histograms:
        if histogram is None:
            return None
        counts.update(dict(zip(histogram.latency_ms, histogram.count, strict=True)))
    latencies = sorted(counts)
    return Histogram(tuple(latencies), tuple(counts[latency] for latency in latencies))


def _sum(values: Iterable[N | None]) -> N | None:
    values_known: list[N] = []
    for value in values:
        if value is None:
            return None
        values_known.append(value)
    return sum(values_known[1:], start=values_known[0])
