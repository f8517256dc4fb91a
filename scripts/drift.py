"""Whether a series moves from its start to its end, robust against single values far off."""

import statistics
from collections.abc import Sequence
from itertools import combinations

POINTS = (5, 120)
# Of a normal distribution: standard deviation over median absolute deviation.
MAD_TO_DEVIATION = 1.4826


def drift(tps: Sequence[float]) -> tuple[float | None, float]:
    """Return (change from first to last value, its standard error), both as shares of the median.

    The change is the Theil-Sen slope (median of all pairwise slopes) times the length; its error is that of a least
    squares slope with the residuals' median absolute deviation as noise. (None, 0) with under five values.
    """
    values = _thinned(tps, POINTS[1])
    middle = statistics.median(values) if values else 0.0
    if len(values) < POINTS[0] or middle <= 0:
        return None, 0.0
    slope = statistics.median((b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(values), 2))
    residuals = [value - slope * i for i, value in enumerate(values)]
    centre = statistics.median(residuals)
    noise = MAD_TO_DEVIATION * statistics.median(abs(residual - centre) for residual in residuals)
    return slope * (len(values) - 1) / middle, noise / middle * (12 / len(values)) ** 0.5


def _thinned(values: Sequence[float], most: int) -> list[float]:
    step = -(-len(values) // most) if values else 1
    return [statistics.fmean(values[i : i + step]) for i in range(0, len(values), step)]
