"""Make a report, results/studies/<name>/, from a folder with plain output files of sysbench."""

import argparse
import re
import shutil
from pathlib import Path
from typing import Any

from scripts import record
from scripts.commands.import_logs import logs as import_logs_logs
from scripts.commands.import_logs import tables as import_logs_tables
from scripts.commands.import_logs.logs import Log, Pattern, read_tree
from scripts.host.entry import say, user_command
from scripts.jobs import collect_runs, compare_variants, export_tables, plot_figures, render_report
from scripts.measure import record as run_record
from scripts.vocabulary import AA
from scripts.wording import listing, plural

STUDIES = Path("results/studies")
PATTERN_FILE = "import.yaml"
NAME = re.compile(r"[a-z][a-z0-9_.-]*")
MOST_REPORTED = 20


def main(logs: Path, study: str, pattern: Path | None) -> None:
    """Read the logs below a folder, write one record per log, and make tables, figures, report and summary.

    Raises ValueError naming folder, file or key if there is nothing to compare, or if the study's name is taken.
    """
    folder = STUDIES / study
    _accept(logs, study, folder)
    file = pattern or _default(folder)
    rules = import_logs_logs.read_pattern(file)
    found, unread = read_tree(logs, rules, without=file)
    for name, reason in unread[:MOST_REPORTED]:
        say(f"  not read: {name}: {reason}")
    if len(unread) > MOST_REPORTED:
        say(f"  not read: {len(unread) - MOST_REPORTED} more")
    if not found:
        raise ValueError(
            f"{logs}: none of {plural(len(unread), 'file')} could be read; {file} states how paths are read"
        )
    declared = study_description(study, logs, rules, found, unread)
    write_records(folder, logs, declared, found)
    write_report(folder)
    say(f"[import] {plural(len(found), 'log')} read, {len(unread)} not; {folder / 'report.html'}")


def _accept(logs: Path, study: str, folder: Path) -> None:
    if not logs.is_dir():
        raise ValueError(f"LOGS={logs}: no such folder; expected one with output files of sysbench")
    if not NAME.fullmatch(study):
        raise ValueError(f"STUDY={study}: expected a name of small letters, digits, _ . and -, a letter first")
    known = folder / "study.json"
    measured = known.is_file() and not record.read(known).get("imported")
    if measured or Path("studies", f"{study}.yaml").is_file():
        raise ValueError(f"STUDY={study}: a measured study has this name; choose another one for imported logs")


def _default(folder: Path) -> Path:
    file = folder / PATTERN_FILE
    if file.is_file():
        say(f"[import] no PATTERN given: {file} states how paths are read")
    else:
        record.write_text(file, import_logs_logs.DEFAULT_PATTERN)
        say(f"[import] no PATTERN given: wrote {file}, edit it to fit the paths of your logs and start again")
    return file


def study_description(
    study: str, logs: Path, rules: Pattern, found: list[Log], unread: list[tuple[str, str]]
) -> dict[str, Any]:
    """Return the description of the study, as a measured one has it; keys that logs cannot fill are empty or None.

    Raises ValueError if the reference has no log, if there is no other variant, or if a variant is called `aa`.
    """
    facts = [log.facts for log in found]
    variants = _variants(facts, rules.reference)
    clients = sorted({run["clients"] for run in facts})
    unknown = ("seed", "campaign", "warmup_s", "measure_s", "placement", "published")
    read = {"folder": logs.name, "files": len(found), "unread": unread, "pattern": rules.written, "dates": rules.date}
    return {
        "study": study,
        "title": rules.title or f"Imported logs: {study}",
        "question": rules.question or f"How do {listing(variants[1:])} compare with {rules.reference}?",
        "reference": rules.reference,
        "clients": clients,
        "repetitions": max(run["repetition"] for run in facts),
        **dict.fromkeys(unknown),
        "variants": {name: {"server": None, "build": None, "options": {}, "storage": None} for name in variants},
        "workloads": {name: {} for name in sorted({run["workload"] for run in facts})},
        **{key: {} for key in ("datasets", "trainings", "builds", "trained_on")},
        "config_text": rules.text,
        "order": [],
        "imported": read,
    }


def _variants(facts: list[dict[str, Any]], reference: str) -> list[str]:
    variants = sorted({run["variant"] for run in facts}, key=lambda name: (name != reference, name))
    if reference not in variants:
        raise ValueError(f"reference: {reference!r} has no log, expected one of {', '.join(variants)}")
    if len(variants) < 2:
        raise ValueError(f"all logs are of variant {reference!r}, expected another one to compare it with")
    if AA in variants:
        raise ValueError(f"variant {AA!r}: this name is reserved for the reference measured twice; rename the folder")
    return variants


def write_records(folder: Path, logs: Path, declared: dict[str, Any], found: list[Log]) -> None:
    """Write study.json, runs.txt, and one record and one copy per log; remove those of an earlier import."""
    for old in ("runs", "tables", "figures"):
        shutil.rmtree(folder / old, ignore_errors=True)
    paths = []
    for log in found:
        facts = log.facts
        path = folder.joinpath("runs", *(str(facts[key]) for key in ("variant", "workload", "clients", "repetition")))
        run, text = path.with_name(f"{path.name}.json"), path.with_name(f"{path.name}.txt")
        text.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(logs / log.file, text)
        sysbench = {**facts["sysbench"], "text_file": text.name}
        run_record.write(run, {"study": declared["study"], **facts, "sysbench": sysbench})
        paths.append(run)
    record.write_text(folder / "runs.txt", "".join(f"{path}\n" for path in sorted(paths)))
    record.write(folder / "study.json", declared)


def write_tables(folder: Path) -> None:
    """Make the tables of an imported study."""
    study, tables = folder / "study.json", folder / "tables"
    collect_runs.main(study, folder / "runs.txt", tables)
    compare_variants.main(study, tables)
    import_logs_tables.write_imported_tables(study, tables)


def write_report(folder: Path) -> None:
    """Make tables, figures, report.html and summary.md of an imported study."""
    write_tables(folder)
    export_tables.main(folder / "study.json", folder / "tables")
    study, runs, tables, figures = (folder / name for name in ("study.json", "runs.txt", "tables", "figures"))
    plot_figures.main(study, tables, figures)
    render_report.main(study, runs, tables, figures, folder / "report.html", folder / "summary.md")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, required=True, help="folder with output files of sysbench")
    parser.add_argument("--study", required=True, help="name of the report: results/studies/<name>")
    parser.add_argument(
        "--pattern", type=Path, help=f"how paths are read; default: results/studies/<name>/{PATTERN_FILE}"
    )
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
