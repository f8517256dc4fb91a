"""What each factor of a build brings by itself, computed block by block: factors.csv."""

from typing import Any

import numpy as np
import pandas as pd

from scripts.comparison import SAME
from scripts.contrasts import Contrast, contrasts
from scripts.overall import by_repetition, over_cells, worded
from scripts.tables import BLOCK

COLUMNS = (
    "factor", "formula", "server", "metric", "log_ratio", "ratio", "ratio_low", "ratio_high", "n_cells",
    "n_cells_planned", "n_repetitions", "n_blocks_least", "n_pairs", "p_t", "floor_log_ratio", "p_holm", "word",
)  # fmt: skip


def table(study: dict[str, Any], runs: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Return factors.csv: one row per contrast and metric, computed like the mean over cells of `overall.overall`.

    What is averaged is a contrast in place of a pair's log ratio. An interaction gets no word and is not tested.
    """
    floor = floors.set_index("metric")["floor_log_ratio"]
    rows, tested = [], []
    for contrast in contrasts(study):
        whole = whole_blocks(runs, [variant for variant, _ in contrast.terms], study.get("block_span_s"))
        for metric in floor.index:
            found = over_cells(by_repetition(block_contrasts(whole, contrast, metric)))
            named = {"factor": contrast.factor, "formula": contrast.formula, "server": contrast.server}
            rows.append({**named, "metric": metric, **found, "floor_log_ratio": float(floor[metric])})
            tested.append(len(contrast.terms) == 2 and found["n_cells"] > 0)
    return worded(pd.DataFrame(rows), tested).reindex(columns=list(COLUMNS))


def whole_blocks(runs: pd.DataFrame, variants: list[str], block_span_s: float | None) -> pd.DataFrame:
    """Return the rows of runs.csv of these variants, with `whole`: all of the block's are ok and belong together.

    They belong together under the conditions of `comparison.pair_runs`: same host, boot and sysbench program, and at
    most `block_span_s` from the first start to the last end.
    """
    chosen = runs[runs["variant"].isin(variants)]
    blocks = chosen.groupby(list(BLOCK), sort=False)
    whole = (chosen["outcome"] == "ok").groupby([chosen[name] for name in BLOCK]).transform("sum") == len(variants)
    for key in SAME:
        whole &= (blocks[key].transform("nunique") == 1) & (blocks[key].transform("count") == len(variants))
    span_s = blocks["ended_at"].transform("max") - blocks["started_at"].transform("min")
    return chosen.assign(whole=whole & (span_s <= (block_span_s or np.inf)))


def block_contrasts(whole: pd.DataFrame, contrast: Contrast, metric: str) -> pd.DataFrame:
    """Return one row a block with `log_ratio`: the signed sum of the logs of its values; NaN unless it is whole."""
    signs = whole["variant"].map(dict(contrast.terms))
    values = whole[metric].astype(float)
    logs = np.log(values.where(whole["whole"] & (values > 0)))
    keys = [whole[name] for name in BLOCK]
    summed = (signs * logs).groupby(keys, sort=False).agg(lambda terms: terms.sum(skipna=False))
    return summed.rename("log_ratio").reset_index()
