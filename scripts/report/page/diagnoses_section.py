"""The results of diagnoses for the page: sentences, flame graphs, tables, and the engine's own report."""

import math
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from scripts.lib.failure_reasons import alike
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import brief, count, listing, percent, plural
from scripts.measure.engine.run_record import Diagnosis
from scripts.report.page import diagnosis_tables
from scripts.report.page.diagnosis_tables import DiagnosedCell, diagnosed_cells
from scripts.report.page.document import Figures, Fold, Heading, Items, Legend, PageBlock, Prose, Section, Verbatim
from scripts.report.page.figures.flames import change_text, draw_flame_graph, profile_difference
from scripts.report.page.figures.naming import look_of

MOST_NAMED = 4
NONE_DIFFERS = "No function differs by more than the error of counting samples."


TOOLS_TEXT = (
    "Each tool examined the server during one extra run{seconds}, after all measured ones; none of these runs is among "
    "the study's figures. One run shows where time goes; it does not measure how much faster a variant is, and no "
    "verdict is based on it."
)
FLAMES_TEXT = (
    "A box is a function, as wide as the share of samples in which it or a callee ran; callers are below their "
    "callees, and pointing at a box shows its figures."
)
OF_CODE = (("server", "the server's code"), ("library", "libraries"), ("kernel", "the kernel"),
           ("thread", "kinds of threads"))  # fmt: skip
OF_CHANGE = (
    ("less3", "half the reference's time or less"), ("less2", "less"), ("less1", "a little less"),
    ("same", "no difference beyond the error of counting"), ("more1", "a little more"), ("more2", "more"),
    ("more3", "twice the reference's time or more"),
)  # fmt: skip


def diagnosis_section(study: ResolvedStudy, table: pd.DataFrame, records: list[Diagnosis]) -> Section | None:
    """Return every cell that was looked into; None without any. `table` is cells.csv."""
    cells = diagnosed_cells(study, table, records)
    blocks = [block for number, cell in enumerate(cells) for block in _cell_blocks(study, cell, number)]
    if not blocks:
        return None
    seconds = f" of {study.diagnose.seconds} s" if study.diagnose else ""
    introduction = Prose(TOOLS_TEXT.format(seconds=seconds))
    return Section("diagnosis", "Inside the server", (introduction, *blocks), nav="Inside the server")


def _cell_blocks(study: ResolvedStudy, cell: DiagnosedCell, number: int) -> Iterator[PageBlock]:
    yield Heading(f"{cell.workload}, {plural(cell.clients, 'client')}")
    for names, reason in _lost(cell):
        yield Prose(f"Failed: {names}: {reason}", "worse")
    if sentences := [*_cpu_sentences(cell), *_wait_sentences(cell)]:
        yield Items(sentences)
    yield from _flames(cell)
    tables = [
        diagnosis_tables.slowed_table(cell),
        *diagnosis_tables.function_tables(cell),
        *diagnosis_tables.wait_tables(cell),
        *diagnosis_tables.system_call_tables(cell),
        *diagnosis_tables.sync_tables(cell),
    ]
    yield from (fold for fold in tables if fold.blocks)
    if drawings := list(_sync_figures(study, cell, number)):
        yield Figures(drawings)
    yield from _reports(cell)


def _cpu_sentences(cell: DiagnosedCell) -> Iterator[str]:
    """Yield one sentence per variant on the functions whose CPU time differs most from the reference's."""
    for variant, samples in cell.samples.items():
        base = cell.reference_samples(variant)
        if base is None or math.isnan(samples.cpu_us + base.cpu_us):
            continue
        differences = {
            name: profile_difference(samples, samples.own[name], base, base.own[name])
            for name in {**samples.own, **base.own}
        }
        shown = sorted(
            (name for name in differences if differences[name].shown), key=lambda name: -abs(differences[name].us)
        )
        named = [
            f"{name} ({change_text(differences[name].us)} ± {count(differences[name].half_us)} µs)"
            for name in shown[:MOST_NAMED]
        ]
        most = f"Largest differences, in the functions themselves: {listing(named)}." if named else NONE_DIFFERS
        yield (
            f"{variant} takes {count(samples.cpu_us)} µs of server CPU per transaction, {cell.reference} "
            f"{count(base.cpu_us)} µs. {most}"
        )


