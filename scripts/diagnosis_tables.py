"""Tables of diagnoses for the page: functions, waits, system calls, waits for the disk; a column a variant."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from scripts import families
from scripts.diagnosis_cells import TOOLS, Cell, Facts, per_transaction
from scripts.flame_graph import change
from scripts.flames import Samples, difference
from scripts.value_tables import Cell as Field
from scripts.wording import NOTHING, count, missing, percent, times

MOST_ROWS = 14


@dataclass(frozen=True)
class FieldTable:
    """A table of fields: `rows` hold a label, a smaller line under it and the fields; `folded` begins closed."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Field, ...]], ...]
    note: str = ""
    folded: bool = False
    coloured: bool = True  # its head names variants


def slowed(cell: Cell) -> FieldTable:
    """Return how fast the server was beside each tool, as a ratio to the study's own runs where it has the cell."""
    found = {tool: cell.of(tool) for tool in TOOLS}
    variants = tuple(name for name in cell.variants if any(name in of for of in found.values()))

    def field(tool: str, variant: str) -> Field:
        if variant not in found[tool]:
            return Field(NOTHING, (), "hole")
        tps, known = found[tool][variant]["window"]["tps"], cell.measured(variant, "tps")
        return Field(times(tps / known), (f"{count(tps)} TPS",)) if known else Field(f"{count(tps)} TPS")

    rows = [(words, "", tuple(field(tool, name) for name in variants)) for tool, words in TOOLS.items() if found[tool]]
    note = (
        "TPS beside the tool over that of the study's own runs: the slower, the less its times say of a server alone."
    )
    return FieldTable("What looking cost", variants, tuple(rows), note)


def functions(cell: Cell) -> list[FieldTable]:
    """Return where CPU time went: by whose code, by function itself, and by function with what it calls."""
    samples = cell.samples
    if not samples:
        return []
    note = (
        "Share of the samples, and µs of server CPU a transaction. Differences to the reference with 95 % intervals of "
        "counting samples alone: how one run differs from the next is not in them."
    )
    return [
        _counted("CPU time by whose code ran", cell, lambda one: one.modules, note),
        _counted("CPU time by function, itself alone", cell, lambda one: one.own),
        _counted("CPU time by function, with all it calls", cell, lambda one: one.whole, folded=True),
    ]


def _counted(
    title: str, cell: Cell, counts: Callable[[Samples], Counter[str]], note: str = "", *, folded: bool = False
) -> FieldTable:
    samples = cell.samples
    most = Counter()
    for one in samples.values():
        for name, number in counts(one).items():
            most[name] = max(most[name], one.microseconds(number) if not math.isnan(one.cpu_us) else one.share(number))
    rows = [
        (name, "", tuple(_time(cell, variant, name, counts) for variant in samples))
        for name, _ in most.most_common(MOST_ROWS)
    ]
    return FieldTable(title, tuple(samples), tuple(rows), note, folded)


def _time(cell: Cell, variant: str, name: str, counts: Callable[[Samples], Counter[str]]) -> Field:
    ours, theirs = cell.samples[variant], cell.samples.get(cell.reference)
    number = counts(ours)[name]
    notes = [percent(ours.share(number))]
    if theirs is not None and variant != cell.reference and not math.isnan(ours.cpu_us + theirs.cpu_us):
        found = difference(ours, number, theirs, counts(theirs)[name])
        notes.append(f"{change(found.us)} ± {count(found.half_us)}")
    return Field(f"{count(ours.microseconds(number))} µs", tuple(notes))


def waits(cell: Cell) -> list[FieldTable]:
    """Return what connections waited for, and the server's own threads or processes."""
    found = cell.of("waits")
    if not found:
        return []
    looks = {facts["diagnosis"]["samples"] for facts in found.values()}
    how = "timed by the performance schema" if looks == {None} else "sampled, up to 20 times a second"
    note = (
        f"µs waited a transaction, all connections together, number of waits, and the difference in µs to "
        f"{cell.reference}; {how}. Waits overlap in time."
    )
    own = "Among these are threads that wait for work."
    return [
        _waits("What connections waited for", "connections", cell, note),
        _waits("What the server's own threads waited for", "background", cell, own, folded=True),
    ]


