"""Files of SQL statements: those of the differential check, and timed SQL.

A statement of timed SQL ends with `;`. The line before it is its directive: `-- name: NAME` is timed, `-- show: NAME`
is sent and its rows are shown, not timed, `-- prepare: NAME` is only sent. `-- since: mysql 8.0, mariadb 10.3` names
the families that can answer it and the first release of each; of several statements with one name the last that suits
a release counts.
`-- against: NAME` compares a timed statement with one above it: the report shows how much longer it took, run by run.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.lib.json_record import file_sha256
from scripts.measure.servers import families

CHECK_FOLDER = "workloads/check"
CONNECTIONS = ("first", "second")

DIRECTIVE = re.compile(r"^-- (\w+): *(.*?) *$")
TOPIC = re.compile(r"^([a-z0-9 ]+?)(?: since: *(.+))?$")
# A string or name in quotes may hold the sign that ends a statement; so may a comment.
# The body of a procedure holds statements of its own; it ends with END on a line of its own.
OPEN_BODY = re.compile(r"\s*CREATE PROCEDURE\b.*^BEGIN\b(?!.*^END\s*\Z)", re.S | re.M)
PIECE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\$\$.*?\$\$|--(?= |$)[^\n]*|;|[^;'\"`$-]+|.", re.S | re.M)


@dataclass(frozen=True)
class Statement:
    """One statement: its number from 1, its topic, its text, who sends it, and family -> first release, if not all."""

    number: int
    topic: str
    text: str
    connection: str = CONNECTIONS[0]
    since: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def suits(self, family: str, release: str) -> bool:
        """Return whether a release such as 8.0.36 of a family can answer it."""
        return suits_release(self.since, family, release)


def suits_release(since: tuple[tuple[str, tuple[int, ...]], ...], family: str, release: str) -> bool:
    """Return whether `since`, family -> first release, includes a release of a family; an empty one includes all."""
    return not since or any(name == family and release_numbers(release) >= first for name, first in since)


def release_numbers(release: str) -> tuple[int, ...]:
    """Return the numbers a release begins with: (8, 0, 36) of 8.0.36-28. Raises ValueError without any."""
    if not (match := re.match(r"\d+(\.\d+)*", release)):
        raise ValueError(f"release: {release!r}, expected numbers such as 8.0.36")
    return tuple(int(part) for part in match[0].split("."))


def check_files(root: Path, family: str) -> list[Path]:
    """Return the SQL files of a family in order of their names: those of all families and those of its dialect.

    Raises ValueError naming the unknown family, or a dialect without files.
    """
    dialect = families.of(family).DIALECT
    if not (root / CHECK_FOLDER / dialect).is_dir():
        raise ValueError(f"family: {family!r} has no statements, expected SQL files in {CHECK_FOLDER}/{dialect}")
    found = [file for part in ("common", dialect) for file in (root / CHECK_FOLDER / part).glob("*.sql")]
    return sorted(found, key=lambda file: file.name)


def statements_sha256(root: Path, family: str) -> str:
    """Return the SHA-256 over names and content of a family's SQL files below the checkout `root`, in hexadecimal."""
    found = hashlib.sha256()
    for file in check_files(root, family):
        found.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()


def read_check(root: Path, family: str) -> list[Statement]:
    """Return a family's statements, those for other releases included.

    Raises ValueError naming file and line of what cannot be read.
    """
    found: list[Statement] = []
    for file in check_files(root, family):
        found += split_check(file.read_text(encoding="utf-8"), str(file.relative_to(root)), first=len(found) + 1)
    return found


def split_check(text: str, name: str = "SQL", first: int = 1) -> list[Statement]:
    """Return the statements of one file, numbered from `first`; `name` is the file in messages.

    Raises ValueError for an unknown directive, a bad value, an unclosed quote or a last statement without `;`.
    """
    topic, topic_since, found = "", (), []
    for unit, line in statement_units(text, name):
        own: dict = {}
        for word, value in unit.directives:
            if word == "topic":
                topic, topic_since = _topic(value, f"{name}:{line}")
            else:
                own |= _own(word, value, f"{name}:{line}")
        if not topic:
            raise ValueError(f"{name}:{line}: no topic, expected a line `-- topic: NAME` before the first statement")
        found.append(Statement(first + len(found), topic, unit.text, **{"since": topic_since, **own}))
    return found


@dataclass(frozen=True)
class StatementUnit:
    """One statement's text without comments, and the directives before it: pairs of word and value."""

    text: str
    directives: tuple[tuple[str, str], ...]


