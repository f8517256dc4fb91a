"""The guard of a job: found by the pipe that both have open, and killed together with it."""

import contextlib
import os
import signal
from pathlib import Path

import psutil


def guard_of(pid: int) -> int:
    """Return the process that cleans up when this one dies."""
    pipes = {_pipe(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()} - {""}
    (guard,) = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [""])[-1] == "guard" and _pipe(Path(f"/proc/{process.pid}/fd/0")) in pipes
    ]
    return guard


def kill_with_guard(pid: int) -> None:
    """Kill a job and its guard, which must not see the job end before it is killed itself."""
    both = [guard_of(pid), pid]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for victim in both:
            os.kill(victim, number)


def _pipe(entry: Path) -> str:
    with contextlib.suppress(OSError):
        target = str(entry.readlink())
        return target if target.startswith("pipe:") else ""
    return ""
