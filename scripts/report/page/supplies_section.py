"""Supplies of the machine that some servers of a block got and others did not: huge pages, asynchronous I/O."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from scripts.lib.json_record import canonical
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import listing, missing, plural
from scripts.report.page.finding import Finding, Topic

SUPPLIES = Topic(
    "supplies",
    "Supplies of the machine",
    "An arm may be faster for what it got, and not for its build. Have enough for all servers of a block "
    "(`vm.nr_hugepages`, `fs.aio-max-nr`, `ulimit -l`), or for none, and measure again by a new campaign.",
)
# Column of runs.csv -> what it is. Amounts of memory that differ by less than this share are alike.
NAMES = {
    "huge_pages_mib": "huge pages",
    "aio_contexts": "asynchronous I/O",
    "io_urings": "io_uring",
    "locked_mib": "locked memory",
}
ALIKE = 0.05


def supplies_finding(study: ResolvedStudy, runs: pd.DataFrame) -> Finding | None:
    """Name the arms of one server with the same options that got other supplies than others of their block.

    None where no run has a record of them, and where no arm got any.
    """
    if runs.empty or not set(NAMES) <= set(runs.columns):
        return None
    measured = runs[runs["outcome"] == "ok"].dropna(subset=list(NAMES), how="all")
    lines = tuple(line for column in NAMES for line in _lines(study, measured, column))
    if lines:
        return SUPPLIES.look("Servers with the same options got different supplies in the same block.", lines)
    held = [what for column, what in NAMES.items() if (measured[column] > 0).any()]
    if not held:
        return None
    blocks = plural(measured["block"].nunique(), "block")
    return SUPPLIES.good(f"In {blocks} all servers with the same options got the same: {listing(held)}.")


def _lines(study: ResolvedStudy, runs: pd.DataFrame, column: str) -> Iterator[str]:
    """Yield a line on each group of arms that should have got the same of a supply, and did not."""
    keys = runs["variant"].map(
        {name: canonical([variant.server, variant.options]) for name, variant in study.variants.items()}
    )
    for _, group in runs.assign(alike=keys).groupby("alike", sort=False):
        uneven = [rows for _, rows in group.groupby("block", sort=False) if _differ(rows[column])]
        if uneven:
            blocks = f"{len(uneven)} of {plural(group['block'].nunique(), 'block')}"
            yield f"{NAMES[column]}, in {blocks}: {_text(pd.concat(uneven), column)}"


def _differ(values: pd.Series) -> bool:
    amounts = values.dropna()
    return len(amounts) > 1 and amounts.max() > (1 + ALIKE) * amounts.min()


def _text(rows: pd.DataFrame, column: str) -> str:
    """Return each amount with the arms that got it, and in how many blocks."""
    unit = " MiB" if column.endswith("_mib") else ""
    amounts: dict[str, Counter[str]] = {}
    for variant, value in zip(rows["variant"], rows[column], strict=True):
        amount = "not known" if missing(value) else f"{value:.0f}{unit}" if value else "none"
        amounts.setdefault(amount, Counter())[variant] += 1
    return "; ".join(
        f"{amount}: {', '.join(f'{name} ({count})' for name, count in arms.items())}"
        for amount, arms in amounts.items()
    )
