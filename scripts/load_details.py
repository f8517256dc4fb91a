"""What a page says of loads whose parts can be told apart, and of variants whose servers or tables differ."""

from typing import Any

import pandas as pd

from scripts import allocated_sizes, operation_details, option_details
from scripts.published import FINDINGS


def view(
    study: dict[str, Any], tables: dict[str, pd.DataFrame], records: list[tuple[str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return the page's values; each is empty where the study has no such data."""
    findings = (study.get("published") or {}).get("findings") or []
    return {
        "operations": operation_details.tables(study, tables["operations"], tables["comparisons"]),
        "allocated": allocated_sizes.tables(study, tables["files"]),
        "renamed": option_details.rows(study, records),
        "published_findings": [tuple(finding[name] for name in FINDINGS) for finding in findings],
    }
