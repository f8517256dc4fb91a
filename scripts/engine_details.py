"""What the server did behind the transactions, for the page: files that grew, its change buffer, its own reports."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts import change_buffer, file_sizes
from scripts.run_details import first_ok


@dataclass(frozen=True)
class EngineReport:
    """The storage engine's account of one run, before and after the measuring call."""

    variant: str
    run: str
    before: str
    after: str


def view(
    study: dict[str, Any], tables: dict[str, pd.DataFrame], records: list[tuple[str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return the page's values; each is empty where the runs have no such data."""
    return {
        "file_tables": file_sizes.tables(study, tables["files"]),
        "change_head": change_buffer.HEAD,
        "changes": change_buffer.rows(study, (facts for _, facts in records)),
        "engine_reports": reports(study, records),
    }


def reports(study: dict[str, Any], records: list[tuple[str, dict[str, Any]]]) -> list[EngineReport]:
    """Return the reports around each variant's first ok run."""
    found = ((name, first_ok(records, variant=name)) for name in study["variants"])
    return [
        EngineReport(name, _run(facts), told["before"], told["after"])
        for name, facts in found
        if facts and (told := facts.get("engine_report"))
    ]


def _run(facts: dict[str, Any]) -> str:
    return f"{facts['workload']}, {facts['clients']} clients, repetition {facts['repetition']}"
