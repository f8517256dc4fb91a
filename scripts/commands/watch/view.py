"""The progress of a study for a terminal."""

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from scripts.commands.watch.progress import SoFar, StudyProgress
from scripts.lib.failure_reasons import alike
from scripts.lib.vocabulary import MIN_BLOCKS, FailureKind
from scripts.lib.wording import count, duration, interval, listing, missing, plural, ratio
from scripts.measure.engine.run_parts import RunWarning
from scripts.report.analysis.comparison import NOT_MEASURED
from scripts.study.config.loading import Study

PHASES = {
    "sources": "fetching sources",
    "builds": "building",
    "checks": "checking builds",
    "datasets": "loading datasets",
    "profiles": "training",
    "runs": "measuring",
    "report": "writing the report",
}
HEADINGS = {
    "tps": "TPS",
    "p95_ms": "p95",
    "cpu_us_per_tx": "server CPU per transaction",
    "cold_s": "cold time",
    "warm_s": "warm time",
}
LAST_RUNS = 5
LAST_FAILURES = 5


def progress_view(progress: StudyProgress, ratios: list[SoFar], holder: int | None, now: float) -> RenderableType:
    """Return the whole view; `holder` is the process id of a working Snakemake, `now` in seconds since 1970."""
    study = progress.paths.plan.study
    parts = [
        Text.assemble((f"study {study.name}", "bold"), f": {study.declared.title}"),
        _state(progress, holder, now),
        _bar(progress, holder, now),
        Text(),
        *([_ratios(ratios, study)] if ratios else []),
        *([_last_runs(progress)] if progress.rows else []),
        *_warnings(progress),
        *_failures(progress),
    ]
    return Group(*parts)


def phase(progress: StudyProgress, holder: int | None, kind: str | None) -> str:
    """Return the current phase in a few words."""
    if progress.finished():
        return "finished"
    if holder is None:
        begun = any(progress.count(kind)[0] for kind in [*progress.things, "runs"])
        return "not running, unfinished" if begun else "not started"
    return PHASES[kind] if kind else "starting"


def _state(progress: StudyProgress, holder: int | None, now: float) -> RenderableType:
    newest = None if progress.finished() else progress.newest_log()
    grid = Table.grid(padding=(0, 2))
    who = f"Snakemake is process {holder}" if holder else "no Snakemake works here"
    grid.add_row(
        "phase", Text.assemble((phase(progress, holder, newest.kind if newest else None), "bold"), f"  ({who})")
    )
    counts = [(kind, *progress.count(kind)) for kind in progress.things if kind != "report"]
    grid.add_row("made", Text(", ".join(f"{kind} {done} of {planned}" for kind, done, planned in counts if planned)))
    if newest:
        grid.add_row("now" if holder else "last", Text(_name(progress, newest.kind, newest.thing)))
        age_s = max(0.0, now - newest.written_at)
        grid.add_row("", Text(f"{duration(round(age_s))} ago: {newest.line}", "dim", overflow="ellipsis", no_wrap=True))
    return grid


def _name(progress: StudyProgress, kind: str, path: str) -> str:
    if kind == "runs":
        run = progress.paths.runs[path]
        return f"{run.variant}, {run.workload}, {plural(run.clients, 'client')}, repetition {run.repetition}"
    return "report" if kind == "report" else " ".join([kind.removesuffix("s"), *Path(path).parts[2:-1]])


def _bar(progress: StudyProgress, holder: int | None, now: float) -> RenderableType:
    done, planned = progress.count("runs")
    left_s = (planned - done) * progress.run_s()
    text = f"run {done} of {planned}"
    if done < planned:
        text += f", about {duration(round(left_s))} of measuring left"
        if holder and _prepared(progress):
            text += f", ends about {time.strftime('%H:%M', time.localtime(now + left_s))}"
    grid = Table.grid(padding=(0, 2))
    grid.add_row("runs", ProgressBar(total=max(1, planned), completed=done, width=30), text)
    return grid


def _prepared(progress: StudyProgress) -> bool:
    kinds = [kind for kind in progress.things if kind != "report"]
    return all(done == planned for done, planned in map(progress.count, kinds))


def _titled(title: str, headings: tuple[str, ...], rows: Iterable[tuple[RenderableType, ...]]) -> RenderableType:
    table = Table(*headings, box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*row)
    return Group(Text(title, "bold"), table)


