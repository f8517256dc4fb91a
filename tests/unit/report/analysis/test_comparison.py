"""Runs beside the reference of their block, and cells."""

import numpy as np
import pandas as pd
import pytest

from scripts.lib.vocabulary import Verdict
from scripts.report.analysis import comparison, intervals, stats, verdicts
from scripts.report.analysis.pairing import judged_runs
from tests.made import synthetic
from tests.made.compared import compared, of


def is_run(facts, variant, repetition, workload="oltp"):
    return (facts["variant"], facts["repetition"], facts["workload"]) == (variant, repetition, workload)


def test_every_pair_of_an_undisturbed_study_is_whole():
    found = compared()
    assert set(found.comparisons["status"]) == {"paired"}
    assert len(of(found.comparisons)) == 2 * 5


@pytest.mark.parametrize(
    ("part", "key", "told"),
    [("host", "machine_id", "another host"), ("host", "boot_id", "another boot"), ("sysbench", "sha256", "sysbench")],
)
def test_a_pair_that_does_not_share_host_boot_and_sysbench_is_split(part, key, told):
    def elsewhere(facts):
        if is_run(facts, "pgo", 2):
            facts[part] = {**facts[part], key: "another"}

    found = compared(edit=elsewhere)
    pair = of(found.comparisons, workload="oltp", repetition=2)
    assert pair["status"].item() == "split"
    assert told in pair["note"].item()
    assert np.isnan(pair["log_ratio"].item())
    cell = of(found.cells, workload="oltp")
    assert (cell["n_blocks"].item(), cell["n_split"].item()) == (4, 1)
    assert of(found.cells, workload="simple_select")["n_split"].item() == 0


def test_a_pair_whose_identity_is_unknown_is_split_and_not_taken_for_equal():
    found = compared(edit=lambda facts: facts["host"].update(machine_id=None))
    assert set(found.comparisons["status"]) == {"split"}


def test_a_failed_run_makes_its_block_incomplete_and_its_reason_is_kept():
    plan = synthetic.Plan(workloads=("oltp",), failures=frozenset([("pgo", "oltp", 8, 2)]))
    found = compared(plan)
    pair = of(found.comparisons, repetition=2)
    assert pair["status"].item() == "incomplete"
    assert "signal 11" in pair["note"].item()
    cell = of(found.cells)
    assert (cell["n_blocks"].item(), cell["n_incomplete"].item(), cell["n_ok"].item()) == (4, 1, 4)


def test_a_missing_value_gives_no_ratio_in_its_metric_only():
    def blind(facts):
        if is_run(facts, "pgo", 2):
            facts["cpu"] = {**facts["cpu"], "server_user_s": None}

    found = compared(edit=blind)
    assert of(found.cells, metric="cpu_us_per_tx", workload="oltp")["n_blocks"].item() == 4
    assert of(found.cells, metric="tps", workload="oltp")["n_blocks"].item() == 5


def test_four_repetitions_get_no_word_however_large_the_effect():
    found = compared(synthetic.Plan(workloads=("oltp",), repetitions=4))
    assert set(of(found.cells)["verdict"]) == {Verdict.TOO_FEW_BLOCKS}


def test_a_window_without_a_transaction_is_left_out_of_value_and_ratio_alike():
    def stall(facts):
        if is_run(facts, "pgo", 2):
            facts["window"]["tps"] = 0.0

    found = compared(edit=stall)
    cell = of(found.cells, workload="oltp")
    assert (cell["n_blocks"].item(), cell["n_ok"].item()) == (4, 5)
    assert (cell["value"] / cell["reference_value"]).item() == pytest.approx(cell["ratio"].item())


def test_a_cell_whose_windows_had_no_transaction_has_the_value_zero_and_not_a_missing_one():
    def stall(facts):
        if facts["variant"] == "pgo" and facts["workload"] == "oltp":
            facts["window"]["tps"] = 0.0

    cell = of(compared(edit=stall).cells, workload="oltp")
    assert (cell["value"].item(), cell["n_blocks"].item()) == (0, 0)
    assert cell["reference_value"].isna().item()


