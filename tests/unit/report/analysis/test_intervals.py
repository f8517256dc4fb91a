"""Intervals over blocks cover what they promise in simulated studies, under uneven noise and with failed arms too."""

import numpy as np
import pytest
from scipy import stats

from scripts.report.analysis import intervals

STUDIES, SD = 1000, 0.02


def simulated(seed, *, cells=3, blocks=5, variants=1, effect=0.0, shared=0.0, uneven=1.0, failed=0.0, tails=None):
    """Return y[studies, cells, blocks, arms]: machine noise per block cancels, `shared` is a block's for all cells."""
    draw = np.random.default_rng(seed)
    shape = (STUDIES, cells, blocks, variants + 2)
    noise = (
        draw.standard_normal(shape) if tails is None else draw.standard_t(tails, shape) / np.sqrt(tails / (tails - 2))
    )
    common = draw.standard_normal((STUDIES, 1, blocks, variants + 2))
    noise = np.sqrt(1 - shared) * noise + np.sqrt(shared) * common
    noise[..., 2] *= uneven
    y = SD * noise + draw.standard_normal((STUDIES, cells, blocks, 1))
    y[..., 2:] += effect
    y[..., 1][draw.random(shape[:-1]) < failed] = np.nan
    return y


def of_variants(y, slices=None):
    return intervals.against_reference(y, np.full(y.shape, np.nan) if slices is None else slices)[1:]


def in_cells(y, slices=None):
    return intervals.cell_intervals(y, of_variants(y, slices))


def over_cells(y, slices=None):
    return intervals.overall_intervals(y, of_variants(y, slices))


def covered(y, effect, per_cell=False):
    found = [one for cell in in_cells(y) for one in cell] if per_cell else over_cells(y)
    return np.mean([(one.low <= effect) & (effect <= one.high) for one in found])


@pytest.mark.parametrize(
    "noise",
    [
        {},
        {"blocks": 7, "variants": 4},
        {"shared": 0.3},
        {"uneven": 2.0, "variants": 3},
        {"failed": 0.1},
        {"tails": 5},
        {"cells": 1},
    ],
    ids=lambda noise: " ".join(f"{key}={value}" for key, value in noise.items()) or "plain",
)
def test_mean_over_cells_is_covered_by_95_of_100_intervals(noise):
    found = covered(simulated(1, effect=0.05, **noise), 0.05)
    error = np.sqrt(0.95 * 0.05 / STUDIES)
    assert found >= (0.95 if not noise else 0.94) - 3 * error
    assert found <= 0.995


def test_cells_are_covered():
    assert covered(simulated(2, blocks=5, variants=2), 0.0, per_cell=True) >= 0.94


def test_own_spread_alone_or_pooled_alone_would_not_do():
    uneven = simulated(3, uneven=2.0, variants=4)
    shared = simulated(4, shared=0.6)
    misses = {}
    whole = uneven.mean(axis=1)
    pooled = intervals.Spread("pooled", *intervals.pooled_variance(whole))
    mean = (whole[..., 2] - whole[..., :2].mean(axis=-1)).mean(axis=-1)
    misses["pooled"] = abs(mean) > pooled.scaled(1.5 / 5).half()
    own = intervals.own_variance(of_variants(shared)[0])
    mean = (shared[..., 2] - shared[..., :2].mean(axis=-1)).mean(axis=(-1, -2))
    misses["own"] = abs(mean) > own.scaled(1.5 / 15).half()
    assert np.mean(misses["pooled"]) > 0.10
    assert np.mean(misses["own"]) > 0.10


def test_whole_blocks_have_the_closed_form():
    y = simulated(5, cells=1, blocks=6, variants=2)[0][0]
    variance, degrees = intervals.pooled_variance(y)
    assert degrees == 6 * (4 - 1) - 2
    d = y[:, 2] - y[:, :2].mean(axis=1)
    ((found, _),) = in_cells(y[None])
    assert found.mean == pytest.approx(d.mean())
    own = stats.t.ppf(0.975, 5) * d.std(ddof=1) / np.sqrt(6)
    pooled = stats.t.ppf(0.975, degrees) * np.sqrt(variance * 1.5 / 6)
    assert found.half == pytest.approx(max(own, pooled))
    assert found.basis == ("own" if own > pooled else "pooled")


