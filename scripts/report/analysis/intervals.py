"""Ratios to the reference over blocks of several arms, with intervals that hold under more than one kind of noise.

A block gives one figure per arm. Arrays are `y[cells, blocks, arms]`, natural logs of the figures, NaN where an arm is
not in a block, failed, or the block is missing; arm 0 is the reference, arm 1 the reference a second time (A/A), the
others are variants. `slice_variance`, of the same shape, is the variance of y that the slices within the block alone
account for, NaN where it is unknown, as for blocks measured by turns. All functions but `combination` accept further
axes before these, one study per place, so that simulations judge thousands of studies in one call.

The interval is the widest of three, since each alone fails under some kind of noise: pooled over all arms fails when
one variant is noisier than the others, a variant's own over cells has few degrees of freedom and, when cells of one
repetition move together, fewer still, and both can be narrower by luck than the slices allow. How closely the cells
move together is estimated from all arms. `benchmarks/coverage.csv` holds what the intervals cover in simulations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scripts.report.analysis import stats
from scripts.report.analysis.spreads import Interval, Spread
from scripts.report.analysis.stats import Array, Flags, Integers

REFERENCES = 2


@dataclass(frozen=True)
class SignedSum:
    """Differences of logs within blocks; each array has the shape (cells, blocks), NaN where there is none.

    `weight` is the variance of a value in units of one arm's, `slices` the variance that slices alone account for.
    """

    values: Array
    weight: Array
    slices: Array

    @property
    def chosen(self) -> Flags:
        """Whether each cell has a value."""
        return np.asarray(~np.isnan(self.values).all(axis=-1))

    def of_cells(self, chosen: Sequence[int]) -> "SignedSum":
        """Return the contrast in these cells."""
        return SignedSum(self.values[..., chosen, :], self.weight[..., chosen, :], self.slices[..., chosen, :])


def against_reference(y: Array, slice_variance: Array) -> list[SignedSum]:
    """Return the contrast of every arm but the first with the reference of its block.

    The first one is A/A less the reference alone. A variant is compared with the mean of those of the two reference
    arms that are there: its weight is 1.5 with both, 2 with one.
    """
    aa = SignedSum(
        y[..., 1] - y[..., 0],
        np.where(np.isnan(y[..., 1] - y[..., 0]), np.nan, 2.0),
        slice_variance[..., 1] + slice_variance[..., 0],
    )
    base, share, slices = _bases(y, slice_variance)
    variants = [
        SignedSum(
            y[..., arm] - base,
            np.where(np.isnan(y[..., arm] - base), np.nan, 1 + share),
            slice_variance[..., arm] + slices,
        )
        for arm in range(REFERENCES, y.shape[-1])
    ]
    return [aa, *variants]


def _bases(y: Array, slice_variance: Array) -> tuple[Array, Array, Array]:
    """Return (mean of the reference arms, its weight, its slices' variance) per cell and block."""
    arms = y[..., :REFERENCES]
    measured = ~np.isnan(arms)
    counted = measured.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(counted, 1 / counted, np.nan)
        base = np.where(counted, np.nansum(arms, axis=-1) * share, np.nan)
    slices = np.where(measured, slice_variance[..., :REFERENCES], 0.0).sum(axis=-1) * share**2
    return base, share, slices


def reference_means(y: Array, contrasts: Sequence[SignedSum]) -> list[Array]:
    """Return for each contrast of `against_reference` the mean log of what it is compared with, an array of cells.

    It is over the blocks of the contrast, weighed as these are, so that the variant's own mean is this plus the
    contrast's; NaN in a cell without a block.
    """
    both, *_ = _bases(y, np.zeros_like(y))
    bases = [y[..., 0], *(both for _ in contrasts[1:])]
    return [_mean_over_blocks(contrast, base) for contrast, base in zip(contrasts, bases, strict=True)]


def _mean_over_blocks(contrast: SignedSum, logs: Array) -> Array:
    weights = _weights(contrast)
    return np.where(contrast.chosen, np.where(weights > 0, weights * logs, 0.0).sum(axis=-1), np.nan)


def combination(y: Array, slice_variance: Array, signs: Mapping[int, float], repetitions: Integers) -> SignedSum:
    """Return the signed sum of the arms' differences from their references, one value per cell and repetition.

    `signs` holds the sign of each arm, arm 0 standing for the mean of both reference arms; `repetitions` numbers the
    blocks. Arms of one block share its reference, which cancels as far as their signs do.
    """
    base, share, base_slices = _bases(y, slice_variance)
    numbers = np.unique(repetitions)
    parts = np.full((3, len(y), len(numbers)), np.nan)
    for column, number in enumerate(numbers):
        used = np.zeros((len(y), y.shape[-1]), dtype=bool)
        total = np.zeros((3, len(y)))
        for block in np.flatnonzero(repetitions == number):
            coefficient = np.zeros(len(y))
            for arm, sign in signs.items():
                here = (
                    ~np.isnan(y[:, block, arm] - base[:, block]) & ~used[:, arm] if arm else ~np.isnan(base[:, block])
                )
                used[:, arm] |= here
                if not arm:
                    continue
                coefficient -= sign * here
                logs = np.where(here, y[:, block, arm], 0.0)
                total += [sign * logs, sign**2 * here, np.where(here, sign**2 * slice_variance[:, block, arm], 0.0)]
            takes = coefficient != 0
            terms = [coefficient * base[:, block], coefficient**2 * share[:, block]]
            total += np.where(takes, [*terms, coefficient**2 * base_slices[:, block]], 0.0)
        parts[:, :, column] = np.where(used[:, list(signs)].all(axis=1), total, np.nan)
    return SignedSum(*parts)


def pooled_variance(y: Array) -> tuple[Array, Array]:
    """Return (variance of one arm in one block, degrees of freedom) of y[..., blocks, arms], pooled over all arms.

    The residual of a least-squares fit of an effect per block and one per variant; both reference arms share theirs.
    With n whole blocks, A arms and K variants there are n (A - 1) - K degrees of freedom. NaN with none.
    """
    measured = ~np.isnan(y)
    arms = measured.sum(axis=-1, keepdims=True)
    share = measured / np.maximum(arms, 1)
    centred = np.where(measured, y - np.sum(share * np.nan_to_num(y), axis=-1, keepdims=True), 0.0)
    # The membership of arms in what they measure, of shape (arms, arms - 1): both reference arms are one.
    products = np.eye(max(y.shape[-1] - 1, 1))[np.maximum(np.arange(y.shape[-1]) - 1, 0)]
    member, of_block = measured @ products, share @ products
    # Normal equations of the variants' effects once those of the blocks are eliminated (Searle 1987, section 4.9).
    crossed = np.swapaxes(member, -1, -2) @ of_block
    normal = np.eye(products.shape[1]) * member.sum(axis=-2)[..., None, :] - crossed
    effect = np.linalg.pinv(normal, rcond=1e-9, hermitian=True) @ (centred.sum(axis=-2) @ products)[..., None]
    fitted = (products @ effect)[..., None, :, 0] - of_block @ effect
    squares = (np.where(measured, centred - fitted, 0.0) ** 2).sum(axis=(-1, -2))
    rank = np.linalg.matrix_rank(normal, tol=1e-9, hermitian=True)
    degrees = measured.sum(axis=(-1, -2)) - (arms > 0).sum(axis=(-1, -2)) - rank.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(degrees > 0, squares / degrees, np.nan), degrees


@dataclass(frozen=True)
class _Pool:
    """The spreads pooled over arms: of each cell, an array of cells, and of the blocks' means over the chosen cells.

    `together` is the correlation of the cells of one repetition, at least 0; unknown counts as 0.
    """

    cells: Spread
    means: Spread
    together: Array

    def degrees(self, apart: Array, clusters: Array) -> Array:
        """Return the degrees of freedom between those of independent cells and those of cells that move as one.

        The root of the correlation as weight keeps coverage at 94 % and above in simulations; the correlation itself
        lets it fall to 93 %.
        """
        weight = np.sqrt(self.together)
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 / ((1 - weight) / apart + np.where(weight > 0, weight / clusters, 0.0))


def _pool(y: Array, chosen: Flags) -> _Pool:
    cells = Spread("pooled", *pooled_variance(y))
    number = np.maximum(chosen.sum(axis=-1), 1)
    mean = np.where(chosen[..., None, None], y, 0.0).sum(axis=-3) / number[..., None, None]
    means = Spread("pooled", *pooled_variance(mean))
    counted = np.where(chosen & cells.usable, cells.degrees, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = (np.nan_to_num(cells.variance) * counted).sum(axis=-1) / counted.sum(axis=-1)
        together = np.clip((means.variance * number / alone - 1) / (number - 1), 0.0, 1.0)
    return _Pool(cells, means, np.nan_to_num(np.where(number > 1, together, 0.0)))


def _pools(y: Array, contrasts: Sequence[SignedSum]) -> list[_Pool]:
    """Return the pool of the cells of each contrast, computed once for the contrasts that share their cells."""
    by_cells = {contrast.chosen.tobytes(): contrast.chosen for contrast in contrasts}
    pools = {key: _pool(y, chosen) for key, chosen in by_cells.items()}
    return [pools[contrast.chosen.tobytes()] for contrast in contrasts]


def cell_intervals(y: Array, contrasts: Sequence[SignedSum]) -> list[list[Interval]]:
    """Return the interval of each contrast in each cell: [cell][contrast].

    The widest of three: the spread pooled over the arms of the cell, the contrast's own over all cells, the slices'.
    `y` has the shape (..., cells, blocks, arms); the intervals have that of the leading axes.
    """
    pairs = zip(contrasts, _pools(y, contrasts), strict=True)
    intervals = [_of_cells(contrast, pool) for contrast, pool in pairs]
    return [[interval.at(cell) for interval in intervals] for cell in range(y.shape[-3])]


def _of_cells(contrast: SignedSum, pool: _Pool) -> Interval:
    """Return the intervals of a contrast as arrays whose last axis is the cells."""
    moments, apart = _moments(contrast), own_variance(contrast)
    cells = np.maximum(contrast.chosen.sum(axis=-1), 1)
    degrees = pool.degrees(apart.degrees, apart.degrees / cells)
    spreads = [
        pool.cells.scaled(moments.share),
        Spread("own", apart.variance[..., None] * moments.share, degrees[..., None] + 0 * moments.share),
        Spread("slices", moments.slices, np.full_like(moments.slices, np.inf)),
    ]
    return _interval(moments.mean, moments.blocks, spreads)


def overall_intervals(y: Array, contrasts: Sequence[SignedSum]) -> list[Interval]:
    """Return the interval of each contrast's mean over the cells that have it.

    Pooled is the spread over arms of the blocks' means over cells, so that cells which move together count once; own
    is the contrast's own within its cells, times 1 + (cells - 1) correlation (Kish 1965). Where so many arms are
    missing that fewer degrees of freedom are left to the pooled spread than the contrast's blocks have,
    `stats.clustered_variance` of the contrast replaces it.
    `y` has the shape (..., cells, blocks, arms); the intervals have that of the leading axes.
    """
    return [_over_cells(contrast, pool) for contrast, pool in zip(contrasts, _pools(y, contrasts), strict=True)]


def _over_cells(contrast: SignedSum, pool: _Pool) -> Interval:
    moments, chosen, variance = _moments(contrast), contrast.chosen, own_variance(contrast)
    cells = np.where(chosen.any(axis=-1), chosen.sum(axis=-1), np.nan)
    shares = np.where(chosen, moments.share, 0.0).sum(axis=-1)
    clustered = Spread("clustered", *stats.clustered_variance(contrast.values))
    enough = np.greater_equal(pool.means.degrees, clustered.degrees)
    fewer = enough & pool.means.usable & (cells > 1)
    apart = np.where(fewer, np.minimum(variance.degrees, pool.means.degrees), variance.degrees)
    by_variant = replace(variance, degrees=pool.degrees(apart, clustered.degrees))
    spreads = [
        # The mean of the cells' shares bounds the variance from above, however closely the cells move together.
        pool.means.scaled(shares / cells).where(enough),
        clustered.where(~enough),
        by_variant.scaled(shares / cells**2 * (1 + (cells - 1) * pool.together)),
        Spread("slices", np.where(chosen, moments.slices, 0.0).sum(axis=-1) / cells**2, np.full_like(cells, np.inf)),
    ]
    mean = np.where(chosen, moments.mean, 0.0).sum(axis=-1) / cells
    fewest = moments.blocks.min(axis=-1, where=chosen, initial=contrast.values.shape[-1])
    blocks = np.where(chosen.any(axis=-1), fewest, 0)
    return _interval(mean, blocks, spreads)


def own_variance(contrast: SignedSum) -> Spread:
    """Return the contrast's own variance in units of one arm in one block, pooled over its cells."""
    inverse = np.where(np.isnan(contrast.values), 0.0, 1 / contrast.weight)
    values = np.nan_to_num(contrast.values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (values * inverse).sum(axis=-1) / inverse.sum(axis=-1)
        squares = np.nansum((values - means[..., None]) ** 2 * inverse, axis=(-1, -2))
        degrees = np.maximum((inverse > 0).sum(axis=-1) - 1, 0).sum(axis=-1).astype(float)
        return Spread("own", squares / degrees, degrees)


@dataclass(frozen=True)
class _Moments:
    """Mean, blocks, variance of the mean in units of one arm's, and the slices' variance of it: arrays of cells."""

    mean: Array
    blocks: Integers
    share: Array
    slices: Array


def _weights(contrast: SignedSum) -> Array:
    """Return what each block counts for in the mean of its cell; 0 where there is none, NaN in a cell without any."""
    inverse = np.where(np.isnan(contrast.values), 0.0, 1 / contrast.weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights: Array = inverse / inverse.sum(axis=-1, keepdims=True)
        return weights


def _moments(contrast: SignedSum) -> _Moments:
    measured, weights = ~np.isnan(contrast.values), _weights(contrast)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 1 / np.where(measured, 1 / contrast.weight, 0.0).sum(axis=-1)
    mean, slices = (np.where(measured, weights**power * values, 0.0).sum(axis=-1)
                    for power, values in ((1, contrast.values), (2, contrast.slices)))  # fmt: skip
    mean, share, slices = (np.where(contrast.chosen, values, np.nan) for values in (mean, share, slices))
    return _Moments(mean, measured.sum(axis=-1), share, slices)


def _interval(mean: Array, blocks: Integers, spreads: Sequence[Spread]) -> Interval:
    # The slices of one start do not hold what a restart changes.
    restarted = np.any([spread.usable for spread in spreads if spread.basis != "slices"], axis=0) & (blocks > 1)
    return Interval(mean, blocks, tuple(spread.where(restarted) for spread in spreads))
