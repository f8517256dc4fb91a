"""Read what sysbench printed anew, without the product's parser, and recompute a run's figures from it."""

import math
import re
from pathlib import Path

LINE = re.compile(r"^\[ (\d+)s \] thds: \d+ tps: ([\d.]+) ", re.M)
BUCKET = re.compile(r"^\s+([\d.]+) \|\**\s+(\d+)$", re.M)
PERCENTILE = re.compile(r"^ +95th percentile: +([\d.]+)$", re.M)


def tps(text: Path, measure_s: int) -> float:
    """Return the mean of the per-second rates of the window: the reports after the first, one for each second."""
    rates = {int(second): float(rate) for second, rate in LINE.findall(text.read_text())}
    chosen = [rates[second] for second in range(2, measure_s + 2)]
    return sum(chosen) / len(chosen)


def p95_ms(text: Path) -> float:
    """Return the latency of the bucket that holds the 95th of 100 transactions, in ms; sysbench rounds that rank."""
    buckets = sorted((float(latency), int(count)) for latency, count in BUCKET.findall(text.read_text()))
    rank, seen = math.floor(0.95 * sum(count for _, count in buckets) + 0.5), 0
    for latency, count in buckets:
        seen += count
        if seen >= rank:
            return latency
    raise ValueError(f"{text}: no histogram")


def printed_p95_ms(text: Path) -> float:
    """Return the 95th percentile that sysbench printed itself, in ms with two decimals."""
    return float(PERCENTILE.search(text.read_text())[1])
