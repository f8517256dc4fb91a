"""Remove failed results, so that the next run of the workflow makes them again."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scripts.commands.arguments import add_arguments, paths_of, report_command
from scripts.commands.removal import RESULTS, carry_out, discard, hold_results
from scripts.lib import json_record
from scripts.lib.failure_reasons import alike
from scripts.lib.host.entry import say, user_command
from scripts.lib.host.outcome import has_failed
from scripts.lib.vocabulary import FailureKind
from scripts.lib.wording import brief, listing, plural
from scripts.study.plan.diagnosis_plan import Diagnoses
from scripts.study.plan.earlier_layout import demand_blocks
from scripts.study.plan.schedule import Schedule


@dataclass(frozen=True)
class FailedResult:
    """A record with the outcome `failed`, its reason, and the paths to remove with it.

    `refuses` is the variant whose server refuses an option, empty for other failures.
    """

    record: Path
    reason: str
    removed: tuple[Path, ...]
    refuses: str = ""


def main(config: Path, scale: str = "") -> None:
    """Remove the failed results of the study in `config` at a scale, and print them by their reasons.

    Raises ValueError, with nothing removed, while a Snakemake works in this directory, naming an unreadable record, or
    for results of the layout before blocks.
    """
    paths = paths_of(config, scale)
    demand_blocks(paths)
    hold_results()
    failures = list(failed(paths))
    if not failures:
        say(f"[retry] no result of study {paths.plan.study.name} failed; nothing was removed")
        return
    shown = [
        line
        for group in alike(failures, lambda failure: failure.reason)
        for line in (f"  {group.reason}", *(f"    {failure.record}" for failure in group.things))
    ]
    removed = [*made_of_results(paths), *(path for failure in failures for path in failure.removed)]
    carry_out(shown, (partial(discard, path) for path in removed))
    what = f"{plural(len(failures), 'failed result')} and the report"
    say(f"[retry] removed {what}; `{report_command(config, scale)}` makes them again")
    if refusing := list(dict.fromkeys(filter(None, (failure.refuses for failure in failures)))):
        say(f"[retry] {listing(refusing)}: the server refuses an option, and will again; correct it in the study first")


def made_of_results(paths: Schedule) -> list[Path]:
    """Return the report and its inputs: while they exist, Snakemake does not look for missing results behind them."""
    name = paths.plan.study.name
    published = [RESULTS / "report.html"] if name == "default" else []
    return [
        *published,
        *(
            Path(paths.study) / part
            for part in ("report.html", "summary.md", "answer.json", "verdict.json", "tables", "figures")
        ),
    ]


def failed(paths: Schedule) -> Iterator[FailedResult]:
    """Yield the failed results of a study, runs first and builds last, each with the paths to remove."""
    for block in paths.blocks:
        for run in (Path(paths.run(block, name)) for name in block.arms):
            # Blocks that share their starts are measured as a whole.
            yield from _failed(run, *map(Path, paths.shared(block)))
    for diagnosis in map(Path, Diagnoses(paths).of_paths):
        yield from _failed(diagnosis, diagnosis, diagnosis.with_suffix(".txt"))
    # The same answers would fail the same check again.
    for check in map(Path, paths.checks):
        yield from _failed(check, check.parent)
    for audit in map(Path, paths.audits):
        yield from _failed(audit, audit)
    for folder in map(Path, paths.profiles):
        yield from _failed(folder / "profile.json", folder)
    for build, pair in {**paths.builds, **paths.stages}.items():
        yield from _failed(Path(build) / "identity.json", Path(paths.answers(*pair)), Path(build))


def _failed(file: Path, *removed: Path) -> Iterator[FailedResult]:
    if file.is_file() and has_failed(facts := json_record.read(file)):
        of_option = (facts.get("failure") or {}).get("kind") in (FailureKind.OPTION, FailureKind.VALUE)
        variant = str(facts.get("variant")) if of_option else ""
        yield FailedResult(file, brief(str(facts.get("reason"))), removed, variant)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.retry", description=__doc__)
    add_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
