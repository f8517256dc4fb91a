"""The words for verdicts: what page, summary and figures write for the codes in the tables."""

from scripts.analysis.metrics import Metric
from scripts.vocabulary import AA, DIFFERENCES, Verdict

WITHOUT_DIFFERENCE = {
    Verdict.NO_DIFFERENCE: "no difference shown",
    Verdict.TOO_FEW_BLOCKS: "too few blocks",
    Verdict.NO_NOISE_FLOOR: "no noise floor",
}
SHORT = {Verdict.NO_DIFFERENCE: "not shown", Verdict.TOO_FEW_BLOCKS: "too few"}
INTERACTION, NO_INTERACTION = "interaction shown", "no interaction shown"


def verdict_word(metric: Metric, verdict: str) -> str:
    """Return the words for a verdict on a metric: `faster`, `no difference shown`."""
    return metric.words.get(verdict) or WITHOUT_DIFFERENCE[Verdict(verdict)]


def short_verdict_word(metric: Metric, verdict: str) -> str:
    """Return the words for a verdict that fit into a field of a table: `faster`, `not shown`."""
    return SHORT.get(Verdict(verdict)) or verdict_word(metric, verdict)


def arm_word(variant: str, metric: Metric, verdict: str) -> str:
    """Return the short words for the verdict on a variant; A/A, on which there is none, is named instead."""
    return "A/A" if variant == AA else short_verdict_word(metric, verdict)


def interaction_word(verdict: str) -> str:
    """Return the words for the verdict on an interaction of several factors."""
    if verdict in DIFFERENCES:
        return INTERACTION
    return NO_INTERACTION if verdict == Verdict.NO_DIFFERENCE else WITHOUT_DIFFERENCE[Verdict(verdict)]


def short_interaction_word(verdict: str) -> str:
    """Return the words for the verdict on an interaction that fit into a field of a table."""
    return SHORT[Verdict(verdict)] if verdict == Verdict.TOO_FEW_BLOCKS else interaction_word(verdict)
