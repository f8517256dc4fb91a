"""What sysbench printed is read in full or refused; the outputs are recorded (tests/data/README.md)."""

import pytest

from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused, parse, parse_report, percentile
from tests.made.sysbench_outputs import FINISHED, recorded


def test_reads_every_number_of_a_1_0_output():
    output = parse(recorded("1.0.20-postgresql-oltp_read_write"))
    assert (output.version, output.luajit) == ("1.0.20", "system LuaJIT 2.1.0-beta3")
    assert [report.tps for report in output.reports] == [793.22, 646.34, 751.98, 740.02, 788.99]
    second = output.reports[1]
    assert (second.second, second.clients, second.qps, second.percentile) == (2, 2, 13012.84, 95)
    assert (second.percentile_ms, second.errors_per_s, second.reconnects_per_s) == (3.96, 5.0, 0.0)
    totals = output.totals
    assert (totals.transactions, totals.queries, totals.errors, totals.reconnects) == (3723, 74604, 8, 0)
    assert totals.duration_s == 5.0050
    assert (output.latency.min_ms, output.latency.mean_ms, output.latency.max_ms) == (1.05, 2.68, 11.88)


def test_numbers_in_front_of_the_last_report_are_not_those_of_the_summary():
    text = recorded("1.1.0-oltp_write")
    first = next(line for line in text.splitlines() if line.startswith("[ 10s ]"))
    misleading = "    transactions:      1  (1.0 per sec.)\n         avg:      77.7\n"
    changed = text.replace(first, misleading + first)
    assert changed != text
    assert parse(changed) == parse(text)


def test_reads_every_number_of_a_1_1_output():
    output = parse(recorded("1.1.0-oltp_write"))
    assert output.version == "1.1.0"
    assert [report.second for report in output.reports] == [10, 20, 30, 40, 50, 60]
    assert (output.totals.transactions, output.totals.queries, output.totals.duration_s) == (25227, 25227, 60.0118)
    assert (output.latency.mean_ms, output.latency.percentile, output.latency.percentile_ms) == (9.51, 95, 16.12)
    assert output.histogram is None


def test_errors_that_a_script_retries_are_no_failure_and_others_are():
    retried = "retries: FATAL: unable to connect\nFATAL: unable to connect to MySQL server, aborting...\n"
    assert parse(retried + recorded("1.1.0-oltp_write")) == parse(recorded("1.1.0-oltp_write"))
    for text in (retried.partition("\n")[2], retried + "FATAL: error 2013: Lost connection\n"):
        with pytest.raises(SysbenchFailed, match="sysbench: FATAL: "):
            parse(text + recorded("1.1.0-oltp_write"))


def test_reads_every_number_of_a_0_5_output():
    output = parse(recorded("0.5-oltp"))
    assert (output.version, output.luajit, output.clients, output.histogram) == ("0.5", None, 4, None)
    assert [(report.second, report.tps, report.percentile_ms) for report in output.reports] == [
        (10, 501.10, 11.72),
        (20, 498.50, 11.95),
        (30, 500.20, 11.80),
    ]
    first = output.reports[0]
    assert (first.clients, first.qps, first.percentile, first.errors_per_s, first.reconnects_per_s) == (
        4, None, 95, 0.1, 0.0,
    )  # fmt: skip
    totals = output.totals
    assert (totals.transactions, totals.queries, totals.errors, totals.reconnects) == (15000, 300000, 1, 0)
    assert totals.duration_s == 30.0054
    latency = output.latency
    assert (latency.min_ms, latency.mean_ms, latency.max_ms) == (3.91, 8.0, 61.37)
    assert (latency.percentile, latency.percentile_ms) == (95, 11.83)


def test_reads_an_output_without_interval_reports():
    output = parse(recorded("0.4.12-oltp"))
    assert (output.version, output.clients, output.reports) == ("0.4.12", 16, ())
    assert (output.totals.transactions, output.totals.errors, output.totals.duration_s) == (30000, 0, 60.006)
    assert (output.latency.percentile, output.latency.percentile_ms) == (95, 54.02)


def test_early_0_5_reports_have_no_errors():
    # As early development versions of 0.5 print them.
    line = "[  10s] threads: 32, tps: 957.08, reads/s: 13434.57, writes/s: 3828.53, response time: 57.02ms (99%)"
    report = parse_report(line)
    assert (report.second, report.tps, report.percentile, report.errors_per_s) == (10, 957.08, 99, None)


def test_reads_a_1_1_histogram_and_a_load_without_sql():
    output = parse(recorded("1.1.0-cpu_histogram"))
    assert output.version == "1.1.0-df89d34c410a"
    assert sum(output.histogram.count) == output.totals.transactions == 64822
    assert (output.totals.queries, output.totals.errors, output.totals.reconnects) == (None, None, None)
    assert percentile(output.histogram, 0.99) == pytest.approx(output.latency.percentile_ms, abs=0.005)


@pytest.mark.parametrize("name", FINISHED)
def test_histogram_holds_every_transaction(name):
    output = parse(recorded(name))
    assert sum(output.histogram.count) == output.totals.transactions


@pytest.mark.parametrize("name", [*FINISHED, "0.5-oltp", "0.4.12-oltp"])
def test_text_cut_off_anywhere_before_its_last_line_is_rejected(name):
    lines = recorded(name).rstrip().splitlines(keepends=True)
    for kept in range(len(lines)):
        with pytest.raises(SysbenchFailed, match="incomplete"):
            parse("".join(lines[:kept]))


def test_missing_totals_are_rejected():
    lines = recorded(FINISHED[0]).splitlines()
    with pytest.raises(SysbenchFailed, match="total time"):
        parse("\n".join(line for line in lines if "total time" not in line))


def test_killed_sysbench_is_rejected_with_its_last_lines():
    with pytest.raises(SysbenchFailed, match=r"incomplete(.|\n)*\[ 2s \] thds: 2"):
        parse(recorded("1.0.20-killed"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("1.0.20-mariadb-wrong_socket", "Can't connect to local server through socket"),
        ("1.0.20-postgresql-wrong_socket", "No such file or directory"),
        ("1.0.20-mariadb-server_died", "Lost connection to server during query"),
    ],
)
def test_failure_quotes_what_sysbench_said(name, words):
    with pytest.raises(SysbenchFailed, match=words):
        parse(recorded(name))


@pytest.mark.parametrize("name", ["1.0.20-invalid_option", "1.0.20-unknown_script"])
def test_refused_command_line_is_no_failure_of_the_server(name):
    with pytest.raises(SysbenchMisused, match="nosuch"):
        parse(recorded(name))


def test_error_rate_is_read_without_its_colon_too():
    # As in lines by sysbench-tpcc.
    line = "[ 93s ] thds: 56 tps: 43.01 qps: 1397.23 (r/w/o: 645.10/662.11/90.01) lat (ms,95%): 2680.11 "
    report = parse_report(line + "err/s 1.00 reconn/s: 0.00")
    assert (report.second, report.tps, report.errors_per_s) == (93, 43.01, 1.0)
