"""Pairs, cells, noise floor and the mean over cells."""

import numpy as np
import pytest

from scripts.analysis import comparison, stats
from scripts.analysis.metrics import METRICS
from scripts.vocabulary import Verdict
from tests.made import synthetic
from tests.made.compared import frames, of


def is_run(facts, variant, repetition, workload="oltp"):
    return (facts["variant"], facts["repetition"], facts["workload"]) == (variant, repetition, workload)


def test_every_pair_of_an_undisturbed_study_is_whole():
    _, compared, _, _ = frames()
    assert set(compared["status"]) == {"paired"}
    assert len(of(compared)) == 2 * 5


def test_log_ratio_is_taken_inside_a_block():
    runs, compared, _, _ = frames()
    block = runs[(runs["workload"] == "oltp") & (runs["repetition"] == 3)].set_index("variant")["tps"]
    found = of(compared, workload="oltp", repetition=3)["log_ratio"].item()
    assert found == pytest.approx(np.log(block["pgo"] / block["baseline"]))


@pytest.mark.parametrize(
    ("part", "key", "told"),
    [("host", "machine_id", "another host"), ("host", "boot_id", "another boot"), ("sysbench", "sha256", "sysbench")],
)
def test_a_pair_that_does_not_share_host_boot_and_sysbench_is_split(part, key, told):
    def elsewhere(facts):
        if is_run(facts, "pgo", 2):
            facts[part] = {**facts[part], key: "another"}

    _, compared, _, cells = frames(edit=elsewhere)
    pair = of(compared, workload="oltp", repetition=2)
    assert pair["status"].item() == "split"
    assert told in pair["note"].item()
    assert np.isnan(pair["log_ratio"].item())
    cell = of(cells, workload="oltp")
    assert (cell["n_blocks"].item(), cell["n_split"].item()) == (4, 1)
    assert of(cells, workload="simple_select")["n_split"].item() == 0


def test_a_pair_whose_identity_is_unknown_is_split_and_not_taken_for_equal():
    _, compared, _, _ = frames(edit=lambda facts: facts["host"].update(machine_id=None))
    assert set(compared["status"]) == {"split"}


def test_a_pair_that_spans_more_than_the_block_may_is_split():
    def late(facts):
        if is_run(facts, "pgo", 2):
            facts["times"] = {**facts["times"], "ended_at": facts["times"]["ended_at"] + 5000}

    _, compared, _, _ = frames(edit=late)
    pair = of(compared, workload="oltp", repetition=2)
    assert pair["status"].item() == "split"
    assert "allowed are 1800 s" in pair["note"].item()


def test_a_failed_run_makes_its_block_incomplete_and_its_reason_is_kept():
    plan = synthetic.Plan(workloads=("oltp",), failures=frozenset([("pgo", "oltp", 8, 2)]))
    _, compared, _, cells = frames(plan)
    pair = of(compared, repetition=2)
    assert pair["status"].item() == "incomplete"
    assert "signal 11" in pair["note"].item()
    cell = of(cells)
    assert (cell["n_blocks"].item(), cell["n_incomplete"].item(), cell["n_ok"].item()) == (4, 1, 4)


def test_a_failed_reference_run_makes_all_pairs_of_its_block_incomplete():
    plan = synthetic.Plan(workloads=("oltp",), failures=frozenset([("baseline", "oltp", 8, 2)]))
    _, compared, _, _ = frames(plan)
    assert {of(compared, name, repetition=2)["status"].item() for name in ("pgo", "aa")} == {"incomplete"}


def test_a_study_without_a_run_of_the_reference_is_refused_by_name():
    runs, _, _, _ = frames()
    with pytest.raises(ValueError, match="reference 'baseline' has no run"):
        comparison.pair_runs(runs[runs["variant"] != "baseline"], "baseline", None)


def test_a_missing_value_gives_no_ratio_in_its_metric_only():
    def blind(facts):
        if is_run(facts, "pgo", 2):
            facts["cpu"] = {**facts["cpu"], "server_user_s": None}

    _, _, _, cells = frames(edit=blind)
    assert of(cells, metric="cpu_us_per_tx", workload="oltp")["n_blocks"].item() == 4
    assert of(cells, metric="tps", workload="oltp")["n_blocks"].item() == 5


