"""Intervals without blocks are Welch's, and hold what they promise over several cells too."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as reference

from scripts.report.analysis.unpaired import NONE, estimate, half_width, over


def table(values):
    index = pd.MultiIndex.from_tuples([(f"w{row}", 8) for row in range(len(values))], names=["workload", "clients"])
    return pd.DataFrame(np.asarray(values, dtype=float), index=index)


@pytest.mark.parametrize("sizes", [(5, 5), (3, 9), (2, 4)])
def test_one_cell_of_two_sides_is_welchs_interval(sizes):
    chance = np.random.default_rng(sizes)
    ours, theirs = chance.normal(0.3, 0.1, sizes[0]), chance.normal(0, 0.3, sizes[1])
    found = estimate([(1, table([ours])), (-1, table([theirs]))])
    expected = reference.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.log_ratio == pytest.approx(ours.mean() - theirs.mean())
    assert found.n == min(sizes)


def test_a_single_side_is_students_interval():
    values = [0.1, 0.2, 0.4, 0.15]
    low, high = reference.t.interval(0.95, 3, np.mean(values), reference.sem(values))
    found = estimate([(1, table([values]))])
    assert (found.low, found.high) == pytest.approx((low, high))


def test_sides_with_other_cells_are_not_compared():
    one, other = table([[0.1, 0.2]]), table([[0.1, 0.2], [0.3, 0.4]])
    assert estimate([(1, one), (-1, other)]) is NONE
    assert estimate(over([("w0", 8)], [(1, one), (-1, other)])).log_ratio == pytest.approx(0)
    assert estimate(over([], [(1, one)])) is NONE
    assert estimate([]) is NONE


def test_one_repetition_has_a_ratio_and_no_interval():
    found = estimate([(1, table([[0.5], [0.1]])), (-1, table([[0.2], [0.0]]))])
    assert found.log_ratio == pytest.approx(0.2)
    assert np.isnan([found.low, found.high]).all()


def test_a_missing_run_costs_its_value_alone():
    whole = table([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4]])
    holed = whole.copy()
    holed.iloc[0, 1] = np.nan
    assert np.isfinite(half_width([holed]))
    assert estimate([(1, holed)]).n == 2


@pytest.mark.slow
def test_intervals_over_cells_that_share_a_repetitions_state_hold_the_truth_in_95_of_100_studies():
    chance = np.random.default_rng(20260101)
    held, studies, repetitions, cells = 0, 3000, 5, 4
    for _ in range(studies):
        sides = [
            table(chance.normal(0, 0.05, (1, repetitions)) + chance.normal(mean, spread, (cells, repetitions)))
            for mean, spread in ((0.2, 0.03), (0.0, 0.06))
        ]
        found = estimate([(1, sides[0]), (-1, sides[1])])
        held += found.low <= 0.2 <= found.high
    assert 0.94 <= held / studies <= 0.97
