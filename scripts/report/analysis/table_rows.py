"""Rows of the tables as pandas' `itertuples` gives them: the columns that sections and figures read."""

from typing import Protocol


class IntervalRow(Protocol):
    """A ratio to the reference, or of factors, with its 95 % interval and the code of its verdict; NaN where none."""

    ratio: float
    ratio_low: float
    ratio_high: float
    verdict: str | None


class RepeatedRow(Protocol):
    """A row of a table with one row per repetition."""

    repetition: int


class CellRow(IntervalRow, Protocol):
    """A row of cells.csv."""

    variant: str
    workload: str
    clients: int
    metric: str
    value: float
    reference_value: float
    n_runs: int
    n_ok: int
    n_blocks: float
    n_split: float
    n_incomplete: float
    p: float
    p_holm: float
    basis: str


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
    p_holm: float
    settling_repetitions: float
    settling_min: float
    n_above: int
    n_below: int
    n_same: int
    n_open: int
    n_undecided: int
    n_flagged: int


class CalibrationRow(Protocol):
    """A row of calibration.csv."""

    metric: str
    chi2: float
    n_cells: int
    widened: float


class EffectRow(MeanRow, Protocol):
    """A row of effects.csv; workload and clients are missing over all cells."""

    n_factors: int
    workload: str | None


class FactorRow(MeanRow, Protocol):
    """A row of factors.csv."""

    interaction: bool


class BoundRow(Protocol):
    """A row of bounds.csv."""

    workload: str
    clients: int
    bound: str | None
    server_busy: float
    client_busy: float
    iowait_share: float
    n_server_cpus: float
    virtualisation: str | None


class AgainstRow(IntervalRow, Protocol):
    """A row of against.csv."""

    n_ok: int


class StatementRow(IntervalRow, Protocol):
    """A row of statements.csv."""

    variant: str
    workload: str
    statement: str
    cache: str
    n_ok: int
    n_answers: int
    n_blocks: float
    n_differ: float
    value_s: float
    reference_value_s: float
    server_cpu_s: float
    read_bytes: float
    write_bytes: float
    n_rows: float


class LevelRow(IntervalRow, Protocol):
    """A row of levels.csv."""

    n_cells: int
    n_cells_planned: int
    change: float
    arithmetic_change: float


class RelinkedRow(Protocol):
    """A row of relinked.csv."""

    moved: float
    moved_low: float
    moved_high: float
    n_relinks: int


class RunRow(Protocol):
    """The columns that name a run."""

    variant: str
    workload: str
    clients: int
    repetition: int


class LadderRow(Protocol):
    """A row of ladder.csv: TPS at a client count as a share of that at the best one."""

    clients: int
    share: float
    share_low: float
    share_high: float
    best_clients: int
    n_ok: int
