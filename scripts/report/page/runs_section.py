"""The runs for the page: rows, details, commands, server variables, warnings, options that a release renamed."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from scripts.lib.resolved_study import OptionValue, ResolvedStudy
from scripts.lib.wording import NARROW, NOTHING, count, duration, milliseconds, missing, number, percent, plural
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.warnings import THRESHOLDS
from scripts.measure.servers import families
from scripts.report.analysis.columns import Field
from scripts.report.analysis.comparison import warning_set
from scripts.report.analysis.metrics import latency_of
from scripts.report.analysis.run_columns import RUNS
from scripts.report.analysis.run_tables import run_row
from scripts.report.page.document import (
    Cell,
    Fold,
    Heading,
    PageBlock,
    Prose,
    RunList,
    RunView,
    Section,
    Table,
    Verbatim,
    grid,
    sided,
    table_row,
    variant_heads,
    word_heads,
)

MOST_UNFOLDED = 1500
SidedRow = tuple[str, tuple[str, ...]]
SPARK_WIDTH, SPARK_HEIGHT = 240, 36


FIGURES = {"tps": "TPS", "p95_ms": "p95 ms", "cpu_us_per_tx": "CPU µs"}
SQL_FIGURES = {"cold_s": "cold s", "warm_s": "warm s", "duration_s": "in all s"}


def run_head(study: ResolvedStudy) -> tuple[str, ...]:
    """Return the headings of a row's fields; with both kinds of loads, a figure has two names."""
    if figures := log_figures(study):
        return ("variant", "workload", "clients", "rep.", *figures.values(), "warnings")
    kinds = {bool(load.sql) for load in study.workloads.values()}
    sides = [*([FIGURES.values()] if kinds != {True} else []), *([SQL_FIGURES.values()] if True in kinds else [])]
    pairs = (" / ".join(names) for names in zip(*sides, strict=True))
    return ("#", "variant", "workload", "clients", "rep.", "place", *pairs, "warnings")


def log_figures(study: ResolvedStudy) -> dict[str, str]:
    """Return column of runs.csv -> heading of the figures of an imported log; empty for a measured study."""
    if not study.is_imported:
        return {}
    latency = latency_of(study)
    return {"tps": "TPS", latency.name: f"{latency.label.removesuffix(' latency')} {latency.unit}"}


def run_link(path: Path, base: Path) -> str:
    """Return a relative, quoted link from a page in `base` to a file."""
    return quote(os.path.relpath(path, base))


def run_view(run: Run, base: Path | None, unfold: bool, imported: dict[str, str] | None = None) -> RunView:
    """Return one run; `unfold` adds commands, phases, warnings and the per-second line.

    `imported` holds the figures of an imported log, see `log_figures`.

    The links to the run's files are relative to the folder `base`, and empty where it is None.
    """
    row, text_file = run_row(run), run.sysbench.text_file
    shown = FIGURES if missing(row["cold_s"]) else SQL_FIGURES
    figures = tuple(count(_number(row[name])) for name in imported or shown)
    names = ("variant", "workload", "clients", "repetition")
    fields = [row[name] for name in (names if imported else ("run_number", *names, "position"))]
    view = RunView(
        fields=(
            *(NOTHING if missing(field) else str(field) for field in fields),
            *figures,
            ", ".join(sorted(warning_set(str(row["warning_codes"] or "")))),
        ),
        is_ok=row["outcome"] == "ok",
        reason=run.reason or "",
        json_link=run_link(run.path, base) if base and run.path else "",
        text_link=run_link(run.path.parent / text_file, base) if base and run.path and text_file else "",
    )
    if not unfold:
        return view
    commands = tuple((name, shlex.join(map(str, argv))) for name, argv in run.commands.items() if argv)
    return replace(
        view,
        lines=_lines(run, {name: _number(value) for name, value in row.items()}),
        commands=commands,
        warnings=tuple(str(warning.text) for warning in run.warnings),
        spark=spark(run),
        spark_top=count(max(_known_tps(run), default=None)),
    )


def _number(value: Field) -> float | None:
    return value if isinstance(value, int | float) else None


