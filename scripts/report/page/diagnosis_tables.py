"""Tables of diagnoses for the page, one column per variant: functions, waits, system calls, waits for the disk."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NARROW, NOTHING, before_after, count, missing, percent, times
from scripts.measure.engine.run_record import Diagnosis
from scripts.measure.loadgen.output import value_at_rank
from scripts.measure.servers import families
from scripts.report.page.document import Cell, Fold, Head, Prose, Table, TableRow, table_row, variant_heads
from scripts.report.page.figures.flames import SampledStacks, Samples, change_text, profile_difference, samples_of

DIAGNOSIS_TOOLS = {
    "perf": "perf, call stacks",
    "waits": "waits, timed or sampled",
    "syscalls": "strace -c, system calls",
    "fsyncs": "strace -T, waits for the disk",
}


@dataclass(frozen=True)
class DiagnosedCell:
    """The diagnoses of one workload at one client count.

    `measured` returns a value of the study's own runs, if any, `reference_us` the reference's CPU time per transaction
    over the blocks of a variant.
    """

    workload: str
    clients: int
    records: list[Diagnosis]
    variants: tuple[str, ...]
    reference: str
    measured: Callable[[str, str], float | None]
    reference_us: Callable[[str], float | None]

    def of(self, tool: str) -> dict[str, Diagnosis]:
        """Return variant -> record of a tool, in the study's order, without failed diagnoses."""
        found = {made.variant: made for made in self.records if made.tool == tool}
        ok = {name: made for name, made in found.items() if not made.failed}
        return {name: ok[name] for name in self.variants if name in ok}

    def failed(self) -> list[tuple[str, str, str]]:
        """Return (tool, variant, reason) of failed diagnoses."""
        lost = [made for made in self.records if made.failed]
        return [(made.tool, made.variant, str(made.reason)) for made in lost]

    @cached_property
    def samples(self) -> dict[str, Samples]:
        """Return variant -> perf's samples."""
        found = self.of("perf")
        return {
            name: samples_of(SampledStacks.of(made.diagnosis), self.cpu_us(name, made)) for name, made in found.items()
        }

    def reference_samples(self, variant: str) -> Samples | None:
        """Return the reference's samples with its CPU time over the blocks of a variant; None for itself."""
        theirs = self.samples.get(self.reference)
        if theirs is None or variant == self.reference:
            return None
        known = self.reference_us(variant)
        return theirs if known is None else replace(theirs, cpu_us=known)

    def cpu_us(self, variant: str, made: Diagnosis) -> float:
        """Return the server's CPU time per transaction: that of the study's own runs, else that of the diagnosis."""
        known = self.measured(variant, "cpu_us_per_tx")
        spent_s = made.cpu.server_user_s + made.cpu.server_system_s
        return known if known is not None else per_transaction(made, spent_s * 1e6)


def per_transaction(made: Diagnosis, amount: float) -> float:
    """Return an amount of a window per transaction; NaN without transactions."""
    return amount / made.window.transactions if made.window.transactions else float("nan")


def diagnosed_cells(study: ResolvedStudy, table: pd.DataFrame, records: list[Diagnosis]) -> list[DiagnosedCell]:
    """Return the diagnosed cells in the study's order; `table` is cells.csv."""
    values = {
        (row.variant, row.workload, row.clients, row.metric): row.value
        for row in table.itertuples()
        if not missing(row.value)
    }

    sides = {
        (row.variant, row.workload, row.clients): row.reference_value
        for row in table[table["metric"] == "cpu_us_per_tx"].itertuples()
        if not missing(row.reference_value)
    }

    def measured(workload: str, clients: int) -> Callable[[str, str], float | None]:
        return lambda variant, metric: values.get((variant, workload, clients, metric))

    keys = {(made.workload, made.clients) for made in records}
    ordered = sorted(keys, key=lambda key: (list(study.workloads).index(key[0]), key[1]))
    return [
        DiagnosedCell(
            *key,
            [made for made in records if (made.workload, made.clients) == key],
            tuple(study.variants),
            study.reference,
            measured(*key),
            lambda variant, key=key: sides.get((variant, *key)),
        )
        for key in ordered
    ]


MOST_ROWS = 14


def _fold(
    title: str,
    heads: Iterable[Head],
    rows: Sequence[TableRow],
    note: str = "",
    *,
    folded: bool = False,
) -> Fold:
    """Return a table under its title, and a note on it; without rows the note alone."""
    table = Table((Head(""), *heads), tuple(rows))
    blocks = (*([table] if rows else []), *([Prose(note, "quiet")] if note else []))
    return Fold(title, blocks, is_open=not folded)


