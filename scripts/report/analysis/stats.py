"""Statistics of paired comparisons: functions over arrays of log ratios, no files and no frames."""

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int_]

LEVEL = 0.95
ALPHA = 0.05


def geometric_mean(values: ArrayLike) -> float:
    """Return exp(mean(log(values))) of non-negative values; NaNs are left out, without values it is NaN.

    One zero makes it zero, which is its limit.
    """
    present = np.asarray(values, dtype=float)
    present = present[~np.isnan(present)]
    if present.size == 0:
        return float("nan")
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(present))))


def t_interval(values: ArrayLike, level: float = LEVEL) -> tuple[Array, Array, Array]:
    """Return (mean, low, high): mean ± t(1 - (1 - level)/2, n - 1) · s / √n, Student 1908.

    `values` has shape (..., repetitions): the last axis is the sample, here the log ratios of a cell's blocks. NaNs
    are left out, n values remain. s is the standard deviation with divisor n - 1. With n < 2 the bounds are NaN, with
    n = 0 the mean too.
    """
    n, mean, error = _moments(values)
    half = scipy.special.stdtrit(n - 1, 0.5 + level / 2) * error
    return mean, mean - half, mean + half


def _moments(values: ArrayLike) -> tuple[Array, Array, Array]:
    """Return (n, mean, s / √n) of the values along the last axis that are not NaN; s / √n is NaN with n < 2."""
    sample = np.asarray(values, dtype=float)
    present = ~np.isnan(sample)
    n = present.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(present, sample, 0.0).sum(axis=-1) / n
        squares = np.where(present, sample - np.expand_dims(mean, -1), 0.0) ** 2
        return n, mean, np.sqrt(squares.sum(axis=-1) / np.where(n < 2, np.nan, n * (n - 1.0)))


def value_interval(values: ArrayLike) -> tuple[float, float]:
    """Return the t interval of the geometric mean of positive values: exp of the interval of their logs."""
    present = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        _, low, high = t_interval(np.log(present[~np.isnan(present)]))
    return float(np.exp(low)), float(np.exp(high))


def clustered_variance(values: ArrayLike) -> tuple[Array, Array]:
    """Return (variance of the mean over cells of each cell's mean, degrees of freedom), with blocks as clusters.

    `values` has shape (..., cells, blocks) and holds log ratios, NaN where a pair is missing; cells without a pair are
    left out. Cells of one repetition share the state of the machine, so the sample is the blocks: the variance is
    Σ u(r)², where u(r) is the sum over cells c of (y(c, r) - mean of c) / (C √(n(c) (n(c) - 1))), n(c) counts the pairs
    of cell c, C the cells, and the degrees of freedom are the mean of n(c), less 1. That is CR2 of Bell & McCaffrey
    2002 (Survey Methodology 28, 169) with one mean per cell. With a third of the pairs missing, a t interval from it
    covers 95 to 97 % in simulations. NaN when some cell has a single pair, whose spread is unknown.
    """
    wide = np.asarray(values, dtype=float)
    n, means, _ = _moments(wide)
    chosen = n > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = np.where(chosen.any(axis=-1), chosen.sum(axis=-1), np.nan)
        weights = cells[..., None] * np.sqrt(np.where(n == 1, np.nan, n * (n - 1.0)))
        parts = np.where(np.isnan(wide), 0.0, (wide - means[..., None]) / weights[..., None]).sum(axis=-2)
    return np.sum(parts**2, axis=-1), n.sum(axis=-1) / cells - 1


def holm(p_values: ArrayLike) -> Array:
    """Return p values adjusted for the number of tests by Holm's step-down method (Holm 1979).

    The tests are the last axis. The i-th smallest of m is multiplied by m - i + 1, then made monotone and capped at 1.
    NaN stays NaN and is not counted as a test.
    """
    raw = np.asarray(p_values, dtype=float)
    order = np.argsort(raw, axis=-1, kind="stable")
    tests = (~np.isnan(raw)).sum(axis=-1, keepdims=True)
    steps = np.take_along_axis(raw, order, axis=-1) * (tests - np.arange(raw.shape[-1]))
    adjusted = np.empty_like(raw)
    np.put_along_axis(adjusted, order, np.minimum(np.maximum.accumulate(steps, axis=-1), 1.0), axis=-1)
    return adjusted