def _lines(run: Run, row: Mapping[str, float | None]) -> tuple[tuple[str, str], ...]:
    phases = ", ".join(f"{name} {duration(seconds)}" for name, seconds in run.phases_s.items())
    cpus = [run.placement.server_cpus, run.client_host.cpus or run.placement.client_cpus]
    places, whose = (
        [",".join(map(str, numbers or [])) for numbers in cpus],
        " of the client host" if run.client_host else "",
    )
    nice = "" if run.nice is None else f"; nice value {run.nice}"
    storage = f"{run.medium.file_system}, an fsync {milliseconds(run.fsync_ms.p50)} ms" if run.medium else ""
    window = f"{duration(row['duration_s'])}, {number(row['transactions'])} transactions"
    window += "".join(
        f", {noun}s unknown" if missing(amount := row[f"{noun}s"]) else f", {plural(int(amount or 0), noun)}"
        for noun in ("error", "reconnect")
    )
    latency = [f"{name} {count(row[key])} ms" for name, key in (("mean", "latency_mean_ms"), ("p50", "p50_ms"))]
    latency += [f"{name} {count(row[f'{name}_ms'])} ms" for name in ("p95", "p99")]
    tick_s = run.sliced.cpu_tick_s
    exact = "" if tick_s is None else f" (the sum exactly, the split in ticks of {number(tick_s * 1e3)} ms)"
    cpu = f"user {count(row['cpu_user_us_per_tx'])} µs, system {count(row['cpu_system_us_per_tx'])} µs per transaction"
    lines = (
        ("window", window if row["transactions"] is not None else ""),
        ("latency", ", ".join(latency) if row["latency_mean_ms"] is not None else ""),
        (
            "server CPU",
            f"{cpu}{exact}; steal {percent(row['steal_share'])}" if row["cpu_us_per_tx"] is not None else "",
        ),
        ("phases", phases),
        ("CPUs", f"server {places[0]}, sysbench {places[1]}{whose}{nice}" if all(places) else ""),
        ("storage", storage),
    )
    return tuple(line for line in lines if line[1])


def _known_tps(run: Run) -> list[float]:
    return [value for value in run.series.tps or [] if not missing(value)]


def spark(run: Run) -> str:
    """Return the points of TPS per second as a line in a box of 240 by 36, from zero up; empty with one point."""
    values = _known_tps(run)
    if len(values) < 2 or not max(values) > 0:
        return ""
    step, scale = SPARK_WIDTH / (len(values) - 1), (SPARK_HEIGHT - 2) / max(values)
    return " ".join(
        f"{second * step:.1f},{SPARK_HEIGHT - 1 - value * scale:.1f}" for second, value in enumerate(values)
    )


def first_ok(records: list[Run], **values: str) -> Run | None:
    """Return the facts of the first ok run with these values, None without one."""
    for run in records:
        if run.outcome == "ok" and all(getattr(run, key) == value for key, value in values.items()):
            return run
    return None


def _command(run: Run, part: str) -> str:
    return shlex.join(map(str, run.commands.get(part) or []))


def server_blocks(study: ResolvedStudy, records: list[Run]) -> Iterator[PageBlock]:
    """Yield server command and option file of every variant, from its first ok run."""
    for name in study.variants:
        if run := first_ok(records, variant=name):
            yield Heading(name, variant=name)
            yield Verbatim(_command(run, "server"))
            if run.option_file:
                yield Fold("Option file", (Verbatim(run.option_file),))


def load_folds(study: ResolvedStudy, records: list[Run]) -> Iterator[Fold]:
    """Yield the commands of each load, from the reference's first ok run."""
    for name in study.workloads:
        run = first_ok(records, variant=study.reference, workload=name)
        if run and (measuring := _command(run, "measure")):
            yield Fold(name, (Verbatim(_command(run, "warmup"), "warm-up"), Verbatim(measuring, "measure")))


def variable_rows(study: ResolvedStudy, records: list[Run]) -> tuple[list[SidedRow], list[tuple[str, str]]]:
    """Return (variables whose values differ between variants, the reference's variables): rows of name and values."""
    runs = {name: first_ok(records, variant=name) for name in study.variants}
    by_variant = {name: run.server_variables() if run else {} for name, run in runs.items()}
    names = sorted(set().union(*by_variant.values()))
    rows = [(name, tuple(str(by_variant[variant].get(name, NOTHING)) for variant in by_variant)) for name in names]
    return [row for row in rows if len(set(row[1])) > 1], sorted(by_variant[study.reference].items())


