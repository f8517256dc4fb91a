"""Intervals and words of simulated studies keep what they promise, and wrong methods are caught doing it.

A share of 1 000 independent studies has a standard error of 0.7 percentage points at 95 % (binomial), so that each
limit here lies nearly 3 of them from a method that is right; shares of 8 000 cells are twice as sure at least.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from scripts.analysis import stats
from tests.made.simulation import Outcome, Simulated, outcome

pytestmark = pytest.mark.slow
WALK = Simulated(5, walk=0.02)
LINE = Simulated(7, slope=0.01)
BOTH = Simulated(10, walk=0.02, slope=0.01)
MANY = Simulated(5, walk=0.02, cells=1, more=5)
LIMITS = {
    "covered": (0.93, 0.97),
    "covered_overall": (0.93, 0.97),
    "alarms": (0.0, 0.06),
    "words": (0.0, 0.05),
    "word_overall": (0.0, 0.05),
}


def broken(found: Outcome) -> set[str]:
    """Return the promises that are not kept."""
    return {name for name, (low, high) in LIMITS.items() if not low <= getattr(found, name) <= high}


def normal_quantile(degrees, share):
    return special.ndtri(share) + 0 * np.asarray(degrees)


def cells_as_sample(values):
    return tuple(float(edge) for edge in stats.t_interval(np.nanmean(values, axis=1)))


def test_each_limit_lies_almost_three_standard_errors_from_a_right_method():
    error = np.sqrt(0.95 * 0.05 / WALK.studies)
    assert (0.97 - 0.95) / error > 2.8


@pytest.mark.parametrize("plan", [WALK, LINE, BOTH, MANY])
def test_same_against_same_under_drift_keeps_every_promise(plan):
    assert broken(outcome(plan)) == set()


def test_an_interval_is_as_true_around_an_effect_and_with_pairs_missing():
    found = outcome(Simulated(7, walk=0.02, shared=0.02, effect=0.1, lost=0.2, seed=8))
    assert broken(found) <= {"alarms", "words", "word_overall"}
    assert found.words > 0.9


@pytest.mark.parametrize(
    ("plan", "wrong", "caught"),
    [
        (Simulated(5, walk=0.02, studies=400), (stats.special, "stdtrit", normal_quantile), "covered"),
        (Simulated(5, walk=0.02, studies=400), (stats.special, "stdtrit", normal_quantile), "covered_overall"),
        (Simulated(7, walk=0.02, studies=400), (stats, "holm", lambda p_values: p_values), "words"),
        (replace(MANY, studies=400), (stats, "holm", lambda p_values: p_values), "word_overall"),
        (Simulated(7, walk=0.02, studies=400), (stats, "mean_over_cells", cells_as_sample), "covered_overall"),
        (Simulated(7, slope=0.01, studies=400, drawn=False), (stats, "ALPHA", stats.ALPHA), "alarms"),
    ],
    ids=["normal, not t, a cell", "and overall", "no Holm", "nor over variants", "cells as sample", "order not drawn"],
)
def test_a_wrong_method_is_caught(plan, wrong, caught):
    assert caught in broken(outcome(plan, (wrong,)))
