"""How long `snakemake -n` takes for studies of 100, 1 000 and 10 000 runs, new and finished.

The reference is the start of Snakemake alone, run by turns with the dry run.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks import sized
from benchmarks.table import Row, run
from benchmarks.timed import Spent, by_turns

BENCH = "planning"
LIMITS_S = {100: 4, 1000: 8, 10000: 60}
LIMIT_MIB = 2048
# A dry run of 10 000 takes as long as twenty of 100, and varies less.
TIMES = {100: 5, 1000: 3, 10000: 1}


def measured() -> list[Row]:
    """Plan studies of all sizes, new and finished."""
    found = []
    for runs in LIMITS_S:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            found += planned(Path(folder), runs)
    return found


def planned(folder: Path, runs: int) -> list[Row]:
    """Plan a new study, and the same one finished. Raises ValueError when Snakemake does not see it as finished."""
    config = sized.write(folder, runs)
    new = rows(f"new, {runs} runs", runs, *by_turns(sized.dry_run(config), folder, TIMES[runs]))
    sized.finish(folder, config)
    return new + rows(f"finished, {runs} runs", runs, *by_turns(sized.dry_run(config), folder, TIMES[runs]))


def rows(what: str, runs: int, ours: Spent, reference: Spent) -> list[Row]:
    """Return the rows of one planned study."""
    memory = LIMIT_MIB if runs == max(LIMITS_S) else None
    return [
        Row(BENCH, what, ours.wall_s, "s", reference.wall_s, LIMITS_S[runs]),
        Row(BENCH, what, ours.cpu_s, "CPU s", reference.cpu_s),
        Row(BENCH, what, ours.peak_mib, "MiB", reference.peak_mib, memory),
    ]


if __name__ == "__main__":
    sys.exit(run([measured]))
