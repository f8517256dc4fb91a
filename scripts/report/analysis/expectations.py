"""Expectations of a study, `expect:`, judged by the intervals of overall.csv, and the answers beside them."""

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS, MIN_BLOCKS
from scripts.lib.wording import brief, interval, missing, plural, ratio
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


def whole_verdict(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Return the facts of verdict.json; `tables` holds runs and overall.

    `word` is that of `word_of`.
    """
    judged = list(judged_expectations(study, tables))
    return {
        "study": study.study,
        "reference": study.reference,
        "repetitions": study.repetitions,
        "blocks": study.blocks,
        **({"partial": True} if study.partial else {}),
        "word": word_of(judged),
        "expectations": [asdict(each) for each in judged],
        "answers": list(_answers(tables["overall"])),
    }


def word_of(judged: Sequence[Judged]) -> Judgement | None:
    """Return broken if an expectation is, else open if one is, else held; None without expectations."""
    states = [each.state for each in judged]
    return next((state for state in (Judgement.BROKEN, Judgement.OPEN, Judgement.HELD) if state in states), None)


def _answers(overall: pd.DataFrame) -> Iterator[dict[str, Any]]:
    columns = ("variant", "metric", "ratio", "ratio_low", "ratio_high", "verdict",
               "n_cells", "n_cells_planned", "n_blocks_least")  # fmt: skip
    for row in overall[~overall["variant"].isin(CONTROLS)].to_dict("records"):
        if row["metric"] in PRIMARY or row["n_cells"]:
            yield {name: None if missing(row[name]) else row[name] for name in columns}


def judged_expectations(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> Iterator[Judged]:
    """Yield every expectation of a study in its order, judged."""
    rows = {(row["variant"], row["metric"]): row for row in tables["overall"].to_dict("records")}
    for variant, limits in study.expect.items():
        for metric, expected in limits.items():
            row = rows.get((variant, metric), {})
            state, why = _judged(study, tables["runs"], variant, row, expected)
            values = {key: _number(row.get(key)) for key in ("ratio", "ratio_low", "ratio_high")}
            text = f"{variant}: {metric} {expected}: {state}, {_found(row)}{f'; {why}' if why else ''}"
            yield Judged(variant, metric, expected, state, **values, text=text)


def _number(value: float | None) -> float | None:
    return None if missing(value) else float(value)


def _found(row: dict[str, Any]) -> str:
    if missing(row.get("ratio")):
        return "no ratio"
    if missing(row["ratio_low"]):
        return f"{ratio(row['ratio'])} without an interval"
    return f"{ratio(row['ratio'])} ({interval(row['ratio_low'], row['ratio_high'])})"


def _judged(
    study: ResolvedStudy, runs: pd.DataFrame, variant: str, row: dict[str, Any], expected: str
) -> tuple[Judgement, str]:
    """Return the state of an expectation, and what else must be known about it."""
    if not row or not row["n_cells"]:
        return _unmeasured(runs[runs["variant"] == variant])
    if study.partial:
        return Judgement.OPEN, "the study is not finished"
    if row["n_cells"] < row["n_cells_planned"]:
        return (
            Judgement.OPEN,
            f"{int(row['n_cells'])} of {plural(int(row['n_cells_planned']), 'cell')} could be compared",
        )
    if row["n_blocks_least"] < MIN_BLOCKS:
        return (Judgement.OPEN, f"a cell has {plural(int(row['n_blocks_least']), 'block')}, {MIN_BLOCKS} are needed")
    return _by_interval(expected, row["ratio_low"], row["ratio_high"]), ""


def _unmeasured(runs: pd.DataFrame) -> tuple[Judgement, str]:
    """Return broken for a variant whose runs all failed, since its server is at fault, else open."""
    failed = runs[runs["outcome"] == "failed"]
    if len(failed) and len(failed) == len(runs):
        reasons = failed["reason"].dropna()
        return (
            Judgement.BROKEN,
            f"all its runs failed: {brief(str(reasons.iat[0]), 120) if len(reasons) else 'no reason'}",
        )
    return Judgement.OPEN, "no cell could be compared"


def _by_interval(expected: str, low: float, high: float) -> Judgement:
    """Return held when every ratio of the interval meets the limit, broken when none does."""
    sign, limit = limit_of(expected)
    inside = [COMPARE[sign](end, limit) for end in (low, high)]
    if missing(low) or (any(inside) and not all(inside)):
        return Judgement.OPEN
    return Judgement.HELD if all(inside) else Judgement.BROKEN


def limit_of(expected: str) -> tuple[str, float]:
    """Return sign and ratio of a text such as `> 1.05`. Raises ValueError for another text."""
    if not (found := LIMIT.fullmatch(expected)):
        raise ValueError(f"expect: {expected!r}, expected a limit such as > 1.05")
    return found[1], float(found[2])
