"""The report: everything the page shows as plain values, and the page and the summary made from them."""

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from scripts import build_details, run_details, stats, tables, trust
from scripts.comparison import AA
from scripts.drawing import look_of
from scripts.metrics import METRICS
from scripts.sysbench import option_text
from scripts.value_tables import Lookup, overall_rows, workload_tables
from scripts.verdict import answers, noise_sentence
from scripts.wording import duration, plural

TEMPLATES = Path(__file__).parent / "templates"
OVERALL = (
    "tps",
    "p95_ms",
    "p99_ms",
    "cpu_us_per_tx",
    "cpu_user_us_per_tx",
    "cpu_system_us_per_tx",
    "host_cpu_us_per_tx",
)
DRAWN = ("tps", "p95_ms", "cpu_us_per_tx")
SHORT = ("TPS", "p95", "p99", "server CPU", "user CPU", "system CPU", "host CPU without client")


@dataclass(frozen=True)
class Evidence:
    """All a report is made of. `tables` holds runs, comparisons, cells, overall and noise; `records` the run files."""

    study: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    records: list[tuple[str, dict[str, Any]]]
    facts: list[dict[str, Any]]
    profiles: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    datasets: list[dict[str, Any]]
    figures: dict[str, str]
    folder: Path


def view(evidence: Evidence) -> dict[str, Any]:
    """Return the values the templates show, text unescaped, figures as markup."""
    return {**_answer_view(evidence), **_workload_view(evidence), **_run_view(evidence), **_origin_view(evidence)}


def _answer_view(evidence: Evidence) -> dict[str, Any]:
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
        "answers": answers(study, found["overall"], found["cells"]),
        "noise": noise_sentence(found["noise"]),
        "findings": trust.findings(study, found["runs"], found, evidence.facts),
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
                "tables": workload_tables(name, study, lookup),
                "figures": [Markup(evidence.figures[f"{metric}-{name}"]) for metric in DRAWN],
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
        "machine": build_details.machine(records),
    }


def _origin_view(evidence: Evidence) -> dict[str, Any]:
    return {
        "builds": [f"{build['build']} ({build['server']})" for build in evidence.facts],
        "build_rows": build_details.build_rows(evidence.facts),
        "arguments": build_details.arguments(evidence.facts),
        "configures": build_details.configure_commands(evidence.facts),
        "audits": build_details.audits(evidence.facts),
        "trainings": build_details.trainings(evidence.profiles),
        "sources": build_details.source_rows(evidence.sources),
        "datasets": build_details.dataset_rows(evidence.datasets),
        "min_blocks": stats.MIN_BLOCKS,
        "alpha": stats.ALPHA,
        "metrics": list(METRICS.values()),
        "columns": {name: meaning for name, (_, meaning) in tables.FACTS.items()} | tables.DERIVED,
    }


def markdown(text: object) -> str:
    """Escape a text for a Markdown table or sentence: markup and line breaks lose their meaning."""
    escaped = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return "".join(f"\\{sign}" if sign in "\\`*_|[]#~" else sign for sign in escaped)


def render(values: dict[str, Any]) -> tuple[str, str]:
    """Return (report.html, summary.md)."""
    places = jinja2.FileSystemLoader(TEMPLATES)
    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    pages = jinja2.Environment(loader=places, autoescape=True, **strict)
    script = (TEMPLATES / "script.js").read_text(encoding="utf-8")
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    inlined = {"style": Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")), "script": Markup(script)}
    html = pages.get_template("report.html.j2").render(values, seal=seal, **inlined)
    plain = jinja2.Environment(loader=places, autoescape=False, **strict)
    plain.filters["md"] = markdown
    return html, plain.get_template("summary.md.j2").render(values)
