"""Statistics against scipy, hand-worked values, and simulation."""

import numpy as np
import pytest
from scipy import stats as reference

from scripts import stats

SAMPLE = np.array([0.31, 0.28, 0.35, 0.22, 0.40, 0.29, 0.33])


def test_geometric_mean_of_hand_worked_values():
    assert stats.geometric_mean([1, 2, 4, 8]) == pytest.approx(2 * np.sqrt(2))


def test_geometric_mean_leaves_out_missing_values_and_is_missing_without_any():
    assert stats.geometric_mean([4, float("nan"), 9]) == pytest.approx(6)
    assert np.isnan(stats.geometric_mean([]))
    assert np.isnan(stats.geometric_mean([float("nan")]))


def test_geometric_mean_with_a_zero_is_zero_and_not_missing():
    assert stats.geometric_mean([0, 100]) == 0


def test_t_interval_of_one_to_five_is_the_textbook_one():
    mean, low, high = stats.t_interval([1, 2, 3, 4, 5])
    assert mean == pytest.approx(3)
    assert (low, high) == (pytest.approx(3 - 2.776445 * np.sqrt(0.5)), pytest.approx(3 + 2.776445 * np.sqrt(0.5)))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_t_interval_agrees_with_scipy(level):
    expected = reference.ttest_1samp(SAMPLE, 0).confidence_interval(level)
    _, low, high = stats.t_interval(SAMPLE, level)
    assert (low, high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_t_interval_works_along_the_last_axis():
    several = np.stack([SAMPLE, SAMPLE + 1])
    mean, low, high = stats.t_interval(several)
    assert mean.shape == low.shape == high.shape == (2,)
    assert low[1] - low[0] == pytest.approx(1)


def test_one_value_has_a_mean_but_no_interval_and_no_p():
    mean, low, high = stats.t_interval([0.3])
    assert mean == pytest.approx(0.3)
    assert np.isnan([low, high, stats.paired_t_p([0.3])]).all()


def test_no_value_has_not_even_a_mean():
    assert np.isnan(stats.t_interval([])).all()


def test_value_interval_is_the_t_interval_of_the_logs_turned_back():
    low, high = stats.value_interval([90, 100, 110])
    expected = reference.ttest_1samp(np.log([90, 100, 110]), 0).confidence_interval()
    assert (low, high) == (pytest.approx(np.exp(expected.low)), pytest.approx(np.exp(expected.high)))


def test_paired_t_p_agrees_with_scipys_paired_test():
    before, after = np.array([5.0, 6.1, 7.3, 4.4, 5.9]), np.array([5.2, 6.0, 7.9, 4.9, 6.3])
    assert stats.paired_t_p(after - before) == pytest.approx(reference.ttest_rel(after, before).pvalue)


def test_paired_t_p_without_spread_is_its_limit():
    assert stats.paired_t_p([0.2, 0.2, 0.2]) == pytest.approx(0, abs=1e-12)
    assert stats.paired_t_p([0.0, 0.0, 0.0]) == 1


@pytest.mark.parametrize("sample", [SAMPLE, SAMPLE - 0.3, np.array([1.0, -2.0, 3.0, -4.0])])
def test_sign_flip_p_agrees_with_scipys_exact_permutation_test(sample):
    expected = reference.permutation_test((sample,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert stats.sign_flip_p(sample) == pytest.approx(expected.pvalue)


def test_sign_flip_p_of_five_agreeing_blocks_is_the_least_possible():
    assert stats.sign_flip_p([0.1, 0.2, 0.3, 0.4, 0.5]) == 0.0625


def test_sign_flip_p_finds_its_own_sum_in_spite_of_rounding():
    assert stats.sign_flip_p([0.1] * 10) == pytest.approx(2 / 2**10)


def test_sign_flip_p_is_missing_where_it_is_not_computed():
    assert np.isnan(stats.sign_flip_p([]))
    assert np.isnan(stats.sign_flip_p(np.ones(17)))


def test_holm_of_hand_worked_values():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_does_not_count_missing_values_as_tests():
    assert stats.holm([0.02, np.nan, 0.04]) == pytest.approx([0.04, np.nan, 0.04], nan_ok=True)
    assert np.isnan(stats.holm([np.nan])).all()


def test_holm_never_exceeds_one():
    assert stats.holm([0.6, 0.9, 0.7]) == pytest.approx([1, 1, 1])


def test_noise_floor_divides_single_blocks_by_the_root_of_their_number():
    blocks = [np.array([0.04, -0.04, 0.04, -0.04]), np.array([-0.04, 0.04, -0.04, 0.04])]
    floor, from_blocks, from_cells = stats.noise_floor(blocks)
    assert from_blocks == pytest.approx(0.04 / 2)
    assert from_cells == pytest.approx(0)
    assert floor == from_blocks


def test_noise_floor_sees_an_offset_that_does_not_average_out():
    floor, from_blocks, from_cells = stats.noise_floor([np.full(9, 0.03), np.full(9, 0.03)])
    assert from_cells == pytest.approx(0.03)
    assert from_blocks == pytest.approx(0.01)
    assert floor == from_cells


def test_noise_floor_without_a_block_is_missing_and_not_zero():
    assert np.isnan(stats.noise_floor([])).all()
    assert np.isnan(stats.noise_floor([np.array([])])).all()


def drifting_log_ratios(generator, studies, blocks, effect=0.1, drift=0.03, noise=0.02):
    """Return log ratios (studies, blocks) of two variants measured in random order in blocks that drift together."""
    level = np.cumsum(generator.normal(0, drift, (studies, 2 * blocks)), axis=1).reshape(studies, blocks, 2)
    swap = generator.random((studies, blocks)) < 0.5
    first, second = level[..., 0], level[..., 1]
    reference_level, variant_level = np.where(swap, second, first), np.where(swap, first, second)
    spread = generator.normal(0, noise, (2, studies, blocks))
    return (variant_level + effect + spread[0]) - (reference_level + spread[1])


@pytest.mark.parametrize("blocks", [5, 7, 10])
def test_interval_covers_the_truth_in_95_of_100_studies_under_drift(blocks):
    simulated = drifting_log_ratios(np.random.default_rng(20 + blocks), 20_000, blocks)
    _, low, high = stats.t_interval(simulated)
    assert 0.93 <= np.mean((low <= 0.1) & (high >= 0.1)) <= 0.97


def test_same_against_same_gives_a_false_alarm_in_at_most_6_of_100_cells():
    simulated = drifting_log_ratios(np.random.default_rng(3), 20_000, 5, effect=0)
    assert np.mean(stats.paired_t_p(simulated) < stats.ALPHA) <= 0.06


def test_after_holm_at_most_5_of_100_studies_hold_a_false_alarm():
    simulated = drifting_log_ratios(np.random.default_rng(4), 4_000 * 8, 5, effect=0).reshape(4_000, 8, 5)
    adjusted = np.array([stats.holm(p_values) for p_values in stats.paired_t_p(simulated)])
    assert np.mean((adjusted < stats.ALPHA).any(axis=1)) <= 0.055
