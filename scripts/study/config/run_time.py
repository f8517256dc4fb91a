"""Rows of a dataset, connections and seconds of a run, as a study states them; its notation of shares and times."""

import statistics
from collections.abc import Mapping
from typing import Any

from scripts.lib.vocabulary import AUTOMATIC, SHORTEST_SLICE_S
from scripts.study.config.loading import Study

# Seconds of a run besides its load.
OVERHEAD_S = 5
# Measured: 400 000 rows in 6 s on two cores, 200 000 in 7 s.
ROWS_PER_S = 50_000
LINKBENCH, ROWS_PER_ID = "linkbench.lua", 4
# One for reading, one for writing.
LINKBENCH_CONNECTIONS = 2
SECONDS = {"s": 1, "min": 60, "h": 3600}


def rows_of(dataset: Mapping[str, Any]) -> int:
    """Return the rows of all tables of a dataset, 0 when only its script knows.

    An id of linkbench.lua, with its links, takes as much disk and time as four rows.
    """
    ids = (dataset.get("options") or {}).get("ids") if dataset.get("script") == LINKBENCH else None
    return ids * ROWS_PER_ID if ids else (dataset.get("tables") or 1) * (dataset.get("rows") or 0)


def kept_rows(dataset: Mapping[str, Any]) -> int:
    """Return the rows in a dataset's snapshot: 0 when every run loads them anew."""
    return 0 if dataset.get("fresh") else rows_of(dataset)


def connections_each(workload: Mapping[str, Any]) -> int:
    """Return how many connections a client of a workload opens."""
    return LINKBENCH_CONNECTIONS if workload.get("script") == LINKBENCH else 1


def load_s(config: Mapping[str, Any]) -> float:
    """Return the seconds that a study states per run: rest, warm-up and window; timed SQL has only the rest.

    The window is that of its `rounds`, with the shortest slices where these are automatic.
    """
    slice_s = config.get("slice_s", AUTOMATIC)
    length_s = SHORTEST_SLICE_S if slice_s == AUTOMATIC else slice_s
    window_s = config["rounds"] * length_s if "rounds" in config else config.get("measure_s", 0)
    return float(config.get("rest_s", 0) + config.get("warmup_s", 0) + window_s)


def fresh_s(study: Study) -> float:
    """Return the seconds in which a run loads its tables anew, the mean over the workloads."""
    used = [study.entries["datasets"][study.entries["workloads"][name]["dataset"]] for name in study.workloads]
    return statistics.fmean(rows_of(dataset) / ROWS_PER_S if dataset.get("fresh") else 0 for dataset in used)


def stated_s(study: Study) -> float:
    """Return the estimated seconds of a run before one was measured, the mean over the workloads."""
    return load_s(study.config) + fresh_s(study) + OVERHEAD_S


def share_of(value: str | float) -> float:
    """Return a share that is written as `2 %` or 0.02; the schema has checked it."""
    if isinstance(value, str):
        return float(value.removesuffix("%")) / 100
    return float(value)


def seconds_of(value: str) -> float:
    """Return the seconds of a time that is written as `90 s`, `20 min` or `2 h`; the schema has checked it."""
    number = value.rstrip("".join(SECONDS))
    return float(number) * SECONDS[value[len(number) :]]
