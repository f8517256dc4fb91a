"""What a server asks of the kernel: strace's summary of its system calls, and how long each wait for the disk took."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.tracer import ToolFailed

# Those by which a server waits until what it wrote is on the medium.
SYNCING = ("fsync", "fdatasync", "msync", "sync_file_range")
ROW = re.compile(
    r"^ *[\d.]+ +(?P<seconds>[\d.]+) +\d+ +(?P<calls>\d+) +(?:(?P<errors>\d+) +)?(?P<name>[a-z_]\w*)$", re.M
)
# The end of a call: one that another thread's lines came between is told in two parts, the second with its time.
TIMED = re.compile(rf"\b({'|'.join(SYNCING)})(?:\(| resumed>).*<(\d+\.\d+)>$")


def summary_command(pids: Sequence[int], output: Path) -> list[str]:
    """Return the command that counts all system calls until it is told to stop."""
    return _command(["-c"], pids, output)


def syncs_command(pids: Sequence[int], output: Path) -> list[str]:
    """Return the command that times every call which waits for the disk until it is told to stop."""
    return _command(["-T", "-e", f"trace={','.join(SYNCING)}"], pids, output)


def _command(how: list[str], pids: Sequence[int], output: Path) -> list[str]:
    attached = [f"-p{pid}" for pid in pids]
    return ["strace", *how, "-f", "-qq", "-e", "signal=none", "-o", str(output), *attached]


def summary(text: str) -> dict[str, Any]:
    """Return `calls`, rows of name, calls, errors and seconds of system time, as `strace -c` has counted them.

    Raises ToolFailed when there is no call.
    """
    rows = [
        {
            "name": row["name"],
            "calls": int(row["calls"]),
            "errors": int(row["errors"] or 0),
            "system_s": float(row["seconds"]),
        }
        for row in ROW.finditer(text)
        if row["name"] != "total"
    ]
    if not rows:
        raise ToolFailed(f"strace counted no system call: {text[-400:].strip() or '(its output is empty)'}")
    return {"calls": rows}


def syncs(lines: Iterable[str]) -> dict[str, Any]:
    """Return `syncs`, by system call `duration_us` and `count`, from what `strace -T` writes; empty without a call.

    Durations have three significant digits; equal ones stand once, with their number.
    """
    found: dict[str, Counter[int]] = {}
    for line in lines:
        if match := TIMED.search(line.rstrip("\n")):
            found.setdefault(match[1], Counter())[_rounded(float(match[2]) * 1e6)] += 1
    return {
        "syncs": {
            name: {"duration_us": sorted(counts), "count": [counts[value] for value in sorted(counts)]}
            for name, counts in found.items()
        }
    }


def _rounded(microseconds: float) -> int:
    return int(float(f"{microseconds:.3g}"))
