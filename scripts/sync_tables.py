"""How long a server waited for the disk at each call that does, as a table for the page."""

from scripts.diagnosis_cells import Cell, Facts, per_transaction
from scripts.diagnosis_tables import FieldTable
from scripts.value_tables import Cell as Field
from scripts.wording import NARROW, count, percent

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}


def syncs(cell: Cell) -> list[FieldTable]:
    """Return how long the server waited for the disk at each call of fsync and its kin, a row a variant and call."""
    found = cell.of("fsyncs")
    rows = [
        (f"{name} {call}", "", _sync_fields(facts, durations))
        for name, facts in found.items()
        for call, durations in facts["diagnosis"]["syncs"].items()
    ]
    silent = [name for name, facts in found.items() if not facts["diagnosis"]["syncs"]]
    note = f"None in the window: {', '.join(silent)}." if silent else ""
    head = ("calls a second", "a transaction", *PERCENTILES, "share of the window")
    return [FieldTable("Waits for the disk", head, tuple(rows), note, coloured=False)] if found else []


def _sync_fields(facts: Facts, durations: dict[str, list[int]]) -> tuple[Field, ...]:
    number, window_s = sum(durations["count"]), facts["window"]["duration_s"]
    spent_s = sum(us * times_ for us, times_ in zip(*durations.values(), strict=True)) / 1e6
    return (
        Field(count(number / window_s)),
        Field(count(per_transaction(facts, number))),
        *(Field(f"{count(percentile_us(durations, share) / 1000)}{NARROW}ms") for share in PERCENTILES.values()),
        Field(percent(spent_s / window_s, 0)),
    )


def percentile_us(durations: dict[str, list[int]], share: float) -> int:
    """Return the duration that a share of the calls does not exceed, in microseconds."""
    wanted, seen = share * sum(durations["count"]), 0
    for us, number in zip(durations["duration_us"], durations["count"], strict=True):
        seen += number
        if seen >= wanted:
            return us
    return durations["duration_us"][-1]
