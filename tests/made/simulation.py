"""Simulated studies in which nothing differs but what the plan names, judged by the functions that judge real ones.

All studies of a plan are one array, so that a single call of each of the product's functions judges thousands of them.
`runs_of` makes the table of runs of one of them, with which the product's tables are computed.
"""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import MATTERS
from scripts.lib.vocabulary import AA, DIFFERENCES, MIN_BLOCKS
from scripts.report.analysis import calibration, intervals, stats, verdicts
from scripts.report.analysis.intervals import Array, Interval
from scripts.report.analysis.widening import STOPPING

REFERENCE = "baseline"


@dataclass(frozen=True)
class Simulated:
    """What to simulate; effects and deviations are in log units, `slope` per run, `walk` the deviation of its steps.

    Every run loses `slope` against the one before and takes a step of a random walk, in an order drawn per block. An
    arm's runs of one repetition share `shared`. Both kinds of noise of the first variant are `uneven` times those of
    the others, and a share `lost` of its runs has no value. `failed` is the share of runs of A/A without a value.
    `tails` are the degrees of freedom of the noise, None for normal noise.
    """

    blocks: int = 5
    cells: int = 4
    variants: int = 1
    slope: float = 0.0
    walk: float = 0.0
    shared: float = 0.01
    noise: float = 0.02
    tails: float | None = None
    effect: float = 0.0
    lost: float = 0.0
    failed: float = 0.0
    uneven: float = 1.0
    studies: int = 4000
    seed: int = 5

    @property
    def names(self) -> tuple[str, ...]:
        return (REFERENCE, AA, *(f"v{number}" for number in range(self.variants)))

    def error(self, share: float, wide: float = 2.0) -> float:
        """Return `wide` standard errors of a share of the studies."""
        return wide * np.sqrt(share * (1 - share) / self.studies)


def logs(plan: Simulated) -> Array:
    """Return log TPS of the shape (studies, cells, blocks, arms)."""
    chance = np.random.default_rng(plan.seed)
    shape = (plan.studies, plan.blocks, plan.cells, len(plan.names))
    y = chance.normal(7, 1, (plan.studies, 1, plan.cells, 1)) + _noise(plan, chance, shape)
    if plan.walk or plan.slope:
        y += _drift(plan, chance, shape)
    shared = chance.normal(0, plan.shared, (*shape[:2], 1, shape[-1]))
    shared[..., 2] *= plan.uneven
    y += shared
    y[..., 2:] += plan.effect
    y[..., 1][chance.random(shape[:-1]) < plan.failed] = np.nan
    y[..., 2][chance.random(shape[:-1]) < plan.lost] = np.nan
    return np.swapaxes(y, 1, 2)


def _noise(plan: Simulated, chance: np.random.Generator, shape: tuple[int, ...]) -> Array:
    if plan.tails is None:
        noise = chance.normal(0, plan.noise, shape)
    else:
        noise = plan.noise * chance.standard_t(plan.tails, shape) * np.sqrt(1 - 2 / plan.tails)
    noise[..., 2] *= plan.uneven
    return noise


def _drift(plan: Simulated, chance: np.random.Generator, shape: tuple[int, ...]) -> Array:
    level = np.cumsum(chance.normal(-plan.slope, plan.walk, (shape[0], np.prod(shape[1:]))), axis=1).reshape(shape)
    return chance.permuted(level, axis=-1)


def runs_of(plan: Simulated, study: int) -> pd.DataFrame:
    """Return runs.csv of one of the studies; a run that is lost has failed."""
    values = np.exp(np.moveaxis(logs(plan)[study], 1, 0))
    axes = [range(1, plan.blocks + 1), [f"w{cell}" for cell in range(plan.cells)], plan.names]
    runs = pd.MultiIndex.from_product(axes, names=["repetition", "workload", "variant"]).to_frame(index=False)
    host = {"machine_id": "m", "boot_id": "b", "generator_boot_id": "b", "sysbench_sha256": "s"}
    runs = runs.assign(tps=values.ravel(), clients=8, started_at=0.0, ended_at=1.0, warning_codes=None, **host)
    return runs.assign(outcome=np.where(runs["tps"].isna(), "failed", "ok"), reason=None)


@dataclass(frozen=True)
class Judged:
    """Intervals of all variants in each cell and over all cells, with their verdicts: arrays of studies.

    `cells` and `overall` have one interval per place of the last axis of `cell_verdicts` and `overall_verdicts`.
    """

    cells: list[Interval]
    overall: list[Interval]
    cell_verdicts: Array
    overall_verdicts: Array


