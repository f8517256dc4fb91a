"""The report: everything the page shows, as plain values."""

from collections import ChainMap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from scripts import (
    audit_details,
    build_arguments,
    build_details,
    build_trust,
    effect_tables,
    heldout,
    origin_details,
    published,
    run_details,
    stats,
    tables,
    trust,
)
from scripts.comparison import AA
from scripts.drawing import DRAWN, look_of
from scripts.metrics import METRICS
from scripts.sysbench import option_text
from scripts.value_tables import Lookup, overall_rows, workload_tables
from scripts.verdict import answers, noise_sentence
from scripts.wording import duration, plural

OVERALL = (
    "tps",
    "p95_ms",
    "p99_ms",
    "cpu_us_per_tx",
    "cpu_user_us_per_tx",
    "cpu_system_us_per_tx",
    "host_cpu_us_per_tx",
)
SHORT = ("TPS", "p95", "p99", "server CPU", "user CPU", "system CPU", "host CPU without client")


@dataclass(frozen=True)
class Evidence:
    """All a report is made of.

    `tables` holds runs, comparisons, cells, overall, noise and factors; `records` the run files.
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
    figures: dict[str, str]
    folder: Path


def view(evidence: Evidence) -> dict[str, Any]:
    """Return the values the templates show, text unescaped, figures as markup."""
    built = build_trust.Built(
        evidence.facts,
        audit_details.known_audits(evidence.facts, evidence.audits),
        evidence.checks,
        [proof for record in evidence.proofs for proof in record["proofs"]],
    )
    parts = (_workload_view(evidence), _effect_view(evidence), _run_view(evidence), _origin_view(evidence))
    return _answer_view(evidence, built) | _build_view(evidence.study, built) | dict(ChainMap(*parts))


def _answer_view(evidence: Evidence, built: build_trust.Built) -> dict[str, Any]:
    study, found = evidence.study, evidence.tables
    times = found["runs"][["started_at", "ended_at"]]
    began, ended = (
        pd.to_datetime(times["started_at"].min(), unit="s"),
        pd.to_datetime(times["ended_at"].max(), unit="s"),
    )
    cells = len(study["workloads"]) * len(study["clients"])
    return {
        "study": study,
        "reference": study["reference"],
        "aa": AA,
        "colours": look_of(list(study["variants"]), study["reference"]).colours,
        "answers": answers(study, found, build_trust.lost_profiles(study, built)),
        "noise": noise_sentence(found["noise"]),
        "findings": trust.findings(study, found["runs"], found, built),
        "overall_head": SHORT,
        "overall": overall_rows(study, found["overall"], OVERALL),
        "measured_at": ""
        if pd.isna(began)
        else f"{began:%Y-%m-%d %H:%M} UTC, {duration((ended - began).total_seconds())}",
        "extent": f"{plural(len(found['runs']), 'run')}: {plural(len(study['variants']), 'variant')} in "
        f"{plural(cells, 'cell')}, {plural(study['repetitions'], 'repetition')}",
    }


def _workload_view(evidence: Evidence) -> dict[str, Any]:
    study, lookup = evidence.study, Lookup(evidence.tables["cells"], evidence.tables["runs"])
    return {
        "forests": [Markup(evidence.figures[f"forest-{metric}"]) for metric in DRAWN],
        "workloads": [
            {
                "name": name,
                "script": " ".join(
                    [
                        str(load.get("script", "")),
                        *(f"{k}={option_text(v)}" for k, v in (load.get("options") or {}).items()),
                    ]
                ),
                "dataset": load.get("dataset"),
                "training": heldout.label(study, name),
                "tables": workload_tables(name, study, lookup),
                "figures": [
                    Markup(evidence.figures[figure])
                    for figure in (*(f"{metric}-{name}" for metric in DRAWN), f"ratio-{name}")
                    if figure in evidence.figures
                ],
            }
            for name, load in study["workloads"].items()
        ],
    }


def _run_view(evidence: Evidence) -> dict[str, Any]:
    records = sorted(evidence.records, key=lambda record: record[1].get("run_number") or 0)
    unfold = len(records) <= run_details.MOST_UNFOLDED
    differing, settings = run_details.variables(evidence.study, records)
    return {
        "run_head": run_details.HEAD,
        "runs": [run_details.run_view(file, facts, evidence.folder, unfold) for file, facts in records],
        "unfold": unfold,
        "warnings": run_details.warning_rows(records),
        "arms": run_details.arms(evidence.study, records),
        "loads": run_details.loads(evidence.study, records),
        "differing": differing,
        "settings": settings,
        "machine": origin_details.machine(records),
    }


def _effect_view(evidence: Evidence) -> dict[str, Any]:
    study, drawn = evidence.study, [f"factors-{metric}" for metric in DRAWN]
    return {
        "factor_head": list(effect_tables.FACTOR_METRICS.values()),
        "factors": effect_tables.factor_rows(evidence.tables["factors"]),
        "factor_figures": [Markup(evidence.figures[name]) for name in drawn if name in evidence.figures],
        "published": effect_tables.published_tables(study, evidence.tables),
        "published_source": (study.get("published") or {}).get("source"),
        "published_gaps": published.gaps(study),
    }


def _build_view(study: dict[str, Any], built: build_trust.Built) -> dict[str, Any]:
    return {
        "servers": build_details.by_server(study, built.facts),
        "configures": build_arguments.configure_commands(built.facts),
        "audits": audit_details.audit_views(built.facts, built.audits),
        "bolts": audit_details.bolt_views(built.facts),
        "check_head": build_trust.CHECK_HEAD,
        "checks": build_trust.check_rows(built.checks),
    }


def _origin_view(evidence: Evidence) -> dict[str, Any]:
    return {
        "trainings": origin_details.trainings(evidence.profiles),
        "sources": origin_details.source_rows(evidence.sources),
        "datasets": origin_details.dataset_rows(evidence.datasets),
        "min_blocks": stats.MIN_BLOCKS,
        "alpha": stats.ALPHA,
        "metrics": list(METRICS.values()),
        "columns": {name: meaning for name, (_, meaning) in tables.FACTS.items()} | tables.DERIVED,
    }
