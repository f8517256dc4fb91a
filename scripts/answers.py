"""What a server answered, in a form two servers can be compared by: text that says type and value, and error codes."""

import contextlib
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts import record

# The drivers' errors of a lost connection carry no answer of the server.
CLIENT_ERRNO = range(2000, 3000)
# What the PostgreSQL driver makes of a COMMIT that the server answers with ROLLBACK.
FAILED_BLOCK = "in failed transaction block"
SHUT_DOWN = ("57P01", "57P02", "57P03")


class ConnectionLost(RuntimeError):
    """The server went away instead of answering; the text is the driver's."""


def value_text(value: Any) -> str | None:
    """Return a value as its type and text, None for NULL. Raises ValueError for a type that has no fixed text."""
    match value:
        case None:
            return None
        case float():
            return f"float {value!r}"
        case bytes() | bytearray():
            return f"bytes {value.hex()}"
        case list() | dict() | set():
            return f"{type(value).__name__} {record.canonical(sorted(value) if isinstance(value, set) else value)}"
    if type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__:
        raise ValueError(f"answer: a value of type {type(value).__name__} ({value!r}), expected one with a fixed text")
    return f"{type(value).__name__} {value}"


def row_texts(row: Sequence[Any]) -> list[str | None]:
    """Return the values of a row as texts."""
    return [value_text(value) for value in row]


def error_code(error: Exception) -> str:
    """Return SQLSTATE or errno of a driver's error. Raises ConnectionLost when it has none, so is no answer."""
    match error.args:
        case [int(number), *_] if number and number not in CLIENT_ERRNO:
            return f"errno {number}"
        case [{"C": str(state)}, *_] if state not in SHUT_DOWN:
            return f"SQLSTATE {state}"
        case [str(text), *_] if text == FAILED_BLOCK:
            return FAILED_BLOCK
    raise ConnectionLost(f"{type(error).__name__}: {error}") from error


@contextlib.contextmanager
def opened(connect: Callable[[], Any]) -> Iterator[Any]:
    """Have a connection; after an error it is closed without another one, which would hide the cause."""
    connection = connect()
    try:
        yield connection
    except BaseException:
        with contextlib.suppress(Exception):  # a driver cannot take leave of a server that died
            connection.close()
        raise
    connection.close()


def ask(connection: Any, text: str) -> dict[str, Any]:
    """Send a statement and return {rows, changed, error}: rows of texts or None, the rows it changed, an error's code.

    Raises ConnectionLost when the server goes away.
    """
    cursor = connection.cursor()
    try:
        cursor.execute(text)
        said = None if cursor.description is None else cursor.fetchall()
    except Exception as error:  # each family's driver has its own errors
        return {"rows": None, "changed": None, "error": error_code(error)}
    if said is None:
        return {"rows": None, "changed": cursor.rowcount, "error": None}
    return {"rows": [row_texts(row) for row in said], "changed": None, "error": None}


def demand(connection: Any, text: str) -> list[list[str | None]] | None:
    """Send a statement that must not fail, and return its rows. Raises ValueError naming it and the error code."""
    answer = ask(connection, text)
    if answer["error"]:
        raise ValueError(f"{text[:200]!r} was answered with {answer['error']}, expected no error")
    return answer["rows"]


def digest(rows: Iterable[Sequence[str | None]]) -> str:
    """Return the SHA-256 of rows in their order, in hexadecimal."""
    found = hashlib.sha256()
    for row in rows:
        found.update(record.canonical(row).encode() + b"\n")
    return found.hexdigest()


def write(file: Path, answers: dict[str, Any]) -> None:
    """Write answers to a compressed JSON file, whole or not at all; `read` reads it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.part")
    text = json.dumps({"format": record.FORMAT, **answers}, ensure_ascii=False)
    temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    temporary.replace(file)


def read(file: Path) -> dict[str, Any]:
    """Read the answers that `write` wrote. Raises ValueError naming a file that is not such."""
    try:
        found = json.loads(gzip.decompress(file.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{file}: no answers ({error}); remove it, and the workflow asks the server again") from error
    if found.get("format", 0) > record.FORMAT:
        raise ValueError(f"{file}: format {found['format']} is newer than this release reads ({record.FORMAT})")
    return found
