"""The mean over cells, with and without the runs that stand out."""

import numpy as np
import pandas as pd
import pytest

from scripts.lib.vocabulary import Verdict
from scripts.report.analysis import stats
from scripts.report.analysis.comparison import Terms, without_flagged
from scripts.report.analysis.metrics import METRICS
from scripts.report.analysis.repetition_pace import repetition_s
from tests.made import run, synthetic
from tests.made.compared import compared, of


def test_overall_ratio_is_the_geometric_mean_over_cells():
    found = compared()
    row = of(found.overall).iloc[0]
    assert row["ratio"] == pytest.approx(stats.geometric_mean(of(found.cells)["ratio"]))
    assert (row["n_cells"], row["n_repetitions"], row["n_above"]) == (2, 5, 2)
    assert (row["lowest_workload"], row["highest_workload"]) == ("oltp", "simple_select")


def test_a_repetition_with_a_hole_does_not_count_as_complete():
    plan = synthetic.Plan(workloads=("simple_select", "oltp"), failures=frozenset([("pgo", "oltp", 8, 2)]))
    found = compared(plan)
    row = of(found.overall).iloc[0]
    assert (row["n_repetitions"], row["n_cells"], row["verdict"]) == (4, 2, Verdict.TOO_FEW_BLOCKS)


def test_a_cell_that_always_failed_is_left_out_and_counted():
    lost = frozenset(("pgo", "oltp", 8, repetition) for repetition in range(1, 6))
    found = compared(synthetic.Plan(workloads=("simple_select", "oltp"), failures=lost))
    row = of(found.overall).iloc[0]
    assert (row["n_cells"], row["n_cells_planned"], row["n_repetitions"], row["verdict"]) == (1, 2, 5, "far_above")


def test_a_variant_that_never_ran_has_a_row_without_a_ratio():
    lost = frozenset(("pgo", "oltp", 8, repetition) for repetition in range(1, 6))
    found = compared(synthetic.Plan(workloads=("oltp",), failures=lost))
    row = of(found.overall).iloc[0]
    assert row["n_cells"] == 0
    assert np.isnan(row["ratio"])


def test_without_flagged_is_the_study_in_which_the_flagged_pairs_were_lost():
    stands_out = [("oltp", 1), ("oltp", 4), ("simple_select", 2)]

    def warn(facts):
        if facts["variant"] == "pgo" and (facts["workload"], facts["repetition"]) in stands_out:
            facts["warnings"] = [{"code": "steal", "text": "", "value": 1, "threshold": 0}]
        else:
            facts["warnings"] = []

    def lose(facts):
        if facts["variant"] == "pgo" and (facts["workload"], facts["repetition"]) in stands_out:
            facts.update(run.failed(facts))

    every, expected = compared(edit=warn), compared(edit=lose).overall
    found = without_flagged(every.judged, Terms("baseline", tuple(METRICS)))
    columns = ["variant", "metric", "ratio", "ratio_low", "ratio_high", "n_pairs", "n_above", "verdict"]
    by_name = [each[columns].sort_values(["variant", "metric"], ignore_index=True) for each in (found, expected)]
    pd.testing.assert_frame_equal(*by_name)
    row, left = of(every.overall).iloc[0], of(found).iloc[0]
    assert (row["n_pairs"], row["n_flagged"], left["n_pairs"], left["n_blocks_least"]) == (10, 3, 7, 3)


def test_scattered_holes_leave_no_whole_repetition_but_an_interval_and_a_word():
    places = {("pgo", ("simple_select", "oltp")[repetition % 2], 8, repetition) for repetition in range(1, 11)}
    plan = synthetic.Plan(workloads=("simple_select", "oltp"), repetitions=10, failures=frozenset(places))
    found = compared(plan)
    row = of(found.overall).iloc[0]
    assert (row["n_repetitions"], row["n_blocks_least"], row["verdict"]) == (0, 5, "far_above")
    assert 1 < row["ratio_low"] < row["ratio"] < row["ratio_high"]


def with_warnings(codes_of):
    """Return comparisons of a study in which `codes_of(facts)` names the warnings of each run."""

    def warn(facts):
        facts["warnings"] = [{"code": code, "text": code, "value": 1, "threshold": 0} for code in codes_of(facts)]

    return compared(edit=warn).comparisons


def test_a_warning_that_every_run_has_makes_none_stand_out():
    assert not with_warnings(lambda facts: ["governor"])["flagged"].any()


def test_what_could_not_be_measured_makes_no_run_stand_out():
    pairs = with_warnings(lambda facts: ["not_measured"] if facts["repetition"] == 1 else [])
    assert not pairs["flagged"].any()


def test_a_warning_of_the_reference_flags_every_run_of_its_block():
    pairs = with_warnings(
        lambda facts: ["governor", *["steal"] * (facts["variant"] == "baseline" and facts["repetition"] == 2)]
    )
    assert set(pairs[pairs["flagged"]]["variant"]) == {"pgo", "aa"}
    assert set(pairs[pairs["flagged"]]["repetition"]) == {2}


def test_word_of_a_study_of_one_cell_is_that_of_its_cell():
    variants = {"baseline": 0.0, **{f"v{number}": 0.05 for number in range(6)}, "aa": 0.0}
    words = set()
    for seed in range(6):
        found = compared(synthetic.Plan(workloads=("oltp",), variants=variants, seed=seed, noise=0.02))
        both = found.overall.merge(found.cells, on=["variant", "metric"], suffixes=("", "_cell"))
        judged = both[(both["variant"] != "aa") & (both["metric"] == "tps")]
        assert judged["p_holm"].to_numpy() == pytest.approx(judged["p_holm_cell"].to_numpy())
        assert (judged["verdict"] == judged["verdict_cell"]).all()
        words |= set(judged["verdict"])
    assert {"open", "same"} & words


def test_time_that_settles_an_open_question_follows_from_width_and_times():
    found = compared()
    row = of(found.overall).iloc[0]
    half = np.log(row["ratio_high"] / row["ratio"])
    assert row["settling_repetitions"] == np.ceil(5 * (half / np.log(1.02)) ** 2)
    seconds = repetition_s(found.judged)
    assert row["settling_min"] == pytest.approx((row["settling_repetitions"] - 5) * seconds / 60)
    assert row["detectable_ratio"] > row["ratio_high"] / row["ratio"]
