"""The outputs of several sysbench processes as that of one load."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.measure.loadgen.output import parse, percentile, window
from scripts.measure.loadgen.summing import added, counted, report_times_due

DATA = Path(__file__).parents[3] / "data" / "sysbench"
READ, WRITE = (parse((DATA / f"1.0.20-mariadb-oltp_read_{kind}.txt").read_text()) for kind in ("only", "write"))


def together(*outputs):
    """The sum of processes that gave each report at one moment."""
    return added(outputs, [[float(report.second) for report in output.reports] for output in outputs])


def test_rates_counts_and_histograms_add_up():
    both = together(READ, WRITE)
    reports = list(zip(READ.reports, WRITE.reports, strict=False))
    for name in ("tps", "qps", "clients", "errors_per_s"):
        assert [getattr(report, name) for report in both.reports] == pytest.approx(
            [getattr(one, name) + getattr(other, name) for one, other in reports]
        )
    assert both.totals.transactions == READ.totals.transactions + WRITE.totals.transactions
    assert both.totals.queries == READ.totals.queries + WRITE.totals.queries
    assert sum(both.histogram.count) == sum(READ.histogram.count) + sum(WRITE.histogram.count)
    assert list(both.histogram.latency_ms) == sorted(set(READ.histogram.latency_ms) | set(WRITE.histogram.latency_ms))
    assert both.clients == READ.clients + WRITE.clients


def test_percentiles_come_from_the_summed_histogram_and_from_nothing_else():
    both = together(READ, WRITE)
    assert {report.percentile_ms for report in both.reports} == {None}
    assert (both.latency.percentile, both.latency.percentile_ms) == (None, None)
    each = [percentile(output.histogram, 0.95) for output in (READ, WRITE)]
    assert min(each) < percentile(both.histogram, 0.95) < max(each)
    alike = together(READ, READ, READ)
    assert [percentile(alike.histogram, share) for share in (0.5, 0.95, 0.99)] == [
        percentile(READ.histogram, share) for share in (0.5, 0.95, 0.99)
    ]


def test_mean_latency_counts_every_transaction_alike():
    both, transactions = together(READ, WRITE), READ.totals.transactions + WRITE.totals.transactions
    waited_ms = sum(output.latency.mean_ms * output.totals.transactions for output in (READ, WRITE))
    assert both.latency.mean_ms == pytest.approx(waited_ms / transactions)
    assert both.latency.min_ms == min(READ.latency.min_ms, WRITE.latency.min_ms)
    assert both.latency.max_ms == max(READ.latency.max_ms, WRITE.latency.max_ms)


def test_processes_apart_are_added_up_by_the_clock_and_not_by_the_number_of_the_report():
    slow = [replace(READ.reports[0], tps=tps, qps=None) for tps in (100.0, 200.0, 300.0, 400.0)]
    fast = [replace(READ.reports[0], tps=10.0) for _ in range(4)]
    stamps = [[1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5]]
    both = added([replace(READ, reports=tuple(slow)), replace(READ, reports=tuple(fast))], stamps)
    assert [report.tps for report in both.reports] == pytest.approx([160, 260, 360, 410])
    assert {report.qps for report in both.reports} == {None}
    stretch = window(both.reports, report_times_due(stamps))
    assert (stretch.duration_s, stretch.transactions) == (3.0, round(0.5 * 200 + 300 + 400 + 0.5 * 400 + 30))


def test_rates_are_those_of_the_counts_where_reports_come_late():
    reports = tuple(replace(READ.reports[0], tps=tps, qps=None) for tps in (100.0, 600.0, 50.0))
    text = "[ counted ] 100 0 0 0\nelse\n[ counted ] 300 0 6 0\n[ counted ] 40 0 0 0\n"
    found = counted(replace(READ, reports=reports), text, [1.0, 4.0, 4.5])
    assert [report.tps for report in found.reports] == [100.0, 100.0, 80.0]
    assert [report.errors_per_s for report in found.reports[1:]] == [2.0, 0.0]
    assert {report.qps for report in found.reports} == {None}
    with pytest.raises(ValueError, match="shorter"):
        counted(replace(READ, reports=reports), text[:30], [1.0, 4.0, 4.5])


def test_what_one_process_does_not_tell_is_missing_and_not_zero():
    silent = replace(READ, histogram=None, totals=replace(READ.totals, errors=None))
    both = together(WRITE, silent)
    assert (both.histogram, both.totals.errors) == (None, None)
