"""A/A beside the reference: how often its intervals miss 1, and when that widens all intervals."""

import numpy as np
import pytest

from scripts.report.analysis import calibration
from scripts.report.analysis.intervals import cell_intervals
from scripts.report.analysis.pairing import Arms


def arms(y):
    """Return arms of studies whose logs are `y[cells, blocks, arms]`."""
    cells = [(f"w{number}", 8) for number in range(y.shape[0])]
    names = ["baseline", "aa", *(f"v{number}" for number in range(y.shape[2] - 2))]
    slices = np.full(y.shape, np.nan)
    return Arms(["tps"], cells, np.arange(y.shape[1]), names, y[None], slices, frozenset())


def drawn(seed, offset=0.0, cells=8):
    chance = np.random.default_rng(seed)
    y = chance.normal(0, 0.02, (cells, 6, 4))
    y[..., 1] += offset * chance.choice([-1, 1], (cells, 1))
    return y


def row(y):
    return calibration.calibration_table(arms(y)).iloc[0]


def test_good_intervals_are_hardly_ever_widened_and_miss_1_in_at_most_one_of_twenty():
    found = [row(drawn(seed)) for seed in range(300)]
    assert np.mean([each["widened"] > 1 for each in found]) <= 0.025
    assert 0.005 < np.mean([each["n_missing"] / each["n_cells"] for each in found]) <= 0.05


def test_offset_between_two_runs_of_one_build_widens_intervals_by_the_birge_ratio():
    y = drawn(1, offset=0.08)
    found = row(y)
    assert found["n_missing"] >= 6
    assert found["widened"] == pytest.approx(np.sqrt(found["chi2"] / 8))
    (interval, *_), *_ = cell_intervals(y, arms(y).contrasts("tps"))
    assert interval.widened(found["widened"]).half == pytest.approx(interval.half * found["widened"])


def test_birge_ratio_never_narrows():
    assert calibration.birge_ratio(2.0, 8) == 1
    assert calibration.birge_ratio(32.0, 8) == 2
