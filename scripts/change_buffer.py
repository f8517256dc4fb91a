"""InnoDB's change buffer over the measuring calls, for the page: merges, and the operations they merged."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from scripts.counters import OPERATIONS
from scripts.tables import CELL
from scripts.wording import NOTHING, count, number

PREFIX = "change_buffer_"
HEAD = ("variant", "workload", "clients", "runs", "merges", *(f"merged {what}" for what in OPERATIONS.values()),
        "discarded", "pages before", "pages after")  # fmt: skip


def rows(study: dict[str, Any], records: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return HEAD's fields of each cell, means over its ok runs; nothing when no run's buffer was ever used."""
    cells: dict[tuple, list[dict[str, dict[str, float]]]] = defaultdict(list)
    for facts in records:
        counters = facts.get("counters") or {}
        if facts["outcome"] == "ok" and f"{PREFIX}merges" in counters:
            cells[tuple(facts[part] for part in CELL)].append(counters)
    if not any(_used(counters) for runs in cells.values() for counters in runs):
        return []
    keys = [
        (variant, workload, clients)
        for workload in study["workloads"]
        for clients in study["clients"]
        for variant in study["variants"]
    ]
    return [(*map(str, key), str(len(cells[key])), *map(_text, _means(cells[key]))) for key in keys if key in cells]


def _used(counters: dict[str, dict[str, float]]) -> bool:
    return any(name.startswith(PREFIX) and _grown(edges) for name, edges in counters.items())


def _grown(edges: dict[str, float] | None) -> float | None:
    return edges["after"] - edges["before"] if edges else None


def _means(runs: list[dict[str, dict[str, float]]]) -> Iterable[float | None]:
    yield _mean(_grown(run.get(f"{PREFIX}merges")) for run in runs)
    for name in OPERATIONS:
        yield _mean(_grown(run.get(f"{PREFIX}merged_{name}")) for run in runs)
    gone = [[_grown(run.get(f"{PREFIX}discarded_{name}")) for name in OPERATIONS] for run in runs]
    yield _mean(None if None in each else sum(each) for each in gone)
    for edge in ("before", "after"):
        yield _mean((run.get(f"{PREFIX}pages") or {}).get(edge) for run in runs)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _text(value: float | None) -> str:
    return NOTHING if value is None else number(value) if value.is_integer() else count(value)
