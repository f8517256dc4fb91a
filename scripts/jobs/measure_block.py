"""Measure one block: its arms side by side or by turns; write their records, then the block's."""

from pathlib import Path

from scripts.host import entry
from scripts.host.entry import say
from scripts.measure import blocks, planned, record
from scripts.measure.facts import line
from scripts.measure.programs import with_programs


def main(plan: Path, block: Path, log: Path) -> None:
    """Input: `plan`, the study's plan.json, and the records of builds and datasets that it names.

    Output: `block`, the record of the block, and beside it the record and sysbench's output of each arm. Blocks that
    share its starts of the servers are written before it. Prints one line per arm.
    """
    described = [with_programs(level) for level in planned.read(plan, block.parent)]
    for run in blocks.measured(described, log):
        say(line(record.read(run)))


if __name__ == "__main__":
    entry.run(main, __doc__, "plan", "block")
