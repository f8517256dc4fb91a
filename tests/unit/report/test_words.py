"""The words for the codes of verdicts."""

import pytest

from scripts.analysis.metrics import METRICS, TPS
from scripts.report import words
from scripts.vocabulary import Verdict


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (words.verdict_word(TPS, "above"), "faster"),
        (words.verdict_word(METRICS["p95_ms"], Verdict.BELOW), "lower"),
        (words.verdict_word(TPS, "no_difference"), "no difference shown"),
        (words.short_verdict_word(TPS, "below"), "slower"),
        (words.short_verdict_word(TPS, "too_few_blocks"), "too few"),
        (words.short_verdict_word(TPS, "no_noise_floor"), "no noise floor"),
        (words.arm_word("aa", TPS, None), "A/A"),
        (words.arm_word("pgo", TPS, "no_difference"), "not shown"),
        (words.interaction_word("below"), "interaction shown"),
        (words.interaction_word("no_difference"), "no interaction shown"),
        (words.short_interaction_word("too_few_blocks"), "too few"),
    ],
)
def test_verdicts_are_written(written, expected):
    assert written == expected


def test_unknown_verdict_is_an_error():
    with pytest.raises(ValueError, match="'quicker' is not a valid Verdict"):
        words.verdict_word(TPS, "quicker")
