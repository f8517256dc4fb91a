"""How throughput holds as clients grow: TPS at each client count as a share of that at the best one."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.report.analysis import stats
from scripts.report.analysis.table_columns import LADDER
from scripts.report.analysis.unpaired import log_values

# Client counts from which on a workload has a ladder.
LEAST_COUNTS = 3


def table(study: ResolvedStudy, runs: pd.DataFrame) -> pd.DataFrame:
    """Return ladder.csv from runs.csv: one row per variant, workload and client count; none with under three counts."""
    rows = []
    for variant in (name for name in study.variants if name not in CONTROLS):
        for workload, logs in log_values(runs, variant, "tps").groupby(level="workload", sort=False):
            if len(logs) >= LEAST_COUNTS:
                rows += [(variant, workload, *rung) for rung in shares(logs.droplevel("workload"))]
    return pd.DataFrame(rows, columns=LADDER.names)


def shares(logs: pd.DataFrame) -> Iterator[tuple[int, int, float, float, float, int]]:
    """Yield (clients, best clients, share, lower and upper bound, repetitions) by client count.

    `logs` holds log TPS with one row per client count and one column per repetition. Shares are geometric means over
    the repetitions that have both counts, with the t interval of their logs, NaN at the best count itself.
    """
    best = logs.mean(axis=1).idxmax()
    for clients, values in logs.sort_index().iterrows():
        pairs = (values - logs.loc[best]).dropna()
        share, low, high = np.exp(stats.t_interval(pairs))
        bounds = (np.nan, np.nan) if clients == best else (float(low), float(high))
        yield int(clients), int(best), float(share), *bounds, len(pairs)


def published_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same of published TPS, rows of a published file: without bounds, each of one run."""
    rungs = []
    for (variant, workload), published in rows[rows["metric"] == "tps"].groupby(["variant", "workload"], sort=False):
        values = published.set_index("clients")["value"].sort_index()
        if len(values) >= LEAST_COUNTS:
            best = values.idxmax()
            rungs += [
                (variant, workload, clients, best, value / values.max(), np.nan, np.nan, 1)
                for clients, value in values.items()
            ]
    return pd.DataFrame(rungs, columns=LADDER.names)
