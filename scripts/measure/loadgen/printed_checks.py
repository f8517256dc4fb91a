"""Check what sysbench printed against itself and against our own clock: a script may print lines in the same form."""

import re
from collections.abc import Sequence
from itertools import pairwise

from scripts.measure.loadgen.gated import CountsDisagree
from scripts.measure.loadgen.output import Report
from scripts.measure.loadgen.run_sysbench import FinishedLoad

# Lines that each sysbench prints once.
ONCE = (
    r"^ +transactions: +\d",
    r"^ +total number of events: +\d",
    r"^ +(?:total time|time elapsed): +\S+s$",
    r"^ +execution time \(avg/stddev\): +\S+$",
)
# A report may come late on a busy machine, and sysbench divides by its own, inexact interval.
LATE_S, INEXACT_SHARE = 1.5, 0.05
HISTOGRAM_SHARE = 0.01


def demand_agreement(finished: FinishedLoad, text: str, asked_s: int) -> None:
    """Demand that reports, totals, histogram and arrival times of a load agree, which was to run for `asked_s`.

    `text` is all that was printed. Raises CountsDisagree naming both values.
    """
    _demand_one_summary(text, finished.processes)
    _demand_seconds(finished, asked_s)
    _demand_totals(finished, asked_s)


def _demand_one_summary(text: str, processes: int) -> None:
    for pattern in ONCE:
        if (amount := len(re.findall(pattern, text, re.MULTILINE))) > processes:
            raise CountsDisagree(
                f"{amount} lines like {pattern!r} were printed, expected {processes}: the script prints lines in the "
                "form of sysbench's own totals"
            )


def _demand_seconds(finished: FinishedLoad, asked_s: int) -> None:
    reports, stamps_s = finished.output.reports, [moment.monotonic_s for moment in finished.moments]
    seconds = [report.second for report in reports]
    wrong = [(before, after) for before, after in pairwise(seconds) if after <= before]
    if wrong or len(seconds) > asked_s or (seconds and not 0 < seconds[0] <= seconds[-1] <= asked_s):
        what = f"{len(seconds)} reports were printed, of seconds {seconds[0]} to {seconds[-1]}"
        if wrong:
            what = f"a report of second {wrong[0][1]} follows one of second {wrong[0][0]}"
        raise CountsDisagree(f"{what}, expected one for each of {asked_s} s: {_LIKE_REPORTS}")
    for second, stamp_s in zip(seconds, stamps_s, strict=True):
        counted_s, passed_s = second - seconds[0], stamp_s - stamps_s[0]
        if abs(passed_s - counted_s) > LATE_S:
            raise CountsDisagree(
                f"the report of second {second} came {passed_s:.1f} s after that of second {seconds[0]}, expected "
                f"{counted_s} s: {_LIKE_REPORTS}"
            )


_LIKE_REPORTS = "the script prints lines in the form of sysbench's reports, or sysbench was held up"


def _demand_totals(finished: FinishedLoad, asked_s: int) -> None:
    reports, totals, histogram = finished.output.reports, finished.output.totals, finished.output.histogram
    if finished.wall_s < totals.duration_s - LATE_S or totals.duration_s < asked_s - LATE_S:
        raise CountsDisagree(
            f"sysbench printed a total time of {totals.duration_s:.1f} s and ran for {finished.wall_s:.1f} s, "
            f"expected at least {asked_s} s"
        )
    reported = reported_transactions(reports)
    left_s = totals.duration_s - (reports[-1].second if reports else 0)
    clients = max((report.clients for report in reports), default=1)
    spare = INEXACT_SHARE * max(reported, totals.transactions) + 2 * clients
    fastest = max((report.tps for report in reports), default=0.0)
    if not -spare <= totals.transactions - reported <= spare + 2 * fastest * max(left_s, 0.0):
        raise CountsDisagree(
            f"the reports of {len(reports)} seconds add up to {reported:.0f} transactions, the totals say "
            f"{totals.transactions}: the script prints lines in the form of sysbench's"
        )
    if histogram and abs(sum(histogram.count) - totals.transactions) > HISTOGRAM_SHARE * totals.transactions + 1:
        raise CountsDisagree(
            f"the histogram has {sum(histogram.count)} transactions, the totals say {totals.transactions}: the script "
            "prints lines in the form of sysbench's"
        )


def reported_transactions(reports: Sequence[Report]) -> float:
    """Return the transactions that reports add up to, each rate over the seconds since the report before."""
    seconds = [0, *(report.second for report in reports)]
    steps = (after - before for before, after in pairwise(seconds))
    return sum(report.tps * step_s for report, step_s in zip(reports, steps, strict=True))
