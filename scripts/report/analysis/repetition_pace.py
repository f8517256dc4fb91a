"""The pace of measuring from rows of runs.csv: what a run, and one more repetition of all cells, takes."""

from collections.abc import Mapping

import pandas as pd

from scripts.lib.vocabulary import WORKLOAD_CLIENTS
from scripts.measure.engine.run_record import WAITING, measured_s, working_s
from scripts.report.analysis.columns import Field
from scripts.report.analysis.pairing import block_names
from scripts.report.analysis.run_columns import PHASE_NAMES

WORKING = [f"phase_{name}_s" for name in PHASE_NAMES if name != WAITING]


def row_s(row: Mapping[str, Field]) -> float:
    """Return the seconds that a run worked; NaN where its record has no phases."""
    phases = {name: row.get(f"phase_{name}_s") for name in PHASE_NAMES}
    return working_s({name: None if isinstance(seconds, str) else seconds for name, seconds in phases.items()})


def repetition_s(runs: pd.DataFrame) -> float:
    """Return the seconds that one more repetition of all cells takes, without waiting for the machine.

    It is the sum over cells of the median seconds of a run in its blocks, times the arms of the cell: what was measured
    in several blocks, since variants were added, is measured in one. NaN where no run has times.
    """
    timed = runs.dropna(subset=["started_at", "ended_at"])
    if timed.empty:
        return float("nan")
    blocks = timed.assign(block=block_names(timed)).groupby([*WORKLOAD_CLIENTS, "block"])
    of_run = blocks.apply(_block_s) / blocks.size()
    arms = timed.groupby(list(WORKLOAD_CLIENTS))["variant"].nunique()
    return float((of_run.groupby(level=list(WORKLOAD_CLIENTS)).median() * arms).sum())


def _block_s(runs: pd.DataFrame) -> float:
    """Return the seconds of a block: those of its runs' phases, of records without phases from start to end."""
    phases = runs.reindex(columns=WORKING).astype(float).sum(axis=1, min_count=1)
    # Blocks that share the starts of their servers take turns: what lies between a block's runs is another's.
    spans = runs[["started_at", "ended_at"]].itertuples(index=False)
    return measured_s(spans) if phases.isna().any() else float(phases.sum())
