"""Intervals over blocks cover what they promise in simulated studies, under uneven noise and with failed arms too."""

import numpy as np
import pytest
from scipy import stats

from scripts.analysis import intervals

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


def covered(y, effect, per_cell=False):
    hits = []
    for study in y:
        slices = np.full(study.shape, 1e-8)
        found = intervals.overall_intervals(study, slices)
        if per_cell:
            found = [one for cell in intervals.cell_intervals(study, slices) for one in cell]
        hits += [one.low <= effect <= one.high for one in found]
    return np.mean(hits)


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
    misses = {"pooled": [], "own": []}
    for study in uneven:
        whole = study.mean(axis=0)
        variance, degrees = intervals.pooled_variance(whole)
        mean = (whole[:, 2] - whole[:, :2].mean(axis=1)).mean()
        misses["pooled"].append(abs(mean) > intervals.Spread("pooled", variance * 1.5 / 5, degrees).half())
    for study in shared:
        own = intervals.own_variances(study)[0]
        mean = (study[..., 2] - study[..., :2].mean(axis=-1)).mean()
        misses["own"].append(abs(mean) > intervals.Spread("own", own.variance * 1.5 / 15, own.degrees).half())
    assert np.mean(misses["pooled"]) > 0.10
    assert np.mean(misses["own"]) > 0.10


def test_whole_blocks_have_the_closed_form():
    y = simulated(5, cells=1, blocks=6, variants=2)[0][0]
    variance, degrees = intervals.pooled_variance(y)
    assert degrees == 6 * (4 - 1) - 2
    d = y[:, 2] - y[:, :2].mean(axis=1)
    ((found, _),) = intervals.cell_intervals(y[None], np.zeros_like(y)[None])
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
    ((found,),) = intervals.cell_intervals(y, np.zeros_like(y))
    weights = np.array([1 / 1.5, 1 / 1.5, 1 / 2])
    assert found.mean == pytest.approx(np.average([0.1, 0.1, 0.3], weights=weights))
    assert found.blocks == 3


def test_interval_is_never_narrower_than_the_slices_say():
    y = np.zeros((1, 5, 3))
    y[..., 2] = 0.05
    (found,) = intervals.overall_intervals(y, np.full(y.shape, 1e-4))
    assert found.basis == "slices"
    assert found.half == pytest.approx(1.959964 * np.sqrt(1e-4 * 1.5 / 5))


def test_one_block_has_no_interval():
    (found,) = intervals.overall_intervals(np.zeros((2, 1, 3)), np.zeros((2, 1, 3)))
    assert np.isnan(found.half)
    assert found.blocks == 1
