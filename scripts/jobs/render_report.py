"""Render report.html, summary.md and answer.json of a study from its tables, figures and records."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scripts.lib.build_records import Audit, BuildFacts, Check, DatasetFacts, Proofs, SourceFacts, TrainedProfile
from scripts.lib.host import entry
from scripts.lib.json_record import RecordPart, read_part, write_text
from scripts.lib.resolved_study import read_study
from scripts.measure.engine.run_record import Run, read_diagnosis
from scripts.report.analysis import dictionary
from scripts.report.analysis.run_tables import LARGE, listed, read_csv, read_records
from scripts.report.page.evidence import Evidence
from scripts.report.page.figures.naming import figure_names
from scripts.report.page.render import render_markdown, render_page
from scripts.report.page.runs_section import MOST_UNFOLDED
from scripts.report.page.study_report import StudyReport

# Kinds of records beside those of runs.
RECORDS = ("facts", "audits", "checks", "proofs", "profiles", "sources", "datasets", "diagnoses")
TABLES = (
    "runs", "comparisons", "cells", "overall", "overall_unflagged", "calibration", "relinked", "ladder", "bounds",
    "files", "factors", "effects", "statements", "against", "operations",
)  # fmt: skip
# Large keys of records. The page shows them for one run per variant, and `series` for runs that unfold.
BULKY = (*LARGE, "counter_series")


def main(
    study: Path,
    runs_list: Path,
    tables: Mapping[str, Path],
    figures: Path,
    output: Path,
    summary: Path,
    answer: Path,
    archive: str = "",
    **records: list[Path],
) -> None:
    """Inputs: `study`, `runs_list`, `tables`, `figures`, `records`. Outputs: `output`, the page, `summary`, `answer`.

    `records` holds the paths of the records per kind in RECORDS; a kind that is missing has no records. `summary` is a
    text for a pull request, `answer` is for programs. Links to run files are relative to the folder of `output`; if
    `archive`, a path relative to it too, is given, the page links to this file instead.
    """
    declared = read_study(study)
    names = (*TABLES, *(dictionary.IMPORTED if declared.is_imported else ()))
    tables_by_name = {name: read_csv(tables[name]) for name in names}
    files = {kind: records.get(kind, []) for kind in RECORDS}
    evidence = Evidence(
        study=declared,
        tables=tables_by_name,
        records=list(_lean(listed(runs_list))),
        facts=_parts(BuildFacts, files["facts"]),
        audits=_parts(Audit, files["audits"]),
        checks=_parts(Check, files["checks"]),
        proofs=_parts(Proofs, files["proofs"]),
        profiles=_parts(TrainedProfile, files["profiles"]),
        sources=_parts(SourceFacts, files["sources"]),
        datasets=_parts(DatasetFacts, files["datasets"]),
        diagnoses=list(map(read_diagnosis, files["diagnoses"])),
        figures=_read_figures(figures, figure_names(declared, len(tables_by_name["factors"]) > 0)),
        folder=output.parent,
        archive=archive,
    )
    report = StudyReport(evidence)
    report.answer.write(answer)
    write_text(summary, render_markdown("summary.md.j2", {"summary": report.summary()}))
    write_text(output, render_page(report.page()))


def _parts(kind: type[RecordPart], files: Iterable[Path]) -> list[RecordPart]:
    return [read_part(kind, file) for file in files]


def _read_figures(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: (folder / f"{name}.svg").read_text(encoding="utf-8") for name in names}


def _lean(files: list[Path]) -> Iterator[Run]:
    """Yield the runs without the keys that the page does not show: 10 000 whole records would take a gigabyte."""
    dropped = (*BULKY, "series") if len(files) > MOST_UNFOLDED else BULKY
    shown_variants = set()
    for run in read_records(files, without=dropped):
        if run.variant in shown_variants:
            yield run
            continue
        if run.outcome == "ok":
            shown_variants.add(run.variant)
        yield from read_records([run.path] if run.path else [])


if __name__ == "__main__":
    records = dict.fromkeys(RECORDS, entry.FILES)
    paths = ("study", "runs_list", "figures", "output", "summary", "answer")
    entry.run(main, __doc__, *paths, tables=entry.TABLES, **records)
