"""Decide after a repetition of a study with a `precision` whether another one is measured."""

from pathlib import Path
from typing import Any

from scripts import record
from scripts.analysis import precision, runs
from scripts.analysis.comparison import compare, terms_of
from scripts.analysis.verdicts import PRIMARY
from scripts.host import entry
from scripts.host.entry import say
from scripts.vocabulary import Decision
from scripts.wording import percent, plural

WORDS = {
    Decision.ENOUGH: "precise enough",
    Decision.ANOTHER: "another repetition is measured",
    Decision.TIME_IS_UP: "the time is up",
}


def main(plan: Path, repetition: int, decision: Path, log: Path) -> None:
    """Input: `plan`, the study's plan.json, and the records of the runs up to `repetition` that it names.

    Output: `decision`: the half width reached, the seconds spent, and the decision. Prints one line.
    """
    facts = record.read(plan)["stopping"]
    asked = precision.Asked(**facts["asked"])
    chosen = [Path(path) for path, number in facts["runs"].items() if number <= repetition]
    half_width, spent_s = precision.widest(overall(facts["study"], chosen, repetition)), seconds_of(chosen)
    decided = precision.decide(half_width, spent_s, asked)
    known = half_width if half_width != float("inf") else None
    made = {"repetition": repetition, **facts["asked"], "half_width": known, "spent_s": spent_s, "decision": decided}
    record.write(decision, made)
    reached = f"within ±{percent(half_width)}" if known else "not known for a variant"
    say(f"{plural(repetition, 'repetition')}: the widest interval is {reached}, {WORDS[decided]}")


def overall(study: dict[str, Any], paths: list[Path], repetition: int) -> Any:
    """Return overall.csv of the first repetitions of a study, for the metrics that decide."""
    names = zip(study["order"], study["blocks"], strict=True)
    there = [(place, name) for place, name in names if place[2] <= repetition]
    first = {**study, "order": [place for place, _ in there], "blocks": [name for _, name in there]}
    table, _ = runs.collect(first, runs.read_records(paths, without=runs.LARGE))
    return compare(table, terms_of(first, PRIMARY)).overall


def seconds_of(paths: list[Path]) -> float:
    """Return the wall seconds of the blocks of these runs: from the start of the first to the end of the last of each.

    They come from the records, so that a workflow that was killed has no time to gain by it.
    """
    spans: dict[str, list[float]] = {}
    for run in runs.read_records(paths, without=runs.LARGE):
        span = spans.setdefault(run.block or str(run.path), [run.times.started_at, run.times.ended_at])
        spans[run.block or str(run.path)] = [min(span[0], run.times.started_at), max(span[1], run.times.ended_at)]
    return sum(end - begin for begin, end in spans.values())


if __name__ == "__main__":
    entry.run(main, __doc__, "plan", "decision", repetition={"type": int, "required": True})
