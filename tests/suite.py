"""Run the tests in two calls of pytest: first those that may share the machine, then those that need it alone.

`python -m tests.suite [--fast] [arguments of pytest]`. The first call has several workers per CPU, since tests wait for
commands and servers part of the time. Tests marked `real` start, compile or measure real servers, or watch processes
and locks: they join it where each worker can have these for itself (tests/isolated.py). Elsewhere they run one at a
time in the second call, but for those marked `shares`. Those marked `alone` always run one at a time. `--fast` leaves
out the tests marked `real` and those marked `slow`. Both calls run whatever the first one finds.
"""

import contextlib
import os
import subprocess
import sys

import pytest

from tests import isolated

WORKERS_PER_CPU, ISOLATED_WORKERS_PER_CPU = 2, 2
SHARING, ALONE, FAST = "not real or shares", "real and not shares", "not real and not slow"
ISOLATED_SHARING, ISOLATED_ALONE = "not alone", "alone"
# By whole files, see tests/workers.py, in the order of tests/conftest.py.
SHARED = ["--dist", "loadfile", "--no-loadscope-reorder"]
# More workers spend their time on importing the same modules.
MOST_WORKERS = 16


def calls(fast: bool, apart: bool = False) -> list[list[str]]:
    """Return the options of each call of pytest; `apart`: each worker has processes, folders and locks of its own."""
    per_cpu = ISOLATED_WORKERS_PER_CPU if apart else WORKERS_PER_CPU
    workers = min(per_cpu * len(os.sched_getaffinity(0)), MOST_WORKERS)
    if fast:
        return [["-m", FAST, "--numprocesses", str(workers), *SHARED]]
    if apart:
        python = f"{workers}*popen//python={sys.executable} -m {isolated.__name__}"
        return [["-m", ISOLATED_SHARING, "--tx", python, *SHARED], ["-m", ISOLATED_ALONE]]
    return [["-m", SHARING, "--numprocesses", str(workers), *SHARED], ["-m", ALONE]]


def status_of(statuses: list[int]) -> int:
    """Return the exit status of the whole: 0 if every call passed that found tests, and at least one did."""
    found = [status for status in statuses if status != pytest.ExitCode.NO_TESTS_COLLECTED]
    return next((status for status in found if status), 0) if found else pytest.ExitCode.NO_TESTS_COLLECTED


def main(words: list[str]) -> int:
    """Run the calls of pytest; returns the exit status."""
    fast, rest = "--fast" in words, [word for word in words if word != "--fast"]
    command, apart = [sys.executable, "-m", "pytest"], not fast and isolated.possible()
    with isolated.prepared() if apart else contextlib.nullcontext({}) as own:
        environment = {**with_bytecode(), **own}
        found = [subprocess.run([*command, *each, *rest], check=False, env=environment) for each in calls(fast, apart)]
    return status_of([run.returncode for run in found])


def with_bytecode() -> dict[str, str]:
    """Return the environment of a call, whose workers and commands keep the bytecode of what they import."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
