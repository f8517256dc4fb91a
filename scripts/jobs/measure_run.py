"""Measure one run: write its record and the output of sysbench."""

from pathlib import Path

from scripts.host import entry
from scripts.host.entry import say
from scripts.measure import record
from scripts.measure.facts import line
from scripts.measure.run import facts_of


def main(recipe: dict, place: dict, identity: Path, dataset: Path, run: Path, text: Path, log: Path) -> None:
    """Inputs: `identity` of the build, and `dataset`, both records. Outputs: `run`, the record, and `text` of sysbench.

    Prints one line about the result.
    """
    facts = facts_of(recipe, place, identity, dataset, text, log)
    record.write(run, facts)
    say(line(record.read(run)))


if __name__ == "__main__":
    entry.run(main, __doc__, "identity", "dataset", "run", "text", recipe=entry.RECIPE, place=entry.RECIPE)