def _wait_sentences(cell: DiagnosedCell) -> Iterator[str]:
    """Yield one sentence per variant on the share of time that its connections waited, and for what most."""
    diagnoses = cell.of("waits")
    for variant, diagnosis in diagnoses.items():
        rows = [row for row in diagnosis.diagnosis["waits"] if row["who"] == "connections"]
        server_waits = [row for row in rows if not diagnosis_tables.client_words(row["event"], diagnoses)]
        all_s = cell.clients * diagnosis_tables.window_s(diagnosis)
        client_s, own_s = (
            sum(row["seconds"] for row in some) for some in ([r for r in rows if r not in server_waits], server_waits)
        )
        most = max(server_waits, key=lambda row: row["seconds"], default=None)
        named = f", {percent(most['seconds'] / own_s, 0)} of that in {most['event']}" if most and own_s else ""
        rest = "; for the rest they ran or waited untimed" if diagnosis.diagnosis["samples"] is None else ""
        yield (
            f"Under {variant} connections spent {percent(client_s / all_s, 0)} of their time waiting for the load "
            f"generator and {percent(own_s / all_s, 0)} in events that the server reports{named}{rest}."
        )


def _lost(cell: DiagnosedCell) -> Iterator[tuple[str, str]]:
    """Yield (tools and variants, reason) of failed diagnoses, once per reason."""
    for group in alike(cell.failed(), itemgetter(2)):
        yield listing([f"{tool} of {variant}" for tool, variant, _ in group.things]), brief(group.reason)


def _flames(cell: DiagnosedCell) -> Iterator[PageBlock]:
    for variant, samples in cell.samples.items():
        base = cell.reference_samples(variant)
        diagnosis = cell.of("perf")[variant]
        program = Path(diagnosis.commands["server"][0]).name
        named = samples.total and 1 - sum(n for name, n in samples.own.items() if name.startswith("[")) / samples.total
        event = diagnosis.diagnosis["event"].partition(":")[0]
        caption = (
            f"{variant}: {plural(samples.total, 'sample')} of {event}, {count(samples.cpu_us)} µs of server CPU per "
            f"transaction; the function is known in {percent(named, 0)} of them"
        )
        yield Prose(caption, "label", variant)
        yield Figures([draw_flame_graph(samples, f"flame graph of {variant}", program, base)], "flames")
        yield Legend(OF_CHANGE if base else OF_CODE)
    if cell.samples:
        yield Prose(FLAMES_TEXT, "quiet")


def _sync_figures(study: ResolvedStudy, cell: DiagnosedCell, number: int) -> Iterator[Markup]:
    by_variant = {name: _together(diagnosis.diagnosis["syncs"]) for name, diagnosis in cell.of("fsyncs").items()}
    if drawn := {name: calls for name, calls in by_variant.items() if calls["count"]}:
        look = look_of(list(study.variants), study.reference)
        # Few studies have this chart: the others do not wait 2 s for matplotlib.
        from scripts.report.page.figures.values import draw_sync_chart

        yield Markup(draw_sync_chart(drawn, look, f"syncs-{number}"))


def _together(syncs: dict[str, dict[str, list[int]]]) -> dict[str, list[int]]:
    """Return the durations of all kinds of calls together."""
    pairs = sorted(pair for calls in syncs.values() for pair in zip(calls["duration_us"], calls["count"], strict=True))
    return {"duration_us": [us for us, _ in pairs], "count": [number for _, number in pairs]}


def _reports(cell: DiagnosedCell) -> Iterator[Fold]:
    """Yield the engine's own reports around one diagnosis of each variant."""
    seen = set()
    for diagnosis in cell.records:
        if diagnosis.variant not in seen and diagnosis.engine_report:
            seen.add(diagnosis.variant)
            report = diagnosis.engine_report
            texts = (Verbatim(report.before or "", "before the load"), Verbatim(report.after or "", "after it"))
            yield Fold(f"The engine's own report: {diagnosis.variant}", texts)
