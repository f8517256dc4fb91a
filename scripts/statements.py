"""The statements of the differential check: our SQL files, split, and chosen by what a release can do.

A statement ends with `;`. Lines before it may direct it: `-- since: mysql 8.0, mariadb 10.2` names the families that
answer it and the first release of each, `-- on: second` the connection that sends it. `-- topic: NAME` opens a topic;
with `since: ...` behind the name, it holds for every statement of the topic that says nothing itself.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = "workloads/check"
DIALECTS = {"mysql": "innodb", "mariadb": "innodb", "postgresql": "postgresql"}
CONNECTIONS = ("first", "second")

DIRECTIVE = re.compile(r"^-- (\w+): *(.*?) *$")
TOPIC = re.compile(r"^([a-z0-9 ]+?)(?: since: *(.+))?$")
# A string or name in quotes may hold the sign that ends a statement; so may a comment.
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
        """Tell whether a release such as 8.0.36 of a family can answer it."""
        return suits(self.since, family, release)


def suits(since: tuple[tuple[str, tuple[int, ...]], ...], family: str, release: str) -> bool:
    """Tell whether a release of a family can answer what `since` says of family -> first release; all, if nothing."""
    return not since or any(name == family and numbers(release) >= first for name, first in since)


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers a release begins with: (8, 0, 36) of 8.0.36-28. Raises ValueError without any."""
    if not (match := re.match(r"\d+(\.\d+)*", release)):
        raise ValueError(f"release: {release!r}, expected numbers such as 8.0.36")
    return tuple(int(part) for part in match[0].split("."))


def files(root: Path, family: str) -> list[Path]:
    """Return the SQL files of a family in their order: those of all families among its own, by name."""
    if family not in DIALECTS:
        raise ValueError(f"family: {family!r} has no statements, expected one of {', '.join(sorted(DIALECTS))}")
    found = [file for part in ("common", DIALECTS[family]) for file in (root / FOLDER / part).glob("*.sql")]
    return sorted(found, key=lambda file: file.name)


def statements_sha256(root: Path, family: str) -> str:
    """Return the SHA-256 over names and content of a family's SQL files below the checkout `root`, in hexadecimal."""
    found = hashlib.sha256()
    for file in files(root, family):
        found.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()


def read(root: Path, family: str) -> list[Statement]:
    """Return a family's statements, those for other releases included.

    Raises ValueError naming file and line of what cannot be read.
    """
    found: list[Statement] = []
    for file in files(root, family):
        found += split(file.read_text(encoding="utf-8"), str(file.relative_to(root)), first=len(found) + 1)
    return found


def split(text: str, name: str = "SQL", first: int = 1) -> list[Statement]:
    """Return the statements of one file, numbered from `first`; `name` is the file in messages.

    Raises ValueError for an unknown directive, a bad value, an unclosed quote or a last statement without `;`.
    """
    topic, topic_since, found = "", (), []
    for unit, line in units(text, name):
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
class Unit:
    """One statement's text without comments, and the directives before it: pairs of word and value."""

    text: str
    directives: tuple[tuple[str, str], ...]


def units(text: str, name: str) -> Iterator[tuple[Unit, int]]:
    """Yield each statement of a file with the line of its end; `name` is the file in messages.

    Raises ValueError for an unclosed quote or a last statement without `;`.
    """
    pieces, directives, line = [], [], 1
    for piece in PIECE.findall(text):
        line += piece.count("\n")
        if piece == ";":
            yield Unit("".join(pieces).strip(), tuple(directives)), line
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
    return match[1], releases(match[2], where) if match[2] else ()


def _own(word: str, value: str, where: str) -> dict:
    match word:
        case "since":
            return {"since": releases(value, where)}
        case "on" if value in CONNECTIONS:
            return {"connection": value}
        case "on":
            raise ValueError(f"{where}: on {value!r}, expected one of {', '.join(CONNECTIONS)}")
    raise ValueError(f"{where}: directive {word!r} is unknown, expected topic, since or on")


def releases(value: str, where: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return family -> first release of a directive's value. Raises ValueError with `where` it stands."""
    found = []
    for part in value.split(","):
        match = re.fullmatch(r"(\w+) (\d+(?:\.\d+)*)", part.strip())
        if not match or match[1] not in DIALECTS:
            raise ValueError(f"{where}: since {part.strip()!r}, expected a family and a release such as mysql 8.0")
        found.append((match[1], numbers(match[2])))
    return tuple(found)
