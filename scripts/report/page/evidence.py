"""Everything that the report of a study is made of, what it answers, and sentences about it as a whole."""

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from scripts.lib.build_records import Audit, BuildFacts, Check, DatasetFacts, Proofs, SourceFacts, TrainedProfile
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import duration, plural
from scripts.measure.engine.run_record import Diagnosis, Run
from scripts.report.analysis import held_out
from scripts.report.analysis.expectations import judged_expectations, word_of
from scripts.report.analysis.levels import cells_of
from scripts.report.analysis.metrics import METRICS
from scripts.report.page import (
    build_findings,
    effects_section,
    first_screen,
    imported_answers,
    machine_section,
)
from scripts.report.page.results import Results
from scripts.report.page.study_answer import ESTABLISHED, JudgedExpectation, RatioRow, StudyAnswer
from scripts.report.page.verdict import study_answer


@dataclass(frozen=True)
class Evidence:
    """Everything a report is made of.

    `tables` holds the tables of `render_report.TABLES` by name, `records` the records of runs,
    `figures` SVG by name. `folder` is that of the page: links to the files of runs are relative to it. `archive` names
    the archive that holds these files instead, relative to `folder`; it is empty where they lie unpacked.
    """

    study: ResolvedStudy
    tables: dict[str, pd.DataFrame]
    records: list[Run]
    facts: list[BuildFacts]
    audits: list[Audit]
    checks: list[Check]
    proofs: list[Proofs]
    profiles: list[TrainedProfile]
    sources: list[SourceFacts]
    datasets: list[DatasetFacts]
    diagnoses: list[Diagnosis]
    figures: dict[str, str]
    folder: Path
    archive: str = ""

    @property
    def built(self) -> build_findings.Built:
        """The records about builds."""
        return build_findings.Built(
            self.facts,
            [audit for audit in self.audits if audit.has_counts],
            self.checks,
            [proof for record in self.proofs for proof in record.proofs],
            [build for record in self.proofs for build in record.foreign_flags],
        )


def answer_of(evidence: Evidence, shown: Results, split: Mapping[str, held_out.Split]) -> StudyAnswer:
    """Return what the study answers: in words, in ratios, and what to doubt."""
    study, tables, built = evidence.study, evidence.tables, evidence.built
    lost = build_findings.lost_profiles(study, built) | build_findings.failure_reasons(study, built)
    if study.is_imported:
        answers, answer, bad, plain = imported_answers.first_answers(study, tables)
    else:
        answers = study_answer(study, tables, lost, split)
        answer = first_screen.answer_sentence(study, tables, answers)
        bad, plain = first_screen.doubts(study, tables, answers)
    judged = list(judged_expectations(study, tables))
    return StudyAnswer(
        study=study.study,
        title=study.title,
        question=study.question,
        is_partial=study.partial,
        warnings=list(filter(None, (partial_sentence(study, tables["runs"]), effects_section.scaled_sentence(study)))),
        answer=answer,
        doubts=bad,
        powers=plain,
        machine=first_screen.machine_line(study, evidence.records, evidence.sources, evidence.datasets),
        running=machine_section.running_sentences(evidence.records),
        reference=study.reference,
        quantities=shown.heads,
        rows=[RatioRow(row.variant, row.label, list(row.fields)) for row in shown.rows],
        has_verdicts=not study.is_imported,
        variants=answers,
        word=word_of(judged),
        expectations=[JudgedExpectation(expectation.text, expectation.state) for expectation in judged],
    )


def caption(study: ResolvedStudy, shown: Results) -> str:
    """Return what the marks of the first screen's figure are."""
    if study.is_imported:
        return "Thick: mean over all cells; small: each cell; Welch's 95 % intervals from unpaired repetitions."
    cells = "each workload" if len(study.clients) == 1 else "each workload and client count"
    text = f"Thick: mean with its 95 % interval; small: {cells}. Bold: established, {ESTABLISHED}."
    return f"{text} CPU is the server's." if METRICS["cpu_us_per_tx"] in shown.metrics else text


def measured_at(runs: pd.DataFrame) -> str:
    """Return when the first run began and how long all took; empty where no date is known."""
    began, ended = (pd.to_datetime(value, unit="s") for value in (runs["started_at"].min(), runs["ended_at"].max()))
    return "" if pd.isna(began) else f"{began:%Y-%m-%d %H:%M} UTC, {duration((ended - began).total_seconds())}"


def extent(study: ResolvedStudy, runs: pd.DataFrame) -> str:
    """Return how many runs, variants, workloads, client counts and repetitions a study has; of an import its cells."""
    counted: dict[str, Sized] = {"variant": study.variants, "workload": study.workloads, "client count": study.clients}
    if study.is_imported:
        parts = [plural(len(entries), noun) for noun, entries in (counted | {"cell": cells_of(study)}).items()]
        return f"{plural(int((runs['outcome'] != 'missing').sum()), 'log')}: {', '.join(parts)}"
    shown = (name for name, entries in counted.items() if name != "client count" or len(entries) > 1)
    parts = [plural(len(counted[name]), name) for name in shown]
    return f"{plural(len(runs), 'run')}: {', '.join(parts)}, {plural(study.repetitions, 'repetition')}"


def partial_sentence(study: ResolvedStudy, runs: pd.DataFrame) -> str:
    """Return the sentence above a report made before the end of its study; nothing for a whole study."""
    if not study.partial:
        return ""
    count = int((runs["outcome"] != "missing").sum())
    return (
        f"Partial: {count} of {plural(len(runs), 'planned run')}. Runs not yet made are shown as holes, and no verdict "
        "is final: stopping a study as soon as its figures look right finds effects that are chance."
    )
