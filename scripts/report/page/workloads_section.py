"""The workloads for the page: figures, tables, statements, operations; and the figures over all workloads."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
import pandas as pd
from markupsafe import Markup

from scripts.lib.resolved_study import ResolvedStudy, ResolvedWorkload
from scripts.lib.vocabulary import AA, CONTROLS, OPERATION_SHARES, WORKLOAD_CLIENTS, PairStatus
from scripts.lib.wording import NOTHING, count, listing, missing, number, option_value, percent, plural
from scripts.measure.engine.run_parts import Statements
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import held_out, ladder, published, stats
from scripts.report.analysis.levels import cells_of
from scripts.report.analysis.metrics import EVERY, latency_of, of_study
from scripts.report.analysis.table_rows import LadderRow
from scripts.report.page.document import (
    Cell,
    Figures,
    Fold,
    Head,
    Heading,
    PageBlock,
    Prose,
    Section,
    Table,
    TableRow,
    grid,
    table_row,
    variant_cell,
    variant_heads,
    word_heads,
)
from scripts.report.page.figures.naming import CURVES, drawn_metrics, heat_names, seconds_names, value_metrics
from scripts.report.page.pairs import paired_means
from scripts.report.page.value_tables import Lookup, measured_metrics, ratio_cell, value_cell

SHOWN_OPERATIONS = {"mean_ms": "mean latency", "p95_ms": "p95 latency", "p99_ms": "p99 latency"}
SHOWN = {
    "tps": "TPS", "p50_ms": "median, ms", "p95_ms": "p95, ms", "p99_ms": "p99, ms",
    "cpu_us_per_tx": "CPU per transaction, µs", "slow_stop_s": "slow stop, s", "cold_s": "cold, s", "warm_s": "warm, s",
    "latency_mean_ms": "mean latency, ms", "qps": "QPS",
}  # fmt: skip
MOST_UNFOLDED = 40


OPERATIONS_TEXT = (
    "Over the whole measuring call, including its first and last second. {reference} → variant: geometric means over n "
    "blocks, and their ratio with its 95 % t interval, not adjusted for their number: they show where a difference "
    "comes from, and give no verdict."
)


def operation_tables(
    study: ResolvedStudy, operations: pd.DataFrame, comparisons: pd.DataFrame
) -> dict[str, dict[str, Table]]:
    """Return workload -> title -> table, for workloads whose script reports its operations.

    A table has one quantity of one cell: one row per operation with its share of all calls, one column per variant.
    """
    paired = comparisons[(comparisons["status"] == PairStatus.PAIRED) & (comparisons["metric"] == "tps")]
    blocks = {(row.variant, row.block) for row in paired.itertuples()}
    heads = (*word_heads("operation"), Head("of all calls"), *variant_heads(study.variants))
    by_workload: dict[str, dict[str, Table]] = {}
    for (workload, clients), cell in operations.groupby(list(WORKLOAD_CLIENTS), sort=False):
        where = f", {clients} clients" if len(study.clients) > 1 else ""
        for name, label in SHOWN_OPERATIONS.items():
            rows = tuple(_operation_rows(study, cell, name, blocks))
            by_workload.setdefault(workload, {})[f"{label}, ms{where}"] = Table(heads, rows)
    return by_workload


def _operation_rows(
    study: ResolvedStudy, cell: pd.DataFrame, metric: str, blocks: set[tuple[str, str]]
) -> Iterator[TableRow]:
    total = cell["calls"].sum()
    for operation, calls in cell.groupby("operation", sort=False):
        wide = calls.pivot(index="block", columns="variant", values=metric).reindex(columns=list(study.variants))
        fields = (_operation_field(wide, name, study.reference, blocks) for name in study.variants)
        yield table_row(operation, percent(calls["calls"].sum() / total), *fields)


def _operation_field(wide: pd.DataFrame, variant: str, reference: str, blocks: set[tuple[str, str]]) -> Cell:
    """Return the value of the reference and of a variant over the whole pairs with their ratio, or a value alone."""
    if missing(value := stats.geometric_mean(wide[variant])):
        return Cell(NOTHING, (), "hole", "not measured")
    if variant == reference:
        return Cell(count(value), (f"n {wide[variant].count()}",))
    counted = wide[[(variant, block) in blocks for block in wide.index]]
    pair = paired_means(counted[variant], counted[reference])
    return pair.cell() if pair else Cell(count(value), ("no whole block",))


LITERAL = re.compile(r"'(?:[^']|'')*'|\d+")
LONGEST = 240


def sent_folds(study: ResolvedStudy, records: Sequence[Run]) -> dict[str, list[Fold]]:
    """Return workload -> the statements of one event, once per group of variants that are sent the same."""
    logged_runs = {(run.workload, run.variant): run.statements for run in records if run.statements}
    folds: dict[str, list[Fold]] = {}
    for workload in study.workloads:
        kinds: dict[tuple[str | int | None, ...], dict[str, Statements]] = {}
        for variant in (name for name in study.variants if name not in CONTROLS):
            if logged := logged_runs.get((workload, variant)):
                kind = (logged.total, *map(statement_form, logged.sent or ()))
                kinds.setdefault(kind, {})[variant] = logged
        folds[workload] = [_sent_fold(alike, len(kinds)) for alike in kinds.values()]
    return folds


def statement_form(statement: str) -> str:
    """Return the form of a statement: without its values and the numbers of its tables."""
    return LITERAL.sub("?", " ".join(statement.split()))


def _sent_fold(alike: dict[str, Statements], kinds: int) -> Fold:
    variant, logged = next(iter(alike.items()))
    total, sent = logged.total or 0, logged.sent or []
    rest = total - len(sent)
    texts = [(_short(text), str(times)) for text, times in grouped_statements(sent)]
    texts += [(f"and {plural(rest, 'statement')} more", "")] if rest else []
    who = f" ({listing(list(alike))})" if kinds > 1 else ""
    note = f"Taken from the log of the server of {variant}; statements that differ only in values are shown once."
    table = grid(("statement", "times"), [(Cell(text, is_code=True), times) for text, times in texts])
    summary = f"What it sends: {plural(total, 'statement')} in one event{who}"
    return Fold(summary, (Prose(note, "quiet"), table), style="sent")


def grouped_statements(statements: Sequence[str]) -> list[tuple[str, int]]:
    """Return (first statement, number) of every group of consecutive statements of one form."""
    groups = (list(group) for _, group in groupby(statements, key=statement_form))
    return [(group[0], len(group)) for group in groups]


def _short(statement: str) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def value_figures(
    study: ResolvedStudy, tables: dict[str, pd.DataFrame], figures: dict[str, str]
) -> dict[str, list[Markup]]:
    """Return workload -> its figures of values; metrics without any value have none."""
    measured = measured_metrics(tables["cells"])
    names = {
        name: [*(f"{metric}-{name}" for metric in value_metrics(study, name) if metric in measured), f"ratio-{name}"]
        for name in study.workloads
    }
    return {name: drawings for name, names_of_load in names.items() if (drawings := markup(figures, names_of_load))}


def workload_sections(
    study: ResolvedStudy, tables: dict[str, pd.DataFrame], records: Sequence[Run], figures: dict[str, str]
) -> list[Section]:
    """Return one folded section per workload: what it is, what it sends, seconds and operations."""
    sent = sent_folds(study, records)
    operations = operation_tables(study, tables["operations"], tables["comparisons"])
    sections = []
    for rank, (name, load) in enumerate(study.workloads.items(), start=1):
        data = f" on dataset {text}" if (text := _data(load)) else ""
        training = held_out.label(study, name)
        blocks = [
            Prose(Markup("<code>{}</code>{}").format(_command(load), data), "quiet"),
            *([Prose(training, "quiet")] if training else []),
            *sent.get(name, []),
            *_second_folds(markup(figures, seconds_names(study, name).values())),
            *_operation_blocks(study, operations.get(name, {})),
        ]
        sections.append(Section(f"workload-{rank}", name, blocks, is_folded=True))
    return sections


SECONDS_TEXT = (
    "Each line is a run. The server's counters were read every second during the load, in all variants alike; those "
    "that stayed at zero are left out."
)


def _second_folds(drawings: Sequence[Markup]) -> Iterator[Fold]:
    if drawings:
        blocks = (Prose(SECONDS_TEXT, "quiet"), Figures(drawings))
        yield Fold("Second by second, with what the server counted", blocks, is_open=len(drawings) <= 4)


def _operation_blocks(study: ResolvedStudy, tables: dict[str, Table]) -> Iterator[PageBlock]:
    if tables:
        yield Heading("Operation by operation")
        yield Prose(OPERATIONS_TEXT.format(reference=study.reference), "quiet")
        for rank, (title, table) in enumerate(tables.items()):
            yield Fold(title, (table,), is_open=not rank)


def undrawn_note(study: ResolvedStudy) -> str:
    """Return that curves of some metrics are not drawn, an empty text where all are."""
    drawn = {metric for name in study.workloads for metric in value_metrics(study, name)}
    undrawn = [EVERY[name].heading for name in CURVES if name in of_study(study) and name not in drawn]
    if not drawn or not undrawn:
        return ""
    shown = listing([EVERY[name].heading for name in CURVES if name in drawn])
    amount = plural(len(study.workloads), "workload")
    return f"The curves of {amount} show one metric: {shown}. The table above has the others ({'; '.join(undrawn)})."


def _command(load: ResolvedWorkload) -> str:
    options = (f"{name}={option_value(value)}" for name, value in load.options.items())
    return " ".join([load.script or load.sql or "", *options]).strip()


def _data(load: ResolvedWorkload) -> str | None:
    rows = f", the first {number(load.rows)} rows of each table" if load.rows else ""
    return f"{load.dataset}{rows}" if load.dataset else None


def heat_maps(study: ResolvedStudy, cells: pd.DataFrame, figures: dict[str, str]) -> list[list[Markup]]:
    """Return the heat maps of each metric that has some, and the key of each last; `cells` is cells.csv."""
    charts = [markup(figures, heat_names(study, metric)) for metric in _drawn(study, cells)]
    return [[*several[1:], several[0]] for several in charts if len(several) > 1]


def figures_of_all(kind: str, study: ResolvedStudy, cells: pd.DataFrame, figures: dict[str, str]) -> list[Markup]:
    """Return the figures of a kind (forest, factors or effects), one per metric that has values."""
    return markup(figures, [f"{kind}-{metric}" for metric in _drawn(study, cells)])


def _drawn(study: ResolvedStudy, cells: pd.DataFrame) -> list[str]:
    measured = measured_metrics(cells)
    return [metric for metric in drawn_metrics(study) if metric in measured]


def markup(figures: dict[str, str], names: Iterable[str]) -> list[Markup]:
    """Return the named figures that there are."""
    return [Markup(figures[name]) for name in names if name in figures]


def places(study: ResolvedStudy) -> list[tuple[str, int]]:
    """Return the workloads with their client counts in the order to show: of an import those that some variant has."""
    if study.is_imported:
        return cells_of(study)
    return [(workload, clients) for workload in study.workloads for clients in sorted(study.clients)]


def is_alone(study: ResolvedStudy) -> bool:
    """Return whether an import has one variant, so that there is no ratio."""
    return study.is_imported and len(study.variants) == 1


def by_workload(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> Table:
    """Return the table of a study; `tables` holds cells and runs. Metrics without any value have no columns.

    A row has workload, clients (of a study of several client counts), variant, and per metric a value and its ratio.
    The reference has a row of its own only where some value of it stands beside no other variant's.
    """
    lookup = Lookup(tables["cells"], tables["runs"], study)
    hidden = set(OPERATION_SHARES) - {latency_of(study).name}
    metrics = [name for name in SHOWN if name in lookup.metrics and name not in hidden]
    names = [name for name in study.variants if name not in CONTROLS]
    names += [name for name in study.variants if name in CONTROLS and name in set(lookup.rows["variant"])]
    several = len(study.clients) > 1
    rows = tuple(
        table_row(
            workload,
            *([str(clients)] if several else []),
            variant_cell(name),
            *_fields((name, workload, clients), metrics, lookup, study),
            style=f"{'' if rank else 'first'}{' aa' if name == AA else ''}".strip(),
        )
        for workload, clients in places(study)
        for rank, name in enumerate(_shown_variants(names, (workload, clients), metrics, lookup, study.reference))
    )
    ratios = [] if is_alone(study) else [f"/ {study.reference}"]
    heads = (Head(text) for name in metrics for text in (SHOWN[name], *ratios))
    clients_head = [Head("clients")] if several else []
    return Table((*word_heads("workload"), *clients_head, *word_heads("variant"), *heads), rows, style="values inline")


def _shown_variants(
    names: list[str], cell_key: tuple[str, int], metrics: list[str], lookup: Lookup, reference: str
) -> list[str]:
    """Return the variants that have a row, without the reference where each value of it stands beside another's."""
    others = [name for name in names if name != reference]

    def stands_beside(metric: str) -> bool:
        cells = (lookup.cells.get((name, *cell_key, metric)) for name in others)
        return any(cell is not None and not missing(cell.reference_value) for cell in cells)

    of_reference = {metric: lookup.cells.get((reference, *cell_key, metric)) for metric in metrics}
    measured = [metric for metric, cell in of_reference.items() if cell is not None and not missing(cell.value)]
    return others if measured and all(map(stands_beside, measured)) else names


