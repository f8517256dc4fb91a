"""Client counts that share a start of a server: the times of their runs, and what a failure on the way leaves."""

import time
from types import SimpleNamespace

import pytest

from scripts.lib.host import outcome
from scripts.measure.engine import by_turns
from scripts.measure.engine.setting import Phases

OK, DIED = {"outcome": "ok"}, outcome.failure_facts("died")


@pytest.fixture
def phases():
    """Phases of a start that began a minute ago."""
    made = Phases(time.time() - 60)
    made.seconds = {"clone": 3.0, "measure": 30.0}
    return made


def measured(phases, after_s):
    return {**OK, "times": {"window_started_at": 0.0, "window_ended_at": phases.started_at + after_s}}


def seconds(found):
    return [round(facts["times"]["ended_at"] - facts["times"]["started_at"]) for facts in found]


def test_runs_lie_one_behind_the_other_and_share_the_phases_of_their_start(phases):
    found = by_turns.timed([measured(phases, 20), measured(phases, 35), measured(phases, 50)], phases)
    assert seconds(found) == [20, 15, 25]
    assert [facts["times"]["ended_at"] for facts in found[:2]] == [facts["times"]["started_at"] for facts in found[1:]]
    assert [facts["phases_s"] for facts in found] == [{"clone": 1.0, "measure": 10.0}] * 3


def test_count_that_failed_has_the_time_left_and_those_behind_it_none(phases):
    assert seconds(by_turns.timed([measured(phases, 20), DIED, DIED], phases)) == [20, 40, 0]
    assert seconds(by_turns.timed([DIED], phases)) == [60]


def test_counts_behind_a_failure_say_what_failed_before_them():
    settings = [SimpleNamespace(place={"clients": clients}) for clients in (16, 64)]
    first, second = by_turns.failures(
        settings, {"outcome": "failed", "reason": "server died", "failure": {"kind": "option"}}
    )
    assert (first["outcome"], first["reason"]) == ("failed", "server died")
    assert second["reason"] == "not measured: with 16 clients, before this in the same start, server died"
    assert second["failure"] == first["failure"] == {"kind": "option"}
