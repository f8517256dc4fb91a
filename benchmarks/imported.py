"""Seconds of an import of 20 000 made logs, and of 2 000 of many workloads, by this checkout and, in turns, by another.

Exits with status 1 when this checkout takes longer than LIMIT_S for one of the two.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.table import ROOT
from benchmarks.timed import Spent, median, spent
from tests.made.logs import tree

EFFECTS = {f"v{number}": 0.02 * number for number in range(1, 10)} | {"baseline": 0.0}
TWO = {"v1": 0.02, "baseline": 0.0}
# Variants, workloads, client counts, repetitions: 20 000 logs; 1 920, whose curves take most of the time.
TREES = {
    "many repetitions": (EFFECTS, tuple("abcdefgh"), tuple(2**power for power in range(10)), 25),
    "many workloads": (TWO, tuple(f"w{number}" for number in range(160)), (1, 16), 3),
}
LIMIT_S = 60


def imported(checkout: Path, folder: Path) -> Spent:
    """Import the logs of a folder with the code of a checkout; returns what that took."""
    shutil.rmtree(folder / "results", ignore_errors=True)
    command = ["env", f"PYTHONPATH={checkout}", sys.executable, "-m", "scripts.commands.import_logs"]
    return spent([*command, "--logs", "logs", "--study", "many"], folder)


def main(against: Path | None, times: int) -> int:
    """Import, print the median of each tree and checkout; returns the exit status."""
    checkouts = [checkout.resolve() for checkout in (ROOT, against) if checkout]
    return max(_measure(name, checkouts, times) for name in TREES)


def _measure(name: str, checkouts: list[Path], times: int) -> int:
    with tempfile.TemporaryDirectory(prefix="imported-") as made:
        folder = Path(made)
        tree(folder / "logs", *TREES[name])
        os.sync()
        taken = [tuple(imported(checkout, folder) for checkout in checkouts) for _ in range(times)]
    medians = [median(spent_by) for spent_by in zip(*taken, strict=True)]
    for checkout, cost in zip(checkouts, medians, strict=True):
        print(f"{name}, {checkout}: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} CPU s, {cost.peak_mib:.0f} MiB")
    return int(medians[0].wall_s > LIMIT_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--times", type=int, default=3)
    sys.exit(main(**vars(parser.parse_args())))
