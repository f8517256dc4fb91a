"""Failed runs for the page: equal failures once, what a server that does not start said, and what helps."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from scripts.lib.failure_reasons import alike, cause_text
from scripts.lib.vocabulary import FailureKind
from scripts.lib.wording import brief, listing, plural
from scripts.report.analysis.table_rows import RunRow
from scripts.report.page.value_tables import repetitions

KIND_TEXTS = {
    FailureKind.OPTION: "the server does not start",
    FailureKind.VALUE: "the server does not take an option",
    FailureKind.NOT_STARTED: "the server does not start",
}
CORRECT_OPTION = "Correct the option in the study; neither `make retry` nor a new campaign helps."
READ_REASON = "Read the reason first: `make retry` measures failed runs again, which helps once its cause is gone."
MOST_CELLS = 3


@dataclass(frozen=True)
class Refusal:
    """Why all runs of a variant failed, where the server would fail so again: the most frequent kind and its cause."""

    kind: FailureKind
    cause: str
    runs: int
    others: int

    @property
    def text(self) -> str:
        """What the server does, and what it said of it: `the server does not start: unknown variable x=64M`."""
        more = f", and {plural(self.others, 'other reason')}" if self.others else ""
        return f"{KIND_TEXTS[self.kind]}{': ' if self.cause else ''}{self.cause}{more}"

    @property
    def remedy(self) -> str:
        """What helps."""
        return READ_REASON if self.kind is FailureKind.NOT_STARTED else CORRECT_OPTION


def refusals(runs: pd.DataFrame) -> dict[str, Refusal]:
    """Return variant -> why its server cannot be measured, of variants whose runs all failed in such a way.

    `runs` is runs.csv. Records of earlier releases have no kind of their failures, and are not among them.
    """
    by_variant = {}
    for variant, rows_of_variant in runs[runs["outcome"] != "missing"].groupby("variant", sort=False):
        if not (rows_of_variant["outcome"] == "failed").all() or rows_of_variant["failure"].isna().any():
            continue
        rows = list(rows_of_variant.fillna({"cause": ""}).itertuples())
        first, *others = alike(rows, lambda row: f"{row.failure}: {row.cause}")
        kind = FailureKind(first.things[0].failure)
        by_variant[variant] = Refusal(kind, cause_text(first.things[0].cause), len(rows), len(others))
    return by_variant


def remedy(runs: pd.DataFrame) -> str:
    """Return what helps against the runs that failed: an option that a server refuses is no case for `make retry`."""
    failed = runs[runs["outcome"] == "failed"]
    options = failed["failure"].isin((FailureKind.OPTION, FailureKind.VALUE))
    start = "Cells without runs are left out of the means."
    if options.any() and options.all():
        return f"{start} {CORRECT_OPTION}"
    named = listing(list(dict.fromkeys(failed.loc[options, "variant"])))
    first = f"Of {named}, correct the option in the study, which the server refuses again. " if named else ""
    return f"{start} {first}{READ_REASON}"


def failure_lines(runs: pd.DataFrame) -> tuple[str, ...]:
    """Return one line per variant and reason of the runs that are not ok: how many, where, and the first's reason."""
    lines = []
    for (variant, outcome), rows in runs.groupby(["variant", "outcome"], sort=False):
        for group in alike(rows.itertuples(), lambda row: str(row.reason)):
            few = len(group.things) == 1
            counted = "" if few else f"{plural(len(group.things), 'run')} "
            lines.append(f"{variant}, {_where(group.things)}: {counted}{outcome}, {brief(group.reason)}")
    return tuple(lines)


def _where(runs: Iterable[RunRow]) -> str:
    """Return the cells of runs with their repetitions in words; of many cells the first few."""
    cells: dict[tuple[str, int], list[RunRow]] = {}
    for run in runs:
        cells.setdefault((run.workload, int(run.clients)), []).append(run)
    texts = [f"{load}, {plural(clients, 'client')}, {repetitions(rows)}" for (load, clients), rows in cells.items()]
    if len(texts) > MOST_CELLS:
        texts = [*texts[: MOST_CELLS - 1], f"{len(texts) - MOST_CELLS + 1} more cells"]
    return "; ".join(texts)
