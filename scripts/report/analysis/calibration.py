"""Calibration: whether the reference measured a second time differs as often as its intervals say."""

import numpy as np
import pandas as pd
import scipy

from scripts.report.analysis.columns import Row
from scripts.report.analysis.intervals import cell_intervals
from scripts.report.analysis.pairing import Arms
from scripts.report.analysis.stats import ALPHA, Array
from scripts.report.analysis.table_columns import CALIBRATION

# A chi² this improbable is no chance: the intervals are too narrow.
IMPROBABLE = 0.01


def calibration_table(arms: Arms) -> pd.DataFrame:
    """Return calibration.csv: one row per metric, on the contrasts of A/A with the reference, one per cell."""
    return pd.DataFrame([_row(arms, metric) for metric in arms.metrics], columns=CALIBRATION.names)


def _row(arms: Arms, metric: str) -> Row:
    _, y, _ = arms.of(metric)
    of_aa = [contrasts[0] for contrasts in cell_intervals(y, arms.contrasts(metric)[:1])]
    intervals = [interval for interval in of_aa if np.isfinite(interval.half)]
    p_values = np.array([interval.p() for interval in intervals])
    chi2, p_chi2 = chi_square(p_values)
    return {
        "metric": metric,
        "n_cells": len(intervals),
        "n_missing": int((p_values < ALPHA).sum()),
        "n_blocks": sum(int(interval.blocks) for interval in intervals),
        "chi2": float(chi2) if intervals else float("nan"),
        "p_chi2": float(p_chi2) if intervals else float("nan"),
        "widened": float(factor_of(p_values)),
    }


def chi_square(p_values: Array) -> tuple[Array, Array]:
    """Return (chi², its probability) of two-sided p values along the last axis; NaNs are left out.

    Each counts with the square of the normal deviate that has the same p, whatever its degrees of freedom were.
    """
    deviates = scipy.special.ndtri(np.clip(p_values, 1e-300, 1) / 2)
    chi2 = np.nansum(deviates**2, axis=-1)
    return chi2, scipy.special.chdtrc(np.sum(~np.isnan(p_values), axis=-1), chi2)


def factor_of(p_values: Array) -> Array:
    """Return the factor of all intervals of a study whose A/A has these p values, along the last axis: at least 1."""
    chi2, p_chi2 = chi_square(p_values)
    return np.where(p_chi2 < IMPROBABLE, birge_ratio(chi2, np.sum(~np.isnan(p_values), axis=-1)), 1.0)


def birge_ratio(chi2: Array | float, contrasts: Array | int) -> Array:
    """Return by how much intervals must be wider for chi² to be what is expected of it (Birge 1932), at least 1."""
    return np.asarray(np.sqrt(np.maximum(chi2 / np.maximum(contrasts, 1), 1.0)))


def widening(calibration: pd.DataFrame, wider: float = 1.0) -> dict[str, float]:
    """Return the factor of each metric's intervals: that of calibration.csv times `wider`."""
    return dict(zip(calibration["metric"], calibration["widened"] * wider, strict=True))
