"""What each factor of a matrix does, and what several do together, computed block by block: effects.csv."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pandas as pd

from scripts.comparison import NO_DIFFERENCE
from scripts.contrasts import Contrast
from scripts.factors import block_contrasts, whole_blocks
from scripts.metrics import EVERY
from scripts.overall import by_repetition, over_cells, worded
from scripts.wording import listing

COLUMNS = (
    "factor", "formula", "n_factors", "workload", "clients", "metric", "log_ratio", "ratio", "ratio_low", "ratio_high",
    "n_cells", "n_cells_planned", "n_repetitions", "n_blocks_least", "n_pairs", "p_t", "floor_log_ratio", "p_holm",
    "word",
)  # fmt: skip
INTERACTION, NO_INTERACTION = "interaction shown", "no interaction shown"
DIFFERENT = dict.fromkeys((word for metric in EVERY.values() for word in (metric.above, metric.below)), INTERACTION)
INTERACTIONS = {**DIFFERENT, NO_DIFFERENCE: NO_INTERACTION}


def table(study: dict[str, Any], runs: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Return effects.csv: one row per effect and metric over all cells, then, with several cells, one a cell.

    An effect is computed like the mean over cells of `overall.overall`, with its sum of logs in place of a pair's log
    ratio. Words are given over all cells: Holm's adjustment runs over the effects of a metric, and the noise floor,
    which is that of a pair, grows with the root of the sum of the squares of the signs, where that is more than two.
    """
    floor = floors.set_index("metric")["floor_log_ratio"]
    rows = [
        {"factor": effect.factor, "formula": effect.formula, "n_factors": effect.rank[0], **row}
        for effect in effects(study)
        for row in _rows(effect, study, runs, floor)
    ]
    found = worded(pd.DataFrame(rows), [row["workload"] is None for row in rows]).reindex(columns=list(COLUMNS))
    words = [INTERACTIONS.get(row.word, row.word) if row.n_factors > 1 else row.word for row in found.itertuples()]
    return found.assign(word=words, clients=found["clients"].astype("Int64"))


def effects(study: dict[str, Any]) -> list[Contrast]:
    """Return the main effects of a study's matrix, then the interactions of two factors, of three, and so on.

    A level is set against the reference's, where the reference is of the matrix, else against its factor's first.
    The effect of levels of some factors is the product of (this level - the base level) of these factors with the mean
    over the levels of all others, in logs: the classical effects of a full factorial (Box, Hunter & Hunter 1978).
    """
    section = study.get("matrix")
    if not section:
        return []
    factors, arms = section["factors"], section["arms"]
    base = arms.get(study["reference"]) or {name: levels[0] for name, levels in factors.items()}
    return [
        _effect(dict(zip(chosen, levels, strict=True)), base, factors, arms)
        for size in range(1, len(factors) + 1)
        for chosen in combinations(factors, size)
        for levels in product(*([level for level in factors[name] if level != base[name]] for name in chosen))
    ]


def _effect(chosen: dict[str, str], base: dict[str, str], factors: dict[str, list], arms: dict[str, dict]) -> Contrast:
    def weight(levels: dict[str, str]) -> float:
        signs = ({chosen[name]: 1, base[name]: -1}.get(levels[name], 0) for name in chosen)
        return math.prod(signs) / math.prod(len(factors[name]) for name in factors if name not in chosen)

    weights = {variant: weight(levels) for variant, levels in arms.items()}
    terms = tuple((variant, value) for variant, value in weights.items() if value)
    return Contrast(" × ".join(chosen), _formula(chosen, base), "", terms, (len(chosen), 0))


def _formula(chosen: dict[str, str], base: dict[str, str]) -> str:
    """Return which levels are set against which: b / a, or b.d · a.c / (a.d · b.c)."""
    if len(chosen) == 1:
        return " / ".join((*chosen.values(), *(base[name] for name in chosen)))
    sides: dict[int, list[str]] = {1: [], 0: []}
    for picks in product((True, False), repeat=len(chosen)):
        name = ".".join(chosen[each] if pick else base[each] for each, pick in zip(chosen, picks, strict=True))
        sides[1 - (len(chosen) - sum(picks)) % 2].append(name)
    return f"{' · '.join(sides[1])} / ({' · '.join(sides[0])})"


def label(factor: str, formula: str) -> str:
    """Return what an effect is called: `dw_off / dw_on`, or `interaction of ahi_off and dw_off`."""
    if " × " not in factor:
        return formula
    return f"interaction of {listing(formula.partition(' · ')[0].split('.'))}"


def _rows(effect: Contrast, study: dict[str, Any], runs: pd.DataFrame, floor: pd.Series) -> Iterator[dict[str, Any]]:
    whole = whole_blocks(runs, [variant for variant, _ in effect.terms], study.get("block_span_s"))
    norm = math.sqrt(sum(weight**2 for _, weight in effect.terms) / 2)
    for metric in floor.index:
        wide = by_repetition(block_contrasts(whole, effect, metric))
        limit = {"metric": metric, "floor_log_ratio": float(floor[metric]) * max(1.0, norm)}
        yield {"workload": None, "clients": None, **limit, **over_cells(wide)}
        for place in wide.index if len(wide) > 1 else ():
            cell = wide.loc[[place]]
            yield {**dict(zip(wide.index.names, place, strict=True)), **limit, **over_cells(cell)}
