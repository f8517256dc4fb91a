"""Recompute a run's figures without the product: from what sysbench printed, or from what the gate counted."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pandas as pd

LINE = re.compile(r"^\[ (\d+)s \] thds: \d+ tps: ([\d.]+) ", re.M)
BUCKET = re.compile(r"^\s+([\d.]+) \|\**\s+(\d+)$", re.M)
PERCENTILE = re.compile(r"^ +95th percentile: +([\d.]+)$", re.M)


def tps(text: Path, measure_s: int) -> float:
    """Return the mean of the per-second rates of the window: the reports after the first, one for each second."""
    rates = {int(second): float(rate) for second, rate in LINE.findall(text.read_text())}
    chosen = [rates[second] for second in range(2, measure_s + 2)]
    return sum(chosen) / len(chosen)


def _p95_ms(latency_ms: Sequence[float], count: Sequence[int]) -> float:
    rank, seen = math.floor(0.95 * sum(count) + 0.5), accumulate(count)
    return next(latency for latency, reached in zip(latency_ms, seen, strict=True) if reached >= rank)


def counted_p95_ms(run: dict) -> float:
    """Return the latency of the bucket of a record's own histogram that holds the 95th of 100 transactions, in ms."""
    return _p95_ms(run["histogram"]["latency_ms"], run["histogram"]["count"])


def printed_p95_ms(text: Path) -> float:
    """Return the 95th percentile that sysbench printed itself, in ms with two decimals."""
    return float(PERCENTILE.search(text.read_text())[1])


def printed_transactions(text: Path) -> int:
    """Return the transactions of the whole load: the sum over the buckets that sysbench printed."""
    return sum(int(count) for _, count in BUCKET.findall(text.read_text()))


@dataclass(frozen=True)
class Counted:
    """What the gate counted for an arm measured in slices, from the record of its block and its own.

    `share_of_open` is the part of its open time that counts: the beginning of each slice is left out. `tps` is that of
    the slices, each weighted with its transactions; in `tps_of_open` clients' waits at both edges of slices count too.
    """

    transactions: int
    share_of_open: float
    tps: float
    tps_of_open: float
    p95_ms: float

    @classmethod
    def of(cls, path: Path) -> "Counted":
        """Return that of the record of an arm, which lies beside that of its block."""
        run, block = json.loads(path.read_text()), json.loads(path.with_name("block.json").read_text())
        slices = pd.DataFrame(block["slices"])
        own = slices[slices["arm"] == run["variant"]]
        open_s = own["open_ms"] / 1e3
        counted_s = (open_s - run["sliced"]["skip_s"]).sum()
        transactions = int(own["transactions"].sum())
        share = float(counted_s / open_s.sum())
        tps = transactions / (own["transactions"] / own["tps"]).sum()
        return cls(transactions, share, tps, transactions / counted_s, _p95_ms(*run["histogram"].values()))