def _fields(key: tuple[str, str, int], metrics: list[str], lookup: Lookup, study: ResolvedStudy) -> tuple[Cell, ...]:
    fields = []
    for name in metrics:
        fields.append(value_cell(key, EVERY[name], lookup))
        if not is_alone(study):
            fields.append(Cell("") if key[0] == study.reference else ratio_cell(key, EVERY[name], lookup))
    return tuple(fields)


def ladder_tables(study: ResolvedStudy, tables_of_study: dict[str, pd.DataFrame]) -> list[tuple[Table, list[str]]]:
    """Return a table, and its sentences, per workload that has a ladder both published and here; reads ladder.csv."""
    published_rungs = ladder.published_table(published.frame(study))
    published_rungs = published_rungs.assign(variant="published " + published_rungs["variant"].astype(str))
    tables = []
    for workload in study.workloads:
        sides = [rows[rows["workload"] == workload] for rows in (published_rungs, tables_of_study["ladder"])]
        if all(map(len, sides)):
            tables.append(_ladder_table(workload, pd.concat(sides)))
    return tables


def _ladder_table(workload: str, rungs: pd.DataFrame) -> tuple[Table, list[str]]:
    head = sorted(set(rungs["clients"]))
    rows, sentences = [], []
    for name, rungs_of_variant in rungs.groupby("variant", sort=False):
        by_clients = {rung.clients: rung for rung in rungs_of_variant.itertuples()}
        rows.append(table_row(variant_cell(name), *(_rung_cell(by_clients.get(clients)) for clients in head)))
        sentences.append(f"{name}: {last_sentence(by_clients[max(by_clients)])}.")
    heads = (*word_heads("clients"), *(Head(str(clients)) for clients in head))
    caption = f"{workload}: TPS as a share of TPS at the best client count"
    return Table(heads, tuple(rows), style="values wrapped", caption=caption), sentences


def _rung_cell(rung: LadderRow | None) -> Cell:
    if rung is None or missing(rung.share):
        return Cell(NOTHING, (), "hole")
    notes = () if np.isnan(rung.share_low) else (_bounds(rung),)
    return Cell(percent(rung.share, 0), notes)


def _bounds(rung: LadderRow) -> str:
    return f"{rung.share_low * 100:.0f}–{percent(rung.share_high, 0)}"


def last_sentence(rung: LadderRow) -> str:
    """Return what is left of the best throughput at the most clients, from the last row of a ladder."""
    if rung.clients == rung.best_clients:
        return f"the mean is highest with the most clients, {rung.clients}"
    sure = "" if np.isnan(rung.share_low) else f" (95 % interval {_bounds(rung)}, {plural(rung.n_ok, 'repetition')})"
    share = f"{percent(rung.share, 0)}{sure} of its best, which it has with {rung.best_clients}"
    return f"with {plural(rung.clients, 'client')} {share}"
