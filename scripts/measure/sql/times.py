"""Times of the statements of one run of timed SQL: cold, the first pass after the start, and warm, the others."""

import statistics
from collections.abc import Iterable, Sequence
from typing import TypedDict

from scripts.lib.vocabulary import COLD, WARM

# One execution of a statement in a record: `pass` numbers the passes from 1.
Execution = TypedDict(
    "Execution",
    {
        "pass": int,
        "statement": str,
        "seconds": float,
        "rows": int | None,
        "answer_sha256": str | None,
        "server_cpu_s": float,
        "read_bytes": int | None,
        "write_bytes": int | None,
    },
)


def by_statement(executions: Iterable[Execution]) -> dict[tuple[str, str], list[Execution]]:
    """Return (cold or warm, statement) -> its executions, one of each pass."""
    executed: dict[tuple[str, str], list[Execution]] = {}
    for execution in executions:
        cache = COLD if execution["pass"] == 1 else WARM
        executed.setdefault((cache, execution["statement"]), []).append(execution)
    return executed


def seconds(executions: Iterable[Execution]) -> dict[tuple[str, str], float]:
    """Return (cold or warm, statement) -> seconds of one execution, those of several warm passes averaged."""
    passes = by_statement(executions)
    return {key: statistics.fmean(execution["seconds"] for execution in several) for key, several in passes.items()}


def totals_s(executions: Iterable[Execution], names: Iterable[str] | None = None) -> dict[str, float]:
    """Return the seconds of all statements, or of `names` alone: cold, and with several passes warm."""
    chosen, sums_s = None if names is None else set(names), dict[str, float]()
    for (cache, name), took_s in seconds(executions).items():
        if chosen is None or name in chosen:
            sums_s[cache] = sums_s.get(cache, 0.0) + took_s
    return sums_s


def common_totals_s(runs: Sequence[Sequence[Execution]]) -> list[dict[str, float | None]]:
    """Return the columns `cold_s` and `warm_s` of runs of one workload, of the statements that all of them were sent.

    Each run is its executions; releases differ in what they can answer.
    """
    common = set.intersection(*({execution["statement"] for execution in executions} for executions in runs))
    totals = (totals_s(executions, common) for executions in runs)
    return [{f"{cache}_s": sums_s.get(cache) for cache in (COLD, WARM)} for sums_s in totals]
