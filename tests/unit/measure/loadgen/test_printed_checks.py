"""What sysbench prints is taken when reports, totals, histogram and arrivals agree, and refused with both values."""

from dataclasses import replace

import pytest

from scripts.measure.loadgen.gated import CountsDisagree
from scripts.measure.loadgen.output import Histogram, Latency, Output, Report, Totals
from scripts.measure.loadgen.printed_checks import demand_agreement
from scripts.measure.loadgen.run_sysbench import FinishedLoad, Moment

ASKED_S, TPS = 22, 1000.0
TEXT = """
    transactions:                        22000  (1000.00 per sec.)
    total time:                          22.0100s
    total number of events:              22000
    execution time (avg/stddev):   21.9991/0.00
"""


def reports(seconds=range(1, ASKED_S), tps=TPS):
    return tuple(Report(second, 8, tps, None, 95, 1.0, 0.0, 0.0) for second in seconds)


def finished(every=None, stamps_s=None, transactions=22000, duration_s=22.01, counted=None, wall_s=22.3):
    every = reports() if every is None else every
    stamps_s = [100.0 + report.second for report in every] if stamps_s is None else stamps_s
    moments = tuple(Moment(n, stamp_s, 1e9 + stamp_s, (7,), (8,)) for n, stamp_s in enumerate(stamps_s, start=1))
    totals, latency = Totals(transactions, None, 0, 0, duration_s), Latency(0.1, 1.0, 9.0, 95, 1.0)
    histogram = Histogram((1.0,), (transactions if counted is None else counted,))
    output = Output("1.0.20", "LuaJIT", 8, every, totals, latency, histogram)
    return FinishedLoad(output, moments, wall_s)


HONEST = {
    "steady": finished(),
    "a slow beginning and end": finished((*reports(range(1, 3), 10.0), *reports(range(3, 22))), transactions=19800),
    "a report that comes late": finished(stamps_s=[*(101.0 + n for n in range(20)), 122.2]),
    "no transaction at all": finished(reports(tps=0.0), transactions=0),
}
DISAGREE = {
    "rates that the totals do not hold": (finished(reports(tps=999999.0)), "add up to 20999979 .* totals say 22000"),
    "totals that the reports do not hold": (finished(transactions=70000), "add up to 21000 .* totals say 70000"),
    "reports all at once": (
        finished(stamps_s=[101.0 + n / 100 for n in range(21)]),
        "came 0.0 s after .* expected 2 s",
    ),
    "a second twice": (finished((*reports(), *reports([21]))), "of second 21 follows one of second 21"),
    "back in time": (finished(reports([*range(1, 10), 3])), "of second 3 follows one of second 9"),
    "more than there was time for": (finished(reports(range(1, 31))), "30 reports were printed, of seconds 1 to 30"),
    "a shorter time": (finished(duration_s=3.0), "a total time of 3.0 s"),
    "a longer time than passed": (finished(wall_s=3.0), "and ran for 3.0 s"),
    "a histogram of other transactions": (finished(counted=900), "histogram has 900 transactions, .* say 22000"),
}


@pytest.mark.parametrize("load", HONEST.values(), ids=HONEST)
def test_honest_reports_agree(load):
    demand_agreement(load, TEXT, ASKED_S)


@pytest.mark.parametrize(("load", "said"), DISAGREE.values(), ids=DISAGREE)
def test_what_disagrees_is_told_with_both_values(load, said):
    with pytest.raises(CountsDisagree, match=said):
        demand_agreement(load, TEXT, ASKED_S)


def test_a_second_summary_is_told_unless_a_second_process_printed_it():
    with pytest.raises(CountsDisagree, match=r"2 lines like .*transactions.* were printed, expected 1"):
        demand_agreement(finished(), TEXT + TEXT, ASKED_S)
    demand_agreement(replace(finished(), processes=2), TEXT + TEXT, ASKED_S)
