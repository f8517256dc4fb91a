"""Make tables of the records of runs; their columns are declared in `run_columns`."""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd

from scripts.lib.json_record import file_sha256, write_text
from scripts.lib.json_record import read as read_json
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.visible import csv_cell, csv_text
from scripts.lib.vocabulary import BLOCK_FILE, RUN
from scripts.measure.engine import run_record
from scripts.measure.engine.run_record import Run
from scripts.measure.sql.times import Execution, common_totals_s
from scripts.report.analysis.columns import Row
from scripts.report.analysis.dictionary import TEXT_COLUMNS
from scripts.report.analysis.metrics import COUNTERS
from scripts.report.analysis.run_columns import (
    COUNTER_SERIES,
    EDGES,
    FILES,
    OPERATIONS,
    RUN_COLUMNS,
    RUNS,
    SERIES,
    block_name,
)

# Variant, workload, clients, repetition and block.
RunKey = tuple[str, str, int, int, str]
# Keys of a run's record that no table needs: 10 000 whole records take a gigabyte.
LARGE = ("variables", "option_file", "histogram", "engine_report")


def listed(path: Path) -> list[Path]:
    """Return the paths that a list names, one per line."""
    return [Path(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_records(paths: Iterable[Path], without: Collection[str] = ()) -> Iterator[Run]:
    """Yield the records of runs, `without` some of their keys."""
    return (run_record.read(path, without) for path in paths)


def demand_unaltered(paths: Iterable[Path]) -> None:
    """Raise ValueError naming a run's record that is not the one its block's record lists by digest.

    Runs of imported logs have no such record beside them, nor have those of a block that is being written.
    """
    for folder, files in groupby(sorted(paths), key=lambda path: path.parent):
        if not (block := folder / BLOCK_FILE).exists():
            continue
        arms = read_json(block)["arms"]
        for file in files:
            expected, sha256 = arms.get(file.stem, {}).get("sha256", {}).get("json"), file_sha256(file)
            if sha256 != expected:
                raise ValueError(
                    f"{file}: has sha256 {sha256}, expected {expected}, which {block} lists: it was altered after it "
                    f"was measured; remove the folder {folder} to measure the block again"
                )


def run_row(run: Run) -> Row:
    """Return the row of runs.csv for a run."""
    return {column.name: column.value(run) for column in RUNS}


def missing_rows(study: ResolvedStudy, measured: set[RunKey]) -> list[Row]:
    """Return one row per planned run that has no record: a hole must be seen.

    `measured` holds the runs that have one.
    """
    order = study.order
    names: Sequence[str | None] = study.blocks or [None] * len(order)
    planned = [
        (variant, *block[:3], block_name(name, *block[:3]))
        for block, name in zip(order, names, strict=True)
        for variant in block.arms
    ]
    reason = "not measured yet" if study.partial else "no log" if study.is_imported else "no run file"
    hole = {"study": study.study, "outcome": "missing", "reason": reason}
    return [
        {**hole, **dict(zip((*RUN, "block"), run, strict=True)), "run_number": number}
        for number, run in enumerate(planned, start=1)
        if run not in measured
    ]


def collect(study: ResolvedStudy, records: Iterable[Run]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables (runs, series).

    Raises ValueError when two records describe the same run of a block or a run belongs to no variant of the study.
    """
    rows, series, files = list[Row](), list[Row](), dict[RunKey, Path | None]()
    timed: dict[str | None, list[tuple[Row, list[Execution]]]] = {}
    for run in records:
        if (key := (*run.key, block_name(run.block, *run.key[1:]))) in files:
            raise ValueError(f"{run.path} and {files[key]} both describe run {key}; expected one file a run")
        if run.variant not in study.variants:
            raise ValueError(f"{run.path}: variant {run.variant!r}, expected one of {', '.join(study.variants)}")
        files[key] = run.path
        rows.append(run_row(run))
        if run.timed_sql:
            timed.setdefault(run.workload, []).append((rows[-1], run.timed_sql.executions or []))
        series += series_rows(run)
    for several in timed.values():
        totals = common_totals_s([executions for _, executions in several])
        for (row, _), columns in zip(several, totals, strict=True):
            row |= columns
    rows += missing_rows(study, set(files))
    runs = pd.DataFrame(rows, columns=RUNS.names).sort_values(["run_number", *RUN, "block"], ignore_index=True)
    return runs, pd.DataFrame(series, columns=SERIES.names)


def run_names(run: Run) -> Row:
    """Return the columns that name the run, with which each row of the other tables begins."""
    return {column.name: column.value(run) for column in RUN_COLUMNS}


def series_rows(run: Run) -> list[Row]:
    """Return one row per second of a run's per-second reports."""
    if not run.series:
        return []
    names = SERIES.names[len(RUN_COLUMNS) :]
    rows = zip(*(getattr(run.series, name) for name in names), strict=True)
    return [{**run_names(run), **dict(zip(names, row, strict=True))} for row in rows]


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table under a temporary name, then rename; missing values are empty fields.

    A text that a spreadsheet would take for a formula has a `'` before it, which `read_csv` takes off again.
    """
    guarded = _replaced(frame, csv_cell)
    text = guarded.to_csv(index=False)
    # Python's writer leaves a lone carriage return without quotes, and readers begin a new line there.
    write_text(path, guarded.to_csv(index=False, quoting=csv.QUOTE_ALL) if "\r" in text else text)


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table that `write_csv` wrote; only an empty field is missing, so that a variant may be called `nan`."""
    types = dict.fromkeys(TEXT_COLUMNS, str)
    table = _replaced(pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types), csv_text)
    # The parser makes a block of memory per column; the copy joins them, and pandas does not warn of their number.
    return table.copy()


def _replaced(frame: pd.DataFrame, text_of: Callable[[str], str]) -> pd.DataFrame:
    """Return a table with its texts replaced; each different text is looked at once."""
    replaced = {}
    for name, column in frame.items():
        if not pd.api.types.is_numeric_dtype(column):
            texts = {text: text_of(text) for text in column.unique() if isinstance(text, str)}
            if changed := {text: other for text, other in texts.items() if text != other}:
                replaced[name] = column.map(lambda value, changed=changed: changed.get(value, value))
    return frame.assign(**replaced)


def sample_table(records: Iterable[Run]) -> pd.DataFrame:
    """Return counters.csv: one row per reading of the counters, of runs with `series`.

    Raises ValueError naming a counter that has no column.
    """
    frames = [_sample_rows(run) for run in records if run.counter_series]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COUNTER_SERIES.names)


def _sample_rows(run: Run) -> pd.DataFrame:
    samples = pd.DataFrame(run.counter_series)
    if unknown := set(samples) - set(COUNTER_SERIES.names):
        raise ValueError(f"counter_series: {', '.join(sorted(unknown))} unknown, expected {', '.join(COUNTERS)}")
    return samples.assign(**run_names(run)).reindex(columns=COUNTER_SERIES.names)


def file_table(records: Iterable[Run]) -> pd.DataFrame:
    """Return files.csv: one row per part of each run's data directory, empty fields where it did not exist."""
    return pd.DataFrame([row for run in records for row in _file_rows(run)], columns=FILES.names)


def _file_rows(run: Run) -> Iterator[Row]:
    sides = {edge: getattr(run.files, edge) for edge in EDGES}
    for part in sorted({*run.files.before, *run.files.after}):
        present = {edge: side[part] for edge, side in sides.items() if part in side}
        sizes = {
            f"{edge}_{name}": size
            for edge, files in present.items()
            for name, size in files.values().items()
            if name != "kind"
        }
        yield {**run_names(run), "part": part, "kind": next(iter(present.values())).kind, **sizes}


def operation_table(records: Iterable[Run]) -> pd.DataFrame:
    """Return operations.csv: one row per run and operation, for loads whose script records operations separately."""
    rows = [
        {**run_names(run), "operation": name, **operation.values()}
        for run in records
        for name, operation in run.operations.items()
    ]
    return pd.DataFrame(rows, columns=OPERATIONS.names)
