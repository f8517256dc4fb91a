"""Everything that the report of a study is made of, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.lib.build_records import Audit, BuildFacts, Check, Proofs, TrainedProfile
from scripts.lib.resolved_study import ResolvedStudy
from scripts.measure.engine.run_record import Diagnosis, Run
from scripts.report.analysis import held_out
from scripts.report.analysis.expectations import judged_expectations, word_of
from scripts.report.page import (
    build_findings,
    effects_section,
    first_screen,
    imported_answers,
    running_servers_section,
)
from scripts.report.page.results import Results
from scripts.report.page.study_answer import JudgedExpectation, RatioRow, StudyAnswer
from scripts.report.page.study_sentences import partial_sentence
from scripts.report.page.verdict import study_answer

Record = dict[str, Any]


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
    sources: list[Record]
    datasets: list[Record]
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
        answer, (bad, plain) = (
            of(study, tables, answers) for of in (first_screen.answer_sentence, first_screen.doubts)
        )
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
        running=running_servers_section.sentences(evidence.records),
        reference=study.reference,
        quantities=shown.heads,
        rows=[RatioRow(row.variant, row.label, list(row.fields)) for row in shown.rows],
        has_verdicts=not study.is_imported,
        variants=answers,
        word=word_of(judged),
        expectations=[JudgedExpectation(expectation.text, expectation.state) for expectation in judged],
    )