def test_log_ratio_is_to_both_runs_of_the_reference_of_the_block():
    found = compared()
    runs = found.judged
    block = runs[(runs["workload"] == "oltp") & (runs["repetition"] == 3)].set_index("variant")["tps"]
    pair = of(found.comparisons, workload="oltp", repetition=3).iloc[0]
    assert pair["log_ratio"] == pytest.approx(np.log(block["pgo"] / np.sqrt(block["baseline"] * block["aa"])))
    assert (pair["block"], pair["n_reference"]) == ("oltp/8/3", 2)
    aa = of(found.comparisons, "aa", workload="oltp", repetition=3).iloc[0]
    assert (aa["reference_value"], aa["n_reference"]) == (pytest.approx(block["baseline"]), 1)


def test_failed_reference_run_leaves_aa_as_the_reference_of_its_block():
    plan = synthetic.Plan(workloads=("oltp",), failures=frozenset([("baseline", "oltp", 8, 2)]))
    found = compared(plan)
    pair = of(found.comparisons, repetition=2).iloc[0]
    assert (pair["status"], pair["n_reference"]) == ("paired", 1)
    aa = of(found.comparisons, "aa", repetition=2).iloc[0]
    assert aa["status"] == "incomplete"
    assert "signal 11" in aa["note"]
    assert of(found.cells)["n_blocks"].item() == 5
    assert of(found.cells, "aa")["n_blocks"].item() == 4


def test_block_without_any_reference_is_incomplete():
    lost = frozenset((name, "oltp", 8, 2) for name in ("baseline", "aa"))
    found = compared(synthetic.Plan(workloads=("oltp",), failures=lost))
    pair = of(found.comparisons, repetition=2).iloc[0]
    assert (pair["status"], np.isnan(pair["log_ratio"])) == ("incomplete", True)
    assert pair["note"].startswith("baseline: ")


def test_variant_of_a_later_block_is_divided_by_the_reference_of_that_block():
    """Blocks of one repetition: pgo in the first; lto in a second one, with a reference twice as fast."""
    rows = [
        {"variant": variant, "workload": "oltp", "clients": 8, "repetition": repetition, "outcome": "ok",
         "block": f"oltp/8/{repetition}/{block}", "reason": None, "tps": tps * (1 + 0.01 * repetition),
         "started_at": 0.0, "ended_at": 60.0, "warning_codes": None, "tps_log_sd": 0.01,
         **dict.fromkeys(("machine_id", "boot_id", "generator_boot_id", "sysbench_sha256"), "same")}
        for repetition in range(1, 6)
        for block, arms in {"a": {"baseline": 100, "aa": 100, "pgo": 130},
                            "b": {"baseline": 200, "aa": 200, "lto": 220}}.items()
        for variant, tps in arms.items()
    ]  # fmt: skip
    terms = comparison.Terms("baseline", ("tps",))
    found = comparison.compare(pd.DataFrame(rows), terms)
    assert of(found.overall, "pgo")["ratio"].item() == pytest.approx(1.3)
    assert of(found.overall, "lto")["ratio"].item() == pytest.approx(1.1)
    assert of(found.overall, "lto")["n_repetitions"].item() == 5
    assert of(found.overall, "aa")["n_blocks_least"].item() == 10
    # The blocks agree to the last digit, so that the slices alone set the width.
    pgo = of(found.cells, "pgo").iloc[0]
    assert pgo["basis"] == "slices"
    assert np.log(pgo["ratio_high"] / pgo["ratio"]) == pytest.approx(1.959964 * 0.01 * np.sqrt(1.5 / 5))


def test_study_without_a_run_of_the_reference_is_refused_by_name():
    runs = compared().judged
    with pytest.raises(ValueError, match="reference 'baseline' has no run"):
        judged_runs(runs[runs["variant"] != "baseline"], "baseline")


