"""The report: everything the page shows, as plain values."""

from collections import ChainMap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import published, stats
from scripts.analysis import runs as analysis_runs
from scripts.analysis.bounds import FULL
from scripts.analysis.metrics import METRICS
from scripts.analysis.published import FINDINGS
from scripts.host import outcome
from scripts.report import audits as report_audits
from scripts.report import (
    bounds,
    build_findings,
    builds,
    effects,
    engine,
    imported_findings,
    machine,
    timed_sql,
    verdict,
    workloads,
)
from scripts.report import diagnoses as report_diagnoses
from scripts.report import findings as report_findings
from scripts.report import runs as report_runs
from scripts.report.figures.drawing import look_of
from scripts.report.value_tables import measured_metrics, overall_rows
from scripts.report.verdict import noise_sentence, study_answer
from scripts.vocabulary import AA
from scripts.wording import duration, percent, plural


@dataclass(frozen=True)
class Evidence:
    """All a report is made of.

    `tables` holds those of render_report.TABLES by name; `records` the run files; `folder` is where the page lies.
    `archive` names the archive that holds the run files, relative to `folder`; it is empty where they lie unpacked.
    """

    study: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    records: list[tuple[str, dict[str, Any]]]
    facts: list[dict[str, Any]]
    audits: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    proofs: list[dict[str, Any]]
    profiles: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    datasets: list[dict[str, Any]]
    diagnoses: list[dict[str, Any]]
    figures: dict[str, str]
    folder: Path
    archive: str = ""