def _waits(title: str, who: str, cell: Cell, note: str, *, folded: bool = False) -> FieldTable:
    found = cell.of("waits")
    by_variant = {
        name: {row["event"]: row for row in facts["diagnosis"]["waits"] if row["who"] == who}
        for name, facts in found.items()
    }
    rows = _compared(cell, found, by_variant, lambda row: row["seconds"] * 1e6, _wait)
    told = [(event, client_words(event, found), fields) for event, _, fields in rows]
    return FieldTable(title, tuple(found), tuple(told), note, folded)


def _compared(
    cell: Cell,
    found: dict[str, Facts],
    rows: dict[str, dict[str, dict[str, Any]]],
    amount: Callable[[dict[str, Any]], float],
    field: Callable[[Facts, dict[str, Any] | None], Field],
) -> list[tuple[str, str, tuple[Field, ...]]]:
    """Return a row for each of the names with the largest amounts, each field with its difference to the reference."""
    amounts = {
        variant: {name: per_transaction(found[variant], amount(row)) for name, row in of.items()}
        for variant, of in rows.items()
    }
    theirs = amounts.get(cell.reference, {})

    def one(variant: str, name: str) -> Field:
        made, more = field(found[variant], rows[variant].get(name)), amounts[variant].get(name)
        known = variant != cell.reference and name in theirs and not missing(more) and not missing(theirs[name])
        return replace(made, notes=(*made.notes, change(more - theirs[name]))) if known else made

    most = _largest(pair for of in amounts.values() for pair in of.items())
    return [(name, "", tuple(one(variant, name) for variant in found)) for name in most]


def _wait(facts: Facts, row: dict[str, Any] | None) -> Field:
    if row is None:
        return Field(NOTHING, (), "hole")
    unit = "" if facts["diagnosis"]["samples"] is None else " samples"
    number = per_transaction(facts, row["count"]) if not unit else row["count"]
    told = f"{count(number)}{unit or ' ×'}"
    return Field(f"{count(per_transaction(facts, row['seconds'] * 1e6))} µs", (told,))


def client_words(event: str, found: dict[str, Facts]) -> str:
    """Return a line on an event that is no wait of the server's."""
    of_client = {each for facts in found.values() for each in families.of(facts["server"]["family"]).WAITS.FOR_CLIENT}
    return "for the load generator" if event in of_client else ""


def _largest(values: Iterable[tuple[str, float]]) -> list[str]:
    """Return the names with the largest values, the largest first."""
    most: dict[str, float] = {}
    for name, value in values:
        most[name] = max(most.get(name, 0.0), 0.0 if missing(value) else value)
    return sorted(most, key=lambda name: -most[name])[:MOST_ROWS]


def system_calls(cell: Cell) -> list[FieldTable]:
    """Return which system calls a transaction made."""
    found = cell.of("syscalls")
    rows = {name: {row["name"]: row for row in facts["diagnosis"]["calls"]} for name, facts in found.items()}
    fields = _compared(cell, found, rows, lambda row: row["calls"], _call)
    note = (
        "Calls a transaction, system time of a call, which costs more traced than alone, the share that failed, and "
        f"the difference in calls to {cell.reference}."
    )
    return [FieldTable("System calls", tuple(found), tuple(fields), note)] if found else []


def _call(facts: Facts, row: dict[str, Any] | None) -> Field:
    if row is None:
        return Field("0", (), "hole")
    each = f"{count(row['system_s'] / row['calls'] * 1e6)} µs"
    failed = [f"{percent(row['errors'] / row['calls'], 0)} failed"] if row["errors"] else []
    return Field(count(per_transaction(facts, row["calls"])), (each, *failed))