def slowed_table(cell: DiagnosedCell) -> Fold:
    """Return how fast the server was beside each tool, as a ratio to the study's own runs of the cell, if any."""
    found = {tool: cell.of(tool) for tool in DIAGNOSIS_TOOLS}
    variants = tuple(name for name in cell.variants if any(name in of for of in found.values()))

    def field(tool: str, variant: str) -> Cell:
        if variant not in found[tool]:
            return Cell(NOTHING, (), "hole")
        tps, known = found[tool][variant].window.tps, cell.measured(variant, "tps")
        return Cell(times(tps / known), (f"{count(tps)} TPS",)) if known else Cell(f"{count(tps)} TPS")

    rows = [
        table_row(words, *(field(tool, name) for name in variants))
        for tool, words in DIAGNOSIS_TOOLS.items()
        if found[tool]
    ]
    note = (
        "TPS beside the tool over TPS of the study's own runs: the lower, the less the tool's times say about a server."
    )
    return _fold("What the tools cost", variant_heads(variants), rows, note)


def function_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return where CPU time went: by module, by function itself, and by function with everything it calls."""
    samples = cell.samples
    if not samples:
        return []
    note = (
        "Share of the samples, and µs of server CPU per transaction, the reference's over the same blocks first. "
        "Differences to it with 95 % intervals "
        "from counting samples only: they do not include how one run differs from the next."
    )
    return [
        _counted("CPU time by whose code ran", cell, lambda one: one.modules, note),
        _counted("CPU time by function, itself alone", cell, lambda one: one.own),
        _counted("CPU time by function, with all it calls", cell, lambda one: one.whole, folded=True),
    ]


def _counted(
    title: str, cell: DiagnosedCell, counts: Callable[[Samples], Counter[str]], note: str = "", *, folded: bool = False
) -> Fold:
    samples = cell.samples
    most = Counter()
    for one in samples.values():
        for name, number in counts(one).items():
            most[name] = max(most[name], one.microseconds(number) if not math.isnan(one.cpu_us) else one.share(number))
    rows = [
        table_row(name, *(_time(cell, variant, name, counts) for variant in samples))
        for name, _ in most.most_common(MOST_ROWS)
    ]
    return _fold(title, variant_heads(samples), rows, note, folded=folded)


def _time(cell: DiagnosedCell, variant: str, name: str, counts: Callable[[Samples], Counter[str]]) -> Cell:
    ours, theirs = cell.samples[variant], cell.reference_samples(variant)
    number = counts(ours)[name]
    share, us = percent(ours.share(number)), ours.microseconds(number)
    if theirs is None or math.isnan(ours.cpu_us + theirs.cpu_us):
        return Cell(f"{count(us)} µs", (share,))
    found = profile_difference(ours, number, theirs, counts(theirs)[name])
    change = f"{change_text(found.us)} ± {count(found.half_us)}"
    return Cell(f"{before_after(theirs.microseconds(counts(theirs)[name]), us)} µs", (share, change))


def wait_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return what connections waited for, and the server's own threads or processes."""
    found = cell.of("waits")
    if not found:
        return []
    looks = {made.diagnosis["samples"] for made in found.values()}
    how = "timed by the performance schema" if looks == {None} else "sampled, up to 20 times a second"
    note = (
        f"µs waited per transaction by all connections together, number of waits, and the difference in µs to "
        f"{cell.reference}; {how}. Waits overlap in time."
    )
    own = "These include threads that wait for work."
    return [
        _waits("What connections waited for", "connections", cell, note),
        _waits("What the server's own threads waited for", "background", cell, own, folded=True),
    ]


def _waits(title: str, who: str, cell: DiagnosedCell, note: str, *, folded: bool = False) -> Fold:
    found = cell.of("waits")
    by_variant = {
        name: {row["event"]: row for row in made.diagnosis["waits"] if row["who"] == who}
        for name, made in found.items()
    }
    rows = _compared(cell, found, by_variant, lambda row: row["seconds"] * 1e6, _wait)
    labelled = [
        table_row(Cell(event, (more,) if (more := client_words(event, found)) else ()), *fields)
        for event, fields in rows
    ]
    return _fold(title, variant_heads(found), labelled, note, folded=folded)