def load_view(
    study: dict[str, Any], tables: dict[str, pd.DataFrame], records: list[tuple[str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return the page's values; each is empty where the study has no such data."""
    findings = (study.get("published") or {}).get("findings") or []
    return {
        "operations": workloads.operation_tables(study, tables["operations"], tables["comparisons"]),
        "allocated": engine.allocated_tables(study, tables["files"]),
        "renamed": report_runs.option_rows(study, records),
        "published_findings": [tuple(finding[name] for name in FINDINGS) for finding in findings],
    }


def effects_view(evidence: Evidence) -> dict[str, Any]:
    """Return what is faster or slower, where and by how much, beside what was published."""
    study, tables = evidence.study, evidence.tables
    return workloads.overviews(study, tables, evidence.figures) | {
        "workloads": workloads.workload_rows(study, tables, evidence.figures),
        "timed_sql": timed_sql.timed_sql_views(study, tables["statements"], evidence.records, evidence.figures),
        **effects.matrix_view(study, tables["effects"]),
        "factor_head": effects.factor_head(study),
        "factors": effects.factor_rows(study, tables["factors"]),
        "published": effects.published_tables(study, tables),
        "ladders": effects.ladder_tables(study, tables),
        "published_source": (study.get("published") or {}).get("source"),
        "published_gaps": published.gaps(study),
    }


def reasons_view(evidence: Evidence) -> dict[str, Any]:
    """Return what bound each cell, what a transaction cost the server, and what everything cost."""
    study, tables = evidence.study, evidence.tables
    return {
        "full": percent(FULL.threshold, 0),
        "bounds": bounds.rows(study, tables["bounds"]),
        "bound_reasons": bounds.reasons(tables["bounds"]),
        "efforts": bounds.efforts(study, tables["runs"], [facts for _, facts in evidence.records]),
        **engine.engine_view(study, tables, evidence.records),
        **load_view(study, tables, evidence.records),
        **machine.storage_view(study, tables["runs"], evidence.records),
        **machine.client_view(study, tables["runs"], evidence.records),
        "held_out": effects.held_out_rows(study, tables),
        "diagnoses": report_diagnoses.view(study, tables["cells"], evidence.diagnoses),
        "cost_head": builds.COST_HEAD,
        "costs": builds.cost_rows(evidence.facts, evidence.profiles, evidence.datasets),
        "cost_notes": [
            *builds.instrumentation_sentences(study, tables["cells"], evidence.profiles),
            *builds.layout_sentences(evidence.facts),
        ],
    }


OVERALL = {
    "tps": "TPS", "p95_ms": "p95", "p99_ms": "p99", "cpu_us_per_tx": "server CPU", "cpu_user_us_per_tx": "user CPU",
    "cpu_system_us_per_tx": "system CPU", "host_cpu_us_per_tx": "host CPU without client",
    "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip


def view(evidence: Evidence) -> dict[str, Any]:
    """Return the values the templates show, text unescaped, figures as markup."""
    built = build_findings.Built(
        evidence.facts,
        report_audits.known_audits(evidence.facts, evidence.audits),
        evidence.checks,
        [proof for record in evidence.proofs for proof in record["proofs"]],
    )
    parts = (
        effects_view(evidence),
        _run_view(evidence),
        _origin_view(evidence),
        reasons_view(evidence),
    )
    shown = dict(ChainMap(*parts))
    beside = {"beside_speed": verdict.sentences_beside_speed(evidence.study, shown)}
    return _answer_view(evidence, built) | _build_view(evidence, built) | beside | shown


def _answer_view(evidence: Evidence, built: build_findings.Built) -> dict[str, Any]:
    study, found = evidence.study, evidence.tables
    times = found["runs"][["started_at", "ended_at"]]
    began, ended = (
        pd.to_datetime(times["started_at"].min(), unit="s"),
        pd.to_datetime(times["ended_at"].max(), unit="s"),
    )
    cells = len(study["workloads"]) * len(study["clients"])
    known = [name for name in OVERALL if name in measured_metrics(found["cells"])]
    return {
        "study": study,
        "imported": study.get("imported"),
        "reference": study["reference"],
        "aa": AA,
        "colours": look_of(list(study["variants"]), study["reference"]).colours,
        "partial": partial(study, found["runs"]),
        "scaled": effects.scaled_sentence(study),
        "answers": study_answer(
            study, found, build_findings.lost_profiles(study, built) | build_findings.failure_reasons(study, built)
        ),
        **_trust_view(evidence, built),
        "overall_head": [OVERALL[name] for name in known],
        "overall": overall_rows(study, found["overall"], known),
        "measured_at": ""
        if pd.isna(began)
        else f"{began:%Y-%m-%d %H:%M} UTC, {duration((ended - began).total_seconds())}",
        "extent": f"{plural(len(found['runs']), 'run')}: {plural(len(study['variants']), 'variant')} in "
        f"{plural(cells, 'cell')}, {plural(study['repetitions'], 'repetition')}",
    }


def _trust_view(evidence: Evidence, built: build_findings.Built) -> dict[str, Any]:
    study, found = evidence.study, evidence.tables
    if study.get("imported"):
        return {"noise": imported_findings.NOISE, "findings": imported_findings.findings(study, found["runs"])}
    findings = report_findings.advised(report_findings.findings(study, found["runs"], found, built))
    return {"noise": noise_sentence(found["noise"]), "findings": findings}


def partial(study: dict[str, Any], runs: pd.DataFrame) -> str:
    """Return the sentence that stands above a report made before the study's end; nothing for a whole one."""
    if not study.get("partial"):
        return ""
    there = int((runs["outcome"] != "missing").sum())
    return (
        f"Partial: {there} of {plural(len(runs), 'planned run')}. What is missing is a hole, and no word is final: "
        "who ends a study when its figures please finds effects by chance."
    )


def _run_view(evidence: Evidence) -> dict[str, Any]:
    records = sorted(evidence.records, key=lambda record: record[1].get("run_number") or 0)
    unfold = len(records) <= report_runs.MOST_UNFOLDED
    base = None if evidence.archive else evidence.folder
    differing, settings = report_runs.variable_rows(evidence.study, records)
    return {
        "run_head": report_runs.run_head(evidence.study),
        "runs": [report_runs.run_view(file, facts, base, unfold) for file, facts in records],
        "archive": evidence.archive,
        "unfold": unfold,
        "limits": report_runs.warning_rows(records),
        "arms": report_runs.arm_views(evidence.study, records),
        "loads": report_runs.load_views(evidence.study, records),
        "sent": workloads.sent_views(evidence.study, records),
        "differing": differing,
        "settings": settings,
        "machine": machine.machine_rows(records),
    }


def _build_view(evidence: Evidence, built: build_findings.Built) -> dict[str, Any]:
    facts = outcome.sound_records(built.facts)
    return {
        "failed": build_findings.failure_stories(built, evidence.profiles),
        "servers": builds.by_server(evidence.study, facts),
        "configures": builds.configure_commands(facts),
        "audits": report_audits.audit_views(facts, built.audits),
        "bolts": report_audits.bolt_views(facts),
        "check_head": build_findings.CHECK_HEAD,
        "checks": build_findings.check_rows(built.checks),
    }


def _origin_view(evidence: Evidence) -> dict[str, Any]:
    return {
        "trainings": machine.training_rows(outcome.sound_records(evidence.profiles)),
        "sources": machine.source_rows(evidence.sources),
        "datasets": machine.dataset_rows(evidence.datasets),
        "min_blocks": stats.MIN_BLOCKS,
        "alpha": stats.ALPHA,
        "metrics": list(METRICS.values()),
        "columns": {name: meaning for name, (_, meaning) in analysis_runs.FACT_COLUMNS.items()}
        | analysis_runs.DERIVED_COLUMNS,
    }
