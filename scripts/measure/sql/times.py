"""Times of the statements of one run of timed SQL: cold, the first pass after the start, and warm, the others."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scripts.lib.vocabulary import COLD, WARM


def by_statement(executions: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Return (cold or warm, statement) -> its executions, one of each pass."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in executions:
        found.setdefault((COLD if one["pass"] == 1 else WARM, one["statement"]), []).append(one)
    return found


def seconds(executions: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """Return (cold or warm, statement) -> seconds of one execution, those of several warm passes averaged."""
    parts = by_statement(executions)
    return {key: statistics.fmean(one["seconds"] for one in several) for key, several in parts.items()}


def totals_s(executions: Iterable[Mapping[str, Any]], names: Iterable[str] | None = None) -> dict[str, float]:
    """Return the seconds of all statements, or of `names` alone: cold, and with several passes warm."""
    chosen, found = None if names is None else set(names), {}
    for (cache, name), took_s in seconds(executions).items():
        if chosen is None or name in chosen:
            found[cache] = found.get(cache, 0.0) + took_s
    return found


def count_common(runs: Sequence[tuple[dict[str, Any], list[dict[str, Any]]]]) -> None:
    """Make the times of runs of one workload comparable: those of the statements that all of them were sent.

    Each run is its row, which is changed, and its executions; releases differ in what they can answer.
    """
    common = set.intersection(*({one["statement"] for one in executions} for _, executions in runs))
    for row, executions in runs:
        totals = totals_s(executions, common)
        row |= {f"{cache}_s": totals.get(cache) for cache in (COLD, WARM)}
