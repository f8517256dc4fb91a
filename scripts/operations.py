"""Latency by operation: lines that a Lua script prints at the end of a call, as `workloads/linkbench.lua` does.

One line is `operation NAME: N calls, sum T us, longest L us, up to us: LATENCY:CALLS LATENCY:CALLS ...`, where LATENCY
is the upper end of a bucket in µs. Several processes of one load print a line each.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.tables import FACTS, RUN

LINE = re.compile(
    r"^operation (\S+): ([1-9]\d*) calls, sum (\d+) us, longest (\d+) us, up to us:((?: \d+:\d+)+)$", re.MULTILINE
)
SHARES = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}
COLUMNS: dict[str, str] = {
    **{name: FACTS[name][1] for name in RUN},
    "operation": "its name in the load's script",
    "calls": "calls in the whole measuring call of sysbench, its first and last second included",
    "mean_ms": "mean latency, milliseconds",
    **{name: f"{name[1:3]}th percentile of latency, milliseconds; buckets are 5 % wide" for name in SHARES},
    "max_ms": "longest latency, milliseconds",
}


def read(text: Path) -> dict[str, dict[str, float]]:
    """Return what a load's text says of its operations, by name; nothing where it has no such lines."""
    found: dict[str, list[re.Match]] = {}
    for line in LINE.finditer(text.read_text(encoding="utf-8", errors="replace")):
        found.setdefault(line[1], []).append(line)
    return {name: _summed(lines) for name, lines in found.items()}


def told(text: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Return what a run's record keeps of a load's text: `operations`, where it has some."""
    return {"operations": found} if (found := read(text)) else {}


def _summed(lines: list[re.Match]) -> dict[str, float]:
    calls, buckets = sum(int(line[2]) for line in lines), Counter[int]()
    longest_us = max(float(line[4]) for line in lines)
    for line in lines:
        for bucket in line[5].split():
            latency_us, count = map(int, bucket.split(":"))
            buckets[latency_us] += count
    return {
        "calls": calls,
        "mean_ms": sum(float(line[3]) for line in lines) / calls / 1000,
        **{name: min(_percentile_us(buckets, share), longest_us) / 1000 for name, share in SHARES.items()},
        "max_ms": longest_us / 1000,
    }


def _percentile_us(buckets: Counter[int], share: float) -> int:
    """Return the bucket with the given share of the calls, whose rank is the nearest whole number, as sysbench's."""
    rank, seen = max(1, math.floor(buckets.total() * share + 0.5)), 0
    for latency_us in sorted(buckets):
        seen += buckets[latency_us]
        if seen >= rank:
            return latency_us
    raise AssertionError("unreachable: the rank is at most the total")


def table(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return operations.csv: one row a run and operation, of those runs whose load tells them apart."""
    rows = [
        {**{name: facts[name] for name in RUN}, "operation": name, **measured}
        for facts in records
        for name, measured in (facts.get("operations") or {}).items()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))
