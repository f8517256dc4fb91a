"""The result of a check: a fact and, unless it is as it should be, why that matters and what changes it."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.lib.host.made_environment import made_environment

STATES = ("ok", "note", "warning", "problem")
ANSWER_S = 60
SET_UP = "make setup (with the same STUDY=)"


@dataclass(frozen=True)
class CheckResult:
    """One line of fact about `name`; `state` is ok, note, warning (figures suffer) or problem (the study stops).

    Unless it is ok it has a `why` and a `change`: a command or a step for the user; never run automatically.
    """

    state: str
    name: str
    fact: str
    why: str = ""
    change: str = ""


CheckResults = Iterator[CheckResult]


def ok(name: str, fact: str) -> CheckResult:
    """Return a finding of state ok."""
    return CheckResult("ok", name, fact)


def answer(*command: str) -> str | None:
    """Return what a command prints, errors too; None when it is missing, fails, or takes over a minute."""
    try:
        done = subprocess.run(
            command,
            env=made_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=ANSWER_S,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


@dataclass(frozen=True)
class Machine:
    """Where checks look: the files of /proc, /sys and /etc below `root`, and what commands answer."""

    root: Path = Path("/")
    ask: Callable[..., str | None] = answer

    def text(self, path: str) -> str | None:
        """Return a file's text, None when it is not there, may not be read or is empty."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip() or None
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """Return the number in a file, None when there is none."""
        text = self.text(path)
        return int(text) if text and text.lstrip("-").isdecimal() else None
