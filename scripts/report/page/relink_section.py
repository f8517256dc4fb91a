"""What relinking the reference alone moves, beside the comparisons of builds."""

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import missing, percent, plural
from scripts.report.analysis.metrics import EVERY, leading
from scripts.report.analysis.table_rows import RelinkedRow
from scripts.report.page.finding import Finding, Topic

RELINKS = Topic("relinks", "Relinking alone")
UNKNOWN = "what code layout alone moves is not known"
SHUFFLED_BEFORE_LTO = (
    "The reference is linked with LTO: its objects were shuffled before that, so functions may be inlined and split "
    "otherwise, too."
)


def of_builds(study: ResolvedStudy) -> list[str]:
    """Return the variants that run another build than the reference, which code layout alone may set apart."""
    pairs = {name: (arm.server, arm.build) for name, arm in study.variants.items()}
    reference = pairs[study.reference]
    return [name for name, pair in pairs.items() if name not in CONTROLS and pair != reference]


def relinked_sentence(study: ResolvedStudy, relinked: pd.DataFrame) -> str:
    """Return by how much relinking alone moves the reference over all cells, or that no relink was measured."""
    over = relinked[relinked["workload"].isna()]
    if over.empty:
        return f"No relink of {study.reference} was measured: {UNKNOWN}."
    lead = leading(over["metric"])
    (row,) = over[over["metric"] == lead.name].itertuples()
    if missing(row.moved):
        return f"{plural(int(row.n_relinks), 'relink')} of {study.reference} gave a figure, too few: {UNKNOWN}."
    return f"Relinking alone moves {study.reference} by {_moved(row)}, {lead.label.lower()}, {_number(row)}."


def _moved(row: RelinkedRow) -> str:
    return f"{percent(row.moved)} (95 % interval {percent(row.moved_low)} to {percent(row.moved_high)})"


def _number(row: RelinkedRow) -> str:
    return f"over {plural(int(row.n_relinks), 'relink')}"


def relinks_finding(study: ResolvedStudy, relinked: pd.DataFrame) -> Finding | None:
    """Report what relinking alone moves, cell by cell; None for a study that compares no builds."""
    if not of_builds(study):
        return None
    cells = relinked[relinked["workload"].notna() & relinked["moved"].notna()]
    cells = cells[cells["metric"] == leading(cells["metric"]).name] if len(cells) else cells
    lines = (f"{row.workload}, {plural(int(row.clients), 'client')}: {_moved(row)}, {EVERY[row.metric].label.lower()}"
             for row in cells.itertuples())  # fmt: skip
    how = (SHUFFLED_BEFORE_LTO,) if _has_lto(study) else ()
    return RELINKS.plain(relinked_sentence(study, relinked), (*lines, *how))


def _has_lto(study: ResolvedStudy) -> bool:
    """Return whether the reference, whose objects are relinked, is linked with link-time optimisation."""
    build = study.builds.get(study.variants[study.reference].build)
    return bool(build and build.lto)
