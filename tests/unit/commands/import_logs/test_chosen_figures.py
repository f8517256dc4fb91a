"""Queries, mean latency, spread within a call, chosen seconds and chosen client counts of imported logs."""

import math
import re
import statistics

import pytest

from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs.calls import window_after
from scripts.commands.import_logs.imported_description import numbered, study_description
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern_file import read_pattern
from scripts.commands.import_logs.texts import NotRead
from scripts.lib.resolved_study import read_study
from scripts.measure.loadgen.output import Report, parse
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page.imported_findings import findings
from scripts.report.page.levels_section import level_means
from scripts.report.page.workloads_section import by_workload
from tests.made.logs import LAID_OUT, OF_1_0, log, tree, write

pytestmark = pytest.mark.slow

FOLDER = import_logs.STUDIES / "shared"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(here, *more):
    """Import up to the tables: (study, tables by name)."""
    rules = read_pattern(write(here, "p.yaml", "\n".join([f'path: "{LAID_OUT}"', *more])))
    read_logs = read_tree(here / "logs", rules)
    read_logs.logs = numbered(read_logs.logs)
    declared = study_description("shared", here / "logs", rules, read_logs)
    import_logs.write_records(FOLDER, here / "logs", declared, read_logs.logs)
    import_logs.write_tables(FOLDER)
    tables = {path.stem: read_csv(path) for path in (FOLDER / "tables").glob("*.csv")}
    return read_study(FOLDER / "study.json"), tables, read_logs


def test_queries_mean_latency_spread_and_the_path_of_each_log_are_in_the_tables(here):
    tree(here / "logs", clients=(4, 8), repetitions=2)
    study, tables, _ = imported(here)
    output = parse((here / "logs/pgo/oltp_4_1.log").read_text())
    runs = tables["runs"].set_index("log")
    row = runs.loc["pgo/oltp_4_1.log"]
    assert row["qps"] == pytest.approx(output.totals.queries / output.totals.duration_s)
    assert row["latency_mean_ms"] == output.latency.mean_ms
    tps = [report.tps for report in output.reports]
    assert row["interval_cv"] == pytest.approx(statistics.stdev(tps) / statistics.fmean(tps))
    assert len(runs) == 8
    assert {"qps", "latency_mean_ms"} <= set(tables["cells"]["metric"])
    heads = [head.text for head in by_workload(study, tables).heads]
    assert {"QPS", "mean latency, ms"} <= set(heads)


def reports(*tps, step_s=10):
    return tuple(Report(step_s * (place + 1), 4, rate, 20 * rate, 95, 1.0, 0.5, 0.0) for place, rate in enumerate(tps))


def test_window_without_first_seconds_holds_the_intervals_that_begin_later():
    window = window_after(15, reports(1, 2, 300, 500))
    assert (window["duration_s"], window["transactions"], window["tps"]) == (20, 8000, 400)
    assert (window["queries"], window["errors"], window["reconnects"]) == (160_000, 10, 0)
    assert {window[name] for name in ("latency_mean_ms", "p50_ms", "p95_ms", "p99_ms")} == {None}


def test_interval_that_begins_where_the_first_seconds_end_counts():
    assert window_after(10, reports(1, 2, 300))["duration_s"] == 20


@pytest.mark.parametrize("series", [(), reports(100)])
def test_log_without_intervals_after_the_first_seconds_is_named(series):
    with pytest.raises(NotRead, match="skip_s: no line of an interval begins after 5 s"):
        window_after(5, series)


def test_left_out_seconds_are_told_on_the_page_and_no_latency_is_compared(here):
    tree(here / "logs", repetitions=2)
    study, tables, _ = imported(here, "skip_s: 2")
    whole = parse((here / "logs/pgo/oltp_4_1.log").read_text())
    row = tables["runs"].set_index("log").loc["pgo/oltp_4_1.log"]
    assert row["duration_s"] == whole.reports[-1].second - 2
    assert math.isnan(row["p95_ms"])
    assert math.isnan(row["latency_mean_ms"])
    (span,) = [finding for finding in findings(study, tables) if finding.code == "span"]
    assert "2 s or later" in span.text


def test_means_over_chosen_client_counts_stand_beside_those_of_each(here):
    tree(here / "logs", clients=(1, 8, 16), repetitions=2)
    study, tables, _ = imported(here, "means: {many: [8, 16]}")
    levels = tables["levels"]
    (row,) = levels[(levels["level"] == "many") & (levels["metric"] == "tps")].itertuples()
    of_each = levels[levels["level"].isin(["8", "16"]) & (levels["metric"] == "tps")]
    assert row.log_ratio == pytest.approx(of_each["log_ratio"].mean())
    assert (row.n_cells, row.n_cells_planned) == (2, 2)
    assert "many" in [row.cells[0].text for row in level_means(study, levels).rows]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("means: {many: [9]}", "means: many: 9 clients match no log; there are 4"),
        ("means: {many: some}", "means: many: 'some', expected a list of client counts"),
        ("means: [8]", "means: ['8'], expected names, each with a list"),
        ("skip_s: a while", "skip_s: 'a while', expected seconds"),
        ("skip_s: -1", "skip_s: '-1', expected seconds"),
    ],
)
def test_wrong_choices_are_named(here, line, words):
    tree(here / "logs", repetitions=1)
    with pytest.raises(ValueError, match=re.escape(words)):
        imported(here, line)


def test_events_of_a_script_without_transactions_are_named_so(here):
    text = re.sub(r"(?m)^ +transactions: .*\n", "", log(4, 6000, OF_1_0))
    for variant in ("baseline", "pgo"):
        write(here / "logs", f"{variant}/cpu_4_1.log", text)
    study, tables, read_logs = imported(here)
    assert read_logs.logs[0].facts["window"]["transactions"] == parse(text).totals.transactions
    assert "events" in [finding.code for finding in findings(study, tables)]