def only_paths(row: tuple[str, tuple[str, ...]]) -> bool:
    """Return whether all values of a variable are absolute paths: those of a run's own folders always differ."""
    return all(value.startswith("/") for value in row[1])


def warning_rows(records: list[Run]) -> list[tuple[str, str, str, str, str]]:
    """Return (code, sentence, threshold, remedy, runs) of every limit, the most frequent first.

    The sentence is that of the first run beyond the limit; without such a run it is the reason for the limit.
    """
    kinds = Counter(dict.fromkeys(THRESHOLDS, 0))
    examples: dict[str, str] = {code: limit.reason for code, limit in THRESHOLDS.items()}
    for warning in (warning_of_run for run in records for warning_of_run in run.warnings):
        if not kinds[str(warning.code)]:
            examples[str(warning.code)] = str(warning.text)
        kinds[str(warning.code)] += 1
    return [(code, examples[code], *_limit(code), number(amount)) for code, amount in kinds.most_common()]


def _limit(code: str) -> tuple[str, str]:
    limit = THRESHOLDS.get(code)
    if limit is None:
        return NOTHING, NOTHING
    match limit.threshold:
        case str() as wanted:
            return f"not {wanted}", limit.remedy
        case share if share < 1 and not limit.unit:
            return f"above {percent(share, 0) if share else 0}", limit.remedy
    return f"above {limit.threshold:g}{NARROW}{limit.unit}".rstrip(NARROW), limit.remedy


LOOSE = "loose_"  # before the name of an option that a server of the MySQL family need not have


def option_rows(study: ResolvedStudy, records: list[Run]) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return the options that some variant has not under the name written in the study, one field per variant."""
    runs = {name: first_ok(records, variant=name) for name in study.variants}
    by_variant = {name: variant.options for name, variant in study.variants.items()}
    names = dict.fromkeys(name for options in by_variant.values() for name in options)
    options_of_arms = [
        (name, tuple(_option_field(name, by_variant[arm], runs[arm]) for arm in study.variants)) for name in names
    ]
    return [(name.removeprefix(LOOSE), cells) for name, cells in options_of_arms if any(cell.notes for cell in cells)]


def _option_field(name: str, options: Mapping[str, OptionValue], run: Run | None) -> Cell:
    """Return the value of an option on a variant's server; a note says where its name differs or is missing."""
    if run is None or name not in options or run.server.release is None or run.server.family not in families.names():
        return Cell(NOTHING)
    family, release = run.server.family, run.server.release
    variables, plain = run.server_variables(), name.removeprefix(LOOSE)
    module = families.of(family)
    variables_of_option = (
        module.options_named({name: options[name]}, release).keys() - module.options_named({}, release).keys()
    )
    names_there = {variable.removeprefix(LOOSE) for variable in variables_of_option}
    if not names_there & variables.keys() and plain in variables:
        names_there = {plain}  # an option whose variable has kept its older name
    if not names_there or (LOOSE in name and not names_there & variables.keys()):
        return Cell(NOTHING, ("not in this release",), "hole")
    values = [str(variables.get(variable, options[name])) for variable in sorted(names_there)]
    return Cell(", ".join(values), () if plain in names_there else (f"as {', '.join(sorted(names_there))}",))


OPTIONS_TEXT = (
    "Options of the study that a release has under another name, or not at all; the values are those that the server "
    "reports."
)


def command_section(study: ResolvedStudy, records: list[Run]) -> Section:
    """Return command lines, option files and server variables."""
    blocks: list[PageBlock] = [*server_blocks(study, records), Heading("Load"), *load_folds(study, records)]
    if renamed := option_rows(study, records):
        rows = tuple(table_row(Cell(name, is_code=True), *cells) for name, cells in renamed)
        table = Table((*word_heads("option"), *variant_heads(study.variants)), rows)
        blocks += [Heading("Options that not every server has", id="options"), Prose(OPTIONS_TEXT), table]
    blocks += [Heading("Server variables"), *_variable_blocks(study, records)]
    return Section("commands", "Commands and option files", blocks, nav="Commands", is_folded=True)


