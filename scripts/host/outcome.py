"""Builds that failed and were allowed to: what the report says of them, in place of figures."""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from scripts import record
from scripts.host.entry import say
from scripts.host.process import CommandFailed
from scripts.wording import brief

FAILED = "failed"
# Names the environment variable with the folders that may fail, one per line. It is no argument of a job: whether a
# failure is a result depends on the whole study, and prove_builds needs to know it of several builds.
MAY_FAIL = "MAY_FAIL"
# InnoDB tells the number of the error alone to its log, and of the table alone to its clients.
FULL_DISK = r"No space left on device|\b[Ee]rr(?:or|no):? (?:number )?28\b|\b1114\b.*The table '.+' is full"
OF_DISK = re.compile(rf"{FULL_DISK}|Disk quota exceeded|Read-only file system")
OF_CLIENT = re.compile(r"client host .*: (the connection ended|cannot reach)")
# A server takes as much memory as its options say; a compiler takes what it needs.
OF_MEMORY = re.compile(r"Cannot allocate memory|virtual memory exhausted|\bKilled\b")


class Refused(ValueError):
    """What was made cannot be used, by no fault of the host or of the workflow."""


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn a ValueError of the body into Refused: here it tells about the thing itself."""
    try:
        yield
    except ValueError as error:
        raise Refused(str(error)) from error


def may_fail(folder: Path) -> bool:
    """Tell whether the study goes on when what is made in this folder fails."""
    return str(folder) in os.environ.get(MAY_FAIL, "").splitlines()


@contextlib.contextmanager
def as_result(folder: Path, keep: Callable[[str], None], *kinds: type[Exception]) -> Iterator[None]:
    """Call `keep` with the reason when the body raises Refused or one of `kinds` and what is in `folder` may fail.

    A failure of the host is no result of anything and raised again, as is every other one.
    """
    try:
        yield
    except (Refused, *kinds) as failure:
        if not may_fail(folder) or of_host(failure):
            raise
        say(f"[failed] {folder}, which may fail: the study goes on without it\n{failure}")
        keep(str(failure))


def of_host(failure: Exception) -> bool:
    """Tell whether a server or a command failed for what the hosts lack: space, memory to compile, a connection."""
    if isinstance(failure, Refused):
        return False
    patterns = (OF_DISK, OF_MEMORY) if isinstance(failure, CommandFailed) else (OF_DISK, OF_CLIENT)
    return any(pattern.search(str(failure)) for pattern in patterns)


def has_failed(facts: dict[str, Any]) -> bool:
    """Tell whether a record is that of a failure."""
    return facts.get("outcome") == FAILED


def failure_facts(reason: str) -> dict[str, str]:
    """Return what a record holds of a failure, `outcome` and `reason`."""
    return {"outcome": FAILED, "reason": reason}


def usable(file: Path) -> dict[str, Any]:
    """Read a record. Raises Refused, with the folder to remove, when it is that of a failure."""
    return demand(record.read(file), file.parent)


def demand(facts: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a record of what is in `folder`. Raises Refused, with the folder to remove, when it is of a failure."""
    if has_failed(facts):
        raise Refused(f"{brief(facts['reason'])}\n(that was {folder}: remove this folder to try it again)")
    return facts


def first_reason(files: Iterable[Path]) -> str | None:
    """Return why what these records tell of is not measured: the first that failed; None when none did."""
    for file in files:
        if has_failed(facts := record.read(file)):
            return f"build {facts['build']} failed, see {file}: {brief(facts['reason'])}"
    return None


def keep_build(recipe: dict[str, Any], release: str, reason: str, identity: Path, facts: Path, install: Path) -> None:
    """Write the records of a build that failed, and an empty install tree."""
    shutil.rmtree(install, ignore_errors=True)
    install.mkdir(parents=True)
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": release}
    record.write(facts, {**names, "recipe": recipe, "stage": recipe["stage"], **failure_facts(reason)})
    record.write(identity, {**names, **failure_facts(reason)})


def sound_records(facts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records that are not those of a failure."""
    return [each for each in facts if not has_failed(each)]
