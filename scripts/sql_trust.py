"""Whether the statements of timed SQL had the same answers in every variant, pass and run."""

import pandas as pd

from scripts.comparison import AA
from scripts.verdict import Finding
from scripts.wording import missing, plural


def findings(statements: pd.DataFrame) -> list[Finding]:
    """Return what to know of the answers in statements.csv; nothing where no SQL was timed."""
    if statements.empty:
        return []
    told = tuple(dict.fromkeys(line for row in statements.itertuples() if (line := _line(row))))
    asked = statements[["workload", "statement"]].drop_duplicates()
    if told:
        text = "Number or content of the rows are not always the same; these pairs give no ratio of the statement."
        return [Finding("Same rows", "look", text, told)]
    text = f"{plural(len(asked), 'timed statement')} had the same number of rows with the same checksum"
    return [Finding("Same rows", "good", f"{text} in every variant, pass and run.")]


def _line(row: tuple) -> str:
    where = f"{row.variant}, {row.workload}, {row.statement}, {row.cache}"
    if row.n_answers > 1:
        return f"{where}: {int(row.n_answers)} different answers in {plural(int(row.n_ok), 'run')}"
    if row.variant != AA and not missing(row.n_differ) and row.n_differ:
        return f"{where}: another answer than the reference in {plural(int(row.n_differ), 'block')}"
    return ""
