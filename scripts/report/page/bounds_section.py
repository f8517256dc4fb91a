"""Why the figures are what they are: what set the pace of each cell."""

from collections import defaultdict

import pandas as pd
from markupsafe import Markup

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NOTHING, missing, percent
from scripts.measure.engine.warnings import THRESHOLDS
from scripts.report.analysis.bounds import FULL_SHARE, PaceSetter
from scripts.report.analysis.table_rows import BoundRow
from scripts.report.page.document import (
    Cell,
    Fold,
    Head,
    Heading,
    Items,
    PageBlock,
    Prose,
    Table,
    table_row,
    variant_heads,
    word_heads,
)

BOUND_WORDS = {
    PaceSetter.SERVER_CPU: "server CPU",
    PaceSetter.LOAD_GENERATOR: "load generator",
    PaceSetter.WAITING: "waiting",
}


def bound_table(study: ResolvedStudy, bounds: pd.DataFrame) -> Table:
    """Return bounds.csv, one row per workload and client count; no rows when no cell's CPU time is known."""
    by_cell = {(row.workload, row.clients, row.variant): row for row in bounds.itertuples() if not missing(row.bound)}
    rows = [
        table_row(workload, str(clients), *(_cell(by_cell.get((workload, clients, name))) for name in study.variants))
        for workload in study.workloads
        for clients in study.clients
        if by_cell
    ]
    return Table((*word_heads("workload"), Head("clients"), *variant_heads(study.variants)), tuple(rows))


def bound_blocks(study: ResolvedStudy, bounds: pd.DataFrame) -> list[PageBlock]:
    """Return what set the pace of each cell; nothing when no cell's CPU time is known."""
    if not (table := bound_table(study, bounds)):
        return []
    text = (
        f"Whichever of server and load generator used {percent(FULL_SHARE, 0)} or more of the CPUs it could use "
        "set the pace; where neither did, both waited. A gain of the server shows in full only where the server set "
        "the pace. Shares are of the CPUs each could use, one per connection."
    )
    sentences = [Markup('{} <span class="quiet">{}</span>').format(text, cells) for text, cells in reasons(bounds)]
    return [
        Heading("What set the pace of each cell"),
        Prose(text),
        Items(sentences),
        Fold(f"Cell by cell: {len(table.rows)} rows", (table,)),
    ]


def _cell(row: BoundRow | None) -> Cell:
    if row is None or row.bound is None:
        return Cell(NOTHING, (), "hole", "not measured")
    shares = f"server {percent(row.server_busy, 0)}", f"client {percent(row.client_busy, 0)}"
    state = "bad" if row.bound == PaceSetter.LOAD_GENERATOR else ""
    return Cell(BOUND_WORDS[PaceSetter(row.bound)], shares, state, bound_sentence(row, with_shares=True))


def bound_sentence(row: BoundRow, *, with_shares: bool = False) -> str:
    """Return the sentence on what set the pace of a row of bounds.csv, and what its speedup therefore means."""
    busy = f"server {percent(row.server_busy)}, load generator {percent(row.client_busy)} of the CPUs each could use"
    shares = f" ({busy})" if with_shares else ""
    match row.bound:
        case PaceSetter.SERVER_CPU:
            return f"The server's CPUs set the pace{shares}: less CPU time per transaction gives more transactions."
        case PaceSetter.LOAD_GENERATOR:
            return f"The load generator set the pace{shares}: gains of the server are understated."
        case PaceSetter.WAITING:
            return f"Neither set the pace{shares}: {_awaited(row)}"
    return "What set the pace was not measured."


def _awaited(row: BoundRow) -> str:
    if row.iowait_share > float(THRESHOLDS["iowait"].threshold):
        return f"CPUs idled {percent(row.iowait_share)} of the time while a disk worked."
    if row.clients > row.n_server_cpus:
        return "connections waited for locks, log flushes or wake-ups."
    turns = "with one CPU per connection, server and load generator take turns"
    if missing(row.virtualisation):
        return f"{turns}, and the time to wake idle CPUs counts as theirs."
    return (
        f"{turns}, and on a virtual machine ({row.virtualisation}) this measures mostly the time to wake idle CPUs. A "
        "small gain here says little about the server."
    )


def reasons(bounds: pd.DataFrame) -> list[tuple[str, str]]:
    """Return (sentence, cells it holds for): how many, and which workloads and client counts they are."""
    rows: dict[str, list[BoundRow]] = defaultdict(list)
    for row in bounds.itertuples():
        rows[bound_sentence(row)].append(row)
    if all(missing(bound) for bound in bounds["bound"]):
        return []
    several = bounds["clients"].nunique() > 1
    return [(text, _places(cells, len(bounds), several)) for text, cells in rows.items()]


def _places(cells: list[BoundRow], of: int, several: bool) -> str:
    if not several:
        return f"{len(cells)} of {of} cells ({', '.join(dict.fromkeys(row.workload for row in cells))})"
    counts: dict[str, set[int]] = defaultdict(set)
    for row in cells:
        counts[row.workload].add(int(row.clients))
    named = "; ".join(f"{name} at {', '.join(map(str, sorted(clients)))}" for name, clients in counts.items())
    return f"{len(cells)} of {of} cells ({named})"