def test_interval_and_p_of_a_cell_are_those_of_its_blocks():
    found = compared()
    _, y, slices = found.arms.of("tps")
    names = found.arms.compared
    expected = intervals.cell_intervals(y, intervals.against_reference(y, slices))[0][names.index("pgo")]
    cell = of(found.cells, workload="simple_select").iloc[0]
    assert np.log([cell["ratio_low"], cell["ratio_high"]]) == pytest.approx([expected.low, expected.high])
    assert (cell["p"], cell["basis"]) == (expected.p(), expected.basis)


def test_holm_runs_over_the_variants_and_cells_of_tps_without_aa():
    plan = synthetic.Plan(workloads=("simple_select", "oltp"), variants={"baseline": 0, "pgo": 1, "lto": 0.1, "aa": 0})
    tps = of_metric(compared(plan).cells, "tps")
    tested = tps[tps["variant"].isin(["pgo", "lto"])]
    assert tested["p_holm"].to_numpy() == pytest.approx(stats.holm(tested["p"]))
    assert tested["p_beyond_holm"].to_numpy() == pytest.approx(stats.holm(tested["p_beyond"]))
    assert tps[tps["variant"].isin(["aa", "baseline"])]["p_holm"].isna().all()


def of_metric(table, metric):
    return table[table["metric"] == metric]


def test_real_gain_gets_its_verdict_and_aa_the_reference_and_other_metrics_get_none():
    cells = compared().cells
    assert set(of(cells)["verdict"]) == {"far_above"}
    assert of(cells, metric="cpu_us_per_tx")["verdict"].isna().all()
    assert (of(cells, metric="cpu_us_per_tx")["ratio_high"] < 1).all()
    assert cells[cells["variant"].isin(["aa", "baseline"])]["verdict"].isna().all()


@pytest.mark.parametrize(
    ("log_ratio", "blocks", "p_holm", "p_beyond_holm", "p_same", "verdict"),
    [
        (0.3, 5, 0.001, 0.01, 0.9, Verdict.FAR_ABOVE),
        (-0.3, 5, 0.001, 0.01, 0.9, Verdict.FAR_BELOW),
        (0.3, 5, 0.001, 0.06, 0.9, Verdict.ABOVE),
        (-0.01, 5, 0.001, 1, 0.01, Verdict.BELOW),
        (0.01, 5, 0.06, 1, 0.01, Verdict.SAME),
        (0.3, 5, 0.06, 0.2, 0.9, Verdict.OPEN),
        (0.3, 5, *[float("nan")] * 3, Verdict.OPEN),
        (0.3, 4, 0.001, 0.01, 0.9, Verdict.TOO_FEW_BLOCKS),
        (float("nan"), float("nan"), *[float("nan")] * 3, Verdict.TOO_FEW_BLOCKS),
    ],
)
def test_verdict_follows_from_adjusted_p_values(log_ratio, blocks, p_holm, p_beyond_holm, p_same, verdict):
    assert verdicts.verdicts_on(log_ratio, blocks, p_holm, p_beyond_holm, p_same) == verdict


def test_smallest_difference_of_interest_is_the_studys():
    effect = {"baseline": 0.0, "pgo": 0.5, "aa": 0.0}
    plan = synthetic.Plan(workloads=("oltp",), variants=effect, noise=0.002)
    said = {matters: of(compared(plan, matters=matters).overall)["verdict"].item() for matters in (0.02, 0.5)}
    assert said == {0.02: "far_above", 0.5: "above"}
    nothing = synthetic.Plan(workloads=("oltp",), variants=dict.fromkeys(effect, 0.0), noise=0.004)
    assert of(compared(nothing).overall)["verdict"].item() == "same"


def test_study_without_aa_gets_verdicts_from_wider_intervals():
    found = compared(synthetic.Plan(workloads=("oltp",), variants={"baseline": 0.0, "pgo": 1.0}))
    assert set(of(found.cells)["verdict"]) == {"far_above"}
    assert of(found.comparisons)["n_reference"].tolist() == [1] * 5
    assert (found.calibration["n_cells"] == 0).all()
    assert (found.calibration["widened"] == 1).all()
