"""Whether the servers were warm when measuring began: tables in the buffer pool, throughput that no longer rises."""

import numpy as np
import pandas as pd

from scripts.analysis import stats
from scripts.report.finding import Finding, Topic
from scripts.report.slices import measured_in_slices
from scripts.wording import interval, missing, plural, ratio, size

WARM = Topic(
    "warm",
    "Warm servers",
    "Ratios are those of servers that still warm up, not those of a server that runs for long. Raise `warmup_s`.",
)


def warm_finding(runs: pd.DataFrame, matters: float) -> Finding | None:
    """Report loads whose throughput rose within the blocks by more than `matters`; None without runs in slices.

    A rise is that of a block, as the mean over its servers, from the first half of its slices to the second.
    """
    known = measured_in_slices(runs).dropna(subset="rise") if "rise" in runs else pd.DataFrame()
    if known.empty:
        return None
    blocks = known.groupby(["workload", "clients", "block"], sort=False)["rise"].mean()
    cells = [(cell, *_ends(rises)) for cell, rises in blocks.groupby(["workload", "clients"], sort=False)]
    rising = [_line(*cell) for cell in cells if cell[2] > np.log1p(matters)]
    middle, low, high = map(np.exp, _ends(blocks))
    within = "" if missing(low) else f" ({interval(low, high)})"
    halves = f"Throughput in the second half of the blocks over the first: {ratio(middle)}{within}."
    return WARM.judged(not rising, f"{halves} {_filled_text(known)}".strip(), tuple(rising))


def _ends(rises: pd.Series) -> tuple[float, float, float]:
    """Return mean and bounds of log rises; the bounds of a single block are missing."""
    return tuple(map(float, stats.t_interval(rises)))


def _line(cell: tuple, *logs: float) -> str:
    middle, low, high = map(np.exp, logs)
    where = f"{cell[0]}, {plural(int(cell[1]), 'client')}"
    return f"{where}: throughput still rose, second half over first {ratio(middle)} ({interval(low, high)})"


def _filled_text(runs: pd.DataFrame) -> str:
    """Return in how many runs the tables were read into the pool before the warm-up; empty where it is not recorded."""
    known = runs.dropna(subset=["pool_bytes", "table_bytes"])
    if known.empty:
        return ""
    read, over = known["fill_s"].notna(), known["table_bytes"] > known["pool_bytes"]
    sizes = f"tables up to {size(known['table_bytes'].max())}, pool {size(known['pool_bytes'].min())}"
    text = f"In {read.sum()} of {plural(len(known), 'run')} tables were read into the buffer pool before the warm-up"
    return f"{text} ({sizes}){f'; in {over.sum()} the pool cannot hold them' if over.any() else ''}."
