"""Decide after a repetition of a study with a `precision` whether another one is measured."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from scripts.lib import json_record
from scripts.lib.host import entry
from scripts.lib.host.entry import say
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import BLOCK_FILE, Decision
from scripts.lib.wording import percent, plural
from scripts.report.analysis import precision, run_tables
from scripts.report.analysis.comparison import compare, terms_of
from scripts.report.analysis.verdicts import PRIMARY

WORDS = {
    Decision.ENOUGH: "precise enough",
    Decision.ANOTHER: "another repetition is measured",
    Decision.TIME_IS_UP: "the time is up",
}


def main(plan: Path, repetition: int, decision: Path, log: Path) -> None:
    """Input: `plan`, the study's plan.json, and the records of the runs up to `repetition` that it names.

    Output: `decision`: the half width reached, the seconds spent, and the decision. Prints one line.
    """
    facts = json_record.read(plan)["stopping"]
    goal = precision.PrecisionGoal(**facts["asked"])
    chosen = [Path(path) for path, number in facts["runs"].items() if number <= repetition]
    half_width = precision.widest(overall(ResolvedStudy.of(facts["study"]), chosen, repetition))
    spent_s = seconds_of(chosen)
    decided = precision.decide(half_width, spent_s, goal)
    width = half_width if half_width != float("inf") else None
    outcome = {**facts["asked"], "half_width": width, "spent_s": spent_s, "decision": decided}
    json_record.write(decision, {"repetition": repetition, **outcome})
    reached = f"within ±{percent(half_width)}" if width else "not known for a variant"
    say(f"{plural(repetition, 'repetition')}: the widest interval is {reached}, {WORDS[decided]}")


def overall(study: ResolvedStudy, paths: list[Path], repetition: int) -> pd.DataFrame:
    """Return overall.csv of the first repetitions of a study, for the metrics that decide."""
    names = zip(study.order, study.blocks, strict=True)
    chosen = [(block, name) for block, name in names if block.repetition <= repetition]
    first = replace(study, order=[block for block, _ in chosen], blocks=[name for _, name in chosen])
    table, _ = run_tables.collect(first, run_tables.read_records(paths, without=run_tables.LARGE))
    return compare(table, terms_of(first, PRIMARY)).overall


def seconds_of(paths: list[Path]) -> float:
    """Return the wall seconds of the blocks of these runs, as their records state them.

    They come from the records, so that a workflow that was killed has no time to gain by it.
    """
    blocks = {path.with_name(BLOCK_FILE) for path in paths}
    return sum(float(json_record.read(block)["wall_s"]) for block in blocks)


if __name__ == "__main__":
    entry.run(main, __doc__, "plan", "decision", repetition={"type": int, "required": True})
