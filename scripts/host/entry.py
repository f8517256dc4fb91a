"""The outside of an entry script: the command line that a rule gives it, and the life it leads."""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts import signals
from scripts.host import lifetime
from scripts.host.process import die_with_parent


def become_entry_script() -> None:
    """Tie this process to its parent and turn INT, TERM and HUP into SystemExit, so that `finally` runs.

    Under the workflow, which tells its process id in WORKFLOW_PID, a job whose parent died before this ends as well.
    """
    parent = int(os.environ.get("WORKFLOW_PID", os.getppid()))
    die_with_parent()
    lifetime.heed_signals()
    if os.getppid() != parent:
        raise SystemExit(128 + signal.SIGTERM)


@contextlib.contextmanager
def entry(log: Path) -> Iterator[None]:
    """Run the body of an entry script: tied to its parent, errors as one sentence that ends with the log's name."""
    become_entry_script()
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except (subprocess.SubprocessError, ValueError, OSError, RuntimeError) as error:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"\nERROR {type(error).__name__}: {error}\n")
        # What fails while a job leaves, or because its group was struck with it, is not why it ends.
        signals.leave_if_signalled()
        say(f"{error}\n(log: {log})")
        raise SystemExit(1) from error
    # What is made is made: a signal while Python ends must not have Snakemake take it for unfinished.
    lifetime.ignore_signals()


@contextlib.contextmanager
def user_command() -> Iterator[None]:
    """Run the body of a command that a user types: what is wrong is told in its own words, with status 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        say(str(error))
        raise SystemExit(1) from error


def say(text: str) -> None:
    """Tell the user one thing, on standard error."""
    sys.stderr.write(text.rstrip("\n") + "\n")
    sys.stderr.flush()


def say_waiting(holders: tuple[int, ...]) -> None:
    """Tell that the machine is not free, and who has it."""
    say(f"waiting for this machine: processes {', '.join(map(str, holders)) or 'unknown'} measure or compile on it")


def started_s() -> float:
    """Return when this process began, in seconds since the epoch (Python's own start included)."""
    fields = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    boot_s = next(
        float(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime")
    )
    uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    age_s = uptime_s - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return max(time.time() - age_s, boot_s)


Taken = dict[str, Any]
RECIPE: Taken = {"type": json.loads, "required": True}


def run(main: Callable[..., None], description: str | None, *paths: str, **others: Taken) -> None:
    """Call `main` with the command line's arguments by name, as an entry script (see process.entry).

    `paths` are required paths, `log` is one of them always; `others` holds how argparse takes every other argument.
    """
    parser = argparse.ArgumentParser(description=description)
    for name in (*paths, "log"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name, how in others.items():
        parser.add_argument(f"--{name}", **how)
    arguments = parser.parse_args()
    with entry(arguments.log):
        main(**vars(arguments))
