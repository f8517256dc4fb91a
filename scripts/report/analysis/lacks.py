"""Why a cell of imported logs has no ratio: an absent or failed log, two releases, a latency without a value."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CELL
from scripts.lib.wording import listing, missing
from scripts.report.analysis.printed_digits import LatencyLimit, Limits, limits

LIMIT_TEXTS = {LatencyLimit.CAPPED: "at least 100 s", LatencyLimit.ROUNDED: "printed as 0.00 ms"}
NOT_PRINTED = "not in its logs"
Lacks = dict[tuple[str, str, int, str], str]


def lacks(study: ResolvedStudy, runs: pd.DataFrame, cells: pd.DataFrame) -> Lacks:
    """Return (variant, workload, clients, metric) -> why there is no ratio to the reference."""
    beyond = limits(runs)
    by_cell = dict(iter(runs.groupby(list(CELL))))
    found: Lacks = {}
    for row in cells.itertuples():
        if row.variant != study.reference and missing(row.ratio):
            sides = [(name, by_cell.get((name, row.workload, row.clients))) for name in (row.variant, study.reference)]
            reasons = list(dict.fromkeys(_reasons(sides, row, beyond)))
            found[row.variant, row.workload, row.clients, row.metric] = "; ".join(reasons)
    return found


def _reasons(sides: list[tuple[str, pd.DataFrame | None]], row: Any, beyond: Limits) -> Iterator[str]:
    """Yield the reasons of both sides, or that their releases differ."""
    releases = []
    for name, rows in sides:
        there = rows[rows["outcome"] != "missing"] if rows is not None else pd.DataFrame()
        ok = there[there["outcome"] == "ok"] if len(there) else there
        if there.empty:
            yield f"no log of {name}"
        elif ok.empty:
            yield f"no log of {name} has a measurement"
        elif limit := beyond.get((name, row.workload, row.clients, row.metric)):
            yield f"{name}: {LIMIT_TEXTS[limit]}"
        elif ok[row.metric].isna().all():
            yield f"{name}: {NOT_PRINTED}"
        releases += [(version, name) for version in ok.get("sysbench_version", pd.Series(dtype=str)).dropna().unique()]
    if len({version for version, _ in releases}) > 1:
        yield f"sysbench {listing([f'{version} in {name}' for version, name in releases])}"
