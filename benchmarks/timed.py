"""Run a command and say what it took, beside a reference command that says what the machine gives at the moment."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

REFERENCE = [sys.executable, "-c", "import snakemake.cli"]


@dataclass(frozen=True)
class Spent:
    """What a command and its processes took: seconds by the clock and of CPU; memory is that of the largest one."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def spent(command: list[str], folder: Path) -> Spent:
    """Run a command in `folder` and return what it took. Raises ValueError with its last lines when it fails."""
    with tempfile.TemporaryFile("w+") as said:
        begin_s = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - begin_s
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            raise ValueError(f"{command}: status {process.returncode}; it said:\n{said.read()[-4000:]}")
    return Spent(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def by_turns(command: list[str], folder: Path, times: int) -> tuple[Spent, Spent]:
    """Return the medians of a command and of the reference, run by turns so that both meet the same machine."""
    pairs = [(spent(command, folder), spent(REFERENCE, folder)) for _ in range(times)]
    ours, theirs = zip(*pairs, strict=True)
    return median(ours), median(theirs)


def median(many: tuple[Spent, ...]) -> Spent:
    """Return the median of each figure."""
    return Spent(*(statistics.median(getattr(one, key) for one in many) for key in ("wall_s", "cpu_s", "peak_mib")))
