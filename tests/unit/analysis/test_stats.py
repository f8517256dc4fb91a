"""Statistics against scipy, published worked examples, and hand-worked values."""

import numpy as np
import pytest
from scipy import stats as reference

from scripts.analysis import stats

# Hours of sleep gained with one drug over another, ten patients: Student 1908, "The probable error of a mean".
SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
# Eighths of an inch a crossed maize plant stood above its self-fertilised partner: Darwin 1876.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
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


def test_students_sleep_data_give_his_mean_interval_and_p():
    # mean 1.58, t 4.0621 with 9 degrees of freedom, as R's manual of its data set "sleep" prints them
    mean, low, high = stats.t_interval(SLEEP)
    assert (mean, low, high) == pytest.approx((1.58, 0.7001142, 2.4598858))
    assert stats.paired_t_p(SLEEP) == pytest.approx(0.002833, abs=5e-7)


def test_darwins_maize_gives_the_p_of_fishers_two_tests():
    # Fisher 1935, "The Design of Experiments", sections 17 and 21: t 2.148, and 2 · 863 of 32 768 ways reach the sum
    assert stats.sign_flip_p(MAIZE) == 2 * 863 / 2**15
    assert stats.paired_t_p(MAIZE) == pytest.approx(0.0497, abs=5e-5)


def test_missing_blocks_are_left_out_of_every_statistic_of_a_cell():
    ragged = np.array([[*SAMPLE, np.nan, np.nan], [np.nan, *SLEEP[:8]], [1.0, *[np.nan] * 8]])
    for place, sample in enumerate((SAMPLE, SLEEP[:8], [1.0])):
        expected = (*stats.t_interval(sample), stats.paired_t_p(sample), stats.sign_flip_p(sample))
        found = (*stats.t_interval(ragged), stats.paired_t_p(ragged))
        found = (*(values[place] for values in found), stats.sign_flip_p(ragged[place]))
        assert list(map(float, found)) == pytest.approx(list(map(float, expected)), nan_ok=True)


def test_the_mean_over_whole_cells_has_scipys_interval_of_the_repetitions_means():
    cells = np.array([SAMPLE, SAMPLE[::-1] * 2, SLEEP[:7]])
    expected = reference.ttest_1samp(cells.mean(axis=0), 0).confidence_interval()
    assert stats.mean_over_cells(cells) == pytest.approx((cells.mean(), expected.low, expected.high))


def test_the_mean_over_cells_with_a_hole_by_hand():
    # cell means 2 and 5; u = (-1/√6 - 1/√2, 0 + 1/√2, 1/√6) / 2; t(0.975, 1.5) lies between those of 1 and 2
    mean, low, high = stats.mean_over_cells([[1.0, 2.0, 3.0], [4.0, 6.0, np.nan]])
    error = np.sqrt((1 / np.sqrt(6) + 1 / np.sqrt(2)) ** 2 + 1 / 2 + 1 / 6) / 2
    assert mean == pytest.approx(3.5)
    assert (high - low) / 2 == pytest.approx(reference.t.ppf(0.975, 1.5) * error)


def test_a_cell_with_one_pair_leaves_the_mean_without_an_interval():
    mean, low, high = stats.mean_over_cells([[1.0, 2.0, 3.0], [4.0, np.nan, np.nan]])
    assert mean == pytest.approx(3)
    assert np.isnan([low, high]).all()
    assert np.isnan(stats.mean_over_cells(np.empty((0, 5)))).all()


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
