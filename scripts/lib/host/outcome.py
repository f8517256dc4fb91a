"""Failures that are recorded as results, whose failure one is, and the records of builds that failed."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from scripts.lib import json_record
from scripts.lib.host.causes import FailedForCause, of_host
from scripts.lib.host.entry import say
from scripts.lib.recipe_models import BuildRecipe
from scripts.lib.vocabulary import FailureKind
from scripts.lib.wording import brief

F = TypeVar("F", bound=Mapping[str, Any])
FAILED = "failed"
# Names the environment variable with the folders that may fail, one per line. It is no argument of a job: whether a
# failure is a result depends on the whole study, and prove_builds needs to know it of several builds.
MAY_FAIL = "MAY_FAIL"


class HostFailed(FailedForCause):
    """The host, another host or the way to it failed, and not what was tried there."""

    USUAL = FailureKind.KILLED


class Refused(ValueError):
    """Something that was made cannot be used, and neither the host nor the workflow is at fault."""


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn a ValueError of the body into Refused: in there, it is a statement about what was made."""
    try:
        yield
    except ValueError as error:
        raise Refused(str(error)) from error


def may_fail(folder: Path) -> bool:
    """Return whether the study goes on when making this folder fails."""
    return str(folder) in os.environ.get(MAY_FAIL, "").splitlines()


@contextlib.contextmanager
def as_result(folder: Path, keep: Callable[[str], None], *kinds: type[Exception]) -> Iterator[None]:
    """Call `keep` with the reason when the body raises Refused or one of `kinds`, if making `folder` may fail.

    Failures of the host, and all other exceptions, propagate.
    """
    results: tuple[type[Exception], ...] = (Refused, *kinds)
    try:
        yield
    except results as failure:
        if not may_fail(folder) or of_host(failure):
            raise
        say(f"[failed] {folder}, which may fail: the study goes on without it\n{failure}")
        keep(str(failure))


def has_failed(facts: Mapping[str, Any]) -> bool:
    """Return whether a record is that of a failure."""
    return facts.get("outcome") == FAILED


def failure_facts(reason: str) -> dict[str, str]:
    """Return the facts that mark a record as that of a failure: `outcome` and `reason`."""
    return {"outcome": FAILED, "reason": reason}


def usable(file: Path) -> dict[str, Any]:
    """Read a record. Raises Refused, naming the folder to remove, when it is that of a failure."""
    return demand_sound(json_record.read(file), file.parent)


def demand_sound(facts: F, folder: Path) -> F:
    """Return the record of `folder`. Raises Refused, naming the folder to remove, when it is that of a failure."""
    if has_failed(facts):
        raise Refused(f"{brief(facts['reason'])}\n(that was {folder}: remove this folder to try it again)")
    return facts


def first_reason(files: Iterable[Path]) -> str | None:
    """Return the reason of the first of these records that is one of a failure; None when none is."""
    for file in files:
        if has_failed(facts := json_record.read(file)):
            return f"build {facts['build']} failed, see {file}: {brief(facts['reason'])}"
    return None


def keep_build(recipe: BuildRecipe, release: str, reason: str, identity: Path, facts: Path, install: Path) -> None:
    """Write the records of a failed build, and an empty install tree."""
    shutil.rmtree(install, ignore_errors=True)
    install.mkdir(parents=True)
    names = recipe.names(release)
    json_record.write_signed(facts, {**names, "recipe": recipe.dump(), "stage": recipe.stage, **failure_facts(reason)})
    json_record.write(identity, {**names, **failure_facts(reason)})


def sound_records(facts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records that are not those of failures."""
    return [each for each in facts if not has_failed(each)]
