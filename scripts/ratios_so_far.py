"""Ratios to the reference while a study is still measured."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts import stats
from scripts.comparison import compare, pair_runs
from scripts.metrics import SCRIPT
from scripts.overall import by_repetition, over_cells
from scripts.tables import DERIVED, FACTS

SHOWN = ("tps", "p95_ms", "cpu_us_per_tx")


@dataclass(frozen=True)
class SoFar:
    """A variant's ratio in one metric over `blocks` blocks; the bounds are NaN under 5 whole repetitions."""

    variant: str
    metric: str
    ratio: float
    low: float
    high: float
    blocks: int
    split: int


def ratios_so_far(rows: Iterable[dict[str, Any]], reference: str, block_span_s: float) -> list[SoFar]:
    """Return what the report would say of the rows of runs.csv measured so far, for `SHOWN` and for timed SQL.

    The ratio is the geometric mean over cells of each cell's mean over blocks, and the interval that of
    `scripts.overall`: with the last run both are the report's.
    """
    runs = pd.DataFrame(list(rows), columns=[*FACTS, *DERIVED])
    if not (runs["variant"] == reference).any():
        return []
    timed = [name for name in SCRIPT if runs[name].notna().any()]
    known = [*(SHOWN if not timed or runs["tps"].notna().any() else ()), *timed]
    shown = compare(pair_runs(runs, reference, block_span_s), known)
    groups = dict(iter(shown.groupby(["variant", "metric"], sort=False)))
    return [
        _so_far(variant, metric, groups[variant, metric]) for variant in shown["variant"].unique() for metric in known
    ]


def _so_far(variant: str, metric: str, pairs: pd.DataFrame) -> SoFar:
    found = over_cells(by_repetition(pairs))
    enough = found["n_repetitions"] >= stats.MIN_BLOCKS
    bounds = [found[edge] if enough else float("nan") for edge in ("ratio_low", "ratio_high")]
    split = int((pairs["status"] == "split").sum())
    return SoFar(variant, metric, found["ratio"], *bounds, found["n_pairs"], split)
