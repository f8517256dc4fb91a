"""Make a report, results/studies/<name>/, from a folder with plain output files of sysbench."""

import argparse
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from scripts.commands.import_logs import imported_tables
from scripts.commands.import_logs.imported_description import in_order, numbered, study_description
from scripts.commands.import_logs.logs import Log, Tree, read_tree, written_texts
from scripts.commands.import_logs.pattern import natural_key
from scripts.commands.import_logs.pattern_file import DEFAULT_PATTERN, read_pattern
from scripts.commands.import_logs.replacing import replacing
from scripts.jobs import collect_runs, compare_variants, export_tables, plot_figures, render_report
from scripts.lib import json_record
from scripts.lib.host.entry import say, user_command
from scripts.lib.host.parallel import in_batches
from scripts.lib.json_record import Json
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import number, plural
from scripts.measure.engine.run_record import Run
from scripts.report.analysis import dictionary

STUDIES = Path("results/studies")
PATTERN_FILE = "import.yaml"
NAME = re.compile(r"[a-z][a-z0-9_.-]*")
MOST_REPORTED, MOST_EXAMPLES = 20, 3
USAGE = "make import LOGS=folder STUDY=name [PATTERN=file.yaml]"


def main(logs: Path, study: str, pattern: Path | None) -> None:
    """Read the logs below a folder, write one record per log, and make tables, figures, report and summary.

    Raises ValueError naming folder, file or key if there is nothing to compare, or if the study's name is taken.
    """
    folder = STUDIES / study
    _accept(logs, study, folder)
    file = pattern or _default(folder)
    rules = read_pattern(file)
    tree = read_tree(logs, rules, without=file, say=say)
    tree.logs = numbered(tree.logs)
    _report_unread(tree)
    if not tree.logs:
        raise ValueError(f"{logs}: none of {plural(_files(tree), 'file')} could be read; {_advice(tree, file)}")
    declared = study_description(study, logs, rules, tree)
    with replacing(folder):
        write_records(folder, logs, declared, tree.logs)
        say(f"[import] {plural(len(tree.logs), 'log')} read; making tables, figures and the page")
        write_report(folder)
    say(f"[import] {_summary(tree)}; {folder / 'report.html'}")


def _files(tree: Tree) -> int:
    return len(tree.logs) + len(tree.unread) + len(tree.left_out)


def _summary(tree: Tree) -> str:
    failed = sum(log.run.outcome != "ok" for log in tree.logs)
    measured = f"{number(len(tree.logs) - failed)} of {plural(_files(tree), 'file')} give a measurement"
    others = {"show a failed or unfinished run": failed, "not read": len(tree.unread), "left out": len(tree.left_out)}
    return ", ".join([measured, *(f"{number(amount)} {what}" for what, amount in others.items() if amount)])


