"""Servers that go through all client counts in one start: what the page says of the intervals of such a study."""

import itertools
import math

import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.page.measuring_section import ladder_lines, neighbour_correlation

STUDY = {"reference": "baseline", "restart": "never"}
CLIENTS = (8, 64, 512)


def runs(moved, repetitions=5):
    """Return runs of baseline and pgo; `moved` gives the log by which pgo's TPS is off, by repetition and level."""
    places = itertools.product(range(1, repetitions + 1), range(len(CLIENTS)), ("baseline", "pgo"))
    return pd.DataFrame(
        {"variant": name, "workload": "oltp", "clients": CLIENTS[level], "repetition": number, "outcome": "ok",
         "tps": 1000.0 * (level + 1) * (math.exp(0.2 + moved(number, level)) if name == "pgo" else 1.0)}
        for number, level, name in places
    )  # fmt: skip


def test_a_start_that_is_off_at_all_client_counts_correlates():
    found, pairs = neighbour_correlation(runs(lambda number, level: 0.01 * number), "baseline")
    assert (found, pairs) == (pytest.approx(1.0), 10)


def test_ups_and_downs_within_a_start_correlate_negatively():
    found, _ = neighbour_correlation(runs(lambda number, level: 0.01 * number * (-1) ** level), "baseline")
    assert found == pytest.approx(-1.0)


def test_one_start_leaves_nothing_to_correlate_and_that_is_no_zero():
    found, pairs = neighbour_correlation(runs(lambda number, level: 0.01, repetitions=1), "baseline")
    assert (math.isnan(found), pairs) == (True, 0)
    assert list(ladder_lines(ResolvedStudy.of(STUDY), runs(lambda number, level: 0.01, repetitions=1)))[1].endswith(
        "(lag 1): not known from 0 pairs."
    )


def test_page_names_the_levels_and_the_correlation():
    first, second = ladder_lines(ResolvedStudy.of(STUDY), runs(lambda number, level: 0.01 * number))
    assert "one start of each server, which goes through 8, 64 and 512 clients" in first
    assert second.endswith("(lag 1): 1.00, from 10 pairs.")


def test_other_studies_say_nothing_of_it():
    assert list(ladder_lines(ResolvedStudy.of({"reference": "baseline"}), runs(lambda number, level: 0.0))) == []
