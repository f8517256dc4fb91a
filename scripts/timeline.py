"""When the runs were measured: order, overlap, the time between them and the time within them."""

import numpy as np
import pandas as pd

from scripts.tables import BLOCK, PHASES
from scripts.verdict import Finding
from scripts.wording import duration, missing, percent, plural

PAUSE_S = 60
OWN_SHARE_GOAL = 0.01


def run_name(row: tuple) -> str:
    """Write which run it is in words."""
    return f"{row.variant}, {row.workload}, {plural(int(row.clients), 'client')}, repetition {int(row.repetition)}"


def order(study: dict, runs: pd.DataFrame) -> Finding:
    """Compare the order in which each block's runs began with the order drawn from the seed."""
    began = runs.dropna(subset="started_at").sort_values("started_at")
    actual = {key: list(group["variant"]) for key, group in began.groupby(list(BLOCK))}
    planned = {tuple(block[:3]): list(block[3]) for block in study.get("order") or []}
    kept = sum([name for name in planned.get(key, []) if name in ran] == ran for key, ran in actual.items())
    text = f"{kept} of {plural(len(actual), 'block')} ran in the order drawn from seed {study.get('seed')}."
    return Finding("Order", "good" if kept == len(actual) else "look", text)


def overlap(runs: pd.DataFrame) -> Finding:
    """Look for a run that began before an earlier one had ended, on one host."""
    timed = runs.dropna(subset=["started_at", "ended_at"]).sort_values("started_at")
    ends = timed.groupby("machine_id")["ended_at"].transform(lambda ended: ended.cummax().shift())
    found = timed[timed["started_at"] < ends]
    text = (
        f"{plural(len(found), 'run')} began before another had ended." if len(found) else "No two runs overlap in time."
    )
    return Finding("Alone", "look" if len(found) else "good", text, tuple(run_name(row) for row in found.itertuples()))


def own_gaps(runs: pd.DataFrame) -> tuple[float, float, list[float]]:
    """Return (seconds between consecutive runs, span in seconds, pauses in seconds).

    A gap runs from one run's ended_at to the next one's started_at; the span from the first start to the last end,
    without the pauses. A pause is a gap of more than 60 s, or one in which a run lies that left no times: then the
    study was stopped, something else was made, or a server failed.
    """
    timed = runs.dropna(subset=["started_at", "ended_at"]).sort_values("started_at")
    if timed.empty:
        return 0.0, 0.0, []
    lost = np.sort(runs.loc[runs["started_at"].isna(), "run_number"].dropna().to_numpy(dtype=float))
    lost_before = np.searchsorted(lost, timed["run_number"].to_numpy(dtype=float))
    gaps = np.maximum(timed["started_at"].to_numpy()[1:] - timed["ended_at"].to_numpy()[:-1], 0.0)
    pausing = (gaps > PAUSE_S) | (np.diff(lost_before) != 0)
    span_s = float(timed["ended_at"].max() - timed["started_at"].min() - gaps[pausing].sum())
    return float(gaps[~pausing].sum()), span_s, gaps[pausing].tolist()


def own_share(runs: pd.DataFrame) -> Finding:
    """Tell which share of the study's time lay between runs: what the workflow itself costs."""
    gaps_s, span_s, pauses = own_gaps(runs)
    if not span_s:
        return Finding("Cost of the workflow", "plain", "No run has times.")
    share = gaps_s / span_s
    text = f"{percent(share)} of {duration(span_s)} lay between one run's end and the next one's start"
    text += f" (goal: under {percent(OWN_SHARE_GOAL, 0)})."
    if pauses:
        text += f" Not counted: {plural(len(pauses), 'pause')}, {duration(sum(pauses))} in all."
    return Finding("Cost of the workflow", "good" if share < OWN_SHARE_GOAL else "look", text)


def phase_split(runs: pd.DataFrame) -> Finding:
    """Tell what the runs spent their time on."""
    mean_s = runs[[f"phase_{name}_s" for name in PHASES]].astype(float).mean()
    named = [(name, mean_s[f"phase_{name}_s"]) for name in PHASES if not missing(mean_s[f"phase_{name}_s"])]
    if not named:
        return Finding("Time of a run", "plain", "No run has times.")
    total_s = sum(seconds for _, seconds in named)
    parts = [f"{name} {duration(seconds)} ({percent(seconds / total_s, 0)})" for name, seconds in named]
    rest_s = total_s - sum(seconds for name, seconds in named if name in ("warmup", "measure"))
    text = f"Mean {duration(total_s)}, of which {duration(rest_s)} are neither warming up nor measuring"
    return Finding("Time of a run", "plain", f"{text}: {', '.join(parts)}.")