def by_reason(files: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return (reason, files), the most frequent reason first."""
    ordered = sorted(((reason, file) for file, reason in files), key=lambda pair: (pair[0], natural_key(pair[1])))
    groups = [(reason, [file for _, file in several]) for reason, several in groupby(ordered, key=lambda pair: pair[0])]
    return sorted(groups, key=lambda group: -len(group[1]))


def _report_unread(tree: Tree) -> None:
    groups = by_reason(tree.unread)
    for reason, files in groups[:MOST_REPORTED]:
        more = f" and {number(len(files) - MOST_EXAMPLES)} more" if len(files) > MOST_EXAMPLES else ""
        say(f"  not read: {', '.join(files[:MOST_EXAMPLES])}{more}: {reason}")
    if rest := sum(len(files) for _, files in groups[MOST_REPORTED:]):
        say(f"  not read: {plural(rest, 'more file')}, listed in the report")


def _advice(tree: Tree, file: Path) -> str:
    """Return how to make the pattern file fit: paths of files that are output of sysbench."""
    if not tree.unplaced:
        return f"no other file below it is output of `sysbench … run`; {file} states how paths are read"
    shown = "".join(f"\n  {path}" for path in sorted(tree.unplaced, key=natural_key)[:MOST_EXAMPLES])
    return f"{file} states how paths are read: change its line `path:` until it fits them, such as:{shown}"


def _accept(logs: Path, study: str, folder: Path) -> None:
    if not logs.is_dir():
        raise ValueError(f"LOGS={logs}: no such folder; expected one with output files of sysbench: {USAGE}")
    if not NAME.fullmatch(study):
        raise ValueError(f"STUDY={study}: expected a name of small letters, digits, _ . and -, a letter first: {USAGE}")
    description = folder / "study.json"
    measured = description.is_file() and not json_record.read(description).get("imported")
    if measured or Path("studies", f"{study}.yaml").is_file():
        raise ValueError(f"STUDY={study}: a measured study has this name; choose another one for imported logs")


def _default(folder: Path) -> Path:
    file = folder / PATTERN_FILE
    if file.is_file():
        say(f"[import] no PATTERN given: {file} states how paths are read")
    else:
        json_record.write_text(file, DEFAULT_PATTERN)
        say(f"[import] no PATTERN given: wrote {file}, edit it to fit the paths of your logs and start again")
    return file


def write_records(folder: Path, logs: Path, study: ResolvedStudy, logs_read: list[Log]) -> None:
    """Write study.json, runs.txt, and one record and one copy per log."""
    ordered = in_order(logs_read, study)
    by_file: dict[str, list[Log]] = defaultdict(list)
    for log in ordered:
        by_file[log.source.file].append(log)
    written = in_batches(partial(_write_files, folder, logs, study.study), list(by_file.values()))
    if (count := sum(written)) != len(ordered):
        raise ValueError(f"{logs}: {len(ordered) - count} logs changed while they were read; start again")
    os.sync()
    json_record.write_text(folder / "runs.txt", "".join(f"{_run_path(folder, log)}\n" for log in ordered))
    json_record.write(folder / "study.json", json_record.dump(study))


def _write_files(folder: Path, logs: Path, study: str, files: Sequence[list[Log]]) -> list[int]:
    """Write records and copies of the logs of some files, and return how many of each file."""
    return [_write_file(folder, logs, study, file_logs) for file_logs in files]


def _write_file(folder: Path, logs: Path, study: str, file_logs: list[Log]) -> int:
    log_of = {log.source: log for log in file_logs}
    written = 0
    for written, (log, text) in enumerate(written_texts(logs, file_logs[0].source.file, log_of), 1):  # noqa: B007
        run = _run_path(folder, log)
        copy = run.with_name(f"{run.stem}.txt")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text)
        sysbench: Json = {"version": log.run.sysbench.version, "path": None, "sha256": None, "text_file": copy.name}
        _write_record(run, {"study": study, **log.facts, "sysbench": sysbench})
    return written


def _run_path(folder: Path, log: Log) -> Path:
    *cell, repetition = map(str, log.run.key)
    return folder.joinpath("runs", *cell, f"{repetition}.json")


def _write_record(path: Path, facts: Mapping[str, Json]) -> None:
    # Not `record.write`, whose fsync per file takes minutes for 20 000 logs; the caller syncs once.
    if unknown := list(Run.unknown_keys(facts)):
        raise ValueError(f"{path}: {', '.join(unknown)} unknown")
    path.write_text(json_record.json_text({"format": json_record.FORMAT, **facts}) + "\n", encoding="utf-8")


def write_tables(folder: Path) -> None:
    """Make the tables of an imported study."""
    study, tables = folder / "study.json", dictionary.files(folder / "tables")
    collect_runs.main(study, folder / "runs.txt", tables)
    compare_variants.main(study, tables["runs"], tables["executions"], tables)
    imported_tables.write_imported_tables(study, folder / "tables")


def write_report(folder: Path) -> None:
    """Make tables, figures, report.html, summary.md and answer.json of an imported study."""
    write_tables(folder)
    study, runs, figures = (folder / name for name in ("study.json", "runs.txt", "figures"))
    tables = dictionary.files(folder / "tables")
    export_tables.main(study, tables, *(folder / name for name in export_tables.OUTPUTS))
    plot_figures.main(study, tables, figures, processes=len(os.sched_getaffinity(0)))
    page, summary, answer = (folder / name for name in ("report.html", "summary.md", "answer.json"))
    render_report.main(study, runs, tables, figures, page, summary, answer)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.import_logs", description=__doc__)
    parser.add_argument("--logs", type=Path, required=True, help="folder with output files of sysbench")
    parser.add_argument("--study", required=True, help="name of the report: results/studies/<name>")
    default = f"results/studies/<name>/{PATTERN_FILE}"
    parser.add_argument("--pattern", type=Path, help=f"how paths are read; default: {default}")
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
