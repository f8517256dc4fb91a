"""The report: everything the page shows, as plain values."""

from collections import ChainMap
from typing import Any

import pandas as pd

from scripts import (
    audit_details,
    beside_speed,
    build_arguments,
    build_details,
    build_trust,
    failed_builds,
    imported_trust,
    matrix_details,
    origin_details,
    page_effects,
    remedies,
    run_details,
    sent_details,
    stats,
    tables,
    trust,
)
from scripts.comparison import AA
from scripts.drawing import look_of
from scripts.evidence import Evidence
from scripts.metrics import METRICS
from scripts.value_tables import measured_metrics, overall_rows
from scripts.verdict import answers, noise_sentence
from scripts.wording import duration, plural

OVERALL = {
    "tps": "TPS", "p95_ms": "p95", "p99_ms": "p99", "cpu_us_per_tx": "server CPU", "cpu_user_us_per_tx": "user CPU",
    "cpu_system_us_per_tx": "system CPU", "host_cpu_us_per_tx": "host CPU without client",
    "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip


def view(evidence: Evidence) -> dict[str, Any]:
    """Return the values the templates show, text unescaped, figures as markup."""
    built = build_trust.Built(
        evidence.facts,
        audit_details.known_audits(evidence.facts, evidence.audits),
        evidence.checks,
        [proof for record in evidence.proofs for proof in record["proofs"]],
    )
    parts = (
        page_effects.effects(evidence),
        _run_view(evidence),
        _origin_view(evidence),
        page_effects.reasons(evidence),
    )
    shown = dict(ChainMap(*parts))
    beside = {"beside_speed": beside_speed.sentences(evidence.study, shown)}
    return _answer_view(evidence, built) | _build_view(evidence, built) | beside | shown


def _answer_view(evidence: Evidence, built: build_trust.Built) -> dict[str, Any]:
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
        "scaled": matrix_details.scaled_sentence(study),
        "answers": answers(study, found, build_trust.lost_profiles(study, built) | failed_builds.reasons(study, built)),
        **_trust_view(evidence, built),
        "overall_head": [OVERALL[name] for name in known],
        "overall": overall_rows(study, found["overall"], known),
        "measured_at": ""
        if pd.isna(began)
        else f"{began:%Y-%m-%d %H:%M} UTC, {duration((ended - began).total_seconds())}",
        "extent": f"{plural(len(found['runs']), 'run')}: {plural(len(study['variants']), 'variant')} in "
        f"{plural(cells, 'cell')}, {plural(study['repetitions'], 'repetition')}",
    }


def _trust_view(evidence: Evidence, built: build_trust.Built) -> dict[str, Any]:
    study, found = evidence.study, evidence.tables
    if study.get("imported"):
        return {"noise": imported_trust.NOISE, "findings": imported_trust.findings(study, found["runs"])}
    findings = remedies.advised(trust.findings(study, found["runs"], found, built))
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
    unfold = len(records) <= run_details.MOST_UNFOLDED
    differing, settings = run_details.variables(evidence.study, records)
    return {
        "run_head": run_details.head(evidence.study),
        "runs": [run_details.run_view(file, facts, evidence.folder, unfold) for file, facts in records],
        "unfold": unfold,
        "limits": run_details.warning_rows(records),
        "arms": run_details.arms(evidence.study, records),
        "loads": run_details.loads(evidence.study, records),
        "sent": sent_details.sent(evidence.study, records),
        "differing": differing,
        "settings": settings,
        "machine": origin_details.machine(records),
    }


def _build_view(evidence: Evidence, built: build_trust.Built) -> dict[str, Any]:
    facts = failed_builds.sound(built.facts)
    return {
        "failed": failed_builds.stories(built, evidence.profiles),
        "servers": build_details.by_server(evidence.study, facts),
        "configures": build_arguments.configure_commands(facts),
        "audits": audit_details.audit_views(facts, built.audits),
        "bolts": audit_details.bolt_views(facts),
        "check_head": build_trust.CHECK_HEAD,
        "checks": build_trust.check_rows(built.checks),
    }


def _origin_view(evidence: Evidence) -> dict[str, Any]:
    return {
        "trainings": origin_details.trainings(failed_builds.sound(evidence.profiles)),
        "sources": origin_details.source_rows(evidence.sources),
        "datasets": origin_details.dataset_rows(evidence.datasets),
        "min_blocks": stats.MIN_BLOCKS,
        "alpha": stats.ALPHA,
        "metrics": list(METRICS.values()),
        "columns": {name: meaning for name, (_, meaning) in tables.FACTS.items()} | tables.DERIVED,
    }
