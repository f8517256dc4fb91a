"""Intervals and words of simulated studies keep what they promise, and wrong methods are caught doing it.

Limits hold within two standard errors of a share of 4 000 studies: 0.7 percentage points at 95 %.
`benchmarks/coverage.py` is the larger proof.
"""

import numpy as np
import pytest
from scipy import special

from scripts.report.analysis import comparison, intervals, stats
from scripts.report.analysis.intervals import Spread
from tests.made.simulation import REFERENCE, Outcome, Simulated, judged, logs, outcome, runs_of, smaller

pytestmark = pytest.mark.slow
PLAIN = Simulated(shared=0.0)
# 30 % of the variance is shared by the cells of a repetition.
SHARED = 0.02 * np.sqrt(0.3 / 0.7)
UNEVEN = Simulated(uneven=2.0, cells=3, variants=3)
MANY = Simulated(walk=0.02, cells=1, variants=6)
CASES = {
    "plain": PLAIN,
    "four variants": Simulated(variants=4, shared=0.0),
    "walk": Simulated(walk=0.02),
    "line": Simulated(blocks=7, slope=0.01),
    "walk and line": Simulated(blocks=10, walk=0.02, slope=0.01),
    "one cell, six variants": MANY,
    "cells together": Simulated(shared=0.04, variants=4),
    "one variant noisier": UNEVEN,
    "one variant noisier, cells together": Simulated(uneven=2.0, shared=SHARED, cells=8),
    "10 % failed A/A": Simulated(failed=0.1),
    "10 % failed A/A, one variant noisier": Simulated(failed=0.1, uneven=2.0, shared=SHARED, variants=4),
    "heavy tails": Simulated(tails=5, shared=0.0),
    "one cell": Simulated(cells=1),
}


def broken(plan: Simulated, found: Outcome) -> set[str]:
    """Return the promises that are not kept: least shares of coverage, largest ones of false words."""
    least = {"covered": 0.94, "covered_overall": 0.95 if plan == PLAIN else 0.94}
    missed = {name for name, share in least.items() if getattr(found, name) < share - plan.error(share)}
    most = dict.fromkeys(("alarms", "words", "word_overall"), 0.05)
    return missed | {name for name, share in most.items() if getattr(found, name) > share + plan.error(share)}


@pytest.mark.parametrize("plan", CASES.values(), ids=CASES)
def test_same_against_same_keeps_every_promise(plan):
    assert broken(plan, outcome(plan)) == set()


def test_intervals_of_a_plain_study_are_hardly_wider_than_needed():
    found = outcome(PLAIN)
    assert found.covered_overall < 0.985
    # The t interval of the true model: 5 blocks of 4 cells and 3 arms leave 9 degrees of freedom.
    needed = special.stdtrit(9, 0.975) * 0.02 * np.sqrt(1.5 / 20)
    assert found.half == pytest.approx(needed, rel=0.12)


def test_an_interval_is_as_true_around_an_effect_and_with_pairs_missing():
    plan = Simulated(blocks=7, walk=0.02, shared=0.02, effect=0.1, lost=0.2, seed=8)
    found = outcome(plan)
    assert broken(plan, found) <= {"alarms", "words", "word_overall"}
    assert found.words > 0.9


def test_more_than_what_matters_is_falsely_reported_in_one_of_twenty_studies_at_most():
    plan = Simulated(variants=4, shared=0.0, effect=np.log(1.02))
    assert outcome(plan).far <= 0.05 + plan.error(0.05)


def normal_quantile(degrees, share):
    return special.ndtri(share) + 0 * np.asarray(degrees)


def unknown_variance(values):
    return np.full(values.shape[:-2], np.nan), np.zeros(values.shape[:-2])


def unknown_own(contrast):
    return Spread("own", *unknown_variance(contrast.values))


# With neither the pooled nor the clustered spread the cells of a repetition count as independent.
CELLS_AS_SAMPLE = ((intervals, "pooled_variance", unknown_variance), (stats, "clustered_variance", unknown_variance))
NORMAL = ((special, "stdtrit", normal_quantile),)
NO_HOLM = ((stats, "holm", lambda p_values: p_values),)
POOLED_ALONE = ((intervals, "own_variance", unknown_own),)


@pytest.mark.parametrize(
    ("plan", "wrong", "caught"),
    [
        (Simulated(blocks=3, cells=1), NORMAL, "covered"),
        (Simulated(blocks=3, cells=1), NORMAL, "covered_overall"),
        (Simulated(blocks=7), NO_HOLM, "words"),
        (MANY, NO_HOLM, "word_overall"),
        (Simulated(blocks=7, shared=0.04), CELLS_AS_SAMPLE, "covered_overall"),
        (Simulated(cells=1, variants=3, uneven=4.0), POOLED_ALONE, "covered"),
    ],
    ids=["normal, not t, a cell", "and overall", "no Holm", "nor over variants", "cells as sample", "pooled alone"],
)
def test_a_wrong_method_is_caught(plan, wrong, caught):
    assert caught in broken(plan, outcome(plan, wrong))


@pytest.mark.parametrize(
    "plan", [Simulated(variants=2, walk=0.02), Simulated(variants=2, failed=0.2, lost=0.2, uneven=3.0)]
)
def test_tables_hold_the_numbers_of_the_simulation(plan):
    plan = smaller(plan, 5)
    found = judged(logs(plan))
    for study in range(plan.studies):
        table = comparison.compare(runs_of(plan, study), comparison.Terms(REFERENCE, ("tps",)))
        rows = {"cells": table.cells, "overall": table.overall}
        for name, every in (("cells", found.cells), ("overall", found.overall)):
            ours = rows[name][rows[name]["variant"].isin(plan.names[2:])]
            ours = ours.sort_values(["workload", "variant"] if name == "cells" else "variant")
            ends = np.log(ours[["ratio_low", "ratio_high"]].to_numpy())
            assert ends == pytest.approx(np.array([[one.low[study], one.high[study]] for one in every]), nan_ok=True)
            assert ours["p"].to_numpy() == pytest.approx([one.p()[study] for one in every], nan_ok=True)
            verdicts = found.cell_verdicts if name == "cells" else found.overall_verdicts
            assert list(ours["verdict"]) == list(verdicts[study])
