"""How long each job to come is expected to take, by its output: what the time left is counted from."""

from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.estimates import CHECK_S, PHASES, Durations
from scripts.study.plan.preview.rerun_reasons import Reasons, RunReasons
from scripts.study.plan.schedule import Schedule


def expected_s(paths: Schedule, cores: int) -> dict[str, float]:
    """Return output -> seconds of the jobs that compile, train, load, check and measure; nothing for what exists."""
    due = Due(paths)
    durations = Durations(due, RunReasons(Reasons(due)), cores)
    things = {thing.record: durations.of(thing).seconds for kind in PHASES.values() for thing in due.of(kind)}
    checks = dict.fromkeys(due.checks, CHECK_S)
    # Blocks that share their starts of the servers are measured by one job.
    blocks = {
        path: durations.run.seconds * len(block.arms) * len(paths.levels(block.key))
        for path, block in paths.jobs.items()
        if block in due.blocks
    }
    return {**things, **checks, **blocks}
