"""Timed SQL by statement: tidy tables of all executions, and of every statement beside the reference's."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from scripts.analysis.comparison import compared, judged, noise_floors
from scripts.analysis.tables import EXECUTIONS, STATEMENT_COSTS, STATEMENTS
from scripts.measure.record import Run
from scripts.vocabulary import BLOCK, CELL, COLD, RUN, WARM, PairStatus

# Joins the names of workload and statement, since the functions for cells have one column for both.
BETWEEN = "\t"
MEANS = tuple(column.name for column in STATEMENT_COSTS)


def executions(records: Iterable[Run]) -> pd.DataFrame:
    """Return executions.csv from pairs of file name and raw facts: one row per execution of a statement."""
    rows = [
        {**dict(zip(RUN, run.key, strict=True)), "pass": one["pass"], "cache": COLD if one["pass"] == 1 else WARM,
         "statement": one["statement"], "statement_s": one["seconds"], "n_rows": one["rows"],
         **{name: one[name] for name in ("answer_sha256", *MEANS)}}
        for run in records
        for one in run.timed_sql.executions or []
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=EXECUTIONS.names).astype({"n_rows": "Int64"})


def statements(done: pd.DataFrame, comparisons: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return statements.csv: one row per variant, workload, statement and cold or warm, beside the reference.

    `done` is executions.csv; `comparisons` has the status of each pair. A pair whose answers differ in their rows
    gives no ratio and is counted. Noise floor and Holm's adjustment run over all statements, separately for cold and
    warm.
    """
    runs = _by_run(done)
    pairs = _pairs(runs, comparisons, reference)
    keys = [*CELL, "statement", "cache"]
    table = _values(done, runs, keys)
    if len(pairs):
        placed = pairs.assign(workload=pairs["workload"] + BETWEEN + pairs["statement"], metric=pairs["cache"] + "_s")
        beside = judged(compared(placed), noise_floors(placed))
        beside[["workload", "statement"]] = beside["workload"].str.split(BETWEEN, expand=True)
        beside["cache"] = beside["metric"].str.removesuffix("_s")
        differing = (pairs["status"] == "differ").groupby([pairs[name] for name in keys]).sum().rename("n_differ")
        beside = beside.drop(columns="metric").merge(differing.reset_index(), on=keys)
        table = table.merge(beside, on=keys, how="left")
    return table.reindex(columns=STATEMENTS.names)


def _by_run(done: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run, statement and cold or warm: mean seconds, and its answers as one text."""
    answers = done["n_rows"].map(str, na_action=None) + " " + done["answer_sha256"].map(str, na_action=None)
    groups = done.assign(answer=answers).groupby([*RUN, "statement", "cache"], sort=False)
    return groups.agg(value=("statement_s", "mean"), answer=("answer", _together)).reset_index()


def _together(answers: pd.Series) -> str:
    return ";".join(sorted(set(answers)))


def _pairs(runs: pd.DataFrame, comparisons: pd.DataFrame, reference: str) -> pd.DataFrame:
    theirs = runs[runs["variant"] == reference].drop(columns="variant")
    ours = runs[runs["variant"] != reference]
    pairs = ours.merge(theirs, on=[*BLOCK, "statement", "cache"], suffixes=("", "_reference"))
    status = comparisons[[*RUN, "status"]].drop_duplicates()
    pairs = pairs.merge(status, on=list(RUN))
    paired, same = pairs["status"] == PairStatus.PAIRED, pairs["answer"] == pairs["answer_reference"]
    pairs["status"] = pairs["status"].mask(paired & ~same, "differ")
    pairs["log_ratio"] = np.log(pairs["value"] / pairs["value_reference"]).where(paired & same)
    return pairs


def _values(done: pd.DataFrame, runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return values over the ok runs: geometric mean of seconds, other means, number of different answers."""
    found = runs.groupby(keys, sort=False).agg(
        n_ok=("value", "size"), value_s=("value", lambda each: float(np.exp(np.log(each).mean()))),
        n_answers=("answer", "nunique"),
    )  # fmt: skip
    groups = done.groupby(keys, sort=False)
    means = groups[list(MEANS)].mean()
    rows = groups["n_rows"].agg(lambda each: each.iloc[0] if each.nunique() == 1 else pd.NA)
    return found.join(means).join(rows).reset_index()
