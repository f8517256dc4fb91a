"""A block is finished between two readings of the rules: a job sees what the main process decided, others the disk."""

import signal

import pytest

from tests.workflow.test_stub_kill import COMMAND, PLANNED, at_work, run_files, small, started, wait_until  # noqa: F401

pytestmark = pytest.mark.slow
PLAN = "results/studies/default/plan.json"
# How Snakemake calls itself for a job that does not run in its own process.
AS_A_JOB = ("--mode", "subprocess", "--cores", "1", "--force", "--nolock", "--ignore-incomplete")


@pytest.fixture
def halted(small, started):  # noqa: F811
    """A study whose Snakemake is held still when some of its blocks are finished; it goes on and ends well."""
    wait_until(lambda: len(run_files(small)) >= 2)
    started.send_signal(signal.SIGSTOP)
    yield small
    started.send_signal(signal.SIGCONT)
    assert started.wait(60) == 0
    assert at_work(small) == len(run_files(small)) == PLANNED


def test_dry_run_beside_a_run_plans_what_is_missing_and_changes_nothing(halted):
    decided, finished = (halted.root / PLAN).read_bytes(), len(run_files(halted))
    answer = halted.run("--dry-run", *COMMAND)
    assert answer.status == 0, answer.text
    # The block at work may be finished while the rules are read.
    assert PLANNED - finished - 1 <= answer.jobs["measure_block"] <= PLANNED - finished
    assert (halted.root / PLAN).read_bytes() == decided


def test_job_sees_the_blocks_that_the_main_process_decided_on_and_none_that_is_finished_meanwhile(halted):
    finished, *_ = (str(file.relative_to(halted.root)) for file in run_files(halted))
    job = halted.run(*AS_A_JOB, "--dry-run", finished)
    assert job.status == 0, job.text
    beside = halted.run("--force", "--dry-run", finished)
    assert beside.status != 0
    assert f"No rule to produce {finished}" in beside.text
