"""What slices show of a study measured side by side: disturbed slices, ratios by position, work of waiting servers."""

import numpy as np
import pandas as pd

from scripts.lib.vocabulary import AA, CONTROLS, SLICES, STATEMENTS
from scripts.lib.wording import interval, missing, plural, ratio
from scripts.measure.engine.disk_load import LIMITS_PER_S, WORDS, amount
from scripts.report.analysis import stats
from scripts.report.page.finding import Finding, Topic

WAITING = Topic(
    "waiting",
    "Waiting servers",
    "A server that works while it waits takes CPU time from the one that is measured: the ratios may be too close to "
    "1. `together: 1` measures one server after the other.",
)
# A thread counts as stopped when the kernel has marked it, shortly before it leaves the CPU: stopping a server costs a
# few microseconds per thread that ran, which its clock shows as work while waiting. A slice of 0.1 s, the shortest,
# loses at most 0.1 % to this much per stop, less than any study here finds.
STOPPING_S = 100e-6


def by_method(runs: pd.DataFrame, *methods: str) -> pd.Series:
    """Return for each run whether it was measured by one of these methods."""
    return runs["method"].isin(methods) if "method" in runs else pd.Series(False, index=runs.index)


def side_by_side(runs: pd.DataFrame) -> pd.Series:
    """Return for each run whether it was measured beside the others of its block, in slices or by statements."""
    return by_method(runs, SLICES, STATEMENTS)


def measured_in_slices(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the ok runs that were measured in slices."""
    return runs[by_method(runs, SLICES) & (runs["outcome"] == "ok")]


def waiting_finding(runs: pd.DataFrame) -> Finding | None:
    """Report servers that used CPU time while they were stopped; None where none was."""
    side_runs = runs[side_by_side(runs) & (runs["outcome"] == "ok")]
    if side_runs.empty or (side_runs := side_runs.dropna(subset="waiting_cpu_s")).empty:
        return None
    worked = side_runs[side_runs["waiting_cpu_s"] > STOPPING_S * side_runs["rounds"]]
    text = f"{len(worked)} of {plural(len(side_runs), 'server')} used CPU time while they were stopped."
    lines = tuple(_worked_line(*group) for group in worked.groupby(["variant", "workload", "clients"], sort=False))
    if lines:
        return WAITING.look(text, lines)
    return WAITING.good(
        f"No server used more than {STOPPING_S * 1e6:.0f} µs of CPU time per turn while it was stopped."
    )


def _worked_line(cell: tuple[str, str, int], rows: pd.DataFrame) -> str:
    variant, workload, clients = cell
    spent = f"{rows['waiting_cpu_s'].sum():.2g} s in {plural(len(rows), 'run')}"
    return f"{variant}, {workload}, {plural(int(clients), 'client')}: {spent}"


def disturbed_lines(runs: pd.DataFrame) -> tuple[str, ...]:
    """Return a sentence where total and trimmed mean over the slices of a run differ by more than a standard error."""
    sliced = measured_in_slices(runs)
    if sliced.empty:
        return ()
    apart = np.abs(np.log(sliced["tps"] / sliced["tps_trimmed"])) > sliced["tps_log_sd"]
    if not apart.any():
        return ()
    text = f"In {apart.sum()} of {plural(len(sliced), 'run')} the total and the mean over slices without the tenth at"
    return (f"{text} each end differ by more than a standard error: some slices were disturbed.",)


def disk_lines(runs: pd.DataFrame) -> tuple[str, ...]:
    """Return one line per workload and clients that asked more of a disk than slices may: how much, how it went."""
    if "turned_by" not in runs or runs.empty:
        return ()
    blocks = runs.drop_duplicates("block").set_index("block")
    rates = blocks[[f"disk_{name}_per_s" for name in LIMITS_PER_S]].astype(float)
    over = (rates > list(LIMITS_PER_S.values())).any(axis=1) | blocks["turned_by"].notna()
    cells = blocks.assign(over=over).groupby(["workload", "clients"], sort=False)
    return tuple(_disk_line(*cell) for cell in cells if cell[1]["over"].any())


def _disk_line(cell: tuple[str, int], blocks: pd.DataFrame) -> str:
    workload, clients = cell
    counted = []
    for name, limit in LIMITS_PER_S.items():
        if len(rates := blocks[f"disk_{name}_per_s"].dropna().astype(float)):
            counted.append(f"{amount(name, *rates)} (limit {limit / WORDS[name][0]:g})")
    turned, number = int(blocks["turned_by"].notna().sum()), plural(len(blocks), "block")
    how = f"{turned} of {number} by turns" if turned else f"{number} in slices, since the study sets `together`"
    load = f"the reference while it warmed up, per second: {', '.join(counted)}"
    return f"{workload}, {plural(int(clients), 'client')}, bound by a disk: {how}; {load}"


def position_lines(runs: pd.DataFrame, reference: str) -> tuple[str, ...]:
    """Return one line per variant with its ratio to the reference in each half of the slices, where it is recorded.

    If the switch between servers favoured one of them, the halves would differ.
    """
    sliced = measured_in_slices(runs)
    if sliced.empty or sliced["late_transactions"].isna().all():
        return ()
    logs = np.log(sliced[["early_transactions", "late_transactions"]].astype(float).where(lambda count: count > 0))
    base = logs[sliced["variant"].isin([reference, AA])].groupby(sliced["block"]).mean().reindex(sliced["block"])
    apart = logs - base.to_numpy()
    names = [name for name in dict.fromkeys(sliced["variant"]) if name not in (reference, *CONTROLS)]
    return tuple(line for name in names if (line := _position_line(name, apart[sliced["variant"] == name])))


def _position_line(name: str, apart: pd.DataFrame) -> str:
    early, late = (float(np.exp(apart[column].mean())) for column in apart)
    if missing(early) or missing(late):
        return ""
    change, low, high = (float(np.exp(end)) for end in stats.t_interval(apart.iloc[:, 1] - apart.iloc[:, 0]))
    halves = (
        f"{ratio(early)} of the reference's transactions in the first half of the slices, {ratio(late)} in the second"
    )
    return f"{name}: {halves}; second over first {ratio(change)} ({interval(low, high)})"
