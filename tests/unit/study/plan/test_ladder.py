"""Servers that do not restart between client counts: blocks that are measured in one start are all there or none."""

from pathlib import Path

import pytest

from scripts.commands import retry
from scripts.lib import json_record
from scripts.measure.engine import planned
from scripts.study.plan import decisions
from tests.made import laid_out
from tests.made.studies import paths

LADDER = {"restart": "never", "clients": [64, 8, 16], "repetitions": 2, "relinked": False}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def finish(made):
    for path in made.runs:
        laid_out.measure(made, path)
    for block in made.to_measure.values():
        laid_out.keep(made, block)


def test_one_job_measures_all_client_counts_of_a_workload_and_repetition():
    made = paths(**LADDER)
    assert len(made.to_measure) == 2 * 2 * 3
    assert {block.key.clients for block in made.jobs.values()} == {64}
    assert len(made.jobs) == 2 * 2
    assert made.measured(made.blocks) == list(made.jobs)


def test_job_finds_the_client_counts_in_ascending_order_with_the_turns_of_the_last():
    made = paths(**LADDER)
    decisions.write(made)
    (first, *_) = made.jobs.values()
    levels = planned.read(Path(made.study, "plan.json"), Path(first.folder))
    assert [level.clients for level in levels] == [8, 16, 64]
    assert levels[-1].folder == first.folder
    assert len({tuple(level.turns) for level in levels}) == 1
    assert {level.method for level in levels} == {"turns"}
    assert "restart: never" in levels[0].why
    assert {arm.context.log_statements for arm in levels[0].arms} == {False}
    assert {arm.context.log_statements for arm in levels[-1].arms} == {True}


def test_finished_study_measures_nothing():
    finish(paths(**LADDER))
    made = paths(**LADDER)
    assert (made.to_measure, made.jobs, made.lacks_levels) == ({}, {}, False)
    assert made.measured(made.blocks) == [block.record for block in made.blocks if block.key.clients == 64]


@pytest.mark.parametrize("lost", [8, 16, 64])
def test_client_count_that_is_missing_takes_those_of_the_same_start_with_it(lost):
    finish(made := paths(**LADDER))
    (block,) = [
        one for one in made.blocks if (one.key.clients, one.key.repetition, one.key.workload) == (lost, 2, "oltp")
    ]
    Path(block.record).unlink()
    again = paths(**LADDER)
    assert {(one.key.clients, one.key.repetition) for one in again.to_measure.values()} == {(8, 2), (16, 2), (64, 2)}
    assert len(again.jobs) == 1
    assert again.lacks_levels == (lost != 64)


def test_what_was_measured_with_restarts_or_at_other_client_counts_does_not_count():
    finish(paths(**{**LADDER, "restart": "each block"}))
    assert len(paths(**LADDER).to_measure) == 12
    finish(paths(**LADDER))
    assert len(paths(**LADDER | {"clients": [8, 16]}).to_measure) == 8
    assert paths(**LADDER | {"restart": "each block"}).to_measure == {}


def test_restarts_leave_digests_as_they_were():
    plain, asked = paths(), paths(restart="each block")
    assert [block.folder for block in plain.blocks] == [block.folder for block in asked.blocks]


def test_retry_removes_all_that_was_measured_in_the_start_of_a_failed_run():
    finish(made := paths(**LADDER))
    (block,) = [
        one for one in made.blocks if (one.key.clients, one.key.repetition, one.key.workload) == (16, 1, "oltp")
    ]
    facts = json_record.read(Path(made.run(block, "pgo")))
    json_record.write(Path(made.run(block, "pgo")), {**facts, "outcome": "failed", "reason": "it died"})
    (failure,) = [one for one in retry.failed(paths(**LADDER)) if one.record == Path(made.run(block, "pgo"))]
    assert [folder.parts[-4:-1] for folder in failure.removed] == [
        ("oltp", clients, "1") for clients in ("8", "16", "64")
    ]
