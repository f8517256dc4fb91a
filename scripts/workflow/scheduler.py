"""Keep Snakemake's scheduler asleep while a job runs: it would take CPU time from what is measured."""

from typing import Any

from scripts.workflow.release import expect


def remove_rate_limit(scheduler: Any) -> None:
    """Remove the limit of jobs per time: its timers wake the scheduler every second, once per job so far.

    Raises OtherSnakemake if the scheduler has no such limit.
    """
    expect(scheduler, "job_rate_limiter")
    scheduler.job_rate_limiter = None
