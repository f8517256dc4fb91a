"""Failures that are recorded as results, whose failure one is, and the records of builds that failed."""

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from scripts.lib import json_record
from scripts.lib.build_records import FAILED, BuildFacts, BuildIdentity, Failable
from scripts.lib.failure_reasons import FailureFacts
from scripts.lib.host.causes import Cause, FailedForCause, of_host
from scripts.lib.host.entry import say
from scripts.lib.recipe_models import BuildRecipe
from scripts.lib.vocabulary import FailureKind
from scripts.lib.wording import brief

R = TypeVar("R", bound=Failable)


class HostFailed(FailedForCause):
    """The host, another host or the way to it failed, and not what was tried there."""

    USUAL = FailureKind.KILLED


class Refused(ValueError):
    """Something that was made cannot be used, and neither the host nor the workflow is at fault."""

    def __init__(self, text: str, cause: Cause | None = None) -> None:
        super().__init__(text)
        self.cause = cause or Cause(FailureKind.REFUSED)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn a ValueError of the body into Refused: in there, it is a statement about what was made."""
    try:
        yield
    except Refused:
        raise
    except ValueError as error:
        raise Refused(str(error)) from error


@contextlib.contextmanager
def as_result(
    folder: Path, may_fail: bool, keep: Callable[[Failable], None], *kinds: type[Exception]
) -> Iterator[None]:
    """Call `keep` with the failure when the body raises Refused or one of `kinds`, if making `folder` may fail.

    Failures of the host, and all other exceptions, propagate.
    """
    results: tuple[type[Exception], ...] = (Refused, *kinds)
    try:
        yield
    except results as failure:
        if not may_fail or of_host(failure):
            raise
        say(f"[failed] {folder}, which may fail: the study goes on without it\n{failure}")
        keep(recorded(failure))


def recorded(failure: Exception) -> Failable:
    """Return what marks a record as that of a failure: its reason, the code of its cause, what the program said."""
    cause = failure.cause if isinstance(failure, (FailedForCause, Refused)) else None
    facts = FailureFacts(cause.code, cause.text) if cause else FailureFacts()
    return Failable(outcome=FAILED, reason=str(failure), failure=facts)


def has_failed(facts: Mapping[str, object]) -> bool:
    """Return whether a record is that of a failure."""
    return facts.get("outcome") == FAILED


def failure_facts(reason: str) -> dict[str, str]:
    """Return the facts that mark a record as that of a failure: `outcome` and `reason`."""
    return {"outcome": FAILED, "reason": reason}


def usable(kind: type[R], file: Path) -> R:
    """Read a record. Raises Refused, naming the folder to remove, when it is that of a failure."""
    record = json_record.read_part(kind, file)
    demand_sound(record, file.parent)
    return record


def demand_sound(record: Failable, folder: Path) -> None:
    """Raise Refused, naming the folder to remove, for the cause of a failure that is on record in `folder`."""
    if record.has_failed:
        code, text = record.failure.kind or FailureKind.REFUSED, record.failure.cause or ""
        reason = f"{brief(record.reason or '')}\n(that was {folder}: remove this folder to try it again)"
        raise Refused(reason, Cause(FailureKind(code), text))


def first_reason(files: Iterable[Path]) -> str | None:
    """Return the reason of the first of these records that is one of a failure; None when none is."""
    for file in files:
        if has_failed(facts := json_record.read(file)):
            return f"build {facts['build']} failed, see {file}: {brief(facts['reason'])}"
    return None


def keep_build(recipe: BuildRecipe, release: str, mark: Failable, identity: Path, facts: Path, install: Path) -> None:
    """Write the records of a failed build, and an empty install tree."""
    shutil.rmtree(install, ignore_errors=True)
    install.mkdir(parents=True)
    marked = BuildIdentity.declared(recipe, release).failed(mark)
    described = BuildFacts(recipe=recipe.dump(), stage=recipe.stage).of_program(marked)
    json_record.write_signed(facts, described.to_json())
    json_record.write(identity, marked.to_json())
