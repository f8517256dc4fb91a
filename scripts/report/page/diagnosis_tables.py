"""Tables of diagnoses for the page, one column per variant: functions, waits, system calls, waits for the disk."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NARROW, NOTHING, before_after, count, missing, percent, times
from scripts.measure.engine.run_record import Diagnosis
from scripts.measure.loadgen.output import value_at_rank
from scripts.measure.servers import families
from scripts.report.page.document import Cell, Fold, Head, Prose, Table, TableRow, table_row, variant_heads
from scripts.report.page.figures.flames import SampledStacks, Samples, change_text, profile_difference, samples_of

# What a tool counted of one event or call, by the name of the amount.
Amounts = dict[str, float]
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
        by_variant = {diagnosis.variant: diagnosis for diagnosis in self.records if diagnosis.tool == tool}
        ok = {name: diagnosis for name, diagnosis in by_variant.items() if not diagnosis.failed}
        return {name: ok[name] for name in self.variants if name in ok}

    def failed(self) -> list[tuple[str, str, str]]:
        """Return (tool, variant, reason) of failed diagnoses."""
        lost = [diagnosis for diagnosis in self.records if diagnosis.failed]
        return [(str(diagnosis.tool), str(diagnosis.variant), str(diagnosis.reason)) for diagnosis in lost]

    @cached_property
    def samples(self) -> dict[str, Samples]:
        """Return variant -> perf's samples."""
        by_variant = self.of("perf")
        return {
            name: samples_of(SampledStacks.of(diagnosis.diagnosis), self.cpu_us(name, diagnosis))
            for name, diagnosis in by_variant.items()
        }

    def reference_samples(self, variant: str) -> Samples | None:
        """Return the reference's samples with its CPU time over the blocks of a variant; None for itself."""
        base = self.samples.get(self.reference)
        if base is None or variant == self.reference:
            return None
        us = self.reference_us(variant)
        return base if us is None else replace(base, cpu_us=us)

    def cpu_us(self, variant: str, diagnosis: Diagnosis) -> float:
        """Return the server's CPU time per transaction: that of the study's own runs, else that of the diagnosis."""
        measured_us = self.measured(variant, "cpu_us_per_tx")
        user_s, system_s = diagnosis.cpu.server_user_s, diagnosis.cpu.server_system_s
        if measured_us is not None or user_s is None or system_s is None:
            return float("nan") if measured_us is None else measured_us
        return per_transaction(diagnosis, (user_s + system_s) * 1e6)


def window_s(diagnosis: Diagnosis) -> float:
    """Return the seconds of a window; NaN where they are unknown."""
    return float("nan") if diagnosis.window.duration_s is None else diagnosis.window.duration_s


