"""Statistics against scipy, published worked examples, and hand-worked values."""

import numpy as np
import pytest
from scipy import stats as reference

from scripts.report.analysis import stats

# Hours of sleep gained with one drug over another, ten patients: Student 1908, "The probable error of a mean".
SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
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


def test_students_sleep_data_give_his_mean_and_interval():
    # mean 1.58, t 4.0621 with 9 degrees of freedom, as R's manual of its data set "sleep" prints them
    mean, low, high = stats.t_interval(SLEEP)
    assert (mean, low, high) == pytest.approx((1.58, 0.7001142, 2.4598858))


def test_missing_blocks_are_left_out_of_every_statistic_of_a_cell():
    ragged = np.array([[*SAMPLE, np.nan, np.nan], [np.nan, *SLEEP[:8]], [1.0, *[np.nan] * 8]])
    for place, sample in enumerate((SAMPLE, SLEEP[:8], [1.0])):
        expected = stats.t_interval(sample)
        found = [values[place] for values in stats.t_interval(ragged)]
        assert list(map(float, found)) == pytest.approx(list(map(float, expected)), nan_ok=True)


def test_one_value_has_a_mean_but_no_interval():
    mean, low, high = stats.t_interval([0.3])
    assert mean == pytest.approx(0.3)
    assert np.isnan([low, high]).all()


def test_no_value_has_not_even_a_mean():
    assert np.isnan(stats.t_interval([])).all()


def test_value_interval_is_the_t_interval_of_the_logs_turned_back():
    low, high = stats.value_interval([90, 100, 110])
    expected = reference.ttest_1samp(np.log([90, 100, 110]), 0).confidence_interval()
    assert (low, high) == (pytest.approx(np.exp(expected.low)), pytest.approx(np.exp(expected.high)))


def test_holm_of_hand_worked_values():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_does_not_count_missing_values_as_tests():
    assert stats.holm([0.02, np.nan, 0.04]) == pytest.approx([0.04, np.nan, 0.04], nan_ok=True)
    assert np.isnan(stats.holm([np.nan])).all()


def test_holm_never_exceeds_one():
    assert stats.holm([0.6, 0.9, 0.7]) == pytest.approx([1, 1, 1])


def test_clustered_variance_of_whole_cells_is_that_of_the_mean_of_the_blocks_means():
    cells = np.array([SAMPLE, SAMPLE[::-1] * 2, SLEEP[:7]])
    variance, degrees = stats.clustered_variance(cells)
    assert (np.sqrt(variance), degrees) == pytest.approx((reference.sem(cells.mean(axis=0)), 6))


def test_clustered_variance_with_a_hole_by_hand():
    # cell means 2 and 5; u = (-1/√6 - 1/√2, 0 + 1/√2, 1/√6) / 2
    variance, degrees = stats.clustered_variance([[1.0, 2.0, 3.0], [4.0, 6.0, np.nan]])
    expected = ((1 / np.sqrt(6) + 1 / np.sqrt(2)) ** 2 + 1 / 2 + 1 / 6) / 4
    assert (variance, degrees) == pytest.approx((expected, 1.5))


def test_cell_with_one_pair_has_no_clustered_variance():
    assert np.isnan(stats.clustered_variance([[1.0, 2.0, 3.0], [4.0, np.nan, np.nan]])[0])
