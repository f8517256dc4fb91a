"""Run the tests in two calls of pytest: first those that may share the machine, then those that need it alone.

`python -m tests.suite [--fast] [arguments of pytest]`. Tests marked `real` start, compile or measure real servers, or
watch the processes, the CPUs or the lock of the whole machine: they run one at a time, but for those marked `shares`.
All other tests run at the same time, by two workers per CPU, since they wait for commands and servers half of the
time. `--fast` leaves out the tests marked `real` and those marked `slow`. Both calls run whatever the first one finds.
"""

import os
import subprocess
import sys

import pytest

SHARING, ALONE, FAST = "not real or shares", "real and not shares", "not real and not slow"
# By whole files, see tests/workers.py, in the order of tests/conftest.py.
SHARED = ["--dist", "loadfile", "--no-loadscope-reorder"]
# More workers spend their time on importing the same modules.
MOST_WORKERS = 16


def calls(fast: bool) -> list[list[str]]:
    """Return the options of each call of pytest."""
    workers = min(2 * len(os.sched_getaffinity(0)), MOST_WORKERS)
    side_by_side = ["--numprocesses", str(workers), *SHARED]
    return [["-m", FAST, *side_by_side]] if fast else [["-m", SHARING, *side_by_side], ["-m", ALONE]]


def status_of(statuses: list[int]) -> int:
    """Return the exit status of the whole: 0 if every call passed that found tests, and at least one did."""
    found = [status for status in statuses if status != pytest.ExitCode.NO_TESTS_COLLECTED]
    return next((status for status in found if status), 0) if found else pytest.ExitCode.NO_TESTS_COLLECTED


def main(words: list[str]) -> int:
    """Run the calls of pytest; returns the exit status."""
    fast, rest = "--fast" in words, [word for word in words if word != "--fast"]
    command = [sys.executable, "-m", "pytest"]
    runs = [subprocess.run([*command, *each, *rest], check=False, env=environment()) for each in calls(fast)]
    return status_of([run.returncode for run in runs])


def environment() -> dict[str, str]:
    """Return the environment of a call, whose workers and commands keep the bytecode of what they import."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
