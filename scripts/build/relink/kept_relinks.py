"""Relinks of a build: the same objects linked in other orders, kept beside the install tree that they were made for.

    {build}/relinked.json             what was done, see `relinking`
    {build}/relinked/{number}/        a build's folder of its own: identity.json, and install/ with hard links to the
                                      files of {build}/install, but for the server program
    {checks}/relinked.json            how the relinks answered the statements of the differential check

They are no part of a build's recipe: a build that was made before there were relinks is complete, and is never
compiled again for them.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, BuildPart, Keys
from scripts.lib.host.causes import of_host
from scripts.lib.host.process import CommandFailed
from scripts.lib.host.workplace import SNAKEMAKE_STAMP

RECORD, FOLDER = "relinked.json", "relinked"


class NotRelinked(ValueError):
    """A build has no relink that could be measured; the text has the reason."""


@dataclass(frozen=True)
class Relink(BuildPart):
    """One relink: `refused` is the reason why it cannot be measured, `moved_share` that of functions that moved."""

    NULLS: ClassVar[Keys] = ("refused",)

    number: int = 0
    seed: str | None = None
    order_sha256: str | None = None
    functions_profiled: int | None = None
    functions: int | None = None
    moved_share: float | None = None
    sha256: str | None = None
    build_id: str | None = None
    refused: str | None = None
    wall_s: float | None = None


@dataclass(frozen=True)
class RelinkAnswers(BuildPart):
    """relinked.json beside the answers of a build: which of its relinks answered as it did."""

    NULLS: ClassVar[Keys] = ("relinks",)

    sha256: str | None = None
    relinks: list[Relink] = field(default_factory=list)

    @property
    def usable(self) -> list[int]:
        """The numbers of the relinks that were not refused."""
        return [relink.number for relink in self.relinks if not relink.refused]


@dataclass(frozen=True)
class RelinkRecord(RelinkAnswers):
    """relinked.json beside a build: the relinks of the program `sha256`, or the reason why there are none."""

    ORDER: ClassVar[Keys] = (
        *("server", "build", "stage", "sha256", "refused", "lto", "repeated", "objects", "from_archives"),
        *("archives_whole", "pairs_kept", "relinks", "wall_s"),
    )
    NULLS: ClassVar[Keys] = ("refused", "relinks")

    server: str | None = None
    build: str | None = None
    stage: str | None = None
    refused: str | None = None
    lto: bool | None = None
    repeated: bool | None = None
    objects: int | None = None
    from_archives: int | None = None
    archives_whole: list[str] | None = None
    pairs_kept: int | None = None
    wall_s: float | None = None


@dataclass
class WhyRefused:
    """Why something was refused; None where it was not."""

    reason: str | None = None


@contextlib.contextmanager
def refusal(*kinds: type[Exception]) -> Iterator[WhyRefused]:
    """Keep the reason, in what is yielded, when the body raises CommandFailed, ValueError or one of `kinds`.

    Failures of the host propagate.
    """
    refusals: tuple[type[Exception], ...] = (CommandFailed, ValueError, *kinds)
    why = WhyRefused()
    try:
        yield why
    except refusals as failure:
        if of_host(failure):
            raise
        why.reason = str(failure)


def read_relinks(build: Path) -> RelinkRecord:
    """Return the record of a build's relinks. Raises NotRelinked when there is none, or none of this program."""
    file, identity = build / RECORD, json_record.read_part(BuildIdentity, build / "identity.json")
    if not file.is_file():
        raise NotRelinked(f"{build} was made without relinks")
    if (record := json_record.read_part(RelinkRecord, file)).sha256 != identity.sha256:
        raise NotRelinked(f"{file} is about another program than {build / 'identity.json'}")
    return record


def identity_of(build: Path, number: int) -> Path:
    """Return the identity record of a relink, whose install tree lies beside it."""
    return build / FOLDER / str(number) / "identity.json"


def identity_for(build: Path, checks: Path, repetition: int) -> Path:
    """Return the identity record of the relink that a repetition measures, from 1 on; relinks come round again.

    `checks` is the folder of the build's answers. Raises NotRelinked with the reason when there is no relink that gave
    the build's own answers.
    """
    record = read_relinks(build)
    if record.refused:
        raise NotRelinked(f"{build}: {record.refused}")
    file = checks / RECORD
    answers = json_record.read_part(RelinkAnswers, file) if file.is_file() else RelinkAnswers()
    if answers.sha256 != record.sha256:
        raise NotRelinked(f"{file} is missing or about another program, expected the answers of the relinks")
    if not (usable := [number for number in record.usable if number in answers.usable]):
        refusals = [relink.refused for relink in [*record.relinks, *answers.relinks] if relink.refused]
        raise NotRelinked(f"{build}: every relink was refused, the first: {[*refusals, 'none was made'][0]}")
    return identity_of(build, usable[(repetition - 1) % len(usable)])


def clear(build: Path) -> None:
    """Remove the relinks of an earlier attempt."""
    shutil.rmtree(build / FOLDER, ignore_errors=True)
    (build / RECORD).unlink(missing_ok=True)


def keep(build: Path, program: Path, identity: BuildIdentity) -> None:
    """Move the program of a relink into an install tree of its own, and write its identity record."""
    file = identity_of(build, identity.relink or 0)
    target, server = file.parent / "install", build / "install" / identity.server_file
    shutil.copytree(
        build / "install",
        target,
        symlinks=True,
        copy_function=_link,
        ignore=lambda folder, _: {SNAKEMAKE_STAMP} | ({server.name} if Path(folder) == server.parent else set()),
    )
    shutil.move(program, target / identity.server_file)
    json_record.write(file, identity.to_json(*BuildIdentity.ORDER))


def _link(source: str, target: str) -> None:
    """Make a hard link; where the file system has none, or no more of this file, copy."""
    with contextlib.suppress(OSError):
        os.link(source, target)
        return
    shutil.copy2(source, target)
