"""Client counts that share a start of a server: the times of their runs, and what a failure on the way leaves."""

import time

import pytest

from scripts.lib.vocabulary import FailureKind
from scripts.measure.engine import by_turns
from scripts.measure.engine.run_facts import failed_run, refused_run
from scripts.measure.engine.run_parts import TimesFacts
from scripts.measure.engine.run_record import OK, MeasuredRun, Run
from scripts.measure.engine.setting import Phases
from scripts.measure.servers.server import ServerFailed

DIED = MeasuredRun(refused_run(Run(), "died"))


@pytest.fixture
def phases():
    """Phases of a start that began a minute ago."""
    made = Phases(time.time() - 60)
    made.seconds = {"clone": 3.0, "measure": 30.0}
    return made


def measured(phases, after_s):
    times = TimesFacts(window_started_at=0.0, window_ended_at=phases.started_at + after_s)
    return MeasuredRun(Run(outcome=OK, times=times))


def seconds(levels):
    return [round(level.run.times.ended_at - level.run.times.started_at) for level in levels]


def test_runs_lie_one_behind_the_other_and_share_the_phases_of_their_start(phases):
    found = by_turns.timed([measured(phases, 20), measured(phases, 35), measured(phases, 50)], phases)
    assert seconds(found) == [20, 15, 25]
    times = [level.run.times for level in found]
    assert [each.ended_at for each in times[:2]] == [each.started_at for each in times[1:]]
    assert [level.run.phases_s for level in found] == [{"clone": 1.0, "measure": 10.0}] * 3


def test_count_that_failed_has_the_time_left_and_those_behind_it_none(phases):
    assert seconds(by_turns.timed([measured(phases, 20), DIED, DIED], phases)) == [20, 40, 0]
    assert seconds(by_turns.timed([DIED], phases)) == [60]


def test_counts_behind_a_failure_say_what_failed_before_them():
    planned = [Run(variant="pgo", workload="oltp", clients=clients) for clients in (16, 64)]
    failed = failed_run(planned[0], ServerFailed("server died", FailureKind.OPTION))
    first, second = (level.run for level in by_turns.failures(planned, failed))
    assert (first, first.outcome, first.reason) == (failed, "failed", "server died")
    assert second.reason == "not measured: with 16 clients, before this in the same start, server died"
    assert second.failure == first.failure
    assert second.failure.kind == "option"
    assert (second.clients, second.outcome) == (64, "failed")
