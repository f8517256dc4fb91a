"""Why the figures are what they are: what set the pace of each cell, and what a transaction cost the server."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.analysis.bounds import Bound
from scripts.analysis.metrics import LEVELS
from scripts.measure.record import Run
from scripts.measure.warnings import THRESHOLDS
from scripts.report import engine
from scripts.report.value_tables import Cell
from scripts.vocabulary import CELL
from scripts.wording import NOTHING, count, missing, percent

WINDOW = {"context_switches": "context switches", "read_bytes": "bytes read", "write_bytes": "bytes written"}
COMMITS = "commits"
BOUND_WORDS = {
    Bound.SERVER_CPU: "server CPU",
    Bound.LOAD_GENERATOR: "load generator",
    Bound.WAITING: "waiting",
}


@dataclass(frozen=True)
class BoundRow:
    """What set the pace of one workload at one client count, one field per variant."""

    workload: str
    clients: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Effort:
    """What a transaction of one workload cost, one row per variant and client count; `none` names what was always 0."""

    workload: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    none: tuple[str, ...]


def bound_rows(study: dict[str, Any], bounds: pd.DataFrame) -> list[BoundRow]:
    """Return bounds.csv, one row per workload and client count; nothing when no cell's CPU time is known."""
    found = {(row.workload, row.clients, row.variant): row for row in bounds.itertuples() if not missing(row.bound)}
    return [
        BoundRow(workload, clients, tuple(_cell(found.get((workload, clients, name))) for name in study["variants"]))
        for workload in study["workloads"]
        for clients in study["clients"]
        if found
    ]


def _cell(row: Any) -> Cell:
    if row is None:
        return Cell(NOTHING, (), "hole", "not measured")
    shares = f"server {percent(row.server_busy, 0)}", f"client {percent(row.client_busy, 0)}"
    state = "bad" if row.bound == Bound.LOAD_GENERATOR else ""
    return Cell(BOUND_WORDS[Bound(row.bound)], shares, state, bound_sentence(row, with_shares=True))


def bound_sentence(row: Any, *, with_shares: bool = False) -> str:
    """Return the sentence on what set the pace of a row of bounds.csv, and what its speedup therefore means."""
    busy = f"server {percent(row.server_busy)}, load generator {percent(row.client_busy)} of the CPUs each could use"
    shares = f" ({busy})" if with_shares else ""
    match row.bound:
        case Bound.SERVER_CPU:
            return f"The server's CPUs set the pace{shares}: less CPU time per transaction gives more transactions."
        case Bound.LOAD_GENERATOR:
            return f"The load generator set the pace{shares}: gains of the server are understated."
        case Bound.WAITING:
            return f"Neither set the pace{shares}: {_awaited(row)}"
    return "What set the pace was not measured."


def _awaited(row: Any) -> str:
    if row.iowait_share > THRESHOLDS["iowait"].threshold:
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
    held: dict[str, list[Any]] = defaultdict(list)
    for row in bounds.itertuples():
        held[bound_sentence(row)].append(row)
    if all(missing(bound) for bound in bounds["bound"]):
        return []
    several = bounds["clients"].nunique() > 1
    return [(text, _places(cells, len(bounds), several)) for text, cells in held.items()]


def _places(cells: list[Any], of: int, several: bool) -> str:
    if not several:
        return f"{len(cells)} of {of} cells ({', '.join(dict.fromkeys(row.workload for row in cells))})"
    counts: dict[str, set[int]] = defaultdict(set)
    for row in cells:
        counts[row.workload].add(int(row.clients))
    named = "; ".join(f"{name} at {', '.join(map(str, sorted(found)))}" for name, found in counts.items())
    return f"{len(cells)} of {of} cells ({named})"


def efforts(study: dict[str, Any], runs: pd.DataFrame, records: Iterable[Run]) -> list[Effort]:
    """Return what transactions cost, one table per workload about which something is known.

    Context switches and bytes are those of the window, divided by its transactions; the server's own counters are read
    before and after the whole call of sysbench, and are divided by the commits in between.
    """
    found = _of_window(runs)
    counted = _of_calls(records)
    names = {**WINDOW, **{name: name.replace("_", " ") for cell in counted.values() for name in cell}}
    for key, cell in counted.items():
        found.setdefault(key, {}).update(cell)
    made = [_effort(study, workload, names, found) for workload in study["workloads"]]
    return [effort for effort in made if effort.rows and effort.head]


def _figure(value: float | None) -> str:
    return f"{value:.1g}" if not missing(value) and 0 < abs(value) < 0.01 else count(value)


def _of_window(runs: pd.DataFrame) -> dict[tuple, dict[str, float]]:
    ok = runs[(runs["outcome"] == "ok") & (runs["transactions"] > 0)]
    found: dict[tuple, dict[str, float]] = defaultdict(dict)
    for name in WINDOW:
        known = ok[ok[name].notna()]
        sums = known.assign(**{name: known[name].astype(float)}).groupby(list(CELL))[[name, "transactions"]].sum()
        for key, value in (sums[name] / sums["transactions"]).items():
            found[key][name] = float(value)
    return found


def _of_calls(records: Iterable[Run]) -> dict[tuple, dict[str, float]]:
    sums: dict[tuple, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for run in records:
        if run.outcome != "ok" or COMMITS not in run.counters:
            continue
        for name, edges in run.counters.items():
            sums[run.cell][name] += edges.after - edges.before
    return {
        key: {name: value / cell[COMMITS] for name, value in cell.items() if _is_work(name)}
        for key, cell in sums.items()
        if cell[COMMITS] > 0
    }


def _is_work(name: str) -> bool:
    """Return whether a counter's growth over a call is to be divided by its commits."""
    return name not in LEVELS and name != COMMITS and not name.startswith(engine.CHANGE_BUFFER_PREFIX)


def _effort(study: dict[str, Any], workload: str, names: dict[str, str], found: dict[tuple, dict]) -> Effort:
    keys = [(name, workload, clients) for clients in study["clients"] for name in study["variants"]]
    cells = {key: found[key] for key in keys if found.get(key)}
    known = [name for name in names if any(name in cell for cell in cells.values())]
    shown = [name for name in known if any(cell.get(name) for cell in cells.values())]
    rows = tuple((key[0], str(key[2]), *(_figure(cell.get(name)) for name in shown)) for key, cell in cells.items())
    none = tuple(names[name] for name in known if name not in shown)
    return Effort(workload, tuple(names[name] for name in shown), rows, none)
