"""The progress of a study, from its files: results made, figures of the runs, the log written last."""

import os
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pandas as pd

from scripts.lib import json_record
from scripts.lib.host.outcome import has_failed
from scripts.lib.vocabulary import MIN_BLOCKS, PairStatus
from scripts.measure.engine.run_parts import RunWarning
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import run_tables
from scripts.report.analysis.columns import Row
from scripts.report.analysis.comparison import Terms, compare
from scripts.report.analysis.metrics import SCRIPT
from scripts.report.analysis.repetition_pace import row_s
from scripts.report.analysis.run_columns import RUNS
from scripts.study.config.run_time import stated_s
from scripts.study.plan.schedule import Schedule

# Runs are measured in a known order, so the next ones to appear are among these.
LOOKAHEAD = 8
TAIL_BYTES = 4096
RUN_LOGS = (".log", ".server.log", ".load.txt", ".warmup.txt")
REPORT_RULES = ("describe_study", "collect_runs", "compare_variants", "plot_figures", "render_report")


@dataclass(frozen=True)
class NewestLog:
    """The newest log of an unfinished result: kind and path of the result, time (s since 1970), last line."""

    kind: str
    thing: str
    written_at: float
    line: str


class StudyProgress:
    """The results of a study that exist. A record is read once, and again only after it changes."""

    def __init__(self, paths: Schedule) -> None:
        self.paths = paths
        self.things = expected_s(paths)
        self.rows: dict[str, Row] = {}
        self.warnings: dict[str, list[RunWarning]] = {}
        self.failed: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}
        self._made: dict[str, int] = {}

    def look(self, everything: bool) -> bool:
        """Read new records, and return whether there were any.

        With `everything`, look at each planned path; else only at the next few runs and at missing results.
        """
        runs = list(self.paths.runs) if everything else self._next_runs()
        others = [path for things in self.things.values() for path in things if everything or path not in self._made]
        changed = [self._changed(path) for path in [*others, *runs]]
        return any(changed)

    def _next_runs(self) -> list[str]:
        return list(islice((path for path in self.paths.runs if path not in self._made), LOOKAHEAD))

    def _changed(self, path: str) -> bool:
        seen_ns = self._made.get(path)
        try:
            changed_ns = Path(path).stat().st_mtime_ns
        except FileNotFoundError:
            self._forget(path)
            return seen_ns is not None
        if changed_ns == seen_ns:
            return False
        self._forget(path)
        self._made[path] = changed_ns
        if path.endswith(".json"):
            self._read(path)
        return True

    def _forget(self, path: str) -> None:
        for by_path in (self._made, self.rows, self.warnings, self.failed, self.unreadable):
            by_path.pop(path, None)

    def _read(self, path: str) -> None:
        try:
            facts = json_record.read(Path(path))
            run = Run.of({**facts, "path": Path(path)}) if path in self.paths.runs else None
        except (OSError, ValueError, TypeError) as error:
            self.unreadable[path] = str(error)
            return
        if has_failed(facts):
            self.failed[path] = str(facts.get("reason"))
        if run:
            self.rows[path] = run_tables.run_row(run)
            self.warnings[path] = run.warnings

    def count(self, kind: str) -> tuple[int, int]:
        """Return the numbers (made, planned) of one kind of result, such as `builds` or `runs`."""
        planned = self.paths.runs if kind == "runs" else self.things[kind]
        return sum(path in self._made for path in planned), len(planned)

    def finished(self) -> bool:
        """Return whether all results exist and the report is newer than every run."""
        if any(done < planned for done, planned in map(self.count, [*self.things, "runs"])):
            return False
        report = next(iter(self.things["report"]))
        return self._made[report] >= max((self._made[path] for path in self.paths.runs), default=0)

    def run_s(self) -> float:
        """Return the seconds that an ok run works; before the first one, those stated in the config."""
        working_s = [runs_s for row in self.rows.values() if row["outcome"] == "ok" and (runs_s := row_s(row)) > 0]
        return statistics.fmean(working_s) if working_s else stated_s(self.paths.plan.study)

    def newest_log(self) -> NewestLog | None:
        """Return the newest log of unfinished results, None if there is none."""
        logs = [*self._missing_logs(), *self._run_logs()]
        written = [(stamp, *log) for log in logs if (stamp := written_at(log[-1])) is not None]
        if not written:
            return None
        stamp, kind, thing, log = max(written)
        return NewestLog(kind, thing, stamp, last_line(Path(log)))

    def _missing_logs(self) -> Iterator[tuple[str, str, str]]:
        for kind, things in self.things.items():
            for path, logs in things.items():
                if path not in self._made or (kind == "report" and not self.finished()):
                    yield from ((kind, path, log) for log in logs)

    def _run_logs(self) -> Iterator[tuple[str, str, str]]:
        name = self.paths.plan.study.name
        for path in self._next_runs():
            block, _, arm = path.removeprefix(f"{self.paths.study}/blocks/").removesuffix(".json").rpartition("/")
            log = f"results/logs/measure_block/{name}/{block}"
            logs = [f"{log}.log", *(f"{log}.{arm}{ending}" for ending in RUN_LOGS)]
            yield from (("runs", path, log) for log in [*logs, path.removesuffix(".json") + ".txt"])