def _compared(
    cell: DiagnosedCell,
    found: dict[str, Diagnosis],
    rows: dict[str, dict[str, dict[str, Any]]],
    amount: Callable[[dict[str, Any]], float],
    field: Callable[[Diagnosis, dict[str, Any] | None], Cell],
) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return one row per name, those with the largest amounts; fields show the difference to the reference."""
    amounts = {
        variant: {name: per_transaction(found[variant], amount(row)) for name, row in of.items()}
        for variant, of in rows.items()
    }
    theirs = amounts.get(cell.reference, {})

    def one(variant: str, name: str) -> Cell:
        made, more = field(found[variant], rows[variant].get(name)), amounts[variant].get(name)
        known = variant != cell.reference and name in theirs and not missing(more) and not missing(theirs[name])
        return replace(made, notes=(*made.notes, change_text(more - theirs[name]))) if known else made

    most = _largest(pair for of in amounts.values() for pair in of.items())
    return [(name, tuple(one(variant, name) for variant in found)) for name in most]


def _wait(made: Diagnosis, row: dict[str, Any] | None) -> Cell:
    if row is None:
        return Cell(NOTHING, (), "hole")
    unit = "" if made.diagnosis["samples"] is None else " samples"
    number = per_transaction(made, row["count"]) if not unit else row["count"]
    number_text = f"{count(number)}{unit or ' ×'}"
    return Cell(f"{count(per_transaction(made, row['seconds'] * 1e6))} µs", (number_text,))


def client_words(event: str, found: dict[str, Diagnosis]) -> str:
    """Return the line under an event in which the server waits for the load generator; else nothing."""
    of_client = {each for made in found.values() for each in families.of(made.server.family).CLIENT_WAITS}
    return "for the load generator" if event in of_client else ""


def _largest(values: Iterable[tuple[str, float]]) -> list[str]:
    """Return the names with the largest values, the largest first."""
    most: dict[str, float] = {}
    for name, value in values:
        most[name] = max(most.get(name, 0.0), 0.0 if missing(value) else value)
    return sorted(most, key=lambda name: -most[name])[:MOST_ROWS]


def system_call_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return the system calls per transaction."""
    found = cell.of("syscalls")
    calls = {name: {row["name"]: row for row in made.diagnosis["calls"]} for name, made in found.items()}
    fields = _compared(cell, found, calls, lambda row: row["calls"], _call)
    note = (
        "Calls per transaction, system time per call (tracing makes it longer), the share of calls that failed, and "
        f"the difference in calls to {cell.reference}."
    )
    rows = [table_row(name, *each) for name, each in fields]
    return [_fold("System calls", variant_heads(found), rows, note)] if found else []


def _call(made: Diagnosis, row: dict[str, Any] | None) -> Cell:
    if row is None:
        return Cell("0", (), "hole")
    each = f"{count(row['system_s'] / row['calls'] * 1e6)} µs"
    failed = [f"{percent(row['errors'] / row['calls'], 0)} failed"] if row["errors"] else []
    return Cell(count(per_transaction(made, row["calls"])), (each, *failed))


PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}


def sync_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return how long fsync and similar calls took, one row per variant and kind of call."""
    found = cell.of("fsyncs")
    rows = [
        table_row(f"{name} {call}", *_sync_fields(made, durations))
        for name, made in found.items()
        for call, durations in made.diagnosis["syncs"].items()
    ]
    silent = [name for name, made in found.items() if not made.diagnosis["syncs"]]
    note = f"None in the window: {', '.join(silent)}." if silent else ""
    heads = map(Head, ("calls per second", "per transaction", *PERCENTILES, "share of the window"))
    return [_fold("Waits for the disk", heads, rows, note)] if found else []


def _sync_fields(made: Diagnosis, durations: dict[str, list[int]]) -> tuple[Cell, ...]:
    number, window_s = sum(durations["count"]), made.window.duration_s
    spent_s = sum(us * times_ for us, times_ in zip(*durations.values(), strict=True)) / 1e6
    return (
        Cell(count(number / window_s)),
        Cell(count(per_transaction(made, number))),
        *(Cell(f"{count(percentile_us(durations, share) / 1000)}{NARROW}ms") for share in PERCENTILES.values()),
        Cell(percent(spent_s / window_s, 0)),
    )


def percentile_us(durations: dict[str, list[int]], share: float) -> int:
    """Return the duration that a share of the calls does not exceed, in microseconds."""
    counted = zip(durations["duration_us"], durations["count"], strict=True)
    return value_at_rank(counted, share * sum(durations["count"]))
