"""Command-line front end of entry scripts: arguments, death with the parent, errors as one sentence."""

import argparse
import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from scripts.lib import signals
from scripts.lib.host import lifetime
from scripts.lib.host.address import without_logins
from scripts.lib.host.process import die_with_parent
from scripts.lib.recipe_models import Recipe
from scripts.lib.visible import visible


def become_entry_script() -> None:
    """Tie this process to its parent and turn INT, TERM and HUP into SystemExit, so that `finally` runs.

    The workflow puts its process id into WORKFLOW_PID. If that process died before this call, raise SystemExit.
    """
    parent = int(os.environ.get("WORKFLOW_PID", os.getppid()))
    die_with_parent()
    lifetime.heed_signals()
    if os.getppid() != parent:
        raise SystemExit(128 + signal.SIGTERM)


@contextlib.contextmanager
def entry(log: Path) -> Iterator[None]:
    """Run the body of an entry script, tied to its parent; report an error as one sentence and the log's name.

    An error that nobody expects goes to the log with its traceback. So do Python's warnings.
    """
    become_entry_script()
    log.parent.mkdir(parents=True, exist_ok=True)
    warnings.showwarning = lambda *warning: _note(log, warnings.formatwarning(*warning[:4]))
    try:
        yield
    except (subprocess.SubprocessError, ValueError, OSError, RuntimeError) as error:
        _note(log, f"\nERROR {type(error).__name__}: {error}\n")
        # Errors raised while terminating are consequences of the signal, not causes.
        signals.leave_if_signalled()
        say(f"{error}\n(log: {log})")
        raise SystemExit(2 if isinstance(error, WrongCall) else 1) from error
    except Exception:
        _note(log, f"\n{traceback.format_exc()}")
        raise
    # The outputs are complete: ending by a signal from here on would make Snakemake discard them.
    lifetime.ignore_signals()


def _note(log: Path, text: str) -> None:
    with log.open("a", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(visible(without_logins(text)))


class WrongCall(ValueError):
    """What a command was called with does not exist, or does not fit; the text has the value and what is expected."""


@contextlib.contextmanager
def user_command() -> Iterator[None]:
    """Run the body of a command that a user types; print its errors and end with status 1, for a wrong call 2."""
    try:
        yield
    except WrongCall as error:
        say(str(error))
        raise SystemExit(2) from error
    except (ValueError, OSError) as error:
        say(str(error))
        raise SystemExit(1) from error


def say(text: str) -> None:
    """Print a message to the user on standard error, addresses without their logins."""
    sys.stderr.write(visible(without_logins(text).rstrip("\n")) + "\n")
    sys.stderr.flush()


def say_waiting(holders: tuple[int, ...]) -> None:
    """Print that the machine is not free, and the processes that hold it."""
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


class ByName(argparse.Action):
    """Keep the files of an option by their names without suffix."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[str] | None,
        option_string: str | None = None,
    ) -> None:
        """Set the option to a dict of the files."""
        setattr(namespace, self.dest, {Path(file).stem: Path(file) for file in values or ()})


class Option(TypedDict, total=False):
    """Keyword arguments of argparse's add_argument."""

    type: Callable[[str], object]
    required: bool
    default: object
    nargs: str
    action: type[argparse.Action]
    dest: str


JSON: Option = {"type": json.loads, "required": True}
FILES: Option = {"type": Path, "nargs": "*", "default": []}
# What a study says of a step, and no recipe: how often it relinks, whether it may fail, where the user's Lua is.
RELINKS: Option = {"type": int, "default": 0}
MAY_FAIL: Option = {"type": json.loads, "default": False}
SCRIPTS: Option = {"type": json.loads, "default": {}}
TABLES: Option = {"nargs": "+", "action": ByName, "required": True}


def recipe(kind: type[Recipe]) -> Option:
    """Return the option for a recipe of a kind, in JSON; an unknown or missing key is an error that names it."""

    def read(text: str) -> Recipe:
        try:
            return kind.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return {"type": read, "required": True}


def run(main: Callable[..., None], description: str | None, *paths: str, **others: Option) -> None:
    """Call `main` with the command line's arguments by name, as an entry script (see `entry`).

    `paths` and `log` are required paths; `others` are the options of argparse for every other argument. A `main` that
    writes nothing to the log itself does not take it.
    """
    parser = argparse.ArgumentParser(description=description)
    for name in (*paths, "log"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=Path, required=True)
    for name, options in others.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **options)
    arguments = vars(parser.parse_args())
    log = arguments["log"] if "log" in inspect.signature(main).parameters else arguments.pop("log")
    with entry(log):
        main(**arguments)
