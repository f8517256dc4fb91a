"""Tidy tables of sampled counters, one row a sample, and of files, one row a part of a data directory."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from scripts.counters import COUNTERS
from scripts.tables import FACTS, RUN

SECOND = "seconds since sysbench began the measuring call, on the clock of series.csv"
SAMPLES: dict[str, str] = {**{name: FACTS[name][1] for name in RUN}, "second": SECOND, **COUNTERS}
EDGES = {"before": "before the warm-up", "after": "after the measuring call, the server still running"}
FILES: dict[str, str] = {
    **{name: FACTS[name][1] for name in RUN},
    "part": "a table with its indexes, as database.table or schema.table, or all files of the kind",
    "kind": "table, system, redo, undo, doublewrite, temporary, binary_log or other",
    **{
        f"{edge}_{kind}_bytes": f"{how} size of these files {when}, bytes"
        for kind, how in {"apparent": "apparent", "allocated": "allocated"}.items()
        for edge, when in EDGES.items()
    },
}


def samples(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return counters.csv: what was read every second of the runs that were asked to.

    Raises ValueError naming a counter that no column is for.
    """
    frames = [_sampled(facts) for facts in records if facts.get("counter_series")]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(SAMPLES))


def _sampled(facts: dict[str, Any]) -> pd.DataFrame:
    found = pd.DataFrame(facts["counter_series"])
    if unknown := set(found) - set(SAMPLES):
        raise ValueError(f"counter_series: {', '.join(sorted(unknown))} unknown, expected {', '.join(COUNTERS)}")
    return found.assign(**{name: facts[name] for name in RUN}).reindex(columns=list(SAMPLES))


def files(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return files.csv: a row a part of each run's data directory, empty fields where it was not there."""
    rows = [row for facts in records for row in _parts(facts)]
    return pd.DataFrame(rows, columns=list(FILES))


def _parts(facts: dict[str, Any]) -> Iterable[dict[str, Any]]:
    sides = {edge: (facts.get("files") or {}).get(edge) or {} for edge in EDGES}
    for part in sorted({*sides["before"], *sides["after"]}):
        there = {edge: side[part] for edge, side in sides.items() if part in side}
        sized = {f"{edge}_{name}": size for edge, one in there.items() for name, size in one.items() if name != "kind"}
        yield {**{name: facts[name] for name in RUN}, "part": part, "kind": next(iter(there.values()))["kind"], **sized}