def judged(y: Array, matters: float = MATTERS) -> Judged:
    """Judge studies of the shape (studies, cells, blocks, arms) as `comparison.compare` judges one."""
    contrasts = intervals.against_reference(y, np.full_like(y, np.nan))
    every = intervals.cell_intervals(y, contrasts)
    factor = calibration.factor_of(np.stack([cell[0].p() for cell in every], axis=-1))
    cells = [one.widened(factor) for cell in every for one in cell[1:]]
    overall = [one.widened(factor) for one in intervals.overall_intervals(y, contrasts[1:])]
    return Judged(cells, overall, _verdicts(cells, matters), _verdicts(overall, matters))


def _verdicts(found: list[Interval], matters: float) -> Array:
    margin = np.log1p(matters)
    columns = [[one.mean, one.blocks, one.p(), one.p(margin), one.p_within(margin)] for one in found]
    mean, blocks, p, p_beyond, p_same = (np.stack(each, axis=-1) for each in zip(*columns, strict=True))
    return verdicts.verdicts_on(mean, blocks, stats.holm(p), stats.holm(p_beyond), p_same)


@dataclass(frozen=True)
class Outcome:
    """Shares over all simulated studies: `covered` of the cells' and `covered_overall` of the studies' intervals hold
    the truth, `alarms` of the cells' p lie under 0.05, `words` of the studies have a cell with a word, `word_overall`
    have a variant with a word over all cells, and `far` with one of more than matters. `half` is the median half width
    over all cells.
    """

    covered: float
    covered_overall: float
    alarms: float
    words: float
    word_overall: float
    far: float
    half: float


@cache
def outcome(plan: Simulated, wrong: tuple[tuple[Any, str, Any], ...] = ()) -> Outcome:
    """Judge the studies with the product's functions; `wrong` names what is replaced: (module, name, stand-in)."""
    with _swapped(wrong):
        found = judged(logs(plan))
        p = np.array([one.p() for one in found.cells])
        worded, far = (np.isin(found.overall_verdicts.astype(str), codes) for codes in (DIFFERENCES, FAR))
        return Outcome(
            covered=holding(found.cells, plan.effect),
            covered_overall=holding(found.overall, plan.effect),
            alarms=float((p[~np.isnan(p)] < stats.ALPHA).mean()),
            words=float(np.isin(found.cell_verdicts.astype(str), DIFFERENCES).any(axis=-1).mean()),
            word_overall=float(worded.any(axis=-1).mean()),
            far=float(far.any(axis=-1).mean()),
            half=float(np.nanmedian([one.half for one in found.overall])),
        )


@dataclass(frozen=True)
class Stopped:
    """Shares over all simulated studies that stop at a precision: `covered` of the intervals over all cells of the
    variant with the fewest hold the truth; `repetitions` is their mean number.
    """

    covered: float
    repetitions: float


def looks(plan: Simulated) -> tuple[Array, Array]:
    """Return (means, half widths) over all cells of shape (looks, variants, studies), from the fifth block on."""
    y = logs(plan)
    every = [judged(y[:, :, :blocks]).overall for blocks in range(MIN_BLOCKS, plan.blocks + 1)]
    return tuple(np.array([[getattr(one, part) for one in found] for found in every]) for part in ("mean", "half"))


def stopped(means: Array, halves: Array, precision: float, wider: float = STOPPING, truth: float = 0.0) -> Stopped:
    """Stop each of the studies at its first look within `precision`, a share, at the latest at the last."""
    halves = halves * wider
    enough = np.expm1(halves.max(axis=1)) <= precision
    enough[-1] = True
    at, studies = enough.argmax(axis=0), np.arange(enough.shape[1])
    hits = np.abs(means - truth)[at, :, studies] <= halves[at, :, studies]
    return Stopped(float(hits.mean(axis=0).min()), float(at.mean()) + MIN_BLOCKS)


def medium_precision(halves: Array, share: float, wider: float = STOPPING) -> float:
    """Return the precision that is `share` of the median half width at the first look."""
    return float(np.expm1(np.median(halves[0].max(axis=0)) * wider * share))


FAR = (DIFFERENCES[0], DIFFERENCES[2])


def holding(found: list[Interval], truth: float) -> float:
    """Return the share of the intervals with bounds that hold the truth."""
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    known = ~np.isnan(low)
    return float(((low <= truth) & (truth <= high))[known].mean())


def smaller(plan: Simulated, studies: int) -> Simulated:
    """Return the plan with fewer studies."""
    return replace(plan, studies=studies)


def _swapped(swaps: tuple[tuple[Any, str, Any], ...]) -> ExitStack:
    stack = ExitStack()
    for module, name, stand_in in swaps:
        stack.enter_context(mock.patch.object(module, name, stand_in))
    return stack
