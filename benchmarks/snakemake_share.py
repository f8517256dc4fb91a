"""Which share of a study's measuring phase is Snakemake's own, from the records of its blocks.

Between two blocks the machine waits for Snakemake: it stores what it knows of the last job, chooses the next and starts
it. A gap of more than a minute is an interruption, not Snakemake, and is left out. The reference is what starting
Python and our own modules takes in the same blocks, which no workflow system can do without.
"""

import argparse
import statistics
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.table import ROOT, Row, run
from scripts.lib import json_record

BENCH = "snakemake_share"
STUDY = ROOT / "results/studies/default"
LIMIT_PERCENT = 1
INTERRUPTED_S = 60


def measured(study: Path) -> list[Row]:
    """Return the rows of a measured study, by its folder. Raises ValueError when it has no two blocks."""
    files = sorted(study.glob("blocks/*/*/*/*/block.json"))
    if len(files) < 2:
        raise ValueError(f"{study}: {len(files)} blocks under blocks/, expected a measured study")
    blocks = [json_record.read(file) for file in files]
    times = sorted((block["started_at"], block["ended_at"]) for block in blocks)
    return rows(
        f"{study.name}, {len(blocks)} blocks", times, [_startup_s(*pair) for pair in zip(files, blocks, strict=True)]
    )


def _startup_s(file: Path, block: dict[str, Any]) -> float:
    """Return the seconds until the job of a block began its work; by turns its first run has them."""
    first = next(iter(block.get("turns", [])), None)
    phases_s = json_record.read(file.with_name(f"{first}.json"))["phases_s"] if first else block["phases_s"]
    return phases_s["startup"]


def rows(what: str, times: list[tuple[float, float]], startups_s: list[float]) -> list[Row]:
    """Return the share in percent and the median seconds between two blocks; `times` are starts and ends, in order."""
    gaps_s = [start - end for (_, end), (start, _) in pairwise(times)]
    waited_s = [gap for gap in gaps_s if gap < INTERRUPTED_S]
    busy_s = sum(end - start for start, end in times)
    share = 100 * sum(waited_s) / (busy_s + sum(waited_s))
    startup_share = 100 * sum(startups_s) / (busy_s + sum(waited_s))
    between = Row(BENCH, what, statistics.median(waited_s), "s", statistics.median(startups_s))
    return [Row(BENCH, what, share, "%", startup_share, LIMIT_PERCENT), between]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, default=STUDY, help="folder of a measured study, under results/studies")
    sys.exit(run([partial(measured, **vars(parser.parse_args()))]))
