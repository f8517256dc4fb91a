"""What a finding that is not good means for the answer, and what the reader can do about it."""

from collections.abc import Iterable
from dataclasses import replace

from scripts.verdict import Finding

REMEDIES = {
    "Builds that failed": "They have no figures. Read the reason under Builds, mend it, and make the report again.",
    "Profile used": "A build without its profile is no profile-guided build. Train it again with the same source tree.",
    "Same answers": "A build that answers differently, or was not asked, may be fast because it is wrong.",
    "Builds differ as declared": "An effect may come from something else than what the variants are named after.",
    "The same build against itself": "An effect no larger than this one is chance. More repetitions make it smaller.",
    "Noise floor": "No cell is called faster or slower. Measure the reference twice: variant aa does.",
    "Runs": "Holes leave cells out of the means. `make retry` measures failed runs again.",
    "Blocks": "Pairs that are not whole make intervals wider. A new campaign measures them again.",
    "Same rows": "A statement that answers otherwise is another question: its ratio is left out, and totals mislead.",
    "Order": "A drift of the machine can look like an effect. A new campaign measures in the drawn order.",
    "Alone": "Two runs at a time slow each other down. Measure these again with nothing else running.",
    "Warnings": "What each means and what helps stands in the table below.",
    "Cost of the workflow": "The figures are not affected; the study took longer than it must.",
    "One machine": "Pairs across hosts, boots or programs are split. A new campaign measures all on one.",
}  # fmt: skip


def advised(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, those that are to be read first with what they mean and what helps."""
    return [replace(each, remedy=REMEDIES.get(each.title, "")) if each.state == "look" else each for each in findings]