def _variable_blocks(study: ResolvedStudy, records: list[Run]) -> Iterator[PageBlock]:
    rows, settings = variable_rows(study, records)
    differing, paths = [row for row in rows if not only_paths(row)], [row[0] for row in rows if only_paths(row)]
    if differing:
        yield Prose("These differ between variants.")
        yield sided(("variable", *study.variants), differing)
    else:
        no_paths = " that are no paths" if paths else ""
        yield Prose(f"All recorded server variables{no_paths} have the same values in every variant.")
    if paths:
        yield Prose(f"Paths that differ: {', '.join(paths)}.", "quiet")
    if settings:
        yield Fold(f"All {len(settings)} of {study.reference}", (grid(("variable", "value"), settings, 2),))


def run_section(study: ResolvedStudy, records: list[Run], folder: Path, archive: str) -> Section:
    """Return every run; up to MOST_UNFOLDED runs carry the details that their rows unfold to.

    Links are relative to `folder`; where the files lie in `archive`, the only link is to it.
    """
    unfold, imported = len(records) <= MOST_UNFOLDED, study.is_imported
    order = "By workload, clients, variant and repetition." if imported else "In the order of measuring."
    details = "and warnings" if imported else "phases, warnings and command lines"
    text = f"{order} A row unfolds to its TPS per second{'' if imported else ','} {details}."
    if not unfold:
        text += " There are too many runs to unfold on one page: their files have these details."
    link = Markup(' The files of all runs, sysbench\'s text and the raw facts, lie in <a href="{0}">{0}</a>.')
    figures = log_figures(study)
    views = [run_view(run, None if archive else folder, unfold, figures) for run in records]
    introduction = Prose(Markup("{}{}").format(text, link.format(archive) if archive else ""), "quiet")
    name = "Every log" if imported else "Every run"
    runs = RunList(run_head(study), views, "logs" if imported else "")
    return Section("runs", name, (introduction, runs), nav=name, is_folded=True)


MEANINGS = {
    "study": "name of the report",
    "variant": "variant, by the path of the log",
    "workload": "name of the load, by the path of the log",
    "clients": "concurrent connections: threads of sysbench",
    "repetition": "number of the log in its cell, from 1",
    "outcome": "ok, failed (no measurement), or missing (no log)",
    "reason": "why there is no measurement",
    "sysbench_version": "version of sysbench",
    "started_at": "when the call began, by the date of its log, seconds since 1970",
    "ended_at": "when the call ended, by the date of its log, seconds since 1970",
    "duration_s": "length of the whole call, seconds",
    "transactions": "transactions of the whole call, or events where there is none",
    "tps": "transactions over the length of the call",
    "qps": "queries over the length of the call",
    "latency_mean_ms": "mean latency, milliseconds",
    "p50_ms": "50th percentile of latency, as printed or from the histogram, milliseconds",
    "p95_ms": "95th percentile of latency, as printed or from the histogram, milliseconds",
    "p99_ms": "99th percentile of latency, as printed or from the histogram, milliseconds",
    "errors": "ignored errors of the whole call; before sysbench 1.0 deadlocks",
    "reconnects": "reconnects of the whole call",
    "interval_cv": "standard deviation of TPS of the intervals over their mean: the spread within the call",
    "rise": "log of TPS in the second half of the intervals over the first half",
    "warnings": "number of warnings about the log",
    "warning_codes": "codes of these warnings, separated by ;",
    "file": "the record of the log",
    "log": "the log, below the folder of the logs",
}


def columns_of(study: ResolvedStudy, runs: pd.DataFrame) -> dict[str, str]:
    """Return name -> meaning of the columns of runs.csv, of an import of those that some log fills."""
    if not study.is_imported:
        return {column.name: column.meaning for column in RUNS}
    filled = [column for column in RUNS if runs[column.name].notna().any() and column.name != "block"]
    return {column.name: MEANINGS.get(column.name, column.meaning) for column in filled}