def expected_s(paths: Schedule) -> dict[str, dict[str, list[str]]]:
    """Return kind -> record -> logs of the results a study needs besides its runs, in the order of making."""
    plan, name = paths.plan, paths.plan.study.name
    builds = {**paths.stages, **paths.builds}
    rules = {folder: plan.stages.of(build).kind.rule for folder, (_, build) in builds.items()}
    report = f"{paths.study}/report.html"
    return {
        "sources": {
            paths.source(server): [f"results/logs/fetch_source/{Path(paths.source(server)).parent.name}.log"]
            for server in sorted({server for server, _ in builds.values()})
        },
        "builds": {f"{folder}/identity.json": [_log(rules[folder], folder)] for folder in builds},
        "checks": {
            check: [_log(rule, str(Path(check).parent)) for rule in ("answer_statements", "compare_answers")]
            for check in paths.checks
        }
        | {audit: [_log("audit_build", str(Path(audit).parent))] for audit in paths.audits},
        "datasets": {
            f"{folder}/dataset.json": [log := _log("load_dataset", folder), f"{log.removesuffix('.log')}.load.txt"]
            for folder in paths.datasets
        },
        "profiles": {
            f"{folder}/profile.json": _training_logs(folder, plan.study.declared.trainings[training].workloads)
            for folder, (_, training, _) in paths.profiles.items()
        },
        "report": {report: [f"results/logs/{rule}/{name}.log" for rule in REPORT_RULES]},
    }


def _log(rule: str, folder: str) -> str:
    return f"results/logs/{rule}/{'/'.join(Path(folder).parts[-2:])}.log"


def _training_logs(folder: str, workloads: Iterable[str]) -> list[str]:
    log = _log("train_server", folder)
    return [log, *(f"{log.removesuffix('.log')}-{workload}.txt" for workload in workloads)]


def written_at(log: str) -> float | None:
    """Return the time of a log's last write in seconds since 1970, None if there is no such file."""
    try:
        return Path(log).stat().st_mtime
    except FileNotFoundError:
        return None


def last_line(log: Path) -> str:
    """Return the last line of a log that is not blank, without control characters."""
    with log.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = stream.read().decode(errors="replace").replace("\r", "\n").split("\n")
    shown = ("".join(sign for sign in line if sign.isprintable()).strip() for line in reversed(lines))
    return next(filter(None, shown), "")


SHOWN = ("tps", "p95_ms", "cpu_us_per_tx")


@dataclass(frozen=True)
class SoFar:
    """A variant's ratio in one metric over `blocks` blocks; the bounds are NaN under 5 blocks in some cell."""

    variant: str
    metric: str
    ratio: float
    low: float
    high: float
    blocks: int
    split: int


def ratios_so_far(rows: Iterable[Row], reference: str, wider: float = 1.0) -> list[SoFar]:
    """Return the ratios that a report of these rows of runs.csv would have, for `SHOWN` and for timed SQL.

    The ratio is the geometric mean over cells of each cell's mean over blocks, with the interval of
    `scripts.report.analysis.comparison`, `wider` times as wide. After the last run, both equal those of the report.
    """
    runs = pd.DataFrame(list(rows), columns=RUNS.names)
    if not (runs["variant"] == reference).any():
        return []
    timed = [name for name in SCRIPT if runs[name].notna().any()]
    metrics = [*(SHOWN if not timed or runs["tps"].notna().any() else ()), *timed]
    scripts = runs.loc[runs[list(SCRIPT)].notna().any(axis=1), "workload"].unique()
    compared = compare(runs, Terms(reference, tuple(metrics), tuple(scripts), wider=wider))
    split = compared.judged["status"].eq(PairStatus.SPLIT).groupby(compared.judged["variant"]).sum()
    return [_so_far(row, int(split[row["variant"]])) for _, row in compared.overall.iterrows()]


def _so_far(row: pd.Series, split: int) -> SoFar:
    enough = row["n_blocks_least"] >= MIN_BLOCKS
    low, high = (row[bound] if enough else float("nan") for bound in ("ratio_low", "ratio_high"))
    return SoFar(row["variant"], row["metric"], row["ratio"], low, high, row["n_pairs"], split)
