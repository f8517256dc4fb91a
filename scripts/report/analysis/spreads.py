"""A mean log ratio with its interval and p values, by the widest of several estimates of its variance."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from scripts.report.analysis.stats import LEVEL, Array, Flags, Integers

UNKNOWN = np.array(np.nan)
POWER = 0.80
Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True)
class Spread:
    """An estimate of a variance of the mean log ratio, with its degrees of freedom (infinite for the slices').

    Both have one number per study; a spread without a finite variance or without degrees of freedom gives NaN.
    """

    basis: str
    variance: Array
    degrees: Array

    @property
    def usable(self) -> Flags:
        """Whether an interval can be computed from it."""
        return np.greater(self.degrees, 0) & np.isfinite(self.variance)

    def scaled(self, factor: Array | float) -> "Spread":
        """Return the spread with its variance multiplied by a factor."""
        return replace(self, variance=self.variance * factor)

    def where(self, chosen: Flags) -> "Spread":
        """Return the spread where it is usable and chosen, NaN elsewhere."""
        usable = chosen & self.usable
        return Spread(self.basis, np.where(usable, self.variance, np.nan), np.where(usable, self.degrees, np.nan))

    def half(self, level: float = LEVEL) -> Array:
        """Return the half width of Student's interval."""
        half: Array = scipy.special.stdtrit(self.degrees, 0.5 + level / 2) * np.sqrt(self.variance)
        return half

    def p(self, distance: Array | float) -> Array:
        """Return the two-sided p value of a mean this far from the value that is tested."""
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(distance == 0, 0.0, np.abs(distance) / np.sqrt(self.variance))
            doubled: Array = 2 * scipy.special.stdtr(self.degrees, -statistic)
        return doubled


@dataclass(frozen=True)
class Interval:
    """A mean log ratio with the spreads it is judged by, and the number of blocks behind it; of one study or of many.

    The widest spread gives the interval, and `basis` names it: pooled, own, clustered or slices. Without a usable
    spread, or with one block, the bounds and p values are NaN.
    """

    mean: Array
    blocks: Integers
    spreads: tuple[Spread, ...] = ()

    def half_at(self, level: float) -> Array:
        """Return the half width at a level."""
        return reduce(np.fmax, (spread.half(level) for spread in self.spreads), UNKNOWN)

    @property
    def half(self) -> Array:
        """Half width of the 95 % interval."""
        return self.half_at(LEVEL)

    @property
    def low(self) -> Array:
        """Lower bound of the log ratio."""
        return self.mean - self.half

    @property
    def high(self) -> Array:
        """Upper bound of the log ratio."""
        return self.mean + self.half

    @property
    def basis(self) -> NDArray[np.str_]:
        """The spread that sets the width, empty without one."""
        return self._of_widest(np.array(["", *(spread.basis for spread in self.spreads)]))

    def p(self, beyond: float = 0.0) -> Array:
        """Return the two-sided p value of the hypothesis that |log ratio| is at most `beyond`; NaN without a spread."""
        return self._largest_p(np.maximum(np.abs(self.mean) - beyond, 0.0))

    def p_within(self, margin: float) -> Array:
        """Return the p value of the two one-sided tests of |log ratio| being at least `margin` (Schuirmann 1987).

        It is under 0.05 when the 90 % interval lies within the margin; NaN without a spread.
        """
        distance = margin - np.abs(self.mean)
        one_sided = self._largest_p(distance) / 2
        return np.where(distance >= 0, one_sided, 1 - one_sided)

    def detectable(self) -> Array:
        """Return the |log ratio| that a study with this interval finds with a chance of 80 %."""
        sizes = [spread.half() + scipy.special.stdtrit(spread.degrees, POWER) * np.sqrt(spread.variance)
                 for spread in self.spreads]  # fmt: skip
        return self._of_widest(np.array(np.broadcast_arrays(UNKNOWN, *sizes)))

    def widened(self, factor: float) -> "Interval":
        """Return the same mean with an interval `factor` times as wide."""
        return replace(self, spreads=tuple(spread.scaled(factor**2) for spread in self.spreads))

    def at(self, index: int) -> "Interval":
        """Return the intervals at one index of the last axis."""
        spreads = (Spread(of.basis, of.variance[..., index], of.degrees[..., index]) for of in self.spreads)
        return Interval(self.mean[..., index], self.blocks[..., index], tuple(spreads))

    def _largest_p(self, distance: Array) -> Array:
        return reduce(np.fmax, (spread.p(distance) for spread in self.spreads), UNKNOWN)

    def _of_widest(self, values: NDArray[Value]) -> NDArray[Value]:
        """Return the value of the widest spread: the first of `values` stands for none, the others for `spreads`."""
        halves = np.array(np.broadcast_arrays(-1.0, *(np.nan_to_num(of.half(), nan=-1.0) for of in self.spreads)))
        widest = np.argmax(halves, axis=0)
        values = values.reshape(values.shape + (1,) * (halves.ndim - values.ndim))
        chosen: NDArray[Value] = np.take_along_axis(np.broadcast_to(values, halves.shape), widest[None], axis=0)[0]
        return chosen
