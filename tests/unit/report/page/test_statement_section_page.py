"""Timed SQL in tables and report: statement by statement, with intervals, and never across different answers."""

import numpy as np
import pytest
from scipy import stats

from scripts.report.analysis.run_tables import read_csv
from tests.made import synthetic
from tests.made.rendering import Elements, answer_of, findings_of, rendered, worded
from tests.made.sql import PLAN, SHOWN, timed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The report of a study of timed SQL alone, in which pgo takes half the time."""
    return rendered(PLAN, tmp_path_factory.mktemp("sql"), timed())


def statements(tree, **chosen):
    table = read_csv(tree.tables / "statements.csv")
    for column, value in chosen.items():
        table = table[table[column] == value]
    return table


def test_every_statement_has_a_ratio_with_its_interval_and_blocks(plain):
    tree, *_ = plain
    rows = statements(tree, variant="pgo")
    assert len(rows) == 8
    assert rows["ratio"].to_numpy() == pytest.approx(0.5, rel=0.03)
    assert ((rows["ratio_low"] < rows["ratio"]) & (rows["ratio"] < rows["ratio_high"])).all()
    assert set(rows["n_blocks"]) == {5}
    assert set(rows["verdict"]) == {"far_below"}
    assert statements(tree, variant="baseline")["ratio"].isna().all()
    assert statements(tree, variant="aa")["verdict"].isna().all()


def test_ratio_of_a_statement_is_that_of_its_executions(plain):
    tree, *_ = plain
    done = read_csv(tree.tables / "executions.csv")
    cold = done[(done["statement"] == "join") & (done["pass"] == 1)].pivot(
        index="repetition", columns="variant", values="statement_s"
    )
    row = statements(tree, variant="pgo", statement="join", cache="cold").iloc[0]
    assert np.log(row["ratio"]) == pytest.approx(np.log(cold["pgo"] / np.sqrt(cold["baseline"] * cold["aa"])).mean())
    assert row["value_s"] == pytest.approx(np.exp(np.log(cold["pgo"]).mean()))


def test_pairs_of_statements_have_the_ratio_of_their_executions_in_one_run(plain):
    tree, *_ = plain
    done, pairs = read_csv(tree.tables / "executions.csv"), read_csv(tree.tables / "against.csv")
    assert sorted(pairs["variant"]) == ["aa", "baseline", "pgo"]
    assert set(zip(pairs["statement"], pairs["against"], pairs["n_ok"], strict=True)) == {("group", "join", 5)}
    own = done[(done["variant"] == "pgo") & (done["pass"] == 1)]
    wide = own.pivot(index="repetition", columns="statement", values="statement_s")
    logs, row = np.log(wide["group"] / wide["join"]), pairs.set_index("variant").loc["pgo"]
    assert np.log(row["ratio"]) == pytest.approx(logs.mean())
    half = stats.t(len(logs) - 1).ppf(0.975) * logs.std(ddof=1) / np.sqrt(len(logs))
    bounds = [np.log(row[name]) for name in ("ratio_low", "ratio_high")]
    assert bounds == pytest.approx([logs.mean() - half, logs.mean() + half])


def test_answer_begins_with_the_cold_time_and_tells_the_warm_one(plain):
    tree, page, summary = plain
    answer = answer_of(tree)
    assert answer.headline.startswith("pgo is more than 2\u202f% faster than baseline: 0.")
    assert "the cold time of the statements of baseline" in answer.headline
    assert [each.text for each in answer.sentences if each.text.startswith("Warm time of the statements: 0.")]
    said = Elements(page).said()
    assert "the cold time of the statements of baseline" in said
    assert "the cold time of the statements of baseline" in summary
    assert "- Time of group / join: baseline 0.25\u202f× (0.2" in summary
    assert "transactions per second" not in said.split("Quantities")[0]


def test_page_shows_statements_answers_and_what_was_shown_escaped(plain):
    _, page, _ = plain
    said = Elements(page).said()
    for text in ("cold, seconds", "warm, seconds", "Statement against statement", "group / join", "size of <t>"):
        assert text in said
    assert "SELECT '<b>count</b>'" in said
    assert "SELECT '<b>" not in page
    assert "no byte of the copy was left in the page cache" in said
    assert 'id="statements-oltp' in page


def test_shown_answers_that_differ_between_the_passes_stand_twice(tmp_path):
    hits = [{"pass": number, "name": "hits", "columns": ["Value"], "rows": [[str(5 * number)]]} for number in (1, 2)]
    _, page, _ = rendered(PLAN, tmp_path, timed(shown=[SHOWN, {**SHOWN, "pass": 2}, *hits]))
    said = Elements(page).said()
    for variant in ("baseline", "pgo"):
        assert f"{variant} 10 –" in said
        assert f"{variant} cold 5" in said
        assert f"{variant} warm 10" in said


def test_published_seconds_stand_beside_ours_and_their_ratio_beside_that_of_our_statements(plain):
    _, page, summary = plain
    said = Elements(page).said()
    assert said.count("published paper") == 3
    assert "published paper 0.38\u202f×." in summary
    assert "Published in a quantity" not in said


def test_same_rows_everywhere_are_a_good_finding(plain):
    tree, *_ = plain
    finding = findings_of(tree)["same_rows"]
    assert finding.state == "good"
    assert finding.text.startswith("4 timed statements had the same number of rows with the same checksum")


def test_a_statement_that_answers_otherwise_has_no_ratio_and_is_told(tmp_path):
    tree, page, _ = worded(PLAN, tmp_path, timed(answers={("pgo", "join"): "00" * 32}))
    row = statements(tree, variant="pgo", statement="join", cache="cold").iloc[0]
    assert (np.isnan(row["ratio"]), row["n_differ"], row["n_blocks"]) == (True, 5, 0)
    assert statements(tree, variant="pgo", statement="count", cache="cold")["n_blocks"].item() == 5
    finding = findings_of(tree)["same_rows"]
    assert finding.state == "look"
    assert "pgo, oltp, join, cold: an answer different from the reference's in 5 blocks" in finding.details
    assert "another answer" in Elements(page).said()


def test_totals_leave_out_what_a_release_is_not_sent(tmp_path):
    tree, page, _ = worded(PLAN, tmp_path, timed(skipped=[("pgo", "count")]))
    runs = read_csv(tree.tables / "runs.csv").set_index("variant")
    assert runs.loc["baseline", "cold_s"].to_numpy() == pytest.approx(1.3125, rel=0.03)
    assert runs.loc["pgo", "cold_s"].to_numpy() == pytest.approx(0.65625, rel=0.03)
    assert "count does not apply to the release of pgo; total times leave it out." in Elements(page).said()


def test_beside_a_load_of_sysbench_each_keeps_its_own_quantities(tmp_path):
    plan = synthetic.Plan(workloads=("simple_select", "oltp"), clients=(1,))
    tree, page, _ = rendered(plan, tmp_path, timed())
    cells = read_csv(tree.tables / "cells.csv")
    known = cells[cells["value"].notna()].groupby("workload")["metric"].agg(set)
    assert known["oltp"] == {"cold_s", "warm_s"}
    assert not known["simple_select"] & known["oltp"]
    answer = answer_of(tree)
    assert "the transactions per second of baseline, geometric mean over 1 workload" in answer.headline
    assert not [sentence for sentence in answer.sentences if "could not be compared" in sentence.text]
    assert [sentence for sentence in answer.sentences if sentence.text.startswith("Cold time of the statements: 0.")]
    assert "TPS / cold s" in Elements(page).said()


def test_a_failed_run_of_timed_sql_is_a_hole(tmp_path):
    plan = synthetic.Plan(workloads=("oltp",), clients=(1,), failures=frozenset({("pgo", "oltp", 1, 2)}))
    tree, *_ = worded(plan, tmp_path, timed())
    assert set(statements(tree, variant="pgo")["n_blocks"]) == {4}
    assert findings_of(tree)["runs"].state == "look"


def test_a_study_in_which_all_timed_sql_failed_has_a_report(tmp_path):
    lost = frozenset((name, "oltp", 1, number) for name in PLAN.variants for number in range(1, 6))
    plan = synthetic.Plan(workloads=("oltp",), clients=(1,), failures=lost)
    tree, page, _ = rendered(plan, tmp_path, timed())
    assert statements(tree).empty
    assert "cannot be compared" in Elements(page).said()
