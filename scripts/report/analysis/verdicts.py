"""Verdicts: what intervals and p values, adjusted for their number, allow to be said."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from scripts.lib.vocabulary import MIN_BLOCKS, Verdict
from scripts.report.analysis import stats
from scripts.report.analysis.columns import Row
from scripts.report.analysis.metrics import COLD_TIME, TPS
from scripts.report.analysis.spreads import Interval
from scripts.report.analysis.stats import ALPHA, Flags

# The metrics that get verdicts: one per kind of workload. All others have intervals only.
PRIMARY = (TPS.name, COLD_TIME.name)


def interval_columns(interval: Interval, matters: float) -> Row:
    """Return ratio, interval and p values of an interval of log ratios; `matters` is a share."""
    margin = float(np.log1p(matters))
    return {
        "log_ratio": float(interval.mean),
        "ratio": float(np.exp(interval.mean)),
        "ratio_low": float(np.exp(interval.low)),
        "ratio_high": float(np.exp(interval.high)),
        "basis": str(interval.basis) or None,
        "p": float(interval.p()),
        "p_beyond": float(interval.p(margin)),
        "p_same": float(interval.p_within(margin)),
    }


def with_verdicts(
    table: pd.DataFrame, tested: Sequence[bool] | Flags, blocks: str, primary: Sequence[str]
) -> pd.DataFrame:
    """Return rows of `interval_columns` with `p_holm`, `p_beyond_holm` and `verdict`.

    Holm's adjustment runs over the tested rows of a metric; rows that are not tested, or of a metric that is not
    primary, get no verdict. `blocks` names the column with the number of blocks that a verdict rests on.
    """
    if table.empty:
        return table
    chosen = np.asarray(tested, dtype=bool) & table["metric"].isin(primary).to_numpy()
    adjusted = {
        f"{name}_holm": table[name].where(chosen).groupby(table["metric"]).transform(stats.holm)
        for name in ("p", "p_beyond")
    }
    table = table.assign(**adjusted)
    columns = ("log_ratio", blocks, "p_holm", "p_beyond_holm", "p_same")
    verdicts = verdicts_on(*(table[name].to_numpy(dtype=float) for name in columns))
    verdicts[~chosen] = None
    return table.assign(verdict=pd.Series(verdicts, index=table.index, dtype=object))


def verdicts_on(
    log_ratio: ArrayLike, blocks: ArrayLike, p_holm: ArrayLike, p_beyond_holm: ArrayLike, p_same: ArrayLike
) -> NDArray[np.object_]:
    """Return the verdict on each mean log ratio; with under 5 blocks there is none.

    A difference, and one by more than what matters, need an adjusted p under 0.05; equality within what matters needs
    two one-sided tests at 5 % each.
    """
    above, far, differs = np.greater(log_ratio, 0), np.less(p_beyond_holm, ALPHA), np.less(p_holm, ALPHA)
    cases = {
        Verdict.TOO_FEW_BLOCKS: ~np.greater_equal(blocks, MIN_BLOCKS),
        Verdict.FAR_ABOVE: far & above,
        Verdict.FAR_BELOW: far,
        Verdict.ABOVE: differs & above,
        Verdict.BELOW: differs,
        Verdict.SAME: np.less(p_same, ALPHA),
    }
    codes = np.array([*cases, Verdict.OPEN], dtype=object)
    verdicts: NDArray[np.object_] = codes[np.select(list(cases.values()), range(len(cases)), len(cases))]
    return verdicts
