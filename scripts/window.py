"""The measured stretch of a sysbench call: what happened between two of its reports, and its percentiles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.sysbench_output import Histogram, Report, SysbenchFailed

# sysbench's histogram has 1024 buckets, evenly spaced in the logarithm, from 0.001 ms to 100 s (sb_logger.c).
HISTOGRAM_END_MS = 100_000.0
BUCKET_RATIO = (HISTOGRAM_END_MS / 0.001) ** (1 / 1023)


@dataclass(frozen=True)
class Window:
    """The measured stretch of a call, from one report to a later one."""

    duration_s: float
    transactions: int
    tps: float


def window(reports: Sequence[Report], stamps_s: Sequence[float], first: int = 0, last: int | None = None) -> Window:
    """Return the stretch between two reports (indices; the first and the last unless told otherwise).

    `stamps_s` holds each report's time of arrival on one clock, in seconds. A report's TPS is a rate over the time
    since the report before, so transactions = sum over the later reports of TPS x seconds since the one before;
    what went before the first report (connecting, the first second) is not in the window.
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
    return Window(duration_s=duration_s, transactions=round(transactions), tps=transactions / duration_s)


def percentile(histogram: Histogram, share: float) -> float:
    """Return the latency in ms of the bucket that holds the given share (0 < share <= 1) of the transactions.

    The rank is sysbench's own (sb_histogram.c): the nearest whole number of events. A bucket is 1.8 % wide, so two
    values closer than that are equal; HISTOGRAM_END_MS means "that much or more". Raises ValueError when empty.
    """
    total = sum(histogram.count)
    if not 0 < share <= 1 or total == 0:
        raise ValueError(f"percentile: share {share!r} of {total} transactions, expected 0 < share <= 1 and some")
    rank, seen = max(1, math.floor(total * share + 0.5)), 0
    for latency_ms, count in zip(histogram.latency_ms, histogram.count, strict=True):
        seen += count
        if seen >= rank:
            return latency_ms
    raise AssertionError("unreachable: the rank is at most the total")
