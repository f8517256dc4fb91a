"""Measure one block: its arms side by side or by turns; write their records, then the block's."""

from pathlib import Path

from scripts.lib.host import entry, priority
from scripts.lib.host.entry import say
from scripts.lib.wording import duration
from scripts.measure.engine import block as measured_block
from scripts.measure.engine import planned, run_record
from scripts.measure.engine.programs import with_programs
from scripts.measure.engine.run_facts import line
from scripts.measure.engine.run_record import working_s
from scripts.measure.loadgen import lua


def main(plan: Path, block: Path, scripts: dict[str, str], log: Path) -> None:
    """Input: `plan`, the study's plan.json, and the records of builds and datasets that it names.

    Output: `block`, the record of the block, and beside it the record and sysbench's output of each arm. Blocks that
    share its starts of the servers are written before it. Prints one line per arm and the time left.
    """
    priority.go_first()
    lua.find_outside_scripts(scripts)
    levels = [with_programs(level) for level in planned.read(plan, block.parent)]
    runs = [run_record.read(path) for path in measured_block.measure(levels, log)]
    in_plan = planned.place(plan, block.parent)
    for number, run in enumerate(runs, start=in_plan.before + 1):
        say(line(run, number, in_plan.total))
    if remaining_s := measuring_left_s(runs, in_plan):
        say(f"about {duration(remaining_s)} of measuring left, at the pace of this block")


def measuring_left_s(runs: list[run_record.Run], in_plan: planned.PlaceInPlan) -> float:
    """Return the seconds that the runs to measure after these take at the pace of these, waiting left out."""
    pace_s = sum(working_s(run.phases_s) for run in runs) / len(runs)
    return pace_s * (in_plan.total - in_plan.before - len(runs))


if __name__ == "__main__":
    entry.run(main, __doc__, "plan", "block", scripts=entry.SCRIPTS)
