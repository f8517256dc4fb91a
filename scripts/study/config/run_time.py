"""Rows of a dataset, connections and seconds of a run, as a study states them; its notation of shares and times."""

import statistics
from dataclasses import dataclass

from scripts.lib.parts import Part
from scripts.lib.recipe_models import TablesRecipe
from scripts.lib.vocabulary import SHORTEST_SLICE_S
from scripts.study.config.declared_loads import DatasetDeclaration, WorkloadDeclaration
from scripts.study.config.loading import Study

# Seconds of a run besides its load.
OVERHEAD_S = 5
# Measured: 400 000 rows in 6 s on two cores, 200 000 in 7 s.
ROWS_PER_S = 50_000
LINKBENCH, ROWS_PER_ID = "linkbench.lua", 4
# One for reading, one for writing.
LINKBENCH_CONNECTIONS = 2
SECONDS = {"s": 1, "min": 60, "h": 3600}


def rows_of(dataset: TablesRecipe | DatasetDeclaration) -> int:
    """Return the rows of all tables of a dataset, 0 when only its script knows.

    An id of linkbench.lua, with its links, takes as much disk and time as four rows.
    """
    ids = dataset.options.get("ids") if dataset.script == LINKBENCH else None
    return int(ids) * ROWS_PER_ID if ids else (dataset.tables or 1) * (dataset.rows or 0)


def snapshot_rows(dataset: TablesRecipe | DatasetDeclaration) -> int:
    """Return the rows in a dataset's snapshot: 0 when every run loads them anew."""
    return 0 if dataset.fresh else rows_of(dataset)


def connections_each(workload: WorkloadDeclaration) -> int:
    """Return how many connections a client of a workload opens."""
    return LINKBENCH_CONNECTIONS if workload.script == LINKBENCH else 1


@dataclass(frozen=True, slots=True)
class StatedTimes(Part):
    """What a study, or the recipe of a recorded load, states of the time of a run; timed SQL has only the rest."""

    rest_s: int = 0
    warmup_s: int = 0
    measure_s: int = 0
    rounds: int | None = None
    slice_s: float | None = None

    @property
    def load_s(self) -> float:
        """The seconds of rest, warm-up and window: that of `rounds`, with the shortest slices where none is stated."""
        window_s = self.rounds * (self.slice_s or SHORTEST_SLICE_S) if self.rounds else self.measure_s
        return float(self.rest_s + self.warmup_s + window_s)


def load_s(study: Study) -> float:
    """Return the seconds that a study states per run: rest, warm-up and window."""
    declared = study.declared
    slice_s = declared.slice_s if isinstance(declared.slice_s, float | int) else None
    times = StatedTimes(declared.rest_s, declared.warmup_s, declared.measure_s, declared.rounds, slice_s)
    return times.load_s


def fresh_s(study: Study) -> float:
    """Return the seconds in which a run loads its tables anew, the mean over the workloads."""
    used = [study.declared.datasets[load.dataset] for load in study.loads.values()]
    return statistics.fmean(rows_of(dataset) / ROWS_PER_S if dataset.fresh else 0 for dataset in used)


def stated_s(study: Study) -> float:
    """Return the estimated seconds of a run before one was measured, the mean over the workloads."""
    return load_s(study) + fresh_s(study) + OVERHEAD_S


def share_of(value: str | float) -> float:
    """Return a share that is written as `2 %` or 0.02; the schema has checked it."""
    if isinstance(value, str):
        return float(value.removesuffix("%")) / 100
    return float(value)


def seconds_of(value: str) -> float:
    """Return the seconds of a time that is written as `90 s`, `20 min` or `2 h`; the schema has checked it."""
    number = value.rstrip("".join(SECONDS))
    return float(number) * SECONDS[value[len(number) :]]
