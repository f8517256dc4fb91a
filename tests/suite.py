"""Run the tests in two calls of pytest: first those that may share the machine, then those that need it alone.

`python -m tests.suite [--fast] [arguments of pytest]`. The first call has several workers per CPU, since tests wait for
commands and servers part of the time. Tests marked `real` start, compile or measure real servers, or watch processes
and locks: they join it where each worker can have these for itself (tests/isolated.py), and run one at a time in the
second call elsewhere. Those marked `alone` always run one at a time. `--fast` leaves out the tests marked `real` and
those marked `slow`. Both calls run whatever the first one finds.
"""

import contextlib
import os
import subprocess
import sys

import pytest

from tests import isolated

FAST = "not real and not slow"
WORKERS_PER_CPU = 2
# By whole files, see tests/workers.py, in the order of tests/conftest.py.
SHARED = ["--dist", "loadfile", "--no-loadscope-reorder"]
# More workers spend their time on importing the same modules.
MOST_WORKERS = 16


def calls(fast: bool, apart: bool = False) -> list[list[str]]:
    """Return the options of each call of pytest; `apart`: each worker has processes, folders and locks of its own."""
    workers = min(WORKERS_PER_CPU * len(os.sched_getaffinity(0)), MOST_WORKERS)
    started = f"{workers}*popen" + (f"//python={sys.executable} -m {isolated.__name__}" if apart else "")
    shared = ["--tx", started, *SHARED]
    if fast:
        return [["-m", FAST, *shared]]
    alone = "alone" if apart else "real"
    return [["-m", f"not {alone}", *shared], ["-m", alone]]


def status_of(statuses: list[int]) -> int:
    """Return the exit status of the whole: 0 if every call passed that found tests, and at least one did."""
    ended = [status for status in statuses if status != pytest.ExitCode.NO_TESTS_COLLECTED]
    return next((status for status in ended if status), 0) if ended else pytest.ExitCode.NO_TESTS_COLLECTED


def main(words: list[str]) -> int:
    """Run the calls of pytest; returns the exit status."""
    fast, rest = "--fast" in words, [word for word in words if word != "--fast"]
    command, apart = [sys.executable, "-m", "pytest"], not fast and isolated.possible()
    with isolated.prepared() if apart else contextlib.nullcontext({}) as variables:
        environment = {**with_bytecode(), **variables}
        runs = [subprocess.run([*command, *call, *rest], check=False, env=environment) for call in calls(fast, apart)]
    return status_of([run.returncode for run in runs])


def with_bytecode() -> dict[str, str]:
    """Return the environment of a call, whose workers and commands keep the bytecode of what they import."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
