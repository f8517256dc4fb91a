"""Whether to measure on depends on the widest primary interval and the time, on no effect; intervals stay true."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

from scripts.lib.vocabulary import Decision
from scripts.report.analysis.comparison import Terms, compare
from scripts.report.analysis.precision import PrecisionGoal, decide, widest
from scripts.report.analysis.widening import STOPPING, widened_for
from tests.made.simulation import REFERENCE, Simulated, judged, logs, looks, medium_precision, runs_of, stopped

ROWS = [("pgo", "tps", 1.30, 0.010, 5), ("lto", "tps", 1.00, 0.020, 5), ("aa", "tps", 1.0, 0.5, 5)]
ROWS += [("lto", "p95_ms", 1.0, 0.9, 5)]


def overall(*more):
    table = pd.DataFrame([*ROWS, *more], columns=["variant", "metric", "ratio", "half", "n_pairs"])
    return table.assign(
        ratio_low=table["ratio"] * np.exp(-table["half"]), ratio_high=table["ratio"] * np.exp(table["half"])
    )


def test_the_widest_interval_of_the_primary_metric_counts_and_not_that_of_a_a():
    assert widest(overall()) == pytest.approx(np.expm1(0.020))


def test_effects_do_not_count():
    assert widest(overall(("slow", "tps", 0.1, 0.019, 5))) == pytest.approx(np.expm1(0.020))


def test_an_interval_that_is_not_known_is_never_narrow_enough():
    assert widest(overall(("new", "tps", 1.0, np.nan, 1))) == np.inf
    assert widest(overall().iloc[:0]) == np.inf


def test_a_variant_whose_runs_all_failed_does_not_count():
    assert widest(overall(("broken", "tps", np.nan, np.nan, 0))) == pytest.approx(np.expm1(0.020))


@pytest.mark.parametrize(
    ("half_width", "spent_s", "decision"),
    [
        (0.02, 100, Decision.ENOUGH),
        (0.0201, 100, Decision.ANOTHER),
        (0.0201, 1200, Decision.TIME_IS_UP),
        (0.01, 5000, Decision.ENOUGH),
        (np.inf, 1199, Decision.ANOTHER),
    ],
)
def test_decision(half_width, spent_s, decision):
    assert decide(half_width, spent_s, PrecisionGoal(0.02, 1200)) == decision


def test_without_a_longest_time_only_the_precision_decides():
    assert decide(0.03, 1e9, PrecisionGoal(0.02)) == Decision.ANOTHER


def test_the_simulation_looks_at_the_width_that_decides():
    plan = Simulated(variants=2, studies=3)
    found = judged(logs(plan)).overall
    for study in range(plan.studies):
        terms = Terms(REFERENCE, ("tps",), wider=STOPPING)
        expected = np.expm1(max(one.half[study] for one in found) * STOPPING)
        assert widest(compare(runs_of(plan, study), terms).overall) == pytest.approx(expected)


# One variant twice as noisy as the reference, 30 % of its variance shared by the cells of a repetition.
UNEVEN = Simulated(blocks=13, cells=8, uneven=2.0, shared=0.013, studies=2000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "least"),
    [
        (Simulated(blocks=13, shared=0.0, studies=2000), 0.95),
        (Simulated(blocks=13, cells=1, studies=2000), 0.94),
        (UNEVEN, 0.94),
        (Simulated(blocks=13, failed=0.1, uneven=2.0, shared=0.013, variants=3, studies=2000), 0.94),
    ],
    ids=["plain", "one cell", "one variant noisier", "10 % failed A/A"],
)
def test_intervals_hold_the_truth_where_measuring_stops(plan, least):
    means, halves = looks(plan)
    for share in (1.0, 0.8, 0.65):
        found = stopped(means, halves, medium_precision(halves, share))
        assert found.covered >= least - plan.error(least)
        assert 5.2 < found.repetitions < 12


@pytest.mark.slow
def test_intervals_that_are_not_widened_where_measuring_stops_are_caught():
    means, halves = looks(UNEVEN)
    found = stopped(means, halves, medium_precision(halves, 0.65, 0.9), 0.9)
    assert found.covered < 0.94 - UNEVEN.error(0.94)


def test_measuring_on_until_a_difference_is_found_is_paid_for():
    """The share of studies of two equal servers that end with an interval that misses 1, by the number of looks."""
    logs_of_blocks = np.random.default_rng(7).standard_normal((100_000, 14))
    going_on, missed, plain = np.ones(100_000, bool), [], np.zeros(100_000, bool)
    for looks_before, blocks in enumerate((5, 7, 10, 14)):
        sample = logs_of_blocks[:, :blocks]
        reach = np.abs(sample.mean(axis=1)) / sample.std(axis=1, ddof=1) * np.sqrt(blocks)
        half = special.stdtrit(blocks - 1, 0.975)
        plain |= reach > half
        going_on &= reach <= half * widened_for(stops=False, looks=looks_before)
        missed.append(1 - going_on.mean())
    assert missed[0] == pytest.approx(0.05, abs=0.003)
    assert max(missed) < 0.075
    assert plain.mean() > 0.1
