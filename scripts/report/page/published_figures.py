"""Every published figure, with ours beside it where the study measured the same quantity."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd

from scripts.lib.resolved_study import PublishedFigure, ResolvedStudy
from scripts.lib.vocabulary import CELL, COLD, CONTROLS, WARM
from scripts.lib.wording import NOTHING, count, size
from scripts.measure.engine.run_record import Diagnosis, Run
from scripts.report.analysis import published
from scripts.report.analysis.metrics import MEASURED, OPERATIONS
from scripts.report.analysis.published import IN_BYTES, SIZES
from scripts.report.page.document import Fold, Heading, Items, PageBlock, Prose, Table, grid
from scripts.report.page.effects_section import published_tables
from scripts.report.page.engine_section import CHANGE_BUFFER_PREFIX, grown

# (variant, workload, clients) -> our mean, in the unit of the function that computes it.
Means = dict[tuple[str, str, int], float]

RunT = TypeVar("RunT", bound=Run)
BYTES = "bytes"
FIGURE_HEAD = ("quantity", "of", "workload", "clients", "published", "ours")
# Published quantities that runs.csv has under another name.
COLUMNS = {
    "latency avg": "latency_mean_ms",
    "packets received": "server_rx_packets_per_s",
    "packets sent": "server_tx_packets_per_s",
    "bytes received": "server_rx_bytes_per_s",
    "bytes sent": "server_tx_bytes_per_s",
    **{name: name for name in MEASURED},
}


@dataclass(frozen=True)
class MeasuredFigures:
    """What a study measured: runs.csv, statements.csv and files.csv, the records of its runs and its diagnoses."""

    runs: pd.DataFrame
    statements: pd.DataFrame
    files: pd.DataFrame
    records: list[Run]
    diagnoses: list[Diagnosis]

    @property
    def ok(self) -> list[Run]:
        """The records of the runs that were measured."""
        return [run for run in self.records if run.outcome == "ok"]


FIGURES_TEXT = (
    "Ours stands where the study measured that quantity with the same workload and client count: the mean over the "
    "runs of the variant with that name, or else of each variant."
)


def published_blocks(
    study: ResolvedStudy,
    tables: Mapping[str, pd.DataFrame],
    records: list[Run],
    diagnoses: list[Diagnosis],
    ladders: Sequence[tuple[Table, list[str]]],
) -> list[PageBlock]:
    """Return what was published beside ours: source, findings, ratios, ladders, gaps, figures; nothing without."""
    declared = study.published
    if not declared.source:
        return []
    measured = MeasuredFigures(tables["runs"], tables["statements"], tables["files"], records, diagnoses)
    findings = [tuple(finding.values().values()) for finding in declared.findings]
    blocks: list[PageBlock] = [Heading("Published figures beside ours", id="published"), Prose(declared.source)]
    if findings:
        blocks.append(grid(("variant", "workload", "clients", "published finding"), findings, 4))
    blocks += published_tables(study, dict(tables))
    for table, sentences in ladders:
        blocks += [table, Items(sentences, "")]
    differ = "Machine and sizes differ" + ("." if findings else ": ratios can be compared, values cannot.")
    blocks.append(Prose(" ".join([differ, *published.gaps(study)]), "quiet"))
    if rows := figure_rows(study, measured):
        summary = f"Every published figure, and ours: {len(rows)} rows"
        blocks.append(Fold(summary, (Prose(FIGURES_TEXT), grid(FIGURE_HEAD, rows, 4))))
    return blocks


def figure_rows(study: ResolvedStudy, measured: MeasuredFigures) -> list[tuple[str, ...]]:
    """Return the fields of FIGURE_HEAD per published figure, in the order of the file.

    Ours is that of the variant with the published name, else of each variant; controls are left out.
    """
    rows = study.published.rows
    variants = [name for name in study.variants if name not in CONTROLS]
    means = {metric: _means(metric, measured) for metric in dict.fromkeys(row.metric for row in rows)}
    return [_row(row, variants, means[row.metric]) for row in rows]


def _row(row: PublishedFigure, variants: list[str], means: Means) -> tuple[str, ...]:
    unit = row.unit or unit_of(row.metric)
    names = [row.variant] if row.variant in variants else variants
    values = {name: means.get((name, row.workload, row.clients)) for name in names}
    texts = {name: _text(value / _factor(unit), unit) for name, value in values.items() if value is not None}
    parts = texts.values() if names == [row.variant] else (f"{name} {text}" for name, text in texts.items())
    figure = size(row.value) if unit == BYTES else f"{row.value:.12g} {unit}".strip()
    return (row.metric, row.variant, row.workload, str(row.clients), figure, "; ".join(parts) or NOTHING)


def _text(value: float, unit: str) -> str:
    return size(value) if unit == BYTES else f"{count(value)} {unit}".strip()


def unit_of(metric: str) -> str:
    """Return the unit of a quantity whose published row names none: that of its metric."""
    name = metric.partition("/")[0]
    return BYTES if name.endswith("_bytes") else "ms" if name.endswith("_ms") else "s" if name.endswith("_s") else ""


def _factor(unit: str) -> float:
    return IN_BYTES.get(unit.removesuffix("/s"), 1)


def _means(metric: str, measured: MeasuredFigures) -> Means:
    for pattern, find in FINDERS:
        if match := re.fullmatch(pattern, metric):
            return find(measured, *match.groups())
    return {}


def _of_runs(measured: MeasuredFigures, name: str) -> Means:
    column = COLUMNS.get(name)
    if column is None or column not in measured.runs:
        return {}
    ok = measured.runs[measured.runs["outcome"] == "ok"]
    return _by_cell(ok.assign(**{column: ok[column].astype(float)}), column)


def _by_cell(table: pd.DataFrame, column: str) -> Means:
    """Return the means of a column by cell, without those that are missing."""
    means: Means = table.groupby(list(CELL))[column].mean().dropna().to_dict()
    return means


def _of_statement(measured: MeasuredFigures, cache: str, statement: str) -> Means:
    rows = measured.statements
    return _by_cell(rows[(rows["cache"] == cache) & (rows["statement"] == statement)], "value_s")


def _of_rows(measured: MeasuredFigures, statement: str) -> Means:
    rows = measured.statements
    chosen = rows[rows["statement"] == statement]
    return _by_cell(chosen.assign(n_rows=chosen["n_rows"].astype(float)), "n_rows")


def _of_all_files(measured: MeasuredFigures, name: str) -> Means:
    return _of_files(measured.files, name)


def _of_table(measured: MeasuredFigures, what: str, table: str, edge: str) -> Means:
    kind = {"allocated to": "allocated", "file size of": "apparent"}[what]
    parts = measured.files["part"].str.rpartition(".")[2]
    return _of_files(measured.files[parts == table.replace("#P#", "#")], f"{edge}_{kind}_bytes")


def _of_system(measured: MeasuredFigures) -> Means:
    return _of_files(measured.files[measured.files["kind"] == "system"], "after_apparent_bytes")


def _of_files(files: pd.DataFrame, column: str) -> Means:
    if files.empty:
        return {}
    return _by_cell(files.groupby([*CELL, "repetition"])[column].sum(min_count=1).reset_index(), column)


def _of_change_buffer(measured: MeasuredFigures, counter: str) -> Means:
    name = CHANGE_BUFFER_PREFIX + counter.replace(" ", "_")
    return _of_each(measured.ok, lambda run: grown(run.counters.get(name)))


def _of_shown(measured: MeasuredFigures, name: str, column: str) -> Means:
    return _of_each(measured.ok, lambda run: _shown(run, name, column))


def _shown(run: Run, name: str, column: str) -> float | None:
    """Return the value in the last pass."""
    for answer in reversed(run.timed_sql.shown or []):
        names = [column_name.lower() for column_name in answer["columns"]]
        if answer["name"] == name and column in names and answer["rows"]:
            value = answer["rows"][0][names.index(column)]
            return None if value is None else float(value)
    return None


def _of_calls(measured: MeasuredFigures, what: str, name: str) -> Means:
    key = {"calls of": "calls", "time in": "system_s", "errors of": "errors"}[what]
    return _of_each(measured.diagnoses, lambda run: _call(run, name, key))


def _call(run: Diagnosis, name: str, key: str) -> float | None:
    if run.outcome != "ok" or run.tool != "syscalls":
        return None
    return float(sum(call[key] for call in run.diagnosis["calls"] if name in (call["name"], "all")))


def _of_each(runs: Iterable[RunT], value: Callable[[RunT], float | None]) -> Means:
    values = pd.DataFrame([(*run.cell, value(run)) for run in runs], columns=[*CELL, "value"])
    return _by_cell(values.astype({"value": float}), "value")


FINDERS: tuple[tuple[str, Callable[..., Means]], ...] = (
    (f"({COLD}|{WARM})_s/(.+)", _of_statement),
    (r"rows/(.+)", _of_rows),
    (r"shown/(.+)/(.+)", _of_shown),
    (f"({'|'.join(SIZES)})", _of_all_files),
    (r"(allocated to|file size of) \w+/(\w+(?:#P#\w+)?) (before|after)", _of_table),
    (r"size of ibdata1 after the ladder", _of_system),
    (f"change buffer (merges|{'|'.join(f'merged {name}' for name in OPERATIONS)})", _of_change_buffer),
    (r"(calls of|time in|errors of) (\w+)", _of_calls),
    (r"(.+)", _of_runs),
)
