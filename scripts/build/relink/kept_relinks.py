"""Relinks of a build: the same objects linked in other orders, kept beside the install tree that they were made for.

    {build}/relinked.json             what was done, see `relink_server`
    {build}/relinked/{number}/        a build's folder of its own: identity.json, and install/ with hard links to the
                                      files of {build}/install, but for the server program
    {checks}/relinked.json            how the relinks answered the statements of the differential check

They are no part of a build's recipe: a build that was made before there were relinks is complete, and is never
compiled again for them.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.host.workplace import SNAKEMAKE_STAMP

RECORD, FOLDER = "relinked.json", "relinked"
# Names the environment variable with the folders of the builds to relink, as JSON: folder -> number of relinks. It is
# no argument of a job, which would make finished builds stale: which build is a reference depends on the study.
WANTED = "RELINKED"


class NotRelinked(ValueError):
    """A build has no relink that could be measured; the text has the reason."""


def wanted(folder: Path) -> int:
    """Return how often the build in a folder is relinked."""
    return json.loads(os.environ.get(WANTED) or "{}").get(str(folder), 0)


def read_relinks(build: Path) -> dict[str, Any]:
    """Return the record of a build's relinks. Raises NotRelinked when there is none, or none of this program."""
    file, identity = build / RECORD, json_record.read(build / "identity.json")
    if not file.is_file():
        raise NotRelinked(f"{build} was made without relinks")
    if (facts := json_record.read(file)).get("sha256") != identity.get("sha256"):
        raise NotRelinked(f"{file} is about another program than {build / 'identity.json'}")
    return facts


def made_numbers(facts: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the relinks in a record that were not refused."""
    return [one["number"] for one in facts["relinks"] if not one["refused"]]


def identity_of(build: Path, number: int) -> Path:
    """Return the identity record of a relink, whose install tree lies beside it."""
    return build / FOLDER / str(number) / "identity.json"


def identity_for(build: Path, checks: Path, repetition: int) -> Path:
    """Return the identity record of the relink that a repetition measures, from 1 on; relinks come round again.

    `checks` is the folder of the build's answers. Raises NotRelinked with the reason when there is no relink that gave
    the build's own answers.
    """
    facts = read_relinks(build)
    if facts["refused"]:
        raise NotRelinked(f"{build}: {facts['refused']}")
    checked = json_record.read(checks / RECORD) if (checks / RECORD).is_file() else {}
    if checked.get("sha256") != facts["sha256"]:
        raise NotRelinked(f"{checks / RECORD} is missing or about another program, expected the answers of the relinks")
    answered = made_numbers(checked)
    if not (usable := [number for number in made_numbers(facts) if number in answered]):
        reasons = [one["refused"] for one in [*facts["relinks"], *checked["relinks"]] if one["refused"]]
        raise NotRelinked(f"{build}: every relink was refused, the first: {reasons[0] if reasons else 'none was made'}")
    return identity_of(build, usable[(repetition - 1) % len(usable)])


def clear(build: Path) -> None:
    """Remove the relinks of an earlier attempt."""
    shutil.rmtree(build / FOLDER, ignore_errors=True)
    (build / RECORD).unlink(missing_ok=True)


def keep(build: Path, number: int, program: Path, identity: Mapping[str, Any]) -> None:
    """Move a relinked program into an install tree of its own, and write its identity record."""
    file = identity_of(build, number)
    target, server = file.parent / "install", identity["server_file"]
    shutil.copytree(
        build / "install",
        target,
        symlinks=True,
        copy_function=_link,
        ignore=lambda folder, names: {SNAKEMAKE_STAMP} | _server_in(folder, build / "install" / server),
    )
    shutil.move(program, target / server)
    json_record.write(file, {**identity, "relink": number})


def _server_in(folder: str, server: Path) -> set[str]:
    return {server.name} if Path(folder) == server.parent else set()


def _link(source: str, target: str) -> None:
    """Make a hard link; where the file system has none, or no more of this file, copy."""
    with contextlib.suppress(OSError):
        os.link(source, target)
        return
    shutil.copy2(source, target)
