"""Timed SQL: a file of named statements, and which of them a release is sent.

A statement ends with `;`. The line before it says what it is: `-- name: NAME` is timed, `-- show: NAME` is sent and its
rows are shown, not timed, `-- prepare: NAME` is only sent. `-- since: mysql 8.0, mariadb 10.3` names the families that
can answer it and the first release of each; of several statements with one name the last that suits a release counts.
`-- against: NAME` sets a timed statement beside one above it: the report tells how much longer it took, run by run.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import statements
from scripts.record import file_sha256

TIMED, SHOWN, SENT = "name", "show", "prepare"
KINDS = (TIMED, SHOWN, SENT)
NAME = re.compile(r"[\w][\w .()-]{0,39}")
PASSES = 2


@dataclass(frozen=True)
class Timed:
    """One statement; `kind` is name (timed), show or prepare, `since` holds family -> first release, if not all.

    `against` is the name of the statement it is compared with, empty without one.
    """

    kind: str
    name: str
    text: str
    since: tuple[tuple[str, tuple[int, ...]], ...] = ()
    against: str = ""


def path_of(root: Path, file: str) -> Path:
    """Return the path of a file of the checkout's workloads/, or the absolute one it is."""
    return root / "workloads" / Path(file).expanduser()


def recipe(root: Path, workload: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a workload of timed SQL sends: the content of its file, how often, on which tables."""
    return {
        "sql": Path(workload["sql"]).name,
        "passes": workload.get("passes", PASSES),
        "tables": tables,
        "content": file_sha256(path_of(root, workload["sql"])),
    }


def read(file: Path) -> list[Timed]:
    """Return the statements of a file. Raises ValueError naming file and line of what cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from error
    return split(text, str(file))


def split(text: str, name: str) -> list[Timed]:
    """Return the statements of a text; `name` is the file in messages.

    Raises ValueError for a statement without a name, an unknown directive, two kinds of one name, or nothing timed.
    """
    found: list[Timed] = []
    for unit, line in statements.units(text, name):
        one = _statement(unit, f"{name}:{line}")
        if other := next((each for each in found if each.name == one.name and each.kind != one.kind), None):
            raise ValueError(f"{name}:{line}: {one.name!r} is `{one.kind}` here and `{other.kind}` above")
        if one.against and one.against not in {each.name for each in found if each.kind == one.kind == TIMED}:
            raise ValueError(f"{name}:{line}: against {one.against!r}, expected a timed statement above a timed one")
        found.append(one)
    if not any(one.kind == TIMED for one in found):
        raise ValueError(f"{name}: no statement is timed, expected a line `-- name: NAME` before one at least")
    return found


def _statement(unit: statements.Unit, where: str) -> Timed:
    known, since, against = {}, (), ""
    for word, value in unit.directives:
        if word == "since":
            since = statements.releases(value, where)
        elif word == "against":
            against = value
        elif word not in KINDS:
            raise ValueError(f"{where}: directive {word!r} is unknown, expected {', '.join(KINDS)}, since or against")
        elif not NAME.fullmatch(value):
            text = "at most 40 letters, digits, spaces and _ . ( ) -"
            raise ValueError(f"{where}: {word} {value!r}, expected {text}")
        else:
            known[word] = value
    if len(known) != 1:
        said = " and ".join(f"`-- {word}:`" for word in known) or "nothing"
        raise ValueError(f"{where}: the statement has {said} before it, expected one of {', '.join(KINDS)}")
    return Timed(*next(iter(known.items())), unit.text, since, against)


def suited(every: list[Timed], family: str, release: str) -> list[Timed]:
    """Return the statements that a release is sent, in their order; of those with one name the last that suits it."""
    chosen = {one.name: one for one in every if statements.suits(one.since, family, release)}
    return list(chosen.values())
