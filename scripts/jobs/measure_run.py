"""Measure one run: clone the snapshot, start the server, warm up, measure, stop, and record what everyone said."""

from pathlib import Path

from scripts import record
from scripts.host import entry
from scripts.host.entry import say
from scripts.measure.facts import line
from scripts.measure.run import facts_of


def main(recipe: dict, place: dict, identity: Path, dataset: Path, run: Path, text: Path, log: Path) -> None:
    """Write `run` and `text`, and tell the user what came of it."""
    facts = facts_of(recipe, place, identity, dataset, text, log)
    record.write_signed(run, facts)
    say(line(facts))


if __name__ == "__main__":
    entry.run(main, __doc__, "identity", "dataset", "run", "text", recipe=entry.RECIPE, place=entry.RECIPE)
