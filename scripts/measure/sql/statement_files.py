"""Files of SQL statements: those of the differential check, and timed SQL.

A statement of timed SQL ends with `;`. The line before it is its directive: `-- name: NAME` is timed, `-- show: NAME`
is sent and its rows are shown, not timed, `-- prepare: NAME` is only sent. `-- since: mysql 8.0, mariadb 10.3` names
the families that can answer it and the first release of each; of several statements with one name the last that suits
a release counts.
`-- against: NAME` compares a timed statement with one above it: the report shows how much longer it took, run by run.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.measure.servers import families

CHECK_FOLDER = "workloads/check"
CONNECTIONS = ("first", "second")

# Family -> the first of its releases, for all families but those that are missing; empty: all releases of all families.
Since = tuple[tuple[str, tuple[int, ...]], ...]

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
    since: Since = ()

    def suits(self, family: str, release: str) -> bool:
        """Return whether a release such as 8.0.36 of a family can answer it."""
        return suits_release(self.since, family, release)


def suits_release(since: Since, family: str, release: str) -> bool:
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
    files = [file for part in ("common", dialect) for file in (root / CHECK_FOLDER / part).glob("*.sql")]
    return sorted(files, key=lambda file: file.name)


def statements_sha256(root: Path, family: str) -> str:
    """Return the SHA-256 over names and content of a family's SQL files below the checkout `root`, in hexadecimal."""
    total = hashlib.sha256()
    for file in check_files(root, family):
        total.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def read_check(root: Path, family: str) -> list[Statement]:
    """Return a family's statements, those for other releases included.

    Raises ValueError naming file and line of what cannot be read.
    """
    statements: list[Statement] = []
    for file in check_files(root, family):
        name = str(file.relative_to(root))
        statements += split_check(file.read_text(encoding="utf-8"), name, first=len(statements) + 1)
    return statements


def split_check(text: str, name: str = "SQL", first: int = 1) -> list[Statement]:
    """Return the statements of one file, numbered from `first`; `name` is the file in messages.

    Raises ValueError for an unknown directive, a bad value, an unclosed quote or a last statement without `;`.
    """
    statements: list[Statement] = []
    topic, topic_since = "", Since()
    for unit, line in statement_units(text, name):
        where, connection = f"{name}:{line}", CONNECTIONS[0]
        since: Since | None = None
        for word, value in unit.directives:
            match word:
                case "topic":
                    topic, topic_since = _topic(value, where)
                case "since":
                    since = release_bounds(value, where)
                case "on" if value in CONNECTIONS:
                    connection = value
                case "on":
                    raise ValueError(f"{where}: on {value!r}, expected one of {', '.join(CONNECTIONS)}")
                case _:
                    raise ValueError(f"{where}: directive {word!r} is unknown, expected topic, since or on")
        if not topic:
            raise ValueError(f"{where}: no topic, expected a line `-- topic: NAME` before the first statement")
        number, bounds = first + len(statements), topic_since if since is None else since
        statements.append(Statement(number, topic, unit.text, connection, bounds))
    return statements


@dataclass(frozen=True)
class StatementUnit:
    """One statement's text without comments, and the directives before it: pairs of word and value."""

    text: str
    directives: tuple[tuple[str, str], ...]


def statement_units(text: str, name: str) -> Iterator[tuple[StatementUnit, int]]:
    """Yield each statement of a file with the line of its end; `name` is the file in messages.

    Raises ValueError for an unclosed quote or a last statement without `;`.
    """
    pieces, directives, line = list[str](), list[tuple[str, str]](), 1
    for piece in PIECE.findall(text):
        line += piece.count("\n")
        if piece == ";" and not OPEN_BODY.match("".join(pieces)):
            yield StatementUnit("".join(pieces).strip(), tuple(directives)), line
            pieces, directives = [], []
        elif piece.startswith("--"):
            directives += DIRECTIVE.findall(piece)
        elif piece in "'\"`":
            raise ValueError(f"{name}:{line}: the quote {piece} is not closed")
        else:
            pieces.append(piece)
    if rest := "".join(pieces).strip():
        raise ValueError(f"{name}:{line}: the last statement has no `;`: {rest[:60]!r}")


def _topic(value: str, where: str) -> tuple[str, Since]:
    if not (match := TOPIC.match(value)):
        raise ValueError(f"{where}: topic {value!r}, expected small letters, digits and spaces")
    return match[1], release_bounds(match[2], where) if match[2] else ()


def release_bounds(value: str, where: str) -> Since:
    """Return family -> first release of a directive's value. Raises ValueError with `where` it stands."""
    bounds = []
    for part in value.split(","):
        match = re.fullmatch(r"(\w+) (\d+(?:\.\d+)*)", part.strip())
        if not match or match[1] not in families.names():
            raise ValueError(f"{where}: since {part.strip()!r}, expected a family and a release such as mysql 8.0")
        bounds.append((match[1], release_numbers(match[2])))
    return tuple(bounds)


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
    since: Since = ()
    against: str = ""


def timed_sql_path(root: Path, file: str) -> Path:
    """Return the path of a file of the checkout's workloads/, or the absolute one it is."""
    return root / "workloads" / Path(file).expanduser()


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
    above: list[Timed] = []
    for unit, line in statement_units(text, name):
        statement = _timed_statement(unit, f"{name}:{line}")
        kinds = {other.kind for other in above if other.name == statement.name} - {statement.kind}
        if kinds:
            raise ValueError(f"{name}:{line}: {statement.name!r} is `{statement.kind}` here and `{kinds.pop()}` above")
        comparable = {other.name for other in above if other.kind == statement.kind == TIMED}
        if statement.against and statement.against not in comparable:
            against = statement.against
            raise ValueError(f"{name}:{line}: against {against!r}, expected a timed statement above a timed one")
        above.append(statement)
    if not any(statement.kind == TIMED for statement in above):
        raise ValueError(f"{name}: no statement is timed, expected a line `-- name: NAME` before one at least")
    return above


def _timed_statement(unit: StatementUnit, where: str) -> Timed:
    kinds, since, against = dict[str, str](), Since(), ""
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
            kinds[word] = value
    if len(kinds) != 1:
        directives = " and ".join(f"`-- {word}:`" for word in kinds) or "nothing"
        raise ValueError(f"{where}: the statement has {directives} before it, expected one of {', '.join(KINDS)}")
    return Timed(*next(iter(kinds.items())), unit.text, since, against)


def suited_statements(statements: list[Timed], family: str, release: str) -> list[Timed]:
    """Return the statements that a release is sent, in their order; of those with one name the last that suits it."""
    suited = (statement for statement in statements if suits_release(statement.since, family, release))
    chosen = {statement.name: statement for statement in suited}
    return list(chosen.values())
