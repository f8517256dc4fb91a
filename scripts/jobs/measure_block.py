"""Measure one block: its arms side by side or by turns; write their records, then the block's."""

from pathlib import Path

from scripts.host import entry, priority
from scripts.host.entry import say
from scripts.measure import blocks, planned, record
from scripts.measure.facts import line
from scripts.measure.pace import working_s
from scripts.measure.programs import with_programs
from scripts.wording import duration


def main(plan: Path, block: Path, log: Path) -> None:
    """Input: `plan`, the study's plan.json, and the records of builds and datasets that it names.

    Output: `block`, the record of the block, and beside it the record and sysbench's output of each arm. Blocks that
    share its starts of the servers are written before it. Prints one line per arm and the time left.
    """
    priority.go_first()
    described = [with_programs(level) for level in planned.read(plan, block.parent)]
    runs = [record.read(path) for path in blocks.measured(described, log)]
    place = planned.place(plan, block.parent)
    for number, run in enumerate(runs, start=place.before + 1):
        say(line(run, number, place.total))
    if left_s := measuring_left_s(runs, place):
        say(f"about {duration(left_s)} of measuring left, at the pace of this block")


def measuring_left_s(runs: list[record.Run], place: planned.Place) -> float:
    """Return the seconds that the runs to measure after these take at the pace of these, waiting left out."""
    pace_s = sum(working_s(run.phases_s) for run in runs) / len(runs)
    return pace_s * (place.total - place.before - len(runs))


if __name__ == "__main__":
    entry.run(main, __doc__, "plan", "block")
