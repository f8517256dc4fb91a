"""What the page shows of effects, and of what is behind them."""

from typing import Any

from scripts import (
    bound_details,
    client_details,
    costs,
    diagnosis_details,
    effect_tables,
    engine_details,
    ladder,
    load_details,
    matrix_details,
    published,
    sql_details,
    storage_details,
    workload_details,
)
from scripts.bounds import FULL
from scripts.evidence import Evidence
from scripts.wording import percent


def effects(evidence: Evidence) -> dict[str, Any]:
    """Return what is faster or slower, where and by how much, beside what was published."""
    study, tables = evidence.study, evidence.tables
    return workload_details.overviews(study, tables, evidence.figures) | {
        "workloads": workload_details.workloads(study, tables, evidence.figures),
        "timed_sql": sql_details.views(study, tables["statements"], evidence.records, evidence.figures),
        **matrix_details.view(study, tables["effects"]),
        "factor_head": effect_tables.factor_head(study),
        "factors": effect_tables.factor_rows(study, tables["factors"]),
        "published": effect_tables.published_tables(study, tables),
        "ladders": ladder.tables(study, tables),
        "published_source": (study.get("published") or {}).get("source"),
        "published_gaps": published.gaps(study),
    }


def reasons(evidence: Evidence) -> dict[str, Any]:
    """Return what bound each cell, what a transaction cost the server, and what everything cost."""
    study, tables = evidence.study, evidence.tables
    return {
        "full": percent(FULL.threshold, 0),
        "bounds": bound_details.rows(study, tables["bounds"]),
        "bound_reasons": bound_details.reasons(tables["bounds"]),
        "efforts": bound_details.efforts(study, tables["runs"], [facts for _, facts in evidence.records]),
        **engine_details.view(study, tables, evidence.records),
        **load_details.view(study, tables, evidence.records),
        **storage_details.view(study, tables["runs"], evidence.records),
        **client_details.view(study, tables["runs"], evidence.records),
        "held_out": effect_tables.held_out_rows(study, tables),
        "diagnoses": diagnosis_details.view(study, tables["cells"], evidence.diagnoses),
        "cost_head": costs.HEAD,
        "costs": costs.rows(evidence.facts, evidence.profiles, evidence.datasets),
        "cost_notes": [*costs.slowed(study, tables["cells"], evidence.profiles), *costs.laid_out(evidence.facts)],
    }