def test_one_reference_arm_weighs_less_and_none_is_no_block():
    y = np.zeros((1, 4, 3))
    y[0, :, 2] = [0.1, 0.1, 0.3, 9.0]
    y[0, 2, 1] = np.nan
    y[0, 3, :2] = np.nan
    ((found,),) = in_cells(y)
    weights = np.array([1 / 1.5, 1 / 1.5, 1 / 2])
    assert found.mean == pytest.approx(np.average([0.1, 0.1, 0.3], weights=weights))
    assert found.blocks == 3


def test_interval_is_never_narrower_than_the_slices_say():
    y = np.zeros((1, 5, 3))
    y[..., 2] = 0.05
    (found,) = over_cells(y, np.full(y.shape, 1e-4))
    assert found.basis == "slices"
    assert found.half == pytest.approx(1.959964 * np.sqrt(1e-4 * 1.5 / 5))


def test_one_block_has_no_interval():
    (found,) = over_cells(np.zeros((2, 1, 3)), np.zeros((2, 1, 3)))
    assert np.isnan(found.half)
    assert found.blocks == 1
    assert np.isnan([found.p(), found.detectable()]).all()


def test_slices_that_one_block_does_not_know_set_no_bound():
    y, slices = np.zeros((1, 5, 3)), np.full((1, 5, 3), 1e-4)
    slices[0, 2] = np.nan
    (found,) = over_cells(y, slices)
    assert (found.basis, found.half) == ("pooled", 0)


def test_aa_is_compared_with_the_reference_alone():
    y = simulated(6, cells=1, blocks=6)[0]
    (found,) = intervals.overall_intervals(y, intervals.against_reference(y, np.full(y.shape, np.nan))[:1])
    variance, degrees = intervals.pooled_variance(y[0])
    difference = y[0, :, 1] - y[0, :, 0]
    assert found.mean == pytest.approx(difference.mean())
    own = stats.t.ppf(0.975, 5) * difference.std(ddof=1) / np.sqrt(6)
    assert found.half == pytest.approx(max(own, stats.t.ppf(0.975, degrees) * np.sqrt(variance * 2 / 6)))


def test_cell_that_a_variant_never_had_is_left_out_of_its_mean_only():
    y = simulated(7, cells=2, variants=2)[0]
    y[1, :, 3] = np.nan
    first, second = over_cells(y)
    assert first == over_cells(y[..., :3])[0] or first.mean == pytest.approx(over_cells(y[..., :3])[0].mean)
    assert second.mean == pytest.approx(over_cells(y[:1])[1].mean)


def test_scattered_holes_are_covered():
    y = simulated(8, blocks=7, effect=0.05, shared=0.5)
    y[:, np.arange(7) % 3, np.arange(7), :] = np.nan
    assert covered(y, 0.05) >= 0.93


def test_p_values_agree_with_the_intervals():
    (found,) = over_cells(simulated(9, effect=0.03)[0])
    edge = found.mean - found.half
    assert found.p(edge) == pytest.approx(0.05)
    assert found.p_within(found.mean + found.half_at(0.90)) == pytest.approx(0.05)
    assert found.p_within(0.5 * found.mean) > 0.5
    assert found.p(found.mean) == 1
    assert found.widened(2).half == pytest.approx(2 * found.half)


def test_detectable_effect_is_found_in_four_of_five_studies():
    size = np.median(over_cells(simulated(10))[0].detectable())
    found = over_cells(simulated(11, effect=size))[0].p() < 0.05
    assert np.mean(found) == pytest.approx(0.80, abs=0.05)


def test_sum_of_arms_in_one_block_is_free_of_its_reference_and_across_blocks_is_not():
    draw = np.random.default_rng(12)
    y = draw.standard_normal((1, 2, 4))
    apart = np.array([[[*y[0, 0, :3], np.nan], [*y[0, 1, :2], np.nan, y[0, 1, 3]]]])
    unknown = np.full(y.shape, np.nan)
    together = intervals.combination(y, unknown, {3: 1, 2: -1}, np.array([1, 2]))
    assert together.values == pytest.approx(y[..., 3] - y[..., 2])
    assert together.weight == pytest.approx(np.full((1, 2), 2))
    found = intervals.combination(apart, unknown, {3: 1, 2: -1}, np.array([1, 1]))
    base = y[0, :, :2].mean(axis=1)
    assert found.values == pytest.approx(np.array([[y[0, 1, 3] - base[1] - (y[0, 0, 2] - base[0])]]))
    assert found.weight == pytest.approx(np.array([[3.0]]))
    beside = intervals.combination(y, unknown, {2: 1, 0: -1}, np.array([1, 2]))
    assert beside.values == pytest.approx(of_variants(y)[0].values)
    assert beside.weight == pytest.approx(of_variants(y)[0].weight)