def _ratios(ratios: list[SoFar], study: Study) -> RenderableType:
    title = f"ratio to {study.declared.reference} so far, with its 95 % interval from {MIN_BLOCKS} repetitions on"
    cells = {variant: [so_far for so_far in ratios if so_far.variant == variant] for variant in study.arms}
    rows = [
        (variant, *map(_cell, of_variant), _blocks(of_variant[0]))
        for variant, of_variant in cells.items()
        if of_variant
    ]
    metrics = dict.fromkeys(so_far.metric for so_far in ratios)
    return _titled(title, ("variant", *(HEADINGS[metric] for metric in metrics), "blocks"), rows)


def _cell(so_far: SoFar) -> str:
    bounds = "" if missing(so_far.low) else f" ({interval(so_far.low, so_far.high)})"
    return ratio(so_far.ratio) + bounds


def _blocks(so_far: SoFar) -> str:
    return f"{so_far.blocks}" + (f", {so_far.split} split" if so_far.split else "")


def _last_runs(progress: StudyProgress) -> RenderableType:
    headings = ("run", "variant", "workload", "clients", "repetition", "TPS", "p95 ms", "warnings")
    return _titled("last runs", headings, [_run(progress, path) for path in newest(progress, LAST_RUNS)])


def _run(progress: StudyProgress, path: str) -> tuple[RenderableType, ...]:
    row = progress.rows[path]
    names = [str(row[key]) for key in ("run_number", "variant", "workload", "clients", "repetition")]
    if row["outcome"] != "ok":
        return (*names, Text(str(row["outcome"]), "red"), "", "")
    values = {name: row[name] for name in ("tps", "p95_ms", "cold_s", "warm_s")}
    shown = {name: count(value) for name, value in values.items() if isinstance(value, float | int | None)}
    figures = [shown["tps"], shown["p95_ms"]]
    if not missing(row["cold_s"]):
        figures = [f"{shown[f'{cache}_s']} s {cache}" for cache in ("cold", "warm")]
    return (*names, *figures, ", ".join(_codes(progress.warnings[path])))


def newest(progress: StudyProgress, most: int | None = None) -> list[str]:
    """Return the paths of the runs that ended last, newest first."""
    ended = sorted(progress.rows, key=lambda path: progress.rows[path]["ended_at"] or 0, reverse=True)
    return ended[:most]


def _codes(warnings: list[RunWarning]) -> list[str]:
    return [str(warning.code) for warning in warnings if warning.code != NOT_MEASURED]


def _warnings(progress: StudyProgress) -> list[RenderableType]:
    """Return one line per warning of the runs shown: the number of runs that have it, and its newest text."""
    having = Counter(code for warnings in progress.warnings.values() for code in set(_codes(warnings)))
    last = [warning for path in newest(progress, LAST_RUNS) for warning in progress.warnings[path]]
    texts = {str(warning.code): warning.text for warning in reversed(last) if warning.code in having}
    lines = [f"{code} in {having[code]} of {len(progress.rows)} runs: {text}" for code, text in sorted(texts.items())]
    return [Text(f"warning: {line}", "yellow") for line in lines]


def _failures(progress: StudyProgress) -> list[RenderableType]:
    """Return one line per reason, those that are the same but for paths and times as one, the newest last."""
    reasons = {**progress.failed, **progress.unreadable}
    groups = alike(reasons.items(), lambda item: item[1])
    groups.sort(key=lambda group: list(reasons).index(group.things[-1][0]))
    lines = [_failure(*group.things[-1], len(group.things)) for group in groups[-LAST_FAILURES:]]
    if rest := sum(len(group.things) for group in groups[:-LAST_FAILURES]):
        lines.append(f"failed: {rest} more, for other reasons")
    refused = [row for row in progress.rows.values() if row["failure"] in (FailureKind.OPTION, FailureKind.VALUE)]
    if refused:
        who = listing(list(dict.fromkeys(str(row["variant"]) for row in refused)))
        lines.append(f"{who}: the server refuses an option; correct it in the study, since it does so again")
    elif progress.failed:
        lines.append("`make retry` removes failed results, so that the next run makes them again")
    return [Text(line, "red") for line in lines]


def _failure(path: str, reason: str, amount: int) -> str:
    """Return the line of the failures of one reason, the last of which is that of `path`."""
    alike_text = f"{plural(amount, 'result')} alike, the last " if amount > 1 else ""
    return f"failed: {alike_text}{path}: {(reason.splitlines() or [''])[0]}"
