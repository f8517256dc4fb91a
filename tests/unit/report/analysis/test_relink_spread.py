"""The spread between relinks of the reference is what was simulated, and joins no other figure."""

import numpy as np
import pandas as pd
import pytest

from scripts.lib.vocabulary import AA, RELINKED
from scripts.report.analysis import comparison
from scripts.report.analysis.comparison import Terms
from scripts.report.analysis.intervals import pooled_variance
from scripts.report.analysis.relink_spread import moved, relinked_table, variance_interval
from tests.made.simulation import REFERENCE, Simulated, runs_of

STUDIES = 400


def found(between, noise, relinks, seed=1):
    """Return what is found in studies of one cell with a known standard deviation between relinks."""
    draw = np.random.default_rng(seed)
    arms = draw.normal(0, noise, (STUDIES, relinks, 3)) + draw.normal(0, 1, (STUDIES, relinks, 1))
    arms[..., 2] += draw.normal(0, between, (STUDIES, relinks)) + 0.3
    weight = np.full(relinks, 1.5)
    return [moved(y[:, 2] - y[:, :2].mean(axis=1), weight, *pooled_variance(y[:, :2])) for y in arms]


@pytest.mark.parametrize(("between", "noise"), [(0.02, 0.005), (0.01, 0.01), (0.005, 0.02), (0.0, 0.01)])
@pytest.mark.parametrize("relinks", [5, 10])
def test_known_spread_lies_in_95_of_100_intervals(between, noise, relinks):
    every = found(between, noise, relinks)
    hits = np.mean([one.low <= between + 1e-12 and between <= one.high for one in every])
    assert hits >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / STUDIES)


def test_spread_is_estimated_without_the_noise():
    every = found(0.02, 0.01, 10)
    assert np.sqrt(np.mean([one.between**2 for one in every])) == pytest.approx(0.02, rel=0.07)
    assert np.sqrt(np.mean([one.noise**2 for one in every])) == pytest.approx(0.01 * np.sqrt(1.5), rel=0.05)
    without = found(0.0, 0.01, 10)
    assert np.mean([one.between == 0 for one in without]) > 0.4
    assert np.mean([one.low == 0 for one in without]) > 0.94


def test_without_noise_the_interval_is_that_of_chi_squared():
    low, high = np.sqrt(variance_interval(4.0, 9, 0.0, 5))
    assert (low, high) == pytest.approx((2 * np.sqrt(9 / 19.023), 2 * np.sqrt(9 / 2.700)), rel=0.02)


def test_one_relink_has_no_spread():
    one = moved(np.array([0.1, np.nan]), np.array([1.5, np.nan]), 1e-4, 2.0)
    assert one.relinks == 1
    assert np.isnan([one.between, one.low, one.high]).all()


def with_relinks(between, plan):
    """Return runs.csv of a study of which one order per repetition moves all cells alike."""
    runs = runs_of(plan, 0)
    runs["variant"] = runs["variant"].replace("v0", RELINKED)
    moves = np.random.default_rng(3).normal(0, between, plan.blocks)
    moving = np.exp(moves[runs["repetition"].to_numpy() - 1])
    return runs.assign(tps=np.where(runs["variant"] == RELINKED, runs["tps"] * moving, runs["tps"])), moves


def test_orders_move_all_cells_of_a_repetition_and_the_mean_of_them():
    plan = Simulated(blocks=8, cells=3, variants=2, noise=1e-4, shared=0.0, studies=1)
    runs, moves = with_relinks(0.03, plan)
    table = relinked_table(runs, Terms(REFERENCE, ("tps",)))
    assert list(table["workload"].fillna("all")) == ["all", "w0", "w1", "w2"]
    assert (table["n_relinks"] == 8).all()
    assert table["sd"].to_numpy() == pytest.approx(moves.std(ddof=1), rel=0.02)
    assert table["moved"].to_numpy() == pytest.approx(np.expm1(table["sd"].to_numpy()))
    assert table["ratio"].to_numpy() == pytest.approx(np.exp(moves.mean()), rel=0.01)


def test_relinks_join_no_other_table():
    plan = Simulated(blocks=6, cells=2, variants=2, failed=0.2, studies=1)
    runs, _ = with_relinks(0.2, plan)
    terms = Terms(REFERENCE, ("tps",))
    every, without = (comparison.compare(each, terms) for each in (runs, runs[runs["variant"] != RELINKED]))
    for name in ("comparisons", "calibration", "cells", "overall"):
        pd.testing.assert_frame_equal(getattr(every, name), getattr(without, name))
        assert RELINKED not in str(getattr(every, name).get("variant", pd.Series()).unique())
    pd.testing.assert_frame_equal(
        comparison.without_flagged(every.judged, terms), comparison.without_flagged(without.judged, terms)
    )


def test_a_study_without_relinks_has_an_empty_table_and_lost_blocks_count_no_relink():
    plan = Simulated(blocks=6, cells=1, variants=2, studies=1)
    runs, _ = with_relinks(0.02, plan)
    terms = Terms(REFERENCE, ("tps",))
    assert relinked_table(runs[runs["variant"] != RELINKED], terms).empty
    lost = (runs["variant"] == RELINKED) & (runs["repetition"] == 2)
    lost |= runs["variant"].isin([REFERENCE, AA]) & (runs["repetition"] == 3)
    runs["outcome"] = np.where(lost, "failed", "ok")
    assert relinked_table(runs, terms)["n_relinks"].tolist() == [4]