def per_transaction(diagnosis: Diagnosis, amount: float) -> float:
    """Return an amount of a window per transaction; NaN without transactions."""
    return amount / diagnosis.window.transactions if diagnosis.window.transactions else float("nan")


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

    def of_reference(workload: str, clients: int) -> Callable[[str], float | None]:
        return lambda variant: sides.get((variant, workload, clients))

    keys = {(str(diagnosis.workload), int(diagnosis.clients or 0)) for diagnosis in records}
    ordered = sorted(keys, key=lambda key: (list(study.workloads).index(key[0]), key[1]))
    return [
        DiagnosedCell(
            *key,
            [diagnosis for diagnosis in records if (diagnosis.workload, diagnosis.clients) == key],
            tuple(study.variants),
            study.reference,
            measured(*key),
            of_reference(*key),
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
    by_tool = {tool: cell.of(tool) for tool in DIAGNOSIS_TOOLS}
    variants = tuple(name for name in cell.variants if any(name in of for of in by_tool.values()))

    def field(tool: str, variant: str) -> Cell:
        if variant not in by_tool[tool]:
            return Cell(NOTHING, (), "hole")
        tps, study_tps = by_tool[tool][variant].window.tps, cell.measured(variant, "tps")
        if tps is None:
            return Cell(NOTHING, (), "hole")
        return Cell(times(tps / study_tps), (f"{count(tps)} TPS",)) if study_tps else Cell(f"{count(tps)} TPS")

    rows = [
        table_row(words, *(field(tool, name) for name in variants))
        for tool, words in DIAGNOSIS_TOOLS.items()
        if by_tool[tool]
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
        _counted("CPU time by whose code ran", cell, lambda samples_of_one: samples_of_one.modules, note),
        _counted("CPU time by function, itself alone", cell, lambda samples_of_one: samples_of_one.own),
        _counted(
            "CPU time by function, with all it calls", cell, lambda samples_of_one: samples_of_one.whole, folded=True
        ),
    ]


def _counted(
    title: str, cell: DiagnosedCell, counts: Callable[[Samples], Counter[str]], note: str = "", *, folded: bool = False
) -> Fold:
    samples = cell.samples
    most = _largest(
        (name, profile.share(number) if math.isnan(profile.cpu_us) else profile.microseconds(number))
        for profile in samples.values()
        for name, number in counts(profile).items()
    )
    rows = [table_row(name, *(_time(cell, variant, name, counts) for variant in samples)) for name in most]
    return _fold(title, variant_heads(samples), rows, note, folded=folded)


def _time(cell: DiagnosedCell, variant: str, name: str, counts: Callable[[Samples], Counter[str]]) -> Cell:
    samples, base = cell.samples[variant], cell.reference_samples(variant)
    number = counts(samples)[name]
    share, us = percent(samples.share(number)), samples.microseconds(number)
    if base is None or math.isnan(samples.cpu_us + base.cpu_us):
        return Cell(f"{count(us)} µs", (share,))
    difference = profile_difference(samples, number, base, counts(base)[name])
    change = f"{change_text(difference.us)} ± {count(difference.half_us)}"
    return Cell(f"{before_after(base.microseconds(counts(base)[name]), us)} µs", (share, change))


def wait_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return what connections waited for, and the server's own threads or processes."""
    diagnoses = cell.of("waits")
    if not diagnoses:
        return []
    looks = {diagnosis.diagnosis["samples"] for diagnosis in diagnoses.values()}
    how = "timed by the performance schema" if looks == {None} else "sampled, up to 20 times a second"
    note = (
        f"µs waited per transaction by all connections together, number of waits, and the difference in µs to "
        f"{cell.reference}; {how}. Waits overlap in time."
    )
    idle_note = "These include threads that wait for work."
    return [
        _waits("What connections waited for", "connections", cell, note),
        _waits("What the server's own threads waited for", "background", cell, idle_note, folded=True),
    ]


def _waits(title: str, who: str, cell: DiagnosedCell, note: str, *, folded: bool = False) -> Fold:
    diagnoses = cell.of("waits")
    by_variant = {
        name: {row["event"]: row for row in diagnosis.diagnosis["waits"] if row["who"] == who}
        for name, diagnosis in diagnoses.items()
    }
    rows = _compared(cell, diagnoses, by_variant, lambda row: row["seconds"] * 1e6, _wait)
    labelled = [
        table_row(Cell(event, (more,) if (more := client_words(event, diagnoses)) else ()), *fields)
        for event, fields in rows
    ]
    return _fold(title, variant_heads(diagnoses), labelled, note, folded=folded)


def _compared(
    cell: DiagnosedCell,
    diagnoses: dict[str, Diagnosis],
    rows: dict[str, dict[str, Amounts]],
    amount: Callable[[Amounts], float],
    field: Callable[[Diagnosis, Amounts | None], Cell],
) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return one row per name, those with the largest amounts; fields show the difference to the reference."""
    amounts = {
        variant: {name: per_transaction(diagnoses[variant], amount(row)) for name, row in of.items()}
        for variant, of in rows.items()
    }
    of_reference = amounts.get(cell.reference, {})

    def one(variant: str, name: str) -> Cell:
        shown_cell, more = field(diagnoses[variant], rows[variant].get(name)), amounts[variant].get(name)
        base = None if variant == cell.reference else of_reference.get(name)
        if more is None or base is None or missing(more) or missing(base):
            return shown_cell
        return replace(shown_cell, notes=(*shown_cell.notes, change_text(more - base)))

    most = _largest(pair for of in amounts.values() for pair in of.items())
    return [(name, tuple(one(variant, name) for variant in diagnoses)) for name in most]


def _wait(diagnosis: Diagnosis, row: Amounts | None) -> Cell:
    if row is None:
        return Cell(NOTHING, (), "hole")
    unit = "" if diagnosis.diagnosis["samples"] is None else " samples"
    number = per_transaction(diagnosis, row["count"]) if not unit else row["count"]
    number_text = f"{count(number)}{unit or ' ×'}"
    return Cell(f"{count(per_transaction(diagnosis, row['seconds'] * 1e6))} µs", (number_text,))


def client_words(event: str, diagnoses: dict[str, Diagnosis]) -> str:
    """Return the line under an event in which the server waits for the load generator; else nothing."""
    of_client = {
        event_name
        for diagnosis in diagnoses.values()
        for event_name in families.of(str(diagnosis.server.family)).CLIENT_WAITS
    }
    return "for the load generator" if event in of_client else ""


def _largest(values: Iterable[tuple[str, float]]) -> list[str]:
    """Return the names with the largest values, the largest first."""
    most: dict[str, float] = {}
    for name, value in values:
        most[name] = max(most.get(name, 0.0), 0.0 if missing(value) else value)
    return sorted(most, key=lambda name: -most[name])[:MOST_ROWS]


def system_call_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return the system calls per transaction."""
    diagnoses = cell.of("syscalls")
    calls = {name: {row["name"]: row for row in diagnosis.diagnosis["calls"]} for name, diagnosis in diagnoses.items()}
    fields = _compared(cell, diagnoses, calls, lambda row: row["calls"], _call)
    note = (
        "Calls per transaction, system time per call (tracing makes it longer), the share of calls that failed, and "
        f"the difference in calls to {cell.reference}."
    )
    rows = [table_row(name, *fields_of_call) for name, fields_of_call in fields]
    return [_fold("System calls", variant_heads(diagnoses), rows, note)] if diagnoses else []


def _call(diagnosis: Diagnosis, row: Amounts | None) -> Cell:
    if row is None:
        return Cell("0", (), "hole")
    call_time = f"{count(row['system_s'] / row['calls'] * 1e6)} µs"
    failed = [f"{percent(row['errors'] / row['calls'], 0)} failed"] if row["errors"] else []
    return Cell(count(per_transaction(diagnosis, row["calls"])), (call_time, *failed))


PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}


def sync_tables(cell: DiagnosedCell) -> list[Fold]:
    """Return how long fsync and similar calls took, one row per variant and kind of call."""
    diagnoses = cell.of("fsyncs")
    rows = [
        table_row(f"{name} {call}", *_sync_fields(diagnosis, durations))
        for name, diagnosis in diagnoses.items()
        for call, durations in diagnosis.diagnosis["syncs"].items()
    ]
    silent = [name for name, diagnosis in diagnoses.items() if not diagnosis.diagnosis["syncs"]]
    note = f"None in the window: {', '.join(silent)}." if silent else ""
    heads = map(Head, ("calls per second", "per transaction", *PERCENTILES, "share of the window"))
    return [_fold("Waits for the disk", heads, rows, note)] if diagnoses else []


def _sync_fields(diagnosis: Diagnosis, durations: dict[str, list[int]]) -> tuple[Cell, ...]:
    number, seconds = sum(durations["count"]), window_s(diagnosis)
    spent_s = sum(us * times_ for us, times_ in zip(*durations.values(), strict=True)) / 1e6
    return (
        Cell(count(number / seconds)),
        Cell(count(per_transaction(diagnosis, number))),
        *(Cell(f"{count(percentile_us(durations, share) / 1000)}{NARROW}ms") for share in PERCENTILES.values()),
        Cell(percent(spent_s / seconds, 0)),
    )


def percentile_us(durations: dict[str, list[int]], share: float) -> float:
    """Return the duration that a share of the calls does not exceed, in microseconds."""
    counted = zip(durations["duration_us"], durations["count"], strict=True)
    return value_at_rank(counted, share * sum(durations["count"]))