def statement_units(text: str, name: str) -> Iterator[tuple[StatementUnit, int]]:
    """Yield each statement of a file with the line of its end; `name` is the file in messages.

    Raises ValueError for an unclosed quote or a last statement without `;`.
    """
    pieces, directives, line = [], [], 1
    for piece in PIECE.findall(text):
        line += piece.count("\n")
        if piece == ";" and not OPEN_BODY.match("".join(pieces)):
            yield StatementUnit("".join(pieces).strip(), tuple(directives)), line
            pieces, directives = [], []
        elif piece.startswith("--"):
            directives += [match.groups() for match in [DIRECTIVE.match(piece)] if match]
        elif piece in "'\"`":
            raise ValueError(f"{name}:{line}: the quote {piece} is not closed")
        else:
            pieces.append(piece)
    if rest := "".join(pieces).strip():
        raise ValueError(f"{name}:{line}: the last statement has no `;`: {rest[:60]!r}")


def _topic(value: str, where: str) -> tuple[str, tuple]:
    if not (match := TOPIC.match(value)):
        raise ValueError(f"{where}: topic {value!r}, expected small letters, digits and spaces")
    return match[1], release_bounds(match[2], where) if match[2] else ()


def _own(word: str, value: str, where: str) -> dict:
    match word:
        case "since":
            return {"since": release_bounds(value, where)}
        case "on" if value in CONNECTIONS:
            return {"connection": value}
        case "on":
            raise ValueError(f"{where}: on {value!r}, expected one of {', '.join(CONNECTIONS)}")
    raise ValueError(f"{where}: directive {word!r} is unknown, expected topic, since or on")


def release_bounds(value: str, where: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return family -> first release of a directive's value. Raises ValueError with `where` it stands."""
    found = []
    for part in value.split(","):
        match = re.fullmatch(r"(\w+) (\d+(?:\.\d+)*)", part.strip())
        if not match or match[1] not in families.names():
            raise ValueError(f"{where}: since {part.strip()!r}, expected a family and a release such as mysql 8.0")
        found.append((match[1], release_numbers(match[2])))
    return tuple(found)


TIMED, SHOWN, SENT = "name", "show", "prepare"
KINDS = (TIMED, SHOWN, SENT)
STATEMENT_NAME = re.compile(r"[\w][\w .()-]{0,39}")
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


def timed_sql_path(root: Path, file: str) -> Path:
    """Return the path of a file of the checkout's workloads/, or the absolute one it is."""
    return root / "workloads" / Path(file).expanduser()


def timed_sql_recipe(root: Path, workload: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the load of a workload of timed SQL: the digest of its file, the number of passes, the tables."""
    return {
        "sql": Path(workload["sql"]).name,
        "passes": workload.get("passes", PASSES),
        "tables": tables,
        "content": file_sha256(timed_sql_path(root, workload["sql"])),
    }


def read_timed(file: Path) -> list[Timed]:
    """Return the statements of a file. Raises ValueError naming file and line of what cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from error
    return split_timed(text, str(file))


def split_timed(text: str, name: str) -> list[Timed]:
    """Return the statements of a text; `name` is the file in messages.

    Raises ValueError for a statement without a name, an unknown directive, two kinds of one name, or nothing timed.
    """
    found: list[Timed] = []
    for unit, line in statement_units(text, name):
        one = _timed_statement(unit, f"{name}:{line}")
        if other := next((each for each in found if each.name == one.name and each.kind != one.kind), None):
            raise ValueError(f"{name}:{line}: {one.name!r} is `{one.kind}` here and `{other.kind}` above")
        if one.against and one.against not in {each.name for each in found if each.kind == one.kind == TIMED}:
            raise ValueError(f"{name}:{line}: against {one.against!r}, expected a timed statement above a timed one")
        found.append(one)
    if not any(one.kind == TIMED for one in found):
        raise ValueError(f"{name}: no statement is timed, expected a line `-- name: NAME` before one at least")
    return found


def _timed_statement(unit: StatementUnit, where: str) -> Timed:
    known, since, against = {}, (), ""
    for word, value in unit.directives:
        if word == "since":
            since = release_bounds(value, where)
        elif word == "against":
            against = value
        elif word not in KINDS:
            raise ValueError(f"{where}: directive {word!r} is unknown, expected {', '.join(KINDS)}, since or against")
        elif not STATEMENT_NAME.fullmatch(value):
            text = "at most 40 letters, digits, spaces and _ . ( ) -"
            raise ValueError(f"{where}: {word} {value!r}, expected {text}")
        else:
            known[word] = value
    if len(known) != 1:
        directives = " and ".join(f"`-- {word}:`" for word in known) or "nothing"
        raise ValueError(f"{where}: the statement has {directives} before it, expected one of {', '.join(KINDS)}")
    return Timed(*next(iter(known.items())), unit.text, since, against)


def suited_statements(every: list[Timed], family: str, release: str) -> list[Timed]:
    """Return the statements that a release is sent, in their order; of those with one name the last that suits it."""
    chosen = {one.name: one for one in every if suits_release(one.since, family, release)}
    return list(chosen.values())
