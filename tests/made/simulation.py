"""Simulated studies in which nothing differs but what is asked for, judged by the functions that judge real ones.

Every column of the simulated runs that is compared is a study of its own: the columns are handed to the product as if
they were its metrics, so that a single call of each of its functions judges all studies, each by itself.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from scripts.analysis import comparison
from scripts.vocabulary import DIFFERENCES


@dataclass(frozen=True)
class Simulated:
    """What to simulate; effects and deviations are in log units, `slope` a run, `walk` the deviation of its steps.

    Every run loses `slope` against the one before and takes a step of a random walk; a variant's runs of one
    repetition share `shared`; `lost` is the share of pairs of pgo that have no value; `more` variants do as pgo does.
    """

    blocks: int
    slope: float = 0.0
    walk: float = 0.0
    shared: float = 0.01
    noise: float = 0.02
    effect: float = 0.0
    lost: float = 0.0
    drawn: bool = True
    cells: int = 8
    more: int = 0
    studies: int = 1000
    seed: int = 5

    @property
    def judged(self) -> tuple[str, ...]:
        return ("pgo", *(f"pgo{number}" for number in range(self.more)))

    @property
    def variants(self) -> tuple[str, ...]:
        return ("baseline", *self.judged, "aa")


def log_tps(plan: Simulated) -> np.ndarray:
    """Return log TPS of the shape (repetitions, cells, variants, studies)."""
    chance = np.random.default_rng(plan.seed)
    shape = (plan.blocks, plan.cells, len(plan.variants), plan.studies)
    steps = chance.normal(-plan.slope, plan.walk, (np.prod(shape[:3]), plan.studies))
    level = np.cumsum(steps, axis=0).reshape(shape)
    if plan.drawn:
        place = np.argsort(chance.random(shape), axis=2)
        level = np.take_along_axis(level, place, axis=2)
    cell = chance.normal(7, 1, (1, plan.cells, 1, plan.studies))
    shared = chance.normal(0, plan.shared, (plan.blocks, 1, *shape[2:]))
    effect = np.array([plan.effect * (name in plan.judged) for name in plan.variants])[:, None]
    return cell + level + shared + effect + chance.normal(0, plan.noise, shape)


def runs_of(plan: Simulated) -> pd.DataFrame:
    """Return runs.csv with one column a study; a lost pair is one whose run of pgo has no value."""
    values = np.exp(log_tps(plan))
    gone = np.random.default_rng(plan.seed + 1).random(values[:, :, 1].shape) < plan.lost
    values[:, :, 1][gone] = np.nan
    axes = [range(1, plan.blocks + 1), [f"w{cell}" for cell in range(plan.cells)], plan.variants]
    runs = pd.MultiIndex.from_product(axes, names=["repetition", "workload", "variant"]).to_frame(index=False)
    host = {"machine_id": "m", "boot_id": "b", "generator_boot_id": "b", "sysbench_sha256": "s"}
    same = {**host, "outcome": "ok", "reason": None}
    runs = runs.assign(clients=8, started_at=0.0, ended_at=1.0, warning_codes=None, **same)
    return pd.concat([runs, pd.DataFrame(values.reshape(len(runs), -1), columns=names(plan))], axis=1)


def names(plan: Simulated) -> list[str]:
    """Return the names of the simulated studies."""
    return [f"study {number}" for number in range(plan.studies)]


@dataclass(frozen=True)
class Outcome:
    """Shares over all simulated studies: `covered` of the cells' and `covered_overall` of the studies' intervals hold
    the truth, `alarms` of the cells' p lie under 0.05, `words` of the studies have a cell with a word, `word_overall`
    have a variant with a word over all cells.
    """

    covered: float
    covered_overall: float
    alarms: float
    words: float
    word_overall: float


@cache
def outcome(plan: Simulated, wrong: tuple[tuple[Any, str, Any], ...] = ()) -> Outcome:
    """Judge the studies with the product's functions; `wrong` names what is replaced: (module, name, stand-in)."""
    with _swapped(wrong):
        runs = runs_of(plan)
        compared = comparison.compare_pairs(comparison.pair_runs(runs, "baseline", None), names(plan))
        cells = comparison.cells(runs, compared, comparison.noise_floors(compared))
        judged, pairs = (table[table["variant"].isin(plan.judged)] for table in (cells, compared))
        means = comparison.overall_table(judged, pairs)
    truth = np.exp(plan.effect)
    return Outcome(
        covered=_holding(judged, truth),
        covered_overall=_holding(means, truth),
        alarms=float((judged["p_t"] < 0.05).mean()),
        words=_worded(judged),
        word_overall=_worded(means),
    )


def _worded(table: pd.DataFrame) -> float:
    return float(table["verdict"].isin(DIFFERENCES).groupby(table["metric"]).any().mean())


def _holding(table: pd.DataFrame, truth: float) -> float:
    known = table.dropna(subset=["ratio_low", "ratio_high"])
    return float(((known["ratio_low"] <= truth) & (truth <= known["ratio_high"])).mean())


def _swapped(swaps: tuple[tuple[Any, str, Any], ...]) -> ExitStack:
    stack = ExitStack()
    for module, name, stand_in in swaps:
        stack.enter_context(mock.patch.object(module, name, stand_in))
    return stack
