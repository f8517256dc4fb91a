"""Read what sysbench printed anew, without the product's parser, and recompute a run's figures from it."""

import re
from pathlib import Path

LINE = re.compile(r"^\[ (\d+)s \] thds: \d+ tps: ([\d.]+) ", re.M)
BUCKET = re.compile(r"^\s+([\d.]+) \|\**\s+(\d+)$", re.M)


def tps(text: Path, measure_s: int) -> float:
    """Return the mean of the per-second rates of the window: the reports after the first, one for each second."""
    rates = {int(second): float(rate) for second, rate in LINE.findall(text.read_text())}
    chosen = [rates[second] for second in range(2, measure_s + 2)]
    return sum(chosen) / len(chosen)


def p95_ms(text: Path) -> float:
    """Return the latency under which 95 % of the transactions in the printed histogram lie, in ms."""
    buckets = sorted((float(latency), int(count)) for latency, count in BUCKET.findall(text.read_text()))
    total, seen = sum(count for _, count in buckets), 0
    for latency, count in buckets:
        seen += count
        if seen >= 0.95 * total:
            return latency
    raise ValueError(f"{text}: no histogram")
