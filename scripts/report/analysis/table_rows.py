"""Rows of the tables as pandas' `itertuples` gives them: the columns that sections and figures read."""

from typing import Protocol


class IntervalRow(Protocol):
    """A ratio to the reference, or of factors, with its 95 % interval and the code of its verdict; NaN where none."""

    ratio: float
    ratio_low: float
    ratio_high: float
    verdict: str | None


class CellRow(IntervalRow, Protocol):
    """A row of cells.csv."""

    variant: str
    workload: str
    clients: int
    metric: str
    value: float
    reference_value: float
    n_blocks: float


class MeanRow(IntervalRow, Protocol):
    """A mean over cells: a row of overall.csv, factors.csv or effects.csv."""

    metric: str
    detectable_ratio: float
    n_cells: int
    n_cells_planned: int
    n_repetitions: int
    n_blocks_least: int
    n_pairs: int


class OverallRow(MeanRow, Protocol):
    """A row of overall.csv."""

    variant: str
    settling_repetitions: float
    settling_min: float
    n_above: int
    n_below: int
    n_same: int
    n_open: int
    n_undecided: int
    n_flagged: int
