"""What a report is made from, all of it read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Evidence:
    """All a report is made of.

    `tables` holds those of render_report.TABLES by name; `records` the run files.
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