def test_two_values_of_a_whole_cell_divide_to_its_ratio():
    _, _, _, cells = frames()
    for metric in METRICS:
        ours, theirs = (of(cells, name, metric, workload="oltp") for name in ("pgo", "baseline"))
        assert ours["value"].item() / theirs["value"].item() == pytest.approx(ours["ratio"].item())


def test_interval_and_p_of_a_cell_are_those_of_its_blocks():
    _, compared, _, cells = frames()
    values = of(compared, workload="oltp")["log_ratio"].to_numpy()
    cell = of(cells, workload="oltp").iloc[0]
    _, low, high = stats.t_interval(values)
    assert (cell["ratio_low"], cell["ratio_high"]) == (pytest.approx(np.exp(low)), pytest.approx(np.exp(high)))
    assert cell["p_t"] == pytest.approx(float(stats.paired_t_p(values)))
    assert cell["p_sign_flip"] == stats.sign_flip_p(values)


def test_holm_runs_over_the_variants_and_cells_of_a_metric_without_aa():
    plan = synthetic.Plan(workloads=("simple_select", "oltp"), variants={"baseline": 0, "pgo": 1, "lto": 0.1, "aa": 0})
    _, _, _, cells = frames(plan)
    tps = cells[cells["metric"] == "tps"]
    tested = tps[tps["variant"].isin(["pgo", "lto"])]
    assert tested["p_holm"].to_numpy() == pytest.approx(stats.holm(tested["p_t"]))
    assert tps[tps["variant"].isin(["aa", "baseline"])]["p_holm"].isna().all()


def test_a_real_gain_gets_its_verdict_and_aa_and_the_reference_get_none():
    _, _, _, cells = frames()
    assert set(of(cells)["verdict"]) == {"above"}
    assert set(of(cells, metric="cpu_us_per_tx")["verdict"]) == {"below"}
    assert cells[cells["variant"].isin(["aa", "baseline"])]["verdict"].isna().all()


@pytest.mark.parametrize(
    ("log_ratio", "blocks", "p_holm", "floor", "verdict"),
    [
        (0.3, 5, 0.001, 0.02, "above"),
        (-0.3, 5, 0.001, 0.02, "below"),
        (0.3, 4, 0.001, 0.02, Verdict.TOO_FEW_BLOCKS),
        (0.3, 5, 0.05, 0.02, Verdict.NO_DIFFERENCE),
        (0.3, 5, float("nan"), 0.02, Verdict.NO_DIFFERENCE),
        (0.01, 5, 0.001, 0.02, Verdict.NO_DIFFERENCE),
        (0.3, 5, 0.001, float("nan"), Verdict.NO_NOISE_FLOOR),
    ],
)
def test_a_difference_needs_five_blocks_a_small_p_and_more_than_the_floor(log_ratio, blocks, p_holm, floor, verdict):
    assert comparison.verdict_on(log_ratio, blocks, p_holm, floor) == verdict


def test_a_study_without_aa_gets_no_floor_and_no_word():
    plan = synthetic.Plan(workloads=("oltp",), variants={"baseline": 0.0, "pgo": 1.0})
    _, _, floors, cells = frames(plan)
    assert floors["floor_log_ratio"].isna().all()
    assert set(of(cells)["verdict"]) == {Verdict.NO_NOISE_FLOOR}


def test_four_repetitions_get_no_word_however_large_the_effect():
    _, _, _, cells = frames(synthetic.Plan(workloads=("oltp",), repetitions=4))
    assert set(of(cells)["verdict"]) == {Verdict.TOO_FEW_BLOCKS}


def test_a_window_without_a_transaction_makes_the_cells_value_zero_and_not_missing():
    def stall(facts):
        if is_run(facts, "pgo", 2):
            facts["window"]["tps"] = 0.0

    _, _, _, cells = frames(edit=stall)
    cell = of(cells, workload="oltp")
    assert (cell["value"].item(), cell["n_blocks"].item()) == (0, 4)
