"""Expectations of a study, `expect:`, judged by the intervals of overall.csv, and the answers beside them."""

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

import pandas as pd

from scripts.lib.json_record import Json
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS, MIN_BLOCKS
from scripts.lib.wording import brief, interval, missing, plural, ratio
from scripts.report.analysis.table_rows import OverallRow
from scripts.report.analysis.verdicts import PRIMARY

LIMIT = re.compile(r"([<>]=?) ?([0-9]+(?:\.[0-9]+)?)")
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Judgement(StrEnum):
    """Whether an expectation holds: the whole interval lies inside, or outside, or the study does not show it."""

    HELD = "held"
    BROKEN = "broken"
    OPEN = "open"


@dataclass(frozen=True)
class Judged:
    """An expectation and what the study shows of it; `text` is one line."""

    variant: str
    metric: str
    expected: str
    state: Judgement
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    text: str


def whole_verdict(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> dict[str, Json]:
    """Return the facts of verdict.json; `tables` holds runs and overall.

    `word` is that of `word_of`.
    """
    judged = list(judged_expectations(study, tables))
    return {
        "study": study.study,
        "reference": study.reference,
        "repetitions": study.repetitions,
        "blocks": list[Json](study.blocks),
        **({"partial": True} if study.partial else {}),
        "word": word_of(judged),
        "expectations": [asdict(expectation) for expectation in judged],
        "answers": list(_answers(tables["overall"])),
    }


def word_of(judged: Sequence[Judged]) -> Judgement | None:
    """Return broken if an expectation is, else open if one is, else held; None without expectations."""
    states = {expectation.state for expectation in judged}
    return next((state for state in (Judgement.BROKEN, Judgement.OPEN, Judgement.HELD) if state in states), None)


def _answers(overall: pd.DataFrame) -> Iterator[Json]:
    columns = ["variant", "metric", "ratio", "ratio_low", "ratio_high", "verdict",
               "n_cells", "n_cells_planned", "n_blocks_least"]  # fmt: skip
    shown = overall["metric"].isin(PRIMARY) | (overall["n_cells"] != 0)
    for row in overall.loc[~overall["variant"].isin(CONTROLS) & shown, columns].to_dict("records"):
        yield {name: None if missing(value) else value for name, value in row.items()}


def judged_expectations(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> Iterator[Judged]:
    """Yield every expectation of a study in its order, judged."""
    rows: dict[tuple[str, str], OverallRow]
    rows = {(row.variant, row.metric): row for row in tables["overall"].itertuples()}
    for variant, limits in study.expect.items():
        for metric, expected in limits.items():
            row = rows.get((variant, metric))
            state, why = _judged(study, tables["runs"], variant, row, expected)
            ends = (row.ratio, row.ratio_low, row.ratio_high) if row else (None, None, None)
            mean, low, high = (None if missing(end) else float(end) for end in ends)
            text = f"{variant}: {metric} {expected}: {state}, {_shown(row)}{f'; {why}' if why else ''}"
            yield Judged(variant, metric, expected, state, mean, low, high, text)


def _shown(row: OverallRow | None) -> str:
    if row is None or missing(row.ratio):
        return "no ratio"
    if missing(row.ratio_low):
        return f"{ratio(row.ratio)} without an interval"
    return f"{ratio(row.ratio)} ({interval(row.ratio_low, row.ratio_high)})"


def _judged(
    study: ResolvedStudy, runs: pd.DataFrame, variant: str, row: OverallRow | None, expected: str
) -> tuple[Judgement, str]:
    """Return the state of an expectation, and what else must be known about it."""
    if row is None or not row.n_cells:
        return _unmeasured(runs[runs["variant"] == variant])
    if study.partial:
        return Judgement.OPEN, "the study is not finished"
    if row.n_cells < row.n_cells_planned:
        cells = plural(int(row.n_cells_planned), "cell")
        return Judgement.OPEN, f"{int(row.n_cells)} of {cells} could be compared"
    if row.n_blocks_least < MIN_BLOCKS:
        blocks = plural(int(row.n_blocks_least), "block")
        return Judgement.OPEN, f"a cell has {blocks}, {MIN_BLOCKS} are needed"
    return _by_interval(expected, row.ratio_low, row.ratio_high), ""


def _unmeasured(runs: pd.DataFrame) -> tuple[Judgement, str]:
    """Return broken for a variant whose runs all failed, since its server is at fault, else open."""
    failed = runs[runs["outcome"] == "failed"]
    if failed.empty or len(failed) < len(runs):
        return Judgement.OPEN, "no cell could be compared"
    reasons = failed["reason"].dropna()
    reason = brief(str(reasons.iat[0]), 120) if len(reasons) else "no reason"
    return Judgement.BROKEN, f"all its runs failed: {reason}"


def _by_interval(expected: str, low: float, high: float) -> Judgement:
    """Return held when every ratio of the interval meets the limit, broken when none does."""
    sign, limit = limit_of(expected)
    inside = [COMPARE[sign](end, limit) for end in (low, high)]
    if missing(low) or (any(inside) and not all(inside)):
        return Judgement.OPEN
    return Judgement.HELD if all(inside) else Judgement.BROKEN


def limit_of(expected: str) -> tuple[str, float]:
    """Return sign and ratio of a text such as `> 1.05`. Raises ValueError for another text."""
    if not (parts := LIMIT.fullmatch(expected)):
        raise ValueError(f"expect: {expected!r}, expected a limit such as > 1.05")
    return parts[1], float(parts[2])
