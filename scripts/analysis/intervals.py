"""Ratios to the reference over blocks of several arms, with intervals that hold under more than one kind of noise.

A block gives one figure per arm. Arrays are `y[cells, blocks, arms]`, natural logs of the figures, NaN where an arm
failed or a block is missing; arm 0 is the reference, arm 1 the reference a second time (A/A), the others are variants.
`slice_variance`, of the same shape, is the variance of y that the slices within the block alone account for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
REFERENCES = 2
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean log ratio with its 95 % interval, its two-sided p value, and the number of blocks behind it.

    All are NaN where too few blocks are there; `basis` names the spread that set the width: pooled, own or slices.
    """

    mean: float
    half: float
    p: float
    blocks: int
    basis: str

    @property
    def low(self) -> float:
        """Lower bound of the log ratio."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper bound of the log ratio."""
        return self.mean + self.half


@dataclass(frozen=True)
class Spread:
    """An estimate of a variance of the mean log ratio, with its degrees of freedom (infinite for the slices')."""

    basis: str
    variance: float
    degrees: float

    def half(self, level: float = LEVEL) -> float:
        """Return the half width of Student's interval."""
        return float(special.stdtrit(self.degrees, 0.5 + level / 2) * np.sqrt(self.variance))

    def p(self, mean: float) -> float:
        """Return the two-sided p value of a mean of zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.nan_to_num(abs(mean) / np.sqrt(self.variance), nan=0.0, posinf=np.inf)
        return float(2 * special.stdtr(self.degrees, -statistic))


def against_reference(y: Array) -> tuple[Array, Array]:
    """Return (d, w): each variant's y less the mean of the reference arms that are there, and d's relative variance.

    d has shape (cells, blocks, variants); w, of shape (cells, blocks), is 1.5 with both reference arms, 2 with one:
    the variance of d in units of one arm's. Both are NaN in a block without a reference.
    """
    references = y[..., :REFERENCES]
    there = (~np.isnan(references)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        base = np.where(there, np.nansum(references, axis=-1) / there, np.nan)
        weight = np.where(there, 1 + 1 / there, np.nan)
    return y[..., REFERENCES:] - base[..., None], weight


def pooled_variance(y: Array) -> tuple[float, float]:
    """Return (variance of one arm in one block, degrees of freedom) of y[blocks, arms], pooled over all arms.

    The residual of a least-squares fit of an effect per block and one per variant; both reference arms share theirs.
    With n whole blocks, A arms and K variants there are n (A - 1) - K degrees of freedom. NaN with none.
    """
    block, arm = np.nonzero(~np.isnan(y))
    product = np.maximum(arm - REFERENCES + 1, 0)
    columns = [block == number for number in np.unique(block)]
    columns += [product == number for number in np.unique(product) if number]
    if not columns:
        return float("nan"), 0.0
    design = np.stack(columns, axis=1).astype(float)
    values = y[block, arm]
    solution, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    degrees = float(len(values) - rank)
    residual = values - design @ solution
    return (float(residual @ residual / degrees) if degrees else float("nan")), degrees


def cell_intervals(y: Array, slice_variance: Array) -> list[list[Interval]]:
    """Return the interval of each variant in each cell: [cell][variant].

    The widest of three: the spread pooled over the arms of the cell, the variant's own over all cells, and the slices'.
    """
    own = own_variances(y)
    every = []
    for cell in range(len(y)):
        pooled, degrees = pooled_variance(y[cell])
        each = [_one_cell(y, slice_variance, cell, variant) for variant in range(y.shape[2] - REFERENCES)]
        every.append(
            [
                _widest(mean, blocks, [Spread("pooled", pooled * share, degrees), _scaled(own[variant], share), slices])
                for variant, (mean, blocks, share, slices) in enumerate(each)
            ]
        )
    return every


def overall_intervals(y: Array, slice_variance: Array) -> list[Interval]:
    """Return the interval of each variant's mean over cells.

    Pooled is the spread over arms of the blocks' means over cells, so that cells which move together count once; own
    takes the variant's cells as independent.
    """
    whole = np.where(np.isnan(y).any(axis=0), np.nan, y.mean(axis=0))
    pooled, degrees = pooled_variance(whole)
    d, weight = against_reference(whole[None])
    own, cells = own_variances(y), len(y)
    found = []
    for variant in range(y.shape[2] - REFERENCES):
        each = [_one_cell(y, slice_variance, cell, variant) for cell in range(cells)]
        shared = _share(d[0, :, variant], weight[0])
        mean_share = sum(share for _, _, share, _ in each) / cells**2
        slices = Spread("slices", sum(slices.variance for *_, slices in each) / cells**2, np.inf)
        spreads = [Spread("pooled", pooled * shared, degrees), _scaled(own[variant], mean_share), slices]
        blocks = min(blocks for _, blocks, _, _ in each)
        found.append(_widest(float(np.mean([mean for mean, *_ in each])), blocks, spreads))
    return found


def own_variances(y: Array) -> list[Spread]:
    """Return each variant's own variance in units of one arm in one block, pooled over its cells."""
    d, weight = against_reference(y)
    found = []
    for variant in range(d.shape[2]):
        part = d[..., variant]
        there = ~np.isnan(part)
        inverse = np.where(there, 1 / weight, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.nansum(part * inverse, axis=1) / inverse.sum(axis=1)
        squares = np.nansum((part - means[:, None]) ** 2 * inverse)
        degrees = float(np.maximum(there.sum(axis=1) - 1, 0).sum())
        found.append(Spread("own", float(squares / degrees) if degrees else float("nan"), degrees))
    return found


def _one_cell(y: Array, slice_variance: Array, cell: int, variant: int) -> tuple[float, int, float, Spread]:
    """Return (mean, blocks, variance of the mean in units of one arm's, the slices' variance of the mean)."""
    d, weight = against_reference(y[cell][None])
    part, inverse = d[0, :, variant], 1 / weight[0]
    there = ~np.isnan(part)
    if not there.any():
        return float("nan"), 0, float("nan"), Spread("slices", float("nan"), np.inf)
    weights = np.where(there, inverse, 0.0) / inverse[there].sum()
    references = slice_variance[cell][:, :REFERENCES]
    counted = np.maximum((~np.isnan(references)).sum(axis=1), 1)
    each = slice_variance[cell][:, REFERENCES + variant] + np.nansum(references, axis=1) / counted**2
    slices = Spread("slices", float(np.nansum(weights**2 * each)), np.inf)
    return float(np.nansum(weights * part)), int(there.sum()), _share(part, weight[0]), slices


def _share(part: Array, weight: Array) -> float:
    there = ~np.isnan(part)
    return float(1 / (1 / weight[there]).sum()) if there.any() else float("nan")


def _scaled(spread: Spread, share: float) -> Spread:
    return Spread(spread.basis, spread.variance * share, spread.degrees)


def _widest(mean: float, blocks: int, spreads: list[Spread]) -> Interval:
    usable = [spread for spread in spreads if spread.degrees > 0 and np.isfinite(spread.variance)]
    if blocks < 2 or not usable:
        return Interval(mean, float("nan"), float("nan"), blocks, "")
    widest = max(usable, key=Spread.half)
    return Interval(mean, widest.half(), max(spread.p(mean) for spread in usable), blocks, widest.basis)
