"""The words for verdicts: what page, summary and figures write for the codes in the tables."""

from scripts.lib.vocabulary import AA, CONTROLS, DIFFERENCES, MIN_BLOCKS, Verdict
from scripts.lib.wording import NARROW, distance, missing, share
from scripts.report.analysis.metrics import Metric
from scripts.report.analysis.table_rows import IntervalRow

UNDECIDED_WORDS = {Verdict.TOO_FEW_BLOCKS: "too few blocks", Verdict.UNPAIRED: "no verdict"}
OPEN = "open"
INTERACTION, NO_INTERACTION = "interaction shown", "no interaction"


def verdict_word(metric: Metric, verdict: str, matters: float) -> str:
    """Return the words for a verdict on a metric: `more than 2 % faster`, `the same within 2 %`, `open`."""
    match Verdict(verdict):
        case Verdict.FAR_ABOVE | Verdict.FAR_BELOW as far:
            return f"more than {share(matters)} {metric.words[far]}"
        case Verdict.ABOVE | Verdict.BELOW as near:
            return metric.words[near]
        case Verdict.SAME:
            return f"the same within {share(matters)}"
        case Verdict.OPEN:
            return OPEN
        case undecided:
            return UNDECIDED_WORDS[undecided]


def short_verdict_word(metric: Metric, verdict: str, matters: float) -> str:
    """Return the words for a verdict that fit into a field of a table: `over 2 % faster`, `same ±2 %`."""
    match Verdict(verdict):
        case Verdict.FAR_ABOVE | Verdict.FAR_BELOW as far:
            return f"over {share(matters)} {metric.words[far]}"
        case Verdict.SAME:
            return f"same{NARROW}±{share(matters)}"
        case Verdict.TOO_FEW_BLOCKS:
            return "too few"
        case other:
            return verdict_word(metric, other, matters)


def arm_word(variant: str, metric: Metric, verdict: str | None, matters: float) -> str:
    """Return the short words for the verdict on a variant; nothing where there is none; A/A is named instead."""
    if variant == AA:
        return "A/A"
    return "" if missing(verdict) else short_verdict_word(metric, verdict, matters)


def open_range(metric: Metric, low: float, high: float) -> str:
    """Return the bounds of an interval of ratios in words: `between 3 % slower and 8 % faster`."""
    first, last = (f"{distance(edge)} {metric.below if edge < 1 else metric.above}" for edge in (low, high))
    return f"between {first} and {last}"


def interaction_word(verdict: str, matters: float) -> str:
    """Return the words for the verdict on an interaction of several factors."""
    if verdict in DIFFERENCES:
        return INTERACTION
    if verdict == Verdict.SAME:
        return f"{NO_INTERACTION} over {share(matters)}"
    return OPEN if verdict == Verdict.OPEN else UNDECIDED_WORDS[Verdict(verdict)]


def short_interaction_word(verdict: str, matters: float) -> str:
    """Return the words for the verdict on an interaction that fit into a field of a table."""
    return "too few" if verdict == Verdict.TOO_FEW_BLOCKS else interaction_word(verdict, matters)


def side(row: IntervalRow) -> Verdict | None:
    """Return on which side of 1 a ratio lies: by its verdict, of metrics without verdicts by its 95 % interval.

    None for A/A and relinks, for an interval that holds 1, and with too few blocks.
    """
    if getattr(row, "variant", None) in CONTROLS:
        return None
    if not missing(row.verdict):
        return Verdict(row.verdict) if row.verdict in DIFFERENCES else None
    blocks = getattr(row, "n_blocks_least" if hasattr(row, "n_blocks_least") else "n_blocks")
    if missing(row.ratio_low) or blocks < MIN_BLOCKS:
        return None
    return Verdict.ABOVE if row.ratio_low > 1 else Verdict.BELOW if row.ratio_high < 1 else None
