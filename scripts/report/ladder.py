"""What a start that goes through all client counts means for the intervals."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scripts.vocabulary import NEVER
from scripts.wording import listing, number, plural

FEWEST_PAIRS = 8


def ladder_lines(study: dict, runs: pd.DataFrame) -> Iterator[str]:
    """Yield what a study whose servers do not restart between client counts says of it; nothing for another one."""
    if study.get("restart") != NEVER or not len(runs):
        return
    counts = listing([number(count) for count in sorted(set(runs["clients"]))])
    yield (
        f"Each repetition is one start of each server, which goes through {counts} clients: intervals are those of "
        "the starts that were measured, and what happens at one client count carries over to the next."
    )
    known, pairs = neighbour_correlation(runs, study["reference"])
    said = f"{known:.2f}, from" if pairs >= FEWEST_PAIRS else "not known from"
    what = "Correlation of the ratios at neighbouring client counts of one start (lag 1)"
    yield f"{what}: {said} {plural(pairs, 'pair')}."


def neighbour_correlation(runs: pd.DataFrame, reference: str) -> tuple[float, int]:
    """Return (lag-1 correlation, number of pairs) of log TPS ratios at neighbouring client counts of the same start.

    Each ratio is taken to the reference of its repetition, less the mean of its variant, workload and client count.
    """
    ok = runs[runs["outcome"] == "ok"].assign(log=lambda each: np.log(each["tps"].astype(float)))
    logs = ok.pivot_table(index=["workload", "repetition", "clients"], columns="variant", values="log")
    if reference not in logs:
        return float("nan"), 0
    ratios = logs.drop(columns=reference).sub(logs[reference], axis=0)
    moved = ratios - ratios.groupby(["workload", "clients"]).transform("mean")
    # Of a single start nothing is left to correlate.
    moved = moved[ratios.groupby(["workload", "clients"]).transform("count") > 1]
    behind = moved.groupby(["workload", "repetition"]).shift()
    both = moved.notna() & behind.notna()
    here, there = moved.to_numpy()[both.to_numpy()], behind.to_numpy()[both.to_numpy()]
    scale = np.sqrt(np.sum(here**2) * np.sum(there**2))
    return (float(np.sum(here * there) / scale) if scale else float("nan")), len(here)
