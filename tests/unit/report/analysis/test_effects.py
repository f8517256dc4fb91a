"""What each factor brings: which variants are set side by side, and that the figures are those of the definition."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as reference

from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import comparison, effects, metrics, run_tables, table_columns
from scripts.report.analysis.calibration import widening
from scripts.report.analysis.effects import factor_contrasts
from scripts.report.analysis.intervals import pooled_variance
from scripts.report.analysis.pairing import SAME_HOST_COLUMNS
from tests.made import synthetic
from tests.made.run import records_of

NAMES = ("baseline", "lto", "pgo", "pgo_lto", "pgo_lto_bolt")
PLAN = synthetic.Plan(variants={**dict.fromkeys(NAMES, 0.5), "aa": 0.0}, workloads=("simple_select", "oltp"))


def study_of(builds, options=None):
    """Return a study of one variant a build; `options` holds those of single variants."""
    empty = {"flags": [], "lto": False, "profile": None, "bolt": None, "toolchain": "gcc-12", "published": False}
    named = {name: {**empty, **keys} for name, keys in builds.items()}
    arms = {name: {"server": "m", "build": name, "options": (options or {}).get(name, {})} for name in builds}
    arms["aa"] = next(iter(arms.values()))
    return {"variants": arms, "builds": named}


def told(study):
    return {contrast.factor: contrast.formula for contrast in factor_contrasts(ResolvedStudy.of(study))}


def made(plan=PLAN, edit=None):
    records = synthetic.runs(plan)
    for facts in records:
        if edit:
            edit(facts)
    declared = synthetic.study(plan)
    runs, _ = run_tables.collect(ResolvedStudy.of(declared), records_of(records))
    terms = comparison.terms_of(ResolvedStudy.of(declared))
    found = comparison.compare(runs, terms)
    return runs, effects.factor_table(
        ResolvedStudy.of(declared), found.arms, widening(found.calibration), terms, found.overall
    )


def row(table, factor, metric="tps"):
    return table[(table["factor"] == factor) & (table["metric"] == metric)].iloc[0]


def test_the_builds_of_the_study_give_each_factor_alone_both_and_on_top():
    assert told(synthetic.study(PLAN)) == {
        "PGO alone": "pgo / baseline",
        "LTO alone": "lto / baseline",
        "PGO and LTO": "pgo_lto / baseline",
        "interaction of PGO and LTO": "pgo_lto · baseline / (pgo · lto)",
        "PGO on top of LTO": "pgo_lto / lto",
        "LTO on top of PGO": "pgo_lto / pgo",
        "BOLT on top of PGO + LTO": "pgo_lto_bolt / pgo_lto",
    }


def test_flags_and_compilers_are_factors_too():
    study = study_of({"baseline": {}, "o3": {"flags": ["-O3"]}, "clang": {"toolchain": "clang-16"}})
    assert told(study) == {"-O3 alone": "o3 / baseline", "clang-16 instead of gcc-12": "clang / baseline"}


def test_two_trainings_are_told_apart_and_set_side_by_side():
    study = study_of({"baseline": {}, "pgo": {"profile": "mixed"}, "pgo_read": {"profile": "read"}})
    assert told(study) == {
        "PGO (mixed) alone": "pgo / baseline",
        "PGO (read) alone": "pgo_read / baseline",
        "PGO (read) instead of PGO (mixed)": "pgo_read / pgo",
    }


@pytest.mark.parametrize(
    ("study", "why"),
    [
        (study_of({"baseline": {}, "pgo": {"profile": "mixed"}}, {"pgo": {"x": 1}}), "other options"),
        (study_of({"baseline": {}, "as_published": {"profile": "mixed", "published": True}}), "published recipe"),
        (study_of({"baseline": {}, "made_elsewhere": {"toolchain": None}}), "flags unknown"),
        (study_of({"baseline": {}, "o3_lto": {"lto": True, "flags": ["-O3"]}}), "two factors"),
        ({"variants": {"a": {"server": "m", "build": "a"}}}, "an old study tells no builds"),
    ],
)
def test_variants_that_differ_in_more_than_one_factor_are_no_pair(study, why):
    assert told(study) == {}, why


def test_a_pair_is_the_geometric_mean_of_its_ratios_with_at_least_the_interval_of_pooled_spread():
    runs, table = made()
    wide = np.log(runs.pivot_table("tps", ["workload", "clients", "repetition"], "variant"))
    differences = (wide["pgo_lto"] - wide["lto"]).unstack("repetition")
    found = row(table, "PGO on top of LTO")
    assert found["ratio"] == pytest.approx(np.exp(differences.mean(axis=0).mean()))
    whole = wide.groupby("repetition").mean()[["baseline", "aa", *NAMES[1:]]].to_numpy()
    variance, degrees = pooled_variance(whole)
    half = reference.t.ppf(0.975, degrees) * np.sqrt(2 * variance / 5)
    assert np.log(found["ratio_high"] / found["ratio"]) >= half - 1e-9
    assert found["basis"] in ("pooled", "own")
    assert (found["n_cells"], found["n_cells_planned"], found["n_repetitions"]) == (2, 2, 5)


def test_an_interaction_is_both_over_the_product_of_each_alone():
    runs, table = made()
    wide = np.log(runs.pivot_table("cpu_user_us_per_tx", ["workload", "repetition"], "variant"))
    base = (wide["baseline"] + wide["aa"]) / 2
    terms = wide["pgo_lto"] + base - wide["pgo"] - wide["lto"]
    found = row(table, "interaction of PGO and LTO", "cpu_user_us_per_tx")
    assert found["ratio"] == pytest.approx(np.exp(terms.mean()))
    product = row(table, "PGO alone")["ratio"] * row(table, "LTO alone")["ratio"]
    assert row(table, "interaction of PGO and LTO")["ratio"] == pytest.approx(
        row(table, "PGO and LTO")["ratio"] / product
    )
    assert not isinstance(found["verdict"], str)


def test_one_cell_by_hand():
    rows = [
        {"variant": variant, "workload": "w", "clients": 1, "repetition": repetition, "outcome": "ok", "tps": tps,
         **dict.fromkeys(SAME_HOST_COLUMNS, "same"), "started_at": 0, "ended_at": 1, "reason": None,
         "warning_codes": None}
        for repetition, pair in enumerate([(100, 200), (100, 800)])
        for variant, tps in zip(("baseline", "pgo"), pair, strict=True)
    ]  # fmt: skip
    study = {**study_of({"baseline": {}, "pgo": {"profile": "mixed"}}), "reference": "baseline", "workloads": {"w": {}}}
    runs = pd.DataFrame(rows).assign(**{name: np.nan for name in metrics.METRICS if name != "tps"})
    terms = comparison.terms_of(ResolvedStudy.of(study))
    made = comparison.compare(runs, terms)
    table = effects.factor_table(
        ResolvedStudy.of(study), made.arms, dict.fromkeys(metrics.METRICS, 1), terms, made.overall
    )
    found = row(table, "PGO alone")
    # mean of ln 2 and ln 8 is ln 4; s / sqrt(2) is (ln 8 - ln 2) / 2 = ln 2; t(0.975, 1) is 12.706
    assert found["ratio"] == pytest.approx(4)
    assert found["ratio_low"] == pytest.approx(4 * 2**-12.7062, rel=1e-3)
    assert row(table, "PGO alone", "p95_ms")["n_cells"] == 0


def test_a_block_with_a_failed_run_counts_for_the_factors_that_do_not_need_it():
    failing = synthetic.Plan(**{**vars(PLAN), "failures": frozenset([("pgo", "oltp", 8, 2)])})
    _, table = made(failing)
    assert row(table, "PGO alone")["n_repetitions"] == 4
    assert row(table, "LTO alone")["n_repetitions"] == 5
    assert row(table, "interaction of PGO and LTO")["n_repetitions"] == 4


def test_run_of_another_boot_is_in_no_contrast():
    def reboot(facts):
        if facts["variant"] == "lto" and facts["repetition"] == 1:
            facts["host"] = {**facts["host"], "boot_id": "other"}

    _, table = made(edit=reboot)
    assert row(table, "LTO alone")["n_repetitions"] == 4
    assert row(table, "PGO alone")["n_repetitions"] == 5


def test_the_table_of_a_study_without_factors_has_its_columns_and_no_row():
    declared = synthetic.study(synthetic.Plan())
    del declared["builds"]
    nothing = pd.DataFrame(columns=table_columns.OVERALL.names)
    found = effects.factor_table(
        ResolvedStudy.of(declared), None, {}, comparison.terms_of(ResolvedStudy.of(declared)), nothing
    )
    assert list(found) == table_columns.FACTORS.names


def test_factor_that_is_a_variant_beside_the_reference_has_the_verdict_of_that_variant():
    plan = synthetic.Plan(variants={**dict.fromkeys(NAMES, 0.1), "baseline": 0.0, "aa": 0.0}, noise=0.04)
    records = synthetic.runs(plan)
    declared = synthetic.study(plan)
    runs, _ = run_tables.collect(ResolvedStudy.of(declared), records_of(records))
    found = comparison.compare(runs, comparison.terms_of(ResolvedStudy.of(declared)))
    table = effects.factor_table(
        ResolvedStudy.of(declared),
        found.arms,
        widening(found.calibration),
        comparison.terms_of(ResolvedStudy.of(declared)),
        found.overall,
    )
    whole = found.overall[found.overall["metric"] == "tps"].set_index("variant")
    for factor, variant in (("LTO alone", "lto"), ("PGO and LTO", "pgo_lto")):
        assert row(table, factor)["verdict"] == whole.loc[variant, "verdict"]
        assert row(table, factor)["p_holm"] == whole.loc[variant, "p_holm"]
    assert isinstance(row(table, "PGO on top of LTO")["verdict"], str)
