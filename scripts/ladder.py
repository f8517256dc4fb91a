"""How throughput holds as clients grow: each count's share of the best one, ours beside published ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts import published, stats
from scripts.comparison import AA
from scripts.unpaired import log_values
from scripts.value_tables import Cell
from scripts.wording import NOTHING, percent, plural

LEAST_COUNTS = 3


@dataclass(frozen=True)
class Rung:
    """Throughput with so many clients as a share of that with `best` of them; NaN bounds where there is no interval."""

    clients: int
    best: int
    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class LadderTable:
    """The ladder of one workload; `rows` hold a name and a field for each client count of `head`, then a sentence."""

    workload: str
    head: tuple[int, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    sentences: tuple[str, ...]


def tables(study: dict[str, Any], found: dict[str, pd.DataFrame]) -> list[LadderTable]:
    """Return the ladder of every workload that was published with three client counts or more and has as many here."""
    there = published.frame(study)
    there = there[there["metric"] == "tps"]
    return [
        _table(name, _published(there[there["workload"] == name]) | _ours(study, found["runs"], name))
        for name in study["workloads"]
        if there.loc[there["workload"] == name, "clients"].nunique() >= LEAST_COUNTS <= len(study["clients"])
    ]


def _published(rows: pd.DataFrame) -> dict[str, list[Rung]]:
    wide = {variant: own.set_index("clients")["value"].sort_index() for variant, own in rows.groupby("variant")}
    return {
        f"published {variant}": [
            Rung(clients, values.idxmax(), value / values.max(), np.nan, np.nan, 1) for clients, value in values.items()
        ]
        for variant, values in wide.items()
    }


def _ours(study: dict[str, Any], runs: pd.DataFrame, workload: str) -> dict[str, list[Rung]]:
    wide = {name: log_values(runs, name, "tps") for name in study["variants"] if name != AA}
    return {name: list(rungs(logs.loc[workload])) for name, logs in wide.items() if workload in logs.index}


def rungs(logs: pd.DataFrame) -> Iterator[Rung]:
    """Yield the ladder of a frame of log TPS, a row for each client count and a column for each repetition.

    Shares are geometric means over the repetitions that have both counts, with the t interval of their logs.
    """
    best = logs.mean(axis=1).idxmax()
    for clients, values in logs.sort_index().iterrows():
        pairs = (values - logs.loc[best]).dropna()
        share, low, high = np.exp(stats.t_interval(pairs))
        known = (share, np.nan, np.nan) if clients == best else (share, low, high)
        yield Rung(int(clients), int(best), *map(float, known), len(pairs))


def _table(workload: str, ladders: dict[str, list[Rung]]) -> LadderTable:
    head = sorted({rung.clients for ladder in ladders.values() for rung in ladder})
    rows = []
    for name, ladder in ladders.items():
        by_clients = {rung.clients: rung for rung in ladder}
        rows.append((name, tuple(_cell(by_clients.get(clients)) for clients in head)))
    return LadderTable(workload, tuple(head), tuple(rows), tuple(_sentence(*pair) for pair in ladders.items()))


def _cell(rung: Rung | None) -> Cell:
    if rung is None or np.isnan(rung.share):
        return Cell(NOTHING, (), "hole")
    notes = () if np.isnan(rung.low) else (_bounds(rung),)
    return Cell(percent(rung.share, 0), notes)


def _bounds(rung: Rung) -> str:
    return f"{rung.low * 100:.0f}–{percent(rung.high, 0)}"


def _sentence(name: str, ladder: list[Rung]) -> str:
    last = ladder[-1]
    if last.clients == last.best:
        return f"{name}: its highest mean is that with the most clients, {last.clients}."
    sure = "" if np.isnan(last.low) else f" (95 % interval {_bounds(last)}, {plural(last.n, 'repetition')})"
    kept = f"{percent(last.share, 0)}{sure} of its best, which is with {last.best}"
    return f"{name}: with {plural(last.clients, 'client')} {kept}."
