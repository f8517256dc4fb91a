"""The tables of throughput by client count, as shares of the best one, published ones beside ours."""

from typing import Any

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NOTHING, missing, percent, plural
from scripts.report.analysis import ladder, published
from scripts.report.page.document import Cell, Head, Table, table_row, variant_cell, word_heads


def ladder_tables(study: ResolvedStudy, found: dict[str, pd.DataFrame]) -> list[tuple[Table, list[str]]]:
    """Return a table, and its sentences, per workload that has a ladder both published and here; reads ladder.csv."""
    theirs = ladder.published_table(published.frame(study))
    theirs = theirs.assign(variant="published " + theirs["variant"].astype(str))
    tables = []
    for workload in study.workloads:
        sides = [rows[rows["workload"] == workload] for rows in (theirs, found["ladder"])]
        if all(map(len, sides)):
            tables.append(_ladder_table(workload, pd.concat(sides)))
    return tables


def _ladder_table(workload: str, rungs: pd.DataFrame) -> tuple[Table, list[str]]:
    head = sorted(set(rungs["clients"]))
    rows, sentences = [], []
    for name, own in rungs.groupby("variant", sort=False):
        by_clients = {rung.clients: rung for rung in own.itertuples()}
        rows.append(table_row(variant_cell(name), *(_rung_cell(by_clients.get(clients)) for clients in head)))
        sentences.append(f"{name}: {last_sentence(by_clients[max(by_clients)])}.")
    heads = (*word_heads("clients"), *(Head(str(clients)) for clients in head))
    caption = f"{workload}: TPS as a share of TPS at the best client count"
    return Table(heads, tuple(rows), style="values wrapped", caption=caption), sentences


def _rung_cell(rung: Any) -> Cell:
    if rung is None or missing(rung.share):
        return Cell(NOTHING, (), "hole")
    notes = () if np.isnan(rung.share_low) else (_bounds(rung),)
    return Cell(percent(rung.share, 0), notes)


def _bounds(rung: Any) -> str:
    return f"{rung.share_low * 100:.0f}–{percent(rung.share_high, 0)}"


def last_sentence(rung: Any) -> str:
    """Return what is left of the best throughput at the most clients, from the last row of a ladder."""
    if rung.clients == rung.best_clients:
        return f"the mean is highest with the most clients, {rung.clients}"
    sure = "" if np.isnan(rung.share_low) else f" (95 % interval {_bounds(rung)}, {plural(rung.n_ok, 'repetition')})"
    kept = f"{percent(rung.share, 0)}{sure} of its best, which it has with {rung.best_clients}"
    return f"with {plural(rung.clients, 'client')} {kept}"
