"""Seconds of an import of 20 000 made logs, by this checkout and, in turns, by another one.

Exits with status 1 when this checkout takes longer than LIMIT_S.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench.table import ROOT
from tests.bench.timed import Spent, median, spent
from tests.made.logs import tree

# 10 variants x 8 workloads x 10 client counts x 25 repetitions.
EFFECTS = {f"v{number}": 0.02 * number for number in range(1, 10)} | {"baseline": 0.0}
WORKLOADS, CLIENTS, REPETITIONS = tuple("abcdefgh"), tuple(2**power for power in range(10)), 25
LIMIT_S = 60


def imported(checkout: Path, folder: Path) -> Spent:
    """Import the logs of a folder with the code of a checkout; returns what that took."""
    shutil.rmtree(folder / "results", ignore_errors=True)
    command = ["env", f"PYTHONPATH={checkout}", sys.executable, "-m", "scripts.commands.import_logs"]
    return spent([*command, "--logs", "logs", "--study", "many"], folder)


def main(against: Path | None, times: int) -> int:
    """Import, print the median of each checkout; returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="imported-") as made:
        folder = Path(made)
        tree(folder / "logs", EFFECTS, WORKLOADS, CLIENTS, REPETITIONS)
        os.sync()
        checkouts = [checkout.resolve() for checkout in (ROOT, against) if checkout]
        taken = [tuple(imported(checkout, folder) for checkout in checkouts) for _ in range(times)]
    medians = [median(each) for each in zip(*taken, strict=True)]
    for checkout, found in zip(checkouts, medians, strict=True):
        print(f"{checkout}: {found.wall_s:.1f} s, {found.cpu_s:.1f} CPU s, {found.peak_mib:.0f} MiB")
    return int(medians[0].wall_s > LIMIT_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--times", type=int, default=3)
    sys.exit(main(**vars(parser.parse_args())))
