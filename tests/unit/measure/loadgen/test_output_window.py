"""The measured stretch of a call and its percentiles, on recorded outputs (tests/data/README.md)."""

from itertools import pairwise

import pytest

from scripts.measure.loadgen.output import (
    BUCKET_RATIO,
    Histogram,
    SysbenchFailed,
    parse,
    parse_report,
    percentile,
    window,
)
from tests.made.sysbench_outputs import FINISHED, recorded


@pytest.mark.parametrize("name", FINISHED)
def test_agrees_with_sysbenchs_own(name):
    output = parse(recorded(name))
    assert percentile(output.histogram, 0.95) == pytest.approx(output.latency.percentile_ms, abs=0.0051)


def test_is_the_bucket_that_holds_the_rank():
    histogram = Histogram((1.0, 2.0, 4.0), (90, 9, 1))
    assert [percentile(histogram, share) for share in (0.5, 0.9, 0.95, 0.99, 1.0)] == [1.0, 1.0, 2.0, 2.0, 4.0]


def test_buckets_are_1_8_percent_wide():
    latencies = parse(recorded(FINISHED[0])).histogram.latency_ms
    ratios = [b / a for a, b in pairwise(latencies)]
    assert min(ratios) == pytest.approx(BUCKET_RATIO, abs=0.002)
    assert pytest.approx(1.0182, abs=0.0001) == BUCKET_RATIO


def test_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="of 0 transactions"):
        percentile(Histogram((), ()), 0.5)


def test_leaves_out_what_came_before_the_first_report():
    output = parse(recorded("1.0.20-postgresql-oltp_read_write"))
    found = window(output.reports, [101.0, 102.0, 103.0, 104.0, 105.0])
    assert found.duration_s == 4.0
    assert found.transactions == round(646.34 + 751.98 + 740.02 + 788.99)
    assert found.tps == pytest.approx(found.transactions / 4, abs=0.2)


def test_whole_call_is_the_window_plus_the_first_second():
    output = parse(recorded("1.0.20-mariadb-oltp_read_only"))
    found = window(output.reports, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.transactions + output.reports[0].tps == pytest.approx(output.totals.transactions, abs=8)


def test_weights_a_late_report_by_the_time_it_covers():
    reports = [
        parse_report(f"[ {s}s ] thds: 1 eps: {rate} lat (ms,95%): 1.00") for s, rate in ((1, 9), (2, 10), (4, 40))
    ]
    found = window(reports, [1.0, 2.0, 4.0])
    assert (found.duration_s, found.transactions, found.tps) == (3.0, 90, 30.0)


def test_can_end_before_the_last_report():
    output = parse(recorded("1.0.20-mariadb-oltp_read_only"))
    assert window(output.reports, [1.0, 2.0, 3.0, 4.0, 5.0], last=2).duration_s == 2.0


def test_single_report_is_no_window():
    output = parse(recorded("1.0.20-mariadb-oltp_read_only"))
    with pytest.raises(SysbenchFailed, match=r"printed 1 per-second reports, expected .* report 1 to report 2"):
        window(output.reports[:1], [1.0])


def test_reports_that_never_came_are_a_failure():
    output = parse(recorded("1.0.20-mariadb-oltp_read_only"))
    with pytest.raises(SysbenchFailed, match=r"printed 5 .* to report 7"):
        window(output.reports, [1.0, 2.0, 3.0, 4.0, 5.0], last=6)
