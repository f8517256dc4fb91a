"""The words for the codes of verdicts."""

from types import SimpleNamespace

import pytest

from scripts.lib.vocabulary import Verdict
from scripts.lib.wording import by_width
from scripts.report.analysis.metrics import METRICS, SCRIPT, TPS
from scripts.report.page import words

TWO = 0.02


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (words.verdict_word(TPS, "far_above", TWO), "more than 2\u202f% faster"),
        (words.verdict_word(SCRIPT["cold_s"], "far_below", 0.005), "more than 0.5\u202f% faster"),
        (words.verdict_word(TPS, "above", TWO), "faster"),
        (words.verdict_word(METRICS["p95_ms"], Verdict.BELOW, TWO), "lower"),
        (words.verdict_word(TPS, "same", TWO), "the same within 2\u202f%"),
        (words.verdict_word(TPS, "open", TWO), "open"),
        (words.short_verdict_word(TPS, "below", TWO), "slower"),
        (words.short_verdict_word(TPS, "far_below", TWO), "over 2\u202f% slower"),
        (words.short_verdict_word(TPS, "same", TWO), "same\u202f±2\u202f%"),
        (words.short_verdict_word(TPS, "too_few_blocks", TWO), "too few"),
        (words.verdict_word(TPS, "unpaired", TWO), "no verdict"),
        (words.arm_word("aa", TPS, None, TWO), "A/A"),
        (words.arm_word("pgo", TPS, "open", TWO), "open"),
        (words.arm_word("pgo", TPS, None, TWO), ""),
        (words.interaction_word("far_below", TWO), "interaction shown"),
        (words.interaction_word("same", TWO), "no interaction over 2\u202f%"),
        (words.interaction_word("open", TWO), "open"),
        (words.short_interaction_word("too_few_blocks", TWO), "too few"),
        (words.open_range(TPS, 0.97, 1.12), "between 3.0\u202f% slower and 12\u202f% faster"),
        (words.open_range(SCRIPT["cold_s"], 0.97, 0.995), "between 3.0\u202f% faster and 0.5\u202f% faster"),
    ],
)
def test_verdicts_are_written(written, expected):
    assert written == expected


def test_unknown_verdict_is_an_error():
    with pytest.raises(ValueError, match="'quicker' is not a valid Verdict"):
        words.verdict_word(TPS, "quicker", TWO)


def row(verdict=None, low=1.01, high=1.2, blocks=5, variant="pgo"):
    return SimpleNamespace(variant=variant, verdict=verdict, ratio_low=low, ratio_high=high, n_blocks=blocks)


@pytest.mark.parametrize(
    ("of", "found"),
    [
        (row(), Verdict.ABOVE),
        (row(low=0.8, high=0.9), Verdict.BELOW),
        (row(low=0.8), None),
        (row(blocks=4), None),
        (row(variant="aa"), None),
        (row("open"), None),
        (row("far_above"), Verdict.FAR_ABOVE),
    ],
)
def test_side_of_1_is_the_verdicts_or_without_verdicts_the_intervals(of, found):
    assert words.side(of) == found


@pytest.mark.parametrize(
    ("ratio", "low", "high", "written"),
    [
        (1.0866, 1.0023, 1.1779, ("1.09", "1.002–1.18")),
        (1.1148, 0.9830, 1.2644, ("1.11", "0.98–1.26")),
        (1.2894, 1.2626, 1.3167, ("1.29", "1.26–1.32")),
        (1.0062, 0.9964, 1.0161, ("1.006", "0.996–1.016")),
        (0.9421, 0.9027, 0.9997, ("0.94", "0.90–0.9997")),
        (1.0, 0.998, 1.0021, ("1.000", "0.998–1.002")),
        (2.0, 2.0, 2.0 + 1e-15, ("2.00", "2.00–2.00")),
        (12.34, 9.0, 17.2, ("12.3", "9.0–17.2")),
        (1.25, float("nan"), float("nan"), ("1.25", "–")),
        (None, None, None, ("–", "–")),
    ],
)
def test_digits_of_a_ratio_follow_the_width_of_its_interval(ratio, low, high, written):
    assert by_width(ratio, low, high) == written
