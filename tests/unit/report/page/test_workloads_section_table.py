"""The table by workload has one row per variant and workload, with values, ratios and intervals in the same row."""

import pytest

from scripts.lib.json_record import read
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.lib.wording import by_width, count
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page.finding import Topic
from scripts.report.page.findings import passed_sentence
from scripts.report.page.workloads_section import by_workload, workload_sections
from tests.made.rendering import Elements, worded
from tests.made.synthetic import Plan

TABLES = ("cells", "runs", "operations", "comparisons")


def table_of(tree):
    return by_workload(
        read_study(tree.study), {name: read_csv(tree.tables / f"{name}.csv") for name in ("cells", "runs")}
    )


def test_rows_stand_by_workload_then_variant_with_the_figures_of_the_tables(report):
    tree, page, summary = report
    found = table_of(tree)
    assert [(row.cells[0].text, row.cells[1].text, row.style) for row in found.rows] == [
        ("simple_select", "pgo", "first"),
        ("simple_select", "aa", "aa"),
        ("oltp", "pgo", "first"),
        ("oltp", "aa", "aa"),
    ]
    cell = read_csv(tree.tables / "cells.csv").query("variant == 'pgo' and metric == 'tps'").set_index("workload")
    _, _, value, ratio, *_ = found.rows[0].cells
    row = cell.loc["simple_select"]
    assert value.text == f"{count(row['reference_value'])} → {count(row['value'])}"
    assert (ratio.text, ratio.notes) == (
        by_width(row["ratio"], row["ratio_low"], row["ratio_high"])[0],
        (by_width(row["ratio"], row["ratio_low"], row["ratio_high"])[1],),
    )
    assert "simple\\_select | pgo" in summary
    assert value.text in Elements(page).said()


def test_the_reference_has_a_row_where_no_variant_stands_beside_it(report):
    tree, *_ = report
    study, tables = read(tree.study), {name: read_csv(tree.tables / f"{name}.csv") for name in ("cells", "runs")}
    alone = tables["cells"].assign(reference_value=float("nan"))
    reference, pgo, _ = by_workload(ResolvedStudy.of(study), tables | {"cells": alone}).rows[:3]
    assert [bool(cell.text) for cell in reference.cells[2:]] == [True, False] * 3
    assert {cell.notes for cell in (*reference.cells[2::2], *pgo.cells[2::2])} == {("5 runs",)}


def test_load_on_a_part_of_the_rows_says_so(report):
    tree, *_ = report
    study, tables = read(tree.study), {name: read_csv(tree.tables / f"{name}.csv") for name in TABLES}

    def datasets():
        sections = workload_sections(ResolvedStudy.of(study), tables, [], {})
        return [section.blocks[0].text.partition(" on dataset ")[2] for section in sections]

    assert datasets() == ["sbtest", "sbtest"]
    study["workloads"]["oltp"]["rows"] = 10
    assert datasets() == ["sbtest", "sbtest, the first 10 rows of each table"]


def test_several_client_counts_have_rows_of_their_own(report_with_holes):
    found = table_of(report_with_holes[0])
    assert [(row.cells[1].text, row.cells[2].text) for row in found.rows] == [
        ("8", "pgo"), ("8", "aa"), ("64", "pgo"), ("64", "aa"),
    ]  # fmt: skip
    assert found.rows[0].cells[4].notes[-1] == "3 blocks, 1 split, 1 incomplete"
    assert found.rows[2].cells[3].text == "failed"


def slowly_stopped(record):
    """A record of a study with `stop: slow`, in which the servers of pgo take half the time of the others to stop."""
    if "order" in record:
        return {**record, "stop": "slow"}
    return {**record, "slow_stop_s": 1.5 if record["variant"] == "pgo" else 3.0} if "window" in record else record


def test_the_time_of_slow_stops_is_compared_like_the_other_quantities(tmp_path):
    tree, page, _ = worded(Plan(workloads=("oltp",)), tmp_path, slowly_stopped)
    found = table_of(tree)
    assert [head.text for head in found.heads[-2:]] == ["slow stop, s", "/ baseline"]
    assert [cell.text for row in found.rows for cell in row.cells[-2:]] == [
        "3.00 → 1.50", "0.50", "3.00 → 3.00", "1.000",
    ]  # fmt: skip
    overall = read_csv(tree.tables / "overall.csv").set_index(["variant", "metric"])
    assert overall.loc[("pgo", "slow_stop_s"), "ratio"] == pytest.approx(0.5)
    assert "slow stop, s" in Elements(page).said()


def test_proofs_are_one_line_that_counts_what_passed():
    topic, other = Topic("a", "Same answers"), Topic("b", "Profile used")
    good, more, bad, plain = topic.good(""), other.good(""), other.look(""), other.plain("")
    assert passed_sentence([good, more, plain]) == "All 2 checks passed: same answers, profile used."
    assert passed_sentence([good, bad]) == "1 of 2 checks passed: same answers."
    assert passed_sentence([bad]) == "None of 1 check passed."
    assert passed_sentence([plain]) == "Nothing was checked."


def test_a_run_without_a_transaction_is_counted_beside_the_ratio(report):
    tree, *_ = report
    study, tables = read(tree.study), {name: read_csv(tree.tables / f"{name}.csv") for name in ("cells", "runs")}
    cells = tables["cells"]
    cells.loc[(cells["variant"] == "pgo") & (cells["metric"] == "tps"), "n_blocks"] = 4
    assert (
        by_workload(ResolvedStudy.of(study), tables).rows[0].cells[3].notes[-1] == "4 blocks, 1 zero or without a value"
    )
