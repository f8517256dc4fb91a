"""Timed SQL by statement: tidy tables of all executions, of every statement beside the reference's, and of pairs."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from scripts.lib.vocabulary import CELL, COLD, RUN, WARM
from scripts.measure.engine.run_record import Run
from scripts.measure.sql.times import seconds
from scripts.report.analysis import stats
from scripts.report.analysis.comparison import Terms, cell_table
from scripts.report.analysis.metrics import SCRIPT
from scripts.report.analysis.pairing import arms_of, block_names, reference_arms
from scripts.report.analysis.table_columns import AGAINST, EXECUTIONS, STATEMENT_COSTS, STATEMENTS

# Joins the names of workload and statement, since the functions for cells have one column for both.
BETWEEN = "\t"
MEANS = tuple(column.name for column in STATEMENT_COSTS)
IN_BLOCK = (*RUN, "block")


def executions(records: Iterable[Run]) -> pd.DataFrame:
    """Return executions.csv from pairs of file name and raw facts: one row per execution of a statement."""
    renamed = {"seconds": "statement_s", "rows": "n_rows"}
    rows = [
        {**dict(zip(RUN, run.key, strict=True)), "block": run.block, "cache": COLD if execution["pass"] == 1 else WARM,
         **{renamed.get(key, key): value for key, value in execution.items()}}
        for run in records
        for execution in run.timed_sql.executions or []
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=EXECUTIONS.names).astype({"n_rows": "Int64"})


def against(records: Iterable[Run]) -> pd.DataFrame:
    """Return against.csv: one row per variant, workload and statement that its SQL file compares with one above it.

    The spread is that of the log ratios of two times of one run, which share its server, data and minutes.
    """
    pairs = [pair for run in records for pair in _pairs(run)]
    logs = pd.DataFrame(pairs, columns=[*RUN, "statement", "against", "log_ratio"])
    groups = logs.groupby([*CELL, "statement", "against"], sort=False)["log_ratio"]
    rows = [(*key, len(ratios), *np.exp(stats.t_interval(ratios))) for key, ratios in groups]
    return pd.DataFrame(rows, columns=AGAINST.names)


def _pairs(run: Run) -> Iterator[tuple[str | int | float | None, ...]]:
    """Yield the pairs of one run that were both timed, with the log of the ratio of their cold seconds."""
    timed = seconds(run.timed_sql.executions or [])
    for statement in run.timed_sql.statements or []:
        names = statement["name"], statement["against"]
        upper, lower = (timed.get((COLD, name)) for name in names)
        if upper and lower:
            yield (*run.key, *names, float(np.log(upper / lower)))


def statements(done: pd.DataFrame, judged: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Return statements.csv: one row per variant, workload, statement and cold or warm, beside the reference.

    `done` is executions.csv; `judged` says which runs count. A run whose answer differs in its rows from its block's
    reference gives no ratio and is counted. Holm's adjustment runs over all statements, separately for cold and warm.
    """
    runs = _by_run(done.assign(block=block_names(done)))
    keys = [*CELL, "statement", "cache"]
    table = _values(done, runs, keys)
    if len(runs):
        compared = _beside_reference(_without_other_answers(runs, terms.reference), judged, terms)
        table = table.merge(compared, on=keys, how="left")
        table["value_s"] = table.pop("compared_s").where(table["ratio"].notna(), table["value_s"])
    return table.reindex(columns=STATEMENTS.names)


def _by_run(done: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run, statement and cold or warm: mean seconds, and its answers as one text."""
    answers = done["n_rows"].map(str, na_action=None) + " " + done["answer_sha256"].map(str, na_action=None)
    groups = done.assign(answer=answers).groupby([*IN_BLOCK, "statement", "cache"], sort=False)
    return groups.agg(value=("statement_s", "mean"), answer=("answer", _joined)).reset_index()


def _joined(answers: pd.Series) -> str:
    return ";".join(sorted(set(answers)))


def _without_other_answers(runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the rows with `differs`, and without the seconds of those whose answer is not that of their reference."""
    keys = ["block", "statement", "cache"]
    base = reference_arms(runs, reference).drop_duplicates(keys).set_index(keys)["answer"]
    answers = base.reindex(pd.MultiIndex.from_frame(runs[keys])).to_numpy()
    differs = pd.notna(answers) & (runs["answer"].to_numpy() != answers)
    return runs.assign(differs=differs, value=runs["value"].where(~differs))


def _beside_reference(runs: pd.DataFrame, judged: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Return the columns of cells.csv per statement, and `n_differ`."""
    keys = [*CELL, "statement", "cache"]
    wide = runs.pivot(index=[*IN_BLOCK, "statement"], columns="cache", values="value").add_suffix("_s").reset_index()
    wide = wide.reindex(columns=[*IN_BLOCK, "statement", *SCRIPT])
    placed = wide.merge(judged[[*IN_BLOCK, "outcome", "counts", "status", "note"]], on=list(IN_BLOCK))
    placed["workload"] += BETWEEN + placed["statement"]
    of_statements = Terms(terms.reference, tuple(SCRIPT), tuple(set(placed["workload"])), terms.matters, tuple(SCRIPT))
    arms = arms_of(placed, terms.reference, of_statements.metrics, of_statements.timed)
    compared = cell_table(placed, arms, dict.fromkeys(SCRIPT, 1.0), of_statements)
    compared[["workload", "statement"]] = compared["workload"].str.split(BETWEEN, expand=True)
    compared["cache"] = compared["metric"].str.removesuffix("_s")
    differing = runs.groupby(keys)["differs"].sum().rename("n_differ").reset_index()
    differing["n_differ"] = differing["n_differ"].where(differing["variant"] != terms.reference)
    compared = compared.rename(columns={"value": "compared_s", "reference_value": "reference_value_s"})
    return compared.drop(columns=["metric", "n_runs", "n_ok"]).merge(differing, on=keys)


def _values(done: pd.DataFrame, runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return values over the ok runs: geometric mean of seconds, other means, number of different answers."""
    values = runs.groupby(keys, sort=False).agg(
        n_ok=("value", "size"), value_s=("value", lambda seconds: float(np.exp(np.log(seconds).mean()))),
        n_answers=("answer", "nunique"),
    )  # fmt: skip
    groups = done.groupby(keys, sort=False)
    means = groups[list(MEANS)].mean()
    rows = groups["n_rows"].agg(lambda counts: counts.iloc[0] if counts.nunique() == 1 else pd.NA)
    return values.join(means).join(rows).reset_index()
